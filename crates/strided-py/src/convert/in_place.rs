//! Rows with an in-place form: the type of the receiver says where the result goes.

use super::args::{FromArg, TensorArg};
use super::results::{call, call_with_others, in_place, in_place_with_work};
use crate::abi::errors::CallResult;
use crate::abi::refs::new_ref;
use crate::abi::tensor_object::{replace, wrap};
use crate::abi::{Arg, Value};
use pyo3::prelude::*;
use std::ops::Deref;
use strided_core::ops::Out;
use strided_core::{Layout, Result, Tensor};

/// The receiver of a row that has an in-place form.
pub trait Target<'a>: Copy + Deref<Target = Tensor> {
    const IN_PLACE: bool;

    /// The argument itself.
    fn argument(self) -> TensorArg<'a>;

    /// Runs a rule on the tensor and others: its result is written to `out`, or a new tensor. In place, it is written to the tensor.
    fn call<const N: usize>(
        self,
        py: Python<'a>,
        others: [TensorArg<'a>; N],
        work: usize,
        out: Option<TensorArg<'a>>,
        rule: impl FnOnce(&Tensor, [&Tensor; N], Out) -> Result<Tensor> + Send,
    ) -> CallResult<Value<'a>> {
        let x = self.argument();
        if !Self::IN_PLACE {
            return call_with_others(py, x, others, work, out, rule);
        }
        in_place_with_work(py, x, others, work, |x, others| rule(x, others, Out::Into(x)).map(drop))
    }

    /// Runs a rule that changes elements: in place on the tensor, otherwise on a copy, which is returned or written to `out`.
    fn modify(
        self,
        py: Python<'a>,
        out: Option<TensorArg<'a>>,
        copy: impl FnOnce(&Tensor) -> Result<Tensor> + Send,
        rule: impl FnOnce(&Tensor) -> Result<()> + Send,
    ) -> CallResult<Value<'a>> {
        if Self::IN_PLACE {
            return in_place(py, self.argument(), rule);
        }
        call(py, [self.argument()], out, |[x], out| {
            let copy = copy(x)?;
            rule(&copy)?;
            out.deliver(copy)
        })
    }

    /// A view as a new object. In place, the object of the tensor becomes the view.
    fn take_view(self, py: Python<'a>, view: Tensor) -> CallResult<Value<'a>> {
        if !Self::IN_PLACE {
            return wrap(py, view);
        }
        let object = self.argument().object();
        // SAFETY: the object is a tensor, and no reference to its old tensor is used again.
        unsafe { replace(object, view) };
        Ok(new_ref(object))
    }
}

impl<'a> Target<'a> for TensorArg<'a> {
    const IN_PLACE: bool = false;
    #[inline(always)]
    fn argument(self) -> TensorArg<'a> {
        self
    }
}

/// The receiver of an in-place form.
#[derive(Clone, Copy)]
pub struct InPlace<'a>(TensorArg<'a>);

impl<'a> InPlace<'a> {
    /// The tensor's object, whose layout becomes another one.
    pub fn replace_layout(self, layout: Result<Layout>) -> CallResult<Value<'a>> {
        let tensor = self.with_layout(layout?);
        // SAFETY: the object is a tensor, and no reference to its old tensor is used again.
        unsafe { replace(self.0.object(), tensor) };
        Ok(new_ref(self.0.object()))
    }
}

impl<'a> FromArg<'a> for InPlace<'a> {
    const WANTED: &'static str = TensorArg::WANTED;
    const STUB: &'static str = TensorArg::STUB;
    #[inline(always)]
    fn read(object: Arg<'a>) -> CallResult<Option<InPlace<'a>>> {
        Ok(TensorArg::read(object)?.map(InPlace))
    }
}

impl Deref for InPlace<'_> {
    type Target = Tensor;
    #[inline(always)]
    fn deref(&self) -> &Tensor {
        &self.0
    }
}

impl<'a> Target<'a> for InPlace<'a> {
    const IN_PLACE: bool = true;
    #[inline(always)]
    fn argument(self) -> TensorArg<'a> {
        self.0
    }
}

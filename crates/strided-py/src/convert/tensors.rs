//! Sequences of tensors, and numbers of pieces, as arguments.

use super::args::{FromArg, Ints, TensorArg};
use super::arrays::{self, Misfit};
use super::transfer::on_host;
use crate::abi::Arg;
use crate::abi::bind::Args;
use crate::abi::errors::{CallResult, Fail, type_name};
use crate::abi::tensor_object::cloned_tensor;
use pyo3::ffi;
use pyo3::prelude::*;
use strided_core::alloc::{try_reserve, try_vec};
use strided_core::layout::{Dims, Sections};
use strided_core::ops::copy;
use strided_core::{Scalar, Tensor};

/// A list or tuple of tensors and arrays, with handles of our own.
pub struct TensorSequence(pub Vec<Tensor>);

impl TensorSequence {
    /// The number of elements of all of them.
    pub fn size(&self) -> usize {
        self.0.iter().fold(0, |size, x| size.saturating_add(x.size()))
    }
}

impl<'a> FromArg<'a> for TensorSequence {
    const WANTED: &'static str = "a list or tuple of Tensors";
    const STUB: &'static str = "Sequence[Tensor | _Array]";
    fn read(object: Arg<'a>) -> CallResult<Option<TensorSequence>> {
        let (py, pointer) = (object.py(), object.as_ptr());
        // SAFETY: an `Arg` is a live object. Each item is a new reference; its index is checked by the sequence, which
        // reading an array may change.
        unsafe {
            if ffi::PyList_Check(pointer) == 0 && ffi::PyTuple_Check(pointer) == 0 {
                return Ok(None);
            }
            let length = ffi::PySequence_Size(pointer);
            if length < 0 {
                return Err(Fail::raised(py));
            }
            let mut tensors = Vec::new(); // a subclass may report any length
            for i in 0..length {
                let Some(item) = Bound::from_owned_ptr_or_opt(py, ffi::PySequence_GetItem(pointer, i)) else {
                    return Err(Fail::raised(py));
                };
                try_reserve(&mut tensors, 1)?;
                tensors.push(tensor_or_array(item.as_borrowed(), i as usize)?);
            }
            Ok(Some(TensorSequence(tensors)))
        }
    }
}

/// A tensor, or one on the memory of an array, at a position of a sequence.
fn tensor_or_array(object: Arg<'_>, position: usize) -> CallResult<Tensor> {
    if let Some(tensor) = cloned_tensor(object) {
        return Ok(tensor);
    }
    match arrays::read(object, Misfit::Copy)? {
        Some(tensor) => Ok(tensor),
        None => Err(Fail::Type(format!(
            "tensors[{position}] must be a Tensor or an array, got {}",
            type_name(object)
        ))),
    }
}

/// The tensors and arrays at the positions of a list.
fn tensors_or_arrays(objects: &[Arg<'_>]) -> CallResult<Vec<Tensor>> {
    let mut tensors = try_vec(objects.len())?;
    for (i, &object) in objects.iter().enumerate() {
        tensors.push(tensor_or_array(object, i)?);
    }
    Ok(tensors)
}

/// `*tensors`: several tensors, or one sequence of them.
pub struct RestTensors {
    pub tensors: TensorSequence,
    /// Whether it was one tensor, and no sequence.
    pub single: bool,
}

impl<'a> FromArg<'a> for RestTensors {
    const WANTED: &'static str = "Tensors";
    const STUB: &'static str = TensorSequence::STUB;
    const REST: Option<&'static str> = Some("Tensor | _Array");
    fn read(object: Arg<'a>) -> CallResult<Option<RestTensors>> {
        if let Some(tensors) = TensorSequence::read(object)? {
            return Ok(Some(RestTensors { tensors, single: false }));
        }
        Ok(Some(RestTensors { tensors: TensorSequence(vec![tensor_or_array(object, 0)?]), single: true }))
    }
    fn from_args(args: &Args<'a>, at: usize, name: &'static str) -> CallResult<RestTensors> {
        match (args.rest, args.slots[at]) {
            ([], Some(keyword)) => RestTensors::from_arg(keyword, name),
            ([one], _) => RestTensors::from_arg(*one, name),
            (several, _) => {
                let tensors = TensorSequence(tensors_or_arrays(several)?);
                Ok(RestTensors { tensors, single: false })
            }
        }
    }
}

/// The tensors and arrays of `*operands`: several, or one sequence of them.
pub fn all_tensors(objects: &[Arg<'_>], name: &'static str) -> CallResult<Vec<Tensor>> {
    if let [one] = objects {
        return Ok(RestTensors::from_arg(*one, name)?.tensors.0);
    }
    tensors_or_arrays(objects)
}

/// `*shapes`: each an int or a sequence of ints.
pub struct RestShapes(pub Vec<Dims>);

impl<'a> FromArg<'a> for RestShapes {
    const WANTED: &'static str = "shapes";
    const STUB: &'static str = "";
    const REST: Option<&'static str> = Some(Ints::STUB);
    fn read(_: Arg<'a>) -> CallResult<Option<RestShapes>> {
        Ok(None) // only given by position
    }
    fn from_args(args: &Args<'a>, _: usize, _: &'static str) -> CallResult<RestShapes> {
        let shapes = args.rest.iter().map(|&object| Ok(Ints::from_arg(object, "shapes")?.ints));
        Ok(RestShapes(shapes.collect::<CallResult<_>>()?))
    }
}

/// A number of pieces, or the indices at which they begin: ints, or an integer tensor of rank 0 or 1.
pub struct SectionsArg(Ints);

impl SectionsArg {
    pub fn sections(&self) -> Sections<'_> {
        match &self.0 {
            Ints { ints, sequence: false } => Sections::Count(ints[0]),
            Ints { ints, sequence: true } => Sections::At(ints),
        }
    }
}

impl<'a> FromArg<'a> for SectionsArg {
    const WANTED: &'static str = "an int, a sequence of ints or an integer tensor of at most 1 dim";
    const STUB: &'static str = "_Ints | Tensor";
    fn read(object: Arg<'a>) -> CallResult<Option<SectionsArg>> {
        let Some(x) = TensorArg::read(object)? else { return Ok(Ints::read(object)?.map(SectionsArg)) };
        let rank = x.layout().rank();
        if !x.dtype().is_int() || rank > 1 {
            return Ok(None);
        }
        let mut ints = Dims::new();
        let x = Tensor::clone(&x);
        let flat = x.layout().view(&[x.size() as isize])?;
        let x = on_host(object.py(), &x.with_layout(flat))?;
        for i in 0..x.size() as isize {
            match copy::item(&x, &[i])? {
                Scalar::Int(value) => ints.push(isize::try_from(value).map_err(|_| Fail::IntTooLarge)?),
                _ => return Ok(None),
            }
        }
        Ok(Some(SectionsArg(Ints { ints, sequence: rank == 1 })))
    }
}

/// The text of a str argument.
pub struct TextArg(pub String);

impl<'a> FromArg<'a> for TextArg {
    const WANTED: &'static str = "a str";
    const STUB: &'static str = "str";
    fn read(object: Arg<'a>) -> CallResult<Option<TextArg>> {
        let text = object.cast::<pyo3::types::PyString>().ok();
        Ok(text.map(|text| TextArg(text.to_string_lossy().into_owned())))
    }
}

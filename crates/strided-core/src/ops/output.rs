//! Outputs: what an `out` must be like, and how a result is written to it.

use super::copy;
use crate::dtype::DType;
use crate::error::{Error, Problem, Result};
use crate::layout::Layout;
use crate::tensor::{Tensor, common_device, shares_memory};

/// Where a result goes.
#[derive(Clone, Copy, Default)]
pub enum Out<'a> {
    /// Into new memory.
    #[default]
    New,
    /// Into a tensor of the caller, which is also what the operation returns.
    Into(&'a Tensor),
}

impl<'a> Out<'a> {
    /// The tensor of the caller.
    pub fn given(self) -> Option<&'a Tensor> {
        match self {
            Out::New => None,
            Out::Into(out) => Some(out),
        }
    }

    /// The tensor to write a result to: a new one on the device of an operand, or that of the caller, which is checked.
    pub fn target(self, operand: &Tensor, shape: &[isize], dtype: DType) -> Result<Tensor> {
        match self {
            Out::New => Tensor::like(operand, shape, dtype),
            Out::Into(out) => {
                common_device([operand, out])?;
                check(out, dtype, &Layout::row_major(shape)?)?;
                Ok(out.clone())
            }
        }
    }

    /// Writes a result that was computed into memory of its own.
    pub fn deliver(self, result: Tensor) -> Result<Tensor> {
        let dtype = result.dtype();
        self.deliver_as(dtype, result)
    }

    /// [`Out::deliver`] after a cast to `dtype`.
    pub fn deliver_as(self, dtype: DType, result: Tensor) -> Result<Tensor> {
        match self {
            Out::New => copy::in_dtype(&result, dtype),
            Out::Into(out) => {
                check(out, dtype, result.layout())?;
                copy::copy(out, &result)?;
                Ok(out.clone())
            }
        }
    }
}

/// Where the two results of an operation go: both into new memory, or both into tensors of the caller.
#[derive(Clone, Copy, Default)]
pub enum OutPair<'a> {
    #[default]
    New,
    Into([&'a Tensor; 2]),
}

impl<'a> OutPair<'a> {
    /// The two as separate outputs.
    pub fn each(self) -> [Out<'a>; 2] {
        match self {
            OutPair::New => [Out::New; 2],
            OutPair::Into(outs) => outs.map(Out::Into),
        }
    }

    /// Writes two results that were computed into memory of their own. Nothing is written if either is refused. `positions`
    /// says that the second result must be int64.
    pub fn deliver(self, [first, second]: [Tensor; 2], positions: bool) -> Result<[Tensor; 2]> {
        let OutPair::Into(outs) = self else { return Ok([first, second]) };
        self.check([&first, &second].map(|result| (result.dtype(), result.layout())), positions)?;
        copy::copy(outs[0], &first)?;
        copy::copy(outs[1], &second)?;
        Ok(outs.map(Tensor::clone))
    }

    /// Refuses outputs that cannot hold the results, or that share memory.
    pub fn check(self, results: [(DType, &Layout); 2], positions: bool) -> Result<()> {
        let OutPair::Into([first, second]) = self else { return Ok(()) };
        check_named("out[0]", first, results[0].0, results[0].1)?;
        check_named("out[1]", second, results[1].0, results[1].1)?;
        if positions {
            check_indices("out[1]", second)?;
        }
        check_disjoint(first, second)
    }
}

/// Refuses an `out` of another shape or a lower category than the result, or whose elements overlap.
pub fn check(out: &Tensor, result: DType, wanted: &Layout) -> Result<()> {
    check_named("out", out, result, wanted)
}

/// [`check`] for an output of another name.
pub fn check_named(name: &'static str, out: &Tensor, result: DType, wanted: &Layout) -> Result<()> {
    check_shape(name, out, wanted)?;
    check_category(out, result)?;
    check_memory(out)?;
    out.check_writable()
}

/// Refuses an output in read-only memory.
fn check_memory(out: &Tensor) -> Result<()> {
    if out.storage().is_readonly() { Err(Error::new(Problem::ReadOnly)) } else { Ok(()) }
}

/// Whether an output takes the shape of the result: it has no elements.
pub fn takes_any_shape(out: &Tensor) -> bool {
    out.size() == 0
}

/// The tensor that a result is to be written to: the output, in the shape of the result if it takes any. Refuses an output that
/// cannot hold the result. Nothing is changed: `Tensor::grow_storage` makes the storage long enough.
pub fn target(name: &'static str, out: &Tensor, result: DType, wanted: &Layout) -> Result<Tensor> {
    if !takes_any_shape(out) {
        check_named(name, out, result, wanted)?;
        return Ok(out.clone());
    }
    check_category(out, result)?;
    check_memory(out)?;
    let target = out.resized(&wanted.shape())?;
    target.check_growth()?;
    Ok(target)
}

/// Refuses an output of another shape than the result.
pub fn check_shape(name: &'static str, out: &Tensor, wanted: &Layout) -> Result<()> {
    if !out.layout().same_shape(wanted) {
        let (got, wanted) = (out.layout().shape_text(), wanted.shape_text());
        return Err(Error::new(Problem::OutShape { out: name, got, wanted }));
    }
    Ok(())
}

/// Refuses an `out` of a lower category than the result.
pub fn check_category(out: &Tensor, result: DType) -> Result<()> {
    if result.category() > out.dtype().category() {
        return Err(Error::new(Problem::LowerCategory { result, output: out.dtype() }));
    }
    Ok(())
}

/// Refuses an `out` for indices that is not int64.
pub fn check_indices(argument: &'static str, out: &Tensor) -> Result<()> {
    if out.dtype() != DType::I64 {
        return Err(Error::dtype(argument, out.dtype(), "int64"));
    }
    Ok(())
}

/// Refuses two outputs that share memory.
pub fn check_disjoint(first: &Tensor, second: &Tensor) -> Result<()> {
    if shares_memory(first, second) {
        return Err(Error::argument("out", "two tensors that share memory", "two that do not"));
    }
    Ok(())
}

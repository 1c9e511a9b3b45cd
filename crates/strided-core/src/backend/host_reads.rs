//! Host reads: functions whose result is a number, a bool or a list on the host. On a device each of them waits for all work
//! before it: a rule that calls one synchronises. Rules read elements in one other way.
//!
//! Four functions of other families return a bool or an error along with their work, and wait as well: [`index::gather`](super::index::gather) (whether the
//! indices are in range), [`with_replacement`](super::random::with_replacement), [`without_replacement`](super::random::without_replacement) and [`multinomial_torch`](super::random::multinomial_torch)
//! (whether the weights are a distribution).

use super::index::MaskCounts;
use super::items::SmallElements;
use super::not_computed;
use super::reduce::{self, ReductionTarget};
use crate::dtype::DType;
use crate::error::Result;
use crate::kernels;
use crate::layout::Dims;
use crate::op_table::ReduceOp;
use crate::opencl;
use crate::scalar::{Element, Scalar};
use crate::storage::Device;
use crate::tensor::Tensor;

by_device! {
    /// The element at a location: `item()`, and numbers on which the shape or the parameters of a result depend.
    fn item(x: &Tensor, location: isize) -> Result<Scalar>, on x.device() => kernels::item::get, gpu opencl::transfer::item;

    /// The smallest and the largest element of an int64 index: one out of range is refused before anything is written.
    fn min_max(index: &Tensor) -> Result<Option<(i64, i64)>>, on index.device() => kernels::index::min_max, gpu opencl::index::min_max;

    /// How many elements of a mask are true: the shape of the result depends on it.
    fn mask_counts(mask: &Tensor) -> Result<MaskCounts>, on mask.device() => MaskCounts::new, gpu opencl::masks::mask_counts;

    /// The elements that a small index selects. `None` if it is not small, or out of range.
    fn small_gather(x: &Tensor, index: &Tensor) -> Result<Option<Tensor>>, on x.device() => kernels::index::small_gather, gpu opencl::index::small_gather;

    /// The elements that a small mask selects, whose number is the shape of the result. `None` if the mask is not small.
    fn small_select(x: &Tensor, mask: &Tensor) -> Result<Option<Tensor>>, on x.device() => kernels::index::small_select, gpu opencl::index::small_select;

    /// The running sums of counts. The last one is an extent of the result; negative counts are refused.
    fn repeat_ends(counts: &Tensor) -> Result<Vec<usize>>, on counts.device() => kernels::repeat::ends;

    /// The first element of a float64 tensor that is not valid: parameters are refused before anything is drawn.
    fn find_invalid(x: &Tensor, valid: fn(f64) -> bool) -> Result<Option<f64>>, on x.device() => kernels::random::find_invalid, gpu opencl::random::find_invalid;
}

/// Waits until a device has done all work. Fails if that failed, or found a bad index.
pub fn synchronize(device: Device) -> Result<()> {
    match device {
        Device::Gpu(_) => opencl::launch::wait(opencl::launch::device(device)?),
        _ => Ok(()),
    }
}

/// All elements, for code that runs on the host: the state of a generator, and tables of the alias method.
pub fn read_elements<T: Element>(x: &Tensor) -> Result<Vec<T>> {
    match x.device() {
        Device::Cpu => kernels::random::read_elements(x),
        device => Err(not_computed(device)),
    }
}

/// A copy of the elements of a small row-major tensor, for lists and text. `None` if it is not small.
pub fn small_elements(held: &mut SmallElements, x: &Tensor) -> Result<Option<*const u8>> {
    match x.device() {
        Device::Cpu => held.copy(x),
        device => Err(not_computed(device)),
    }
}

/// Whether any element of a bool tensor is true: values that a rule refuses.
pub fn any(x: &Tensor) -> Result<bool> {
    truth(ReduceOp::Any, x)
}

/// Whether all elements of a bool tensor are true: `equal`, `allclose`.
pub fn all(x: &Tensor) -> Result<bool> {
    truth(ReduceOp::All, x)
}

fn truth(op: ReduceOp, x: &Tensor) -> Result<bool> {
    assert!(x.dtype() == DType::Bool, "the elements are truth values");
    let out = &Tensor::like(x, &[], DType::Bool)?;
    let ones: Dims = x.layout().modes().iter().map(|_| 1).collect();
    let keepdim_layout = &out.layout().view(&ones)?;
    reduce::reduce(op, &[], false, 0.0, x, [Some(ReductionTarget { out, keepdim_layout }), None])?;
    Ok(item(out, out.layout().offset())? == Scalar::Bool(true))
}

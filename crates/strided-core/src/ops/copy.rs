//! Copies and fills: `copy_`, `fill_`, `clone`, `contiguous`, `reshape`, casts, `item`.

use crate::backend::{copy as backend, host_reads, items as item};
use crate::dtype::DType;
use crate::error::{Error, Problem, Result};
use crate::layout::Layout;
use crate::scalar::Scalar;
use crate::storage::{Device, Fill, not_on_host};
use crate::tensor::{Tensor, conflict};

/// Copies the elements of `src` into `out`; they are broadcast and cast.
///
/// ```
/// use strided_core::{DType, Device, Scalar, Tensor, ops::{copy, create}, storage::Fill};
/// let x = Tensor::new_on(Device::Cpu, &[2, 3], DType::I32, Fill::Zero).unwrap();
/// let row = create::full(Device::Cpu, &[3], Scalar::Float(2.9), DType::F64).unwrap();
/// copy::copy(&x, &row).unwrap();
/// assert_eq!(copy::item(&x, &[1, 2]).unwrap(), Scalar::Int(2));
/// ```
pub fn copy(out: &Tensor, src: &Tensor) -> Result<()> {
    copy_part(out, src, 0)
}

/// [`copy`] into a view of an output of `whole` bytes, all of which the operation writes: a large output is written with
/// non-temporal stores, however small its parts.
pub(super) fn copy_part(out: &Tensor, src: &Tensor, whole: usize) -> Result<()> {
    let source = src.layout();
    let broadcast; // only if the shapes differ
    let layout = if source.same_shape(out.layout()) {
        source
    } else {
        broadcast = expanded(source, out.layout())?;
        &broadcast
    };
    out.check_writable()?;
    if conflict(out, src) {
        return copy_part(out, &clone(src)?, whole);
    }
    backend::copy(out, src, layout, whole)
}

/// [`copy`] as a loop over the elements in row-major order does it, where tensors overlap: elements that were written are
/// read again, and the last one that is written to a location stays.
pub fn copy_in_order(out: &Tensor, src: &Tensor) -> Result<()> {
    backend::copy_in_order(out, src, &expanded(src.layout(), out.layout())?)
}

/// Replaces each element by its sum with the one before it, or their product, one after the other in row-major order: what a
/// loop in C computes. `cumsum` adds in another order, and in a wider dtype.
pub fn accumulate_in_order(x: &Tensor, is_product: bool) -> Result<()> {
    if !matches!(x.dtype(), DType::F32 | DType::F64) {
        return Err(Error::dtype("input", x.dtype(), "float32 or float64"));
    }
    if !x.layout().is_row_major() {
        let got = format!("strides {}", x.layout().stride_text());
        return Err(Error::shape("input", got, "a contiguous tensor"));
    }
    x.check_writable()?;
    backend::accumulate_in_order(x, is_product)
}

/// The layout of values that are written to elements of the shape of `out`: expanded to it. The values may have more dims
/// than the output if the leading ones have extent 1: `x[0] = y[None]`.
pub(super) fn expanded(source: &Layout, out: &Layout) -> Result<Layout> {
    let extra = source.rank().saturating_sub(out.rank());
    let leading: Vec<isize> = (0..extra as isize).collect();
    let expanded = source.squeeze(&leading).and_then(|squeezed| squeezed.expand(&out.shape()));
    expanded.map_err(|_| does_not_fit(source, out))
}

#[cold]
fn does_not_fit(source: &Layout, out: &Layout) -> Error {
    let (from, to) = (source.shape_text(), out.shape_text());
    let modes = source.modes().iter().rev().zip(out.modes().iter().rev());
    let mismatch = modes.enumerate().find(|(_, (a, b))| a.extent != b.extent && a.extent != 1);
    let (dim, extents) = match mismatch {
        Some((from_end, (a, b))) => (out.rank() - 1 - from_end, (a.extent, b.extent)),
        None => (0, (source.modes()[0].extent, 1)),
    };
    Error::new(Problem::Expand { from, to, dim, extents })
}

/// Sets every element to a number. Refuses a number that the dtype cannot hold.
pub fn fill(out: &Tensor, value: Scalar) -> Result<()> {
    let bytes = item::ScalarBytes::new(value, out.dtype())?;
    out.check_writable()?;
    backend::fill(out, bytes)
}

/// A row-major copy with memory of its own.
pub fn clone(x: &Tensor) -> Result<Tensor> {
    to_dtype(x, x.dtype())
}

/// The tensor in a dtype: itself, or a row-major copy.
pub fn in_dtype(x: &Tensor, dtype: DType) -> Result<Tensor> {
    if x.dtype() == dtype { Ok(x.clone()) } else { to_dtype(x, dtype) }
}

/// A row-major copy in another dtype.
pub fn to_dtype(x: &Tensor, dtype: DType) -> Result<Tensor> {
    let out = Tensor::with_new_memory(x.device(), x.layout().row_major_like(), dtype, Fill::Uninitialized)?;
    copy(&out, x)?;
    Ok(out)
}

/// A copy on a device, in a dtype. Where the elements lie side by side in another order, or share memory, the span of the tensor
/// moves as it is and the layout stays; otherwise the copy is row-major.
pub fn to_device(x: &Tensor, device: Device, dtype: DType) -> Result<Tensor> {
    if x.device() == Device::Test {
        return Err(not_on_host(x.device())); // before memory is allocated, which may need a driver
    }
    // The host casts if it can: it has every dtype, and a device need not have float64.
    if device == Device::Cpu && x.dtype() != dtype {
        return in_dtype(&to_device(x, device, x.dtype())?, dtype);
    }
    let x = &in_dtype(x, dtype)?;
    let span = x.layout().bounds().map_or(0, |(low, high)| (high - low + 1) as usize);
    if x.layout().is_row_major() || span > x.size() || span == 0 {
        let out = Tensor::with_new_memory(device, x.layout().row_major_like(), dtype, Fill::Uninitialized)?;
        copy(&out, x)?;
        return Ok(out);
    }
    let (low, extent) = (x.layout().bounds().map_or(0, |(low, _)| low), [span as isize]);
    let all = x.with_layout(Layout::strided(&extent, &[1], low)?);
    let out = Tensor::new_on(device, &extent, dtype, Fill::Uninitialized)?;
    copy(&out, &all)?;
    let layout = x.layout();
    Ok(out.with_layout(Layout::strided(&layout.shape(), &layout.stride(), layout.offset() - low)?))
}

/// A tensor of another shape with the same elements in row-major order: a view if the strides allow it, or a copy.
pub fn reshape(x: &Tensor, shape: &[isize]) -> Result<Tensor> {
    let shape = x.layout().infer_shape(shape)?;
    match x.layout().try_view(&shape) {
        Some(layout) => Ok(x.with_layout(layout)),
        None => {
            let copy = clone(x)?;
            let layout = copy.layout().view(&shape)?;
            Ok(copy.with_layout(layout))
        }
    }
}

/// The element at these indices as a number.
#[inline]
pub fn item(x: &Tensor, index: &[isize]) -> Result<Scalar> {
    host_reads::item(x, x.layout().location(index)?)
}

/// The element of a tensor that has only one, as a number.
pub fn single_item(x: &Tensor) -> Result<Scalar> {
    if x.size() != 1 {
        let (got, wanted) = (format!("a tensor of shape {}", x.layout().shape_text()), "one element".into());
        return Err(Error::new(Problem::Shape { argument: "input", got, wanted }));
    }
    host_reads::item(x, x.layout().offset())
}

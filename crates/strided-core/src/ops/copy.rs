//! Moving values: `copy_`, `fill_`, `clone`, `contiguous`, conversions.

use crate::dtype::DType;
use crate::error::{Error, Problem, Result};
use crate::kernels::{Kernel, OPERANDS, cast, item};
use crate::layout::Layout;
use crate::nest::{Nest, Operand, Order};
use crate::scalar::Scalar;
use crate::storage::{Access, Fill, Pinned};
use crate::tensor::{Tensor, conflict, pin_each};
use std::ptr::null_mut;

/// Writes the values of `src`, broadcast and cast, into `out`.
///
/// ```
/// use strided_core::{DType, Scalar, Tensor, ops::{copy, create}, storage::Fill};
/// let x = Tensor::new(&[2, 3], DType::I32, Fill::Zero).unwrap();
/// let row = create::full(&[3], Scalar::Float(2.9), DType::F64).unwrap();
/// copy::copy(&x, &row).unwrap();
/// assert_eq!(copy::item(&x, &[1, 2]).unwrap(), Scalar::Int(2));
/// ```
pub fn copy(out: &Tensor, src: &Tensor) -> Result<()> {
    let source = src.layout();
    let expanded; // only where shapes differ
    let layout = if source.same_shape(out.layout()) {
        source
    } else {
        // A source may have leading dims of extent 1 beyond the output's rank: x[0] = y[None].
        let extra = source.rank().saturating_sub(out.layout().rank());
        let lead: Vec<isize> = (0..extra as isize).collect();
        expanded = source.squeeze(&lead).and_then(|squeezed| squeezed.expand(&out.layout().shape()));
        match &expanded {
            Ok(layout) => layout,
            Err(_) => return Err(does_not_fit(source, out.layout())),
        }
    };
    out.check_writable()?;
    if conflict(out, src) {
        return copy(out, &clone(src)?);
    }
    let kernel = cast::kernel(src.dtype(), out.dtype());
    let input = Operand { layout, size: src.dtype().size() };
    if let [Some(to), Some(from)] = pin_each([Some((out, Access::Write)), Some((src, Access::Read))])? {
        // SAFETY: both are pinned for the layouts given, `expand` adds no location.
        unsafe { run(out, to.origin, input, from.origin, kernel) };
    }
    Ok(())
}

#[cold]
fn does_not_fit(source: &Layout, out: &Layout) -> Error {
    let (from, to) = (source.shape_text(), out.shape_text());
    let modes = source.modes().iter().rev().zip(out.modes().iter().rev());
    let bad = modes.enumerate().find(|(_, (a, b))| a.extent != b.extent && a.extent != 1);
    let (dim, extents) = match bad {
        Some((back, (a, b))) => (out.rank() - 1 - back, (a.extent, b.extent)),
        None => (0, (source.modes()[0].extent, 1)),
    };
    Error::new("copy_", Problem::Expand { from, to, dim, extents })
}

/// Sets every element to a number. Refuses an integer that does not fit.
pub fn fill(out: &Tensor, value: Scalar) -> Result<()> {
    let slot = item::Slot::new(value, out.dtype())?;
    out.check_writable()?;
    let to = out.pin(Access::Write)?;
    let none = Layout::scalar();
    let kernel = cast::copy_kernel(out.dtype().size());
    let input = Operand { layout: &none, size: out.dtype().size() };
    // SAFETY: `out` is pinned; the slot is one element, read with step 0.
    unsafe { run(out, to.origin, input, slot.address(), kernel) };
    Ok(())
}

/// # Safety
/// `to` and `from` are the pinned origins of `out` and of `input`.
unsafe fn run(out: &Tensor, to: *mut u8, input: Operand, from: *mut u8, kernel: Kernel) {
    const { assert!(OPERANDS == 4) };
    let operands = [Operand { layout: out.layout(), size: out.dtype().size() }, input];
    let nest = Nest::new(out.layout(), &operands, Order::Free);
    // SAFETY: the caller's promise.
    nest.for_each([to, from, null_mut(), null_mut()], |p, s, n| unsafe { kernel(p, s, n) });
}

/// A row-major copy with memory of its own.
pub fn clone(x: &Tensor) -> Result<Tensor> {
    to_dtype(x, x.dtype())
}

/// A row-major copy in another dtype.
pub fn to_dtype(x: &Tensor, dtype: DType) -> Result<Tensor> {
    let out = Tensor::with_new_memory(x.layout().dense_like(), dtype, Fill::Nothing)?;
    copy(&out, x)?;
    Ok(out)
}

/// A tensor of that shape with the same elements in row-major order: a view where the strides allow it.
pub fn reshape(x: &Tensor, shape: &[isize]) -> Result<Tensor> {
    let shape = x.layout().infer_shape(shape).map_err(|error| error.named("reshape"))?;
    match x.layout().try_view(&shape) {
        Some(layout) => Ok(x.with_layout(layout)),
        None => {
            let copy = clone(x)?;
            let layout = copy.layout().view(&shape)?;
            Ok(copy.with_layout(layout))
        }
    }
}

/// One element as a number.
#[inline]
pub fn item(x: &Tensor, index: &[isize]) -> Result<Scalar> {
    let location = x.layout().location(index).map_err(|error| error.named("item"))?;
    let pin = pin_one(x, location, Access::Read)?;
    // SAFETY: the location is pinned.
    Ok(unsafe { item::load(pin.origin, x.dtype()) })
}

/// Sets the element at a location of the storage. Refuses an integer that does not fit.
#[inline]
pub fn set_location(x: &Tensor, location: isize, value: Scalar) -> Result<()> {
    item::check_fits(value, x.dtype())?;
    let pin = pin_one(x, location, Access::Write)?;
    // SAFETY: the location is pinned.
    unsafe { item::store(pin.origin, x.dtype(), value) };
    Ok(())
}

/// Pins the element at a location of a tensor's storage.
#[inline]
fn pin_one(x: &Tensor, location: isize, access: Access) -> Result<Pinned<'_>> {
    loop {
        match x.storage().try_pin_at(location, x.dtype(), access)? {
            Some(pin) => return Ok(pin),
            None => x.storage().wait_until_open(),
        }
    }
}

/// Refuses a tensor with another number of elements than one.
pub fn the_only_item(x: &Tensor) -> Result<Scalar> {
    if x.size() != 1 {
        let (got, wanted) = (format!("a tensor of shape {}", x.layout().shape_text()), "one element".into());
        return Err(Error::new("item", Problem::Argument { argument: "input", got, wanted }));
    }
    let pin = x.pin(Access::Read)?;
    // SAFETY: the only element lies at the origin.
    Ok(unsafe { item::load(pin.origin, x.dtype()) })
}

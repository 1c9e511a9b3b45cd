//! The elementwise driver: pins tensors, plans casts and the loop nest, runs a kernel. The safe interface of kernels that
//! compute each element independently.

use super::item::ScalarBytes;
use super::loops::ElementwiseKernels;
use super::split::{SERIAL_ELEMENTS, run_nest};
use super::staging::StagedKernel;
use super::{Kernel, OPERANDS, Pointers, Steps, cast, pair};
use crate::cpu;
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::Layout;
use crate::nest::{Nest, Operand, Order, for_each_run};
use crate::storage::Access;
use crate::tensor::{Tensor, pin_all, pin_each};
use crate::threads::for_each_range_in_order;
use std::ptr::null_mut;

/// An input of a kernel.
#[derive(Clone, Copy)]
pub enum Input<'a> {
    Tensor(&'a Tensor),
    /// One element of the kernel's dtype, broadcast to the output.
    Scalar(ScalarBytes),
}

/// The output of a kernel.
pub enum Output<'a> {
    /// A tensor that was made for this call. No other thread can reach it, so it needs no pin.
    New(&'a mut Tensor),
    Given(&'a Tensor),
}

/// Tensors that a call pins at most: the output and three inputs. A fourth input, such as `value` of `addcmul`, is always a
/// scalar.
const MAX_PINNED: usize = 4;

/// Runs a kernel over inputs that broadcast to the output. An input either is `out`, with the same layout, or does not overlap
/// it. Elements are cast to the kernel's dtypes and back where they differ.
///
/// The number of inputs is a constant, so that the loops over them are unrolled: a call on few elements spends most of its
/// time here.
#[inline(always)]
pub fn compute_elements<const N: usize>(
    kernels: &ElementwiseKernels,
    inputs: &[Input; N],
    out: Output,
) -> Result<()> {
    const { assert!(N < OPERANDS) };
    let mut wanted = [None; MAX_PINNED];
    for k in 0..N.min(MAX_PINNED - 1) {
        if let Input::Tensor(x) = inputs[k] {
            wanted[k + 1] = Some((x, Access::Read));
        }
    }
    let mut unpinned = inputs.iter().skip(MAX_PINNED - 1);
    assert!(unpinned.all(|input| matches!(input, Input::Scalar(_))), "the fourth input is a scalar");
    let mut origins = [null_mut(); OPERANDS];
    let out: &Tensor = match out {
        Output::New(new) => {
            origins[0] = new.exclusive_origin()?;
            new
        }
        Output::Given(out) => {
            wanted[0] = Some((out, Access::Write));
            out
        }
    };
    let single_loop = single_loop_steps(kernels, inputs, out);
    let pins = pin_each(wanted)?;
    for (origin, pin) in origins.iter_mut().zip(&pins) {
        if let Some(pin) = pin {
            *origin = pin.origin;
        }
    }
    for (origin, input) in origins[1..].iter_mut().zip(inputs) {
        if let Input::Scalar(value) = input {
            *origin = value.address();
        }
    }
    match single_loop {
        // SAFETY: `pin_each` pinned every tensor above, or the output is new; `single_loop_steps` checked that all have
        // the kernel's dtype and as many contiguous elements as the output. Scalars are read with step 0.
        Some(steps) if out.size() <= SERIAL_ELEMENTS / kernels.cost() => unsafe {
            kernels.kernel()(&origins, &steps, out.size())
        },
        // SAFETY: `pin_each` pinned every tensor above for its layout, or the output is new; scalars have the kernel's dtype.
        _ => return unsafe { compute_planned(kernels, inputs, out, origins) },
    }
    Ok(())
}

/// The steps of a single loop over all elements, if operands are of the kernel's dtypes, of one shape and contiguous, or
/// scalars. Most calls are so, and need no nest.
#[inline(always)]
fn single_loop_steps<const N: usize>(
    kernels: &ElementwiseKernels,
    inputs: &[Input; N],
    out: &Tensor,
) -> Option<Steps> {
    let mut steps = [0; OPERANDS];
    let mut single = out.dtype() == kernels.result() && out.layout().is_row_major();
    steps[0] = kernels.result().size() as isize;
    for k in 0..N {
        if let Input::Tensor(x) = inputs[k] {
            let dtype = kernels.operands()[k];
            single &= x.dtype() == dtype && x.layout().same_modes(out.layout());
            steps[k + 1] = dtype.size() as isize;
        }
    }
    single.then_some(steps)
}

/// Runs a kernel over operands of any layouts and dtypes.
///
/// # Safety
/// The origins are pinned for the operands' layouts, belong to a new output, or are scalars of the kernel's dtype.
unsafe fn compute_planned(
    kernels: &ElementwiseKernels,
    inputs: &[Input],
    out: &Tensor,
    origins: Pointers,
) -> Result<()> {
    for input in inputs {
        if let Input::Tensor(x) = input {
            assert!(broadcasts(x.layout(), out.layout()), "inputs broadcast to the output");
        }
    }
    let sizes = kernels.operands().map(DType::size);
    let mut staged = StagedKernel {
        kernel: kernels.kernel(),
        casts: [None; OPERANDS],
        kernel_sizes: [0; OPERANDS],
        memory_sizes: [0; OPERANDS],
        is_copy: false,
        non_temporal: false,
    };
    let none = Layout::scalar();
    let mut views = [Operand { layout: &none, size: 0 }; OPERANDS];
    views[0] = Operand { layout: out.layout(), size: out.dtype().size() };
    staged.kernel_sizes[0] = kernels.result().size();
    staged.kernel_sizes[1..].copy_from_slice(&sizes);
    staged.casts[0] = cast_if_needed(kernels.result(), out.dtype());
    for (k, (input, &dtype)) in (1..).zip(inputs.iter().zip(kernels.operands())) {
        views[k].size = dtype.size();
        if let Input::Tensor(x) = input {
            views[k] = Operand { layout: x.layout(), size: x.dtype().size() };
            staged.casts[k] = cast_if_needed(x.dtype(), dtype);
        }
    }
    staged.memory_sizes.iter_mut().zip(&views).for_each(|(bytes, view)| *bytes = view.size);
    let input_bytes = views[1..].iter().map(|view| span_bytes(view.layout, view.size)).sum();
    staged.non_temporal = wants_non_temporal(out, 0, &origins, input_bytes);
    let nest = Nest::new(out.layout(), &views[..=inputs.len()], Order::Free);
    // A dense input that runs backwards is reversed into scratch, block by block, as one of another dtype is cast.
    for (k, &step) in nest.inner_steps().iter().enumerate().skip(1) {
        if step < 0 && step == -(staged.memory_sizes[k] as isize) && staged.casts[k].is_none() {
            staged.casts[k] = Some(super::copy::kernel(staged.memory_sizes[k]));
        }
    }
    // SAFETY: this function's contract; scalars have step 0, and the casts above are from the dtypes of the operands to
    // those that `kernels` declares, or back.
    unsafe { run_nest(nest, origins, kernels.cost(), &staged) }
}

/// Whether an output is written with non-temporal stores: it is larger than half of the last-level cache, is not one of the
/// inputs, and the inputs are large as well. (An operation of one piece has no fence at its end, so it has no such stores.)
/// `whole`: bytes of the complete output if `out` is a slice of it.
fn wants_non_temporal(out: &Tensor, whole: usize, origins: &Pointers, input_bytes: usize) -> bool {
    let output_bytes = out.size() * out.dtype().size();
    out.size() > SERIAL_ELEMENTS
        && output_bytes.max(whole) >= cpu::non_temporal_threshold()
        && input_bytes >= output_bytes / 2
        && origins[1..].iter().all(|origin| *origin != origins[0])
}

/// Bytes from the first to the last location of a layout.
fn span_bytes(layout: &Layout, size: usize) -> usize {
    layout.bounds().map_or(0, |(low, high)| (high - low + 1) as usize * size)
}

/// Whether every extent is 1 or that of the output, aligned at the last dim.
fn broadcasts(input: &Layout, out: &Layout) -> bool {
    let pairs = input.modes().iter().rev().zip(out.modes().iter().rev());
    input.rank() <= out.rank() && pairs.into_iter().all(|(a, b)| a.extent == b.extent || a.extent == 1)
}

#[inline]
fn cast_if_needed(from: DType, to: DType) -> Option<Kernel> {
    if from == to { None } else { Some(cast::kernel(from, to)) }
}

/// Copies the elements of `src` into `out`, with a cast where dtypes differ. `layout` has the shape of `out` and reaches
/// only locations that the layout of `src` reaches: it is that layout, expanded. If the operation writes more than `out`,
/// `whole` is the number of bytes that it writes.
pub fn copy(out: &Tensor, src: &Tensor, layout: &Layout, whole: usize) -> Result<()> {
    assert!(layout.same_shape(out.layout()), "the source has the output's shape");
    assert!(layout.bounds().is_none_or(|bounds| Some(bounds) == src.layout().bounds()));
    pin_all!(to: Write out, from: Read src);
    // SAFETY: `pin_all` pinned both, and `layout` was checked above to stay within the bounds of `src`.
    unsafe { move_elements(out, to.origin, layout, src.dtype(), from.origin, whole) }
}

/// [`copy`] one element after the other, in row-major order: an element that was written is read again where the tensors
/// overlap, and the last one stays where elements of the output do.
pub fn copy_in_order(out: &Tensor, src: &Tensor, layout: &Layout) -> Result<()> {
    assert!(layout.same_shape(out.layout()), "the source has the output's shape");
    assert!(layout.bounds().is_none_or(|bounds| Some(bounds) == src.layout().bounds()));
    pin_all!(to: Write out, from: Read src);
    let sizes = [out.dtype().size(), src.dtype().size()];
    let operands = [Operand { layout: out.layout(), size: sizes[0] }, Operand { layout, size: sizes[1] }];
    let nest = Nest::new(out.layout(), &operands, Order::RowMajor);
    let (start, steps) = (nest.start(pair(to.origin, from.origin, null_mut())), nest.inner_steps());
    let kernel = cast::kernel(src.dtype(), out.dtype());
    for_each_range_in_order(out.size(), &mut |range| {
        for_each_run(nest.loops(), start, range, |at, count| {
            for i in 0..count as isize {
                let next = pair(
                    at[0].wrapping_offset(i * steps[0]),
                    at[1].wrapping_offset(i * steps[1]),
                    null_mut(),
                );
                // SAFETY: `pin_all` pinned both tensors, and `layout` was checked above to stay within the bounds of
                // `src`; the nest visits their elements. One element is read before it is written.
                unsafe { kernel(&next, steps, 1) };
            }
        });
    })
}

/// Replaces each element of a contiguous float64 or float32 tensor by its sum with the one before it, or their product: one
/// element after the other, each result rounded to the dtype.
pub fn accumulate_in_order(x: &Tensor, is_product: bool) -> Result<()> {
    match (x.dtype(), is_product) {
        (DType::F64, false) => accumulate::<f64>(x, |a, b| a + b),
        (DType::F64, true) => accumulate::<f64>(x, |a, b| a * b),
        (DType::F32, false) => accumulate::<f32>(x, |a, b| a + b),
        (DType::F32, true) => accumulate::<f32>(x, |a, b| a * b),
        _ => unreachable!("the rule accepts no other dtype"),
    }
}

fn accumulate<T: Copy>(x: &Tensor, combine: impl Fn(T, T) -> T) -> Result<()> {
    assert!(x.layout().is_row_major(), "the elements are adjacent");
    let pin = x.pin(Access::Write)?;
    let (elements, n) = (pin.origin.cast::<T>(), x.size());
    for_each_range_in_order(n, &mut |range| {
        for i in range.start.max(1)..range.end {
            // SAFETY: `x` is pinned, has the dtype of T, and its n elements are adjacent; i is between 1 and n - 1.
            unsafe { elements.add(i).write(combine(elements.add(i - 1).read(), elements.add(i).read())) };
        }
    })
}

/// Copies elements of dtype `dtype` to `out`, with a cast where dtypes differ; `whole` as in [`copy`].
///
/// # Safety
/// `to` is the origin of `out`, pinned for writing. `from` is the origin of elements of dtype `dtype`, valid at every
/// location of `layout`, which broadcasts to the shape of `out`. The two share no memory, unless each element is its own source.
#[inline]
pub(super) unsafe fn move_elements(
    out: &Tensor,
    to: *mut u8,
    layout: &Layout,
    dtype: DType,
    from: *mut u8,
    whole: usize,
) -> Result<()> {
    let (out_size, size) = (out.dtype().size(), dtype.size());
    if dtype == out.dtype()
        && layout.same_modes(out.layout())
        && layout.is_row_major()
        && out.size() <= SERIAL_ELEMENTS
    {
        // SAFETY: this function's contract; both layouts are the same and contiguous.
        unsafe { to.copy_from(from, out.size() * size) };
        return Ok(());
    }
    let origins = pair(to, from, null_mut());
    let staged = StagedKernel {
        kernel: cast::kernel(dtype, out.dtype()),
        casts: [None; OPERANDS],
        kernel_sizes: pair(out_size, size, 0),
        memory_sizes: pair(out_size, size, 0),
        is_copy: dtype == out.dtype(),
        non_temporal: wants_non_temporal(out, whole, &origins, span_bytes(layout, size)),
    };
    let operands = [Operand { layout: out.layout(), size: out_size }, Operand { layout, size }];
    let nest = Nest::new(out.layout(), &operands, Order::Free);
    // SAFETY: this function's contract: both origins are valid for the layouts of the nest; the kernel casts between their
    // dtypes.
    unsafe { run_nest(nest, origins, 1, &staged) }
}

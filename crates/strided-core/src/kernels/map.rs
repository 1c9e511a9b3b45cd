//! From tensors to kernel calls: casts, nest, pins. The safe door to the elementwise kernels.

use super::item::ScalarBytes;
use super::loops::KernelPair;
use super::split::{WHOLE, run_nest};
use super::staging::Staged;
use super::{Kernel, OPERANDS, Pointers, Steps, cast, pair};
use crate::cpu;
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::Layout;
use crate::nest::{Nest, Operand, Order};
use crate::storage::Access;
use crate::tensor::{Tensor, pin_each};
use std::ptr::null_mut;

/// What a kernel reads.
#[derive(Clone, Copy)]
pub enum Input<'a> {
    Tensor(&'a Tensor),
    /// One element of the kernel's dtype.
    ScalarBytes(ScalarBytes),
}

/// Where a kernel writes.
pub enum Output<'a> {
    /// A tensor that was made for this call: nobody else knows it, so that it needs no pin.
    New(&'a mut Tensor),
    Given(&'a Tensor),
}

/// The most tensors that a call pins: the output and three inputs. A fourth one is a number.
const PINNED: usize = 4;

/// Runs a kernel over inputs that broadcast to the output and do not stand in its way. Elements are cast
/// to the kernel's dtypes and back where they differ.
///
/// The number of inputs is a constant, so that the loops over them unroll: a call on few elements spends
/// its time here.
#[inline(always)]
pub fn run<const N: usize>(kernels: &KernelPair, inputs: &[Input; N], out: Output) -> Result<()> {
    const { assert!(N < OPERANDS) };
    let mut wanted = [None; PINNED];
    for k in 0..N.min(PINNED - 1) {
        if let Input::Tensor(x) = inputs[k] {
            wanted[k + 1] = Some((x, Access::Read));
        }
    }
    let beyond = inputs.iter().skip(PINNED - 1);
    assert!(beyond.into_iter().all(|input| matches!(input, Input::ScalarBytes(_))), "numbers come last");
    let mut origins = [null_mut(); OPERANDS];
    let out: &Tensor = match out {
        Output::New(new) => {
            origins[0] = new.exclusive_origin();
            new
        }
        Output::Given(out) => {
            wanted[0] = Some((out, Access::Write));
            out
        }
    };
    let plain = plain_steps(kernels, inputs, out);
    let pins = pin_each(wanted)?;
    for (origin, pin) in origins.iter_mut().zip(&pins) {
        if let Some(pin) = pin {
            *origin = pin.origin;
        }
    }
    for (origin, input) in origins[1..].iter_mut().zip(inputs) {
        if let Input::ScalarBytes(slot) = input {
            *origin = slot.address();
        }
    }
    match plain {
        // SAFETY: every operand is pinned (or new) and dense in the kernel's dtype, or is a slot read with
        // step 0.
        Some(steps) if out.size() <= WHOLE / kernels.weight() => unsafe {
            kernels.kernel()(&origins, &steps, out.size())
        },
        // SAFETY: every operand is pinned (or new) for its layout, or is a slot.
        _ => return unsafe { run_planned(kernels, inputs, out, origins) },
    }
    Ok(())
}

/// The steps of what most calls are: the kernel's own dtypes, one shape, no gaps. One loop, no nest.
#[inline(always)]
fn plain_steps<const N: usize>(kernels: &KernelPair, inputs: &[Input; N], out: &Tensor) -> Option<Steps> {
    let mut steps = [0; OPERANDS];
    let mut plain = out.dtype() == kernels.result() && out.layout().is_row_major();
    steps[0] = kernels.result().size() as isize;
    for k in 0..N {
        if let Input::Tensor(x) = inputs[k] {
            let dtype = kernels.operands()[k];
            plain &= x.dtype() == dtype && x.layout().same_modes(out.layout());
            steps[k + 1] = dtype.size() as isize;
        }
    }
    plain.then_some(steps)
}

/// # Safety
/// The origins are pinned for the operands' layouts, or are slots of the kernel's dtype.
unsafe fn run_planned(kernels: &KernelPair, inputs: &[Input], out: &Tensor, origins: Pointers) -> Result<()> {
    for input in inputs {
        if let Input::Tensor(x) = input {
            assert!(broadcasts(x.layout(), out.layout()), "inputs broadcast to the output");
        }
    }
    let sizes = kernels.operands().map(DType::size);
    let mut staged = Staged {
        kernel: kernels.kernel(),
        casts: [None; OPERANDS],
        sizes: [0; OPERANDS],
        memory: [0; OPERANDS],
        moves: false,
        stream: false,
    };
    let none = Layout::scalar();
    let mut views = [Operand { layout: &none, size: 0 }; OPERANDS];
    views[0] = Operand { layout: out.layout(), size: out.dtype().size() };
    staged.sizes[0] = kernels.result().size();
    staged.sizes[1..].copy_from_slice(&sizes);
    staged.casts[0] = cast_if_needed(kernels.result(), out.dtype());
    for (k, (input, &dtype)) in (1..).zip(inputs.iter().zip(kernels.operands())) {
        views[k].size = dtype.size();
        if let Input::Tensor(x) = input {
            views[k] = Operand { layout: x.layout(), size: x.dtype().size() };
            staged.casts[k] = cast_if_needed(x.dtype(), dtype);
        }
    }
    staged.memory.iter_mut().zip(&views).for_each(|(bytes, view)| *bytes = view.size);
    let read = views[1..].iter().map(|view| span(view.layout, view.size)).sum();
    staged.stream = streams(out, &origins, read);
    let nest = Nest::new(out.layout(), &views[..=inputs.len()], Order::Free);
    // Inputs that run backwards are transposed around on their way, as those of other dtypes are cast.
    for (k, &step) in nest.inner_steps().iter().enumerate().skip(1) {
        if step < 0 && step == -(staged.memory[k] as isize) && staged.casts[k].is_none() {
            staged.casts[k] = Some(super::copy::kernel(staged.memory[k]));
        }
    }
    // SAFETY: the caller's promise; slots are read with step 0, and every cast leads between the operand's
    // dtype and the kernel's, which `KernelPair` knows.
    unsafe { run_nest(nest, origins, kernels.weight(), &staged) }
}

/// Whether an output is written around the caches: it is larger than they are, nobody's input, and what is read
/// is large, too. (What is done in one piece ends without a fence.)
fn streams(out: &Tensor, origins: &Pointers, inputs: usize) -> bool {
    let written = out.size() * out.dtype().size();
    out.size() > WHOLE
        && written >= cpu::non_temporal_threshold()
        && inputs >= written / 2
        && origins[1..].iter().all(|origin| *origin != origins[0])
}

/// Bytes of memory that the elements of a layout lie in, at most.
fn span(layout: &Layout, size: usize) -> usize {
    layout.bounds().map_or(0, |(low, high)| (high - low + 1) as usize * size)
}

/// Whether every extent is the output's, counted from the last, or 1.
fn broadcasts(input: &Layout, out: &Layout) -> bool {
    let pairs = input.modes().iter().rev().zip(out.modes().iter().rev());
    input.rank() <= out.rank() && pairs.into_iter().all(|(a, b)| a.extent == b.extent || a.extent == 1)
}

#[inline]
fn cast_if_needed(from: DType, to: DType) -> Option<Kernel> {
    if from == to { None } else { Some(cast::kernel(from, to)) }
}

/// Writes the elements of `src`, seen through a layout that adds no location to its own, into `out`.
pub fn copy(out: &Tensor, src: &Tensor, layout: &Layout) -> Result<()> {
    assert!(layout.same_shape(out.layout()), "the source is seen in the output's shape");
    assert!(layout.bounds().is_none_or(|bounds| Some(bounds) == src.layout().bounds()));
    let wanted = [Some((out, Access::Write)), Some((src, Access::Read))];
    let [Some(to), Some(from)] = pin_each(wanted)? else { unreachable!("both were asked for") };
    // SAFETY: both are pinned, and the kernel is the cast between their dtypes.
    unsafe { move_elements(out, to.origin, layout, src.dtype(), from.origin) }
}

/// # Safety
/// `to` is pinned for `out`, and `from` for a layout that broadcasts to it, of dtype `dtype`.
#[inline]
pub(super) unsafe fn move_elements(
    out: &Tensor,
    to: *mut u8,
    layout: &Layout,
    dtype: DType,
    from: *mut u8,
) -> Result<()> {
    let (out_size, size) = (out.dtype().size(), dtype.size());
    if dtype == out.dtype() && layout.same_modes(out.layout()) && layout.is_row_major() && out.size() <= WHOLE
    {
        // SAFETY: the caller's promise; both have as many adjacent elements.
        unsafe { to.copy_from(from, out.size() * size) };
        return Ok(());
    }
    let origins = pair(to, from, null_mut());
    let staged = Staged {
        kernel: cast::kernel(dtype, out.dtype()),
        casts: [None; OPERANDS],
        sizes: pair(out_size, size, 0),
        memory: pair(out_size, size, 0),
        moves: dtype == out.dtype(),
        stream: streams(out, &origins, span(layout, size)),
    };
    let operands = [Operand { layout: out.layout(), size: out_size }, Operand { layout, size }];
    let nest = Nest::new(out.layout(), &operands, Order::Free);
    // SAFETY: the caller's promise.
    unsafe { run_nest(nest, origins, 1, &staged) }
}

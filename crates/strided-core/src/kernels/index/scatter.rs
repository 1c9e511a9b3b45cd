//! Scatter: elements of a source written, or combined with what is there, at the places that an index chooses.
//!
//! Where an index occurs several times, its elements are combined in the row-major order of the positions, so that the last
//! one wins if they are written. Threads never share an element of the target: work is split along a loop that the index
//! does not choose, or each thread takes the elements of a range of indices. So the bits do not depend on threads.

use super::super::cast::Cast;
use super::super::split::SERIAL_ELEMENTS;
use super::gather::copy_row;
use super::{IndexedOperand, Lookup, WEIGHT, by_width, load_index};
use crate::dtype::DType;
use crate::error::Result;
use crate::nest::{Nest, OPERANDS, Operand, Order, Pointers, Steps};
use crate::scalar::{Bool, Complex, Num, Real};
use crate::storage::Access;
use crate::switch;
use crate::tensor::{Tensor, pin_each};
use crate::threads;
use half::{bf16, f16};
use std::ops::Range;
use std::ptr::null_mut;

/// What becomes of an element of the target and one of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScatterRule {
    /// The element of the source.
    Replace,
    Add,
    Multiply,
    /// The larger one; NaN if either is NaN. Not for complex numbers.
    Max,
    /// The smaller one; NaN if either is NaN. Not for complex numbers.
    Min,
}

/// Combines the elements of `source`, which has the shape of the positions and overlaps neither target nor index, with
/// those of the target. The target's elements do not overlap each other.
pub fn scatter(target: &IndexedOperand, source: &Tensor, rule: ScatterRule) -> Result<()> {
    assert!(source.dtype() == target.tensor.dtype(), "elements are combined in one dtype");
    if target.base.size() == 0 {
        return Ok(());
    }
    let wanted = [
        Some((target.tensor, Access::Write)),
        Some((source, Access::Read)),
        Some((target.index, Access::Read)),
    ];
    let [Some(to), Some(from), Some(index)] = pin_each(wanted)? else { unreachable!("all were pinned") };
    let size = source.dtype().size();
    let operands = [
        Operand { layout: target.base, size },
        Operand { layout: source.layout(), size },
        Operand { layout: target.index.layout(), size: size_of::<i64>() },
    ];
    let nest = Nest::new(target.base, &operands, Order::RowMajor);
    let mut origins = [null_mut(); OPERANDS];
    (origins[0], origins[1], origins[2]) = (target.origin(&to), from.origin, index.origin);
    let job = ScatterJob { nest, origins, lookup: target.lookup(), kernel: kernel(source.dtype(), rule) };
    // SAFETY: `pin_each` pinned the three operands of the nest; every clamped index is within the bounds of the target
    // (the contract of `IndexedOperand`), and the kernel is that of the dtype.
    unsafe { job.run() }
}

/// A scatter whose operands are pinned.
struct ScatterJob {
    nest: Nest,
    origins: Pointers,
    lookup: Lookup,
    kernel: ScatterKernel,
}

// SAFETY: the addresses are used by `run` only, whose caller pinned them; its pieces write to different elements.
unsafe impl Sync for ScatterJob {}

impl ScatterJob {
    /// # Safety
    /// The origins are pinned for the layouts that the nest was made of, with the dtype of the kernel, and every index
    /// that `lookup` can return leads to an element of the target.
    unsafe fn run(&self) -> Result<()> {
        let whole = 0..self.lookup.extent;
        let work = self.nest.size().saturating_mul(WEIGHT);
        let threads = threads::limit();
        if work <= SERIAL_ELEMENTS || threads == 1 {
            // SAFETY: forwarded from this function's contract. One piece, so that a long call can be interrupted.
            return threads::run(1, false, &|_| unsafe { self.run_part(&self.nest, whole.clone()) });
        }
        let shared = threads::should_parallelize(work);
        match self.parallel_loop(threads) {
            Some(dim) => {
                let split = self.nest.split_loop(dim, 4 * threads);
                // SAFETY: forwarded from this function's contract; a piece is a part of the nest.
                threads::run(split.pieces, shared, &|i| unsafe {
                    self.run_part(&self.nest.piece(split, i), whole.clone())
                })
            }
            None => {
                // Every piece reads the whole index, and writes the elements of one range of indices.
                let per_piece = (self.lookup.extent as usize).div_ceil(threads) as isize;
                // SAFETY: forwarded from this function's contract.
                threads::run(threads, shared, &|i| unsafe {
                    let first = (i as isize * per_piece).min(self.lookup.extent);
                    self.run_part(&self.nest, first..(first + per_piece).min(self.lookup.extent));
                })
            }
        }
    }

    /// A loop whose iterations write to different elements, whatever the index is, and that is long enough to share: one
    /// along which the base of the target steps. The innermost one only if its parts are long.
    fn parallel_loop(&self, threads: usize) -> Option<usize> {
        let loops = self.nest.loops();
        let is_long = |dim: usize, extent: usize| {
            extent >= 4 * threads && (dim + 1 < loops.len() || extent >= 4096 * threads)
        };
        loops.iter().enumerate().position(|(dim, l)| l.steps[0] != 0 && is_long(dim, l.extent))
    }

    /// Runs a part of the nest for the indices of a range.
    ///
    /// # Safety
    /// As [`Self::run`], for a nest that is the job's or a piece of it.
    unsafe fn run_part(&self, nest: &Nest, range: Range<isize>) {
        // SAFETY: this function's contract.
        nest.for_each(self.origins, |p, s, n| unsafe { (self.kernel)(p, s, n, self.lookup, range.clone()) });
    }
}

/// One innermost loop of a scatter, for the indices of a range. The operands are the base of the target, the source and
/// the index.
///
/// # Safety
/// `p[k] + i * s[k]` is valid for `i < n`: a base from which every element of the lookup can be read and written, an
/// element to read, and an int64.
type ScatterKernel = unsafe fn(p: &Pointers, s: &Steps, n: usize, lookup: Lookup, range: Range<isize>);

fn kernel(dtype: DType, rule: ScatterRule) -> ScatterKernel {
    match rule {
        ScatterRule::Replace => by_width!(dtype.size(), W => scatter_loop::<W, Replaced>),
        ScatterRule::Add => switch!(dtype, all, T => scatter_loop::<T, Added>, else => unreachable!()),
        ScatterRule::Multiply => {
            switch!(dtype, all, T => scatter_loop::<T, Multiplied>, else => unreachable!())
        }
        ScatterRule::Max | ScatterRule::Min if dtype.is_complex() => {
            unreachable!("the largest of complex numbers is refused")
        }
        ScatterRule::Max => ordered::<Larger>(dtype),
        ScatterRule::Min => ordered::<Smaller>(dtype),
    }
}

fn ordered<R: OrderedRules>(dtype: DType) -> ScatterKernel {
    match dtype {
        DType::F16 => scatter_loop::<f16, R>,
        DType::BF16 => scatter_loop::<bf16, R>,
        _ => switch!(dtype, real, T => scatter_loop::<T, R>, else => unreachable!()),
    }
}

/// A rule for elements of a type.
trait Combine<T> {
    /// Whether the old element does not matter.
    const REPLACES: bool = false;
    fn combine(old: T, new: T) -> T;
}

struct Replaced;
struct Added;
struct Multiplied;
struct Larger;
struct Smaller;

impl<W> Combine<W> for Replaced {
    const REPLACES: bool = true;
    #[inline(always)]
    fn combine(_: W, new: W) -> W {
        new
    }
}

/// Rules that need an order of all real dtypes.
macro_rules! ordered_rules {
    ($($t:ty)*) => {
        trait OrderedRules: $(Combine<$t> +)* {}
        impl<R: $(Combine<$t> +)*> OrderedRules for R {}
    };
}
ordered_rules! { Bool u8 u16 u32 u64 i8 i16 i32 i64 f16 bf16 f32 f64 }

/// A rule is a function of numbers; halves are computed in float32 and rounded.
macro_rules! rules {
    ($($rule:ident $function:ident $bound:ident [$($t:ty)*])*) => { $(
        $(impl Combine<$t> for $rule {
            #[inline(always)]
            fn combine(old: $t, new: $t) -> $t {
                $bound::$function(old, new)
            }
        })*
        rules!(@half $rule $function $bound f16);
        rules!(@half $rule $function $bound bf16);
    )* };
    (@half $rule:ident $function:ident $bound:ident $half:ident) => {
        impl Combine<$half> for $rule {
            #[inline(always)]
            fn combine(old: $half, new: $half) -> $half {
                let (old, new): (f32, f32) = (old.cast(), new.cast());
                $bound::$function(old, new).cast()
            }
        }
    };
}
rules! {
    Added add Num [Bool u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 Complex<f32> Complex<f64>]
    Multiplied mul Num [Bool u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 Complex<f32> Complex<f64>]
    Larger maximum Real [Bool u8 u16 u32 u64 i8 i16 i32 i64 f32 f64]
    Smaller minimum Real [Bool u8 u16 u32 u64 i8 i16 i32 i64 f32 f64]
}

/// The loop of a rule.
///
/// # Safety
/// The contract of [`ScatterKernel`], for elements of type `T`.
unsafe fn scatter_loop<T: Copy, R: Combine<T>>(
    p: &Pointers,
    s: &Steps,
    n: usize,
    lookup: Lookup,
    range: Range<isize>,
) {
    let size = size_of::<T>() as isize;
    let combine = |to: *mut u8, from: *mut u8| {
        // SAFETY: this function's contract: callers below pass an element of the target and one of the source.
        unsafe {
            let (to, new) = (to.cast::<T>(), from.cast::<T>().read_unaligned());
            // A rule that replaces does not read what may be uninitialised.
            let old = if R::REPLACES { new } else { to.read_unaligned() };
            to.write_unaligned(R::combine(old, new));
        }
    };
    // SAFETY: this function's contract.
    unsafe {
        if s[2] == 0 {
            let index = lookup.clamp(load_index(p[2]));
            if !range.contains(&index) {
                return;
            }
            let to = p[0].wrapping_offset(index * lookup.step);
            if R::REPLACES {
                return copy_row::<T>(to, s[0], p[1], s[1], n);
            }
            if s[0] == size && s[1] == size {
                return (0..n as isize)
                    .for_each(|i| combine(to.wrapping_offset(i * size), p[1].wrapping_offset(i * size)));
            }
            return (0..n as isize)
                .for_each(|i| combine(to.wrapping_offset(i * s[0]), p[1].wrapping_offset(i * s[1])));
        }
        let (mut base, mut from, mut index) = (p[0], p[1], p[2]);
        for _ in 0..n {
            let at = lookup.clamp(load_index(index));
            if range.contains(&at) {
                combine(base.wrapping_offset(at * lookup.step), from);
            }
            base = base.wrapping_offset(s[0]);
            from = from.wrapping_offset(s[1]);
            index = index.wrapping_offset(s[2]);
        }
    }
}

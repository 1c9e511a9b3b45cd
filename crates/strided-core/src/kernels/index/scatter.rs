//! Scatter: elements of a source written, or combined with what is there, at the places that an index chooses.
//!
//! Where an index occurs several times, its elements are combined in the row-major order of the positions, so that the last
//! one wins if they are written. Threads never share an element of the target: work is split along a loop that the index
//! does not choose, or each thread takes the elements of a range of indices. So the bits do not depend on threads.

use super::super::cast::Cast;
use super::super::split::{NestBody, SERIAL_ELEMENTS};
use super::gather::copy_row;
use super::run::{column_blocks, for_each_index, run_indexed_serially};
use super::{INDEX_COST, IndexedOperand, Lookup, by_width, load_index};
use crate::dtype::DType;
use crate::error::Result;
use crate::nest::{Nest, OPERANDS, Operand, Order, Pointers, Steps};
use crate::scalar::{Bool, Complex, Num, Real};
use crate::switch;
use crate::tensor::{Tensor, pin_all};
use crate::threads::{self, Shared};
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
    pin_all!(to: Write target.tensor, from: Read source, index: Read target.index);
    let size = source.dtype().size();
    let operands = [
        Operand { layout: target.base, size },
        Operand { layout: source.layout(), size },
        Operand { layout: target.index.layout(), size: size_of::<i64>() },
    ];
    let nest = Nest::new(target.base, &operands, Order::RowMajor);
    let mut origins = [null_mut(); OPERANDS];
    (origins[0], origins[1], origins[2]) = (target.origin(&to), from.origin, index.origin);
    let job = ScatterJob {
        nest,
        origins: Shared::new(origins),
        lookup: target.lookup(),
        kernel: kernel(source.dtype(), rule),
    };
    // SAFETY: `pin_all` pinned the three operands of the nest; every clamped index is within the bounds of the target
    // (the contract of `IndexedOperand`), and the kernel is that of the dtype.
    unsafe { job.scatter_elements() }
}

/// A scatter whose operands are pinned.
struct ScatterJob {
    nest: Nest,
    origins: Shared<Pointers>,
    lookup: Lookup,
    kernel: ScatterKernel,
}

/// One innermost loop of a scatter, for the indices of a range. The operands are the base of the target, the source and
/// the index.
///
/// # Safety
/// `p[k] + i * s[k]` is valid for `i < n`: a base from which every element of the lookup can be read and written, an
/// element to read, and an int64.
type ScatterKernel = unsafe fn(p: &Pointers, s: &Steps, n: usize, lookup: Lookup, range: &Range<isize>);

/// The loop of a dtype and a rule.
fn kernel(dtype: DType, rule: ScatterRule) -> ScatterKernel {
    const UNORDERED: &str = "complex numbers have no order";
    match (rule, dtype) {
        (ScatterRule::Replace, _) => by_width!(dtype.size(), W => scatter_loop::<W, Replaced>),
        (ScatterRule::Add, _) => switch!(dtype, all, T => scatter_loop::<T, Added>, else => unreachable!()),
        (ScatterRule::Multiply, _) => {
            switch!(dtype, all, T => scatter_loop::<T, Multiplied>, else => unreachable!())
        }
        (ScatterRule::Max, DType::F16) => scatter_loop::<f16, Larger>,
        (ScatterRule::Max, DType::BF16) => scatter_loop::<bf16, Larger>,
        (ScatterRule::Min, DType::F16) => scatter_loop::<f16, Smaller>,
        (ScatterRule::Min, DType::BF16) => scatter_loop::<bf16, Smaller>,
        (ScatterRule::Max, _) => {
            switch!(dtype, real, T => scatter_loop::<T, Larger>, else => unreachable!("{UNORDERED}"))
        }
        (ScatterRule::Min, _) => {
            switch!(dtype, real, T => scatter_loop::<T, Smaller>, else => unreachable!("{UNORDERED}"))
        }
    }
}

impl ScatterJob {
    /// # Safety
    /// The origins are pinned for the layouts that the nest was made of, with elements of the kernel's type, and every
    /// index that `lookup` can return leads to an element of the target.
    unsafe fn scatter_elements(&self) -> Result<()> {
        let whole = 0..self.lookup.extent;
        let work = self.nest.size().saturating_mul(INDEX_COST);
        let threads = threads::limit();
        // SAFETY: this function's contract; a piece is a part of the nest.
        let part = |nest: &Nest, range: Range<isize>| unsafe {
            let body = ScatterBody { lookup: self.lookup, kernel: self.kernel, range };
            run_indexed_serially(nest, self.origins.get(), &body)
        };
        if work <= SERIAL_ELEMENTS {
            part(&self.nest, whole);
            return Ok(());
        }
        let shared = threads::should_parallelize(work);
        let split = match column_blocks(&self.nest, 0) {
            Some(blocks) => Some(self.nest.split_loop(self.nest.loops().len() - 1, blocks)),
            None => self.parallel_loop(threads).map(|dim| self.nest.split_loop(dim, 8 * threads)),
        };
        if let Some(split) = split {
            return threads::for_each_piece(split.pieces, shared, &|i| {
                part(&self.nest.piece(split, i), whole.clone())
            });
        }
        // Every piece reads the whole index, and writes the elements of one range of indices.
        let pieces = if shared { threads as isize } else { 1 };
        let per_piece = (self.lookup.extent + pieces - 1) / pieces;
        threads::for_each_piece(pieces as usize, shared, &|i| {
            let first = (i as isize * per_piece).min(self.lookup.extent);
            part(&self.nest, first..(first + per_piece).min(self.lookup.extent));
        })
    }

    /// A loop whose iterations write to different elements, whatever the index is, and that is long enough to share: one
    /// along which the base of the target steps. The innermost one only if its parts are long.
    fn parallel_loop(&self, threads: usize) -> Option<usize> {
        let loops = self.nest.loops();
        let is_long = |dim: usize, extent: usize| {
            extent >= 4 * threads && (dim + 1 < loops.len() || extent >= 4096 * threads)
        };
        let mut numbered = loops.iter().enumerate();
        numbered.position(|(dim, l)| l.steps[0] != 0 && is_long(dim, l.extent))
    }
}

/// Positions that are searched at a time for those in a range.
const INDICES_PER_SEARCH: usize = 256;

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

/// The work of a scatter, for the indices of a range. Only `ScatterJob::scatter_elements` makes one, under its contract.
struct ScatterBody {
    lookup: Lookup,
    kernel: ScatterKernel,
    range: Range<isize>,
}

impl NestBody for ScatterBody {
    fn widest_element(&self) -> usize {
        size_of::<i64>()
    }

    unsafe fn compute_run(&self, p: &Pointers, s: &Steps, n: usize) {
        // SAFETY: this function's contract; the kernel is that of the operands' type.
        unsafe { (self.kernel)(p, s, n, self.lookup, &self.range) }
    }
}

/// Combines an element of the source with one of the target.
///
/// # Safety
/// Both are addresses of elements of type `T`, the first one writable.
#[inline(always)]
unsafe fn combine<T: Copy, R: Combine<T>>(to: *mut u8, from: *mut u8) {
    // SAFETY: this function's contract.
    unsafe {
        let (to, new) = (to.cast::<T>(), from.cast::<T>().read_unaligned());
        // A rule that replaces does not read the target.
        let old = if R::REPLACES { new } else { to.read_unaligned() };
        to.write_unaligned(R::combine(old, new));
    }
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
    range: &Range<isize>,
) {
    let size = size_of::<T>() as isize;
    // SAFETY: this function's contract, in all cases.
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
            let row = |steps: [isize; 2]| {
                for i in 0..n as isize {
                    combine::<T, R>(to.wrapping_offset(i * steps[0]), p[1].wrapping_offset(i * steps[1]));
                }
            };
            return if s[0] == size && s[1] == size { row([size, size]) } else { row([s[0], s[1]]) };
        }
        if *range == (0..lookup.extent) {
            return for_each_index(p, s, n, size, |base, from, index| {
                combine::<T, R>(base.wrapping_offset(lookup.offset(load_index(index))), from);
            });
        }
        // Those in the range are found first, without a branch that would be mispredicted for half of them.
        let mut found = [(0, 0); INDICES_PER_SEARCH];
        for first in (0..n).step_by(INDICES_PER_SEARCH) {
            let mut count = 0;
            for i in first..n.min(first + INDICES_PER_SEARCH) {
                let at = lookup.clamp(load_index(p[2].wrapping_offset(i as isize * s[2])));
                found[count % INDICES_PER_SEARCH] = (i as isize, at);
                count += range.contains(&at) as usize;
            }
            for &(i, at) in &found[..count] {
                let to = p[0].wrapping_offset(i * s[0] + at * lookup.step);
                combine::<T, R>(to, p[1].wrapping_offset(i * s[1]));
            }
        }
    }
}

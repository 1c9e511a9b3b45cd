//! Elements that are found by an index or a mask: gather, scatter, and what masks select.
//!
//! Elements are moved by their width (1, 2, 4, 8 or 16 bytes); only a scatter that computes knows dtypes. All operands have
//! the shape of the *positions*: one for each element that is moved. An operation over an index is one nest:
//!
//! ```text
//! x[5, 7, 9][:, i], i[2, 3]     positions 5, 2, 3, 9
//!     dense operand             strides of the result
//!     base of the indexed one   strides of x, and 0 where the index chooses: 63, 0, 0, 1
//!     index                     strides of i, and 0 elsewhere: 0, 3, 1, 0
//! ```
//! The element of a position is at `base + index * stride`. Where the index has step 0 in the innermost loop, that loop
//! copies a whole row. `gather(dim)` differs only in its strides: its base steps along all dims but one.
//!
//! # Safety of indices
//!
//! [`Lookup`] clamps every index that is loaded. A gather writes to a new tensor, and reports afterwards whether all indices
//! were in range. Before a scatter, [`min_max`] looks at the index, so that the operation can refuse it before anything is
//! written. Another thread may change the index after that: the interpreter is released, and NumPy may share the memory. A
//! changed index may give wrong elements, and never an address outside the tensor.

mod compact;
mod gather;
mod linear;
mod run;
mod scatter;
mod small;

pub use compact::{MaskCounts, nonzero, place, select};
pub use gather::gather;
pub use linear::{add_offsets, add_unraveled_offsets, min_max};
pub use scatter::{ScatterRule, scatter};
pub use small::{small_gather, small_select};

use super::split::NestBody;
use super::{Pointers, Steps};
use crate::layout::Layout;
use crate::storage::Pinned;
use crate::tensor::Tensor;

/// The cost of an element that is found by index, relative to an addition.
const INDEX_COST: usize = 4;

/// The operand whose elements an index chooses.
pub struct IndexedOperand<'a> {
    pub tensor: &'a Tensor,
    /// The locations of the elements with index 0, for all positions.
    pub base: &'a Layout,
    /// int64, in the shape of the positions.
    pub index: &'a Tensor,
    /// Extent of the indexed dim, at least 1.
    pub extent: isize,
    /// The distance between the elements of two neighbouring indices. From the base, all `extent` of them are within the
    /// bounds of the tensor's layout.
    pub stride: isize,
    /// Whether negative indices count from the end; all others are from 0 to `extent - 1`.
    pub wraps: bool,
    /// What a device calls the operation that gave it a bad index; empty if the index has been checked.
    pub operation: &'static str,
}

impl IndexedOperand<'_> {
    /// The address of the first element of the base.
    fn origin(&self, pinned: &Pinned) -> *mut u8 {
        let (base, layout) = (self.base, self.tensor.layout());
        debug_assert!(self.is_inside());
        let size = self.tensor.dtype().size() as isize;
        pinned.origin.wrapping_offset((base.offset() - layout.offset()) * size)
    }

    fn lookup(&self) -> Lookup {
        assert!(self.extent > 0, "an index chooses from something");
        let step = self.stride * self.tensor.dtype().size() as isize;
        Lookup { extent: self.extent, step, wraps: self.wraps }
    }

    /// Whether all elements that an index can choose are within the bounds of the tensor.
    fn is_inside(&self) -> bool {
        let (Some((low, high)), Some((first, last))) = (self.base.bounds(), self.tensor.layout().bounds())
        else {
            return self.base.size() == 0;
        };
        let reach = (self.extent - 1) * self.stride;
        low + reach.min(0) >= first && high + reach.max(0) <= last
    }
}

/// How an index becomes an offset.
#[derive(Clone, Copy)]
struct Lookup {
    extent: isize,
    /// Bytes.
    step: isize,
    /// Whether negative indices count from the end.
    wraps: bool,
}

impl Lookup {
    /// The index from 0 to `extent - 1` that a loaded value means. A value out of range is clamped: see the module.
    #[inline(always)]
    fn clamp(self, index: i64) -> isize {
        // A negative number is a large one as usize.
        (self.wrapped(index) as usize).min(self.extent as usize - 1) as isize
    }

    #[inline(always)]
    fn wrapped(self, index: i64) -> isize {
        let index = index as isize;
        if index < 0 && self.wraps { index.wrapping_add(self.extent) } else { index }
    }

    /// Whether a loaded value is an index, so that [`Self::clamp`] does not change what it means.
    #[inline(always)]
    fn is_in_range(self, index: i64) -> bool {
        (self.wrapped(index) as usize) < self.extent as usize
    }

    /// The bytes from the base to the element of an index.
    #[inline(always)]
    fn offset(self, index: i64) -> isize {
        self.clamp(index) * self.step
    }
}

/// Loads the index at an address.
///
/// # Safety
/// `at` is the address of a readable int64 of a pinned index.
#[inline(always)]
unsafe fn load_index(at: *mut u8) -> i64 {
    // SAFETY: this function's contract. Volatile, so that the value that was clamped is the one that is used: the compiler
    // may not load it a second time.
    unsafe { at.cast::<i64>().read_volatile() }
}

/// Eight elements of a mask as a word with the lowest bit of each byte set where the element is true, the first one in the
/// lowest byte.
///
/// # Safety
/// `at` is the address of eight readable bytes.
#[inline(always)]
unsafe fn load_mask_word(at: *const u8) -> u64 {
    // SAFETY: this function's contract.
    let word = u64::from_le_bytes(unsafe { at.cast::<[u8; 8]>().read() });
    // Any other byte than 0 is true: fold its bits into the lowest one.
    let word = word | word >> 4;
    let word = word | word >> 2;
    (word | word >> 1) & 0x0101_0101_0101_0101
}

/// A nest body that is one function of an innermost loop.
struct LoopBody<F> {
    /// Bytes of an element of the widest operand.
    widest: usize,
    run: F,
}

impl<F: Fn(&Pointers, &Steps, usize) + Sync> NestBody for LoopBody<F> {
    fn widest_element(&self) -> usize {
        self.widest
    }

    unsafe fn compute_run(&self, p: &Pointers, s: &Steps, n: usize) {
        (self.run)(p, s, n)
    }
}

/// Evaluates the body with `W` as an unsigned integer of `size` bytes.
macro_rules! by_width {
    ($size:expr, $W:ident => $body:expr) => {
        match $size {
            1 => by_width!(@as u8, $W => $body),
            2 => by_width!(@as u16, $W => $body),
            4 => by_width!(@as u32, $W => $body),
            8 => by_width!(@as u64, $W => $body),
            _ => by_width!(@as u128, $W => $body),
        }
    };
    (@as $t:ident, $W:ident => $body:expr) => {{
        type $W = $t;
        $body
    }};
}
use by_width;

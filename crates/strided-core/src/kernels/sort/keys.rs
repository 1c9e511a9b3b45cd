//! Elements as keys: unsigned integers in the order of the elements.
//!
//! Bools and unsigned integers are their own keys; the sign of other integers is inverted. Floats are ordered by their bits,
//! with all bits of negative ones inverted. -0.0 has the key of 0.0, and every NaN the largest key, so the key does not tell
//! the bits of those two: they are read from the element again. Inverting all bits of the keys sorts in descending order.

use crate::cpu::simd;
use crate::dtype::DType;
use crate::scalar::{Bool, Element};
use crate::switch;
use crate::threads::Shared;
use half::{bf16, f16};
use std::ops::Range;

/// Keys that are loaded at a time.
pub(super) const KEYS_PER_LOAD: usize = 512;

/// An element that has a key.
trait Keyed: Element {
    type Key: Copy + Ord + Into<u64>;
    const LOWEST: Self::Key;
    const HIGHEST: Self::Key;
    fn key(self) -> Self::Key;
    fn of_key(key: u64) -> Self;
    /// Whether the key does not determine the bits.
    #[inline(always)]
    fn is_ambiguous(self) -> bool {
        false
    }
}

macro_rules! keyed_integers {
    ($($t:ident $key:ident $sign:expr;)*) => { $(
        impl Keyed for $t {
            type Key = $key;
            const LOWEST: $key = 0;
            const HIGHEST: $key = $key::MAX;
            #[inline(always)]
            fn key(self) -> $key { self as $key ^ $sign }
            #[inline(always)]
            fn of_key(key: u64) -> $t { (key as $key ^ $sign) as $t }
        }
    )* };
}
keyed_integers! {
    u8 u8 0; u16 u16 0; u32 u32 0; u64 u64 0;
    i8 u8 1 << 7; i16 u16 1 << 15; i32 u32 1 << 31; i64 u64 1 << 63;
}

impl Keyed for Bool {
    type Key = u8;
    const LOWEST: u8 = 0;
    const HIGHEST: u8 = u8::MAX;
    #[inline(always)]
    fn key(self) -> u8 {
        self.get() as u8
    }
    #[inline(always)]
    fn of_key(key: u64) -> Bool {
        Bool::new(key & 1 != 0)
    }
}

macro_rules! keyed_floats {
    ($($t:ident $key:ident $infinity:expr;)*) => { $(
        impl Keyed for $t {
            type Key = $key;
            const LOWEST: $key = 0;
            const HIGHEST: $key = $key::MAX;
            #[inline(always)]
            fn key(self) -> $key {
                const SIGN: $key = 1 << ($key::BITS - 1);
                let (bits, magnitude) = (self.to_bits(), self.to_bits() & !SIGN);
                let ordered = if bits & SIGN != 0 { !bits } else { bits | SIGN };
                let number = if magnitude == 0 { SIGN } else { ordered };
                if magnitude > $infinity { $key::MAX } else { number }
            }
            #[inline(always)]
            fn of_key(key: u64) -> $t {
                const SIGN: $key = 1 << ($key::BITS - 1);
                let key = key as $key;
                $t::from_bits(if key & SIGN != 0 { key ^ SIGN } else { !key })
            }
            #[inline(always)]
            fn is_ambiguous(self) -> bool {
                const SIGN: $key = 1 << ($key::BITS - 1);
                let bits = self.to_bits();
                bits == SIGN || bits & !SIGN > $infinity
            }
        }
    )* };
}
keyed_floats! {
    f16 u16 0x7c00; bf16 u16 0x7f80; f32 u32 0x7f80_0000; f64 u64 0x7ff0_0000_0000_0000;
}

/// What a pass over the elements of a line finds.
#[derive(Clone, Copy)]
pub(super) struct KeyRange {
    pub low: u64,
    pub high: u64,
    /// Whether there is a -0.0 or a NaN.
    pub ambiguous: bool,
}

impl KeyRange {
    pub fn merged(self, other: KeyRange) -> KeyRange {
        KeyRange {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            ambiguous: self.ambiguous || other.ambiguous,
        }
    }
}

/// A line of contiguous elements, and the order in which they are sorted.
#[derive(Clone, Copy)]
pub(super) struct KeyLine {
    start: Shared<*mut u8>,
    pub length: usize,
    dtype: DType,
    /// All bits of a key to sort in descending order, 0 otherwise.
    flip: u64,
}

/// Evaluates the body with `T` as the element type of a dtype that has an order.
macro_rules! by_element {
    ($dtype:expr, $T:ident => $body:expr) => {
        switch!($dtype, sortable, $T => $body, else => unreachable!("complex numbers have no order"))
    };
}

impl KeyLine {
    /// The line of `length` elements from `start` on.
    ///
    /// # Safety
    /// The elements stay readable while the line is used.
    pub unsafe fn new(start: *mut u8, length: usize, dtype: DType, descending: bool) -> KeyLine {
        let flip = if descending { u64::MAX >> (64 - 8 * dtype.size()) } else { 0 };
        KeyLine { start: Shared::new(start), length, dtype, flip }
    }

    /// The key of every NaN, as it is in a line that is not flipped. Only floats have it.
    fn nan_key(&self) -> Option<u64> {
        self.dtype.is_float().then_some(u64::MAX >> (64 - 8 * self.dtype.size()))
    }

    /// Whether a key is that of NaN.
    pub fn is_nan(&self, key: u64) -> bool {
        Some(key ^ self.flip) == self.nan_key()
    }

    /// Whether a key is one of several bit patterns: that of 0.0 or of NaN.
    fn is_shared(&self, key: u64) -> bool {
        let key = key ^ self.flip;
        self.nan_key().is_some_and(|nan| key == nan || key == nan / 2 + 1)
    }

    /// The smallest and the largest key of some elements, of which there is at least one.
    pub fn range(&self, part: Range<usize>) -> KeyRange {
        /// # Safety
        /// `from` is the address of `n` readable elements.
        #[inline(always)]
        unsafe fn of<T: Keyed>(from: *const T, n: usize) -> KeyRange {
            let (mut low, mut high, mut ambiguous) = (T::HIGHEST, T::LOWEST, false);
            for i in 0..n {
                // SAFETY: this function's contract; `i` is below `n`.
                let x = unsafe { from.add(i).read() };
                let key = x.key();
                low = if key < low { key } else { low };
                high = if key > high { key } else { high };
                ambiguous |= x.is_ambiguous();
            }
            KeyRange { low: low.into(), high: high.into(), ambiguous }
        }
        assert!(part.end <= self.length && !part.is_empty());
        let found = by_element!(self.dtype, T => {
            // SAFETY: the constructor's contract, for elements that are in the line.
            simd(|| unsafe { of::<T>(self.start.get().cast::<T>().add(part.start), part.len()) })
        });
        match self.flip {
            0 => found,
            flip => KeyRange { low: found.high ^ flip, high: found.low ^ flip, ..found },
        }
    }

    /// The key of the element at a position.
    pub fn key(&self, position: usize) -> u64 {
        let mut key = [0];
        self.load(position, &mut key);
        key[0]
    }

    /// Loads the keys of the elements from `first` on.
    fn load(&self, first: usize, keys: &mut [u64]) {
        /// # Safety
        /// `from` is the address of as many readable elements as there are keys.
        #[inline(always)]
        unsafe fn load<T: Keyed>(from: *const T, flip: u64, keys: &mut [u64]) {
            for (i, key) in keys.iter_mut().enumerate() {
                // SAFETY: this function's contract; `i` is below the number of keys.
                *key = unsafe { from.add(i).read() }.key().into() ^ flip;
            }
        }
        assert!(first + keys.len() <= self.length);
        by_element!(self.dtype, T => {
            // SAFETY: the constructor's contract, for elements that are in the line.
            simd(|| unsafe { load::<T>(self.start.get().cast::<T>().add(first), self.flip, keys) })
        })
    }

    /// Calls `visit` with the keys of some elements, a block at a time, and the position of the first of them.
    #[inline(always)]
    pub fn for_each_block(&self, part: Range<usize>, mut visit: impl FnMut(usize, &[u64])) {
        let mut keys = [0; KEYS_PER_LOAD];
        let mut first = part.start;
        while first < part.end {
            let n = KEYS_PER_LOAD.min(part.end - first);
            self.load(first, &mut keys[..n]);
            visit(first, &keys[..n]);
            first += n;
        }
    }

    /// Writes the elements of some keys.
    ///
    /// # Safety
    /// `to` is valid for writing as many elements of the dtype, and aligned for them.
    pub unsafe fn store(&self, to: *mut u8, keys: &[u64]) {
        /// # Safety
        /// `to` is valid for writing as many elements as there are keys.
        #[inline(always)]
        unsafe fn store<T: Keyed>(to: *mut T, flip: u64, keys: &[u64]) {
            for (i, key) in keys.iter().enumerate() {
                // SAFETY: this function's contract; `i` is below the number of keys.
                unsafe { to.add(i).write(T::of_key(key ^ flip)) };
            }
        }
        // SAFETY: this function's contract.
        by_element!(self.dtype, T => simd(|| unsafe { store::<T>(to.cast(), self.flip, keys) }))
    }

    /// Copies the element at a position, if its key does not determine its bits.
    ///
    /// # Safety
    /// `to` is valid for writing one element of the dtype.
    #[inline]
    pub unsafe fn restore(&self, to: *mut u8, key: u64, position: usize) {
        if self.is_shared(key) {
            // Another thread may have changed the elements meanwhile: then a position may be any number.
            let position = position.min(self.length - 1);
            let size = self.dtype.size();
            // SAFETY: the position is in the line; this function's contract.
            unsafe { to.copy_from_nonoverlapping(self.start.at(position * size), size) };
        }
    }

    /// Bytes of an element.
    pub fn element_size(&self) -> usize {
        self.dtype.size()
    }
}

//! Reductions of truth values: of elements of common dtypes, which are true unless they equal 0.
//!
//! They see elements as bits, in integers of the same width: a register holds 32 bytes of elements, whatever the dtype.

#![allow(clippy::needless_range_loop)] // as in `kernels::loops`

use super::LANES;
use super::fold::{Fold, LaneFold};
use super::groups::{GroupScratch, Groups};
use crate::kernels::cast::Cast;
use crate::scalar::{Bits, Bool, Element, Limits, Num, Real};
use std::marker::PhantomData;

/// An element as a truth value.
pub trait Truth: Element {
    /// An integer as wide as an element, so that a register holds as many of both.
    type Word: Bits + Limits + Cast<i32>;
    const FALSE: Self;
    const TRUE: Self;
    /// 0 if the element is false.
    fn word(self) -> Self::Word;
}
macro_rules! truths {
    ($($t:ty: $word:ty, $false:expr, $true:expr, $x:ident => $bits:expr;)*) => { $(
        impl Truth for $t {
            type Word = $word;
            const FALSE: $t = $false;
            const TRUE: $t = $true;
            #[inline(always)]
            fn word(self) -> $word { let $x = self; $bits }
        }
    )* };
}
// The sign of a float is masked out: -0.0 is false.
truths! {
    Bool: u8, Bool::new(false), Bool::new(true), x => x.get() as u8;
    u8: u8, 0, 1, x => x;
    u16: u16, 0, 1, x => x;
    u32: u32, 0, 1, x => x;
    u64: u64, 0, 1, x => x;
    f32: u32, 0.0, 1.0, x => x.to_bits() & (u32::MAX >> 1);
    f64: u64, 0.0, 1.0, x => x.to_bits() & (u64::MAX >> 1);
}

/// True if one term is true: the bitwise or of all words.
pub struct AnyTrue;

/// True if all terms are true: the smallest word is not 0. (Comparisons with 0 are slower: the compiler turns them into
/// single bits, one by one.)
pub struct AllTrue;

macro_rules! word_folds {
    ($($name:ident: $identity_term:ident, $identity:expr, $merge:expr;)*) => { $(
        impl<T: Truth> LaneFold<T> for $name {
            type Lane = T::Word;
            type Out = Bool;
            const IDENTITY: T::Word = $identity;
            const IDENTITY_TERM: T = T::$identity_term;
            const EMPTY_RESULT: Option<T::Word> = Some($identity);
            #[inline(always)]
            fn lane(x: T) -> T::Word {
                x.word()
            }
            #[inline(always)]
            fn merge(a: T::Word, b: T::Word) -> T::Word {
                $merge(a, b)
            }
            #[inline(always)]
            fn finish(word: T::Word, _: usize) -> Bool {
                Bool::new(word != T::Word::ZERO)
            }
        }
    )* };
}
word_folds! {
    AnyTrue: FALSE, T::Word::ZERO, Bits::or;
    AllTrue: TRUE, T::Word::HIGHEST, Real::minimum;
}

/// Which elements are counted. It does not hold for 0, with which tails are padded.
pub trait Predicate<T>: 'static {
    fn holds(x: T) -> bool;
}

pub struct IsNonzero;

impl<T: Truth> Predicate<T> for IsNonzero {
    #[inline(always)]
    fn holds(x: T) -> bool {
        x.word() != T::Word::ZERO
    }
}

pub struct IsNan;

macro_rules! nan_predicates {
    ($($t:ty)*) => { $(
        impl Predicate<$t> for IsNan {
            #[inline(always)]
            fn holds(x: $t) -> bool {
                x.is_nan()
            }
        }
    )* };
}
nan_predicates! { f32 f64 }

/// The number of terms for which a predicate holds.
pub struct CountIf<P>(PhantomData<P>);

impl<T: Truth, P: Predicate<T>> Fold<T> for CountIf<P> {
    type Acc = i64;
    type Out = i64;
    const EMPTY_RESULT: Option<i64> = Some(0);

    /// Counts in integers as wide as the terms: a lane of a block has 32 terms, which even a byte can count.
    #[inline(always)]
    unsafe fn block<const FAST: bool>(terms: *const T, n: usize, _: usize) -> i64 {
        let mut lanes = [T::Word::ZERO; LANES];
        let mut scratch = GroupScratch::NEW;
        // SAFETY: the contract of `Fold::block`; groups are read for `i < count`.
        unsafe {
            let groups = Groups::new::<FAST>(terms, n, T::FALSE, &mut scratch);
            for i in 0..groups.count {
                let group = groups.read(i);
                for j in 0..LANES {
                    let one = if P::holds(group[j]) { T::Word::ONE } else { T::Word::ZERO };
                    lanes[j] = lanes[j].add(one);
                }
            }
        }
        let mut count = 0i32;
        for lane in lanes {
            count = count.add(lane.cast());
        }
        count.into()
    }
    #[inline(always)]
    fn merge(a: i64, b: i64) -> i64 {
        a.add(b)
    }
    #[inline(always)]
    fn finish(count: i64, _: usize, _: f64) -> i64 {
        count
    }
}

/// Over rows of terms, lanes count in int64. Counts are exact, so the order of additions does not matter.
impl<T: Truth, P: Predicate<T>> LaneFold<T> for CountIf<P> {
    type Lane = i64;
    type Out = i64;
    const IDENTITY: i64 = 0;
    const IDENTITY_TERM: T = T::FALSE;
    const EMPTY_RESULT: Option<i64> = Some(0);
    #[inline(always)]
    fn lane(x: T) -> i64 {
        P::holds(x) as i64
    }
    #[inline(always)]
    fn merge(a: i64, b: i64) -> i64 {
        a.add(b)
    }
    #[inline(always)]
    fn finish(count: i64, _: usize) -> i64 {
        count
    }
}

//! Reductions of truth values: of elements as they are, of which every one but 0 is true.

#![allow(clippy::needless_range_loop)] // as in `map`

use super::LANES;
use super::fold::{Fold, Lanes};
use super::folds::Limits;
use super::groups::{Groups, Room};
use crate::kernels::cast::Cast;
use crate::scalar::{Bits, Bool, Complex, Element, Num, Real};
use half::{bf16, f16};
use std::marker::PhantomData;

/// An element as a truth value.
pub trait Truth: Element {
    /// An integer as wide as an element, so that a register has as many of both.
    type Word: Bits + Limits + Cast<i32>;
    const FALSE: Self;
    const TRUE: Self;
    /// 0 if it is false.
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
// Floats without their sign: -0.0 is false.
truths! {
    Bool: u8, Bool::new(false), Bool::new(true), x => x.get() as u8;
    u8: u8, 0, 1, x => x;
    u16: u16, 0, 1, x => x;
    u32: u32, 0, 1, x => x;
    u64: u64, 0, 1, x => x;
    f16: u16, f16::ZERO, f16::ONE, x => x.to_bits() & (u16::MAX >> 1);
    bf16: u16, bf16::ZERO, bf16::ONE, x => x.to_bits() & (u16::MAX >> 1);
    f32: u32, 0.0, 1.0, x => x.to_bits() & (u32::MAX >> 1);
    f64: u64, 0.0, 1.0, x => x.to_bits() & (u64::MAX >> 1);
    Complex<f32>: u32, Complex::new(0.0, 0.0), Complex::new(1.0, 0.0), x => x.re.word() | x.im.word();
    Complex<f64>: u64, Complex::new(0.0, 0.0), Complex::new(1.0, 0.0), x => x.re.word() | x.im.word();
}

/// Whether one term is true: the bits of all of them, together.
pub struct Any;

/// Whether all terms are true: the smallest one. (Of comparisons with 0 the compiler makes bits, one by one.)
pub struct All;

macro_rules! either {
    ($($name:ident: $neutral:ident, $identity:expr, $merge:expr;)*) => { $(
        impl<T: Truth> Lanes<T> for $name {
            type Lane = T::Word;
            type Out = Bool;
            const IDENTITY: T::Word = $identity;
            const NEUTRAL: T = T::$neutral;
            const NOTHING: Option<T::Word> = Some($identity);
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
either! {
    Any: FALSE, T::Word::ZERO, Bits::or;
    All: TRUE, T::Word::HIGHEST, Real::minimum;
}

/// What is counted.
pub trait Counted<T>: 'static {
    fn counts(x: T) -> bool;
}

/// What differs from 0.
pub struct True;

impl<T: Truth> Counted<T> for True {
    #[inline(always)]
    fn counts(x: T) -> bool {
        x.word() != T::Word::ZERO
    }
}

/// What is no number.
pub struct Nan;

macro_rules! nans {
    ($($t:ty)*) => { $(
        impl Counted<$t> for Nan {
            #[inline(always)]
            fn counts(x: $t) -> bool {
                x.is_nan()
            }
        }
    )* };
}
nans! { f16 bf16 f32 f64 }

/// How many terms there are of a kind.
pub struct Count<C>(PhantomData<C>);

impl<T: Truth, C: Counted<T>> Fold<T> for Count<C> {
    type Acc = i64;
    type Out = i64;
    const NOTHING: Option<i64> = Some(0);

    /// In numbers as wide as the terms: no lane has more than 32 of them.
    #[inline(always)]
    unsafe fn block<const FAST: bool>(terms: *const T, n: usize, _: usize) -> i64 {
        let mut lanes = [T::Word::ZERO; LANES];
        let mut room = Room::NEW;
        // SAFETY: the caller's promise.
        unsafe {
            let groups = Groups::new::<FAST>(terms, n, T::FALSE, &mut room);
            for i in 0..groups.count {
                let group = groups.read(i);
                for j in 0..LANES {
                    let one = if C::counts(group[j]) { T::Word::ONE } else { T::Word::ZERO };
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

/// Counts are exact, whichever way they are added up.
impl<T: Truth, C: Counted<T>> Lanes<T> for Count<C> {
    type Lane = i64;
    type Out = i64;
    const IDENTITY: i64 = 0;
    const NEUTRAL: T = T::FALSE;
    const NOTHING: Option<i64> = Some(0);
    #[inline(always)]
    fn lane(x: T) -> i64 {
        C::counts(x) as i64
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

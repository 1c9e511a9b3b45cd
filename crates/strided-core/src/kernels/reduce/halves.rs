//! Halves as terms: they are read as they lie in memory, and are float32 from there on.

#![allow(clippy::needless_range_loop)] // as in `map`

use super::fold::{Columns, Fold, Lanes};
use super::groups::{Groups, Room};
use super::{BLOCK, LANES};
use crate::cpu;
use crate::kernels::cast::Cast;
use half::{bf16, f16};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// A reduction of float32, for halves. Without a cast before it: that would write and read four bytes for every two.
pub struct Halves<F>(PhantomData<F>);

/// Neighbouring halves as float32. `FAST` as in [`Task::run`](crate::cpu::Task::run).
///
/// # Safety
/// They are there.
#[inline(always)]
unsafe fn wide<H: Cast<f32> + 'static, const FAST: bool, const N: usize>(halves: *const H) -> [f32; N] {
    #[cfg(target_arch = "x86_64")]
    if FAST && N.is_multiple_of(8) && std::any::TypeId::of::<H>() == std::any::TypeId::of::<f16>() {
        use std::arch::x86_64::{__m128i, __m256, _mm256_cvtph_ps};
        let mut room = MaybeUninit::<[f32; N]>::uninit();
        for i in (0..N).step_by(8) {
            // SAFETY: eight halves from i on are there, and in the room; the level has the instruction.
            unsafe {
                let eight = _mm256_cvtph_ps(halves.add(i).cast::<__m128i>().read_unaligned());
                room.as_mut_ptr().cast::<f32>().add(i).cast::<__m256>().write_unaligned(eight);
            }
        }
        // Read from there, or the compiler would take the registers apart: that took five times as long.
        // SAFETY: all of it was written.
        return unsafe { cpu::opaque_pointer(room.as_ptr()).read() };
    }
    let mut wide = [0.0; N];
    // SAFETY: the caller's promise.
    let halves = unsafe { halves.cast::<[H; N]>().read() };
    for j in 0..N {
        wide[j] = halves[j].cast();
    }
    wide
}

/// Columns of halves.
struct OfHalves<H>(PhantomData<H>);

impl<H: Cast<f32> + 'static> Columns<f32> for OfHalves<H> {
    #[inline(always)]
    unsafe fn read<const FAST: bool, const N: usize>(row: *const u8, at: usize) -> [f32; N] {
        // SAFETY: the caller's promise.
        unsafe { wide::<H, FAST, N>(row.cast::<H>().add(at)) }
    }
}

macro_rules! halves {
    ($($half:ty),*) => { $(
        impl<L: Lanes<f32>> Lanes<$half> for Halves<L> {
            type Lane = L::Lane;
            type Out = L::Out;
            const FUSED: bool = true;
            const IDENTITY: L::Lane = L::IDENTITY;
            // 0, 1, infinite: halves have them.
            const NEUTRAL: $half = <$half>::from_f32_const(L::NEUTRAL);
            const NOTHING: Option<L::Lane> = L::NOTHING;
            const QUICK: bool = L::QUICK;
            const ODD: L::Lane = L::ODD;

            #[inline(always)]
            fn lane(term: $half) -> L::Lane {
                L::lane(term.cast())
            }
            #[inline(always)]
            unsafe fn read<const FAST: bool, const N: usize>(terms: *const $half) -> [L::Lane; N] {
                // SAFETY: the caller's promise.
                L::lanes(unsafe { wide::<$half, FAST, N>(terms) })
            }
            #[inline(always)]
            fn merge(a: L::Lane, b: L::Lane) -> L::Lane {
                L::merge(a, b)
            }
            #[inline(always)]
            fn quick(a: L::Lane, b: L::Lane) -> L::Lane {
                L::quick(a, b)
            }
            #[inline(always)]
            fn is_odd(lane: L::Lane) -> bool {
                L::is_odd(lane)
            }
            #[inline(always)]
            fn finish(lane: L::Lane, n: usize) -> L::Out {
                L::finish(lane, n)
            }
        }

        impl<F: Fold<f32>> Fold<$half> for Halves<F> {
            type Acc = F::Acc;
            type Out = F::Out;
            const FUSED: bool = true;
            const WEIGHT: usize = F::WEIGHT;
            const NOTHING: Option<F::Acc> = F::NOTHING;

            /// A block is cast as a whole: it may be read more than once.
            #[inline(always)]
            unsafe fn block<const FAST: bool>(terms: *const $half, n: usize, first: usize) -> F::Acc {
                let mut all = MaybeUninit::<[[f32; LANES]; BLOCK / LANES]>::uninit();
                let all = all.as_mut_ptr().cast::<[f32; LANES]>();
                let mut room = Room::NEW;
                // SAFETY: the caller's promise; there is room for BLOCK terms, in groups.
                unsafe {
                    let groups = Groups::new::<FAST>(terms, n, <$half>::ZERO, &mut room);
                    for i in 0..groups.count {
                        all.add(i).write(wide::<$half, FAST, LANES>(groups.at(i)));
                    }
                    F::block::<FAST>(all.cast(), n, first)
                }
            }

            const BESIDE: bool = F::BESIDE;

            #[inline(always)]
            unsafe fn beside<C: Columns<$half>, const FAST: bool, const N: usize>(
                rows: &[*const u8],
                at: usize,
            ) -> [F::Acc; N] {
                // SAFETY: the caller's promise.
                unsafe { F::beside::<OfHalves<$half>, FAST, N>(rows, at) }
            }
            #[inline(always)]
            fn merge(a: F::Acc, b: F::Acc) -> F::Acc {
                F::merge(a, b)
            }
            #[inline(always)]
            fn finish(acc: F::Acc, n: usize, number: f64) -> F::Out {
                F::finish(acc, n, number)
            }
            #[inline(always)]
            fn finish_all<const FAST: bool, const N: usize>(
                acc: [F::Acc; N],
                n: usize,
                number: f64,
            ) -> [F::Out; N] {
                F::finish_all::<FAST, N>(acc, n, number)
            }
        }
    )* };
}
halves! { f16, bf16 }

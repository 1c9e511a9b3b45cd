//! Half-precision terms (float16, bfloat16): read as they are in memory, and float32 from the register on.
//!
//! A cast into scratch before would write and read four bytes for every two, and short rows would be a call each. The
//! reference kernels do cast first, and so do CPUs below AVX2: no loops are compiled for them.

#![allow(clippy::needless_range_loop)] // as in `kernels::loops`

use super::fold::{Columns, Fold, LaneFold};
use super::groups::{GroupScratch, Groups};
use super::{BLOCK, LANES};
use crate::kernels::cast::Cast;
use half::{bf16, f16};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// A reduction of float32 terms, for halves.
pub struct Halves<F>(PhantomData<F>);

/// Reads N adjacent halves as float32. `FAST` as in [`Specialised::compute`](crate::cpu::Specialised::compute).
///
/// # Safety
/// `halves` points to N readable halves.
#[inline(always)]
unsafe fn widen<H: Cast<f32> + 'static, const FAST: bool, const N: usize>(halves: *const H) -> [f32; N] {
    #[cfg(target_arch = "x86_64")]
    if FAST && N.is_multiple_of(8) && std::any::TypeId::of::<H>() == std::any::TypeId::of::<f16>() {
        use std::arch::x86_64::{__m128i, __m256, _mm256_cvtph_ps};
        let mut wide = MaybeUninit::<[f32; N]>::uninit();
        for i in (0..N).step_by(8) {
            // SAFETY: N is a multiple of 8, so eight halves and eight floats follow from `i` on. FAST says that the CPU
            // has F16C.
            unsafe {
                let eight = _mm256_cvtph_ps(halves.add(i).cast::<__m128i>().read_unaligned());
                wide.as_mut_ptr().cast::<f32>().add(i).cast::<__m256>().write_unaligned(eight);
            }
        }
        // Read back through an opaque pointer, or the compiler takes the registers apart: that took five times as long.
        // SAFETY: the loop wrote all N floats.
        return unsafe { crate::cpu::opaque_pointer(wide.as_ptr()).read() };
    }
    let mut wide = [0.0; N];
    // SAFETY: the contract of this function.
    let halves = unsafe { halves.cast::<[H; N]>().read() };
    for j in 0..N {
        wide[j] = halves[j].cast();
    }
    wide
}

/// Rows of halves.
struct HalfColumns<H>(PhantomData<H>);

impl<H: Cast<f32> + 'static> Columns<f32> for HalfColumns<H> {
    #[inline(always)]
    unsafe fn read<const FAST: bool, const N: usize>(row: *const u8, at: usize) -> [f32; N] {
        // SAFETY: the contract of `Columns::read`, of a row whose terms are halves.
        unsafe { widen::<H, FAST, N>(row.cast::<H>().add(at)) }
    }
}

macro_rules! halves {
    ($($half:ty),*) => { $(
        impl<L: LaneFold<f32>> LaneFold<$half> for Halves<L> {
            type Lane = L::Lane;
            type Out = L::Out;
            const FUSED_ONLY: bool = true;
            const IDENTITY: L::Lane = L::IDENTITY;
            // 0, 1 or an infinity, in the folds there are.
            const IDENTITY_TERM: $half = {
                let term = <$half>::from_f32_const(L::IDENTITY_TERM);
                assert!(term.to_f32_const() == L::IDENTITY_TERM, "the padding is exact in a half");
                term
            };
            const EMPTY_RESULT: Option<L::Lane> = L::EMPTY_RESULT;
            const HAS_FAST_MERGE: bool = L::HAS_FAST_MERGE;
            const NAN: L::Lane = L::NAN;

            #[inline(always)]
            fn lane(term: $half) -> L::Lane {
                L::lane(term.cast())
            }
            #[inline(always)]
            unsafe fn read<const FAST: bool, const N: usize>(terms: *const $half) -> [L::Lane; N] {
                // SAFETY: the contract of `LaneFold::read`.
                L::lanes(unsafe { widen::<$half, FAST, N>(terms) })
            }
            #[inline(always)]
            fn merge(a: L::Lane, b: L::Lane) -> L::Lane {
                L::merge(a, b)
            }
            #[inline(always)]
            fn fast_merge(a: L::Lane, b: L::Lane) -> L::Lane {
                L::fast_merge(a, b)
            }
            #[inline(always)]
            fn is_nan(lane: L::Lane) -> bool {
                L::is_nan(lane)
            }
            #[inline(always)]
            fn finish(lane: L::Lane, n: usize) -> L::Out {
                L::finish(lane, n)
            }
        }

        impl<F: Fold<f32>> Fold<$half> for Halves<F> {
            type Acc = F::Acc;
            type Out = F::Out;
            const FUSED_ONLY: bool = true;
            const WEIGHT: usize = F::WEIGHT;
            const EMPTY_RESULT: Option<F::Acc> = F::EMPTY_RESULT;

            /// Widens the whole block first: the fold may read it more than once.
            #[inline(always)]
            unsafe fn block<const FAST: bool>(terms: *const $half, n: usize, first: usize) -> F::Acc {
                let mut wide = MaybeUninit::<[[f32; LANES]; BLOCK / LANES]>::uninit();
                let wide = wide.as_mut_ptr().cast::<[f32; LANES]>();
                let mut scratch = GroupScratch::NEW;
                // SAFETY: the contract of `Fold::block`; `wide` has space for the groups of BLOCK terms.
                unsafe {
                    let groups = Groups::new::<FAST>(terms, n, <$half>::ZERO, &mut scratch);
                    for i in 0..groups.count {
                        wide.add(i).write(widen::<$half, FAST, LANES>(groups.at(i)));
                    }
                    F::block::<FAST>(wide.cast(), n, first)
                }
            }

            const HAS_FEW_TERMS: bool = F::HAS_FEW_TERMS;

            #[inline(always)]
            unsafe fn few_terms<C: Columns<$half>, const FAST: bool, const N: usize>(
                rows: &[*const u8],
                at: usize,
            ) -> [F::Acc; N] {
                // SAFETY: the contract of `Fold::few_terms`; the rows hold halves.
                unsafe { F::few_terms::<HalfColumns<$half>, FAST, N>(rows, at) }
            }
            #[inline(always)]
            fn merge(a: F::Acc, b: F::Acc) -> F::Acc {
                F::merge(a, b)
            }
            #[inline(always)]
            fn finish(acc: F::Acc, n: usize, parameter: f64) -> F::Out {
                F::finish(acc, n, parameter)
            }
            #[inline(always)]
            fn finish_all<const FAST: bool, const N: usize>(
                acc: [F::Acc; N],
                n: usize,
                parameter: f64,
            ) -> [F::Out; N] {
                F::finish_all::<FAST, N>(acc, n, parameter)
            }
        }
    )* };
}
halves! { f16, bf16 }

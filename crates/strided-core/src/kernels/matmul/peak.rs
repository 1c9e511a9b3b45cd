//! Multiply-adds at the full rate of the CPU, on one thread: the peak that benchmarks compare products with.

use super::element::ProductElement;
use crate::cpu::{self, Specialised};
use std::hint::black_box;
use std::marker::PhantomData;

/// Independent chains of multiply-adds, enough to hide their latency: two start in each cycle, and each takes 4 cycles.
const CHAINS: usize = 12;

/// `L` elements fill the widest vector register.
struct PeakLoop<T, const L: usize> {
    rounds: usize,
    dtype: PhantomData<T>,
}

impl<T: ProductElement, const L: usize> Specialised for PeakLoop<T, L> {
    type Home = PhantomData<T>;
    const WIDE: bool = true;

    #[inline(always)]
    fn compute<const FAST: bool>(self) {
        let (factor, addend) = black_box((T::ZERO, T::ONE));
        // Separate variables: an array of arrays would stay in memory.
        let [mut a, mut b, mut c, mut d, mut e, mut f] = [[addend; L]; 6];
        let [mut g, mut h, mut i, mut j, mut k, mut l] = [[addend; L]; 6];
        macro_rules! step {
            ($($chain:ident)*) => { $( $chain = $chain.map(|x| x.multiply_add::<FAST>(factor, addend)); )* };
        }
        for _ in 0..self.rounds {
            step!(a b c d e f g h i j k l);
            cpu::loop_barrier();
        }
        black_box([a, b, c, d, e, f, g, h, i, j, k, l]);
    }
}

/// Computes multiply-adds of float32 or float64 in registers and returns their number.
pub fn multiply_adds(rounds: usize, is_double: bool) -> usize {
    if is_double {
        cpu::dispatch(PeakLoop::<f64, 8> { rounds, dtype: PhantomData });
    } else {
        cpu::dispatch(PeakLoop::<f32, 16> { rounds, dtype: PhantomData });
    }
    rounds.saturating_mul(CHAINS * if is_double { 8 } else { 16 })
}

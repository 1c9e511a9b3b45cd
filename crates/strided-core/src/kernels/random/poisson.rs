//! The Poisson distribution. An element may take any number of words: its blocks are one for each attempt.

use super::super::generate::by_runs;
use super::arithmetic::{exp, ln, ln_factorial};
use super::continuous::Continuous;
use super::generator::Generator;
use super::philox::Draw;
use crate::dtype::DType;
use crate::error::Result;
use crate::storage::Access;
use crate::tensor::Tensor;
use crate::threads::Shared;

const POISSON_COST: usize = 64;
/// For rates of at least this, transformed rejection is faster than the multiplication of uniform numbers.
const LARGE_RATE: f64 = 10.0;

/// Writes numbers of events, each of the rate at the same place, to a row-major float64 tensor. The rates are row-major,
/// float64, finite and not negative.
pub fn poisson(out: &Tensor, generator: &Generator, rates: &Tensor) -> Result<()> {
    assert!(rates.dtype() == DType::F64 && rates.layout().is_row_major() && rates.size() == out.size());
    assert!(out.dtype() == DType::F64);
    let pin = rates.pin(Access::Read)?;
    let rates = Shared::new(pin.origin.cast::<f64>());
    drop(out.pin(Access::Write)?);
    let draw = generator.take_blocks(out.size());
    by_runs(out, POISSON_COST, &move |first: usize, n: usize, to: *mut u8| {
        for i in 0..n {
            // SAFETY: the contract of `RunBody`: n float64 elements; `pin` holds as many rates as there are elements.
            unsafe {
                let rate = rates.at(first + i).read();
                to.cast::<f64>().add(i).write(sample(&draw, (first + i) as u64, rate));
            }
        }
    })
}

/// Two uniform numbers for an attempt at an element.
fn uniform_pair(draw: &Draw, element: u64, attempt: u32) -> [f64; 2] {
    let [a, b, c, d] = draw.block(element, attempt);
    [a as u64 | (b as u64) << 32, c as u64 | (d as u64) << 32].map(f64::open_unit_interval)
}

fn sample(draw: &Draw, element: u64, rate: f64) -> f64 {
    if rate < LARGE_RATE { knuth(draw, element, rate) } else { ptrs(draw, element, rate) }
}

/// As many uniform numbers as can be multiplied before the product falls to e^-rate (Knuth).
fn knuth(draw: &Draw, element: u64, rate: f64) -> f64 {
    let (limit, mut product, mut count) = (exp(-rate), 1.0, 0.0);
    for attempt in 0.. {
        for uniform in uniform_pair(draw, element, attempt) {
            product *= uniform;
            if product <= limit {
                return count;
            }
            count += 1.0;
        }
    }
    unreachable!("the product falls")
}

/// Hörmann's PTRS ("The transformed rejection method for generating Poisson random variables", 1993).
fn ptrs(draw: &Draw, element: u64, rate: f64) -> f64 {
    let b = 0.931 + 2.53 * rate.sqrt();
    let a = -0.059 + 0.02483 * b;
    let accepted = 0.9277 - 3.6224 / (b - 2.0);
    let mut attempt = 0;
    loop {
        let [u, v] = uniform_pair(draw, element, attempt);
        let u = u - 0.5;
        let us = 0.5 - u.abs();
        let k = ((2.0 * a / us + b) * u + rate + 0.43).floor();
        if us >= 0.07 && v <= accepted {
            return k;
        }
        if k >= 0.0 && (us >= 0.013 || v <= us) {
            let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
            let left = ln(v) + ln(inverse_alpha) - ln(a / (us * us) + b);
            if left <= k * ln(rate) - rate - ln_factorial(k) {
                return k;
            }
        }
        attempt += 1;
    }
}

//! Random permutations, by the method of Rao and Sandelius: every element is put into a random bucket, and then each bucket
//! is shuffled. All permutations have the same probability, whatever the number of buckets, and a bucket fits the cache:
//! a shuffle of the whole would miss it with every element.

use super::discrete::below;
use super::generator::Generator;
use super::philox::Draw;
use super::run::Reader;
use crate::alloc::{try_filled, try_vec};
use crate::dtype::DType;
use crate::error::Result;
use crate::storage::Access;
use crate::tensor::Tensor;
use crate::threads::{self, Shared};
use std::ops::Range;

/// Elements of a bucket, about.
const ELEMENTS_PER_BUCKET: usize = 1 << 13;
const MAX_BUCKET_BITS: u32 = 11;
/// Elements that a thread distributes, at least.
const MIN_ELEMENTS_PER_PIECE: usize = 1 << 17;
/// Pieces, at most: each has a count for every bucket.
const MAX_PIECES: usize = 256;
const SHUFFLE_COST: usize = 16;

/// Fills a row-major int64 vector with the integers from 0 on, in random order.
pub fn permutation(out: &Tensor, generator: &Generator) -> Result<()> {
    assert!(out.dtype() == DType::I64 && out.layout().is_row_major());
    let pin = out.pin(Access::Write)?;
    let (n, to) = (out.size(), Shared::new(pin.origin.cast::<i64>()));
    let bits = n.div_ceil(ELEMENTS_PER_BUCKET).next_power_of_two().trailing_zeros().min(MAX_BUCKET_BITS);
    let shared = threads::should_parallelize(n.saturating_mul(SHUFFLE_COST));
    let bounds = if bits == 0 {
        for i in 0..n {
            // SAFETY: `to` is pinned for n elements.
            unsafe { to.at(i).write(i as i64) };
        }
        vec![0, n]
    } else {
        distribute(to, n, bits, generator, shared)?
    };
    let draw = generator.take::<u32>(n);
    threads::for_each_piece(bounds.len() - 1, shared, &|bucket| {
        // SAFETY: `to` is pinned for n elements, and this thread alone uses those of the bucket.
        unsafe { shuffle(to, bounds[bucket]..bounds[bucket + 1], draw) }
    })
}

/// Writes every integer below `n` to a random bucket. Returns where the buckets begin, and the end of the last one.
fn distribute(
    to: Shared<*mut i64>,
    n: usize,
    bits: u32,
    generator: &Generator,
    shared: bool,
) -> Result<Vec<usize>> {
    let (buckets, piece) = (1usize << bits, MIN_ELEMENTS_PER_PIECE.max(n.div_ceil(MAX_PIECES)));
    let pieces = n.div_ceil(piece);
    let range = |i: usize| i * piece..n.min((i + 1) * piece);
    // A place for each pair of a piece and a bucket: the count at first, then where the elements of the pair begin.
    let mut places = try_filled(pieces * buckets, 0usize)?;
    let mut bounds = try_vec(buckets + 1)?;
    let draw = generator.take::<u32>(n);
    let rows = Shared::new(places.as_mut_ptr());
    threads::for_each_piece(pieces, shared, &|i| {
        // SAFETY: the row of the piece, which no other thread uses.
        let row = unsafe { std::slice::from_raw_parts_mut(rows.at(i * buckets), buckets) };
        let mut words = Reader::new(draw);
        range(i).for_each(|index| row[(words.word32(index) >> (32 - bits)) as usize] += 1);
    })?;
    let mut next = 0;
    for bucket in 0..buckets {
        bounds.push(next);
        for i in 0..pieces {
            next += std::mem::replace(&mut places[i * buckets + bucket], next);
        }
    }
    bounds.push(next);
    let rows = Shared::new(places.as_mut_ptr());
    threads::for_each_piece(pieces, shared, &|i| {
        // SAFETY: the row of the piece, which no other thread uses.
        let row = unsafe { std::slice::from_raw_parts_mut(rows.at(i * buckets), buckets) };
        let mut words = Reader::new(draw);
        for index in range(i) {
            let place = &mut row[(words.word32(index) >> (32 - bits)) as usize];
            // SAFETY: `to` is pinned for n elements; the same words were counted, so that every place is used once.
            unsafe { to.at(*place).write(index as i64) };
            *place += 1;
        }
    })?;
    Ok(bounds)
}

/// Shuffles a range by the method of Fisher and Yates. Each element has the word of its index.
///
/// # Safety
/// The elements of the range are valid for reading and writing, and nobody else uses them.
unsafe fn shuffle(to: Shared<*mut i64>, range: Range<usize>, draw: Draw) {
    let mut words = Reader::new(draw);
    let count = range.len();
    for i in 1..count {
        let choices = i as u64 + 1;
        let product = words.word32(range.start + i) as u64 * choices;
        let mut other = (product >> 32) as usize;
        // Only so small a lower half may be one of a rejected word; the exact test needs a division.
        if (product as u32 as u64) < choices {
            other = below(&draw, range.start + i, choices, 0) as usize;
        }
        // SAFETY: this function's contract: both are in the range.
        unsafe { to.at(range.start + i).swap(to.at(range.start + other)) };
    }
}

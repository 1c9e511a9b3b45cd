//! The driver of draws: runs a sampler over groups of words, on any number of threads.

use super::super::cast;
use super::super::generate::by_runs;
use super::super::scratch::Scratch;
use super::super::{Kernel, pair};
use super::generator::Generator;
use super::philox::{Draw, GROUP, Word, blocks_of};
use crate::cpu::{self, Specialised};
use crate::error::Result;
use crate::scalar::Element;
use crate::storage::Access;
use crate::tensor::Tensor;
use std::marker::PhantomData;
use std::ptr::null_mut;

/// Computes elements from the words of a group.
pub trait Sampler: Copy + Send + Sync + 'static {
    /// The word that an element has.
    type Word: Word;
    /// What it computes; elements of other dtypes are cast from it.
    type Out: Element;

    /// Writes the first `n` elements of a group, or more. Must be `#[inline(always)]`.
    ///
    /// # Safety
    /// `words` and `out` are valid for a whole group of words and of elements. `n` is at most that, and `first + n` at most
    /// the number of elements of the draw; `first` is the index of the first element of the group.
    unsafe fn fill_group(
        self,
        draw: &Draw,
        first: usize,
        words: *const Self::Word,
        n: usize,
        out: *mut Self::Out,
    );
}

/// A sampler whose elements are functions of one word each.
#[derive(Clone, Copy)]
pub struct OfWord<F, W>(F, PhantomData<W>);

/// A sampler of `value(word)`, which must be `#[inline(always)]`.
pub fn of_word<W: Word, T: Element, F: Fn(W) -> T>(value: F) -> OfWord<F, W> {
    OfWord(value, PhantomData)
}

impl<W, T, F> Sampler for OfWord<F, W>
where
    W: Word + Send + Sync + 'static,
    T: Element,
    F: Fn(W) -> T + Copy + Send + Sync + 'static,
{
    type Word = W;
    type Out = T;
    #[inline(always)]
    unsafe fn fill_group(self, _: &Draw, _: usize, words: *const W, n: usize, out: *mut T) {
        for i in 0..n {
            // SAFETY: this function's contract: n words and elements.
            unsafe { out.add(i).write((self.0)(words.add(i).read())) };
        }
    }
}

/// Fills a tensor, whose elements do not overlap, with the elements of a sampler. `cost` is the cost of an element,
/// relative to an addition. Takes words from the generator only if the tensor can be written.
pub fn fill<S: Sampler>(out: &Tensor, generator: &Generator, cost: usize, sampler: S) -> Result<()> {
    drop(out.pin(Access::Write)?);
    let draw = generator.take::<S::Word>(out.size());
    let (from, to) = (S::Out::DTYPE, out.dtype());
    // The bits of integers of one size are the same, whether they are signed or not; a bool is 0 or 1.
    let same = from == to || (!from.is_float() && !to.is_float() && from.size() == to.size());
    let cast = (!same).then(|| cast::kernel(from, to));
    by_runs(out, cost, &move |first: usize, n: usize, to: *mut u8| {
        cpu::dispatch(SamplerRun { draw, sampler, first, n, to, size: out.dtype().size(), cast })
    })
}

/// A run of elements of a draw.
struct SamplerRun<S> {
    draw: Draw,
    sampler: S,
    first: usize,
    n: usize,
    to: *mut u8,
    /// Bytes of an element at `to`.
    size: usize,
    /// Casts elements of the sampler to those at `to`, if they differ.
    cast: Option<Kernel>,
}

/// Bytes of the elements of a group: at most 256 of 4 bytes, or of 8 if they are cast.
const GROUP_BYTES: usize = 4 * GROUP * 8;

impl<S: Sampler> Specialised for SamplerRun<S> {
    type Home = S;
    const WIDE: bool = false;

    #[inline(always)]
    fn compute<const FAST: bool>(self) {
        let per_group = S::Word::PER_GROUP;
        let (mut words, mut elements) = (Scratch::<{ 16 * GROUP }>::new(), Scratch::<GROUP_BYTES>::new());
        let (words, elements) = (words.start(), elements.start());
        let (mut at, end, mut to) = (self.first, self.first + self.n, self.to);
        while at < end {
            let skipped = at % per_group;
            let count = (per_group - skipped).min(end - at);
            let (needed, group) = (skipped + count, at / per_group);
            let is_direct = count == per_group && self.cast.is_none();
            let target = if is_direct { to } else { elements };
            // SAFETY: the scratch buffers hold a group of words and of elements, and are aligned for them. The contract of
            // `RunBody`: `to` is aligned and valid for all elements from `at` to `end`, which `count` of them are.
            unsafe {
                self.draw.group(group as u64, blocks_of::<S::Word>(needed), words.cast());
                self.sampler.fill_group(
                    &self.draw,
                    at - skipped,
                    words.cast_const().cast(),
                    needed,
                    target.cast(),
                );
                if !is_direct {
                    let from = elements.add(skipped * size_of::<S::Out>());
                    match self.cast {
                        None => to.copy_from_nonoverlapping(from, count * self.size),
                        Some(cast) => {
                            let steps = pair(self.size as isize, size_of::<S::Out>() as isize, 0);
                            cast(&pair(to, from, null_mut()), &steps, count);
                        }
                    }
                }
                to = to.add(count * self.size);
            }
            at += count;
        }
    }
}

/// Reads the words of a draw one by one, near each other. Keeps the last group.
pub struct Reader {
    draw: Draw,
    /// The group that `words` is of.
    group: usize,
    words: [u64; 2 * GROUP],
}

impl Reader {
    pub fn new(draw: Draw) -> Reader {
        Reader { draw, group: usize::MAX, words: [0; 2 * GROUP] }
    }

    #[inline(always)]
    pub fn word64(&mut self, index: usize) -> u64 {
        let group = index / u64::PER_GROUP;
        if group != self.group {
            self.load(group);
        }
        u64::from_le(self.words[index % u64::PER_GROUP])
    }

    #[inline(always)]
    pub fn word32(&mut self, index: usize) -> u32 {
        (self.word64(index / 2) >> (32 * (index % 2))) as u32
    }

    #[inline(never)]
    fn load(&mut self, group: usize) {
        let (draw, words) = (self.draw, self.words.as_mut_ptr());
        // SAFETY: the array has as many numbers as a group.
        cpu::simd(move || unsafe { draw.group(group as u64, GROUP, words) });
        self.group = group;
    }
}

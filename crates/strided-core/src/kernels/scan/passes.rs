//! The passes of a scan over its lines: which lanes are stepped through, in which order, and from which carries.

use super::blocks::BlockScan;
use super::lanes::{AlongLanes, Scan, ScanKernel, ScanLanes};
use crate::alloc::try_filled;
use crate::error::Result;
use crate::kernels::lines::{
    CHUNK, LineJob, LineRequest, LineScratch, MAX_TASK_ELEMENTS, REGISTER_LANES, Strip, with_lines,
};
use crate::nest::shifted;
use crate::scalar::Element;
use crate::threads::Shared;
use std::marker::PhantomData;
use std::ops::Range;

/// Chunks of a long line whose totals are found before any of their results is written. A window is short enough that
/// its elements are still in a cache when they are read again. All threads share a window of 1M elements.
const SHARED_WINDOW_CHUNKS: usize = 4096;
/// The same for a single thread: a window of 16K elements.
const WINDOW_CHUNKS: usize = 4 * REGISTER_LANES;
/// The most adjacent long lines that are scanned together.
const MAX_BUNDLE: usize = 64;

/// Runs a scan.
pub(super) fn run<S: Scan<K>, const K: usize>(request: &LineRequest) -> Result<()> {
    with_lines(S::E::DTYPE, request, |job| ScanJob::<S, K> { job, scan: PhantomData }.run())
}

struct ScanJob<'a, S, const K: usize> {
    job: &'a LineJob,
    scan: PhantomData<fn() -> S>,
}

impl<S: Scan<K>, const K: usize> ScanJob<'_, S, K> {
    fn run(&self) -> Result<()> {
        let job = self.job;
        if S::BY_BLOCKS && self.goes_by_blocks() {
            let make = || ();
            return job.for_each_strip(1, S::WEIGHT, 0, make, |strip, _, _| {
                // SAFETY: the strip is a line of the job; `goes_by_blocks` found it contiguous in all operands.
                unsafe { BlockScan::<S, K>::new(strip.at, job.length).run_line() };
            });
        }
        if job.cuts_lines(S::WEIGHT, job.strip_width()) {
            return job.for_each_bundle(MAX_BUNDLE, |lines| self.scan_windows(lines));
        }
        let make = || ScanLanes::<S, K>::new(S::START);
        job.for_each_strip(job.strip_width(), S::WEIGHT, 0, make, |strip, scratch, lanes| {
            // SAFETY: `for_each_strip` passes strips of the job's lines.
            unsafe { self.scan_strip(lanes, strip, scratch) };
        })
    }

    /// Whether lines are scanned by [`BlockScan`]: they have more than a chunk, are contiguous in all operands without
    /// a cast, are enough for the threads that share them, and none is too long to be interrupted. Otherwise threads
    /// share each line window by window.
    fn goes_by_blocks(&self) -> bool {
        let job = self.job;
        let enough = job.has_lines_for_threads(S::WEIGHT);
        let contiguous = job.is_contiguous() && job.indices.is_contiguous();
        contiguous && enough && (CHUNK + 1..MAX_TASK_ELEMENTS / S::WEIGHT).contains(&job.length)
    }

    /// Scans a strip of lines from their first elements to their last ones.
    ///
    /// # Safety
    /// The strip's lanes are lines of the job.
    unsafe fn scan_strip(&self, lanes: &mut ScanLanes<S, K>, strip: &Strip, scratch: &mut LineScratch) {
        let job = self.job;
        if job.length <= CHUNK {
            // SAFETY: lines of the job have `length` elements.
            unsafe { self.pass::<true, true>(lanes, strip, job.length, 0, scratch) };
            return;
        }
        lanes.begin_all(strip.width, S::START);
        for first in (0..job.length).step_by(CHUNK) {
            let rows = CHUNK.min(job.length - first);
            let chunk = Strip { at: shifted(&strip.at, &job.position_steps(), first as isize), ..*strip };
            // SAFETY: lines of the job have `length` elements, and so `rows` from `first` on.
            unsafe { self.pass::<true, false>(lanes, &chunk, rows, first, scratch) };
            if first + rows < job.length {
                lanes.next_chunk(strip.width);
            }
        }
    }

    /// Scans long lines window by window: the totals of all chunks; the carries, one after the other; and the results
    /// of all chunks, each from its carry.
    fn scan_windows(&self, lines: &Strip) -> Result<()> {
        let job = self.job;
        let (chunks, width) = (job.length.div_ceil(CHUNK), lines.width);
        let window =
            if job.is_threaded(width, S::WEIGHT) { SHARED_WINDOW_CHUNKS / width } else { WINDOW_CHUNKS };
        let mut carries = try_filled((window + 1) * width, S::START)?;
        let mut lanes = ScanLanes::<S, K>::new(S::START);
        for first in (0..chunks).step_by(window) {
            let range = first..chunks.min(first + window);
            self.find_totals(lines, range.clone(), &mut carries)?;
            for chunk in range.clone() {
                for line in 0..width {
                    let at = (chunk - first) * width + line;
                    let (carry, mut total) = (carries[at], carries[at + width]);
                    if !S::can_merge(carry, total) {
                        lanes.begin(0, carry);
                        total = self.total(&mut lanes, &lines.lane(line), chunk);
                    }
                    carries[at + width] = S::next_carry(carry, total);
                }
            }
            self.write_results(lines, range.clone(), &carries)?;
            carries.copy_within(range.len() * width..(range.len() + 1) * width, 0);
        }
        Ok(())
    }

    /// Finds the totals of some chunks, and stores each at the index of the next chunk's carry.
    fn find_totals(&self, lines: &Strip, range: Range<usize>, carries: &mut [[S::T; K]]) -> Result<()> {
        let (first, slots) = (range.start, Shared::new(carries.as_mut_ptr()));
        let make = || ScanLanes::<S, K>::new(S::START);
        self.job.for_each_chunk_group(lines, range, S::WEIGHT, make, |chunk, strip, rows, scratch, lanes| {
            lanes.begin_all(strip.width, S::START);
            // SAFETY: `for_each_chunk_group` passes chunks of the lines with `rows` elements each. `carries` has a
            // slot for each chunk of a window and one more, and each slot is written by one group.
            unsafe {
                self.pass::<false, false>(lanes, strip, rows, chunk * CHUNK, scratch);
                let slot = slots.at((chunk - first + 1) * lines.width);
                (0..strip.width).for_each(|lane| slot.add(lane).write(lanes.state(lane)));
            }
        })
    }

    /// The total of one chunk of a line, from the carry that the first lane began with.
    fn total(&self, lanes: &mut ScanLanes<S, K>, line: &Strip, chunk: usize) -> [S::T; K] {
        let rows = CHUNK.min(self.job.length - chunk * CHUNK);
        let strip = self.job.chunks(line, chunk, 1);
        let mut kernel = ScanKernel::<S, K, false, false>(lanes);
        // SAFETY: the chunk is one of the line's and has `rows` elements.
        LineScratch::with(&mut [], |scratch| unsafe {
            self.job.walk_tiles(&mut kernel, &strip, rows, chunk * CHUNK, scratch)
        });
        lanes.state(0)
    }

    /// Writes the results of some chunks of long lines, each from its carry.
    fn write_results(&self, lines: &Strip, range: Range<usize>, carries: &[[S::T; K]]) -> Result<()> {
        let (first, make) = (range.start, || ScanLanes::<S, K>::new(S::START));
        self.job.for_each_chunk_group(lines, range, S::WEIGHT, make, |chunk, strip, rows, scratch, lanes| {
            lanes.begin_each(strip.width, |lane| carries[(chunk - first) * lines.width + lane]);
            // SAFETY: `for_each_chunk_group` passes chunks of the lines with `rows` elements each.
            unsafe { self.pass::<true, false>(lanes, strip, rows, chunk * CHUNK, scratch) };
        })
    }

    /// Steps the lanes of a strip through their first `rows` elements, and writes results if `WRITE`. `position` is
    /// that of the first element, and `SINGLE` is as in [`Scan::step`].
    ///
    /// Contiguous lines are stepped through along their elements, without transposing them: few elements of 8 bytes fit
    /// a vector, and transposing them takes longer than stepping through lane by lane. In lines of more than one
    /// chunk that holds for 4 bytes, too.
    ///
    /// # Safety
    /// The strip's lanes are lines of the job, or chunks of them, and have at least `rows` elements.
    unsafe fn pass<const WRITE: bool, const SINGLE: bool>(
        &self,
        lanes: &mut ScanLanes<S, K>,
        strip: &Strip,
        rows: usize,
        position: usize,
        scratch: &mut LineScratch,
    ) {
        let ([to, from, ..], [to_step, from_step, ..]) = (strip.at, strip.lane_steps);
        let is_cheap =
            const { !S::INDEXED && S::WEIGHT == 1 && size_of::<S::E>() >= if SINGLE { 8 } else { 4 } };
        // SAFETY: the lanes have `rows` elements by this function's contract; `is_contiguous` says that those of a lane
        // are contiguous and of type `S::E` in input and output.
        unsafe {
            if is_cheap && self.job.is_contiguous() {
                let lane_steps = [to_step, from_step];
                let width = strip.width;
                AlongLanes::<S, K, WRITE, SINGLE> { lanes, to, from, lane_steps, rows, width }.run();
            } else {
                let mut kernel = ScanKernel::<S, K, WRITE, SINGLE>(lanes);
                self.job.walk_tiles(&mut kernel, strip, rows, position, scratch);
            }
        }
    }
}

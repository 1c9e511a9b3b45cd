//! Chooses how the lines of a softmax are visited: along their elements, several side by side, or part by part.

use super::exponential::SoftmaxFloat;
use super::pass::{PART, SOFTMAX_LANES, SoftmaxKernel, SoftmaxLanes, SoftmaxSteps, WEIGHT, larger};
use crate::alloc::try_filled;
use crate::error::Result;
use crate::kernels::lines::{
    CHUNK, LineJob, LineRequest, LineScratch, LineTile, MAX_STAGED_BYTES, MIN_ADJACENT_LINES, REGISTER_LANES,
    Strip, TASK_ELEMENTS, TILE_BYTES, TileRows, with_lines,
};
use crate::nest::shifted;
use crate::threads::{self, Shared};

/// Shorter lines are transposed, so that several are walked side by side.
const MIN_ALONG: usize = 32;
/// Elements of the contiguous lines that are walked together.
const ALONG_ELEMENTS: usize = 2048;
/// The most adjacent lines that are cast together: they share the cost of starting a cast.
const MAX_CAST_LANES: usize = 8 * SOFTMAX_LANES;

/// Runs `softmax`, or `log_softmax` if `LOG`.
pub(super) fn run<E: SoftmaxFloat, const LOG: bool>(request: &LineRequest) -> Result<()> {
    with_lines(E::DTYPE, request, |job| {
        // As many lines as fit a tile with a chunk of each.
        let narrow = REGISTER_LANES.min(TILE_BYTES / (CHUNK * job.max_element_bytes(size_of::<E>())));
        let along = walks_along(job);
        let fits_staging = job.length * size_of::<E>() <= MAX_STAGED_BYTES;
        // Parts of lines are read, and cast, once for every step; whole lines once in all.
        let enough = job.has_lines_for_threads(WEIGHT);
        let whole_lines = along && fits_staging && enough;
        if !whole_lines && job.cuts_lines(WEIGHT, if along { 1 } else { narrow }) {
            return job.for_each_bundle(narrow, |lines| run_parts::<E, LOG>(job, lines));
        }
        if along && (fits_staging || job.is_contiguous()) {
            return run_along::<E, LOG>(job);
        }
        // As many adjacent lines as the L2 cache holds from step to step.
        let held = MAX_STAGED_BYTES / (job.length * size_of::<E>());
        let direct = job.input.is_tile(job.inner.steps[1]) && job.output.is_tile(job.inner.steps[0]);
        let per_thread = job.inner.extent.div_ceil(2 * threads::limit());
        let max_width = if direct { SOFTMAX_LANES } else { per_thread.clamp(SOFTMAX_LANES, MAX_CAST_LANES) };
        let width = if along { 1 } else { held.clamp(narrow, max_width) / narrow * narrow };
        let bytes = if direct && width > 1 { 0 } else { job.staged_bytes::<E>(width) };
        job.for_each_strip(width, WEIGHT, bytes, SoftmaxLanes::new, |strip, scratch, lanes| {
            let work = |job: &LineJob, strip: &Strip, scratch: &mut LineScratch| {
                for first in (0..strip.width).step_by(SOFTMAX_LANES) {
                    let at = shifted(&strip.at, &strip.lane_steps, first as isize);
                    let part = Strip { at, width: SOFTMAX_LANES.min(strip.width - first), ..*strip };
                    run_across::<E, LOG>(job, &part, scratch, lanes);
                }
            };
            // SAFETY: `for_each_strip` passes strips of the job's lines.
            unsafe { job.with_staged_strip::<E>(strip, scratch, work) };
        })
    })
}

/// Whether lines are walked along their elements: they are not short, and not adjacent in output or input.
fn walks_along(job: &LineJob) -> bool {
    let adjacent = job.output_is_adjacent() || job.input_is_adjacent();
    job.length >= MIN_ALONG && !(job.inner.extent >= MIN_ADJACENT_LINES && adjacent)
}

/// Works on a strip of lines side by side: in one pass if tiles are the operands' own memory, otherwise in three
/// passes, each of which reads the lines again.
fn run_across<E: SoftmaxFloat, const LOG: bool>(
    job: &LineJob,
    strip: &Strip,
    scratch: &mut LineScratch,
    lanes: &mut SoftmaxLanes<E>,
) {
    lanes.begin(strip.width);
    let mut walk = |steps: SoftmaxSteps| {
        let mut kernel = SoftmaxKernel::<E, LOG>(lanes, steps);
        // SAFETY: lanes of the strip are lines of the job, which have `length` elements.
        unsafe { job.walk_tiles(&mut kernel, strip, job.length, 0, scratch) };
    };
    if job.input.is_tile(strip.lane_steps[1]) && job.output.is_tile(strip.lane_steps[0]) {
        return walk(SoftmaxSteps::all(!LOG));
    }
    walk(SoftmaxSteps::FIND);
    walk(SoftmaxSteps::sum(false));
    walk(SoftmaxSteps::write(false));
}

/// Works on lines along their elements, several at a time: in place if they are contiguous and need no cast, otherwise
/// in scratch, to which they are copied and cast once.
fn run_along<E: SoftmaxFloat, const LOG: bool>(job: &LineJob) -> Result<()> {
    let width = (ALONG_ELEMENTS / job.length).clamp(1, SOFTMAX_LANES);
    let contiguous = job.is_contiguous();
    let line = job.length * size_of::<E>();
    let bytes = if contiguous { 0 } else { line * width.min(job.inner.extent) };
    job.for_each_strip(width, WEIGHT, bytes, SoftmaxLanes::new, |strip, scratch, lanes| {
        lanes.begin(strip.width);
        let ([to, from, ..], [to_step, from_step, ..]) = (strip.at, strip.lane_steps);
        let (mut at, mut line_steps) = ([to, from], [to_step, from_step]);
        let shape = (job.length, strip.width);
        if !contiguous {
            let buffer = scratch.line_buffer(line * strip.width);
            // SAFETY: the strip's lanes are lines of the job; the buffer holds all of them.
            unsafe { job.input.read_lines(buffer, from, from_step, shape) };
            (at, line_steps) = ([buffer; 2], [line as isize; 2]);
        }
        let rows = |start: *mut u8| TileRows { start, step: size_of::<E>() as isize };
        let tile = LineTile {
            from: rows(at[1]),
            to: rows(at[0]),
            indices: TileRows::NONE,
            position: 0,
            lane_positions: 0,
            rows: job.length,
            width: strip.width,
        };
        // SAFETY: the tile is the strip's lines, which are contiguous and of type `E`, or their copies in the buffer.
        unsafe {
            SoftmaxKernel::<E, LOG>(lanes, SoftmaxSteps::all(!LOG)).pass(&tile, Some(line_steps));
            if !contiguous {
                job.output.write_lines(at[0], to, to_step, shape);
            }
        }
    })
}

/// Works on a long line, or on a bundle of adjacent ones: takes each step in all parts before the next step.
fn run_parts<E: SoftmaxFloat, const LOG: bool>(job: &LineJob, lines: &Strip) -> Result<()> {
    let (parts, width) = (job.length.div_ceil(PART), lines.width);
    let keep = !LOG && job.output.is_tile(lines.lane_steps[0]);
    let mut known = SoftmaxLanes::<E>::new();
    let mut found = try_filled(parts * width, (E::LOWEST, 0.0))?;
    for steps in [SoftmaxSteps::FIND, SoftmaxSteps::sum(keep)] {
        let slots = Shared::new(found.as_mut_ptr());
        for_each_part::<E, LOG>(job, lines, steps, &known, |part, lanes| {
            for lane in 0..width {
                // SAFETY: `found` has `width` slots for each part, and one task works on a part.
                unsafe { slots.at(part * width + lane).write((lanes.max[lane], lanes.total(lane))) };
            }
        })?;
        for (slot, &(max, total)) in found.iter().enumerate() {
            let lane = slot % width;
            [known.max[lane]] = larger([max], [known.max[lane]]);
            known.sum[lane] += total;
        }
    }
    for_each_part::<E, LOG>(job, lines, SoftmaxSteps::write(keep), &known, |_, _| {})
}

/// Takes some steps in all parts of a long line, or of a bundle of adjacent ones. Lanes begin with what is `known` of
/// their lines. `note` gets each part and its lanes when it is done.
fn for_each_part<E: SoftmaxFloat, const LOG: bool>(
    job: &LineJob,
    lines: &Strip,
    steps: SoftmaxSteps,
    known: &SoftmaxLanes<E>,
    note: impl Fn(usize, &SoftmaxLanes<E>) + Sync,
) -> Result<()> {
    let parts = job.length.div_ceil(PART);
    let per_task = (TASK_ELEMENTS / WEIGHT / (PART * lines.width)).max(1);
    threads::for_each_piece(parts.div_ceil(per_task), job.is_threaded(lines.width, WEIGHT), &|task| {
        let mut lanes = SoftmaxLanes::new();
        LineScratch::with(&mut [], |scratch| {
            for part in task * per_task..parts.min((task + 1) * per_task) {
                let first = part * PART;
                lanes.resume(known, lines.width);
                let rows = PART.min(job.length - first);
                let strip = Strip { at: shifted(&lines.at, &job.position_steps(), first as isize), ..*lines };
                let mut kernel = SoftmaxKernel::<E, LOG>(&mut lanes, steps);
                // SAFETY: the lines are lines of the job, which have `rows` elements from `first` on.
                unsafe { job.walk_tiles(&mut kernel, &strip, rows, first, scratch) };
                note(part, &lanes);
            }
        })
    })
}

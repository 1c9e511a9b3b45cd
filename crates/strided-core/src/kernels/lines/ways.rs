//! Which way functions of whole lines are worked on: lines one after the other, side by side, or part by part.

use super::exponent::Exponent;
use super::scan::{CHUNK, Frame, NARROW, Rows};
use super::tile::{ROOM, Side};
use super::whole::{Lanes, MOST, PART, Steps, WEIGHT, Whole, larger};
use super::{BESIDE, Job, PIECE, Request, Rooms, SETTLED, Slots, Strip, with_job};
use crate::error::Result;
use crate::nest::shifted;
use crate::threads;

/// Lines that are shorter are transposed around, to be walked side by side.
const ALONG: usize = 32;
/// Elements of lines that are walked along one after the other.
const TOGETHER: usize = 2048;
/// The most lines side by side that are cast at once: what it costs to begin is shared by them.
const CAST: usize = 8 * MOST;

/// Runs a function of whole lines.
pub(super) fn run<E: Exponent, const LOG: bool>(request: &Request) -> Result<()> {
    with_job(E::DTYPE, request, |job| {
        // So few lines that a room has a chunk of each.
        let narrow = NARROW.min(ROOM / (CHUNK * job.widest(size_of::<E>())));
        let along = job.along();
        let settles = job.length * size_of::<E>() <= SETTLED;
        // Parts of lines are read, and cast, for every step; whole ones only once, if there are enough of them.
        let enough = !job.shared(job.lines(), WEIGHT) || job.lines() >= 2 * threads::limit();
        let whole = along && settles && enough;
        if !whole && job.is_long(WEIGHT, if along { 1 } else { narrow }) {
            return job.each_bundle(narrow, |lines| long::<E, LOG>(job, lines));
        }
        if along && (settles || job.dense()) {
            return lines_along::<E, LOG>(job);
        }
        // So few lines side by side that a second cache holds them from step to step.
        let held = SETTLED / (job.length * size_of::<E>());
        let direct = job.input.is_tile(job.inner.steps[1]) && job.output.is_tile(job.inner.steps[0]);
        let share = job.inner.extent.div_ceil(2 * threads::limit());
        let most = if direct { MOST } else { share.clamp(MOST, CAST) };
        let width = if along { 1 } else { held.clamp(narrow, most) / narrow * narrow };
        job.each_strip(width, WEIGHT, Lanes::new, |strip, rooms, lanes| {
            let work = |job: &Job, strip: &Strip, rooms: &mut Rooms| {
                for first in (0..strip.width).step_by(MOST) {
                    let at = shifted(&strip.at, &strip.lane, first as isize);
                    let part = Strip { at, width: MOST.min(strip.width - first), ..*strip };
                    lines_beside::<E, LOG>(job, &part, rooms, lanes);
                }
            };
            // SAFETY: a strip of the job's lines.
            unsafe { job.settled::<E>(strip, rooms, work) };
        })
    })
}

/// Works on lines side by side: all steps at once where the lines are as they are used, else one after the other.
fn lines_beside<E: Exponent, const LOG: bool>(
    job: &Job,
    strip: &Strip,
    rooms: &mut Rooms,
    lanes: &mut Lanes<E>,
) {
    lanes.begin(strip.width);
    let mut walk = |steps: Steps| {
        let rows = (0, job.length);
        // SAFETY: a strip of the job's lines.
        unsafe { job.walk(&mut Whole::<E, LOG>(lanes, steps), strip, rows, 0, rooms) };
    };
    if job.input.is_tile(strip.lane[1]) && job.output.is_tile(strip.lane[0]) {
        return walk(Steps::all(!LOG));
    }
    walk(Steps::FIND);
    walk(Steps::sum(false));
    walk(Steps::make(false));
}

/// Works on lines along their elements, several at a time: where they lie, or in a room that they are cast into.
fn lines_along<E: Exponent, const LOG: bool>(job: &Job) -> Result<()> {
    let width = (TOGETHER / job.length).clamp(1, MOST);
    let dense = job.dense();
    job.each_strip(width, WEIGHT, Lanes::new, |strip, rooms, lanes| {
        lanes.begin(strip.width);
        let (mut at, mut along) = ([strip.at[0], strip.at[1]], [strip.lane[0], strip.lane[1]]);
        if !dense {
            let line = job.length * size_of::<E>();
            let room = rooms.settle(line * strip.width);
            // SAFETY: a strip of the job's lines; the room holds them.
            unsafe { job.input.read_along(room, at[1], along[1], (job.length, strip.width)) };
            (at, along) = ([room; 2], [line as isize; 2]);
        }
        let rows = |start: *mut u8| Rows { start, step: size_of::<E>() as isize };
        let frame = Frame {
            from: rows(at[1]),
            to: rows(at[0]),
            indices: Rows::NONE,
            at: 0,
            spread: 0,
            rows: job.length,
            width: strip.width,
        };
        // SAFETY: a strip of the job's lines, or the room that has them.
        unsafe {
            Whole::<E, LOG>(lanes, Steps::all(!LOG)).pass(&frame, Some(along));
            if !dense {
                let shape = (job.length, strip.width);
                job.output.write_along(at[0], strip.at[0], strip.lane[0], shape);
            }
        }
    })
}

/// Works on a long line, or on several side by side: each step on all parts, before the next one.
fn long<E: Exponent, const LOG: bool>(job: &Job, lines: &Strip) -> Result<()> {
    let (parts, width) = (job.length.div_ceil(PART), lines.width);
    let keep = !LOG && job.output.is_tile(lines.lane[0]);
    let mut known = Lanes::<E>::new();
    let mut found = vec![(E::LOWEST, 0.0); parts * width];
    for steps in [Steps::FIND, Steps::sum(keep)] {
        let slots = Slots(found.as_mut_ptr());
        each_part::<E, LOG>(job, lines, steps, &known, |part, lanes| {
            let slots = &slots;
            for lane in 0..width {
                // SAFETY: each part has its own slots.
                unsafe { slots.0.add(part * width + lane).write((lanes.most[lane], lanes.total(lane))) };
            }
        })?;
        for (slot, &(most, total)) in found.iter().enumerate() {
            let lane = slot % width;
            [known.most[lane]] = larger([most], [known.most[lane]]);
            known.sum[lane] += total;
        }
    }
    each_part::<E, LOG>(job, lines, Steps::make(keep), &known, |_, _| {})
}

/// Takes some steps in all parts of a long line, or of several side by side.
fn each_part<E: Exponent, const LOG: bool>(
    job: &Job,
    lines: &Strip,
    steps: Steps,
    known: &Lanes<E>,
    note: impl Fn(usize, &Lanes<E>) + Sync,
) -> Result<()> {
    let parts = job.length.div_ceil(PART);
    let together = (PIECE / WEIGHT / (PART * lines.width)).max(1);
    threads::run(parts.div_ceil(together), job.shared(lines.width, WEIGHT), &|piece| {
        let mut lanes = Lanes::new();
        Rooms::with(|rooms| {
            for part in piece * together..parts.min((piece + 1) * together) {
                let first = part * PART;
                lanes.resume(known, lines.width);
                let rows = PART.min(job.length - first);
                let strip = Strip { at: shifted(&lines.at, &job.steps(), first as isize), ..*lines };
                let mut walk = Whole::<E, LOG>(&mut lanes, steps);
                // SAFETY: a part of the job's lines.
                unsafe { job.walk(&mut walk, &strip, (0, rows), first, rooms) };
                note(part, &lanes);
            }
        })
    })
}

impl Job {
    /// Whether lines are walked along their elements: those are neighbours, or nothing is.
    fn along(&self) -> bool {
        let lies = |side: &Side, k: usize| side.side_by_side(self.inner.steps[k]);
        let beside = self.inner.extent >= BESIDE && (lies(&self.output, 0) || lies(&self.input, 1));
        self.length >= ALONG && !beside
    }
}

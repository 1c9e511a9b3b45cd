//! Several layouts over one shape become one loop nest: as few and as long loops as the strides allow.
//!
//! Operand 0 is the output. Broadcasting is a step of 0. Steps are in bytes.
//!
//! ```text
//! x[2,3,4] + row[4], float32     outer 6 (steps 16, 16, 0), inner 4 (steps 4, 4, 4)
//! x[2,3] + y[3,2].t()            outer 2 (steps 12, 12, 4), inner 3 (steps 4, 4, 8)
//! ```

use crate::layout::{Layout, Mode};
use smallvec::SmallVec;
use std::ops::Range;

/// The most operands a kernel has: an output and four inputs.
pub const OPERANDS: usize = 5;
/// One address per operand.
pub type Pointers = [*mut u8; OPERANDS];
/// One step in bytes per operand; 0 for operands that are not there.
pub type Steps = [isize; OPERANDS];

/// One loop of a nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    pub extent: usize,
    pub steps: Steps,
}

/// What the planner sees of an operand.
#[derive(Clone, Copy)]
pub struct Operand<'a> {
    pub layout: &'a Layout,
    /// Bytes per element.
    pub size: usize,
}

/// In which order the nest may walk.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Any: each element is computed by itself.
    Free,
    /// The row-major order of the shape.
    RowMajor,
}

/// A loop nest, outermost loop first. The last loop is what a kernel runs; there is always one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nest {
    loops: SmallVec<[Loop; 4]>,
    /// What to add to each operand's address before walking, where a loop was transposed around.
    shift: Steps,
    /// Whether the two innermost loops make a plane that is walked in tiles.
    plane: bool,
}

/// Extents from which on two loops make a plane.
const NARROWEST: usize = 4;

/// How a nest is cut for several threads: along which loop, and into turns of how many.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    dim: usize,
    turns: usize,
    pub pieces: usize,
}

impl Nest {
    /// Plans operands that broadcast to the shape of a layout.
    #[inline]
    pub fn new(shape: &Layout, operands: &[Operand], order: Order) -> Nest {
        let Some(whole) = Nest::all_dense(shape, operands) else {
            return Nest::general(shape, operands, order);
        };
        let mut nest = Nest { loops: SmallVec::new(), shift: [0; OPERANDS], plane: false };
        nest.loops.push(whole);
        nest
    }

    fn general(shape: &Layout, operands: &[Operand], order: Order) -> Nest {
        debug_assert!(operands.len() <= OPERANDS);
        let mut nest = Nest { loops: SmallVec::new(), shift: [0; OPERANDS], plane: false };
        for (dim, &Mode { extent, .. }) in shape.modes().iter().enumerate() {
            if extent == 1 {
                continue;
            }
            let mut steps = [0; OPERANDS];
            for (step, operand) in steps.iter_mut().zip(operands) {
                // A dim that an operand lacks, or has with extent 1, is broadcast.
                if let Some(own) = (dim + operand.layout.rank()).checked_sub(shape.rank()) {
                    let mode = operand.layout.modes()[own];
                    if mode.extent != 1 {
                        *step = mode.stride * operand.size as isize;
                    }
                }
            }
            nest.loops.push(Loop { extent: extent as usize, steps });
        }
        if order == Order::Free {
            nest.turn_forward();
            nest.sort();
        }
        nest.fold();
        if nest.loops.is_empty() {
            let mut steps = [0; OPERANDS];
            steps.iter_mut().zip(operands).for_each(|(step, operand)| *step = operand.size as isize);
            nest.loops.push(Loop { extent: 1, steps });
        }
        nest
    }

    /// The nest of one loop that most calls need: same shapes (or one element), no gaps.
    #[inline]
    fn all_dense(shape: &Layout, operands: &[Operand]) -> Option<Loop> {
        let mut steps = [0; OPERANDS];
        for (step, operand) in steps.iter_mut().zip(operands) {
            if operand.layout.rank() == 0 && shape.rank() > 0 {
                continue; // a scalar: step 0
            }
            if !operand.layout.same_shape(shape) || !operand.layout.is_row_major() {
                return None;
            }
            *step = operand.size as isize;
        }
        Some(Loop { extent: shape.size(), steps })
    }

    /// Loops on which the output runs backwards are walked from their other end.
    fn turn_forward(&mut self) {
        for inner in self.loops.iter_mut().filter(|l| l.steps[0] < 0 && l.extent > 0) {
            for (shift, step) in self.shift.iter_mut().zip(&mut inner.steps) {
                *shift += (inner.extent as isize - 1) * *step;
                *step = -*step;
            }
        }
    }

    /// Orders loops by their steps, largest outside; stable, and a step of 0 has no opinion.
    fn sort(&mut self) {
        for i in 1..self.loops.len() {
            let mut at = i;
            while at > 0 && belongs_outside(&self.loops[at], &self.loops[at - 1]) {
                self.loops.swap(at, at - 1);
                at -= 1;
            }
        }
    }

    /// Merges neighbours that every operand walks as one.
    fn fold(&mut self) {
        let mut kept = 0;
        for i in 1..self.loops.len() {
            let inner = self.loops[i];
            let outer = &mut self.loops[kept];
            if (0..OPERANDS).all(|k| outer.steps[k] == inner.steps[k] * inner.extent as isize) {
                *outer = Loop { extent: outer.extent * inner.extent, steps: inner.steps };
            } else {
                kept += 1;
                self.loops[kept] = inner;
            }
        }
        self.loops.truncate(kept + 1);
    }

    /// Looks for an operand that would rather have another loop innermost: `x + y.t()`. Walked row by row,
    /// each of its cache lines would be fetched once per element; so that loop becomes the second, and the two
    /// are walked in tiles. Only for a nest whose order is free.
    pub fn with_plane(mut self) -> Nest {
        let Some((inner, outer)) = self.loops.split_last() else { return self };
        for k in 1..OPERANDS {
            let own = outer.iter().enumerate().filter(|(_, l)| l.steps[k] != 0);
            let Some((dim, shortest)) = own.min_by_key(|(_, l)| l.steps[k].abs()) else { continue };
            let crosses = inner.steps[k] != 0 && shortest.steps[k].abs() < inner.steps[k].abs();
            if crosses && shortest.extent >= NARROWEST && inner.extent > 1 {
                let partner = self.loops.remove(dim);
                self.loops.insert(self.loops.len() - 1, partner);
                self.plane = true;
                break;
            }
        }
        self
    }

    /// The loops around the plane, its rows and its columns, if there is one.
    pub fn plane(&self) -> Option<(&[Loop], &Loop, &Loop)> {
        let [outer @ .., rows, columns] = &self.loops[..] else { return None };
        self.plane.then_some((outer, rows, columns))
    }

    /// How to cut the nest into pieces of about so many elements: along the outermost loop that is long enough
    /// (neighbours in memory stay together), along the innermost one only where the others are short.
    ///
    /// `tile` has the rows and columns of a tile: it is not cut.
    pub fn cut(&self, elements: usize, tile: (usize, usize)) -> Cut {
        let extents = || self.loops.iter().map(|l| l.extent).enumerate();
        let outer =
            |least: usize| extents().take(self.loops.len() - 1).find(move |&(_, extent)| extent >= least);
        let longest = || extents().max_by_key(|&(_, extent)| extent).expect("there is a loop");
        let (dim, extent) = outer(64).or_else(|| outer(8)).unwrap_or_else(longest);
        let turns = (elements / (self.size() / extent.max(1)).max(1)).max(1);
        let grain = match self.loops.len() - dim {
            2 if self.plane => tile.0,
            1 if self.plane => tile.1,
            _ if turns > 64 => 64, // pieces start at cache lines where the nest does
            _ => 1,
        };
        let turns = turns.next_multiple_of(grain);
        Cut { dim, turns, pieces: extent.div_ceil(turns) }
    }

    /// One of the pieces of a cut.
    pub fn piece(&self, cut: Cut, index: usize) -> Nest {
        let mut piece = self.clone();
        let own = &mut piece.loops[cut.dim];
        let first = index * cut.turns;
        own.extent = cut.turns.min(own.extent - first);
        for (shift, step) in piece.shift.iter_mut().zip(own.steps) {
            *shift += first as isize * step;
        }
        piece
    }

    /// The steps of the innermost loop.
    pub fn inner_steps(&self) -> &Steps {
        &self.loops.last().expect("a nest has a loop").steps
    }

    pub fn loops(&self) -> &[Loop] {
        &self.loops
    }

    /// Number of elements.
    pub fn size(&self) -> usize {
        self.loops.iter().map(|l| l.extent).product()
    }

    /// Where the first walked element lies, given each operand's origin.
    #[inline]
    pub fn start(&self, origins: Pointers) -> Pointers {
        shifted(&origins, &self.shift, 1)
    }

    /// Calls `run(addresses, steps, n)` for every run of the innermost loop, in order.
    #[inline]
    pub fn for_each(&self, origins: Pointers, mut run: impl FnMut(&Pointers, &Steps, usize)) {
        let (inner, outer) = self.loops.split_last().expect("a nest has a loop");
        if inner.extent > 0 {
            walk(outer, self.start(origins), |at| run(at, &inner.steps, inner.extent));
        }
    }

    /// Calls `visit(addresses, rows, columns)` for every tile of the plane, of at most that many rows and columns
    /// (more of one where there are fewer of the other).
    pub fn for_each_tile(
        &self,
        origins: Pointers,
        (tall, wide): (usize, usize),
        mut visit: impl FnMut(&Pointers, &Loop, &Loop),
    ) {
        let (outer, rows, columns) = self.plane().expect("the nest has a plane");
        if rows.extent == 0 || columns.extent == 0 {
            return;
        }
        let (tall, wide) = (tall * wide / columns.extent.min(wide), tall * wide / rows.extent.min(tall));
        walk(outer, self.start(origins), |start| {
            for row in (0..rows.extent).step_by(tall) {
                for column in (0..columns.extent).step_by(wide) {
                    let mut at = *start;
                    for (k, pointer) in at.iter_mut().enumerate() {
                        let shift = row as isize * rows.steps[k] + column as isize * columns.steps[k];
                        *pointer = pointer.wrapping_offset(shift);
                    }
                    let part = |whole: &Loop, first: usize, most: usize| Loop {
                        extent: most.min(whole.extent - first),
                        steps: whole.steps,
                    };
                    visit(&at, &part(rows, row, tall), &part(columns, column, wide));
                }
            }
        });
    }
}

/// The addresses so many steps on.
#[inline(always)]
pub fn shifted(at: &Pointers, steps: &Steps, count: isize) -> Pointers {
    let mut there = *at;
    there.iter_mut().zip(steps).for_each(|(p, step)| *p = p.wrapping_offset(count * step));
    there
}

/// Calls `visit` with the addresses of every turn of these loops; once where there is no loop.
#[inline]
pub fn walk(loops: &[Loop], start: Pointers, visit: impl FnMut(&Pointers)) {
    walk_range(loops, start, 0..iterations(loops), visit)
}

/// How often the innermost of these loops turns.
pub fn iterations(loops: &[Loop]) -> usize {
    loops.iter().map(|l| l.extent).product()
}

/// Calls `visit` with the addresses of some turns of these loops.
#[inline]
pub fn walk_range(loops: &[Loop], start: Pointers, part: Range<usize>, mut visit: impl FnMut(&Pointers)) {
    if part.is_empty() {
        return;
    }
    let mut at = start;
    let mut counts: SmallVec<[usize; 8]> = smallvec::smallvec![0; loops.len()];
    let mut left = part.start;
    for (count, turning) in counts.iter_mut().zip(loops).rev() {
        if left == 0 {
            break;
        }
        (*count, left) = (left % turning.extent, left / turning.extent);
        at = shifted(&at, &turning.steps, *count as isize);
    }
    for _ in part {
        visit(&at);
        // An odometer: the last loop turns fastest.
        for (count, turning) in counts.iter_mut().zip(loops).rev() {
            *count += 1;
            if *count < turning.extent {
                at = shifted(&at, &turning.steps, 1);
                break;
            }
            *count = 0;
            at = shifted(&at, &turning.steps, 1 - turning.extent as isize);
        }
    }
}

/// Calls `run(addresses, n)` for the runs of the innermost loop that make up some of the places of these loops. (`n`
/// steps of that loop lie ahead of the addresses.)
pub fn for_each_run(
    loops: &[Loop],
    start: Pointers,
    part: Range<usize>,
    mut run: impl FnMut(&Pointers, usize),
) {
    let Some((inner, outer)) = loops.split_last() else { return run(&start, part.len()) };
    if part.is_empty() {
        return;
    }
    let (mut first, mut left) = (part.start % inner.extent, part.len());
    let turns = part.start / inner.extent..part.end.div_ceil(inner.extent);
    walk_range(outer, start, turns, |at| {
        let n = left.min(inner.extent - first);
        run(&shifted(at, &inner.steps, first as isize), n);
        (first, left) = (0, left - n);
    });
}

/// Whether `a` should be further outside than `b`: the first operand that steps in both decides.
fn belongs_outside(a: &Loop, b: &Loop) -> bool {
    for (a, b) in a.steps.iter().zip(b.steps) {
        if *a != 0 && b != 0 && a.abs() != b.abs() {
            return a.abs() > b.abs();
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(nest: &Nest) -> Vec<(isize, isize)> {
        let mut pairs = Vec::new();
        nest.for_each([std::ptr::null_mut(); OPERANDS], |at, steps, n| {
            for i in 0..n as isize {
                pairs.push((at[0] as isize + i * steps[0], at[1] as isize + i * steps[1]));
            }
        });
        pairs
    }

    #[test]
    fn dense_operands_of_one_shape_make_one_loop() {
        let layout = Layout::row_major(&[2, 3, 4]).unwrap();
        let operand = Operand { layout: &layout, size: 4 };
        let nest = Nest::new(&layout, &[operand; 3], Order::Free);
        assert_eq!(nest.loops(), [Loop { extent: 24, steps: [4, 4, 4, 0, 0] }]);
    }

    #[test]
    fn a_row_folds_what_it_can() {
        let (out, row) = (Layout::row_major(&[2, 3, 4]).unwrap(), Layout::row_major(&[4]).unwrap());
        let operands = [Operand { layout: &out, size: 4 }, Operand { layout: &row, size: 8 }];
        let nest = Nest::new(&out, &operands, Order::Free);
        let loops = [Loop { extent: 6, steps: [16, 0, 0, 0, 0] }, Loop { extent: 4, steps: [4, 8, 0, 0, 0] }];
        assert_eq!(nest.loops(), loops);
    }

    #[test]
    fn every_pair_is_walked_once_whatever_the_order() {
        let shape = [2, 3, 4];
        let out = Layout::strided(&shape, &[1, -2, 6], 4).unwrap();
        let input = Layout::strided(&shape, &[0, 5, -1], 3).unwrap();
        let operands = [Operand { layout: &out, size: 1 }, Operand { layout: &input, size: 2 }];
        let mut expected = Vec::new();
        for i in 0..2 {
            for j in 0..3 {
                for k in 0..4 {
                    expected.push((i - 2 * j + 6 * k, 2 * (5 * j - k)));
                }
            }
        }
        let in_order = pairs(&Nest::new(&out, &operands, Order::RowMajor));
        assert_eq!(in_order, expected);
        let mut free = pairs(&Nest::new(&out, &operands, Order::Free));
        free.sort();
        expected.sort();
        assert_eq!(free, expected);
    }

    #[test]
    fn parts_of_loops_are_walked_as_the_whole_is() {
        let loops: Vec<Loop> =
            [(3, 100), (4, 10), (5, 1)].map(|(extent, step)| Loop { extent, steps: [step; OPERANDS] }).into();
        let mut whole = Vec::new();
        walk(&loops, [std::ptr::null_mut(); OPERANDS], |at| whole.push(at[1] as isize));
        assert_eq!(whole.len(), iterations(&loops));
        for first in 0..=60 {
            for end in first..=60 {
                let mut places = Vec::new();
                for_each_run(&loops, [std::ptr::null_mut(); OPERANDS], first..end, |at, n| {
                    places.extend((0..n as isize).map(|i| at[1] as isize + i));
                });
                assert_eq!(places, whole[first..end]);
            }
        }
    }

    #[test]
    fn tiles_cover_every_pair_once_in_pieces_too() {
        for shape in [[2, 70, 130], [3, 5, 999], [1, 1000, 4]] {
            let [a, b, c] = shape;
            let out = Layout::row_major(&shape).unwrap();
            let transposed = Layout::strided(&shape, &[b * c, 1, b], 0).unwrap();
            let operands = [Operand { layout: &out, size: 1 }, Operand { layout: &transposed, size: 2 }];
            let nest = Nest::new(&out, &operands, Order::Free).with_plane();
            let cut = nest.cut(1000, (64, 32));
            assert!(cut.pieces > 1);
            let mut walked = Vec::new();
            for i in 0..cut.pieces {
                let null = [std::ptr::null_mut(); OPERANDS];
                nest.piece(cut, i).for_each_tile(null, (64, 32), |at, rows, columns| {
                    walk(&[*rows, *columns], *at, |p| walked.push((p[0] as isize, p[1] as isize)));
                });
            }
            walked.sort();
            walked.dedup();
            assert_eq!(walked.len() as isize, a * b * c);
            let place = |i: isize| 2 * (i / (b * c) * (b * c) + i / c % b + i % c * b);
            assert!(walked.iter().enumerate().all(|(i, &pair)| pair == (i as isize, place(i as isize))));
        }
    }

    #[test]
    fn pieces_cover_every_run_once() {
        let out = Layout::strided(&[3, 100, 50], &[-5000, 50, 1], 10000).unwrap();
        let operand = Operand { layout: &out, size: 4 };
        let nest = Nest::new(&out, &[operand, operand], Order::Free);
        for elements in [1, 70, 1000, 100_000] {
            let cut = nest.cut(elements, (64, 32));
            let null = [std::ptr::null_mut(); OPERANDS];
            let mut bytes = Vec::new();
            for i in 0..cut.pieces {
                nest.piece(cut, i).for_each(null, |p, s, n| {
                    bytes.extend((0..n as isize).map(|i| p[0] as isize + i * s[0]));
                });
            }
            bytes.sort();
            assert!(bytes.iter().enumerate().all(|(i, &at)| at == 4 * (i as isize - 10000)), "{elements}");
            assert_eq!(bytes.len(), 15000);
        }
    }

    #[test]
    fn nothing_is_walked_without_elements() {
        let layout = Layout::row_major(&[3, 0]).unwrap();
        let operand = Operand { layout: &layout, size: 4 };
        assert!(pairs(&Nest::new(&layout, &[operand, operand], Order::Free)).is_empty());
        let strided = Layout::strided(&[3, 0, 2], &[7, 1, 2], 0).unwrap();
        let operand = Operand { layout: &strided, size: 4 };
        assert!(pairs(&Nest::new(&strided, &[operand, operand], Order::Free)).is_empty());
    }
}

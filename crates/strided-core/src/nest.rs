//! The planner: several layouts of one shape become one loop nest, with as few and as long loops as the strides allow.
//!
//! Operand 0 is the output. A broadcast dim has a step of 0. Steps are in bytes. Nests of all kinds come from here: a
//! reduction is one whose output has step 0 along the reduced dims.
//!
//! ```text
//! x[2,3,4] + row[4], float32     outer 6 (steps 16, 16, 0), inner 4 (steps 4, 4, 4)
//! x[2,3] + y[3,2].t()            outer 2 (steps 12, 12, 4), inner 3 (steps 4, 4, 8)
//! ```

use crate::layout::{Layout, Mode};
use smallvec::SmallVec;
use std::ops::Range;

/// The maximal number of operands of a kernel: an output and four inputs.
pub const OPERANDS: usize = 5;
/// One address per operand.
pub type Pointers = [*mut u8; OPERANDS];
/// One step in bytes per operand; 0 for unused operands.
pub type Steps = [isize; OPERANDS];

/// One loop of a nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    pub extent: usize,
    pub steps: Steps,
}

/// What the planner needs to know of an operand.
#[derive(Clone, Copy)]
pub struct Operand<'a> {
    pub layout: &'a Layout,
    /// Bytes per element.
    pub size: usize,
}

/// The order in which a nest visits elements.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Any order: each element is computed by itself.
    Free,
    /// The row-major order of the shape.
    RowMajor,
}

/// A loop nest, outermost loop first. The last loop is the one that a kernel runs; there is at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nest {
    loops: SmallVec<[Loop; 4]>,
    /// What to add to each operand's address at the start, because loops were reversed or split.
    shift: Steps,
    /// Whether the two innermost loops form a plane that is processed in tiles.
    plane: bool,
}

/// The smallest extent of a loop that may form a plane with the innermost one.
const MIN_PLANE_ROWS: usize = 4;

/// How a nest is split for several threads: along which loop, and into pieces of how many of its iterations.
#[derive(Clone, Copy, Debug)]
pub struct NestSplit {
    dim: usize,
    iterations: usize,
    pub pieces: usize,
}

impl Nest {
    /// Plans the loops over operands that broadcast to the shape of a layout.
    #[inline]
    pub fn new(shape: &Layout, operands: &[Operand], order: Order) -> Nest {
        let Some(single) = Nest::single_loop(shape, operands) else {
            return Nest::general(shape, operands, order);
        };
        let mut nest = Nest { loops: SmallVec::new(), shift: [0; OPERANDS], plane: false };
        nest.loops.push(single);
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
                if let Some(operand_dim) = (dim + operand.layout.rank()).checked_sub(shape.rank()) {
                    let mode = operand.layout.modes()[operand_dim];
                    if mode.extent != 1 {
                        *step = mode.stride * operand.size as isize;
                    }
                }
            }
            nest.loops.push(Loop { extent: extent as usize, steps });
        }
        if order == Order::Free {
            nest.reverse_descending_loops();
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

    /// The single loop that most calls need: all operands are row-major and have the shape, or are scalars.
    #[inline]
    fn single_loop(shape: &Layout, operands: &[Operand]) -> Option<Loop> {
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

    /// Reverses the loops along which the output has a negative step.
    fn reverse_descending_loops(&mut self) {
        for descending in self.loops.iter_mut().filter(|l| l.steps[0] < 0 && l.extent > 0) {
            for (shift, step) in self.shift.iter_mut().zip(&mut descending.steps) {
                *shift += (descending.extent as isize - 1) * *step;
                *step = -*step;
            }
        }
    }

    /// Sorts loops by their steps, the largest outside. Stable; steps of 0 are ignored.
    fn sort(&mut self) {
        for i in 1..self.loops.len() {
            let mut position = i;
            while position > 0 && belongs_outside(&self.loops[position], &self.loops[position - 1]) {
                self.loops.swap(position, position - 1);
                position -= 1;
            }
        }
    }

    /// Merges adjacent loops that are one loop for every operand.
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

    /// Looks for an input whose shortest step is along another loop than the innermost one: `y` in `x + y.t()`. Row
    /// by row, each of its cache lines would be fetched once per element. So that loop becomes the second innermost,
    /// and the two form a plane that is processed in tiles. Only for a nest of free order.
    pub fn with_plane(mut self) -> Nest {
        let Some((inner, outer)) = self.loops.split_last() else { return self };
        for k in 1..OPERANDS {
            let stepping = outer.iter().enumerate().filter(|(_, l)| l.steps[k] != 0);
            let Some((dim, shortest)) = stepping.min_by_key(|(_, l)| l.steps[k].abs()) else { continue };
            let crosses = inner.steps[k] != 0 && shortest.steps[k].abs() < inner.steps[k].abs();
            if crosses && shortest.extent >= MIN_PLANE_ROWS && inner.extent > 1 {
                let partner = self.loops.remove(dim);
                self.loops.insert(self.loops.len() - 1, partner);
                self.plane = true;
                break;
            }
        }
        self
    }

    /// The loops around the plane, its rows and its columns; `None` without a plane.
    pub fn plane(&self) -> Option<(&[Loop], &Loop, &Loop)> {
        let [outer @ .., rows, columns] = &self.loops[..] else { return None };
        self.plane.then_some((outer, rows, columns))
    }

    /// How to split the nest into pieces of about `elements` elements: along the outermost loop that is long enough,
    /// so that pieces are contiguous in memory, and along the innermost one only if the others are short.
    ///
    /// `tile` is the number of rows and columns of a tile. Tiles are not split.
    pub fn split(&self, elements: usize, tile: (usize, usize)) -> NestSplit {
        let extents = || self.loops.iter().map(|l| l.extent).enumerate();
        let outer =
            |minimum: usize| extents().take(self.loops.len() - 1).find(move |&(_, extent)| extent >= minimum);
        let longest = || extents().max_by_key(|&(_, extent)| extent).expect("there is a loop");
        let (dim, extent) = outer(64).or_else(|| outer(8)).unwrap_or_else(longest);
        let iterations = (elements / (self.size() / extent.max(1)).max(1)).max(1);
        let grain = match self.loops.len() - dim {
            2 if self.plane => tile.0,
            1 if self.plane => tile.1,
            _ if iterations > 64 => 64, // pieces then start at cache lines if the nest does
            _ => 1,
        };
        let iterations = iterations.next_multiple_of(grain);
        NestSplit { dim, iterations, pieces: extent.div_ceil(iterations) }
    }

    /// How to split the nest along one of its loops into about `pieces` pieces.
    pub fn split_loop(&self, dim: usize, pieces: usize) -> NestSplit {
        let extent = self.loops[dim].extent;
        let iterations = extent.div_ceil(pieces).max(1);
        NestSplit { dim, iterations, pieces: extent.div_ceil(iterations) }
    }

    /// One of the pieces of a split.
    pub fn piece(&self, split: NestSplit, index: usize) -> Nest {
        let mut piece = self.clone();
        let part = &mut piece.loops[split.dim];
        let first = index * split.iterations;
        part.extent = split.iterations.min(part.extent - first);
        for (shift, step) in piece.shift.iter_mut().zip(part.steps) {
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

    /// The addresses of the first elements visited, given each operand's origin.
    #[inline]
    pub fn start(&self, origins: Pointers) -> Pointers {
        shifted(&origins, &self.shift, 1)
    }

    /// Calls `run(addresses, steps, n)` for each execution of the innermost loop, in order.
    #[inline]
    pub fn for_each(&self, origins: Pointers, mut run: impl FnMut(&Pointers, &Steps, usize)) {
        let (inner, outer) = self.loops.split_last().expect("a nest has a loop");
        if inner.extent > 0 {
            walk(outer, self.start(origins), |at| run(at, &inner.steps, inner.extent));
        }
    }

    /// Calls `visit(addresses, rows, columns)` for each execution of the two innermost loops, in order; `rows` is `None` if
    /// there is one loop only.
    #[inline]
    pub fn for_each_plane(&self, origins: Pointers, mut visit: impl FnMut(&Pointers, Option<&Loop>, &Loop)) {
        if self.size() == 0 {
            return;
        }
        match &self.loops[..] {
            [outer @ .., rows, columns] => {
                walk(outer, self.start(origins), |p| visit(p, Some(rows), columns))
            }
            [columns] => visit(&self.start(origins), None, columns),
            [] => unreachable!("a nest has a loop"),
        }
    }

    /// Calls `visit(addresses, rows, columns)` for each tile of the plane. A tile has at most the given number of
    /// rows and columns, or more of one if the plane has fewer of the other.
    pub fn for_each_tile(
        &self,
        origins: Pointers,
        (max_rows, max_columns): (usize, usize),
        mut visit: impl FnMut(&Pointers, &Loop, &Loop),
    ) {
        let (outer, rows, columns) = self.plane().expect("the nest has a plane");
        if rows.extent == 0 || columns.extent == 0 {
            return;
        }
        let area = max_rows * max_columns;
        let (tall, wide) = (area / columns.extent.min(max_columns), area / rows.extent.min(max_rows));
        walk(outer, self.start(origins), |start| {
            for row in (0..rows.extent).step_by(tall) {
                for column in (0..columns.extent).step_by(wide) {
                    let mut at = *start;
                    for (k, pointer) in at.iter_mut().enumerate() {
                        let shift = row as isize * rows.steps[k] + column as isize * columns.steps[k];
                        *pointer = pointer.wrapping_offset(shift);
                    }
                    let part = |whole: &Loop, first: usize, length: usize| Loop {
                        extent: length.min(whole.extent - first),
                        steps: whole.steps,
                    };
                    visit(&at, &part(rows, row, tall), &part(columns, column, wide));
                }
            }
        });
    }
}

/// The addresses `count` steps further on.
#[inline(always)]
pub fn shifted(at: &Pointers, steps: &Steps, count: isize) -> Pointers {
    let mut shifted = *at;
    shifted.iter_mut().zip(steps).for_each(|(p, step)| *p = p.wrapping_offset(count * step));
    shifted
}

/// Calls `visit` with the addresses of each iteration of these loops; once if there is no loop.
#[inline]
pub fn walk(loops: &[Loop], start: Pointers, visit: impl FnMut(&Pointers)) {
    walk_range(loops, start, 0..iterations(loops), visit)
}

/// The total number of iterations of these loops.
pub fn iterations(loops: &[Loop]) -> usize {
    loops.iter().map(|l| l.extent).product()
}

/// Calls `visit` with the addresses of some iterations of these loops.
#[inline]
pub fn walk_range(loops: &[Loop], start: Pointers, range: Range<usize>, mut visit: impl FnMut(&Pointers)) {
    if range.is_empty() {
        return;
    }
    let mut at = start;
    let mut counts: SmallVec<[usize; 8]> = smallvec::smallvec![0; loops.len()];
    let mut left = range.start;
    for (count, this) in counts.iter_mut().zip(loops).rev() {
        if left == 0 {
            break;
        }
        (*count, left) = (left % this.extent, left / this.extent);
        at = shifted(&at, &this.steps, *count as isize);
    }
    for _ in range {
        visit(&at);
        // An odometer: the last loop is the fastest.
        for (count, this) in counts.iter_mut().zip(loops).rev() {
            *count += 1;
            if *count < this.extent {
                at = shifted(&at, &this.steps, 1);
                break;
            }
            *count = 0;
            at = shifted(&at, &this.steps, 1 - this.extent as isize);
        }
    }
}

/// Covers some iterations of these loops by runs along the innermost loop. Calls `run(addresses, n)` for each: its `n`
/// iterations begin at the addresses.
pub fn for_each_run(
    loops: &[Loop],
    start: Pointers,
    range: Range<usize>,
    mut run: impl FnMut(&Pointers, usize),
) {
    let Some((inner, outer)) = loops.split_last() else { return run(&start, range.len()) };
    if range.is_empty() {
        return;
    }
    let (mut first, mut left) = (range.start % inner.extent, range.len());
    let outer_range = range.start / inner.extent..range.end.div_ceil(inner.extent);
    walk_range(outer, start, outer_range, |at| {
        let n = left.min(inner.extent - first);
        run(&shifted(at, &inner.steps, first as isize), n);
        (first, left) = (0, left - n);
    });
}

/// Whether `a` should be further outside than `b`. The first operand whose steps in both differ, and are not 0,
/// decides.
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
    fn contiguous_operands_of_one_shape_make_one_loop() {
        let layout = Layout::row_major(&[2, 3, 4]).unwrap();
        let operand = Operand { layout: &layout, size: 4 };
        let nest = Nest::new(&layout, &[operand; 3], Order::Free);
        assert_eq!(nest.loops(), [Loop { extent: 24, steps: [4, 4, 4, 0, 0] }]);
    }

    #[test]
    fn a_broadcast_row_keeps_two_loops() {
        let (out, row) = (Layout::row_major(&[2, 3, 4]).unwrap(), Layout::row_major(&[4]).unwrap());
        let operands = [Operand { layout: &out, size: 4 }, Operand { layout: &row, size: 8 }];
        let nest = Nest::new(&out, &operands, Order::Free);
        let loops = [Loop { extent: 6, steps: [16, 0, 0, 0, 0] }, Loop { extent: 4, steps: [4, 8, 0, 0, 0] }];
        assert_eq!(nest.loops(), loops);
    }

    #[test]
    fn every_pair_is_visited_once_in_either_order() {
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
    fn ranges_of_iterations_are_visited_as_in_the_whole() {
        let loops: Vec<Loop> =
            [(3, 100), (4, 10), (5, 1)].map(|(extent, step)| Loop { extent, steps: [step; OPERANDS] }).into();
        let mut whole = Vec::new();
        walk(&loops, [std::ptr::null_mut(); OPERANDS], |at| whole.push(at[1] as isize));
        assert_eq!(whole.len(), iterations(&loops));
        for first in 0..=60 {
            for end in first..=60 {
                let mut visited = Vec::new();
                for_each_run(&loops, [std::ptr::null_mut(); OPERANDS], first..end, |at, n| {
                    visited.extend((0..n as isize).map(|i| at[1] as isize + i));
                });
                assert_eq!(visited, whole[first..end]);
            }
        }
    }

    #[test]
    fn tiles_of_pieces_cover_every_pair_once() {
        for shape in [[2, 70, 130], [3, 5, 999], [1, 1000, 4]] {
            let [a, b, c] = shape;
            let out = Layout::row_major(&shape).unwrap();
            let transposed = Layout::strided(&shape, &[b * c, 1, b], 0).unwrap();
            let operands = [Operand { layout: &out, size: 1 }, Operand { layout: &transposed, size: 2 }];
            let nest = Nest::new(&out, &operands, Order::Free).with_plane();
            let split = nest.split(1000, (64, 32));
            assert!(split.pieces > 1);
            let mut visited = Vec::new();
            for i in 0..split.pieces {
                let null = [std::ptr::null_mut(); OPERANDS];
                nest.piece(split, i).for_each_tile(null, (64, 32), |at, rows, columns| {
                    walk(&[*rows, *columns], *at, |p| visited.push((p[0] as isize, p[1] as isize)));
                });
            }
            visited.sort();
            visited.dedup();
            assert_eq!(visited.len() as isize, a * b * c);
            let input = |i: isize| 2 * (i / (b * c) * (b * c) + i / c % b + i % c * b);
            assert!(visited.iter().enumerate().all(|(i, &pair)| pair == (i as isize, input(i as isize))));
        }
    }

    #[test]
    fn pieces_cover_every_run_once() {
        let out = Layout::strided(&[3, 100, 50], &[-5000, 50, 1], 10000).unwrap();
        let operand = Operand { layout: &out, size: 4 };
        let nest = Nest::new(&out, &[operand, operand], Order::Free);
        for elements in [1, 70, 1000, 100_000] {
            let split = nest.split(elements, (64, 32));
            let null = [std::ptr::null_mut(); OPERANDS];
            let mut bytes = Vec::new();
            for i in 0..split.pieces {
                nest.piece(split, i).for_each(null, |p, s, n| {
                    bytes.extend((0..n as isize).map(|i| p[0] as isize + i * s[0]));
                });
            }
            bytes.sort();
            assert!(bytes.iter().enumerate().all(|(i, &at)| at == 4 * (i as isize - 10000)), "{elements}");
            assert_eq!(bytes.len(), 15000);
        }
    }

    #[test]
    fn an_empty_nest_visits_no_element() {
        let layout = Layout::row_major(&[3, 0]).unwrap();
        let operand = Operand { layout: &layout, size: 4 };
        assert!(pairs(&Nest::new(&layout, &[operand, operand], Order::Free)).is_empty());
        let strided = Layout::strided(&[3, 0, 2], &[7, 1, 2], 0).unwrap();
        let operand = Operand { layout: &strided, size: 4 };
        assert!(pairs(&Nest::new(&strided, &[operand, operand], Order::Free)).is_empty());
    }
}

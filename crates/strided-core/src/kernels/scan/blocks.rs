//! Scans of contiguous lines in which most elements leave the state as it is, such as a maximum. A block of 16 elements
//! that leaves the state as it is, or of which every element is the new state, is written as a whole. Other blocks are
//! stepped through element by element.

use super::lanes::Scan;
use crate::cpu::{Specialised, dispatch_or_reference};
use crate::nest::Pointers;
use crate::scalar::Num;
use std::marker::PhantomData;

/// Elements of a block.
const BLOCK: usize = 16;

/// One line whose elements, results and positions are contiguous each.
pub(super) struct BlockScan<S, const K: usize> {
    at: Pointers,
    length: usize,
    scan: PhantomData<S>,
}

impl<S: Scan<K>, const K: usize> BlockScan<S, K> {
    pub fn new(at: Pointers, length: usize) -> Self {
        BlockScan { at, length, scan: PhantomData }
    }

    /// Scans the line.
    ///
    /// # Safety
    /// `at[1]` has `length` readable elements of type `S::E`, `at[0]` as many writable ones (it may be `at[1]`), and
    /// `at[2]` as many writable i64.
    pub unsafe fn run_line(self) {
        assert!(S::BY_BLOCKS && S::INDEXED);
        dispatch_or_reference(self)
    }

    /// Steps through `count` elements from `first` on, and writes the result and position of each.
    ///
    /// # Safety
    /// The contract of `run_line`, and `first + count <= length`.
    #[inline(always)]
    unsafe fn step_each<const FAST: bool>(&self, state: &mut [[S::T; 1]; K], first: usize, count: usize) {
        let carry = one_lane(S::START);
        for row in first..first + count {
            // SAFETY: `row < length`, and the operands have `length` elements, by this function's contract.
            unsafe {
                let x = [self.at[1].cast::<S::E>().add(row).read()];
                S::step::<1, true, FAST>(state, x, [S::position(row)]);
                let [y] = S::emit::<1, true, FAST>(&carry, state, x);
                let [index] = S::index::<1, true>(&carry, state);
                self.at[0].cast::<S::E>().add(row).write(y);
                self.at[2].cast::<i64>().add(row).write(index);
            }
        }
    }
}

/// The state of one lane, as `Scan` takes it.
#[inline(always)]
fn one_lane<T: Num, const K: usize>(state: [T; K]) -> [[T; 1]; K] {
    let mut lane = [[T::ZERO]; K];
    for k in 0..K {
        lane[k] = [state[k]];
    }
    lane
}

impl<S: Scan<K>, const K: usize> Specialised for BlockScan<S, K> {
    type Home = S;
    const WIDE: bool = false;

    #[inline(always)]
    fn compute<const FAST: bool>(self) {
        let carry = one_lane(S::START);
        let mut state = one_lane(S::begin(S::START));
        let mut row = 0;
        // SAFETY: `row + BLOCK <= length`, and the operands have `length` elements by the contract of `run_line`. A
        // block is read before it is written, because results may overwrite the input.
        unsafe {
            while row + BLOCK <= self.length {
                let x = self.at[1].cast::<S::E>().add(row).cast::<[S::E; BLOCK]>().read();
                let keeps = S::block_keeps_state(&state, &x);
                if keeps || S::block_is_all_new(&state, &x) {
                    let [y] = S::emit::<1, true, FAST>(&carry, &state, [x[0]]);
                    let [index] = S::index::<1, true>(&carry, &state);
                    let (mut results, mut indices) = ([y; BLOCK], [index; BLOCK]);
                    if !keeps {
                        results = x;
                        for (j, index) in indices.iter_mut().enumerate() {
                            *index = (row + j) as i64;
                        }
                        S::step::<1, true, FAST>(&mut state, [x[BLOCK - 1]], [S::position(row + BLOCK - 1)]);
                    }
                    self.at[0].cast::<S::E>().add(row).cast::<[S::E; BLOCK]>().write(results);
                    self.at[2].cast::<i64>().add(row).cast::<[i64; BLOCK]>().write(indices);
                } else {
                    self.step_each::<FAST>(&mut state, row, BLOCK);
                }
                row += BLOCK;
            }
            self.step_each::<FAST>(&mut state, row, self.length - row);
        }
    }
}

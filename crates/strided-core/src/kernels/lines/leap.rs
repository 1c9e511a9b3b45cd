//! Lines along which most elements change nothing, as a maximum: a block that leaves the state as it is is written at once,
//! and so is one whose every element is the newest. Only other blocks are stepped through, each step after the other.

use super::scan::Scan;
use crate::cpu::{self, Task, dispatch};
use crate::nest::Pointers;
use crate::scalar::Num;
use std::marker::PhantomData;

/// Elements of a block.
const BLOCK: usize = 16;

/// A line whose elements, results and positions are neighbours each.
pub(super) struct Leaps<S, const K: usize> {
    pub at: Pointers,
    pub rows: usize,
    pub of: PhantomData<S>,
}

impl<S: Scan<K>, const K: usize> Leaps<S, K> {
    /// # Safety
    /// The line has as many elements as there are rows, and room for as many results and positions.
    pub unsafe fn walk(self) {
        assert!(S::LEAPS && S::INDEXED);
        if cpu::reference_kernels() { self.run::<false>() } else { dispatch(self) }
    }

    /// Steps through some elements, and writes what comes of each.
    ///
    /// # Safety
    /// The line has them.
    #[inline(always)]
    unsafe fn steps<const FAST: bool>(&self, state: &mut [[S::T; 1]; K], first: usize, count: usize) {
        let carry = spread(S::START);
        for row in first..first + count {
            // SAFETY: the caller's promise.
            unsafe {
                let x = [self.at[1].cast::<S::E>().add(row).read()];
                S::step::<1, true, FAST>(state, x, [S::place(row)]);
                let [y] = S::emit::<1, true, FAST>(&carry, state, x);
                let [place] = S::index::<1, true>(&carry, state);
                self.at[0].cast::<S::E>().add(row).write(y);
                self.at[2].cast::<i64>().add(row).write(place);
            }
        }
    }
}

/// The state of one lane.
#[inline(always)]
fn spread<T: Num, const K: usize>(state: [T; K]) -> [[T; 1]; K] {
    let mut one = [[T::ZERO]; K];
    for k in 0..K {
        one[k] = [state[k]];
    }
    one
}

impl<S: Scan<K>, const K: usize> Task for Leaps<S, K> {
    type Home = S;
    const WIDE: bool = false;

    #[inline(always)]
    fn run<const FAST: bool>(self) {
        let carry = spread(S::START);
        let mut state = spread(S::begin(S::START));
        let mut row = 0;
        // SAFETY: the promise of `walk`; a block is read before it is written, for its results may take its place.
        unsafe {
            while row + BLOCK <= self.rows {
                let x = self.at[1].cast::<S::E>().add(row).cast::<[S::E; BLOCK]>().read();
                let stays = S::stays(&state, &x);
                if stays || S::follows(&state, &x) {
                    let [y] = S::emit::<1, true, FAST>(&carry, &state, [x[0]]);
                    let [place] = S::index::<1, true>(&carry, &state);
                    let (mut results, mut places) = ([y; BLOCK], [place; BLOCK]);
                    if !stays {
                        results = x;
                        for (j, place) in places.iter_mut().enumerate() {
                            *place = (row + j) as i64;
                        }
                        S::step::<1, true, FAST>(&mut state, [x[BLOCK - 1]], [S::place(row + BLOCK - 1)]);
                    }
                    self.at[0].cast::<S::E>().add(row).cast::<[S::E; BLOCK]>().write(results);
                    self.at[2].cast::<i64>().add(row).cast::<[i64; BLOCK]>().write(places);
                } else {
                    self.steps::<FAST>(&mut state, row, BLOCK);
                }
                row += BLOCK;
            }
            self.steps::<FAST>(&mut state, row, self.rows - row);
        }
    }
}

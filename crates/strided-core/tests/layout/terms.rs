//! The vocabulary of seed 002 equals its definitions, with the repairs S-17 to S-20.

use crate::model::*;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::HashSet;
use strided_core::layout::{Layout, Mode, injective_within};

fn distinct(places: &[isize]) -> bool {
    places.iter().collect::<HashSet<_>>().len() == places.len()
}

/// The definition of the seed for each neighbouring pair, among the modes that have more than one index.
fn sequential(x: &Layout, modes: &[usize]) -> bool {
    let counted: Vec<Mode> = modes.iter().map(|&m| x.modes()[m]).filter(|m| m.extent != 1).collect();
    counted.iter().any(|m| m.extent == 0)
        || counted.windows(2).all(|pair| pair[1].stride == pair[0].stride * pair[0].extent)
}

proptest! {
    #[test]
    fn bounds_and_span(x in small_layout()) {
        let places = locations(&x);
        let (low, high) = (places.iter().min().copied(), places.iter().max().copied());
        assert_eq!(x.size(), places.len());
        assert_eq!(x.bounds(), low.zip(high));
        assert_eq!(x.span() as isize, low.zip(high).map_or(0, |(low, high)| high - low + 1));
    }

    #[test]
    fn injective_and_contiguous(x in small_layout()) {
        let places = locations(&x);
        assert_eq!(x.is_injective(), distinct(&places), "{x:?}");
        assert_eq!(x.is_contiguous(), distinct(&places) && x.span() == x.size());
        // Without a budget there is no wrong answer either.
        let quick = injective_within(x.modes(), 0);
        assert!(quick.is_none_or(|injective| injective == distinct(&places)));
    }

    #[test]
    fn injective_with_larger_numbers(modes in vec((2..9isize, -60..60isize), 0..5)) {
        let (shape, stride): (Vec<_>, Vec<_>) = modes.into_iter().unzip();
        let x = Layout::strided(&shape, &stride, 0).unwrap();
        assert_eq!(x.is_injective(), distinct(&locations(&x)), "{x:?}");
    }

    #[test]
    fn row_and_column_major(x in small_layout()) {
        let run: Vec<isize> = (x.offset()..x.offset() + x.size() as isize).collect();
        assert_eq!(x.is_row_major(), locations(&x) == run);
        let reversed = x.permute(&(0..x.rank() as isize).rev().collect::<Vec<_>>()).unwrap();
        assert_eq!(x.is_column_major(), locations(&reversed) == run);
        assert!(Layout::column_major(&x.shape()).unwrap().is_column_major());
        assert_eq!(x.row_major_like(), Layout::row_major(&x.shape()).unwrap());
    }

    #[test]
    fn fold(x in small_layout(), modes in vec(-4..4isize, 0..4)) {
        let Some(wrapped) = wrap_all(&modes, x.rank()) else {
            return Ok(assert!(x.fold(&modes).is_err() && x.sequentially_contiguous(&modes).is_err()));
        };
        let sequential = sequential(&x, &wrapped);
        assert_eq!(x.sequentially_contiguous(&modes).unwrap(), sequential);
        let Some(&place) = wrapped.iter().min().filter(|_| sequential) else {
            return Ok(assert!(x.fold(&modes).is_err()));
        };
        let folded = x.fold(&modes).unwrap();
        let kept: Vec<usize> = (0..x.rank()).filter(|d| *d == place || !wrapped.contains(d)).collect();
        let extent = wrapped.iter().map(|&d| x.shape()[d]).product();
        let shape: Vec<isize> = kept.iter().map(|&d| if d == place { extent } else { x.shape()[d] }).collect();
        check_view(&folded, &shape, &x, |index| {
            // The folded index counts through the modes, the first named fastest.
            let mut source = vec![0; x.rank()];
            kept.iter().zip(index).for_each(|(&d, &i)| source[d] = i);
            let mut rest = source[place];
            for &d in &wrapped {
                source[d] = rest % x.shape()[d];
                rest /= x.shape()[d];
            }
            source
        });
    }

    #[test]
    fn fold_all(x in small_layout()) {
        let places = locations(&x);
        let signs: HashSet<bool> = x.modes().iter().filter(|m| m.extent > 1).map(|m| m.stride < 0).collect();
        match x.fold_all() {
            Ok(folded) => {
                let mut folded_places = locations(&folded);
                assert_eq!(folded.rank(), 1);
                let sorted = |mut places: Vec<isize>| { places.sort(); places };
                if folded.modes()[0].stride < 0 {
                    folded_places.reverse();
                }
                assert_eq!(folded_places, sorted(places));
            }
            Err(_) => assert!(!x.is_contiguous() || signs.len() == 2),
        }
    }

    #[test]
    fn overlaps(x in small_layout(), y in small_layout(), shift in -30..30isize) {
        let y = Layout::strided(&y.shape(), &y.stride(), y.offset() + shift).unwrap();
        let places: HashSet<isize> = locations(&x).into_iter().collect();
        let shared = locations(&y).iter().any(|at| places.contains(at));
        // So few elements are always decided within the budget.
        assert_eq!(x.overlaps(&y), shared, "{x:?} {y:?}");
        assert_eq!(y.overlaps(&x), shared);
    }

    #[test]
    fn extent_and_compatible(x in small_layout(), y in small_layout(), i in -5..5isize, j in -5..5isize) {
        let extent = |x: &Layout, i| wrap(i, x.rank()).map(|i| x.shape()[i]);
        assert_eq!(x.extent(i).ok(), extent(&x, i));
        assert_eq!(x.compatible(i, &y, j).ok(), extent(&x, i).zip(extent(&y, j)).map(|(a, b)| a == b));
    }
}

#[test]
fn tiles_and_columns_do_not_overlap() {
    let x = Layout::row_major(&[10_000, 1000]).unwrap();
    let tile = |row, column| x.narrow(0, row, 5000).unwrap().narrow(1, column, 500).unwrap();
    assert!(!tile(0, 0).overlaps(&tile(0, 500)) && !tile(0, 500).overlaps(&tile(0, 0)));
    assert!(tile(0, 0).overlaps(&tile(4999, 499)));
    let every = |start| x.slice(1, Some(start), None, 3).unwrap();
    assert!(!every(0).overlaps(&every(1)) && every(0).overlaps(&every(3)));
}

#[test]
fn what_the_budget_does_not_decide_counts_as_shared() {
    let (shape, stride) = ([20; 4], [3_000_017, 3_007_936, 2_895_288, 3_611_970]);
    let x = Layout::strided(&shape, &stride, 0).unwrap();
    assert_eq!(injective_within(x.modes(), 1 << 22), Some(true));
    assert_eq!(injective_within(x.modes(), 1000), None);
    assert!(!x.is_injective());
}

//! Span, contiguity, folding and overlap agree with their definitions, which are evaluated on lists of locations.

use crate::model::*;
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::HashSet;
use strided_core::layout::{Layout, Mode, injective_within};

fn distinct(list: &[isize]) -> bool {
    list.iter().collect::<HashSet<_>>().len() == list.len()
}

/// The definition of sequentially contiguous: each mode continues the one before. Modes of extent 1 are ignored.
fn sequential(x: &Layout, modes: &[usize]) -> bool {
    let counted: Vec<Mode> = modes.iter().map(|&m| x.modes()[m]).filter(|m| m.extent != 1).collect();
    counted.iter().any(|m| m.extent == 0)
        || counted.windows(2).all(|pair| pair[1].stride == pair[0].stride * pair[0].extent)
}

proptest! {
    #[test]
    fn bounds_and_span(x in small_layout()) {
        let x_locations = locations(&x);
        let (low, high) = (x_locations.iter().min().copied(), x_locations.iter().max().copied());
        assert_eq!(x.size(), x_locations.len());
        assert_eq!(x.bounds(), low.zip(high));
        assert_eq!(x.span() as isize, low.zip(high).map_or(0, |(low, high)| high - low + 1));
    }

    #[test]
    fn injective_and_contiguous(x in small_layout()) {
        let x_locations = locations(&x);
        assert_eq!(x.is_injective(), distinct(&x_locations), "{x:?}");
        assert_eq!(x.is_contiguous(), distinct(&x_locations) && x.span() == x.size());
        // Without a budget the answer may be missing, but not wrong.
        let unsearched = injective_within(x.modes(), 0);
        assert!(unsearched.is_none_or(|injective| injective == distinct(&x_locations)));
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
        let Some(&position) = wrapped.iter().min().filter(|_| sequential) else {
            return Ok(assert!(x.fold(&modes).is_err()));
        };
        let folded = x.fold(&modes).unwrap();
        let kept: Vec<usize> = (0..x.rank()).filter(|d| *d == position || !wrapped.contains(d)).collect();
        let extent = wrapped.iter().map(|&d| x.shape()[d]).product();
        let shape: Vec<isize> = kept.iter().map(|&d| if d == position { extent } else { x.shape()[d] }).collect();
        check_view(&folded, &shape, &x, |index| {
            // The folded index runs over the modes, the first named fastest.
            let mut source = vec![0; x.rank()];
            kept.iter().zip(index).for_each(|(&d, &i)| source[d] = i);
            let mut rest = source[position];
            for &d in &wrapped {
                source[d] = rest % x.shape()[d];
                rest /= x.shape()[d];
            }
            source
        });
    }

    #[test]
    fn fold_all(x in small_layout()) {
        let x_locations = locations(&x);
        let signs: HashSet<bool> = x.modes().iter().filter(|m| m.extent > 1).map(|m| m.stride < 0).collect();
        match x.fold_all() {
            Ok(folded) => {
                let mut folded_locations = locations(&folded);
                assert_eq!(folded.rank(), 1);
                let sorted = |mut list: Vec<isize>| { list.sort(); list };
                if folded.modes()[0].stride < 0 {
                    folded_locations.reverse();
                }
                assert_eq!(folded_locations, sorted(x_locations));
            }
            Err(_) => assert!(!x.is_contiguous() || signs.len() == 2),
        }
    }

    #[test]
    fn overlaps(x in small_layout(), y in small_layout(), shift in -30..30isize) {
        let y = Layout::strided(&y.shape(), &y.stride(), y.offset() + shift).unwrap();
        let x_locations: HashSet<isize> = locations(&x).into_iter().collect();
        let shared = locations(&y).iter().any(|at| x_locations.contains(at));
        // The budget always suffices for this few elements.
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
fn a_layout_that_the_budget_does_not_decide_counts_as_overlapping() {
    let (shape, stride) = ([20; 4], [3_000_017, 3_007_936, 2_895_288, 3_611_970]);
    let x = Layout::strided(&shape, &stride, 0).unwrap();
    assert_eq!(injective_within(x.modes(), 1 << 22), Some(true));
    assert_eq!(injective_within(x.modes(), 1000), None);
    assert!(!x.is_injective());
}

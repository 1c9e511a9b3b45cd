//! No argument makes a layout panic or overflow, and every resulting layout is one that the constructors accept.

use crate::model::*;
use proptest::collection::vec;
use proptest::prelude::*;
use strided_core::error::Error;
use strided_core::layout::{Index, Layout};

fn check(result: Result<Layout, Error>) {
    match result {
        Ok(x) => {
            let constructed = Layout::strided(&x.shape(), &x.stride(), x.offset());
            assert_eq!(constructed.unwrap(), x);
            let _ = (x.size(), x.bounds(), x.span(), x.is_contiguous(), x.is_injective(), x.row_major_like());
            let _ = (x.is_row_major(), x.is_column_major(), x.fold_all(), x.squeeze_all());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn check_all(result: Result<Vec<Layout>, Error>) {
    match result {
        Ok(layouts) => layouts.into_iter().take(5).for_each(|x| check(Ok(x))),
        Err(error) => check(Err(error)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn views_of_any_numbers(
        x in large_layout(),
        y in large_layout(),
        [a, b, c, d] in prop::array::uniform4(number()),
        list in vec(number(), 0..5),
    ) {
        check(Ok(x.clone()));
        check(x.narrow(a, b, c));
        check(x.select(a, b));
        check(x.slice(a, Some(b), Some(c), d));
        check(x.slice(a, None, Some(c), d));
        check(x.slice(a, Some(b), None, d));
        check(x.transpose(a, b));
        check(x.permute(&list));
        check(x.movedim(&list, &[a, b]));
        check(x.expand(&list));
        check(x.unsqueeze(a));
        check(x.squeeze(&list));
        check(x.unfold(a, b, c));
        check(x.diagonal(a, b, c));
        check(x.flip(&list));
        check(x.view(&list));
        check(x.unflatten(a, &list));
        check(x.fold(&list));
        check(x.fold_all());
        for sizes in [(1, 16), (16, 1), (4, 8), (8, 4), (2, 2)] {
            check(x.reinterpret(sizes.0, sizes.1));
        }
        check(x.part(0));
        check(x.part(1));
        let _ = (x.try_view(&list), x.infer_shape(&list), x.flatten_shape(a, b), x.location(&list));
        let _ = (x.sequentially_contiguous(&list), x.extent(a), x.compatible(a, &y, b), x.overlaps(&y));
        let slice = Index::Slice { start: Some(b), stop: Some(c), step: d };
        check(x.index(&[Index::At(a), Index::NewAxis, slice, Index::Ellipsis]));
        check_all(x.split_sizes(a, &list));
        check_all(x.tensor_split_at(a, &list));
        // At most a few thousand pieces: a dim may have 2**59 indices.
        if x.shape().iter().all(|&n| n < 5000) {
            check_all(x.split(a, b));
            check_all(x.unbind(a));
        }
        if b < 5000 {
            check_all(x.chunk(a, b));
            check_all(x.tensor_split(a, b));
        }
    }

    #[test]
    fn constructors_of_any_numbers(shape in vec(number(), 0..4), stride in vec(number(), 0..4), offset in number()) {
        let strided = Layout::strided(&shape, &stride, offset);
        let made = [Layout::row_major(&shape), Layout::column_major(&shape), strided];
        made.into_iter().flatten().for_each(|layout| check(Ok(layout)));
    }

    #[test]
    fn chains_of_views(
        mut x in large_layout(),
        steps in vec((0..12, prop::array::uniform4(number())), 0..12),
    ) {
        // An empty layout has no bounds, and yet its offset must stay within the address space.
        for (rule, [a, b, c, d]) in steps {
            let next = match rule {
                0 => x.narrow(a, b, c),
                1 => x.slice(a, Some(b), Some(c), d),
                2 => x.select(a, b),
                3 => x.expand(&[&[a.clamp(-1, 3)], x.shape().as_slice()].concat()),
                4 => x.unsqueeze(a),
                5 => x.unfold(a, b, c),
                6 => x.diagonal(a, b, c),
                7 => x.flip(&[a]),
                8 => x.view(&[a, b, c]),
                9 => x.unflatten(a, &[b, c]),
                10 => x.reinterpret(1 << (b & 3), 1 << (c & 3)),
                _ => x.part(a & 1),
            };
            check(next.clone());
            x = next.unwrap_or(x);
        }
    }
}

#[test]
fn views_of_a_layout_with_thousands_of_dims() {
    let rank = 5000;
    let x = Layout::row_major(&vec![1; rank])
        .unwrap()
        .expand(&[&vec![1; rank - 2][..], &[3, 4]].concat())
        .unwrap();
    let backwards: Vec<isize> = (0..rank as isize).rev().collect();
    let x = x.permute(&backwards).unwrap().flip(&backwards).unwrap();
    assert_eq!(x.shape()[..3], [4, 3, 1]);
    assert_eq!(x.squeeze_all().rank(), 2);
    assert_eq!(x.view(&[12]).unwrap().size(), 12);
    assert_eq!(x.index(&[Index::At(0), Index::Ellipsis, Index::NewAxis]).unwrap().rank(), rank);
    assert_eq!(x.movedim(&backwards, &backwards).unwrap(), x);
    assert!(x.fold(&backwards).is_ok() && !x.is_injective() && x.overlaps(&x));
}

#[test]
fn more_elements_than_addresses_are_refused() {
    let x = Layout::row_major(&[1 << 40]).unwrap();
    assert!(x.unfold(0, 1 << 39, 1).is_err() && x.unfold(0, 1 << 39, 1 << 38).is_ok());
    assert!(x.expand(&[1 << 40, -1]).is_err() && x.expand(&[1 << 10, -1]).is_ok());
    let empty = Layout::row_major(&[0]).unwrap();
    assert!(empty.unflatten(0, &[0, 1 << 40, 1 << 40]).is_err());
    assert!(empty.view(&[1 << 40, 0, 1 << 40]).is_err());
}

#[test]
fn more_pieces_than_memory_are_refused() {
    let x = Layout::row_major(&[1]).unwrap().expand(&[1 << 58]).unwrap();
    assert!(x.unbind(0).is_err() && x.split(0, 1).is_err() && x.chunk(0, isize::MAX).is_err());
    let empty = Layout::row_major(&[0]).unwrap();
    assert!(empty.chunk(0, isize::MAX).is_err() && empty.tensor_split(0, isize::MAX).is_err());
}

//! Other shapes and element sizes: the elements keep their order, and every possible view is made.

use crate::model::*;
use proptest::collection::vec;
use proptest::prelude::*;
use strided_core::layout::Layout;

/// A shape with a given number of elements, made of divisors of the number.
fn shape_of(size: usize, picks: &[usize]) -> Vec<isize> {
    let mut rest = size;
    let mut shape = vec![];
    for &pick in picks {
        let divisors: Vec<usize> = (1..=rest).filter(|d| rest.is_multiple_of(*d)).collect();
        let extent = divisors.get(pick % divisors.len().max(1)).copied().unwrap_or(0);
        shape.push(extent as isize);
        rest = rest.checked_div(extent).unwrap_or(rest);
    }
    shape.push(rest as isize);
    shape
}

/// Whether one stride for each dim of the shape puts the elements at these locations, in order.
fn strides_exist(locations: &[isize], shape: &[isize]) -> bool {
    let Some(&origin) = locations.first() else {
        return true;
    };
    let position = |index: &[isize]| index.iter().zip(shape).fold(0, |at, (i, n)| at * n + i) as usize;
    let stride: Vec<isize> = (0..shape.len())
        .map(|dim| {
            let step: Vec<isize> = (0..shape.len()).map(|d| (d == dim && shape[dim] > 1) as isize).collect();
            locations[position(&step)] - origin
        })
        .collect();
    indices(shape).iter().all(|index| {
        locations[position(index)] == origin + index.iter().zip(&stride).map(|(i, s)| i * s).sum::<isize>()
    })
}

proptest! {
    #[test]
    fn view_is_possible_whenever_strides_exist(x in small_layout(), picks in vec(0..30usize, 0..4)) {
        let shape = shape_of(x.size(), &picks);
        let x_locations = locations(&x);
        match x.try_view(&shape) {
            None => assert!(!strides_exist(&x_locations, &shape), "{x:?} as {shape:?}"),
            Some(view) => {
                assert_eq!(view.shape().as_slice(), shape);
                assert_eq!(locations(&view), x_locations);
                assert_eq!(x.view(&shape).unwrap(), view);
            }
        }
        // A row-major copy can be viewed in any shape.
        assert_eq!(x.row_major_like().view(&shape).unwrap(), Layout::row_major(&shape).unwrap());
        let larger: Vec<isize> = shape.iter().copied().chain([2]).collect();
        assert!(x.size() == 0 || x.view(&larger).is_err());
    }

    #[test]
    fn infer_shape(x in small_layout(), picks in vec(0..30usize, 0..4), open in 0..4usize) {
        let shape = shape_of(x.size(), &picks);
        let mut asked = shape.clone();
        let open = open % shape.len();
        asked[open] = -1;
        let ambiguous = asked.contains(&0);
        match x.infer_shape(&asked) {
            Ok(inferred) => assert_eq!(inferred.as_slice(), shape),
            Err(_) => assert!(ambiguous),
        }
        assert!(x.infer_shape(&[&asked[..], &[-1]].concat()).is_err());
        assert!(x.infer_shape(&[&shape[..], &[-2]].concat()).is_err());
        let indivisible = x.size() as isize + 1;
        assert!(x.size() == 0 || x.infer_shape(&[-1, indivisible]).is_err());
    }

    #[test]
    fn flatten_and_unflatten(x in small_layout(), start in -5..5isize, end in -5..5isize) {
        match (wrap(start, x.rank()), wrap(end, x.rank())) {
            (Some(a), Some(b)) if a <= b => {
                let shape = x.flatten_shape(start, end).unwrap();
                let parts = &x.shape()[a..=b];
                let expected = [&x.shape()[..a], &[parts.iter().product()], &x.shape()[b + 1..]].concat();
                assert_eq!(shape.as_slice(), expected);
                let flat = x.row_major_like().view(&shape).unwrap();
                let parted = flat.unflatten(a as isize, parts).unwrap();
                assert_eq!((parted.shape(), locations(&parted)), (x.shape(), locations(&x.row_major_like())));
            }
            _ if x.rank() == 0 => assert_eq!(x.flatten_shape(0, -1).unwrap().as_slice(), [1]),
            _ => assert!(x.flatten_shape(start, end).is_err()),
        }
    }

    #[test]
    fn unflatten(x in small_layout(), dim in -4..4isize, picks in vec(0..30usize, 0..3)) {
        let Some(d) = wrap(dim, x.rank()) else {
            return Ok(assert!(x.unflatten(dim, &[1]).is_err()));
        };
        let sizes = shape_of(x.shape()[d] as usize, &picks);
        let shape = [&x.shape()[..d], &sizes, &x.shape()[d + 1..]].concat();
        let view = x.unflatten(dim, &sizes).unwrap();
        check_view(&view, &shape, &x, |i| {
            let within = i[d..d + sizes.len()].iter().zip(&sizes).fold(0, |at, (i, n)| at * n + i);
            [&i[..d], &[within], &i[d + sizes.len()..]].concat()
        });
        assert!(x.unflatten(dim, &[]).is_err() && x.unflatten(dim, &[x.shape()[d] + 1]).is_err());
        if !sizes[1..].contains(&0) {
            assert_eq!(x.unflatten(dim, &[&[-1], &sizes[1..]].concat()).unwrap(), view);
        }
    }

    #[test]
    fn reinterpret_keeps_the_bytes(x in small_layout(), from in 0..5u32, to in 0..5u32) {
        let (from, to) = (2isize.pow(from), 2isize.pow(to));
        let bytes = |x: &Layout, size: isize| -> Vec<isize> {
            locations(x).iter().flat_map(|at| at * size..(at + 1) * size).collect()
        };
        let outer = x.rank().max(1) - 1;
        let whole = |count: isize| from > to || count * from % to == 0;
        let possible = x.modes().last().is_some_and(|last| {
            let steps = x.modes()[..outer].iter().all(|m| m.extent <= 1 || whole(m.stride));
            (last.extent <= 1 || last.stride == 1) && whole(last.extent) && whole(x.offset()) && steps
        });
        match x.reinterpret(from as usize, to as usize) {
            Ok(view) => {
                assert_eq!(bytes(&view, to), bytes(&x, from));
                assert_eq!(view.shape()[..outer], x.shape()[..outer]);
                let back = view.reinterpret(to as usize, from as usize).unwrap();
                assert_eq!((back.shape(), locations(&back)), (x.shape(), locations(&x)));
            }
            Err(_) => assert!(from != to && !possible, "{x:?}"),
        }
    }

    #[test]
    fn parts_of_complex_numbers(x in small_layout()) {
        for part in [0, 1] {
            let view = x.part(part).unwrap();
            assert_eq!(view.shape(), x.shape());
            let expected: Vec<isize> = locations(&x).iter().map(|at| 2 * at + part).collect();
            assert_eq!(locations(&view), expected);
        }
    }
}

#[test]
fn strides_of_single_indices_are_those_of_pytorch() {
    let gapped = Layout::row_major(&[6, 4]).unwrap().slice(0, None, None, 2).unwrap();
    assert_eq!(gapped.view(&[1, 3, 1, 4, 1]).unwrap().stride().as_slice(), [24, 8, 4, 1, 1]);
    assert_eq!(gapped.unsqueeze(0).unwrap().stride().as_slice(), [24, 8, 1]);
    assert_eq!(gapped.unsqueeze(-1).unwrap().stride().as_slice(), [8, 1, 1]);
}

#[test]
fn errors_name_the_numbers() {
    let x = Layout::row_major(&[2, 3]).unwrap();
    let text = |result: Result<Layout, strided_core::error::Error>| result.unwrap_err().to_string();
    assert_eq!(text(x.view(&[5])), "shape 5 has another number of elements than 2x3");
    assert_eq!(text(x.view(&[-1, -1])), "shape is -1x-1, wanted at most one -1");
    assert_eq!(text(x.view(&[-2, 3])), "size -2 of dim 0 is negative");
    assert_eq!(
        text(x.transpose(0, 1).unwrap().view(&[6])),
        "shape 3x2 with strides [1, 3] cannot be viewed as 6 without a copy; use reshape"
    );
    assert_eq!(text(x.reinterpret(4, 8)), "the byte stride 12 is not a multiple of the element size 8");
    let empty = Layout::row_major(&[0]).unwrap();
    assert_eq!(text(empty.view(&[-1, 0])), "shape is -1x0, wanted no -1 beside a 0: it could be any number");
    assert_eq!(
        text(empty.view(&[1 << 40, 1 << 40, 0])),
        "shape 1099511627776x1099511627776x0 exceeds the address space"
    );
}

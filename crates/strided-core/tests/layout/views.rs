//! Every view has the elements of its definition, and meaningless arguments are refused.

use crate::model::*;
use proptest::collection::vec;
use proptest::prelude::*;
use strided_core::layout::{Index, Layout};

/// The indices that Python's `range(extent)[start:stop:step]` lists, by stepping through them.
fn python_slice(extent: isize, start: Option<isize>, stop: Option<isize>, step: isize) -> Vec<isize> {
    let (extent, step) = (extent as i128, step as i128);
    let (low, high) = if step > 0 { (0, extent) } else { (-1, extent - 1) };
    let clamp = |i: isize| if i < 0 { i as i128 + extent } else { i as i128 }.clamp(low, high);
    let (first, last) = if step > 0 { (low, high) } else { (high, low) };
    let (mut at, stop) = (start.map_or(first, clamp), stop.map_or(last, clamp));
    let mut listed = vec![];
    while (step > 0 && at < stop) || (step < 0 && at > stop) {
        listed.push(at as isize);
        at += step;
    }
    listed
}

fn with(index: &[isize], dim: usize, value: isize) -> Vec<isize> {
    let mut index = index.to_vec();
    index[dim] = value;
    index
}

fn inserted(index: &[isize], dim: usize, value: isize) -> Vec<isize> {
    [&index[..dim], &[value], &index[dim..]].concat()
}

fn removed(index: &[isize], dim: usize) -> Vec<isize> {
    [&index[..dim], &index[dim + 1..]].concat()
}

proptest! {
    #[test]
    fn narrow(x in small_layout(), dim in -6..6isize, start in -6..7isize, length in -1..6isize) {
        let Some(d) = wrap(dim, x.rank()) else {
            return Ok(assert!(x.narrow(dim, start, length).is_err()));
        };
        let mut shape = x.shape();
        let first = if start < 0 { start + shape[d] } else { start };
        if first < 0 || length < 0 || first + length > shape[d] {
            return Ok(assert!(x.narrow(dim, start, length).is_err()));
        }
        shape[d] = length;
        let view = x.narrow(dim, start, length).unwrap();
        check_view(&view, &shape, &x, |i| with(i, d, first + i[d]));
        assert!(length > 0 || view.offset() == x.offset());
    }

    #[test]
    fn select(x in small_layout(), dim in -6..6isize, index in -7..7isize) {
        let wrapped = wrap(dim, x.rank()).and_then(|d| Some((d, wrap(index, x.shape()[d] as usize)? as isize)));
        match wrapped {
            None => assert!(x.select(dim, index).is_err()),
            Some((d, i)) => {
                let view = x.select(dim, index).unwrap();
                check_view(&view, &removed(&x.shape(), d), &x, |rest| inserted(rest, d, i));
            }
        }
    }

    #[test]
    fn slice(x in small_layout(), dim in -6..6isize, start: Option<i8>, stop: Option<i8>, step in -4..4isize) {
        // Most values of an i8 are far outside; a shift makes many of them small.
        let near = |i: Option<i8>| i.map(|i| (if i % 2 == 0 { i } else { i >> 4 }) as isize);
        let (start, stop) = (near(start), near(stop));
        let sliced = x.slice(dim, start, stop, step);
        match wrap(dim, x.rank()) {
            Some(d) if step != 0 => {
                let listed = python_slice(x.shape()[d], start, stop, step);
                let shape = with(&x.shape(), d, listed.len() as isize);
                check_view(&sliced.unwrap(), &shape, &x, |i| with(i, d, listed[i[d] as usize]));
            }
            _ => assert!(sliced.is_err()),
        }
    }

    #[test]
    fn slice_of_any_numbers(
        extent in 0..9isize,
        start in prop::option::of(number()),
        stop in prop::option::of(number()),
        step in number(),
    ) {
        let x = Layout::row_major(&[extent]).unwrap();
        match x.slice(0, start, stop, step) {
            Ok(view) => assert_eq!(locations(&view), python_slice(extent, start, stop, step)),
            Err(_) => assert_eq!(step, 0),
        }
    }

    #[test]
    fn transpose(x in small_layout(), a in -6..6isize, b in -6..6isize) {
        let swapped = x.transpose(a, b);
        match (wrap(a, x.rank()), wrap(b, x.rank())) {
            (Some(a), Some(b)) => {
                let swap = |i: &[isize]| { let mut i = i.to_vec(); i.swap(a, b); i };
                check_view(&swapped.unwrap(), &swap(&x.shape()), &x, swap);
            }
            // A tensor of rank 0 accepts dims 0 and -1.
            _ => assert!(swapped.is_err() || (x.rank() == 0 && (-1..=0).contains(&a) && (-1..=0).contains(&b))),
        }
    }

    #[test]
    fn permute(x in small_layout(), keys in vec(0..100, 8), other in prop::option::of(-6..0isize)) {
        let mut dims: Vec<isize> = (0..x.rank() as isize).collect();
        dims.sort_by_key(|&dim| keys[dim as usize]);
        // In half of the cases one dim is replaced by a negative number, which may be wrong.
        dims.iter_mut().zip(other).for_each(|(dim, other)| *dim = other);
        match wrap_all(&dims, x.rank()) {
            None => assert!(x.permute(&dims).is_err()),
            Some(order) => {
                let shape: Vec<isize> = order.iter().map(|&d| x.shape()[d]).collect();
                let position = |d| order.iter().position(|&o| o == d).unwrap();
                let view = x.permute(&dims).unwrap();
                check_view(&view, &shape, &x, |i| (0..x.rank()).map(|d| i[position(d)]).collect());
            }
        }
    }

    #[test]
    fn movedim(x in small_layout(), from in vec(-5..5isize, 0..4), to in vec(-5..5isize, 0..4)) {
        let moved = x.movedim(&from, &to);
        match (wrap_all(&from, x.rank()), wrap_all(&to, x.rank())) {
            (Some(from), Some(to)) if from.len() == to.len() => {
                // Removes the dims, keeps the others in order, and inserts each at its new position.
                let mut order: Vec<usize> = (0..x.rank()).filter(|d| !from.contains(d)).collect();
                let mut pairs: Vec<_> = to.iter().zip(&from).collect();
                pairs.sort();
                pairs.iter().for_each(|&(&to, &from)| order.insert(to, from));
                let order: Vec<isize> = order.iter().map(|&d| d as isize).collect();
                assert_eq!(moved.unwrap(), x.permute(&order).unwrap());
            }
            _ => assert!(moved.is_err()),
        }
    }

    #[test]
    fn expand(x in small_layout(), lead in vec(-1..3isize, 0..3), sizes in vec(-1..4isize, 8)) {
        // A size of 3 is replaced by the extent itself, so that most shapes fit.
        let tail = x.shape().into_iter().zip(&sizes).map(|(n, &size)| if size == 3 { n } else { size });
        let asked: Vec<isize> = lead.iter().copied().chain(tail).collect();
        let fits = |(&size, n)| size == -1 || size == n || n == 1;
        let fits = asked[lead.len()..].iter().zip(x.shape()).all(fits);
        if lead.contains(&-1) || !fits {
            return Ok(assert!(x.expand(&asked).is_err()));
        }
        let kept = |dim: usize| if asked[dim] == -1 { x.shape()[dim - lead.len()] } else { asked[dim] };
        let shape: Vec<isize> = (0..asked.len()).map(kept).collect();
        let view = x.expand(&asked).unwrap();
        check_view(&view, &shape, &x, |i| {
            i[lead.len()..].iter().zip(x.shape()).map(|(&i, n)| if n == 1 { 0 } else { i }).collect()
        });
        assert!(x.rank() == 0 || x.expand(&asked[asked.len() - x.rank() + 1..]).is_err());
    }

    #[test]
    fn unsqueeze_and_squeeze(x in small_layout(), dim in -7..7isize) {
        match wrap(dim, x.rank() + 1) {
            None => assert!(x.unsqueeze(dim).is_err()),
            Some(d) => {
                let view = x.unsqueeze(dim).unwrap();
                check_view(&view, &inserted(&x.shape(), d, 1), &x, |i| removed(i, d));
                assert_eq!(view.squeeze(&[dim]).unwrap(), x);
            }
        }
        let ones: Vec<isize> = (0..x.rank()).filter(|&d| x.shape()[d] == 1).map(|d| d as isize).collect();
        let squeezed = x.squeeze_all();
        assert_eq!(squeezed.rank(), x.rank() - ones.len());
        assert_eq!(locations(&squeezed), locations(&x));
        assert_eq!(x.squeeze(&ones).unwrap(), squeezed);
        assert_eq!(x.squeeze(&(0..x.rank() as isize).collect::<Vec<_>>()).unwrap(), squeezed);
        assert!(ones.is_empty() || x.squeeze(&[ones[0], ones[0]]).is_err());
    }

    #[test]
    fn unfold(x in small_layout(), dim in -5..5isize, size in -1..6isize, step in -1..4isize) {
        let windows = x.unfold(dim, size, step);
        match wrap(dim, x.rank()) {
            Some(d) if 0 <= size && size <= x.shape()[d] && step > 0 => {
                let count = (0..=x.shape()[d] - size).step_by(step as usize).count() as isize;
                let shape = [&with(&x.shape(), d, count)[..], &[size]].concat();
                let source = |i: &[isize]| with(&i[..x.rank()], d, i[d] * step + i[x.rank()]);
                check_view(&windows.unwrap(), &shape, &x, source);
            }
            _ => assert!(windows.is_err()),
        }
    }

    #[test]
    fn diagonal(x in small_layout(), offset in -6..7isize, dims in prop::array::uniform2(-4..4isize)) {
        let view = x.diagonal(offset, dims[0], dims[1]);
        let Some(wrapped) = wrap_all(&dims, x.rank()) else {
            return Ok(assert!(view.is_err()));
        };
        let (a, b) = (wrapped[0], wrapped[1]);
        let (rows, columns) = (x.shape()[a], x.shape()[b]);
        let on: Vec<isize> = (0..rows).filter(|i| (0..columns).contains(&(i + offset))).collect();
        let others: Vec<usize> = (0..x.rank()).filter(|d| *d != a && *d != b).collect();
        let shape: Vec<isize> = others.iter().map(|&d| x.shape()[d]).chain([on.len() as isize]).collect();
        check_view(&view.unwrap(), &shape, &x, |i| {
            let row = on[i[others.len()] as usize];
            let mut source = vec![0; x.rank()];
            others.iter().zip(i).for_each(|(&d, &i)| source[d] = i);
            (source[a], source[b]) = (row, row + offset);
            source
        });
    }

    #[test]
    fn flip(x in small_layout(), dims in vec(-5..5isize, 0..4)) {
        let flipped = x.flip(&dims);
        match wrap_all(&dims, x.rank()) {
            None => assert!(flipped.is_err() || x.rank() == 0),
            Some(wrapped) => check_view(&flipped.unwrap(), &x.shape(), &x, |i| {
                let backwards = |d: usize| x.shape()[d] - 1 - i[d];
                (0..x.rank()).map(|d| if wrapped.contains(&d) { backwards(d) } else { i[d] }).collect()
            }),
        }
    }

    #[test]
    fn pieces_of_a_dim_add_up_to_it(
        x in small_layout(), dim in -5..5isize, n in -1..7isize, cuts in vec(-5..6isize, 0..3),
    ) {
        let Some(d) = wrap(dim, x.rank()) else {
            return Ok(assert!(x.split(dim, n).is_err() && x.chunk(dim, n).is_err() && x.unbind(dim).is_err()));
        };
        let extent = x.shape()[d];
        let check = |pieces: &[Layout], sizes: &[isize]| {
            assert_eq!(pieces.iter().map(|p| p.shape()[d]).collect::<Vec<_>>(), sizes);
            let mut first = 0;
            for piece in pieces {
                check_view(piece, &with(&x.shape(), d, piece.shape()[d]), &x, |i| with(i, d, first + i[d]));
                first += piece.shape()[d];
            }
            assert_eq!(first, extent);
        };
        // Pieces of n indices and a remainder; an empty dim makes one empty piece.
        let sizes_of = |n: isize| {
            let starts = (0..extent.max(1)).step_by(n.max(1) as usize);
            starts.map(|at| n.min(extent - at)).collect::<Vec<_>>()
        };
        match x.split(dim, n) {
            Ok(pieces) => check(&pieces, &sizes_of(n)),
            Err(_) => assert!(n < 0 || (n == 0 && extent > 0)),
        }
        match (x.chunk(dim, n), x.tensor_split(dim, n)) {
            (Ok(chunks), Ok(splits)) => {
                check(&chunks, &if extent == 0 { vec![0; n as usize] } else { sizes_of((extent + n - 1) / n) });
                check(&splits, &(0..n).map(|k| extent / n + (k < extent % n) as isize).collect::<Vec<_>>());
            }
            (chunks, splits) => assert!(n <= 0 && chunks.is_err() && splits.is_err()),
        }
        let sizes = [sizes_of(n.max(1)), vec![0]].concat();
        check(&x.split_sizes(dim, &sizes).unwrap(), &sizes);
        assert!(x.split_sizes(dim, &[extent, 1]).is_err() && x.split_sizes(dim, &[extent + 1, -1]).is_err());
        let bounds = [&[None], &cuts.iter().copied().map(Some).collect::<Vec<_>>()[..], &[None]].concat();
        let slices = bounds.windows(2).map(|ends| x.slice(dim, ends[0], ends[1], 1).unwrap());
        let by_slices: Vec<Layout> = slices.collect();
        assert_eq!(x.tensor_split_at(dim, &cuts).unwrap(), by_slices);
        let selected: Vec<Layout> = (0..extent).map(|i| x.select(dim, i).unwrap()).collect();
        assert_eq!(x.unbind(dim).unwrap(), selected);
    }

    #[test]
    fn index_is_select_slice_and_unsqueeze(x in small_layout(), indices in vec(any_index(), 0..6)) {
        let used = indices.iter().filter(|i| matches!(i, Index::At(_) | Index::Slice { .. })).count();
        let rests = indices.iter().filter(|i| matches!(i, Index::Ellipsis)).count();
        if used > x.rank() || rests > 1 {
            return Ok(assert!(x.index(&indices).is_err()));
        }
        let mut dim = 0;
        let chained = indices.iter().try_fold(x.clone(), |view, index| {
            dim += 1;
            match *index {
                Index::At(i) => { dim -= 1; view.select(dim, i) }
                Index::Slice { start, stop, step } => view.slice(dim - 1, start, stop, step),
                Index::NewAxis => view.unsqueeze(dim - 1),
                Index::Ellipsis => { dim += (x.rank() - used) as isize - 1; Ok(view) }
            }
        });
        match chained {
            Ok(view) => assert_eq!(x.index(&indices).unwrap(), view),
            Err(_) => assert!(x.index(&indices).is_err()),
        }
    }
}

fn any_index() -> impl Strategy<Value = Index> {
    let end = || prop::option::of(-5..6isize);
    prop_oneof![
        2 => (-3..3isize).prop_map(Index::At),
        3 => (end(), end(), -3..4isize).prop_map(|(start, stop, step)| Index::Slice { start, stop, step }),
        1 => Just(Index::Ellipsis),
        1 => Just(Index::NewAxis),
    ]
}

#[test]
fn errors_name_the_operation_and_the_numbers() {
    let x = Layout::row_major(&[2, 5]).unwrap();
    let text = |result: Result<Layout, strided_core::error::Error>| result.unwrap_err().to_string();
    assert_eq!(text(x.narrow(1, 3, 4)), "start 3 + length 4 exceeds extent 5 of dim 1 (shape 2x5)");
    assert_eq!(text(x.narrow(1, 0, -4)), "length is -4, wanted 0 or more");
    assert_eq!(text(x.narrow(2, 0, 1)), "dim 2 is outside -2 to 1 (rank 2)");
    assert_eq!(text(x.select(0, -3)), "index -3 is outside dim 0 with extent 2 (shape 2x5)");
    assert_eq!(text(x.slice(0, None, None, 0)), "step is 0, wanted another number");
    assert_eq!(text(x.permute(&[0, 0])), "dim 0 is named more than once");
    assert_eq!(text(x.unsqueeze(3)), "dim 3 is outside -3 to 2 (rank 2)");
    assert_eq!(text(Layout::scalar().unsqueeze(-2)), "dim -2 is outside -1 to 0 (rank 0)");
    assert_eq!(text(Layout::scalar().select(0, 0)), "dim 0 of a tensor of rank 0");
    assert_eq!(text(x.fold(&[2])), "mode 2 is outside -2 to 1 (rank 2)");
    assert_eq!(text(x.fold(&[1, -1])), "mode 1 is named more than once");
    assert_eq!(text(x.expand(&[5])), "shape is 5, wanted at least 2 sizes");
    assert_eq!(
        text(x.expand(&[3, 5])),
        "shape 2x5 does not expand to 3x5: extent 2 cannot become 3 in dim 0"
    );
    assert_eq!(text(x.unfold(1, 6, 1)), "size is 6, wanted 0 to 5, the extent of dim 1");
    assert_eq!(text(x.index(&[Index::At(0); 3])), "3 indices for 2 dims (shape 2x5)");
    assert_eq!(text(x.index(&[Index::Ellipsis; 2])), "more than one '...'");
}

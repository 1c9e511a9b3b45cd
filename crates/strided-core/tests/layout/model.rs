//! The naive model, in which a layout is the list of its locations; and the layouts that the tests generate.

use proptest::prelude::*;
use strided_core::layout::{Layout, MAX_SPAN};

/// All index tuples of a shape, in row-major order.
pub fn indices(shape: &[isize]) -> Vec<Vec<isize>> {
    shape.iter().fold(vec![vec![]], |tuples, &extent| {
        tuples.iter().flat_map(|tuple| (0..extent).map(|i| [&tuple[..], &[i]].concat())).collect()
    })
}

/// The location of one element, by the definition.
pub fn location(layout: &Layout, index: &[isize]) -> isize {
    assert_eq!(index.len(), layout.rank());
    layout.offset() + index.iter().zip(layout.stride()).map(|(i, s)| i * s).sum::<isize>()
}

/// The locations of all elements, in row-major order.
pub fn locations(layout: &Layout) -> Vec<isize> {
    indices(&layout.shape()).iter().map(|index| location(layout, index)).collect()
}

/// Checks that a view has the shape, and that each of its elements is the element of `from` at the indices `map`
/// returns.
pub fn check_view(view: &Layout, shape: &[isize], from: &Layout, map: impl Fn(&[isize]) -> Vec<isize>) {
    assert_eq!(view.shape().as_slice(), shape);
    for index in indices(shape) {
        let source = map(&index);
        assert!(
            source.iter().zip(from.shape()).all(|(&i, n)| 0 <= i && i < n),
            "{source:?} is outside {from:?}"
        );
        assert_eq!(location(view, &index), location(from, &source), "{view:?} of {from:?} at {index:?}");
    }
}

/// A dim counted from 0, or `None` if it is out of range.
pub fn wrap(dim: isize, rank: usize) -> Option<usize> {
    let rank = rank as isize;
    (-rank..rank).contains(&dim).then(|| dim.rem_euclid(rank) as usize)
}

/// Dims counted from 0, or `None` if one is out of range or named twice.
pub fn wrap_all(dims: &[isize], rank: usize) -> Option<Vec<usize>> {
    let wrapped: Vec<usize> = dims.iter().map(|&dim| wrap(dim, rank)).collect::<Option<_>>()?;
    wrapped.iter().enumerate().all(|(k, dim)| !wrapped[..k].contains(dim)).then_some(wrapped)
}

/// Any shape and strides: gaps, overlaps, negative strides, extents of 0 and 1.
pub fn any_layout() -> impl Strategy<Value = Layout> {
    (prop::collection::vec((0..5isize, -7..8isize), 0..5), -9..20isize).prop_map(|(modes, offset)| {
        let (shape, stride): (Vec<_>, Vec<_>) = modes.into_iter().unzip();
        Layout::strided(&shape, &stride, offset).unwrap()
    })
}

/// A few views of a row-major layout: strides that are related to each other.
pub fn viewed_layout() -> impl Strategy<Value = Layout> {
    let view = (0..5, -4..4isize, -4..4isize, 1..4isize);
    (prop::collection::vec(1..7isize, 0..5), prop::collection::vec(view, 0..4)).prop_map(|(shape, views)| {
        views.iter().fold(Layout::row_major(&shape).unwrap(), |x, &(rule, a, b, n)| {
            let view = match rule {
                0 => x.transpose(a, b),
                1 => x.slice(a, None, None, if b < 0 { -n } else { n }),
                2 => x.narrow(a, 0, n),
                3 => x.unsqueeze(a).and_then(|x| x.expand(&shape_with(&x, a, n))),
                _ => x.unfold(a, n, 2),
            };
            match view {
                Ok(view) if view.size() <= 2000 => view,
                _ => x,
            }
        })
    })
}

/// The shape of a layout with another extent in one dim.
fn shape_with(layout: &Layout, dim: isize, extent: isize) -> Vec<isize> {
    let mut shape = layout.shape().to_vec();
    shape[wrap(dim, layout.rank()).unwrap()] = extent;
    shape
}

pub fn small_layout() -> impl Strategy<Value = Layout> {
    prop_oneof![any_layout(), viewed_layout()]
}

/// Numbers that make arithmetic overflow: of every magnitude, and next to each limit.
pub fn number() -> impl Strategy<Value = isize> {
    let near = |limit: isize| (-3..4isize).prop_map(move |d| limit.wrapping_add(d));
    let any_bits = (any::<isize>(), 0..63u32).prop_map(|(n, shift)| n >> shift);
    let limit = prop_oneof![near(isize::MAX), near(MAX_SPAN), near(-MAX_SPAN)];
    prop_oneof![4 => -6..7isize, 2 => any_bits, 3 => limit]
}

/// Layouts with numbers of any magnitude, if they fit the address space.
pub fn large_layout() -> impl Strategy<Value = Layout> {
    let extent = prop_oneof![4 => 0..4isize, 1 => number()];
    let modes = prop::collection::vec((extent, number()), 0..4);
    (modes, number()).prop_filter_map("outside the address space", |(modes, offset)| {
        let (shape, stride): (Vec<_>, Vec<_>) = modes.into_iter().unzip();
        Layout::strided(&shape, &stride, offset).ok()
    })
}

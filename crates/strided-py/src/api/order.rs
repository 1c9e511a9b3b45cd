//! Order: sorting, selection, distinct elements, search, quantiles and histograms.

use crate::abi::detach::{detach_if_large, work_on};
use crate::abi::errors::{CallResult, Fail};
use crate::abi::tensor_object::{cloned_tensor, wrap};
use crate::abi::{Arg, Value};
use crate::convert::args::{DataArg, FromArg, OutArg, TensorArg, TensorPair};
use crate::convert::numbers::python_number;
use crate::convert::results::{call, call_pair, call_with_work, cloned, tuple_of};
use crate::convert::tensors::TextArg;
use crate::convert::values::{Values, values};
use pyo3::prelude::*;
use strided_core::ops::sort::{self, LineRank, QuickTask};
use strided_core::ops::statistics::{self, Bins, Interpolation, QuantileRequest};
use strided_core::ops::unique::{self, UniqueRequest};
use strided_core::ops::{create, search};
use strided_core::{Result, Tensor};

methods! { rows(py, x: TensorArg):
    /// The elements along a dim in ascending order, and their indices: `(values, indices)`. NaN is larger than every number.
    /// Equal elements keep their order, also if `stable` is False.
    ///
    /// >>> values, indices = strided.tensor([3, 1, 2]).sort()
    /// >>> values.tolist(), indices.tolist()
    /// ([1, 2, 3], [1, 2, 0])
    /// >>> strided.tensor([[3.0, 1.0], [0.0, 2.0]]).sort(dim=0, descending=True).values.tolist()
    /// [[3.0, 2.0], [0.0, 1.0]]
    both sort(dim | axis: isize = -1, descending: bool = False, stable: bool = False; out: Option<TensorPair> = None) -> "_return_types.sort"
        => pair(py, "sort", x, out, move |x| sort::sort(x, dim, descending));

    /// The indices that sort the elements along a dim. Equal elements keep their order, also if `stable` is False.
    ///
    /// >>> strided.tensor([3, 1, 2]).argsort().tolist()
    /// [1, 2, 0]
    both argsort(dim | axis: isize = -1, descending: bool = False, stable: bool = False)
        => call(py, [x], None, |[x], _| sort::argsort(x, dim, descending));

    /// The elements along a dim as Torch7's quicksort leaves them, and their indices: equal elements do not keep their order.
    ///
    /// >>> values, indices = strided._strided._torch_sort(strided.ones(12), 0)
    /// >>> indices.tolist()
    /// [7, 5, 10, 9, 8, 0, 6, 1, 4, 3, 2, 11]
    function _torch_sort(input: TensorArg, dim: isize, descending: bool = False) -> "_return_types.sort" => {
        let task = if descending { QuickTask::Descending } else { QuickTask::Ascending };
        pair(py, "sort", input, None, move |x| sort::quick(x, dim, task))
    };

    /// The elements along a dim as Torch7's quickselect leaves them, and their indices. The one of rank `k`, counted from 0,
    /// is at its place.
    ///
    /// >>> values, indices = strided._strided._torch_select(strided.tensor([3, 1, 5, 2, 4]), 1, 0)
    /// >>> values[1].item()
    /// 2
    function _torch_select(input: TensorArg, k: isize, dim: isize) -> "_return_types.sort" => {
        let rank = usize::try_from(k).map_err(|_| Fail::Value(format!("k is {k}, wanted 0 or more")))?;
        pair(py, "sort", input, None, move |x| sort::quick(x, dim, QuickTask::Select(rank)))
    };

    /// The elements along the first dim in ascending order.
    ///
    /// >>> strided.tensor([[3, 1], [0, 2]]).msort().tolist()
    /// [[0, 1], [3, 2]]
    both msort(; out: Option<TensorArg> = None) => call(py, [x], out, |[x], out| out.deliver(sort::sorted(x, 0, false)?));

    /// The `k` largest elements along a dim in descending order, or the smallest ones in ascending order, and their indices:
    /// `(values, indices)`. The first ones of equal elements count. They are sorted, also if `sorted` is False.
    ///
    /// >>> values, indices = strided.tensor([3, 1, 5, 2]).topk(2)
    /// >>> values.tolist(), indices.tolist()
    /// ([5, 3], [2, 0])
    both topk(k: isize, dim | axis: Option<isize> = None, largest: bool = True, sorted: bool = True; out: Option<TensorPair> = None) -> "_return_types.topk"
        => pair(py, "topk", x, out, move |x| sort::topk(x, k, dim.unwrap_or(-1), largest));

    /// The `k`th smallest element along a dim, counted from 1, and its index: `(values, indices)`.
    ///
    /// >>> values, indices = strided.tensor([3, 1, 5, 2]).kthvalue(2)
    /// >>> values.item(), indices.item()
    /// (2, 3)
    both kthvalue(k: isize, dim | axis: isize = -1, keepdim | keepdims: bool = False; out: Option<TensorPair> = None) -> "_return_types.kthvalue"
        => pair(py, "kthvalue", x, out, move |x| sort::kthvalue(x, k, dim, keepdim));

    /// The median of all elements; with a dim, the medians along it and their indices, `(values, indices)`. It is the lower one
    /// of two middle elements, and NaN if there is one.
    ///
    /// >>> strided.tensor([4, 1, 3, 2]).median().item()
    /// 2
    /// >>> strided.tensor([[4, 1, 3], [7, 9, 8]]).median(dim=1).indices.tolist()
    /// [2, 2]
    both median(dim | axis: Option<isize> = None, keepdim | keepdims: bool = False; out: Option<OutArg> = None)
        -> [
            "(dim: None = None, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor",
            "(dim: SupportsIndex, keepdim: bool = False, *, out: tuple[Tensor, Tensor] | None = None) -> _return_types.median"
        ]
        => median(py, "median", LineRank::Median, x, dim, keepdim, out);

    /// `median` of the elements that are not NaN.
    ///
    /// >>> strided.tensor([4.0, 1.0, 1e999 * 0, 2.0]).nanmedian().item()
    /// 2.0
    both nanmedian(dim | axis: Option<isize> = None, keepdim | keepdims: bool = False; out: Option<OutArg> = None)
        -> [
            "(dim: None = None, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor",
            "(dim: SupportsIndex, keepdim: bool = False, *, out: tuple[Tensor, Tensor] | None = None) -> _return_types.nanmedian"
        ]
        => median(py, "nanmedian", LineRank::NanMedian, x, dim, keepdim, out);

    /// The most frequent element along a dim, and its last index: `(values, indices)`. It is the smallest one of several.
    ///
    /// >>> values, indices = strided.tensor([2, 1, 2, 1, 3]).mode()
    /// >>> values.item(), indices.item()
    /// (1, 3)
    both mode(dim | axis: isize = -1, keepdim | keepdims: bool = False; out: Option<TensorPair> = None) -> "_return_types.mode"
        => pair(py, "mode", x, out, move |x| sort::mode(x, dim, keepdim));

    /// The quantiles of all elements or along a dim: the elements of rank `q * (n - 1)` in the order of `n` elements. Between
    /// two elements the result is interpolated: "linear", "lower", "higher", "midpoint" or "nearest". Several `q` make the first
    /// dim of the result. NaN if there is a NaN.
    ///
    /// >>> strided.tensor([3.0, 1.0, 2.0, 5.0]).quantile(0.5).item()
    /// 2.5
    /// >>> strided.tensor([3.0, 1.0, 2.0]).quantile(strided.tensor([0.0, 1.0])).tolist()
    /// [1.0, 3.0]
    both quantile(q: DataArg, dim | axis: Option<isize> = None, keepdim | keepdims: bool = False; interpolation | method: Option<TextArg> = None, out: Option<TensorArg> = None)
        => quantile(py, x, q, dim, keepdim, interpolation, false, out);

    /// `quantile` of the elements that are not NaN.
    ///
    /// >>> strided.tensor([3.0, 1.0, 1e999 * 0]).nanquantile(0.5).item()
    /// 2.0
    both nanquantile(q: DataArg, dim | axis: Option<isize> = None, keepdim | keepdims: bool = False; interpolation | method: Option<TextArg> = None, out: Option<TensorArg> = None)
        => quantile(py, x, q, dim, keepdim, interpolation, true, out);

    /// The distinct elements in ascending order, or the distinct slices along a dim. With `return_inverse` also the index among
    /// them of each element, with `return_counts` also how often each occurs. Every NaN is distinct. They are sorted, also if
    /// `sorted` is False.
    ///
    /// >>> strided.tensor([2, 1, 2, 3]).unique().tolist()
    /// [1, 2, 3]
    /// >>> values, inverse, counts = strided.tensor([2, 1, 2]).unique(return_inverse=True, return_counts=True)
    /// >>> inverse.tolist(), counts.tolist()
    /// ([1, 0, 1], [1, 2])
    both unique(sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim | axis: Option<isize> = None) -> "Any"
        => distinct(py, x, UniqueRequest { consecutive: false, inverse: return_inverse, counts: return_counts, dim });

    /// The elements, or the slices along a dim, without those that equal the one before. With `return_inverse` also the index
    /// among them of each element, with `return_counts` also how many each stands for.
    ///
    /// >>> strided.tensor([2, 2, 1, 2]).unique_consecutive().tolist()
    /// [2, 1, 2]
    both unique_consecutive(return_inverse: bool = False, return_counts: bool = False, dim | axis: Option<isize> = None) -> "Any"
        => distinct(py, x, UniqueRequest { consecutive: true, inverse: return_inverse, counts: return_counts, dim });

    /// Whether each element is one of the elements of another tensor. NaN is none. Either may be a number.
    ///
    /// >>> strided.isin(strided.tensor([1, 2, 3]), strided.tensor([3, 1])).tolist()
    /// [True, False, True]
    function isin(elements: DataArg, test_elements: DataArg; assume_unique: bool = False, invert: bool = False) => {
        let (elements, tests) = both_operands(elements.0, test_elements.0)?;
        call_with_work(py, [], elements.size().saturating_add(tests.size()), None, move |[], _| unique::isin(&elements, &tests, invert))
    };

    /// The index of each number in a sorted sequence at which it could be inserted: before equal elements, or behind them with
    /// `right`, or `side="right"`. A sequence of several dims has a sequence for each row of the numbers. `sorter` has the indices
    /// that sort the sequence.
    ///
    /// >>> strided.searchsorted(strided.tensor([1, 3, 5]), strided.tensor([3, 6])).tolist()
    /// [1, 3]
    /// >>> strided.searchsorted(strided.tensor([1, 3, 5]), 3, right=True).item()
    /// 2
    function searchsorted(sorted_sequence: TensorArg, input | values: DataArg; out_int32: bool = False, right: bool = False, side: Option<TextArg> = None, sorter: Option<TensorArg> = None, out: Option<TensorArg> = None) => {
        let right = is_right(right, side)?;
        let (sequence, sorter) = (Tensor::clone(&sorted_sequence), cloned(sorter));
        let numbers = operand(input.0, &sequence)?;
        call_with_work(py, [], sequence.size().saturating_add(numbers.size()), out, move |[], out| {
            let found = search::searchsorted(&sequence, &numbers, right, sorter.as_ref())?;
            out.deliver(search::as_index(found, out_int32)?)
        })
    };

    /// The index of the bucket of each number, given the sorted boundaries of buckets: that of the first boundary that is not
    /// smaller, or that is larger with `right`.
    ///
    /// >>> strided.bucketize(strided.tensor([3, 6, 9]), strided.tensor([1, 3, 5, 7])).tolist()
    /// [1, 3, 4]
    function bucketize(input: DataArg, boundaries: TensorArg; out_int32: bool = False, right: bool = False, out: Option<TensorArg> = None) => {
        let boundaries = Tensor::clone(&boundaries);
        let numbers = operand(input.0, &boundaries)?;
        call_with_work(py, [], boundaries.size().saturating_add(numbers.size()), out, move |[], out| {
            let found = search::bucketize(&numbers, &boundaries, right)?;
            out.deliver(search::as_index(found, out_int32)?)
        })
    };

    /// How many elements are in each of `bins` bins of equal width from `min` to `max`; from the smallest to the largest element
    /// if those are equal.
    ///
    /// >>> strided.tensor([1.0, 2.0, 1.0]).histc(bins=4, min=0, max=3).tolist()
    /// [0.0, 2.0, 1.0, 0.0]
    both histc(bins: isize = 100, min: f64 = 0.0, max: f64 = 0.0; out: Option<TensorArg> = None)
        => call(py, [x], out, |[x], out| out.deliver(statistics::histc(x, bins, min, max)?));

    /// How many elements are in each bin, and the edges of the bins: `(hist, bin_edges)`. `bins` is the number of bins of equal
    /// width, in `range` or in that of the elements, or a tensor of edges. With `weight` the weights of the elements are summed,
    /// with `density` the integral over all bins is 1.
    ///
    /// >>> hist, edges = strided.tensor([1.0, 2.0, 1.0]).histogram(3, range=(0.0, 3.0))
    /// >>> hist.tolist(), edges.tolist()
    /// ([0.0, 2.0, 1.0], [0.0, 1.0, 2.0, 3.0])
    both histogram(bins: DataArg; range: Option<FloatPair> = None, weight: Option<TensorArg> = None, density: bool = False, out: Option<TensorPair> = None) -> "_return_types.histogram"
        => histogram(py, x, bins, range, weight, density, out);

    /// How often each number from 0 to the largest element occurs; the sums of their weights, if there are any. The result has
    /// at least `minlength` elements.
    ///
    /// >>> strided.tensor([1, 3, 1]).bincount().tolist()
    /// [0, 2, 0, 1]
    both bincount(weights: Option<TensorArg> = None, minlength: isize = 0) => {
        let weights = cloned(weights);
        call_with_work(py, [x], x.size(), None, move |[x], _| statistics::bincount(x, weights.as_ref(), minlength))
    };
}

/// Values and indices, new or written to a pair of outputs.
fn pair<'a>(
    py: Python<'a>,
    kind: &'static str,
    x: TensorArg<'a>,
    out: Option<TensorPair<'a>>,
    rule: impl FnOnce(&Tensor) -> Result<(Tensor, Tensor)> + Send,
) -> CallResult<Value<'a>> {
    call_pair(py, kind, true, [x], out, |[x], outs| {
        let (values, indices) = rule(x)?;
        outs.deliver([values, indices], true)
    })
}

fn median<'a>(
    py: Python<'a>,
    kind: &'static str,
    rank: LineRank,
    x: TensorArg<'a>,
    dim: Option<isize>,
    keepdim: bool,
    out: Option<OutArg<'a>>,
) -> CallResult<Value<'a>> {
    let Some(dim) = dim else {
        if keepdim {
            return Err(Fail::Type("keepdim is for a dim, and there is none".into()));
        }
        let out = out.map_or(Ok(None), |out| TensorArg::from_arg(out.0, "out").map(Some))?;
        return call(py, [x], out, |[x], out| out.deliver(sort::median(x, rank)?));
    };
    let out = out.map_or(Ok(None), |out| TensorPair::from_arg(out.0, "out").map(Some))?;
    pair(py, kind, x, out, move |x| sort::median_along(x, rank, dim, keepdim))
}

fn quantile<'a>(
    py: Python<'a>,
    x: TensorArg<'a>,
    q: DataArg<'a>,
    dim: Option<isize>,
    keepdim: bool,
    interpolation: Option<TextArg>,
    ignore_nan: bool,
    out: Option<TensorArg<'a>>,
) -> CallResult<Value<'a>> {
    let interpolation = match interpolation.as_ref().map_or("linear", |TextArg(name)| name) {
        "linear" => Interpolation::Linear,
        "lower" => Interpolation::Lower,
        "higher" => Interpolation::Higher,
        "midpoint" => Interpolation::Midpoint,
        "nearest" => Interpolation::Nearest,
        other => {
            let wanted = "'linear', 'lower', 'higher', 'midpoint' or 'nearest'";
            return Err(Fail::Value(format!("interpolation is '{other}', wanted {wanted}")));
        }
    };
    let q = match python_number(q.0)? {
        Some(number) if x.dtype().is_float() => create::full(x.device(), &[], number, x.dtype())?,
        _ => values(q.0, x.dtype())?,
    };
    let request = QuantileRequest { dim, keepdim, interpolation, ignore_nan };
    call(py, [x], out, move |[x], out| statistics::quantile(x, &q, request, out))
}

fn distinct<'a>(py: Python<'a>, x: TensorArg<'a>, request: UniqueRequest) -> CallResult<Value<'a>> {
    let x = Tensor::clone(&x);
    let mut results = detach_if_large(py, work_on(&x), || unique::unique(&x, request))?;
    if results.len() == 1 { wrap(py, results.remove(0)) } else { tuple_of(py, results) }
}

/// Numbers that are looked for among the elements of a tensor.
fn operand(object: Arg<'_>, among: &Tensor) -> CallResult<Tensor> {
    match python_number(object)? {
        Some(number) => Ok(search::number(among.device(), number, among.dtype())?),
        None => Ok(Values::of(object, None)?.tensor),
    }
}

/// Two operands, of which each may be a number.
fn both_operands(first: Arg<'_>, second: Arg<'_>) -> CallResult<(Tensor, Tensor)> {
    if python_number(first)?.is_none() {
        let first = Values::of(first, None)?.tensor;
        let second = operand(second, &first)?;
        return Ok((first, second));
    }
    let second = Values::of(second, None)?.tensor;
    Ok((operand(first, &second)?, second))
}

fn is_right(right: bool, side: Option<TextArg>) -> CallResult<bool> {
    match side.as_ref().map(|TextArg(side)| side.as_str()) {
        None => Ok(right),
        Some("right") => Ok(true),
        Some("left") if right => {
            Err(Fail::Value("side is 'left' and right is True, wanted one of them".into()))
        }
        Some("left") => Ok(false),
        Some(other) => Err(Fail::Value(format!("side is '{other}', wanted 'left' or 'right'"))),
    }
}

/// Two floats: the range of a histogram.
struct FloatPair(f64, f64);

impl<'a> FromArg<'a> for FloatPair {
    const WANTED: &'static str = "a tuple of two floats";
    const STUB: &'static str = "tuple[float, float]";
    fn read(object: Arg<'a>) -> CallResult<Option<FloatPair>> {
        Ok(match object.extract::<Vec<f64>>().as_deref() {
            Ok(&[low, high]) => Some(FloatPair(low, high)),
            _ => None,
        })
    }
}

fn histogram<'a>(
    py: Python<'a>,
    x: TensorArg<'a>,
    bins: DataArg<'a>,
    range: Option<FloatPair>,
    weight: Option<TensorArg<'a>>,
    density: bool,
    out: Option<TensorPair<'a>>,
) -> CallResult<Value<'a>> {
    let edges = match python_number(bins.0)? {
        Some(_) => None,
        None => Some(cloned_tensor(bins.0).map_or_else(|| values(bins.0, x.dtype()), Ok)?),
    };
    let count = if edges.is_none() { isize::from_arg(bins.0, "bins")? } else { 0 };
    if edges.is_some() && range.is_some() {
        return Err(Fail::Type("range is for a number of bins, not for edges".into()));
    }
    let (weight, range) = (cloned(weight), range.map(|FloatPair(low, high)| (low, high)));
    call_pair(py, "histogram", false, [x], out, |[x], outs| {
        let bins = edges.as_ref().map_or(Bins::Count(count, range), Bins::Edges);
        let (counts, edges) = statistics::histogram(x, bins, weight.as_ref(), density)?;
        outs.deliver([counts, edges], false)
    })
}

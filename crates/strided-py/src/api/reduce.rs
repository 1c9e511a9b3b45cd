//! Reductions.

use crate::abi::detach::{detach_if_large, work_on};
use crate::abi::errors::{CallResult, Fail};
use crate::abi::refs::to_py;
use crate::abi::tensor_object::is_tensor;
use crate::abi::{Arg, Value};
use crate::classes::elementwise::operate;
use crate::convert::args::{
    DimOrTensor, DimsOrFlag, FromArg, Ints, OutArg, TensorArg, TensorPair, wrong_type,
};
use crate::convert::results::{call, call_pair};
use pyo3::prelude::*;
use pyo3::types::PyBool;
use strided_core::layout::Dims;
use strided_core::ops::reduce::{self, ReduceRequest, ReductionRow};
use strided_core::ops::table::{OPS, Op};
use strided_core::{DType, Tensor};

methods! { rows(py, x: TensorArg):
    /// Sum of the elements, of all or along dims. Integers are summed as int64, halves as float32.
    ///
    /// >>> strided.arange(6).view(2, 3).sum(0).tolist()
    /// [3, 5, 7]
    /// >>> strided.ones(2, 3).sum(dim=1, keepdim=True).shape
    /// strided.Size([2, 1])
    #[numpy(sum)]
    both sum(dim | axis: Option<Ints> = None, keepdim | keepdims: bool = False; dtype: Option<DType> = None, out: Option<TensorArg> = None)
        => reduce_to_one(py, &reduce::SUM, x, dim, keepdim, dtype, out);

    /// Sum of the elements that are not NaN.
    ///
    /// >>> strided.tensor([1.0, 1e999 * 0, 2.0]).nansum().item()
    /// 3.0
    #[numpy(nansum)]
    both nansum(dim | axis: Option<Ints> = None, keepdim | keepdims: bool = False; dtype: Option<DType> = None, out: Option<TensorArg> = None)
        => reduce_to_one(py, &reduce::NANSUM, x, dim, keepdim, dtype, out);

    /// Product of the elements, of all or along dims. Integers are multiplied as int64.
    ///
    /// >>> strided.tensor([2, 3, 4]).prod().item()
    /// 24
    #[numpy(prod)]
    both prod(dim | axis: Option<Ints> = None, keepdim | keepdims: bool = False; dtype: Option<DType> = None, out: Option<TensorArg> = None)
        => reduce_to_one(py, &reduce::PROD, x, dim, keepdim, dtype, out);

    /// Mean of the elements; integers are computed in the default float.
    ///
    /// >>> strided.arange(6).view(2, 3).mean(1).tolist()
    /// [1.0, 4.0]
    #[numpy(mean)]
    both mean(dim | axis: Option<Ints> = None, keepdim | keepdims: bool = False; dtype: Option<DType> = None, out: Option<TensorArg> = None)
        => reduce_to_one(py, &reduce::MEAN, x, dim, keepdim, dtype, out);

    /// Mean of the elements that are not NaN.
    ///
    /// >>> strided.tensor([1.0, 1e999 * 0, 2.0]).nanmean().item()
    /// 1.5
    #[numpy(nanmean)]
    both nanmean(dim | axis: Option<Ints> = None, keepdim | keepdims: bool = False; dtype: Option<DType> = None, out: Option<TensorArg> = None) => {
        let dims = dims_of(dim);
        let request = ReduceRequest { dims: dims.as_deref(), keepdim, dtype, correction: 0.0 };
        call(py, [x], out, |[x], out| reduce::nanmean(x, &request, out))
    };

    /// The largest element, of all or along dims; NaN if there is one.
    ///
    /// >>> strided.tensor([[1, 5], [7, 2]]).amax(dim=1).tolist()
    /// [5, 7]
    #[numpy(max, amax)]
    both amax(dim | axis: Option<Ints> = None, keepdim | keepdims: bool = False; out: Option<TensorArg> = None)
        => reduce_to_one(py, &reduce::AMAX, x, dim, keepdim, None, out);

    /// The smallest element, of all or along dims; NaN if there is one.
    ///
    /// >>> strided.tensor([[1, 5], [7, 2]]).amin(dim=1).tolist()
    /// [1, 2]
    #[numpy(min, amin)]
    both amin(dim | axis: Option<Ints> = None, keepdim | keepdims: bool = False; out: Option<TensorArg> = None)
        => reduce_to_one(py, &reduce::AMIN, x, dim, keepdim, None, out);

    /// The smallest and the largest element, of all or along a dim: `(min, max)`.
    ///
    /// >>> low, high = strided.tensor([3, 1, 2]).aminmax()
    /// >>> low.item(), high.item()
    /// (1, 3)
    both aminmax(dim | axis: Option<Ints> = None, keepdim | keepdims: bool = False; out: Option<TensorPair> = None) -> "_return_types.aminmax"
        => reduce_to_pair(py, &reduce::AMINMAX, false, x, dim, keepdim, out);

    /// The largest element; with a dim, the largest elements along it and the indices of the first ones, `(values, indices)`;
    /// with another tensor, the larger element of each pair (`maximum`).
    ///
    /// >>> x = strided.tensor([[1, 5], [7, 2]])
    /// >>> x.max().item()
    /// 7
    /// >>> values, indices = x.max(dim=0)
    /// >>> values.tolist(), indices.tolist()
    /// ([7, 5], [1, 0])
    both max(dim | axis | other: Option<DimOrTensor> = None, keepdim | keepdims: bool = False; out: Option<OutArg> = None)
        -> [
            "(dim: None = None, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor",
            "(other: Tensor, *, out: Tensor | None = None) -> Tensor",
            "(dim: SupportsIndex, keepdim: bool = False, *, out: tuple[Tensor, Tensor] | None = None) -> _return_types.max"
        ]
        => extreme(py, [&reduce::AMAX, &reduce::MAX], Op::maximum, x, dim, keepdim, out);

    /// The smallest element; with a dim, the smallest elements along it and the indices of the first ones, `(values, indices)`;
    /// with another tensor, the smaller element of each pair (`minimum`).
    ///
    /// >>> x = strided.tensor([[1, 5], [7, 2]])
    /// >>> x.min(dim=1).indices.tolist()
    /// [0, 1]
    both min(dim | axis | other: Option<DimOrTensor> = None, keepdim | keepdims: bool = False; out: Option<OutArg> = None)
        -> [
            "(dim: None = None, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor",
            "(other: Tensor, *, out: Tensor | None = None) -> Tensor",
            "(dim: SupportsIndex, keepdim: bool = False, *, out: tuple[Tensor, Tensor] | None = None) -> _return_types.min"
        ]
        => extreme(py, [&reduce::AMIN, &reduce::MIN], Op::minimum, x, dim, keepdim, out);

    /// Index of the first largest element, in row-major order or along a dim.
    ///
    /// >>> strided.tensor([[1, 5], [7, 2]]).argmax().item()
    /// 2
    #[numpy(argmax)]
    both argmax(dim | axis: Option<isize> = None, keepdim | keepdims: bool = False; out: Option<TensorArg> = None)
        => reduce_to_one(py, &reduce::ARGMAX, x, dim.map(one_dim), keepdim, None, out);

    /// Index of the first smallest element, in row-major order or along a dim.
    ///
    /// >>> strided.tensor([[1, 5], [7, 2]]).argmin(dim=1).tolist()
    /// [0, 1]
    #[numpy(argmin)]
    both argmin(dim | axis: Option<isize> = None, keepdim | keepdims: bool = False; out: Option<TensorArg> = None)
        => reduce_to_one(py, &reduce::ARGMIN, x, dim.map(one_dim), keepdim, None, out);

    /// Whether all elements are nonzero, of all or along dims; along no dims (`()`), whether each one is.
    ///
    /// >>> strided.tensor([[1, 0], [2, 3]]).all(dim=1).tolist()
    /// [False, True]
    #[numpy(all)]
    both all(dim | axis: Option<Ints> = None, keepdim | keepdims: bool = False; out: Option<TensorArg> = None)
        => reduce_to_truth(py, &reduce::ALL, x, dim, keepdim, out);

    /// Whether any element is nonzero, of all or along dims; along no dims (`()`), whether each one is.
    ///
    /// >>> strided.tensor([[1, 0], [0, 0]]).any(dim=1).tolist()
    /// [True, False]
    #[numpy(any)]
    both any(dim | axis: Option<Ints> = None, keepdim | keepdims: bool = False; out: Option<TensorArg> = None)
        => reduce_to_truth(py, &reduce::ANY, x, dim, keepdim, out);

    /// The number of nonzero elements, of all or along dims.
    ///
    /// >>> strided.tensor([[1, 0], [2, 3]]).count_nonzero(dim=0).tolist()
    /// [2, 1]
    #[numpy(count_nonzero)]
    both count_nonzero(dim | axis: Option<Ints> = None, keepdim | keepdims: bool = False; out: Option<TensorArg> = None)
        => reduce_to_one(py, &reduce::COUNT_NONZERO, x, dim, keepdim, None, out);

    /// Variance: the squared distances from the mean, summed and divided by the number of elements minus `correction`
    /// (1 unless given; 0 where `unbiased` is False).
    ///
    /// >>> strided.tensor([1.0, 2.0, 3.0, 4.0]).var().item()
    /// 1.6666666269302368
    /// >>> strided.tensor([1.0, 2.0, 3.0, 4.0]).var(correction=0).item()
    /// 1.25
    #[numpy(var)]
    both var(dim | axis: Option<DimsOrFlag> = None, unbiased: Option<bool> = None, keepdim | keepdims: bool = False; correction | ddof: Option<f64> = None, out: Option<TensorArg> = None)
        => variance(py, false, x, corrected(dim, unbiased, correction)?, keepdim, out);

    /// Standard deviation: the square root of `var`.
    ///
    /// >>> strided.tensor([1.0, 2.0, 3.0, 4.0]).std(unbiased=False).item()
    /// 1.1180340051651
    #[numpy(std)]
    both std(dim | axis: Option<DimsOrFlag> = None, unbiased: Option<bool> = None, keepdim | keepdims: bool = False; correction | ddof: Option<f64> = None, out: Option<TensorArg> = None)
        => variance(py, true, x, corrected(dim, unbiased, correction)?, keepdim, out);

    /// Variance and mean in one pass: `(var, mean)`.
    ///
    /// >>> var, mean = strided.tensor([1.0, 2.0, 3.0]).var_mean()
    /// >>> var.item(), mean.item()
    /// (1.0, 2.0)
    both var_mean(dim | axis: Option<DimsOrFlag> = None, unbiased: Option<bool> = None, keepdim | keepdims: bool = False; correction | ddof: Option<f64> = None, out: Option<TensorPair> = None) -> "_return_types.var_mean"
        => variance_and_mean(py, false, x, corrected(dim, unbiased, correction)?, keepdim, out);

    /// Standard deviation and mean in one pass: `(std, mean)`.
    ///
    /// >>> std, mean = strided.tensor([1.0, 2.0, 3.0]).std_mean()
    /// >>> std.item(), mean.item()
    /// (1.0, 2.0)
    both std_mean(dim | axis: Option<DimsOrFlag> = None, unbiased: Option<bool> = None, keepdim | keepdims: bool = False; correction | ddof: Option<f64> = None, out: Option<TensorPair> = None) -> "_return_types.std_mean"
        => variance_and_mean(py, true, x, corrected(dim, unbiased, correction)?, keepdim, out);

    /// The p-norm of all elements as one vector, or along dims. `p` is 2 by default, and may be any number, infinity or "fro" (2).
    ///
    /// >>> x = strided.tensor([3.0, -4.0])
    /// >>> x.norm().item(), x.norm(1).item(), x.norm(1e999).item(), x.norm(0).item()
    /// (5.0, 7.0, 4.0, 2.0)
    both norm(p: Option<NormOrder> = None, dim | axis: Option<Ints> = None, keepdim | keepdims: bool = False; dtype: Option<DType> = None, out: Option<TensorArg> = None) => {
        let p = p.map_or(2.0, |NormOrder(p)| p);
        let dims = dims_of(dim);
        let request = ReduceRequest { dims: dims.as_deref(), keepdim, dtype, correction: 0.0 };
        call(py, [x], out, |[x], out| reduce::norm(x, p, &request, out))
    };

    /// The p-norm of the difference of two tensors.
    ///
    /// >>> strided.tensor([1.0, 5.0]).dist(strided.tensor([4.0, 1.0])).item()
    /// 5.0
    both dist(other: TensorArg, p: Option<NormOrder> = None) => {
        let p = p.map_or(2.0, |NormOrder(p)| p);
        call(py, [x, other], None, |[x, y], _| reduce::dist(x, y, p))
    };

    /// Logarithm of the sum of the exponentials, of all or along dims, without intermediate overflow; for complex numbers the
    /// principal value.
    ///
    /// >>> strided.tensor([1000.0, 1000.0]).logsumexp(0).item()
    /// 1000.6931762695312
    both logsumexp(dim | axis: Option<Ints> = None, keepdim | keepdims: bool = False; out: Option<TensorArg> = None)
        => reduce_to_one(py, &reduce::LOGSUMEXP, x, dim, keepdim, None, out);

    /// Whether two tensors have the same shape and equal elements, as a bool.
    ///
    /// >>> strided.tensor([1, 2]).equal(strided.tensor([1, 2])), strided.equal(strided.zeros(2), strided.zeros(3))
    /// (True, False)
    both equal(other: TensorArg) -> "bool" => {
        let (x, other) = (Tensor::clone(&x), Tensor::clone(&other));
        to_py(py, detach_if_large(py, work_on(&x), || reduce::equal(&x, &other))?)
    };
}

/// The order of a norm.
struct NormOrder(f64);

impl<'a> FromArg<'a> for NormOrder {
    const WANTED: &'static str = "a number or 'fro'";
    const STUB: &'static str = "SupportsFloat | Literal[\"fro\"]";
    fn read(object: Arg<'a>) -> CallResult<Option<NormOrder>> {
        if let Some(p) = f64::read(object)? {
            return Ok(Some(NormOrder(p)));
        }
        match object.extract::<String>() {
            Ok(name) if name == "fro" => Ok(Some(NormOrder(2.0))),
            Ok(name) => Err(Fail::Value(format!("p is '{name}', wanted {}", Self::WANTED))),
            Err(_) => Ok(None),
        }
    }
}

/// An empty list of dims means all of them, as in PyTorch.
fn dims_of(dims: Option<Ints>) -> Option<Dims> {
    dims.map(|dims| dims.ints).filter(|dims| !dims.is_empty())
}

fn one_dim(dim: isize) -> Ints {
    Ints { ints: Dims::from_slice(&[dim]), sequence: false }
}

/// Runs a reduction with one result.
fn reduce_to_one<'a>(
    py: Python<'a>,
    row: &ReductionRow,
    x: TensorArg<'a>,
    dims: Option<Ints>,
    keepdim: bool,
    dtype: Option<DType>,
    out: Option<TensorArg<'a>>,
) -> CallResult<Value<'a>> {
    let dims = dims_of(dims);
    let request = ReduceRequest { dims: dims.as_deref(), keepdim, dtype, correction: 0.0 };
    call(py, [x], out, |[x], out| reduce::reduce(row, x, &request, out))
}

/// `all` and `any`, for which an empty list of dims means none of them, as in PyTorch.
fn reduce_to_truth<'a>(
    py: Python<'a>,
    row: &ReductionRow,
    x: TensorArg<'a>,
    dims: Option<Ints>,
    keepdim: bool,
    out: Option<TensorArg<'a>>,
) -> CallResult<Value<'a>> {
    let dims = dims.map(|dims| dims.ints);
    let request = ReduceRequest { dims: dims.as_deref(), keepdim, dtype: None, correction: 0.0 };
    call(py, [x], out, |[x], out| reduce::reduce(row, x, &request, out))
}

/// Runs a reduction with two results.
fn reduce_to_pair<'a>(
    py: Python<'a>,
    row: &ReductionRow,
    positions: bool,
    x: TensorArg<'a>,
    dims: Option<Ints>,
    keepdim: bool,
    out: Option<TensorPair<'a>>,
) -> CallResult<Value<'a>> {
    let dims = dims_of(dims);
    let request = ReduceRequest { dims: dims.as_deref(), keepdim, dtype: None, correction: 0.0 };
    call_pair(py, row.name, positions, [x], out, |[x], outs| reduce::reduce_to_pair(row, x, &request, outs))
}

/// `max` and `min`: of all elements, along a dim, or of pairs.
fn extreme<'a>(
    py: Python<'a>,
    [all, along]: [&ReductionRow; 2],
    pairs: Op,
    x: TensorArg<'a>,
    dim: Option<DimOrTensor<'a>>,
    keepdim: bool,
    out: Option<OutArg<'a>>,
) -> CallResult<Value<'a>> {
    let one_out = || out.map_or(Ok(None), |out| TensorArg::from_arg(out.0, "out").map(Some));
    let Some(DimOrTensor(object)) = dim else {
        return reduce_to_one(py, all, x, None, keepdim, None, one_out()?);
    };
    if is_tensor(object) {
        if keepdim {
            return Err(Fail::Type("keepdim is for a dim, not for another Tensor".into()));
        }
        let out = one_out()?.map(TensorArg::object);
        return operate(py, &OPS[pairs as usize], x.object(), object, out);
    }
    let Some(dim) = isize::read(object)? else {
        return Err(wrong_type(object, "dim", "an int or a Tensor"));
    };
    let out = out.map_or(Ok(None), |out| TensorPair::from_arg(out.0, "out").map(Some))?;
    reduce_to_pair(py, along, true, x, Some(one_dim(dim)), keepdim, out)
}

/// The dims and the correction of a variance. A bool in the position of the dims is `unbiased`.
fn corrected(
    dim: Option<DimsOrFlag<'_>>,
    unbiased: Option<bool>,
    correction: Option<f64>,
) -> CallResult<(Option<Dims>, f64)> {
    let (mut dims, mut unbiased) = (None, unbiased);
    if let Some(DimsOrFlag(object)) = dim {
        if let (Ok(flag), None) = (object.cast::<PyBool>(), unbiased) {
            unbiased = Some(flag.is_true());
        } else {
            dims = dims_of(Some(Ints::from_arg(object, "dim")?));
        }
    }
    match (unbiased, correction) {
        (Some(_), Some(_)) => Err(Fail::Type("unbiased and correction exclude each other".into())),
        (None, correction) => Ok((dims, correction.unwrap_or(1.0))),
        (Some(unbiased), None) => Ok((dims, unbiased as u8 as f64)),
    }
}

fn variance<'a>(
    py: Python<'a>,
    root: bool,
    x: TensorArg<'a>,
    (dims, correction): (Option<Dims>, f64),
    keepdim: bool,
    out: Option<TensorArg<'a>>,
) -> CallResult<Value<'a>> {
    let request = ReduceRequest { dims: dims.as_deref(), keepdim, dtype: None, correction };
    call(py, [x], out, |[x], out| reduce::variance(root, x, &request, out))
}

fn variance_and_mean<'a>(
    py: Python<'a>,
    root: bool,
    x: TensorArg<'a>,
    (dims, correction): (Option<Dims>, f64),
    keepdim: bool,
    out: Option<TensorPair<'a>>,
) -> CallResult<Value<'a>> {
    let request = ReduceRequest { dims: dims.as_deref(), keepdim, dtype: None, correction };
    let name = if root { "std_mean" } else { "var_mean" };
    call_pair(py, name, false, [x], out, |[x], outs| reduce::variance_and_mean(root, x, &request, outs))
}

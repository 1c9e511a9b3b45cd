//! Elements chosen by an index: `index_select`, `gather`, `scatter`, `take` and their relatives.

use crate::abi::Value;
use crate::abi::errors::{CallResult, Fail};
use crate::convert::args::{DataArg, TensorArg};
use crate::convert::in_place::Target;
use crate::convert::keys::{ElementReduction, IndexArg, KeysArg, NumberArg, ScatterReduce, SliceReduction};
use crate::convert::numbers::python_number;
use crate::convert::results::{call_with_work, in_place};
use crate::convert::values::values;
use pyo3::Python;
use strided_core::backend::index::ScatterRule;
use strided_core::ops::index::along::{self, DimIndex, IndexForm};
use strided_core::ops::index::keys;
use strided_core::ops::{Operand, OwnedOperand, copy, work};
use strided_core::{DType, Result, Scalar, Tensor};

methods! { rows(py, x: TensorArg):
    /// The slices of a dim at some indices: a copy.
    ///
    /// >>> x = strided.arange(6).view(3, 2)
    /// >>> strided.index_select(x, 0, strided.tensor([2, 0])).tolist()
    /// [[4, 5], [0, 1]]
    both index_select(dim | axis: isize, index: IndexArg; out: Option<TensorArg> = None)
        => pick(py, x, dim, index, IndexForm::Slices, out);

    /// The tensor with the slices of a dim at some indices replaced by those of `source`.
    ///
    /// >>> strided.zeros(3).index_copy(0, strided.tensor([2, 0]), strided.tensor([5.0, 7.0])).tolist()
    /// [7.0, 0.0, 5.0]
    both index_copy(dim | axis: isize, index: IndexArg, source | src: DataArg; out: Option<TensorArg> = None) also index_copy_ => {
        let write = Write::of(x.dtype(), dim, index, source, IndexForm::Slices, ScatterRule::Replace)?;
        x.modify(py, out, copy::clone, move |x| write.write(x))
    };

    /// The tensor with the slices of `source`, times `alpha`, added to those at some indices of a dim. An index that occurs
    /// several times adds each of its slices.
    ///
    /// >>> strided.zeros(3).index_add(0, strided.tensor([2, 2]), strided.tensor([5.0, 7.0])).tolist()
    /// [0.0, 0.0, 12.0]
    both index_add(dim | axis: isize, index: IndexArg, source | src: DataArg; alpha: Option<Scalar> = None, out: Option<TensorArg> = None) also index_add_ => {
        let (source, alpha) = (values(source.0, x.dtype())?, alpha.unwrap_or(Scalar::Int(1)));
        x.modify(py, out, copy::clone, move |x| along::index_add(x, slices(dim, &index.0), &source, alpha))
    };

    /// The tensor with the slices at some indices of a dim set to a number.
    ///
    /// >>> strided.zeros(3).index_fill(0, strided.tensor([2, 0]), 5).tolist()
    /// [5.0, 0.0, 5.0]
    both index_fill(dim | axis: isize, index: IndexArg, value: NumberArg) also index_fill_ => {
        let value = value.0;
        x.modify(py, None, copy::clone, move |x| along::write(x, slices(dim, &index.0), Operand::Scalar(value), ScatterRule::Replace))
    };

    /// The tensor with the slices of `source` reduced into those at some indices of a dim: their product, mean, maximum or
    /// minimum, which includes the tensor's own element unless `include_self` is False.
    ///
    /// >>> strided.ones(2).index_reduce(0, strided.tensor([1, 1]), strided.tensor([5.0, 7.0]), "prod").tolist()
    /// [1.0, 35.0]
    both index_reduce(dim | axis: isize, index: IndexArg, source | src: DataArg, reduce: SliceReduction; include_self: bool = True, out: Option<TensorArg> = None) also index_reduce_ => {
        let (source, reduce) = (values(source.0, x.dtype())?, reduce.0);
        x.modify(py, out, copy::clone, move |x| along::reduce(x, slices(dim, &index.0), &source, reduce, include_self))
    };

    /// The tensor with `values` written to the elements that a tuple of index tensors chooses, as by `x[indices] = values`.
    /// With `accumulate` the values are added, and an element that is chosen several times gets all of them.
    ///
    /// >>> i = strided.tensor([1, 1])
    /// >>> strided.zeros(3).index_put((i,), strided.tensor([5.0, 7.0]), accumulate=True).tolist()
    /// [0.0, 12.0, 0.0]
    both index_put(indices: KeysArg, values: DataArg, accumulate: bool = False) also index_put_ => {
        let put = Put::of(x.dtype(), indices, values, accumulate)?;
        x.modify(py, None, copy::clone, move |x| put.write(x))
    };

    /// The elements at linear row-major indices, in the shape of the index. Negative indices count from the end.
    ///
    /// >>> strided.tensor([[4, 5], [6, 7]]).take(strided.tensor([3, 0, -2])).tolist()
    /// [7, 4, 6]
    both take(index: IndexArg; out: Option<TensorArg> = None)
        => call_with_work(py, [x], 2 * index.0.size(), out, move |[x], out| out.deliver(along::take(x, &index.0)?));

    /// The tensor with the elements of `source` written to linear row-major indices, or added with `accumulate`.
    ///
    /// >>> strided.zeros(2, 2).put(strided.tensor([3, 0]), strided.tensor([5.0, 7.0])).tolist()
    /// [[7.0, 0.0], [0.0, 5.0]]
    both put(index: IndexArg, source: DataArg, accumulate: bool = False) also put_ => {
        let source = values(source.0, x.dtype())?;
        x.modify(py, None, copy::clone, move |x| along::put(x, &index.0, &source, accumulate))
    };

    /// The elements that an index chooses along a dim, each at its own place along the other dims. The index has as many
    /// dims as the tensor, and the result has its shape.
    ///
    /// >>> x = strided.tensor([[1, 2], [3, 4]])
    /// >>> x.gather(1, strided.tensor([[0, 0], [1, 0]])).tolist()
    /// [[1, 1], [4, 3]]
    both gather(dim | axis: isize, index: IndexArg; sparse_grad: bool = False, out: Option<TensorArg> = None)
        => pick(py, x, dim, index, IndexForm::Elements, out);

    /// `gather` whose operands are broadcast along the other dims, and in which negative indices count from the end.
    /// Without a dim, both are flattened.
    ///
    /// >>> x = strided.tensor([[30, 10, 20], [40, 60, 50]])
    /// >>> x.take_along_dim(x.argmax(1, keepdim=True), 1).tolist()
    /// [[30], [60]]
    both take_along_dim(indices: IndexArg, dim | axis: Option<isize> = None; out: Option<TensorArg> = None)
        => call_with_work(py, [x], work::taken_along(&x, &indices.0, dim), out, move |[x], out| out.deliver(along::take_along_dim(x, &indices.0, dim)?));

    /// The tensor with the elements of `src`, or a number, written to the places that an index chooses along a dim. With
    /// `reduce` they are added to, or multiplied with, the elements there.
    ///
    /// >>> i = strided.tensor([[0, 2]])
    /// >>> strided.zeros(1, 3).scatter(1, i, strided.tensor([[5.0, 7.0]])).tolist()
    /// [[5.0, 0.0, 7.0]]
    both scatter(dim | axis: isize, index: IndexArg, src | value: DataArg; reduce: Option<ScatterReduce> = None, out: Option<TensorArg> = None) also scatter_ => {
        let write = Write::of(x.dtype(), dim, index, src, IndexForm::Elements, rule_of(reduce))?;
        x.modify(py, out, copy::clone, move |x| write.write(x))
    };

    /// The tensor with the elements of `src` added at the places that an index chooses along a dim.
    ///
    /// >>> i = strided.tensor([[0, 0]])
    /// >>> strided.ones(1, 3).scatter_add(1, i, strided.tensor([[5.0, 7.0]])).tolist()
    /// [[13.0, 1.0, 1.0]]
    both scatter_add(dim | axis: isize, index: IndexArg, src: DataArg; out: Option<TensorArg> = None) also scatter_add_ => {
        let write = Write::of(x.dtype(), dim, index, src, IndexForm::Elements, ScatterRule::Add)?;
        x.modify(py, out, copy::clone, move |x| write.write(x))
    };

    /// The tensor with the elements of `src` reduced at the places that an index chooses along a dim: their sum, product,
    /// mean, maximum or minimum, which includes the tensor's own element unless `include_self` is False.
    ///
    /// >>> i = strided.tensor([0, 0, 1])
    /// >>> strided.ones(3).scatter_reduce(0, i, strided.tensor([5.0, 8.0, 9.0]), "mean", include_self=False).tolist()
    /// [6.5, 9.0, 1.0]
    both scatter_reduce(dim | axis: isize, index: IndexArg, src: DataArg, reduce: ElementReduction; include_self: bool = True, out: Option<TensorArg> = None) also scatter_reduce_ => {
        let (source, reduce) = (values(src.0, x.dtype())?, reduce.0);
        x.modify(py, out, copy::clone, move |x| along::reduce(x, elements(dim, &index.0), &source, reduce, include_self))
    };

    /// A copy of the tensor with `src` written to one index of a dim.
    ///
    /// >>> strided.zeros(2, 2).select_scatter(strided.ones(2), 0, 1).tolist()
    /// [[0.0, 0.0], [1.0, 1.0]]
    both select_scatter(src: DataArg, dim | axis: isize, index: isize; out: Option<TensorArg> = None) => {
        let source = values(src.0, x.dtype())?;
        x.modify(py, out, copy::clone, move |x| write_part(x, x.layout().select(dim, index), &source))
    };

    /// A copy of the tensor with `src` written to a slice of a dim.
    ///
    /// >>> strided.zeros(4).slice_scatter(strided.ones(2), 0, start=1, step=2).tolist()
    /// [0.0, 1.0, 0.0, 1.0]
    both slice_scatter(src: DataArg, dim | axis: isize = 0, start: Option<isize> = None, end: Option<isize> = None, step: isize = 1; out: Option<TensorArg> = None) => {
        let source = values(src.0, x.dtype())?;
        if step < 1 {
            return Err(Fail::Value(format!("step is {step}, wanted 1 or more")));
        }
        x.modify(py, out, copy::clone, move |x| write_part(x, x.layout().slice(dim, start, end, step), &source))
    };

    /// A copy of the tensor with `src` written to a diagonal of two dims.
    ///
    /// >>> strided.zeros(2, 2).diagonal_scatter(strided.tensor([5.0, 7.0])).tolist()
    /// [[5.0, 0.0], [0.0, 7.0]]
    both diagonal_scatter(src: DataArg, offset: isize = 0, dim1 | axis1: isize = 0, dim2 | axis2: isize = 1; out: Option<TensorArg> = None) => {
        let source = values(src.0, x.dtype())?;
        x.modify(py, out, copy::clone, move |x| write_part(x, x.layout().diagonal(offset, dim1, dim2), &source))
    };

    /// Sets the main diagonal to a number. A tensor of three dims or more must have equal sizes. With `wrap` the diagonal
    /// of a tall matrix starts again after every full square and one row.
    ///
    /// >>> strided.zeros(2, 3).fill_diagonal_(5).tolist()
    /// [[5.0, 0.0, 0.0], [0.0, 5.0, 0.0]]
    method fill_diagonal_(fill_value: Scalar, wrap: bool = False) => in_place(py, x, move |x| along::fill_diagonal(x, fill_value, wrap));
}

fn slices(dim: isize, index: &Tensor) -> DimIndex<'_> {
    DimIndex { dim, index, form: IndexForm::Slices }
}

fn elements(dim: isize, index: &Tensor) -> DimIndex<'_> {
    DimIndex { dim, index, form: IndexForm::Elements }
}

fn rule_of(reduce: Option<ScatterReduce>) -> ScatterRule {
    reduce.map_or(ScatterRule::Replace, |reduce| reduce.0)
}

/// The elements that an index chooses along a dim.
fn pick<'a>(
    py: Python<'a>,
    x: TensorArg<'a>,
    dim: isize,
    index: IndexArg,
    form: IndexForm,
    out: Option<TensorArg<'a>>,
) -> CallResult<Value<'a>> {
    let work = work::picked(&x, DimIndex { dim, index: &index.0, form });
    call_with_work(py, [x], work, out, move |[x], out| {
        out.deliver(along::pick(x, DimIndex { dim, index: &index.0, form })?)
    })
}

/// Writes to a view of a tensor. The source has the shape of the view.
fn write_part(x: &Tensor, part: Result<strided_core::Layout>, source: &Tensor) -> Result<()> {
    let part = x.with_layout(part?);
    if !source.layout().same_shape(part.layout()) {
        let (got, wanted) = (source.layout().shape_text(), part.layout().shape_text());
        return Err(strided_core::Error::shape("src", got, wanted));
    }
    copy::copy(&part, source)
}

/// The arguments of a write along a dim.
struct Write {
    dim: isize,
    index: Tensor,
    source: OwnedOperand,
    form: IndexForm,
    rule: ScatterRule,
}

/// The values of an argument.
fn read_source(dtype: DType, source: DataArg<'_>) -> CallResult<OwnedOperand> {
    Ok(match python_number(source.0)? {
        Some(number) => OwnedOperand::Scalar(number),
        None => OwnedOperand::Tensor(values(source.0, dtype)?),
    })
}

impl Write {
    fn of(
        dtype: DType,
        dim: isize,
        IndexArg(index): IndexArg,
        source: DataArg<'_>,
        form: IndexForm,
        rule: ScatterRule,
    ) -> CallResult<Write> {
        Ok(Write { dim, index, source: read_source(dtype, source)?, form, rule })
    }

    fn write(&self, x: &Tensor) -> Result<()> {
        let index = DimIndex { dim: self.dim, index: &self.index, form: self.form };
        along::write(x, index, self.source.borrow(), self.rule)
    }
}

/// The arguments of `index_put`.
struct Put {
    keys: Vec<keys::Key>,
    source: OwnedOperand,
    rule: ScatterRule,
}

impl Put {
    fn of(dtype: DType, KeysArg(keys): KeysArg, source: DataArg<'_>, accumulate: bool) -> CallResult<Put> {
        let rule = if accumulate { ScatterRule::Add } else { ScatterRule::Replace };
        Ok(Put { keys, source: read_source(dtype, source)?, rule })
    }

    fn write(&self, x: &Tensor) -> Result<()> {
        keys::put(x, &self.keys, self.source.borrow(), self.rule)
    }
}

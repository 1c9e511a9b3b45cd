//! Indices along one dim (`index_select`, `index_add_`, `gather`, `scatter_`, …), and through all elements (`take`, `put_`).
//!
//! `index_*` have an index of one dim: it chooses slices. `gather` and `scatter` have an index of the tensor's rank: each
//! element of it chooses an element, at its own place along the other dims.

use super::{CheckedIndex, IndexPlan, IndexedDim, Negatives, RangeCheck, as_int64, check_index, try_gather};
use crate::backend::index::{self, ScatterRule};
use crate::dtype::DType;
use crate::error::{Error, Problem, Result};
use crate::layout::{Dims, Layout, Mode, broadcast};
use crate::ops::Operand;
use crate::ops::elementwise::{apply, apply_into};
use crate::ops::table::Op;
use crate::ops::{copy, create, output};
use crate::scalar::Scalar;
use crate::storage::Fill;
use crate::tensor::{Tensor, shares_memory};

/// A reduction of the elements that fall on one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceReduction {
    Sum,
    Prod,
    Mean,
    Amax,
    Amin,
}

/// An index along one dim of a tensor.
#[derive(Clone, Copy)]
pub struct DimIndex<'a> {
    pub dim: isize,
    pub index: &'a Tensor,
    pub form: IndexForm,
}

/// What an element of an index chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexForm {
    /// A slice: `index_*`, with an index of one dim.
    Slices,
    /// An element: `gather` and `scatter`, with an index of the tensor's rank.
    Elements,
}

/// A tensor, with one dim if it has none: indices treat a number as a vector of one element.
fn at_least_1d(x: &Tensor) -> Result<Tensor> {
    if x.layout().rank() > 0 { Ok(x.clone()) } else { Ok(x.with_layout(x.layout().unsqueeze(0)?)) }
}

#[cold]
fn wrong_shape(argument: &'static str, got: &Layout, wanted: String) -> Error {
    Error::new(Problem::Shape { argument, got: got.shape_text(), wanted })
}

impl DimIndex<'_> {
    /// Plans the elements of `x` that the index chooses.
    fn plan(self, x: &Tensor, check: RangeCheck) -> Result<IndexPlan> {
        match self.form {
            IndexForm::Slices => plan_slices(x, self.index, self.dim, check),
            IndexForm::Elements => plan_elements(x, self.index, self.dim, Negatives::Refuse, check),
        }
    }

    /// The source, cropped to the shape of the positions if `scatter` takes a larger one. Refuses other shapes.
    fn crop_source(self, positions: &Layout, source: &Tensor) -> Result<Tensor> {
        let source = at_least_1d(source)?;
        let (got, wanted) = (source.layout(), positions.shape());
        if got.same_shape(positions) {
            return Ok(source);
        }
        if self.form == IndexForm::Slices {
            let wanted = format!("{}, as the index demands", positions.shape_text());
            return Err(wrong_shape("source", got, wanted));
        }
        if got.rank() != wanted.len()
            || got.modes().iter().zip(&wanted).any(|(mode, size)| mode.extent < *size)
        {
            let wanted = format!("at least that of index, {}", positions.shape_text());
            return Err(wrong_shape("src", got, wanted));
        }
        let part = Layout::strided(&wanted, &got.stride(), got.offset())?;
        Ok(source.with_layout(part))
    }
}

fn plan_slices(x: &Tensor, index: &Tensor, dim: isize, check: RangeCheck) -> Result<IndexPlan> {
    let (x, index) = (at_least_1d(x)?, at_least_1d(index)?);
    let (layout, dim) = (x.layout(), x.layout().wrap_dim(dim)?);
    if index.layout().rank() != 1 {
        return Err(wrong_shape("index", index.layout(), "one dim".into()));
    }
    let Mode { extent, stride } = layout.modes()[dim];
    let index = check_index(&index, IndexedDim { dim, extent, layout }, stride, Negatives::Refuse, check)?;
    let (mut shape, mut strides) = (layout.shape(), layout.stride());
    (shape[dim], strides[dim]) = (index.tensor.size() as isize, 0);
    let base = Layout::strided(&shape, &strides, layout.offset())?;
    let mut index_strides = Dims::from_elem(0, shape.len());
    index_strides[dim] = index.tensor.layout().stride()[0];
    let index_layout = Layout::strided(&shape, &index_strides, index.tensor.layout().offset())?;
    Ok(IndexPlan::of_one(&x, base, &index, index_layout))
}

fn plan_elements(
    x: &Tensor,
    index: &Tensor,
    dim: isize,
    negatives: Negatives,
    check: RangeCheck,
) -> Result<IndexPlan> {
    let (x, index) = (at_least_1d(x)?, at_least_1d(index)?);
    let (layout, dim) = (x.layout(), x.layout().wrap_dim(dim)?);
    if index.size() == 0 {
        // As in PyTorch, an index without elements fits any tensor.
        let base = index.layout().row_major_like();
        let nothing = CheckedIndex { tensor: as_int64(&index)?, extent: 1, stride: 0, wraps: false };
        return Ok(IndexPlan::of_elements(&x, base, nothing));
    }
    if index.layout().rank() != layout.rank() {
        let wanted = format!("{} dims, as many as input", layout.rank());
        return Err(wrong_shape("index", index.layout(), wanted));
    }
    for (at, (mode, limit)) in index.layout().modes().iter().zip(layout.modes()).enumerate() {
        if at != dim && mode.extent > limit.extent {
            let shape = layout.shape_text();
            let wanted = format!("at most extent {} of dim {at} (input has shape {shape})", limit.extent);
            return Err(wrong_shape("index", index.layout(), wanted));
        }
    }
    let Mode { extent, stride } = layout.modes()[dim];
    let mut strides = layout.stride();
    strides[dim] = 0;
    let base = Layout::strided(&index.layout().shape(), &strides, layout.offset())?;
    let index = check_index(&index, IndexedDim { dim, extent, layout }, stride, negatives, check)?;
    Ok(IndexPlan::of_elements(&x, base, index))
}

/// `index_select` and `gather`: the chosen elements. The result has the shape of the index where that chooses elements;
/// one slice of a number is a number.
pub fn pick(x: &Tensor, index: DimIndex) -> Result<Tensor> {
    let operation = match index.form {
        IndexForm::Slices => "index_select",
        IndexForm::Elements => "gather",
    };
    let gathered = try_gather(operation, |check| index.plan(x, check))?;
    let layout = match index.form {
        IndexForm::Elements => gathered.layout().try_view(&index.index.layout().shape()),
        IndexForm::Slices if x.layout().rank() == 0 => gathered.layout().try_view(&[]),
        IndexForm::Slices => None,
    };
    Ok(match layout {
        Some(layout) => gathered.with_layout(layout),
        None => gathered,
    })
}

/// Writes values to the chosen elements, or combines them: `index_copy_`, `index_fill_`, `index_add_`, `scatter_`,
/// `scatter_add_`.
pub fn write(x: &Tensor, index: DimIndex, values: Operand, rule: ScatterRule) -> Result<()> {
    let plan = index.plan(x, RangeCheck::First)?;
    let operation = match (index.form, rule) {
        (IndexForm::Slices, ScatterRule::Replace) => "index_copy_",
        (IndexForm::Slices, _) => "index_add_",
        (IndexForm::Elements, ScatterRule::Replace) => "scatter_",
        (IndexForm::Elements, _) => "scatter_add_",
    };
    match values {
        Operand::Tensor(source) => {
            output::check_category(x, source.dtype())?;
            let source = index.crop_source(&plan.base, source)?;
            plan.scatter(operation, &source, rule)
        }
        Operand::Scalar(value) => {
            plan.scatter(operation, &create::full(x.device(), &[], value, x.dtype())?, rule)
        }
    }
}

/// `index_add_`: adds `alpha` times the source.
pub fn index_add(x: &Tensor, index: DimIndex, source: &Tensor, alpha: Scalar) -> Result<()> {
    if alpha == Scalar::Int(1) {
        return write(x, index, Operand::Tensor(source), ScatterRule::Add);
    }
    let scaled = apply(Op::mul, &[Operand::Tensor(source), Operand::Scalar(alpha)])?;
    write(x, index, Operand::Tensor(&scaled), ScatterRule::Add)
}

/// `index_reduce_` and `scatter_reduce_`: reduces the elements of the source that fall on one place, together with the
/// element that is there if `include_self`.
pub fn reduce(
    x: &Tensor,
    index: DimIndex,
    source: &Tensor,
    reduction: PlaceReduction,
    include_self: bool,
) -> Result<()> {
    let rule = match reduction {
        PlaceReduction::Sum | PlaceReduction::Mean => ScatterRule::Add,
        PlaceReduction::Prod => ScatterRule::Multiply,
        PlaceReduction::Amax => ScatterRule::Max,
        PlaceReduction::Amin => ScatterRule::Min,
    };
    let is_ordered = matches!(rule, ScatterRule::Max | ScatterRule::Min);
    let refused =
        is_ordered && x.dtype().is_complex() || reduction == PlaceReduction::Mean && x.dtype() == DType::Bool;
    if refused {
        let wanted = if is_ordered { "a real dtype" } else { "a dtype other than bool" };
        return Err(Error::dtype("input", x.dtype(), wanted));
    }
    output::check_category(x, source.dtype())?;
    let plan = index.plan(x, RangeCheck::First)?;
    let source = index.crop_source(&plan.base, source)?;
    // A tensor that is the source too must not change before it is read.
    let source = if shares_memory(x, &source) { copy::clone(&source)? } else { source };
    let counts = match reduction {
        PlaceReduction::Mean => Some(counts(x, index, include_self)?),
        _ => None,
    };
    if !include_self {
        let identity = match reduction {
            PlaceReduction::Sum | PlaceReduction::Mean => Scalar::Bool(false),
            PlaceReduction::Prod => Scalar::Bool(true),
            PlaceReduction::Amax if !x.dtype().is_int() => Scalar::Float(f64::NEG_INFINITY),
            PlaceReduction::Amin if !x.dtype().is_int() => Scalar::Float(f64::INFINITY),
            PlaceReduction::Amax => x.dtype().lowest(),
            PlaceReduction::Amin => x.dtype().largest(),
        };
        index.plan(x, RangeCheck::First)?.scatter(
            "scatter_reduce_",
            &create::full(x.device(), &[], identity, x.dtype())?,
            ScatterRule::Replace,
        )?;
    }
    plan.scatter("scatter_reduce_", &source, rule)?;
    match counts {
        Some(counts) => divide(x, &counts),
        None => Ok(()),
    }
}

/// How many elements are reduced at each place, and 1 where there are none.
fn counts(x: &Tensor, index: DimIndex, include_self: bool) -> Result<Tensor> {
    let shape = x.layout().shape();
    let counts = create::full(x.device(), &shape, Scalar::Bool(include_self), DType::I64)?;
    index.plan(&counts, RangeCheck::First)?.scatter(
        "scatter_reduce_",
        &create::full(x.device(), &[], Scalar::Int(1), DType::I64)?,
        ScatterRule::Add,
    )?;
    apply_into(Op::maximum, &[Operand::Tensor(&counts), Operand::Scalar(Scalar::Int(1))], &counts)?;
    Ok(counts)
}

/// Divides sums by counts; integers are rounded down.
fn divide(x: &Tensor, counts: &Tensor) -> Result<()> {
    if !x.dtype().is_int() {
        return apply_into(Op::div, &[Operand::Tensor(x), Operand::Tensor(counts)], x);
    }
    // int64 and uint64 have no common dtype.
    let converted;
    let counts = if x.dtype() == DType::U64 {
        converted = copy::to_dtype(counts, DType::U64)?;
        &converted
    } else {
        counts
    };
    copy::copy(x, &apply(Op::floor_divide, &[Operand::Tensor(x), Operand::Tensor(counts)])?)
}

/// `take_along_dim`: a gather whose operands are broadcast along the other dims. Negative indices count from the end.
pub fn take_along_dim(x: &Tensor, index: &Tensor, dim: Option<isize>) -> Result<Tensor> {
    let Some(dim) = dim else {
        let (x, index) = (copy::reshape(x, &[-1])?, copy::reshape(index, &[-1])?);
        return try_gather("take_along_dim", |check| plan_elements(&x, &index, 0, Negatives::Wrap, check));
    };
    let (left, right) = (x.layout(), index.layout());
    if left.rank() != right.rank() {
        let wanted = format!("{} dims, as many as input", left.rank());
        return Err(wrong_shape("indices", right, wanted));
    }
    let at = left.wrap_dim(dim)?;
    let (mut x_shape, mut index_shape) = (left.shape(), right.shape());
    (x_shape[at], index_shape[at]) = (1, 1);
    let shapes = [Layout::row_major(&x_shape)?, Layout::row_major(&index_shape)?];
    let Ok(common) = broadcast(&[&shapes[0], &shapes[1]]) else {
        let wanted = format!("one that broadcasts to input, {}, along all dims but {at}", left.shape_text());
        return Err(wrong_shape("indices", right, wanted));
    };
    let expanded = |tensor: &Tensor| {
        let mut shape = common.clone();
        shape[at] = tensor.layout().modes()[at].extent;
        Ok::<_, Error>(tensor.with_layout(tensor.layout().expand(&shape)?))
    };
    let (x, index) = (expanded(x)?, expanded(index)?);
    try_gather("take_along_dim", |check| plan_elements(&x, &index, dim, Negatives::Wrap, check))
}

/// Where linear row-major indices lead in a tensor, in the shape of the index. Negative ones count from the end.
fn flat_plan(x: &Tensor, index: &Tensor, check: RangeCheck) -> Result<IndexPlan> {
    let (layout, shape) = (x.layout(), index.layout().shape());
    let extent = layout.size() as isize;
    let dim = IndexedDim { dim: 0, extent, layout };
    let base = Layout::strided(&shape, &Dims::from_elem(0, shape.len()), layout.offset())?;
    // The elements follow each other with one stride, or each index is split into one for each dim.
    if let Some(stride) = layout.try_view(&[extent]).map(|flat| flat.modes()[0].stride) {
        return Ok(IndexPlan::of_elements(x, base, check_index(index, dim, stride, Negatives::Wrap, check)?));
    }
    let tensor = check_index(index, dim, 0, Negatives::Wrap, RangeCheck::First)?.tensor;
    let offsets = Tensor::new_on(x.device(), &shape, DType::I64, Fill::Zero)?;
    let (low, high) = layout.bounds().unwrap_or((layout.offset(), layout.offset()));
    if extent > 0 {
        copy::fill(&offsets, Scalar::Int((layout.offset() - low) as i128))?;
        index::add_unraveled_offsets(&offsets, &tensor, layout.modes())?;
    }
    let index = CheckedIndex { tensor: offsets, extent: high - low + 1, stride: 1, wraps: false };
    Ok(IndexPlan { is_checked: true, ..IndexPlan::of_elements(x, base.at_offset(low), index) })
}

/// `take`: the elements at linear row-major indices, in the shape of the index.
pub fn take(x: &Tensor, index: &Tensor) -> Result<Tensor> {
    try_gather("take", |check| flat_plan(x, index, check))
}

/// `put_`: writes, or adds, the elements of the source to those at linear row-major indices.
pub fn put(x: &Tensor, index: &Tensor, source: &Tensor, accumulate: bool) -> Result<()> {
    output::check_category(x, source.dtype())?;
    if source.size() != index.size() {
        let got = format!("{} elements", source.size());
        let wanted = format!("{}, as many as index", index.size());
        return Err(Error::new(Problem::Shape { argument: "source", got, wanted }));
    }
    let source = copy::reshape(source, &index.layout().shape())?;
    let rule = if accumulate { ScatterRule::Add } else { ScatterRule::Replace };
    flat_plan(x, index, RangeCheck::First)?.scatter("put_", &source, rule)
}

/// `fill_diagonal_`: sets the main diagonal of a matrix, or of a tensor of more dims and equal sizes. With `wrap` the
/// diagonal of a tall matrix starts again after every full square and one row.
pub fn fill_diagonal(x: &Tensor, value: Scalar, wrap: bool) -> Result<()> {
    let layout = x.layout();
    let [first, rest @ ..] = layout.modes() else { return Err(rank_error(layout)) };
    if rest.is_empty() {
        return Err(rank_error(layout));
    }
    if rest.len() > 1 && rest.iter().any(|mode| mode.extent != first.extent) {
        return Err(Error::shape("input", layout.shape_text(), "equal sizes, for more than two dims"));
    }
    let length = layout.modes().iter().map(|mode| mode.extent).min().unwrap_or(0);
    let stride: isize = layout.modes().iter().map(|mode| mode.stride).sum();
    let columns = rest[0].extent;
    let period = if wrap && rest.len() == 1 { columns + 1 } else { first.extent.max(1) };
    let mut row = 0;
    while row < first.extent.max(1) {
        let part = length.min(first.extent - row).max(0);
        let diagonal = Layout::strided(&[part], &[stride], layout.offset() + row * first.stride)?;
        copy::fill(&x.with_layout(diagonal), value)?;
        row += period;
    }
    Ok(())
}

#[cold]
fn rank_error(layout: &Layout) -> Error {
    Error::new(Problem::Rank { rank: layout.rank(), wanted: "two dims or more" })
}

//! Joining tensors along a dim: `cat`, `stack`, `hstack`, `vstack`, `dstack`, `column_stack`, `block_diag`.
//!
//! Tensors are copied into views of the result.

use super::copy;
use super::output::{self, Out};
use crate::alloc::try_collect_ok;
use crate::dtype::{DType, promote};
use crate::error::{Error, Problem, Result};
use crate::layout::{Dims, Layout};
use crate::scalar::Scalar;
use crate::storage::{Device, Fill};
use crate::tensor::{Tensor, common_device, conflict};

/// Where the result of a join goes, and in which dtype.
#[derive(Clone, Copy, Default)]
pub struct JoinTarget<'a> {
    pub out: Out<'a>,
    /// The dtype of a new tensor; by default, the common dtype of the inputs.
    pub dtype: Option<DType>,
}

/// Joins tensors along one of their dims. All other extents must be equal. Tensors of shape `(0,)` are skipped, as in
/// PyTorch: they stand for "nothing yet" in programs that were written before empty tensors had shapes.
///
/// ```
/// use strided_core::{DType, Device, Scalar, ops::{create, join}};
/// let row = create::full(Device::Cpu, &[1, 3], Scalar::Int(1), DType::U8).unwrap();
/// let rows = join::cat(&[row.clone(), row], 0, Default::default()).unwrap();
/// assert_eq!(rows.layout().shape().as_slice(), [2, 3]);
/// ```
pub fn cat(tensors: &[Tensor], dim: isize, target: JoinTarget) -> Result<Tensor> {
    let (shape, dim) = joined_shape(tensors, dim)?;
    let device = common_device(tensors.iter().chain(target.out.given()))?;
    match target.out {
        Out::Into(out) => {
            check_categories(tensors, out.dtype())?;
            output::check_named("out", out, out.dtype(), &Layout::row_major(&shape)?)?;
            write_parts(out, &disjoint_from(out, tensors)?, dim).map(|()| out.clone())
        }
        Out::New => {
            let dtype = target.dtype.map_or_else(|| common_dtype(tensors), Ok)?;
            check_categories(tensors, dtype)?;
            let result = Tensor::new_on(device, &shape, dtype, Fill::Uninitialized)?;
            write_parts(&result, tensors, dim).map(|()| result)
        }
    }
}

/// The dtype to which all tensors are promoted.
pub fn common_dtype(tensors: &[Tensor]) -> Result<DType> {
    let Some((first, others)) = tensors.split_first() else { return Err(no_tensors()) };
    others.iter().try_fold(first.dtype(), |dtype, x| promote(dtype, x.dtype()))
}

#[cold]
pub(super) fn no_tensors() -> Error {
    Error::shape("tensors", "empty", "at least one tensor")
}

/// Refuses tensors of a higher category than that of the result.
fn check_categories(tensors: &[Tensor], result: DType) -> Result<()> {
    match tensors.iter().find(|x| x.dtype().category() > result.category()) {
        Some(x) => Err(Error::new(Problem::LowerCategory { result: x.dtype(), output: result })),
        None => Ok(()),
    }
}

/// The tensors, with a copy in place of each that shares memory with `out`.
pub(super) fn disjoint_from(out: &Tensor, tensors: &[Tensor]) -> Result<Vec<Tensor>> {
    let separate = |x: &Tensor| if conflict(out, x) { copy::clone(x) } else { Ok(x.clone()) };
    try_collect_ok(tensors.iter().map(separate))
}

/// Whether a tensor has the shape `(0,)`.
fn is_skipped(x: &Tensor) -> bool {
    matches!(x.layout().modes(), [mode] if mode.extent == 0)
}

/// The shape of the joined tensors, and the dim as an index into it.
fn joined_shape(tensors: &[Tensor], dim: isize) -> Result<(Dims, usize)> {
    let mut joined = tensors.iter().enumerate().filter(|(_, x)| !is_skipped(x));
    let Some((position, first)) = joined.next() else {
        return if tensors.is_empty() { Err(no_tensors()) } else { Ok((smallvec::smallvec![0], 0)) };
    };
    if first.layout().rank() == 0 {
        return Err(without_dims(position));
    }
    let dim = first.layout().wrap_dim(dim)?;
    let mut shape = first.layout().shape();
    for (at, x) in joined {
        let modes = x.layout().modes();
        let fits = |(d, mode): (usize, &crate::layout::Mode)| d == dim || mode.extent == shape[d];
        if modes.len() != shape.len() || !modes.iter().enumerate().all(fits) {
            return Err(does_not_join(at, x, position, first, dim));
        }
        shape[dim] = shape[dim].saturating_add(modes[dim].extent);
    }
    Ok((shape, dim))
}

#[cold]
fn without_dims(position: usize) -> Error {
    let what = "has no dims, wanted at least 1; stack joins numbers".into();
    Error::new(Problem::TensorAt { position, what })
}

#[cold]
fn does_not_join(position: usize, x: &Tensor, first: usize, other: &Tensor, dim: usize) -> Error {
    let (got, wanted) = (x.layout(), other.layout());
    if got.rank() == 0 {
        return without_dims(position);
    }
    let (shape, other) = (got.shape_text(), wanted.shape_text());
    let what = if got.rank() != wanted.rank() {
        format!("has shape {shape}, wanted as many dims as tensors[{first}] of shape {other}")
    } else {
        let pairs = got.modes().iter().zip(wanted.modes()).enumerate();
        let mut wrong = pairs.filter(|(at, (a, b))| *at != dim && a.extent != b.extent);
        let (at, (a, b)) = wrong.next().expect("an extent differs");
        let (a, b) = (a.extent, b.extent);
        format!(
            "has shape {shape}, wanted that of tensors[{first}], {other}, but for dim {dim}: extent {a} instead of {b} in dim {at}"
        )
    };
    Error::new(Problem::TensorAt { position, what })
}

/// Copies the tensors one after the other into views of `out` along a dim.
fn write_parts(out: &Tensor, tensors: &[Tensor], dim: usize) -> Result<()> {
    let whole = out.size() * out.dtype().size();
    let mut start = 0;
    for x in tensors.iter().filter(|x| !is_skipped(x)) {
        let length = x.layout().modes()[dim].extent;
        let part = out.with_layout(out.layout().narrow(dim as isize, start, length)?);
        copy::copy_part(&part, x, whole)?;
        start += length;
    }
    Ok(())
}

/// Joins tensors of one shape along a new dim.
pub fn stack(tensors: &[Tensor], dim: isize, target: JoinTarget) -> Result<Tensor> {
    let Some(first) = tensors.first() else { return Err(no_tensors()) };
    if let Some(at) = tensors.iter().position(|x| !x.layout().same_shape(first.layout())) {
        let (shape, wanted) = (tensors[at].layout().shape_text(), first.layout().shape_text());
        let what = format!("has shape {shape}, wanted {wanted}, that of tensors[0]");
        return Err(Error::new(Problem::TensorAt { position: at, what }));
    }
    let views = views(tensors, |layout| layout.unsqueeze(dim))?;
    // A negative dim counts from the end of the result, which has one dim more.
    cat(&views, dim, target)
}

/// How the functions named after an axis join tensors: as views with a minimal number of dims, along one of them.
#[derive(Clone, Copy)]
pub enum StackAxis {
    /// `hstack`: vectors along their dim, others along the second dim.
    Columns,
    /// `vstack`: vectors are rows.
    Rows,
    /// `dstack`: along the third dim.
    Depth,
    /// `column_stack`: vectors are columns.
    ColumnVectors,
}

/// Joins tensors by the rule of a function that is named after an axis.
pub fn stack_along(axis: StackAxis, tensors: &[Tensor], target: JoinTarget) -> Result<Tensor> {
    let rank = match axis {
        StackAxis::Columns => 1,
        StackAxis::Rows | StackAxis::ColumnVectors => 2,
        StackAxis::Depth => 3,
    };
    let views = views(tensors, |layout| match axis {
        StackAxis::ColumnVectors if layout.rank() == 1 => layout.unsqueeze(1),
        _ => layout.at_least(rank),
    })?;
    let dim = match axis {
        StackAxis::Columns => views.first().is_some_and(|first| first.layout().rank() > 1) as isize,
        StackAxis::Rows => 0,
        StackAxis::ColumnVectors => 1,
        StackAxis::Depth => 2,
    };
    cat(&views, dim, target)
}

/// Views of the tensors.
pub fn views(tensors: &[Tensor], view: impl Fn(&Layout) -> Result<Layout>) -> Result<Vec<Tensor>> {
    try_collect_ok(tensors.iter().map(|x| Ok(x.with_layout(view(x.layout())?))))
}

/// A matrix with matrices along its diagonal, and zeros elsewhere. Vectors are rows.
pub fn block_diag(tensors: &[Tensor]) -> Result<Tensor> {
    if let Some(position) = tensors.iter().position(|x| x.layout().rank() > 2) {
        let what = format!("has shape {}, wanted at most 2 dims", tensors[position].layout().shape_text());
        return Err(Error::new(Problem::TensorAt { position, what }));
    }
    if tensors.is_empty() {
        return Tensor::new_on(Device::Cpu, &[1, 0], crate::dtype::default_float(), Fill::Zero);
    }
    let blocks = views(tensors, |layout| layout.at_least(2))?;
    let total =
        |dim: usize| blocks.iter().fold(0isize, |sum, x| sum.saturating_add(x.layout().modes()[dim].extent));
    let out = Tensor::new_on(
        common_device(tensors)?,
        &[total(0), total(1)],
        common_dtype(tensors)?,
        Fill::Uninitialized,
    )?;
    copy::fill(&out, Scalar::Bool(false))?;
    let (mut row, mut column) = (0, 0);
    for x in &blocks {
        let (rows, columns) = (x.layout().modes()[0].extent, x.layout().modes()[1].extent);
        let block = out.layout().narrow(0, row, rows)?.narrow(1, column, columns)?;
        copy::copy(&out.with_layout(block), x)?;
        (row, column) = (row + rows, column + columns);
    }
    Ok(out)
}

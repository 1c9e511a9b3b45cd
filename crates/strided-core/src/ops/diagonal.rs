//! Diagonals and triangles of matrices: `tril`, `triu`, `diag`, `diagflat`, `diag_embed`, `trace`, `tril_indices`,
//! `triu_indices`, and `vander`.

use super::compose::{extent, sum};
use super::output::Out;
use super::rearrange::deliver_view;
use super::{copy, reduce, scan};
use crate::backend::repeat::{self, Triangle};
use crate::dtype::DType;
use crate::error::{Error, Problem, Result};
use crate::layout::{Layout, MAX_SPAN, wrap_dim};
use crate::scalar::Scalar;
use crate::storage::{Device, Fill};
use crate::tensor::{Tensor, shares_memory};

/// A copy of matrices with zeros above a diagonal (`upper` false) or below it (`upper` true).
pub fn tri(x: &Tensor, diagonal: isize, upper: bool, out: Out) -> Result<Tensor> {
    check_matrices(x)?;
    if let Out::Into(out) = out
        && out.is_set_to(x)
    {
        x.check_writable()?;
        repeat::keep_triangle(x, None, diagonal, upper)?;
        return Ok(out.clone());
    }
    let out = out.target(x, &x.layout().shape(), x.dtype())?;
    write_tri(&out, x, diagonal, upper)?;
    Ok(out)
}

fn check_matrices(x: &Tensor) -> Result<()> {
    match x.layout().rank() {
        rank @ 0..2 => Err(Error::new(Problem::Rank { rank, wanted: "at least 2" })),
        _ => Ok(()),
    }
}

/// Rows are copied without the elements that become zero, if those of `x` are contiguous.
fn write_tri(out: &Tensor, x: &Tensor, diagonal: isize, upper: bool) -> Result<()> {
    let has_rows = x.layout().modes().last().is_some_and(|mode| mode.stride == 1);
    if has_rows && out.dtype() == x.dtype() && !shares_memory(out, x) {
        return repeat::keep_triangle(out, Some(x), diagonal, upper);
    }
    copy::copy(out, x)?;
    repeat::keep_triangle(out, None, diagonal, upper)
}

/// A matrix with a vector on one of its diagonals, or a copy of a diagonal of a matrix.
pub fn diag(x: &Tensor, diagonal: isize, out: Out) -> Result<Tensor> {
    match x.layout().rank() {
        1 => out.deliver(diag_embed(x, diagonal, 0, 1)?),
        2 => deliver_view(x, x.layout().diagonal(diagonal, 0, 1)?, out),
        rank => Err(Error::new(Problem::Rank { rank, wanted: "1 or 2" })),
    }
}

/// [`diag_embed`] of all elements as one vector.
pub fn diagflat(x: &Tensor, offset: isize) -> Result<Tensor> {
    diag_embed(&copy::reshape(x, &[x.size() as isize])?, offset, 0, 1)
}

/// Zeros, with the last dim of a tensor on a diagonal of two new dims.
pub fn diag_embed(x: &Tensor, offset: isize, dim1: isize, dim2: isize) -> Result<Tensor> {
    let rank = x.layout().rank();
    let Some(&last) = x.layout().modes().last() else {
        return Err(Error::new(Problem::Rank { rank, wanted: "at least 1" }));
    };
    let dims = [wrap_dim(dim1, rank + 1)?, wrap_dim(dim2, rank + 1)?];
    if dims[0] == dims[1] {
        return Err(Error::new(Problem::DimRepeated { dim: dims[0] }));
    }
    let side = last.extent.saturating_add(offset.saturating_abs());
    let mut others = x.layout().modes().iter().map(|mode| mode.extent);
    let mut shape = |dim| if dims.contains(&dim) { side } else { others.next().expect("rank - 1 dims") };
    let shape: Vec<isize> = (0..rank + 1).map(&mut shape).collect();
    let out = Tensor::like(x, &shape, x.dtype())?;
    copy::fill(&out, Scalar::Bool(false))?;
    let diagonal = out.layout().diagonal(offset, dims[0] as isize, dims[1] as isize)?;
    copy::copy(&out.with_layout(diagonal), x)?;
    Ok(out)
}

/// The sum of the main diagonal of a matrix.
pub fn trace(x: &Tensor) -> Result<Tensor> {
    match x.layout().rank() {
        2 => sum(&x.with_layout(x.layout().diagonal(0, 0, 1)?), 0),
        rank => Err(Error::new(Problem::Rank { rank, wanted: "2" })),
    }
}

/// The rows and the columns of the elements on and below a diagonal (`upper` false) or on and above it, as the two rows of
/// a matrix.
pub fn triangle_indices(
    device: Device,
    rows: isize,
    columns: isize,
    offset: isize,
    upper: bool,
    dtype: DType,
) -> Result<Tensor> {
    for (name, extent) in [("row", rows), ("col", columns)] {
        if !(0..=MAX_SPAN).contains(&extent) {
            return Err(Error::shape(name, extent, format!("0 to {MAX_SPAN}")));
        }
    }
    if !dtype.is_int() {
        return Err(Error::dtype("dtype", dtype, "an integer dtype"));
    }
    let triangle = Triangle::new(rows, columns, offset, upper);
    let count = isize::try_from(triangle.size()).unwrap_or(isize::MAX);
    let out = Tensor::new_on(device, &[2, count], DType::I64, Fill::Uninitialized)?;
    for part in 0..2 {
        repeat::triangle_indices(&out.with_layout(out.layout().select(0, part)?), triangle, part as usize)?;
    }
    if dtype == DType::I64 { Ok(out) } else { copy::to_dtype(&out, dtype) }
}

/// The powers of the elements of a vector, one row for each: from the highest to the 0th, or the other way around.
pub fn vander(x: &Tensor, columns: Option<isize>, increasing: bool) -> Result<Tensor> {
    if x.layout().rank() != 1 {
        return Err(Error::new(Problem::Rank { rank: x.layout().rank(), wanted: "1" }));
    }
    let rows = extent(x, 0);
    let columns = columns.unwrap_or(rows);
    if columns < 0 {
        return Err(Error::shape("N", columns, "0 or more"));
    }
    let result = Tensor::like(x, &[rows, columns], reduce::sum_dtype(x.dtype()))?;
    if result.size() == 0 {
        return Ok(result);
    }
    let ascending = if increasing { result.layout().clone() } else { result.layout().flip(&[1])? };
    let part =
        |first, length| -> Result<Tensor> { Ok(result.with_layout(ascending.narrow(1, first, length)?)) };
    copy::fill(&part(0, 1)?, Scalar::Bool(true))?;
    let powers = part(1, columns - 1)?;
    copy::copy(&powers, &x.with_layout(Layout::unsqueeze(x.layout(), 1)?))?;
    scan::scan(&scan::CUMPROD, &powers, 1, Some(result.dtype()), Out::Into(&powers))?;
    Ok(result)
}

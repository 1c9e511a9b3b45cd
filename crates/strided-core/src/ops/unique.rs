//! Elements without repetition: `unique`, `unique_consecutive`, `isin`.
//!
//! Elements are compared as by `==`: each NaN differs from all others and is kept, and -0.0 equals 0.0.

use super::compose::of_tensors;
use super::elementwise::{apply, apply_into};
use super::index::along::{self, DimIndex, IndexForm};
use super::index::masks;
use super::operand::Operand;
use super::output::Out;
use super::sort::{row_major, sort, sorted};
use super::table::Op;
use super::{copy, join, reduce, scan, search};
use crate::backend::index::ScatterRule;
use crate::backend::sort as backend;
use crate::dtype::{DType, promote};
use crate::error::{Error, Result};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// What `unique` and `unique_consecutive` return.
#[derive(Clone, Copy)]
pub struct UniqueRequest {
    /// Whether only neighbours are compared.
    pub consecutive: bool,
    pub inverse: bool,
    pub counts: bool,
    /// The dim whose slices are compared; `None` to compare elements.
    pub dim: Option<isize>,
}

/// The distinct elements or slices, then the index among them of each input, and how often each occurs, as requested.
pub fn unique(x: &Tensor, request: UniqueRequest) -> Result<Vec<Tensor>> {
    match request.dim {
        None => unique_elements(x, request),
        Some(dim) => unique_slices(x, dim, request),
    }
}

fn unique_elements(x: &Tensor, request: UniqueRequest) -> Result<Vec<Tensor>> {
    let shape = x.layout().shape();
    let flat = copy::reshape(x, &[-1])?;
    let (ordered, order) = if request.consecutive {
        (flat, None)
    } else if x.dtype().is_complex() {
        let order = row_order(&flat, 1)?;
        (along::pick(&flat, slices(&order))?, Some(order))
    } else if request.inverse {
        let (ordered, order) = sort(&flat, 0, false)?;
        (ordered, Some(order))
    } else {
        (sorted(&flat, 0, false)?, None)
    };
    let starts = starts(&ordered)?;
    let mut results = vec![masks::select(&ordered, &starts)?];
    add_requested(&mut results, &starts, order, request)?;
    if request.inverse {
        results[1] = copy::reshape(&results[1], &shape)?;
    }
    Ok(results)
}

fn unique_slices(x: &Tensor, dim: isize, request: UniqueRequest) -> Result<Vec<Tensor>> {
    let layout = x.layout();
    let dim = layout.wrap_dim(dim)?;
    let n = layout.modes()[dim].extent;
    if x.size() == 0 && n > 0 {
        let wanted = format!("elements in each slice of dim {dim}");
        return Err(Error::shape("input", format!("a tensor of shape {}", layout.shape_text()), wanted));
    }
    let moved = row_major(x.with_layout(layout.movedim(&[dim as isize], &[0])?))?;
    let mut shape = moved.layout().shape();
    let columns = moved.size() / n.max(1) as usize;
    let rows = copy::reshape(&moved, &[n, columns as isize])?;
    let (ordered, order) = if request.consecutive || n == 0 {
        (rows, None)
    } else {
        let order = row_order(&rows, columns)?;
        (along::pick(&rows, slices(&order))?, Some(order))
    };
    let starts = starts(&ordered)?;
    let kept = along::pick(&ordered, slices(&masks::nonzero_columns(&starts)?[0]))?;
    shape[0] = kept.layout().modes()[0].extent;
    let kept = copy::reshape(&kept, &shape)?;
    let mut results = vec![row_major(kept.with_layout(kept.layout().movedim(&[0], &[dim as isize])?))?];
    add_requested(&mut results, &starts, order, request)?;
    Ok(results)
}

fn slices(index: &Tensor) -> DimIndex<'_> {
    DimIndex { dim: 0, index, form: IndexForm::Slices }
}

/// The indices that sort rows of `columns` elements. Complex numbers are ordered by their real, then their imaginary parts.
fn row_order(rows: &Tensor, columns: usize) -> Result<Tensor> {
    let order = Tensor::like(rows, &[rows.layout().modes()[0].extent], DType::I64)?;
    let rows = row_major(rows.clone())?;
    if rows.dtype().is_complex() {
        backend::sort_rows(&rows.view_as_real()?, 2 * columns, &order)?;
    } else {
        backend::sort_rows(&rows, columns, &order)?;
    }
    Ok(order)
}

/// Whether each element, or each row, differs from the one before it.
fn starts(x: &Tensor) -> Result<Tensor> {
    let n = x.layout().modes()[0].extent;
    let starts = Tensor::like(x, &[n], DType::Bool)?;
    if n == 0 {
        return Ok(starts);
    }
    let part = |tensor: &Tensor, start: isize, length: isize| -> Result<Tensor> {
        Ok(tensor.with_layout(tensor.layout().narrow(0, start, length)?))
    };
    copy::fill(&part(&starts, 0, 1)?, Scalar::Bool(true))?;
    let (later, earlier) = (part(x, 1, n - 1)?, part(x, 0, n - 1)?);
    let rest = part(&starts, 1, n - 1)?;
    let pair = [Operand::Tensor(&later), Operand::Tensor(&earlier)];
    if x.layout().rank() == 1 {
        apply_into(Op::ne, &pair, &rest)?;
    } else {
        let request = reduce::ReduceRequest { dims: Some(&[1]), ..Default::default() };
        reduce::reduce(&reduce::ANY, &apply(Op::ne, &pair)?, &request, Out::Into(&rest))?;
    }
    Ok(starts)
}

/// Adds the inverse indices and the counts that are requested. `order` has the index of each ordered element, if they were
/// ordered.
fn add_requested(
    results: &mut Vec<Tensor>,
    starts: &Tensor,
    order: Option<Tensor>,
    request: UniqueRequest,
) -> Result<()> {
    let n = starts.size() as isize;
    if request.inverse {
        let sums = scan::scan(&scan::CUMSUM, starts, 0, None, Out::New)?;
        let numbers = apply(Op::sub, &[Operand::Tensor(&sums), Operand::Scalar(Scalar::Int(1))])?;
        results.push(match order {
            Some(order) => {
                let inverse = Tensor::like(starts, &[n], DType::I64)?;
                let index = DimIndex { dim: 0, index: &order, form: IndexForm::Elements };
                along::write(&inverse, index, Operand::Tensor(&numbers), ScatterRule::Replace)?;
                inverse
            }
            None => numbers,
        });
    }
    if request.counts {
        let first = &masks::nonzero_columns(starts)?[0];
        let count = first.size() as isize;
        let ends = Tensor::like(starts, &[count], DType::I64)?;
        if count > 0 {
            let part = |tensor: &Tensor, start: isize, length: isize| -> Result<Tensor> {
                Ok(tensor.with_layout(tensor.layout().narrow(0, start, length)?))
            };
            copy::copy(&part(&ends, 0, count - 1)?, &part(first, 1, count - 1)?)?;
            copy::fill(&part(&ends, count - 1, 1)?, Scalar::Int(n as i128))?;
        }
        results.push(of_tensors(Op::sub, &ends, first)?);
    }
    Ok(())
}

/// `isin`: whether each element is one of `tests`.
pub fn isin(x: &Tensor, tests: &Tensor, invert: bool) -> Result<Tensor> {
    let dtype = promote(x.dtype(), tests.dtype())?;
    let (shape, x) = (x.layout().shape(), copy::reshape(&copy::in_dtype(x, dtype)?, &[-1])?);
    let tests = copy::reshape(&copy::in_dtype(tests, dtype)?, &[-1])?;
    let (x, tests) = if dtype.is_complex() { number_elements(&x, &tests)? } else { (x, tests) };
    let equal = if invert { Op::ne } else { Op::eq };
    let found = if tests.size() == 0 {
        let found = Tensor::like(&x, &[x.size() as isize], DType::Bool)?;
        copy::fill(&found, Scalar::Bool(invert))?;
        found
    } else {
        let tests = sorted(&tests, 0, false)?;
        let places = search::search(&tests, &x, false)?;
        let last = Operand::Scalar(Scalar::Int(tests.size() as i128 - 1));
        let places = apply(Op::clamp_max, &[Operand::Tensor(&places), last])?;
        of_tensors(equal, &along::take(&tests, &places)?, &x)?
    };
    copy::reshape(&found, &shape)
}

/// Integers in place of complex elements, equal where those are: complex numbers have no order.
fn number_elements(x: &Tensor, tests: &Tensor) -> Result<(Tensor, Tensor)> {
    let all = join::cat(&[x.clone(), tests.clone()], 0, join::JoinTarget::default())?;
    let request = UniqueRequest { consecutive: false, inverse: true, counts: false, dim: None };
    let numbers = unique(&all, request)?.remove(1);
    let part = |start: usize, size: usize| {
        numbers.layout().narrow(0, start as isize, size as isize).map(|part| numbers.with_layout(part))
    };
    Ok((part(0, x.size())?, part(x.size(), tests.size())?))
}

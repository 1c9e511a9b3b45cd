//! Products of matrices and vectors: `matmul`, `mm`, `bmm`, `mv`, `dot`, `outer`, `kron`, `multi_dot`, `cdist`, and `addmm`
//! and its relatives, which add a multiple of a product to a multiple of a tensor.
//!
//! Operands are promoted to a common dtype. Halves are computed in float32 and rounded once, at the end.

use super::compose::{extent, of_shape, of_tensors, view};
use super::elementwise::{apply, apply_to};
use super::operand::Operand;
use super::output::{self, Out};
use super::table::Op;
use super::{copy, reduce};
use crate::alloc::{try_collect, try_collect_ok, try_filled};
use crate::backend::{items as item, products};
use crate::dtype::{DType, promote};
use crate::error::{Error, Problem, Result};
use crate::layout::{Dims, Layout, broadcast};
use crate::scalar::Scalar;
use crate::storage::Fill;
use crate::tensor::{Tensor, common_device, shares_memory};

const ZERO: Scalar = Scalar::Bool(false);
const ONE: Scalar = Scalar::Bool(true);

/// The factors and the input of `beta * input + alpha * product`.
#[derive(Clone, Copy)]
pub struct Addend<'a> {
    pub input: &'a Tensor,
    pub beta: Scalar,
    pub alpha: Scalar,
}

/// A product of matrices whose operands fit.
struct CheckedProduct<'a> {
    /// Of the same number of dims, at least 2, in the dtype of the computation.
    a: Tensor,
    b: Tensor,
    /// The dtype and the shape of the result.
    dtype: DType,
    shape: Dims,
    /// Dims of extent 1 that were added for vector operands: the result lacks them.
    added_dims: &'static [isize],
    addend: Option<Addend<'a>>,
}

impl CheckedProduct<'_> {
    /// Computes the product.
    fn multiply(&self, out: Out) -> Result<Tensor> {
        let wanted = Layout::row_major(&self.shape)?;
        let addend = self.addend.map(|addend| addend.input);
        common_device([&self.a, &self.b].into_iter().chain(addend).chain(out.given()))?;
        if let Out::Into(out) = out {
            output::check(out, self.dtype, &wanted)?;
        }
        let (alpha, beta) = self.addend.map_or((ONE, ZERO), |addend| (addend.alpha, addend.beta));
        for (name, factor) in [("alpha", alpha), ("beta", beta)] {
            check_factor(name, factor, self.dtype)?;
        }
        let compute = self.a.dtype();
        let is_direct = |out: &&Tensor| {
            out.dtype() == compute && !shares_memory(out, &self.a) && !shares_memory(out, &self.b)
        };
        let direct = out.given().filter(is_direct);
        let addend = self.addend.filter(|_| !beta.is_zero());
        let expanded = match addend {
            Some(addend) => Some(view(addend.input, addend.input.layout().expand(&self.shape))?),
            None => None,
        };
        let target = match direct {
            Some(out) => out.clone(),
            None => Tensor::with_new_memory(self.a.device(), wanted, compute, Fill::Uninitialized)?,
        };
        if let Some(input) = expanded
            && !target.is_set_to(&input)
        {
            copy::copy(&target, &input)?;
        }
        let mut matrices = target.layout().clone();
        for &dim in self.added_dims {
            matrices = matrices.unsqueeze(dim)?;
        }
        products::multiply(&target.with_layout(matrices), &self.a, &self.b, alpha, beta)?;
        if direct.is_some() { Ok(target) } else { out.deliver_as(self.dtype, target) }
    }
}

/// Refuses a factor of a higher category than the result, or one that its dtype cannot hold.
fn check_factor(argument: &'static str, value: Scalar, dtype: DType) -> Result<()> {
    let wrong = |got, wanted| Err(Error::new(Problem::WrongNumber { argument, got, wanted }));
    match value {
        Scalar::Float(_) if dtype.is_int() => wrong("a float", "an int for integer tensors"),
        Scalar::Complex(_) if !dtype.is_complex() => wrong("complex", "a real number for real tensors"),
        _ => item::check_fits(value, dtype),
    }
}

/// The common dtype of tensors that are multiplied. Refuses bool, as PyTorch.
pub(super) fn common_dtype(tensors: &[&Tensor]) -> Result<DType> {
    let (first, others) = tensors.split_first().expect("there is a tensor");
    let common = others.iter().try_fold(first.dtype(), |dtype, x| promote(dtype, x.dtype()));
    let common = common?;
    if common != DType::Bool {
        return Ok(common);
    }
    Err(Error::dtype("the dtype", common, "a number; convert it with to()"))
}

/// Refuses a tensor of another rank.
fn check_rank(name: &'static str, x: &Tensor, rank: usize) -> Result<()> {
    if x.layout().rank() == rank {
        return Ok(());
    }
    let wanted = if rank == 1 { "1 dim".into() } else { format!("{rank} dims") };
    Err(Error::shape(name, of_shape(x), wanted))
}

/// Names of two operands in messages.
type OperandNames = [&'static str; 2];

/// Checks the operands of `a @ b` by the rules of `matmul`. Errors call them by `names`.
fn check_product<'a>(
    a: &Tensor,
    b: &Tensor,
    names: OperandNames,
    addend: Option<Addend<'a>>,
) -> Result<CheckedProduct<'a>> {
    let (a_rank, b_rank) = (a.layout().rank(), b.layout().rank());
    for (name, rank) in [(names[0], a_rank), (names[1], b_rank)] {
        if rank == 0 {
            return Err(Error::shape(name, "a tensor without dims", "at least 1 dim"));
        }
    }
    let (columns, rows) = (extent(a, a_rank - 1), extent(b, b_rank.saturating_sub(2)));
    if columns != rows {
        let wanted = if a_rank == 1 {
            format!("{columns} rows, as {} has {columns} elements", names[0])
        } else {
            format!("{columns} rows, as {} of shape {} has columns", names[0], a.layout().shape_text())
        };
        return Err(Error::shape(names[1], of_shape(b), wanted));
    }
    let dtype = match addend {
        Some(addend) => common_dtype(&[addend.input, a, b])?,
        None => common_dtype(&[a, b])?,
    };
    let [a, b] = [copy::in_dtype(a, dtype.compute())?, copy::in_dtype(b, dtype.compute())?];
    let (is_row, is_column) = (a_rank == 1, b_rank == 1);
    let a = if is_row { view(&a, a.layout().unsqueeze(0))? } else { a };
    let b = if is_column { view(&b, b.layout().unsqueeze(1))? } else { b };
    let last = |x: &Tensor, from_end: usize| extent(x, x.layout().rank() - from_end);
    let (mut shape, mut matrices) = (Dims::new(), [a, b]);
    if a_rank.max(b_rank) > 2 {
        let lead = |x: &Tensor| Layout::row_major(&x.layout().shape()[..x.layout().rank() - 2]);
        shape = broadcast(&[&lead(&matrices[0])?, &lead(&matrices[1])?])?;
        for x in &mut matrices {
            let mut expanded = shape.clone();
            expanded.extend([last(x, 2), last(x, 1)]);
            *x = view(x, x.layout().expand(&expanded))?;
        }
    }
    let [a, b] = matrices;
    if !is_row {
        shape.push(last(&a, 2));
    }
    if !is_column {
        shape.push(last(&b, 1));
    }
    let added_dims: &[isize] = match (is_row, is_column) {
        (true, true) => &[-1, -1],
        (true, false) => &[-2],
        (false, true) => &[-1],
        (false, false) => &[],
    };
    Ok(CheckedProduct { a, b, dtype, shape, added_dims, addend })
}

/// The product of matrices, of vectors, or of batches of matrices that are broadcast.
///
/// ```
/// use strided_core::{DType, Device, Scalar, ops::{Out, copy, create, matmul}};
/// let x = create::full(Device::Cpu, &[2, 3], Scalar::Int(2), DType::F32).unwrap();
/// let y = matmul::matmul(&x, &x.with_layout(x.layout().transpose(0, 1).unwrap()), Out::New).unwrap();
/// assert_eq!(copy::item(&y, &[1, 0]).unwrap(), Scalar::Float(12.0));
/// ```
pub fn matmul(a: &Tensor, b: &Tensor, out: Out) -> Result<Tensor> {
    check_product(a, b, ["input", "other"], None)?.multiply(out)
}

/// [`matmul`] of tensors that must have these ranks.
pub fn ranked(a: &Tensor, b: &Tensor, ranks: [usize; 2], names: OperandNames, out: Out) -> Result<Tensor> {
    check_ranks(a, b, ranks, names)?;
    check_product(a, b, names, None)?.multiply(out)
}

/// Refuses operands of other ranks, and batches of different lengths.
fn check_ranks(a: &Tensor, b: &Tensor, ranks: [usize; 2], names: OperandNames) -> Result<()> {
    check_rank(names[0], a, ranks[0])?;
    check_rank(names[1], b, ranks[1])?;
    if ranks == [3, 3] && extent(a, 0) != extent(b, 0) {
        let wanted = format!("{} matrices, as {} {} has", extent(a, 0), names[0], of_shape(a));
        return Err(Error::shape(names[1], of_shape(b), wanted));
    }
    Ok(())
}

/// `beta * input + alpha * (a @ b)`, for operands of these ranks.
pub fn add_ranked(
    addend: Addend,
    a: &Tensor,
    b: &Tensor,
    ranks: [usize; 2],
    names: OperandNames,
    out: Out,
) -> Result<Tensor> {
    check_ranks(a, b, ranks, names)?;
    check_product(a, b, names, Some(addend))?.multiply(out)
}

/// `beta * input + alpha * sum(a[i] @ b[i])`: the products of a batch, added up. They are one product of longer matrices.
pub fn addbmm(addend: Addend, a: &Tensor, b: &Tensor, out: Out) -> Result<Tensor> {
    let names = ["batch1", "batch2"];
    check_ranks(a, b, [3, 3], names)?;
    check_product(a, b, names, Some(addend))?; // its errors name the shapes as they were passed
    let depth = extent(a, 0).saturating_mul(extent(a, 2));
    let rows = view(a, a.layout().transpose(0, 1))?;
    let a = copy::reshape(&rows, &[extent(a, 1), depth])?;
    let b = copy::reshape(b, &[depth, extent(b, 2)])?;
    check_product(&a, &b, names, Some(addend))?.multiply(out)
}

/// `beta * input + alpha * outer(a, b)`.
pub fn addr(addend: Addend, a: &Tensor, b: &Tensor, out: Out) -> Result<Tensor> {
    check_ranks(a, b, [1, 1], ["vec1", "vec2"])?;
    let (a, b) = (view(a, a.layout().unsqueeze(1))?, view(b, b.layout().unsqueeze(0))?);
    check_product(&a, &b, ["vec1", "vec2"], Some(addend))?.multiply(out)
}

/// The sum of the products of two vectors' elements. `conjugate` conjugates those of the first.
pub fn dot(a: &Tensor, b: &Tensor, names: OperandNames, conjugate: bool, out: Out) -> Result<Tensor> {
    check_ranks(a, b, [1, 1], names)?;
    if conjugate && a.dtype().is_complex() {
        let a = apply(Op::conj_physical, &[Operand::Tensor(a)])?;
        return check_product(&a, b, names, None)?.multiply(out);
    }
    check_product(a, b, names, None)?.multiply(out)
}

/// The products of all pairs of elements of two vectors.
pub fn outer(a: &Tensor, b: &Tensor, out: Out) -> Result<Tensor> {
    check_ranks(a, b, [1, 1], ["input", "vec2"])?;
    let column = view(a, a.layout().unsqueeze(1))?;
    apply_to(Op::mul, &[Operand::Tensor(&column), Operand::Tensor(b)], out)
}

/// The Kronecker product: each element of `a` is replaced by its products with all elements of `b`.
pub fn kron(a: &Tensor, b: &Tensor, out: Out) -> Result<Tensor> {
    let rank = a.layout().rank().max(b.layout().rank());
    // Dims of both alternate, so that each pair of them becomes one dim of the result.
    let spread = |x: &Tensor, is_first: bool| {
        let lead = rank - x.layout().rank();
        let mut layout = x.layout().clone();
        for _ in 0..lead {
            layout = layout.unsqueeze(0)?;
        }
        for dim in 0..rank as isize {
            layout = layout.unsqueeze(2 * dim + is_first as isize)?;
        }
        Ok::<_, Error>(x.with_layout(layout))
    };
    let (a, b) = (spread(a, true)?, spread(b, false)?);
    let shape: Dims =
        (0..rank).map(|dim| extent(&a, 2 * dim).saturating_mul(extent(&b, 2 * dim + 1))).collect();
    Layout::row_major(&shape)?;
    let result = of_tensors(Op::mul, &a, &b)?;
    out.deliver(view(&result, result.layout().view(&shape))?)
}

/// The product of several matrices, in the order that takes the fewest multiplications. If `vectors`, the first and the
/// last may be vectors.
pub fn multi_dot(tensors: &[Tensor], vectors: bool, out: Out) -> Result<Tensor> {
    let Some((first, last)) = tensors.first().zip(tensors.last()).filter(|_| tensors.len() > 1) else {
        return Err(Error::shape("tensors", format!("a list of {}", tensors.len()), "at least 2 matrices"));
    };
    let is_vector = |x: &Tensor| vectors && x.layout().rank() == 1;
    let mut matrices = try_collect(tensors.iter().cloned())?;
    if is_vector(first) {
        matrices[0] = view(first, first.layout().unsqueeze(0))?;
    }
    if is_vector(last) {
        matrices[tensors.len() - 1] = view(last, last.layout().unsqueeze(1))?;
    }
    for (position, matrix) in matrices.iter().enumerate() {
        if matrix.layout().rank() != 2 {
            let what = format!("is {}, wanted 2 dims", of_shape(&tensors[position]));
            return Err(Error::new(Problem::TensorAt { position, what }));
        }
        if position > 0 && extent(&matrices[position - 1], 1) != extent(matrix, 0) {
            let before = tensors[position - 1].layout().shape_text();
            let what = format!(
                "is {}, wanted {} rows, as tensors[{}] of shape {before} has columns",
                of_shape(&tensors[position]),
                extent(&matrices[position - 1], 1),
                position - 1,
            );
            return Err(Error::new(Problem::TensorAt { position, what }));
        }
    }
    let dtype = common_dtype(&try_collect(tensors.iter())?)?;
    let converted = try_collect_ok(matrices.iter().map(|x| copy::in_dtype(x, dtype.compute())))?;
    let result = chain(&converted, &chain_splits(&converted)?, 0, converted.len() - 1)?;
    let mut shape = Dims::new();
    if !is_vector(first) {
        shape.push(extent(&result, 0));
    }
    if !is_vector(last) {
        shape.push(extent(&result, 1));
    }
    out.deliver_as(dtype, view(&result, result.layout().view(&shape))?)
}

/// The position at which each part of a chain of matrices is best split in two, by dynamic programming.
fn chain_splits(matrices: &[Tensor]) -> Result<Vec<Vec<usize>>> {
    let count = matrices.len();
    let mut splits = try_collect_ok((0..count).map(|_| try_filled(count, 0)))?;
    let mut costs = try_collect_ok((0..count).map(|_| try_filled(count, 0.0f64)))?;
    for length in 1..count {
        for start in 0..count - length {
            let end = start + length;
            let cost = |split: usize| {
                let sides =
                    [extent(&matrices[start], 0), extent(&matrices[split], 1), extent(&matrices[end], 1)];
                let own: f64 = sides.iter().map(|&side| side as f64).product();
                costs[start][split] + costs[split + 1][end] + own
            };
            let best = (start..end).map(|split| (cost(split), split));
            let best = best.reduce(|best, next| if next.0 < best.0 { next } else { best });
            let (cost, split) = best.expect("a part of two matrices or more");
            (costs[start][end], splits[start][end]) = (cost, split);
        }
    }
    Ok(splits)
}

/// The product of the matrices from `start` to `end`, both included.
fn chain(matrices: &[Tensor], splits: &[Vec<usize>], start: usize, end: usize) -> Result<Tensor> {
    if start == end {
        return Ok(matrices[start].clone());
    }
    let split = splits[start][end];
    let (left, right) = (chain(matrices, splits, start, split)?, chain(matrices, splits, split + 1, end)?);
    matmul(&left, &right, Out::New)
}

/// The p-norms of the differences of all pairs of rows, one of each operand. Batches are broadcast.
///
/// Differences are squared and added directly. PyTorch expands the square for more than 25 rows, which loses most digits of
/// the distance of two close rows.
pub fn cdist(a: &Tensor, b: &Tensor, p: f64) -> Result<Tensor> {
    let (a_rank, b_rank) = (a.layout().rank(), b.layout().rank());
    for (name, x, rank) in [("x1", a, a_rank), ("x2", b, b_rank)] {
        if rank < 2 {
            return Err(Error::shape(name, of_shape(x), "at least 2 dims"));
        }
        if !x.dtype().is_float() {
            return Err(Error::dtype(name, x.dtype(), "a floating dtype"));
        }
    }
    if p.is_nan() || p < 0.0 {
        return Err(Error::argument("p", p, "0 or more"));
    }
    let columns = extent(a, a_rank - 1);
    if columns != extent(b, b_rank - 1) {
        let wanted = format!("{columns} columns, as x1 {} has", of_shape(a));
        return Err(Error::shape("x2", of_shape(b), wanted));
    }
    let turned = view(b, b.layout().transpose(-2, -1))?;
    let product = check_product(a, &turned, ["x1", "x2"], None)?;
    let result = Tensor::like(&product.a, &product.shape, product.a.dtype())?;
    products::distances(&result, &product.a, &product.b, p)?;
    copy::in_dtype(&result, product.dtype)
}

/// The sum over dims of a tensor, in its own dtype.
pub(super) fn sum_in_dtype(x: &Tensor, dims: &[isize]) -> Result<Tensor> {
    let dtype = Some(x.dtype()).filter(|dtype| dtype.is_int());
    let request = reduce::ReduceRequest { dims: Some(dims), dtype, ..Default::default() };
    reduce::reduce(&reduce::SUM, x, &request, Out::New)
}

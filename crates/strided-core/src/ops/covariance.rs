//! Covariances and correlations of variables: `cov`, `corrcoef`. Composed of other operations.

use super::compose::{extent, of_tensors, sum, view};
use super::elementwise::{apply, apply_into};
use super::operand::Operand;
use super::output::Out;
use super::table::Op;
use super::{copy, diagonal, matmul};
use crate::backend::host_reads;
use crate::dtype::{self, Category, DType};
use crate::error::{Error, Problem, Result};
use crate::layout::shape_text;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// Weights of observations.
#[derive(Clone, Copy, Default)]
pub struct Weights<'a> {
    /// How often each was observed: integers.
    pub frequency: Option<&'a Tensor>,
    /// How much each counts: floats.
    pub importance: Option<&'a Tensor>,
}

/// The covariance matrix of variables, which are rows; columns are observations.
pub fn cov(x: &Tensor, correction: f64, weights: Weights) -> Result<Tensor> {
    new_cov(x, correction, weights)
}

fn new_cov(x: &Tensor, correction: f64, weights: Weights) -> Result<Tensor> {
    let (rank, dtype) = (x.layout().rank(), x.dtype());
    if rank > 2 {
        return Err(Error::new(Problem::Rank { rank, wanted: "at most 2" }));
    }
    if dtype == DType::Bool {
        return Err(Error::dtype("input", dtype, "a number, not bool"));
    }
    let result = if dtype.is_int() { dtype::default_float() } else { dtype };
    let compute = result.compute();
    let x = copy::to_dtype(x, compute)?;
    let x = if rank == 2 { x } else { view(&x, x.layout().view(&[1, x.size() as isize]))? };
    let (variables, observations) = (extent(&x, 0), extent(&x, 1));
    let weight = product(&weights, observations)?;
    let total = match &weight {
        Some(weight) => number(&sum(weight, 0)?)?,
        None => observations as f64,
    };
    if weight.is_some() && total == 0.0 {
        return Err(Error::argument("the weights", "a sum of 0", "a sum above 0"));
    }
    let factors = weight.as_ref().map(|weight| copy::to_dtype(weight, compute.real())).transpose()?;
    let weighted = |x: &Tensor| match &factors {
        Some(factors) => of_tensors(Op::mul, x, factors),
        None => Ok(Tensor::clone(x)),
    };
    let minus_mean = |x: &Tensor| {
        let means = divided(sum(&weighted(x)?, 1)?, total)?;
        of_tensors(Op::sub, x, &view(&means, means.layout().unsqueeze(1))?)
    };
    // Subtracted twice: the second mean is the rounding error of the first. A single observation becomes exactly 0.
    let centred = minus_mean(&minus_mean(&x)?)?;
    let divisor = divisor(&weights, weight.as_ref(), total, correction)?;
    let partners = apply(Op::conj_physical, &[Operand::Tensor(&weighted(&centred)?)])?;
    let matrix = copy::to_dtype(&hermitian(&products(&centred, &partners, divisor)?)?, result)?;
    if rank == 2 && variables != 1 { Ok(matrix) } else { view(&matrix, matrix.layout().view(&[])) }
}

/// What the sums of products are divided by.
fn divisor(weights: &Weights, weight: Option<&Tensor>, total: f64, correction: f64) -> Result<f64> {
    let (Some(importance), Some(weight)) = (weights.importance, weight) else {
        return Ok((total - correction).max(0.0));
    };
    let importance = copy::to_dtype(importance, DType::F64)?;
    let squares = number(&sum(&of_tensors(Op::mul, weight, &importance)?, 0)?)?;
    let square = total * total;
    // One division at the end, so that a divisor of exactly 0 stays 0. Squares that over- or underflow need two.
    let divisor = if square.is_normal() && squares.is_normal() {
        (square - correction * squares) / total
    } else {
        total - correction * (squares / total)
    };
    Ok(divisor.max(0.0))
}

/// The sums of the products of each variable with each row of `partners`, divided.
fn products(centred: &Tensor, partners: &Tensor, divisor: f64) -> Result<Tensor> {
    let columns = view(partners, partners.layout().transpose(0, 1))?;
    let product = matmul::matmul(centred, &columns, Out::New)?;
    divided(product, divisor)
}

/// A matrix whose lower triangle has the conjugates of the upper one, and whose diagonal is real. The two triangles of a
/// product of matrices may be rounded differently.
fn hermitian(product: &Tensor) -> Result<Tensor> {
    let upper = |diagonal: isize| diagonal::tri(product, diagonal, true, Out::New);
    let above = upper(1)?;
    let below = apply(Op::conj_physical, &[Operand::Tensor(&view(&above, above.layout().transpose(0, 1))?)])?;
    let matrix = of_tensors(Op::add, &upper(0)?, &below)?;
    if matrix.dtype().is_complex() {
        copy::fill(&view(&matrix, matrix.layout().diagonal(0, 0, 1))?.part(1)?, Scalar::Int(0))?;
    }
    Ok(matrix)
}

/// The only element of a tensor as float64; the real part of a complex one.
fn number(x: &Tensor) -> Result<f64> {
    Ok(copy::item(x, &[])?.real())
}

/// Views of the real and imaginary parts of a complex tensor; a real tensor as it is.
fn real_parts(x: &Tensor) -> Result<Vec<Tensor>> {
    if x.dtype().is_complex() { (0..2).map(|k| x.part(k)).collect() } else { Ok(vec![Tensor::clone(x)]) }
}

/// Divides a new tensor by a number, in place. Complex numbers are divided part by part, which rounds once.
fn divided(x: Tensor, number: f64) -> Result<Tensor> {
    for part in real_parts(&x)? {
        apply_into(Op::div, &[Operand::Tensor(&part), Operand::Scalar(Scalar::Float(number))], &part)?;
    }
    Ok(x)
}

/// The product of both weights of each observation in float64, which is exact for float32.
fn product(weights: &Weights, observations: isize) -> Result<Option<Tensor>> {
    let check =
        |argument: &'static str, weight: Option<&Tensor>, category: Category, wanted: &'static str| {
            let Some(weight) = weight else { return Ok(None) };
            if weight.dtype().category() != category {
                return Err(Error::dtype(argument, weight.dtype(), wanted));
            }
            let shape = weight.layout().shape();
            if shape.as_slice() != [observations] {
                let wanted = format!("the shape {observations}, one for each observation");
                return Err(Error::shape(argument, format!("of shape {}", shape_text(&shape)), wanted));
            }
            let negative = apply(Op::lt, &[Operand::Tensor(weight), Operand::Scalar(Scalar::Int(0))])?;
            if host_reads::any(&negative)? {
                return Err(Error::argument(argument, "negative somewhere", "0 or more"));
            }
            copy::to_dtype(weight, DType::F64).map(Some)
        };
    let frequency = check("fweights", weights.frequency, Category::Int, "an integer dtype")?;
    let importance = check("aweights", weights.importance, Category::Float, "a floating dtype")?;
    Ok(match (frequency, importance) {
        (Some(a), Some(b)) => Some(of_tensors(Op::mul, &a, &b)?),
        (a, b) => a.or(b),
    })
}

/// The correlation coefficients of variables, which are rows.
pub fn corrcoef(x: &Tensor) -> Result<Tensor> {
    new_corrcoef(x)
}

fn new_corrcoef(x: &Tensor) -> Result<Tensor> {
    let c = new_cov(x, 1.0, Weights::default())?;
    if c.layout().rank() == 0 {
        return of_tensors(Op::div, &c, &c);
    }
    let diagonal = view(&c, c.layout().diagonal(0, 0, 1))?;
    let variance = if c.dtype().is_complex() { diagonal.part(0)? } else { diagonal };
    let deviation = apply(Op::sqrt, &[Operand::Tensor(&variance)])?;
    let r = of_tensors(Op::div, &c, &view(&deviation, deviation.layout().unsqueeze(1))?)?;
    let r = of_tensors(Op::div, &r, &deviation)?;
    for part in real_parts(&r)? {
        for (op, bound) in [(Op::minimum, 1.0), (Op::maximum, -1.0)] {
            let operands = [Operand::Tensor(&part), Operand::Scalar(Scalar::Float(bound))];
            apply_into(op, &operands, &part)?;
        }
    }
    Ok(r)
}

//! Cross products and bounded norms: `cross`, `renorm`. Composed of other operations.

use super::compose::{extent, of_shape, of_tensors, view, with_number};
use super::elementwise::{apply, apply_into};
use super::operand::Operand;
use super::output::Out;
use super::table::Op;
use super::{copy, reduce};
use crate::dtype::{self, DType};
use crate::error::{Error, Problem, Result};
use crate::layout::{Dims, wrap_dim};
use crate::scalar::Scalar;
use crate::storage::Fill;
use crate::tensor::{Tensor, common_device};

/// The cross products of vectors of 3 elements along a dim. The default dim is the first of extent 3, as in PyTorch.
pub fn cross(a: &Tensor, b: &Tensor, dim: Option<isize>, out: Out) -> Result<Tensor> {
    new_cross(a, b, dim).and_then(|result| out.deliver(result))
}

fn new_cross(a: &Tensor, b: &Tensor, dim: Option<isize>) -> Result<Tensor> {
    let rank = a.layout().rank();
    if b.layout().rank() != rank {
        let wanted = format!("as many dims as input has, which is {}", of_shape(a));
        return Err(Error::shape("other", of_shape(b), wanted));
    }
    let shape = crate::layout::broadcast(&[a.layout(), b.layout()])?;
    let found = match dim {
        Some(dim) => Some(wrap_dim(dim, rank)?),
        None => a.layout().modes().iter().position(|mode| mode.extent == 3),
    };
    let dim = found.ok_or_else(|| Error::shape("input", of_shape(a), "a dim of extent 3"))?;
    if let Some((name, x)) = [("input", a), ("other", b)].into_iter().find(|(_, x)| extent(x, dim) != 3) {
        return Err(Error::shape(name, of_shape(x), format!("extent 3 in dim {dim}")));
    }
    let common = dtype::promote(a.dtype(), b.dtype())?;
    // Halves are computed in float32 and rounded once, at the end.
    let computed = |x: &Tensor| copy::to_dtype(x, common.compute());
    let [a, b] = [computed(a)?, computed(b)?];
    let result = Tensor::new_on(common_device([&a, &b])?, &shape, common, Fill::Uninitialized)?;
    for i in 0..3 {
        let component = |x: &Tensor, i: isize| view(x, x.layout().select(dim as isize, i % 3));
        let first = of_tensors(Op::mul, &component(&a, i + 1)?, &component(&b, i + 2)?)?;
        let second = of_tensors(Op::mul, &component(&a, i + 2)?, &component(&b, i + 1)?)?;
        copy::copy(&component(&result, i)?, &of_tensors(Op::sub, &first, &second)?)?;
    }
    Ok(result)
}

/// Scales each slice along a dim down to `maxnorm` if its p-norm is larger.
pub fn renorm(x: &Tensor, p: f64, dim: isize, maxnorm: f64, out: Out) -> Result<Tensor> {
    let result = reduce::float_result(x.dtype());
    if result != x.dtype() {
        // Into an output of an integer dtype, as in place, this is refused by the category of the result.
        return renorm(&copy::to_dtype(x, result)?, p, dim, maxnorm, out);
    }
    let factors = factors(x, p, dim, maxnorm)?;
    let operands = [Operand::Tensor(x), Operand::Tensor(&factors)];
    let out = match out {
        Out::New => Tensor::like(x, &x.layout().shape(), x.dtype())?,
        Out::Into(out) => out.clone(),
    };
    apply_into(Op::mul, &operands, &out).map(|()| out)
}

/// The factor of each slice, in a shape that broadcasts with `x`.
fn factors(x: &Tensor, p: f64, dim: isize, maxnorm: f64) -> Result<Tensor> {
    let (rank, dtype) = (x.layout().rank(), x.dtype());
    if rank < 2 {
        return Err(Error::new(Problem::Rank { rank, wanted: "at least 2" }));
    }
    if p.is_nan() || p <= 0.0 {
        return Err(Error::argument("p", p, "a number above 0"));
    }
    if maxnorm.is_nan() || maxnorm < 0.0 {
        return Err(Error::argument("maxnorm", maxnorm, "0 or more"));
    }
    let dim = x.layout().wrap_dim(dim)?;
    let norms = norms(x, p, dim)?;
    let mut shape: Dims = smallvec::smallvec![1; rank];
    shape[dim] = extent(x, dim);
    let number = |value: f64| Operand::Scalar(Scalar::Float(value));
    let smaller = apply(Op::div, &[number(maxnorm), Operand::Tensor(&with_number(Op::add, &norms, 1e-7)?)])?;
    let is_larger = with_number(Op::gt, &norms, maxnorm)?;
    let factors = apply(Op::r#where, &[Operand::Tensor(&is_larger), Operand::Tensor(&smaller), number(1.0)])?;
    let factors = copy::to_dtype(&factors, dtype.real().compute())?;
    view(&factors, factors.layout().view(&shape))
}

/// The p-norm of each slice along a dim, in float64; that of an empty slice is 0.
fn norms(x: &Tensor, p: f64, dim: usize) -> Result<Tensor> {
    if x.size() == 0 {
        return Tensor::new_on(x.device(), &[extent(x, dim)], DType::F64, Fill::Zero);
    }
    let other_dims: Dims = (0..x.layout().rank() as isize).filter(|&other| other != dim as isize).collect();
    let wide = if x.dtype().is_complex() { DType::C128 } else { DType::F64 };
    let request = reduce::ReduceRequest { dims: Some(&other_dims), dtype: Some(wide), ..Default::default() };
    reduce::norm(x, p, &request, Out::New)
}

//! Masks: `masked_select`, `masked_fill_`, `masked_scatter_`, `nonzero`.

use crate::alloc::try_collect;
use crate::backend::host_reads;
use crate::backend::index::{self, MaskCounts};
use crate::dtype::DType;
use crate::error::{Error, Problem, Result};
use crate::layout::{Layout, broadcast};
use crate::ops::Operand;
use crate::ops::copy;
use crate::ops::elementwise::{apply, apply_into};
use crate::ops::table::Op;
use crate::scalar::Scalar;
use crate::tensor::{Tensor, common_device, shares_memory};

/// A mask as a bool tensor. Bytes are masks too: every one that is not 0 is true.
pub fn as_mask(mask: &Tensor) -> Result<Tensor> {
    match mask.dtype() {
        DType::Bool => Ok(mask.clone()),
        DType::U8 => mask.reinterpret(DType::Bool),
        got => Err(Error::dtype("mask", got, "bool or uint8")),
    }
}

/// A mask in the shape of a tensor, to which it must broadcast.
fn expanded_mask(x: &Tensor, mask: &Tensor) -> Result<Tensor> {
    let mask = as_mask(mask)?;
    match mask.layout().expand(&x.layout().shape()) {
        Ok(layout) => Ok(mask.with_layout(layout)),
        Err(_) => {
            let wanted = format!("one that broadcasts to {}", x.layout().shape_text());
            Err(Error::shape("mask", mask.layout().shape_text(), wanted))
        }
    }
}

/// A copy of a tensor in the shape to which it and a mask broadcast: the tensor that `masked_fill` and `masked_scatter`
/// change.
pub fn broadcast_copy(x: &Tensor, mask: &Tensor) -> Result<Tensor> {
    let shape = broadcast(&[x.layout(), mask.layout()])?;
    copy::clone(&x.with_layout(x.layout().expand(&shape)?))
}

/// `masked_select`: the elements for which the mask is true, in row-major order, one dim. Both are broadcast.
pub fn select(x: &Tensor, mask: &Tensor) -> Result<Tensor> {
    let mask = as_mask(mask)?;
    common_device([x, &mask])?;
    if mask.layout().same_shape(x.layout())
        && let Some(elements) = host_reads::small_select(x, &mask)?
    {
        return Ok(elements);
    }
    let shape = broadcast(&[x.layout(), mask.layout()])?;
    let mask = mask.with_layout(mask.layout().expand(&shape)?);
    let x = x.with_layout(x.layout().expand(&shape)?);
    let counts = host_reads::mask_counts(&mask)?;
    let out = Tensor::like(&x, &[counts.total() as isize], x.dtype())?;
    index::select(&out, &mask, &x, &counts)?;
    Ok(out)
}

/// `masked_fill_`: sets the elements for which the mask is true to the only element of `value`, which is cast.
pub fn fill(x: &Tensor, mask: &Tensor, value: &Tensor) -> Result<()> {
    let mask = expanded_mask(x, mask)?;
    if value.size() != 1 {
        let (got, wanted) =
            (format!("a tensor of shape {}", value.layout().shape_text()), "one element".into());
        return Err(Error::new(Problem::Shape { argument: "value", got, wanted }));
    }
    let single = value.with_layout(value.layout().view(&[])?);
    let value = copy::in_dtype(&single, x.dtype())?;
    apply_into(Op::r#where, &[Operand::Tensor(&mask), Operand::Tensor(&value), Operand::Tensor(x)], x)
}

/// `masked_scatter_`: writes the elements of the source, in row-major order, to those for which the mask is true. The
/// source must have enough of them.
pub fn scatter(x: &Tensor, mask: &Tensor, source: &Tensor) -> Result<()> {
    let mask = expanded_mask(x, mask)?;
    x.check_writable()?;
    let counts = host_reads::mask_counts(&mask)?;
    if counts.total() > source.size() {
        let wanted = format!("{} or more, as many as the mask has true elements", counts.total());
        let got = format!("{} elements", source.size());
        return Err(Error::new(Problem::Shape { argument: "source", got, wanted }));
    }
    place(x, &mask, source, &counts)
}

/// `x[mask] = values` for a mask of the shape of `x`: the values are broadcast to one dim of all true elements.
pub fn assign(x: &Tensor, mask: &Tensor, values: &Tensor) -> Result<()> {
    if values.size() == 1 && values.layout().rank() <= 1 {
        return fill(x, mask, values);
    }
    let mask = as_mask(mask)?;
    x.check_writable()?;
    let counts = host_reads::mask_counts(&mask)?;
    let layout = copy::expanded(values.layout(), &Layout::row_major(&[counts.total() as isize])?)?;
    place(x, &mask, &values.with_layout(layout), &counts)
}

fn place(x: &Tensor, mask: &Tensor, source: &Tensor, counts: &MaskCounts) -> Result<()> {
    common_device([x, mask, source])?;
    let is_ready = source.dtype() == x.dtype() && source.layout().is_row_major() && !shares_memory(x, source);
    let source = if is_ready { source.clone() } else { copy::to_dtype(source, x.dtype())? };
    let mask = if shares_memory(x, mask) { copy::clone(mask)? } else { mask.clone() };
    index::place(x, &mask, &source, counts)
}

/// Whether each element is not 0, as a bool tensor.
fn truth(x: &Tensor) -> Result<Tensor> {
    match x.dtype() {
        DType::Bool => Ok(x.clone()),
        _ => apply(Op::ne, &[Operand::Tensor(x), Operand::Scalar(Scalar::Bool(false))]),
    }
}

/// `nonzero`: the indices of all elements that are not 0, a row for each.
pub fn nonzero(x: &Tensor) -> Result<Tensor> {
    let mask = truth(x)?;
    let counts = host_reads::mask_counts(&mask)?;
    let shape = [counts.total() as isize, mask.layout().rank() as isize];
    let out = Tensor::like(x, &shape, DType::I64)?;
    index::nonzero(&out, &mask, &counts)?;
    Ok(out)
}

/// `nonzero(as_tuple=True)`: the indices along each dim, a tensor for each. A tensor of rank 0 counts as one of rank 1.
pub fn nonzero_columns(x: &Tensor) -> Result<Vec<Tensor>> {
    let mask = truth(x)?;
    let mask = if mask.layout().rank() > 0 { mask } else { mask.with_layout(mask.layout().unsqueeze(0)?) };
    let counts = host_reads::mask_counts(&mask)?;
    let shape = [mask.layout().rank() as isize, counts.total() as isize];
    let out = Tensor::like(x, &shape, DType::I64)?;
    index::nonzero(&out.with_layout(out.layout().transpose(0, 1)?), &mask, &counts)?;
    try_collect(out.layout().unbind(0)?.into_iter().map(|layout| out.with_layout(layout)))
}

//! Where numbers belong in sorted sequences: `searchsorted`, `bucketize`.

use super::compose::of_shape;
use super::elementwise::with_scalar;
use super::index::along::{self, DimIndex, IndexForm};
use super::sort::{check_order, row_major};
use super::{copy, create};
use crate::backend::{items as item, sort};
use crate::dtype::{DType, promote};
use crate::error::{Error, Result};
use crate::scalar::Scalar;
use crate::storage::Device;
use crate::tensor::{Tensor, common_device};

/// The index of each number in a sorted sequence: the number of elements that are smaller, or not larger if `right`.
pub(super) fn search(sequence: &Tensor, numbers: &Tensor, right: bool) -> Result<Tensor> {
    let out = Tensor::like(sequence, &numbers.layout().shape(), DType::I64)?;
    let length = sequence.layout().modes().last().map_or(1, |mode| mode.extent as usize);
    sort::search(&row_major(sequence.clone())?, length, &row_major(numbers.clone())?, right, &out)?;
    Ok(out)
}

/// `searchsorted`: the index of each number in the sorted sequence of its row, or in the only sequence. `sorter` has the
/// indices that sort a sequence that is not sorted.
pub fn searchsorted(
    sequence: &Tensor,
    numbers: &Tensor,
    right: bool,
    sorter: Option<&Tensor>,
) -> Result<Tensor> {
    check_order("sorted_sequence", sequence)?;
    let (sequence, numbers) = &promoted(sequence, numbers)?;
    let (from, of) = (sequence.layout(), numbers.layout());
    if from.rank() == 0 {
        return Err(Error::shape("sorted_sequence", "a number", "one dim or more"));
    }
    let leading = |shape: &[isize]| shape.split_last().map(|(_, leading)| leading.to_vec());
    if from.rank() > 1 && leading(&from.shape()) != leading(&of.shape()) {
        let wanted = format!("the sizes of sorted_sequence, {}, in all dims but the last", from.shape_text());
        return Err(Error::shape("input", of_shape(numbers), wanted));
    }
    let sorted = match sorter {
        Some(sorter) if sorter.dtype() != DType::I64 => {
            return Err(Error::dtype("sorter", sorter.dtype(), "int64"));
        }
        Some(sorter) if !sorter.layout().same_shape(from) => {
            let wanted = format!("{}, that of sorted_sequence", from.shape_text());
            return Err(Error::shape("sorter", of_shape(sorter), wanted));
        }
        Some(index) => along::pick(sequence, DimIndex { dim: -1, index, form: IndexForm::Elements })?,
        None => sequence.clone(),
    };
    search(&sorted, numbers, right)
}

/// `bucketize`: the index of each number among sorted boundaries.
pub fn bucketize(numbers: &Tensor, boundaries: &Tensor, right: bool) -> Result<Tensor> {
    if boundaries.layout().rank() != 1 {
        return Err(Error::shape("boundaries", of_shape(boundaries), "one dim"));
    }
    check_order("boundaries", boundaries)?;
    let (boundaries, numbers) = promoted(boundaries, numbers)?;
    search(&boundaries, &numbers, right)
}

/// A sequence and the numbers that are looked for in it, in their common dtype.
fn promoted(sequence: &Tensor, numbers: &Tensor) -> Result<(Tensor, Tensor)> {
    check_order("input", numbers)?;
    common_device([sequence, numbers])?;
    let dtype = promote(sequence.dtype(), numbers.dtype())?;
    Ok((copy::in_dtype(sequence, dtype)?, copy::in_dtype(numbers, dtype)?))
}

/// A number as a tensor of rank 0 that is looked for among elements of a dtype: of that dtype if it fits.
pub fn number(device: Device, value: Scalar, dtype: DType) -> Result<Tensor> {
    let fits = with_scalar(dtype, value);
    if item::check_fits(value, fits).is_ok() {
        return create::full(device, &[], value, fits);
    }
    let wide =
        if matches!(value, Scalar::Int(value) if value > i64::MAX as i128) { DType::U64 } else { DType::I64 };
    create::full(device, &[], value, wide)
}

/// The indices as int32 if that is wanted.
pub fn as_index(indices: Tensor, int32: bool) -> Result<Tensor> {
    if int32 { copy::to_dtype(&indices, DType::I32) } else { Ok(indices) }
}

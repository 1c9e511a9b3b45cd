//! Binary search in sorted lines, and the order of rows.

use super::keys::{BLOCK, KeyLine};
use crate::alloc::{try_collect, try_vec};
use crate::dtype::DType;
use crate::error::Result;
use crate::storage::Access;
use crate::tensor::{Tensor, pin_each};
use crate::threads;

/// The cost of a search, relative to an addition.
const WEIGHT: usize = 16;
/// Numbers that one task looks for.
const TASK: usize = 8 * BLOCK;

/// The keys of some elements.
fn keys_of(line: &KeyLine) -> Result<Vec<u64>> {
    let mut keys = try_vec(line.length)?;
    line.for_each_block(0..line.length, |_, block| keys.extend_from_slice(block));
    Ok(keys)
}

/// Writes where each number belongs in a sorted line of `length` elements: the number of elements that are smaller, or
/// not larger if `right`. The numbers are as many for each line, or for the only line. All tensors are row-major; sequence
/// and numbers have one dtype, and `out` is int64 in the shape of the numbers.
pub fn search(sequence: &Tensor, length: usize, numbers: &Tensor, right: bool, out: &Tensor) -> Result<()> {
    assert!([sequence, numbers, out].iter().all(|tensor| tensor.layout().is_row_major()));
    assert!(sequence.dtype() == numbers.dtype() && out.dtype() == DType::I64 && out.size() == numbers.size());
    if numbers.size() == 0 {
        return Ok(());
    }
    let lines = sequence.size().checked_div(length).unwrap_or(1);
    let per_line = numbers.size() / lines;
    assert!(lines * length == sequence.size() && lines * per_line == numbers.size());
    let wanted = [Some((sequence, Access::Read)), Some((numbers, Access::Read)), Some((out, Access::Write))];
    let [Some(sorted), Some(numbers_pin), Some(to)] = pin_each(wanted)? else {
        unreachable!("all were pinned")
    };
    let dtype = numbers.dtype();
    // SAFETY: both tensors are pinned until the end of this function.
    let (line, queries) = unsafe {
        let line = KeyLine::new(sorted.origin, sequence.size(), dtype, false);
        (line, KeyLine::new(numbers_pin.origin, numbers.size(), dtype, false))
    };
    let keys = keys_of(&line)?;
    let to = super::WordPointer(to.origin.cast::<i64>());
    let shared = threads::should_parallelize(numbers.size().saturating_mul(WEIGHT));
    threads::run(numbers.size().div_ceil(TASK), shared, &|task| {
        let part = task * TASK..numbers.size().min((task + 1) * TASK);
        queries.for_each_block(part, |first, block| {
            for (i, &query) in block.iter().enumerate() {
                let line = (first + i) / per_line;
                let keys = &keys[line * length..(line + 1) * length];
                let place = if right {
                    keys.partition_point(|&key| key <= query)
                } else {
                    keys.partition_point(|&key| key < query)
                };
                // SAFETY: the output has as many elements as there are numbers, and is pinned.
                unsafe { to.at(first + i).write(place as i64) };
            }
        });
    })
}

/// Writes the indices that sort the rows of a row-major matrix to `out`, which is row-major and int64. Rows are compared
/// element by element, and equal ones keep their order.
pub fn sort_rows(x: &Tensor, columns: usize, out: &Tensor) -> Result<()> {
    let rows = out.size();
    assert!(x.layout().is_row_major() && x.size() == rows * columns);
    assert!(out.layout().is_row_major() && out.dtype() == DType::I64);
    let [Some(from), Some(to)] = pin_each([Some((x, Access::Read)), Some((out, Access::Write))])? else {
        unreachable!("both were pinned")
    };
    // SAFETY: the tensor is pinned until the end of this function.
    let keys = keys_of(&unsafe { KeyLine::new(from.origin, x.size(), x.dtype(), false) })?;
    let row = |index: &usize| &keys[index * columns..(index + 1) * columns];
    let mut order = try_collect(0..rows)?;
    // Sorting in place, with the positions of equal rows compared: a stable sort would allocate.
    order.sort_unstable_by(|a, b| row(a).cmp(row(b)).then(a.cmp(b)));
    for (i, index) in order.into_iter().enumerate() {
        // SAFETY: the output has an element for each row, and is pinned.
        unsafe { to.origin.cast::<i64>().add(i).write(index as i64) };
    }
    Ok(())
}

//! Binary search in sorted lines, and the order of rows.

use super::keys::{KEYS_PER_LOAD, KeyLine};
use crate::alloc::{try_collect, try_vec};
use crate::dtype::DType;
use crate::error::Result;
use crate::tensor::{Tensor, pin_all};
use crate::threads::{self, Shared};

/// The cost of a search, relative to an addition.
const SEARCH_COST: usize = 16;
const NUMBERS_PER_PIECE: usize = 8 * KEYS_PER_LOAD;

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
    pin_all!(sorted: Read sequence, numbers_pin: Read numbers, to: Write out);
    let dtype = numbers.dtype();
    // SAFETY: both tensors are pinned until the end of this function.
    let (line, queries) = unsafe {
        let line = KeyLine::new(sorted.origin, sequence.size(), dtype, false);
        (line, KeyLine::new(numbers_pin.origin, numbers.size(), dtype, false))
    };
    let keys = keys_of(&line)?;
    let to = Shared::new(to.origin.cast::<i64>());
    let shared = threads::should_parallelize(numbers.size().saturating_mul(SEARCH_COST));
    threads::for_each_range(numbers.size(), NUMBERS_PER_PIECE, shared, &|part| {
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
    pin_all!(from: Read x, to: Write out);
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

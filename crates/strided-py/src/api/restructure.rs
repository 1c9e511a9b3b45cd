//! Elements repeated, rolled and padded, and the triangles and diagonals of matrices.

use crate::abi::Value;
use crate::abi::detach::device_work;
use crate::abi::errors::{CallResult, Fail};
use crate::classes::devices::default_device;
use crate::convert::args::{DataArg, FromArg, Ints, Rest, TensorArg, missing};
use crate::convert::in_place::Target;
use crate::convert::results::{call, call_with_work};
use crate::convert::tensors::TextArg;
use crate::convert::values::Values;
use pyo3::prelude::*;
use strided_core::layout::Dims;
use strided_core::ops::rearrange::{self, Repeats};
use strided_core::ops::{diagonal, pad, work};
use strided_core::{DType, Device, Scalar, Tensor};

methods! { rows(py, x: TensorArg):
    /// A copy repeated along each dim. More numbers than dims add dims in front.
    ///
    /// >>> strided.tensor([1, 2]).repeat(2, 2).tolist()
    /// [[1, 2, 1, 2], [1, 2, 1, 2]]
    method repeat(repeats | sizes | size: Rest) => {
        let repeats = repeats.require("repeats")?;
        repeated(py, x, repeats, rearrange::repeat)
    };

    /// A copy repeated along each dim. Fewer numbers than dims are those of the last dims.
    ///
    /// >>> strided.tensor([[1], [2]]).tile(2).tolist()
    /// [[1, 1], [2, 2]]
    #[numpy(tile)]
    both tile(dims | reps: Rest) => repeated(py, x, dims.require("dims")?, rearrange::tile);

    /// Each index of a dim repeated, one after the other: so many times, or as many times as a number of `repeats` for each
    /// index. Without a dim, of all elements as one. `output_size` is the sum of the repeats, if it is known; it is checked.
    /// With one argument, `[2, 0, 1]` becomes `[0, 0, 2]`: positions, each so many times.
    ///
    /// >>> x = strided.tensor([[1, 2], [3, 4]])
    /// >>> strided.repeat_interleave(x, 2, dim=1).tolist()
    /// [[1, 1, 2, 2], [3, 3, 4, 4]]
    /// >>> strided.repeat_interleave(x, strided.tensor([1, 2]), dim=0).tolist()
    /// [[1, 2], [3, 4], [3, 4]]
    /// >>> strided.repeat_interleave(strided.tensor([2, 0, 1])).tolist()
    /// [0, 0, 2]
    #[numpy(repeat)]
    function repeat_interleave(input: Option<TensorArg> = None, repeats: Option<DataArg> = None, dim | axis: Option<isize> = None; output_size: Option<isize> = None)
        => match (input, repeats) {
            (Some(input), Some(repeats)) => interleaved(py, input, repeats, dim, output_size),
            (None, None) => Err(missing("input")),
            (None, Some(repeats)) => {
                let counts = TensorArg::from_arg(repeats.0, "repeats")?;
                call(py, [counts], None, |[counts], _| rearrange::repeated_indices(counts, output_size))
            }
            (Some(_), None) if dim.is_some() => Err(missing("repeats")),
            (Some(counts), None) => call(py, [counts], None, |[counts], _| rearrange::repeated_indices(counts, output_size)),
        };

    /// Each index of a dim repeated, one after the other: so many times, or as many times as a number of `repeats` for each
    /// index. Without a dim, of all elements as one.
    ///
    /// >>> strided.tensor([1, 2]).repeat_interleave(2).tolist()
    /// [1, 1, 2, 2]
    method repeat_interleave(repeats: DataArg, dim | axis: Option<isize> = None; output_size: Option<isize> = None)
        => interleaved(py, x, repeats, dim, output_size);

    /// A copy with the elements shifted along dims; those that leave at the end come back at the start. Without dims, all
    /// elements are one line.
    ///
    /// >>> strided.arange(5).roll(2).tolist()
    /// [3, 4, 0, 1, 2]
    /// >>> strided.arange(6).view(2, 3).roll((1, -1), (0, 1)).tolist()
    /// [[4, 5, 3], [1, 2, 0]]
    #[numpy(roll)]
    both roll(shifts | shift: Ints, dims | dim | axis: Option<Ints> = None) => {
        let dims = dims.map_or(Dims::new(), |dims| dims.ints);
        let mut shifts = shifts;
        if !shifts.sequence && dims.len() > 1 {
            shifts.ints = dims.iter().map(|_| shifts.ints[0]).collect();
        }
        call(py, [x], None, |[x], _| rearrange::roll(x, &shifts.ints, &dims))
    };

    /// A copy with margins: `pad` holds their sizes before and after each dim, the last dim first. Negative sizes crop. The
    /// margins hold `value` (mode `'constant'`, the default), the elements mirrored at the outermost one (`'reflect'`), the
    /// outermost element (`'replicate'`), or the elements from the other end (`'circular'`).
    ///
    /// >>> strided.pad(strided.tensor([1, 2, 3]), (2, 1)).tolist()
    /// [0, 0, 1, 2, 3, 0]
    /// >>> strided.pad(strided.tensor([1, 2, 3]), (2, 1), mode='reflect').tolist()
    /// [3, 2, 1, 2, 3, 2]
    function pad(input: TensorArg, pad: Ints, mode: Option<TextArg> = None, value: Option<Scalar> = None) => {
        let mode = pad::pad_mode(mode.as_ref().map_or("constant", |text| &text.0), value)?;
        call_with_work(py, [input], work::padded(&input, &pad.ints), None, |[x], _| pad::pad(x, &pad.ints, mode))
    };

    /// A copy of matrices with zeros above a diagonal: the main one, or the one so many columns to the right.
    ///
    /// >>> strided.ones(3, 3, dtype=strided.int64).tril().tolist()
    /// [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    #[numpy(tril)]
    both tril(diagonal | k: isize = 0; out: Option<TensorArg> = None) also tril_
        => x.call(py, [], x.size(), out, |x, [], out| diagonal::tri(x, diagonal, false, out));

    /// A copy of matrices with zeros below a diagonal: the main one, or the one so many columns to the right.
    ///
    /// >>> strided.ones(3, 3, dtype=strided.int64).triu(1).tolist()
    /// [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    #[numpy(triu)]
    both triu(diagonal | k: isize = 0; out: Option<TensorArg> = None) also triu_
        => x.call(py, [], x.size(), out, |x, [], out| diagonal::tri(x, diagonal, true, out));

    /// A matrix with a vector on a diagonal, and zeros elsewhere; or a copy of a diagonal of a matrix.
    ///
    /// >>> strided.tensor([1, 2]).diag(1).tolist()
    /// [[0, 1, 0], [0, 0, 2], [0, 0, 0]]
    /// >>> strided.arange(9).view(3, 3).diag().tolist()
    /// [0, 4, 8]
    #[numpy(diag)]
    both diag(diagonal | k: isize = 0; out: Option<TensorArg> = None)
        => call_with_work(py, [x], work::on_diagonal(&x, diagonal), out, |[x], out| diagonal::diag(x, diagonal, out));

    /// A matrix with all elements of a tensor on a diagonal, and zeros elsewhere.
    ///
    /// >>> strided.tensor([[1, 2]]).diagflat(-1).tolist()
    /// [[0, 0, 0], [1, 0, 0], [0, 2, 0]]
    #[numpy(diagflat)]
    both diagflat(offset | k: isize = 0)
        => call_with_work(py, [x], work::on_diagonal(&x, offset), None, |[x], _| diagonal::diagflat(x, offset));

    /// Zeros, with the last dim of a tensor on a diagonal of two dims of the result.
    ///
    /// >>> strided.tensor([[1, 2], [3, 4]]).diag_embed().tolist()
    /// [[[1, 0], [0, 2]], [[3, 0], [0, 4]]]
    both diag_embed(offset: isize = 0, dim1 | axis1: isize = -2, dim2 | axis2: isize = -1)
        => call_with_work(py, [x], work::on_diagonal(&x, offset), None, |[x], _| diagonal::diag_embed(x, offset, dim1, dim2));

    /// The sum of the main diagonal of a matrix.
    ///
    /// >>> strided.arange(9).view(3, 3).trace().item()
    /// 12
    both trace() => call(py, [x], None, |[x], _| diagonal::trace(x));

    /// The indices of the elements of a matrix on and below a diagonal: a row of row indices, and one of column indices.
    ///
    /// >>> strided.tril_indices(2, 3).tolist()
    /// [[0, 1, 1], [0, 0, 1]]
    function tril_indices(row: isize, col: isize, offset: isize = 0; dtype: Option<DType> = None, device: Option<Device> = None)
        => triangle_indices(py, device, (row, col), offset, false, dtype);

    /// The indices of the elements of a matrix on and above a diagonal: a row of row indices, and one of column indices.
    ///
    /// >>> strided.triu_indices(2, 3, offset=1).tolist()
    /// [[0, 0, 1], [1, 2, 2]]
    function triu_indices(row: isize, col: isize, offset: isize = 0; dtype: Option<DType> = None, device: Option<Device> = None)
        => triangle_indices(py, device, (row, col), offset, true, dtype);

    /// The powers of the elements of a vector, one row for each: `N` powers (as many as there are elements, unless given), from
    /// the highest to the 0th, or increasing. Integers become int64.
    ///
    /// >>> strided.vander(strided.tensor([1, 2, 3])).tolist()
    /// [[1, 1, 1], [4, 2, 1], [9, 3, 1]]
    #[numpy(vander)]
    function vander(x: TensorArg, N: Option<isize> = None, increasing: bool = False) => {
        let columns = N.unwrap_or(x.size() as isize);
        call_with_work(py, [x], work::repeated(&x, &[columns]), None, |[x], _| diagonal::vander(x, N, increasing))
    };
}

/// A copy with more elements.
fn repeated<'a>(
    py: Python<'a>,
    x: TensorArg<'a>,
    repeats: &[isize],
    rule: impl FnOnce(&Tensor, &[isize]) -> strided_core::Result<Tensor> + Send,
) -> CallResult<Value<'a>> {
    call_with_work(py, [x], work::repeated(&x, repeats), None, |[x], _| rule(x, repeats))
}

fn interleaved<'a>(
    py: Python<'a>,
    x: TensorArg<'a>,
    repeats: DataArg<'a>,
    dim: Option<isize>,
    output_size: Option<isize>,
) -> CallResult<Value<'a>> {
    let count = match isize::read(repeats.0) {
        Err(Fail::IntTooLarge) => return Err(Fail::Overflow("repeats is an int beyond 64 bits".into())),
        count => count?,
    };
    if let Some(count) = count {
        return call_with_work(py, [x], work::repeated(&x, &[count]), None, |[x], _| {
            rearrange::repeat_interleave(x, Repeats::Each(count), dim, output_size)
        });
    }
    let counts = Values::of(repeats.0, None)?.tensor;
    // The number of elements of the result is known only after the counts were added up.
    call_with_work(py, [x], work::pairs(x.size()), None, |[x], _| {
        rearrange::repeat_interleave(x, Repeats::Counts(&counts), dim, output_size)
    })
}

fn triangle_indices(
    py: Python<'_>,
    device: Option<Device>,
    (rows, columns): (isize, isize),
    offset: isize,
    upper: bool,
    dtype: Option<DType>,
) -> CallResult<Value<'_>> {
    let elements = (rows.max(0) as usize).saturating_mul(columns.max(0) as usize);
    let dtype = dtype.unwrap_or(DType::I64);
    let device = device.unwrap_or_else(default_device);
    call_with_work(py, [], device_work(device, elements), None, |[], _| {
        diagonal::triangle_indices(device, rows, columns, offset, upper, dtype)
    })
}

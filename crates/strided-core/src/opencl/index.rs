//! Elements that an index chooses. Kernels check the indices themselves: see `fault`.

use super::fault;
use super::launch::{Held, device_of, over_nest};
use super::program::{Kernels, Key, bare_preamble, kernels, not_available_on};
use super::source::{FAULT, LOOPS};
use crate::dtype::DType;
use crate::error::Result;
use crate::kernels::index::{IndexedOperand, ScatterRule};
use crate::layout::{Layout, Mode};
use crate::nest::{Nest, Operand, Order};
use crate::storage::{Access, Fill};
use crate::tensor::Tensor;
use smallvec::SmallVec;
use strided_opencl::Arg;

const TEXT: &str = include_str!("source/index.cl");
const KERNELS: [&str; 5] = ["gather", "add_offsets", "add_unraveled_offsets", "find_last", "write_last"];
/// `source/index.cl` has the same number.
const MAX_MODES: usize = 16;

fn program(device: &'static strided_opencl::Device, size: usize) -> Result<Kernels> {
    kernels(device, Key::Index { size }, &KERNELS, || {
        let word = ["uchar", "ushort", "uint", "ulong", "ulong2"][size.trailing_zeros() as usize];
        let begin = bare_preamble(device, [])?;
        Ok(format!("{begin}#define OPERANDS 4\n#define W {word}\n{LOOPS}{FAULT}{TEXT}"))
    })
}

/// Launches a kernel over the output, the source, the index and the positions.
fn launch(
    device: &'static strided_opencl::Device,
    kernel: &strided_opencl::Kernel,
    operands: [Operand; 4],
    args: &[Arg],
    operation: &'static str,
) -> Result<()> {
    let nest = Nest::new(operands[0].layout, &operands, Order::Free);
    let offsets = operands.each_ref().map(|operand| operand.layout.offset());
    let sizes = operands.each_ref().map(|operand| operand.size);
    over_nest(device, kernel, &nest, &offsets, &sizes, args, operation)
}

/// Writes the chosen elements to `out`, and 0 where an index is bad. The result says nothing of the indices.
pub fn gather(out: &Tensor, source: &IndexedOperand) -> Result<bool> {
    if out.size() == 0 {
        return Ok(true);
    }
    let (device, size) = (device_of(out)?, out.dtype().size());
    let program = program(device, size)?;
    let (to, from) = (Held::new(out, Access::Write)?, Held::new(source.tensor, Access::Read)?);
    let index = Held::new(source.index, Access::Read)?;
    let operands = [
        Operand { layout: out.layout(), size },
        Operand { layout: source.base, size },
        Operand { layout: source.index.layout(), size: size_of::<i64>() },
        Operand { layout: source.index.layout(), size: size_of::<i64>() },
    ];
    let lookup = [source.extent, source.stride, source.wraps as isize].map(|number| Arg::Long(number as i64));
    fault::checked(device, source.operation, |[memory, number]| {
        let args = [to.arg(), from.arg(), index.arg(), lookup[0], lookup[1], lookup[2], memory, number];
        launch(device, &program[0], operands, &args, "gather")
    })?;
    Ok(true)
}

/// Writes the elements of `source` to the chosen ones; skips those whose index is bad.
pub fn scatter(target: &IndexedOperand, source: &Tensor, rule: ScatterRule) -> Result<()> {
    let device = device_of(source)?;
    let (Some((lowest, highest)), true) = (target.tensor.layout().bounds(), target.base.size() > 0) else {
        return Ok(());
    };
    if rule != ScatterRule::Replace {
        return Err(not_available_on(device, "for values that are combined"));
    }
    if i32::try_from(target.base.size()).is_err() {
        return Err(not_available_on(device, "for so many indices"));
    }
    let size = source.dtype().size();
    let program = program(device, size)?;
    let (to, from) = (Held::new(target.tensor, Access::Write)?, Held::new(source, Access::Read)?);
    let index = Held::new(target.index, Access::Read)?;
    let last = Tensor::with_new_memory(
        source.device(),
        Layout::row_major(&[highest - lowest + 1])?,
        DType::I32,
        Fill::Uninitialized,
    )?;
    super::map::fill(
        &last,
        crate::kernels::item::ScalarBytes::cast(crate::scalar::Scalar::Int(-1), DType::I32),
    )?;
    let last = Held::new(&last, Access::Write)?;
    let positions = target.base.row_major_like();
    let operands = || {
        [
            Operand { layout: target.base, size },
            Operand { layout: source.layout(), size },
            Operand { layout: target.index.layout(), size: size_of::<i64>() },
            Operand { layout: &positions, size: 1 },
        ]
    };
    let long = |number: isize| Arg::Long(number as i64);
    let lookup = [long(target.extent), long(target.stride), long(target.wraps as isize)];
    fault::checked(device, target.operation, |[memory, number]| {
        let args = [last.arg(), long(lowest), index.arg(), lookup[0], lookup[1], lookup[2], memory, number];
        launch(device, &program[3], operands(), &args, "scatter")
    })?;
    let args = [to.arg(), from.arg(), last.arg(), long(lowest), index.arg(), lookup[0], lookup[1], lookup[2]];
    launch(device, &program[4], operands(), &args, "scatter")
}

/// Adds `stride` times each index to the offsets.
pub fn add_offsets(out: &Tensor, index: &Tensor, extent: isize, stride: isize) -> Result<()> {
    let numbers = [Arg::Long(extent as i64), Arg::Long(stride as i64)];
    add_each(out, index, 1, &numbers, "index")
}

/// Splits each index into one for each mode, and adds their offsets.
pub fn add_unraveled_offsets(out: &Tensor, index: &Tensor, modes: &[Mode]) -> Result<()> {
    if modes.len() > MAX_MODES {
        return Err(not_available_on(device_of(out)?, "for so many dims"));
    }
    let extent: isize = modes.iter().map(|mode| mode.extent).product();
    let mut words: SmallVec<[i64; 1 + 2 * MAX_MODES]> = smallvec::smallvec![0; 1 + 2 * MAX_MODES];
    words[0] = modes.len() as i64;
    for (k, mode) in modes.iter().enumerate() {
        (words[1 + k], words[1 + MAX_MODES + k]) = (mode.extent as i64, mode.stride as i64);
    }
    add_each(out, index, 2, &[Arg::Long(extent as i64), Arg::Words(&words)], "take")
}

/// Launches a kernel that adds to offsets. The index broadcasts to them.
fn add_each(
    out: &Tensor,
    index: &Tensor,
    kernel: usize,
    numbers: &[Arg; 2],
    operation: &'static str,
) -> Result<()> {
    if out.size() == 0 {
        return Ok(());
    }
    let device = device_of(out)?;
    let size = size_of::<i64>();
    let program = program(device, size)?;
    let (to, from) = (Held::new(out, Access::Write)?, Held::new(index, Access::Read)?);
    let layouts = [out.layout(), index.layout(), index.layout(), index.layout()];
    fault::checked(device, operation, |[memory, number]| {
        let args = [to.arg(), from.arg(), numbers[0], numbers[1], memory, number];
        launch(device, &program[kernel], layouts.map(|layout| Operand { layout, size }), &args, operation)
    })
}

/// The smallest and the largest element of an int64 tensor; `None` if it has no elements.
pub fn min_max(index: &Tensor) -> Result<Option<(i64, i64)>> {
    crate::kernels::index::min_max(&super::transfer::on_host(index)?)
}

/// Small results are not special on a device.
pub fn small_gather(_: &Tensor, _: &Tensor) -> Result<Option<Tensor>> {
    Ok(None)
}

/// As for [`small_gather`].
pub fn small_select(_: &Tensor, _: &Tensor) -> Result<Option<Tensor>> {
    Ok(None)
}

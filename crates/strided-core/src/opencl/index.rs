//! Elements that an index chooses. Kernels check the indices themselves: see `fault`.

use super::launch::{Held, device_of, over_nest_by};
use super::program::{Kernels, Key, bare_preamble, kernels, not_available_on, preamble};
use super::source::{FAULT, LOOPS, c_type, load, store};
use super::{fault, map};
use crate::dtype::DType;
use crate::error::Result;
use crate::kernels::index::{IndexedOperand, ScatterRule};
use crate::kernels::item::ScalarBytes;
use crate::layout::{Dims, Layout, Mode};
use crate::nest::{Nest, Operand, Order};
use crate::scalar::Scalar;
use crate::storage::{Access, Fill};
use crate::tensor::Tensor;
use smallvec::SmallVec;
use strided_opencl::Arg;

const TEXT: &str = include_str!("source/index.cl");
const COMBINE: &str = include_str!("source/combine.cl");
const KERNELS: [&str; 5] = ["gather", "add_offsets", "add_unraveled_offsets", "find_last", "write_last"];
/// `source/index.cl` has the same number.
const MAX_MODES: usize = 16;
/// `source/combine.cl` has the same number.
const MAX_SEQUENCE: usize = 8;
/// Work items that combine elements, at least. Each of them reads the whole index if it has a range of its own.
const MIN_WRITERS_OF_CPU: isize = 8;
const MIN_WRITERS: isize = 512;
/// Elements that a work item of a CPU moves.
const RUN_OF_CPU: usize = 64;

/// Elements that a work item moves. On devices other than CPUs, neighbouring work items read neighbouring elements.
fn run_of(device: &strided_opencl::Device) -> usize {
    if device.properties.kind == "cpu" { RUN_OF_CPU } else { 1 }
}

fn program(device: &'static strided_opencl::Device, size: usize) -> Result<Kernels> {
    kernels(device, Key::Index { size }, &KERNELS, || {
        let word = ["uchar", "ushort", "uint", "ulong", "ulong2"][size.trailing_zeros() as usize];
        let begin = bare_preamble(device, [])?;
        Ok(format!("{begin}#define OPERANDS 4\n#define W {word}\n{LOOPS}{FAULT}{TEXT}"))
    })
}

/// Launches a kernel over the output, the source, the index and the positions: their layouts, and the bytes of their elements.
fn launch(
    device: &'static strided_opencl::Device,
    kernel: &strided_opencl::Kernel,
    operands: [(&Layout, usize); 4],
    run: usize,
    args: &[Arg],
    operation: &'static str,
) -> Result<()> {
    let operands = operands.map(|(layout, size)| Operand { layout, size });
    let nest = Nest::new(operands[0].layout, &operands, Order::Free);
    let offsets = operands.each_ref().map(|operand| operand.layout.offset());
    let sizes = operands.each_ref().map(|operand| operand.size);
    over_nest_by(run, device, kernel, &nest, &offsets, &sizes, args, operation)
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
        (out.layout(), size),
        (source.base, size),
        (source.index.layout(), size_of::<i64>()),
        (source.index.layout(), size_of::<i64>()),
    ];
    let lookup = [source.extent, source.stride, source.wraps as isize].map(|number| Arg::Long(number as i64));
    let run = run_of(device);
    fault::checked(device, source.operation, |[memory, number]| {
        let [extent, stride, wraps] = lookup;
        let run_arg = Arg::Long(run as i64);
        let args = [to.arg(), from.arg(), index.arg(), extent, stride, wraps, run_arg, memory, number];
        launch(device, &program[0], operands, run, &args, "gather")
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
        return combine(device, target, source, rule);
    }
    if i32::try_from(target.base.size()).is_err() {
        return Err(not_available_on(device, "for so many indices"));
    }
    let size = source.dtype().size();
    let program = program(device, size)?;
    let (to, from) = (Held::new(target.tensor, Access::Write)?, Held::new(source, Access::Read)?);
    let index = Held::new(target.index, Access::Read)?;
    // Along these dims the index chooses whole slices: what is found for one element of a slice holds for all.
    let shape = target.base.shape();
    let (base_stride, index_stride) = (target.base.stride(), target.index.layout().stride());
    let is_slice = |dim: usize| index_stride[dim] == 0 && base_stride[dim] != 0;
    let first: Dims = (0..shape.len()).map(|dim| if is_slice(dim) { 1 } else { shape[dim] }).collect();
    let by_index = (0..shape.len()).all(|dim| base_stride[dim] == 0 || is_slice(dim));
    let places = if by_index { target.extent } else { highest - lowest + 1 };
    let positions = Layout::row_major(&first)?.expand(&shape)?;
    let of_first = |layout: &Layout| Layout::strided(&first, &layout.stride(), layout.offset());
    let last = Tensor::new_on(source.device(), &[places], DType::I32, Fill::Uninitialized)?;
    map::fill(&last, ScalarBytes::cast(Scalar::Int(-1), DType::I32))?;
    let last = Held::new(&last, Access::Write)?;
    let layouts = [target.base, source.layout(), target.index.layout(), &positions];
    let first = [of_first(layouts[0])?, of_first(layouts[1])?, of_first(layouts[2])?, of_first(layouts[3])?];
    let sizes = [size, size, size_of::<i64>(), 1];
    let long = |number: isize| Arg::Long(number as i64);
    let place = [last.arg(), long(by_index as isize), long(lowest)];
    let lookup = [index.arg(), long(target.extent), long(target.stride), long(target.wraps as isize)];
    fault::checked(device, target.operation, |fault| {
        let args: SmallVec<[Arg; 9]> = place.into_iter().chain(lookup).chain(fault).collect();
        launch(device, &program[3], std::array::from_fn(|k| (&first[k], sizes[k])), 1, &args, "scatter")
    })?;
    let run = run_of(device);
    let memory = [to.arg(), from.arg()];
    let args: SmallVec<[Arg; 10]> =
        memory.into_iter().chain(place).chain(lookup).chain([Arg::Long(run as i64)]).collect();
    launch(device, &program[4], std::array::from_fn(|k| (layouts[k], sizes[k])), run, &args, "scatter")
}

/// Combines the elements of `source` with the chosen ones by the kernel of `source/combine.cl`.
fn combine(
    device: &'static strided_opencl::Device,
    target: &IndexedOperand,
    source: &Tensor,
    rule: ScatterRule,
) -> Result<()> {
    let (dtype, size) = (source.dtype(), source.dtype().size());
    let compute = if dtype == DType::Bool { dtype } else { dtype.compute() };
    let kernels = kernels(device, Key::Combine { dtype }, &["combine"], || {
        let begin = preamble(device, compute, [dtype])?;
        let order = if dtype.is_complex() { "" } else { "#define HAS_ORDER\n" };
        let (old, other) = (load(dtype, compute, "p0", "i0"), load(dtype, compute, "p1", "i1"));
        let write = store(compute, dtype, "p0", "i0", "result");
        Ok(format!(
            "{begin}#define OPERANDS 4\n#define E {}\n#define LOAD_OUT {old}\n#define LOAD_SOURCE {other}\n#define STORE_OUT {write}\n{order}{LOOPS}{FAULT}{COMBINE}",
            c_type(dtype)
        ))
    })?;
    let shape = target.base.shape();
    let base_stride = target.base.stride();
    let (source_stride, index_stride) = (source.layout().stride(), target.index.layout().stride());
    // Work items share out the dims along which the base steps, and go along all others.
    let is_shared = |dim: usize| base_stride[dim] != 0;
    let dims: SmallVec<[usize; 8]> =
        (0..shape.len()).filter(|&dim| !is_shared(dim) && shape[dim] != 1).collect();
    if dims.len() > MAX_SEQUENCE {
        return Err(not_available_on(device, "for an index of so many dims"));
    }
    let rest = || std::iter::repeat_n(1, MAX_SEQUENCE - dims.len().max(1));
    let word = |of: &dyn Fn(usize) -> isize, one: i64| -> SmallVec<[i64; MAX_SEQUENCE]> {
        let steps = dims.iter().map(|&dim| of(dim) as i64);
        steps.chain(dims.is_empty().then_some(one)).chain(rest()).collect()
    };
    let mut sequence: SmallVec<[i64; 1 + 3 * MAX_SEQUENCE]> = smallvec::smallvec![dims.len().max(1) as i64];
    sequence.extend(word(&|dim| shape[dim], 1));
    sequence.extend(word(&|dim| source_stride[dim], 0));
    sequence.extend(word(&|dim| index_stride[dim], 0));
    // One more dim: ranges of indices, where few work items have a place of their own.
    let places: isize = (0..shape.len()).filter(|&dim| is_shared(dim)).map(|dim| shape[dim]).product();
    let wanted = if device.properties.kind == "cpu" { MIN_WRITERS_OF_CPU } else { MIN_WRITERS };
    let ranges = (wanted / places.max(1)).clamp(1, target.extent);
    let mut extents: Dims = smallvec::smallvec![ranges];
    extents.extend((0..shape.len()).map(|dim| if is_shared(dim) { shape[dim] } else { 1 }));
    let with_ranges = |stride: &[isize], offset: isize, of_range: isize| {
        let mut strides: Dims = smallvec::smallvec![of_range];
        strides.extend_from_slice(stride);
        Layout::strided(&extents, &strides, offset)
    };
    let none = Dims::from_elem(0, shape.len());
    let layouts = [
        with_ranges(&base_stride, target.base.offset(), 0)?,
        with_ranges(&source_stride, source.layout().offset(), 0)?,
        with_ranges(&index_stride, target.index.layout().offset(), 0)?,
        with_ranges(&none, 0, 1)?,
    ];
    let sizes = [size, size, size_of::<i64>(), 1];
    let (to, from) = (Held::new(target.tensor, Access::Write)?, Held::new(source, Access::Read)?);
    let index = Held::new(target.index, Access::Read)?;
    let number = match rule {
        ScatterRule::Replace => unreachable!("has kernels of its own"),
        ScatterRule::Add => 0,
        ScatterRule::Multiply => 1,
        ScatterRule::Max => 2,
        ScatterRule::Min => 3,
    };
    let numbers = [number, ranges, target.extent, target.stride, target.wraps as isize];
    let memory = [to.arg(), from.arg(), index.arg(), Arg::Words(&sequence)];
    fault::checked(device, target.operation, |fault| {
        let numbers = numbers.map(|number| Arg::Long(number as i64));
        let args: SmallVec<[Arg; 12]> = memory.into_iter().chain(numbers).chain(fault).collect();
        launch(device, &kernels[0], std::array::from_fn(|k| (&layouts[k], sizes[k])), 1, &args, "scatter")
    })
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
        launch(device, &program[kernel], layouts.map(|layout| (layout, size)), 1, &args, operation)
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

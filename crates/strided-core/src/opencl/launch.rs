//! Launches over the elements of tensors: nests as arguments of kernels, and the memory of tensors.

use crate::error::{Error, Problem, Result};
use crate::nest::{Loop, Nest, OPERANDS, walk};
use crate::storage::{Access, Device, DeviceMemory, not_on_host};
use crate::tensor::Tensor;
use smallvec::SmallVec;
use std::sync::Arc;
use strided_opencl::{Arg, Kernel, Memory};

/// The loops of a nest that a kernel runs itself; `source/loops.cl` has the same number.
pub const MAX_LOOPS: usize = 8;

/// The device of OpenCL that a tensor is on.
pub fn device_of(x: &Tensor) -> Result<&'static strided_opencl::Device> {
    device(x.device())
}

pub fn device(device: Device) -> Result<&'static strided_opencl::Device> {
    match device {
        Device::Gpu(index) => Ok(strided_opencl::device(index.into())?),
        Device::Cpu => Err(Error::new(Problem::NotOnDevice)),
        Device::Test => Err(not_on_host(device)),
    }
}

/// The memory of a tensor, for work that is enqueued now.
#[derive(Clone)]
pub struct Held(Arc<DeviceMemory>);

impl Held {
    pub fn new(x: &Tensor, access: Access) -> Result<Held> {
        let memory = x.storage().device_memory(x.layout(), x.dtype(), access)?;
        match &*memory {
            DeviceMemory::Gpu(_) => Ok(Held(memory)),
            DeviceMemory::Test(_) => Err(not_on_host(Device::Test)),
        }
    }

    pub fn memory(&self) -> &Memory {
        match &*self.0 {
            DeviceMemory::Gpu(memory) => memory,
            DeviceMemory::Test(_) => unreachable!("refused by `new`"),
        }
    }

    pub fn arg(&self) -> Arg<'_> {
        Arg::Memory(self.memory())
    }
}

/// The size of a group of work items for a kernel over elements, whose number need not be a multiple of it: a power of two.
pub fn group_size(device: &strided_opencl::Device, kernel: &Kernel) -> usize {
    // A CPU runs the items of a group in a loop, whose start has a price.
    let wanted = if device.properties.kind == "cpu" { 1024 } else { 256 };
    let most = wanted.min(kernel.max_group).max(1);
    1 << most.ilog2()
}

/// How many adjacent elements a work item of an elementwise kernel computes. A CPU vectorises the loop over them; it would run the items
/// of a group one by one, because each of them has a condition. 9M elements of `M + row` on PoCL: 2.4 ms instead of 48.
pub fn segment(device: &strided_opencl::Device) -> usize {
    if device.properties.kind == "cpu" { 4096 } else { 1 }
}

/// The shape of the groups of a kernel whose items compute several elements of a row, on a CPU: a few rows.
const SEGMENT_GROUP: [usize; 2] = [1, 16];

/// Launches a kernel over `n` elements. Its first argument is their number.
pub fn over_elements(
    device: &'static strided_opencl::Device,
    kernel: &Kernel,
    n: usize,
    args: &[Arg],
    operation: &'static str,
) -> Result<()> {
    let group = group_size(device, kernel);
    over_items(n, group, device, kernel, n, args, operation)
}

/// [`over_elements`], where a work item has [`segment`] elements.
pub fn over_segments(
    device: &'static strided_opencl::Device,
    kernel: &Kernel,
    n: usize,
    args: &[Arg],
    operation: &'static str,
) -> Result<()> {
    let segment = segment(device);
    let group = if segment > 1 { 1 } else { group_size(device, kernel) };
    over_items(n.div_ceil(segment), group, device, kernel, n, args, operation)
}

fn over_items(
    items: usize,
    group: usize,
    device: &'static strided_opencl::Device,
    kernel: &Kernel,
    n: usize,
    args: &[Arg],
    operation: &'static str,
) -> Result<()> {
    if n == 0 {
        return Ok(());
    }
    let all: SmallVec<[Arg; 16]> = [Arg::Long(n as i64)].into_iter().chain(args.iter().copied()).collect();
    Ok(device.launch(kernel, &all, [items.next_multiple_of(group), 1], [group, 1], operation)?)
}

/// The loops of a nest as a kernel reads them: `Nest` of `source/loops.cl`, for `operands` operands.
pub fn nest_words(loops: &[Loop], start: &[isize], sizes: &[usize]) -> SmallVec<[i64; 64]> {
    let mut words: SmallVec<[i64; 64]> = SmallVec::new();
    let rest = std::iter::repeat_n(0, MAX_LOOPS - loops.len());
    words.extend(loops.iter().map(|l| l.extent as i64).chain(rest.clone()));
    for (k, &size) in sizes.iter().enumerate() {
        words.extend(loops.iter().map(|l| l.steps[k] as i64 / size as i64).chain(rest.clone()));
    }
    words.extend(start.iter().zip(sizes).map(|(&at, &size)| at as i64 / size as i64));
    words.push(loops.len() as i64);
    words
}

/// Launches a kernel over a nest. Its first arguments are the nest, the extent of the innermost loop and the number of iterations of the
/// others. `offsets` and `sizes` are the locations of the operands' elements and their bytes.
pub fn over_nest(
    device: &'static strided_opencl::Device,
    kernel: &Kernel,
    nest: &Nest,
    offsets: &[isize],
    sizes: &[usize],
    args: &[Arg],
    operation: &'static str,
) -> Result<()> {
    over_nest_by(1, device, kernel, nest, offsets, sizes, args, operation)
}

/// [`over_nest`], where a work item has `width` iterations of the innermost loop.
#[allow(clippy::too_many_arguments)]
pub fn over_nest_by(
    width: usize,
    device: &'static strided_opencl::Device,
    kernel: &Kernel,
    nest: &Nest,
    offsets: &[isize],
    sizes: &[usize],
    args: &[Arg],
    operation: &'static str,
) -> Result<()> {
    if nest.size() == 0 {
        return Ok(());
    }
    let mut origins = [std::ptr::null_mut(); OPERANDS];
    for ((origin, offset), &size) in origins.iter_mut().zip(offsets).zip(sizes) {
        *origin = std::ptr::without_provenance_mut((offset * size as isize) as usize);
    }
    let loops = nest.loops();
    let (host, kernel_loops) = loops.split_at(loops.len().saturating_sub(MAX_LOOPS));
    let inner = kernel_loops[kernel_loops.len() - 1].extent;
    let outer: usize = kernel_loops[..kernel_loops.len() - 1].iter().map(|l| l.extent).product();
    let items = inner.div_ceil(width);
    let local = if width > 1 { SEGMENT_GROUP } else { group_shape(group_size(device, kernel), items) };
    let global = [items.next_multiple_of(local[0]), outer.next_multiple_of(local[1])];
    let mut result = Ok(());
    walk(host, nest.start(origins), |at| {
        if result.is_err() {
            return;
        }
        let start: SmallVec<[isize; OPERANDS]> =
            at[..sizes.len()].iter().map(|p| p.addr() as isize).collect();
        let words = nest_words(kernel_loops, &start, sizes);
        let first = [Arg::Words(&words), Arg::Long(inner as i64), Arg::Long(outer as i64)];
        let all: SmallVec<[Arg; 16]> = first.into_iter().chain(args.iter().copied()).collect();
        result = device.launch(kernel, &all, global, local, operation).map_err(Error::from);
    });
    result
}

/// The shape of a group over a nest whose innermost loop has this extent: few shapes, since some drivers compile a kernel for each.
fn group_shape(group: usize, inner: usize) -> [usize; 2] {
    let wide = match inner {
        0..=4 => 1,
        5..=64 => 16,
        _ => group,
    };
    let wide = wide.min(group);
    [wide, group / wide]
}

pub use super::fault::wait;

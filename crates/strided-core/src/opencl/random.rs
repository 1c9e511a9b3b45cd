//! Random numbers: those of the CPU, bit for bit. The state of a generator stays on the host.

use super::launch::{Held, device_of, over_elements};
use super::program::{Kernels, Key, bare_preamble, kernels, without_double};
use super::{map, transfer};
use crate::dtype::DType;
use crate::error::Result;
use crate::kernels::random::{self, Draw, GROUP, Generator, IntegerDraw, largest_uniform};
use crate::storage::{Access, Device, Fill};
use crate::tensor::Tensor;
use smallvec::SmallVec;
use strided_opencl::Arg;

const TEXT: &str = include_str!("source/random.cl");

/// The kernels of the program. Those from [`FIRST_IN_DOUBLE`] on compute in double.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Sampler {
    NarrowIntegers,
    WideIntegers,
    Bernoulli,
    UniformFloat,
    BernoulliEach,
    UniformDouble,
    ContinuousFloat,
    ContinuousDouble,
}

const FIRST_IN_DOUBLE: usize = Sampler::BernoulliEach as usize;
const NAMES: [&str; 8] = [
    "narrow_integers",
    "wide_integers",
    "bernoulli",
    "uniform_float",
    "bernoulli_each",
    "uniform_double",
    "continuous_float",
    "continuous_double",
];

impl Sampler {
    /// Words of a block.
    fn words_per_block(self) -> usize {
        match self {
            Sampler::NarrowIntegers | Sampler::UniformFloat | Sampler::ContinuousFloat => 4,
            _ => 2,
        }
    }
}

fn program(device: &'static strided_opencl::Device) -> Result<Kernels> {
    let names = if device.properties.double { &NAMES } else { &NAMES[..FIRST_IN_DOUBLE] };
    kernels(device, Key::Random, names, || Ok(bare_preamble(device, [])? + TEXT))
}

/// Fills a tensor with the elements of a sampler, which computes them in a dtype. Takes words from the generator when nothing
/// can be refused any more.
fn fill(
    out: &Tensor,
    generator: &Generator,
    sampler: Sampler,
    dtype: DType,
    parameters: &[Arg],
    operation: &'static str,
) -> Result<()> {
    let device = device_of(out)?;
    if sampler as usize >= FIRST_IN_DOUBLE && !device.properties.double {
        return Err(without_double(device, DType::F64));
    }
    let kernel = &program(device)?[sampler as usize];
    drop(Held::new(out, Access::Write)?);
    // The bits of integers of one size are the same, whether they are signed or not; a bool is 0 or 1.
    let same = dtype == out.dtype()
        || (!dtype.is_float() && !out.dtype().is_float() && dtype.size() == out.dtype().size());
    let target = if same && out.layout().is_row_major() {
        out.clone()
    } else {
        let dtype = if same { out.dtype() } else { dtype };
        Tensor::with_new_memory(out.device(), out.layout().row_major_like(), dtype, Fill::Uninitialized)?
    };
    let held = Held::new(&target, Access::Write)?;
    let n = out.size();
    let per_group = sampler.words_per_block() * GROUP;
    let blocks = n.div_ceil(per_group) * GROUP;
    let Draw { seed, stream, offset } = generator.take_blocks(blocks);
    let start = target.layout().offset() as i64;
    let numbers = [start, seed as i64, stream as i64, offset as i64].map(Arg::Long);
    let mut args: SmallVec<[Arg; 16]> = smallvec::smallvec![Arg::Long(n as i64), held.arg()];
    args.extend(numbers.iter().chain(parameters).copied());
    over_elements(device, kernel, blocks, &args, operation)?;
    if target.is_set_to(out) { Ok(()) } else { map::copy(out, &target, target.layout()) }
}

/// [`random::integers`]
pub fn integers(out: &Tensor, generator: &Generator, low: i128, last: i128) -> Result<()> {
    let IntegerDraw { is_narrow, low, range, rejected } = IntegerDraw::new(low, last);
    let dtype = match (out.dtype(), is_narrow) {
        (DType::Bool | DType::U8 | DType::I8, true) => DType::U8,
        (DType::U16 | DType::I16, true) => DType::U16,
        (DType::U32 | DType::I32, _) => DType::U32,
        _ => DType::I64, // others are cast from it
    };
    let sampler = if is_narrow { Sampler::NarrowIntegers } else { Sampler::WideIntegers };
    let parameters = [dtype.size() as u64, low, range, rejected].map(|number| Arg::Long(number as i64));
    fill(out, generator, sampler, dtype, &parameters, "random_")
}

/// [`random::bernoulli`]
pub fn bernoulli(out: &Tensor, generator: &Generator, p: f64) -> Result<()> {
    let bound = Arg::Long((p * 2f64.powi(53)).ceil() as i64);
    fill(out, generator, Sampler::Bernoulli, DType::U8, &[bound], "bernoulli")
}

/// [`random::bernoulli_each`]
pub fn bernoulli_each(out: &Tensor, generator: &Generator, p: &Tensor) -> Result<()> {
    assert!(p.dtype() == DType::F64 && p.layout().is_row_major() && p.size() == out.size());
    let held = Held::new(p, Access::Read)?;
    let parameters = [held.arg(), Arg::Long(p.layout().offset() as i64)];
    fill(out, generator, Sampler::BernoulliEach, DType::U8, &parameters, "bernoulli")
}

/// [`random::uniform`]
pub fn uniform(out: &Tensor, generator: &Generator, low: f64, high: f64) -> Result<()> {
    let top = largest_uniform(out.dtype(), low, high);
    if out.dtype() == DType::F64 {
        let parameters = [low, high - low, top].map(Arg::Double);
        return fill(out, generator, Sampler::UniformDouble, DType::F64, &parameters, "uniform_");
    }
    let bits = out.dtype().mantissa_bits();
    let unused_bits = Arg::Long(32u32.saturating_sub(bits) as i64);
    let numbers = [low as f32, high as f32 - low as f32, top as f32, 2f32.powi(-(bits as i32))];
    let bytes = numbers.map(f32::to_ne_bytes);
    let [low, width, top, scale] = bytes.each_ref().map(|bytes| Arg::Bytes(bytes));
    let parameters = [unused_bits, low, width, top, scale];
    fill(out, generator, Sampler::UniformFloat, DType::F32, &parameters, "uniform_")
}

/// A distribution that `source/random.cl` knows by this number.
#[derive(Clone, Copy)]
enum Continuous {
    Normal,
    LogNormal,
    Exponential,
    Cauchy,
}

fn continuous(
    out: &Tensor,
    generator: &Generator,
    location: f64,
    scale: f64,
    kind: Continuous,
    operation: &'static str,
) -> Result<()> {
    let parameters = [Arg::Double(location), Arg::Double(scale), Arg::Long(kind as i64)];
    let dtype = out.dtype().compute();
    let sampler = if dtype == DType::F64 { Sampler::ContinuousDouble } else { Sampler::ContinuousFloat };
    fill(out, generator, sampler, dtype, &parameters, operation)
}

/// [`random::normal`]
pub fn normal(out: &Tensor, generator: &Generator, mean: f64, std: f64) -> Result<()> {
    continuous(out, generator, mean, std, Continuous::Normal, "normal_")
}

/// [`random::log_normal`]
pub fn log_normal(out: &Tensor, generator: &Generator, mean: f64, std: f64) -> Result<()> {
    continuous(out, generator, mean, std, Continuous::LogNormal, "log_normal_")
}

/// [`random::exponential`]
pub fn exponential(out: &Tensor, generator: &Generator, rate: f64) -> Result<()> {
    continuous(out, generator, 0.0, rate, Continuous::Exponential, "exponential_")
}

/// [`random::cauchy`]
pub fn cauchy(out: &Tensor, generator: &Generator, median: f64, sigma: f64) -> Result<()> {
    continuous(out, generator, median, sigma, Continuous::Cauchy, "cauchy_")
}

/// [`random::permutation`], which the host computes: each swap depends on those before it.
pub fn permutation(out: &Tensor, generator: &Generator) -> Result<()> {
    drop(Held::new(out, Access::Write)?);
    let layout = out.layout().row_major_like();
    let host = Tensor::with_new_memory(Device::Cpu, layout, out.dtype(), Fill::Uninitialized)?;
    random::permutation(&host, generator)?;
    transfer::copy(out, &host, host.layout())
}

/// The first element of a float64 tensor that is not valid, which the host looks for.
pub fn find_invalid(x: &Tensor, valid: fn(f64) -> bool) -> Result<Option<f64>> {
    random::find_invalid(&transfer::on_host(x)?, valid)
}

//! Numbers that follow from their position.

use super::launch::{Held, device as find_device, over_elements};
use super::program::{Kernels, Key, bare_preamble, kernels};
use super::transfer::on_device;
use crate::dtype::DType;
use crate::error::Result;
use crate::kernels::generate::{self, ELEMENTS_PER_BASE, LinspaceHalf};
use crate::kernels::item::ScalarBytes;
use crate::storage::{Access, Device, Fill};
use crate::tensor::Tensor;
use strided_opencl::Arg;

const TEXT: &str = include_str!("source/generate.cl");
const INTEGER_KERNELS: [&str; 2] = ["range_of_integers", "linspace_of_integers"];
const ALL_KERNELS: [&str; 4] = [INTEGER_KERNELS[0], INTEGER_KERNELS[1], "range_of_floats", "linspace"];

fn program(device: &'static strided_opencl::Device) -> Result<Kernels> {
    let names: &[&str] = if device.properties.double { &ALL_KERNELS } else { &INTEGER_KERNELS };
    kernels(device, Key::Generate, names, || Ok(bare_preamble(device, [])? + TEXT))
}

fn vector(device: Device, n: usize, dtype: DType) -> Result<Tensor> {
    Tensor::new_on(device, &[n as isize], dtype, Fill::Uninitialized)
}

/// [`generate::range`]
pub fn range(on: Device, n: usize, dtype: DType, start: ScalarBytes, step: ScalarBytes) -> Result<Tensor> {
    let device = find_device(on)?;
    if dtype.is_float() && !device.properties.double {
        return on_device(on, &generate::range(n, dtype, start, step)?);
    }
    let out = vector(on, n, dtype)?;
    let held = Held::new(&out, Access::Write)?;
    let kernel = &program(device)?[if dtype.is_float() { 2 } else { 0 }];
    // Zeros follow a narrow integer: arithmetic modulo a higher power of two has the same low bits.
    let number =
        |bytes: ScalarBytes| Arg::Long(i64::from_ne_bytes(std::array::from_fn(|i| bytes.bytes()[i])));
    let args = [held.arg(), Arg::Long(dtype.size() as i64), number(start), number(step)];
    over_elements(device, kernel, n, &args, "arange")?;
    Ok(out)
}

/// [`generate::int_linspace`]
pub fn int_linspace(on: Device, n: usize, dtype: DType, start: i128, end: i128) -> Result<Tensor> {
    if n > u32::MAX as usize {
        return on_device(on, &generate::int_linspace(n, dtype, start, end)?);
    }
    let device = find_device(on)?;
    let out = vector(on, n, dtype)?;
    let held = Held::new(&out, Access::Write)?;
    let gaps = n.max(2) as i128 - 1;
    let (quotient, remainder) = ((end - start).div_euclid(gaps), (end - start).rem_euclid(gaps));
    let numbers = [dtype.size() as i128, start, quotient, remainder, gaps, dtype.is_signed() as i128];
    let [size, start, quotient, remainder, gaps, is_signed] = numbers.map(|number| Arg::Long(number as i64));
    let args = [held.arg(), size, start, quotient, remainder, gaps, is_signed];
    over_elements(device, &program(device)?[1], n, &args, "linspace")?;
    Ok(out)
}

/// [`generate::linspace`]
pub fn linspace(on: Device, n: usize, start: f64, end: f64) -> Result<Tensor> {
    let device = find_device(on)?;
    let out = vector(on, n, DType::F64)?;
    let held = Held::new(&out, Access::Write)?;
    bare_preamble(device, [DType::F64])?;
    let halves = [LinspaceHalf::new(start, end, n), LinspaceHalf::new(end, start, n)];
    let [left, right] = halves.map(|half| half.numbers().map(|number| number.to_bits() as i64));
    let args = [
        held.arg(),
        Arg::Words(&left),
        Arg::Words(&right),
        Arg::Double(start),
        Arg::Double(end),
        Arg::Long(ELEMENTS_PER_BASE as i64),
    ];
    over_elements(device, &program(device)?[3], n, &args, "linspace")?;
    Ok(out)
}

//! Triangles of matrices, and identity matrices.

use super::launch::{Held, device_of, over_nest};
use super::program::{Kernels, Key, bare_preamble, kernels};
use super::source::LOOPS;
use super::transfer;
use crate::error::Result;
use crate::kernels::item::ScalarBytes;
use crate::kernels::triangle::{self, Triangle};
use crate::layout::{Dims, Layout};
use crate::nest::{Nest, Operand, Order};
use crate::scalar::Scalar;
use crate::storage::{Access, Device, Fill};
use crate::tensor::Tensor;
use strided_opencl::{Arg, Kernel};

const TEXT: &str = include_str!("source/triangle.cl");

fn program(device: &'static strided_opencl::Device, size: usize) -> Result<Kernels> {
    kernels(device, Key::Triangle { size }, &["keep", "eye"], || {
        let word = ["uchar", "ushort", "uint", "ulong", "ulong2"][size.trailing_zeros() as usize];
        let begin = bare_preamble(device, [])?;
        Ok(format!("{begin}#define OPERANDS 3\n#define W {word}\n{LOOPS}{TEXT}"))
    })
}

/// Launches a kernel over the elements of matrices, those of another layout, and the numbers of their diagonals.
fn over_diagonals(
    kernel: &Kernel,
    out: &Tensor,
    source: &Layout,
    args: &[Arg],
    operation: &'static str,
) -> Result<()> {
    let rank = out.layout().rank();
    let mut strides = Dims::from_elem(0, rank);
    (strides[rank - 2], strides[rank - 1]) = (-1, 1);
    let diagonals = Layout::strided(&out.layout().shape(), &strides, 0)?;
    let size = out.dtype().size();
    let operands = [
        Operand { layout: out.layout(), size },
        Operand { layout: source, size },
        Operand { layout: &diagonals, size: 1 },
    ];
    let nest = Nest::new(out.layout(), &operands, Order::Free);
    let offsets = [out.layout().offset(), source.offset(), 0];
    over_nest(device_of(out)?, kernel, &nest, &offsets, &[size, size, 1], args, operation)
}

/// [`triangle::keep`]
pub fn keep(out: &Tensor, x: Option<&Tensor>, diagonal: isize, upper: bool) -> Result<()> {
    if out.size() == 0 {
        return Ok(());
    }
    let program = program(device_of(out)?, out.dtype().size())?;
    let (to, from) = (Held::new(out, Access::Write)?, Held::new(x.unwrap_or(out), Access::Read)?);
    let numbers = [diagonal as i64, upper as i64, x.is_some() as i64].map(Arg::Long);
    let args = [to.arg(), from.arg(), numbers[0], numbers[1], numbers[2]];
    over_diagonals(&program[0], out, x.unwrap_or(out).layout(), &args, if upper { "triu" } else { "tril" })
}

/// Writes ones along the diagonal of a matrix, and zeros elsewhere.
pub fn eye(out: &Tensor) -> Result<()> {
    if out.size() == 0 {
        return Ok(());
    }
    let program = program(device_of(out)?, out.dtype().size())?;
    let to = Held::new(out, Access::Write)?;
    let one = ScalarBytes::cast(Scalar::Bool(true), out.dtype());
    let args = [to.arg(), Arg::Bytes(&one.bytes()[..out.dtype().size()])];
    over_diagonals(&program[1], out, out.layout(), &args, "eye")
}

/// [`triangle::indices`], which the host computes.
pub fn indices(out: &Tensor, triangle: Triangle, part: usize) -> Result<()> {
    let layout = out.layout().row_major_like();
    let host = Tensor::with_new_memory(Device::Cpu, layout, out.dtype(), Fill::Uninitialized)?;
    triangle::indices(&host, triangle, part)?;
    transfer::copy(out, &host, host.layout())
}

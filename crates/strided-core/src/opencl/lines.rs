//! Functions of lines. Softmax is a reduction of each line to its largest element and a sum of exponentials, and then an elementwise
//! operation with both.

use super::launch::{Held, device_of, over_nest_by};
use super::program::{Fold, Key, kernels, preamble};
use super::reduce::Reduction;
use super::source::{LANES, LOOPS, c_type, load, store};
use crate::dtype::DType;
use crate::error::Result;
use crate::kernels::lines::LineRequest;
use crate::kernels::reduce::ReductionTarget;
use crate::kernels::tables::reduce::TermStep;
use crate::nest::{Nest, Operand, Order};
use crate::storage::Access;
use crate::tensor::Tensor;

const SOFTMAX: &str = include_str!("source/softmax.cl");

/// `exp(x)` divided by its sum along the dim, or the logarithm of that. `result` is a floating dtype.
pub fn softmax(logarithm: bool, result: DType, request: &LineRequest) -> Result<()> {
    let LineRequest { x, out, dim, .. } = *request;
    if out.size() == 0 {
        return Ok(());
    }
    let (device, compute) = (device_of(out)?, result.compute());
    let mut shape = x.layout().shape();
    if let Some(extent) = shape.get_mut(dim) {
        *extent = 1;
    }
    let (max, sum) = (Tensor::like(x, &shape, compute)?, Tensor::like(x, &shape, compute)?);
    let cast = [TermStep::Cast(compute)];
    let steps = if x.dtype() == compute { &[][..] } else { &cast[..] };
    let reduction = Reduction { fold: Fold::Exponentials, steps, ordered: false, parameter: 0.0 };
    let target = |out| Some(ReductionTarget { out, keepdim_layout: out.layout() });
    reduction.run(x, [target(&max), target(&sum)])?;

    // CPUs compute exponentials as vectors.
    let lanes = match device.properties.kind {
        "cpu" if compute == DType::F32 => 16,
        "cpu" => 8,
        _ => 1,
    };
    let key = Key::Softmax { logarithm, compute, from: x.dtype(), out: out.dtype() };
    let kernels = kernels(device, key, &["write_softmax"], || {
        let mut text = preamble(device, compute, [x.dtype(), out.dtype()])?;
        text.push_str(&format!(
            "#define OPERANDS 4\n#define LANES {lanes}\n#define X {}\n#define Y {}\n#define TERM(i) {}\n#define STORE(i, value) {}\n{}{LOOPS}{LANES}{SOFTMAX}",
            c_type(x.dtype()),
            c_type(out.dtype()),
            load(x.dtype(), compute, "x", "(i)"),
            store(compute, out.dtype(), "y", "(i)", "(value)"),
            if logarithm { "#define LOGARITHM\n" } else { "" },
        ));
        Ok(text)
    })?;
    let (to, from) = (Held::new(out, Access::Write)?, Held::new(x, Access::Read)?);
    let facts = [Held::new(&max, Access::Read)?, Held::new(&sum, Access::Read)?];
    let all = [out, x, &max, &sum];
    let sizes = all.map(|x| x.dtype().size());
    let operands = [0, 1, 2, 3].map(|k| Operand { layout: all[k].layout(), size: sizes[k] });
    let nest = Nest::new(out.layout(), &operands, Order::Free);
    let offsets = all.map(|x| x.layout().offset());
    let args = [to.arg(), from.arg(), facts[0].arg(), facts[1].arg()];
    over_nest_by(lanes, device, &kernels[0], &nest, &offsets, &sizes, &args, "softmax")
}

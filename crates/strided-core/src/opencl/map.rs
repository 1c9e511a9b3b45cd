//! Elementwise operations.
//!
//! A program has two kernels: `dense` for operands that are all contiguous, and `general` for any strides.

use super::expression::{expression, name};
use super::launch::{Held, device_of, over_nest_by, over_segments, segment};
use super::program::{Key, kernels, not_available_on, preamble};
use super::source::{LOOPS, c_type, load, store, undefined_function};
use crate::dtype::DType;
use crate::error::Result;
use crate::kernels::item::ScalarBytes;
use crate::kernels::map::{Input, Output};
use crate::kernels::tables::map::{Body, kernels as cpu_kernels};
use crate::layout::Layout;
use crate::nest::{Nest, Operand, Order};
use crate::op_table::Op;
use crate::storage::Access;
use crate::tensor::Tensor;
use smallvec::SmallVec;
use std::fmt::Write;
use strided_opencl::Arg;

/// Applies a body of an operation: the contract of [`crate::backend::map::compute_elements`].
pub fn compute_elements(op: Op, body: Body, compute: DType, inputs: &[Input], out: Output) -> Result<()> {
    let out: &Tensor = match out {
        Output::New(out) => out,
        Output::Given(out) => out,
    };
    // The dtypes of operands and result are facts of the operation, and so those of the CPU's kernels.
    let facts = cpu_kernels(op, body, compute).expect("rules choose a dtype of the operation's class");
    let dtypes = facts.operands();
    let key = Key::Map {
        op: op as u16,
        with_keywords: body == Body::WithKeywords,
        compute,
        inputs: std::array::from_fn(|k| match inputs.get(k) {
            Some(Input::Tensor(x)) => Some(x.dtype()),
            _ => None,
        }),
        out: out.dtype(),
    };
    let program = Program { op, body, compute, dtypes, result: facts.result(), inputs, out: out.dtype() };
    run(key, name(op), &program, out)
}

/// Copies elements, with a cast where dtypes differ. `layout` is that of `src`, expanded to the shape of `out`.
pub fn copy(out: &Tensor, src: &Tensor, layout: &Layout) -> Result<()> {
    if out.size() == 0 {
        return Ok(());
    }
    let device = device_of(out)?;
    let (to, from) = (Held::new(out, Access::Write)?, Held::new(src, Access::Read)?);
    let contiguous = out.layout().is_row_major() && layout.is_row_major();
    if out.dtype() == src.dtype() && out.dtype() != DType::Bool && contiguous {
        let size = out.dtype().size();
        let (first, last) = (layout.offset() as usize * size, out.layout().offset() as usize * size);
        let bytes = out.size() * size;
        return Ok(device.copy(from.memory(), first, to.memory(), last, bytes, "copy_")?);
    }
    let key = Key::Copy { from: src.dtype(), to: out.dtype() };
    let kernels = kernels(device, key, &["dense", "general"], || {
        let mut text = preamble(device, out.dtype(), [src.dtype()])?;
        let value = load(src.dtype(), src.dtype(), "p1", "i1");
        let assign = match src.dtype() {
            // These become numbers when they are loaded.
            DType::F16 | DType::BF16 if src.dtype() != out.dtype() => {
                let value = load(src.dtype(), DType::F32, "p1", "i1");
                store(DType::F32, out.dtype(), "p0", "i0", &value)
            }
            from => store(from, out.dtype(), "p0", "i0", &value),
        };
        write_kernels(
            &mut text,
            segment(device),
            out.dtype(),
            &[Parameter { k: 0, dtype: src.dtype(), scalar: false }],
            &assign,
        );
        Ok(text)
    })?;
    let args = [to.arg(), from.arg()];
    if contiguous {
        let starts = [Arg::Long(out.layout().offset() as i64), Arg::Long(layout.offset() as i64)];
        let args = [args[0], starts[0], args[1], starts[1]];
        return over_segments(device, &kernels[0], out.size(), &args, "copy_");
    }
    let sizes = [out.dtype().size(), src.dtype().size()];
    let operands = [Operand { layout: out.layout(), size: sizes[0] }, Operand { layout, size: sizes[1] }];
    let nest = Nest::new(out.layout(), &operands, Order::Free);
    let offsets = [out.layout().offset(), layout.offset()];
    over_nest_by(segment(device), device, &kernels[1], &nest, &offsets, &sizes, &args, "copy_")
}

/// Writes a value to every element.
pub fn fill(out: &Tensor, value: ScalarBytes) -> Result<()> {
    if out.size() == 0 {
        return Ok(());
    }
    let (device, size) = (device_of(out)?, out.dtype().size());
    let to = Held::new(out, Access::Write)?;
    if out.layout().is_row_major() {
        let first = out.layout().offset() as usize * size;
        return Ok(device.fill(to.memory(), first, out.size() * size, &value.bytes()[..size], "fill_")?);
    }
    // One element that is copied to all others.
    let one = Tensor::like(out, &[], out.dtype())?;
    let held = Held::new(&one, Access::Write)?;
    device.fill(held.memory(), 0, size, &value.bytes()[..size], "fill_")?;
    copy(out, &one, &one.layout().expand(&out.layout().shape())?)
}

/// What the source of a program depends on.
struct Program<'a> {
    op: Op,
    body: Body,
    compute: DType,
    /// The dtype of each input of the expression.
    dtypes: &'a [DType],
    /// The dtype of its value.
    result: DType,
    inputs: &'a [Input<'a>],
    out: DType,
}

/// An input of a kernel: `p1`, `p2` … are pointers, `k1` … scalars.
struct Parameter {
    k: usize,
    dtype: DType,
    scalar: bool,
}

fn run(key: Key, operation: &'static str, program: &Program, out: &Tensor) -> Result<()> {
    if out.size() == 0 {
        return Ok(());
    }
    let device = device_of(out)?;
    let kernels = kernels(device, key, &["dense", "general"], || program.text(device))?;
    let target = Held::new(out, Access::Write)?;
    let mut held: SmallVec<[Held; 4]> = SmallVec::new();
    for input in program.inputs {
        if let Input::Tensor(x) = input {
            held.push(Held::new(x, Access::Read)?);
        }
    }
    let tensors = || {
        program.inputs.iter().filter_map(|input| if let Input::Tensor(x) = input { Some(*x) } else { None })
    };
    let dense = out.layout().is_row_major()
        && tensors().all(|x| x.layout().same_shape(out.layout()) && x.layout().is_row_major());
    let mut args: SmallVec<[Arg; 12]> = smallvec::smallvec![target.arg()];
    if dense {
        args.push(Arg::Long(out.layout().offset() as i64));
    }
    let mut memories = held.iter();
    for (input, dtype) in program.inputs.iter().zip(program.dtypes) {
        match input {
            Input::Tensor(x) => {
                args.push(memories.next().expect("one for each tensor").arg());
                if dense {
                    args.push(Arg::Long(x.layout().offset() as i64));
                }
            }
            Input::Scalar(value) => args.push(Arg::Bytes(&value.bytes()[..dtype.size()])),
        }
    }
    if dense {
        return over_segments(device, &kernels[0], out.size(), &args, operation);
    }
    let all = || std::iter::once(out).chain(tensors());
    let operands: SmallVec<[Operand; 5]> =
        all().map(|x| Operand { layout: x.layout(), size: x.dtype().size() }).collect();
    let nest = Nest::new(out.layout(), &operands, Order::Free);
    let offsets: SmallVec<[isize; 5]> = all().map(|x| x.layout().offset()).collect();
    let sizes: SmallVec<[usize; 5]> = operands.iter().map(|operand| operand.size).collect();
    over_nest_by(segment(device), device, &kernels[1], &nest, &offsets, &sizes, &args, operation)
}

impl Program<'_> {
    fn text(&self, device: &strided_opencl::Device) -> Result<String> {
        let compute = self.compute;
        let unavailable = || not_available_on(device, format!("for {}", compute.name()));
        let expression = expression(self.op, self.body == Body::WithKeywords).ok_or_else(unavailable)?;
        let inputs = self.inputs.iter().zip(self.dtypes);
        let dtypes = inputs.clone().map(|(_, dtype)| *dtype).chain([self.out]);
        let tensors = self
            .inputs
            .iter()
            .filter_map(|input| if let Input::Tensor(x) = input { Some(x.dtype()) } else { None });
        let mut text = preamble(device, compute, dtypes.chain(tensors))?;
        if undefined_function(&expression, &text).is_some() {
            return Err(unavailable());
        }
        let mut statements = String::new();
        let mut parameters: Vec<Parameter> = Vec::new();
        for (k, (input, &dtype)) in inputs.enumerate() {
            let (value, memory) = match input {
                Input::Tensor(x) => {
                    (load(x.dtype(), dtype, &format!("p{}", k + 1), &format!("i{}", k + 1)), x.dtype())
                }
                Input::Scalar(_) => (format!("k{}", k + 1), dtype),
            };
            let _ = writeln!(statements, "    const {} v{k} = {value};", c_type(dtype));
            parameters.push(Parameter { k, dtype: memory, scalar: matches!(input, Input::Scalar(_)) });
        }
        let _ = writeln!(statements, "    const {} value = {expression};", c_type(self.result));
        statements.push_str(&store(self.result, self.out, "p0", "i0", "value"));
        write_kernels(&mut text, segment(device), self.out, &parameters, &statements);
        Ok(text)
    }
}

/// Appends the kernels `dense` and `general`, whose items compute `segment` elements. In the statements, `p0` is the output, `p1` … are tensors, `k1` … are scalars, and `i0`,
/// `i1` … are the indices of the element.
fn write_kernels(text: &mut String, segment: usize, out: DType, parameters: &[Parameter], statements: &str) {
    let tensors: Vec<&Parameter> = parameters.iter().filter(|p| !p.scalar).collect();
    let (mut dense, mut general) = (String::new(), String::new());
    let (mut dense_indices, mut general_indices) = (String::new(), String::new());
    let mut steps = String::new();
    for (place, k) in std::iter::once(0).chain(tensors.iter().map(|p| p.k + 1)).enumerate() {
        let _ = writeln!(dense_indices, "    const long i{k} = s{k} + i;");
        let _ = writeln!(steps, "    const long t{k} = nest.step[{place}][nest.loops - 1];");
        let _ = writeln!(general_indices, "    const long i{k} = at[{place}] + x * t{k};");
    }
    for p in parameters {
        let (k, dtype) = (p.k + 1, c_type(p.dtype));
        if p.scalar {
            let _ = write!(dense, ", {dtype} k{k}");
            let _ = write!(general, ", {dtype} k{k}");
        } else {
            let _ = write!(dense, ", __global const {dtype} *p{k}, long s{k}");
            let _ = write!(general, ", __global const {dtype} *p{k}");
        }
    }
    let out = c_type(out);
    let operands = tensors.len() + 1;
    let _ = write!(
        text,
        "#define OPERANDS {operands}\n{LOOPS}
__kernel void dense(long n, __global {out} *p0, long s0{dense}) {{
    const long first = get_global_id(0) * {segment}L, last = min(first + {segment}L, n);
    for (long i = first; i < last; i++) {{
{dense_indices}{statements}
    }}
}}
__kernel void general(Nest nest, long inner, long outer, __global {out} *p0{general}) {{
    const long first = get_global_id(0) * {segment}L, last = min(first + {segment}L, inner), y = get_global_id(1);
    if (y >= outer) return;
    long at[OPERANDS];
    locate(&nest, y, at);
{steps}    for (long x = first; x < last; x++) {{
{general_indices}{statements}
    }}
}}
"
    );
}

//! Products of matrices.
//!
//! ```text
//! direct     a work item for each element: products with vectors, small ones, and long sums, which are cut into parts
//! packed     panels and registers, for CPUs, where local memory and barriers are slow
//! tiled      tiles in local memory, for all other devices
//! ```
//! Sums are added in an order that depends on extents and strides alone, so that a product has the same bits each time.

use super::launch::{Held, device_of};
use super::program::{Kernels, Key, bare_preamble, kernels};
use super::source::c_type;
use crate::cpu::{self, Level};
use crate::dtype::DType;
use crate::error::Result;
use crate::kernels::item::ScalarBytes;
use crate::kernels::matmul::ProductPlan;
use crate::scalar::Scalar;
use crate::storage::Access;
use crate::tensor::Tensor;
use std::fmt::Write;
use strided_opencl::{Arg, Device, Kernel, Memory};

const TEXT: &str = include_str!("source/products.cl");
const PACKED: &str = include_str!("source/products_packed.cl");
const TILED: &str = include_str!("source/products_tiled.cl");

/// `tiled` or `packed`, so that tests run the kernels for GPUs on a CPU.
const KERNEL_VARIABLE: &str = "STRIDED_OPENCL_PRODUCTS";

/// The loops of a batch that a kernel runs itself; `source/products.cl` has the same number.
const MAX_BATCH_LOOPS: usize = 8;
/// Multiplications of a product that one work item for each element computes.
const MAX_DIRECT_WORK: usize = 1 << 14;
/// The smallest part of a sum that is worth a work item.
const MIN_SPLIT_DEPTH: usize = 1 << 10;
/// Panels of rows, and of columns at most, whose products a work item computes.
const ROW_PANELS_PER_ITEM: usize = 8;
const MAX_COLUMN_PANELS_PER_ITEM: usize = 4;
/// Work items for each unit of a device, at least, where the product is large enough.
const ITEMS_PER_UNIT: usize = 8;
/// Bytes of a column panel that a work item uses at a time: half of a small first-level cache.
const DEPTH_BLOCK_BYTES: usize = 16 << 10;
/// Bytes of packed operands: larger batches are multiplied in several steps.
const MAX_PACKED_BYTES: usize = 128 << 20;
/// Groups over elements.
const LINE_GROUP: usize = 16;

/// How the program of a dtype is made for a device.
struct Form {
    is_packed: bool,
    /// Elements of a vector.
    lanes: usize,
    /// Rows, and vectors in a row, of the sums that a work item has in registers.
    rows: usize,
    vectors: usize,
    /// The side of a group of work items that share a tile.
    group: usize,
    /// Whether fused multiply-add is an instruction although the device does not say so: PoCL does not for a CPU.
    is_fused: bool,
}

impl Form {
    fn new(device: &Device, dtype: DType) -> Form {
        let properties = &device.properties;
        let is_packed = match std::env::var(KERNEL_VARIABLE).as_deref() {
            Ok("tiled") => false,
            Ok("packed") => true,
            _ => properties.kind == "cpu",
        };
        // 2 * STEP * (SIDE + 1) elements of local memory, for a group of 16.
        let has_room = 2 * 16 * 65 * dtype.size() <= properties.local_memory;
        let group = if has_room && properties.max_work_group >= 256 { 16 } else { 8 };
        let (lanes, rows, vectors) = match dtype {
            DType::C64 => (8, 6, 1),
            DType::C128 => (4, 6, 1),
            DType::F32 | DType::U32 => (8, 6, 2),
            DType::F64 | DType::U64 => (4, 6, 2),
            _ => (16, 6, 2),
        };
        let is_fused = properties.kind == "cpu" && cpu::level() >= Level::Fused;
        Form { is_packed, lanes, rows, vectors, group, is_fused }
    }

    fn columns(&self) -> usize {
        self.lanes * self.vectors
    }

    fn text(&self, dtype: DType) -> String {
        let (lanes, real) = (self.lanes, c_type(dtype.real()));
        let mut text = format!("#define T {}\n#define R {real}\n#define V {real}{lanes}\n", c_type(dtype));
        let _ =
            writeln!(text, "#define LOAD(p) vload{lanes}(0, p)\n#define STORE(v, p) vstore{lanes}(v, 0, p)");
        if dtype.is_complex() {
            text.push_str("#define IS_COMPLEX\n#define PARTS 2\n");
        } else {
            let _ = writeln!(text, "#define LANES {lanes}\n#define PARTS 1");
        }
        if self.is_fused && dtype.real().is_float() {
            text.push_str("#define HAS_FAST_FMA\n");
        }
        match dtype.real() {
            DType::F32 => {
                text.push_str("#define IS_FLOAT\n#ifdef FP_FAST_FMAF\n#define HAS_FAST_FMA\n#endif\n")
            }
            DType::F64 => {
                text.push_str("#define IS_FLOAT\n#ifdef FP_FAST_FMA\n#define HAS_FAST_FMA\n#endif\n")
            }
            _ => {}
        }
        text.push_str(TEXT);
        if !self.is_packed {
            let _ = write!(text, "#define GROUP {}\n{TILED}", self.group);
            return text;
        }
        let (rows, columns) = (self.rows, self.columns());
        let _ = writeln!(text, "#define PANEL_ROWS {rows}\n#define PANEL_COLUMNS {columns}");
        let depth_block = DEPTH_BLOCK_BYTES / (columns * dtype.size());
        let _ = writeln!(
            text,
            "#define DEPTH_BLOCK {depth_block}\n#define ROW_PANELS_PER_ITEM {ROW_PANELS_PER_ITEM}"
        );
        let _ = writeln!(text, "#define MAX_COLUMN_PANELS_PER_ITEM {MAX_COLUMN_PANELS_PER_ITEM}");
        let _ = writeln!(text, "#define MICRO_KERNEL {}", self.micro_kernel(dtype.is_complex()));
        text + PACKED
    }

    /// The statements that add the product of the panels `pa` and `pb` to `block`. Each sum is a variable, so that it is in a
    /// register. Complex sums have vectors of real parts, and as many of imaginary parts.
    fn micro_kernel(&self, is_complex: bool) -> String {
        let (rows, lanes, parts) = (self.rows, self.lanes, 1 + is_complex as usize);
        let vectors = self.vectors * parts;
        // The blocks of the parts follow each other.
        let place = |r: usize, v: usize| {
            let (part, v) = (v / self.vectors, v % self.vectors);
            ((part * rows + r) * self.vectors + v) * lanes
        };
        let all = || (0..rows).flat_map(|r| (0..vectors).map(move |v| (r, v)));
        let mut text = String::new();
        for (r, v) in all() {
            let _ = write!(text, "V s{r}_{v} = LOAD(block + {}); ", place(r, v));
        }
        text.push_str("for (long k = 0; k < depth; k++) { ");
        for v in 0..vectors {
            let _ = write!(text, "const V b{v} = LOAD(pb + {}); ", v * lanes);
        }
        for r in 0..rows {
            for part in 0..parts {
                let _ = write!(text, "const V a{r}_{part} = (V)(pa[{}]); ", r * parts + part);
            }
            for v in 0..vectors {
                let _ = write!(text, "s{r}_{v} = MULTIPLY_ADD(a{r}_0, b{v}, s{r}_{v}); ");
            }
            if is_complex {
                let _ = write!(text, "s{r}_0 = MULTIPLY_ADD(-a{r}_1, b1, s{r}_0); ");
                let _ = write!(text, "s{r}_1 = MULTIPLY_ADD(a{r}_1, b0, s{r}_1); ");
            }
        }
        let _ = write!(text, "pa += {}; pb += {}; }} ", rows * parts, vectors * lanes);
        for (r, v) in all() {
            let _ = write!(text, "STORE(s{r}_{v}, block + {}); ", place(r, v));
        }
        text
    }
}

/// The dtype of a program that multiplies elements of a dtype: integers wrap, whether they are signed or not.
fn program_dtype(dtype: DType) -> DType {
    match dtype {
        DType::I8 => DType::U8,
        DType::I16 => DType::U16,
        DType::I32 => DType::U32,
        DType::I64 => DType::U64,
        other => other,
    }
}

/// The arguments of a product.
struct Call<'a> {
    device: &'static Device,
    kernels: Kernels,
    form: Form,
    plan: ProductPlan,
    /// The loops of the batch that kernels run, and where the operands start.
    loops: usize,
    starts: [isize; 3],
    /// The output and the operands, exchanged if the plan is.
    held: [Held; 3],
    /// Bytes of an element.
    size: usize,
    alpha: &'a [u8],
    beta: &'a [u8],
    alpha_is_one: bool,
    beta_kind: i64,
}

/// [`crate::kernels::matmul::multiply`]
pub fn multiply(out: &Tensor, a: &Tensor, b: &Tensor, alpha: Scalar, beta: Scalar) -> Result<()> {
    assert!(out.dtype() == a.dtype() && out.dtype() == b.dtype());
    if out.size() == 0 {
        return Ok(());
    }
    let (device, dtype) = (device_of(out)?, program_dtype(out.dtype()));
    let form = Form::new(device, dtype);
    let names: &[&str] = match form.is_packed {
        true if dtype.is_complex() => &["direct", "add_parts", "pack", "packed"],
        true => &["direct", "add_parts", "pack", "packed", "wide"],
        false => &["direct", "add_parts", "tiled"],
    };
    let kernels = kernels(device, Key::Product { dtype }, names, || {
        Ok(bare_preamble(device, [dtype])? + &form.text(dtype))
    })?;
    let mut operands = [out, a, b];
    let plan = ProductPlan::new(out.layout(), a.layout(), b.layout());
    if plan.is_transposed {
        operands.swap(1, 2);
    }
    let access = [Access::Write, Access::Read, Access::Read];
    let [to, left, right] = [0, 1, 2].map(|k| Held::new(operands[k], access[k]));
    let number = |value: Scalar| ScalarBytes::cast(value, out.dtype());
    let (alpha, beta, size) = (number(alpha), number(beta), out.dtype().size());
    let is = |value: &ScalarBytes, other: Scalar| value.bytes()[..size] == number(other).bytes()[..size];
    let beta_kind = match &beta {
        beta if is(beta, Scalar::Bool(false)) || is(beta, Scalar::Float(-0.0)) => 0,
        beta if is(beta, Scalar::Bool(true)) => 1,
        _ => 2,
    };
    let call = Call {
        device,
        kernels,
        form,
        loops: plan.loops.len().min(MAX_BATCH_LOOPS),
        plan,
        starts: operands.map(|x| x.layout().offset()),
        held: [to?, left?, right?],
        size,
        alpha: &alpha.bytes()[..size],
        beta: &beta.bytes()[..size],
        alpha_is_one: is(&alpha, Scalar::Bool(true)),
        beta_kind,
    };
    call.run()
}

impl Call<'_> {
    fn run(mut self) -> Result<()> {
        // The host runs the loops of a batch that are too many for a kernel.
        let host: Vec<_> = self.plan.loops[..self.plan.loops.len() - self.loops].to_vec();
        let starts = self.starts;
        for index in 0..host.iter().map(|each| each.extent).product() {
            let mut left: usize = index;
            self.starts = starts;
            for each in host.iter().rev() {
                let at = (left % each.extent) as isize;
                left /= each.extent;
                (0..3).for_each(|k| self.starts[k] += at * each.strides[k]);
            }
            self.run_batch()?;
        }
        Ok(())
    }

    /// The number of products that a kernel handles.
    fn batch(&self) -> usize {
        self.plan.loops[self.plan.loops.len() - self.loops..].iter().map(|each| each.extent).product()
    }

    fn run_batch(&self) -> Result<()> {
        let plan = &self.plan;
        if plan.rows == 1 || plan.columns == 1 || plan.work_of_one() <= MAX_DIRECT_WORK {
            self.direct()
        } else if self.form.is_packed {
            self.packed()
        } else {
            self.tiled()
        }
    }

    /// `Product` of `source/products.cl`.
    fn words(&self, splits: usize, split_depth: usize, first: usize) -> Vec<i64> {
        let plan = &self.plan;
        let loops = &plan.loops[plan.loops.len() - self.loops..];
        let mut words: Vec<i64> = vec![plan.rows as i64, plan.columns as i64, plan.depth as i64];
        words.extend(self.starts.map(|start| start as i64));
        for dim in 0..2 {
            words.extend(plan.strides.map(|strides| strides[dim] as i64));
        }
        words.extend([self.batch() as i64, loops.len() as i64]);
        let rest = || std::iter::repeat_n(0, MAX_BATCH_LOOPS - loops.len());
        words.extend(loops.iter().map(|each| each.extent as i64).chain(rest()));
        for k in 0..3 {
            words.extend(loops.iter().map(|each| each.strides[k] as i64).chain(rest()));
        }
        words.extend([splits, split_depth, first].map(|number| number as i64));
        words.extend([self.alpha_is_one as i64, self.beta_kind]);
        words
    }

    /// Launches a kernel over two dims in groups of the given shape.
    fn launch(&self, kernel: &Kernel, args: &[Arg], extents: [usize; 2], group: [usize; 2]) -> Result<()> {
        let global = [0, 1].map(|dim| extents[dim].next_multiple_of(group[dim]));
        Ok(self.device.launch(kernel, args, global, group, "matmul")?)
    }

    fn direct(&self) -> Result<()> {
        let plan = &self.plan;
        let outputs = plan.rows * plan.columns * self.batch();
        // More work items than a device runs at once; a CPU runs few, and the parts of long sums cost memory.
        let wanted: usize = if self.device.properties.kind == "cpu" { 1 << 6 } else { 1 << 14 };
        let is_wide = self.kernels.len() > 4 && plan.strides[2][1] == 1 && plan.strides[2][0] != 1;
        let columns_per_item = if is_wide { self.form.columns() } else { 1 };
        let splits = (wanted * columns_per_item / outputs).clamp(1, (plan.depth / MIN_SPLIT_DEPTH).max(1));
        let split_depth = plan.depth.div_ceil(splits);
        let splits = if split_depth == 0 { 1 } else { plan.depth.div_ceil(split_depth) };
        let words = self.words(splits, split_depth, 0);
        let parts =
            if splits == 1 { None } else { Some(Memory::new(self.device, splits * outputs * self.size)?) };
        let [out, a, b] = self.held.each_ref().map(Held::arg);
        let (alpha, beta) = (Arg::Bytes(self.alpha), Arg::Bytes(self.beta));
        let parts_arg = parts.as_ref().map_or(out, Arg::Memory);
        let args = [Arg::Words(&words), out, a, b, alpha, beta, parts_arg];
        let rows = plan.rows * self.batch();
        let group = [LINE_GROUP.min(self.device.properties.max_work_group), 1];
        let (kernel, extents) =
            (if is_wide { 4 } else { 0 }, [plan.columns.div_ceil(columns_per_item), rows * splits]);
        self.launch(&self.kernels[kernel], &args, extents, if is_wide { [1, 1] } else { group })?;
        if splits > 1 {
            let args = [Arg::Words(&words), out, alpha, beta, parts_arg];
            self.launch(&self.kernels[1], &args, [plan.columns, rows], group)?;
        }
        Ok(())
    }

    fn tiled(&self) -> Result<()> {
        let (plan, group) = (&self.plan, self.form.group);
        if self.kernels[2].max_group < group * group {
            return self.direct();
        }
        let words = self.words(1, plan.depth, 0);
        let [out, a, b] = self.held.each_ref().map(Held::arg);
        let args = [Arg::Words(&words), out, a, b, Arg::Bytes(self.alpha), Arg::Bytes(self.beta)];
        let tiles = |extent: usize| extent.div_ceil(4 * group) * group;
        let extents = [tiles(plan.columns), tiles(plan.rows) * self.batch()];
        self.launch(&self.kernels[2], &args, extents, [group, group])
    }

    fn packed(&self) -> Result<()> {
        let plan = &self.plan;
        let (rows, columns) = (self.form.rows, self.form.columns());
        let panels = [plan.rows.div_ceil(rows), plan.columns.div_ceil(columns)];
        let bytes = [panels[0] * rows, panels[1] * columns].map(|lines| lines * plan.depth * self.size);
        let step = (MAX_PACKED_BYTES / (bytes[0] + bytes[1])).clamp(1, self.batch());
        let [left, right] = bytes.map(|bytes| Memory::new(self.device, bytes * step));
        let (left, right) = (left?, right?);
        let [out, a, b] = self.held.each_ref().map(Held::arg);
        let group = [LINE_GROUP.min(self.device.properties.max_work_group), 1];
        let row_groups = panels[0].div_ceil(ROW_PANELS_PER_ITEM);
        let items = row_groups * panels[1] * step;
        let per_item = (items / (ITEMS_PER_UNIT * self.device.properties.compute_units.max(1)))
            .clamp(1, MAX_COLUMN_PANELS_PER_ITEM);
        for first in (0..self.batch()).step_by(step) {
            let products = step.min(self.batch() - first);
            let words = self.words(1, plan.depth, first);
            let long = |number: usize| Arg::Long(number as i64);
            let operands = [(&left, a, 1, plan.rows, rows), (&right, b, 2, plan.columns, columns)];
            for (to, from, k, lines, width) in operands {
                let numbers = [k, lines, width, products].map(long);
                let args = [
                    Arg::Words(&words),
                    Arg::Memory(to),
                    from,
                    numbers[0],
                    numbers[1],
                    numbers[2],
                    numbers[3],
                ];
                let extents = [plan.depth, lines.div_ceil(width) * products];
                self.launch(&self.kernels[2], &args, extents, group)?;
            }
            let args = [
                Arg::Words(&words),
                out,
                Arg::Memory(&left),
                Arg::Memory(&right),
                Arg::Bytes(self.alpha),
                Arg::Bytes(self.beta),
                long(products),
                long(per_item),
            ];
            let extents = [row_groups, panels[1].div_ceil(per_item) * products];
            self.launch(&self.kernels[3], &args, extents, [1, 1])?;
        }
        Ok(())
    }
}

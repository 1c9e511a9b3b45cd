//! Reductions: the counterpart of `kernels/reduce`, whose results they have up to rounding.
//!
//! A program has two kernels (`source/reduce.cl`). `fold` has the terms of an output reduced by one work item or, where outputs are few,
//! by several, each of which leaves an accumulator in memory; `merge` merges those. How terms are divided follows from sizes and from the
//! kind of the device, so that a result has the same bits each time. Floats are added with a second number for what is rounded off,
//! which makes the order of additions nearly irrelevant.

use super::launch::{Held, MAX_LOOPS, device_of, group_size, nest_words};
use super::map;
use super::program::{Fold, Kernels, Key, StepKey, kernels, not_available_on, preamble};
use super::source::{LANES, LOOPS, c_type, convert, load, store};
use crate::dtype::{Category, DType};
use crate::error::Result;
use crate::kernels::reduce::ReductionTarget;
use crate::kernels::tables::reduce::TermStep;
use crate::layout::{Dims, Layout};
use crate::nest::{Loop, Nest, OPERANDS, Operand, Order};
use crate::op_table::ReduceOp;
use crate::storage::{Access, Fill};
use crate::tensor::Tensor;
use smallvec::SmallVec;
use std::fmt::Write;
use strided_opencl::{Arg, Device, Memory};

const FOLDS: &str = include_str!("source/folds.cl");
const REDUCE: &str = include_str!("source/reduce.cl");

/// Items of a group on a CPU.
const CPU_GROUP: usize = 4;
/// At least the size of an accumulator of any fold.
const ACCUMULATOR_BYTES: usize = 64;

/// One reduction: the contract of [`crate::backend::reduce::reduce`], for any fold.
pub struct Reduction<'a> {
    pub fold: Fold,
    pub steps: &'a [TermStep],
    pub ordered: bool,
    pub parameter: f64,
}

/// How a device runs a reduction.
struct Scheme {
    /// Accumulators of a work item.
    lanes: usize,
    /// Work items that keep the device busy.
    items: usize,
    /// Terms of an output for which another work item pays off.
    min_terms: usize,
    /// Accumulators that a work item merges.
    merged: usize,
    /// Whether neighbouring work items take neighbouring terms, in groups. A CPU has groups of [`CPU_GROUP`] items, each with terms of its own.
    interleaved: bool,
}

impl Reduction<'_> {
    /// Reduces `x` into one or both results.
    pub fn run(&self, x: &Tensor, targets: [Option<ReductionTarget>; 2]) -> Result<()> {
        let Some(some) = targets.iter().flatten().next() else { return Ok(()) };
        if some.out.size() == 0 {
            return Ok(());
        }
        let mut loops = ReductionLoops::new(x, &targets, self.ordered);
        if loops.kept.len() > MAX_LOOPS || loops.reduced.len() > MAX_LOOPS {
            return self.run_copied(x, targets);
        }
        self.run_loops(x, targets.each_ref().map(|target| target.as_ref().map(|t| t.out)), &mut loops)
    }

    fn run_loops(&self, x: &Tensor, outs: [Option<&Tensor>; 2], loops: &mut ReductionLoops) -> Result<()> {
        let device = device_of(x)?;
        let program = Program { reduction: self, from: x.dtype(), outs: outs.map(|out| Some(out?.dtype())) };
        let scheme = Scheme::new(device, program.terms(), self.fold);
        let kernels = program.kernels(device, &scheme)?;
        let from = Held::new(x, Access::Read)?;
        let held = [0, 1].map(|k| outs[k].map(|out| Held::new(out, Access::Write)));
        let [first, second] = held;
        let (first, second) = (first.transpose()?, second.transpose()?);
        let some = first.as_ref().or(second.as_ref()).expect("at least one result is wanted");
        let targets = [first.as_ref().unwrap_or(some), second.as_ref().unwrap_or(some)];

        let sizes = [0, 1, 2].map(|k| match k {
            1 => x.dtype().size(),
            k => outs[k / 2].or(outs[1 - k / 2]).map_or(1, |out| out.dtype().size()),
        });
        let mut start = [0; 3];
        for (k, at) in start.iter_mut().enumerate() {
            let tensor = if k == 1 { Some(x) } else { outs[k / 2].or(outs[1 - k / 2]) };
            let offset = tensor.map_or(0, |tensor| tensor.layout().offset());
            *at = offset * sizes[k] as isize + loops.shift[k];
        }
        let split = Split::new(loops, &scheme);
        let loops = &*loops;
        let kept = nest_words(&loops.kept, &start, &sizes);
        let reduced = nest_words(&loops.reduced, &[0; 3], &sizes);
        let words = split.words(loops);
        let operation = self.name();
        let launch = |kernel: usize, args: &[Arg], items: usize| -> Result<()> {
            let group = if scheme.interleaved { group_size(device, &kernels[kernel]) } else { CPU_GROUP };
            let global = [items.next_multiple_of(group), 1];
            Ok(device.launch(&kernels[kernel], args, global, [group, 1], operation)?)
        };
        let power = self.steps.iter().find_map(|step| match step {
            TermStep::Pow(p) => Some(*p),
            _ => None,
        });
        let number = power.unwrap_or(self.parameter);
        let single = (number as f32).to_le_bytes();
        let parameter = if device.properties.double { Arg::Double(number) } else { Arg::Bytes(&single) };
        let outputs = loops.outputs();
        let scratch = |parts: usize| -> Result<Memory> {
            Ok(Memory::new(device, if parts == 1 { 1 } else { parts * outputs * ACCUMULATOR_BYTES })?)
        };
        let mut parts = split.parts();
        let mut partial = scratch(parts)?;
        let args = [
            Arg::Words(&kept),
            Arg::Words(&reduced),
            Arg::Words(&words),
            from.arg(),
            targets[0].arg(),
            targets[1].arg(),
            Arg::Memory(&partial),
            parameter,
        ];
        launch(0, &args, split.items)?;
        while parts > 1 {
            let left = parts.div_ceil(scheme.merged);
            let merged = scratch(left)?;
            let counts = [outputs, parts, left, loops.terms].map(|n| Arg::Long(n as i64));
            let args = [
                Arg::Words(&kept),
                counts[0],
                counts[1],
                counts[2],
                counts[3],
                Arg::Memory(&partial),
                Arg::Memory(&merged),
                targets[0].arg(),
                targets[1].arg(),
                parameter,
            ];
            launch(1, &args, outputs * left)?;
            (parts, partial) = (left, merged);
        }
        Ok(())
    }

    /// Reduces a row-major copy with the reduced dims last: for tensors whose loops are too many for a kernel.
    fn run_copied(&self, x: &Tensor, targets: [Option<ReductionTarget>; 2]) -> Result<()> {
        let modes = x.layout().modes();
        let some = targets.iter().flatten().next().expect("at least one result is wanted").keepdim_layout;
        let is_kept = |&dim: &isize| some.modes()[dim as usize].extent == modes[dim as usize].extent;
        let (mut order, reduced): (Dims, Dims) = (0..modes.len() as isize).partition(is_kept);
        order.extend(reduced);
        let row_major = |layout: &Layout, of: &Tensor| {
            Tensor::with_new_memory(of.device(), layout.row_major_like(), of.dtype(), Fill::Uninitialized)
        };
        let from = x.layout().permute(&order)?;
        let copy = row_major(&from, x)?;
        map::copy(&copy, x, &from)?;
        let mut results = [None, None];
        let mut places = [None, None];
        for (k, target) in targets.iter().enumerate() {
            let Some(target) = target else { continue };
            let layout = target.keepdim_layout.permute(&order)?;
            results[k] = Some(row_major(&layout, target.out)?);
            places[k] = Some(target.out.with_layout(layout));
        }
        let target = |k: usize| {
            let out: &Tensor = results[k].as_ref()?;
            Some(ReductionTarget { out, keepdim_layout: out.layout() })
        };
        self.run(&copy, [target(0), target(1)])?;
        for (place, result) in places.iter().flatten().zip(results.iter().flatten()) {
            map::copy(place, result, result.layout())?;
        }
        Ok(())
    }

    /// The name in messages.
    fn name(&self) -> &'static str {
        match self.fold {
            Fold::Op(ReduceOp::ArgMax | ReduceOp::Max) => "max",
            Fold::Op(ReduceOp::ArgMin | ReduceOp::Min) => "min",
            Fold::Op(ReduceOp::Sum | ReduceOp::NanSum) => "sum",
            Fold::Op(ReduceOp::Mean) => "mean",
            Fold::Op(_) => "reduction",
            Fold::Exponentials => "softmax",
        }
    }
}

/// The loops of a reduction over outputs and over terms. Operands are the first result, `x` and the second result.
struct ReductionLoops {
    kept: SmallVec<[Loop; 8]>,
    reduced: SmallVec<[Loop; 8]>,
    shift: [isize; OPERANDS],
    terms: usize,
}

impl ReductionLoops {
    fn new(x: &Tensor, [first, second]: &[Option<ReductionTarget>; 2], ordered: bool) -> ReductionLoops {
        fn operand<'a>(target: Option<&'a ReductionTarget>) -> Operand<'a> {
            let ReductionTarget { out, keepdim_layout } = target.expect("at least one result is wanted");
            Operand { layout: keepdim_layout, size: out.dtype().size() }
        }
        let operands = [
            operand(first.as_ref().or(second.as_ref())),
            Operand { layout: x.layout(), size: x.dtype().size() },
            operand(second.as_ref().or(first.as_ref())),
        ];
        let nest = Nest::new(x.layout(), &operands, if ordered { Order::RowMajor } else { Order::Free });
        let origin = nest.start([std::ptr::null_mut(); OPERANDS]).map(|p| p.addr() as isize);
        let (mut kept, mut reduced): (SmallVec<[Loop; 8]>, SmallVec<[Loop; 8]>) =
            nest.loops().iter().copied().partition(|l: &Loop| l.steps[0] != 0);
        let terms = reduced.iter().map(|l| l.extent).product();
        let once = Loop { extent: 1, steps: [0; OPERANDS] };
        if kept.is_empty() {
            kept.push(once);
        }
        if terms == 0 {
            reduced.clear();
            reduced.push(Loop { extent: 0, ..once });
        } else if reduced.is_empty() {
            reduced.push(once);
        }
        ReductionLoops { kept, reduced, shift: origin, terms }
    }

    fn outputs(&self) -> usize {
        self.kept.iter().map(|l| l.extent).product()
    }
}

impl Scheme {
    fn new(device: &Device, terms: DType, fold: Fold) -> Scheme {
        if device.properties.kind != "cpu" {
            return Scheme { lanes: 1, items: 1 << 15, min_terms: 16, merged: 32, interleaved: true };
        }
        // As many accumulators as registers hold.
        let lanes = match fold {
            Fold::Op(ReduceOp::Var | ReduceOp::Std) => 8,
            _ if terms.size() > 4 => 8,
            _ => 16,
        };
        Scheme { lanes, items: 512, min_terms: 1 << 14, merged: 512, interleaved: false }
    }
}

/// How the outputs and terms of a reduction are divided among work items: `Split` of `source/reduce.cl`.
struct Split {
    items: usize,
    across: bool,
    outer_parts: usize,
    outer_length: usize,
    inner_parts: usize,
    inner_length: usize,
    inner_shift: usize,
    stride: usize,
}

impl Split {
    /// Chooses the innermost loop of outputs, too.
    fn new(loops: &mut ReductionLoops, scheme: &Scheme) -> Split {
        let (terms, outputs) = (loops.terms, loops.outputs());
        let inner = *loops.reduced.last().expect("there is a loop");
        let outer = terms / inner.extent.max(1);
        let (step_of, min_columns) = (|l: &Loop| l.steps[1].unsigned_abs(), scheme.lanes.div_ceil(2));
        let last = loops.kept.len() - 1;
        if loops.kept[last].extent < min_columns {
            let longest = (0..=last).max_by_key(|&k| loops.kept[k].extent).expect("there is a loop");
            loops.kept.swap(longest, last);
        }
        let columns = loops.kept[last];
        let few_terms = !scheme.interleaved && terms < 2 * scheme.lanes;
        let across = columns.extent >= min_columns && (few_terms || step_of(&columns) < step_of(&inner));
        let lanes = if across { scheme.lanes } else { 1 };
        let items = outputs / columns.extent.max(1) * columns.extent.div_ceil(lanes);
        // A work item that has several outputs does more with as many terms.
        let min_terms = scheme.min_terms / lanes;
        let parts = scheme.items.div_ceil(items.max(1)).min(terms / min_terms).max(1);
        let mut split = Split {
            items,
            across,
            outer_parts: 1,
            outer_length: outer,
            inner_parts: 1,
            inner_length: inner.extent,
            inner_shift: inner.extent,
            stride: 1,
        };
        let inner_parts = parts.min(inner.extent / min_terms.min(1024)).max(1);
        if inner_parts > 1 && scheme.interleaved && !across {
            (split.inner_parts, split.inner_shift, split.stride) = (inner_parts, 1, inner_parts);
        } else if inner_parts > 1 {
            split.inner_length = inner.extent.div_ceil(inner_parts).next_multiple_of(64);
            split.inner_shift = split.inner_length;
            split.inner_parts = inner.extent.div_ceil(split.inner_length);
        }
        if parts > split.inner_parts && outer > 1 {
            split.outer_length = outer.div_ceil(parts / split.inner_parts);
            split.outer_parts = outer.div_ceil(split.outer_length);
        }
        split.items = items * split.parts();
        split
    }

    fn parts(&self) -> usize {
        self.outer_parts * self.inner_parts
    }

    fn words(&self, loops: &ReductionLoops) -> [i64; 13] {
        let columns = loops.kept.last().expect("there is a loop").extent;
        let inner = loops.reduced.last().expect("there is a loop").extent;
        let outer = loops.terms / inner.max(1);
        [
            self.items,
            self.across as usize,
            loops.outputs() / columns,
            columns,
            loops.terms,
            self.parts(),
            outer,
            self.outer_length,
            inner,
            self.inner_parts,
            self.inner_length,
            self.inner_shift,
            self.stride,
        ]
        .map(|n| n as i64)
    }
}

/// What the source of a program depends on.
struct Program<'a> {
    reduction: &'a Reduction<'a>,
    from: DType,
    outs: [Option<DType>; 2],
}

impl Program<'_> {
    /// The dtype of terms: that of a computation, so halves are float32.
    fn terms(&self) -> DType {
        let last = |dtype: DType, step: &TermStep| match step {
            TermStep::Cast(to) => *to,
            TermStep::NanToZero | TermStep::Pow(_) => dtype.compute(),
            TermStep::Abs => dtype.compute().real(),
            TermStep::IsNonzero => DType::Bool,
        };
        self.reduction.steps.iter().fold(self.from, last).compute()
    }

    /// The dtypes of the results of the fold.
    fn results(&self, device: &Device) -> [DType; 2] {
        let terms = self.terms();
        let Fold::Op(op) = self.reduction.fold else { return [terms; 2] };
        match op {
            ReduceOp::ArgMax | ReduceOp::ArgMin => [terms, DType::I64],
            ReduceOp::All | ReduceOp::Any => [DType::Bool; 2],
            ReduceOp::CountNonzero | ReduceOp::CountNan => [DType::I64; 2],
            ReduceOp::Var | ReduceOp::Std if device.properties.double => [DType::F64; 2],
            ReduceOp::Norm2 => [terms.real(); 2],
            _ => [terms; 2],
        }
    }

    fn kernels(&self, device: &'static Device, scheme: &Scheme) -> Result<Kernels> {
        let mut steps = [None; 3];
        for (key, step) in steps.iter_mut().zip(self.reduction.steps) {
            *key = Some(match *step {
                TermStep::Cast(dtype) => StepKey::Cast(dtype),
                TermStep::NanToZero => StepKey::NanToZero,
                TermStep::Abs => StepKey::Abs,
                TermStep::Pow(_) => StepKey::Pow,
                TermStep::IsNonzero => StepKey::IsNonzero,
            });
        }
        let key = Key::Reduce { fold: self.reduction.fold, steps, from: self.from, outs: self.outs };
        kernels(device, key, &["fold", "merge"], || self.text(device, scheme))
    }

    fn text(&self, device: &Device, scheme: &Scheme) -> Result<String> {
        let terms = self.terms();
        let fold = match self.reduction.fold {
            Fold::Op(ReduceOp::LogSumExp) if terms.is_complex() => {
                return Err(not_available_on(device, "for complex dtypes"));
            }
            Fold::Op(op) => format!("{op:?}"),
            Fold::Exponentials => "Exponentials".into(),
        };
        let dtypes = [Some(self.from), self.outs[0], self.outs[1]];
        let casts = self.reduction.steps.iter().filter_map(|step| match step {
            TermStep::Cast(dtype) => Some(*dtype),
            _ => None,
        });
        let mut text = preamble(device, terms, dtypes.into_iter().flatten().chain(casts))?;
        if terms.category() >= Category::Float {
            let real = terms.real();
            let name = if terms.is_complex() { "COMPLEX" } else { "FLOAT" };
            let _ = writeln!(text, "#define IS_{name}\n#define REAL {}", c_type(real));
            if device.properties.double && real == DType::F32 {
                text.push_str("#define IS_WIDE\n");
            }
        }
        let moment = if device.properties.double { "double" } else { "float" };
        let [low, high] = limits(terms);
        let outs = self.outs.map(|out| c_type(out.unwrap_or(DType::U8)));
        let _ = writeln!(
            text,
            "#define M {moment}\n#define LOWEST {low}\n#define HIGHEST {high}\n#define FOLD_{fold}\n#define LANES {}
#define X {}\n#define Y0 {}\n#define Y1 {}\n#define OPERANDS 3\n{LOOPS}{LANES}{}{FOLDS}{}{REDUCE}",
            scheme.lanes,
            c_type(self.from),
            outs[0],
            outs[1],
            self.term_text(),
            self.store_text(device),
        );
        Ok(text)
    }

    /// The function from an element to a term.
    fn term_text(&self) -> String {
        let steps = self.reduction.steps;
        // Halves become numbers when they are loaded.
        let (mut dtype, steps) = match steps {
            [TermStep::Cast(to), rest @ ..] if to.compute() == *to => (*to, rest),
            steps => (self.from.compute(), steps),
        };
        let mut text = String::from("static inline T term(__global const X *x, long i, M parameter) {\n");
        let value = load(self.from, dtype, "x", "i");
        let _ = writeln!(text, "    const {} v0 = {value};", c_type(dtype));
        for (k, step) in steps.iter().enumerate() {
            let v = format!("v{k}");
            let (next, value) = match step {
                TermStep::Cast(to) => (to.compute(), convert(dtype, to.compute(), &v)),
                TermStep::NanToZero if dtype.is_float() => (dtype, format!("({v} == {v} ? {v} : 0)")),
                TermStep::NanToZero => (dtype, v),
                TermStep::Abs if dtype.is_complex() => (dtype.real(), format!("hypot({v}.x, {v}.y)")),
                TermStep::Abs => (dtype, format!("fn_Abs({v})")),
                TermStep::Pow(_) => (dtype, format!("fn_Pow({v}, (T)parameter)")),
                TermStep::IsNonzero => (DType::Bool, convert(dtype, DType::Bool, &v)),
            };
            let _ = writeln!(text, "    const {} v{} = {value};", c_type(next), k + 1);
            dtype = next;
        }
        let _ = writeln!(text, "    return v{};\n}}", steps.len());
        text
    }

    /// The function that writes the results of an accumulator.
    fn store_text(&self, device: &Device) -> String {
        let mut text = String::from(
            "static inline void store_results(const Acc *a, long n, M parameter, __global Y0 *y0, long i0, \
             __global Y1 *y1, long i1) {\n",
        );
        let results = self.results(device);
        for (k, function) in ["fold_first", "fold_second"].into_iter().enumerate() {
            let Some(out) = self.outs[k] else { continue };
            let result = c_type(results[k]);
            let statement = store(results[k], out, &format!("y{k}"), &format!("i{k}"), &format!("r{k}"));
            let _ = writeln!(text, "    const {result} r{k} = {function}(a, n, parameter);\n    {statement}");
        }
        text.push_str("}\n");
        text
    }
}

/// The smallest and the largest number of a dtype.
fn limits(dtype: DType) -> [&'static str; 2] {
    match dtype {
        DType::Bool => ["0", "1"],
        DType::U8 => ["0", "UCHAR_MAX"],
        DType::U16 => ["0", "USHRT_MAX"],
        DType::U32 => ["0", "UINT_MAX"],
        DType::U64 => ["0", "ULONG_MAX"],
        DType::I8 => ["CHAR_MIN", "CHAR_MAX"],
        DType::I16 => ["SHRT_MIN", "SHRT_MAX"],
        DType::I32 => ["INT_MIN", "INT_MAX"],
        DType::I64 => ["LONG_MIN", "LONG_MAX"],
        _ => ["(-(T)INFINITY)", "((T)INFINITY)"],
    }
}

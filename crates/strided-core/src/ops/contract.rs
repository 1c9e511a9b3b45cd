//! Contractions: `einsum`, `tensordot`, `inner`. Dims that have the same label are run over together, and those whose label
//! is not in the output are summed over.
//!
//! Two operands become a batch of matrix products. Labels are in four groups: those of both operands and the output
//! (batch), of the first and the output (rows), of the second and the output (columns), of both operands only (depth). The
//! dims of a group are folded into one where the strides allow it. Rows and columns that do not fold are further loops of
//! the batch; an operand whose depth does not fold is copied once.

use super::compose::{of_tensors, view};
use super::copy;
use super::equation::{Equation, Label, LabelSet};
use super::matmul::{common_dtype, sum_in_dtype};
use super::output::Out;
use super::table::Op;
use crate::backend::products;
use crate::dtype::DType;
use crate::error::{Error, Problem, Result};
use crate::layout::{Layout, Mode, wrap_dim};
use crate::scalar::Scalar;
use crate::storage::Fill;
use crate::tensor::{Tensor, common_device};

/// A tensor whose dims have labels, each once.
#[derive(Clone)]
struct Labelled {
    tensor: Tensor,
    labels: LabelSet,
}

impl Labelled {
    /// The mode of a label. A label that it lacks has one index.
    fn mode(&self, label: Label) -> Mode {
        match self.labels.iter().position(|&own| own == label) {
            Some(dim) => self.tensor.layout().modes()[dim],
            None => Mode { extent: 1, stride: 0 },
        }
    }

    fn has(&self, label: Label) -> bool {
        self.labels.contains(&label)
    }

    /// A view with the dims in the order of `labels`, which are its own in another order.
    fn permuted(&self, labels: &[Label]) -> Result<Labelled> {
        let dim = |label: &Label| self.labels.iter().position(|own| own == label).expect("its own label");
        let dims: Vec<isize> = labels.iter().map(|label| dim(label) as isize).collect();
        let tensor = view(&self.tensor, self.tensor.layout().permute(&dims))?;
        Ok(Labelled { tensor, labels: labels.into() })
    }

    /// A copy with the dims in another order in memory.
    fn permuted_copy(&self, labels: &[Label]) -> Result<Labelled> {
        let permuted = self.permuted(labels)?;
        Ok(Labelled { tensor: copy::clone(&permuted.tensor)?, ..permuted })
    }

    /// A view with a dim for each of these labels, of extent 1 where it lacks one.
    fn aligned(&self, labels: &[Label]) -> Result<Tensor> {
        let own: LabelSet = labels.iter().copied().filter(|&label| self.has(label)).collect();
        let mut layout = self.permuted(&own)?.tensor.layout().clone();
        for (dim, &label) in labels.iter().enumerate() {
            if !self.has(label) {
                layout = layout.unsqueeze(dim as isize)?;
            }
        }
        Ok(self.tensor.with_layout(layout))
    }

    /// The sum over the labels that are not among these.
    fn summed_to(&self, kept: impl Fn(Label) -> bool) -> Result<Labelled> {
        let dims: Vec<isize> =
            (0..self.labels.len()).filter(|&dim| !kept(self.labels[dim])).map(|dim| dim as isize).collect();
        if dims.is_empty() {
            return Ok(self.clone());
        }
        let labels = self.labels.iter().copied().filter(|&label| kept(label)).collect();
        Ok(Labelled { tensor: sum_in_dtype(&self.tensor, &dims)?, labels })
    }
}

/// The modes of labels, given slowest first, as one; `None` if they do not follow each other.
fn folded(labels: &[Label], operand: &Labelled) -> Option<Mode> {
    Mode::folded(labels.iter().rev().map(|&label| operand.mode(label)))
}

/// Rows or columns with fewer indices than this are not worth a product of their own for each index of the loops, if a copy
/// of the operand costs less.
const MIN_SIDE: isize = 128;
/// If each element takes part in at least this many multiplications, a copy of the operand costs little.
const MIN_USES: isize = 16;

/// The rows or columns of a product: modes of the output and of an operand.
struct Side {
    main: [Mode; 2],
    loops: Vec<[Mode; 2]>,
}

impl Side {
    /// Folds the modes of labels, in the order of the output. The longest is the main one.
    fn new(labels: &[Label], out: &Labelled, operand: &Labelled) -> Side {
        let mut modes: Vec<[Mode; 2]> = Vec::new();
        for &label in labels {
            let next = [out.mode(label), operand.mode(label)];
            match modes.last_mut() {
                _ if next[0].extent == 1 => {}
                Some(last) if (0..2).all(|k| last[k].stride == next[k].stride * next[k].extent) => {
                    let extent = last[0].extent * next[0].extent;
                    *last = next.map(|mode| Mode { extent, ..mode });
                }
                _ => modes.push(next),
            }
        }
        let longest = (0..modes.len()).max_by_key(|&at| modes[at][0].extent);
        let main = longest.map_or([Mode { extent: 1, stride: 0 }; 2], |at| modes.remove(at));
        Side { main, loops: modes }
    }

    /// Whether a copy would not pay: the main mode is the only one or long, or each element is used by few products.
    fn needs_no_copy(&self, uses: isize) -> bool {
        self.loops.is_empty() || self.main[0].extent >= MIN_SIDE || uses < MIN_USES
    }
}

/// Contracts two operands of one dtype. Every label that only one of them has is in the output.
fn contract_pair(a: &Labelled, b: &Labelled, output: &[Label]) -> Result<Labelled> {
    let device = common_device([&a.tensor, &b.tensor])?;
    let depth: LabelSet =
        a.labels.iter().copied().filter(|&label| b.has(label) && !output.contains(&label)).collect();
    if depth.is_empty() {
        let tensor = of_tensors(Op::mul, &a.aligned(output)?, &b.aligned(output)?)?;
        return Ok(Labelled { tensor, labels: output.into() });
    }
    let shape: Vec<isize> =
        output.iter().map(|&label| if a.has(label) { a.mode(label) } else { b.mode(label) }.extent).collect();
    let out = Tensor::new_on(device, &shape, a.tensor.dtype(), Fill::Uninitialized)?;
    let out = Labelled { tensor: out, labels: output.into() };
    if out.tensor.size() == 0 {
        return Ok(out);
    }
    if a.tensor.size() == 0 || b.tensor.size() == 0 {
        copy::fill(&out.tensor, Scalar::Bool(false))?;
        return Ok(out);
    }
    let group = |in_a: bool, in_b: bool| -> LabelSet {
        output.iter().copied().filter(|&label| a.has(label) == in_a && b.has(label) == in_b).collect()
    };
    let (batch, rows, columns) = (group(true, true), group(true, false), group(false, true));
    let extent = |labels: &[Label], x: &Labelled| -> isize {
        labels.iter().map(|&label| x.mode(label).extent).product()
    };
    let is_split = |labels: &[Label]| folded(labels, &out).is_none();
    if extent(&depth, a) >= MIN_USES && (is_split(&rows) || is_split(&columns)) {
        // The dims of rows or columns are apart in the output: it is computed with them side by side, and copied.
        let grouped = [&batch[..], &by_stride(&rows, a), &by_stride(&columns, b)].concat();
        return contract_pair(a, b, &grouped)?.permuted_copy(output);
    }
    let uses = [extent(&columns, b), extent(&rows, a)];
    let depth = depth_order(&depth, a, b);
    let [a, b] = [(a, &rows, uses[0]), (b, &columns, uses[1])].map(|(operand, side, uses)| {
        let folds = folded(&depth, operand).is_some();
        if folds && Side::new(side, &out, operand).needs_no_copy(uses) {
            return Ok(operand.clone());
        }
        operand.permuted_copy(&[&batch[..], &side[..], &depth[..]].concat())
    });
    let (a, b) = (a?, b?);
    multiply_folded(&out, &a, &b, [&batch, &rows, &columns, &depth])?;
    Ok(out)
}

/// Labels in the order of an operand's memory, slowest first.
fn by_stride(labels: &[Label], operand: &Labelled) -> LabelSet {
    let mut labels: LabelSet = labels.into();
    labels.sort_by_key(|&label| std::cmp::Reverse(operand.mode(label).stride.unsigned_abs()));
    labels
}

/// The order of the labels that are summed over, slowest first, in which the fewest elements have to be copied.
fn depth_order(depth: &[Label], a: &Labelled, b: &Labelled) -> LabelSet {
    let copied = |labels: &LabelSet| -> usize {
        let folds = |x: &Labelled| folded(labels, x).is_some();
        [a, b].iter().filter(|x| !folds(x)).map(|x| x.tensor.size()).sum()
    };
    let (by_a, by_b) = (by_stride(depth, a), by_stride(depth, b));
    if copied(&by_b) < copied(&by_a) { by_b } else { by_a }
}

/// Multiplies operands whose depth folds: groups are batch, rows, columns, depth.
fn multiply_folded(out: &Labelled, a: &Labelled, b: &Labelled, groups: [&LabelSet; 4]) -> Result<()> {
    let [batch, rows, columns, depth] = groups;
    let (rows, columns) = (Side::new(rows, out, a), Side::new(columns, out, b));
    let deep = |x: &Labelled| folded(depth, x).expect("it folds");
    let still = |extent| Mode { extent, stride: 0 };
    let mut loops: Vec<[Mode; 3]> =
        batch.iter().map(|&label| [out.mode(label), a.mode(label), b.mode(label)]).collect();
    loops.extend(rows.loops.iter().map(|&[out, a]| [out, a, still(out.extent)]));
    loops.extend(columns.loops.iter().map(|&[out, b]| [out, still(out.extent), b]));
    loops.sort_by_key(|modes| std::cmp::Reverse(modes[0].stride.unsigned_abs()));
    let matrices = [[rows.main[0], columns.main[0]], [rows.main[1], deep(a)], [deep(b), columns.main[1]]];
    let views = [0, 1, 2].map(|k| {
        let tensor = &[out, a, b][k].tensor;
        let modes = || loops.iter().map(|modes| modes[k]).chain(matrices[k]);
        let (shape, stride): (Vec<_>, Vec<_>) = modes().map(|mode| (mode.extent, mode.stride)).unzip();
        view(tensor, Layout::strided(&shape, &stride, tensor.layout().offset()))
    });
    let [out, a, b] = views;
    products::multiply(&out?, &a?, &b?, Scalar::Bool(true), Scalar::Bool(false))
}

/// The order of contracting several operands: pairs of positions in the list of those that are left, from which the pair
/// is removed, and to which its result is appended.
pub struct ContractionPath {
    pub pairs: Vec<(usize, usize)>,
    /// The multiplications that it takes.
    pub cost: f64,
    /// The multiplications of one loop over all labels.
    pub naive_cost: f64,
}

/// The number of operands up to which all orders are tried.
const MAX_EXHAUSTIVE: usize = 4;

/// Finds orders, given the extents of labels.
struct PathFinder<'a> {
    output: &'a [Label],
    extent: &'a dyn Fn(Label) -> f64,
}

impl PathFinder<'_> {
    /// The labels of the result of a pair, and the multiplications that it takes.
    fn contract(&self, operands: &[LabelSet], (i, j): (usize, usize)) -> (LabelSet, f64) {
        let mut all = operands[i].clone();
        all.extend(operands[j].iter().copied().filter(|label| !operands[i].contains(label)));
        let cost = all.iter().map(|&label| (self.extent)(label)).product();
        let others = || operands.iter().enumerate().filter(|&(at, _)| at != i && at != j);
        all.retain(|label| self.output.contains(label) || others().any(|(_, labels)| labels.contains(label)));
        (all, cost)
    }

    /// The operands that are left after a pair was contracted.
    fn left(operands: &[LabelSet], (i, j): (usize, usize), result: LabelSet) -> Vec<LabelSet> {
        let others = operands.iter().enumerate().filter(|&(at, _)| at != i && at != j);
        others.map(|(_, labels)| labels.clone()).chain([result]).collect()
    }

    fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
        (0..count).flat_map(move |i| (i + 1..count).map(move |j| (i, j)))
    }

    /// The order with the fewest multiplications, by trying all.
    fn best(&self, operands: &[LabelSet]) -> (Vec<(usize, usize)>, f64) {
        let mut best: Option<(Vec<(usize, usize)>, f64)> = None;
        for pair in Self::pairs(operands.len()) {
            let (labels, own) = self.contract(operands, pair);
            let (mut pairs, rest) = self.best(&Self::left(operands, pair, labels));
            if best.as_ref().is_none_or(|(_, cost)| own + rest < *cost) {
                pairs.insert(0, pair);
                best = Some((pairs, own + rest));
            }
        }
        best.unwrap_or_default()
    }

    /// Greedy order: contracts the pair with the lowest `rule(cost, growth)` until one operand is left. `cost` is the pair's
    /// multiplications, `growth` the elements of its result minus those of the pair.
    fn greedy(
        &self,
        mut operands: Vec<LabelSet>,
        rule: impl Fn(f64, f64) -> (f64, f64),
    ) -> (Vec<(usize, usize)>, f64) {
        let size = |labels: &LabelSet| labels.iter().map(|&label| (self.extent)(label)).product::<f64>();
        let (mut pairs, mut total) = (Vec::new(), 0.0);
        while operands.len() > 1 {
            let found = Self::pairs(operands.len()).map(|pair| {
                let (labels, cost) = self.contract(&operands, pair);
                let growth = size(&labels) - size(&operands[pair.0]) - size(&operands[pair.1]);
                (rule(cost, growth), cost, pair, labels)
            });
            let preferred = found.reduce(|best, next| if next.0 < best.0 { next } else { best });
            let (_, cost, pair, labels) = preferred.expect("there are two operands");
            operands = Self::left(&operands, pair, labels);
            pairs.push(pair);
            total += cost;
        }
        (pairs, total)
    }

    /// The cheaper of two greedy orders: by multiplications, and by growth.
    fn best_greedy(&self, operands: &[LabelSet]) -> (Vec<(usize, usize)>, f64) {
        let by_cost = self.greedy(operands.into(), |cost, growth| (cost, growth));
        let by_growth = self.greedy(operands.into(), |cost, growth| (growth, cost));
        if by_growth.1 < by_cost.1 { by_growth } else { by_cost }
    }
}

/// The order in which [`einsum`] contracts operands of these layouts.
pub fn einsum_path(equation: &str, layouts: &[&Layout]) -> Result<ContractionPath> {
    let equation = Equation::new(equation, layouts)?;
    Ok(path(&equation))
}

fn path(equation: &Equation) -> ContractionPath {
    let extent = |label: Label| equation.extent(label) as f64;
    let finder = PathFinder { output: &equation.output, extent: &extent };
    let used = equation.reduced_inputs();
    let naive_cost = equation.labels().map(extent).product();
    let (pairs, cost) = match used.len() {
        0 | 1 => (Vec::new(), naive_cost),
        2..=MAX_EXHAUSTIVE => finder.best(&used),
        _ => finder.best_greedy(&used),
    };
    ContractionPath { pairs, cost, naive_cost }
}

/// The sum of products of elements that Einstein's notation describes. One operand of which nothing is summed is a view.
pub fn einsum(equation: &str, operands: &[Tensor]) -> Result<Tensor> {
    let layouts: Vec<&Layout> = operands.iter().map(Tensor::layout).collect();
    let equation = Equation::new(equation, &layouts)?;
    let labelled = operands.iter().zip(&equation.inputs).map(|(x, labels)| {
        let (layout, labels) = equation.distinct(x.layout(), labels)?;
        Ok(Labelled { tensor: x.with_layout(layout), labels })
    });
    let mut labelled = labelled.collect::<Result<Vec<_>>>()?;
    if let [only] = &labelled[..] {
        let summed = only.summed_to(|label| equation.output.contains(&label))?;
        return Ok(summed.permuted(&equation.output)?.tensor);
    }
    let dtype = common_dtype(&operands.iter().collect::<Vec<_>>())?;
    for each in &mut labelled {
        each.tensor = copy::in_dtype(&each.tensor, dtype.compute())?;
        *each = each.summed_to(|label| equation.is_shared(label))?;
    }
    let pairs = path(&equation).pairs;
    for (step, &(i, j)) in pairs.iter().enumerate() {
        let (b, a) = (labelled.remove(j), labelled.remove(i));
        let result = if step + 1 == pairs.len() {
            contract_pair(&a, &b, &equation.output)?
        } else {
            let is_kept = |label: &Label| {
                equation.output.contains(label) || labelled.iter().any(|each| each.has(*label))
            };
            let kept = |x: &Labelled| x.labels.iter().copied().filter(is_kept).collect::<LabelSet>();
            let mut labels = kept(&a);
            labels.extend(kept(&b).into_iter().filter(|&label| !a.has(label)));
            contract_pair(&a, &b, &labels)?
        };
        labelled.push(result);
    }
    let result = labelled.pop().expect("the result of the last pair");
    copy::in_dtype(&result.tensor, dtype)
}

/// The sums of products over pairs of dims, one of each operand. The result has the other dims of the first operand, then
/// those of the second.
pub fn tensordot(a: &Tensor, b: &Tensor, dims: [&[isize]; 2], out: Out) -> Result<Tensor> {
    let names = ["a", "b"];
    if dims[0].len() != dims[1].len() {
        let got = format!("{} dims of a and {} of b", dims[0].len(), dims[1].len());
        return Err(Error::shape("dims", got, "as many of both"));
    }
    let mut wrapped = [Vec::new(), Vec::new()];
    for (k, x) in [a, b].into_iter().enumerate() {
        for &dim in dims[k] {
            let dim = wrap_dim(dim, x.layout().rank())?;
            if wrapped[k].contains(&dim) {
                return Err(Error::new(Problem::DimRepeated { dim }));
            }
            wrapped[k].push(dim);
        }
    }
    let [a_dims, b_dims] = wrapped;
    for (&i, &j) in a_dims.iter().zip(&b_dims) {
        let extents = [a.layout().modes()[i].extent, b.layout().modes()[j].extent];
        if extents[0] != extents[1] {
            let side = |k: usize, dim: usize, x: &Tensor| {
                let shape = x.layout().shape_text();
                format!("dim {dim} of {} has extent {} (shape {shape})", names[k], extents[k])
            };
            let what = format!("{}, but {}", side(0, i, a), side(1, j, b));
            return Err(Error::new(Problem::Labels { what }));
        }
    }
    let first: LabelSet = (0..a.layout().rank() as Label).collect();
    let free = |dim: usize| (a.layout().rank() + dim) as Label;
    let label = |dim: usize| b_dims.iter().position(|&d| d == dim).map_or(free(dim), |at| first[a_dims[at]]);
    let second: LabelSet = (0..b.layout().rank()).map(label).collect();
    let dtype = common_dtype(&[a, b])?;
    let result = contract_free(a, b, [first, second], dtype)?;
    out.deliver_as(dtype, result)
}

/// Contracts the labels that two operands share; the others are those of the result.
fn contract_free(a: &Tensor, b: &Tensor, labels: [LabelSet; 2], dtype: DType) -> Result<Tensor> {
    let [a_labels, b_labels] = labels;
    let only = |own: &LabelSet, other: &LabelSet| -> LabelSet {
        own.iter().copied().filter(|label| !other.contains(label)).collect()
    };
    let mut output = only(&a_labels, &b_labels);
    output.extend(only(&b_labels, &a_labels));
    let a = Labelled { tensor: copy::in_dtype(a, dtype.compute())?, labels: a_labels };
    let b = Labelled { tensor: copy::in_dtype(b, dtype.compute())?, labels: b_labels };
    Ok(contract_pair(&a, &b, &output)?.tensor)
}

/// Contracts two operands, given the labels of their dims and of the result's.
pub(super) fn contract_labelled(
    a: &Tensor,
    b: &Tensor,
    labels: &[Vec<Label>; 3],
    dtype: DType,
) -> Result<Tensor> {
    let [a, b] = [(a, &labels[0]), (b, &labels[1])].map(|(x, labels)| -> Result<Labelled> {
        Ok(Labelled { tensor: copy::in_dtype(x, dtype.compute())?, labels: labels[..].into() })
    });
    Ok(contract_pair(&a?, &b?, &labels[2])?.tensor)
}

/// The sums of products over the last dims of two tensors.
pub fn inner(a: &Tensor, b: &Tensor, out: Out) -> Result<Tensor> {
    if a.layout().rank() == 0 || b.layout().rank() == 0 {
        return out.deliver(of_tensors(Op::mul, a, b)?);
    }
    tensordot(a, b, [&[-1], &[-1]], out)
}

//! Equations of `einsum`: `"ij,jk->ik"`, with `...` for dims without labels, which are broadcast.

use crate::error::{Error, Problem, Result};
use crate::layout::Layout;
use smallvec::SmallVec;

/// The label of a dim: a letter, or [`UNNAMED`] and more for the dims of `...`, counted from the last one.
pub(super) type Label = u32;
pub(super) type LabelSet = SmallVec<[Label; 8]>;

const UNNAMED: Label = 1 << 20;

/// The labels of all dims of the operands and of the output, and the extents of labels.
pub(super) struct Equation {
    /// Of each dim; a label may occur twice in an operand.
    pub inputs: Vec<LabelSet>,
    pub output: LabelSet,
    extents: Vec<(Label, isize)>,
    /// The distinct labels of each operand, without those of extent 1 that are broadcast.
    operands: Vec<LabelSet>,
}

/// One term of an equation, as it is written.
struct Term<'a> {
    text: &'a str,
    labels: LabelSet,
    /// The position of `...` among the labels.
    unnamed: Option<usize>,
}

impl<'a> Term<'a> {
    fn new(text: &'a str, equation: &str) -> Result<Term<'a>> {
        let mut term = Term { text: text.trim(), labels: LabelSet::new(), unnamed: None };
        let mut rest = term.text;
        while let Some(first) = rest.chars().next() {
            if let Some(after) = rest.strip_prefix("...") {
                if term.unnamed.replace(term.labels.len()).is_some() {
                    return Err(wrong_equation(equation, "at most one '...' in each term"));
                }
                rest = after;
                continue;
            }
            match first {
                'a'..='z' | 'A'..='Z' => term.labels.push(first as Label),
                ' ' => {}
                _ => return Err(wrong_equation(equation, "letters, commas, '...' and at most one '->'")),
            }
            rest = &rest[1..];
        }
        Ok(term)
    }

    /// The labels of all dims, with `count` for `...`.
    fn expanded(&self, count: usize) -> LabelSet {
        let mut labels = self.labels.clone();
        if let Some(at) = self.unnamed {
            labels.insert_many(at, (0..count as Label).rev().map(|from_end| UNNAMED + from_end));
        }
        labels
    }

    /// The labels of an operand's dims.
    fn labels_of(&self, position: usize, layout: &Layout) -> Result<LabelSet> {
        let (named, rank) = (self.labels.len(), layout.rank());
        if named > rank || self.unnamed.is_none() && named < rank {
            let (text, shape) = (self.text, layout.shape_text());
            return Err(labels_error(format!(
                "operand {position} has {rank} dims (shape {shape}), but '{text}' has {named} labels"
            )));
        }
        Ok(self.expanded(rank - named))
    }
}

fn wrong_equation(equation: &str, wanted: &str) -> Error {
    Error::argument("equation", format!("'{equation}'"), wanted)
}

fn labels_error(what: String) -> Error {
    Error::new(Problem::Labels { what })
}

fn label_text(label: Label) -> String {
    match char::from_u32(label).filter(|_| label < UNNAMED) {
        Some(letter) => format!("label '{letter}'"),
        None => format!("dim {} of '...'", -1 - (label - UNNAMED) as isize),
    }
}

impl Equation {
    pub fn new(equation: &str, layouts: &[&Layout]) -> Result<Equation> {
        let mut halves = equation.splitn(2, "->");
        let (left, right) = (halves.next().unwrap_or_default(), halves.next());
        let terms = left.split(',').map(|text| Term::new(text, equation)).collect::<Result<Vec<_>>>()?;
        if terms.len() != layouts.len() {
            let what = format!("'{equation}' has {} terms for {} operands", terms.len(), layouts.len());
            return Err(labels_error(what));
        }
        let labels_of = |(at, term): (usize, &Term)| term.labels_of(at, layouts[at]);
        let inputs = terms.iter().enumerate().map(labels_of).collect::<Result<Vec<_>>>()?;
        let extents = extents(&terms, &inputs, layouts)?;
        let unnamed = extents.iter().filter(|(label, _)| *label >= UNNAMED).count();
        let output = match right {
            Some(text) => explicit_output(Term::new(text, equation)?, &extents, unnamed)?,
            None => implicit_output(&inputs, &extents, unnamed),
        };
        let mut equation = Equation { inputs, output, extents, operands: Vec::new() };
        for (labels, layout) in equation.inputs.iter().zip(layouts) {
            let distinct = equation.distinct(layout, labels)?.1;
            equation.operands.push(distinct);
        }
        Ok(equation)
    }

    /// The extent of a label.
    pub fn extent(&self, label: Label) -> isize {
        self.extents.iter().find(|(other, _)| *other == label).map_or(1, |(_, extent)| *extent)
    }

    /// All labels, each once.
    pub fn labels(&self) -> impl Iterator<Item = Label> {
        self.extents.iter().map(|(label, _)| *label)
    }

    /// Whether a label is needed after the sum over it in one operand: it is in the output, or in another operand.
    pub fn is_shared(&self, label: Label) -> bool {
        self.output.contains(&label)
            || self.operands.iter().filter(|labels| labels.contains(&label)).count() > 1
    }

    /// The labels of the operands after each was summed over those that only it has.
    pub fn reduced_inputs(&self) -> Vec<LabelSet> {
        let shared =
            |labels: &LabelSet| labels.iter().copied().filter(|&label| self.is_shared(label)).collect();
        self.operands.iter().map(shared).collect()
    }

    /// A view in which each label occurs once: diagonals for repeated ones, and none of the dims that are broadcast.
    pub fn distinct(&self, layout: &Layout, labels: &[Label]) -> Result<(Layout, LabelSet)> {
        let (mut layout, mut labels) = (layout.clone(), LabelSet::from(labels));
        let mut dim = 0;
        while dim < labels.len() {
            let label = labels[dim];
            if let Some(other) = (dim + 1..labels.len()).find(|&other| labels[other] == label) {
                layout = layout.diagonal(0, dim as isize, other as isize)?;
                labels.remove(other);
                labels.remove(dim);
                labels.push(label); // the diagonal is the last dim
            } else if layout.modes()[dim].extent == 1 && self.extent(label) != 1 {
                layout = layout.select(dim as isize, 0)?;
                labels.remove(dim);
            } else {
                dim += 1;
            }
        }
        Ok((layout, labels))
    }
}

/// The extents of all labels. Refuses a label with two extents, of which one may be 1 only in dims of `...`.
fn extents(terms: &[Term], inputs: &[LabelSet], layouts: &[&Layout]) -> Result<Vec<(Label, isize)>> {
    let mut found: Vec<(Label, isize, usize)> = Vec::new();
    for (position, labels) in inputs.iter().enumerate() {
        for (&label, mode) in labels.iter().zip(layouts[position].modes()) {
            let Some(entry) = found.iter_mut().find(|entry| entry.0 == label) else {
                found.push((label, mode.extent, position));
                continue;
            };
            let is_broadcast = label >= UNNAMED && (entry.1 == 1 || mode.extent == 1);
            if entry.1 != mode.extent && !is_broadcast {
                let (name, (_, extent, first)) = (label_text(label), *entry);
                let operand = |at: usize| {
                    format!("operand {at} ('{}', shape {})", terms[at].text, layouts[at].shape_text())
                };
                let what = if first == position {
                    format!("{name} has extents {extent} and {} in {}", mode.extent, operand(first))
                } else {
                    let (one, other) = (operand(first), operand(position));
                    format!("{name} has extent {extent} in {one} and extent {} in {other}", mode.extent)
                };
                return Err(labels_error(what));
            }
            if entry.1 == 1 {
                *entry = (label, mode.extent, position);
            }
        }
    }
    Ok(found.into_iter().map(|(label, extent, _)| (label, extent)).collect())
}

/// The labels of an output that is written in the equation.
fn explicit_output(term: Term, extents: &[(Label, isize)], unnamed: usize) -> Result<LabelSet> {
    for (at, &label) in term.labels.iter().enumerate() {
        let name = label_text(label);
        if !extents.iter().any(|(known, _)| *known == label) {
            return Err(labels_error(format!("{name} of the output '{}' is in no operand", term.text)));
        }
        if term.labels[..at].contains(&label) {
            return Err(labels_error(format!("{name} is repeated in the output '{}'", term.text)));
        }
    }
    Ok(term.expanded(unnamed))
}

/// The labels of an output that is not written: the dims of `...`, then the labels that occur once, in alphabetical order.
fn implicit_output(inputs: &[LabelSet], extents: &[(Label, isize)], unnamed: usize) -> LabelSet {
    let occurs_once = |label: &Label| inputs.iter().flatten().filter(|other| *other == label).count() == 1;
    let named = extents.iter().map(|(label, _)| *label).filter(|label| *label < UNNAMED);
    let mut labels: LabelSet = named.filter(occurs_once).collect();
    labels.sort_unstable();
    labels.insert_many(0, (0..unnamed as Label).rev().map(|from_end| UNNAMED + from_end));
    labels
}

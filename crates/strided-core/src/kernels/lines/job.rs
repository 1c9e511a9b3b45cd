//! The lines of a call: pinned operands, the loops over their lines, and how those are grouped into strips.

use super::operand::LineOperand;
use super::{
    CHUNK, LONG_LINE, MANY_LINES, MAX_LANES, MAX_TASK_ELEMENTS, MEDIUM_LANES, MIN_ADJACENT_LINES,
    MIN_STRIP_ELEMENTS, REGISTER_LANES,
};
use crate::dtype::DType;
use crate::error::Result;
use crate::kernels::{OPERANDS, Steps};
use crate::layout::{Layout, Mode};
use crate::nest::{Loop, Nest, Operand, Order, Pointers, shifted};
use crate::storage::Access;
use crate::tensor::{Tensor, pin_each};
use crate::threads::{self, Shared};
use smallvec::SmallVec;

/// The tensors of a call and the dim of its lines. All tensors have the same shape.
#[derive(Clone, Copy)]
pub struct LineRequest<'a> {
    pub x: &'a Tensor,
    pub out: &'a Tensor,
    /// The second output of functions that return positions: int64.
    pub indices: Option<&'a Tensor>,
    pub dim: usize,
}

/// The pinned operands of a call, as lines. There is at least one line, and each has at least one element.
pub(in crate::kernels) struct LineJob {
    /// Output, input and positions of the first line.
    pub(super) origins: Shared<Pointers>,
    /// The loops over the lines; neighbouring iterations of `inner` are neighbouring lines.
    pub(super) outer: SmallVec<[Loop; 4]>,
    pub inner: Loop,
    /// Elements of each line.
    pub length: usize,
    pub output: LineOperand,
    pub input: LineOperand,
    pub indices: LineOperand,
}

/// Some neighbouring lanes of a job: lines, or chunks of one line.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Strip {
    /// Output, input and positions at the first element of the first lane.
    pub at: Pointers,
    /// Bytes from lane to lane.
    pub lane_steps: Steps,
    pub width: usize,
    /// Positions from lane to lane: `CHUNK` if lanes are chunks of one line, 0 if they are lines.
    pub lane_positions: usize,
}
// SAFETY: a strip is some lanes of a `LineJob`, for which the same holds.
unsafe impl Sync for Strip {}

impl Strip {
    /// One of the lanes.
    pub fn lane(&self, lane: usize) -> Strip {
        Strip { at: shifted(&self.at, &self.lane_steps, lane as isize), width: 1, ..*self }
    }
}

/// The layout of a tensor's lines: all dims but one.
fn without_dim(layout: &Layout, dim: usize) -> Result<Layout> {
    if layout.rank() == 0 { Ok(Layout::scalar()) } else { layout.select(dim as isize, 0) }
}

/// Pins the tensors and passes their lines to `work`, which sees elements of the dtype `element`. Does nothing if there
/// are no elements.
pub(in crate::kernels) fn with_lines(
    element: DType,
    request: &LineRequest,
    work: impl FnOnce(&LineJob) -> Result<()>,
) -> Result<()> {
    let LineRequest { x, out, indices, dim } = *request;
    assert!(out.layout().same_shape(x.layout()) && indices.is_none_or(|i| i.layout().same_shape(x.layout())));
    assert!(indices.is_none_or(|i| i.dtype() == DType::I64));
    if x.size() == 0 {
        return Ok(());
    }
    let mode = |t: &Tensor| t.layout().modes().get(dim).copied().unwrap_or(Mode { extent: 1, stride: 1 });
    let step = |t: &Tensor| mode(t).stride * t.dtype().size() as isize;
    let tensors = [out, x, indices.unwrap_or(out)];
    let layouts = [
        without_dim(out.layout(), dim)?,
        without_dim(x.layout(), dim)?,
        without_dim(tensors[2].layout(), dim)?,
    ];
    let operands: [Operand; 3] =
        std::array::from_fn(|k| Operand { layout: &layouts[k], size: tensors[k].dtype().size() });
    let nest = Nest::new(&layouts[0], &operands, Order::Free);
    let wanted = [
        Some((out, Access::Write)),
        Some((x, Access::Read)),
        indices.map(|indices| (indices, Access::Write)),
    ];
    let pins = pin_each(wanted)?;
    let mut origins = [std::ptr::null_mut(); OPERANDS];
    for (origin, pin) in origins.iter_mut().zip(&pins) {
        if let Some(pin) = pin {
            *origin = pin.origin;
        }
    }
    let (inner, outer) = nest.loops().split_last().expect("a nest has a loop");
    work(&LineJob {
        origins: Shared::new(nest.start(origins)),
        outer: outer.into(),
        inner: *inner,
        length: mode(x).extent as usize,
        output: LineOperand::output(out.dtype(), element, step(out)),
        input: LineOperand::input(x.dtype(), element, step(x)),
        indices: LineOperand::output(DType::I64, DType::I64, indices.map_or(0, step)),
    })
}

impl LineJob {
    /// The number of lines.
    pub fn count(&self) -> usize {
        self.outer.iter().map(|l| l.extent).product::<usize>() * self.inner.extent
    }

    /// Whether several threads share the work on some lines. An element costs as much as `weight` additions.
    pub fn is_threaded(&self, lines: usize, weight: usize) -> bool {
        threads::should_parallelize((lines * self.length).saturating_mul(weight))
    }

    /// Whether every thread gets whole lines: there are enough lines, or too little work for several threads.
    pub fn has_lines_for_threads(&self, weight: usize) -> bool {
        !self.is_threaded(self.count(), weight) || self.count() >= 2 * threads::limit()
    }

    /// Whether lines are cut into chunks, which threads share. That is so for few long lines; for adjacent ones only if
    /// there are several threads, because a single one passes over them once without cutting. Also for
    /// any lines if a strip of `width` would exceed `MAX_TASK_ELEMENTS`: a piece cannot be interrupted.
    pub fn cuts_lines(&self, weight: usize, width: usize) -> bool {
        let few_long = self.length >= LONG_LINE && self.count() < MANY_LINES;
        let strip = width.min(self.inner.extent) * self.length;
        few_long && (!self.has_adjacent_lines() || self.is_threaded(self.count(), weight))
            || strip >= MAX_TASK_ELEMENTS / weight
    }

    /// Whether the elements of a line are contiguous in output and input, and need no cast.
    pub fn is_contiguous(&self) -> bool {
        self.input.is_contiguous() && self.output.is_contiguous()
    }

    /// Whether neighbouring lines are adjacent in memory, position by position, in output and input, and whether there
    /// are enough of them to walk them side by side.
    pub fn has_adjacent_lines(&self) -> bool {
        self.inner.extent >= MIN_ADJACENT_LINES && self.output_is_adjacent() && self.input_is_adjacent()
    }

    /// Whether the same position of neighbouring lines is adjacent in the output.
    pub fn output_is_adjacent(&self) -> bool {
        self.output.is_adjacent(self.inner.steps[0])
    }

    /// Whether the same position of neighbouring lines is adjacent in the input.
    pub fn input_is_adjacent(&self) -> bool {
        self.input.is_adjacent(self.inner.steps[1])
    }

    /// How many neighbouring lines make a strip. Adjacent lines are loaded several at a time, in wide strips; others
    /// are transposed, as many at a time as there are registers for. Short lines share the cost of starting a strip.
    pub fn strip_width(&self) -> usize {
        let adjacent = self.output_is_adjacent() as usize + self.input_is_adjacent() as usize;
        let width = [REGISTER_LANES, MEDIUM_LANES, MAX_LANES][adjacent];
        width.max((MIN_STRIP_ELEMENTS / self.length).min(MAX_LANES) / REGISTER_LANES * REGISTER_LANES)
    }

    /// Bytes of an element in output, input or tile, whichever is largest.
    pub fn max_element_bytes(&self, tile_element: usize) -> usize {
        self.output.size.max(self.input.size).max(tile_element)
    }

    /// Bytes from one position of each operand's lines to the next.
    pub fn position_steps(&self) -> Steps {
        let mut steps = [0; OPERANDS];
        (steps[0], steps[1], steps[2]) = (self.output.step, self.input.step, self.indices.step);
        steps
    }

    /// The address of every operand in a line: that of iteration `inner` of the inner loop, within iteration `outer` of
    /// the outer ones.
    fn line(&self, mut outer: usize, inner: usize) -> Pointers {
        let mut at = self.origins.get();
        let mut advance = |index: usize, l: &Loop| at = shifted(&at, &l.steps, index as isize);
        for l in self.outer.iter().rev() {
            advance(outer % l.extent, l);
            outer /= l.extent;
        }
        advance(inner, &self.inner);
        at
    }

    /// The number of strips of up to `width` lines.
    pub(super) fn strip_count(&self, width: usize) -> usize {
        self.count() / self.inner.extent * self.inner.extent.div_ceil(width)
    }

    /// The strip with that index. A strip of width 1 has the steps of its line as lane steps, so that a contiguous line
    /// is seen as a tile that needs no copy.
    pub(super) fn strip(&self, width: usize, index: usize) -> Strip {
        let per_inner_loop = self.inner.extent.div_ceil(width);
        let first = index % per_inner_loop * width;
        let at = self.line(index / per_inner_loop, first);
        let lane_steps = if width == 1 { self.position_steps() } else { self.inner.steps };
        Strip { at, lane_steps, width: width.min(self.inner.extent - first), lane_positions: 0 }
    }

    /// The lanes of neighbouring chunks of one line, or of the same chunk of adjacent lines.
    pub fn chunks(&self, lines: &Strip, chunk: usize, count: usize) -> Strip {
        let steps = self.position_steps();
        let at = shifted(&lines.at, &steps, (chunk * CHUNK) as isize);
        if lines.width > 1 {
            return Strip { at, ..*lines };
        }
        let lane_steps = steps.map(|step| CHUNK as isize * step);
        Strip { at, lane_steps, width: count, lane_positions: CHUNK }
    }
}

//! The Layout class: shape, strides and offset as a value.
//!
//! Its own methods are here. The rules by which a view is made are rows of `rows/views.rs`, which it shares
//! with the tensors.

use super::size::{new_size, new_tuple};
use crate::abi::Object;
use crate::abi::errors::{Fail, Result, named};
use crate::abi::refs::{bound, owned, python};
use crate::abi::thunks::{Place, Row, definitions};
use crate::convert::args::{FromArg, Ints, TensorArg};
use crate::convert::index::indices;
use crate::convert::results::{view, views};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::ffi::CStr;
use std::hash::{DefaultHasher, Hash, Hasher};
use strided_core::Layout;
use strided_core::layout::Dims;

/// Where the elements of a tensor lie in its storage: shape, strides and offset, without any data.
///
/// The element with indices `i, j, …` lies at location `offset + i * stride[0] + j * stride[1] + …`. Without
/// strides the order decides: `"row"` (the last index is the fast one) or `"column"` (the first). A layout is
/// a value: it does not change, equal ones are equal, and every rule that makes a view of a tensor makes a
/// layout of a layout.
///
/// >>> x = strided.Layout((2, 3))
/// >>> x
/// Layout(shape=(2, 3), stride=(3, 1), offset=0)
/// >>> x.t().flip(0)
/// Layout(shape=(3, 2), stride=(-1, 3), offset=2)
/// >>> strided.zeros(4, 5)[1:].layout == strided.Layout((3, 5), (5, 1), 5)
/// True
#[pyclass(name = "Layout", module = "strided", frozen)]
pub struct PyLayout(pub Layout);

#[pymethods]
impl PyLayout {
    #[new]
    #[pyo3(signature = (shape, stride = None, offset = 0, order = "row"))]
    fn new(
        py: Python<'_>,
        shape: &Bound<'_, PyAny>,
        stride: Option<Bound<'_, PyAny>>,
        offset: isize,
        order: &str,
    ) -> PyResult<PyLayout> {
        named(py, "Layout", || {
            let shape = Ints::from_arg(py, shape.as_ptr(), "shape")?.ints;
            let stride = match (stride, order) {
                (None, "row") => Layout::row_major(&shape)?.stride(),
                (None, "column") => Layout::column_major(&shape)?.stride(),
                (Some(stride), "row") => Ints::from_arg(py, stride.as_ptr(), "stride")?.ints,
                (Some(_), "column") => {
                    return Err(Fail::Value("order is for a layout without strides".into()));
                }
                _ => return Err(Fail::Value(format!("order is '{order}', wanted 'row' or 'column'"))),
            };
            Ok(PyLayout(Layout::strided(&shape, &stride, offset)?))
        })
    }

    /// The layout of a shape in which the last index is the fast one, as in C.
    ///
    /// >>> strided.Layout.row_major((2, 3, 4)).stride
    /// (12, 4, 1)
    #[staticmethod]
    fn row_major(py: Python<'_>, shape: &Bound<'_, PyAny>) -> PyResult<PyLayout> {
        named(py, "row_major", || {
            let shape = Ints::from_arg(py, shape.as_ptr(), "shape")?.ints;
            Ok(PyLayout(Layout::row_major(&shape)?))
        })
    }

    /// The layout of a shape in which the first index is the fast one, as in Fortran.
    ///
    /// >>> strided.Layout.column_major((2, 3, 4)).stride
    /// (1, 2, 6)
    #[staticmethod]
    fn column_major(py: Python<'_>, shape: &Bound<'_, PyAny>) -> PyResult<PyLayout> {
        named(py, "column_major", || {
            let shape = Ints::from_arg(py, shape.as_ptr(), "shape")?.ints;
            Ok(PyLayout(Layout::column_major(&shape)?))
        })
    }

    /// The number of modes.
    ///
    /// >>> strided.Layout((2, 3, 4)).nmode
    /// 3
    #[getter]
    fn nmode(&self) -> usize {
        self.0.rank()
    }

    /// The extents of the modes, as a Size.
    ///
    /// >>> strided.Layout((2, 3, 4)).shape
    /// strided.Size([2, 3, 4])
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        named(py, "shape", || owned(py, new_size(py, self.0.shape())))
    }

    /// How far apart two neighbours along each mode lie, in elements.
    ///
    /// >>> strided.Layout((2, 3, 4)).stride
    /// (12, 4, 1)
    #[getter]
    fn stride<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        named(py, "stride", || owned(py, new_tuple(py, self.0.stride())))
    }

    /// The location of the element whose indices are all 0.
    ///
    /// >>> strided.zeros(4, 5)[2].layout.offset
    /// 10
    #[getter]
    fn offset(&self) -> isize {
        self.0.offset()
    }

    /// The number of elements: the product of the extents.
    ///
    /// >>> strided.Layout((2, 3, 4)).size
    /// 24
    #[getter]
    fn size(&self) -> usize {
        self.0.size()
    }

    /// The highest minus the lowest location, plus one; 0 without elements.
    ///
    /// >>> strided.Layout((3, 2), (10, -1), 1).span
    /// 22
    #[getter]
    fn span(&self) -> usize {
        self.0.span()
    }

    /// The lowest and the highest location; None without elements.
    ///
    /// >>> strided.Layout((3, 2), (10, -1), 1).bounds
    /// (0, 21)
    #[getter]
    fn bounds(&self) -> Option<(isize, isize)> {
        self.0.bounds()
    }

    /// Whether the elements fill their span, each location once, in any order of the modes. (A tensor's
    /// `is_contiguous()` asks for row-major order besides.)
    ///
    /// >>> x = strided.zeros(2, 3).t()
    /// >>> x.layout.is_contiguous, x.is_contiguous()
    /// (True, False)
    #[getter]
    fn is_contiguous(&self) -> bool {
        self.0.is_contiguous()
    }

    /// Whether the elements lie next to each other, the last mode fastest.
    ///
    /// >>> strided.Layout((2, 3)).is_row_major, strided.Layout((2, 3)).t().is_row_major
    /// (True, False)
    #[getter]
    fn is_row_major(&self) -> bool {
        self.0.is_row_major()
    }

    /// Whether the elements lie next to each other, the first mode fastest.
    ///
    /// >>> strided.Layout((2, 3), (1, 2)).is_column_major
    /// True
    #[getter]
    fn is_column_major(&self) -> bool {
        self.0.is_column_major()
    }

    /// Whether no two indices share a location; False also where that is too hard to decide.
    ///
    /// >>> strided.Layout((3,)).unfold(0, 2, 1).is_injective
    /// False
    #[getter]
    fn is_injective(&self) -> bool {
        self.0.is_injective()
    }

    /// The number of indices of a mode.
    ///
    /// >>> strided.Layout((2, 3)).extent(-1)
    /// 3
    fn extent(&self, py: Python<'_>, mode: &Bound<'_, PyAny>) -> PyResult<isize> {
        named(py, "extent", || Ok(self.0.extent(isize::from_arg(py, mode.as_ptr(), "mode")?)?))
    }

    /// The location of the element with these indices.
    ///
    /// >>> strided.Layout((4, 5), offset=100).location(2, 3)
    /// 113
    #[pyo3(signature = (*indices))]
    fn location(&self, py: Python<'_>, indices: &Bound<'_, PyTuple>) -> PyResult<isize> {
        named(py, "location", || Ok(self.0.location(&ints(py, indices, "indices")?)?))
    }

    /// Whether mode `i` of this layout and mode `j` of another may share an index: their extents are equal.
    ///
    /// >>> strided.Layout((2, 3)).compatible(1, strided.Layout((3, 4)), 0)
    /// True
    fn compatible(
        &self,
        py: Python<'_>,
        i: &Bound<'_, PyAny>,
        other: &Bound<'_, PyAny>,
        j: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        named(py, "compatible", || {
            let (i, j) = (isize::from_arg(py, i.as_ptr(), "i")?, isize::from_arg(py, j.as_ptr(), "j")?);
            let other = LayoutArg::from_arg(py, other.as_ptr(), "other")?;
            Ok(self.0.compatible(i, &other.0, j)?)
        })
    }

    /// Whether each of these modes begins where the one before it ends, the fast mode first: then they can be
    /// folded.
    ///
    /// >>> x = strided.Layout((4, 5))
    /// >>> x.sequentially_contiguous((1, 0)), x.sequentially_contiguous((0, 1))
    /// (True, False)
    fn sequentially_contiguous(&self, py: Python<'_>, modes: &Bound<'_, PyAny>) -> PyResult<bool> {
        named(py, "sequentially_contiguous", || {
            let modes = Ints::from_arg(py, modes.as_ptr(), "modes")?.ints;
            Ok(self.0.sequentially_contiguous(&modes)?)
        })
    }

    /// The same elements in another shape; one size may be -1. Refused where the strides do not allow it.
    ///
    /// >>> strided.Layout((4, 6)).view(2, 2, -1).stride
    /// (12, 6, 1)
    #[pyo3(signature = (*shape))]
    fn view(&self, py: Python<'_>, shape: &Bound<'_, PyTuple>) -> PyResult<PyLayout> {
        named(py, "view", || Ok(PyLayout(self.0.view(&ints(py, shape, "shape")?)?)))
    }

    /// Dims `start_dim` to `end_dim` as one. Refused where the strides do not allow it.
    ///
    /// >>> strided.Layout((2, 3, 4)).flatten(1)
    /// Layout(shape=(2, 12), stride=(12, 1), offset=0)
    #[pyo3(signature = (start_dim = 0, end_dim = -1))]
    fn flatten(&self, py: Python<'_>, start_dim: isize, end_dim: isize) -> PyResult<PyLayout> {
        named(py, "flatten", || Ok(PyLayout(self.0.view(&self.0.flatten_shape(start_dim, end_dim)?)?)))
    }

    /// Every `step`-th index of a dim from `start` up to, not including, `stop`, by Python's rules.
    ///
    /// >>> strided.Layout((2, 5)).slice(1, step=-2)
    /// Layout(shape=(2, 3), stride=(5, -2), offset=4)
    #[pyo3(signature = (dim, start = None, stop = None, step = 1))]
    fn slice(
        &self,
        py: Python<'_>,
        dim: isize,
        start: Option<isize>,
        stop: Option<isize>,
        step: isize,
    ) -> PyResult<PyLayout> {
        named(py, "slice", || Ok(PyLayout(self.0.slice(dim, start, stop, step)?)))
    }

    fn __getitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<PyLayout> {
        named(py, "index", || Ok(PyLayout(self.0.index(&indices(py, key.as_ptr())?)?)))
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> Py<PyAny> {
        match other.cast::<PyLayout>() {
            Ok(other) => pyo3::types::PyBool::new(py, self.0 == other.get().0).to_owned().into_any().unbind(),
            Err(_) => py.NotImplemented(),
        }
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let (shape, stride) = (tuple_text(&self.0.shape()), tuple_text(&self.0.stride()));
        format!("Layout(shape={shape}, stride={stride}, offset={})", self.0.offset())
    }

    /// The drawing of the layout: which cell of memory holds which element. It prints as text, and shows as a
    /// picture in a notebook. `strided.draw(x)` draws a tensor, with its numbers.
    ///
    /// >>> strided.Layout((2, 2)).t().draw()
    /// Layout(shape=(2, 2), stride=(1, 2), offset=0)
    /// <BLANKLINE>
    /// elements, labelled by memory cell
    ///   0  2
    ///   1  3
    /// <BLANKLINE>
    /// memory cells, labelled by element
    ///     0     1     2     3
    ///  ┌─────┬─────┬─────┬─────┐
    ///  │ 0,0 │ 1,0 │ 0,1 │ 1,1 │
    ///  └─────┴─────┴─────┴─────┘
    fn draw<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        displayed(this, "drawing", "draw")
    }

    /// The drawing as a picture: the text of an SVG file.
    ///
    /// >>> strided.Layout((2, 2)).svg()[:4]
    /// '<svg'
    fn svg<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        displayed(this, "svg", "picture")
    }

    fn _repr_svg_<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        displayed(this, "svg", "picture")
    }

    fn _repr_html_<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        displayed(this, "notebook", "layout")
    }

    fn __copy__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __deepcopy__(this: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        this
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let parts = (PyTuple::new(py, self.0.shape())?, PyTuple::new(py, self.0.stride())?, self.0.offset());
        (py.get_type::<PyLayout>(), parts).into_pyobject(py)
    }
}

/// What a module of `strided.display` makes of a layout.
fn displayed<'py>(
    this: &Bound<'py, PyLayout>,
    module: &str,
    function: &'static str,
) -> PyResult<Bound<'py, PyAny>> {
    let py = this.py();
    named(py, function, || owned(py, python(py, &format!("strided.display.{module}"), function, (this,))))
}

/// `*sizes`: several ints or one sequence.
fn ints(py: Python<'_>, args: &Bound<'_, PyTuple>, name: &'static str) -> Result<Dims> {
    if args.len() == 1 {
        return Ok(Ints::from_arg(py, args.get_item(0)?.as_ptr(), name)?.ints);
    }
    args.iter().map(|item| isize::from_arg(py, item.as_ptr(), name)).collect()
}

/// `(2, 3)`, `(2,)`, `()`
fn tuple_text(items: &[isize]) -> String {
    match items {
        [one] => format!("({one},)"),
        many => format!("({})", many.iter().map(isize::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// A layout argument, also given by a tensor that has it.
pub struct LayoutArg(pub Layout);
impl FromArg for LayoutArg {
    const WANTED: &'static str = "a Tensor or a Layout";
    fn read(py: Python<'_>, object: Object) -> Result<Option<LayoutArg>> {
        if let Some(x) = TensorArg::read(py, object)? {
            return Ok(Some(LayoutArg(x.layout().clone())));
        }
        let layout = bound(py, object);
        Ok(layout.cast::<PyLayout>().ok().map(|layout| LayoutArg(layout.get().0.clone())))
    }
}

/// What the rows of views act on: a tensor or a layout alone.
pub trait Viewer {
    fn layout(&self) -> &Layout;
    /// The object for what was made of the layout.
    fn show(&self, py: Python<'_>, made: impl Made) -> Result<Object>;
}

impl Viewer for TensorArg {
    #[inline(always)]
    fn layout(&self) -> &Layout {
        strided_core::Tensor::layout(self)
    }
    #[inline(always)]
    fn show(&self, py: Python<'_>, made: impl Made) -> Result<Object> {
        made.over(py, self)
    }
}

impl Viewer for LayoutArg {
    fn layout(&self) -> &Layout {
        &self.0
    }
    fn show(&self, py: Python<'_>, made: impl Made) -> Result<Object> {
        made.alone(py)
    }
}

/// What a rule makes of a layout: another one, or several.
pub trait Made {
    /// As views of a tensor.
    fn over(self, py: Python<'_>, x: &strided_core::Tensor) -> Result<Object>;
    /// As objects of their own.
    fn alone(self, py: Python<'_>) -> Result<Object>;
}

impl Made for strided_core::Result<Layout> {
    #[inline(always)]
    fn over(self, py: Python<'_>, x: &strided_core::Tensor) -> Result<Object> {
        view(py, x, self)
    }
    fn alone(self, py: Python<'_>) -> Result<Object> {
        Ok(Bound::new(py, PyLayout(self?))?.into_ptr())
    }
}

impl Made for strided_core::Result<Vec<Layout>> {
    fn over(self, py: Python<'_>, x: &strided_core::Tensor) -> Result<Object> {
        views(py, x, self)
    }
    fn alone(self, py: Python<'_>) -> Result<Object> {
        let layouts: Vec<_> =
            self?.into_iter().map(|layout| Bound::new(py, PyLayout(layout))).collect::<PyResult<_>>()?;
        Ok(PyTuple::new(py, layouts)?.into_ptr())
    }
}

/// Makes the class and gives it the rows of views.
pub fn register(module: &Bound<'_, PyModule>, rows: &[Row]) -> PyResult<()> {
    let py = module.py();
    module.add_class::<PyLayout>()?;
    let class = py.get_type::<PyLayout>();
    for definition in definitions(rows.iter(), Place::Layout).leak() {
        // SAFETY: the definition and its name are never freed.
        let (name, method) = unsafe {
            let method = ffi::PyDescr_NewMethod(class.as_ptr().cast(), definition);
            (CStr::from_ptr(definition.ml_name), Bound::from_owned_ptr_or_err(py, method)?)
        };
        class.setattr(name.to_string_lossy().as_ref(), method)?;
    }
    Ok(())
}

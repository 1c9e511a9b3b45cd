//! The Layout class: shape, strides and offset as a value.
//!
//! Its own methods are rows of `api/layout.rs`. The rules that make views are rows of `api/views.rs`, which it shares with
//! the tensors.

use crate::abi::errors::{CallResult, Fail, guard_pyo3};
use crate::abi::{Arg, Value};
use crate::convert::args::{FromArg, Ints, Receiver, TensorArg};
use crate::convert::index::basic_key;
use crate::convert::results::{view, views};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::hash::{DefaultHasher, Hash, Hasher};
use strided_core::{Layout, Tensor};

/// The locations of a tensor's elements in its storage: shape, strides and offset, without any data.
///
/// The element with indices `i, j, …` is at location `offset + i * stride[0] + j * stride[1] + …`. Without
/// strides, the order decides: `"row"` (the last index varies fastest) or `"column"` (the first). A layout is
/// an immutable value, compared by its fields. Every method that makes a view of a tensor makes a layout of a
/// layout.
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
        guard_pyo3(py, "Layout", || {
            let shape = Ints::from_arg(shape.as_borrowed(), "shape")?.ints;
            let stride = match (stride, order) {
                (None, "row") => Layout::row_major(&shape)?.stride(),
                (None, "column") => Layout::column_major(&shape)?.stride(),
                (Some(stride), "row") => Ints::from_arg(stride.as_borrowed(), "stride")?.ints,
                (Some(_), "column") => {
                    return Err(Fail::Value("order is for a layout without strides".into()));
                }
                _ => return Err(Fail::Value(format!("order is '{order}', wanted 'row' or 'column'"))),
            };
            Ok(PyLayout(Layout::strided(&shape, &stride, offset)?))
        })
    }

    /// The layout of a shape in which the last index varies fastest, as in C.
    ///
    /// >>> strided.Layout.row_major((2, 3, 4)).stride
    /// (12, 4, 1)
    #[staticmethod]
    fn row_major(py: Python<'_>, shape: &Bound<'_, PyAny>) -> PyResult<PyLayout> {
        guard_pyo3(py, "row_major", || {
            let shape = Ints::from_arg(shape.as_borrowed(), "shape")?.ints;
            Ok(PyLayout(Layout::row_major(&shape)?))
        })
    }

    /// The layout of a shape in which the first index varies fastest, as in Fortran.
    ///
    /// >>> strided.Layout.column_major((2, 3, 4)).stride
    /// (1, 2, 6)
    #[staticmethod]
    fn column_major(py: Python<'_>, shape: &Bound<'_, PyAny>) -> PyResult<PyLayout> {
        guard_pyo3(py, "column_major", || {
            let shape = Ints::from_arg(shape.as_borrowed(), "shape")?.ints;
            Ok(PyLayout(Layout::column_major(&shape)?))
        })
    }

    fn __getitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<PyLayout> {
        guard_pyo3(py, "index", || Ok(PyLayout(self.0.index(&basic_key(key.as_borrowed())?)?)))
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

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let parts = (PyTuple::new(py, self.0.shape())?, PyTuple::new(py, self.0.stride())?, self.0.offset());
        (py.get_type::<PyLayout>(), parts).into_pyobject(py)
    }
}

/// `(2, 3)`, `(2,)`, `()`
fn tuple_text(items: &[isize]) -> String {
    match items {
        [one] => format!("({one},)"),
        many => format!("({})", many.iter().map(isize::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// A layout argument, or a tensor in its place, with its object.
pub struct LayoutArg<'a> {
    pub object: Arg<'a>,
    pub layout: Layout,
}

impl<'a> FromArg<'a> for LayoutArg<'a> {
    const WANTED: &'static str = "a Tensor or a Layout";
    const STUB: &'static str = "Tensor | Layout";
    fn read(object: Arg<'a>) -> CallResult<Option<LayoutArg<'a>>> {
        if let Some(x) = TensorArg::read(object)? {
            return Ok(Some(LayoutArg { object, layout: x.layout().clone() }));
        }
        let layout = object.cast::<PyLayout>().ok();
        Ok(layout.map(|layout| LayoutArg { object, layout: layout.get().0.clone() }))
    }
}

impl<'a> Receiver<'a> for LayoutArg<'a> {
    const CLASS: &'static str = "Layout";
}

/// The receiver of a row of views: a tensor, or a layout without data.
pub trait Viewer {
    fn layout(&self) -> &Layout;
    /// The result of a rule as an object: a view, or a layout.
    fn view_object<'py>(&self, py: Python<'py>, result: impl NewLayouts) -> CallResult<Value<'py>>;
}

impl Viewer for TensorArg<'_> {
    #[inline(always)]
    fn layout(&self) -> &Layout {
        Tensor::layout(self)
    }
    #[inline(always)]
    fn view_object<'py>(&self, py: Python<'py>, result: impl NewLayouts) -> CallResult<Value<'py>> {
        result.views_of(py, self)
    }
}

impl Viewer for LayoutArg<'_> {
    fn layout(&self) -> &Layout {
        &self.layout
    }
    fn view_object<'py>(&self, py: Python<'py>, result: impl NewLayouts) -> CallResult<Value<'py>> {
        result.layouts(py)
    }
}

/// The result of a rule that makes views: a layout, or several.
pub trait NewLayouts {
    /// As views of a tensor.
    fn views_of<'py>(self, py: Python<'py>, x: &Tensor) -> CallResult<Value<'py>>;
    /// As layouts.
    fn layouts(self, py: Python<'_>) -> CallResult<Value<'_>>;
}

impl NewLayouts for strided_core::Result<Layout> {
    #[inline(always)]
    fn views_of<'py>(self, py: Python<'py>, x: &Tensor) -> CallResult<Value<'py>> {
        view(py, x, self)
    }
    fn layouts(self, py: Python<'_>) -> CallResult<Value<'_>> {
        Ok(Bound::new(py, PyLayout(self?))?.into_any())
    }
}

impl NewLayouts for strided_core::Result<Vec<Layout>> {
    fn views_of<'py>(self, py: Python<'py>, x: &Tensor) -> CallResult<Value<'py>> {
        views(py, x, self)
    }
    fn layouts(self, py: Python<'_>) -> CallResult<Value<'_>> {
        let layouts: Vec<_> =
            self?.into_iter().map(|layout| Bound::new(py, PyLayout(layout))).collect::<PyResult<_>>()?;
        Ok(PyTuple::new(py, layouts)?.into_any())
    }
}

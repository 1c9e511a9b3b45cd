//! The Tensor type: its constructor, its properties, and the assembly of its slots and methods.

use super::class_table::{dtype_of_class, dtype_of_subclass};
use super::dtype::{self, Device};
use super::layout::PyLayout;
use super::size::{add_size_descriptor, is_size, new_size};
use super::{operators, protocols};
use crate::abi::Object;
use crate::abi::detach::with_threads;
use crate::abi::errors::{Fail, Result, guard};
use crate::abi::heap::{SUBCLASSED, forever, make_type, slot};
use crate::abi::refs::{again, bound, give};
use crate::abi::tensor_object::{self as object, tensor_of, wrap, wrap_as};
use crate::convert::args::{FromArg, NoGrad, python_number, sequence_of_ints, wrong_type};
use crate::convert::results::view;
use crate::convert::values::{shared_or_cast, values};
use crate::convert::{arrays, buffer};
use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use strided_core::dtype::default_float;
use strided_core::layout::Dims;
use strided_core::ops::copy;
use strided_core::storage::Fill;
use strided_core::{DType, Tensor};

/// `Tensor(...)` and `FloatTensor(...)`: sizes, a Size, a storage, a tensor, an array or a sequence.
pub fn construct(py: Python<'_>, dtype: DType, args: &[Object]) -> Result<Object> {
    wrap(py, constructed(py, dtype, args)?)
}

fn constructed(py: Python<'_>, dtype: DType, args: &[Object]) -> Result<Tensor> {
    match *args {
        [] => Ok(Tensor::new(&[0], dtype, Fill::Zero)?),
        [only] if is_size(only) => {
            let sizes = sequence_of_ints(py, only)?;
            let sizes = sizes.ok_or_else(|| Fail::Type("a Size must hold ints".into()))?;
            Ok(Tensor::new(&sizes, dtype, Fill::Zero)?)
        }
        [only] if !is_one_int(py, only)? => from_one(py, dtype, only),
        _ => {
            let sizes: Dims =
                args.iter().map(|&size| isize::from_arg(py, size, "size")).collect::<Result<_>>()?;
            Ok(Tensor::new(&sizes, dtype, Fill::Zero)?)
        }
    }
}

/// A single argument that is a size: an int, also one of NumPy's.
fn is_one_int(py: Python<'_>, object: Object) -> Result<bool> {
    // SAFETY: a living object.
    if unsafe { ffi::PyLong_Check(object) } != 0 {
        return Ok(true);
    }
    if object::is_tensor(object) || !buffer::has_buffer(object) {
        return Ok(false);
    }
    // SAFETY: as above.
    let index = unsafe { ffi::PyIndex_Check(object) } != 0;
    Ok(index
        && buffer::import_or_copy(py, object).is_ok_and(|x| x.layout().rank() == 0 && x.dtype().is_int()))
}

fn from_one(py: Python<'_>, dtype: DType, only: Object) -> Result<Tensor> {
    if is_text(only) {
        return Err(wrong_type(py, only, "data", "sizes, numbers, an array, a storage or a Tensor"));
    }
    shared_or_cast(py, only, dtype)
}

fn is_text(object: Object) -> bool {
    // SAFETY: a living object.
    unsafe { ffi::PyUnicode_Check(object) != 0 }
}

/// `tp_new`
unsafe extern "C" fn new(class: *mut ffi::PyTypeObject, args: Object, kwargs: Object) -> Object {
    guard("Tensor", null_mut(), |py| {
        let items: Vec<Bound<'_, PyAny>> = bound(py, args).try_iter()?.collect::<PyResult<_>>()?;
        let objects: Vec<Object> = items.iter().map(|item| item.as_ptr()).collect();
        let mut dtype = dtype_of_subclass(class).unwrap_or_else(default_float);
        if !kwargs.is_null() {
            for pair in bound(py, kwargs).cast_into::<pyo3::types::PyDict>().map_err(PyErr::from)?.iter() {
                let (name, value) = (pair.0.to_string(), pair.1.as_ptr());
                match name.as_str() {
                    "dtype" => dtype = DType::from_arg(py, value, "dtype")?,
                    "device" => {
                        Device::from_arg(py, value, "device")?;
                    }
                    "requires_grad" => {
                        Option::<NoGrad>::from_arg(py, value, "requires_grad")?;
                    }
                    _ => return Err(Fail::Type(format!("unknown argument '{name}'"))),
                }
            }
        }
        let tensor = constructed(py, dtype, &objects)?;
        let plain = class == object::tensor_type() || dtype_of_class(class).is_some();
        // SAFETY: `class` is a subtype of Tensor, as `tp_new` is only called for those.
        if plain { wrap(py, tensor) } else { unsafe { wrap_as(py, class, tensor) } }
    })
}

/// The real parts of a tensor's elements, itself where it is not complex.
pub fn real(py: Python<'_>, this: Object) -> Result<Object> {
    // SAFETY: callers pass a tensor, which is looked at once.
    let x: &Tensor = unsafe { tensor_of(this) };
    if x.dtype().is_complex() { wrap(py, x.part(0)?) } else { Ok(again(this)) }
}

type Getter = unsafe extern "C" fn(Object, *mut c_void) -> Object;
type Setter = unsafe extern "C" fn(Object, Object, *mut c_void) -> c_int;

/// A name, its document, and what reads and writes it.
type Property = (&'static str, &'static [&'static str], Getter, Option<Setter>);

/// Properties: a name, a document, and a body over the tensor; one that can be set has another one, which gives the
/// tensor that is written to.
macro_rules! properties {
    ($($(#[doc = $doc:literal])+ $name:ident => |$py:ident, $x:ident, $this:ident| $body:expr $(, set $part:expr)?;)*) => {
        fn properties() -> Vec<Property> {
            vec![$( {
                unsafe extern "C" fn get($this: Object, _: *mut c_void) -> Object {
                    guard(stringify!($name), null_mut(), |$py| {
                        // SAFETY: called with a tensor, which is looked at once.
                        let $x = unsafe { tensor_of($this) };
                        $body
                    })
                }
                (stringify!($name), &[$($doc),+] as &[_], get as Getter, properties!(@set $name $($part)?))
            } ),*]
        }
    };
    (@set $name:ident) => { None };
    (@set $name:ident $part:expr) => { {
        unsafe extern "C" fn set(this: Object, value: Object, _: *mut c_void) -> c_int {
            guard(stringify!($name), -1, |py| {
                if value.is_null() {
                    return Err(Fail::Type("cannot be deleted".into()));
                }
                let number = python_number(py, value)?;
                let source = if number.is_none() { Some(values(py, value)?) } else { None };
                let part: fn(&Tensor) -> strided_core::Result<Tensor> = $part;
                // SAFETY: called with a tensor, which is looked at once, after the value was read.
                let part = part(unsafe { tensor_of(this) })?;
                with_threads(py, part.size(), || match (number, &source) {
                    (Some(number), _) => copy::fill(&part, number),
                    (None, Some(source)) => copy::copy(&part, source),
                    (None, None) => unreachable!("one of them was read"),
                })?;
                Ok(0)
            })
        }
        Some(set as Setter)
    } };
}

properties! {
    /// The extents, as a Size.
    ///
    /// >>> strided.zeros(2, 3).shape
    /// strided.Size([2, 3])
    shape => |py, x, _this| new_size(py, x.layout().shape());

    /// The dtype of the elements.
    ///
    /// >>> strided.zeros(2, 3).dtype
    /// strided.float32
    dtype => |py, x, _this| give(py, dtype::object(py, x.dtype()));

    /// Where the memory lies: the CPU.
    ///
    /// >>> strided.zeros(2, 3).device
    /// device(type='cpu')
    device => |py, _x, _this| give(py, Device);

    /// Shape, strides and offset as a value of their own.
    ///
    /// >>> strided.zeros(2, 3).t().layout
    /// Layout(shape=(3, 2), stride=(1, 3), offset=0)
    layout => |py, x, _this| give(py, PyLayout(x.layout().clone()));

    /// The number of dims.
    ///
    /// >>> strided.zeros(2, 3).ndim
    /// 2
    ndim => |py, x, _this| give(py, x.layout().rank());

    /// Bytes per element.
    ///
    /// >>> strided.zeros(2, 3).itemsize
    /// 4
    itemsize => |py, x, _this| give(py, x.dtype().size());

    /// Bytes of all elements.
    ///
    /// >>> strided.zeros(2, 3).nbytes
    /// 24
    nbytes => |py, x, _this| give(py, x.size() * x.dtype().size());

    /// A view with the dims in reverse order.
    ///
    /// >>> strided.zeros(2, 3, 4).T.shape
    /// strided.Size([4, 3, 2])
    T => |py, x, _this| {
        let reversed: Dims = (0..x.layout().rank() as isize).rev().collect();
        view(py, x, x.layout().permute(&reversed))
    };

    /// A view with the last two dims swapped.
    ///
    /// >>> strided.zeros(2, 3, 4).mT.shape
    /// strided.Size([2, 4, 3])
    mT => |py, x, _this| view(py, x, x.layout().transpose(-2, -1));

    /// The real parts: a view, the tensor itself where it is not complex.
    ///
    /// >>> x = strided.tensor([1 + 2j, 3 - 4j])
    /// >>> x.real.zero_().tolist(), x.tolist()
    /// ([0.0, 0.0], [2j, -4j])
    real => |py, _x, this| real(py, this), set |x| if x.dtype().is_complex() { x.part(0) } else { Ok(x.clone()) };

    /// The imaginary parts of a complex tensor, as a view.
    ///
    /// >>> strided.tensor([1 + 2j, 3 - 4j]).imag.tolist()
    /// [2.0, -4.0]
    imag => |py, x, _this| wrap(py, x.part(1)?), set |x| x.part(1);

    /// Address, shape, strides and type of the elements in NumPy's words, for libraries that want no buffer.
    /// An address is never given back: from then on the storage keeps its size.
    ///
    /// >>> strided.zeros(2, 3).__array_interface__['typestr']
    /// '<f4'
    __array_interface__ => |py, x, _this| arrays::interface(py, x);

    /// Whether gradients are recorded: never.
    ///
    /// >>> strided.zeros(2).requires_grad
    /// False
    requires_grad => |py, _x, _this| give(py, false);
}

const DOC: &str = "Tensor(*args)\n--\n\n\
    One way of looking at a storage: offset, shape and strides.\n\n\
    `Tensor(3, 4)` and `Tensor(Size([3, 4]))` make one of zeros in the default type; `Tensor(sequence)`,\n\
    `Tensor(array)`, `Tensor(tensor)` and `Tensor(storage)` one of those values, on the same memory where the\n\
    dtype fits. `FloatTensor`, `LongTensor` … do the same in their type.\n\n\
    >>> strided.Tensor([[1, 2, 3, 4], [5, 6, 7, 8]])\n \
     1  2  3  4\n \
     5  6  7  8\n\
    [strided.FloatTensor of size 2x4]";

/// Makes the type with these methods, and adds it to the module.
pub fn register(module: &Bound<'_, PyModule>, mut methods: Vec<ffi::PyMethodDef>) -> PyResult<()> {
    let py = module.py();
    if !object::tensor_type().is_null() {
        // Tensors of a first import would not be tensors for the second.
        return Err(PyImportError::new_err("strided is loaded already, and cannot be loaded a second time"));
    }
    methods.push(ffi::PyMethodDef::zeroed());
    let mut getters: Vec<ffi::PyGetSetDef> = properties().into_iter().map(getset).collect();
    // SAFETY: the zeroed end of the list.
    getters.push(unsafe { std::mem::zeroed() });
    let members = vec![
        ffi::PyMemberDef {
            name: c"__weaklistoffset__".as_ptr(),
            type_code: ffi::Py_T_PYSSIZET,
            offset: object::WEAKREFS as isize,
            flags: ffi::Py_READONLY,
            doc: std::ptr::null(),
        },
        // SAFETY: the zeroed end of the list.
        unsafe { std::mem::zeroed() },
    ];
    let mut slots = vec![
        slot(ffi::Py_tp_new, new as *mut c_void),
        slot(ffi::Py_tp_dealloc, object::dealloc as *mut c_void),
        slot(ffi::Py_tp_doc, forever(DOC).as_ptr().cast_mut().cast()),
        slot(ffi::Py_tp_methods, methods.leak().as_mut_ptr().cast()),
        slot(ffi::Py_tp_getset, getters.leak().as_mut_ptr().cast()),
        slot(ffi::Py_tp_members, members.leak().as_mut_ptr().cast()),
        slot(ffi::Py_bf_getbuffer, buffer::getbuffer as *mut c_void),
        slot(ffi::Py_bf_releasebuffer, buffer::releasebuffer as *mut c_void),
    ];
    slots.extend(protocols::slots());
    slots.extend(operators::slots());
    let size = size_of::<object::TensorObject>();
    // SAFETY: the slots match their numbers, and `wrap` makes instances of that size.
    let class = unsafe { make_type(py, c"strided.Tensor", size, SUBCLASSED, None, slots)? };
    object::set_tensor_type(class.as_ptr().cast());
    module.add("Tensor", &class)?;
    // So that an array leaves `array + tensor` to the tensor.
    class.setattr("__array_priority__", 1000.0)?;
    add_size_descriptor(py)
}

fn getset((name, doc, get, set): Property) -> ffi::PyGetSetDef {
    let doc: Vec<&str> = doc.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    ffi::PyGetSetDef {
        name: forever(name).as_ptr(),
        get: Some(get),
        set,
        doc: forever(&doc.join("\n")).as_ptr(),
        closure: null_mut(),
    }
}

//! The Storage class: a flat run of numbers of one dtype.

use super::class_table::dtype_of_class;
use super::dtype::{self, Device, PyDType};
use super::elementwise::holds;
use crate::abi::Object;
use crate::abi::detach::{waiting, with_threads};
use crate::abi::errors::{Fail, Result, named};
use crate::abi::refs::{bound, owned, python};
use crate::abi::storage_object::{PyStorage, Run, bound_storage, read};
use crate::abi::tensor_object::{is_tensor, tensor_of};
use crate::convert::args::{FromArg, python_number, wrong_type};
use crate::convert::arrays::{self, Misfit};
use crate::convert::buffer;
use crate::convert::index::indices;
use crate::convert::mapping::{self, Wanted};
use crate::convert::sequence::{from_nested, number, to_nested};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PySequence, PySlice, PyString, PyTuple, PyType};
use std::ffi::{OsString, c_int};
use strided_core::dtype::default_float;
use strided_core::layout::Index;
use strided_core::ops::copy;
use strided_core::storage::Fill;
use strided_core::{DType, Error, Layout, Problem, Scalar, Tensor};

type Made<'py> = PyResult<Bound<'py, PyAny>>;
type This<'a, 'py> = &'a Bound<'py, PyStorage>;

#[pymethods]
impl PyStorage {
    #[new]
    #[classmethod]
    #[pyo3(signature = (*args, dtype = None, device = None))]
    fn new(
        class: &Bound<'_, PyType>,
        args: &Bound<'_, PyTuple>,
        dtype: Option<Bound<'_, PyAny>>,
        device: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyStorage>> {
        let py = class.py();
        named(py, "Storage", || {
            let dtype = storage_dtype(class, dtype)?;
            if let Some(device) = device {
                Device::from_arg(py, device.as_ptr(), "device")?;
            }
            let made = bound_storage(py, constructed(py, dtype, args)?)?;
            Ok(made.cast_into::<PyStorage>().map_err(PyErr::from)?.unbind())
        })
    }

    /// A storage on a mapped file: the memory is the file, read when it is looked at.
    ///
    /// `size` counts elements; 0 takes all there are. `offset` counts bytes. The dtype is that of the class,
    /// unless one is given. With `shared`, what is written goes to the file, and other processes that map it
    /// see it at once; `flush` waits until it is on the disk. Without, it stays here. `readonly` refuses writing.
    /// `create` makes a file that is missing, `grow` makes one longer that is too short; without them both are
    /// errors. A private map whose offset does not suit the dtype is a copy.
    ///
    /// Nobody must make the file shorter while it is mapped: the system ends a process that touches what is
    /// no longer there.
    ///
    /// >>> import pathlib, tempfile
    /// >>> folder = tempfile.TemporaryDirectory()
    /// >>> name = pathlib.Path(folder.name, 'numbers')
    /// >>> s = strided.ShortStorage.from_file(name, shared=True, size=3, create=True)
    /// >>> s.fill_(2).flush()
    /// >>> name.read_bytes()
    /// b'\x02\x00\x02\x00\x02\x00'
    /// >>> strided.ShortStorage.from_file(name).tolist()
    /// [2, 2, 2]
    /// >>> folder.cleanup()
    #[classmethod]
    #[pyo3(signature = (filename, shared = false, size = 0, *, dtype = None, readonly = false, create = false, grow = false, offset = 0))]
    fn from_file<'py>(
        class: &Bound<'py, PyType>,
        filename: &Bound<'py, PyAny>,
        shared: bool,
        size: isize,
        dtype: Option<Bound<'py, PyAny>>,
        readonly: bool,
        create: bool,
        grow: bool,
        offset: isize,
    ) -> Made<'py> {
        let py = class.py();
        named(py, "from_file", || {
            let dtype = storage_dtype(class, dtype)?;
            let wanted = Wanted { size, offset, shared, readonly, create, grow };
            Ok(bound_storage(py, mapping::from_file(py, filename.as_ptr(), dtype, wanted)?)?)
        })
    }

    /// A new storage of the same dtype, made as the class makes one.
    ///
    /// >>> strided.IntStorage(2).new([7, 8]).tolist()
    /// [7, 8]
    #[pyo3(signature = (*args))]
    #[pyo3(name = "new")]
    fn another<'py>(&self, py: Python<'py>, args: &Bound<'py, PyTuple>) -> Made<'py> {
        named(py, "new", || Ok(bound_storage(py, constructed(py, self.run.dtype, args)?)?))
    }

    /// The number of elements.
    ///
    /// >>> strided.FloatStorage(5).size()
    /// 5
    fn size(&self) -> usize {
        self.run.length()
    }

    fn __len__(&self) -> usize {
        self.run.length()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> Made<'py> {
        named(py, "index", || match place(py, key)? {
            Index::At(at) => {
                let whole = self.run.whole()?;
                let at = wrapped(at, whole.size())?;
                number(py, copy::item(&whole, &[at])?)
            }
            slice => {
                let whole = self.run.whole()?;
                let part = whole.with_layout(whole.layout().index(&[slice])?);
                copied(py, &part, self.run.dtype)
            }
        })
    }

    fn __setitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        named(py, "index", || match place(py, key)? {
            Index::At(at) => {
                let value = Scalar::from_arg(py, value.as_ptr(), "value")?;
                let whole = self.run.whole()?;
                let at = wrapped(at, whole.size())?;
                Ok(strided_core::kernels::item::set(&whole, at, value)?)
            }
            slice => {
                let source = Source::read(py, value.as_ptr())?;
                let whole = self.run.whole()?;
                source.write(py, &whole.with_layout(whole.layout().index(&[slice])?))
            }
        })
    }

    fn __delitem__(&self, _key: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyTypeError::new_err("index: elements of a storage cannot be deleted; use resize_"))
    }

    fn __iter__<'py>(this: This<'_, 'py>) -> Made<'py> {
        // SAFETY: a storage is a sequence; the result is a new reference or null with an exception.
        unsafe { Bound::from_owned_ptr_or_err(this.py(), ffi::PySeqIter_New(this.as_ptr())) }
    }

    fn __contains__(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        named(py, "in", || {
            let value = Scalar::from_arg(py, value.as_ptr(), "value")?;
            holds(py, &self.run.whole()?, value)
        })
    }

    /// Sets every element.
    ///
    /// >>> strided.ShortStorage(3).fill_(7).tolist()
    /// [7, 7, 7]
    fn fill_<'py>(this: This<'_, 'py>, value: &Bound<'py, PyAny>) -> Made<'py> {
        let py = this.py();
        named(py, "fill_", || {
            let value = Scalar::from_arg(py, value.as_ptr(), "value")?;
            let whole = this.get().run.whole()?;
            with_threads(py, whole.size(), || copy::fill(&whole, value))?;
            Ok(this.clone().into_any())
        })
    }

    /// Writes the values of a storage, a tensor, an array or a sequence of the same length, cast.
    ///
    /// >>> strided.IntStorage(2).copy_([1.5, -1.5]).tolist()
    /// [1, -1]
    #[pyo3(signature = (source, non_blocking = false))]
    fn copy_<'py>(this: This<'_, 'py>, source: &Bound<'py, PyAny>, non_blocking: bool) -> Made<'py> {
        let _ = non_blocking; // there is one device: nothing to wait for
        let py = this.py();
        named(py, "copy_", || {
            let values = flat(py, source.as_ptr(), None)?;
            Source::Values(values).write(py, &this.get().run.whole()?)?;
            Ok(this.clone().into_any())
        })
    }

    /// Changes the number of elements. The common prefix is kept, new elements are 0. Refused while a buffer
    /// of the storage is in use, and for memory that belongs to someone else.
    ///
    /// >>> strided.LongStorage([1, 2, 3]).resize_(5).tolist()
    /// [1, 2, 3, 0, 0]
    fn resize_<'py>(this: This<'_, 'py>, size: &Bound<'py, PyAny>) -> Made<'py> {
        let py = this.py();
        named(py, "resize_", || {
            let size = isize::from_arg(py, size.as_ptr(), "size")?;
            let run = &this.get().run;
            let bytes = Layout::row_major(&[size])?.size() * run.dtype.size();
            // Waits for operations of other threads, which may need the interpreter to come to their end.
            waiting(py, || run.bytes.resize(bytes))?;
            Ok(this.clone().into_any())
        })
    }

    /// A copy with memory of its own.
    ///
    /// >>> s = strided.LongStorage([1, 2])
    /// >>> s.clone().fill_(0).tolist(), s.tolist()
    /// ([0, 0], [1, 2])
    fn clone<'py>(&self, py: Python<'py>) -> Made<'py> {
        named(py, "clone", || copied(py, &self.run.whole()?, self.run.dtype))
    }

    /// The same bytes as elements of another dtype. Bytes that fill no element are left out.
    ///
    /// >>> strided.FloatStorage([1]).view(strided.uint8).tolist()
    /// [0, 0, 128, 63]
    fn view<'py>(&self, py: Python<'py>, dtype: &Bound<'py, PyAny>) -> Made<'py> {
        named(py, "view", || {
            let dtype = DType::from_arg(py, dtype.as_ptr(), "dtype")?;
            let run = Run { bytes: self.run.bytes.clone(), dtype };
            run.whole()?; // refuses an address that elements of this dtype cannot have
            Ok(bound_storage(py, run)?)
        })
    }

    /// The storage as another dtype; itself if it has it already.
    ///
    /// >>> strided.FloatStorage([1.5, 2.5]).to(strided.int16).tolist()
    /// [1, 2]
    fn to<'py>(this: This<'_, 'py>, dtype: &Bound<'py, PyAny>) -> Made<'py> {
        let py = this.py();
        converted(this, "to", || DType::from_arg(py, dtype.as_ptr(), "dtype"))
    }

    /// The name of the storage's type, or the storage as another type.
    ///
    /// >>> strided.FloatStorage(2).type()
    /// 'strided.FloatStorage'
    #[pyo3(signature = (dtype = None))]
    fn r#type<'py>(this: This<'_, 'py>, dtype: Option<Bound<'py, PyAny>>) -> Made<'py> {
        let py = this.py();
        match dtype {
            Some(dtype) => converted(this, "type", || DType::from_arg(py, dtype.as_ptr(), "dtype")),
            None => {
                let name = format!("strided.{}Storage", this.get().run.dtype.torch_name());
                Ok(PyString::new(py, &name).into_any())
            }
        }
    }

    /// The storage as bool.
    ///
    /// >>> strided.LongStorage([0, 2]).bool().tolist()
    /// [False, True]
    fn bool<'py>(this: This<'_, 'py>) -> Made<'py> {
        converted(this, "bool", || Ok(DType::Bool))
    }

    /// The storage as uint8.
    ///
    /// >>> strided.FloatStorage([1.9, 255.0]).byte().tolist()
    /// [1, 255]
    fn byte<'py>(this: This<'_, 'py>) -> Made<'py> {
        converted(this, "byte", || Ok(DType::U8))
    }

    /// The storage as int8.
    ///
    /// >>> strided.FloatStorage([-1.9, 127.0]).char().tolist()
    /// [-1, 127]
    fn char<'py>(this: This<'_, 'py>) -> Made<'py> {
        converted(this, "char", || Ok(DType::I8))
    }

    /// The storage as int16.
    ///
    /// >>> strided.FloatStorage([-1.5, 300.0]).short().tolist()
    /// [-1, 300]
    fn short<'py>(this: This<'_, 'py>) -> Made<'py> {
        converted(this, "short", || Ok(DType::I16))
    }

    /// The storage as int32.
    ///
    /// >>> strided.FloatStorage([1.7, -1.7]).int().tolist()
    /// [1, -1]
    fn int<'py>(this: This<'_, 'py>) -> Made<'py> {
        converted(this, "int", || Ok(DType::I32))
    }

    /// The storage as int64.
    ///
    /// >>> strided.FloatStorage([1.7, -1.7]).long().tolist()
    /// [1, -1]
    fn long<'py>(this: This<'_, 'py>) -> Made<'py> {
        converted(this, "long", || Ok(DType::I64))
    }

    /// The storage as float16.
    ///
    /// >>> strided.FloatStorage([0.1, 1]).half().tolist()
    /// [0.0999755859375, 1.0]
    fn half<'py>(this: This<'_, 'py>) -> Made<'py> {
        converted(this, "half", || Ok(DType::F16))
    }

    /// The storage as bfloat16.
    ///
    /// >>> strided.FloatStorage([0.1, 1]).bfloat16().tolist()
    /// [0.10009765625, 1.0]
    fn bfloat16<'py>(this: This<'_, 'py>) -> Made<'py> {
        converted(this, "bfloat16", || Ok(DType::BF16))
    }

    /// The storage as float32.
    ///
    /// >>> strided.LongStorage([1, 2]).float().tolist()
    /// [1.0, 2.0]
    fn float<'py>(this: This<'_, 'py>) -> Made<'py> {
        converted(this, "float", || Ok(DType::F32))
    }

    /// The storage as float64.
    ///
    /// >>> strided.LongStorage([1, 2]).double().tolist()
    /// [1.0, 2.0]
    fn double<'py>(this: This<'_, 'py>) -> Made<'py> {
        converted(this, "double", || Ok(DType::F64))
    }

    /// The storage as complex64.
    ///
    /// >>> strided.LongStorage([1, 2]).cfloat().tolist()
    /// [(1+0j), (2+0j)]
    fn cfloat<'py>(this: This<'_, 'py>) -> Made<'py> {
        converted(this, "cfloat", || Ok(DType::C64))
    }

    /// The storage as complex128.
    ///
    /// >>> strided.LongStorage([1, 2]).cdouble().tolist()
    /// [(1+0j), (2+0j)]
    fn cdouble<'py>(this: This<'_, 'py>) -> Made<'py> {
        converted(this, "cdouble", || Ok(DType::C128))
    }

    /// A list of Python numbers.
    ///
    /// >>> strided.IntStorage([1, 2, 3]).tolist()
    /// [1, 2, 3]
    fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        named(py, "tolist", || to_nested(py, self.run.whole()?))
    }

    /// The address of the first element. `resize_` may change it.
    ///
    /// >>> s = strided.FloatStorage(3)
    /// >>> s.data_ptr() == strided.FloatTensor(s).data_ptr()
    /// True
    fn data_ptr(&self) -> usize {
        self.run.bytes.address()
    }

    /// Bytes per element.
    ///
    /// >>> strided.DoubleStorage(3).element_size()
    /// 8
    fn element_size(&self) -> usize {
        self.run.dtype.size()
    }

    /// Bytes of all elements.
    ///
    /// >>> strided.DoubleStorage(3).nbytes
    /// 24
    #[getter]
    fn nbytes(&self) -> usize {
        self.run.length() * self.run.dtype.size()
    }

    /// The type of the elements.
    ///
    /// >>> strided.ByteStorage(3).dtype
    /// strided.uint8
    #[getter]
    fn dtype(&self, py: Python<'_>) -> Py<PyDType> {
        dtype::object(py, self.run.dtype)
    }

    /// Where the memory lies.
    ///
    /// >>> strided.ByteStorage(3).device
    /// device(type='cpu')
    #[getter]
    fn device(&self) -> Device {
        Device
    }

    /// Whether the elements can only be read.
    ///
    /// >>> strided.ByteStorage(3).readonly, strided.ByteStorage(b'abc').readonly
    /// (False, True)
    #[getter]
    fn readonly(&self) -> bool {
        self.run.bytes.is_readonly()
    }

    /// Whether the memory is the storage's own: not lent by an array or another buffer, not mapped or shared.
    ///
    /// >>> strided.ByteStorage(3).owns_memory, strided.ByteStorage(b'abc').owns_memory
    /// (True, False)
    #[getter]
    fn owns_memory(&self) -> bool {
        self.run.bytes.is_owned()
    }

    /// Moves the memory to where other processes can share it. Storages and tensors on it stay what they are. A
    /// process that is forked sees the same memory, and so does one that is sent the storage, or a tensor on
    /// it, by multiprocessing.
    ///
    /// >>> s = strided.FloatStorage([1, 2])
    /// >>> s.share_memory_().is_shared(), s.tolist()
    /// (True, [1.0, 2.0])
    fn share_memory_<'py>(this: This<'_, 'py>) -> Made<'py> {
        let py = this.py();
        named(py, "share_memory_", || {
            mapping::share(py, &this.get().run.bytes)?;
            Ok(this.clone().into_any())
        })
    }

    /// Whether other processes may see what is written: shared memory, or a file that is mapped so.
    ///
    /// >>> strided.FloatStorage(2).is_shared()
    /// False
    fn is_shared(&self) -> bool {
        self.run.bytes.is_shared()
    }

    /// Waits until all that was written has reached the mapped file.
    ///
    /// >>> strided.FloatStorage(2).flush()
    /// Traceback (most recent call last):
    /// strided.StorageError: flush: the storage is not in a file
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        named(py, "flush", || mapping::flush(py, &self.run.bytes))
    }

    /// Whether the memory is a mapped file.
    ///
    /// >>> strided.FloatStorage(2).is_mapped
    /// False
    #[getter]
    fn is_mapped(&self) -> bool {
        mapping::filename(&self.run.bytes).is_some()
    }

    /// The full path of the mapped file, or None.
    ///
    /// >>> strided.FloatStorage(2).filename is None
    /// True
    #[getter]
    fn filename(&self) -> Option<OsString> {
        mapping::filename(&self.run.bytes)
    }

    fn __repr__<'py>(this: This<'_, 'py>) -> Made<'py> {
        by_python(this, "strided.display.text", "storage", (this,))
    }

    /// The card that a notebook shows.
    fn _repr_html_<'py>(this: This<'_, 'py>) -> Made<'py> {
        by_python(this, "strided.display.notebook", "storage", (this,))
    }

    fn __copy__<'py>(&self, py: Python<'py>) -> Made<'py> {
        PyStorage::clone(self, py)
    }

    fn __deepcopy__<'py>(this: This<'_, 'py>, memo: &Bound<'py, PyAny>) -> Made<'py> {
        by_python(this, "strided._pickle", "deepcopy_storage", (this, memo))
    }

    fn __reduce_ex__<'py>(this: This<'_, 'py>, protocol: &Bound<'py, PyAny>) -> Made<'py> {
        by_python(this, "strided._pickle", "reduce_storage", (this, protocol))
    }

    /// The bytes of the object and of the memory that it owns.
    fn __sizeof__(this: This<'_, '_>) -> PyResult<usize> {
        let object: usize = this.get_type().getattr("__basicsize__")?.extract()?;
        let bytes = &this.get().run.bytes;
        Ok(object + if bytes.is_owned() { bytes.length() } else { 0 })
    }

    unsafe fn __getbuffer__(this: This<'_, '_>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        named(this.py(), "buffer", || {
            // SAFETY: the interpreter passes a view to fill; it owns the reference that is put into it.
            unsafe {
                (*view).obj = std::ptr::null_mut();
                buffer::fill(&this.get().run.whole()?, &mut *view, flags)?;
                (*view).obj = this.clone().into_ptr();
            }
            Ok(())
        })
    }

    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: a view that `__getbuffer__` filled, released once.
        unsafe { buffer::release(view) };
    }
}

/// The dtype of a storage that a class makes.
pub fn storage_dtype(class: &Bound<'_, PyType>, dtype: Option<Bound<'_, PyAny>>) -> Result<DType> {
    let py = class.py();
    let own = dtype_of_class(class.as_ptr().cast());
    if own.is_none() && !class.is(py.get_type::<PyStorage>()) {
        return Err(Fail::Type("a subclass cannot be made; hold a storage instead of being one".into()));
    }
    match dtype {
        Some(dtype) if !dtype.is_none() => DType::from_arg(py, dtype.as_ptr(), "dtype"),
        _ => Ok(own.unwrap_or_else(default_float)),
    }
}

/// Calls a function of a Python module of ours.
fn by_python<'py>(
    this: This<'_, 'py>,
    module: &'static str,
    function: &'static str,
    args: impl pyo3::call::PyCallArgs<'py>,
) -> Made<'py> {
    named(this.py(), function, || owned(this.py(), python(this.py(), module, function, args)))
}

/// What a storage is made from: nothing, a size, or something with values.
fn constructed(py: Python<'_>, dtype: DType, args: &Bound<'_, PyTuple>) -> Result<Run> {
    let run = |tensor: Tensor| Run { bytes: tensor.storage().clone(), dtype };
    let data = match args.len() {
        0 => return Ok(run(Tensor::new(&[0], dtype, Fill::Zero)?)),
        1 => args.get_item(0)?,
        count => return Err(Fail::Type(format!("takes at most 1 argument, got {count}"))),
    };
    let object = data.as_ptr();
    let has_values = is_tensor(object) || read(py, object).is_some();
    if !has_values && let Some(size) = isize::read(py, object)? {
        return Ok(run(Tensor::new(&[size], dtype, Fill::Zero)?));
    }
    let values = flat(py, object, Some(dtype))?;
    let same = values.dtype() == dtype && values.layout().is_row_major();
    if !has_values && same && values.storage().length() == values.size() * dtype.size() {
        return Ok(run(values)); // on the buffer's memory, or made from a sequence
    }
    Ok(run(with_threads(py, values.size(), || copy::to_dtype(&values, dtype))?))
}

/// The values of a storage, a tensor, an array or a sequence of numbers as one dim, in row-major order. The
/// dtype is that of values which have none yet.
fn flat(py: Python<'_>, data: Object, dtype: Option<DType>) -> Result<Tensor> {
    flattened(py, &shaped(py, data, dtype)?)
}

fn flattened(py: Python<'_>, values: &Tensor) -> Result<Tensor> {
    let size = values.size() as isize;
    Ok(with_threads(py, values.size(), || copy::reshape(values, &[size]))?)
}

/// The same in their own shape.
fn shaped(py: Python<'_>, data: Object, dtype: Option<DType>) -> Result<Tensor> {
    if let Some(run) = read(py, data) {
        return run.whole();
    }
    if is_tensor(data) {
        // SAFETY: it is a tensor, copied at once.
        return Ok(unsafe { tensor_of(data) }.clone());
    }
    if let Some(array) = arrays::read(py, data, Misfit::Copy)? {
        return Ok(array);
    }
    let object = bound(py, data);
    if object.cast::<PySequence>().is_err() || object.is_instance_of::<PyString>() {
        return Err(wrong_type(py, data, "source", "a sequence of numbers, an array, a Tensor or a Storage"));
    }
    let values = from_nested(py, data, dtype)?;
    if values.layout().rank() != 1 {
        let shape = values.layout().shape_text();
        return Err(Fail::Value(format!("the sequence is nested (shape {shape}); a storage is flat")));
    }
    Ok(values)
}

/// What is written to elements: one number for all, or one for each.
enum Source {
    Number(Scalar),
    Values(Tensor),
}

impl Source {
    fn read(py: Python<'_>, value: Object) -> Result<Source> {
        if let Some(number) = python_number(py, value)? {
            return Ok(Source::Number(number));
        }
        let values = shaped(py, value, None)?;
        match values.layout().rank() {
            0 => Ok(Source::Number(copy::single_item(&values)?)),
            _ => Ok(Source::Values(flattened(py, &values)?)),
        }
    }

    fn write(&self, py: Python<'_>, part: &Tensor) -> Result<()> {
        let values = match self {
            Source::Number(number) => {
                return Ok(with_threads(py, part.size(), || copy::fill(part, *number))?);
            }
            Source::Values(values) => values,
        };
        let (got, wanted) = (values.size(), part.size());
        if got != wanted {
            return Err(Error::new("", Problem::Count { what: "elements", got, wanted }).into());
        }
        Ok(with_threads(py, wanted, || copy::copy(part, values))?)
    }
}

/// What stands between the brackets: an int or a slice.
fn place(py: Python<'_>, key: &Bound<'_, PyAny>) -> Result<Index> {
    match indices(py, key.as_ptr())?.as_slice() {
        [index @ Index::At(_)] => Ok(*index),
        [slice @ Index::Slice { .. }] if key.is_instance_of::<PySlice>() => Ok(*slice),
        _ => Err(wrong_type(py, key.as_ptr(), "an index of a storage", "an int or a slice")),
    }
}

fn wrapped(at: isize, length: usize) -> Result<isize> {
    let wrapped = if at < 0 { at + length as isize } else { at };
    if (0..length as isize).contains(&wrapped) {
        Ok(wrapped)
    } else {
        Err(Fail::Index(format!("index {at} is outside a storage of {length} elements")))
    }
}

/// A new storage with the values of a tensor.
fn copied<'py>(py: Python<'py>, values: &Tensor, dtype: DType) -> Result<Bound<'py, PyAny>> {
    let made = with_threads(py, values.size(), || copy::to_dtype(values, dtype))?;
    Ok(bound_storage(py, Run { bytes: made.storage().clone(), dtype })?)
}

/// The storage as another dtype, itself if it has it already.
fn converted<'py>(this: This<'_, 'py>, op: &'static str, dtype: impl FnOnce() -> Result<DType>) -> Made<'py> {
    let py = this.py();
    named(py, op, || {
        let (run, dtype) = (&this.get().run, dtype()?);
        if run.dtype == dtype { Ok(this.clone().into_any()) } else { copied(py, &run.whole()?, dtype) }
    })
}

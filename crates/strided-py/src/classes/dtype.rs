//! The dtype and device objects, and the names by which they are found.

use super::class_table::type_of_class;
use super::devices::{self, Place};
use crate::abi::Arg;
use crate::abi::errors::{CallResult, Fail, guard_pyo3};
use crate::abi::late::{self, Late};
use crate::abi::tensor_object::tensor_type;
use crate::convert::args::{FromArg, Receiver};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString, PyTuple, PyType};
use strided_core::dtype::default_float;
use strided_core::{DType, Device, Tensor};

/// The type of a tensor's elements, such as `strided.float32`.
///
/// >>> strided.float32.itemsize
/// 4
/// >>> strided.zeros(2, dtype="int16").dtype
/// strided.int16
#[pyclass(name = "dtype", module = "strided", frozen)]
pub struct PyDType(pub DType);

#[pymethods]
impl PyDType {
    /// Finds a dtype: by name, from a Python or NumPy type, or from a typed tensor class.
    ///
    /// >>> strided.dtype("float16") is strided.float16
    /// True
    #[new]
    fn new(py: Python<'_>, name: &Bound<'_, PyAny>) -> PyResult<Py<PyDType>> {
        guard_pyo3(py, "dtype", || Ok(object(py, DType::from_arg(name.as_borrowed(), "name")?)))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        if let Ok(other) = other.cast::<PyDType>() {
            return Ok(self.0 == other.get().0);
        }
        Ok(numpy_dtype(other)? == Some(self.0))
    }
    fn __hash__(&self) -> isize {
        self.0 as isize
    }
    fn __repr__(&self) -> String {
        format!("strided.{}", self.0.name())
    }
    fn __reduce__(&self) -> &'static str {
        self.0.name()
    }
    fn __copy__(this: Py<Self>) -> Py<Self> {
        this
    }
    fn __deepcopy__(this: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        this
    }
}

/// The dtype that a dtype or a scalar class of NumPy means; `None` for any other object.
fn numpy_dtype(object: &Bound<'_, PyAny>) -> PyResult<Option<DType>> {
    let class = object.cast::<PyType>().ok();
    let owner = class.map_or_else(|| object.get_type(), Clone::clone);
    if !owner.getattr("__module__")?.to_string().starts_with("numpy") {
        return Ok(None);
    }
    if let Some(class) = class {
        return from_class(class);
    }
    let name = object.getattr_opt("name")?.and_then(|name| name.extract::<String>().ok());
    Ok(name.and_then(|name| DType::from_name(&name)))
}

/// The one object of a dtype.
pub fn object(py: Python<'_>, dtype: DType) -> Py<PyDType> {
    static OBJECTS: Late<Vec<Py<PyDType>>> = Late::new();
    let make_all = || DType::ALL.iter().map(|&dtype| Py::new(py, PyDType(dtype))).collect();
    let made = OBJECTS.get_or_make(py, make_all).expect("made when the module is imported");
    made[dtype as usize].clone_ref(py)
}

/// Other names of dtypes, as PyTorch has them.
pub const ALIASES: &[(&str, DType)] = &[
    ("half", DType::F16),
    ("float", DType::F32),
    ("double", DType::F64),
    ("cfloat", DType::C64),
    ("cdouble", DType::C128),
    ("short", DType::I16),
    ("int", DType::I32),
    ("long", DType::I64),
];

impl<'a> FromArg<'a> for DType {
    const WANTED: &'static str = "a dtype";
    const STUB: &'static str = "_DTypeLike";
    fn read(object: Arg<'a>) -> CallResult<Option<DType>> {
        if let Ok(dtype) = object.cast::<PyDType>() {
            return Ok(Some(dtype.get().0));
        }
        if let Ok(text) = object.cast::<PyString>() {
            let text = text.to_string();
            let unknown = || Fail::Type(format!("there is no dtype '{text}'"));
            return from_text(&text)?.map(Some).ok_or_else(unknown);
        }
        if let Ok(class) = object.cast::<PyType>() {
            return Ok(from_class(&class)?);
        }
        // numpy.dtype, and other objects with a name.
        match object.getattr("name").ok().and_then(|name| name.extract::<String>().ok()) {
            Some(name) => Ok(DType::from_name(&name)),
            None => Ok(None),
        }
    }
}

impl<'a> Receiver<'a> for DType {
    const CLASS: &'static str = "dtype";
}

/// `float32`, `strided.float32`, `torch.float32`, `double`, `FloatTensor`, `torch.FloatTensor`. The words `float` and `int` are
/// refused: they are two dtypes, one of PyTorch and another one of Python and NumPy. `torch.float` is PyTorch's.
pub fn from_text(text: &str) -> CallResult<Option<DType>> {
    let ambiguous = match text {
        "float" => Some(("float32", "float64")),
        "int" => Some(("int32", "int64")),
        _ => None,
    };
    if let Some((in_torch, in_python)) = ambiguous {
        return Err(Fail::Type(format!(
            "'{text}' is {in_torch} in PyTorch and {in_python} in Python; write '{in_torch}' or '{in_python}'"
        )));
    }
    let bare = text.strip_prefix("strided.").or(text.strip_prefix("torch.")).unwrap_or(text);
    let named = DType::from_name(bare)
        .or_else(|| from_class_name(bare))
        .or_else(|| ALIASES.iter().find(|alias| alias.0 == bare).map(|alias| alias.1))
        .or_else(|| (text == "complex").then_some(DType::C128)); // as in Python; PyTorch has no such dtype
    Ok(named)
}

/// `FloatTensor`, `FloatStorage`.
fn from_class_name(name: &str) -> Option<DType> {
    DType::from_torch_name(name.strip_suffix("Tensor").or(name.strip_suffix("Storage"))?)
}

/// The type of a tensor: a dtype, or a typed class or the name of one, which also says whether the tensor is on a GPU.
pub struct TensorType {
    pub dtype: DType,
    pub place: Place,
}

impl TensorType {
    /// The names of modules that hold the classes of GPUs.
    const GPU_MODULES: [&'static str; 6] =
        ["strided.gpu.", "strided.cuda.", "torch.cuda.", "torch.gpu.", "gpu.", "cuda."];

    /// The device of a tensor that is converted to this type.
    pub fn device_for(&self, x: &Tensor) -> Device {
        if self.place.has(x.device()) { x.device() } else { self.place.device(None) }
    }
}

impl<'a> FromArg<'a> for TensorType {
    const WANTED: &'static str = "a dtype, a typed class or its name";
    const STUB: &'static str = "_DTypeLike";
    fn read(object: Arg<'a>) -> CallResult<Option<TensorType>> {
        if let Ok(class) = object.cast::<PyType>()
            && let Some((dtype, place)) = type_of_class(class.as_type_ptr())
        {
            return Ok(Some(TensorType { dtype, place }));
        }
        if let Ok(text) = object.cast::<PyString>() {
            let text = text.to_string();
            let on_gpu = TensorType::GPU_MODULES.iter().find_map(|module| text.strip_prefix(module));
            if let Some(dtype) = on_gpu.and_then(from_class_name) {
                return Ok(Some(TensorType { dtype, place: Place::Gpu }));
            }
            let place =
                if text.ends_with("Tensor") || text.ends_with("Storage") { Place::Host } else { Place::Any };
            return Ok(DType::read(object)?.map(|dtype| TensorType { dtype, place }));
        }
        Ok(DType::read(object)?.map(|dtype| TensorType { dtype, place: Place::Any }))
    }
}

/// The name of the type of a tensor or a storage: `strided.FloatTensor`.
pub fn type_text(device: Device, dtype: DType, word: &str) -> String {
    let module = if matches!(device, Device::Gpu(_)) { "strided.gpu" } else { "strided" };
    format!("{module}.{}{word}", dtype.torch_name())
}

fn from_class(class: &Bound<'_, PyType>) -> PyResult<Option<DType>> {
    let pointer = class.as_ptr().cast::<ffi::PyTypeObject>();
    if pointer == tensor_type() {
        return Ok(Some(default_float()));
    }
    match type_of_class(pointer) {
        // A class of GPUs is more than a dtype: only `type` takes it.
        Some((_, Place::Gpu)) => return Ok(None),
        Some((dtype, _)) => return Ok(Some(dtype)),
        None => {}
    }
    let (module, name) = (class.getattr("__module__")?.to_string(), class.name()?.to_string());
    Ok(match (module.as_str(), name.as_str()) {
        ("builtins", "bool") => Some(DType::Bool),
        ("builtins", "int") => Some(DType::I64),
        ("builtins", "float") => Some(DType::F64),
        ("builtins", "complex") => Some(DType::C128),
        // A scalar class of NumPy: its dtype has the canonical name (`longlong` is `int64`).
        ("numpy", _) => {
            let dtype = late::import(class.py(), "numpy")?.getattr("dtype")?.call1((class,))?;
            DType::from_name(&dtype.getattr("name")?.to_string())
        }
        _ => None,
    })
}

/// Where the memory of a tensor is: the CPU, or a GPU with its number. Without a number it is the current GPU, whichever that is when the
/// device is used. `'cuda'` is another name of `'gpu'`.
///
/// >>> strided.zeros(2).device
/// device(type='cpu')
#[pyclass(name = "device", module = "strided", frozen, from_py_object)]
#[derive(Clone)]
pub struct PyDevice(pub Device);

/// The number of a GPU that is yet to be chosen: `strided.device('gpu')`.
pub const CURRENT: u8 = u8::MAX;

impl PyDevice {
    /// The device that this means now.
    fn resolve(&self) -> Device {
        match self.0 {
            Device::Gpu(CURRENT) => Device::Gpu(devices::current()),
            device => device,
        }
    }

    pub fn index(&self) -> Option<usize> {
        if self.0 == Device::Gpu(CURRENT) { None } else { self.0.index() }
    }

    /// Reads a device, a name such as `'gpu:1'`, or the number of a GPU.
    fn read_object(object: Arg<'_>) -> CallResult<Option<PyDevice>> {
        if object.is_none() {
            return Ok(Some(PyDevice(Device::Cpu)));
        }
        if let Ok(device) = object.cast::<PyDevice>() {
            return Ok(Some(device.get().clone()));
        }
        if object.is_exact_instance_of::<PyInt>() {
            return gpu(&object.to_string()).map(Some);
        }
        if !object.is_instance_of::<PyString>() {
            return Ok(None);
        }
        let text = object.to_string();
        let (kind, number) =
            text.split_once(':').map_or((&text[..], None), |(kind, number)| (kind, Some(number)));
        match (kind, number) {
            ("cpu", None | Some("0")) => Ok(Some(PyDevice(Device::Cpu))),
            ("gpu" | "cuda", None) => Ok(Some(PyDevice(Device::Gpu(CURRENT)))),
            ("gpu" | "cuda", Some(number)) => gpu(number).map(Some),
            _ => Err(Fail::Value(format!(
                "device is '{text}', wanted 'cpu', 'gpu' or a number of it as in 'gpu:0'; 'cuda' is another name of 'gpu'"
            ))),
        }
    }
}

/// The GPU of a number, written in digits.
fn gpu(number: &str) -> CallResult<PyDevice> {
    match number.parse::<u8>() {
        Ok(index) if index != CURRENT => Ok(PyDevice(Device::Gpu(index))),
        _ => Err(Fail::Value(format!("the number of a GPU is '{number}', wanted 0 to {}", CURRENT - 1))),
    }
}

impl<'a> FromArg<'a> for Device {
    const WANTED: &'static str = "a device";
    const STUB: &'static str = "_DeviceLike";
    fn read(object: Arg<'a>) -> CallResult<Option<Device>> {
        Ok(PyDevice::read_object(object)?.map(|device| device.resolve()))
    }
}

/// Reads the argument `device` of a class that makes tensors in some place.
pub fn place_from_arg(class: Place, object: Arg<'_>) -> CallResult<Place> {
    let device = Device::from_arg(object, "device")?;
    if class.has(device) {
        return Ok(Place::On(device));
    }
    let wanted = if class == Place::Gpu {
        "a GPU, as this is a class of strided.gpu"
    } else {
        "'cpu'; strided.gpu has the classes of GPUs"
    };
    Err(Fail::Value(format!("device is '{device}', wanted {wanted}")))
}

/// The GPU that an argument names, or the current one.
pub fn gpu_of(device: Option<PyDevice>) -> CallResult<u8> {
    match device.map(|device| device.resolve()) {
        None => Ok(devices::current()),
        Some(Device::Gpu(index)) => Ok(index),
        Some(device) => Err(Fail::Value(format!("device is '{device}', wanted a GPU"))),
    }
}

impl<'a> FromArg<'a> for PyDevice {
    const WANTED: &'static str = Device::WANTED;
    const STUB: &'static str = Device::STUB;
    fn read(object: Arg<'a>) -> CallResult<Option<PyDevice>> {
        PyDevice::read_object(object)
    }
}

impl<'a> Receiver<'a> for PyDevice {
    const CLASS: &'static str = "device";
}

#[pymethods]
impl PyDevice {
    #[new]
    #[pyo3(signature = (r#type = None, index = None))]
    fn new(
        py: Python<'_>,
        r#type: Option<Bound<'_, PyAny>>,
        index: Option<Bound<'_, PyAny>>,
    ) -> PyResult<PyDevice> {
        guard_pyo3(py, "device", || {
            let device = match r#type {
                None => PyDevice(Device::Cpu),
                Some(object) => PyDevice::from_arg(object.as_borrowed(), "device")?,
            };
            match (index.filter(|index| !index.is_none()), &device.0) {
                (None, _) => Ok(device),
                (Some(index), Device::Gpu(CURRENT)) => gpu(&index.to_string()),
                (Some(index), Device::Cpu) if index.to_string() == "0" => Ok(device),
                (Some(index), _) => {
                    Err(Fail::Value(format!("index is {index}, wanted None beside '{}'", device.0)))
                }
            }
        })
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        if other.is_instance_of::<PyString>() {
            return Device::read(other.as_borrowed()).is_ok_and(|other| other == Some(self.resolve()));
        }
        other.cast::<PyDevice>().is_ok_and(|other| other.get().0 == self.0)
    }
    fn __hash__(&self) -> isize {
        match self.0 {
            Device::Cpu => 0x0063_7075,                              // "cpu"
            Device::Test => 0x7465_7374,                             // "test"
            Device::Gpu(index) => 0x0067_7075 << 8 | index as isize, // "gpu"
        }
    }
    /// Makes new tensors on the device, until the end of the block.
    fn __enter__(this: Py<Self>) -> Py<Self> {
        devices::push_default(this.get().resolve());
        this
    }
    #[pyo3(signature = (*_args))]
    fn __exit__(&self, _args: &Bound<'_, PyTuple>) {
        devices::pop_default();
    }
    fn __str__(&self) -> String {
        if self.0 == Device::Gpu(CURRENT) { "gpu".into() } else { self.0.to_string() }
    }
    fn __repr__(&self) -> String {
        match self.index() {
            Some(index) => format!("device(type='{}', index={index})", self.0.kind()),
            None => format!("device(type='{}')", self.0.kind()),
        }
    }
    fn __reduce__(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, (String,))> {
        Ok((py.get_type::<PyDevice>().into_any().unbind(), (self.__str__(),)))
    }
}

/// Adds the dtypes under all their names.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    for &dtype in DType::ALL {
        module.add(dtype.name(), object(py, dtype))?;
    }
    for &(name, dtype) in ALIASES {
        module.add(name, object(py, dtype))?;
    }
    Ok(())
}

//! Devices: the default one, and what `strided.gpu` is made of.

use crate::abi::detach::detach;
use crate::abi::errors::{CallResult, Fail};
use crate::abi::refs::to_py;
use crate::classes::devices;
use crate::classes::dtype::{PyDevice, gpu_of};
use crate::classes::typed::gpu_classes;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use strided_core::Device;
use strided_core::backend::host_reads;

methods! { rows(py):
    /// The device of new tensors: the CPU, unless `set_default_device` or `with device:` says otherwise. Each thread has its own.
    ///
    /// >>> strided.get_default_device()
    /// device(type='cpu')
    function get_default_device() -> "device" => to_py(py, PyDevice(devices::default_device()));

    /// Sets the device of new tensors in this thread, outside of blocks `with device:`. None is the CPU.
    ///
    /// >>> strided.set_default_device('cpu')
    /// >>> strided.zeros(2).device
    /// device(type='cpu')
    function set_default_device(device: Device) -> "None" => {
        devices::set_default(device);
        to_py(py, py.None())
    };

    /// The names and classes of typed tensors and storages on GPUs.
    function _gpu_classes() -> "list[tuple[str, type]]" => to_py(py, gpu_classes(py)?);

    /// The number of GPUs.
    function _gpu_count() -> "int" => to_py(py, detach(py, strided_opencl::devices).map_err(|error| unnamed(py, error))?.len());

    /// The library of OpenCL that is loaded.
    function _gpu_library() -> "str | None" => to_py(py, strided_opencl::library::name());

    /// The number of the GPU that an argument names, or of the current one.
    function _gpu_number(device: Option<PyDevice> = None) -> "int" => to_py(py, gpu_of(device)?);

    /// The same, for a GPU that exists.
    function _gpu_existing(device: Option<PyDevice> = None) -> "int" => to_py(py, existing(py, device)?.index);

    /// Makes a GPU the current one of this thread.
    function _gpu_set_current(device: PyDevice) -> "None" => {
        devices::set_current(existing(py, Some(device))?.index as u8);
        to_py(py, py.None())
    };

    /// Makes a GPU the current one, until `_gpu_leave` is called.
    function _gpu_enter(device: Option<PyDevice> = None) -> "None" => {
        let index = if device.is_some() { existing(py, device)?.index as u8 } else { devices::current() };
        devices::push_current(index);
        to_py(py, py.None())
    };

    /// The end of `_gpu_enter`.
    function _gpu_leave() -> "None" => {
        devices::pop_current();
        to_py(py, py.None())
    };

    /// What a GPU says of itself.
    function _gpu_properties(device: Option<PyDevice> = None) -> "dict[str, Any]" => {
        let p = &existing(py, device)?.properties;
        let dict = PyDict::new(py);
        for (name, text) in [
            ("name", &p.name), ("vendor", &p.vendor), ("driver", &p.driver), ("version", &p.version), ("platform", &p.platform),
        ] {
            dict.set_item(name, text)?;
        }
        dict.set_item("kind", p.kind)?;
        for (name, number) in [
            ("compute_units", p.compute_units),
            ("clock", p.clock),
            ("total_memory", p.global_memory),
            ("max_allocation", p.max_allocation),
            ("local_memory", p.local_memory),
            ("max_work_group", p.max_work_group),
        ] {
            dict.set_item(name, number)?;
        }
        for (name, flag) in [
            ("double", p.double),
            ("half", p.half),
            ("exact_division", p.exact_division),
            ("subnormals", p.subnormals),
            ("unified_memory", p.unified_memory),
        ] {
            dict.set_item(name, flag)?;
        }
        Ok(dict.into_any())
    };

    /// Bytes of a GPU's memory that are in use, the most so far, those kept for later, and the limit.
    function _gpu_memory(device: Option<PyDevice> = None) -> "tuple[int, int, int, int]" => {
        let usage = existing(py, device)?.memory_usage();
        to_py(py, (usage.used, usage.peak, usage.cached, usage.limit))
    };

    /// Starts to count the peak anew.
    function _gpu_reset_peak(device: Option<PyDevice> = None) -> "None" => {
        existing(py, device)?.reset_peak();
        to_py(py, py.None())
    };

    /// Limits the bytes that this process may use on a GPU.
    function _gpu_set_limit(device: Option<PyDevice>, bytes: isize) -> "None" => {
        existing(py, device)?.set_memory_limit(bytes.max(0) as usize);
        to_py(py, py.None())
    };

    /// Returns the memory that is kept for later to the driver.
    function _gpu_empty_cache(device: Option<PyDevice> = None) -> "None" => {
        let gpu = existing(py, device)?;
        detach(py, || gpu.empty_cache()).map_err(|error| unnamed(py, error))?;
        to_py(py, py.None())
    };

    /// Waits until a GPU has done all work.
    function _gpu_wait(device: Option<PyDevice> = None) -> "None" => {
        let gpu = Device::Gpu(gpu_of(device)?);
        let waited = detach(py, || host_reads::synchronize(gpu));
        waited.map_err(|error| Fail::Python(Fail::Core(error).into_exception(py, "")))?;
        to_py(py, py.None())
    };

    /// Compiles source text for a GPU: for tests of compilers that fail, and of programs that are kept on disk.
    function _gpu_compile(source: &str, device: Option<PyDevice> = None) -> "None" => {
        let device = existing(py, device)?;
        detach(py, || strided_opencl::Program::new(device, source)).map_err(|error| unnamed(py, error))?;
        to_py(py, py.None())
    };

    /// How many programs this process has compiled, and how many it has loaded from disk.
    function _gpu_programs() -> "tuple[int, int]" => to_py(py, strided_opencl::program::programs());
}

/// The exception of an error, without the name of a function: users call those of `strided.gpu`.
fn unnamed(py: Python<'_>, error: strided_opencl::Error) -> Fail {
    Fail::Python(Fail::Core(error.into()).into_exception(py, ""))
}

/// The GPU of an argument, or the current one. The first call loads the drivers.
fn existing(py: Python<'_>, device: Option<PyDevice>) -> CallResult<&'static strided_opencl::Device> {
    let index = gpu_of(device)?;
    detach(py, || strided_opencl::device(index.into())).map_err(|error| unnamed(py, error))
}

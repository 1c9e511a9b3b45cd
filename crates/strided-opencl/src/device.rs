//! The devices of all platforms, and what is known of them. A context and a queue are made when a device is first used.

use crate::error::{Error, Result};
use crate::library::{Functions, Handle, Int, Uint, Ulong, functions};
use crate::pool::Pool;
use crate::work::Pending;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

const CL_PLATFORM_VERSION: Uint = 0x0901;
const CL_PLATFORM_NAME: Uint = 0x0902;
const CL_DEVICE_TYPE: Uint = 0x1000;
const CL_DEVICE_MAX_COMPUTE_UNITS: Uint = 0x1002;
const CL_DEVICE_MAX_WORK_GROUP_SIZE: Uint = 0x1004;
const CL_DEVICE_MAX_CLOCK_FREQUENCY: Uint = 0x100C;
const CL_DEVICE_MAX_MEM_ALLOC_SIZE: Uint = 0x1010;
const CL_DEVICE_SINGLE_FP_CONFIG: Uint = 0x101B;
const CL_DEVICE_GLOBAL_MEM_SIZE: Uint = 0x101F;
const CL_DEVICE_LOCAL_MEM_SIZE: Uint = 0x1023;
const CL_DEVICE_ENDIAN_LITTLE: Uint = 0x1026;
const CL_DEVICE_AVAILABLE: Uint = 0x1027;
const CL_DEVICE_NAME: Uint = 0x102B;
const CL_DEVICE_VENDOR: Uint = 0x102C;
const CL_DRIVER_VERSION: Uint = 0x102D;
const CL_DEVICE_VERSION: Uint = 0x102F;
const CL_DEVICE_EXTENSIONS: Uint = 0x1030;
const CL_DEVICE_DOUBLE_FP_CONFIG: Uint = 0x1032;
const CL_DEVICE_HOST_UNIFIED_MEMORY: Uint = 0x1035;
const CL_DEVICE_TYPE_CPU: Ulong = 1 << 1;
const CL_DEVICE_TYPE_GPU: Ulong = 1 << 2;
const CL_DEVICE_TYPE_ALL: Ulong = 0xFFFF_FFFF;
const CL_CONTEXT_PLATFORM: isize = 0x1084;
const CL_FP_DENORM: Ulong = 1 << 0;
const CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT: Ulong = 1 << 7;

/// Gives each device a context of its own, so that tests can copy between contexts on one platform.
const SEPARATE_CONTEXTS: &str = "STRIDED_OPENCL_SEPARATE_CONTEXTS";

/// Has CPUs treated as GPUs, so that tests can run what is chosen for those where there is none; if it is "single", as GPUs that have
/// no double.
const AS_GPU: &str = "STRIDED_OPENCL_AS_GPU";

/// What a device says of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Properties {
    pub name: String,
    pub vendor: String,
    pub driver: String,
    /// The version of OpenCL that the device has.
    pub version: String,
    pub platform: String,
    /// "gpu", "cpu" or "accelerator".
    pub kind: &'static str,
    pub compute_units: usize,
    /// In MHz.
    pub clock: usize,
    pub global_memory: usize,
    /// The largest single allocation.
    pub max_allocation: usize,
    pub local_memory: usize,
    pub max_work_group: usize,
    /// Whether it computes in float64.
    pub double: bool,
    /// Whether it computes in float16; otherwise halves are computed in float32, as they always are here.
    pub half: bool,
    /// Whether division and square root of float32 are rounded correctly, as programs then ask for.
    pub exact_division: bool,
    /// Whether float32 has subnormal numbers.
    pub subnormals: bool,
    /// Whether the device shares the memory of the host.
    pub unified_memory: bool,
}

/// One device. It lives as long as the process.
pub struct Device {
    pub index: usize,
    pub properties: Properties,
    pub(crate) handle: Handle,
    platform: Arc<Platform>,
    connection: OnceLock<Result<Connection>>,
    pub(crate) pool: Mutex<Pool>,
    pub(crate) pending: Mutex<Pending>,
}

// SAFETY: handles are addresses of objects that the library locks itself; kernels, which it does not, are used under `pending`.
unsafe impl Send for Device {}
// SAFETY: the library locks its objects itself; kernels, which it does not, are used under `pending`.
unsafe impl Sync for Device {}

/// A context and a queue.
#[derive(Clone, Copy)]
pub(crate) struct Connection {
    pub functions: &'static Functions,
    pub context: Handle,
    pub queue: Handle,
}

/// Devices with one context.
struct Platform {
    handle: Handle,
    devices: Vec<Handle>,
    context: OnceLock<Result<usize>>,
}

// SAFETY: handles are addresses of objects that the library locks itself.
unsafe impl Send for Platform {}
// SAFETY: handles are addresses of objects that the library locks itself.
unsafe impl Sync for Platform {}

/// The GPUs and accelerators of all platforms; where there are none, the CPUs that OpenCL can use. The first call loads the
/// library.
pub fn devices() -> Result<&'static [Device]> {
    static DEVICES: OnceLock<Result<Vec<Device>>> = OnceLock::new();
    DEVICES.get_or_init(find_devices).as_deref().map_err(Error::clone)
}

/// The device of a number.
pub fn device(index: usize) -> Result<&'static Device> {
    let devices = devices()?;
    devices.get(index).ok_or(Error::NoDevice { index, count: devices.len() })
}

/// The process that has looked for devices.
static PROCESS: AtomicU32 = AtomicU32::new(0);

fn find_devices() -> Result<Vec<Device>> {
    let functions = functions()?;
    PROCESS.store(std::process::id(), Relaxed);
    let separate = std::env::var_os(SEPARATE_CONTEXTS).is_some();
    let mut found = Vec::new();
    for platform in platforms(functions) {
        let handles = device_handles(functions, platform);
        let whole =
            Arc::new(Platform { handle: platform, devices: handles.clone(), context: OnceLock::new() });
        for handle in handles {
            let platform = if separate {
                Arc::new(Platform { handle: platform, devices: vec![handle], context: OnceLock::new() })
            } else {
                whole.clone()
            };
            found.push((platform, handle));
        }
    }
    let kind = |handle| number(functions, handle, CL_DEVICE_TYPE);
    let any_gpu = found.iter().any(|&(_, handle)| kind(handle) & CL_DEVICE_TYPE_CPU == 0);
    found.retain(|&(_, handle)| !any_gpu || kind(handle) & CL_DEVICE_TYPE_CPU == 0);
    // GPUs before accelerators; otherwise as the platforms list them.
    found.sort_by_key(|&(_, handle)| kind(handle) & CL_DEVICE_TYPE_GPU == 0);
    if found.is_empty() {
        return Err(Error::NoDevices);
    }
    let device = |(index, (platform, handle)): (usize, (Arc<Platform>, Handle))| {
        let properties = properties(functions, platform.handle, handle);
        let pool = Mutex::new(Pool::new(properties.global_memory));
        Device {
            index,
            properties,
            handle,
            platform,
            connection: OnceLock::new(),
            pool,
            pending: Mutex::default(),
        }
    };
    Ok(found.into_iter().enumerate().map(device).collect())
}

fn platforms(functions: &Functions) -> Vec<Handle> {
    let mut count = 0;
    // SAFETY: the number of platforms is written to `count`. The loader fails where there are none.
    if unsafe { (functions.clGetPlatformIDs)(0, null_mut(), &mut count) } != 0 {
        return Vec::new();
    }
    let mut handles = vec![null_mut(); count as usize];
    // SAFETY: `handles` has room for `count` of them.
    let code = unsafe { (functions.clGetPlatformIDs)(count, handles.as_mut_ptr(), null_mut()) };
    if code == 0 { handles } else { Vec::new() }
}

/// The devices of a platform that can be used: they are there, and have the byte order of files and of every host we know.
fn device_handles(functions: &Functions, platform: Handle) -> Vec<Handle> {
    let mut count = 0;
    // SAFETY: the number of devices is written to `count`.
    if unsafe { (functions.clGetDeviceIDs)(platform, CL_DEVICE_TYPE_ALL, 0, null_mut(), &mut count) } != 0 {
        return Vec::new();
    }
    let mut handles = vec![null_mut(); count as usize];
    // SAFETY: `handles` has room for `count` of them.
    let code = unsafe {
        (functions.clGetDeviceIDs)(platform, CL_DEVICE_TYPE_ALL, count, handles.as_mut_ptr(), null_mut())
    };
    if code != 0 {
        return Vec::new();
    }
    let usable = |&device: &Handle| {
        number(functions, device, CL_DEVICE_AVAILABLE) != 0
            && number(functions, device, CL_DEVICE_ENDIAN_LITTLE) != 0
    };
    handles.into_iter().filter(usable).collect()
}

/// A property that is a number of up to 64 bits; 0 if the device does not know it.
fn number(functions: &Functions, device: Handle, property: Uint) -> Ulong {
    let mut value: Ulong = 0;
    let out = (&raw mut value).cast();
    // SAFETY: at most 8 bytes are written to `value`; shorter ones are its low bytes on a little-endian host.
    let code = unsafe { (functions.clGetDeviceInfo)(device, property, 8, out, null_mut()) };
    if code == 0 { value } else { 0 }
}

type Info = unsafe extern "system" fn(Handle, Uint, usize, *mut c_void, *mut usize) -> Int;

/// A property that is a text.
fn text(info: Info, handle: Handle, property: Uint) -> String {
    let mut length = 0;
    // SAFETY: the length of the text is written to `length`.
    if unsafe { info(handle, property, 0, null_mut(), &mut length) } != 0 {
        return String::new();
    }
    let mut bytes = vec![0u8; length];
    // SAFETY: `bytes` has room for the text.
    if unsafe { info(handle, property, length, bytes.as_mut_ptr().cast(), null_mut()) } != 0 {
        return String::new();
    }
    let text = String::from_utf8_lossy(&bytes);
    text.trim_end_matches('\0').trim().to_string()
}

fn properties(functions: &Functions, platform: Handle, device: Handle) -> Properties {
    let number = |property| number(functions, device, property);
    let text_of = |property| text(functions.clGetDeviceInfo, device, property);
    let extensions = text_of(CL_DEVICE_EXTENSIONS);
    let has = |extension| extensions.split_whitespace().any(|name| name == extension);
    let single = number(CL_DEVICE_SINGLE_FP_CONFIG);
    let kind = number(CL_DEVICE_TYPE);
    let platform_text = |property| text(functions.clGetPlatformInfo, platform, property);
    Properties {
        name: text_of(CL_DEVICE_NAME),
        vendor: text_of(CL_DEVICE_VENDOR),
        driver: text_of(CL_DRIVER_VERSION),
        version: text_of(CL_DEVICE_VERSION),
        platform: format!("{} ({})", platform_text(CL_PLATFORM_NAME), platform_text(CL_PLATFORM_VERSION)),
        kind: match kind {
            _ if kind & CL_DEVICE_TYPE_GPU != 0 || std::env::var_os(AS_GPU).is_some() => "gpu",
            _ if kind & CL_DEVICE_TYPE_CPU != 0 => "cpu",
            _ => "accelerator",
        },
        compute_units: number(CL_DEVICE_MAX_COMPUTE_UNITS) as usize,
        clock: number(CL_DEVICE_MAX_CLOCK_FREQUENCY) as usize,
        global_memory: number(CL_DEVICE_GLOBAL_MEM_SIZE) as usize,
        max_allocation: number(CL_DEVICE_MAX_MEM_ALLOC_SIZE) as usize,
        local_memory: number(CL_DEVICE_LOCAL_MEM_SIZE) as usize,
        max_work_group: number(CL_DEVICE_MAX_WORK_GROUP_SIZE) as usize,
        double: (number(CL_DEVICE_DOUBLE_FP_CONFIG) != 0 || has("cl_khr_fp64"))
            && std::env::var_os(AS_GPU).is_none_or(|value| value != "single"),
        half: has("cl_khr_fp16"),
        exact_division: single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT != 0,
        subnormals: single & CL_FP_DENORM != 0,
        unified_memory: number(CL_DEVICE_HOST_UNIFIED_MEMORY) != 0,
    }
}

impl Device {
    /// The name that users see.
    pub fn name(&self) -> String {
        format!("gpu:{}", self.index)
    }

    /// Whether buffers can be copied to another device by one command.
    pub fn shares_context(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.platform, &other.platform)
    }

    /// The context and the queue. Refuses a process that was forked after the devices had been looked for: drivers start threads then.
    pub(crate) fn connection(&self) -> Result<Connection> {
        if PROCESS.load(Relaxed) != std::process::id() {
            return Err(Error::Forked);
        }
        self.connection.get_or_init(|| self.connect()).clone()
    }

    /// Whether the device was used by this process. In a forked child the driver must not be called, not even to release memory.
    pub(crate) fn is_connected(&self) -> bool {
        self.connection.get().is_some() && PROCESS.load(Relaxed) == std::process::id()
    }

    fn connect(&self) -> Result<Connection> {
        let functions = functions()?;
        let context = self.platform.context.get_or_init(|| {
            let properties = [CL_CONTEXT_PLATFORM, self.platform.handle as isize, 0];
            let devices = &self.platform.devices;
            let mut code = 0;
            // SAFETY: the list of properties ends with 0; the devices are those of the platform.
            let context = unsafe {
                let count = devices.len() as Uint;
                (functions.clCreateContext)(
                    properties.as_ptr(),
                    count,
                    devices.as_ptr(),
                    null(),
                    null_mut(),
                    &mut code,
                )
            };
            self.check("clCreateContext", code).map(|()| context as usize)
        });
        let context = context.clone()? as Handle;
        let mut code = 0;
        // SAFETY: the context has the device.
        let queue = unsafe { (functions.clCreateCommandQueue)(context, self.handle, 0, &mut code) };
        self.check("clCreateCommandQueue", code)?;
        Ok(Connection { functions, context, queue })
    }

    /// The error for a code other than 0.
    pub(crate) fn check(&self, call: &'static str, code: Int) -> Result<()> {
        if code == 0 { Ok(()) } else { Err(Error::Failed { device: self.name(), call, code }) }
    }
}

/// Locks a mutex; a panic of another thread does not matter.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

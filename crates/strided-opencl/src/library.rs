//! The functions of OpenCL, found in a library of the system when the first one is needed. Nothing is linked, so that a
//! program runs where there is no OpenCL.
//!
//! The crates that wrap OpenCL (`cl3`, `opencl3`) choose the library by an environment variable of their own, which a process
//! with threads must not set; so the thirty functions that are needed are declared here.

use crate::error::{Error, Result};
use libloading::Library;
use std::ffi::{c_char, c_void};
use std::sync::OnceLock;

/// A handle on an object of OpenCL: an address that only the library understands.
pub type Handle = *mut c_void;
pub type Int = i32;
pub type Uint = u32;
pub type Ulong = u64;

/// Called by the library, which is never: all callbacks are null.
type Callback = *const c_void;

macro_rules! functions {
    ($($name:ident($($type:ty),*) -> $result:ty;)*) => {
        /// The addresses of the functions, under their names.
        #[allow(non_snake_case)]
        pub struct Functions {
            $(pub $name: unsafe extern "system" fn($($type),*) -> $result,)*
            /// Kept loaded as long as the addresses are used: for ever.
            _library: Library,
        }

        impl Functions {
            /// Finds all functions of a library. Returns the name of the first one that it does not have.
            fn find(library: Library) -> std::result::Result<Functions, &'static str> {
                $(
                    // SAFETY: the type is that of the function of this name in the headers of OpenCL 1.2.
                    #[allow(non_snake_case)]
                    let $name = unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) };
                    #[allow(non_snake_case)]
                    let $name = *$name.map_err(|_| stringify!($name))?;
                )*
                Ok(Functions { $($name,)* _library: library })
            }
        }
    };
}
functions! {
    clGetPlatformIDs(Uint, *mut Handle, *mut Uint) -> Int;
    clGetPlatformInfo(Handle, Uint, usize, *mut c_void, *mut usize) -> Int;
    clGetDeviceIDs(Handle, Ulong, Uint, *mut Handle, *mut Uint) -> Int;
    clGetDeviceInfo(Handle, Uint, usize, *mut c_void, *mut usize) -> Int;
    clCreateContext(*const isize, Uint, *const Handle, Callback, *mut c_void, *mut Int) -> Handle;
    clCreateCommandQueue(Handle, Handle, Ulong, *mut Int) -> Handle;
    clCreateBuffer(Handle, Ulong, usize, *mut c_void, *mut Int) -> Handle;
    clReleaseMemObject(Handle) -> Int;
    clEnqueueReadBuffer(Handle, Handle, Uint, usize, usize, *mut c_void, Uint, *const Handle, *mut Handle) -> Int;
    clEnqueueWriteBuffer(Handle, Handle, Uint, usize, usize, *const c_void, Uint, *const Handle, *mut Handle) -> Int;
    clEnqueueCopyBuffer(Handle, Handle, Handle, usize, usize, usize, Uint, *const Handle, *mut Handle) -> Int;
    clEnqueueFillBuffer(Handle, Handle, *const c_void, usize, usize, usize, Uint, *const Handle, *mut Handle) -> Int;
    clEnqueueMapBuffer(Handle, Handle, Uint, Ulong, usize, usize, Uint, *const Handle, *mut Handle, *mut Int) -> *mut c_void;
    clEnqueueUnmapMemObject(Handle, Handle, *mut c_void, Uint, *const Handle, *mut Handle) -> Int;
    clEnqueueNDRangeKernel(Handle, Handle, Uint, *const usize, *const usize, *const usize, Uint, *const Handle, *mut Handle) -> Int;
    clCreateProgramWithSource(Handle, Uint, *const *const c_char, *const usize, *mut Int) -> Handle;
    clCreateProgramWithBinary(Handle, Uint, *const Handle, *const usize, *const *const u8, *mut Int, *mut Int) -> Handle;
    clBuildProgram(Handle, Uint, *const Handle, *const c_char, Callback, *mut c_void) -> Int;
    clGetProgramInfo(Handle, Uint, usize, *mut c_void, *mut usize) -> Int;
    clGetProgramBuildInfo(Handle, Handle, Uint, usize, *mut c_void, *mut usize) -> Int;
    clReleaseProgram(Handle) -> Int;
    clCreateKernel(Handle, *const c_char, *mut Int) -> Handle;
    clGetKernelWorkGroupInfo(Handle, Handle, Uint, usize, *mut c_void, *mut usize) -> Int;
    clSetKernelArg(Handle, Uint, usize, *const c_void) -> Int;
    clGetEventInfo(Handle, Uint, usize, *mut c_void, *mut usize) -> Int;
    clRetainEvent(Handle) -> Int;
    clReleaseEvent(Handle) -> Int;
    clFlush(Handle) -> Int;
    clFinish(Handle) -> Int;
}

/// The variable that names the library instead of the usual places.
pub const VARIABLE: &str = "STRIDED_OPENCL";

/// The name under which the library was found.
static NAME: OnceLock<String> = OnceLock::new();

/// The name of the library, if it is loaded.
pub fn name() -> Option<&'static str> {
    NAME.get().map(String::as_str)
}

/// The functions of the library, which is loaded by the first call.
pub fn functions() -> Result<&'static Functions> {
    static FUNCTIONS: OnceLock<Result<Functions>> = OnceLock::new();
    FUNCTIONS.get_or_init(load).as_ref().map_err(Error::clone)
}

fn load() -> Result<Functions> {
    let named = std::env::var(VARIABLE).ok().filter(|name| !name.is_empty());
    let names: Vec<&str> = match &named {
        Some(name) => vec![name],
        None if cfg!(windows) => vec!["OpenCL.dll"],
        None if cfg!(target_os = "macos") => vec!["/System/Library/Frameworks/OpenCL.framework/OpenCL"],
        None => vec!["libOpenCL.so.1", "libOpenCL.so"],
    };
    let mut reason = String::new();
    for name in &names {
        // SAFETY: loading a library runs its initialisers. It is the system's OpenCL, or one that the user has named.
        match unsafe { Library::new(*name) } {
            Ok(library) => match Functions::find(library) {
                Ok(functions) => {
                    let _ = NAME.set((*name).into()); // `functions` calls this once
                    return Ok(functions);
                }
                Err(function) => reason = format!("{name} has no function {function}"),
            },
            // The first reason: the other names are older spellings.
            Err(error) if reason.is_empty() => reason = error.to_string(),
            Err(_) => {}
        }
    }
    Err(Error::NoLibrary { looked_for: names.join(", "), reason })
}

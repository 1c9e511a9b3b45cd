//! What can go wrong with a device.

use std::fmt;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The library of OpenCL could not be loaded.
    NoLibrary { looked_for: String, reason: String },
    /// The library knows no device.
    NoDevices,
    /// There is no device of this number.
    NoDevice { index: usize, count: usize },
    /// A function of OpenCL failed with a code.
    Failed { device: String, call: &'static str, code: i32 },
    /// Work that was enqueued before failed.
    WorkFailed { device: String, operation: &'static str, code: i32 },
    /// Source text that the device's compiler refused, with its log.
    Build { device: String, log: String },
    /// No memory on the device, or more than the limit that the program has set.
    OutOfMemory { device: String, bytes: usize },
    /// The process was forked after the device had been used: the child has no driver.
    Forked,
    /// The user interrupted a wait.
    Interrupted,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoLibrary { looked_for, reason } => write!(
                f,
                "no GPU: OpenCL was not found (looked for {looked_for}: {reason}). {INSTALL}"
            ),
            Error::NoDevices => write!(f, "no GPU: OpenCL is installed, but has no device. {INSTALL}"),
            Error::NoDevice { index, count } => {
                write!(f, "there is no device gpu:{index}; the devices are gpu:0 to gpu:{}", count - 1)
            }
            Error::Failed { device, call, code } => write!(f, "{call} failed on {device}: {}", code_text(*code)),
            Error::WorkFailed { device, operation, code } => {
                write!(f, "{operation}, which was enqueued before, failed on {device}: {}", code_text(*code))
            }
            Error::Build { device, log } => write!(f, "a program could not be compiled for {device}:\n{log}"),
            Error::OutOfMemory { device, bytes } => write!(f, "cannot allocate {bytes} bytes on {device}"),
            Error::Forked => f.write_str(
                "this process was forked after its parent had used a GPU, and a driver does not survive that; start \
                 processes by the methods 'spawn' or 'forkserver' of multiprocessing",
            ),
            Error::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for Error {}

const INSTALL: &str = "The driver of a GPU brings OpenCL; without a GPU, PoCL computes on the CPU (on Debian and Ubuntu: apt \
                       install ocl-icd-libopencl1 pocl-opencl-icd). The variable STRIDED_OPENCL can name the library";

/// The name of an error code.
fn code_text(code: i32) -> String {
    let name = match code {
        -1 => "device not found",
        -2 => "device not available",
        -3 => "compiler not available",
        -4 => "memory object allocation failure",
        -5 => "out of resources",
        -6 => "out of host memory",
        -11 => "build program failure",
        -14 => "execution status error for events in wait list",
        -30 => "invalid value",
        -36 => "invalid command queue",
        -38 => "invalid memory object",
        -42 => "invalid binary",
        -45 => "invalid program executable",
        -46 => "invalid kernel name",
        -48 => "invalid kernel",
        -49 => "invalid argument index",
        -51 => "invalid argument size",
        -52 => "invalid kernel arguments",
        -54 => "invalid work group size",
        -55 => "invalid work item size",
        -59 => "invalid operation",
        -61 => "invalid buffer size",
        -63 => "invalid global work size",
        -1001 => "no platform",
        _ => return format!("error {code}"),
    };
    format!("{name} (error {code})")
}

//! Programs: source text that a device's compiler makes code of. Compiling takes from 20 ms to more than a second, so the code
//! is kept on disk, where the driver gives it.

use crate::device::{Connection, Device};
use crate::error::{Error, Result};
use crate::library::{Handle, Int, Uint};
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

const CL_PROGRAM_NUM_DEVICES: Uint = 0x1162;
const CL_PROGRAM_BINARY_SIZES: Uint = 0x1165;
const CL_PROGRAM_BINARIES: Uint = 0x1166;
const CL_PROGRAM_BUILD_LOG: Uint = 0x1183;
const CL_KERNEL_WORK_GROUP_SIZE: Uint = 0x11B0;

/// The folder for compiled programs instead of the usual one. Empty: nothing is kept.
const CACHE_VARIABLE: &str = "STRIDED_OPENCL_CACHE";
/// The first line of a file of the cache.
const MAGIC: &[u8] = b"strided OpenCL program 1\n";

static COMPILED: AtomicUsize = AtomicUsize::new(0);
static LOADED: AtomicUsize = AtomicUsize::new(0);

/// How many programs this process has compiled, and how many it has loaded from disk.
pub fn programs() -> (usize, usize) {
    (COMPILED.load(Relaxed), LOADED.load(Relaxed))
}

/// Code for a device. It is never released: a process needs few programs, and needs them again.
pub struct Program {
    device: &'static Device,
    handle: Handle,
}

/// A function of a program. Its arguments are set under the lock of the device.
pub struct Kernel {
    pub(crate) handle: Handle,
    /// The most work items of a group: fewer than the device allows if the kernel needs many registers.
    pub max_group: usize,
}

// SAFETY: a program may be used by any thread.
unsafe impl Send for Program {}
// SAFETY: a shared handle is only passed to the library, which locks the object.
unsafe impl Sync for Program {}
// SAFETY: a kernel is used under the lock of its device.
unsafe impl Send for Kernel {}
// SAFETY: a kernel is used under the lock of its device alone.
unsafe impl Sync for Kernel {}

impl Program {
    /// Compiles source text, or finds its code on disk.
    pub fn new(device: &'static Device, source: &str) -> Result<Program> {
        let connection = device.connection()?;
        let options = options(device);
        let cached = CachedFile::new(device, source, &options);
        if let Some(handle) = cached.as_ref().and_then(|file| file.load(connection, device, &options)) {
            LOADED.fetch_add(1, Relaxed);
            return Ok(Program { device, handle });
        }
        let (text, length) = (source.as_ptr().cast(), source.len());
        let mut code = 0;
        // SAFETY: one text, with its length; it is copied.
        let handle = unsafe {
            (connection.functions.clCreateProgramWithSource)(connection.context, 1, &text, &length, &mut code)
        };
        device.check("clCreateProgramWithSource", code)?;
        if build(connection, device, handle, &options) != 0 {
            let log = build_log(connection, device, handle);
            // SAFETY: the program is not used again.
            unsafe { (connection.functions.clReleaseProgram)(handle) };
            return Err(Error::Build { device: device.name(), log });
        }
        COMPILED.fetch_add(1, Relaxed);
        if let Some(file) = cached {
            file.save(connection, handle);
        }
        Ok(Program { device, handle })
    }

    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        let connection = self.device.connection()?;
        let name = CString::new(name).expect("names of kernels have no zeros");
        let mut code = 0;
        // SAFETY: the program was built, and the name ends with zero.
        let handle = unsafe { (connection.functions.clCreateKernel)(self.handle, name.as_ptr(), &mut code) };
        self.device.check("clCreateKernel", code)?;
        let mut max_group: usize = 0;
        // SAFETY: the kernel is new, the device is that of its program, and the number has the size of a `size_t`.
        let code = unsafe {
            let out = (&raw mut max_group).cast();
            (connection.functions.clGetKernelWorkGroupInfo)(
                handle,
                self.device.handle,
                CL_KERNEL_WORK_GROUP_SIZE,
                size_of::<usize>(),
                out,
                null_mut(),
            )
        };
        self.device.check("clGetKernelWorkGroupInfo", code)?;
        Ok(Kernel { handle, max_group })
    }
}

fn options(device: &Device) -> String {
    // Without warnings, which some drivers print.
    let mut options = String::from("-cl-std=CL1.2 -w");
    if device.properties.exact_division {
        options.push_str(" -cl-fp32-correctly-rounded-divide-sqrt");
    }
    options
}

fn build(connection: Connection, device: &Device, program: Handle, options: &str) -> Int {
    let options = CString::new(options).expect("options have no zeros");
    // SAFETY: the program is new, the device is of its context, and the options end with zero.
    unsafe {
        (connection.functions.clBuildProgram)(
            program,
            1,
            &device.handle,
            options.as_ptr(),
            null(),
            null_mut(),
        )
    }
}

fn build_log(connection: Connection, device: &Device, program: Handle) -> String {
    let mut length = 0;
    // SAFETY: the length of the log is written to `length`.
    unsafe {
        (connection.functions.clGetProgramBuildInfo)(
            program,
            device.handle,
            CL_PROGRAM_BUILD_LOG,
            0,
            null_mut(),
            &mut length,
        )
    };
    let mut log = vec![0u8; length];
    // SAFETY: `log` has room for the log.
    unsafe {
        let out = log.as_mut_ptr().cast();
        (connection.functions.clGetProgramBuildInfo)(
            program,
            device.handle,
            CL_PROGRAM_BUILD_LOG,
            length,
            out,
            null_mut(),
        )
    };
    String::from_utf8_lossy(&log).trim_end_matches('\0').trim().to_string()
}

/// The file that keeps the code of a program.
///
/// It has a line that says what it is, the key (device, driver, options, source), a checksum and the code. A file with another
/// key, or that is damaged, is not used.
struct CachedFile {
    path: PathBuf,
    key: Vec<u8>,
}

impl CachedFile {
    fn new(device: &Device, source: &str, options: &str) -> Option<CachedFile> {
        let folder = cache_folder()?;
        let p = &device.properties;
        let key = format!("{}\n{}\n{}\n{}\n{options}\n{source}", p.platform, p.name, p.driver, p.version)
            .into_bytes();
        let name = format!("{:016x}{:016x}.bin", hash(&key, 0), hash(&key, 1));
        Some(CachedFile { path: folder.join(name), key })
    }

    fn load(&self, connection: Connection, device: &Device, options: &str) -> Option<Handle> {
        let file = std::fs::read(&self.path).ok()?;
        let rest = file.strip_prefix(MAGIC)?.strip_prefix(&self.key[..])?;
        let (sum, code) = rest.split_at_checked(8)?;
        if sum != hash(code, 0).to_le_bytes() {
            return None;
        }
        let (start, length) = (code.as_ptr(), code.len());
        let (mut status, mut error) = (0, 0);
        // SAFETY: one device, with the start and length of its code, which is copied.
        let handle = unsafe {
            (connection.functions.clCreateProgramWithBinary)(
                connection.context,
                1,
                &device.handle,
                &length,
                &start,
                &mut status,
                &mut error,
            )
        };
        if error != 0 {
            return None;
        }
        if status == 0 && build(connection, device, handle, options) == 0 {
            return Some(handle);
        }
        // SAFETY: the program is not used again.
        unsafe { (connection.functions.clReleaseProgram)(handle) };
        None
    }

    /// Writes the code under another name first, so that no process reads half of it. A failure costs the next process a
    /// compilation, and nothing else.
    fn save(&self, connection: Connection, program: Handle) {
        let Some(code) = binary(connection, program) else { return };
        let Some(folder) = self.path.parent() else { return };
        if make_private_folder(folder).is_err() {
            return;
        }
        let temporary = self.path.with_extension(format!("{}.tmp", std::process::id()));
        let file = [MAGIC, &self.key, &hash(&code, 0).to_le_bytes(), &code].concat();
        let saved = std::fs::write(&temporary, file).and_then(|()| std::fs::rename(&temporary, &self.path));
        if saved.is_err() {
            let _ = std::fs::remove_file(&temporary);
        }
    }
}

/// The code of a program that was built for one device; `None` if the driver does not give it. PoCL lists all devices of a
/// context, with code for the one alone.
fn binary(connection: Connection, program: Handle) -> Option<Vec<u8>> {
    let info = |property, size, out| {
        // SAFETY: `out` has `size` bytes.
        unsafe { (connection.functions.clGetProgramInfo)(program, property, size, out, null_mut()) }
    };
    let mut count: Uint = 0;
    if info(CL_PROGRAM_NUM_DEVICES, 4, (&raw mut count).cast()) != 0 {
        return None;
    }
    let mut sizes = vec![0usize; count as usize];
    if info(CL_PROGRAM_BINARY_SIZES, size_of_val(&sizes[..]), sizes.as_mut_ptr().cast()) != 0 {
        return None;
    }
    let mut codes: Vec<Vec<u8>> = sizes.iter().map(|&size| vec![0; size]).collect();
    let mut starts: Vec<*mut u8> = codes.iter_mut().map(|code| code.as_mut_ptr()).collect();
    if info(CL_PROGRAM_BINARIES, size_of_val(&starts[..]), starts.as_mut_ptr().cast()) != 0 {
        return None;
    }
    codes.into_iter().find(|code| !code.is_empty())
}

fn cache_folder() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os(CACHE_VARIABLE) {
        return (!folder.is_empty()).then(|| folder.into());
    }
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = if cfg!(windows) {
        variable("LOCALAPPDATA")?
    } else if cfg!(target_os = "macos") {
        variable("HOME")?.join("Library/Caches")
    } else {
        variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")))?
    };
    Some(base.join("strided").join("opencl"))
}

/// Makes a folder that nobody else can write to, since what is in it is executed.
fn make_private_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// FNV-1a of 64 bits. It only names files and finds damage: the key itself is compared.
fn hash(bytes: &[u8], seed: u64) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bytes.iter().fold(start, |hash, &byte| (hash ^ byte as u64).wrapping_mul(0x0000_0100_0000_01b3))
}

//! Memory that processes share: byte ranges of anonymous files that exist in memory only.
//!
//! Such a file is known by its descriptor alone and ends with the last process that has it, however that process
//! ends: there is no name that could be left behind. Its size is sealed where the system can do that, so that no
//! process can truncate the memory of the others. Small storages share a file, because a process may open only a
//! limited number of descriptors.

use super::mmap::{Map, system_error};
use crate::alloc;
use crate::error::{Error, Problem, Result};
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Storages up to this size share a file with others.
const MAX_SMALL_BYTES: usize = 64 << 10;
/// The size of such a file. The system provides its pages when they are first written.
const SEGMENT_BYTES: usize = 1 << 20;

/// The file from which small storages are allocated. Its ranges are freed all at once, with the last storage in it: a
/// single range is never reused, because another process may still have it.
struct Arena {
    /// The process that allocates from the file. A forked child inherits the file, and must not hand out the ranges
    /// that its parent hands out.
    process: u32,
    map: Weak<Map>,
    /// Where the next range begins.
    next: usize,
}

static ARENA: Mutex<Arena> = Mutex::new(Arena { process: 0, map: Weak::new(), next: SEGMENT_BYTES });

/// Allocates `bytes` zero bytes of shared memory. Returns the map and the offset in it.
pub fn allocate(bytes: usize) -> Result<(Arc<Map>, usize)> {
    let size = alloc::rounded(bytes).ok_or_else(|| Error::new(Problem::OutOfMemory { bytes }))?;
    if size > MAX_SMALL_BYTES {
        return Ok((new_segment(size)?, 0));
    }
    let mut arena = ARENA.lock().unwrap_or_else(PoisonError::into_inner);
    if arena.process == std::process::id()
        && size <= SEGMENT_BYTES - arena.next
        && let Some(map) = arena.map.upgrade()
    {
        let offset = arena.next;
        arena.next += size;
        return Ok((map, offset));
    }
    let map = new_segment(SEGMENT_BYTES)?;
    *arena = Arena { process: std::process::id(), map: Arc::downgrade(&map), next: size };
    Ok((map, 0))
}

fn new_segment(bytes: usize) -> Result<Arc<Map>> {
    let map = anonymous_file(bytes).and_then(|file| Map::anonymous(file, bytes));
    map.map_err(|error| system_error("", error))
}

/// Maps all the shared memory behind a descriptor that another process has sent. The descriptor stays the caller's.
#[cfg(unix)]
pub fn from_descriptor(descriptor: std::os::fd::BorrowedFd<'_>) -> Result<Arc<Map>> {
    let file = File::from(descriptor.try_clone_to_owned().map_err(|error| system_error("", error))?);
    let metadata = file.metadata().map_err(|error| system_error("", error))?;
    let length = isize::try_from(metadata.len()).ok().filter(|_| metadata.is_file());
    let Some(length) = length else {
        let what = "is no shared memory".into();
        return Err(Error::new(Problem::File { path: "the descriptor".into(), what }));
    };
    Map::anonymous(file, length as usize).map_err(|error| system_error("", error))
}

/// Creates a file in memory that has no name.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn anonymous_file(bytes: usize) -> io::Result<File> {
    use std::os::fd::{AsRawFd, FromRawFd};
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // By its number, because old C libraries have no function for it.
    // SAFETY: the arguments are those that the system call expects: a string that ends with zero, and flags.
    let descriptor = unsafe { libc::syscall(libc::SYS_memfd_create, c"strided".as_ptr(), flags) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call above succeeded, so that the descriptor is new and nobody else's.
    let file = unsafe { File::from_raw_fd(descriptor as libc::c_int) };
    file.set_len(bytes as u64)?;
    let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    // SAFETY: `file` keeps the descriptor open, and the seals are a plain number.
    if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(file)
}

/// Creates a named file in shared memory and removes its name at once.
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
fn anonymous_file(bytes: usize) -> io::Result<File> {
    use std::os::fd::FromRawFd;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    #[cfg(target_vendor = "apple")]
    let mode: libc::c_uint = 0o600; // `shm_open` is variadic there, and takes a promoted integer
    #[cfg(not(target_vendor = "apple"))]
    let mode: libc::mode_t = 0o600;
    loop {
        let name = format!("/strided-{}-{}\0", std::process::id(), NEXT.fetch_add(1, Relaxed));
        let address = name.as_ptr().cast();
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL;
        // SAFETY: `name` ends with zero and outlives the call; the rest are plain numbers.
        let descriptor = unsafe { libc::shm_open(address, flags, mode) };
        if descriptor < 0 {
            let error = io::Error::last_os_error();
            if error.kind() == io::ErrorKind::AlreadyExists {
                continue;
            }
            return Err(error);
        }
        // SAFETY: `name` ends with zero; `shm_open` succeeded, so that the descriptor is new and nobody else's.
        let file = unsafe {
            libc::shm_unlink(address);
            File::from_raw_fd(descriptor)
        };
        file.set_len(bytes as u64)?;
        return Ok(file);
    }
}

#[cfg(not(unix))]
fn anonymous_file(_: usize) -> io::Result<File> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no memory that is passed by descriptor"))
}

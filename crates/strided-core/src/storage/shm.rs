//! Memory that several processes share: places in nameless files that live in memory.
//!
//! Such a file is known by its descriptor alone and ends with the last process that has it, however that
//! process ends: there is no name that could be left behind. Its size is sealed where the system can, so
//! that nobody can take the memory away from under the others. Small storages share a file, because a
//! process has few descriptors.

use crate::alloc;
use crate::error::{Error, Problem, Result};
use crate::storage::mmap::{Identity, Map, failed};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

/// Up to this size, storages lie in a file with others.
const SMALL: usize = 64 << 10;
/// The size of such a file. Its pages are there once they are written to.
const SEGMENT: usize = 1 << 20;

/// The file that small storages are put into. It ends with the last storage on it, and then all its places
/// are free at once: one place alone is not, because nobody knows whether another process still looks at it.
struct Arena {
    /// A forked child has the file too, but must not give out the places that its parent gives out.
    process: u32,
    map: Weak<Map>,
    next: usize,
}

static ARENA: Mutex<Arena> = Mutex::new(Arena { process: 0, map: Weak::new(), next: SEGMENT });

/// All maps of shared memory here, so that what comes in twice is mapped once.
fn maps() -> MutexGuard<'static, HashMap<Identity, Weak<Map>>> {
    static MAPS: LazyLock<Mutex<HashMap<Identity, Weak<Map>>>> = LazyLock::new(Mutex::default);
    MAPS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The map of a nameless file that is mapped here.
pub fn find(identity: Identity) -> Option<Arc<Map>> {
    maps().get(&identity)?.upgrade()
}

/// A map ends: it leaves the table, unless another one of the same file has taken its place.
pub fn forget(identity: Identity) {
    let mut maps = maps();
    if maps.get(&identity).is_some_and(|map| map.strong_count() == 0) {
        maps.remove(&identity);
    }
}

/// A place for so many bytes, all of them zero: the map and the position in it.
pub fn place(bytes: usize) -> Result<(Arc<Map>, usize)> {
    let size = alloc::rounded(bytes).ok_or_else(|| Error::new("", Problem::OutOfMemory { bytes }))?;
    if size > SMALL {
        return Ok((segment(size)?, 0));
    }
    let mut arena = ARENA.lock().unwrap_or_else(PoisonError::into_inner);
    if arena.process == std::process::id()
        && size <= SEGMENT - arena.next
        && let Some(map) = arena.map.upgrade()
    {
        let at = arena.next;
        arena.next += size;
        return Ok((map, at));
    }
    let map = segment(SEGMENT)?;
    *arena = Arena { process: std::process::id(), map: Arc::downgrade(&map), next: size };
    Ok((map, 0))
}

fn segment(bytes: usize) -> Result<Arc<Map>> {
    let file = nameless(bytes).map_err(|error| failed("", error))?;
    known(file, bytes)
}

/// The map of a nameless file: the one that is there already, or a new one.
fn known(file: File, bytes: usize) -> Result<Arc<Map>> {
    let map = Arc::new(Map::nameless(file, bytes).map_err(|error| failed("", error))?);
    let Some(identity) = map.identity() else { return Ok(map) };
    let mut maps = maps();
    if let Some(before) = maps.get(&identity).and_then(Weak::upgrade) {
        drop(maps); // the new map ends here, and looks into the table
        return Ok(before);
    }
    maps.insert(identity, Arc::downgrade(&map));
    drop(maps);
    Ok(map)
}

/// A storage on all the shared memory behind a descriptor that another process has sent. It stays the caller's.
#[cfg(unix)]
pub fn attach(descriptor: std::os::fd::BorrowedFd<'_>) -> Result<crate::Storage> {
    let file = File::from(descriptor.try_clone_to_owned().map_err(|error| failed("", error))?);
    let about = file.metadata().map_err(|error| failed("", error))?;
    let length = isize::try_from(about.len()).ok().filter(|_| about.is_file());
    let Some(length) = length else {
        let what = "is no shared memory".into();
        return Err(Error::new("", Problem::File { path: "the descriptor".into(), what }));
    };
    crate::Storage::mapped(known(file, length as usize)?, 0, length as usize)
}

/// A new nameless file in memory.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn nameless(bytes: usize) -> io::Result<File> {
    use std::os::fd::{AsRawFd, FromRawFd};
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: a name that ends with zero, and flags; by its number, because old C libraries have no name for it.
    let descriptor = unsafe { libc::syscall(libc::SYS_memfd_create, c"strided".as_ptr(), flags) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and nobody else's.
    let file = unsafe { File::from_raw_fd(descriptor as libc::c_int) };
    file.set_len(bytes as u64)?;
    let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    // SAFETY: the descriptor is open; seals are a plain number.
    if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(file)
}

#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
fn nameless(bytes: usize) -> io::Result<File> {
    use std::os::fd::FromRawFd;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    #[cfg(target_vendor = "apple")]
    let mode: libc::c_uint = 0o600; // what the variadic function of this system is passed
    #[cfg(not(target_vendor = "apple"))]
    let mode: libc::mode_t = 0o600;
    loop {
        let name = format!("/strided-{}-{}\0", std::process::id(), NEXT.fetch_add(1, Relaxed));
        let address = name.as_ptr().cast();
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL;
        // SAFETY: a name that ends with zero, and numbers.
        let descriptor = unsafe { libc::shm_open(address, flags, mode) };
        if descriptor < 0 {
            let error = io::Error::last_os_error();
            if error.kind() == io::ErrorKind::AlreadyExists {
                continue;
            }
            return Err(error);
        }
        // SAFETY: as above; the name goes at once, and the descriptor is new and nobody else's.
        let file = unsafe {
            libc::shm_unlink(address);
            File::from_raw_fd(descriptor)
        };
        file.set_len(bytes as u64)?;
        return Ok(file);
    }
}

#[cfg(not(unix))]
fn nameless(_: usize) -> io::Result<File> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no memory that is passed by descriptor"))
}

//! Bytes moved between storages and files.
//!
//! Slices of a storage's memory are formed for one purpose only: to be handed to a system call, which copies them, or to
//! fill a storage that nobody else can see yet.

use super::mmap::system_error;
use super::{Fill, PinnedBytes, Storage};
use crate::error::{Error, Problem, Result};
use crate::threads::{self, Shared};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Mutex;
use strided_opencl::Memory;

/// Bytes of one system call, which is a piece of work: between two of them a call can be interrupted.
pub const BYTES_PER_SYSTEM_CALL: usize = 8 << 20;

impl Storage {
    /// A new storage whose bytes, zeros at first, are written by `write`.
    pub fn filled(bytes: usize, write: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<Storage> {
        let mut storage = Storage::new(bytes, Fill::Zero)?;
        let start = storage.exclusive_start().expect("a new storage has one handle");
        // SAFETY: the storage was just made with this many initialised bytes, and nobody else has a handle on it.
        write(unsafe { std::slice::from_raw_parts_mut(start, bytes) })?;
        Ok(storage)
    }

    /// A copy of `bytes` bytes of a file, from byte `position` on. Fails if the file ends before.
    pub fn read_from(file: &File, path: &Path, position: u64, bytes: usize) -> Result<Storage> {
        let mut storage = Storage::new(bytes, Fill::Uninitialized)?;
        let start = Shared::new(storage.exclusive_start().expect("a new storage has one handle"));
        let failure = Mutex::new(None);
        let shared = bytes > BYTES_PER_SYSTEM_CALL;
        threads::for_each_range(bytes, BYTES_PER_SYSTEM_CALL, shared, &|part| {
            // SAFETY: the part is inside the storage, on which nobody else has a handle. Parts do not overlap.
            let read =
                unsafe { read_exact(file, position + part.start as u64, start.at(part.start), part.len()) };
            if let Err(error) = read {
                failure.lock().unwrap().get_or_insert(error);
            }
        })?;
        match failure.into_inner().unwrap() {
            Some(error) => Err(system_error(path, error)),
            None => Ok(storage),
        }
    }

    /// Pins all bytes. Refuses a range outside of them.
    fn pin_range(&self, at: usize, length: usize) -> Result<PinnedBytes<'_>> {
        let pinned = self.pin_all()?;
        if at.checked_add(length).is_some_and(|end| end <= pinned.length) {
            return Ok(pinned);
        }
        let (first, last) = (at as isize, at.saturating_add(length) as isize - 1);
        Err(Error::new(Problem::OutsideStorage { first, last, length: pinned.length }))
    }

    /// Copies bytes from position `at` on into a slice. Refuses bytes outside the storage.
    pub fn copy_out(&self, at: usize, into: &mut [u8]) -> Result<()> {
        let pinned = self.pin_range(at, into.len())?;
        // SAFETY: the range is inside the pinned bytes, as `pin_range` checked. The slice belongs to the caller: a storage never lends
        // its memory as a slice that outlives a call, so that the two do not overlap.
        unsafe { std::ptr::copy_nonoverlapping(pinned.start.add(at), into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    /// Copies bytes of a device's memory, from byte `first` on, to position `at`. The device has done its work: nobody waits while
    /// holding a pin.
    pub fn read_device(&self, at: usize, memory: &Memory, first: usize, length: usize) -> Result<()> {
        if self.is_readonly() {
            return Err(Error::new(Problem::ReadOnly));
        }
        let pinned = self.pin_range(at, length)?;
        // SAFETY: the range is inside the pinned bytes, as `pin_range` checked.
        unsafe {
            memory.device.read_to(memory, first, pinned.start.wrapping_add(at), length, &mut || false)?
        };
        Ok(())
    }

    /// Copies bytes from position `at` on to a device's memory, to byte `first` of it. The device has done its work, as for
    /// [`Storage::read_device`].
    pub fn write_device(&self, at: usize, memory: &Memory, first: usize, length: usize) -> Result<()> {
        let pinned = self.pin_range(at, length)?;
        // SAFETY: the range is inside the pinned bytes, as `pin_range` checked.
        unsafe {
            memory.device.write_from(memory, first, pinned.start.wrapping_add(at), length, &mut || false)?
        };
        Ok(())
    }

    /// Hands `length` bytes from position `at` on to `write`. The memory is pinned meanwhile, so that `write` must not wait for
    /// anything but the system; and it must copy the bytes by a system call, since other threads may write to them.
    pub fn write_out(&self, at: usize, length: usize, write: impl FnOnce(&[u8]) -> Result<()>) -> Result<()> {
        let pinned = self.pin_range(at, length)?;
        // SAFETY: the range is inside the pinned bytes, as `pin_range` checked, and the pin outlives the slice.
        write(unsafe { std::slice::from_raw_parts(pinned.start.add(at), length) })
    }
}

/// Puts a file in the place of another, which is removed. There is always a file of that name, the old one or the new one.
pub fn replace_file(new: &Path, path: &Path) -> io::Result<()> {
    if exchange_files(new, path) {
        return std::fs::remove_file(new);
    }
    std::fs::rename(new, path)
}

/// Exchanges the names of two files, if both exist and the system can do that. A rename would do the same; but where it
/// replaces a file, ext4 starts to write the new one to the disk, which takes as long as writing it to memory did.
#[cfg(target_os = "linux")]
fn exchange_files(new: &Path, path: &Path) -> bool {
    let text = |path: &Path| [path.as_os_str().as_encoded_bytes(), &[0]].concat();
    let (new, path, here) = (text(new), text(path), libc::AT_FDCWD);
    // SAFETY: both strings end with a zero byte, and live until the call returns.
    let done = unsafe {
        libc::renameat2(here, new.as_ptr().cast(), here, path.as_ptr().cast(), libc::RENAME_EXCHANGE)
    };
    done == 0
}

#[cfg(not(target_os = "linux"))]
fn exchange_files(_: &Path, _: &Path) -> bool {
    false
}

/// Reads bytes of a file into memory that need not be initialised.
///
/// # Safety
/// `into` points to `length` bytes that this thread may write.
#[cfg(unix)]
unsafe fn read_exact(file: &File, position: u64, into: *mut u8, length: usize) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let mut done = 0;
    while done < length {
        let at = libc::off_t::try_from(position + done as u64).map_err(|_| io::ErrorKind::InvalidInput)?;
        // SAFETY: `file` keeps the descriptor open, and `length - done` bytes follow `into + done` by the contract.
        let got = unsafe { libc::pread(file.as_raw_fd(), into.add(done).cast(), length - done, at) };
        match got {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            1.. => done += got as usize,
            _ => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
    Ok(())
}

/// The same for systems without `pread`.
///
/// # Safety
/// `into` points to `length` bytes that this thread may write.
#[cfg(windows)]
unsafe fn read_exact(file: &File, position: u64, into: *mut u8, length: usize) -> io::Result<()> {
    use std::os::windows::fs::FileExt;
    // SAFETY: the contract above; the bytes are initialised here before a slice of them is formed.
    let memory = unsafe {
        into.write_bytes(0, length);
        std::slice::from_raw_parts_mut(into, length)
    };
    let mut done = 0;
    while done < length {
        match file.seek_read(&mut memory[done..], position + done as u64)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            got => done += got,
        }
    }
    Ok(())
}

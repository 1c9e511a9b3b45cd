//! Where the bytes of a new file go: a file that replaces the old one atomically when it is complete, or any writer.

use crate::error::{Error, Problem, Result};
use crate::storage::mmap::system_error;
use crate::storage::{BYTES_PER_SYSTEM_CALL, Storage, replace_file};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Small pieces are collected until there are this many bytes.
const COLLECTED: usize = 1 << 18;
/// Bytes between two reports of progress.
const REPORTED: u64 = 16 << 20;

/// What the bytes are written to.
pub trait ByteTarget {
    fn write(&mut self, bytes: &[u8]) -> Result<()>;

    /// Whether `write` is one system call, so that it may be given memory that other threads write to.
    fn is_system_call(&self) -> bool {
        false
    }

    /// Called from time to time with the number of bytes written so far. An error ends the writing.
    fn progress(&mut self, _written: u64) -> Result<()> {
        Ok(())
    }
}

/// A position in a new file.
pub struct FileOutput<'a> {
    target: &'a mut dyn ByteTarget,
    collected: Vec<u8>,
    position: u64,
    reported: u64,
}

impl<'a> FileOutput<'a> {
    pub fn new(target: &'a mut dyn ByteTarget) -> FileOutput<'a> {
        FileOutput { target, collected: Vec::new(), position: 0, reported: 0 }
    }

    /// Bytes written so far.
    pub fn position(&self) -> u64 {
        self.position
    }

    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.position += bytes.len() as u64;
        if self.collected.len() + bytes.len() <= COLLECTED {
            self.collected.extend_from_slice(bytes);
            return Ok(());
        }
        self.flush()?;
        self.target.write(bytes)?;
        self.report()
    }

    /// Writes bytes of a storage.
    pub fn write_storage(&mut self, storage: &Storage, at: usize, length: usize) -> Result<()> {
        if length <= COLLECTED || !self.target.is_system_call() {
            return copied_pieces(storage, at, length, &mut |piece| self.write(piece));
        }
        self.flush()?;
        let mut done = 0;
        while done < length {
            let piece = BYTES_PER_SYSTEM_CALL.min(length - done);
            storage.write_out(at + done, piece, |bytes| self.target.write(bytes))?;
            done += piece;
            self.position += piece as u64;
            self.report()?;
        }
        Ok(())
    }

    fn report(&mut self) -> Result<()> {
        if self.position - self.reported >= REPORTED {
            self.reported = self.position;
            self.target.progress(self.position)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        self.target.write(&self.collected)?;
        self.collected.clear();
        Ok(())
    }

    /// Writes what was collected. Without this call it is lost.
    pub fn finish(mut self) -> Result<u64> {
        self.flush()?;
        self.target.progress(self.position)?;
        Ok(self.position)
    }
}

/// Calls a function with copies of the bytes of a storage, piece by piece. Other threads may write to the storage meanwhile;
/// only a system call may be given its memory.
pub fn copied_pieces(
    storage: &Storage,
    at: usize,
    length: usize,
    take: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut buffer = vec![0; length.min(COLLECTED)];
    let mut done = 0;
    while done < length {
        let piece = &mut buffer[..COLLECTED.min(length - done)];
        storage.copy_out(at + done, piece)?;
        take(piece)?;
        done += piece.len();
    }
    Ok(())
}

/// A file under a temporary name in the folder of the one that it will replace.
pub struct NewFile {
    file: File,
    temporary: Option<PathBuf>,
    path: PathBuf,
}

impl NewFile {
    /// Begins to write a file. Until [`NewFile::commit`], the file of that name stays what it is.
    pub fn create(path: &Path) -> Result<NewFile> {
        // Through a link, the file that it points to is replaced, not the link.
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.into());
        match std::fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => {
                Err(Error::new(Problem::File { path, what: "is a folder".into() }))
            }
            // A pipe or a device cannot be replaced.
            Ok(metadata) if !metadata.is_file() => {
                let opened = OpenOptions::new().write(true).open(&path);
                let file = opened.map_err(|error| system_error(&path, error))?;
                Ok(NewFile { file, temporary: None, path })
            }
            existing => {
                let (file, temporary) =
                    temporary_beside(&path).map_err(|error| system_error(&path, error))?;
                let new = NewFile { file, temporary: Some(temporary), path };
                if let Ok(metadata) = existing {
                    // Who may read the old file may read the new one. A system that refuses this keeps its default.
                    let _ = new.file.set_permissions(metadata.permissions());
                }
                Ok(new)
            }
        }
    }

    /// Puts the file in its place. With `sync` its bytes, and then its name, are on the disk when this returns.
    pub fn commit(mut self, sync: bool) -> Result<()> {
        let Some(temporary) = self.temporary.clone() else { return Ok(()) };
        let done = (|| {
            if sync {
                self.file.sync_all()?;
                std::fs::rename(&temporary, &self.path)?;
                return sync_folder(&self.path);
            }
            replace_file(&temporary, &self.path)
        })();
        done.map_err(|error| system_error(&self.path, error))?;
        self.temporary = None;
        Ok(())
    }
}

impl ByteTarget for NewFile {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|error| system_error(&self.path, error))
    }

    fn is_system_call(&self) -> bool {
        true
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(temporary) = self.temporary.take() {
            // The file was not completed. The error that is being returned matters more than one of this call.
            let _ = std::fs::remove_file(temporary);
        }
    }
}

/// Creates a file beside `path` under a name that no other file has.
fn temporary_beside(path: &Path) -> io::Result<(File, PathBuf)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    loop {
        let mut hidden = Path::new(".").as_os_str().to_os_string();
        hidden.push(name);
        hidden.push(format!(".{}-{}.tmp", std::process::id(), COUNT.fetch_add(1, Relaxed)));
        let temporary = path.with_file_name(hidden);
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => return Ok((created?, temporary)),
        }
    }
}

/// Waits until the name of a file is on the disk.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Some file systems refuse to sync a folder; the file itself is on the disk by now.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

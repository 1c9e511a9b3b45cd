//! Where the bytes of a file come from, and a cursor over them.

use super::fault;
use crate::alloc::try_reserve;
use crate::error::{Error, Problem, Result};
use crate::storage::Storage;
use crate::storage::mmap::{self, Map};
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Bytes with random access. The length is known, so that a declared length is checked before memory is allocated.
pub trait ByteSource: Send + Sync {
    fn length(&self) -> u64;

    /// Fills a slice with the bytes from a position on. The caller has checked that they are there.
    fn read_at(&self, position: u64, into: &mut [u8]) -> Result<()>;

    /// A new storage with bytes of the source.
    fn read_storage(&self, position: u64, bytes: usize) -> Result<Storage> {
        Storage::filled(bytes, |memory| self.read_at(position, memory))
    }

    /// A storage on a part of the mapped file, if this is a file that can be mapped.
    fn map(&self, _position: u64, _bytes: usize) -> Option<Result<Storage>> {
        None
    }
}

/// How the memory of loaded tensors relates to the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MapMode {
    /// A copy.
    #[default]
    Never,
    /// A map that refuses writes.
    ReadOnly,
    /// A map whose changed pages are private.
    CopyOnWrite,
    /// A map whose changes go to the file.
    Shared,
}

const SHRUNK: &str = "the file has become shorter while it was read";

/// A file on a disk.
pub struct FileSource {
    file: File,
    path: PathBuf,
    length: u64,
    mode: MapMode,
    /// The whole file, mapped when the first tensor is.
    map: OnceLock<Result<Arc<Map>>>,
}

impl FileSource {
    pub fn open(path: &Path, mode: MapMode) -> Result<FileSource> {
        let opened = OpenOptions::new().read(true).write(mode == MapMode::Shared).open(path);
        let file = opened.map_err(|error| mmap::system_error(path, error))?;
        let metadata = file.metadata().map_err(|error| mmap::system_error(path, error))?;
        if metadata.is_dir() {
            return Err(Error::new(Problem::File { path: path.into(), what: "is a folder".into() }));
        }
        Ok(FileSource { file, path: path.into(), length: metadata.len(), mode, map: OnceLock::new() })
    }
}

impl ByteSource for FileSource {
    fn length(&self) -> u64 {
        self.length
    }

    fn read_at(&self, position: u64, into: &mut [u8]) -> Result<()> {
        read_exact_at(&self.file, position, into).map_err(|error| self.read_error(position, error))
    }

    fn read_storage(&self, position: u64, bytes: usize) -> Result<Storage> {
        Storage::read_from(&self.file, &self.path, position, bytes).map_err(|error| {
            let length = self.file.metadata().map_or(u64::MAX, |metadata| metadata.len());
            if length < position + bytes as u64 { fault(length, SHRUNK) } else { error }
        })
    }

    fn map(&self, position: u64, bytes: usize) -> Option<Result<Storage>> {
        if self.mode == MapMode::Never {
            return None;
        }
        let (shared, readonly) = (self.mode == MapMode::Shared, self.mode == MapMode::ReadOnly);
        let make = || mmap::map_all(&self.file, &self.path, shared, readonly).map(Arc::new);
        let map = self.map.get_or_init(make);
        Some(map.clone().and_then(|map| Storage::mapped(map, position as usize, bytes)))
    }
}

impl FileSource {
    /// The file was long enough when it was opened, so that an early end means that it has shrunk.
    fn read_error(&self, position: u64, error: std::io::Error) -> Error {
        match error.kind() {
            std::io::ErrorKind::UnexpectedEof => fault(position, SHRUNK),
            _ => mmap::system_error(&self.path, error),
        }
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, position: u64, into: &mut [u8]) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, into, position)
}

#[cfg(windows)]
fn read_exact_at(file: &File, position: u64, into: &mut [u8]) -> std::io::Result<()> {
    let mut done = 0;
    while done < into.len() {
        match std::os::windows::fs::FileExt::seek_read(file, &mut into[done..], position + done as u64)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            got => done += got,
        }
    }
    Ok(())
}

/// Bytes in memory.
impl ByteSource for Storage {
    fn length(&self) -> u64 {
        Storage::length(self) as u64
    }

    fn read_at(&self, position: u64, into: &mut [u8]) -> Result<()> {
        self.copy_out(position as usize, into)
    }
}

/// Inflated bytes.
impl ByteSource for Vec<u8> {
    fn length(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, position: u64, into: &mut [u8]) -> Result<()> {
        let start = position as usize;
        into.copy_from_slice(&self[start..start + into.len()]);
        Ok(())
    }
}

/// Bytes that a cursor reads at a time.
const WINDOW: usize = 1 << 16;

/// A position in a source, with the bytes around it. All reads are checked against the end of the source first.
pub struct Cursor<'a> {
    source: &'a dyn ByteSource,
    /// The end of what may be read.
    end: u64,
    /// Where `window` begins in the source.
    start: u64,
    window: Vec<u8>,
    /// The position inside the window; it may be its end, never beyond.
    at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(source: &'a dyn ByteSource, position: u64, end: u64) -> Cursor<'a> {
        Cursor { source, end: end.min(source.length()), start: position, window: Vec::new(), at: 0 }
    }

    pub fn position(&self) -> u64 {
        self.start + self.at as u64
    }

    /// Bytes up to the end.
    pub fn left(&self) -> u64 {
        self.end.saturating_sub(self.position())
    }

    /// An error at the present position.
    #[cold]
    pub fn fault(&self, reason: impl Into<String>) -> Error {
        fault(self.position(), reason)
    }

    /// Refuses more bytes than there are.
    #[inline]
    pub fn check(&self, bytes: u64, what: &str) -> Result<()> {
        if bytes <= self.left() { Ok(()) } else { Err(self.too_short(bytes, what)) }
    }

    #[cold]
    fn too_short(&self, bytes: u64, what: &str) -> Error {
        self.fault(format!("{what} needs {bytes} bytes, and the file has {} more", self.left()))
    }

    /// The rest of the window: at least `wanted` bytes (at most WINDOW), or all up to the end.
    #[inline]
    fn peek(&mut self, wanted: usize) -> Result<&[u8]> {
        if self.window.len() - self.at < wanted {
            self.refill()?;
        }
        Ok(&self.window[self.at..])
    }

    #[cold]
    fn refill(&mut self) -> Result<()> {
        self.start = self.position();
        self.at = 0;
        self.window.resize(self.end.saturating_sub(self.start).min(WINDOW as u64) as usize, 0);
        self.source.read_at(self.start, &mut self.window)
    }

    /// The next byte, which is not taken; `None` at the end.
    #[inline]
    pub fn next_byte(&mut self) -> Result<Option<u8>> {
        Ok(self.peek(1)?.first().copied())
    }

    /// Takes a byte that [`Cursor::next_byte`] has shown.
    #[inline]
    pub fn take_byte(&mut self) {
        self.at += 1;
    }

    #[inline]
    pub fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        self.check(N as u64, what)?;
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.peek(N)?[..N]);
        self.at += N;
        Ok(bytes)
    }

    /// Bytes of a declared length, which is checked before memory is allocated.
    pub fn bytes(&mut self, length: u64, what: &str) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read_into(&mut bytes, length, what)?;
        Ok(bytes)
    }

    /// [`Self::bytes`] into a buffer, whose content is replaced.
    pub fn read_into(&mut self, bytes: &mut Vec<u8>, length: u64, what: &str) -> Result<()> {
        self.check(length, what)?;
        let length = length as usize;
        bytes.clear();
        try_reserve(bytes, length)?;
        if length <= WINDOW {
            bytes.extend_from_slice(&self.peek(length)?[..length]);
            self.at += length;
        } else {
            bytes.resize(length, 0);
            self.source.read_at(self.position(), bytes)?;
            self.seek(self.position() + length as u64);
        }
        Ok(())
    }

    pub fn skip(&mut self, bytes: u64, what: &str) -> Result<()> {
        self.check(bytes, what)?;
        self.seek(self.position() + bytes);
        Ok(())
    }

    pub fn seek(&mut self, position: u64) {
        match position.checked_sub(self.start) {
            Some(at) if at <= self.window.len() as u64 => self.at = at as usize,
            _ => {
                self.window.clear();
                (self.start, self.at) = (position, 0);
            }
        }
    }
}

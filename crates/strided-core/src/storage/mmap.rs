//! Memory maps: files as memory, and what a map knows of its file.
//!
//! Known limit: if a mapped file is truncated, the pages beyond its new end are gone, and the system ends every
//! process that touches them (SIGBUS). No check here can prevent that.

use crate::dtype::DType;
use crate::error::{Error, Problem, Result};
use memmap2::{MmapOptions, MmapRaw};
use std::collections::HashMap;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

/// Memory that the system shares with a file, or with other processes.
pub struct Map {
    memory: MmapRaw,
    identity: Option<FileId>,
    pub kind: MapKind,
}

/// Device and inode of a file, on systems that have them.
pub type FileId = (u64, u64);

/// What is mapped.
pub enum MapKind {
    /// A file of the user, by its absolute path, from byte `offset` on.
    File { path: PathBuf, offset: usize, shared: bool, readonly: bool },
    /// A file in memory that has no name; other processes get it by its descriptor.
    Anonymous(File),
}

/// The anonymous maps of this process, so that memory that is received twice is mapped once.
fn anonymous_maps() -> MutexGuard<'static, HashMap<FileId, Weak<Map>>> {
    static MAPS: LazyLock<Mutex<HashMap<FileId, Weak<Map>>>> = LazyLock::new(Mutex::default);
    MAPS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Map {
    /// Maps an anonymous file, or returns the map that this process has of it already.
    pub fn anonymous(file: File, length: usize) -> io::Result<Arc<Map>> {
        let memory = MmapOptions::new().len(length).map_raw(&file)?;
        let identity = file_id(&file.metadata()?);
        let map = Arc::new(Map { memory, identity, kind: MapKind::Anonymous(file) });
        let Some(identity) = identity else { return Ok(map) };
        let mut maps = anonymous_maps();
        if let Some(existing) = maps.get(&identity).and_then(Weak::upgrade) {
            drop(maps); // first: dropping the new map locks the table
            return Ok(existing);
        }
        maps.insert(identity, Arc::downgrade(&map));
        drop(maps);
        Ok(map)
    }

    /// The map of an anonymous file, if this process has one.
    pub fn find(identity: FileId) -> Option<Arc<Map>> {
        anonymous_maps().get(&identity)?.upgrade()
    }

    pub fn start(&self) -> *mut u8 {
        self.memory.as_mut_ptr()
    }

    /// Length in bytes.
    pub fn length(&self) -> usize {
        self.memory.len()
    }

    pub fn identity(&self) -> Option<FileId> {
        self.identity
    }

    pub fn is_readonly(&self) -> bool {
        matches!(self.kind, MapKind::File { readonly: true, .. })
    }

    /// Whether other processes see what is written.
    pub fn is_shared(&self) -> bool {
        !matches!(self.kind, MapKind::File { shared: false, .. })
    }

    /// Whether two maps may show the same memory at different addresses.
    pub fn may_alias(&self, other: &Map) -> bool {
        !std::ptr::eq(self, other) && self.identity == other.identity
    }

    /// Waits until what was written has reached the file.
    pub fn flush(&self) -> Result<()> {
        match &self.kind {
            MapKind::File { path, shared: false, .. } => {
                let what = "is mapped privately: what is written never reaches the file".into();
                Err(Error::new(Problem::File { path: path.into(), what }))
            }
            MapKind::File { readonly: true, .. } | MapKind::Anonymous(_) => Ok(()),
            MapKind::File { path, .. } => self.memory.flush().map_err(|error| system_error(path, error)),
        }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        if let (MapKind::Anonymous(_), Some(identity)) = (&self.kind, self.identity) {
            let mut maps = anonymous_maps();
            // A later map of the same file may have replaced this one in the table: that one stays.
            if maps.get(&identity).is_some_and(|map| map.strong_count() == 0) {
                maps.remove(&identity);
            }
        }
    }
}

/// How to map a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct MapOptions {
    /// Writes go to the file, and what others write to it is seen. Otherwise writes are private.
    pub shared: bool,
    pub readonly: bool,
    /// Creates the file if there is none.
    pub create: bool,
    /// Makes the file longer if it is too short.
    pub grow: bool,
    /// Where the elements begin, in bytes.
    pub offset: usize,
}

/// A file that was opened for a storage: mapped, or to be read.
pub enum OpenedFile {
    Mapped(Map),
    /// The offset is not a multiple of the dtype's alignment. The caller reads this many bytes from there instead.
    Misaligned(File, usize),
}

/// Opens a file and maps `size` elements of it, or all of them if `size` is 0.
pub fn open(path: &Path, dtype: DType, size: usize, options: MapOptions) -> Result<OpenedFile> {
    let MapOptions { shared, readonly, create, grow, offset } = options;
    if readonly && (create || grow) {
        return Err(Error::argument("readonly", "True", "False where a file is made or made longer"));
    }
    if create && size == 0 {
        return Err(Error::argument("size", 0, "the number of elements of the file to make"));
    }
    let aligned = offset.is_multiple_of(dtype.alignment());
    if shared && !aligned {
        let multiple = format!("a multiple of {} for shared memory of this dtype", dtype.alignment());
        return Err(Error::argument("offset", offset, multiple));
    }
    let (file, created) = open_file(path, &options).map_err(|error| system_error(path, error))?;
    let bytes = prepare(&file, path, dtype, size, &options);
    if bytes.is_err() && created {
        // A file that could not be filled is removed; the first error is the one to report.
        let _ = std::fs::remove_file(path);
    }
    let bytes = bytes?;
    if !aligned {
        return Ok(OpenedFile::Misaligned(file, bytes));
    }
    let map = map(&file, path, bytes, &options).map_err(|error| system_error(path, error))?;
    Ok(OpenedFile::Mapped(map))
}

/// Maps all of a file that is open already. `path` is the name it was opened by.
pub fn map_all(file: &File, path: &Path, shared: bool, readonly: bool) -> Result<Map> {
    let options = MapOptions { shared, readonly, ..Default::default() };
    let bytes = prepare(file, path, DType::U8, 0, &options)?;
    map(file, path, bytes, &options).map_err(|error| system_error(path, error))
}

fn map(file: &File, path: &Path, bytes: usize, options: &MapOptions) -> io::Result<Map> {
    let MapOptions { shared, readonly, offset, .. } = *options;
    let mut request = MmapOptions::new();
    request.offset(offset as u64).len(bytes);
    let memory = match (shared, readonly) {
        (true, false) => request.map_raw(file)?,
        (true, true) => request.map_raw_read_only(file)?,
        // SAFETY: these calls are unsafe because the map derefs to a slice that others may write. It is converted into
        // a raw map at once, so that no slice is ever formed.
        (false, true) => unsafe { request.map_copy_read_only(file)? }.into(),
        // SAFETY: converted into a raw map at once, so that no slice is ever formed.
        (false, false) => unsafe { request.map_copy(file)? }.into(),
    };
    let kind = MapKind::File { path: std::path::absolute(path)?, offset, shared, readonly };
    Ok(Map { memory, identity: file_id(&file.metadata()?), kind })
}

/// Opens the file. Returns it and whether it was created.
fn open_file(path: &Path, options: &MapOptions) -> io::Result<(File, bool)> {
    let mut request = OpenOptions::new();
    request.read(true).write(options.shared && !options.readonly || options.create || options.grow);
    #[cfg(unix)]
    {
        // Opening a pipe that nobody writes to must not block; `prepare` refuses what is not a regular file.
        use std::os::unix::fs::OpenOptionsExt;
        request.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    }
    match request.open(path) {
        Err(missing) if missing.kind() == ErrorKind::NotFound && options.create => {}
        opened => return Ok((opened?, false)),
    }
    match request.create_new(true).open(path) {
        // Another process has created it meanwhile.
        Err(exists) if exists.kind() == ErrorKind::AlreadyExists => {
            Ok((request.create_new(false).open(path)?, false))
        }
        created => Ok((created?, true)),
    }
}

/// Returns the number of bytes to map. Makes the file that long if the options say so.
fn prepare(file: &File, path: &Path, dtype: DType, size: usize, options: &MapOptions) -> Result<usize> {
    let refuse = |what: String| Error::new(Problem::File { path: path.into(), what });
    let metadata = file.metadata().map_err(|error| system_error(path, error))?;
    if metadata.is_dir() {
        return Err(system_error(path, is_a_directory()));
    }
    if !metadata.is_file() {
        return Err(refuse("is no regular file and cannot be mapped".into()));
    }
    let (length, offset) = (metadata.len(), options.offset as u64);
    if size == 0 {
        let Some(left) = length.checked_sub(offset) else {
            return Err(refuse(format!("has {length} bytes; offset {offset} is beyond its end")));
        };
        if !left.is_multiple_of(dtype.size() as u64) {
            let (name, each) = (dtype.name(), dtype.size());
            return Err(refuse(format!(
                "has {left} bytes from byte {offset} on, no multiple of the {each} bytes of {name}; give a size"
            )));
        }
        let bytes =
            isize::try_from(left).map_err(|_| Error::new(Problem::OutOfMemory { bytes: usize::MAX }))?;
        return Ok(bytes as usize);
    }
    let bytes = size.checked_mul(dtype.size()).filter(|&bytes| bytes <= isize::MAX as usize);
    let end =
        bytes.and_then(|bytes| (bytes as u64).checked_add(offset)).filter(|&end| end <= i64::MAX as u64);
    let (Some(bytes), Some(end)) = (bytes, end) else {
        return Err(Error::new(Problem::TooLarge { shape: size.to_string() }));
    };
    if length >= end {
        return Ok(bytes);
    }
    if options.grow || options.create && length == 0 {
        extend(file, length, end).map_err(|error| system_error(path, error))?;
        return Ok(bytes);
    }
    Err(refuse(format!(
        "has {length} bytes, and {size} elements of {} from byte {offset} on need {end}; grow=True makes it longer",
        dtype.name()
    )))
}

/// Makes a file longer. Disk space is reserved where the system can do that: if the disk were full later on, a write to
/// the map would end the process.
fn extend(file: &File, from: u64, to: u64) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    match reserve(file, from, to) {
        Err(error) if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOSYS)) => {}
        Err(error) => {
            file.set_len(from)?; // gives back what was reserved before it failed
            return Err(error);
        }
        done => return done,
    }
    file.set_len(to).inspect_err(|_| {
        let _ = file.set_len(from);
    })
}

#[cfg(target_os = "linux")]
fn reserve(file: &File, from: u64, to: u64) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let descriptor = file.as_raw_fd();
    // SAFETY: `statvfs` is a plain C struct for which all zeros are valid, and `file` keeps the descriptor open.
    let (known, space) = unsafe {
        let mut space: libc::statvfs = std::mem::zeroed();
        (libc::fstatvfs(descriptor, &mut space) == 0, space)
    };
    #[allow(clippy::unnecessary_cast)] // the fields are narrower on other systems
    let (unit, free) = (space.f_frsize as u64, space.f_bavail as u64);
    // Checked first: an absurd size would otherwise fill the disk before it fails.
    if known && (to - from) / unit.max(1) > free {
        return Err(io::Error::from_raw_os_error(libc::ENOSPC));
    }
    loop {
        // SAFETY: `file` keeps the descriptor open; nothing is passed by address.
        if unsafe { libc::fallocate(descriptor, 0, from as libc::off_t, (to - from) as libc::off_t) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

#[cfg(unix)]
fn file_id(metadata: &Metadata) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn file_id(_: &Metadata) -> Option<FileId> {
    None
}

#[cfg(unix)]
fn is_a_directory() -> io::Error {
    io::Error::from_raw_os_error(libc::EISDIR)
}

#[cfg(not(unix))]
fn is_a_directory() -> io::Error {
    ErrorKind::IsADirectory.into()
}

/// The error of a system call about a file; an empty path stands for none.
pub fn system_error(path: impl AsRef<Path>, error: io::Error) -> Error {
    let path = path.as_ref().into();
    Error::new(match error.raw_os_error() {
        Some(code) => Problem::System { path, code },
        None => Problem::File { path, what: format!("cannot be used: {error}") },
    })
}

//! Files as memory: a storage on a mapped file, and what a map knows of its file.
//!
//! A file that someone else makes shorter takes its pages away from everybody who has mapped it, and the
//! system ends a process that touches them: the one thing about memory that nobody here can check.

use crate::dtype::DType;
use crate::error::{Error, Problem, Result};
use crate::storage::{Fill, Storage};
use memmap2::{MmapOptions, MmapRaw};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Memory that the system shares with a file, or with other processes.
pub struct Map {
    memory: MmapRaw,
    identity: Option<Identity>,
    pub kind: Kind,
}

/// Device and number of a file, where the system tells.
pub type Identity = (u64, u64);

/// What lies behind a map.
pub enum Kind {
    /// A file of the user's, by its full path, from an offset on.
    File { path: PathBuf, offset: usize, shared: bool, readonly: bool },
    /// Memory without a name, which other processes get with its descriptor.
    Nameless(File),
}

impl Map {
    /// The map of a file that has no name.
    pub fn nameless(file: File, length: usize) -> io::Result<Map> {
        let memory = MmapOptions::new().len(length).map_raw(&file)?;
        Ok(Map { memory, identity: identity(&file.metadata()?), kind: Kind::Nameless(file) })
    }

    pub fn start(&self) -> *mut u8 {
        self.memory.as_mut_ptr()
    }

    /// Length in bytes.
    pub fn length(&self) -> usize {
        self.memory.len()
    }

    pub fn identity(&self) -> Option<Identity> {
        self.identity
    }

    pub fn is_readonly(&self) -> bool {
        matches!(self.kind, Kind::File { readonly: true, .. })
    }

    /// Whether other processes see what is written.
    pub fn is_shared(&self) -> bool {
        !matches!(self.kind, Kind::File { shared: false, .. })
    }

    /// Whether two maps may be the same memory at different addresses.
    pub fn may_alias(&self, other: &Map) -> bool {
        !std::ptr::eq(self, other) && self.identity == other.identity
    }

    /// Waits until what was written has reached the file.
    pub fn flush(&self) -> Result<()> {
        match &self.kind {
            Kind::File { path, shared: false, .. } => {
                let what = "is mapped privately: what is written never reaches the file".into();
                Err(Error::new("flush", Problem::File { path: path.into(), what }))
            }
            Kind::File { readonly: true, .. } | Kind::Nameless(_) => Ok(()),
            Kind::File { path, .. } => self.memory.flush().map_err(|error| failed(path, error)),
        }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        if let (Kind::Nameless(_), Some(identity)) = (&self.kind, self.identity) {
            crate::storage::shm::forget(identity);
        }
    }
}

/// How a file is mapped.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// What is written goes to the file, and what others write to it shows. Else it stays here.
    pub shared: bool,
    pub readonly: bool,
    /// Makes the file if there is none.
    pub create: bool,
    /// Makes the file longer if it is too short.
    pub grow: bool,
    /// Where the elements begin, in bytes.
    pub offset: usize,
}

/// A storage on `size` elements of a file, or on all there are if `size` is 0.
///
/// Where elements of the dtype cannot lie at the offset, a private map is replaced by a copy in memory.
///
/// ```
/// use strided_core::{DType, mapped};
/// let path = std::env::temp_dir().join(format!("strided-example-{}", std::process::id()));
/// let options = mapped::Options { shared: true, create: true, ..Default::default() };
/// let storage = mapped::open(&path, DType::F32, 3, options).unwrap();
/// assert_eq!((storage.length(), std::fs::metadata(&path).unwrap().len()), (12, 12));
/// std::fs::remove_file(&path).unwrap();
/// ```
pub fn open(path: &Path, dtype: DType, size: usize, options: Options) -> Result<Storage> {
    let Options { shared, readonly, create, grow, offset } = options;
    if readonly && (create || grow) {
        return Err(Error::argument("", "readonly", "True", "False where a file is made or made longer"));
    }
    if create && size == 0 {
        return Err(Error::argument("", "size", 0, "the number of elements of the file to make"));
    }
    let aligned = offset.is_multiple_of(dtype.alignment());
    if shared && !aligned {
        let multiple = format!("a multiple of {} for shared memory of this dtype", dtype.alignment());
        return Err(Error::argument("", "offset", offset, multiple));
    }
    let (file, made) = open_file(path, &options).map_err(|error| failed(path, error))?;
    let bytes = prepare(&file, path, dtype, size, &options);
    if bytes.is_err() && made {
        // What could not be filled goes again; that it cannot go either is not what the caller asks about.
        let _ = std::fs::remove_file(path);
    }
    let bytes = bytes?;
    if !aligned {
        return read_copy(file, path, bytes, offset, readonly);
    }
    let map = map(&file, path, bytes, &options).map_err(|error| failed(path, error))?;
    Storage::mapped(Arc::new(map), 0, bytes)
}

fn map(file: &File, path: &Path, bytes: usize, options: &Options) -> io::Result<Map> {
    let Options { shared, readonly, offset, .. } = *options;
    let mut how = MmapOptions::new();
    how.offset(offset as u64).len(bytes);
    let memory = match (shared, readonly) {
        (true, false) => how.map_raw(file)?,
        (true, true) => how.map_raw_read_only(file)?,
        // SAFETY: transposed into a raw map at once, so that no slice is ever formed over what others may write.
        (false, true) => unsafe { how.map_copy_read_only(file)? }.into(),
        // SAFETY: as above.
        (false, false) => unsafe { how.map_copy(file)? }.into(),
    };
    let kind = Kind::File { path: std::path::absolute(path)?, offset, shared, readonly };
    Ok(Map { memory, identity: identity(&file.metadata()?), kind })
}

/// The file, and whether it was made.
fn open_file(path: &Path, options: &Options) -> io::Result<(File, bool)> {
    let mut how = OpenOptions::new();
    how.read(true).write(options.shared && !options.readonly || options.create || options.grow);
    #[cfg(unix)]
    {
        // A pipe without a writer must not make us wait: what is no file is refused afterwards.
        use std::os::unix::fs::OpenOptionsExt;
        how.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    }
    match how.open(path) {
        Err(missing) if missing.kind() == ErrorKind::NotFound && options.create => {}
        opened => return Ok((opened?, false)),
    }
    match how.create_new(true).open(path) {
        // Someone else was faster.
        Err(there) if there.kind() == ErrorKind::AlreadyExists => {
            Ok((how.create_new(false).open(path)?, false))
        }
        made => Ok((made?, true)),
    }
}

/// The number of bytes to map; makes the file that long where that is wanted.
fn prepare(file: &File, path: &Path, dtype: DType, size: usize, options: &Options) -> Result<usize> {
    let refuse = |what: String| Error::new("", Problem::File { path: path.into(), what });
    let about = file.metadata().map_err(|error| failed(path, error))?;
    if about.is_dir() {
        return Err(failed(path, directory()));
    }
    if !about.is_file() {
        return Err(refuse("is no regular file and cannot be mapped".into()));
    }
    let (length, offset) = (about.len(), options.offset as u64);
    if size == 0 {
        let Some(left) = length.checked_sub(offset) else {
            return Err(refuse(format!("has {length} bytes; offset {offset} lies behind its end")));
        };
        if !left.is_multiple_of(dtype.size() as u64) {
            let (name, each) = (dtype.name(), dtype.size());
            return Err(refuse(format!(
                "has {left} bytes from byte {offset} on, no multiple of the {each} bytes of {name}; give a size"
            )));
        }
        let bytes =
            isize::try_from(left).map_err(|_| Error::new("", Problem::OutOfMemory { bytes: usize::MAX }))?;
        return Ok(bytes as usize);
    }
    let bytes = size.checked_mul(dtype.size()).filter(|&bytes| bytes <= isize::MAX as usize);
    let end =
        bytes.and_then(|bytes| (bytes as u64).checked_add(offset)).filter(|&end| end <= i64::MAX as u64);
    let (Some(bytes), Some(end)) = (bytes, end) else {
        return Err(Error::new("", Problem::TooLarge { shape: size.to_string() }));
    };
    if length >= end {
        return Ok(bytes);
    }
    if options.grow || options.create && length == 0 {
        lengthen(file, length, end).map_err(|error| failed(path, error))?;
        return Ok(bytes);
    }
    Err(refuse(format!(
        "has {length} bytes, and {size} elements of {} from byte {offset} on need {end}; grow=True makes it longer",
        dtype.name()
    )))
}

/// Makes a file longer. Where the system can, the room is reserved: a disk that is full later on would end the
/// process that writes.
fn lengthen(file: &File, from: u64, to: u64) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    match reserve(file, from, to) {
        Err(error) if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOSYS)) => {}
        Err(error) => {
            file.set_len(from)?; // what was reserved before it failed
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
    // SAFETY: all zeros are a value of this plain struct, and the descriptor is open.
    let (known, room) = unsafe {
        let mut room: libc::statvfs = std::mem::zeroed();
        (libc::fstatvfs(descriptor, &mut room) == 0, room)
    };
    #[allow(clippy::unnecessary_cast)] // they are smaller elsewhere
    let (unit, free) = (room.f_frsize as u64, room.f_bavail as u64);
    // Asked first, so that a size beyond all disks does not fill this one before it fails.
    if known && (to - from) / unit.max(1) > free {
        return Err(io::Error::from_raw_os_error(libc::ENOSPC));
    }
    loop {
        // SAFETY: the descriptor is open; nothing else is passed by address.
        if unsafe { libc::fallocate(descriptor, 0, from as libc::off_t, (to - from) as libc::off_t) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// The bytes of a file in memory of our own.
fn read_copy(mut file: File, path: &Path, bytes: usize, offset: usize, readonly: bool) -> Result<Storage> {
    let mut storage = Storage::new(bytes, Fill::Zero)?;
    let start = storage.exclusive_start().expect("a new storage is nobody else's");
    // SAFETY: the storage was just made with that many zero bytes, and nobody else knows it.
    let memory = unsafe { std::slice::from_raw_parts_mut(start, bytes) };
    let read = file.seek(SeekFrom::Start(offset as u64)).and_then(|_| file.read_exact(memory));
    read.map_err(|error| failed(path, error))?;
    Ok(if readonly { storage.into_readonly() } else { storage })
}

#[cfg(unix)]
fn identity(about: &Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    Some((about.dev(), about.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Option<Identity> {
    None
}

#[cfg(unix)]
fn directory() -> io::Error {
    io::Error::from_raw_os_error(libc::EISDIR)
}

#[cfg(not(unix))]
fn directory() -> io::Error {
    ErrorKind::IsADirectory.into()
}

/// What the system refused, about which file.
pub fn failed(path: impl AsRef<Path>, error: io::Error) -> Error {
    let path = path.as_ref().into();
    Error::new(
        "",
        match error.raw_os_error() {
            Some(code) => Problem::System { path, code },
            None => Problem::File { path, what: format!("cannot be used: {error}") },
        },
    )
}

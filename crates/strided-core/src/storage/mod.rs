//! Bytes with an owner, and the only source of pointers to their elements.
//!
//! A [`Storage`] is a shared handle on a header of one cache line; the bytes of small storages follow it in the same
//! block. `mmap` maps files, `shm` allocates memory that processes share, `device` names the places where bytes can be, `buffer` says
//! who owns the bytes, `state` counts their users, `off_host` makes and checks storages on devices. Each of these files uses only
//! those before it; this one uses all of them.
//!
//! # Pins, exports and exchanged memory
//!
//! * An operation *pins* its storages while it touches elements. A pin checks the layout against the present length,
//!   the alignment and the right to write, and is the only source of element pointers: a tensor whose storage has
//!   shrunk raises, and never reads freed memory.
//! * A buffer that is handed out (NumPy, `memoryview`) *exports* the storage for as long as it lives. An address that
//!   is handed out without a way to return it (`__array_interface__`) is a permanent export.
//! * `resize_` and `share_memory_` exchange the memory. They refuse while there are exports. Otherwise they set the
//!   closing bit, wait until no pin is left, swap the memory and clear the bit; a thread that tries to pin
//!   meanwhile waits. `Storage::exchange` is the one function that does this.
//!
//! * The owner of borrowed memory may *invalidate* the storage, which exchanges the memory for none in the same way, and
//!   then drops the owner. From then on every pin on an element fails, since it is outside of zero bytes: the check
//!   costs nothing while the memory is valid. Operations on zero elements need no memory, and are not refused.
//!
//! * Memory of a *device* cannot be addressed by the host: to the host it is zero bytes, so that every pin on an element fails in the
//!   same way. Only `length` and `check_elements` know its real length.
//!
//! No thread waits forever. Pins are short, and a thread that holds one waits for no lock, for no interpreter and for
//! no second pin: [`pin_each`](crate::tensor::pin_each) takes all pins of a call or none. The exception is a call that
//! takes seconds, which asks the interpreter from time to time whether it was interrupted. So a thread that has closed
//! a storage waits for 50 ms at most, then opens it for a moment and tries again.
//!
//! # Elements that several threads access at once
//!
//! Any number of threads may use one storage, also while one of them writes to it. Storages have no lock: a program
//! that needs a particular result from conflicting accesses must synchronise them.
//!
//! Promised, whatever the threads do:
//! * no access outside the memory of a storage, and none to memory that was freed, resized or unmapped by this
//!   library: every pointer comes from a pin, and a pin keeps the memory in place;
//! * shape, strides, offset, dtype and length are never torn: layouts are immutable values, which a call copies before
//!   it releases the interpreter, and address and length change only while the storage is closed;
//! * no panic and no trap that depends on an element: divisors and shift counts are made valid on the value that was
//!   loaded for the operation (`scalar::divisor`), not only by a check before it. Indices must be clamped in the same
//!   way.
//!
//! Not promised:
//! * which value an element has after, or is read as during, conflicting writes: the result of an operation may mix
//!   elements from before and after a write of another thread;
//! * that an element is read or written as one: a complex128 may have the real part of one write and the imaginary
//!   part of another. (Elements of up to 8 bytes are not torn on the CPUs this is built for.)
//!
//! Why this is sound enough. By the letter of Rust's memory model a data race is undefined behaviour, and making
//! every element access atomic would forbid vectorisation. Three rules keep the consequences to wrong numbers.
//! Kernels reach tensor memory by raw pointers only, never through `&` or `&mut`, so that the compiler may not assume
//! that the memory is constant or unshared. Every bit pattern is a valid value of every dtype; a bool is a byte that
//! reads as true if it is not 0. What the compiler makes of a racing load is then some value of the dtype, and no
//! control flow or address relies on two loads of an element being equal. NumPy and PyTorch take the same stance on
//! elements, and neither protects a reader from a concurrent resize.

mod buffer;
mod device;
pub mod mmap;
mod off_host;
pub mod shm;
mod state;
#[cfg(test)]
mod tests;
mod transfer;

pub use buffer::Owner;
pub use device::{Device, DeviceMemory, not_on_host};
pub use transfer::{BYTES_PER_SYSTEM_CALL, replace_file};

use crate::alloc;
use crate::alloc::out_of_memory;
use crate::dtype::DType;
use crate::error::{Error, Problem, Result};
use crate::layout::Layout;
use crate::threads;
use buffer::{Backing, Buffer};
use mmap::{Map, MapOptions, OpenedFile};
use state::{Pin, State};
use std::cell::UnsafeCell;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*, fence};
use std::time::Duration;

/// The initial bytes of a new storage.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    Zero,
    /// Whatever the allocator returned.
    Uninitialized,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

/// One cache line; small storages have their bytes right after it.
#[repr(C, align(64))]
struct Header {
    handles: AtomicUsize,
    state: State,
    /// Read under a pin; written by the thread that has closed the storage and seen the last pin go.
    buffer: UnsafeCell<Buffer>,
    /// Size of the block that holds this header.
    block_bytes: u32,
    readonly: bool,
    /// Where the bytes are, by [`Device::code`]. It never changes.
    device: u8,
    /// Whether the address was handed out and cannot be returned.
    exported_permanently: AtomicBool,
    /// Whether the storage owns its buffer, for readers without a pin. Once false, it stays false.
    owned: AtomicBool,
}

const HEADER_BYTES: usize = size_of::<Header>();
const _: () = assert!(HEADER_BYTES == 64, "a header is one cache line");
/// How long a closed storage waits for its last pin before it is opened again.
const CLOSING_PATIENCE: Duration = Duration::from_millis(50);

/// A shared handle on bytes in memory. A storage is the whole of its memory: a view of a part of it is a tensor, since
/// resizing, identity and pickling are about whole storages.
pub struct Storage(NonNull<Header>);

// SAFETY: the handle count and the state are atomic; `buffer` is accessed under a pin or while the storage is closed.
unsafe impl Send for Storage {}
// SAFETY: shared handles use the same atomics, and `buffer` as above.
unsafe impl Sync for Storage {}

/// Constructors.
impl Storage {
    /// Allocates memory of its own on a device.
    #[inline(always)]
    pub fn new_on(device: Device, bytes: usize, fill: Fill) -> Result<Storage> {
        match device {
            Device::Cpu => Storage::new(bytes, fill),
            device => Storage::new_off_host(device, bytes, fill),
        }
    }

    /// Allocates memory of its own on the host.
    #[inline]
    pub fn new(bytes: usize, fill: Fill) -> Result<Storage> {
        let zeroed = fill == Fill::Zero;
        if bytes <= alloc::MAX_SMALL_BYTES - HEADER_BYTES {
            let size = (HEADER_BYTES + bytes + alloc::ALIGN - 1) & !(alloc::ALIGN - 1);
            let block = alloc::allocate(size, false).ok_or_else(|| out_of_memory(bytes))?;
            // SAFETY: the block has `size` bytes: the header, and `bytes` bytes or more after it.
            let start = unsafe { block.add(HEADER_BYTES) };
            if zeroed {
                // SAFETY: `size - HEADER_BYTES` bytes of the block follow the header.
                unsafe { start.write_bytes(0, size - HEADER_BYTES) };
            }
            let buffer = Buffer { start, length: bytes, backing: Backing::Inline };
            return Ok(Storage::from_parts(block, size, buffer, false));
        }
        let buffer = Buffer::new_block(bytes, zeroed)?;
        match alloc::allocate(HEADER_BYTES, false) {
            Some(block) => Ok(Storage::from_parts(block, HEADER_BYTES, buffer, false)),
            None => {
                buffer.free();
                Err(out_of_memory(bytes))
            }
        }
    }

    /// A storage on memory that `owner` keeps alive.
    ///
    /// # Safety
    /// `bytes` points to `length` bytes that stay readable, and writable unless `readonly`, until `owner` is dropped.
    /// If `length` is 0, `bytes` may be anything.
    pub unsafe fn foreign(
        bytes: *mut u8,
        length: usize,
        readonly: bool,
        owner: Box<dyn Owner>,
    ) -> Result<Storage> {
        let start = NonNull::new(bytes).unwrap_or(NonNull::<Header>::dangling().cast());
        Storage::with_header(Buffer { start, length, backing: Backing::Foreign(owner) }, readonly)
    }

    /// A storage on `length` bytes of a map from byte `offset` on. Refuses bytes outside the map.
    pub fn mapped(map: Arc<Map>, offset: usize, length: usize) -> Result<Storage> {
        if offset > map.length() || length > map.length() - offset {
            let saturated = |byte: usize| byte.min(isize::MAX as usize) as isize;
            let (first, last) = (saturated(offset), saturated(offset.saturating_add(length)) - 1);
            return Err(Error::new(Problem::OutsideStorage { first, last, length: map.length() }));
        }
        let readonly = map.is_readonly();
        Storage::with_header(Buffer::mapped(map, offset, length), readonly)
    }

    /// A storage on `size` elements of a file, or on all of them if `size` is 0.
    ///
    /// If the offset is not aligned for the dtype, the storage is a copy of the bytes instead of a private map.
    ///
    /// ```
    /// use strided_core::{DType, Storage, storage::mmap::MapOptions};
    /// let path = std::env::temp_dir().join(format!("strided-example-{}", std::process::id()));
    /// let options = MapOptions { shared: true, create: true, ..Default::default() };
    /// let storage = Storage::from_file(&path, DType::F32, 3, options).unwrap();
    /// assert_eq!((storage.length(), std::fs::metadata(&path).unwrap().len()), (12, 12));
    /// std::fs::remove_file(&path).unwrap();
    /// ```
    pub fn from_file(path: &Path, dtype: DType, size: usize, options: MapOptions) -> Result<Storage> {
        match mmap::open(path, dtype, size, options)? {
            OpenedFile::Mapped(map) => {
                let bytes = map.length();
                Storage::mapped(Arc::new(map), 0, bytes)
            }
            OpenedFile::Misaligned(file, bytes) => {
                let storage = Storage::read_from(&file, path, options.offset as u64, bytes)?;
                Ok(if options.readonly { storage.into_readonly() } else { storage })
            }
        }
    }

    /// A storage on all the shared memory behind a descriptor that another process has sent. The descriptor stays the
    /// caller's.
    #[cfg(unix)]
    pub fn from_descriptor(descriptor: std::os::fd::BorrowedFd<'_>) -> Result<Storage> {
        let map = shm::from_descriptor(descriptor)?;
        let length = map.length();
        Storage::mapped(map, 0, length)
    }

    /// Makes the storage read-only. Panics if there is another handle on it.
    pub fn into_readonly(mut self) -> Storage {
        assert!(self.header().handles.load(Acquire) == 1, "another handle may be writing");
        // SAFETY: the only handle is owned here, as asserted, so that nobody else reads the header.
        unsafe { self.0.as_mut() }.readonly = true;
        self
    }

    /// Allocates a header for a buffer that is elsewhere.
    fn with_header(buffer: Buffer, readonly: bool) -> Result<Storage> {
        let block = alloc::allocate(HEADER_BYTES, false).ok_or_else(|| out_of_memory(HEADER_BYTES))?;
        Ok(Storage::from_parts(block, HEADER_BYTES, buffer, readonly))
    }

    /// Writes the header into a new block of `size` bytes, of which there are at least [`HEADER_BYTES`].
    #[inline]
    fn from_parts(block: NonNull<u8>, size: usize, buffer: Buffer, readonly: bool) -> Storage {
        let header = block.cast::<Header>();
        let (owned, device) = (buffer.is_owned(), buffer.device().code());
        let value = Header {
            handles: AtomicUsize::new(1),
            state: State::new(),
            buffer: UnsafeCell::new(buffer),
            block_bytes: size as u32,
            readonly,
            device,
            exported_permanently: AtomicBool::new(false),
            owned: AtomicBool::new(owned),
        };
        // SAFETY: the callers have just allocated the block, large enough for a header; blocks are aligned to a cache
        // line.
        unsafe { header.write(value) };
        Storage(header)
    }

    #[inline(always)]
    fn header(&self) -> &Header {
        // SAFETY: the header is freed with the last handle, and `self` is one.
        unsafe { self.0.as_ref() }
    }
}

/// Properties.
impl Storage {
    /// Whether both are handles on the same bytes.
    #[inline]
    pub fn is(&self, other: &Storage) -> bool {
        self.0 == other.0
    }

    /// A number that no other living storage has.
    pub fn id(&self) -> usize {
        self.0.as_ptr() as usize
    }

    /// Where the bytes are.
    #[inline(always)]
    pub fn device(&self) -> Device {
        Device::from_code(self.header().device)
    }

    pub fn is_readonly(&self) -> bool {
        self.header().readonly
    }

    /// Whether the storage owns its memory: it is neither foreign nor mapped.
    #[inline]
    pub fn is_owned(&self) -> bool {
        self.header().owned.load(Relaxed)
    }

    /// The map that the storage is in, and the offset in it.
    pub fn map(&self) -> Option<(Arc<Map>, usize)> {
        if self.is_owned() {
            return None;
        }
        let _pinned = self.pin_buffer();
        // SAFETY: the pin keeps the buffer from being exchanged.
        let buffer = unsafe { &*self.header().buffer.get() };
        match &buffer.backing {
            Backing::Mapped(map) => {
                Some((map.clone(), buffer.start.as_ptr() as usize - map.start() as usize))
            }
            _ => None,
        }
    }

    /// Whether other processes see what is written.
    pub fn is_shared(&self) -> bool {
        self.map().is_some_and(|(map, _)| map.is_shared())
    }

    /// Whether both may be the same memory at different addresses: two maps of one file.
    pub fn may_alias(&self, other: &Storage) -> bool {
        let (Some((map, _)), Some((other, _))) = (self.map(), other.map()) else { return false };
        map.may_alias(&other)
    }

    /// Refuses memory that its owner has taken back.
    pub fn check_valid(&self) -> Result<()> {
        self.valid_length().map(drop)
    }

    /// [`Storage::length`], unless the owner has taken the memory back.
    pub fn valid_length(&self) -> Result<usize> {
        match self.length() {
            0 if self.is_invalidated() => Err(Error::new(Problem::Invalidated)),
            length => Ok(length),
        }
    }

    #[cold]
    fn is_invalidated(&self) -> bool {
        let _pinned = self.pin_buffer();
        // SAFETY: the pin keeps the buffer from being exchanged.
        unsafe { &*self.header().buffer.get() }.is_invalidated()
    }

    /// Length in bytes; 0 if the owner has taken the memory back.
    pub fn length(&self) -> usize {
        let pinned = self.pin_buffer();
        if self.device() == Device::Cpu {
            return pinned.length;
        }
        // SAFETY: the pin keeps the buffer from being exchanged.
        unsafe { &*self.header().buffer.get() }.full_length()
    }

    /// The address of the first byte at this moment; a resize may move it. Refuses memory that the host cannot address.
    pub fn address(&self) -> Result<usize> {
        Ok(self.pin_all()?.start as usize)
    }
}

/// Access to the bytes.
impl Storage {
    /// Pins all bytes. Waits while the storage is closed, so the caller must hold no other pin: see
    /// [`Storage::try_pin`]. Refuses memory that the host cannot address.
    #[inline]
    pub fn pin_all(&self) -> Result<PinnedBytes<'_>> {
        match self.device() {
            Device::Cpu => Ok(self.pin_buffer()),
            device => Err(not_on_host(device)),
        }
    }

    /// Keeps the buffer from being exchanged. To the host, memory of a device is zero bytes.
    #[inline]
    fn pin_buffer(&self) -> PinnedBytes<'_> {
        loop {
            match self.try_pin_all() {
                Some(pinned) => return pinned,
                None => self.wait_until_open(),
            }
        }
    }

    #[inline]
    fn try_pin_all(&self) -> Option<PinnedBytes<'_>> {
        let pin = self.header().state.try_pin()?;
        // SAFETY: the pin keeps the buffer from being exchanged.
        let buffer = unsafe { &*self.header().buffer.get() };
        Some(PinnedBytes { start: buffer.start.as_ptr(), length: buffer.length, pin })
    }

    /// Waits while another thread exchanges the memory. The caller must hold no pin at all.
    #[cold]
    pub fn wait_until_open(&self) {
        self.header().state.wait_until_open();
    }

    /// Pins the elements of a layout: the only source of element pointers. `None` if another thread is about to
    /// exchange the memory; a caller that holds other pins must then drop them before it waits
    /// ([`crate::tensor::pin_each`] does that).
    ///
    /// Refuses a layout with locations outside the storage's present length, an address that is not aligned for the
    /// dtype, and writing to read-only memory. Memory of a device fails the check of the locations, so that host memory pays
    /// nothing for it.
    #[inline]
    pub fn try_pin(&self, layout: &Layout, dtype: DType, access: Access) -> Result<Option<Pinned<'_>>> {
        match layout.bounds() {
            Some((low, high)) => self.try_pin_between(low, high, layout.offset(), dtype, access),
            // Without elements no location has to be checked.
            None => self.try_pin_between(0, -1, 0, dtype, access),
        }
    }

    /// [`Storage::try_pin`] for the one element at a location.
    #[inline]
    pub fn try_pin_at(&self, location: isize, dtype: DType, access: Access) -> Result<Option<Pinned<'_>>> {
        self.try_pin_between(location, location, location, dtype, access)
    }

    /// Pins the elements at locations `low` to `high`; the pointer is that of location `origin`. Always inlined: a call of
    /// its own takes a tenth of the time of `x[3, 4] = 1.0`.
    #[inline(always)]
    fn try_pin_between(
        &self,
        low: isize,
        high: isize,
        origin: isize,
        dtype: DType,
        access: Access,
    ) -> Result<Option<Pinned<'_>>> {
        if access == Access::Write && self.header().readonly {
            return Err(Error::new(Problem::ReadOnly));
        }
        let Some(pinned) = self.try_pin_all() else { return Ok(None) };
        let size = dtype.size() as isize;
        // The product does not overflow: `Layout` keeps locations below `isize::MAX / 16`.
        let inside = (low >= 0) & ((high + 1) * size <= pinned.length as isize);
        let aligned = pinned.start as usize & (dtype.alignment() - 1) == 0;
        if inside & (aligned | (high < 0)) {
            return Ok(Some(Pinned {
                origin: pinned.start.wrapping_offset(origin * size),
                _pin: pinned.pin,
            }));
        }
        Err(self.pin_error(&pinned, (low, high), inside, dtype))
    }

    /// Why elements at locations `low` to `high` cannot be pinned: the storage is invalid, too short, or not aligned for the
    /// dtype.
    #[cold]
    fn pin_error(
        &self,
        pinned: &PinnedBytes<'_>,
        (low, high): (isize, isize),
        inside: bool,
        dtype: DType,
    ) -> Error {
        // SAFETY: the pin keeps the buffer from being exchanged.
        let problem = if unsafe { &*self.header().buffer.get() }.is_invalidated() {
            Problem::Invalidated
        } else if self.device() != Device::Cpu {
            return not_on_host(self.device());
        } else if inside {
            Problem::Misaligned { what: "address", got: pinned.start as isize, size: dtype.alignment() }
        } else {
            Problem::OutsideStorage { first: low, last: high, length: pinned.length / dtype.size() }
        };
        Error::new(problem)
    }

    /// The first byte, if this is the only handle on the storage: then no pin is needed. `None` for memory that the host cannot
    /// address, too.
    #[inline(always)]
    pub fn exclusive_start(&mut self) -> Option<*mut u8> {
        if self.device() != Device::Cpu {
            return None;
        }
        let header = self.header();
        // SAFETY: pins borrow a handle and exports keep one. With a single handle, borrowed mutably here, nobody else
        // accesses the buffer.
        (header.handles.load(Acquire) == 1).then(|| unsafe { &*header.buffer.get() }.start.as_ptr())
    }

    /// Forbids exchanging the memory until [`Storage::unexport`] is called as often as this.
    pub fn export(&self) {
        self.header().state.export();
    }

    /// Takes back one [`Storage::export`].
    pub fn unexport(&self) {
        self.header().state.unexport();
    }

    /// Forbids exchanging the memory forever, because an address was handed out that cannot be returned.
    pub fn export_permanently(&self) {
        self.export(); // before the flag is set: a thread that sees the flag may rely on the address
        if self.header().exported_permanently.swap(true, AcqRel) {
            self.unexport();
        }
    }
}

/// Exchange of the memory.
impl Storage {
    /// Changes the length. The common prefix is kept, new bytes are zero. Waits for running operations.
    pub fn resize(&self, bytes: usize) -> Result<()> {
        self.change_length(|_| bytes)
    }

    /// Makes the storage at least this long; it never shrinks.
    pub fn grow(&self, bytes: usize) -> Result<()> {
        if self.length() >= bytes { Ok(()) } else { self.change_length(|length| length.max(bytes)) }
    }

    /// Refuses a storage that is shorter and cannot grow: its memory is read-only, exported or not its own.
    pub fn check_growth(&self, bytes: usize) -> Result<()> {
        if self.length() >= bytes {
            return Ok(());
        }
        if self.is_readonly() {
            return Err(Error::new(Problem::ReadOnly));
        }
        let header = self.header();
        let exports = header.state.exports();
        if exports > 0 {
            return Err(self.export_error(exports));
        }
        if self.device() == Device::Test {
            return Err(not_on_host(self.device()));
        }
        if self.is_owned() {
            return Ok(());
        }
        self.check_valid()?;
        let problem = if self.map().is_some() { Problem::Mapped } else { Problem::NotOwned };
        Err(Error::new(problem))
    }

    fn change_length(&self, new_length: impl FnOnce(usize) -> usize) -> Result<()> {
        if self.is_readonly() {
            return Err(Error::new(Problem::ReadOnly));
        }
        self.exchange(|buffer| buffer.resize(new_length(buffer.full_length())))
    }

    /// Moves the bytes into memory that processes share. Waits for running operations.
    pub fn share(&self) -> Result<()> {
        if self.is_shared() {
            return Ok(());
        }
        if !self.is_owned() {
            self.check_valid()?;
            return Err(Error::new(Problem::NotMovable));
        }
        self.exchange(|buffer| {
            buffer.share()?;
            self.header().owned.store(false, Relaxed);
            Ok(())
        })
    }

    /// Takes the memory away from all tensors on it, and drops its owner. Waits for running operations. Does nothing if
    /// that was done before.
    pub fn invalidate(&self) -> Result<()> {
        let mut taken = None;
        let exchanged = self.exchange(|buffer| {
            if !buffer.is_invalidated() {
                self.header().owned.store(false, Relaxed);
                taken = Some(std::mem::replace(buffer, Buffer::INVALIDATED));
            }
            Ok(())
        });
        match taken {
            // Only now, when the storage is open again: dropping the owner may run any code.
            Some(buffer) => buffer.free(),
            None if self.is_invalidated() => {}
            None => return exchanged,
        }
        Ok(())
    }

    /// Calls `change` while nobody else can access the buffer. Refuses while there are exports.
    ///
    /// Three threads may wait in a circle: this one for the holder of a pin, that holder for the interpreter, and the
    /// thread that holds the interpreter for this storage to open. So after [`CLOSING_PATIENCE`] the storage is opened
    /// for a moment, which lets the third thread finish, and closed again.
    fn exchange(&self, change: impl FnOnce(&mut Buffer) -> Result<()>) -> Result<()> {
        let header = self.header();
        loop {
            let closed = header.state.close().map_err(|exports| self.export_error(exports))?;
            if closed.wait_for_pins(CLOSING_PATIENCE) {
                // SAFETY: this thread has closed the storage, and the last pin is gone: nobody else reads or writes
                // the buffer until `closed` is dropped.
                return change(unsafe { &mut *header.buffer.get() });
            }
            drop(closed);
            if threads::in_call() {
                return Err(Error::new(Problem::InUse)); // the pin is this thread's own, further up its stack
            }
            std::thread::sleep(CLOSING_PATIENCE / 10);
        }
    }

    fn export_error(&self, exports: usize) -> Error {
        let permanently = self.header().exported_permanently.load(Relaxed);
        Error::new(if permanently { Problem::AddressTaken } else { Problem::Exported { exports } })
    }
}

impl Clone for Storage {
    #[inline]
    fn clone(&self) -> Storage {
        self.header().handles.fetch_add(1, Relaxed);
        Storage(self.0)
    }
}

impl Drop for Storage {
    #[inline]
    fn drop(&mut self) {
        // If this is the only handle, nobody can clone it meanwhile: no atomic decrement is needed.
        let handles = &self.header().handles;
        if handles.load(Acquire) != 1 && handles.fetch_sub(1, Release) != 1 {
            return;
        }
        fence(Acquire);
        // SAFETY: this was the last handle. Pins borrow a handle and exports keep one, so that there are none. The
        // block was allocated with `header.block_bytes` bytes by `Storage::new` or `with_header`.
        unsafe {
            let header = self.0.read();
            header.buffer.into_inner().free();
            alloc::release(self.0.cast(), header.block_bytes as usize);
        }
    }
}

/// A pin on a whole storage: while it lives, the bytes stay where they are.
pub struct PinnedBytes<'a> {
    pub start: *mut u8,
    pub length: usize,
    pin: Pin<'a>,
}

/// A pin on the elements of one layout.
pub struct Pinned<'a> {
    /// Address of the element whose indices are all zero (dangling for a layout without elements).
    pub origin: *mut u8,
    _pin: Pin<'a>,
}

// SAFETY: a pin is a count in an atomic. The pointer is plain data here; kernels, which dereference it, state their own
// conditions.
unsafe impl Send for Pinned<'_> {}

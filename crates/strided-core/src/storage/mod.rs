//! A flat run of bytes with an owner, and the only door to its elements.
//!
//! ```text
//! state:  closing (1 bit) | exports (31 bits) | pins (32 bits)
//! ```
//! An operation *pins* a storage while it touches elements; a buffer handed out *exports* it. A resize
//! refuses while there are exports; otherwise it sets the closing bit, waits until no pins are left,
//! swaps the memory and clears the bit. Whoever wants to pin meanwhile waits. Pins are short, and their
//! holders wait for nothing before they let go (no lock, no interpreter, no second pin: several are taken
//! all or none): that is why nobody waits forever. Moving the memory to where other processes share it
//! follows the same protocol.

pub mod mmap;
pub mod shm;

use crate::alloc;
use crate::dtype::DType;
use crate::error::{Error, Problem, Result};
use crate::layout::Layout;
use crate::threads;
use mmap::Map;
use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::*, fence};
use std::time::{Duration, Instant};

/// Keeps foreign memory alive: dropped when the last user of the storage is gone.
pub trait Owner: Send + Sync {}

/// What a storage does with its bytes before anybody wrote to them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    Zero,
    /// Left as the allocator gave them.
    Uninitialized,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

/// Whose memory it is.
enum Memory {
    /// Ours, behind the header in the same block.
    Inline,
    /// Ours, a block of its own with this many bytes.
    Block(usize),
    /// Someone else's. Held for its `Drop` only.
    Foreign(#[allow(dead_code)] Box<dyn Owner>),
    /// In a mapped file, or in memory that processes share.
    Mapped(Arc<Map>),
}

/// One cache line; small storages have their bytes right behind it.
#[repr(C, align(64))]
struct Header {
    handles: AtomicUsize,
    state: AtomicU64,
    run: UnsafeCell<Run>,
    /// Bytes of the block that holds this header.
    block: u32,
    readonly: bool,
    /// Whether its address was handed out for good.
    lent: AtomicBool,
    /// Whether the run is `Inline` or `Block`, for those who hold no pin. Once it is not, it stays so.
    owned: AtomicBool,
}

/// Read by whoever holds a pin; written by whoever closed the storage and saw the last pin go.
struct Run {
    bytes: NonNull<u8>,
    length: usize,
    memory: Memory,
}

const HEADER: usize = size_of::<Header>();
const PIN: u64 = 1;
const PINS: u64 = (1 << 32) - 1;
const EXPORT: u64 = 1 << 32;
const CLOSING: u64 = 1 << 63;
/// How long a storage stays closed while somebody still has a pin.
const PATIENCE: Duration = Duration::from_millis(50);

/// A shared handle on a run of bytes.
pub struct Storage(NonNull<Header>);

// SAFETY: the handle count and the state are atomic, and `run` follows the protocol of this module.
unsafe impl Send for Storage {}
// SAFETY: as above.
unsafe impl Sync for Storage {}

impl Storage {
    /// Memory of our own.
    #[inline]
    pub fn new(bytes: usize, fill: Fill) -> Result<Storage> {
        let zeroed = fill == Fill::Zero;
        if bytes <= alloc::SMALL - HEADER {
            let size = (HEADER + bytes + alloc::ALIGN - 1) & !(alloc::ALIGN - 1);
            let block = alloc::allocate(size, false).ok_or_else(|| out_of_memory(bytes))?;
            // SAFETY: the block has room for the header and, behind it, for `bytes` bytes.
            let data = unsafe { block.add(HEADER) };
            if zeroed {
                // SAFETY: as above.
                unsafe { data.write_bytes(0, size - HEADER) };
            }
            return Ok(Storage::from_parts(
                block,
                size,
                Run { bytes: data, length: bytes, memory: Memory::Inline },
                false,
            ));
        }
        let size = alloc::rounded(bytes).ok_or_else(|| out_of_memory(bytes))?;
        let data = alloc::allocate(size, zeroed).ok_or_else(|| out_of_memory(bytes))?;
        let run = Run { bytes: data, length: bytes, memory: Memory::Block(size) };
        match alloc::allocate(HEADER, false) {
            Some(block) => Ok(Storage::from_parts(block, HEADER, run, false)),
            None => {
                // SAFETY: allocated above with this size.
                unsafe { alloc::release(data, size) };
                Err(out_of_memory(bytes))
            }
        }
    }

    /// Memory of someone else, alive as long as `owner`.
    ///
    /// # Safety
    /// `bytes` points to `length` bytes that stay readable (and writable unless `readonly`) until
    /// `owner` is dropped. `length` may be 0.
    pub unsafe fn foreign(
        bytes: *mut u8,
        length: usize,
        readonly: bool,
        owner: Box<dyn Owner>,
    ) -> Result<Storage> {
        let bytes = NonNull::new(bytes).unwrap_or(NonNull::<Header>::dangling().cast());
        let block = alloc::allocate(HEADER, false).ok_or_else(|| out_of_memory(HEADER))?;
        let run = Run { bytes, length, memory: Memory::Foreign(owner) };
        Ok(Storage::from_parts(block, HEADER, run, readonly))
    }

    /// A part of a map. Refuses one that leaves it.
    pub fn mapped(map: Arc<Map>, at: usize, length: usize) -> Result<Storage> {
        if at > map.length() || length > map.length() - at {
            let location = |byte: usize| byte.min(isize::MAX as usize) as isize;
            let (first, last) = (location(at), location(at.saturating_add(length)) - 1);
            return Err(Error::new("", Problem::OutsideStorage { first, last, length: map.length() }));
        }
        let block = alloc::allocate(HEADER, false).ok_or_else(|| out_of_memory(HEADER))?;
        let readonly = map.is_readonly();
        Ok(Storage::from_parts(block, HEADER, Run::mapped(map, at, length), readonly))
    }

    /// The same storage for reading only, before anybody else has a handle on it.
    pub fn into_readonly(mut self) -> Storage {
        assert!(self.exclusive_start().is_some(), "the storage is nobody else's");
        // SAFETY: with one handle, which is ours, nobody else looks at the header.
        unsafe { self.0.as_mut() }.readonly = true;
        self
    }

    #[inline]
    fn from_parts(block: NonNull<u8>, size: usize, run: Run, readonly: bool) -> Storage {
        let header = block.cast::<Header>();
        let owned = run.is_owned();
        let value = Header {
            handles: AtomicUsize::new(1),
            state: AtomicU64::new(0),
            run: UnsafeCell::new(run),
            block: size as u32,
            readonly,
            lent: AtomicBool::new(false),
            owned: AtomicBool::new(owned),
        };
        // SAFETY: the block is fresh, aligned to a cache line and at least one header large.
        unsafe { header.write(value) };
        Storage(header)
    }

    #[inline]
    fn header(&self) -> &Header {
        // SAFETY: the header lives as long as any handle.
        unsafe { self.0.as_ref() }
    }

    /// Whether both are handles on the same run of bytes.
    #[inline]
    pub fn is(&self, other: &Storage) -> bool {
        self.0 == other.0
    }

    /// A number that no other living storage has.
    pub fn id(&self) -> usize {
        self.0.as_ptr() as usize
    }

    pub fn is_readonly(&self) -> bool {
        self.header().readonly
    }

    /// Whether the memory is the storage's own: not lent by someone else, and not mapped.
    #[inline]
    pub fn is_owned(&self) -> bool {
        self.header().owned.load(Relaxed)
    }

    /// The map that the storage lies in, and where.
    pub fn map(&self) -> Option<(Arc<Map>, usize)> {
        if self.is_owned() {
            return None;
        }
        let _pinned = self.pin_all();
        // SAFETY: pinned, so the run does not change.
        let run = unsafe { &*self.header().run.get() };
        match &run.memory {
            Memory::Mapped(map) => Some((map.clone(), run.bytes.as_ptr() as usize - map.start() as usize)),
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

    /// Length in bytes.
    pub fn length(&self) -> usize {
        self.pin_all().length
    }

    /// The address of the first byte at this moment; a resize may move it.
    pub fn address(&self) -> usize {
        self.pin_all().start as usize
    }

    /// Pins the storage as a whole. Not for someone who holds another pin: see [`Storage::try_pin`].
    #[inline]
    pub fn pin_all(&self) -> PinnedBytes<'_> {
        loop {
            match self.try_pin_all() {
                Some(pinned) => return pinned,
                None => self.wait_until_open(),
            }
        }
    }

    #[inline]
    fn try_pin_all(&self) -> Option<PinnedBytes<'_>> {
        let state = &self.header().state;
        let pin = Pin(state);
        if state.fetch_add(PIN, Acquire) & CLOSING != 0 {
            return None; // `pin` is given back
        }
        // SAFETY: the pin is counted and the storage is not closing, so the run does not change.
        let run = unsafe { &*self.header().run.get() };
        Some(PinnedBytes { start: run.bytes.as_ptr(), length: run.length, pin })
    }

    /// Waits while someone changes the size. Only for those who hold no pin at all.
    #[cold]
    pub fn wait_until_open(&self) {
        wait_while(|| self.header().state.load(Relaxed) & CLOSING != 0);
    }

    /// Pins the elements of a layout: the only source of element pointers. `None` if the storage is
    /// about to change its size; whoever holds other pins must then let go of them before waiting
    /// ([`crate::tensor::pin_each`] does).
    ///
    /// Refuses a layout that leaves the storage as it is now, an address that the dtype cannot have, and
    /// writing to read-only memory.
    #[inline]
    pub fn try_pin(&self, layout: &Layout, dtype: DType, access: Access) -> Result<Option<Pinned<'_>>> {
        match layout.bounds() {
            Some((low, high)) => self.try_pin_between(low, high, layout.offset(), dtype, access),
            // Without elements there is nothing to check.
            None => self.try_pin_between(0, -1, 0, dtype, access),
        }
    }

    /// [`Storage::try_pin`] for the one element at a location.
    #[inline]
    pub fn try_pin_at(&self, location: isize, dtype: DType, access: Access) -> Result<Option<Pinned<'_>>> {
        self.try_pin_between(location, location, location, dtype, access)
    }

    #[inline]
    fn try_pin_between(
        &self,
        low: isize,
        high: isize,
        origin: isize,
        dtype: DType,
        access: Access,
    ) -> Result<Option<Pinned<'_>>> {
        if access == Access::Write && self.header().readonly {
            return Err(Error::new("", Problem::ReadOnly));
        }
        let Some(pinned) = self.try_pin_all() else { return Ok(None) };
        let size = dtype.size() as isize;
        // Nothing overflows: a layout's locations times 16 fit isize.
        let inside = (low >= 0) & ((high + 1) * size <= pinned.length as isize);
        let aligned = pinned.start as usize & (dtype.alignment() - 1) == 0;
        if inside & (aligned | (high < 0)) {
            return Ok(Some(Pinned {
                origin: pinned.start.wrapping_offset(origin * size),
                _pin: pinned.pin,
            }));
        }
        let problem = if inside {
            Problem::Misaligned { what: "address", got: pinned.start as isize, size: dtype.alignment() }
        } else {
            Problem::OutsideStorage { first: low, last: high, length: pinned.length / dtype.size() }
        };
        Err(Error::new("", problem))
    }

    /// The first byte of a storage that nobody else has a handle on: it needs no pin.
    #[inline]
    pub fn exclusive_start(&mut self) -> Option<*mut u8> {
        let header = self.header();
        // SAFETY: with one handle, which is borrowed here, there are no pins, no exports and no resize.
        (header.handles.load(Acquire) == 1).then(|| unsafe { &*header.run.get() }.bytes.as_ptr())
    }

    /// Forbids resizing until [`Storage::unexport`] is called as often as this.
    pub fn export(&self) {
        let state = &self.header().state;
        while state.fetch_add(EXPORT, Acquire) & CLOSING != 0 {
            state.fetch_sub(EXPORT, Release);
            self.wait_until_open();
        }
    }

    /// Takes back one [`Storage::export`].
    pub fn unexport(&self) {
        let before = self.header().state.fetch_sub(EXPORT, Release);
        debug_assert!(before & !CLOSING >= EXPORT, "unexport without export");
    }

    /// Forbids resizing for good: for an address that nobody will give back.
    pub fn export_permanently(&self) {
        self.export(); // first, so that whoever sees the mark sees memory that stays
        if self.header().lent.swap(true, AcqRel) {
            self.unexport();
        }
    }

    /// Changes the length. The common prefix is kept, new bytes are zero. Waits for running operations.
    pub fn resize(&self, bytes: usize) -> Result<()> {
        self.change_length(|_| bytes)
    }

    /// Makes the storage at least so long; it never shrinks.
    pub fn grow(&self, bytes: usize) -> Result<()> {
        if self.length() >= bytes { Ok(()) } else { self.change_length(|length| length.max(bytes)) }
    }

    fn change_length(&self, wanted: impl FnOnce(usize) -> usize) -> Result<()> {
        if self.is_readonly() {
            return Err(Error::new("resize_", Problem::ReadOnly));
        }
        self.close("resize_", |run| run.resize(wanted(run.length)))
    }

    /// Moves the bytes to memory that other processes share. Waits for running operations.
    pub fn share(&self) -> Result<()> {
        if self.is_shared() {
            return Ok(());
        }
        if !self.is_owned() {
            return Err(Error::new("share_memory_", Problem::NotMovable));
        }
        self.close("share_memory_", |run| {
            run.share()?;
            self.header().owned.store(false, Relaxed);
            Ok(())
        })
    }

    /// Changes the run while nobody looks at it. Refuses while there are exports.
    ///
    /// A pin that stays for long may be waiting for what someone has who waits for us: the interpreter. So after
    /// a while the storage is opened again, for others to go on, and closed anew.
    fn close(&self, op: &'static str, change: impl FnOnce(&mut Run) -> Result<()>) -> Result<()> {
        let header = self.header();
        loop {
            let closed = self.start_closing(op)?;
            let start = Instant::now();
            wait_while(|| header.state.load(Acquire) & PINS != 0 && start.elapsed() < PATIENCE);
            if header.state.load(Acquire) & PINS == 0 {
                // SAFETY: closed by us, and the last pin is gone: nobody reads or writes the run.
                let result = change(unsafe { &mut *header.run.get() });
                drop(closed);
                return result;
            }
            drop(closed);
            if threads::is_calling() {
                return Err(Error::new(op, Problem::InUse)); // the pin is our own, further up the stack
            }
            std::thread::sleep(PATIENCE / 10);
        }
    }

    fn start_closing(&self, op: &'static str) -> Result<Reopen<'_>> {
        let header = self.header();
        let mut state = header.state.load(Relaxed);
        loop {
            if state & CLOSING != 0 {
                self.wait_until_open();
                state = header.state.load(Relaxed);
                continue;
            }
            if state >= EXPORT {
                let exports = (state / EXPORT) as usize;
                let lent = header.lent.load(Relaxed);
                return Err(Error::new(op, if lent { Problem::Lent } else { Problem::Exported { exports } }));
            }
            match header.state.compare_exchange_weak(state, state | CLOSING, Acquire, Relaxed) {
                Ok(_) => return Ok(Reopen(&header.state)),
                Err(now) => state = now,
            }
        }
    }
}

/// Opens a closed storage again, whatever happens.
struct Reopen<'a>(&'a AtomicU64);
impl Drop for Reopen<'_> {
    fn drop(&mut self) {
        self.0.fetch_and(!CLOSING, Release);
    }
}

impl Run {
    /// Bytes that lie inside the map.
    fn mapped(map: Arc<Map>, at: usize, length: usize) -> Run {
        // SAFETY: maps are not null, and the callers know that `at` lies inside.
        let bytes = unsafe { NonNull::new_unchecked(map.start().add(at)) };
        Run { bytes, length, memory: Memory::Mapped(map) }
    }

    fn is_owned(&self) -> bool {
        matches!(self.memory, Memory::Inline | Memory::Block(_))
    }

    fn share(&mut self) -> Result<()> {
        if !self.is_owned() {
            return Ok(()); // another thread was faster
        }
        let (map, at) = shm::place(self.length)?;
        let shared = Run::mapped(map, at, self.length);
        // SAFETY: the place has that many bytes, and is nobody else's.
        unsafe { shared.bytes.as_ptr().copy_from_nonoverlapping(self.bytes.as_ptr(), self.length) };
        std::mem::replace(self, shared).free();
        Ok(())
    }

    fn resize(&mut self, bytes: usize) -> Result<()> {
        match self.memory {
            Memory::Inline | Memory::Block(_) => {}
            Memory::Foreign(_) => return Err(Error::new("resize_", Problem::NotOwned)),
            Memory::Mapped(_) => return Err(Error::new("resize_", Problem::Mapped)),
        }
        if bytes == self.length {
            return Ok(());
        }
        let size = alloc::rounded(bytes).ok_or_else(|| out_of_memory(bytes))?;
        let data = alloc::allocate(size, true).ok_or_else(|| out_of_memory(bytes))?;
        // SAFETY: both runs hold the common prefix, and they are different blocks.
        unsafe { data.as_ptr().copy_from_nonoverlapping(self.bytes.as_ptr(), bytes.min(self.length)) };
        let old = std::mem::replace(self, Run { bytes: data, length: bytes, memory: Memory::Block(size) });
        old.free();
        Ok(())
    }

    fn free(self) {
        if let Memory::Block(size) = self.memory {
            // SAFETY: a block of this size, allocated by `Storage::new` or `resize` and used by nobody else.
            unsafe { alloc::release(self.bytes, size) };
        }
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
        // The only handle is nobody else's to copy, so it need not be counted down.
        let handles = &self.header().handles;
        if handles.load(Acquire) != 1 && handles.fetch_sub(1, Release) != 1 {
            return;
        }
        fence(Acquire);
        // SAFETY: that was the last handle; pins borrow a handle and exports keep one, so nobody is left.
        unsafe {
            let header = self.0.read();
            header.run.into_inner().free();
            alloc::release(self.0.cast(), header.block as usize);
        }
    }
}

/// One counted pin.
struct Pin<'a>(&'a AtomicU64);

impl Drop for Pin<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.fetch_sub(PIN, Release);
    }
}

/// A pin on the whole storage: while it lives the bytes stay where they are.
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

// SAFETY: a pin is a count in an atomic; the pointer is used by kernels, whose callers answer for it.
unsafe impl Send for Pinned<'_> {}

#[cold]
fn out_of_memory(bytes: usize) -> Error {
    Error::new("", Problem::OutOfMemory { bytes })
}

/// Spins a little, then lets others run.
#[cold]
fn wait_while(busy: impl Fn() -> bool) {
    let mut rounds = 0;
    while busy() {
        rounds += 1;
        if rounds < 64 { std::hint::spin_loop() } else { std::thread::yield_now() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn read(storage: &Storage, at: usize) -> u8 {
        let pin = storage.pin_all();
        assert!(at < pin.length);
        // SAFETY: inside the pinned bytes.
        unsafe { pin.start.add(at).read() }
    }

    #[test]
    fn a_header_is_one_cache_line() {
        assert_eq!(HEADER, 64);
    }

    #[test]
    fn resize_keeps_the_common_prefix_and_zeroes_the_rest() {
        for bytes in [5usize, 100, 5000, 100_000] {
            let storage = Storage::new(bytes, Fill::Uninitialized).unwrap();
            // SAFETY: all of it is ours.
            unsafe { storage.pin_all().start.write_bytes(7, bytes) };
            storage.resize(2 * bytes).unwrap();
            assert_eq!(
                (read(&storage, bytes - 1), read(&storage, bytes), storage.length()),
                (7, 0, 2 * bytes)
            );
            storage.resize(bytes / 2).unwrap();
            assert_eq!((read(&storage, bytes / 2 - 1), storage.length()), (7, bytes / 2));
            storage.resize(0).unwrap();
            assert_eq!(storage.length(), 0);
        }
    }

    #[test]
    fn an_exported_storage_is_not_resized() {
        let storage = Storage::new(8, Fill::Zero).unwrap();
        storage.export();
        assert_eq!(*storage.resize(16).unwrap_err().problem, Problem::Exported { exports: 1 });
        storage.unexport();
        storage.resize(16).unwrap();
    }

    #[test]
    fn a_lent_storage_stays_where_it_is() {
        let storage = Storage::new(8, Fill::Zero).unwrap();
        let address = storage.address();
        for _ in 0..3 {
            storage.export_permanently();
            storage.export();
            storage.unexport();
            assert_eq!(*storage.resize(16).unwrap_err().problem, Problem::Lent);
        }
        assert_eq!((storage.address(), storage.length()), (address, 8));
    }

    #[test]
    fn a_foreign_owner_is_dropped_once_with_the_last_handle() {
        struct Counted(Arc<AtomicUsize>);
        impl Owner for Counted {}
        impl Drop for Counted {
            fn drop(&mut self) {
                self.0.fetch_add(1, Relaxed);
            }
        }
        let drops = Arc::new(AtomicUsize::new(0));
        let mut bytes = [1u8, 2, 3];
        // SAFETY: `bytes` outlives the storage.
        let storage =
            unsafe { Storage::foreign(bytes.as_mut_ptr(), 3, true, Box::new(Counted(drops.clone()))) }
                .unwrap();
        let other = storage.clone();
        assert!(!storage.is_owned());
        assert_eq!(*storage.resize(1).unwrap_err().problem, Problem::ReadOnly);
        drop(storage);
        assert_eq!((drops.load(Relaxed), read(&other, 2)), (0, 3));
        drop(other);
        assert_eq!(drops.load(Relaxed), 1);
    }

    #[test]
    fn pins_refuse_what_leaves_the_storage() {
        let storage = Storage::new(12, Fill::Zero).unwrap();
        let layout = Layout::row_major(&[3]).unwrap();
        assert!(storage.try_pin(&layout, DType::F32, Access::Write).is_ok());
        storage.resize(8).unwrap();
        let error = storage.try_pin(&layout, DType::F32, Access::Read).err().unwrap();
        assert_eq!(*error.problem, Problem::OutsideStorage { first: 0, last: 2, length: 2 });
    }

    #[test]
    fn readers_never_see_freed_memory_while_another_thread_resizes() {
        let storage = Storage::new(4096, Fill::Zero).unwrap();
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !stop.load(Relaxed) {
                        let pin = storage.pin_all();
                        // SAFETY: inside the pinned bytes; only zeros are ever written.
                        let sum: u64 =
                            (0..pin.length).map(|i| unsafe { pin.start.add(i).read_volatile() } as u64).sum();
                        assert_eq!(sum, 0);
                    }
                });
            }
            for round in 0..2000 {
                storage.resize(1 + round * 37 % 9000).unwrap();
            }
            stop.store(true, Relaxed);
        });
    }
}

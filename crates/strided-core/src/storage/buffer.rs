//! The memory of a storage: its address, its length and who owns it.

use super::device::{Device, DeviceMemory, not_on_host};
use super::mmap::Map;
use super::shm;
use crate::alloc::{self, out_of_memory};
use crate::error::{Error, Problem, Result};
use std::ptr::NonNull;
use std::sync::Arc;

/// Keeps foreign memory alive. Dropped with the last handle on the storage.
pub trait Owner: Send + Sync {
    /// Whether the memory is page-locked, so that transfers to a device need no copy of it.
    fn is_page_locked(&self) -> bool {
        false
    }
}

/// Page-locked memory.
impl Owner for strided_opencl::HostMemory {
    fn is_page_locked(&self) -> bool {
        true
    }
}

/// Who owns the bytes of a storage.
pub enum Backing {
    /// The storage: the bytes follow its header, in the same block.
    Inline,
    /// The storage: a block of its own, of this many bytes.
    Block(usize),
    /// Somebody else.
    Foreign(Box<dyn Owner>),
    /// A mapped file, or memory that processes share.
    Mapped(Arc<Map>),
    /// The storage: memory that the host cannot address. To the host there are no bytes, so that every pin on an element is
    /// outside of them.
    Device(Arc<DeviceMemory>),
    /// Nobody: the owner has taken the memory back, and the length is 0.
    Invalidated,
}

/// Bytes in memory and who owns them.
pub struct Buffer {
    pub start: NonNull<u8>,
    /// In bytes.
    pub length: usize,
    pub backing: Backing,
}

impl Buffer {
    /// A block of `bytes` bytes or a little more.
    pub fn new_block(bytes: usize, zeroed: bool) -> Result<Buffer> {
        let size = alloc::rounded(bytes).ok_or_else(|| out_of_memory(bytes))?;
        let start = alloc::allocate(size, zeroed).ok_or_else(|| out_of_memory(bytes))?;
        Ok(Buffer { start, length: bytes, backing: Backing::Block(size) })
    }

    /// `length` bytes of a map from byte `offset` on. Panics if they leave the map.
    pub fn mapped(map: Arc<Map>, offset: usize, length: usize) -> Buffer {
        assert!(offset <= map.length() && length <= map.length() - offset, "bytes outside their map");
        // SAFETY: `offset` is within the map, as asserted, and a map does not start at null.
        let start = unsafe { NonNull::new_unchecked(map.start().add(offset)) };
        Buffer { start, length, backing: Backing::Mapped(map) }
    }

    /// No bytes: what is left of memory that its owner has taken back. Every pin on an element is outside of it.
    pub const INVALIDATED: Buffer =
        Buffer { start: NonNull::dangling(), length: 0, backing: Backing::Invalidated };

    /// Memory of a device.
    pub fn on_device(memory: Arc<DeviceMemory>) -> Buffer {
        Buffer { start: NonNull::dangling(), length: 0, backing: Backing::Device(memory) }
    }

    #[inline(always)]
    pub fn device(&self) -> Device {
        match &self.backing {
            Backing::Device(memory) => memory.device(),
            _ => Device::Cpu,
        }
    }

    /// The length of the memory, whether the host can address it or not.
    pub fn full_length(&self) -> usize {
        match &self.backing {
            Backing::Device(memory) => memory.length(),
            _ => self.length,
        }
    }

    /// The error for memory that is needed on the host.
    pub fn check_on_host(&self) -> Result<()> {
        match &self.backing {
            Backing::Device(memory) => Err(not_on_host(memory.device())),
            _ => Ok(()),
        }
    }

    pub fn is_invalidated(&self) -> bool {
        matches!(self.backing, Backing::Invalidated)
    }

    /// Whether the storage owns the bytes, so that it may exchange them.
    #[inline(always)]
    pub fn is_owned(&self) -> bool {
        matches!(self.backing, Backing::Inline | Backing::Block(_) | Backing::Device(_))
    }

    /// Moves the bytes into memory that processes share, unless they are not the storage's own.
    pub fn share(&mut self) -> Result<()> {
        if !self.is_owned() {
            return Ok(()); // another thread has shared them meanwhile
        }
        self.check_on_host()?;
        let (map, offset) = shm::allocate(self.length)?;
        let shared = Buffer::mapped(map, offset, self.length);
        // SAFETY: both have `length` bytes: `Buffer::mapped` has checked the new ones, which `shm` has given to
        // nobody else.
        unsafe { shared.start.as_ptr().copy_from_nonoverlapping(self.start.as_ptr(), self.length) };
        std::mem::replace(self, shared).free();
        Ok(())
    }

    /// Changes the length. The common prefix is kept, new bytes are zero.
    pub fn resize(&mut self, bytes: usize) -> Result<()> {
        match self.backing {
            Backing::Inline | Backing::Block(_) => {}
            Backing::Foreign(_) => return Err(Error::new(Problem::NotOwned)),
            Backing::Mapped(_) => return Err(Error::new(Problem::Mapped)),
            Backing::Invalidated => return Err(Error::new(Problem::Invalidated)),
            Backing::Device(ref memory) => {
                if memory.device() == Device::Test || bytes != memory.length() {
                    *self = Buffer::on_device(Arc::new(memory.resized(bytes)?));
                }
                return Ok(());
            }
        }
        if bytes == self.length {
            return Ok(());
        }
        let resized = Buffer::new_block(bytes, true)?;
        let common = bytes.min(self.length);
        // SAFETY: both buffers have `common` bytes, and the new block is nobody else's.
        unsafe { resized.start.as_ptr().copy_from_nonoverlapping(self.start.as_ptr(), common) };
        std::mem::replace(self, resized).free();
        Ok(())
    }

    /// Releases a block of its own; inline bytes go with their header, other memory with its owner.
    pub fn free(self) {
        if let Backing::Block(size) = self.backing {
            // SAFETY: `new_block` allocated the block with this size. The buffer is consumed, and its holder was
            // its only user.
            unsafe { alloc::release(self.start, size) };
        }
    }
}

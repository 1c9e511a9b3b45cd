//! Memory of a device. Buffers that are freed are kept by size class: allocating one takes a driver as long as many operations.

use crate::device::{Connection, Device, lock};
use crate::error::{Error, Result};
use crate::library::{Handle, Int, Ulong};
use crate::pool::{Buffer, Usage, class_of};
use std::ptr::{null, null_mut};

const CL_MEM_READ_WRITE: Ulong = 1 << 0;
const CL_MEM_ALLOC_HOST_PTR: Ulong = 1 << 4;
const CL_MAP_READ_WRITE: Ulong = 3;
const CL_MEM_OBJECT_ALLOCATION_FAILURE: Int = -4;
const CL_OUT_OF_RESOURCES: Int = -5;
const CL_OUT_OF_HOST_MEMORY: Int = -6;
const CL_INVALID_BUFFER_SIZE: Int = -61;

/// Whether a code means that there is no memory left.
pub(crate) fn is_out_of_memory(code: Int) -> bool {
    let codes = [
        CL_MEM_OBJECT_ALLOCATION_FAILURE,
        CL_OUT_OF_RESOURCES,
        CL_OUT_OF_HOST_MEMORY,
        CL_INVALID_BUFFER_SIZE,
    ];
    codes.contains(&code)
}

/// A buffer of a device. Dropped, it can be used by later work.
pub struct Memory {
    pub device: &'static Device,
    pub(crate) handle: Handle,
    class: usize,
    length: usize,
}

// SAFETY: a handle may be used by any thread.
unsafe impl Send for Memory {}
// SAFETY: a shared handle is only passed to the library, which locks the object.
unsafe impl Sync for Memory {}

impl Memory {
    /// Allocates uninitialised memory.
    pub fn new(device: &'static Device, bytes: usize) -> Result<Memory> {
        let connection = device.connection()?;
        let too_large = || Error::OutOfMemory { device: device.name(), bytes };
        let class = class_of(bytes).ok_or_else(too_large)?;
        let memory = |handle| Memory { device, handle, class, length: bytes };
        let mut pool = lock(&device.pool);
        if pool.limit.saturating_sub(pool.used) < class {
            return Err(too_large());
        }
        if let Some(handle) = pool.take(class) {
            pool.count(class);
            return Ok(memory(handle));
        }
        drop(pool); // the driver may take long
        let mut made = create(connection, class, CL_MEM_READ_WRITE);
        if matches!(made, Err(code) if is_out_of_memory(code)) {
            device.empty_cache()?;
            made = create(connection, class, CL_MEM_READ_WRITE);
        }
        match made {
            Ok(handle) => {
                lock(&device.pool).count(class);
                Ok(memory(handle))
            }
            Err(code) if is_out_of_memory(code) => Err(too_large()),
            Err(code) => Err(Error::Failed { device: device.name(), call: "clCreateBuffer", code }),
        }
    }

    /// Allocates memory that a process keeps and that does not count as used: no user has asked for it.
    pub fn permanent(device: &'static Device, bytes: usize) -> Result<&'static Memory> {
        let connection = device.connection()?;
        let too_large = || Error::OutOfMemory { device: device.name(), bytes };
        let class = class_of(bytes).ok_or_else(too_large)?;
        let handle = create(connection, class, CL_MEM_READ_WRITE).map_err(|code| Error::Failed {
            device: device.name(),
            call: "clCreateBuffer",
            code,
        })?;
        Ok(Box::leak(Box::new(Memory { device, handle, class, length: bytes })))
    }

    /// In bytes.
    pub fn length(&self) -> usize {
        self.length
    }
}

fn create(connection: Connection, bytes: usize, flags: Ulong) -> std::result::Result<Handle, Int> {
    let mut code = 0;
    // SAFETY: the context is valid, and no memory of the host is passed.
    let handle = unsafe {
        (connection.functions.clCreateBuffer)(connection.context, flags, bytes, null_mut(), &mut code)
    };
    if code == 0 { Ok(handle) } else { Err(code) }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if !self.device.is_connected() {
            return; // a forked child: the driver must not be called
        }
        let mut pool = lock(&self.device.pool);
        pool.used -= self.class;
        if pool.cached + self.class <= pool.max_cached {
            pool.cached += self.class;
            pool.free.entry(self.class).or_default().push(Buffer(self.handle));
            return;
        }
        drop(pool);
        release(self.device, self.handle);
    }
}

/// Gives a buffer back to the driver, which waits itself until work that uses it is done.
fn release(device: &Device, handle: Handle) {
    if let Ok(connection) = device.connection() {
        // SAFETY: the handle is that of a buffer, and nobody uses it again.
        unsafe { (connection.functions.clReleaseMemObject)(handle) };
    }
}

impl Device {
    pub fn memory_usage(&self) -> Usage {
        let pool = lock(&self.pool);
        Usage { used: pool.used, peak: pool.peak, cached: pool.cached, limit: pool.limit }
    }

    /// Starts counting the peak from what is used now.
    pub fn reset_peak(&self) {
        let mut pool = lock(&self.pool);
        pool.peak = pool.used;
    }

    /// Limits what the program may use.
    pub fn set_memory_limit(&self, bytes: usize) {
        lock(&self.pool).limit = bytes;
    }

    /// Gives free buffers back to the driver.
    pub fn empty_cache(&self) -> Result<()> {
        if !self.is_connected() {
            return Ok(()); // nothing was allocated
        }
        let mut pool = lock(&self.pool);
        let free = std::mem::take(&mut pool.free);
        pool.cached = 0;
        drop(pool);
        free.into_values().flatten().for_each(|buffer| release(self, buffer.0));
        let connection = self.connection()?;
        // SAFETY: the queue is valid. Buffers are freed when the work that uses them is done.
        self.check("clFinish", unsafe { (connection.functions.clFinish)(connection.queue) })
    }
}

/// Page-locked memory of the host, which transfers use without a copy.
pub struct HostMemory {
    device: &'static Device,
    handle: Handle,
    pub start: *mut u8,
    pub length: usize,
}

// SAFETY: plain memory of the host; the handle may be used by any thread.
unsafe impl Send for HostMemory {}
// SAFETY: the handle is only passed to the library, and the memory is that of a storage, whose pins guard it.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    pub fn new(device: &'static Device, bytes: usize) -> Result<HostMemory> {
        let connection = device.connection()?;
        let size = bytes.max(1);
        let handle = create(connection, size, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR)
            .map_err(|_| Error::OutOfMemory { device: device.name(), bytes })?;
        let mut code = 0;
        // SAFETY: the buffer has `size` bytes; the call waits until they are mapped.
        let start = unsafe {
            (connection.functions.clEnqueueMapBuffer)(
                connection.queue,
                handle,
                1,
                CL_MAP_READ_WRITE,
                0,
                size,
                0,
                null(),
                null_mut(),
                &mut code,
            )
        };
        if code != 0 {
            release(device, handle);
        }
        device.check("clEnqueueMapBuffer", code)?;
        Ok(HostMemory { device, handle, start: start.cast(), length: bytes })
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        if !self.device.is_connected() {
            return; // a forked child: the driver must not be called
        }
        if let Ok(connection) = self.device.connection() {
            // SAFETY: the memory was mapped by `new`, and nobody uses it again.
            unsafe {
                let start = self.start.cast();
                (connection.functions.clEnqueueUnmapMemObject)(
                    connection.queue,
                    self.handle,
                    start,
                    0,
                    null(),
                    null_mut(),
                );
            }
        }
        release(self.device, self.handle);
    }
}

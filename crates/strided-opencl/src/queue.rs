//! Work of a device: launches, transfers, waits.
//!
//! Each piece of work leaves an event in a list until it is known to be done. A wait polls the last event, since the functions of
//! OpenCL that wait cannot be interrupted; then it looks at all events, so that an error is reported with the operation that
//! failed.

use crate::device::{Connection, Device, lock};
use crate::error::{Error, Result};
use crate::library::{Handle, Int, Uint};
use crate::memory::{Memory, is_out_of_memory};
use crate::program::Kernel;
use crate::work::{Pending, Work};
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

const CL_EVENT_COMMAND_EXECUTION_STATUS: Uint = 0x11D3;
const CL_COMPLETE: Int = 0;

/// Writes of up to this many bytes are copied, so that the caller need not wait for the work before them.
const MAX_COPIED_BYTES: usize = 64 << 10;
/// Work that may be enqueued and not done. A program that enqueues faster than the device computes waits.
const MAX_PENDING: usize = 4096;
/// From this many pieces on, those that are done are removed from the list.
const MANY_PENDING: usize = 256;
/// Polls of an event before a wait begins to sleep.
const BUSY_POLLS: usize = 200;
const FIRST_SLEEP: Duration = Duration::from_micros(10);
const LONGEST_SLEEP: Duration = Duration::from_micros(500);

/// An argument of a kernel.
#[derive(Clone, Copy)]
pub enum Arg<'a> {
    Memory(&'a Memory),
    Long(i64),
    Double(f64),
    /// A value, as the device reads it.
    Bytes(&'a [u8]),
    /// A structure of numbers.
    Words(&'a [i64]),
    /// Local memory of this many bytes.
    Local(usize),
}

/// Between two looks for an interrupt, where a call waits that has no function for it.
const INTERRUPT_INTERVAL: Duration = Duration::from_millis(100);

static INTERRUPT_CHECK: OnceLock<fn() -> bool> = OnceLock::new();

/// Sets the function that tells whether the user wants a call to end that enqueues work, and waits because there is too much. Later
/// calls have no effect.
pub fn set_interrupt_check(check: fn() -> bool) {
    let _ = INTERRUPT_CHECK.set(check);
}

/// Asked from time to time while a call waits: whether the user wants it to end.
pub type Interrupted<'a> = &'a mut dyn FnMut() -> bool;

impl Device {
    /// Enqueues a kernel over `global` work items, in groups of `local`; `global` is a multiple of `local`. `operation` names it
    /// if it fails later.
    pub fn launch(
        &'static self,
        kernel: &Kernel,
        args: &[Arg],
        global: [usize; 2],
        local: [usize; 2],
        operation: &'static str,
    ) -> Result<()> {
        let connection = self.connection()?;
        self.make_room(connection)?;
        let mut pending = lock(&self.pending);
        for (index, arg) in args.iter().enumerate() {
            let (size, value): (usize, *const c_void) = match arg {
                Arg::Memory(memory) => {
                    // A driver may end the process if a kernel gets a buffer of another context.
                    assert!(std::ptr::eq(memory.device, self), "memory of another device");
                    (size_of::<Handle>(), (&raw const memory.handle).cast())
                }
                Arg::Long(value) => (size_of::<i64>(), (&raw const *value).cast()),
                Arg::Double(value) => (size_of::<f64>(), (&raw const *value).cast()),
                Arg::Bytes(bytes) => (bytes.len(), bytes.as_ptr().cast()),
                Arg::Words(words) => (size_of_val(*words), words.as_ptr().cast()),
                Arg::Local(bytes) => (*bytes, null()),
            };
            // SAFETY: `value` has `size` bytes, which are copied; the kernel is used under the lock of the device alone.
            let code =
                unsafe { (connection.functions.clSetKernelArg)(kernel.handle, index as Uint, size, value) };
            self.check("clSetKernelArg", code)?;
        }
        let mut retried = false;
        loop {
            let mut event = null_mut();
            // SAFETY: all arguments were set. Kernels stay inside the memory of their arguments: the code that wrote them says why.
            let code = unsafe {
                (connection.functions.clEnqueueNDRangeKernel)(
                    connection.queue,
                    kernel.handle,
                    2,
                    null(),
                    global.as_ptr(),
                    local.as_ptr(),
                    0,
                    null(),
                    &mut event,
                )
            };
            if is_out_of_memory(code) && !retried {
                self.empty_cache()?;
                retried = true;
                continue;
            }
            if is_out_of_memory(code) {
                return Err(Error::OutOfMemory { device: self.name(), bytes: 0 });
            }
            self.check("clEnqueueNDRangeKernel", code)?;
            pending.0.push_back(Work { event, operation, reads: None });
            return Ok(());
        }
    }

    /// Copies bytes from one place of the device's memory to another. They do not overlap.
    pub fn copy(
        &'static self,
        from: &Memory,
        from_byte: usize,
        to: &Memory,
        to_byte: usize,
        bytes: usize,
        operation: &'static str,
    ) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        check_range(from, from_byte, bytes);
        check_range(to, to_byte, bytes);
        self.enqueue("clEnqueueCopyBuffer", operation, None, |connection, event| {
            let (from, to) = (from.handle, to.handle);
            // SAFETY: both ranges are inside their buffers, as checked above.
            unsafe {
                (connection.functions.clEnqueueCopyBuffer)(
                    connection.queue,
                    from,
                    to,
                    from_byte,
                    to_byte,
                    bytes,
                    0,
                    null(),
                    event,
                )
            }
        })
    }

    /// Fills bytes with a pattern, whose length divides them and is a power of two up to 16.
    pub fn fill(
        &'static self,
        memory: &Memory,
        first: usize,
        bytes: usize,
        pattern: &[u8],
        operation: &'static str,
    ) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        check_range(memory, first, bytes);
        self.enqueue("clEnqueueFillBuffer", operation, None, |connection, event| {
            // SAFETY: the range is inside the buffer, as checked above; the pattern is copied.
            unsafe {
                let (pattern, length) = (pattern.as_ptr().cast(), pattern.len());
                (connection.functions.clEnqueueFillBuffer)(
                    connection.queue,
                    memory.handle,
                    pattern,
                    length,
                    first,
                    bytes,
                    0,
                    null(),
                    event,
                )
            }
        })
    }

    /// Fills bytes with zeros.
    pub fn fill_zero(
        &'static self,
        memory: &Memory,
        first: usize,
        bytes: usize,
        operation: &'static str,
    ) -> Result<()> {
        let step = 1 << (first | bytes | 16).trailing_zeros().min(4);
        self.fill(memory, first, bytes, &[0; 16][..step], operation)
    }

    /// Writes bytes of the host. They may be changed as soon as this returns.
    pub fn write(
        &'static self,
        memory: &Memory,
        first: usize,
        bytes: &[u8],
        operation: &'static str,
        interrupted: Interrupted,
    ) -> Result<()> {
        if bytes.len() <= MAX_COPIED_BYTES {
            return self.write_copied(memory, first, bytes.into(), operation);
        }
        // SAFETY: the bytes are a slice.
        unsafe { self.write_from(memory, first, bytes.as_ptr(), bytes.len(), interrupted) }
    }

    fn write_copied(
        &'static self,
        memory: &Memory,
        first: usize,
        bytes: Box<[u8]>,
        operation: &'static str,
    ) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        check_range(memory, first, bytes.len());
        let (start, length) = (bytes.as_ptr(), bytes.len());
        self.enqueue("clEnqueueWriteBuffer", operation, Some(bytes), |connection, event| {
            // SAFETY: the range is inside the buffer, as checked above; the bytes live until the event is done.
            unsafe {
                (connection.functions.clEnqueueWriteBuffer)(
                    connection.queue,
                    memory.handle,
                    0,
                    first,
                    length,
                    start.cast(),
                    0,
                    null(),
                    event,
                )
            }
        })
    }

    /// Writes bytes of the host, after all work before them.
    ///
    /// # Safety
    /// `from` points to `bytes` bytes that can be read.
    pub unsafe fn write_from(
        &'static self,
        memory: &Memory,
        first: usize,
        from: *const u8,
        bytes: usize,
        interrupted: Interrupted,
    ) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        check_range(memory, first, bytes);
        self.wait(interrupted)?;
        let connection = self.connection()?;
        // SAFETY: both ranges are valid, the device's as checked above. The call returns when the bytes are read.
        let code = unsafe {
            (connection.functions.clEnqueueWriteBuffer)(
                connection.queue,
                memory.handle,
                1,
                first,
                bytes,
                from.cast(),
                0,
                null(),
                null_mut(),
            )
        };
        self.check("clEnqueueWriteBuffer", code)
    }

    /// Reads bytes into a slice, after all work before.
    pub fn read(
        &'static self,
        memory: &Memory,
        first: usize,
        to: &mut [u8],
        interrupted: Interrupted,
    ) -> Result<()> {
        // SAFETY: the bytes are a slice that nobody else uses.
        unsafe { self.read_to(memory, first, to.as_mut_ptr(), to.len(), interrupted) }
    }

    /// Reads bytes, after all work before.
    ///
    /// # Safety
    /// `to` points to `bytes` bytes that can be written.
    pub unsafe fn read_to(
        &'static self,
        memory: &Memory,
        first: usize,
        to: *mut u8,
        bytes: usize,
        interrupted: Interrupted,
    ) -> Result<()> {
        check_range(memory, first, bytes);
        self.wait(interrupted)?;
        if bytes == 0 {
            return Ok(());
        }
        let connection = self.connection()?;
        // SAFETY: both ranges are valid, the device's as checked above. The call returns when the bytes are written.
        let code = unsafe {
            (connection.functions.clEnqueueReadBuffer)(
                connection.queue,
                memory.handle,
                1,
                first,
                bytes,
                to.cast(),
                0,
                null(),
                null_mut(),
            )
        };
        self.check("clEnqueueReadBuffer", code)
    }

    /// Waits until all work is done. Returns the first error of it.
    pub fn wait(&self, interrupted: Interrupted) -> Result<()> {
        if !self.is_connected() {
            return Ok(()); // nothing was enqueued
        }
        let connection = self.connection()?;
        let Some(last) = self.last_event(connection) else { return Ok(()) };
        let waited = self.wait_for(connection, last, interrupted);
        release_event(connection, last);
        waited?;
        self.remove_done(connection, &mut lock(&self.pending))
    }

    /// The event of the last work, which the caller releases: another thread may remove the work from the list meanwhile.
    fn last_event(&self, connection: Connection) -> Option<Handle> {
        let pending = lock(&self.pending);
        let event = pending.0.back()?.event;
        // SAFETY: the event is in the list, so that it was not released.
        unsafe { (connection.functions.clRetainEvent)(event) };
        Some(event)
    }

    fn enqueue(
        &'static self,
        call: &'static str,
        operation: &'static str,
        reads: Option<Box<[u8]>>,
        work: impl Fn(Connection, *mut Handle) -> Int,
    ) -> Result<()> {
        let connection = self.connection()?;
        self.make_room(connection)?;
        let mut pending = lock(&self.pending);
        let mut event = null_mut();
        let mut code = work(connection, &mut event);
        if is_out_of_memory(code) {
            self.empty_cache()?;
            code = work(connection, &mut event);
        }
        if is_out_of_memory(code) {
            return Err(Error::OutOfMemory { device: self.name(), bytes: 0 });
        }
        self.check(call, code)?;
        pending.0.push_back(Work { event, operation, reads });
        Ok(())
    }

    /// Removes work that is done from a long list, and waits if it is too long. Called without the lock: a handler of an interrupt may
    /// use the device.
    fn make_room(&self, connection: Connection) -> Result<()> {
        let mut pending = lock(&self.pending);
        let length = pending.0.len();
        if length < MANY_PENDING || !length.is_multiple_of(MANY_PENDING) {
            return Ok(());
        }
        if length >= MAX_PENDING {
            let event = pending.0[MAX_PENDING / 2].event;
            // SAFETY: the event is in the list, so that it was not released.
            unsafe { (connection.functions.clRetainEvent)(event) };
            drop(pending);
            let mut next_check = Instant::now() + INTERRUPT_INTERVAL;
            let waited = self.wait_for(connection, event, &mut || {
                let is_due = Instant::now() >= next_check;
                if is_due {
                    next_check += INTERRUPT_INTERVAL;
                }
                is_due && INTERRUPT_CHECK.get().is_some_and(|check| check())
            });
            release_event(connection, event);
            waited?;
            pending = lock(&self.pending);
        }
        self.remove_done(connection, &mut pending)
    }

    /// Waits for an event. It may end in an error, which [`Device::remove_done`] reports.
    fn wait_for(&self, connection: Connection, event: Handle, interrupted: Interrupted) -> Result<()> {
        // SAFETY: the queue is valid.
        self.check("clFlush", unsafe { (connection.functions.clFlush)(connection.queue) })?;
        let (mut polls, mut sleep) = (0, FIRST_SLEEP);
        while status(connection, event) > CL_COMPLETE {
            polls += 1;
            if polls < BUSY_POLLS {
                std::thread::yield_now();
                continue;
            }
            if interrupted() {
                return Err(Error::Interrupted);
            }
            std::thread::sleep(sleep);
            sleep = (sleep * 2).min(LONGEST_SLEEP);
        }
        Ok(())
    }

    /// Removes work that is done from the beginning of the list. Returns the first error of it.
    fn remove_done(&self, connection: Connection, pending: &mut Pending) -> Result<()> {
        while let Some(work) = pending.0.front() {
            let code = status(connection, work.event);
            if code > CL_COMPLETE {
                break;
            }
            let (event, operation) = (work.event, work.operation);
            pending.0.pop_front();
            release_event(connection, event);
            if is_out_of_memory(code) {
                return Err(Error::OutOfMemory { device: self.name(), bytes: 0 });
            }
            if code < CL_COMPLETE {
                return Err(Error::WorkFailed { device: self.name(), operation, code });
            }
        }
        Ok(())
    }
}

/// 0 if the work is done, above 0 if it is not, a code below 0 if it failed.
fn status(connection: Connection, event: Handle) -> Int {
    let mut status: Int = 0;
    // SAFETY: the event was not released; its status has four bytes.
    let code = unsafe {
        let out = (&raw mut status).cast();
        (connection.functions.clGetEventInfo)(event, CL_EVENT_COMMAND_EXECUTION_STATUS, 4, out, null_mut())
    };
    if code == 0 { status } else { code }
}

fn release_event(connection: Connection, event: Handle) {
    // SAFETY: the event is not used again.
    unsafe { (connection.functions.clReleaseEvent)(event) };
}

fn check_range(memory: &Memory, first: usize, bytes: usize) {
    let length = memory.length();
    assert!(first <= length && bytes <= length - first, "bytes outside the memory of a device");
}

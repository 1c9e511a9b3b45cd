//! Bad indices that kernels find. The host does not read indices before a launch, so it learns of a bad one when it waits next.
//!
//! A device has one small buffer, which the first kernel that finds a bad index claims. It is read after a wait if a kernel that
//! checks was enqueued since it was read before. Until then that kernel has gone on: a bad read gave 0, a bad write was skipped.

use crate::error::{Error, Problem, Result};
use crate::threads;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{LazyLock, Mutex, PoisonError};
use strided_opencl::{Arg, Device, Memory};

/// Two ints (whether a kernel has claimed the buffer, and the number of its operation), the index and the extent.
const FAULT_BYTES: usize = 24;

/// What is known of the faults of a device.
#[derive(Default)]
struct Faults {
    memory: Mutex<Option<&'static Memory>>,
    /// Whether a kernel that checks was enqueued since the buffer was read.
    is_unread: AtomicBool,
}

fn faults_of(device: &Device) -> &'static Faults {
    static FAULTS: LazyLock<Vec<Faults>> = LazyLock::new(|| {
        strided_opencl::devices().unwrap_or_default().iter().map(|_| Faults::default()).collect()
    });
    &FAULTS[device.index]
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The operations that kernels know by a number, from 1 on.
static OPERATIONS: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

fn number_of(operation: &'static str) -> i32 {
    let mut names = lock(&OPERATIONS);
    let known = names.iter().position(|name| *name == operation);
    let index = known.unwrap_or_else(|| {
        names.push(operation);
        names.len() - 1
    });
    index as i32 + 1
}

/// Enqueues a kernel that checks indices. `launch` gets the last two arguments of the kernel: the buffer, and the number of the
/// operation. An operation without a name reports nothing: its indices were checked by another kernel.
pub fn checked(
    device: &'static Device,
    operation: &'static str,
    launch: impl FnOnce([Arg; 2]) -> Result<()>,
) -> Result<()> {
    let faults = faults_of(device);
    let memory = {
        let mut memory = lock(&faults.memory);
        match *memory {
            Some(memory) => memory,
            None => {
                let made = Memory::permanent(device, FAULT_BYTES)?;
                device.fill_zero(made, 0, FAULT_BYTES, operation)?;
                *memory.insert(made)
            }
        }
    };
    let number = if operation.is_empty() { 0 } else { number_of(operation) };
    let launched = launch([Arg::Memory(memory), Arg::Bytes(&number.to_ne_bytes())]);
    // After the launch: a wait that reads the buffer earlier may miss what this kernel finds.
    if number != 0 {
        faults.is_unread.store(true, SeqCst);
    }
    launched
}

/// Waits until the work of a device is done. Fails if it failed, or has found a bad index.
pub fn wait(device: &'static Device) -> Result<()> {
    device.wait(&mut threads::interrupt_watch())?;
    let faults = faults_of(device);
    if !faults.is_unread.swap(false, SeqCst) {
        return Ok(());
    }
    let Some(memory) = *lock(&faults.memory) else { return Ok(()) };
    let mut bytes = [0; FAULT_BYTES];
    device.read(memory, 0, &mut bytes, &mut threads::interrupt_watch())?;
    let int = |at: usize| i32::from_ne_bytes(std::array::from_fn(|i| bytes[at + i]));
    let long = |at: usize| i64::from_ne_bytes(std::array::from_fn(|i| bytes[at + i]));
    if int(0) == 0 {
        return Ok(());
    }
    device.fill_zero(memory, 0, FAULT_BYTES, "synchronize")?;
    let operation = lock(&OPERATIONS)[int(4) as usize - 1];
    let (index, extent, device) = (long(8), long(16), device.name());
    Err(Error::new(Problem::IndexFound { operation, index, extent, device }))
}

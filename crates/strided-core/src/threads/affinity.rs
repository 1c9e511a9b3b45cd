//! On which CPU a thread wakes up.
//!
//! Linux may put a thread that is woken on the CPU of the one that woke it, though another CPU is idle: that of a
//! virtual machine, which is asleep itself, counts as busy. There it pushes aside whom it was to help, or waits until
//! that one has done all the work: `x.sum()` of 1M float32 took 250 us at first instead of 25, then for milliseconds
//! as long as on one thread.

/// A thread of this process, as the system numbers them.
#[derive(Clone, Copy)]
pub struct Number(#[cfg(target_os = "linux")] libc::pid_t);

impl Number {
    /// That of this thread.
    #[cfg(target_os = "linux")]
    pub fn own() -> Number {
        // SAFETY: it only asks.
        Number(unsafe { libc::gettid() })
    }

    #[cfg(not(target_os = "linux"))]
    pub fn own() -> Number {
        Number()
    }
}

/// Wakes a thread, on another CPU than this one if it may run there.
#[cfg(target_os = "linux")]
pub fn wake_apart(thread: Number, wake: impl FnOnce()) {
    const BYTES: usize = size_of::<libc::cpu_set_t>();
    let Number(number) = thread;
    // SAFETY: sets of that size, and the CPU's bit is one of them.
    unsafe {
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        let here = usize::try_from(libc::sched_getcpu()).unwrap_or(usize::MAX);
        if here >= 8 * BYTES || libc::sched_getaffinity(number, BYTES, &mut allowed) != 0 {
            return wake();
        }
        let mut others = allowed;
        libc::CPU_CLR(here, &mut others);
        // Its place is chosen when it is woken: after that it may go where it wants. Without others nothing happens.
        let parted = libc::sched_setaffinity(number, BYTES, &others) == 0;
        wake();
        // Who gave it other CPUs meanwhile had the last word.
        let mut now = allowed;
        if parted && libc::sched_getaffinity(number, BYTES, &mut now) == 0 && libc::CPU_EQUAL(&now, &others) {
            libc::sched_setaffinity(number, BYTES, &allowed);
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub fn wake_apart(_: Number, wake: impl FnOnce()) {
    wake()
}

//! Chooses the CPU on which a helper thread wakes up.
//!
//! Linux may wake a thread on the waking thread's own CPU although another CPU is idle. In a virtual machine this is
//! the usual case: an idle CPU that the host has descheduled counts as busy. The helper then preempts the caller that
//! it should help, or waits until the caller has done all the work. The first `x.sum()` of 1M float32 took 250 us
//! instead of 25, and the calls of the following milliseconds took as long as on one thread.

/// The operating system's id of a thread of this process.
#[derive(Clone, Copy)]
pub struct ThreadNumber(#[cfg(target_os = "linux")] libc::pid_t);

impl ThreadNumber {
    /// The id of the calling thread.
    #[cfg(target_os = "linux")]
    pub fn current() -> ThreadNumber {
        // SAFETY: the call takes no argument and always succeeds.
        ThreadNumber(unsafe { libc::gettid() })
    }

    #[cfg(not(target_os = "linux"))]
    pub fn current() -> ThreadNumber {
        ThreadNumber()
    }
}

/// Wakes a thread by calling `wake`, on another CPU than the current one if the thread's affinity allows that.
#[cfg(target_os = "linux")]
pub fn wake_on_other_cpu(thread: ThreadNumber, wake: impl FnOnce()) {
    const BYTES: usize = size_of::<libc::cpu_set_t>();
    let ThreadNumber(number) = thread;
    // SAFETY: a CPU set is plain bits, for which all zeros are valid; every set passed has BYTES bytes, and `current`
    // is one of their bits, as checked.
    unsafe {
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        let current = usize::try_from(libc::sched_getcpu()).unwrap_or(usize::MAX);
        if current >= 8 * BYTES || libc::sched_getaffinity(number, BYTES, &mut allowed) != 0 {
            return wake();
        }
        let mut others = allowed;
        libc::CPU_CLR(current, &mut others);
        // The system chooses a CPU when it wakes the thread; afterwards the thread may run anywhere again. If no other
        // CPU is allowed, the call fails and changes nothing.
        let restricted = libc::sched_setaffinity(number, BYTES, &others) == 0;
        wake();
        // Restored only if nobody else has set the affinity meanwhile.
        let mut now = allowed;
        if restricted
            && libc::sched_getaffinity(number, BYTES, &mut now) == 0
            && libc::CPU_EQUAL(&now, &others)
        {
            libc::sched_setaffinity(number, BYTES, &allowed);
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub fn wake_on_other_cpu(_: ThreadNumber, wake: impl FnOnce()) {
    wake()
}

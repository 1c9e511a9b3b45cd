//! The state word of a storage: who uses its memory, and whether a thread is about to exchange it.
//!
//! ```text
//! closing (1 bit) | exports (31 bits) | pins (32 bits)
//! ```

use std::sync::atomic::{AtomicU64, Ordering::*};
use std::time::{Duration, Instant};

const PIN: u64 = 1;
const PINS: u64 = (1 << 32) - 1;
const EXPORT: u64 = 1 << 32;
const CLOSING: u64 = 1 << 63;

pub struct State(AtomicU64);

impl State {
    /// Open, with no pin and no export.
    #[inline]
    pub const fn new() -> State {
        State(AtomicU64::new(0))
    }

    /// Counts a pin, or returns `None` if the storage is closing.
    #[inline]
    pub fn try_pin(&self) -> Option<Pin<'_>> {
        let pin = Pin(self);
        // One atomic operation counts and checks: either the closing bit is seen here, or the closer sees this pin.
        let closing = self.0.fetch_add(PIN, Acquire) & CLOSING != 0;
        (!closing).then_some(pin) // a pin that is not returned is dropped, and so taken back
    }

    /// Waits until the storage is open again. The caller must hold no pin at all, or the closer might wait for it.
    #[cold]
    pub fn wait_until_open(&self) {
        wait_while(|| self.0.load(Relaxed) & CLOSING != 0);
    }

    /// Counts an export; waits while the storage is closed.
    pub fn export(&self) {
        while self.0.fetch_add(EXPORT, Acquire) & CLOSING != 0 {
            self.0.fetch_sub(EXPORT, Release);
            self.wait_until_open();
        }
    }

    /// The number of exports.
    pub fn exports(&self) -> usize {
        ((self.0.load(Relaxed) & !CLOSING) / EXPORT) as usize
    }

    /// Takes back one export.
    pub fn unexport(&self) {
        let before = self.0.fetch_sub(EXPORT, Release);
        debug_assert!(before & !CLOSING >= EXPORT, "unexport without export");
    }

    /// Closes the storage to new pins; waits while another thread has closed it. `Err` with the number of exports if
    /// there are any.
    pub fn close(&self) -> Result<Closed<'_>, usize> {
        let mut state = self.0.load(Relaxed);
        loop {
            if state & CLOSING != 0 {
                self.wait_until_open();
                state = self.0.load(Relaxed);
                continue;
            }
            if state >= EXPORT {
                return Err((state / EXPORT) as usize);
            }
            match self.0.compare_exchange_weak(state, state | CLOSING, Acquire, Relaxed) {
                Ok(_) => return Ok(Closed(self)),
                Err(now) => state = now,
            }
        }
    }
}

/// One counted pin. Dropping it takes it back.
pub struct Pin<'a>(&'a State);

impl Drop for Pin<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.0.fetch_sub(PIN, Release);
    }
}

/// A closed storage. Dropping it, also by a panic, opens the storage again.
pub struct Closed<'a>(&'a State);

impl Closed<'_> {
    /// Waits until no pin is left, at most for `patience`. Returns whether none is.
    pub fn wait_for_pins(&self, patience: Duration) -> bool {
        let start = Instant::now();
        let pinned = || self.0.0.load(Acquire) & PINS != 0;
        wait_while(|| pinned() && start.elapsed() < patience);
        !pinned()
    }
}

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_and(!CLOSING, Release);
    }
}

/// Spins for a moment, then yields the CPU to other threads.
#[cold]
fn wait_while(busy: impl Fn() -> bool) {
    const SPINS: usize = 64;
    let mut rounds = 0;
    while busy() {
        rounds += 1;
        if rounds < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
    }
}

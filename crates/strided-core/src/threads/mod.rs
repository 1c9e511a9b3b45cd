//! The thread pool: workers that help the thread that computes.
//!
//! ```text
//! caller:  post the job -> take pieces until none is left -> withdraw it -> wait for the workers inside
//! worker:  see a new job -> step inside -> take pieces until none is left -> step out -> spin, then sleep
//! ```
//! There is one job at a time. A caller that finds another job posted (by another Python thread, or by a kernel that
//! runs within a kernel) does all of its pieces itself, so that no thread ever waits for one that might wait for it.
//! The caller takes pieces like every worker: a job gets done without any helper. Workers leave between two pieces when
//! there are more callers than threads, so that callers do not compete with them for CPUs.
//!
//! Workers spin for 200 us before they sleep. While one of them spins, work on 16384 cheap elements is shared; sleeping
//! workers are woken for 768k elements, or for as many in several calls within a millisecond. They are woken on another
//! CPU than the caller's (`affinity`).
//!
//! Between two pieces the caller looks at the clock: a call that has run for a second checks every 100 ms whether it
//! was interrupted (Ctrl-C). After a fork the child has no workers and starts its own.

mod affinity;
mod shared;

pub use shared::Shared;

use crate::error::{Error, Problem, Result};
use affinity::{ThreadNumber, wake_on_other_cpu};
use std::cell::Cell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering::*};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{Builder, Thread, available_parallelism};
use std::time::{Duration, Instant};

/// The maximal number of threads.
pub const MAX_THREADS: usize = 256;
/// Work to share if a worker is awake, in elements of a cheap operation.
const AWAKE_ELEMENTS: usize = 16 << 10;
/// Work for which sleeping workers are woken, which takes 16 to 60 us.
const WAKE_ELEMENTS: usize = 768 << 10;
/// Small calls within this time add up to [`WAKE_ELEMENTS`].
const BURST: Duration = Duration::from_millis(1);
/// Up to this many helpers are woken on another CPU than the caller's, which takes a microsecond each. If there are
/// more, the system spreads them itself.
const MAX_PLACED_HELPERS: usize = 7;
/// How long a worker looks for the next job before it sleeps.
const SPIN: Duration = Duration::from_micros(200);
/// A call checks for an interrupt after this time, and then at every interval.
const INTERRUPT_PATIENCE: Duration = Duration::from_secs(1);
const INTERRUPT_INTERVAL: Duration = Duration::from_millis(100);
/// Elements of sequential work between two looks at the clock.
const ELEMENTS_PER_CHECK: usize = 1 << 16;

/// How many threads compute, the caller included; 0 until it is first asked.
static LIMIT: AtomicUsize = AtomicUsize::new(0);
/// The workers that were started in this process.
static WORKERS: Mutex<Vec<Arc<Worker>>> = Mutex::new(Vec::new());
/// Whether a caller has the right to post a job.
static OCCUPIED: AtomicBool = AtomicBool::new(false);
/// The posted job. Only workers that are counted in `INSIDE` may use it.
static JOB: AtomicPtr<PoolJob<'static>> = AtomicPtr::new(null_mut());
/// Workers that may hold a pointer to the job.
static INSIDE: AtomicUsize = AtomicUsize::new(0);
/// The number of jobs posted so far: workers wait for it to change.
static EPOCH: AtomicU32 = AtomicU32::new(0);
/// Workers that look for a job right now.
static SPINNING: AtomicUsize = AtomicUsize::new(0);
/// Callers that compute now.
static CALLERS: AtomicUsize = AtomicUsize::new(0);
/// Elements of calls that were too small to wake a worker, since a job was posted.
static UNSHARED_ELEMENTS: AtomicUsize = AtomicUsize::new(0);
/// When the first of these calls began, in microseconds.
static UNSHARED_SINCE: AtomicU64 = AtomicU64::new(0);
/// Whether the next job takes its pieces from last to first. Every job reverses the direction of the one before. If the
/// operands are larger than the caches, these still hold what the last job touched last, but not what it touched first.
/// `x.sum()` of 10M float32 in a loop takes 0.9 ms instead of 1.15 with a last-level cache of 32 MB.
static REVERSED: AtomicBool = AtomicBool::new(false);
/// Returns whether a call is to be given up. A long call asks at every [`INTERRUPT_INTERVAL`].
static INTERRUPT_CHECK: OnceLock<fn() -> bool> = OnceLock::new();

thread_local! {
    /// The calls of this thread among `CALLERS`: a signal handler may compute in the middle of a call.
    static CALLS: Cell<usize> = const { Cell::new(0) };
    /// When the call began that this thread is in the middle of.
    static CALL_START: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Runs the work of one call. Interrupts are checked by the time since its beginning, so that a call of many short jobs
/// can be interrupted, too.
pub fn interruptible_call<R>(work: impl FnOnce() -> R) -> R {
    struct RestoreStart(Option<Instant>);
    impl Drop for RestoreStart {
        fn drop(&mut self) {
            CALL_START.set(self.0);
        }
    }
    let _restore = RestoreStart(CALL_START.replace(Some(Instant::now())));
    work()
}

/// Looks for interrupts between the pieces of a call.
struct InterruptClock {
    /// When the call began.
    start: Instant,
    /// When to look next, counted from there.
    next_check: Duration,
}

impl InterruptClock {
    fn new() -> InterruptClock {
        let now = Instant::now();
        let start = CALL_START.get().unwrap_or(now);
        InterruptClock { start, next_check: next_interrupt_check(now - start) }
    }

    /// Fails if the call was interrupted.
    fn check(&mut self) -> Result<()> {
        let elapsed = self.start.elapsed();
        if elapsed <= self.next_check {
            return Ok(());
        }
        self.next_check = next_interrupt_check(elapsed);
        match INTERRUPT_CHECK.get() {
            Some(check) if check() => Err(Error::new(Problem::Interrupted)),
            _ => Ok(()),
        }
    }
}

/// A function that tells whether this call was interrupted, for code that waits for something else than threads.
pub fn interrupt_watch() -> impl FnMut() -> bool {
    let mut clock = InterruptClock::new();
    move || clock.check().is_err()
}

/// When to check for an interrupt next, counted from the beginning of a call that has run for `elapsed`.
fn next_interrupt_check(elapsed: Duration) -> Duration {
    let intervals = elapsed.as_millis() / INTERRUPT_INTERVAL.as_millis();
    INTERRUPT_PATIENCE.max(INTERRUPT_INTERVAL * (intervals as u32).saturating_add(1))
}

struct Worker {
    thread: OnceLock<Thread>,
    /// Set before the worker sleeps for the first time.
    number: OnceLock<ThreadNumber>,
    sleeps: AtomicBool,
}

/// Pieces of work that the caller and its helpers take one by one.
struct PoolJob<'a> {
    piece: &'a (dyn Fn(usize) + Sync),
    pieces: usize,
    next: AtomicUsize,
    reversed: bool,
    /// How many workers may still join.
    openings: AtomicUsize,
    panicked: AtomicBool,
}

/// How many threads compute: as set, or `STRIDED_NUM_THREADS`, or `OMP_NUM_THREADS`, or as many as the CPUs that
/// affinity and control groups leave to this process.
pub fn limit() -> usize {
    match LIMIT.load(Relaxed) {
        0 => first_limit(),
        limit => limit,
    }
}

#[cold]
fn first_limit() -> usize {
    let from_env = |name| std::env::var(name).ok()?.trim().parse::<usize>().ok().filter(|&n| n > 0);
    let limit = from_env("STRIDED_NUM_THREADS")
        .or_else(|| from_env("OMP_NUM_THREADS"))
        .unwrap_or_else(|| available_parallelism().map_or(1, |n| n.get()));
    let _ = LIMIT.compare_exchange(0, limit.min(MAX_THREADS), Relaxed, Relaxed);
    LIMIT.load(Relaxed)
}

/// Sets how many threads compute from now on.
pub fn set_limit(threads: isize) -> Result<()> {
    if threads < 1 || threads > MAX_THREADS as isize {
        let wanted = format!("1 to {MAX_THREADS}");
        return Err(Error::argument("num_threads", threads, wanted));
    }
    LIMIT.store(threads as usize, Relaxed);
    Ok(())
}

/// Sets the function that tells whether a long call should give up. Later calls have no effect.
pub fn set_interrupt_check(check: fn() -> bool) {
    let _ = INTERRUPT_CHECK.set(check);
    strided_opencl::queue::set_interrupt_check(check);
}

/// Whether to share work with the pool. `work` is in elements of a cheap operation.
#[inline]
pub fn should_parallelize(work: usize) -> bool {
    work >= AWAKE_ELEMENTS && should_share(work)
}

#[cold]
fn should_share(work: usize) -> bool {
    if limit() == 1 {
        return false;
    }
    if work >= WAKE_ELEMENTS || SPINNING.load(Relaxed) > 0 {
        return true;
    }
    // Many small calls in a row are worth waking a worker, too.
    static START: OnceLock<Instant> = OnceLock::new();
    let now = || START.get_or_init(Instant::now).elapsed().as_micros() as u64;
    let before = UNSHARED_ELEMENTS.fetch_add(work, Relaxed);
    if before == 0 {
        UNSHARED_SINCE.store(now(), Relaxed);
    }
    if before + work < WAKE_ELEMENTS {
        return false;
    }
    let is_burst = now().saturating_sub(UNSHARED_SINCE.load(Relaxed)) < BURST.as_micros() as u64;
    if !is_burst {
        UNSHARED_ELEMENTS.store(0, Relaxed);
    }
    is_burst
}

/// Calls `piece(0)` to `piece(pieces - 1)`, each once: on this thread and, if `shared`, on workers of the pool that are
/// free. Pieces may run at the same time and in any order. Fails if the call was interrupted.
pub fn for_each_piece(pieces: usize, shared: bool, piece: &(dyn Fn(usize) + Sync)) -> Result<()> {
    share_pieces(limit(), pieces, shared, piece)
}

/// [`for_each_piece`] for the ranges of up to `per_piece` numbers that make up `0..n`.
#[inline]
pub fn for_each_range(
    n: usize,
    per_piece: usize,
    shared: bool,
    work: &(impl Fn(Range<usize>) + Sync),
) -> Result<()> {
    for_each_piece(n.div_ceil(per_piece), shared, &|i| work(i * per_piece..n.min((i + 1) * per_piece)))
}

/// As [`for_each_piece`], for pieces that need scratch memory. Each gets an element of `scratch` that no other piece uses meanwhile; at
/// most as many threads take part as there are elements, which is one or more.
pub fn for_each_piece_with<S: Send>(
    pieces: usize,
    shared: bool,
    scratch: &mut [S],
    piece: &(dyn Fn(usize, &mut S) + Sync),
) -> Result<()> {
    let threads = scratch.len().min(limit());
    if threads == 1 || pieces == 1 || !shared {
        return for_each_in_order(pieces, &mut |i| piece(i, &mut scratch[0]));
    }
    let unused = Mutex::new(scratch.iter_mut().collect::<Vec<_>>());
    let lock = || unused.lock().unwrap_or_else(PoisonError::into_inner);
    share_pieces(threads, pieces, true, &|i| {
        let own = lock().pop().expect("as many elements as threads");
        piece(i, own);
        lock().push(own);
    })
}

/// [`for_each_piece`] on at most `threads` threads.
fn share_pieces(threads: usize, pieces: usize, shared: bool, piece: &(dyn Fn(usize) + Sync)) -> Result<()> {
    let _caller = Caller::new();
    let job = PoolJob {
        piece,
        pieces,
        next: AtomicUsize::new(0),
        reversed: REVERSED.fetch_xor(true, Relaxed),
        openings: AtomicUsize::new(threads.min(pieces).saturating_sub(1)),
        panicked: AtomicBool::new(false),
    };
    let alone = !shared
        || job.openings.load(Relaxed) == 0
        || OCCUPIED.compare_exchange(false, true, Acquire, Relaxed).is_err();
    let posted = (!alone).then(|| PostedJob::new(&job));
    let done = job.work_as_caller();
    drop(posted);
    if job.panicked.load(Relaxed) {
        panic!("a thread of the pool panicked");
    }
    done
}

/// Calls `piece(0)` to `piece(pieces - 1)` one after the other on this thread. Fails if the call was interrupted.
pub fn for_each_in_order(pieces: usize, piece: &mut dyn FnMut(usize)) -> Result<()> {
    let _caller = Caller::new();
    let mut interrupts = InterruptClock::new();
    for i in 0..pieces {
        piece(i);
        interrupts.check()?;
    }
    Ok(())
}

/// [`for_each_in_order`] for ranges of elements that make up `0..n`.
pub fn for_each_range_in_order(n: usize, work: &mut dyn FnMut(Range<usize>)) -> Result<()> {
    let pieces = n.div_ceil(ELEMENTS_PER_CHECK);
    for_each_in_order(pieces, &mut |i| work(i * ELEMENTS_PER_CHECK..n.min((i + 1) * ELEMENTS_PER_CHECK)))
}

impl PoolJob<'_> {
    #[inline]
    fn take(&self) -> Option<usize> {
        let i = Some(self.next.fetch_add(1, Relaxed)).filter(|&i| i < self.pieces)?;
        Some(if self.reversed { self.pieces - 1 - i } else { i })
    }

    fn work_as_caller(&self) -> Result<()> {
        let mut interrupts = InterruptClock::new();
        while let Some(i) = self.take() {
            (self.piece)(i);
            interrupts.check().inspect_err(|_| self.next.store(self.pieces, Relaxed))?;
        }
        Ok(())
    }

    fn work_as_helper(&self) {
        // An opening is filled once: a worker that comes late finds none.
        if self.openings.fetch_update(Relaxed, Relaxed, |n| n.checked_sub(1)).is_err() {
            return;
        }
        while CALLERS.load(Relaxed) <= limit()
            && let Some(i) = self.take()
        {
            if catch_unwind(AssertUnwindSafe(|| (self.piece)(i))).is_err() {
                self.panicked.store(true, Relaxed);
                self.next.store(self.pieces, Relaxed);
            }
        }
    }
}

/// A job that workers can see. Dropping it, also by a panic, waits until no worker can reach the job any more.
struct PostedJob;

impl PostedJob {
    fn new(job: &PoolJob) -> PostedJob {
        UNSHARED_ELEMENTS.store(0, Relaxed);
        let helpers = job.openings.load(Relaxed);
        JOB.store(std::ptr::from_ref(job).cast_mut().cast(), SeqCst);
        EPOCH.fetch_add(1, SeqCst);
        let mut workers = WORKERS.lock().unwrap_or_else(PoisonError::into_inner);
        while workers.len() < helpers {
            // If the system starts no more threads, or has no memory for them, the job runs on fewer.
            let Some(worker) = workers.try_reserve(1).ok().and_then(|()| Worker::start()) else { break };
            workers.push(worker);
        }
        for worker in workers.iter().take(helpers) {
            if worker.sleeps.load(SeqCst) {
                worker.wake(helpers <= MAX_PLACED_HELPERS);
            }
        }
        PostedJob
    }
}

impl Drop for PostedJob {
    fn drop(&mut self) {
        const SPINS: usize = 4096;
        JOB.store(null_mut(), SeqCst);
        let mut rounds = 0;
        while INSIDE.load(SeqCst) > 0 {
            rounds += 1;
            if rounds < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
        OCCUPIED.store(false, Release);
    }
}

impl Worker {
    fn start() -> Option<Arc<Worker>> {
        let worker = Arc::new(Worker {
            thread: OnceLock::new(),
            number: OnceLock::new(),
            sleeps: AtomicBool::new(false),
        });
        let started = worker.clone();
        // The job for which this worker is started has been counted already: it must not be missed.
        let seen = EPOCH.load(SeqCst).wrapping_sub(1);
        let handle = Builder::new().name("strided".into()).spawn(move || started.work_forever(seen)).ok()?;
        worker.thread.set(handle.thread().clone()).expect("set once");
        Some(worker)
    }

    fn wake(&self, on_other_cpu: bool) {
        let unpark = || self.thread.get().expect("set when it was started").unpark();
        match self.number.get() {
            Some(&number) if on_other_cpu => wake_on_other_cpu(number, unpark),
            _ => unpark(),
        }
    }

    fn work_forever(&self, mut seen: u32) -> ! {
        let _ = self.number.set(ThreadNumber::current());
        loop {
            seen = self.next_epoch(seen);
            let _inside = CountGuard::new(&INSIDE);
            let job = JOB.load(SeqCst);
            if !job.is_null() {
                // SAFETY: before a job ends, `PostedJob::drop` sets JOB to null and then waits until INSIDE is 0. This
                // worker was counted in INSIDE before it loaded the pointer.
                unsafe { &*job }.work_as_helper();
            }
        }
    }

    /// Waits until the epoch differs from `seen`, and returns it.
    fn next_epoch(&self, seen: u32) -> u32 {
        let changed = || Some(EPOCH.load(SeqCst)).filter(|&now| now != seen);
        let spinning = CountGuard::new(&SPINNING);
        let start = Instant::now();
        while start.elapsed() < SPIN {
            // The clock is read once per 64 loads.
            for _ in 0..64 {
                if let Some(now) = changed() {
                    return now;
                }
                std::hint::spin_loop();
            }
        }
        drop(spinning);
        self.sleeps.store(true, SeqCst);
        loop {
            if let Some(now) = changed() {
                self.sleeps.store(false, SeqCst);
                return now;
            }
            std::thread::park();
        }
    }
}

/// Adds 1 to a counter while it lives.
struct CountGuard<'a>(&'a AtomicUsize);

impl<'a> CountGuard<'a> {
    fn new(count: &'a AtomicUsize) -> CountGuard<'a> {
        count.fetch_add(1, SeqCst);
        CountGuard(count)
    }
}

impl Drop for CountGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

/// A call that computes, counted for all threads and for its own.
struct Caller<'a>(#[allow(dead_code)] CountGuard<'a>);

impl Caller<'_> {
    fn new() -> Self {
        CALLS.set(CALLS.get() + 1);
        Caller(CountGuard::new(&CALLERS))
    }
}

impl Drop for Caller<'_> {
    fn drop(&mut self) {
        CALLS.set(CALLS.get() - 1);
    }
}

/// Whether this thread is in the middle of a call that computes. If so, the code that asks is a signal handler.
pub fn in_call() -> bool {
    CALLS.get() > 0
}

/// Before a fork: waits until helpers have finished their pieces and left the job; its caller does the rest. A piece
/// that a helper has begun would never be finished in the child.
pub fn dismiss_helpers() {
    JOB.store(null_mut(), SeqCst);
    while INSIDE.load(SeqCst) > 0 {
        std::thread::yield_now();
    }
}

/// In the child of a fork: forgets the workers, which exist in the parent only. No other thread may be computing.
pub fn reset_after_fork() {
    WORKERS.lock().unwrap_or_else(PoisonError::into_inner).clear();
    JOB.store(null_mut(), SeqCst);
    for count in [&INSIDE, &SPINNING] {
        count.store(0, SeqCst);
    }
    CALLERS.store(CALLS.get(), SeqCst);
    OCCUPIED.store(false, SeqCst);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_piece_runs_once(pieces: usize) {
        let counts: Vec<AtomicUsize> = (0..pieces).map(|_| AtomicUsize::new(0)).collect();
        for_each_piece(pieces, true, &|i| {
            counts[i].fetch_add(1, Relaxed);
        })
        .unwrap();
        assert!(counts.iter().all(|count| count.load(Relaxed) == 1));
    }

    #[test]
    fn every_piece_runs_once_with_several_callers() {
        set_limit(3).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..500).for_each(|round| every_piece_runs_once(round % 40)));
            }
        });
    }

    #[test]
    fn a_piece_may_run_a_job_itself() {
        for_each_piece(8, true, &|_| every_piece_runs_once(8)).unwrap();
    }

    #[test]
    fn a_panic_reaches_the_caller_and_leaves_the_pool_usable() {
        let fails = || for_each_piece(16, true, &|i| assert!(i != 9, "piece 9"));
        assert!(catch_unwind(fails).is_err());
        every_piece_runs_once(16);
    }

    #[test]
    fn a_limit_of_0_or_above_the_maximum_is_refused() {
        assert!(set_limit(0).is_err() && set_limit(MAX_THREADS as isize + 1).is_err());
    }
}

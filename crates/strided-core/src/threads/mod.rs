//! The pool: a few threads that help the one that computes.
//!
//! ```text
//! caller:  post the job -> take pieces until none is left -> close it -> wait for helpers inside
//! worker:  see a new job -> step inside -> take pieces until none is left -> step out -> spin, then sleep
//! ```
//! There is one job at a time. Who finds the place taken (another Python thread, or a kernel within a
//! kernel) does all of its pieces itself: nobody ever waits for a thread that might wait for him. Helpers
//! leave between two pieces when there are more callers than threads, so that callers do not crowd the CPUs.

mod affinity;

use crate::error::{Error, Problem, Result};
use affinity::{Number, wake_apart};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering::*};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{Builder, Thread, available_parallelism};
use std::time::{Duration, Instant};

/// Work that two threads share if one of them need not be woken first, in elements of a cheap operation.
const AWAKE: usize = 16 << 10;
/// Work for which sleeping threads are woken, which takes 16 to 60 us.
const ASLEEP: usize = 768 << 10;
/// As much work in this time counts as one piece.
const IN_A_ROW: Duration = Duration::from_millis(1);
/// Helpers whose places are cared for when they are woken, which takes a microsecond each: of more the system does.
const FEW: usize = 7;
/// How long a worker looks for the next job before it sleeps.
const SPIN: Duration = Duration::from_micros(200);
/// A call may be interrupted after this long, and then again and again.
const PATIENCE: Duration = Duration::from_secs(1);
const INTERVAL: Duration = Duration::from_millis(100);

/// How many threads compute, the caller's among them; 0 before anybody asked.
static LIMIT: AtomicUsize = AtomicUsize::new(0);
/// The workers that were started in this process.
static WORKERS: Mutex<Vec<Arc<Worker>>> = Mutex::new(Vec::new());
/// Whether somebody has a job here.
static TAKEN: AtomicBool = AtomicBool::new(false);
/// The job, for those who are inside.
static JOB: AtomicPtr<Job<'static>> = AtomicPtr::new(null_mut());
/// Workers that may hold a pointer to the job.
static INSIDE: AtomicUsize = AtomicUsize::new(0);
/// Counts jobs: workers wait for the next number.
static EPOCH: AtomicU32 = AtomicU32::new(0);
/// Workers that look for a job right now.
static SPINNING: AtomicUsize = AtomicUsize::new(0);
/// Callers that compute now.
static CALLERS: AtomicUsize = AtomicUsize::new(0);
/// Work that was too small to wake anybody, since somebody was woken.
static WISHED: AtomicUsize = AtomicUsize::new(0);
/// When that began, in microseconds.
static WISHED_SINCE: AtomicU64 = AtomicU64::new(0);
/// Whether the next call takes its pieces from the last to the first. Every call turns round: what the one before touched
/// last is still in the caches, and what it touched first is not, where an operand is larger than they are.
static BACKWARDS: AtomicBool = AtomicBool::new(false);
/// Asked now and then by a thread whose call takes long: whether to give up.
static INTERRUPTED: OnceLock<fn() -> bool> = OnceLock::new();

thread_local! {
    /// Those of them that are calls of this thread: a signal handler may compute in the middle of a call.
    static CALLS: Cell<usize> = const { Cell::new(0) };
    /// When the call began that this thread is in the middle of.
    static BEGAN: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Runs the work of one call. It may be many jobs, none of which takes long: all of them together can be interrupted.
pub fn interruptible_call<R>(work: impl FnOnce() -> R) -> R {
    struct Outer(Option<Instant>);
    impl Drop for Outer {
        fn drop(&mut self) {
            BEGAN.set(self.0);
        }
    }
    let _outer = Outer(BEGAN.replace(Some(Instant::now())));
    work()
}

/// When to ask next whether to give up, after the beginning of a call that takes this long already.
fn patience(taken: Duration) -> Duration {
    let turns = taken.as_millis() / INTERVAL.as_millis();
    PATIENCE.max(INTERVAL * (turns as u32).saturating_add(1))
}

struct Worker {
    thread: OnceLock<Thread>,
    /// Set before it sleeps.
    number: OnceLock<Number>,
    sleeps: AtomicBool,
}

struct Job<'a> {
    piece: &'a (dyn Fn(usize) + Sync),
    pieces: usize,
    next: AtomicUsize,
    backwards: bool,
    /// How many workers may still join.
    places: AtomicUsize,
    panicked: AtomicBool,
}

/// How many threads compute: as set, else `STRIDED_NUM_THREADS`, else `OMP_NUM_THREADS`, else as many as the
/// CPUs that affinity and control groups leave to this process.
pub fn limit() -> usize {
    match LIMIT.load(Relaxed) {
        0 => first_limit(),
        limit => limit,
    }
}

#[cold]
fn first_limit() -> usize {
    let asked = |name| std::env::var(name).ok()?.trim().parse::<usize>().ok().filter(|&n| n > 0);
    let limit = asked("STRIDED_NUM_THREADS")
        .or_else(|| asked("OMP_NUM_THREADS"))
        .unwrap_or_else(|| available_parallelism().map_or(1, |n| n.get()));
    let _ = LIMIT.compare_exchange(0, limit.min(MOST), Relaxed, Relaxed);
    LIMIT.load(Relaxed)
}

/// More threads than this are not started.
pub const MOST: usize = 256;

/// Sets how many threads compute from now on.
pub fn set_limit(threads: isize) -> Result<()> {
    if threads < 1 || threads > MOST as isize {
        return Err(Error::argument("set_num_threads", "num_threads", threads, format!("1 to {MOST}")));
    }
    LIMIT.store(threads as usize, Relaxed);
    Ok(())
}

/// Names the function that tells whether a long call should give up. The first one stays.
pub fn set_interrupt_check(check: fn() -> bool) {
    let _ = INTERRUPTED.set(check);
}

/// Whether to cut work into pieces for several threads. `work` counts elements of a cheap operation.
#[inline]
pub fn should_parallelize(work: usize) -> bool {
    work >= AWAKE && worth_waking(work)
}

#[cold]
fn worth_waking(work: usize) -> bool {
    if limit() == 1 {
        return false;
    }
    if work >= ASLEEP || SPINNING.load(Relaxed) > 0 {
        return true;
    }
    // Many small calls in a row are worth it too.
    static START: OnceLock<Instant> = OnceLock::new();
    let now = || START.get_or_init(Instant::now).elapsed().as_micros() as u64;
    let before = WISHED.fetch_add(work, Relaxed);
    if before == 0 {
        WISHED_SINCE.store(now(), Relaxed);
    }
    if before + work < ASLEEP {
        return false;
    }
    let in_a_row = now().saturating_sub(WISHED_SINCE.load(Relaxed)) < IN_A_ROW.as_micros() as u64;
    if !in_a_row {
        WISHED.store(0, Relaxed);
    }
    in_a_row
}

/// Calls `piece(0)` to `piece(pieces - 1)`, each once, on this thread and, where `shared`, on those of the
/// pool that are free. Pieces may run at the same time, in any order. Fails if the call was interrupted.
pub fn run(pieces: usize, shared: bool, piece: &(dyn Fn(usize) + Sync)) -> Result<()> {
    let _caller = Caller::new();
    let job = Job {
        piece,
        pieces,
        next: AtomicUsize::new(0),
        backwards: BACKWARDS.fetch_xor(true, Relaxed),
        places: AtomicUsize::new(limit().min(pieces).saturating_sub(1)),
        panicked: AtomicBool::new(false),
    };
    let alone = !shared
        || job.places.load(Relaxed) == 0
        || TAKEN.compare_exchange(false, true, Acquire, Relaxed).is_err();
    let posted = (!alone).then(|| Posted::new(&job));
    let done = job.work_as_caller();
    drop(posted);
    if job.panicked.load(Relaxed) {
        panic!("a thread of the pool panicked");
    }
    done
}

impl Job<'_> {
    #[inline]
    fn take(&self) -> Option<usize> {
        let i = Some(self.next.fetch_add(1, Relaxed)).filter(|&i| i < self.pieces)?;
        Some(if self.backwards { self.pieces - 1 - i } else { i })
    }

    fn work_as_caller(&self) -> Result<()> {
        let now = Instant::now();
        let began = BEGAN.get().unwrap_or(now);
        let mut next = patience(now - began);
        while let Some(i) = self.take() {
            (self.piece)(i);
            let taken = began.elapsed();
            if taken > next {
                next = patience(taken);
                if INTERRUPTED.get().is_some_and(|check| check()) {
                    self.next.store(self.pieces, Relaxed);
                    return Err(Error::new("", Problem::Interrupted));
                }
            }
        }
        Ok(())
    }

    fn work_as_helper(&self) {
        // A place is taken once; late-comers find none.
        if self.places.fetch_update(Relaxed, Relaxed, |n| n.checked_sub(1)).is_err() {
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

/// A job in its place. Dropped, also by a panic, when no worker can reach it any more.
struct Posted;

impl Posted {
    fn new(job: &Job) -> Posted {
        WISHED.store(0, Relaxed);
        let helpers = job.places.load(Relaxed);
        JOB.store(std::ptr::from_ref(job).cast_mut().cast(), SeqCst);
        EPOCH.fetch_add(1, SeqCst);
        let mut workers = WORKERS.lock().unwrap_or_else(PoisonError::into_inner);
        while workers.len() < helpers {
            match Worker::start() {
                Some(worker) => workers.push(worker),
                None => break, // the system gives no more threads: fewer do
            }
        }
        for worker in workers.iter().take(helpers) {
            if worker.sleeps.load(SeqCst) {
                worker.wake(helpers <= FEW);
            }
        }
        Posted
    }
}

impl Drop for Posted {
    fn drop(&mut self) {
        JOB.store(null_mut(), SeqCst);
        let mut rounds = 0;
        while INSIDE.load(SeqCst) > 0 {
            rounds += 1;
            if rounds < 4096 { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
        TAKEN.store(false, Release);
    }
}

impl Worker {
    fn start() -> Option<Arc<Worker>> {
        let worker = Arc::new(Worker {
            thread: OnceLock::new(),
            number: OnceLock::new(),
            sleeps: AtomicBool::new(false),
        });
        let own = worker.clone();
        // The job that made this worker necessary has the present number: it is not to be missed.
        let seen = EPOCH.load(SeqCst).wrapping_sub(1);
        let handle = Builder::new().name("strided".into()).spawn(move || own.live(seen)).ok()?;
        worker.thread.set(handle.thread().clone()).expect("set once");
        Some(worker)
    }

    fn wake(&self, apart: bool) {
        let unpark = || self.thread.get().expect("set when it was started").unpark();
        match self.number.get() {
            Some(&number) if apart => wake_apart(number, unpark),
            _ => unpark(),
        }
    }

    fn live(&self, mut seen: u32) -> ! {
        let _ = self.number.set(Number::own());
        loop {
            seen = self.next_job(seen);
            let _inside = Counted::new(&INSIDE);
            let job = JOB.load(SeqCst);
            if !job.is_null() {
                // SAFETY: whoever posted the job takes it away before it ends, and then waits until nobody
                // is inside; we were inside before we saw it.
                unsafe { &*job }.work_as_helper();
            }
        }
    }

    /// Waits until the number of jobs differs from `seen`, and returns it.
    fn next_job(&self, seen: u32) -> u32 {
        let changed = || Some(EPOCH.load(SeqCst)).filter(|&now| now != seen);
        let spinning = Counted::new(&SPINNING);
        let start = Instant::now();
        while start.elapsed() < SPIN {
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

/// Counts someone while it lives.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicUsize) -> Counted<'a> {
        count.fetch_add(1, SeqCst);
        Counted(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

/// A call that computes, for all to see and for its own thread.
struct Caller<'a>(#[allow(dead_code)] Counted<'a>);

impl Caller<'_> {
    fn new() -> Self {
        CALLS.set(CALLS.get() + 1);
        Caller(Counted::new(&CALLERS))
    }
}

impl Drop for Caller<'_> {
    fn drop(&mut self) {
        CALLS.set(CALLS.get() - 1);
    }
}

/// Whether this thread is in the middle of a call that computes: what runs now is a signal handler.
pub fn is_calling() -> bool {
    CALLS.get() > 0
}

/// Before a fork: helpers finish their pieces and leave the job, whose caller does the rest. A piece that is under
/// way in a helper would never be done in the child.
pub fn dismiss_helpers() {
    JOB.store(null_mut(), SeqCst);
    while INSIDE.load(SeqCst) > 0 {
        std::thread::yield_now();
    }
}

/// In the child of a fork there are no workers. Nobody else may be computing at that moment.
pub fn reset_after_fork() {
    WORKERS.lock().unwrap_or_else(PoisonError::into_inner).clear();
    JOB.store(null_mut(), SeqCst);
    for count in [&INSIDE, &SPINNING] {
        count.store(0, SeqCst);
    }
    CALLERS.store(CALLS.get(), SeqCst);
    TAKEN.store(false, SeqCst);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_piece_runs_once(pieces: usize) {
        let counts: Vec<AtomicUsize> = (0..pieces).map(|_| AtomicUsize::new(0)).collect();
        run(pieces, true, &|i| {
            counts[i].fetch_add(1, Relaxed);
        })
        .unwrap();
        assert!(counts.iter().all(|count| count.load(Relaxed) == 1));
    }

    #[test]
    fn every_piece_runs_once_whoever_calls() {
        set_limit(3).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..500).for_each(|round| every_piece_runs_once(round % 40)));
            }
        });
    }

    #[test]
    fn a_piece_may_have_pieces() {
        run(8, true, &|_| every_piece_runs_once(8)).unwrap();
    }

    #[test]
    fn a_panic_reaches_the_caller_and_leaves_the_pool_usable() {
        let fails = || run(16, true, &|i| assert!(i != 9, "piece 9"));
        assert!(catch_unwind(fails).is_err());
        every_piece_runs_once(16);
    }

    #[test]
    fn a_limit_of_none_or_too_many_is_refused() {
        assert!(set_limit(0).is_err() && set_limit(MOST as isize + 1).is_err());
    }
}

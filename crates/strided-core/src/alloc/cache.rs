//! Large blocks that wait for the next request of their size: at most so many bytes, and not for long.

use super::system::{self, map, unmap};
use super::{ALIGN, CACHED, MAPPED, plain, release_plain};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Size classes per doubling: a block is at most an eighth larger than what was asked for.
const STEPS: usize = 8;
/// Bits of the largest size that has a class.
const BITS: usize = 50;
const CLASSES: usize = (BITS - CACHED.ilog2() as usize) * STEPS;
/// Blocks that nobody wanted for so long are given back.
const AGE: Duration = Duration::from_secs(10);
/// How often to look for them.
const ROUND: Duration = Duration::from_secs(1);
/// The share of memory that may be kept.
const SHARE: usize = 8;

struct Kept {
    block: NonNull<u8>,
    since: Instant,
}
// SAFETY: a kept block is nobody's; whoever takes it out is its only user.
unsafe impl Send for Kept {}

struct Cache {
    /// By class; the oldest first.
    classes: [Vec<Kept>; CLASSES],
    bytes: usize,
    blocks: usize,
    looked: Option<Instant>,
}

static CACHE: Mutex<Cache> =
    Mutex::new(Cache { classes: [const { Vec::new() }; CLASSES], bytes: 0, blocks: 0, looked: None });
static HITS: AtomicUsize = AtomicUsize::new(0);
static MISSES: AtomicUsize = AtomicUsize::new(0);
/// The most bytes to keep, if that was set.
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

fn cache() -> MutexGuard<'static, Cache> {
    CACHE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The size of the class that holds `bytes`, which are more than CACHED.
pub fn class_size(bytes: usize) -> Option<usize> {
    let step = 1usize << (bytes - 1).ilog2() >> STEPS.ilog2();
    let size = bytes.checked_add(step - 1)? & !(step - 1);
    (size <= isize::MAX as usize - ALIGN).then_some(size)
}

/// The place of a class size; none for sizes that no machine has.
fn class(size: usize) -> Option<usize> {
    let doubling = (size - 1).ilog2() as usize;
    let step = (size - 1) >> (doubling - STEPS.ilog2() as usize);
    Some((doubling - CACHED.ilog2() as usize) * STEPS + step % STEPS).filter(|&class| class < CLASSES)
}

fn class_bytes(class: usize) -> usize {
    let base = CACHED << (class / STEPS);
    base + base / STEPS * (class % STEPS + 1)
}

/// The most bytes that are kept: as set, else an eighth of the memory that this process may use.
pub fn limit() -> usize {
    static SHARED: OnceLock<usize> = OnceLock::new();
    match LIMIT.load(Relaxed) {
        usize::MAX => *SHARED.get_or_init(|| system::memory().unwrap_or(8 << 30) / SHARE),
        limit => limit,
    }
}

/// Sets the most bytes to keep. What is above goes back at once.
pub fn set_limit(bytes: usize) {
    LIMIT.store(bytes.min(usize::MAX - 1), Relaxed);
    trim(bytes);
}

/// Bytes and blocks that are kept, hits and misses.
pub fn stats() -> (usize, usize, usize, usize) {
    let cache = cache();
    (cache.bytes, cache.blocks, HITS.load(Relaxed), MISSES.load(Relaxed))
}

/// A kept block, or a new one. When the system refuses, all that is kept is given back first.
pub fn take(size: usize, zeroed: bool) -> Option<NonNull<u8>> {
    if let Some(kept) = cache().take(size) {
        HITS.fetch_add(1, Relaxed);
        if zeroed {
            // SAFETY: the block is ours alone and has `size` bytes.
            unsafe { clear(kept, size) };
        }
        return Some(kept);
    }
    MISSES.fetch_add(1, Relaxed);
    fresh(size, zeroed).or_else(|| {
        trim(0);
        fresh(size, zeroed)
    })
}

fn fresh(size: usize, zeroed: bool) -> Option<NonNull<u8>> {
    if size > MAPPED { map(size) } else { plain(size, zeroed) }
}

/// # Safety
/// `block` is a block of `size` bytes that nobody else uses.
unsafe fn clear(block: NonNull<u8>, size: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if !(size > MAPPED && system::clear(block, size)) {
            block.write_bytes(0, size);
        }
    }
}

/// Keeps a block for later, and lets go of what is too much or too old.
///
/// # Safety
/// `block` came from [`take`] with this `size`, and nobody uses it any more.
pub unsafe fn keep(block: NonNull<u8>, size: usize) {
    let most = limit();
    let Some(class) = class(size).filter(|_| size <= most) else {
        // SAFETY: the caller's promise.
        return unsafe { free(block, size) };
    };
    let now = Instant::now();
    let mut cache = cache();
    cache.classes[class].push(Kept { block, since: now });
    cache.bytes += size;
    cache.blocks += 1;
    let mut gone = Vec::new();
    if cache.bytes > most {
        cache.drop_oldest(most, &mut gone);
    }
    if now.duration_since(*cache.looked.get_or_insert(now)) > ROUND {
        cache.looked = Some(now);
        cache.drop_older(now, &mut gone);
    }
    drop(cache);
    free_all(gone);
}

/// Gives back kept blocks, the oldest first, until at most so many bytes are left. Returns how many went.
pub fn trim(most: usize) -> usize {
    let mut gone = Vec::new();
    cache().drop_oldest(most, &mut gone);
    free_all(gone)
}

fn free_all(gone: Vec<(NonNull<u8>, usize)>) -> usize {
    // SAFETY: these blocks were taken out of the cache, so that nobody else has them.
    gone.into_iter().map(|(block, size)| unsafe { free(block, size) }).count()
}

/// # Safety
/// `block` came from [`fresh`] with this `size`, and nobody uses it any more.
unsafe fn free(block: NonNull<u8>, size: usize) {
    // SAFETY: the caller's promise.
    unsafe { if size > MAPPED { unmap(block, size) } else { release_plain(block, size) } }
}

impl Cache {
    /// The block that was used last: the CPU's caches may still hold some of it.
    fn take(&mut self, size: usize) -> Option<NonNull<u8>> {
        let kept = self.classes[class(size)?].pop()?;
        self.bytes -= size;
        self.blocks -= 1;
        Some(kept.block)
    }

    fn drop_oldest(&mut self, most: usize, gone: &mut Vec<(NonNull<u8>, usize)>) {
        while self.bytes > most {
            let oldest = |class: &usize| self.classes[*class].first().map(|kept| kept.since);
            let with_blocks = (0..CLASSES).filter(|class| !self.classes[*class].is_empty());
            let class = with_blocks.min_by_key(oldest).expect("bytes are in blocks");
            self.drop_first(class, 1, gone);
        }
    }

    fn drop_older(&mut self, now: Instant, gone: &mut Vec<(NonNull<u8>, usize)>) {
        for class in 0..CLASSES {
            let old = self.classes[class].iter().take_while(|kept| now.duration_since(kept.since) > AGE);
            let count = old.count();
            self.drop_first(class, count, gone);
        }
    }

    fn drop_first(&mut self, class: usize, count: usize, gone: &mut Vec<(NonNull<u8>, usize)>) {
        let size = class_bytes(class);
        gone.extend(self.classes[class].drain(..count).map(|kept| (kept.block, size)));
        self.bytes -= count * size;
        self.blocks -= count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_has_one_class_that_holds_it() {
        for bytes in (CACHED + 1..CACHED * 5).step_by(37).chain([1 << 30, (1 << 30) + 1, (1 << 49) - 1]) {
            let size = class_size(bytes).unwrap();
            assert!(size >= bytes && size - bytes < bytes / STEPS + 1, "{bytes} -> {size}");
            assert_eq!(class_bytes(class(size).unwrap()), size, "{bytes}");
            assert_eq!(class_size(size), Some(size));
        }
    }

    #[test]
    fn the_oldest_goes_first() {
        let mut cache = Cache { classes: [const { Vec::new() }; CLASSES], bytes: 0, blocks: 0, looked: None };
        let now = Instant::now();
        let address = |i: usize| NonNull::new(i as *mut u8).unwrap();
        let sizes: Vec<usize> = (1..=4).map(|i| class_size(CACHED * (1 + i % 2) + 1).unwrap()).collect();
        for (i, &size) in sizes.iter().enumerate() {
            let since = now + Duration::from_secs(i as u64);
            cache.classes[class(size).unwrap()].push(Kept { block: address(i + 1), since });
            cache.bytes += size;
            cache.blocks += 1;
        }
        let mut gone = Vec::new();
        cache.drop_oldest(sizes[2] + sizes[3], &mut gone);
        assert_eq!(gone, [(address(1), sizes[0]), (address(2), sizes[1])]);
        gone.clear();
        cache.drop_older(now + AGE + Duration::from_millis(2500), &mut gone);
        assert_eq!((&gone[..], cache.blocks), (&[(address(3), sizes[2])][..], 1));
        assert_eq!(cache.take(sizes[3]), Some(address(4)));
        assert_eq!((cache.bytes, cache.blocks), (0, 0));
    }
}

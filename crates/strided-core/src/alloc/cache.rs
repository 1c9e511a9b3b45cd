//! Large blocks that are kept for the next request of their size class: a bounded number of bytes, and not for long.

use super::sizes::{CLASSES, HUGE_PAGE_BYTES, class_bytes, class_index};
use super::system;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Blocks that were not used for this long are released.
const MAX_AGE: Duration = Duration::from_secs(10);
/// How often to look for such blocks: at most once per this time, when a block is freed.
const AGE_CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// The default limit is the usable memory divided by this.
const MEMORY_SHARE: usize = 8;
/// The usable memory where the system does not report it.
const ASSUMED_MEMORY: usize = 8 << 30;

struct CachedBlock {
    block: NonNull<u8>,
    since: Instant,
}
// SAFETY: `keep` got the block from its only user, and `Cache::take` passes it to the next one.
unsafe impl Send for CachedBlock {}

struct Cache {
    /// By class; the oldest block first.
    classes: [Vec<CachedBlock>; CLASSES],
    bytes: usize,
    blocks: usize,
    last_age_check: Option<Instant>,
}

static CACHE: Mutex<Cache> = Mutex::new(Cache::new());
static HITS: AtomicUsize = AtomicUsize::new(0);
static MISSES: AtomicUsize = AtomicUsize::new(0);
/// The limit in bytes if one was set; `usize::MAX` stands for the default.
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

fn cache() -> MutexGuard<'static, Cache> {
    CACHE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The maximal number of bytes to keep: as set, or an eighth of the memory that this process may use.
pub fn limit() -> usize {
    static DEFAULT: OnceLock<usize> = OnceLock::new();
    match LIMIT.load(Relaxed) {
        usize::MAX => {
            *DEFAULT.get_or_init(|| system::usable_memory().unwrap_or(ASSUMED_MEMORY) / MEMORY_SHARE)
        }
        limit => limit,
    }
}

/// Sets the maximal number of bytes to keep. What exceeds it is released immediately.
pub fn set_limit(bytes: usize) {
    LIMIT.store(bytes.min(usize::MAX - 1), Relaxed);
    trim(bytes);
}

/// Bytes and blocks that are kept, hits and misses.
pub fn stats() -> (usize, usize, usize, usize) {
    let cache = cache();
    (cache.bytes, cache.blocks, HITS.load(Relaxed), MISSES.load(Relaxed))
}

/// A kept block, or a new one. If the system refuses, all kept blocks are released before the second attempt.
pub fn take(size: usize, zeroed: bool) -> Option<NonNull<u8>> {
    if let Some(block) = cache().take(size) {
        HITS.fetch_add(1, Relaxed);
        if zeroed {
            // SAFETY: the block is out of the cache, so that it is this thread's alone, and its class has `size` bytes.
            unsafe { clear(block, size) };
        }
        return Some(block);
    }
    MISSES.fetch_add(1, Relaxed);
    allocate(size, zeroed).or_else(|| {
        trim(0);
        allocate(size, zeroed)
    })
}

/// A new block. Pages are zero by themselves.
fn allocate(size: usize, zeroed: bool) -> Option<NonNull<u8>> {
    if size > HUGE_PAGE_BYTES { system::map_pages(size) } else { system::allocate(size, zeroed) }
}

/// Fills a block with zeros. A large one gets new pages instead, which the system clears when they are first touched.
///
/// # Safety
/// `block` came from [`allocate`] with this `size`, and nobody else uses it.
unsafe fn clear(block: NonNull<u8>, size: usize) {
    // SAFETY: the contract of this function; a block above HUGE_PAGE_BYTES came from `map_pages`.
    unsafe {
        if !(size > HUGE_PAGE_BYTES && system::renew_pages(block, size)) {
            block.write_bytes(0, size);
        }
    }
}

/// Keeps a block for later. Releases blocks that exceed the limit, and now and then those that are too old.
///
/// # Safety
/// `block` came from [`take`] with this `size`, and nobody uses it any more.
pub unsafe fn keep(block: NonNull<u8>, size: usize) {
    let limit = limit();
    let Some(class) = class_index(size).filter(|_| size <= limit) else {
        // SAFETY: the contract of this function, and `take` gets its blocks from `allocate`.
        return unsafe { release(block, size) };
    };
    let now = Instant::now();
    let mut cache = cache();
    cache.insert(class, CachedBlock { block, since: now });
    let mut released = Vec::new();
    if cache.bytes > limit {
        cache.remove_oldest(limit, &mut released);
    }
    if now.duration_since(*cache.last_age_check.get_or_insert(now)) > AGE_CHECK_INTERVAL {
        cache.last_age_check = Some(now);
        cache.remove_aged(now, &mut released);
    }
    drop(cache);
    release_all(released);
}

/// Releases kept blocks, the oldest first, until at most `limit` bytes are left. Returns the number of blocks released.
pub fn trim(limit: usize) -> usize {
    let mut released = Vec::new();
    cache().remove_oldest(limit, &mut released);
    release_all(released)
}

fn release_all(blocks: Vec<(NonNull<u8>, usize)>) -> usize {
    // SAFETY: these blocks were removed from the cache with the size of their class, so that nobody else has them.
    blocks.into_iter().map(|(block, size)| unsafe { release(block, size) }).count()
}

/// # Safety
/// `block` came from [`allocate`] with this `size`, and nobody uses it any more.
unsafe fn release(block: NonNull<u8>, size: usize) {
    // SAFETY: the contract of this function; `allocate` decides by the same comparison where a block comes from.
    unsafe {
        if size > HUGE_PAGE_BYTES { system::unmap_pages(block, size) } else { system::release(block, size) }
    }
}

impl Cache {
    const fn new() -> Cache {
        Cache { classes: [const { Vec::new() }; CLASSES], bytes: 0, blocks: 0, last_age_check: None }
    }

    fn insert(&mut self, class: usize, block: CachedBlock) {
        self.classes[class].push(block);
        self.bytes += class_bytes(class);
        self.blocks += 1;
    }

    /// The most recently used block of a class: some of it may still be in the CPU's caches.
    fn take(&mut self, size: usize) -> Option<NonNull<u8>> {
        let cached = self.classes[class_index(size)?].pop()?;
        self.bytes -= size;
        self.blocks -= 1;
        Some(cached.block)
    }

    fn remove_oldest(&mut self, limit: usize, removed: &mut Vec<(NonNull<u8>, usize)>) {
        while self.bytes > limit {
            let oldest = |class: &usize| self.classes[*class].first().map(|cached| cached.since);
            let with_blocks = (0..CLASSES).filter(|class| !self.classes[*class].is_empty());
            let class = with_blocks.min_by_key(oldest).expect("bytes are in blocks");
            self.remove_first(class, 1, removed);
        }
    }

    fn remove_aged(&mut self, now: Instant, removed: &mut Vec<(NonNull<u8>, usize)>) {
        for class in 0..CLASSES {
            let aged = |cached: &&CachedBlock| now.duration_since(cached.since) > MAX_AGE;
            let count = self.classes[class].iter().take_while(aged).count();
            self.remove_first(class, count, removed);
        }
    }

    fn remove_first(&mut self, class: usize, count: usize, removed: &mut Vec<(NonNull<u8>, usize)>) {
        let size = class_bytes(class);
        removed.extend(self.classes[class].drain(..count).map(|cached| (cached.block, size)));
        self.bytes -= count * size;
        self.blocks -= count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alloc::sizes::{MAX_UNCACHED_BYTES, rounded};

    #[test]
    fn the_oldest_block_is_removed_first() {
        let mut cache = Cache::new();
        let now = Instant::now();
        let address = |i: usize| NonNull::new(i as *mut u8).unwrap();
        let sizes: Vec<usize> =
            (1..=4).map(|i| rounded(MAX_UNCACHED_BYTES * (1 + i % 2) + 1).unwrap()).collect();
        for (i, &size) in sizes.iter().enumerate() {
            let since = now + Duration::from_secs(i as u64);
            cache.insert(class_index(size).unwrap(), CachedBlock { block: address(i + 1), since });
        }
        let mut removed = Vec::new();
        cache.remove_oldest(sizes[2] + sizes[3], &mut removed);
        assert_eq!(removed, [(address(1), sizes[0]), (address(2), sizes[1])]);
        removed.clear();
        cache.remove_aged(now + MAX_AGE + Duration::from_millis(2500), &mut removed);
        assert_eq!((&removed[..], cache.blocks), (&[(address(3), sizes[2])][..], 1));
        assert_eq!(cache.take(sizes[3]), Some(address(4)));
        assert_eq!((cache.bytes, cache.blocks), (0, 0));
    }
}

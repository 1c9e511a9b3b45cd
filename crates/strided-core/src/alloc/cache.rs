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
    let is_kept = cache.insert(class, CachedBlock { block, since: now });
    let exceeds_limit = cache.bytes > limit;
    let checks_age = now.duration_since(*cache.last_age_check.get_or_insert(now)) > AGE_CHECK_INTERVAL;
    if checks_age {
        cache.last_age_check = Some(now);
    }
    drop(cache);
    if !is_kept {
        // SAFETY: the contract of this function, and `take` gets its blocks from `allocate`.
        unsafe { release(block, size) };
    }
    if exceeds_limit {
        trim(limit);
    }
    if checks_age {
        release_each(|cache| cache.remove_aged(now));
    }
}

/// Releases kept blocks, the oldest first, until at most `limit` bytes are left. Returns the number of blocks released.
pub fn trim(limit: usize) -> usize {
    release_each(|cache| cache.remove_oldest(limit))
}

/// Releases the blocks that a function removes from the cache, one by one, and returns their number. The cache is not locked
/// while a block is released, and no memory is needed for a list of them: this runs when memory is short.
fn release_each(mut remove: impl FnMut(&mut Cache) -> Option<(NonNull<u8>, usize)>) -> usize {
    let mut count = 0;
    loop {
        let removed = remove(&mut cache());
        let Some((block, size)) = removed else { return count };
        // SAFETY: the block was removed from the cache with the size of its class, so that nobody else has it.
        unsafe { release(block, size) };
        count += 1;
    }
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

    /// Returns false, and does not keep the block, if there is no memory for its entry.
    fn insert(&mut self, class: usize, block: CachedBlock) -> bool {
        if self.classes[class].try_reserve(1).is_err() {
            return false;
        }
        self.classes[class].push(block);
        self.bytes += class_bytes(class);
        self.blocks += 1;
        true
    }

    /// The most recently used block of a class: some of it may still be in the CPU's caches.
    fn take(&mut self, size: usize) -> Option<NonNull<u8>> {
        let cached = self.classes[class_index(size)?].pop()?;
        self.bytes -= size;
        self.blocks -= 1;
        Some(cached.block)
    }

    /// Removes the oldest block if there are more than `limit` bytes.
    fn remove_oldest(&mut self, limit: usize) -> Option<(NonNull<u8>, usize)> {
        if self.bytes <= limit {
            return None;
        }
        let oldest = |class: &usize| self.classes[*class].first().map(|cached| cached.since);
        let with_blocks = (0..CLASSES).filter(|class| !self.classes[*class].is_empty());
        with_blocks.min_by_key(oldest).map(|class| self.remove_first(class))
    }

    /// Removes a block that nobody has used for long.
    fn remove_aged(&mut self, now: Instant) -> Option<(NonNull<u8>, usize)> {
        let is_aged = |cached: &CachedBlock| now.duration_since(cached.since) > MAX_AGE;
        let class = (0..CLASSES).find(|&class| self.classes[class].first().is_some_and(is_aged))?;
        Some(self.remove_first(class))
    }

    /// Removes the oldest block of a class that has one.
    fn remove_first(&mut self, class: usize) -> (NonNull<u8>, usize) {
        let size = class_bytes(class);
        self.bytes -= size;
        self.blocks -= 1;
        (self.classes[class].remove(0).block, size)
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
        let left = sizes[2] + sizes[3];
        assert_eq!(cache.remove_oldest(left), Some((address(1), sizes[0])));
        assert_eq!(cache.remove_oldest(left), Some((address(2), sizes[1])));
        assert_eq!(cache.remove_oldest(left), None);
        let later = now + MAX_AGE + Duration::from_millis(2500);
        assert_eq!(cache.remove_aged(later), Some((address(3), sizes[2])));
        assert_eq!((cache.remove_aged(later), cache.blocks), (None, 1));
        assert_eq!(cache.take(sizes[3]), Some(address(4)));
        assert_eq!((cache.bytes, cache.blocks), (0, 0));
    }
}

//! What the operating system is asked for: aligned blocks, pages, and how much memory there is.

use super::sizes::ALIGN;
#[cfg(unix)]
use super::sizes::HUGE_PAGE_BYTES;
use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::ptr::NonNull;

/// A block from the system's allocator, aligned to [`ALIGN`]. `size` must not be 0.
pub fn allocate(size: usize, zeroed: bool) -> Option<NonNull<u8>> {
    let layout = Layout::from_size_align(size, ALIGN).ok()?;
    // SAFETY: blocks of 0 bytes are never requested: `sizes::rounded` returns at least `ALIGN`.
    NonNull::new(unsafe { if zeroed { alloc_zeroed(layout) } else { alloc(layout) } })
}

/// Returns a block to the system's allocator.
///
/// # Safety
/// `block` came from [`allocate`] with this `size`, and nobody uses it any more.
pub unsafe fn release(block: NonNull<u8>, size: usize) {
    // SAFETY: the contract of this function: `allocate` returned the block for this size and this alignment.
    unsafe { dealloc(block.as_ptr(), Layout::from_size_align_unchecked(size, ALIGN)) }
}

/// Maps new pages, all zero, aligned to a huge page. The system provides each page when it is first touched.
#[cfg(unix)]
pub fn map_pages(size: usize) -> Option<NonNull<u8>> {
    let mapped = size.checked_add(HUGE_PAGE_BYTES)?;
    let (rights, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: without MAP_FIXED the system chooses a free range of addresses.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), mapped, rights, kind, -1, 0) };
    if start == libc::MAP_FAILED {
        return None;
    }
    let before = (start as usize).next_multiple_of(HUGE_PAGE_BYTES) - start as usize;
    // SAFETY: the mapping has HUGE_PAGE_BYTES more than the block, of which `before` precede it. These calls unmap the
    // rest on both sides of the block, which nobody uses.
    unsafe {
        if before > 0 {
            libc::munmap(start, before);
        }
        let block = start.byte_add(before);
        libc::munmap(block.byte_add(size), HUGE_PAGE_BYTES - before);
        #[cfg(target_os = "linux")]
        libc::madvise(block, size, libc::MADV_HUGEPAGE);
        NonNull::new(block.cast())
    }
}

/// Unmaps the pages of a block.
///
/// # Safety
/// `block` came from [`map_pages`] with this `size`, and nobody uses it any more.
#[cfg(unix)]
pub unsafe fn unmap_pages(block: NonNull<u8>, size: usize) {
    // SAFETY: the contract of this function: these are the pages of one block, which nobody uses.
    unsafe { libc::munmap(block.as_ptr().cast(), size) };
}

#[cfg(not(unix))]
pub fn map_pages(size: usize) -> Option<NonNull<u8>> {
    allocate(size, true)
}

/// # Safety
/// `block` came from [`map_pages`] with this `size`, and nobody uses it any more.
#[cfg(not(unix))]
pub unsafe fn unmap_pages(block: NonNull<u8>, size: usize) {
    // SAFETY: the contract of this function: on this system `map_pages` calls `allocate`.
    unsafe { release(block, size) }
}

/// Replaces the pages of a block by new zero pages. Returns false, and changes nothing, where the system cannot.
///
/// # Safety
/// `block` came from [`map_pages`] with this `size`, and nobody else uses it.
pub unsafe fn renew_pages(block: NonNull<u8>, size: usize) -> bool {
    #[cfg(target_os = "linux")]
    // SAFETY: the contract of this function: the pages are private, anonymous and the caller's alone. Such pages read
    // as zero afterwards.
    return unsafe { libc::madvise(block.as_ptr().cast(), size, libc::MADV_DONTNEED) == 0 };
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (block, size);
        false
    }
}

/// Bytes of memory that this process may use: those of the machine, or fewer if a control group says so.
pub fn usable_memory() -> Option<usize> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let group = read("/proc/self/cgroup").unwrap_or_default();
    let mut limits: Vec<usize> = Vec::new();
    for line in group.lines() {
        // "0::/a/b" names a group of version 2, "5:memory:/a/b" one of version 1.
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(kinds), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (root, file) = match kinds {
            "" => ("/sys/fs/cgroup", "memory.max"),
            kinds if kinds.split(',').any(|kind| kind == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        // The limits of all parent groups apply, too.
        let mut path = path.trim_end_matches('/');
        loop {
            limits.extend(
                read(&format!("{root}{path}/{file}")).and_then(|text| text.trim().parse::<usize>().ok()),
            );
            match path.rfind('/') {
                Some(end) => path = &path[..end],
                None => break,
            }
        }
    }
    let info = read("/proc/meminfo").unwrap_or_default();
    let total = info.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB"));
    limits.extend(total.and_then(|kilobytes| kilobytes.parse::<usize>().ok()).map(|n| n * 1024));
    limits.into_iter().min()
}

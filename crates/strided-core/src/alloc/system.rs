//! What the operating system is asked for directly: mapped blocks in huge pages, and how much memory there is.

use super::MAPPED;
use std::ptr::NonNull;

/// The size of a huge page, and the alignment of mapped blocks.
const HUGE: usize = MAPPED;

/// New pages, all zero, which the system makes when they are first touched.
#[cfg(unix)]
pub fn map(size: usize) -> Option<NonNull<u8>> {
    let room = size.checked_add(HUGE)?;
    let (rights, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping, wherever the system puts it.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), room, rights, kind, -1, 0) };
    if start == libc::MAP_FAILED {
        return None;
    }
    let before = (start as usize).next_multiple_of(HUGE) - start as usize;
    // SAFETY: the mapping has HUGE bytes more than the block; what lies before and behind it goes back.
    unsafe {
        if before > 0 {
            libc::munmap(start, before);
        }
        let block = start.byte_add(before);
        libc::munmap(block.byte_add(size), HUGE - before);
        #[cfg(target_os = "linux")]
        libc::madvise(block, size, libc::MADV_HUGEPAGE);
        NonNull::new(block.cast())
    }
}

/// Gives a mapped block back.
///
/// # Safety
/// `block` came from [`map`] with this `size`, and nobody uses it any more.
#[cfg(unix)]
pub unsafe fn unmap(block: NonNull<u8>, size: usize) {
    // SAFETY: the caller's promise.
    unsafe { libc::munmap(block.as_ptr().cast(), size) };
}

/// Replaces the pages of a mapped block by new ones, where the system can.
///
/// # Safety
/// `block` came from [`map`] with this `size`, and nobody else uses it.
pub unsafe fn clear(block: NonNull<u8>, size: usize) -> bool {
    #[cfg(target_os = "linux")]
    // SAFETY: the caller's promise; private anonymous pages read as zero afterwards.
    return unsafe { libc::madvise(block.as_ptr().cast(), size, libc::MADV_DONTNEED) == 0 };
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (block, size);
        false
    }
}

#[cfg(not(unix))]
pub fn map(size: usize) -> Option<NonNull<u8>> {
    super::plain(size, true)
}

/// # Safety
/// `block` came from [`map`] with this `size`, and nobody uses it any more.
#[cfg(not(unix))]
pub unsafe fn unmap(block: NonNull<u8>, size: usize) {
    // SAFETY: the caller's promise.
    unsafe { super::release_plain(block, size) }
}

/// Bytes of memory that this process may use: the machine's, or less where a control group says so.
pub fn memory() -> Option<usize> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let group = read("/proc/self/cgroup").unwrap_or_default();
    let mut limits: Vec<usize> = Vec::new();
    for line in group.lines() {
        // "0::/a/b" names the group of version 2, "5:memory:/a/b" that of version 1.
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(kinds), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (root, file) = match kinds {
            "" => ("/sys/fs/cgroup", "memory.max"),
            kinds if kinds.split(',').any(|kind| kind == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        // A group has no more than any group around it.
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

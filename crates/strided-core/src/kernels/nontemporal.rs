//! Non-temporal stores, which bypass the caches, for outputs larger than the last-level cache; and prefetching.
//!
//! An ordinary store first reads the cache line that it changes a part of, and that line evicts another one. Where whole
//! lines are written and not read soon, both cost bandwidth that the inputs need: `x + y` of 10M float32 took 1.6 times
//! as long. Fills read nothing and use ordinary stores: the CPU recognises that whole lines are written, which was
//! 1.5 times as fast as non-temporal stores up to twice the size of the last-level cache (40 MB), and equal at 400 MB.

/// Bytes of a cache line.
pub(super) const CACHE_LINE: usize = 64;

/// Copies `n` bytes with non-temporal stores. Call [`fence`] before another thread may read them.
///
/// # Safety
/// `to` is valid for writing `n` bytes and `from` for reading `n` bytes; the two ranges do not overlap.
#[inline]
pub(super) unsafe fn copy(to: *mut u8, from: *const u8, n: usize) {
    let head = to.align_offset(CACHE_LINE).min(n);
    let body = (n - head) & !(CACHE_LINE - 1);
    // SAFETY: this function's contract; head, body and tail make up the `n` bytes. `to + head` is the start of a cache
    // line, and `body` is a multiple of one.
    unsafe {
        to.copy_from_nonoverlapping(from, head);
        for at in (head..head + body).step_by(CACHE_LINE) {
            store_line(to.add(at), from.add(at));
        }
        let done = head + body;
        to.add(done).copy_from_nonoverlapping(from.add(done), n - done);
    }
}

/// Copies one cache line, in 16-byte stores, which every x86-64 CPU has; its write-combining buffer joins them.
///
/// # Safety
/// `to` is aligned to and valid for writing [`CACHE_LINE`] bytes, and `from` is valid for reading as many.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn store_line(to: *mut u8, from: *const u8) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
    let (to, from) = (to.cast::<__m128i>(), from.cast::<__m128i>());
    // SAFETY: this function's contract: four times 16 bytes at both, aligned at `to`.
    unsafe {
        // All loads come before the stores: the compiler does not know that the two lines differ.
        let (a, b) = (_mm_loadu_si128(from), _mm_loadu_si128(from.add(1)));
        let (c, d) = (_mm_loadu_si128(from.add(2)), _mm_loadu_si128(from.add(3)));
        _mm_stream_si128(to, a);
        _mm_stream_si128(to.add(1), b);
        _mm_stream_si128(to.add(2), c);
        _mm_stream_si128(to.add(3), d);
    }
}

/// Copies one cache line with ordinary stores, on CPUs other than x86-64.
///
/// # Safety
/// `to` is valid for writing [`CACHE_LINE`] bytes and `from` for reading as many; they do not overlap.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
unsafe fn store_line(to: *mut u8, from: *const u8) {
    // SAFETY: this function's contract.
    unsafe { from.copy_to_nonoverlapping(to, CACHE_LINE) };
}

/// Orders non-temporal stores before later stores, so that other threads see them in program order.
#[inline]
pub(super) fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE, which every x86-64 CPU has, includes this instruction.
    unsafe {
        std::arch::x86_64::_mm_sfence()
    };
}

/// Prefetches the cache line at an address into the first-level cache. Any address is allowed.
#[inline]
pub(super) fn prefetch(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch is a hint: it never faults and changes no memory.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast())
    };
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

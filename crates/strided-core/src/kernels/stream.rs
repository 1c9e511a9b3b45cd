//! Stores that go around the caches: for outputs that are larger than the last of them.
//!
//! An ordinary store reads the cache line it changes part of. Where whole lines are written and nobody
//! reads them soon, that read is a third of the traffic, and the lines push out others.

/// Bytes of a line.
const LINE: usize = 64;

/// Copies bytes. Call [`fence`] before anybody else may look.
///
/// # Safety
/// `to` has room for `n` bytes, `from` has `n`, and they do not overlap.
#[inline]
pub(super) unsafe fn copy(to: *mut u8, from: *const u8, n: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        lines(to, n, |at, size| from.add(at).copy_to_nonoverlapping(to.add(at), size), |at| from.add(at))
    }
}

/// Writes a line again and again: `line` has 64 bytes of a pattern that starts anew every line.
///
/// # Safety
/// `to` is aligned to a line and has room for `n` bytes.
#[inline]
pub(super) unsafe fn fill(to: *mut u8, line: *const u8, n: usize) {
    debug_assert!((to as usize).is_multiple_of(LINE));
    // SAFETY: the caller's promise.
    unsafe { lines(to, n, |at, size| line.copy_to_nonoverlapping(to.add(at), size), |_| line) }
}

/// Whole lines by `line`, which gives the address of their 64 bytes; what comes before and after by `rest`.
#[inline(always)]
unsafe fn lines(to: *mut u8, n: usize, rest: impl Fn(usize, usize), line: impl Fn(usize) -> *const u8) {
    let head = to.align_offset(LINE).min(n);
    let body = (n - head) & !(LINE - 1);
    if head > 0 {
        rest(0, head);
    }
    for at in (head..head + body).step_by(LINE) {
        // SAFETY: the caller's promise; `to + at` is aligned to a line.
        unsafe { store(to.add(at), line(at)) };
    }
    if head + body < n {
        rest(head + body, n - head - body);
    }
}

/// One line. In sixteen-byte stores, which every x86-64 has; they are joined on their way out.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn store(to: *mut u8, from: *const u8) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
    let (to, from) = (to.cast::<__m128i>(), from.cast::<__m128i>());
    // SAFETY: the callers have a line at both, aligned at `to`.
    unsafe {
        let parts: [__m128i; 4] = std::array::from_fn(|i| _mm_loadu_si128(from.add(i)));
        (0..4).for_each(|i| _mm_stream_si128(to.add(i), parts[i]));
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
unsafe fn store(to: *mut u8, from: *const u8) {
    // SAFETY: the callers have a line at both.
    unsafe { from.copy_to_nonoverlapping(to, LINE) };
}

/// Makes streamed stores visible to other threads in the order of the program.
#[inline]
pub(super) fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has it.
    unsafe {
        std::arch::x86_64::_mm_sfence()
    };
}

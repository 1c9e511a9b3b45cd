//! Stores that go around the caches, for outputs that are larger than the last of them; and asking for lines early.
//!
//! An ordinary store reads the cache line it changes part of, and the line pushes out another one. Where whole
//! lines are written and nobody reads them soon, both are in the way of what is read: `x + y` of 10M float32 took
//! 1.6 times as long. (Fills read nothing, and are not streamed: the CPU sees that whole lines are written, and
//! up to twice the size of the last cache that was 1.5 times as fast.)

/// Bytes of a line.
pub(super) const LINE: usize = 64;

/// Copies bytes. Call [`fence`] before anybody else may look.
///
/// # Safety
/// `to` has room for `n` bytes, `from` has `n`, and they do not overlap.
#[inline]
pub(super) unsafe fn copy(to: *mut u8, from: *const u8, n: usize) {
    let head = to.align_offset(LINE).min(n);
    let body = (n - head) & !(LINE - 1);
    // SAFETY: the caller's promise; whole lines of `to` start behind the head.
    unsafe {
        to.copy_from_nonoverlapping(from, head);
        for at in (head..head + body).step_by(LINE) {
            store(to.add(at), from.add(at));
        }
        let done = head + body;
        to.add(done).copy_from_nonoverlapping(from.add(done), n - done);
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
        // Read before anything is written: the compiler does not know that they differ.
        let (a, b) = (_mm_loadu_si128(from), _mm_loadu_si128(from.add(1)));
        let (c, d) = (_mm_loadu_si128(from.add(2)), _mm_loadu_si128(from.add(3)));
        _mm_stream_si128(to, a);
        _mm_stream_si128(to.add(1), b);
        _mm_stream_si128(to.add(2), c);
        _mm_stream_si128(to.add(3), d);
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

/// Asks for a line that will be needed soon. Any address will do.
#[inline]
pub(super) fn prefetch(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, which touches nothing.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast())
    };
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

//! What this CPU can do, asked once; and the one trampoline into code built for it.

use std::sync::OnceLock;

/// Whether to use the plain kernels: `STRIDED_KERNELS=reference`.
pub fn reference_kernels() -> bool {
    static REFERENCE: OnceLock<bool> = OnceLock::new();
    *REFERENCE.get_or_init(|| std::env::var_os("STRIDED_KERNELS").is_some_and(|v| v == "reference"))
}

/// Runs the body compiled for the widest instructions this CPU has.
///
/// The body is a closure over `#[inline(always)]` generic code: it is compiled once for the plain target
/// and once for each level, and both give the same bits (no multiply and add is ever fused by itself).
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn simd<R>(body: impl FnOnce() -> R) -> R {
    #[target_feature(enable = "avx2,bmi1,bmi2,fma,f16c,lzcnt,popcnt")]
    fn avx2<R>(body: impl FnOnce() -> R) -> R {
        body()
    }
    if has_avx2() {
        // SAFETY: the features were found on this CPU.
        unsafe { avx2(body) }
    } else {
        body()
    }
}

/// Work with a body for CPUs that have what [`simd`] looks for. A trait and not a closure: a large closure may be
/// left out of line, and is then compiled for the plain target, where a fused multiply and add is a call.
pub trait Task {
    /// Must be `#[inline(always)]`. `FAST` says that fused multiply and add are instructions here.
    fn run<const FAST: bool>(self);
}

/// Runs a task compiled for the widest instructions this CPU has.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn dispatch(task: impl Task) {
    #[target_feature(enable = "avx2,bmi1,bmi2,fma,f16c,lzcnt,popcnt")]
    fn avx2(task: impl Task) {
        task.run::<true>()
    }
    if has_avx2() {
        // SAFETY: the features were found on this CPU.
        unsafe { avx2(task) }
    } else {
        task.run::<false>()
    }
}

/// Runs a task; fused multiply and add is part of every aarch64.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub fn dispatch(task: impl Task) {
    task.run::<{ cfg!(target_arch = "aarch64") }>()
}

/// Runs the body: the plain target is all there is.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub fn simd<R>(body: impl FnOnce() -> R) -> R {
    body()
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn has_avx2() -> bool {
    use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
    static LEVEL: AtomicU8 = AtomicU8::new(0);
    #[cold]
    fn ask() -> bool {
        let found = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        LEVEL.store(if found { 2 } else { 1 }, Relaxed);
        found
    }
    match LEVEL.load(Relaxed) {
        2 => true,
        1 => false,
        _ => ask(),
    }
}

/// Bytes from which on an output is written around the caches: half of the largest one.
pub fn streamed_from() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| last_cache().unwrap_or(16 << 20) / 2)
}

/// Bytes of the last cache, where the system tells.
fn last_cache() -> Option<usize> {
    let size = |index: usize| {
        let text =
            std::fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size")).ok()?;
        let digits = text.trim().trim_end_matches(['K', 'M', 'G']);
        let unit = match text.trim().chars().last()? {
            'K' => 10,
            'M' => 20,
            'G' => 30,
            _ => 0,
        };
        Some(digits.parse::<usize>().ok()? << unit)
    };
    (0..8).filter_map(size).max().filter(|&bytes| bytes > 0) // some virtual machines say 0K
}

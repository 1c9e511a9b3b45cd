//! What this CPU can do, asked once; and the one trampoline into code built for it.

use std::sync::OnceLock;

/// Whether to use the plain kernels: `STRIDED_KERNELS=reference`.
pub fn reference_kernels() -> bool {
    static REFERENCE: OnceLock<bool> = OnceLock::new();
    *REFERENCE.get_or_init(|| std::env::var_os("STRIDED_KERNELS").is_some_and(|v| v == "reference"))
}

/// Instructions that code is compiled for, each level with those below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// What every CPU of the architecture has.
    Baseline = 1,
    /// Fused multiply and add: AVX2 and what came with it, or any aarch64.
    Fused,
    /// AVX-512 as servers have had it since 2017.
    Wide,
}

impl Level {
    pub const ALL: [Level; 3] = [Level::Baseline, Level::Fused, Level::Wide];

    /// As `STRIDED_CPU` names it.
    pub fn name(self) -> &'static str {
        match self {
            Level::Baseline => "baseline",
            Level::Fused if cfg!(target_arch = "aarch64") => "neon",
            Level::Fused => "avx2",
            Level::Wide => "avx512",
        }
    }
}

/// The level that is used: the highest this CPU has, but none above the one that `STRIDED_CPU` names. A value that
/// names no level counts as none, and so does a level that the CPU lacks.
#[inline(always)]
pub fn level() -> Level {
    use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
    static LEVEL: AtomicU8 = AtomicU8::new(0);
    #[cold]
    fn ask() -> Level {
        let asked = std::env::var_os("STRIDED_CPU");
        let asked = Level::ALL.into_iter().find(|level| asked.as_ref().is_some_and(|v| v == level.name()));
        let level = found().min(asked.unwrap_or(Level::Wide));
        LEVEL.store(level as u8, Relaxed);
        level
    }
    match LEVEL.load(Relaxed) {
        3 => Level::Wide,
        2 => Level::Fused,
        1 => Level::Baseline,
        _ => ask(),
    }
}

/// The highest level this CPU has.
#[cfg(target_arch = "x86_64")]
fn found() -> Level {
    macro_rules! all {
        ($($feature:tt)*) => { $(is_x86_feature_detected!($feature))&&* };
    }
    if !all!("avx2" "bmi1" "bmi2" "fma" "f16c" "lzcnt" "popcnt") {
        Level::Baseline
    } else if !all!("avx512f" "avx512bw" "avx512dq" "avx512vl" "avx512cd") {
        Level::Fused
    } else {
        Level::Wide
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn found() -> Level {
    if cfg!(target_arch = "aarch64") { Level::Fused } else { Level::Baseline }
}

/// Runs the body compiled for AVX2, if the level is that high.
///
/// The body is a closure over `#[inline(always)]` generic code: it is compiled once for the plain target
/// and once for AVX2, and both give the same bits (no multiply and add is ever fused by itself).
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

/// Work with a body for each level. A trait and not a closure: a large closure may be left out of line, and is then
/// compiled for the plain target, where a fused multiply and add is a call.
pub trait Task: Sized {
    /// The type in whose module the code is compiled: the compiler makes one unit of each module, and all code in one
    /// unit would be built by one thread, and anew after every edit.
    type Home: 'static;
    /// Whether the work is worth code of its own for the widest level.
    const WIDE: bool;
    /// Whether there is code for the baseline, too: else it is done in another way there.
    const BASELINE: bool = true;

    /// Must be `#[inline(always)]`. `FAST` says that fused multiply and add are instructions here.
    fn run<const FAST: bool>(self);
}

/// A task's code for each level above the baseline. A method of the home, so that it is compiled there.
#[cfg(target_arch = "x86_64")]
trait Compiled<T: Task> {
    /// # Safety
    /// The CPU has these features.
    unsafe fn avx2(task: T);
    /// # Safety
    /// The CPU has these features.
    unsafe fn avx512(task: T);
}

#[cfg(target_arch = "x86_64")]
impl<H, T: Task<Home = H>> Compiled<T> for H {
    #[target_feature(enable = "avx2,bmi1,bmi2,fma,f16c,lzcnt,popcnt")]
    unsafe fn avx2(task: T) {
        task.run::<true>()
    }

    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,bmi1,bmi2,fma,f16c,lzcnt,popcnt"
    )]
    unsafe fn avx512(task: T) {
        task.run::<true>()
    }
}

/// Runs a task compiled for the level.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn dispatch<T: Task>(task: T) {
    match level() {
        // SAFETY: the features were found on this CPU.
        Level::Wide if const { T::WIDE } => unsafe { T::Home::avx512(task) },
        // SAFETY: as above.
        Level::Wide | Level::Fused => unsafe { T::Home::avx2(task) },
        Level::Baseline => at_baseline(task),
    }
}

#[inline(always)]
fn at_baseline<T: Task>(task: T) {
    if const { T::BASELINE } { task.run::<false>() } else { unreachable!("it is not for this level") }
}

/// Runs a task. Where fused multiply and add is part of the architecture, the baseline is for tests only.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub fn dispatch<T: Task>(task: T) {
    if cfg!(target_arch = "aarch64") && level() >= Level::Fused {
        task.run::<true>()
    } else {
        at_baseline(task)
    }
}

/// Marks a turn of a loop over blocks, for nothing: without it the compiler may vectorise that loop too, across the
/// blocks that are vectors already.
#[inline(always)]
pub fn loop_barrier() {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    // SAFETY: no instruction at all.
    unsafe {
        std::arch::asm!("", options(nomem, nostack, preserves_flags))
    };
}

/// The address, of which the compiler no longer knows what it belongs to: what it reads there, it reads there.
#[inline(always)]
pub fn opaque_pointer<T>(address: *const T) -> *const T {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    let address = {
        let mut address = address;
        // SAFETY: no instruction at all.
        unsafe { std::arch::asm!("/* {0} */", inout(reg) address, options(nostack, preserves_flags)) };
        address
    };
    address
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
    level() >= Level::Fused
}

/// Bytes from which on an output is written around the caches: half of the largest one.
pub fn non_temporal_threshold() -> usize {
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

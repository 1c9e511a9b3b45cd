//! The features of this CPU, detected once, and the dispatch to code that is compiled for them.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Whether to use the reference kernels: `STRIDED_KERNELS=reference`.
pub fn reference_kernels() -> bool {
    static REFERENCE: OnceLock<bool> = OnceLock::new();
    *REFERENCE.get_or_init(|| std::env::var_os("STRIDED_KERNELS").is_some_and(|v| v == "reference"))
}

/// The instruction sets that code is compiled for. Each level includes those below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// The instructions that every CPU of the architecture has.
    Baseline = 1,
    /// Fused multiply-add: AVX2 with FMA, F16C and BMI, or any aarch64.
    Fused,
    /// AVX-512 with the F, BW, DQ, VL and CD subsets, which servers have had since 2017.
    Wide,
}

impl Level {
    pub const ALL: [Level; 3] = [Level::Baseline, Level::Fused, Level::Wide];

    /// The name of the level in `STRIDED_CPU`.
    pub fn name(self) -> &'static str {
        match self {
            Level::Baseline => "baseline",
            Level::Fused if cfg!(target_arch = "aarch64") => "neon",
            Level::Fused => "avx2",
            Level::Wide => "avx512",
        }
    }
}

/// The level to use: the highest that this CPU has, and at most the one that `STRIDED_CPU` names. A value that is no
/// level, or one that the CPU lacks, is ignored.
#[inline(always)]
pub fn level() -> Level {
    static LEVEL: CachedLevel = CachedLevel(AtomicU8::new(0));
    LEVEL.get_or_find(|| {
        let name = std::env::var_os("STRIDED_CPU");
        let highest = Level::ALL.into_iter().find(|level| name.as_ref().is_some_and(|v| v == level.name()));
        detect().min(highest.unwrap_or(Level::Wide))
    })
}

/// The level of the kernels to use: that of [`level`], or the baseline if `STRIDED_KERNELS` asks for the reference kernels.
#[inline(always)]
pub fn kernel_level() -> Level {
    static LEVEL: CachedLevel = CachedLevel(AtomicU8::new(0));
    LEVEL.get_or_find(|| if reference_kernels() { Level::Baseline } else { level() })
}

/// A level that is found once, or 0.
struct CachedLevel(AtomicU8);

impl CachedLevel {
    #[inline(always)]
    fn get_or_find(&self, find: fn() -> Level) -> Level {
        match self.0.load(Relaxed) {
            3 => Level::Wide,
            2 => Level::Fused,
            1 => Level::Baseline,
            _ => self.find_once(find),
        }
    }

    #[cold]
    fn find_once(&self, find: fn() -> Level) -> Level {
        let level = find();
        self.0.store(level as u8, Relaxed);
        level
    }
}

/// The highest level this CPU has.
#[cfg(target_arch = "x86_64")]
fn detect() -> Level {
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
fn detect() -> Level {
    if cfg!(target_arch = "aarch64") { Level::Fused } else { Level::Baseline }
}

/// Runs a body that is compiled for AVX2 if the level is that high, and for the baseline otherwise.
///
/// The body is a closure over `#[inline(always)]` generic code, which is compiled twice. Both versions produce the
/// same bits: the compiler never fuses a multiplication and an addition by itself.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn simd<R>(body: impl FnOnce() -> R) -> R {
    #[target_feature(enable = "avx2,bmi1,bmi2,fma,f16c,lzcnt,popcnt")]
    fn avx2<R>(body: impl FnOnce() -> R) -> R {
        body()
    }
    if has_avx2() {
        // SAFETY: `level` returns `Fused` or more only if `detect` has found all of these features.
        unsafe { avx2(body) }
    } else {
        body()
    }
}

/// Work whose code is compiled for each level. A trait and not a closure: the compiler may leave a large closure out of
/// line, and then compiles it for the baseline, where a fused multiply-add is a function call.
pub trait Specialised: Sized {
    /// The type in whose module the code is compiled. The compiler makes a codegen unit of each module. When all code
    /// was in the module of the trampoline, it was one unit: a build took 360 s of CPU time and 7 GB on one thread,
    /// and every edit rebuilt all of it.
    type Home: 'static;
    /// Whether the work is worth code of its own for [`Level::Wide`]; if not, that level runs the code of `Fused`.
    const WIDE: bool;
    /// Whether there is code for the baseline. If not, the caller must use another kernel there.
    const BASELINE: bool = true;

    /// Does the work. Must be `#[inline(always)]`. `FAST` is true if fused multiply-add is an instruction.
    fn compute<const FAST: bool>(self);
}

/// The code of some work for each level above the baseline. It is implemented for the work's `Home`, so that it is compiled
/// in the module of that type.
#[cfg(target_arch = "x86_64")]
trait LevelCode<T: Specialised> {
    /// # Safety
    /// The CPU has the features of [`Level::Fused`].
    unsafe fn avx2(work: T);
    /// # Safety
    /// The CPU has the features of [`Level::Wide`].
    unsafe fn avx512(work: T);
}

#[cfg(target_arch = "x86_64")]
impl<H, T: Specialised<Home = H>> LevelCode<T> for H {
    #[target_feature(enable = "avx2,bmi1,bmi2,fma,f16c,lzcnt,popcnt")]
    unsafe fn avx2(work: T) {
        work.compute::<true>()
    }

    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,bmi1,bmi2,fma,f16c,lzcnt,popcnt"
    )]
    unsafe fn avx512(work: T) {
        work.compute::<true>()
    }
}

/// Does work with the code for the level of this CPU.
#[inline(always)]
pub fn dispatch<T: Specialised>(work: T) {
    compute_at(level(), work)
}

/// [`dispatch`], but with the code for the baseline if the reference kernels are in use.
#[inline(always)]
pub fn dispatch_or_reference<T: Specialised>(work: T) {
    compute_at(kernel_level(), work)
}

/// Does work with the code for a level that this CPU has.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn compute_at<T: Specialised>(level: Level, work: T) {
    match level {
        // SAFETY: the caller got the level from `level`, which returns `Wide` only if `detect` has found its features.
        Level::Wide if const { T::WIDE } => unsafe { T::Home::avx512(work) },
        // SAFETY: the same holds for the features of `Fused`.
        Level::Wide | Level::Fused => unsafe { T::Home::avx2(work) },
        Level::Baseline => compute_at_baseline(work),
    }
}

#[inline(always)]
fn compute_at_baseline<T: Specialised>(work: T) {
    if const { T::BASELINE } {
        work.compute::<false>()
    } else {
        unreachable!("work without code for the baseline")
    }
}

/// Does work with the code for a level. On aarch64, where every CPU has fused multiply-add, the baseline is for tests only.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn compute_at<T: Specialised>(level: Level, work: T) {
    if cfg!(target_arch = "aarch64") && level >= Level::Fused {
        work.compute::<true>()
    } else {
        compute_at_baseline(work)
    }
}

/// Keeps the compiler from vectorising the loop that contains this call. A loop over blocks needs it: the compiler
/// took the blocks, which are vectors already, for elements to be vectorised once more, and `reciprocal` and `sqrt`
/// took twice as long.
#[inline(always)]
pub fn loop_barrier() {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    // SAFETY: the assembly is empty.
    unsafe {
        std::arch::asm!("", options(nomem, nostack, preserves_flags))
    };
}

/// The same address, of which the compiler no longer knows where it came from. So it loads what was stored there, and does not
/// keep the stored values in registers.
#[inline(always)]
pub fn opaque_pointer<T>(address: *const T) -> *const T {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    let address = {
        let mut address = address;
        // SAFETY: the assembly is a comment.
        unsafe { std::arch::asm!("/* {0} */", inout(reg) address, options(nostack, preserves_flags)) };
        address
    };
    address
}

/// Runs the body: there is only one version of it.
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

/// Outputs of at least this many bytes are written by non-temporal stores: half of the last-level cache.
pub fn non_temporal_threshold() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| last_level_cache().unwrap_or(ASSUMED_CACHE_BYTES) / 2)
}

/// The size of the last-level cache where the system does not report it.
const ASSUMED_CACHE_BYTES: usize = 16 << 20;

/// The size of the last-level cache in bytes, if the system reports it.
fn last_level_cache() -> Option<usize> {
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
    (0..8).filter_map(size).max().filter(|&bytes| bytes > 0) // some virtual machines report 0K
}

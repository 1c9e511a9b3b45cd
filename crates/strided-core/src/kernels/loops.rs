//! Elementwise loops: a function of one element becomes a kernel over dense, scalar or strided operands.

// Loops over operands and lanes use indices: iterator adaptors may not be inlined, and then nothing is vectorised.
#![allow(clippy::needless_range_loop)]

use super::{Kernel, OPERANDS, Pointers, Steps};
use crate::cpu;
use crate::dtype::DType;
use crate::scalar::Element;
use std::hint::black_box;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::null_mut;

/// Which loops are compiled for a function. Code costs build time, bytes of the wheel and memory, so each function takes
/// the cheapest row that makes it fast:
///
/// | loops | used for | dense or scalar operands | other steps | compiled for |
/// |---|---|---|---|---|
/// | `Light` | cheap bodies: `add`, `sqrt` | blocks of up to 128 bytes, then of 4 elements, then single ones | one by one | AVX2 |
/// | `Heavy` | large bodies: `exp`, `sin` | blocks of 16 elements of up to 4 bytes, or of 8 wider ones | the same loop, through scratch | AVX2, AVX-512 |
/// | `Bulky` | the largest bodies: complex `exp` | as `Heavy` | as `Heavy` | AVX2 |
/// | `Plain` | branches, calls, what CPUs have no vector instructions for: `gcd`, powers of integers, most complex functions | one by one | one by one | none |
///
/// A CPU level without code of its own uses the next lower one. The baseline, on CPUs below [`Level::Fused`](cpu::Level), is
/// the reference kernel: one element after the other. It also serves the other levels where "one by one" stands above.
///
/// `Light` and `Plain` loops return the same bits at every level. `Heavy` and `Bulky` ones may differ, within the error
/// bound of their function. With each of them, a strided view returns the same bits as its contiguous copy.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Loops {
    Light,
    Heavy,
    Bulky,
    Plain,
}

impl Loops {
    /// The cost of one element, relative to an addition.
    pub const fn cost(self) -> usize {
        match self {
            Loops::Light => 1,
            Loops::Heavy | Loops::Bulky | Loops::Plain => 8,
        }
    }
}

/// A function of N elements of one type.
pub trait Function<A: Copy, const N: usize>: 'static {
    type Out: Copy;
    const LOOPS: Loops = Loops::Light;

    /// The function of one element, as the reference kernel computes it.
    fn apply(args: [A; N]) -> Self::Out;

    /// The function of `L` adjacent elements, on CPUs from [`Level::Fused`](cpu::Level) on. Where the loops are heavy or
    /// bulky it may round differently from `apply`.
    #[inline(always)]
    fn block<const L: usize>(args: [[A; L]; N]) -> [Self::Out; L] {
        apply_each::<Self, A, N, L>(args)
    }
}

/// Applies a function to `L` adjacent elements, one after the other.
#[inline(always)]
pub fn apply_each<F: Function<A, N> + ?Sized, A: Copy, const N: usize, const L: usize>(
    args: [[A; L]; N],
) -> [F::Out; L] {
    let mut out = MaybeUninit::<[F::Out; L]>::uninit();
    let to = out.as_mut_ptr().cast::<F::Out>();
    for i in 0..L {
        let mut one = [args[0][0]; N];
        for k in 0..N {
            one[k] = args[k][i];
        }
        // SAFETY: `out` has L elements.
        unsafe { to.add(i).write(F::apply(one)) };
    }
    // SAFETY: the loop above wrote all L results.
    unsafe { out.assume_init() }
}

/// The code of a function for each level of CPU. The reference kernel is also the code of the baseline: CPUs without AVX2
/// are too rare for more.
#[derive(Clone, Copy)]
pub(super) struct LevelKernels {
    reference: Kernel,
    fused: Kernel,
    wide: Kernel,
}

impl LevelKernels {
    /// The kernels of a function; only those that its loops need are compiled.
    pub(super) const fn of<F: Function<A, N>, A: Copy, const N: usize>() -> LevelKernels {
        let fused = if matches!(F::LOOPS, Loops::Plain) { F::reference } else { F::fused };
        let wide = if matches!(F::LOOPS, Loops::Heavy) { F::wide } else { fused };
        LevelKernels { reference: F::reference, fused, wide }
    }

    /// The kernel for this CPU, or the reference kernel if `STRIDED_KERNELS` asks for it.
    #[inline(always)]
    pub(super) fn select(&self) -> Kernel {
        match cpu::kernel_level() {
            cpu::Level::Wide => self.wide,
            cpu::Level::Fused => self.fused,
            cpu::Level::Baseline => self.reference,
        }
    }
}

/// The kernels of an operation for one dtype, the dtypes of their operands and result, and their cost.
#[derive(Clone, Copy)]
pub struct ElementwiseKernels {
    kernels: LevelKernels,
    operands: [DType; OPERANDS - 1],
    result: DType,
    cost: usize,
}

impl ElementwiseKernels {
    pub const fn of<F: Function<A, N, Out: Element>, A: Element, const N: usize>() -> ElementwiseKernels {
        const { assert!(N < OPERANDS) };
        ElementwiseKernels {
            kernels: LevelKernels::of::<F, A, N>(),
            operands: [A::DTYPE; OPERANDS - 1],
            result: <F::Out as Element>::DTYPE,
            cost: F::LOOPS.cost(),
        }
    }

    /// The same kernels for another dtype whose bits they treat alike, such as int32 for uint32. A result of the operands'
    /// dtype becomes one of the other dtype.
    pub(super) const fn reading(self, dtype: DType) -> ElementwiseKernels {
        assert!(self.operands[0].size() == dtype.size());
        let result = if self.result as u8 == self.operands[0] as u8 { dtype } else { self.result };
        ElementwiseKernels { operands: [dtype; OPERANDS - 1], result, ..self }
    }

    /// Kernels whose operands have different dtypes: `where` selects elements by a bool, `isclose` has float64
    /// tolerances and `round` an int64 number of decimals for any dtype. The dtype of an operand that the kernels do not
    /// have is not used. The fast kernel chooses the level itself.
    pub(super) const fn mixed(
        fast: Kernel,
        reference: Kernel,
        operands: [DType; OPERANDS - 1],
        result: DType,
    ) -> ElementwiseKernels {
        ElementwiseKernels {
            kernels: LevelKernels { reference, fused: fast, wide: fast },
            operands,
            result,
            cost: 1,
        }
    }

    /// The dtype of each operand.
    #[inline]
    pub fn operands(&self) -> &[DType; OPERANDS - 1] {
        &self.operands
    }

    /// The dtype of the output.
    pub fn result(&self) -> DType {
        self.result
    }

    /// The cost of one element, relative to an addition.
    pub fn cost(&self) -> usize {
        self.cost
    }

    #[inline]
    pub(super) fn kernel(&self) -> Kernel {
        self.kernels.select()
    }
}

/// The kernels of a function. They are methods of the function's type, so that they are compiled in its module (see
/// [`cpu::Specialised::Home`]). With all kernels in one module a build took 360 s of CPU time and 7 GB on one thread, and an edit
/// of one function compiled all of them again.
///
/// # Safety
/// All of them have the contract of [`super::Kernel`], for inputs of type `A` and an output of type `Self::Out`. The CPU has
/// the level that a kernel is named after.
pub(super) trait FunctionKernels<A: Copy, const N: usize>: Function<A, N> {
    /// Applies the function to one element after the other.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn reference(p: &Pointers, s: &Steps, n: usize);

    /// The code for [`Level::Fused`](cpu::Level).
    ///
    /// # Safety
    /// See the trait.
    unsafe fn fused(p: &Pointers, s: &Steps, n: usize);

    /// The code for [`Level::Wide`](cpu::Level).
    ///
    /// # Safety
    /// See the trait.
    unsafe fn wide(p: &Pointers, s: &Steps, n: usize);
}

impl<F: Function<A, N>, A: Copy, const N: usize> FunctionKernels<A, N> for F {
    unsafe fn reference(p: &Pointers, s: &Steps, n: usize) {
        for i in 0..n as isize {
            // SAFETY: this function's contract: p[k] + i * s[k] is valid for i < n.
            unsafe {
                let mut args = [p[1].wrapping_offset(i.wrapping_mul(s[1])).cast::<A>().read(); N];
                for k in 1..N {
                    args[k] = p[k + 1].wrapping_offset(i.wrapping_mul(s[k + 1])).cast::<A>().read();
                }
                p[0].wrapping_offset(i.wrapping_mul(s[0])).cast::<F::Out>().write(F::apply(args));
            }
        }
    }

    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi1,bmi2,fma,f16c,lzcnt,popcnt"))]
    unsafe fn fused(p: &Pointers, s: &Steps, n: usize) {
        // SAFETY: this function's contract is that of `fast_loop`.
        unsafe { fast_loop::<F, A, N>(p, s, n) }
    }

    #[cfg_attr(
        target_arch = "x86_64",
        target_feature(
            enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,bmi1,bmi2,fma,f16c,lzcnt,popcnt"
        )
    )]
    unsafe fn wide(p: &Pointers, s: &Steps, n: usize) {
        // SAFETY: this function's contract is that of `fast_loop`.
        unsafe { fast_loop::<F, A, N>(p, s, n) }
    }
}

/// Runs the loops of a function with blocks of the right size. Light blocks have up to four registers of 32 bytes. Heavy
/// blocks fill two registers of 32 bytes or one of 64: larger ones were not faster for any function.
///
/// # Safety
/// The contract of [`super::Kernel`], for inputs of type `A` and an output of type `F::Out`.
#[inline(always)]
unsafe fn fast_loop<F: Function<A, N>, A: Copy, const N: usize>(p: &Pointers, s: &Steps, n: usize) {
    // With n = 0 the addresses may be invalid, and loops read scalars before they look at n.
    if n == 0 {
        return;
    }
    let inner = InnerLoop::<F, A, N> {
        start: p,
        at: first_addresses::<N>(p),
        steps: s,
        left: n,
        function: PhantomData,
    };
    // SAFETY: this function's contract, and n > 0. Conditions are `const`, so that a branch that a function does not take
    // is not even compiled.
    unsafe {
        if const { matches!(F::LOOPS, Loops::Heavy | Loops::Bulky) } {
            if const { size_of::<A>() <= 4 } { inner.heavy_loop::<16>() } else { inner.heavy_loop::<8>() }
        } else {
            match const { InnerLoop::<F, A, N>::WIDEST } {
                1 => inner.light_loop::<64>(),
                2..=4 => inner.light_loop::<32>(),
                5..=8 => inner.light_loop::<16>(),
                _ => inner.light_loop::<8>(),
            }
        }
    }
}

/// The addresses of the output and of N inputs, read one by one. A copy of all of them is one wide load, which has to wait until the
/// caller's narrow stores are in the cache: `a + b` of 8 floats took 10 ns longer.
#[inline(always)]
fn first_addresses<const N: usize>(p: &Pointers) -> Pointers {
    std::array::from_fn(|k| if k <= N { p[k] } else { null_mut() })
}

/// The state of one innermost loop. In all of its methods, `at[k] + i * steps[k]` is valid for `i < left`, as the contract
/// of [`super::Kernel`] says for `n`.
struct InnerLoop<'a, F, A, const N: usize> {
    /// The addresses of the first elements, as the caller passed them.
    start: &'a Pointers,
    at: Pointers,
    steps: &'a Steps,
    /// Elements that remain.
    left: usize,
    function: PhantomData<(F, A)>,
}

impl<F: Function<A, N>, A: Copy, const N: usize> InnerLoop<'_, F, A, N> {
    /// Bytes of an element of input or output, whichever is wider.
    const WIDEST: usize =
        if size_of::<A>() > size_of::<F::Out>() { size_of::<A>() } else { size_of::<F::Out>() };

    /// Whether the output and all inputs are dense.
    #[inline(always)]
    fn is_dense(&self) -> bool {
        let mut dense = self.steps[0] == size_of::<F::Out>() as isize;
        for k in 1..=N {
            dense &= self.steps[k] == size_of::<A>() as isize;
        }
        dense
    }

    /// Whether the output and the first input are dense, and all other inputs are scalars; or the only input is one.
    #[inline(always)]
    fn has_fixed_scalars(&self) -> bool {
        let mut fixed = self.steps[0] == size_of::<F::Out>() as isize;
        for k in 1..=N {
            fixed &= self.steps[k] == if k == 1 && N > 1 { size_of::<A>() as isize } else { 0 };
        }
        fixed
    }

    /// Runs dense and scalar operands in blocks. Operands with other steps, and the last few elements, are left to the
    /// reference kernel.
    ///
    /// # Safety
    /// `left > 0`, and the elements that remain are valid: see [`InnerLoop`].
    #[inline(always)]
    unsafe fn light_loop<const L: usize>(mut self) {
        let mut blocks = [const { ScalarBlock::UNINIT }; N];
        // SAFETY: this function's contract, which `whole_blocks` preserves for the elements that remain; `blocks` outlives the
        // loops.
        unsafe {
            if self.has_fixed_scalars() {
                // `x * 2` keeps the 2 in a register; a cast of a scalar is computed once.
                self.whole_blocks::<L, true>();
            } else {
                if !self.is_dense() && !self.broadcast_scalars(&mut blocks) {
                    return F::reference(self.start, self.steps, self.left);
                }
                self.whole_blocks::<L, false>();
                self.whole_blocks::<4, false>();
            }
            if self.left > 0 {
                // A copy, so that the addresses above stay in registers.
                let rest = first_addresses::<N>(&self.at);
                F::reference(&rest, self.steps, self.left)
            }
        }
    }

    /// Points each scalar input to a block of copies of it, so that one loop reads scalars and dense inputs alike. Returns
    /// false if an operand is neither dense nor a scalar.
    ///
    /// # Safety
    /// `at` is `start`, `left > 0`, and the elements that remain are valid: see [`InnerLoop`]. `blocks` outlives every use of `at`.
    #[inline(always)]
    unsafe fn broadcast_scalars(&mut self, blocks: &mut [ScalarBlock; N]) -> bool {
        let sizes = [size_of::<F::Out>(), size_of::<A>()];
        // SAFETY: this function's contract.
        match unsafe { broadcast(self.start, self.steps, sizes, blocks) } {
            Some(at) => {
                self.at = first_addresses::<N>(&at);
                true
            }
            None => false,
        }
    }

    /// Runs whole blocks of `W` elements, as long as that many remain. A block is read before it is written: the compiler
    /// then needs no proof that input and output differ, and an output that is its own input costs nothing.
    ///
    /// # Safety
    /// Output and inputs are contiguous, `left` elements each, except inputs whose step is 0. If `FIXED`, those are all but
    /// the first of several inputs, or the only one, and `left > 0`. Otherwise they have a block of `W` copies or more.
    #[inline(always)]
    unsafe fn whole_blocks<const W: usize, const FIXED: bool>(&mut self) {
        let mut scalars = [const { MaybeUninit::<A>::uninit() }; N];
        if FIXED {
            for k in 0..N {
                // SAFETY: this function's contract: where FIXED, an element remains.
                scalars[k].write(unsafe { self.at[k + 1].cast::<A>().read() });
            }
        }
        while self.left >= W {
            // Without the barrier the compiler vectorised the loop once more, across blocks: `reciprocal` and `sqrt` took
            // twice as long.
            cpu::loop_barrier();
            // SAFETY: W elements remain: the loop condition. The scalars were written above where FIXED.
            unsafe {
                let mut args = if FIXED && N == 1 {
                    [[scalars[0].assume_init(); W]; N]
                } else {
                    [self.at[1].cast::<[A; W]>().read_unaligned(); N]
                };
                for k in 1..N {
                    args[k] = if FIXED {
                        [scalars[k].assume_init(); W]
                    } else {
                        self.at[k + 1].cast::<[A; W]>().read_unaligned()
                    };
                }
                self.at[0].cast::<[F::Out; W]>().write_unaligned(F::block(args));
                self.at[0] = self.at[0].wrapping_add(W * size_of::<F::Out>());
                for k in 1..=N {
                    self.at[k] = self.at[k].wrapping_offset(self.steps[k].wrapping_mul(W as isize));
                }
            }
            self.left -= W;
        }
    }

    /// Runs blocks with one copy of the function's large body. Strided operands and tails are copied into scratch first,
    /// so that it sees whole, dense blocks.
    ///
    /// # Safety
    /// `left > 0`, and the elements that remain are valid: see [`InnerLoop`].
    #[inline(always)]
    unsafe fn heavy_loop<const L: usize>(mut self) {
        let mut scalars = [const { ScalarBlock::UNINIT }; N];
        let mut inputs = [const { MaybeUninit::<[[A; L]; SCRATCH_BLOCKS]>::uninit() }; N];
        let mut results = MaybeUninit::<[[F::Out; L]; SCRATCH_BLOCKS]>::uninit();
        // SAFETY: this function's contract; `scalars` outlives the loop below.
        let in_place = self.is_dense() || unsafe { self.broadcast_scalars(&mut scalars) };
        let mut dense_steps = [size_of::<A>() as isize; OPERANDS];
        dense_steps[0] = size_of::<F::Out>() as isize;
        while self.left > 0 {
            let mut blocks = Self { ..self };
            let direct = in_place && self.left >= L;
            let count = self.left.min(SCRATCH_BLOCKS * L);
            if !direct {
                blocks.left = count.next_multiple_of(L);
                blocks.steps = &dense_steps;
                for k in 0..N {
                    let scratch = inputs[k].as_mut_ptr().cast::<A>();
                    // SAFETY: at least `count` elements remain, and count > 0; `blocks.left` is at most the size of the
                    // scratch buffer.
                    unsafe { gather(scratch, self.at[k + 1], self.steps[k + 1], count, blocks.left) };
                    blocks.at[k + 1] = scratch.cast();
                }
                blocks.at[0] = results.as_mut_ptr().cast();
            }
            // Hidden, or the compiler might make a second copy of the large body, for scratch.
            blocks.left = black_box(blocks.left);
            // SAFETY: every address has `blocks.left` contiguous elements: of a dense operand, or of scratch. Scalars were
            // broadcast above; in scratch they are gathered like all others.
            unsafe { blocks.whole_blocks::<L, false>() };
            if direct {
                (self.at, self.left) = (blocks.at, blocks.left);
                continue;
            }
            // SAFETY: the blocks wrote `count` results or more; at least `count` elements of the output remain.
            unsafe { scatter(self.at[0], self.steps[0], results.as_ptr().cast::<F::Out>(), count) };
            for k in 0..=N {
                self.at[k] = self.at[k].wrapping_offset(count as isize * self.steps[k]);
            }
            self.left -= count;
        }
    }
}

/// Copies of a scalar: as many as the largest block of a loop has elements.
#[repr(C, align(32))]
struct ScalarBlock(MaybeUninit<[u8; 128]>);

impl ScalarBlock {
    const UNINIT: ScalarBlock = ScalarBlock(MaybeUninit::uninit());

    /// # Safety
    /// `from` is the address of a value of type `T`, aligned or not.
    unsafe fn fill<T: Copy>(&mut self, from: *const u8) {
        // SAFETY: this function's contract; the block has space for this many values, and is aligned for each `T` here.
        unsafe {
            let (value, to) = (from.cast::<T>().read_unaligned(), self.0.as_mut_ptr().cast::<T>());
            for i in 0..size_of::<Self>() / size_of::<T>() {
                to.add(i).write(value);
            }
        }
    }
}

/// The addresses with those of scalars replaced by blocks of copies, or `None` if an operand is neither dense nor a scalar.
/// Generic over nothing: only the sizes of elements matter, so that all functions share this code.
///
/// # Safety
/// `p[k]` is the address of an element of `sizes[1]` bytes for each of the inputs, of which there is one for each block.
#[inline(never)]
unsafe fn broadcast(
    p: &Pointers,
    s: &Steps,
    sizes: [usize; 2],
    blocks: &mut [ScalarBlock],
) -> Option<Pointers> {
    let mut at = *p;
    let is_scalar_or_dense = |step: &isize| *step == 0 || *step == sizes[1] as isize;
    if s[0] != sizes[0] as isize || !s[1..=blocks.len()].iter().all(is_scalar_or_dense) {
        return None;
    }
    for (k, block) in (1..).zip(blocks) {
        if s[k] == 0 {
            // SAFETY: this function's contract: there is an element at p[k].
            unsafe {
                match sizes[1] {
                    1 => block.fill::<u8>(p[k]),
                    2 => block.fill::<u16>(p[k]),
                    4 => block.fill::<u32>(p[k]),
                    8 => block.fill::<u64>(p[k]),
                    _ => block.fill::<[u64; 2]>(p[k]),
                }
            }
            at[k] = (block as *mut ScalarBlock).cast();
        }
    }
    Some(at)
}

/// Blocks in the scratch buffers of `heavy_loop`: several, so that loading the constants of a body into registers pays off.
const SCRATCH_BLOCKS: usize = 4;

/// Reads `count` strided elements into scratch, and repeats the last one until there are `padded`.
///
/// # Safety
/// `from + i * step` is valid for reading for `i < count`, `0 < count <= padded`, and `scratch` is valid for writing
/// `padded` elements.
#[inline(never)]
unsafe fn gather<A: Copy>(scratch: *mut A, from: *mut u8, step: isize, count: usize, padded: usize) {
    // SAFETY: this function's contract.
    unsafe {
        for i in 0..count {
            scratch.add(i).write(from.wrapping_offset(i as isize * step).cast::<A>().read());
        }
        let last = scratch.add(count - 1).read();
        for i in count..padded {
            scratch.add(i).write(last);
        }
    }
}

/// Writes `count` elements from scratch to strided memory.
///
/// # Safety
/// `scratch` holds `count` elements, and `to + i * step` is valid for writing for `i < count`.
#[inline(never)]
unsafe fn scatter<T: Copy>(to: *mut u8, step: isize, scratch: *const T, count: usize) {
    for i in 0..count {
        // SAFETY: this function's contract.
        unsafe { to.wrapping_offset(i as isize * step).cast::<T>().write(scratch.add(i).read()) };
    }
}

//! Elementwise loops: a function of one element becomes a kernel over dense, scalar or strided operands.

// Loops over operands and lanes use indices: iterator adaptors may not be inlined, and then nothing is vectorised.
#![allow(clippy::needless_range_loop)]

use super::{Kernel, OPERANDS, Pointers, Steps};
use crate::cpu::{self, Task, dispatch};
use crate::dtype::DType;
use crate::scalar::Element;
use std::hint::black_box;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Which loops are compiled for a function. Code costs build time, bytes of the wheel and memory, so each function takes
/// the cheapest row that makes it fast:
///
/// | loops | used for | dense or scalar operands | other steps | compiled for |
/// |---|---|---|---|---|
/// | `Light` | cheap bodies: `add`, `sqrt` | blocks of up to 128 bytes, then of 4 elements, then single ones | one by one | baseline, AVX2 |
/// | `Heavy` | large bodies: `exp`, `sin` | blocks of 16 elements of up to 4 bytes, or of 8 wider ones | the same loop, through scratch | AVX2, AVX-512 |
/// | `Bulky` | the largest bodies: complex `exp` | as `Heavy` | as `Heavy` | AVX2 |
/// | `Plain` | branches, calls, what CPUs have no vector instructions for: `gcd`, powers of integers, most complex functions | one by one | one by one | baseline |
///
/// A CPU level without code of its own uses the next lower one. `Heavy` and `Bulky` have no code for the baseline (CPUs
/// below [`Level::Fused`](cpu::Level)): those CPUs run the reference kernel. At the baseline, `Light` loops run their
/// largest blocks, and the reference kernel for the tail.
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
    pub const fn weight(self) -> usize {
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
    let mut out = [const { MaybeUninit::<F::Out>::uninit() }; L];
    for (i, result) in out.iter_mut().enumerate() {
        let mut one = [args[0][0]; N];
        for k in 0..N {
            one[k] = args[k][i];
        }
        result.write(F::apply(one));
    }
    // SAFETY: the loop above wrote all L results.
    unsafe { std::mem::transmute_copy(&out) }
}

/// A fast kernel and its reference kernel, with the dtypes of their operands. `STRIDED_KERNELS=reference` selects the
/// latter.
#[derive(Clone, Copy)]
pub struct KernelPair {
    fast: Kernel,
    reference: Kernel,
    operands: [DType; OPERANDS - 1],
    result: DType,
    weight: usize,
}

impl KernelPair {
    pub const fn of<F: Function<A, N, Out: Element>, A: Element, const N: usize>() -> KernelPair {
        const { assert!(N < OPERANDS) };
        KernelPair {
            fast: if matches!(F::LOOPS, Loops::Plain) { F::reference } else { F::fast },
            reference: F::reference,
            operands: [A::DTYPE; OPERANDS - 1],
            result: <F::Out as Element>::DTYPE,
            weight: F::LOOPS.weight(),
        }
    }

    /// Kernels whose operands have different dtypes: `where` selects elements by a bool, `isclose` has float64
    /// tolerances and `round` an int64 number of decimals for any dtype. The dtype of an operand that the kernels do not
    /// have is not used.
    pub(super) const fn mixed(
        fast: Kernel,
        reference: Kernel,
        operands: [DType; OPERANDS - 1],
        result: DType,
    ) -> KernelPair {
        KernelPair { fast, reference, operands, result, weight: 1 }
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
    pub fn weight(&self) -> usize {
        self.weight
    }

    #[inline]
    pub(super) fn kernel(&self) -> Kernel {
        if cpu::reference_kernels() { self.reference } else { self.fast }
    }
}

/// The kernels of a function. They are methods of the function's type, so that they are compiled in its module (see
/// [`Task::Home`]). With all kernels in one module a build took 360 s of CPU time and 7 GB on one thread, and an edit of
/// one function compiled all of them again.
pub(super) trait FunctionKernels<A: Copy, const N: usize>: Function<A, N> {
    /// The reference kernel.
    ///
    /// # Safety
    /// The contract of [`super::Kernel`], for inputs of type `A` and an output of type `Self::Out`.
    unsafe fn reference(p: &Pointers, s: &Steps, n: usize);

    /// The fast kernel.
    ///
    /// # Safety
    /// The contract of [`super::Kernel`], for inputs of type `A` and an output of type `Self::Out`.
    unsafe fn fast(p: &Pointers, s: &Steps, n: usize);
}

impl<F: Function<A, N>, A: Copy, const N: usize> FunctionKernels<A, N> for F {
    unsafe fn reference(p: &Pointers, s: &Steps, n: usize) {
        // SAFETY: forwarded from this function's contract: p[k] + i * s[k] is valid for i < n.
        unsafe { one_by_one::<F, A, N>(p, s, n) }
    }

    unsafe fn fast(p: &Pointers, s: &Steps, n: usize) {
        // If n is 0 the addresses may be invalid, and the loops read the first element before they look at n.
        if n > 0 {
            dispatch(FunctionTask::<F, A, N> { p, s, n, function: PhantomData });
        }
    }
}

/// Applies a function to one element after the other.
///
/// # Safety
/// The contract of [`super::Kernel`], for inputs of type `A` and an output of type `F::Out`.
#[inline(always)]
unsafe fn one_by_one<F: Function<A, N>, A: Copy, const N: usize>(p: &Pointers, s: &Steps, n: usize) {
    for i in 0..n as isize {
        // SAFETY: this function's contract: p[k] + i * s[k] is valid for i < n.
        unsafe {
            let mut args = [p[1].wrapping_offset(i * s[1]).cast::<A>().read(); N];
            for k in 1..N {
                args[k] = p[k + 1].wrapping_offset(i * s[k + 1]).cast::<A>().read();
            }
            p[0].wrapping_offset(i * s[0]).cast::<F::Out>().write(F::apply(args));
        }
    }
}

/// The arguments of [`FunctionKernels::fast`], under its contract and with `n > 0`.
struct FunctionTask<'a, F, A, const N: usize> {
    p: &'a Pointers,
    s: &'a Steps,
    n: usize,
    function: PhantomData<(F, A)>,
}

impl<F: Function<A, N>, A: Copy, const N: usize> Task for FunctionTask<'_, F, A, N> {
    type Home = F;
    const WIDE: bool = matches!(F::LOOPS, Loops::Heavy);

    /// Heavy blocks fill two registers of 32 bytes or one of 64: larger ones were not faster for any function.
    #[inline(always)]
    fn run<const FAST: bool>(self) {
        let FunctionTask { p, s, n, .. } = self;
        let inner = FunctionLoop::<F, A, N> { at: *p, steps: *s, left: n, function: PhantomData };
        // SAFETY: the contract of `fast`, which made this task with n > 0; `inner` stands at the first element.
        unsafe {
            if const { !FunctionLoop::<F, A, N>::HEAVY } {
                inner.run_light::<FAST>()
            } else if const { !FAST } {
                F::reference(p, s, n)
            } else if const { size_of::<A>() <= 4 } {
                inner.run_heavy::<16>()
            } else {
                inner.run_heavy::<8>()
            }
        }
    }
}

/// The state of one innermost loop. In all of its methods, `at[k] + i * steps[k]` is valid for `i < left`, as the contract
/// of [`super::Kernel`] says for `n`.
struct FunctionLoop<F, A, const N: usize> {
    at: Pointers,
    steps: Steps,
    /// Elements that remain.
    left: usize,
    function: PhantomData<(F, A)>,
}

// Conditions are `const`, so that a branch that a function does not take is not even compiled.
impl<F: Function<A, N>, A: Copy, const N: usize> FunctionLoop<F, A, N> {
    const HEAVY: bool = matches!(F::LOOPS, Loops::Heavy | Loops::Bulky);
    /// Bytes of an element of input or output, whichever is wider.
    const WIDEST: usize =
        if size_of::<A>() > size_of::<F::Out>() { size_of::<A>() } else { size_of::<F::Out>() };

    /// The first of the inputs that `run_blocks` may keep in registers, if they are scalars.
    const FIRST_FIXED: usize = if N == 1 { 0 } else { 1 };

    /// Runs a light function.
    ///
    /// # Safety
    /// `left > 0`, and the elements that remain are valid: see [`FunctionLoop`].
    #[inline(always)]
    unsafe fn run_light<const FAST: bool>(self) {
        // SAFETY: forwarded from this function's contract: at[k] + i * steps[k] is valid for i < left, and left > 0.
        unsafe {
            match const { Self::light_block(FAST) } {
                64 => self.run_light_blocks::<64, FAST>(),
                32 => self.run_light_blocks::<32, FAST>(),
                16 => self.run_light_blocks::<16, FAST>(),
                8 => self.run_light_blocks::<8, FAST>(),
                4 => self.run_light_blocks::<4, FAST>(),
                _ => self.run_light_blocks::<2, FAST>(),
            }
        }
    }

    /// Elements of a block of light loops: up to four registers of 32 bytes; at the baseline up to two of 16, for which
    /// half of the code suffices.
    const fn light_block(fast: bool) -> usize {
        let length = match Self::WIDEST {
            1 => 64,
            2..=4 => 32,
            5..=8 => 16,
            _ => 8,
        };
        if fast { length } else { length / 4 }
    }

    /// Runs dense and scalar operands in blocks, others one by one. Only `FAST` has loops for fixed scalars and for
    /// tails: the baseline is not worth their code.
    ///
    /// # Safety
    /// `left > 0`, and the elements that remain are valid: see [`FunctionLoop`].
    #[inline(always)]
    unsafe fn run_light_blocks<const L: usize, const FAST: bool>(mut self) {
        let mut scalars = [const { MaybeUninit::uninit() }; N];
        // SAFETY: this function's contract, which `run_blocks` preserves for the elements that remain; `forward` shows
        // that operands are dense or scalars, and `scalars` outlives the loops.
        unsafe {
            if let Some(forward) = self.broadcast_scalars::<L>(&mut scalars) {
                // `x * 2` has a loop that keeps the 2 in a register; a cast of a scalar is computed once.
                let mut fixed = const { FAST };
                for k in Self::FIRST_FIXED..N {
                    fixed &= forward[k] == 0;
                }
                if fixed {
                    self.run_blocks::<L, true, FAST>(&forward);
                }
                self.run_blocks::<L, false, FAST>(&forward);
                if const { FAST } {
                    self.run_blocks::<4, false, FAST>(&forward);
                    self.run_blocks::<1, false, FAST>(&forward);
                    return;
                }
            }
            if const { FAST } {
                one_by_one::<F, A, N>(&self.at, &self.steps, self.left)
            } else {
                F::reference(&self.at, &self.steps, self.left)
            }
        }
    }

    /// Returns how many elements each input advances with every element of the output, 1 for a dense one and 0 for a
    /// scalar; `None` if an operand is neither. Fills `scalars` with the value of each scalar and points `at` to it, so
    /// that one loop reads blocks of scalars and of dense inputs alike.
    ///
    /// # Safety
    /// `left > 0`, and the elements that remain are valid: see [`FunctionLoop`]. `scalars` outlives every use of `at`.
    #[inline(always)]
    unsafe fn broadcast_scalars<const L: usize>(
        &mut self,
        scalars: &mut [MaybeUninit<[A; L]>; N],
    ) -> Option<[usize; N]> {
        let mut dense = self.steps[0] == size_of::<F::Out>() as isize;
        for k in 1..=N {
            dense &= self.steps[k] == size_of::<A>() as isize || self.steps[k] == 0;
        }
        if !dense {
            return None;
        }
        let mut forward = [1; N];
        for (k, scalar) in scalars.iter_mut().enumerate() {
            if self.steps[k + 1] == 0 {
                forward[k] = 0;
                // SAFETY: this function's contract: there is at least one element.
                scalar.write([unsafe { self.at[k + 1].cast::<A>().read() }; L]);
                self.at[k + 1] = scalar.as_mut_ptr().cast();
            }
        }
        Some(forward)
    }

    /// Runs whole blocks of `W` elements, as long as that many remain. A block is read before it is written: the compiler
    /// then needs no proof that input and output differ, and an output that is its own input costs nothing. If `FIXED`,
    /// inputs from [`Self::FIRST_FIXED`] on are scalars.
    ///
    /// # Safety
    /// Output and inputs are contiguous, `left` elements each, except inputs whose `forward` is 0: those have a block of
    /// `W` or more copies of a scalar. If `FIXED`, `left > 0`.
    #[inline(always)]
    unsafe fn run_blocks<const W: usize, const FIXED: bool, const FAST: bool>(
        &mut self,
        forward: &[usize; N],
    ) {
        // SAFETY: this function's contract: where FIXED, an element remains.
        let first = if const { FIXED } { Some(unsafe { self.load::<1>() }) } else { None };
        while self.left >= W {
            // Without the barrier the compiler vectorised the loop once more, across blocks: `reciprocal` and `sqrt` took
            // twice as long.
            cpu::loop_barrier();
            // SAFETY: W elements remain: the loop condition.
            unsafe {
                let mut args = self.load::<W>();
                if let Some(first) = first {
                    for k in Self::FIRST_FIXED..N {
                        args[k] = [first[k][0]; W];
                    }
                }
                let results = if const { FAST } { F::block(args) } else { apply_each::<F, A, N, W>(args) };
                self.at[0].cast::<[F::Out; W]>().write_unaligned(results);
                self.at[0] = self.at[0].cast::<F::Out>().add(W).cast();
                for k in 0..N {
                    self.at[k + 1] = self.at[k + 1].cast::<A>().add(W * forward[k]).cast();
                }
            }
            self.left -= W;
        }
    }

    /// Reads a block of each input.
    ///
    /// # Safety
    /// `at` is the address of `W` contiguous elements of each input.
    #[inline(always)]
    unsafe fn load<const W: usize>(&self) -> [[A; W]; N] {
        // SAFETY: this function's contract.
        unsafe {
            let mut args = [self.at[1].cast::<[A; W]>().read_unaligned(); N];
            for k in 1..N {
                args[k] = self.at[k + 1].cast::<[A; W]>().read_unaligned();
            }
            args
        }
    }

    /// Runs blocks with one copy of the function's large body. Strided operands and tails are copied into scratch first,
    /// so that it sees whole, dense blocks.
    ///
    /// # Safety
    /// `left > 0`, and the elements that remain are valid: see [`FunctionLoop`].
    #[inline(always)]
    unsafe fn run_heavy<const L: usize>(mut self) {
        let mut scalars = [const { MaybeUninit::uninit() }; N];
        let mut inputs = [const { MaybeUninit::<[[A; L]; SCRATCH_BLOCKS]>::uninit() }; N];
        let mut results = MaybeUninit::<[[F::Out; L]; SCRATCH_BLOCKS]>::uninit();
        // SAFETY: this function's contract; `scalars` outlives the loop below.
        let forward = unsafe { self.broadcast_scalars::<L>(&mut scalars) };
        while self.left > 0 {
            let mut blocks = Self { ..self };
            let direct = forward.is_some() && self.left >= L;
            let count = self.left.min(SCRATCH_BLOCKS * L);
            if !direct {
                blocks.left = count.next_multiple_of(L);
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
            // broadcast to L elements above; in scratch they are gathered like all others.
            unsafe { blocks.run_blocks::<L, false, true>(&forward.unwrap_or([1; N])) };
            if direct {
                self = blocks;
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

/// Blocks in the scratch buffers of `run_heavy`: several, so that loading the constants of a body into registers pays off.
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

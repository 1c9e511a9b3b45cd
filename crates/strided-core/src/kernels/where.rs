//! `where`: one of two elements by a truth value. Elements are moved as bits, so five loops serve all dtypes.

use super::loops::KernelPair;
use super::{Kernel, Pointers, Steps};
use crate::cpu::{Task, dispatch};
use crate::dtype::DType;
use crate::scalar::Bool;
use std::marker::PhantomData;

/// The kernels that choose between elements of a dtype: a condition and two operands.
pub fn kernels(dtype: DType) -> Option<&'static KernelPair> {
    macro_rules! kernels {
        ($($variant:ident $bits:ident)*) => {
            match dtype {
                $(DType::$variant => const { &pair::<$bits>(DType::$variant) }),*
            }
        };
    }
    Some(kernels! {
        Bool u8 U8 u8 I8 u8 U16 u16 I16 u16 F16 u16 BF16 u16 U32 u32 I32 u32 F32 u32
        U64 u64 I64 u64 F64 u64 C64 u64 C128 Wide
    })
}

/// Sixteen bytes that are aligned as a complex number is.
type Wide = [u64; 2];

const fn pair<W: Copy>(dtype: DType) -> KernelPair {
    KernelPair::mixed(
        fast::<W> as Kernel,
        reference::<W> as Kernel,
        [DType::Bool, dtype, dtype, dtype],
        dtype,
    )
}

/// The plain kernel.
///
/// # Safety
/// See [`super::Kernel`].
#[inline(always)]
unsafe fn reference<W: Copy>(p: &Pointers, s: &Steps, n: usize) {
    for i in 0..n as isize {
        // SAFETY: the kernel's promise.
        unsafe {
            let at = |k: usize| p[k].wrapping_offset(i * s[k]);
            let from = if at(1).cast::<Bool>().read().get() { at(2) } else { at(3) };
            at(0).cast::<W>().write_unaligned(from.cast::<W>().read_unaligned());
        }
    }
}

/// The fast kernel.
///
/// # Safety
/// See [`super::Kernel`].
unsafe fn fast<W: Copy>(p: &Pointers, s: &Steps, n: usize) {
    if n > 0 {
        dispatch(Run::<W>(p, s, n, PhantomData));
    }
}

/// Where the code is compiled.
struct Select;

/// One innermost loop, of at least one element.
struct Run<'a, W>(&'a Pointers, &'a Steps, usize, PhantomData<W>);

impl<W: Copy> Task for Run<'_, W> {
    type Home = Select;
    const WIDE: bool = false;

    #[inline(always)]
    fn run<const FAST: bool>(self) {
        let size = size_of::<W>() as isize;
        let dense = self.1[0] == size && self.1[1] == 1;
        // SAFETY: the promise of `fast`; a scalar has step 0.
        unsafe {
            match (self.1[2], self.1[3]) {
                (a, b) if dense && a == size && b == size => self.dense::<false, false>(),
                (0, b) if dense && b == size => self.dense::<true, false>(),
                (a, 0) if dense && a == size => self.dense::<false, true>(),
                (0, 0) if dense => self.dense::<true, true>(),
                _ => reference::<W>(self.0, self.1, self.2),
            }
        }
    }
}

/// Elements per block.
const BLOCK: usize = 32;

impl<W: Copy> Run<'_, W> {
    /// Dense operands, but for scalars. A block is read whole before it is written, as in `map.rs`.
    #[inline(always)]
    unsafe fn dense<const A: bool, const B: bool>(&self) {
        let mut at = 0;
        // SAFETY: the promise of `fast`; `at + width <= n` before each block.
        unsafe {
            while at + BLOCK <= self.2 {
                self.block::<BLOCK, A, B>(at);
                at += BLOCK;
            }
            while at < self.2 {
                self.block::<1, A, B>(at);
                at += 1;
            }
        }
    }

    #[inline(always)]
    unsafe fn load<const L: usize, const SCALAR: bool>(&self, k: usize, at: usize) -> [W; L] {
        let from = self.0[k].cast::<W>();
        // SAFETY: the callers have L elements from `at` on, or one where the operand is a scalar.
        unsafe {
            if SCALAR { [from.read_unaligned(); L] } else { from.add(at).cast::<[W; L]>().read_unaligned() }
        }
    }

    #[inline(always)]
    unsafe fn block<const L: usize, const A: bool, const B: bool>(&self, at: usize) {
        let p = self.0;
        // SAFETY: the callers have L elements from `at` on, or one where the operand is a scalar.
        unsafe {
            let condition = p[1].cast::<u8>().add(at).cast::<[u8; L]>().read_unaligned();
            let mut chosen = self.load::<L, A>(2, at);
            let other = self.load::<L, B>(3, at);
            for i in 0..L {
                chosen[i] = if condition[i] != 0 { chosen[i] } else { other[i] };
            }
            p[0].cast::<W>().add(at).cast::<[W; L]>().write_unaligned(chosen);
        }
    }
}

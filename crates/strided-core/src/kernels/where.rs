//! `where`: one of two elements, selected by a condition. Elements are copied as bits, so that five loops serve all
//! dtypes.

use super::loops::ElementwiseKernels;
use super::{Kernel, Pointers, Steps};
use crate::cpu::{Specialised, dispatch};
use crate::dtype::DType;
use crate::scalar::Bool;
use std::marker::PhantomData;

/// The kernels that select elements of a dtype: operands are the bool condition and the two alternatives.
pub fn kernels(dtype: DType) -> Option<&'static ElementwiseKernels> {
    macro_rules! kernels {
        ($($variant:ident $bits:ident)*) => {
            match dtype {
                $(DType::$variant => const { &kernels_of::<$bits>(DType::$variant) }),*
            }
        };
    }
    Some(kernels! {
        Bool u8 U8 u8 I8 u8 U16 u16 I16 u16 F16 u16 BF16 u16 U32 u32 I32 u32 F32 u32
        U64 u64 I64 u64 F64 u64 C64 u64 C128 Bits128
    })
}

/// 16 bytes with the alignment of complex128.
type Bits128 = [u64; 2];

const fn kernels_of<W: Copy>(dtype: DType) -> ElementwiseKernels {
    ElementwiseKernels::mixed(
        fast::<W> as Kernel,
        reference::<W> as Kernel,
        [DType::Bool, dtype, dtype, dtype],
        dtype,
    )
}

/// The reference kernel.
///
/// # Safety
/// The contract of [`super::Kernel`], for an output, a condition of type `Bool` and two inputs of the size of `W`.
#[inline(always)]
unsafe fn reference<W: Copy>(p: &Pointers, s: &Steps, n: usize) {
    for i in 0..n as isize {
        // SAFETY: this function's contract: p[k] + i * s[k] is valid for i < n.
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
/// The contract of [`super::Kernel`], for an output, a condition of type `Bool` and two inputs of the size of `W`.
unsafe fn fast<W: Copy>(p: &Pointers, s: &Steps, n: usize) {
    if n > 0 {
        dispatch(WhereLoop::<W> { p, s, n, element: PhantomData });
    }
}

/// Makes the compiler put the code into this module: see [`Specialised::Home`].
struct WhereHome;

/// The arguments of `fast`, under its contract and with `n > 0`.
struct WhereLoop<'a, W> {
    p: &'a Pointers,
    s: &'a Steps,
    n: usize,
    element: PhantomData<W>,
}

impl<W: Copy> Specialised for WhereLoop<'_, W> {
    type Home = WhereHome;
    const WIDE: bool = false;

    #[inline(always)]
    fn compute<const FAST: bool>(self) {
        let size = size_of::<W>() as isize;
        let dense = self.s[0] == size && self.s[1] == 1;
        // SAFETY: the contract of `fast`, which made this; the steps are those that each case needs.
        unsafe {
            match (self.s[2], self.s[3]) {
                (a, b) if dense && a == size && b == size => self.select_dense::<false, false>(),
                (0, b) if dense && b == size => self.select_dense::<true, false>(),
                (a, 0) if dense && a == size => self.select_dense::<false, true>(),
                (0, 0) if dense => self.select_dense::<true, true>(),
                _ => reference::<W>(self.p, self.s, self.n),
            }
        }
    }
}

/// Elements per block.
const WHERE_BLOCK: usize = 32;

impl<W: Copy> WhereLoop<'_, W> {
    /// Runs blocks over a dense output and condition. `A` and `B` say which of the two alternatives are scalars. A block
    /// is read before it is written, because the output may be one of the inputs.
    ///
    /// # Safety
    /// The contract of `fast`; output and condition are dense, and so is each alternative that is not a scalar.
    #[inline(always)]
    unsafe fn select_dense<const A: bool, const B: bool>(&self) {
        let mut at = 0;
        // SAFETY: this function's contract; `at + WHERE_BLOCK <= n`, or `at < n`: the loop conditions.
        unsafe {
            while at + WHERE_BLOCK <= self.n {
                self.block::<WHERE_BLOCK, A, B>(at);
                at += WHERE_BLOCK;
            }
            while at < self.n {
                self.block::<1, A, B>(at);
                at += 1;
            }
        }
    }

    /// Reads elements `at..at + L` of an alternative, or repeats its only one.
    ///
    /// # Safety
    /// As for `select_dense`, with `at + L <= n`; `SCALAR` says whether operand `k` is a scalar.
    #[inline(always)]
    unsafe fn load<const L: usize, const SCALAR: bool>(&self, k: usize, at: usize) -> [W; L] {
        let from = self.p[k].cast::<W>();
        // SAFETY: this function's contract: operand k has n contiguous elements, or one if it is a scalar.
        unsafe {
            if SCALAR { [from.read_unaligned(); L] } else { from.add(at).cast::<[W; L]>().read_unaligned() }
        }
    }

    /// Selects elements `at..at + L`.
    ///
    /// # Safety
    /// As for `select_dense`, with `at + L <= n`.
    #[inline(always)]
    unsafe fn block<const L: usize, const A: bool, const B: bool>(&self, at: usize) {
        let p = self.p;
        // SAFETY: this function's contract: L elements from `at` on are valid in each dense operand.
        unsafe {
            let condition = p[1].cast::<u8>().add(at).cast::<[u8; L]>().read_unaligned();
            let mut selected = self.load::<L, A>(2, at);
            let other = self.load::<L, B>(3, at);
            for i in 0..L {
                selected[i] = if condition[i] != 0 { selected[i] } else { other[i] };
            }
            p[0].cast::<W>().add(at).cast::<[W; L]>().write_unaligned(selected);
        }
    }
}

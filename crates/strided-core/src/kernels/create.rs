//! Elements from their position: the kernel behind `arange` and `range`.

use crate::cpu::simd;
use crate::dtype::DType;
use crate::scalar::Num;
use crate::switch;

/// Writes `start + i * step` for `i` below `n`, computed in the dtype (of which there is a kernel for
/// every dtype of the class `num`).
///
/// # Safety
/// `out` is the address of `n` adjacent elements of the dtype; `start` and `step` of one element each.
pub unsafe fn range(out: *mut u8, n: usize, dtype: DType, start: *const u8, step: *const u8) {
    switch!(dtype, num, T => {
        let out = out.cast::<T>();
        // SAFETY: the caller's promise.
        simd(|| unsafe {
            let (start, step) = (start.cast::<T>().read(), step.cast::<T>().read());
            for i in 0..n {
                out.add(i).write(start.add(step.mul(super::cast::Cast::<T>::cast(i as i64))));
            }
        })
    }, else => unreachable!("range of {}", dtype.name()))
}

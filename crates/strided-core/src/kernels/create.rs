//! Elements from their position: the kernel behind `arange` and `range`.

use super::cast::Cast;
use super::item::Slot;
use crate::cpu::simd;
use crate::dtype::DType;
use crate::error::Result;
use crate::scalar::Num;
use crate::storage::{Access, Fill};
use crate::switch;
use crate::tensor::Tensor;

/// A new tensor of one dim with `start + i * step` for `i` below `n`, computed in a dtype of the class `num`.
pub fn range(n: usize, dtype: DType, start: Slot, step: Slot) -> Result<Tensor> {
    let out = Tensor::new(&[n as isize], dtype, Fill::Nothing)?;
    let pin = out.pin(Access::Write)?;
    switch!(dtype, num, T => {
        let to = pin.origin.cast::<T>();
        // SAFETY: the output is new, dense, pinned and of dtype T; a slot has room for any element.
        simd(|| unsafe {
            let (start, step) = (start.address().cast::<T>().read(), step.address().cast::<T>().read());
            for i in 0..n {
                to.add(i).write(start.add(step.mul(Cast::<T>::cast(i as i64))));
            }
        })
    }, else => unreachable!("range of {}", dtype.name()));
    drop(pin);
    Ok(out)
}

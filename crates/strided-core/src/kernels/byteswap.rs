//! Byte swapping, for values that a machine of the other byte order wrote.

use crate::cpu::simd;
use crate::error::Result;
use crate::storage::Access;
use crate::tensor::Tensor;

/// Reverses the bytes of every element of a row-major tensor. In complex elements each part is reversed by itself.
pub fn reverse_bytes(x: &Tensor) -> Result<()> {
    assert!(x.layout().is_row_major());
    let width = x.dtype().real().size();
    let count = x.size() * (x.dtype().size() / width);
    let pin = x.pin(Access::Write)?;
    macro_rules! reverse {
        ($t:ty) => {{
            let at = pin.origin.cast::<$t>();
            // SAFETY: `pin` holds the tensor for writing, and it is row-major: `count` contiguous, aligned numbers of
            // this width.
            simd(|| unsafe {
                for i in 0..count {
                    at.add(i).write(at.add(i).read().swap_bytes());
                }
            })
        }};
    }
    match width {
        2 => reverse!(u16),
        4 => reverse!(u32),
        8 => reverse!(u64),
        _ => {} // single bytes have no order
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::{copy, create};
    use crate::scalar::{Complex, Scalar};
    use crate::storage::Device;
    use crate::{DType, layout::Layout};

    #[test]
    fn each_part_of_an_element_is_reversed() {
        let value = Complex::new(1.5, -2.25);
        let x = create::full(Device::Cpu, &[3], Scalar::Complex(value), DType::C64).unwrap();
        reverse_bytes(&x).unwrap();
        let bits = |part: isize| {
            let part = x.part(part).unwrap().reinterpret(DType::U32).unwrap();
            copy::item(&part, &[2]).unwrap()
        };
        assert_eq!(bits(0), Scalar::Int((1.5f32).to_bits().swap_bytes() as i128));
        assert_eq!(bits(1), Scalar::Int((-2.25f32).to_bits().swap_bytes() as i128));
        reverse_bytes(&x).unwrap();
        assert_eq!(copy::item(&x, &[0]).unwrap(), Scalar::Complex(value));
    }

    #[test]
    fn elements_of_one_byte_do_not_change() {
        let x = create::full(Device::Cpu, &[2], Scalar::Int(200), DType::U8).unwrap();
        reverse_bytes(&x.with_layout(Layout::row_major(&[2]).unwrap())).unwrap();
        assert_eq!(copy::item(&x, &[1]).unwrap(), Scalar::Int(200));
    }
}

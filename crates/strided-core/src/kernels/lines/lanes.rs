//! What functions of lines do with the elements of several lanes at once.

use crate::kernels::maths::functions::Function1;
use crate::scalar::Complex;

/// Elements of a tile and the wider numbers in which they are accumulated.
pub(in crate::kernels) trait Widened<T>: Copy {
    fn wide(self) -> T;
    fn narrow(wide: T) -> Self;
}
macro_rules! widened {
    ($($e:ty: $t:ty, |$x:ident| $wide:expr, $narrow:expr;)*) => { $(
        impl Widened<$t> for $e {
            #[inline(always)]
            fn wide(self) -> $t { let $x = self; $wide }
            #[inline(always)]
            fn narrow($x: $t) -> $e { $narrow }
        }
    )* };
}
widened! {
    i64: i64, |x| x, x;
    u64: u64, |x| x, x;
    f64: f64, |x| x, x;
    f32: f32, |x| x, x;
    f32: f64, |x| x as f64, x as f32;
    Complex<f64>: Complex<f64>, |x| x, x;
    Complex<f32>: Complex<f64>, |x| Complex::new(x.re as f64, x.im as f64), Complex::new(x.re as f32, x.im as f32);
}

/// Applies a function of the op table to every lane.
#[inline(always)]
pub(in crate::kernels) fn map_lanes<F: Function1<T>, T: Copy, const L: usize, const FAST: bool>(
    mut x: [T; L],
) -> [T; L] {
    if FAST {
        return F::block(x);
    }
    for v in &mut x {
        *v = F::exact(*v);
    }
    x
}

//! Trigonometric and hyperbolic functions, and angles. Rows of the op table: [`super`] explains their form.

#[doc(hidden)]
#[macro_export]
macro_rules! trigonometric_rows {
    ($($before:tt)*) => { $crate::op_table! { @next $($before)*

    /// Sine of each element, in radians.
    ///
    /// >>> strided.sin(strided.tensor([0.0, 1.0])).tolist()
    /// [0.0, 0.8414709568023682]
    sin(a) field => same [Sin];

    /// Cosine of each element, in radians.
    ///
    /// >>> strided.cos(strided.tensor([0.0, 1.0])).tolist()
    /// [1.0, 0.5403022766113281]
    cos(a) field => same [Cos];

    /// Tangent of each element, in radians.
    ///
    /// >>> strided.tan(strided.tensor([0.0, 1.0])).tolist()
    /// [0.0, 1.5574077367782593]
    tan(a) field => same [Tan];

    /// Inverse sine, in radians.
    ///
    /// >>> strided.asin(strided.tensor([0.0, 2.0])).tolist()
    /// [0.0, nan]
    asin | arcsin(a) field => same [Asin];

    /// Inverse cosine, in radians.
    ///
    /// >>> strided.acos(strided.tensor([1.0, 2.0])).tolist()
    /// [0.0, nan]
    acos | arccos(a) field => same [Acos];

    /// Inverse tangent, in radians.
    ///
    /// >>> strided.atan(strided.tensor([0.0, 1.0])).tolist()
    /// [0.0, 0.7853981852531433]
    atan | arctan(a) field => same [Atan];

    /// Angle of the point (x, y) = (`other`, `input`), in radians from -pi to pi.
    ///
    /// >>> strided.atan2(strided.tensor([0.0, 1.0]), strided.tensor([1.0, 0.0])).tolist()
    /// [0.0, 1.5707963705062866]
    atan2 | arctan2(a, b) float => same [Atan2];

    /// Hyperbolic sine.
    ///
    /// >>> strided.sinh(strided.tensor([0.0, 1.0])).tolist()
    /// [0.0, 1.175201177597046]
    sinh(a) field => same [Sinh];

    /// Hyperbolic cosine.
    ///
    /// >>> strided.cosh(strided.tensor([0.0, 1.0])).tolist()
    /// [1.0, 1.5430806875228882]
    cosh(a) field => same [Cosh];

    /// Hyperbolic tangent.
    ///
    /// >>> strided.tanh(strided.tensor([0.0, 1.0])).tolist()
    /// [0.0, 0.7615941762924194]
    tanh(a) field => same [Tanh];

    /// Inverse hyperbolic sine.
    ///
    /// >>> strided.asinh(strided.tensor([0.0, 1.0])).tolist()
    /// [0.0, 0.8813735842704773]
    asinh | arcsinh(a) field => same [Asinh];

    /// Inverse hyperbolic cosine.
    ///
    /// >>> strided.acosh(strided.tensor([1.0, 0.0])).tolist()
    /// [0.0, nan]
    acosh | arccosh(a) field => same [Acosh];

    /// Inverse hyperbolic tangent.
    ///
    /// >>> strided.atanh(strided.tensor([0.0, 1.0])).tolist()
    /// [0.0, inf]
    atanh | arctanh(a) field => same [Atanh];

    /// Length of the hypotenuse: `sqrt(input**2 + other**2)`, without intermediate overflow.
    ///
    /// >>> strided.hypot(strided.tensor([3.0, 5.0]), strided.tensor([4.0, 12.0])).tolist()
    /// [5.0, 13.0]
    hypot(a, b) float => same [Hypot];

    /// `sin(pi * x) / (pi * x)`, and 1 at 0.
    ///
    /// >>> strided.sinc(strided.tensor([0.0, 0.5])).tolist()
    /// [1.0, 0.6366197466850281]
    sinc(a) field => same [Sinc];

    /// Converts degrees to radians.
    ///
    /// >>> strided.deg2rad(strided.tensor([0.0, 180.0])).tolist()
    /// [0.0, 3.1415927410125732]
    deg2rad(a) float => same { a.mul(T::of(std::f64::consts::PI / 180.0)) };

    /// Converts radians to degrees.
    ///
    /// >>> strided.rad2deg(strided.tensor([0.0, 1.0])).tolist()
    /// [0.0, 57.295780181884766]
    rad2deg(a) float => same { a.mul(T::of(180.0 / std::f64::consts::PI)) };

    /// Angle of each element in the complex plane, in radians: 0 or pi for real numbers.
    ///
    /// >>> strided.angle(strided.tensor([1.0, -2.0])).tolist()
    /// [0.0, 3.1415927410125732]
    angle(a) field => part [Angle];

    } };
}

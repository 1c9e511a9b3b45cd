//! Methods and properties of dtype and device.

use crate::abi::refs::give;
use crate::classes::dtype::{Device, object};
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use strided_core::DType;

methods! { rows(py, x: DType):
    /// The dtype of the real part: itself, unless it is complex.
    ///
    /// >>> strided.complex128.to_real()
    /// strided.float64
    method to_real() -> "dtype" => give(py, object(py, x.real()));
}

properties! { properties(py, x: DType):
    /// Its name: `'float32'`.
    ///
    /// >>> strided.float32.name
    /// 'float32'
    name -> "str" => give(py, x.name());

    /// Bytes per element.
    ///
    /// >>> strided.complex64.itemsize
    /// 8
    itemsize -> "int" => give(py, x.size());

    /// Whether it is one of the floating types.
    ///
    /// >>> strided.bfloat16.is_floating_point, strided.int64.is_floating_point
    /// (True, False)
    is_floating_point -> "bool" => give(py, x.is_float());

    /// Whether its elements are complex numbers.
    ///
    /// >>> strided.complex64.is_complex
    /// True
    is_complex -> "bool" => give(py, x.is_complex());

    /// Whether it has negative numbers.
    ///
    /// >>> strided.int8.is_signed, strided.uint8.is_signed
    /// (True, False)
    is_signed -> "bool" => give(py, x.is_signed());

    /// The NumPy dtype of the same elements: NumPy asks for it in `numpy.dtype(strided.int16)`.
    ///
    /// >>> import numpy
    /// >>> numpy.zeros(2, dtype=strided.int16).dtype
    /// dtype('int16')
    dtype -> "Any" => {
        if x == DType::BF16 {
            return Err(PyAttributeError::new_err("NumPy has no dtype for bfloat16").into());
        }
        give(py, py.import("numpy")?.getattr("dtype")?.call1((x.name(),))?)
    };
}

properties! { device_properties(py, _device: Device):
    /// `'cpu'`.
    ///
    /// >>> strided.device('cpu').type
    /// 'cpu'
    r#type -> "str" => give(py, "cpu");

    /// The number of the device among those of its type; None for the CPU.
    ///
    /// >>> strided.device('cpu').index is None
    /// True
    index -> "int | None" => give(py, None::<usize>);
}

//! Methods and properties of dtype and device.

use crate::abi::late;
use crate::abi::refs::to_py;
use crate::classes::dtype::{PyDevice, object};
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use strided_core::{DType, Device};

methods! { rows(py, x: DType):
    /// The dtype of the real part: itself, unless it is complex.
    ///
    /// >>> strided.complex128.to_real()
    /// strided.float64
    method to_real() -> "dtype" => to_py(py, object(py, x.real()));
}

properties! { properties(py, x: DType):
    /// The name, such as `'float32'`.
    ///
    /// >>> strided.float32.name
    /// 'float32'
    name -> "str" => to_py(py, x.name());

    /// Bytes per element.
    ///
    /// >>> strided.complex64.itemsize
    /// 8
    itemsize -> "int" => to_py(py, x.size());

    /// Whether it is a floating-point type.
    ///
    /// >>> strided.bfloat16.is_floating_point, strided.int64.is_floating_point
    /// (True, False)
    is_floating_point -> "bool" => to_py(py, x.is_float());

    /// Whether its elements are complex numbers.
    ///
    /// >>> strided.complex64.is_complex
    /// True
    is_complex -> "bool" => to_py(py, x.is_complex());

    /// Whether it can hold negative numbers.
    ///
    /// >>> strided.int8.is_signed, strided.uint8.is_signed
    /// (True, False)
    is_signed -> "bool" => to_py(py, x.is_signed());

    /// The NumPy dtype of the same elements, which `numpy.dtype(strided.int16)` looks up.
    ///
    /// >>> import numpy
    /// >>> numpy.zeros(2, dtype=strided.int16).dtype
    /// dtype('int16')
    dtype -> "Any" => {
        if x == DType::BF16 {
            return Err(PyAttributeError::new_err("NumPy has no dtype for bfloat16").into());
        }
        to_py(py, late::import(py, "numpy")?.getattr("dtype")?.call1((x.name(),))?)
    };
}

properties! { device_properties(py, device: PyDevice):
    /// The type of the device: `'cpu'`, or `'gpu'`, which equals `'cuda'` as well.
    ///
    /// >>> strided.device('cpu').type, strided.device('gpu:1').type == 'cuda'
    /// ('cpu', True)
    r#type -> "str" => match device.0 {
        Device::Gpu(_) => Ok(late::import(py, "strided._devices")?.getattr("GPU")?),
        device => to_py(py, device.kind()),
    };

    /// The number of the device among those of its type; None for the CPU.
    ///
    /// >>> strided.device('cpu').index is None, strided.device('gpu:1').index
    /// (True, 1)
    index -> "int | None" => to_py(py, device.index());
}

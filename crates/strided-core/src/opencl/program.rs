//! Programs of a device, each compiled when it is first needed.

use super::source;
use crate::dtype::DType;
use crate::error::{Error, Problem, Result};
use crate::op_table::ReduceOp;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};
use strided_opencl::{Device, Kernel, Program};

/// What a program computes. Strides, ranks and extents are arguments of its kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// An elementwise operation. An input is a tensor of a dtype, or a scalar.
    Map {
        op: u16,
        with_keywords: bool,
        compute: DType,
        inputs: [Option<DType>; 4],
        out: DType,
    },
    Copy {
        from: DType,
        to: DType,
    },
    /// A reduction, after some steps from elements to terms.
    Reduce {
        fold: Fold,
        steps: [Option<StepKey>; 3],
        from: DType,
        outs: [Option<DType>; 2],
    },
    Softmax {
        logarithm: bool,
        compute: DType,
        from: DType,
        out: DType,
    },
    /// Gather and scatter of elements of so many bytes.
    Index {
        size: usize,
    },
    /// A scatter that combines elements.
    Combine {
        dtype: DType,
    },
    /// Triangles and identity matrices of elements of so many bytes.
    Triangle {
        size: usize,
    },
    /// Numbers that follow from their position.
    Generate,
    Random,
    /// Products of matrices. Signed integers are computed as unsigned ones.
    Product {
        dtype: DType,
    },
}

/// What terms are folded into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fold {
    Op(ReduceOp),
    /// The largest term, and the sum of the exponentials of the differences from it: what softmax needs of a line.
    Exponentials,
}

/// A step from elements to terms. The number of a power is an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepKey {
    Cast(DType),
    NanToZero,
    Abs,
    Pow,
    IsNonzero,
}

/// The kernels of a program.
pub type Kernels = Arc<[Kernel]>;

/// The kernels of a program on a device, in the order of `names`. `text` makes its source.
pub fn kernels(
    device: &'static Device,
    key: Key,
    names: &[&str],
    text: impl FnOnce() -> Result<String>,
) -> Result<Kernels> {
    type Cache = RwLock<HashMap<(usize, Key), Kernels>>;
    static CACHE: LazyLock<Cache> = LazyLock::new(Cache::default);
    if let Some(kernels) = CACHE.read().unwrap_or_else(PoisonError::into_inner).get(&(device.index, key)) {
        return Ok(kernels.clone());
    }
    // Not under the lock: compiling takes long. Two threads may compile the same program; one of them is dropped.
    let program = Program::new(device, &text()?)?;
    let kernels =
        names.iter().map(|name| program.kernel(name)).collect::<strided_opencl::Result<Vec<_>>>()?;
    let mut cache = CACHE.write().unwrap_or_else(PoisonError::into_inner);
    Ok(cache.entry((device.index, key)).or_insert(kernels.into()).clone())
}

/// The beginning of a program that handles these dtypes and computes in one of them. Refuses double where the device has none.
pub fn preamble(device: &Device, compute: DType, dtypes: impl IntoIterator<Item = DType>) -> Result<String> {
    Ok(bare_preamble(device, dtypes.into_iter().chain([compute]))? + &source::functions(compute))
}

/// [`preamble`] without functions of numbers.
pub fn bare_preamble(device: &Device, dtypes: impl IntoIterator<Item = DType>) -> Result<String> {
    let double = device.properties.double;
    if !double && let Some(dtype) = dtypes.into_iter().find(|&d| source::needs_double(d)) {
        return Err(without_double(device, dtype));
    }
    Ok(source::header(double))
}

/// The error for a dtype that needs double on a device that has none.
#[cold]
pub fn without_double(device: &Device, dtype: DType) -> Error {
    not_available_on(device, format!("for {}, which the device cannot compute in", dtype.name()))
}

/// The error for an operation that a device does not have. `what` says for which dtype or form.
#[cold]
pub fn not_available_on(device: &Device, what: impl Into<String>) -> Error {
    Error::new(Problem::NotOnGpu { what: what.into(), device: device.name() })
}

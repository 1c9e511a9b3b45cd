//! Index tensors and masks: entries of `x[key]` beyond ints and slices, and arguments of `gather`, `masked_fill` and the
//! like.

use super::args::FromArg;
use super::arrays::is_array;
use super::index::{BasicKey, is_basic, no_index, read_index};
use super::transfer::on_device;
use super::values::Values;
use crate::abi::Arg;
use crate::abi::detach::wait_for;
use crate::abi::errors::{CallResult, Fail};
use crate::abi::tensor_object::cloned_tensor;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyList, PyString, PyTuple};
use strided_core::backend::index::ScatterRule;
use strided_core::layout::Index;
use strided_core::ops::copy;
use strided_core::ops::index::along::PlaceReduction;
use strided_core::ops::index::keys::Key;
use strided_core::ops::index::masks::as_mask;
use strided_core::storage::Fill;
use strided_core::{DType, Device, Scalar, Tensor};

/// A parsed key with tensors, masks or sequences.
pub enum ReadKeys {
    /// All tensors in it are single ints: the result is a view.
    View(BasicKey),
    Advanced(Vec<Key>),
}

/// Reads a key with index tensors or masks.
#[inline(never)]
pub fn read_keys(key: Arg<'_>) -> CallResult<ReadKeys> {
    let keys = match key.cast::<PyTuple>() {
        Ok(tuple) => tuple.iter_borrowed().map(read_key).collect::<CallResult<Vec<Key>>>()?,
        Err(_) => vec![read_key(key)?],
    };
    let basic = |key: &Key| if let Key::Basic(index) = key { Some(*index) } else { None };
    Ok(match keys.iter().map(basic).collect::<Option<BasicKey>>() {
        Some(basic) => ReadKeys::View(basic),
        None => ReadKeys::Advanced(keys),
    })
}

/// The keys for a tensor: those on the host, such as lists of indices, are moved to its device.
pub fn beside(py: Python<'_>, x: &Tensor, keys: Vec<Key>) -> CallResult<Vec<Key>> {
    let device = x.device();
    if device == Device::Cpu {
        return Ok(keys);
    }
    let moved = |key| {
        Ok(match key {
            Key::Indices(tensor) => Key::Indices(on_device(py, &tensor, device)?),
            Key::Mask(tensor) => Key::Mask(on_device(py, &tensor, device)?),
            other => other,
        })
    };
    keys.into_iter().map(moved).collect()
}

fn read_key(entry: Arg<'_>) -> CallResult<Key> {
    if is_basic(entry) {
        return Ok(Key::Basic(read_index(entry)?));
    }
    if let Ok(flag) = entry.cast::<PyBool>() {
        return Ok(Key::Flag(flag.is_true()));
    }
    if let Some(tensor) = cloned_tensor(entry) {
        return tensor_key(entry.py(), tensor, true);
    }
    match read_values(entry)? {
        Some(values) => tensor_key(entry.py(), values, false),
        None => Err(no_index(entry)),
    }
}

/// The entry that a tensor or an array is. uint8 tensors are masks, as in Torch; uint8 arrays are indices, as in NumPy.
fn tensor_key(py: Python<'_>, tensor: Tensor, bytes_are_masks: bool) -> CallResult<Key> {
    let dtype = tensor.dtype();
    let is_mask = dtype == DType::Bool || dtype == DType::U8 && bytes_are_masks;
    if !is_mask && !dtype.is_int() {
        return Err(Fail::Index(format!(
            "an index tensor must have an integer dtype, or bool for a mask, got {}",
            dtype.name()
        )));
    }
    if tensor.layout().rank() > 0 {
        return Ok(if is_mask { Key::Mask(as_mask(&tensor)?) } else { Key::Indices(tensor) });
    }
    Ok(match wait_for(py, &tensor, copy::single_item)? {
        Scalar::Bool(flag) => Key::Flag(flag),
        Scalar::Int(value) if is_mask => Key::Flag(value != 0),
        Scalar::Int(value) => {
            let at = isize::try_from(value)
                .map_err(|_| Fail::Index(format!("index {value} is beyond 64 bits")))?;
            Key::Basic(Index::At(at))
        }
        _ => unreachable!("the dtype is bool or an integer one"),
    })
}

/// The values of an array or of nested sequences. Sequences without numbers are indices, and not floats.
fn index_values(object: Arg<'_>) -> CallResult<Tensor> {
    let Values { tensor, is_new } = Values::of(object, None)?;
    if is_new && tensor.size() == 0 && tensor.dtype().is_float() {
        return Ok(Tensor::new_on(tensor.device(), &tensor.layout().shape(), DType::I64, Fill::Zero)?);
    }
    Ok(tensor)
}

/// A tensor, an array or nested sequences as an argument.
fn read_values(object: Arg<'_>) -> CallResult<Option<Tensor>> {
    if let Some(tensor) = cloned_tensor(object) {
        return Ok(Some(tensor));
    }
    if object.is_instance_of::<PyString>() || object.is_instance_of::<PyBytes>() {
        return Ok(None);
    }
    // SAFETY: an `Arg` is a live object.
    let is_sequence = unsafe { ffi::PySequence_Check(object.as_ptr()) } != 0;
    if is_sequence || is_array(object)? { index_values(object).map(Some) } else { Ok(None) }
}

/// An index: a tensor, an array or nested sequences of ints.
pub struct IndexArg(pub Tensor);

impl<'a> FromArg<'a> for IndexArg {
    const WANTED: &'static str = "an integer Tensor";
    const STUB: &'static str = "_Data";
    fn read(object: Arg<'a>) -> CallResult<Option<IndexArg>> {
        Ok(read_values(object)?.map(IndexArg))
    }
}

/// A mask: a tensor, an array or nested sequences of bools, or one bool.
pub struct MaskArg(pub Tensor);

impl<'a> FromArg<'a> for MaskArg {
    const WANTED: &'static str = "a bool Tensor";
    const STUB: &'static str = "_Data";
    fn read(object: Arg<'a>) -> CallResult<Option<MaskArg>> {
        if object.is_instance_of::<PyBool>() {
            return Ok(Some(MaskArg(Values::of(object, None)?.tensor)));
        }
        Ok(read_values(object)?.map(MaskArg))
    }
}

/// `indices` of `index_put`: a tuple or list of index tensors, masks and `None`, one for each dim from the first on.
pub struct KeysArg(pub Vec<Key>);

impl<'a> FromArg<'a> for KeysArg {
    const WANTED: &'static str = "a tuple of index Tensors";
    const STUB: &'static str = "Sequence[_Data | None]";
    fn read(object: Arg<'a>) -> CallResult<Option<KeysArg>> {
        let is_sequence = object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>();
        if !is_sequence {
            return Ok(None);
        }
        let py = object.py();
        let mut keys = Vec::new();
        // SAFETY: a list or tuple; each item is a new reference, and a list that changes meanwhile ends early.
        unsafe {
            for at in 0..ffi::PySequence_Size(object.as_ptr()) {
                let item = Bound::from_owned_ptr_or_err(py, ffi::PySequence_GetItem(object.as_ptr(), at))?;
                keys.push(if item.is_none() {
                    Key::Basic(Index::ALL)
                } else {
                    read_key(item.as_borrowed())?
                });
            }
        }
        Ok(Some(KeysArg(keys)))
    }
}

/// Arguments that are one of several names.
macro_rules! names {
    ($($type:ident, $wanted:literal, $stub:literal: $($name:literal $value:expr),+;)*) => { $(
        impl<'a> FromArg<'a> for $type {
            const WANTED: &'static str = $wanted;
            const STUB: &'static str = $stub;
            fn read(object: Arg<'a>) -> CallResult<Option<$type>> {
                let Ok(name) = object.cast::<PyString>() else { return Ok(None) };
                match name.to_str()? {
                    $($name => Ok(Some($type($value))),)+
                    other => Err(Fail::Value(format!("reduce is '{other}', wanted {}", Self::WANTED))),
                }
            }
        }
    )* };
}

/// `reduce=` of `index_reduce`.
pub struct SliceReduction(pub PlaceReduction);

/// `reduce=` of `scatter_reduce`.
pub struct ElementReduction(pub PlaceReduction);

/// `reduce=` of `scatter`: how values are combined with the elements.
pub struct ScatterReduce(pub ScatterRule);

names! {
    SliceReduction, "'prod', 'mean', 'amax' or 'amin'", "Literal['prod', 'mean', 'amax', 'amin']":
        "prod" PlaceReduction::Prod, "mean" PlaceReduction::Mean, "amax" PlaceReduction::Amax, "amin" PlaceReduction::Amin;
    ElementReduction, "'sum', 'prod', 'mean', 'amax' or 'amin'", "Literal['sum', 'prod', 'mean', 'amax', 'amin']":
        "sum" PlaceReduction::Sum, "prod" PlaceReduction::Prod, "mean" PlaceReduction::Mean,
        "amax" PlaceReduction::Amax, "amin" PlaceReduction::Amin;
    ScatterReduce, "'add' or 'multiply'", "Literal['add', 'multiply']":
        "add" ScatterRule::Add, "multiply" ScatterRule::Multiply;
}

/// A number, or a tensor of one element: the value of `index_fill`.
pub struct NumberArg(pub Scalar);

impl<'a> FromArg<'a> for NumberArg {
    const WANTED: &'static str = "a number";
    const STUB: &'static str = "_Number | Tensor";
    fn read(object: Arg<'a>) -> CallResult<Option<NumberArg>> {
        let Some(tensor) = cloned_tensor(object) else { return Ok(Scalar::read(object)?.map(NumberArg)) };
        match tensor.size() {
            1 => Ok(Some(NumberArg(wait_for(object.py(), &tensor, copy::single_item)?))),
            _ => {
                let shape = tensor.layout().shape_text();
                Err(Fail::Value(format!("value is a tensor of shape {shape}, wanted one element")))
            }
        }
    }
}

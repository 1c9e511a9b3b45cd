//! Reading arguments: from what Python passes to typed values, with errors that name the argument.

use super::buffer;
use crate::abi::Object;
use crate::abi::bind::{Args, Param};
use crate::abi::errors::{Fail, Result, type_name};
use crate::abi::refs::bound;
use crate::abi::storage_object::{self, Run};
use crate::abi::tensor_object::{is_tensor, tensor_of};
use crate::abi::thunks::Class;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ops::Deref;
use strided_core::layout::Dims;
use strided_core::ops::copy::single_item;
use strided_core::scalar::Complex;
use strided_core::{DType, Scalar, Tensor};

/// A type that arguments can be read as.
pub trait FromArg: Sized {
    /// What it is called in messages: "an int".
    const WANTED: &'static str;

    /// What it is called in the stubs: `SupportsIndex`.
    const STUB: &'static str;

    /// Whether `None` is one of its values.
    const OPTIONAL: bool = false;

    /// For a type that takes all remaining positional arguments: what each of them is called in the stubs.
    const REST: Option<&'static str> = None;

    /// Reads an object; `None` if it is of the wrong type (an exception that is set is passed on).
    fn read(py: Python<'_>, object: Object) -> Result<Option<Self>>;

    /// Reads the argument of a parameter.
    #[inline(always)]
    fn from_args(py: Python<'_>, args: &Args, at: usize, name: &'static str) -> Result<Self> {
        Self::from_arg(py, args.slots[at], name)
    }

    /// Reads an object under the name of a parameter.
    #[inline(always)]
    fn from_arg(py: Python<'_>, object: Object, name: &'static str) -> Result<Self> {
        if object.is_null() {
            return Err(Fail::Type(format!("argument '{name}' is missing")));
        }
        match Self::read(py, object) {
            Ok(Some(value)) => Ok(value),
            Ok(None) => Err(wrong_type(py, object, name, Self::WANTED)),
            Err(Fail::Beyond) => Err(Fail::Overflow(format!("{name} is an int beyond 64 bits"))),
            Err(fail) => Err(fail),
        }
    }
}

/// A parameter that is read as a `T`, by position or by keyword.
pub const fn param<T: FromArg>(
    name: &'static str,
    aliases: &'static [&'static str],
    default: Option<&'static str>,
) -> Param {
    Param::new(name, aliases, T::STUB).optional(T::OPTIONAL).with_rest(T::REST).with_default(default)
}

/// A parameter that is read as a `T` and only given by keyword.
pub const fn keyword<T: FromArg>(
    name: &'static str,
    aliases: &'static [&'static str],
    default: &'static str,
) -> Param {
    param::<T>(name, aliases, None).keyword_only(default)
}

/// What methods and properties of a class are called on.
pub trait Receiver: FromArg {
    const CLASS: Class;

    /// Reads the receiver of a property.
    ///
    /// # Safety
    /// `this` is an instance of the class.
    #[inline(always)]
    unsafe fn of_property(py: Python<'_>, this: Object) -> Result<Self> {
        Self::from_arg(py, this, "self")
    }
}

#[cold]
pub fn wrong_type(py: Python<'_>, object: Object, name: &str, wanted: &str) -> Fail {
    Fail::Type(format!("{name} must be {wanted}, got {}", type_name(py, object)))
}

impl FromArg for isize {
    const WANTED: &'static str = "an int";
    const STUB: &'static str = "SupportsIndex";
    #[inline(always)]
    fn read(py: Python<'_>, object: Object) -> Result<Option<isize>> {
        // SAFETY: a living object; the check precedes the conversion.
        unsafe {
            if ffi::PyLong_Check(object) == 0 {
                return read_index(py, object);
            }
            let value = ffi::PyLong_AsSsize_t(object);
            if value == -1 && !ffi::PyErr_Occurred().is_null() {
                ffi::PyErr_Clear();
                return Err(Fail::Beyond);
            }
            Ok(Some(value))
        }
    }
}

/// An int from anything with `__index__`, such as a NumPy integer or a tensor of one integer.
#[cold]
fn read_index(py: Python<'_>, object: Object) -> Result<Option<isize>> {
    // SAFETY: a living object.
    unsafe {
        if ffi::PyIndex_Check(object) == 0 {
            return Ok(None);
        }
        let number = ffi::PyNumber_Index(object);
        if number.is_null() {
            // What only looks like an int is of the wrong type; any other exception is the object's own.
            if ffi::PyErr_ExceptionMatches(ffi::PyExc_TypeError) != 0 {
                ffi::PyErr_Clear();
                return Ok(None);
            }
            return Err(Fail::set(py));
        }
        let value = isize::read(py, number);
        ffi::Py_DECREF(number);
        value
    }
}

impl FromArg for f64 {
    const WANTED: &'static str = "a real number";
    const STUB: &'static str = "SupportsFloat";
    fn read(py: Python<'_>, object: Object) -> Result<Option<f64>> {
        Ok(match Scalar::read(py, object)? {
            Some(Scalar::Bool(value)) => Some(value as u8 as f64),
            Some(Scalar::Int(value)) => Some(value as f64),
            Some(Scalar::Huge(value) | Scalar::Float(value)) => Some(value),
            Some(Scalar::Complex(_)) | None => None,
        })
    }
}

impl FromArg for bool {
    const WANTED: &'static str = "a bool";
    const STUB: &'static str = "bool";
    fn read(py: Python<'_>, object: Object) -> Result<Option<bool>> {
        // SAFETY: the caller passes a living object; `True` lives as long as the interpreter.
        match unsafe { (ffi::PyBool_Check(object), ffi::Py_True()) } {
            (0, _) => foreign_bool(py, object),
            (_, is_true) => Ok(Some(object == is_true)),
        }
    }

    #[inline(always)]
    fn from_arg(py: Python<'_>, object: Object, name: &'static str) -> Result<bool> {
        if object.is_null() {
            return Err(Fail::Type(format!("argument '{name}' is missing")));
        }
        Self::read(py, object)?.ok_or_else(|| {
            // `x.sum(0, 1)` is meant as two dims, and passes the second one as `keepdim`.
            let wanted =
                if name == "keepdim" { "a bool (several dims are dim=(0, 1))" } else { Self::WANTED };
            wrong_type(py, object, name, wanted)
        })
    }
}

/// A bool of another library: a NumPy bool, or a bool tensor of one element. Numbers are not bools.
#[cold]
fn foreign_bool(py: Python<'_>, object: Object) -> Result<Option<bool>> {
    let single = |x: &Tensor| match x.dtype() == DType::Bool && x.size() == 1 {
        true => Ok(Some(single_item(x)? == Scalar::Bool(true))),
        false => Ok(None),
    };
    if let Some(x) = TensorArg::read(py, object)? {
        return single(&x);
    }
    if !buffer::has_buffer(object) {
        return Ok(None);
    }
    single(&buffer::import_or_copy(py, object)?)
}

impl<T: FromArg> FromArg for Option<T> {
    const WANTED: &'static str = T::WANTED;
    const STUB: &'static str = T::STUB;
    const OPTIONAL: bool = true;
    #[inline(always)]
    fn read(py: Python<'_>, object: Object) -> Result<Option<Option<T>>> {
        // SAFETY: `None` is immortal or at least alive.
        if object == unsafe { ffi::Py_None() } { Ok(Some(None)) } else { Ok(T::read(py, object)?.map(Some)) }
    }
}

/// Types of objects that a body looks at itself: the name, and what it takes in the stubs.
macro_rules! objects {
    ($($(#[$doc:meta])+ $name:ident $stub:literal;)*) => { $(
        $(#[$doc])+
        #[derive(Clone, Copy)]
        pub struct $name(pub Object);
        impl FromArg for $name {
            const WANTED: &'static str = "an object";
            const STUB: &'static str = $stub;
            #[inline(always)]
            fn read(_: Python<'_>, object: Object) -> Result<Option<$name>> {
                Ok(Some($name(object)))
            }
        }
    )* };
}
objects! {
    /// An object of any type, only asked what it is.
    AnyArg "object";
    /// An object that is passed on to Python code.
    Untyped "Any";
    /// Values: of a tensor, a storage, an array, nested sequences or a number.
    DataArg "_Data";
    /// An operand of an elementwise operation.
    OperandArg "_Operand";
    /// The condition of `where`.
    ConditionArg "Tensor | Buffer | _Array | bool";
    /// Something that has a dtype, or a number.
    TypedArg "Tensor | _Number";
    /// A tensor or a storage.
    MemoryArg "Tensor | Storage";
    /// A storage in shared memory.
    SharedArg "Storage";
    /// Device and number of a file or of shared memory.
    IdentityArg "tuple[int, int]";
    /// A buffer of bytes.
    BufferArg "Buffer";
    /// An array of another library.
    ArrayArg "Buffer | _Array";
    /// A tensor of another library, or a DLPack capsule.
    DLPackArg "_Lender | CapsuleType";
    /// What `open` takes as a file's name.
    PathArg "_Path";
    /// What `to` converts to.
    TargetArg "_DTypeLike | _DeviceLike | Tensor";
    /// A dim, or another tensor, of `max` and `min`.
    DimOrTensor "SupportsIndex | Tensor";
    /// Dims, or the flag `unbiased` in their place.
    DimsOrFlag "_Ints | bool";
    /// One output, or two.
    OutArg "Tensor | tuple[Tensor, Tensor]";
}

/// A tensor argument. The tensor is looked up at each use, so that nothing stale is kept while other
/// arguments are read (which may run Python code).
#[derive(Clone, Copy)]
pub struct TensorArg(pub Object);
impl FromArg for TensorArg {
    const WANTED: &'static str = "a Tensor";
    const STUB: &'static str = "Tensor";
    #[inline(always)]
    fn read(_: Python<'_>, object: Object) -> Result<Option<TensorArg>> {
        Ok(is_tensor(object).then_some(TensorArg(object)))
    }
}
impl Receiver for TensorArg {
    const CLASS: Class = Class::Tensor;
    #[inline(always)]
    unsafe fn of_property(_: Python<'_>, this: Object) -> Result<TensorArg> {
        Ok(TensorArg(this))
    }
}
impl Deref for TensorArg {
    type Target = Tensor;
    #[inline(always)]
    fn deref(&self) -> &Tensor {
        // SAFETY: `read` saw that it is a tensor, and the caller of the method keeps it alive.
        unsafe { tensor_of(self.0) }
    }
}

/// A storage argument, with its object.
pub struct StorageArg {
    pub object: Object,
    pub storage: Run,
}
impl FromArg for StorageArg {
    const WANTED: &'static str = "a Storage";
    const STUB: &'static str = "Storage";
    fn read(py: Python<'_>, object: Object) -> Result<Option<StorageArg>> {
        Ok(storage_object::read(py, object).map(|storage| StorageArg { object, storage }))
    }
}
impl Receiver for StorageArg {
    const CLASS: Class = Class::Storage;
}
impl Deref for StorageArg {
    type Target = Run;
    fn deref(&self) -> &Run {
        &self.storage
    }
}

/// `out=` of a function with two results.
#[derive(Clone, Copy)]
pub struct Pair(pub TensorArg, pub TensorArg);
impl FromArg for Pair {
    const WANTED: &'static str = "a tuple of two Tensors";
    const STUB: &'static str = "tuple[Tensor, Tensor]";
    fn read(py: Python<'_>, object: Object) -> Result<Option<Pair>> {
        let items = bound(py, object);
        let Ok(tuple) = items.cast::<pyo3::types::PyTuple>() else { return Ok(None) };
        if tuple.len() != 2 {
            return Ok(None);
        }
        // The tuple, which the caller holds, keeps them alive.
        let (first, second) = (tuple.get_item(0)?.as_ptr(), tuple.get_item(1)?.as_ptr());
        let both = is_tensor(first) && is_tensor(second);
        Ok(both.then_some(Pair(TensorArg(first), TensorArg(second))))
    }
}

/// `requires_grad=`: False only, since nothing here is differentiated.
pub struct NoGrad;
impl FromArg for NoGrad {
    const WANTED: &'static str = "False";
    const STUB: &'static str = "Literal[False]";
    fn read(py: Python<'_>, object: Object) -> Result<Option<NoGrad>> {
        match bool::read(py, object)? {
            Some(true) => {
                Err(Fail::Value("requires_grad=True is not possible: strided has no autograd".into()))
            }
            _ => Ok(Some(NoGrad)),
        }
    }
}

impl FromArg for Scalar {
    const WANTED: &'static str = "a number";
    const STUB: &'static str = "_Number";
    #[inline]
    fn read(py: Python<'_>, object: Object) -> Result<Option<Scalar>> {
        if let Some(scalar) = python_number(py, object)? {
            return Ok(Some(scalar));
        }
        if is_tensor(object) {
            // SAFETY: it is a tensor, used at once.
            return Ok(Some(single_item(unsafe { tensor_of(object) })?));
        }
        other_number(py, object)
    }
}

/// A Python bool, int, float or complex (also of a subclass of int or float without a buffer).
#[inline]
pub fn python_number(py: Python<'_>, object: Object) -> Result<Option<Scalar>> {
    // SAFETY: a living object, checked before each conversion.
    unsafe {
        let class = ffi::Py_TYPE(object);
        if class == &raw mut ffi::PyFloat_Type {
            return Ok(Some(Scalar::Float(ffi::PyFloat_AsDouble(object))));
        }
        if class == &raw mut ffi::PyLong_Type {
            return int_scalar(py, object).map(Some);
        }
        if class == &raw mut ffi::PyBool_Type {
            return Ok(Some(Scalar::Bool(object == ffi::Py_True())));
        }
        if class == &raw mut ffi::PyComplex_Type {
            let (re, im) = (ffi::PyComplex_RealAsDouble(object), ffi::PyComplex_ImagAsDouble(object));
            return Ok(Some(Scalar::Complex(Complex::new(re, im))));
        }
        if ffi::PyLong_Check(object) != 0 {
            return int_scalar(py, object).map(Some);
        }
        // NumPy's float64 is a float too, but one that counts with its dtype.
        if ffi::PyFloat_Check(object) != 0 && !buffer::has_buffer(object) {
            return Ok(Some(Scalar::Float(ffi::PyFloat_AsDouble(object))));
        }
    }
    Ok(None)
}

/// Numbers of other libraries: whatever offers a buffer of one element, or converts itself.
#[cold]
fn other_number(py: Python<'_>, object: Object) -> Result<Option<Scalar>> {
    if buffer::has_buffer(object) {
        let tensor = buffer::import_or_copy(py, object)?;
        // Bytes of length 1 are no number, an array without dimension is.
        return if tensor.layout().rank() == 0 { Ok(Some(single_item(&tensor)?)) } else { Ok(None) };
    }
    // SAFETY: a living object.
    let object = unsafe { Borrowed::from_ptr(py, object) };
    if object.get_type().hasattr("__float__")? {
        return Ok(Some(Scalar::Float(object.extract()?)));
    }
    Ok(None)
}

/// A Python int, of any size.
unsafe fn int_scalar(py: Python<'_>, object: Object) -> Result<Scalar> {
    let mut overflow = 0;
    // SAFETY: the caller saw that it is an int.
    unsafe {
        let value = ffi::PyLong_AsLongLongAndOverflow(object, &mut overflow);
        if overflow == 0 {
            return if value == -1 && !ffi::PyErr_Occurred().is_null() {
                Err(Fail::set(py))
            } else {
                Ok(Scalar::Int(value as i128))
            };
        }
        if overflow > 0 {
            let value = ffi::PyLong_AsUnsignedLongLong(object);
            if ffi::PyErr_Occurred().is_null() {
                return Ok(Scalar::Int(value as i128));
            }
            ffi::PyErr_Clear();
        }
        let value = ffi::PyLong_AsDouble(object);
        if ffi::PyErr_Occurred().is_null() {
            return Ok(Scalar::Huge(value));
        }
        ffi::PyErr_Clear();
        Ok(Scalar::Huge(if overflow > 0 { f64::INFINITY } else { f64::NEG_INFINITY }))
    }
}

/// One int or a sequence of them.
pub struct Ints {
    pub ints: Dims,
    /// Whether they came as a sequence.
    pub sequence: bool,
}

impl FromArg for Ints {
    const WANTED: &'static str = "an int or a sequence of ints";
    const STUB: &'static str = "_Ints";
    #[inline]
    fn read(py: Python<'_>, object: Object) -> Result<Option<Ints>> {
        if let Some(value) = isize::read(py, object)? {
            let mut ints = Dims::new();
            ints.push(value);
            return Ok(Some(Ints { ints, sequence: false }));
        }
        Ok(sequence_of_ints(py, object)?.map(|ints| Ints { ints, sequence: true }))
    }
}

/// Sequences of ints beyond this are refused: nobody has so many dims, and memory might end before they do.
const LONGEST: isize = 1 << 24;

/// A list, tuple, storage or any other sequence of ints; `None` if it is none.
pub fn sequence_of_ints(py: Python<'_>, object: Object) -> Result<Option<Dims>> {
    // SAFETY: a living object; items of a tuple or list are borrowed while it is not changed (reading an
    // exact int runs no code), others are owned.
    unsafe {
        if ffi::PySequence_Check(object) == 0
            || ffi::PyUnicode_Check(object) != 0
            || ffi::PyBytes_Check(object) != 0
        {
            return Ok(None);
        }
        let length = ffi::PySequence_Size(object);
        if length < 0 {
            return Err(Fail::set(py));
        }
        if length > LONGEST {
            return Err(Fail::Value(format!(
                "a sequence of {length} ints is longer than any shape or index"
            )));
        }
        let mut ints = Dims::new(); // grows with what is there: a length may lie
        for i in 0..length {
            let Some(item) = Bound::from_owned_ptr_or_opt(py, ffi::PySequence_GetItem(object, i)) else {
                return Err(Fail::set(py));
            };
            match isize::read(py, item.as_ptr())? {
                Some(value) => ints.push(value),
                None => return Ok(None),
            }
        }
        Ok(Some(ints))
    }
}

/// `*sizes`: several ints or one sequence, or the keyword of that name.
pub struct Rest {
    ints: Dims,
    given: bool,
}

impl FromArg for Rest {
    const WANTED: &'static str = Ints::WANTED;
    const STUB: &'static str = Ints::STUB;
    const REST: Option<&'static str> = Some(isize::STUB);
    fn read(py: Python<'_>, object: Object) -> Result<Option<Rest>> {
        Ok(Ints::read(py, object)?.map(|ints| Rest { ints: ints.ints, given: true }))
    }
    #[inline]
    fn from_args(py: Python<'_>, args: &Args, at: usize, name: &'static str) -> Result<Rest> {
        let mut rest = Rest { ints: Dims::new(), given: true };
        match args.rest {
            [] if args.slots[at].is_null() => rest.given = false,
            [] => return Rest::from_arg(py, args.slots[at], name),
            // SAFETY: a living object.
            [one] if unsafe { ffi::PyLong_Check(*one) } == 0 => return Rest::from_arg(py, *one, name),
            many => {
                for &object in many {
                    rest.ints.push(isize::from_arg(py, object, name)?);
                }
            }
        }
        Ok(rest)
    }
}

impl Rest {
    /// The ints; `None` if nothing was given.
    #[inline]
    pub fn ints(&self) -> Option<&[isize]> {
        self.given.then_some(&self.ints[..])
    }

    /// The ints, of which there must be some (or an empty sequence).
    #[inline]
    pub fn given(&self, name: &'static str) -> Result<&[isize]> {
        self.ints().ok_or_else(|| Fail::Type(format!("argument '{name}' is missing")))
    }
}

/// `*args`: whatever was passed.
pub struct Objects {
    start: *const Object,
    count: usize,
}

impl Objects {
    /// The arguments, which live as long as the call.
    #[inline]
    pub fn as_slice(&self) -> &[Object] {
        // SAFETY: made from a slice of the call's arguments, and used only within the call.
        unsafe { std::slice::from_raw_parts(self.start, self.count) }
    }
}

impl FromArg for Objects {
    const WANTED: &'static str = "anything";
    const STUB: &'static str = "";
    const REST: Option<&'static str> = Some("Any");
    fn read(_: Python<'_>, _: Object) -> Result<Option<Objects>> {
        Ok(None) // only given by position
    }
    #[inline]
    fn from_args(_: Python<'_>, args: &Args, _: usize, _: &'static str) -> Result<Objects> {
        Ok(Objects { start: args.rest.as_ptr(), count: args.rest.len() })
    }
}

/// `*index`: ints, or one sequence of them, read later.
pub struct IndexArgs(pub Objects);
impl FromArg for IndexArgs {
    const WANTED: &'static str = "an int";
    const STUB: &'static str = "";
    const REST: Option<&'static str> = Some(Ints::STUB);
    fn read(_: Python<'_>, _: Object) -> Result<Option<IndexArgs>> {
        Ok(None) // only given by position
    }
    #[inline]
    fn from_args(py: Python<'_>, args: &Args, at: usize, name: &'static str) -> Result<IndexArgs> {
        Objects::from_args(py, args, at, name).map(IndexArgs)
    }
}

/// A tuple of two ints, such as a version.
pub struct TwoInts(pub isize, pub isize);
impl FromArg for TwoInts {
    const WANTED: &'static str = "a tuple of two ints";
    const STUB: &'static str = "tuple[int, int]";
    fn read(py: Python<'_>, object: Object) -> Result<Option<TwoInts>> {
        Ok(match sequence_of_ints(py, object)?.as_deref() {
            Some(&[first, second]) => Some(TwoInts(first, second)),
            _ => None,
        })
    }
}

//! Arguments as typed values, with errors that name the argument.

use crate::abi::Arg;
use crate::abi::bind::{Args, Param};
use crate::abi::errors::{CallResult, Fail, type_name};
use crate::abi::refs::{arg, is_none};
use crate::abi::storage_object::{TypedStorage, read_storage};
use crate::abi::tensor_object::{is_tensor, tensor_of};
use pyo3::PyClass;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::True;
use std::ops::Deref;
use strided_core::Tensor;
use strided_core::layout::Dims;

/// A type that arguments are read as.
pub trait FromArg<'a>: Sized {
    /// Its name in messages: "an int".
    const WANTED: &'static str;

    /// Its name in the stubs: `SupportsIndex`.
    const STUB: &'static str;

    /// Whether `None` is one of its values.
    const OPTIONAL: bool = false;

    /// For a type that takes all remaining positional arguments: the name of the type of each of them in the stubs.
    const REST: Option<&'static str> = None;

    /// Reads an object; `None` if it is of another type. An exception that reading raises is an error.
    fn read(object: Arg<'a>) -> CallResult<Option<Self>>;

    /// Reads the argument of the parameter at a position.
    #[inline(always)]
    fn from_args(args: &Args<'a>, at: usize, name: &'static str) -> CallResult<Self> {
        match args.slots[at] {
            Some(object) => Self::from_arg(object, name),
            None => Err(missing(name)),
        }
    }

    /// Reads an object as the argument of a parameter.
    #[inline(always)]
    fn from_arg(object: Arg<'a>, name: &'static str) -> CallResult<Self> {
        match Self::read(object) {
            Ok(Some(value)) => Ok(value),
            Ok(None) => Err(wrong_type(object, name, Self::WANTED)),
            Err(fail) => Err(named_argument(fail, name)),
        }
    }
}

/// The failure to read an argument, with its name.
#[cold]
#[inline(never)]
fn named_argument(fail: Fail, name: &str) -> Fail {
    match fail {
        Fail::IntTooLarge => Fail::Overflow(format!("{name} is an int beyond 64 bits")),
        other => other,
    }
}

#[cold]
#[inline(never)]
pub fn missing(name: &str) -> Fail {
    Fail::Type(format!("argument '{name}' is missing"))
}

#[cold]
#[inline(never)]
pub fn wrong_type(object: Arg<'_>, name: &str, wanted: &str) -> Fail {
    Fail::Type(format!("{name} must be {wanted}, got {}", type_name(object)))
}

/// A parameter that is read as a `T`, by position or by keyword.
pub const fn param<'a, T: FromArg<'a>>(
    name: &'static str,
    aliases: &'static [&'static str],
    default: Option<&'static str>,
) -> Param {
    Param::new(name, aliases, T::STUB).optional(T::OPTIONAL).with_rest(T::REST).with_default(default)
}

/// A keyword-only parameter that is read as a `T`.
pub const fn keyword<'a, T: FromArg<'a>>(
    name: &'static str,
    aliases: &'static [&'static str],
    default: &'static str,
) -> Param {
    param::<T>(name, aliases, None).keyword_only(default)
}

/// The receiver of a class's methods and properties.
pub trait Receiver<'a>: FromArg<'a> {
    /// The name of the class.
    const CLASS: &'static str;

    /// Reads the receiver of a property.
    ///
    /// # Safety
    /// `object` is an instance of the class.
    #[inline(always)]
    unsafe fn of_property(object: Arg<'a>) -> CallResult<Self> {
        Self::from_arg(object, "self")
    }
}

impl<'a, T: FromArg<'a>> FromArg<'a> for Option<T> {
    const WANTED: &'static str = T::WANTED;
    const STUB: &'static str = T::STUB;
    const OPTIONAL: bool = true;
    #[inline(always)]
    fn read(object: Arg<'a>) -> CallResult<Option<Option<T>>> {
        if is_none(object) { Ok(Some(None)) } else { Ok(T::read(object)?.map(Some)) }
    }
}

/// Types of objects that a row's body reads itself: the name, and the type in the stubs.
macro_rules! objects {
    ($($(#[$doc:meta])+ $name:ident $stub:literal;)*) => { $(
        $(#[$doc])+
        #[derive(Clone, Copy)]
        pub struct $name<'a>(pub Arg<'a>);
        impl<'a> FromArg<'a> for $name<'a> {
            const WANTED: &'static str = "an object";
            const STUB: &'static str = $stub;
            #[inline(always)]
            fn read(object: Arg<'a>) -> CallResult<Option<$name<'a>>> {
                Ok(Some($name(object)))
            }
        }
    )* };
}
objects! {
    /// An object of any type.
    AnyArg "object";
    /// An object that is passed on to Python code.
    UntypedArg "Any";
    /// Values: of a tensor, a storage, an array, nested sequences or a number.
    DataArg "_Data";
    /// An operand of an elementwise operation.
    OperandArg "_Operand";
    /// The condition of `where`.
    ConditionArg "Tensor | Buffer | _Array | bool";
    /// An operand of type promotion: something with a dtype, or a number.
    PromotedArg "Tensor | _Number";
    /// A tensor or a storage.
    MemoryArg "Tensor | Storage";
    /// A storage in shared memory.
    SharedArg "Storage";
    /// The device and inode of a file or of shared memory.
    IdentityArg "tuple[int, int]";
    /// A buffer of bytes.
    BufferArg "Buffer";
    /// An object whose memory a tensor can share.
    BorrowArg "Tensor | Storage | Buffer | _Array";
    /// An array of another library.
    ArrayArg "Buffer | _Array";
    /// A tensor of another library, or a DLPack capsule.
    DLPackArg "_Lender | CapsuleType";
    /// The name of a file, as `open` takes it.
    PathArg "_Path";
    /// The target of `to`.
    TargetArg "_DTypeLike | _DeviceLike | Tensor";
    /// A dim of `max` and `min`, or another tensor.
    DimOrTensor "SupportsIndex | Tensor";
    /// Dims, or the flag `unbiased` in their position.
    DimsOrFlag "_Ints | bool";
    /// One output, or two.
    OutArg "Tensor | tuple[Tensor, Tensor]";
}

/// A function, or another object that can be called.
#[derive(Clone, Copy)]
pub struct CallableArg<'a>(pub Arg<'a>);

impl<'a> FromArg<'a> for CallableArg<'a> {
    const WANTED: &'static str = "a callable";
    const STUB: &'static str = "Callable[..., Any]";
    fn read(object: Arg<'a>) -> CallResult<Option<CallableArg<'a>>> {
        Ok(object.is_callable().then_some(CallableArg(object)))
    }
}

/// A tensor argument. Each use looks the tensor up anew, since reading other arguments may run Python code that replaces
/// the tensor inside the object.
#[derive(Clone, Copy)]
pub struct TensorArg<'a>(Arg<'a>);

impl<'a> TensorArg<'a> {
    /// The object, as the caller passed it.
    #[inline(always)]
    pub fn object(self) -> Arg<'a> {
        self.0
    }

    /// A receiver that the interpreter passes to a slot of Tensor.
    ///
    /// # Safety
    /// The object is a tensor.
    #[inline(always)]
    pub unsafe fn of_slot(object: Arg<'a>) -> TensorArg<'a> {
        TensorArg(object)
    }
}

impl<'a> FromArg<'a> for TensorArg<'a> {
    const WANTED: &'static str = "a Tensor";
    const STUB: &'static str = "Tensor";
    #[inline(always)]
    fn read(object: Arg<'a>) -> CallResult<Option<TensorArg<'a>>> {
        Ok(is_tensor(object).then_some(TensorArg(object)))
    }
}

impl<'a> Receiver<'a> for TensorArg<'a> {
    const CLASS: &'static str = "Tensor";
    #[inline(always)]
    unsafe fn of_property(object: Arg<'a>) -> CallResult<TensorArg<'a>> {
        Ok(TensorArg(object))
    }
}

impl Deref for TensorArg<'_> {
    type Target = Tensor;
    #[inline(always)]
    fn deref(&self) -> &Tensor {
        // SAFETY: `read` checked that it is a tensor, or the caller of an unsafe constructor did. Bodies use the reference
        // before any Python code runs, or clone the tensor.
        unsafe { tensor_of(self.0) }
    }
}

/// A storage argument, with its object.
pub struct StorageArg<'a> {
    pub object: Arg<'a>,
    pub storage: TypedStorage,
}

impl<'a> FromArg<'a> for StorageArg<'a> {
    const WANTED: &'static str = "a Storage";
    const STUB: &'static str = "Storage";
    fn read(object: Arg<'a>) -> CallResult<Option<StorageArg<'a>>> {
        Ok(read_storage(object).map(|storage| StorageArg { object, storage }))
    }
}

impl<'a> Receiver<'a> for StorageArg<'a> {
    const CLASS: &'static str = "Storage";
}

impl Deref for StorageArg<'_> {
    type Target = TypedStorage;
    fn deref(&self) -> &TypedStorage {
        &self.storage
    }
}

/// The receiver of the rows of a class that PyO3 makes.
pub struct Instance<'a, T: PyClass> {
    pub object: Arg<'a>,
    cast: Borrowed<'a, 'a, T>,
}

impl<'a, T: PyClass> FromArg<'a> for Instance<'a, T> {
    const WANTED: &'static str = T::NAME;
    const STUB: &'static str = T::NAME;
    fn read(object: Arg<'a>) -> CallResult<Option<Instance<'a, T>>> {
        Ok(object.cast::<T>().ok().map(|cast| Instance { object, cast }))
    }
}

impl<'a, T: PyClass> Receiver<'a> for Instance<'a, T> {
    const CLASS: &'static str = T::NAME;
}

impl<T: PyClass<Frozen = True> + Sync> Deref for Instance<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.cast.get()
    }
}

/// Types that PyO3 converts, with their names in messages and in the stubs.
macro_rules! converted {
    ($($type:ty, $wanted:literal, $stub:literal;)*) => { $(
        impl<'a> FromArg<'a> for $type {
            const WANTED: &'static str = $wanted;
            const STUB: &'static str = $stub;
            fn read(object: Arg<'a>) -> CallResult<Option<$type>> {
                Ok(Some(FromPyObject::extract(object).map_err(PyErr::from)?))
            }
        }
    )* };
}
converted! {
    u64, "an int", "SupportsIndex";
    &'a [u8], "bytes", "bytes";
    &'a str, "a str", "str";
    Vec<f64>, "a sequence of numbers", "Sequence[SupportsFloat]";
    Vec<usize>, "a list of ints", "list[int]";
}

/// `out=` of a function with two results.
#[derive(Clone, Copy)]
pub struct TensorPair<'a>(pub TensorArg<'a>, pub TensorArg<'a>);

impl<'a> FromArg<'a> for TensorPair<'a> {
    const WANTED: &'static str = "a tuple of two Tensors";
    const STUB: &'static str = "tuple[Tensor, Tensor]";
    fn read(object: Arg<'a>) -> CallResult<Option<TensorPair<'a>>> {
        let Ok(tuple) = object.cast::<pyo3::types::PyTuple>() else { return Ok(None) };
        if tuple.len() != 2 {
            return Ok(None);
        }
        // SAFETY: a tuple does not change, so it keeps its two items alive as long as it is borrowed.
        let item = |at| unsafe { arg(object.py(), ffi::PyTuple_GetItem(object.as_ptr(), at)) };
        let pair = TensorArg::read(item(0))?.zip(TensorArg::read(item(1))?);
        Ok(pair.map(|(first, second)| TensorPair(first, second)))
    }
}

/// `requires_grad=`: only False, since strided has no autograd.
pub struct NoGrad;

impl<'a> FromArg<'a> for NoGrad {
    const WANTED: &'static str = "False";
    const STUB: &'static str = "Literal[False]";
    fn read(object: Arg<'a>) -> CallResult<Option<NoGrad>> {
        match bool::read(object)? {
            Some(true) => {
                Err(Fail::Value("requires_grad=True is not possible: strided has no autograd".into()))
            }
            _ => Ok(Some(NoGrad)),
        }
    }
}

/// One int, or a sequence of ints.
pub struct Ints {
    pub ints: Dims,
    /// Whether they came as a sequence.
    pub sequence: bool,
}

impl<'a> FromArg<'a> for Ints {
    const WANTED: &'static str = "an int or a sequence of ints";
    const STUB: &'static str = "_Ints";
    #[inline]
    fn read(object: Arg<'a>) -> CallResult<Option<Ints>> {
        if let Some(value) = isize::read(object)? {
            let mut ints = Dims::new();
            ints.push(value);
            return Ok(Some(Ints { ints, sequence: false }));
        }
        Ok(sequence_of_ints(object)?.map(|ints| Ints { ints, sequence: true }))
    }
}

/// Longer sequences of ints are refused: no shape has that many dims, and memory could run out first.
const MAX_INTS: isize = 1 << 24;

/// The ints of a list, a tuple, a storage or any other sequence; `None` if it is none, or holds something else.
pub fn sequence_of_ints(object: Arg<'_>) -> CallResult<Option<Dims>> {
    let (py, pointer) = (object.py(), object.as_ptr());
    // SAFETY: an `Arg` is a live object. Each item is a new reference; its index is checked by the sequence.
    unsafe {
        if ffi::PySequence_Check(pointer) == 0
            || ffi::PyUnicode_Check(pointer) != 0
            || ffi::PyBytes_Check(pointer) != 0
        {
            return Ok(None);
        }
        let length = ffi::PySequence_Size(pointer);
        if length < 0 {
            return Err(Fail::raised(py));
        }
        if length > MAX_INTS {
            return Err(Fail::Value(format!(
                "a sequence of {length} ints is longer than any shape or index"
            )));
        }
        let mut ints = Dims::new(); // grows with the items, since an object may report a false length
        for i in 0..length {
            let Some(item) = Bound::from_owned_ptr_or_opt(py, ffi::PySequence_GetItem(pointer, i)) else {
                return Err(Fail::raised(py));
            };
            match isize::read(item.as_borrowed())? {
                Some(value) => ints.push(value),
                None => return Ok(None),
            }
        }
        Ok(Some(ints))
    }
}

/// `*sizes`: several ints, one sequence, or the keyword of that name.
pub struct Rest {
    ints: Dims,
    given: bool,
}

impl<'a> FromArg<'a> for Rest {
    const WANTED: &'static str = Ints::WANTED;
    const STUB: &'static str = Ints::STUB;
    const REST: Option<&'static str> = Some(isize::STUB);
    fn read(object: Arg<'a>) -> CallResult<Option<Rest>> {
        Ok(Ints::read(object)?.map(|ints| Rest { ints: ints.ints, given: true }))
    }
    #[inline]
    fn from_args(args: &Args<'a>, at: usize, name: &'static str) -> CallResult<Rest> {
        let mut rest = Rest { ints: Dims::new(), given: true };
        match (args.rest, args.slots[at]) {
            ([], None) => rest.given = false,
            ([], Some(keyword)) => return Rest::from_arg(keyword, name),
            // SAFETY: an `Arg` is a live object.
            ([one], _) if unsafe { ffi::PyLong_Check(one.as_ptr()) } == 0 => {
                return Rest::from_arg(*one, name);
            }
            (several, _) => {
                for &object in several {
                    rest.ints.push(isize::from_arg(object, name)?);
                }
            }
        }
        Ok(rest)
    }
}

impl Rest {
    /// The ints; `None` if nothing was passed.
    #[inline]
    pub fn ints(&self) -> Option<&[isize]> {
        self.given.then_some(&self.ints[..])
    }

    /// The ints. Refuses a call without any, unless an empty sequence was passed.
    #[inline]
    pub fn require(&self, name: &'static str) -> CallResult<&[isize]> {
        self.ints().ok_or_else(|| missing(name))
    }
}

/// `*args`: objects of any type.
pub struct RestObjects<'a>(pub &'a [Arg<'a>]);

impl<'a> FromArg<'a> for RestObjects<'a> {
    const WANTED: &'static str = "anything";
    const STUB: &'static str = "";
    const REST: Option<&'static str> = Some("Any");
    fn read(_: Arg<'a>) -> CallResult<Option<RestObjects<'a>>> {
        Ok(None) // only given by position
    }
    #[inline]
    fn from_args(args: &Args<'a>, _: usize, _: &'static str) -> CallResult<RestObjects<'a>> {
        Ok(RestObjects(args.rest))
    }
}

/// `*index`: ints, or one sequence of them, which the body reads.
pub struct RestIndex<'a>(pub &'a [Arg<'a>]);

impl<'a> FromArg<'a> for RestIndex<'a> {
    const WANTED: &'static str = "an int";
    const STUB: &'static str = "";
    const REST: Option<&'static str> = Some(Ints::STUB);
    fn read(_: Arg<'a>) -> CallResult<Option<RestIndex<'a>>> {
        Ok(None) // only given by position
    }
    #[inline]
    fn from_args(args: &Args<'a>, _: usize, _: &'static str) -> CallResult<RestIndex<'a>> {
        Ok(RestIndex(args.rest))
    }
}

/// A tuple of two ints, such as a version.
pub struct TwoInts(pub isize, pub isize);

impl<'a> FromArg<'a> for TwoInts {
    const WANTED: &'static str = "a tuple of two ints";
    const STUB: &'static str = "tuple[int, int]";
    fn read(object: Arg<'a>) -> CallResult<Option<TwoInts>> {
        Ok(match sequence_of_ints(object)?.as_deref() {
            Some(&[first, second]) => Some(TwoInts(first, second)),
            _ => None,
        })
    }
}

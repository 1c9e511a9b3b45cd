//! Errors as values: what an operation got, and what it wanted. Its name is added where it is known to the user: by the binding.

use crate::dtype::DType;
use std::fmt;
use std::path::{Path, PathBuf};

pub type Result<T> = std::result::Result<T, Error>;

/// A refused operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// Boxed, so that an `Ok` result is not made larger by the fields of errors.
    pub problem: Box<Problem>,
}

/// Groups of errors: a front end maps each to one of its exception types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// A value that an argument does not accept. Sizes, strides and dims are `Shape`.
    Argument,
    Shape,
    DType,
    Index,
    /// Memory that is read-only, exported or foreign, or a file that cannot be mapped.
    Storage,
    /// Memory on another device than the host, or operands on two devices.
    Device,
    Overflow,
    ZeroDivision,
    Memory,
    /// No memory left on a device.
    DeviceMemory,
    Interrupt,
    /// A failed system call.
    System,
    /// A file that breaks the rules of its format, or an object that a format cannot hold.
    Format,
}

/// A shape as messages show it: `2x5`, or `()` for rank 0.
pub type ShapeText = String;

/// Declares the problems: the fields of each, its family, and its message as `write!` takes it.
macro_rules! problems {
    ($(
        $(#[$doc:meta])+
        $name:ident $({ $($field:ident: $type:ty),+ })? $family:ident, $text:literal $(, $value:expr)*;
    )*) => {
        #[derive(Clone, Debug, PartialEq)]
        pub enum Problem {
            $($(#[$doc])+ $name $({ $($field: $type),+ })?,)*
        }

        impl Problem {
            fn family(&self) -> Family {
                match self {
                    $(Problem::$name { .. } => Family::$family,)*
                }
            }
        }

        impl fmt::Display for Problem {
            #[allow(unused_variables)] // a message need not show every field
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Problem::$name $({ $($field),+ })? => write!(f, $text $(, $value)*),)*
                }
            }
        }
    };
}
problems! {
    /// A dim outside `-rank .. rank`.
    DimRange { dim: isize, rank: usize } Index, "{}", range_text("dim", *dim, *rank);
    /// The position of a new dim outside `-(rank + 1) ..= rank`.
    NewDimRange { dim: isize, rank: usize } Index,
        "dim {dim} is outside {} to {rank} (rank {rank})", -(*rank as isize) - 1;
    /// A dim named twice.
    DimRepeated { dim: usize } Shape, "dim {dim} is named more than once";
    /// A mode outside `-rank .. rank`: a dim, where operations call it so.
    ModeRange { mode: isize, rank: usize } Index, "{}", range_text("mode", *mode, *rank);
    /// A mode named twice.
    ModeRepeated { mode: usize } Shape, "mode {mode} is named more than once";
    /// The wrong number of dims, sizes or indices.
    Count { what: &'static str, got: usize, wanted: usize } Shape, "got {got} {what}, wanted {wanted}";
    /// Fewer or more dims than the operation needs.
    Rank { rank: usize, wanted: &'static str } Shape, "got a tensor of rank {rank}, wanted {wanted}";
    /// An index outside its dim.
    IndexRange { index: i128, dim: usize, extent: isize, shape: ShapeText } Index,
        "index {index} is outside dim {dim} with extent {extent} (shape {shape})";
    /// An index that a device has found outside its dim, after the operation had returned.
    IndexFound { operation: &'static str, index: i64, extent: i64, device: String } Index,
        "{operation}: index {index} is outside extent {extent} (found on {device} after the call returned)";
    /// More indices than dims.
    TooManyIndices { got: usize, rank: usize, shape: ShapeText } Index,
        "{got} indices for {rank} dims (shape {shape})";
    /// A mask whose extents are not those of the dims it is applied to.
    MaskShape { mask: ShapeText, shape: ShapeText, dim: usize, extents: (isize, isize) } Index,
        "a mask of shape {mask} does not fit shape {shape}: its extent for dim {dim} is {}, wanted {}",
        extents.0, extents.1;
    /// Index tensors that do not broadcast.
    IndexShapes { shapes: String } Index, "index tensors of shapes {shapes} do not broadcast to one shape";
    /// More than one `...` between the brackets.
    EllipsisRepeated Index, "more than one '...'";
    /// `start + length` beyond an extent.
    NarrowRange { start: isize, length: isize, extent: isize, dim: usize, shape: ShapeText } Shape,
        "start {start} + length {length} exceeds extent {extent} of dim {dim} (shape {shape})";
    /// A value outside what an argument allows.
    Argument { argument: &'static str, got: String, wanted: String } Argument, "{argument} is {got}, wanted {wanted}";
    /// Sizes, strides or dims outside what an argument allows.
    Shape { argument: &'static str, got: String, wanted: String } Shape, "{argument} is {got}, wanted {wanted}";
    /// A tensor in a sequence of tensors that does not fit the others; `what` says why.
    TensorAt { position: usize, what: String } Shape, "tensors[{position}] {what}";
    /// Labels of a contraction that do not fit the operands; `what` names labels, operands and extents.
    Labels { what: String } Shape, "{what}";
    /// A size below 0.
    NegativeSize { size: isize, dim: usize } Shape, "size {size} of dim {dim} is negative";
    /// Sizes whose product, or whose span in bytes, does not fit the address space.
    TooLarge { shape: ShapeText } Shape, "shape {shape} exceeds the address space";
    /// Two shapes that do not broadcast.
    Broadcast { left: ShapeText, right: ShapeText, dim: usize, extents: (isize, isize) } Shape,
        "shapes {left} and {right} do not broadcast: extents {} and {} in dim {dim}", extents.0, extents.1;
    /// A shape that does not expand to another.
    Expand { from: ShapeText, to: ShapeText, dim: usize, extents: (isize, isize) } Shape,
        "shape {from} does not expand to {to}: extent {} cannot become {} in dim {dim}", extents.0, extents.1;
    /// A change of shape that changes the number of elements.
    ViewSize { from: ShapeText, to: ShapeText } Shape, "shape {to} has another number of elements than {from}";
    /// A view that the strides do not allow.
    ViewStride { shape: ShapeText, stride: String, to: ShapeText } Shape,
        "shape {shape} with strides {stride} cannot be viewed as {to} without a copy; use reshape";
    /// Modes that cannot be folded.
    Fold { modes: String, shape: ShapeText, stride: String } Shape,
        "modes {modes} are not sequentially contiguous (shape {shape}, strides {stride})";
    /// An `out` of the wrong shape.
    OutShape { out: &'static str, got: ShapeText, wanted: ShapeText } Shape, "{out} has shape {got}, wanted {wanted}";
    /// Operands that broadcast to another shape than the output has. `wrong` is a dim of the output and its extent, or
    /// `None` if the output has too few dims.
    InPlace { shapes: String, result: ShapeText, rank: usize, wrong: Option<(usize, isize)> } Shape,
        "shapes {shapes} broadcast to {result}, but the output has {}",
        wrong.map_or_else(|| format!("rank {rank}"), |(dim, extent)| format!("extent {extent} in dim {dim}"));
    /// A reduction of zero elements that has no identity. `variant` follows its name in the message, as in "norm of
    /// order inf".
    EmptyReduction { variant: &'static str, shape: ShapeText } Shape, "cannot reduce zero elements";
    /// Writing through a layout in which elements share a location.
    SelfOverlap { shape: ShapeText, stride: String } Shape,
        "elements of the output share memory (shape {shape}, strides {stride}); clone it first";
    /// A layout that leaves its storage. Locations and length are in elements.
    OutsideStorage { first: isize, last: isize, length: usize } Shape,
        "locations {first} to {last} leave a storage of {length} elements";
    /// A byte length or offset that the element size does not divide.
    Misaligned { what: &'static str, got: isize, size: usize } Shape,
        "{what} {got} is not a multiple of the element size {size}";
    /// A dtype that the operation does not accept.
    WrongDType { argument: &'static str, got: DType, wanted: &'static str } DType,
        "{argument} is {}, wanted {wanted}", got.name();
    /// Two dtypes without a common one.
    NoCommonDType { left: DType, right: DType } DType, "no dtype holds both {} and {}", left.name(), right.name();
    /// A result of a higher category than its output.
    LowerCategory { result: DType, output: DType } DType,
        "a {} result cannot be stored into {}; use copy_ to cast", result.name(), output.name();
    /// A number of a higher category than what it is used with.
    WrongNumber { argument: &'static str, got: &'static str, wanted: &'static str } DType,
        "{argument} is {got}, wanted {wanted}";
    /// A number that a dtype cannot hold.
    DoesNotFit { value: String, dtype: DType } Overflow, "{value} does not fit {}", dtype.name();
    /// NaN as an integer.
    NanToInt { dtype: DType } Argument, "cannot convert nan to {}", dtype.name();
    /// An integer divided by zero.
    ZeroDivisor ZeroDivision, "an integer is divided by zero";
    /// Writing to read-only memory.
    ReadOnly Storage, "the memory is read-only";
    /// Exchanging memory that is exported.
    Exported { exports: usize } Storage,
        "the storage cannot change its memory while {exports} view(s) of it are exported";
    /// Exchanging memory whose address was handed out and cannot be returned.
    AddressTaken Storage,
        "the storage cannot change its memory any more: its address was handed out by __array_interface__";
    /// Exchanging memory in the middle of a call that uses it.
    InUse Storage,
        "the storage cannot change its memory from a signal handler in the middle of a call that uses it";
    /// Using memory that its owner has taken back.
    Invalidated Storage, "the memory was borrowed, and its owner has invalidated it";
    /// Accessing memory from the host that is on another device.
    NotOnHost { device: String } Device, "the memory is on {device}, where the host cannot access it; .cpu() copies it to the CPU";
    /// Computing on a device with memory of the host.
    NotOnDevice Device, "the memory is on cpu, where a GPU cannot access it";
    /// An operation that a GPU does not have; `what` says for which dtype or form, or is empty.
    NotOnGpu { what: String, device: String } Device,
        "not available on {device}{}{what}; copy the tensor to the CPU by .cpu()", if what.is_empty() { "" } else { " " };
    /// A device that is missing, or that failed.
    Gpu { what: String } Device, "{what}";
    /// An allocation on a device failed.
    OutOfDeviceMemory { device: String, bytes: usize } DeviceMemory, "{}",
        if *bytes == 0 { format!("{device} has too little memory left") } else { format!("cannot allocate {bytes} bytes on {device}") };
    /// Operands on two devices.
    DeviceMismatch { first: String, second: String } Device,
        "the operands are on {first} and {second}; they must be on one device";
    /// Changing the length of foreign memory.
    NotOwned Storage, "the storage's memory belongs to someone else, so its size cannot change";
    /// Changing the length of mapped memory.
    Mapped Storage, "mapped and shared memory keeps its size; clone it first";
    /// Sharing memory that is foreign or mapped privately, and so cannot be moved.
    NotMovable Storage,
        "the storage's memory is foreign or mapped privately and cannot be moved; clone it first";
    /// Flushing a storage that is not in a file.
    NoFile Storage, "the storage is not in a file";
    /// A file that cannot be used as memory; `what` says why.
    File { path: PathBuf, what: String } Storage, "{path:?} {what}";
    /// A failed system call, with its error code; the path is empty if no file is involved.
    System { path: PathBuf, code: i32 } System, "{}", system_text(path, *code);
    /// Bytes that break the rules of a file format, or an object that a format cannot hold. The file is empty if it has
    /// no name; the offset counts bytes from its beginning.
    Format { file: String, offset: Option<u64>, reason: String } Format, "{}", format_text(file, *offset, reason);
    /// An allocation of this many bytes failed.
    OutOfMemory { bytes: usize } Memory, "cannot allocate {bytes} bytes";
    /// The user interrupted a long call.
    Interrupted Interrupt, "interrupted";
}

/// Says which numbers of dims or modes there are.
fn range_text(word: &str, number: isize, rank: usize) -> String {
    match rank {
        0 => format!("{word} {number} of a tensor of rank 0"),
        _ => format!("{word} {number} is outside {} to {} (rank {rank})", -(rank as isize), rank - 1),
    }
}

fn system_text(path: &Path, code: i32) -> String {
    let error = std::io::Error::from_raw_os_error(code);
    if path.as_os_str().is_empty() { error.to_string() } else { format!("{path:?}: {error}") }
}

fn format_text(file: &str, offset: Option<u64>, reason: &str) -> String {
    let file = if file.is_empty() { String::new() } else { format!("{file}: ") };
    let place = offset.map_or_else(String::new, |offset| format!("byte {offset}: "));
    format!("{file}{place}{reason}")
}

impl Error {
    #[cold]
    pub fn new(problem: Problem) -> Error {
        Error { problem: Box::new(problem) }
    }

    /// An argument outside what the operation allows.
    #[cold]
    pub fn argument(argument: &'static str, got: impl fmt::Display, wanted: impl Into<String>) -> Error {
        Error::new(Problem::Argument { argument, got: got.to_string(), wanted: wanted.into() })
    }

    /// Sizes, strides or dims outside what the operation allows.
    #[cold]
    pub fn shape(argument: &'static str, got: impl fmt::Display, wanted: impl Into<String>) -> Error {
        Error::new(Problem::Shape { argument, got: got.to_string(), wanted: wanted.into() })
    }

    /// A dtype that the operation does not accept.
    #[cold]
    pub fn dtype(argument: &'static str, got: DType, wanted: &'static str) -> Error {
        Error::new(Problem::WrongDType { argument, got, wanted })
    }

    /// The message, under a name of the operation.
    pub fn message(&self, op: &str) -> String {
        match &*self.problem {
            problem if op.is_empty() => problem.to_string(),
            // The operation that waits did nothing wrong.
            problem @ Problem::IndexFound { .. } => problem.to_string(),
            problem @ Problem::EmptyReduction { variant, shape } => {
                format!("{op}: {problem}: {op}{variant} has no identity (shape {shape})")
            }
            problem => format!("{op}: {problem}"),
        }
    }

    pub fn family(&self) -> Family {
        self.problem.family()
    }
}

impl From<strided_opencl::Error> for Error {
    #[cold]
    fn from(error: strided_opencl::Error) -> Error {
        Error::new(match error {
            strided_opencl::Error::OutOfMemory { device, bytes } => {
                Problem::OutOfDeviceMemory { device, bytes }
            }
            strided_opencl::Error::Interrupted => Problem::Interrupted,
            other => Problem::Gpu { what: other.to_string() },
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.fmt(f)
    }
}

impl std::error::Error for Error {}

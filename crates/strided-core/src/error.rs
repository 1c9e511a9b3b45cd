//! Errors as values: what an operation got, and what it wanted. Its name is added where it is known to the user: by the binding.

use crate::dtype::DType;
use std::fmt;
use std::path::PathBuf;

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
    Interrupt,
    /// A failed system call.
    System,
    /// A file that breaks the rules of its format, or an object that a format cannot hold.
    Format,
}

/// A shape as messages show it: `2x5`, or `()` for rank 0.
pub type ShapeText = String;

#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// A dim outside `-rank .. rank`.
    DimRange {
        dim: isize,
        rank: usize,
    },
    /// The position of a new dim outside `-(rank + 1) ..= rank`.
    NewDimRange {
        dim: isize,
        rank: usize,
    },
    /// A dim named twice.
    DimRepeated {
        dim: usize,
    },
    /// `DimRange` for operations that call a dim a mode.
    ModeRange {
        mode: isize,
        rank: usize,
    },
    ModeRepeated {
        mode: usize,
    },
    /// The wrong number of dims, sizes or indices.
    Count {
        what: &'static str,
        got: usize,
        wanted: usize,
    },
    /// Fewer or more dims than the operation needs.
    Rank {
        rank: usize,
        wanted: &'static str,
    },
    /// An index outside its dim.
    IndexRange {
        index: i128,
        dim: usize,
        extent: isize,
        shape: ShapeText,
    },
    /// More indices than dims.
    TooManyIndices {
        got: usize,
        rank: usize,
        shape: ShapeText,
    },
    /// A mask whose extents are not those of the dims it is applied to.
    MaskShape {
        mask: ShapeText,
        shape: ShapeText,
        dim: usize,
        extents: (isize, isize),
    },
    /// Index tensors that do not broadcast.
    IndexShapes {
        shapes: String,
    },
    /// More than one `...` between the brackets.
    EllipsisRepeated,
    /// `start + length` beyond an extent.
    NarrowRange {
        start: isize,
        length: isize,
        extent: isize,
        dim: usize,
        shape: ShapeText,
    },
    /// A value outside what an argument allows.
    Argument {
        argument: &'static str,
        got: String,
        wanted: String,
    },
    /// Sizes, strides or dims outside what an argument allows.
    Shape {
        argument: &'static str,
        got: String,
        wanted: String,
    },
    /// A tensor in a sequence of tensors that does not fit the others; `what` says why.
    TensorAt {
        position: usize,
        what: String,
    },
    /// Labels of a contraction that do not fit the operands; `what` names labels, operands and extents.
    Labels {
        what: String,
    },
    /// A size below 0.
    NegativeSize {
        size: isize,
        dim: usize,
    },
    /// Sizes whose product, or whose span in bytes, does not fit the address space.
    TooLarge {
        shape: ShapeText,
    },
    /// Two shapes that do not broadcast.
    Broadcast {
        left: ShapeText,
        right: ShapeText,
        dim: usize,
        extents: (isize, isize),
    },
    /// A shape that does not expand to another.
    Expand {
        from: ShapeText,
        to: ShapeText,
        dim: usize,
        extents: (isize, isize),
    },
    /// A change of shape that changes the number of elements.
    ViewSize {
        from: ShapeText,
        to: ShapeText,
    },
    /// A view that the strides do not allow.
    ViewStride {
        shape: ShapeText,
        stride: String,
        to: ShapeText,
    },
    /// Modes that cannot be folded.
    Fold {
        modes: String,
        shape: ShapeText,
        stride: String,
    },
    /// An `out` of the wrong shape.
    OutShape {
        out: &'static str,
        got: ShapeText,
        wanted: ShapeText,
    },
    /// Operands that broadcast to another shape than the output has. `wrong` is a dim of the output and its extent, or
    /// `None` if the output has too few dims.
    InPlace {
        shapes: String,
        result: ShapeText,
        rank: usize,
        wrong: Option<(usize, isize)>,
    },
    /// A reduction of zero elements that has no identity. `variant` follows its name in the message, as in "norm of
    /// order inf".
    EmptyReduction {
        variant: &'static str,
        shape: ShapeText,
    },
    /// Writing through a layout in which elements share a location.
    SelfOverlap {
        shape: ShapeText,
        stride: String,
    },
    /// A layout that leaves its storage. Locations and length are in elements.
    OutsideStorage {
        first: isize,
        last: isize,
        length: usize,
    },
    /// A byte length or offset that the element size does not divide.
    Misaligned {
        what: &'static str,
        got: isize,
        size: usize,
    },
    /// A dtype that the operation does not accept.
    WrongDType {
        argument: &'static str,
        got: DType,
        wanted: &'static str,
    },
    /// Two dtypes without a common one.
    NoCommonDType {
        left: DType,
        right: DType,
    },
    /// A result of a higher category than its output.
    LowerCategory {
        result: DType,
        output: DType,
    },
    /// A number of a higher category than what it is used with.
    WrongNumber {
        argument: &'static str,
        got: &'static str,
        wanted: &'static str,
    },
    /// A number that a dtype cannot hold.
    DoesNotFit {
        value: String,
        dtype: DType,
    },
    /// NaN as an integer.
    NanToInt {
        dtype: DType,
    },
    /// An integer divided by zero.
    ZeroDivisor,
    /// Writing to read-only memory.
    ReadOnly,
    /// Exchanging memory that is exported.
    Exported {
        exports: usize,
    },
    /// Exchanging memory whose address was handed out and cannot be returned.
    AddressTaken,
    /// Exchanging memory in the middle of a call that uses it.
    InUse,
    /// Using memory that its owner has taken back.
    Invalidated,
    /// Accessing memory from the host that is on another device.
    NotOnHost {
        device: String,
    },
    /// Operands on two devices.
    DeviceMismatch {
        first: String,
        second: String,
    },
    /// Changing the length of foreign memory.
    NotOwned,
    /// Changing the length of mapped memory.
    Mapped,
    /// Sharing memory that is foreign or mapped privately, and so cannot be moved.
    NotMovable,
    /// Flushing a storage that is not in a file.
    NoFile,
    /// A file that cannot be used as memory; `what` says why.
    File {
        path: PathBuf,
        what: String,
    },
    /// A failed system call, with its error code; the path is empty if no file is involved.
    System {
        path: PathBuf,
        code: i32,
    },
    /// Bytes that break the rules of a file format, or an object that a format cannot hold. The file is empty if it has
    /// no name; the offset counts bytes from its beginning.
    Format {
        file: String,
        offset: Option<u64>,
        reason: String,
    },
    /// An allocation of this many bytes failed.
    OutOfMemory {
        bytes: usize,
    },
    /// The user interrupted a long call.
    Interrupted,
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

    /// The message, under a name of the operation.
    pub fn message(&self, op: &str) -> String {
        match &*self.problem {
            problem if op.is_empty() => problem.to_string(),
            problem @ Problem::EmptyReduction { variant, shape } => {
                format!("{op}: {problem}: {op}{variant} has no identity (shape {shape})")
            }
            problem => format!("{op}: {problem}"),
        }
    }

    pub fn family(&self) -> Family {
        use Problem::*;
        match *self.problem {
            DimRange { .. }
            | NewDimRange { .. }
            | ModeRange { .. }
            | IndexRange { .. }
            | TooManyIndices { .. }
            | MaskShape { .. }
            | IndexShapes { .. }
            | EllipsisRepeated => Family::Index,
            WrongDType { .. } | NoCommonDType { .. } | LowerCategory { .. } | WrongNumber { .. } => {
                Family::DType
            }
            Argument { .. } | NanToInt { .. } => Family::Argument,
            DoesNotFit { .. } => Family::Overflow,
            ZeroDivisor => Family::ZeroDivision,
            ReadOnly
            | Exported { .. }
            | AddressTaken
            | InUse
            | Invalidated
            | NotOwned
            | Mapped
            | NotMovable
            | NoFile
            | File { .. } => Family::Storage,
            NotOnHost { .. } | DeviceMismatch { .. } => Family::Device,
            System { .. } => Family::System,
            Format { .. } => Family::Format,
            OutOfMemory { .. } => Family::Memory,
            Interrupted => Family::Interrupt,
            _ => Family::Shape,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.fmt(f)
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Problem::*;
        match self {
            DimRange { dim, rank } => write_range(f, "dim", *dim, *rank),
            NewDimRange { dim, rank } => {
                write!(f, "dim {dim} is outside {} to {rank} (rank {rank})", -(*rank as isize) - 1)
            }
            DimRepeated { dim } => write!(f, "dim {dim} is named more than once"),
            ModeRange { mode, rank } => write_range(f, "mode", *mode, *rank),
            ModeRepeated { mode } => write!(f, "mode {mode} is named more than once"),
            Count { what, got, wanted } => write!(f, "got {got} {what}, wanted {wanted}"),
            Rank { rank, wanted } => write!(f, "got a tensor of rank {rank}, wanted {wanted}"),
            IndexRange { index, dim, extent, shape } => {
                write!(f, "index {index} is outside dim {dim} with extent {extent} (shape {shape})")
            }
            TooManyIndices { got, rank, shape } => write!(f, "{got} indices for {rank} dims (shape {shape})"),
            MaskShape { mask, shape, dim, extents: (got, wanted) } => write!(
                f,
                "a mask of shape {mask} does not fit shape {shape}: its extent for dim {dim} is {got}, wanted {wanted}"
            ),
            IndexShapes { shapes } => {
                write!(f, "index tensors of shapes {shapes} do not broadcast to one shape")
            }
            EllipsisRepeated => write!(f, "more than one '...'"),
            NarrowRange { start, length, extent, dim, shape } => {
                write!(
                    f,
                    "start {start} + length {length} exceeds extent {extent} of dim {dim} (shape {shape})"
                )
            }
            Argument { argument, got, wanted } | Shape { argument, got, wanted } => {
                write!(f, "{argument} is {got}, wanted {wanted}")
            }
            TensorAt { position, what } => write!(f, "tensors[{position}] {what}"),
            Labels { what } => write!(f, "{what}"),
            NegativeSize { size, dim } => write!(f, "size {size} of dim {dim} is negative"),
            TooLarge { shape } => write!(f, "shape {shape} exceeds the address space"),
            Broadcast { left, right, dim, extents: (a, b) } => {
                write!(f, "shapes {left} and {right} do not broadcast: extents {a} and {b} in dim {dim}")
            }
            Expand { from, to, dim, extents: (a, b) } => {
                write!(f, "shape {from} does not expand to {to}: extent {a} cannot become {b} in dim {dim}")
            }
            ViewSize { from, to } => write!(f, "shape {to} has another number of elements than {from}"),
            ViewStride { shape, stride, to } => {
                write!(
                    f,
                    "shape {shape} with strides {stride} cannot be viewed as {to} without a copy; use reshape"
                )
            }
            Fold { modes, shape, stride } => {
                write!(f, "modes {modes} are not sequentially contiguous (shape {shape}, strides {stride})")
            }
            OutShape { out, got, wanted } => write!(f, "{out} has shape {got}, wanted {wanted}"),
            InPlace { shapes, result, rank, wrong } => {
                write!(f, "shapes {shapes} broadcast to {result}, but the output has ")?;
                match wrong {
                    Some((dim, extent)) => write!(f, "extent {extent} in dim {dim}"),
                    None => write!(f, "rank {rank}"),
                }
            }
            SelfOverlap { shape, stride } => {
                write!(
                    f,
                    "elements of the output share memory (shape {shape}, strides {stride}); clone it first"
                )
            }
            OutsideStorage { first, last, length } => {
                write!(f, "locations {first} to {last} leave a storage of {length} elements")
            }
            Misaligned { what, got, size } => {
                write!(f, "{what} {got} is not a multiple of the element size {size}")
            }
            WrongDType { argument, got, wanted } => {
                write!(f, "{argument} is {}, wanted {wanted}", got.name())
            }
            NoCommonDType { left, right } => {
                write!(f, "no dtype holds both {} and {}", left.name(), right.name())
            }
            LowerCategory { result, output } => {
                write!(
                    f,
                    "a {} result cannot be stored into {}; use copy_ to cast",
                    result.name(),
                    output.name()
                )
            }
            WrongNumber { argument, got, wanted } => write!(f, "{argument} is {got}, wanted {wanted}"),
            DoesNotFit { value, dtype } => write!(f, "{value} does not fit {}", dtype.name()),
            NanToInt { dtype } => write!(f, "cannot convert nan to {}", dtype.name()),
            EmptyReduction { .. } => write!(f, "cannot reduce zero elements"),
            ZeroDivisor => write!(f, "an integer is divided by zero"),
            ReadOnly => write!(f, "the memory is read-only"),
            Exported { exports } => {
                write!(f, "the storage cannot change its memory while {exports} view(s) of it are exported")
            }
            AddressTaken => write!(
                f,
                "the storage cannot change its memory any more: its address was handed out by __array_interface__"
            ),
            InUse => write!(
                f,
                "the storage cannot change its memory from a signal handler in the middle of a call that uses it"
            ),
            Invalidated => write!(f, "the memory was borrowed, and its owner has invalidated it"),
            NotOnHost { device } => write!(f, "the memory is on {device}, where the host cannot access it"),
            DeviceMismatch { first, second } => {
                write!(f, "the operands are on {first} and {second}; they must be on one device")
            }
            NotOwned => write!(f, "the storage's memory belongs to someone else, so its size cannot change"),
            Mapped => write!(f, "mapped and shared memory keeps its size; clone it first"),
            NotMovable => {
                write!(
                    f,
                    "the storage's memory is foreign or mapped privately and cannot be moved; clone it first"
                )
            }
            NoFile => write!(f, "the storage is not in a file"),
            File { path, what } => write!(f, "{path:?} {what}"),
            System { path, code } => {
                let error = std::io::Error::from_raw_os_error(*code);
                if path.as_os_str().is_empty() {
                    write!(f, "{error}")
                } else {
                    write!(f, "{path:?}: {error}")
                }
            }
            Format { file, offset, reason } => {
                if !file.is_empty() {
                    write!(f, "{file}: ")?;
                }
                match offset {
                    Some(offset) => write!(f, "byte {offset}: {reason}"),
                    None => write!(f, "{reason}"),
                }
            }
            OutOfMemory { bytes } => write!(f, "cannot allocate {bytes} bytes"),
            Interrupted => write!(f, "interrupted"),
        }
    }
}

/// Says which numbers of dims or modes there are.
fn write_range(f: &mut fmt::Formatter<'_>, word: &str, number: isize, rank: usize) -> fmt::Result {
    match rank {
        0 => write!(f, "{word} {number} of a tensor of rank 0"),
        _ => write!(f, "{word} {number} is outside {} to {} (rank {rank})", -(rank as isize), rank - 1),
    }
}

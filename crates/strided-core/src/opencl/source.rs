//! The source text of programs: types, conversions, and the functions of the dtype that a program computes in.

use crate::dtype::{Category, DType};

/// The loops over the operands of a call; `OPERANDS` is defined before.
pub const LOOPS: &str = include_str!("source/loops.cl");
/// Indices that kernels check.
pub const FAULT: &str = include_str!("source/fault.cl");
/// Vectors of `LANES` numbers, which is defined before.
pub const LANES: &str = include_str!("source/lanes.cl");
const CASTS: &str = include_str!("source/casts.cl");
const REAL: &str = include_str!("source/real.cl");
const INTEGER: &str = include_str!("source/integer.cl");
const BOOLEAN: &str = include_str!("source/boolean.cl");
const FLOAT: &str = include_str!("source/float.cl");
const COMPLEX: &str = include_str!("source/complex.cl");
const HALF: &str = include_str!("source/half.cl");

/// The type of an element in memory. Halves are their bits.
pub fn c_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool | DType::U8 => "uchar",
        DType::U16 | DType::F16 | DType::BF16 => "ushort",
        DType::U32 => "uint",
        DType::U64 => "ulong",
        DType::I8 => "char",
        DType::I16 => "short",
        DType::I32 => "int",
        DType::I64 => "long",
        DType::F32 => "float",
        DType::F64 => "double",
        DType::C64 => "float2",
        DType::C128 => "double2",
    }
}

/// Whether a device must have double to handle the dtype.
pub fn needs_double(dtype: DType) -> bool {
    matches!(dtype, DType::F64 | DType::C128)
}

/// The beginning of every program: pragmas, and conversions between dtypes.
pub fn header(double: bool) -> String {
    let mut text = String::from("#pragma OPENCL FP_CONTRACT OFF\n");
    if double {
        text.push_str("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#define HAS_DOUBLE\n");
    }
    text.push_str(CASTS);
    text
}

/// The functions of numbers of a dtype: `T` is its type.
pub fn functions(dtype: DType) -> String {
    let mut text = format!("#define T {}\n", c_type(dtype));
    match dtype {
        DType::F16 | DType::BF16 => {
            let value = if dtype == DType::F16 { "half_value(bits)" } else { "bf16_value(bits)" };
            text.push_str(&format!("#define VALUE(bits) {value}\n"));
            text.push_str(HALF);
            return text;
        }
        DType::F32 => text.push_str("#define AS_BITS as_uint\n#define CONSTANT(value) value##f\n"),
        DType::F64 => text.push_str("#define AS_BITS as_ulong\n#define CONSTANT(value) value\n"),
        DType::C64 => text.push_str("#define P float\n"),
        DType::C128 => text.push_str("#define P double\n"),
        DType::Bool => {}
        _ => {
            let wide = if dtype.size() == 8 { "ulong" } else { "uint" };
            let (bits, signed) = (dtype.size() * 8, dtype.is_signed());
            let maximum = dtype.int_range().expect("integers have a range").1;
            text.push_str(&format!(
                "#define W {wide}\n#define BITS {bits}\n#define IS_SIGNED {}\n#define MAXIMUM {maximum}{}\n",
                signed as u8,
                if signed { "L" } else { "UL" }
            ));
        }
    }
    text.push_str(match dtype.category() {
        Category::Bool => BOOLEAN,
        Category::Int => INTEGER,
        Category::Float => FLOAT,
        Category::Complex => COMPLEX,
    });
    if !dtype.is_complex() {
        text.push_str(REAL);
    }
    text
}

/// A function that an expression calls and that a text does not define.
pub fn undefined_function(expression: &str, text: &str) -> Option<String> {
    let words = expression.split(|c: char| !c.is_alphanumeric() && c != '_');
    let mut called = words.filter(|word| word.starts_with("op_") || word.starts_with("fn_"));
    called.find(|name| !text.contains(&format!(" {name}("))).map(str::to_string)
}

/// The element at an index of a pointer, as a number of dtype `to`.
pub fn load(from: DType, to: DType, pointer: &str, index: &str) -> String {
    let raw = format!("{pointer}[{index}]");
    match from {
        DType::Bool => convert(from, to, &format!("({raw} != 0)")),
        _ if from == to => raw,
        DType::F16 => {
            convert(DType::F32, to, &format!("vload_half({index}, (__global const half *){pointer})"))
        }
        DType::BF16 => convert(DType::F32, to, &format!("bf16_value({raw})")),
        _ => convert(from, to, &raw),
    }
}

/// The statement that writes a number of dtype `from` to an index of a pointer.
pub fn store(from: DType, to: DType, pointer: &str, index: &str, value: &str) -> String {
    if to == DType::F16 && from != to {
        let value = convert(from, to, value);
        return format!("vstore_half_rte({value}, {index}, (__global half *){pointer});");
    }
    format!("{pointer}[{index}] = {};", convert(from, to, value))
}

/// A number of dtype `from` as one of dtype `to`. float16 is a float that is yet to be rounded.
pub fn convert(from: DType, to: DType, value: &str) -> String {
    if from == to {
        return value.into();
    }
    let target = c_type(to);
    match (from, to) {
        (DType::C64, DType::C128) => return format!("convert_double2({value})"),
        (DType::C128, DType::C64) => return format!("convert_float2({value})"),
        (DType::C64, DType::Bool) | (DType::C128, DType::Bool) => {
            return format!("(({value}).x != 0 || ({value}).y != 0)");
        }
        (DType::C64, _) => return convert(DType::F32, to, &format!("({value}).x")),
        (DType::C128, _) => return convert(DType::F64, to, &format!("({value}).x")),
        // The source of these is a load: `load` makes floats of halves.
        (DType::F16 | DType::BF16, _) => unreachable!("halves are loaded as floats"),
        _ => {}
    }
    match to {
        DType::Bool => format!("({value} != 0)"),
        DType::C64 | DType::C128 => format!("({target})({}, 0)", convert(from, to.real(), value)),
        DType::F16 if from == DType::F64 => format!("round_to_odd({value})"),
        DType::F16 if from == DType::I64 => format!("(float)clamp({value}, -131072L, 131072L)"),
        DType::F16 if from == DType::U64 => format!("(float)min({value}, (ulong)131072)"),
        DType::F16 => format!("(float)({value})"),
        DType::BF16 if from == DType::F32 => format!("bf16_bits({value})"),
        DType::BF16 if from == DType::F64 => format!("bf16_bits(round_to_odd({value}))"),
        DType::BF16 if from.is_signed() => format!("bf16_of_long({value})"),
        DType::BF16 => format!("bf16_of_ulong({value})"),
        DType::F32 | DType::F64 => format!("({target})({value})"),
        _ if from.category() < Category::Float => format!("({target})({value})"),
        _ => {
            let narrow = matches!(to, DType::U8 | DType::U16 | DType::I8 | DType::I16 | DType::I32);
            let function = if narrow { "int_of" } else { "long_of" };
            format!("({target}){function}_{}({value})", c_type(from))
        }
    }
}

//! A row of the op table as data.

use crate::dtype::{self, Category, DType};
use crate::op_table::Op;
use crate::scalar::Scalar;

/// One elementwise operation.
pub struct OpRow {
    pub op: Op,
    pub name: &'static str,
    /// `add_`
    pub in_place_name: &'static str,
    /// Names of the operands.
    pub operands: &'static [&'static str],
    pub class: DTypeClass,
    pub rule: ResultRule,
    pub refuses: Refuses,
    /// `+`, or empty.
    pub operator: &'static str,
    /// Lines of the docstring: summary, empty line, example and its output.
    pub doc: &'static [&'static str],
    /// Scalars that follow the operands.
    pub keywords: &'static [ScalarKeyword],
    /// A keyword that selects another row.
    pub selector: Option<RowSelector>,
    /// Operands that may be `None`, each with the row for the remaining ones.
    pub without: &'static [(&'static str, Op)],
    /// Whether the body that takes the keywords is used even if no keyword is given.
    pub needs_keywords: bool,
    /// Whether a call without keywords takes the shortest path: operands of one dtype, halves computed in float32.
    pub is_plain: bool,
}

/// The dtypes an operation computes in. Named as the classes of [`switch!`](crate::switch).
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DTypeClass {
    any,
    /// All but bool.
    num,
    /// As `num`, but bool is converted to int64.
    counts,
    /// All but the complex dtypes.
    real,
    /// The integers and floats.
    order,
    /// bool and the integers.
    bits,
    int,
    /// The floats and complex dtypes; integers and bool are computed in the default float.
    field,
    /// The floats; integers and bool are computed in the default float.
    float,
    /// As `float`, with kernels that compute halves themselves.
    floats,
    /// float64 and complex128.
    wide,
    /// A bool condition, and any dtype for the other operands.
    select,
}

/// How the dtype of the result follows from that of the operands.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultRule {
    same,
    bool,
    /// The dtype of the real part: float32 for complex64.
    part,
}

/// Values of the second operand for which integers have no result. They are looked for, and refused, before anything is
/// written.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refuses {
    none,
    zeros,
    negatives,
}

/// A scalar that is passed to the kernel beside the operands: `alpha`, `decimals`.
pub struct ScalarKeyword {
    pub name: &'static str,
    /// Whether it may be positional as well.
    pub positional: bool,
    /// The default as Python writes it.
    pub text: &'static str,
    pub default: KeywordDefault,
}

/// The value of a keyword that is not given.
pub enum KeywordDefault {
    Number(fn() -> Scalar),
    /// `None`: the row runs its body without keywords.
    Absent,
    /// The largest number of the operands' dtype.
    Largest,
    /// The lowest number of the operands' dtype.
    Lowest,
}

/// A keyword whose value selects another row before anything else happens: `rounding_mode`.
pub struct RowSelector {
    pub name: &'static str,
    /// The value that keeps the row, as Python writes it.
    pub default: &'static str,
    /// The other values and their rows.
    pub rows: &'static [(&'static str, Op)],
}

impl OpRow {
    /// The name of an operand in Python.
    pub fn argument(&self, at: usize) -> &'static str {
        match self.operands[at] {
            "a" => "input",
            "b" => "other",
            name => name,
        }
    }

    /// Whether the row has no name in Python.
    pub fn is_hidden(&self) -> bool {
        self.doc.is_empty()
    }
}

impl ScalarKeyword {
    /// The given value, or the default for operands of a dtype.
    pub fn resolve(&self, given: Option<Scalar>, operand: DType) -> Scalar {
        given.unwrap_or_else(|| match self.default {
            KeywordDefault::Number(number) => number(),
            KeywordDefault::Absent => Scalar::Float(f64::NAN),
            KeywordDefault::Largest => operand.largest(),
            KeywordDefault::Lowest => operand.lowest(),
        })
    }

    /// Whether the value equals its default.
    pub fn is_default(&self, value: Scalar) -> bool {
        let KeywordDefault::Number(default) = self.default else { return false };
        match (default(), value) {
            (Scalar::Int(default), Scalar::Int(value)) => value == default,
            (Scalar::Int(default), Scalar::Float(value)) => value == default as f64,
            (default, Scalar::Int(value)) => default == Scalar::Float(value as f64),
            (default, Scalar::Float(_)) => default == value,
            _ => false,
        }
    }

    /// Whether it is a tolerance, which must not be negative.
    pub fn is_tolerance(&self) -> bool {
        matches!(self.name, "rtol" | "atol")
    }

    /// Whether it may be any real number, whatever the category of the operands.
    pub fn is_real(&self) -> bool {
        !matches!(self.default, KeywordDefault::Number(number) if matches!(number(), Scalar::Int(_)))
    }
}

/// A name without the prefix `r#`, with which Rust marks names that are keywords.
pub const fn strip_raw(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [b'r', b'#', ..] => name.split_at(2).1,
        _ => name,
    }
}

impl DTypeClass {
    /// The dtype to which operands are converted, given their common dtype. The error says which dtypes are accepted.
    #[inline]
    pub fn operand_dtype(self, common: DType) -> std::result::Result<DType, &'static str> {
        if self.takes(common) {
            return Ok(common);
        }
        Err(match self {
            DTypeClass::field => return Ok(dtype::default_float()),
            DTypeClass::float | DTypeClass::floats if common.category() < Category::Float => {
                return Ok(dtype::default_float());
            }
            DTypeClass::counts => return Ok(DType::I64),
            DTypeClass::wide => return Ok(if common.is_complex() { DType::C128 } else { DType::F64 }),
            DTypeClass::num => "a number, not bool",
            DTypeClass::order => "a real number, not bool",
            DTypeClass::bits => "bool or an integer dtype",
            DTypeClass::int => "an integer dtype",
            _ => "a real dtype",
        })
    }

    /// Whether integers are computed in floats, so that two of them need no common integer dtype.
    #[inline]
    pub fn makes_floats(self) -> bool {
        matches!(self, DTypeClass::field | DTypeClass::float | DTypeClass::floats | DTypeClass::wide)
    }

    /// The accepted dtypes in words.
    pub fn words(self) -> &'static str {
        match self {
            DTypeClass::any => "any dtype",
            DTypeClass::num => "any dtype but bool",
            DTypeClass::counts => "any dtype; bool is converted to int64",
            DTypeClass::real => "any real dtype",
            DTypeClass::order => "any real dtype but bool",
            DTypeClass::bits => "bool and the integers",
            DTypeClass::int => "the integers",
            DTypeClass::field => "any dtype; integers and bool are converted to the default float",
            DTypeClass::float | DTypeClass::floats => {
                "any real dtype; integers and bool are converted to the default float"
            }
            DTypeClass::wide => "any dtype, converted to float64 or complex128",
            DTypeClass::select => "a bool condition, and any dtype",
        }
    }

    /// Whether operands of a dtype need no conversion.
    #[inline]
    pub fn takes(self, dtype: DType) -> bool {
        match self {
            DTypeClass::any | DTypeClass::select => true,
            DTypeClass::num | DTypeClass::counts => dtype != DType::Bool,
            DTypeClass::real => !dtype.is_complex(),
            DTypeClass::order => dtype != DType::Bool && !dtype.is_complex(),
            DTypeClass::bits => dtype.category() <= Category::Int,
            DTypeClass::int => dtype.category() == Category::Int,
            DTypeClass::field => dtype.category() >= Category::Float,
            DTypeClass::float | DTypeClass::floats => dtype.category() == Category::Float,
            DTypeClass::wide => matches!(dtype, DType::F64 | DType::C128),
        }
    }

    /// The dtype in which operands of a dtype are computed.
    #[inline]
    pub fn compute(self, operand: DType) -> DType {
        if matches!(self, DTypeClass::floats | DTypeClass::select) { operand } else { operand.compute() }
    }
}

impl ResultRule {
    #[inline]
    pub fn result_dtype(self, operand: DType) -> DType {
        match self {
            ResultRule::same => operand,
            ResultRule::bool => DType::Bool,
            ResultRule::part => operand.real(),
        }
    }
}

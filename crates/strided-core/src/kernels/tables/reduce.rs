//! Which code computes a reduction: the fold of an id for terms of a dtype, and the stages from elements to terms.

use super::map::{Body, kernels};
use crate::cpu;
use crate::dtype::{Category, DType};
use crate::error::Result;
use crate::kernels::item::ScalarBytes;
use crate::kernels::loops::ElementwiseKernels;
use crate::kernels::reduce::halves::Halves;
use crate::kernels::reduce::logsumexp::LogSumExpFold;
use crate::kernels::reduce::truth::{AllTrue, AnyTrue, CountIf, IsNan, IsNonzero};
use crate::kernels::reduce::{Reducer, Reduction, Stage, folds};
use crate::op_table::{Op, ReduceOp};
use crate::scalar::{Complex, Scalar};
use crate::switch;
use half::{bf16, f16};
use smallvec::SmallVec;

/// One step from elements to the terms of a reduction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TermStep {
    Cast(DType),
    /// NaN becomes 0.
    NanToZero,
    Abs,
    /// To the power of a number.
    Pow(f64),
    /// A comparison with 0.
    IsNonzero,
}

/// A reduction of elements of one dtype: its loops, and the stages from elements to terms.
pub struct ResolvedReduction {
    reducer: &'static Reducer,
    stages: SmallVec<[Stage; 3]>,
}

impl ResolvedReduction {
    /// Finds the code for elements of dtype `from`.
    #[inline]
    pub fn new(op: ReduceOp, from: DType, steps: &[TermStep]) -> Result<ResolvedReduction> {
        if reads_halves(op, from, steps) {
            return Ok(ResolvedReduction { reducer: reducer(op, from), stages: SmallVec::new() });
        }
        let mut terms = TermStages { dtype: from, stages: SmallVec::new() };
        for &step in steps {
            terms.push(step)?;
        }
        let mut op = op;
        if terms.needs_comparison(op) {
            terms.push(TermStep::IsNonzero)?;
        } else if op == ReduceOp::CountNan && (cpu::reference_kernels() || !is_full_float(terms.dtype)) {
            // The reference kernels, and dtypes without NaN or of halves, count the results of `isnan`.
            terms.map(Op::isnan, None)?;
            op = ReduceOp::CountNonzero;
        }
        let reducer = reducer(op, terms.dtype);
        debug_assert!(reducer.terms() == terms.dtype && reducer.has_identity() == op.has_identity());
        Ok(ResolvedReduction { reducer, stages: terms.stages })
    }

    /// `ordered` and `parameter` are those of [`Reduction`].
    #[inline]
    pub fn reduction(&self, ordered: bool, parameter: f64) -> Reduction<'_> {
        Reduction { reducer: self.reducer, stages: &self.stages, ordered, parameter }
    }
}

/// Whether a fold of float32 reads the halves themselves, without a cast. The reference kernels cannot, nor can CPUs without
/// instructions for it; folds of truth values compare with 0 instead.
#[inline]
fn reads_halves(op: ReduceOp, from: DType, steps: &[TermStep]) -> bool {
    let halves = matches!(from, DType::F16 | DType::BF16) && *steps == [TermStep::Cast(DType::F32)];
    halves && cpu::level() >= cpu::Level::Fused && !cpu::reference_kernels() && !is_count(op)
}

/// Whether the terms are truth values.
fn is_count(op: ReduceOp) -> bool {
    matches!(op, ReduceOp::All | ReduceOp::Any | ReduceOp::CountNonzero | ReduceOp::CountNan)
}

/// Whether elements are floats that kernels compute in.
fn is_full_float(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::F64)
}

/// The loops for terms of a dtype; halves are read as float32.
#[inline]
fn reducer(op: ReduceOp, terms: DType) -> &'static Reducer {
    macro_rules! fold {
        ($class:ident, $make:ident::<$fold:ty>) => {
            match terms {
                DType::F16 => const { &Reducer::$make::<Halves<$fold>, f16>() },
                DType::BF16 => const { &Reducer::$make::<Halves<$fold>, bf16>() },
                dtype => switch!(dtype, $class,
                    T => const { &Reducer::$make::<$fold, T>() },
                    else => unreachable!("rules refuse dtypes outside the class")),
            }
        };
    }
    // The folds of truth values see the bits of elements, so signed integers share the code of unsigned ones.
    macro_rules! truth {
        ($make:ident::<$($fold:ty),+>) => {
            match terms {
                DType::I8 => const { &Reducer::$make::<$($fold),+, u8>().reading(DType::I8) },
                DType::I16 => const { &Reducer::$make::<$($fold),+, u16>().reading(DType::I16) },
                DType::I32 => const { &Reducer::$make::<$($fold),+, u32>().reading(DType::I32) },
                DType::I64 => const { &Reducer::$make::<$($fold),+, u64>().reading(DType::I64) },
                dtype => switch!(@ dtype,
                    T => const { &Reducer::$make::<$($fold),+, T>() },
                    else => unreachable!("other dtypes are compared with 0 first");
                    Bool U8 U16 U32 U64 F32 F64),
            }
        };
    }
    // Sums and products of integers wrap, so signed ones share the code of unsigned ones.
    macro_rules! wrapping {
        ($fold:ty) => {
            match terms {
                DType::I8 => const { &Reducer::of_lanes::<$fold, u8>().signed(DType::I8) },
                DType::I16 => const { &Reducer::of_lanes::<$fold, u16>().signed(DType::I16) },
                DType::I32 => const { &Reducer::of_lanes::<$fold, u32>().signed(DType::I32) },
                DType::I64 => const { &Reducer::of_lanes::<$fold, u64>().signed(DType::I64) },
                DType::F16 => const { &Reducer::of_lanes::<Halves<$fold>, f16>() },
                DType::BF16 => const { &Reducer::of_lanes::<Halves<$fold>, bf16>() },
                dtype => switch!(@ dtype,
                    T => const { &Reducer::of_lanes::<$fold, T>() },
                    else => unreachable!("all dtypes are listed");
                    Bool U8 U16 U32 U64 F32 F64 C64 C128),
            }
        };
    }
    match op {
        ReduceOp::Sum => wrapping!(folds::Sum),
        ReduceOp::NanSum if terms.category() < Category::Float => reducer(ReduceOp::Sum, terms),
        ReduceOp::NanSum => fold!(field, of_lanes::<folds::NanSum>),
        ReduceOp::Prod => wrapping!(folds::Prod),
        ReduceOp::Mean => fold!(field, of_lanes::<folds::Mean>),
        ReduceOp::Max => fold!(real, of_lanes::<folds::Max>),
        ReduceOp::Min => fold!(real, of_lanes::<folds::Min>),
        ReduceOp::MinMax => fold!(real, of::<folds::MinMax>),
        ReduceOp::ArgMax => fold!(real, of::<folds::ArgExtreme<folds::Max>>),
        ReduceOp::ArgMin => fold!(real, of::<folds::ArgExtreme<folds::Min>>),
        ReduceOp::All => truth!(of_lanes::<AllTrue>),
        ReduceOp::Any => truth!(of_lanes::<AnyTrue>),
        ReduceOp::CountNonzero => truth!(with_lanes::<CountIf<IsNonzero>, CountIf<IsNonzero>>),
        ReduceOp::CountNan => switch!(terms, float,
            T => const { &Reducer::with_lanes::<CountIf<IsNan>, CountIf<IsNan>, T>() },
            else => unreachable!("other dtypes count the results of isnan")),
        ReduceOp::Var => fold!(float, of::<folds::Variance<false>>),
        ReduceOp::Std => fold!(float, of::<folds::Variance<true>>),
        ReduceOp::LogSumExp if terms == DType::C128 => {
            const { &Reducer::of::<LogSumExpFold, Complex<f64>>() }
        }
        ReduceOp::LogSumExp => fold!(float, of::<LogSumExpFold>),
        ReduceOp::Norm2 => fold!(field, of_lanes::<folds::Norm2>),
    }
}

/// The stages from elements to terms, and the dtype after the last one.
struct TermStages {
    dtype: DType,
    stages: SmallVec<[Stage; 3]>,
}

impl TermStages {
    fn push(&mut self, step: TermStep) -> Result<()> {
        match step {
            TermStep::Cast(dtype) => self.cast(dtype),
            TermStep::NanToZero => self.nan_to_zero(),
            TermStep::Abs => return self.map(Op::abs, None),
            TermStep::Pow(p) => return self.map(Op::pow, Some(Scalar::Float(p))),
            TermStep::IsNonzero if self.dtype == DType::Bool => {}
            TermStep::IsNonzero => return self.map(Op::ne, Some(Scalar::Int(0))),
        }
        Ok(())
    }

    fn cast(&mut self, dtype: DType) {
        if self.dtype != dtype {
            self.stages.push(Stage::cast(self.dtype, dtype));
            self.dtype = dtype;
        }
    }

    /// Adds an elementwise operation, whose second operand is a scalar if it has one.
    fn map(&mut self, op: Op, scalar: Option<Scalar>) -> Result<()> {
        self.cast(self.dtype.compute());
        let kernels = kernels(op, Body::First, self.dtype).expect("the operation has kernels for the dtype");
        let bytes = scalar.map_or(Ok(ScalarBytes::EMPTY), |scalar| ScalarBytes::new(scalar, self.dtype))?;
        self.stages.push(Stage::map(kernels, bytes));
        self.dtype = kernels.result();
        Ok(())
    }

    /// Adds the replacement of NaN by 0, where the dtype has NaNs.
    fn nan_to_zero(&mut self) {
        self.cast(self.dtype.compute());
        let kernels = switch!(self.dtype, float,
            T => Some(const { ElementwiseKernels::of::<folds::NanToZero, T, 1>() }), else => None);
        self.stages.extend(kernels.map(|kernels| Stage::map(&kernels, ScalarBytes::EMPTY)));
    }

    /// Whether a fold of truth values compares the terms with 0 first. Rare dtypes do, and the reference kernels: code that
    /// reads complex numbers and halves would be the larger half of all.
    fn needs_comparison(&self, op: ReduceOp) -> bool {
        let is_rare = self.dtype.is_complex() || matches!(self.dtype, DType::F16 | DType::BF16);
        is_count(op) && op != ReduceOp::CountNan && (is_rare || cpu::reference_kernels())
    }
}

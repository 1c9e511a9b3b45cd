//! Covariances and correlation coefficients.

use crate::convert::args::TensorArg;
use crate::convert::results::{own, placed_as_large};
use strided_core::ops::covariance::{self, Weights};

methods! { rows(py, x: TensorArg):
    /// The covariances of variables, which are rows; columns are observations. `fweights` says how often each
    /// observation was made, `aweights` how much it counts.
    ///
    /// >>> strided.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]).cov().tolist()
    /// [[1.0, -1.0], [-1.0, 1.0]]
    both cov(; correction: isize = 1, fweights: Option<TensorArg> = None, aweights: Option<TensorArg> = None) => {
        let (frequency, importance) = (own(fweights), own(aweights));
        let weights = Weights { frequency: frequency.as_ref(), importance: importance.as_ref() };
        placed_as_large(py, x, x.size().saturating_mul(x.size()), None, |x, _| covariance::cov(x, correction as f64, weights).map(Some))
    };

    /// The correlation coefficients of variables, which are rows; columns are observations.
    ///
    /// >>> strided.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]).corrcoef().tolist()
    /// [[1.0, -1.0], [-1.0, 1.0]]
    both corrcoef()
        => placed_as_large(py, x, x.size().saturating_mul(x.size()), None, |x, _| covariance::corrcoef(x).map(Some));
}

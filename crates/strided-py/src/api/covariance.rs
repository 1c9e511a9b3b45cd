//! Covariances and correlation coefficients.

use crate::convert::args::TensorArg;
use crate::convert::results::{call_with_work, cloned};
use strided_core::ops::covariance::{self, Weights};
use strided_core::ops::work;

methods! { rows(py, x: TensorArg):
    /// The covariance matrix of variables, which are rows; columns are observations. `fweights` is the frequency of each
    /// observation, `aweights` its weight.
    ///
    /// >>> strided.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]).cov().tolist()
    /// [[1.0, -1.0], [-1.0, 1.0]]
    both cov(; correction: isize = 1, fweights: Option<TensorArg> = None, aweights: Option<TensorArg> = None) => {
        let (frequency, importance) = (cloned(fweights), cloned(aweights));
        let weights = Weights { frequency: frequency.as_ref(), importance: importance.as_ref() };
        call_with_work(py, [x], work::pairs(x.size()), None, |[x], _| covariance::cov(x, correction as f64, weights))
    };

    /// The correlation coefficients of variables, which are rows; columns are observations.
    ///
    /// >>> strided.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]).corrcoef().tolist()
    /// [[1.0, -1.0], [-1.0, 1.0]]
    both corrcoef()
        => call_with_work(py, [x], work::pairs(x.size()), None, |[x], _| covariance::corrcoef(x));
}

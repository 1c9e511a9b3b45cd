//! Methods of Generator.

use crate::abi::errors::Fail;
use crate::abi::refs::{new_ref, new_tuple, to_py};
use crate::abi::tensor_object::wrap;
use crate::classes::dtype::PyDevice;
use crate::classes::generator::{GeneratorArg, PyGenerator, Seed};
use crate::convert::args::TensorArg;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use strided_core::Device;
use strided_core::ops::random;

methods! { rows(py, x: GeneratorArg):
    /// Starts anew with a seed, and returns the generator.
    ///
    /// >>> g = strided.Generator()
    /// >>> g.manual_seed(5).initial_seed()
    /// 5
    method manual_seed(seed: Seed) -> "Self" => {
        x.set_seed(seed.0);
        Ok(new_ref(x.object))
    };

    /// Starts anew with a seed from the system, and returns that.
    ///
    /// >>> g = strided.Generator()
    /// >>> g.seed() == g.initial_seed()
    /// True
    method seed() -> "int" => to_py(py, x.seed_from_entropy());

    /// The seed it was started with.
    ///
    /// >>> strided.Generator(3).initial_seed()
    /// 3
    method initial_seed() -> "int" => to_py(py, x.seed());

    /// The state as a uint8 tensor, for `set_state`.
    ///
    /// >>> g = strided.Generator(3)
    /// >>> state = g.get_state()
    /// >>> x = strided.rand(2, generator=g)
    /// >>> g.set_state(state)
    /// >>> strided.rand(2, generator=g).equal(x)
    /// True
    method get_state() => wrap(py, random::state(&x)?);

    /// Restores a state that `get_state` returned.
    ///
    /// >>> g, h = strided.Generator(3), strided.Generator()
    /// >>> h.set_state(g.get_state())
    /// >>> h.initial_seed()
    /// 3
    method set_state(new_state: TensorArg) -> "None" => {
        random::set_state(&x, &new_state)?;
        to_py(py, py.None())
    };

    /// Several generators whose numbers are independent of each other's and of this one's, for threads and processes.
    /// Their seeds are drawn from this generator: it returns others the next time.
    ///
    /// >>> a, b = strided.Generator(3).split(2)
    /// >>> strided.rand(2, generator=a).equal(strided.rand(2, generator=b))
    /// False
    method split(n: isize) alias spawn -> "tuple[Generator, ...]" => {
        let count = usize::try_from(n).map_err(|_| Fail::Value(format!("n is {n}, wanted 0 or more")))?;
        new_tuple(py, (0..count).map(|_| to_py(py, PyGenerator::with(x.split()))))
    };

    /// A copy, and a pickled generator, is a generator of its own with the same state.
    method __reduce__() -> "tuple[Any, ...]" => {
        to_py(py, (x.object.get_type(), PyTuple::empty(py), PyBytes::new(py, &x.state())))
    };

    /// Restores the state of a pickled generator.
    method __setstate__(state: &[u8]) -> "None" => {
        x.set_state(state)?;
        to_py(py, py.None())
    };
}

properties! { properties(py, x: GeneratorArg):
    /// The device of the numbers it draws.
    ///
    /// >>> strided.Generator().device
    /// device(type='cpu')
    device -> "device" => to_py(py, PyDevice(Device::Cpu));
}

//! The properties of Tensor.

use super::conversion::gpu_number;
use crate::abi::refs::to_py;
use crate::classes::dtype::{self, PyDevice};
use crate::classes::layout::PyLayout;
use crate::classes::size::size_of_tensor;
use crate::convert::args::TensorArg;
use crate::convert::arrays;
use crate::convert::results::view;
use strided_core::Device;
use strided_core::layout::Dims;

properties! { properties(py, x: TensorArg):
    /// The extents, as a Size.
    ///
    /// >>> strided.zeros(2, 3).shape
    /// strided.Size([2, 3])
    shape -> "Size" => size_of_tensor(x);

    /// The dtype of the elements.
    ///
    /// >>> strided.zeros(2, 3).dtype
    /// strided.float32
    dtype -> "dtype" => to_py(py, dtype::object(py, x.dtype()));

    /// The device of the memory.
    ///
    /// >>> strided.zeros(2, 3).device
    /// device(type='cpu')
    device -> "device" => to_py(py, PyDevice(x.device()));

    /// Whether the memory is on a GPU, of any maker: PyTorch's name for `is_gpu`.
    ///
    /// >>> strided.zeros(2).is_cuda
    /// False
    is_cuda -> "bool" => to_py(py, gpu_number(x.device()) >= 0);

    /// Whether the memory is on a GPU.
    ///
    /// >>> strided.zeros(2).is_gpu
    /// False
    is_gpu -> "bool" => to_py(py, gpu_number(x.device()) >= 0);

    /// Whether the memory is that of the CPU.
    ///
    /// >>> strided.zeros(2).is_cpu
    /// True
    is_cpu -> "bool" => to_py(py, x.device() == Device::Cpu);

    /// Shape, strides and offset, as a Layout.
    ///
    /// >>> strided.zeros(2, 3).t().layout
    /// Layout(shape=(3, 2), stride=(1, 3), offset=0)
    layout -> "Layout" => to_py(py, PyLayout(x.layout().clone()));

    /// The number of dims.
    ///
    /// >>> strided.zeros(2, 3).ndim
    /// 2
    ndim -> "int" => to_py(py, x.layout().rank());

    /// Bytes per element.
    ///
    /// >>> strided.zeros(2, 3).itemsize
    /// 4
    itemsize -> "int" => to_py(py, x.dtype().size());

    /// Bytes of all elements.
    ///
    /// >>> strided.zeros(2, 3).nbytes
    /// 24
    nbytes -> "int" => to_py(py, x.size() * x.dtype().size());

    /// A view with the dims in reverse order.
    ///
    /// >>> strided.zeros(2, 3, 4).T.shape
    /// strided.Size([4, 3, 2])
    T -> "Tensor" => {
        let reversed: Dims = (0..x.layout().rank() as isize).rev().collect();
        view(py, &x, x.layout().permute(&reversed))
    };

    /// A view with the last two dims swapped.
    ///
    /// >>> strided.zeros(2, 3, 4).mT.shape
    /// strided.Size([2, 4, 3])
    mT -> "Tensor" => view(py, &x, x.layout().transpose(-2, -1));

    /// Address, shape, strides and type of the elements in NumPy's format, for libraries that use no buffer. The storage
    /// cannot be resized from then on, because consumers never release the address.
    ///
    /// >>> strided.zeros(2, 3).__array_interface__['typestr']
    /// '<f4'
    __array_interface__ -> "dict[str, Any]" => arrays::interface(py, &x);

    /// Whether gradients are recorded: never.
    ///
    /// >>> strided.zeros(2).requires_grad
    /// False
    requires_grad -> "bool" => to_py(py, false);
}

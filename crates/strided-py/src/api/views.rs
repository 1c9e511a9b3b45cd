//! Views: tensors on the same storage with another layout. None of them copies.

use crate::abi::Arg;
use crate::abi::bind::Args;
use crate::abi::errors::CallResult;
use crate::abi::storage_object::read_storage;
use crate::abi::tensor_object::wrap;
use crate::classes::layout::LayoutArg;
use crate::convert::args::{FromArg, Ints, MemoryArg, Rest, TensorArg, missing, wrong_type};
use crate::convert::in_place::Target;
use crate::convert::results::{call, view};
use crate::convert::tensors::SectionsArg;
use strided_core::layout::Dims;
use strided_core::ops::copy;
use strided_core::{DType, Layout, Tensor};

methods! { rows(py, x: TensorArg):
    /// A view of `length` indices of a dim, from `start` on.
    ///
    /// >>> x = strided.zeros(5)
    /// >>> x.narrow(0, 1, 2).fill_(1)
    ///  1
    ///  1
    /// [strided.FloatTensor of size 2]
    /// >>> x.tolist()
    /// [0.0, 1.0, 1.0, 0.0, 0.0]
    view narrow(dim | axis: isize, start: isize, length: isize) => x.narrow(dim, start, length);

    /// A view of one index of a dim, without that dim.
    ///
    /// >>> strided.arange(6).view(2, 3).select(0, 1).tolist()
    /// [3, 4, 5]
    view select(dim | axis: isize, index: isize) => x.select(dim, index);

    /// The same elements in another shape, as a view; one size may be -1. With a dtype: the same bytes as
    /// elements of that dtype. Refused if the strides require a copy (see `reshape`).
    ///
    /// >>> x = strided.arange(6)
    /// >>> x.view(2, -1).shape
    /// strided.Size([2, 3])
    /// >>> strided.ones(1).view(strided.int32).item()
    /// 1065353216
    both view(size | shape | dtype: SizesOrDType)
        -> ["(*size: SupportsIndex) -> Tensor", "(size: _Sizes) -> Tensor", "(*, shape: _Sizes) -> Tensor", "(dtype: _DTypeLike) -> Tensor"] => match size {
        SizesOrDType::Shape(shape) => view(py, &x, x.layout().view(&shape)),
        SizesOrDType::DType(dtype) => wrap(py, x.reinterpret(dtype)?),
    };

    /// The view of the same elements in the shape of another tensor.
    ///
    /// >>> strided.arange(6).view_as(strided.zeros(3, 2)).shape
    /// strided.Size([3, 2])
    view view_as(other: LayoutArg) => x.view(&other.layout.shape());

    /// The same elements in another shape: a view if the strides allow it, otherwise a copy.
    ///
    /// >>> strided.arange(6).view(2, 3).t().reshape(6).tolist()
    /// [0, 3, 1, 4, 2, 5]
    both reshape(shape | size: Rest) => {
        let shape = shape.require("shape")?;
        call(py, [x], None, |[x], _| copy::reshape(x, shape))
    };

    /// The elements in the shape of another tensor: a view if the strides allow it.
    ///
    /// >>> strided.arange(4).reshape_as(strided.zeros(2, 2)).tolist()
    /// [[0, 1], [2, 3]]
    both reshape_as(other: TensorArg) => {
        let shape = other.layout().shape();
        call(py, [x], None, |[x], _| copy::reshape(x, &shape))
    };

    /// Dims `start_dim` to `end_dim` as one: a view if the strides allow it.
    ///
    /// >>> strided.zeros(2, 3, 4).flatten(1).shape
    /// strided.Size([2, 12])
    both flatten(start_dim: isize = 0, end_dim: isize = -1) => {
        let shape = x.layout().flatten_shape(start_dim, end_dim)?;
        call(py, [x], None, |[x], _| copy::reshape(x, &shape))
    };

    /// All elements as one dim: a view if the strides allow it.
    ///
    /// >>> strided.arange(4).view(2, 2).ravel().tolist()
    /// [0, 1, 2, 3]
    both ravel() => call(py, [x], None, |[x], _| copy::reshape(x, &[-1]).or_else(|_| copy::reshape(x, &[0])));

    /// The transpose of a matrix; tensors of fewer dims are unchanged.
    ///
    /// >>> strided.zeros(2, 3).t().shape
    /// strided.Size([3, 2])
    view t() also t_ => transposed(x);

    /// A view with two dims swapped.
    ///
    /// >>> strided.zeros(2, 3, 4).transpose(0, 2).shape
    /// strided.Size([4, 3, 2])
    view transpose(dim0 | axis0: isize, dim1 | axis1: isize) also transpose_ alias swapdims => x.transpose(dim0, dim1);

    /// A view with two dims swapped: another name for `transpose`.
    ///
    /// >>> strided.zeros(2, 3, 4).swapaxes(0, 1).shape
    /// strided.Size([3, 2, 4])
    view swapaxes(axis0 | dim0: isize, axis1 | dim1: isize) => x.transpose(axis0, axis1);

    /// A view with the dims in the given order.
    ///
    /// >>> strided.zeros(2, 3, 4).permute(2, 0, 1).shape
    /// strided.Size([4, 2, 3])
    view permute(dims: Rest) => x.permute(dims.require("dims")?);

    /// A view with some dims moved to other positions.
    ///
    /// >>> strided.zeros(2, 3, 4).movedim(0, -1).shape
    /// strided.Size([3, 4, 2])
    view movedim(source: Ints, destination: Ints) alias moveaxis => x.movedim(&source.ints, &destination.ints);

    /// A view in which dims of extent 1 are repeated to any extent (stride 0); -1 keeps an extent, and new dims may come
    /// first.
    ///
    /// >>> strided.arange(3).expand(2, 3).stride()
    /// (0, 1)
    view expand(size | shape: Rest) alias broadcast_to => x.expand(size.require("size")?);

    /// `expand` to the shape of another tensor.
    ///
    /// >>> strided.zeros(3, 1).expand_as(strided.zeros(3, 4)).stride()
    /// (1, 0)
    view expand_as(other: LayoutArg) => x.expand(&other.layout.shape());

    /// A view with a new dim of extent 1.
    ///
    /// >>> strided.zeros(3).unsqueeze(0).shape
    /// strided.Size([1, 3])
    view unsqueeze(dim | axis: isize) also unsqueeze_ => x.unsqueeze(dim);

    /// A view without the dims of extent 1, or without those among the given dims.
    ///
    /// >>> strided.zeros(1, 3, 1).squeeze().shape
    /// strided.Size([3])
    view squeeze(dim | axis: Option<Ints> = None) also squeeze_ => squeezed(x, dim);

    /// A view of all windows of `size` indices of a dim, `step` apart; the window is a new last dim.
    ///
    /// >>> strided.arange(5).unfold(0, 3, 1).tolist()
    /// [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    view unfold(dim | dimension | axis: isize, size: isize, step: isize) => x.unfold(dim, size, step);

    /// A view of the diagonal of two dims, which becomes the last dim.
    ///
    /// >>> strided.arange(9).view(3, 3).diagonal(1).tolist()
    /// [1, 5]
    view diagonal(offset: isize = 0, dim1 | axis1: isize = 0, dim2 | axis2: isize = 1)
        => x.diagonal(offset, dim1, dim2);

    /// A view with dims reversed (negative strides); all dims if none is given.
    ///
    /// >>> strided.arange(3).flip(0).tolist()
    /// [2, 1, 0]
    view flip(dims | dim | axis: Rest) => {
        let all = || (0..x.rank() as isize).collect::<Dims>();
        match dims.ints() {
            Some(dims) => x.flip(dims),
            None => x.flip(&all()),
        }
    };

    /// A view with the order of columns reversed: dim 1 is flipped.
    ///
    /// >>> strided.arange(4).view(2, 2).fliplr().tolist()
    /// [[1, 0], [3, 2]]
    view fliplr() => x.flip_one(1);

    /// A view with the order of rows reversed: dim 0 is flipped.
    ///
    /// >>> strided.arange(4).view(2, 2).flipud().tolist()
    /// [[2, 3], [0, 1]]
    view flipud() => x.flip_one(0);

    /// A view rotated by `k` quarter turns in the plane of two dims (0 and 1 unless given), from the first towards the second.
    ///
    /// >>> strided.arange(4).view(2, 2).rot90().tolist()
    /// [[1, 3], [0, 2]]
    view rot90(k: isize = 1, dims | axes: Option<Ints> = None)
        => x.rot90(k, dims.as_ref().map_or(&[0, 1][..], |dims| &dims.ints));

    /// A view in which sequentially contiguous modes are folded into one; if no modes are given, all of them in order of
    /// location.
    ///
    /// >>> strided.zeros(2, 3, 4).fold((2, 1)).shape
    /// strided.Size([2, 12])
    view fold(modes: Rest) => match modes.ints() {
        None => x.fold_all(),
        Some(modes) => x.fold(modes),
    };

    /// A view in which one dim is split into several; one size may be -1. The inverse of `fold`.
    ///
    /// >>> strided.zeros(2, 12).unflatten(1, (3, -1)).shape
    /// strided.Size([2, 3, 4])
    view unflatten(dim | axis: isize, sizes | unflattened_size: Ints) => x.unflatten(dim, &sizes.ints);

    /// A view of any shape, strides and offset within the storage.
    ///
    /// >>> strided.arange(4).as_strided((2, 2), (1, 1)).tolist()
    /// [[0, 1], [1, 2]]
    method as_strided(size | shape: Ints, stride | strides: Ints, storage_offset | offset: Option<isize> = None) also as_strided_ => {
        let offset = storage_offset.unwrap_or(x.layout().offset());
        let layout = Layout::strided(&size.ints, &stride.ints, offset)?;
        x.take_view(py, Tensor::from_storage(x.storage().clone(), x.dtype(), layout)?)
    };

    /// A tensor of any shape, strides and offset within a storage, or within the storage of a tensor. The default offset is
    /// that of the tensor, or 0 of a storage.
    ///
    /// >>> strided.as_strided(strided.LongStorage([1, 2, 3]), (2, 2), (1, 1)).tolist()
    /// [[1, 2], [2, 3]]
    function as_strided(input: MemoryArg, size | shape: Ints, stride | strides: Ints, storage_offset | offset: Option<isize> = None) => {
        let (storage, dtype, own_offset) = if let Some(x) = TensorArg::read(input.0)? {
            (x.storage().clone(), x.dtype(), x.layout().offset())
        } else if let Some(storage) = read_storage(input.0) {
            (storage.bytes.clone(), storage.dtype, 0)
        } else {
            return Err(wrong_type(input.0, "input", "a Tensor or a Storage"));
        };
        let layout = Layout::strided(&size.ints, &stride.ints, storage_offset.unwrap_or(own_offset))?;
        wrap(py, Tensor::from_storage(storage, dtype, layout)?)
    };

    /// A tuple of views, one for each index of a dim.
    ///
    /// >>> x, y = strided.arange(6).view(2, 3).unbind()
    /// >>> y.tolist()
    /// [3, 4, 5]
    view unbind(dim | axis: isize = 0) -> "tuple[{}, ...]" => x.unbind(dim);

    /// A tuple of views: pieces of `split_size` indices of a dim (the last may be smaller), or of the sizes
    /// in a list.
    ///
    /// >>> [p.tolist() for p in strided.arange(5).split(2)]
    /// [[0, 1], [2, 3], [4]]
    view split(split_size | split_size_or_sections | size: Ints, dim | axis: isize = 0) -> "tuple[{}, ...]" => match split_size {
        Ints { ints: sizes, sequence: false } => x.split(dim, sizes[0]),
        Ints { ints: sizes, sequence: true } => x.split_sizes(dim, &sizes),
    };

    /// A tuple of at most `chunks` views of equal size (the last may be smaller).
    ///
    /// >>> [p.tolist() for p in strided.arange(5).chunk(2)]
    /// [[0, 1, 2], [3, 4]]
    view chunk(chunks: isize, dim | axis: isize = 0) -> "tuple[{}, ...]" => x.chunk(dim, chunks);

    /// A tuple of views: a number of nearly equal pieces, or pieces between the given indices.
    ///
    /// >>> [p.tolist() for p in strided.arange(5).tensor_split(3)]
    /// [[0, 1], [2, 3], [4]]
    /// >>> [p.tolist() for p in strided.arange(5).tensor_split((1, 3))]
    /// [[0], [1, 2], [3, 4]]
    view tensor_split(indices_or_sections | tensor_indices_or_sections | sections | indices: SectionsArg, dim | axis: isize = 0) -> "tuple[{}, ...]"
        => x.tensor_split_by(dim, indices_or_sections.sections());

    /// A tuple of views side by side: pieces of equal size along the second dim (the only one of a vector), or pieces between
    /// the given indices.
    ///
    /// >>> [p.tolist() for p in strided.arange(4).view(2, 2).hsplit(2)]
    /// [[[0], [2]], [[1], [3]]]
    view hsplit(indices_or_sections | sections | indices: SectionsArg) -> "tuple[{}, ...]" => x.hsplit(indices_or_sections.sections());

    /// A tuple of views: pieces of equal size along the first dim, or pieces between the given indices.
    ///
    /// >>> [p.tolist() for p in strided.arange(4).view(2, 2).vsplit(2)]
    /// [[[0, 1]], [[2, 3]]]
    view vsplit(indices_or_sections | sections | indices: SectionsArg) -> "tuple[{}, ...]" => x.vsplit(indices_or_sections.sections());

    /// A tuple of views: pieces of equal size along the third dim, or pieces between the given indices.
    ///
    /// >>> [p.shape for p in strided.zeros(2, 2, 5).dsplit([1, 3])]
    /// [strided.Size([2, 2, 1]), strided.Size([2, 2, 2]), strided.Size([2, 2, 2])]
    view dsplit(indices_or_sections | sections | indices: SectionsArg) -> "tuple[{}, ...]" => x.dsplit(indices_or_sections.sections());
}

/// The argument of `view`: sizes or a dtype.
enum SizesOrDType {
    Shape(Dims),
    DType(DType),
}

impl<'a> FromArg<'a> for SizesOrDType {
    const WANTED: &'static str = "ints or a dtype";
    const STUB: &'static str = "_Ints | _DTypeLike";
    const REST: Option<&'static str> = Some(isize::STUB);
    fn read(object: Arg<'a>) -> CallResult<Option<SizesOrDType>> {
        if let Some(ints) = Ints::read(object)? {
            return Ok(Some(SizesOrDType::Shape(ints.ints)));
        }
        Ok(DType::read(object)?.map(SizesOrDType::DType))
    }
    fn from_args(args: &Args<'a>, at: usize, name: &'static str) -> CallResult<SizesOrDType> {
        match (args.rest, args.slots[at]) {
            ([], None) => Err(missing(name)),
            ([], Some(keyword)) => SizesOrDType::from_arg(keyword, name),
            ([one], _) => SizesOrDType::from_arg(*one, name),
            (many, _) => {
                let mut shape = Dims::new();
                for &object in many {
                    shape.push(isize::from_arg(object, name)?);
                }
                Ok(SizesOrDType::Shape(shape))
            }
        }
    }
}

fn transposed(layout: &Layout) -> strided_core::Result<Layout> {
    match layout.rank() {
        0 | 1 => Ok(layout.clone()),
        2 => layout.transpose(0, 1),
        rank => {
            let problem = strided_core::Problem::Rank { rank, wanted: "at most 2" };
            Err(strided_core::Error::new(problem))
        }
    }
}

fn squeezed(layout: &Layout, dims: Option<Ints>) -> strided_core::Result<Layout> {
    match dims {
        None => Ok(layout.squeeze_all()),
        Some(dims) => layout.squeeze(&dims.ints),
    }
}

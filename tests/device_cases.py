"""What works on memory that the host cannot address: one call for each public function, method and property.

A call is a text. In it, `x` is a float32 matrix of shape 3x4 on the device, and so are the other names of `tensors`. Calls of
methods that are functions as well are made in both forms. The elementwise operations follow from the op table: they all need
elements, and so do the operators.
"""

import strided as st

#: Name -> shape and dtype of the tensors on the device.
TENSORS = {
    "x": ((3, 4), st.float32),
    "y": ((3, 4), st.float32),
    "m": ((4, 3), st.float32),
    "v": ((4,), st.float32),
    "u": ((3,), st.float32),
    "b": ((2, 3, 4), st.float32),
    "c": ((2, 4, 3), st.float32),
    "e": ((3, 3), st.float32),
    "o": ((1,), st.float32),
    "p": ((3, 2), st.float32),
    "f": ((2, 2, 2), st.float32),
    "n": ((), st.int64),
    "i": ((3,), st.int64),
    "j": ((3, 4), st.int64),
    "a": ((12,), st.int64),
    "k": ((3, 4), st.bool),
    "z": ((3, 4), st.complex64),
    "s": ((32,), st.uint8),
}


def tensors():
    """New tensors on the device, by name."""
    return {name: st._strided._unaddressable(size, dtype) for name, (size, dtype) in TENSORS.items()}


#: Views, queries and handles.
WORKS = """
x.T
x.mT
x.real
z.imag
x.device
x.dtype
x.is_cpu
x.is_cuda
x.is_gpu
x.itemsize
x.layout
x.nbytes
x.ndim
x.requires_grad
x.shape
x.__array_priority__
x.__module__
x.size()
x.as_strided((2, 2), (1, 1))
x.as_strided_((2, 2), (1, 1))
x.astype(st.float32, copy=False)
x.broadcast_to((2, 3, 4))
x.chunk(2)
x.contiguous()
x.diagonal()
x.dim()
b.dsplit(2)
x.element_size()
x.expand(2, 3, 4)
x.expand_as(b)
x.flatten()
x.flip(0)
x.fliplr()
x.flipud()
x.float()
x.fold((1, 0))
x.get_device()
x.hsplit(2)
x.is_complex()
x.is_contiguous()
x.is_floating_point()
x.is_pinned()
x.is_same_size(y)
x.is_set_to(y)
x.is_shared()
x.is_signed()
x.moveaxis(0, 1)
x.movedim(0, 1)
x.narrow(0, 0, 1)
x.ndimension()
x.nelement()
x.new_empty((2, 2))
x.new_empty_strided((2, 2), (2, 1))
x.numel()
x.owns_storage()
x.permute(1, 0)
x.ravel()
x.reshape(4, 3)
x.reshape_as(m)
x.resize_(2, 2)
x.resize_as_(m)
x.rot90()
x.select(0, 1)
x.set_(y)
x.split(1)
x.squeeze()
x.squeeze_()
x.storage()
x.storageOffset()
x.storage_offset()
x.stride()
x.swapaxes(0, 1)
x.swapdims(0, 1)
x.t()
x.t_()
x.tensor_split(2)
x.to(st.float32)
x.transpose(0, 1)
x.transpose_(0, 1)
x.type()
x.type_as(y)
x.unbind()
x.unflatten(0, (3, 1))
x.unfold(0, 2, 1)
x.unsqueeze(0)
x.unsqueeze_(0)
x.view(4, 3)
x.view_as(m)
p.view_as_complex()
z.view_as_real()
x.vsplit(3)
x.__len__()
x.__iter__()
x.__getitem__(0)
x.__copy__()
x.__hash__()
x.__sizeof__()
x.__reduce_ex__(2)
st.as_tensor(x)
st.asarray(x)
st.atleast_1d(x)
st.atleast_2d(x)
st.atleast_3d(x)
st.broadcast_shapes((3, 4), (4,))
st.broadcast_tensors(x, v)
st.can_cast(st.int8, st.float32)
st.cartesian_prod(v)
st.empty((2, 2), device=x.device)
st.empty_like(x)
st.empty_strided((2, 2), (2, 1), device=x.device)
st.is_storage(x)
st.is_tensor(x)
st.meshgrid(v, u)
st.promote_types(st.int8, st.float32)
st.result_type(x, y)
"""

#: Everything that reads or writes an element, exports an address, or prints.
REFUSES = """
x.__array__()
x.__array_interface__
o.__bool__()
x.__bytes__()
o.__complex__()
x.__contains__(1)
x.__deepcopy__({})
x.__dlpack__()
x.__dlpack_device__()
o.__float__()
x.__format__('')
n.__index__()
n.__int__()
x.__repr__()
x.__round__()
x.__setitem__(0, 1.0)
x.__str__()
x._repr_html_()
e.addbmm(b, c)
e.addbmm_(b, c)
e.addmm(x, m)
e.addmm_(x, m)
u.addmv(x, v)
u.addmv_(x, v)
x.addr(u, v)
x.addr_(u, v)
x.all()
x.allclose(y)
x.amax()
x.amin()
x.aminmax()
x.any()
x.apply_(abs)
x.argmax()
x.argmin()
x.argsort()
x.argwhere()
f.baddbmm(f, f)
f.baddbmm_(f, f)
x.bernoulli()
x.bernoulli_()
x.bfloat16()
a.bincount()
b.bmm(c)
x.bool()
x.byte()
x.cauchy_()
x.cdouble()
x.cfloat()
x.char()
x.clone()
z.conj()
x.conv2(e)
b.conv3(b)
x.copy()
x.copy_(y)
x.corrcoef()
x.count_nonzero()
x.cov()
x.cpu()
x.cross(y)
x.cuda()
x.cummax(0)
x.cummin(0)
x.cumprod(0)
x.cumprod_(0)
x.cumsum(0)
x.cumsum_(0)
x.data_ptr()
x.diag()
x.diag_embed()
x.diagflat()
x.diagonal_scatter(u)
x.diff()
x.dist(y)
v.dot(v)
x.double()
x.equal(y)
x.exponential_()
x.fill_(1)
x.fill_diagonal_(1)
x.gather(0, j)
x.geometric_(0.5)
u.ger(v)
x.gpu()
x.half()
x.histc()
x.histogram(5)
x.index_add(0, i, y)
x.index_add_(0, i, y)
x.index_copy(0, i, y)
x.index_copy_(0, i, y)
x.index_fill(0, i, 1)
x.index_fill_(0, i, 1)
x.index_put((i,), y)
x.index_put_((i,), y)
x.index_reduce(0, i, y, 'prod')
x.index_reduce_(0, i, y, 'prod')
x.index_select(0, i)
x.inner(y)
x.int()
x.item(0, 0)
x.kron(y)
x.kthvalue(1)
x.log_normal_()
x.log_softmax(0)
x.logcumsumexp(0)
x.logsumexp(0)
x.long()
x.map2_(y, y, lambda p, q, r: p)
x.map_(y, lambda p, q: p)
x.masked_copy(k, y)
x.masked_copy_(k, y)
x.masked_fill(k, 1)
x.masked_fill_(k, 1)
x.masked_scatter(k, y)
x.masked_scatter_(k, y)
x.masked_select(k)
x.matmul(m)
x.max()
x.mean()
x.median()
x.min()
x.mm(m)
x.mode()
x.msort()
x.multinomial(2)
x.mv(v)
x.nanmean()
x.new((2, 2))
x.nanmedian()
x.nanquantile(0.5)
x.nansum()
x.new_full((2, 2), 1)
x.new_ones((2, 2))
x.new_tensor([1.0])
x.new_zeros((2, 2))
x.nonzero()
x.norm()
x.normal_()
x.numpy()
u.outer(v)
x.pin_memory()
x.prod()
x.put(j, y)
x.put_(j, y)
x.quantile(0.5)
x.random_()
x.renorm(2, 0, 1)
x.renorm_(2, 0, 1)
x.repeat(2, 1)
x.repeat_interleave(2)
x.roll(1)
x.scatter(0, j, y)
x.scatter_(0, j, y)
x.scatter_add(0, j, y)
x.scatter_add_(0, j, y)
x.scatter_reduce(0, j, y, 'sum')
x.scatter_reduce_(0, j, y, 'sum')
x.select_scatter(v, 0, 0)
x.share_memory_()
x.short()
x.slice_scatter(y)
x.softmax(0)
x.sort()
x.std()
x.std_mean()
x.sum()
x.take(i)
x.take_along_dim(j, 0)
x.tile((2, 2))
x.tofile('/dev/null')
x.tolist()
x.topk(1)
x.trace()
x.tril()
x.tril_()
x.triu()
x.triu_()
x.uniform_()
x.unique()
x.unique_consecutive()
x.var()
x.var_mean()
v.vdot(v)
x.where(k, y)
x.xcorr2(e)
b.xcorr3(b)
x.zero_()
st.block_diag(x, y)
st.borrow(x)
st.bucketize(x, v)
st.cartesian_prod(v, u)
st.cat([x, y])
st.cdist(x, y)
st.chain_matmul(x, m)
st.column_stack([x, y])
st.combinations(v)
st.concat([x, y])
st.concatenate([x, y])
st.cumulative_trapezoid(x)
st.dstack([x, y])
st.einsum('ij,jk->ik', x, m)
st.eye(3, device=x.device)
st.arange(3, device=x.device)
st.from_dlpack(x)
st.from_numpy(x)
st.frombuffer(x)
st.full((2, 2), 1, device=x.device)
st.full_like(x, 1)
st.hstack([x, y])
st.isin(x, y)
st.linspace(0, 1, 3, device=x.device)
st.logspace(0, 1, 3, device=x.device)
st.multi_dot([x, m])
st.normal(x, y)
st.ones((2, 2), device=x.device)
st.ones_like(x)
st.pad(x, (1, 1))
st.poisson(x)
st.rand((2, 2), device=x.device)
st.rand_like(x)
st.randint(0, 3, (2, 2), device=x.device)
st.randint_like(x, 3)
st.randn((2, 2), device=x.device)
st.randn_like(x)
st.randperm(3, device=x.device)
st.range(0, 3, device=x.device)
st.row_stack([x, y])
st.scalar_tensor(1, device=x.device)
st.searchsorted(v, x)
st.set_rng_state(s)
st.stack([x, y])
st.tensor(x)
st.tensordot(x, m, 1)
st.trapezoid(x)
st.trapz(x)
st.tril_indices(2, 2, device=x.device)
st.triu_indices(2, 2, device=x.device)
st.vander(v)
st.vstack([x, y])
st.where(k, x, y)
st.zeros((2, 2), device=x.device)
st.zeros_like(x)
"""

#: Functions that take no tensor and make none on a device.
WITHOUT_TENSORS = """
einsum_path
from_file
get_default_device
get_default_dtype
get_num_threads
get_rng_state
initial_seed
manual_seed
seed
set_default_device
set_default_dtype
set_default_tensor_type
set_num_threads
"""

#: The same for `t`, the storage of `x`.
STORAGE_WORKS = """
t.__hash__()
t.__len__()
t.__module__
t.__reduce_ex__(2)
t.__sizeof__()
t.device
t.dtype
t.element_size()
t.filename
t.float()
t.get_device()
t.is_cuda
t.is_gpu
t.is_mapped
t.is_pinned()
t.is_shared()
t.nbytes
t.owns_memory
t.readonly
t.size()
t.to(st.float32)
t.type()
t.view(st.uint8)
"""
#: `t.flush()` is about a file, and refused for all other memory.
STORAGE_REFUSES = """
t.__contains__(1)
t.__copy__()
t.__deepcopy__({})
t.__format__('')
t.__getitem__(0)
t.__iter__().__next__()
t.__repr__()
t.__setitem__(0, 1)
t.__str__()
t._repr_html_()
t.bfloat16()
t.bool()
t.byte()
t.cdouble()
t.cfloat()
t.char()
t.clone()
t.copy_(t)
t.cpu()
t.cuda()
t.data_ptr()
t.double()
t.fill_(1)
t.gpu()
t.half()
t.int()
t.long()
t.new(3)
t.pin_memory()
t.resize_(6)
t.share_memory_()
t.short()
t.tolist()
"""

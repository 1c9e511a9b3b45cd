//! Products of matrices and vectors, and contractions.

use crate::abi::errors::{CallResult, Fail};
use crate::abi::refs::to_py;
use crate::abi::{Arg, Value};
use crate::classes::operators::product;
use crate::convert::args::{AnyArg, FromArg, Ints, RestObjects, TensorArg};
use crate::convert::in_place::Target;
use crate::convert::results::call_with_work;
use crate::convert::tensors::{RestTensors, TensorSequence, TextArg, all_tensors};
use pyo3::prelude::*;
use pyo3::types::{PyEllipsis, PyList};
use strided_core::layout::{Dims, Layout};
use strided_core::ops::convolve::{Windows, convolve};
use strided_core::ops::matmul::{self, Addend};
use strided_core::ops::{Out, contract, work};
use strided_core::{Result, Scalar, Tensor};

methods! { rows(py, x: TensorArg):
    /// The product of matrices, of a matrix and a vector, or of two vectors. With more than two dims, batches of matrices,
    /// which are broadcast. The operator `@` is the same.
    ///
    /// >>> x = strided.tensor([[1, 2], [3, 4]])
    /// >>> strided.matmul(x, x).tolist()
    /// [[7, 10], [15, 22]]
    /// >>> (x @ strided.tensor([1, 10])).tolist()
    /// [21, 43]
    #[numpy(matmul)]
    both matmul(other: TensorArg; out: Option<TensorArg> = None) => product(py, x, other, out, matmul::matmul);

    /// The product of two matrices.
    ///
    /// >>> strided.tensor([[1, 2]]).mm(strided.tensor([[3], [4]])).tolist()
    /// [[11]]
    both mm(mat2: TensorArg; out: Option<TensorArg> = None)
        => product(py, x, mat2, out, |a, b, out| matmul::ranked(a, b, [2, 2], ["input", "mat2"], out));

    /// The products of the matrices of two batches, which are not broadcast.
    ///
    /// >>> x = strided.ones(3, 1, 2)
    /// >>> x.bmm(strided.ones(3, 2, 1)).tolist()
    /// [[[2.0]], [[2.0]], [[2.0]]]
    both bmm(mat2: TensorArg; out: Option<TensorArg> = None)
        => product(py, x, mat2, out, |a, b, out| matmul::ranked(a, b, [3, 3], ["input", "mat2"], out));

    /// The product of a matrix and a vector.
    ///
    /// >>> strided.tensor([[1, 2], [3, 4]]).mv(strided.tensor([1, 10])).tolist()
    /// [21, 43]
    both mv(vec: TensorArg; out: Option<TensorArg> = None)
        => product(py, x, vec, out, |a, b, out| matmul::ranked(a, b, [2, 1], ["input", "vec"], out));

    /// The sum of the products of two vectors' elements.
    ///
    /// >>> strided.tensor([1, 2, 3]).dot(strided.tensor([1, 10, 100])).item()
    /// 321
    both dot(tensor | other: TensorArg; out: Option<TensorArg> = None)
        => product(py, x, tensor, out, |a, b, out| matmul::dot(a, b, ["input", "tensor"], false, out));

    /// The sum of the products of two vectors' elements, of which those of the first are conjugated.
    ///
    /// >>> strided.tensor([1 + 2j]).vdot(strided.tensor([1 + 2j])).item()
    /// (5+0j)
    both vdot(other: TensorArg; out: Option<TensorArg> = None)
        => product(py, x, other, out, |a, b, out| matmul::dot(a, b, ["input", "other"], true, out));

    /// The sums of products over the last dims of two tensors.
    ///
    /// >>> strided.tensor([[1, 2], [3, 4]]).inner(strided.tensor([1, 10])).tolist()
    /// [21, 43]
    #[numpy(inner)]
    both inner(other: TensorArg; out: Option<TensorArg> = None) => product(py, x, other, out, contract::inner);

    /// The products of all pairs of elements of two vectors.
    ///
    /// >>> strided.tensor([1, 2]).outer(strided.tensor([3, 4, 5])).tolist()
    /// [[3, 4, 5], [6, 8, 10]]
    both outer(vec2: TensorArg; out: Option<TensorArg> = None) alias ger => product(py, x, vec2, out, matmul::outer);

    /// The Kronecker product: each element is replaced by its products with all elements of `other`.
    ///
    /// >>> strided.tensor([[1, 10]]).kron(strided.tensor([[1, 2], [3, 4]])).tolist()
    /// [[1, 2, 10, 20], [3, 4, 30, 40]]
    #[numpy(kron)]
    both kron(other: TensorArg; out: Option<TensorArg> = None) => product(py, x, other, out, matmul::kron);

    /// `beta * input + alpha * (mat1 @ mat2)`; both factors are 1 by default. The input is broadcast; with a `beta` of 0 it is not read.
    ///
    /// >>> x = strided.tensor([[1, 2], [3, 4]])
    /// >>> strided.tensor([[100, 200], [300, 400]]).addmm(x, x, alpha=10).tolist()
    /// [[170, 300], [450, 620]]
    both addmm(mat1: TensorArg, mat2: TensorArg; beta: Option<Scalar> = None, alpha: Option<Scalar> = None, out: Option<TensorArg> = None) also addmm_
        => call_addmm(py, x, [mat1, mat2], [beta, alpha], out, addmm);

    /// `beta * input + alpha * (mat @ vec)`.
    ///
    /// >>> strided.ones(2).addmv(strided.ones(2, 3), strided.ones(3), beta=10).tolist()
    /// [13.0, 13.0]
    both addmv(mat: TensorArg, vec: TensorArg; beta: Option<Scalar> = None, alpha: Option<Scalar> = None, out: Option<TensorArg> = None) also addmv_
        => call_addmm(py, x, [mat, vec], [beta, alpha], out, addmv);

    /// `beta * input + alpha * (batch1[i] @ batch2[i])` for each matrix of a batch.
    ///
    /// >>> strided.ones(2, 1, 1).baddbmm(strided.ones(2, 1, 3), strided.ones(2, 3, 1), alpha=2).tolist()
    /// [[[7.0]], [[7.0]]]
    both baddbmm(batch1: TensorArg, batch2: TensorArg; beta: Option<Scalar> = None, alpha: Option<Scalar> = None, out: Option<TensorArg> = None) also baddbmm_
        => call_addmm(py, x, [batch1, batch2], [beta, alpha], out, baddbmm);

    /// `beta * input` plus `alpha` times the sum of the products of all matrices of two batches.
    ///
    /// >>> strided.ones(1, 1).addbmm(strided.ones(2, 1, 3), strided.ones(2, 3, 1)).tolist()
    /// [[7.0]]
    both addbmm(batch1: TensorArg, batch2: TensorArg; beta: Option<Scalar> = None, alpha: Option<Scalar> = None, out: Option<TensorArg> = None) also addbmm_
        => call_addmm(py, x, [batch1, batch2], [beta, alpha], out, matmul::addbmm);

    /// `beta * input + alpha * outer(vec1, vec2)`.
    ///
    /// >>> strided.ones(2, 2).addr(strided.tensor([1.0, 2.0]), strided.tensor([3.0, 4.0])).tolist()
    /// [[4.0, 5.0], [7.0, 9.0]]
    both addr(vec1: TensorArg, vec2: TensorArg; beta: Option<Scalar> = None, alpha: Option<Scalar> = None, out: Option<TensorArg> = None) also addr_
        => call_addmm(py, x, [vec1, vec2], [beta, alpha], out, matmul::addr);

    /// Torch's convolution of images: the reversed kernel `k` slides over the input, which is an image or has planes of images.
    /// A kernel of as many planes gives a result for each pair; one of `q` times as many gives `q` planes, each a sum. With the
    /// mode "V", the default, windows are inside the input ("valid"); with "F" they overlap it ("full").
    ///
    /// >>> strided.conv2(strided.ones(2, 3), strided.tensor([[1.0, 10.0]])).tolist()
    /// [[11.0, 11.0], [11.0, 11.0]]
    /// >>> strided.conv2(strided.ones(1, 2), strided.tensor([[1.0, 10.0]]), "F").tolist()
    /// [[1.0, 11.0, 10.0]]
    both conv2(k: TensorArg, mode: Option<TextArg> = None; out: Option<TensorArg> = None)
        => convolved(py, x, k, mode, out, 2, true);

    /// Torch's cross-correlation of images: as `conv2`, but the kernel is not reversed.
    ///
    /// >>> strided.xcorr2(strided.tensor([[1.0, 2.0, 3.0]]), strided.tensor([[1.0, 10.0]])).tolist()
    /// [[21.0, 32.0]]
    both xcorr2(k: TensorArg, mode: Option<TextArg> = None; out: Option<TensorArg> = None)
        => convolved(py, x, k, mode, out, 2, false);

    /// Torch's convolution of volumes: as `conv2`, with three dims.
    ///
    /// >>> strided.conv3(strided.ones(2, 2, 2), strided.ones(2, 2, 2)).tolist()
    /// [[[8.0]]]
    both conv3(k: TensorArg, mode: Option<TextArg> = None; out: Option<TensorArg> = None)
        => convolved(py, x, k, mode, out, 3, true);

    /// Torch's cross-correlation of volumes: as `conv3`, but the kernel is not reversed.
    ///
    /// >>> strided.xcorr3(strided.ones(1, 1, 2), strided.tensor([[[1.0, 10.0]]]), "F").tolist()
    /// [[[10.0, 11.0, 1.0]]]
    both xcorr3(k: TensorArg, mode: Option<TextArg> = None; out: Option<TensorArg> = None)
        => convolved(py, x, k, mode, out, 3, false);
}

methods! { functions(py):
    /// The sums of products that Einstein's notation describes. Each dim of an operand has a label; dims with the same label
    /// are run over together, and labels that are not behind `->` are summed over. `...` stands for any dims, which are
    /// broadcast. Without `->` the result has the labels that occur once, in alphabetical order.
    ///
    /// A label that occurs twice in an operand is a diagonal. Several operands are contracted in pairs, in a good order. A
    /// result that is only a diagonal or a permutation of an operand is a view. Labels may also be lists of ints.
    ///
    /// >>> x = strided.arange(6).view(2, 3)
    /// >>> strided.einsum("ij,kj->ik", x, x).tolist()
    /// [[5, 14], [14, 50]]
    /// >>> strided.einsum("ij->j", x).tolist()
    /// [3, 5, 7]
    /// >>> strided.einsum(x, [0, 1], x, [2, 1], [0, 2]).tolist()
    /// [[5, 14], [14, 50]]
    function einsum(equation: AnyArg, operands: RestObjects)
        -> ["(equation: str, *operands: Tensor | _Array) -> Tensor", "(equation: str, operands: Sequence[Tensor | _Array], /) -> Tensor", "(operand: Tensor | _Array, labels: Sequence[Any], /, *more: Any) -> Tensor"]
        => {
            let (equation, operands) = equation_and_operands(equation.0, operands.0)?;
            call_with_work(py, [], work::contraction(&operands), None, |[], _| contract::einsum(&equation, &operands))
        };

    /// The order in which `einsum` contracts its operands, as NumPy's `einsum_path` tells it: a list of pairs of positions,
    /// and a text. Each pair is removed from the list of operands, and its result is appended to it.
    ///
    /// >>> x, y, z = strided.ones(100, 2), strided.ones(2, 100), strided.ones(100, 2)
    /// >>> path, text = strided.einsum_path("ij,jk,kl->il", x, y, z)
    /// >>> path
    /// ['einsum_path', (1, 2), (0, 1)]
    /// >>> print(text)
    /// ij,jk,kl->il: 800 multiplications instead of 40000
    function einsum_path(equation: AnyArg, operands: RestObjects)
        -> ["(equation: str, *operands: Tensor | _Array) -> tuple[list[Any], str]", "(equation: str, operands: Sequence[Tensor | _Array], /) -> tuple[list[Any], str]", "(operand: Tensor | _Array, labels: Sequence[Any], /, *more: Any) -> tuple[list[Any], str]"]
        => {
            let (equation, operands) = equation_and_operands(equation.0, operands.0)?;
            let layouts: Vec<&Layout> = operands.iter().map(Tensor::layout).collect();
            let path = contract::einsum_path(&equation, &layouts)?;
            let list = PyList::new(py, ["einsum_path"])?;
            for pair in &path.pairs {
                list.append(pair)?;
            }
            let text = format!("{equation}: {} multiplications instead of {}", path.cost, path.naive_cost);
            to_py(py, (list, text))
        };

    /// The sums of products over dims of two tensors: the last `dims` of the first with the first `dims` of the second, by
    /// default 2, or two lists of dims. The result has the other dims of the first tensor, then those of the second.
    ///
    /// >>> x = strided.arange(6).view(2, 3)
    /// >>> strided.tensordot(x, x, dims=([1], [1])).tolist()
    /// [[5, 14], [14, 50]]
    /// >>> strided.tensordot(x, x, 2).item()
    /// 55
    function tensordot(a: TensorArg, b: TensorArg, dims | axes: Option<PairedDims> = None; out: Option<TensorArg> = None) => {
        let [a_dims, b_dims] = dims.unwrap_or(PairedDims::Count(2)).of(&a, &b)?;
        call_with_work(py, [a, b], work::product(&a, &b), out, |[a, b], out| contract::tensordot(a, b, [&a_dims, &b_dims], out))
    };

    /// The product of several matrices, in the order that takes the fewest multiplications. The first and the last may be
    /// vectors.
    ///
    /// >>> strided.multi_dot([strided.ones(2, 3), strided.ones(3, 4), strided.ones(4)]).tolist()
    /// [12.0, 12.0]
    function multi_dot(tensors: TensorSequence; out: Option<TensorArg> = None) =>
        call_with_work(py, [], work::chain(&tensors.0), out, |[], out| matmul::multi_dot(&tensors.0, true, out));

    /// The product of several matrices, in the order that takes the fewest multiplications.
    ///
    /// >>> strided.chain_matmul(strided.ones(2, 3), strided.ones(3, 4), strided.ones(4, 1)).tolist()
    /// [[12.0], [12.0]]
    function chain_matmul(matrices: RestTensors; out: Option<TensorArg> = None) => {
        let matrices = matrices.tensors.0;
        call_with_work(py, [], work::chain(&matrices), out, |[], out| matmul::multi_dot(&matrices, false, out))
    };

    /// The distances of all pairs of rows, one of each tensor: p-norms of their differences. Batches are broadcast. Squares
    /// are never expanded, so that `compute_mode`, which PyTorch has, makes no difference.
    ///
    /// >>> strided.cdist(strided.tensor([[0.0, 0.0], [3.0, 0.0]]), strided.tensor([[0.0, 4.0]])).tolist()
    /// [[4.0], [5.0]]
    /// >>> strided.cdist(strided.tensor([[0.0, 0.0]]), strided.tensor([[3.0, 4.0]]), p=1).item()
    /// 7.0
    function cdist(x1: TensorArg, x2: TensorArg, p: f64 = 2.0, compute_mode: Option<TextArg> = None) => {
        let modes = ["use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"];
        if let Some(mode) = compute_mode.filter(|mode| !modes.contains(&&mode.0[..])) {
            return Err(Fail::Value(format!("compute_mode is '{}', wanted one of {}", mode.0, modes.join(", "))));
        }
        call_with_work(py, [x1, x2], work::distances(&x1, &x2), None, |[a, b], _| matmul::cdist(a, b, p))
    };
}

fn convolved<'a>(
    py: Python<'a>,
    x: TensorArg<'a>,
    kernel: TensorArg<'a>,
    mode: Option<TextArg>,
    out: Option<TensorArg<'a>>,
    dims: usize,
    reversed: bool,
) -> CallResult<Value<'a>> {
    let windows = match mode.as_ref().map_or("V", |mode| &mode.0) {
        "V" => Windows::Valid,
        "F" => Windows::Full,
        other => return Err(Fail::Value(format!("mode is '{other}', wanted 'V' or 'F'"))),
    };
    call_with_work(py, [x, kernel], work::convolution(&x, &kernel), out, |[x, kernel], out| {
        convolve(x, kernel, dims, windows, reversed, out)
    })
}

/// An operation that adds a product.
type AddedProduct = fn(Addend, &Tensor, &Tensor, Out) -> Result<Tensor>;

fn addmm(addend: Addend, a: &Tensor, b: &Tensor, out: Out) -> Result<Tensor> {
    matmul::add_ranked(addend, a, b, [2, 2], ["mat1", "mat2"], out)
}

fn addmv(addend: Addend, a: &Tensor, b: &Tensor, out: Out) -> Result<Tensor> {
    matmul::add_ranked(addend, a, b, [2, 1], ["mat", "vec"], out)
}

fn baddbmm(addend: Addend, a: &Tensor, b: &Tensor, out: Out) -> Result<Tensor> {
    matmul::add_ranked(addend, a, b, [3, 3], ["batch1", "batch2"], out)
}

fn call_addmm<'a>(
    py: Python<'a>,
    x: impl Target<'a>,
    [a, b]: [TensorArg<'a>; 2],
    factors: [Option<Scalar>; 2],
    out: Option<TensorArg<'a>>,
    rule: AddedProduct,
) -> CallResult<Value<'a>> {
    let [beta, alpha] = factors.map(|factor| factor.unwrap_or(Scalar::Int(1)));
    let work = work::product(&a, &b).max(x.size());
    x.call(py, [a, b], work, out, |input, [a, b], out| rule(Addend { input, beta, alpha }, a, b, out))
}

/// The dims of `tensordot`: how many, or a list for each operand.
enum PairedDims {
    Count(isize),
    Lists([Dims; 2]),
}

impl<'a> FromArg<'a> for PairedDims {
    const WANTED: &'static str = "an int or two lists of ints";
    const STUB: &'static str = "SupportsIndex | Sequence[_Ints]";
    fn read(object: Arg<'a>) -> CallResult<Option<PairedDims>> {
        if let Some(count) = isize::read(object)? {
            return Ok(Some(PairedDims::Count(count)));
        }
        let Ok(items) = object.try_iter() else { return Ok(None) };
        let mut lists = Vec::new();
        for item in items.take(3) {
            let Some(ints) = Ints::read(item?.as_borrowed())? else { return Ok(None) };
            lists.push(ints.ints);
        }
        Ok(<[Dims; 2]>::try_from(lists).ok().map(PairedDims::Lists))
    }
}

impl PairedDims {
    /// Both lists. A number stands for the last dims of the first tensor and the first dims of the second.
    fn of(self, a: &Tensor, b: &Tensor) -> CallResult<[Dims; 2]> {
        let count = match self {
            PairedDims::Lists(lists) => return Ok(lists),
            PairedDims::Count(count) => count,
        };
        let ranks = [a, b].map(|x| x.layout().rank() as isize);
        if count < 0 || count > ranks[0].min(ranks[1]) {
            let wanted =
                format!("0 to {}, as a has {} dims and b {}", ranks[0].min(ranks[1]), ranks[0], ranks[1]);
            return Err(strided_core::Error::shape("dims", count, wanted).into());
        }
        Ok([(ranks[0] - count..ranks[0]).collect(), (0..count).collect()])
    }
}

/// The equation of `einsum` as a text, and its operands. Labels that are lists of ints become letters.
fn equation_and_operands<'a>(first: Arg<'a>, rest: &[Arg<'a>]) -> CallResult<(String, Vec<Tensor>)> {
    if let Some(TextArg(equation)) = TextArg::read(first)? {
        return Ok((equation, all_tensors(rest, "operands")?));
    }
    let objects: Vec<Arg<'a>> = std::iter::once(first).chain(rest.iter().copied()).collect();
    let (pairs, output) = objects.as_chunks::<2>();
    let terms = pairs.iter().map(|[_, labels]| letters(*labels)).collect::<CallResult<Vec<_>>>()?;
    let mut equation = terms.join(",");
    if let [output] = output {
        equation = format!("{equation}->{}", letters(*output)?);
    }
    let operands: Vec<Arg<'a>> = pairs.iter().map(|pair| pair[0]).collect();
    Ok((equation, all_tensors(&operands, "operands")?))
}

/// A list of ints from 0 to 51 and `...` as letters.
fn letters(labels: Arg<'_>) -> CallResult<String> {
    let wrong =
        || Fail::Type("einsum takes an equation and tensors, or tensors with lists of ints below 52".into());
    let mut text = String::new();
    if TensorArg::read(labels)?.is_some() || TextArg::read(labels)?.is_some() {
        return Err(wrong());
    }
    for item in labels.try_iter().map_err(|_| wrong())? {
        let item = item?;
        if item.is(PyEllipsis::get(labels.py())) {
            text.push_str("...");
            continue;
        }
        match isize::read(item.as_borrowed())? {
            Some(label @ 0..26) => text.push((b'A' + label as u8) as char),
            Some(label @ 26..52) => text.push((b'a' + (label - 26) as u8) as char),
            _ => return Err(wrong()),
        }
    }
    Ok(text)
}

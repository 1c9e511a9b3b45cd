//! Torch's convolutions and cross-correlations of images and volumes: `conv2`, `xcorr2`, `conv3`, `xcorr3`.
//!
//! The windows of the input are a view, which is contracted with the kernel.

use super::compose::{extent, of_shape, view};
use super::contract::contract_labelled;
use super::matmul::common_dtype;
use super::output::Out;
use super::pad::{PadMode, pad};
use crate::error::{Error, Result};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// At which windows of the input there is a result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Windows {
    /// Windows inside the input.
    Valid,
    /// Windows that overlap the input, which is padded with zeros.
    Full,
}

/// Slides a kernel over the last `dims` dims of an input: as a convolution, in which the kernel is reversed, or as a
/// correlation.
///
/// | input | kernel | result |
/// |---|---|---|
/// | an image | an image | an image |
/// | p images | p images | p images, one of each pair |
/// | p images | q times p images | q images, each a sum over p |
pub fn convolve(
    x: &Tensor,
    kernel: &Tensor,
    dims: usize,
    windows: Windows,
    reversed: bool,
    out: Out,
) -> Result<Tensor> {
    let (x_planes, kernel_planes) =
        (x.layout().rank().checked_sub(dims), kernel.layout().rank().checked_sub(dims));
    let (Some(planes), Some(kernel_planes)) = (x_planes, kernel_planes) else {
        let (name, short) = if x_planes.is_none() { ("x", x) } else { ("k", kernel) };
        return Err(Error::shape(name, of_shape(short), format!("at least {dims} dims")));
    };
    if !matches!((planes, kernel_planes), (0, 0) | (1, 1) | (1, 2)) {
        let wanted = match planes {
            0 => format!("{dims} dims, as x has"),
            1 => format!("{} or {} dims, as x has {}", dims + 1, dims + 2, dims + 1),
            _ => return Err(Error::shape("x", of_shape(x), format!("{dims} or {} dims", dims + 1))),
        };
        return Err(Error::shape("k", of_shape(kernel), wanted));
    }
    if planes == 1 && extent(x, 0) != extent(kernel, kernel_planes - 1) {
        let wanted = format!("{} planes, as x {} has", extent(x, 0), of_shape(x));
        return Err(Error::shape("k", of_shape(kernel), wanted));
    }
    let dtype = common_dtype(&[x, kernel])?;
    let sides: Vec<isize> = (0..dims).map(|dim| extent(kernel, kernel_planes + dim)).collect();
    let padded = match windows {
        Windows::Valid => x.clone(),
        Windows::Full => {
            let margins: Vec<isize> = sides.iter().rev().flat_map(|&side| [(side - 1).max(0); 2]).collect();
            pad(x, &margins, PadMode::Constant(Scalar::Bool(false)))?
        }
    };
    let mut layout = padded.layout().clone();
    for (dim, &side) in sides.iter().enumerate() {
        if side == 0 || side > extent(&padded, planes + dim) {
            let wanted =
                format!("windows of 1 to {} in dim {dim}, as x {} has", extent(x, planes + dim), of_shape(x));
            return Err(Error::shape("k", of_shape(kernel), wanted));
        }
        layout = layout.unfold((planes + dim) as isize, side, 1)?;
    }
    let flipped: Vec<isize> = (kernel_planes..kernel_planes + dims).map(|dim| dim as isize).collect();
    let kernel = if reversed { view(kernel, kernel.layout().flip(&flipped))? } else { kernel.clone() };
    // Labels: 0 and 1 are the planes of the input and of the output, then come places and windows.
    let range = |start: usize| (2 + start..2 + start + dims).map(|label| label as u32).collect::<Vec<_>>();
    let (places, inside) = (range(0), range(dims));
    let plane: &[u32] = if planes == 1 { &[0] } else { &[] };
    let kernel_plane: &[u32] = &[1, 0][2 - kernel_planes..];
    let result_plane: &[u32] = if kernel_planes == 2 { &[1] } else { plane };
    let labels = [
        [plane, &places, &inside].concat(),
        [kernel_plane, &inside].concat(),
        [result_plane, &places].concat(),
    ];
    let result = contract_labelled(&padded.with_layout(layout), &kernel, &labels, dtype)?;
    out.deliver_as(dtype, result)
}

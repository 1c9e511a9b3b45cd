"""The table of `./dev size`, from made-up symbols."""

import pytest

import size


@pytest.mark.parametrize(
    ("symbol", "folder"),
    [
        ("strided_core::kernels::reduce::folds::merge", "strided-core/kernels/reduce"),
        (
            "<strided_core::kernels::r#where::Run as strided_core::cpu::Specialised>::compute",
            "strided-core/kernels/where",
        ),
        ("strided_core::cpu::fused::<strided_core::kernels::loops::Run<f32>, ()>", "strided-core/kernels/loops"),
        ("strided_core::cpu::level", "strided-core/cpu"),
        ("core::ptr::drop_in_place::<smallvec::SmallVec<[strided_core::layout::Mode; 4]>>", "strided-core/layout"),
        ("<strided_core::tensor::Tensor>::clone", "strided-core/tensor"),
        ("_strided::rows::views::narrow", "strided-py/rows"),
        ("_strided::PyInit__strided", "strided-py"),
        ("pxfm::logs::log2::TABLE", "pxfm"),
        ("alloc::vec::from_elem::<u8>", "standard library and others"),
    ],
)
def test_a_symbol_counts_for_the_folder_of_its_source(symbol, folder):
    assert size.folder_of(symbol) == folder


def test_sizes_are_summed_by_folder():
    lines = [
        "0000000000001000 0000000000000010 t strided_core::nest::run",
        "0000000000002000 00000000000000ff T strided_core::nest::plan",
        "0000000000003000 t strided_core::nest::without_a_size",
        "                 U malloc",
    ]
    assert size.sizes(lines) == {"strided-core/nest": 0x10F}

//! Gather, scatter and masks on strided tensors against definitions that read and write single elements, and with an index
//! that another thread changes. `valgrind` runs these tests too: see CONTRIBUTING.md.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use strided_core::backend::index::ScatterRule;
use strided_core::backend::items as item;
use strided_core::layout::Index;
use strided_core::ops::Operand;
use strided_core::ops::index::along::{self, DimIndex, IndexForm};
use strided_core::ops::index::keys::{self, Key};
use strided_core::ops::index::masks;
use strided_core::ops::{copy, create, work};
use strided_core::storage::Fill;
use strided_core::{DType, Device, Layout, Scalar, Tensor};

/// A linear congruential generator: the tests are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: isize) -> isize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as isize) % limit
    }
}

/// A tensor with memory of its own: 0, 1, 2, … in the order of its storage.
fn counting(layout: Layout, dtype: DType) -> Tensor {
    let high = layout.bounds().map_or(0, |(_, high)| high + 1);
    let flat = create::range(
        Device::Cpu,
        Scalar::Int(0),
        Scalar::Int(high as i128),
        Scalar::Int(1),
        DType::I64,
        create::RangeEnd::Excluded,
    );
    let flat = copy::to_dtype(&flat.unwrap(), dtype).unwrap();
    flat.with_layout(layout)
}

/// Layouts of shape 5x7: row-major, transposed, reversed, with gaps.
fn layouts() -> Vec<Layout> {
    vec![
        Layout::row_major(&[5, 7]).unwrap(),
        Layout::strided(&[5, 7], &[1, 5], 0).unwrap(),
        Layout::strided(&[5, 7], &[-7, -1], 34).unwrap(),
        Layout::strided(&[5, 7], &[30, 2], 3).unwrap(),
    ]
}

fn ints(values: &[isize], shape: &[isize]) -> Tensor {
    let out = Tensor::new_on(Device::Cpu, shape, DType::I64, Fill::Zero).unwrap();
    for (at, &value) in values.iter().enumerate() {
        item::set(&out, at as isize, Scalar::Int(value as i128)).unwrap();
    }
    out
}

fn at(x: &Tensor, index: &[isize]) -> Scalar {
    copy::item(x, index).unwrap()
}

const DTYPES: [DType; 5] = [DType::U8, DType::F16, DType::F32, DType::I64, DType::C128];

#[test]
fn keys_choose_elements_of_every_width_and_layout() {
    let mut numbers = Numbers(1);
    for layout in layouts() {
        for dtype in DTYPES {
            let x = counting(layout.clone(), dtype);
            let rows: Vec<isize> = (0..6).map(|_| numbers.below(10) - 5).collect();
            let columns: Vec<isize> = (0..6).map(|_| numbers.below(14) - 7).collect();
            let keys = [Key::Indices(ints(&rows, &[2, 3])), Key::Indices(ints(&columns, &[2, 3]))];
            let got = keys::get(&x, &keys).unwrap();
            let slices =
                keys::get(&x, &[Key::Basic(Index::ALL), Key::Indices(ints(&columns, &[6]))]).unwrap();
            for k in 0..6 {
                let (row, column) = (rows[k as usize], columns[k as usize]);
                assert_eq!(at(&got, &[k / 3, k % 3]), at(&x, &[row, column]));
                assert_eq!(at(&slices, &[4, k]), at(&x, &[4, column]));
            }
        }
    }
}

#[test]
fn the_last_of_repeated_indices_is_written_and_sums_have_all() {
    for layout in layouts() {
        for dtype in DTYPES {
            let x = counting(layout.clone(), dtype);
            let before = copy::clone(&x).unwrap();
            let index = ints(&[3, 0, 3], &[3]);
            let values = create::full(Device::Cpu, &[3, 7], Scalar::Int(1), dtype).unwrap();
            copy::fill(&values.with_layout(values.layout().select(0, 2).unwrap()), Scalar::Int(2)).unwrap();
            let slices = DimIndex { dim: 0, index: &index, form: IndexForm::Slices };
            along::write(&x, slices, Operand::Tensor(&values), ScatterRule::Replace).unwrap();
            for column in 0..7 {
                assert_eq!(at(&x, &[3, column]), at(&values, &[2, column]));
                assert_eq!(at(&x, &[0, column]), at(&values, &[1, column]));
                assert_eq!(at(&x, &[1, column]), at(&before, &[1, column]));
            }
            along::write(&x, slices, Operand::Tensor(&values), ScatterRule::Add).unwrap();
            let five = create::full(Device::Cpu, &[1], Scalar::Int(5), dtype).unwrap();
            assert_eq!(at(&x, &[3, 4]), at(&five, &[0])); // 2 + 1 + 2
        }
    }
}

#[test]
fn masks_select_and_place_in_row_major_order() {
    for layout in layouts() {
        for dtype in DTYPES {
            let x = counting(layout.clone(), dtype);
            let mask = Tensor::new_on(Device::Cpu, &[5, 7], DType::Bool, Fill::Zero).unwrap();
            let chosen: Vec<isize> = (0..35).filter(|k| k % 3 == 1 || *k > 30).collect();
            chosen.iter().for_each(|&k| item::set(&mask, k, Scalar::Bool(true)).unwrap());
            let got = masks::select(&x, &mask).unwrap();
            let places = masks::nonzero(&mask).unwrap();
            assert_eq!(got.size(), chosen.len());
            for (k, &position) in chosen.iter().enumerate() {
                assert_eq!(at(&got, &[k as isize]), at(&x, &[position / 7, position % 7]));
                assert_eq!(at(&places, &[k as isize, 0]), Scalar::Int(position as i128 / 7));
                assert_eq!(at(&places, &[k as isize, 1]), Scalar::Int(position as i128 % 7));
            }
            let zeros = create::full(Device::Cpu, &[35], Scalar::Int(0), dtype).unwrap();
            masks::scatter(&x, &mask, &zeros).unwrap();
            assert_eq!(at(&x, &[0, 1]), at(&zeros, &[0]));
        }
    }
}

#[test]
fn indices_out_of_range_are_refused_and_change_nothing() {
    let x = counting(Layout::row_major(&[5, 7]).unwrap(), DType::F32);
    for wrong in [5, -6, isize::MAX, isize::MIN] {
        let key = [Key::Indices(ints(&[0, wrong], &[2]))];
        assert!(keys::get(&x, &key).is_err());
        assert!(keys::set(&x, &key, Operand::Scalar(Scalar::Int(9))).is_err());
    }
    assert_eq!(at(&x, &[0, 3]), Scalar::Float(3.0));
}

#[test]
fn the_work_of_an_index_covers_what_it_chooses() {
    let x = counting(Layout::row_major(&[500, 7, 3]).unwrap(), DType::F32);
    let (rows, column) = (ints(&[2, 0, 2], &[3]), ints(&[5, 1, 6, 2], &[4, 1]));
    let mask = Tensor::new_on(Device::Cpu, &[500, 7], DType::Bool, Fill::Zero).unwrap();
    copy::fill(&mask, Scalar::Bool(true)).unwrap();
    let at = |x: &Tensor| Key::Indices(x.clone());
    let part = Index::Slice { start: Some(1), stop: Some(3), step: 1 };
    let all: &[&[Key]] = &[
        &[at(&rows)],
        &[at(&rows), at(&column)],
        &[at(&column), at(&rows), at(&rows)],
        &[at(&rows), at(&rows)],
        &[Key::Basic(Index::ALL), at(&rows)],
        &[Key::Basic(Index::Ellipsis), Key::Basic(part), at(&ints(&[0; 50], &[50]))],
        &[Key::Basic(Index::At(9)), Key::Basic(Index::NewAxis), at(&rows)],
        &[Key::Mask(mask)],
        &[Key::Flag(true), Key::Basic(Index::At(3))],
        &[Key::Flag(true), at(&rows)],
        &[],
    ];
    for keys in all {
        assert!(keys::get(&x, keys).unwrap().size() <= work::keyed(&x, keys));
    }
    assert_eq!(work::keyed(&x, &[at(&rows)]), 3 * 21 + 3);
    assert_eq!(work::keyed(&x, &[at(&rows), Key::Basic(part), Key::Basic(Index::At(1))]), 3 * 2 + 3);
    for dim in 0..3 {
        let slices = DimIndex { dim, index: &ints(&[2, 2, 0, 1], &[4]), form: IndexForm::Slices };
        assert_eq!(work::picked(&x, slices), along::pick(&x, slices).unwrap().size() + 4);
    }
    let elements = DimIndex { dim: 0, index: &ints(&[2, 0, 1], &[3, 1, 1]), form: IndexForm::Elements };
    assert!(along::pick(&x, elements).unwrap().size() <= work::picked(&x, elements));
    assert!(work::picked(&x, elements) < 10);
    for dim in [Some(0), None] {
        let taken = along::take_along_dim(&x, elements.index, dim).unwrap().size();
        assert!(taken <= work::taken_along(&x, elements.index, dim));
    }
}

#[test]
fn an_index_that_changes_never_leads_outside() {
    let x = counting(Layout::row_major(&[64, 33]).unwrap(), DType::F32);
    let index = Tensor::new_on(Device::Cpu, &[64, 33], DType::I64, Fill::Zero).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut numbers = Numbers(7);
            while !done.load(Relaxed) {
                let value =
                    if numbers.below(2) == 0 { numbers.below(64) } else { isize::MIN + numbers.below(9) };
                let _ = item::set(&index, numbers.below(64 * 33), Scalar::Int(value as i128));
                let _ = copy::fill(&index, Scalar::Int(0)); // so that many calls pass the check
            }
        });
        let elements = DimIndex { dim: 0, index: &index, form: IndexForm::Elements };
        for _ in 0..200 {
            let _ = along::pick(&x, elements);
            let _ = along::write(&x, elements, Operand::Scalar(Scalar::Int(1)), ScatterRule::Add);
            let _ = keys::get(&x, &[Key::Indices(index.clone())]);
            let _ = along::take(&x, &index);
        }
        done.store(true, Relaxed);
    });
}

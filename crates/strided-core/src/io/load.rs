//! The bytes of a document's tensors, brought into memory or mapped.

use super::document::{Blob, ByteOrder, Document, ElementType, Place, View};
use super::names::name_of;
use super::{fault, inflate, refusal, text};
use crate::alloc::try_reserve;
use crate::backend::byte_order::reverse_bytes;
use crate::dtype::DType;
use crate::error::{Error, Problem, Result};
use crate::layout::Layout;
use crate::ops::copy;
use crate::storage::{Fill, Storage};
use crate::tensor::Tensor;
use std::collections::HashMap;
use std::ops::Range;

/// Shorter reads are coalesced if they follow each other.
const SMALL_READ: usize = 1 << 14;
/// The most bytes, such as the headers of tensors, between two reads that are coalesced.
const MAX_GAP: u64 = 1 << 12;
/// Bytes of a coalesced read.
const READ_AHEAD: usize = 1 << 18;

/// Loads tensors of one document. Those on the same storage share it.
pub struct Loader<'a> {
    document: &'a Document,
    /// Whether elements are mapped where the file and their blob allow it. All others are read.
    may_map: bool,
    /// The bytes that may still be allocated.
    budget: u64,
    storages: HashMap<usize, Storage>,
    /// The last coalesced read, and where it begins in the file.
    window: Vec<u8>,
    window_start: u64,
    /// Where the last small tensor ended.
    last_end: u64,
}

impl<'a> Loader<'a> {
    pub fn new(document: &'a Document, may_map: bool, max_bytes: Option<u64>) -> Loader<'a> {
        Loader {
            document,
            may_map,
            budget: max_bytes.map_or(u64::MAX, |max| max.saturating_sub(document.budget.spent())),
            storages: HashMap::new(),
            window: Vec::new(),
            window_start: 0,
            last_end: u64::MAX,
        }
    }

    /// A tensor of the document.
    pub fn tensor(&mut self, view: usize) -> Result<Tensor> {
        self.shared_tensor(view).map_err(|error| self.add_names(error, view))
    }

    /// A tensor with memory of its own. Only the bytes that it spans are read, where the format allows it.
    pub fn separate_tensor(&mut self, view: usize) -> Result<Tensor> {
        self.own_tensor(view).map_err(|error| self.add_names(error, view))
    }

    /// Adds the names of the file and of the tensor, if several files are involved.
    #[cold]
    fn add_names(&self, mut error: Error, view: usize) -> Error {
        if !self.document.name.is_empty()
            && let Problem::Format { file, reason, .. } = &mut *error.problem
            && file.is_empty()
        {
            *reason = format!("{}: {reason}", name_of(self.document, view));
            *file = self.document.name.clone();
        }
        error
    }

    fn shared_tensor(&mut self, view: usize) -> Result<Tensor> {
        let View { blob, element, layout } = &self.document.views[view];
        let dtype = self.blob_dtype(element, *blob)?;
        Tensor::from_storage(self.storage(*blob)?, dtype, layout.clone())
    }

    /// The memory of a blob.
    pub fn storage(&mut self, index: usize) -> Result<Storage> {
        if let Some(storage) = self.storages.get(&index) {
            return Ok(storage.clone());
        }
        let blob = &self.document.blobs[index];
        let dtype = self.blob_dtype(&blob.element, index)?;
        let storage = self.read(blob, dtype, 0..blob.count)?;
        self.storages.insert(index, storage.clone());
        Ok(storage)
    }

    fn own_tensor(&mut self, view: usize) -> Result<Tensor> {
        let View { blob, element, layout } = &self.document.views[view];
        let dtype = self.blob_dtype(element, *blob)?;
        let blob = &self.document.blobs[*blob];
        if let Place::Deferred(compute) = &blob.place {
            return compute();
        }
        let Some((low, high)) = layout.bounds() else {
            return Tensor::from_storage(Storage::filled(0, |_| Ok(()))?, dtype, layout.at_offset(0));
        };
        let partly = blob.element == *element && is_addressable(&blob.place);
        let range = if partly { low as u64..high as u64 + 1 } else { 0..blob.count };
        let layout = layout.at_offset(layout.offset() - range.start as isize);
        let stored = blob.element.known().unwrap_or(dtype);
        Tensor::from_storage(self.read(blob, stored, range)?, dtype, layout)
    }

    /// Elements of a blob as a storage.
    fn read(&mut self, blob: &Blob, dtype: DType, range: Range<u64>) -> Result<Storage> {
        let size = dtype.size() as u64;
        // The formats have compared counts with the bytes of the file, or with what those can be inflated to.
        let count = range.end - range.start;
        let bytes = count.checked_mul(size).filter(|&bytes| bytes <= isize::MAX as u64);
        let bytes = bytes
            .ok_or_else(|| refusal(format!("{count} elements of {} exceed the memory", dtype.name())))?;
        if self.may_map
            && why_not_mapped(blob, dtype).is_none()
            && let Place::Plain { position, .. } = blob.place
            && let Some(mapped) = self.source()?.map(position + range.start * size, bytes as usize)
        {
            return mapped;
        }
        match &blob.place {
            Place::Memory(storage) => return Ok(storage.clone()),
            Place::Cast(original) => {
                let stored = self.resolve_dtype(&original.element, &original.place)?;
                let elements = Tensor::from_whole_storage(self.read(original, stored, range)?, stored)?;
                self.spend(bytes)?;
                return Ok(copy::to_dtype(&elements, dtype)?.storage().clone());
            }
            _ => {}
        }
        self.spend(bytes)?;
        match blob.place {
            Place::Plain { position, order } => {
                let storage = self.read_bytes(position + range.start * size, bytes as usize)?;
                in_native_order(storage, dtype, order)
            }
            Place::Narrow { position, order } => {
                let read = self.source()?.read_storage(position + range.start * 4, count as usize * 4)?;
                let narrow =
                    Tensor::from_whole_storage(in_native_order(read, DType::I32, order)?, DType::I32)?;
                Ok(copy::to_dtype(&narrow, dtype)?.storage().clone())
            }
            Place::Deflated { position, compressed, skipped, order, crc } => {
                let source = self.source()?;
                let storage = Storage::filled(bytes as usize, |memory| {
                    inflate::inflate_into(source, position..position + compressed, skipped, crc, memory)
                })?;
                in_native_order(storage, dtype, order)
            }
            Place::Text { position, end } => text::read_numbers(self.source()?, position..end, count, dtype),
            Place::Deferred(ref compute) => {
                let tensor = copy::clone(&compute()?)?;
                Ok(tensor.storage().clone())
            }
            Place::RowMajor { position, order, ref layout } => {
                let elements = self.read_bytes(position, layout.size() * size as usize)?;
                let elements = in_native_order(elements, dtype, order)?;
                let elements = Tensor::from_storage(elements, dtype, layout.row_major_like())?;
                let storage = Storage::new(bytes as usize, Fill::Zero)?;
                let out = Tensor::from_storage(storage.clone(), dtype, (**layout).clone())?;
                // Elements that share a location are equal.
                if layout.is_injective() {
                    copy::copy(&out, &elements)?;
                } else {
                    copy::copy_in_order(&out, &elements)?;
                }
                Ok(storage)
            }
            Place::Memory(_) | Place::Cast(_) => unreachable!("returned above"),
        }
    }

    /// A new storage with bytes of the file, which must exist. Small reads are coalesced.
    fn read_bytes(&mut self, position: u64, bytes: usize) -> Result<Storage> {
        let source = self.source()?;
        if bytes >= SMALL_READ {
            return source.read_storage(position, bytes);
        }
        let is_inside =
            |start: u64, length: usize| position >= start && position + bytes as u64 <= start + length as u64;
        if !is_inside(self.window_start, self.window.len()) {
            let follows = position.checked_sub(self.last_end).is_some_and(|gap| gap <= MAX_GAP);
            let left = source.length().saturating_sub(position);
            let length = if follows { left.min(READ_AHEAD as u64) as usize } else { 0 };
            try_reserve(&mut self.window, length.max(bytes))?;
            self.window.resize(length.max(bytes), 0);
            self.window_start = position;
            if let Err(error) = source.read_at(position, &mut self.window) {
                self.window.clear();
                return Err(error);
            }
        }
        self.last_end = position + bytes as u64;
        let at = (position - self.window_start) as usize;
        let found = &self.window[at..at + bytes];
        Storage::filled(bytes, |memory| {
            memory.copy_from_slice(found);
            Ok(())
        })
    }

    fn spend(&mut self, bytes: u64) -> Result<()> {
        self.budget = self.budget.checked_sub(bytes).ok_or_else(|| {
            let left = self.budget;
            refusal(format!("a tensor needs {bytes} bytes, and max_bytes leaves {left}"))
        })?;
        Ok(())
    }

    /// The dtype of elements. Refuses one that strided lacks.
    fn blob_dtype(&self, element: &ElementType, blob: usize) -> Result<DType> {
        self.resolve_dtype(element, &self.document.blobs[blob].place)
    }

    fn resolve_dtype(&self, element: &ElementType, place: &Place) -> Result<DType> {
        element.known().ok_or_else(|| {
            let name = element.name();
            // NumPy's raw bytes, which is how bfloat16 is written.
            let is_void = name.trim_start_matches(['<', '>', '|']).starts_with('V');
            let hint = if is_void { "; if you know what it is, give dtype=" } else { "" };
            let reason = format!("a tensor has the dtype {name}, which strided does not have{hint}");
            match position_of(place) {
                Some(position) => fault(position, reason),
                None => refusal(reason),
            }
        })
    }

    fn source(&self) -> Result<&'a dyn super::ByteSource> {
        self.document.source.as_deref().ok_or_else(|| refusal("the file is closed"))
    }
}

/// Where a blob begins in the file.
pub fn position_of(place: &Place) -> Option<u64> {
    match *place {
        Place::Plain { position, .. }
        | Place::Narrow { position, .. }
        | Place::Deflated { position, .. }
        | Place::RowMajor { position, .. }
        | Place::Text { position, .. } => Some(position),
        Place::Cast(ref original) => position_of(&original.place),
        Place::Memory(_) | Place::Deferred(_) => None,
    }
}

/// Whether some elements can be read without those before them, which compressed data and text do not allow.
fn is_addressable(place: &Place) -> bool {
    match place {
        Place::Plain { .. } | Place::Narrow { .. } => true,
        Place::Cast(original) => is_addressable(&original.place),
        _ => false,
    }
}

/// Why a blob cannot be mapped; `None` if it can.
pub fn why_not_mapped(blob: &Blob, dtype: DType) -> Option<String> {
    match blob.place {
        Place::Plain { order, .. } if order != ByteOrder::NATIVE && dtype.real().size() > 1 => {
            Some(format!("{}-endian", order.name()))
        }
        Place::Plain { position, .. } if !position.is_multiple_of(dtype.alignment() as u64) => {
            Some(format!("byte {position} is no multiple of {}", dtype.alignment()))
        }
        Place::Plain { .. } => None,
        Place::Narrow { .. } => Some("4-byte integers".into()),
        Place::Deflated { .. } => Some("deflated".into()),
        Place::Text { .. } => Some("text".into()),
        Place::Memory(_) => Some("in memory".into()),
        Place::RowMajor { .. } => Some("its strides are not those of the file".into()),
        Place::Deferred(_) | Place::Cast(_) => Some("computed when it is loaded".into()),
    }
}

fn in_native_order(storage: Storage, dtype: DType, order: ByteOrder) -> Result<Storage> {
    if order != ByteOrder::NATIVE && dtype.real().size() > 1 {
        let count = (storage.length() / dtype.size()) as isize;
        reverse_bytes(&Tensor::from_storage(storage.clone(), dtype, Layout::row_major(&[count])?)?)?;
    }
    Ok(storage)
}

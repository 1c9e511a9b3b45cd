//! A tensor: a storage, a layout and a dtype.

use crate::dtype::{DType, complex_of};
use crate::error::{Error, Problem, Result};
use crate::layout::Layout;
use crate::storage::{Access, Device, Fill, Pinned, Storage, not_on_host};

/// A view of a storage: the dtype of its elements, and where the elements of the view are.
///
/// ```
/// use strided_core::{DType, Device, Tensor, storage::Fill};
/// let x = Tensor::new_on(Device::Cpu, &[4, 5], DType::F32, Fill::Zero).unwrap();
/// let row = x.with_layout(x.layout().select(0, 2).unwrap());
/// assert_eq!(row.layout().offset(), 10);
/// assert!(row.storage().is(x.storage()));
/// ```
#[derive(Clone)]
pub struct Tensor {
    storage: Storage,
    layout: Layout,
    dtype: DType,
}

impl Tensor {
    /// A row-major tensor with memory of its own on a device.
    #[inline(always)]
    pub fn new_on(device: Device, shape: &[isize], dtype: DType, fill: Fill) -> Result<Tensor> {
        Tensor::with_new_memory(device, Layout::row_major(shape)?, dtype, fill)
    }

    /// An uninitialised row-major tensor on the device of another tensor: what an operation on that one returns.
    #[inline(always)]
    pub fn like(operand: &Tensor, shape: &[isize], dtype: DType) -> Result<Tensor> {
        Tensor::new_on(operand.device(), shape, dtype, Fill::Uninitialized)
    }

    /// A tensor with memory of its own and this layout, whose lowest location must be 0.
    #[inline(always)]
    pub fn with_new_memory(device: Device, layout: Layout, dtype: DType, fill: Fill) -> Result<Tensor> {
        let length = layout.bounds().map_or(0, |(_, high)| high as usize + 1);
        let storage = Storage::new_on(device, length * dtype.size(), fill)?;
        Ok(Tensor { storage, layout, dtype })
    }

    /// Puts a row-major tensor of a layout's shape, with memory of its own, into a slot. It is built in place: a
    /// tensor is some hundred bytes, and moving it while its fields were still being written took 40 of the 180 ns of
    /// a small `a + b`.
    #[inline(always)]
    pub fn insert_row_major_like<'a>(
        slot: &'a mut Option<Tensor>,
        device: Device,
        like: &Layout,
        dtype: DType,
    ) -> Result<&'a mut Tensor> {
        let storage = Storage::new_on(device, like.size() * dtype.size(), Fill::Uninitialized)?;
        let tensor = slot.insert(Tensor { storage, layout: Layout::scalar(), dtype });
        tensor.layout.set_row_major_like(like);
        Ok(tensor)
    }

    /// A tensor on an existing storage. Refuses a layout with locations outside the storage.
    pub fn from_storage(storage: Storage, dtype: DType, layout: Layout) -> Result<Tensor> {
        if layout.offset() < 0 {
            return Err(Error::shape("offset", layout.offset(), "0 or more"));
        }
        storage.check_elements(&layout, dtype)?;
        Ok(Tensor { storage, layout, dtype })
    }

    /// A one-dimensional tensor of all elements of a storage. Trailing bytes that do not fill an element are ignored.
    pub fn from_whole_storage(storage: Storage, dtype: DType) -> Result<Tensor> {
        let length = storage.valid_length()? / dtype.size();
        Tensor::from_storage(storage, dtype, Layout::row_major(&[length as isize])?)
    }

    /// Makes the storage read-only. Panics if there is another handle on it.
    pub fn into_readonly(self) -> Tensor {
        Tensor { storage: self.storage.into_readonly(), ..self }
    }

    /// Another view of the same storage. Nothing is checked here: views of a view stay inside the storage, and a pin
    /// checks the layout before elements are accessed.
    #[inline(always)]
    pub fn with_layout(&self, layout: Layout) -> Tensor {
        Tensor { storage: self.storage.clone(), layout, dtype: self.dtype }
    }

    /// The same bytes as elements of another dtype: `view(dtype)`.
    pub fn reinterpret(&self, dtype: DType) -> Result<Tensor> {
        let layout = self.layout.reinterpret(self.dtype.size(), dtype.size())?;
        Tensor::from_storage(self.storage.clone(), dtype, layout)
    }

    /// The real (0) or imaginary (1) parts of complex elements, as a view.
    pub fn part(&self, index: isize) -> Result<Tensor> {
        if !self.dtype.is_complex() {
            let (argument, wanted) = ("input", "a complex dtype");
            return Err(Error::new(Problem::WrongDType { argument, got: self.dtype, wanted }));
        }
        Ok(Tensor {
            storage: self.storage.clone(),
            layout: self.layout.part(index)?,
            dtype: self.dtype.real(),
        })
    }

    /// Complex elements as pairs of real ones along a new last dim: `view_as_real`.
    pub fn view_as_real(&self) -> Result<Tensor> {
        if !self.dtype.is_complex() {
            let (argument, wanted) = ("input", "a complex dtype");
            return Err(Error::new(Problem::WrongDType { argument, got: self.dtype, wanted }));
        }
        let layout = self.layout.view_as_real()?;
        Ok(Tensor { storage: self.storage.clone(), layout, dtype: self.dtype.real() })
    }

    /// Pairs of real elements along the last dim as complex ones: `view_as_complex`.
    pub fn view_as_complex(&self) -> Result<Tensor> {
        if !matches!(self.dtype, DType::F32 | DType::F64) {
            let (argument, wanted) = ("input", "float32 or float64");
            return Err(Error::new(Problem::WrongDType { argument, got: self.dtype, wanted }));
        }
        let (layout, dtype) = (self.layout.view_as_complex()?, complex_of(self.dtype));
        Ok(Tensor { storage: self.storage.clone(), layout, dtype })
    }

    #[inline]
    pub fn storage(&self) -> &Storage {
        &self.storage
    }
    #[inline]
    pub fn device(&self) -> Device {
        self.storage.device()
    }
    #[inline]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
    #[inline]
    pub fn dtype(&self) -> DType {
        self.dtype
    }
    #[inline]
    pub fn size(&self) -> usize {
        self.layout.size()
    }

    /// Pins the elements for reading or writing. The caller must hold no other pin: see [`pin_each`].
    #[inline]
    pub fn pin(&self, access: Access) -> Result<Pinned<'_>> {
        loop {
            match self.storage.try_pin(&self.layout, self.dtype, access)? {
                Some(pin) => return Ok(pin),
                None => self.storage.wait_until_open(),
            }
        }
    }

    /// The address of the first element of a new tensor. Refuses memory that the host cannot address. Panics if there is
    /// another handle on its storage, since no pin is taken.
    #[inline(always)]
    pub fn exclusive_origin(&mut self) -> Result<*mut u8> {
        let shift = self.layout.offset() * self.dtype.size() as isize;
        match self.storage.exclusive_start() {
            Some(start) => Ok(start.wrapping_offset(shift)),
            None => Err(self.not_exclusive()),
        }
    }

    #[cold]
    fn not_exclusive(&self) -> Error {
        assert!(self.device() != Device::Cpu, "a new tensor has the only handle");
        not_on_host(self.device())
    }

    /// Whether both are the same view of the same storage.
    pub fn is_set_to(&self, other: &Tensor) -> bool {
        self.storage.is(&other.storage) && self.dtype == other.dtype && self.layout == other.layout
    }

    /// Refuses a tensor whose elements share memory, for it cannot be an output.
    pub fn check_writable(&self) -> Result<()> {
        if self.layout.is_row_major() || self.layout.is_injective() {
            return Ok(());
        }
        let (shape, stride) = (self.layout.shape_text(), self.layout.stride_text());
        Err(Error::new(Problem::SelfOverlap { shape, stride }))
    }

    /// Makes this a row-major tensor of another shape at the same offset. The storage grows if it is too short, and
    /// never shrinks.
    pub fn resize(&mut self, shape: &[isize]) -> Result<()> {
        let resized = self.resized(shape)?;
        resized.grow_storage()?;
        *self = resized;
        Ok(())
    }

    /// A row-major tensor of another shape at the same offset of the storage, which may be too short for it.
    pub fn resized(&self, shape: &[isize]) -> Result<Tensor> {
        let layout = Layout::row_major(shape)?;
        Ok(self.with_layout(Layout::strided(shape, &layout.stride(), self.layout.offset())?))
    }

    /// Makes the storage long enough for all elements.
    pub fn grow_storage(&self) -> Result<()> {
        self.storage.grow(self.wanted_bytes())
    }

    /// Refuses a storage that is too short and cannot grow: [`Tensor::grow_storage`] would fail, unless it has changed by then.
    pub fn check_growth(&self) -> Result<()> {
        self.storage.check_growth(self.wanted_bytes())
    }

    /// The bytes that the storage must have.
    fn wanted_bytes(&self) -> usize {
        self.layout.bounds().map_or(0, |(_, high)| (high as usize + 1) * self.dtype.size())
    }
}

/// Pins several tensors, all or none. If one of the storages is closed, the pins taken so far are dropped before
/// waiting: no thread waits for a pin while it holds another.
#[inline]
pub fn pin_each<'a, const N: usize>(
    tensors: [Option<(&'a Tensor, Access)>; N],
) -> Result<[Option<Pinned<'a>>; N]> {
    'retry: loop {
        let mut pins = [const { None }; N];
        for (pin, tensor) in pins.iter_mut().zip(&tensors) {
            let Some((x, access)) = tensor else { continue };
            *pin = x.storage.try_pin(&x.layout, x.dtype, *access)?;
            if pin.is_none() {
                drop(pins);
                x.storage.wait_until_open();
                continue 'retry;
            }
        }
        return Ok(pins);
    }
}

/// Binds names to the pins of several tensors: `pin_all!(to: Write out, from: Read x);`. A macro, because a
/// function would return an array of pins, and moving that takes 20 ns.
macro_rules! pin_all {
    ($($name:ident: $access:ident $tensor:expr),+) => {
        let wanted = [$(Some(($tensor, $crate::storage::Access::$access))),+];
        let [$(Some($name)),+] = $crate::tensor::pin_each(wanted)? else {
            unreachable!("every tensor was given")
        };
    };
}
pub(crate) use pin_all;

/// The device that all tensors share. Refuses tensors on different devices.
#[inline(always)]
pub fn common_device<'a>(tensors: impl IntoIterator<Item = &'a Tensor>) -> Result<Device> {
    let mut tensors = tensors.into_iter();
    let Some(first) = tensors.next().map(Tensor::device) else { return Ok(Device::Cpu) };
    for x in tensors {
        if x.device() != first {
            return Err(device_mismatch(first, x.device()));
        }
    }
    Ok(first)
}

#[cold]
pub fn device_mismatch(first: Device, second: Device) -> Error {
    let (first, second) = (first.to_string(), second.to_string());
    Error::new(Problem::DeviceMismatch { first, second })
}

/// Whether writing `out` element by element could change an element of `input` before it is read: they share memory, and
/// are not the same elements in the same order.
#[inline]
pub fn conflict(out: &Tensor, input: &Tensor) -> bool {
    if !out.storage.is(&input.storage) {
        // Different storages share memory only if one is foreign or a mapped file.
        return !(out.storage.is_owned() && input.storage.is_owned())
            && (ranges_overlap(out, input) || out.storage.may_alias(&input.storage));
    }
    if out.dtype != input.dtype {
        return ranges_overlap(out, input);
    }
    out.layout != input.layout && out.layout.overlaps(&input.layout)
}

/// Whether writing `out` could change an element of `input`.
pub fn shares_memory(out: &Tensor, input: &Tensor) -> bool {
    conflict(out, input) || out.is_set_to(input)
}

fn ranges_overlap(a: &Tensor, b: &Tensor) -> bool {
    let (Some(a), Some(b)) = (byte_range(a), byte_range(b)) else { return false };
    a.0 <= b.1 && b.0 <= a.1
}

/// Addresses of the first and last byte of a tensor's elements. Memory of a device counts from 0: no two storages share it.
fn byte_range(x: &Tensor) -> Option<(isize, isize)> {
    let (low, high) = x.layout.bounds()?;
    let (start, size) = (x.storage.address().unwrap_or(0) as isize, x.dtype.size() as isize);
    Some((start + low * size, start + (high + 1) * size - 1))
}

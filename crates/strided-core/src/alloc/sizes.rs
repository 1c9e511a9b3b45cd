//! Which sizes of blocks there are.

/// Alignment of every block: a cache line.
pub const ALIGN: usize = 64;
/// Blocks up to this size are small.
pub const MAX_SMALL_BYTES: usize = 4096;
/// Blocks above this size have a size class, and are cached after use.
pub const MAX_UNCACHED_BYTES: usize = 64 << 10;
/// The size of a huge page. Blocks above this size have pages of their own.
pub const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Size classes per doubling: a block is at most an eighth larger than the request.
const CLASSES_PER_DOUBLING: usize = 8;
/// Blocks of more than 2 to this power bytes have no class: no machine has that much memory.
const MAX_CLASS_BITS: usize = 50;
pub const CLASSES: usize = (MAX_CLASS_BITS - MAX_UNCACHED_BYTES.ilog2() as usize) * CLASSES_PER_DOUBLING;

/// The size that a request is rounded up to. `None` if it leaves the address space.
#[inline]
pub fn rounded(bytes: usize) -> Option<usize> {
    if bytes > MAX_UNCACHED_BYTES {
        return class_size(bytes);
    }
    Some((bytes.max(1) + ALIGN - 1) & !(ALIGN - 1))
}

/// The size of the class for `bytes`, which must be more than [`MAX_UNCACHED_BYTES`].
fn class_size(bytes: usize) -> Option<usize> {
    let step = 1usize << (bytes - 1).ilog2() >> CLASSES_PER_DOUBLING.ilog2();
    let size = bytes.checked_add(step - 1)? & !(step - 1);
    (size <= isize::MAX as usize - ALIGN).then_some(size)
}

/// The index of the class whose blocks have `size` bytes; `None` above the largest class.
pub fn class_index(size: usize) -> Option<usize> {
    let doubling = (size - 1).ilog2() as usize;
    let step = (size - 1) >> (doubling - CLASSES_PER_DOUBLING.ilog2() as usize);
    let first = (doubling - MAX_UNCACHED_BYTES.ilog2() as usize) * CLASSES_PER_DOUBLING;
    Some(first + step % CLASSES_PER_DOUBLING).filter(|&class| class < CLASSES)
}

/// The size of the blocks of a class: the inverse of [`class_index`].
pub fn class_bytes(class: usize) -> usize {
    let base = MAX_UNCACHED_BYTES << (class / CLASSES_PER_DOUBLING);
    base + base / CLASSES_PER_DOUBLING * (class % CLASSES_PER_DOUBLING + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_has_one_class_that_holds_it() {
        let sizes = (MAX_UNCACHED_BYTES + 1..MAX_UNCACHED_BYTES * 5).step_by(37);
        for bytes in sizes.chain([1 << 30, (1 << 30) + 1, (1 << 49) - 1]) {
            let size = class_size(bytes).unwrap();
            assert!(size >= bytes && size - bytes < bytes / CLASSES_PER_DOUBLING + 1, "{bytes} -> {size}");
            assert_eq!(class_bytes(class_index(size).unwrap()), size, "{bytes}");
            assert_eq!(class_size(size), Some(size));
        }
    }

    #[test]
    fn a_size_beyond_the_address_space_is_refused() {
        for bytes in [usize::MAX, isize::MAX as usize, isize::MAX as usize - 100] {
            assert_eq!(rounded(bytes), None);
        }
    }
}

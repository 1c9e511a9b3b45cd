//! Mapped files and shared memory, without Python.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use strided_core::storage::mmap::MapOptions;
#[cfg(unix)]
use strided_core::storage::shm;
use strided_core::{DType, Problem, Storage};

/// A path that nothing else uses. Its file is removed when the value is dropped.
struct TempFile(PathBuf);

impl TempFile {
    fn new() -> TempFile {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("strided-{}-{}", std::process::id(), NEXT.fetch_add(1, Relaxed));
        TempFile(std::env::temp_dir().join(name))
    }
    fn with(content: &[u8]) -> TempFile {
        let file = TempFile::new();
        std::fs::write(&file.0, content).unwrap();
        file
    }
    fn content(&self) -> Vec<u8> {
        std::fs::read(&self.0).unwrap()
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn bytes(storage: &Storage) -> Vec<u8> {
    let pin = storage.pin_all().unwrap();
    // SAFETY: `i` is inside the pinned bytes.
    (0..pin.length).map(|i| unsafe { pin.start.add(i).read() }).collect()
}

fn write(storage: &Storage, at: usize, value: u8) {
    let pin = storage.pin_all().unwrap();
    assert!(at < pin.length && !storage.is_readonly());
    // SAFETY: `at` is inside the pinned bytes, which may be written, as asserted.
    unsafe { pin.start.add(at).write(value) };
}

const SHARED: MapOptions =
    MapOptions { shared: true, readonly: false, create: false, grow: false, offset: 0 };

#[test]
fn a_shared_map_writes_to_the_file_and_a_private_one_does_not() {
    let file = TempFile::with(b"abcd");
    let (shared, private) = (
        Storage::from_file(&file.0, DType::U8, 0, SHARED).unwrap(),
        Storage::from_file(&file.0, DType::U8, 0, MapOptions::default()).unwrap(),
    );
    assert!(shared.is_shared() && !private.is_shared() && !shared.is_owned());
    write(&private, 0, b'x');
    assert_eq!((bytes(&private), file.content()), (b"xbcd".to_vec(), b"abcd".to_vec()));
    write(&shared, 1, b'y');
    shared.map().unwrap().0.flush().unwrap();
    assert_eq!(file.content(), b"aycd");
    assert!(private.map().unwrap().0.flush().is_err());
    assert!(shared.may_alias(&private) && !shared.may_alias(&shared.clone()));
    assert_eq!(*shared.resize(8).unwrap_err().problem, Problem::Mapped);
}

#[test]
fn sizes_and_offsets_select_bytes_of_the_file() {
    let file = TempFile::with(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let at = |dtype, size, offset, shared| {
        Storage::from_file(&file.0, dtype, size, MapOptions { offset, shared, ..MapOptions::default() })
    };
    assert_eq!(bytes(&at(DType::U16, 0, 2, true).unwrap()), [2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(bytes(&at(DType::U32, 1, 4, true).unwrap()), [4, 5, 6, 7]);
    let copied = at(DType::U32, 2, 1, false).unwrap();
    assert_eq!((bytes(&copied), copied.is_owned()), (vec![1, 2, 3, 4, 5, 6, 7, 8], true));
    assert_eq!(at(DType::U8, 0, 10, true).unwrap().length(), 0);
    for (dtype, size, offset, shared) in [
        (DType::U32, 0, 0, false), // 10 bytes are not a multiple of 4
        (DType::U32, 3, 0, false), // too short
        (DType::U32, 1, 1, true),  // misaligned
        (DType::U8, 0, 11, false), // beyond the end
        (DType::U64, usize::MAX / 4, 0, false),
        (DType::U8, 1, usize::MAX, false),
    ] {
        assert!(at(dtype, size, offset, shared).is_err(), "{dtype:?} {size} {offset} {shared}");
    }
    assert_eq!(file.content().len(), 10);
}

#[test]
fn files_are_created_and_extended_only_on_request() {
    let file = TempFile::new();
    let make = MapOptions { create: true, ..SHARED };
    assert!(matches!(
        *Storage::from_file(&file.0, DType::F32, 2, SHARED).err().unwrap().problem,
        Problem::System { .. }
    ));
    assert!(Storage::from_file(&file.0, DType::F32, 0, make).is_err());
    assert!(Storage::from_file(&file.0, DType::F32, isize::MAX as usize / 4, make).is_err());
    assert!(!file.0.exists(), "a file that could not be filled is removed");
    assert_eq!(Storage::from_file(&file.0, DType::F32, 2, make).unwrap().length(), 8);
    assert!(Storage::from_file(&file.0, DType::F32, 4, make).is_err());
    assert_eq!(
        Storage::from_file(&file.0, DType::F32, 4, MapOptions { grow: true, ..SHARED }).unwrap().length(),
        16
    );
    assert_eq!(
        Storage::from_file(&file.0, DType::F32, 1, MapOptions { grow: true, ..SHARED }).unwrap().length(),
        4
    );
    assert_eq!(file.content(), [0; 16]);
    let readonly =
        Storage::from_file(&file.0, DType::F32, 0, MapOptions { readonly: true, ..SHARED }).unwrap();
    assert!(readonly.is_readonly() && readonly.is_shared());
    assert!(
        Storage::from_file(&file.0, DType::F32, 9, MapOptions { readonly: true, grow: true, ..SHARED })
            .is_err()
    );
}

#[cfg(unix)]
#[test]
fn sharing_moves_the_bytes_and_keeps_the_storage() {
    use strided_core::storage::Fill;
    use strided_core::storage::mmap::MapKind;
    for length in [0usize, 5, 5000, 300_000] {
        let storage = Storage::new(length, Fill::Zero).unwrap();
        let other = storage.clone();
        (0..length).for_each(|at| write(&storage, at, at as u8));
        let before = bytes(&storage);
        storage.export();
        assert_eq!(*storage.share().unwrap_err().problem, Problem::Exported { exports: 1 });
        storage.unexport();
        storage.share().unwrap();
        storage.share().unwrap();
        assert!(other.is_shared() && !other.is_owned() && bytes(&other) == before);
        assert_eq!(*storage.resize(1).unwrap_err().problem, Problem::Mapped);
        // Another process would get the descriptor and map it; this one finds the map it has.
        let (map, at) = storage.map().unwrap();
        let MapKind::Anonymous(file) = &map.kind else { panic!("shared memory is an anonymous file") };
        let whole = Storage::from_descriptor(std::os::fd::AsFd::as_fd(file)).unwrap();
        assert_eq!(whole.address().unwrap() + at, storage.address().unwrap());
        assert!(file.set_len(1 << 30).is_err(), "the size is sealed");
    }
}

#[cfg(unix)]
#[test]
fn small_ranges_share_a_file_and_never_overlap() {
    let mut ranges: Vec<_> = (0..2000).map(|i| (shm::allocate(i).unwrap(), i)).collect();
    let files: std::collections::HashSet<_> = ranges.iter().map(|((map, _), _)| map.identity()).collect();
    assert!(files.len() <= 3, "{}", files.len()); // 2 MB in files of 1 MB each
    ranges.sort_by_key(|((map, at), _)| (map.identity(), *at));
    for pair in ranges.windows(2) {
        let (((map, at), length), ((next, start), _)) = (&pair[0], &pair[1]);
        assert!(map.identity() != next.identity() || at + length <= *start);
    }
}

#[cfg(unix)]
#[test]
fn threads_share_one_storage_while_others_read_it() {
    use strided_core::storage::Fill;
    for _ in 0..200 {
        let storage = Storage::new(4096, Fill::Zero).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| (0..20).for_each(|_| assert_eq!(bytes(&storage), [0; 4096])));
                scope.spawn(|| storage.share().unwrap());
            }
        });
        assert!(storage.is_shared());
    }
}

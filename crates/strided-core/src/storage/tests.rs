use super::*;
use std::sync::Arc;

fn read(storage: &Storage, at: usize) -> u8 {
    let pin = storage.pin_all().unwrap();
    assert!(at < pin.length);
    // SAFETY: `at` is inside the pinned bytes, as asserted.
    unsafe { pin.start.add(at).read() }
}

#[test]
fn a_header_is_one_cache_line() {
    assert_eq!(HEADER_BYTES, 64);
}

#[test]
fn resize_keeps_the_common_prefix_and_zeroes_the_rest() {
    for bytes in [5usize, 100, 5000, 100_000] {
        let storage = Storage::new(bytes, Fill::Uninitialized).unwrap();
        // SAFETY: the storage has `bytes` bytes, and no other thread knows it.
        unsafe { storage.pin_all().unwrap().start.write_bytes(7, bytes) };
        storage.resize(2 * bytes).unwrap();
        assert_eq!((read(&storage, bytes - 1), read(&storage, bytes), storage.length()), (7, 0, 2 * bytes));
        storage.resize(bytes / 2).unwrap();
        assert_eq!((read(&storage, bytes / 2 - 1), storage.length()), (7, bytes / 2));
        storage.resize(0).unwrap();
        assert_eq!(storage.length(), 0);
    }
}

#[test]
fn an_exported_storage_is_not_resized() {
    let storage = Storage::new(8, Fill::Zero).unwrap();
    storage.export();
    assert_eq!(*storage.resize(16).unwrap_err().problem, Problem::Exported { exports: 1 });
    storage.unexport();
    storage.resize(16).unwrap();
}

#[test]
fn a_permanently_exported_storage_stays_where_it_is() {
    let storage = Storage::new(8, Fill::Zero).unwrap();
    let address = storage.address().unwrap();
    for _ in 0..3 {
        storage.export_permanently();
        storage.export();
        storage.unexport();
        assert_eq!(*storage.resize(16).unwrap_err().problem, Problem::AddressTaken);
    }
    assert_eq!((storage.address().unwrap(), storage.length()), (address, 8));
}

#[test]
fn a_foreign_owner_is_dropped_once_with_the_last_handle() {
    let mut bytes = [1u8, 2, 3];
    let (storage, drops) = counted(&mut bytes, true);
    let other = storage.clone();
    assert!(!storage.is_owned());
    assert_eq!(*storage.resize(1).unwrap_err().problem, Problem::ReadOnly);
    drop(storage);
    assert_eq!((drops.load(Relaxed), read(&other, 2)), (0, 3));
    drop(other);
    assert_eq!(drops.load(Relaxed), 1);
}

#[test]
fn pins_refuse_what_leaves_the_storage() {
    let storage = Storage::new(12, Fill::Zero).unwrap();
    let layout = Layout::row_major(&[3]).unwrap();
    assert!(storage.try_pin(&layout, DType::F32, Access::Write).is_ok());
    storage.resize(8).unwrap();
    let error = storage.try_pin(&layout, DType::F32, Access::Read).err().unwrap();
    assert_eq!(*error.problem, Problem::OutsideStorage { first: 0, last: 2, length: 2 });
}

#[test]
fn readers_never_see_freed_memory_while_another_thread_resizes() {
    let storage = Storage::new(4096, Fill::Zero).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !stop.load(Relaxed) {
                    let pin = storage.pin_all().unwrap();
                    // SAFETY: `i` is inside the pinned bytes, and only zeros are ever written to them.
                    let sum: u64 =
                        (0..pin.length).map(|i| unsafe { pin.start.add(i).read_volatile() } as u64).sum();
                    assert_eq!(sum, 0);
                }
            });
        }
        for round in 0..2000 {
            storage.resize(1 + round * 37 % 9000).unwrap();
        }
        stop.store(true, Relaxed);
    });
}

/// Counts how often it is dropped.
struct CountedOwner(Arc<AtomicUsize>);

impl Owner for CountedOwner {}

impl Drop for CountedOwner {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

fn counted(bytes: &mut [u8], readonly: bool) -> (Storage, Arc<AtomicUsize>) {
    let drops = Arc::new(AtomicUsize::new(0));
    let owner = Box::new(CountedOwner(drops.clone()));
    // SAFETY: the callers keep the bytes longer than the storage.
    let storage = unsafe { Storage::foreign(bytes.as_mut_ptr(), bytes.len(), readonly, owner) };
    (storage.unwrap(), drops)
}

#[test]
fn an_invalidated_storage_has_dropped_its_owner_and_refuses_pins() {
    let mut bytes = [7u8; 16];
    let (storage, drops) = counted(&mut bytes, false);
    let other = storage.clone();
    let layout = Layout::row_major(&[2]).unwrap();
    assert!(storage.try_pin(&layout, DType::F32, Access::Write).is_ok());
    storage.export();
    assert_eq!(*storage.invalidate().unwrap_err().problem, Problem::Exported { exports: 1 });
    assert_eq!((drops.load(Relaxed), read(&other, 15)), (0, 7));
    storage.unexport();
    for _ in 0..2 {
        storage.invalidate().unwrap();
        assert_eq!((drops.load(Relaxed), other.length()), (1, 0));
    }
    let refused = |result: Result<()>| assert_eq!(*result.unwrap_err().problem, Problem::Invalidated);
    refused(other.try_pin(&layout, DType::F32, Access::Read).map(drop));
    refused(other.try_pin_at(0, DType::U8, Access::Write).map(drop));
    refused(other.check_valid());
    refused(other.resize(0));
    refused(other.grow(1));
    refused(other.share());
    let empty = Layout::row_major(&[0]).unwrap();
    assert!(other.try_pin(&empty, DType::F32, Access::Write).unwrap().is_some());
    assert!(!other.is_owned() && !other.is_shared());
    storage.export(); // of zero elements
    storage.invalidate().unwrap();
    storage.unexport();
    drop((storage, other));
    assert_eq!(drops.load(Relaxed), 1);
}

#[test]
fn an_empty_storage_is_valid_until_it_is_invalidated() {
    let (storage, drops) = counted(&mut [], true);
    assert_eq!(storage.valid_length(), Ok(0));
    storage.invalidate().unwrap();
    assert_eq!((storage.check_valid().is_err(), drops.load(Relaxed)), (true, 1));
}

#[test]
fn memory_of_every_kind_can_be_invalidated() {
    for bytes in [0, 8, 100_000] {
        let storage = Storage::new(bytes, Fill::Zero).unwrap();
        storage.invalidate().unwrap();
        assert_eq!((storage.length(), storage.is_owned()), (0, false));
        assert!(storage.check_valid().is_err());
    }
    if cfg!(target_os = "linux") {
        let storage = Storage::new(8, Fill::Zero).unwrap();
        storage.share().unwrap();
        storage.invalidate().unwrap();
        assert!(storage.map().is_none() && storage.check_valid().is_err());
    }
}

#[test]
fn readers_never_see_memory_that_was_invalidated() {
    for _ in 0..50 {
        let mut bytes = vec![1u8; 4096];
        let (storage, _) = counted(&mut bytes, false);
        let reads = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    loop {
                        let pin = storage.pin_all().unwrap();
                        reads.fetch_add(1, Relaxed);
                        if pin.length == 0 {
                            break;
                        }
                        // SAFETY: `i` is inside the pinned bytes.
                        let sum: usize = (0..pin.length)
                            .map(|i| unsafe { pin.start.add(i).read_volatile() } as usize)
                            .sum();
                        assert_eq!(sum, 4096);
                    }
                });
            }
            while reads.load(Relaxed) < 3 {
                std::thread::yield_now();
            }
            storage.invalidate().unwrap();
            bytes.fill(0);
        });
    }
}

#[test]
fn memory_of_a_device_is_never_addressed() {
    let mut storage = Storage::new_on(Device::Test, 24, Fill::Uninitialized).unwrap();
    let refused = |error: Error| matches!(*error.problem, Problem::NotOnHost { .. });
    let layout = Layout::row_major(&[6]).unwrap();
    assert_eq!((storage.device(), storage.length(), storage.is_shared()), (Device::Test, 24, false));
    assert!(storage.pin_all().is_err_and(refused) && storage.address().is_err_and(refused));
    for access in [Access::Read, Access::Write] {
        assert!(storage.try_pin(&layout, DType::F32, access).is_err_and(refused));
        assert!(storage.try_pin_at(0, DType::U8, access).is_err_and(refused));
    }
    assert!(storage.copy_out(0, &mut [0; 4]).is_err_and(refused));
    assert!(storage.write_out(0, 0, |_| Ok(())).is_err_and(refused));
    for bytes in [0, 24, 48] {
        assert!(storage.resize(bytes).is_err_and(refused));
    }
    assert!(storage.grow(24).is_ok() && storage.grow(25).is_err_and(refused));
    assert!(storage.check_growth(24).is_ok() && storage.check_growth(25).is_err_and(refused));
    assert!(storage.share().is_err_and(refused));
    assert!(storage.exclusive_start().is_none() && storage.map().is_none());
    assert!(storage.check_elements(&layout, DType::F32).is_ok());
    assert!(!storage.check_elements(&layout, DType::F64).is_err_and(refused)); // outside of 24 bytes
    assert!(storage.check_elements(&layout, DType::F64).is_err());
    assert!(Storage::new_on(Device::Test, 24, Fill::Zero).is_err_and(refused));
    storage.invalidate().unwrap();
    assert_eq!((storage.length(), storage.check_valid().is_err()), (0, true));
}

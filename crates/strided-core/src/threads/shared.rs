//! Addresses that the pieces of a call share.

/// A raw pointer, or several, that the pieces of a call use on several threads.
#[derive(Clone, Copy)]
pub struct Shared<A>(A);

/// One raw pointer or more.
pub trait Address: Copy {}
impl<T> Address for *const T {}
impl<T> Address for *mut T {}
impl<T, const N: usize> Address for [*mut T; N] {}

// SAFETY: an address is plain data. Only unsafe code can access what it points to, and that code states why the memory is
// valid, and that no other piece writes what it accesses.
unsafe impl<A: Address> Send for Shared<A> {}
// SAFETY: as for `Send`.
unsafe impl<A: Address> Sync for Shared<A> {}

impl<A: Address> Shared<A> {
    #[inline(always)]
    pub fn new(address: A) -> Shared<A> {
        Shared(address)
    }

    #[inline(always)]
    pub fn get(self) -> A {
        self.0
    }
}

impl<T> Shared<*mut T> {
    /// The address of an element, which may be outside.
    #[inline(always)]
    pub fn at(self, index: usize) -> *mut T {
        self.0.wrapping_add(index)
    }
}

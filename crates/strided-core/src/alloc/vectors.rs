//! Vectors whose allocation may fail. Everything that grows with the operands of a call is allocated here or in a
//! storage, so that a call that needs too much memory is an error; `vec!` and `collect` would end the process.

use crate::error::{Error, Problem, Result};
use std::collections::HashMap;
use std::hash::Hash;

/// The error of a request for this many bytes.
#[cold]
pub fn out_of_memory(bytes: usize) -> Error {
    Error::new(Problem::OutOfMemory { bytes })
}

/// An empty vector with room for `n` elements.
pub fn try_vec<T>(n: usize) -> Result<Vec<T>> {
    let mut vector = Vec::new();
    try_reserve(&mut vector, n)?;
    Ok(vector)
}

/// Makes room for `n` more elements. The capacity at least doubles, if it must grow.
pub fn try_reserve<T>(vector: &mut Vec<T>, n: usize) -> Result<()> {
    vector.try_reserve(n).map_err(|_| out_of_memory((vector.len() + n).saturating_mul(size_of::<T>())))
}

/// A vector of `n` copies of a value.
pub fn try_filled<T: Clone>(n: usize, value: T) -> Result<Vec<T>> {
    let mut vector = try_vec(n)?;
    vector.resize(n, value);
    Ok(vector)
}

/// The elements of an iterator whose length is known.
pub fn try_collect<T>(items: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>> {
    let mut vector = try_vec(items.len())?;
    vector.extend(items);
    Ok(vector)
}

/// The elements of an iterator whose length is known, or the first error.
pub fn try_collect_ok<T>(items: impl ExactSizeIterator<Item = Result<T>>) -> Result<Vec<T>> {
    let mut vector = try_vec(items.len())?;
    for item in items {
        vector.push(item?);
    }
    Ok(vector)
}

/// Appends an element to a vector whose length is not known before.
#[inline]
pub fn try_push<T>(vector: &mut Vec<T>, element: T) -> Result<()> {
    if vector.len() == vector.capacity() {
        try_reserve(vector, 1)?;
    }
    vector.push(element);
    Ok(())
}

/// Appends a character to a string.
pub fn try_push_char(text: &mut String, character: char) -> Result<()> {
    text.try_reserve(character.len_utf8()).map_err(|_| out_of_memory(2 * text.len()))?;
    text.push(character);
    Ok(())
}

/// A copy of a text.
pub fn try_text(text: &str) -> Result<String> {
    let mut copy = String::new();
    copy.try_reserve_exact(text.len()).map_err(|_| out_of_memory(text.len()))?;
    copy.push_str(text);
    Ok(copy)
}

/// Makes room for one more entry of a map.
pub fn try_reserve_entry<K: Eq + Hash, V>(map: &mut HashMap<K, V>) -> Result<()> {
    map.try_reserve(1).map_err(|_| out_of_memory(2 * map.len() * size_of::<(K, V)>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_that_no_machine_has_are_refused() {
        let bytes = |error: Error| match *error.problem {
            Problem::OutOfMemory { bytes } => bytes,
            other => panic!("{other:?}"),
        };
        assert_eq!(try_vec::<u64>(1 << 50).map_err(bytes), Err(1 << 53));
        assert_eq!(try_filled(usize::MAX, 1u64).map_err(bytes), Err(usize::MAX));
        assert_eq!(try_collect((0..usize::MAX).map(|i| i as u16)).map_err(bytes), Err(usize::MAX));
    }

    #[test]
    fn vectors_have_the_elements_that_were_asked_for() {
        assert_eq!(try_filled(3, 7).unwrap(), [7, 7, 7]);
        assert_eq!(try_collect(1..4).unwrap(), [1, 2, 3]);
        let odd = |i: i32| if i % 2 == 1 { Ok(i) } else { Err(out_of_memory(0)) };
        assert_eq!(try_collect_ok([1, 3].into_iter().map(odd)).unwrap(), [1, 3]);
        assert!(try_collect_ok([1, 2].into_iter().map(odd)).is_err());
    }
}

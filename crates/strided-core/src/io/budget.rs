//! The memory that a file may take.

use super::refusal;
use crate::alloc::usable_memory;
use crate::error::{Error, Problem, Result};
use std::collections::HashMap;
use std::hash::Hash;

/// Without `max_bytes`, what a file describes may take this share of the memory that the process may use.
const DEFAULT_SHARE: u64 = 2;
/// The memory that is assumed where the system does not say how much there is.
const ASSUMED_MEMORY: u64 = 4 << 30;
/// After so many bytes of small allocations, it is tried whether as many are left. A small allocation that fails ends the
/// process; one of this size only fails.
const PROBE: usize = 16 << 20;

/// The limit of a file without `max_bytes`.
pub fn default_limit() -> u64 {
    usable_memory().map_or(ASSUMED_MEMORY, |bytes| bytes as u64) / DEFAULT_SHARE
}

/// Bytes that may still be allocated.
#[derive(Clone, Debug)]
pub struct Budget {
    left: u64,
    max: u64,
    /// Bytes until the next probe.
    until_probe: usize,
}

impl Default for Budget {
    /// No limit, as for objects that are in memory already.
    fn default() -> Budget {
        Budget { left: u64::MAX, max: u64::MAX, until_probe: PROBE }
    }
}

impl Budget {
    pub fn new(max: u64) -> Budget {
        Budget { left: max, max, until_probe: PROBE }
    }

    /// Takes bytes from the budget.
    #[inline]
    pub fn spend(&mut self, bytes: usize) -> Result<()> {
        match self.left.checked_sub(bytes as u64) {
            Some(left) => self.left = left,
            None => return Err(self.exceeded()),
        }
        match self.until_probe.checked_sub(bytes) {
            Some(left) => self.until_probe = left,
            None => {
                self.until_probe = PROBE;
                probe(PROBE)?;
            }
        }
        Ok(())
    }

    /// Bytes that were taken.
    pub fn spent(&self) -> u64 {
        self.max - self.left
    }

    #[cold]
    fn exceeded(&self) -> Error {
        refusal(format!(
            "the file describes an object of more than {} bytes; max_bytes= sets another limit",
            self.max
        ))
    }
}

/// Refuses if so many bytes cannot be allocated.
fn probe(bytes: usize) -> Result<()> {
    reserve(&mut Vec::<u8>::new(), 2 * bytes)
}

/// Makes room for further items, or says that there is no memory for them.
pub fn reserve<T>(items: &mut Vec<T>, more: usize) -> Result<()> {
    items.try_reserve(more).map_err(|_| out_of_memory(more.saturating_mul(size_of::<T>())))
}

/// Appends an item to a list that grows with the file.
#[inline]
pub fn push<T>(items: &mut Vec<T>, item: T) -> Result<()> {
    if items.len() == items.capacity() {
        reserve(items, 1)?;
    }
    items.push(item);
    Ok(())
}

/// The items of an iterator that knows how many there are.
pub fn collected<T>(items: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>> {
    let mut list = Vec::new();
    reserve(&mut list, items.len())?;
    list.extend(items);
    Ok(list)
}

/// The same, until one of them is an error.
pub fn try_collected<T>(items: impl ExactSizeIterator<Item = Result<T>>) -> Result<Vec<T>> {
    let mut list = Vec::new();
    reserve(&mut list, items.len())?;
    for item in items {
        list.push(item?);
    }
    Ok(list)
}

/// Appends a character to a text that grows with the file.
pub fn push_char(text: &mut String, character: char) -> Result<()> {
    text.try_reserve(character.len_utf8()).map_err(|_| out_of_memory(2 * text.len()))?;
    text.push(character);
    Ok(())
}

/// Makes room for one more entry of a map.
pub fn reserve_entry<K: Eq + Hash, V>(map: &mut HashMap<K, V>) -> Result<()> {
    map.try_reserve(1).map_err(|_| out_of_memory(2 * map.len() * size_of::<(K, V)>()))
}

/// A list of equal items.
pub fn filled<T: Clone>(count: usize, item: T) -> Result<Vec<T>> {
    let mut items = Vec::new();
    reserve(&mut items, count)?;
    items.resize(count, item);
    Ok(items)
}

#[cold]
fn out_of_memory(bytes: usize) -> Error {
    Error::new("", Problem::OutOfMemory { bytes })
}

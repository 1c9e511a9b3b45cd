//! The state of a random number generator.

use super::philox::{Draw, GROUP, Word};
use crate::error::{Error, Result};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// The seed of a generator that was not given one: that of PyTorch.
pub const DEFAULT_SEED: u64 = 67_280_421_310_721;
/// The first bytes of a saved state: the algorithm, and the version of the format.
const TAG: [u8; 8] = *b"philox\0\x01";
/// Bytes of a saved state: the tag, the seed, the offset and the stream, little-endian, and four zeros.
pub const STATE_BYTES: usize = 32;

/// A seed, a stream and the number of blocks that draws have taken so far. Draws of several threads never overlap: each
/// takes all its blocks in one step, under a lock.
pub struct Generator {
    next: Mutex<Draw>,
}

impl Generator {
    pub const fn new(seed: u64) -> Generator {
        Generator { next: Mutex::new(Draw { seed, stream: 0, offset: 0 }) }
    }

    /// The generator of calls that are not given one. Its first seed comes from the system.
    pub fn default_one() -> &'static Generator {
        static DEFAULT: LazyLock<Generator> = LazyLock::new(|| Generator::new(entropy()));
        &DEFAULT
    }

    fn lock(&self) -> MutexGuard<'_, Draw> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts anew with a seed.
    pub fn set_seed(&self, seed: u64) {
        *self.lock() = Draw { seed, stream: 0, offset: 0 };
    }

    /// Starts anew with a seed from the system, and returns it.
    pub fn seed_from_entropy(&self) -> u64 {
        let seed = entropy();
        self.set_seed(seed);
        seed
    }

    pub fn seed(&self) -> u64 {
        self.lock().seed
    }

    /// Takes blocks for a draw.
    pub fn take_blocks(&self, blocks: usize) -> Draw {
        let mut next = self.lock();
        let draw = *next;
        next.offset = draw.offset.wrapping_add(blocks as u64);
        draw
    }

    /// Takes the groups in which a number of words are.
    pub fn take<W: Word>(&self, words: usize) -> Draw {
        self.take_blocks(words.div_ceil(W::PER_GROUP) * GROUP)
    }

    /// A generator with a seed and a stream that are drawn from this one.
    pub fn split(&self) -> Generator {
        let [low, high, stream, _] = self.take_blocks(1).block(0, 0);
        let seed = low as u64 | (high as u64) << 32;
        Generator { next: Mutex::new(Draw { seed, stream, offset: 0 }) }
    }

    /// The state as bytes.
    pub fn state(&self) -> [u8; STATE_BYTES] {
        let Draw { seed, stream, offset } = *self.lock();
        let mut bytes = [0; STATE_BYTES];
        bytes[..8].copy_from_slice(&TAG);
        bytes[8..16].copy_from_slice(&seed.to_le_bytes());
        bytes[16..24].copy_from_slice(&offset.to_le_bytes());
        bytes[24..28].copy_from_slice(&stream.to_le_bytes());
        bytes
    }

    /// Restores a state. Refuses bytes that are none.
    pub fn set_state(&self, bytes: &[u8]) -> Result<()> {
        let wrong = |got: String| Error::argument("new_state", got, "what get_state returned");
        let Ok(state) = <&[u8; STATE_BYTES]>::try_from(bytes) else {
            return Err(wrong(format!("{} bytes", bytes.len())));
        };
        if state[..8] != TAG || state[28..] != [0; 4] {
            return Err(wrong("not a state of a strided generator".into()));
        }
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| state[at + i]));
        *self.lock() = Draw { seed: number(8), offset: number(16), stream: number(24) as u32 };
        Ok(())
    }
}

/// 64 bits that differ from call to call: a keyed hash of the time, the process and a count. The system provides the key.
pub fn entropy() -> u64 {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let mut hasher = RandomState::new().build_hasher();
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    hasher.write_u128(time);
    hasher.write_u32(std::process::id());
    hasher.write_u64(CALLS.fetch_add(1, Relaxed));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_follow_each_other_without_overlap() {
        let generator = Generator::new(5);
        let first = generator.take::<u32>(257);
        assert_eq!(first, Draw { seed: 5, stream: 0, offset: 0 });
        assert_eq!(generator.take::<u64>(1).offset, 2 * GROUP as u64);
        assert_eq!(generator.take_blocks(3).offset, 3 * GROUP as u64);
        assert_eq!(generator.take_blocks(0).offset, 3 * GROUP as u64 + 3);
    }

    #[test]
    fn a_state_restores_seed_stream_and_offset() {
        let parent = Generator::new(9);
        let child = parent.split();
        child.take_blocks(77);
        let copy = Generator::new(0);
        copy.set_state(&child.state()).unwrap();
        assert_eq!(copy.take_blocks(1), child.take_blocks(1));
        assert!(copy.set_state(&[0; STATE_BYTES]).is_err() && copy.set_state(&child.state()[1..]).is_err());
        assert_ne!(entropy(), entropy());
    }
}

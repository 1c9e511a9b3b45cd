//! The Mersenne twisters of Matsumoto and Nishimura: MT19937, by which Torch7 draws, and the 64-bit MT19937-64, by which
//! DeepMind Lab does.

/// Implements a twister: the word, the numbers of words and of the middle one, and the constants of the recurrence, of
/// tempering and of seeding.
macro_rules! twister {
    ($(#[$doc:meta])+ $name:ident $word:ident $n:literal $m:literal, lower $lower:literal, twist $twist:literal,
        temper $u:literal $d:literal $s:literal $b:literal $t:literal $c:literal $l:literal, seed $factor:literal $shift:literal) => {
        $(#[$doc])+
        #[derive(Clone)]
        pub struct $name {
            words: [$word; $n],
            /// The word that is returned next, unless all are regenerated before.
            next: usize,
            /// Draws until the words are regenerated; 1 if the next draw does it (Torch's `left`).
            left: usize,
        }

        impl $name {
            /// The number of words of the state.
            pub const WORDS: usize = $n;

            pub fn new(seed: $word) -> $name {
                let mut words = [seed; $n];
                for i in 1..$n {
                    let last: $word = words[i - 1];
                    words[i] = (last ^ (last >> $shift)).wrapping_mul($factor).wrapping_add(i as $word);
                }
                $name { words, next: 0, left: 1 }
            }

            /// The twister with such a state; `None` if it would read beyond the last word before it regenerates them.
            pub fn with_state(words: [$word; $n], next: usize, left: usize) -> Option<$name> {
                let is_inside = (1..=$n + 1).contains(&left) && next <= $n + 1 - left;
                is_inside.then_some($name { words, next, left })
            }

            /// The words, the next one, and the draws until they are regenerated.
            pub fn state(&self) -> (&[$word; $n], usize, usize) {
                (&self.words, self.next, self.left)
            }

            #[inline]
            pub fn next_word(&mut self) -> $word {
                self.left -= 1;
                if self.left == 0 {
                    self.regenerate();
                }
                let mut word = self.words[self.next];
                self.next += 1;
                word ^= (word >> $u) & $d;
                word ^= (word << $s) & $b;
                word ^= (word << $t) & $c;
                word ^ (word >> $l)
            }

            fn regenerate(&mut self) {
                const LOWER: $word = (1 << $lower) - 1;
                let twisted = |high: $word, low: $word| {
                    let joined = (high & !LOWER) | (low & LOWER);
                    (joined >> 1) ^ ((joined & 1).wrapping_neg() & $twist)
                };
                let words = &mut self.words;
                for i in 0..$n - $m {
                    words[i] = words[i + $m] ^ twisted(words[i], words[i + 1]);
                }
                for i in $n - $m..$n - 1 {
                    words[i] = words[i + $m - $n] ^ twisted(words[i], words[i + 1]);
                }
                words[$n - 1] = words[$m - 1] ^ twisted(words[$n - 1], words[0]);
                (self.next, self.left) = (0, $n);
            }
        }
    };
}

twister! {
    /// MT19937, with words of 32 bits.
    Mt19937 u32 624 397, lower 31, twist 0x9908_b0df,
    temper 11 0xffff_ffff 7 0x9d2c_5680 15 0xefc6_0000 18, seed 1_812_433_253 30
}
twister! {
    /// MT19937-64, with words of 64 bits.
    Mt19937x64 u64 312 156, lower 31, twist 0xb502_6f5a_a966_19e9,
    temper 29 0x5555_5555_5555_5555 17 0x71d6_7fff_eda6_0000 37 0xfff7_eee0_0000_0000 43,
    seed 6_364_136_223_846_793_005 62
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The C++ standard, [rand.predef]: the 10000th number of a generator that was made with the default seed, 5489.
    #[test]
    fn the_ten_thousandth_numbers_are_those_of_the_standard() {
        let mut single = Mt19937::new(5489);
        let mut double = Mt19937x64::new(5489);
        for _ in 1..10_000 {
            single.next_word();
            double.next_word();
        }
        assert_eq!((single.next_word(), double.next_word()), (4_123_659_995, 9_981_545_732_273_789_042));
    }

    #[test]
    fn a_state_continues_where_it_was_taken_and_never_reads_behind_the_words() {
        let mut twister = Mt19937::new(1);
        for _ in 0..700 {
            let (words, next, left) = twister.state();
            let mut copy = Mt19937::with_state(*words, next, left).unwrap();
            assert_eq!(copy.next_word(), twister.next_word());
        }
        for (next, left) in [(0, 0), (625, 1), (1, 625), (624, 2), (usize::MAX, 1), (0, usize::MAX)] {
            assert!(Mt19937::with_state([0; 624], next, left).is_none());
        }
        for (next, left) in [(0, 1), (624, 1), (0, 625), (623, 2)] {
            let mut twister = Mt19937::with_state([7; 624], next, left).unwrap();
            for _ in 0..2000 {
                twister.next_word();
            }
        }
    }
}

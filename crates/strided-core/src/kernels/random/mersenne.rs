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
            state: [$word; $n],
            /// The number of words of the state that were returned.
            used: usize,
        }

        impl $name {
            pub fn new(seed: $word) -> $name {
                let mut state = [seed; $n];
                for i in 1..$n {
                    let last: $word = state[i - 1];
                    state[i] = (last ^ (last >> $shift)).wrapping_mul($factor).wrapping_add(i as $word);
                }
                $name { state, used: $n }
            }

            pub fn next_word(&mut self) -> $word {
                if self.used == $n {
                    self.twist();
                }
                let mut word = self.state[self.used];
                self.used += 1;
                word ^= (word >> $u) & $d;
                word ^= (word << $s) & $b;
                word ^= (word << $t) & $c;
                word ^ (word >> $l)
            }

            fn twist(&mut self) {
                const LOWER: $word = (1 << $lower) - 1;
                for i in 0..$n {
                    let joined = (self.state[i] & !LOWER) | (self.state[(i + 1) % $n] & LOWER);
                    let twisted = (joined >> 1) ^ (if joined & 1 == 1 { $twist } else { 0 });
                    self.state[i] = self.state[(i + $m) % $n] ^ twisted;
                }
                self.used = 0;
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

/// Torch7's generator: uniform numbers of 32 bits, and normal ones in pairs, the second of which is kept.
#[derive(Clone)]
pub struct TorchGenerator {
    words: Mt19937,
    /// The second half of a pair of normal numbers: its distance from 0 and the angle in turns.
    kept: Option<(f64, f64)>,
}

impl TorchGenerator {
    pub fn new(seed: u32) -> TorchGenerator {
        TorchGenerator { words: Mt19937::new(seed), kept: None }
    }

    pub fn random(&mut self) -> u32 {
        self.words.next_word()
    }

    /// A number in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.random() as f64 / 2f64.powi(32)
    }

    /// A number of the standard normal distribution, by the method of Box and Muller: the cosine, then the sine.
    pub fn normal(&mut self) -> f64 {
        if let Some((length, turns)) = self.kept.take() {
            return length * (2.0 * std::f64::consts::PI * turns).sin();
        }
        let (turns, rest) = (self.uniform(), self.uniform());
        let length = (-2.0 * (1.0 - rest).ln()).sqrt();
        self.kept = Some((length, turns));
        length * (2.0 * std::f64::consts::PI * turns).cos()
    }
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

    /// Torch7's formulas, from words of NumPy's MT19937 with the same seed.
    #[test]
    fn torch_numbers_follow_from_the_words() {
        let mut torch = TorchGenerator::new(5489);
        assert_eq!(torch.random(), 3_499_211_612);
        assert_eq!(torch.uniform(), 581_869_302.0 / 4_294_967_296.0);
        for expected in [1.575_376_390_109_929_1, -1.059_203_927_932_523_6] {
            assert!((torch.normal() - expected).abs() < 1e-15);
        }
        assert_eq!(torch.random(), 545_404_204);
    }
}

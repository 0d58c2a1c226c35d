//! Pseudo-random numbers: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
//!
//! Invariant: the numbers depend only on the seed, not on the machine or on other crates.

/// A stream of pseudo-random numbers.
pub struct Random(u64);

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number at least zero and below `bound`. Panics if `bound` is not positive.
    pub fn below<N>(&mut self, bound: N) -> N
    where
        N: TryInto<u64> + TryFrom<u64>,
    {
        let bound = bound.try_into().ok().filter(|&bound| bound > 0);
        let number = self.next() % bound.expect("a positive bound");
        N::try_from(number).ok().expect("less than the bound")
    }

    /// A number from `least` to `most`, both included.
    pub fn between(&mut self, least: i64, most: i64) -> i64 {
        least + self.below(most - least + 1)
    }

    /// True with probability `1 / times`.
    pub fn one_in(&mut self, times: u32) -> bool {
        self.below(times) == 0
    }

    /// One of the elements. Panics if there are none.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

//! Where a generator's choices come from: a seed, or bytes.

use std::ops::RangeInclusive;

/// A source of choices. One of a seed never ends. One of bytes spends them, and
/// chooses what is plain and short when none is left: so fewer and smaller bytes make
/// a plainer record, which is what shrinkers and coverage-guided fuzzers need.
#[derive(Debug, Clone)]
pub struct Choices(Source);

#[derive(Debug, Clone)]
enum Source {
    Seed(fastrand::Rng),
    Bytes { bytes: Vec<u8>, spent: usize },
}

impl Choices {
    /// The choices of a seed: the same everywhere.
    #[must_use]
    pub fn of_seed(seed: u64) -> Self {
        Self(Source::Seed(fastrand::Rng::with_seed(seed)))
    }

    /// The choices that bytes make.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(Source::Bytes { bytes: bytes.to_vec(), spent: 0 })
    }

    /// Which of `n` kinds, the first being 0; the last is taken for the plain one.
    /// 0 where there is no choice.
    pub fn below(&mut self, n: usize) -> usize {
        let last = n.saturating_sub(1);
        match &mut self.0 {
            Source::Seed(rng) => rng.usize(0..=last),
            Source::Bytes { .. } => last - self.bytes_below(n),
        }
    }

    /// How many: one of the range. The least where no bytes are left; the start where
    /// the range is empty.
    pub fn between(&mut self, range: RangeInclusive<usize>) -> usize {
        let (low, high) = range.into_inner();
        let span = high.saturating_sub(low);
        match &mut self.0 {
            Source::Seed(rng) => low + rng.usize(0..=span),
            Source::Bytes { .. } => low + self.bytes_below(span.saturating_add(1)),
        }
    }

    /// True once in `n`.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// True or false.
    pub fn bool(&mut self) -> bool {
        self.below(2) == 0
    }

    /// Puts the items into another order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            let other = end - self.between(0..=end);
            items.swap(end, other);
        }
    }

    /// One of the items. None if there are none.
    pub fn of<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        let at = self.below(items.len());
        items.get(at)
    }

    /// A number below `n` made of as many bytes as it needs; 0 when they are spent.
    fn bytes_below(&mut self, n: usize) -> usize {
        let Source::Bytes { bytes, spent } = &mut self.0 else { return 0 };
        let wanted = if n <= 1 << 8 { 1 } else { 4 };
        let mut number = 0;
        for _ in 0..if n <= 1 { 0 } else { wanted } {
            number = (number << 8) | usize::from(bytes.get(*spent).copied().unwrap_or_default());
            *spent += 1;
        }
        number % n.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spent_bytes_choose_the_plain_and_the_least() {
        let mut choices = Choices::of_bytes(&[]);
        assert_eq!(choices.below(12), 11);
        assert_eq!(choices.between(1..=4), 1);
        assert!(!choices.one_in(3));
        assert!(!choices.bool());
        let mut items = [1, 2, 3];
        choices.shuffle(&mut items);
        assert_eq!(items, [1, 2, 3]);
    }

    #[test]
    fn every_choice_can_be_made() {
        let mut seeded = Choices::of_seed(1);
        let bytes: Vec<u8> = (0..=255).collect();
        let mut of_bytes = Choices::of_bytes(&bytes);
        for choices in [&mut seeded, &mut of_bytes] {
            let mut seen = [false; 7];
            for _ in 0..200 {
                seen[choices.below(7)] = true;
            }
            assert_eq!(seen, [true; 7]);
        }
    }

    #[test]
    fn nothing_to_choose_from_is_no_panic() {
        for choices in [&mut Choices::of_seed(1), &mut Choices::of_bytes(&[9, 9])] {
            assert_eq!(choices.below(0), 0);
            assert_eq!(choices.of::<u8>(&[]), None);
            assert_eq!(choices.between(RangeInclusive::new(5, 3)), 5);
        }
    }
}

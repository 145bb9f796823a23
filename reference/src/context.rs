//! The context: the ordered rows that stand for the model now.
//!
//! It is a fold of the record (`record.one-history`): it starts empty, a row of
//! append origin goes to its end, and a row that replaces a range takes the
//! range's place. The rows of the range leave it for ever; they stay in the
//! record. Every row has a place in it, rows for people and bookkeeping rows
//! too: what of it crosses is for the replay to say.

use alloc::vec::Vec;

/// The context of a record. A row is known by its place in the record, which is
/// its seq.
///
/// The order is a chain, so that a replacement costs what it takes out and not
/// what stands behind it.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// One for each row of the record.
    links: Vec<Link>,
    first: Option<usize>,
    last: Option<usize>,
}

#[derive(Debug, Clone, Copy)]
struct Link {
    before: Option<usize>,
    after: Option<usize>,
    held: bool,
}

impl Context {
    /// The places of the rows in the context, in order.
    pub fn places(&self) -> impl Iterator<Item = usize> {
        core::iter::successors(self.first, |place| self.after(*place))
    }

    /// True if the row stands in the context.
    #[must_use]
    pub fn holds(&self, place: usize) -> bool {
        self.links.get(place).is_some_and(|link| link.held)
    }

    /// The row that follows in the context.
    #[must_use]
    pub fn after(&self, place: usize) -> Option<usize> {
        self.links.get(place).and_then(|link| link.after)
    }

    /// True if `place` stands somewhere behind `before`.
    #[must_use]
    pub(crate) fn follows(&self, before: usize, place: usize) -> bool {
        core::iter::successors(self.after(before), |at| self.after(*at)).any(|at| at == place)
    }

    /// Gives the record's next row its place: that of the range from `first` to
    /// `last`, or the end.
    pub(crate) fn place(&mut self, replaced: Option<(usize, usize)>) {
        let (before, after) = match replaced {
            None => (self.last, None),
            Some((first, last)) => {
                let before = self.links[first].before;
                let after = self.after(last);
                let mut leaving = Some(first);
                while let Some(place) = leaving {
                    self.links[place].held = false;
                    leaving = self.after(place).filter(|_| place != last);
                }
                (before, after)
            }
        };
        let row = self.links.len();
        self.links.push(Link { before, after, held: true });
        match before {
            Some(before) => self.links[before].after = Some(row),
            None => self.first = Some(row),
        }
        match after {
            Some(after) => self.links[after].before = Some(row),
            None => self.last = Some(row),
        }
    }
}

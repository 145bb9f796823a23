//! The brackets of compactions: which have begun, and which have ended
//! (`compaction.bracket`).

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use onrecord_spec::record::{CompactionStage, CompactionStep};
use onrecord_spec::text::Text;

/// The brackets of a record.
#[derive(Debug, Clone, Default)]
pub struct Brackets {
    by_id: BTreeMap<Text, Bracket>,
    /// The compaction that is open in this lifetime of the process.
    open: Option<Text>,
    /// The place of the first row that this lifetime may write.
    lifetime: usize,
}

/// One bracket: the places of its steps.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bracket {
    /// Where it began.
    pub started: Option<usize>,
    /// Where it says what it will take.
    pub provenance: Option<usize>,
    ended: bool,
}

impl Brackets {
    /// Takes note of a step, which is the row at this place.
    pub(crate) fn admit(&mut self, step: &CompactionStep, place: usize) {
        let bracket = self.by_id.entry(step.compaction.clone()).or_default();
        match step.step {
            CompactionStage::Started => {
                bracket.started = Some(place);
                if place >= self.lifetime {
                    self.open = Some(step.compaction.clone());
                }
            }
            CompactionStage::Provenance => bracket.provenance = Some(place),
            CompactionStage::Ended => {
                bracket.ended = true;
                if self.open.as_ref() == Some(&step.compaction) {
                    self.open = None;
                }
            }
            CompactionStage::Upgraded => {}
        }
    }

    /// A new lifetime begins: what an earlier one left open is not open any more,
    /// and blocks nobody (`compaction.one-at-a-time`).
    pub(crate) fn begin_lifetime(&mut self, rows: usize) {
        self.open = None;
        self.lifetime = rows;
    }

    /// No bracket, in the same lifetime: where rows are admitted anew.
    pub(crate) fn emptied(&self) -> Self {
        Self { lifetime: self.lifetime, ..Self::default() }
    }

    /// The compaction that is open in this lifetime.
    #[must_use]
    pub fn open(&self) -> Option<&Text> {
        self.open.as_ref()
    }

    /// The bracket of this compaction, if the record holds a step of it.
    #[must_use]
    pub fn get(&self, id: &Text) -> Option<&Bracket> {
        self.by_id.get(id)
    }

    /// The compactions that began and never ended, in the order in which they
    /// began.
    #[must_use]
    pub fn left_open(&self) -> Vec<&Text> {
        let begun = self.by_id.iter().filter(|(_, bracket)| !bracket.ended);
        let mut left: Vec<(usize, &Text)> =
            begun.filter_map(|(id, bracket)| Some((bracket.started?, id))).collect();
        left.sort_unstable();
        left.into_iter().map(|(_, id)| id).collect()
    }
}

//! What repairs may ask of the whole record: the name that belonged to an id, and
//! whether a call was ever started. Neither lets content of a row cross that left
//! the context.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use onrecord_spec::record::{Block, Event, Role};
use onrecord_spec::text::Text;

use crate::record::Record;

/// Calls and starts by id, each with its row's seq, in order. Made only when a
/// repair asks for it.
#[derive(Debug, Default)]
pub(super) struct Lookup<'a> {
    names: BTreeMap<&'a Text, Vec<(u64, &'a Text)>>,
    arming: BTreeMap<&'a Text, Vec<u64>>,
    starts: BTreeMap<&'a Text, Vec<u64>>,
}

impl<'a> Lookup<'a> {
    pub fn of(record: &'a Record) -> Self {
        let mut lookup = Self::default();
        for row in record.rows() {
            match &row.event {
                Event::Message(message) => {
                    let arms = message.role == Role::Assistant && !message.is_failed();
                    for block in &message.blocks {
                        if let Block::Call(call) = block {
                            lookup.names.entry(&call.id).or_default().push((row.seq, &call.name));
                            if arms {
                                lookup.arming.entry(&call.id).or_default().push(row.seq);
                            }
                        }
                    }
                }
                Event::CallStarted(start) => {
                    lookup.starts.entry(&start.call).or_default().push(row.seq);
                }
                Event::Result(_)
                | Event::Compaction(_)
                | Event::Turn(_)
                | Event::Delta(_)
                | Event::Unknown(_) => {}
            }
        }
        lookup
    }

    /// The name of the last call with this id up to this row.
    pub fn name(&self, id: &Text, seq: u64) -> Option<&'a Text> {
        let calls = self.names.get(id)?;
        let earlier = calls.partition_point(|(call, _)| *call <= seq);
        calls[..earlier].last().map(|(_, name)| *name)
    }

    /// True if a start was recorded for the call with this id in this row: after
    /// it, and before another row armed the id anew.
    pub fn started(&self, id: &Text, seq: u64) -> bool {
        let first_after = |seqs: Option<&Vec<u64>>| {
            seqs.and_then(|seqs| seqs.get(seqs.partition_point(|other| *other <= seq)).copied())
        };
        match (first_after(self.starts.get(id)), first_after(self.arming.get(id))) {
            (Some(start), Some(armed_anew)) => start < armed_anew,
            (Some(_), None) => true,
            (None, _) => false,
        }
    }
}

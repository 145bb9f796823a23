//! By what a row is found again: its id, and the keys of its sender.
//!
//! The keys are those of the whole record. A compaction takes a row out of the
//! context and leaves its keys where they are (`record.lookup-shadowed`); they are
//! read again from the log at a start, so that they outlive the process
//! (`record.keyed-append`).

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use onrecord_spec::found::TurnState;
use onrecord_spec::record::{Event, Row, TurnEdge};
use onrecord_spec::text::Text;

/// The keys of a record, and the edges of its turns. A row is known by its place.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keys {
    requests: BTreeMap<Text, usize>,
    reports: BTreeMap<Text, usize>,
    /// In the order of the record.
    edges: Vec<(usize, TurnEdge)>,
}

impl Keys {
    /// Takes note of the row at this place. What was first stored under a key keeps
    /// it: an imported log may hold one twice (bug B025).
    pub(crate) fn admit(&mut self, row: &Row, place: usize) {
        if let Some(request) = &row.request {
            self.requests.entry(request.clone()).or_insert(place);
        }
        if let Some(report) = &row.report {
            self.reports.entry(report.clone()).or_insert(place);
        }
        if let Event::Turn(turn) = &row.event {
            self.edges.push((place, turn.edge));
        }
    }

    /// The first row with this request key.
    pub(crate) fn request(&self, key: &Text) -> Option<usize> {
        self.requests.get(key).copied()
    }

    /// The first row with this report key.
    pub(crate) fn report(&self, key: &Text) -> Option<usize> {
        self.reports.get(key).copied()
    }

    /// The first rows that have a key of this one, its request's before its
    /// report's.
    pub(crate) fn of(&self, row: &Row) -> impl Iterator<Item = usize> {
        let request = row.request.as_ref().and_then(|key| self.request(key));
        let report = row.report.as_ref().and_then(|key| self.report(key));
        request.into_iter().chain(report)
    }

    /// How far the turn is that the row at this place belongs to: the one that is
    /// open there, or else the next that begins or ends behind it.
    pub(crate) fn turn(&self, place: usize) -> TurnState {
        let behind = self.edges.partition_point(|(edge, _)| *edge < place);
        let is_open = matches!(self.edges[..behind].last(), Some((_, TurnEdge::Started)));
        let mut edges = self.edges[behind..].iter().map(|(_, edge)| *edge).peekable();
        if !is_open {
            edges.next_if_eq(&TurnEdge::Started);
        }
        match edges.next() {
            None => TurnState::Open,
            Some(TurnEdge::Ended) => TurnState::Ended,
            Some(TurnEdge::Interrupted | TurnEdge::Started) => TurnState::Interrupted,
        }
    }
}

//! Compaction: a stretch of the context is replaced by a summary, for the model
//! alone.
//!
//! It is a bracket of four rows: it started, what it will take, the summary in the
//! place of that, it ended (`compaction.bracket`). The rows that it takes stay in
//! the record. A compaction that does not land changes nothing but the log.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use onrecord_spec::json::Extra;
use onrecord_spec::op::{
    Changed, Compact, Cut, Ending, Refusal, RefusalCode, SummaryText, Upgrade,
};
use onrecord_spec::record::{
    Audience, Block, CompactionMode, CompactionOutcome, CompactionStage, CompactionStep, Counts,
    Event, Message, ReplacementSource, Replaces, Role, Row, TextBlock,
};
use onrecord_spec::text::Text;

use crate::append::busy;
use crate::balance::Balance;
use crate::policy;
use crate::record::{Record, named, refusal};

/// What is known of a compaction from its beginning.
struct Begun {
    id: Text,
    agent: Option<Text>,
    mode: Option<CompactionMode>,
    /// The ids of the rows that it takes, in the order of the context.
    rows: Vec<Text>,
}

impl Record {
    /// Begins a compaction, ends one, or does both at one go.
    pub fn compact(&mut self, asked: &Compact) -> Result<Changed, Refusal> {
        match (&asked.cut, &asked.end) {
            (Some(cut), end) => self.begin(asked, cut, end.as_ref()),
            (None, Some(end)) => self.end(asked, end),
            (None, None) => {
                let detail = "a compaction needs a `cut` to begin with, an `end`, or both \
                              (compaction.bracket)";
                Err(refusal(RefusalCode::Malformed, None, detail.into()))
            }
        }
    }

    fn begin(
        &mut self,
        asked: &Compact,
        cut: &Cut,
        end: Option<&Ending>,
    ) -> Result<Changed, Refusal> {
        if let Some(open) = self.brackets().open() {
            return Err(busy(None, open));
        }
        if self.brackets().get(&asked.id).is_some() {
            let detail =
                format!("there was a compaction {} before (compaction.bracket)", named(&asked.id));
            return Err(refusal(RefusalCode::DuplicateId, None, detail));
        }
        let Some(rows) = self.rows_of(cut, asked)? else {
            return Ok(Changed { next: self.next(), rows: vec![], taken: vec![] });
        };
        let begun = Begun {
            id: asked.id.clone(),
            agent: asked.agent.clone(),
            mode: Some(asked.mode),
            rows,
        };
        let mut new = NewRows::of(self, asked.at.as_ref());
        for left in self.brackets().left_open() {
            let step = step(left, CompactionStage::Ended);
            let outcome = Some(CompactionOutcome::Abandoned);
            new.step(CompactionStep { outcome, ..step });
        }
        let started = step(&begun.id, CompactionStage::Started);
        new.step(CompactionStep { agent: begun.agent.clone(), mode: begun.mode, ..started });
        let provenance = step(&begun.id, CompactionStage::Provenance);
        new.step(CompactionStep { rows: Some(begun.rows.clone()), ..provenance });
        let taken = match end {
            None => vec![],
            Some(end) => new.end(&begun, end)?,
        };
        let rows = new.rows;
        self.append_own(rows, taken)
    }

    /// The ids of the rows that a cut takes.
    fn rows_of(&self, cut: &Cut, asked: &Compact) -> Result<Option<Vec<Text>>, Refusal> {
        let balance = Balance::of(self);
        let taken = policy::taken(self, &balance, cut, asked.turn)?;
        let ids = |taken: RangeInclusive<usize>| {
            balance.rows[taken].iter().map(|row| row.id.clone()).collect()
        };
        Ok(taken.map(ids))
    }

    fn end(&mut self, asked: &Compact, end: &Ending) -> Result<Changed, Refusal> {
        let begun = self.begun(&asked.id)?;
        if let Ending::Summary(_) = end {
            self.check_unchanged(&begun)?;
        }
        let mut new = NewRows::of(self, asked.at.as_ref());
        let taken = new.end(&begun, end)?;
        let rows = new.rows;
        self.append_own(rows, taken)
    }

    /// What the open compaction with this id began with.
    fn begun(&self, id: &Text) -> Result<Begun, Refusal> {
        if self.brackets().open() != Some(id) {
            let detail = format!("no compaction {} is open (compaction.bracket)", named(id));
            return Err(refusal(RefusalCode::NotOpen, None, detail));
        }
        let step = |place: Option<usize>| match &self.rows().get(place?)?.event {
            Event::Compaction(step) => Some(step),
            Event::Message(_)
            | Event::CallStarted(_)
            | Event::Result(_)
            | Event::Turn(_)
            | Event::Delta(_)
            | Event::Unknown(_) => None,
        };
        let bracket = self.brackets().get(id).copied().unwrap_or_default();
        let started = step(bracket.started);
        let provenance = step(bracket.provenance);
        Ok(Begun {
            id: id.clone(),
            agent: started.and_then(|started| started.agent.clone()),
            mode: started.and_then(|started| started.mode),
            rows: provenance.and_then(|provenance| provenance.rows.clone()).unwrap_or_default(),
        })
    }

    /// The rows that a compaction names must still be an unbroken stretch of the
    /// context (`compaction.concurrent-append`).
    fn check_unchanged(&self, begun: &Begun) -> Result<(), Refusal> {
        match range(begun).map(|range| self.range(&range)) {
            Some(Ok(_)) => Ok(()),
            Some(Err(_)) | None => {
                let detail = format!(
                    "the rows that the compaction {} was to take are no longer together in the \
                     context; end it as failed and begin another (compaction.concurrent-append)",
                    named(&begun.id)
                );
                Err(refusal(RefusalCode::Changed, None, detail))
            }
        }
    }

    /// Makes the text of a landed summary better. For people nothing changes, and
    /// no row is taken (`compaction.upgrade`).
    pub fn upgrade(&mut self, asked: &Upgrade) -> Result<Changed, Refusal> {
        let Some(summary) = self.live_summary(&asked.summary) else {
            let detail = format!(
                "{} is no summary of the context (compaction.upgrade)",
                named(&asked.summary)
            );
            return Err(refusal(RefusalCode::NotInContext, None, detail));
        };
        check_summary(&asked.text, false)?;
        let replaces = self.rows()[summary].replaces.as_ref();
        let compaction = replaces.and_then(|replaces| replaces.compaction.clone());
        let upgraded = CompactionStep {
            agent: asked.agent.clone(),
            summary: Some(asked.summary.clone()),
            text: Some(asked.text.clone()),
            ..step(&compaction.unwrap_or_else(|| asked.summary.clone()), CompactionStage::Upgraded)
        };
        let row = Row { id: asked.id.clone(), ..row(self.next(), Event::Compaction(upgraded)) };
        self.append_own(vec![Row { at: asked.at.clone(), ..row }], vec![])
    }
}

/// The rows that an op is about to append.
struct NewRows<'a> {
    record: &'a Record,
    at: Option<&'a Text>,
    rows: Vec<Row>,
}

impl<'a> NewRows<'a> {
    fn of(record: &'a Record, at: Option<&'a Text>) -> Self {
        Self { record, at, rows: Vec::new() }
    }

    /// Adds a row whose id is made from its compaction's and its part in it.
    fn add(&mut self, compaction: &Text, part: &str, event: Event) -> &mut Row {
        let taken =
            |id: &Text| self.record.holds(id) || self.rows.iter().any(|row: &Row| row.id == *id);
        let id = free_id(compaction, part, taken);
        let seq = self.record.next() + self.rows.len() as u64;
        self.rows.push(Row { id, at: self.at.cloned(), ..row(seq, event) });
        let last = self.rows.len() - 1;
        &mut self.rows[last]
    }

    fn step(&mut self, step: CompactionStep) {
        let part = match step.step {
            CompactionStage::Started => "started",
            CompactionStage::Provenance => "provenance",
            CompactionStage::Ended => "ended",
            CompactionStage::Upgraded => "upgraded",
        };
        let compaction = step.compaction.clone();
        self.add(&compaction, part, Event::Compaction(step));
    }

    /// Adds the end of a compaction, and before it the summary, if it lands. Gives
    /// the ids of the rows that it takes.
    fn end(&mut self, begun: &Begun, end: &Ending) -> Result<Vec<Text>, Refusal> {
        let ended = step(&begun.id, CompactionStage::Ended);
        let (outcome, reason) = match end {
            Ending::Summary(SummaryText { text, error }) => {
                check_summary(text, *error)?;
                self.land(begun, text);
                return Ok(begun.rows.clone());
            }
            Ending::Failed { reason } => (CompactionOutcome::Failed, Some(reason.clone())),
            Ending::Cancelled {} => (CompactionOutcome::Cancelled, None),
        };
        self.step(CompactionStep { outcome: Some(outcome), reason, ..ended });
        Ok(vec![])
    }

    /// The summary takes the place of its range, and the log gets its marker
    /// (`compaction.log-marker`).
    fn land(&mut self, begun: &Begun, text: &Text) {
        let blocks = vec![Block::Text(TextBlock { text: text.clone(), extra: Extra::default() })];
        let message = Message { role: Role::User, status: None, blocks, extra: Extra::default() };
        let summary = self.add(&begun.id, "summary", Event::Message(message));
        summary.replaces = range(begun);
        summary.audience = Some(Audience::Model);
        let summary = summary.id.clone();
        // What stays, beside the rows of this bracket: those that were there, and
        // the ends of brackets that an earlier lifetime left open.
        let taken: BTreeSet<&Text> = begun.rows.iter().collect();
        let stays = |row: &&Row| !is_step_of(row, &begun.id) && !taken.contains(&row.id);
        let there = self.record.context().filter(stays).count();
        let new = self.rows.iter().filter(stays).count() - 1;
        let kept = there + new;
        let counts = Counts { taken: begun.rows.len() as u64, kept: kept as u64 };
        self.step(CompactionStep {
            agent: begun.agent.clone(),
            mode: begun.mode,
            outcome: Some(CompactionOutcome::Landed),
            counts: Some(counts),
            summary: Some(summary),
            text: Some(text.clone()),
            rows: Some(begun.rows.clone()),
            ..step(&begun.id, CompactionStage::Ended)
        });
    }
}

fn is_step_of(row: &Row, compaction: &Text) -> bool {
    matches!(&row.event, Event::Compaction(step) if step.compaction == *compaction)
}

/// The id that a row of the implementation's own gets: made from two names, and
/// longer by a letter as long as it is taken.
pub(crate) fn free_id(first: &Text, second: &str, taken: impl Fn(&Text) -> bool) -> Text {
    let mut id = format!("{first}/{second}");
    while taken(&Text::from(id.as_str())) {
        id.push_str("_x");
    }
    Text::from(id.as_str())
}

/// A row with nothing but its event; its id is for the caller to give.
pub(crate) fn row(seq: u64, event: Event) -> Row {
    Row {
        seq,
        id: Text::from(""),
        at: None,
        parent: None,
        request: None,
        report: None,
        replaces: None,
        audience: None,
        ignorable: None,
        event,
        extra: Extra::default(),
    }
}

fn step(compaction: &Text, stage: CompactionStage) -> CompactionStep {
    CompactionStep {
        compaction: compaction.clone(),
        step: stage,
        agent: None,
        mode: None,
        outcome: None,
        reason: None,
        counts: None,
        summary: None,
        text: None,
        rows: None,
        extra: Extra::default(),
    }
}

/// The range of a compaction; none if it takes nothing.
fn range(begun: &Begun) -> Option<Replaces> {
    Some(Replaces {
        first: begun.rows.first()?.clone(),
        last: begun.rows.last()?.clone(),
        rows: begun.rows.clone(),
        source: ReplacementSource::Compaction,
        compaction: Some(begun.id.clone()),
    })
}

/// What is empty or an error is no summary (`compaction.bracket`, bugs B090,
/// B094, B095).
fn check_summary(text: &Text, error: bool) -> Result<(), Refusal> {
    let why = match (error, text.is_blank()) {
        (true, _) => "what came back is an error and no summary",
        (false, true) => "the summary is empty",
        (false, false) => return Ok(()),
    };
    let detail = String::from(why) + " (compaction.bracket)";
    Err(refusal(RefusalCode::EmptySummary, None, detail))
}

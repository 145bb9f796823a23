//! Replay: what crosses to the model.
//!
//! A pipeline of four steps, each a file, each linear in the context:
//!
//! 1. `entries`: the rows of the context that the model is concerned with;
//! 2. `pair`: which result answers which call, by place and id together;
//! 3. `plan`: what is sent in which order, whatever the target;
//! 4. `openai_chat`, `anthropic`: the target's own JSON, borrowing the record's
//!    texts.
//!
//! It is total (`replay.total`): no record makes it fail. It is a function of the
//! record and of what was asked (`replay.deterministic`), and each step goes from
//! the first row to the last, so that appended rows extend the wire
//! (`replay.prefix-stable`).

pub mod anthropic;
pub mod call;
mod entries;
mod image;
mod lookup;
pub mod openai_chat;
mod pair;
mod plan;
pub mod wording;

use alloc::string::String;
use alloc::vec::Vec;

use onrecord_spec::op::{Anomaly, AnomalyName, Constraint, Facts, Mode, Replay};
use onrecord_spec::record::{Block, Role, Row};
use onrecord_spec::target::Target;
use serde::Serialize;

use crate::authority::authority;
use crate::record::Record;
use entries::{Entry, Stretch};
use plan::Plan;

/// What a replay yields.
#[derive(Debug, Clone)]
pub struct Replayed<'a> {
    /// The part of the request's body that the history fills.
    pub payload: Payload<'a>,
    /// Every repair, by row and name (`replay.anomalies-named`).
    pub anomalies: Vec<Anomaly>,
    /// What the rest of the request must respect (`replay.constraints-said`), in
    /// the order of their kinds.
    pub constraints: Vec<Constraint>,
}

/// The body of a request, as far as the history fills it. It borrows the texts
/// of the record.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Payload<'a> {
    /// For OpenAI Chat Completions.
    OpenaiChat(openai_chat::Payload<'a>),
    /// For Anthropic Messages.
    Anthropic(anthropic::Payload<'a>),
}

/// Projects the record's context to the target's wire.
#[must_use]
pub fn replay<'a>(record: &'a Record, asked: &Replay) -> Replayed<'a> {
    project(record, whole(record), asked, None)
}

/// A replay with the one authority block of this request. The block is computed
/// here, from these facts, beside the replay and not in it (`authority.fresh`).
#[must_use]
pub fn request<'a>(record: &'a Record, asked: &Replay, facts: &Facts) -> Replayed<'a> {
    project(record, whole(record), asked, Some(authority(facts)))
}

/// Projects a stretch of the context alone: what a summariser's model is sent
/// (`compaction.input-typed`). A signature that binds its prefix is worth nothing
/// where the prefix is left out.
pub(crate) fn stretch<'a>(
    record: &'a Record,
    rows: impl Iterator<Item = &'a Row>,
    from_the_start: bool,
    asked: &Replay,
) -> Replayed<'a> {
    project(record, Stretch { rows, prefix_kept: from_the_start }, asked, None)
}

/// The rounds of the context: for each assistant message with calls, its seq, and
/// for each call the seq of the row with its result, if that has come.
pub(crate) fn rounds(record: &Record) -> Vec<(u64, Vec<Option<u64>>)> {
    let mut unused = Repairs::default();
    let entries = entries::entries(record, whole(record), &mut unused);
    let pairs = pair::pair(&entries, Mode::Cold, &mut unused);
    let messages = entries.iter().filter_map(|entry| match entry {
        Entry::Message(said) if said.message.role == Role::Assistant => Some(said),
        Entry::Message(_) | Entry::Result(_) | Entry::Edge(_) | Entry::Streamed { .. } => None,
    });
    let calling =
        messages.filter(|said| said.message.blocks.iter().any(|b| matches!(b, Block::Call(_))));
    let answers = pairs
        .rounds
        .iter()
        .map(|round| round.answers.iter().map(|answer| answer.map(|stored| stored.seq)).collect());
    calling.map(|said| said.seq).zip(answers).collect()
}

fn whole(record: &Record) -> Stretch<impl Iterator<Item = &Row>> {
    Stretch { rows: record.context(), prefix_kept: true }
}

fn project<'a>(
    record: &'a Record,
    stretch: Stretch<impl Iterator<Item = &'a Row>>,
    asked: &Replay,
    system: Option<String>,
) -> Replayed<'a> {
    let mut repairs = Repairs::default();
    let entries = entries::entries(record, stretch, &mut repairs);
    let pairs = pair::pair(&entries, asked.mode, &mut repairs);
    let plan = Plan::new(record, entries, pairs, &asked.profile, repairs);
    match asked.target {
        Target::OpenaiChat => openai_chat::lower(plan, &asked.profile, system),
        Target::Anthropic => anthropic::lower(plan, &asked.profile, system),
    }
}

/// The repairs so far.
#[derive(Debug, Default)]
struct Repairs(Vec<Anomaly>);

impl Repairs {
    /// Something was done for a row.
    fn note(&mut self, name: AnomalyName, seq: u64) {
        self.0.push(Anomaly { name, seq: Some(seq) });
    }

    /// Something was done that belongs to no row.
    fn note_end(&mut self, name: AnomalyName) {
        self.0.push(Anomaly { name, seq: None });
    }

    /// All of them and those of another step, each once, by row and name.
    fn and(self, other: Self) -> Vec<Anomaly> {
        let mut all = self.0;
        all.extend(other.0);
        all.sort_by_key(|anomaly| (anomaly.seq, anomaly.name));
        all.dedup();
        all
    }
}

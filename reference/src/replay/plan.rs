//! Step 3: what is sent in which order, whatever the target.
//!
//! One stored assistant message becomes one step that holds all its calls with
//! their results (`replay.one-declaration`, `replay.call-answered`); everything
//! else that crosses is heard by the model, in the order of the record.

use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;
use core::cell::OnceCell;

use onrecord_spec::op::AnomalyName::{Answered, Mapped, Mended, Omitted, Pending, Unseen};
use onrecord_spec::record::{Block, Call, Content, Image, Reasoning, Role, TextBlock, ToolResult};
use onrecord_spec::target::Profile;
use onrecord_spec::text::Text;

use super::Repairs;
use super::call::{Arguments, tool_name};
use super::entries::{Entry, Said, Stored};
use super::image::{Seen, seen};
use super::lookup::Lookup;
use super::pair::{Fate, Pairs, Round};
use super::wording::{self, Unanswered};
use crate::record::Record;

/// One thing to send.
#[derive(Debug)]
pub(super) enum Step<'a> {
    /// In the user's role: what people said, what stands for it, and what only a
    /// user's message can hold.
    Heard(Heard<'a>),
    /// In the assistant's role, with the results of its calls.
    Spoken(Spoken<'a>),
}

/// What the model hears. Never empty.
#[derive(Debug)]
pub(super) struct Heard<'a> {
    pub parts: Vec<Part<'a>>,
    /// A person said some of it.
    pub by_person: bool,
}

/// A part of what the model hears, or of a result.
#[derive(Debug)]
pub(super) enum Part<'a> {
    /// Text; never blank.
    Text(Cow<'a, str>),
    /// An image that the model sees, where the target takes one.
    Image(Seen<'a>),
}

/// What one stored assistant message becomes.
#[derive(Debug)]
pub(super) struct Spoken<'a> {
    pub seq: u64,
    /// Its pieces up to its last call; all of them if it has none.
    pub head: Vec<Piece<'a>>,
    /// The result of each call, in the order of the calls.
    pub replies: Vec<Reply<'a>>,
    /// The pieces behind its last call. They were said before the results came,
    /// yet nothing may stand between a call and its result (bug B301).
    pub tail: Vec<Piece<'a>>,
}

/// A piece of what the model said.
#[derive(Debug)]
pub(super) enum Piece<'a> {
    /// Text; never blank.
    Text(Cow<'a, str>),
    /// Reasoning. Whether it crosses is for the target to say.
    Thought(Thought<'a>),
    /// A call.
    Call(Declared<'a>),
}

/// Reasoning, and whether the prefix that it grew from is still there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Thought<'a> {
    pub reasoning: &'a Reasoning,
    pub prefix_kept: bool,
}

/// A call as it is declared; its id is for the target to give.
#[derive(Debug)]
pub(super) struct Declared<'a> {
    pub stored_id: &'a Text,
    /// Its place among the blocks of its row.
    pub block: usize,
    pub name: Cow<'a, str>,
    pub arguments: Arguments<'a>,
}

/// The result of a declared call. Its parts are never empty.
#[derive(Debug)]
pub(super) struct Reply<'a> {
    pub parts: Vec<Part<'a>>,
    pub error: bool,
}

/// Everything in order, one step after the other.
pub(super) struct Plan<'a> {
    entries: vec::IntoIter<Entry<'a>>,
    rounds: vec::IntoIter<Round<'a>>,
    fates: vec::IntoIter<Fate>,
    /// What follows before the next entry.
    aside: Option<Heard<'a>>,
    vision: bool,
    record: &'a Record,
    lookup: OnceCell<Lookup<'a>>,
    /// The repairs so far.
    pub repairs: Repairs,
}

impl<'a> Iterator for Plan<'a> {
    type Item = Step<'a>;

    fn next(&mut self) -> Option<Step<'a>> {
        if let Some(heard) = self.aside.take() {
            return Some(Step::Heard(heard));
        }
        loop {
            let step = match self.entries.next()? {
                Entry::Message(said) => match said.message.role {
                    Role::User => self.user(said).map(Step::Heard),
                    Role::Assistant => Some(Step::Spoken(self.assistant(said))),
                },
                Entry::Result(stored) => {
                    let mut parts = vec![];
                    self.stored_result(stored, &mut parts);
                    heard(parts, false).map(Step::Heard)
                }
                Entry::Edge(_) => None,
                Entry::Streamed { seq, text } => self.streamed(seq, text).map(Step::Spoken),
            };
            if step.is_some() {
                return step;
            }
        }
    }
}

impl<'a> Plan<'a> {
    pub fn new(
        record: &'a Record,
        entries: Vec<Entry<'a>>,
        pairs: Pairs<'a>,
        profile: &Profile,
        repairs: Repairs,
    ) -> Self {
        Self {
            entries: entries.into_iter(),
            rounds: pairs.rounds.into_iter(),
            fates: pairs.fates.into_iter(),
            aside: None,
            vision: profile.vision,
            record,
            lookup: OnceCell::new(),
            repairs,
        }
    }

    /// How many rows are still to come: about as many as messages.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    fn user(&mut self, said: Said<'a>) -> Option<Heard<'a>> {
        let mut parts = Vec::with_capacity(said.message.blocks.len());
        let mut by_person = false;
        for block in &said.message.blocks {
            match block {
                Block::Text(text) => {
                    let text = self.text(said.seq, text);
                    by_person |= text.is_some();
                    parts.extend(text.map(Part::Text));
                }
                Block::Image(image) => {
                    by_person = true;
                    parts.push(self.image(said.seq, image));
                }
                Block::Result(result) => {
                    self.stored_result(Stored { seq: said.seq, result }, &mut parts);
                }
                // Reasoning and calls are the model's alone: in a user's message
                // nothing could say whose they are.
                Block::Reasoning(_) | Block::Call(_) | Block::Authority(_) => {
                    self.repairs.note(Omitted, said.seq);
                }
            }
        }
        heard(parts, by_person && said.for_people)
    }

    /// One stored message is one step (`replay.one-declaration`). What only a
    /// user's message can hold follows behind it.
    fn assistant(&mut self, said: Said<'a>) -> Spoken<'a> {
        let Said { seq, message, prefix_kept, .. } = said;
        let blocks = &message.blocks;
        let last_call = blocks.iter().rposition(|block| matches!(block, Block::Call(_)));
        let mut spoken = Spoken { seq, head: vec![], replies: vec![], tail: vec![] };
        let mut aside = vec![];
        spoken.head.reserve_exact(last_call.map_or(blocks.len(), |last| last + 1));
        for (place, block) in blocks.iter().enumerate() {
            let piece = match block {
                Block::Text(text) => self.text(seq, text).map(Piece::Text),
                Block::Reasoning(reasoning) => {
                    Some(Piece::Thought(Thought { reasoning, prefix_kept }))
                }
                Block::Call(call) => Some(Piece::Call(self.declare(seq, place, call))),
                Block::Result(result) => {
                    self.stored_result(Stored { seq, result }, &mut aside);
                    None
                }
                // The marker is not the model's own words, so it is not put into
                // its mouth.
                Block::Image(_) => {
                    self.repairs.note(Unseen, seq);
                    aside.push(Part::Text(Cow::Borrowed(wording::ASSISTANT_IMAGE)));
                    None
                }
                Block::Authority(_) => {
                    self.repairs.note(Omitted, seq);
                    None
                }
            };
            let behind = last_call.is_some_and(|last| place > last);
            if behind { &mut spoken.tail } else { &mut spoken.head }.extend(piece);
        }
        if let Some(round) = last_call.and_then(|_| self.rounds.next()) {
            spoken.replies = self.replies(seq, blocks, round);
        }
        self.aside = heard(aside, false);
        spoken
    }

    fn streamed(&mut self, seq: u64, text: Cow<'a, str>) -> Option<Spoken<'a>> {
        if text.trim().is_empty() {
            self.repairs.note(Omitted, seq);
            return None;
        }
        Some(Spoken { seq, head: vec![Piece::Text(text)], replies: vec![], tail: vec![] })
    }

    fn declare(&mut self, seq: u64, block: usize, call: &'a Call) -> Declared<'a> {
        let name = tool_name(&call.name);
        if matches!(name, Cow::Owned(_)) {
            self.repairs.note(Mapped, seq);
        }
        let (arguments, mended) = Arguments::read(&call.arguments);
        if mended {
            self.repairs.note(Mended, seq);
        }
        Declared { stored_id: &call.id, block, name, arguments }
    }

    /// Exactly one result for each call (`replay.call-answered`).
    fn replies(&mut self, seq: u64, blocks: &'a [Block], round: Round<'a>) -> Vec<Reply<'a>> {
        let calls = blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some(call),
            Block::Text(_)
            | Block::Reasoning(_)
            | Block::Result(_)
            | Block::Image(_)
            | Block::Authority(_) => None,
        });
        let answers = calls.zip(round.answers);
        answers
            .map(|(call, answer)| match answer {
                Some(stored) => {
                    let parts = self.output(stored);
                    Reply { parts, error: stored.result.is_error() }
                }
                None => self.no_answer(seq, call, round.running),
            })
            .collect()
    }

    /// A call without a result is answered by one that says so
    /// (`replay.did-not-complete`).
    fn no_answer(&mut self, seq: u64, call: &Call, running: bool) -> Reply<'a> {
        let records_starts = self.record.header().records_call_starts == Some(true);
        let what = if running {
            Unanswered::Running
        } else if records_starts && !self.lookup().started(&call.id, seq) {
            Unanswered::NeverStarted
        } else {
            Unanswered::Unknown
        };
        self.repairs.note(if running { Pending } else { Answered }, seq);
        let text = wording::unanswered(&tool_name(&call.name), what);
        Reply { parts: vec![Part::Text(Cow::Owned(text))], error: !running }
    }

    /// A result in its own place: gone to its call, or prose there
    /// (`replay.orphan-to-prose`).
    fn stored_result(&mut self, stored: Stored<'a>, parts: &mut Vec<Part<'a>>) {
        match self.fates.next() {
            Some(Fate::Bound) | None => {}
            Some(Fate::Prose) => self.prose(stored, parts),
        }
    }

    fn prose(&mut self, stored: Stored<'a>, parts: &mut Vec<Part<'a>>) {
        let Stored { seq, result } = stored;
        let (mut texts, mut images) = (vec![], vec![]);
        for content in &result.content {
            match content {
                Content::Text(text) => texts.extend(self.text(seq, text)),
                Content::Image(image) => images.push(self.image(seq, image)),
            }
        }
        let output = match texts.is_empty() {
            true => Cow::Borrowed(wording::NO_OUTPUT),
            false => wording::joined(texts.into_iter()),
        };
        let text = wording::orphan(&self.name_of(stored), result.is_error(), &output);
        parts.push(Part::Text(Cow::Owned(text)));
        parts.append(&mut images);
    }

    /// The tool's name: as the result has it, or else as the last call with its
    /// id has it, wherever that call is now.
    fn name_of(&self, stored: Stored<'a>) -> Cow<'a, str> {
        let ToolResult { name, call, .. } = stored.result;
        let own = name.as_ref().filter(|name| !name.is_blank());
        let name =
            own.or_else(|| self.lookup().name(call, stored.seq).filter(|name| !name.is_blank()));
        name.map_or(Cow::Borrowed(wording::UNKNOWN_TOOL), Text::to_unicode)
    }

    fn lookup(&self) -> &Lookup<'a> {
        self.lookup.get_or_init(|| Lookup::of(self.record))
    }

    /// What a tool gave back, in order.
    fn output(&mut self, stored: Stored<'a>) -> Vec<Part<'a>> {
        let mut parts = Vec::with_capacity(stored.result.content.len().max(1));
        for content in &stored.result.content {
            match content {
                Content::Text(text) => {
                    parts.extend(self.text(stored.seq, text).map(Part::Text));
                }
                Content::Image(image) => parts.push(self.image(stored.seq, image)),
            }
        }
        if parts.is_empty() {
            parts.push(Part::Text(Cow::Borrowed(wording::NO_OUTPUT)));
        }
        parts
    }

    /// Text as it crosses. A blank one does not: targets refuse it (ANT-7,
    /// `replay.no-empty`).
    fn text(&mut self, seq: u64, block: &'a TextBlock) -> Option<Cow<'a, str>> {
        if block.text.is_blank() {
            self.repairs.note(Omitted, seq);
            return None;
        }
        if block.text.is_broken() {
            self.repairs.note(Mended, seq);
        }
        Some(block.text.to_unicode())
    }

    /// The image, or a marker in its place (`replay.image-or-marker`).
    fn image(&mut self, seq: u64, image: &'a Image) -> Part<'a> {
        let marker = match (self.vision, seen(image)) {
            (true, Some(seen)) => return Part::Image(seen),
            (true, None) => wording::IMAGE_NOT_WHOLE,
            (false, _) => wording::IMAGE_WITHOUT_VISION,
        };
        self.repairs.note(Unseen, seq);
        Part::Text(Cow::Borrowed(marker))
    }
}

fn heard(parts: Vec<Part<'_>>, by_person: bool) -> Option<Heard<'_>> {
    (!parts.is_empty()).then_some(Heard { parts, by_person })
}

impl Reply<'_> {
    /// True if an image that the model sees is among the parts.
    pub fn shows_image(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Image(_)))
    }
}

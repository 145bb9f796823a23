//! Step 4 for Anthropic Messages.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use onrecord_spec::op::AnomalyName::{Closed, Mapped, Mended, Omitted, Opened};
use onrecord_spec::op::Constraint;
use onrecord_spec::target::Profile;
use serde::Serialize;

use super::call::{Arguments, Called, Ids, is_anthropic_id};
use super::image::Seen;
use super::plan::{Declared, Heard, Part, Piece, Plan, Reply, Spoken, Step, Thought};
use super::wording;
use super::{Repairs, Replayed};

/// The body of a request, as far as the history fills it.
#[derive(Debug, Clone, Serialize)]
pub struct Payload<'a> {
    /// The operator's words: the authority block, and nothing else. Absent from a
    /// mere replay.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub system: Vec<System>,
    /// The messages. Never empty; the first is a user's (ANT-10), and neighbours
    /// differ in role.
    pub messages: Vec<Message<'a>>,
}

/// A block of the operator's words.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename = "text")]
pub struct System {
    /// The text.
    pub text: String,
}

/// One message.
#[derive(Debug, Clone, Serialize)]
pub struct Message<'a> {
    /// Whose it is.
    pub role: Role,
    /// Its blocks. Never empty (ANT-8).
    pub content: Vec<Block<'a>>,
}

/// Whose a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user's; results are in it too.
    User,
    /// The model's.
    Assistant,
}

/// A block of a message.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block<'a> {
    /// Text; never blank (ANT-7).
    Text {
        /// The text.
        text: Cow<'a, str>,
    },
    /// An image, in a user's message or in a result.
    Image {
        /// Where it is.
        source: Source<'a>,
    },
    /// Reasoning with its signature, as it was minted (ANT-13).
    Thinking {
        /// The text; may be empty.
        thinking: &'a str,
        /// The signature.
        signature: &'a str,
    },
    /// Reasoning that only the provider can read (ANT-18).
    RedactedThinking {
        /// The reasoning, encrypted.
        data: &'a str,
    },
    /// A declared call.
    ToolUse {
        /// Its id, unique in the request (ANT-5, ANT-6).
        id: Cow<'a, str>,
        /// The tool's name.
        name: Cow<'a, str>,
        /// The arguments: an object (ANT-20).
        input: Arguments<'a>,
    },
    /// A result, before anything else in its message (ANT-3).
    ToolResult {
        /// The id of the call that it answers (ANT-2, ANT-4).
        tool_use_id: Cow<'a, str>,
        /// What the tool gave back: texts and images (ANT-19).
        content: Vec<Block<'a>>,
        /// True if the tool failed, or did not complete.
        #[serde(skip_serializing_if = "is_false")]
        is_error: bool,
    },
}

/// Where an image is.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Source<'a> {
    /// Here.
    Base64 {
        /// The media type.
        media_type: &'a str,
        /// The bytes in base64.
        data: &'a str,
    },
    /// On the web.
    Url {
        /// The address.
        url: &'a str,
    },
}

fn is_false(flag: &bool) -> bool {
    !*flag
}

/// Writes the steps as messages, and says what the request must respect.
pub(super) fn lower<'a>(
    mut plan: Plan<'a>,
    profile: &Profile,
    system: Option<String>,
) -> Replayed<'a> {
    let mut lowering = Lowering {
        messages: Vec::with_capacity(plan.len() + 1),
        ids: Ids::default(),
        called: Called::default(),
        thought: vec![],
        loop_open: false,
        last_spoken: 0,
        profile,
        repairs: Repairs::default(),
    };
    for step in plan.by_ref() {
        match step {
            Step::Heard(heard) => lowering.heard(heard),
            Step::Spoken(spoken) => lowering.spoken(spoken),
        }
    }
    let mut constraints = vec![];
    constraints.extend(lowering.switch_thinking_off());
    lowering.end();
    let Lowering { messages, called, repairs, .. } = lowering;
    if !profile.tools {
        constraints.extend(called.names().map(Constraint::DeclareTools));
    }
    let system = system.into_iter().map(|text| System { text }).collect();
    let payload = super::Payload::Anthropic(Payload { system, messages });
    Replayed { payload, anomalies: plan.repairs.and(repairs), constraints }
}

struct Lowering<'a, 'p> {
    messages: Vec<Message<'a>>,
    ids: Ids<'a>,
    called: Called,
    /// The rows whose reasoning crosses.
    thought: Vec<u64>,
    /// The last thing spoken called tools, and no person has spoken since.
    loop_open: bool,
    /// The row of the last thing spoken.
    last_spoken: u64,
    profile: &'p Profile,
    repairs: Repairs,
}

impl<'a> Lowering<'a, '_> {
    fn heard(&mut self, heard: Heard<'a>) {
        self.loop_open &= !heard.by_person;
        self.push(Role::User, heard.parts.into_iter().map(block).collect());
    }

    /// A declaration, the results right behind it (ANT-1), and what was said
    /// behind the last call.
    fn spoken(&mut self, spoken: Spoken<'a>) {
        let Spoken { seq, head, replies, tail } = spoken;
        let (head, calls) = self.say(seq, head);
        let results: Vec<_> = calls.into_iter().zip(replies).map(result).collect();
        let (tail, _) = self.say(seq, tail);
        if !head.is_empty() {
            self.last_spoken = seq;
            self.loop_open = !results.is_empty() && tail.is_empty();
        }
        self.push(Role::Assistant, head);
        self.push(Role::User, results);
        self.push(Role::Assistant, tail);
    }

    /// Neighbours of one role are one message (ANT-9). As results follow their
    /// declaration, they begin a message and so lead it (ANT-3).
    fn push(&mut self, role: Role, mut content: Vec<Block<'a>>) {
        if content.is_empty() {
            return;
        }
        match self.messages.last_mut() {
            Some(last) if last.role == role => last.content.append(&mut content),
            Some(_) => self.messages.push(Message { role, content }),
            None => {
                if role == Role::Assistant {
                    self.open();
                }
                self.messages.push(Message { role, content });
            }
        }
    }

    /// The blocks of what the model said, and the ids of its calls. Thinking leads
    /// to something: with no text and no call behind it, it is left out (ANT-30).
    fn say(&mut self, seq: u64, pieces: Vec<Piece<'a>>) -> (Vec<Block<'a>>, Vec<Cow<'a, str>>) {
        let last = pieces.iter().rposition(|piece| match piece {
            Piece::Text(_) | Piece::Call(_) => true,
            Piece::Thought(_) => false,
        });
        let mut calls = vec![];
        let mut blocks = Vec::with_capacity(pieces.len());
        for (place, piece) in pieces.into_iter().enumerate() {
            let leads = last.is_some_and(|last| place < last);
            match piece {
                Piece::Text(text) => blocks.push(Block::Text { text }),
                Piece::Thought(thought) => match self.thinking(thought).filter(|_| leads) {
                    Some(block) => {
                        self.thought.push(seq);
                        blocks.push(block);
                    }
                    None => self.repairs.note(Omitted, seq),
                },
                Piece::Call(call) => {
                    let id = self.give_id(seq, &call);
                    calls.push(id.clone());
                    let (name, input) = (call.name, call.arguments);
                    blocks.push(Block::ToolUse { id, name, input });
                }
            }
        }
        (blocks, calls)
    }

    fn give_id(&mut self, seq: u64, call: &Declared<'a>) -> Cow<'a, str> {
        let id = self.ids.give(call.stored_id, is_anthropic_id, seq, call.block);
        if matches!(id, Cow::Owned(_)) {
            self.repairs.note(Mapped, seq);
        }
        if !self.profile.tools {
            self.called.note(&call.name);
        }
        id
    }

    /// Reasoning crosses with the token that its very model minted, and unchanged
    /// to the byte (ANT-13, ANT-16, `replay.reasoning-native`); where the token is
    /// bound to the prefix, only while that is unchanged too
    /// (`replay.reasoning-prefix`).
    fn thinking(&self, thought: Thought<'a>) -> Option<Block<'a>> {
        let Thought { reasoning, prefix_kept } = thought;
        let own = self.profile.model.is_some() && self.profile.model == reasoning.from;
        if !self.profile.thinking || !own || (self.profile.prefix_bound && !prefix_kept) {
            return None;
        }
        let token = reasoning.token.as_ref()?.as_str().filter(|token| !token.trim().is_empty())?;
        if reasoning.encrypted == Some(true) {
            return Some(Block::RedactedThinking { data: token });
        }
        Some(Block::Thinking { thinking: reasoning.text.as_str()?, signature: token })
    }

    /// A tool loop that is still open must begin with thinking, if thinking is on
    /// (ANT-15). If it does not, thinking must be off for this request
    /// (`replay.reasoning-required`), and then none crosses.
    fn switch_thinking_off(&mut self) -> Option<Constraint> {
        let last = self.messages.iter().rev().find(|message| message.role == Role::Assistant);
        let begins = last.and_then(|message| message.content.first()).is_some_and(is_thinking);
        if !self.profile.thinking || !self.loop_open || begins {
            return None;
        }
        for message in &mut self.messages {
            message.content.retain(|block| !is_thinking(block));
        }
        for seq in self.thought.drain(..) {
            self.repairs.note(Omitted, seq);
        }
        Some(Constraint::ThinkingOff)
    }

    /// The wire ends as the target demands (`replay.ends-right`).
    fn end(&mut self) {
        if self.messages.is_empty() {
            return self.open();
        }
        let Some(last) = self.messages.last_mut() else { return };
        if last.role == Role::User {
            return;
        }
        // A prefill and thinking exclude each other.
        if !self.profile.prefill || self.profile.thinking {
            self.repairs.note_end(Closed);
            let text = Cow::Borrowed(wording::CLOSED);
            return self.push(Role::User, vec![Block::Text { text }]);
        }
        // An older model continues from the very last character (ANT-12).
        if let Some(Block::Text { text }) = last.content.last_mut() {
            let kept = text.trim_end().len();
            if kept < text.len() {
                match text {
                    Cow::Borrowed(text) => *text = &text[..kept],
                    Cow::Owned(text) => text.truncate(kept),
                }
                self.repairs.note(Mended, self.last_spoken);
            }
        }
    }

    fn open(&mut self) {
        self.repairs.note_end(Opened);
        let content = vec![Block::Text { text: Cow::Borrowed(wording::OPENED) }];
        self.messages.push(Message { role: Role::User, content });
    }
}

fn is_thinking(block: &Block<'_>) -> bool {
    match block {
        Block::Thinking { .. } | Block::RedactedThinking { .. } => true,
        Block::Text { .. }
        | Block::Image { .. }
        | Block::ToolUse { .. }
        | Block::ToolResult { .. } => false,
    }
}

fn result<'a>((id, reply): (Cow<'a, str>, Reply<'a>)) -> Block<'a> {
    let content = reply.parts.into_iter().map(block).collect();
    Block::ToolResult { tool_use_id: id, content, is_error: reply.error }
}

fn block(part: Part<'_>) -> Block<'_> {
    match part {
        Part::Text(text) => Block::Text { text },
        Part::Image(Seen::Data { media_type, data }) => {
            Block::Image { source: Source::Base64 { media_type, data } }
        }
        Part::Image(Seen::Url(url)) => Block::Image { source: Source::Url { url } },
    }
}

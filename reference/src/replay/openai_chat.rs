//! Step 4 for OpenAI Chat Completions, and what is compatible with it.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use onrecord_spec::op::AnomalyName::{Mapped, Mended, Omitted, Opened, StoodIn};
use onrecord_spec::op::Constraint;
use onrecord_spec::record::Reasoning;
use onrecord_spec::target::{PlainReasoning, Profile};
use serde::{Serialize, Serializer};

use super::call::{AsText, Called, Ids, is_openai_id};
use super::image::Seen;
use super::plan::{Heard, Part, Piece, Plan, Reply, Spoken, Step, Thought};
use super::wording;
use super::{Repairs, Replayed};

/// How many calls one message may declare (OAI-CHAT-4).
const MOST_CALLS: usize = 128;

/// The body of a request, as far as the history fills it.
#[derive(Debug, Clone, Serialize)]
pub struct Payload<'a> {
    /// The messages. Never empty (OAI-CHAT-7).
    pub messages: Vec<Message<'a>>,
}

/// One message (OAI-CHAT-9).
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub enum Message<'a> {
    /// The operator's: the authority block, and nothing else.
    System {
        /// The facts.
        content: String,
    },
    /// The user's.
    User {
        /// What it says and shows.
        content: Content<'a>,
    },
    /// The model's.
    Assistant {
        /// What it said. Absent beside calls alone (OAI-CHAT-8).
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<Content<'a>>,
        /// What it thought, for those who take it in this field (DS-1, KIMI-1).
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<Cow<'a, str>>,
        /// What it called.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall<'a>>,
    },
    /// A tool's (OAI-CHAT-1, OAI-CHAT-2).
    Tool {
        /// The id of the call that it answers.
        tool_call_id: Cow<'a, str>,
        /// What it gave back: text alone (OAI-CHAT-6).
        content: Content<'a>,
    },
}

/// The content of a message: a single text, or parts.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Content<'a> {
    /// A single text.
    Text(Cow<'a, str>),
    /// Several texts, or images among them.
    Parts(Vec<ContentPart<'a>>),
}

/// A part of the content.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentPart<'a> {
    /// Text.
    Text {
        /// The text.
        text: Cow<'a, str>,
    },
    /// An image, in a user's message alone (OAI-CHAT-6).
    ImageUrl {
        /// Where it is.
        image_url: ImageUrl<'a>,
    },
}

/// Where an image is.
#[derive(Debug, Clone, Serialize)]
pub struct ImageUrl<'a> {
    /// Its address.
    pub url: ImageAddress<'a>,
}

/// An image's address. Written as one string, the data in it never copied.
#[derive(Debug, Clone)]
pub enum ImageAddress<'a> {
    /// A `data:` URL.
    Data {
        /// The media type.
        media_type: &'a str,
        /// The bytes in base64.
        data: &'a str,
    },
    /// An address on the web.
    Web(&'a str),
}

/// A declared call.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename = "function")]
pub struct ToolCall<'a> {
    /// Its id.
    pub id: Cow<'a, str>,
    /// What is called.
    pub function: Function<'a>,
}

/// What is called, and with what.
#[derive(Debug, Clone, Serialize)]
pub struct Function<'a> {
    /// The tool's name (OAI-CHAT-10).
    pub name: Cow<'a, str>,
    /// The arguments as a string (OAI-CHAT-5).
    pub arguments: AsText<'a>,
}

impl Serialize for ImageAddress<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Data { media_type, data } => {
                serializer.collect_str(&format_args!("data:{media_type};base64,{data}"))
            }
            Self::Web(url) => serializer.serialize_str(url),
        }
    }
}

/// Writes the steps as messages, and says what the request must respect.
pub(super) fn lower<'a>(
    mut plan: Plan<'a>,
    profile: &Profile,
    system: Option<String>,
) -> Replayed<'a> {
    let mut lowering = Lowering {
        messages: Vec::with_capacity(plan.len() + 1),
        called: Called::default(),
        stand_ins: vec![],
        profile,
        repairs: Repairs::default(),
    };
    lowering.messages.extend(system.map(|content| Message::System { content }));
    let begun = lowering.messages.len();
    for step in plan.by_ref() {
        match step {
            Step::Heard(Heard { parts, .. }) => lowering.user(parts),
            Step::Spoken(spoken) => lowering.spoken(spoken),
        }
    }
    if lowering.messages.len() == begun {
        lowering.user(vec![Part::Text(Cow::Borrowed(wording::OPENED))]);
        lowering.repairs.note_end(Opened);
    }
    let Lowering { messages, called, stand_ins, repairs, .. } = lowering;
    let mut constraints = vec![];
    if !profile.tools {
        constraints.extend(called.names().map(Constraint::DeclareTools));
    }
    constraints.extend(stand_ins.into_iter().map(Constraint::StandIn));
    let payload = super::Payload::OpenaiChat(Payload { messages });
    Replayed { payload, anomalies: plan.repairs.and(repairs), constraints }
}

struct Lowering<'a, 'p> {
    messages: Vec<Message<'a>>,
    called: Called,
    /// The rows whose reasoning is stood in for.
    stand_ins: Vec<u64>,
    profile: &'p Profile,
    repairs: Repairs,
}

impl<'a> Lowering<'a, '_> {
    /// Messages of one role may follow each other (OAI-CHAT-11).
    fn user(&mut self, parts: Vec<Part<'a>>) {
        if let Some(content) = content(parts.into_iter().map(part)) {
            self.messages.push(Message::User { content });
        }
    }

    fn spoken(&mut self, spoken: Spoken<'a>) {
        let Spoken { seq, head, replies, tail } = spoken;
        // Once for the whole stored message: it is one thought.
        let thoughts = head.iter().chain(&tail).filter_map(thought);
        let reasoning = self.reasoning(seq, thoughts);
        let (said, calls) = self.sort(seq, head);
        let (added, _) = self.sort(seq, tail);
        if calls.is_empty() {
            if said.is_none() && reasoning.is_some() {
                self.repairs.note(Omitted, seq);
            }
            if let Some(content) = said {
                self.say(Some(content), reasoning, vec![]);
            }
            return;
        }
        self.round(seq, said, reasoning, calls.into_iter().zip(replies));
        if added.is_some() {
            self.say(added, None, vec![]);
        }
    }

    /// A declaration, and right behind it a message for each result
    /// (OAI-CHAT-1); then the images that no tool's message can hold.
    fn round(
        &mut self,
        seq: u64,
        mut said: Option<Content<'a>>,
        mut reasoning: Option<Cow<'a, str>>,
        mut answered: impl Iterator<Item = (ToolCall<'a>, Reply<'a>)>,
    ) {
        let mut images = vec![];
        loop {
            // More calls than one message may declare are declared in several,
            // with the results of the first between (OAI-CHAT-4).
            let (calls, replies): (Vec<_>, Vec<_>) = answered.by_ref().take(MOST_CALLS).unzip();
            if calls.is_empty() {
                break;
            }
            let mut results = Vec::with_capacity(replies.len());
            for (call, reply) in calls.iter().zip(replies) {
                results.push(tool_message(call, reply, &mut images));
            }
            let required = self.profile.plain_reasoning == PlainReasoning::Required;
            if required && reasoning.is_none() {
                self.stand_in(seq);
                reasoning = Some(Cow::Borrowed(""));
            }
            self.say(said.take(), reasoning.take(), calls);
            self.messages.append(&mut results);
        }
        images.into_iter().for_each(|parts| self.user(parts));
    }

    fn say(
        &mut self,
        content: Option<Content<'a>>,
        reasoning_content: Option<Cow<'a, str>>,
        tool_calls: Vec<ToolCall<'a>>,
    ) {
        self.messages.push(Message::Assistant { content, reasoning_content, tool_calls });
    }

    /// What was said, and what was called.
    fn sort(
        &mut self,
        seq: u64,
        pieces: Vec<Piece<'a>>,
    ) -> (Option<Content<'a>>, Vec<ToolCall<'a>>) {
        let mut ids = Ids::default();
        let (mut texts, mut calls) = (Vec::new(), Vec::new());
        for piece in pieces {
            match piece {
                Piece::Text(text) => texts.push(ContentPart::Text { text }),
                Piece::Thought(_) => {}
                Piece::Call(call) => {
                    let id = ids.give(call.stored_id, is_openai_id, seq, call.block);
                    if matches!(id, Cow::Owned(_)) {
                        self.repairs.note(Mapped, seq);
                    }
                    if !self.profile.tools {
                        self.called.note(&call.name);
                    }
                    let arguments = AsText(call.arguments);
                    calls.push(ToolCall { id, function: Function { name: call.name, arguments } });
                }
            }
        }
        (content(texts.into_iter()), calls)
    }

    /// The reasoning that crosses in its own field (`replay.reasoning-native`).
    fn reasoning<'p>(
        &mut self,
        seq: u64,
        thoughts: impl Iterator<Item = &'p Thought<'a>>,
    ) -> Option<Cow<'a, str>>
    where
        'a: 'p,
    {
        let mut texts = vec![];
        for thought in thoughts {
            if self.takes(thought.reasoning) {
                if thought.reasoning.text.is_broken() {
                    self.repairs.note(Mended, seq);
                }
                texts.push(thought.reasoning.text.to_unicode());
            } else {
                self.repairs.note(Omitted, seq);
            }
        }
        (!texts.is_empty()).then(|| wording::joined(texts.into_iter()))
    }

    /// True if it is the model's own and readable, and the model takes such.
    fn takes(&self, reasoning: &Reasoning) -> bool {
        let accepted = match self.profile.plain_reasoning {
            PlainReasoning::Refused => false,
            PlainReasoning::Accepted | PlainReasoning::Required => true,
        };
        let own = self.profile.model.is_some() && self.profile.model == reasoning.from;
        let readable = reasoning.encrypted != Some(true) && !reasoning.text.is_blank();
        accepted && own && readable
    }

    /// A model that demands the field takes an empty one (DS-2,
    /// `replay.reasoning-required`).
    fn stand_in(&mut self, seq: u64) {
        if self.stand_ins.last() != Some(&seq) {
            self.repairs.note(StoodIn, seq);
            self.stand_ins.push(seq);
        }
    }
}

fn thought<'p, 'a>(piece: &'p Piece<'a>) -> Option<&'p Thought<'a>> {
    match piece {
        Piece::Thought(thought) => Some(thought),
        Piece::Text(_) | Piece::Call(_) => None,
    }
}

/// A result's message. Its images move to a message behind all results; where
/// they were, the text says so.
fn tool_message<'a>(
    call: &ToolCall<'a>,
    reply: Reply<'a>,
    images: &mut Vec<Vec<Part<'a>>>,
) -> Message<'a> {
    let tool_call_id = call.id.clone();
    let mut shown = vec![];
    if reply.shows_image() {
        let label = wording::image_label(&call.function.name);
        shown.push(Part::Text(Cow::Owned(label)));
    }
    let texts = reply.parts.into_iter().map(|part| match part {
        Part::Text(text) => ContentPart::Text { text },
        Part::Image(_) => {
            shown.push(part);
            ContentPart::Text { text: Cow::Borrowed(wording::IMAGE_FOLLOWS) }
        }
    });
    let content = content(texts).unwrap_or(Content::Text(Cow::Borrowed(wording::NO_OUTPUT)));
    if !shown.is_empty() {
        images.push(shown);
    }
    Message::Tool { tool_call_id, content }
}

fn part(part: Part<'_>) -> ContentPart<'_> {
    match part {
        Part::Text(text) => ContentPart::Text { text },
        Part::Image(Seen::Data { media_type, data }) => ContentPart::ImageUrl {
            image_url: ImageUrl { url: ImageAddress::Data { media_type, data } },
        },
        Part::Image(Seen::Url(url)) => {
            ContentPart::ImageUrl { image_url: ImageUrl { url: ImageAddress::Web(url) } }
        }
    }
}

/// A single text is a plain string; nothing at all is no content.
fn content<'a>(mut parts: impl Iterator<Item = ContentPart<'a>>) -> Option<Content<'a>> {
    let first = parts.next()?;
    match (first, parts.next()) {
        (ContentPart::Text { text }, None) => Some(Content::Text(text)),
        (first, second) => {
            let mut all = Vec::with_capacity(2);
            all.push(first);
            all.extend(second);
            all.extend(parts);
            Some(Content::Parts(all))
        }
    }
}

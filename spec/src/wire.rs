//! The neutral wire: what a model would be sent, whatever the provider calls it.
//!
//! A target's own JSON is lifted into it ([`crate::target::Target::lift`]), so
//! that one judge serves every target. Each part remembers the JSON path that it
//! came from and its JSON text.

use alloc::string::String;
use alloc::vec::Vec;

/// The messages of one request, in order. An authority block that travels
/// outside the list of messages is a system message at its place in the request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wire {
    /// The messages.
    pub messages: Vec<WireMessage>,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireMessage {
    /// Whose voice it is.
    pub role: WireRole,
    /// Where it is in the payload, like `messages[3]`.
    pub path: String,
    /// Its parts, in order.
    pub parts: Vec<Part>,
}

/// Whose voice a message is, as every target knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireRole {
    /// The operator: `system` or `developer`.
    System,
    /// The side that the model listens to.
    User,
    /// The model.
    Assistant,
    /// A tool, where a target has a role for it. (Elsewhere a result is a part
    /// of a user message.)
    Tool,
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Where it is in the payload, like `messages[3].content[0]`.
    pub path: String,
    /// The part's JSON as it would be sent, white space between tokens left
    /// out: what a prompt cache would compare.
    pub sent: String,
    /// What it is.
    pub body: Body,
}

/// What a part is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Text. A message whose content is a bare string has one such part.
    Text(String),
    /// Reasoning, in a field or block of its own.
    Reasoning(WireReasoning),
    /// A declared call.
    Call(WireCall),
    /// A result.
    Result(WireResult),
    /// An image.
    Image(WireImage),
    /// A part of a kind that the target does not have; its name.
    Foreign(String),
}

/// Reasoning on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireReasoning {
    /// The readable text; empty where there is none.
    pub text: String,
    /// The signature or the encrypted reasoning.
    pub token: Option<String>,
}

/// A declared call on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireCall {
    /// Its id there.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as JSON text: the string where the target takes a string,
    /// the object's text where it takes an object.
    pub arguments: String,
}

/// A result on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireResult {
    /// The id of the call that it answers.
    pub call: String,
    /// Whether it is marked as an error; None where the target has no mark.
    pub error: Option<bool>,
    /// Its parts: text and images.
    pub content: Vec<Part>,
}

/// An image on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireImage {
    /// Base64 data or a URL, without a `data:` prefix.
    pub source: String,
}

impl Wire {
    /// Every part with the message that it stands in, in order. Parts inside a
    /// result are not listed apart.
    pub fn parts(&self) -> impl Iterator<Item = (&WireMessage, &Part)> {
        self.messages
            .iter()
            .flat_map(|message| message.parts.iter().map(move |part| (message, part)))
    }
}

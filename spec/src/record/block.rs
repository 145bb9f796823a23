//! Blocks: the typed parts of a message (`record.blocks-typed`).

use alloc::vec::Vec;

use serde::Serialize;

use crate::json::{Extra, Fields, Malformed, RawValue, elements};
use crate::text::Text;

/// One typed part of a message. A block keeps its kind for ever; reasoning and
/// thinking are one kind.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Block {
    /// What was said.
    Text(TextBlock),
    /// What was thought. Never speech.
    Reasoning(Reasoning),
    /// What was asked of a tool.
    Call(Call),
    /// What a tool answered.
    Result(ToolResult),
    /// What was shown.
    Image(Image),
    /// The runtime's own facts. No conforming append stores one; the kind exists
    /// so that a stale one in an imported record is known by its kind and not by
    /// its wording (`authority.stale-inert`).
    Authority(StoredAuthority),
}

/// Text.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TextBlock {
    /// The text, byte for byte.
    pub text: Text,
    /// Unknown fields, kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Reasoning, with what proves where it came from.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reasoning {
    /// The readable text. May be empty beside a token: a signed block with an
    /// empty text is a normal one.
    pub text: Text,
    /// The provider's opaque token: a signature, or the encrypted reasoning
    /// itself. Absent where the provider gives plain text only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<Text>,
    /// True if the token is the reasoning itself, encrypted, and the text is
    /// not what was signed (Anthropic's `redacted_thinking`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encrypted: Option<bool>,
    /// Who minted it. A token is valid for this very provider, api and model
    /// alone (ANT-16; bugs B195, B197, B199).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Provenance>,
    /// Unknown fields, kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Who made a block: provider, api and model together. The same model behind
/// another platform is another provenance (bug B197).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The platform, like `anthropic` or `bedrock`.
    pub provider: Text,
    /// The wire that it was received over, like `messages`.
    pub api: Text,
    /// The model.
    pub model: Text,
}

/// A call that the model made.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Call {
    /// The provider's id for the call, raw. May be blank, repeated or of a form
    /// that another provider refuses.
    pub id: Text,
    /// The tool's name.
    pub name: Text,
    /// The arguments as the model produced them, even if they are not JSON.
    pub arguments: Text,
    /// Unknown fields, kept: a provider's own data on a call among them (B208).
    #[serde(flatten)]
    pub extra: Extra,
}

/// A tool's result. Stored as a block of a message or as a row of its own.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolResult {
    /// The id of the call that it answers, raw.
    pub call: Text,
    /// The tool's name, where the result carries it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Text>,
    /// True if the tool failed, was refused or was interrupted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<bool>,
    /// What the tool gave back, in order. May be empty.
    pub content: Vec<Content>,
    /// Unknown fields, kept.
    #[serde(flatten)]
    pub extra: Extra,
}

impl ToolResult {
    /// True if the tool said that it failed.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.error == Some(true)
    }
}

/// One part of what a tool gave back.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Content {
    /// Text output.
    Text(TextBlock),
    /// An image.
    Image(Image),
}

/// An image: its bytes, or where they are.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Image {
    /// The media type, like `image/png`.
    pub media_type: Text,
    /// The bytes in base64, or a URL.
    #[serde(flatten)]
    pub source: ImageSource,
    /// Unknown fields, kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Where an image's bytes are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ImageSource {
    /// Here, in base64 as it was received (it may be cut; bug B225).
    Data(Text),
    /// At a URL, which is data and is never opened.
    Url(Text),
}

/// An authority block found in a record: kept raw, never read.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoredAuthority {
    /// Everything that it says.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Block {
    /// The names of all kinds, as they are written in `type`.
    pub const KINDS: [&'static str; 6] =
        ["text", "reasoning", "call", "result", "image", "authority"];

    /// The name of this kind.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => Self::KINDS[0],
            Self::Reasoning(_) => Self::KINDS[1],
            Self::Call(_) => Self::KINDS[2],
            Self::Result(_) => Self::KINDS[3],
            Self::Image(_) => Self::KINDS[4],
            Self::Authority(_) => Self::KINDS[5],
        }
    }

    /// Reads a block. A kind that is none of [`Block::KINDS`] is refused by name.
    pub fn decode(raw: &RawValue) -> Result<Self, Malformed> {
        let mut fields = Fields::open(raw)?;
        let kind: Text = fields.need("type", "the name of a block kind")?;
        match kind.as_str() {
            Some("text") => TextBlock::decode(fields).map(Self::Text),
            Some("reasoning") => Reasoning::decode(fields).map(Self::Reasoning),
            Some("call") => Call::decode(fields).map(Self::Call),
            Some("result") => ToolResult::decode(fields).map(Self::Result),
            Some("image") => Image::decode(fields).map(Self::Image),
            Some("authority") => Ok(Self::Authority(StoredAuthority { extra: fields.rest()? })),
            Some(_) | None => Err(Malformed::new(alloc::format!("unknown block type `{kind}`"))),
        }
    }

    /// Reads an array of blocks.
    pub fn decode_all(raw: &RawValue) -> Result<Vec<Self>, Malformed> {
        decode_each(raw, "an array of blocks", Self::decode)
    }
}

fn decode_each<T>(
    raw: &RawValue,
    expected: &str,
    decode: impl Fn(&RawValue) -> Result<T, Malformed>,
) -> Result<Vec<T>, Malformed> {
    let items = elements(raw, expected)?;
    let decoded = items.iter().enumerate();
    decoded.map(|(index, raw)| decode(raw).map_err(|error| error.at_index(index))).collect()
}

impl TextBlock {
    fn decode(mut fields: Fields<'_>) -> Result<Self, Malformed> {
        Ok(Self { text: fields.need("text", "a string")?, extra: fields.rest()? })
    }
}

impl Reasoning {
    fn decode(mut fields: Fields<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            text: fields.need("text", "a string")?,
            token: fields.take("token", "a string")?,
            encrypted: fields.take("encrypted", "true or false")?,
            from: fields.take("from", "an object of provider, api and model")?,
            extra: fields.rest()?,
        })
    }
}

impl Call {
    fn decode(mut fields: Fields<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            id: fields.need("id", "a string")?,
            name: fields.need("name", "a string")?,
            arguments: fields
                .need("arguments", "a string: the arguments as the model wrote them")?,
            extra: fields.rest()?,
        })
    }
}

impl ToolResult {
    pub(super) fn decode(mut fields: Fields<'_>) -> Result<Self, Malformed> {
        let content = fields.need_raw("content", "an array of text and image parts")?;
        Ok(Self {
            call: fields.need("call", "a string: the id of the call")?,
            name: fields.take("name", "a string")?,
            error: fields.take("error", "true or false")?,
            content: decode_each(content, "an array of text and image parts", Content::decode)
                .map_err(|error| error.inside("content"))?,
            extra: fields.rest()?,
        })
    }
}

impl Content {
    fn decode(raw: &RawValue) -> Result<Self, Malformed> {
        let mut fields = Fields::open(raw)?;
        let kind: Text = fields.need("type", "`text` or `image`")?;
        match kind.as_str() {
            Some("text") => TextBlock::decode(fields).map(Self::Text),
            Some("image") => Image::decode(fields).map(Self::Image),
            Some(_) | None => Err(Malformed::new(alloc::format!(
                "unknown type `{kind}`; a result holds text and images"
            ))),
        }
    }
}

impl Image {
    fn decode(mut fields: Fields<'_>) -> Result<Self, Malformed> {
        let media_type = fields.need("media_type", "a string like `image/png`")?;
        let data: Option<Text> = fields.take("data", "a string of base64")?;
        let url: Option<Text> = fields.take("url", "a string")?;
        let source = match (data, url) {
            (Some(data), None) => ImageSource::Data(data),
            (None, Some(url)) => ImageSource::Url(url),
            (Some(_), Some(_)) => return Err(Malformed::new("holds both `data` and `url`")),
            (None, None) => return Err(Malformed::new("needs `data` or `url`")),
        };
        Ok(Self { media_type, source, extra: fields.rest()? })
    }
}

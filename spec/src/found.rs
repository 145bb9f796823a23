//! What is found again: a row by its key, the turn of a request, and what recall
//! reaches.

use serde::{Deserialize, Serialize};

use crate::json::Json;
use crate::op::Left;
use crate::text::Text;

/// A row that was looked up.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Found {
    /// The row, as it was stored. Of several rows with one key, the first.
    pub row: Json,
    /// Its flag, if it has left the context: when, and by which row
    /// (`recall.opens-source`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Left>,
}

/// The turn that a request belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// The id of the row that stores the request.
    pub row: Text,
    /// How far the turn is.
    pub state: TurnState,
}

/// How far a turn is, by the edges that the record holds.
///
/// A row belongs to the turn that is open where it stands, or else to the next one
/// that begins or ends behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TurnState {
    /// No edge ends it.
    Open,
    /// It came to rest.
    Ended,
    /// It was stopped, or another turn began before it ended.
    Interrupted,
}

/// A row that recall reaches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hit {
    /// The conversation that holds it.
    pub conversation: Text,
    /// The id of the row.
    pub row: Text,
    /// Its flag, if it has left its conversation's context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Left>,
}

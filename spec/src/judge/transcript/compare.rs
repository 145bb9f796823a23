//! How a transcript differs from what must show, and which rule each difference
//! breaks.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::due::{Shown, may_show};
use crate::json::Tree;
use crate::record::{Audience, Block, Event, Row};
use crate::rule::Rule;
use crate::text::Text;

/// The length from which a text is known by itself.
const TELLING: usize = 8;

/// One difference.
pub(super) struct Difference {
    pub rule: Rule,
    pub seq: Option<u64>,
    pub message: String,
}

/// Every difference.
pub(super) fn differences(rows: &[Row], said: &[Shown], due: &[Shown]) -> Vec<Difference> {
    let mut found = Vec::new();
    for shown in due {
        if !said.iter().any(|other| other.key() == shown.key()) {
            found.push(missing(rows, shown));
        }
    }
    for (at, shown) in said.iter().enumerate() {
        let first = said.iter().position(|other| other.key() == shown.key());
        match due.iter().find(|other| other.key() == shown.key()) {
            Some(must) if first == Some(at) => found.extend(changed(rows, shown, must)),
            Some(_) => found.push(doubled(shown)),
            None => found.push(extra(rows, shown)),
        }
    }
    found.extend(order(said, due));
    found.extend(payload(rows, said));
    found
}

fn row_of<'a>(rows: &'a [Row], id: &Text) -> Option<&'a Row> {
    rows.iter().find(|row| row.id == *id)
}

fn missing(rows: &[Row], shown: &Shown) -> Difference {
    let only_people =
        row_of(rows, &shown.row).is_some_and(|row| row.audience == Some(Audience::People));
    let rule = match shown.kind {
        "marker" => Rule::TranscriptMarkerPerLanding,
        _other if only_people => Rule::TranscriptAudience,
        _other => Rule::TranscriptAppendOrigin,
    };
    let message = format!("a {} of `{}` must show, and does not", shown.kind, shown.row);
    Difference { rule, seq: Some(shown.seq), message }
}

fn doubled(shown: &Shown) -> Difference {
    let rule = match shown.kind {
        "marker" => Rule::TranscriptMarkerPerLanding,
        _other => Rule::TranscriptAppendOrigin,
    };
    let message = format!("a {} of `{}` shows twice", shown.kind, shown.row);
    Difference { rule, seq: Some(shown.seq), message }
}

fn extra(rows: &[Row], shown: &Shown) -> Difference {
    let row = row_of(rows, &shown.row);
    let block = shown.block.and_then(|at| usize::try_from(at).ok());
    let is_authority = |row: &Row| match (&row.event, block) {
        (Event::Message(message), Some(at)) => {
            matches!(message.blocks.get(at), Some(Block::Authority(_)))
        }
        (_, _) => false,
    };
    let rule = match row {
        _any if shown.kind == "marker" => Rule::TranscriptMarkerPerLanding,
        Some(row) if row.compacts().is_some() => Rule::TranscriptPayloadHidden,
        Some(row) if row.replaces.is_some() => Rule::TranscriptSilentReplacements,
        Some(row) if !may_show(row) => Rule::TranscriptAudience,
        Some(row) if is_authority(row) => Rule::TranscriptVerbatimHydration,
        Some(_) if shown.kind == "tool-return" => Rule::TranscriptToolPairing,
        Some(_) | None => Rule::TranscriptAppendOrigin,
    };
    let message = format!("a {} of `{}` shows, and must not", shown.kind, shown.row);
    Difference { rule, seq: row.map(|row| row.seq), message }
}

/// An item that must show, and does, otherwise.
fn changed(rows: &[Row], shown: &Shown, must: &Shown) -> Option<Difference> {
    let by_replacement = rows.iter().any(|row| {
        let takes = row.replaces.as_ref().is_some_and(|replaces| replaces.rows.contains(&must.row));
        takes && row.compacts().is_none()
    });
    let reasoning = |shown: &Shown| shown.kind == "reasoning-message";
    let (rule, what) = if shown.kind != must.kind {
        match reasoning(shown) || reasoning(must) {
            true => (Rule::TranscriptReasoningTyped, format!("is no {}", shown.kind)),
            false => (Rule::TranscriptVerbatimHydration, format!("is no {}", shown.kind)),
        }
    } else if shown.content != must.content && shown.kind == "marker" {
        (Rule::TranscriptMarkerPerLanding, "stands for another number of rows".to_string())
    } else if shown.content != must.content && by_replacement {
        (Rule::TranscriptSilentReplacements, "is not as it was first stored".to_string())
    } else if shown.content != must.content {
        (Rule::TranscriptVerbatimHydration, "is not as it is stored".to_string())
    } else if shown.link != must.link {
        (Rule::TranscriptToolPairing, "is linked to another half than its own".to_string())
    } else if shown.status != must.status {
        (Rule::TranscriptVerbatimHydration, "has another status than is stored".to_string())
    } else if (shown.parent != must.parent) || shown.seq != must.seq || shown.open != must.open {
        (Rule::TranscriptAppendOrigin, "hangs or stands elsewhere".to_string())
    } else {
        return None;
    };
    let message = format!("the {} of `{}` {what}", must.kind, must.row);
    Some(Difference { rule, seq: Some(must.seq), message })
}

/// Items that are there, in another order. If the rest is in order, the markers
/// are not.
fn order(said: &[Shown], due: &[Shown]) -> Option<Difference> {
    let keys = |of: &[Shown], among: &[Shown], markers: bool| -> Vec<String> {
        of.iter()
            .filter(|shown| markers || shown.kind != "marker")
            .filter(|shown| among.iter().any(|other| other.key() == shown.key()))
            .map(|shown| format!("{:?}", shown.key()))
            .collect()
    };
    let mut all = keys(said, due, true);
    all.dedup();
    if all == keys(due, said, true) {
        return None;
    }
    let mut rest = keys(said, due, false);
    rest.dedup();
    let rule = match rest == keys(due, said, false) {
        true => Rule::TranscriptMarkerPerLanding,
        false => Rule::TranscriptAppendOrigin,
    };
    let message = "the items are not in the order of the log".to_string();
    Some(Difference { rule, seq: None, message })
}

/// Where the text of a summary shows that no person or model ever said.
fn payload(rows: &[Row], said: &[Shown]) -> Vec<Difference> {
    let summaries = rows.iter().filter(|row| row.compacts().is_some());
    let texts: Vec<(u64, String)> = summaries
        .flat_map(|row| texts(row).into_iter().map(|text| (row.seq, text)))
        .filter(|(_, text)| text.len() >= TELLING)
        .filter(|(_, text)| {
            let said_too = |row: &Row| {
                row.replaces.is_none() && texts(row).iter().any(|said| said.contains(text.as_str()))
            };
            !rows.iter().any(said_too)
        })
        .collect();
    let mut found = Vec::new();
    for shown in said.iter().filter(|shown| shown.kind != "marker") {
        let strings: Vec<String> = shown
            .content
            .iter()
            .flat_map(Tree::strings)
            .map(|text| text.to_unicode().into_owned())
            .collect();
        for (seq, text) in &texts {
            let own = row_of(rows, &shown.row).is_some_and(|row| row.compacts().is_some());
            if !own && strings.iter().any(|string| string.contains(text.as_str())) {
                let message = format!("the summary's text shows in an item of `{}`", shown.row);
                let rule = Rule::TranscriptPayloadHidden;
                found.push(Difference { rule, seq: Some(*seq), message });
            }
        }
    }
    found
}

/// The texts in a row.
fn texts(row: &Row) -> Vec<String> {
    match &row.event {
        Event::Message(message) => message
            .blocks
            .iter()
            .filter_map(|block| match block {
                Block::Text(text) => Some(text.text.to_unicode().into_owned()),
                Block::Reasoning(_)
                | Block::Call(_)
                | Block::Result(_)
                | Block::Image(_)
                | Block::Authority(_) => None,
            })
            .collect(),
        Event::Delta(delta) => alloc::vec![delta.text.to_unicode().into_owned()],
        Event::CallStarted(_)
        | Event::Result(_)
        | Event::Compaction(_)
        | Event::Turn(_)
        | Event::Unknown(_) => Vec::new(),
    }
}

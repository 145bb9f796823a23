//! The judge of deletions: all of a conversation goes, and nothing of another.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;

use super::super::evidence::Evidence;
use super::super::held::Snapshot;
use super::super::migration::is_down;
use crate::finding::{Finding, Ruling};
use crate::json::RawValue;
use crate::op::{Lookup, Op, Outcome, RefusalCode};
use crate::record::Header;
use crate::rule::Rule;
use crate::text::Text;

const RULE: Rule = Rule::RecordDeleteConversation;

/// The conversations that were deleted and are not there again, each with the
/// step that deleted it; and the step of the last deletion.
#[derive(Default)]
struct Gone {
    names: BTreeMap<Text, usize>,
    /// The conversation that was current when it was deleted, as long as no other
    /// is.
    current: Option<Text>,
    last: Option<usize>,
}

/// What a step asks of.
enum About<'a> {
    /// Of a conversation that was deleted.
    Deleted(&'a Text),
    /// Of one that is there, and was when another was deleted.
    Other(&'a Text),
}

/// `record.delete-conversation`: a deletion takes all rows of a conversation, those
/// that left the context too; then it is not there; the others are untouched.
pub(in super::super) fn delete_conversation(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    let mut gone = Gone::default();
    for step in 0..evidence.trace.steps.len() {
        if !is_down(evidence, step) {
            let wrong = match deletion(evidence, step) {
                Some(wrong) => Some(wrong),
                None => afterwards(evidence, step, &gone),
            };
            match wrong {
                Some(Ok(())) => ruling.witness(),
                Some(Err(message)) => ruling.find(Finding::new(RULE, step, message)),
                None => {}
            }
        }
        gone.take(evidence, step);
    }
    ruling
}

/// Whether a deletion did what it must; None if the step is none, or decides
/// nothing.
fn deletion(evidence: &Evidence<'_>, step: usize) -> Option<Result<(), String>> {
    let taken = &evidence.trace.steps[step];
    let Op::Delete { conversation } = &taken.op else { return None };
    let held = evidence.holdings.conversation(step, conversation.as_ref());
    match (held, &taken.outcome) {
        (Some(held), Outcome::Deleted { rows }) if *rows != held.rows as u64 => Some(Err(format!(
            "{rows} rows went; the conversation held {}, those included that had left the context",
            held.rows
        ))),
        (Some(held), Outcome::Deleted { .. }) => (held.rows > 0).then_some(Ok(())),
        (Some(_), Outcome::Refused(refusal)) => Some(Err(format!(
            "refused as {:?}, without a reason: {}",
            refusal.code, refusal.detail
        ))),
        (None, Outcome::Deleted { rows }) => {
            Some(Err(format!("nothing of the name is held; {rows} rows are said to be gone")))
        }
        (_, _) => None,
    }
}

/// Whether a step after a deletion finds what it left: nothing of the one, all of
/// the others. None if it does not tell.
fn afterwards(evidence: &Evidence<'_>, step: usize, gone: &Gone) -> Option<Result<(), String>> {
    let taken = &evidence.trace.steps[step];
    if let Outcome::Unsupported { .. } = taken.outcome {
        return None;
    }
    if let Outcome::Recalled { hits } = &taken.outcome
        && let Some(hit) = hits.iter().find(|hit| gone.names.contains_key(&hit.conversation))
    {
        let name = &hit.conversation;
        return Some(Err(format!("`{}` of the deleted conversation `{name}` is found", hit.row)));
    }
    let about = gone.about(evidence, step);
    match (about?, &taken.outcome) {
        (About::Deleted(name), Outcome::Refused(refusal)) => {
            let begins = matches!(taken.op, Op::Load { .. });
            if begins && refusal.code != RefusalCode::Exists {
                None
            } else if refusal.code == RefusalCode::NoRecord {
                Some(Ok(()))
            } else {
                Some(Err(format!(
                    "refused as {:?}; `{name}` was deleted, and is not there",
                    refusal.code
                )))
            }
        }
        (About::Deleted(_), Outcome::Loaded { .. }) if matches!(taken.op, Op::Load { .. }) => None,
        (About::Deleted(name), _) => {
            Some(Err(format!("`{name}` was deleted, and `{}` is answered", taken.op.name())))
        }
        (About::Other(name), outcome) => untouched(evidence, step, name, outcome),
    }
}

/// Whether a conversation that was there when another was deleted is as it was.
fn untouched(
    evidence: &Evidence<'_>,
    step: usize,
    name: &Text,
    outcome: &Outcome,
) -> Option<Result<(), String>> {
    let held = evidence.holdings.stores[step].get(name)?.rows as u64;
    let found = if let Outcome::Loaded { next, .. } = outcome {
        *next
    } else if let Outcome::Rows { rows } = outcome {
        rows.len() as u64
    } else if let Outcome::Refused(_) = outcome {
        0
    } else {
        return None;
    };
    if found < held {
        let message =
            format!("`{name}` held {held} rows when another was deleted; {found} are left");
        Some(Err(message))
    } else {
        (held > 0).then_some(Ok(()))
    }
}

impl Gone {
    /// What a step asks of, if that tells whether something was deleted.
    fn about<'a>(&'a self, evidence: &'a Evidence<'_>, step: usize) -> Option<About<'a>> {
        let last = self.last?;
        let of = |name: &'a Text| {
            let stores = &evidence.holdings.stores;
            let as_it_was =
                stores[step].get(name).is_some_and(|now| stores[last].get(name) == Some(now));
            if self.names.contains_key(name) {
                Some(About::Deleted(name))
            } else {
                as_it_was.then_some(About::Other(name))
            }
        };
        match &evidence.trace.steps[step].op {
            Op::Enter { conversation } => of(conversation),
            Op::Lookup(Lookup { conversation: Some(name), .. })
            | Op::Delete { conversation: Some(name) } => {
                self.names.contains_key(name).then_some(About::Deleted(name))
            }
            Op::Load { header: Some(header), beside: true, .. } => {
                let name = conversation(header)?;
                let (name, _) = self.names.get_key_value(&name)?;
                Some(About::Deleted(name))
            }
            Op::Read { from: None | Some(0), limit: None } => match &self.current {
                Some(name) => Some(About::Deleted(name)),
                None => of(current(evidence, step)?),
            },
            Op::Read { .. }
            | Op::Append { .. }
            | Op::Log {}
            | Op::Replay(_)
            | Op::Request { .. }
            | Op::Context {}
            | Op::Transcript {}
            | Op::Follow { .. }
            | Op::Lookup(_)
            | Op::Status { .. }
            | Op::Delete { conversation: None }
            | Op::Stamp {}
            | Op::Sync { limit: None }
            | Op::Window { limit: None, .. }
            | Op::Recall { .. } => self.current.as_ref().map(About::Deleted),
            // What is wrong with the op itself may come first, or the op is about
            // none of them.
            Op::Load { .. }
            | Op::Open { .. }
            | Op::Restart {}
            | Op::Input { .. }
            | Op::Compact(_)
            | Op::Clear(_)
            | Op::Upgrade(_)
            | Op::Page { .. }
            | Op::Window { .. }
            | Op::Sync { .. }
            | Op::Archive { .. }
            | Op::Parts { .. }
            | Op::Migrate(_) => None,
        }
    }

    /// Takes note of what a step deleted, or began anew.
    fn take(&mut self, evidence: &Evidence<'_>, step: usize) {
        let taken = &evidence.trace.steps[step];
        let held = evidence.holdings.conversation(step, None);
        if let (Op::Delete { conversation }, Outcome::Deleted { .. }) = (&taken.op, &taken.outcome)
        {
            let current = held.map(|held| name(evidence, held));
            let Some(name) = conversation.as_ref().or(current) else { return };
            if evidence.holdings.stores[step].contains_key(name) {
                self.names.insert(name.clone(), step);
                self.last = Some(step);
                if current == Some(name) {
                    self.current = Some(name.clone());
                }
            }
        }
        let Some(now) = evidence.holdings.after[step] else { return };
        self.current = None;
        let begins = matches!(taken.op, Op::Load { .. } | Op::Open { .. } | Op::Migrate(_));
        if begins && Some(now) != held {
            if !matches!(taken.op, Op::Load { beside: true, .. }) {
                *self = Self::default();
            }
            self.names.remove(name(evidence, now));
        }
    }
}

/// The name of the conversation that is held.
fn name<'a>(evidence: &'a Evidence<'_>, held: Snapshot) -> &'a Text {
    &evidence.holdings.generations[held.generation].conversation
}

/// The name of the current conversation.
fn current<'a>(evidence: &'a Evidence<'_>, step: usize) -> Option<&'a Text> {
    evidence.holdings.before[step].map(|held| name(evidence, held))
}

/// The name that a header gives.
fn conversation(header: &RawValue) -> Option<Text> {
    Header::decode(header).ok().map(|header| header.conversation)
}

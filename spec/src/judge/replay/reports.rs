//! The judges of what a replay reports beside the payload.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};

use super::super::canary::Kind;
use super::super::context::{Piece, What, images};
use super::super::crossing::Crossing;
use super::super::evidence::Evidence;
use super::ends::{added_first, added_last};
use super::images::{is_native, is_whole};
use super::reasoning::{begins_with_thinking, latest_loop_message, open_loop_message};
use crate::finding::{Finding, Ruling};
use crate::json::{Fields, Tree};
use crate::op::{AnomalyName, Constraint, Report};
use crate::record::{Block, Call, Content, Event, Role, Row};
use crate::rule::Rule;
use crate::target::{PlainReasoning, Target};
use crate::wire::{Body, Part, WireCall};

/// `replay.anomalies-named`: each repair is reported with its row, and nothing
/// else is.
pub(in super::super) fn anomalies_named(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    if !evidence.reports(Report::Anomalies) {
        return ruling;
    }
    for crossing in &evidence.crossings {
        ruling.witness();
        let step = crossing.asked.step;
        let reported: BTreeSet<(AnomalyName, Option<u64>)> =
            crossing.asked.replayed.anomalies.iter().map(|found| (found.name, found.seq)).collect();
        let known = Known { due: due(crossing), renamed: renamed_rows(crossing) };
        for (name, seq) in known.due.iter().copied() {
            if !reported.contains(&(name, Some(seq))) {
                let message = format!("the repair `{}` of this row is not reported", told(name));
                ruling.find(Finding::new(Rule::ReplayAnomaliesNamed, step, message).row(seq));
            }
        }
        for (name, added) in [
            (AnomalyName::Opened, added_first(evidence, crossing)),
            (AnomalyName::Closed, added_last(evidence, crossing)),
        ] {
            if added.is_some_and(|added| added.needed && added.certain)
                && !reported.contains(&(name, None))
            {
                let message =
                    format!("a message was added at an end, and `{}` is not reported", told(name));
                ruling.find(Finding::new(Rule::ReplayAnomaliesNamed, step, message));
            }
        }
        for (name, seq) in &reported {
            if !has_cause(evidence, crossing, &known, *name, *seq) {
                let message = format!("`{}` is reported, and nothing called for it", told(*name));
                let finding = Finding::new(Rule::ReplayAnomaliesNamed, step, message);
                ruling.find(seq.map_or(finding.clone(), |seq| finding.row(seq)));
            }
        }
    }
    ruling
}

fn told(name: AnomalyName) -> String {
    crate::json::to_line(&name).unwrap_or_default().replace('"', "")
}

/// What is known of a replay's repairs.
struct Known {
    due: BTreeSet<(AnomalyName, u64)>,
    renamed: BTreeSet<u64>,
}

/// The repairs that the context calls for, whatever the target.
fn due(crossing: &Crossing<'_>) -> BTreeSet<(AnomalyName, u64)> {
    let context = &crossing.context;
    let mut due = BTreeSet::new();
    let pending = context.pending(crossing.asked.replay.mode);
    for (at, piece, _) in context.calls() {
        if !context.result_of.contains_key(&at) {
            let name =
                if pending.contains(&at) { AnomalyName::Pending } else { AnomalyName::Answered };
            due.insert((name, piece.seq));
        }
    }
    for (at, piece, _) in context.results() {
        if context.moved(at).is_some() {
            due.insert((AnomalyName::Moved, piece.seq));
        }
    }
    for at in &context.unbound {
        due.insert((AnomalyName::Degraded, context.pieces[*at].seq));
    }
    for (at, piece) in context.pieces.iter().enumerate() {
        due.extend(due_for(crossing, at, piece).map(|name| (name, piece.seq)));
    }
    due.extend(stand_in_rows(crossing).into_iter().map(|seq| (AnomalyName::StoodIn, seq)));
    due
}

/// The repair that a piece calls for by itself.
fn due_for(crossing: &Crossing<'_>, at: usize, piece: &Piece<'_>) -> Option<AnomalyName> {
    let replay = crossing.asked.replay;
    match &piece.what {
        What::Shown(role, image) => {
            (!is_native(replay, image, Some(*role))).then_some(AnomalyName::Unseen)
        }
        What::Answered(result) => {
            let unseen = images(result).any(|image| !is_native(replay, image, None));
            unseen.then_some(AnomalyName::Unseen)
        }
        What::Said(_, text) => {
            let mut places = crossing.seen.places.iter();
            let left = places
                .any(|place| matches!(place.kind, Kind::Speech(_)) && place.text.trim().is_empty());
            (text.trim().is_empty() && !left).then_some(AnomalyName::Omitted)
        }
        What::Thought(reasoning) => {
            let text = reasoning.text.to_unicode();
            let token = reasoning.token.as_ref().map(|token| token.to_unicode());
            let stored = [Some(text), token].into_iter().flatten();
            let seen = &crossing.seen;
            let crosses = stored.clone().any(|text| seen.of_text(&text).next().is_some());
            // Only strings that can be told from chance show that it is left out.
            let known = stored
                .filter_map(|text| seen.needles.find(&text))
                .any(|needle| seen.needles.is_strong(needle));
            (known && !crosses).then_some(AnomalyName::Omitted)
        }
        What::Called(call) => {
            let raw = call.arguments.to_unicode();
            let object =
                raw.trim().is_empty() || matches!(Tree::parse(&raw), Some(Tree::Object(_)));
            let sent = crossing.wire_call.get(&at).map(|at| crossing.calls[*at].call)?;
            if !object && sent.arguments != *raw {
                return Some(AnomalyName::Mended);
            }
            is_renamed(call, sent).then_some(AnomalyName::Mapped)
        }
        What::Edge(_) => None,
    }
}

/// The rows whose calls cross with empty reasoning in place of the reasoning that
/// the target demands.
fn stand_in_rows(crossing: &Crossing<'_>) -> BTreeSet<u64> {
    let stand_ins = stand_in_messages(crossing);
    let calls = crossing.context.calls();
    calls
        .filter(|(at, _, _)| {
            let on_wire = crossing.wire_call.get(at);
            on_wire.is_some_and(|call| stand_ins.contains(&crossing.calls[*call].message))
        })
        .map(|(_, piece, _)| piece.seq)
        .collect()
}

/// True if a reported repair has a cause in the row that it names, or at an end
/// of the wire.
fn has_cause(
    evidence: &Evidence<'_>,
    crossing: &Crossing<'_>,
    known: &Known,
    name: AnomalyName,
    seq: Option<u64>,
) -> bool {
    let Some(seq) = seq else {
        let added = match name {
            AnomalyName::Opened => added_first(evidence, crossing),
            AnomalyName::Closed => added_last(evidence, crossing),
            AnomalyName::Answered
            | AnomalyName::Pending
            | AnomalyName::Degraded
            | AnomalyName::Moved
            | AnomalyName::Mapped
            | AnomalyName::Mended
            | AnomalyName::Omitted
            | AnomalyName::Unseen
            | AnomalyName::StoodIn => None,
        };
        return added.is_some_and(|added| added.needed);
    };
    let exact =
        [AnomalyName::Answered, AnomalyName::Pending, AnomalyName::Degraded, AnomalyName::Moved];
    if exact.contains(&name) {
        return known.due.contains(&(name, seq));
    }
    let Some(row) = usize::try_from(seq).ok().and_then(|at| crossing.rows.get(at)) else {
        return false;
    };
    let cause = Causes::of(crossing, row);
    match name {
        AnomalyName::Mapped => known.renamed.contains(&seq),
        AnomalyName::Mended => cause.mendable,
        AnomalyName::Omitted => cause.omittable,
        AnomalyName::Unseen => cause.unseen,
        AnomalyName::StoodIn => {
            cause.calls && crossing.asked.replay.profile.plain_reasoning == PlainReasoning::Required
        }
        AnomalyName::Answered
        | AnomalyName::Pending
        | AnomalyName::Degraded
        | AnomalyName::Moved
        | AnomalyName::Opened
        | AnomalyName::Closed => false,
    }
}

/// What in a row can call for a repair.
#[derive(Debug, Default)]
struct Causes {
    calls: bool,
    mendable: bool,
    omittable: bool,
    unseen: bool,
}

impl Causes {
    fn of(crossing: &Crossing<'_>, row: &Row) -> Self {
        let mut causes = Self::default();
        match &row.event {
            Event::Message(message) => {
                for block in &message.blocks {
                    match block {
                        Block::Text(text) => {
                            let text = &text.text;
                            let unicode = text.to_unicode();
                            causes.mendable |= text.is_broken() || unicode.trim_end() != unicode;
                            causes.omittable |= text.is_blank();
                        }
                        Block::Reasoning(reasoning) => {
                            causes.omittable = true;
                            causes.mendable |= reasoning.text.is_broken();
                        }
                        Block::Call(call) => {
                            causes.omittable |= message.role == Role::User;
                            let raw = call.arguments.to_unicode();
                            causes.mendable |= call.arguments.is_broken()
                                || !raw.trim().is_empty()
                                    && (!matches!(Tree::parse(&raw), Some(Tree::Object(_)))
                                        || crate::json::mend_surrogates(&raw) != raw);
                        }
                        Block::Result(result) => {
                            result
                                .content
                                .iter()
                                .for_each(|part| causes.add_content(crossing, part));
                        }
                        Block::Image(image) => {
                            let native =
                                is_native(crossing.asked.replay, image, Some(message.role));
                            causes.unseen |= !native;
                        }
                        Block::Authority(_) => causes.omittable = true,
                    }
                }
                let has_call = message.blocks.iter().any(|block| matches!(block, Block::Call(_)));
                causes.calls |= has_call
                    && crossing.asked.replay.profile.plain_reasoning == PlainReasoning::Required;
            }
            Event::Result(result) => {
                result.content.iter().for_each(|part| causes.add_content(crossing, part));
            }
            Event::Delta(delta) => {
                causes.mendable |= delta.text.is_broken();
                causes.omittable = true;
            }
            Event::CallStarted(_) | Event::Compaction(_) | Event::Turn(_) | Event::Unknown(_) => {}
        }
        causes
    }

    fn add_content(&mut self, crossing: &Crossing<'_>, part: &Content) {
        match part {
            Content::Text(text) => {
                self.mendable |= text.text.is_broken();
                self.omittable |= text.text.is_blank();
            }
            Content::Image(image) => {
                let native = crossing.asked.replay.profile.vision && is_whole(image);
                self.unseen |= !native;
            }
        }
    }
}

/// True if a call crosses under another id or name than its own.
fn is_renamed(call: &Call, sent: &WireCall) -> bool {
    sent.id != call.id.to_unicode() || sent.name != call.name.to_unicode()
}

/// The rows with a call that crosses under another id or name.
fn renamed_rows(crossing: &Crossing<'_>) -> BTreeSet<u64> {
    let calls = crossing.context.calls();
    let renamed = calls.filter(|(at, _, call)| {
        crossing.wire_call.get(at).is_some_and(|at| is_renamed(call, crossing.calls[*at].call))
    });
    renamed.map(|(_, piece, _)| piece.seq).collect()
}

/// `replay.constraints-said`: what the request must respect is said, and no more.
pub(in super::super) fn constraints_said(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    if !evidence.reports(Report::Constraints) {
        return ruling;
    }
    for crossing in &evidence.crossings {
        let step = crossing.asked.step;
        let said = &crossing.asked.replayed.constraints;
        let names = names_to_declare(crossing);
        let open = open_loop_message(crossing);
        let needs_off = |message: usize| !begins_with_thinking(crossing, message);
        let must_be_off = open.is_some_and(needs_off);
        let may_be_off = latest_loop_message(crossing).is_some_and(needs_off);
        let stand_ins = stand_in_rows(crossing).len();
        ruling.witnesses += usize::from(!names.is_empty() || open.is_some() || stand_ins > 0);
        let mut find = |message: String| {
            ruling.find(Finding::new(Rule::ReplayConstraintsSaid, step, message));
        };
        let declared = said.iter().find_map(|constraint| match constraint {
            Constraint::DeclareTools(names) => Some(names.iter().cloned().collect::<BTreeSet<_>>()),
            Constraint::ThinkingOff | Constraint::StandIn(_) => None,
        });
        if declared.clone().unwrap_or_default() != names && !offers_tools(crossing) {
            find(format!("the tools to be declared are {names:?}; said was {declared:?}"));
        }
        let off = said.contains(&Constraint::ThinkingOff);
        if must_be_off && !off {
            find(String::from("thinking must be switched off, and that is not said"));
        }
        if off && !may_be_off {
            find(String::from("thinking is said to be switched off without need"));
        }
        let told = said.iter().filter(|said| matches!(said, Constraint::StandIn(_))).count();
        if told != stand_ins {
            find(format!("{stand_ins} stand-ins are sent; {told} are said"));
        }
    }
    ruling
}

/// The names of the tools that the wire calls, where the request offers none.
fn names_to_declare(crossing: &Crossing<'_>) -> BTreeSet<String> {
    if crossing.asked.replay.profile.tools {
        return BTreeSet::new();
    }
    crossing.calls.iter().map(|call| call.call.name.to_string()).collect()
}

/// The messages that carry empty reasoning in place of the reasoning that the
/// target demands.
fn stand_in_messages(crossing: &Crossing<'_>) -> BTreeSet<usize> {
    let replay = crossing.asked.replay;
    if replay.target != Target::OpenaiChat
        || replay.profile.plain_reasoning != PlainReasoning::Required
    {
        return BTreeSet::new();
    }
    let messages = crossing.wire.messages.iter().enumerate();
    let stand_in = |parts: &[Part]| {
        let mut bodies = parts.iter().map(|part| &part.body);
        let calls = bodies.clone().any(|body| matches!(body, Body::Call(_)));
        calls
            && bodies
                .any(|body| matches!(body, Body::Reasoning(held) if held.text.trim().is_empty()))
    };
    messages.filter(|(_, message)| stand_in(&message.parts)).map(|(at, _)| at).collect()
}

/// True if the payload itself declares tools.
fn offers_tools(crossing: &Crossing<'_>) -> bool {
    Fields::open(&crossing.asked.replayed.payload)
        .is_ok_and(|mut fields| fields.take_raw("tools").is_some())
}

/// `replay.tools-absent`: calls stay calls though the request offers no tools,
/// and it is said what must be declared.
pub(in super::super) fn tools_absent(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for crossing in
        evidence.crossings.iter().filter(|crossing| !crossing.asked.replay.profile.tools)
    {
        let step = crossing.asked.step;
        let mut rows: BTreeMap<u64, &str> = BTreeMap::new();
        for (at, piece, _) in crossing.context.calls() {
            ruling.witness();
            if !crossing.wire_call.contains_key(&at) {
                rows.insert(
                    piece.seq,
                    "its calls are not declared when the request offers no tools",
                );
            }
        }
        for (seq, message) in rows {
            ruling.find(Finding::new(Rule::ReplayToolsAbsent, step, message).row(seq));
        }
        let said = crossing
            .asked
            .replayed
            .constraints
            .iter()
            .any(|said| matches!(said, Constraint::DeclareTools(_)));
        let reports = evidence.reports(Report::Constraints);
        if reports && !crossing.calls.is_empty() && !said && !offers_tools(crossing) {
            let message = "the history calls tools, none is offered, and nothing says that they must be declared";
            ruling.find(Finding::new(Rule::ReplayToolsAbsent, step, message));
        }
    }
    ruling
}

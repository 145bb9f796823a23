//! What Anthropic Messages demands across blocks: calls and their results, the
//! tools of the server, and where thinking stands.
//!
//! It is checked on turns, which consecutive messages of one role are joined to
//! (ANT-9); the paths are those of the payload as it is.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::compact;
use crate::target::shape::{Block, Breaches, Message, quoted};

/// Whose voice a message is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Assistant,
    System,
    /// None of them.
    Unknown,
}

impl Role {
    pub(super) fn of(message: &Message<'_>) -> Self {
        match message.role.as_deref() {
            Some("user") => Self::User,
            Some("assistant") => Self::Assistant,
            Some("system") => Self::System,
            Some(_) | None => Self::Unknown,
        }
    }
}

/// Consecutive messages of one role.
pub(super) struct Turn<'m, 'a> {
    pub(super) role: Role,
    /// The path of the first of them.
    pub(super) path: &'m str,
    pub(super) blocks: Vec<&'m Block<'a>>,
}

/// Joins messages to turns. Two messages of role system are two turns.
pub(super) fn turns<'m, 'a>(messages: &'m [Message<'a>]) -> Vec<Turn<'m, 'a>> {
    let mut turns: Vec<Turn<'m, 'a>> = Vec::new();
    for message in messages {
        let role = Role::of(message);
        let blocks = message.content.blocks().iter();
        match turns.last_mut() {
            Some(turn) if turn.role == role && matches!(role, Role::User | Role::Assistant) => {
                turn.blocks.extend(blocks);
            }
            Some(_) | None => {
                turns.push(Turn { role, path: &message.path, blocks: blocks.collect() });
            }
        }
    }
    turns
}

/// True for a thinking block of either type.
pub(super) fn is_thinking(block: &Block<'_>) -> bool {
    block.is("thinking") || block.is("redacted_thinking")
}

/// True for the result of a tool that the provider runs itself.
pub(super) fn is_server_result(block: &Block<'_>) -> bool {
    block.kind.ends_with("_tool_result")
}

/// True for the call of such a tool.
pub(super) fn is_server_call(block: &Block<'_>) -> bool {
    block.is("server_tool_use") || block.is("mcp_tool_use")
}

/// The ids that one turn calls; for each the calls that still wait, as their
/// places in the turn and their paths.
type Waiting<'m> = BTreeMap<Cow<'m, str>, VecDeque<(usize, &'m str)>>;

/// ANT-1 to ANT-5: calls and results by place and id.
pub(super) fn check_pairing(breaches: &mut Breaches, turns: &[Turn<'_, '_>]) {
    let mut seen = BTreeMap::new();
    let mut waiting = Waiting::new();
    for turn in turns {
        if turn.role == Role::User {
            answer(breaches, &mut waiting, turn);
        }
        close(breaches, core::mem::take(&mut waiting), Some(turn.path));
        if turn.role == Role::Assistant {
            waiting = declare(breaches, &mut seen, turn);
        }
    }
    close(breaches, waiting, None);
}

fn declare<'m>(
    breaches: &mut Breaches,
    seen: &mut BTreeMap<Cow<'m, str>, &'m str>,
    turn: &Turn<'m, 'm>,
) -> Waiting<'m> {
    let mut waiting = Waiting::new();
    let calls = turn.blocks.iter().enumerate().filter(|(_, block)| block.is("tool_use"));
    for (place, block) in calls {
        let Some(id) = block.string("id") else { continue };
        match seen.get(&id) {
            Some(first) => {
                let what =
                    format!("{} is also the id of {first}; one of its own would do", quoted(&id));
                breaches.add("ANT-5", block.at("id"), what);
            }
            None => {
                seen.insert(id.clone(), &block.path);
            }
        }
        waiting.entry(id).or_default().push_back((place, &block.path));
    }
    waiting
}

fn answer(breaches: &mut Breaches, waiting: &mut Waiting<'_>, turn: &Turn<'_, '_>) {
    let mut before: Option<&Block<'_>> = None;
    for block in &turn.blocks {
        if !block.is("tool_result") {
            before = before.or(Some(block));
            continue;
        }
        if let Some(before) = before {
            let what = format!(
                "stands behind {} (`{}`); results first would do",
                before.path, before.kind
            );
            breaches.add("ANT-3", block.path.clone(), what);
        }
        let Some(id) = block.string("tool_use_id") else { continue };
        match waiting.get_mut(&*id) {
            None => {
                let what = format!(
                    "answers {}, which the previous message does not call; text would do",
                    quoted(&id)
                );
                breaches.add("ANT-2", block.at("tool_use_id"), what);
            }
            Some(places) => {
                if places.pop_front().is_none() {
                    let what = format!(
                        "answers {} once more; one result for each call would do",
                        quoted(&id)
                    );
                    breaches.add("ANT-4", block.at("tool_use_id"), what);
                }
            }
        }
    }
}

/// Ends the wait of a turn's calls at the turn behind it, if there is one.
fn close(breaches: &mut Breaches, waiting: Waiting<'_>, at: Option<&str>) {
    let mut open: Vec<(usize, &str, Cow<'_, str>)> = Vec::new();
    for (id, places) in waiting {
        open.extend(places.into_iter().map(|(place, path)| (place, path, id.clone())));
    }
    open.sort_unstable();
    for (_, path, id) in open {
        let place = match at {
            Some(next) => format!("in the next message, {next}"),
            None => String::from("and no message follows"),
        };
        let what =
            format!("{} has no `tool_result` {place}; one at its beginning would do", quoted(&id));
        breaches.add("ANT-1", format!("{path}.id"), what);
    }
}

/// ANT-21: the calls of the server's tools, each with its result.
pub(super) fn check_server_tools(breaches: &mut Breaches, turns: &[Turn<'_, '_>]) {
    for (at, turn) in turns.iter().enumerate() {
        let mut called = BTreeSet::new();
        let mut open: Vec<(Cow<'_, str>, &Block<'_>)> = Vec::new();
        for block in &turn.blocks {
            if is_server_call(block)
                && let Some(id) = block.string("id")
            {
                called.insert(id.clone());
                open.push((id, block));
            } else if is_server_result(block)
                && let Some(id) = block.string("tool_use_id")
                && !called.contains(&id)
            {
                let what = format!(
                    "answers {}, which no server tool before it in its message has; with its \
                     `server_tool_use` it would do",
                    quoted(&id)
                );
                breaches.add("ANT-21", block.at("tool_use_id"), what);
            }
        }
        let Some(next) = turns.get(at + 1) else { continue };
        if turn.blocks.iter().any(|block| block.is("tool_use")) {
            continue;
        }
        let answered = answered_by_server(turn);
        for (id, block) in open.into_iter().filter(|(id, _)| !answered.contains(id)) {
            let what = format!(
                "{} is unfinished and {} follows; only the assistant's own continuation would do",
                quoted(&id),
                next.path
            );
            breaches.add("ANT-21", block.at("id"), what);
        }
    }
}

fn answered_by_server<'m>(turn: &Turn<'m, 'm>) -> BTreeSet<Cow<'m, str>> {
    let results = turn.blocks.iter().filter(|block| is_server_result(block));
    results.filter_map(|block| block.string("tool_use_id")).collect()
}

/// ANT-14, ANT-15, ANT-30 and ANT-31: where thinking stands.
pub(super) fn check_thinking(breaches: &mut Breaches, turns: &[Turn<'_, '_>], on: bool) {
    for turn in turns.iter().filter(|turn| turn.role == Role::Assistant) {
        if let Some(last) = turn.blocks.last().filter(|block| is_thinking(block)) {
            let what =
                format!("`{}` is the last block; text or a call behind it would do", last.kind);
            breaches.add("ANT-30", last.path.clone(), what);
        }
    }
    if on {
        if let Some(latest) = turns.iter().rfind(|turn| turn.role == Role::Assistant) {
            check_repeated(breaches, latest);
        }
        check_open_loop(breaches, turns);
    } else if let Some(last) = turns.last().filter(|turn| turn.role == Role::Assistant) {
        for block in last.blocks.iter().filter(|block| is_thinking(block)) {
            let what = format!(
                "`{}` in the final assistant message with thinking off; leave it out",
                block.kind
            );
            breaches.add("ANT-31", block.path.clone(), what);
        }
    }
}

fn check_repeated(breaches: &mut Breaches, turn: &Turn<'_, '_>) {
    let mut seen = BTreeMap::new();
    for block in turn.blocks.iter().filter(|block| is_thinking(block)) {
        if let Some(first) = seen.insert(compact(block.raw.get()), block.path.as_str()) {
            let what = format!("is {first} once more; as the model made it, once, would do");
            breaches.add("ANT-14", block.path.clone(), what);
        }
    }
}

/// ANT-15, where the request ends in results alone.
fn check_open_loop(breaches: &mut Breaches, turns: &[Turn<'_, '_>]) {
    let spoken = turns.iter().rposition(|turn| turn.role != Role::System);
    let Some(end) = spoken else { return };
    if !is_results_alone(&turns[end]) || end == 0 || turns[end - 1].role != Role::Assistant {
        return;
    }
    let last = end - 1;
    let mut first = last;
    while first > 1
        && is_results_alone(&turns[first - 1])
        && turns[first - 2].role == Role::Assistant
    {
        first -= 2;
    }
    let begins = |turn: &Turn<'_, '_>| turn.blocks.first().is_some_and(|block| is_thinking(block));
    if begins(&turns[last]) || begins(&turns[first]) {
        return;
    }
    let (path, found) = match turns[last].blocks.first() {
        Some(block) => (block.path.as_str(), &*block.kind),
        None => (turns[last].path, "nothing"),
    };
    let what = format!(
        "`{found}` begins the final assistant message with thinking on; a thinking block there, \
         or thinking off, would do"
    );
    breaches.add("ANT-15", path, what);
}

fn is_results_alone(turn: &Turn<'_, '_>) -> bool {
    turn.role == Role::User
        && !turn.blocks.is_empty()
        && turn.blocks.iter().all(|block| block.is("tool_result"))
}

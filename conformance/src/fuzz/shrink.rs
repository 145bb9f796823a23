//! Makes a case that breaks something smaller, as long as the implementation goes on
//! breaking the same: fewer steps and rows, then fewer blocks, then shorter texts.

use onrecord_spec::json::{Json, keep};
use onrecord_spec::op::{Implementation, Op};
use serde_json::{Value, json};

use super::{Attempt, What, attempt};
use crate::fixture::{Case, CaseStep};

/// After so many tries the case is small enough.
const MOST_TRIES: usize = 600;

/// The smallest case found that breaks the same, with what is found in it. None if the
/// case does not break it when it is asked again. `go_on` is asked before each try.
pub fn shrink(
    case: &Case,
    what: What,
    implementation: &mut dyn Implementation,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<(Case, String)> {
    let mut shrinker = Shrinker { what, implementation, go_on, tries: 0, message: String::new() };
    let mut case = case.clone();
    let last = shrinker.breaks(&case)?;
    let kept = truncated(&case, last + 1);
    if shrinker.try_it(&kept) {
        case = kept;
    }
    loop {
        let before = shrinker.tries;
        let size = weight(&case);
        shrinker.fewer_steps(&mut case);
        shrinker.fewer_rows(&mut case);
        shrinker.fewer_parts(&mut case);
        if weight(&case) >= size || shrinker.tries == before || shrinker.tries >= MOST_TRIES {
            break;
        }
    }
    shrinker.shorter_texts(&mut case);
    // What was tried last need not be what is kept.
    shrinker.tries = 0;
    shrinker.breaks(&case)?;
    Some((case, shrinker.message))
}

struct Shrinker<'a> {
    what: What,
    implementation: &'a mut dyn Implementation,
    go_on: &'a mut dyn FnMut() -> bool,
    tries: usize,
    /// What was found in the last case that broke it.
    message: String,
}

impl Shrinker<'_> {
    /// The step in which the case breaks it, if it does.
    fn breaks(&mut self, case: &Case) -> Option<usize> {
        self.tries += 1;
        match (attempt(case, self.implementation), self.what) {
            (Attempt::Answered(trace, rulings), What::Rule(rule)) => {
                let findings = &rulings.get(&rule)?.findings;
                let last = findings.iter().min_by_key(|finding| finding.step)?;
                self.message.clone_from(&last.message);
                // A walk through pages takes more steps than the case has.
                let asked = trace.steps.len();
                Some(if asked == case.steps.len() { last.step } else { case.steps.len() - 1 })
            }
            (Attempt::Fault(step, fault), What::Fault) => {
                self.message = fault.message;
                Some(step)
            }
            (Attempt::Answered(..) | Attempt::Unsupported(_) | Attempt::Fault(..), _) => None,
        }
    }

    fn try_it(&mut self, case: &Case) -> bool {
        self.tries < MOST_TRIES
            && !case.steps.is_empty()
            && (self.go_on)()
            && self.breaks(case).is_some()
    }

    /// Tries without stretches of so many things, halving them, then without single ones.
    fn without_stretches(
        &mut self,
        case: &mut Case,
        count: impl Fn(&Case) -> usize,
        without: impl Fn(&Case, usize, usize) -> Case,
    ) {
        let mut size = count(case).max(1);
        loop {
            let mut from = count(case).saturating_sub(size);
            loop {
                let smaller = without(case, from, from + size);
                if weight(&smaller) < weight(case) && self.try_it(&smaller) {
                    *case = smaller;
                }
                if from == 0 {
                    break;
                }
                from = from.saturating_sub(size);
            }
            if size == 1 || self.tries >= MOST_TRIES {
                return;
            }
            size /= 2;
        }
    }

    fn fewer_steps(&mut self, case: &mut Case) {
        self.without_stretches(case, |case| case.steps.len(), without_steps);
    }

    fn fewer_rows(&mut self, case: &mut Case) {
        for at in (0..case.steps.len()).rev() {
            let count = move |case: &Case| rows(case, at).map_or(0, <[Json]>::len);
            if count(case) > 0 {
                self.without_stretches(case, count, move |case, from, to| {
                    with_rows(case, at, |rows| {
                        let end = to.min(rows.len());
                        rows.drain(from.min(end)..end);
                    })
                });
            }
        }
    }

    /// Fewer blocks, and fewer fields that may be left out.
    fn fewer_parts(&mut self, case: &mut Case) {
        for at in 0..case.steps.len() {
            let count = rows(case, at).map_or(0, <[Json]>::len);
            for row in 0..count {
                for part in parts(case, at, row) {
                    let smaller = with_row(case, at, row, |row| without_part(row, &part));
                    if weight(&smaller) < weight(case) && self.try_it(&smaller) {
                        *case = smaller;
                    }
                }
            }
        }
    }

    /// Each text as one word of its own, or as nothing.
    fn shorter_texts(&mut self, case: &mut Case) {
        let mut number = 0;
        for at in 0..case.steps.len() {
            let count = rows(case, at).map_or(0, <[Json]>::len);
            for row in 0..count {
                for pointer in texts(case, at, row) {
                    number += 1;
                    let word = format!("words-{number}");
                    let smaller = with_row(case, at, row, |row| {
                        if let Some(text) = row.pointer_mut(&pointer) {
                            *text = json!(word);
                        }
                    });
                    if weight(&smaller) < weight(case) && self.try_it(&smaller) {
                        *case = smaller;
                    }
                }
            }
        }
    }
}

/// How large a case is: what becomes smaller.
fn weight(case: &Case) -> usize {
    let of_step =
        |step: &CaseStep| onrecord_spec::json::to_line(&step.op).map_or(0, |line| line.len()) + 1;
    case.steps.iter().map(of_step).sum()
}

fn truncated(case: &Case, steps: usize) -> Case {
    let mut case = case.clone();
    case.steps.truncate(steps);
    case
}

/// The case without some steps. A page that went on before one of them goes too.
fn without_steps(case: &Case, from: usize, to: usize) -> Case {
    let mut smaller = Case { steps: Vec::new(), ..case.clone() };
    let mut places: Vec<Option<usize>> = Vec::new();
    for (at, step) in case.steps.iter().enumerate() {
        let before = step.late.before_step.map(|before| places.get(before).copied().flatten());
        let goes = (from..to).contains(&at) || before == Some(None);
        places.push((!goes).then_some(smaller.steps.len()));
        if !goes {
            let mut step = step.clone();
            step.late.before_step = before.flatten();
            smaller.steps.push(step);
        }
    }
    smaller
}

/// The rows that a step stores.
fn rows(case: &Case, at: usize) -> Option<&[Json]> {
    if let Op::Load { rows, .. } | Op::Append { rows, .. } = &case.steps.get(at)?.op {
        Some(rows)
    } else {
        None
    }
}

/// The case with other rows in a step: numbered without a gap, and without what hangs
/// from rows that are not there.
fn with_rows(case: &Case, at: usize, change: impl FnOnce(&mut Vec<Json>)) -> Case {
    let mut case = case.clone();
    let Some(step) = case.steps.get_mut(at) else { return case };
    if let Op::Load { rows, .. } = &mut step.op {
        change(rows);
        let ids: Vec<Value> = rows.iter().map(|row| parsed(row)["id"].clone()).collect();
        for (seq, row) in rows.iter_mut().enumerate() {
            *row = sound(row, seq, &ids);
        }
    } else if let Op::Append { rows, .. } = &mut step.op {
        change(rows);
    }
    case
}

fn parsed(row: &Json) -> Value {
    serde_json::from_str(row.get()).unwrap_or_default()
}

fn sound(row: &Json, seq: usize, ids: &[Value]) -> Json {
    let mut value = parsed(row);
    let cited = value["replaces"]["rows"].as_array();
    let replaces_gone = cited.is_some_and(|cited| cited.iter().any(|id| !ids.contains(id)));
    let hangs_from_gone = value["parent"].is_string() && !ids.contains(&value["parent"]);
    let Some(fields) = value.as_object_mut() else { return row.clone() };
    fields.insert("seq".to_string(), json!(seq));
    if replaces_gone {
        fields.remove("replaces");
    }
    if hangs_from_gone {
        fields.remove("parent");
    }
    keep(&value.to_string()).unwrap_or_else(|_| row.clone())
}

fn with_row(case: &Case, at: usize, row: usize, change: impl FnOnce(&mut Value)) -> Case {
    with_rows(case, at, |rows| {
        let mut value = parsed(&rows[row]);
        if value.is_object() {
            change(&mut value);
            if let Ok(changed) = keep(&value.to_string()) {
                rows[row] = changed;
            }
        }
    })
}

/// What of a row may be left out: a block, or a field that need not be there.
fn parts(case: &Case, at: usize, row: usize) -> Vec<String> {
    let Some(row) = rows(case, at).and_then(|rows| rows.get(row)).map(parsed) else {
        return Vec::new();
    };
    let mut parts = Vec::new();
    for name in ["blocks", "content"] {
        let blocks = row["event"][name].as_array().map_or(0, Vec::len);
        for block in (0..blocks).rev() {
            parts.push(format!("/event/{name}/{block}"));
            let of_block = ["from", "token", "encrypted", "name", "error"];
            parts.extend(of_block.map(|field| format!("/event/{name}/{block}/{field}")));
        }
    }
    parts.extend(
        ["parent", "replaces", "audience", "request", "report", "at"].map(|it| format!("/{it}")),
    );
    parts.extend(["name", "error", "status"].map(|it| format!("/event/{it}")));
    parts.retain(|part| row.pointer(part).is_some());
    parts
}

fn without_part(row: &mut Value, part: &str) {
    let Some((holder, name)) = part.rsplit_once('/') else { return };
    match row.pointer_mut(holder) {
        Some(Value::Object(fields)) => {
            fields.remove(name);
        }
        Some(Value::Array(items)) => {
            if let Ok(at) = name.parse::<usize>()
                && at < items.len()
            {
                items.remove(at);
            }
        }
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | None => {}
    }
}

/// Where a row holds texts of its own.
fn texts(case: &Case, at: usize, row: usize) -> Vec<String> {
    let Some(row) = rows(case, at).and_then(|rows| rows.get(row)).map(parsed) else {
        return Vec::new();
    };
    let mut texts = Vec::new();
    for name in ["blocks", "content"] {
        let blocks = row["event"][name].as_array().map_or(0, Vec::len);
        texts.extend((0..blocks).map(|block| format!("/event/{name}/{block}/text")));
    }
    texts.retain(|text| row.pointer(text).is_some_and(Value::is_string));
    texts
}

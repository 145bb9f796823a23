//! What happens to a conversation besides what is said in it: streams, and rows
//! that take the place of others.

use serde_json::{Value, json};

use super::{Maker, State};

impl Maker<'_> {
    /// A message that was being streamed when the process died, or that came
    /// whole in the end.
    pub(super) fn stream(&mut self) {
        let message = format!("streamed-{}", self.rows.len());
        let mut pieces = Vec::new();
        for part in 0..self.choices.between(1..=3) {
            let text = if part == 0 { self.fresh("streamed") } else { format!(" and {part}") };
            self.push(json!({ "type": "delta", "message": message, "part": "text", "text": text }));
            pieces.push(text);
            if self.one_in(6) {
                self.reached(State::RowsInStream);
                self.user_message();
            }
        }
        if self.one_in(2) {
            return self.reached(State::StreamWithoutMessage);
        }
        self.reached(State::StreamedMessage);
        let text = pieces.concat();
        let blocks = json!([{ "type": "text", "text": text }]);
        let event = json!({ "type": "message", "role": "assistant", "blocks": blocks });
        self.push_with(event, json!({ "id": message }));
    }

    /// Rows that take the place of others: a compaction with or without its
    /// bracket, a cleared result, a message made anew.
    pub(super) fn replace(&mut self) {
        match self.choices.below(6) {
            0 => self.clear(),
            1 => self.make_anew(),
            2 | 3 => self.compact_with_bracket(),
            _ => {
                if let Some((first, last)) = self.range() {
                    self.summarise(first, last, json!({}));
                }
            }
        }
    }

    /// A stretch of the context: the places of its first and last row.
    fn range(&mut self) -> Option<(usize, usize)> {
        if self.context.is_empty() {
            return None;
        }
        let first = self.choices.below(self.context.len());
        let last = self.choices.between(first..=self.context.len().min(first + 6) - 1);
        Some((first, last))
    }

    /// A summary takes the stretch. Gives its text and its row's id.
    fn summarise(&mut self, first: usize, last: usize, compaction: Value) -> (String, String) {
        self.reached(State::Replacement);
        let rows: Vec<String> = self.context[first..=last].to_vec();
        if rows.iter().any(|row| self.summaries.contains(row)) {
            self.reached(State::SummaryOfSummary);
        }
        let text = self.fresh("summary");
        let event = json!({
            "type": "message", "role": "user", "blocks": [{ "type": "text", "text": text }],
        });
        let mut replaces = json!({
            "first": rows[0], "last": rows[rows.len() - 1], "rows": rows, "source": "compaction",
        });
        if let (Value::Object(replaces), Value::Object(more)) = (&mut replaces, compaction) {
            replaces.extend(more);
        }
        self.push_with(event, json!({ "replaces": replaces, "audience": "model" }));
        let summary = self.context.pop().unwrap_or_default();
        self.context.splice(first..=last, [summary.clone()]);
        self.summaries.push(summary.clone());
        (text, summary)
    }

    /// A compaction as its maker writes it: begun, with its provenance, landed or
    /// not, ended or not, and the conversation goes on meanwhile.
    fn compact_with_bracket(&mut self) {
        let Some((first, last)) = self.range() else { return };
        let rows: Vec<String> = self.context[first..=last].to_vec();
        let id = format!("compaction-{}", self.rows.len());
        let step = |step: &str, more: Value| {
            let mut event = json!({ "type": "compaction", "compaction": id, "step": step });
            if let (Value::Object(event), Value::Object(more)) = (&mut event, more) {
                event.extend(more);
            }
            event
        };
        if let Some(open) = self.open_compaction.take() {
            let abandoned = json!({
                "type": "compaction", "compaction": open, "step": "ended", "outcome": "abandoned",
            });
            self.push(abandoned);
        }
        self.push(step("started", json!({ "agent": "tidier", "mode": "model" })));
        self.push(step("provenance", json!({ "rows": rows })));
        if self.one_in(3) {
            self.reached(State::RowsInBracket);
            self.user_message();
        }
        match self.choices.below(6) {
            0 => {
                self.reached(State::OpenCompaction);
                self.open_compaction = Some(id);
            }
            1 => {
                self.reached(State::FailedCompaction);
                self.push(step("ended", json!({ "outcome": "failed", "reason": "no answer" })));
            }
            _ => {
                self.reached(State::CompactionBracket);
                let (text, summary) = self.summarise(first, last, json!({ "compaction": id }));
                let marker = json!({
                    "outcome": "landed", "agent": "tidier", "mode": "model", "summary": summary,
                    "text": text, "rows": rows,
                });
                self.push(step("ended", marker));
                if self.one_in(3) {
                    self.reached(State::UpgradedSummary);
                    let better = self.fresh("better summary");
                    let marker = json!({ "agent": "tidier", "summary": summary, "text": better });
                    self.push(step("upgraded", marker));
                }
            }
        }
    }

    /// The bulk of a result is replaced by a notice.
    fn clear(&mut self) {
        let is_result = |row: &Value| row["event"]["type"] == "result";
        let Some((at, mut row)) = self.pick(is_result) else { return };
        self.reached(State::ClearedResult);
        let notice = self.fresh("the output was cleared");
        row["event"]["content"] = json!([{ "type": "text", "text": notice }]);
        self.take_place(at, &row, "clearing");
    }

    /// An assistant's message is made anew, or another producer replaces one.
    fn make_anew(&mut self) {
        let is_plain = |row: &Value| {
            let calls = row["event"]["blocks"].as_array();
            row["event"]["role"] == "assistant"
                && calls.is_some_and(|blocks| blocks.iter().all(|block| block["type"] == "text"))
        };
        let Some((at, mut row)) = self.pick(is_plain) else { return };
        let text = self.fresh("said anew");
        row["event"]["blocks"] = json!([{ "type": "text", "text": text }]);
        let source = if self.one_in(2) {
            self.reached(State::Regeneration);
            "regeneration"
        } else {
            self.reached(State::OtherReplacement);
            "other"
        };
        self.take_place(at, &row, source);
    }

    /// A row of the context that is of this kind: its place there, and a copy.
    fn pick(&mut self, is: impl Fn(&Value) -> bool) -> Option<(usize, Value)> {
        let found: Vec<(usize, Value)> = self
            .context
            .iter()
            .enumerate()
            .filter_map(|(at, id)| {
                let row = self.rows.iter().find(|row| row["id"] == id.as_str())?;
                is(row).then(|| (at, row.clone()))
            })
            .collect();
        if found.is_empty() {
            return None;
        }
        let at = self.choices.below(found.len());
        found.into_iter().nth(at)
    }

    /// Appends a row that takes the place of the one at this place of the context.
    fn take_place(&mut self, at: usize, row: &Value, source: &str) {
        let taken = self.context[at].clone();
        let replaces = json!({ "first": taken, "last": taken, "rows": [taken], "source": source });
        let mut more = json!({ "replaces": replaces });
        if let Some(audience) = row.get("audience") {
            more["audience"] = audience.clone();
        }
        self.push_with(row["event"].clone(), more);
        if let Some(copy) = self.context.pop() {
            self.context[at] = copy;
        }
    }
}

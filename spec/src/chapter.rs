//! The text of the spec: one chapter a file in `spec/text/`, one section a rule.
//!
//! A section begins with `### r[<rule id>] MUST` (or `SHOULD`), then the rule's
//! sentence as its first paragraph, then paragraphs that begin with `**Why.**`
//! and `**Harm.**`, then, where there is more to say, one that begins with
//! `**Details.**` (a list may follow it), then an example as a block of JSON: a
//! case like those in `fixtures/`, which the tests run.

use alloc::string::String;

/// A chapter of the spec.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Chapter {
    /// What is kept.
    Record,
    /// What is found again by its key, and stored once.
    Lookup,
    /// What the model lets go of.
    Compaction,
    /// What crosses to a model.
    Replay,
    /// What never replays.
    Authority,
    /// What people see.
    Transcript,
    /// What is handed over at a time.
    Page,
    /// What moved.
    Sync,
    /// What can still be found.
    Recall,
    /// What outlives deletion.
    Archive,
    /// What an older version left.
    Migration,
}

/// One rule's section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section {
    /// The level, as written: `MUST` or `SHOULD`.
    pub level: &'static str,
    /// Everything under the heading, without the examples.
    pub body: &'static str,
}

impl Chapter {
    /// All chapters that hold rules.
    pub const ALL: [Self; 11] = [
        Self::Record,
        Self::Lookup,
        Self::Compaction,
        Self::Replay,
        Self::Authority,
        Self::Transcript,
        Self::Page,
        Self::Sync,
        Self::Recall,
        Self::Archive,
        Self::Migration,
    ];

    /// The chapter's name: the first word of its rules' ids. The rules of `lookup`
    /// are of `record` by their ids: they are about what is kept, and need the ops
    /// of a store.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Lookup => "lookup",
            Self::Compaction => "compaction",
            Self::Replay => "replay",
            Self::Authority => "authority",
            Self::Transcript => "transcript",
            Self::Page => "page",
            Self::Sync => "sync",
            Self::Recall => "recall",
            Self::Archive => "archive",
            Self::Migration => "migration",
        }
    }

    /// The chapter's text, in Markdown.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Record => include_str!("../text/record.md"),
            Self::Lookup => include_str!("../text/lookup.md"),
            Self::Compaction => include_str!("../text/compaction.md"),
            Self::Replay => include_str!("../text/replay.md"),
            Self::Authority => include_str!("../text/authority.md"),
            Self::Transcript => include_str!("../text/transcript.md"),
            Self::Page => include_str!("../text/page.md"),
            Self::Sync => include_str!("../text/sync.md"),
            Self::Recall => include_str!("../text/recall.md"),
            Self::Archive => include_str!("../text/archive.md"),
            Self::Migration => include_str!("../text/migration.md"),
        }
    }

    /// The section of the rule with this id, if the chapter has it.
    #[must_use]
    pub fn section(self, id: &str) -> Option<Section> {
        sections(self.text()).find(|(label, _)| *label == id).map(|(_, section)| section)
    }

    /// The ids of the rules that the chapter has a section for, in order.
    pub fn labels(self) -> impl Iterator<Item = &'static str> {
        sections(self.text()).map(|(label, _)| label)
    }
}

impl Section {
    /// The rule's sentence: the first paragraph, on one line.
    #[must_use]
    pub fn sentence(self) -> String {
        self.paragraph(|paragraph| !paragraph.starts_with("**"))
    }

    /// Why the rule is so, on one line.
    #[must_use]
    pub fn why(self) -> String {
        self.paragraph(|paragraph| paragraph.starts_with("**Why.**")).replacen("**Why.** ", "", 1)
    }

    /// What happens to people where it is broken, on one line.
    #[must_use]
    pub fn harm(self) -> String {
        self.paragraph(|paragraph| paragraph.starts_with("**Harm.**")).replacen("**Harm.** ", "", 1)
    }

    /// What the sentence leaves open, if there is more to say: its paragraph on one
    /// line, and each point and paragraph that follows it on one of its own.
    #[must_use]
    pub fn details(self) -> String {
        let prose = self.body.split("```").next().unwrap_or_default();
        let details = prose.split_once("**Details.** ").map_or("", |(_, details)| details);
        let mut text = String::new();
        let mut begins = false;
        for line in details.trim().lines() {
            begins |= line.starts_with("- ");
            if !line.is_empty() {
                if !text.is_empty() {
                    text.push(if begins { '\n' } else { ' ' });
                }
                text.push_str(line.trim());
            }
            begins = line.is_empty();
        }
        text
    }

    /// The section's examples: the text of each block of JSON.
    pub fn examples(self) -> impl Iterator<Item = &'static str> {
        self.body
            .split("```json\n")
            .skip(1)
            .map(|rest| rest.split("\n```").next().unwrap_or_default())
    }

    fn paragraph(self, wanted: impl Fn(&str) -> bool) -> String {
        let found =
            self.body.split("\n\n").map(str::trim).find(|text| !text.is_empty() && wanted(text));
        found.unwrap_or_default().replace('\n', " ")
    }
}

/// The labelled sections of a chapter, in order.
fn sections(text: &'static str) -> impl Iterator<Item = (&'static str, Section)> {
    text.split("\n### r[").skip(1).filter_map(|section| {
        let (heading, rest) = section.split_once('\n')?;
        let (label, level) = heading.split_once("] ")?;
        // A section ends at the next heading of any level.
        let body = rest.split("\n## ").next().unwrap_or_default();
        Some((label, Section { level: level.trim(), body }))
    })
}

//! The suite: all fixtures, and which of their checks are wanted.

use std::fs;
use std::path::{Path, PathBuf};

use onrecord_spec::chapter::Chapter;
use onrecord_spec::json::Malformed;
use onrecord_spec::rule::Rule;
use onrecord_spec::target::Target;

use crate::fixture::{Case, Fixture, FixtureError, Template, Verdict};

/// The fixtures that were there when the library was built: name and text.
const EMBEDDED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/fixtures.rs"));

/// Fixtures, and a selection of their checks.
#[derive(Debug, Clone, Default)]
pub struct Suite {
    fixtures: Vec<Fixture>,
    broken: Vec<FixtureError>,
    /// Which checks are wanted.
    pub selection: Selection,
}

/// Which checks are wanted. Each part narrows; an empty one does not.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Pieces of case ids: one of them must occur.
    pub filters: Vec<String>,
    /// Rules: one of them it must be.
    pub rules: Vec<Rule>,
    /// The chapter that states the rule.
    pub chapter: Option<Chapter>,
    /// The target that the case replays to.
    pub target: Option<Target>,
}

impl Suite {
    /// The fixtures that are part of this library.
    #[must_use]
    pub fn embedded() -> Self {
        let mut suite = Self::default();
        for (name, text) in Self::embedded_texts() {
            suite.add(name, text);
        }
        suite
    }

    /// The files of the fixtures that are part of this library: name and text.
    pub fn embedded_texts() -> impl Iterator<Item = (&'static str, &'static str)> {
        EMBEDDED.iter().copied()
    }

    /// The fixtures in a folder and its subfolders. What lies in the folder itself
    /// and under `logs` is none. An error says that the folder cannot be read;
    /// a file that is no fixture is told by [`Suite::broken`].
    pub fn from_dir(root: &Path) -> Result<Self, String> {
        let mut files = Vec::new();
        for folder in subfolders(root)? {
            if folder.file_name().is_none_or(|name| name != "logs") {
                collect(&folder, &mut files)?;
            }
        }
        files.sort();
        let mut suite = Self::default();
        for file in files {
            let name =
                file.strip_prefix(root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
            match crate::input::read_text(&file, "a fixture is JSON in UTF-8") {
                Ok(text) => suite.add(&name, &text),
                Err(what) => {
                    suite.broken.push(FixtureError { file: name, error: Malformed::new(what) });
                }
            }
        }
        Ok(suite)
    }

    /// These fixtures.
    #[must_use]
    pub fn of(fixtures: Vec<Fixture>) -> Self {
        Self { fixtures, ..Self::default() }
    }

    /// Adds the fixture with this file name (`replay/late-result.json`) and text.
    pub fn add(&mut self, name: &str, text: &str) {
        match Fixture::decode(name.strip_suffix(".json").unwrap_or(name), text) {
            Ok(fixture) => self.fixtures.push(fixture),
            Err(error) => self.broken.push(error),
        }
    }

    /// Only the checks of cases whose id holds this text.
    #[must_use]
    pub fn filter(mut self, piece: impl Into<String>) -> Self {
        self.selection.filters.push(piece.into());
        self
    }

    /// Only the checks of this rule (and of others that were named so).
    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.selection.rules.push(rule);
        self
    }

    /// Files that are no fixtures. A suite that has one does not pass.
    #[must_use]
    pub fn broken(&self) -> &[FixtureError] {
        &self.broken
    }

    /// All fixtures, wanted or not.
    #[must_use]
    pub fn fixtures(&self) -> &[Fixture] {
        &self.fixtures
    }

    /// All cases as written, wanted or not.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        self.fixtures.iter().filter_map(|fixture| match fixture {
            Fixture::Case(template) => Some(template),
            Fixture::Verdict(_) => None,
        })
    }

    /// All verdicts.
    pub fn verdicts(&self) -> impl Iterator<Item = &Verdict> {
        self.fixtures.iter().filter_map(|fixture| match fixture {
            Fixture::Case(_) => None,
            Fixture::Verdict(verdict) => Some(verdict.as_ref()),
        })
    }

    /// The wanted cases, each with its wanted rules only.
    #[must_use]
    pub fn cases(&self) -> Vec<Case> {
        let mut cases: Vec<Case> = self.templates().flat_map(Template::expand).collect();
        for case in &mut cases {
            let wanted: Vec<Rule> = case
                .rules
                .iter()
                .copied()
                .filter(|rule| self.selection.wants(&case.id, case.target, *rule))
                .collect();
            case.rules = wanted;
        }
        cases.retain(|case| !case.rules.is_empty());
        cases
    }

    /// The names of the fixtures that keep a rule: cases that check it, and
    /// verdicts whose trace keeps it.
    #[must_use]
    pub fn keeping(&self, rule: Rule) -> Vec<&str> {
        let keeps = |fixture: &&Fixture| match fixture {
            Fixture::Case(template) => template.rules.contains(&rule),
            Fixture::Verdict(verdict) => verdict.rule == rule && verdict.keeps(),
        };
        self.fixtures.iter().filter(keeps).map(Fixture::id).collect()
    }

    /// The names of the fixtures that break a rule: verdicts whose trace breaks it.
    #[must_use]
    pub fn breaking(&self, rule: Rule) -> Vec<&str> {
        let breaks = |verdict: &&Verdict| verdict.rule == rule && !verdict.keeps();
        self.verdicts().filter(breaks).map(|verdict| verdict.id.as_str()).collect()
    }
}

impl Selection {
    /// Whether the check of this rule by this case is wanted.
    #[must_use]
    pub fn wants(&self, case: &str, target: Option<Target>, rule: Rule) -> bool {
        (self.filters.is_empty() || self.filters.iter().any(|piece| case.contains(piece)))
            && (self.target.is_none() || self.target == target)
            && self.wants_rule(rule)
    }

    /// Whether checks of this rule are wanted at all.
    #[must_use]
    pub fn wants_rule(&self, rule: Rule) -> bool {
        (self.rules.is_empty() || self.rules.contains(&rule))
            && self.chapter.is_none_or(|chapter| rule.chapter() == chapter)
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    for path in entries(folder)? {
        if path.is_file() && path.extension().is_some_and(|ext| ext == "json") {
            files.push(path);
        }
    }
    for folder in subfolders(folder)? {
        collect(&folder, files)?;
    }
    Ok(())
}

/// The folders in a folder. Links are not followed: they may lead back.
fn subfolders(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut paths = entries(folder)?;
    paths.retain(|path| path.is_dir() && !path.is_symlink());
    Ok(paths)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let cannot = |error| crate::input::cannot_read(folder, &error, "give a folder of fixtures");
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(cannot)? {
        paths.push(entry.map_err(cannot)?.path());
    }
    Ok(paths)
}

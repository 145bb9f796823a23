//! The judges of display windows.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{ids, same, seq};
use crate::finding::{Finding, Ruling};
use crate::json::{Json, to_json};
use crate::judge::evidence::Evidence;
use crate::op::{Op, Outcome};
use crate::page::{Hang, WINDOW_BYTES, WINDOW_ROWS, Window, WindowAt};
use crate::record::{Audience, Block, Event, Row};
use crate::rule::Rule;
use crate::text::Text;

/// A window that came back.
struct Told<'a> {
    step: usize,
    window: &'a Window,
    rows: &'a [Row],
    /// The most rows that may come.
    most: usize,
    /// The rows for people: their places and JSON.
    shown: Vec<(usize, Json)>,
    /// Which of these may come, by index.
    from: usize,
    to: usize,
}

fn told<'a>(evidence: &'a Evidence<'_>) -> Vec<Told<'a>> {
    let steps = evidence.trace.steps.iter().enumerate();
    let one = |(step, taken): (usize, &'a crate::judge::Step)| {
        let (Op::Window { limit, at }, Outcome::Window(window)) = (&taken.op, &taken.outcome)
        else {
            return None;
        };
        let held = evidence.holdings.before[step]?;
        let (rows, raw) = (evidence.holdings.rows(held), evidence.holdings.raw(held));
        let shown: Vec<(usize, Json)> = rows
            .iter()
            .zip(raw)
            .enumerate()
            .filter(|(_, (row, _))| is_shown(row))
            .map(|(place, (row, raw))| (place, without_authority(row, raw)))
            .collect();
        let index = |id: &Text| {
            let place = rows.iter().position(|row| row.id == *id)?;
            Some(shown.iter().filter(|(shown, _)| *shown < place).count())
        };
        let (from, to) = match at {
            WindowAt::Newest => (0, shown.len()),
            WindowAt::Before(row) => (0, index(row)?),
            WindowAt::From(row) => (index(row)?, shown.len()),
        };
        let most = usize::try_from(limit.unwrap_or(i64::MAX)).ok()?;
        let most = most.min(usize::try_from(WINDOW_ROWS).ok()?);
        Some(Told { step, window, rows, most, shown, from, to })
    };
    steps.filter_map(one).collect()
}

/// True for a row that a window shows.
fn is_shown(row: &Row) -> bool {
    row.replaces.is_none()
        && row.audience != Some(Audience::Model)
        && matches!(row.event, Event::Message(_) | Event::Result(_))
}

fn without_authority(row: &Row, raw: &Json) -> Json {
    if !row.holds_authority() {
        return raw.clone();
    }
    let mut row = row.clone();
    if let Event::Message(message) = &mut row.event {
        message.blocks.retain(|block| !matches!(block, Block::Authority(_)));
    }
    to_json(&row).unwrap_or_else(|_| raw.clone())
}

impl Told<'_> {
    /// True if the window is not the whole record: whoever hands over all rows
    /// decides nothing.
    fn is_part(&self) -> bool {
        self.window.rows.len() != self.rows.len()
    }

    /// The newest rows that fit, by index: where they begin.
    fn due_start(&self) -> usize {
        let mut start = self.to;
        while start > self.from {
            let bytes: usize = self.shown[start - 1..self.to].iter().map(size).sum();
            let count = self.to - (start - 1);
            let fits = bytes < WINDOW_BYTES || count == 1;
            if count > self.most || !fits {
                break;
            }
            start -= 1;
        }
        start
    }

    /// How many rows it must hold.
    fn due(&self) -> &[(usize, Json)] {
        &self.shown[self.due_start()..self.to]
    }
}

/// A row in an array, with its comma or bracket.
fn size((_, raw): &(usize, Json)) -> usize {
    raw.get().len() + 1
}

/// `page.limits`: not too many rows, not too many bytes, the newest always, and no
/// fewer than fit.
pub(in super::super) fn limits(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::PageLimits;
    let mut ruling = Ruling::default();
    for told in told(evidence) {
        let rows = &told.window.rows;
        let bytes: usize = rows.iter().map(|row| row.get().len() + 1).sum::<usize>() + 1;
        let newest = told.to.checked_sub(1).map(|at| told.shown[at].0 as u64);
        let due = told.due().len();
        let message = if rows.len() > told.most {
            format!("{} rows; the most are {}", rows.len(), told.most)
        } else if rows.len() > 1 && bytes > WINDOW_BYTES {
            format!("{bytes} bytes of rows; the most are {WINDOW_BYTES}")
        } else if due > 0 && rows.last().and_then(|row| seq(row)) != newest {
            String::from("the newest row is not there")
        } else if rows.len() < due {
            format!("{} rows; {due} fit", rows.len())
        } else {
            // Something must have been left out for a limit to show.
            ruling.witnesses += usize::from(due > 0 && told.due_start() > told.from);
            continue;
        };
        ruling.find(Finding::new(rule, told.step, message));
    }
    ruling
}

/// `page.windows`: the newest rows for people, those before a row, those from a
/// row on; and where they hang on screen.
pub(in super::super) fn windows(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::PageWindows;
    let mut ruling = Ruling::default();
    for told in told(evidence) {
        let due = told.due();
        let right = due.len() == told.window.rows.len()
            && due.iter().zip(&told.window.rows).all(|((_, due), row)| same(due, row));
        let mut hangs: Vec<Hang> = told.window.hangs.clone();
        hangs.sort();
        let message = if !right {
            format!(
                "{} rows, which are not the {} that stand there",
                told.window.rows.len(),
                due.len()
            )
        } else if hangs != due_hangs(told.rows, due) {
            String::from("a row whose parent is no row for people hangs elsewhere")
        } else {
            ruling.witnesses += usize::from(!due.is_empty() && told.is_part());
            continue;
        };
        ruling.find(Finding::new(rule, told.step, message));
    }
    ruling
}

/// Where rows hang whose parent is a replacement.
fn due_hangs(rows: &[Row], shown: &[(usize, Json)]) -> Vec<Hang> {
    let by_id: BTreeMap<&Text, &Row> = rows.iter().map(|row| (&row.id, row)).collect();
    let mut hangs: Vec<Hang> = shown
        .iter()
        .filter_map(|(place, _)| {
            let row = &rows[*place];
            let mut parent = by_id.get(row.parent.as_ref()?)?;
            parent.replaces.as_ref()?;
            while let Some(replaces) = &parent.replaces {
                parent = by_id.get(&replaces.last)?;
            }
            Some(Hang { row: row.id.clone(), from: parent.id.clone() })
        })
        .collect();
    hangs.sort();
    hangs
}

/// `page.no-summaries`: no summary, and no other replacement, rides a window.
pub(in super::super) fn no_summaries(evidence: &Evidence<'_>) -> Ruling {
    let mut ruling = Ruling::default();
    for told in told(evidence) {
        let there = ids(&told.window.rows);
        let replacing = told.rows.iter().filter(|row| row.replaces.is_some());
        let mut any = false;
        for row in replacing {
            any = true;
            if there.contains(&row.id) {
                let message = format!("`{}` stands for others, and rides a window", row.id);
                let finding = Finding::new(Rule::PageNoSummaries, told.step, message);
                ruling.find(finding.row(row.seq));
            }
        }
        ruling.witnesses += usize::from(any && !there.is_empty());
    }
    ruling
}

/// `page.display-order`: the rows are in the order of the record; what a window
/// showed, a later one of the same place shows too, whatever was compacted.
pub(in super::super) fn display_order(evidence: &Evidence<'_>) -> Ruling {
    let rule = Rule::PageDisplayOrder;
    let mut ruling = Ruling::default();
    for told in told(evidence) {
        let seqs: Vec<u64> = told.window.rows.iter().filter_map(|row| seq(row)).collect();
        let archived = told.rows.iter().filter_map(|row| row.replaces.as_ref());
        let archived: Vec<&Text> = archived.flat_map(|replaces| &replaces.rows).collect();
        if let Some(pair) = seqs.windows(2).find(|pair| pair[0] >= pair[1]) {
            let message = format!("row {} stands behind row {}", pair[1], pair[0]);
            ruling.find(Finding::new(rule, told.step, message).row(pair[1]));
            continue;
        }
        let due = told.due();
        let there = ids(&told.window.rows);
        let lost = due.iter().find(|(place, _)| {
            let id = &told.rows[*place].id;
            archived.contains(&id) && !there.contains(id)
        });
        if let Some((place, _)) = lost {
            let message = format!("row {place} was compacted and is no longer shown");
            ruling.find(Finding::new(rule, told.step, message).row(*place as u64));
            continue;
        }
        let shows_archived = due.iter().any(|(place, _)| archived.contains(&&told.rows[*place].id));
        let due_alone = there.len() == due.len();
        ruling.witnesses += usize::from(shows_archived && due_alone);
    }
    ruling
}

/// Of `page.says-more`: what a window says of older and newer rows.
pub(super) fn says_more(evidence: &Evidence<'_>, ruling: &mut Ruling) {
    for told in told(evidence) {
        let held = told.window.rows.len();
        let due = told.due();
        let right = due.iter().zip(&told.window.rows).all(|((_, due), row)| same(due, row));
        if held != due.len() || !right {
            // Another rows' neighbours: that is `page.windows`.
            continue;
        }
        let (older, newer) = (told.to - held > 0, told.to < told.shown.len());
        let window = told.window;
        let message = if window.older != older || window.newer != newer {
            format!(
                "older = {} and newer = {}; they are {older} and {newer}",
                window.older, window.newer
            )
        } else if window.upto != told.rows.len() as u64 {
            format!("the record has {} rows; the window says {}", told.rows.len(), window.upto)
        } else {
            ruling.witnesses += usize::from(held > 0 && told.is_part());
            continue;
        };
        ruling.find(Finding::new(Rule::PageSaysMore, told.step, message));
    }
}

//! The worked example: six rows, four of them compacted, and a phone that asks for
//! what it sent. A store that deletes what it compacts is caught by it.

use onrecord::Reference;
use onrecord::check::Status;
use onrecord::spec::json::Json;
use onrecord::spec::op::{Changed, Fault, Hello, Implementation, Op, Outcome};
use onrecord::spec::record::Row;
use onrecord::spec::rule::Rule;

/// A store that moves the rows which a summary takes away, as it was done once: they
/// are in no table that anybody reads.
#[derive(Default)]
struct Deletes {
    reference: Reference,
    header: Option<Json>,
}

impl Deletes {
    /// Deletes every row that has left the context; what stays is numbered anew, since
    /// a list of rows has no holes.
    fn delete_what_left(&mut self) -> Result<u64, Fault> {
        let Outcome::Context(context) = self.reference.perform(&Op::Context {})? else {
            return Ok(0);
        };
        let read = self.reference.perform(&Op::Read { from: None, limit: None })?;
        let Outcome::Rows { rows } = read else { return Ok(0) };
        let stays = |raw: &Json| {
            let id = Row::decode(raw).unwrap().id;
            context.left.iter().all(|left| left.id != id)
        };
        let kept: Vec<Json> = rows.into_iter().filter(stays).collect();
        let numbered = kept.iter().enumerate().map(|(seq, raw)| {
            let mut row = Row::decode(raw).unwrap();
            row.seq = seq as u64;
            // What it replaced is gone, and so is what it hung from.
            (row.replaces, row.parent) = (None, None);
            onrecord::spec::json::to_json(&row).unwrap()
        });
        let load =
            Op::Load { header: self.header.clone(), rows: numbered.collect(), beside: false };
        match self.reference.perform(&load)? {
            Outcome::Loaded { next, .. } => Ok(next),
            other => panic!("{other:?}"),
        }
    }
}

impl Implementation for Deletes {
    fn hello(&mut self) -> Result<Hello, Fault> {
        self.reference.hello()
    }

    fn perform(&mut self, op: &Op) -> Result<Outcome, Fault> {
        if let Op::Load { header, .. } = op {
            self.header.clone_from(header);
        }
        let mut outcome = self.reference.perform(op)?;
        if let Outcome::Appended { next } | Outcome::Changed(Changed { next, .. }) = &mut outcome {
            *next = self.delete_what_left()?;
        }
        Ok(outcome)
    }
}

#[test]
fn a_store_that_deletes_what_it_compacts_is_caught() {
    for name in ["worked-example-six-rows-four-compacted", "worked-example-by-the-op"] {
        let suite = onrecord::suite().filter(format!("lookup/{name}"));
        let whole = suite.run(&mut Reference::new());
        assert!(!whole.checks.is_empty(), "there is no case `{name}`");
        assert!(whole.checks.iter().all(|check| check.status == Status::Pass), "{name}");
        let report = suite.run(&mut Deletes::default());
        for rule in [Rule::RecordLookupShadowed, Rule::RecordKeyedAppend] {
            let check = report.checks.iter().find(|check| check.rule == rule).unwrap();
            assert_eq!(check.status, Status::Fail, "{name}: {rule}");
        }
    }
}

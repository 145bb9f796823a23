//! `onrecord smoke`: is the adapter itself right?

use std::time::Duration;

use clap::Args;

use super::{BROKE, OK, Stop, print};
use crate::adapter::Limits;
use crate::smoke::{Verdict, smoke};
use crate::words::{count, shell, visible, visible_lines};

/// Check an adapter itself, before what it stands for is judged.
///
/// Each check is named, and says what to do if it fails. When all pass, `run` will
/// judge what is under test and not the adapter.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Smoke {
    /// Only this check.
    #[arg(long, value_name = "NAME")]
    check: Option<String>,
    /// How long the adapter may take for one answer.
    #[arg(long, value_name = "SECS", value_parser = super::run::seconds)]
    timeout: Option<Duration>,
    /// The adapter: a program and its arguments.
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<String>,
}

const EXAMPLES: &str = "\
Examples:
  onrecord smoke -- python3 my_adapter.py
  onrecord smoke --check hello -- node my_adapter.mjs

Exit codes:
  0  the adapter is right
  2  wrong usage, or there is no such check
  3  the adapter is broken";

impl Smoke {
    pub(super) fn perform(self) -> Result<u8, Stop> {
        let mut limits = Limits::default();
        if let Some(timeout) = self.timeout {
            limits.timeout = timeout;
        }
        let verdicts = smoke(&self.command, limits, self.check.as_deref());
        if verdicts.is_empty() {
            let names = crate::smoke::NAMES.join("`, `");
            return Err(Stop::usage(format!("there is no such check; there are `{names}`")));
        }
        let mut text = String::new();
        for (name, verdict) in &verdicts {
            text.push_str(&self.told(name, verdict));
        }
        let failed = verdicts.iter().filter(|(_, verdict)| verdict.is_failure()).count();
        if failed == 0 {
            let command = visible(&shell(&self.command));
            text.push_str(&format!(
                "The adapter is right: {} passed. Next: onrecord run -- {command}\n",
                count(verdicts.len(), "check")
            ));
        } else {
            text.push_str(&format!(
                "The adapter is broken: {failed} of {} failed. `run` would judge the adapter and \
                 not what it stands for.\n",
                count(verdicts.len(), "check")
            ));
        }
        print(&text)?;
        Ok(if failed == 0 { OK } else { BROKE })
    }

    fn told(&self, name: &str, verdict: &Verdict) -> String {
        match verdict {
            Verdict::Right => format!("ok      {name}\n"),
            Verdict::NotAsked(why) => format!("-       {name}: {}\n", visible(why)),
            Verdict::Wrong { what, to_do } => {
                let command = visible(&shell(&self.command));
                format!(
                    "broken  {name}\n        what   {}\n        to do  {to_do}\n        \
                     repeat onrecord smoke --check {name} -- {command}\n",
                    visible_lines(what).replace('\n', "\n               ")
                )
            }
        }
    }
}

//! Mutants of the chapter `migration`.

use onrecord_spec::rule::Rule;
use serde_json::json;

use super::Mutant;
use super::edit::question;

pub(super) const MUTANTS: &[Mutant] = &[Mutant::new(
    "leaves-the-side-table",
    Rule::MigrationSideTable,
    "Rows that an older store had put aside do not come back.",
    || {
        question(&["migrate"], |migrate| {
            if migrate["older"].is_object() {
                migrate["older"]["side"] = json!([]);
            }
        })
    },
)];

//! The kill matrix as a page of Markdown.

use std::fmt::Write;

use crate::mutant::matrix::Matrix;

/// How many cases of a mutant are named; the rest is counted.
const NAMED: usize = 3;

/// The matrix as Markdown: a table with a line a mutant.
#[must_use]
pub fn markdown(matrix: &Matrix) -> String {
    let caught = matrix.mutants.iter().filter(|kills| kills.is_caught()).count();
    let mut text = format!(
        "# What the suite catches\n\n\
         {}, each the reference with one fault; {caught} are caught by the judge of the rule that \
         they break, in a fixture that names it. Made by `onrecord mutants --format markdown`; a \
         test fails when it is stale.\n\n",
        crate::words::count(matrix.mutants.len(), "mutant")
    );
    text.push_str(
        "| rule | mutant | what it does wrong | cases that name the rule | caught in | the first of them |\n\
         |---|---|---|--:|--:|---|\n",
    );
    for kills in &matrix.mutants {
        let first: Vec<String> =
            kills.caught.iter().take(NAMED).map(|case| format!("`{case}`")).collect();
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "| `{}` | {}{} | {} | {} | {} | {} |",
            kills.rule,
            kills.mutant,
            if kills.famous { " *" } else { "" },
            kills.fault,
            kills.tried,
            kills.caught.len(),
            if first.is_empty() { "none".to_string() } else { first.join(", ") },
        );
    }
    for rule in &matrix.without_mutant {
        let _ = writeln!(text, "| `{rule}` | none | | | | |");
    }
    text.push_str("\n`*`: the field has really done so, to mend something else.\n");
    text
}

//! Tests of the suite itself: the runner, the command line, the fixtures, and that
//! everything hangs together.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    reason = "a test that cannot go on must fail"
)]

mod all_ops;
mod api;
mod bad_input;
mod baselines;
mod command_line;
mod fakes;
mod fixtures;
mod fuzzing;
mod harness_logs;
mod hostile;
mod live;
mod models;
mod mutants;
mod reports;
mod rules;
mod schemas;
mod small_scope;
mod smoke;
mod sqlite;
mod three_models;
mod tidy;
mod trivial;
mod worked_example;
mod world;

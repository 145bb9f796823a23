//! The conformance suite of onrecord: run its rules on any program that keeps a
//! conversation.
//!
//! A program in another language is put under test through an [`adapter`]; the
//! command `onrecord` does that. A Rust author implements
//! [`Implementation`] and runs the suite in their own `cargo test`:
//!
//! ```
//! use onrecord::spec::op::{Fault, Hello, Implementation, Op, Outcome};
//!
//! /// What you want to test. Here it is the reference, with another name.
//! #[derive(Default)]
//! struct Mine(onrecord::Reference);
//!
//! impl Implementation for Mine {
//!     fn hello(&mut self) -> Result<Hello, Fault> {
//!         Ok(Hello { name: "mine".to_string(), ..self.0.hello()? })
//!     }
//!
//!     fn perform(&mut self, op: &Op) -> Result<Outcome, Fault> {
//!         self.0.perform(op)
//!     }
//! }
//!
//! onrecord::suite().filter("record/").run(&mut Mine::default()).assert_ok();
//! ```
//!
//! [`Implementation`]: onrecord_spec::op::Implementation

pub mod adapter;
pub mod baseline;
pub mod check;
pub mod cli;
pub mod diff;
pub mod expect;
pub mod fixture;
pub mod fuzz;
pub mod generate;
pub mod input;
pub mod mutant;
pub mod report;
pub mod run;
pub mod schema;
mod situation;
pub mod smoke;
pub mod suite;
pub mod trivial;
mod walk;
pub mod words;

pub use onrecord_reference::Reference;
pub use onrecord_spec as spec;

/// The whole suite, with the fixtures that are part of this library.
#[must_use]
pub fn suite() -> suite::Suite {
    suite::Suite::embedded()
}

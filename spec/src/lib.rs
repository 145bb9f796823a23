//! What must hold when an agent keeps a conversation.
//!
//! This crate holds the words of the project as types (a [`record`] of rows,
//! the [`wire`] that a model is sent, the [`target`]s that receive it), the one
//! alphabet of steps ([`op`]), the table of [`rule`]s with their text
//! ([`chapter`]), and a [`judge`] for each rule.
//!
//! It is pure: no I/O, no clock, no randomness, no hash order. It knows
//! nothing of any implementation, the reference included.
#![no_std]

extern crate alloc;

pub mod archive;
pub mod chapter;
pub mod finding;
pub mod found;
pub mod item;
pub mod json;
pub mod judge;
pub mod op;
pub mod page;
pub mod record;
pub mod rule;
pub mod sync;
pub mod target;
pub mod text;
pub mod wire;

//! Equations that hold for any input.
//!
//! Each is a plain function of bytes that panics where it does not hold. A fuzz target
//! ([`EQUATIONS`], `fuzz_targets/`) calls one with what the engine makes; the tests
//! call all of them with the regressions that were found, and with what `proptest`
//! makes. They are another idea than the judges: they compare the implementation with
//! itself, asked in two ways that must come to the same.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    reason = "an equation that does not hold ends in a panic: that is what an engine looks for"
)]

pub mod ask;
pub mod bytes;
pub mod change;
pub mod replay;
pub mod seeds;
pub mod store;
pub mod view;

/// An equation with its name.
#[derive(Debug, Clone, Copy)]
pub struct Equation {
    /// The name: of the fuzz target, and of the folders of its seeds and regressions.
    pub name: &'static str,
    /// What holds, as an equation.
    pub holds: &'static str,
    /// What its bytes are.
    pub takes: Takes,
    /// Panics where it does not hold.
    pub check: fn(&[u8]),
}

/// What the bytes of an equation are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// A log file.
    Log,
    /// One row's JSON.
    Row,
    /// The payload of a request.
    Payload,
    /// A line of an adapter.
    Answer,
    /// A fixture file.
    Fixture,
    /// The choices that a conversation is made of.
    Choices,
}

/// All equations.
pub const EQUATIONS: &[Equation] = &[
    Equation {
        name: "log",
        holds: "log(open(bytes)) = bytes; rows(open(log(r))) = rows(r); append behind any damage adds its rows alone",
        takes: Takes::Log,
        check: bytes::log,
    },
    Equation {
        name: "row",
        holds: "decode(encode(decode(bytes))) = decode(bytes)",
        takes: Takes::Row,
        check: bytes::row,
    },
    Equation {
        name: "lift_openai_chat",
        holds: "lift(payload) = lift(payload without white space); check finds nothing where lift finds nothing foreign",
        takes: Takes::Payload,
        check: bytes::lift_openai_chat,
    },
    Equation {
        name: "lift_anthropic",
        holds: "as lift_openai_chat, of the other target",
        takes: Takes::Payload,
        check: bytes::lift_anthropic,
    },
    Equation {
        name: "answer",
        holds: "read(write(read(line))) = read(line), of an adapter's answer",
        takes: Takes::Answer,
        check: bytes::answer,
    },
    Equation {
        name: "fixture",
        holds: "decode(bytes) = decode(bytes), and all its cases expand",
        takes: Takes::Fixture,
        check: bytes::fixture,
    },
    Equation {
        name: "refused_rows",
        holds: "a refused load or append leaves every answer as it was",
        takes: Takes::Choices,
        check: change::refused_rows,
    },
    Equation {
        name: "rules",
        holds: "judge(ask anything) = nothing",
        takes: Takes::Choices,
        check: change::rules,
    },
    Equation {
        name: "split_writes",
        holds: "load(a ++ b) = load(a) then append(b), row by row too",
        takes: Takes::Choices,
        check: change::split_writes,
    },
    Equation {
        name: "compact_and_append",
        holds: "compact then append = append then compact, where both are allowed",
        takes: Takes::Choices,
        check: change::compact_and_append,
    },
    Equation {
        name: "restart",
        holds: "every answer after a restart = the answer before it",
        takes: Takes::Choices,
        check: change::restart,
    },
    Equation {
        name: "replay",
        holds: "replay is total, valid for its target, the same when asked again; each call has its result behind it; each text crosses once",
        takes: Takes::Choices,
        check: replay::replay,
    },
    Equation {
        name: "prefix",
        holds: "replay(r) without its end is a beginning of replay(r ++ rows)",
        takes: Takes::Choices,
        check: replay::prefix,
    },
    Equation {
        name: "replay_of_replay",
        holds: "replay(rows(replay(r))) = replay(r)",
        takes: Takes::Choices,
        check: replay::replay_of_replay,
    },
    Equation {
        name: "renamed_ids",
        holds: "replay(rename(r)) = rename(replay(r))",
        takes: Takes::Choices,
        check: replay::renamed_ids,
    },
    Equation {
        name: "unrelated_rows",
        holds: "replay(r with rows that are for nobody) = replay(r), but for ids made of a row's place",
        takes: Takes::Choices,
        check: replay::unrelated_rows,
    },
    Equation {
        name: "vision",
        holds: "replay without vision = replay with it, but for images and what stands for them",
        takes: Takes::Choices,
        check: replay::vision,
    },
    Equation {
        name: "follow",
        holds: "transcript(rows before j) and the events of follow(j) make transcript(all), for each j",
        takes: Takes::Choices,
        check: view::follow,
    },
    Equation {
        name: "pages",
        holds: "the pages of any limit, joined, are the record",
        takes: Takes::Choices,
        check: view::pages,
    },
    Equation {
        name: "sqlite",
        holds: "the store on SQLite answers as the reference does",
        takes: Takes::Choices,
        check: store::sqlite,
    },
];

//! The JSON Schemas of a log's lines and of fixtures, made from the types that
//! read them: they cannot say anything else than what is read.

use onrecord_spec::op::{
    Anomaly, ArchiveCrash, Clear, Compact, Constraint, Damage, Facts, Lookup, Mode, Op,
    RefusalCode, Upgrade,
};
use onrecord_spec::page::WindowAt;
use onrecord_spec::record::{Header, Row};
use onrecord_spec::rule::Rule;
use onrecord_spec::target::{Profile, Target};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::fixture::{Expect, OutcomeKind};

/// One line of a log: its header, or a row.
#[must_use]
pub fn record() -> Schema {
    let mut generator = SchemaGenerator::default();
    let header = generator.subschema_for::<Header>();
    let row = generator.subschema_for::<Row>();
    finish(
        generator,
        json_schema!({
            "title": "onrecord log line",
            "description": "A log is JSON Lines: a header, then one row a line. A reader also keeps the rows of unknown event types that say `ignorable`.",
            "anyOf": [header, row],
        }),
    )
}

/// One file under `fixtures/`.
#[must_use]
pub fn fixture() -> Schema {
    let mut generator = SchemaGenerator::default();
    let case = case(&mut generator);
    let verdict = verdict(&mut generator);
    finish(
        generator,
        json_schema!({
            "title": "onrecord fixture",
            "description": "A case: steps, and what must come back. Or a verdict: a trace, and the findings that the judges must return.",
            "oneOf": [case, verdict],
        }),
    )
}

/// Adds what is referred to.
fn finish(mut generator: SchemaGenerator, mut schema: Schema) -> Schema {
    schema.insert("$schema".to_string(), "https://json-schema.org/draft/2020-12/schema".into());
    let definitions = generator.take_definitions(true);
    schema.insert("$defs".to_string(), definitions.into());
    schema
}

fn rules() -> Schema {
    let ids: Vec<&str> = Rule::ALL.iter().map(|rule| rule.id()).collect();
    json_schema!({ "enum": ids })
}

fn case(generator: &mut SchemaGenerator) -> Schema {
    let mut step = op(generator, true);
    let expect = generator.subschema_for::<Expect>();
    if let Some(properties) = step.get_mut("properties").and_then(|found| found.as_object_mut()) {
        properties.insert("expect".to_string(), expect.to_value());
        let walk = json_schema!({ "type": "boolean", "description": "Of a page: goes on to the next older page until there is none." });
        properties.insert("walk".to_string(), walk.to_value());
        let before = json_schema!({ "type": "integer", "minimum": 0, "description": "Of a page: it stands before the page of this step." });
        properties.insert("before_step".to_string(), before.to_value());
    }
    step.insert("maxProperties".to_string(), 4.into());
    let target = generator.subschema_for::<Target>();
    json_schema!({
        "type": "object",
        "properties": {
            "kind": { "const": "case" },
            "title": { "type": "string", "description": "The situation, in one sentence." },
            "hunts": { "type": "string", "description": "The class of bug that it hunts and the harm, in one sentence." },
            "rules": { "type": "array", "items": rules(), "minItems": 1, "uniqueItems": true, "description": "Each is a declared check, for each target." },
            "bugs": { "type": "array", "items": { "type": "string" } },
            "targets": { "type": "array", "items": target, "description": "The targets for which a replay without a target is run; absent means all." },
            "steps": { "type": "array", "items": step, "minItems": 1 },
            "allow_trivial": { "type": "object", "additionalProperties": { "type": "string" }, "description": "Why a trivial implementation may pass: its name, and the reason." },
        },
        "required": ["kind", "title", "hunts", "rules", "steps"],
        "additionalProperties": false,
    })
}

fn verdict(generator: &mut SchemaGenerator) -> Schema {
    let op = op(generator, false);
    let outcome = outcome(generator);
    let target = generator.subschema_for::<Target>();
    let words = json_schema!({ "type": "array", "items": { "type": "string" } });
    json_schema!({
        "type": "object",
        "properties": {
            "kind": { "const": "verdict" },
            "title": { "type": "string" },
            "rule": rules(),
            "hello": {
                "type": "object",
                "properties": {
                    "ops": words,
                    "targets": { "type": "array", "items": target },
                    "reports": { "type": "array", "items": { "enum": ["anomalies", "constraints"] } },
                    "wordings": { "type": "object", "additionalProperties": words },
                },
                "additionalProperties": false,
            },
            "trace": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": { "op": op, "outcome": outcome },
                    "required": ["op"],
                    "additionalProperties": false,
                },
            },
            "findings": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "rule": rules(),
                        "step": { "type": "integer", "minimum": 0 },
                        "seq": { "type": "integer", "minimum": 0 },
                    },
                    "required": ["rule", "step"],
                    "additionalProperties": false,
                },
            },
        },
        "required": ["kind", "title", "rule", "trace", "findings"],
        "additionalProperties": false,
    })
}

/// One op. A row may be anything: malformed ones are among what fixtures are
/// about. With `open`, a replay may leave out its target.
fn op(generator: &mut SchemaGenerator, open: bool) -> Schema {
    let rows =
        json_schema!({ "type": "array", "description": "Rows; `seq` and `id` may be left out." });
    let number = json_schema!({ "type": "integer", "minimum": 0 });
    let nothing = json_schema!({ "type": "object", "additionalProperties": false });
    let (id, whole) = (json_schema!({ "type": "string" }), json_schema!({ "type": "integer" }));
    let at = generator.subschema_for::<WindowAt>();
    let replay = replay(generator, open);
    let facts = generator.subschema_for::<Facts>();
    let mut properties = serde_json::Map::new();
    for name in Op::NAMES {
        let schema = match name {
            "load" => object(
                &[("rows", &rows)],
                &[
                    ("header", &json_schema!(true)),
                    ("beside", &json_schema!({ "type": "boolean" })),
                ],
            ),
            "enter" => object(&[("conversation", &id)], &[]),
            "open" => object(&[("log", &bytes())], &[]),
            "append" => object(&[("rows", &rows)], &[("expect", &number)]),
            "read" => object(&[], &[("from", &number), ("limit", &number)]),
            "replay" => replay.clone(),
            "request" => object(&[("replay", &replay), ("authority", &facts)], &[]),
            "input" => object(&[("first", &id), ("last", &id), ("replay", &replay)], &[]),
            "compact" => generator.subschema_for::<Compact>(),
            "clear" => generator.subschema_for::<Clear>(),
            "upgrade" => generator.subschema_for::<Upgrade>(),
            "follow" => object(&[], &[("join", &number)]),
            "page" => object(&[("limit", &whole)], &[("before", &id)]),
            "window" => object(&[], &[("limit", &whole), ("at", &at)]),
            "lookup" => generator.subschema_for::<Lookup>(),
            "status" => object(&[("request", &id)], &[]),
            "delete" | "parts" => object(&[], &[("conversation", &id)]),
            "sync" => object(&[], &[("limit", &whole)]),
            "recall" => object(&[], &[("query", &id)]),
            "archive" => object(&[], &[("crash", &generator.subschema_for::<ArchiveCrash>())]),
            "migrate" => migrate(),
            _ => nothing.clone(),
        };
        properties.insert(name.to_string(), schema.to_value());
    }
    json_schema!({
        "type": "object",
        "properties": properties,
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": false,
    })
}

/// A start of a store. Here the rows say their `seq` and `id`: they have holes.
fn migrate() -> Schema {
    let rows = json_schema!({ "type": "array" });
    let older = object(&[("rows", &rows), ("side", &rows)], &[("header", &json_schema!(true))]);
    object(&[], &[("older", &older), ("crash", &json_schema!({ "type": "boolean" }))])
}

fn replay(generator: &mut SchemaGenerator, open: bool) -> Schema {
    let target = generator.subschema_for::<Target>();
    let profile = generator.subschema_for::<Profile>();
    let mode = generator.subschema_for::<Mode>();
    if open {
        object(&[], &[("target", &target), ("profile", &profile), ("mode", &mode)])
    } else {
        object(&[("target", &target)], &[("profile", &profile), ("mode", &mode)])
    }
}

fn outcome(generator: &mut SchemaGenerator) -> Schema {
    let next = json_schema!({ "type": "integer", "minimum": 0 });
    let damage = list::<Damage>(generator);
    let loaded = object(&[("next", &next)], &[("damage", &damage)]);
    let appended = object(&[("next", &next)], &[]);
    let rows = object(&[("rows", &json_schema!({ "type": "array" }))], &[]);
    let log = object(&[("bytes", &bytes())], &[]);
    let anomalies = list::<Anomaly>(generator);
    let constraints = list::<Constraint>(generator);
    let payload = json_schema!(true);
    let replayed = object(
        &[("payload", &payload)],
        &[("anomalies", &anomalies), ("constraints", &constraints)],
    );
    let raw = json_schema!({ "type": "array" });
    let ids = json_schema!({ "type": "array", "items": { "type": "string" } });
    let (yes, id) = (json_schema!({ "type": "boolean" }), json_schema!({ "type": "string" }));
    let context =
        object(&[("rows", &raw)], &[("left", &raw), ("summaries", &raw), ("tokens", &next)]);
    let page = object(&[("rows", &raw), ("older", &yes), ("upto", &next)], &[("before", &id)]);
    let window = object(
        &[("rows", &raw), ("older", &yes), ("newer", &yes), ("upto", &next)],
        &[("hangs", &raw)],
    );
    let stamp = object(&[("epoch", &id), ("version", &next)], &[]);
    let span = object(&[("from", &next), ("upto", &next)], &[]);
    let spans = json_schema!({ "type": "array", "items": span.clone() });
    let manifest = object(&[("sealed", &next)], &[("held", &raw)]);
    let code = generator.subschema_for::<RefusalCode>();
    let words = json_schema!({ "type": "string" });
    let refused = object(&[("code", &code), ("detail", &words)], &[("seq", &next)]);
    let unsupported = object(&[("reason", &words)], &[]);
    let kinds = [
        (OutcomeKind::Loaded, loaded),
        (OutcomeKind::Appended, appended),
        (OutcomeKind::Rows, rows),
        (OutcomeKind::Log, log),
        (OutcomeKind::Replayed, replayed.clone()),
        (OutcomeKind::Changed, object(&[("next", &next)], &[("rows", &raw), ("taken", &ids)])),
        (OutcomeKind::Context, context),
        (OutcomeKind::Input, object(&[("rows", &raw), ("replayed", &replayed)], &[])),
        (OutcomeKind::Transcript, object(&[("items", &raw)], &[])),
        (OutcomeKind::Followed, object(&[("events", &raw)], &[])),
        (OutcomeKind::Page, page),
        (OutcomeKind::Window, window),
        (OutcomeKind::Known, object(&[("next", &next), ("rows", &raw)], &[])),
        (OutcomeKind::Found, object(&[], &[("found", &json_schema!({ "type": "object" }))])),
        (OutcomeKind::Status, object(&[], &[("turn", &json_schema!({ "type": "object" }))])),
        (OutcomeKind::Deleted, object(&[("rows", &next)], &[])),
        (OutcomeKind::Stamp, stamp.clone()),
        (OutcomeKind::Synced, object(&[("rows", &raw)], &[("reads", &spans), ("cached", &stamp)])),
        (OutcomeKind::Recalled, object(&[("hits", &raw)], &[])),
        (OutcomeKind::Archived, object(&[("bytes", &next), ("read", &span)], &[("part", &id)])),
        (OutcomeKind::Parts, object(&[("parts", &raw), ("manifest", &manifest)], &[])),
        (
            OutcomeKind::Migrated,
            object(&[("next", &next), ("returned", &next), ("side", &next)], &[]),
        ),
        (OutcomeKind::Crashed, object(&[], &[])),
        (OutcomeKind::Refused, refused),
        (OutcomeKind::Unsupported, unsupported),
    ];
    let alternatives: Vec<Schema> = kinds
        .iter()
        .map(|(kind, schema)| object(&[(&crate::expect::name(kind), schema)], &[]))
        .collect();
    json_schema!({ "oneOf": alternatives })
}

/// Bytes, as the protocol writes them.
fn bytes() -> Schema {
    let base64 = object(&[("base64", &json_schema!({ "type": "string" }))], &[]);
    json_schema!({ "anyOf": [{ "type": "string" }, base64] })
}

fn list<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let items = generator.subschema_for::<T>();
    json_schema!({ "type": "array", "items": items })
}

/// An object of these fields and no others.
fn object(needed: &[(&str, &Schema)], optional: &[(&str, &Schema)]) -> Schema {
    let mut properties = serde_json::Map::new();
    for (name, schema) in needed.iter().chain(optional) {
        properties.insert((*name).to_string(), (*schema).clone().to_value());
    }
    let required: Vec<&str> = needed.iter().map(|(name, _)| *name).collect();
    json_schema!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

//! The JSON Schemas in the repository are those that the types give.

use crate::world::{onrecord, root, stdout};

#[test]
fn the_schemas_are_not_stale() {
    for (what, file) in [("record", "spec/schema/record.json"), ("fixture", "fixtures/schema.json")]
    {
        let output = onrecord(&["schema", what]);
        assert_eq!(output.status.code(), Some(0));
        let stored = std::fs::read_to_string(root().join(file)).unwrap_or_default();
        assert!(
            stored == stdout(&output),
            "{file} is stale: write it anew with `cargo run -- schema {what} > {file}`"
        );
    }
}

/// What the schema refers to is there.
#[test]
fn the_schemas_refer_to_what_they_define() {
    for schema in [onrecord::schema::record(), onrecord::schema::fixture()] {
        let text = serde_json::to_string(&schema).unwrap();
        let definitions = schema.get("$defs").and_then(|found| found.as_object()).unwrap();
        let referred = text.split("\"#/$defs/").skip(1).filter_map(|rest| rest.split('"').next());
        for name in referred {
            assert!(definitions.contains_key(name), "{name} is not defined");
        }
        assert!(!definitions.is_empty());
    }
}

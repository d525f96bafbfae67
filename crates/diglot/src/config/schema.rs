//! The JSON schema of `diglot.toml`, derived from the types that read the file. It is kept in `schema.json`, and derived in
//! tests alone, so that no build of a project compiles what derives it.

use std::{env, fs};

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

use super::{Config, FIELD_KINDS, JSON_TYPES, Libraries, MAJORS};
use crate::types::Form;

// What may be written in two ways. A comment of the documentation would stand in the schema.
#[derive(JsonSchema)]
#[schemars(untagged, inline)]
#[expect(dead_code, reason = "its schema alone is of use")]
pub(super) enum Or<A, B> {
    One(A),
    Other(B),
}

/// Which words the values of a table may be.
fn values_among<'w>(schema: &mut Schema, words: impl IntoIterator<Item = &'w str>) {
    let words: Vec<_> = words.into_iter().collect();
    schema.insert("additionalProperties".to_owned(), json!({ "type": "string", "enum": words }));
}

pub(super) fn json_types(schema: &mut Schema) {
    let always = JSON_TYPES.map(|word| format!("{word} always"));
    values_among(schema, JSON_TYPES.into_iter().chain(always.iter().map(String::as_str)));
}

pub(super) fn stored_forms(schema: &mut Schema) {
    values_among(schema, Form::WORDS.map(|(_, word)| word));
}

pub(super) fn field_kinds(schema: &mut Schema) {
    values_among(schema, FIELD_KINDS);
}

pub(super) fn majors(schema: &mut Schema) {
    schema.insert("items".to_owned(), json!({ "enum": MAJORS }));
    schema.insert("minItems".to_owned(), json!(1));
}

pub(super) fn libraries(schema: &mut Schema) {
    let words = |key| json!({ "enum": Libraries::words(key) });
    let each = Libraries::KEYS.map(|key| (key.to_owned(), words(key)));
    schema.insert("properties".to_owned(), Value::Object(each.into_iter().collect()));
}

/// Takes null out, which TOML does not have: a key that may be left out is no key of two types.
fn without_null(schema: &mut Schema) {
    if let Some(kinds) = schema.get_mut("type")
        && let Value::Array(types) = kinds
    {
        types.retain(|name| name != "null");
        if let [one] = types.as_slice() {
            *kinds = one.clone();
        }
    }
    if let Some(Value::Array(ways)) = schema.get_mut("anyOf") {
        ways.retain(|way| way.get("type") != Some(&json!("null")));
    }
    if schema.get("default") == Some(&Value::Null) {
        schema.remove("default");
    }
}

/// In the draft of JSON Schema that editors of TOML read.
fn derived() -> Value {
    let mut schema = SchemaSettings::draft07().into_generator().into_root_schema_for::<Config>();
    RecursiveTransform(without_null).transform(&mut schema);
    schema.insert("title".to_owned(), json!(super::FILE));
    schema.to_value()
}

#[test]
fn the_schema_is_what_the_types_say() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/config/schema.json");
    let derived = derived();
    if env::var("INSTA_UPDATE").is_ok_and(|mode| mode == "always") {
        fs::write(file, format!("{derived:#}\n")).unwrap();
    }
    let kept: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let way_out = "INSTA_UPDATE=always cargo test -p diglot --lib config::schema";
    assert!(kept == derived, "schema.json is not what the types of the configuration say; `{way_out}` writes it");
}

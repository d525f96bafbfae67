//! Which texts the methods of the trait take, read from the sources of ff-core.

use std::collections::{BTreeMap, BTreeSet};

use crate::every_method::core_source;

/// Types that hold a caller's text. Ids that are uuids or have a form of their own are none.
const TEXTS: [&str; 10] = [
    "String",
    "str",
    "LaneId",
    "Namespace",
    "WorkerId",
    "WorkerInstanceId",
    "CancelSource",
    "WaitpointToken",
    "IdempotencyKey",
    "StreamCursor",
];

/// Types whose texts the table names as one field.
const WHOLE: [&str; 4] = ["ResumeCondition", "WaitpointBinding", "ResumeGrant", "ExecutionPolicy"];

/// `method[parameter]` or `method[parameter.field]` of every text.
pub(crate) fn declared() -> BTreeSet<String> {
    let structs = structs(&[core_source("contracts/mod.rs"), core_source("backend.rs")].concat());
    let source = core_source("engine_backend.rs");
    let (_, rest) = source.split_once("\npub trait EngineBackend").expect("the trait");
    let (body, _) = rest.split_once("\n}\n").expect("its end");
    let mut declared = BTreeSet::new();
    for head in body.split("    async fn ").skip(1) {
        let (method, rest) = head.split_once('(').expect("parameters");
        let (parameters, _) = rest.split_once(") ->").expect("an answer");
        for (name, kind) in parameters.split(", ").flat_map(|line| line.split(",\n")).filter_map(field) {
            let words = words(&kind);
            // Cursors of outboxes are bytes, which have a type of the same name.
            if kind.contains("stream_subscribe") {
                continue;
            }
            if is_text(&words) {
                declared.insert(format!("{method}[{name}]"));
            }
            for fields in words.iter().filter_map(|word| structs.get(word)) {
                declared.extend(fields.iter().map(|field| format!("{method}[{name}.{field}]")));
            }
        }
    }
    declared
}

/// The text fields of every struct that is public.
fn structs(source: &str) -> BTreeMap<String, Vec<String>> {
    let mut structs = BTreeMap::new();
    for rest in source.split("\npub struct ").skip(1) {
        let Some((name, rest)) = rest.split_once(" {\n") else { continue };
        let (body, _) = rest.split_once("\n}").expect("its end");
        let fields = body.lines().filter_map(|line| field(line.strip_prefix("    pub ")?));
        let texts = fields.filter(|(_, kind)| is_text(&words(kind))).map(|(name, _)| name);
        structs.insert(name.to_owned(), texts.collect());
    }
    structs
}

/// A name and its type.
fn field(line: &str) -> Option<(String, String)> {
    let (name, kind) = line.trim().split_once(": ")?;
    let name = name.trim_start_matches('_');
    name.chars().all(|c| c.is_alphanumeric() || c == '_').then(|| (name.to_owned(), kind.to_owned()))
}

/// The names in a type.
fn words(kind: &str) -> Vec<String> {
    kind.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned).collect()
}

fn is_text(words: &[String]) -> bool {
    words.iter().any(|word| TEXTS.contains(&word.as_str()) || WHOLE.contains(&word.as_str()))
}

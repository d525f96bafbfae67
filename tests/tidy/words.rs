//! State words stand in `src/model/` alone: elsewhere they are variants of the enums that diglot generates.
//!
//! Which words there are is read from `diglot.toml`, as the compiler reads it.

use std::collections::BTreeSet;
use std::path::Path;

use diglot::config::Config;
use diglot::dialect::Dialect;
use diglot::schema::Schema;
use diglot::source::{SourceFile, Sources};

use super::{Complaint, File, Rust};

/// Where the words are listed.
const SETTINGS: &str = "diglot.toml";

/// Whether a file has to name states by their enums, its tests as well. What opens and keeps connections knows no states.
fn names_states(path: &str) -> bool {
    let exempt = ["src/model/", "src/db/", "src/open/"];
    path.starts_with("src/") && path.ends_with(".rs") && !exempt.iter().any(|folder| path.starts_with(folder))
}

/// The words of all columns.
fn words(settings: &str) -> BTreeSet<String> {
    let config = Config::parse(settings, SETTINGS).expect("sound settings");
    config.words.into_values().flat_map(|listed| listed.words).collect()
}

/// The state word that a string is, or that it names among others. A word of ordinary English is one only by itself.
fn named<'w>(words: &'w BTreeSet<String>, string: &str) -> Option<&'w String> {
    let parts = || string.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.get(string).or_else(|| parts().filter(|part| part.contains('_')).find_map(|part| words.get(part)))
}

/// Quoted words in a file.
fn quoted(words: &BTreeSet<String>, text: &str) -> Vec<Complaint> {
    let strings = Rust::new(text).strings.into_iter();
    let found = strings.filter_map(|(line, string)| Some((line, named(words, &string)?.clone())));
    found.map(|(line, word)| (line, format!("\"{word}\" is a state word of {SETTINGS}; name its variant"))).collect()
}

/// Complaints about all files, by the words of these settings.
fn complaints_by(settings: &str, files: &[File]) -> Vec<String> {
    let words = words(settings);
    let mut report = Vec::new();
    for file in files.iter().filter(|file| names_states(&file.path)) {
        for (line, what) in quoted(&words, &file.text) {
            report.push(format!("{}:{line}: [state-word] {what}", file.path));
        }
    }
    report
}

/// Complaints about all files of `src/`.
pub(crate) fn complaints(files: &[File]) -> Vec<String> {
    let settings = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(SETTINGS)).expect(SETTINGS);
    complaints_by(&settings, files)
}

#[test]
fn a_planted_word_is_found_and_other_words_are_not() {
    let settings =
        "[words]\n\"*.phase\" = { enum = \"Phase\", words = [\"active\", \"lease_lost\"] }\n\"t.s\" = [\"ended\"]\n";
    let complaints =
        |path: &str, text: &str| complaints_by(settings, &[File { path: path.into(), text: text.into() }]).len();
    let planted = "fn f(p: &str) -> bool {\n    p == \"active\"\n}\n";
    assert_eq!(complaints("src/engine/lease.rs", planted), 1);
    assert_eq!(complaints("src/engine/policy/reclaim.rs", "let s = \"phase=active (expected lease_lost)\";"), 1);
    assert_eq!(complaints("src/events/family.rs", "match word { \"ended\" | \"active\" => 1, _ => 2 }"), 2);
    assert_eq!(complaints("src/engine/lease.rs", "#[cfg(test)]\nmod tests {\n    const P: &str = \"active\";\n}"), 1);
    assert_eq!(complaints("src/model/state.rs", planted), 0);
    assert_eq!(complaints("src/engine/lease.rs", "// \"active\"\nlet s = \"activity\"; let t = \"it is active\";"), 0);
}

/// How the names of columns end that hold one of some words.
const STATE_ENDINGS: &[&str] = &["state", "status", "phase", "reason", "outcome", "event_type", "kind", "mode"];

/// Columns whose names end so and that hold what callers wrote, or one format and no state.
const NO_STATES: &[(&str, &str)] = &[
    ("ff_exec_core", "cancellation_reason"),
    ("ff_budget_policy", "enforcement_mode"),
    ("ff_cancel_backlog", "reason"),
    ("ff_cancel_dispatch_outbox", "reason"),
    ("ff_flow_pause", "reason"),
    ("ff_lane_pause", "reason"),
    ("ff_worker_registry_event", "reason"),
    ("ff_stream_summary", "patch_kind"),
];

/// The schema of SQLite, as its migrations leave it.
fn schema(root: &Path) -> Schema {
    let mut paths: Vec<_> = std::fs::read_dir(root.join("schema/sqlite")).expect("the schema").collect();
    paths.sort_by_key(|file| file.as_ref().expect("a file").file_name());
    let mut sources = Sources::default();
    let mut files = Vec::new();
    for file in paths {
        let path = file.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("text");
        files.push(sources.add(SourceFile::new(path.display().to_string(), text)));
    }
    let (schema, findings) = diglot::schema::read(&sources, &files, Dialect::Sqlite);
    assert!(findings.is_empty(), "{findings:?}");
    schema
}

/// The text columns whose names say that they hold states, with their tables.
fn state_columns(schema: &Schema) -> impl Iterator<Item = (&str, &str)> {
    let is_of = |column: &str, ending: &str| {
        column.strip_suffix(ending).is_some_and(|rest| rest.is_empty() || rest.ends_with('_'))
    };
    let columns =
        schema.tables.values().flat_map(|table| table.columns.iter().map(|column| (table.name.as_str(), column)));
    columns
        .filter(move |(_, column)| column.declared == "text")
        .map(|(table, column)| (table, column.name.as_str()))
        .filter(move |(_, column)| STATE_ENDINGS.iter().any(|ending| is_of(column, ending)))
}

#[test]
fn the_settings_list_the_words_of_every_state_column() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = Config::parse(&std::fs::read_to_string(root.join(SETTINGS)).expect(SETTINGS), SETTINGS);
    let config = config.expect("sound settings");
    let schema = schema(root);
    let columns: BTreeSet<(&str, &str)> = state_columns(&schema).collect();
    assert!(columns.is_superset(&NO_STATES.iter().copied().collect()), "{columns:?}");

    let silent: Vec<String> = columns
        .iter()
        .filter(|column| !NO_STATES.contains(column))
        .filter(|(table, column)| {
            !config.words_of(table, column).is_some_and(|words| words.is_generated() && words.other)
        })
        .map(|(table, column)| format!("{table}.{column}"))
        .collect();
    assert!(silent.is_empty(), "no words in {SETTINGS}: {}", silent.join(", "));
}

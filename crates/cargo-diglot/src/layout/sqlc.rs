//! Where a project of sqlc has its files, from `sqlc.yaml` or `sqlc.json`: in its folder, or one for each engine in
//! folders below.
//!
//! Of the YAML no more is read than the settings need: one entry after another of `sql:` or `packages:`, and in each
//! the lines `engine:`, `schema:` and `queries:`. Whatever else stands there is passed over, and what cannot be told
//! for certain is left to the user.

use std::fs;
use std::path::Path;

use diglot::dialect::{Both, Dialect};
use serde_json::Value;

use super::{Places, is_own, joined};
use crate::failure::Failure;

const FILES: [&str; 3] = ["sqlc.yaml", "sqlc.yml", "sqlc.json"];

/// What is known of sqlc in a folder.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// It is not used there.
    Nothing,
    /// It is used with both engines.
    Places(Box<Places>),
    /// It is used in a way that needs somebody's look.
    Unclear { file: String, why: String },
}

/// One entry of the settings, as it is written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Entry {
    engine: String,
    queries: Vec<String>,
    schema: Vec<String>,
}

/// How many folders deep settings are looked for.
const DEPTH: usize = 6;

/// Looks for sqlc's settings in a folder, or else in the folders below it.
pub(crate) fn find(root: &Path) -> Result<Found, Failure> {
    let mut files = settings(root, "")?;
    if files.is_empty() {
        below(root, "", DEPTH, &mut files)?;
        files.sort();
    }
    let mut entries = Vec::new();
    let mut names = Vec::new();
    for (folder, file) in files {
        let path = joined(&folder, &file);
        let text = fs::read_to_string(root.join(&path)).map_err(Failure::io(format!("read {path}")))?;
        let read = match file.ends_with(".json") {
            true => json(&serde_json::from_str(&text).unwrap_or(Value::Null)),
            false => yaml(&text),
        };
        entries.extend(read.into_iter().map(|entry| (folder.clone(), entry)));
        names.push(path);
    }
    Ok(if names.is_empty() { Found::Nothing } else { of_entries(&names.join(" and "), &entries) })
}

/// The settings in a folder, with the folder as a path from the root.
fn settings(root: &Path, folder: &str) -> Result<Vec<(String, String)>, Failure> {
    let is_there = |file: &&&str| root.join(folder).join(file).is_file();
    Ok(FILES.iter().find(is_there).map(|file| (folder.to_owned(), (*file).to_owned())).into_iter().collect())
}

fn below(root: &Path, folder: &str, depth: usize, found: &mut Vec<(String, String)>) -> Result<(), Failure> {
    if depth == 0 {
        return Ok(());
    }
    let Ok(entries) = fs::read_dir(root.join(folder)) else { return Ok(()) };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        // A link may lead round in a circle.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && is_own(&name) {
            let inner = joined(folder, &name);
            found.extend(settings(root, &inner)?);
            below(root, &inner, depth - 1, found)?;
        }
    }
    Ok(())
}

fn of_entries(file: &str, entries: &[(String, Entry)]) -> Found {
    let unclear = |why: String| Found::Unclear { file: file.to_owned(), why };
    let (mut queries, mut schema) = (Both::<Vec<String>>::default(), Both::<Vec<String>>::default());
    for (folder, entry) in entries {
        let dialect = match entry.engine.as_str() {
            "sqlite" => Dialect::Sqlite,
            "postgresql" => Dialect::Pg,
            _ => continue,
        };
        if entry.queries.is_empty() || entry.schema.is_empty() {
            return unclear(format!("its entry for {} has not a place of each kind", entry.engine));
        }
        for (written, known) in [(&entry.queries, &mut queries[dialect]), (&entry.schema, &mut schema[dialect])] {
            for one in written {
                let Some(one) = place(folder, one) else {
                    return unclear(format!("its entry for {} names a place outside of this folder", entry.engine));
                };
                // Several entries of an engine may share a schema.
                if !known.contains(&one) {
                    known.push(one);
                }
            }
        }
    }
    if queries.iter().any(Vec::is_empty) {
        return unclear("it has no entries for both engines, sqlite and postgresql".to_owned());
    }
    Found::Places(Box::new(Places { told_by: file.to_owned(), queries, schema }))
}

/// A folder or a file inside the project, as `diglot.toml` has it, from how settings in this folder name it.
fn place(folder: &str, written: &str) -> Option<String> {
    let path = written.strip_suffix("*.sql").unwrap_or(written);
    let strange = |c: char| c.is_control() || ['"', '\\', '*', '?', '['].contains(&c);
    if path.starts_with('/') || path.contains(strange) {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop()?,
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

fn json(settings: &Value) -> Vec<Entry> {
    let lists = ["sql", "packages"].iter().filter_map(|key| settings.get(key)?.as_array());
    let texts = |value: Option<&Value>| match value {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(all)) => all.iter().filter_map(|text| text.as_str().map(str::to_owned)).collect(),
        _ => Vec::new(),
    };
    let entry = |value: &Value| Entry {
        engine: texts(value.get("engine")).concat(),
        queries: texts(value.get("queries")),
        schema: texts(value.get("schema")),
    };
    lists.flatten().map(entry).collect()
}

fn yaml(text: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    // Whether the list of entries has begun, how far they are indented, and the key whose values follow as a list.
    let (mut inside, mut indent, mut open) = (false, None, None);
    for line in text.lines() {
        let line = uncommented(line);
        let content = line.trim_start();
        if content.is_empty() {
            continue;
        }
        let depth = line.len() - content.len();
        if depth == 0 && !content.starts_with('-') {
            inside = matches!(content, "sql:" | "packages:");
            (indent, open) = (None, None);
        } else if inside {
            match content.strip_prefix('-') {
                None => open = pair(&mut entries, content),
                Some(item) if depth == *indent.get_or_insert(depth) => {
                    entries.push(Entry::default());
                    open = pair(&mut entries, item.trim_start());
                }
                Some(item) => {
                    if let (Some(key), Some(entry)) = (open, entries.last_mut()) {
                        entry.add(key, item);
                    }
                }
            }
        }
    }
    entries
}

/// Reads `key: value` into the last entry; gives the key if its values follow.
fn pair(entries: &mut [Entry], content: &str) -> Option<&'static str> {
    let (written, value) = content.split_once(':')?;
    let key = ["engine", "queries", "schema"].into_iter().find(|key| *key == written.trim_matches(['"', '\'']))?;
    let (entry, value) = (entries.last_mut()?, value.trim());
    if value.is_empty() {
        return Some(key);
    }
    let list = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    list.map_or_else(|| vec![value], |list| list.split(',').collect()).into_iter().for_each(|one| entry.add(key, one));
    None
}

impl Entry {
    fn add(&mut self, key: &str, value: &str) {
        let value = value.trim().trim_matches(['"', '\'']).to_owned();
        match key {
            "engine" => self.engine = value,
            "queries" => self.queries.push(value),
            _ => self.schema.push(value),
        }
    }
}

/// A line without its comment.
fn uncommented(line: &str) -> &str {
    let (mut quote, mut before) = (None, ' ');
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, '#') if before.is_whitespace() => return line[..at].trim_end(),
            _ => {}
        }
        before = c;
    }
    line.trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(entries: &[Entry]) -> Result<[Both<Vec<String>>; 2], String> {
        let entries: Vec<(String, Entry)> = entries.iter().map(|entry| (String::new(), entry.clone())).collect();
        match of_entries("sqlc.yaml", &entries) {
            Found::Places(places) => Ok([places.queries, places.schema]),
            Found::Unclear { why, .. } => Err(why),
            Found::Nothing => Err("nothing".to_owned()),
        }
    }

    fn expected() -> Result<[Both<Vec<String>>; 2], String> {
        let one = |place: &str| vec![place.to_owned()];
        Ok([
            Both { sqlite: one("lite/q"), pg: one("pg/q") },
            Both { sqlite: one("lite/schema.sql"), pg: one("pg/migrations") },
        ])
    }

    #[test]
    fn both_ways_of_writing_a_list_are_read() {
        let text = "version: '2' # of the settings\nsql:\n  # Postgres\n  - engine: postgresql\n    queries: ./pg/q/*.sql\n    \
                    schema:\n      - pg/migrations/\n    gen:\n      go:\n        overrides:\n          - column: \"a.b\"\n  \
                    - schema: [\"lite/schema.sql\"] # one\n    queries: 'lite/q'\n    engine: \"sqlite\"\nother:\n  - engine: x\n";
        assert_eq!(places(&yaml(text)), expected());
        let flat = "packages:\n- name: a\n  engine: sqlite\n  queries: lite/q\n  schema: lite/schema.sql\n\
                    - name: b\n  engine: postgresql\n  queries: pg/q\n  schema: pg/migrations\n";
        assert_eq!(places(&yaml(flat)), expected());
    }

    #[test]
    fn several_places_of_an_engine_become_a_list() {
        let text = "sql:\n- engine: sqlite\n  queries: [lite/a.sql, lite/b.sql]\n  schema: lite/schema.sql\n\
                    - engine: sqlite\n  queries: lite/more\n  schema: lite/schema.sql\n\
                    - engine: postgresql\n  queries: pg/q\n  schema: pg/s\n";
        let entries: Vec<(String, Entry)> = yaml(text).into_iter().map(|entry| (String::new(), entry)).collect();
        let Found::Places(places) = of_entries("sqlc.yaml", &entries) else { panic!("not understood") };
        let config = places.config("# Head.\n\n");
        assert!(
            config.contains("sqlite = [\"lite/a.sql\", \"lite/b.sql\", \"lite/more\"]\npg = \"pg/q\"\n"),
            "{config}"
        );
        assert!(config.contains("[schema]\nsqlite = \"lite/schema.sql\"\n"), "{config}");
    }

    #[test]
    fn json_is_read() {
        let text = r#"{"sql": [{"engine": "sqlite", "queries": "lite/q", "schema": ["lite/schema.sql"]},
                       {"engine": "postgresql", "queries": ["pg/q"], "schema": "pg/migrations"}]}"#;
        assert_eq!(places(&json(&serde_json::from_str(text).unwrap())), expected());
    }

    #[test]
    fn settings_for_each_engine_in_a_folder_of_its_own_are_put_together() {
        let root = tempfile::tempdir().unwrap();
        for (folder, engine) in [("driver/lite/db", "sqlite"), ("driver/pg/db", "postgresql")] {
            let folder = root.path().join(folder);
            fs::create_dir_all(&folder).unwrap();
            let text = format!(
                "version: '2'\nsql:\n  - engine: {engine}\n    queries:\n      - lot.sql\n      - bay.sql\n    \
                 schema:\n      - lot.sql\n      - ../migrations\n"
            );
            fs::write(folder.join("sqlc.yaml"), text).unwrap();
        }
        let Found::Places(places) = find(root.path()).unwrap() else { panic!("not understood") };
        let of = |engine: &str| {
            let under = |names: [&str; 2]| names.map(|name| format!("driver/{engine}/{name}")).to_vec();
            (under(["db/lot.sql", "db/bay.sql"]), under(["db/lot.sql", "migrations"]))
        };
        let ((lite_sql, lite_schema), (pg_sql, pg_schema)) = (of("lite"), of("pg"));
        assert_eq!(
            (places.queries, places.schema),
            (Both { sqlite: lite_sql, pg: pg_sql }, Both { sqlite: lite_schema, pg: pg_schema })
        );
        assert_eq!(places.told_by, "driver/lite/db/sqlc.yaml and driver/pg/db/sqlc.yaml");
    }

    #[test]
    fn what_is_not_certain_is_left_to_the_user() {
        let entry = |engine: &str, queries: &str| Entry {
            engine: engine.to_owned(),
            queries: vec![queries.to_owned()],
            schema: vec!["s".to_owned()],
        };
        let faults = [
            (vec![entry("sqlite", "q")], "no entries for both engines"),
            (vec![entry("sqlite", "q"), entry("sqlite", "r")], "no entries for both engines"),
            (vec![entry("sqlite", "../q")], "outside of this folder"),
            (vec![Entry { queries: Vec::new(), ..entry("postgresql", "q") }], "not a place of each kind"),
        ];
        for (entries, why) in faults {
            assert!(places(&entries).is_err_and(|told| told.contains(why)), "{why}");
        }
        for text in ["", "sql:\n", "sql: []", "\u{feff}sql:\n -", "packages:\n- :\n  engine\n", "sql:\n- engine: 'a\n"]
        {
            assert!(places(&yaml(text)).is_err(), "{text}");
        }
    }
}

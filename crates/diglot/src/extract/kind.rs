//! Whether a text is SQL, and what it does to which table.

use crate::source::Role;

/// Words of a text without its comments.
fn words(text: &str) -> Vec<String> {
    let code = text.lines().map(|line| line.split("--").next().unwrap_or_default()).collect::<Vec<_>>().join(" ");
    let mut rest = code.trim_start();
    while let Some((_, behind)) = rest.strip_prefix("/*").and_then(|rest| rest.split_once("*/")) {
        rest = behind.trim_start();
    }
    let upper = rest.to_uppercase();
    let words = upper.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '(' || c == '='));
    words.flat_map(|word| word.split_inclusive(['(', '='])).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// What may stand behind CREATE, ALTER or DROP.
const OBJECTS: [&str; 15] = [
    "TABLE",
    "INDEX",
    "UNIQUE",
    "VIEW",
    "TYPE",
    "SEQUENCE",
    "FUNCTION",
    "TRIGGER",
    "EXTENSION",
    "OR",
    "TEMP",
    "VIRTUAL",
    "MATERIALIZED",
    "DOMAIN",
    "SCHEMA",
];

/// What a text without its first statement begins with, where that one only says how the session works.
fn behind_settings(text: &str) -> &str {
    let mut rest = text;
    loop {
        let first = words(rest.split(';').next().unwrap_or_default());
        let sets = first.first().is_some_and(|word| ["PRAGMA", "BEGIN", "SET"].contains(&word.trim_end_matches('=')));
        match rest.split_once(';').filter(|_| sets) {
            Some((_, behind)) => rest = behind,
            None => return rest,
        }
    }
}

/// What a text gives, if it is SQL.
pub(super) fn kind(text: &str) -> Option<Role> {
    let text = behind_settings(text);
    let words = words(text);
    let word = |at: usize| words.get(at).map_or("", |word| word.trim_end_matches(['(', '=']));
    let has = |one: &str| words.iter().any(|word| word.trim_end_matches(['(', '=']) == one);
    let opens = || words.iter().any(|word| word.ends_with('('));
    let is_statement = match word(0) {
        "SELECT" => has("FROM") || opens(),
        "INSERT" => has("INTO") && (has("VALUES") || has("SELECT") || has("DEFAULT")),
        "REPLACE" => word(1) == "INTO",
        "UPDATE" => has("SET") && words.iter().any(|word| word.ends_with('=')),
        "DELETE" => word(1) == "FROM",
        "WITH" => has("AS") && opens(),
        "VALUES" => opens(),
        _ => false,
    };
    let first = text.trim_start().split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let is_sentence = first != first.to_uppercase() && first != first.to_lowercase();
    if is_sentence && !text.contains(['=', '$', '?', '*', '(']) {
        return None;
    }
    let is_schema = ["CREATE", "ALTER", "DROP"].contains(&word(0)) && OBJECTS.contains(&word(1));
    match (is_statement, is_schema) {
        (true, _) => Some(Role::Statements),
        (_, true) => Some(Role::Schema),
        _ => None,
    }
}

/// Whether a text begins as a statement does, of which the rest is added when the program runs.
pub(super) fn begins(text: &str) -> bool {
    let first = text.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty()).unwrap_or_default();
    let is_loud = first == first.to_uppercase();
    if !is_loud && first != first.to_lowercase() {
        // A sentence.
        return false;
    }
    let words = words(text);
    let word = |at: usize| words.get(at).map_or("", |word| word.trim_end_matches(['(', '=']));
    match (word(0), word(1)) {
        ("INSERT", second) => ["INTO", "OR", "IGNORE"].contains(&second),
        ("REPLACE", second) => second == "INTO",
        ("DELETE", second) => second == "FROM",
        ("UPDATE", _) => is_loud || words.iter().any(|word| word == "SET"),
        ("SELECT" | "WITH" | "VALUES", _) => is_loud,
        _ => false,
    }
}

/// What a statement does to which table, in snake case: `select_lot`.
pub(crate) fn deed(text: &str) -> Option<String> {
    let words = words(text);
    let at = |at: usize| words.get(at).map(|word| word.trim_end_matches(['(', '=']));
    let behind = |word: &str| {
        let place = words.iter().position(|one| one == word)?;
        at(place + 1)
    };
    let verb = at(0)?;
    let table = match verb {
        "SELECT" | "DELETE" => behind("FROM"),
        "INSERT" | "REPLACE" => behind("INTO"),
        "UPDATE" => at(1),
        "WITH" => behind("INTO").or_else(|| behind("UPDATE")).or_else(|| behind("FROM")),
        _ => None,
    };
    let verb = if verb == "REPLACE" { "INSERT" } else { verb };
    Some(table.map_or_else(|| verb.to_lowercase(), |table| format!("{verb}_{table}").to_lowercase()))
}

//! The cases of the catalogue as projects: a page for each dialect, with its schema.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Rules about what happens between sessions: what runs alone says nothing of it.
pub(crate) const BETWEEN_SESSIONS: [&str; 10] = [
    "unlocked-claim",
    "unlocked-fence",
    "stale-write",
    "counted-guard",
    "absence-guard",
    "next-number",
    "claim-waits",
    "torn-read",
    "unlocked-read",
    "weak-lock",
];

/// The type's word in an annotation for an argument of a case.
fn word(argument: &str) -> &'static str {
    match argument.split(':').find(|part| *part != "null" && *part != "unknown") {
        Some("int" | "int8" | "int4" | "int2") => "i64",
        Some("real") => "f64",
        Some("blob" | "bytea") => "bytes",
        Some("uuid") => "uuid",
        Some("bool") => "bool",
        Some("jsonb") => "json",
        Some("int8[]" | "int4[]") => "i64[]",
        Some("text[]") => "text[]",
        Some("uuid[]") => "uuid[]",
        _ => "text",
    }
}

/// The place of an argument whose type is left to the server.
fn is_open((at, arg): (usize, &toml::Value)) -> Option<usize> {
    arg.as_str().is_some_and(|arg| arg.starts_with("unknown")).then_some(at)
}

/// The text with `:p1` for `?1` and `$1`.
fn named(sql: &str, mark: char) -> String {
    let mut text = String::new();
    let mut rest = sql;
    while let Some(at) = rest.find(mark) {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        let is_number = from[1..].starts_with(|c: char| c.is_ascii_digit());
        let in_text = before.matches('\'').count() + text[..text.len() - before.len()].matches('\'').count();
        text.push_str(if is_number && in_text.is_multiple_of(2) { ":p" } else { &from[..1] });
        rest = &from[1..];
    }
    text + rest
}

/// The steps of one page: texts with the arguments of each.
fn steps<'c>(case: &'c toml::Table, key: &str) -> Vec<(&'c str, Option<&'c toml::Value>)> {
    match case.get(key) {
        Some(toml::Value::String(text)) => vec![(text, None)],
        Some(toml::Value::Array(steps)) => steps
            .iter()
            .filter_map(|step| match step {
                toml::Value::String(text) => Some((text.as_str(), None)),
                step => Some((step.get("q")?.as_str()?, step.get("a"))),
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// Whether a step is the business of the code around a statement.
fn is_transaction(sql: &str) -> bool {
    let first = sql.split_whitespace().next().unwrap_or_default().to_lowercase();
    ["begin", "commit", "rollback", "savepoint", "release", "end", "pragma", "set", "start", "abort"]
        .contains(&first.trim_end_matches(';'))
}

fn is_schema(sql: &str) -> bool {
    let first = sql.split_whitespace().next().unwrap_or_default().to_lowercase();
    ["create", "alter", "drop"].contains(&first.as_str())
}

/// A statement of a page as it goes into a file.
struct Text<'c> {
    sql: &'c str,
    args: Option<&'c toml::Value>,
    /// What makes two statements of different pages each other's counterparts.
    key: String,
    /// Whether it stands between BEGIN and COMMIT of the session that comes first.
    in_transaction: bool,
}

/// The texts of a script of several sessions: each once, whichever session runs it with whichever constants.
fn session_texts<'c>(case: &'c toml::Table, dialect: &str) -> Vec<Text<'c>> {
    let mut seen: Vec<(String, usize)> = Vec::new();
    let mut texts = Vec::new();
    let mut verbs: BTreeMap<&str, usize> = BTreeMap::new();
    let mut by_session: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut open = BTreeMap::new();
    for step in case.get(dialect).and_then(toml::Value::as_array).into_iter().flatten() {
        let (Some(session), Some(sql)) =
            (step.get("s").and_then(toml::Value::as_str), step.get("q").and_then(toml::Value::as_str))
        else {
            continue;
        };
        if is_transaction(sql) {
            open.insert(session, sql.to_lowercase().starts_with("begin"));
            continue;
        }
        let shape = constants_out(sql);
        let times = by_session.entry((session.to_owned(), shape.clone())).or_default();
        *times += 1;
        if seen.contains(&(shape.clone(), *times)) {
            continue;
        }
        seen.push((shape, *times));
        let lower = sql.to_lowercase();
        let verb = ["insert into", "update ", "delete from"]
            .into_iter()
            .find(|verb| lower.starts_with(*verb) || (lower.starts_with("with") && lower.contains(*verb)));
        let verb = verb.unwrap_or("select");
        let number = verbs.entry(verb).or_default();
        *number += 1;
        let in_transaction = open.get(session) == Some(&true);
        texts.push(Text { sql, args: step.get("a"), key: format!("{verb}{number}"), in_transaction });
    }
    texts
}

/// A statement without its constants.
fn constants_out(sql: &str) -> String {
    let parts = sql.split('\'').enumerate().map(|(at, part)| if at % 2 == 0 { part } else { "#" });
    parts.collect::<Vec<_>>().join("'").chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect()
}

fn has_sessions(case: &toml::Table) -> bool {
    let steps = |key: &str| case.get(key).and_then(toml::Value::as_array).into_iter().flatten();
    steps("pg").chain(steps("sqlite")).any(|step| step.get("s").is_some())
}

/// Which arguments of a case have a type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Declared {
    /// All of them.
    All,
    /// Those that the case has a type for: what is unknown on a page is left to the compiler.
    Known,
    /// None, and parameters keep their numbers: the statements of a program that makes its own calls.
    None,
}

/// One page: its migrations, and its statements.
pub(crate) fn page<'c>(case: &'c toml::Table, dialect: &str, mark: char, declared: Declared) -> (String, String) {
    let text = |key: &str| case.get(key).and_then(toml::Value::as_str);
    let mut schema =
        text(&format!("{dialect}_schema")).or_else(|| text("sqlite_schema")).unwrap_or_default().to_owned();
    let mut statements = String::new();
    let args = case.get("pg_args").or_else(|| case.get("args"));
    let is_script = case.get(dialect).is_some_and(toml::Value::is_array);
    let other = if dialect == "pg" { "sqlite" } else { "pg" };
    let annotated = |sql: &str, own: Option<&'c toml::Value>, facing: Option<&'c toml::Value>| {
        let list = |own: Option<&'c toml::Value>| own.or(args).and_then(toml::Value::as_array).into_iter().flatten();
        if declared == Declared::None {
            return format!("{};\n\n", sql.trim_end_matches(';'));
        }
        let open: Vec<usize> = list(own).enumerate().chain(list(facing).enumerate()).filter_map(is_open).collect();
        let params: String = list(own)
            .enumerate()
            .filter_map(|(number, arg)| {
                // A bare NULL has no type to declare.
                let arg = arg.as_str().filter(|arg| *arg != "null")?;
                if declared == Declared::Known && open.contains(&number) {
                    return None;
                }
                let null = if arg.starts_with("null") { " null" } else { "" };
                Some(format!("-- param: p{} {}{null}\n", number + 1, word(arg)))
            })
            .collect();
        format!("{params}{};\n\n", named(sql.trim_end_matches(';'), mark))
    };
    if has_sessions(case) {
        let facing = session_texts(case, other);
        let whole_lock = steps(case, "sqlite").iter().any(|(sql, _)| sql.eq_ignore_ascii_case("begin immediate"));
        // What one page alone does is how the scenario goes on, and no pair.
        for text in session_texts(case, dialect) {
            let Some(other) = facing.iter().find(|other| other.key == text.key) else { continue };
            let mut lines = String::new();
            let is_read = text.sql.trim_start().to_uppercase().starts_with("SELECT");
            if dialect == "pg" && text.sql.contains("FOR UPDATE") && is_read && whole_lock {
                lines += "-- diverges(lock): SQLite runs it under BEGIN IMMEDIATE\n";
            }
            if text.in_transaction && other.in_transaction {
                lines += "-- transaction: session\n";
            }
            statements += &format!(
                "-- name: case_{} :many\n{lines}{}",
                text.key.replace(' ', "_"),
                annotated(text.sql, text.args, other.args)
            );
        }
        return (schema, statements);
    }
    let facing = steps(case, other);
    for (at, (sql, own)) in steps(case, dialect).into_iter().enumerate() {
        if is_script && is_transaction(sql) {
            continue;
        }
        if is_schema(sql) {
            schema = format!("{};\n{sql}", schema.trim_end().trim_end_matches(';'));
            continue;
        }
        statements +=
            &format!("-- name: case_{at} :many\n{}", annotated(sql, own, facing.get(at).and_then(|(_, args)| *args)));
    }
    (schema, statements)
}

/// The cases of a folder by name.
pub(crate) fn cases(folder: &str) -> Vec<(String, toml::Table)> {
    let folder = format!("{}/../diglot/tests/{folder}", env!("CARGO_MANIFEST_DIR"));
    let mut cases: Vec<(String, toml::Table)> = fs::read_dir(Path::new(&folder))
        .expect("the cases are there")
        .map(|entry| {
            let path = entry.expect("a readable entry").path();
            let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let text = fs::read_to_string(&path).expect("a readable case");
            (name, text.parse().expect("a case is TOML"))
        })
        .collect();
    cases.sort_by(|a, b| a.0.cmp(&b.0));
    cases
}

/// The columns of a SELECT that have no name of their own: where each ends, and its text.
fn unnamed(sql: &str) -> Vec<(usize, &str)> {
    let Some(list) = sql.get(..7).filter(|word| word.eq_ignore_ascii_case("select ")) else { return Vec::new() };
    let (mut depth, mut quoted, mut start, mut items) = (0_i32, false, list.len(), Vec::new());
    for (at, c) in sql.char_indices().skip(list.len()) {
        match c {
            '\'' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                items.push((at, &sql[start..at]));
                start = at + 1;
            }
            ' ' if depth == 0 && sql[at..].to_uppercase().starts_with(" FROM ") => {
                items.push((at, &sql[start..at]));
                return items;
            }
            _ => {}
        }
    }
    // A SELECT of values alone ends with its list.
    if !quoted && depth == 0 && !sql.contains(['\n', ';']) && !sql.to_uppercase().contains(" WHERE ") {
        items.push((sql.len(), &sql[start..]));
        return items;
    }
    Vec::new()
}

/// The case with a name for each column that has none and that the question, asked of both texts, wants named.
pub(crate) fn with_names(case: &toml::Table, is_wanted: impl Fn(&str, &str) -> bool) -> toml::Table {
    let mut named = case.clone();
    let text = |key: &str| case.get(key).and_then(toml::Value::as_str);
    let (Some(sqlite), Some(pg)) = (text("sqlite"), text("pg")) else { return named };
    let (mut texts, lists) = ([sqlite.to_owned(), pg.to_owned()], [unnamed(sqlite), unnamed(pg)]);
    if lists[0].len() == lists[1].len() {
        for (at, ((end, ours), (other_end, theirs))) in lists[0].iter().zip(&lists[1]).enumerate().rev() {
            let is_named = |item: &str| item.contains('*') || item.to_uppercase().contains(" AS ");
            if is_wanted(ours.trim(), theirs.trim()) && !is_named(ours) && !is_named(theirs) {
                texts[0].insert_str(*end, &format!(" AS column_{at}"));
                texts[1].insert_str(*other_end, &format!(" AS column_{at}"));
            }
        }
    }
    let [sqlite, pg] = texts;
    named.insert("sqlite".to_owned(), sqlite.into());
    named.insert("pg".to_owned(), pg.into());
    named
}

//! What a project with a case's data would declare of it, because neither a text nor a schema says it: of what type
//! the fields of its JSON documents are, and which columns no program leaves empty.

use std::collections::{BTreeMap, BTreeSet};

use diglot::config::Config;
use serde_json::Value as Json;
use sqlparser::ast::{Expr, SetExpr, Statement, TableObject, UnaryOperator, Value};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;

/// The values of a column, in the order in which rows are inserted; `None` is NULL or no literal.
type Columns = BTreeMap<(String, String), Vec<Option<String>>>;

/// The configuration of a case.
pub(crate) fn config(case: &toml::Table) -> Config {
    let data = inserted(case, "sqlite");
    let mut config = Config::default();
    for ((table, column), values) in &data {
        let documents: Vec<Json> = values.iter().flatten().filter_map(|text| serde_json::from_str(text).ok()).collect();
        if documents.len() < values.iter().flatten().count() || !documents.iter().any(|d| d.is_object() || d.is_array())
        {
            continue;
        }
        if documents.iter().all(Json::is_array)
            && let Some(word @ ("text[]" | "i64[]" | "f64[]" | "bool[]")) = word(documents.iter())
        {
            config.json.insert(format!("{table}.{column}"), word.to_owned());
        }
        // What holds an element is declared as well.
        let above = |path: &Vec<String>| {
            let is_place = path.len() > 1 && path.last().is_some_and(|step| step.parse::<i64>().is_ok());
            is_place.then(|| path[..path.len() - 1].to_vec())
        };
        let paths = paths(case);
        for path in paths.iter().filter_map(above).chain(paths.iter().cloned()) {
            let found: Vec<&Json> = documents.iter().filter_map(|document| find(document, &path)).collect();
            let counted = || found.is_empty() && is_counted(case, &path);
            if let Some(word) = if counted() { Some("text[]") } else { word(found.iter().copied()) } {
                let is_always = found.len() == documents.len() && !found.iter().any(|value| value.is_null());
                let always = if is_always && !path.is_empty() { " always" } else { "" };
                config.json.insert(format!("{table}.{column}.{}", path.join(".")), format!("{word}{always}"));
            }
        }
        let members = documents.iter().flat_map(|document| match document {
            Json::Object(members) => members.values().collect::<Vec<_>>(),
            Json::Array(items) => items.iter().collect(),
            _ => Vec::new(),
        });
        if let Some(word) = word(members) {
            config.json.entry(format!("{table}.{column}.*")).or_insert_with(|| word.to_owned());
        }
    }
    config.prove.ranges.extend(negative_counts(case).into_iter().map(|param| (format!("*.{param}"), (-1, 1000))));
    config.prove.ranges.extend(times(case, &data));
    let (pg, set) = (inserted(case, "pg"), assigned(case));
    for ((table, column), values) in &data {
        let always = |values: &Vec<Option<String>>| values.iter().all(Option::is_some);
        let on_both = pg.get(&(table.clone(), column.clone())).is_some_and(always);
        if always(values) && on_both && !set.contains(column) {
            let condition = config.prove.impossible.entry(table.clone()).or_default();
            *condition += &format!("{}{column} IS NULL", if condition.is_empty() { "" } else { " OR " });
        }
    }
    config
}

/// The columns of whole numbers that Postgres takes for seconds or milliseconds since 1970, with the years of four digits.
fn times(case: &toml::Table, data: &Columns) -> Vec<(String, (i64, i64))> {
    let texts = texts(case, &["pg"]);
    let is_time = |column: &str| texts.iter().any(|text| text.contains(&format!("to_timestamp({column}")));
    let range = |((table, column), values): (&(String, String), &Vec<Option<String>>)| {
        let numbers: Vec<i64> = values.iter().flatten().filter_map(|value| value.parse().ok()).collect();
        let (least, most) = (*numbers.iter().min()?, *numbers.iter().max()?);
        let end = if most > SECONDS { SECONDS * 1000 } else { SECONDS };
        (least >= 0 && is_time(column)).then(|| (format!("{table}.{column}"), (0, end)))
    };
    data.iter().filter_map(range).collect()
}

/// The last second of the year 9999.
const SECONDS: i64 = 253_402_300_799;

/// The parameters that say how many rows a statement gives or leaves out, of which the case has a negative one.
fn negative_counts(case: &toml::Table) -> BTreeSet<String> {
    let args = case.get("pg_args").or_else(|| case.get("args")).and_then(toml::Value::as_array);
    let is_negative = |number: &str| {
        let arg = number.parse::<usize>().ok().and_then(|at| args?.get(at.checked_sub(1)?)?.as_str());
        arg.is_some_and(|arg| arg.contains(":-"))
    };
    let mut found = BTreeSet::new();
    for text in texts(case, &["pg"]) {
        let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || c == '(' || c == ')').collect();
        for pair in
            words.windows(2).filter(|pair| ["LIMIT", "OFFSET", "FIRST"].contains(&pair[0].to_uppercase().as_str()))
        {
            let number = pair[1].strip_prefix('$').map(|rest| rest.trim_end_matches(|c: char| !c.is_ascii_digit()));
            found.extend(number.filter(|number| is_negative(number)).map(|number| format!("p{number}")));
        }
    }
    found
}

/// What a case inserts on a dialect, before it and in it.
fn inserted(case: &toml::Table, dialect: &str) -> Columns {
    let mut data = Columns::new();
    let names = columns(case);
    for text in texts(case, &["setup", &format!("{dialect}_setup"), dialect]) {
        for statement in Parser::parse_sql(&GenericDialect {}, &text).unwrap_or_default() {
            if let Statement::Insert(insert) = statement {
                let TableObject::TableName(table) = &insert.table else { continue };
                let table = table.to_string().to_lowercase();
                let own = names.get(&table).cloned().unwrap_or_default();
                let named: Vec<String> = insert.columns.iter().map(|c| c.to_string().to_lowercase()).collect();
                let rows: Vec<Vec<Expr>> = match insert.source.as_ref().map(|query| query.body.as_ref()) {
                    Some(SetExpr::Values(values)) => values.rows.iter().map(|row| row.content.clone()).collect(),
                    _ => vec![Vec::new()],
                };
                for row in rows {
                    for (at, column) in own.iter().enumerate() {
                        let at = if named.is_empty() { Some(at) } else { named.iter().position(|n| n == column) };
                        let value = at.and_then(|at| row.get(at)).and_then(literal);
                        data.entry((table.clone(), column.clone())).or_default().push(value);
                    }
                }
            }
        }
    }
    data
}

/// The names before a `=` of the case's own statements that change rows: what they assign may be NULL.
fn assigned(case: &toml::Table) -> BTreeSet<String> {
    let texts = texts(case, &["sqlite", "pg"]).into_iter().map(|text| text.to_lowercase());
    let changing = texts.filter(|text| text.contains("update"));
    let before = |text: String| {
        let names: Vec<String> =
            text.split('=').filter_map(|part| part.split_whitespace().last().map(str::to_owned)).collect();
        names
    };
    changing.flat_map(before).collect()
}

/// The texts of a case under some keys, steps one by one.
fn texts(case: &toml::Table, keys: &[&str]) -> Vec<String> {
    let mut all = Vec::new();
    for value in keys.iter().filter_map(|key| case.get(*key)) {
        match value {
            toml::Value::String(text) => all.push(text.clone()),
            toml::Value::Array(steps) => all.extend(steps.iter().filter_map(|step| {
                step.as_str().or_else(|| step.get("q").and_then(toml::Value::as_str)).map(str::to_owned)
            })),
            _ => {}
        }
    }
    all
}

/// The columns of every table of the case.
fn columns(case: &toml::Table) -> BTreeMap<String, Vec<String>> {
    let mut tables = BTreeMap::new();
    for text in texts(case, &["sqlite_schema", "sqlite"]) {
        for statement in Parser::parse_sql(&GenericDialect {}, &text).unwrap_or_default() {
            if let Statement::CreateTable(create) = statement {
                let columns = create.columns.iter().map(|column| column.name.value.to_lowercase()).collect();
                tables.insert(create.name.to_string().to_lowercase(), columns);
            }
        }
    }
    tables
}

fn literal(value: &Expr) -> Option<String> {
    match value {
        Expr::Value(value) => match &value.value {
            Value::Null | Value::Placeholder(_) => None,
            Value::SingleQuotedString(text) => Some(text.clone()),
            other => Some(other.to_string()),
        },
        Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, expr } => literal(expr),
        _ => None,
    }
}

/// The steps of every JSON path of the case.
fn paths(case: &toml::Table) -> BTreeSet<Vec<String>> {
    let mut paths = BTreeSet::new();
    for text in texts(case, &["sqlite"]) {
        for path in text.split('\'').skip(1).step_by(2).filter_map(|literal| literal.strip_prefix('$')) {
            let mut steps = Vec::new();
            let mut rest = path;
            while !rest.is_empty() {
                let (step, after) = if let Some(quoted) = rest.strip_prefix(".\"") {
                    quoted.split_once('"').unwrap_or((quoted, ""))
                } else if let Some(index) = rest.strip_prefix('[') {
                    index.split_once(']').unwrap_or((index, ""))
                } else {
                    let key = rest.trim_start_matches('.');
                    key.split_at(key.find(['.', '[']).unwrap_or(key.len()))
                };
                steps.push(step.trim_start_matches('#').to_owned());
                rest = after;
            }
            paths.insert(steps);
        }
        // What stands behind an arrow is one step.
        for label in text.split("->").skip(1).map(|rest| rest.trim_start_matches('>').trim_start()) {
            let label = label.strip_prefix('\'').and_then(|rest| rest.split('\'').next());
            paths.extend(label.filter(|label| !label.starts_with('$')).map(|label| vec![label.to_owned()]));
        }
    }
    paths
}

fn find<'j>(document: &'j Json, path: &[String]) -> Option<&'j Json> {
    path.iter().try_fold(document, |value, step| match value {
        Json::Object(members) => members.get(step),
        Json::Array(items) => match step.strip_prefix('-').and_then(|back| back.parse::<usize>().ok()) {
            Some(back) => items.len().checked_sub(back).and_then(|at| items.get(at)),
            None => step.parse::<usize>().ok().and_then(|at| items.get(at)),
        },
        _ => None,
    })
}

/// Whether a case asks how many elements a member has: it may be called an array where no row has one.
fn is_counted(case: &toml::Table, path: &[String]) -> bool {
    let path = format!("'$.{}')", path.join("."));
    let counts = |text: &String| text.split("json_array_length(").skip(1).any(|rest| rest.contains(&path));
    texts(case, &["sqlite"]).iter().any(counts)
}

/// The one type of all values that are there; a field that is never there may be called a text.
fn word<'j>(values: impl Iterator<Item = &'j Json>) -> Option<&'static str> {
    let values: Vec<&Json> = values.filter(|value| !value.is_null()).collect();
    if !values.is_empty() && values.iter().all(|value| value.is_array()) {
        let elements: Vec<&Json> = values.into_iter().filter_map(Json::as_array).flatten().collect();
        return match word(elements.into_iter())? {
            "text" => Some("text[]"),
            "i64" => Some("i64[]"),
            "f64" => Some("f64[]"),
            "bool" => Some("bool[]"),
            _ => None,
        };
    }
    let is_number = |value: &&Json| value.is_number() || value.as_str().is_some_and(|text| text.parse::<f64>().is_ok());
    let spelled = values.iter().any(|value| value.is_number()) && values.iter().any(|value| value.is_string());
    if spelled && values.iter().all(is_number) {
        let is_whole = |value: &&Json| value.is_i64() || value.as_str().is_some_and(|text| text.parse::<i64>().is_ok());
        return Some(if values.iter().all(is_whole) { "i64 or text" } else { "f64 or text" });
    }
    let words: BTreeSet<&str> = values
        .into_iter()
        .filter_map(|value| match value {
            Json::Null => None,
            Json::Bool(_) => Some("bool"),
            Json::Number(number) if number.is_i64() => Some("i64"),
            Json::Number(_) => Some("f64"),
            Json::String(_) => Some("text"),
            Json::Array(_) | Json::Object(_) => Some("json"),
        })
        .collect();
    match words.into_iter().collect::<Vec<_>>().as_slice() {
        [] => Some("text"),
        ["json"] => None,
        [one] => Some(one),
        _ => None,
    }
}

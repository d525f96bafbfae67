//! What is known of that which stands at a place, as Markdown.

use super::spot::{Spot, Thing};
use diglot::dialect::Dialect;
use diglot::evidence::Verdict;
use diglot::infer::Param;
use diglot::page::RawStatement;
use diglot::project::Detail;
use diglot::schema::{Column, Table};
use diglot::source::Span;

/// What an editor shows beside the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hover {
    /// What it is about.
    pub span: Span,
    /// The text, as Markdown.
    pub markdown: String,
}

pub(super) fn hover(spot: &Spot<'_>) -> Option<Hover> {
    let markdown = match spot.thing()? {
        Thing::Statement => statement(spot)?,
        Thing::Param(name) => param(spot, &name)?,
        Thing::Table(name) => table(spot, &name),
        Thing::Column { table, column } => column_of(spot, &table, &column),
        Thing::Computed { owner, column, ty } => {
            let ty = ty.map_or_else(|| "type not known".to_owned(), |ty| ty.to_string());
            code("text", &format!("{owner}.{column}: {ty}"))
        }
        Thing::Rule(rule) => format!("**{}**: {}\n\n{}", rule.name, rule.summary, rule.doc.trim()),
    };
    Some(Hover { span: spot.span(), markdown })
}

fn code(language: &str, text: &str) -> String {
    // A fence is longer than any inside it.
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end())
}

/// The signature, the documentation, and what the facing page says.
fn statement(spot: &Spot<'_>) -> Option<String> {
    let opened = spot.opened.as_ref()?;
    let mut parts = Vec::new();
    if let Some(signature) = &opened.signature {
        parts.push(code("text", &signature.to_string()));
        parts.extend((!signature.docs.is_empty()).then(|| signature.docs.join("\n") + "\n"));
    }
    parts.extend(opened.verdict.as_ref().map(ran));
    let other = spot.dialect.other();
    match &opened.raws[other] {
        Some(raw) if raw.name_span.file == spot.file => parts.push("Both pages have it in these words.\n".to_owned()),
        Some(raw) => parts.push(format!("{}\n\n{}", place(spot, other, raw), code("sql", &body(spot, raw)))),
        None => parts.push(format!("There is no {} page of it.\n", other.title())),
    }
    Some(parts.join("\n"))
}

/// What running both pages has shown.
fn ran(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Same(scope) => format!("Same when run: {}\n", scope.sentence()),
        Verdict::Differs(witness) => {
            let when = if witness.edge { ", on data that few programs write" } else { "" };
            format!("When run, {}{when}:\n\n{}", witness.what, code("text", &witness.notes(Detail::Short).join("\n")))
        }
        Verdict::Unknown { reason } => format!("Running it says nothing: {reason}.\n"),
    }
}

fn place(spot: &Spot<'_>, dialect: Dialect, raw: &RawStatement) -> String {
    let file = spot.inputs.sources.file(raw.name_span.file);
    let (line, _) = file.line_column(raw.name_span.start as usize);
    format!("{}, `{}:{line}`", dialect.title(), file.path)
}

/// What a page says from its header on.
fn body(spot: &Spot<'_>, raw: &RawStatement) -> String {
    spot.inputs.sources.text(raw.span).to_owned()
}

fn param(spot: &Spot<'_>, name: &str) -> Option<String> {
    let signature = spot.opened.as_ref()?.signature.as_ref();
    let Some(param) = signature.and_then(|signature| signature.params.iter().find(|param| param.name == name)) else {
        return Some(
            code("text", &format!(":{name}")) + "\nIts type is not known while the statement is not understood.\n",
        );
    };
    let mut text = code("text", &param_line(param));
    if let Some(rust) = &param.rust {
        text.push_str(&format!("\nIn Rust: `{rust}`\n"));
    }
    if param.optional {
        text.push_str("\nMay be left out, and its part of the statement with it.\n");
    }
    Some(text)
}

pub(super) fn param_line(param: &Param) -> String {
    format!(":{} {}", param.name, param.ty)
}

/// A table as both databases have it, side by side.
fn table(spot: &Spot<'_>, name: &str) -> String {
    let tables = spot.schemas.each_ref().map(|schema| schema.tables.get(name));
    let mut names: Vec<&str> = Vec::new();
    for column in tables.iter().flatten().flat_map(|table| &table.columns) {
        if !names.contains(&column.name.as_str()) {
            names.push(&column.name);
        }
    }
    let what = if tables.iter().flatten().any(|table| table.view) { "view" } else { "table" };
    let mut text = format!("**{name}** ({what})\n\n|  | SQLite | Postgres |\n|---|---|---|\n");
    for column in names {
        let cell = |table: Option<&Table>| match table.and_then(|table| Some((table, table.column(column)?))) {
            Some((table, found)) => {
                let key = if table.primary_key.contains(&found.name) { ", key" } else { "" };
                format!("{}{key}", found.ty)
            }
            None => "not there".to_owned(),
        };
        text.push_str(&format!("| {column} | {} | {} |\n", cell(tables.sqlite), cell(tables.pg)));
    }
    text
}

fn column_of(spot: &Spot<'_>, table: &str, column: &str) -> String {
    let mut text = code("text", &format!("{table}.{column}"));
    text.push('\n');
    for dialect in Dialect::ALL {
        let found = spot.schemas[dialect].tables.get(table).and_then(|table| Some((table, table.column(column)?)));
        let said = found.map_or_else(|| "not there".to_owned(), |(table, column)| description(table, column));
        text.push_str(&format!("* {}: {said}\n", dialect.title()));
    }
    if let Some(path) = spot.inputs.config.rust_type(table, column) {
        text.push_str(&format!("* Rust: `{path}`\n"));
    }
    text
}

/// What a schema says of a column.
fn description(table: &Table, column: &Column) -> String {
    let mut words = vec![format!("`{}`, declared `{}`", column.ty, column.declared)];
    words.extend(table.primary_key.contains(&column.name).then(|| "in the primary key".to_owned()));
    words.extend(column.has_default.then(|| "filled by the database when it is left out".to_owned()));
    words.extend(column.collation.as_ref().map(|collation| format!("COLLATE {collation}")));
    words.join(", ")
}

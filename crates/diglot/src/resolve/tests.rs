//! Statements as the rest of the compiler sees them.

mod findings;
mod select;
mod show;
mod types;
mod write;

use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::page::{Cardinality, RawPart, RawStatement};
use crate::schema::read;
use crate::source::{SourceFile, Sources, Span};
use crate::tree::Statement;

/// Two tables with keys of both kinds.
const SCHEMA: &str = "CREATE TABLE a (id BIGINT NOT NULL PRIMARY KEY, n BIGINT, small SMALLINT NOT NULL, note TEXT, \
                      doc JSONB); CREATE TABLE b (id BIGINT NOT NULL PRIMARY KEY, a_id BIGINT NOT NULL DEFAULT 0, \
                      label TEXT NOT NULL DEFAULT '', CONSTRAINT b_pair UNIQUE (a_id, label));";

/// A project of one schema file and one statement file without annotations; statements end with `;`.
struct Project {
    sources: Sources,
    statement: Option<Statement>,
    findings: Vec<Diagnostic>,
}

fn project(schema_sql: &str, sql: &str, dialect: Dialect) -> Project {
    let mut sources = Sources::default();
    let schema_file = sources.add(SourceFile::new("schema/0001.sql", schema_sql));
    let file = sources.add(SourceFile::new("sql/thing.sql", sql));
    let (schema, _) = read(&sources, &[schema_file], dialect);
    let mut parts = Vec::new();
    let mut start = 0;
    for piece in sql.split_inclusive(';') {
        let text = piece.trim_end_matches(';');
        if !text.trim().is_empty() {
            let from = start + (text.len() - text.trim_start().len());
            parts.push(RawPart::new(Span::new(file, from..from + text.trim().len()), None));
        }
        start += piece.len();
    }
    let whole = Span::new(file, 0..sql.len());
    let raw = RawStatement {
        name: "thing_do".to_owned(),
        name_span: whole,
        header_span: whole,
        cardinality: Cardinality::Many,
        cardinality_span: whole,
        docs: Vec::new(),
        annotations: Vec::new(),
        prelude: None,
        uses: Vec::new(),
        bound: Vec::new(),
        guard: None,
        parts,
        span: whole,
        optional: Vec::new(),
        left_out: Vec::new(),
        behind: None,
        nullable: std::collections::BTreeSet::new(),
    };
    let (statement, findings) = super::resolve(&sources, &schema, &raw, dialect);
    Project { sources, statement, findings }
}

/// What a statement resolves to, or what is wrong with it.
fn check(schema_sql: &str, sql: &str, dialect: Dialect) -> String {
    let project = project(schema_sql, sql, dialect);
    let findings: String = project.findings.iter().map(|f| show::finding(&project.sources, f)).collect();
    match &project.statement {
        Some(statement) if findings.is_empty() => show::statement(statement),
        _ => findings,
    }
}

/// The type of each expression over a FROM clause.
fn expressions(schema_sql: &str, from: &str, list: &[&str], dialect: Dialect) -> String {
    let one = |text: &&str| {
        let project = project(schema_sql, &format!("SELECT {text} AS x FROM {from}"), dialect);
        let ty = match &project.statement {
            Some(statement) if project.findings.is_empty() => show::ty(statement.columns()[0].1.as_ref()),
            _ => project.findings.iter().map(|f| show::finding(&project.sources, f)).collect(),
        };
        format!("{text}: {ty}\n")
    };
    list.iter().map(one).collect()
}

/// The parameters with the texts of their placeholders.
fn placeholders(schema_sql: &str, sql: &str, dialect: Dialect) -> String {
    let project = project(schema_sql, sql, dialect);
    let params = project.statement.iter().flat_map(|statement| &statement.params);
    let one = |param: &crate::tree::ParamUse| {
        let marks = format!("{}{}", if param.nullable { " null" } else { "" }, if param.list { " list" } else { "" });
        format!("{}{marks}: {}\n", param.name, project.sources.text(param.span))
    };
    params.map(one).collect()
}

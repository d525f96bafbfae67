//! Statements as the rest of the compiler sees them.

mod show;

use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::page::{Cardinality, RawPart, RawStatement};
use crate::schema::read;
use crate::source::{SourceFile, Sources, Span};
use crate::tree::Statement;

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
            parts.push(RawPart { span: Span::new(file, from..from + text.trim().len()), returns: false });
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
        parts,
        span: whole,
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

#[test]
fn deep_and_long_texts_are_refused_without_a_panic() {
    for dialect in Dialect::ALL {
        let deep = format!("SELECT {}1{}", "(".repeat(3000), ")".repeat(3000));
        assert!(check("", &deep, dialect).contains("nests deeper"));
        let negated = format!("SELECT {} true", "NOT ".repeat(5000));
        assert!(check("", &negated, dialect).contains("nests deeper"));
        let nested = format!("SELECT {}1{}", "(SELECT ".repeat(2000), ")".repeat(2000));
        assert!(check("", &nested, dialect).contains("nests deeper"));
        let chain = format!("SELECT 1{}", " + 1".repeat(3000));
        assert!(check("", &chain, dialect).contains("chains more than"));
        let long = format!("SELECT 1{}", " + 1".repeat(30000));
        assert!(check("", &long, dialect).contains("more than"));
    }
}

//! The schemas: read, settled in how SQLite holds what Postgres has types for, and compared.

use super::{Inputs, Stats};
use crate::diagnostic::{Diagnostic, Severity};
use crate::dialect::{Both, Dialect};
use crate::page::Annotation;
use crate::rule;
use crate::schema::allowed::Allowed;
use crate::schema::{self, Proposal, Schema};
use crate::source::FileId;
use crate::split;

fn read_schema(inputs: &Inputs, dialect: Dialect, found: &mut Vec<Diagnostic>) -> Schema {
    let files: Vec<FileId> = inputs.migrations(dialect).into_iter().map(|(id, _)| id).collect();
    let (schema, findings) = schema::read(&inputs.sources, &files, dialect);
    found.extend(findings);
    schema
}

/// The schemas as the statements meet them, compared.
#[derive(Debug, Clone)]
pub(super) struct Settled {
    pub(super) schemas: Both<Schema>,
    /// What is declared of them and of the migrations.
    pub(super) declared: Vec<Annotation>,
    /// What was found in them and between them.
    pub(super) found: Vec<Diagnostic>,
    pub(super) stats: Stats,
}

impl Settled {
    pub(super) fn of(inputs: &Inputs) -> Self {
        let mut found = Vec::new();
        let (schemas, declared) = settled_schemas(inputs, &mut found);
        let stats = compare_schemas(inputs, &schemas, &declared, &mut found);
        Self { schemas, declared, found, stats }
    }
}

/// The schemas, with how SQLite holds what Postgres has types for, and what is declared of them.
pub(super) fn settled_schemas(inputs: &Inputs, found: &mut Vec<Diagnostic>) -> (Both<Schema>, Vec<Annotation>) {
    let mut schemas = Both::of(|dialect| read_schema(inputs, dialect, found));
    let path = inputs.config.prepare.search_path();
    for table in schemas.pg.tables.values_mut() {
        table.within = table.within.take().filter(|schema| !path.contains(schema));
    }
    let declared = declared_of_schemas(inputs, found);
    schema::storage::settle(&inputs.config, &mut schemas, &declared);
    schema::words::settle(&inputs.config, &mut schemas);
    (schemas, declared)
}

/// Lines of `[storage]` for the columns of which neither the settings nor the schemas say how SQLite holds their times.
pub fn propose_storage(inputs: &Inputs) -> Vec<Proposal> {
    let (schemas, _) = settled_schemas(inputs, &mut Vec::new());
    let files = inputs.statement_files(Dialect::Sqlite);
    let code: Vec<&str> = files.into_iter().map(|(id, _)| inputs.sources.file(id).shown()).collect();
    schema::proposed(&schemas, &code)
}

/// What is declared of the schemas, in migrations and beside them.
fn declared_of_schemas(inputs: &Inputs, found: &mut Vec<Diagnostic>) -> Vec<Annotation> {
    let mut declared = Vec::new();
    let beside = inputs.config.divergences();
    let beside = inputs.sources.iter().filter(|(_, file)| file.path == beside).map(|(id, _)| (id, Dialect::Sqlite));
    let migrations = Dialect::ALL.into_iter().flat_map(|dialect| {
        let mut files = inputs.migrations(dialect);
        files.sort();
        files.into_iter().map(move |(id, _)| (id, dialect))
    });
    for (id, dialect) in migrations.chain(beside) {
        let (annotations, findings) = split::declarations(&inputs.sources, id, dialect);
        declared.extend(annotations);
        found.extend(findings);
    }
    declared
}

/// Compares the schemas, unless one of them is not understood.
fn compare_schemas(
    inputs: &Inputs,
    schemas: &Both<Schema>,
    declared: &[Annotation],
    found: &mut Vec<Diagnostic>,
) -> Stats {
    if found.iter().any(|finding| finding.rule == rule::SCHEMA_UNREADABLE.name && finding.severity == Severity::Error) {
        return Stats::default();
    }
    let compared = schema::compare::compare(&inputs.config, schemas, declared);
    found.extend(compared.found);
    let steps = Both::of(|dialect| inputs.migrations(dialect));
    let mut allowed = Allowed::new(declared, steps.iter().flatten().map(|(id, _)| *id).collect());
    found.extend(schema::lints::check(&inputs.config, schemas, &mut allowed));
    found.extend(schema::hazards::check(&inputs.config, schemas, &steps, &mut allowed));
    found.extend(allowed.unneeded());
    found.extend(schema::words::check(schemas));
    Stats { facts: compared.facts, waived: compared.waived, ..Stats::default() }
}

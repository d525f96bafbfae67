//! The migrations of both dialects as a way: the points at which both schemas have the same tables, and what is found
//! between two of them.
//!
//! Histories need not go in lockstep. A stretch leads from one point to the next; its migrations are run on rows by
//! `cargo diglot prepare`, and what came of it is recorded ([`Step`]).

use std::collections::BTreeSet;

use crate::config::Places;
use crate::diagnostic::{Diagnostic, Severity};
use crate::dialect::{Both, Dialect};
use crate::evidence::{Evidence, Step, Verdict, digest_of};
use crate::page::{Annotation, AnnotationKind};
use crate::project::Inputs;
use crate::rule;
use crate::schema;
use crate::source::{FileId, Role, SourceFile, Sources, Span};

/// The folder in which the statements of a stretch stand for pages.
const PAGES: &str = "diglot-migrations";

/// Some migrations of both dialects, which lead from one point to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    /// The names of its files.
    pub name: String,
    /// How many migrations have run before.
    pub from: Both<usize>,
    /// How many have run behind it.
    pub to: Both<usize>,
    /// The digest of all that its answers rest on.
    pub basis: String,
}

impl Stretch {
    /// What was recorded of it, if that still holds.
    pub fn recorded<'e>(&self, evidence: &'e Evidence) -> Option<&'e Step> {
        evidence.steps.iter().find(|step| step.basis == self.basis && step.name == self.name)
    }

    /// The record of what running it has shown.
    pub fn record(&self, verdict: Verdict) -> Step {
        let Both { sqlite, pg } = self.to;
        Step { name: self.name.clone(), sqlite_files: sqlite, pg_files: pg, basis: self.basis.clone(), verdict }
    }

    fn files(&self, inputs: &Inputs, dialect: Dialect) -> impl Iterator<Item = FileId> {
        let files = inputs.migrations(dialect).into_iter().take(self.to[dialect]).skip(self.from[dialect]);
        files.map(|(id, _)| id).collect::<Vec<FileId>>().into_iter()
    }

    /// Its texts in their order.
    pub fn texts<'i>(&self, inputs: &'i Inputs, dialect: Dialect) -> Vec<&'i str> {
        self.files(inputs, dialect).map(|file| schema::up(&inputs.sources.file(file).text)).collect()
    }

    /// The project as it was before it, with the statements of the stretch that change rows in the place of the pages:
    /// what they hold columns against is to be among the rows.
    pub fn before(&self, inputs: &Inputs) -> Inputs {
        let mut before = until(inputs, &self.from);
        for dialect in Dialect::ALL {
            let mut page = String::new();
            for file in self.files(inputs, dialect) {
                for (at, span) in schema::of_rows(&inputs.sources.file(file).text, file, dialect).iter().enumerate() {
                    page.push_str(&format!("-- name: {dialect}_{}_{at} :exec\n", file.0));
                    page.push_str(&format!("{};\n\n", inputs.sources.text(*span)));
                }
            }
            // Both dialects read it: what one of them does not understand is left to the other.
            for folder in Dialect::ALL {
                let path = format!("{PAGES}/{folder}/{dialect}.sql");
                before.sources.add(SourceFile::new(path, page.clone()).with_role(Role::Statements));
            }
        }
        before
    }

    /// The project as it is behind it, without pages.
    pub fn after(&self, inputs: &Inputs) -> Inputs {
        until(inputs, &self.to)
    }
}

/// The migrations that have run at a point, and nothing else.
fn until(inputs: &Inputs, at: &Both<usize>) -> Inputs {
    let mut known = BTreeSet::new();
    for dialect in Dialect::ALL {
        known.extend(inputs.migrations(dialect).into_iter().take(at[dialect]).map(|(id, _)| id));
    }
    let mut config = inputs.config.clone();
    config.generate.enabled = false;
    config.sql = Places::below(PAGES);
    let mut sources = Sources::default();
    for (_, file) in inputs.sources.iter().filter(|(id, _)| known.contains(id)) {
        sources.add(file.clone().with_role(Role::Schema));
    }
    Inputs { config, sources, ..Inputs::default() }
}

/// Everything that what is run of a history rests on, up to a point.
fn basis(inputs: &Inputs, to: &Both<usize>) -> String {
    let config = &inputs.config;
    let mut text = format!("{:?}", (&config.prove, &config.assume, &config.storage, &config.words, &config.prepare));
    for dialect in Dialect::ALL {
        for (file, _) in inputs.migrations(dialect).into_iter().take(to[dialect]) {
            text.push_str(&format!("\u{0}{}", inputs.sources.file(file).text));
        }
    }
    digest_of(&text)
}

/// Whether all migrations are recorded as they are.
pub fn is_recorded(inputs: &Inputs, evidence: &Evidence) -> bool {
    let end = Both::of(|dialect| inputs.migrations(dialect).len());
    let is_empty = end.iter().all(|count| *count == 0);
    let ends =
        |step: &Step| step.sqlite_files == end.sqlite && step.pg_files == end.pg && step.basis == basis(inputs, &end);
    is_empty || evidence.steps.last().is_some_and(ends)
}

/// The ways from point to point, in their order.
pub fn stretches(inputs: &Inputs) -> Vec<Stretch> {
    let shapes = shapes(inputs);
    let stems = Both::of(|dialect| {
        inputs.migrations(dialect).into_iter().map(|(_, stem)| stem.to_owned()).collect::<Vec<String>>()
    });
    let end = stems.each_ref().map(Vec::len);
    let mut stretches = Vec::new();
    let mut from = Both { sqlite: 0, pg: 0 };
    while from != end {
        let to = next(&shapes, &stems, &from, &end);
        let mut names: Vec<&str> = Vec::new();
        for name in Dialect::ALL.into_iter().flat_map(|dialect| &stems[dialect][from[dialect]..to[dialect]]) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        stretches.push(Stretch { name: names.join(", "), from, to, basis: basis(inputs, &to) });
        from = to;
    }
    stretches
}

/// Columns with their tables.
type Shape = BTreeSet<(String, String)>;

/// The columns behind each migration of either dialect, and before the first. What one dialect alone ever has is left out:
/// it parts no points.
fn shapes(inputs: &Inputs) -> Both<Vec<Shape>> {
    let shapes = Both::of(|dialect| {
        let files: Vec<FileId> = inputs.migrations(dialect).into_iter().map(|(id, _)| id).collect();
        (0..=files.len()).map(|count| shape(inputs, &files[..count], dialect)).collect::<Vec<Shape>>()
    });
    let ever = shapes.each_ref().map(|shapes| shapes.iter().flatten().cloned().collect::<Shape>());
    let of_both =
        |shape: Shape| shape.into_iter().filter(|column| ever.iter().all(|ever| ever.contains(column))).collect();
    shapes.map(|shapes| shapes.into_iter().map(of_both).collect())
}

fn shape(inputs: &Inputs, files: &[FileId], dialect: Dialect) -> Shape {
    let (schema, _) = schema::read(&inputs.sources, files, dialect);
    let tables = schema.tables.into_values().filter(|table| !table.view && !table.partition);
    let columns = |table: schema::Table| {
        let name = table.name;
        table.columns.into_iter().map(move |column| (name.clone(), column.name))
    };
    tables.flat_map(columns).collect()
}

/// The nearest point behind another: both dialects go on, and have the same tables there. Migrations of one name belong
/// together.
fn next(shapes: &Both<Vec<Shape>>, stems: &Both<Vec<String>>, from: &Both<usize>, end: &Both<usize>) -> Both<usize> {
    let mut points: Vec<Both<usize>> = Vec::new();
    for sqlite in from.sqlite + 1..=end.sqlite {
        points.extend((from.pg + 1..=end.pg).map(|pg| Both { sqlite, pg }));
    }
    points.retain(|at| shapes.sqlite[at.sqlite] == shapes.pg[at.pg]);
    points.retain(|at| parts_no_name(stems, at));
    let steps = |at: &Both<usize>| (at.sqlite - from.sqlite, at.pg - from.pg);
    let nearest = points.into_iter().min_by_key(|at| {
        let (sqlite, pg) = steps(at);
        (sqlite.max(pg), sqlite + pg)
    });
    // Behind the last of them one dialect may have migrations of its own.
    nearest.unwrap_or(*end)
}

/// Whether no migration that has run at a point has the name of one of the other dialect that has not.
fn parts_no_name(stems: &Both<Vec<String>>, at: &Both<usize>) -> bool {
    let (ours, theirs) = (stems.sqlite.split_at(at.sqlite), stems.pg.split_at(at.pg));
    let parted = |done: &[String], open: &[String]| done.iter().any(|name| open.contains(name));
    !parted(ours.0, theirs.1) && !parted(theirs.0, ours.1)
}

/// What the recorded steps show, but for what is declared, and declarations that nothing needs.
pub(crate) fn check(inputs: &Inputs, evidence: Option<&Evidence>, declared: &[Annotation]) -> Vec<Diagnostic> {
    let Some(evidence) = evidence.filter(|_| !inputs.asking) else { return Vec::new() };
    let allowed: Vec<(&Annotation, &str)> =
        declared.iter().filter_map(|annotation| Some((annotation, allows(annotation)?))).collect();
    let mut needed = BTreeSet::new();
    let mut found = Vec::new();
    for step in &evidence.steps {
        let Verdict::Differs(witness) = &step.verdict else { continue };
        let to = Both { sqlite: step.sqlite_files, pg: step.pg_files };
        if step.basis != basis(inputs, &to) {
            continue;
        }
        let known: Vec<&&str> =
            allowed.iter().map(|(_, name)| name).filter(|name| step.name.contains(**name)).collect();
        needed.extend(known.iter().map(|name| (**name).to_owned()));
        if !known.is_empty() {
            continue;
        }
        let place = |dialect: Dialect| Some((dialect, last(inputs, dialect, &step.name, to[dialect])?));
        let mut places = Dialect::ALL.into_iter().filter_map(place);
        let Some((dialect, first)) = places.next() else { continue };
        let message = format!("migration {}: {}", step.name, witness.what);
        let mut finding =
            Diagnostic::error(rule::MIGRATION_DIFFERS, message, first, format!("{} runs this", dialect.title()));
        if let Some((dialect, other)) = places.next() {
            finding = finding.and(other, format!("{} runs this on the same rows", dialect.title()));
        }
        // A migration that is taken gives no rows.
        finding.notes.extend(witness.notes(inputs.detail).into_iter().filter(|note| !note.ends_with("gives no row")));
        if witness.edge {
            finding.severity = Severity::Warning;
        }
        let short = step.name.split(", ").next().unwrap_or_default();
        found.push(
            finding.help("keep the rows and their values alike on both databases").help(format!(
                "or, if it is meant, in `divergences.sql`: `-- allow(migration-differs.{short}): <why>`"
            )),
        );
    }
    let unneeded: Vec<_> = allowed.into_iter().filter(|(_, name)| !needed.contains(*name)).collect();
    // All migrations are read for that, which few checks have to do.
    if unneeded.is_empty() || !is_recorded(inputs, evidence) {
        return found;
    }
    for (annotation, name) in unneeded {
        let message = format!("schema: `-- allow(migration-differs.{name})` has nothing to allow");
        found.push(
            Diagnostic::error(rule::UNUSED_ALLOW, message, annotation.span, "no migration of that name differs")
                .help("remove the line"),
        );
    }
    found
}

/// The migration that a declaration is about.
fn allows(annotation: &Annotation) -> Option<&str> {
    let AnnotationKind::Allow { rule, .. } = &annotation.kind else { return None };
    rule.strip_prefix(rule::MIGRATION_DIFFERS.name)?.strip_prefix('.')
}

/// Where the last migration of a step begins to say something.
fn last(inputs: &Inputs, dialect: Dialect, step: &str, count: usize) -> Option<Span> {
    let (file, stem) = inputs.migrations(dialect).into_iter().nth(count.checked_sub(1)?)?;
    let text = &inputs.sources.file(file).text;
    let mut at = 0;
    let line = text.split_inclusive('\n').find(|line| {
        let says = !line.trim().is_empty() && !line.trim_start().starts_with("--");
        at += if says { 0 } else { line.len() };
        says
    })?;
    step.split(", ").any(|name| name == stem).then(|| Span::new(file, at..at + line.trim_end().len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A project of migrations: each with its name, for SQLite and for Postgres.
    fn project(sqlite: &[(&str, &str)], pg: &[(&str, &str)]) -> Inputs {
        let mut inputs = Inputs::default();
        for (dialect, files) in Dialect::ALL.into_iter().zip([sqlite, pg]) {
            for (name, text) in files {
                inputs.sources.add(SourceFile::new(format!("schema/{dialect}/{name}.sql"), *text));
            }
        }
        inputs
    }

    fn names(inputs: &Inputs) -> Vec<String> {
        stretches(inputs).into_iter().map(|stretch| stretch.name).collect()
    }

    const JOB: (&str, &str) = ("1_job", "CREATE TABLE job (id INTEGER PRIMARY KEY, state TEXT);");

    #[test]
    fn migrations_of_one_name_are_a_stretch_even_if_they_change_rows_alone() {
        let rest = [("2_fill", "UPDATE job SET state = 'a';"), ("3_due", "ALTER TABLE job ADD COLUMN due INTEGER;")];
        let inputs = project(&[&[JOB], &rest[..]].concat(), &[&[JOB], &rest[..]].concat());
        assert_eq!(names(&inputs), ["1_job", "2_fill", "3_due"]);
    }

    #[test]
    fn several_of_one_dialect_face_one_of_the_other() {
        let sqlite =
            [JOB, ("2_a", "ALTER TABLE job ADD COLUMN a TEXT;"), ("3_b", "ALTER TABLE job ADD COLUMN b TEXT;")];
        let pg = [JOB, ("2_both", "ALTER TABLE job ADD COLUMN a text, ADD COLUMN b text;")];
        assert_eq!(names(&project(&sqlite, &pg)), ["1_job", "2_a, 3_b, 2_both"]);
    }

    #[test]
    fn a_column_of_one_dialect_alone_parts_no_points() {
        let pg = ("1_job", "CREATE TABLE job (id bigint PRIMARY KEY, shard smallint, state text);");
        let rest = [("2_fill", "UPDATE job SET state = 'a';"), ("3_due", "ALTER TABLE job ADD COLUMN due INTEGER;")];
        let inputs = project(&[&[JOB], &rest[..]].concat(), &[&[pg], &rest[..]].concat());
        assert_eq!(names(&inputs), ["1_job", "2_fill", "3_due"]);
    }

    #[test]
    fn what_one_dialect_alone_has_at_the_end_is_a_stretch() {
        let pg = [JOB, ("2_index", "CREATE INDEX job_state ON job (state);")];
        assert_eq!(names(&project(&[JOB], &pg)), ["1_job", "2_index"]);
    }

    #[test]
    fn a_record_holds_until_a_migration_before_its_end_changes() {
        let inputs = project(&[JOB], &[JOB]);
        let stretch = stretches(&inputs).remove(0);
        let unknown = Verdict::Unknown { reason: String::new() };
        let evidence = Evidence { steps: vec![stretch.record(unknown)], ..Evidence::default() };
        assert!(is_recorded(&inputs, &evidence) && stretch.recorded(&evidence).is_some());
        let other = project(&[("1_job", "CREATE TABLE job (id INTEGER PRIMARY KEY, state TEXT DEFAULT 'a');")], &[JOB]);
        assert!(!is_recorded(&other, &evidence) && stretches(&other)[0].recorded(&evidence).is_none());
    }

    #[test]
    fn a_step_that_differs_is_an_error_until_it_is_allowed() {
        let mut inputs = project(&[JOB], &[JOB]);
        let witness =
            crate::evidence::Witness { what: "afterwards the rows of job differ".into(), ..Default::default() };
        let step = stretches(&inputs).remove(0).record(Verdict::Differs(Box::new(witness)));
        inputs.evidence =
            Some(Evidence { version: crate::evidence::VERSION, steps: vec![step], ..Evidence::default() }.to_text());
        let told = |inputs: &Inputs| -> Vec<&str> {
            crate::check(inputs).diagnostics.iter().map(|finding| finding.rule).collect()
        };
        assert!(told(&inputs).contains(&"migration-differs"), "{:?}", told(&inputs));
        let allow = "-- allow(migration-differs.1_job): the table was empty everywhere.\n";
        inputs.sources.add(SourceFile::new("schema/divergences.sql", allow));
        assert!(!told(&inputs).contains(&"migration-differs"), "{:?}", told(&inputs));
        assert!(!told(&inputs).contains(&"unused-allow"), "{:?}", told(&inputs));
    }
}

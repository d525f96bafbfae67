//! The migrations of both dialects as a way: the points at which both schemas have the same tables, and what is found
//! between two of them.
//!
//! Histories need not go in lockstep. A stretch leads from one point to the next; its migrations are run on rows by
//! `cargo diglot prepare`, and what came of it is recorded ([`Step`]).

use std::collections::{BTreeMap, BTreeSet};

use crate::config::Places;
use crate::diagnostic::{Diagnostic, Severity};
use crate::dialect::{Both, Dialect};
use crate::evidence::{Evidence, Step, Verdict, digest_of};
use crate::page::{Annotation, AnnotationKind};
use crate::project::Inputs;
use crate::rule;
use crate::schema::{self, Schema};
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

/// Both histories, with the points at which they have the same tables and columns.
#[derive(Debug)]
pub struct History<'i> {
    inputs: &'i Inputs,
    /// What the tables and columns behind each migration are, and before the first: the same number for the same ones.
    shapes: Both<Vec<usize>>,
    stems: Both<Vec<String>>,
    /// Migrations of one name: how many have run behind each.
    named: Vec<Both<usize>>,
    end: Both<usize>,
}

impl<'i> History<'i> {
    /// That of a project.
    pub fn of(inputs: &'i Inputs) -> Self {
        let stems = Both::of(|dialect| {
            inputs.migrations(dialect).into_iter().map(|(_, stem)| stem.to_owned()).collect::<Vec<String>>()
        });
        let mut named = Vec::new();
        for (at, stem) in (1..).zip(&stems.sqlite) {
            let pg = stems.pg.iter().position(|other| other == stem);
            named.extend(pg.map(|pg| Both { sqlite: at, pg: pg + 1 }));
        }
        let end = stems.each_ref().map(Vec::len);
        Self { inputs, shapes: shapes(inputs), stems, named, end }
    }

    /// The way from a point to the nearest one behind it; none from the end.
    pub fn next(&self, from: &Both<usize>) -> Option<Stretch> {
        (*from != self.end).then(|| self.stretch(from, self.points(from, from).first().unwrap_or(&self.end)))
    }

    /// The ways from where a stretch begins to the points behind its end, the nearest first and the end last.
    pub fn longer(&self, stretch: &Stretch) -> impl Iterator<Item = Stretch> {
        let from = stretch.from;
        let mut points = self.points(&from, &stretch.to);
        points.retain(|at| *at != self.end);
        points.extend((stretch.to != self.end).then_some(self.end));
        points.into_iter().map(move |to| self.stretch(&from, &to))
    }

    /// The points to which both dialects go on from one, behind another, the nearest first. Migrations of one name belong
    /// together. Behind the last of the points one dialect may have migrations of its own.
    fn points(&self, from: &Both<usize>, behind: &Both<usize>) -> Vec<Both<usize>> {
        let Self { shapes, named, end, .. } = self;
        let mut points: Vec<Both<usize>> = Vec::new();
        for sqlite in behind.sqlite.max(from.sqlite + 1)..=end.sqlite {
            points.extend((behind.pg.max(from.pg + 1)..=end.pg).map(|pg| Both { sqlite, pg }));
        }
        let parts = |at: &Both<usize>| named.iter().any(|of| (of.sqlite <= at.sqlite) != (of.pg <= at.pg));
        points.retain(|at| at != behind && shapes.sqlite[at.sqlite] == shapes.pg[at.pg] && !parts(at));
        points.sort_by_key(|at| {
            let (sqlite, pg) = (at.sqlite - from.sqlite, at.pg - from.pg);
            (sqlite.max(pg), sqlite + pg)
        });
        points
    }

    fn stretch(&self, from: &Both<usize>, to: &Both<usize>) -> Stretch {
        let mut names: Vec<&str> = Vec::new();
        for name in Dialect::ALL.into_iter().flat_map(|dialect| &self.stems[dialect][from[dialect]..to[dialect]]) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        Stretch { name: names.join(", "), from: *from, to: *to, basis: basis(self.inputs, to) }
    }
}

/// Columns with their tables.
type Shape = BTreeSet<(String, String)>;

/// The columns behind each migration of either dialect, and before the first. What one dialect alone ever has is left out:
/// it parts no points.
fn shapes(inputs: &Inputs) -> Both<Vec<usize>> {
    let shapes = Both::of(|dialect| {
        let files: Vec<FileId> = inputs.migrations(dialect).into_iter().map(|(id, _)| id).collect();
        let mut shapes = vec![Shape::new()];
        schema::read_along(&inputs.sources, &files, dialect, |schema| shapes.push(shape(schema)));
        shapes
    });
    let ever = shapes.each_ref().map(|shapes| shapes.iter().flatten().cloned().collect::<Shape>());
    let of_both: Shape = ever.sqlite.intersection(&ever.pg).cloned().collect();
    let mut known: BTreeMap<Shape, usize> = BTreeMap::new();
    shapes.map(|shapes| {
        let mut number = |shape: Shape| {
            let next = known.len();
            *known.entry(shape.intersection(&of_both).cloned().collect()).or_insert(next)
        };
        shapes.into_iter().map(&mut number).collect()
    })
}

fn shape(schema: &Schema) -> Shape {
    let tables = schema.tables.values().filter(|table| !table.view && !table.partition);
    tables.flat_map(|table| table.columns.iter().map(|column| (table.name.clone(), column.name.clone()))).collect()
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
        // A migration that is taken gives no rows, and a loss may show on none.
        let says =
            |note: &String| !(note.ends_with("gives no row") || witness.sqlite.is_empty() && witness.rows.is_empty());
        finding.notes.extend(witness.notes(inputs.detail).into_iter().filter(says));
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
        let history = History::of(inputs);
        let mut names = Vec::new();
        let mut at = Both::default();
        while let Some(stretch) = history.next(&at) {
            at = stretch.to;
            names.push(stretch.name);
        }
        names
    }

    fn first(inputs: &Inputs) -> Stretch {
        History::of(inputs).next(&Both::default()).expect("a migration")
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
    fn the_points_behind_a_stretch_are_offered_up_to_the_end() {
        let rest = [("2_fill", "UPDATE job SET state = 'a';"), ("3_due", "ALTER TABLE job ADD COLUMN due INTEGER;")];
        let own = ("4_own", "CREATE INDEX job_due ON job (due);");
        let inputs = project(&[&[JOB], &rest[..]].concat(), &[&[JOB], &rest[..], &[own]].concat());
        let longer: Vec<String> = History::of(&inputs).longer(&first(&inputs)).map(|stretch| stretch.name).collect();
        assert_eq!(longer, ["1_job, 2_fill", "1_job, 2_fill, 3_due", "1_job, 2_fill, 3_due, 4_own"]);
    }

    #[test]
    fn what_one_dialect_alone_has_at_the_end_is_a_stretch() {
        let pg = [JOB, ("2_index", "CREATE INDEX job_state ON job (state);")];
        assert_eq!(names(&project(&[JOB], &pg)), ["1_job", "2_index"]);
    }

    #[test]
    fn a_record_holds_until_a_migration_before_its_end_changes() {
        let inputs = project(&[JOB], &[JOB]);
        let stretch = first(&inputs);
        let unknown = Verdict::Unknown { reason: String::new() };
        let evidence = Evidence { steps: vec![stretch.record(unknown)], ..Evidence::default() };
        assert!(is_recorded(&inputs, &evidence) && stretch.recorded(&evidence).is_some());
        let other = project(&[("1_job", "CREATE TABLE job (id INTEGER PRIMARY KEY, state TEXT DEFAULT 'a');")], &[JOB]);
        assert!(!is_recorded(&other, &evidence) && first(&other).recorded(&evidence).is_none());
    }

    #[test]
    fn a_step_that_differs_is_an_error_until_it_is_allowed() {
        let mut inputs = project(&[JOB], &[JOB]);
        let witness =
            crate::evidence::Witness { what: "afterwards the rows of job differ".into(), ..Default::default() };
        let step = first(&inputs).record(Verdict::Differs(Box::new(witness)));
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

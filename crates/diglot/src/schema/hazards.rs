//! What a step of the migrations does to a system that runs, and to what stood on a table: one finding for each place.
//!
//! All steps are looked at, so that what is declared of one stays needed; told are those from `checked_from` on. Without
//! `[migrations]` in the settings nothing is.

use std::collections::BTreeMap;

use super::allowed::Allowed;
use super::effect::{Effect, Work};
use super::{Schema, Table, order};
use crate::config::{Config, Migrations};
use crate::diagnostic::{Diagnostic, Severity};
use crate::dialect::{Both, Dialect};
use crate::rule::{self, Rule};
use crate::source::{FileId, Span};

/// The rules, each with its severity: what an engine refuses or loses is an error, what makes others wait is not.
const RULES: [(Rule, Severity); 9] = [
    (rule::BACKFILL_UNDER_LOCK, Severity::Warning),
    (rule::BLOCKING_INDEX, Severity::Warning),
    (rule::CONCURRENTLY_IN_TRANSACTION, Severity::Error),
    (rule::DROPPED_PARENT, Severity::Error),
    (rule::LOCK_WITHOUT_TIMEOUT, Severity::Warning),
    (rule::LOST_WITH_REBUILD, Severity::Error),
    (rule::MOVED_REFERENCES, Severity::Error),
    (rule::SCAN_UNDER_LOCK, Severity::Warning),
    (rule::TABLE_REWRITE, Severity::Warning),
];

/// Whether a rule is about steps.
pub(super) fn is_hazard(rule: &str) -> bool {
    RULES.iter().any(|(known, _)| known.name == rule)
}

/// Something that a step does, before it is known whether anybody wants to hear of it.
#[derive(Debug, Clone)]
pub(crate) struct Hazard {
    pub(super) rule: Rule,
    /// The file.
    pub(super) step: FileId,
    /// The file that made the table.
    pub(super) made_in: Option<FileId>,
    /// A foreign key of SQLite that matters only where the table on Postgres still has it: the table and its columns.
    pub(super) facing: Option<(String, Vec<String>)>,
    pub(super) span: Span,
    /// What goes on behind the step's name.
    pub(super) message: String,
    pub(super) label: String,
    /// Other places.
    pub(super) beside: Vec<(Span, String)>,
    pub(super) help: String,
}

impl Hazard {
    pub(super) fn concurrently(span: Span, step: FileId) -> Self {
        Self {
            rule: rule::CONCURRENTLY_IN_TRANSACTION,
            step,
            made_in: None,
            facing: None,
            span,
            message: "what runs beside writers cannot run inside of a transaction".to_owned(),
            label: "Postgres refuses CONCURRENTLY here".to_owned(),
            beside: Vec::new(),
            help: "let it be the only statement of a step that begins with `-- no-transaction`, or with the line by which \
                   your migrator runs the statements of a file one by one"
                .to_owned(),
        }
    }

    fn of(effect: &Effect, rule: Rule, message: String, held: Option<&Effect>, help: &str) -> Self {
        let held = held.map(|held| (held.span, format!("{} {} from here to the end", held.lock.stopped(), held.table)));
        Self {
            rule,
            step: effect.span.file,
            made_in: Some(effect.made_in),
            facing: None,
            span: effect.span,
            message,
            label: effect.what.clone(),
            beside: held.into_iter().collect(),
            help: help.to_owned(),
        }
    }
}

const REWRITE: &str = "a default that differs from row to row goes into a second statement, for new rows; another type into a \
                       new column, which the program writes too and batches fill";
const SCAN: &str = "add the constraint NOT VALID, then VALIDATE it in a step of its own, which keeps nobody away; a CHECK \
                    that the column IS NOT NULL spares SET NOT NULL its look";
const INDEX: &str = "write CREATE INDEX CONCURRENTLY in a step of its own outside of a transaction; a key then takes the \
                     index: `ADD CONSTRAINT … UNIQUE USING INDEX …`";
const BACKFILL: &str = "fill the rows in a step of its own, in batches where there are many";
const TIMEOUT: &str = "begin the step with `SET LOCAL lock_timeout = '2s'` (without LOCAL outside of a transaction) and run \
                       it again when it gives up; or, if the migrator does both, write `lock_timeout = true` below \
                       `[migrations]`";

/// What the effects of the statements of Postgres say, transaction by transaction.
fn of_effects(effects: &[Effect]) -> Vec<Hazard> {
    let mut found = Vec::new();
    for transaction in effects.chunk_by(|a, b| a.transaction == b.transaction) {
        for (at, effect) in transaction.iter().enumerate() {
            let held = transaction[..at].iter().filter(|held| held.lock.stops_writers() && held.span != effect.span);
            let held = held.max_by_key(|held| (held.lock, held.table == effect.table));
            let own = Some(effect).filter(|effect| effect.lock.stops_writers());
            // Whoever waits longest is named.
            let stopping = [own, held].into_iter().flatten().max_by_key(|effect| effect.lock);
            let Some((work, stopping)) = effect.work.zip(stopping) else { continue };
            let stopped = format!("{} {} while", stopping.lock.stopped(), stopping.table);
            let table = &effect.table;
            let (rule, meanwhile, help) = match work {
                Work::Rewrite => (rule::TABLE_REWRITE, format!("all of {table} is written anew"), REWRITE),
                Work::Scan => (rule::SCAN_UNDER_LOCK, format!("all of {table} is read"), SCAN),
                Work::Index => (rule::BLOCKING_INDEX, format!("an index of {table} is built"), INDEX),
                Work::Rows => (rule::BACKFILL_UNDER_LOCK, format!("the rows of {table} are gone through"), BACKFILL),
            };
            found.push(Hazard::of(effect, rule, format!("{stopped} {meanwhile}"), held, help));
        }
    }
    found
}

/// Waits for locks without a limit: one for each step and table.
fn without_limit(effects: &[Effect]) -> Vec<Hazard> {
    let mut first: BTreeMap<(FileId, &str), &Effect> = BTreeMap::new();
    for effect in effects.iter().filter(|effect| effect.lock.stops_writers() && !effect.limited) {
        first.entry((effect.span.file, &effect.table)).or_insert(effect);
    }
    let mut by_step: BTreeMap<FileId, Vec<&Effect>> = BTreeMap::new();
    for ((step, _), effect) in first {
        by_step.entry(step).or_default().push(effect);
    }
    let of_step = |mut effects: Vec<&Effect>| {
        effects.sort_by_key(|effect| effect.span);
        let (first, rest) = effects.split_first()?;
        let tables: Vec<&str> = effects.iter().map(|effect| effect.table.as_str()).collect();
        let what = tables.join(", ");
        let message = format!("it waits for {what} as long as others are there, and who comes later waits behind it");
        let mut hazard = Hazard::of(first, rule::LOCK_WITHOUT_TIMEOUT, message, None, TIMEOUT);
        hazard.label = format!("wants {} to itself", first.table);
        hazard.beside = rest.iter().map(|effect| (effect.span, format!("wants {} to itself", effect.table))).collect();
        Some(hazard)
    };
    by_step.into_values().filter_map(of_step).collect()
}

/// What the steps of both dialects do, but for what is allowed. `steps` are the migrations with their names.
pub(crate) fn check(
    config: &Config,
    schemas: &Both<Schema>,
    steps: &Both<Vec<(FileId, &str)>>,
    allowed: &mut Allowed<'_>,
) -> Vec<Diagnostic> {
    let settings = config.migrations.clone().unwrap_or_default();
    let mut found = Vec::new();
    for dialect in Dialect::ALL {
        let schema = &schemas[dialect];
        let mut hazards = schema.hazards.clone();
        hazards.extend(of_effects(&schema.effects));
        if !settings.lock_timeout {
            hazards.extend(without_limit(&schema.effects));
        }
        hazards.retain(|hazard| settings.foreign_keys || hazard.rule.name != rule::DROPPED_PARENT.name);
        hazards.retain(|hazard| is_meant(hazard, &schemas.pg));
        hazards.sort_by_key(|hazard| (hazard.span, hazard.rule.name));
        for hazard in hazards {
            let stem = |file: FileId| steps[dialect].iter().find(|(id, _)| *id == file).map_or("", |(_, stem)| *stem);
            let name = stem(hazard.step);
            let is_told = !allowed.fits(hazard.rule, name, Some(hazard.step));
            let is_new = hazard.made_in.is_some_and(|made| settings.is_new(stem(made)));
            if config.migrations.is_some() && is_told && !is_new && settings.is_checked(name) {
                found.push(finding(hazard, name, dialect));
            }
        }
    }
    found
}

impl Migrations {
    fn is_checked(&self, stem: &str) -> bool {
        self.checked_from.as_ref().is_none_or(|name| order::is_from(stem, name))
    }

    /// Whether no release has the tables that a step makes.
    fn is_new(&self, stem: &str) -> bool {
        self.released.as_ref().is_some_and(|name| order::is_from(stem, name) && !stem.starts_with(name.as_str()))
    }
}

/// Whether a foreign key that went with a rebuild is missed: the other schema still has it, or has no such table.
fn is_meant(hazard: &Hazard, pg: &Schema) -> bool {
    let Some((table, columns)) = &hazard.facing else { return true };
    let has = |table: &Table| table.foreign_keys.iter().any(|key| key.columns == *columns);
    pg.tables.get(table).is_none_or(has)
}

fn finding(hazard: Hazard, step: &str, dialect: Dialect) -> Diagnostic {
    let message = format!("{step} ({}): {}", dialect.title(), hazard.message);
    let severity = RULES.iter().find(|(rule, _)| rule.name == hazard.rule.name).map_or(Severity::Error, |row| row.1);
    let mut found = Diagnostic { severity, ..Diagnostic::error(hazard.rule, message, hazard.span, hazard.label) };
    for (span, label) in hazard.beside {
        found = found.context(span, label);
    }
    let allow =
        format!("or, if it is meant, in it or in `divergences.sql`: `-- allow({}.{step}): <why>`", hazard.rule.name);
    found.help(hazard.help).help(allow)
}

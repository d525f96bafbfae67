//! Compares the two schemas fact by fact, and binds declared divergences to what they waive.
//!
//! Declarations are comment lines as in statement files, `-- diverges(type.TABLE.COLUMN): reason`. They stand in any
//! migration or, where migrations may not change any more, in `divergences.sql` beside the dialects' folders. They
//! always name their item.

use std::collections::BTreeSet;

use super::{By, Check, Column, Fill, ForeignKey, Index, Schema, Table, storage, type_pairs, words};
use crate::config::{Config, DIVERGENCES, FILE};
use crate::diagnostic::{Diagnostic, Severity};
use crate::dialect::{Both, Dialect};
use crate::page::{Annotation, AnnotationKind};
use crate::rule::{self, Rule};
use crate::source::Span;
use crate::types::{Base, Form, Stored};

/// What a schema says, by the word of its declaration, with the rule that reports a difference.
const KINDS: [(&str, Rule); 11] = [
    ("table", rule::SCHEMA_TABLE_DIFFERS),
    ("column", rule::SCHEMA_COLUMN_DIFFERS),
    ("type", rule::SCHEMA_TYPE_DIFFERS),
    ("null", rule::SCHEMA_NULL_DIFFERS),
    ("default", rule::SCHEMA_DEFAULT_DIFFERS),
    ("key", rule::SCHEMA_KEY_DIFFERS),
    ("unique", rule::SCHEMA_UNIQUE_DIFFERS),
    ("foreign-key", rule::SCHEMA_FOREIGN_KEY_DIFFERS),
    ("check", rule::SCHEMA_CHECK_DIFFERS),
    ("index", rule::SCHEMA_INDEX_DIFFERS),
    ("words", rule::SCHEMA_WORDS_DIFFER),
];

/// What the comparison gives.
pub(crate) struct Compared {
    pub(crate) found: Vec<Diagnostic>,
    /// Facts compared; one that both schemas have counts once.
    pub(crate) facts: usize,
    /// Those that differ and are declared to.
    pub(crate) waived: usize,
}

/// Compares the schemas. Declarations that waive nothing are errors too.
pub(crate) fn compare(config: &Config, Both { sqlite, pg }: &Both<Schema>, declared: &[Annotation]) -> Compared {
    let declared = declared.iter().filter_map(|annotation| match &annotation.kind {
        AnnotationKind::Diverges { fact, item, fact_span, .. } => Some(Declared {
            fact: fact.clone(),
            item: item.clone().unwrap_or_default(),
            span: *fact_span,
            line: annotation.span,
            used: false,
        }),
        _ => None,
    });
    let mut pair = Pair { utc: config.is_utc(), declared: declared.collect(), found: Vec::new(), facts: 0, waived: 0 };
    if !sqlite.tables.is_empty() && !pg.tables.is_empty() {
        pair.schemas(sqlite, pg);
    }
    pair.leftovers();
    Compared { found: pair.found, facts: pair.facts, waived: pair.waived }
}

struct Declared {
    fact: String,
    item: String,
    span: Span,
    /// The whole line.
    line: Span,
    used: bool,
}

struct Pair {
    /// Whether sessions on Postgres are in UTC.
    utc: bool,
    declared: Vec<Declared>,
    found: Vec<Diagnostic>,
    facts: usize,
    waived: usize,
}

/// One page's side of a difference: where, and the words under the caret.
type Side = (Span, String);

impl Pair {
    fn schemas(&mut self, sqlite: &Schema, pg: &Schema) {
        let names: BTreeSet<&String> = sqlite.tables.keys().chain(pg.tables.keys()).collect();
        // A stub of an engine's own table is there for tools that read schemas.
        let is_own = |name: &str| name.starts_with("sqlite_") || name.starts_with("pg_");
        for name in names.into_iter().filter(|name| !is_own(name)) {
            match (sqlite.tables.get(name), pg.tables.get(name)) {
                (Some(ours), Some(theirs)) if !theirs.partition => self.tables(ours, theirs),
                (Some(ours), None) => self.alone(ours, "SQLite", "Postgres", pg),
                (None, Some(theirs)) if !theirs.partition => self.alone(theirs, "Postgres", "SQLite", sqlite),
                _ => {}
            }
        }
    }

    /// A table of one schema.
    fn alone(&mut self, table: &Table, here: &str, there: &str, facing: &Schema) {
        let what = if table.view { "view" } else { "table" };
        let message = format!("schema: {what} `{}` is in the {here} schema only", table.name);
        let label = format!("{here} has it, {there} does not");
        let near = facing.tables.values().find(|other| strsim::osa_distance(&other.name, &table.name) <= 2);
        let near = near.map(|other| (other.span, "was it renamed?".to_owned()));
        let help = format!("create it in the {there} schema too, or drop it here");
        self.report("table", &table.name, message, (table.span, label), near, &help);
    }

    fn tables(&mut self, sqlite: &Table, pg: &Table) {
        let name = &sqlite.name;
        self.facts += 1;
        if sqlite.view != pg.view {
            let what = |table: &Table| if table.view { "a view here" } else { "a table here" };
            let message = format!("schema: `{name}` is a view in one schema and a table in the other");
            let (here, there) = ((sqlite.span, what(sqlite).to_owned()), (pg.span, what(pg).to_owned()));
            self.differs("table", name, message, here, Some(there), "make it the same kind of thing in both");
        }
        for column in &sqlite.columns {
            match pg.column(&column.name) {
                Some(other) => self.columns((sqlite, column), (pg, other)),
                None => self.column_alone(name, column, "SQLite", "Postgres", pg),
            }
        }
        for column in pg.columns.iter().filter(|column| sqlite.column(&column.name).is_none()) {
            self.column_alone(name, column, "Postgres", "SQLite", sqlite);
        }
        if sqlite.view || pg.view {
            return;
        }
        self.keys(sqlite, pg);
        self.uniques(sqlite, pg);
        self.foreign_keys(sqlite, pg);
        self.checks(sqlite, pg);
        self.indexes(sqlite, pg);
    }

    fn column_alone(&mut self, table: &str, column: &Column, here: &str, there: &str, facing: &Table) {
        let message = format!("schema: `{table}.{}` is in the {here} schema only", column.name);
        let at = (column.span, format!("{here} has this column"));
        let other = (facing.span, format!("{there} does not have it here"));
        let help = format!("add the column in the {there} schema too, or drop it here");
        self.report("column", &format!("{table}.{}", column.name), message, at, Some(other), &help);
    }

    fn columns(&mut self, (table, ours): (&Table, &Column), (facing, theirs): (&Table, &Column)) {
        let item = format!("{}.{}", table.name, ours.name);
        let both = |here: &str, there: &str| ((ours.span, here.to_owned()), Some((theirs.span, there.to_owned())));
        self.facts += 3;
        let is_bounded = || {
            let mut conditions = table.checks.iter().flat_map(|check| &check.conjuncts);
            type_pairs::bound(theirs).is_some_and(|bound| conditions.any(|condition| *condition == bound))
                || type_pairs::fits(ours, theirs)
        };
        let types = || type_pairs::fault(ours, theirs).filter(|_| !is_bounded());
        let unfit = || storage::unfit(&table.name, ours, theirs).or_else(types);
        if let Some((why, help)) = storage::counted(table, ours, theirs).or_else(unfit) {
            let (here, there) = both(&ours.declared, &theirs.declared);
            self.differs("type", &item, format!("schema: `{item}`: {why}"), here, there, &help);
        }
        if table.view {
            return;
        }
        self.words(&item, (table, ours, Dialect::Sqlite));
        self.words(&item, (facing, theirs, Dialect::Pg));
        // The key of a row that both schemas hold is never NULL: `null-key` looks at what the statements write there.
        let in_key = [table, facing].iter().all(|table| table.primary_key.contains(&ours.name));
        if ours.ty.nullable != theirs.ty.nullable && !in_key {
            let word = |column: &Column| if column.ty.nullable { "may be NULL" } else { "is never NULL" };
            let (here, there) = both(&format!("{} here", word(ours)), &format!("{} here", word(theirs)));
            let message = format!("schema: `{item}` may be NULL in one schema only");
            self.differs("null", &item, message, here, there, "write NOT NULL in both schemas, or in neither");
        }
        let by_form = match (ours.ty.base.stored(), &ours.fill, &theirs.fill) {
            // How the column is held is asked for already.
            (Some(Stored { form: Form::Unsaid, .. }), ..) => Some(Ok(true)),
            (Some(stored), Fill::Value(here), Fill::Value(there)) => {
                Some(storage::same_fill(stored, here, there, self.utc))
            }
            _ => None,
        };
        if let Some(Err((why, help))) = by_form {
            let (here, there) = both(&filled(ours), &filled(theirs));
            self.differs("default", &item, format!("schema: `{item}`: {why}"), here, there, &help);
        } else if by_form != Some(Ok(true)) && !same_fill(ours, theirs) {
            let (here, there) = both(&filled(ours), &filled(theirs));
            let is_computed = matches!((&ours.fill, &theirs.fill), (Fill::Computed(_), Fill::Computed(_)));
            let message = match is_computed {
                true => format!("schema: `{item}` is computed in different ways"),
                false => format!("schema: `{item}` is filled in different ways when an INSERT leaves it out"),
            };
            let help = match (&ours.fill, &theirs.fill) {
                _ if is_computed => "compute it in the same way in both schemas",
                (Fill::RowId, Fill::Numbered) => {
                    "write `INTEGER PRIMARY KEY AUTOINCREMENT` on SQLite: without it the id of a deleted row is given again"
                }
                _ => "write the same default in both schemas",
            };
            self.differs("default", &item, message, here, there, help);
        }
    }

    /// The words of the settings beside those that a schema lists itself.
    fn words(&mut self, item: &str, (table, column, dialect): (&Table, &Column, Dialect)) {
        let settings = column.words.as_ref().filter(|words| words.by == By::Settings);
        let Some((settings, listed)) = settings.zip(words::of_schema(table, column, dialect)) else { return };
        self.facts += 1;
        let Some(missing) = words::missing(&settings.words, &listed.words) else { return };
        let what = if listed.by == By::Enum { "ENUM" } else { "CHECK" };
        let message = format!("schema: the {what} of `{item}` {missing}, other than `[words]`");
        let label = format!("the {what} of {} lists {}", dialect.title(), listed.words.join(", "));
        let help = format!("list the same words in `{FILE}` and in the schemas");
        self.differs("words", item, message, (column.span, label), None, &help);
    }

    fn keys(&mut self, sqlite: &Table, pg: &Table) {
        self.facts += 1;
        let set = |table: &Table| table.primary_key.iter().cloned().collect::<BTreeSet<_>>();
        // UNIQUE and NOT NULL are what a primary key says.
        let says_key_of = |table: &Table, facing: &Table| {
            let is_present = |name: &String| table.column(name).is_some_and(|column| !column.ty.nullable);
            let key = primary(facing);
            key.is_empty() || key.iter().all(is_present) && is_unique_within(table, &key, false)
        };
        if set(sqlite) != set(pg) && !(says_key_of(sqlite, pg) && says_key_of(pg, sqlite)) {
            let word = |table: &Table, facing: &Table| match table.primary_key.is_empty() {
                true if is_unique_by(table, &primary(facing)) => {
                    format!("unique by ({}), which may be NULL, and no primary key", facing.primary_key.join(", "))
                }
                true => "no primary key".to_owned(),
                false => format!("the key is ({})", table.primary_key.join(", ")),
            };
            let message = format!("schema: the primary keys of `{}` differ", sqlite.name);
            let (here, there) = ((sqlite.span, word(sqlite, pg)), (pg.span, word(pg, sqlite)));
            self.differs("key", &sqlite.name, message, here, Some(there), "give both tables the same key");
        }
    }

    fn uniques(&mut self, sqlite: &Table, pg: &Table) {
        type Key = (BTreeSet<String>, bool);
        let of = |table: &Table| -> BTreeSet<Key> {
            let nullable = |name: &String| table.column(name).is_some_and(|column| column.ty.nullable);
            let equal = |columns: &Vec<String>| table.nulls_equal.contains(columns) && columns.iter().any(nullable);
            let key = |columns: &Vec<String>| (columns.iter().cloned().collect(), equal(columns));
            table.unique.iter().map(key).filter(|(columns, _)| *columns != primary(table)).collect()
        };
        let (ours, theirs) = (of(sqlite), of(pg));
        self.facts += ours.union(&theirs).count();
        let same = ours.intersection(&theirs).count();
        self.facts -= ours.len().min(theirs.len()).saturating_sub(same);
        for (columns, nulls_equal) in ours.symmetric_difference(&theirs) {
            let on_sqlite = ours.contains(&(columns.clone(), *nulls_equal));
            let (here, there) = if on_sqlite { (sqlite, pg) } else { (pg, sqlite) };
            let twin = if on_sqlite { &theirs } else { &ours };
            let list = columns.iter().cloned().collect::<Vec<_>>();
            let item = format!("{}.{}", sqlite.name, list.join("."));
            if twin.contains(&(columns.clone(), !nulls_equal)) {
                if !on_sqlite || *nulls_equal {
                    let message = format!("schema: in the unique key `{item}` one schema takes NULLs for equal");
                    let word = |table: &Table| match table.nulls_equal.iter().any(|key| key.len() == columns.len()) {
                        true => "NULLS NOT DISTINCT",
                        false => "every NULL is another",
                    };
                    let (a, b) = ((sqlite.span, word(sqlite).to_owned()), (pg.span, word(pg).to_owned()));
                    self.differs("unique", &item, message, a, Some(b), "declare the columns NOT NULL in both schemas");
                }
                continue;
            }
            if is_unique_within(there, columns, *nulls_equal) {
                continue;
            }
            let message = format!("schema: `{}` is unique by ({}) in one schema only", sqlite.name, list.join(", "));
            let at = (here.span, format!("unique by ({})", list.join(", ")));
            let other = (there.span, "has no such key".to_owned());
            self.differs("unique", &item, message, at, Some(other), "write the UNIQUE in both schemas, or in neither");
        }
    }

    fn foreign_keys(&mut self, sqlite: &Table, pg: &Table) {
        let says = |key: &ForeignKey| {
            let to = if key.referred.is_empty() { String::new() } else { format!(" ({})", key.referred.join(", ")) };
            format!("references {}{to}, on delete {}, on update {}", key.table, key.on_delete, key.on_update)
        };
        let mut theirs: Vec<&ForeignKey> = pg.foreign_keys.iter().collect();
        let item = |key: &ForeignKey| format!("{}.{}", sqlite.name, key.columns.join("."));
        for key in &sqlite.foreign_keys {
            let at = theirs.iter().position(|other| other.columns == key.columns && other.table == key.table);
            let at = at.or_else(|| theirs.iter().position(|other| other.columns == key.columns));
            match at.map(|at| theirs.remove(at)) {
                Some(other) => {
                    self.facts += 1;
                    if !same_reference(key, other) {
                        let message = format!("schema: the foreign keys of `{}` differ", item(key));
                        let (here, there) = ((key.span, says(key)), (other.span, says(other)));
                        let help = "write the same table, columns and actions in both schemas";
                        self.differs("foreign-key", &item(key), message, here, Some(there), help);
                    }
                }
                None => self.only(("foreign-key", &item(key)), "a foreign key", (key.span, says(key)), "SQLite", pg),
            }
        }
        for key in theirs {
            self.only(("foreign-key", &item(key)), "a foreign key", (key.span, says(key)), "Postgres", sqlite);
        }
    }

    fn checks(&mut self, sqlite: &Table, pg: &Table) {
        let mut theirs: Vec<&Check> = pg.checks.iter().collect();
        let mut ours: Vec<&Check> = Vec::new();
        for check in &sqlite.checks {
            let own = without_type_guards(check, sqlite, pg);
            match theirs.iter().position(|other| other.condition == own) {
                Some(at) => {
                    self.facts += 1;
                    theirs.remove(at);
                }
                None if own.is_empty() => self.facts += 1,
                None => ours.push(check),
            }
        }
        let item = |check: &Check| match &check.name {
            Some(name) => format!("{}.{name}", sqlite.name),
            None => sqlite.name.clone(),
        };
        for check in ours {
            let twin = theirs.iter().position(|other| other.name == check.name && check.name.is_some());
            match twin.map(|at| theirs.remove(at)) {
                Some(other) => {
                    let message = format!("schema: the checks `{}` differ", item(check));
                    let (here, there) = ((check.span, check.written.clone()), (other.span, other.written.clone()));
                    self.facts += 1;
                    self.differs("check", &item(check), message, here, Some(there), "write the same condition in both");
                }
                None => {
                    let at = (check.span, check.written.clone());
                    self.only(("check", &item(check)), "a check", at, "SQLite", pg);
                }
            }
        }
        for check in theirs {
            self.only(("check", &item(check)), "a check", (check.span, check.written.clone()), "Postgres", sqlite);
        }
    }

    fn indexes(&mut self, sqlite: &Table, pg: &Table) {
        let says = |index: &Index, predicate: &Option<String>| {
            let unique = if index.unique { "unique " } else { "" };
            let nulls = if index.nulls_equal { ", NULLs are equal" } else { "" };
            let method = index.method.as_ref().map_or(String::new(), |method| format!(" using {method}"));
            let predicate = predicate.as_ref().map_or(String::new(), |text| format!(" where {text}"));
            format!("{unique}on ({}){method}{predicate}{nulls}", index.keys.join(", "))
        };
        let mut theirs: Vec<&Index> = pg.indexes.iter().collect();
        let mut ours = Vec::new();
        for index in &sqlite.indexes {
            let means = |index: &Index| says(index, &index.predicate);
            match theirs.iter().position(|other| means(other) == means(index)) {
                Some(at) => {
                    self.facts += 1;
                    theirs.remove(at);
                }
                None => ours.push(index),
            }
        }
        let says = |index: &Index| says(index, &index.written);
        let item = |index: &Index| format!("{}.{}", sqlite.name, index.name);
        for index in ours {
            match theirs.iter().position(|other| other.name == index.name).map(|at| theirs.remove(at)) {
                Some(other) => {
                    let message = format!("schema: the indexes `{}` differ", item(index));
                    let (here, there) = ((index.span, says(index)), (other.span, says(other)));
                    self.facts += 1;
                    let before = self.found.len();
                    self.differs("index", &item(index), message, here, Some(there), "write the same index in both");
                    // What rows are found by is nothing that a program sees.
                    if !index.unique && !other.unique {
                        self.found[before..].iter_mut().for_each(|found| found.severity = Severity::Warning);
                    }
                }
                None if finds_by_key(pg, index) => self.facts += 1,
                None => self.index_alone(&item(index), (index, says(index)), "SQLite", pg),
            }
        }
        for index in theirs {
            if finds_by_key(sqlite, index) {
                self.facts += 1;
                continue;
            }
            self.index_alone(&item(index), (index, says(index)), "Postgres", sqlite);
        }
    }

    /// An index of one schema. One that refuses nothing is a warning: no program sees whether it is there.
    fn index_alone(&mut self, item: &str, (index, says): (&Index, String), here: &str, facing: &Table) {
        let before = self.found.len();
        self.only(("index", item), "an index", (index.span, says), here, facing);
        if !index.unique {
            self.found[before..].iter_mut().for_each(|finding| finding.severity = Severity::Warning);
        }
    }

    /// Something that a table of one schema has.
    fn only(&mut self, (kind, item): (&str, &str), what: &str, at: Side, here: &str, facing: &Table) {
        let there = if here == "SQLite" { "Postgres" } else { "SQLite" };
        let message = format!("schema: `{}` has {what} in the {here} schema only", facing.name);
        let other = (facing.span, format!("{there} does not have it here"));
        let help = format!("write it in the {there} schema too, or drop it here");
        self.report(kind, item, message, at, Some(other), &help);
    }

    /// A fact that one schema alone has.
    fn report(&mut self, kind: &str, item: &str, message: String, at: Side, other: Option<Side>, help: &str) {
        self.facts += 1;
        self.differs(kind, item, message, at, other, help);
    }

    /// Reports a difference unless it is declared.
    fn differs(&mut self, kind: &str, item: &str, message: String, at: Side, other: Option<Side>, help: &str) {
        let mut waived = false;
        for declared in self.declared.iter_mut().filter(|d| d.fact == kind && d.item == item) {
            declared.used = true;
            waived = true;
        }
        if waived {
            self.waived += 1;
            return;
        }
        let rule = KINDS.iter().find(|(word, _)| *word == kind).map_or(rule::SCHEMA_TABLE_DIFFERS, |(_, rule)| *rule);
        let mut found = Diagnostic::error(rule, message, at.0, at.1);
        if let Some((span, label)) = other {
            found = found.and(span, label);
        }
        let found = found.help(help).help(format!(
            "or, if the difference is meant, in `{DIVERGENCES}`: `-- diverges({kind}.{item}): <why the schemas may differ here>`"
        ));
        self.found.push(found);
    }

    fn leftovers(&mut self) {
        // Where something differs, a declaration that names no difference may have been meant for it.
        let agree = self.found.is_empty() && self.facts > 0;
        for declared in std::mem::take(&mut self.declared) {
            let known = KINDS.iter().any(|(word, _)| *word == declared.fact);
            if declared.used {
                continue;
            }
            let finding = if !known || declared.item.is_empty() {
                let message = format!("schema: `{}` does not name one fact of a schema", declared.fact);
                let words: Vec<&str> = KINDS.iter().map(|(word, _)| *word).collect();
                Diagnostic::error(rule::UNKNOWN_DIVERGENCE, message, declared.span, "not a kind of fact with its item")
                    .help(format!("write `-- diverges(KIND.TABLE.NAME): REASON`; the kinds are: {}", words.join(", ")))
            } else {
                let message = format!("schema: `-- diverges({}.{})` names no difference", declared.fact, declared.item);
                let finding =
                    Diagnostic::error(rule::UNUSED_DIVERGENCE, message, declared.span, "nothing differs there")
                        .help("remove the declaration: the schemas agree without it");
                if agree { finding.fix("delete the line", declared.line, "") } else { finding }
            };
            self.found.push(finding);
        }
    }
}

fn primary(table: &Table) -> BTreeSet<String> {
    table.primary_key.iter().cloned().collect()
}

fn is_unique_by(table: &Table, columns: &BTreeSet<String>) -> bool {
    table.unique.iter().any(|key| key.iter().cloned().collect::<BTreeSet<_>>() == *columns)
}

/// Whether no two rows of a table are alike in these columns, because a key says so of some of them.
fn is_unique_within(table: &Table, columns: &BTreeSet<String>, nulls_are_alike: bool) -> bool {
    let is_present = |name: &String| table.column(name).is_some_and(|column| !column.ty.nullable);
    let nulls =
        |key: &[String]| !nulls_are_alike || table.nulls_equal.contains(&key.to_vec()) || key.iter().all(is_present);
    let mut keys = table.keys();
    keys.any(|key| !key.is_empty() && key.iter().all(|name| columns.contains(name)) && nulls(key))
}

/// Whether a key of a table is an index that finds what this one finds.
fn finds_by_key(table: &Table, index: &Index) -> bool {
    let is_plain = !index.unique && index.predicate.is_none() && index.method.is_none();
    is_plain && table.keys().any(|key| key.starts_with(&index.keys))
}

fn same_reference(a: &ForeignKey, b: &ForeignKey) -> bool {
    // Both engines check at once and refuse alike, unless they are told to wait.
    let word = |action: &str| if action == "restrict" { "no action".to_owned() } else { action.to_owned() };
    let referred = a.referred == b.referred || a.referred.is_empty() || b.referred.is_empty();
    a.table == b.table
        && referred
        && word(&a.on_delete) == word(&b.on_delete)
        && word(&a.on_update) == word(&b.on_update)
}

/// The condition of a check of SQLite without what the types of Postgres say by themselves: a flag is 0 or 1, JSON is
/// valid, an id has 16 bytes. Nothing is left of one that says no more than that.
fn without_type_guards(check: &Check, sqlite: &Table, pg: &Table) -> String {
    let left: Vec<&String> = check.conjuncts.iter().filter(|condition| !guards_type(condition, sqlite, pg)).collect();
    match left.as_slice() {
        [] => String::new(),
        [one] => (*one).clone(),
        all if all.len() == check.conjuncts.len() => check.condition.clone(),
        all => super::text::all_of(all.iter().map(|condition| (*condition).clone()).collect()),
    }
}

/// Whether a condition of SQLite says what the type of Postgres says by itself.
fn guards_type(condition: &String, sqlite: &Table, pg: &Table) -> bool {
    sqlite.columns.iter().any(|column| {
        let Some(other) = pg.column(&column.name) else { return false };
        let name = &column.name;
        let texts = match other.ty.base {
            Base::Bool => vec![format!("in({name}, list(0, 1))")],
            Base::Json | Base::TextArray | Base::Int64Array | Base::UuidArray => vec![format!("json_valid({name})")],
            Base::Enum(ref words) => vec![words_check(name, &words.words)],
            Base::Uuid => vec![format!("=(16, length({name}))"), format!("=(length({name}), 16)")],
            Base::Text => type_pairs::bound(other).into_iter().collect(),
            _ => Vec::new(),
        };
        texts.contains(condition)
    })
}

/// The check of SQLite that lets a column hold the words of an enum and no others.
fn words_check(column: &str, words: &[String]) -> String {
    let mut words: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    words.sort();
    format!("in({column}, list({}))", words.join(", "))
}

fn same_fill(sqlite: &Column, pg: &Column) -> bool {
    match (&sqlite.fill, &pg.fill) {
        (Fill::Value(ours), Fill::Value(theirs)) => {
            let is_array = pg.ty.base.is_list();
            // A document that is checked is that document.
            let ours = ours.strip_prefix("json(").and_then(|rest| rest.strip_suffix(')')).unwrap_or(ours.as_str());
            // Each engine writes its clock in its own form.
            let clock = ["current_timestamp", "current_date", "current_time"].contains(&ours);
            (ours == theirs && !clock) || (is_array && ours == "'[]'" && ["'{}'", "array[]"].contains(&theirs.as_str()))
        }
        // An INSERT that leaves a row id out fails on Postgres, and is found where it is written.
        (Fill::RowId, Fill::Nothing) => true,
        (ours, theirs) => ours == theirs,
    }
}

fn filled(column: &Column) -> String {
    match &column.fill {
        Fill::Nothing if column.ty.nullable => "NULL".to_owned(),
        Fill::Nothing => "no default".to_owned(),
        Fill::Value(text) => format!("default {text}"),
        Fill::Numbered => "numbered, never the same number twice".to_owned(),
        Fill::RowId => "a row id, which may be one of a deleted row".to_owned(),
        Fill::Computed(text) => format!("computed: {text}"),
    }
}

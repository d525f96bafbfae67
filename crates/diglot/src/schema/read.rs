//! Plays migrations in their order and keeps the tables that they leave.

use std::collections::{BTreeMap, BTreeSet};

use sqlparser::ast::DataType;
use sqlparser::ast::{
    AlterType, AlterTypeAddValue, AlterTypeAddValuePosition, AlterTypeOperation, CreateIndex, ObjectName, ObjectType,
    Spanned, Statement, UserDefinedTypeRepresentation,
};

use super::migration::{self, Piece, Use};
use super::raising::Raising;
use super::rebuild::Beside;
use super::step::Step;
use super::{Index, Schema, Table, column_type, key, text, up};
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::rule;
use crate::source::{FileId, Sources, Span};
use crate::split::built;
use crate::types::{Base, Enum};

/// Reads the migrations of one dialect, in the order of `files`.
///
/// What cannot be read is a `schema-unreadable` finding at its place; everything else still counts.
pub fn read(sources: &Sources, files: &[FileId], dialect: Dialect) -> (Schema, Vec<Diagnostic>) {
    let mut reader = Reader::new(dialect);
    files.iter().for_each(|file| reader.file(sources, *file));
    reader.settle_raising();
    (reader.schema, reader.found)
}

/// The same, with a look at the tables behind each of the files.
pub(crate) fn read_along(sources: &Sources, files: &[FileId], dialect: Dialect, mut behind: impl FnMut(&Schema)) {
    let mut reader = Reader::new(dialect);
    for file in files {
        reader.file(sources, *file);
        behind(&reader.schema);
    }
}

/// The state between two statements.
pub(super) struct Reader {
    pub(super) dialect: Dialect,
    pub(super) schema: Schema,
    /// Types that the migrations created, by name.
    pub(super) types: BTreeMap<String, Base>,
    /// Unique indexes without a predicate: their table and columns, by the index's name.
    pub(super) indexes: BTreeMap<String, (String, Vec<String>)>,
    /// What triggers of SQLite refuse.
    pub(super) raising: Vec<Raising>,
    /// What is read now stands under conditions that ask whether it is there.
    pub(super) guarded: bool,
    /// Domains that not every value of their type belongs to.
    pub(super) strict_domains: BTreeSet<String>,
    /// Triggers and views of SQLite, by name.
    pub(super) beside: BTreeMap<String, Beside>,
    /// The step that is read.
    pub(super) step: Step,
    migration: String,
    found: Vec<Diagnostic>,
}

impl Reader {
    fn new(dialect: Dialect) -> Self {
        let schema = Schema {
            dialect,
            tables: BTreeMap::new(),
            enums: BTreeMap::new(),
            functions: BTreeMap::new(),
            triggers: Vec::new(),
            remarks: Vec::new(),
            effects: Vec::new(),
            hazards: Vec::new(),
        };
        Self {
            dialect,
            schema,
            types: BTreeMap::new(),
            indexes: BTreeMap::new(),
            raising: Vec::new(),
            guarded: false,
            strict_domains: BTreeSet::new(),
            beside: BTreeMap::new(),
            step: Step::none(),
            migration: String::new(),
            found: Vec::new(),
        }
    }

    /// Plays a migration.
    fn file(&mut self, sources: &Sources, file: FileId) {
        let source = sources.file(file);
        let name = source.path.rsplit('/').next().unwrap_or(&source.path);
        self.migration = name.strip_suffix(".sql").unwrap_or(name).to_owned();
        self.step = Step::of(file, up(&source.text), self.dialect, &self.step);
        for one in source.embedded.iter().filter(|one| !one.holes.is_empty()) {
            self.report(built::finding(file, &one.unread, &one.name, one));
        }
        for piece in migration::pieces(up(&source.text), file, self.dialect) {
            if self.dialect == Dialect::Pg && piece.is_block() {
                self.in_block(|reader| reader.block(&source.text, &piece));
                continue;
            }
            if self.dialect == Dialect::Pg && piece.purpose() == Use::Pass {
                super::routines::read(&mut self.schema, sources.text(piece.span), piece.span);
            }
            self.piece(&piece);
        }
        self.end_rebuild();
    }

    pub(super) fn piece(&mut self, piece: &Piece) {
        if let Some(open) = piece.open {
            self.unreadable(
                "a text or a comment is not closed",
                open,
                "opened here",
                "close it; the rest of this file is not read",
            );
            return;
        }
        if piece.purpose() == Use::Pass {
            self.watch(piece, None);
        }
        match piece.purpose() {
            Use::Pass if piece.creates("trigger") => {
                self.trigger(piece);
                if self.dialect == Dialect::Sqlite {
                    self.raising(piece);
                }
            }
            Use::Pass if self.dialect == Dialect::Sqlite => self.forget_raising(piece),
            Use::Pass => {}
            Use::Read if piece.creates("virtual") => self.virtual_table(piece),
            Use::Unknown => {
                let first = piece.words.first().map_or("", String::as_str);
                let span = Span { end: piece.span.start + first.len().max(1) as u32, ..piece.span };
                let help = "statements that shape tables are CREATE TABLE, VIEW and UNIQUE INDEX, ALTER TABLE and DROP";
                self.unreadable("a statement of an unknown kind", span, "not known", help);
            }
            Use::Read => match piece.parse(self.dialect) {
                Ok(statement) => {
                    self.watch(piece, Some(&statement));
                    self.apply(piece, &statement);
                }
                Err(_) if piece.leaves_columns_alone() || piece.is_plain_index() => self.watch(piece, None),
                Err((message, span)) => {
                    let help = "the tables of this statement are unknown to the statements; write it in a plainer form";
                    self.unreadable(&message, span, "not understood from here", help);
                }
            },
        }
    }

    fn apply(&mut self, piece: &Piece, statement: &Statement) {
        self.refused(piece, statement);
        match statement {
            Statement::CreateTable(create) => self.create_table(piece, create),
            Statement::AlterTable(alter) => self.alter_table(piece, alter),
            Statement::CreateIndex(create) => self.create_index(piece, create),
            Statement::CreateView(create) => self.create_view(piece, create),
            Statement::Drop { object_type, names, .. } => {
                for name in names {
                    self.drop(object_type, &last(name));
                }
            }
            Statement::CreateType { name, representation: Some(UserDefinedTypeRepresentation::Enum { labels }) } => {
                let words = labels.iter().map(|label| label.value.clone()).collect();
                let named = Enum { name: last(name), words };
                self.schema.enums.insert(named.name.clone(), named);
            }
            Statement::AlterType(AlterType { name, operation: AlterTypeOperation::AddValue(added) }) => {
                self.add_word(&last(name), added);
            }
            Statement::CreateDomain(create) => {
                if !create.constraints.is_empty() || piece.raw.to_lowercase().contains("not null") {
                    self.strict_domains.insert(last(&create.name));
                }
                if let Some(base) = self.base(&create.data_type) {
                    self.types.insert(last(&create.name), base);
                }
            }
            _ => {}
        }
    }

    fn drop(&mut self, kind: &ObjectType, name: &str) {
        match kind {
            ObjectType::Table | ObjectType::View | ObjectType::MaterializedView => {
                self.schema.tables.remove(name);
                self.schema.triggers.retain(|trigger| trigger.table != name);
                self.raising.retain(|raising| !raising.is_of(name));
                self.indexes.retain(|_, (table, _)| table != name);
            }
            ObjectType::Index => {
                for table in self.schema.tables.values_mut() {
                    table.indexes.retain(|index| index.name != name);
                }
                if let Some((table, columns)) = self.indexes.remove(name)
                    && let Some(table) = self.schema.tables.get_mut(&table)
                {
                    table.drop_unique(&columns);
                }
            }
            _ => {}
        }
    }

    /// A word more in an enum; columns that were made before have it too.
    fn add_word(&mut self, name: &str, added: &AlterTypeAddValue) {
        let Some(words) = self.schema.enums.get_mut(name) else { return };
        let word = added.value.value.clone();
        if words.words.contains(&word) {
            return;
        }
        let place = |other: &str| words.words.iter().position(|known| known == other);
        let at = match &added.position {
            Some(AlterTypeAddValuePosition::Before(next)) => place(&next.value),
            Some(AlterTypeAddValuePosition::After(before)) => place(&before.value).map(|at| at + 1),
            None => None,
        };
        words.words.insert(at.unwrap_or(words.words.len()), word);
        let words = words.clone();
        for column in self.schema.tables.values_mut().flat_map(|table| &mut table.columns) {
            if matches!(&column.ty.base, Base::Enum(known) if known.name == words.name) {
                column.ty.base = Base::Enum(Box::new(words.clone()));
            }
        }
    }

    fn create_index(&mut self, piece: &Piece, create: &CreateIndex) {
        let plain_key = create.unique && create.predicate.is_none() && key::columns(&create.columns).is_some();
        if plain_key {
            self.create_unique_index(create);
            return;
        }
        let span = create.name.as_ref().map_or(piece.span, |name| piece.place(name.span()));
        let dialect = self.dialect;
        let Some(table) = self.schema.tables.get_mut(&last(&create.table_name)) else { return };
        let mut create = create.clone();
        if dialect == Dialect::Sqlite {
            text::take_quoted_texts(&mut create, |name| table.column(name).is_some());
        }
        let index = Index::of(&create, span);
        if !table.indexes.iter().any(|known| known.name == index.name) {
            table.indexes.push(index);
        }
    }

    /// A unique index makes a key when it has no predicate and no expression.
    fn create_unique_index(&mut self, create: &CreateIndex) {
        let table = last(&create.table_name);
        let (None, Some(columns)) = (&create.predicate, key::columns(&create.columns)) else {
            return;
        };
        if let Some(found) = self.schema.tables.get_mut(&table) {
            found.add_unique(columns.clone());
            if create.nulls_distinct == Some(false) {
                found.nulls_equal.push(columns.clone());
            }
            if let Some(name) = &create.name {
                self.indexes.insert(last(name), (table, columns));
            }
        }
    }

    /// The logical type of a declared type, of this dialect or made by the migrations.
    pub(super) fn base(&self, declared: &DataType) -> Option<Base> {
        let name = column_type::plain(declared);
        let own = name.rsplit('.').next().unwrap_or(&name);
        let words = || self.schema.enums.get(own).map(|words| Base::Enum(Box::new(words.clone())));
        self.types.get(own).cloned().or_else(words).or_else(|| column_type::base(self.dialect, declared))
    }

    /// The table, or a finding that there is none.
    pub(super) fn table(&mut self, piece: &Piece, name: &ObjectName) -> Option<&mut Table> {
        let lower = last(name);
        if !self.schema.tables.contains_key(&lower) && !self.guarded {
            let message = format!("there is no table `{lower}`");
            self.unreadable(
                &message,
                piece.place(name.span()),
                "not created before",
                "create it in an earlier migration",
            );
        }
        self.schema.tables.get_mut(&lower)
    }

    /// The schema that a name of Postgres has before it, unless every session looks into that.
    pub(super) fn within(&self, name: &ObjectName) -> Option<String> {
        let [.., schema, _] = name.0.as_slice() else { return None };
        let schema = schema.as_ident().map(key::lower).filter(|_| self.dialect == Dialect::Pg);
        schema.filter(|schema| !["public", "pg_temp", "pg_catalog"].contains(&schema.as_str()))
    }

    /// A name of Postgres as it has to be written, where that takes quotes for its capitals.
    pub(super) fn quoted(&self, name: &ObjectName) -> Option<String> {
        let ident = name.0.last()?.as_ident().filter(|_| self.dialect == Dialect::Pg)?;
        let has_capitals = ident.quote_style.is_some() && ident.value != ident.value.to_lowercase();
        has_capitals.then(|| ident.value.clone())
    }

    /// A finding about something that could not be read.
    pub(super) fn unreadable(&mut self, message: &str, span: Span, label: &str, help: &str) {
        let message = format!("{}: {message}", self.titled());
        self.report(Diagnostic::error(rule::SCHEMA_UNREADABLE, message, span, label).help(help));
    }

    pub(super) fn report(&mut self, finding: Diagnostic) {
        self.found.push(finding);
    }

    /// The migration that is read, as messages name it.
    pub(super) fn titled(&self) -> String {
        format!("{} ({})", self.migration, self.dialect.title())
    }

    /// A type of which nothing is known: one that is a slip of the finger away from a known one counts as that, so that
    /// nothing follows from it, and any other one is taken as text.
    pub(super) fn unknown_type(&mut self, declared: &str, column: &str, span: Span) -> Base {
        let Some((word, base)) = column_type::meant(self.dialect, declared) else {
            let message = format!("the type `{declared}` of {column} has no counterpart in a generated API");
            self.untyped(&message, span, "cast the column in the statements that read it");
            return Base::Text;
        };
        let message = format!("there is no type `{declared}`, which {column} is to have");
        self.unreadable(&message, span, &format!("did you mean `{word}`?"), &format!("write `{word}`"));
        base
    }

    /// The same for something that leaves only a column's type open.
    pub(super) fn untyped(&mut self, message: &str, span: Span, help: &str) {
        let message = format!("{}: {message}", self.titled());
        self.report(Diagnostic::warning(rule::SCHEMA_UNREADABLE, message, span, "taken as text").help(help));
    }
}

/// The last part of a qualified name, in lower case.
pub(super) fn last(name: &ObjectName) -> String {
    name.0.last().and_then(|part| part.as_ident()).map(key::lower).unwrap_or_default()
}

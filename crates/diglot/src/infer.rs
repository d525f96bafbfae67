//! Parameter and column types of a pair: the finer type of the two pages decides.
//!
//! Types come from what a parameter meets: the column it is compared with or written to, the other side of
//! an operator, a cast. Annotations have the last word. Nothing is compared here; that two pages give
//! different columns is the business of `compare`.

pub(crate) mod columns;
mod evidence;
pub(crate) mod handed;
pub(crate) mod keys;
#[doc(hidden)]
pub mod origin;
mod params;
mod rows;
pub(crate) mod tables;
pub mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::diagnostic::Diagnostic;
use crate::dialect::{Both, Dialect};
use crate::names::nearest;
use crate::page::{Annotation, AnnotationKind, Cardinality, Chooser, RawStatement};
use crate::rule;
use crate::schema::Schema;
use crate::source::Span;
use crate::tree::Statement;
use crate::types::{Base, Stored, Type};

/// What a generated function takes and gives.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Signature {
    /// The file's stem.
    pub noun: String,
    /// `noun_verb`.
    pub name: String,
    /// Rustdoc lines.
    pub docs: Vec<String>,
    /// How many rows.
    pub cardinality: Cardinality,
    /// The dialects that have it, both or one.
    pub dialects: Vec<Dialect>,
    /// Parameters in numbering order (first occurrence on the first page).
    pub params: Vec<Param>,
    /// The list of rows that it takes beside them, if it takes one.
    pub rows: Option<RowsParam>,
    /// Result columns in order.
    pub columns: Vec<ResultColumn>,
}

/// The list of rows that a generated function takes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RowsParam {
    /// Its name.
    pub name: String,
    /// What each row has.
    pub fields: Vec<Param>,
    /// The fields that no two rows of a call have alike.
    pub key: Vec<String>,
    /// How it is known which row an answer belongs to; nothing where none come.
    pub matched: Option<Matched>,
    /// The calls that its rows are, if it faces a statement for one row.
    pub calls: Option<Calls>,
}

/// The calls that the rows of a list are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    /// The statement for one row.
    pub of: String,
    /// The field that those of one list have alike.
    pub by: Option<String>,
}

/// How an answer's row is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Matched {
    /// By the number of the row, which is a column of the result.
    Ordinality,
    /// By the key, whose fields are columns of the result.
    Key,
}

/// A parameter of a signature.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// A Rust path from `diglot.toml`, if its column has one.
    pub rust: Option<String>,
    /// Whether it may be left out, and its optional part with it.
    pub optional: bool,
    /// How SQLite is to get it, where that is not by its type.
    pub stored: Option<Stored>,
    /// Whether it is a LIMIT or an OFFSET on both pages, as it is. Postgres refuses a negative one; SQLite takes all rows.
    pub counts_rows: bool,
    /// Of a list of that Rust type: what its items' column holds.
    pub element: Option<Base>,
    /// The key of the settings that it is a field of, by its name: the function takes the key in its place.
    pub within: Option<String>,
}

/// The parameter by which a caller chooses the order of the rows.
pub const CHOICE: &str = "order";

impl Param {
    /// A parameter of that name and type, and nothing else.
    pub(crate) fn plain(name: impl Into<String>, ty: Type) -> Self {
        let name = name.into();
        Self { name, ty, rust: None, optional: false, stored: None, counts_rows: false, element: None, within: None }
    }

    /// The key of a page whose value it is, and the column that it is of.
    pub fn of_key(&self) -> Option<(&str, &str)> {
        self.name.split_once('.')
    }

    /// Whether a text that has these optional parts needs it.
    pub fn is_given(&self, parts: &[Chooser]) -> bool {
        let chosen = match self.of_key() {
            Some((key, _)) => parts.iter().any(|part| part.page() == Some(key)),
            None => parts.iter().any(|part| matches!(part, Chooser::Parameter(name) if *name == self.name)),
        };
        chosen || !self.optional
    }

    /// Whether it chooses the order, and is bound nowhere.
    pub fn is_choice(&self) -> bool {
        self.name == CHOICE && matches!(&self.ty.base, Base::Enum(words) if words.is_of_orders())
    }
}

/// A result column of a signature.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ResultColumn {
    /// Its name.
    pub name: String,
    /// The finer type.
    pub ty: Type,
    /// A Rust path from `diglot.toml`, if its column has one.
    pub rust: Option<String>,
    /// What SQLite itself gives (`None` when it has no such page).
    pub sqlite: Option<Base>,
    /// What Postgres itself gives.
    pub pg: Option<Base>,
    /// The key of the settings that it is a field of, by its name: the row has the key in its place.
    pub within: Option<String>,
}

impl ResultColumn {
    /// What the engine of a dialect gives, where known.
    pub fn on(&self, dialect: Dialect) -> Option<&Base> {
        match dialect {
            Dialect::Sqlite => self.sqlite.as_ref(),
            Dialect::Pg => self.pg.as_ref(),
        }
    }
}

impl Signature {
    /// What the texts of a statement are made with of which no function can be made.
    pub(crate) fn of_texts(noun: &str, raw: &RawStatement, params: Vec<Param>) -> Self {
        Self {
            noun: noun.to_owned(),
            name: raw.name.clone(),
            docs: Vec::new(),
            cardinality: raw.cardinality,
            dialects: Dialect::ALL.to_vec(),
            params,
            rows: None,
            columns: Vec::new(),
        }
    }
}

impl fmt::Display for Signature {
    /// `lease_renew(lease_epoch: i64) :opt -> (expires_at_ms: i64 null)`, with newtypes in brackets, and `key.` before the
    /// fields of a key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = |name: &str, within: &Option<String>, ty: &Type, rust: &Option<String>| {
            let key = within.as_ref().map_or_else(String::new, |key| format!("{key}."));
            let rust = rust.as_ref().map_or_else(String::new, |path| format!(" [{path}]"));
            format!("{key}{name}: {ty}{rust}")
        };
        let param = |p: &Param| {
            let optional = if p.optional { " optional" } else { "" };
            field(&p.name, &p.within, &p.ty, &p.rust) + optional
        };
        let mut params: Vec<String> = self.params.iter().map(param).collect();
        if let Some(rows) = &self.rows {
            let field = |p: &Param| param(p) + if rows.key.contains(&p.name) { " key" } else { "" };
            let fields: Vec<String> = rows.fields.iter().map(field).collect();
            params.push(format!("{}: [{}]", rows.name, fields.join(", ")));
        }
        let columns: Vec<String> = self.columns.iter().map(|c| field(&c.name, &c.within, &c.ty, &c.rust)).collect();
        write!(f, "{}({}) :{}", self.name, params.join(", "), word(self.cardinality))?;
        if columns.is_empty() { Ok(()) } else { write!(f, " -> ({})", columns.join(", ")) }
    }
}

/// One page of a pair.
pub struct PageOf<'a> {
    /// What is written.
    pub raw: &'a RawStatement,
    /// What was understood of it.
    pub tree: &'a Statement,
    /// What its names mean.
    pub schema: &'a Schema,
}

/// Infers the signature of a pair, or of a page that stands alone by `-- only`.
pub(crate) fn signature(
    config: &Config,
    noun: &str,
    sqlite: Option<PageOf<'_>>,
    pg: Option<PageOf<'_>>,
) -> (Option<Signature>, Vec<Diagnostic>) {
    let pages: Vec<&PageOf<'_>> = [&sqlite, &pg].into_iter().flatten().collect();
    of_pages(config, noun, &pages, None)
}

/// The signature that one page of a broken pair has; a SQLite page takes finer types from the schema of
/// Postgres.
pub fn shape(config: &Config, noun: &str, page: &PageOf<'_>, facing: Option<&Schema>) -> Option<Signature> {
    of_pages(config, noun, &[page], facing).0
}

/// What is known of a pair of which no function can be made.
pub struct PartialSignature {
    /// Its parameters.
    pub params: Vec<Param>,
    /// Those of them that have no type.
    pub untyped: BTreeSet<String>,
    /// Its columns, with the types on which both pages agree.
    pub columns: Vec<(String, Option<Base>)>,
}

/// The signature of a pair of which no function can be made, as far as it is known.
pub fn partial_signature(config: &Config, pages: Both<&PageOf<'_>>) -> PartialSignature {
    let (params, untyped) = params::partial(config, &[pages.sqlite, pages.pg]);
    let columns = columns::partial(pages, &params);
    PartialSignature { params, untyped, columns }
}

fn of_pages(
    config: &Config,
    noun: &str,
    pages: &[&PageOf<'_>],
    facing: Option<&Schema>,
) -> (Option<Signature>, Vec<Diagnostic>) {
    let Some(first) = pages.first() else { return (None, Vec::new()) };
    let mut found = Vec::new();
    let params = params::infer(config, pages, facing, &mut found);
    let columns = columns::infer(config, pages, params.as_deref().unwrap_or(&[]), facing, &mut found);
    let rows = rows::infer(config, pages, columns.as_deref(), &mut found);
    unused_annotations(pages, columns.as_deref(), &mut found);
    rows_of_a_unit(pages, &mut found);
    let cardinality = first.raw.cardinality;
    if let Some(columns) = &columns {
        fits_cardinality(first, cardinality, columns, &mut found);
    }
    let docs = pages.iter().map(|page| &page.raw.docs).find(|docs| !docs.is_empty()).cloned();
    let signature = params.zip(columns).zip(rows).map(|((params, columns), rows)| Signature {
        noun: noun.to_owned(),
        name: first.raw.name.clone(),
        docs: docs.unwrap_or_default(),
        cardinality,
        dialects: pages.iter().map(|page| page.tree.dialect).collect(),
        params,
        rows,
        columns,
    });
    (signature, found)
}

/// The type that an annotation of a page gives to a parameter.
fn param_annotation<'a>(pages: &[&'a PageOf<'_>], name: &str) -> Vec<(&'a Annotation, &'a Type)> {
    annotations(pages)
        .filter_map(|annotation| match &annotation.kind {
            AnnotationKind::Param { name: named, ty } if named == name => Some((annotation, ty)),
            _ => None,
        })
        .collect()
}

/// The type that an annotation of a page gives to a result column.
fn column_annotation<'a>(pages: &[&'a PageOf<'_>], name: &str) -> Vec<(&'a Annotation, &'a Type)> {
    annotations(pages)
        .filter_map(|annotation| match &annotation.kind {
            AnnotationKind::Column { name: named, ty } if named == name => Some((annotation, ty)),
            _ => None,
        })
        .collect()
}

fn annotations<'a>(pages: &[&'a PageOf<'_>]) -> impl Iterator<Item = &'a Annotation> {
    pages.iter().flat_map(|page| page.raw.annotations.iter()).collect::<Vec<_>>().into_iter()
}

/// The one annotation that holds; two that differ are a finding.
fn declared(
    what: &'static str,
    statement: &str,
    name: &str,
    annotations: &[(&Annotation, &Type)],
    found: &mut Vec<Diagnostic>,
) -> Option<Type> {
    let (first, ty) = annotations.first()?;
    if let [(sqlite, ours), (pg, theirs)] = annotations
        && sqlite.span.file != pg.span.file
        && ours.nullable == theirs.nullable
        && let Some(base) = Base::finer(&ours.base, &theirs.base)
    {
        // Each page may name the type as its engine has it.
        return Some(Type { base, nullable: ours.nullable });
    }
    if let Some((other, other_ty)) = annotations.iter().find(|(_, other)| other != ty) {
        let rule = if what == "param" { rule::PARAM_TYPE_CONFLICT } else { rule::COLUMN_TYPE_CONFLICT };
        let message = format!("{statement}: `{name}` is declared both `{ty}` and `{other_ty}`");
        found.push(
            Diagnostic::error(rule, message, first.span, format!("`{ty}` here"))
                .and(other.span, format!("`{other_ty}` here"))
                .help("declare it once; one page is enough"),
        );
    }
    Some((*ty).clone())
}

fn unused_annotations(pages: &[&PageOf<'_>], columns: Option<&[ResultColumn]>, found: &mut Vec<Diagnostic>) {
    let params: BTreeSet<&str> = pages.iter().flat_map(|p| p.tree.params.iter().map(|u| u.name.as_str())).collect();
    for page in pages {
        for annotation in &page.raw.annotations {
            let (what, name, near) = match &annotation.kind {
                AnnotationKind::Param { name, .. } if !params.contains(name.as_str()) => {
                    ("parameter", name, nearest(name, params.iter().copied()))
                }
                AnnotationKind::Column { name, .. }
                    if columns.is_some_and(|columns| columns.iter().all(|c| c.name != *name)) =>
                {
                    let names = columns.into_iter().flatten().map(|column| column.name.as_str());
                    ("result column", name, nearest(name, names))
                }
                _ => continue,
            };
            let message = format!("{}: there is no {what} `{name}`", page.raw.name);
            let label = near.map_or("declares nothing".to_owned(), |near| format!("did you mean `{near}`?"));
            found.push(
                Diagnostic::error(rule::UNUSED_ANNOTATION, message, annotation.span, label)
                    .help("delete the line, or correct the name")
                    .suggest("delete the line", annotation.span, ""),
            );
        }
    }
}

/// A unit whose statements return rows twice would hand both kinds of row to one reader.
fn rows_of_a_unit(pages: &[&PageOf<'_>], found: &mut Vec<Diagnostic>) {
    for page in pages {
        for (i, part) in page.tree.parts.iter().enumerate() {
            let returns = part.name.is_none() && columns::gives_rows(part);
            if returns && page.tree.result.is_some_and(|result| result != i) {
                let message = format!("{}: two statements of the unit return rows", page.raw.name);
                found.push(
                    Diagnostic::error(
                        rule::CARDINALITY_COLUMNS,
                        message,
                        part.span,
                        "its rows would mix with the result's",
                    )
                    .help("drop its RETURNING, or split the unit"),
                );
            }
        }
    }
}

fn fits_cardinality(
    page: &PageOf<'_>,
    cardinality: Cardinality,
    columns: &[ResultColumn],
    found: &mut Vec<Diagnostic>,
) {
    let name = &page.raw.name;
    let wants_rows =
        matches!(cardinality, Cardinality::One | Cardinality::Opt | Cardinality::Many | Cardinality::Stream);
    let word = word(cardinality);
    let mut report = |message: String, span: Span, label: &str, help: &str| {
        found.push(Diagnostic::error(rule::CARDINALITY_COLUMNS, message, span, label.to_owned()).help(help.to_owned()));
    };
    if wants_rows && columns.is_empty() {
        let message = format!("{name}: `:{word}` promises rows, but the statement returns none");
        report(
            message,
            page.raw.cardinality_span,
            "no columns come back",
            "write `:exec` or `:rows`, or add RETURNING",
        );
    } else if !wants_rows && !columns.is_empty() {
        let message = format!("{name}: `:{word}` gives no rows, but the statement returns some");
        let help = "write `:one`, `:opt` or `:many`, or drop what returns the rows";
        report(message, page.raw.cardinality_span, "rows come back", help);
    } else if cardinality == Cardinality::Rows && page.raw.parts.len() > 1 {
        let message = format!("{name}: `:rows` on a unit would add up the rows of all its statements");
        let help = "write `:exec`, or `:opt` with RETURNING on the statement that counts";
        report(message, page.raw.cardinality_span, "which statement's rows?", help);
    }
}

/// The word of a cardinality as the header has it.
pub fn word(cardinality: Cardinality) -> &'static str {
    match cardinality {
        Cardinality::One => "one",
        Cardinality::Opt => "opt",
        Cardinality::Many => "many",
        Cardinality::Exec => "exec",
        Cardinality::Rows => "rows",
        Cardinality::Stream => "stream",
    }
}

/// The type of a column where the schema of the other dialect knows it better.
fn refined(base: Base, origin: Option<&origin::Origin<'_>>, facing: Option<&Schema>) -> Base {
    let column = facing.zip(origin).and_then(|(schema, origin)| schema.tables.get(origin.table)?.column(origin.column));
    column.and_then(|column| Base::finer(&base, &column.ty.base)).unwrap_or(base)
}

/// The one Rust type that all these columns agree on, for values of that type. It converts to and from what the columns
/// hold alone, so what a column's value was turned into, such as the text of an id, is none of it.
fn newtype<'o>(
    config: &Config,
    pages: &[&PageOf<'_>],
    base: &Base,
    origins: impl Iterator<Item = &'o origin::Origin<'o>>,
) -> Option<String> {
    let (path, held) = typed(config, pages, origins)?;
    // A page that stands alone may know less of its column than the facing one would.
    let is_held = *base == held || pages.len() == 1 && Base::finer(&held, base).as_ref() == Some(base);
    (is_held && may_be(config, base, path)).then(|| path.to_owned())
}

/// The same for the items of a list, which are converted in the width that their column has.
fn newtype_of_items<'o>(
    config: &Config,
    pages: &[&PageOf<'_>],
    item: &Base,
    origins: impl Iterator<Item = &'o origin::Origin<'o>>,
) -> Option<String> {
    let (path, held) = typed(config, pages, origins)?;
    let is_alike = *item == held || Base::finer(item, &held).or_else(|| Base::finer(&held, item)).is_some();
    (is_alike && may_be(config, item, path)).then(|| path.to_owned())
}

/// The one Rust type that all these columns agree on, with what they hold.
fn typed<'c, 'o>(
    config: &'c Config,
    pages: &[&PageOf<'_>],
    origins: impl Iterator<Item = &'o origin::Origin<'o>>,
) -> Option<(&'c str, Base)> {
    let typed = origins.filter_map(|origin| Some((config.rust_type(origin.table, origin.column)?, origin)));
    let of: BTreeMap<&str, &origin::Origin<'_>> = typed.collect();
    let [(path, origin)] = of.into_iter().collect::<Vec<_>>().try_into().ok()?;
    Some((path, held_by(pages, origin)?))
}

/// What a column holds on the databases of these pages.
fn held_by(pages: &[&PageOf<'_>], column: &origin::Origin<'_>) -> Option<Base> {
    let of = |page: &&PageOf<'_>| Some(page.schema.tables.get(column.table)?.column(column.column)?.ty.base.clone());
    pages.iter().filter_map(of).reduce(|sqlite, pg| Base::finer(&sqlite, &pg).unwrap_or(pg))
}

/// Whether a Rust type may stand for one value of this type. Lists as wholes and unnamed types stay plain, and words are
/// texts; an ENUM of Postgres has an enum of its own.
fn may_be(config: &Config, base: &Base, path: &str) -> bool {
    match base {
        Base::TextArray | Base::Int64Array | Base::UuidArray | Base::Interval => false,
        base => *base == Base::Text || config.generated_words(path).is_none(),
    }
}

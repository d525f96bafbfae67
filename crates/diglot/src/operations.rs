//! The table of operations: what every function, operator, cast and collation means on each engine.
//!
//! Default deny. A word that has no row for what it is given is unknown, and what is unknown equals nothing on the
//! other page, not even itself: nothing passes because nobody thought of it. A row says what the word means, with
//! everything in which engines differ as a parameter of its [`Meaning`]. `tests/table.rs` runs every row: two rows of
//! one meaning must give the same on both engines for every value there is, and two of one kind that differ must
//! differ somewhere.

mod aggregate;
mod arithmetic;
mod comparison;
mod conversion;
mod json;
mod kinds;
mod list;
mod meaning;
mod text;
mod time;
mod window;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::mem::{Discriminant, discriminant};
use std::sync::OnceLock;

use crate::dialect::Dialect;
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

pub use kinds::Kinds;
pub use meaning::{
    Bound, Case, Characters, Clock, Collation, Concat, Half, Meaning, Negative, Null, Number, Sort, Sum, Zero,
};

/// How a word is written around what it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// Between two values.
    Infix,
    /// Before a value.
    Prefix,
    /// `name(values)`.
    Call,
    /// `name(values)` over the rows of a group or window.
    Aggregate,
    /// `name(values) OVER (…)`.
    Window,
    /// `CAST(value AS name)`.
    Cast,
    /// `value COLLATE name`.
    Collate,
    /// `FROM name(values)`.
    Source,
}

/// A word of one engine, or of both, and what it means there.
#[derive(Debug)]
pub struct Row {
    /// The engine; none where both mean the same.
    pub engine: Option<Dialect>,
    /// How it is written.
    pub form: Form,
    /// The word, in lower case.
    pub word: &'static str,
    /// What it is given.
    pub takes: &'static [Kinds],
    /// How many more values there may be, each like the last.
    pub more: usize,
    /// What it means.
    pub means: Meaning,
}

impl Row {
    /// The same with more values behind the last.
    const fn more(self, more: usize) -> Self {
        Self { more, ..self }
    }

    /// Whether an engine has it.
    pub fn is_on(&self, dialect: Dialect) -> bool {
        self.engine.is_none_or(|engine| engine == dialect)
    }

    /// The types that the value at a place may have.
    pub fn kinds_at(&self, at: usize) -> Option<Kinds> {
        self.takes.get(at.min(self.takes.len().checked_sub(1)?)).copied()
    }

    /// Whether it takes such values. A type that is not known fits anywhere.
    fn takes(&self, dialect: Dialect, operands: &[Operand<'_>]) -> bool {
        let most = self.takes.len() + self.more;
        let fits = |at: usize, operand: &Operand<'_>| {
            self.kinds_at(at).is_some_and(|kinds| {
                operand.base.is_none_or(|base| kinds.has(dialect, base)) && (operand.is_present || !kinds.is_present())
            })
        };
        (self.takes.len()..=most).contains(&operands.len())
            && operands.iter().enumerate().all(|(at, operand)| fits(at, operand))
    }
}

/// What stands in one place of a word.
#[derive(Debug, Clone, Copy)]
pub struct Operand<'e> {
    /// Its type, where it is known.
    pub base: Option<&'e Base>,
    /// Whether it is known never to be NULL.
    pub is_present: bool,
}

/// A row of SQLite.
const fn sqlite(form: Form, word: &'static str, takes: &'static [Kinds], means: Meaning) -> Row {
    Row { engine: Some(Dialect::Sqlite), form, word, takes, more: 0, means }
}

/// A row of Postgres.
const fn pg(form: Form, word: &'static str, takes: &'static [Kinds], means: Meaning) -> Row {
    Row { engine: Some(Dialect::Pg), form, word, takes, more: 0, means }
}

/// A row of both.
const fn both(form: Form, word: &'static str, takes: &'static [Kinds], means: Meaning) -> Row {
    Row { engine: None, form, word, takes, more: 0, means }
}

/// The rows of every field.
const FIELDS: [&[Row]; 19] = [
    arithmetic::ROWS,
    comparison::ROWS,
    comparison::EQUAL,
    comparison::UNEQUAL,
    comparison::NOT_DISTINCT,
    comparison::DISTINCT,
    comparison::LESS,
    comparison::LESS_OR_EQUAL,
    comparison::MORE,
    comparison::MORE_OR_EQUAL,
    text::ROWS,
    conversion::SQLITE,
    conversion::PG,
    conversion::ROWS,
    json::ROWS,
    time::ROWS,
    list::ROWS,
    aggregate::ROWS,
    window::ROWS,
];

/// Every row.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    FIELDS.into_iter().flatten()
}

/// A word as a page writes it, with the types of what it is given.
struct Written<'e> {
    form: Form,
    word: &'e str,
    operands: Vec<Operand<'e>>,
}

/// What a word of a page means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sense {
    /// What its row says.
    Known(Meaning),
    /// It has no row.
    Unknown(Unknown),
}

/// A word without a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unknown {
    /// Where it is written.
    pub(crate) dialect: Dialect,
    /// The word, with the types of what it is given.
    pub(crate) written: String,
    /// How it is written and the word alone, of a word that rows could have.
    word: Option<(Form, String)>,
}

impl Unknown {
    /// Words of that engine that are written in this way, have rows and are near.
    pub(crate) fn near(&self) -> Vec<&'static str> {
        let Some((form, word)) = &self.word else { return Vec::new() };
        if !known(*form, word).is_empty() {
            return Vec::new();
        }
        let mut near: Vec<(usize, &'static str)> = rows()
            .filter(|row| row.form == *form && row.is_on(self.dialect))
            .map(|row| (strsim::damerau_levenshtein(row.word, word), row.word))
            .filter(|(distance, _)| *distance <= 1 + word.chars().count() / 4)
            .collect();
        near.sort_unstable();
        near.dedup();
        near.into_iter().take(3).map(|(_, word)| word).collect()
    }
}

/// What the operation means that an expression is; none where it is none: a value, or what the tree knows itself.
///
/// The names are those of parameters that may be NULL.
pub(crate) fn sense(dialect: Dialect, expr: &Expr, nullable: &BTreeSet<String>) -> Option<Sense> {
    let written = match written(expr, nullable) {
        Ok(written) => written?,
        Err(text) => {
            return Some(Sense::Unknown(Unknown { dialect, written: text.to_owned(), word: None }));
        }
    };
    Some(look_up(dialect, &written))
}

/// What a function in FROM means.
pub(crate) fn sense_of_source(dialect: Dialect, name: &str, args: &[Expr]) -> Sense {
    let none = BTreeSet::new();
    let operands = args.iter().map(|arg| operand(arg, &none)).collect();
    look_up(dialect, &Written { form: Form::Source, word: name, operands })
}

/// The row that says what a word means for what it is given; what is not known yet may be of any type.
pub fn row_for(dialect: Dialect, form: Form, word: &str, operands: &[Operand<'_>]) -> Option<&'static Row> {
    known(form, word).iter().copied().find(|row| row.is_on(dialect) && row.takes(dialect, operands))
}

fn look_up(dialect: Dialect, written: &Written<'_>) -> Sense {
    match row_for(dialect, written.form, written.word, &written.operands) {
        Some(row) => Sense::Known(row.means),
        None => Sense::Unknown(unknown(dialect, written)),
    }
}

/// The rows of a word.
fn known(form: Form, word: &str) -> &'static [&'static Row] {
    type Index = HashMap<&'static str, Vec<(Form, Vec<&'static Row>)>>;
    static INDEX: OnceLock<Index> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        let mut index = Index::new();
        for row in rows() {
            let forms = index.entry(row.word).or_default();
            match forms.iter_mut().find(|(form, _)| *form == row.form) {
                Some((_, rows)) => rows.push(row),
                None => forms.push((row.form, vec![row])),
            }
        }
        index
    });
    let forms = index.get(word).map_or(&[][..], Vec::as_slice);
    forms.iter().find(|(other, _)| *other == form).map_or(&[], |(_, rows)| rows.as_slice())
}

/// The word of an expression with the types of what it is given: `substr(text, i64)`.
pub(crate) fn signature(expr: &Expr) -> Option<String> {
    Some(with_types(&written(expr, &BTreeSet::new()).ok()??))
}

fn unknown(dialect: Dialect, written: &Written<'_>) -> Unknown {
    let word = Some((written.form, written.word.to_owned()));
    Unknown { dialect, written: with_types(written), word }
}

fn with_types(written: &Written<'_>) -> String {
    let types: Vec<&str> =
        written.operands.iter().map(|operand| operand.base.map_or("?", |base| base.word())).collect();
    let word = written.word;
    match (written.form, types.as_slice()) {
        (Form::Infix, [left, right]) => format!("{left} {word} {right}"),
        (Form::Prefix, [only]) => format!("{word} {only}"),
        (Form::Cast, [from]) => format!("CAST({from} AS {word})"),
        (Form::Collate, _) => format!("COLLATE {word}"),
        _ => format!("{word}({})", types.join(", ")),
    }
}

/// How an expression's word is written; the text of what the tree has no node for.
fn written<'e>(expr: &'e Expr, nullable: &BTreeSet<String>) -> Result<Option<Written<'e>>, &'e str> {
    let operand = |expr| operand(expr, nullable);
    let of = |form, word, operands| Ok(Some(Written { form, word, operands }));
    match &expr.kind {
        ExprKind::Unary { op, expr } if op != "not" => of(Form::Prefix, op.as_str(), vec![operand(expr)]),
        ExprKind::Binary { op, left, right } if !["and", "or", "=>"].contains(&op.as_str()) => {
            of(Form::Infix, op.as_str(), vec![operand(left), operand(right)])
        }
        ExprKind::Any { op, .. } => of(Form::Infix, op.as_str(), vec![Operand { base: None, is_present: false }; 2]),
        ExprKind::Like { op, expr, pattern, .. } => of(Form::Infix, op, vec![operand(expr), operand(pattern)]),
        // The words of an enum are texts, and stay as they are.
        ExprKind::Cast { base: Some(Base::Enum(_)), .. } => Ok(None),
        ExprKind::Cast { expr, to, .. } => {
            of(Form::Cast, to.split('(').next().unwrap_or(to).trim(), vec![operand(expr)])
        }
        ExprKind::Collate { collation, .. } => of(Form::Collate, collation.trim_matches('"'), Vec::new()),
        ExprKind::Call { name, args, over, .. } => {
            let operands: Vec<_> = args.iter().map(operand).collect();
            let form = match over {
                Some(_) if !known(Form::Window, name).is_empty() => Form::Window,
                _ if crate::resolve::is_aggregate(name, args.len()) => Form::Aggregate,
                _ => Form::Call,
            };
            of(form, name.as_str(), operands)
        }
        ExprKind::Opaque(text) if !text.eq_ignore_ascii_case("default") => Err(text),
        _ => Ok(None),
    }
}

/// What a word is given. A text takes the type that the other values need.
fn operand<'e>(expr: &'e Expr, nullable: &BTreeSet<String>) -> Operand<'e> {
    match &expr.kind {
        ExprKind::Param(name) => Operand { base: expr.base(), is_present: !nullable.contains(name) },
        ExprKind::Text(_) => Operand { base: None, is_present: true },
        ExprKind::Null => Operand { base: None, is_present: false },
        _ => Operand { base: expr.base(), is_present: expr.is_present() },
    }
}

/// Whether a word means something else on each engine, of the kind of a meaning, for some of what it is given.
pub(crate) fn is_contested(word: &str, means: &Meaning) -> bool {
    static CONTESTED: OnceLock<HashSet<(&'static str, Discriminant<Meaning>)>> = OnceLock::new();
    let contested = CONTESTED.get_or_init(|| {
        let kind = |row: &Row| discriminant(&row.means);
        let differs = |row: &Row| {
            let of_kind = || known(row.form, row.word).iter().filter(|other| kind(other) == kind(row));
            let is_on = |dialect| of_kind().any(|other| other.is_on(dialect));
            Dialect::ALL.into_iter().all(is_on) && of_kind().any(|other| other.means != row.means)
        };
        rows().filter(|row| differs(row)).map(|row| (row.word, kind(row))).collect()
    });
    contested.iter().any(|(known, kind)| *known == word && *kind == discriminant(means))
}

#[cfg(test)]
mod tests;

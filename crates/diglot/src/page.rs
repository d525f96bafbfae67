//! What a statement file says before its SQL is understood: names, annotations, texts.
//!
//! `split` makes these; every later pass reads them.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::dialect::Dialect;
use crate::rule;
use crate::source::{FileId, Span};
use crate::types::Type;

/// One `sql/DIALECT/NOUN.sql` file.
#[derive(Debug, Clone)]
pub struct Page {
    /// The file.
    pub file: FileId,
    /// The dialect, from its folder.
    pub dialect: Dialect,
    /// The file's stem.
    pub noun: String,
    /// Its statements in order.
    pub statements: Vec<RawStatement>,
    /// What it says once for several statements.
    pub shared: Vec<SharedPart>,
    /// What stands here for the other dialect too, as that one reads it.
    pub lent: Lent,
    /// Names of statements that are left out because a finding was already made about each: their
    /// absence is no finding of its own.
    pub broken: Vec<String>,
}

/// Statements and shared parts that a page has for the other dialect's page.
#[derive(Debug, Clone, Default)]
pub struct Lent {
    /// The statements in order.
    pub statements: Vec<RawStatement>,
    /// The shared parts.
    pub shared: Vec<SharedPart>,
    /// Names of statements that the other dialect cannot read there; a finding says why.
    pub broken: Vec<String>,
}

/// How many rows a statement promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Cardinality {
    /// `:one` exactly one row.
    One,
    /// `:opt` none or one.
    Opt,
    /// `:many` a `Vec`.
    Many,
    /// `:exec` nothing.
    Exec,
    /// `:rows`, `:execrows` the number of rows written.
    Rows,
    /// `:stream` a stream of rows.
    Stream,
}

/// A named statement (or unit of several statements) as it stands in the file.
#[derive(Debug, Clone)]
pub struct RawStatement {
    /// `noun_verb`.
    pub name: String,
    /// Where the name stands in the header.
    pub name_span: Span,
    /// The whole header line.
    pub header_span: Span,
    /// What `:one`, `:opt`… says.
    pub cardinality: Cardinality,
    /// Where that word stands.
    pub cardinality_span: Span,
    /// The comment lines that touch the header, without dashes: the function's documentation.
    pub docs: Vec<String>,
    /// Annotations.
    pub annotations: Vec<Annotation>,
    /// The bare `WITH …;` that the unit opens with.
    pub prelude: Option<Prelude>,
    /// The shared parts that it uses.
    pub uses: Vec<Use>,
    /// What it gives to shared parts, by the places that take it.
    pub bound: Vec<Bound>,
    /// What it asks once, first.
    pub guard: Option<Guard>,
    /// The statements of the unit, one for most; each without its semicolon. Comments inside remain.
    pub parts: Vec<RawPart>,
    /// The parts between `-- if: param` and `-- end`, in the order of the text.
    pub optional: Vec<OptionalPart>,
    /// What its database never gets (`[stripped]`), and the optional parts that this variant of it does without.
    pub left_out: Vec<Span>,
    /// The condition by which this variant begins behind a row.
    pub behind: Option<Behind>,
    /// Parameters that the facing page declares nullable: they may be NULL on this one too.
    pub nullable: BTreeSet<String>,
    /// From the header to the last byte of the last part.
    pub span: Span,
}

impl RawStatement {
    /// The list of rows that the statement takes, if it takes one.
    pub fn rows(&self) -> Option<RowsTaken<'_>> {
        let mut taken: Option<RowsTaken<'_>> = None;
        for annotation in &self.annotations {
            let AnnotationKind::Rows { name, fields } = &annotation.kind else { continue };
            let rows = taken.get_or_insert(RowsTaken { name, fields: Vec::new(), span: annotation.span });
            rows.fields.extend(fields);
        }
        taken
    }

    /// The parameters that it declares nullable.
    pub fn declared_nullable(&self) -> impl Iterator<Item = &str> {
        self.annotations.iter().filter_map(|annotation| match &annotation.kind {
            AnnotationKind::Param { name, ty } if ty.nullable => Some(name.as_str()),
            _ => None,
        })
    }

    /// The argument that stands at a place of a shared part.
    pub fn argument_at(&self, place: Span) -> Option<&Bound> {
        self.bound.iter().find(|bound| bound.place.contains(place))
    }

    /// Whether a token, or all of several, belongs to what is left out.
    pub fn is_left_out(&self, token: Span) -> bool {
        self.left_out.iter().any(|part| part.contains(token))
    }

    /// The SQL that stands below the header, its prelude too.
    pub fn sql(&self) -> Span {
        let prelude = self.prelude.iter().map(|prelude| prelude.span);
        let own = self.parts.iter().filter(|part| part.cte.is_none()).map(|part| part.span);
        prelude.chain(own).reduce(Span::to).unwrap_or(self.header_span)
    }

    /// The CTEs of shared parts that it has, in the order in which it gets them.
    pub fn shared(&self) -> Vec<Span> {
        let sql = self.sql();
        let mut shared: Vec<Span> = Vec::new();
        let of_part = |part: &'_ RawPart| -> Vec<Span> {
            part.given.iter().copied().chain(part.cte.iter().map(|cte| cte.span)).collect()
        };
        for given in self.parts.iter().flat_map(of_part) {
            if !sql.contains(given) && !shared.contains(&given) {
                shared.push(given);
            }
        }
        shared
    }
}

/// A CTE as it stands in a file: `name AS (…)`.
#[derive(Debug, Clone)]
pub struct CteText {
    /// The name, folded.
    pub name: String,
    /// From the name to the closing bracket.
    pub span: Span,
    /// What stands in the brackets.
    pub body: Span,
    /// Whether it is an INSERT, UPDATE or DELETE.
    pub writes: bool,
}

/// `-- require: NAME`: the CTE without a row of which the unit ends before it writes.
#[derive(Debug, Clone)]
pub struct Guard {
    /// The CTE.
    pub name: String,
    /// The whole line.
    pub span: Span,
    /// The CTE's text, behind those that it needs.
    pub given: Vec<Span>,
}

/// CTEs that each later part of a unit gets when it names one.
#[derive(Debug, Clone)]
pub struct Prelude {
    /// From `WITH` to the last bracket.
    pub span: Span,
    /// Whether it is `WITH RECURSIVE`.
    pub recursive: bool,
    /// The CTEs in order.
    pub ctes: Vec<CteText>,
}

impl Prelude {
    /// Whether one of its CTEs writes.
    pub fn writes(&self) -> bool {
        self.ctes.iter().any(|cte| cte.writes)
    }
}

/// `-- part: NAME`: CTEs that are written once for several statements.
#[derive(Debug, Clone)]
pub struct SharedPart {
    /// The name.
    pub name: String,
    /// The line that names it.
    pub mark: Span,
    /// What statements that use it have to give it.
    pub takes: Vec<PartParam>,
    /// The comment lines above it.
    pub docs: Vec<String>,
    /// What holds for every statement that uses it.
    pub annotations: Vec<Annotation>,
    /// The shared parts that it needs itself.
    pub uses: Vec<Use>,
    /// What units that use it ask once, first.
    pub guard: Option<Guard>,
    /// The CTEs.
    pub prelude: Prelude,
}

/// What a shared part takes: `:event`, a value, or `fence`, the name of a CTE or table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartParam {
    /// Its name.
    pub name: String,
    /// Whether it stands for a value.
    pub is_value: bool,
    /// Where it is declared.
    pub span: Span,
}

/// What a statement gives to a shared part: `event = 'acquired'`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// The name of what takes it.
    pub name: String,
    /// The literal, the parameter, the column or the name.
    pub text: String,
    /// Whether it is a value, and no name.
    pub is_value: bool,
    /// Where it stands.
    pub span: Span,
}

/// A place in a shared part at which a statement's argument stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// The place in the shared part.
    pub place: Span,
    /// What stands there instead.
    pub argument: Argument,
}

/// `-- use: NAME` or `-- use: NAME(argument = value)`.
#[derive(Debug, Clone)]
pub struct Use {
    /// The shared part.
    pub name: String,
    /// What it is given.
    pub arguments: Vec<Argument>,
    /// The whole line.
    pub span: Span,
}

/// The list of rows that a statement takes.
#[derive(Debug, Clone)]
pub struct RowsTaken<'a> {
    /// The name by which the statement reads it like a table.
    pub name: &'a str,
    /// What each row has.
    pub fields: Vec<&'a RowField>,
    /// Where it is declared.
    pub span: Span,
}

/// The column of a list of rows that numbers them from 1, in the order in which they are given.
pub const ORDINALITY: &str = "ordinality";

/// A value that each row of a list has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowField {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Whether it is a part of the key: no two rows of a call have the same one.
    pub key: bool,
}

/// What decides whether a part of a statement is there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Chooser {
    /// A parameter, by its name: conjuncts are there when it is given.
    Parameter(String),
    /// The name of an order, of which one is chosen.
    Order(String),
    /// The key of a page: rows begin behind the one whose key is given.
    Page(String),
}

impl Chooser {
    /// The name of the order, if it is one.
    pub fn order(&self) -> Option<&str> {
        if let Self::Order(name) = self { Some(name) } else { None }
    }

    /// The name of the key behind which a page begins, if it is one.
    pub fn page(&self) -> Option<&str> {
        if let Self::Page(key) = self { Some(key) } else { None }
    }

    /// Its name, whatever it is.
    pub fn name(&self) -> &str {
        let (Self::Parameter(name) | Self::Order(name) | Self::Page(name)) = self;
        name
    }
}

impl fmt::Display for Chooser {
    /// As texts are told apart by it: no parameter's name has a point in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameter(name) => f.write_str(name),
            Self::Order(name) => write!(f, "order.{name}"),
            Self::Page(key) => write!(f, "page.{key}"),
        }
    }
}

/// Conjuncts, an order or a page's begin, which are there when they are chosen.
#[derive(Debug, Clone)]
pub struct OptionalPart {
    /// What decides whether it is there.
    pub chooser: Chooser,
    /// The line `-- if: param`, `-- order: name` or `-- page: name`.
    pub mark: Span,
    /// From that line to `-- end`, or to the next order; of a page, that line.
    pub span: Span,
}

/// The condition by which a page begins behind the row whose key is given.
#[derive(Debug, Clone)]
pub struct Behind {
    /// Which of the parts gets it.
    pub statement: usize,
    /// The line `-- page: name`, where all of it stands.
    pub mark: Span,
    /// What it is made of, in order.
    pub words: Vec<BehindWord>,
}

impl Behind {
    /// Whether a parameter of that name is a value of the key that may be NULL.
    pub fn may_be_null(&self, param: &str) -> bool {
        self.words.iter().any(|word| matches!(word, BehindWord::Value { name, nullable: true } if name == param))
    }
}

/// A piece of such a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BehindWord {
    /// SQL.
    Sql(String),
    /// A value of the key.
    Value {
        /// The parameter: the key's name, a point, and the column.
        name: String,
        /// Whether it may be NULL.
        nullable: bool,
    },
}

/// One SQL statement of a unit.
#[derive(Debug, Clone)]
pub struct RawPart {
    /// The SQL text, from its first token to its last.
    pub span: Span,
    /// The CTE that it is on the page, where one writes: SQLite runs it as a statement.
    pub cte: Option<CteText>,
    /// Marked by `-- returns`.
    pub returns: bool,
    /// `WITH` or `WITH RECURSIVE`, if it begins so.
    pub with: Option<Span>,
    /// The CTEs of the prelude and of shared parts that it names, and those that these name, in order.
    pub given: Vec<Span>,
    /// Whether one of these may name itself.
    pub recursive: bool,
}

/// A stretch of a part's text, in a file or between two of those.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    /// Where it stands; empty for a word that nobody wrote.
    pub span: Span,
    /// The word, when nobody wrote it: `WITH`, or a comma.
    pub word: Option<&'static str>,
}

impl RawPart {
    /// A part with nothing given to it.
    pub fn new(span: Span, with: Option<Span>) -> Self {
        Self { span, cte: None, returns: false, with, given: Vec::new(), recursive: false }
    }

    /// What the part is put together from, in order.
    pub fn slices(&self) -> Vec<Slice> {
        let written = |span: Span| Slice { span, word: None };
        let between = |at: u32, span: Span, word| Slice { span: Span { start: at, end: at, ..span }, word: Some(word) };
        let Some(last) = self.given.last() else { return vec![written(self.span)] };
        let mut slices = match self.with {
            Some(with) => vec![written(Span { start: self.span.start, ..with })],
            None => {
                let word = if self.recursive { "WITH RECURSIVE" } else { "WITH" };
                vec![between(self.span.start, self.span, word)]
            }
        };
        for (at, given) in self.given.iter().enumerate() {
            if at > 0 {
                slices.push(between(given.start, *given, ","));
            }
            slices.push(written(*given));
        }
        match self.with {
            Some(with) => {
                slices.push(between(last.end, *last, ","));
                slices.push(written(Span { start: with.end, ..self.span }));
            }
            None => slices.push(written(self.span)),
        }
        slices
    }

    /// Whether a place is in its text.
    pub fn holds(&self, place: Span) -> bool {
        self.span.contains(place) || self.given.iter().any(|given| given.contains(place))
    }
}

/// The words by which annotations name types.
pub const TYPE_WORDS: &str =
    "bool i16 i32 i64 numeric f64 text bytes uuid json timestamp datetime date time text[] i64[] uuid[]";

/// An annotation with its place.
#[derive(Debug, Clone)]
pub struct Annotation {
    /// The whole comment line.
    pub span: Span,
    /// What it says.
    pub kind: AnnotationKind,
}

/// The annotations of the statement language.
#[derive(Debug, Clone)]
pub enum AnnotationKind {
    /// `-- diverges(FACT[.COLUMN][#SEAL]): reason`.
    Diverges {
        /// The fact's word.
        fact: String,
        /// The one clause or column that it is bound to.
        item: Option<String>,
        /// The seal behind `#`: the declaration is for the one difference that has it. Empty: not known yet.
        seal: Option<String>,
        /// Where `FACT[.COLUMN]` stands.
        fact_span: Span,
        /// The reason, trimmed; may be empty (that is a finding).
        reason: String,
    },
    /// `-- only: DIALECT — reason`.
    Only {
        /// The dialect named.
        dialect: Dialect,
        /// The reason, trimmed.
        reason: String,
    },
    /// `-- both`: the facing page has it in the same words, so it stands here alone.
    Both,
    /// `-- each: NAME [by FIELD] [or fails — reason]`: it does for each of its rows what the facing page does in one call of
    /// that statement.
    Each {
        /// The statement for one row.
        name: String,
        /// The field that the calls of one list have alike, if they are to go by one.
        by: Option<String>,
        /// Why it may fail as a whole where every call does something, if it may.
        fails: Option<String>,
    },
    /// `-- param: NAME TYPE [null]`.
    Param {
        /// The parameter.
        name: String,
        /// Its type.
        ty: Type,
    },
    /// `-- rows: NAME(FIELD TYPE [null] [key], …)`: the statement takes a list of rows. Several lines of one name are
    /// one list.
    Rows {
        /// The name by which the statement reads it like a table.
        name: String,
        /// What each row has.
        fields: Vec<RowField>,
    },
    /// `-- column: NAME TYPE [null]`.
    Column {
        /// The result column.
        name: String,
        /// Its type.
        ty: Type,
    },
    /// `-- transaction: NAME`: it runs in that transaction, with the others that say so, in the order of the file.
    Transaction {
        /// The transaction.
        name: String,
    },
    /// `-- allow(rule): reason`.
    Allow {
        /// The rule's name.
        rule: String,
        /// The reason.
        reason: String,
    },
}

impl AnnotationKind {
    /// Whether it says that any of the rows that a statement does not tell apart may come first.
    pub fn leaves_order_open(&self) -> bool {
        matches!(self, Self::Allow { rule, .. } if rule::asks_for_order(rule))
    }

    /// Whether it says something of what both pages have to answer alike.
    pub(crate) fn is_about_answers(&self) -> bool {
        match self {
            Self::Diverges { fact, .. } => fact == "results",
            Self::Param { .. } | Self::Column { .. } | Self::Each { .. } => true,
            _ => self.leaves_order_open(),
        }
    }
}

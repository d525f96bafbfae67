//! What a statement file says before its SQL is understood: names, annotations, texts.
//!
//! `split` makes these; every later pass reads them.

use serde::{Deserialize, Serialize};

use crate::dialect::Dialect;
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
    /// Names of statements that are left out because a finding was already made about each: their
    /// absence is no finding of its own.
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
    /// The statements of the unit, one for most; each without its semicolon. Comments inside remain.
    pub parts: Vec<RawPart>,
    /// The parts between `-- if: param` and `-- end`, in the order of the text.
    pub optional: Vec<OptionalPart>,
    /// The optional parts that this variant of the statement does without; none in the statement as it is written.
    pub left_out: Vec<Span>,
    /// From the header to the last byte of the last part.
    pub span: Span,
}

impl RawStatement {
    /// Whether a token belongs to a part that this variant does without.
    pub fn is_left_out(&self, token: Span) -> bool {
        self.left_out.iter().any(|part| part.contains(token))
    }
}

/// Conjuncts that are there when a parameter is given.
#[derive(Debug, Clone)]
pub struct OptionalPart {
    /// The parameter.
    pub param: String,
    /// The line `-- if: param`.
    pub mark: Span,
    /// From that line to `-- end`.
    pub span: Span,
}

/// One SQL statement of a unit.
#[derive(Debug, Clone)]
pub struct RawPart {
    /// The SQL text, from its first token to its last.
    pub span: Span,
    /// Marked by `-- returns`.
    pub returns: bool,
}

/// The words by which annotations name types.
pub(crate) const TYPE_WORDS: &str =
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
    /// `-- param: NAME TYPE [null]`.
    Param {
        /// The parameter.
        name: String,
        /// Its type.
        ty: Type,
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

//! The resolved tree of a statement: what both dialects are lowered to before they are compared.
//!
//! It knows no dialect's syntax, every name in it is resolved, every node carries the span of the text
//! it came from. `resolve` builds it, `infer` reads parameter types from it, `normal` rewrites it,
//! `facts` takes it apart.

mod alike;
mod constant;
mod walk;

pub(crate) use walk::TEXTS_OF_DOCUMENTS;

pub use walk::walk_exprs;

use crate::dialect::Dialect;
use crate::page::{BehindWord, Cardinality};
use crate::source::Span;
use crate::types::{Base, Type};

/// A resolved statement, or unit of statements, of one page.
#[derive(Debug, Clone)]
pub struct Statement {
    /// `noun_verb`.
    pub name: String,
    /// The page's dialect.
    pub dialect: Dialect,
    /// How many rows it promises.
    pub cardinality: Cardinality,
    /// From the header to the end.
    pub span: Span,
    /// Its parts: each CTE, then the statement that holds it; statement after statement. A CTE that a
    /// unit defines again in a later statement appears again.
    pub parts: Vec<Part>,
    /// The index in `parts` whose rows are returned.
    pub result: Option<usize>,
    /// Every occurrence of a parameter, in the order of the text.
    pub params: Vec<ParamUse>,
    /// What no engine reads and is written otherwise for the driver, in the order of the text.
    pub rewrites: Vec<Rewrite>,
}

/// A piece of the text that the driver gets in other words.
#[derive(Debug, Clone)]
pub struct Rewrite {
    /// The piece.
    pub span: Span,
    /// What stands in its place.
    pub by: Replacement,
}

/// What the driver gets.
#[derive(Debug, Clone)]
pub enum Replacement {
    /// The columns behind `sqlc.embed(t)`, each under a name that begins with `t_`.
    Columns(String),
    /// The name of a result column that has none, behind it.
    Alias(String),
    /// The elements of a list parameter, where `sqlc.slice` stands behind IN.
    List {
        /// The parameter.
        param: String,
        /// Whether NOT stands before IN.
        negated: bool,
    },
    /// A parameter in the place of a document whose elements Postgres takes out as texts: a list becomes a document there.
    Document {
        /// The function that makes a document of a list.
        made_by: &'static str,
    },
    /// The rows that the statement takes, where it reads them like a table.
    Rows {
        /// The name by which the statement calls them there.
        alias: String,
    },
    /// The condition by which a page begins behind a row, between two words of the text.
    Behind(Vec<BehindWord>),
}

/// One occurrence of a parameter.
#[derive(Debug, Clone)]
pub struct ParamUse {
    /// Its name.
    pub name: String,
    /// The number by which the page calls it, `?1`, where it has no name there.
    pub number: Option<String>,
    /// The placeholder's own bytes.
    pub span: Span,
    /// The column that it is first compared with, inserted into or assigned to.
    pub met: Option<String>,
    /// Declared nullable where it stands (`sqlc.narg`).
    pub nullable: bool,
    /// Declared a list where it stands (`sqlc.slice`).
    pub list: bool,
}

/// A CTE or a whole statement.
#[derive(Debug, Clone)]
pub struct Part {
    /// The CTE's name; none for a statement itself.
    pub name: Option<String>,
    /// Which of the unit's SQL statements holds it.
    pub statement: usize,
    /// `MATERIALIZED` (`Some(true)`) or `NOT MATERIALIZED`, when written.
    pub materialized: Option<bool>,
    /// `WITH RECURSIVE`.
    pub recursive: bool,
    /// What it does.
    pub body: Body,
    /// Its text.
    pub span: Span,
}

/// What a part does.
#[expect(clippy::large_enum_variant, reason = "a statement has a handful of parts, and none is moved often")]
#[derive(Debug, Clone)]
pub enum Body {
    /// SELECT, VALUES, set operations.
    Query(Query),
    /// INSERT.
    Insert(Insert),
    /// UPDATE.
    Update(Update),
    /// DELETE.
    Delete(Delete),
}

/// A query with its outer clauses.
#[derive(Debug, Clone)]
pub struct Query {
    /// The select or set operation. Shared CTEs are parts, not here; a nested query's own CTEs are in `ctes`.
    pub rows: Rows,
    /// CTEs of a nested query.
    pub ctes: Vec<(String, Query)>,
    /// ORDER BY.
    pub order: Vec<OrderKey>,
    /// LIMIT / FETCH FIRST.
    pub limit: Option<Expr>,
    /// OFFSET.
    pub offset: Option<Expr>,
    /// FOR UPDATE and friends.
    pub locks: Vec<Lock>,
    /// Its text.
    pub span: Span,
}

/// Where a query's rows come from.
#[derive(Debug, Clone)]
pub enum Rows {
    /// A SELECT.
    Select(Box<Select>),
    /// VALUES rows.
    Values(Vec<Vec<Expr>>, Span),
    /// UNION, EXCEPT, INTERSECT; `all` when written.
    Set {
        /// `union`, `except`, `intersect`.
        op: &'static str,
        /// ALL was written.
        all: bool,
        /// Left side.
        left: Box<Rows>,
        /// Right side.
        right: Box<Rows>,
        /// Both.
        span: Span,
    },
    /// A query in parentheses.
    Query(Box<Query>),
}

/// A SELECT.
#[derive(Debug, Clone)]
pub struct Select {
    /// DISTINCT, with the expressions of DISTINCT ON.
    pub distinct: Option<(Vec<Expr>, Span)>,
    /// The select list; `*` is expanded, each with the span of the star.
    pub columns: Vec<OutputColumn>,
    /// FROM, in order; joins are flattened to the left.
    pub from: Vec<Source>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// GROUP BY.
    pub group: Vec<Expr>,
    /// HAVING.
    pub having: Option<Expr>,
    /// Its text.
    pub span: Span,
}

/// Identity of a table occurrence inside one statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(pub u32);

/// One occurrence of a relation.
#[derive(Debug, Clone)]
pub struct Source {
    /// Identity; columns refer to it.
    pub id: SourceId,
    /// The name by which the statement calls it (alias, else the relation's name), in lower case.
    pub alias: String,
    /// What it is.
    pub kind: SourceKind,
    /// How it joins what stands before it; none for the first and for the target of a write.
    pub join: Option<Join>,
    /// Its columns as seen by the statement, in order, with types.
    pub columns: Vec<(String, Option<Type>)>,
    /// Its text.
    pub span: Span,
}

/// What a source is.
#[derive(Debug, Clone)]
pub enum SourceKind {
    /// A table or view of the schema.
    Table(String),
    /// A CTE of the statement.
    Cte(String),
    /// The list of rows that the statement takes.
    Rows(String),
    /// A subquery in FROM.
    Derived(Box<Query>),
    /// A function in FROM: `json_each`, `unnest`, `generate_series`.
    Function {
        /// In lower case.
        name: String,
        /// Arguments.
        args: Vec<Expr>,
    },
    /// `excluded` of an upsert.
    Excluded,
}

/// How a source joins.
#[derive(Debug, Clone)]
pub struct Join {
    /// The kind.
    pub kind: JoinKind,
    /// ON; USING is turned into equations.
    pub on: Option<Expr>,
    /// LATERAL.
    pub lateral: bool,
    /// The join words and the condition.
    pub span: Span,
}

/// Kinds of join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinKind {
    /// INNER, and the comma.
    Inner,
    /// LEFT.
    Left,
    /// RIGHT.
    Right,
    /// FULL.
    Full,
    /// CROSS.
    Cross,
}

/// A result or returning column.
#[derive(Debug, Clone)]
pub struct OutputColumn {
    /// The name the client sees, in lower case unless quoted.
    pub name: String,
    /// The value; its type is the column's type.
    pub expr: Expr,
    /// With its alias.
    pub span: Span,
}

/// One key of ORDER BY.
#[derive(Debug, Clone)]
pub struct OrderKey {
    /// The value.
    pub expr: Expr,
    /// DESC.
    pub desc: bool,
    /// NULLS FIRST (`true`) or LAST, when written.
    pub nulls_first: Option<bool>,
    /// Its text.
    pub span: Span,
}

/// A row lock.
#[derive(Debug, Clone)]
pub struct Lock {
    /// `update`, `no key update`, `share`, `key share`.
    pub strength: String,
    /// `skip locked`, `nowait`, or empty.
    pub wait: &'static str,
    /// OF tables (aliases).
    pub of: Vec<String>,
    /// Its text.
    pub span: Span,
}

/// INSERT.
#[derive(Debug, Clone)]
pub struct Insert {
    /// The table.
    pub target: Source,
    /// Named columns with their places; all of the table's when none were named.
    pub columns: Vec<(String, Span)>,
    /// The rows.
    pub rows: Query,
    /// `OR IGNORE`, `OR REPLACE`… in lower case, with its place.
    pub or: Option<(String, Span)>,
    /// ON CONFLICT.
    pub conflict: Option<Conflict>,
    /// RETURNING.
    pub returning: Vec<OutputColumn>,
}

impl Insert {
    /// Whether its rows have a value for a column.
    pub(crate) fn gives(&self, name: &str) -> bool {
        self.columns.iter().any(|(column, _)| column == name)
    }
}

/// ON CONFLICT.
#[derive(Debug, Clone)]
pub struct Conflict {
    /// Target columns; none when no target was written. A constraint's name is resolved to its columns. An expression is
    /// a text as an index over it has it.
    pub target: Option<Vec<String>>,
    /// The target's own WHERE.
    pub target_filter: Option<Expr>,
    /// What happens.
    pub action: ConflictAction,
    /// Its text.
    pub span: Span,
}

/// What ON CONFLICT does.
#[derive(Debug, Clone)]
pub enum ConflictAction {
    /// DO NOTHING.
    Nothing,
    /// DO UPDATE.
    Update {
        /// SET.
        set: Vec<Assignment>,
        /// WHERE.
        filter: Option<Expr>,
        /// `excluded`.
        excluded: SourceId,
    },
}

/// UPDATE.
#[derive(Debug, Clone)]
pub struct Update {
    /// The table.
    pub target: Source,
    /// SET; row assignments are taken apart where they can be.
    pub set: Vec<Assignment>,
    /// FROM.
    pub from: Vec<Source>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// RETURNING.
    pub returning: Vec<OutputColumn>,
}

/// DELETE.
#[derive(Debug, Clone)]
pub struct Delete {
    /// The table.
    pub target: Source,
    /// USING.
    pub using: Vec<Source>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// RETURNING.
    pub returning: Vec<OutputColumn>,
}

/// `column = value`.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// The column in lower case.
    pub column: String,
    /// The value.
    pub value: Expr,
    /// Its text.
    pub span: Span,
}

/// An expression.
#[derive(Debug, Clone)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its type in its own dialect, where known. Parameters have none until `infer` ran.
    pub ty: Option<Type>,
    /// Its text.
    pub span: Span,
}

/// What an expression is. Operator and function names are in lower case.
#[derive(Debug, Clone)]
pub enum ExprKind {
    /// A parameter.
    Param(String),
    /// NULL.
    Null,
    /// TRUE, FALSE.
    Bool(bool),
    /// A number as written.
    Number(String),
    /// A text literal, unescaped.
    Text(String),
    /// A blob literal, lower-case hex.
    Blob(String),
    /// A column of a source.
    Column {
        /// Which occurrence.
        source: SourceId,
        /// The column in lower case.
        column: String,
    },
    /// `-x`, `+x`, `not x`, `~x`.
    Unary {
        /// `-`, `+`, `not`, `~`.
        op: String,
        /// Operand.
        expr: Box<Expr>,
    },
    /// `=`, `<>` (also for `!=`), `<`, `and`, `or`, `||`, `->`, `->>`, `@>`, `is not distinct from`…
    Binary {
        /// The operator.
        op: String,
        /// Left.
        left: Box<Expr>,
        /// Right.
        right: Box<Expr>,
    },
    /// `IS [NOT] NULL`, `IS [NOT] TRUE`, …: `what` is `null`, `true`, `false`, `unknown`.
    Is {
        /// Operand.
        expr: Box<Expr>,
        /// What it is tested for.
        what: &'static str,
        /// NOT.
        negated: bool,
    },
    /// `[NOT] BETWEEN`.
    Between {
        /// Operand.
        expr: Box<Expr>,
        /// Low end.
        low: Box<Expr>,
        /// High end.
        high: Box<Expr>,
        /// NOT.
        negated: bool,
    },
    /// `[NOT] IN (…)`.
    InList {
        /// Operand.
        expr: Box<Expr>,
        /// The list.
        list: Vec<Expr>,
        /// NOT.
        negated: bool,
    },
    /// `[NOT] IN (SELECT …)`.
    InQuery {
        /// Operand.
        expr: Box<Expr>,
        /// The query.
        query: Box<Query>,
        /// NOT.
        negated: bool,
    },
    /// `[NOT] EXISTS`.
    Exists {
        /// The query.
        query: Box<Query>,
        /// NOT.
        negated: bool,
    },
    /// A scalar subquery.
    Scalar(Box<Query>),
    /// `[NOT] LIKE`, `ILIKE`, `GLOB`.
    Like {
        /// `like`, `ilike`, `glob`, `regexp`.
        op: &'static str,
        /// Operand.
        expr: Box<Expr>,
        /// Pattern.
        pattern: Box<Expr>,
        /// ESCAPE.
        escape: Option<String>,
        /// NOT.
        negated: bool,
    },
    /// A function or an aggregate.
    Call {
        /// Its name.
        name: String,
        /// Arguments; empty for `count(*)`.
        args: Vec<Expr>,
        /// `count(*)`.
        star: bool,
        /// DISTINCT.
        distinct: bool,
        /// ORDER BY inside.
        order: Vec<OrderKey>,
        /// FILTER (WHERE …).
        filter: Option<Box<Expr>>,
        /// OVER (…), partition and order.
        over: Option<Box<Window>>,
    },
    /// CASE.
    Case {
        /// The operand.
        operand: Option<Box<Expr>>,
        /// WHEN, THEN.
        branches: Vec<(Expr, Expr)>,
        /// ELSE.
        otherwise: Option<Box<Expr>>,
    },
    /// CAST and `::`.
    Cast {
        /// Operand.
        expr: Box<Expr>,
        /// The type's name as written, in lower case.
        to: String,
        /// What it means in its dialect, where known.
        base: Option<Base>,
    },
    /// COLLATE.
    Collate {
        /// Operand.
        expr: Box<Expr>,
        /// The collation as written.
        collation: String,
    },
    /// `ARRAY[…]`.
    Array(Vec<Expr>),
    /// `(a, b)`.
    Tuple(Vec<Expr>),
    /// `left op ANY (right)` and `ALL`; `right` may be a `Scalar` query.
    Any {
        /// The comparison.
        op: String,
        /// Left.
        left: Box<Expr>,
        /// Right: an array.
        right: Box<Expr>,
        /// ALL instead of ANY.
        all: bool,
    },
    /// A construct without a node of its own; compared by its text with white space folded.
    Opaque(String),
}

/// OVER (…).
#[derive(Debug, Clone)]
pub struct Window {
    /// PARTITION BY.
    pub partition: Vec<Expr>,
    /// ORDER BY.
    pub order: Vec<OrderKey>,
    /// The frame from end to end, in lower case, with `$` for each number of rows; empty for the one that a window has
    /// by itself.
    pub frame: String,
    /// The numbers of rows in the frame.
    pub bounds: Vec<Expr>,
}

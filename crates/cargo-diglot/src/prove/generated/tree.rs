//! What a generated statement means, before it is spelt in two dialects.

use super::schema::Kind;

/// A column by the alias of its table.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Name {
    pub(super) alias: &'static str,
    pub(super) column: &'static str,
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expr {
    Column(Name, Kind),
    Number(i64),
    Real(f64),
    Text(&'static str),
    Truth(bool),
    Parameter(&'static str),
    /// The first where it is not NULL, the second otherwise.
    Or(Box<Expr>, Box<Expr>),
    /// NULL where both are the same, the first otherwise.
    Unless(Box<Expr>, Box<Expr>),
    /// The first where the condition is true, the second otherwise.
    Choose(Box<Condition>, Box<Expr>, Box<Expr>),
    Plus(Box<Expr>, i64),
    Times(Box<Expr>, i64),
    Negated(Box<Expr>),
    Joined(Box<Expr>, Box<Expr>),
    Length(Box<Expr>),
    Part(Box<Expr>, i64, i64),
    Replaced(Box<Expr>, &'static str, &'static str),
    /// A number of four bytes as one of eight.
    Wide(Box<Expr>),
    /// What a member of a document holds.
    Field(Name, &'static str, Kind),
    /// How many items the list in a document has.
    Items(Name),
    /// A document with another value in a member.
    With(Name, &'static str, Box<Expr>),
    /// So many hours before the statement runs.
    Ago(i64),
    /// What was to be added, where a row is there.
    Proposed(&'static str, Kind),
    /// Whether a condition holds; NULL where it is not known.
    Whether(Box<Condition>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Unequal,
    Less,
    AtMost,
}

/// A condition in three values.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Condition {
    Compare(Comparison, Expr, Expr),
    IsNull(Expr),
    /// The same, where NULL is the same as NULL.
    Same(Expr, Expr),
    /// A flag that is set.
    Is(Expr),
    Among(Expr, Vec<Expr>),
    Between(Expr, Expr, Expr),
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    /// The value is an item of a list, which is a parameter.
    Listed(Expr, &'static str),
    /// The list in a document has an item.
    HasItem(Name, &'static str),
    /// There is a part of the item for which more holds.
    HasPart(Box<Condition>),
}

/// How many values become one.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Aggregate {
    Rows,
    /// Rows where a condition holds.
    RowsWhere(Condition),
    Values(Expr),
    Unlike(Expr),
    Least(Expr),
    Greatest(Expr),
    Sum(Expr),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joining {
    Nothing,
    Inner,
    /// Items without a part stay.
    Left,
}

/// An order by one value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Key {
    pub(super) by: Expr,
    pub(super) is_falling: bool,
    /// Where NULL goes; nowhere where the value is never NULL.
    pub(super) nulls_first: Option<bool>,
}

/// A statement.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Statement {
    Read {
        joining: Joining,
        filter: Vec<Condition>,
        values: Vec<Expr>,
        is_distinct: bool,
        /// The key comes last, so that the order is whole.
        order: Vec<Key>,
        limit: Option<Expr>,
        offset: Option<Expr>,
    },
    /// What two queries of the same table give together.
    Combined {
        combination: Combination,
        values: Vec<Expr>,
        filters: [Vec<Condition>; 2],
    },
    /// A query over the rows of another one, whose values are called v0, v1… of `f` there.
    Framed {
        inner: Vec<Condition>,
        values: Vec<Expr>,
        outer: Vec<Condition>,
    },
    /// A value for each row that is made of several rows.
    Windowed {
        filter: Vec<Condition>,
        function: Window,
        partition: Option<Expr>,
        order: Vec<Key>,
    },
    /// The first part of every item, by an order.
    First {
        filter: Vec<Condition>,
        order: Vec<Key>,
    },
    /// A change of the first rows by an order, which are locked first.
    Claim {
        filter: Vec<Condition>,
        order: Vec<Key>,
        limit: i64,
        to: Vec<(&'static str, Expr)>,
        passes_over: bool,
    },
    Count {
        filter: Vec<Condition>,
        /// The columns that make a group; none for one group of all.
        groups: Vec<Expr>,
        values: Vec<Aggregate>,
        having: Option<i64>,
    },
    Change {
        filter: Vec<Condition>,
        to: Vec<(&'static str, Expr)>,
        returns: Vec<Expr>,
    },
    Remove {
        filter: Vec<Condition>,
        returns: Vec<Expr>,
    },
    Add {
        values: Vec<(&'static str, Expr)>,
        /// What a row that is there becomes; nothing: it stays.
        conflict: Vec<(&'static str, Replacement)>,
        /// When the row that is there changes.
        only_if: Option<Condition>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Combination {
    Union,
    All,
    Common,
    Without,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Window {
    Number,
    Rank,
    Before(Expr),
    Sum(Expr),
    Rows,
}

/// What a row that is there gets.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Replacement {
    /// The value that was to be added.
    Proposed,
    Value(Expr),
}

//! What a node of the normal form is, with everything that is not a child.

use std::fmt;

use super::stored::Stored;
use super::words::{Element, Form, Function, Op, Read, Setting, Target};
use crate::tree::JoinKind;

/// What a node is. Its text is that by which nodes are compared, and what seals stand for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Head {
    /// A number as it is written; truth values are numbers.
    Number(String),
    /// A text literal.
    Text(String),
    /// The bytes of a literal as hexadecimal digits.
    Blob(String),
    /// TRUE, FALSE or null inside a document.
    JsonWord(&'static str),
    /// A parameter.
    Param(String),
    /// A column of a relation.
    Column(Box<Column>),
    /// What a function gives of each element of a list.
    Element { list: Relation, what: Element },
    /// An operator, or a condition.
    Op(Op),
    /// A comparison with any element of a list, or with all.
    Quantified { op: Op, all: bool },
    /// LIKE and what is like it.
    Like { op: &'static str, negated: bool, escape: Option<String> },
    /// A call.
    Call(Function),
    /// `count(*)`.
    CallOfRows(Function),
    /// A call of an aggregate that takes equal values once.
    CallOfDistinct(Function),
    /// The greatest or the least of several values, where one of them may be NULL.
    Extreme { of: Extreme, nulls: Nulls },
    /// A cast.
    Cast(Target),
    /// COLLATE.
    Collate(String),
    /// A part of a text, or an operation of the normal form.
    Form(Form),
    /// What is read of a document.
    Read(Read, Path),
    /// What is written into a document; with the objects on the way, if they are made.
    Member { setting: Setting, makes_parents: bool, path: Path },
    /// A document without a member.
    Removed(Path),
    /// Whether a member has one of some types.
    IsOfType { path: Path, types: Vec<&'static str>, negated: bool },
    /// A key of ORDER BY.
    Key { desc: bool, nulls: Option<Place> },
    /// OVER with its frame.
    Over(String),
    /// A CTE of a nested query.
    Cte(String),
    /// UNION, EXCEPT, INTERSECT.
    Set { op: &'static str, all: bool },
    /// What a query reads, with how it joins.
    Source(Box<Joined>),
    /// How a source is joined; none is inner.
    Join(Option<JoinKind>),
    /// A time so much later.
    Later { days: i64, seconds: i64 },
    /// A time that is written.
    Time(String),
    /// Seconds since 1970 as a text, by directives.
    FormattedTime(String),
    /// A value of which only the digest is left.
    Folded(String),
    /// What a clause says, in its words.
    Clause(String),
    /// A text that no tree has a place for.
    Opaque(String),
}

/// A relation of a statement: which occurrence of what.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Relation {
    /// What it is an occurrence of.
    pub(crate) name: String,
    /// From 1.
    pub(crate) occurrence: usize,
}

/// A column of a relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) relation: Relation,
    pub(crate) name: String,
    /// What a write of the unit has left of it.
    pub(crate) written: Option<Written>,
    /// The column of a table that it shows, where its relation is none. It is no part of its text.
    pub(crate) stored: Option<Stored>,
}

/// What a write has changed of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Written {
    /// All of it.
    Whole,
    /// Members of its document, by their first step, in order.
    Members(Vec<String>),
}

/// A source with how it joins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Joined {
    pub(crate) join: Option<JoinKind>,
    pub(crate) relation: Relation,
    /// Whose rows they are, if a function gives them.
    pub(crate) function: Option<Function>,
}

/// What a step begins with that is the name of a member, though it is written like the place of an element.
pub(super) const KEY: &str = "key ";

/// What a step ends with that is the place of an element or the name of a member, as what is there has it.
pub(super) const OR_KEY: &str = " or key";

/// What a step ends with that is the place of an element of an array, and of anything else but an object that itself.
pub(super) const OR_ITSELF: &str = " or itself";

/// Steps into a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Path(pub(crate) Vec<String>);

/// Greatest or least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extreme {
    Greatest,
    Least,
}

/// What NULL among several values does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nulls {
    /// All is NULL.
    Spread,
    /// The others are asked.
    Skipped,
}

/// Where NULLs come in an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    First,
    Last,
}

impl Column {
    /// The table and its column that it shows.
    pub(super) fn in_table(&self) -> (&str, &str) {
        self.stored.as_ref().map_or((&self.relation.name, &self.name), |stored| (&stored.table, &stored.column))
    }
}

impl Head {
    /// The table and its column that a column shows.
    pub(crate) fn in_table(&self) -> Option<(&str, &str)> {
        let Self::Column(column) = self else { return None };
        Some(column.in_table()).filter(|(table, _)| *table != "subquery" && !table.contains(' '))
    }

    /// A column that no write has changed.
    pub(crate) fn column(relation: Relation, name: impl Into<String>) -> Self {
        Self::Column(Box::new(Column { relation, name: name.into(), written: None, stored: None }))
    }

    /// A member that is set in an object that is there.
    pub(crate) fn member(setting: Setting, path: Path) -> Self {
        Self::Member { setting, makes_parents: false, path }
    }

    /// The function whose meaning the node has, where a function's call has become it.
    pub(super) fn function(&self) -> Option<&str> {
        match self {
            Self::Call(function) | Self::CallOfRows(function) | Self::CallOfDistinct(function) => Some(function.word()),
            Self::Extreme { of, .. } => Some(of.word()),
            Self::Form(Form::RoundHalfToEven) => Some("round"),
            Self::Form(Form::SubstrFromTheEnd) => Some("substr"),
            _ => None,
        }
    }

    /// The number that is written.
    pub(crate) fn number(&self) -> Option<&str> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The text of a literal.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Whether it is that number.
    pub(crate) fn is_number(&self, number: &str) -> bool {
        self.number() == Some(number)
    }

    /// Whether it is that text.
    pub(crate) fn is_text(&self, text: &str) -> bool {
        self.text() == Some(text)
    }

    /// Whether it is a text or a number as it is written.
    pub(crate) fn is_literal(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Number(_))
    }

    /// The column of a relation, whatever it shows.
    pub(crate) fn column_name(&self) -> Option<&str> {
        match self {
            Self::Column(column) => Some(&column.name),
            Self::Element { what, .. } => Some(what.word()),
            _ => None,
        }
    }

    /// Whose column it is.
    pub(super) fn relation(&self) -> Option<&Relation> {
        match self {
            Self::Column(column) => Some(&column.relation),
            Self::Element { list, .. } => Some(list),
            _ => None,
        }
    }

    /// Whether it gives what is inside a document, and no text of it.
    pub(super) fn is_document(&self) -> bool {
        match self {
            Self::Read(read, _) => *read != Read::Text,
            Self::Removed(_) | Self::IsOfType { .. } => true,
            Self::Form(form) => form.is_of_documents() && *form != Form::Json,
            _ => false,
        }
    }

    /// Whether it reads or makes documents, whatever parameters and columns are called.
    pub(crate) fn is_of_documents(&self) -> bool {
        match self {
            Self::Read(..) | Self::Removed(_) | Self::IsOfType { .. } | Self::JsonWord(_) => true,
            Self::Form(form) => form.is_of_documents(),
            Self::Cast(target) => *target == Target::Json,
            Self::Call(function) | Self::CallOfRows(function) | Self::CallOfDistinct(function) => {
                function.is_of_documents()
            }
            Self::Source(source) => source.function.as_ref().is_some_and(Function::is_of_documents),
            _ => false,
        }
    }

    /// Whether it reads or converts time, whatever parameters and columns are called.
    pub(crate) fn is_of_time(&self) -> bool {
        match self {
            Self::Time(_) | Self::Later { .. } | Self::FormattedTime(_) => true,
            Self::Form(form) => {
                matches!(form, Form::EpochSeconds | Form::EpochMilliseconds | Form::TimeOfTheStatement)
            }
            Self::Cast(target) => matches!(target, Target::DateTime | Target::Timestamp),
            Self::Call(function) => function.is_of_time(),
            _ => false,
        }
    }
}

impl Form {
    fn is_of_documents(self) -> bool {
        matches!(
            self,
            Self::Json | Self::JsonAppend | Self::JsonArray | Self::JsonGroupArray | Self::JsonObject | Self::JsonSet
        )
    }
}

impl Extreme {
    fn word(self) -> &'static str {
        match self {
            Self::Greatest => "greatest",
            Self::Least => "least",
        }
    }
}

impl From<Op> for Head {
    fn from(op: Op) -> Self {
        Self::Op(op)
    }
}

impl From<Function> for Head {
    fn from(function: Function) -> Self {
        Self::Call(function)
    }
}

impl From<Target> for Head {
    fn from(target: Target) -> Self {
        Self::Cast(target)
    }
}

impl From<Form> for Head {
    fn from(form: Form) -> Self {
        Self::Form(form)
    }
}

impl PartialEq<Op> for Head {
    fn eq(&self, op: &Op) -> bool {
        matches!(self, Self::Op(own) if own == op)
    }
}

impl PartialEq<Function> for Head {
    fn eq(&self, function: &Function) -> bool {
        matches!(self, Self::Call(own) if own == function)
    }
}

impl PartialEq<Target> for Head {
    fn eq(&self, target: &Target) -> bool {
        matches!(self, Self::Cast(own) if own == target)
    }
}

impl PartialEq<Form> for Head {
    fn eq(&self, form: &Form) -> bool {
        matches!(self, Self::Form(own) if own == form)
    }
}

/// The word of a join that changes which rows come, before the name of what is joined.
fn join_word(join: Option<JoinKind>) -> &'static str {
    match join {
        None | Some(JoinKind::Inner | JoinKind::Cross) => "",
        Some(JoinKind::Left) => "left ",
        Some(JoinKind::Right) => "right ",
        Some(JoinKind::Full) => "full ",
    }
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(text) | Self::Clause(text) | Self::Opaque(text) => f.write_str(text),
            Self::Text(text) => write!(f, "'{text}'"),
            Self::Blob(digits) => write!(f, "x'{digits}'"),
            Self::JsonWord(word) => write!(f, "json {word}"),
            Self::Param(name) => write!(f, ":{name}"),
            Self::Column(column) => match &column.written {
                None => write!(f, "{}.{}", column.relation, column.name),
                Some(written) => write!(f, "{}.{}{written}", column.relation, column.name),
            },
            Self::Element { list, what } => write!(f, "{list}.{}", what.word()),
            Self::Op(op) => f.write_str(op.word()),
            Self::Quantified { op, all } => write!(f, "{} {}", op.word(), if *all { "all" } else { "any" }),
            Self::Like { op, negated, escape } => {
                write!(f, "{}{op}", if *negated { "not " } else { "" })?;
                escape.as_ref().map_or(Ok(()), |escape| write!(f, " escape {escape}"))
            }
            Self::Call(function) => f.write_str(function.word()),
            Self::CallOfRows(function) => write!(f, "{} *", function.word()),
            Self::CallOfDistinct(function) => write!(f, "{} distinct", function.word()),
            Self::Extreme { of, nulls: Nulls::Spread } => write!(f, "{} or null", of.word()),
            Self::Extreme { of, nulls: Nulls::Skipped } => write!(f, "{} of known", of.word()),
            Self::Cast(target) => write!(f, "cast {}", target.word()),
            Self::Collate(collation) => write!(f, "collate {collation}"),
            Self::Form(form) => f.write_str(form.word()),
            Self::Read(read, path) => write!(f, "{} {path}", read.word()),
            Self::Member { setting, makes_parents, path } => {
                write!(f, "{}{}{path}", if *makes_parents { "with parents " } else { "" }, setting.word())
            }
            Self::Removed(path) => write!(f, "json-remove {path}"),
            Self::IsOfType { path, types, negated } => {
                write!(f, "{} {path} {}", if *negated { "json-is-not" } else { "json-is" }, types.join(" or "))
            }
            Self::Key { desc, nulls } => {
                f.write_str(if *desc { "desc" } else { "asc" })?;
                match nulls {
                    None => Ok(()),
                    Some(Place::First) => f.write_str(" nulls first"),
                    Some(Place::Last) => f.write_str(" nulls last"),
                }
            }
            Self::Over(frame) => write!(f, "over {frame}"),
            Self::Cte(name) => write!(f, "cte {name}"),
            Self::Set { op, all } => write!(f, "{op}{}", if *all { " all" } else { "" }),
            Self::Source(source) => write!(f, "{}{}", join_word(source.join), source.relation),
            Self::Join(None) => f.write_str("inner"),
            Self::Join(join) => f.write_str(join_word(*join)),
            Self::Later { days, seconds } => write!(f, "later by {days} days and {seconds} seconds"),
            Self::Time(time) => write!(f, "time {time}"),
            Self::FormattedTime(format) => write!(f, "formatted time '{format}'"),
            Self::Folded(digest) => write!(f, "value {digest}"),
        }
    }
}

impl Relation {
    pub(crate) fn first(name: impl Into<String>) -> Self {
        Self { name: name.into(), occurrence: 1 }
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.occurrence {
            1 => f.write_str(&self.name),
            occurrence => write!(f, "{}#{occurrence}", self.name),
        }
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("\u{2032}"),
            Self::Members(members) => write!(f, "\u{2032}[{}]", members.join(" ")),
        }
    }
}

impl Path {
    pub(crate) fn of(step: impl Into<String>) -> Self {
        Self(vec![step.into()])
    }

    /// What an element of a list is, whichever it is.
    pub(super) fn element() -> Self {
        Self::of("element")
    }

    /// The steps from a member of a member.
    pub(super) fn then(&self, steps: &[String]) -> Self {
        Self([self.0.as_slice(), steps].concat())
    }

    /// The steps to what would have to be an array for the next one to be the place of an element alone.
    pub(crate) fn to_array(&self) -> Option<Self> {
        let at = self.0.iter().position(|step| step.ends_with(OR_ITSELF))?;
        Some(Self(self.0[..at].to_vec()))
    }

    /// As the configuration names it.
    pub(crate) fn dotted(&self) -> String {
        let named = |step: &String| {
            step.trim_start_matches(KEY).trim_end_matches(OR_KEY).trim_end_matches(OR_ITSELF).to_owned()
        };
        self.0.iter().map(named).collect::<Vec<_>>().join(".")
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'", self.0.join("'.'"))
    }
}

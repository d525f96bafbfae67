//! Values of which more is known: never NULL, a flag.

use super::head::{Extreme, Nulls, Path};
use super::stored::Stored;
use super::words::{Read, Target};
use super::{DIGITS, Function, Head, Names, Node, json, negation};
use crate::dialect::Dialect;
use crate::schema;
use crate::source::Span;
use crate::tree::{Expr, ExprKind, JoinKind, Source, SourceId, SourceKind};
use crate::types::Base;

/// What `[json]` says of a field that no document lacks.
const ALWAYS: &str = " always";

/// What `[json]` says of a field that is a number or a text in which one is written.
const OR_TEXT: &str = " or text";

impl Names<'_> {
    /// Whether an expression is known never to be NULL.
    pub(super) fn required(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Param(name) => !self.pair.nullable.contains(name),
            ExprKind::Number(_) | ExprKind::Text(_) | ExprKind::Bool(_) | ExprKind::Blob(_) => true,
            ExprKind::Binary { op, left, right } if ["+", "-", "*"].contains(&op.as_str()) => {
                self.required(left) && self.required(right)
            }
            ExprKind::Cast { expr, .. } => self.required(expr),
            _ if expr.is_present() || self.is_always_there(expr) => true,
            // A column that Postgres declares NOT NULL has no NULL in either.
            ExprKind::Column { source, column } => {
                let may_miss = || self.holds_null(*source, column) && !self.is_declared_element(*source);
                expr.ty.is_some() && !self.is_outer(*source) && !may_miss()
            }
            ExprKind::Call { name, args, .. } if name == "coalesce" || name == "ifnull" => {
                args.iter().any(|arg| self.required(arg)) || self.is_one_present(args)
            }
            // `CASE WHEN c IS NULL THEN value ELSE c END` is COALESCE in other words.
            ExprKind::Case { operand: None, branches, otherwise: Some(otherwise) } => match branches.as_slice() {
                [(Expr { kind: ExprKind::Is { expr: asked, what: "null", negated: false }, .. }, value)] => {
                    self.required(value) && (is_same_column(asked, otherwise) || self.required(otherwise))
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether an outer join may have found no row of a source.
    pub(super) fn is_outer(&self, source: SourceId) -> bool {
        let kind = |source: &Source| source.join.as_ref().map(|join| join.kind);
        let own = self.sources.get(&source).copied().and_then(kind);
        let preserved = |kind| matches!(kind, Some(JoinKind::Right | JoinKind::Full));
        matches!(own, Some(JoinKind::Left | JoinKind::Full))
            || self.sources.values().any(|other| preserved(kind(other)))
    }

    /// Whether a column of a table may be NULL in a row that is there.
    fn holds_null(&self, source: SourceId, column: &str) -> bool {
        self.pg_column(source, column).is_none_or(|column| column.ty.nullable) && !self.is_declared(source, column)
    }

    /// Whether the project declares that no program writes NULL into a column.
    fn is_declared(&self, source: SourceId, column: &str) -> bool {
        let stored = self.stored_column(source, column).filter(|stored| !stored.may_miss);
        stored.is_some_and(|Stored { table, column, .. }| self.pair.promised.is_never_null(&table, &column))
    }

    /// Whether the arguments are columns of both sides of a FULL JOIN, neither NULL in its table: one row is there.
    fn is_one_present(&self, args: &[Expr]) -> bool {
        let sources = self.statement.sources();
        let [first, second] = sources.as_slice() else { return false };
        let full = second.join.as_ref().is_some_and(|join| join.kind == JoinKind::Full);
        let has = |id: SourceId| {
            args.iter().any(|arg| match &arg.kind {
                ExprKind::Column { source, column } => *source == id && !self.holds_null(id, column),
                _ => false,
            })
        };
        full && has(first.id) && has(second.id)
    }

    pub(super) fn pg_column(&self, source: SourceId, column: &str) -> Option<&schema::Column> {
        let SourceKind::Table(table) = &self.sources.get(&source)?.kind else { return None };
        self.pair.schemas.pg.tables.get(table)?.column(column)
    }

    /// Whether an expression is a column of ids on Postgres.
    pub(super) fn is_id(&self, expr: &Expr) -> bool {
        let ExprKind::Column { source, column } = &expr.kind else { return false };
        self.pg_column(*source, column).is_some_and(|column| column.ty.base == Base::Uuid)
    }

    /// The type that the project declares for a field of a JSON document.
    pub(super) fn json_type(&self, document: &Node, steps: &str) -> Option<&str> {
        self.json_declared(document, steps).filter(|word| !word.ends_with("[]") && !word.ends_with(OR_TEXT))
    }

    /// The type that the project declares for the elements of a field that is an array.
    pub(super) fn json_elements(&self, document: &Node, steps: &str) -> Option<&str> {
        self.json_declared(document, steps).and_then(|word| word.strip_suffix("[]"))
    }

    /// The number that a member is declared to be or to spell: a cast reads it alike from either.
    pub(super) fn spelled_number(&self, read: &Node) -> Option<Target> {
        let (Head::Read(_, path), [document]) = (&read.head, read.kids.as_slice()) else { return None };
        let declared = self.json_declared(document, &path.dotted())?;
        if declared == DIGITS { Some(Target::Int) } else { declared.strip_suffix(OR_TEXT).map(Target::declared) }
    }

    fn json_declared(&self, document: &Node, steps: &str) -> Option<&str> {
        let word = self.json_words(document, steps)?;
        Some(word.strip_suffix(ALWAYS).unwrap_or(word))
    }

    /// What the project declares of a field, word for word.
    fn json_words(&self, document: &Node, steps: &str) -> Option<&str> {
        let (owner, name) = match &document.head {
            Head::Column(shown) => shown.in_table(),
            Head::Param(name) => (self.statement.name.as_str(), name.as_str()),
            _ => return None,
        };
        self.pair.promised.json_type(owner, name, steps)
    }

    /// Whether a document, or a member of it, is known to be an array.
    pub(super) fn is_array(&self, document: &Node, path: &Path) -> bool {
        let Head::Column(shown) = &document.head else { return false };
        let (table, column) = shown.in_table();
        match path.0.is_empty() {
            true => self.pair.promised.json_list(table, column).is_some() || self.is_checked(table, column, "array"),
            false => self.json_elements(document, &path.dotted()).is_some(),
        }
    }

    /// Whether the documents in a column are known to be objects.
    pub(super) fn is_object(&self, document: &Node) -> bool {
        let (owner, name) = match &document.head {
            Head::Column(shown) => shown.in_table(),
            Head::Param(name) => (self.statement.name.as_str(), name.as_str()),
            _ => return false,
        };
        self.pair.promised.is_json_object(owner, name) || self.is_checked(owner, name, "object")
    }

    /// Whether a schema checks that the documents in a column are of a kind.
    fn is_checked(&self, table: &str, column: &str, kind: &str) -> bool {
        let condition = schema::condition(&format!("jsonb_typeof(\"{column}\") = '{kind}'"), Dialect::Pg);
        let holds = |schema: &schema::Schema| {
            let checks = schema.tables.get(table).into_iter().flat_map(|table| &table.checks);
            let mut kept = checks.filter(|check| check.holds_of_all_rows).flat_map(|check| &check.conjuncts);
            kept.any(|own| Some(own) == condition.as_ref())
        };
        holds(self.pair.schemas.sqlite) || holds(self.pair.schemas.pg)
    }

    /// Whether an expression reads a field that the project declares to be in every document.
    fn is_always_there(&self, expr: &Expr) -> bool {
        let document = match &expr.kind {
            ExprKind::Binary { op, left, .. } if op == "->>" || op == "#>>" => Some(left.as_ref()),
            ExprKind::Call { name, args, .. } if name == "json_extract" => args.first(),
            _ => None,
        };
        if document.and_then(|document| self.stored(document)).is_none_or(|stored| stored.may_miss) {
            return false;
        }
        let node = self.plain(expr);
        let (Head::Read(_, path), [document]) = (&node.head, node.kids.as_slice()) else { return false };
        self.json_words(document, &path.dotted()).is_some_and(|word| word.ends_with(ALWAYS))
    }

    /// Whether an expression is a column that the project declares to hold JSON arrays.
    pub(super) fn is_json_list(&self, expr: &Expr) -> bool {
        self.json_list(expr).is_some()
    }

    /// What the project declares the arrays in a column to be.
    pub(super) fn json_list(&self, expr: &Expr) -> Option<&str> {
        let Stored { table, column, .. } = self.stored(expr)?;
        self.pair.promised.json_list(&table, &column)
    }

    /// The greatest or least of several: three meanings.
    pub(super) fn extreme(&self, name: &str, args: &[Expr]) -> Option<Head> {
        let (of, nulls) = match name {
            "max" => (Extreme::Greatest, Nulls::Spread),
            "min" => (Extreme::Least, Nulls::Spread),
            "greatest" => (Extreme::Greatest, Nulls::Skipped),
            "least" => (Extreme::Least, Nulls::Skipped),
            _ => return None,
        };
        Some(match (args.iter().all(|arg| self.required(arg)), of) {
            (true, Extreme::Greatest) => Head::Call(Function::Greatest),
            (true, Extreme::Least) => Head::Call(Function::Least),
            (false, of) => Head::Extreme { of, nulls },
        })
    }

    /// Whether an expression is a column that Postgres knows as boolean, or is made of such columns and conditions.
    pub(super) fn is_flag(&self, expr: &Expr) -> bool {
        if expr.ty.as_ref().is_some_and(|ty| ty.base == Base::Bool) {
            return true;
        }
        match &expr.kind {
            ExprKind::Column { source, column } => {
                self.pg_column(*source, column).is_some_and(|column| column.ty.base == Base::Bool)
            }
            ExprKind::Param(name) => self.pair.flags.contains(name),
            ExprKind::Call { name, args, .. } if ["coalesce", "ifnull", "nullif"].contains(&name.as_str()) => {
                self.are_flags(args.iter())
            }
            ExprKind::Case { branches, otherwise, .. } => {
                self.are_flags(branches.iter().map(|(_, then)| then).chain(otherwise.as_deref()))
            }
            _ => false,
        }
    }

    /// Whether values are flags or the numbers that stand for them, and one is a flag.
    fn are_flags<'e>(&self, values: impl Iterator<Item = &'e Expr> + Clone) -> bool {
        let is_truth = |value: &Expr| match &value.kind {
            ExprKind::Null => true,
            ExprKind::Number(number) => number == "0" || number == "1",
            _ => false,
        };
        values.clone().all(|value| is_truth(value) || self.is_flag(value)) && values.clone().any(|v| self.is_flag(v))
    }

    /// `flag = 1` is the flag, `flag = 0` its opposite.
    pub(super) fn flag(&self, op: &str, left: (&Expr, &Node), right: (&Expr, &Node), span: Span) -> Option<Node> {
        for ((expr, node), (_, truth)) in [(left, right), (right, left)] {
            let is_flag = self.is_flag(expr) || node.head == Head::Cast(Target::of(&Base::Bool));
            let (flag, is_true) = match truth.head.number() {
                Some(number @ ("0" | "1")) if is_flag => (node.clone(), number == "1"),
                _ => match self.flag_as_text(node, truth) {
                    Some(known) => known,
                    None => continue,
                },
            };
            let yes = is_true == (op == "=");
            return Some(if yes { Node { span, ..flag } } else { negation::negated(flag, span) });
        }
        None
    }

    /// A member that is declared a boolean and read as a text, beside the text of one, with which of the two that is.
    fn flag_as_text(&self, member: &Node, truth: &Node) -> Option<(Node, bool)> {
        let Head::Read(Read::Text, path) = &member.head else { return None };
        let is_true = match truth.head.text()? {
            "true" => true,
            "false" => false,
            _ => return None,
        };
        let declared = self.json_type(member.kids.first()?, &path.dotted()).filter(|word| *word == "bool")?;
        (self.dialect() == Dialect::Pg).then(|| (json::declared(member.clone(), declared), is_true))
    }
}

/// `COALESCE(max(a, b), a, b)` of SQLite skips NULLs, as `greatest(a, b)` of Postgres does.
pub(super) fn without_nulls(kids: &[Node]) -> Option<Node> {
    let (first, rest) = kids.split_first()?;
    let Head::Extreme { of, nulls: Nulls::Spread } = first.head else { return None };
    let sorted = |nodes: &[Node]| {
        let mut keys: Vec<String> = nodes.iter().map(Node::key).collect();
        keys.sort();
        keys
    };
    (sorted(&first.kids) == sorted(rest)).then(|| first.with_head(Head::Extreme { of, nulls: Nulls::Skipped }))
}

fn is_same_column(a: &Expr, b: &Expr) -> bool {
    match (&a.kind, &b.kind) {
        (ExprKind::Column { source, column }, ExprKind::Column { source: of, column: other }) => {
            source == of && column == other
        }
        _ => false,
    }
}

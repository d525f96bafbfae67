//! Values before and after a write of the same unit.
//!
//! RETURNING gives what an UPDATE or an upsert left, and so does a CTE of Postgres that writes. A later statement
//! of a SQLite unit sees it too when it reads the table; a CTE of Postgres that reads the table does not.

use std::collections::BTreeMap;

use super::head::Written;
use super::words::Form;
use super::{Head, Names, Node, writing_part};
use crate::dialect::Dialect;
use crate::tree::{Body, ConflictAction, Expr, ExprKind, OutputColumn, Part, Source, SourceKind, Statement};

/// Columns that a write gives new values, with those values.
pub(super) type Changed<'t> = BTreeMap<String, Vec<&'t Expr>>;

/// The columns to which a write gives new values, of rows that were there before.
fn changed(part: &Part) -> Changed<'_> {
    let set = match &part.body {
        Body::Update(update) => &update.set,
        Body::Insert(insert) => match insert.conflict.as_ref().map(|conflict| &conflict.action) {
            Some(ConflictAction::Update { set, .. }) => set,
            _ => return Changed::new(),
        },
        Body::Query(_) | Body::Delete(_) => return Changed::new(),
    };
    set.iter().map(|assignment| (assignment.column.clone(), vec![&assignment.value])).collect()
}

/// The columns of a source that earlier statements of a SQLite unit have changed.
pub(super) fn seen_by<'t>(statement: &'t Statement, part: &Part, source: &Source) -> Changed<'t> {
    let mut all = Changed::new();
    let SourceKind::Table(table) = &source.kind else { return all };
    if statement.dialect != Dialect::Sqlite {
        return all;
    }
    let same = |other: &&Part| {
        other.statement < part.statement
            && matches!(other.target().map(|target| &target.kind), Some(SourceKind::Table(name)) if name == table)
    };
    for (column, values) in statement.parts.iter().filter(same).flat_map(changed) {
        all.entry(column).or_default().extend(values);
    }
    all
}

/// A document as a read of `step` sees it: a write of other keys has not changed that.
pub(super) fn seen_at(mut document: Node, step: &str) -> Node {
    if let Head::Column(column) = &mut document.head
        && matches!(&column.written, Some(Written::Members(members)) if !members.iter().any(|member| member == step))
    {
        column.written = None;
    }
    document
}

impl Names<'_> {
    /// A column of RETURNING, as the write left it.
    pub(crate) fn output(&self, part: &Part, expr: &Expr) -> Node {
        let mut node = self.expr(expr);
        if let (ExprKind::Column { source, column }, Some(target)) = (&expr.kind, part.target())
            && let Head::Column(shown) = &mut node.head
            && *source == target.id
            && shown.written.is_none()
        {
            shown.written = self.written(&changed(part), column);
        }
        node
    }

    /// What writes have left of a column.
    pub(super) fn written(&self, changed: &Changed<'_>, column: &str) -> Option<Written> {
        let members: Option<Vec<Vec<String>>> =
            changed.get(column)?.iter().map(|value| self.members(value, column)).collect();
        Some(members.map_or(Written::Whole, |members| Written::Members(members.concat())))
    }

    /// The members of a document that an assignment changes, if it changes no more.
    fn members(&self, value: &Expr, column: &str) -> Option<Vec<String>> {
        let node = self.expr(value);
        let (Head::Form(Form::JsonSet), [document, members]) = (&node.head, node.kids.as_slice()) else { return None };
        if !matches!(&document.head, Head::Column(changed) if changed.name == column) {
            return None;
        }
        let step = |member: &Node| match &member.head {
            Head::Member { path, .. } => path.0.first().cloned(),
            _ => None,
        };
        let mut steps: Vec<String> = members.kids.iter().map(step).collect::<Option<_>>()?;
        steps.sort_unstable();
        Some(steps)
    }

    /// The value behind a column of a CTE that writes: what its RETURNING said.
    pub(super) fn returned(&self, source: &Source, column: &str) -> Option<Node> {
        let SourceKind::Cte(name) = &source.kind else { return None };
        let part = writing_part(self.statement, name)?;
        let returning: &[OutputColumn] = match &part.body {
            Body::Insert(insert) => &insert.returning,
            Body::Update(update) => &update.returning,
            Body::Delete(delete) => &delete.returning,
            Body::Query(_) => return None,
        };
        returning.iter().find(|output| output.name == column).map(|output| self.output(part, &output.expr))
    }
}

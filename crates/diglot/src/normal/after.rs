//! Values before and after a write of the same unit.
//!
//! RETURNING gives what an UPDATE or an upsert left, and so does a CTE of Postgres that writes. A later statement
//! of a SQLite unit sees it too when it reads the table; a CTE of Postgres that reads the table does not.

use std::collections::BTreeMap;

use super::{Names, Node, writing_part};
use crate::dialect::Dialect;
use crate::tree::{Body, ConflictAction, Expr, ExprKind, OutputColumn, Part, Source, SourceKind, Statement};

/// Stands behind the name of a column that shows what a write left; the keys follow in brackets when the write
/// changed some keys of a JSON document alone.
const MARK: char = '\u{2032}';

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

/// A key without its marks.
pub(crate) fn unmarked(key: &str) -> String {
    let mut text = String::new();
    let mut rest = key;
    while let Some((before, after)) = rest.split_once(MARK) {
        text.push_str(before);
        rest = after.strip_prefix('[').and_then(|keys| keys.split_once(']')).map_or(after, |(_, after)| after);
    }
    text + rest
}

/// A document as a read of `step` sees it: a write of other keys has not changed that.
pub(super) fn seen_at(document: Node, step: &str) -> Node {
    let Some((name, keys)) = document.head.split_once(MARK) else { return document };
    let Some(keys) = keys.strip_prefix('[').and_then(|keys| keys.strip_suffix(']')) else { return document };
    if keys.split(' ').any(|key| key == step) {
        return document;
    }
    Node { head: name.to_owned(), ..document }
}

impl Names<'_> {
    /// A column of RETURNING, as the write left it.
    pub(crate) fn output(&self, part: &Part, expr: &Expr) -> Node {
        let node = self.expr(expr);
        let (ExprKind::Column { source, column }, Some(target)) = (&expr.kind, part.target()) else { return node };
        if *source != target.id || node.head.contains(MARK) {
            return node;
        }
        let head = format!("{}{}", node.head, self.mark(&changed(part), column));
        Node { head, ..node }
    }

    /// What stands behind the name of a column.
    pub(super) fn mark(&self, changed: &Changed<'_>, column: &str) -> String {
        let Some(values) = changed.get(column) else { return String::new() };
        let keys: Option<Vec<String>> = values.iter().map(|value| self.keys(value, column)).collect();
        keys.map_or_else(|| MARK.to_string(), |keys| format!("{MARK}[{}]", keys.join(" ")))
    }

    /// The keys of a document that an assignment changes, if it changes no more.
    fn keys(&self, value: &Expr, column: &str) -> Option<String> {
        let node = self.expr(value);
        let ("json-set", [document, members]) = (node.head.as_str(), node.kids.as_slice()) else { return None };
        if !document.kids.is_empty() || !unmarked(&document.head).ends_with(&format!(".{column}")) {
            return None;
        }
        let mut keys: Vec<&str> =
            members.kids.iter().map(|member| member.head.split('\'').nth(1)).collect::<Option<_>>()?;
        keys.sort_unstable();
        Some(keys.join(" "))
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

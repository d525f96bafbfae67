//! Differences that follow from what the project declares once: a column that one schema alone has, a clause that one of
//! the databases never gets, documents whose texts are parsed by whoever gets them, and the number of a new row, which a
//! driver of SQLite has without asking.

use super::Manner;
use super::difference::Difference;
use crate::dialect::Both;
use crate::facts::Kind;
use crate::infer::PageOf;
use crate::normal::{Node, Target};
use crate::schema::Fill;
use crate::tree::{Body, Rows, SourceKind};
use crate::types::Base;

/// Why a difference needs no declaration of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    /// It is about a column that one page's table alone has, as the schemas declare.
    Column,
    /// It is the spelling of a document, which is parsed (`json_text = "parsed"`).
    Spelling,
    /// It is a clause of a text for both that one of them never gets (`[stripped]`).
    Stripped,
    /// It is the number of the new row, which SQLite's drivers give without RETURNING.
    RowId,
}

/// Whether a difference is implied.
pub(super) fn ground(
    pages: Both<&PageOf<'_>>,
    difference: &Difference<'_>,
    group: &str,
    manner: Manner,
) -> Option<Ground> {
    if manner.by_number && group == "result" && difference.kind == Kind::Columns && is_row_id(pages, difference) {
        return Some(Ground::RowId);
    }
    if manner.texts_are_parsed
        && group == "result"
        && difference.kind == Kind::Columns
        && is_spelling(pages, difference)
    {
        return Some(Ground::Spelling);
    }
    if is_stripped(pages, difference) {
        return Some(Ground::Stripped);
    }
    is_of_lone_column(pages, difference, group).then_some(Ground::Column)
}

/// Whether a page says what the other one has as well, but for being without it on its way to the database.
fn is_stripped(pages: Both<&PageOf<'_>>, difference: &Difference<'_>) -> bool {
    match (difference.sqlite, difference.pg) {
        (None, Some(node)) => pages.sqlite.raw.is_left_out(node.span),
        (Some(node), None) => pages.pg.raw.is_left_out(node.span),
        _ => false,
    }
}

/// Whether Postgres alone gives the number of the one row that both pages write. What a conflict leaves is no new row,
/// and SQLite's drivers go on telling of an older one then.
fn is_row_id(pages: Both<&PageOf<'_>>, difference: &Difference<'_>) -> bool {
    let (None, Some(node)) = (difference.sqlite, difference.pg) else { return false };
    let written = pages.sqlite.tree.parts.iter().find_map(|part| match &part.body {
        Body::Insert(insert) => Some(insert),
        _ => None,
    });
    let Some(insert) = written else { return false };
    let SourceKind::Table(table) = &insert.target.kind else { return false };
    let is_new = insert.returning.is_empty() && insert.or.is_none() && insert.conflict.is_none();
    let is_one = matches!(&insert.rows.rows, Rows::Values(rows, _) if rows.len() == 1);
    let numbers = column(node).is_some_and(|(of, name)| {
        let known = pages.sqlite.schema.tables.get(table).and_then(|table| table.column(&name));
        of == *table && known.is_some_and(|column| matches!(column.fill, Fill::RowId | Fill::Numbered))
    });
    is_new && is_one && numbers
}

/// Whether the pages give the same document as text, which Postgres prints and SQLite has as it was written.
fn is_spelling(pages: Both<&PageOf<'_>>, difference: &Difference<'_>) -> bool {
    let (Some(sqlite), Some(pg)) = (difference.sqlite, difference.pg) else { return false };
    let [document] = pg.kids.as_slice() else { return false };
    let is_document = column(document).is_some_and(|(table, column)| {
        let table = pages.pg.schema.tables.get(&table);
        table.and_then(|table| table.column(&column)).is_some_and(|column| column.ty.base == Base::Json)
    });
    let is_printed = |node: &Node| node.head == Target::Text;
    let inner = match sqlite.kids.as_slice() {
        [inner] if is_printed(sqlite) => inner,
        _ => sqlite,
    };
    is_document && is_printed(pg) && inner.key() == document.key()
}

/// Whether a page says no more than what a column is that the facing table lacks.
fn is_of_lone_column(pages: Both<&PageOf<'_>>, difference: &Difference<'_>, group: &str) -> bool {
    let target = group.rsplit(' ').next().unwrap_or_default().split('#').next().unwrap_or_default();
    match (difference.kind, difference.sqlite, difference.pg) {
        (Kind::Where, Some(node), None) | (Kind::Where, None, Some(node)) => {
            let [left, right] = node.kids.as_slice() else { return false };
            let is_pin = |own: &Node, value: &Node| {
                let is_value = value.kids.is_empty() && column(value).is_none();
                is_value && column(own).is_some_and(|(table, name)| is_alone(pages, &table, &name))
            };
            node.head.to_string() == "=" && (is_pin(left, right) || is_pin(right, left))
        }
        (Kind::Insert, Some(_), None) | (Kind::Insert, None, Some(_)) => is_alone(pages, target, &difference.item),
        (Kind::Conflict, Some(sqlite), Some(pg)) if difference.item == "target" => {
            let common = |node: &Node| -> Vec<String> {
                let columns = node.head.to_string();
                columns.split(", ").filter(|name| !is_alone(pages, target, name)).map(str::to_owned).collect()
            };
            common(sqlite) == common(pg)
        }
        _ => false,
    }
}

/// Whether one of two tables of that name alone has a column. Where each has one that the other lacks, it may be one
/// column under two names.
fn is_alone(pages: Both<&PageOf<'_>>, table: &str, column: &str) -> bool {
    let (Some(ours), Some(theirs)) = (pages.sqlite.schema.tables.get(table), pages.pg.schema.tables.get(table)) else {
        return false;
    };
    let (wider, other) = match (ours.column(column), theirs.column(column)) {
        (Some(_), None) => (ours, theirs),
        (None, Some(_)) => (theirs, ours),
        _ => return false,
    };
    other.columns.iter().all(|column| wider.column(&column.name).is_some())
}

/// The table and the column that a leaf names; a second occurrence of a table is that table.
fn column(node: &Node) -> Option<(String, String)> {
    node.head.column_name()?;
    let head = node.head.to_string();
    let (table, column) = head.rsplit_once('.')?;
    Some((table.split('#').next().unwrap_or(table).to_owned(), column.to_owned()))
}

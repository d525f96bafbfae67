//! The list of rows that a statement takes: the types of its fields, and how answers find their row.

use super::{Calls, Matched, PageOf, Param, ResultColumn, RowsParam, newtype, walk};
use crate::config::Config;
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::page::{AnnotationKind, Cardinality, ORDINALITY, RowsTaken};
use crate::rule;
use crate::types::{Base, Stored, Type};

/// The rows that both pages take, or that there are none. `None` when no function can be made; then there is a finding.
pub(super) fn infer(
    config: &Config,
    pages: &[&PageOf<'_>],
    columns: Option<&[ResultColumn]>,
    found: &mut Vec<Diagnostic>,
) -> Option<Option<RowsParam>> {
    let first = pages.first()?;
    let taken: Vec<Option<RowsTaken<'_>>> = pages.iter().map(|page| page.raw.rows()).collect();
    let Some(rows) = taken.iter().flatten().next() else { return Some(None) };
    if let Some(at) = taken.iter().position(|other| !other.as_ref().is_some_and(|other| is_same(rows, other))) {
        found.push(apart(pages, &taken, rows, at));
        return None;
    }
    unread(first, rows, pages, found);
    let evidence: Vec<_> = pages.iter().map(|page| (page.tree.dialect, walk::evidence(page.tree))).collect();
    let mut fields = Vec::new();
    for field in &rows.fields {
        let met =
            || evidence.iter().flat_map(|(dialect, page)| page.of_field(&field.name).iter().map(move |e| (dialect, e)));
        let of_sqlite = met().filter(|(dialect, _)| **dialect == Dialect::Sqlite);
        let stored = of_sqlite.filter_map(|(_, e)| e.hint.base.stored()).find(|held| held.of.base() == field.ty.base);
        let on_sqlite = pages.iter().any(|page| page.tree.dialect == Dialect::Sqlite);
        if stored.is_none() && on_sqlite && (field.ty.base.is_time() || field.ty.base == Base::Numeric) {
            found.push(unheld(first, rows, &field.name, &field.ty.base));
            return None;
        }
        let origins = met().filter_map(|(_, e)| e.hint.origin.as_ref());
        let rust = newtype(config, pages, &field.ty.base, origins);
        fields.push(param(&field.name, &field.ty, rust, stored));
    }
    let key: Vec<String> = rows.fields.iter().filter(|field| field.key).map(|field| field.name.clone()).collect();
    let matched = match (first.raw.cardinality, columns) {
        (Cardinality::Exec | Cardinality::Rows, _) | (_, None) => None,
        (Cardinality::Stream, _) => {
            let message = format!("{}: `:stream` on a statement that takes rows", first.raw.name);
            let finding =
                Diagnostic::error(rule::CARDINALITY_COLUMNS, message, first.raw.cardinality_span, "no stream");
            found.push(finding.help("write `:one`, `:opt` or `:many`: the answers of each row come together"));
            return None;
        }
        (_, Some(columns)) => match matched(&fields, &key, columns) {
            None => {
                found.push(unmatched(first, rows, &key));
                return None;
            }
            matched => matched,
        },
    };
    let calls = pages.iter().flat_map(|page| &page.raw.annotations).find_map(|annotation| match &annotation.kind {
        AnnotationKind::Each { name, by, .. } => Some(Calls { of: name.clone(), by: by.clone() }),
        _ => None,
    });
    Some(Some(RowsParam { name: rows.name.to_owned(), fields, key, matched, calls }))
}

fn param(name: &str, ty: &Type, rust: Option<String>, stored: Option<Stored>) -> Param {
    Param { rust, stored, ..Param::plain(name, ty.clone()) }
}

fn is_same(rows: &RowsTaken<'_>, other: &RowsTaken<'_>) -> bool {
    rows.name == other.name && rows.fields == other.fields
}

fn matched(fields: &[Param], key: &[String], columns: &[ResultColumn]) -> Option<Matched> {
    if columns.iter().any(|column| column.name == ORDINALITY && column.ty.base == Base::Int64) {
        return Some(Matched::Ordinality);
    }
    let is_answered = |name: &String| {
        let field = fields.iter().find(|field| field.name == *name);
        let column = columns.iter().find(|column| column.name == *name);
        let both = field.zip(column);
        both.is_some_and(|(field, column)| field.ty == column.ty && field.rust == column.rust)
    };
    (!key.is_empty() && key.iter().all(is_answered)).then_some(Matched::Key)
}

/// Pages that do not take the same rows.
fn apart(pages: &[&PageOf<'_>], taken: &[Option<RowsTaken<'_>>], rows: &RowsTaken<'_>, at: usize) -> Diagnostic {
    let (page, other) = (pages[at], taken[at].as_ref());
    let message = format!("{}: the pages do not take the same rows", page.raw.name);
    let finding = Diagnostic::error(rule::PARAMS_DIFFER, message, rows.span, "this page takes these");
    match other {
        Some(other) => finding.and(other.span, "and this page these").help("write the same line on both pages"),
        None => finding
            .and(page.raw.name_span, format!("the {} page takes none", page.tree.dialect.title()))
            .help("write the same line on both pages"),
    }
}

/// Fields that no page reads.
fn unread(first: &PageOf<'_>, rows: &RowsTaken<'_>, pages: &[&PageOf<'_>], found: &mut Vec<Diagnostic>) {
    for field in &rows.fields {
        let reads = |page: &&&PageOf<'_>| page.tree.reads_field(&field.name);
        if !pages.iter().any(|page| reads(&page)) {
            let message = format!("{}: nothing reads the field `{}` of `{}`", first.raw.name, field.name, rows.name);
            let finding = Diagnostic::error(rule::UNUSED_ANNOTATION, message, rows.span, "declares it");
            found.push(finding.help("leave it out, or correct its name"));
        }
    }
}

fn unheld(first: &PageOf<'_>, rows: &RowsTaken<'_>, field: &str, base: &Base) -> Diagnostic {
    let (name, list, word) = (&first.raw.name, rows.name, base.word());
    let message = format!("{name}: nothing says how SQLite holds `{list}.{field}`");
    let label = format!("a `{word}` that meets no column of SQLite that holds one");
    Diagnostic::error(rule::PARAM_TYPE_UNKNOWN, message, rows.span, label)
        .help("give the field the type that SQLite holds, such as `i64`, and cast it on Postgres")
}

fn unmatched(first: &PageOf<'_>, rows: &RowsTaken<'_>, key: &[String]) -> Diagnostic {
    let message = format!("{}: the answers do not say which row they belong to", first.raw.name);
    let list = rows.name;
    let finding =
        Diagnostic::error(rule::UNMATCHED_ROWS, message, first.raw.cardinality_span, "each row gets its own answers")
            .context(rows.span, "the rows");
    let finding = finding.help(format!("add `{list}.{ORDINALITY}` to the columns of the result: it numbers the rows"));
    match key {
        [] => finding.help(format!("or declare the key, `{list}(id uuid key, …)`, and give it back in the result")),
        key => finding.help(format!("or give back the key, each field of its own type: {}", key.join(", "))),
    }
}

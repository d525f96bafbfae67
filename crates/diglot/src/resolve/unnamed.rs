//! Names for result columns that the SQL gives none.
//!
//! Each engine makes up a name of its own for an expression without an alias. The driver gets an alias instead, the same
//! on both pages, so that a field can have it: that of the other page, or else the name that Postgres would give.

use std::collections::BTreeSet;

use super::output::pg_name;
use crate::dialect::Dialect;
use crate::names::is_field_name;
use crate::page::Cardinality;
use crate::source::Span;
use crate::tree::{Body, Expr, ExprKind, OutputColumn, Replacement, Rewrite, Rows, Statement};

/// Names the columns of a statement's pages, of which one may be missing.
pub(crate) fn name_columns(pages: &mut [&mut Statement]) {
    let lists: Vec<Vec<Nameless>> = pages.iter_mut().map(|page| nameless(page)).collect();
    let Some(first) = lists.first() else { return };
    if !lists.iter().flatten().any(|column| column.is_unnamed) {
        return;
    }
    let alike = lists.iter().all(|list| list.len() == first.len());
    let sources = || pages.iter().flat_map(|page| page.sources());
    let known: BTreeSet<String> = sources().flat_map(|source| &source.columns).map(|(name, _)| name.clone()).collect();
    let keys: Vec<BTreeSet<String>> = pages.iter().map(|page| keys(page)).collect();
    let of_pg = pages.iter().position(|page| page.dialect == Dialect::Pg);
    let mut names: Vec<Vec<String>> = lists.iter().map(|list| list.iter().map(|c| c.name.clone()).collect()).collect();
    // Column by column, so that a name that is free on one page is free on the other.
    for at in 0..lists.iter().map(Vec::len).max().unwrap_or_default() {
        let is_taken = |name: &String| {
            let of_list = |(list, names): (&Vec<Nameless>, &Vec<String>)| {
                let mut others = list.iter().zip(names).enumerate().filter(|(other, _)| *other != at);
                others.any(|(other, (seen, known))| known == name && (other < at || !seen.is_unnamed))
            };
            lists.iter().zip(&names).any(of_list)
        };
        let mut chosen = Vec::new();
        for (page, list) in lists.iter().enumerate() {
            let Some(column) = list.get(at).filter(|column| column.is_unnamed) else { continue };
            let mut facing = lists.iter().filter(|_| alike).filter_map(|list| list.get(at));
            // One that rows are sorted or grouped by means a column there, and would mean this one.
            let is_key = |name: &String| keys[page].contains(name);
            let given = facing.find(|column| !column.is_unnamed).map(|column| column.name.clone());
            let given = given.filter(|name| !is_key(name));
            let made = match of_pg.filter(|_| alike) {
                Some(pg) => lists[pg][at].made.clone(),
                None => column.made.clone(),
            };
            // A name that a column has too would mean the alias in an ORDER BY.
            let is_free = |name: &String| is_field_name(name) && !known.contains(name) && !is_taken(name);
            let name = given.or(made.filter(is_free)).unwrap_or_else(|| format!("column_{}", at + 1));
            chosen.push((page, name));
        }
        chosen.into_iter().for_each(|(page, name)| names[page][at] = name);
    }
    for ((page, list), names) in pages.iter_mut().zip(&lists).zip(names) {
        let mut rewrites = Vec::new();
        let columns = outputs(page).into_iter().flatten().zip(list).zip(names);
        for ((column, _), name) in columns.filter(|((_, seen), _)| seen.is_unnamed) {
            let end = Span { start: column.span.end, ..column.span };
            rewrites.push(Rewrite { span: end, by: Replacement::Alias(name.clone()) });
            column.name = name;
        }
        page.rewrites.extend(rewrites);
    }
}

/// The columns by which the rows of the result are sorted or grouped.
fn keys(page: &Statement) -> BTreeSet<String> {
    let part = page.result.and_then(|result| page.parts.get(result));
    let Some(Body::Query(query)) = part.map(|part| &part.body) else { return BTreeSet::new() };
    let groups = match &query.rows {
        Rows::Select(select) => select.group.as_slice(),
        _ => &[],
    };
    let keys = query.order.iter().map(|key| &key.expr).chain(groups).flat_map(Expr::exprs);
    let named = keys.filter_map(|expr| match &expr.kind {
        ExprKind::Column { column, .. } => Some(column.clone()),
        _ => None,
    });
    named.collect()
}

/// What is known of a column before it has a name.
struct Nameless {
    name: String,
    is_unnamed: bool,
    /// The name that Postgres would make.
    made: Option<String>,
}

fn nameless(page: &mut Statement) -> Vec<Nameless> {
    let of = |column: &mut OutputColumn| Nameless {
        name: column.name.clone(),
        // An alias belongs to the column and not to its expression.
        is_unnamed: column.span == column.expr.span && !matches!(column.expr.kind, ExprKind::Column { .. }),
        made: pg_name(&column.expr),
    };
    outputs(page).into_iter().flatten().map(of).collect()
}

/// The columns of the result.
fn outputs(page: &mut Statement) -> Option<&mut Vec<OutputColumn>> {
    // Nobody reads the rows of a query under `:exec`.
    let is_read = page.cardinality != Cardinality::Exec;
    let part = page.parts.get_mut(page.result?)?;
    match &mut part.body {
        Body::Query(_) if !is_read => None,
        Body::Query(query) => of_rows(&mut query.rows),
        Body::Insert(insert) => Some(&mut insert.returning),
        Body::Update(update) => Some(&mut update.returning),
        Body::Delete(delete) => Some(&mut delete.returning),
    }
}

fn of_rows(rows: &mut Rows) -> Option<&mut Vec<OutputColumn>> {
    match rows {
        Rows::Select(select) => Some(&mut select.columns),
        Rows::Set { left, .. } => of_rows(left),
        Rows::Query(query) => of_rows(&mut query.rows),
        Rows::Values(..) => None,
    }
}

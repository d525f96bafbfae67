//! Where something is defined, and where the facing page says it.

use super::spot::{Spot, Thing};
use diglot::page::AnnotationKind;
use diglot::source::Span;
use diglot::tree::{Body, OutputColumn, Part, Rows, Statement};

/// Where that which stands at a place comes from.
pub(super) fn definition(spot: &Spot<'_>) -> Option<Span> {
    match spot.thing()? {
        Thing::Statement => facing(spot),
        Thing::Table(name) => spot.schema().tables.get(&name).map(|table| table.span),
        Thing::Column { table, column } => Some(spot.schema().tables.get(&table)?.column(&column)?.span),
        Thing::Computed { owner, column, .. } => computed(spot.tree()?, &owner, &column),
        Thing::Param(name) => param(spot, &name),
        Thing::Rule(_) => None,
    }
}

/// The name of the statement on the facing page.
pub(super) fn facing(spot: &Spot<'_>) -> Option<Span> {
    spot.opened.as_ref()?.raws[spot.dialect.other()].as_ref().map(|raw| raw.name_span)
}

/// The annotation that gives a parameter its type, else where this page uses it first, else the other page.
fn param(spot: &Spot<'_>, name: &str) -> Option<Span> {
    let opened = spot.opened.as_ref()?;
    let pages = [spot.dialect, spot.dialect.other()];
    let annotated = pages.iter().filter_map(|dialect| opened.raws[*dialect].as_ref()).flat_map(|raw| &raw.annotations);
    let declares =
        |kind: &AnnotationKind| matches!(kind, AnnotationKind::Param { name: declared, .. } if declared == name);
    let declared =
        annotated.into_iter().find(|annotation| declares(&annotation.kind)).map(|annotation| annotation.span);
    declared.or_else(|| {
        let used = pages.iter().filter_map(|dialect| opened.trees[*dialect].as_ref()).flat_map(|tree| &tree.params);
        used.into_iter().find(|used| used.name == name).map(|used| used.span)
    })
}

/// Where the CTE or the subquery of that name gives the column.
fn computed(tree: &Statement, owner: &str, column: &str) -> Option<Span> {
    let source = tree.sources().into_iter().find(|source| source.alias == owner)?;
    let own = source.cte().and_then(|cte| tree.parts.iter().find(|part| part.name.as_deref() == Some(cte)));
    own.and_then(|part| outputs(part).iter().find(|output| output.name == column)).map(|output| output.span)
}

fn outputs(part: &Part) -> &[OutputColumn] {
    match &part.body {
        Body::Query(query) => first(&query.rows),
        Body::Insert(insert) => &insert.returning,
        Body::Update(update) => &update.returning,
        Body::Delete(delete) => &delete.returning,
    }
}

/// The columns of the first select of a set, which names them.
fn first(rows: &Rows) -> &[OutputColumn] {
    match rows {
        Rows::Select(select) => &select.columns,
        Rows::Set { left, .. } => first(left),
        Rows::Query(query) => first(&query.rows),
        Rows::Values(..) => &[],
    }
}

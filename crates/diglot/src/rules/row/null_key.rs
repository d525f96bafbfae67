//! NULL goes into a key.

use crate::rules::Context;
use crate::rules::look::stored;
use crate::diagnostic::Diagnostic;
use crate::infer::origin::{Deep, Sources};
use crate::infer::walk;
use crate::rule;
use crate::schema::Table;
use crate::source::Span;
use crate::tree::{Body, Expr, ExprKind, Part};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let origins = walk::sources(context.page.tree);
    for part in &context.page.tree.parts {
        let Some(table) = context.target(part) else { continue };
        let mut report = |column: &str, span: Span, what: &str, label: &str| {
            let message = format!("{}: {what} the key `{}.{column}`", context.name(), table.name);
            let finding = Diagnostic::error(rule::NULL_KEY, message, span, label);
            found.push(finding.help("give a value that is never NULL, or leave out what the database numbers"));
        };
        let open = left_open(context, table);
        for (column, value) in
            stored(part).into_iter().filter(|(column, _)| table.primary_key.iter().any(|key| key == column))
        {
            if matches!(value.kind, ExprKind::Null) {
                report(column, value.span, "NULL goes into", "refused by Postgres alone");
            } else if open.contains(&column) && may_be_null(context, &origins, value) {
                report(column, value.span, "NULL may go into", "kept by SQLite, refused by Postgres");
            }
        }
        for column in left_out(context, part, &open) {
            report(
                column,
                part.target().map_or(part.span, |target| target.span),
                "the INSERT leaves out",
                "NULL on SQLite",
            );
        }
    }
}

/// The columns of the key into which SQLite lets NULL, on the Postgres page of a pair.
fn left_open<'t>(context: &Context<'_>, table: &'t Table) -> Vec<&'t str> {
    let facing = context.facing.filter(|_| context.is_pg_of_pair());
    let Some(sqlite) = facing.and_then(|facing| facing.schema.tables.get(&table.name)) else { return Vec::new() };
    let is_open = |name: &&str| {
        let open = sqlite.column(name).is_some_and(|column| column.ty.nullable && !column.has_default);
        open && sqlite.primary_key.iter().any(|key| key == name)
    };
    table.primary_key.iter().map(String::as_str).filter(is_open).collect()
}

/// Those of the columns that an INSERT names on neither page. What SQLite's page gives is told by what differs.
fn left_out<'o>(context: &Context<'_>, part: &Part, open: &[&'o str]) -> Vec<&'o str> {
    let names = |part: &Part, name: &str| match &part.body {
        Body::Insert(insert) => insert.gives(name),
        _ => false,
    };
    if !matches!(part.body, Body::Insert(_)) {
        return Vec::new();
    }
    let table = |part: &Part| part.target().and_then(|target| target.table().map(str::to_owned));
    let given = |name: &str| {
        let mut facing = context.facing.iter().flat_map(|facing| &facing.tree.parts);
        facing.any(|other| table(other) == table(part) && names(other, name))
    };
    open.iter().copied().filter(|name| !names(part, name) && !given(name)).collect()
}

/// Whether the statement itself says that a value may be NULL.
fn may_be_null<'t>(context: &Context<'t>, origins: &Sources<'t>, value: &'t Expr) -> bool {
    let by_type = || value.ty.as_ref().is_some_and(|ty| ty.nullable);
    match &value.kind {
        ExprKind::Null => true,
        ExprKind::Param(name) => context.params.iter().any(|param| param.name == *name && param.ty.nullable),
        ExprKind::Cast { expr, .. } | ExprKind::Collate { expr, .. } => may_be_null(context, origins, expr),
        ExprKind::Column { .. } => match origins.deep(value) {
            Deep::Table(origin) => {
                let column = context.page.schema.tables.get(origin.table).and_then(|table| table.column(origin.column));
                by_type() && column.is_some_and(|column| !column.ty.nullable)
            }
            Deep::Expr(inner) => {
                let joined = by_type() && inner.is_present();
                joined || may_be_null(context, origins, inner)
            }
            Deep::Field(_) => by_type(),
            Deep::Unknown => false,
        },
        _ => by_type(),
    }
}

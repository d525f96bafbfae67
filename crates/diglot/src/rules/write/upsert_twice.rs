//! An upsert names one key twice.

use crate::rules::Context;
use crate::rules::look::bare;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Body, ConflictAction, Expr, ExprKind, Rows, Select, SourceKind};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for part in &context.page.tree.parts {
        let Body::Insert(insert) = &part.body else { continue };
        let Some(conflict) = &insert.conflict else { continue };
        let (ConflictAction::Update { .. }, Some(target)) = (&conflict.action, &conflict.target) else { continue };
        let place = |name: &String| insert.columns.iter().position(|(column, _)| column == name);
        let Some(places) = target.iter().map(place).collect::<Option<Vec<_>>>() else { continue };
        let rows = match &insert.rows.rows {
            Rows::Values(rows, _) => rows,
            Rows::Select(select) => {
                of_list(context, select, &places, found);
                continue;
            }
            _ => continue,
        };
        let mut seen = Vec::new();
        for row in rows {
            let values: Option<Vec<&Expr>> = places.iter().map(|at| row.get(*at)).collect();
            let Some(values) = values.filter(|values| !values.is_empty()) else { continue };
            let Some(key) = values.iter().map(|value| fixed(&value.kind)).collect::<Option<Vec<_>>>() else { continue };
            if seen.contains(&key) {
                let message = format!("{}: two rows of the upsert have one key", context.name());
                let finding = Diagnostic::error(rule::UPSERT_TWICE, message, values[0].span, "the same key again");
                found.push(finding.help("write one row for each key, on both pages"));
            }
            seen.push(key);
        }
    }
}

/// An upsert of a list of rows that may have one key twice.
fn of_list(context: &Context<'_>, select: &Select, places: &[usize], found: &mut Vec<Diagnostic>) {
    if select.distinct.is_some() || !select.group.is_empty() {
        return;
    }
    let Some(list) = select.from.iter().find(|source| matches!(source.kind, SourceKind::Rows(_))) else { return };
    let fields: Vec<&str> = places
        .iter()
        .filter_map(|at| match &bare(&select.columns.get(*at)?.expr).kind {
            ExprKind::Column { source, column } if *source == list.id => Some(column.as_str()),
            _ => None,
        })
        .collect();
    let Some(rows) = context.page.raw.rows() else { return };
    let mut key = rows.fields.iter().filter(|field| field.key).peekable();
    if key.peek().is_some() && key.all(|field| fields.contains(&field.name.as_str())) {
        return;
    }
    let message = format!("{}: two rows of `{}` may have one key of the upsert", context.name(), rows.name);
    let finding = Diagnostic::error(rule::UPSERT_TWICE, message, list.span, "nothing tells its rows apart");
    let help = match fields.is_empty() {
        true => "take the target of ON CONFLICT from fields of the list, and write `key` behind them".to_owned(),
        false => format!("write `key` behind {} in `-- rows:`, and behind no other", fields.join(", ")),
    };
    found.push(finding.context(rows.span, "the list").help(help));
}

/// What a value is that is the same wherever it stands.
fn fixed(kind: &ExprKind) -> Option<(&'static str, &str)> {
    match kind {
        ExprKind::Number(text) => Some(("number", text)),
        ExprKind::Text(text) => Some(("text", text)),
        ExprKind::Param(name) => Some(("parameter", name)),
        _ => None,
    }
}

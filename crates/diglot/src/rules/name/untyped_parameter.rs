//! The type of a parameter decides, and nothing says what the program binds.

use std::collections::BTreeMap;

use crate::rules::Context;
use crate::rules::look::{assignments, bare, inserted, is_comparison, returning};
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::schema::Column;
use crate::source::Span;
use crate::tree::{Body, Expr, ExprKind, OutputColumn, Part, Rows, SourceKind};
use crate::types::Base;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if context.config.generate.enabled || !context.is_pg_of_pair() {
        return;
    }
    let before = found.len();
    context.page.tree.parts.iter().for_each(|part| into_several_columns(context, part, found));
    of_subqueries(context, found);
    in_result(context, found);
    beside_literals(context, found);
    left_out(context, found);
    // One finding for each parameter: the first says enough.
    let mut told: Vec<String> = Vec::new();
    let mut at = 0;
    found.retain(|finding| {
        at += 1;
        let is_new = at <= before || !told.contains(&finding.message);
        told.push(finding.message.clone());
        is_new
    });
}

impl Context<'_> {
    /// The parameter that an expression is, where nothing says its type.
    fn untyped<'e>(&self, expr: &'e Expr) -> Option<&'e str> {
        match &expr.kind {
            ExprKind::Param(name) => self.declared(name).is_none().then_some(name.as_str()),
            ExprKind::Collate { expr, .. } => self.untyped(expr),
            _ => None,
        }
    }

    fn untyped_finding(&self, name: &str, span: Span, label: impl Into<String>, word: &str) -> Diagnostic {
        let message = format!("{}: nothing says what is bound for `:{name}`, and it matters", self.name());
        Diagnostic::error(rule::UNTYPED_PARAMETER, message, span, label)
            .help(format!("say what the program binds, above the statement: `-- param: {name} {word}`"))
    }
}

/// The type by which Postgres tells a column's values from those of another one.
fn type_of(column: &Column) -> &str {
    let head = column.declared.split('(').next().unwrap_or_default().trim();
    match (&column.ty.base, head) {
        (Base::Text, "character varying") => "varchar",
        (Base::Text, "character" | "bpchar") => "char",
        (Base::Text | Base::Json | Base::Enum(_), head) => head,
        (base, _) => base.word(),
    }
}

/// One parameter for columns of several types. What is deduced of it before the columns are looked at settles it.
fn into_several_columns(context: &Context<'_>, part: &Part, found: &mut Vec<Diagnostic>) {
    let Some(table) = context.target(part) else { return };
    let width = match &part.body {
        Body::Insert(insert) => insert.columns.len().max(1),
        _ => 1,
    };
    let (row, set) = (inserted(part), assignments(part).iter().map(|set| (set.column.as_str(), &set.value)));
    let set: Vec<(&str, &Expr)> = set.collect();
    for group in row.chunks(width).chain([set.as_slice()]) {
        let mut first: BTreeMap<&str, &Column> = BTreeMap::new();
        for (name, value) in group {
            let (Some(param), Some(column)) = (context.untyped(value), table.column(name)) else { continue };
            let uses = context.exprs.iter().filter(|expr| expr.is_param(param)).count();
            let in_group = group.iter().filter(|(_, value)| context.untyped(value) == Some(param)).count();
            let other = *first.entry(param).or_insert(column);
            if type_of(other) != type_of(column) && uses == in_group {
                let label = format!("`{}` here and `{}` for `{}`", type_of(column), type_of(other), other.name);
                let finding = context.untyped_finding(param, value.span, label, column.ty.base.word());
                found.push(finding.help("or cast it in one of the places, or use two parameters"));
            }
        }
    }
}

/// Columns of subqueries and CTEs that are a parameter by itself, and no text.
fn of_subqueries(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let derived = context.by_id.values().filter_map(|source| match &source.kind {
        SourceKind::Derived(query) => Some(&**query),
        SourceKind::Cte(name) => context.cte(name),
        _ => None,
    });
    for query in derived {
        let Rows::Select(select) = &query.rows else { continue };
        for column in &select.columns {
            let Some(param) = context.untyped(&column.expr) else { continue };
            if let Some(base) = context.holds(&column.expr).filter(|base| **base != Base::Text) {
                let finding = context.untyped_finding(param, column.span, "a text on Postgres", base.word());
                found.push(finding.help(format!("and cast it here: `CAST(:{param} AS {})`", written(base))));
            }
        }
    }
}

/// Parameters whose values a result shows.
fn in_result(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let Some(part) = context.page.tree.result.and_then(|at| context.page.tree.parts.get(at)) else { return };
    let columns: &[OutputColumn] = match &part.body {
        Body::Query(query) => match &query.rows {
            Rows::Select(select) => &select.columns,
            _ => &[],
        },
        _ => returning(part),
    };
    for column in columns {
        let mut shown = Vec::new();
        flows(&column.expr, &mut shown);
        for value in shown {
            let Some(param) = context.untyped(value) else { continue };
            let is_alone = std::ptr::eq(value, bare(&column.expr));
            let (label, base) = match context.holds(value) {
                Some(Base::Text | Base::Json) => continue,
                Some(base) => (format!("what is bound on SQLite, `{}` on Postgres", base.word()), base.clone()),
                None if is_alone => ("what is bound on SQLite, a text on Postgres".to_owned(), Base::Text),
                None => continue,
            };
            let finding = context.untyped_finding(param, value.span, label, base.word());
            found.push(finding.help(format!("or cast it on both pages: `CAST(:{param} AS {})`", written(&base))));
        }
    }
}

/// The values that an expression may have, as they stand.
fn flows<'e>(expr: &'e Expr, found: &mut Vec<&'e Expr>) {
    match &expr.kind {
        ExprKind::Call { name, args, over: None, .. }
            if ["coalesce", "ifnull", "greatest", "least", "max", "min"].contains(&name.as_str()) =>
        {
            args.iter().for_each(|arg| flows(arg, found));
        }
        ExprKind::Call { name, args, .. } if name == "nullif" => {
            args.iter().take(1).for_each(|arg| flows(arg, found));
        }
        ExprKind::Case { branches, otherwise, .. } => {
            branches.iter().map(|(_, then)| then).chain(otherwise.as_deref()).for_each(|then| flows(then, found));
        }
        ExprKind::Collate { expr, .. } => flows(expr, found),
        _ => found.push(expr),
    }
}

/// Parameters that are calculated with a literal of 32 bits.
fn beside_literals(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    for expr in &context.exprs {
        let ExprKind::Binary { op, left, right } = &expr.kind else { continue };
        if !["+", "-", "*", "/", "%"].contains(&op.as_str()) {
            continue;
        }
        for (value, other) in [(left, right), (right, left)] {
            let is_narrow = matches!(&other.bare().kind, ExprKind::Number(text) if text.trim().parse::<i32>().is_ok());
            let is_open = |param: &&str| is_narrow && !is_held_in_32_bits(context, param);
            if let Some(param) = context.untyped(value).filter(is_open) {
                let finding = context.untyped_finding(param, value.span, "32 bits on Postgres, any on SQLite", "i64");
                found.push(finding.help(format!("and cast it here: `CAST(:{param} AS bigint)`")));
            }
        }
    }
}

/// Whether a parameter is compared with a column of 32 bits: it is no wider anywhere else.
fn is_held_in_32_bits(context: &Context<'_>, param: &str) -> bool {
    let is_it = |expr: &Expr| matches!(&bare(expr).kind, ExprKind::Param(name) if name == param);
    let is_narrow = |expr: &Expr| {
        matches!(&bare(expr).kind, ExprKind::Column { .. })
            && matches!(bare(expr).base(), Some(Base::Int16 | Base::Int32))
    };
    context.exprs.iter().any(|expr| match &expr.kind {
        ExprKind::Binary { op, left, right } if is_comparison(op) => {
            is_it(left) && is_narrow(right) || is_it(right) && is_narrow(left)
        }
        _ => false,
    })
}

/// The numbers that a text leaves out.
fn left_out(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let number = |name: &str| name.trim_start_matches(|c: char| !c.is_ascii_digit()).parse::<u32>().ok();
    let numbered = context.page.tree.params.iter();
    let numbered = numbered.filter_map(|param| Some((number(param.number.as_ref()?)?, param.span)));
    let numbers: BTreeMap<u32, Span> = numbered.collect();
    for (number, span) in &numbers {
        if let Some(missing) = number.checked_sub(1).filter(|before| *before > 0 && !numbers.contains_key(before)) {
            let message = format!("{}: `${missing}` stands nowhere", context.name());
            let label = format!("`${missing}` comes before it, and Postgres cannot tell its type");
            let finding = Diagnostic::error(rule::UNTYPED_PARAMETER, message, *span, label);
            found.push(finding.help("number the parameters without a gap, on both pages"));
        }
    }
}

/// The type as both engines read it in a cast.
fn written(base: &Base) -> &'static str {
    match base {
        Base::Int16 | Base::Int32 | Base::Int64 => "bigint",
        Base::Float64 => "double precision",
        Base::Bool => "boolean",
        Base::Uuid => "uuid",
        Base::Bytes => "bytea",
        _ => "text",
    }
}

//! Postgres has no such operator, function or cast for these types.

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::engine::{Majors, Reach, Refusal, UNKNOWN};
use crate::rule;
use crate::source::Span;
use crate::tree::{Body, ConflictAction, Expr, ExprKind, Part, Rows, Source};
use crate::types::Base;

/// The words of the grammar that look like functions: Postgres has no entry for them in its catalog.
const GRAMMAR: &str = "array coalesce current_date current_time current_timestamp extract greatest grouping least \
    localtime localtimestamp normalize nullif overlay position row substring trim";

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if context.page.tree.dialect != Dialect::Pg {
        return;
    }
    let mut report = |span: Span, by: &[(u16, Refusal)], what: String, help: &str| {
        let some = by.iter().map(|(major, _)| major.to_string()).collect::<Vec<_>>().join(", ");
        let (postgres, label) = match context.majors.are_all(by) {
            true => ("Postgres".to_owned(), "refused when it is prepared"),
            false => (format!("Postgres {some}"), "refused by some majors when it is prepared"),
        };
        let message = format!("{}: {postgres} has no {what}", context.name());
        let mut finding = Diagnostic::error(rule::REFUSED_TYPES, message, span, label).help(help.to_owned());
        if !context.majors.are_all(by) {
            let way = format!("or, if the project does not run on Postgres {some}, say so: `pg_majors` in diglot.toml");
            finding = finding.help(way);
        }
        found.push(finding);
    };
    for part in &context.page.tree.parts {
        for condition in conditions(part) {
            not_a_condition(context, condition, &mut report);
        }
    }
    for expr in &context.exprs {
        match &expr.kind {
            ExprKind::Binary { op, left, right } => binary(context, expr.span, op, left, right, &mut report),
            ExprKind::Unary { op, expr: inner } if op == "not" => not_a_condition(context, inner, &mut report),
            ExprKind::Unary { op, expr: inner } if op != "+" => operator(context, expr.span, op, &[inner], &mut report),
            ExprKind::Between { expr: inner, low, high, .. } => {
                operator(context, expr.span, "<=", &[low, inner], &mut report);
                operator(context, expr.span, "<=", &[inner, high], &mut report);
            }
            ExprKind::InList { expr: inner, list, .. } => {
                list.iter().for_each(|item| operator(context, item.span, "=", &[inner, item], &mut report));
            }
            ExprKind::Like { op: op @ ("like" | "ilike"), expr: inner, pattern, .. } => {
                let name = if *op == "like" { "~~" } else { "~~*" };
                operator(context, expr.span, name, &[inner, pattern], &mut report);
            }
            ExprKind::Case { operand: None, branches, .. } => {
                branches.iter().for_each(|(when, _)| not_a_condition(context, when, &mut report));
            }
            ExprKind::Call { name, args, star: false, order, filter, .. } => {
                filter.iter().for_each(|filter| not_a_condition(context, filter, &mut report));
                if order.is_empty() {
                    function(context, expr.span, name, args, &mut report);
                }
            }
            ExprKind::Cast { expr: inner, base: Some(base), .. } => cast(context, expr.span, inner, base, &mut report),
            _ => {}
        }
    }
}

/// Reports what is not there, with the majors that lack it and the way out.
type Report<'r> = &'r mut dyn FnMut(Span, &[(u16, Refusal)], String, &str);

/// Every condition of a part's own clauses.
fn conditions(part: &Part) -> Vec<&Expr> {
    let mut all: Vec<&Expr> = Vec::new();
    match &part.body {
        Body::Update(update) => all.extend(&update.filter),
        Body::Delete(delete) => all.extend(&delete.filter),
        Body::Insert(insert) => {
            if let Some(conflict) = &insert.conflict {
                all.extend(&conflict.target_filter);
                if let ConflictAction::Update { filter, .. } = &conflict.action {
                    all.extend(filter);
                }
            }
        }
        Body::Query(_) => {}
    }
    for query in part.queries() {
        if let Rows::Select(select) = &query.rows {
            all.extend(select.filter.iter().chain(&select.having));
        }
    }
    all.extend(part.sources().into_iter().filter_map(|source: &Source| source.join.as_ref()?.on.as_ref()));
    all
}

fn not_a_condition(context: &Context<'_>, expr: &Expr, report: Report<'_>) {
    // The operands of AND and OR are looked at one by one.
    if matches!(&expr.kind, ExprKind::Binary { op, .. } if op == "and" || op == "or") {
        return;
    }
    let Some(types) = types(context, expr) else { return };
    if !types.iter().any(|name| [UNKNOWN, "bool"].contains(name)) {
        let what = format!("condition of type {}", types[0]);
        report(expr.span, &context.majors.all(), what, "compare it with something: `n <> 0`, `name <> ''`");
    }
}

fn binary(context: &Context<'_>, span: Span, op: &str, left: &Expr, right: &Expr, report: Report<'_>) {
    match op {
        "and" | "or" => [left, right].into_iter().for_each(|side| not_a_condition(context, side, report)),
        "is distinct from" | "is not distinct from" => operator(context, span, "=", &[left, right], report),
        "=>" | "[]" | "at time zone" | "overlaps" => {}
        _ => operator(context, span, op, &[left, right], report),
    }
}

fn operator(context: &Context<'_>, span: Span, name: &str, operands: &[&Expr], report: Report<'_>) {
    let all: Option<Vec<Vec<&str>>> = operands.iter().map(|operand| types(context, operand)).collect();
    let Some(all) = all else { return };
    if operands.iter().any(|operand| matches!(operand.kind, ExprKind::Tuple(_))) {
        return;
    }
    let by = context.majors.refusing(name, |catalog| refused(&all, |types| catalog.operator(name, types)));
    let Some((_, refusal)) = by.first().copied() else { return };
    let names: Vec<&str> = all.iter().map(|types| types[0]).collect();
    let written = match names.as_slice() {
        [left, right] => format!("operator `{left} {name} {right}`"),
        _ => format!("operator `{name} {}`", names.join(", ")),
    };
    let help = match refusal {
        Refusal::Ambiguous => "cast one operand, so that Postgres knows which operator is meant",
        Refusal::NoSuch if names.contains(&"bool") => {
            "write `CASE WHEN flag THEN 1 ELSE 0 END` for a flag that is calculated with, `flag` or `NOT flag` for a test"
        }
        Refusal::NoSuch => "cast one side to the type that is meant, on both pages",
    };
    let what = if refusal == Refusal::Ambiguous { format!("single {written}: several fit") } else { written };
    report(span, &by, what, help);
}

fn function(context: &Context<'_>, span: Span, name: &str, args: &[Expr], report: Report<'_>) {
    let is_grammar = GRAMMAR.split_whitespace().any(|word| word == name);
    let is_named = args.iter().any(|arg| matches!(&arg.kind, ExprKind::Binary { op, .. } if op == "=>"));
    let is_own = context.page.schema.functions.contains_key(name);
    if is_grammar || is_own || context.majors.has_type(name) {
        return;
    }
    let having = Majors::with_function(name);
    if having.is_empty() {
        return;
    }
    let lacking = context.majors.refusing(name, |catalog| (!catalog.has_function(name)).then_some(Refusal::NoSuch));
    if !lacking.is_empty() {
        let having = having.iter().map(u16::to_string).collect::<Vec<_>>().join(", ");
        let help = format!("write what every major has: `{name}` is a function of Postgres {having}");
        report(span, &lacking, format!("function `{name}`"), &help);
        return;
    }
    if is_named {
        return;
    }
    let all: Option<Vec<Vec<&str>>> = args.iter().map(|arg| types(context, arg)).collect();
    let Some(all) = all else { return };
    let by = context.majors.refusing(name, |catalog| refused(&all, |types| catalog.function(name, types)));
    let Some((_, refusal)) = by.first().copied() else { return };
    let names: Vec<&str> = all.iter().map(|types| types[0]).collect();
    let written = format!("function `{name}({})`", names.join(", "));
    let help = match (refusal, name) {
        (Refusal::Ambiguous, _) => "cast an argument, so that Postgres knows which function is meant",
        (_, "max" | "min") => "write `ORDER BY … LIMIT 1`, on both pages; `bool_or` and `bool_and` for a flag",
        (_, "sum" | "avg") if names.contains(&"bool") => "write `CASE WHEN flag THEN 1 ELSE 0 END` for the flag",
        _ => "cast the argument to a type that the function takes, on both pages",
    };
    let what = if refusal == Refusal::Ambiguous { format!("single {written}: several fit") } else { written };
    report(span, &by, what, help);
}

fn cast(context: &Context<'_>, span: Span, inner: &Expr, base: &Base, report: Report<'_>) {
    let Some(from) = types(context, inner) else { return };
    let to = of(base);
    let by = context.majors.refusing(from[0], |catalog| {
        let reaches = |from: &&str| to.iter().any(|to| catalog.casts(from, to, Reach::Written));
        (!from.iter().any(reaches)).then_some(Refusal::NoSuch)
    });
    if !by.is_empty() {
        let help = "write what is meant: `CASE WHEN flag THEN 1 ELSE 0 END` for a flag, a cast to text in between";
        report(span, &by, format!("cast from {} to {}", from[0], to[0]), help);
    }
}

/// Why none of the types that the values may have is taken; none where one may be.
fn refused(all: &[Vec<&str>], ask: impl Fn(&[&str]) -> Result<&'static str, Refusal>) -> Option<Refusal> {
    let mut first = None;
    let mut chosen = vec![0; all.len()];
    loop {
        let types: Vec<&str> = all.iter().zip(&chosen).map(|(types, at)| types[*at]).collect();
        match ask(&types) {
            Ok(_) => return None,
            Err(refusal) => first = first.or(Some(refusal)),
        }
        // The next choice of types, as a number whose digits are the places in the lists.
        let digit = (0..all.len()).find(|digit| chosen[*digit] + 1 < all[*digit].len());
        let Some(digit) = digit else { return first };
        chosen[digit] += 1;
        chosen[..digit].fill(0);
    }
}

/// The types that a value may have on Postgres; none where nothing is known of it.
pub(in crate::rules) fn types(context: &Context<'_>, expr: &Expr) -> Option<Vec<&'static str>> {
    match &expr.kind {
        ExprKind::Text(_) | ExprKind::Null => Some(vec![UNKNOWN]),
        _ => context.holds(expr).map(of),
    }
}

/// The types of Postgres behind a logical type, the likeliest first.
fn of(base: &Base) -> Vec<&'static str> {
    match base {
        Base::Bool => vec!["bool"],
        Base::Int16 => vec!["int2"],
        Base::Int32 => vec!["int4"],
        Base::Int64 => vec!["int8"],
        Base::Numeric => vec!["numeric"],
        Base::Float64 => vec!["float8", "float4"],
        Base::Text => vec!["text", "varchar", "bpchar", "name"],
        Base::Bytes => vec!["bytea"],
        Base::Uuid => vec!["uuid"],
        Base::Json => vec!["jsonb", "json"],
        Base::Timestamp => vec!["timestamptz", "timestamp", "date"],
        Base::DateTime => vec!["timestamp", "timestamptz", "date"],
        Base::Date => vec!["date", "timestamp", "timestamptz"],
        Base::TimeOfDay => vec!["time", "interval"],
        Base::Interval => vec!["interval", "timetz", "time"],
        Base::Enum(_) => vec![UNKNOWN],
        Base::Stored(stored) => of(stored.form.seen()),
        Base::TextArray => vec!["_text", "_varchar"],
        Base::Int64Array => vec!["_int8", "_int4", "_int2"],
        Base::UuidArray => vec!["_uuid"],
    }
}

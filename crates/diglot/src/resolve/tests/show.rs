//! Prints a resolved statement compactly, and findings with what their carets stand under.

use std::fmt::Write as _;

use crate::diagnostic::Diagnostic;
use crate::source::Sources;
use crate::tree::{
    Body, ConflictAction, Expr, ExprKind, JoinKind, OrderKey, OutputColumn, Part, Query, Rows, Source, SourceKind,
    Statement,
};
use crate::types::Type;

/// One line for each fact.
pub(super) fn statement(statement: &Statement) -> String {
    let mut out = String::new();
    for (i, part) in statement.parts.iter().enumerate() {
        let mark = if statement.result == Some(i) { " -> rows" } else { "" };
        let name = part.name.as_deref().map_or_else(|| format!("statement {}", part.statement), |n| format!("cte {n}"));
        let materialized = part.materialized.map_or("", |m| if m { " materialized" } else { " not materialized" });
        let recursive = if part.recursive { " recursive" } else { "" };
        let _ = writeln!(out, "{name}{materialized}{recursive}{mark}");
        body(&mut out, part);
    }
    if !statement.params.is_empty() {
        let params = statement
            .params
            .iter()
            .map(|p| format!("{}{}{}", p.name, if p.nullable { "?" } else { "" }, if p.list { "[]" } else { "" }));
        let _ = writeln!(out, "params {}", params.collect::<Vec<_>>().join(" "));
    }
    out
}

/// A finding with the texts under its labels.
pub(super) fn finding(sources: &Sources, finding: &Diagnostic) -> String {
    let mut out = format!("{}: {}\n", finding.rule, finding.message);
    for label in &finding.labels {
        let mark = if label.primary { '^' } else { '-' };
        let _ = writeln!(out, "  {mark} `{}` {}", sources.text(label.span), label.text);
    }
    for help in &finding.help {
        let _ = writeln!(out, "  help: {help}");
    }
    out
}

fn body(out: &mut String, part: &Part) {
    match &part.body {
        Body::Query(q) => query(out, q, 1),
        Body::Insert(insert) => {
            line(out, 1, &format!("insert into {}", source(&insert.target)));
            let columns: Vec<_> = insert.columns.iter().map(|(name, _)| name.as_str()).collect();
            line(out, 1, &format!("columns {}", columns.join(", ")));
            if let Some((or, _)) = &insert.or {
                line(out, 1, or);
            }
            query(out, &insert.rows, 1);
            if let Some(conflict) = &insert.conflict {
                line(out, 1, &format!("on conflict {:?}", conflict.target));
                maybe(out, 2, "target where", conflict.target_filter.as_ref());
                match &conflict.action {
                    ConflictAction::Nothing => line(out, 2, "nothing"),
                    ConflictAction::Update { set, filter, excluded } => {
                        line(out, 2, &format!("update, excluded is s{}", excluded.0));
                        for a in set {
                            line(out, 2, &format!("set {} = {}", a.column, expr(&a.value)));
                        }
                        maybe(out, 2, "where", filter.as_ref());
                    }
                }
            }
            outputs(out, "returning", &insert.returning, 1);
        }
        Body::Update(update) => {
            line(out, 1, &format!("update {}", source(&update.target)));
            for a in &update.set {
                line(out, 1, &format!("set {} = {}", a.column, expr(&a.value)));
            }
            sources(out, &update.from, 1);
            maybe(out, 1, "where", update.filter.as_ref());
            outputs(out, "returning", &update.returning, 1);
        }
        Body::Delete(delete) => {
            line(out, 1, &format!("delete from {}", source(&delete.target)));
            sources(out, &delete.using, 1);
            maybe(out, 1, "where", delete.filter.as_ref());
            outputs(out, "returning", &delete.returning, 1);
        }
    }
}

fn query(out: &mut String, q: &Query, depth: usize) {
    for (name, cte) in &q.ctes {
        line(out, depth, &format!("with {name}"));
        query(out, cte, depth + 1);
    }
    rows(out, &q.rows, depth);
    for key in &q.order {
        line(out, depth, &format!("order {}", order(key)));
    }
    maybe(out, depth, "limit", q.limit.as_ref());
    maybe(out, depth, "offset", q.offset.as_ref());
    for lock in &q.locks {
        line(out, depth, &format!("lock {} {} of {:?}", lock.strength, lock.wait, lock.of));
    }
}

fn rows(out: &mut String, r: &Rows, depth: usize) {
    match r {
        Rows::Select(select) => {
            if let Some((on, _)) = &select.distinct {
                line(out, depth, &format!("distinct {}", list(on)));
            }
            outputs(out, "select", &select.columns, depth);
            sources(out, &select.from, depth);
            maybe(out, depth, "where", select.filter.as_ref());
            if !select.group.is_empty() {
                line(out, depth, &format!("group {}", list(&select.group)));
            }
            maybe(out, depth, "having", select.having.as_ref());
        }
        Rows::Values(values, _) => {
            for row in values {
                line(out, depth, &format!("values {}", list(row)));
            }
        }
        Rows::Set { op, all, left, right, .. } => {
            rows(out, left, depth + 1);
            line(out, depth, &format!("{op}{}", if *all { " all" } else { "" }));
            rows(out, right, depth + 1);
        }
        Rows::Query(inner) => query(out, inner, depth + 1),
    }
}

fn outputs(out: &mut String, word: &str, columns: &[OutputColumn], depth: usize) {
    for column in columns {
        line(out, depth, &format!("{word} {}: {} = {}", column.name, ty(column.expr.ty.as_ref()), expr(&column.expr)));
    }
}

fn sources(out: &mut String, list: &[Source], depth: usize) {
    for s in list {
        let join = s.join.as_ref().map_or_else(String::new, |join| {
            let kind = match join.kind {
                JoinKind::Inner => "join ",
                JoinKind::Left => "left join ",
                JoinKind::Right => "right join ",
                JoinKind::Full => "full join ",
                JoinKind::Cross => "cross join ",
            };
            format!("{kind}{}", if join.lateral { "lateral " } else { "" })
        });
        line(out, depth, &format!("from {join}{}", source(s)));
        if let SourceKind::Derived(q) = &s.kind {
            query(out, q, depth + 1);
        }
        maybe(out, depth + 1, "on", s.join.as_ref().and_then(|join| join.on.as_ref()));
    }
}

fn source(s: &Source) -> String {
    let kind = match &s.kind {
        SourceKind::Table(name) => name.clone(),
        SourceKind::Cte(name) => format!("cte {name}"),
        SourceKind::Derived(_) => "subquery".to_owned(),
        SourceKind::Function { name, args } => format!("{name}({})", list(args)),
        SourceKind::Rows(name) => format!("rows {name}"),
        SourceKind::Excluded => "excluded".to_owned(),
    };
    format!("s{} = {kind} as {}", s.id.0, s.alias)
}

fn maybe(out: &mut String, depth: usize, word: &str, value: Option<&Expr>) {
    if let Some(value) = value {
        line(out, depth, &format!("{word} {}", expr(value)));
    }
}

fn line(out: &mut String, depth: usize, text: &str) {
    let _ = writeln!(out, "{}{text}", "  ".repeat(depth));
}

fn list(items: &[Expr]) -> String {
    items.iter().map(expr).collect::<Vec<_>>().join(", ")
}

fn order(key: &OrderKey) -> String {
    let nulls = key.nulls_first.map_or("", |first| if first { " nulls first" } else { " nulls last" });
    format!("{}{}{nulls}", expr(&key.expr), if key.desc { " desc" } else { "" })
}

/// A type, `?` where it is not known.
pub(super) fn ty(ty: Option<&Type>) -> String {
    ty.map_or_else(|| "?".to_owned(), Type::to_string)
}

fn nested(q: &Query) -> String {
    let mut out = String::new();
    query(&mut out, q, 0);
    out.lines().map(str::trim).collect::<Vec<_>>().join("; ")
}

/// An expression with brackets around everything that has operands.
pub(super) fn expr(e: &Expr) -> String {
    use ExprKind as K;
    let not = |negated: bool| if negated { "not " } else { "" };
    match &e.kind {
        K::Param(name) => format!(":{name}"),
        K::Null => "null".to_owned(),
        K::Bool(b) => b.to_string(),
        K::Number(n) => n.clone(),
        K::Text(t) => format!("'{t}'"),
        K::Blob(b) => format!("x'{b}'"),
        K::Column { source, column } => format!("s{}.{column}", source.0),
        K::Unary { op, expr: a } => format!("({op} {})", expr(a)),
        K::Binary { op, left, right } => format!("({} {op} {})", expr(left), expr(right)),
        K::Is { expr: a, what, negated } => format!("({} is {}{what})", expr(a), not(*negated)),
        K::Between { expr: a, low, high, negated } => {
            format!("({} {}between {} and {})", expr(a), not(*negated), expr(low), expr(high))
        }
        K::InList { expr: a, list: items, negated } => format!("({} {}in [{}])", expr(a), not(*negated), list(items)),
        K::InQuery { expr: a, query, negated } => format!("({} {}in {{{}}})", expr(a), not(*negated), nested(query)),
        K::Exists { query, negated } => format!("({}exists {{{}}})", not(*negated), nested(query)),
        K::Scalar(query) => format!("{{{}}}", nested(query)),
        K::Like { op, expr: a, pattern, escape, negated } => {
            let escape = escape.as_ref().map_or_else(String::new, |e| format!(" escape '{e}'"));
            format!("({} {}{op} {}{escape})", expr(a), not(*negated), expr(pattern))
        }
        K::Call { name, args, star, distinct, order: keys, filter, over } => {
            let mut inside =
                format!("{}{}{}", if *distinct { "distinct " } else { "" }, if *star { "*" } else { "" }, list(args));
            for key in keys {
                inside += &format!(" order {}", order(key));
            }
            let mut out = format!("{name}({inside})");
            if let Some(filter) = filter {
                out += &format!(" filter {}", expr(filter));
            }
            if let Some(w) = over {
                let keys: Vec<_> = w.order.iter().map(order).collect();
                out += &format!(" over [{} order {} frame {}]", list(&w.partition), keys.join(", "), w.frame);
            }
            out
        }
        K::Case { operand, branches, otherwise } => {
            let mut out = "(case".to_owned();
            if let Some(operand) = operand {
                out += &format!(" {}", expr(operand));
            }
            for (when, then) in branches {
                out += &format!(" when {} then {}", expr(when), expr(then));
            }
            if let Some(otherwise) = otherwise {
                out += &format!(" else {}", expr(otherwise));
            }
            out + ")"
        }
        K::Cast { expr: a, to, .. } => format!("({} as {to})", expr(a)),
        K::Collate { expr: a, collation } => format!("({} collate {collation})", expr(a)),
        K::Array(items) => format!("array[{}]", list(items)),
        K::Tuple(items) => format!("({})", list(items)),
        K::Any { op, left, right, all } => {
            format!("({} {op} {} {})", expr(left), if *all { "all" } else { "any" }, expr(right))
        }
        K::Opaque(text) => format!("`{text}`"),
    }
}

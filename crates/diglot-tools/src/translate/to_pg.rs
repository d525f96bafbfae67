//! SQLite's spelling in Postgres's.

use super::clocks;
use super::path::{self, Step, literal};
use super::rewrite::{Rewriter, Sql, Written};
use super::word_in;
use diglot::dialect::Dialect;
use diglot::resolve::written as clock;
use diglot::source::Span;
use diglot::tree::{Body, Expr, ExprKind, Query, Rows, SourceKind};
use diglot::types::Base;

/// Functions that have another name, and nothing else.
const NAMES: [(&str, &str); 2] = [("ifnull", "COALESCE"), ("instr", "strpos")];

pub(super) fn rewritten(mut rewriter: Rewriter<'_>) -> Sql {
    for expr in rewriter.exprs.clone() {
        if let Some(written) = written(&rewriter, expr) {
            rewriter.write(expr.span, written);
        }
    }
    flags(&mut rewriter);
    clauses(&mut rewriter);
    rewriter.finish()
}

fn written<'t>(rewriter: &Rewriter<'t>, expr: &'t Expr) -> Option<Written<'t>> {
    match &expr.kind {
        ExprKind::Param(_) => numbered(rewriter, expr.span),
        // A clock beside a column of times, whose form Postgres does not need.
        ExprKind::Call { name, args, .. }
            if expr.base().and_then(Base::stored).is_some() && clock(name, args).is_some() =>
        {
            clocks::of_sqlite(args).map(|text| Written { loose: text.contains(' '), ..Written::new().text(text) })
        }
        ExprKind::Call { name, args, .. } if name == "sum" => whole_sum(rewriter, expr, args),
        ExprKind::Call { name, args, order, filter: None, over: None, distinct: false, .. } if order.is_empty() => {
            call(name, args).or_else(|| json(rewriter, name, args))
        }
        ExprKind::Cast { expr: inner, to, .. } => cast(inner, to),
        ExprKind::Binary { op, left, right } if op.starts_with("is ") => {
            let between = Span { start: left.span.end, end: right.span.start, ..left.span };
            let is_short = !rewriter.inputs.sources.text(between).to_uppercase().contains("DISTINCT");
            let word = if op == "is distinct from" { "IS DISTINCT FROM" } else { "IS NOT DISTINCT FROM" };
            is_short.then(|| Written::new().of(left).text(format!(" {word} ")).of(right))
        }
        ExprKind::Binary { op, left, right } if op == "->" || op == "->>" => {
            let steps = path::of_sqlite(right)?;
            Some(Written::new().of(left).text(path::arrows(&steps, op == "->>")).loose())
        }
        ExprKind::Is { expr: inner, what: "null", negated: true } => {
            let ExprKind::Call { name, args, .. } = &inner.kind else { return None };
            let [document, key] = args.as_slice() else { return None };
            let steps = path::of_sqlite(key).filter(|_| name == "json_type")?;
            let (last, before) = steps.split_last()?;
            let Step::Key(key) = last else { return None };
            Some(Written::new().of(document).text(format!("{} ? {}", path::arrows(before, false), literal(key))))
        }
        ExprKind::InQuery { expr: value, query, negated } => {
            let list = listed(query)?;
            let any = if *negated { " <> ALL(" } else { " = ANY(" };
            Some(Written::new().of(value).text(any).of(list).text(")"))
        }
        ExprKind::Like { op: "glob", expr: value, pattern, negated, .. } => {
            let ExprKind::Text(glob) = &pattern.kind else { return None };
            let word = if *negated { " NOT LIKE " } else { " LIKE " };
            Some(Written::new().of(value).text(word).text(literal(&like(glob)?)))
        }
        // LIKE of SQLite takes capitals for small letters.
        ExprKind::Like { op: "like", expr: value, pattern, negated, escape: None } => {
            let ExprKind::Text(written) = &pattern.kind else { return None };
            let has_letters = written.chars().any(|letter| letter.is_ascii_alphabetic());
            let word = if *negated { " NOT ILIKE " } else { " ILIKE " };
            (written.is_ascii() && has_letters && !written.contains('\\'))
                .then(|| Written::new().of(value).text(word).of(pattern))
        }
        ExprKind::Blob(hex) => Some(Written::new().text(format!("CAST('\\x{hex}' AS bytea)"))),
        _ => None,
    }
}

/// A sum of `bigint`, which is `numeric` on Postgres where nothing casts it.
fn whole_sum<'t>(rewriter: &Rewriter<'t>, expr: &'t Expr, args: &[Expr]) -> Option<Written<'t>> {
    let is_cast = rewriter.parent(expr).is_some_and(|parent| matches!(parent.kind, ExprKind::Cast { .. }));
    let is_wide = args.first().and_then(|summed| rewriter.facing_type(summed)) == Some(&Base::Int64);
    (is_wide && !is_cast).then(|| Written::new().text("CAST(").span(expr.span).text(" AS bigint)"))
}

/// A parameter of SQLite's own, `?` or `?2`, as Postgres numbers it.
fn numbered<'t>(rewriter: &Rewriter<'t>, place: Span) -> Option<Written<'t>> {
    let sources = &rewriter.inputs.sources;
    let number = sources.text(place).strip_prefix('?')?;
    let mut unnumbered: Vec<Span> =
        rewriter.tree.params.iter().map(|param| param.span).filter(|span| sources.text(*span) == "?").collect();
    unnumbered.sort_unstable();
    let at = unnumbered.iter().position(|span| *span == place).map(|at| (at + 1).to_string());
    let number = if number.is_empty() { at? } else { number.to_owned() };
    Some(Written::new().text(format!("${number}")))
}

fn call<'t>(name: &str, args: &'t [Expr]) -> Option<Written<'t>> {
    if let Some((_, other)) = NAMES.iter().find(|(own, _)| *own == name) {
        return Some(Written::call(other, args));
    }
    match (name, args) {
        ("max", [_, _, ..]) => Some(Written::call("GREATEST", args)),
        ("min", [_, _, ..]) => Some(Written::call("LEAST", args)),
        ("iif", [when, then, otherwise]) => {
            let case = Written::new().text("CASE WHEN ").of(when).text(" THEN ").of(then);
            Some(case.text(" ELSE ").of(otherwise).text(" END"))
        }
        ("lower", [inner]) => match &inner.kind {
            ExprKind::Call { name, args, .. } if name == "hex" && args.len() == 1 => {
                Some(Written::new().text("encode(").of(&args[0]).text(", 'hex')"))
            }
            _ => None,
        },
        ("substr" | "substring", [text, length]) => match path::of_arrow(length) {
            Some(Step::Index(end)) if end < 0 => {
                Some(Written::new().text("right(").of(text).text(format!(", {})", end.unsigned_abs())))
            }
            _ => None,
        },
        ("printf" | "format", [form, number]) => match &form.kind {
            ExprKind::Text(form) if form == "%x" => Some(Written::new().text("to_hex(").of(number).text(")")),
            _ => None,
        },
        ("round", [number]) => {
            Some(Written::new().text("CAST(round(CAST(").of(number).text(" AS numeric)) AS double precision)"))
        }
        ("group_concat", [value]) => Some(Written::new().text("string_agg(CAST(").of(value).text(" AS text), ',')")),
        _ => None,
    }
}

fn json<'t>(rewriter: &Rewriter<'t>, name: &str, args: &'t [Expr]) -> Option<Written<'t>> {
    match (name, args) {
        ("json_extract", [document, path]) => {
            Some(Written::new().of(document).text(path::arrows(&path::of_sqlite(path)?, true)).loose())
        }
        ("json_array_length", [document]) => Some(Written::new().text("jsonb_array_length(").of(document).text(")")),
        ("json_array_length", [document, path]) => {
            let arrows = path::arrows(&path::of_sqlite(path)?, false);
            Some(Written::new().text("jsonb_array_length(").of(document).text(arrows).text(")"))
        }
        ("json_set", [document, pairs @ ..]) if !pairs.is_empty() => {
            let mut written = Written::new().of(document);
            for pair in pairs.chunks(2) {
                let [path, value] = pair else { return None };
                written = set(rewriter, written, document, &path::of_sqlite(path)?, value)?;
            }
            Some(written.loose())
        }
        ("json_remove", [document, paths @ ..]) if !paths.is_empty() => {
            let mut written = Written::new().of(document);
            for path in paths {
                let steps = path::of_sqlite(path)?;
                written = match steps.as_slice() {
                    [Step::Key(key)] => written.text(format!(" - {}", literal(key))),
                    steps => written.text(format!(" #- {}", path::braces(steps)?)),
                };
            }
            Some(written.loose())
        }
        ("json_object", args) => Some(build(rewriter, "jsonb_build_object", args)),
        ("json_array", args) => Some(build(rewriter, "jsonb_build_array", args)),
        ("json_group_array", [value]) => Some(Written::new().text("COALESCE(jsonb_agg(").of(value).text("), '[]')")),
        ("json", [value]) => Some(document(value)),
        _ => None,
    }
}

/// `|| jsonb_build_object('k', v)`; a deeper path builds the objects on its way.
fn set<'t>(
    rewriter: &Rewriter<'t>,
    written: Written<'t>,
    document: &'t Expr,
    steps: &[Step],
    value: &'t Expr,
) -> Option<Written<'t>> {
    let keys: Option<Vec<&String>> =
        steps.iter().map(|step| if let Step::Key(key) = step { Some(key) } else { None }).collect();
    let keys = keys?;
    let (last, before) = keys.split_last()?;
    let mut written = written;
    for (depth, key) in before.iter().enumerate() {
        let there = path::arrows(&steps[..=depth], false);
        written = written
            .text(format!(" || jsonb_build_object({}, COALESCE(", literal(key)))
            .of(document)
            .text(format!("{there}, '{{}}')"));
    }
    let inner = written.text(format!(" || jsonb_build_object({}, ", literal(last))).then(json_value(rewriter, value));
    Some(inner.text(")".repeat(keys.len())))
}

fn build<'t>(rewriter: &Rewriter<'t>, name: &str, args: &'t [Expr]) -> Written<'t> {
    let mut written = Written::new().text(format!("{name}("));
    for (at, arg) in args.iter().enumerate() {
        written = if at > 0 { written.text(", ") } else { written };
        let is_key = name == "jsonb_build_object" && at % 2 == 0;
        written = if is_key { written.of(arg) } else { written.then(json_value(rewriter, arg)) };
    }
    written.text(")")
}

/// A value on its way into a document: Postgres wants to know the type of a literal and of a parameter.
fn json_value<'t>(rewriter: &Rewriter<'t>, value: &'t Expr) -> Written<'t> {
    match &value.kind {
        ExprKind::Text(_) => Written::new().text("CAST(").of(value).text(" AS text)"),
        ExprKind::Param(name) => {
            let name = rewriter.params.get(name).map_or("text", Base::pg_name);
            Written::new().text("CAST(").of(value).text(format!(" AS {name})"))
        }
        ExprKind::Call { name, args, .. } if name == "json" && args.len() == 1 => match &args[0].kind {
            // A flag that SQLite spells as a document.
            ExprKind::Case { operand: None, branches, otherwise: Some(otherwise) }
                if branches.len() == 1 && is_text(&branches[0].1, "true") && is_text(otherwise, "false") =>
            {
                Written::new().text("CAST(").of(&branches[0].0).text(" AS boolean)")
            }
            _ => document(&args[0]),
        },
        _ => Written::new().of(value),
    }
}

fn document<'t>(value: &'t Expr) -> Written<'t> {
    Written::new().text("CAST(").of(value).text(" AS jsonb)")
}

fn is_text(expr: &Expr, wanted: &str) -> bool {
    matches!(&expr.kind, ExprKind::Text(text) if text == wanted)
}

fn cast<'t>(inner: &'t Expr, to: &str) -> Option<Written<'t>> {
    let whole = |name: &str| Written::new().text("CAST(").of(inner).text(format!(" AS {name})"));
    match to {
        // SQLite cuts off, Postgres rounds.
        "integer" | "int" | "bigint" if inner.ty.as_ref().is_some_and(|ty| ty.base == Base::Float64) => {
            Some(Written::new().text("CAST(trunc(").of(inner).text(") AS bigint)"))
        }
        "integer" | "int" => Some(whole("bigint")),
        "real" | "double" | "float" => Some(whole("double precision")),
        "blob" => Some(whole("bytea")),
        _ => None,
    }
}

/// The list in `(SELECT value FROM json_each(list))`.
fn listed(query: &Query) -> Option<&Expr> {
    let Rows::Select(select) = &query.rows else { return None };
    let ([source], [column], None) = (select.from.as_slice(), select.columns.as_slice(), &select.filter) else {
        return None;
    };
    let SourceKind::Function { name, args } = &source.kind else { return None };
    let plain = query.order.is_empty() && query.limit.is_none() && select.group.is_empty();
    let is_value = matches!(&column.expr.kind, ExprKind::Column { column, .. } if column == "value");
    match args.as_slice() {
        [list] if name == "json_each" && plain && is_value => Some(list),
        _ => None,
    }
}

/// A pattern of GLOB for LIKE; nothing of one with classes.
fn like(glob: &str) -> Option<String> {
    let letter = |c: char| match c {
        '*' => Some("%".to_owned()),
        '?' => Some("_".to_owned()),
        '%' | '_' | '\\' => Some(format!("\\{c}")),
        '[' | ']' => None,
        c => Some(c.to_string()),
    };
    glob.chars().map(letter).collect()
}

/// Numbers that stand for flags: Postgres has words for them.
fn flags(rewriter: &mut Rewriter<'_>) {
    let mut flags: Vec<&Expr> = Vec::new();
    for expr in &rewriter.exprs {
        if let ExprKind::Binary { op, left, right } = &expr.kind
            && matches!(op.as_str(), "=" | "<>")
        {
            let is_flag = |expr: &Expr| rewriter.facing_type(expr) == Some(&Base::Bool);
            flags.extend(is_flag(left).then_some(&**right));
            flags.extend(is_flag(right).then_some(&**left));
        }
    }
    for (table, column, value) in rewriter.assigned() {
        let column = rewriter.facing.tables.get(&table).and_then(|table| table.column(&column));
        if column.is_some_and(|column| column.ty.base == Base::Bool) {
            flags.push(value);
        }
    }
    for flag in flags {
        match &flag.bare().kind {
            ExprKind::Number(number) if number == "0" => rewriter.write(flag.span, Written::new().text("false")),
            ExprKind::Number(number) if number == "1" => rewriter.write(flag.span, Written::new().text("true")),
            _ => {}
        }
    }
}

/// What is no expression: conflicts, order, limits.
fn clauses(rewriter: &mut Rewriter<'_>) {
    if rewriter.raw.parts.len() > 1 {
        let line = "Postgres runs one statement in a call: make those before the last one CTEs that write";
        rewriter.open.push(line.to_owned());
    }
    for part in &rewriter.tree.parts {
        if let Body::Insert(insert) = &part.body
            && let Some((word, span)) = &insert.or
        {
            let text = &rewriter.inputs.sources.file(span.file).text;
            let or = word_in(text, span.range(), "or", Dialect::Sqlite).map_or(span.start, |(start, _)| start as u32);
            let before = Span { start: or.min(span.start), ..*span };
            if word.ends_with("ignore") && insert.conflict.is_none() {
                rewriter.write(before, Written::new());
                rewriter.insert(insert.rows.span.end, *span, " ON CONFLICT DO NOTHING");
            } else {
                rewriter.open.push(format!("Postgres has no INSERT {}: say what a conflict does", word.to_uppercase()));
            }
        }
        for query in part.queries() {
            for key in &query.order {
                let nullable = key.expr.ty.as_ref().is_some_and(|ty| ty.nullable);
                if nullable && key.nulls_first.is_none() {
                    let nulls = if key.desc { " NULLS LAST" } else { " NULLS FIRST" };
                    rewriter.insert(key.span.end, key.span, nulls);
                }
            }
            if let Some(limit) = query.limit.as_ref().filter(|limit| path::of_arrow(limit) == Some(Step::Index(-1))) {
                rewriter.write(limit.span, Written::new().text("ALL"));
            }
        }
    }
}

//! Postgres's spelling in SQLite's.

use super::clocks;
use super::path::{self, Step, literal};
use super::rewrite::{Rewriter, Sql, Written};
use super::word_in;
use diglot::dialect::Dialect;
use diglot::normal::ends_with_write;
use diglot::source::Span;
use diglot::split::lexer::{self, Kind};
use diglot::tree::{Body, Conflict, Delete, Expr, ExprKind, Insert, Rows};
use diglot::types::Base;

/// Functions that have another name, and nothing else.
const NAMES: [(&str, &str); 5] = [
    ("greatest", "max"),
    ("least", "min"),
    ("strpos", "instr"),
    ("jsonb_build_array", "json_array"),
    ("jsonb_array_length", "json_array_length"),
];

pub(super) fn rewritten(mut rewriter: Rewriter<'_>) -> Sql {
    clocks::of_postgres(&mut rewriter);
    for expr in rewriter.exprs.clone() {
        if let Some(written) = written(&rewriter, expr) {
            rewriter.write(expr.span, written);
        }
    }
    clauses(&mut rewriter);
    rewriter.finish()
}

fn written<'t>(rewriter: &Rewriter<'t>, expr: &'t Expr) -> Option<Written<'t>> {
    match &expr.kind {
        ExprKind::Call { name, args, order, filter: None, over: None, distinct: false, .. } if order.is_empty() => {
            call(name, args)
        }
        ExprKind::Cast { expr: inner, base, .. } => {
            // A cast of a parameter or of NULL only tells Postgres its type, unless another one works on it.
            let is_bare = matches!(inner.kind, ExprKind::Param(_) | ExprKind::Null);
            let parent = rewriter.parent(expr);
            match is_bare && !parent.is_some_and(|parent| matches!(parent.kind, ExprKind::Cast { .. })) {
                true => Some(Written::new().of(inner)),
                false => cast(inner, base.as_ref()),
            }
        }
        ExprKind::Binary { op, left, right } => match op.as_str() {
            "->" | "->>" | "#>" | "#>>" => read(rewriter, expr, op),
            "||" => merged(left, right),
            "-" | "#-" => removed(expr).or_else(|| days(op, left, right)),
            "+" => days(op, left, right),
            // `?` asks for a key.
            "?" => {
                let key = path::of_arrow(right)?;
                let (document, mut steps) = chain(left);
                steps.push(key);
                let test = Written::new().text("json_type(").of(document);
                Some(test.text(format!(", {}) IS NOT NULL", path::sqlite(&steps))))
            }
            _ => None,
        },
        ExprKind::Like { op, expr: value, pattern, negated, escape } => {
            let not = if *negated { " NOT" } else { "" };
            match (*op, &pattern.kind, escape) {
                ("ilike", _, None) => Some(Written::new().of(value).text(format!("{not} LIKE ")).of(pattern)),
                // LIKE of SQLite takes capitals for small letters.
                ("like", ExprKind::Text(like), None)
                    if like.contains(char::is_alphabetic) && !like.contains(['*', '?', '[', '\\']) =>
                {
                    let glob = like.replace('%', "*").replace('_', "?");
                    Some(Written::new().of(value).text(format!("{not} GLOB ")).text(literal(&glob)))
                }
                _ => None,
            }
        }
        ExprKind::InQuery { expr: value, query, negated } => {
            let not = if *negated { " NOT" } else { "" };
            let list = query.items_of()?.bare();
            let element = if value.base() == Some(&Base::Uuid) { "unhex(value, '-')" } else { "value" };
            let list = Written::new().of(value).text(format!("{not} IN (SELECT {element} FROM json_each(")).of(list);
            Some(list.text("))"))
        }
        ExprKind::Any { op, left, right, all } => {
            let word = match (op.as_str(), all) {
                ("=", false) => " IN (",
                ("<>", true) => " NOT IN (",
                _ => return None,
            };
            let list = right.bare();
            match &list.kind {
                ExprKind::Param(_) => {
                    // Ids come as their texts.
                    let element = if left.base() == Some(&Base::Uuid) { "unhex(value, '-')" } else { "value" };
                    let list = Written::new().of(left).text(format!("{word}SELECT {element} FROM json_each(")).of(list);
                    Some(list.text("))"))
                }
                ExprKind::Array(items) => {
                    let list = Written::call("", items);
                    Some(Written::new().of(left).text(word.trim_end_matches('(')).then(list))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn call<'t>(name: &str, args: &'t [Expr]) -> Option<Written<'t>> {
    match (name, args) {
        ("jsonb_array_length", [document]) => {
            let (document, steps) = chain(document);
            let call = Written::new().text("json_array_length(").of(document);
            Some(if steps.is_empty() { call.text(")") } else { call.text(format!(", {})", path::sqlite(&steps))) })
        }
        ("encode", [bytes, form]) if is_text(form, "hex") => {
            Some(Written::new().text("lower(hex(").of(bytes).text("))"))
        }
        ("right", [text, length]) => match path::of_arrow(length) {
            Some(Step::Index(end)) if end > 0 => {
                Some(Written::new().text("substr(").of(text).text(format!(", -{end})")))
            }
            _ => None,
        },
        ("to_hex", [number]) => Some(Written::new().text("printf('%x', ").of(number).text(")")),
        ("string_agg", [value, comma]) if is_text(comma, ",") => {
            Some(Written::new().text("group_concat(").of(value.bare()).text(")"))
        }
        ("jsonb_build_object", args) => Some(build("json_object", args)),
        ("jsonb_build_array", args) => Some(build("json_array", args)),
        ("jsonb_set", [document, path, value]) => {
            let steps = path::of_pg(path)?;
            let call = Written::new().text("json_set(").of(document).text(format!(", {}, ", path::sqlite(&steps)));
            // What Postgres takes for a document as it is SQLite would take for a text.
            let value = match &value.kind {
                ExprKind::Param(_) => Written::new().text("json(").of(value).text(")"),
                _ => json_value(value),
            };
            Some(call.then(value).text(")"))
        }
        ("coalesce", [list, empty]) => match &list.kind {
            // Without rows SQLite gives an empty array by itself.
            ExprKind::Call { name, args, order, .. }
                if name == "jsonb_agg" && order.is_empty() && is_text(empty.bare(), "[]") =>
            {
                Some(Written::call("json_group_array", args))
            }
            _ => None,
        },
        _ => NAMES.iter().find(|(own, _)| *own == name).map(|(_, other)| Written::call(other, args)),
    }
}

/// A chain of arrows as one path. SQLite's own arrows give typed values, so the text is asked for.
fn read<'t>(rewriter: &Rewriter<'t>, expr: &'t Expr, op: &str) -> Option<Written<'t>> {
    let (document, steps) = chain(expr);
    if steps.is_empty() {
        return None;
    }
    let call = Written::new().text("json_extract(").of(document).text(format!(", {})", path::sqlite(&steps)));
    let parent = rewriter.parent(expr);
    let inside_cast = parent.is_some_and(|parent| matches!(parent.kind, ExprKind::Cast { .. }));
    if op.ends_with(">>") && !inside_cast {
        return Some(Written::new().text("CAST(").then(call).text(" AS text)"));
    }
    Some(call)
}

/// What a chain of arrows begins with, and its steps.
fn chain(expr: &Expr) -> (&Expr, Vec<Step>) {
    if let ExprKind::Binary { op, left, right } = &expr.kind {
        let steps = match op.as_str() {
            "->" | "->>" => path::of_arrow(right).map(|step| vec![step]),
            "#>" | "#>>" => path::of_pg(right),
            _ => None,
        };
        if let Some(own) = steps {
            let (document, mut steps) = chain(left);
            steps.extend(own);
            return (document, steps);
        }
    }
    (expr, Vec::new())
}

/// `document || jsonb_build_object('k', v)`.
fn merged<'t>(left: &'t Expr, right: &'t Expr) -> Option<Written<'t>> {
    let (document, pairs) = merges(left, right)?;
    let mut written = Written::new().text("json_set(").of(document);
    for (steps, value) in pairs {
        written = written.text(format!(", {}, ", path::sqlite(&steps))).then(json_value(value));
    }
    Some(written.text(")"))
}

type Pairs<'t> = Vec<(Vec<Step>, &'t Expr)>;

fn merges<'t>(left: &'t Expr, right: &'t Expr) -> Option<(&'t Expr, Pairs<'t>)> {
    let ExprKind::Call { name, args, .. } = &right.kind else { return None };
    if name != "jsonb_build_object" || args.is_empty() {
        return None;
    }
    let (document, mut pairs) = match &left.kind {
        ExprKind::Binary { op, left: inner, right } if op == "||" => merges(inner, right)?,
        _ => (left, Vec::new()),
    };
    for pair in args.chunks(2) {
        let [key, value] = pair else { return None };
        let ExprKind::Text(key) = &key.bare().kind else { return None };
        // An object inside that is built on what is there is a deeper path.
        match inner_object(value) {
            Some(inner) => {
                for (steps, value) in inner {
                    pairs.push(([vec![Step::Key(key.clone())], steps].concat(), value));
                }
            }
            None => pairs.push((vec![Step::Key(key.clone())], value)),
        }
    }
    Some((document, pairs))
}

/// The pairs of `COALESCE(document -> 'k', '{}') || jsonb_build_object(…)`.
fn inner_object(value: &Expr) -> Option<Pairs<'_>> {
    let ExprKind::Binary { op, left, right } = &value.kind else { return None };
    let ExprKind::Call { name, .. } = &left.kind else { return None };
    if op != "||" || name != "coalesce" {
        return None;
    }
    merges(left, right).map(|(_, pairs)| pairs)
}

/// A date that days are added to or taken off, or the days between two: SQLite would calculate with the years.
fn days<'t>(op: &str, left: &'t Expr, right: &'t Expr) -> Option<Written<'t>> {
    let is_date = |expr: &Expr| expr.base() == Some(&Base::Date);
    let is_whole = |expr: &Expr| matches!(expr.base(), Some(Base::Int16 | Base::Int32 | Base::Int64));
    let moved = |date: &'t Expr, days: &'t Expr| {
        let days = Written::new().text(if op == "-" { ", -(" } else { ", (" }).of(days).text(") || ' days')");
        Written::new().text("date(").of(date).then(days)
    };
    match op {
        "-" if is_date(left) && is_date(right) => {
            let between = Written::new().text("CAST(julianday(").of(left).text(") - julianday(").of(right);
            Some(between.text(") AS integer)"))
        }
        _ if is_date(left) && is_whole(right) => Some(moved(left, right)),
        "+" if is_whole(left) && is_date(right) => Some(moved(right, left)),
        _ => None,
    }
}

/// `document - 'a' - 'b'`, `document #- '{a,b}'`.
fn removed(expr: &Expr) -> Option<Written<'_>> {
    let (document, paths) = removals(expr)?;
    let mut written = Written::new().text("json_remove(").of(document);
    for steps in paths {
        written = written.text(format!(", {}", path::sqlite(&steps)));
    }
    Some(written.text(")"))
}

fn removals(expr: &Expr) -> Option<(&Expr, Vec<Vec<Step>>)> {
    let ExprKind::Binary { op, left, right } = &expr.kind else { return None };
    let steps = match (op.as_str(), &right.bare().kind) {
        ("-", ExprKind::Text(key)) if left.base().is_none_or(|base| *base == Base::Json) => {
            vec![Step::Key(key.clone())]
        }
        ("#-", _) => path::of_pg(right)?,
        _ => return None,
    };
    let (document, mut paths) = removals(left).unwrap_or((left, Vec::new()));
    paths.push(steps);
    Some((document, paths))
}

fn build<'t>(name: &str, args: &'t [Expr]) -> Written<'t> {
    let mut written = Written::new().text(format!("{name}("));
    for (at, arg) in args.iter().enumerate() {
        written = if at > 0 { written.text(", ") } else { written }.then(json_value(arg));
    }
    written.text(")")
}

/// A value on its way into a document: what Postgres needs a cast for SQLite sees by itself.
fn json_value(value: &Expr) -> Written<'_> {
    match &value.kind {
        ExprKind::Call { name, args, .. } if name == "to_jsonb" && args.len() == 1 => json_value(&args[0]),
        ExprKind::Call { name, args, .. }
            if name == "coalesce" && args.len() == 2 && is_text(args[1].bare(), "null") =>
        {
            json_value(&args[0])
        }
        ExprKind::Cast { expr: inner, base: Some(Base::Bool), .. } => {
            Written::new().text("json(CASE WHEN ").of(inner).text(" THEN 'true' ELSE 'false' END)")
        }
        ExprKind::Cast { expr: inner, base: Some(Base::Json), .. } => Written::new().text("json(").of(inner).text(")"),
        ExprKind::Cast { expr: inner, .. } if matches!(inner.kind, ExprKind::Param(_) | ExprKind::Text(_)) => {
            Written::new().of(inner)
        }
        _ => Written::new().of(value),
    }
}

fn is_text(expr: &Expr, wanted: &str) -> bool {
    matches!(&expr.kind, ExprKind::Text(text) if text == wanted)
}

fn cast<'t>(inner: &'t Expr, base: Option<&Base>) -> Option<Written<'t>> {
    let name = match base? {
        Base::Int16 | Base::Int32 | Base::Int64 => "INTEGER",
        Base::Float64 => {
            if let Some(number) = rounded(inner) {
                return Some(Written::new().text("round(").of(number).text(")"));
            }
            "REAL"
        }
        Base::Text => "text",
        Base::Bool => return Some(Written::new().of(inner)),
        Base::Json if matches!(inner.kind, ExprKind::Text(_)) => return Some(Written::new().of(inner)),
        Base::Json => return Some(Written::new().text("json(").of(inner).text(")")),
        Base::Numeric if is_read(inner) => return Some(Written::new().text("CAST(").of(inner).text(" AS REAL)")),
        _ => return None,
    };
    // SQLite cuts off what Postgres would round.
    let value = match &inner.kind {
        ExprKind::Call { name: function, args, .. } if function == "trunc" && args.len() == 1 && name == "INTEGER" => {
            match &args[0].kind {
                ExprKind::Cast { expr, base: Some(Base::Numeric), .. } => {
                    return Some(Written::new().text("CAST(").of(expr).text(" AS INTEGER)"));
                }
                _ => &args[0],
            }
        }
        _ => inner,
    };
    Some(Written::new().text("CAST(").of(value).text(format!(" AS {name})")))
}

/// The number in `round(number::numeric)`.
fn rounded(expr: &Expr) -> Option<&Expr> {
    match &expr.kind {
        ExprKind::Call { name, args, .. } if name == "round" && args.len() == 1 => match &args[0].kind {
            ExprKind::Cast { expr, base: Some(Base::Numeric), .. } => Some(expr),
            _ => None,
        },
        _ => None,
    }
}

fn is_read(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Binary { op, .. } if op == "->>" || op == "#>>")
}

/// What is no expression: conflicts, joins of a DELETE, order, limits, locks.
fn clauses(rewriter: &mut Rewriter<'_>) {
    let tree = rewriter.tree;
    for part in &tree.parts {
        match &part.body {
            Body::Insert(insert) => conflict(rewriter, insert),
            Body::Delete(delete) => using(rewriter, delete),
            Body::Update(_) | Body::Query(_) => {}
        }
        if let (Some(name), false) = (&part.name, matches!(part.body, Body::Query(_))) {
            let line = format!("`{name}` writes, and SQLite has no CTE that does: make it a statement of the unit");
            rewriter.open.push(line);
        }
        for query in part.queries() {
            for key in &query.order {
                let nullable = key.expr.ty.as_ref().is_some_and(|ty| ty.nullable);
                if nullable && key.nulls_first.is_none() {
                    let nulls = if key.desc { " NULLS FIRST" } else { " NULLS LAST" };
                    rewriter.insert(key.span.end, key.span, nulls);
                }
            }
            if let (None, Some(offset)) = (&query.limit, &query.offset) {
                let text = &rewriter.inputs.sources.file(offset.span.file).text;
                let before = query.span.start as usize..offset.span.start as usize;
                let keyword = last_word(text, before, "offset");
                if let Some(start) = keyword {
                    rewriter.insert(start as u32, offset.span, "LIMIT -1 ");
                }
            }
            for lock in &query.locks {
                rewriter.write(lock.span, Written::new());
                let line = "-- diverges(lock): SQLite has one writer, so that nobody else changes the rows meanwhile.";
                if !ends_with_write(tree) && !rewriter.declared.iter().any(|declared| declared == line) {
                    rewriter.declared.push(line.to_owned());
                }
            }
        }
    }
}

/// Between a SELECT and ON CONFLICT SQLite needs a WHERE, and it knows a constraint by its columns alone.
fn conflict(rewriter: &mut Rewriter<'_>, insert: &Insert) {
    if let Some(Conflict { target: Some(columns), span, .. }) = &insert.conflict {
        let tokens = lexer::tokens(rewriter.inputs.sources.text(*span), Dialect::Pg);
        let words: Vec<_> = tokens.iter().filter(|token| !token.is_comment()).take(5).collect();
        if let [_, _, on, _, name] = words.as_slice()
            && on.kind == Kind::Word
        {
            let at = |byte: usize| span.start + u32::try_from(byte).unwrap_or_default();
            let place = Span { start: at(on.start), end: at(name.end), ..*span };
            rewriter.write(place, Written::new().text(format!("({})", columns.join(", "))));
        }
    }
    if let (Rows::Select(select), Some(Conflict { .. })) = (&insert.rows.rows, &insert.conflict)
        && select.filter.is_none()
        && select.group.is_empty()
        && !select.from.is_empty()
        && insert.rows.order.is_empty()
        && insert.rows.limit.is_none()
    {
        rewriter.insert(insert.rows.span.end, insert.rows.span, " WHERE true");
    }
}

/// `DELETE FROM a USING b WHERE p` as `DELETE FROM a WHERE EXISTS (SELECT 1 FROM b WHERE p)`.
fn using<'t>(rewriter: &mut Rewriter<'t>, delete: &'t Delete) {
    let (Some(first), Some(last), Some(filter)) = (delete.using.first(), delete.using.last(), &delete.filter) else {
        return;
    };
    let text = &rewriter.inputs.sources.file(first.span.file).text;
    let before = delete.target.span.end as usize..first.span.start as usize;
    let Some((start, _)) = word_in(text, before, "using", Dialect::Pg) else { return };
    let place = Span { start: start as u32, end: filter.span.end, ..filter.span };
    let written = Written::new()
        .text("WHERE EXISTS (SELECT 1 FROM ")
        .span(first.span.to(last.span))
        .text(" WHERE ")
        .of(filter)
        .text(")");
    rewriter.write(place, written);
}

/// Where the last such word of a range begins.
fn last_word(text: &str, range: std::ops::Range<usize>, word: &str) -> Option<usize> {
    let mut from = range.start;
    let mut found = None;
    while let Some((start, end)) = word_in(text, from..range.end, word, Dialect::Pg) {
        found = Some(start);
        from = end;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_is_found_and_no_comment() {
        let text = "offset 1 /* offset */ OFFSET 2";
        assert_eq!(last_word(text, 0..text.len(), "offset"), Some(22));
    }
}

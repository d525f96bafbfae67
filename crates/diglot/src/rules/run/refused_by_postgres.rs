//! A form of SQLite stands on the Postgres page.

use crate::rules::Context;
use crate::rules::look::{Word, assignments, branches};
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::rule;
use crate::source::Span;
use crate::split::lexer::Kind;
use crate::tree::{Body, Expr, ExprKind, Part, Query, Rows, SourceKind};
use crate::types::Base;

/// Reports a form with the text to write instead.
type Report<'r> = &'r mut dyn FnMut(Span, &str, &str);

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if context.page.tree.dialect != Dialect::Pg {
        return;
    }
    let mut report = |span: Span, what: &str, help: &str| {
        let message = format!("{}: Postgres does not read {what}", context.name());
        found.push(
            Diagnostic::error(rule::REFUSED_BY_POSTGRES, message, span, "a form of SQLite").help(help.to_owned()),
        );
    };
    for part in &context.page.tree.parts {
        part.queries().into_iter().for_each(|query| distinct_order(query, &mut report));
        recursive(part, &mut report);
    }
    for words in &context.tokens {
        let words: Vec<&Word<'_>> = words.iter().filter(|word| !word.token.is_comment()).collect();
        context.page.tree.parts.iter().for_each(|part| assigned(part, &words, &mut report));
        (0..words.len()).for_each(|at| word(context, &words, at, &mut report));
        chain(&words, &mut report);
    }
}

/// DISTINCT with an order by something that is not selected.
fn distinct_order(query: &Query, report: Report<'_>) {
    let Rows::Select(select) = &query.rows else { return };
    if !select.distinct.as_ref().is_some_and(|(on, _)| on.is_empty()) {
        return;
    }
    let column = |expr: &Expr| match &expr.kind {
        ExprKind::Column { source, column } => Some((*source, column.clone())),
        _ => None,
    };
    for key in &query.order {
        let Some(wanted) = column(&key.expr) else { continue };
        let selected = select
            .columns
            .iter()
            .any(|output| output.span.contains(key.expr.span) || column(&output.expr) == Some(wanted.clone()));
        if !selected {
            report(
                key.span,
                "DISTINCT ordered by what is not selected",
                "select the key too, or GROUP BY and order by min(…)",
            );
        }
    }
}

/// ORDER BY and LIMIT inside a recursive query, and branches of other types.
fn recursive(part: &Part, report: Report<'_>) {
    let (Body::Query(query), true, Some(name)) = (&part.body, part.recursive, &part.name) else { return };
    let Rows::Set { left, right, .. } = &query.rows else { return };
    let mut selects = Vec::new();
    branches(right, &mut selects);
    let own = selects.iter().flat_map(|select| &select.from);
    if !own
        .into_iter()
        .any(|source| source.alias == *name || matches!(&source.kind, SourceKind::Cte(cte) if cte == name))
    {
        return;
    }
    if let Some(span) = query.order.first().map(|key| key.span).or(query.limit.as_ref().map(|limit| limit.span)) {
        report(span, "ORDER BY or LIMIT inside a recursive query", "order and limit the rows where they are read");
    }
    for ((column, first), (_, next)) in left.columns().into_iter().zip(right.columns()) {
        let (Some(first), Some(next)) = (first, next) else { continue };
        if rank(&next.base) > rank(&first.base) && rank(&first.base) > 0 {
            let what = format!("a recursive query whose column `{column}` begins as `{}`", first.base.word());
            let help = format!("cast it in the first branch, to what the second one gives: `{}`", next.base.word());
            report(part.span, &what, &help);
        }
    }
}

/// A table before an assigned column.
fn assigned(part: &Part, words: &[&Word<'_>], report: Report<'_>) {
    for assignment in assignments(part) {
        let Some(at) = words.iter().position(|word| assignment.span.contains(word.span)) else { continue };
        if words.get(at + 1).is_some_and(|word| word.is(".")) {
            report(assignment.span, "a table before an assigned column, and SQLite neither", "write the column alone");
        }
    }
}

/// The widths of numbers; no number has none.
fn rank(base: &Base) -> u8 {
    match base {
        Base::Int16 => 1,
        Base::Int32 => 2,
        Base::Int64 => 3,
        Base::Numeric => 4,
        Base::Float64 => 5,
        _ => 0,
    }
}

/// What can be told by a word and those around it.
fn word(context: &Context<'_>, words: &[&Word<'_>], at: usize, report: Report<'_>) {
    let word = words[at];
    let is = |at: usize, wanted: &str| words.get(at).is_some_and(|word| word.is(wanted));
    let touches = |next: usize| words.get(next).is_some_and(|next| next.span.start == word.span.end);
    let number = word.token.kind == Kind::Word && word.text.starts_with(|c: char| c.is_ascii_digit());
    let placeholder = |at: usize| words.get(at).is_some_and(|word| [":", "$", "@"].contains(&word.text));
    let value = if is(at + 1, "not") { at + 2 } else { at + 1 };
    let odd = |c: char| c == '_' || (c.is_alphabetic() && !['e', 'E'].contains(&c));
    // `:1a` is a parameter and `a.1` a path, not a number.
    let free = at == 0 || ![":", "$", "@", "?"].contains(&words[at - 1].text);
    if is(at, "=") && is(at + 1, "=") && touches(at + 1) {
        report(word.span, "`==`", "write `=`, which both read");
    } else if number && free && word.text.contains(odd) {
        report(word.span, "this number", "write it in decimal digits");
    } else if is(at, "is") && placeholder(value) {
        report(word.span, "IS before a value", "write `IS NOT DISTINCT FROM`; SQLite reads it as well");
    } else if is(at, "not") && is(at + 1, "null") && at > 0 && !is(at - 1, "is") && is_operand(words[at - 1]) {
        report(word.span, "NOT NULL in two words", "write `IS NOT NULL`");
    } else if (is(at, "main") || is(at, "temp"))
        && is(at + 1, ".")
        && (at == 0 || !is(at - 1, "."))
        && !context.is_alias(word.text)
    {
        report(word.span, "a database of SQLite", "write the table's name alone");
    }
}

/// `a = b = c` without brackets.
fn chain(words: &[&Word<'_>], report: Report<'_>) {
    let ends =
        ["and", "or", ",", ";", "where", "when", "then", "else", "end", "on", "set", "having", "select", "from", "not"];
    // At each depth of brackets, whether a comparison has been seen since the last word that ends one.
    let mut seen = vec![false];
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).map_or("", |next| next.text);
        let before = at.checked_sub(1).map_or("", |before| words[before].text);
        match word.text {
            "(" | "[" => seen.push(false),
            ")" | "]" => {
                seen.pop();
                if seen.is_empty() {
                    seen.push(false);
                }
            }
            "=" if !["<", ">", "!", "=", ":"].contains(&before) && next != ">" => {
                if let Some(seen) = seen.last_mut()
                    && std::mem::replace(seen, true)
                {
                    report(word.span, "a chain of comparisons", "put brackets around the first comparison");
                }
            }
            text if ends.iter().any(|end| text.eq_ignore_ascii_case(end)) => {
                if let Some(seen) = seen.last_mut() {
                    *seen = false;
                }
            }
            _ => {}
        }
    }
}

/// Whether a word can stand before `NOT NULL` as what is tested.
fn is_operand(word: &Word<'_>) -> bool {
    let keyword = ["and", "or", "where", "when", "on", "select", "not"].iter().any(|keyword| word.is(keyword));
    !keyword && word.text.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ')' || c == '"')
}

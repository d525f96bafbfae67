//! A form of Postgres stands on the SQLite page.

mod grammar;

use crate::rules::Context;
use crate::rules::look::Word;
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::rule;
use crate::source::Span;
use crate::split::lexer::Kind;
use crate::tree::{Body, Expr, ExprKind, Part, Rows, SourceKind};

/// Reports a form with the text to write instead.
type Report<'r> = &'r mut dyn FnMut(Span, &str, &str);

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if context.page.tree.dialect != Dialect::Sqlite {
        return;
    }
    let mut report = |span: Span, what: &str, help: &str| {
        let message = format!("{}: SQLite does not read {what}", context.name());
        found.push(
            Diagnostic::error(rule::REFUSED_BY_SQLITE, message, span, "a form of Postgres").help(help.to_owned()),
        );
    };
    context.page.tree.parts.iter().for_each(|shape| part(shape, &mut report));
    context.exprs.iter().for_each(|shape| expr(shape, &mut report));
    for source in context.by_id.values() {
        let SourceKind::Derived(query) = &source.kind else { continue };
        let renamed = source.columns.iter().zip(query.columns()).any(|((name, _), (own, _))| *name != own);
        if renamed {
            report(source.span, "names for the columns of a subquery", "name them in a CTE: `WITH v(a) AS (…)`");
        }
    }
    let texts: Vec<Vec<&Word<'_>>> =
        context.tokens.iter().map(|words| words.iter().filter(|word| !word.token.is_comment()).collect()).collect();
    for words in &texts {
        (0..words.len()).for_each(|at| token(context, words, at, &mut report));
    }
    if found.iter().any(|finding| finding.rule == rule::REFUSED_BY_SQLITE.name) {
        // What is known by name is told better.
        return;
    }
    let tree = context.page.tree;
    for words in &texts {
        let Some(span) = grammar::stops_at(words, &tree.params, &tree.rewrites) else { continue };
        let message = format!("{}: SQLite's grammar has no such word here", context.name());
        let help = "write it as https://www.sqlite.org/lang.html has it; what Postgres alone has, such as `::`, \
                    DISTINCT ON or FOR UPDATE, has no place on this page";
        let finding = Diagnostic::error(rule::REFUSED_BY_SQLITE, message, span, "SQLite stops reading here");
        found.push(match stripped(context, words, span) {
            Some(clause) => finding.help(format!(
                "if SQLite never gets this clause, say so in `diglot.toml`, below `[stripped]`: `sqlite = [\"{clause}\"]`"
            )),
            None => finding.help(help),
        });
    }
}

/// The lock at whose first word SQLite stops, where the text is that of both pages and may be without it on its way.
fn stripped(context: &Context<'_>, words: &[&Word<'_>], stop: Span) -> Option<String> {
    context.facing.filter(|facing| facing.raw.name_span == context.page.raw.name_span)?;
    let locks = context.page.tree.parts.iter().flat_map(Part::queries).flat_map(|query| &query.locks);
    let lock = locks.into_iter().find(|lock| lock.span.start == stop.start)?;
    let clause: Vec<&str> = words.iter().filter(|word| lock.span.contains(word.span)).map(|word| word.text).collect();
    Some(clause.join(" "))
}

fn part(part: &Part, report: Report<'_>) {
    match &part.body {
        Body::Delete(delete) => {
            if let Some(source) = delete.using.first() {
                report(source.span, "DELETE … USING", "write `WHERE EXISTS (SELECT 1 FROM …)`, which both read");
            }
        }
        Body::Insert(insert) => {
            if let (Rows::Select(select), Some(conflict)) = (&insert.rows.rows, &insert.conflict)
                && select.filter.is_none()
                && select.group.is_empty()
                && insert.rows.order.is_empty()
                && insert.rows.limit.is_none()
                && !select.from.is_empty()
            {
                let help = "write `WHERE true` before it: behind a FROM, ON begins the condition of a join";
                report(conflict.span, "ON CONFLICT right behind a FROM", help);
            }
        }
        Body::Query(_) | Body::Update(_) => {}
    }
    for query in part.queries() {
        if let (Some(offset), None) = (&query.offset, &query.limit) {
            report(offset.span, "OFFSET without LIMIT", "write `LIMIT -1 OFFSET …`");
        }
    }
}

fn expr(expr: &Expr, report: Report<'_>) {
    let is_row = |expr: &Expr| matches!(expr.kind, ExprKind::Tuple(_));
    match &expr.kind {
        ExprKind::Call { args, distinct: true, .. } if args.iter().any(is_row) => {
            report(expr.span, "DISTINCT over a row", "count the rows of a subquery with DISTINCT");
        }
        ExprKind::Is { expr: inner, .. } if is_row(inner) => {
            report(expr.span, "IS over a row", "test each column: `a IS NULL AND b IS NULL`");
        }
        ExprKind::Like { op: "ilike", .. } => {
            report(expr.span, "ILIKE", "write LIKE, which takes capitals for small letters there");
        }
        _ => {}
    }
}

/// What can be told by a word and those around it.
fn token(context: &Context<'_>, words: &[&Word<'_>], at: usize, report: Report<'_>) {
    let word = words[at];
    let is = |at: usize, wanted: &str| words.get(at).is_some_and(|word| word.is(wanted));
    let touches = words.get(at + 1).is_some_and(|next| next.span.start == word.span.end);
    let text_follows = words.get(at + 1).is_some_and(|next| next.token.kind == Kind::Text);
    if (is(at, "except") || is(at, "intersect")) && is(at + 1, "all") {
        report(word.span, "EXCEPT ALL and INTERSECT ALL", "write it without ALL, or count the rows");
    } else if is(at, "default") && word.token.kind == Kind::Word && !is(at + 1, "values") {
        report(word.span, "DEFAULT as a value", "leave the column out of the INSERT");
    } else if is(at, "e") && touches && text_follows {
        report(word.span, "E'…'", "write a plain text, with '' for a quote");
    } else if is(at, "$") && is(at + 1, "$") && touches {
        report(word.span, "$$…$$", "write a plain text, with '' for a quote");
    } else if is(at, "public") && is(at + 1, ".") && (at == 0 || !is(at - 1, ".")) && !context.is_alias(word.text) {
        report(word.span, "a schema of Postgres", "write the table's name alone");
    }
}

//! The SQL text that goes to the driver.
//!
//! It is the user's own text: comments are left out, white space outside quotes becomes single spaces,
//! placeholders become numbers. The tree is never printed, so the engine reads what was reviewed.

use std::collections::BTreeSet;

use crate::dialect::Dialect;
use crate::infer::{PageOf, Signature, columns};
use crate::pipeline::{EmittedText, TextColumn, TextParam, Variant};
use crate::source::{Sources, Span};
use crate::split::lexer;
use crate::tree::ParamUse;

/// The text of one page of a signature.
pub(crate) fn emit(sources: &Sources, signature: &Signature, page: &PageOf<'_>) -> EmittedText {
    let dialect = page.tree.dialect;
    // A parameter that only the facing page has gets no number here: Postgres cannot type what it never sees.
    let used = |name: &str| page.tree.params.iter().any(|param| param.name == name);
    let params: Vec<TextParam> = signature
        .params
        .iter()
        .filter(|param| used(&param.name))
        .map(|param| TextParam { name: param.name.clone(), ty: param.ty.clone() })
        .collect();
    let parts: Vec<String> = page.raw.parts.iter().map(|part| part_text(sources, page, part.span, &params)).collect();
    let (noun, name) = (signature.noun.clone(), signature.name.clone());
    let variant = Variant::of(page.raw);
    let sql = format!("/* {noun}.{name}{variant} {dialect} */ {}", parts.join("; "));
    let result = page.tree.result.and_then(|part| page.tree.parts.get(part)).map(|part| part.statement);
    let narrowed = columns::narrowed(page);
    let columns = signature.columns.iter().enumerate().map(|(i, column)| TextColumn {
        name: column.name.clone(),
        base: column.on(dialect).cloned(),
        nullable: column.ty.nullable,
        declared: declares(page, &column.name) || narrowed.get(i) == Some(&true),
    });
    let spare = spare(page, &params);
    EmittedText { noun, name, variant, dialect, sql, parts, result, params, spare, columns: columns.collect() }
}

fn declares(page: &PageOf<'_>, column: &str) -> bool {
    page.raw.annotations.iter().any(
        |annotation| matches!(&annotation.kind, crate::page::AnnotationKind::Column { name, .. } if name == column),
    )
}

/// How many arguments more than parameters the driver needs for a unit: one for every number that a statement skips
/// below its greatest.
fn spare(page: &PageOf<'_>, params: &[TextParam]) -> usize {
    if page.tree.dialect != Dialect::Sqlite || page.raw.parts.len() < 2 {
        return 0;
    }
    let skipped = page.raw.parts.iter().map(|part| {
        let inside = |used: &&ParamUse| part.span.contains(used.span);
        let number = |used: &ParamUse| params.iter().position(|known| known.name == used.name);
        let numbers: BTreeSet<usize> = page.tree.params.iter().filter(inside).filter_map(number).collect();
        numbers.last().map_or(0, |greatest| greatest + 1 - numbers.len())
    });
    skipped.sum::<usize>().saturating_sub(params.len())
}

/// One statement: without comments, white space folded, placeholders numbered.
fn part_text(sources: &Sources, page: &PageOf<'_>, span: Span, params: &[TextParam]) -> String {
    let (dialect, uses): (Dialect, &[ParamUse]) = (page.tree.dialect, &page.tree.params);
    let text = sources.text(span);
    let base = span.start as usize;
    let mut placeholders: Vec<(usize, usize, usize)> = uses
        .iter()
        .filter(|param| param.span.file == span.file && param.span.start >= span.start && param.span.end <= span.end)
        .filter_map(|param| {
            let number = params.iter().position(|known| known.name == param.name)? + 1;
            Some((param.span.start as usize - base, param.span.end as usize - base, number))
        })
        .collect();
    placeholders.sort_unstable();
    let mut placeholders = placeholders.into_iter().peekable();
    let mut sql = String::with_capacity(text.len());
    let mut written = 0;
    for token in lexer::tokens(text, dialect) {
        let place = Span::new(span.file, base + token.start..base + token.end);
        if token.is_comment() || token.start < written || page.raw.is_left_out(place) {
            continue;
        }
        if token.start > written && !sql.is_empty() {
            sql.push(' ');
        }
        match placeholders.next_if(|(start, ..)| *start <= token.start) {
            // A placeholder may be several tokens: a colon and a word, or a whole `sqlc.arg(name)`.
            Some((_, end, number)) => {
                // `LIMIT:n` is two tokens, `LIMIT$1` is one.
                if sql.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                    sql.push(' ');
                }
                sql.push_str(&dialect.placeholder(number));
                written = end;
            }
            None => {
                sql.push_str(&text[token.start..token.end]);
                written = token.end;
            }
        }
    }
    sql
}

//! The SQL text that goes to the driver.
//!
//! It is the user's own text: comments are left out except for hints and templates, white space outside quotes becomes
//! single spaces, placeholders become numbers, sqlc's macros what they stand for. The tree is never printed, so the
//! engine reads what was reviewed.

mod rows;
mod steps;

use crate::dialect::Dialect;
use crate::emitted::{EmittedText, Holds, JoinedText, TextColumn, TextParam, Variant};
use crate::guard;
use crate::infer::{PageOf, Param, Signature, columns};
use crate::joined::joined;
use crate::page::{BehindWord, Guard, RawPart};
use crate::source::{Sources, Span};
use crate::split::lexer;
use crate::steps::Steps;
use crate::tree::{Part, Replacement, Rewrite, Source};
use crate::types::Base;

pub use rows::element;

/// The text of one page of a signature, with the steps that it takes where its tables are spread.
pub(crate) fn emit_with(
    sources: &Sources,
    signature: &Signature,
    page: &PageOf<'_>,
    taken: Option<&Steps>,
) -> EmittedText {
    let mut text = emit(sources, signature, page);
    text.steps = taken.map(|taken| steps::texts(sources, page, &text, taken));
    text
}

/// The text of one page of a signature.
pub(crate) fn emit(sources: &Sources, signature: &Signature, page: &PageOf<'_>) -> EmittedText {
    let dialect = page.tree.dialect;
    // A parameter that only the facing page has gets no number here: Postgres cannot type what it never sees.
    let used = |name: &str| page.tree.params.iter().any(|param| param.name == name);
    let mut params: Vec<TextParam> = signature
        .params
        .iter()
        .filter(|param| used(&param.name))
        .map(|param| TextParam {
            name: param.name.clone(),
            ty: param.ty.clone(),
            digits: takes_digits(page, param),
            stored: param.stored,
            holds: Holds::Value,
        })
        .collect();
    if let Some(rows) = &signature.rows {
        params.extend(rows::params(dialect, rows));
    }
    let (noun, name) = (signature.noun.clone(), signature.name.clone());
    let variant = Variant::of(page.raw);
    let mut sql = format!("/* {noun}.{name}{variant} {dialect} */ ");
    let (mut parts, mut places) = (Vec::new(), Vec::new());
    let guard = asked_first(page);
    let guarded = guard.is_some();
    let settled = guard.as_ref().map_or_else(Vec::new, |guard| settled(page, guard));
    // What joins the rows that others returned is not sent.
    let joined = joined(page.raw, page.tree).ok().flatten().filter(|_| dialect == Dialect::Sqlite);
    let sent = page.raw.parts.len() - usize::from(joined.is_some());
    let asked = guard.iter().map(|guard| asking_text(sources, page, guard, &params));
    let own = page.raw.parts[..sent].iter().enumerate().map(|(at, part)| {
        let given = if guarded { needed(page, at, part, &settled) } else { part.given.clone() };
        part_text(sources, page, &RawPart { given, ..part.clone() }, (&params, &settled))
    });
    for (at, (text, of_part)) in asked.chain(own).enumerate() {
        if at > 0 {
            sql.push_str("; ");
        }
        places.extend(of_part.into_iter().map(|(start, span)| (sql.len() + start, span)));
        sql.push_str(&text);
        parts.push(text);
    }
    let shift = usize::from(guarded);
    let result = page.tree.result.and_then(|part| page.tree.parts.get(part)).map(|part| part.statement + shift);
    let result = result.filter(|_| joined.is_none());
    let joined = joined.map(|joined| JoinedText {
        sources: joined.sources.into_iter().map(|(at, optional)| (at + shift, optional)).collect(),
        columns: joined.columns,
    });
    let narrowed = columns::narrowed(page);
    let columns = signature.columns.iter().enumerate().map(|(i, column)| TextColumn {
        name: column.name.clone(),
        base: column.on(dialect).cloned(),
        nullable: column.ty.nullable,
        declared: declares(page, &column.name) || narrowed.get(i) == Some(&true),
    });
    let (spare, place) = (spare(dialect, &parts, &params), page.raw.name_span);
    let (constant, columns) = (page.tree.is_constant(), columns.collect());
    EmittedText {
        noun,
        name,
        variant,
        dialect,
        place,
        sql,
        places,
        parts,
        guarded,
        result,
        joined,
        params,
        spare,
        constant,
        columns,
        steps: None,
    }
}

/// The guard that a unit of SQLite asks first. Postgres has one statement, which asks by itself.
fn asked_first<'p>(page: &PageOf<'p>) -> Option<&'p Guard> {
    let is_unit = page.tree.dialect == Dialect::Sqlite && page.raw.parts.len() > 1;
    page.raw.guard.as_ref().filter(|_| is_unit)
}

/// What need not be asked again behind the guard: its conditions, and whether it has a row.
fn settled(page: &PageOf<'_>, guard: &Guard) -> Vec<Span> {
    let select = guard::query(page.tree, &guard.name).and_then(|query| guard::pinned(&page.schema.tables, query));
    let conditions = select.into_iter().flat_map(|select| guard::settled(&page.schema.tables, select));
    let questions = page.tree.parts.iter().flat_map(|part| guard::questions(part, &guard.name));
    conditions.chain(questions).map(|expr| expr.span).collect()
}

/// The CTEs that a part still reads when what is settled is left out.
fn needed(page: &PageOf<'_>, at: usize, part: &RawPart, settled: &[Span]) -> Vec<Span> {
    let own = || page.tree.parts.iter().filter(move |other| other.statement == at);
    let mut open: Vec<&Part> = own().filter(|other| !part.given.contains(&other.span)).collect();
    let mut kept: Vec<Span> = Vec::new();
    while let Some(reader) = open.pop() {
        let is_open = |source: &&Source| !settled.iter().any(|place| place.contains(source.span));
        for name in reader.sources().into_iter().filter(is_open).filter_map(Source::cte) {
            let cte = own().find(|other| other.name.as_deref() == Some(name) && part.given.contains(&other.span));
            if let Some(cte) = cte.filter(|cte| !kept.contains(&cte.span)) {
                kept.push(cte.span);
                open.push(cte);
            }
        }
    }
    part.given.iter().filter(|given| kept.contains(given)).copied().collect()
}

/// The statement that asks the guard: it has no row, or it is an error.
fn asking_text(
    sources: &Sources,
    page: &PageOf<'_>,
    guard: &Guard,
    params: &[TextParam],
) -> (String, Vec<(usize, Span)>) {
    let nowhere = RawPart::new(Span { end: guard.span.start, ..guard.span }, None);
    let asking = RawPart { given: guard.given.clone(), ..nowhere };
    let (text, places) = part_text(sources, page, &asking, (params, &[]));
    let (name, error) = (&guard.name, EmittedText::NO_ROW);
    (format!("{text} SELECT json_extract('{{}}', '{error}') WHERE NOT EXISTS (SELECT 1 FROM {name})"), places)
}

fn takes_digits(page: &PageOf<'_>, param: &Param) -> bool {
    page.tree.dialect == Dialect::Sqlite && param.ty.base == Base::UuidArray && page.tree.takes_digits(&param.name)
}

fn declares(page: &PageOf<'_>, column: &str) -> bool {
    page.raw.annotations.iter().any(
        |annotation| matches!(&annotation.kind, crate::page::AnnotationKind::Column { name, .. } if name == column),
    )
}

/// How many arguments more than parameters the driver needs for a unit: one for every number that a statement skips
/// below its greatest.
fn spare(dialect: Dialect, parts: &[String], params: &[TextParam]) -> usize {
    if dialect != Dialect::Sqlite || parts.len() < 2 {
        return 0;
    }
    let skipped = parts.iter().map(|part| {
        let numbers = lexer::numbers(part);
        numbers.last().map_or(0, |greatest| greatest - numbers.len())
    });
    skipped.sum::<usize>().saturating_sub(params.len())
}

/// A piece of a text that the driver gets in other words.
struct Piece {
    start: usize,
    end: usize,
    by: String,
}

impl Piece {
    /// Whether it stands between two tokens and in no token's place.
    fn is_between(&self) -> bool {
        self.start == self.end
    }
}

/// The pieces of a statement that are written otherwise, in the order of the text.
fn pieces(page: &PageOf<'_>, span: Span, (params, settled): (&[TextParam], &[Span])) -> Vec<Piece> {
    let dialect: Dialect = page.tree.dialect;
    let piece = |place: Span, by: String| {
        let base = span.start as usize;
        Piece { start: place.start as usize - base, end: place.end as usize - base, by }
    };
    let number = |name: &str| params.iter().position(|known| known.name == name).map(|at| at + 1);
    let is_settled = |place: Span| settled.iter().any(|settled| settled.contains(place));
    let is_here = |rewrite: &&Rewrite| span.contains(rewrite.span) && !is_settled(rewrite.span);
    let rewrites: Vec<&Rewrite> = page.tree.rewrites.iter().filter(is_here).collect();
    let covered = |place: Span| is_settled(place) || rewrites.iter().any(|rewrite| rewrite.span.contains(place));
    let mut pieces: Vec<Piece> = page
        .tree
        .params
        .iter()
        .filter(|param| span.contains(param.span) && !covered(param.span))
        .filter_map(|param| Some(piece(param.span, dialect.placeholder(number(&param.name)?))))
        .collect();
    for rewrite in &rewrites {
        let by = match &rewrite.by {
            Replacement::Columns(columns) => columns.clone(),
            // Quotes keep a word of SQL from being read as one.
            Replacement::Alias(name) => format!("AS \"{name}\""),
            Replacement::Rows { alias } => rows::relation(dialect, alias, params),
            Replacement::Behind(words) => behind_text(words, |name| Some(dialect.placeholder(number(name)?))),
            Replacement::Document { made_by } => {
                let used = page.tree.params.iter().find(|param| param.span == rewrite.span);
                let Some(at) = used.and_then(|used| number(&used.name)) else { continue };
                let (placeholder, base) = (dialect.placeholder(at), &params[at - 1].ty.base);
                match base.is_list() {
                    true => format!("{made_by}({placeholder}::{})", base.pg_name()),
                    false => placeholder,
                }
            }
            Replacement::List { param, negated } => {
                let Some(at) = number(param) else { continue };
                let placeholder = dialect.placeholder(at);
                // SQLite gets a list of ids as their texts.
                let element = if params[at - 1].ty.base == Base::UuidArray { "unhex(value, '-')" } else { "value" };
                match (dialect, negated) {
                    (Dialect::Sqlite, false) => format!("IN (SELECT {element} FROM json_each({placeholder}))"),
                    (Dialect::Sqlite, true) => format!("NOT IN (SELECT {element} FROM json_each({placeholder}))"),
                    (Dialect::Pg, false) => format!("= ANY({placeholder})"),
                    (Dialect::Pg, true) => format!("<> ALL({placeholder})"),
                }
            }
        };
        pieces.push(piece(rewrite.span, by));
    }
    pieces.extend(settled.iter().filter(|place| span.contains(**place)).map(|place| piece(*place, "true".to_owned())));
    let arguments = page.raw.bound.iter().filter(|bound| span.contains(bound.place) && !covered(bound.place));
    let given = arguments.map(|bound| piece(bound.place, bound.argument.text.clone()));
    // A parameter that is an argument has its number already.
    let given: Vec<Piece> = given.filter(|own| pieces.iter().all(|known| known.start != own.start)).collect();
    pieces.extend(given);
    // What a prelude says is in the tree once for every part that has it.
    pieces.sort_unstable_by_key(|piece| (piece.start, piece.end));
    pieces.dedup_by_key(|piece| (piece.start, piece.end));
    pieces
}

/// The condition by which a page begins behind a row.
fn behind_text(words: &[BehindWord], placeholder: impl Fn(&str) -> Option<String>) -> String {
    let texts = words.iter().filter_map(|word| match word {
        BehindWord::Sql(text) => Some(text.clone()),
        BehindWord::Value { name, .. } => placeholder(name),
    });
    texts.collect::<Vec<_>>().join(" ")
}

/// One statement: without comments, white space folded, placeholders numbered; and where in the file each of its
/// tokens stands.
fn part_text(
    sources: &Sources,
    page: &PageOf<'_>,
    part: &RawPart,
    given: (&[TextParam], &[Span]),
) -> (String, Vec<(usize, Span)>) {
    let (mut sql, mut places) = (String::new(), Vec::new());
    for slice in part.slices() {
        let (text, within) = match slice.word {
            Some(word) => (word.to_owned(), Vec::new()),
            None => slice_text(sources, page, slice.span, given),
        };
        if !sql.is_empty() && !text.is_empty() && slice.word != Some(",") {
            sql.push(' ');
        }
        places.extend(within.into_iter().map(|(start, span)| (sql.len() + start, span)));
        sql.push_str(&text);
    }
    (sql, places)
}

/// What is written of one slice of it.
fn slice_text(
    sources: &Sources,
    page: &PageOf<'_>,
    span: Span,
    given: (&[TextParam], &[Span]),
) -> (String, Vec<(usize, Span)>) {
    let text = sources.text(span);
    let base = span.start as usize;
    let mut pieces = pieces(page, span, given).into_iter().peekable();
    let (mut sql, mut places) = (String::with_capacity(text.len()), Vec::new());
    let mut written = 0;
    for token in lexer::tokens(text, page.tree.dialect) {
        let place = Span::new(span.file, base + token.start..base + token.end);
        let word = &text[token.start..token.end];
        if (token.is_comment() && !lexer::is_kept(word)) || token.start < written || page.raw.is_left_out(place) {
            continue;
        }
        while let Some(alias) = pieces.next_if(|piece| piece.is_between() && piece.end <= token.start) {
            sql.push(' ');
            sql.push_str(&alias.by);
        }
        if token.start > written && !sql.is_empty() {
            sql.push(' ');
        }
        match pieces.next_if(|piece| !piece.is_between() && piece.start <= token.start) {
            // A placeholder may be several tokens: a colon and a word, or a whole `sqlc.arg(name)`.
            Some(piece) => {
                // `LIMIT:n` is two tokens, `LIMIT$1` is one.
                if sql.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                    sql.push(' ');
                }
                places.push((sql.len(), Span::new(span.file, base + piece.start..base + piece.end)));
                sql.push_str(&piece.by);
                written = piece.end;
            }
            None => {
                places.push((sql.len(), place));
                sql.push_str(word);
                written = token.end;
            }
        }
    }
    for alias in pieces.filter(Piece::is_between) {
        sql.push(' ');
        sql.push_str(&alias.by);
    }
    (sql, places)
}

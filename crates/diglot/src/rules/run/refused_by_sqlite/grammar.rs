//! SQLite's own grammar, which its parser is generated from.

use sqlite3_parser::lexer::sql::{Error, Parser, ParserError};
use sqlite3_parser::{Bump, FallibleIterator as _};

use crate::rules::look::Word;
use crate::source::Span;
use crate::tree::{ParamUse, Replacement, Rewrite};

/// The word at which SQLite stops reading a statement; none where it reads all of it.
pub(super) fn stops_at(words: &[&Word<'_>], params: &[ParamUse], rewrites: &[Rewrite]) -> Option<Span> {
    let (text, starts) = written(words, params, rewrites);
    let bump = Bump::new();
    let mut parser = Parser::new(&bump, text.as_bytes());
    let offset = match parser.next() {
        Ok(_) => return None,
        Err(Error::ParserError(ParserError::UnexpectedEof, _)) => text.len(),
        Err(error) => offset(&text, &error).unwrap_or_default(),
    };
    let at = starts.partition_point(|start| *start <= offset).saturating_sub(1);
    words.get(at).map(|word| word.span)
}

/// The text that SQLite is to read, and where each word of it begins. What stands for a parameter or for columns in
/// sqlc's way is written in SQLite's way.
fn written(words: &[&Word<'_>], params: &[ParamUse], rewrites: &[Rewrite]) -> (String, Vec<usize>) {
    let (mut text, mut starts) = (String::new(), Vec::with_capacity(words.len()));
    let mut before: Option<Span> = None;
    for word in words {
        // Words of several tokens touch; what nobody wrote has an empty place.
        let touches =
            |before: Span| before.file == word.span.file && before.end == word.span.start && before.start < before.end;
        if before.is_some_and(|before| !touches(before)) {
            text.push(' ');
        }
        before = Some(word.span);
        starts.push(text.len());
        let is_in = |span: &Span| span.contains(word.span);
        let columns = rewrites.iter().find(|it| matches!(it.by, Replacement::Columns(_)) && is_in(&it.span));
        let param = params.iter().find(|param| is_in(&param.span));
        match (columns, param) {
            (Some(columns), _) if columns.span.start == word.span.start => text.push('*'),
            (None, Some(param)) if param.span.start == word.span.start => {
                // A name of its own, which nothing behind it can be taken for a part of.
                text.push_str("?1 ");
            }
            (Some(_), _) | (_, Some(_)) => {}
            (None, None) => text.push_str(word.text),
        }
    }
    (text, starts)
}

/// How many bytes stand before a line.
fn before(text: &str, line: usize) -> usize {
    text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum()
}

fn offset(text: &str, error: &Error) -> Option<usize> {
    match error {
        Error::UnrecognizedToken(at)
        | Error::UnterminatedLiteral(at)
        | Error::UnterminatedBracket(at)
        | Error::UnterminatedBlockComment(at)
        | Error::BadVariableName(at)
        | Error::BadNumber(at)
        | Error::ExpectedEqualsSign(at)
        | Error::MalformedBlobLiteral(at)
        | Error::MalformedHexInteger(at)
        | Error::ParserError(_, at) => at.as_ref().map(|at| before(text, at.line) + at.column.saturating_sub(1)),
        _ => None,
    }
}

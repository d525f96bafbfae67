//! Reads an edited token list with sqlparser, one dialect each, and turns its errors into findings.

use sqlparser::ast;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Token};

use super::text::{Text, number_at};
use crate::depth::{CALLS, Deep, too_deep};
use crate::dialect::Dialect;
use crate::grammar::grammar;
use crate::source::Span;

/// What could not be read, and where.
pub(super) struct Unreadable {
    /// What is wrong, without the place.
    pub message: String,
    /// The token at fault; the last one when the text ends too early.
    pub span: Span,
    /// Whether the text ends too early.
    pub ends: bool,
}

/// Reads one statement.
pub(super) fn statement(text: &mut Text, dialect: Dialect) -> Result<ast::Statement, Unreadable> {
    read(text, dialect, |parser| parser.parse_statement())
}

/// Reads one expression.
pub(super) fn expression(text: &mut Text, dialect: Dialect) -> Result<ast::Expr, Unreadable> {
    read(text, dialect, |parser| parser.parse_expr())
}

/// Reads what has to be all of a text.
fn read<T>(
    text: &mut Text,
    dialect: Dialect,
    parse: impl FnOnce(&mut Parser<'_>) -> Result<T, ParserError>,
) -> Result<T, Unreadable> {
    if let Some((at, deep)) = too_deep(text.tokens.iter().map(|tok| &tok.token)) {
        return Err(Unreadable { message: deep.message(), span: place(Some(at), text), ends: false });
    }
    let parser = Parser::new(grammar(dialect)).with_recursion_limit(CALLS);
    let mut parser = parser.with_tokens_with_locations(text.lend());
    let parsed = parse(&mut parser);
    let next = parser.peek_token_ref();
    let (number, is_end) = (number_at(next.span.start), next.token == Token::EOF);
    text.take_back(parser.into_tokens());
    match parsed {
        Ok(_) if !is_end => {
            let message = "expected the end of the statement".to_owned();
            Err(Unreadable { message, span: place(number, text), ends: false })
        }
        Ok(parsed) => Ok(parsed),
        Err(error) => Err(unreadable(&error, number, text)),
    }
}

/// `next` is the number of the token at which reading stopped.
fn unreadable(error: &ParserError, next: Option<usize>, text: &Text) -> Unreadable {
    let message = match error {
        ParserError::TokenizerError(message) | ParserError::ParserError(message) => message.as_str(),
        ParserError::RecursionLimitExceeded => {
            return Unreadable { message: Deep::Calls.message(), span: place(next, text), ends: false };
        }
    };
    let (message, number) = match message.rfind(" at Line: ") {
        Some(at) => (&message[..at], located(&message[at..])),
        None => (message, None),
    };
    // What was found is what the caret stands under.
    let message = message.rfind(", found:").map_or(message, |at| &message[..at]);
    if message.starts_with("Expected: [NOT] NULL |") {
        let message = "expected NULL, TRUE, FALSE or [NOT] DISTINCT FROM after IS".to_owned();
        return Unreadable { message, span: place(number, text), ends: number.is_none() };
    }
    let message =
        message.strip_prefix("Expected: ").map_or_else(|| message.to_owned(), |what| format!("expected {what}"));
    Unreadable { message, span: place(number, text), ends: number.is_none() }
}

/// The token number in ` at Line: 1, Column: N`.
fn located(place: &str) -> Option<usize> {
    let mut numbers = place.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<u64>().ok());
    let (line, column) = (numbers.next()?, numbers.next()?);
    number_at(Location::new(line, column))
}

/// The bytes of that token, or of the last one.
fn place(number: Option<usize>, text: &Text) -> Span {
    match number.and_then(|n| text.tokens.get(n)) {
        Some(tok) => tok.span,
        None => text.tokens.last().map_or(text.span, |tok| tok.span),
    }
}

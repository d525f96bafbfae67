//! The condition by which a page begins behind a row, put into the WHERE of its statement.
//!
//! It is made of words, which stand where the line `-- page: name` does: sqlparser reads them with the statement, and the
//! driver gets them in the same place.

use sqlparser::dialect::Dialect as SqlDialect;
use sqlparser::tokenizer::Token;

use super::text::{BadToken, Tok, is_word, tokens as tokens_of};
use crate::page::{Behind, BehindWord};
use crate::source::Span;
use crate::tree::{Replacement, Rewrite};

/// Puts the condition before the ORDER BY of a statement; gives what the driver gets in addition.
pub(super) fn insert(
    tokens: &mut Vec<Tok>,
    behind: &Behind,
    grammar: &dyn SqlDialect,
) -> Result<Vec<Rewrite>, BadToken> {
    let own = level(tokens);
    let at = |word: &str| own.iter().rposition(|at| is_word(Some(&tokens[*at].token), word)).map(|place| own[place]);
    let Some(order) = at("ORDER") else { return Ok(Vec::new()) };
    let filter = at("WHERE").filter(|at| *at < order);
    let has_or = filter
        .is_some_and(|from| own.iter().any(|at| (from..order).contains(at) && is_word(Some(&tokens[*at].token), "OR")));
    let sql = |text: &str| BehindWord::Sql(text.to_owned());
    let mut words = match (filter, has_or) {
        (None, _) => vec![sql("WHERE")],
        (Some(_), false) => vec![sql("AND (")],
        (Some(_), true) => vec![sql(") AND (")],
    };
    words.extend(behind.words.iter().cloned());
    words.extend(filter.map(|_| sql(")")));
    let mut rewrites = Vec::new();
    let mut put = |tokens: &mut Vec<Tok>, at: usize, place: u32, words: Vec<BehindWord>| {
        let span = Span { start: place, end: place, ..tokens[at].span };
        let made = made(&words, behind.mark, grammar)?;
        tokens.splice(at..at, made);
        rewrites.push(Rewrite { span, by: Replacement::Behind(words) });
        Ok(())
    };
    let place = tokens[order].span.start;
    put(tokens, order, place, words)?;
    if let Some(at) = filter.filter(|_| has_or) {
        let place = tokens[at].span.end;
        put(tokens, at + 1, place, vec![sql("(")])?;
    }
    Ok(rewrites)
}

/// The tokens that stand in no brackets.
fn level(tokens: &[Tok]) -> Vec<usize> {
    let mut depth = 0_usize;
    let mut own = Vec::new();
    for (at, tok) in tokens.iter().enumerate() {
        match tok.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ if depth == 0 => own.push(at),
            _ => {}
        }
    }
    own
}

/// The tokens of the words, all in one place.
fn made(words: &[BehindWord], mark: Span, grammar: &dyn SqlDialect) -> Result<Vec<Tok>, BadToken> {
    let mut made = Vec::new();
    for word in words {
        match word {
            BehindWord::Sql(text) => made.extend(tokens_of(grammar, text, mark.file, mark.start as usize)?),
            BehindWord::Value { name, .. } => {
                made.push(Tok { token: Token::Placeholder(format!(":{name}")), span: mark });
            }
        }
    }
    made.iter_mut().for_each(|tok| tok.span = mark);
    Ok(made)
}

//! The tokens of one SQL statement and the way from them back to the bytes of the file.
//!
//! sqlparser's own spans are lines and columns, and many nodes of its tree have none. Here the text is
//! tokenised once; every token gets its *number* as its location, so that a span of the tree says which
//! tokens it covers, an error says at which token it happened, and a node without a span of its own is
//! completed by looking at the tokens around its children.
//!
//! What sqlparser cannot read is taken out of the list before it sees it ([`super::edit`]).

use sqlparser::ast::Spanned;
use sqlparser::dialect::Dialect as SqlDialect;
use sqlparser::tokenizer::{Location, Span as TokenSpan, Token, TokenWithSpan, Tokenizer};

use crate::page::{Bound, RawPart, RawStatement, Slice};
use crate::source::{FileId, Sources, Span};

/// A token that means something: no white space, no comment.
#[derive(Debug, Clone)]
pub(super) struct Tok {
    /// What it is.
    pub token: Token,
    /// Its bytes in the file.
    pub span: Span,
}

/// A text that cannot be cut into tokens.
pub(super) struct BadToken {
    /// What is wrong.
    pub message: String,
    /// Where.
    pub span: Span,
}

/// The tokens of a statement, after editing.
#[derive(Debug)]
pub(super) struct Text {
    /// The whole statement.
    pub span: Span,
    /// Its tokens.
    pub tokens: Vec<Tok>,
    /// For every opening bracket its closing one and the other way round.
    partner: Vec<Option<usize>>,
    /// Where tokens begin that do not stand behind those before them: what a prelude or a shared part gave.
    runs: Vec<usize>,
}

impl Text {
    /// Wraps an edited token list.
    pub(super) fn new(span: Span, tokens: Vec<Tok>) -> Self {
        let partner = partners(&tokens);
        let breaks = |at: &usize| {
            at.checked_sub(1).is_none_or(|before| {
                let (before, here) = (tokens[before].span, tokens[*at].span);
                before.file != here.file || here.start < before.start
            })
        };
        let runs = (0..tokens.len()).filter(breaks).collect();
        Self { span, tokens, partner, runs }
    }

    /// Lends the tokens as sqlparser reads them, located by their numbers. Their places stay here.
    pub(super) fn lend(&mut self) -> Vec<TokenWithSpan> {
        let lent = self.tokens.iter_mut().enumerate();
        lent.map(|(i, tok)| numbered(i, std::mem::replace(&mut tok.token, Token::EOF))).collect()
    }

    /// Takes the tokens back.
    pub(super) fn take_back(&mut self, lent: Vec<TokenWithSpan>) {
        self.tokens.iter_mut().zip(lent).for_each(|(tok, lent)| tok.token = lent.token);
    }

    /// The first and the last token that a node of the tree covers, as far as it knows.
    pub(super) fn tokens_of(&self, node: &impl Spanned) -> Option<(usize, usize)> {
        self.tokens_in(node.span())
    }

    /// The same for a span of the tree.
    pub(super) fn tokens_in(&self, span: TokenSpan) -> Option<(usize, usize)> {
        let first = number_at(span.start)?;
        let last = number_at(span.end)?;
        (first <= last && last < self.tokens.len()).then_some((first, last))
    }

    /// The bytes from the first to the last token, both included.
    pub(super) fn bytes(&self, first: usize, last: usize) -> Span {
        match (self.tokens.get(first), self.tokens.get(last)) {
            (Some(a), Some(b)) => a.span.to(b.span),
            _ => self.span,
        }
    }

    /// The token at which a span begins.
    pub(super) fn first_of(&self, span: Span) -> usize {
        let in_run =
            |from: usize, to: usize| from + self.tokens[from..to].partition_point(|tok| tok.span.end <= span.start);
        self.searched(Span { end: span.start, ..span }, in_run)
    }

    /// The token with which a span ends.
    pub(super) fn last_of(&self, span: Span) -> usize {
        let in_run = |from: usize, to: usize| {
            (from + self.tokens[from..to].partition_point(|tok| tok.span.start < span.end)).saturating_sub(1)
        };
        self.searched(Span { start: span.end, ..span }, in_run)
    }

    /// Searches the run of tokens in which a place is: the first whose token there has it, else the last run.
    fn searched(&self, place: Span, in_run: impl Fn(usize, usize) -> usize) -> usize {
        let ends = self.runs.iter().skip(1).copied().chain([self.tokens.len()]);
        let mut last = 0;
        for (from, to) in self.runs.iter().copied().zip(ends) {
            last = in_run(from, to);
            if self.tokens.get(last).is_some_and(|tok| tok.span.contains(place)) {
                return last;
            }
        }
        last
    }

    /// The token's kind.
    pub(super) fn token(&self, index: usize) -> Option<&Token> {
        self.tokens.get(index).map(|tok| &tok.token)
    }

    /// Whether the token is that keyword (in capitals), not quoted.
    pub(super) fn is_word(&self, index: usize, word: &str) -> bool {
        is_word(self.token(index), word)
    }

    /// Whether the tokens from `index` on are these keywords.
    pub(super) fn are_words(&self, index: usize, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(i, word)| self.is_word(index + i, word))
    }

    /// The partner of a bracket.
    pub(super) fn partner(&self, index: usize) -> Option<usize> {
        self.partner.get(index).copied().flatten()
    }

    /// Widens a span over the brackets that enclose it directly, and over those outside them.
    pub(super) fn widen_over_brackets(&self, span: Span) -> Span {
        let (first, last) = (self.first_of(span), self.last_of(span));
        match first.checked_sub(1) {
            Some(open) if self.partner(open) == Some(last + 1) => self.bytes(open, last + 1),
            _ => span,
        }
    }

    /// The last token of a clause that begins at `start`: where its bracket closes, or before one of
    /// the `stops` (each a run of keywords) on the same level.
    pub(super) fn clause_end(&self, start: usize, stops: &[&[&str]]) -> usize {
        let mut i = start;
        while let Some(token) = self.token(i) {
            match token {
                Token::LParen | Token::LBracket => i = self.partner(i).unwrap_or(i),
                Token::RParen | Token::RBracket | Token::SemiColon => break,
                _ if i > start && stops.iter().any(|words| self.are_words(i, words)) => break,
                _ => {}
            }
            i += 1;
        }
        i.saturating_sub(1).max(start)
    }
}

/// Whether a token is that keyword, not quoted.
pub(super) fn is_word(token: Option<&Token>, word: &str) -> bool {
    matches!(token, Some(Token::Word(w)) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(word))
}

/// A token whose location is its number.
fn numbered(index: usize, token: Token) -> TokenWithSpan {
    let column = 2 * index as u64 + 1;
    let span = TokenSpan::new(Location::new(1, column), Location::new(1, column + 1));
    TokenWithSpan::new(token, span)
}

/// The number behind a location; none for sqlparser's empty location.
pub(super) fn number_at(location: Location) -> Option<usize> {
    (location.line == 1).then(|| location.column.checked_sub(1)).flatten().map(|c| c as usize / 2)
}

/// Cuts a part of a unit into tokens, with the CTEs that are given to it. A word that nobody wrote stands where the text
/// next to it does.
pub(super) fn of_part(
    dialect: &dyn SqlDialect,
    sources: &Sources,
    part: &RawPart,
    raw: &RawStatement,
) -> Result<Vec<Tok>, BadToken> {
    let mut all = Vec::new();
    for Slice { span, word } in part.slices() {
        let text = word.unwrap_or_else(|| sources.text(span));
        let mut own = tokens(dialect, text, span.file, span.start as usize)?;
        if word.is_some() {
            own.iter_mut().for_each(|tok| tok.span = span);
            all.append(&mut own);
            continue;
        }
        if raw.bound.is_empty() {
            all.append(&mut own);
            continue;
        }
        // An argument has the place that takes it, so that what is around it stays in one piece.
        let mut last = None;
        for tok in own {
            let Some(Bound { place, argument }) = raw.argument_at(tok.span) else {
                all.push(tok);
                continue;
            };
            if last.replace(*place) != Some(*place) {
                let given = tokens(dialect, &argument.text, place.file, place.start as usize)?;
                all.extend(within(*place, given));
            }
        }
    }
    Ok(all)
}

/// Gives the tokens of an argument the place that takes it, one behind the other.
fn within(place: Span, given: Vec<Tok>) -> impl Iterator<Item = Tok> {
    let last = given.len().saturating_sub(1);
    let behind = move |count: usize| place.end.min(place.start + count as u32);
    given.into_iter().enumerate().map(move |(at, tok)| {
        let end = if at == last { place.end } else { behind(at + 1) };
        Tok { span: Span { start: behind(at), end, ..place }, ..tok }
    })
}

/// Cuts a statement into tokens.
pub(super) fn tokens(dialect: &dyn SqlDialect, text: &str, file: FileId, base: usize) -> Result<Vec<Tok>, BadToken> {
    let mut cursor = Cursor { text, offset: 0, line: 1, column: 1, is_ascii: text.is_ascii() };
    let place = |from: usize, to: usize| Span::new(file, base + from..base + to.max(from));
    // White space counts too, so a token is two bytes or so.
    let mut found = Vec::with_capacity(text.len() / 2 + 8);
    let done = Tokenizer::new(dialect, text).tokenize_with_location_into_buf(&mut found);
    done.map_err(|error| {
        let at = cursor.advance_to(error.location);
        BadToken { message: error.message, span: place(at, text.len()) }
    })?;
    let mut tokens = Vec::with_capacity(found.len() / 2 + 1);
    for found in found {
        if !matches!(found.token, Token::Whitespace(_) | Token::EOF) {
            let start = cursor.advance_to(found.span.start);
            let end = cursor.advance_to(found.span.end);
            tokens.push(Tok { token: found.token, span: place(start, end) });
        }
    }
    Ok(tokens)
}

/// Walks a text once, from location to later location.
struct Cursor<'t> {
    text: &'t str,
    offset: usize,
    line: u64,
    column: u64,
    /// Whether every column is one byte.
    is_ascii: bool,
}

impl Cursor<'_> {
    /// The byte at a location that does not lie before the last one.
    fn advance_to(&mut self, location: Location) -> usize {
        if self.is_ascii && self.line == location.line && location.column >= self.column {
            let columns = location.column - self.column;
            self.offset = (self.offset + columns as usize).min(self.text.len());
            self.column = location.column;
            return self.offset;
        }
        while (self.line, self.column) < (location.line, location.column) {
            let Some(c) = self.text.get(self.offset..).and_then(|rest| rest.chars().next()) else { break };
            self.offset += c.len_utf8();
            (self.line, self.column) = if c == '\n' { (self.line + 1, 1) } else { (self.line, self.column + 1) };
        }
        self.offset
    }
}

fn partners(tokens: &[Tok]) -> Vec<Option<usize>> {
    let mut partner = vec![None; tokens.len()];
    let mut open = Vec::new();
    for (i, tok) in tokens.iter().enumerate() {
        match tok.token {
            Token::LParen | Token::LBracket => open.push(i),
            Token::RParen | Token::RBracket => {
                if let Some(start) = open.pop() {
                    partner[start] = Some(i);
                    partner[i] = Some(start);
                }
            }
            _ => {}
        }
    }
    partner
}

//! Cuts a migration into its statements and parses the ones that shape tables.

use sqlparser::ast::Statement;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{self, Location, Tokenizer};

use super::mask;
use super::parsed::parsed;
use crate::depth::{self, Deep};
use crate::dialect::Dialect;
use crate::grammar::grammar;
use crate::source::{FileId, SourceFile, Span};
use crate::split::lexer::{self, Kind, Token};

/// One statement of a migration.
pub(super) struct Piece {
    /// Its bytes, without the semicolon.
    pub(super) span: Span,
    /// Its first bare words, in lower case.
    pub(super) words: Vec<String>,
    /// A literal or comment in it that has no end.
    pub(super) open: Option<Span>,
    /// The options behind a table of SQLite. The parser does not know both at once, so they are not part of the
    /// text that it reads.
    pub(super) options: Option<Options>,
    /// Whether STRICT is among the options.
    pub(super) strict: bool,
    /// Its text as it was written.
    pub(super) raw: String,
    text: SourceFile,
}

/// The table options of SQLite. Both make the columns of the primary key not null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Options {
    /// STRICT alone.
    Strict,
    /// WITHOUT ROWID, with or without STRICT.
    WithoutRowId,
}

/// What is to be done with a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It may shape a table.
    Read,
    /// It does not concern tables.
    Pass,
    /// Its first words are not known.
    Unknown,
}

/// How many leading words decide what a statement is.
const LEADING: usize = 8;

/// First words of statements that do not concern tables.
const PASS: &str = "abort analyze attach begin call checkpoint cluster comment commit copy deallocate delete detach discard do \
    end execute explain grant insert listen lock merge notify pragma refresh reindex release replace reset \
    revoke rollback savepoint security select set show truncate update vacuum values with";

/// Words between CREATE and the kind of thing that is created.
const BEFORE_KIND: &str = "constraint global local materialized or recursive replace temp temporary unlogged";

/// Kinds of things that are no tables.
const OTHER_KINDS: &str = "access aggregate cast collation conversion database default event extension foreign function group index \
    language large operator owned policy procedure publication role routine rule schema sequence server \
    statistics subscription system tablespace text transform trigger user";

/// Whether a list of words holds a word.
fn listed(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|listed| listed == word)
}

/// The statements of a migration. The body of a trigger or of a SQL function stays in one piece.
pub(super) fn pieces(text: &str, file: FileId, dialect: Dialect) -> Vec<Piece> {
    let tokens = lexer::tokens(text, dialect);
    let mut pieces = Vec::new();
    let mut first = 0;
    let mut block = Block::default();
    for (i, token) in tokens.iter().enumerate() {
        if token.kind == Kind::Word {
            block.word(&text[token.start..token.end]);
        }
        if token.kind == Kind::Semicolon && block.depth == 0 {
            pieces.extend(piece(text, file, &tokens[first..i], dialect));
            first = i + 1;
            block = Block::default();
        }
    }
    pieces.extend(piece(text, file, &tokens[first..], dialect));
    pieces
}

/// The statements of a migration that change rows.
pub(crate) fn of_rows(text: &str, file: FileId, dialect: Dialect) -> Vec<Span> {
    let changes =
        |piece: &Piece| piece.words.first().is_some_and(|word| listed("delete insert replace update with", word));
    pieces(text, file, dialect).into_iter().filter(changes).map(|piece| piece.span).collect()
}

/// Follows `BEGIN … END` inside CREATE TRIGGER, CREATE FUNCTION and CREATE PROCEDURE.
#[derive(Default)]
struct Block {
    leading: Vec<String>,
    depth: usize,
}

impl Block {
    fn word(&mut self, word: &str) {
        let word = word.to_ascii_lowercase();
        let has_body = self.leading.first().is_some_and(|first| first == "create")
            && self.leading.iter().any(|w| ["trigger", "function", "procedure"].contains(&w.as_str()));
        match word.as_str() {
            "begin" if has_body => self.depth += 1,
            "case" if self.depth > 0 => self.depth += 1,
            "end" => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        if self.leading.len() < LEADING {
            self.leading.push(word);
        }
    }
}

fn piece(text: &str, file: FileId, tokens: &[Token], dialect: Dialect) -> Option<Piece> {
    let mut sql = tokens.iter().filter(|token| !token.is_comment());
    let first = sql.next()?;
    let last = sql.next_back().unwrap_or(first);
    let words = tokens.iter().filter(|token| token.kind == Kind::Word).take(LEADING);
    let open = tokens.iter().find(|token| !token.closed).map(|token| {
        let line = text[token.start..token.end].lines().next().unwrap_or_default();
        Span::new(file, token.start..token.start + line.len())
    });
    let masked = mask::masked(text, tokens, dialect);
    let mut sql = masked.as_str();
    let (mut options, mut strict) = (None, false);
    if let Some((body, tail)) = sql.rsplit_once(')') {
        options = Options::of(tail);
        if options.is_some() {
            strict = tail.split(',').any(|option| option.trim().eq_ignore_ascii_case("strict"));
            sql = &sql[..body.len() + 1];
        }
    }
    Some(Piece {
        span: Span::new(file, first.start..last.end),
        words: words.map(|token| text[token.start..token.end].to_ascii_lowercase()).collect(),
        open,
        options,
        strict,
        raw: text[first.start..last.end].to_owned(),
        text: SourceFile::new("", sql),
    })
}

impl Options {
    /// Reads a text that is a list of table options and nothing else.
    fn of(tail: &str) -> Option<Self> {
        let mut options = Options::Strict;
        for option in tail.split(',') {
            let words: Vec<String> = option.split_whitespace().map(str::to_ascii_lowercase).collect();
            match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                ["strict"] => {}
                ["without", "rowid"] => options = Options::WithoutRowId,
                _ => return None,
            }
        }
        Some(options)
    }
}

impl Piece {
    /// Tells from the first words what to do with it.
    pub(super) fn purpose(&self) -> Use {
        let mut words = self.words.iter().map(String::as_str);
        let Some(first) = words.next() else {
            return Use::Unknown;
        };
        let kind = words.find(|word| !listed(BEFORE_KIND, word)).unwrap_or_default();
        match (first, kind) {
            ("create", "table" | "virtual" | "view" | "unique" | "index" | "type" | "domain") => Use::Read,
            ("alter", "table") | ("drop", "table" | "view" | "index") => Use::Read,
            ("alter", "view" | "type" | "domain") | ("drop", "type" | "domain") => Use::Pass,
            ("create" | "alter" | "drop", kind) if listed(OTHER_KINDS, kind) => Use::Pass,
            (first, _) if listed(PASS, first) => Use::Pass,
            _ => Use::Unknown,
        }
    }

    /// Its text, as it is read.
    pub(super) fn sql(&self) -> &str {
        &self.text.text
    }

    /// Whether it creates that kind of thing.
    pub(super) fn creates(&self, kind: &str) -> bool {
        let mut words = self.words.iter().map(String::as_str);
        words.next() == Some("create") && words.find(|word| !listed(BEFORE_KIND, word)) == Some(kind)
    }

    /// Whether it is a DO block.
    pub(super) fn is_block(&self) -> bool {
        self.words.first().is_some_and(|word| word == "do")
    }

    /// Whether it makes an index that no statement can see.
    pub(super) fn is_plain_index(&self) -> bool {
        let mut words = self.words.iter().map(String::as_str);
        words.next() == Some("create") && words.next() == Some("index")
    }

    /// Whether it is an ALTER TABLE that changes nothing that a statement can see, such as storage parameters or
    /// partitions. The parser does not know all of these.
    pub(super) fn leaves_columns_alone(&self) -> bool {
        const ACTIONS: [&str; 13] = [
            "attach", "detach", "owner", "enable", "disable", "set", "reset", "validate", "cluster", "replica",
            "force", "no", "inherit",
        ];
        let sets = |what: &str| self.words.windows(2).any(|pair| pair[0] == "set" && pair[1] == what);
        let is_identity = self.words.windows(2).any(|pair| pair[0] == "drop" && pair[1] == "identity");
        if is_identity || ["statistics", "storage", "compression"].into_iter().any(sets) {
            return true;
        }
        let mut words = self.words.iter().skip(2).filter(|w| !["if", "exists", "only"].contains(&w.as_str()));
        let qualified = self.text.text.split_whitespace().any(|word| word.contains('.'));
        words.next();
        self.words.first().is_some_and(|word| word == "alter")
            && words.take(if qualified { 2 } else { 1 }).any(|word| ACTIONS.contains(&word.as_str()))
    }

    /// Parses it; an error comes with its exact place.
    pub(super) fn parse(&self, dialect: Dialect) -> Result<Statement, (String, Span)> {
        parsed(dialect, &self.text.text, || self.parse_anew(dialect))
    }

    fn parse_anew(&self, dialect: Dialect) -> Result<Statement, (String, Span)> {
        let grammar = grammar(dialect);
        let tokens = Tokenizer::new(grammar, &self.text.text).tokenize_with_location();
        let tokens = tokens.map_err(|error| self.located(&error.into(), Location::empty()))?;
        if let Some((at, deep)) = depth::too_deep(tokens.iter().map(|token| &token.token)) {
            return Err((deep.message(), self.word_at(self.offset(tokens[at].span.start))));
        }
        let mut parser = Parser::new(grammar).with_recursion_limit(depth::CALLS).with_tokens_with_locations(tokens);
        let parsed = parser.parse_statement().and_then(|statement| match parser.peek_token_ref() {
            next if next.token == tokenizer::Token::EOF => Ok(statement),
            next => parser.expected_ref("the end of the statement", next),
        });
        parsed.map_err(|error| self.located(&error, parser.peek_token_ref().span.start))
    }

    fn offset(&self, at: Location) -> usize {
        self.text.offset(at.line as usize, at.column as usize)
    }

    /// What an error says, and where it is; the parser stood `at` that place when it met it.
    fn located(&self, error: &ParserError, at: Location) -> (String, Span) {
        let message = match error {
            ParserError::TokenizerError(message) | ParserError::ParserError(message) => message.as_str(),
            ParserError::RecursionLimitExceeded => {
                return (Deep::Calls.message(), self.word_at(self.offset(at)));
            }
        };
        let (message, place) = match message.rfind(" at Line: ") {
            Some(at) => (&message[..at], Some(&message[at..])),
            None => (message, None),
        };
        let mut numbers = place.into_iter().flat_map(|p| p.split(|c: char| !c.is_ascii_digit()));
        let mut number = || numbers.by_ref().find_map(|n| n.parse::<usize>().ok());
        let start = match (number(), number()) {
            (Some(line), Some(column)) if line > 0 => self.text.offset(line, column),
            _ => self.text.text.len(),
        };
        let message = message.replace("found: EOF", "found: the end");
        let message =
            message.strip_prefix("Expected: ").map_or_else(|| message.clone(), |what| format!("expected {what}"));
        (message, self.word_at(start))
    }

    /// The word or the character at an offset of this statement; its last character behind the end.
    fn word_at(&self, offset: usize) -> Span {
        let text = &self.text.text;
        let last = text.char_indices().next_back().map_or(0, |(i, _)| i);
        let start = offset.min(last);
        let rest = text.get(start..).unwrap_or_default();
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let length = if word == 0 { rest.chars().next().map_or(0, char::len_utf8) } else { word };
        self.span_of(start..start + length)
    }

    fn span_of(&self, range: std::ops::Range<usize>) -> Span {
        let base = self.span.start as usize;
        Span::new(self.span.file, base + range.start..base + range.end)
    }

    /// The place of a node of its tree; the whole statement when the node does not know it.
    pub(super) fn place(&self, node: tokenizer::Span) -> Span {
        if node.start.line == 0 || node.end.line == 0 {
            return self.span;
        }
        let (start, end) = (self.offset(node.start), self.offset(node.end));
        if start < end { self.span_of(start..end) } else { self.span }
    }
}

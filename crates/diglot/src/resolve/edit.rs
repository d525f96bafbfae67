//! Edits a statement's token list before sqlparser reads it.
//!
//! Placeholders of every spelling become one token each, with exact bytes. sqlc's macros become what they stand for:
//! `sqlc.embed(t)` is `t.*`, and a list behind IN is written as each engine takes lists. Syntax that sqlparser 0.63
//! cannot read (row locks other than `FOR UPDATE` and `FOR SHARE`, `OF` with several tables, a conflict target with
//! expressions or a WHERE, `MATERIALIZED` and `INDEXED BY` on SQLite) is taken out and kept beside the list; lowering
//! puts it back into the tree. `ISNULL` becomes `IS NULL`, `IN t` becomes `IN (SELECT * FROM t)`, and words that are
//! only names are quoted. `OVERRIDING SYSTEM
//! VALUE` takes the values that are written, as an INSERT does; `ONLY` means something for a table with partitions alone.

use sqlparser::tokenizer::Token;

use super::text::{Tok, is_word};
use crate::dialect::Dialect;
use crate::source::Span;
use crate::tree::{Lock, ParamUse, Replacement, Rewrite, TEXTS_OF_DOCUMENTS};

/// What a [`Token::Placeholder`] of the edited list stands for; its text is the index in [`Edited::leaves`].
#[derive(Debug, Clone)]
pub(super) enum Leaf {
    /// The parameter at that place in [`Edited::params`].
    Param(usize),
    /// `ARRAY[]`, for which sqlparser keeps no place.
    EmptyArray,
}

/// The edited list and what was taken out of it.
#[derive(Debug, Default)]
pub(super) struct Edited {
    /// What sqlparser reads.
    pub tokens: Vec<Tok>,
    /// Behind the placeholders.
    pub leaves: Vec<Leaf>,
    /// Parameters in the order of the text. Names that are still to be inferred begin with `?`.
    pub params: Vec<ParamUse>,
    /// Row locks.
    pub locks: Vec<Lock>,
    /// The conflict targets that have expressions, without their brackets.
    pub conflict_keys: Vec<Vec<Tok>>,
    /// The conditions of conflict targets.
    pub conflict_filters: Vec<Vec<Tok>>,
    /// CTE bodies (by their opening bracket) with `[NOT] MATERIALIZED`.
    pub materialized: Vec<(Span, bool)>,
    /// Lists behind IN.
    pub rewrites: Vec<Rewrite>,
    /// Where BETWEEN SYMMETRIC has its word.
    pub symmetric: Vec<Span>,
    /// Where ONLY stood before a table.
    pub only: Vec<Span>,
    /// The places of `sqlc.embed(t)`, with the byte where `t` begins.
    pub embeds: Vec<(Span, u32)>,
}

/// Edits a list.
pub(super) fn edit(mut tokens: Vec<Tok>, dialect: Dialect) -> Edited {
    let mut edited = Edited { tokens: Vec::with_capacity(tokens.len() + 8), ..Edited::default() };
    // Ordinary tokens are moved at the end: until then those behind them may look at them.
    let mut ordinary = Vec::with_capacity(tokens.len());
    let mut anonymous = 0;
    let mut i = 0;
    while i < tokens.len() {
        i += match taken(&tokens, i, dialect, &mut anonymous, &mut edited) {
            0 => {
                ordinary.push((edited.tokens.len(), i));
                edited.tokens.push(Tok { token: Token::EOF, span: tokens[i].span });
                1
            }
            used => used,
        };
    }
    for (to, from) in ordinary {
        edited.tokens[to].token = std::mem::replace(&mut tokens[from].token, Token::EOF);
    }
    edited
}

/// How many tokens from `i` on were dealt with; none for an ordinary token.
fn taken(tokens: &[Tok], i: usize, dialect: Dialect, anonymous: &mut usize, edited: &mut Edited) -> usize {
    if !matches!(
        tokens[i].token,
        Token::Word(_) | Token::Placeholder(_) | Token::Question | Token::Colon | Token::AtSign
    ) {
        return 0;
    }
    if words(tokens, i, &["ON", "CONFLICT"]) && follows_bare_select(tokens, i) {
        // The parser would take ON for the alias of the last column.
        edited.keyword("WHERE", tokens[i].span);
        edited.keyword("TRUE", tokens[i].span);
        return 0;
    }
    if dialect == Dialect::Pg && words(tokens, i, &["OVERRIDING"]) && words(tokens, i + 1, &["SYSTEM", "VALUE"]) {
        return 3;
    }
    if dialect == Dialect::Pg
        && i.checked_sub(1).is_some_and(|before| words(tokens, before, &["BETWEEN"]))
        && (words(tokens, i, &["SYMMETRIC"]) || words(tokens, i, &["ASYMMETRIC"]))
    {
        // The parser does not know them. ASYMMETRIC is what BETWEEN is anyway.
        edited.symmetric.extend(words(tokens, i, &["SYMMETRIC"]).then_some(tokens[i].span));
        return 1;
    }
    if dialect == Dialect::Pg
        && words(tokens, i, &["ONLY"])
        && i.checked_sub(1).is_some_and(|before| ["FROM", "JOIN", "UPDATE"].iter().any(|w| words(tokens, before, &[w])))
        && matches!(token(tokens, i + 1), Some(Token::Word(_)))
    {
        edited.only.push(tokens[i].span);
        return 1;
    }
    if dialect == Dialect::Sqlite
        && words(tokens, i, &["IN"])
        && let Some(Token::Word(_)) = token(tokens, i + 1)
        && !words(tokens, i + 1, &["SQLC"])
        && !matches!(token(tokens, i + 2), Some(Token::LParen | Token::Period))
    {
        let span = tokens[i + 1].span;
        edited.tokens.push(tokens[i].clone());
        edited.tokens.push(Tok { token: Token::LParen, span });
        edited.keyword("SELECT", span);
        edited.tokens.push(Tok { token: Token::Mul, span });
        edited.keyword("FROM", span);
        edited.tokens.push(tokens[i + 1].clone());
        edited.tokens.push(Tok { token: Token::RParen, span });
        return 2;
    }
    if let Some(used) = list(tokens, i, dialect, edited) {
        return used;
    }
    if let Some(used) = embed(tokens, i, edited) {
        return used;
    }
    if let Some((used, name, kind)) = placeholder(tokens, i, anonymous) {
        let span = tokens[i].span.to(tokens[i + used - 1].span);
        let (nullable, list) = (kind == "narg", kind == "slice");
        if let Some(made_by) = document(tokens, i, used, dialect) {
            edited.rewrites.push(Rewrite { span, by: Replacement::Document { made_by } });
        }
        edited.params.push(ParamUse { name, number: None, met: None, span, nullable, list });
        let leaf = Leaf::Param(edited.params.len() - 1);
        edited.leaf(leaf, span);
        return used;
    }
    if words(tokens, i, &["ARRAY"])
        && matches!(token(tokens, i + 1), Some(Token::LBracket))
        && matches!(token(tokens, i + 2), Some(Token::RBracket))
    {
        edited.leaf(Leaf::EmptyArray, tokens[i].span.to(tokens[i + 2].span));
        return 3;
    }
    if words(tokens, i, &["ISNULL"]) && ends_operand(i.checked_sub(1).and_then(|before| token(tokens, before))) {
        edited.keyword("IS", tokens[i].span);
        edited.keyword("NULL", tokens[i].span);
        return 1;
    }
    if let Some((used, lock)) = lock(tokens, i) {
        edited.locks.push(lock);
        return used;
    }
    if let Some(used) = conflict_target(tokens, i, edited) {
        return used;
    }
    if let Some((used, materialized)) = materialized(tokens, i) {
        edited.tokens.push(tokens[i].clone());
        edited.materialized.push((tokens[i + used].span, materialized));
        return used;
    }
    if is_plain_name(tokens, i, dialect)
        && let Some(Token::Word(word)) = token(tokens, i)
    {
        let token = Token::make_word(&word.value.to_lowercase(), Some('"'));
        edited.tokens.push(Tok { token, span: tokens[i].span });
        return 1;
    }
    if dialect == Dialect::Sqlite {
        if words(tokens, i, &["INDEXED", "BY"]) {
            return 3.min(tokens.len() - i);
        }
        if words(tokens, i, &["NOT", "INDEXED"]) {
            return 2;
        }
    }
    0
}

impl Edited {
    fn leaf(&mut self, leaf: Leaf, span: Span) {
        let text = format!("?{}", self.leaves.len());
        self.leaves.push(leaf);
        self.tokens.push(Tok { token: Token::Placeholder(text), span });
    }

    fn keyword(&mut self, word: &str, span: Span) {
        self.tokens.push(Tok { token: Token::make_keyword(word), span });
    }
}

/// `[NOT] IN (sqlc.slice(list))`, as the dialect takes a list in one parameter.
fn list(tokens: &[Tok], i: usize, dialect: Dialect, edited: &mut Edited) -> Option<usize> {
    let negated = words(tokens, i, &["NOT", "IN"]);
    let open = i + 1 + usize::from(negated);
    if !(negated || words(tokens, i, &["IN"])) || !matches!(token(tokens, open), Some(Token::LParen)) {
        return None;
    }
    let (used, name, kind) = placeholder(tokens, open + 1, &mut 0)?;
    let close = open + 1 + used;
    if kind != "slice" || !matches!(token(tokens, close), Some(Token::RParen)) {
        return None;
    }
    let place = tokens[open + 1].span.to(tokens[close - 1].span);
    edited.params.push(ParamUse {
        name: name.clone(),
        number: None,
        met: None,
        span: place,
        nullable: false,
        list: true,
    });
    let leaf = Leaf::Param(edited.params.len() - 1);
    let put = |edited: &mut Edited, token: Token, span: Span| edited.tokens.push(Tok { token, span });
    match dialect {
        Dialect::Sqlite => {
            edited.tokens.extend_from_slice(&tokens[i..=open]);
            edited.keyword("SELECT", place);
            put(edited, Token::make_word("value", None), place);
            edited.keyword("FROM", place);
            put(edited, Token::make_word("json_each", None), place);
            put(edited, Token::LParen, place);
            edited.leaf(leaf, place);
            put(edited, Token::RParen, place);
        }
        Dialect::Pg => {
            put(edited, if negated { Token::Neq } else { Token::Eq }, tokens[i].span);
            edited.keyword(if negated { "ALL" } else { "ANY" }, tokens[open - 1].span);
            edited.tokens.push(tokens[open].clone());
            edited.leaf(leaf, place);
        }
    }
    edited.tokens.push(tokens[close].clone());
    let span = tokens[i].span.to(tokens[close].span);
    edited.rewrites.push(Rewrite { span, by: Replacement::List { param: name, negated } });
    Some(close + 1 - i)
}

/// What makes a document of a list where a placeholder is all that `jsonb_array_elements_text` is given.
fn document(tokens: &[Tok], i: usize, used: usize, dialect: Dialect) -> Option<&'static str> {
    let function = i.checked_sub(2).filter(|_| dialect == Dialect::Pg)?;
    let of_texts = TEXTS_OF_DOCUMENTS.iter().find(|name| is_word(token(tokens, function), name))?;
    let is_alone = token(tokens, i - 1) == Some(&Token::LParen) && token(tokens, i + used) == Some(&Token::RParen);
    is_alone.then_some(if of_texts.starts_with("jsonb") { "to_jsonb" } else { "to_json" })
}

/// `sqlc.embed(t)`, which is `t.*`.
fn embed(tokens: &[Tok], i: usize, edited: &mut Edited) -> Option<usize> {
    if !words(tokens, i, &["SQLC"]) || !words(tokens, i + 2, &["EMBED"]) {
        return None;
    }
    let (Token::Word(_), Token::LParen, Token::RParen) =
        (token(tokens, i + 4)?, token(tokens, i + 3)?, token(tokens, i + 5)?)
    else {
        return None;
    };
    let (owner, close) = (&tokens[i + 4], tokens[i + 5].span);
    edited.embeds.push((tokens[i].span.to(close), owner.span.start));
    edited.tokens.push(Tok { token: owner.token.clone(), span: tokens[i].span.to(owner.span) });
    edited.tokens.push(Tok { token: Token::Period, span: close });
    edited.tokens.push(Tok { token: Token::Mul, span: close });
    Some(6)
}

fn token(tokens: &[Tok], i: usize) -> Option<&Token> {
    tokens.get(i).map(|tok| &tok.token)
}

fn words(tokens: &[Tok], i: usize, words: &[&str]) -> bool {
    words.iter().enumerate().all(|(n, word)| is_word(token(tokens, i + n), word))
}

/// Words that sqlparser takes for syntax of other engines and that are names here.
fn is_plain_name(tokens: &[Tok], i: usize, dialect: Dialect) -> bool {
    words(tokens, i, &["TOP"])
        || (words(tokens, i, &["TRIM"]) && !matches!(token(tokens, i + 1), Some(Token::LParen)))
        || (dialect == Dialect::Sqlite && words(tokens, i, &["INTERVAL"]))
}

/// Words behind which an operand begins.
const BEFORE_OPERANDS: [&str; 22] = [
    "AS",
    "SELECT",
    "WHERE",
    "AND",
    "OR",
    "NOT",
    "ON",
    "LIMIT",
    "OFFSET",
    "LIKE",
    "ILIKE",
    "BETWEEN",
    "WHEN",
    "THEN",
    "ELSE",
    "BY",
    "IN",
    "IS",
    "RETURNING",
    "HAVING",
    "SET",
    "FROM",
];

/// Whether an operand may end with this token.
fn ends_operand(token: Option<&Token>) -> bool {
    match token {
        Some(Token::Word(word)) => !BEFORE_OPERANDS
            .iter()
            .any(|keyword| word.quote_style.is_none() && word.value.eq_ignore_ascii_case(keyword)),
        Some(Token::RParen | Token::RBracket | Token::Placeholder(_)) => true,
        Some(Token::Number(..) | Token::SingleQuotedString(_)) => true,
        _ => false,
    }
}

/// Whether a SELECT without any clause behind its columns ends before the token at `i`.
fn follows_bare_select(tokens: &[Tok], i: usize) -> bool {
    const CLAUSES: [&str; 9] = ["FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "FETCH", "VALUES"];
    let mut depth = 0_usize;
    for at in (0..i).rev() {
        match &tokens[at].token {
            Token::RParen => depth += 1,
            Token::LParen if depth == 0 => return false,
            Token::LParen => depth -= 1,
            _ if depth > 0 => {}
            token if is_word(Some(token), "SELECT") => return true,
            token if CLAUSES.iter().any(|clause| is_word(Some(token), clause)) => return false,
            _ => {}
        }
    }
    false
}

fn plain_word(token: Option<&Token>) -> Option<&str> {
    match token {
        Some(Token::Word(word)) if word.quote_style.is_none() => Some(&word.value),
        _ => None,
    }
}

/// How many tokens a placeholder takes, its name, and which of sqlc's functions it is, if any.
fn placeholder<'a>(tokens: &'a [Tok], i: usize, anonymous: &mut usize) -> Option<(usize, String, &'a str)> {
    match token(tokens, i)? {
        Token::Colon | Token::AtSign => {
            let next = tokens.get(i + 1)?;
            let name = plain_word(Some(&next.token))?;
            (tokens[i].span.end == next.span.start).then(|| (2, name.to_owned(), ""))
        }
        Token::Placeholder(text) => {
            let rest = text.get(1..).unwrap_or("");
            let name = match rest.as_bytes().first() {
                None => {
                    *anonymous += 1;
                    format!("?{anonymous}")
                }
                Some(b'0'..=b'9') => format!("?{rest}"),
                Some(_) => rest.to_owned(),
            };
            Some((1, name, ""))
        }
        // Where an operand has to stand it is no operator of Postgres: a program writes the numbers before it sends the text.
        Token::Question if !ends_operand(i.checked_sub(1).and_then(|before| token(tokens, before))) => {
            *anonymous += 1;
            Some((1, format!("?{anonymous}"), ""))
        }
        Token::Word(_) if words(tokens, i, &["SQLC"]) => {
            let kind = plain_word(token(tokens, i + 2)).filter(|kind| ["arg", "narg", "slice"].contains(kind))?;
            let name = match token(tokens, i + 4)? {
                Token::SingleQuotedString(name) => name.as_str(),
                other => plain_word(Some(other))?,
            };
            let shape = matches!(token(tokens, i + 1), Some(Token::Period))
                && matches!(token(tokens, i + 3), Some(Token::LParen))
                && matches!(token(tokens, i + 5), Some(Token::RParen));
            shape.then(|| (6, name.to_owned(), kind))
        }
        _ => None,
    }
}

/// A row lock, with the number of tokens that it takes.
fn lock(tokens: &[Tok], start: usize) -> Option<(usize, Lock)> {
    if !words(tokens, start, &["FOR"]) {
        return None;
    }
    let strengths: [(&[&str], &str); 4] = [
        (&["NO", "KEY", "UPDATE"], "no key update"),
        (&["KEY", "SHARE"], "key share"),
        (&["UPDATE"], "update"),
        (&["SHARE"], "share"),
    ];
    let (spelling, strength) = strengths.into_iter().find(|(spelling, _)| words(tokens, start + 1, spelling))?;
    let mut end = start + 1 + spelling.len();
    let mut of = Vec::new();
    if words(tokens, end, &["OF"]) {
        while let Some(Token::Word(name)) = token(tokens, end + 1) {
            of.push(if name.quote_style.is_some() { name.value.clone() } else { name.value.to_lowercase() });
            end += 2;
            if !matches!(token(tokens, end), Some(Token::Comma)) {
                break;
            }
        }
    }
    let mut wait = "";
    if words(tokens, end, &["SKIP", "LOCKED"]) {
        (wait, end) = ("skip locked", end + 2);
    } else if words(tokens, end, &["NOWAIT"]) {
        (wait, end) = ("nowait", end + 1);
    }
    let span = tokens[start].span.to(tokens[end - 1].span);
    Some((end - start, Lock { strength: strength.to_owned(), wait, of, span }))
}

/// `CONFLICT (keys) [WHERE condition] DO`, where the keys are more than columns or a condition stands behind them: the
/// number of tokens before DO.
fn conflict_target(tokens: &[Tok], start: usize, edited: &mut Edited) -> Option<usize> {
    if !words(tokens, start, &["CONFLICT"]) || !matches!(token(tokens, start + 1), Some(Token::LParen)) {
        return None;
    }
    let open = start + 2;
    let close = open + level(&tokens[open..], |token| matches!(token, Token::RParen));
    let has_columns_alone =
        tokens.get(open..close)?.iter().all(|tok| matches!(tok.token, Token::Word(_) | Token::Comma));
    let is_filtered = words(tokens, close + 1, &["WHERE"]);
    if has_columns_alone && !is_filtered {
        return None;
    }
    if has_columns_alone {
        edited.tokens.extend_from_slice(tokens.get(start..=close)?);
    } else {
        edited.tokens.push(tokens[start].clone());
        edited.conflict_keys.push(tokens[open..close].to_vec());
    }
    if !is_filtered {
        return Some(close + 1 - start);
    }
    let filter = close + 2;
    let end = filter + level(tokens.get(filter..)?, |token| is_word(Some(token), "DO"));
    edited.conflict_filters.push(tokens[filter..end].to_vec());
    Some(end - start)
}

/// How many tokens stand before the first of that kind that is in no brackets.
pub(super) fn level(tokens: &[Tok], ends: impl Fn(&Token) -> bool) -> usize {
    let mut depth = 0_usize;
    let before = tokens.iter().take_while(|tok| {
        if depth == 0 && ends(&tok.token) {
            return false;
        }
        match tok.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        true
    });
    before.count()
}

/// `AS [NOT] MATERIALIZED (`: the number of tokens before the bracket, and which it is.
fn materialized(tokens: &[Tok], i: usize) -> Option<(usize, bool)> {
    let (used, materialized) = if words(tokens, i, &["AS", "MATERIALIZED"]) {
        (2, true)
    } else if words(tokens, i, &["AS", "NOT", "MATERIALIZED"]) {
        (3, false)
    } else {
        return None;
    };
    matches!(token(tokens, i + used), Some(Token::LParen)).then_some((used, materialized))
}

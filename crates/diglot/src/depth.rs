//! How deep a text may go: a guard in front of the parser.
//!
//! Parsers build trees, and every pass, even dropping a tree, follows them by calling itself. No stack holds a tree of
//! any depth, so a text whose tree would be too deep is refused, at the place where it becomes too deep, before there
//! is a tree. A tree is as deep as brackets nest, and as chains of operators are long:
//! `a + b + c` is `(a + b) + c`.
//!
//! The limits are [`BRACKETS`] and [`CHAIN`]. They are far above what people write and far below what a thread of two
//! megabytes holds in a build without optimisation.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::Token;

/// How many brackets, and CASEs, may be open at one place.
pub(crate) const BRACKETS: usize = 50;

/// How many operators and keywords may lead to one place. What a closed bracket holds and what stands before a comma is
/// beside the way; set operations and joins are on it whatever stands between.
pub(crate) const CHAIN: usize = 400;

/// How deep the parser may call itself. Signs and NOTs in front of each other reach it without brackets.
pub(crate) const CALLS: usize = 100;

/// What goes too deep, as a message says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deep {
    /// More than [`BRACKETS`].
    Brackets,
    /// More than [`CHAIN`].
    Chain,
    /// More than [`CALLS`].
    Calls,
}

impl Deep {
    /// What is wrong with the text.
    pub(crate) fn message(self) -> String {
        match self {
            Deep::Brackets => format!("more than {BRACKETS} brackets are open here"),
            Deep::Chain => format!("it chains more than {CHAIN} operators and keywords"),
            Deep::Calls => "it nests too deeply".to_owned(),
        }
    }
}

/// The first token that goes too deep.
pub(crate) fn too_deep<'t>(tokens: impl IntoIterator<Item = &'t Token>) -> Option<(usize, Deep)> {
    let mut open: Vec<Level> = Vec::new();
    let mut level = Level::default();
    // What the levels around this one hold.
    let mut around = 0;
    for (at, token) in tokens.into_iter().enumerate() {
        match step(token) {
            Step::None => continue,
            Step::Comma => level.operators = 0,
            Step::Operator => level.operators += 1,
            Step::Source => level.sources += 1,
            Step::Open => {
                level.operators += 1;
                around += level.length();
                open.push(std::mem::take(&mut level));
            }
            Step::Close => {
                if let Some(outer) = open.pop() {
                    around -= outer.length();
                    level = outer;
                }
            }
        }
        if open.len() > BRACKETS {
            return Some((at, Deep::Brackets));
        }
        if around + level.length() > CHAIN {
            return Some((at, Deep::Chain));
        }
    }
    None
}

/// What stands between two brackets, on the way to this place.
#[derive(Default)]
struct Level {
    /// Operators and keywords since the last comma.
    operators: usize,
    /// Set operations and joins: their operands hold commas.
    sources: usize,
}

impl Level {
    fn length(&self) -> usize {
        self.operators + self.sources
    }
}

enum Step {
    None,
    Comma,
    Operator,
    Source,
    Open,
    Close,
}

fn step(token: &Token) -> Step {
    match token {
        Token::LParen | Token::LBracket | Token::LBrace => Step::Open,
        Token::RParen | Token::RBracket | Token::RBrace => Step::Close,
        Token::Comma => Step::Comma,
        Token::Word(word) if word.quote_style.is_some() => Step::None,
        Token::Word(word) => match word.keyword {
            Keyword::NoKeyword => Step::None,
            Keyword::CASE => Step::Open,
            Keyword::END => Step::Close,
            Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT | Keyword::MINUS | Keyword::JOIN => Step::Source,
            _ => Step::Operator,
        },
        Token::EOF
        | Token::Whitespace(_)
        | Token::Period
        | Token::SemiColon
        | Token::Number(..)
        | Token::Char(_)
        | Token::Placeholder(_)
        | Token::SingleQuotedString(_)
        | Token::DoubleQuotedString(_)
        | Token::DollarQuotedString(_)
        | Token::EscapedStringLiteral(_)
        | Token::NationalStringLiteral(_)
        | Token::UnicodeStringLiteral(_)
        | Token::HexStringLiteral(_) => Step::None,
        _ => Step::Operator,
    }
}

#[cfg(test)]
mod tests {
    use sqlparser::dialect::SQLiteDialect;
    use sqlparser::tokenizer::Tokenizer;

    use super::*;

    fn found(text: &str) -> Option<(usize, Deep)> {
        let tokens = Tokenizer::new(&SQLiteDialect {}, text).tokenize().expect("tokens");
        let tokens: Vec<Token> = tokens.into_iter().filter(|token| !matches!(token, Token::Whitespace(_))).collect();
        too_deep(&tokens)
    }

    #[test]
    fn a_chain_counts_up_to_its_limit() {
        assert_eq!(found(&format!("a{}", " + a".repeat(CHAIN))), None);
        assert_eq!(found(&format!("a{}", " + a".repeat(CHAIN + 1))), Some((2 * CHAIN + 1, Deep::Chain)));
        assert_eq!(found(&format!("a{}", " UNION VALUES (1), 2".repeat(CHAIN + 1))).map(|at| at.1), Some(Deep::Chain));
    }

    #[test]
    fn lists_are_as_long_as_they_like() {
        assert_eq!(found(&"a AND b, (c + d), CASE WHEN a THEN b END, ".repeat(1_000)), None);
    }

    #[test]
    fn brackets_count_while_they_are_open() {
        let nested = |depth: usize| format!("{}1{}", "(".repeat(depth), ")".repeat(depth));
        assert_eq!(found(&nested(BRACKETS)), None);
        assert_eq!(found(&format!("{0}, {0}", nested(BRACKETS))), None);
        assert_eq!(found(&nested(BRACKETS + 1)), Some((BRACKETS, Deep::Brackets)));
        assert_eq!(found(&"CASE WHEN ".repeat(60)).map(|at| at.1), Some(Deep::Brackets));
        assert_eq!(found(&")".repeat(60)), None);
    }

    #[test]
    fn what_is_around_a_bracket_counts_inside() {
        let chain = "a + ".repeat(CHAIN / 2);
        assert_eq!(found(&format!("{chain}({chain}b)")), Some((4 * (CHAIN / 2), Deep::Chain)));
        assert_eq!(found(&format!("{chain}(b), {chain}(b)")), None);
    }
}

//! sqlparser's grammars, with what they do not read as the engines do.
//!
//! SQLite gets its own precedence here: sqlparser's reads `||` and `->` as if they bound loosely, which
//! would build other trees than the engine does.

mod postgres;

use std::any::TypeId;

use sqlparser::ast::{self, BinaryOperator, UnaryOperator};
use sqlparser::dialect::{Dialect as SqlDialect, PostgreSqlDialect, Precedence, SQLiteDialect};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

use crate::dialect::Dialect;
use postgres::Postgres;

/// The grammar of a dialect.
pub(crate) fn grammar(dialect: Dialect) -> &'static dyn SqlDialect {
    match dialect {
        Dialect::Sqlite => &Sqlite(SQLiteDialect {}),
        Dialect::Pg => &Postgres(PostgreSqlDialect {}),
    }
}

/// SQLite with its own precedence, from <https://www.sqlite.org/lang_expr.html>.
#[derive(Debug)]
struct Sqlite(SQLiteDialect);

const EQUALITY: u8 = 20;
const COMPARISON: u8 = 22;
const BITS: u8 = 24;
const CONCAT: u8 = 45;
const SIGN: u8 = 49;

impl SqlDialect for Sqlite {
    fn dialect(&self) -> TypeId {
        self.0.dialect()
    }

    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        self.0.is_delimited_identifier_start(ch)
    }

    fn identifier_quote_style(&self, identifier: &str) -> Option<char> {
        self.0.identifier_quote_style(identifier)
    }

    fn is_identifier_start(&self, ch: char) -> bool {
        self.0.is_identifier_start(ch)
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        self.0.is_identifier_part(ch)
    }

    fn supports_filter_during_aggregation(&self) -> bool {
        true
    }

    fn supports_start_transaction_modifier(&self) -> bool {
        true
    }

    fn supports_in_empty_list(&self) -> bool {
        true
    }

    fn supports_limit_comma(&self) -> bool {
        true
    }

    fn supports_asc_desc_in_column_definition(&self) -> bool {
        true
    }

    fn supports_dollar_placeholder(&self) -> bool {
        true
    }

    fn supports_notnull_operator(&self) -> bool {
        true
    }

    fn supports_comma_separated_trim(&self) -> bool {
        true
    }

    fn supports_numeric_literal_underscores(&self) -> bool {
        true
    }

    fn supports_insert_table_alias(&self) -> bool {
        true
    }

    fn supports_group_by_expr(&self) -> bool {
        true
    }

    fn parse_statement(&self, parser: &mut Parser) -> Option<Result<ast::Statement, ParserError>> {
        self.0.parse_statement(parser)
    }

    fn parse_prefix(&self, parser: &mut Parser) -> Option<Result<ast::Expr, ParserError>> {
        let op = match parser.peek_token_ref().token {
            Token::Minus => UnaryOperator::Minus,
            Token::Plus => UnaryOperator::Plus,
            Token::Tilde => UnaryOperator::BitwiseNot,
            _ => return plain_operand(parser),
        };
        parser.advance_token();
        Some(parser.parse_subexpr(SIGN).map(|expr| ast::Expr::UnaryOp { op, expr: Box::new(expr) }))
    }

    fn parse_infix(
        &self,
        parser: &mut Parser,
        expr: &ast::Expr,
        precedence: u8,
    ) -> Option<Result<ast::Expr, ParserError>> {
        let op = match &parser.peek_token_ref().token {
            Token::ShiftLeft => BinaryOperator::PGBitwiseShiftLeft,
            Token::ShiftRight => BinaryOperator::PGBitwiseShiftRight,
            Token::Word(word) if word.keyword == Keyword::IS => is_operator(parser)?,
            Token::Word(word) if word.keyword == Keyword::NOT => return negated_match(parser, expr, precedence),
            _ => return self.0.parse_infix(parser, expr, precedence),
        };
        if matches!(op, BinaryOperator::PGBitwiseShiftLeft | BinaryOperator::PGBitwiseShiftRight) {
            parser.advance_token();
        }
        let right = parser.parse_subexpr(precedence);
        Some(right.map(|right| ast::Expr::BinaryOp { left: Box::new(expr.clone()), op, right: Box::new(right) }))
    }

    fn get_next_precedence(&self, parser: &Parser) -> Option<Result<u8, ParserError>> {
        let precedence = match &parser.peek_token_ref().token {
            Token::Lt | Token::LtEq | Token::Gt | Token::GtEq => COMPARISON,
            Token::Ampersand | Token::Pipe | Token::ShiftLeft | Token::ShiftRight => BITS,
            Token::StringConcat | Token::Arrow | Token::LongArrow => CONCAT,
            _ => return None,
        };
        Some(Ok(precedence))
    }

    fn prec_value(&self, prec: Precedence) -> u8 {
        match prec {
            Precedence::Between | Precedence::Eq | Precedence::Like | Precedence::Is => EQUALITY,
            Precedence::Ampersand | Precedence::Pipe | Precedence::Caret => BITS,
            other => self.0.prec_value(other),
        }
    }
}

/// Reads a parameter, a number or a name that can be nothing else. sqlparser tries whether a type and its literal stand
/// there first, which takes longer than the rest of an expression.
fn plain_operand(parser: &mut Parser) -> Option<Result<ast::Expr, ParserError>> {
    match &parser.peek_token_ref().token {
        Token::Placeholder(_) | Token::Number(..) => Some(parser.parse_value().map(ast::Expr::Value)),
        Token::Word(word) if word.keyword == Keyword::NoKeyword => {
            let ends = matches!(
                parser.peek_nth_token_ref(1).token,
                Token::Word(_)
                    | Token::Period
                    | Token::Comma
                    | Token::RParen
                    | Token::DoubleColon
                    | Token::Eq
                    | Token::Neq
                    | Token::Lt
                    | Token::Gt
            );
            let name = word.to_ident(parser.peek_token_ref().span);
            ends.then(|| {
                parser.advance_token();
                Ok(ast::Expr::Identifier(name))
            })
        }
        _ => None,
    }
}

/// Reads `NOT GLOB`, `NOT REGEXP` and `NOT MATCH`.
fn negated_match(parser: &mut Parser, left: &ast::Expr, precedence: u8) -> Option<Result<ast::Expr, ParserError>> {
    let op = match &parser.peek_nth_token_ref(1).token {
        Token::Word(word) if word.keyword == Keyword::GLOB => BinaryOperator::Glob,
        Token::Word(word) if word.keyword == Keyword::REGEXP => BinaryOperator::Regexp,
        Token::Word(word) if word.keyword == Keyword::MATCH => BinaryOperator::Match,
        _ => return None,
    };
    parser.advance_token();
    parser.advance_token();
    let test = |right| ast::Expr::BinaryOp { left: Box::new(left.clone()), op, right: Box::new(right) };
    let not = |right| ast::Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(test(right)) };
    Some(parser.parse_subexpr(precedence).map(not))
}

/// Reads `IS [NOT]` when a value follows that has no node of its own in sqlparser: `IS ?1`, `IS NOT a.b`.
fn is_operator(parser: &mut Parser) -> Option<BinaryOperator> {
    const OWN: [Keyword; 7] = [
        Keyword::NULL,
        Keyword::TRUE,
        Keyword::FALSE,
        Keyword::DISTINCT,
        Keyword::UNKNOWN,
        Keyword::JSON,
        Keyword::NORMALIZED,
    ];
    let negated = matches!(&parser.peek_nth_token_ref(1).token, Token::Word(w) if w.keyword == Keyword::NOT);
    let operand = parser.peek_nth_token_ref(if negated { 2 } else { 1 });
    if matches!(&operand.token, Token::Word(w) if OWN.contains(&w.keyword)) {
        return None;
    }
    parser.advance_token();
    if negated {
        parser.advance_token();
    }
    Some(BinaryOperator::Custom(if negated { "IS NOT" } else { "IS" }.to_owned()))
}

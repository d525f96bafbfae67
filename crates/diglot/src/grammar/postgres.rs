//! sqlparser's grammar of Postgres with two ways more to begin an expression.

use std::any::TypeId;

use sqlparser::ast::{self, UnaryOperator};
use sqlparser::dialect::{Dialect as SqlDialect, PostgreSqlDialect, Precedence};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

use super::plain_operand;

/// Postgres.
#[derive(Debug)]
pub(super) struct Postgres(pub(super) PostgreSqlDialect);

/// Passes on everything in which sqlparser's Postgres is not like its other grammars.
macro_rules! as_it_is {
    ($($name:ident($($argument:ident: $of:ty),*) -> $gives:ty;)*) => {
        $(fn $name(&self, $($argument: $of),*) -> $gives {
            self.0.$name($($argument),*)
        })*
    };
}

impl SqlDialect for Postgres {
    fn dialect(&self) -> TypeId {
        self.0.dialect()
    }

    fn parse_prefix(&self, parser: &mut Parser<'_>) -> Option<Result<ast::Expr, ParserError>> {
        if parser.peek_token_ref().token != Token::Tilde {
            return plain_operand(parser);
        }
        // `1 * ~a + b` is `1 * ~(a + b)`: an operator without a level of its own takes all calculation behind it.
        parser.advance_token();
        let operand = parser.parse_subexpr(self.0.prec_value(Precedence::PgOther));
        Some(operand.map(|expr| ast::Expr::UnaryOp { op: UnaryOperator::BitwiseNot, expr: Box::new(expr) }))
    }

    as_it_is! {
        identifier_quote_style(identifier: &str) -> Option<char>;
        is_delimited_identifier_start(ch: char) -> bool;
        is_identifier_start(ch: char) -> bool;
        is_identifier_part(ch: char) -> bool;
        supports_unicode_string_literal() -> bool;
        is_reserved_for_identifier(kw: Keyword) -> bool;
        is_table_alias(kw: &Keyword, parser: &mut Parser<'_>) -> bool;
        is_custom_operator_part(ch: char) -> bool;
        get_next_precedence(parser: &Parser<'_>) -> Option<Result<u8, ParserError>>;
        supports_filter_during_aggregation() -> bool;
        supports_group_by_expr() -> bool;
        supports_alter_user_as_alter_role() -> bool;
        prec_value(prec: Precedence) -> u8;
        allow_extract_custom() -> bool;
        allow_extract_single_quotes() -> bool;
        supports_create_index_with_clause() -> bool;
        supports_explain_with_utility_options() -> bool;
        supports_listen_notify() -> bool;
        supports_exclude_constraint() -> bool;
        supports_factorial_operator() -> bool;
        supports_bitwise_shift_operators() -> bool;
        supports_comment_on() -> bool;
        supports_load_extension() -> bool;
        supports_named_fn_args_with_colon_operator() -> bool;
        supports_named_fn_args_with_expr_name() -> bool;
        supports_empty_projections() -> bool;
        supports_nested_comments() -> bool;
        supports_string_escape_constant() -> bool;
        supports_numeric_literal_underscores() -> bool;
        supports_array_typedef_with_brackets() -> bool;
        supports_geometric_types() -> bool;
        supports_order_by_using_operator() -> bool;
        supports_set_names() -> bool;
        supports_alter_column_type_using() -> bool;
        supports_left_associative_joins_without_parens() -> bool;
        supports_notnull_operator() -> bool;
        supports_interval_options() -> bool;
        supports_insert_table_alias() -> bool;
        supports_create_table_like_parenthesized() -> bool;
        supports_select_wildcard_with_alias() -> bool;
        supports_comma_separated_trim() -> bool;
        supports_xml_expressions() -> bool;
        supports_aliased_function_args() -> bool;
        supports_comment_optimizer_hint() -> bool;
    }
}

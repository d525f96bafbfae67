//! The columns that hold no NULL because no program writes one, whatever the schemas let in.

use std::collections::BTreeSet;

use sqlparser::ast::{BinaryOperator, Expr};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;

use super::Prove;

impl Prove {
    /// The columns, by table, whose NULL alone makes a row one that no program writes: `column IS NULL` is the whole
    /// condition, or stands in it beside others with OR.
    pub(crate) fn never_null(&self) -> BTreeSet<(String, String)> {
        let mut columns = BTreeSet::new();
        for (table, condition) in &self.impossible {
            let parsed = Parser::new(&GenericDialect {}).try_with_sql(condition).and_then(|mut it| it.parse_expr());
            let Ok(parsed) = parsed else { continue };
            let mut open = vec![&parsed];
            while let Some(expr) = open.pop() {
                match expr {
                    Expr::Nested(inner) => open.push(inner),
                    Expr::BinaryOp { left, op: BinaryOperator::Or, right } => open.extend([&**left, &**right]),
                    Expr::IsNull(inner) => columns.extend(column(inner, table).map(|name| (table.clone(), name))),
                    _ => {}
                }
            }
        }
        columns
    }
}

/// The name of a column of that table.
fn column(expr: &Expr, table: &str) -> Option<String> {
    let name = match expr {
        Expr::Identifier(name) => name,
        Expr::CompoundIdentifier(names) => match names.as_slice() {
            [of, name] if of.value.eq_ignore_ascii_case(table) => name,
            _ => return None,
        },
        _ => return None,
    };
    Some(name.value.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn never_null(condition: &str) -> Vec<String> {
        let impossible = [("job".to_owned(), condition.to_owned())].into();
        Prove { impossible, ..Prove::default() }.never_null().into_iter().map(|(_, column)| column).collect()
    }

    #[test]
    fn a_null_that_makes_a_row_impossible_is_in_no_row() {
        assert_eq!(never_null("due IS NULL"), ["due"]);
        assert_eq!(never_null("state = 'x' AND tries < 0 OR job.Due IS NULL OR (owner IS NULL)"), ["due", "owner"]);
    }

    #[test]
    fn a_null_that_needs_more_may_be_there() {
        for condition in ["due IS NULL AND state = 'x'", "NOT due IS NULL", "other.due IS NULL", "due IS NULL OR", "("]
        {
            assert_eq!(never_null(condition), Vec::<String>::new(), "{condition}");
        }
    }
}

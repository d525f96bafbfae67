//! Between which whole numbers a CHECK keeps a column.

use std::collections::BTreeMap;

use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator, Value};

use super::key::lower;

/// The least and the greatest number. The least is greater where no number is left.
pub type Range = (i128, i128);

/// Every whole number that a column may hold.
const ALL: Range = (i64::MIN as i128, i64::MAX as i128);
/// No number: what `IS NULL` leaves.
const NONE: Range = (ALL.1, ALL.0);

/// What a condition leaves to each column that it bounds. A CHECK also passes where it is NULL, which it is not for a
/// number that it denies: a comparison with a literal is NULL for NULL alone.
pub(super) fn ranges(condition: &Expr) -> BTreeMap<String, Range> {
    match condition {
        Expr::Nested(inner) => ranges(inner),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            let mut all = ranges(left);
            for (column, (least, most)) in ranges(right) {
                let own = all.entry(column).or_insert(ALL);
                *own = (own.0.max(least), own.1.min(most));
            }
            all
        }
        Expr::BinaryOp { left, op: BinaryOperator::Or, right } => {
            let (one, other) = (ranges(left), ranges(right));
            let either = |(column, (least, most)): (String, Range)| {
                let (low, high) = other.get(&column)?;
                Some((column, (least.min(*low), most.max(*high))))
            };
            one.into_iter().filter_map(either).collect()
        }
        Expr::BinaryOp { left, op, right } => {
            let written = name(left).zip(number(right)).and_then(|(column, n)| Some((column, compared(op, n)?)));
            let turned =
                || name(right).zip(number(left)).and_then(|(column, n)| Some((column, compared(&turned(op)?, n)?)));
            written.or_else(turned).into_iter().collect()
        }
        Expr::Between { expr, negated: false, low, high } => {
            let ends = number(low).zip(number(high));
            name(expr).zip(ends).into_iter().collect()
        }
        Expr::InList { expr, list, negated: false } => {
            let numbers: Option<Vec<i128>> = list.iter().map(number).collect();
            let range = numbers.and_then(|all| Some((*all.iter().min()?, *all.iter().max()?)));
            name(expr).zip(range).into_iter().collect()
        }
        Expr::IsNull(inner) => name(inner).map(|column| (column, NONE)).into_iter().collect(),
        _ => BTreeMap::new(),
    }
}

/// What `column op number` leaves.
fn compared(op: &BinaryOperator, number: i128) -> Option<Range> {
    match op {
        BinaryOperator::Lt => Some((ALL.0, number - 1)),
        BinaryOperator::LtEq => Some((ALL.0, number)),
        BinaryOperator::Gt => Some((number + 1, ALL.1)),
        BinaryOperator::GtEq => Some((number, ALL.1)),
        BinaryOperator::Eq => Some((number, number)),
        _ => None,
    }
}

/// The operator of the same comparison with its sides changed.
fn turned(op: &BinaryOperator) -> Option<BinaryOperator> {
    match op {
        BinaryOperator::Lt => Some(BinaryOperator::Gt),
        BinaryOperator::LtEq => Some(BinaryOperator::GtEq),
        BinaryOperator::Gt => Some(BinaryOperator::Lt),
        BinaryOperator::GtEq => Some(BinaryOperator::LtEq),
        BinaryOperator::Eq => Some(BinaryOperator::Eq),
        _ => None,
    }
}

/// A column by its name.
fn name(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(ident) => Some(lower(ident)),
        Expr::CompoundIdentifier(parts) => parts.last().map(lower),
        Expr::Nested(inner) => name(inner),
        _ => None,
    }
}

/// A whole number that is written, or calculated from such.
fn number(expr: &Expr) -> Option<i128> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(digits, _) => digits.parse::<i64>().ok().map(i128::from),
            _ => None,
        },
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => number(inner),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => Some(-number(expr)?),
        Expr::BinaryOp { left, op, right } => {
            let (left, right) = (number(left)?, number(right)?);
            let made = match op {
                BinaryOperator::Plus => left.checked_add(right),
                BinaryOperator::Minus => left.checked_sub(right),
                BinaryOperator::Multiply => left.checked_mul(right),
                _ => None,
            };
            made.filter(|made| (ALL.0..=ALL.1).contains(made))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::schema::text;

    fn range(condition: &str, column: &str) -> Option<Range> {
        let expr = text::expression(condition, Dialect::Pg).expect("a condition that can be read");
        ranges(&expr).get(column).copied()
    }

    #[test]
    fn a_condition_bounds_what_it_compares_with_numbers() {
        assert_eq!(range("n >= 0 AND n < 10", "n"), Some((0, 9)));
        assert_eq!(range("24 * 60 >= t.n AND -3 < n", "n"), Some((-2, 1440)));
        assert_eq!(range("n BETWEEN 1 AND 5", "n"), Some((1, 5)));
        assert_eq!(range("n IN (7, 2, 4)", "n"), Some((2, 7)));
    }

    #[test]
    fn null_and_either_way_leave_what_any_side_leaves() {
        assert_eq!(range("n IS NULL OR n > 3", "n"), Some((4, ALL.1)));
        assert_eq!(range("n = 1 OR n = 3", "n"), Some((1, 3)));
        assert_eq!(range("n > 3 OR m > 3", "n"), None);
        assert_eq!(range("n > 3 AND (m > 3 OR n < 9)", "n"), Some((4, ALL.1)));
    }

    #[test]
    fn what_says_less_than_it_seems_bounds_nothing() {
        assert_eq!(range("NOT n > 3", "n"), None);
        assert_eq!(range("n <> 3", "n"), None);
        assert_eq!(range("n > m", "n"), None);
        assert_eq!(range("n > 0.5", "n"), None);
        assert_eq!(range("n NOT BETWEEN 1 AND 5", "n"), None);
    }
}

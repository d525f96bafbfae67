//! Whether two expressions say the same in two places of a statement.

use super::{Expr, ExprKind};

impl Expr {
    /// Whether it says what another expression says, part by part, wherever both stand. What depends on other rows, or has
    /// no node of its own, never does.
    pub fn is_alike(&self, other: &Expr) -> bool {
        let are_alike = |ones: &[Expr], others: &[Expr]| {
            ones.len() == others.len() && ones.iter().zip(others).all(|(one, other)| one.is_alike(other))
        };
        match (&self.kind, &other.kind) {
            (ExprKind::Param(one), ExprKind::Param(other))
            | (ExprKind::Number(one), ExprKind::Number(other))
            | (ExprKind::Text(one), ExprKind::Text(other)) => one == other,
            (ExprKind::Column { source, column }, ExprKind::Column { source: other_source, column: other_column }) => {
                source == other_source && column == other_column
            }
            (ExprKind::Cast { expr, to, .. }, ExprKind::Cast { expr: other, to: other_to, .. }) => {
                to == other_to && expr.is_alike(other)
            }
            (ExprKind::Collate { expr, collation }, ExprKind::Collate { expr: other, collation: other_collation }) => {
                collation == other_collation && expr.is_alike(other)
            }
            (ExprKind::Unary { op, expr }, ExprKind::Unary { op: other_op, expr: other }) => {
                op == other_op && expr.is_alike(other)
            }
            (
                ExprKind::Binary { op, left, right },
                ExprKind::Binary { op: other_op, left: other_left, right: other_right },
            ) => op == other_op && left.is_alike(other_left) && right.is_alike(other_right),
            (
                ExprKind::Call { name, args, star, over: None, filter: None, .. },
                ExprKind::Call { name: other_name, args: others, star: other_star, over: None, filter: None, .. },
            ) => name == other_name && star == other_star && are_alike(args, others),
            _ => false,
        }
    }
}

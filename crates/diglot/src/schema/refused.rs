//! What an engine refuses in a migration although the parser reads it, and triggers that write their own table.

use sqlparser::ast::{AlterTableOperation, Expr, Statement};

use super::lints::Remark;
use super::migration::Piece;
use super::read::{Reader, last};
use crate::dialect::Dialect;
use crate::rule::{self, Rule};
use crate::source::Span;
use crate::split::lexer::{self, Kind};

impl Reader {
    /// Remarks that the engine does not read a statement that the parser has read.
    pub(super) fn refused(&mut self, piece: &Piece, statement: &Statement) {
        let refused = match (self.dialect, statement) {
            (Dialect::Sqlite, Statement::AlterTable(alter)) => {
                let changes = |operation: &AlterTableOperation| {
                    use AlterTableOperation::{AddConstraint, AlterColumn, DropConstraint};
                    matches!(operation, AlterColumn { .. } | AddConstraint { .. } | DropConstraint { .. })
                };
                let what = if alter.operations.len() > 1 {
                    Some("SQLite takes one change in each ALTER TABLE")
                } else if alter.operations.iter().any(changes) {
                    Some("SQLite changes no column and no constraint: make the table anew")
                } else {
                    None
                };
                what.map(|what| (last(&alter.name), what))
            }
            (Dialect::Sqlite, Statement::CreateView(create)) if create.or_replace => {
                Some((last(&create.name), "SQLite has no CREATE OR REPLACE VIEW: drop the view first"))
            }
            (Dialect::Pg, Statement::CreateIndex(create)) => {
                let plain = |expr: &Expr| {
                    use Expr::{Collate, CompoundIdentifier, Function, Identifier, Nested};
                    matches!(expr, Identifier(_) | CompoundIdentifier(_) | Nested(_) | Function(_) | Collate { .. })
                };
                let bare = create.columns.iter().any(|column| !plain(&column.column.expr));
                bare.then(|| (last(&create.table_name), "Postgres wants brackets around an expression: `((a + b))`"))
            }
            _ => None,
        };
        if let Some((item, label)) = refused {
            self.remark(rule::SCHEMA_REFUSED, item, piece.span, label);
        }
    }

    /// Looks at CREATE TRIGGER, which is not read otherwise.
    pub(super) fn trigger(&mut self, piece: &Piece) {
        let sql = piece.sql();
        let words: Vec<(Kind, &str)> = lexer::tokens(sql, self.dialect)
            .into_iter()
            .filter(|token| !token.is_comment())
            .map(|token| (token.kind, sql.get(token.start..token.end).unwrap_or_default()))
            .collect();
        let is = |at: usize, word: &str| words.get(at).is_some_and(|(_, text)| text.eq_ignore_ascii_case(word));
        let Some(on) = (0..words.len()).find(|at| is(*at, "on")) else { return };
        let qualified = words.get(on + 2).is_some_and(|(_, text)| *text == ".");
        let table = words.get(if qualified { on + 3 } else { on + 1 }).map_or("", |(_, text)| text.trim_matches('"'));
        let Some(body) = (on..words.len()).find(|at| is(*at, "begin")) else { return };
        if self.dialect == Dialect::Pg {
            let label = "Postgres wants a function: `EXECUTE FUNCTION …`";
            self.remark(rule::SCHEMA_REFUSED, table.to_lowercase(), piece.span, label);
            return;
        }
        let writes = |at: usize| {
            let name = if is(at, "update") {
                // `UPDATE OR IGNORE t`
                if is(at + 1, "or") { at + 3 } else { at + 1 }
            } else if is(at, "into") || (is(at, "from") && at > 0 && is(at - 1, "delete")) {
                at + 1
            } else {
                return false;
            };
            words.get(name).is_some_and(|(_, text)| text.trim_matches('"').eq_ignore_ascii_case(table))
        };
        if (body..words.len()).any(writes) {
            let label = "does not call itself again on SQLite, and RETURNING does not see what it writes";
            self.remark(rule::TRIGGER_WRITES_OWN_TABLE, table.to_lowercase(), piece.span, label);
        }
    }

    pub(super) fn remark(&mut self, rule: Rule, item: String, span: Span, label: &str) {
        self.schema.remarks.push(Remark { rule, item, span, label: label.to_owned() });
    }
}

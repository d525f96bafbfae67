//! A unit of SQLite reads what an earlier statement returned and is gone.

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::joined::{Lost, joined};
use crate::page::Cardinality;
use crate::rule;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let page = context.page;
    if page.tree.dialect != Dialect::Sqlite {
        return;
    }
    let lost = match joined(page.raw, page.tree) {
        Err(lost) => lost,
        Ok(Some(_)) if page.raw.cardinality == Cardinality::Stream => {
            let message = format!("{}: rows that are joined do not come one by one", context.name());
            let finding = Diagnostic::error(rule::LOST_ROWS, message, page.raw.cardinality_span, "a stream");
            found.push(finding.help("write `:many`"));
            return;
        }
        Ok(_) => return,
    };
    let (what, place, label, help) = match lost {
        Lost::Read(place) => (
            "a statement reads what another one returned",
            place,
            "SQLite has it no more",
            "read it from the table, or from a CTE that only reads; only the last SELECT gets what was returned",
        ),
        Lost::Shape(place) => (
            "the rows that its statements returned are more than joined",
            place,
            "not a column or a join of all rows",
            "select columns from `a CROSS JOIN b LEFT JOIN c ON true`, where each is a CTE that writes",
        ),
        Lost::Unread(place) => (
            "what a statement returns is read by nobody",
            place,
            "comes among the rows of the unit",
            "drop its RETURNING, or read it in the last SELECT",
        ),
    };
    let finding = Diagnostic::error(rule::LOST_ROWS, format!("{}: {what}", context.name()), place, label);
    found.push(finding.help(help));
}

//! INSERT OR REPLACE deletes the row that is in the way.

use crate::rules::Context;
use crate::diagnostic::Diagnostic;
use crate::normal::replaced_row::replaced;
use crate::rule;
use crate::tree::Body;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    for part in &context.page.tree.parts {
        let Body::Insert(insert) = &part.body else { continue };
        if let Some((word, span)) = &insert.or
            && word.ends_with("replace")
            && context.facing.is_none_or(|facing| replaced(insert, context.page.schema, facing.schema).is_none())
        {
            let message = format!("{}: INSERT OR REPLACE deletes the row that is in the way", context.name());
            let finding = Diagnostic::error(rule::OR_REPLACE, message, *span, "deletes first, then inserts");
            found.push(finding.help("write `ON CONFLICT (columns) DO UPDATE SET …` on both pages"));
        }
    }
}

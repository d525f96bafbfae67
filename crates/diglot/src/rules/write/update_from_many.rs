//! An UPDATE takes its values from one of several rows.

use crate::rules::Context;
use crate::rules::look::{read_from, split};
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::Body;

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_pg_of_pair() {
        return;
    }
    for part in &context.page.tree.parts {
        let Body::Update(update) = &part.body else { continue };
        let mut conditions = Vec::new();
        split(update.filter.as_ref(), &mut conditions);
        let many = context.unpinned(&update.from.iter().collect::<Vec<_>>(), conditions, &[]);
        let assigned = update.set.iter().find(|set| read_from(&set.value).iter().any(|source| many.contains(source)));
        if let Some(set) = assigned {
            let message = format!("{}: `{}` may come from several rows", context.name(), set.column);
            let label = "which row wins is not defined";
            let finding = Diagnostic::error(rule::UPDATE_FROM_MANY, message, set.span, label);
            found.push(finding.help("give FROM one row for each target row: an aggregate, or ORDER BY and LIMIT 1"));
        }
    }
}

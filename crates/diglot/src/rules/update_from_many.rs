//! An UPDATE takes its values from one of several rows.
//!
//! # What it finds
//!
//! On the Postgres page of a pair: UPDATE … FROM a table of which several rows may fit one row of the target, and
//! whose columns are assigned.
//!
//! # Why it bites
//!
//! Which of the rows wins is not defined, and the engines choose differently.
//!
//! # Write instead
//!
//! A FROM with one row for each target row: an aggregate, or a subquery with ORDER BY and LIMIT 1.
//!
//! # Example
//!
//! ```text
//! UPDATE job SET state = last.state FROM (SELECT job_id, max(state) AS state FROM event GROUP BY job_id) AS last
//! WHERE last.job_id = job.id
//! ```

use super::Context;
use super::look::{read_from, split};
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::Body;

pub(super) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
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

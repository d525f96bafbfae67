//! A recursive query ends only because nobody reads on.

use crate::rules::Context;
use crate::rules::look::branches;
use crate::diagnostic::Diagnostic;
use crate::rule;
use crate::tree::{Body, Rows, SourceKind};

pub(in crate::rules) fn check(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if !context.is_sqlite_of_pair() {
        return;
    }
    for part in context.page.tree.parts.iter().filter(|part| part.recursive) {
        let (Body::Query(query), Some(name)) = (&part.body, &part.name) else { continue };
        let Rows::Set { op: "union", all: true, right, .. } = &query.rows else { continue };
        let mut selects = Vec::new();
        branches(right, &mut selects);
        let endless = selects.iter().find(|select| {
            let [only] = select.from.as_slice() else { return false };
            let own = matches!(&only.kind, SourceKind::Cte(cte) if cte == name);
            own && select.filter.is_none() && query.limit.is_none()
        });
        if let Some(select) = endless {
            let message = format!("{}: `{name}` never ends by itself", context.name());
            let finding =
                Diagnostic::warning(rule::ENDLESS_RECURSION, message, select.span, "nothing ends this branch");
            found.push(finding.help("write a WHERE in this branch"));
        }
    }
}

//! Parameters by their numbers, for callers that bind by number on both databases.

use std::collections::BTreeMap;

use super::{Pair, report};
use crate::diagnostic::Diagnostic;
use crate::digest;
use crate::facts::Kind;
use crate::infer::PageOf;
use crate::rule;
use crate::source::{Sources, Span};

/// The numbers of the parameters that are bound by number, by name, and where each stands first.
fn of(sources: &Sources, page: &PageOf<'_>) -> BTreeMap<String, (u32, Span)> {
    let mut uses: Vec<(&str, Span)> = page.tree.params.iter().map(|param| (param.name.as_str(), param.span)).collect();
    uses.sort_by_key(|(_, span)| *span);
    let (mut numbers, mut last) = (BTreeMap::new(), 0);
    for (name, span) in uses {
        let text = sources.text(span);
        let number = match text.strip_prefix(['$', '?']) {
            // A bare question mark has the number after the greatest one so far.
            Some("") => Some(last + 1),
            Some(digits) => digits.parse().ok(),
            None => None,
        };
        if let Some(number) = number {
            last = last.max(number);
            numbers.entry(name.to_owned()).or_insert((number, span));
        }
    }
    numbers
}

impl Pair<'_> {
    /// Parameters that have one number on this page and another one on that: whoever binds by number binds another
    /// value. Where something else differs that may be the reason, it is told there.
    pub(super) fn numbers(&mut self) {
        let (ours, theirs) = (of(self.sources, self.sqlite), of(self.sources, self.pg));
        let both = |(name, (number, span)): (&String, &(u32, Span))| {
            let (other, facing) = theirs.get(name)?;
            (number != other).then(|| (name.clone(), (*number, *span), (*other, *facing)))
        };
        let differing: Vec<_> = ours.iter().filter_map(both).collect();
        let Some((param, (number, span), (other, facing))) = differing.first() else { return };
        let told = differing.iter().map(|(name, (number, _), (other, _))| format!("{name} {number} {other}"));
        let seal = digest::seal(&told.collect::<Vec<_>>().join("; "));
        if self.waive(Kind::Params, param, &seal, &[], self.whole()).is_some() {
            return;
        }
        let order = format!("`{param}` is parameter {number} on SQLite and {other} on Postgres");
        if let Some(first) = self.found.iter_mut().find(|finding| finding.seal.is_some()) {
            first.seal = first.seal.as_ref().map(|own| digest::seal(&format!("{own} {seal}")));
            first.notes.push(order);
            return;
        }
        let message = format!("{}: the pages number their parameters differently ({order})", self.name());
        let found = Diagnostic::error(rule::PARAM_ORDER_DIFFERS, message, *span, format!("number {number}"))
            .and(*facing, format!("number {other}"))
            .help("write the parameters in one order on both pages, if the program binds them by number")
            .help(report::declaration(Kind::Params, ""));
        self.found.push(found.sealed(seal));
    }
}

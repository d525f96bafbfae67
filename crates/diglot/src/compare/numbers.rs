//! Parameters by their numbers, for callers that bind by number on both databases.

use std::collections::{BTreeMap, BTreeSet};

use super::{Pair, report};
use crate::diagnostic::Diagnostic;
use crate::digest;
use crate::facts::Kind;
use crate::infer::PageOf;
use crate::rule;
use crate::source::{Sources, Span};
use crate::tree::{Body, Part};

/// The numbers of the parameters that are bound by number, by name, and where each stands first.
fn of(sources: &Sources, page: &PageOf<'_>) -> BTreeMap<String, (u32, Span)> {
    let mut uses: Vec<(&str, Span)> = page.tree.params.iter().map(|param| (param.name.as_str(), param.span)).collect();
    uses.sort_by_key(|(_, span)| *span);
    let (mut numbers, mut last, mut named) = (BTreeMap::new(), 0, BTreeSet::new());
    for (name, span) in uses {
        let text = sources.text(span);
        let number = match text.strip_prefix(['$', '?']) {
            // A bare question mark has the number after the greatest one so far.
            Some("") => Some(last + 1),
            Some(digits) => digits.parse().ok(),
            // A name has the next number too.
            None => {
                last += u32::from(named.insert(name));
                None
            }
        };
        if let Some(number) = number {
            last = last.max(number);
            numbers.entry(name.to_owned()).or_insert((number, span));
        }
    }
    numbers
}

/// The names of the parameters of an INSERT in the order of the text, where none has a number.
fn in_order<'p>(page: &'p PageOf<'_>) -> Option<Vec<(&'p str, Span)>> {
    let is_insert = |part: &Part| matches!(part.body, Body::Insert(_));
    let mut uses: Vec<(&str, Span)> = page.tree.params.iter().map(|param| (param.name.as_str(), param.span)).collect();
    uses.sort_by_key(|(_, span)| *span);
    let mut seen = BTreeSet::new();
    uses.retain(|(name, _)| seen.insert(*name));
    (page.tree.parts.iter().any(is_insert) && page.tree.params.iter().all(|param| param.number.is_none()))
        .then_some(uses)
}

impl Pair<'_> {
    /// Parameters that one page of an INSERT names in another order than that of their numbers on the other: whoever binds
    /// the values that a list of names gives, one after the other, stores them in each other's columns.
    fn named_beside_numbers(&mut self) {
        let sides = [(self.sqlite, self.pg), (self.pg, self.sqlite)];
        let swapped = sides.into_iter().find_map(|(named, numbered)| {
            let (names, numbers) = (in_order(named)?, of(self.sources, numbered));
            let given = names.iter().map(|(name, _)| numbers.get(*name)).collect::<Option<Vec<_>>>()?;
            let mut places = (1..).zip(names.iter().zip(given));
            places.find_map(|(place, ((name, at), (number, facing)))| {
                (place != *number).then(|| ((*name).to_owned(), place, *at, *number, *facing))
            })
        });
        let Some((param, place, at, number, facing)) = swapped else { return };
        if self.waive(Kind::Params, &param, &digest::seal(&param), &[], self.whole()).is_some() {
            return;
        }
        let message = format!("{}: `{param}` is named as number {place} and numbered as {number}", self.name());
        let found = Diagnostic::warning(rule::PARAM_ORDER_DIFFERS, message, at, format!("named as number {place}"))
            .and(facing, format!("number {number}"))
            .help("write columns and values in one order on both pages")
            .help(report::declaration(Kind::Params, ""));
        self.found.push(found);
    }

    /// Parameters that have one number on this page and another one on that: whoever binds by number binds another
    /// value. Where something else differs that may be the reason, it is told there.
    pub(super) fn numbers(&mut self) {
        let (ours, theirs) = (of(self.sources, self.sqlite), of(self.sources, self.pg));
        let both = |(name, (number, span)): (&String, &(u32, Span))| {
            let (other, facing) = theirs.get(name)?;
            (number != other).then(|| (name.clone(), (*number, *span), (*other, *facing)))
        };
        let differing: Vec<_> = ours.iter().filter_map(both).collect();
        // Of what one page alone binds the numbers are part of what the baseline knows.
        let alone = |own: &BTreeMap<String, (u32, Span)>, facing: &BTreeMap<String, (u32, Span)>| {
            let lone = own.iter().filter(|(name, _)| !facing.contains_key(*name));
            lone.map(|(name, (number, _))| format!("{name} {number}")).collect::<Vec<_>>()
        };
        let lone = [alone(&ours, &theirs), alone(&theirs, &ours)].concat().join("; ");
        if let Some(first) = self.found.iter_mut().find(|finding| finding.seal.is_some()).filter(|_| !lone.is_empty()) {
            first.seal = first.seal.as_ref().map(|own| digest::seal(&format!("{own} {lone}")));
        }
        let Some((param, (number, span), (other, facing))) = differing.first() else {
            return self.named_beside_numbers();
        };
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

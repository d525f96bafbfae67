//! Preludes and shared parts: each part of a unit gets the CTEs that it names.

use std::collections::{BTreeMap, BTreeSet};

use super::{Body, Splitter, bound, with};
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::page::{Annotation, Argument, Bound, CteText, Guard, Page, Prelude, RawPart, RawStatement, SharedPart, Use};
use crate::rule;
use crate::source::{Sources, Span};

impl Splitter<'_> {
    /// Whether a list of CTEs is no part of the statement behind it: nothing comes behind it; SQLite, which knows no CTE that
    /// writes, runs those as statements of their own; or a shared part may name one of them.
    pub(super) fn stands_alone(&self, list: &with::With, read: &Body) -> bool {
        let is_for_others = !read.uses.is_empty() && read.parts.is_empty();
        list.rest.is_none() || is_for_others || self.page.dialect == Dialect::Sqlite && list.prelude.writes()
    }

    /// Takes a list of CTEs that stands alone. One behind which a statement is open goes on with the list before it.
    pub(super) fn prelude(&mut self, owner: &str, prelude: Prelude, is_open: bool, read: &mut Body) {
        if let Some(first) = read.prelude.as_mut().filter(|_| is_open && read.parts.is_empty()) {
            first.span = first.span.to(prelude.span);
            first.recursive |= prelude.recursive;
            first.ctes.extend(prelude.ctes);
        } else if let Some(first) = &read.prelude {
            let message = format!("{owner}: two lists of CTEs stand alone");
            let finding = Diagnostic::error(rule::BAD_PRELUDE, message, prelude.span, "the second one");
            self.found.push(finding.context(first.span, "the first one").help("make them one list"));
        } else if let Some(part) = read.parts.first() {
            let message = format!("{owner}: a list of CTEs stands alone behind a statement");
            let finding = Diagnostic::error(rule::BAD_PRELUDE, message, prelude.span, "which statement is it for?");
            self.found.push(finding.context(part.span, "behind this").help("put it before the first statement"));
        } else {
            read.prelude = Some(prelude);
        }
    }

    /// Takes `-- require: NAME`.
    pub(super) fn requires(&mut self, name: String, span: Span, owner: &str, read: &mut Body) {
        if let Some(first) = &read.guard {
            let message = format!("{owner}: two CTEs are required");
            let finding = Diagnostic::error(rule::BAD_GUARD, message, span, "the second one");
            self.found.push(finding.context(first.span, "the first one").help("join them in one CTE"));
            return;
        }
        read.guard = Some(Guard { name, span, given: Vec::new() });
    }

    /// Reads what `-- part: NAME` begins.
    pub(super) fn shared(&mut self, name: &str, start: usize, mark: usize, end: usize) {
        let line = self.comment(self.tokens[mark]).span();
        let takes = self.comment(self.tokens[mark]).taken(name).unwrap_or_else(|finding| {
            self.found.push(finding);
            Vec::new()
        });
        let mut read = Body::default();
        let docs = self.above(start, mark, name, &mut read);
        for token in &self.tokens[mark + 1..end] {
            self.token(*token, name, &mut read);
        }
        self.close(name, &mut read);
        let unterminated = self.unterminated(name, &self.tokens[mark + 1..end]);
        for annotation in std::mem::take(&mut read.tail) {
            self.stray_at(annotation.span);
        }
        let other = read.parts.first().map(|part| part.span).or(read.optional.first().map(|part| part.mark));
        match (read.prelude, other) {
            (Some(prelude), None) => {
                let (name, annotations, uses) = (name.to_owned(), read.annotations, read.uses);
                let guard = read.guard;
                self.page.shared.push(SharedPart { name, mark: line, takes, docs, annotations, uses, guard, prelude });
            }
            (_, other) if !unterminated => {
                let message = format!("{name}: a shared part is a list of CTEs and nothing else");
                let label = if other.is_some() { "no list of CTEs" } else { "nothing below this line" };
                let finding = Diagnostic::error(rule::BAD_PRELUDE, message, other.unwrap_or(line), label);
                self.found.push(finding.help("write `WITH name AS (…);` below its line"));
            }
            _ => {}
        }
    }
}

/// Gives every part of every unit the CTEs that it names.
pub(crate) fn compose(sources: &Sources, pages: &mut [Page]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for dialect in Dialect::ALL {
        let of = |page: &&Page| page.dialect == dialect;
        let mut shared: BTreeMap<String, SharedPart> = BTreeMap::new();
        for part in pages.iter().filter(of).flat_map(|page| &page.shared) {
            if let Some(first) = shared.get(&part.name) {
                let message = format!("two shared parts of the {} pages are named `{}`", dialect.title(), part.name);
                let finding = Diagnostic::error(rule::BAD_PRELUDE, message, part.mark, "the second one");
                found.push(finding.context(first.mark, "the first one").help("give one of them another name"));
                continue;
            }
            shared.insert(part.name.clone(), part.clone());
        }
        let mut composer = Composer { sources, dialect, shared: &shared, used: BTreeSet::new(), found: &mut found };
        let statements = pages.iter_mut().filter(|page| page.dialect == dialect).flat_map(|page| &mut page.statements);
        statements.for_each(|raw| composer.statement(raw));
        let used = composer.used;
        for part in shared.values() {
            for param in bound::unused(sources, dialect, part) {
                let message =
                    format!("the shared part `{}` has no place for `{}`, which it takes", part.name, param.name);
                let finding = Diagnostic::error(rule::BAD_PRELUDE, message, param.span, "not used");
                let place = if param.is_value { format!(":{}", param.name) } else { param.name.clone() };
                found.push(finding.help(format!("write `{place}` where it belongs, or take it out of the brackets")));
            }
        }
        for part in shared.values().filter(|part| !used.contains(&part.name)) {
            let message = format!("no statement uses the shared part `{}`", part.name);
            let finding = Diagnostic::error(rule::BAD_PRELUDE, message, part.mark, "not used");
            found.push(finding.help(format!("write `-- use: {}` at a statement, or delete it", part.name)));
        }
    }
    found
}

struct Composer<'a> {
    sources: &'a Sources,
    dialect: Dialect,
    shared: &'a BTreeMap<String, SharedPart>,
    used: BTreeSet<String>,
    found: &'a mut Vec<Diagnostic>,
}

/// A CTE that a unit has at hand.
struct AtHand<'a> {
    cte: &'a CteText,
    recursive: bool,
    /// The line that brought it, when it is of a shared part.
    by: Option<&'a Use>,
}

impl<'a> Composer<'a> {
    fn statement(&mut self, raw: &mut RawStatement) {
        if raw.prelude.is_none() && raw.uses.is_empty() && raw.guard.is_none() {
            return;
        }
        // A page may be composed again.
        raw.parts.retain(|part| part.cte.is_none());
        raw.bound.clear();
        let (uses, prelude) = (raw.uses.clone(), raw.prelude.clone());
        let mut at_hand = Vec::new();
        let mut open = Vec::new();
        for used in &uses {
            self.take(raw, (used, used, &[]), &mut open, &mut at_hand);
        }
        let own = prelude.iter().flat_map(|prelude| prelude.ctes.iter().map(|cte| (cte, prelude.recursive)));
        at_hand.extend(own.map(|(cte, recursive)| AtHand { cte, recursive, by: None }));
        self.repeated(&raw.name, &at_hand);
        let reads: Vec<Vec<usize>> = at_hand.iter().map(|one| self.named(one.cte.span, &raw.bound, &at_hand)).collect();
        let mut given = BTreeSet::new();
        let mut last = raw.parts.len().saturating_sub(1);
        if self.dialect == Dialect::Sqlite {
            let writing = at_hand.iter().enumerate().filter(|(_, one)| one.cte.writes);
            let (places, parts): (Vec<usize>, Vec<RawPart>) =
                writing.map(|(at, one)| (at, statement_of(one.cte))).unzip();
            given.extend(places);
            raw.parts.splice(last..last, parts);
            last = raw.parts.len().saturating_sub(1);
        }
        let bound = &raw.bound;
        for (at, part) in raw.parts.iter_mut().enumerate() {
            let mut wanted = self.named(part.span, bound, &at_hand);
            match self.dialect {
                // What one statement returned is not in another one's text.
                Dialect::Sqlite => wanted.retain(|one| !at_hand[*one].cte.writes),
                // What writes does so whether or not anything reads what it returns.
                Dialect::Pg => wanted.extend((0..at_hand.len()).filter(|one| at == last && at_hand[*one].cte.writes)),
            }
            let wanted = in_order(&wanted, &reads);
            part.recursive = wanted.iter().any(|at| at_hand[*at].recursive);
            part.given = wanted.iter().map(|at| at_hand[*at].cte.span).collect();
            given.extend(wanted);
        }
        if let Some(guard) = &mut raw.guard {
            let named: Vec<usize> = (0..at_hand.len()).filter(|at| at_hand[*at].cte.name == guard.name).collect();
            guard.given = in_order(&named, &reads).into_iter().map(|at| at_hand[at].cte.span).collect();
            if named.is_empty() {
                let message = format!("{}: no CTE of its prelude and shared parts is named `{}`", raw.name, guard.name);
                let finding = Diagnostic::error(rule::BAD_GUARD, message, guard.span, "not known");
                self.found.push(finding.help(format!("open the unit with `WITH {} AS (…);`", guard.name)));
            }
        }
        self.unused(&raw.name, &at_hand, &given);
    }

    /// Takes in a shared part with those that it needs.
    fn take<'u>(
        &mut self,
        raw: &mut RawStatement,
        (by, used, around): (&'u Use, &Use, &[Argument]),
        open: &mut Vec<String>,
        at_hand: &mut Vec<AtHand<'u>>,
    ) where
        'a: 'u,
    {
        let shared = self.shared;
        let Some(part) = shared.get(&used.name) else {
            let message = format!("{}: there is no shared part `{}`", raw.name, used.name);
            let finding = Diagnostic::error(rule::BAD_PRELUDE, message, used.span, "not known");
            let near = shared.keys().find(|known| strsim::osa_distance(known, &used.name) <= 2);
            self.found.push(match near {
                Some(near) => finding.help(format!("write `-- use: {near}`")),
                None => finding.help(format!("write `-- part: {}` above a list of CTEs", used.name)),
            });
            return;
        };
        self.used.insert(part.name.clone());
        if open.contains(&used.name) {
            return;
        }
        let arguments = bound::arguments((&raw.name, used), part, around, self.found);
        let places = bound::places(self.sources, self.dialect, part.prelude.span, &arguments);
        if at_hand.iter().any(|one| part.prelude.ctes.iter().any(|cte| cte.span == one.cte.span)) {
            let is_other = |place: &Bound| {
                let mut known = raw.bound.iter().filter(|known| known.place == place.place);
                known.any(|known| known.argument.text != place.argument.text)
            };
            if places.iter().any(is_other) {
                let message = format!("{}: `{}` is used twice, with other arguments", raw.name, part.name);
                let finding = Diagnostic::error(rule::BAD_PRELUDE, message, used.span, "the second time");
                self.found.push(finding.help("a statement has a shared part once: write the other one out"));
            }
            return;
        }
        raw.bound.extend(places);
        open.push(used.name.clone());
        for inner in &part.uses {
            self.take(raw, (by, inner, &arguments), open, at_hand);
        }
        open.pop();
        let is_new = |annotation: &&Annotation| raw.annotations.iter().all(|known| known.span != annotation.span);
        let new: Vec<Annotation> = part.annotations.iter().filter(is_new).cloned().collect();
        raw.annotations.extend(new);
        raw.guard = raw.guard.take().or_else(|| part.guard.clone());
        let recursive = part.prelude.recursive;
        at_hand.extend(part.prelude.ctes.iter().map(|cte| AtHand { cte, recursive, by: Some(by) }));
    }

    /// The CTEs at hand that a text names.
    fn named(&self, place: Span, bound: &[Bound], at_hand: &[AtHand<'_>]) -> Vec<usize> {
        let names = with::sources(&bound::substituted(self.sources, place, bound), self.dialect);
        let is_named = |one: &AtHand<'_>| one.cte.span != place && names.contains(&one.cte.name);
        at_hand.iter().enumerate().filter(|(_, one)| is_named(one)).map(|(at, _)| at).collect()
    }

    fn repeated(&mut self, name: &str, at_hand: &[AtHand<'_>]) {
        for (at, one) in at_hand.iter().enumerate() {
            if let Some(first) = at_hand[..at].iter().find(|first| first.cte.name == one.cte.name) {
                let message = format!("{name}: two CTEs of its prelude and shared parts are named `{}`", one.cte.name);
                let finding = Diagnostic::error(rule::BAD_PRELUDE, message, one.cte.span, "the second one");
                self.found.push(finding.context(first.cte.span, "the first one").help("give one of them another name"));
            }
        }
    }

    /// What no part names.
    fn unused(&mut self, name: &str, at_hand: &[AtHand<'_>], given: &BTreeSet<usize>) {
        let mut told = BTreeSet::new();
        for (at, one) in at_hand.iter().enumerate().filter(|(at, _)| !given.contains(at)) {
            let served = |by: &Use| {
                at_hand
                    .iter()
                    .enumerate()
                    .any(|(at, other)| given.contains(&at) && other.by.is_some_and(|other| other.span == by.span))
            };
            match one.by {
                Some(by) if served(by) || !told.insert(by.span) => {}
                Some(by) => {
                    let message = format!("{name}: no statement of it names a CTE of `{}`", by.name);
                    let finding = Diagnostic::error(rule::BAD_PRELUDE, message, by.span, "not used");
                    self.found.push(finding.help("delete the line"));
                }
                None => {
                    let message = format!("{name}: no statement of the unit names `{}`", at_hand[at].cte.name);
                    let finding = Diagnostic::error(rule::BAD_PRELUDE, message, one.cte.span, "not used");
                    self.found.push(finding.help("delete it"));
                }
            }
        }
    }
}

/// A CTE that writes as the statement that it is on SQLite.
fn statement_of(cte: &CteText) -> RawPart {
    RawPart { cte: Some(cte.clone()), ..RawPart::new(cte.body, None) }
}

/// CTEs with those that they name, each behind what it needs.
fn in_order(wanted: &[usize], reads: &[Vec<usize>]) -> Vec<usize> {
    fn visit(at: usize, reads: &[Vec<usize>], seen: &mut BTreeSet<usize>, order: &mut Vec<usize>) {
        if seen.insert(at) {
            reads[at].iter().for_each(|needed| visit(*needed, reads, seen, order));
            order.push(at);
        }
    }
    let all = |from: &[usize]| {
        let (mut seen, mut order) = (BTreeSet::new(), Vec::new());
        from.iter().for_each(|at| visit(*at, reads, &mut seen, &mut order));
        order
    };
    // They stay as they are written where nothing asks for another order.
    let mut sorted = all(wanted);
    sorted.sort_unstable();
    all(&sorted)
}

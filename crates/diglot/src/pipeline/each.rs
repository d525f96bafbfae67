//! Lists that face a statement for one row: `-- each: NAME`.
//!
//! No text of such a list can be held against the facing page, whose statement is about one row. So running decides alone:
//! the list on one engine against one call after the other on the other engine. What is not recorded is a finding.

use super::optional::{self, Reading};
use super::pairs::{Entry, each};
use super::weighing::differs;
use super::{Run, StatementFacts, Weighed};
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::evidence::Verdict;
use crate::infer::Signature;
use crate::page::ORDINALITY;
use crate::rule;
use crate::source::Span;

/// A list, with the statement whose work it does for each of its rows.
struct Pair<'a> {
    list: &'a Entry<'a>,
    one: &'a Entry<'a>,
    span: Span,
}

impl Run<'_> {
    /// Weighs the lists that face a statement for one row.
    pub(super) fn weigh_lists(&mut self, entries: &[Entry<'_>]) {
        for list in entries {
            let Some((name, span)) = list.sides.first().and_then(|side| each(side.raw)) else { continue };
            match self.facing_one(entries, list, name, span) {
                Ok(Some(pair)) => self.weigh_list(&pair),
                Ok(None) => {}
                Err(finding) => self.found.push(*finding),
            }
        }
    }

    /// The statement for one row, if both have functions.
    fn facing_one<'e>(
        &self,
        entries: &'e [Entry<'e>],
        list: &'e Entry<'e>,
        name: &str,
        span: Span,
    ) -> Result<Option<Pair<'e>>, Box<Diagnostic>> {
        let wrong = |words: String, label: &str, help: &str| {
            let message = format!("{}: {words}", list.name);
            Err(Box::new(Diagnostic::error(rule::UNKNOWN_ANNOTATION, message, span, label.to_owned()).help(help)))
        };
        if list.sides.iter().any(|side| side.dialect == Dialect::Sqlite) {
            return wrong(
                "`-- each` is for a list of Postgres that faces a statement of SQLite".to_owned(),
                "stands on the SQLite page",
                "SQLite has one writer: run the statement for one row once for each, in one transaction",
            );
        }
        let Some(one) = entries.iter().find(|one| one.name == name && one.dialects.contains(&Dialect::Sqlite)) else {
            return wrong(
                format!("the SQLite page has no statement `{name}`"),
                "names no statement",
                "name the statement that does for one row what this one does for each",
            );
        };
        let signature = |name: &str| self.signatures.iter().find(|signature| signature.name == name);
        let (Some(of_list), Some(of_one)) = (signature(list.name), signature(name)) else { return Ok(None) };
        match unfit(of_list, of_one) {
            Some(words) => wrong(words, "does not fit", "let both take and give the same values under the same names"),
            None => Ok(Some(Pair { list, one, span })),
        }
    }

    fn weigh_list(&mut self, pair: &Pair<'_>) {
        let Pair { list, one, span } = *pair;
        let basis = self.basis_of_list(pair);
        let verdict = self.shared.evidence.and_then(|evidence| evidence.of(list.name, &basis)).cloned();
        let unproved = |words: &str| {
            let message = format!("{}: {words}", list.name);
            let label = format!("for each row what `{}` does on the SQLite page", one.name);
            Diagnostic::error(rule::UNPROVED_LIST, message, span, label)
        };
        let mut open = false;
        match &verdict {
            _ if self.shared.inputs.asking => {}
            Some(Verdict::Same(_)) => self.said_nothing(list, rule::UNPROVED_LIST, None),
            Some(Verdict::Differs(witness)) => {
                let sides = one.sides.iter().filter(|side| side.dialect == Dialect::Sqlite).chain(&list.sides);
                let (sides, dialects) = (sides.copied().collect(), Dialect::ALL.to_vec());
                let facing = Entry { sides, dialects, noun: list.noun, name: list.name, whole: true };
                self.found.extend(differs(&facing, witness, self.shared.inputs.detail));
            }
            Some(Verdict::Unknown { reason }) => {
                let finding = unproved(&format!("running says nothing: {reason}"));
                self.said_nothing(list, rule::UNPROVED_LIST, Some(finding));
            }
            None => {
                open = true;
                self.found.push(
                    unproved("nothing is recorded of what running it shows")
                        .help("run it on both engines: `cargo diglot prepare`"),
                );
            }
        }
        let Some(place) = list.sides.first().map(|side| side.raw.name_span) else { return };
        self.weighed.push(Weighed { name: list.name.to_owned(), place, basis, by_law: false, open, verdict });
    }

    fn basis_of_list(&self, pair: &Pair<'_>) -> String {
        let names = [pair.list.name, pair.one.name];
        let texts = self.texts.iter().filter(|text| names.contains(&text.name.as_str()));
        let mut all: Vec<String> = texts.map(|text| text.sql.clone()).collect();
        let signatures = self.signatures.iter().filter(|signature| names.contains(&signature.name.as_str()));
        all.extend(signatures.map(|signature| format!("{:?}{:?}", signature.params, signature.rows)));
        let sides = pair.list.sides.iter().chain(&pair.one.sides);
        let annotations = sides.flat_map(|side| &side.raw.annotations);
        let answers = annotations.filter(|annotation| annotation.kind.is_about_answers());
        all.extend(answers.map(|annotation| self.shared.inputs.sources.text(annotation.span).to_owned()));
        let tables = [pair.list, pair.one].into_iter().flat_map(|entry| {
            let variant = optional::variants(entry).into_iter().next().unwrap_or_default();
            let (reading, _) = Reading::of(&self.shared.inputs.sources, self.shared.schemas, entry, variant);
            StatementFacts::of(entry.name, &reading, Vec::new()).tables
        });
        self.shared.basis.of(all.iter().map(String::as_str), tables.collect())
    }
}

/// Why a list cannot face a statement for one row.
fn unfit(list: &Signature, one: &Signature) -> Option<String> {
    let name = &one.name;
    let Some(rows) = &list.rows else {
        return Some("it takes no list of rows, so there is nothing to do for each".into());
    };
    if let Some(param) = list.params.first() {
        return Some(format!("it takes `{}` beside its rows, which no call of `{name}` has", param.name));
    }
    let field = |name: &str| rows.fields.iter().any(|field| field.name == name);
    let param = |name: &str| one.params.iter().any(|param| param.name == name);
    if let Some(field) = rows.fields.iter().find(|field| !param(&field.name)) {
        return Some(format!("its rows have `{}`, which `{name}` does not take", field.name));
    }
    if let Some(by) = rows.calls.as_ref().and_then(|calls| calls.by.as_ref()).filter(|by| !field(by)) {
        return Some(format!("its rows have no `{by}` by which calls could go together"));
    }
    let given =
        |column: &str| column == ORDINALITY || field(column) || one.columns.iter().any(|own| own.name == column);
    let column = list.columns.iter().find(|column| !given(&column.name))?;
    Some(format!("it gives `{}`, which `{name}` does not give", column.name))
}

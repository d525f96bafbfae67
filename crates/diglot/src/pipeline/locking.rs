//! The locks of all statements: where they are collected, and put together in the end.

use std::collections::BTreeSet;

use super::Run;
use super::pairs::Entry;
use crate::config::FILE as CONFIG;
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::page::AnnotationKind;
use crate::rule;
use crate::source::Span;
use crate::{locks, rules};

impl Run<'_> {
    /// Notes what a statement locks on its Postgres page.
    pub(super) fn lock(&mut self, entry: &Entry<'_>, summaries: &[locks::Summary]) {
        let Some(side) = entry.sides.iter().find(|side| side.dialect == Dialect::Pg) else { return };
        let run = |summary: &locks::Summary| locks::Run {
            name: entry.name.to_owned(),
            span: side.raw.span,
            summary: summary.clone(),
        };
        self.locks.extend(summaries.iter().filter(|summary| !summary.is_empty()).map(run));
    }

    /// Puts together what all statements lock, and finds what must not be.
    pub(super) fn lock_lints(&mut self, entries: &[Entry<'_>]) -> locks::Graph {
        let (config, schema) = (&self.shared.inputs.config, &self.shared.schemas.pg);
        let mut transactions = self.shared.inputs.transactions.clone();
        for statements in transactions.values_mut() {
            statements.retain(|name| entries.iter().any(|entry| entry.name == name.as_str()));
        }
        transactions.extend(config.transactions.clone());
        let listed: BTreeSet<String> = transactions.keys().cloned().collect();
        let mut allowed = Vec::new();
        for entry in entries {
            for annotation in entry.sides.iter().flat_map(|side| &side.raw.annotations) {
                match &annotation.kind {
                    AnnotationKind::Transaction { name } if !listed.contains(name) => {
                        let statements = transactions.entry(name.clone()).or_default();
                        if !statements.iter().any(|known| known == entry.name) {
                            statements.push(entry.name.to_owned());
                        }
                    }
                    AnnotationKind::Allow { rule, .. } => allowed.push((entry.name, rule.as_str(), annotation.span)),
                    _ => {}
                }
            }
        }
        if config.locks.is_some() || !transactions.is_empty() {
            self.unknown_names(entries);
        }
        let mut graph = locks::Graph::new(std::mem::take(&mut self.locks), &transactions, config.locks.as_ref());
        let excused = allowed.iter().filter(|(_, rule, _)| *rule == rule::LOCK_ORDER.name);
        graph.excuse(excused.map(|(name, ..)| (*name).to_owned()));
        self.found.extend(rules::lock::locked::check(config, &transactions, schema, &graph, &allowed));
        graph
    }

    /// Finds names in `[locks]` and `[transactions]` that nothing has.
    fn unknown_names(&mut self, entries: &[Entry<'_>]) {
        let (config, schema) = (&self.shared.inputs.config, &self.shared.schemas.pg);
        let Some((file, source)) = self.shared.inputs.sources.iter().find(|(_, file)| file.path == CONFIG) else {
            return;
        };
        let said = config.locks.iter();
        let tables =
            said.flat_map(|said| said.order.iter().chain(said.under.iter().flat_map(|(name, above)| [name, above])));
        let unknown_tables = tables.filter(|table| !schema.tables.contains_key(*table)).map(|name| (name, "table"));
        let named = config.transactions.values().flatten();
        let is_there = |name: &&String| entries.iter().any(|entry| entry.name == name.as_str());
        let unknown = named.filter(|name| !is_there(name)).map(|name| (name, "statement")).chain(unknown_tables);
        for (name, kind) in unknown {
            let at = source
                .text
                .find(&format!("\"{name}\""))
                .or_else(|| source.text.find(name.as_str()))
                .unwrap_or_default();
            let message = format!("there is no {kind} `{name}`");
            let span = Span::new(file, at..at + name.len());
            let finding = Diagnostic::error(rule::BAD_CONFIG, message, span, "not known");
            self.found.push(finding.help(format!("write the name of a {kind} of the Postgres pages, or remove it")));
        }
    }
}

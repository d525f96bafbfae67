//! A project that is read once, so that many changes of one page can be tried on it.

use std::collections::BTreeSet;

use super::optional::Reading;
use super::pairs::{self, Pairing, Side};
use super::schemas::settled_schemas;
use super::{common, declared, has_errors, read_pages, stripped};
use crate::baseline::{self, Baseline, Key};
use crate::diagnostic::{Diagnostic, Severity};
use crate::dialect::{Both, Dialect};
use crate::emitted::{EmittedText, Variant};
use crate::infer::{PageOf, Signature};
use crate::page::{Annotation, AnnotationKind, Lent, Page, RawStatement};
use crate::project::Inputs;
use crate::rule::{self, Rule};
use crate::schema::Schema;
use crate::source::{FileId, Sources, Span};
use crate::tree::Statement;
use crate::{compare, emit, infer, resolve, rules, split};

pub struct ReadProject<'a> {
    inputs: &'a Inputs,
    pages: Vec<Page>,
    schemas: Both<Schema>,
    /// What is declared of the schemas and of the migrations.
    declared: Vec<Annotation>,
    /// Columns, by table, into which no program writes NULL.
    never_null: BTreeSet<(String, String)>,
}

/// A pair of which one page has another text.
struct Changed<'c> {
    sources: &'c Sources,
    entry: &'c pairs::Entry<'c>,
    reading: &'c Reading,
    /// Whether both pages can be read.
    is_read: bool,
    /// What was found while they were read.
    found: Vec<Diagnostic>,
}

/// A pair of which no function can be made.
pub struct Partial {
    /// What is known of its parameters and columns.
    pub known: infer::PartialSignature,
    /// What its texts are made with.
    pub signature: Signature,
    pub trees: Both<Statement>,
    pub texts: Both<EmittedText>,
}

impl<'a> ReadProject<'a> {
    pub fn read(inputs: &'a Inputs) -> Self {
        let mut found = Vec::new();
        let pages = read_pages(inputs, &mut found);
        let (schemas, declared) = settled_schemas(inputs, &mut found);
        Self { inputs, pages, schemas, declared, never_null: inputs.config.prove.never_null() }
    }

    /// The statements and migrations of which a rule is allowed that no page breaks by itself, and where that is said.
    pub fn allowed(&self, rule: Rule) -> Vec<(String, Span)> {
        let named = |annotation: &Annotation, name: Option<&str>| {
            let AnnotationKind::Allow { rule: said, .. } = &annotation.kind else { return None };
            let item = said.strip_prefix(rule.name)?;
            let item = if item.is_empty() { name? } else { item.strip_prefix('.')? };
            Some((item.to_owned(), annotation.span))
        };
        let statements = self.pages.iter().flat_map(|page| &page.statements);
        let of_pages = statements.flat_map(|raw| raw.annotations.iter().map(|said| (said, Some(raw.name.as_str()))));
        let of_schemas = self.declared.iter().map(|said| (said, None));
        of_pages.chain(of_schemas).filter_map(|(said, name)| named(said, name)).collect()
    }

    /// The schemas of SQLite and of Postgres.
    pub fn schemas(&self) -> &Both<Schema> {
        &self.schemas
    }

    /// The names of all statements that both pages have.
    pub fn pairs(&self) -> Vec<String> {
        let mut ignored = Vec::new();
        let baseline = Baseline::default();
        let (places, lockstep) = (&self.inputs.config.sql, self.inputs.config.lockstep);
        let entries = Pairing { places, lockstep, baseline: &baseline }.entries(&self.pages, &mut ignored);
        entries.into_iter().filter(|entry| entry.sides.len() == 2).map(|entry| entry.name.to_owned()).collect()
    }

    /// The lists that face a statement for one row, with its name.
    pub fn lists(&self) -> impl Iterator<Item = (&str, &str)> {
        let statements = self.pages.iter().flat_map(|page| &page.statements);
        statements.filter_map(|raw| Some((raw.name.as_str(), pairs::each(raw)?.0)))
    }

    fn statements(&self, name: &str) -> impl Iterator<Item = &RawStatement> {
        self.pages.iter().flat_map(|page| &page.statements).filter(move |raw| raw.name == name)
    }

    /// Where the name of a statement stands on its pages.
    pub fn places(&self, name: &str) -> Vec<Span> {
        self.statements(name).map(|raw| raw.name_span).collect()
    }

    /// The annotations of a statement on its pages.
    pub fn annotations(&self, name: &str) -> impl Iterator<Item = &Annotation> {
        self.statements(name).flat_map(|raw| &raw.annotations)
    }

    /// The tree of a page with all of its optional parts.
    pub fn tree(&self, name: &str, dialect: Dialect) -> Option<Statement> {
        let raw = self.pages.iter().filter(|page| page.dialect == dialect).flat_map(|page| &page.statements);
        let raw = raw.into_iter().find(|raw| raw.name == name)?;
        let schema = &self.schemas[dialect];
        crate::resolve::resolve(&self.inputs.sources, schema, raw, dialect).0
    }

    /// What can be run of a pair of which no function can be made: what is known of it, and both of its texts with
    /// all of their optional parts.
    pub fn partial_signature(&self, name: &str) -> Option<Partial> {
        let sources = &self.inputs.sources;
        let read = |dialect: Dialect| {
            let mut pages = self.pages.iter().filter(|page| page.dialect == dialect);
            let (page, raw) =
                pages.find_map(|page| Some((page, page.statements.iter().find(|raw| raw.name == name)?)))?;
            let tree = self.tree(name, dialect).or_else(|| resolve::unread(sources, raw, dialect))?;
            Some((page, raw, tree))
        };
        let [(page, ours, our_tree), (_, theirs, their_tree)] = [read(Dialect::Sqlite)?, read(Dialect::Pg)?];
        let pages = Both {
            sqlite: PageOf { raw: ours, tree: &our_tree, schema: &self.schemas.sqlite },
            pg: PageOf { raw: theirs, tree: &their_tree, schema: &self.schemas.pg },
        };
        let partial = infer::partial_signature(&self.inputs.config, pages.each_ref());
        let signature = Signature::of_texts(&page.noun, ours, partial.params.clone());
        let texts = pages.each_ref().map(|page| emit::emit(sources, &signature, page));
        Some(Partial { known: partial, signature, trees: Both { sqlite: our_tree, pg: their_tree }, texts })
    }

    /// What is found of a pair when one dialect reads another text in one of the files; none when the pair is no pair
    /// any more.
    pub fn judged(&self, name: &str, dialect: Dialect, file: FileId, text: &str) -> Option<Vec<Key>> {
        self.changed(name, dialect, file, text, |changed| self.keys(name, changed))
    }

    /// The text of one page for its driver when it reads another text in one of the files; none when it cannot be read.
    pub fn emitted(&self, signature: &Signature, dialect: Dialect, file: FileId, text: &str) -> Option<EmittedText> {
        self.changed(&signature.name, dialect, file, text, |changed| {
            let page = changed.reading.page(&self.schemas, dialect).filter(|_| changed.is_read)?;
            Some(emit::emit(changed.sources, signature, &page))
        })?
    }

    /// Reads a pair of which one dialect reads another text in one of the files.
    fn changed<T>(
        &self,
        name: &str,
        dialect: Dialect,
        file: FileId,
        text: &str,
        then: impl FnOnce(Changed<'_>) -> T,
    ) -> Option<T> {
        // Whose file it is, which may be that of both; the other page may have statements in it all the same.
        let has = |dialect: Dialect| self.inputs.statement_files(dialect).iter().any(|(known, _)| *known == file);
        let owner = if has(dialect) { dialect } else { dialect.other() };
        let page = self.pages.iter().find(|page| page.file == file && page.dialect == owner)?;
        let mut sources = self.inputs.sources.clone();
        // The facing page goes on reading the file that is there, in which it may have statements too.
        let other_file = sources.add(sources.file(file).changed(text));
        let readers = common::readers(self.inputs, file);
        let (mut changed, mut found) = split::split(&sources, other_file, (page.dialect, readers), &page.noun);
        // `[names]` and the files of Go and Rust give names that the page does not say.
        let was: Vec<_> = page.statements.iter().filter(|raw| raw.name_span.file == file).collect();
        if changed.statements.len() == was.len() {
            changed.statements.iter_mut().zip(was).for_each(|(own, was)| own.name.clone_from(&was.name));
        }
        let mut own: Vec<Page> = self.pages.iter().filter(|other| other.dialect == dialect).cloned().collect();
        // What the pages share may be what has changed.
        for other in &mut own {
            if page.dialect == dialect && other.file == file {
                // What the facing page has for this one stays as it is.
                changed.statements.extend(other.statements.drain(..).filter(|raw| raw.name_span.file != file));
                changed.shared.extend(other.shared.drain(..).filter(|part| part.mark.file != file));
                *other = changed.clone();
            } else if page.dialect != dialect && other.noun == page.noun {
                other.statements.retain(|raw| raw.name_span.file != file);
                other.shared.retain(|part| part.mark.file != file);
                let Lent { statements, shared, .. } = std::mem::take(&mut changed.lent);
                other.statements.extend(statements);
                other.shared.extend(shared);
            }
        }
        found.extend(declared::declare(self.inputs, &mut own));
        found.extend(split::compose(&sources, &mut own));
        stripped::strip(self.inputs, &sources, &mut own);
        let facing = self.pages.iter().filter(|other| other.dialect != dialect);
        let of = |page: &'_ Page| page.statements.iter().find(|raw| raw.name == name).cloned();
        let page = own.iter().find(|own| own.statements.iter().any(|raw| raw.name == name))?;
        let (raw, other) = (of(page)?, facing.into_iter().find_map(of));
        // A statement that a list of Postgres faces may have no other page.
        if other.is_none() && !self.lists().any(|(_, one)| one == name) {
            return None;
        }
        let mut sides = vec![Side { dialect, raw: &raw }];
        sides.extend(other.as_ref().map(|other| Side { dialect: dialect.other(), raw: other }));
        sides.sort_by_key(|side| side.dialect);
        let entry = pairs::Entry { noun: &page.noun, name, sides, dialects: Dialect::ALL.to_vec(), whole: true };
        let (reading, resolved) = Reading::of(&sources, &self.schemas, &entry, Variant::default());
        let is_read = !has_errors(&resolved);
        found.extend(resolved);
        Some(then(Changed { sources: &sources, entry: &entry, reading: &reading, is_read, found }))
    }

    /// The keys of all errors of a changed pair.
    fn keys(&self, name: &str, changed: Changed<'_>) -> Vec<Key> {
        let Changed { sources, entry, reading, is_read, mut found } = changed;
        let page = |dialect: Dialect| reading.page(&self.schemas, dialect);
        let config = &self.inputs.config;
        let mut unread = None;
        match (page(Dialect::Sqlite), page(Dialect::Pg)) {
            (Some(sqlite), Some(pg)) if is_read => {
                found.extend(compare::compare(config, &self.never_null, sources, &sqlite, &pg, false).found);
                let (signature, findings) =
                    infer::signature(config, entry.noun, page(Dialect::Sqlite), page(Dialect::Pg));
                found.extend(findings);
                found.extend(rules::lint(sources, config, &[&sqlite, &pg], signature.as_ref()));
            }
            _ => {
                let texts = entry.sides.iter().map(|side| baseline::words(sources.text(side.raw.span)));
                unread = Some(texts.collect::<Vec<_>>().join("\u{0}"));
            }
        }
        // An order that differs is an error beside a baseline that does not know it.
        let is_new_order =
            |finding: &Diagnostic| self.inputs.baseline.is_some() && finding.rule == rule::PARAM_ORDER_DIFFERS.name;
        let is_wanted = |finding: &&Diagnostic| {
            let fails = finding.severity == Severity::Error || is_new_order(finding);
            fails && config.generate.asks_for(finding)
        };
        let errors = found.iter().filter(is_wanted);
        let mut keys: Vec<Key> =
            errors.map(|finding| Key::of(sources, finding, name.to_owned(), unread.as_deref())).collect();
        keys.sort();
        keys
    }
}

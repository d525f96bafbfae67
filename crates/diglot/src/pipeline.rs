//! The passes in order.
//!
//! Every pass reports what it finds and hands on what it understood, so that the findings of all files come
//! out at once.

mod pairs;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::config::Config;
use crate::diagnostic::{Diagnostic, Severity};
use crate::dialect::Dialect;
use crate::infer::{self, PageOf, Signature};
use crate::page::Page;
use crate::schema::Schema;
use crate::source::{FileId, Sources};
use crate::tree::Statement;
use crate::types::{Base, Type};
use crate::{answers, codegen, compare, emit, render, resolve, rules, schema, split};
use pairs::{Entry, Side};

/// Everything that the compiler reads.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    /// Configuration.
    pub config: Config,
    /// All files: statement files and migrations of both dialects, told apart by path.
    pub sources: Sources,
    /// The text of `.sqlx/diglot.json`, if there is one.
    pub answers: Option<String>,
    /// The Rust that an earlier run generated, if there is some: stubs of broken statements take their shape
    /// from it.
    pub previous: Option<String>,
    /// Whether answers that are missing or out of date are findings. `prepare` turns it off while it asks.
    pub check_answers: bool,
    /// What was found while the files were read: text that is not UTF-8, a bad `diglot.toml`.
    pub findings: Vec<Diagnostic>,
}

/// What one run gives.
#[derive(Debug, Clone, Default)]
pub struct Compiled {
    /// The generated Rust, formatted. With errors: one `compile_error!` and typed stubs.
    pub rust: String,
    /// All findings, in order of file and place.
    pub diagnostics: Vec<Diagnostic>,
    /// Every generated function.
    pub signatures: Vec<Signature>,
    /// Every emitted SQL text.
    pub texts: Vec<EmittedText>,
}

impl Compiled {
    /// Whether a finding fails the build.
    pub fn has_errors(&self) -> bool {
        has_errors(&self.diagnostics)
    }
}

/// One emitted SQL text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmittedText {
    /// The file's stem.
    pub noun: String,
    /// `noun_verb`.
    pub name: String,
    /// The page.
    pub dialect: Dialect,
    /// The text as it goes to the driver.
    pub sql: String,
    /// Each of its SQL statements alone, without the leading comment, numbered as in the whole.
    pub parts: Vec<String>,
    /// Which of `parts` returns rows.
    pub result: Option<usize>,
    /// The parameters that it uses, in the order of their numbers.
    pub params: Vec<TextParam>,
    /// The columns of its result as the API shows them.
    pub columns: Vec<TextColumn>,
}

/// A parameter of an emitted text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextParam {
    /// Its name.
    pub name: String,
    /// Its type in the generated API.
    pub ty: Type,
}

/// A result column of an emitted text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextColumn {
    /// Its name.
    pub name: String,
    /// The type on this page, where known.
    pub base: Option<Base>,
    /// Whether it may be NULL on either page.
    pub nullable: bool,
    /// Declared by `-- column:`, or kept from NULL by a condition: the engine knows less.
    pub declared: bool,
}

/// Compiles a project. It reads nothing but its input and never panics.
pub fn compile(inputs: &Inputs) -> Compiled {
    let mut found = inputs.findings.clone();
    let pages = read_pages(inputs, &mut found);
    let schemas = Dialect::ALL.map(|dialect| read_schema(inputs, dialect, &mut found));
    let entries = pairs::entries(&inputs.sources, &pages, &mut found);
    let mut run =
        Run { inputs, schemas: &schemas, found, signatures: Vec::new(), texts: Vec::new(), broken: Vec::new() };
    for entry in &entries {
        run.statement(entry);
    }
    run.finish(&entries)
}

fn has_errors(found: &[Diagnostic]) -> bool {
    found.iter().any(|finding| finding.severity == Severity::Error)
}

/// The `.sql` files of a folder and a dialect with their stems, in the order of their names.
fn files<'a>(inputs: &'a Inputs, folder: &str, dialect: Dialect) -> Vec<(FileId, &'a str)> {
    let prefix = format!("{}/{}/", folder.trim_end_matches('/'), dialect.word());
    let mut files: Vec<(FileId, &str)> = inputs
        .sources
        .iter()
        .filter_map(|(id, file)| Some((id, file.path.strip_prefix(&prefix)?.strip_suffix(".sql")?)))
        .collect();
    files.sort_by_key(|(_, stem)| *stem);
    files
}

fn read_pages(inputs: &Inputs, found: &mut Vec<Diagnostic>) -> Vec<Page> {
    let mut pages = Vec::new();
    for dialect in Dialect::ALL {
        for (file, noun) in files(inputs, &inputs.config.sql, dialect) {
            pairs::file_name(file, noun, found);
            let (page, findings) = split::split(&inputs.sources, file, dialect, noun);
            found.extend(findings);
            pages.push(page);
        }
    }
    pages
}

fn read_schema(inputs: &Inputs, dialect: Dialect, found: &mut Vec<Diagnostic>) -> Schema {
    let files: Vec<FileId> = files(inputs, &inputs.config.schema, dialect).into_iter().map(|(id, _)| id).collect();
    let (schema, findings) = schema::read(&inputs.sources, &files, dialect);
    found.extend(findings);
    schema
}

/// The state between two statements.
struct Run<'a> {
    inputs: &'a Inputs,
    schemas: &'a [Schema; 2],
    found: Vec<Diagnostic>,
    signatures: Vec<Signature>,
    texts: Vec<EmittedText>,
    /// Statements of which no signature can be told.
    broken: Vec<codegen::Unknown>,
}

impl Run<'_> {
    /// Resolves, types, compares and emits one pair, or one statement that stands alone.
    fn statement(&mut self, entry: &Entry<'_>) {
        let before = self.found.len();
        let [sqlite, pg] = self.schemas;
        let schema = |dialect: Dialect| match dialect {
            Dialect::Sqlite => sqlite,
            Dialect::Pg => pg,
        };
        let trees: Vec<(Side<'_>, Option<Statement>)> = entry
            .sides
            .iter()
            .map(|side| {
                let (tree, findings) =
                    resolve::resolve(&self.inputs.sources, schema(side.dialect), side.raw, side.dialect);
                self.found.extend(findings);
                (*side, tree)
            })
            .collect();
        let sound = !has_errors(&self.found[before..]) && trees.iter().all(|(_, tree)| tree.is_some());
        let page = |dialect: Dialect| {
            let (side, tree) = trees.iter().find(|(side, _)| side.dialect == dialect)?;
            Some(PageOf { raw: side.raw, tree: tree.as_ref()?, schema: schema(dialect) })
        };
        let config = &self.inputs.config;
        if !sound || !entry.whole {
            let shape = self.shape(entry, page);
            self.give_up(entry, shape);
            return;
        }
        let (signature, findings) = infer::signature(config, entry.noun, page(Dialect::Sqlite), page(Dialect::Pg));
        self.found.extend(findings);
        if let (Some(sqlite), Some(pg)) = (page(Dialect::Sqlite), page(Dialect::Pg)) {
            let findings = compare::compare(&self.inputs.sources, &sqlite, &pg);
            self.found.extend(findings);
        }
        let pages: Vec<PageOf<'_>> = Dialect::ALL.into_iter().filter_map(page).collect();
        let findings = rules::lint(config, &pages.iter().collect::<Vec<_>>());
        self.found.extend(findings);
        let Some(signature) = signature else {
            let shape = self.shape(entry, page);
            self.give_up(entry, shape);
            return;
        };
        let texts: Vec<EmittedText> = Dialect::ALL
            .into_iter()
            .filter_map(page)
            .map(|page| emit::emit(&self.inputs.sources, &signature, &page))
            .collect();
        self.texts.extend(texts);
        self.signatures.push(signature);
    }

    /// What the pages that were understood say of a broken statement, since callers may still name it, and
    /// whether that is the word of one page of two.
    fn shape<'p>(&self, entry: &Entry<'_>, page: impl Fn(Dialect) -> Option<PageOf<'p>>) -> (Option<Signature>, bool) {
        let (config, [_, pg_schema]) = (&self.inputs.config, self.schemas);
        let (sqlite, pg) = (page(Dialect::Sqlite), page(Dialect::Pg));
        if sqlite.is_some()
            && pg.is_some()
            && let (Some(both), _) = infer::signature(config, entry.noun, page(Dialect::Sqlite), page(Dialect::Pg))
        {
            return (Some(both), false);
        }
        // Only SQLite's types leave something for the other schema to make finer.
        let of_pg = pg.and_then(|page| infer::shape(config, entry.noun, &page, None));
        let shape = of_pg.or_else(|| sqlite.and_then(|page| infer::shape(config, entry.noun, &page, Some(pg_schema))));
        (shape, entry.dialects.len() > 1)
    }

    /// Remembers a statement that has errors, with its shape if that is known.
    fn give_up(&mut self, entry: &Entry<'_>, (shape, alone): (Option<Signature>, bool)) {
        self.broken.push(codegen::Unknown {
            noun: entry.noun.to_owned(),
            name: entry.name.to_owned(),
            dialects: entry.dialects.clone(),
            shape,
            alone,
        });
    }

    fn finish(mut self, entries: &[Entry<'_>]) -> Compiled {
        pairs::camel_names(entries, &mut self.found);
        let index = self.inputs.answers.as_deref().and_then(answers::parse);
        if let Some(index) = &index {
            answers::complete(index, &mut self.texts, &mut self.signatures);
        }
        if self.inputs.check_answers && !has_errors(&self.found) {
            let names: BTreeMap<(&str, Dialect), &Side<'_>> = entries
                .iter()
                .flat_map(|entry| entry.sides.iter().map(|side| ((entry.name, side.dialect), side)))
                .collect();
            let place =
                |text: &EmittedText| names.get(&(text.name.as_str(), text.dialect)).map(|side| side.raw.name_span);
            let findings = answers::check(self.inputs, index.as_ref(), &self.texts, place);
            self.found.extend(findings);
        }
        if self.inputs.findings.iter().any(|finding| finding.rule == "bad-config") {
            // Whatever else was found was found with a configuration that nobody wrote.
            self.found.clone_from(&self.inputs.findings);
        }
        self.found.sort_by_key(|finding| {
            let main = finding.labels.iter().find(|label| label.primary).or(finding.labels.first());
            (main.map(|label| label.span), finding.rule)
        });
        let rust = self.rust();
        Compiled { rust, diagnostics: self.found, signatures: self.signatures, texts: self.texts }
    }

    fn rust(&self) -> String {
        let functions = self.signatures.iter().map(|signature| codegen::Function {
            signature,
            texts: self.texts.iter().filter(|text| text.name == signature.name).collect(),
        });
        let api = codegen::Api { config: &self.inputs.config, functions: functions.collect() };
        if !has_errors(&self.found) {
            return codegen::generate(&api);
        }
        let errors: Vec<Diagnostic> =
            self.found.iter().filter(|finding| finding.severity == Severity::Error).cloned().collect();
        let count = errors.len();
        let many = if count == 1 { "" } else { "s" };
        let findings = render::all(&self.inputs.sources, &errors, render::Look::Plain);
        let message = format!("diglot: {count} finding{many} in the SQL of this crate\n\n{findings}");
        if let (Some(previous), true) =
            (&self.inputs.previous, errors.iter().any(|finding| finding.rule == "bad-config"))
        {
            return codegen::behind_error(&message, previous);
        }
        codegen::generate_broken(api, &message, &self.broken, self.inputs.previous.as_deref())
    }
}

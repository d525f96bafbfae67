//! Names of statements that the pages do not give alike.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::FILE as CONFIG;
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::page::Page;
use crate::project::Inputs;
use crate::rule;
use crate::source::{FileId, Span};

/// Puts the noun before names of statements of other languages that several files of a dialect have: there they belong
/// to packages or types.
pub(super) fn tell_apart(inputs: &Inputs, pages: &mut [Page]) {
    let is_embedded = |page: &Page| !inputs.sources.file(page.file).embedded.is_empty();
    let mut files: BTreeMap<(Dialect, &str), BTreeSet<FileId>> = BTreeMap::new();
    for page in pages.iter().filter(|page| is_embedded(page)) {
        for raw in &page.statements {
            files.entry((page.dialect, raw.name.as_str())).or_default().insert(page.file);
        }
    }
    let several = files.into_iter().filter(|(_, files)| files.len() > 1);
    let names: BTreeSet<String> = several.map(|((_, name), _)| name.to_owned()).collect();
    for page in pages.iter_mut().filter(|page| is_embedded(page)) {
        for raw in page.statements.iter_mut().filter(|raw| names.contains(&raw.name)) {
            raw.name = format!("{}_{}", page.noun, raw.name);
        }
    }
}

/// Gives statements of the Postgres pages the names that `[names]` says, and reports names that no page has.
pub(super) fn apply(inputs: &Inputs, pages: &mut [Page], found: &mut Vec<Diagnostic>) {
    for (sqlite, pg) in &inputs.config.names {
        let has = |dialect: Dialect, name: &String| {
            pages
                .iter()
                .filter(|page| page.dialect == dialect)
                .any(|page| page.statements.iter().any(|raw| raw.name == *name) || page.broken.contains(name))
        };
        let missing = [(Dialect::Sqlite, sqlite), (Dialect::Pg, pg)].into_iter().find(|(page, name)| !has(*page, name));
        if let Some((dialect, name)) = missing {
            found.extend(no_such_name(inputs, dialect, sqlite, name));
            continue;
        }
        let of_pg = pages.iter_mut().filter(|page| page.dialect == Dialect::Pg);
        for raw in of_pg.flat_map(|page| &mut page.statements).filter(|raw| raw.name == *pg) {
            raw.name.clone_from(sqlite);
        }
    }
}

fn no_such_name(inputs: &Inputs, dialect: Dialect, key: &str, name: &str) -> Option<Diagnostic> {
    let (id, file) = inputs.sources.iter().find(|(_, file)| file.path == CONFIG)?;
    let start = file.text.find(key)?;
    let message = format!("{name}: `[names]` speaks of it, and no {} page has it", dialect.title());
    let span = Span::new(id, start..start + key.len());
    let help = "write the names as they stand on the pages, in lower snake case: that of SQLite, then that of Postgres";
    Some(Diagnostic::error(rule::MISSING_STATEMENT, message, span, "names no pair").help(help))
}

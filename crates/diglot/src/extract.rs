//! SQL in the source of another language, read in place.
//!
//! A literal of Go or Rust that holds a statement is one, under the name of the constant or the field that it is given
//! to, or else of the function that it stands in. What is no SQL becomes blanks of the same length, so every place in
//! what is read is the same place in the file. A text that is put together from several places stands behind the end of
//! the file, and every part of it knows where it is written.

mod calls;
mod choices;
mod code;
mod expression;
mod growth;
mod holes;
mod imports;
mod kind;
mod lists;
mod literal;
mod marked;
mod marks;
mod named;
mod order;
mod package;
mod place;
mod statements;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use code::Code;
use literal::Language;
use package::Package;

use crate::source::{Role, SourceFile};

pub use calls::{Called, Lost, transactions};
pub use holes::Built;
pub(crate) use kind::deed;

/// Whether a file, or the files of a pattern, are read so: their ending tells.
pub fn reads(path: &str) -> bool {
    Language::of(path).is_some()
}

/// Files of a schema that stand in Go and Rust, in an order in which each finds the tables that it needs.
pub(crate) fn in_order<T>(files: Vec<(T, &str)>) -> Vec<T> {
    order::of_files(files)
}

/// The files of SQL whose text a program takes in as they are, by paths from its own folder: `include_str!("../lot.sql")`,
/// `//go:embed lot.sql`.
pub fn taken_in(path: &str, text: &str) -> Vec<String> {
    let quoted = |rest: &str| rest.trim_start().strip_prefix('"')?.split_once('"').map(|(path, _)| path.to_owned());
    let all: Vec<String> = match Language::of(path) {
        Some(Language::Rust) => {
            let calls = text.split("include_str!").skip(1);
            calls.filter_map(|rest| quoted(rest.trim_start().strip_prefix('(')?)).collect()
        }
        Some(Language::Go) => {
            let lines = text.lines().filter_map(|line| line.trim_start().strip_prefix("//go:embed "));
            lines.flat_map(str::split_whitespace).map(|path| path.trim_matches('"').to_owned()).collect()
        }
        None => Vec::new(),
    };
    let own = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let beside = |taken: &String| {
        let mut parts: Vec<&str> = own.split('/').filter(|part| !part.is_empty()).collect();
        for part in taken.split('/') {
            match part {
                "." | "" => {}
                ".." => _ = parts.pop()?,
                part => parts.push(part),
            }
        }
        Some(parts.join("/"))
    };
    all.iter().filter(|taken| taken.ends_with(".sql")).filter_map(beside).collect()
}

/// A file as it is read for what it is to give: statements or a schema.
///
/// A file of SQL that gives both has its schema before its first header.
pub fn read(path: &str, text: &str, role: Role) -> SourceFile {
    Packages::new([(path, text)], []).read(path, text, role, &Built::default())
}

/// What a file gives: statements, a schema, both, or neither. Of a file of SQL without headers its first statement tells.
pub fn gives(path: &str, text: &str) -> Vec<Role> {
    let gives = |role: &Role| {
        let read = read(path, text, *role);
        match role {
            _ if reads(path) => !read.text.trim().is_empty() || !read.embedded.is_empty(),
            Role::Statements => read.text.lines().any(is_header),
            Role::Schema => kind::kind(&read.text) == Some(Role::Schema),
        }
    };
    let roles: Vec<Role> = [Role::Statements, Role::Schema].into_iter().filter(gives).collect();
    let alone = if roles.is_empty() && !reads(path) { kind::kind(text) } else { None };
    roles.into_iter().chain(alone).collect()
}

/// The files of Go and Rust of a project, by the folders whose constants they share.
#[derive(Debug, Default)]
pub struct Packages<'t> {
    folders: BTreeMap<(&'t str, &'static str), Folder<'t>>,
}

/// The files of one language in a folder.
#[derive(Debug)]
struct Folder<'t> {
    paths: Vec<&'t str>,
    package: Package<'t>,
    /// Where constants are named whose texts are followed.
    followed: BTreeSet<(usize, usize)>,
    /// Where constants may stand that are not followed.
    places: BTreeSet<String>,
}

impl<'t> Packages<'t> {
    /// Takes files with their texts in; those of SQL are passed over. From `others` nothing is taken but the constants
    /// that these files name.
    pub fn new(
        files: impl IntoIterator<Item = (&'t str, &'t str)>,
        others: impl IntoIterator<Item = (&'t str, &'t str)>,
    ) -> Self {
        let others: Vec<(&str, &str)> = others.into_iter().collect();
        let mut folders: BTreeMap<(&'t str, &'static str), Vec<(&'t str, Code<'t>)>> = BTreeMap::new();
        for (path, text) in files {
            let Some(language) = Language::of(path) else { continue };
            folders.entry((folder(path), language.functions())).or_default().push((path, Code::new(text, language)));
        }
        let folders = folders.into_iter().map(|((at, word), mut files)| {
            let named = others.iter().filter_map(|(path, text)| {
                let language = Language::of(path).filter(|language| language.functions() == word)?;
                Some((*path, Code::new(text, language)))
            });
            // What stands in the same folder belongs to it, whether its statements are read or not.
            let (own, beside): (Vec<_>, Vec<_>) = named.partition(|(path, _)| folder(path) == at);
            let known: BTreeSet<&str> = files.iter().map(|(path, _)| *path).collect();
            files.extend(own.into_iter().filter(|(path, _)| !known.contains(path)));
            let paths = files.iter().map(|(path, _)| *path).collect();
            let package = Package::new(files, beside);
            let (followed, places) = statements::followed(&package);
            ((at, word), Folder { paths, package, followed, places })
        });
        Self { folders: folders.collect() }
    }

    /// The files and folders, by their paths below the project's folder, where constants may stand that texts name and
    /// that none of the files has. Most of them are not there.
    pub fn places(&self) -> BTreeSet<String> {
        self.folders.values().flat_map(|folder| folder.places.iter().cloned()).collect()
    }

    /// A file for one role; `built` says what stands for what only the running program knows.
    pub fn read(&self, path: &str, text: &str, role: Role, built: &Built) -> SourceFile {
        let known = Language::of(path).and_then(|language| self.folders.get(&(folder(path), language.functions())));
        let file = known.and_then(|known| Some((known, known.paths.iter().position(|one| *one == path)?)));
        match file {
            Some((Folder { package, followed, .. }, file)) => {
                statements::file((package, followed), (file, path), role, built)
            }
            None => half(path, text, role),
        }
    }
}

/// Whether a line of SQL gives the statement below it its name.
fn is_header(line: &str) -> bool {
    line.trim_start().strip_prefix("--").is_some_and(|rest| {
        rest.trim_start().strip_prefix("name").is_some_and(|rest| rest.trim_start().starts_with(':'))
    })
}

/// The folder of a file.
fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// What of a file of SQL belongs to a role.
fn half(path: &str, text: &str, role: Role) -> SourceFile {
    let first = text.split_inclusive('\n').take_while(|line| !is_header(line)).map(str::len).sum::<usize>();
    // Comments that touch the header are the statement's.
    let above =
        |at: usize| text[..at].trim_end_matches('\n').rsplit_once('\n').map_or(0, |(before, _)| before.len() + 1);
    let mut cut = first;
    while cut > 0 && text[above(cut)..cut].trim_start().starts_with("--") {
        cut = above(cut);
    }
    let blank = |text: &str| text.bytes().map(|b| if b == b'\n' { '\n' } else { ' ' }).collect::<String>();
    let (head, rest) = text.split_at(cut);
    let read = match role {
        Role::Statements => blank(head) + rest,
        Role::Schema => head.to_owned() + &blank(rest),
    };
    SourceFile::extracted(path, read, text, Vec::new()).with_role(role)
}

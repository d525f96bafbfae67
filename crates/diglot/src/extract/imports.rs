//! Where constants stand that a file takes from other folders: `use stock::names::OPEN`, `import "shop/names"`.

use super::code::Code;
use super::literal::{Kind, Language};

/// What the code of a file names that stands in others.
#[derive(Debug)]
pub(super) struct Imports {
    language: Language,
    /// The path of the file.
    file: String,
    /// A name, and the path that it stands for, one part after another; none for all names behind that path.
    uses: Vec<(Option<String>, Vec<String>)>,
}

/// A constant of another folder: the files of Rust or the folders of Go that may have it, most likely first, and how it
/// is called there.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Elsewhere {
    pub(super) places: Vec<String>,
    pub(super) name: String,
}

impl Imports {
    pub(super) fn new(code: &Code<'_>, file: &str) -> Self {
        let mut uses = Vec::new();
        for at in (0..code.tokens.len()).filter(|at| code.is(*at, Kind::Word)) {
            match (code.language, code.word(at)) {
                (Language::Rust, "use") if [";", "}", "", "pub", ")", "{", "]"].contains(&code.before(at, 1)) => {
                    tree(code, at + 1, &[], &mut uses);
                }
                (Language::Go, "import") if code.function_of(at).is_none() => uses.extend(packages(code, at + 1)),
                _ => {}
            }
        }
        Self { language: code.language, file: file.to_owned(), uses }
    }

    /// What a name may mean, `OPEN`, `names::OPEN` or `names.Open`.
    pub(super) fn elsewhere(&self, path: &str) -> Vec<Elsewhere> {
        let parts: Vec<&str> = match self.language {
            Language::Go => path.split('.').collect(),
            Language::Rust => path.split("::").collect(),
        };
        let Some((first, rest)) = parts.split_first() else { return Vec::new() };
        let behind = |way: &[String], rest: &[&str]| -> Vec<String> {
            way.iter().cloned().chain(rest.iter().map(|part| (*part).to_owned())).collect()
        };
        let named = self.uses.iter().filter(|(name, _)| name.as_deref() == Some(first));
        let mut ways: Vec<Vec<String>> = named.map(|(_, way)| behind(way, rest)).collect();
        if self.language == Language::Rust {
            let all = self.uses.iter().filter(|(name, _)| name.is_none());
            ways.extend(all.map(|(_, way)| behind(way, &parts)));
            ways.push(behind(&[], &parts));
        }
        let found = ways.into_iter().filter_map(|mut way| {
            let name = way.pop().filter(|_| !way.is_empty())?;
            let places = match self.language {
                Language::Go => folders(way.first().filter(|_| way.len() == 1)?),
                Language::Rust => self.modules(&way),
            };
            Some(Elsewhere { places, name })
        });
        found.collect()
    }

    /// The files that a path of modules may mean.
    fn modules(&self, way: &[String]) -> Vec<String> {
        let (folder, file) = self.file.rsplit_once('/').unwrap_or(("", &self.file));
        let stem = file.trim_end_matches(".rs");
        let is_root = ["mod", "lib", "main"].contains(&stem);
        let own = if is_root { folder.to_owned() } else { joined(folder, stem) };
        let up = |folder: &str| folder.rsplit_once('/').map_or(String::new(), |(above, _)| above.to_owned());
        let source = self.file.rfind("src/").filter(|at| *at == 0 || self.file[..*at].ends_with('/'));
        let root = source.map_or(folder, |at| &self.file[..at + 3]);
        let (mut base, mut rest) = (own.clone(), way);
        match way.first().map(String::as_str) {
            Some("crate") => (base, rest) = (root.to_owned(), &way[1..]),
            Some("self") => rest = &way[1..],
            Some("super") => {
                while let Some((_, behind)) = rest.split_first().filter(|(first, _)| *first == "super") {
                    (base, rest) = (up(&base), behind);
                }
            }
            Some("std" | "core" | "alloc") | None => return Vec::new(),
            Some(other) => {
                // Another crate, in a folder beside this one or further up.
                let mut places = files(&own, way);
                let mut above = up(root);
                loop {
                    let next = up(&above);
                    for name in [other.to_owned(), other.replace('_', "-")] {
                        for beside in [joined(&next, &name), joined(&joined(&next, "crates"), &name)] {
                            places.extend(files(&joined(&beside, "src"), &way[1..]));
                        }
                    }
                    if above.is_empty() {
                        break;
                    }
                    above = next;
                }
                return places;
            }
        }
        files(&base, rest)
    }
}

fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// The files that may hold a module below a folder, and those of the modules around it, which may hold it themselves or
/// hand its names on.
fn files(base: &str, way: &[String]) -> Vec<String> {
    let mut places = Vec::new();
    for length in (1..=way.len()).rev() {
        let module = joined(base, &way[..length].join("/"));
        places.extend([format!("{module}.rs"), format!("{module}/mod.rs")]);
    }
    places.extend(["lib.rs", "mod.rs", "main.rs"].map(|file| joined(base, file)));
    places
}

/// The folders of a project that an import of Go may mean: the end of its path, whatever the module is called.
fn folders(import: &str) -> Vec<String> {
    let parts: Vec<&str> = import.split('/').filter(|part| !part.starts_with('.')).collect();
    (0..parts.len()).map(|from| parts[from..].join("/")).collect()
}

/// The names behind `use`, up to its semicolon or to the bracket that closes a group.
fn tree(code: &Code<'_>, from: usize, before: &[String], uses: &mut Vec<(Option<String>, Vec<String>)>) {
    let (mut at, mut way) = (from, before.to_vec());
    loop {
        match code.word(at) {
            "{" => {
                let end = code.behind(at) - 1;
                let mut item = at + 1;
                while item < end {
                    tree(code, item, &way, uses);
                    while item < end && code.word(item) != "," {
                        item = if code.word(item) == "{" { code.behind(item) } else { item + 1 };
                    }
                    item += 1;
                }
                return;
            }
            "*" => return uses.push((None, way)),
            "::" => at += 1,
            "as" => return uses.push((Some(code.word(at + 1).to_owned()), way)),
            "self" if at > from || !before.is_empty() => return uses.push((way.last().cloned(), way)),
            word if code.is(at, Kind::Word) => {
                way.push(word.to_owned());
                at += 1;
            }
            _ => {
                if way.len() > before.len() {
                    uses.push((way.last().cloned(), way));
                }
                return;
            }
        }
    }
}

/// The packages behind `import`, under the names by which the code calls them.
fn packages(code: &Code<'_>, from: usize) -> Vec<(Option<String>, Vec<String>)> {
    let end = if code.word(from) == "(" { code.behind(from) } else { from + 2 };
    let texts = (from..end).filter(|at| code.is(*at, Kind::Text));
    let named = texts.filter_map(|at| {
        let path = code.text.get(code.tokens[at].inner.clone())?.to_owned();
        let parts = path.rsplit('/').find(|part| !is_version(part))?.to_owned();
        let alias = at.checked_sub(1).filter(|before| *before >= from && code.is(*before, Kind::Word));
        Some((Some(alias.map_or(parts, |alias| code.word(alias).to_owned())), vec![path]))
    });
    named.collect()
}

/// The last part of a module's path that only says which release it is of.
fn is_version(part: &str) -> bool {
    part.strip_prefix('v').is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(file: &str, text: &str, path: &str) -> Vec<(String, Vec<String>)> {
        let language = Language::of(file).unwrap();
        let found = Imports::new(&Code::new(text, language), file).elsewhere(path);
        found.into_iter().map(|one| (one.name, one.places)).collect()
    }

    fn has(file: &str, text: &str, path: &str, name: &str, place: &str) -> bool {
        let is_it = |(known, places): &(String, Vec<String>)| known == name && places.iter().any(|one| one == place);
        places(file, text, path).iter().any(is_it)
    }

    #[test]
    fn names_of_rust_stand_in_the_files_of_their_modules() {
        let file = "crates/lots/src/store/lite.rs";
        let text = "use stock_names::{words::{self, OPEN, SHUT as CLOSED}, other};\nuse crate::bays::*;\npub use super::text::ALL;";
        assert!(has(file, text, "OPEN", "OPEN", "crates/stock_names/src/words.rs"));
        assert!(has(file, text, "CLOSED", "SHUT", "crates/stock-names/src/words.rs"));
        assert!(has(file, text, "words::LATE", "LATE", "crates/stock-names/src/words/mod.rs"));
        assert!(has(file, text, "other::LATE", "LATE", "crates/stock-names/src/lib.rs"));
        assert!(has(file, text, "BAY", "BAY", "crates/lots/src/bays.rs"));
        assert!(has(file, text, "ALL", "ALL", "crates/lots/src/store/text.rs"));
        assert!(has(file, text, "crate::deep::down::X", "X", "crates/lots/src/deep/down.rs"));
        assert!(!has(file, text, "SHUT", "SHUT", "crates/stock_names/src/words.rs"));
        assert!(places("store.rs", "use std::fmt::Write;", "Write").iter().all(|(_, places)| places.is_empty()));
    }

    #[test]
    fn names_of_go_stand_in_the_folders_of_their_packages() {
        let text = "package lite\n\nimport (\n\t\"database/sql\"\n\twords \"shop.test/stock/internal/names\"\n\t\"shop.test/bays/v2\"\n)\n";
        assert!(has("store/lite/lot.go", text, "words.Open", "Open", "internal/names"));
        assert!(has("store/lite/lot.go", text, "bays.All", "All", "bays/v2"));
        assert!(places("store/lite/lot.go", text, "names.Open").is_empty());
        assert!(places("store/lite/lot.go", text, "Open").is_empty());
        assert!(places("store/lite/lot.go", text, "words.Open.Text").is_empty());
    }
}

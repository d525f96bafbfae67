//! The rooms of `src/` and who imports whom: a table that `ARCHITECTURE.md` draws, and no circle of modules.
//!
//! What a file imports is read from its `use` declarations and from the paths that begin with `crate`, `self` or
//! `super`, those of its tests included.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::{File, Rust};

/// Every room of `src/`, and the rooms that it imports. A room imports only what stands above it, so there is no circle.
pub(crate) const ROOMS: &[(&str, &[&str])] = &[
    ("clock", &[]),
    ("metric", &[]),
    ("column", &[]),
    ("statements", &["column"]),
    ("model", &["column", "statements"]),
    ("db", &["column", "metric", "model", "statements"]),
    ("retry", &["db"]),
    ("engine", &["column", "metric", "model", "clock", "statements", "db"]),
    ("events", &["column", "model", "statements", "db"]),
    ("sweep", &["column", "metric", "db", "engine"]),
    ("backend", &["metric", "model", "db", "engine", "events", "sweep"]),
    ("open", &["clock", "column", "statements", "db", "retry", "engine", "sweep", "backend"]),
    ("testing", &["clock", "db", "engine", "sweep", "backend", "open"]),
    ("compat", &["model", "clock", "statements", "db", "engine", "events", "sweep", "backend", "open"]),
];

/// The crate's root names the public items of every room; no room imports from it.
const ROOT: &str = "lib";

/// What one file imports.
struct Import {
    line: usize,
    /// The path from the crate's root.
    path: Vec<String>,
}

/// The module that a file of `src/` is: its path from the crate's root, which itself is the empty one.
fn module(path: &str) -> Option<Vec<String>> {
    let inner = path.strip_prefix("src/")?.strip_suffix(".rs")?;
    let inner = inner.strip_suffix("/mod").unwrap_or(inner);
    Some(if inner == ROOT { Vec::new() } else { inner.split('/').map(str::to_owned).collect() })
}

fn room(module: &[String]) -> &str {
    module.first().map_or(ROOT, String::as_str)
}

/// A piece of code, with its line.
type Token<'a> = (usize, &'a str);

fn tokens(code: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    for (n, line) in code.lines().enumerate() {
        let mut rest = line;
        while let Some(next) = rest.chars().next() {
            let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let length = if word > 0 {
                word
            } else if rest.starts_with("::") {
                2
            } else {
                next.len_utf8()
            };
            if !next.is_whitespace() {
                found.push((n + 1, &rest[..length]));
            }
            rest = &rest[length..];
        }
    }
    found
}

/// The imports of the file that is `own`, among `modules`.
fn imports(own: &[String], code: &str, modules: &BTreeSet<Vec<String>>) -> Vec<Import> {
    let tokens = tokens(code);
    let mut found = Vec::new();
    // The modules that are written out in the file and are open here, with the depth of their braces.
    let (mut inside, mut depth): (Vec<(String, usize)>, usize) = (Vec::new(), 0);
    let mut at = 0;
    while let Some((line, token)) = tokens.get(at).copied() {
        let next = tokens.get(at + 1).map_or("", |next| next.1);
        let current = || own.iter().cloned().chain(inside.iter().map(|(name, _)| name.clone())).collect::<Vec<_>>();
        match token {
            // In a macro the name is a variable.
            "mod" => {
                let name = at + 1 + usize::from(next == "$");
                if let (Some(name), Some((_, "{"))) = (tokens.get(name), tokens.get(name + 1)) {
                    inside.push((name.1.to_owned(), depth));
                }
            }
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                if inside.last().is_some_and(|(_, opened)| *opened == depth) {
                    inside.pop();
                }
            }
            "use" => {
                let mut paths = Vec::new();
                at = tree(&tokens, at + 1, &[], &mut paths);
                let absolute = paths.iter().filter_map(|path| resolve(path, &current(), modules));
                found.extend(absolute.map(|path| Import { line, path }));
                continue;
            }
            "crate" | "self" | "super" if next == "::" && !(at > 0 && tokens[at - 1].1 == "::") => {
                let mut path = vec![token.to_owned()];
                while tokens.get(at + 1).is_some_and(|next| next.1 == "::") {
                    path.extend(tokens.get(at + 2).map(|next| next.1.to_owned()));
                    at += 2;
                }
                found.extend(resolve(&path, &current(), modules).map(|path| Import { line, path }));
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Reads the tree of a `use` from `at` on, and answers where it ends.
fn tree(tokens: &[Token<'_>], mut at: usize, before: &[String], paths: &mut Vec<Vec<String>>) -> usize {
    let mut path = before.to_vec();
    while let Some((_, token)) = tokens.get(at) {
        match *token {
            "::" => {}
            "{" => {
                at += 1;
                while tokens.get(at).is_some_and(|inner| inner.1 != "}") {
                    at = tree(tokens, at, &path, paths);
                    at += usize::from(tokens.get(at).is_some_and(|comma| comma.1 == ","));
                }
                return at + 1;
            }
            // The name that follows is the file's own.
            "as" => at += 1,
            "," | "}" | ";" => break,
            name => path.push(name.to_owned()),
        }
        at += 1;
    }
    paths.push(path);
    at
}

/// A path from the crate's root; nothing for one of another crate.
fn resolve(path: &[String], current: &[String], modules: &BTreeSet<Vec<String>>) -> Option<Vec<String>> {
    let mut base = current.to_vec();
    let mut rest = path;
    match rest.first()?.as_str() {
        "crate" => (base, rest) = (Vec::new(), &rest[1..]),
        "self" | "super" => {
            while let Some(step) = rest.first().filter(|step| ["self", "super"].contains(&step.as_str())) {
                if step == "super" {
                    base.pop();
                }
                rest = &rest[1..];
            }
        }
        name => {
            base.push(name.to_owned());
            modules.contains(&base).then_some(())?;
            base.pop();
        }
    }
    base.extend(rest.iter().cloned());
    Some(base)
}

/// The module that a path leads into.
fn target<'a>(path: &[String], modules: &'a BTreeSet<Vec<String>>) -> Option<&'a Vec<String>> {
    (0..=path.len()).rev().find_map(|length| modules.get(&path[..length]))
}

/// What each module imports.
type Graph = BTreeMap<Vec<String>, BTreeSet<Vec<String>>>;

/// Complaints about the modules of `src/`: imports that the table does not have, and circles.
pub(crate) fn complaints(files: &[File]) -> Vec<String> {
    let mut report = Vec::new();
    let source = || files.iter().filter_map(|file| Some((file, module(&file.path)?)));
    let modules: BTreeSet<_> = source().map(|(_, module)| module).collect();
    let mut graph = Graph::new();
    for (file, own) in source() {
        for import in imports(&own, &Rust::new(&file.text).code, &modules) {
            let Some(to) = target(&import.path, &modules) else { continue };
            let (from, into) = (room(&own), room(to));
            if from != into && from != ROOT && !may_import(from, into) {
                report.push(format!(
                    "{}:{}: [room] `{from}` does not import `{into}`: see the table of rooms in ARCHITECTURE.md",
                    file.path, import.line
                ));
            }
            if *to != own && from == into {
                graph.entry(own.clone()).or_default().insert(to.clone());
            }
        }
    }
    for name in modules.iter().map(|module| room(module)).collect::<BTreeSet<_>>() {
        if name != ROOT && !ROOMS.iter().any(|(room, _)| *room == name) {
            report.push(format!("src/{name}: [room] has no line in the table of rooms"));
        }
    }
    report.extend(source().filter_map(|(file, own)| only_for_tests(file, &own)));
    report.extend(circle(&graph).map(|circle| format!("src: [circle] {circle}")));
    report
}

/// A hidden function outside the room for what tests alone call. `compat` has the names of another crate.
fn only_for_tests(file: &File, own: &[String]) -> Option<String> {
    let code = Rust::new(&file.text).code;
    let lines: Vec<&str> = code.lines().map(str::trim).collect();
    let item = |at: usize| (at..lines.len()).find(|next| !lines[*next].starts_with("#["));
    let hidden = lines.iter().enumerate().filter(|(_, line)| **line == "#[doc(hidden)]");
    let at = hidden.filter_map(|(at, _)| item(at)).find(|at| lines[*at].contains("fn "))?;
    let is_elsewhere = !["testing", "compat"].contains(&room(own));
    is_elsewhere.then(|| format!("{}:{}: [room] what tests alone call lives in src/testing.rs", file.path, at + 1))
}

fn may_import(from: &str, into: &str) -> bool {
    ROOMS.iter().any(|(room, imports)| *room == from && imports.contains(&into))
}

/// A circle of modules, if there is one: each imports the next.
fn circle(graph: &Graph) -> Option<String> {
    let mut left = graph.clone();
    // What imports nothing that is left cannot be in a circle.
    loop {
        let names: BTreeSet<_> = left.keys().cloned().collect();
        let before = left.len();
        left.retain(|_, imports| {
            imports.retain(|to| names.contains(to));
            !imports.is_empty()
        });
        if left.len() == before {
            break;
        }
    }
    let mut at = left.keys().next()?.clone();
    let mut way = Vec::new();
    while !way.contains(&at) {
        let next = left.get(&at)?.first()?.clone();
        way.push(std::mem::replace(&mut at, next));
    }
    let begin = way.iter().position(|module| *module == at)?;
    let names: Vec<String> = way[begin..].iter().chain([&at]).map(|module| module.join("::")).collect();
    Some(names.join(" → "))
}

/// The table as `ARCHITECTURE.md` has it.
pub(crate) fn drawing() -> String {
    let mut drawing = String::new();
    for (room, imports) in ROOMS {
        let imports = if imports.is_empty() { "nothing".to_owned() } else { imports.join(", ") };
        let _ = writeln!(drawing, "{room:<10} → {imports}");
    }
    drawing
}

#[test]
fn a_room_imports_only_what_stands_above_it_and_the_drawing_says_so() {
    for (at, (room, imports)) in ROOMS.iter().enumerate() {
        for import in *imports {
            let above = ROOMS[..at].iter().any(|(above, _)| above == import);
            assert!(above, "`{room}` imports `{import}`, which does not stand above it");
        }
    }
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let drawn = std::fs::read_to_string(root.join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    assert!(drawn.contains(&drawing()), "ARCHITECTURE.md draws other rooms than these:\n\n{}", drawing());
}

/// The complaints about a source that consists of these files.
#[track_caller]
fn planted(files: &[(&str, &str)]) -> Vec<String> {
    let file = |(path, text): &(&str, &str)| File { path: (*path).into(), text: (*text).into() };
    complaints(&files.iter().map(file).collect::<Vec<_>>())
}

#[test]
fn an_import_from_above_is_found_however_it_is_written() {
    for text in [
        "use crate::sweep::Report;",
        "use crate::{model::id, sweep::Report as R};",
        "use crate::{\n    model::{id, hex},\n    sweep::{self},\n};",
        "fn f() -> crate::sweep::Report { todo() }",
        "use super::super::sweep::Report;",
        "mod tests { use super::super::super::sweep::Report; }",
        "#[cfg(test)]\nmod tests {\n    use crate::sweep::Report;\n}",
    ] {
        let found = planted(&[("src/engine/lease.rs", text), ("src/sweep/mod.rs", ""), ("src/model/id.rs", "")]);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(found[0].contains("`engine` does not import `sweep`"), "{found:?}");
    }
    for innocent in [
        "// use crate::sweep::Report;",
        "fn f() { let s = \"crate::sweep::Report\"; }",
        "use crate::model::id;",
        "use other::sweep::Report;",
        "mod sweep { pub(crate) struct Report; } use self::sweep::Report;",
        "macro_rules! inner { ($name:ident) => { mod $name { use super::super::lease::Lease; } } }",
    ] {
        let found = planted(&[("src/engine/lease.rs", innocent), ("src/sweep/mod.rs", ""), ("src/model/id.rs", "")]);
        assert!(found.is_empty(), "{innocent}: {found:?}");
    }
}

#[test]
fn a_circle_inside_a_room_is_found() {
    let found = planted(&[
        ("src/engine/mod.rs", "mod a; mod b; mod c;"),
        ("src/engine/a.rs", "use crate::engine::b::B;"),
        ("src/engine/b.rs", "fn f(_: super::c::C) {}"),
        ("src/engine/c.rs", "use super::{d, a::A}; #[cfg(test)] mod tests { use super::*; }"),
        ("src/engine/d.rs", ""),
    ]);
    assert_eq!(found, ["src: [circle] engine::a → engine::b → engine::c → engine::a"]);
    let found =
        planted(&[("src/engine/mod.rs", "mod a; use a::A; struct Engine;"), ("src/engine/a.rs", "use super::Engine;")]);
    assert_eq!(found, ["src: [circle] engine → engine::a → engine"]);
    let without =
        planted(&[("src/engine/a.rs", "use crate::engine::b::B;"), ("src/engine/b.rs", "mod tests { use super::*; }")]);
    assert!(without.is_empty(), "{without:?}");
}

#[test]
fn what_tests_alone_call_is_found_outside_its_room() {
    let text = "impl Backend {\n    #[doc(hidden)]\n    #[must_use]\n    pub fn pool_for_test(&self) {}\n}";
    let complaint = "src/backend.rs:4: [room] what tests alone call lives in src/testing.rs";
    assert_eq!(planted(&[("src/backend.rs", text)]), [complaint]);
    assert!(
        planted(&[("src/testing.rs", text), ("src/db/mod.rs", "#[doc(hidden)]\npub mod tx;\nfn f() {}\n")]).is_empty()
    );
}

#[test]
fn a_room_without_a_line_is_found() {
    assert_eq!(planted(&[("src/attic.rs", "")]), ["src/attic: [room] has no line in the table of rooms"]);
}

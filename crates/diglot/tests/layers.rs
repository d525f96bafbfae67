//! The modules of the compiler stand in layers: one names only those below it, so none reaches itself through others.
//!
//! `ARCHITECTURE.md` draws the same table. Whatever two passes hand on to one another has a module below both.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Attribute, Item};

/// Layers from the top, each with its subject and its modules.
type Layers = [(&'static str, &'static [&'static str])];

/// Those of the tools, which stand in a crate above the compiler.
const TOOLS: &Layers = &[
    ("from page to page", &["translate"]),
    ("runs of both pages", &["verdict"]),
    ("uses of a run", &["draft", "editor", "mutate", "prove", "review"]),
];

/// Those of the compiler.
const LAYERS: &Layers = &[
    ("a build script", &["build"]),
    ("a run", &["pipeline"]),
    ("what is printed", &["render"]),
    ("what is found", &["baseline", "compare"]),
    ("what is asked", &["facts", "history", "rules"]),
    ("one form", &["cache", "normal"]),
    ("what words mean, and texts out", &["answers", "codegen", "emit", "evidence", "locks", "operations"]),
    ("one statement, in steps", &["steps"]),
    ("trees and signatures", &["guard", "infer", "joined", "project", "resolve"]),
    ("schemas", &["fix", "schema"]),
    ("pages", &["config", "emitted", "split", "tree"]),
    ("values", &["diagnostic", "extract", "grammar", "page", "value"]),
    ("ground", &["depth", "dialect", "digest", "engine", "names", "rule", "source", "types"]),
];

/// A file of the compiler.
struct File {
    /// Where it is, from `src`.
    path: String,
    /// The names of its module, from the top.
    module: Vec<String>,
    code: syn::File,
}

impl File {
    fn read(path: &str, text: &str) -> Self {
        let code = syn::parse_file(text).unwrap_or_else(|error| panic!("{path}: {error}"));
        let module = path.trim_end_matches(".rs").split('/').filter(|name| *name != "mod").map(str::to_owned).collect();
        Self { path: path.to_owned(), module, code }
    }

    /// The modules below it that are compiled for tests alone.
    fn tests(&self) -> Vec<Vec<String>> {
        let own = self.code.items.iter().filter_map(|item| match item {
            Item::Mod(module) if is_for_tests(&module.attrs) => Some(module.ident.to_string()),
            _ => None,
        });
        own.map(|name| self.module.iter().cloned().chain([name]).collect()).collect()
    }

    /// The modules of the top that it names.
    fn uses(&self) -> BTreeSet<String> {
        let is_code = |item: &&Item| !matches!(item, Item::Mod(module) if is_for_tests(&module.attrs));
        let tokens: TokenStream = self.code.items.iter().filter(is_code).map(Item::to_token_stream).collect();
        let mut uses = BTreeSet::new();
        named(tokens, self.module.len(), &mut uses);
        uses
    }
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg") && attribute.meta.to_token_stream().to_string().contains("test")
    })
}

/// Takes in what stands behind `crate::`, and behind as many `super::` as lead out of a module so deep.
fn named(tokens: TokenStream, depth: usize, uses: &mut BTreeSet<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_colons = |at: usize| {
        (at..at + 2).all(|at| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == ':'))
    };
    let word = |at: usize| match tokens.get(at) {
        Some(TokenTree::Ident(word)) => Some(word.to_string()),
        _ => None,
    };
    let mut at = 0;
    while at < tokens.len() {
        if let TokenTree::Group(group) = &tokens[at] {
            named(group.stream(), depth, uses);
        }
        let mut outwards = 0;
        while word(at).as_deref() == Some("super") && is_colons(at + 1) {
            (outwards, at) = (outwards + 1, at + 3);
        }
        if word(at).as_deref() == Some("crate") && is_colons(at + 1) {
            (outwards, at) = (depth, at + 3);
        }
        if outwards == depth {
            match tokens.get(at) {
                Some(TokenTree::Ident(name)) => drop(uses.insert(name.to_string())),
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                    uses.extend(heads(group.stream()));
                }
                _ => {}
            }
        } else if outwards > 0 {
            continue;
        }
        at += 1;
    }
}

/// The first words of the paths in a list.
fn heads(list: TokenStream) -> Vec<String> {
    let mut heads = Vec::new();
    let mut is_first = true;
    for token in list {
        match token {
            TokenTree::Ident(name) if is_first => heads.push(name.to_string()),
            TokenTree::Punct(punct) if punct.as_char() == ',' => {
                is_first = true;
                continue;
            }
            _ => {}
        }
        is_first = false;
    }
    heads
}

/// Which module names which others, and in which files.
type Graph = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

fn graph(files: &[File]) -> Graph {
    let tests: Vec<Vec<String>> = files.iter().flat_map(File::tests).collect();
    let mut graph = Graph::new();
    for file in files.iter().filter(|file| tests.iter().all(|test| !file.module.starts_with(test))) {
        let [top, ..] = file.module.as_slice() else { continue };
        let named = graph.entry(top.clone()).or_default();
        for other in file.uses().into_iter().filter(|other| other != top) {
            named.entry(other).or_default().insert(file.path.clone());
        }
    }
    graph
}

/// The modules that reach themselves through others.
fn in_circles(graph: &Graph) -> Vec<&str> {
    let reaches = |from: &str, to: &str| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(next) = open.pop() {
            for other in graph.get(next).into_iter().flatten().map(|(other, _)| other.as_str()) {
                if other == to {
                    return true;
                }
                if seen.insert(other) {
                    open.push(other);
                }
            }
        }
        false
    };
    graph.keys().map(String::as_str).filter(|module| reaches(module, module)).collect()
}

/// What does not fit the layers.
fn breaches(graph: &Graph, layers: &Layers) -> Vec<String> {
    let layer = |module: &str| layers.iter().position(|(_, modules)| modules.contains(&module));
    let mut breaches = Vec::new();
    for (module, uses) in graph {
        let Some(own) = layer(module) else {
            breaches.push(format!("{module}: no layer has it; give it a place in `LAYERS` and in ARCHITECTURE.md"));
            continue;
        };
        for (other, files) in uses {
            let files = files.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            match layer(other) {
                Some(below) if below > own => {}
                Some(_) => breaches.push(format!(
                    "{files}: `{module}` names `{other}`, which does not stand below it; what both need belongs below both"
                )),
                None => breaches.push(format!("{files}: `crate::{other}` is no module; name the one that it comes from")),
            }
        }
    }
    let known = layers.iter().flat_map(|(_, modules)| *modules);
    breaches.extend(known.filter(|known| !graph.contains_key(**known)).map(|gone| format!("{gone}: no such module")));
    breaches
}

/// All files below a folder but the root of the crate.
fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder can be read") {
        let path = entry.expect("a folder can be read").path();
        if path.is_dir() {
            files_below(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("src/lib.rs") {
            found.push(path);
        }
    }
}

/// The files of a crate beside this one.
fn sources(of: &str) -> Vec<File> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(of).join("src");
    let mut paths = Vec::new();
    files_below(&source, &mut paths);
    let read = |path: &PathBuf| {
        let name = path.strip_prefix(&source).expect("it is below").to_string_lossy().into_owned();
        File::read(&name, &fs::read_to_string(path).expect("a file can be read"))
    };
    paths.iter().map(read).collect()
}

/// The table as `ARCHITECTURE.md` has it.
fn drawn() -> String {
    let layers = || TOOLS.iter().chain(LAYERS);
    let width = layers().map(|(about, _)| about.len()).max().unwrap_or_default();
    layers().map(|(about, modules)| format!("{about:width$} │ {}\n", modules.join(" "))).collect()
}

#[test]
fn every_module_names_only_those_below_it() {
    for (of, layers, least) in [("diglot", LAYERS, 30), ("diglot-tools", TOOLS, 7)] {
        let graph = graph(&sources(of));
        assert!(graph.len() >= least, "{of} has more modules than {}", graph.len());
        let breaches = breaches(&graph, layers);
        assert!(breaches.is_empty(), "{}", breaches.join("\n"));
        assert_eq!(in_circles(&graph), [""; 0]);
    }
}

#[test]
fn the_layers_are_drawn_as_they_are() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
    let text = fs::read_to_string(&path).expect("ARCHITECTURE.md can be read");
    assert!(text.contains(&drawn()), "ARCHITECTURE.md has to draw the layers so:\n\n{}", drawn());
}

#[test]
fn a_circle_is_noticed_however_its_paths_are_written() {
    let planted = [
        ("trees.rs", "use crate::{rows::Row as R, words};"),
        ("rows/mod.rs", "pub mod one;"),
        ("rows/one.rs", "fn one() { println!(\"{}\", super::super::words::count()); }"),
        ("words.rs", "#[cfg(test)]\nmod tests { use crate::lines; }\nfn count() -> super::trees::Tree { todo() }"),
        ("lines.rs", "#[cfg(test)]\nmod cases;\npub(crate) fn line() {}"),
        ("lines/cases.rs", "use crate::trees;"),
    ];
    let graph = graph(&planted.map(|(path, text)| File::read(path, text)));
    assert_eq!(in_circles(&graph), ["rows", "trees", "words"]);
    let layers: &Layers = &[("", &["lines"]), ("", &["trees"]), ("", &["rows"]), ("", &["words"])];
    let breaches = breaches(&graph, layers);
    assert_eq!(breaches.len(), 1, "{breaches:?}");
    assert!(breaches[0].starts_with("words.rs: `words` names `trees`"), "{breaches:?}");
}

#[test]
fn a_module_without_a_layer_and_a_name_of_the_root_are_noticed() {
    let planted = [("trees.rs", "use crate::Row;"), ("rows.rs", "")].map(|(path, text)| File::read(path, text));
    let breaches = breaches(&graph(&planted), &[("", &["trees", "lines"])]);
    let begins: Vec<&str> = breaches.iter().filter_map(|breach| breach.split(';').next()).collect();
    assert_eq!(begins, ["rows: no layer has it", "trees.rs: `crate::Row` is no module", "lines: no such module"]);
}

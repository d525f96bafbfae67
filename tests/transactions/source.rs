//! Which statements the transactions of the engine call, read from its source.
//!
//! A statement is called as `conn.NAME(…)`, a function that calls more of them as `path::NAME::<D>(conn, …)` or
//! `.NAME::<D>(conn, …)`. Every branch counts, in the order of the source. What `engine/seize.rs` does is for sweeps; where
//! it stands behind `&&`, the transaction is for others as well. Such a transaction is two: one for them, without it, and
//! one for the sweep, whose name ends in `_swept`. A statement that runs in transactions and by itself too, as
//! `.unit(params)`, `.unit_counting(params, …)` or `.unit_telling(params, …)`, has a transaction of its own, whose name ends in `_alone`; which one it
//! is says the last type of parameters that the function names up to there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The end of the name of a transaction as a sweep runs it.
const SWEPT: &str = "_swept";

/// The end of the name of a transaction of one statement.
const ALONE: &str = "_alone";

/// A function of the engine.
struct Function {
    module: String,
    /// The type whose `impl` it stands in.
    of: Option<String>,
    name: String,
    calls: Vec<Call>,
}

/// Something that is called with the connection.
struct Call {
    /// Where the name stands in the text that was searched.
    at: usize,
    /// Whether a sweep calls it and others do not.
    swept: bool,
    callee: Callee,
}

enum Callee {
    Statement(String),
    /// The part of the path in front of the name, and the name.
    Function(Option<String>, String),
    Method(String),
}

/// The statements of each transaction, in the order of the source.
pub(crate) fn transactions(engine: &Path) -> BTreeMap<String, Vec<String>> {
    let mut functions = Vec::new();
    let (mut blocks, mut units) = (Vec::new(), Vec::new());
    for path in sources(engine) {
        let module = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned();
        let text = without_comments(&std::fs::read_to_string(&path).expect("a source file"));
        functions.extend(functions_of(&module, &text));
        units.extend(units_of(&text));
        blocks.extend(blocks_of(&text).into_iter().map(|(name, body)| (module.clone(), name, body)));
    }
    let mut found = BTreeMap::new();
    for (module, name, body) in blocks {
        let all = listed(&functions, &module, &body, true);
        let asked = listed(&functions, &module, &body, false);
        if all != asked {
            found.insert(format!("{name}{SWEPT}"), all);
        }
        assert!(found.insert(name.clone(), asked).is_none(), "two transactions are called {name}");
    }
    let in_transactions: Vec<String> = found.values().flatten().cloned().collect();
    for unit in units.into_iter().filter(|unit| in_transactions.contains(unit)) {
        found.insert(format!("{unit}{ALONE}"), vec![unit]);
    }
    found
}

/// The files of the engine, those of its folders as well. The macros themselves stand in mod.rs, and policies run nothing.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("src/engine").map(|entry| entry.expect("an entry").path());
    let inner = entries.flat_map(|path| match path.is_dir() {
        true if path.ends_with("policy") => Vec::new(),
        true => sources(&path),
        false => vec![path],
    });
    inner.filter(|path| path.extension().is_some_and(|end| end == "rs") && !path.ends_with("mod.rs")).collect()
}

/// The statements that run by themselves.
fn units_of(text: &str) -> Vec<String> {
    let calls = [".unit(", ".unit::<", ".unit_telling(", ".unit_telling::<", ".unit_counting(", ".combined_telling("];
    let mut places: Vec<usize> = calls.iter().flat_map(|call| text.match_indices(call)).map(|(at, _)| at).collect();
    places.sort_unstable();
    // What is generic over the statement is called with one elsewhere.
    places.retain(|at| !text[*at..].starts_with(".unit::<S>"));
    let statement = |at: usize| {
        let before = &text[..at];
        let function = before.rfind("fn ").unwrap_or(0);
        let given = text[at..].find([')', ',']).map_or(text.len(), |end| at + end);
        let named = text[function..given].split(|c: char| !c.is_alphanumeric());
        let last = named.filter_map(|word| word.strip_suffix("Params").filter(|name| !name.is_empty())).next_back();
        snake(last.unwrap_or_else(|| panic!("what runs here?\n{}", &text[function..given])))
    };
    places.into_iter().map(statement).collect()
}

/// `LeaseRenew` as `lease_renew`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

/// The statements of a block, each at its first place.
fn listed(functions: &[Function], module: &str, body: &str, swept: bool) -> Vec<String> {
    let mut list = Vec::new();
    follow(functions, module, None, &calls_of(body), swept, &mut list, &mut Vec::new());
    list
}

fn follow(
    functions: &[Function],
    module: &str,
    of: Option<&str>,
    calls: &[Call],
    swept: bool,
    list: &mut Vec<String>,
    open: &mut Vec<*const Function>,
) {
    for call in calls.iter().filter(|call| swept || !call.swept) {
        let function = match &call.callee {
            Callee::Statement(name) => {
                if !list.contains(name) {
                    list.push(name.clone());
                }
                continue;
            }
            Callee::Function(path, name) => {
                let is_it = |function: &&Function| {
                    function.name == *name
                        && match path.as_deref() {
                            Some("Self") => function.module == module && function.of.as_deref() == of,
                            Some(path) => function.of.as_deref() == Some(path) || function.module == path,
                            None => function.of.is_none(),
                        }
                };
                the_one(functions, module, is_it, name)
            }
            Callee::Method(name) => {
                the_one(functions, module, |function| function.name == *name && function.of.is_some(), name)
            }
        };
        let place = std::ptr::from_ref(function);
        if !open.contains(&place) {
            open.push(place);
            follow(functions, &function.module, function.of.as_deref(), &function.calls, swept, list, open);
            open.pop();
        }
    }
}

/// The function that is meant: one of the same module before one of another.
fn the_one<'f>(
    functions: &'f [Function],
    module: &str,
    is_it: impl Fn(&&Function) -> bool,
    name: &str,
) -> &'f Function {
    let all: Vec<&Function> = functions.iter().filter(|function| is_it(function)).collect();
    let own: Vec<&Function> = all.iter().copied().filter(|function| function.module == module).collect();
    match (own.as_slice(), all.as_slice()) {
        ([one], _) | ([], [one]) => one,
        _ => panic!(
            "{module}.rs calls `{name}`, which is {} functions; the reader of the source must tell them apart",
            all.len()
        ),
    }
}

fn without_comments(text: &str) -> String {
    let lines = text.lines().map(|line| if line.trim_start().starts_with("//") { "" } else { line });
    lines.collect::<Vec<_>>().join("\n")
}

/// The functions of a file. rustfmt has put their ends where their beginnings are.
fn functions_of(module: &str, text: &str) -> Vec<Function> {
    let lines: Vec<&str> = text.lines().collect();
    let mut functions = Vec::new();
    let mut of = None;
    for (at, line) in lines.iter().enumerate() {
        if let Some(rest) = line.strip_prefix("impl") {
            let of_what = rest.rsplit(" for ").next().unwrap_or_default();
            let name = of_what.trim_start_matches(['<', ' ']);
            of = Some(name.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default().to_owned());
        } else if line.starts_with('}') {
            of = None;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        let Some(name) = line.split("async fn ").nth(1) else { continue };
        let name = name.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default().to_owned();
        let close = format!("{indent}}}");
        let end = (at..lines.len()).find(|end| lines[*end] == close).unwrap_or(lines.len());
        let body = lines[at..end].join("\n");
        if body.contains("Connection") {
            assert!(
                body.contains("conn: &mut D::Connection"),
                "{module}.rs: `{name}` calls its connection something else"
            );
        }
        functions.push(Function { module: module.to_owned(), of: of.clone(), name, calls: calls_of(&body) });
    }
    functions
}

/// The transactions of a file: names and blocks.
fn blocks_of(text: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    for (at, open) in text.match_indices("transaction!(") {
        let inside = bracketed(&text[at + open.len() - 1..]);
        let name = inside.split('"').nth(1).expect("a name in quotes");
        let block = inside.find("|conn|").expect("a block with a connection");
        let block = &inside[block..];
        let open = block.find('{').expect("a block in braces");
        blocks.push((name.to_owned(), bracketed(&block[open..]).to_owned()));
    }
    blocks
}

/// What a bracket has in it.
fn bracketed(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[1..at];
        }
    }
    panic!("a bracket is open at the end");
}

/// What a text calls with the connection.
fn calls_of(text: &str) -> Vec<Call> {
    let mut calls = Vec::new();
    let word = |c: char| c.is_alphanumeric() || c == '_';
    for (at, _) in text.match_indices("conn") {
        let (before, rest) = (&text[..at], text[at + "conn".len()..].trim_start());
        if before.ends_with(word) {
            continue;
        }
        if let Some(name) = rest.strip_prefix('.') {
            let name = name.trim_start();
            let name = &name[..name.find(|c| !word(c)).unwrap_or(name.len())];
            calls.push(Call { at, swept: false, callee: Callee::Statement(name.to_owned()) });
        } else if let Some(path) = before.trim_end().strip_suffix("::<D>(") {
            let name = path.rsplit(|c| !word(c)).next().unwrap_or_default();
            let before = &path[..path.len() - name.len()];
            let (callee, start) = match before.strip_suffix("::") {
                Some(of) => {
                    let of = of.rsplit(|c| !word(c)).next().unwrap_or_default();
                    (Callee::Function(Some(of.to_owned()), name.to_owned()), before.len() - of.len() - 2)
                }
                None if before.ends_with('.') => (Callee::Method(name.to_owned()), before.len()),
                None => (Callee::Function(None, name.to_owned()), before.len()),
            };
            let is_seizing = matches!(&callee, Callee::Function(Some(of), _) if of == "seize");
            let swept = is_seizing && text[..start].trim_end().ends_with("&&");
            calls.push(Call { at, swept, callee });
        } else {
            assert!(
                rest.starts_with(": &mut") || rest.starts_with('|') || rest.starts_with(", ("),
                "it is not seen what is called with the connection in `{}`",
                text[before.rfind('\n').map_or(0, |at| at + 1)..].lines().next().unwrap_or_default()
            );
        }
    }
    calls.sort_by_key(|call| call.at);
    calls
}

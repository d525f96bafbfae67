//! The entry for build scripts: reads the folders, compiles, writes the generated file when it changed.
//!
//! This and [`load`] are the only parts of the crate that touch files or the environment.

#[cfg(unix)]
mod absent;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::UNIX_EPOCH;

use crate::answers::INDEX_FILE;
use crate::baseline::FILE as BASELINE;
use crate::cache::Cache;
use crate::config::{Config, FILE as CONFIG, Places};
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::evidence::FILE as EVIDENCE;
use crate::extract::{self, Packages};
use crate::pipeline::{Compiled, compile_again};
use crate::project::Inputs;
use crate::render::{Look, all};
use crate::rule;
use crate::source::{FileId, Role, SourceFile, Span};

/// The file in `OUT_DIR` that a crate includes. Its text is always [`ENTRY_TEXT`].
const ENTRY: &str = "statements.rs";
/// Includes the API or, after a run with errors, the errors: whichever the run's variable names.
const ENTRY_TEXT: &str = "include!(env!(\"DIGLOT_STATEMENTS\"));\n";
/// The API as the last run without errors left it. A run with errors does not touch it, and takes the shape of
/// its stubs from it.
const API: &str = "statements.api.rs";
/// The findings of a run with errors behind one `compile_error!`, and the stubs that go with it.
const ERRORS: &str = "statements.errors.rs";
/// What a run keeps for the next, so that only statements that changed are worked on. Its first line says which compiler
/// wrote it.
const CACHE: &str = "statements.cache.json";
/// Where sqlx's macros look for recorded answers.
const ANSWERS: &str = ".sqlx";

/// Why a project's files could not be read at all.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The system refused to read a file or a folder.
    #[error("cannot read {path}: {source}")]
    Io {
        /// The path.
        path: String,
        /// The system's words.
        source: io::Error,
    },
}

/// Compiles the SQL of the crate whose build script calls this, into `OUT_DIR/statements.rs`.
///
/// It tells cargo which files to watch and, where the functions call sqlx's macros, tells these to use the recorded
/// answers, whatever `DATABASE_URL` says. Findings, and a failure of the run itself, become a
/// `compile_error!` in a file of their own that is included in the place of the API, so that they show up where the
/// crate includes it and the API of the last good run stays as it is. Warnings go to cargo.
pub fn run() {
    let Some(out) = env::var_os("OUT_DIR").map(PathBuf::from) else {
        println!("cargo:warning=diglot: OUT_DIR is not set; this is to be called by a build script");
        return;
    };
    let root = env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from("."), PathBuf::from);
    let (rust, is_good) = match generate(&root, &out) {
        Ok((inputs, compiled)) => {
            warn(&inputs, &compiled);
            // Otherwise the crate's own macros may ask a database.
            if inputs.config.generate.enabled && inputs.config.generate.queries.is_macro() {
                println!("cargo:rustc-env=SQLX_OFFLINE=true");
            }
            let is_good = !compiled.has_errors();
            (compiled.rust, is_good)
        }
        Err(error) => (format!("compile_error!({:?});\n", format!("diglot: {error}")), false),
    };
    let file = out.join(if is_good { API } else { ERRORS });
    println!("cargo:rustc-env=DIGLOT_STATEMENTS={}", file.display());
    let written = write_when_changed(&file, &rust).and_then(|()| write_when_changed(&out.join(ENTRY), ENTRY_TEXT));
    if let Err(error) = written {
        println!("cargo:warning=diglot: cannot write {}: {error}", out.display());
    }
}

fn generate(root: &Path, out: &Path) -> Result<(Inputs, Compiled), LoadError> {
    watch(root);
    let mut inputs = load(root)?;
    for places in [&inputs.config.sql, &inputs.config.schema] {
        match places.shared() {
            Some(folder) => watch_place(root, folder),
            None => {
                let all = Dialect::ALL.into_iter().flat_map(|dialect| places.of(dialect));
                all.for_each(|place| watch_place(root, place));
            }
        }
    }
    inputs.named.iter().for_each(|path| watch_place(root, path));
    let callers = inputs.config.locks.iter().flat_map(|locks| &locks.transactions_in);
    callers.for_each(|place| watch_place(root, place));
    let divergences = inputs.config.divergences();
    watch_place(root, &divergences);
    watch_place(root, BASELINE);
    #[cfg(unix)]
    {
        let places = [&inputs.config.sql, &inputs.config.schema];
        let places = places.into_iter().flat_map(|places| Dialect::ALL.into_iter().flat_map(move |of| places.of(of)));
        let files = [CONFIG, BASELINE, divergences.as_str()];
        let absent = files.into_iter().chain(places.map(String::as_str)).filter(|place| !root.join(place).exists());
        match absent::links(root, out, absent) {
            Ok(folder) => println!("cargo:rerun-if-changed={}", folder.display()),
            Err(error) => println!("cargo:warning=diglot: cannot watch for new files: {error}"),
        }
    }
    // A path that is not there makes cargo run the script every time: right for answers that must come.
    let generate = &inputs.config.generate;
    if generate.enabled && generate.queries.needs_answers() || inputs.answers.is_some() {
        println!("cargo:rerun-if-changed={ANSWERS}/{INDEX_FILE}");
    }
    inputs.previous = fs::read_to_string(out.join(API)).ok();
    let (cache, by) = (out.join(CACHE), this_compiler());
    let before = by.as_deref().and_then(|by| read_cache(&cache, by)).unwrap_or_default();
    let (compiled, after) = compile_again(&inputs, &before);
    if let (Some(by), Ok(text)) = (by, serde_json::to_string(&after)) {
        // Without it the next run does everything.
        let _ = write_when_changed(&cache, &format!("{by}\n{text}"));
    }
    Ok((inputs, compiled))
}

/// What tells this build of the compiler from others.
fn this_compiler() -> Option<String> {
    let program = fs::metadata(env::current_exe().ok()?).ok()?;
    let built = program.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{} {} {}", env!("CARGO_PKG_VERSION"), program.len(), built.as_nanos()))
}

/// What this compiler has kept; a file that is not whole counts as none.
fn read_cache(path: &Path, by: &str) -> Option<Cache> {
    let text = fs::read_to_string(path).ok()?;
    let (first, rest) = text.split_once('\n')?;
    if first == by { serde_json::from_str(rest).ok() } else { None }
}

fn watch(root: &Path) {
    println!("cargo:rerun-if-changed=build.rs");
    if root.join(CONFIG).exists() {
        println!("cargo:rerun-if-changed={CONFIG}");
    }
}

/// Cargo watches a folder with all that is below it.
fn watch_place(root: &Path, place: &str) {
    let (place, _) = Places::files(place);
    if root.join(place).exists() {
        println!("cargo:rerun-if-changed={place}");
    }
}

fn warn(inputs: &Inputs, compiled: &Compiled) {
    if compiled.has_errors() {
        return;
    }
    for line in all(&inputs.sources, &compiled.diagnostics, Look::Short).lines() {
        println!("cargo:warning={line}");
    }
}

fn write_when_changed(path: &Path, text: &str) -> io::Result<()> {
    if fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    fs::write(path, text)
}

/// Reads everything that [`crate::compile`] needs from a project's root folder. What is wrong inside a file is a
/// finding of the inputs, not an error.
///
/// # Errors
/// When the system refuses to read a file or a folder that is there.
pub fn load(root: &Path) -> Result<Inputs, LoadError> {
    load_over(root, &BTreeMap::new())
}

/// The same with texts in the place of what the folder holds, by their paths below it with forward slashes: files that are
/// open in an editor and not saved, new ones among them.
///
/// # Errors
/// When the system refuses to read a file or a folder that is there.
pub fn load_over(root: &Path, open: &BTreeMap<String, String>) -> Result<Inputs, LoadError> {
    let folder = Folder { root, open };
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let mut inputs = Inputs { check_answers: true, threads, ..Inputs::default() };
    if let Some(bytes) = folder.read(CONFIG)? {
        configure(&mut inputs, &bytes);
    }
    let mut files = Vec::new();
    for (path, roles) in folder.roles(&inputs.config)? {
        if let Some(bytes) = folder.read(&path)? {
            files.push((path, bytes, roles));
        }
    }
    let texts = files.iter().filter_map(|(path, bytes, _)| Some((path.as_str(), str::from_utf8(bytes).ok()?)));
    let packages = Packages::new(texts.clone(), []);
    let known: BTreeSet<&str> = files.iter().map(|(path, ..)| path.as_str()).collect();
    inputs.named = folder.named(&packages)?.into_iter().filter(|path| !known.contains(path.as_str())).collect();
    let mut others = Vec::new();
    for path in &inputs.named {
        others.extend(folder.read(path)?.and_then(|bytes| Some((path.clone(), String::from_utf8(bytes).ok()?))));
    }
    let packages = match others.is_empty() {
        true => packages,
        false => Packages::new(texts, others.iter().map(|(path, text)| (path.as_str(), text.as_str()))),
    };
    for (path, bytes, roles) in &files {
        add_for(&mut inputs, path, bytes, roles, &packages);
    }
    if inputs.findings.iter().all(|finding| finding.rule != rule::BAD_CONFIG.name) {
        report_missing(&mut inputs, &folder);
    }
    let divergences = inputs.config.divergences();
    if let Some(bytes) = folder.read(&divergences)? {
        add(&mut inputs, &divergences, &bytes);
    }
    add_transactions(&mut inputs, &folder)?;
    if let Some(bytes) = folder.read(BASELINE)? {
        inputs.baseline = Some(add(&mut inputs, BASELINE, &bytes));
    }
    let index = folder.read(&format!("{ANSWERS}/{INDEX_FILE}"))?;
    inputs.answers = index.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let evidence = folder.read(&format!("{ANSWERS}/{EVIDENCE}"))?;
    inputs.evidence = evidence.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(inputs)
}

/// Takes `diglot.toml` in; it joins the sources, so that a finding about it has a place.
fn configure(inputs: &mut Inputs, bytes: &[u8]) {
    let file = add(inputs, CONFIG, bytes);
    let source = inputs.sources.file(file);
    match Config::parse(&source.text, CONFIG) {
        Ok(config) => inputs.config = config,
        Err(error) => {
            let start = source.offset(error.line, error.column);
            let end = source.text[start..].find('\n').map_or(source.text.len(), |length| start + length);
            let finding =
                Diagnostic::error(rule::BAD_CONFIG, error.message.clone(), Span::new(file, start..end), "in this line");
            inputs.findings.push(finding);
        }
    }
}

/// Reads what the transactions of the Rust call that the settings name. What cannot be followed is a finding in that Rust.
fn add_transactions(inputs: &mut Inputs, folder: &Folder<'_>) -> Result<(), LoadError> {
    let places: Vec<String> = inputs.config.locks.iter().flat_map(|locks| locks.transactions_in.clone()).collect();
    let mut paths = BTreeSet::new();
    for place in places {
        let found = folder.files(&place)?;
        if found.is_empty() {
            let absent = absent_rust(inputs, &place);
            inputs.findings.extend(absent);
        }
        paths.extend(found.into_iter().filter(|path| path.ends_with(".rs")));
    }
    let mut files = Vec::new();
    for path in paths {
        files.extend(folder.read(&path)?.and_then(|bytes| Some((path, String::from_utf8(bytes).ok()?))));
    }
    let called = extract::transactions(files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    inputs.transactions = called.transactions;
    for lost in called.lost {
        let Some((path, text)) = files.iter().find(|(path, _)| *path == lost.path) else { continue };
        let file = inputs.sources.add(SourceFile::new(path, text.clone()));
        let name = &text[lost.place.clone()];
        let message = format!("`{name}` gets the connection of a transaction, and is in no file that is read");
        let finding = Diagnostic::error(rule::BAD_CONFIG, message, Span::new(file, lost.place), "what does it call?");
        let help = "name the folder or the file where it stands, `transactions_in` below `[locks]`";
        inputs.findings.push(finding.help(help));
    }
    Ok(())
}

/// A place of Rust that is not there.
fn absent_rust(inputs: &Inputs, place: &str) -> Option<Diagnostic> {
    let (file, settings) = inputs.sources.iter().find(|(_, file)| file.path == CONFIG)?;
    let start = settings.text.find(&format!("\"{place}\""))? + 1;
    let message = format!("there is no Rust in `{place}`, where transactions are looked for");
    let span = Span::new(file, start..start + place.len());
    Some(Diagnostic::error(rule::BAD_CONFIG, message, span, "holds none"))
}

/// Reports places that the settings name and that are not there, and schemas that no statement can do without.
fn report_missing(inputs: &mut Inputs, folder: &Folder<'_>) {
    let settings = inputs.sources.iter().find(|(_, file)| file.path == CONFIG);
    let named = |place: &str| {
        let (id, file) = settings?;
        let start = file.text.find(&format!("\"{place}"))? + 1;
        Some(Span::new(id, start..start + place.len()))
    };
    let statement = Dialect::ALL.iter().find_map(|dialect| inputs.statement_files(*dialect).first().map(|(id, _)| *id));
    let mut findings = Vec::new();
    for (places, fallback) in [(&inputs.config.sql, None), (&inputs.config.schema, statement)] {
        let all = match places.shared() {
            Some(shared) => vec![shared],
            None => Dialect::ALL.iter().flat_map(|dialect| places.of(*dialect)).map(String::as_str).collect(),
        };
        // What is read for both is missing once.
        let mut told = BTreeSet::new();
        for place in all.into_iter().filter(|place| !folder.has(place) && told.insert(*place)) {
            let Some(span) = named(place).or_else(|| Some(Span::new(fallback?, 0..0))) else { continue };
            let message = format!("there is no `{place}`, where SQL is looked for");
            let help = format!("write in {CONFIG} where it is, under `sql` or `schema`; or make the folder");
            findings.push(Diagnostic::error(rule::MISSING_FOLDER, message, span, "needed for this").help(help));
        }
    }
    inputs.findings.extend(findings);
}

/// What stands before the first byte of a text in UTF-16, in either order.
const UTF16: [[u8; 2]; 2] = [[0xff, 0xfe], [0xfe, 0xff]];

/// Reports the marks of a merge that is not settled.
fn report_conflict(inputs: &mut Inputs, file: FileId) {
    let source = inputs.sources.file(file);
    let mut at = 0;
    for line in source.shown().split_inclusive('\n') {
        if line.starts_with("<<<<<<< ") {
            let message = format!("{} holds a merge that is not settled", source.path);
            let span = Span::new(file, at..at + line.trim_end().len());
            let finding = Diagnostic::error(rule::MERGE_CONFLICT, message, span, "both sides stand below");
            inputs.findings.push(finding.help("keep the side that is meant, and delete the marks"));
            return;
        }
        at += line.len();
    }
}

/// Adds a file; bytes that are not UTF-8 are a finding.
fn add(inputs: &mut Inputs, path: &str, bytes: &[u8]) -> FileId {
    add_for(inputs, path, bytes, &[], &Packages::default())
}

/// Adds a file once for each role, and as it is without one.
fn add_for(inputs: &mut Inputs, path: &str, bytes: &[u8], roles: &[Role], packages: &Packages<'_>) -> FileId {
    if UTF16.iter().any(|mark| bytes.starts_with(mark)) {
        let file = inputs.sources.add(SourceFile::new(path, ""));
        let message = format!("{path} is UTF-16, not UTF-8");
        let finding = Diagnostic::error(rule::NOT_UTF8, message, Span::new(file, 0..0), "the whole file");
        inputs.findings.push(finding.help("save the file as UTF-8"));
        return file;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => {
            let built = &inputs.config.built;
            let read: Vec<_> = roles.iter().map(|role| packages.read(path, text, *role, built)).collect();
            let mut read = read.into_iter();
            let file = inputs.sources.add(read.next().unwrap_or_else(|| SourceFile::new(path, text)));
            read.for_each(|other| _ = inputs.sources.add(other));
            report_conflict(inputs, file);
            file
        }
        Err(error) => {
            let file = inputs.sources.add(SourceFile::new(path, String::from_utf8_lossy(bytes)));
            let start = error.valid_up_to();
            let span = Span::new(file, start..start + char::REPLACEMENT_CHARACTER.len_utf8());
            inputs.findings.push(
                Diagnostic::error(rule::NOT_UTF8, format!("{path} is not UTF-8"), span, "the first byte that is not")
                    .help("save the file as UTF-8"),
            );
            file
        }
    }
}

/// A project's folder, with texts that take the place of what is in it.
struct Folder<'a> {
    root: &'a Path,
    open: &'a BTreeMap<String, String>,
}

impl Folder<'_> {
    /// The bytes of a file, or `None` when it is not there.
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, LoadError> {
        if let Some(text) = self.open.get(path) {
            return Ok(Some(text.clone().into_bytes()));
        }
        match fs::read(self.root.join(path)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(LoadError::Io { path: path.to_owned(), source }),
        }
    }

    /// The files of statements and schemas, each once, with what it is read for where its place does not tell.
    fn roles(&self, config: &Config) -> Result<Vec<(String, Vec<Role>)>, LoadError> {
        let mut files: Vec<(String, Vec<Role>)> = Vec::new();
        for (places, role) in [(&config.sql, Role::Statements), (&config.schema, Role::Schema)] {
            for place in Dialect::ALL.into_iter().flat_map(|dialect| places.of(dialect)) {
                for path in self.files(place)? {
                    match files.iter_mut().find(|(known, _)| *known == path) {
                        Some((_, roles)) if roles.contains(&role) => {}
                        Some((_, roles)) => roles.push(role),
                        None => files.push((path, vec![role])),
                    }
                }
            }
        }
        for (path, roles) in &mut files {
            if roles.len() == 1 && !extract::reads(path) {
                roles.clear();
            }
        }
        Ok(files)
    }

    /// Whether a place is there: a file, a folder, or for a pattern a file with its ending.
    fn has(&self, place: &str) -> bool {
        if place.contains('*') {
            return self.files(place).map_or(true, |files| !files.is_empty());
        }
        let is_in =
            |path: &String| path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        self.root.join(place).exists() || self.open.keys().any(is_in)
    }

    /// The files of a place by name, with forward slashes; none when it is not there. Tests of Go are none of them.
    fn files(&self, place: &str) -> Result<Vec<String>, LoadError> {
        let is_file = place.ends_with(".sql") || extract::reads(place);
        if is_file && (self.open.contains_key(place) || self.root.join(place).is_file()) {
            return Ok(vec![place.to_owned()]);
        }
        let (folder, ending) = Places::files(place);
        let names = self.below(folder, Places::is_deep(place))?;
        let open = self.open.keys().filter_map(|path| path.strip_prefix(folder)?.strip_prefix('/'));
        let open = open.filter(|name| Places::is_deep(place) || !name.contains('/')).map(str::to_owned);
        let names: BTreeSet<String> = names.into_iter().chain(open).collect();
        let has_sql = names.iter().any(|name| name.ends_with(".sql"));
        // A folder of Go or Rust is read as such, with the folders below it.
        let is_code = ending == "sql" && !has_sql;
        let names = if is_code { self.below(folder, true)?.into_iter().chain(names).collect() } else { names };
        let counts = |name: &String| {
            let file = name.rsplit('/').next().unwrap_or(name);
            let known = file.rsplit_once('.').filter(|(_, known)| *known == ending || is_code && extract::reads(file));
            // Editors leave hidden files beside the real ones.
            known.is_some_and(|(stem, known)| !(stem.starts_with('.') || known == "go" && stem.ends_with("_test")))
        };
        Ok(names.into_iter().filter(counts).map(|name| format!("{folder}/{name}")).collect())
    }

    /// The files outside of what is read whose constants texts name.
    fn named(&self, packages: &Packages<'_>) -> Result<Vec<String>, LoadError> {
        let mut named = BTreeSet::new();
        for place in packages.places() {
            if extract::reads(&place) {
                named.extend(Some(place).filter(|place| self.root.join(place).is_file()));
                continue;
            }
            let is_code = |name: &String| name.ends_with(".go") && !name.ends_with("_test.go");
            let files = self.below(&place, false)?.into_iter().filter(is_code);
            named.extend(files.map(|name| format!("{place}/{name}")));
        }
        Ok(named.into_iter().collect())
    }

    /// The names of the files in a folder, and in those below it with their paths; none when it is not there.
    fn below(&self, folder: &str, is_deep: bool) -> Result<BTreeSet<String>, LoadError> {
        let failed = |source| LoadError::Io { path: folder.to_owned(), source };
        let mut names = BTreeSet::new();
        match fs::read_dir(self.root.join(folder)) {
            Ok(entries) => {
                for entry in entries {
                    let entry = entry.map_err(failed)?;
                    let name = entry.file_name().to_string_lossy().into_owned();
                    match entry.path().is_dir() {
                        false => _ = names.insert(name),
                        true if is_deep && !SKIPPED.contains(&name.as_str()) && !name.starts_with('.') => {
                            let inner = self.below(&format!("{folder}/{name}"), true)?;
                            names.extend(inner.into_iter().map(|inner| format!("{name}/{inner}")));
                        }
                        true => {}
                    }
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(failed(source)),
        }
        Ok(names)
    }
}

/// Folders whose code is somebody else's, made by tools, or for tests.
const SKIPPED: [&str; 5] = ["target", "vendor", "node_modules", "testdata", "tests"];

#[cfg(test)]
mod tests;

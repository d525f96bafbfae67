//! How long the compiler takes, and how much memory: `cargo bench -p diglot --bench speed`.
//!
//! The projects that it measures are made of this repository's own pages, copied under other names 1, 2, 4 and 8
//! times, with the engines' answers and the evidence renamed alike. Each size is measured in a process of its own, so that the
//! memory is that of one size. All work is done on one thread.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use diglot::answers::{self, Index};
use diglot::evidence::{Evidence, Record};
use diglot::{EmittedText, Inputs, Weighed};
use mimalloc::MiMalloc;

/// That of the command line.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// How many copies of this repository's pages the projects hold.
const COPIES: [usize; 4] = [1, 2, 4, 8];
/// How often each step runs; the quickest run counts, because whatever else the machine does only adds.
const RUNS: usize = 7;

fn main() -> ExitCode {
    // Cargo adds words of its own.
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.as_slice() {
        [command, folder] if command == "measure" => {
            measure(Path::new(folder));
            ExitCode::SUCCESS
        }
        _ => all_sizes(),
    }
}

fn all_sizes() -> ExitCode {
    println!("| pairs | read | check | generate | all | largest memory |");
    println!("|---|---|---|---|---|---|");
    for copies in COPIES {
        let folder = tempfile::tempdir().expect("a folder for the project");
        make(folder.path(), copies);
        let program = env::current_exe().expect("this program's own path");
        let status = Command::new(program).arg("measure").arg(folder.path()).status();
        if !status.is_ok_and(|status| status.success()) {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Writes a project of so many copies.
fn make(root: &Path, copies: usize) {
    let original = diglot::build::load(&repository()).expect("this repository's own pages");
    for (_, file) in original.sources.iter() {
        if file.path == "diglot.toml" {
            write(root, &file.path, &settings(&file.text, copies));
            continue;
        }
        let Some(page) = file.path.strip_prefix("sql/").and_then(|path| path.strip_suffix(".sql")) else {
            write(root, &file.path, &file.text);
            continue;
        };
        for copy in 0..copies {
            write(root, &format!("sql/{page}_{copy}.sql"), &renamed(&file.text, copy));
        }
    }
    let mut inputs = diglot::build::load(root).expect("the project that was just written");
    inputs.check_answers = false;
    let compiled = diglot::check(&inputs);
    let known: Index = serde_json::from_str(&original.answers.expect("answers")).expect("the answers' own form");
    let records = compiled.texts.iter().filter_map(|text| {
        let mut record = known.texts.get(&original_key(text))?.clone();
        record.hash = answers::digest(text.sql.as_bytes());
        Some((answers::key(text), record))
    });
    let records: BTreeMap<_, _> = records.collect();
    write(root, ".sqlx/diglot.json", &answers::index(&inputs, &records));
    let known = original.evidence.as_deref().and_then(Evidence::parse).expect("evidence");
    let record = |pair: &Weighed| {
        let record = known.pairs.get(original_name(&pair.name))?.clone();
        Some((pair.name.clone(), Record { basis: pair.basis.clone(), ..record }))
    };
    let pairs = compiled.weighed.iter().filter_map(record).collect();
    write(root, ".sqlx/evidence.json", &Evidence { pairs, ..known.clone() }.to_text());
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("a path below the root")).expect("a folder");
    fs::write(path, text).expect("a file");
}

/// The settings with whatever they say of a statement said of every copy of it.
fn settings(text: &str, copies: usize) -> String {
    let mut settings: toml::Table = text.parse().expect("this repository's own settings");
    if let Some(lists) = settings.get_mut("transactions").and_then(toml::Value::as_table_mut) {
        let originals = std::mem::take(lists).into_iter();
        lists.extend(originals.flat_map(|(name, statements)| {
            let of = move |copy| (format!("{name}_{copy}"), renamed_all(&statements, copy..copy + 1));
            (0..copies).map(of)
        }));
    }
    for key in ["sweeps", "as_writer"] {
        let locks = settings.get_mut("locks").and_then(toml::Value::as_table_mut);
        if let Some(names) = locks.and_then(|locks| locks.get_mut(key)) {
            *names = renamed_all(names, 0..copies);
        }
    }
    let declared = settings.get_mut("declared").and_then(toml::Value::as_array_mut);
    for on in declared.into_iter().flatten().filter_map(|declared| declared.get_mut("on")) {
        *on = renamed_all(on, 0..copies);
    }
    toml::to_string(&settings).expect("settings are written")
}

/// Names of statements, listed or as keys, for each of some copies.
fn renamed_all(names: &toml::Value, copies: Range<usize>) -> toml::Value {
    match names {
        toml::Value::Array(names) => {
            let names = names.iter().filter_map(toml::Value::as_str);
            let copied = names.flat_map(|name| copies.clone().map(move |copy| format!("{name}_{copy}").into()));
            toml::Value::Array(copied.collect())
        }
        toml::Value::Table(of) => {
            let each = of.iter();
            let each =
                each.flat_map(|(name, of)| copies.clone().map(move |copy| (format!("{name}_{copy}"), of.clone())));
            toml::Value::Table(each.collect())
        }
        other => other.clone(),
    }
}

/// The page with its statements and shared parts under other names.
fn renamed(text: &str, copy: usize) -> String {
    let line = |line: &str| {
        for mark in ["-- name: ", "-- part: ", "-- use: "] {
            let Some(rest) = line.strip_prefix(mark) else { continue };
            let end = rest.find([' ', '(']).unwrap_or(rest.len());
            return format!("{mark}{}_{copy}{}", &rest[..end], &rest[end..]);
        }
        line.to_owned()
    };
    text.lines().map(|text| line(text) + "\n").collect()
}

/// The name of what a copy was made of.
fn original_name(name: &str) -> &str {
    name.rsplit_once('_').map_or(name, |(name, _)| name)
}

/// The key of the text that a copy was made of.
fn original_key(text: &EmittedText) -> String {
    let original = |name: &str| original_name(name).to_owned();
    let text = EmittedText { noun: original(&text.noun), name: original(&text.name), ..text.clone() };
    answers::key(&text)
}

/// Measures one project and prints its line.
fn measure(root: &Path) {
    let load = || diglot::build::load(root).expect("the project's files");
    let inputs = Inputs { threads: 1, ..load() };
    let read = quickest(|| drop(load()));
    let check = quickest(|| drop(diglot::check(&inputs)));
    let whole = quickest(|| drop(diglot::compile(&inputs)));
    let compiled = sound(&inputs);
    let generate = whole.saturating_sub(check);
    println!(
        "| {} | {} | {} | {} | {} | {} |",
        compiled.stats.pairs,
        shown(read),
        shown(check),
        shown(generate),
        shown(read + whole),
        memory().map_or_else(|| "not known here".to_owned(), |bytes| format!("{} MB", bytes / 1_000_000)),
    );
}

/// The project's result, which has no finding: a quick way to many errors would say nothing.
fn sound(inputs: &Inputs) -> diglot::Compiled {
    let compiled = diglot::compile(inputs);
    let found = diglot::render::all(&inputs.sources, &compiled.diagnostics, diglot::render::Look::Short);
    assert!(!compiled.has_errors(), "{found}");
    compiled
}

fn quickest(mut work: impl FnMut()) -> Duration {
    let run = |_| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    (0..RUNS).map(run).min().unwrap_or_default()
}

fn shown(time: Duration) -> String {
    format!("{:.0} ms", time.as_secs_f64() * 1_000.0)
}

/// The most memory that this process ever held, where the system tells.
fn memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1_024)
}

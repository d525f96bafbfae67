//! How long the compiler takes, and how much memory: `cargo bench -p diglot --bench speed`.
//!
//! The projects that it measures are made of this repository's own pages, copied under other names 1, 2, 4 and 8
//! times, with the engines' answers renamed alike. Each size is measured in a process of its own, so that the
//! memory is that of one size. All work is done on one thread.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use diglot::answers::{self, Index};
use diglot::config::Config;
use diglot::{EmittedText, Inputs};

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
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("a path below the root")).expect("a folder");
    fs::write(path, text).expect("a file");
}

/// The settings with the transactions of every copy, and with the sweeps among them.
fn settings(text: &str, copies: usize) -> String {
    let config = Config::parse(text, "diglot.toml").expect("this repository's own settings");
    let lists = (0..copies).flat_map(|copy| config.transactions.iter().map(move |list| (copy, list)));
    let lists: String = lists
        .map(|(copy, (name, statements))| {
            let statements: Vec<String> = statements.iter().map(|name| format!("\"{name}_{copy}\"")).collect();
            format!("{name}_{copy} = [{}]\n", statements.join(", "))
        })
        .collect();
    let mut settings = replaced(text, "[transactions]\n", "\n[", &lists);
    if let Some(locks) = &config.locks {
        let copied = |copy: usize| locks.sweeps.iter().map(move |name| format!("\"{name}_{copy}\""));
        let sweeps: Vec<String> = (0..copies).flat_map(copied).collect();
        settings = replaced(&settings, "sweeps = [", "]", &sweeps.join(", "));
    }
    settings
}

/// A text with something else between two marks.
fn replaced(text: &str, start: &str, end: &str, between: &str) -> String {
    let at = text.find(start).expect("the first mark") + start.len();
    let length = text[at..].find(end).expect("the second mark");
    format!("{}{between}{}", &text[..at], &text[at + length..])
}

/// The page with its statements under other names.
fn renamed(text: &str, copy: usize) -> String {
    let line = |line: &str| match line.strip_prefix("-- name: ").and_then(|rest| rest.split_once(' ')) {
        Some((name, mode)) => format!("-- name: {name}_{copy} {mode}"),
        None => line.to_owned(),
    };
    text.lines().map(|text| line(text) + "\n").collect()
}

/// The key of the text that a copy was made of.
fn original_key(text: &EmittedText) -> String {
    let original = |name: &str| name.rsplit_once('_').map_or(name, |(name, _)| name).to_owned();
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

//! What a keystroke costs, measured on the project of this repository.

use std::fs;
use std::path::{Path, PathBuf};

use super::client::Client;

const PAGE: &str = "sql/pg/attempt.sql";
const TYPED: usize = 41;

/// The processor time that a process has used so far, in nanoseconds: that of all its threads.
fn processor_time(process: u32) -> u64 {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let of = |task: PathBuf| {
        let text = fs::read_to_string(task.join("schedstat")).unwrap_or_default();
        text.split(' ').next().and_then(|time| time.parse::<u64>().ok()).unwrap_or_default()
    };
    tasks.map(|task| of(task.unwrap().path())).sum()
}

/// Types into a statement, letter by letter, each once the findings of the one before are there. `DIGLOT_PROGRAM` names
/// the program to measure, which should be a release build.
#[test]
#[ignore = "it measures and judges nothing"]
fn what_a_keystroke_costs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let program = std::env::var("DIGLOT_PROGRAM").expect("DIGLOT_PROGRAM names the program to measure");
    let mut editor = Client::start_program(Path::new(&program), &root);
    editor.open(PAGE);
    let start = editor.text(PAGE).find("WHERE").unwrap();
    let anchor = editor.text(PAGE)[start..start + 40].to_owned();
    let mut times = Vec::new();
    let mut typed = String::new();
    for at in 0..TYPED {
        // A new difference each time, so that there is something to tell.
        let before = processor_time(editor.process());
        let next = format!("WHERE {} AND ", at + 1);
        let old = if typed.is_empty() { anchor.clone() } else { anchor.replacen("WHERE ", &typed, 1) };
        editor.replace(PAGE, &old, &anchor.replacen("WHERE ", &next, 1));
        typed = next;
        editor.next_told();
        editor.ask_end("textDocument/completion", PAGE);
        times.push(processor_time(editor.process()) - before);
    }
    let first = times.remove(0);
    times.sort_unstable();
    let ms = |time: u64| time as f64 / 1e6;
    println!(
        "{} keystrokes in {PAGE}: median {:.1} ms, most {:.1} ms of processor time with a completion after each; the first, \
         with everything to read, {:.1} ms",
        times.len(),
        ms(times[times.len() / 2]),
        ms(times[times.len() - 1]),
        ms(first),
    );
    assert_eq!(editor.end(), Some(0));
}

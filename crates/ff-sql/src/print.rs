//! What is printed: lines for people, coloured on a terminal, or one JSON document.

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use console::{Alignment, Style, pad_str, style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};

use crate::arguments::Color;
use crate::failure::Failure;

/// How things are printed.
pub(crate) struct Printer {
    pub(crate) json: bool,
}

impl Printer {
    pub(crate) fn new(json: bool, color: Color) -> Self {
        match color {
            Color::Auto => {}
            Color::Always => set_colors(true),
            Color::Never => set_colors(false),
        }
        Self { json }
    }

    /// Prints the one document, or the lines.
    pub(crate) fn answer(&self, document: &Value, lines: &[String]) {
        // Whoever reads may have gone: that is no failure of the command.
        let mut out = std::io::stdout().lock();
        if self.json {
            let _ = writeln!(out, "{document:#}");
        } else {
            for line in lines {
                let _ = writeln!(out, "{line}");
            }
        }
    }

    /// Tells why nothing could be answered.
    pub(crate) fn failed(&self, failure: &Failure) -> ExitCode {
        let Failure { says, help, .. } = failure;
        let mut out = std::io::stderr().lock();
        if self.json {
            let _ = writeln!(out, "{:#}", json!({ "error": says, "help": help }));
        } else {
            let _ = writeln!(out, "{} {says}", style("error:").for_stderr().red().bold());
            if let Some(help) = help {
                let _ = writeln!(out, "{} {help}", style("help:").for_stderr().cyan());
            }
        }
        ExitCode::FAILURE
    }

    /// Tells how far a command is; on a terminal alone.
    pub(crate) fn progress(&self, doing: &str, of: Option<u64>) -> ProgressBar {
        let bar = of.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
        if self.json || !std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let look = match of {
            Some(_) => "{msg} {bar:30} {human_pos}/{human_len} {eta}",
            None => "{spinner} {msg} {human_pos}",
        };
        if let Ok(look) = ProgressStyle::with_template(look) {
            bar.set_style(look);
        }
        bar.set_message(doing.to_owned());
        bar
    }

    /// Asks whether to do what cannot be undone. Where nobody can be asked, it is not done.
    pub(crate) fn agrees(&self, question: &str) -> Result<bool, Failure> {
        if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
            return Err(Failure::new(format!("{question} This cannot be undone, and nobody is there to be asked"))
                .with("add `--yes`; `--dry-run` says what it would be done to"));
        }
        let mut out = std::io::stderr().lock();
        let _ = write!(out, "{} {question} This cannot be undone. [y/N] ", style("?").for_stderr().yellow().bold());
        let _ = out.flush();
        drop(out);
        let mut answer = String::new();
        let read = std::io::stdin().read_line(&mut answer);
        Ok(read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes"))
    }
}

fn set_colors(enabled: bool) {
    console::set_colors_enabled(enabled);
    console::set_colors_enabled_stderr(enabled);
}

/// Columns under headings, each as wide as its widest cell; what is behind the last one is not padded. Cells that begin with
/// a digit are numbers, and stand at the right.
pub(crate) fn table(headings: &[&str], rows: &[Vec<String>]) -> Vec<String> {
    let width = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at)).map(|cell| console::measure_text_width(cell));
        cells.chain([headings.get(at).map_or(0, |heading| heading.len())]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let line = |cells: &[String], look: Option<&Style>| {
        let mut text = String::new();
        for (at, (cell, width)) in cells.iter().zip(&widths).enumerate() {
            let is_number = cell.starts_with(|c: char| c.is_ascii_digit()) && !cell.contains(':');
            let side = if is_number { Alignment::Right } else { Alignment::Left };
            let padded = pad_str(cell, *width, side, None);
            let padded = if at + 1 == cells.len() && !is_number { cell.clone() } else { padded.into_owned() };
            text.push_str(&look.map_or(padded.clone(), |look| look.apply_to(&padded).to_string()));
            if at + 1 < cells.len() {
                text.push_str("  ");
            }
        }
        text
    };
    let headings: Vec<String> = headings.iter().map(|heading| (*heading).to_owned()).collect();
    let head = line(&headings, Some(&Style::new().bold()));
    std::iter::once(head).chain(rows.iter().map(|row| line(row, None))).collect()
}

/// A span as people say it, in its two largest units.
pub(crate) fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    let units = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];
    let Some(first) = units.iter().position(|(_, length)| seconds >= *length) else { return "0s".to_owned() };
    let mut left = seconds;
    let mut text = String::new();
    for (unit, length) in units.iter().skip(first).take(2) {
        if left >= *length {
            text.push_str(&format!("{}{unit}", left / length));
        }
        left %= length;
    }
    text
}

/// How long ago something was, as people say it; one that is ahead is `in` some time.
pub(crate) fn ago(at_ms: i64, now_ms: i64) -> String {
    let apart = Duration::from_millis(now_ms.abs_diff(at_ms));
    if at_ms > now_ms { format!("in {}", span(apart)) } else { span(apart) }
}

/// A number of things: `1 execution`, `40 executions`.
pub(crate) fn counted(count: u64, thing: &str) -> String {
    let number = indicatif::HumanCount(count);
    if count == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

/// Bytes as people say them.
pub(crate) fn bytes(count: u64) -> String {
    indicatif::HumanBytes(count).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_has_its_two_largest_units() {
        let cases =
            [(0, "0s"), (59, "59s"), (60, "1m"), (61, "1m1s"), (3_600, "1h"), (3_661, "1h1m"), (90_000, "1d1h")];
        for (seconds, text) in cases {
            assert_eq!(span(Duration::from_secs(seconds)), text);
        }
        assert_eq!((ago(1_000, 62_000), ago(62_000, 1_000)), ("1m1s".to_owned(), "in 1m1s".to_owned()));
    }

    #[test]
    fn columns_are_as_wide_as_their_cells() {
        let rows = [vec!["mail".to_owned(), "7".to_owned(), "x".to_owned()], vec!["a".into(), "12".into(), "".into()]];
        let lines = table(&["LANE", "N", "WHY"], &rows);
        let plain: Vec<_> = lines.iter().map(|line| console::strip_ansi_codes(line).into_owned()).collect();
        assert_eq!(plain, ["LANE  N   WHY", "mail   7  x", "a     12  "]);
    }
}

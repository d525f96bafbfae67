//! The review as a comment on a pull request.

use super::changed::{Book, Change, Item};
use super::entry::{Entry, State};
use super::escape::{block, code, markdown};
use super::shown;
use diglot::baseline;
use diglot::diagnostic::Diagnostic;
use diglot::dialect::Dialect;
use diglot::source::Sources;

/// Forges take 65,536 characters; what does not fit is counted instead.
const LIMIT: usize = 60_000;

pub(super) fn comment(book: &Book<'_>) -> String {
    let mut text = summary(book);
    let mut left_out = 0;
    let sections = book.elsewhere.findings.iter().map(|finding| self::finding(book.sources, finding));
    // What the baseline knows comes last: it is nobody's business today.
    let of = |known: bool| {
        let items = book.items.iter().filter(move |item| (item.entry.state == State::Known) == known);
        items.filter(|item| is_told(book, item)).map(item)
    };
    let known = folded(book.sources, &book.elsewhere.known);
    for section in sections.chain(of(false)).chain(of(true)).chain([known]) {
        if left_out > 0 || text.len() + section.len() > LIMIT {
            left_out += 1;
        } else {
            text.push_str(&section);
        }
    }
    if left_out > 0 {
        text.push_str(&format!("\n{left_out} more do not fit here; `cargo diglot review` shows them.\n"));
    }
    text
}

/// Everything that changed; in a review of the whole project, what is not equal.
fn is_told(book: &Book<'_>, item: &Item<'_>) -> bool {
    book.since.is_some() || item.entry.state < State::Equal
}

fn summary(book: &Book<'_>) -> String {
    let mut text = format!("### {}: SQL in two dialects\n\n", markdown(book.title));
    text.push_str(
        "| pairs | equal | declared | one dialect | findings | facts declared to differ |\n|--:|--:|--:|--:|--:|--:|\n",
    );
    let [_, _, _, declared, equal, single] = book.states;
    text.push_str(&format!(
        "| {} | {equal} | {declared} | {single} | {} | {} of {} ({:.1} %) |\n\n",
        book.stats.pairs,
        book.findings,
        book.stats.waived,
        book.stats.facts,
        book.stats.waived_share()
    ));
    if book.known > 0 {
        text.push_str(&format!("{}.\n\n", baseline::folded(book.known)));
    }
    if let Some(since) = &book.since {
        let count = |change: Change| book.items.iter().filter(|item| item.change == Some(change)).count();
        text.push_str(&format!(
            "Since {}: {} changed, {} added, {} removed, {} judged anew, {} unchanged.\n\n",
            code(since.revision),
            count(Change::Edited),
            count(Change::Added),
            count(Change::Removed),
            count(Change::Judged),
            since.unchanged
        ));
        for (path, what) in &since.files {
            text.push_str(&format!("* {} {what}\n", code(path)));
        }
        text.push('\n');
    }
    text
}

fn item(item: &Item<'_>) -> String {
    let entry = &item.entry;
    let change = item.change.map_or_else(String::new, |change| format!(", {}", change.word()));
    let mut text = format!(
        "<details><summary><b>{}</b> — {}{change}</summary>\n\n",
        super::escape::html(&entry.name),
        entry.state.title()
    );
    for declaration in &entry.declarations {
        let about = format!("{}: {}", declaration.word, declaration.about);
        text.push_str(&format!("* {} {}\n", code(&about), markdown(&declaration.reason)));
    }
    text.push('\n');
    text.extend(entry.findings.iter().map(|finding| self::finding(entry.sources, finding)));
    text.push_str(&shown::in_comment(entry));
    text.push_str(&folded(entry.sources, &entry.known));
    match (&item.before, item.change) {
        (Some(before), _) if item.change == Some(Change::Edited) => text.push_str(&edited(before, entry)),
        (_, Some(Change::Judged)) => text.push_str("The text is the same.\n\n"),
        (_, Some(_)) => text.push_str(&pages(entry)),
        _ => text.push_str(&differences(entry)),
    }
    text + "</details>\n\n"
}

/// Findings that the baseline knows, behind one line.
fn folded(sources: &Sources, known: &[&Diagnostic]) -> String {
    if known.is_empty() {
        return String::new();
    }
    let found: String = known.iter().map(|finding| self::finding(sources, finding)).collect();
    format!("<details><summary>{}</summary>\n\n{found}</details>\n\n", baseline::folded(known.len()))
}

/// Both pages whole.
fn pages(entry: &Entry<'_>) -> String {
    let mut text = String::new();
    for dialect in Dialect::ALL {
        if let Some(written) = entry.written(dialect) {
            text.push_str(&format!("{}\n\n{}\n", dialect.title(), block("sql", written)));
        }
    }
    text
}

/// What changed on each page, line by line.
fn edited(before: &Entry<'_>, now: &Entry<'_>) -> String {
    let mut text = String::new();
    for dialect in Dialect::ALL {
        let (old, new) = (before.written(dialect), now.written(dialect));
        if old != new {
            let lines = lines(old.unwrap_or_default(), new.unwrap_or_default());
            text.push_str(&format!("{}\n\n{}\n", dialect.title(), block("diff", &lines)));
        }
    }
    text
}

/// The lines of two texts with a sign in front; an unchanged line has none.
fn lines(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - start;
    let end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let mut text = String::new();
    let mut say = |sign: char, lines: &[&str]| {
        lines.iter().for_each(|line| text.push_str(&format!("{sign}{line}\n")));
    };
    say(' ', &old[..start]);
    say('-', &old[start..old.len() - end]);
    say('+', &new[start..new.len() - end]);
    say(' ', &new[new.len() - end..]);
    text
}

/// The facts in which the pages differ, as a diff from SQLite to Postgres.
fn differences(entry: &Entry<'_>) -> String {
    let mut text = String::new();
    for row in entry.rows.iter().filter(|row| !row.verdict.is_same()) {
        let said = |page: Dialect| row.spans[page].map_or("", |span| entry.sources.text(span));
        let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        text.push_str(&format!("@@ {} {} @@\n", row.kind, line(&row.item)));
        for (sign, page) in [("-", Dialect::Sqlite), ("+", Dialect::Pg)] {
            if !said(page).is_empty() {
                text.push_str(&format!("{sign} {}\n", line(said(page))));
            }
        }
    }
    if text.is_empty() { text } else { block("diff", &text) + "\n" }
}

fn finding(sources: &Sources, finding: &Diagnostic) -> String {
    let severity = finding.severity.word();
    let mut text = format!("**{severity}** {} {}\n", code(finding.rule), markdown(&finding.message));
    for label in &finding.labels {
        let Some(file) = sources.get(label.span.file) else { continue };
        let (line, _) = file.line_column(label.span.start as usize);
        text.push_str(&format!("* {} {}\n", code(&format!("{}:{line}", file.path)), markdown(&label.text)));
    }
    text.extend(finding.help.iter().map(|help| format!("* help: {}\n", markdown(help))));
    text + "\n"
}

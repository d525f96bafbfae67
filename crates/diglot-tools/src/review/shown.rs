//! What running both pages has shown, in a review.

use super::entry::Entry;
use super::escape::{block, html, markdown};
use diglot::config::Assumption;
use diglot::diagnostic::Diagnostic;
use diglot::evidence::{Grid, Scope, Witness};
use diglot::project::Detail;

/// The notes of a finding that the database beside it does not show already.
pub(super) fn notes<'f>(entry: Option<&Entry<'_>>, finding: &'f Diagnostic) -> Vec<&'f String> {
    let shown = entry.and_then(Entry::witness).map_or_else(Vec::new, |witness| witness.notes(Detail::Short));
    finding.notes.iter().filter(|note| !shown.contains(note)).collect()
}

/// As a part of the page: the database and both answers, or how far the pair was tried in a fold.
pub(super) fn on_page(entry: &Entry<'_>) -> String {
    if let Some(witness) = entry.witness() {
        return database(witness);
    }
    if let Some(scope) = entry.same_when_run() {
        return same(scope);
    }
    let unknown = |reason: &str| {
        format!(
            "<p class=\"ran dim\"><span class=\"badge\">unknown</span> Running it says nothing: {}.</p>\n",
            html(reason)
        )
    };
    entry.unknown().map(unknown).unwrap_or_default()
}

/// The badge that tells how it is known that a pair is equal.
pub(super) fn badge(entry: &Entry<'_>) -> &'static str {
    match entry.same_when_run() {
        Some(_) => "<span class=\"badge equal\">same when run</span>",
        None => "",
    }
}

fn same(scope: &Scope) -> String {
    let telling = match scope.changes {
        0 => String::new(),
        changes => format!(
            "<p>How telling these databases are: of {changes} changes that were made to one page to try them, they notice {} \
             ({} %).</p>",
            scope.noticed,
            scope.telling()
        ),
    };
    format!(
        "<details class=\"more ran\"><summary>Same when run, which the texts alone do not say</summary><p>{}</p>{telling}\
         </details>\n",
        html(&scope.sentence())
    )
}

fn database(witness: &Witness) -> String {
    let edge = if witness.edge { format!(", {}", edges(witness)) } else { String::new() };
    let mut text = format!(
        "<section class=\"ran witness\"><p><b>{}</b>{}</p>\n<div class=\"grids\">",
        html(&begun(&witness.what)),
        html(&edge)
    );
    for grid in witness.grids(Detail::Short) {
        text.push_str(&table(&grid));
    }
    text.push_str("</div>\n");
    if let Some(arguments) = witness.arguments(Detail::Short) {
        text.push_str(&format!("<p>called with <code>{}</code></p>\n", html(&arguments)));
    }
    text.push_str("<div class=\"panes\">");
    for (heading, lines) in witness.headings().iter().zip(witness.answers(Detail::Short)) {
        let lines: String = lines.iter().map(|line| format!("<code class=\"l\">{}</code>", html(line))).collect();
        text.push_str(&format!("<figure><figcaption><b>{heading}</b></figcaption><pre>{lines}</pre></figure>"));
    }
    text + "</div></section>\n"
}

fn begun(what: &str) -> String {
    let mut letters = what.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// What the data hold that few programs write.
fn edges(witness: &Witness) -> String {
    let excluded = witness.excluded_by.keys().filter_map(|key| Assumption::of_key(key)).map(Assumption::excluded);
    let all: Vec<&str> = excluded.collect();
    if all.is_empty() { "on data that few programs write".to_owned() } else { format!("only on {}", all.join(", ")) }
}

fn table(grid: &Grid) -> String {
    let cells = |tag: &str, cells: &[String]| -> String {
        let each = cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", html(cell)));
        format!("<tr>{}</tr>", each.collect::<String>())
    };
    let rows: String = grid.rows.iter().map(|row| cells("td", row)).collect();
    let more = if grid.more > 0 { format!("<p class=\"dim\">and {} more</p>", grid.more) } else { String::new() };
    format!(
        "<div class=\"grid\"><table><caption>{}</caption><thead>{}</thead><tbody>{rows}</tbody></table>{more}</div>",
        html(&grid.name),
        cells("th", &grid.columns)
    )
}

/// As a part of a comment.
pub(super) fn in_comment(entry: &Entry<'_>) -> String {
    if let Some(witness) = entry.witness() {
        return block("text", &witness.notes(Detail::Short).join("\n")) + "\n";
    }
    if let Some(scope) = entry.same_when_run() {
        return format!("Same when run: {}\n\n", markdown(&scope.sentence()));
    }
    entry.unknown().map(|reason| format!("Running it says nothing: {}.\n\n", markdown(reason))).unwrap_or_default()
}

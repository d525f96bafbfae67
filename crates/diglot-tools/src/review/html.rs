//! The review as one HTML page.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use super::changed::{Book, Change, Item};
use super::entry::{Declaration, Entry, State};
use super::escape::{html, prose};
use super::locks;
use super::pane::{self, Pane};
use super::shown;
use diglot::baseline;
use diglot::compare::{Ground, Row, Verdict};
use diglot::diagnostic::Diagnostic;
use diglot::dialect::{Both, Dialect};
use diglot::source::{Sources, Span};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

pub(super) fn page(book: &Book<'_>) -> String {
    let title = html(&format!("{}: SQL in two dialects", book.title));
    let body = body(book);
    let style = STYLE.to_owned() + &pane::rows(&body);
    // Whatever a file may contain, the page runs its own script and nothing else, and asks nobody for anything.
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(&style),
        hash(SCRIPT)
    );
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>{style}</style>\n\
         </head>\n<body>\n{body}<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

fn body(book: &Book<'_>) -> String {
    let mut text = "<a class=\"skip\" href=\"#-pairs\">Skip to the pairs</a>\n".to_owned();
    text.push_str(&top(book));
    text.push_str("<div class=\"body\">\n");
    text.push_str(&contents(book));
    text.push_str("<main id=\"-pairs\" tabindex=\"-1\">\n");
    let mut noun = None;
    for item in &book.items {
        if noun != Some(&item.entry.noun) {
            if noun.is_some() {
                text.push_str("</section>\n");
            }
            let name = html(&item.entry.noun);
            text.push_str(&format!("<section id=\"{name}.\"><h2><a href=\"#{name}.\">{name}</a></h2>\n"));
            noun = Some(&item.entry.noun);
        }
        text.push_str(&article(book, item));
    }
    if noun.is_some() {
        text.push_str("</section>\n");
    }
    text.push_str("<p id=\"-none\" hidden>Nothing fits the filter.</p>\n");
    text.push_str(&elsewhere(book));
    let anchors = book.items.iter().map(|item| (item.entry.name.as_str(), item.entry.anchor())).collect();
    text.push_str(&locks::section(book.locks, book.said, &anchors));
    text + "</main>\n</div>\n"
}

/// The summary and the filter.
fn top(book: &Book<'_>) -> String {
    let mut text = format!(
        "<header class=\"top\">\n<h1>{}</h1>\n<button type=\"button\" id=\"-theme\" title=\"light, dark, or as the system \
         has it\">theme: <span>auto</span></button>\n",
        html(book.title)
    );
    if let Some(since) = &book.since {
        let count = |change: Change| book.items.iter().filter(|item| item.change == Some(change)).count();
        let counts = [Change::Edited, Change::Added, Change::Removed, Change::Judged]
            .map(|change| format!("{} {}", count(change), change.word()));
        text.push_str(&format!(
            "<p class=\"since\">Since <code>{}</code>: {}; {} unchanged and not shown.</p>\n",
            html(since.revision),
            counts.join(", "),
            since.unchanged
        ));
        if !since.files.is_empty() {
            let files: Vec<String> =
                since.files.iter().map(|(path, what)| format!("<code>{}</code> {what}", html(path))).collect();
            text.push_str(&format!("<p class=\"since\">Other files: {}.</p>\n", files.join(", ")));
        }
    }
    text.push_str(&summary(book));
    text.push_str(&filter(book));
    text + "</header>\n"
}

/// How the statements stand, each counted once, and what was found in all.
fn summary(book: &Book<'_>) -> String {
    let statements: usize = book.states.iter().sum();
    let mut text = format!("<ul class=\"sum\"><li><b>{statements}</b> {}:</li>", plural(statements, "statement"));
    for (state, count) in State::ALL.into_iter().zip(book.states).filter(|(_, count)| *count > 0) {
        let word = state.word();
        text.push_str(&format!(
            "<li class=\"{word}\"><a href=\"#?state={word}\"><b>{count}</b> {}</a></li>",
            state.counted()
        ));
    }
    text.push_str("</ul>\n");
    let elsewhere = book.elsewhere.findings.len() + book.elsewhere.known.len();
    let mut found = vec![format!("{} {}", book.findings, plural(book.findings, "finding"))];
    if book.known > 0 {
        found.push(format!("{} in the baseline", book.known));
    }
    if elsewhere > 0 {
        found.push(format!("<a href=\"#-elsewhere\">{elsewhere} of them outside of statements</a>"));
    }
    let stats = book.stats;
    text.push_str(&format!(
        "<p class=\"dim\">{}. Of {} facts (a condition, a column, an order) {} are declared to differ, {:.1} %.</p>\n",
        found.join(", "),
        stats.facts,
        stats.waived,
        stats.waived_share()
    ));
    text
}

fn plural(count: usize, word: &str) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}

fn filter(book: &Book<'_>) -> String {
    let nouns: BTreeSet<&str> = book.items.iter().map(|item| item.entry.noun.as_str()).collect();
    let tables: BTreeSet<&str> = book.items.iter().flat_map(|item| &item.entry.tables).map(String::as_str).collect();
    let choice = |id: &str, label: &str, options: String| {
        format!("<label>{label} <select id=\"-{id}\"><option value=\"\">all</option>{options}</select></label>\n")
    };
    let options = |words: BTreeSet<&str>| -> String {
        words.into_iter().map(|word| format!("<option value=\"{0}\">{0}</option>", html(word))).collect()
    };
    let states: String = State::ALL
        .iter()
        .map(|state| format!("<option value=\"{}\">{}</option>", state.word(), state.title()))
        .collect();
    format!(
        "<details class=\"filtering\" open><summary>Filter</summary>\n<form class=\"filter\" role=\"search\">\n<label>Find <input id=\"-find\" type=\"search\" \
         placeholder=\"name, comment, reason\" autocomplete=\"off\" aria-keyshortcuts=\"/\"></label>\n{}{}{}\
         <button type=\"reset\">clear</button>\n<output id=\"-count\" aria-live=\"polite\"></output>\n\
         <span class=\"dim keys\"><kbd>/</kbd> find, <kbd>j</kbd> <kbd>k</kbd> next and previous, <kbd>f</kbd> facts</span>\n\
         </form></details>\n",
        choice("noun", "File", options(nouns)),
        choice("table", "Table", options(tables)),
        choice("state", "State", states)
    )
}

/// The list of statements beside them.
fn contents(book: &Book<'_>) -> String {
    let mut text = "<nav aria-label=\"Statements\"><details open><summary>Statements</summary>\n".to_owned();
    let mut noun = None;
    for item in &book.items {
        let entry = &item.entry;
        if noun != Some(&entry.noun) {
            text.push_str(if noun.is_some() { "</ul>\n" } else { "" });
            text.push_str(&format!("<b>{}</b><ul>", html(&entry.noun)));
            noun = Some(&entry.noun);
        }
        text.push_str(&format!(
            "<li><a class=\"{}\" href=\"#{}\">{}</a></li>",
            entry.state.word(),
            html(&entry.anchor()),
            html(&entry.name)
        ));
    }
    text.push_str(if noun.is_some() { "</ul>" } else { "" });
    text + "</details></nav>\n"
}

/// What was found outside of statements.
fn elsewhere(book: &Book<'_>) -> String {
    let found = found(book.sources, None, &book.elsewhere.findings, &book.elsewhere.known);
    if found.is_empty() {
        return String::new();
    }
    format!("<section class=\"elsewhere\" id=\"-elsewhere\"><h2>Outside of statements</h2>{found}</section>\n")
}

/// Findings, and folded below them those that the baseline knows.
fn found(sources: &Sources, entry: Option<&Entry<'_>>, findings: &[&Diagnostic], known: &[&Diagnostic]) -> String {
    let list = |found: &[&Diagnostic]| -> String {
        let items: String = found.iter().map(|finding| self::finding(sources, entry, finding)).collect();
        if items.is_empty() { items } else { format!("<ul class=\"found\">{items}</ul>\n") }
    };
    let folded = match known.len() {
        0 => String::new(),
        count => format!(
            "<details class=\"more\"><summary>{}</summary>\n{}</details>\n",
            html(&baseline::folded(count)),
            list(known)
        ),
    };
    format!("{}{folded}", list(findings))
}

fn article(book: &Book<'_>, item: &Item<'_>) -> String {
    let entry = &item.entry;
    let anchor = html(&entry.anchor());
    let tables: Vec<String> = entry.tables.iter().map(|table| html(table)).collect();
    let mut text = format!(
        "<article id=\"{anchor}\" data-noun=\"{}\" data-state=\"{}\" data-tables=\"{}\" tabindex=\"-1\">\n\
         <header><h3><a href=\"#{anchor}\">{}</a> <code>:{}</code></h3><span class=\"badge {}\">{}</span>",
        html(&entry.noun),
        entry.state.word(),
        tables.join("\n"),
        html(&entry.name),
        entry.cardinality,
        entry.state.word(),
        entry.state.title()
    );
    text.push_str(shown::badge(entry));
    if let Some(change) = item.change {
        text.push_str(&format!("<span class=\"badge change\">{}</span>", change.word()));
    }
    for table in &tables {
        text.push_str(&format!("<button type=\"button\" class=\"chip\" data-table=\"{table}\">{table}</button>"));
    }
    text.push_str("</header>\n");
    if !entry.docs.is_empty() {
        let paragraphs = entry.docs.split(|line| line.trim().is_empty()).filter(|lines| !lines.is_empty());
        text.extend(paragraphs.map(|lines| format!("<p class=\"docs\">{}</p>\n", html(&lines.join("\n")))));
    }
    text.push_str(&declarations(&entry.declarations));
    text.push_str(&found(entry.sources, Some(entry), &entry.findings, &entry.known));
    text.push_str(&shown::on_page(entry));
    text.push_str(&side_by_side(entry));
    if let Some(before) = &item.before {
        text.push_str(&before_and_after(before, entry));
    }
    text.push_str(&facts(entry));
    text.push_str(&plans(book, entry));
    if let Some(signature) = &entry.signature {
        text.push_str(&format!(
            "<details class=\"more\"><summary>Signature</summary><p><code>{}</code></p></details>\n",
            html(signature)
        ));
    }
    text + "</article>\n"
}

fn declarations(declarations: &[Declaration]) -> String {
    if declarations.is_empty() {
        return String::new();
    }
    let one = |declaration: &Declaration| {
        let word = declaration.word;
        format!(
            "<li><span class=\"badge {word}\">{word}: {}</span> {}</li>",
            html(&declaration.about),
            html(&declaration.reason)
        )
    };
    format!("<ul class=\"declarations\">{}</ul>\n", declarations.iter().map(one).collect::<String>())
}

fn finding(sources: &Sources, entry: Option<&Entry<'_>>, finding: &Diagnostic) -> String {
    let severity = finding.severity.word();
    let mut text = format!(
        "<li class=\"{severity}\"><p><span class=\"badge {severity}\">{}</span> {}</p><ul>",
        html(finding.rule),
        prose(&finding.message)
    );
    for label in &finding.labels {
        let Some(file) = sources.get(label.span.file) else { continue };
        let (line, _) = file.line_column(label.span.start as usize);
        text.push_str(&format!("<li><code>{}:{line}</code> {}</li>", html(&file.path), prose(&label.text)));
    }
    for (word, lines) in [("note", shown::notes(entry, finding)), ("help", finding.help.iter().collect())] {
        text.extend(lines.iter().map(|line| format!("<li><b>{word}:</b> {}</li>", prose(line))));
    }
    text + "</ul></li>"
}

fn side_by_side(entry: &Entry<'_>) -> String {
    let panes = Both::of(|dialect| {
        let span = entry.pages[dialect]?.sql;
        let marks = marks(entry.rows, dialect, span);
        Some(sql_pane(entry, dialect, dialect.title(), marks, "other"))
    });
    let missing = ["No SQLite page has it.", "No Postgres page has it."];
    let own = pane::pair([panes.sqlite.as_ref(), panes.pg.as_ref()], missing, false);
    shared(entry) + &own
}

/// What the pages have from shared parts, folded: CTEs of one name face each other.
fn shared(entry: &Entry<'_>) -> String {
    let name = |span: &Span| entry.sources.text(*span).split_whitespace().next().unwrap_or_default().to_lowercase();
    let mut names: Vec<String> = Vec::new();
    for span in Dialect::ALL.into_iter().flat_map(|dialect| &entry.shared[dialect]) {
        if !names.contains(&name(span)) {
            names.push(name(span));
        }
    }
    if names.is_empty() {
        return String::new();
    }
    let pair = |wanted: &String| {
        let panes = Both::of(|dialect| {
            let span = *entry.shared[dialect].iter().find(|span| name(span) == *wanted)?;
            let file = entry.sources.file(span.file);
            Some(Pane {
                title: dialect.title(),
                path: file.path.clone(),
                text: entry.sources.text(span),
                line: file.line_column(span.start as usize).0,
                dialect,
                marks: marks(entry.rows, dialect, span),
                alone: "other",
            })
        });
        let missing =
            ["The SQLite page has none of its name shared.", "The Postgres page has none of its name shared."];
        pane::pair([panes.sqlite.as_ref(), panes.pg.as_ref()], missing, false)
    };
    let texts: String = names.iter().map(pair).collect();
    let given = |wanted: &String| {
        let bound = Dialect::ALL.into_iter().find_map(|dialect| {
            let span = entry.shared[dialect].iter().find(|span| name(span) == *wanted)?;
            let here: BTreeSet<String> = entry.bound[dialect]
                .iter()
                .filter(|bound| span.contains(bound.place))
                .map(|bound| format!("{} = {}", bound.argument.name, bound.argument.text))
                .collect();
            (!here.is_empty()).then(|| here.into_iter().collect::<Vec<_>>().join(", "))
        });
        bound.map_or_else(|| wanted.clone(), |bound| format!("{wanted} ({bound})"))
    };
    let list = html(&names.iter().map(given).collect::<Vec<_>>().join(", "));
    format!("<details class=\"more\"><summary>Shared: {list}</summary>{texts}</details>\n")
}

fn sql_pane<'a>(
    entry: &'a Entry<'a>,
    dialect: Dialect,
    title: &'a str,
    marks: Vec<(std::ops::Range<usize>, &'static str)>,
    alone: &'static str,
) -> Pane<'a> {
    let text = entry.pages[dialect];
    let file = text.and_then(|text| entry.sources.get(text.sql.file));
    let line = text.zip(file).map_or(1, |(text, file)| file.line_column(text.sql.start as usize).0);
    Pane {
        title,
        path: file.map_or_else(String::new, |file| file.path.clone()),
        text: text.map_or("", |text| entry.sources.text(text.sql)),
        line,
        dialect,
        marks,
        alone,
    }
}

/// Where the facts of a page differ, in its own text.
fn marks(rows: &[Row], dialect: Dialect, text: Span) -> Vec<(std::ops::Range<usize>, &'static str)> {
    let mut marks = Vec::new();
    for row in rows {
        let class = match row.verdict {
            Verdict::Same | Verdict::ByRows => continue,
            Verdict::Declared(_) | Verdict::Implied(_) => "declared-mark",
            Verdict::Differs => "finding-mark",
        };
        let Some(span) = row.differing[dialect].filter(|span| text.contains(*span)) else {
            continue;
        };
        marks.push(((span.start - text.start) as usize..(span.end - text.start) as usize, class));
    }
    marks.sort_by_key(|(range, class)| (*class != "finding-mark", range.len()));
    marks
}

/// What changed on each page, in a fold.
fn before_and_after(before: &Entry<'_>, now: &Entry<'_>) -> String {
    let mut text = String::new();
    for dialect in Dialect::ALL {
        if before.written(dialect) == now.written(dialect) {
            continue;
        }
        let titles = ["before", "after"].map(|word| format!("{} {word}", dialect.title()));
        let mut panes = Vec::new();
        for (entry, (title, alone)) in [before, now].into_iter().zip(titles.iter().zip(["deleted", "inserted"])) {
            panes.push(entry.pages[dialect].map(|whole| {
                let pane = sql_pane(entry, dialect, title, Vec::new(), alone);
                let line = entry.sources.file(whole.whole.file).line_column(whole.whole.start as usize).0;
                Pane { text: entry.sources.text(whole.whole), line, ..pane }
            }));
        }
        text.push_str(&pane::pair([panes[0].as_ref(), panes[1].as_ref()], ["It was not there.", "It is gone."], true));
    }
    if before.state != now.state {
        text.push_str(&format!("<p>It was <i>{}</i> and is <i>{}</i>.</p>", before.state.title(), now.state.title()));
    }
    if text.is_empty() {
        return text;
    }
    format!("<details class=\"more\" open><summary>Before and after</summary>{text}</details>\n")
}

fn facts(entry: &Entry<'_>) -> String {
    if entry.rows.is_empty() {
        return String::new();
    }
    let [same, by_rows, declared, differ] = entry.counts();
    let mut counts = vec![format!("{same} the same")];
    for (count, word) in [(by_rows, "the same by rows"), (declared, "declared"), (differ, "different")] {
        if count > 0 {
            counts.push(format!("{count} {word}"));
        }
    }
    let mut text = format!(
        "<details class=\"more facts\"><summary>{} facts: {}</summary><table><thead><tr><th>fact</th>\
         <th>SQLite</th><th>Postgres</th></tr></thead><tbody>",
        entry.rows.len(),
        counts.join(", ")
    );
    let mut group = None;
    for row in entry.rows {
        if group != Some(&row.group) {
            text.push_str(&format!("<tr class=\"group\"><th colspan=\"3\">{}</th></tr>", html(&row.group)));
            group = Some(&row.group);
        }
        text.push_str(&fact(entry, row));
    }
    text + "</tbody></table></details>\n"
}

fn fact(entry: &Entry<'_>, row: &Row) -> String {
    let (class, badge) = match row.verdict {
        Verdict::Same => ("same", String::new()),
        Verdict::ByRows => ("same", "<span class=\"badge equal\">by rows</span>".to_owned()),
        Verdict::Implied(ground) => {
            let why = match ground {
                Ground::Column => "one schema alone has the column",
                Ground::Spelling => "a document's spelling, which is parsed",
                Ground::Stripped => "a clause that one database never gets",
                Ground::RowId => "the new row's number, which SQLite's drivers give",
            };
            ("declared", format!("<span class=\"badge declared\">implied</span> {why}"))
        }
        Verdict::Differs => ("finding", "<span class=\"badge finding\">differs</span>".to_owned()),
        Verdict::Declared(line) => {
            let reason = entry.declarations.iter().find(|declaration| declaration.line == line);
            let about = reason.map_or("", |declaration| declaration.about.as_str());
            ("declared", format!("<span class=\"badge declared\">{}</span>", html(about)))
        }
    };
    let mut text = format!("<tr class=\"{class}\"><th scope=\"row\">{} {} {badge}</th>", row.kind, html(&row.item));
    for dialect in Dialect::ALL {
        let said = row.spans[dialect].map_or_else(
            || "<i class=\"dim\">not said</i>".to_owned(),
            |span| format!("<code>{}</code>", pane::snippet(entry.sources.text(span), dialect)),
        );
        text.push_str(&format!("<td data-page=\"{}\">{said}</td>", dialect.title()));
    }
    text + "</tr>"
}

fn plans(book: &Book<'_>, entry: &Entry<'_>) -> String {
    let mut text = String::new();
    for dialect in Dialect::ALL {
        if let Some(plan) = book.plans.get(&(entry.name.clone(), dialect)) {
            let marked = |line: &str| {
                let class = if line.starts_with('!') { "l scan" } else { "l" };
                format!("<code class=\"{class}\">{}</code>", html(line))
            };
            let (title, plan) = (dialect.title(), plan.lines().map(marked).collect::<String>());
            text.push_str(&format!(
                "<figure><figcaption><b>{title}</b></figcaption><pre class=\"plan\">{plan}</pre></figure>"
            ));
        }
    }
    if text.is_empty() {
        return text;
    }
    format!("<details class=\"more\"><summary>Plans</summary><div class=\"panes\">{text}</div></details>\n")
}

/// The hash of a script or of a style in the form that a page's policy has it.
fn hash(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digest = Sha256::digest(text.as_bytes());
    let mut encoded = String::new();
    for group in digest.chunks(3) {
        let bits = (0..3).fold(0_u32, |bits, at| bits << 8 | u32::from(group.get(at).copied().unwrap_or(0)));
        for at in 0..4 {
            let letter = (bits >> (18 - 6 * at) & 63) as usize;
            encoded.push(if at <= group.len() { char::from(LETTERS[letter]) } else { '=' });
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_has_the_form_that_browsers_know() {
        assert_eq!(hash(""), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    }
}

//! The picture of who waits for what on Postgres: tables from top to bottom in the order in which their rows are locked,
//! an arc for each pair of which one is waited for while the other is held. An arc that goes up is on the left.

use std::collections::{BTreeMap, BTreeSet};

use super::escape::html;
use diglot::config::Locks;
use diglot::locks::{Graph, Wait};

/// The height of a row, and how much further each arc reaches that passes one row more.
const ROW: usize = 28;
const REACH: usize = 13;
/// What a letter of a name takes, and what is left beside the name.
const LETTER: usize = 8;
const BESIDE: usize = 12;

/// A pair of tables of which one is waited for while the other is held.
struct Edge<'g> {
    held: usize,
    wanted: usize,
    circle: bool,
    /// Whether nothing says which of the two is held first.
    open: bool,
    /// The statements that wait.
    statements: BTreeSet<&'g str>,
}

/// The section of the page; nothing where the project says nothing about locks. `anchors` are the links of the
/// statements that the page shows.
pub(super) fn section(graph: &Graph, said: Option<&Locks>, anchors: &BTreeMap<&str, String>) -> String {
    let Some(said) = said else { return String::new() };
    let edges = graph.edges();
    let is_open = |waits: &[&Wait]| waits.iter().all(|wait| wait.open);
    // What may come in any order is drawn one way, and says nothing about the order of the tables.
    let pairs: Vec<(&str, &str, bool)> =
        edges.iter().map(|(held, wanted, _, waits)| (*held, *wanted, is_open(waits))).collect();
    let tables = in_order(&pairs, &said.order);
    let place = |table: &str| tables.iter().position(|known| *known == table).unwrap_or_default();
    let edges = edges.iter().map(|(held, wanted, circle, waits)| Edge {
        held: place(held),
        wanted: place(wanted),
        circle: *circle,
        open: is_open(waits),
        statements: waits.iter().map(|wait| graph.run(wait.wanted).name.as_str()).collect(),
    });
    let mut edges: Vec<Edge<'_>> = edges.collect();
    let ways: Vec<(usize, usize)> = edges.iter().map(|edge| (edge.held, edge.wanted)).collect();
    edges.retain(|edge| {
        !edge.open || edge.circle || edge.held < edge.wanted || !ways.contains(&(edge.wanted, edge.held))
    });
    edges.sort_by_key(|edge| (edge.held, edge.wanted));
    let circles = edges.iter().filter(|edge| edge.circle).count();
    let mut text = format!(
        "<section class=\"locks\" id=\"-locks\"><h2><a href=\"#-locks\">Locks on Postgres</a></h2>\n<p class=\"docs\">Rows of \
         the tables above are locked before those below. An arc stands for statements that wait for a row of the one table \
         while they hold one of the other; where it is broken, nothing says which comes first. {}</p>\n",
        if circles == 0 { "There is no circle.".to_owned() } else { format!("{circles} of them are in circles.") }
    );
    if !said.under.is_empty() {
        text.push_str(&format!("<ul class=\"under\">{}</ul>\n", under(&said.under)));
    }
    if tables.is_empty() {
        text.push_str("<p class=\"docs\">No statement waits for a row while it holds another.</p>\n");
    } else {
        text.push_str(&picture(&tables, &edges));
        text.push_str(&list(&tables, &edges, anchors));
    }
    if !graph.excused().is_empty() {
        let names: Vec<String> = graph.excused().iter().map(|name| statement(name, anchors)).collect();
        text.push_str(&format!(
            "<p class=\"docs\">Not drawn, because their pages say why they may wait in another order: {}.</p>\n",
            names.join(", ")
        ));
    }
    text + "</section>\n"
}

/// The name of a statement, as a link where the page shows it.
fn statement(name: &str, anchors: &BTreeMap<&str, String>) -> String {
    match anchors.get(name) {
        Some(anchor) => format!("<a href=\"#{}\">{}</a>", html(anchor), html(name)),
        None => html(name),
    }
}

/// The tables in the order that the settings name and that the pairs say, as far as both can be.
fn in_order<'g>(pairs: &[(&'g str, &'g str, bool)], order: &[String]) -> Vec<&'g str> {
    let mut rest: BTreeSet<&str> = pairs.iter().flat_map(|(held, wanted, _)| [*held, *wanted]).collect();
    let named = |table: &str| order.iter().position(|known| known == table).unwrap_or(usize::MAX);
    let mut tables = Vec::new();
    while !rest.is_empty() {
        let is_free = |table: &str| {
            let waits = pairs.iter().any(|(held, wanted, open)| !open && *wanted == table && rest.contains(held));
            let later = rest.iter().any(|other| named(other) < named(table) && named(table) != usize::MAX);
            !waits && !later
        };
        // In a circle, the first that is named comes first.
        let free = rest.iter().copied().filter(|table| is_free(table)).min_by_key(|table| (named(table), *table));
        let next = free.or_else(|| rest.iter().copied().min_by_key(|table| (named(table), *table)));
        let Some(next) = next else { break };
        rest.remove(next);
        tables.push(next);
    }
    tables
}

/// Which rows nobody waits for, because whoever takes them has the row that they belong to.
fn under(under: &BTreeMap<String, String>) -> String {
    let mut of: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (table, above) in under {
        of.entry(above).or_default().push(format!("<code>{}</code>", html(table)));
    }
    let line = |(above, tables): (&&str, &Vec<String>)| {
        format!("<li>Who locks {} has locked the row of <code>{}</code>.</li>", tables.join(", "), html(above))
    };
    of.iter().map(line).collect()
}

fn picture(tables: &[&str], edges: &[Edge<'_>]) -> String {
    let longest = tables.iter().map(|table| table.chars().count()).max().unwrap_or_default();
    let reach = |up: bool| {
        let lengths = edges.iter().filter(|edge| (edge.wanted < edge.held) == up);
        lengths.map(|edge| BESIDE + REACH * edge.held.abs_diff(edge.wanted)).max().unwrap_or_default()
    };
    let (left, box_width) = (reach(true) + BESIDE, longest * LETTER + 2 * BESIDE);
    let (width, height) = (left + box_width + reach(false) + BESIDE, tables.len() * ROW + ROW / 2);
    let mut text = format!(
        "<div class=\"picture\"><svg role=\"img\" aria-labelledby=\"-locks-title -locks-text\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\">\n<title id=\"-locks-title\">Which table's rows are waited for while another's \
         are held</title>\n<desc id=\"-locks-text\">{} tables, {} arcs. The list below says the same in words.</desc>\n",
        tables.len(),
        edges.len()
    );
    let middle = |row: usize| ROW / 4 + row * ROW + ROW / 2;
    // What is in a circle is drawn last, above the others.
    for circle in [false, true] {
        text.extend(edges.iter().filter(|edge| edge.circle == circle).map(|edge| {
            let (from, to) = (middle(edge.held), middle(edge.wanted));
            let up = edge.wanted < edge.held;
            let length = REACH * edge.held.abs_diff(edge.wanted);
            // Arcs end beside the name, a little above or below its middle, so that those that come and go stand apart.
            let (x, out, tip) = if up {
                (left, left.saturating_sub(length + BESIDE), left.saturating_sub(7))
            } else {
                (left + box_width, left + box_width + length + BESIDE, left + box_width + 7)
            };
            let (from, to) = if up { (from - 4, to + 4) } else { (from + 4, to - 4) };
            let statements: Vec<&str> = edge.statements.iter().copied().collect();
            format!(
                "<g class=\"{}\"><title>{} → {}: {}</title><path d=\"M{x} {from}C{out} {from} {out} {to} {tip} {to}\"/>\
                 <path class=\"tip\" d=\"M{x} {to}L{tip} {}L{tip} {}Z\"/></g>\n",
                match (edge.circle, edge.open) {
                    (true, _) => "arc circle",
                    (false, true) => "arc open",
                    (false, false) => "arc",
                },
                html(tables[edge.held]),
                html(tables[edge.wanted]),
                html(&statements.join(", ")),
                to - 4,
                to + 4
            )
        }));
    }
    for (row, table) in tables.iter().enumerate() {
        text.push_str(&format!(
            "<rect x=\"{left}\" y=\"{}\" width=\"{box_width}\" height=\"{}\" rx=\"5\"/><text x=\"{}\" y=\"{}\">{}</text>\n",
            middle(row) - ROW / 2 + 3,
            ROW - 6,
            left + box_width / 2,
            middle(row) + 4,
            html(table)
        ));
    }
    text + "</svg></div>\n"
}

/// The picture in words.
fn list(tables: &[&str], edges: &[Edge<'_>], anchors: &BTreeMap<&str, String>) -> String {
    let line = |edge: &Edge<'_>| {
        let statements: Vec<String> = edge.statements.iter().map(|name| statement(name, anchors)).collect();
        let badge = if edge.circle { " <span class=\"badge warning\">circle</span>" } else { "" };
        format!(
            "<li><code>{}</code> → <code>{}</code>{badge} {}</li>",
            html(tables[edge.held]),
            html(tables[edge.wanted]),
            statements.join(", ")
        )
    };
    format!(
        "<details class=\"more\"><summary>{} arcs, with the statements that wait</summary><ul class=\"arcs\">{}</ul></details>\n",
        edges.len(),
        edges.iter().map(line).collect::<String>()
    )
}

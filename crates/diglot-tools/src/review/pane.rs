//! Two texts side by side as HTML: lines face each other, words that differ are marked.

use std::collections::BTreeSet;
use std::ops::Range;

use super::align;
use super::escape::html;
use super::paint::{self, Class, Piece};
use diglot::dialect::Dialect;

/// The longest text of a fact on one line.
const SNIPPET: usize = 400;

/// One side.
pub(super) struct Pane<'a> {
    pub(super) title: &'a str,
    pub(super) path: String,
    pub(super) text: &'a str,
    /// The number of the first line.
    pub(super) line: usize,
    pub(super) dialect: Dialect,
    /// Ranges of the text with a style, the most important first.
    pub(super) marks: Vec<(Range<usize>, &'static str)>,
    /// The style of words and of lines without a counterpart.
    pub(super) alone: &'static str,
}

/// What the markup of a side begins with; the number of its lines follows.
const MARK: &str = "class=\"rows-";

/// The style of each number of lines that a page has: lines that face each other are rows of one grid, so they keep their
/// height together where one of them is wrapped.
pub(super) fn rows(page: &str) -> String {
    let number = |rest: &str| rest.split('"').next().and_then(|number| number.parse().ok());
    let counts: BTreeSet<usize> = page.split(MARK).skip(1).filter_map(number).collect();
    counts.into_iter().map(|count| format!(".rows-{count} {{ grid-row: span {}; }}\n", count + 1)).collect()
}

/// Both sides; a side that is missing says so.
pub(super) fn pair(panes: [Option<&Pane<'_>>; 2], missing: [&str; 2], comments: bool) -> String {
    let lines = panes.map(|pane| pane.map_or_else(Vec::new, |pane| paint::lines(pane.text, pane.dialect)));
    let aligned = align::lines(&lines[0], &lines[1]);
    let facing = aligned.len();
    let mut sides = [String::new(), String::new()];
    for (left, right) in aligned {
        let at = [left, right];
        let [ours, theirs] = [0, 1].map(|side| at[side].and_then(|line| lines[side].get(line)));
        let alone = match (ours, theirs) {
            (Some(ours), Some(theirs)) => align::words(ours, theirs, comments),
            _ => [Vec::new(), Vec::new()],
        };
        for side in [0, 1] {
            let (Some(pane), facing) = (panes[side], [theirs, ours][side]) else { continue };
            match (at[side], at[side].and_then(|line| lines[side].get(line))) {
                (Some(number), Some(line)) => {
                    let lonely = facing.is_none() && panes[1 - side].is_some() && !line.is_empty();
                    let class = if lonely { format!("l {}-line", pane.alone) } else { "l".to_owned() };
                    sides[side].push_str(&format!("<code class=\"{class}\" data-n=\"{}\">", pane.line + number));
                    sides[side].push_str(&painted(line, pane, &alone[side]));
                    sides[side].push_str("</code>");
                }
                _ => sides[side].push_str("<code class=\"l pad\"></code>"),
            }
        }
    }
    let mut text = "<div class=\"panes facing\">".to_owned();
    for side in [0, 1] {
        match panes[side] {
            Some(pane) => text.push_str(&format!(
                "<figure {MARK}{facing}\"><figcaption><b>{}</b> <span>{}:{}</span></figcaption><pre>{}</pre></figure>",
                html(pane.title),
                html(&pane.path),
                pane.line,
                sides[side]
            )),
            None if missing[side].is_empty() => {}
            None => text.push_str(&format!("<figure class=\"none\"><p>{}</p></figure>", html(missing[side]))),
        }
    }
    text + "</div>"
}

fn painted(line: &[Piece<'_>], pane: &Pane<'_>, alone: &[bool]) -> String {
    let class = |at: usize, piece: &Piece<'_>| {
        let end = piece.start + piece.text.len();
        let inside = |mark: &&(Range<usize>, &'static str)| mark.0.start <= piece.start && end <= mark.0.end;
        let mark = match pane.marks.iter().find(inside) {
            // Neither a comment nor what a line is indented by says anything.
            Some(mark) if piece.class != Class::Comment && (at > 0 || piece.class != Class::Space) => mark.1,
            _ if alone.get(at) == Some(&true) => pane.alone,
            _ => "",
        };
        match (piece.class.css(), mark) {
            ("", mark) => mark.to_owned(),
            (class, "") => class.to_owned(),
            (class, mark) => format!("{class} {mark}"),
        }
    };
    spans(line.iter().enumerate().map(|(at, piece)| (class(at, piece), piece.text)))
}

/// Texts with their classes; neighbours of one class share an element.
fn spans<'a>(pieces: impl Iterator<Item = (String, &'a str)>) -> String {
    let mut text = String::new();
    let mut open = String::new();
    for (class, piece) in pieces {
        if class != open {
            if !open.is_empty() {
                text.push_str("</span>");
            }
            if !class.is_empty() {
                text.push_str(&format!("<span class=\"{class}\">"));
            }
            open = class;
        }
        text.push_str(&html(piece));
    }
    if !open.is_empty() {
        text.push_str("</span>");
    }
    text
}

/// A fact's text on one line, without comments.
pub(super) fn snippet(text: &str, dialect: Dialect) -> String {
    let mut length = 0;
    let mut pieces: Vec<(String, &str)> = Vec::new();
    for piece in paint::lines(text, dialect).into_iter().enumerate().flat_map(|(number, line)| {
        let gap = (number > 0).then_some(Piece { class: Class::Space, text: " ", start: 0 });
        gap.into_iter().chain(line)
    }) {
        let after_space = pieces.last().is_none_or(|last| last.1 == " ");
        match piece.class {
            Class::Comment => {}
            Class::Space if after_space => {}
            Class::Space => pieces.push((String::new(), " ")),
            class => {
                length += piece.text.chars().count();
                if length > SNIPPET {
                    pieces.push((String::new(), "…"));
                    break;
                }
                pieces.push((class.css().to_owned(), piece.text));
            }
        }
    }
    spans(pieces.into_iter())
}

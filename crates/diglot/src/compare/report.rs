//! How a difference is worded: what stands under the carets, and the lines to write.

use super::difference::Difference;
use super::{reason, spelled, undeclared};
use crate::diagnostic::Diagnostic;
use crate::dialect::Both;
use crate::engine::{postgres, sqlite};
use crate::facts::Kind;
use crate::infer::PageOf;
use crate::normal::{Head, Node, Place};
use crate::rule::{self, Rule};
use crate::source::{Sources, Span};

/// The longest text that a label or a help line quotes.
const QUOTED: usize = 90;

/// The declaration that waives such a difference.
pub(super) fn declaration(kind: Kind, item: &str) -> String {
    let item = if item.is_empty() || item.starts_with('#') { item.to_owned() } else { format!(".{item}") };
    format!("or, if the difference is meant: `-- diverges({}{item}): <why the pages may differ here>`", kind.word())
}

/// The finding about a statement that is to lock rows on Postgres and locks none.
pub(super) fn no_lock(name: &str, span: Span) -> Diagnostic {
    let message = format!("{name}: runs as SQLite's one writer, and locks no row on Postgres");
    Diagnostic::error(Kind::Lock.rule(), message, span, "`as_writer` in diglot.toml names it")
        .help("lock what it reads: `FOR UPDATE` at the end of the SELECT on the Postgres page")
        .help("or, if it locks nothing, name it no longer under `[locks]` in diglot.toml")
}

/// Six letters that stand for one difference: another text on either page has others.
pub(super) fn seal(kind: Kind, group: &str, item: &str, keys: Both<Option<String>>) -> String {
    let said = keys.map(|key| key.unwrap_or_default());
    let text = [kind.word(), group, item, &said.sqlite, &said.pg].join("\u{0}");
    crate::digest::seal(&text)
}

/// The finding. `left` and `right` are where the groups stand.
pub(super) fn finding(
    sources: &Sources,
    pages: Both<&PageOf<'_>>,
    difference: &Difference<'_>,
    left: Span,
    right: Span,
    seal: Option<&str>,
) -> Diagnostic {
    let (kind, name) = (difference.kind, pages.sqlite.raw.name.as_str());
    let named = match seal {
        Some(seal) => format!("{}#{seal}", difference.named()),
        None => difference.named(),
    };
    let of = if difference.item.is_empty() { String::new() } else { format!(" (`{}`)", difference.item) };
    let message = format!("{name}: the pages differ in {}{of}", kind.about());
    let waiver = declaration(kind, &named);
    match (difference.sqlite, difference.pg) {
        (Some(sqlite), Some(pg)) => {
            let (a, b) = sqlite.first_difference(pg);
            if let Some(found) = unknown(sources, name, a, b) {
                return found.help(waiver);
            }
            if rule(kind, a, b) == rule::NULL_ORDER {
                return null_order(sources, name, a, b).help(waiver);
            }
            if rule(kind, a, b) == rule::PARAM_DIFFERS && [a, b].iter().any(|node| is_numbered(sources, node)) {
                return numbered(sources, message, a, b).help(waiver);
            }
            let (a_span, b_span) = places(sources, a, b);
            let (here, there) = (quote(sources, a_span), quote(sources, b_span));
            let says = |page: &str, text: &Option<String>| match text {
                Some(text) => format!("{page} says `{text}`"),
                None => format!("{page} says this"),
            };
            let found = Diagnostic::error(rule(kind, a, b), message, a_span, says("SQLite", &here))
                .and(b_span, says("Postgres", &there));
            // Where NULL comes is not in a key that leaves it to its engine.
            let is_placed = [a, b].iter().any(|node| leaves_null_open(node));
            let is_shared = !(kind == Kind::Order && is_placed)
                && spelled::are_alike(kind, (pages.sqlite, a_span), (pages.pg, b_span))
                && spelled::fits(sources, kind, pages.sqlite, pages.pg, a_span)
                && spelled::fits(sources, kind, pages.pg, pages.sqlite, b_span);
            let found = match (here, there) {
                (Some(here), Some(there)) if here != there && plain(&here) && plain(&there) && is_shared => {
                    let texts =
                        (format!("write `{there}` on the SQLite page"), format!("write `{here}` on the Postgres page"));
                    found
                        .help(format!("write `{there}` on the SQLite page, or `{here}` on the Postgres page"))
                        .suggest(texts.0, a_span, there)
                        .suggest(texts.1, b_span, here)
                }
                (here, there) => {
                    let why = reason::why(pages.map(|page| page.tree), a, b);
                    let found = why.into_iter().fold(found, Diagnostic::note);
                    match here.is_some() && here == there {
                        true => found.help(
                            "write it in other words on one page, so that they do there what these do on the other",
                        ),
                        false => found.help("say one thing on both pages, each in words that its engine has"),
                    }
                }
            };
            match undeclared::line(sqlite, pg) {
                Some(line) => found
                    .help(format!("or say in `diglot.toml`, below `[json]`, what the member is: `{line}`"))
                    .help(waiver),
                None => found.help(waiver),
            }
        }
        (Some(node), None) => {
            alone(sources, message, difference, node, ["SQLite", "Postgres"], [left, right]).help(waiver)
        }
        (None, Some(node)) => {
            alone(sources, message, difference, node, ["Postgres", "SQLite"], [right, left]).help(waiver)
        }
        // Nothing differs where neither page says anything.
        (None, None) => Diagnostic::error(kind.rule(), message, left, "").and(right, "").help(waiver),
    }
}

/// A word of which nothing is known: it equals nothing, whatever the other page says.
fn unknown(sources: &Sources, name: &str, a: &Node, b: &Node) -> Option<Diagnostic> {
    let (node, unknown, facing) = match (a.unknown(), b.unknown()) {
        (Some((node, unknown)), _) => (node, unknown, b),
        (None, Some((node, unknown))) => (node, unknown, a),
        (None, None) => return None,
    };
    let engine = unknown.dialect.title();
    let written = &unknown.written;
    let message = format!("{name}: nothing is known of `{written}` on {engine}");
    let label = format!("{engine} may do anything here");
    let mut found = Diagnostic::error(rule::UNKNOWN_OPERATION, message, node.span, label)
        .and(first_line(sources, facing.span), format!("{} says this", unknown.dialect.other().title()));
    let near = unknown.near();
    if !near.is_empty() {
        found = found.help(format!("known on {engine} and near: `{}`", near.join("`, `")));
    }
    found = found.help("write it with words that are known, on both pages");
    // Pages that say two things differ in them, whatever is known of their words.
    Some(match a.spelling() == b.spelling() {
        true => {
            found.help("or take responsibility: `-- allow(unknown-operation): <why both engines do the same here>`")
        }
        false => found,
    })
}

/// Two keys that differ in where NULL comes. Often both pages have the same text, which means two things.
fn null_order(sources: &Sources, name: &str, a: &Node, b: &Node) -> Diagnostic {
    let [ours, theirs] = [a, b].map(|node| match node.head {
        Head::Key { nulls: Some(Place::First), .. } => "first",
        _ => "last",
    });
    let message = format!("{name}: NULL comes {ours} on SQLite and {theirs} on Postgres");
    let found = Diagnostic::error(rule::NULL_ORDER, message, a.span, format!("SQLite puts NULL {ours}"))
        .and(b.span, format!("Postgres puts NULL {theirs}"));
    let key_of = |node: &Node| {
        let text = quote(sources, node.span)?;
        let end = text.to_uppercase().find(" NULLS ").unwrap_or(text.len());
        text.get(..end).map(str::to_owned)
    };
    match key_of(a).filter(|text| plain(text)) {
        Some(key) => ["FIRST", "LAST"].into_iter().fold(
            found.help(format!("write `{key} NULLS FIRST` or `{key} NULLS LAST` on both pages")),
            |found, place| {
                let edits =
                    [a, b].into_iter().filter_map(|node| Some((node.span, format!("{} NULLS {place}", key_of(node)?))));
                found.suggest_all(format!("write NULLS {place} on both pages"), edits)
            },
        ),
        None => found.help("write the same of NULLS FIRST and NULLS LAST on both pages"),
    }
    .help("or, if there is no NULL: `NOT NULL` in both schemas")
}

/// Whether a key among these has NULL where its engine puts it.
fn leaves_null_open(node: &Node) -> bool {
    matches!(node.head, Head::Key { nulls: Some(_), .. }) || node.kids.iter().any(leaves_null_open)
}

fn is_numbered(sources: &Sources, param: &Node) -> bool {
    sources.text(param.span).starts_with(['$', '?'])
}

/// Two parameters in one place, of which a numbered one has the name of what it meets first.
fn numbered(sources: &Sources, message: String, a: &Node, b: &Node) -> Diagnostic {
    let says = |page: &str, param: &Node| {
        let text = sources.text(param.span);
        let name = if let Head::Param(name) = &param.head { name.as_str() } else { text };
        match is_numbered(sources, param) {
            true => format!("{page} binds `{text}`, called `{name}`"),
            false => format!("{page} binds `{text}`"),
        }
    };
    Diagnostic::error(rule::PARAM_DIFFERS, message, a.span, says("SQLite", a))
        .and(b.span, says("Postgres", b))
        .help("bind one parameter here on both pages: a name says which, such as `:id`")
}

/// Something that one page alone says.
fn alone(
    sources: &Sources,
    message: String,
    difference: &Difference<'_>,
    node: &Node,
    [here, there]: [&str; 2],
    [_, facing]: [Span; 2],
) -> Diagnostic {
    let kind = difference.kind;
    let found = Diagnostic::error(kind.rule(), message, node.span, format!("only {here} says this"))
        .and(first_line(sources, facing), format!("{there} does not say it here"));
    if kind == Kind::Lock {
        return found
            .help("SQLite has no row locks: begin its transaction with BEGIN IMMEDIATE, and declare the difference");
    }
    match quote(sources, node.span) {
        Some(text) if plain(&text) => found
            .help(format!("add `{}` on the {there} page, or delete it on the {here} page", clause(difference, &text))),
        _ => {
            found.help(format!("say it on the {there} page in words that {there} has, or delete it on the {here} page"))
        }
    }
}

/// The clause to write.
fn clause(difference: &Difference<'_>, text: &str) -> String {
    match difference.kind {
        Kind::Where | Kind::Having => format!("AND {text}"),
        Kind::Set if !text.starts_with(&difference.item) => format!("{} = {text}", difference.item),
        Kind::Limit => format!("LIMIT {text}"),
        Kind::Offset => format!("OFFSET {text}"),
        Kind::Order => format!("ORDER BY {text}"),
        Kind::Group => format!("GROUP BY {text}"),
        _ => text.to_owned(),
    }
}

/// A finer rule where the smallest difference says more than the kind of fact.
fn rule(kind: Kind, a: &Node, b: &Node) -> Rule {
    match (&a.head, &b.head) {
        (Head::Param(_), Head::Param(_)) => rule::PARAM_DIFFERS,
        (Head::Key { desc: ours, nulls: Some(_) }, Head::Key { desc: theirs, nulls: Some(_) })
            if ours == theirs && a.kids.iter().zip(&b.kids).all(|(ours, theirs)| ours.is_same(theirs)) =>
        {
            rule::NULL_ORDER
        }
        _ => kind.rule(),
    }
}

/// Where the carets go: to the operator when that alone differs.
fn places(sources: &Sources, a: &Node, b: &Node) -> (Span, Span) {
    let same_kids = a.kids.len() == 2 && b.kids.len() == 2 && {
        let keys = |node: &Node| {
            let mut keys: Vec<String> = node.kids.iter().map(Node::key).collect();
            keys.sort();
            keys
        };
        keys(a) == keys(b)
    };
    match (same_kids, operator(sources, a), operator(sources, b)) {
        (true, Some(a), Some(b)) => (a, b),
        _ => (a.span, b.span),
    }
}

/// The text between two operands.
fn operator(sources: &Sources, node: &Node) -> Option<Span> {
    let [a, b] = node.kids.as_slice() else { return None };
    let (first, second) = if a.span.start <= b.span.start { (a.span, b.span) } else { (b.span, a.span) };
    if first.file != second.file || first.end >= second.start {
        return None;
    }
    let between = Span { file: first.file, start: first.end, end: second.start };
    let text = sources.text(between);
    let start = between.start as usize + (text.len() - text.trim_start().len());
    let found = text.trim();
    // Half of a range is no operator.
    if found.split_whitespace().any(|word| word.eq_ignore_ascii_case("between")) {
        return None;
    }
    let sound = !found.is_empty() && found.len() < 24 && !found.contains(['(', ')', '\n', ',']);
    sound.then(|| Span::new(first.file, start..start + found.len()))
}

/// The text of a place on one line, if it is short.
fn quote(sources: &Sources, span: Span) -> Option<String> {
    let text = sources.text(span).split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty() && text.chars().count() <= QUOTED && !text.contains('`')).then_some(text)
}

/// What one dialect alone reads, or reads in a way of its own.
const ONE_SIDED: [&str; 19] = [
    "::",
    "json",
    "->",
    "any(",
    "any (",
    "all(",
    "all (",
    "collate",
    "array[",
    "interval",
    "ilike",
    "glob",
    "~",
    "or replace",
    "or ignore",
    "on constraint",
    "rowid",
    "at time zone",
    "distinct on",
];

/// Whether a text reads the same in both dialects, as far as its spelling shows: only then can it be copied.
fn plain(text: &str) -> bool {
    let text = text.to_lowercase();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    // Numbers of parameters are written in two ways.
    let is_numbered = text.split(is_word).any(|between| between.ends_with(['?', '$']));
    let called = text.match_indices('(').map(|(at, _)| text[..at].trim_end().rsplit(|c| !is_word(c)).next());
    let is_shared = |name: &str| sqlite().has(name) == postgres().has_function(name);
    // A window has its name, and keys have their place of NULL, on their own page.
    let is_windowed = text.split(" over ").skip(1).any(|rest| !rest.trim_start().starts_with('('))
        || text.contains("order by") && !text.contains(" nulls ");
    let words: Vec<&str> = text.split_whitespace().collect();
    let tested = words.iter().enumerate().filter(|(_, word)| **word == "is");
    let is_tested = |at: usize| {
        let next = words[at + 1..].iter().find(|word| **word != "not");
        next.is_some_and(|word| ["null", "true", "false", "distinct"].iter().any(|known| word.starts_with(known)))
    };
    let is_tested = tested.map(|(at, _)| at).all(is_tested);
    !ONE_SIDED.iter().any(|mark| text.contains(mark))
        && !is_numbered
        && !is_windowed
        && is_tested
        && called.flatten().all(is_shared)
}

/// The first line of a place.
pub(super) fn first_line(sources: &Sources, span: Span) -> Span {
    let length = sources.text(span).lines().next().map_or(0, |line| line.trim_end().len());
    Span::new(span.file, span.start as usize..span.start as usize + length)
}

/// A help line for a word that is none: the word that was meant, or all of them.
pub(super) fn meant(word: &str, words: &[&str]) -> String {
    let near = words.iter().filter(|known| near(word, known)).min_by_key(|known| known.len().abs_diff(word.len()));
    match near {
        Some(known) => format!("write `-- diverges({known}): <why the pages may differ here>`"),
        None => format!("the kinds of facts are: {}", words.join(", ")),
    }
}

/// Whether two words differ by a slip: one is the other's beginning, or they share all letters but two.
fn near(a: &str, b: &str) -> bool {
    let mut rest: Vec<char> = b.chars().collect();
    let mut missing = 0;
    for letter in a.chars() {
        match rest.iter().position(|other| *other == letter) {
            Some(at) => {
                rest.remove(at);
            }
            None => missing += 1,
        }
    }
    a.starts_with(b) || b.starts_with(a) || (missing + rest.len() <= 2 && a.len() > 2)
}

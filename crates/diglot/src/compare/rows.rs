//! The facts of both pages side by side, as a reviewer reads them.

use std::borrow::Borrow;

use super::difference::Difference;
use super::implied::Ground;
use crate::dialect::{Both, Dialect};
use crate::facts::{Fact, Group, Kind};
use crate::normal::Node;
use crate::source::Span;

/// What came of comparing two facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The pages say the same, perhaps in other words.
    Same,
    /// They differ in words, and the engines' rows show that the statement means the same.
    ByRows,
    /// They differ as follows from what the project declares once.
    Implied(Ground),
    /// They differ, and the declaration at this place says why.
    Declared(Span),
    /// They differ.
    Differs,
}

impl Verdict {
    /// Whether the pages mean the same.
    pub fn is_same(self) -> bool {
        matches!(self, Verdict::Same | Verdict::ByRows)
    }
}

/// A fact of the SQLite page beside the one of the Postgres page that it was compared with.
#[derive(Debug, Clone)]
pub struct Row {
    /// The write, CTE or query that it belongs to.
    pub group: String,
    /// The word of `-- diverges(...)`.
    pub kind: &'static str,
    /// The column or clause, where the kind has several.
    pub item: String,
    /// Where each page says it.
    pub spans: Both<Option<Span>>,
    /// Where exactly they differ.
    pub differing: Both<Option<Span>>,
    /// What came of it.
    pub verdict: Verdict,
}

/// The row of a difference.
pub(super) fn differing(difference: &Difference<'_>, group: &str, verdict: Verdict) -> Row {
    let spans = difference.nodes().map(|node| node.map(|node| node.span));
    let differing = match (difference.sqlite, difference.pg) {
        (Some(sqlite), Some(pg)) => {
            let (a, b) = sqlite.first_difference(pg);
            Both { sqlite: Some(a.span), pg: Some(b.span) }
        }
        _ => spans,
    };
    Row {
        group: group.to_owned(),
        kind: difference.kind.word(),
        item: difference.item.clone(),
        spans,
        differing,
        verdict,
    }
}

/// The rows of the facts that no difference is about. How a table is joined that one page alone reads is said with
/// the table.
pub(super) fn same<F: Borrow<Fact>>(group: &str, ours: &[F], theirs: &[F], differences: &[Difference<'_>]) -> Vec<Row> {
    let differs = |node: &Node| {
        let is = |side: Option<&Node>| side.is_some_and(|other| std::ptr::eq(other, node));
        differences.iter().any(|difference| is(difference.sqlite) || is(difference.pg))
    };
    let mut facing: Vec<&Fact> =
        theirs.iter().map(Borrow::borrow).filter(|fact: &&Fact| !differs(&fact.node)).collect();
    let mut rows = Vec::new();
    for fact in ours.iter().map(Borrow::borrow).filter(|fact: &&Fact| !differs(&fact.node)) {
        let key = fact.node.key();
        let at = facing.iter().position(|other| other.item == fact.item && other.node.key() == key);
        let other = at.map(|at| facing.remove(at));
        if other.is_none() && fact.kind == Kind::Join {
            continue;
        }
        rows.push(row(group, fact, Both { sqlite: Some(fact.node.span), pg: other.map(|other| other.node.span) }));
    }
    facing.retain(|fact| fact.kind != Kind::Join);
    rows.extend(facing.into_iter().map(|fact| row(group, fact, Both { sqlite: None, pg: Some(fact.node.span) })));
    rows
}

/// The rows of a group that one page alone has.
pub(super) fn alone(group: &Group, on_sqlite: bool, verdict: Verdict) -> Vec<Row> {
    let page = if on_sqlite { Dialect::Sqlite } else { Dialect::Pg };
    let rows = group.facts.iter().map(|fact| {
        let spans = Both::of(|dialect| (dialect == page).then_some(fact.node.span));
        Row { differing: spans, verdict, ..row(&group.name, fact, spans) }
    });
    rows.collect()
}

/// The row of two statements that do something else.
pub(super) fn other_kind(kind: Kind, Both { sqlite, pg }: Both<&Group>, verdict: Verdict) -> Row {
    let spans = Both { sqlite: Some(sqlite.span), pg: Some(pg.span) };
    Row { group: sqlite.name.clone(), kind: kind.word(), item: String::new(), spans, differing: spans, verdict }
}

fn row(group: &str, fact: &Fact, spans: Both<Option<Span>>) -> Row {
    Row {
        group: group.to_owned(),
        kind: fact.kind.word(),
        item: fact.item.clone(),
        spans,
        differing: Both::default(),
        verdict: Verdict::Same,
    }
}

//! What differs between two lists of facts of one kind.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};

use crate::dialect::Both;
use crate::facts::{Fact, Kind};
use crate::normal::{Head, Node};

/// A difference: what each page says; nothing where a page does not say it.
pub(super) struct Difference<'f> {
    /// The kind of fact.
    pub(super) kind: Kind,
    /// The column or clause, where the kind has several.
    pub(super) item: String,
    /// What SQLite says.
    pub(super) sqlite: Option<&'f Node>,
    /// What Postgres says.
    pub(super) pg: Option<&'f Node>,
}

impl<'f> Difference<'f> {
    /// What each page says.
    pub(super) fn nodes(&self) -> Both<Option<&'f Node>> {
        Both { sqlite: self.sqlite, pg: self.pg }
    }

    /// What a message names: the column that a condition is about, or the item.
    pub(super) fn shown(&self) -> String {
        let named = self.named();
        if named.is_empty() { self.item.clone() } else { named }
    }

    /// The item that a declaration names. `where.partition_key` names the column that a condition is about.
    pub(super) fn named(&self) -> String {
        match self.kind {
            Kind::Where | Kind::Having => self.sqlite.or(self.pg).map_or(String::new(), column_of),
            _ => self.item.clone(),
        }
    }
}

/// The column that a condition is about: the first one in its text.
fn column_of(node: &Node) -> String {
    let mut columns = Vec::new();
    node.each(&mut |part| columns.extend(part.head.column_name().map(|column| (part.span.start, column))));
    columns.into_iter().min().map_or(String::new(), |(_, column)| column.to_owned())
}

/// Facts that find each other by their item, in order where an item has several.
pub(super) fn keyed<'f, F: Borrow<Fact>>(kind: Kind, left: &'f [F], right: &'f [F]) -> Vec<Difference<'f>> {
    let mut items: BTreeMap<&str, (Vec<&Node>, Vec<&Node>)> = BTreeMap::new();
    for fact in left.iter().map(Borrow::borrow) {
        items.entry(&fact.item).or_default().0.push(&fact.node);
    }
    for fact in right.iter().map(Borrow::borrow) {
        items.entry(&fact.item).or_default().1.push(&fact.node);
    }
    let mut differences = Vec::new();
    for (item, (left, right)) in items {
        for index in 0..left.len().max(right.len()) {
            let (a, b) = (left.get(index).copied(), right.get(index).copied());
            let is_same = matches!((a, b), (Some(a), Some(b)) if a.is_same(b));
            if !is_same {
                differences.push(Difference { kind, item: item.to_owned(), sqlite: a, pg: b });
            }
        }
    }
    differences
}

/// Facts without an order: equal ones are crossed out, and of the rest those that are most alike find each other.
pub(super) fn unordered<'f, F: Borrow<Fact>>(kind: Kind, left: &'f [F], right: &'f [F]) -> Vec<Difference<'f>> {
    let mut theirs: Vec<&Node> = right.iter().map(|fact| &fact.borrow().node).collect();
    let mut ours: Vec<&Node> = left.iter().map(|fact| &fact.borrow().node).collect();
    ours.retain(|node| {
        let at = theirs.iter().position(|other| node.is_alike(other));
        at.map(|at| theirs.remove(at)).is_none()
    });
    let mut keyed: Vec<(&Node, String)> = theirs.into_iter().map(|node| (node, node.key())).collect();
    ours.retain(|node| {
        let key = node.key();
        let at = keyed.iter().position(|(_, other)| *other == key);
        at.map(|at| keyed.remove(at)).is_none()
    });
    let mut theirs: Vec<&Node> = keyed.into_iter().map(|(node, _)| node).collect();
    let mut differences = Vec::new();
    for node in ours {
        let alike = |other: &&Node| if kind == Kind::Tables { 2 } else { likeness(node, other) };
        let partner = (0..theirs.len()).max_by_key(|at| (alike(&theirs[*at]), std::cmp::Reverse(*at)));
        let pg = partner.filter(|at| alike(&theirs[*at]) > 1).map(|at| theirs.remove(at));
        differences.push(Difference { kind, item: String::new(), sqlite: Some(node), pg });
    }
    differences.extend(theirs.into_iter().map(|node| Difference {
        kind,
        item: String::new(),
        sqlite: None,
        pg: Some(node),
    }));
    differences
}

/// How much two nodes have in common: shared leaves, columns most.
fn likeness(left: &Node, right: &Node) -> usize {
    let leaves_of = |node| {
        let mut leaves: Vec<&Head> = Vec::new();
        Node::each(node, &mut |part| leaves.extend(part.kids.is_empty().then_some(&part.head)));
        leaves
    };
    let (mut leaves, others) = (leaves_of(left), leaves_of(right));
    let mut score = usize::from(left.head == right.head);
    for other in others {
        if let Some(at) = leaves.iter().position(|leaf| *leaf == other) {
            leaves.swap_remove(at);
            score += if other.column_name().is_some() { 3 } else { 1 };
        }
    }
    score
}

/// The keys of the conditions of joins that are inner on one page and outer on the other.
pub(super) fn joins<F: Borrow<Fact>>(left: &[F], right: &[F]) -> BTreeSet<String> {
    let mut moved = BTreeSet::new();
    for difference in keyed(Kind::Join, left, right) {
        if let (Some(sqlite), Some(pg)) = (difference.sqlite, difference.pg)
            && (sqlite.head == Head::Join(None)) != (pg.head == Head::Join(None))
        {
            moved.extend(sqlite.kids.iter().chain(&pg.kids).map(Node::key));
        }
    }
    moved
}

//! The nodes of the normal form, and where two trees part.

use std::fmt::Write as _;

use super::head::{Head, Relation};
use crate::digest::digest;
use crate::operations::{Sense, Unknown};
use crate::source::Span;

/// A node of the normal form.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// What it is, with everything that is not a child.
    pub head: Head,
    /// Its children.
    pub kids: Vec<Node>,
    /// Whether the order of the children means nothing.
    pub set: bool,
    /// What the word means, where that is not said by the head: it is compared as well.
    pub sense: Option<Box<Sense>>,
    /// The text it came from.
    pub span: Span,
}

/// What a key tells of a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Telling {
    /// What it means.
    Meaning,
    /// The same, whatever a write of the unit has left of its columns.
    BeforeWrites,
    /// What the page says, whatever its words are known to mean.
    Spelling,
}

impl Node {
    pub(crate) fn leaf(head: impl Into<Head>, span: Span) -> Self {
        Self::list(head, Vec::new(), span)
    }

    pub(crate) fn list(head: impl Into<Head>, kids: Vec<Node>, span: Span) -> Self {
        Self { head: head.into(), kids, set: false, sense: None, span }
    }

    pub(crate) fn set(head: impl Into<Head>, kids: Vec<Node>, span: Span) -> Self {
        Self { set: true, ..Self::list(head, kids, span) }
    }

    /// A number that is written.
    pub(super) fn number(number: impl Into<String>, span: Span) -> Self {
        Self::leaf(Head::Number(number.into()), span)
    }

    /// The same kids below another head.
    pub(super) fn with_head(&self, head: impl Into<Head>) -> Self {
        Self { head: head.into(), ..self.clone() }
    }

    /// Whether it may stand in several places of a tree. What is larger stays in one: such expressions nest, and each
    /// level would double those below it.
    pub(crate) fn is_small(&self) -> bool {
        fn left(node: &Node, most: usize) -> Option<usize> {
            node.kids.iter().try_fold(most.checked_sub(1)?, |most, kid| left(kid, most))
        }
        left(self, 64).is_some()
    }

    /// A node that is small and differs from others as this one does: what is large becomes its digest.
    pub(crate) fn folded(self) -> Self {
        if self.is_small() { self } else { Self::leaf(Head::Folded(digest(self.key().as_bytes())), self.span) }
    }

    /// Whether two nodes mean the same.
    pub(crate) fn is_same(&self, other: &Node) -> bool {
        self.is_alike(other) || self.key() == other.key()
    }

    /// Whether two nodes are the same part by part, which most of those that mean the same are: no text is made to see it.
    pub(crate) fn is_alike(&self, other: &Node) -> bool {
        !matches!(self.sense.as_deref(), Some(Sense::Unknown(_)))
            && self.head == other.head
            && self.sense == other.sense
            && self.set == other.set
            && self.kids.len() == other.kids.len()
            && self.kids.iter().zip(&other.kids).all(|(kid, other)| kid.is_alike(other))
    }

    /// The text by which two nodes are compared.
    pub(crate) fn key(&self) -> String {
        self.told(Telling::Meaning)
    }

    /// The same for what its columns were before the unit wrote them.
    pub(crate) fn key_before_writes(&self) -> String {
        self.told(Telling::BeforeWrites)
    }

    /// The same as the pages spell it, whatever their words are known to mean.
    pub(crate) fn spelling(&self) -> String {
        self.told(Telling::Spelling)
    }

    fn told(&self, telling: Telling) -> String {
        let mut key = String::with_capacity(16 * (self.kids.len() + 1));
        self.write_key(&mut key, telling);
        key
    }

    fn write_key(&self, key: &mut String, telling: Telling) {
        let _ = match &self.head {
            Head::Column(column) if telling == Telling::BeforeWrites => {
                write!(key, "{}.{}", column.relation, column.name)
            }
            head => write!(key, "{head}"),
        };
        match self.sense.as_deref().filter(|_| telling != Telling::Spelling) {
            Some(Sense::Known(means)) => {
                let _ = write!(key, " as {means:?}");
            }
            // What is unknown on one page is never what is unknown on the other.
            Some(Sense::Unknown(unknown)) => {
                let _ = write!(key, " unknown on {}", unknown.dialect.title());
            }
            None => {}
        }
        if self.kids.is_empty() {
            return;
        }
        key.push('(');
        if self.set {
            let mut kids: Vec<String> = self.kids.iter().map(|kid| kid.told(telling)).collect();
            kids.sort_unstable();
            key.push_str(&kids.join(", "));
        } else {
            for (at, kid) in self.kids.iter().enumerate() {
                key.push_str(if at == 0 { "" } else { ", " });
                kid.write_key(key, telling);
            }
        }
        key.push(')');
    }

    /// The first word in it that nothing is known of.
    pub(crate) fn unknown(&self) -> Option<(&Node, &Unknown)> {
        match self.sense.as_deref() {
            Some(Sense::Unknown(unknown)) => Some((self, unknown)),
            _ => self.kids.iter().find_map(Node::unknown),
        }
    }

    /// Whether one of its heads, its own or one below, is so.
    pub(crate) fn any_head(&self, is: &impl Fn(&Head) -> bool) -> bool {
        is(&self.head) || self.kids.iter().any(|kid| kid.any_head(is))
    }

    /// Whether it reads a relation.
    pub(crate) fn reads(&self, relation: &Relation) -> bool {
        self.any_head(&|head| head.relation() == Some(relation))
    }

    /// Looks at it and at all below it.
    pub(crate) fn each<'n>(&'n self, look: &mut impl FnMut(&'n Node)) {
        look(self);
        self.kids.iter().for_each(|kid| kid.each(look));
    }

    /// The smallest pair of nodes in which two trees differ.
    pub(crate) fn first_difference<'n>(&'n self, other: &'n Node) -> (&'n Node, &'n Node) {
        if self.head != other.head || self.sense != other.sense || self.kids.len() != other.kids.len() {
            return (self, other);
        }
        let differing: Vec<(&Node, &Node)> = if self.set {
            let theirs: Vec<String> = other.kids.iter().map(Node::key).collect();
            let ours: Vec<String> = self.kids.iter().map(Node::key).collect();
            let left = self.kids.iter().filter(|kid| !theirs.contains(&kid.key()));
            let right = other.kids.iter().filter(|kid| !ours.contains(&kid.key()));
            left.zip(right).collect()
        } else {
            self.kids.iter().zip(&other.kids).filter(|(a, b)| !a.is_same(b)).collect()
        };
        match differing.as_slice() {
            [(a, b)] => a.first_difference(b),
            _ => (self, other),
        }
    }
}

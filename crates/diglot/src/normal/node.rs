//! The nodes of the normal form, and where two trees part.

use std::fmt::Write as _;

use crate::digest::digest;
use crate::operations::{Sense, Unknown};
use crate::source::Span;

/// A node of the normal form.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// What it is, with everything that is not a child.
    pub head: String,
    /// Its children.
    pub kids: Vec<Node>,
    /// Whether the order of the children means nothing.
    pub set: bool,
    /// What the word means, where that is not said by the head: it is compared as well.
    pub sense: Option<Box<Sense>>,
    /// The text it came from.
    pub span: Span,
}

impl Node {
    pub(crate) fn leaf(head: impl Into<String>, span: Span) -> Self {
        Self { head: head.into(), kids: Vec::new(), set: false, sense: None, span }
    }

    pub(crate) fn list(head: impl Into<String>, kids: Vec<Node>, span: Span) -> Self {
        Self { head: head.into(), kids, set: false, sense: None, span }
    }

    pub(crate) fn set(head: impl Into<String>, kids: Vec<Node>, span: Span) -> Self {
        Self { head: head.into(), kids, set: true, sense: None, span }
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
        if self.is_small() { self } else { Self::leaf(format!("value {}", digest(self.key().as_bytes())), self.span) }
    }

    /// The text by which two nodes are compared.
    pub(crate) fn key(&self) -> String {
        let mut key = String::with_capacity(self.head.len() + 16 * self.kids.len());
        self.write_key(&mut key, true);
        key
    }

    /// The same as the pages spell it, whatever their words are known to mean.
    pub(crate) fn spelling(&self) -> String {
        let mut key = String::with_capacity(self.head.len() + 16 * self.kids.len());
        self.write_key(&mut key, false);
        key
    }

    fn write_key(&self, key: &mut String, with_sense: bool) {
        key.push_str(&self.head);
        match self.sense.as_deref().filter(|_| with_sense) {
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
            let mut kids: Vec<String> =
                self.kids.iter().map(|kid| if with_sense { kid.key() } else { kid.spelling() }).collect();
            kids.sort_unstable();
            key.push_str(&kids.join(", "));
        } else {
            for (at, kid) in self.kids.iter().enumerate() {
                key.push_str(if at == 0 { "" } else { ", " });
                kid.write_key(key, with_sense);
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

    /// Whether a word in it is meant, of what it does or asks: names of parameters and columns are none, and neither is
    /// what stands in a literal.
    pub(crate) fn has_word(&self, is_meant: &impl Fn(&str) -> bool) -> bool {
        let is_name = self.kids.is_empty() && (self.head.starts_with(':') || self.head.contains('.'));
        // A quote in a literal is doubled, so every second part is outside of literals.
        let mut outside = self.head.split('\'').step_by(2).flat_map(|text| text.split(|c: char| !is_letter(c)));
        (!is_name && outside.any(is_meant)) || self.kids.iter().any(|kid| kid.has_word(is_meant))
    }

    /// Whether a leaf inside begins so.
    pub(crate) fn mentions(&self, prefix: &str) -> bool {
        (self.kids.is_empty() && self.head.starts_with(prefix)) || self.kids.iter().any(|kid| kid.mentions(prefix))
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
            self.kids.iter().zip(&other.kids).filter(|(a, b)| a.key() != b.key()).collect()
        };
        match differing.as_slice() {
            [(a, b)] => a.first_difference(b),
            _ => (self, other),
        }
    }
}

/// Whether a word goes on with it.
fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

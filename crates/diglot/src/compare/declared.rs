//! What the pages of a pair declare, and what follows from both, for the comparison.

use std::collections::BTreeSet;

use crate::facts::Kind;
use crate::infer::PageOf;
use crate::names::nearest;
use crate::normal::{Head, Node};
use crate::operations::{self, Sense};
use crate::page::AnnotationKind;
use crate::rule;
use crate::source::Span;
use crate::tree::{Expr, ExprKind, Statement};
use crate::types::Base;

/// What a `-- diverges(...)` is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum About {
    /// Facts of a kind.
    Kind(Kind),
    /// Documents, in facts of any kind.
    Documents,
    /// Time, in facts of any kind.
    Time,
    /// A word that is none of these.
    Unknown,
}

impl About {
    /// The words beside those of the kinds of facts.
    pub(super) const WORDS: [&str; 3] = ["json", "time", "results"];

    fn of(word: &str) -> Self {
        match word {
            "json" => Self::Documents,
            "time" => Self::Time,
            // Values are what an INSERT gives.
            "values" => Self::Kind(Kind::Insert),
            _ => Kind::ALL.iter().find(|row| row.1 == word).map_or(Self::Unknown, |row| Self::Kind(row.0)),
        }
    }

    /// Whether it is about a difference of this kind, between these.
    fn fits(&self, kind: Kind, nodes: &[&Node]) -> bool {
        match self {
            Self::Kind(own) => *own == kind,
            Self::Documents => nodes.iter().any(|node| node.any_head(&Head::is_of_documents)),
            Self::Time => nodes.iter().any(|node| node.any_head(&Head::is_of_time)),
            Self::Unknown => false,
        }
    }
}

/// A `-- diverges(...)` and whether it was needed.
pub(super) struct Declared {
    pub(super) about: About,
    /// The word of it.
    pub(super) fact: String,
    pub(super) item: Option<String>,
    pub(super) seal: Option<String>,
    pub(super) span: Span,
    /// The whole line.
    pub(super) line: Span,
    pub(super) used: bool,
    /// The difference that it names with a slip of the finger, as a declaration has to name it.
    pub(super) meant: Option<String>,
}

impl Declared {
    /// Whether it is about such a difference, whatever its seal.
    pub(super) fn fits(&self, kind: Kind, item: &str, nodes: &[&Node]) -> bool {
        let is = |wanted: &String| wanted == item || item.ends_with(&format!(" {wanted}"));
        self.about.fits(kind, nodes) && self.item.as_ref().is_none_or(is)
    }

    /// What stands in its brackets, without a seal.
    pub(super) fn written(&self) -> String {
        match &self.item {
            Some(item) => format!("{}.{item}", self.fact),
            None => self.fact.clone(),
        }
    }

    /// Whether it names a difference, but for a slip in the word of its kind or in its item.
    pub(super) fn means(&self, kind: Kind, item: &str) -> bool {
        let is_kind = match &self.about {
            About::Kind(own) => *own == kind && self.item.is_some(),
            About::Unknown => nearest(&self.fact, [kind.word()].into_iter()).is_some(),
            About::Documents | About::Time => false,
        };
        let is = |wanted: &String| nearest(wanted, [item.rsplit(' ').next().unwrap_or(item)].into_iter()).is_some();
        is_kind && self.seal.is_none() && self.item.as_ref().is_none_or(is)
    }
}

pub(super) fn declarations(pages: &[&PageOf<'_>]) -> Vec<Declared> {
    pages
        .iter()
        .flat_map(|page| &page.raw.annotations)
        .filter_map(|annotation| match &annotation.kind {
            // What the answers differ in is seen by running them, so `prove` holds these against what happens.
            AnnotationKind::Diverges { fact, .. } if fact == "results" => None,
            AnnotationKind::Diverges { fact, item, seal, fact_span, .. } => Some(Declared {
                about: About::of(fact),
                fact: fact.clone(),
                item: item.clone(),
                seal: seal.clone(),
                span: *fact_span,
                line: annotation.span,
                used: false,
                meant: None,
            }),
            _ => None,
        })
        .collect()
}

/// Parameters that either page declares to be JSON.
pub(super) fn documents(pages: &[&PageOf<'_>]) -> BTreeSet<String> {
    let annotations = pages.iter().flat_map(|page| &page.raw.annotations);
    let declared = annotations.filter_map(|annotation| match &annotation.kind {
        AnnotationKind::Param { name, ty } if ty.base == Base::Json => Some(name.clone()),
        _ => None,
    });
    declared.collect()
}

/// Lists that hold ids on Postgres and that SQLite gets as their digits.
pub(super) fn digits(sqlite: &Statement, pg: &Statement, of_pg: &[&Expr]) -> BTreeSet<String> {
    let lists: Vec<&Expr> = of_pg.iter().filter_map(|expr| expr.list_of_ids()).collect();
    if lists.is_empty() {
        return BTreeSet::new();
    }
    let names = pg.params.iter().map(|param| &param.name).filter(|name| lists.iter().any(|list| list.is_param(name)));
    names.filter(|name| sqlite.takes_digits(name)).cloned().collect()
}

/// Parameters that the Postgres page takes for conditions as they are: what SQLite gets for them is 1 or 0.
pub(super) fn flags(of_pg: &[&Expr]) -> BTreeSet<String> {
    let mut asked: Vec<&Expr> = Vec::new();
    for expr in of_pg {
        match &expr.kind {
            ExprKind::Binary { op, left, right } if ["and", "or"].contains(&op.as_str()) => {
                asked.extend([&**left, &**right])
            }
            ExprKind::Unary { op, expr } if op == "not" => asked.push(expr),
            ExprKind::Case { operand: None, branches, .. } => asked.extend(branches.iter().map(|(when, _)| when)),
            _ => {}
        }
    }
    let names = asked.into_iter().filter_map(|expr| match &expr.kind {
        ExprKind::Param(name) => Some(name.clone()),
        _ => None,
    });
    names.collect()
}

/// How many words of a page nothing is known of.
pub(super) fn unknown_words(tree: &Statement) -> usize {
    let senses = tree.exprs().into_iter().filter_map(|expr| operations::sense(tree.dialect, expr, &BTreeSet::new()));
    senses.filter(|sense| matches!(sense, Sense::Unknown(_))).count()
}

/// Whether either page takes responsibility for words that nothing is known of.
pub(super) fn takes_unknown(pages: &[&PageOf<'_>]) -> bool {
    let mut annotations = pages.iter().flat_map(|page| &page.raw.annotations);
    annotations
        .any(|annotation| matches!(&annotation.kind, AnnotationKind::Allow { rule, .. } if rule == rule::UNKNOWN_OPERATION.name))
}

/// Parameters that either page declares nullable.
pub(super) fn nullable(pages: &[&PageOf<'_>]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for page in pages {
        names.extend(page.tree.params.iter().filter(|param| param.nullable).map(|param| param.name.clone()));
        names.extend(page.raw.declared_nullable().map(str::to_owned));
    }
    names
}

//! All statements as they face each other, for those who only look at them.

use super::pairs::{Entry, Pairing};
use super::read_pages;
use crate::baseline::Baseline;
use crate::dialect::Both;
use crate::page::RawStatement;
use crate::project::Inputs;

/// A statement with the pages that have it.
#[derive(Debug, Clone)]
pub struct Facing {
    pub noun: String,
    pub name: String,
    pub pages: Both<Option<RawStatement>>,
}

/// All statements, each beside the one that it faces, in the order in which they are compiled.
pub fn facing(inputs: &Inputs) -> Vec<Facing> {
    let mut ignored = Vec::new();
    let pages = read_pages(inputs, &mut ignored);
    let (lockstep, baseline) = (inputs.config.lockstep, Baseline::default());
    let pairing = Pairing { places: &inputs.config.sql, lockstep, baseline: &baseline };
    let entries = pairing.entries(&pages, &mut ignored);
    let page = |of: &Entry<'_>, dialect| of.sides.iter().find(|s| s.dialect == dialect).map(|s| s.raw.clone());
    let pages = |entry: &Entry<'_>| Both::of(|dialect| page(entry, dialect));
    let of = |it: &Entry<'_>| Facing { noun: it.noun.to_owned(), name: it.name.to_owned(), pages: pages(it) };
    entries.iter().map(of).collect()
}

//! What is known about parameters: each place where one meets something typed.

use std::collections::BTreeMap;

use super::origin::Origin;
use crate::dialect::Dialect;
use crate::source::Span;
use crate::types::Base;

/// How much a hint weighs: a heavier one makes lighter ones irrelevant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    /// A literal, or a function that takes nearly everything.
    Light,
    /// A conversion that SQLite really carries out, so that the value before it may be anything.
    Cast,
    /// A column, a typed expression, a clause that takes one type only.
    Heavy,
}

/// What an expression says about a parameter beside it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Hint<'a> {
    pub(super) base: Base,
    pub(super) weight: Weight,
    pub(super) origin: Option<Origin<'a>>,
    /// Of a list: the column that its elements meet.
    pub(super) elements: Option<Origin<'a>>,
}

impl<'a> Hint<'a> {
    pub(super) fn new(base: Base, weight: Weight) -> Self {
        Self { base, weight, origin: None, elements: None }
    }

    pub(super) fn heavy(base: Base) -> Self {
        Self::new(base, Weight::Heavy)
    }

    pub(super) fn light(base: Base) -> Self {
        Self::new(base, Weight::Light)
    }

    /// A value as that column holds them, if it is one's.
    pub(super) fn of(base: Base, origin: Option<Origin<'a>>) -> Self {
        Self { origin, ..Self::heavy(base) }
    }

    /// A list of what this is.
    pub(super) fn list(self) -> Option<Self> {
        array(&self.base).map(|base| Self { elements: self.origin, ..Self::heavy(base) })
    }

    /// The same type, but not the same kind of value: no newtype follows from it.
    pub(super) fn without_origin(mut self) -> Self {
        (self.origin, self.elements) = (None, None);
        self
    }
}

/// The list type of an element's type.
pub(super) fn array(element: &Base) -> Option<Base> {
    match element {
        Base::Text => Some(Base::TextArray),
        Base::Int16 | Base::Int32 | Base::Int64 => Some(Base::Int64Array),
        Base::Uuid => Some(Base::UuidArray),
        _ => None,
    }
}

/// A hint and where the parameter stands that met it.
#[derive(Debug, Clone)]
pub(super) struct Evidence<'a> {
    pub(super) hint: Hint<'a>,
    pub(super) span: Span,
}

/// All evidence of one page.
#[derive(Debug, Default)]
pub(super) struct Evidences<'a> {
    by_param: BTreeMap<&'a str, Vec<Evidence<'a>>>,
    /// The same for the fields of the rows that the statement takes.
    by_field: BTreeMap<&'a str, Vec<Evidence<'a>>>,
    /// Pairs of parameters that meet each other.
    links: Vec<(&'a str, &'a str)>,
}

/// Two pieces of evidence of the same weight that no type satisfies.
pub(super) struct Conflict<'a>(pub(super) Evidence<'a>, pub(super) Evidence<'a>);

impl<'a> Evidences<'a> {
    pub(super) fn add(&mut self, param: &'a str, evidence: Evidence<'a>) {
        self.by_param.entry(param).or_default().push(evidence);
    }

    pub(super) fn add_to_field(&mut self, field: &'a str, evidence: Evidence<'a>) {
        self.by_field.entry(field).or_default().push(evidence);
    }

    /// What a field of the rows met.
    pub(super) fn of_field(&self, field: &str) -> &[Evidence<'a>] {
        self.by_field.get(field).map_or(&[], Vec::as_slice)
    }

    pub(super) fn link(&mut self, a: &'a str, b: &'a str) {
        self.links.push((a, b));
    }

    /// What a parameter met itself.
    pub(super) fn of(&self, param: &str) -> &[Evidence<'a>] {
        self.by_param.get(param).map_or(&[], Vec::as_slice)
    }

    /// The type that the heaviest evidence agrees on; a parameter without evidence takes that of the
    /// parameters that it meets.
    pub(super) fn settle(&self, param: &str, dialect: Dialect) -> Result<Option<Evidence<'a>>, Box<Conflict<'a>>> {
        let mut group = vec![param];
        let mut next = 0;
        loop {
            let evidence: Vec<&Evidence<'a>> = group[next..].iter().flat_map(|name| self.of(name)).collect();
            if !evidence.is_empty() {
                return agree(&evidence, dialect);
            }
            let before = group.len();
            for (a, b) in self.links.iter().copied() {
                for (from, to) in [(a, b), (b, a)] {
                    if group.contains(&from) && !group.contains(&to) {
                        group.push(to);
                    }
                }
            }
            next = before;
            if group.len() == before {
                return Ok(None);
            }
        }
    }
}

fn agree<'a>(evidence: &[&Evidence<'a>], dialect: Dialect) -> Result<Option<Evidence<'a>>, Box<Conflict<'a>>> {
    let Some(weight) = evidence.iter().map(|e| e.hint.weight).max() else { return Ok(None) };
    let mut agreed: Option<Evidence<'a>> = None;
    for next in evidence.iter().filter(|e| e.hint.weight == weight) {
        agreed = Some(match agreed {
            None => (*next).clone(),
            Some(so_far) => match merge(&so_far.hint.base, &next.hint.base, dialect) {
                Some(base) => Evidence { hint: Hint { base, ..so_far.hint }, ..so_far },
                None => return Err(Box::new(Conflict(so_far, (*next).clone()))),
            },
        });
    }
    Ok(agreed)
}

/// The type that satisfies both places of one page.
fn merge(a: &Base, b: &Base, dialect: Dialect) -> Option<Base> {
    if a == b {
        return Some(a.clone());
    }
    match (integer_width(a), integer_width(b)) {
        // Columns of several widths: only the widest carries every value that may be meant.
        (Some(x), Some(y)) => return Some(if x >= y { a.clone() } else { b.clone() }),
        (Some(_), None) if *b == Base::Float64 => return Some(Base::Float64),
        (None, Some(_)) if *a == Base::Float64 => return Some(Base::Float64),
        _ => {}
    }
    match dialect {
        Dialect::Sqlite => Base::finer(a, b).or_else(|| Base::finer(b, a)),
        Dialect::Pg => None,
    }
}

fn integer_width(base: &Base) -> Option<u8> {
    match base {
        Base::Int16 => Some(16),
        Base::Int32 => Some(32),
        Base::Int64 => Some(64),
        _ => None,
    }
}

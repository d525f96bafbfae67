//! What a program binds to the parameters of a pair.

use std::collections::{BTreeMap, BTreeSet};

use super::subject::{Prover, Subject};
use super::tables::Table;
use super::uses::{Key, Looks, Uses};
use diglot::dialect::Both;
use diglot::infer::Param;
use diglot::page::AnnotationKind;
use diglot::tree::Statement;
use diglot::types::Base;

impl Prover<'_> {
    /// The parameters as a program of its own binds them: where no function is made that takes no NULL, one may be bound to
    /// what is asked for NULL, and to what a column takes that may be NULL.
    pub(super) fn as_bound(&self, name: &str, params: Vec<Param>, found: &Both<Uses>, filled: &[Table]) -> Vec<Param> {
        if self.config.generate.enabled {
            return params;
        }
        let declared: Vec<&str> = self
            .project
            .annotations(name)
            .filter_map(|annotation| match &annotation.kind {
                AnnotationKind::Param { name, .. } => Some(name.as_str()),
                _ => None,
            })
            .collect();
        let takes_null = |key: &Key| {
            let Key::Column(table, column) = key else { return false };
            let table = filled.iter().find(|known| known.name == *table);
            table.is_some_and(|table| table.columns.iter().any(|known| known.name == *column && known.nullable))
        };
        let is_bound = |param: &Param| {
            let key = Key::Param(param.name.clone());
            let is_asked = found.iter().any(|uses| {
                uses.nulls.contains(&key) || uses.looks.get(&key).is_some_and(|looks| looks.any(Looks::NULLED))
            });
            let mut stored = found.iter().flat_map(|uses| &uses.stored);
            is_asked || stored.any(|(column, name)| *name == param.name && takes_null(column))
        };
        let bound = |mut param: Param| {
            let is_free = !param.is_choice() && !declared.contains(&param.name.as_str()) && is_bound(&param);
            param.ty.nullable |= is_free;
            param
        };
        params.into_iter().map(bound).collect()
    }

    /// Documents that meet have members in common, of each of which as much is declared.
    pub(super) fn declare_in_common(&self, subject: &mut Subject) {
        let paths = subject.related.iter().filter_map(|key| subject.paths.get(key)).flatten();
        let members: BTreeSet<String> = paths.filter_map(|path| path.first().cloned()).collect();
        for key in &subject.related {
            let (owner, name) = match key {
                Key::Column(table, column) => (table, column),
                Key::Param(name) => (&subject.name, name),
                Key::Json(..) => continue,
            };
            for member in &members {
                if let Some(kind) = self.declared_kind(owner, name, member) {
                    subject.fields.entry((key.clone(), vec![member.clone()])).or_insert_with(|| kind.to_owned());
                }
            }
        }
    }
}

/// Parameters of one page that are one parameter of the other, where a page that binds one value in several places counts
/// them, `lane` and `lane_2`, or has a mark for each.
pub(super) fn bound_again(trees: &Both<Statement>) -> BTreeMap<String, String> {
    let names = trees.each_ref().map(|tree| tree.params.iter().map(|param| param.name.as_str()).collect::<Vec<&str>>());
    let mut again = BTreeMap::new();
    for (own, facing) in [(&names.sqlite, &names.pg), (&names.pg, &names.sqlite)] {
        for (at, name) in own.iter().enumerate().filter(|(_, name)| !facing.contains(name)) {
            let stem = name.rsplit_once('_').filter(|(_, number)| number.parse::<u32>().is_ok()).map(|(stem, _)| stem);
            let stem = stem.filter(|stem| own.contains(stem) && facing.contains(stem));
            let is_repeated = |name: &&str| facing.iter().filter(|other| *other == name).count() > 1;
            let beside = || facing.get(at).copied().filter(|_| own.len() == facing.len()).filter(is_repeated);
            if let Some(first) = stem.or_else(beside) {
                again.entry((*name).to_owned()).or_insert_with(|| first.to_owned());
            }
        }
    }
    again
}

/// Documents that meet others as a whole, columns and parameters.
pub(super) fn related(subject: &Subject, found: &Both<Uses>) -> BTreeSet<Key> {
    let base = |key: &Key| match key {
        Key::Column(table, column) => {
            let table = subject.tables.iter().find(|known| known.name == *table)?;
            table.columns.iter().find(|known| known.name == *column).map(|known| known.base.clone())
        }
        Key::Param(name) => subject.given().find(|param| param.name == *name).map(|param| param.ty.base),
        Key::Json(..) => None,
    };
    let mut related = BTreeSet::new();
    for (one, other) in found.iter().flat_map(|uses| &uses.beside) {
        let bases = [base(one), base(other)];
        let is_whole = |base: &Option<Base>| matches!(base, Some(Base::Json | Base::Text));
        if one != other && bases.iter().all(is_whole) && bases.contains(&Some(Base::Json)) {
            related.extend([one.clone(), other.clone()]);
        }
    }
    related
}

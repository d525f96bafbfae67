//! Parameters that are written to columns with CHECKs: a call that is refused tells nothing else of its statement.

use super::carried;
use super::scene::core;
use crate::prove::domain::Choice;
use crate::prove::subject::Subject;
use crate::prove::tables::TableColumn;
use crate::prove::uses::Key;
use diglot::types::Base;
use diglot::value::Value;

/// The number of a row that stands for no row.
const ROW: usize = 17;

/// The values of a parameter, first of all one that the columns take into which it is written.
pub(super) fn first(subject: &Subject, key: &Key, base: &Base, choices: Vec<Choice>) -> Vec<Choice> {
    let written = written(subject, key);
    let (Some((table, column)), Some(first)) = (written.first(), choices.first()) else { return choices };
    let Some(value) = first.value.clone().or_else(|| plain(subject, key, base)) else { return choices };
    let fits = |value: &Value| {
        *value != Value::Null && written.iter().all(|(table, column)| subject.checks.allow(table, column, value))
    };
    if fits(&value) {
        return choices;
    }
    let known =
        choices.iter().filter(|choice| choice.value.as_ref().is_some_and(fits)).min_by_key(|choice| choice.tier);
    // Two that are written to columns alike are told apart.
    let number = subject.given().position(|param| *key == Key::Param(param.name)).unwrap_or(0);
    let settled = || {
        let settled = subject.checks.settled(table, column, subject.pool(key), value, number);
        settled.into_base(base).filter(fits)
    };
    let Some(taken) = known.and_then(|choice| choice.value.clone()).or_else(settled) else { return choices };
    let others = choices.iter().filter(|choice| choice.value.is_some() && choice.value.as_ref() != Some(&taken));
    std::iter::once(core(taken.clone())).chain(others.cloned()).collect()
}

/// The columns into which a parameter is written as it is, with their tables.
fn written<'s>(subject: &'s Subject, key: &Key) -> Vec<(&'s String, &'s TableColumn)> {
    let Key::Param(param) = key else { return Vec::new() };
    let columns = subject.reading.stored.iter().filter(|(_, name)| name == param).filter_map(|(column, _)| {
        let Key::Column(table, name) = column else { return None };
        let known = subject.compared.iter().find(|known| known.name == *table)?;
        Some((&known.name, known.columns.iter().find(|known| known.name == *name)?))
    });
    columns.collect()
}

/// What stands in a parameter that nobody looks at; none of a document.
fn plain(subject: &Subject, key: &Key, base: &Base) -> Option<Value> {
    let is_document = *base == Base::Json || subject.paths.contains_key(key);
    (!is_document).then(|| carried::value(base, subject.pool(key), 0, ROW))
}

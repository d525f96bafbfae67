//! What is known about the values of columns and parameters that meet: from the pages, the settings, and the schemas.

use std::collections::BTreeMap;

use super::pool::Pool;
use super::subject::{Prover, Subject};
use super::tables::TableColumn;
use super::uses::{Key, Looks, Uses};
use diglot::dialect::Both;
use diglot::schema::{By, Schema};
use diglot::value::Value;

impl Prover<'_> {
    /// What the pages, the settings, the schemas and the engines say of the values of places that meet.
    pub(super) fn pool(&self, subject: &Subject, members: &[Key], found: &Both<Uses>) -> Pool {
        let mut pool = Pool::default();
        let add = |list: &mut Vec<Value>, value: &Value| {
            if !list.contains(value) {
                list.push(value.clone());
            }
        };
        for key in members {
            pool.ids |= subject.holds_ids(key);
            for uses in found {
                uses.literals.iter().filter(|(of, _)| of == key).for_each(|(_, value)| add(&mut pool.literals, value));
                pool.null |= uses.nulls.contains(key);
                pool.pattern |= uses.patterns.contains(key);
                if subject.reading.forced.contains(key) {
                    pool.looks |= Looks::EQUAL;
                }
                for (_, value) in subject.reading.near.iter().filter(|(of, _)| of == key) {
                    add(&mut pool.near, value);
                }
                for (_, value) in subject.reading.computed.iter().filter(|(of, _)| of == key) {
                    add(&mut pool.literals, value);
                }
                pool.looks |= subject.reading.looks.get(key).copied().unwrap_or_default();
                uses.near.iter().filter(|(of, _)| of == key).for_each(|(_, value)| add(&mut pool.near, value));
                pool.bound |= matches!(key, Key::Param(name) if uses.bounds.contains(name));
            }
            self.known.get(key).into_iter().flatten().for_each(|value| add(&mut pool.words, value));
            self.checked.get(key).into_iter().flatten().for_each(|value| add(&mut pool.checked, value));
            if let Key::Column(table, column) = key {
                let declared = self.config.words_of(table, column).map(|words| &words.words);
                let of_type = self.relations.words.get(&(table.clone(), column.clone()));
                for words in [declared, of_type].into_iter().flatten() {
                    words.iter().for_each(|word| add(&mut pool.words, &Value::Text(word.clone())));
                    pool.closed = true;
                }
                let known = subject.tables.iter().find(|known| known.name == *table);
                let column = known.and_then(|known| known.columns.iter().find(|known| known.name == *column));
                let forms = column.into_iter().flat_map(|column| self.checks.forms(table, column));
                forms.for_each(|form| add(&mut pool.checked, &form));
                pool.constant |= column.is_some_and(|column| column.is_one_sided());
                pool.kept = pool.kept.or_else(|| column.and_then(TableColumn::whole_range));
            }
            let (table, name) = match key {
                Key::Column(table, column) => (table.as_str(), column.as_str()),
                Key::Param(name) => (subject.name.as_str(), name.as_str()),
                Key::Json(_, path) => ("", path.last().map_or("", String::as_str)),
            };
            if let Some((least, most)) = self.config.prove.range(table, name) {
                let (low, high) = pool.range.unwrap_or((least, most));
                pool.range = Some((low.max(least), high.min(most)));
            }
        }
        pool
    }
}

/// The words that CHECKs list, and the texts that all others speak of beside a column: rows that hold something else are
/// refused.
pub(super) fn of_schema(
    schema: &Schema,
    words: &mut BTreeMap<Key, Vec<Value>>,
    checked: &mut BTreeMap<Key, Vec<Value>>,
) {
    let add = |all: &mut BTreeMap<Key, Vec<Value>>, table: &str, column: &str, value: Value| {
        let values = all.entry(Key::Column(table.to_owned(), column.to_owned())).or_default();
        if !values.contains(&value) {
            values.push(value);
        }
    };
    for table in schema.tables.values() {
        for column in &table.columns {
            if let Some(listed) = column.words.as_ref().filter(|listed| listed.by == By::Check) {
                listed.words.iter().for_each(|word| add(words, &table.name, &column.name, Value::Text(word.clone())));
            }
        }
        for check in &table.checks {
            let (names, texts) = check.texts(schema.dialect);
            for name in names.iter().filter(|name| table.column(name).is_some_and(|column| column.words.is_none())) {
                texts.iter().for_each(|text| add(checked, &table.name, name, Value::Text(text.clone())));
            }
        }
    }
}

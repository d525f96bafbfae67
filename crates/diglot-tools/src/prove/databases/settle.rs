//! Rows that can be in a database together: no key twice, and everything that is referred to.

use std::collections::{BTreeMap, BTreeSet};

use super::parents_first;
use super::scene::{Picks, Scene};
use crate::prove::cases::{Row, key_of};
use crate::prove::tables::Table;
use crate::prove::uses::Key;
use diglot::schema::ForeignKey;
use diglot::value::Value;

/// Where those begin that are given a key because theirs was taken.
const SPARE: usize = 5;
/// The most rows of a table.
const MOST: usize = 200;

/// A reference of a row, which is the how manieth of its table.
struct Reference<'t> {
    table: &'t Table,
    key: &'t ForeignKey,
    parent: usize,
    at: usize,
}

impl Scene<'_> {
    /// Rows with their keys apart and everything that they refer to, by the names of their tables.
    pub(super) fn settled(&self, picks: &Picks, mut rows: BTreeMap<usize, Vec<Row>>) -> BTreeMap<String, Vec<Row>> {
        let tables = &self.subject.tables;
        for at in (0..tables.len()).rev() {
            let own = rows.remove(&at).unwrap_or_default();
            let mut kept = self.apart(&tables[at], own);
            // A row that refers to its own table may ask for one that refers again.
            let mut next = 0;
            while next < kept.len() && kept.len() < MOST {
                let mut row = kept[next].clone();
                for key in &tables[at].foreign {
                    let Some(parent) = tables.iter().position(|table| table.name == key.table) else { continue };
                    let others = if parent == at { &mut kept } else { rows.entry(parent).or_default() };
                    let reference = Reference { table: &tables[at], key, parent, at: next };
                    self.refer(picks, &mut row, reference, others);
                }
                kept[next] = row;
                next += 1;
            }
            let kept = without_circles(&tables[at], parents_first(&tables[at], kept));
            rows.insert(at, kept);
        }
        rows.into_iter()
            .filter(|(_, rows)| !rows.is_empty())
            .map(|(at, rows)| (tables[at].name.clone(), rows))
            .collect()
    }

    /// Rows of which no two have a key alike.
    fn apart(&self, table: &Table, rows: Vec<Row>) -> Vec<Row> {
        let (mut kept, mut taken) = (Vec::new(), BTreeSet::new());
        for (number, mut row) in rows.into_iter().enumerate() {
            let mut is_new = true;
            for key in &table.unique {
                let is_taken = |row: &Row| key_of(row, key).is_some_and(|own| taken.contains(&own));
                let mut free = key.iter().rev().filter_map(|name| {
                    let at = table.columns.iter().position(|column| column.name == *name)?;
                    let is_foreign = table.foreign.iter().any(|foreign| foreign.columns.contains(name));
                    (!is_foreign).then_some(at)
                });
                while is_taken(&row) {
                    let Some(at) = free.next() else { break };
                    row.insert(table.columns[at].name.clone(), self.carried(table, at, SPARE + number));
                }
                is_new &= !is_taken(&row);
            }
            if is_new {
                taken.extend(table.unique.iter().filter_map(|key| key_of(&row, key)));
                kept.push(row);
            }
        }
        kept
    }

    /// Sees to it that what a row refers to is there.
    fn refer(&self, picks: &Picks, row: &mut Row, reference: Reference<'_>, others: &mut Vec<Row>) {
        let Reference { table, key, parent, at } = reference;
        let is_own = table.name == self.subject.tables[parent].name;
        let referred = &self.subject.tables[parent];
        let columns = referred.referred(key);
        if columns.len() != key.columns.len() {
            return;
        }
        let is_free = |name: &String| self.subject.is_free(&Key::Column(table.name.clone(), name.clone()));
        let of_parent =
            |other: &Row| -> Vec<Value> { columns.iter().filter_map(|name| other.get(name)).cloned().collect() };
        let is_null = key.columns.iter().any(|name| row.get(name) == Some(&Value::Null));
        if !key.columns.iter().any(is_free) && !is_null {
            // Two references of a row may have to differ.
            let broken = |row: &Row| self.subject.checks.broken(table, row);
            let before = broken(row);
            let with = |other: &Row| {
                let mut next = row.clone();
                next.extend(key.columns.iter().cloned().zip(of_parent(other)));
                (broken(&next) <= before).then_some(next)
            };
            let first = others.get(at % 2).or_else(|| others.first().filter(|_| is_own));
            if let Some(next) = first.and_then(|first| with(first).or_else(|| others.iter().find_map(with))) {
                *row = next;
                return;
            }
        }
        let own: Vec<Value> = key.columns.iter().filter_map(|name| row.get(name)).cloned().collect();
        if own.contains(&Value::Null)
            || own.len() != columns.len()
            || others.iter().any(|other| of_parent(other) == own)
        {
            return;
        }
        let mut made = self.parent(picks, parent, others.len());
        made.extend(columns.iter().cloned().zip(own.iter().cloned()));
        // What went with the key that it had need not go with this one.
        let mended = self.mended(picks, None, referred, made.clone());
        if of_parent(&mended) == own {
            made = mended;
        }
        // A chain of rows of one table ends where it can.
        let chained = referred.foreign.iter().filter(|foreign| is_own && foreign.table == referred.name);
        for name in chained.flat_map(|foreign| &foreign.columns).filter(|name| !columns.contains(name)) {
            if referred.columns.iter().any(|column| column.name == *name && column.nullable) {
                made.insert(name.clone(), Value::Null);
            }
        }
        others.push(made);
    }

    /// A row of a table that is there because another one refers to it.
    fn parent(&self, picks: &Picks, parent: usize, others: usize) -> Row {
        let referred = &self.subject.tables[parent];
        let seat = self.seats.iter().position(|seat| seat.table == parent && seat.number == 0);
        // The row that comes first refers to the greatest, so that the order of one is not that of the other.
        let number = SPARE + 40 - others.min(20);
        match seat {
            Some(seat) => self.made(picks, seat, number),
            None => {
                let columns = (0..referred.columns.len()).filter(|at| referred.columns[*at].computed.is_none());
                let row = columns.map(|at| (referred.columns[at].name.clone(), self.carried(referred, at, number)));
                self.mended(picks, None, referred, row.collect())
            }
        }
    }
}

/// Rows in an order in which each can be put there: one that refers to a later row refers to none, or is not there.
fn without_circles(table: &Table, rows: Vec<Row>) -> Vec<Row> {
    let mut kept: Vec<Row> = Vec::new();
    for mut row in rows {
        let mut is_kept = true;
        for key in table.foreign.iter().filter(|key| key.table == table.name) {
            let referred = table.referred(key);
            let pairs = || referred.iter().zip(&key.columns);
            let is_it = |other: &Row| pairs().all(|(name, own)| other.get(name) == row.get(own));
            if is_it(&row) || kept.iter().any(is_it) || key.columns.iter().any(|own| row.get(own) == Some(&Value::Null))
            {
                continue;
            }
            let is_nullable =
                |name: &&String| table.columns.iter().any(|column| column.name == **name && column.nullable);
            match key.columns.iter().find(is_nullable) {
                Some(name) => drop(row.insert(name.clone(), Value::Null)),
                None => is_kept = false,
            }
        }
        if is_kept {
            kept.push(row);
        }
    }
    kept
}

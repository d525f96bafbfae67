//! What the tables hold, with everything masked that differs between two runs of the same operation.

use std::collections::{BTreeMap, BTreeSet};

use crate::harness::Harness;

/// Every row of every table of ours as text, and how often it is there.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Rows(BTreeMap<String, i64>);

/// Rows that came (counted up) and went (counted down).
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Change(BTreeMap<String, i64>);

impl Rows {
    pub(crate) async fn read(h: &Harness) -> Self {
        let mut rows = BTreeMap::new();
        // Marks say again what other rows say, and are made before what they are made for.
        let kept = |row: &String| !row.starts_with("ff_claim_mark|");
        for row in h.every_row().await.into_iter().filter(kept) {
            *rows.entry(masked(&without_numbers(&row))).or_default() += 1;
        }
        Self(rows)
    }

    /// What changed since then.
    pub(crate) fn since(&self, before: &Self) -> Change {
        let mut changed = self.0.clone();
        for (row, count) in &before.0 {
            *changed.entry(row.clone()).or_default() -= count;
        }
        changed.retain(|_, count| *count != 0);
        Change(changed)
    }
}

impl Change {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The tables that changed.
    pub(crate) fn tables(&self) -> BTreeSet<String> {
        self.0.keys().filter_map(|row| Some(row.split_once('|')?.0.to_owned())).collect()
    }

    /// What differs from another change, for the message of a failure.
    pub(crate) fn against(&self, expected: &Self) -> String {
        let mut text = String::new();
        for (row, count) in &self.0 {
            if expected.0.get(row) != Some(count) {
                text.push_str(&format!("\n  {count:+} {row}"));
            }
        }
        for (row, count) in &expected.0 {
            if self.0.get(row) != Some(count) {
                text.push_str(&format!("\n  expected {count:+} {row}"));
            }
        }
        text
    }
}

/// The partition of a worker follows from its id, so it is masked like the id; numbers of transactions are of their run.
fn without_numbers(row: &str) -> String {
    let column = match row.split_once('|') {
        Some((table, _)) if table.starts_with("ff_worker_registry") => "\"partition_key\": ",
        Some(("ff_claimable", _)) => "\"entered\": ",
        _ => return row.to_owned(),
    };
    match row.split_once(column) {
        Some((before, after)) => {
            format!("{before}{column}N{}", after.trim_start_matches(|letter: char| letter.is_ascii_digit()))
        }
        None => row.to_owned(),
    }
}

/// Ids become `ID` and times `TIME`.
fn masked(row: &str) -> String {
    let mut text = String::with_capacity(row.len());
    let mut run = String::new();
    for letter in row.chars().chain(['\n']) {
        if letter.is_ascii_hexdigit() || letter == '-' {
            run.push(letter);
            continue;
        }
        let digits = run.trim_matches('-');
        if digits.len() >= 32 {
            text.push_str("ID");
        } else if digits.len() >= 13 && digits.bytes().all(|digit| digit.is_ascii_digit()) {
            text.push_str("TIME");
        } else {
            text.push_str(&run);
        }
        run.clear();
        text.push(letter);
    }
    text.truncate(text.len() - 1);
    text
}

#[test]
fn ids_and_times_are_masked_and_nothing_else() {
    let id = "0b1c2d3e-0000-4000-8000-00000000abcd";
    assert_eq!(masked(&format!("t|{id}|X'{}'|1700000000123|-5|face", id.replace('-', ""))), "t|ID|X'ID'|TIME|-5|face");
}

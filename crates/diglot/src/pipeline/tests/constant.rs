//! Pairs that the engines' rows decide.

use std::collections::BTreeMap;

use super::{Inputs, compile, pair, rendered, rules, sound};
use crate::answers::{Described, Record, index, key, record};
use crate::cache::Cache;
use crate::dialect::Dialect;
use crate::pipeline::compile_again;

const SQLITE: &str = "-- name: job_count :one\nSELECT sum(column1) AS n FROM (VALUES (1), (2)) AS v;";
const PG: &str = "-- name: job_count :one\nSELECT count(*) AS n FROM generate_series(1, 3) AS i;";

/// The pair with what the engines gave, one row of one value each.
fn answered(sqlite: &str, pg: &str) -> Inputs {
    let mut inputs = pair(SQLITE, PG);
    let texts = compile(&inputs).texts;
    assert!(texts.len() == 2 && texts.iter().all(|text| text.constant), "{texts:?}");
    let given = |dialect| match dialect {
        Dialect::Sqlite => sqlite,
        Dialect::Pg => pg,
    };
    let records: BTreeMap<String, Record> = texts
        .iter()
        .map(|text| {
            let rows = Some(vec![vec![given(text.dialect).to_owned()]]);
            (key(text), Record { rows, ..record(text, &Described::default()) })
        })
        .collect();
    inputs.answers = Some(index(&inputs, &records));
    inputs
}

#[test]
fn the_same_rows_are_the_same_whatever_the_texts_say() {
    sound(&answered("3", "3"));
}

#[test]
fn rows_that_differ_are_shown() {
    let inputs = answered("3", "4");
    insta::assert_snapshot!(rendered(&inputs, &compile(&inputs)));
}

#[test]
fn who_has_not_asked_the_engines_is_told_to() {
    let inputs = pair(SQLITE, PG);
    insta::assert_snapshot!(rendered(&inputs, &compile(&inputs)));
}

#[test]
fn nothing_is_found_before_the_engines_have_answered() {
    sound(&Inputs { asking: true, ..pair(SQLITE, PG) });
}

#[test]
fn rows_of_other_texts_decide_nothing() {
    let old = answered("3", "3");
    let inputs = Inputs { answers: old.answers, ..pair(SQLITE, &PG.replace("3)", "4)")) };
    assert_eq!(rules(&compile(&inputs)), rules(&compile(&pair(SQLITE, PG))));
}

#[test]
fn a_header_is_not_decided_by_rows() {
    let inputs = answered("3", "3");
    let changed = pair(&SQLITE.replace(":one", ":many"), PG);
    assert!(rules(&compile(&Inputs { answers: inputs.answers, ..changed })).contains(&"cardinality-differs"));
}

#[test]
fn what_rows_settled_is_not_kept_for_the_next_run() {
    let inputs = answered("3", "3");
    let (compiled, kept) = compile_again(&inputs, &Cache::default());
    assert!(compiled.diagnostics.is_empty());
    assert_eq!(kept.keys().count(), 0);
}

#[test]
fn a_statement_that_may_give_other_rows_tomorrow_is_not_constant() {
    let moving = [
        "SELECT id FROM job",
        "SELECT :n AS n",
        "SELECT unixepoch() AS n",
        "SELECT unixepoch('NOW') AS n",
        "SELECT unixepoch(column1) AS n FROM (VALUES ('now')) AS v",
        "SELECT strftime('%s') AS n",
        "SELECT datetime('2024-01-01', 'localtime') AS n",
        "SELECT random() AS n",
        "SELECT upper('ä') AS n",
        "SELECT column1 AS n FROM (VALUES ('a'), ('B')) AS v ORDER BY column1",
        "SELECT 'a' < 'B' AS n",
        "SELECT 'a' BETWEEN 'A' AND 'B' AS n",
        "SELECT row_number() OVER (ORDER BY 'a') AS n",
    ];
    for sql in moving {
        let page = format!("-- name: job_get :many\n{sql};");
        let compiled = compile(&pair(&page, &page));
        assert!(compiled.texts.iter().all(|text| !text.constant), "{sql}");
    }
}

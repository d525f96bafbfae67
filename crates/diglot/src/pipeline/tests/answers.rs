//! Recorded answers and what may be wrong with them.

use std::collections::BTreeMap;

use super::{Inputs, compile, pair, rendered, rules, sound};
use crate::answers::{Described, DescribedColumn, Index, Record, index, key, query_file, record};
use crate::dialect::Dialect;
use crate::emitted::EmittedText;

const GET: &str = "-- name: job_get :opt\nSELECT id, size FROM job WHERE part = :part;";

/// What the engines say of [`GET`].
fn described(text: &EmittedText) -> Described {
    let column = |name: &str, ty: &str, nullable| DescribedColumn { name: name.into(), type_info: ty.into(), nullable };
    match text.dialect {
        Dialect::Sqlite => Described {
            columns: vec![column("id", "Blob", Some(true)), column("size", "Null", None)],
            ..Described::default()
        },
        Dialect::Pg => Described {
            params: Some(vec!["Int2".into()]),
            columns: vec![column("id", "Uuid", Some(false)), column("size", "Int4", Some(true))],
            rows: None,
        },
    }
}

/// Inputs with answers to every text, after `change` had its way with them.
fn answered(change: impl Fn(&mut Record)) -> Inputs {
    let mut inputs = pair(GET, GET);
    let compiled = sound(&inputs);
    let mut records: BTreeMap<String, Record> =
        compiled.texts.iter().map(|text| (key(text), record(text, &described(text)))).collect();
    records.values_mut().for_each(change);
    inputs.answers = Some(index(&inputs, &records));
    inputs.check_answers = true;
    inputs
}

#[test]
fn answers_that_fit_are_no_finding() {
    sound(&answered(|_| {}));
}

#[test]
fn answers_that_are_missing_are_one_finding() {
    let mut inputs = pair(GET, GET);
    inputs.check_answers = true;
    insta::assert_snapshot!(rendered(&inputs, &compile(&inputs)));
    for text in ["", "{}", "not json", "{\"version\":0,\"schema\":{},\"texts\":{}}"] {
        inputs.answers = Some(text.to_owned());
        assert_eq!(rules(&compile(&inputs)), ["stale-answers"], "{text}");
    }
}

#[test]
fn a_statement_that_changed_is_named() {
    let mut inputs = pair(&GET.replace("size", "size, epoch"), &GET.replace("size", "size, epoch"));
    inputs.answers = answered(|_| {}).answers;
    inputs.check_answers = true;
    insta::assert_snapshot!(rendered(&inputs, &compile(&inputs)));
}

#[test]
fn white_space_and_comments_leave_the_answers_in_place() {
    let spaced = GET.replace(" FROM", " -- all of them\n  FROM");
    let mut inputs = pair(&spaced, &spaced);
    inputs.answers = answered(|_| {}).answers;
    inputs.check_answers = true;
    sound(&inputs);
}

#[test]
fn a_schema_that_changed_makes_all_answers_stale() {
    let mut inputs = answered(|_| {});
    let more = "CREATE INDEX more ON job (id, lane); DROP INDEX more;";
    inputs.sources.add(crate::source::SourceFile::new("schema/pg/0002_more.sql", more));
    let compiled = compile(&inputs);
    assert_eq!(rules(&compiled), ["stale-answers"]);
    assert!(compiled.diagnostics[0].notes[0].contains("schema of Postgres"), "{:?}", compiled.diagnostics[0].notes);
}

#[test]
fn an_engine_that_sees_another_type_is_heard() {
    let inputs = answered(|record| {
        if record.params[0] == "i16" {
            record.params[0] = "i32".into();
            record.columns[0].nullable = Some(true);
            record.columns[1].ty = "i64".into();
        }
    });
    insta::assert_snapshot!(rendered(&inputs, &compile(&inputs)));
}

#[test]
fn an_error_elsewhere_comes_before_stale_answers() {
    let mut inputs = pair(GET, &GET.replace("part = :part", "part < :part"));
    inputs.check_answers = true;
    assert!(!rules(&compile(&inputs)).contains(&"stale-answers"));
}

#[test]
fn the_files_for_sqlx_look_at_every_value_on_sqlite_alone() {
    let compiled = sound(&pair(GET, GET));
    let files: Vec<(String, String)> = compiled.texts.iter().map(|text| query_file(text, &described(text))).collect();
    assert!(files.iter().all(|(name, _)| name.starts_with("query-") && name.len() == "query-.json".len() + 64));
    insta::assert_snapshot!(files.iter().map(|(_, text)| text.as_str()).collect::<String>());
}

#[test]
fn what_sqlite_does_not_know_is_filled_in_from_the_schema() {
    let inputs = answered(|_| {});
    let index: Index = serde_json::from_str(inputs.answers.as_deref().unwrap()).unwrap();
    let record = &index.texts["job.job_get.sqlite"];
    assert_eq!(record.columns[1].ty, "i64");
    assert_eq!(record.params, ["?"]);
}

#[test]
fn what_comes_in_several_widths_and_a_text_of_its_own_type_are_no_finding() {
    let sqlite = "-- name: job_get :opt\nSELECT lane, score FROM job WHERE part = :part;";
    let mut inputs = pair(sqlite, sqlite);
    let compiled = sound(&inputs);
    let custom = serde_json::json!({ "Custom": { "name": "citext", "kind": "Simple" } });
    let column = |name: &str, type_info| DescribedColumn { name: name.into(), type_info, nullable: None };
    let described = |text: &EmittedText| match text.dialect {
        Dialect::Sqlite => Described {
            columns: vec![column("lane", "Text".into()), column("score", "Float".into())],
            ..Described::default()
        },
        Dialect::Pg => Described {
            params: Some(vec!["Int2".into()]),
            columns: vec![column("lane", custom.clone()), column("score", "Float4".into())],
            rows: None,
        },
    };
    let records = compiled.texts.iter().map(|text| (key(text), record(text, &described(text)))).collect();
    inputs.answers = Some(index(&inputs, &records));
    inputs.check_answers = true;
    sound(&inputs);
    // sqlx's macros would read a `real` as four bytes and know no `citext`.
    let (_, file) = query_file(&compiled.texts[1], &described(&compiled.texts[1]));
    assert!(file.contains("\"name\": \"lane: _\"") && file.contains("\"name\": \"score: _\""), "{file}");
}

#[test]
fn a_type_without_a_counterpart_in_rust_is_named_with_the_way_out() {
    let custom = serde_json::json!({ "Custom": { "name": "ltree", "kind": "Simple" } });
    for (type_info, named) in [("Inet".into(), "inet"), ("Oid".into(), "oid"), (custom, "ltree")] {
        let mut inputs = pair(GET, GET);
        let compiled = sound(&inputs);
        let mut records: BTreeMap<String, Record> = BTreeMap::new();
        for text in &compiled.texts {
            let mut answer = described(text);
            if text.dialect == Dialect::Pg {
                answer.columns[1].type_info = type_info.clone();
            }
            records.insert(key(text), record(text, &answer));
        }
        inputs.answers = Some(index(&inputs, &records));
        inputs.check_answers = true;
        let text = rendered(&inputs, &compile(&inputs));
        assert!(text.contains(&format!("Postgres gives `{named}` for `size`, `i32` was understood")), "{text}");
        assert!(text.contains("write a CAST to a type that has a Rust type"), "{text}");
    }
}

//! Cases of a small project: what its rows and arguments hold, and when two answers are the same.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use diglot::config::Config;
use diglot::dialect::{Both, Dialect};
use diglot::source::{SourceFile, Sources};
use diglot::types::Base;
use diglot::{Compiled, Inputs, compile};

const SQLITE_SCHEMA: &str = "CREATE TABLE lane (name TEXT NOT NULL PRIMARY KEY);\n\
    CREATE TABLE job (id BLOB NOT NULL PRIMARY KEY, lane TEXT NOT NULL REFERENCES lane (name), state TEXT NOT NULL,\n\
      due_ms INTEGER, tries INTEGER NOT NULL, doc TEXT NOT NULL, made_ms INTEGER NOT NULL DEFAULT (unixepoch() * 1000));\n";
const PG_SCHEMA: &str = "CREATE TABLE lane (name text NOT NULL PRIMARY KEY);\n\
    CREATE TABLE job (id uuid NOT NULL PRIMARY KEY, lane text NOT NULL REFERENCES lane (name), state text NOT NULL,\n\
      due_ms bigint, tries smallint NOT NULL, doc jsonb NOT NULL,\n\
      made_ms bigint NOT NULL DEFAULT (extract(epoch FROM now()) * 1000)::bigint, node text NOT NULL);\n";
const SQLITE: &str = "-- Reads.\n-- name: job_due :many\nSELECT id, lane, tries FROM job\n\
    WHERE state = 'ready' AND lane = :lane AND due_ms <= :now_ms AND CAST(json_extract(doc, '$.kind') AS text) = :kind\n\
    ORDER BY tries, id LIMIT :most;\n\n-- Writes.\n-- name: job_end :rows\nUPDATE job SET state = 'done' WHERE id = :id;\n";
const PG: &str = "-- Reads.\n-- name: job_due :many\nSELECT id, lane, tries FROM job\n\
    WHERE state = 'ready' AND lane = :lane AND due_ms <= :now_ms AND doc ->> 'kind' = :kind\n\
    ORDER BY tries, id LIMIT :most;\n\n-- Writes.\n-- name: job_end :rows\nUPDATE job SET state = 'done' WHERE id = :id;\n";

fn project(declared: &str) -> (Inputs, Compiled) {
    let mut sources = Sources::default();
    sources.add(SourceFile::new("schema/sqlite/0001_job.sql", SQLITE_SCHEMA));
    sources.add(SourceFile::new("schema/pg/0001_job.sql", PG_SCHEMA));
    sources.add(SourceFile::new(
        "schema/divergences.sql",
        "-- diverges(column.job.node): one of them runs on many nodes.\n",
    ));
    sources.add(SourceFile::new("sql/sqlite/job.sql", SQLITE));
    sources.add(SourceFile::new("sql/pg/job.sql", PG));
    let toml = format!("{declared}[prove.ranges]\n\"*.*_ms\" = [0, 5000]\n\"job_due.most\" = [0, 3]\n");
    let config = Config::parse(&toml, "diglot.toml").expect("a sound configuration");
    let inputs = Inputs { config, sources, ..Inputs::default() };
    let compiled = compile(&inputs);
    (inputs, compiled)
}

fn subject(name: &str) -> Subject {
    declared_subject(name, "")
}

/// The same with more in the settings.
fn declared_subject(name: &str, declared: &str) -> Subject {
    let (inputs, compiled) = project(declared);
    let relations = Relations::default();
    let subjects = Prover::new(&inputs, &compiled, &relations).subjects();
    let names: Vec<&str> = subjects.iter().map(|subject| subject.name.as_str()).collect();
    assert_eq!(names, ["job_due", "job_end"], "{:?}", compiled.diagnostics);
    subjects.into_iter().find(|subject| subject.name == name).expect("it is there")
}

/// All values of a column or an argument in many cases.
fn held(subject: &Subject, read: impl Fn(&Case) -> Vec<Value>) -> Vec<Value> {
    (0..300).flat_map(|number| read(&subject.case(1, number, 4))).collect()
}

fn column(case: &Case, table: &str, name: &str) -> Vec<Value> {
    case.rows.get(table).into_iter().flatten().filter_map(|row| row.get(name)).cloned().collect()
}

#[test]
fn a_case_is_the_same_every_time() {
    let subject = subject("job_due");
    assert_eq!(subject.case(1, 5, 4), subject.case(1, 5, 4));
    assert_ne!(subject.case(1, 5, 4), subject.case(2, 5, 4));
}

#[test]
fn keys_and_references_hold() {
    let subject = subject("job_due");
    let names: Vec<&str> = subject.tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["lane", "job"], "a table comes after those that it refers to");
    for number in 0..120 {
        let case = subject.case(1, number, 4);
        let lanes = column(&case, "lane", "name");
        let ids = column(&case, "job", "id");
        let distinct: BTreeSet<String> = ids.iter().map(ToString::to_string).collect();
        assert_eq!(distinct.len(), ids.len());
        if !lanes.is_empty() {
            assert!(column(&case, "job", "lane").iter().all(|lane| lanes.contains(lane)), "case {number}");
        }
    }
}

#[test]
fn values_are_those_that_the_statement_asks_for_and_others() {
    let subject = subject("job_due");
    let states = held(&subject, |case| column(case, "job", "state"));
    for state in ["ready", "done", "Ä"] {
        assert!(states.contains(&Value::Text(state.into())), "{state}");
    }
    let due = held(&subject, |case| column(case, "job", "due_ms"));
    assert!(due.contains(&Value::Null) && due.contains(&Value::Int(5000)));
    assert!(due.iter().all(|due| matches!(due, Value::Null | Value::Int(0..=5000))));
    let tries = held(&subject, |case| column(case, "job", "tries"));
    assert!(tries.contains(&Value::Int(i16::MAX.into())) && !tries.contains(&Value::Int(40_000)));
    let most = held(&subject, |case| vec![case.args["most"].clone()]);
    assert!(most.iter().all(|most| matches!(most, Value::Int(0..=3))));
    let nodes = held(&subject, |case| column(case, "job", "node"));
    assert!(nodes.windows(2).all(|pair| pair[0] == pair[1]), "what one page alone has is the same everywhere");
}

#[test]
fn a_real_of_postgres_has_no_more_digits_than_it_holds() {
    let mut subject = subject("job_end");
    let columns = subject.tables.iter_mut().flat_map(|table| &mut table.columns);
    for column in columns.filter(|column| column.name == "tries") {
        (column.base, column.narrow) = (Base::Float64, true);
    }
    let tries = held(&subject, |case| column(case, "job", "tries"));
    let is_held = |value: &Value| matches!(value, Value::Real(n) if f64::from(*n as f32) == *n);
    assert!(tries.iter().all(is_held), "{tries:?}");
    assert!(tries.contains(&Value::Real(f64::from(0.1_f32))), "{tries:?}");
}

#[test]
fn documents_hold_the_fields_that_are_read_in_every_way() {
    let subject = subject("job_due");
    let documents = (0..2000).flat_map(|number| column(&subject.case(1, number, 4), "job", "doc"));
    let documents: Vec<Value> = documents.collect();
    let kinds: BTreeSet<String> = documents
        .iter()
        .map(|document| match document {
            Value::Json(json) => json.get("kind").map_or("missing".to_owned(), ToString::to_string),
            other => panic!("{other} is no document"),
        })
        .collect();
    for kind in ["missing", "null", "7", "\"7\"", "\"a\""] {
        assert!(kinds.contains(kind), "{kind} is not among {kinds:?}");
    }
}

#[test]
fn arguments_find_rows() {
    let subject = subject("job_due");
    let found = (0..120).filter(|number| {
        let case = subject.case(1, *number, 4);
        column(&case, "job", "lane").contains(&case.args["lane"])
    });
    assert!(found.count() > 40);
}

fn answer(rows: Vec<Vec<Value>>) -> Answer {
    Answer { result: Ok((rows, 0)), tables: Vec::new(), taken: BTreeSet::new(), manner: "" }
}

fn row(id: Value, tries: i64) -> Vec<Value> {
    vec![id, Value::Text("a".into()), Value::Int(tries)]
}

#[test]
fn rows_are_compared_as_the_types_and_the_order_say() {
    let (subject, none) = (subject("job_due"), Case::default());
    let (one, other) = ([1; 16], [2; 16]);
    let sqlite = answer(vec![row(Value::Bytes(one.to_vec()), 1), row(Value::Bytes(other.to_vec()), 2)]);
    let pg = answer(vec![row(Value::Uuid(one), 1), row(Value::Uuid(other), 2)]);
    assert_eq!(subject.compare(&none, &sqlite, &pg), None);
    let turned = answer(vec![row(Value::Uuid(other), 2), row(Value::Uuid(one), 1)]);
    assert_eq!(subject.compare(&none, &sqlite, &turned).map(|d| d.what), Some("the order of the rows differs".into()));
    let shorter = answer(vec![row(Value::Uuid(one), 1)]);
    assert_eq!(subject.compare(&none, &sqlite, &shorter).map(|d| d.what), Some("the rows differ".into()));
    let changed = answer(vec![row(Value::Uuid(one), 1), row(Value::Uuid(other), 3)]);
    let difference = subject.compare(&none, &sqlite, &changed).expect("a difference");
    assert_eq!(difference.columns, BTreeSet::from(["tries".to_owned()]));
}

#[test]
fn what_the_api_would_refuse_has_happened_all_the_same() {
    let (subject, none) = (subject("job_due"), Case::default());
    let wide = answer(vec![row(Value::Bytes(vec![1; 16]), 40_000)]);
    let pg = answer(vec![]);
    assert_eq!(subject.compare(&none, &wide, &pg).map(|d| d.what), Some("SQLite fails and Postgres does not".into()));
    let failed =
        Answer { result: Err(Fault::of("out of range")), tables: Vec::new(), taken: BTreeSet::new(), manner: "" };
    let what = subject.compare(&none, &wide, &failed).map(|d| d.what);
    assert_eq!(what.as_deref(), Some("Postgres fails and SQLite does not"));
    assert_eq!(subject.compare(&none, &wide, &wide), None, "neither can be read");
}

#[test]
fn tables_are_compared_without_clocks_and_columns_of_one_page() {
    let (subject, none) = (subject("job_end"), Case::default());
    let table = &subject.compared[0];
    assert!(!table.select(Dialect::Pg).contains("node"), "{}", table.select(Dialect::Pg));
    let names: Vec<&str> = table.shown().map(|column| column.name.as_str()).collect();
    let rows = |state: &str, made: i64| -> TableRows {
        let value = |name: &&str| match *name {
            "state" => Value::Text(state.into()),
            "made_ms" => Value::Int(made),
            _ => Value::Null,
        };
        vec![vec![names.iter().map(value).collect()]]
    };
    let answer = |tables: TableRows| Answer { result: Ok((Vec::new(), 1)), tables, taken: BTreeSet::new(), manner: "" };
    let sqlite = answer(rows("done", 1_796_000_000_000));
    assert_eq!(subject.compare(&none, &sqlite, &answer(rows("done", 1_796_000_000_009))), None);
    let difference = subject.compare(&none, &sqlite, &answer(rows("ready", 1_796_000_000_000))).expect("a difference");
    assert_eq!(difference.what, "afterwards the rows of job differ");
    let fewer = Answer {
        result: Ok((Vec::new(), 0)),
        tables: rows("done", 1_796_000_000_000),
        taken: BTreeSet::new(),
        manner: "",
    };
    let what = subject.compare(&none, &sqlite, &fewer).map(|d| d.what);
    assert_eq!(what.as_deref(), Some("the number of rows written differs"));
}

#[test]
fn two_refusals_are_the_same_if_kind_and_tables_are() {
    let (subject, none) = (subject("job_end"), Case::default());
    let failed = |kind, rows: Rows| {
        let result = Err(Fault { kind, words: format!("{} rows", rows.len()), beside: None });
        Answer { result, tables: vec![rows], taken: BTreeSet::new(), manner: "" }
    };
    let row: Vec<Value> = subject.compared[0].shown().map(|_| Value::Null).collect();
    let check = failed("a check", vec![row.clone()]);
    assert_eq!(subject.compare(&none, &check, &failed("a check", vec![row.clone()])), None);
    let what = |pg: &Answer| subject.compare(&none, &check, pg).map(|d| d.what);
    assert_eq!(what(&failed("", vec![row])).as_deref(), Some("they fail for different kinds of reasons"));
    assert_eq!(what(&failed("a check", vec![])).as_deref(), Some("afterwards the rows of job differ"));
}

#[test]
fn zeros_of_both_signs_are_two_values_and_last_digits_are_not() {
    let mut subject = subject("job_end");
    subject.columns = vec![("x".to_owned(), None)];
    let of = |x: f64| answer(vec![vec![Value::Real(x)]]);
    let is_same = |a: f64, b: f64| subject.compare(&Case::default(), &of(a), &of(b)).is_none();
    assert!(is_same(0.1 + 0.2, 0.3) && is_same(f64::NAN, f64::NAN) && !is_same(0.0, -0.0) && !is_same(f64::NAN, 0.0));
}

#[test]
fn a_number_is_the_document_that_it_is_and_what_differs_is_never_written_alike() {
    let mut subject = subject("job_end");
    subject.columns = vec![("x".to_owned(), Some(Base::Json))];
    let of = |x: Value| answer(vec![vec![x]]);
    let differs = |subject: &Subject, ours: Value, theirs: Value| {
        subject.compare(&Case::default(), &of(ours), &of(theirs)).map(|found| [found.sqlite, found.pg].concat())
    };
    let json = |json: serde_json::Value| Value::Json(json);
    assert_eq!(differs(&subject, Value::Int(1), json(1.into())), None);
    assert_eq!(differs(&subject, Value::Real(1.5), json(1.5.into())), None);
    assert!(differs(&subject, Value::Int(1), json(2.into())).is_some());
    subject.columns = vec![("x".to_owned(), None)];
    let told = differs(&subject, Value::Int(1), Value::Other("1".to_owned()));
    assert_eq!(told, Some(vec!["1 (a whole number)".to_owned(), "1 (of another type)".to_owned()]));
}

#[test]
fn rows_that_differ_in_what_they_are_sorted_by_have_one_order() {
    let mut subject = subject("job_due");
    subject.order = super::order::Order::By(Vec::new());
    subject.keys = Both::of(|_| None);
    subject.sorted = Some(("job".to_owned(), vec!["state".to_owned()]));
    let with = |states: [&str; 2]| {
        let row = |state: &str| Row::from([("state".to_owned(), Value::Text(state.into()))]);
        Case { rows: BTreeMap::from([("job".to_owned(), states.map(row).to_vec())]), args: BTreeMap::new() }
    };
    let rows = [row(Value::Uuid([1; 16]), 1), row(Value::Uuid([2; 16]), 2)];
    let (one, turned) = (answer(rows.to_vec()), answer(rows.iter().rev().cloned().collect()));
    assert_eq!(subject.compare(&with(["a", "A"]), &one, &turned), None, "they may be the same to a collation");
    let found = subject.compare(&with(["a", "b"]), &one, &turned).map(|d| d.what);
    assert_eq!(found.as_deref(), Some("the order of the rows differs"));
}

#[test]
fn a_text_that_one_engine_alone_takes_is_a_difference() {
    let refused = || Err(Fault::of("syntax error"));
    let found = Difference::taken(Ok(()), refused()).expect("a difference");
    assert_eq!(found.what, "Postgres does not take the text and SQLite does");
    assert_eq!(found.pg, ["syntax error"]);
    assert_eq!(Difference::taken(refused(), refused()), None);
    assert_eq!(Difference::taken(Ok(()), Ok(())), None);
}

#[test]
fn a_pair_with_findings_is_run_as_far_as_it_is_understood() {
    let (mut inputs, _) = project("");
    let sources =
        |name: &str, sql: &str| SourceFile::new(name, format!("-- Reads.\n-- name: odd_read :many\n{sql};\n"));
    inputs.sources.add(sources("sql/sqlite/odd.sql", "SELECT tries FROM job WHERE lane IS :lane AND :what IS NULL"));
    inputs.sources.add(sources("sql/pg/odd.sql", "SELECT tries FROM job WHERE lane IS IS :lane AND :what IS NULL"));
    let compiled = compile(&inputs);
    assert!(compiled.signatures.iter().all(|signature| signature.name != "odd_read"), "{:?}", compiled.signatures);
    let relations = Relations::default();
    let subjects = Prover::new(&inputs, &compiled, &relations).subjects();
    let odd = subjects.iter().find(|subject| subject.name == "odd_read").expect("it is there");
    assert!(odd.is_partial && odd.untyped.contains("what") && !odd.untyped.contains("lane"));
    let pg = &odd.variants[0].pg;
    assert!(pg.sql.ends_with("WHERE lane IS IS $1 AND $2 IS NULL"), "{}", pg.sql);
    assert!((0..20).any(|number| !column(&odd.case(1, number, 4), "job", "lane").is_empty()));
    assert!(subjects.iter().all(|subject| subject.is_partial == (subject.name == "odd_read")));
}

#[test]
fn what_a_page_gives_is_shown_by_the_names_of_that_page() {
    let (mut inputs, _) = project("");
    let sources =
        |name: &str, sql: &str| SourceFile::new(name, format!("-- Reads.\n-- name: odd_read :many\n{sql};\n"));
    inputs.sources.add(sources("sql/sqlite/odd.sql", "SELECT tries, lane FROM job"));
    inputs.sources.add(sources("sql/pg/odd.sql", "SELECT lane, tries, state FROM job"));
    let compiled = compile(&inputs);
    let relations = Relations::default();
    let subjects = Prover::new(&inputs, &compiled, &relations).subjects();
    let odd = subjects.iter().find(|subject| subject.name == "odd_read").expect("it is there");
    let (lane, state) = (Value::Text("a".into()), Value::Text("done".into()));
    let sqlite = answer(vec![vec![Value::Int(1), lane.clone()]]);
    let pg = answer(vec![vec![lane, Value::Int(1), state]]);
    let found = odd.compare(&Case::default(), &sqlite, &pg).expect("a difference");
    assert_eq!(found.sqlite, ["tries = 1, lane = 'a'"]);
    assert_eq!(found.pg, ["lane = 'a', tries = 1, state = 'done'"]);
}

#[test]
fn a_document_in_which_nobody_reads_holds_anything_but_what_is_declared() {
    let documents = |toml: &str| -> Vec<Value> {
        let (mut inputs, _) = project("");
        let text = "-- Writes.\n-- name: doc_keep :exec\n-- param: doc json\nUPDATE job SET doc = :doc;\n";
        for dialect in Dialect::ALL {
            let path = format!("sql/{dialect}/doc.sql");
            inputs.sources.add(SourceFile::new(path.clone(), text));
            let page = format!("sql/{dialect}/job.sql");
            let id = inputs.sources.iter().find(|(_, file)| file.path == page).map(|(id, _)| id).expect("a page");
            inputs.sources.replace(id, SourceFile::new(page, ""));
        }
        inputs.config = Config::parse(toml, "diglot.toml").expect("a sound configuration");
        let compiled = compile(&inputs);
        let relations = Relations::default();
        let subjects = Prover::new(&inputs, &compiled, &relations).subjects();
        let [subject] = subjects.as_slice() else { panic!("{:?}", compiled.diagnostics) };
        (0..2000).map(|number| subject.case(1, number, 1).args["doc"].clone()).collect()
    };
    let is = |documents: &[Value], what: fn(&serde_json::Value) -> bool| {
        documents.iter().any(|value| matches!(value, Value::Json(json) if what(json)))
    };
    let open = documents("");
    assert!(
        is(&open, |json| json.is_array()) && is(&open, |json| json.is_null()) && is(&open, |json| json["a"].is_null())
    );
    let object = documents("[prove.fields]\n\"doc_keep.doc.size\" = \"number\"\n");
    assert!(!is(&object, |json| !json.is_object()) && is(&object, |json| json["a"].is_array()));
    let declared = documents("[prove.fields]\n\"doc_keep.doc.*\" = \"text\"\n");
    assert!(!is(&declared, |json| !json.is_object()), "{declared:?}");
    assert!(
        is(&declared, |json| json["a"].is_string())
            && !is(&declared, |json| json.get("a").is_some_and(|a| !a.is_string()))
    );
}

#[test]
fn a_case_becomes_smaller_until_nothing_is_left_to_leave_out() {
    let subject = subject("job_due");
    let mut case = subject.case(1, 4, 4);
    // What has to stay for the difference: one job.
    let shows = |case: &Case| case.rows.get("job").is_some_and(|rows| !rows.is_empty());
    assert!(shows(&case));
    let mut steps = 0;
    while let Some(next) = subject.simpler(&case).into_iter().find(|next| shows(next)) {
        case = next;
        steps += 1;
        assert!(steps < 1000, "it never ends");
    }
    assert_eq!(case.rows.keys().collect::<Vec<_>>(), ["job"]);
    assert_eq!(case.rows["job"].len(), 1);
    assert_eq!(case.rows["job"][0]["due_ms"], Value::Null);
    assert_eq!(case.args["now_ms"], Value::Int(0));
}

#[test]
fn rows_go_into_each_database_in_its_own_words() {
    let subject = subject("job_end");
    let job = [
        ("id", Value::Uuid([0x11; 16])),
        ("lane", Value::Text("it's".into())),
        ("node", Value::Text("n".into())),
        ("due_ms", Value::Null),
    ];
    let row: Row = job.map(|(name, value)| (name.to_owned(), value)).into();
    let case = Case { rows: BTreeMap::from([("job".to_owned(), vec![row])]), args: BTreeMap::new() };
    let text = |dialect| subject.fillings(&case, dialect, |_| false).remove(0).sql;
    assert_eq!(
        text(Dialect::Sqlite),
        format!("INSERT INTO \"job\" (\"id\", \"lane\", \"due_ms\") VALUES (X'{}', 'it''s', NULL)", "11".repeat(16))
    );
    assert_eq!(
        text(Dialect::Pg),
        "INSERT INTO \"job\" (\"id\", \"lane\", \"due_ms\", \"node\") OVERRIDING SYSTEM VALUE \
         VALUES ('11111111-1111-1111-1111-111111111111', 'it''s', NULL, 'n')"
    );
}

#[test]
fn documents_are_as_declared_in_every_case_and_in_simpler_ones() {
    let is_list = |doc: &serde_json::Value| doc.is_array();
    let has_kind = |doc: &serde_json::Value| doc.get("kind").is_some_and(serde_json::Value::is_string);
    let lists = "[json]\n\"job.doc\" = \"text[]\"\n";
    let kinds = "[json]\n\"job.doc.kind\" = \"text always\"\n";
    for (toml, holds) in [(lists, &is_list as &dyn Fn(&serde_json::Value) -> bool), (kinds, &has_kind)] {
        let subject = declared_subject("job_due", toml);
        let cases = (0..100).map(|number| subject.case(1, number, 4));
        let all: Vec<Case> = cases.flat_map(|case| subject.simpler(&case).into_iter().chain([case])).collect();
        let documents: Vec<Value> = all.iter().flat_map(|case| column(case, "job", "doc")).collect();
        assert!(!documents.is_empty());
        for document in documents {
            assert!(matches!(&document, Value::Json(json) if holds(json)), "{toml}{document}");
        }
    }
}

#[test]
fn rows_with_the_same_columns_go_in_together_unless_each_goes_in_alone() {
    let subject = subject("job_end");
    let row = |lane: &str| Row::from([("lane".to_owned(), Value::Text(lane.into()))]);
    let rows = vec![row("a"), row("b"), Row::new(), Row::new(), row("c")];
    let case = Case { rows: BTreeMap::from([("job".to_owned(), rows)]), args: BTreeMap::new() };
    let parts = |is_apart: bool| -> Vec<(std::ops::Range<usize>, String)> {
        let fillings = subject.fillings(&case, Dialect::Sqlite, |_| is_apart);
        fillings.into_iter().map(|filling| (filling.rows, filling.sql)).collect()
    };
    let together = parts(false);
    assert_eq!(together.iter().map(|(rows, _)| rows.clone()).collect::<Vec<_>>(), [0..2, 2..3, 3..4, 4..5]);
    assert_eq!(together[0].1, "INSERT INTO \"job\" (\"lane\") VALUES ('a'), ('b')");
    assert_eq!(together[1].1, "INSERT INTO \"job\" DEFAULT VALUES");
    assert_eq!(parts(true).iter().map(|(rows, _)| rows.clone()).collect::<Vec<_>>(), [0..1, 1..2, 2..3, 3..4, 4..5]);
}

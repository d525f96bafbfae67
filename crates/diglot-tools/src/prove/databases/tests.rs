//! What the databases of a pair hold: each way in which two pages were seen to differ without a word.

mod reached;
mod values;

use std::collections::BTreeMap;

use crate::prove::{Case, Prover, Reach, Relations, Row, Subject};
use diglot::config::{Assumption, Config};
use diglot::dialect::Dialect;
use diglot::source::{SourceFile, Sources};
use diglot::value::{Value, microseconds};
use diglot::{Inputs, compile};

const BUDGET: usize = 3_000;
/// 2026-07-01.
const TODAY: i64 = 20_635;

/// A project of one pair, with the texts of both pages.
fn pair(schema: [&str; 2], statements: [&str; 2]) -> Subject {
    pair_with("", schema, statements)
}

/// The same with these settings.
fn pair_with(settings: &str, schema: [&str; 2], statements: [&str; 2]) -> Subject {
    let mut sources = Sources::default();
    for (at, dialect) in ["sqlite", "pg"].into_iter().enumerate() {
        sources.add(SourceFile::new(format!("schema/{dialect}/0001_all.sql"), schema[at]));
        let text = format!("-- Does it.\n-- name: item_do :many\n{};\n", statements[at]);
        sources.add(SourceFile::new(format!("sql/{dialect}/item.sql"), text));
    }
    let config = Config::parse(settings, "diglot.toml").expect("a sound configuration");
    let inputs = Inputs { config, sources, ..Inputs::default() };
    let compiled = compile(&inputs);
    let relations = Relations::default();
    let subjects = Prover::new(&inputs, &compiled, &relations).subjects();
    subjects.into_iter().next().unwrap_or_else(|| panic!("{:?}", compiled.diagnostics))
}

const ITEMS: [&str; 2] = [
    "CREATE TABLE item (id INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, n INTEGER NOT NULL, x REAL NOT NULL, doc TEXT NOT NULL, due_ms INTEGER);",
    "CREATE TABLE item (id bigint NOT NULL PRIMARY KEY, name text NOT NULL, n bigint NOT NULL, x double precision NOT NULL, doc jsonb NOT NULL, due_ms bigint);",
];

fn item(statement: &str) -> Subject {
    pair(ITEMS, [statement, statement])
}

fn rows<'c>(case: &'c Case, table: &str) -> &'c [Row] {
    case.rows.get(table).map_or(&[], Vec::as_slice)
}

/// Whether some case of a pair is so.
fn some(subject: &Subject, is_so: impl Fn(&Case) -> bool) -> bool {
    subject.databases_of(BUDGET, TODAY).iter().any(|case| is_so(&case))
}

/// Whether some row of some case has that value.
fn holds(subject: &Subject, column: &str, value: &Value) -> bool {
    some(subject, |case| case.rows.values().flatten().any(|row| row.get(column) == Some(value)))
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

#[test]
fn a_cursor_meets_the_row_that_it_stands_on_and_those_beside_it() {
    let subject = item("SELECT id FROM item WHERE (n, id) > (:n, :id) ORDER BY n, id LIMIT :most");
    let is_at = |case: &Case| {
        let most = case.args["most"] != Value::Int(0);
        most && rows(case, "item").iter().any(|row| row["n"] == case.args["n"] && row["id"] == case.args["id"])
    };
    assert!(some(&subject, is_at));
    let is_cut = |case: &Case| {
        let behind = |row: &&Row| row["n"].compare(&case.args["n"]).is_gt();
        rows(case, "item").iter().filter(behind).count() == 2 && case.args["most"] == Value::Int(1)
    };
    assert!(some(&subject, is_cut), "LIMIT leaves something out");
}

#[test]
fn rows_that_are_alike_in_the_first_key_differ_in_the_second() {
    let subject = item("SELECT name FROM item WHERE n > 5 ORDER BY x DESC, name DESC");
    let is_told = |case: &Case| {
        let [one, other, ..] = rows(case, "item") else { return false };
        let both = [one, other].iter().all(|row| row["n"].compare(&Value::Int(5)).is_gt());
        both && one["x"] == other["x"] && one["name"] != other["name"]
    };
    assert!(some(&subject, is_told));
}

#[test]
fn there_are_as_many_rows_as_having_and_limit_count() {
    let of_group = |case: &Case, count: usize| {
        let mut groups: BTreeMap<String, usize> = BTreeMap::new();
        rows(case, "item").iter().for_each(|row| *groups.entry(row["name"].to_string()).or_default() += 1);
        groups.values().any(|of| *of == count)
    };
    let having = item("SELECT name FROM item GROUP BY name HAVING count(*) > 3 ORDER BY name");
    for count in [3, 4] {
        assert!(some(&having, |case| of_group(case, count)), "{count} rows of a group");
    }
    let limit = item("SELECT id FROM item ORDER BY id LIMIT 20");
    assert!(some(&limit, |case| rows(case, "item").len() > 20));
}

#[test]
fn patterns_are_matched_in_each_reading_and_just_missed() {
    let subject = item(r"SELECT id FROM item WHERE name LIKE '%\_test%'");
    for name in ["_test", r"\xtest", "_TEST"] {
        assert!(holds(&subject, "name", &text(name)), "{name}");
    }
    let case = item("SELECT id FROM item WHERE lower(name) = 'abc'");
    for name in ["abc", "ABC"] {
        assert!(holds(&case, "name", &text(name)), "{name}");
    }
    let equal = item("SELECT id FROM item WHERE name = :name");
    let is_twin = |case: &Case| {
        let (Value::Text(given), [row, ..]) = (&case.args["name"], rows(case, "item")) else { return false };
        matches!(&row["name"], Value::Text(name) if name != given && name.eq_ignore_ascii_case(given))
    };
    assert!(some(&equal, is_twin), "a collation without case");
}

#[test]
fn a_flag_in_a_document_is_one_and_the_text_of_one() {
    let subject = pair(
        ITEMS,
        [
            "SELECT id FROM item WHERE CAST(json_extract(doc, '$.done') AS TEXT) = 'true'",
            "SELECT id FROM item WHERE doc ->> 'done' = 'true'",
        ],
    );
    for doc in [serde_json::json!({"done": true}), serde_json::json!({"done": "true"}), serde_json::json!({})] {
        assert!(holds(&subject, "doc", &Value::Json(doc.clone())), "{doc}");
    }
}

#[test]
fn halves_are_rounded_and_fractions_have_remainders() {
    let rounded = item("SELECT id, round(x) AS whole FROM item");
    for x in [0.5, 1.5, 2.5] {
        assert!(holds(&rounded, "x", &Value::Real(x)), "{x}");
    }
    let divided = item("SELECT id FROM item WHERE CAST(x AS INTEGER) % 2 = 1");
    assert!(holds(&divided, "x", &Value::Real(7.5)));
}

#[test]
fn a_generated_column_is_left_to_the_engine_and_decides_all_the_same() {
    let schema = |kind: &str| {
        format!(
            "CREATE TABLE item (id {kind} NOT NULL PRIMARY KEY, n {kind} NOT NULL, twice {kind} GENERATED ALWAYS AS (n * 2) STORED);"
        )
    };
    let statement = "SELECT id FROM item WHERE twice > 50";
    let subject = pair([&schema("INTEGER"), &schema("bigint")], [statement, statement]);
    let databases = subject.databases_of(BUDGET, TODAY);
    assert!(databases.iter().any(|case| !rows(&case, "item").is_empty()));
    assert!(databases.iter().all(|case| rows(&case, "item").iter().all(|row| !row.contains_key("twice"))));
    for n in [25, 26] {
        assert!(holds(&subject, "n", &Value::Int(n)), "{n}");
    }
    assert!((0..60).all(|at| rows(&subject.case(1, at, 4), "item").iter().all(|row| !row.contains_key("twice"))));
    let texts =
        databases.iter().flat_map(|case| subject.fillings(&case, Dialect::Pg, |_| true)).map(|filling| filling.sql);
    assert!(texts.into_iter().all(|sql| !sql.contains("twice")));
}

#[test]
fn rows_that_refer_to_those_that_go_are_there_and_looked_at() {
    let schema = |kind: &str| {
        format!(
            "CREATE TABLE item (id {kind} NOT NULL PRIMARY KEY, n {kind} NOT NULL);\n\
             CREATE TABLE part (id {kind} NOT NULL PRIMARY KEY, item_id {kind} NOT NULL REFERENCES item (id) ON DELETE CASCADE);\n\
             CREATE TABLE piece (id {kind} NOT NULL PRIMARY KEY, part_id {kind} REFERENCES part (id) ON DELETE SET NULL);"
        )
    };
    let of = |statements: [&str; 2]| pair([&schema("INTEGER"), &schema("bigint")], statements);
    let is_lost = |case: &Case| {
        let part = rows(case, "part").iter().find(|row| row["item_id"] == case.args["id"]);
        part.is_some_and(|part| rows(case, "piece").iter().any(|row| row["part_id"] == part["id"]))
    };
    let statement = "DELETE FROM item WHERE id = :id RETURNING n";
    let subject = of([statement, statement]);
    let replacing = of([
        "INSERT OR REPLACE INTO item (id, n) VALUES (:id, :n)",
        "INSERT INTO item (id, n) VALUES (:id, :n) ON CONFLICT (id) DO UPDATE SET n = EXCLUDED.n",
    ]);
    for subject in [&subject, &replacing] {
        let compared: Vec<&str> = subject.compared.iter().map(|table| table.name.as_str()).collect();
        assert_eq!(compared, ["item", "part", "piece"]);
        assert!(some(subject, is_lost));
    }
    let is_kept = |case: &Case| rows(case, "part").iter().any(|row| row["item_id"] != case.args["id"]);
    assert!(some(&subject, is_kept));
}

#[test]
fn times_lie_around_now_and_at_the_ends_of_months() {
    let schema = [
        "CREATE TABLE item (id INTEGER NOT NULL PRIMARY KEY, ends TEXT NOT NULL);",
        "CREATE TABLE item (id bigint NOT NULL PRIMARY KEY, ends timestamptz NOT NULL);",
    ];
    let subject =
        pair(schema, ["SELECT id FROM item WHERE ends > datetime('now')", "SELECT id FROM item WHERE ends > now()"]);
    let of_today = |case: &Case, is_early: bool| {
        rows(case, "item").iter().any(|row| {
            let Value::Text(ends) = &row["ends"] else { return false };
            let of_day = microseconds(ends).map(|micros| micros / 1_000_000 - TODAY * 86_400);
            of_day == Some(if is_early { 1 } else { 86_399 })
        })
    };
    assert!(some(&subject, |case| of_today(case, true)) && some(&subject, |case| of_today(case, false)));
    let case = subject.databases_of(BUDGET, TODAY).iter().find(|case| !rows(case, "item").is_empty()).expect("a row");
    let sql = subject.fillings(&case, Dialect::Sqlite, |_| true).remove(0).sql;
    assert!(
        sql.contains(" 1") && sql.contains("-"),
        "a time without a known form is a text in a column of texts: {sql}"
    );
    let months = pair(
        schema,
        [
            "SELECT id, strftime('%Y-%m', ends) AS month FROM item",
            "SELECT id, to_char(ends, 'YYYY-MM') AS month FROM item",
        ],
    );
    for end in ["2024-01-31 23:59:59", "2024-02-01 00:00:00", "2024-02-29 00:00:00"] {
        assert!(holds(&months, "ends", &text(end)), "{end}");
    }
}

#[test]
fn a_parameter_that_is_declared_has_that_type_whatever_else_is_found() {
    let schema = [
        "CREATE TABLE item (id INTEGER NOT NULL PRIMARY KEY, born DATE NOT NULL);",
        "CREATE TABLE item (id bigint NOT NULL PRIMARY KEY, born date NOT NULL);",
    ];
    let declared = "-- param: first date\nSELECT id FROM item WHERE date(:first) IS NOT NULL AND born = :other";
    let subject = pair(schema, [declared, "SELECT id FROM item WHERE :first::date IS NOT NULL AND born IS = :other"]);
    assert!(!subject.untyped.contains("first"), "{:?}", subject.params);
    assert!(some(&subject, |case| matches!(&case.args["first"], Value::Text(day) if microseconds(day).is_some())));
    assert!(!some(&subject, |case| case.args["first"] == Value::Null));
}

#[test]
fn all_small_databases_are_there_where_they_are_few_and_it_is_said() {
    let subject = item("SELECT name FROM item WHERE id = :id");
    let databases = subject.databases_of(BUDGET, TODAY);
    let scope = databases.scope();
    assert_eq!((scope.reach, scope.cases), (Reach::Whole, databases.len()));
    assert!(scope.rows >= 2 && databases.len() < 200, "{scope:?}");
    assert_eq!(scope.reach, Reach::Whole);
    let wide = item(
        "SELECT id FROM item WHERE name LIKE :name AND n BETWEEN :least AND :most AND x > :x AND due_ms < :now_ms ORDER BY n, name",
    );
    let databases = wide.databases_of(BUDGET, TODAY);
    assert!(
        databases.scope().reach != Reach::Whole && databases.len() <= BUDGET + BUDGET / 2,
        "{:?}",
        databases.scope()
    );
    assert!(databases.ordinary() > databases.len() / 2 && databases.ordinary() < databases.len());
    assert_eq!(databases.case(0).map(|case| case.rows.len()), Some(0), "the smallest first");
    let again: Vec<Case> = wide.databases_of(BUDGET, TODAY).iter().collect();
    assert!(databases.iter().eq(again), "the same every time");
}

#[test]
fn cases_with_the_same_rows_follow_each_other() {
    let subject = item("SELECT id FROM item WHERE n BETWEEN :least AND :most ORDER BY n, id");
    let databases = subject.databases_of(BUDGET, TODAY);
    let ordinary: Vec<Case> = databases.iter().take(databases.ordinary()).collect();
    let mut seen: Vec<&BTreeMap<String, Vec<Row>>> = Vec::new();
    for case in &ordinary {
        if seen.last() != Some(&&case.rows) {
            assert!(!seen.contains(&&case.rows), "{}", case.to_toml("item_do"));
            seen.push(&case.rows);
        }
    }
    assert!(seen.len() < ordinary.len());
}

#[test]
fn rows_turned_round_keep_those_first_that_others_refer_to() {
    let schema =
        |kind: &str| format!("CREATE TABLE item (id {kind} NOT NULL PRIMARY KEY, above {kind} REFERENCES item (id));");
    let statement = "SELECT id FROM item WHERE above = :above ORDER BY id";
    let subject = pair([&schema("INTEGER"), &schema("bigint")], [statement, statement]);
    let mut turned = 0;
    for case in subject.databases_of(BUDGET, TODAY).iter() {
        let other = subject.reversed(&case);
        turned += usize::from(other != case);
        for rows in [rows(&case, "item"), rows(&other, "item")] {
            for (at, row) in rows.iter().enumerate() {
                let is_there = rows[..=at].iter().any(|other| other["id"] == row["above"]);
                assert!(row["above"] == Value::Null || is_there, "{rows:?}");
            }
        }
    }
    assert!(turned > 0);
}

const EDGES: &str = "SELECT id FROM item WHERE n + :more > 10 AND x > 1.5 AND doc IS NOT NULL";

#[test]
fn what_is_assumed_away_is_in_no_database() {
    let subject = |settings: &str| pair_with(settings, ITEMS, [EDGES, EDGES]);
    let free = subject("");
    assert!(holds(&free, "n", &Value::Int(i64::MAX)) && free.databases_of(BUDGET, TODAY).scope().assumed.is_empty());
    let fitting = subject("[assume]\nnumbers_fit = true");
    assert!(!holds(&fitting, "n", &Value::Int(i64::MAX)) && !holds(&fitting, "x", &Value::Real(1e300)));
    assert_eq!(fitting.databases_of(BUDGET, TODAY).scope().assumed, [Assumption::NumbersFit].into());
    let of_one = subject("[assume]\nnumbers_fit = [\"item.n\"]");
    assert!(!holds(&of_one, "n", &Value::Int(i64::MAX)) && holds(&of_one, "x", &Value::Real(1e300)));
    // A case that was made otherwise is known by what it holds.
    let away =
        |subject: &Subject| free.databases_of(BUDGET, TODAY).iter().filter(|it| subject.is_assumed_away(it)).count();
    let [none, some, all] = [&free, &of_one, &fitting].map(away);
    assert!(none == 0 && 0 < some && some < all, "{none} {some} {all}");
}

#[test]
fn ordinary_databases_hold_nothing_that_an_assumption_excludes() {
    let subject = item(EDGES);
    let databases = subject.databases_of(BUDGET, TODAY);
    assert!(databases.ordinary() < databases.len());
    let mut found = std::collections::BTreeSet::new();
    for (at, case) in databases.iter().enumerate() {
        let edges = subject.edges(&case);
        assert!(at >= databases.ordinary() || edges.is_empty(), "{edges:?} in {case:?}");
        found.extend(edges);
    }
    let wanted = [("numbers_fit", "item.n"), ("numbers_fit", "item.x"), ("floats_are_finite", "item.x")];
    for (key, place) in wanted {
        assert!(found.iter().any(|(what, places)| what.key() == key && places.contains(place)), "{key}: {found:?}");
    }
}

#[test]
fn documents_that_are_put_onto_each_other_have_members_in_common_and_null() {
    let subject = pair_with(
        "generate = false",
        ITEMS,
        ["-- param: patch json\nUPDATE item SET doc = json_patch(doc, :patch)", "UPDATE item SET doc = doc || :patch"],
    );
    let meet = |doc: serde_json::Value, patch: serde_json::Value| {
        let (doc, patch) = (Value::Json(doc), Value::Json(patch));
        some(&subject, |case| case.args["patch"] == patch && rows(case, "item").iter().any(|row| row["doc"] == doc))
    };
    assert!(meet(serde_json::json!({"a": 1}), serde_json::json!({"a": null})));
    assert!(meet(serde_json::json!({"a": {"x": 1}}), serde_json::json!({"a": {"y": 2}})));
    assert!(meet(serde_json::json!({"a": {"x": 1}}), serde_json::json!({"a": [1]})));
}

#[test]
fn a_program_of_its_own_binds_null_to_what_may_be_null() {
    let statement = "UPDATE item SET due_ms = COALESCE(:due, due_ms), name = :name WHERE id = :id";
    let subject = pair_with("generate = false", ITEMS, [statement, statement]);
    assert!(some(&subject, |case| case.args["due"] == Value::Null && !rows(case, "item").is_empty()));
    assert!(!some(&subject, |case| case.args["name"] == Value::Null));
    assert!(!some(&item(statement), |case| case.args["name"] == Value::Null));
}

#[test]
fn days_of_the_week_and_of_other_years_are_there_where_parts_of_times_are_asked_for() {
    let schema = [
        "CREATE TABLE item (id INTEGER NOT NULL PRIMARY KEY, born DATE NOT NULL);",
        "CREATE TABLE item (id bigint NOT NULL PRIMARY KEY, born date NOT NULL);",
    ];
    let subject = |ours: &str, theirs: &str| {
        let select = |part: &str| format!("SELECT id, {part} AS part FROM item");
        pair_with("generate = false", schema, [&select(ours), &select(theirs)])
    };
    let weekday = subject("strftime('%w', born)", "extract(dow FROM born)");
    assert!(holds(&weekday, "born", &text("2024-02-04")), "a Sunday");
    let day = subject("strftime('%m-%d', born)", "to_char(born, 'MM-DD')");
    assert!(holds(&day, "born", &text("2023-01-31")) && holds(&day, "born", &text("2024-01-31")));
    let week = subject("strftime('%V', born)", "extract(week FROM born)");
    assert!(holds(&week, "born", &text("2021-01-03")) && holds(&week, "born", &text("2020-12-28")));
}

#[test]
fn one_place_has_all_of_its_values_in_as_many_rows() {
    let subject = item("SELECT id, rank() OVER (ORDER BY n DESC) AS place FROM item ORDER BY place, id");
    let is_ranked = |case: &Case| {
        let mut numbers: Vec<i64> = rows(case, "item").iter().filter_map(|row| number(&row["n"])).collect();
        numbers.sort_unstable();
        let count = numbers.len();
        // Two that are alike above another one, so that a gap shows.
        count > 2 && numbers.windows(3).any(|three| three[0] < three[1] && three[1] == three[2])
    };
    assert!(some(&subject, is_ranked));
    let sorted = item("SELECT id FROM item ORDER BY CASE name WHEN 'low' THEN 2 WHEN 'mid' THEN 1 ELSE 0 END, id");
    let has_all = |case: &Case| {
        let names: Vec<&Value> = rows(case, "item").iter().map(|row| &row["name"]).collect();
        ["low", "mid", "b"].iter().all(|name| names.contains(&&text(name)))
    };
    assert!(some(&sorted, has_all));
}

fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Int(n) => Some(*n),
        _ => None,
    }
}

#[test]
fn how_many_days_there_are_is_no_time() {
    let subject = pair(
        [
            "CREATE TABLE item (id INTEGER NOT NULL PRIMARY KEY, due INTEGER NOT NULL);",
            "CREATE TABLE item (id bigint NOT NULL PRIMARY KEY, due bigint NOT NULL);",
        ],
        [
            "SELECT id FROM item WHERE due < unixepoch('now') - :days * 86400",
            "SELECT id FROM item WHERE due < extract(epoch FROM now() - make_interval(days => :days::int))::bigint",
        ],
    );
    let ordinary = subject.databases_of(BUDGET, TODAY);
    let days = ordinary.iter().take(ordinary.ordinary()).filter_map(|case| number(&case.args["days"]));
    assert_eq!(days.filter(|days| days.abs() > 1_000_000).count(), 0);
}

#[test]
fn a_call_is_tried_that_the_checks_of_what_it_writes_let_through() {
    let ddl = "CREATE TABLE item (id INTEGER NOT NULL PRIMARY KEY, name TEXT, state TEXT NOT NULL CHECK (state IN ('on', 'off')));";
    let mut subject = pair_with(
        "generate = false",
        [ddl, &ddl.to_lowercase().replace("integer", "bigint")],
        ["UPDATE item SET name = COALESCE(:name, name), state = :state WHERE id = :id"; 2],
    );
    // The condition itself has both words; the value that it is asked of has one of them once more.
    let is_taken = |query: &str| ["'on'", "'off'"].iter().any(|word| query.matches(word).count() > 1);
    subject.checks = subject.checks.judged(move |query| Some(Value::Int(is_taken(query).into())));
    let is_kept = |case: &Case| {
        let [row, ..] = rows(case, "item") else { return false };
        let is_taken = [text("on"), text("off")].contains(&case.args["state"]);
        is_taken && case.args["name"] == Value::Null && row["name"] != Value::Null && row["id"] == case.args["id"]
    };
    assert!(some(&subject, is_kept));
}

#[test]
fn members_that_are_taken_out_and_items_behind_the_first_are_there() {
    let removed = pair(
        ITEMS,
        [
            "UPDATE item SET doc = json_remove(doc, '$.note') WHERE id = :id",
            "UPDATE item SET doc = doc - 'notes' WHERE id = :id",
        ],
    );
    for name in ["note", "notes"] {
        let has = |case: &Case| {
            rows(case, "item").iter().any(|row| matches!(&row["doc"], Value::Json(doc) if doc.get(name).is_some()))
        };
        assert!(some(&removed, has), "{name}");
    }
    let listed = pair_with(
        "[json]\n\"item.doc.tags\" = \"text[]\"\n",
        ITEMS,
        [
            "SELECT id FROM item WHERE EXISTS (SELECT 1 FROM json_each(item.doc, '$.tags') AS t WHERE t.value = :tag)",
            "SELECT id FROM item WHERE doc -> 'tags' @> jsonb_build_array(:tag::text)",
        ],
    );
    let is_second = |case: &Case| {
        let Value::Text(tag) = &case.args["tag"] else { return false };
        let second =
            |row: &Row| matches!(&row["doc"], Value::Json(doc) if doc["tags"][1] == **tag && doc["tags"][0] != **tag);
        rows(case, "item").iter().any(second)
    };
    assert!(some(&listed, is_second));
}

#[test]
fn a_parameter_holds_what_is_computed_of_a_column() {
    let mut subject = item("SELECT id FROM item WHERE n * 7 + 1 = :code");
    subject.checks = subject.checks.judged(|_| Some(Value::Int(71)));
    assert!(some(&subject, |case| case.args["code"] == Value::Int(71)));
}

#[test]
fn a_member_that_no_document_lacks_is_there_though_no_page_looks() {
    let statement = "SELECT id FROM item WHERE n > 3";
    let subject = pair_with("[json]\n\"item.doc.tags\" = \"text[] always\"", ITEMS, [statement, statement]);
    let has = |row: &Row| matches!(&row["doc"], Value::Json(doc) if doc["tags"].is_array());
    assert!(some(&subject, |case| rows(case, "item").iter().any(has)));
    assert!(!some(&subject, |case| !rows(case, "item").iter().all(has)));
}

#[test]
fn a_column_holds_what_is_computed_of_a_parameter_and_what_lies_beside_it() {
    let mut subject = item("SELECT id FROM item WHERE n > :code * 7 + :code");
    subject.checks =
        subject.checks.judged(|query| Some(Value::Int(if query.contains("10 * 7 + 10") { 80 } else { 5 })));
    for n in [79, 80, 81] {
        let is_met = |case: &Case| {
            case.args["code"] == Value::Int(10) && rows(case, "item").iter().any(|row| row["n"] == Value::Int(n))
        };
        assert!(some(&subject, is_met), "{n}");
    }
}

#[test]
fn what_lies_between_two_bounds_is_there_and_what_is_longer_as_a_text() {
    let subject = item("SELECT id FROM item WHERE x < 1 AND n > 3");
    assert!(holds(&subject, "x", &Value::Real(0.5)) && holds(&subject, "n", &Value::Int(10)));
}

#[test]
fn what_is_computed_of_a_parameter_is_bound_to_a_value() {
    let bound = |statement: &str| {
        let subject = pair_with("generate = false", ITEMS, [statement, statement]);
        some(&subject, |case| case.args["due"] == Value::Null)
    };
    assert!(bound("UPDATE item SET due_ms = :due WHERE id = :id"));
    assert!(!bound("UPDATE item SET due_ms = :due + 60 WHERE id = :id"));
}

#[test]
fn what_is_unique_among_some_rows_alone_can_be_met_by_a_new_one() {
    let rest = "CREATE UNIQUE INDEX item_email ON item (email) WHERE";
    let subject = pair(
        [
            &format!(
                "CREATE TABLE item (id INTEGER NOT NULL PRIMARY KEY, email TEXT NOT NULL, gone INTEGER NOT NULL DEFAULT 0 \
                 CHECK (gone IN (0, 1))); {rest} gone = 0;"
            ),
            &format!(
                "CREATE TABLE item (id bigint NOT NULL PRIMARY KEY, email text NOT NULL, gone boolean NOT NULL DEFAULT \
                 false); {rest} NOT gone;"
            ),
        ],
        [
            "INSERT INTO item (id, email) VALUES (:id, :email) ON CONFLICT DO NOTHING RETURNING id",
            "INSERT INTO item (id, email) VALUES (:id, :email) ON CONFLICT (id) DO NOTHING RETURNING id",
        ],
    );
    for gone in [false, true] {
        let is_met = |case: &Case| {
            let meets = |row: &Row| row["email"] == case.args["email"] && row["id"] != case.args["id"];
            rows(case, "item").iter().any(|row| meets(row) && row["gone"] == Value::Bool(gone))
        };
        assert!(some(&subject, is_met), "{gone}");
    }
}

#[test]
fn a_group_has_as_many_values_as_having_counts() {
    let table = |id: &str, word: &str| {
        format!(
            "CREATE TABLE issue (paper {id} NOT NULL, number {id} NOT NULL, PRIMARY KEY (paper, number)); \
             CREATE TABLE item (id {id} NOT NULL PRIMARY KEY, paper {id} NOT NULL, number {id} NOT NULL, section {word} NOT NULL \
             CHECK (section IN ('news', 'sport', 'culture', 'letters')), deleted_ms {id}, \
             FOREIGN KEY (paper, number) REFERENCES issue (paper, number));"
        )
    };
    let words = ["news", "sport", "culture", "letters"];
    let all = words.map(|word| format!("bool_or(section = '{word}')")).join(" AND ");
    let of = |having: &str| {
        format!("SELECT paper, number FROM item WHERE deleted_ms IS NULL GROUP BY paper, number HAVING {having}")
    };
    let subject =
        pair([&table("INTEGER", "TEXT"), &table("bigint", "text")], [&of("count(DISTINCT section) = 4"), &of(&all)]);
    let is_full = |case: &Case| {
        let of_group = |first: &Row| {
            let rows =
                rows(case, "item").iter().filter(|row| ["paper", "number"].iter().all(|key| row[*key] == first[*key]));
            rows.filter(|row| row["deleted_ms"] == Value::Null).map(|row| &row["section"]).cloned().collect::<Vec<_>>()
        };
        rows(case, "item").iter().any(|first| words.iter().all(|word| of_group(first).contains(&text(word))))
    };
    assert!(some(&subject, is_full));
}

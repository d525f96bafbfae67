//! Rows that conditions behind other words ask for.

use super::*;

#[test]
fn there_are_as_many_rows_as_ranks_and_counted_queries_are_held_against() {
    let of_name = |case: &Case, wanted: usize| {
        let all = rows(case, "item");
        all.iter().any(|row| all.iter().filter(|other| other["name"] == row["name"]).count() == wanted)
    };
    let numbered = "SELECT id, row_number() OVER (PARTITION BY name ORDER BY n, id) AS place FROM item";
    let ranked = item(&format!("SELECT id FROM ({numbered}) AS t WHERE t.place <= 4 ORDER BY id"));
    assert!(some(&ranked, |case| of_name(case, 5)));
    let counted = item(
        "SELECT i.id FROM item AS i WHERE (SELECT count(*) FROM item AS o WHERE o.name = i.name) >= 6 ORDER BY i.id",
    );
    assert!(some(&counted, |case| of_name(case, 6)) && some(&counted, |case| of_name(case, 5)));
    let cut = item("SELECT t.id FROM (SELECT id FROM item WHERE n > 1) AS t ORDER BY t.id LIMIT 8");
    assert!(some(&cut, |case| rows(case, "item").len() > 8));
}

#[test]
fn what_a_guard_stands_before_holds_with_the_guard() {
    let guarded = "SELECT id FROM item WHERE CASE WHEN json_valid(doc) THEN json_extract(doc, '$.mode') = 'fast' \
                   AND json_type(doc, '$.at') IN ('integer', 'real') END AND n > 30 AND x < 2 ORDER BY id";
    let plain = "SELECT id FROM item WHERE doc ->> 'mode' = 'fast' AND jsonb_typeof(doc -> 'at') = 'number' \
                 AND n > 30 AND x < 2 ORDER BY id";
    let subject = pair(ITEMS, [guarded, plain]);
    let is_found = |row: &Row| {
        let Value::Json(doc) = &row["doc"] else { return false };
        doc["mode"] == "fast" && doc["at"].is_number() && row["n"].compare(&Value::Int(30)).is_gt()
    };
    assert!(some(&subject, |case| rows(case, "item").iter().any(is_found)));
}

#[test]
fn a_document_of_which_each_member_is_read_has_members_of_any_name() {
    let ours = "SELECT m.key AS word, sum(m.value) AS total FROM item, json_each(item.doc) AS m WHERE m.key <> :but \
                GROUP BY m.key ORDER BY m.key";
    let theirs = "SELECT m.key AS word, sum(m.value::bigint) AS total FROM item, jsonb_each_text(item.doc) AS m \
                  WHERE m.key <> :but GROUP BY m.key ORDER BY m.key";
    let subject = pair_with("generate = false\n[json]\n\"item.doc.*\" = \"i64\"", ITEMS, [ours, theirs]);
    let members = |row: &Row| match &row["doc"] {
        Value::Json(serde_json::Value::Object(members)) => members.clone(),
        other => panic!("{other:?} is no object"),
    };
    let is_left_out = |case: &Case| {
        let named = |row: &Row| members(row).keys().any(|name| text(name) == case.args["but"]);
        rows(case, "item").iter().any(named)
    };
    assert!(some(&subject, is_left_out));
    for count in 0..=2 {
        assert!(some(&subject, |case| rows(case, "item").iter().any(|row| members(row).len() == count)), "{count}");
    }
}

#[test]
fn what_stands_in_for_null_is_given() {
    let sql = "SELECT id FROM item WHERE COALESCE(due_ms, :later) > n ORDER BY id";
    let first = "SELECT id FROM item WHERE COALESCE(:later, due_ms) > n ORDER BY id";
    let is_null = |sql: &str| {
        let subject = pair_with("generate = false", ITEMS, [sql, sql]);
        some(&subject, |case| case.args["later"] == Value::Null)
    };
    assert!(!is_null(sql) && is_null(first));
}

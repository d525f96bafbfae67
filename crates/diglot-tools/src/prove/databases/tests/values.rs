//! Values that pages tell apart which most programs do not think of.

use super::*;

#[test]
fn a_list_has_no_item_one_two_and_the_same_twice() {
    let subject = pair_with(
        "generate = false\n[json]\n\"item.doc\" = \"text[]\"",
        ITEMS,
        [
            "SELECT id FROM item WHERE EXISTS (SELECT 1 FROM json_each(doc) WHERE value = 'red')",
            "SELECT id FROM item WHERE doc ? 'red'",
        ],
    );
    for list in [serde_json::json!([]), serde_json::json!(["red"]), serde_json::json!(["red", "red"])] {
        assert!(holds(&subject, "doc", &Value::Json(list.clone())), "{list}");
    }
    let is_mixed = |case: &Case| {
        let docs = rows(case, "item").iter().filter_map(|row| row["doc"].clone().into_base(&diglot::types::Base::Json));
        let mut lists = docs
            .filter_map(|doc| if let Value::Json(serde_json::Value::Array(list)) = doc { Some(list) } else { None });
        lists.any(|list| list.len() == 2 && list[0] != list[1])
    };
    assert!(some(&subject, is_mixed));
    let append =
        ["UPDATE item SET doc = json_insert(doc, '$[#]', :t)", "UPDATE item SET doc = doc || to_jsonb(:t::text)"];
    let grown = pair_with("generate = false\n[json]\n\"item.doc\" = \"text[]\"", ITEMS, append);
    assert!(!some(&grown, |case| !rows(case, "item").iter().all(|row| row["doc"].to_string().starts_with('['))));
}

#[test]
fn some_id_and_some_bytes_have_letters_among_their_digits() {
    let schema = [
        "CREATE TABLE item (id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16), data BLOB NOT NULL) STRICT;",
        "CREATE TABLE item (id uuid NOT NULL PRIMARY KEY, data bytea NOT NULL);",
    ];
    let has_letters = |value: &Value| {
        let digits = value.to_string();
        digits.trim_start_matches("0x").contains(|letter: char| ('a'..='f').contains(&letter))
    };
    let subject =
        pair(schema, ["SELECT hex(data) AS digits FROM item", "SELECT encode(data, 'hex') AS digits FROM item"]);
    for column in ["id", "data"] {
        assert!(some(&subject, |case| rows(case, "item").iter().any(|row| has_letters(&row[column]))), "{column}");
    }
}

//! Findings about pairs, types and columns, as the user reads them.

use super::{Inputs, compile, inputs, pair, rendered, rules};

fn findings(inputs: &Inputs) -> String {
    rendered(inputs, &compile(inputs))
}

const LIST: &str = "-- name: job_list :many\nSELECT id FROM job ORDER BY id;\n";
const DROP: &str = "-- name: job_drop :exec\nDELETE FROM job WHERE id = :id;\n";

#[test]
fn a_noun_without_its_other_page() {
    insta::assert_snapshot!(findings(&inputs(&[("sqlite/job", LIST), ("sqlite/lane", DROP), ("pg/job", LIST)])));
}

#[test]
fn a_dialect_without_any_page() {
    insta::assert_snapshot!(findings(&inputs(&[("sqlite/job", LIST), ("sqlite/lane", DROP)])));
}

#[test]
fn a_statement_without_its_other_page() {
    insta::assert_snapshot!(findings(&pair(&format!("{LIST}{DROP}"), LIST)));
}

#[test]
fn a_statement_renamed_on_one_page() {
    let renamed = DROP.replace("job_drop", "job_dropp");
    insta::assert_snapshot!(findings(&pair(&format!("{LIST}{DROP}"), &format!("{LIST}{renamed}"))));
}

#[test]
fn statements_in_another_order() {
    insta::assert_snapshot!(findings(&pair(&format!("{LIST}{DROP}"), &format!("{DROP}{LIST}"))));
}

#[test]
fn a_name_in_two_files() {
    insta::assert_snapshot!(findings(&inputs(&[
        ("sqlite/job", LIST),
        ("pg/job", LIST),
        ("sqlite/lane", LIST),
        ("pg/lane", LIST)
    ])));
}

#[test]
fn names_that_are_the_same_as_types() {
    let sql = "-- name: job_a1 :exec\nDELETE FROM job;\n-- name: job_a_1 :exec\nDELETE FROM event;\n";
    insta::assert_snapshot!(findings(&pair(sql, sql)));
}

#[test]
fn a_file_that_cannot_be_a_module() {
    let page = "-- Nothing.\n";
    assert_eq!(
        rules(&compile(&inputs(&[
            ("sqlite/2nd-try", page),
            ("pg/2nd-try", page),
            ("sqlite/std", page),
            ("pg/std", page)
        ]))),
        ["bad-file-name"; 4]
    );
}

#[test]
fn an_only_that_is_not_true() {
    let only = |dialect: &str| DROP.replace("\nDELETE", &format!("\n-- only: {dialect} — for a good reason\nDELETE"));
    insta::assert_snapshot!(findings(&pair(&only("sqlite"), DROP)));
    assert_eq!(rules(&compile(&pair(&only("pg"), "-- Nothing.\n"))), ["wrong-only"]);
}

#[test]
fn a_promise_that_the_statement_cannot_keep() {
    let sql = "-- name: job_a :opt\nDELETE FROM job WHERE id = :id;\n\
               -- name: job_b :exec\nDELETE FROM job WHERE id = :id RETURNING id;\n";
    insta::assert_snapshot!(findings(&pair(sql, sql)));
}

#[test]
fn a_unit_does_not_count_rows_and_returns_them_once() {
    let unit = "-- name: job_a :rows\nDELETE FROM event WHERE job_id = :id;\nDELETE FROM job WHERE id = :id;\n";
    let facing =
        "-- name: job_a :rows\nWITH gone AS (DELETE FROM event WHERE job_id = :id)\nDELETE FROM job WHERE id = :id;\n";
    assert_eq!(rules(&compile(&pair(unit, facing))), ["cardinality-columns"]);
    let twice = unit.replace(":rows", ":opt").replace(":id;", ":id RETURNING 1 AS one;");
    let once = facing.replace(":rows", ":opt").replace(":id;", ":id RETURNING 1 AS one;");
    assert!(rules(&compile(&pair(&twice, &once))).contains(&"cardinality-columns"));
}

#[test]
fn a_parameter_that_meets_nothing() {
    let sql = "-- name: job_a :many\nSELECT id FROM job WHERE :x IS NULL ORDER BY id;\n";
    insta::assert_snapshot!(findings(&pair(sql, sql)));
}

#[test]
fn a_parameter_that_would_need_two_types() {
    let sql = "-- name: job_a :many\nSELECT id FROM job WHERE note = :x OR epoch = :x ORDER BY id;\n";
    insta::assert_snapshot!(findings(&pair(sql, sql)));
}

#[test]
fn pages_that_need_different_types_of_a_parameter() {
    let sqlite = "-- name: job_a :exec\nUPDATE job SET epoch = 1 WHERE epoch = :x;\n";
    let pg = "-- name: job_a :exec\nUPDATE job SET epoch = 1 WHERE note = :x;\n";
    assert!(rules(&compile(&pair(sqlite, pg))).contains(&"param-type-conflict"));
}

#[test]
fn a_sum_that_postgres_makes_numeric() {
    let sql = "-- name: job_a :one\nSELECT sum(epoch) AS total FROM job;\n";
    insta::assert_snapshot!(findings(&pair(sql, sql)));
}

#[test]
fn a_column_of_unknown_type() {
    let sqlite = "-- name: job_a :opt\nSELECT nosuch(epoch) AS x FROM job WHERE id = :id;\n";
    insta::assert_snapshot!(findings(&pair(sqlite, sqlite)));
}

#[test]
fn a_column_without_a_usable_name_and_one_that_is_there_twice() {
    let sql = "-- name: job_a :opt\nSELECT size AS \"a b\", lane, lane FROM job WHERE id = :id;\n";
    insta::assert_snapshot!(findings(&pair(sql, sql)));
}

#[test]
fn an_annotation_that_names_nothing() {
    let sql = DROP.replace("\nDELETE", "\n-- param: idd uuid\n-- column: what text\nDELETE");
    insta::assert_snapshot!(findings(&pair(&sql, DROP)));
}

#[test]
fn declarations_that_contradict_each_other() {
    let declared = |ty: &str| DROP.replace("\nDELETE", &format!("\n-- param: id {ty}\nDELETE"));
    insta::assert_snapshot!(findings(&pair(&declared("uuid"), &declared("bytes"))));
}

#[test]
fn findings_of_all_files_come_out_at_once_in_their_order() {
    let broken = "-- name: lane_a :exec\nDELETE FRM job;\n";
    let inputs = inputs(&[
        ("sqlite/job", &format!("{LIST}{DROP}")),
        ("pg/job", LIST),
        ("sqlite/lane", broken),
        ("pg/lane", broken),
    ]);
    let compiled = compile(&inputs);
    assert_eq!(rules(&compiled), ["missing-statement", "syntax", "syntax"]);
}

#[test]
fn no_input_makes_it_panic() {
    let odd = [
        "",
        ";",
        "-- name:",
        "-- name: a :one",
        "-- name: job_a :one\n'",
        "\u{feff}",
        "-- name: job_a :one\nSELECT $1, ?1, :x::;\u{0}",
    ];
    for sqlite in odd {
        for pg in odd {
            let inputs = pair(sqlite, pg);
            let compiled = compile(&inputs);
            rendered(&inputs, &compiled);
            syn::parse_file(&compiled.rust).unwrap();
        }
    }
}

#[test]
fn a_difference_far_inside_what_stands_behind_a_column() {
    let sum = |last: &str| {
        let terms: Vec<String> = (1..30).map(|at| format!("{at} * epoch")).collect();
        format!("epoch + {} + {last} * epoch", terms.join(" + "))
    };
    let behind = |last: &str| {
        format!("-- name: job_last :one\nSELECT max(s.v) AS v FROM (SELECT {} AS v FROM job) AS s;\n", sum(last))
    };
    let same = compile(&pair(&behind("77"), &behind("77")));
    assert!(!same.has_errors(), "{:?}", rules(&same));
    let found = rules(&compile(&pair(&behind("77"), &behind("78"))));
    assert_eq!(found, ["columns-differ"]);
}

#[test]
fn what_some_majors_of_postgres_lack_is_found_unless_the_project_runs_on_others() {
    let page = |function: &str| format!("-- name: job_any :one\nSELECT {function}(id) AS id FROM job;\n");
    let mut inputs = pair(&page("max"), &page("any_value"));
    let text = findings(&inputs);
    assert!(text.contains("job_any: Postgres 15 has no function `any_value`"), "{text}");
    assert!(
        text.contains("a function of Postgres 16, 17, 18") && text.contains("`pg_majors` in diglot.toml"),
        "{text}"
    );
    inputs.config.pg_majors = vec![16, 18];
    assert!(!rules(&compile(&inputs)).contains(&"refused-types"));
    inputs.config.pg_majors = vec![15];
    let text = findings(&inputs);
    assert!(text.contains("job_any: Postgres has no function `any_value`"), "{text}");
}

#[test]
fn a_parameter_that_one_page_declares_nullable_may_be_null_on_both() {
    let counted = |counted: &str, test: &str, declared: &str| {
        format!("-- name: job_count :one\n{declared}SELECT count({counted}) AS n FROM job WHERE note {test} :note;\n")
    };
    let declared = "-- param: note text null\n";
    // Of NULL `upper` gives NULL, which `count` leaves out; both engines count 0 rows, and 1 where they count all.
    let told = |declared: &str| {
        let sqlite = counted("*", "IS", declared);
        rules(&compile(&pair(&sqlite, &counted("upper(:note)", "IS NOT DISTINCT FROM", ""))))
    };
    assert_eq!(told(declared), ["columns-differ"]);
    assert!(told("-- param: note text\n").is_empty());
}

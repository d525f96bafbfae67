//! Pages that begin behind a row: the condition is made of the order, compared, and its key is what a row gives.

use diglot::config::Config;
use diglot::source::{SourceFile, Sources};
use diglot::{Compiled, Inputs, compile};

const SQLITE: &str = "CREATE TABLE job (id INTEGER NOT NULL PRIMARY KEY, lane TEXT NOT NULL, owner TEXT, due INTEGER UNIQUE, n INTEGER NOT NULL);\n\
    CREATE TABLE step (job_id INTEGER NOT NULL, place INTEGER NOT NULL, PRIMARY KEY (job_id, place));";
const PG: &str = "CREATE TABLE job (id bigint NOT NULL PRIMARY KEY, lane text NOT NULL, owner text, due bigint UNIQUE, n bigint NOT NULL);\n\
    CREATE TABLE step (job_id bigint NOT NULL, place bigint NOT NULL, PRIMARY KEY (job_id, place));";

fn compiled(sqlite: &str, pg: &str) -> Compiled {
    let mut sources = Sources::default();
    sources.add(SourceFile::new("schema/sqlite/0001_all.sql", SQLITE));
    sources.add(SourceFile::new("schema/pg/0001_all.sql", PG));
    sources.add(SourceFile::new("sql/sqlite/job.sql", sqlite));
    sources.add(SourceFile::new("sql/pg/job.sql", pg));
    compile(&Inputs { config: Config::default(), sources, ..Inputs::default() })
}

/// Rule and message of every finding, each once.
fn found(sqlite: &str, pg: &str) -> Vec<String> {
    let findings = compiled(sqlite, pg).diagnostics.into_iter();
    let mut found: Vec<String> = findings.map(|finding| format!("{}: {}", finding.rule, finding.message)).collect();
    found.dedup();
    found
}

fn statement(columns: &str, order: &str) -> String {
    format!("-- page: after\n-- name: job_page :many\nSELECT {columns} FROM job ORDER BY {order} LIMIT :most;\n")
}

/// The condition of the later pages on Postgres.
fn condition(columns: &str, order: &str) -> String {
    let page = statement(columns, order);
    let compiled = compiled(&page, &page);
    assert_eq!(compiled.diagnostics, []);
    let text = compiled.texts.iter().find(|text| text.dialect.word() == "pg" && text.variant.given.len() == 1);
    let (_, behind) = text.expect("it has a text behind a key").sql.split_once(" WHERE ").unwrap();
    behind.split_once(" ORDER BY ").unwrap().0.replace("\"job\".", "").replace('"', "")
}

#[test]
fn keys_in_one_direction_are_compared_as_rows() {
    assert_eq!(condition("n, id", "n, id"), "(n, id) > ( $1 , $2 )");
    assert_eq!(condition("n, id", "job.n DESC, job.id DESC"), "(n, id) < ( $1 , $2 )");
    assert_eq!(condition("id", "id"), "id > $1");
}

#[test]
fn keys_in_two_directions_are_compared_in_turn() {
    assert_eq!(condition("n, id", "n DESC, id"), "n <= $1 AND (n < $1 OR ( id > $2 ))");
}

#[test]
fn null_has_its_place_among_the_values() {
    let same = "OR (due IS NOT DISTINCT FROM $1 AND ( id > $2 ))";
    let last = format!("due > $1 OR (due IS NULL AND $1 IS NOT NULL) {same}");
    assert_eq!(condition("due, id", "due NULLS LAST, id"), last);
    let first = format!("due < $1 OR (due IS NOT NULL AND $1 IS NULL) {same}");
    assert_eq!(condition("due, id", "due DESC NULLS FIRST, id"), first);
}

#[test]
fn a_key_keeps_its_collation() {
    let sqlite = statement("lane, id", "lane, id");
    let pg = statement("lane, id", "lane COLLATE \"C\", id");
    let compiled = compiled(&sqlite, &pg);
    assert_eq!(compiled.diagnostics, []);
    let behind = "WHERE (\"job\".\"lane\" COLLATE \"C\", \"job\".\"id\") > ( $1 , $2 )";
    assert!(compiled.texts.iter().any(|text| text.sql.contains(behind)), "{:?}", compiled.texts);
}

const PAGE: &str = "-- Jobs of a lane, page by page.
-- page: after
-- name: job_page :many
SELECT job.id, job.n AS size, job.due
  FROM job
 WHERE job.lane = :lane OR job.lane = 'any'
-- if: least
   AND job.n >= :least
-- end
-- order: largest
 ORDER BY job.n DESC, job.id
-- order: due
 ORDER BY job.due NULLS LAST, job.id
-- end
 LIMIT :most;
";

#[test]
fn a_page_goes_with_optional_parts_and_orders_and_has_one_key_for_all() {
    let compiled = compiled(PAGE, PAGE);
    assert_eq!(compiled.diagnostics, []);
    let signature = compiled.signatures[0].to_string();
    let key = "after.size: i64 optional";
    assert!(signature.contains(key) && signature.contains("after.due: i64 null optional"), "{signature}");
    let texts: Vec<&str> =
        compiled.texts.iter().filter(|text| text.dialect.word() == "sqlite").map(|text| text.sql.as_str()).collect();
    assert_eq!(texts.len(), 8);
    insta::assert_snapshot!(texts.join("\n"));
    let rust = compiled.rust.split("impl Statements for sqlx::SqliteConnection").next().unwrap_or_default();
    let own = rust.split("pub mod job {").nth(1).unwrap_or_default();
    insta::assert_snapshot!(own.split("\n}\n").next().unwrap_or_default());
    assert!(compiled.rust.contains(".bind(given_after.size)"), "{}", compiled.rust);
    assert!(compiled.rust.contains("(None, Some(given_after), job::JobPageOrder::Due) =>"), "{}", compiled.rust);
}

#[test]
fn a_difference_of_the_orders_is_one_of_the_later_pages_too() {
    let other = PAGE.replace("job.n DESC", "job.n");
    let rules: Vec<&str> = compiled(PAGE, &other).diagnostics.iter().map(|finding| finding.rule).collect();
    assert!(rules.contains(&"order-differs") && rules.contains(&"where-differs"), "{rules:?}");
    let without = PAGE.replace("-- page: after\n", "");
    assert_eq!(found(PAGE, &without), ["bad-page: job_page: it begins behind `after` on one page only"]);
}

#[test]
fn rows_that_tie_are_found() {
    let tie = |columns: &str, order: &str| {
        let page = statement(columns, order);
        found(&page, &page)
    };
    let ties = ["page-ties: job_page: rows of `job` may be the same in all that sorts the page"];
    assert_eq!(tie("n, lane", "n"), ties);
    // Two rows may have NULL in a unique column.
    assert_eq!(tie("due", "due NULLS LAST"), ties);
    let joined = "-- page: after\n-- name: job_steps :many\nSELECT job.id, step.place FROM job JOIN step ON step.job_id = job.id\n \
        ORDER BY job.id, step.place LIMIT :most;\n";
    assert_eq!(found(joined, joined), Vec::<String>::new());
    let of_job = joined.replace(", step.place LIMIT", " LIMIT");
    let of_step = "page-ties: job_steps: rows of `step` may be the same in all that sorts the page";
    assert_eq!(found(&of_job, &of_job), [of_step]);
}

#[test]
fn what_is_no_page_is_found_at_its_place() {
    let one = |page: &str| found(page, page);
    let plain = statement("id, n", "n, id");
    let cannot = |what: &str| vec![format!("bad-page: job_page: a page cannot be made of it: it {what}")];
    assert_eq!(one(&plain.replace(" LIMIT :most", "")), cannot("has no LIMIT"));
    assert_eq!(one(&plain.replace("SELECT id", "SELECT DISTINCT id")), cannot("leaves rows out that are there twice"));
    assert_eq!(one(&plain.replace(" ORDER", " GROUP BY id, n ORDER")), cannot("groups"));
    assert_eq!(one(&plain.replace(":most", ":most OFFSET 3")), cannot("skips rows"));
    assert_eq!(
        one(&plain.replace("id, n FROM", "id, n, row_number() OVER (ORDER BY id) AS place FROM")),
        cannot("has a window")
    );
    assert_eq!(
        one(&plain.replace("SELECT id, n", "SELECT n")),
        ["bad-page: job_page: a key of the page is no column of the result"]
    );
    assert_eq!(
        one(&plain.replace(":most", ":after")),
        ["bad-optional-part: job_page: `after` is a parameter, and chooses where the page begins"]
    );
    let inside = plain.replace("-- page: after\n", "").replace(" ORDER", "\n-- page: after\n ORDER");
    assert_eq!(one(&inside), ["bad-page: job_page: a page is declared inside the statement"]);
    let twice = plain.replace("-- page: after\n", "-- page: after\n-- page: behind\n");
    assert_eq!(one(&twice), ["bad-page: job_page: a statement has one page"]);
}

#[test]
fn what_is_no_page_is_found_where_parameters_take_their_names_from_the_facing_page() {
    let head = "-- page: after\n-- name: job_page :many\nSELECT id, n FROM job WHERE lane <> $1 AND";
    let tail = "ORDER BY id LIMIT $3";
    let sqlite = format!("{head} lane IN (sqlc.slice('lane')) {tail};\n").replace("$3", "$2");
    let named = found(&sqlite, &format!("{head} lane = ANY($2::text[]) {tail};\n"));
    assert_eq!(named, Vec::<String>::new());
    let without = found(&sqlite, &format!("{head} lane = ANY($2::text[]) ORDER BY id;\n"));
    let message = "bad-page: job_page: a page cannot be made of it: it has no LIMIT";
    assert!(without.iter().any(|finding| finding == message), "{without:#?}");
}

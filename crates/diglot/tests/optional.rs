//! Optional parts: every variant is compared, emitted and chosen by what is given.

use diglot::config::Config;
use diglot::source::{SourceFile, Sources};
use diglot::{Compiled, Inputs, compile};

const SQLITE: &str = "CREATE TABLE job (id INTEGER NOT NULL PRIMARY KEY, lane TEXT NOT NULL, state TEXT NOT NULL, owner TEXT, n INTEGER NOT NULL);";
const PG: &str = "CREATE TABLE job (id bigint NOT NULL PRIMARY KEY, lane text NOT NULL, state text NOT NULL, owner text, n bigint NOT NULL);";

fn compiled(sqlite: &str, pg: &str) -> Compiled {
    let mut sources = Sources::default();
    sources.add(SourceFile::new("schema/sqlite/0001_all.sql", SQLITE));
    sources.add(SourceFile::new("schema/pg/0001_all.sql", PG));
    sources.add(SourceFile::new("sql/sqlite/job.sql", sqlite));
    sources.add(SourceFile::new("sql/pg/job.sql", pg));
    compile(&Inputs { config: Config::default(), sources, ..Inputs::default() })
}

/// Rule and message of every finding.
fn found(sqlite: &str, pg: &str) -> Vec<String> {
    let findings = compiled(sqlite, pg).diagnostics.into_iter();
    findings.map(|finding| format!("{}: {}", finding.rule, finding.message)).collect()
}

const LIST: &str = "-- Jobs of a lane, of a state, or all.
-- name: job_list :many
SELECT job.id, job.owner
  FROM job
 WHERE job.n >= :least
-- if: lane
   AND job.lane = :lane
-- end
-- if: state
   AND job.state = :state
   AND job.owner IS NOT NULL
-- end
 ORDER BY job.id
 LIMIT :most;
";

#[test]
fn every_variant_is_emitted_and_the_function_takes_what_is_given() {
    let compiled = compiled(LIST, LIST);
    assert_eq!(compiled.diagnostics, []);
    let signatures: Vec<String> = compiled.signatures.iter().map(ToString::to_string).collect();
    // Without `state` the owner may be NULL, so it may be for every caller.
    let whole = "job_list(least: i64, lane: text optional, state: text optional, most: i64) :many -> (id: i64, owner: text null)";
    assert_eq!(signatures, [whole]);
    let texts: Vec<String> =
        compiled.texts.iter().filter(|text| text.dialect.word() == "pg").map(|text| text.sql.clone()).collect();
    assert_eq!(
        texts,
        [
            "/* job.job_list+lane+state pg */ SELECT job.id, job.owner FROM job WHERE job.n >= $1 AND job.lane = $2 AND job.state = $3 AND job.owner IS NOT NULL ORDER BY job.id LIMIT $4",
            "/* job.job_list+state pg */ SELECT job.id, job.owner FROM job WHERE job.n >= $1 AND job.state = $2 AND job.owner IS NOT NULL ORDER BY job.id LIMIT $3",
            "/* job.job_list+lane pg */ SELECT job.id, job.owner FROM job WHERE job.n >= $1 AND job.lane = $2 ORDER BY job.id LIMIT $3",
            "/* job.job_list pg */ SELECT job.id, job.owner FROM job WHERE job.n >= $1 ORDER BY job.id LIMIT $2",
        ]
    );
    insta::assert_snapshot!(
        "optional_parts",
        compiled.rust.split("impl Statements for sqlx::PgConnection").next().unwrap_or_default()
    );
}

#[test]
fn a_difference_inside_an_optional_part_is_drift() {
    let other = LIST.replace("job.lane = :lane", "job.lane <> :lane");
    assert_eq!(found(LIST, &other), ["where-differs: job_list: the pages differ in which rows they take"]);
}

#[test]
fn a_difference_that_only_a_missing_part_shows_is_drift_with_a_note() {
    let sqlite = LIST.replace("   AND job.owner IS NOT NULL\n-- end\n", "-- end\n   AND job.owner IS NOT NULL\n");
    let compiled = compiled(&sqlite, LIST);
    let rules: Vec<&str> = compiled.diagnostics.iter().map(|finding| finding.rule).collect();
    assert_eq!(rules, ["where-differs"]);
    assert_eq!(compiled.diagnostics[0].notes, ["so it is when `state` is not given"]);
}

#[test]
fn a_declaration_that_one_variant_needs_is_needed() {
    let sqlite = LIST.replace("job.owner IS NOT NULL", "job.owner <> ''");
    let pg = LIST.replace(":many\n", ":many\n-- diverges(where.owner): SQLite has no empty owners at all\n");
    assert_eq!(found(&sqlite, &pg), [""; 0]);
    assert_eq!(found(LIST, &pg), ["unused-divergence: job_list: `-- diverges(where.owner)` names no difference"]);
}

#[test]
fn an_optional_parameter_stands_in_its_parts_alone_and_on_both_pages() {
    let always = LIST.replace("job.n >= :least", "job.lane <> :lane");
    assert_eq!(
        found(&always, &always),
        ["bad-optional-part: job_list: `lane` may be missing, and stands outside its optional part",]
    );
    let unused = LIST.replace("-- if: lane", "-- if: state");
    assert_eq!(found(&unused, &unused), ["bad-optional-part: job_list: the optional part on `state` does not use it"]);
    let fixed = LIST.replace("-- if: lane\n", "").replacen("-- end\n", "", 1);
    assert_eq!(found(LIST, &fixed), ["bad-optional-part: job_list: the part on `lane` is optional on one page only"]);
    let null = LIST.replace(":many\n", ":many\n-- param: lane text null\n");
    assert_eq!(found(&null, LIST), ["bad-optional-part: job_list: `lane` cannot be both optional and NULL"]);
}

#[test]
fn seven_optional_parameters_are_too_many() {
    let parts: String = (1..=7).map(|n| format!("-- if: a{n}\n   AND job.n <> :a{n}\n-- end\n")).collect();
    let page = format!("-- name: job_list :many\nSELECT job.id FROM job WHERE job.n > 0\n{parts};\n");
    let message = "bad-optional-part: job_list: 7 parameters choose optional parts";
    assert_eq!(found(&page, &page), [message, message]);
}

const SORTED: &str = "-- Jobs in an order of the caller's choice.
-- name: job_sorted :many
SELECT job.id
  FROM job
 WHERE job.n >= :least
-- if: lane
   AND job.lane = :lane
-- end
-- order: newest
 ORDER BY job.n DESC, job.id
-- order: oldest
 ORDER BY job.n, job.id
-- end
 LIMIT :most;
";

#[test]
fn every_order_is_a_statement_and_the_function_takes_the_one_that_is_chosen() {
    let compiled = compiled(SORTED, SORTED);
    assert_eq!(compiled.diagnostics, []);
    let signatures: Vec<String> = compiled.signatures.iter().map(ToString::to_string).collect();
    assert_eq!(signatures, ["job_sorted(least: i64, lane: text optional, most: i64, order: enum) :many -> (id: i64)"]);
    let texts: Vec<&str> = compiled
        .texts
        .iter()
        .filter(|text| text.dialect.word() == "pg")
        .map(|text| text.sql.split_once(" pg */ SELECT job.id FROM job WHERE job.n >= $1 ").unwrap())
        .flat_map(|(head, tail)| [head, tail])
        .collect();
    assert_eq!(
        texts,
        [
            "/* job.job_sorted+lane+order.newest",
            "AND job.lane = $2 ORDER BY job.n DESC, job.id LIMIT $3",
            "/* job.job_sorted+lane+order.oldest",
            "AND job.lane = $2 ORDER BY job.n, job.id LIMIT $3",
            "/* job.job_sorted+order.newest",
            "ORDER BY job.n DESC, job.id LIMIT $2",
            "/* job.job_sorted+order.oldest",
            "ORDER BY job.n, job.id LIMIT $2",
        ]
    );
    let rust = compiled.rust.split("impl Statements for sqlx::PgConnection").next().unwrap_or_default();
    assert!(
        rust.contains("pub enum JobSortedOrder {") && !rust.contains("sqlx::Postgres> for JobSortedOrder"),
        "{rust}"
    );
    assert!(rust.contains("pub order: JobSortedOrder,"), "{rust}");
    assert!(rust.contains("(Some(given_lane), job::JobSortedOrder::Newest) =>"), "{rust}");
    assert!(rust.contains("(None, job::JobSortedOrder::Oldest) =>"), "{rust}");
}

#[test]
fn a_difference_of_one_order_is_drift_with_a_note() {
    let other = SORTED.replace(" ORDER BY job.n, job.id\n", " ORDER BY job.n, job.id DESC\n");
    let compiled = compiled(SORTED, &other);
    let rules: Vec<&str> = compiled.diagnostics.iter().map(|finding| finding.rule).collect();
    assert_eq!(rules, ["order-differs"]);
    assert_eq!(compiled.diagnostics[0].notes, ["so it is in the order `oldest`"]);
}

#[test]
fn what_is_no_choice_of_orders_is_found_at_its_place() {
    let one = |page: &str| {
        let mut found = found(page, page);
        found.dedup();
        found
    };
    let alone = SORTED.replace("-- order: oldest\n ORDER BY job.n, job.id\n", "");
    assert_eq!(one(&alone), ["bad-optional-part: job_sorted: there is one order alone"]);
    let twice = SORTED.replace("-- order: oldest", "-- order: newest");
    assert_eq!(one(&twice), ["bad-optional-part: job_sorted: two orders are called `newest`"]);
    let limited = SORTED.replace("job.n, job.id\n-- end", "job.n, job.id LIMIT 3\n-- end");
    assert_eq!(one(&limited), ["bad-optional-part: job_sorted: the order `oldest` is not one ORDER BY"]);
    let apart = SORTED.replace("-- order: oldest", "-- end\n-- order: oldest");
    assert_eq!(one(&apart), ["bad-optional-part: job_sorted: the orders of a statement stand together"]);
    let taken = SORTED.replace(":most", ":order");
    assert_eq!(one(&taken), ["bad-optional-part: job_sorted: `order` is a parameter, and chooses the order"]);
    let other = SORTED.replace("oldest", "first");
    let sides = ["oldest", "first"]
        .map(|name| format!("bad-optional-part: job_sorted: the order `{name}` is there on one page only"));
    assert_eq!(found(SORTED, &other), sides);
}

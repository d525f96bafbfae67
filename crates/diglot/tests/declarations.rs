//! Declared divergences waive what they name and nothing else, and must be needed.

use diglot::config::Config;
use diglot::source::{SourceFile, Sources};
use diglot::{Inputs, compile};

const SQLITE: &str = "CREATE TABLE job (id INTEGER NOT NULL PRIMARY KEY, state TEXT NOT NULL, owner TEXT, doc TEXT NOT NULL, n INTEGER NOT NULL);";
const PG: &str = "CREATE TABLE job (id bigint NOT NULL PRIMARY KEY, state text NOT NULL, owner text, doc jsonb NOT NULL, n bigint NOT NULL);";

/// A project of one pair.
fn inputs(sqlite: &str, pg: &str) -> Inputs {
    let mut sources = Sources::default();
    sources.add(SourceFile::new("schema/sqlite/0001_all.sql", SQLITE));
    sources.add(SourceFile::new("schema/pg/0001_all.sql", PG));
    sources.add(SourceFile::new("sql/sqlite/job.sql", sqlite));
    sources.add(SourceFile::new("sql/pg/job.sql", pg));
    Inputs { config: Config::default(), sources, ..Inputs::default() }
}

/// What is found in a pair: rule, and the last line of help.
fn found(sqlite: &str, pg: &str) -> Vec<(&'static str, String)> {
    let findings = compile(&inputs(sqlite, pg)).diagnostics.into_iter();
    findings.map(|finding| (finding.rule, finding.help.last().cloned().unwrap_or_default())).collect()
}

fn rules(sqlite: &str, pg: &str) -> Vec<&'static str> {
    found(sqlite, pg).into_iter().map(|(rule, _)| rule).collect()
}

/// A statement with declarations between header and SQL.
fn job(declared: &str, sql: &str) -> String {
    format!("-- name: job_run :exec\n{declared}{sql};\n")
}

const TAKE: &str = "UPDATE job SET state = 'taken', n = n + 1 WHERE id = :id AND owner IS NULL";

#[test]
fn a_declaration_in_either_file_waives_its_fact() {
    let other = TAKE.replace(" AND owner IS NULL", "");
    let declared = "-- diverges(where): this page asks elsewhere\n";
    assert_eq!(rules(&job("", TAKE), &job("", &other)), ["where-differs"]);
    assert_eq!(rules(&job(declared, TAKE), &job("", &other)), [""; 0]);
    assert_eq!(rules(&job("", TAKE), &job(declared, &other)), [""; 0]);
}

#[test]
fn a_declaration_waives_no_other_fact() {
    let other = TAKE.replace(" AND owner IS NULL", "");
    let declared = "-- diverges(set): this page counts elsewhere\n";
    assert_eq!(rules(&job(declared, TAKE), &job("", &other)), ["unused-divergence", "where-differs"]);
}

#[test]
fn a_declaration_can_name_one_column() {
    let other = TAKE.replace("n + 1", "n + 2").replace("'taken'", "'held'");
    let one = "-- diverges(set.n): this page counts in twos\n";
    assert_eq!(rules(&job(one, TAKE), &job("", &other)), ["set-differs"]);
    let both = "-- diverges(set.n): this page counts in twos\n-- diverges(set.state): this page has another word\n";
    assert_eq!(rules(&job(both, TAKE), &job("", &other)), [""; 0]);
    let condition = TAKE.replace("owner IS NULL", "owner IS NOT NULL");
    let about = "-- diverges(where.owner): this page looks for owners\n";
    assert_eq!(rules(&job(about, TAKE), &job("", &condition)), [""; 0]);
    let elsewhere = "-- diverges(where.id): this page looks for owners\n";
    assert_eq!(rules(&job(elsewhere, TAKE), &job("", &condition)), ["unused-divergence", "where-differs"]);
}

#[test]
fn a_null_that_no_program_writes_has_no_place_among_the_rows() {
    let read = "-- name: job_list :many\nSELECT id FROM job ORDER BY owner, id;\n";
    let mut inputs = inputs(read, read);
    inputs.config.pg_collation = "C".to_owned();
    let outcome = compile(&inputs);
    assert_eq!(outcome.diagnostics.iter().map(|finding| finding.rule).collect::<Vec<_>>(), ["null-order"]);
    inputs.config.prove.impossible.insert("job".to_owned(), "owner IS NULL OR n < 0".to_owned());
    let outcome = compile(&inputs);
    assert!(outcome.diagnostics.is_empty(), "{:?}", outcome.diagnostics);
    assert_eq!(outcome.stats.waived, 1);
}

#[test]
fn json_waives_what_is_about_json() {
    let sqlite = "UPDATE job SET doc = json_set(doc, '$.a.b', 1) WHERE id = :id";
    let pg = "UPDATE job SET doc = jsonb_set(doc, '{a,b}', to_jsonb(1)) WHERE id = :id";
    assert_eq!(rules(&job("", sqlite), &job("", pg)), ["set-differs"]);
    let declared = "-- diverges(json): every document has its parent\n";
    assert_eq!(rules(&job(declared, sqlite), &job("", pg)), [""; 0]);
    assert_eq!(rules(&job(declared, TAKE), &job("", TAKE)), ["unused-divergence"]);
}

#[test]
fn a_word_that_is_no_fact_leads_to_the_one_that_was_meant() {
    let declared = "-- diverges(wher): this page asks elsewhere\n";
    let findings = found(&job(declared, TAKE), &job("", TAKE));
    assert_eq!(findings[0].0, "unknown-divergence");
    assert!(findings[0].1.contains("diverges(where)"), "{}", findings[0].1);
}

#[test]
fn swapped_parameters_are_told_as_such_and_a_missing_one_once() {
    let put = "INSERT INTO job (id, state, doc, n) VALUES (:id, :state, :doc, :n)";
    let swapped = put.replace("(:id, :state, :doc, :n)", "(:n, :state, :doc, :id)");
    assert_eq!(rules(&job("", put), &job("", &swapped)), ["param-differs"]);
    let other = TAKE.replace(" AND owner IS NULL", " AND owner = :owner");
    assert_eq!(rules(&job("", TAKE), &job("", &other)), ["where-differs"]);
}

#[test]
fn a_row_lock_is_declared() {
    let read = "-- name: job_get :opt\nSELECT job.state FROM job WHERE job.id = :id";
    let locked = format!("{read} FOR UPDATE;\n");
    assert_eq!(rules(&format!("{read};\n"), &locked), ["lock-differs"]);
}

#[test]
fn another_kind_of_statement_is_one_finding() {
    let put = "INSERT INTO job (id, state, doc, n) VALUES (:id, :state, :doc, 1)";
    let set = "UPDATE job SET state = :state, doc = :doc, n = 1 WHERE id = :id";
    assert_eq!(rules(&job("", put), &job("", set)), ["kind-differs"]);
    let declared = "-- diverges(kind): this page knows that the row is there\n";
    assert_eq!(rules(&job(declared, put), &job("", set)), [""; 0]);
}

#[test]
fn a_write_on_one_page_alone_is_found() {
    let sqlite = format!("-- name: job_run :exec\n{TAKE};\nDELETE FROM job WHERE n = :limit;\n");
    assert_eq!(rules(&sqlite, &job("", TAKE)), ["part-missing"]);
    let declared = sqlite.replace(":exec\n", ":exec\n-- diverges(parts): a trigger does it there\n");
    assert_eq!(rules(&declared, &job("", TAKE)), [""; 0]);
}

#[test]
fn the_same_meaning_in_another_form_is_no_difference() {
    let pairs = [
        ("id = :id AND n > :n", ":n < n AND :id = id"),
        ("n BETWEEN :a AND :b", "n >= :a AND n <= :b"),
        ("NOT (id = :id OR n < :n)", "id <> :id AND n >= :n"),
        ("id IN (SELECT value FROM json_each(:ids))", "id = ANY(CAST(:ids AS bigint[]))"),
        ("id NOT IN (SELECT value FROM json_each(:ids))", "id <> ALL(CAST(:ids AS bigint[]))"),
        ("state IN ('a', 'b')", "state = ANY(ARRAY['b', 'a'])"),
        ("state IN ('a')", "state = 'a'"),
        ("owner IS :owner", "owner IS NOT DISTINCT FROM :owner"),
        ("ifnull(owner, '') = :owner", "COALESCE(owner, '') = CAST(:owner AS text)"),
        ("json_extract(doc, '$.kind') = 'a'", "doc ->> 'kind' = 'a'"),
        ("CAST(json_extract(doc, '$.a.b') AS text) = 'a'", "doc -> 'a' ->> 'b' = 'a'"),
        ("json_extract(doc, '$.kind') IS NULL", "doc ->> 'kind' IS NULL"),
        ("n = max(n, :n)", "n = greatest(n, :n)"),
        ("state > :state", "state COLLATE \"C\" > :state"),
    ];
    for (sqlite, pg) in pairs {
        let declared = "-- param: ids i64[]\n";
        let declared = if sqlite.contains(":ids") { declared } else { "" };
        let statement = |condition: &str| job(declared, &format!("UPDATE job SET n = 1 WHERE {condition}"));
        assert_eq!(rules(&statement(sqlite), &statement(pg)), [""; 0], "{sqlite} and {pg}");
    }
}

#[test]
fn what_only_nearly_means_the_same_is_a_difference() {
    let pairs = [
        ("CAST(json_extract(doc, '$.a.b') AS text) = :kind", "doc -> 'a' ->> 'b' = :kind"),
        ("CAST(json_extract(doc, '$.n') AS integer) > n", "(doc ->> 'n')::bigint > n"),
        ("json_extract(doc, '$.n') = :kind", "doc ->> 'n' = :kind"),
        ("json_extract(doc, '$.n') = '5'", "doc ->> 'n' = '5'"),
        ("json_extract(doc, '$.a.b') IS NULL", "doc ->> 'a.b' IS NULL"),
        ("owner IS :owner", "owner = :owner"),
        ("state = 'a' AND n = 1 OR n = 2", "state = 'a' AND (n = 1 OR n = 2)"),
        ("owner = max(owner, :owner)", "owner = greatest(owner, :owner)"),
    ];
    let found = |sqlite: &str, pg: &str| {
        let statement = |condition: &str| job("", &format!("UPDATE job SET n = 1 WHERE {condition}"));
        let mut found = rules(&statement(sqlite), &statement(pg));
        found.dedup();
        found
    };
    for (sqlite, pg) in pairs {
        assert_eq!(found(sqlite, pg).first(), Some(&"where-differs"), "{sqlite} and {pg}");
    }
    // An order that only one server knows is nobody's.
    assert_eq!(found("state > :state", "state COLLATE \"en_US\" > :state"), ["unknown-operation"]);
}

#[test]
fn names_and_literals_are_neither_documents_nor_time() {
    let declared = |word: &str| format!("-- diverges({word}): the engines have words of their own for it\n");
    let pairs =
        [("json", "owner", ":json"), ("json", "owner", "'json'"), ("time", "owner", "'now'"), ("time", "n", ":now")];
    for (word, column, other) in pairs {
        let texts = ["=", "<>"].map(|op| format!("UPDATE job SET n = 1 WHERE {column} {op} {other}"));
        let found = rules(&job(&declared(word), &texts[0]), &job("", &texts[1]));
        assert_eq!(found, ["unused-divergence", "where-differs"], "{word}: {other}");
    }
}

#[test]
fn a_parameter_with_a_word_of_time_in_its_name_is_no_time() {
    let texts = ["n < :now_ms", "n <= :now_ms"].map(|condition| format!("UPDATE job SET n = 1 WHERE {condition}"));
    let declared = "-- diverges(time): each engine reads its own clock\n";
    assert_eq!(rules(&job(declared, &texts[0]), &job("", &texts[1])), ["unused-divergence", "where-differs"]);
}

/// The line for `[json]` that a finding about a member names, in a pair of conditions on one document.
fn member_to_declare(sqlite: &str, pg: &str) -> Option<String> {
    let page =
        |condition: &str| format!("-- name: job_list :many\nSELECT id FROM job WHERE {condition} ORDER BY id;\n");
    let mut helps = compile(&inputs(&page(sqlite), &page(pg))).diagnostics.into_iter().flat_map(|finding| finding.help);
    helps.find_map(|help| {
        help.strip_prefix("or say in `diglot.toml`, below `[json]`, what the member is: ").map(str::to_owned)
    })
}

#[test]
fn a_finding_about_a_member_names_the_line_that_declares_it() {
    let list = Some("`\"job.doc.tags\" = \"text[]\"`".to_owned());
    let first = ("doc -> '$.tags[0]' IS NULL", "doc -> 'tags' -> 0 IS NULL");
    assert_eq!(member_to_declare(first.0, first.1), list);
    assert_eq!(member_to_declare("doc -> '$.tags[#-1][0]' IS NULL", "doc -> 'tags' -> -1 -> 0 IS NULL"), list);
    let length = ("json_array_length(doc, '$.tags') > 1", "jsonb_array_length(doc -> 'tags') > 1");
    assert_eq!(member_to_declare(length.0, length.1), list);
    assert_eq!(member_to_declare("doc -> '$.tags[1]' IS NULL", "doc -> 'tags' -> 2 IS NULL"), None);
}

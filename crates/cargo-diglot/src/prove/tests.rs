//! A small project whose pages look alike and are not: found, kept, declared, mended.

use std::fs;

use super::*;
use crate::cli;
use crate::host::Sorting;
use crate::interrupt::Interrupts;

const SQLITE_SCHEMA: &str =
    "CREATE TABLE job (id INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, due_ms INTEGER) STRICT;\n";
const PG_SCHEMA: &str = "CREATE TABLE job (id bigint NOT NULL PRIMARY KEY, name text NOT NULL, due_ms bigint);\n";

/// A project with one statement, which has the same text on both pages but for its annotations.
fn project(annotations: &str, sql: &str, pg_sql: &str) -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a folder");
    let page = |annotations: &str, sql: &str| format!("-- Reads jobs.\n-- name: job_list :many\n{annotations}{sql};\n");
    for (path, text) in [
        // Otherwise `check` alone would refuse the order by a name.
        ("diglot.toml", "pg_collation = \"C\"\n[prove.ranges]\n\"job.id\" = [0, 9]\n".to_owned()),
        ("schema/sqlite/0001_job.sql", SQLITE_SCHEMA.to_owned()),
        ("schema/pg/0001_job.sql", PG_SCHEMA.to_owned()),
        ("sql/sqlite/job.sql", page(annotations, sql)),
        ("sql/pg/job.sql", page("", pg_sql)),
    ] {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    root
}

/// A project of these files, beside which there is the one of jobs.
fn with_files(settings: &str, files: &[(&str, &str)]) -> tempfile::TempDir {
    let by_id = "SELECT id, name FROM job ORDER BY id";
    let root = project("", by_id, by_id);
    for (path, text) in [("diglot.toml", settings)].iter().chain(files) {
        fs::write(root.path().join(path), text).expect("a file");
    }
    root
}

/// What `prove` finds in a project, with databases that sort as it says.
async fn proved(root: &Path, cases: u64) -> Findings {
    let (inputs, compiled) = check::alone(root).expect("readable files");
    let mut interrupts = Interrupts::catch().expect("signals");
    let host =
        Host::open(&crate::cli::Postgres::default(), first_sorting(&inputs), &mut interrupts).await.expect("a server");
    let arguments = Prove {
        project: cli::Project { root: None, package: None },
        statement: None,
        rows: 4,
        cases,
        seed: 1,
        postgres: crate::cli::Postgres::default(),
    };
    let findings = all(&arguments, root, &inputs, &compiled, &host).await.expect("engines that talk");
    host.close().await.expect("a database that goes");
    findings
}

#[test]
fn text_sorts_as_the_project_says_and_in_both_ways_where_it_says_nothing() {
    let pages = |ours: &str, theirs: &str| {
        let page = |sql: &str| format!("-- Reads jobs.\n-- name: job_list :many\n{sql};\n");
        [("sql/sqlite/job.sql", page(ours)), ("sql/pg/job.sql", page(theirs))]
    };
    let count = async |settings: &str, ours: &str, theirs: &str| {
        let pages = pages(ours, theirs);
        let files = pages.each_ref().map(|(path, text)| (*path, text.as_str()));
        proved(with_files(settings, &files).path(), 30).await.count
    };
    let by_name = "SELECT id, name FROM job ORDER BY name, id";
    runtime().expect("a runtime").block_on(async {
        assert_eq!(count("pg_collation = \"C\"\n", by_name, by_name).await, 0);
        assert_eq!(count("", by_name, by_name).await, 1);
        // A language has small letters first, bytes have them last.
        let all = "SELECT id FROM job ORDER BY id";
        for condition in ["'a' < 'B'", "'B' < 'a'"] {
            let some = format!("SELECT id FROM job WHERE {condition} ORDER BY id");
            assert_eq!(count("", all, &some).await, 1, "{condition} is not so in one of both");
        }
    });
}

#[test]
fn a_table_with_generated_columns_has_rows_and_they_are_read_back() {
    let stamped = |id: &str, number: &str| {
        format!(
            "CREATE TABLE line (id {id} NOT NULL PRIMARY KEY, n {number} NOT NULL,\n\
             \x20 twice {number} GENERATED ALWAYS AS (n * 2) STORED);\n"
        )
    };
    let [ours, theirs] = [stamped("INTEGER", "INTEGER"), stamped("bigint", "bigint")];
    let page = |sql: &str| format!("-- Changes lines.\n-- name: line_raise :exec\n{sql};\n");
    let (up, further) = ("UPDATE line SET n = n + 1 WHERE id = :id", "UPDATE line SET n = n + 2 WHERE id = :id");
    let settings = "[prove.ranges]\n\"line.n\" = [0, 9]\n\"line.id\" = [0, 3]\n\"line_raise.id\" = [0, 3]\n";
    let count = async |theirs_of_page: &str| {
        let (page, page_of_pg) = (page(up), page(theirs_of_page));
        let files = [
            ("schema/sqlite/0002_line.sql", ours.as_str()),
            ("schema/pg/0002_line.sql", theirs.as_str()),
            ("sql/sqlite/line.sql", page.as_str()),
            ("sql/pg/line.sql", page_of_pg.as_str()),
        ];
        let findings = proved(with_files(settings, &files).path(), 30).await;
        assert_eq!(findings.empty(), None);
        findings.count
    };
    runtime().expect("a runtime").block_on(async {
        assert_eq!(count(up).await, 0);
        assert_eq!(count(further).await, 1);
    });
}

#[test]
fn what_other_tools_are_told_of_sqlite_s_own_tables_stops_nothing() {
    let stub = "CREATE TABLE sqlite_master (type TEXT, name TEXT, tbl_name TEXT, rootpage INTEGER, sql TEXT);\n";
    let root = with_files("", &[("schema/sqlite/0002_stub.sql", stub)]);
    let findings = runtime().expect("a runtime").block_on(proved(root.path(), 5));
    assert_eq!((findings.count, findings.pairs, findings.cases), (0, 1, 5));
}

/// What a run finds, by rule and message.
async fn run(root: &Path, host: &Host) -> Vec<Diagnostic> {
    let inputs = diglot::build::load(root).expect("readable files");
    let compiled = diglot::check(&Inputs { check_answers: false, ..inputs.clone() });
    assert!(!compiled.has_errors(), "{:?}", compiled.diagnostics);
    let arguments = Prove {
        project: cli::Project { root: None, package: None },
        statement: None,
        rows: 4,
        cases: 30,
        seed: 1,
        postgres: crate::cli::Postgres::default(),
    };
    let inputs = Inputs { check_answers: false, ..inputs };
    let mut engines = Engines::open_again(&inputs, host).await.expect("both engines");
    let relations = diglot_tools::prove::Relations::default();
    let mut found = Vec::new();
    for subject in Prover::new(&inputs, &compiled, &relations).subjects() {
        let kept = kept::read(root).expect("readable cases");
        let own = kept.into_iter().filter(|(name, _)| *name == subject.name).map(|(_, case)| case).collect();
        let tried = subject_tried(&mut engines, &subject, own, &arguments, 1).await.expect("engines that talk");
        assert!(tried.cases > 0);
        found.extend(report::findings(&subject, &tried));
    }
    found
}

#[test]
fn a_difference_is_found_shrunk_kept_declared_and_mended() {
    let by_name = "SELECT id, name FROM job ORDER BY name, id";
    let by_bytes = "SELECT id, name FROM job ORDER BY name COLLATE \"C\", id";
    runtime().expect("a runtime").block_on(async {
        let mut interrupts = Interrupts::catch().expect("signals");
        let host =
            Host::open(&crate::cli::Postgres::default(), Sorting::Language, &mut interrupts).await.expect("a server");

        let drifting = project("", by_name, by_name);
        let found = run(drifting.path(), &host).await;
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(
            (finding.rule, finding.message.as_str()),
            ("results-differ", "job_list: the order of the rows differs")
        );
        let rows = finding.notes.iter().filter(|note| note.starts_with("job: "));
        assert_eq!(rows.count(), 2, "two rows are enough to show an order: {:?}", finding.notes);
        let kept = finding.help.iter().find_map(|help| help.split_once("`prove/job_list.toml`:\n")).expect("a file");
        let (name, case) = Case::from_toml(kept.1).expect("a case");
        assert_eq!((name.as_str(), case.rows["job"].len()), ("job_list", 2));

        fs::create_dir(drifting.path().join(kept::FOLDER)).expect("a folder");
        fs::write(drifting.path().join("prove/job_list.toml"), kept.1).expect("a file");
        assert_eq!(run(drifting.path(), &host).await.len(), 1);

        let declared = project("-- diverges(results): the server sorts by its language.\n", by_name, by_name);
        assert!(run(declared.path(), &host).await.is_empty());

        let mended = project("", by_name, by_bytes);
        assert!(run(mended.path(), &host).await.is_empty());

        let needless = project("-- diverges(results): the server sorts by its language.\n", by_name, by_bytes);
        let found = run(needless.path(), &host).await;
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(finding.rule, "unused-divergence");
        host.close().await.expect("a database that goes");
    });
}

#[test]
fn rows_that_cannot_be_stay_away_when_a_statement_is_refused() {
    // Of the ten ids that there are, a case often gives one that a row has.
    let insert = "INSERT INTO job (id, name) VALUES (:id, :name) RETURNING id";
    let root = project("", insert, insert);
    let settings = root.path().join("diglot.toml");
    let text = fs::read_to_string(&settings).expect("a file");
    fs::write(&settings, format!("{text}[prove.impossible]\njob = \"due_ms IS NOT NULL\"\n")).expect("a file");
    runtime().expect("a runtime").block_on(async {
        let mut interrupts = Interrupts::catch().expect("signals");
        let host =
            Host::open(&crate::cli::Postgres::default(), Sorting::Language, &mut interrupts).await.expect("a server");
        let found = run(root.path(), &host).await;
        assert!(found.is_empty(), "{found:?}");
        host.close().await.expect("a database that goes");
    });
}

#[test]
fn every_table_has_rows_but_those_that_nothing_satisfies_and_they_are_named() {
    let root = project("", "SELECT id, name FROM job ORDER BY id", "SELECT id, name FROM job ORDER BY id");
    let tables = |id: &str, number: &str| {
        format!(
            "CREATE TABLE owner (id {id} NOT NULL PRIMARY KEY, kind text NOT NULL CHECK (kind IN ('cat', 'dog')),\n\
             \x20 name text NOT NULL CHECK (length(name) BETWEEN 30 AND 50));\n\
             CREATE TABLE visit (owner_id {number} NOT NULL REFERENCES owner (id),\n\
             \x20 job_id {number} NOT NULL REFERENCES job (id), n {number} NOT NULL CHECK (n > 5000), PRIMARY KEY (owner_id, job_id));\n\
             CREATE TABLE never (n {number} NOT NULL CHECK (n > 3 AND n < 2));\n"
        )
    };
    let sql = "-- Reads visits.\n-- name: visit_list :many\n\
         SELECT v.n, o.kind FROM visit AS v JOIN owner AS o ON o.id = v.owner_id ORDER BY v.owner_id, v.job_id;\n\n\
         -- Reads nothing.\n-- name: visit_never :many\nSELECT n FROM never ORDER BY n;\n";
    for (path, text) in [
        ("schema/sqlite/0002_more.sql", tables("INTEGER", "INTEGER")),
        ("schema/pg/0002_more.sql", tables("bigint", "bigint")),
        ("sql/sqlite/visit.sql", sql.to_owned()),
        ("sql/pg/visit.sql", sql.to_owned()),
    ] {
        fs::write(root.path().join(path), text).expect("a file");
    }
    let inputs = diglot::build::load(root.path()).expect("readable files");
    let inputs = Inputs { check_answers: false, ..inputs };
    let compiled = diglot::check(&inputs);
    assert!(!compiled.has_errors(), "{:?}", compiled.diagnostics);
    let arguments = Prove {
        project: cli::Project { root: None, package: None },
        statement: None,
        rows: 4,
        cases: 30,
        seed: 1,
        postgres: crate::cli::Postgres::default(),
    };
    runtime().expect("a runtime").block_on(async {
        let mut interrupts = Interrupts::catch().expect("signals");
        let host = Host::open(&crate::cli::Postgres::default(), first_sorting(&inputs), &mut interrupts)
            .await
            .expect("a server");
        let findings = all(&arguments, root.path(), &inputs, &compiled, &host).await.expect("engines that talk");
        let said = findings.empty().expect("a table without rows");
        assert!(said.starts_with("no row that both engines take was made for never; "), "{said}");
        assert_eq!(findings.count, 0);
        host.close().await.expect("a database that goes");
    });
}

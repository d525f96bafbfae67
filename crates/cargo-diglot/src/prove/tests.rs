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
        postgres: None,
    };
    let inputs = Inputs { check_answers: false, ..inputs };
    let mut engines = Engines::open_again(&inputs, host).await.expect("both engines");
    let relations = diglot::prove::Relations::default();
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
        let host = Host::open(None, Sorting::Language, &mut interrupts).await.expect("a server");

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
        let host = Host::open(None, Sorting::Language, &mut interrupts).await.expect("a server");
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
        postgres: None,
    };
    runtime().expect("a runtime").block_on(async {
        let mut interrupts = Interrupts::catch().expect("signals");
        let host = Host::open(None, Sorting::Language, &mut interrupts).await.expect("a server");
        let findings = all(&arguments, root.path(), &inputs, &compiled, &host).await.expect("engines that talk");
        let said = findings.empty().expect("a table without rows");
        assert!(said.starts_with("no row that both engines take was made for never; "), "{said}");
        assert_eq!(findings.count, 0);
        host.close().await.expect("a database that goes");
    });
}

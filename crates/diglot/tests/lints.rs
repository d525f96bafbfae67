//! Each lint finds what it is about, is silent where nothing is wrong, and is silenced by a declaration alone.

use diglot::config::Config;
use diglot::diagnostic::Diagnostic;
use diglot::source::{SourceFile, Sources};
use diglot::{Inputs, compile};

const SQLITE: &str = "
CREATE TABLE job (part INTEGER NOT NULL, id INTEGER NOT NULL, state TEXT NOT NULL, due_ms INTEGER, PRIMARY KEY (part, id));
CREATE TABLE event (part INTEGER NOT NULL, event_id INTEGER PRIMARY KEY AUTOINCREMENT, id INTEGER NOT NULL, state TEXT NOT NULL);
CREATE TABLE berth (part INTEGER NOT NULL PRIMARY KEY, id INTEGER NOT NULL UNIQUE);";
const PG: &str = "
CREATE TABLE job (part smallint NOT NULL, id bigint NOT NULL, state text NOT NULL, due_ms bigint, PRIMARY KEY (part, id)) PARTITION BY HASH (part);
CREATE TABLE event (part smallint NOT NULL, event_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id bigint NOT NULL, state text NOT NULL);
CREATE TABLE berth (part smallint NOT NULL PRIMARY KEY, id bigint NOT NULL UNIQUE);";

/// What is found in a pair.
fn found(sqlite: &str, pg: &str) -> Vec<Diagnostic> {
    let mut sources = Sources::default();
    sources.add(SourceFile::new("schema/sqlite/0001_all.sql", SQLITE));
    sources.add(SourceFile::new("schema/pg/0001_all.sql", PG));
    sources.add(SourceFile::new("sql/sqlite/job.sql", sqlite));
    sources.add(SourceFile::new("sql/pg/job.sql", pg));
    let text = "shard_key = \"part\"\n[words]\n\"job.state\" = [\"waiting\", \"taken\"]\n";
    let config = Config::parse(text, "diglot.toml").expect("a sound configuration");
    compile(&Inputs { config, sources, ..Inputs::default() }).diagnostics
}

/// The rules that find something in a pair, each once.
fn rules(sqlite: &str, pg: &str) -> Vec<&'static str> {
    let mut rules: Vec<&str> = found(sqlite, pg).iter().map(|finding| finding.rule).collect();
    rules.dedup();
    rules
}

/// The same text on both pages.
fn both(text: &str) -> Vec<&'static str> {
    rules(text, text)
}

#[test]
fn a_partitioned_table_is_pinned_on_postgres() {
    let free = "-- name: job_get :opt\nSELECT job.state FROM job WHERE job.id = :id;\n";
    assert_eq!(both(free), ["shard-key"]);
    let pinned = "-- name: job_get :opt\nSELECT job.state FROM job WHERE job.id = :id AND job.part = :part;\n";
    assert_eq!(both(pinned), [""; 0]);
    let either = "-- name: job_get :opt\nSELECT job.state FROM job WHERE job.id = :id OR job.part = :part;\n";
    assert_eq!(both(either), ["shard-key"]);
    let inserted = "-- name: job_put :exec\nINSERT INTO job (part, id, state) VALUES (:part, :id, 'waiting');\n";
    assert_eq!(both(inserted), [""; 0]);
}

#[test]
fn a_pin_is_passed_on_through_a_join() {
    let joined = "-- name: job_pairs :many
SELECT a.id, b.state FROM job AS a JOIN job AS b ON b.part = a.part AND b.id = a.id WHERE a.part = :part;\n";
    assert_eq!(both(joined), [""; 0]);
    let loose = "-- name: job_pairs :many
SELECT a.id, b.state FROM job AS a JOIN job AS b ON b.id = a.id WHERE a.part = :part;\n";
    assert_eq!(both(loose), ["shard-key"]);
}

#[test]
fn an_allowed_lint_is_silent_and_an_allowance_without_need_is_not() {
    let allowed = "-- name: job_get :opt\n-- allow(shard-key): the listing is over all partitions
SELECT job.state FROM job WHERE job.id = :id;\n";
    assert_eq!(both(allowed), [""; 0]);
    let needless = "-- name: job_get :opt\n-- allow(shard-key): the listing is over all partitions
SELECT job.state FROM job WHERE job.id = :id AND job.part = :part;\n";
    assert_eq!(both(needless), ["unused-allow"]);
    let drift = "-- name: job_get :opt\n-- allow(where-differs): no lint can be allowed like this
SELECT job.state FROM job WHERE job.id = :id AND job.part = :part;\n";
    assert_eq!(both(drift), ["unused-allow"]);
}

#[test]
fn a_limit_needs_an_order() {
    let loose = "-- name: job_some :many\nSELECT job.id FROM job WHERE job.part = :part LIMIT 3;\n";
    assert_eq!(both(loose), ["unordered-limit"]);
    let ordered = "-- name: job_some :many\nSELECT job.id FROM job WHERE job.part = :part ORDER BY job.id LIMIT 3;\n";
    assert_eq!(both(ordered), [""; 0]);
}

#[test]
fn a_word_outside_the_list_is_found_wherever_it_stands() {
    let compared = "-- name: job_get :many\nSELECT job.id FROM job WHERE job.part = :part AND job.state = 'waitng';\n";
    assert_eq!(both(compared), ["unknown-word"]);
    let listed =
        "-- name: job_get :many\nSELECT job.id FROM job WHERE job.part = :part AND job.state IN ('waiting', 'don');\n";
    assert_eq!(both(listed), ["unknown-word"]);
    let set = "-- name: job_take :exec\nUPDATE job SET state = CASE WHEN due_ms > 0 THEN 'taken' ELSE 'lost' END WHERE part = :part;\n";
    assert_eq!(both(set), ["unknown-word"]);
    let put = "-- name: job_put :exec\nINSERT INTO job (part, id, state) VALUES (:part, :id, 'nw');\n";
    assert_eq!(both(put), ["unknown-word"]);
}

#[test]
fn or_replace_and_a_conflict_without_a_target_are_found() {
    let replace =
        "-- name: job_put :exec\nINSERT OR REPLACE INTO job (part, id, state) VALUES (:part, :id, 'taken');\n";
    let plain = "-- name: job_put :exec\nINSERT INTO job (part, id, state) VALUES (:part, :id, 'taken');\n";
    // Where the pages differ in it, that is told once, with what the lint says.
    let told = |sqlite: &str, pg: &str| {
        let found = found(sqlite, pg);
        let conflict = found.into_iter().find(|finding| finding.rule == "conflict-differs");
        conflict.map(|finding| finding.notes).unwrap_or_default()
    };
    assert_eq!(told(replace, plain), ["INSERT OR REPLACE deletes the row that is in the way"]);
    let declared = "-- diverges(conflict): the page of SQLite has no other writers.\n";
    let declared = replace.replace("INSERT", &format!("{declared}INSERT"));
    assert!(rules(&declared, plain).contains(&"or-replace"));
    // A row of `job` has one key to break, and one of `berth` has two.
    let open = "-- name: job_put :exec\nINSERT INTO job (part, id, state) VALUES (:part, :id, 'taken')
ON CONFLICT DO UPDATE SET state = 'taken';\n";
    let target = open.replace("CONFLICT", "CONFLICT (part, id)");
    assert_eq!(rules(open, &target), [""; 0]);
    assert!(rules(&target, open).contains(&"on-conflict-without-target"));
    let open = "-- name: job_put :exec\nINSERT INTO berth (part, id) VALUES (:part, :id)
ON CONFLICT DO UPDATE SET id = excluded.id;\n";
    let target = open.replace("CONFLICT", "CONFLICT (part)");
    assert_eq!(told(open, &target), ["DO UPDATE does not say which conflict it means"]);
}

#[test]
fn nulls_must_take_the_same_place_on_both_pages() {
    let bare = "-- name: job_due :many\nSELECT job.id FROM job WHERE job.part = :part ORDER BY job.due_ms, job.id;\n";
    assert_eq!(both(bare), ["null-order"]);
    let told = &found(bare, bare)[0];
    assert_eq!(told.message, "job_due: NULL comes first on SQLite and last on Postgres");
    assert_eq!(told.help[0], "write `job.due_ms NULLS FIRST` or `job.due_ms NULLS LAST` on both pages");
    let written = bare.replace("job.due_ms,", "job.due_ms NULLS FIRST,");
    assert_eq!(rules(bare, &written), [""; 0]);
    assert_eq!(both(&written), [""; 0]);
}

const SNAPSHOT: &str = "-- name: job_take :exec
WITH seen AS (SELECT job.part, job.id, job.state FROM job WHERE job.part = :part AND job.state = 'waiting' FOR UPDATE),
taken AS (UPDATE job SET state = 'taken' FROM seen WHERE job.part = :part AND job.id = seen.id)
INSERT INTO event (part, id, state) SELECT seen.part, seen.id, seen.state FROM seen;
";

fn unit(first: &str, second: &str) -> String {
    let seen =
        "WITH seen AS (SELECT job.part, job.id, job.state FROM job WHERE job.part = :part AND job.state = 'waiting')";
    format!("-- name: job_take :exec\n{seen}\n{first};\n{seen}\n{second};\n")
}

const TAKE: &str = "UPDATE job SET state = 'taken' FROM seen WHERE job.part = :part AND job.id = seen.id";
const TELL: &str = "INSERT INTO event (part, id, state) SELECT seen.part, seen.id, seen.state FROM seen";

#[test]
fn a_unit_may_write_last_what_its_parts_read() {
    assert_eq!(rules(&unit(TELL, TAKE), SNAPSHOT), [""; 0]);
}

#[test]
fn a_unit_that_reads_what_it_has_written_is_found() {
    assert_eq!(rules(&unit(TAKE, TELL), SNAPSHOT), ["unit-read-after-write"]);
}

#[test]
fn a_value_from_returning_is_not_the_value_before_the_write() {
    let pg = "-- name: job_take :exec
WITH taken AS (UPDATE job SET state = 'taken' WHERE job.part = :part AND job.id = :id RETURNING job.part, job.id, job.state)
INSERT INTO event (part, id, state) SELECT taken.part, taken.id, taken.state FROM taken;\n";
    let sqlite = "-- name: job_take :exec
-- diverges(where): Postgres hands over the one row that it has changed.
INSERT INTO event (part, id, state) SELECT job.part, job.id, job.state FROM job WHERE job.part = :part AND job.id = :id;
UPDATE job SET state = 'taken' WHERE part = :part AND id = :id;\n";
    assert_eq!(rules(sqlite, pg), ["insert-differs"]);
}

/// A unit that gives the rows of two writes, and how the second one is joined.
fn joined(join: &str) -> String {
    format!(
        "-- name: job_take :opt
WITH taken AS (UPDATE job SET state = 'taken' WHERE job.part = :part AND job.id = :id RETURNING job.id),
told AS (INSERT INTO event (part, id, state) SELECT job.part, job.id, 'taken' FROM job
 WHERE job.part = :part AND job.id = :id AND job.due_ms IS NOT NULL RETURNING event_id)
SELECT taken.id, told.event_id FROM taken {join};\n"
    )
}

#[test]
fn how_the_rows_of_writes_are_joined_is_compared() {
    for join in ["LEFT JOIN told ON true", "CROSS JOIN told"] {
        assert_eq!(both(&joined(join)), [""; 0], "{join}");
    }
    let sqlite = joined("LEFT JOIN told ON true");
    for (join, rule) in [
        ("LEFT JOIN told ON false", "join-differs"),
        ("LEFT JOIN told ON told.event_id > 7", "join-differs"),
        ("JOIN told ON true", "join-differs"),
        ("CROSS JOIN told", "join-differs"),
        ("FULL JOIN told ON true", "join-differs"),
        ("LEFT JOIN told ON true CROSS JOIN told AS again", "tables-differ"),
    ] {
        let found = rules(&sqlite, &joined(join));
        assert!(found.contains(&rule), "{join}: {found:?}");
    }
    let found = rules(&joined("CROSS JOIN told"), &joined("JOIN told ON told.event_id > 7"));
    assert!(found.contains(&"where-differs"), "{found:?}");
}

#[test]
fn a_transaction_locks_what_it_reads_and_changes() {
    let read = "-- name: job_seen :many\n-- transaction: take\nSELECT job.id, job.state FROM job WHERE job.part = :part ORDER BY job.id LIMIT 1";
    let write =
        "-- name: job_take :exec\n-- transaction: take\nUPDATE job SET state = 'taken' WHERE part = :part AND id = :id";
    let loose = format!("{read};\n\n{write};\n");
    assert_eq!(both(&loose), ["unlocked-read"]);
    let locked = "-- diverges(lock): SQLite has a single writer anyway\n";
    let pg = format!(
        "{};\n\n{write};\n",
        format!("{read} FOR UPDATE SKIP LOCKED").replace("SELECT", &format!("{locked}SELECT"))
    );
    assert_eq!(rules(&loose, &pg), [""; 0]);
    let fenced = format!("{read};\n\n{write} AND state = 'waiting';\n");
    assert_eq!(both(&fenced), [""; 0]);
    let allowed = loose.replace("SELECT", "-- allow(unlocked-read): one worker for each partition\nSELECT");
    assert_eq!(both(&allowed), [""; 0]);
    let apart = loose.replace("-- transaction: take\n", "");
    assert_eq!(both(&apart), [""; 0]);
    let needless = fenced.replace("SELECT", "-- allow(unlocked-read): one worker for each partition\nSELECT");
    assert_eq!(both(&needless), ["unused-allow"]);
}

#[test]
fn a_transaction_deletes_what_it_has_read_only_if_that_still_holds() {
    let read = "-- name: job_due :many\n-- transaction: expire
SELECT job.id FROM job WHERE job.part = :part AND job.due_ms <= :now_ms ORDER BY job.id";
    let write =
        "-- name: job_expire :exec\n-- transaction: expire\nDELETE FROM job WHERE job.part = :part AND job.id = :id";
    let loose = format!("{read};\n\n{write};\n");
    assert_eq!(both(&loose), ["unlocked-read"]);
    let again = format!("{read};\n\n{write} AND job.due_ms <= :now_ms;\n");
    assert_eq!(both(&again), [""; 0]);
    let by_key = format!("{};\n\n{write};\n", read.replace("AND job.due_ms <= :now_ms", "AND job.id > :id"));
    assert_eq!(both(&by_key), [""; 0]);
}

#[test]
fn a_transaction_that_reads_twice_is_torn() {
    let page = "-- name: job_one :many\n-- transaction: report\nSELECT job.id FROM job WHERE job.part = :part;\n
-- name: job_two :many\n-- transaction: report\nSELECT count(*) AS c FROM job WHERE job.part = :part;\n";
    assert_eq!(both(page), ["torn-read"]);
    assert_eq!(both(&page.replacen("-- transaction: report\n", "", 1)), [""; 0]);
}

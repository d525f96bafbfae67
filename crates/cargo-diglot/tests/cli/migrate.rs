//! Migrations on both databases: from nothing, from other tools' ledgers, by several at once, with locks in the way, and
//! behind a run that ended half way.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sqlx::postgres::PgConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use crate::book::blocks;
use crate::project::{Ended, Project, postgres};

const FIRST: &str = "CREATE TABLE job (id bigint PRIMARY KEY);\nCREATE TABLE log (said text NOT NULL);\n";
const SECOND: &str = "INSERT INTO log VALUES ('second');\nALTER TABLE job ADD COLUMN lane text;\n";
const THIRD: &str = "-- diglot: no-transaction\nINSERT INTO log VALUES ('third');\nINSERT INTO late VALUES (1);\n";

/// How often a migration is in somebody's way before its lock is free.
const ATTEMPTS: usize = 5;

/// A project with migrations, and a database of its own.
struct Place {
    project: Project,
    url: String,
    runtime: Runtime,
}

/// A connection of the test's own.
enum Own {
    Sqlite(SqliteConnection),
    Pg(PgConnection),
}

impl Place {
    fn new(dialect: &str, migrations: &[(&str, &str)]) -> Self {
        let project = Project::empty();
        project.write("diglot.toml", "generate = false\n");
        for (name, text) in migrations {
            project.write(&format!("schema/{dialect}/{name}.sql"), text);
        }
        let runtime = Runtime::new().unwrap();
        let url = match dialect {
            "sqlite" => format!("sqlite:{}", project.path("app.db").display()),
            _ => {
                static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
                let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let name = format!("migrate_{}_{number}", std::process::id());
                runtime.block_on(async {
                    let mut server = PgConnection::connect(postgres()).await.unwrap();
                    server.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await.unwrap();
                });
                let (server, options) = postgres().split_once('?').unwrap_or((postgres(), ""));
                let (server, _) = server.rsplit_once('/').unwrap();
                format!("{server}/{name}?{options}")
            }
        };
        Self { project, url, runtime }
    }

    fn migrate(&self, action: &str, arguments: &[&str]) -> Ended {
        self.project.run(&[&["migrate", action, &self.url], arguments].concat())
    }

    fn spawn(&self) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-diglot"));
        command.args(["diglot", "migrate", "apply", &self.url]).current_dir(self.project.path("."));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn own(&self) -> Own {
        self.runtime.block_on(async {
            match self.url.strip_prefix("sqlite:") {
                Some(path) => {
                    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
                    Own::Sqlite(options.connect().await.unwrap())
                }
                None => Own::Pg(PgConnection::connect(&self.url).await.unwrap()),
            }
        })
    }

    fn run(&self, own: &mut Own, sql: &str) {
        let sql = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
        self.runtime.block_on(async {
            match own {
                Own::Sqlite(own) => drop(own.execute(sql).await.unwrap()),
                Own::Pg(own) => drop(own.execute(sql).await.unwrap()),
            }
        });
    }

    fn number(&self, own: &mut Own, sql: &str) -> i64 {
        let sql = AssertSqlSafe(sql.to_owned());
        self.runtime.block_on(async {
            match own {
                Own::Sqlite(own) => sqlx::query_scalar(sql).fetch_one(own).await.unwrap(),
                Own::Pg(own) => sqlx::query_scalar(sql).fetch_one(own).await.unwrap(),
            }
        })
    }
}

#[test]
fn from_nothing_and_once() {
    for dialect in ["sqlite", "pg"] {
        let place = Place::new(dialect, &[("0001_first", FIRST), ("0002_second", SECOND)]);
        place.own();
        let before = place.migrate("status", &[]);
        assert_eq!(
            (before.code, before.stdout.as_str()),
            (Some(2), "missing 0001_first\nmissing 0002_second\n"),
            "{}",
            before.seen()
        );
        let first = place.migrate("apply", &[]);
        assert_eq!(first.code, Some(0), "{}", first.seen());
        assert!(first.stderr.ends_with("2 migrations applied, 0 migrations applied before\n"), "{}", first.seen());
        let again = place.migrate("apply", &[]);
        assert!(again.stderr.ends_with("0 migrations applied, 2 migrations applied before\n"), "{}", again.seen());
        let status = place.migrate("status", &[]);
        assert_eq!(
            (status.code, status.stdout.as_str()),
            (Some(0), "applied 0001_first\napplied 0002_second\n"),
            "{}",
            status.seen()
        );
        assert_eq!(place.number(&mut place.own(), "SELECT count(*) FROM log"), 1);
        place.project.edit(&format!("schema/{dialect}/0001_first.sql"), "log", "logs");
        let changed = place.migrate("apply", &[]);
        assert_eq!(changed.code, Some(1), "{}", changed.seen());
        assert!(changed.stderr.contains("0001_first has run and reads otherwise now"), "{}", changed.seen());
    }
}

#[test]
fn a_refused_migration_leaves_nothing() {
    for dialect in ["sqlite", "pg"] {
        let refused = "INSERT INTO log VALUES ('second');\nINSERT INTO absent VALUES (1);\n";
        let place = Place::new(dialect, &[("0001_first", FIRST), ("0002_second", refused)]);
        let ended = place.migrate("apply", &[]);
        assert_eq!(ended.code, Some(1), "{}", ended.seen());
        assert!(
            ended.stderr.contains("migration 0002_second is refused: ") && ended.stderr.contains("absent"),
            "{}",
            ended.seen()
        );
        assert_eq!(place.number(&mut place.own(), "SELECT count(*) FROM log"), 0);
        assert_eq!(place.migrate("status", &[]).stdout, "applied 0001_first\nmissing 0002_second\n");
    }
}

#[test]
fn behind_a_statement_that_failed_a_migration_goes_on() {
    for dialect in ["sqlite", "pg"] {
        let place = Place::new(dialect, &[("0001_first", FIRST), ("0003_third", THIRD)]);
        let ended = place.migrate("apply", &[]);
        assert_eq!(ended.code, Some(1), "{}", ended.seen());
        assert_eq!(place.migrate("status", &[]).stdout, "applied 0001_first\nmissing 0003_third (1 statement done)\n");
        let mut own = place.own();
        place.run(&mut own, "CREATE TABLE late (id bigint)");
        let ended = place.migrate("apply", &[]);
        assert_eq!(ended.code, Some(0), "{}", ended.seen());
        assert_eq!(place.number(&mut own, "SELECT count(*) FROM log"), 1, "{dialect}");
        assert_eq!(place.number(&mut own, "SELECT count(*) FROM late"), 1, "{dialect}");
    }
}

#[test]
fn several_at_once_apply_each_migration_once() {
    for dialect in ["sqlite", "pg"] {
        let third =
            "-- diglot: no-transaction\nINSERT INTO log VALUES ('third');\nINSERT INTO log VALUES ('fourth');\n";
        let place = Place::new(dialect, &[("0001_first", FIRST), ("0002_second", SECOND), ("0003_third", third)]);
        let children: Vec<Child> = (0..4).map(|_| place.spawn()).collect();
        let ended: Vec<Ended> =
            children.into_iter().map(|child| Ended::of(child.wait_with_output().unwrap())).collect();
        assert!(ended.iter().all(|ended| ended.code == Some(0)), "{ended:#?}");
        assert_eq!(place.number(&mut place.own(), "SELECT count(*) FROM log"), 3, "{dialect}");
        let told = ended.iter().map(|ended| ended.stderr.matches("has run").count()).sum::<usize>();
        assert_eq!(told, 3, "{ended:#?}");
    }
}

#[test]
fn a_lock_is_waited_for_so_often_and_no_longer() {
    for (dialect, hold) in [("sqlite", "BEGIN IMMEDIATE"), ("pg", "BEGIN; LOCK TABLE job IN ACCESS SHARE MODE")] {
        let place = Place::new(dialect, &[("0001_first", FIRST)]);
        assert_eq!(place.migrate("apply", &[]).code, Some(0));
        place.project.write(&format!("schema/{dialect}/0002_second.sql"), SECOND);
        let mut own = place.own();
        place.run(&mut own, hold);
        let ended = place.migrate("apply", &["--attempts", "2"]);
        assert_eq!(ended.code, Some(1), "{}", ended.seen());
        assert!(ended.stderr.contains("in use 2 times"), "{}", ended.seen());
        place.run(&mut own, "ROLLBACK");
        assert_eq!(place.migrate("apply", &[]).code, Some(0));
        assert_eq!(place.number(&mut own, "SELECT count(*) FROM log"), 1, "{dialect}");
    }
}

/// Programs at work on one table, each with a count of what it has done.
struct Workers {
    done: Arc<Vec<AtomicU64>>,
    are_over: Arc<AtomicBool>,
    tasks: Vec<JoinHandle<Duration>>,
}

impl Workers {
    fn start(place: &Place, count: usize) -> Self {
        let done: Arc<Vec<AtomicU64>> = Arc::new((0..count).map(|_| AtomicU64::new(0)).collect());
        let are_over = Arc::new(AtomicBool::new(false));
        let tasks = (0..count).map(|worker| {
            let (done, are_over, url) = (Arc::clone(&done), Arc::clone(&are_over), place.url.clone());
            place.runtime.spawn(async move {
                let mut own = PgConnection::connect(&url).await.unwrap();
                let id = i64::try_from(worker).unwrap();
                let mut longest = Duration::ZERO;
                while !are_over.load(Ordering::Relaxed) {
                    let start = Instant::now();
                    let claim = sqlx::query("UPDATE job SET id = id WHERE id = $1").bind(id).persistent(false);
                    assert_eq!(claim.execute(&mut own).await.unwrap().rows_affected(), 1);
                    longest = longest.max(start.elapsed());
                    done[worker].fetch_add(1, Ordering::Relaxed);
                }
                longest
            })
        });
        let tasks = tasks.collect();
        Self { done, are_over, tasks }
    }

    /// Waits until each of them has done more than now.
    fn go_on(&self) {
        let now: Vec<u64> = self.done.iter().map(|done| done.load(Ordering::Relaxed)).collect();
        while self.done.iter().zip(&now).any(|(done, before)| done.load(Ordering::Relaxed) <= before + 1) {
            std::thread::yield_now();
        }
    }

    /// What they have done, and how long one of them waited at most.
    fn end(self, place: &Place) -> (u64, Duration) {
        self.are_over.store(true, Ordering::Relaxed);
        let longest = self.tasks.into_iter().map(|task| place.runtime.block_on(task).unwrap()).max();
        (self.done.iter().map(|done| done.load(Ordering::Relaxed)).sum(), longest.unwrap_or_default())
    }
}

/// A dump that has its locks and keeps them, since nobody reads more of it than a pipe holds.
fn held_dump(place: &Place, watcher: &mut Own) -> Option<Child> {
    let mut command = Command::new("pg_dump");
    command.args(["--dbname", &place.url]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(mut dump) = command.spawn() else {
        eprintln!("SKIPPED: pg_dump is not installed");
        return None;
    };
    let holds = "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE application_name = 'pg_dump' AND relation = 'job'::regclass AND mode = 'AccessShareLock' AND granted";
    while place.number(watcher, holds) == 0 {
        if dump.try_wait().unwrap().is_some() {
            let ended = Ended::of(dump.wait_with_output().unwrap());
            assert!(ended.stderr.contains("server version mismatch"), "{}", ended.seen());
            eprintln!("SKIPPED: the pg_dump that is installed is older than the server");
            return None;
        }
    }
    Some(dump)
}

#[test]
fn beside_a_dump_a_migration_waits_and_workers_go_on() {
    let place = Place::new("pg", &[("0001_first", FIRST)]);
    assert_eq!(place.migrate("apply", &[]).code, Some(0));
    let mut watcher = place.own();
    place.run(&mut watcher, "INSERT INTO job SELECT generate_series(0, 999)");
    place.run(&mut watcher, "INSERT INTO log SELECT repeat('x', 1000) FROM generate_series(1, 1000)");
    place.project.write("schema/pg/0002_second.sql", SECOND);
    let Some(dump) = held_dump(&place, &mut watcher) else { return };
    let workers = Workers::start(&place, 16);
    workers.go_on();
    let mut child = place.spawn();
    let waits = "SELECT count(*) FROM pg_locks WHERE relation = 'job'::regclass AND mode = 'AccessExclusiveLock' AND NOT granted";
    for _ in 0..ATTEMPTS {
        while place.number(&mut watcher, waits) == 0 {
            assert!(child.try_wait().unwrap().is_none(), "it has ended");
        }
        while place.number(&mut watcher, waits) > 0 {}
        workers.go_on();
    }
    let columns = "SELECT count(*) FROM pg_attribute WHERE attrelid = 'job'::regclass AND attname = 'lane'";
    assert_eq!(place.number(&mut watcher, columns), 0);
    let dumped = Ended::of(dump.wait_with_output().unwrap());
    assert_eq!(dumped.code, Some(0), "{}", dumped.seen());
    let ended = Ended::of(child.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(0), "{}", ended.seen());
    workers.go_on();
    assert_eq!(place.number(&mut watcher, columns), 1);
    let (claims, longest) = workers.end(&place);
    println!("{ATTEMPTS} attempts, {claims} claims of 16 workers, the longest in {longest:?}");
}

#[test]
fn a_process_that_was_killed_is_followed_by_one_that_goes_on() {
    let place = Place::new("pg", &[("0001_first", FIRST)]);
    assert_eq!(place.migrate("apply", &[]).code, Some(0));
    let text = "-- diglot: no-transaction\nINSERT INTO log VALUES ('third');\nCREATE INDEX CONCURRENTLY job_lane ON job (id);\n";
    place.project.write("schema/pg/0003_third.sql", text);
    let mut own = place.own();
    // An index that is made beside writers waits for those who read since before.
    place.run(&mut own, "BEGIN; INSERT INTO job VALUES (7)");
    let mut child = place.spawn();
    let mut other = place.own();
    let waits = "SELECT count(*) FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid \
        WHERE c.relname = 'job_lane' AND NOT i.indisvalid";
    while place.number(&mut other, waits) == 0 {
        assert!(child.try_wait().unwrap().is_none(), "it has ended");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // The server notices later than the system that the process is gone.
    place.run(
        &mut other,
        "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity \
        WHERE datname = current_database() AND query LIKE 'CREATE INDEX%'",
    );
    place.run(&mut own, "COMMIT");
    assert_eq!(place.number(&mut other, waits), 1);
    let ended = place.migrate("apply", &[]);
    assert_eq!(ended.code, Some(0), "{}", ended.seen());
    assert_eq!(place.number(&mut other, waits), 0);
    assert_eq!(place.number(&mut other, "SELECT count(*) FROM log"), 1);
    assert_eq!(place.number(&mut other, "SELECT count(*) FROM pg_class WHERE relname = 'job_lane'"), 1);
}

#[test]
fn what_other_tools_have_applied_is_not_applied_again() {
    let ledgers = [
        (
            "refinery",
            "CREATE TABLE refinery_schema_history (version int4 PRIMARY KEY, name varchar(255), applied_on varchar(255), \
          checksum varchar(255)); INSERT INTO refinery_schema_history VALUES (1, 'first', 'then', '5')",
        ),
        (
            "goose",
            "CREATE TABLE goose_db_version (id integer PRIMARY KEY, version_id bigint NOT NULL, is_applied boolean NOT NULL); \
          INSERT INTO goose_db_version VALUES (1, 0, true), (2, 1, true), (3, 2, true), (4, 2, false)",
        ),
        (
            "golang-migrate",
            "CREATE TABLE schema_migrations (version bigint NOT NULL PRIMARY KEY, dirty boolean NOT NULL); \
          INSERT INTO schema_migrations VALUES (1, false)",
        ),
    ];
    for dialect in ["sqlite", "pg"] {
        for (tool, ledger) in ledgers {
            let place = Place::new(dialect, &[("0001_first", FIRST), ("0002_second", SECOND)]);
            let mut own = place.own();
            place.run(&mut own, FIRST);
            place.run(&mut own, ledger);
            let status = place.migrate("status", &[]);
            assert_eq!(status.stdout, "applied 0001_first\nmissing 0002_second\n", "{tool}: {}", status.seen());
            assert!(status.stderr.ends_with(&format!("1 migration missing; ledgers: {tool}\n")), "{}", status.seen());
            assert_eq!(place.migrate("apply", &[]).code, Some(0), "{tool} on {dialect}");
            assert_eq!(place.number(&mut own, "SELECT count(*) FROM log"), 1, "{tool} on {dialect}");
            assert_eq!(place.migrate("status", &[]).code, Some(0), "{tool} on {dialect}");
        }
        let place = Place::new(dialect, &[("0001_first", FIRST)]);
        let mut own = place.own();
        place.run(&mut own, "CREATE TABLE schema_migrations (version bigint, dirty boolean); INSERT INTO schema_migrations VALUES (1, true)");
        let ended = place.migrate("apply", &[]);
        assert!(ended.stderr.contains("golang-migrate left version 1 half done"), "{}", ended.seen());
    }
}

#[test]
fn a_dry_run_shows_statements_and_locks_and_leaves_nothing() {
    let place = Place::new("pg", &[("0001_first", FIRST)]);
    assert_eq!(place.migrate("apply", &[]).code, Some(0));
    let text = "-- diglot: no-transaction\nALTER TABLE job ADD COLUMN lane text;\nCREATE INDEX CONCURRENTLY job_lane ON job (lane);\n\
        CREATE TABLE late (id bigint);\nINSERT INTO late VALUES (1);\n";
    place.project.write("schema/pg/0003_third.sql", text);
    let ended = place.migrate("dry-run", &[]);
    assert_eq!(
        ended.stdout,
        "-- migration 0003_third\nALTER TABLE job ADD COLUMN lane text;\n-- locks job: AccessExclusiveLock\n\
         CREATE INDEX CONCURRENTLY job_lane ON job (lane);\n-- runs outside of a transaction, and was not tried\n\
         CREATE TABLE late (id bigint);\nINSERT INTO late VALUES (1);\n",
        "{}",
        ended.seen()
    );
    let shown = blocks("docs/migrating.md", "text");
    assert!(shown.len() == 1 && ended.stdout.starts_with(&shown[0]), "{shown:?}\n{}", ended.seen());
    assert_eq!(place.number(&mut place.own(), "SELECT count(*) FROM pg_class WHERE relname = 'late'"), 0);
    let place = Place::new("sqlite", &[("0002_second", SECOND)]);
    place.own();
    let ended = place.migrate("dry-run", &[]);
    assert_eq!(ended.stdout, format!("-- migration 0002_second\n{SECOND}"), "{}", ended.seen());
}

//! What the rules about locks refuse, run on a server: it goes wrong there, and what they accept goes well.
//!
//! Every text is compiled first, so that what is refused is what is run. Needs the programs of a Postgres server.

use std::collections::BTreeSet;
use std::time::Duration;

use diglot::config::Config;
use diglot::source::{SourceFile, Sources};
use diglot::{Inputs, compile};
use sqlx::postgres::{PgConnection, PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, Row as _};

use crate::project::postgres;

const SCHEMA: &str = "
CREATE TABLE flow (id bigint PRIMARY KEY, state text NOT NULL);
CREATE TABLE job (id bigint PRIMARY KEY, flow_id bigint NOT NULL, state text NOT NULL, due_ms bigint NOT NULL);
CREATE TABLE place (job_id bigint PRIMARY KEY, lane text NOT NULL);
CREATE TABLE permit (job_id bigint PRIMARY KEY, worker text NOT NULL);
CREATE FUNCTION place_keep() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM place WHERE job_id = OLD.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER job_place AFTER UPDATE ON job FOR EACH ROW WHEN (OLD.state = 'waiting') EXECUTE FUNCTION place_keep();
";
const ROWS: &str = "
INSERT INTO flow VALUES (1, 'open');
INSERT INTO job VALUES (1, 1, 'waiting', 10), (2, 1, 'waiting', 20);
INSERT INTO place VALUES (1, 'a'), (2, 'a');
INSERT INTO permit VALUES (1, 'w');
";

/// The rules about locks that statements break, each called `case_NUMBER`.
fn refused(settings: &str, statements: &[&str]) -> BTreeSet<&'static str> {
    let mut sources = Sources::default();
    sources.add(SourceFile::new("schema/pg/0001_all.sql", SCHEMA));
    let text = |(at, sql): (usize, &&str)| {
        let kind = if sql.starts_with("SELECT") { "many" } else { "exec" };
        format!("-- name: case_{at} :{kind}\n-- only: pg — it is about locks\n{sql};\n")
    };
    let texts: String = statements.iter().enumerate().map(text).collect();
    sources.add(SourceFile::new("sql/pg/case.sql", texts));
    let config = Config::parse(settings, "diglot.toml").unwrap();
    let findings = compile(&Inputs { config, sources, ..Inputs::default() }).diagnostics;
    findings.iter().map(|finding| finding.rule).collect()
}

/// A database of its own with the schema and some rows, and a connection to look from.
async fn database(name: &str) -> PgPool {
    let mut server = PgConnection::connect(postgres()).await.unwrap();
    server.execute(AssertSqlSafe(format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))).await.unwrap();
    server.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await.unwrap();
    let (before, _) = postgres().rsplit_once('/').unwrap();
    let pool = PgPoolOptions::new().max_connections(4).connect(&format!("{before}/{name}")).await.unwrap();
    pool.execute(SCHEMA).await.unwrap();
    pool.execute(ROWS).await.unwrap();
    pool
}

async fn until_somebody_waits(pool: &PgPool) {
    let waiting = "SELECT 1 FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while sqlx::query(waiting).fetch_optional(pool).await.unwrap().is_none() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// What became of two transactions of two statements each, of which the second one begins when the first has run one
/// statement, and the first goes on when the second one waits or has run one.
async fn crossed(pool: &PgPool, first: [&str; 2], second: [&str; 2]) -> [Result<(), String>; 2] {
    let [mut one, mut other] = [pool.begin().await.unwrap(), pool.begin().await.unwrap()];
    one.execute(AssertSqlSafe(first[0])).await.unwrap();
    let (ran, has_run) = tokio::sync::oneshot::channel();
    let second = second.map(str::to_owned);
    let task = tokio::spawn(async move {
        let [start, end] = second;
        other.execute(AssertSqlSafe(start)).await?;
        let _ = ran.send(());
        other.execute(AssertSqlSafe(end)).await?;
        other.commit().await
    });
    tokio::select! {
        _ = has_run => until_somebody_waits(pool).await,
        () = until_somebody_waits(pool) => {}
    }
    let ended = one.execute(AssertSqlSafe(first[1])).await;
    let ended = match ended {
        Ok(_) => one.commit().await,
        Err(error) => Err(error),
    };
    [ended, task.await.unwrap()].map(|ended| ended.map_err(|error| error.to_string()))
}

#[tokio::test]
async fn what_lock_order_refuses_deadlocks_and_what_it_accepts_does_not() {
    const FLOW: &str = "UPDATE flow SET state = 'shut' WHERE id = 1";
    const JOB: &str = "UPDATE job SET state = 'done' WHERE id = 1";
    let pool = database("locks_order").await;
    let lists = "[locks]\norder = [\"flow\", \"job\"]\n[transactions]\n";
    let up = format!("{lists}up = [\"case_1\", \"case_0\"]\n");
    let down = format!("{lists}down = [\"case_0\", \"case_1\"]\n");
    assert!(refused(&up, &[FLOW, JOB]).contains("lock-order"));
    assert_eq!(refused(&down, &[FLOW, JOB]), BTreeSet::new());

    let crossing = crossed(&pool, [FLOW, JOB], [JOB, FLOW]).await;
    let lost: Vec<&String> = crossing.iter().filter_map(|ended| ended.as_ref().err()).collect();
    assert!(matches!(lost.as_slice(), [error] if error.contains("deadlock detected")), "{crossing:?}");
    assert_eq!(crossed(&pool, [FLOW, JOB], [FLOW, JOB]).await, [Ok(()), Ok(())]);
}

/// The other side of the circle is a trigger.
#[tokio::test]
async fn a_place_in_a_queue_that_is_locked_before_its_job_deadlocks() {
    const PLACE: &str = "SELECT lane FROM place WHERE job_id = 1 FOR UPDATE";
    const JOB: &str = "SELECT state FROM job WHERE id = 1 FOR UPDATE";
    const END: &str = "UPDATE job SET state = 'done' WHERE id = 1";
    let pool = database("locks_trigger").await;
    let end = "[locks]\n[transactions]\nend = [\"case_1\", \"case_2\"]\n";
    let both = format!("{end}take = [\"case_0\", \"case_2\"]\n");
    assert!(refused(&both, &[PLACE, JOB, END]).contains("lock-order"));
    assert_eq!(refused(end, &[PLACE, JOB, END]), BTreeSet::new());

    let crossing = crossed(&pool, [PLACE, END], [JOB, END]).await;
    let lost: Vec<&String> = crossing.iter().filter_map(|ended| ended.as_ref().err()).collect();
    assert!(matches!(lost.as_slice(), [error] if error.contains("deadlock detected")), "{crossing:?}");

    let pool = database("locks_trigger").await;
    assert_eq!(crossed(&pool, [JOB, END], [JOB, END]).await, [Ok(()), Ok(())]);
}

#[tokio::test]
async fn what_stale_fence_refuses_answers_by_a_row_that_is_gone() {
    const GATE: &str = "SELECT job.id FROM job JOIN permit ON permit.job_id = job.id
                         WHERE job.id = 1 AND permit.job_id = 1 AND permit.worker = 'w' FOR UPDATE OF job";
    let both = format!("{GATE}, permit");
    assert_eq!(refused("[locks]", &[GATE]), BTreeSet::from(["stale-fence"]));
    assert_eq!(refused("[locks]", &[&both]), BTreeSet::new());

    for (gate, passes) in [(GATE, 1), (both.as_str(), 0)] {
        let pool = database("locks_fence").await;
        let mut holder = pool.begin().await.unwrap();
        holder.execute("SELECT 1 FROM job WHERE id = 1 FOR UPDATE").await.unwrap();
        let (gated, gate) = (pool.clone(), gate.to_owned());
        let asking =
            tokio::spawn(async move { sqlx::query(AssertSqlSafe(gate)).fetch_all(&gated).await.unwrap().len() });
        until_somebody_waits(&pool).await;
        holder.execute("DELETE FROM permit WHERE job_id = 1").await.unwrap();
        holder.commit().await.unwrap();
        assert_eq!(asking.await.unwrap(), passes);
    }
}

#[tokio::test]
async fn what_unbounded_wait_refuses_waits_for_one_row_and_does_nothing_for_the_others() {
    const DUE: &str = "SELECT id FROM job WHERE due_ms < 100 ORDER BY id LIMIT 10 FOR UPDATE";
    let skips = format!("{DUE} SKIP LOCKED");
    assert_eq!(refused("[locks]", &[DUE]), BTreeSet::from(["unbounded-wait"]));
    assert_eq!(refused("[locks]", &[&skips]), BTreeSet::new());

    let pool = database("locks_sweep").await;
    let mut holder = pool.begin().await.unwrap();
    holder.execute("SELECT 1 FROM job WHERE id = 1 FOR UPDATE").await.unwrap();
    let mut sweep = pool.begin().await.unwrap();
    let free = sqlx::query(AssertSqlSafe(skips)).fetch_all(&mut *sweep).await.unwrap();
    assert_eq!(free.iter().map(|row| row.get::<i64, _>(0)).collect::<Vec<_>>(), [2]);
    sweep.rollback().await.unwrap();
    let mut sweep = pool.begin().await.unwrap();
    sweep.execute("SET LOCAL lock_timeout = '200ms'").await.unwrap();
    let waited = sqlx::query(DUE).fetch_all(&mut *sweep).await.unwrap_err();
    assert!(waited.to_string().contains("lock timeout"), "{waited}");
}

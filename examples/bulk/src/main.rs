//! Prints how many rows a second the list form and the single-row form of five statements write and read, on SQLite and,
//! with a URL, on Postgres; and the same of an INSERT that is written by hand for the driver.
//!
//! ```text
//! cargo run --release -p bulk [-- POSTGRES_URL]
//! ```

use std::io::Write as _;
use std::time::Instant;

use bulk::HoldKey;
use bulk::statements::{Statements, job};
use sqlx::{Connection, PgConnection, SqliteConnection};
use uuid::Uuid;

/// How many rows a call gets.
const SIZES: [usize; 4] = [1, 10, 100, 10_000];

/// The statements that are measured.
const NAMES: [&str; 5] = ["insert", "update", "read", "upsert", "delete"];

fn row(id: Uuid) -> job::JobAddAllGiven {
    let doc = serde_json::json!({"kind": "mail"});
    job::JobAddAllGiven { id, part: 1, active: true, doc, note: None, score: Some(0.5), payload: None, size: Some(3) }
}

/// One list form: the seconds that each of the five took.
async fn in_lists(db: &mut impl Statements, ids: &[Uuid]) -> Result<[f64; 5], sqlx::Error> {
    let rows: Vec<_> = ids.iter().map(|id| row(*id)).collect();
    let notes: Vec<_> = ids.iter().map(|id| job::JobNoteAllGiven { id: *id, note: None, epoch: 0 }).collect();
    let reads: Vec<_> = ids.iter().map(|id| job::JobReadAllGiven { id: *id }).collect();
    let holds: Vec<_> = (0_i64..).zip(ids).map(|(n, id)| hold(*id, n)).collect();
    let dels: Vec<_> = ids.iter().map(|id| job::JobDeleteAllGiven { id: *id }).collect();
    let mut took = [0.0; 5];
    let start = Instant::now();
    db.job_add_all(&job::JobAddAllParams { lane: "a".into() }, &rows).await?;
    took[0] = start.elapsed().as_secs_f64();
    let start = Instant::now();
    db.job_note_all(&notes).await?;
    took[1] = start.elapsed().as_secs_f64();
    let start = Instant::now();
    db.job_read_all(&job::JobReadAllParams { from: 0 }, &reads).await?;
    took[2] = start.elapsed().as_secs_f64();
    let start = Instant::now();
    db.hold_add_all(&holds).await?;
    took[3] = start.elapsed().as_secs_f64();
    let start = Instant::now();
    db.job_delete_all(&dels).await?;
    took[4] = start.elapsed().as_secs_f64();
    Ok(took)
}

fn hold(id: Uuid, n: i64) -> job::HoldAddAllGiven {
    job::HoldAddAllGiven { hold: HoldKey { part: 1, word: id.to_string() }, n }
}

/// The same by the statements for one row, whose calls wait for one another.
async fn one_by_one(db: &mut impl Statements, ids: &[Uuid]) -> Result<[f64; 5], sqlx::Error> {
    let mut took = [0.0; 5];
    let start = Instant::now();
    for id in ids {
        let job::JobAddAllGiven { id, part, active, doc, score, size, .. } = row(*id);
        db.job_add(&job::JobAddParams { id, part, lane: "a".into(), active, doc, score, size }).await?;
    }
    took[0] = start.elapsed().as_secs_f64();
    let start = Instant::now();
    for id in ids {
        db.job_note(&job::JobNoteParams { id: *id, note: None, epoch: 0 }).await?;
    }
    took[1] = start.elapsed().as_secs_f64();
    let start = Instant::now();
    for id in ids {
        db.job_read(&job::JobReadParams { id: *id, from: 0 }).await?;
    }
    took[2] = start.elapsed().as_secs_f64();
    let start = Instant::now();
    for (n, id) in (0_i64..).zip(ids) {
        let job::HoldAddAllGiven { hold, n } = hold(*id, n);
        db.hold_add(&job::HoldAddParams { hold, n }).await?;
    }
    took[3] = start.elapsed().as_secs_f64();
    let start = Instant::now();
    for id in ids {
        db.job_delete(&job::JobDeleteParams { id: *id }).await?;
    }
    took[4] = start.elapsed().as_secs_f64();
    Ok(took)
}

/// The driver's own way to insert rows on SQLite, written by hand: one prepared statement, row by row.
async fn prepared(db: &mut SqliteConnection, ids: &[Uuid]) -> Result<f64, sqlx::Error> {
    let rows: Vec<_> = ids.iter().map(|id| row(*id)).collect();
    let start = Instant::now();
    for row in &rows {
        let text = "INSERT INTO job (id, part, lane, active, doc, note, score, payload, size, epoch) \
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 0)";
        let query = sqlx::query(text).bind(row.id).bind(row.part).bind("a").bind(row.active).bind(row.doc.to_string());
        let query = query.bind(&row.note).bind(row.score).bind(&row.payload).bind(row.size);
        query.execute(&mut *db).await?;
    }
    Ok(start.elapsed().as_secs_f64())
}

/// The same on Postgres: one INSERT from arrays.
async fn from_arrays(db: &mut PgConnection, ids: &[Uuid]) -> Result<f64, sqlx::Error> {
    let rows: Vec<_> = ids.iter().map(|id| row(*id)).collect();
    let start = Instant::now();
    let text = "INSERT INTO job (id, part, lane, active, doc, note, score, payload, size, epoch) \
        SELECT id, part, $9, active, doc, note, score, payload, size, 0 \
          FROM unnest($1::uuid[], $2::int2[], $3::bool[], $4::jsonb[], $5::text[], $6::float8[], $7::bytea[], $8::int4[]) \
            AS row(id, part, active, doc, note, score, payload, size)";
    let query = sqlx::query(text)
        .bind(rows.iter().map(|row| row.id).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.part).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.active).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.doc.clone()).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.note.clone()).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.score).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.payload.clone()).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.size).collect::<Vec<_>>())
        .bind("a");
    query.execute(&mut *db).await?;
    Ok(start.elapsed().as_secs_f64())
}

/// As many rows of each size, so that small lists are measured as well as large ones.
fn rounds(size: usize) -> usize {
    (1_000 / size).clamp(3, 300)
}

async fn measure<D: Statements>(
    title: &str,
    db: &mut D,
    own: impl AsyncFn(&mut D, &[Uuid]) -> Result<f64, sqlx::Error>,
) -> Result<(), sqlx::Error> {
    let mut out = std::io::stdout();
    for size in SIZES {
        let ids = || -> Vec<Uuid> { std::iter::repeat_with(Uuid::new_v4).take(size).collect() };
        let (mut list, mut single, mut by_hand) = ([0.0; 5], [0.0; 5], 0.0);
        for _ in 0..rounds(size) {
            let (in_lists, alone) = (in_lists(db, &ids()).await?, one_by_one(db, &ids()).await?);
            (0..5).for_each(|at| (list[at], single[at]) = (list[at] + in_lists[at], single[at] + alone[at]));
            let ids = ids();
            by_hand += own(db, &ids).await?;
            let gone: Vec<_> = ids.into_iter().map(|id| job::JobDeleteAllGiven { id }).collect();
            db.job_delete_all(&gone).await?;
        }
        let per_second = |took: f64| (size * rounds(size)) as f64 / took;
        for (at, name) in NAMES.iter().enumerate() {
            // A reader that closed the pipe has seen enough.
            let _ = write!(
                out,
                "{title:<8} {name:<7} {size:>6} rows: list {:>9.0} rows/s, one by one {:>9.0} rows/s",
                per_second(list[at]),
                per_second(single[at])
            );
            let end = if at == 0 { format!(", by hand {:>9.0} rows/s", per_second(by_hand)) } else { String::new() };
            let _ = writeln!(out, "{end}");
        }
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), sqlx::Error> {
    let mut sqlite = SqliteConnection::connect(":memory:").await?;
    bulk::prepare_sqlite(&mut sqlite).await?;
    measure("SQLite", &mut *sqlite.begin().await?, prepared).await?;
    if let Some(url) = std::env::args().nth(1) {
        let mut pg = PgConnection::connect(&url).await?;
        bulk::prepare_pg(&mut pg).await?;
        measure("Postgres", &mut *pg.begin().await?, from_arrays).await?;
    }
    Ok(())
}

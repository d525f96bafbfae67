//! Makes calls, generated ones or the same written by hand: `cost generated 1000`, `cost by-hand 1000`, and the same by
//! another driver, `cost rusqlite-generated 1000`, `cost rusqlite-by-hand 1000`.
//!
//! `scripts/cost` counts the instructions of all.

mod by_rusqlite;
mod statements;

use sqlx::sqlite::SqliteRow;
use sqlx::{Connection as _, Row as _, SqliteConnection};
use statements::{Statements as _, note};
use uuid::Uuid;

type Failure = Box<dyn std::error::Error>;

/// How many notes there are; all of them are read by every call.
const NOTES: i64 = 10;

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let (Some(way), Some(calls)) = (arguments.next(), arguments.next()) else {
        return Err("say `generated` or `by-hand`, and how many calls".into());
    };
    let calls: i64 = calls.parse()?;
    if let Some(way) = way.strip_prefix("rusqlite-") {
        assert_eq!(by_rusqlite::calls(way == "by-hand", calls)?, calls * NOTES, "every call reads every note");
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(async {
        let mut connection = SqliteConnection::connect("sqlite::memory:").await?;
        sqlx::raw_sql(include_str!("../schema/sqlite/0001_note.sql")).execute(&mut connection).await?;
        for number in 0..NOTES {
            let id = Uuid::from_u64_pair(0, number as u64);
            let note = note::NoteAddParams { id, title: "a note".into(), body: String::new(), created_at_ms: number };
            connection.note_add(&note).await?;
        }
        let read = match way.as_str() {
            "generated" => generated(&mut connection, calls).await?,
            "by-hand" => by_hand(&mut connection, calls).await?,
            _ => return Err("say `generated` or `by-hand`".into()),
        };
        assert_eq!(read, calls * NOTES, "every call reads every note");
        Ok(())
    })
}

async fn generated(connection: &mut SqliteConnection, calls: i64) -> Result<i64, sqlx::Error> {
    let mut read = 0;
    for call in 0..calls {
        let id = Uuid::from_u64_pair(0, (call % NOTES) as u64);
        connection.note_pin(&note::NotePinParams { id }).await?;
        let notes = connection.note_recent(&note::NoteRecentParams { most: NOTES }).await?;
        read += notes.iter().filter(|note| !note.title.is_empty()).count() as i64;
    }
    Ok(read)
}

async fn by_hand(connection: &mut SqliteConnection, calls: i64) -> Result<i64, sqlx::Error> {
    let mut read = 0;
    for call in 0..calls {
        let id = Uuid::from_u64_pair(0, (call % NOTES) as u64);
        sqlx::query("UPDATE note SET pinned = true WHERE id = ?1").bind(id).execute(&mut *connection).await?;
        let recent = "SELECT id, title, body, pinned, created_at_ms FROM note \
                      ORDER BY pinned DESC, created_at_ms DESC, id LIMIT ?1";
        let notes = sqlx::query(recent).bind(NOTES).try_map(note).fetch_all(&mut *connection).await?;
        read += notes.iter().filter(|note| !note.title.is_empty()).count() as i64;
    }
    Ok(read)
}

fn note(row: SqliteRow) -> Result<note::NoteRecentRow, sqlx::Error> {
    Ok(note::NoteRecentRow {
        id: row.try_get(0)?,
        title: row.try_get(1)?,
        body: row.try_get(2)?,
        pinned: row.try_get(3)?,
        created_at_ms: row.try_get(4)?,
    })
}

//! The same calls by rusqlite: generated ones, and written by hand.

use rusqlite::{Connection, Row, params};
use statements::{note, sqlite};
use uuid::Uuid;

use crate::{Failure, NOTES};

#[allow(unused_imports)]
mod statements {
    include!(concat!(env!("OUT_DIR"), "/rusqlite.rs"));
}

/// Makes the calls, and says how many notes they have read.
pub fn calls(by_hand: bool, calls: i64) -> Result<i64, Failure> {
    let connection = Connection::open_in_memory()?;
    connection.execute_batch(include_str!("../schema/sqlite/0001_note.sql"))?;
    for number in 0..NOTES {
        let id = Uuid::from_u64_pair(0, number as u64);
        let note = note::NoteAddParams { id, title: "a note".into(), body: String::new(), created_at_ms: number };
        sqlite::note_add(&connection, &note)?;
    }
    if by_hand { self::by_hand(&connection, calls) } else { generated(&connection, calls) }
}

fn generated(connection: &Connection, calls: i64) -> Result<i64, Failure> {
    let mut read = 0;
    for call in 0..calls {
        let id = Uuid::from_u64_pair(0, (call % NOTES) as u64);
        sqlite::note_pin(connection, &note::NotePinParams { id })?;
        let notes = sqlite::note_recent(connection, &note::NoteRecentParams { most: NOTES })?;
        read += notes.iter().filter(|note| !note.title.is_empty()).count() as i64;
    }
    Ok(read)
}

fn by_hand(connection: &Connection, calls: i64) -> Result<i64, Failure> {
    let mut read = 0;
    for call in 0..calls {
        let id = Uuid::from_u64_pair(0, (call % NOTES) as u64);
        let pin = "UPDATE note SET pinned = true WHERE id = ?1";
        connection.prepare_cached(pin)?.execute(params![id.as_bytes().as_slice()])?;
        let recent = "SELECT id, title, body, pinned, created_at_ms FROM note \
                      ORDER BY pinned DESC, created_at_ms DESC, id LIMIT ?1";
        let mut statement = connection.prepare_cached(recent)?;
        let notes = statement.query_map(params![NOTES], note)?.collect::<Result<Vec<_>, _>>()?;
        read += notes.iter().filter(|note| !note.title.is_empty()).count() as i64;
    }
    Ok(read)
}

fn note(row: &Row<'_>) -> rusqlite::Result<note::NoteRecentRow> {
    Ok(note::NoteRecentRow {
        id: Uuid::from_bytes(row.get(0)?),
        title: row.get(1)?,
        body: row.get(2)?,
        pinned: row.get(3)?,
        created_at_ms: row.get(4)?,
    })
}

//! Shows the first pages of some tickets, on SQLite and, with a URL, on Postgres.
//!
//! ```text
//! cargo run -p search [-- POSTGRES_URL]
//! ```

use std::io::Write as _;

use sea_query::Order;
use search::statements::either::Connection;
use search::statements::tables::TicketKey;
use search::statements::{Statements, TicketState, ticket};
use search::{Filters, Place};
use sqlx::{Connection as _, PgConnection, SqliteConnection};
use uuid::Uuid;

/// Writes tickets, then reads the urgent ones that are not solved, three to a page.
async fn show(title: &str, mut connection: Connection<'_>) -> Result<(), sqlx::Error> {
    let states = [TicketState::New, TicketState::Open, TicketState::Waiting, TicketState::Solved];
    for (number, state) in (1_u8..=20).zip(states.into_iter().cycle()) {
        let add = ticket::TicketAddParams {
            id: Uuid::from_u128(u128::from(number)),
            number: i64::from(number),
            title: format!("The printer of room {number} is out of paper"),
            team: "devices".to_owned(),
            state,
            priority: i16::from(number % 4),
            escalated: number.is_multiple_of(5),
            assignee: None,
            opened_ms: i64::from(number) * 60_000,
            due_ms: number.is_multiple_of(3).then(|| i64::from(100 - number) * 60_000),
            satisfaction: None,
            doc: serde_json::json!({}),
        };
        connection.ticket_add(&add).await?;
    }
    let filters = Filters {
        states: vec![TicketState::New, TicketState::Open, TicketState::Waiting],
        priority: Some(1),
        ..Filters::default()
    };
    let mut place = Place { by: TicketKey::DueMs, order: Order::Asc, after: None, size: 3 };
    let mut out = std::io::stdout();
    // A reader that closed the pipe has seen enough.
    let _ = writeln!(out, "{title}: {} tickets", search::ticket_count(&mut connection, &filters).await?);
    loop {
        let tickets = search::tickets(&mut connection, &filters, &place).await?;
        let Some(last) = tickets.last() else { return Ok(()) };
        let numbers: Vec<String> = tickets.iter().map(|row| format!("{} due {:?}", row.number, row.due_ms)).collect();
        let _ = writeln!(out, "  {}", numbers.join(", "));
        place.after = Some(last.clone());
    }
}

#[tokio::main]
async fn main() -> Result<(), sqlx::Error> {
    let mut sqlite = SqliteConnection::connect(":memory:").await?;
    search::prepare_sqlite(&mut sqlite).await?;
    show("SQLite", Connection::from(&mut sqlite)).await?;
    if let Some(url) = std::env::args().nth(1) {
        let mut pg = PgConnection::connect(&url).await?;
        search::prepare_pg(&mut pg).await?;
        show("Postgres", Connection::from(&mut pg)).await?;
    }
    Ok(())
}

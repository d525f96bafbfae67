//! Tickets of a help desk, and the page that looks for them: ten filters, each of them given or not, in an order of the
//! reader's choice. That is more shapes than anybody writes down, so sea-query builds the query, from the columns, values
//! and rows that diglot generates of the table `ticket`.

/// What diglot generates from `schema/` and the pages below `sql/`.
pub mod statements {
    include!(concat!(env!("OUT_DIR"), "/statements.rs"));
}

use sea_query::{Expr, ExprTrait as _, Func, Order, Query, SelectStatement};
use sqlx::{PgConnection, SqliteConnection, raw_sql};
use statements::TicketState;
use statements::tables::{On, Queries, Ticket, TicketKey, TicketRow, contains, page};
use uuid::Uuid;

/// Who works on a ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assignee {
    /// Nobody.
    Nobody,
    /// One person.
    Person(Uuid),
}

/// What a reader asks for. What is not given leaves its condition out.
#[derive(Debug, Clone, Default)]
pub struct Filters {
    /// One of these states; an empty list is no condition.
    pub states: Vec<TicketState>,
    /// The team's name.
    pub team: Option<String>,
    /// At least as urgent.
    pub priority: Option<i16>,
    /// Escalated or not.
    pub escalated: Option<bool>,
    /// Who works on it.
    pub assignee: Option<Assignee>,
    /// The title contains this, letter by letter.
    pub title: Option<String>,
    /// Opened then or later, in milliseconds since 1970.
    pub opened_from_ms: Option<i64>,
    /// Opened before.
    pub opened_before_ms: Option<i64>,
    /// Due before; what is never due is left out.
    pub due_before_ms: Option<i64>,
    /// At most as satisfied; what nobody judged is left out.
    pub satisfaction: Option<f64>,
}

/// The order of a page and where it begins.
#[derive(Debug, Clone)]
pub struct Place {
    /// The column to sort by. Tickets that have the same of it are in the order of their ids.
    pub by: TicketKey,
    /// In which direction; NULLs come last in both.
    pub order: Order,
    /// The last ticket of the page before.
    pub after: Option<TicketRow>,
    /// How many tickets a page has.
    pub size: u64,
}

/// The query of a page.
pub fn search(on: On, filters: &Filters, place: &Place) -> SelectStatement {
    let mut query = Ticket::select();
    query.limit(place.size);
    filter(&mut query, on, filters);
    let keys = [(place.by, place.order.clone()), (TicketKey::Id, Order::Asc)];
    let keys = keys.map(|(by, order)| match &place.after {
        Some(last) => by.key(on, order).after(last.value(on, by)),
        None => by.key(on, order),
    });
    page(&mut query, &keys);
    query
}

/// The query that counts what all pages have.
pub fn count(on: On, filters: &Filters) -> SelectStatement {
    let mut query = Query::select();
    query.expr(Func::count(column(Ticket::Id))).from(Ticket::Table);
    filter(&mut query, on, filters);
    query
}

/// The conditions of the filters that are given.
fn filter(query: &mut SelectStatement, on: On, filters: &Filters) {
    let states = || filters.states.iter().map(|state| Ticket::state(on, *state));
    let assignee = |wanted| match wanted {
        Assignee::Nobody => column(Ticket::Assignee).is_null(),
        Assignee::Person(id) => column(Ticket::Assignee).eq(Ticket::assignee(on, id)),
    };
    let given = [
        (!filters.states.is_empty()).then(|| column(Ticket::State).is_in(states())),
        filters.team.as_ref().map(|team| column(Ticket::Team).eq(Ticket::team(on, team))),
        filters.priority.map(|least| column(Ticket::Priority).gte(Ticket::priority(on, least))),
        filters.escalated.map(|escalated| column(Ticket::Escalated).eq(Ticket::escalated(on, escalated))),
        filters.assignee.map(assignee),
        filters.title.as_ref().map(|part| contains(on, column(Ticket::Title), part)),
        filters.opened_from_ms.map(|from| column(Ticket::OpenedMs).gte(Ticket::opened_ms(on, from))),
        filters.opened_before_ms.map(|before| column(Ticket::OpenedMs).lt(Ticket::opened_ms(on, before))),
        filters.due_before_ms.map(|before| column(Ticket::DueMs).lt(Ticket::due_ms(on, before))),
        filters.satisfaction.map(|most| column(Ticket::Satisfaction).lte(Ticket::satisfaction(on, most))),
    ];
    for condition in given {
        query.and_where_option(condition);
    }
}

fn column(column: Ticket) -> Expr {
    Expr::col((Ticket::Table, column))
}

/// One page of tickets, from whichever database the connection is of.
///
/// # Errors
/// When the database refuses.
pub async fn tickets(
    connection: &mut impl Queries,
    filters: &Filters,
    place: &Place,
) -> Result<Vec<TicketRow>, sqlx::Error> {
    connection.find(|on| search(on, filters, place)).await
}

/// How many tickets all pages have.
///
/// # Errors
/// When the database refuses.
pub async fn ticket_count(connection: &mut impl Queries, filters: &Filters) -> Result<i64, sqlx::Error> {
    let rows: Vec<(i64,)> = connection.find(|on| count(on, filters)).await?;
    rows.first().map(|(count,)| *count).ok_or(sqlx::Error::RowNotFound)
}

/// Makes the table in an empty SQLite database.
///
/// # Errors
/// When the database refuses.
pub async fn prepare_sqlite(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    raw_sql(include_str!("../schema/sqlite/0001_ticket.sql")).execute(connection).await.map(|_| ())
}

/// Makes the table anew in a schema of its own in a Postgres database.
///
/// # Errors
/// When the database refuses.
pub async fn prepare_pg(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    let schema = "DROP SCHEMA IF EXISTS search CASCADE; CREATE SCHEMA search; SET search_path = search";
    raw_sql(schema).execute(&mut *connection).await?;
    raw_sql(include_str!("../schema/pg/0001_ticket.sql")).execute(connection).await.map(|_| ())
}

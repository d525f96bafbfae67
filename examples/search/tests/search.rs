//! The search page on both databases: what it finds, page by page, is what a filter and a sort in memory find, and its SQL
//! is held in both dialects.
//!
//! Postgres is the server that `FF_TEST_POSTGRES_URL` names (a superuser's URL).

use std::cmp::Ordering;

use sea_query::{Order, PostgresQueryBuilder, SqliteQueryBuilder};
use search::statements::either::{Connection, Pool};
use search::statements::tables::{On, TicketKey, TicketRow};
use search::statements::ticket::{self, TicketListOrder, TicketPageOrder};
use search::statements::{Statements, TicketState};
use search::{Assignee, Filters, Place};
use sqlx::{Connection as _, PgConnection, SqliteConnection};
use uuid::Uuid;

const KEYS: [TicketKey; 11] = [
    TicketKey::Id,
    TicketKey::Number,
    TicketKey::Title,
    TicketKey::Team,
    TicketKey::State,
    TicketKey::Priority,
    TicketKey::Escalated,
    TicketKey::Assignee,
    TicketKey::OpenedMs,
    TicketKey::DueMs,
    TicketKey::Satisfaction,
];

const STATES: [TicketState; 4] = [TicketState::New, TicketState::Open, TicketState::Waiting, TicketState::Solved];

/// Numbers that are drawn, the same in every run.
struct Drawn(u64);

impl Drawn {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    fn maybe<T>(&mut self, one_in: u64, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.below(one_in) == 0).then(|| value(self))
    }
}

fn person(drawn: &mut Drawn) -> Uuid {
    Uuid::from_u128(u128::from(drawn.below(3)) << 64)
}

/// Titles that sort apart by bytes and by the rules of a language, and in which LIKE would see a pattern.
const TITLES: [&str; 8] = ["Zebra", "apple", "Äpfel", "apple pie", "50% off", "a_b", "", "APPLE"];

fn drawn_ticket(number: i64, drawn: &mut Drawn) -> ticket::TicketAddParams {
    ticket::TicketAddParams {
        id: Uuid::from_u128((u128::from(drawn.below(1 << 40)) << 80) | number as u128),
        number,
        title: TITLES[drawn.below(8) as usize].to_owned(),
        team: ["red", "Blue"][drawn.below(2) as usize].to_owned(),
        state: STATES[drawn.below(4) as usize],
        priority: drawn.below(5) as i16 - 2,
        escalated: drawn.below(2) == 0,
        assignee: drawn.maybe(2, person),
        opened_ms: drawn.below(50) as i64,
        due_ms: drawn.maybe(2, |drawn| drawn.below(5) as i64),
        satisfaction: drawn.maybe(2, |drawn| [0.1, 0.25, 1e-300, -3.5][drawn.below(4) as usize]),
        doc: serde_json::json!({"number": number}),
    }
}

fn drawn_filters(drawn: &mut Drawn) -> Filters {
    Filters {
        states: STATES.into_iter().filter(|_| drawn.below(3) == 0).collect(),
        team: drawn.maybe(4, |_| "red".to_owned()),
        priority: drawn.maybe(4, |drawn| drawn.below(5) as i16 - 2),
        escalated: drawn.maybe(4, |drawn| drawn.below(2) == 0),
        assignee: drawn.maybe(4, |drawn| drawn.maybe(2, person).map_or(Assignee::Nobody, Assignee::Person)),
        title: drawn.maybe(4, |drawn| ["apple", "%", "_", "pp", ""][drawn.below(5) as usize].to_owned()),
        opened_from_ms: drawn.maybe(4, |drawn| drawn.below(50) as i64),
        opened_before_ms: drawn.maybe(4, |drawn| drawn.below(50) as i64),
        due_before_ms: drawn.maybe(4, |drawn| drawn.below(6) as i64),
        satisfaction: drawn.maybe(4, |_| 0.25),
    }
}

fn every_filter() -> Filters {
    Filters {
        states: vec![TicketState::New, TicketState::Open],
        team: Some("red".to_owned()),
        priority: Some(0),
        escalated: Some(true),
        assignee: Some(Assignee::Person(Uuid::from_u128(7))),
        title: Some("apple".to_owned()),
        opened_from_ms: Some(1),
        opened_before_ms: Some(9),
        due_before_ms: Some(5),
        satisfaction: Some(0.5),
    }
}

fn is_wanted(row: &TicketRow, filters: &Filters) -> bool {
    let person = |wanted| match wanted {
        Assignee::Nobody => row.assignee.is_none(),
        Assignee::Person(id) => row.assignee == Some(id),
    };
    (filters.states.is_empty() || filters.states.contains(&row.state))
        && filters.team.as_ref().is_none_or(|team| row.team == *team)
        && filters.priority.is_none_or(|least| row.priority >= least)
        && filters.escalated.is_none_or(|escalated| row.escalated == escalated)
        && filters.assignee.is_none_or(person)
        && filters.title.as_ref().is_none_or(|part| row.title.contains(part))
        && filters.opened_from_ms.is_none_or(|from| row.opened_ms >= from)
        && filters.opened_before_ms.is_none_or(|before| row.opened_ms < before)
        && filters.due_before_ms.is_none_or(|before| row.due_ms.is_some_and(|due| due < before))
        && filters.satisfaction.is_none_or(|most| row.satisfaction.is_some_and(|judged| judged <= most))
}

/// NULLs last in both directions.
fn compare<T: PartialOrd>(a: Option<&T>, b: Option<&T>, order: &Order) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => {
            let ordering = a.partial_cmp(b).unwrap_or(Ordering::Equal);
            if *order == Order::Desc { ordering.reverse() } else { ordering }
        }
        (a, b) => a.is_none().cmp(&b.is_none()),
    }
}

fn sorted(a: &TicketRow, b: &TicketRow, by: TicketKey, order: &Order) -> Ordering {
    let first = match by {
        TicketKey::Id => compare(Some(&a.id), Some(&b.id), order),
        TicketKey::Number => compare(Some(&a.number), Some(&b.number), order),
        TicketKey::Title => compare(Some(&a.title), Some(&b.title), order),
        TicketKey::Team => compare(Some(&a.team), Some(&b.team), order),
        TicketKey::State => compare(Some(&a.state.as_str()), Some(&b.state.as_str()), order),
        TicketKey::Priority => compare(Some(&a.priority), Some(&b.priority), order),
        TicketKey::Escalated => compare(Some(&a.escalated), Some(&b.escalated), order),
        TicketKey::Assignee => compare(a.assignee.as_ref(), b.assignee.as_ref(), order),
        TicketKey::OpenedMs => compare(Some(&a.opened_ms), Some(&b.opened_ms), order),
        TicketKey::DueMs => compare(a.due_ms.as_ref(), b.due_ms.as_ref(), order),
        TicketKey::Satisfaction => compare(a.satisfaction.as_ref(), b.satisfaction.as_ref(), order),
    };
    first.then_with(|| a.id.cmp(&b.id))
}

/// Every order of some drawn filters, page by page, against memory.
async fn story(mut connection: Connection<'_>) {
    let mut drawn = Drawn(0x9e37_79b9_7f4a_7c15);
    for number in 0..300 {
        connection.ticket_add(&drawn_ticket(number, &mut drawn)).await.unwrap();
    }
    let mut place = Place { by: TicketKey::Number, order: Order::Asc, after: None, size: 1_000 };
    let all = search::tickets(&mut connection, &Filters::default(), &place).await.unwrap();
    assert_eq!(all.iter().map(|row| row.number).collect::<Vec<_>>(), (0..300).collect::<Vec<_>>());
    assert_eq!(all[7].doc, serde_json::json!({"number": 7}));
    for (order, urgent) in [(TicketListOrder::Newest, false), (TicketListOrder::Urgent, true)] {
        let params = ticket::TicketListParams { team: "red".to_owned(), most: 40, order };
        let listed: Vec<i64> = connection.ticket_list(&params).await.unwrap().iter().map(|row| row.number).collect();
        let open = |row: &&TicketRow| row.team == "red" && row.state != TicketState::Solved;
        let mut wanted: Vec<&TicketRow> = all.iter().filter(open).collect();
        wanted.sort_by_key(|row| match urgent {
            true => (-i64::from(row.priority), row.due_ms.unwrap_or(i64::MAX), row.id),
            false => (-row.opened_ms, 0, row.id),
        });
        assert_eq!(listed, wanted.iter().take(40).map(|row| row.number).collect::<Vec<_>>(), "{order:?}");
    }
    for (order, least, most) in
        [(TicketPageOrder::Newest, None, 7), (TicketPageOrder::Urgent, None, 1), (TicketPageOrder::Urgent, Some(0), 30)]
    {
        let is_wanted = |row: &&TicketRow| row.team == "red" && least.is_none_or(|least| row.priority >= least);
        let mut wanted: Vec<&TicketRow> = all.iter().filter(is_wanted).collect();
        wanted.sort_by(|a, b| match order {
            TicketPageOrder::Newest => (b.opened_ms, b.id).cmp(&(a.opened_ms, a.id)),
            TicketPageOrder::Urgent => {
                let key = |row: &TicketRow| (-row.priority, row.due_ms.unwrap_or(i64::MAX), row.id);
                key(a).cmp(&key(b))
            }
        });
        let mut params = ticket::TicketPageParams { team: "red".to_owned(), least, after: None, most, order };
        let mut found = Vec::new();
        loop {
            let rows = connection.ticket_page(&params).await.unwrap();
            let Some(last) = rows.last() else { break };
            assert!(rows.len() <= most as usize);
            params.after = Some(last.key());
            found.extend(rows.iter().map(|row| row.number));
        }
        assert_eq!(found, wanted.iter().map(|row| row.number).collect::<Vec<_>>(), "{order:?} {least:?}");
    }
    for at in 0..44 {
        let filters = if at < 22 { Filters::default() } else { drawn_filters(&mut drawn) };
        let (by, order) = (KEYS[at % 11], if at % 2 == 0 { Order::Asc } else { Order::Desc });
        place = Place { by, order: order.clone(), after: None, size: 1 + drawn.below(40) };
        let mut wanted: Vec<&TicketRow> = all.iter().filter(|row| is_wanted(row, &filters)).collect();
        wanted.sort_by(|a, b| sorted(a, b, by, &order));
        let count = search::ticket_count(&mut connection, &filters).await.unwrap();
        assert_eq!(count, wanted.len() as i64, "{filters:?}");
        let mut found = Vec::new();
        loop {
            let tickets = search::tickets(&mut connection, &filters, &place).await.unwrap();
            let Some(last) = tickets.last() else { break };
            place.after = Some(last.clone());
            found.extend(tickets.iter().map(|row| row.number));
        }
        let wanted: Vec<i64> = wanted.into_iter().map(|row| row.number).collect();
        assert_eq!(found, wanted, "by {by:?} {order:?} of {filters:?}");
    }
}

#[tokio::test]
async fn pages_on_sqlite() {
    let mut connection = SqliteConnection::connect(":memory:").await.unwrap();
    search::prepare_sqlite(&mut connection).await.unwrap();
    story(Connection::from(&mut connection)).await;
}

#[tokio::test]
async fn pages_on_postgres() {
    let Ok(url) = std::env::var("FF_TEST_POSTGRES_URL") else {
        assert!(std::env::var_os("CI").is_none(), "FF_TEST_POSTGRES_URL is not set, and CI is");
        return eprintln!("SKIPPED: FF_TEST_POSTGRES_URL is not set");
    };
    let mut connection = PgConnection::connect(&url).await.unwrap();
    search::prepare_pg(&mut connection).await.unwrap();
    story(Connection::from(&mut connection)).await;
}

fn last() -> TicketRow {
    TicketRow {
        id: Uuid::from_u128(9),
        number: 9,
        title: "apple".to_owned(),
        team: "red".to_owned(),
        state: TicketState::Open,
        priority: 1,
        escalated: true,
        assignee: None,
        opened_ms: 3,
        due_ms: Some(4),
        satisfaction: None,
        doc: serde_json::json!({}),
    }
}

/// The texts of a page in both dialects, with what they bind.
fn texts(filters: &Filters, place: &Place) -> [String; 2] {
    let sqlite = search::search(On::Sqlite, filters, place).to_string(SqliteQueryBuilder);
    [sqlite, search::search(On::Pg, filters, place).to_string(PostgresQueryBuilder)]
}

#[test]
fn the_texts_of_both_dialects() {
    let place = |by, order, after: Option<TicketRow>| Place { by, order, after, size: 50 };
    let none = Filters::default();
    let mut all = format!("{:#?}\n", texts(&none, &place(TicketKey::OpenedMs, Order::Asc, None)));
    // All of them read the same columns.
    let mut told = |title: &str, filters: &Filters, place: &Place| {
        let [sqlite, pg] = texts(filters, place).map(|text| text.split_once(" FROM ").unwrap().1.to_owned());
        all += &format!("\n{title}\n{sqlite}\n{pg}\n");
    };
    told("every filter", &every_filter(), &place(TicketKey::OpenedMs, Order::Desc, None));
    let nobody = Filters { assignee: Some(Assignee::Nobody), ..Filters::default() };
    told("nobody works on it", &nobody, &place(TicketKey::Id, Order::Asc, None));
    for by in KEYS {
        told(&format!("behind a row, by {by:?}"), &none, &place(by, Order::Desc, Some(last())));
    }
    let unknown = TicketRow { due_ms: None, ..last() };
    told("behind a row that is never due", &none, &place(TicketKey::DueMs, Order::Asc, Some(unknown)));
    insta::assert_snapshot!(all);
}

/// Reads, and writes one ticket afterwards.
async fn read_and_write(pool: Pool, number: i64) -> Result<(), sqlx::Error> {
    let mut transaction = pool.begin().await?;
    let red = ticket::TicketListParams { team: "red".to_owned(), order: TicketListOrder::Newest, most: 100 };
    transaction.connection().ticket_list(&red).await?;
    tokio::task::yield_now().await;
    let mut drawn = Drawn(number as u64 + 1);
    transaction.connection().ticket_add(&drawn_ticket(number, &mut drawn)).await?;
    transaction.commit().await
}

#[tokio::test]
async fn transactions_that_read_before_they_write_take_turns_on_sqlite() {
    let folder = tempfile::tempdir().expect("a folder for the file");
    let url = format!("sqlite:{}?mode=rwc", folder.path().join("tickets.db").display());
    let pool = Pool::connect(&url).await.expect("the file opens");
    let Pool::Sqlite(tables) = &pool else { panic!("the URL names SQLite") };
    let mut first = tables.acquire().await.expect("a connection");
    search::prepare_sqlite(&mut first).await.expect("the table is made");
    drop(first);
    let running: Vec<_> = (0..40).map(|number| tokio::spawn(read_and_write(pool.clone(), number))).collect();
    for ended in running {
        ended.await.expect("no transaction panics").expect("no transaction is refused");
    }
    let mut reading = pool.begin_read().await.expect("a transaction begins");
    let page = ticket::TicketListParams { team: "red".to_owned(), order: TicketListOrder::Newest, most: 100 };
    let red = reading.connection().ticket_list(&page).await.expect("the tickets");
    assert!(!red.is_empty());
}

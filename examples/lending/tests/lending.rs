//! What both databases do. Postgres is the server that `FF_TEST_POSTGRES_URL` names (a superuser's URL).

use std::ops::ControlFlow;

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use lending::statements::either::{Connection, Transaction};
use lending::statements::item::ItemFindOrder;
use lending::statements::{ItemState, Kind, Statement, StatementError, Statements, item, pg, sqlite};
use lending::{Place, Reader, lend};
use rust_decimal::Decimal;
use serde_json::json;
use tokio_postgres::{Client, NoTls};
use uuid::Uuid;

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_micros(seconds * 1_000_000 + 123_456).expect("a time of this century")
}

fn id(number: i64) -> Uuid {
    Uuid::from_u128(u128::try_from(number).expect("a number of a thing"))
}

fn price(digits: &str) -> Decimal {
    digits.parse().expect("a price")
}

fn thing(number: i64, kind: Kind) -> item::ItemAddParams {
    let is_even = number % 2 == 0;
    item::ItemAddParams {
        id: id(number),
        place: Place { shelf: 7, number },
        title: format!("thing \"{}\" \u{e4}", number / 2),
        kind,
        price: price("-12345.675"),
        weight: is_even.then_some(0.1 * number as f64),
        heavy: !is_even,
        tags: vec!["a,b".to_owned(), "c\"d".to_owned()],
        pages: vec![number, -number],
        cover: is_even.then(|| vec![0, 255, b'x']),
        doc: json!({"number": number, "of": [1, null]}),
        bought: NaiveDate::from_ymd_opt(1999, 12, 31).expect("a day"),
        opens: is_even.then(|| NaiveTime::from_hms_opt(18, 30, 1).expect("a time")),
        seen_at: at(1_700_000_000 + number),
    }
}

/// What a database tells that has no things.
async fn story(db: &mut impl Statements) -> Result<String, StatementError> {
    let mut told = String::new();
    for (number, kind) in [(1, Kind::Book), (2, Kind::Book), (3, Kind::Record), (4, Kind::Tool)] {
        db.item_add(&thing(number, kind)).await?;
    }
    for number in [1, 2, 9] {
        // A statement is a value too.
        told += &format!("read {:?}\n", item::ItemReadParams { id: id(number) }.run(db).await?);
    }

    // Of what may be one row two are read; the connection goes on behind the others.
    let only = |title: &str| item::ItemOnlyParams { title: title.to_owned() };
    let [two, none] = [db.item_only(&only("thing \"1\" \u{e4}")).await, db.item_only(&only("none")).await];
    assert!(matches!(two, Err(StatementError::MoreThanOneRow { statement: "item.item_only" })), "{two:?}");
    assert!(matches!(none, Err(StatementError::NoRow { statement: "item.item_only" })), "{none:?}");
    told += &format!("only {:?}\n", db.item_only(&only("thing \"2\" \u{e4}")).await?);

    for (kind, since, order) in [
        (None, None, ItemFindOrder::Titled),
        (Some(Kind::Book), None, ItemFindOrder::Numbered),
        (None, Some(at(1_700_000_003)), ItemFindOrder::Numbered),
        (Some(Kind::Tool), Some(at(1_700_000_003)), ItemFindOrder::Titled),
    ] {
        let find = item::ItemFindParams { state: ItemState::Here, kind, since, order, most: 3 };
        told += &format!("found {:?}\n", db.item_find(&find).await?);
    }
    let mut params = item::ItemPageParams { shelf: 7, after: None, most: 3 };
    loop {
        let rows = db.item_page(&params).await?;
        told += &format!("page {rows:?}\n");
        let Some(last) = rows.last() else { break };
        params.after = Some(last.key());
    }
    let known = item::ItemKnownParams { ids: vec![id(4), id(9), id(1)] };
    told += &format!("known {:?}\n", db.item_known(&known).await?);
    let kinds = item::ItemOfKindsParams { kinds: vec![Kind::Record, Kind::Tool] };
    told += &format!("of kinds {:?}\n", db.item_of_kinds(&kinds).await?);

    let (told_by, counted) = std::sync::mpsc::channel();
    db.item_each(move |row| {
        let is_enough = row.place.number == 3;
        told_by.send(row).expect("somebody listens");
        if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .await?;
    told += &format!("each {:?}\n", counted.iter().collect::<Vec<_>>());

    let given = |number, title: Option<&str>| item::ItemMoveGiven {
        id: id(number),
        shelf: 8,
        seen: at(1_800_000_000),
        price: price("0.005"),
        cover: title.is_none().then(|| vec![number as u8]),
        title: title.map(str::to_owned),
    };
    let list = [given(3, Some("a \u{1f600} \\ 'name'")), given(9, None), given(1, None)];
    told += &format!("moved {:?}\n", db.item_move(&list).await?);
    let twice = db.item_move(&[given(3, None), given(3, None)]).await;
    assert!(matches!(twice, Err(StatementError::SameKey { rows: [1, 2], .. })), "{twice:?}");

    let lend = |number| item::ItemLendParams {
        id: id(number),
        loan: Uuid::from_u128(100),
        reader: Reader("Ada".to_owned()),
        now: at(1_900_000_000),
    };
    let back = |number| item::ItemReturnParams { id: id(number), now: at(1_900_000_001) };
    told += &format!("lent {:?}, then {:?}\n", db.item_lend(&lend(2)).await?, db.item_lend(&lend(2)).await?);
    told += &format!("back {:?}, then {:?}\n", db.item_return(&back(2)).await?, db.item_return(&back(2)).await?);
    told += &format!("read {:?}\n", db.item_read(&item::ItemReadParams { id: id(2) }).await?);
    let drop = item::ItemDropParams { number: 4 };
    told += &format!("gone {}, then {}\n", db.item_drop(&drop).await?, db.item_drop(&drop).await?);
    Ok(told)
}

/// What both databases tell.
const TOLD: &str = include_str!("told.txt");

/// Transactions of either connection.
async fn transactions(connection: &mut Connection<'_>) {
    let mut begun = connection.begin().await.expect("a transaction");
    begun.item_add(&thing(11, Kind::Tool)).await.expect("it is taken in");
    drop(begun);
    let read = item::ItemReadParams { id: id(11) };
    assert!(connection.item_read(&read).await.expect("an answer").is_none(), "nothing of it stays");

    let mut begun: Transaction<'_> = connection.begin().await.expect("a transaction");
    begun.item_add(&thing(11, Kind::Tool)).await.expect("it is taken in");
    begun.item_add(&thing(12, Kind::Tool)).await.expect("it is taken in");
    begun.commit().await.expect("it stays");
    let reader = Reader("Bo".to_owned());
    let places = lend(connection, &[id(11), id(13), id(12)], &reader, at(0)).await.expect("they are lent");
    assert_eq!(places, [11, 12].map(|number| Place { shelf: 7, number }));
    assert!(lend(connection, &[id(11)], &reader, at(0)).await.expect("an answer").is_empty());

    let mut reading = connection.begin_read().await.expect("a transaction");
    assert!(reading.item_read(&read).await.expect("an answer").is_some());
    reading.rollback().await.expect("it ends");

    // A negative number of rows is refused, by the functions or by the server.
    let negative = item::ItemPageParams { shelf: 7, after: None, most: -1 };
    let refused = connection.item_page(&negative).await.expect_err("no rows are fewer than none");
    assert!(
        matches!(refused, StatementError::NegativeRows { param: "most", .. } | StatementError::Pg(_)),
        "{refused:?}"
    );
    // A key that is there already: the driver's own error, which says more.
    match connection.item_add(&thing(11, Kind::Tool)).await.expect_err("it is there") {
        StatementError::Sqlite(error) => {
            assert_eq!(error.sqlite_error_code(), Some(rusqlite::ErrorCode::ConstraintViolation));
        }
        StatementError::Pg(error) => {
            assert_eq!(error.code(), Some(&tokio_postgres::error::SqlState::UNIQUE_VIOLATION));
        }
        other => panic!("{other}"),
    }
}

fn on_sqlite() -> rusqlite::Connection {
    let connection = rusqlite::Connection::open_in_memory().expect("SQLite");
    lending::prepare_sqlite(&connection).expect("the tables are made");
    connection
}

#[tokio::test]
async fn on_rusqlite() {
    let mut connection = on_sqlite();
    let told = story(&mut connection).await.expect("a story");
    assert_eq!(told, TOLD);
    transactions(&mut Connection::from(&mut on_sqlite())).await;
}

#[test]
fn on_rusqlite_nothing_waits() {
    let mut connection = on_sqlite();
    let transaction = connection.transaction().expect("a transaction");
    sqlite::item_add(&transaction, &thing(1, Kind::Book)).expect("it is taken in");
    let read = item::ItemReadParams { id: id(1) };
    assert!(sqlite::item_read(&transaction, &read).expect("an answer").is_some());
    // What SQLite holds and the other page's type does not.
    transaction.execute("UPDATE item SET shelf = 70000", []).expect("SQLite takes it");
    let wide = sqlite::item_read(&transaction, &read).expect_err("it does not fit");
    assert!(matches!(&wide, StatementError::Decode { column, .. } if column == "shelf"), "{wide:?}");
    assert_eq!(wide.to_string(), "column `shelf`: 70000 does not fit into i16");
    transaction.rollback().expect("it ends");
    assert!(sqlite::item_read(&connection, &read).expect("an answer").is_none());
}

#[tokio::test]
async fn on_rusqlite_beside_a_runtime() {
    let mut connection = on_sqlite();
    let told = tokio::task::spawn_blocking(move || tokio::runtime::Handle::current().block_on(story(&mut connection)));
    assert_eq!(told.await.expect("a thread").expect("a story"), TOLD);
}

/// A client, if there is a server; the tables are made anew.
async fn on_pg() -> Option<Client> {
    let Ok(url) = std::env::var("FF_TEST_POSTGRES_URL") else {
        assert!(std::env::var_os("CI").is_none(), "FF_TEST_POSTGRES_URL is not set, and CI is");
        eprintln!("SKIPPED: FF_TEST_POSTGRES_URL is not set");
        return None;
    };
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.expect("the server");
    tokio::spawn(connection);
    Some(client)
}

#[tokio::test]
async fn on_tokio_postgres() {
    let Some(mut client) = on_pg().await else { return };
    lending::prepare_pg(&client).await.expect("the tables are made");
    let mut transaction = client.transaction().await.expect("a transaction");
    let told = story(&mut transaction).await.expect("a story");
    assert_eq!(told, TOLD);
    transaction.rollback().await.expect("it ends");

    // The same with statements that stay prepared.
    let prepared = pg::Prepared::default();
    for _ in 0..2 {
        let transaction = client.transaction().await.expect("a transaction");
        assert_eq!(story(&mut prepared.on(&transaction)).await.expect("a story"), TOLD);
    }
    transactions(&mut Connection::from(&mut client)).await;

    // Many rows with a type of the schema, on a client that has never met it.
    let many = "INSERT INTO item (id, shelf, number, title, kind, price, doc, bought, seen_at) \
                SELECT gen_random_uuid(), 9, n, repeat('x', 1000), 'tool', 1, '{}', '2000-01-01', now() \
                  FROM generate_series(1, 2000) AS n";
    client.batch_execute(many).await.expect("they are written");
    let other = on_pg().await.expect("a client");
    other.batch_execute("SET search_path = lending").await.expect("a setting");
    let states = tokio::time::timeout(std::time::Duration::from_secs(20), pg::item_states(&other)).await;
    assert_eq!(states.expect("no end").expect("an answer").len(), 2002);
}

//! Rooms and bookings on SQLite and on Postgres: times, decimals, an enum, a list and JSON from one set of statements.
//!
//! ```text
//! cargo run                                             # SQLite alone
//! cargo diglot with-postgres -- cargo run               # both
//! cargo run --no-default-features --features jiff,bigdecimal
//!                                                       # with other libraries of times and decimals
//! ```

mod clock;

use std::time::{SystemTime, UNIX_EPOCH};
use std::{env, error::Error};

#[cfg(not(feature = "rust_decimal"))]
use bigdecimal::BigDecimal as Decimal;
#[cfg(feature = "rust_decimal")]
use rust_decimal::Decimal;
use sea_query::{Expr, ExprTrait as _, Order, Query};
use sqlx::Executor;
use uuid::Uuid;

mod statements {
    include!(concat!(env!("OUT_DIR"), "/statements.rs"));
}

use statements::either::{Pool, Transaction};
use statements::tables::{Booking, BookingKey, BookingRow, On, Queries, page};
use statements::{BookingState, Statement, Statements, booking};

const SQLITE: &str = include_str!("../schema/sqlite/0001_bookings.sql");
const PG: &str = include_str!("../schema/pg/0001_bookings.sql");

/// A second of the last day of a February, and what is finer than SQLite keeps of it.
const BEGIN: i64 = 1_709_229_600;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let told = told_at("sqlite::memory:").await?;
    println!("SQLite:\n{told}");
    let Ok(url) = env::var("DIGLOT_POSTGRES_URL") else {
        println!("Postgres: DIGLOT_POSTGRES_URL is not set");
        return Ok(());
    };
    let told_by_pg = told_at(&url).await?;
    println!("Postgres:\n{told_by_pg}");
    if told == told_by_pg { Ok(()) } else { Err("the databases tell two stories".into()) }
}

/// The story of the database that a URL names. It is told in a transaction that is rolled back, so nothing stays there.
async fn told_at(url: &str) -> Result<String, Box<dyn Error>> {
    let pool = Pool::connect(url).await?;
    let mut transaction = pool.begin().await?;
    match &mut transaction {
        Transaction::Sqlite(tables) => tables.execute(sqlx::raw_sql(SQLITE)).await.map(drop)?,
        Transaction::Pg(tables) => {
            tables.execute("CREATE SCHEMA bookings; SET LOCAL search_path = bookings").await?;
            tables.execute(sqlx::raw_sql(PG)).await.map(drop)?;
        }
    }
    let told = story(&mut transaction.connection()).await?;
    let found = built(&mut transaction.connection()).await?;
    transaction.rollback().await?;
    Ok(told + &found)
}

/// A number in the library of decimals that is chosen.
fn decimal(digits: &str) -> Decimal {
    digits.parse().expect("a number")
}

/// Makes, confirms and lists bookings; what it tells is the same on both databases.
async fn story(db: &mut impl Statements) -> Result<String, Box<dyn Error>> {
    let room = Uuid::from_u128(1);
    db.booking_add_room(&booking::BookingAddRoomParams {
        id: room,
        name: "Blue".to_owned(),
        // Rounded to two digits by both.
        price: decimal("79.995"),
        features: vec!["balcony".to_owned(), "quiet \"side\"".to_owned()],
    })
    .await?;
    for (number, arrives) in [(2, Some(clock::evening())), (3, None)] {
        db.booking_make(&booking::BookingMakeParams {
            id: Uuid::from_u128(number),
            room_id: room,
            starts_at: clock::at(BEGIN, 123_456),
            nights: 3,
            first_day: clock::day(),
            arrives,
            note: serde_json::json!({"guests": number}),
        })
        .await?;
    }
    let confirm = |id| booking::BookingConfirmParams { paid: Some(decimal("239.99")), id: Uuid::from_u128(id) };
    // A statement is a value too.
    let confirmed = confirm(2).run(db).await?;
    let again = confirm(2).run(db).await?;
    let rated = db.booking_rate(&booking::BookingRateParams { rating: 4.25, id: Uuid::from_u128(2) }).await?;
    let expired = db.booking_expire().await?;
    let new = db.booking_count_new().await?.bookings;
    let mut told = format!("  confirmed {confirmed}, then {again}; rated {rated}; expired {expired}; new {new}\n");
    for state in [BookingState::Open, BookingState::Confirmed] {
        let between =
            booking::BookingBetweenParams { state, from_at: clock::at(BEGIN, 0), to_at: clock::at(BEGIN + 1, 0) };
        for row in db.booking_between(&between).await? {
            let seconds = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() as i64;
            let is_now = |time| (seconds - clock::seconds(time)).abs() < 60;
            told += &format!(
                "  {} {} at {}.{:06} on {:?} {:?}, {} nights in {} for {}, paid {:?}, rated {:?}, {:?}, {}, made {}, changed {}\n",
                row.id,
                row.state.as_str(),
                clock::seconds(row.starts_at),
                clock::micros(row.starts_at),
                row.first_day,
                row.arrives,
                row.nights,
                row.room,
                row.price,
                row.paid,
                row.rating,
                row.features,
                row.note,
                is_now(row.made_at),
                is_now(row.changed_at),
            );
        }
    }
    let latest = db.booking_latest().await?;
    told +=
        &format!("  the last begins at {:?}, the best has {:?}\n", latest.starts_at.map(clock::seconds), latest.rating);
    Ok(told)
}

/// The same bookings by a query that is built: every value is held there as either database holds it.
async fn built(db: &mut impl Queries) -> Result<String, Box<dyn Error>> {
    let column = |column| Expr::col((Booking::Table, column));
    let later = |on| {
        let mut update = Query::update();
        update.table(Booking::Table).value(Booking::Nights, Booking::nights(on, 4));
        update.and_where(column(Booking::Id).eq(Booking::id(on, Uuid::from_u128(3)))).take()
    };
    let changed = db.write(later).await?;
    let wanted = |on: On| {
        let mut query = Booking::select();
        query
            .and_where(column(Booking::RoomId).eq(Booking::room_id(on, Uuid::from_u128(1))))
            .and_where(column(Booking::State).ne(Booking::state(on, BookingState::Cancelled)))
            .and_where(column(Booking::StartsAt).eq(Booking::starts_at(on, clock::at(BEGIN, 123_456))))
            .and_where(column(Booking::FirstDay).eq(Booking::first_day(on, clock::day())))
            .and_where(column(Booking::MadeAt).gt(Booking::made_at(on, clock::at(BEGIN, 0))))
            .and_where(column(Booking::ChangedAt).gt(Booking::changed_at(on, clock::at(BEGIN, 0))));
        let arrives = column(Booking::Arrives);
        let rating = column(Booking::Rating).eq(Booking::rating(on, 4.25)).or(column(Booking::Rating).is_null());
        let paid = column(Booking::Paid).eq(Booking::paid(on, decimal("239.990")));
        query.and_where(arrives.clone().eq(Booking::arrives(on, clock::evening())).or(arrives.is_null()));
        query.and_where(paid.or(column(Booking::Paid).is_null())).and_where(rating);
        page(&mut query, &[BookingKey::Arrives.key(on, Order::Desc), BookingKey::Id.key(on, Order::Asc)]);
        query
    };
    let found: Vec<BookingRow> = db.find(wanted).await?;
    let mut told = format!("  changed {changed}, found {}\n", found.len());
    for row in found {
        told +=
            &format!("  {} {} {} {:?} {:?} {:?}\n", row.id, row.state, row.nights, row.paid, row.rating, row.arrives);
    }
    Ok(told)
}

//! What both databases do with one text. Postgres is the server that `FF_TEST_POSTGRES_URL` names (a superuser's URL).

use parcels::load;
use parcels::statements::either::Pool;
use parcels::statements::{StatementError, Statements, parcel};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::SqlitePoolOptions;
use sqlx::{Connection, PgConnection};

async fn add(db: &mut impl Statements, id: i64, town: &str, grams: i64) -> u64 {
    let new = parcel::ParcelAddParams { id, town: town.to_owned(), grams };
    db.parcel_add(&new).await.expect("the parcel is taken in")
}

/// What waits for each town.
async fn waiting(pool: &Pool) -> Vec<(String, i64, i64)> {
    let mut held = pool.acquire().await.expect("a connection");
    let load = held.connection().parcel_load().await.expect("the towns");
    load.into_iter().map(|town| (town.town, town.parcels, town.grams)).collect()
}

/// Everything that a database with an empty table is asked.
async fn story(pool: &Pool) {
    let mut held = pool.acquire().await.expect("a connection");
    let mut db = held.connection();
    for (id, grams) in [(1, 300), (2, 900), (3, 900), (4, 50)] {
        assert_eq!(add(&mut db, id, "Bern", grams).await, 1);
    }
    assert_eq!((add(&mut db, 5, "Ulm", 10).await, add(&mut db, 5, "Ulm", 20).await), (1, 0));
    // Of what may be one row two are read; the connection goes on behind the others.
    let only = |town: &str| parcel::ParcelOnlyParams { town: town.to_owned() };
    let many = db.parcel_only(&only("Bern")).await.expect_err("four parcels");
    let told = StatementError::of(&many);
    assert_eq!(told, Some(&StatementError::MoreThanOneRow { statement: "parcel.parcel_only" }));
    let one = db.parcel_only(&only("Ulm")).await.expect("one parcel");
    assert_eq!(one.map(|parcel| (parcel.id, parcel.grams)), Some((5, 10)));
    assert!(db.parcel_only(&only("Köln")).await.expect("no parcel").is_none());
    drop(held);
    assert_eq!(waiting(pool).await, [("Bern".to_owned(), 4, 2150), ("Ulm".to_owned(), 1, 10)]);

    // A negative number of rows is refused, by the functions or by the server.
    let negative = load(pool, "Bern", -1, 7).await.expect_err("no rows are fewer than none");
    let by_us = StatementError::NegativeRows { statement: "parcel.parcel_next", param: "most" };
    assert!(StatementError::of(&negative) == Some(&by_us) || negative.as_database_error().is_some(), "{negative}");

    // Two vans at once: no parcel is in both.
    let (first, second) = tokio::join!(load(pool, "Bern", 2, 7), load(pool, "Bern", 2, 7));
    assert_eq!((first.expect("the first van"), second.expect("the second van")), (2, 2));
    assert_eq!(waiting(pool).await, [("Ulm".to_owned(), 1, 10)]);
    assert_eq!(load(pool, "Bern", 2, 8).await.expect("nothing waits"), 0);
}

#[tokio::test]
async fn one_text_on_sqlite() {
    let pool = SqlitePoolOptions::new().max_connections(1).connect("sqlite::memory:").await.expect("SQLite");
    parcels::prepare_sqlite(&mut pool.acquire().await.expect("a connection")).await.expect("the table is made");
    story(&Pool::Sqlite(pool)).await;
}

#[tokio::test]
async fn one_text_on_postgres() {
    let Ok(url) = std::env::var("FF_TEST_POSTGRES_URL") else {
        assert!(std::env::var_os("CI").is_none(), "FF_TEST_POSTGRES_URL is not set, and CI is");
        return eprintln!("SKIPPED: FF_TEST_POSTGRES_URL is not set");
    };
    let mut connection = PgConnection::connect(&url).await.expect("the server");
    parcels::prepare_pg(&mut connection).await.expect("the table is made");
    let options: PgConnectOptions = url.parse().expect("a URL");
    let pool = PgPoolOptions::new().connect_with(options.options([("search_path", "parcels")])).await.expect("a pool");
    story(&Pool::Pg(pool)).await;
}

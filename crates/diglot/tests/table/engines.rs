//! Both engines, and what they give for an expression.

use sqlx::postgres::PgConnection;
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Connection, Executor, Row};

/// How many expressions are asked at once.
const AT_ONCE: usize = 100;

/// What an engine gives for an expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    Null,
    Whole(i64),
    /// A number of double precision, by its bits; both zeros are one value.
    Real(u64),
    /// A number of any precision, as Postgres writes it.
    Exact(String),
    Text(String),
    Bytes(String),
    /// A document of Postgres.
    Document(String),
    /// A type that SQLite has not.
    Other(String),
    /// The code of Postgres, the message of SQLite.
    Error(String),
}

impl Outcome {
    /// Whether the engines gave the same: a document is compared with the text that SQLite has for it.
    pub(crate) fn is_like(&self, other: &Outcome) -> bool {
        match (self, other) {
            (Outcome::Error(_), Outcome::Error(_)) => true,
            (Outcome::Text(text), Outcome::Document(json)) => {
                let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
                read(text).is_some() && read(text) == read(json)
            }
            _ => self == other,
        }
    }

    /// Whether the engine knows no such word.
    pub(crate) fn is_absent(&self) -> bool {
        let Outcome::Error(error) = self else { return false };
        let of_pg = ["42883", "42704", "42601", "42809", "42P01"].contains(&error.as_str());
        let of_sqlite =
            ["no such function", "wrong number", "no such collation", "syntax error", "misuse", "no such table"];
        of_pg || of_sqlite.iter().any(|text| error.contains(text))
    }

    fn of_pg(ty: &str, text: &str) -> Self {
        match ty {
            "smallint" | "integer" | "bigint" => text.parse().map_or(Outcome::Other(text.to_owned()), Outcome::Whole),
            "boolean" => Outcome::Whole(i64::from(text == "true")),
            "double precision" | "real" => Outcome::real(text),
            "numeric" => Outcome::Exact(text.to_owned()),
            "text" | "character varying" | "character" | "name" => Outcome::Text(text.to_owned()),
            "bytea" => Outcome::Bytes(text.trim_start_matches("\\x").to_owned()),
            "uuid" => Outcome::Bytes(text.replace('-', "")),
            "json" | "jsonb" => Outcome::Document(text.to_owned()),
            other => Outcome::Other(format!("{other} {text}")),
        }
    }

    fn real(text: &str) -> Self {
        let read = match text {
            "Inf" | "Infinity" => Ok(f64::INFINITY),
            "-Inf" | "-Infinity" => Ok(f64::NEG_INFINITY),
            text => text.parse::<f64>(),
        };
        match read {
            Ok(number) => Outcome::of_real(number),
            Err(_) => Outcome::Other(text.to_owned()),
        }
    }

    fn of_real(number: f64) -> Self {
        Outcome::Real(if number == 0.0 { 0 } else { number.to_bits() })
    }
}

pub(crate) struct Engines {
    sqlite: SqliteConnection,
    pg: PgConnection,
}

/// Evaluates one expression after the other, and catches what fails.
const OUTCOME: &str = "CREATE FUNCTION pg_temp.outcome(expression text) RETURNS text LANGUAGE plpgsql AS $$ \
    DECLARE given text; \
    BEGIN \
      EXECUTE 'SELECT pg_typeof(v)::text || '':'' || v::text FROM (SELECT (' || expression || ') AS v) AS e' INTO given; \
      RETURN coalesce('=' || given, '0'); \
    EXCEPTION WHEN OTHERS THEN RETURN '!' || SQLSTATE; \
    END $$";

impl Engines {
    /// Both, where a server is named.
    pub(crate) async fn open() -> Option<Self> {
        let url = std::env::var("DIGLOT_POSTGRES_URL").ok();
        // Where nobody looks at what was printed, a row that was not run must not pass for one that was.
        assert!(
            url.is_some() || std::env::var_os("CI").is_none(),
            "CI is set, and DIGLOT_POSTGRES_URL names no server"
        );
        let url = url?;
        let sqlite = SqliteConnection::connect("sqlite::memory:").await.expect("SQLite opens");
        let mut pg = PgConnection::connect(&url).await.expect("the server that is named answers");
        pg.execute("SET timezone = 'UTC'").await.expect("a setting");
        pg.execute(OUTCOME).await.expect("a temporary function");
        Some(Self { sqlite, pg })
    }

    /// Hands numbers over to SQLite.
    pub(crate) async fn know(&mut self, reals: &[f64]) {
        self.sqlite
            .execute("CREATE TABLE IF NOT EXISTS reals (bits INTEGER PRIMARY KEY, v)")
            .await
            .expect("a table in memory");
        for real in reals {
            let insert =
                sqlx::query("INSERT OR IGNORE INTO reals VALUES (?1, ?2)").bind(real.to_bits() as i64).bind(real);
            insert.execute(&mut self.sqlite).await.expect("a row in memory");
        }
    }

    pub(crate) async fn pg(&mut self, expressions: &[String]) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        for some in expressions.chunks(AT_ONCE) {
            let query = "SELECT pg_temp.outcome(e) FROM unnest($1::text[]) WITH ORDINALITY AS i(e, n) ORDER BY n";
            let given: Vec<String> = sqlx::query_scalar(query)
                .bind(some)
                .fetch_all(&mut self.pg)
                .await
                .expect("Postgres goes on after errors");
            outcomes.extend(given.into_iter().map(|text| match text.split_at(1) {
                ("=", rest) => rest.split_once(':').map_or(Outcome::Null, |(ty, text)| Outcome::of_pg(ty, text)),
                ("!", code) => Outcome::Error(code.to_owned()),
                _ => Outcome::Null,
            }));
        }
        outcomes
    }

    pub(crate) async fn sqlite(&mut self, expressions: &[String]) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        for some in expressions.chunks(AT_ONCE) {
            match self.sqlite_at_once(some).await {
                Ok(given) => outcomes.extend(given),
                // One that fails takes all others with it.
                Err(_) => {
                    for one in some {
                        outcomes.push(match self.sqlite_at_once(std::slice::from_ref(one)).await {
                            Ok(mut given) => given.pop().unwrap_or(Outcome::Null),
                            Err(error) => Outcome::Error(error.to_string()),
                        });
                    }
                }
            }
        }
        outcomes
    }

    async fn sqlite_at_once(&mut self, expressions: &[String]) -> Result<Vec<Outcome>, sqlx::Error> {
        let one = |expression: &String| format!("SELECT typeof(v), v FROM (SELECT {expression} AS v)");
        let text = expressions.iter().map(one).collect::<Vec<_>>().join(" UNION ALL ");
        let rows = sqlx::query(AssertSqlSafe(text)).persistent(false).fetch_all(&mut self.sqlite).await?;
        let read = |row: &sqlx::sqlite::SqliteRow| {
            Ok(match row.try_get(0)? {
                "null" => Outcome::Null,
                "integer" => Outcome::Whole(row.try_get(1)?),
                "real" => Outcome::of_real(row.try_get(1)?),
                "blob" => {
                    let bytes: Vec<u8> = row.try_get(1)?;
                    Outcome::Bytes(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
                }
                _ => Outcome::Text(row.try_get(1)?),
            })
        };
        rows.iter().map(read).collect()
    }
}

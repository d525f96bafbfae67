//! Bringing the schema up to date.

use std::process::ExitCode;
use std::time::Duration;

use ff_backend_sql::{MigrationOptions, PgPool, apply_migrations_with, repartition};
use serde_json::json;

use crate::connect::{self, Kind};
use crate::failure::{Failure, chain};
use crate::print::{Printer, counted};

/// How often a file is opened anew, and the pause between.
const TRIES: u32 = 100;
const BETWEEN: Duration = Duration::from_millis(50);

/// `migrate`.
pub(crate) async fn migrate(
    target: &str,
    check: bool,
    partitions: Option<u16>,
    printer: &Printer,
) -> Result<ExitCode, Failure> {
    let opened = connect::open(target).await?;
    let before = connect::schema(&opened).await?;
    let (kind, missing) = (opened.kind, before.missing);
    drop(opened);
    if partitions.is_some() && kind == Kind::Sqlite {
        return Err(Failure::new("a SQLite file has no partitions").with("leave out --partitions"));
    }
    if check || (missing.is_empty() && partitions.is_none()) {
        let document = json!({ "missing": missing, "unknown": before.unknown, "applied": [] });
        let mut lines = match missing.len() {
            0 => vec![format!("the schema is current ({})", versions(before.applied))],
            count => vec![format!("the schema lacks {}:", versions(count))],
        };
        lines.extend(missing.iter().map(|name| format!("  {name}")));
        printer.answer(&document, &lines);
        return Ok(if missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let bar = printer.progress("migrating", None);
    match kind {
        Kind::Sqlite => migrate_file(target).await?,
        Kind::Postgres => migrate_server(target, partitions).await?,
    }
    bar.finish_and_clear();
    let mut lines = match missing.len() {
        0 => Vec::new(),
        count => vec![format!("{} applied:", versions(count))],
    };
    lines.extend(missing.iter().map(|name| format!("  {name}")));
    if let Some(count) = partitions {
        lines.push(format!("every partitioned table has {}", counted(count.into(), "partition")));
    }
    let document = json!({ "missing": [], "unknown": before.unknown, "applied": missing, "partitions": partitions });
    printer.answer(&document, &lines);
    Ok(ExitCode::SUCCESS)
}

/// Brings a server's database up to date, and all its tables to that number of partitions.
async fn migrate_server(target: &str, partitions: Option<u16>) -> Result<(), Failure> {
    let failed = |says: String| {
        Failure::new(says).with("what was applied stays; run it again when the cause is gone, it goes on from there")
    };
    let pool = PgPool::connect(target).await.map_err(|error| failed(chain(&error)))?;
    let mut options = MigrationOptions::default();
    if let Some(count) = partitions {
        options = options.partitions(count).map_err(|error| failed(chain(&error)))?;
    }
    apply_migrations_with(&pool, options).await.map_err(|error| failed(chain(&error)))?;
    if let Some(count) = partitions {
        repartition(&pool, count).await.map_err(|error| failed(chain(&error)))?;
    }
    pool.close().await;
    Ok(())
}

/// So many versions of the schema, in words.
fn versions(count: usize) -> String {
    counted(count as u64, "version")
}

/// Brings a file up to date by opening it. What was opened to look at it may still be closing, and would be shared as it is.
async fn migrate_file(target: &str) -> Result<(), Failure> {
    for _ in 0..TRIES {
        let opened = connect::open_as(target, true).await?;
        if connect::schema(&opened).await?.missing.is_empty() {
            return Ok(());
        }
        drop(opened);
        tokio::time::sleep(BETWEEN).await;
    }
    Err(Failure::new("the file stays open, so its schema cannot be brought up to date").with("run it again"))
}

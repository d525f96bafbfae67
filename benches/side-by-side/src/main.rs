//! Measures this backend, the existing ones and a floor side by side, in one run, on one machine, with
//! the same durability (SQLite: WAL and synchronous FULL; Postgres: whatever the server is set to, so
//! start it with fsync on). Contenders take turns round by round; every cell is the median of its rounds,
//! because machines are noisy and only ratios mean something.
//!
//! `scripts/bench` starts a durable Postgres and runs all of it.

mod cells;
mod contender;
mod distance;
mod floor;
mod load;
mod plot;
mod scene;
mod soak;
mod table;
mod work;

use std::time::Duration;

use clap::Parser;

/// Which part of the table to run.
#[derive(Debug, Parser)]
struct Options {
    /// Server URL of a superuser; without one only SQLite is measured.
    #[arg(long, env = "FF_TEST_POSTGRES_URL")]
    postgres: Option<String>,
    /// Only rows whose name contains this text.
    #[arg(long, default_value = "")]
    only: String,
    /// Rounds per cell.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Waiting executions in the rows about many of them.
    #[arg(long, default_value_t = 100_000)]
    many: u32,
    /// Of how many partitions the tables of ours are on Postgres; the existing backend's have 256.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    partitions: u16,
    /// Instead of the table: a load on Postgres for so many seconds beside transactions that stay open.
    #[arg(long, num_args = 0..=1, default_missing_value = "600")]
    soak: Option<u64>,
    /// Lets every answer of Postgres come so many milliseconds later, as from a server across a network.
    #[arg(long, default_value_t = 0.0, value_parser = milliseconds)]
    distance_ms: f64,
    /// Writes the rows to this file as JSON.
    #[arg(long)]
    json: Option<std::path::PathBuf>,
    /// Writes a picture of claims and completions on Postgres against workers to this file, as SVG.
    #[arg(long)]
    plot: Option<std::path::PathBuf>,
}

fn milliseconds(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|error| format!("{error}"))?;
    if (0.0..=60_000.0).contains(&value) { Ok(value) } else { Err("between 0 and 60000".into()) }
}

#[tokio::main(flavor = "multi_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut options = Options::parse();
    if options.distance_ms > 0.0 {
        let server = options.postgres.as_deref().ok_or("a distance needs --postgres URL")?;
        options.postgres = Some(distance::behind(server, Duration::from_secs_f64(options.distance_ms / 1000.0))?);
    }
    if let Some(seconds) = options.soak {
        let server = options.postgres.as_deref().ok_or("a soak needs --postgres URL")?;
        let ours = contender::postgres(contender::Whose::Ours, server, options.partitions).await?;
        let clean = soak::clean(&ours).await.map_err(|error| error.to_string())?;
        println!("{:.0} pairs/s while nobody reads, claim p99 {:.2} ms", clean.rate(), clean.percentile_ms(0.99));
        let is_healthy = soak::run(&ours, seconds, &clean).await.map_err(|error| error.to_string())?;
        println!("{}", if is_healthy { "kept up" } else { "did not keep up" });
        return Ok(());
    }
    let mut table = table::Table::default();
    cells::sqlite(&options, &mut table).await?;
    match &options.postgres {
        Some(url) => cells::postgres(&options, url, &mut table).await?,
        None => eprintln!("no --postgres URL: the Postgres rows are left out"),
    }
    println!("{table}");
    if let Some(path) = &options.json {
        std::fs::write(path, table.json())?;
    }
    Ok(())
}

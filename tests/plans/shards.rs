//! What a coordinator of Citus makes of every statement on tables that are spread: one task on one shard, or the
//! statement says why not.
//!
//! Runs where `FF_TEST_CITUS_URL` names the database of a cluster, which it spreads over four shards.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use diglot::config::{Config, DeclaredOn};
use diglot::dialect::Dialect;
use diglot::types::Base;
use diglot::{EmittedText, Holds, TextParam};
use ff_backend_sql::{MigrationOptions, PgPool, apply_migrations_with};
use sqlx::{AssertSqlSafe, Executor as _, PgConnection, Row as _};

use super::{pg_type, texts};

/// The rules about statements that `distributed` in `diglot.toml` brings.
const RULES: [&str; 10] = [
    "shard-key",
    "shards-differ",
    "local-with-shards",
    "lock-on-shards",
    "moving-function",
    "case-operand",
    "shard-key-set",
    "insert-in-with",
    "insert-by-way",
    "function-on-shards",
];

/// The statements that say, on a page or in the settings, why one of the rules does not hold for them.
fn excused(root: &Path) -> BTreeSet<String> {
    let says = |text: &str| RULES.iter().any(|rule| text.contains(&format!("allow({rule})")));
    let settings = std::fs::read_to_string(root.join("diglot.toml")).expect("diglot.toml");
    let mut found = BTreeSet::new();
    for declared in Config::parse(&settings, "diglot.toml").expect("settings").declared {
        if let (true, DeclaredOn::Names(names)) = (declared.says.iter().any(|said| says(said)), declared.on) {
            found.extend(names);
        }
    }
    for page in std::fs::read_dir(root.join("sql/pg")).expect("the pages") {
        let page = std::fs::read_to_string(page.expect("a page").path()).expect("a text");
        for block in page.split("\n\n").filter(|block| says(block)) {
            let name = block.lines().find_map(|line| line.strip_prefix("-- name: ")?.split(' ').next());
            found.extend(name.map(str::to_owned));
        }
    }
    found
}

/// A value of a parameter's type, which is no NULL: a shard is found by it.
fn value(param: &TextParam) -> &'static str {
    if matches!(param.holds, Holds::Field(_) | Holds::Handed(..)) {
        return "'{}'";
    }
    match param.ty.base {
        Base::Text | Base::Uuid => "'00000000-0000-0000-0000-000000000000'",
        Base::Bytes => "''",
        Base::Bool => "true",
        Base::Json | Base::TextArray | Base::Int64Array | Base::UuidArray => "'{}'",
        _ => "0",
    }
}

/// How many tasks the coordinator has for a statement, in how many steps; none where it refuses it.
async fn tasks(connection: &mut PgConnection, text: &EmittedText) -> Result<(usize, usize), String> {
    let list = |items: Vec<String>| if items.is_empty() { String::new() } else { format!("({})", items.join(", ")) };
    let types = list(text.params.iter().map(pg_type).collect());
    let values = list(text.params.iter().map(|param| value(param).to_owned()).collect());
    let asked = format!("PREPARE asked {types} AS {}; EXPLAIN EXECUTE asked {values}", text.sql);
    let rows = sqlx::raw_sql(AssertSqlSafe(asked)).fetch_all(&mut *connection).await;
    connection.execute("DEALLOCATE ALL").await.expect("what was prepared is forgotten");
    let rows = rows.map_err(|error| error.to_string())?;
    let lines: Vec<String> = rows.iter().map(|row| row.try_get_unchecked(0).expect("a line")).collect();
    let counts = lines.iter().filter_map(|line| line.trim().strip_prefix("Task Count: ")?.parse::<usize>().ok());
    let has = |words: &str| lines.iter().filter(|line| line.contains(words)).count();
    let steps = has("Distributed Subplan ") + has(" method: pull to coordinator") + has(" method: repartition");
    Ok((counts.sum(), steps))
}

#[tokio::test]
async fn every_statement_is_one_task_or_says_why_not() {
    let Ok(url) = std::env::var("FF_TEST_CITUS_URL") else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pool = PgPool::connect(&url).await.expect("the coordinator answers");
    let options = MigrationOptions::default().spread_over(4).expect("a number of shards");
    apply_migrations_with(&pool, options).await.expect("the tables are spread");
    let mut connection = pool.acquire().await.expect("a connection");
    connection.execute("SET plan_cache_mode = force_custom_plan").await.expect("a setting");
    let excused = excused(root);
    let mut more = BTreeMap::new();
    let mut one = BTreeSet::new();
    for text in texts(Dialect::Pg) {
        // What takes steps is never sent as a whole.
        for sent in text.all().skip(usize::from(text.steps.is_some())) {
            match tasks(&mut connection, sent).await {
                Ok((0 | 1, 0)) => drop(one.insert(sent.name.clone())),
                told => drop(more.insert(sent.name.clone(), told)),
            }
        }
    }
    let unexcused: Vec<_> = more.iter().filter(|(name, _)| !excused.contains(*name)).collect();
    assert!(unexcused.is_empty(), "more than one task, and nothing says why: {unexcused:#?}");
    let needless: Vec<_> = one.intersection(&excused).collect();
    assert!(needless.is_empty(), "one task or local, and still something excuses them: {needless:#?}");
    assert!(one.len() > 250, "{} statements are one task or local", one.len());
}

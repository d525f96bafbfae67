//! What is judged, and what to do about it. Nothing here asks a database.

use std::collections::BTreeMap;
use std::time::Duration;

use ff_backend_sql::manage::{ListedExecution, ListedState, PauseTarget, QueueCount, TableSize};

use super::{Contents, Facts, Finding, Verdict, minutes};
use crate::connect::Kind;
use crate::pause;
use crate::print::{ago, bytes, counted, span};

/// From how many lost workers on an execution is told.
pub(super) const MANY_CRASHES: u32 = 3;

/// How far clocks may be apart before it is told, and before it is a problem.
const APART_MS: i64 = 1_000;
const FAR_APART_MS: i64 = 30_000;

/// How late a sweep may be: many times its interval.
const LATE: Duration = minutes(1);

/// How long work may wait for a worker before it is told.
const WAITS: Duration = minutes(5);

/// How many rows may be dead where more are dead than alive.
const DEAD: i64 = 10_000;

/// How old the oldest transaction id may be; the server stops at two thousand million.
const FROZEN: i64 = 1_000_000_000;

/// How long a transaction may be under way.
const LONG: Duration = minutes(60);

/// How long the log of SQLite may be.
const LOG: u64 = 256 << 20;

/// How many pages of a file are worth to be given back, where more than half of them are free.
const FREE: i64 = 10_000;

fn fine(check: &'static str, says: impl Into<String>) -> Finding {
    Finding { check, verdict: Verdict::Fine, says: says.into(), advice: None }
}

fn warning(check: &'static str, says: String, advice: String) -> Finding {
    Finding { check, verdict: Verdict::Warning, says, advice: Some(advice) }
}

pub(super) fn problem(check: &'static str, says: String, advice: String) -> Finding {
    Finding { check, verdict: Verdict::Problem, says, advice: Some(advice) }
}

/// The checks that need no schema.
pub(super) fn of_database(facts: &Facts) -> Vec<Finding> {
    let mut findings = vec![clocks(facts)];
    if facts.kind == Kind::Postgres {
        findings.push(fine("pooler", "sessions last as long as connections"));
    }
    findings.push(migrations(facts));
    findings
}

/// The others.
pub(super) fn of_contents(kind: Kind, contents: &Contents) -> Vec<Finding> {
    let mut findings = vec![settings(kind, contents), indexes(contents), bloat(kind, contents)];
    match kind {
        Kind::Postgres => findings.push(vacuum(contents)),
        Kind::Sqlite => findings.push(log(contents)),
    }
    findings.extend([leases(contents), sweeps(contents), paused(contents), waiting(contents), poison(contents)]);
    findings
}

/// Whether the host's clock is the database's.
fn clocks(facts: &Facts) -> Finding {
    if facts.kind == Kind::Sqlite {
        return fine("clocks", "the file is judged by this host's clock");
    }
    let apart_ms = facts.ahead_ms.abs().saturating_sub(facts.within_ms);
    let word = if facts.ahead_ms > 0 { "ahead of" } else { "behind" };
    let apart = Duration::from_millis(facts.ahead_ms.unsigned_abs());
    let says = format!("this host's clock is {:.1} s {word} the database's", apart.as_secs_f64());
    let advice = "have this host's clock set by NTP: leases are judged by the database's, but times that programs here give, \
                  and their logs, are wrong";
    if apart_ms <= APART_MS {
        fine("clocks", "this host's clock agrees with the database's")
    } else if apart_ms <= FAR_APART_MS {
        warning("clocks", says, advice.to_owned())
    } else {
        problem("clocks", says, advice.to_owned())
    }
}

/// Whether the schema is what this program needs.
fn migrations(facts: &Facts) -> Finding {
    let schema = &facts.schema;
    if schema.applied == 0 {
        let advice = "if it is the right database: `ff-sql migrate` makes them";
        return problem("migrations", "the database has no tables of FlowFabric".to_owned(), advice.to_owned());
    }
    if !schema.missing.is_empty() {
        let advice = "run `ff-sql migrate`; programs that use the database may go on meanwhile";
        return problem("migrations", format!("pending: {}", schema.missing.join(", ")), advice.to_owned());
    }
    if !schema.unknown.is_empty() {
        let advice = "update this program; until then it may not know of what they add";
        return warning("migrations", format!("of a newer program: {:?}", schema.unknown), advice.to_owned());
    }
    fine("migrations", format!("the schema is current ({})", counted(schema.applied as u64, "version")))
}

/// Whether what was acknowledged survives, and whether there is room to work.
fn settings(kind: Kind, contents: &Contents) -> Finding {
    let all = &contents.inspection.settings;
    let setting = |wanted: &str| all.iter().find(|(name, _)| name == wanted).and_then(|(_, value)| value.as_deref());
    if kind == Kind::Sqlite {
        return match setting("journal_mode") {
            Some("wal") => fine("settings", "the file has a log (journal_mode = wal)"),
            other => warning(
                "settings",
                format!(
                    "the file has no log (journal_mode = {}): reads and writes wait for each other",
                    other.unwrap_or("?")
                ),
                "open it with `SqliteBackend::new`, which gives it one, on a file system that is not a network's"
                    .to_owned(),
            ),
        };
    }
    for name in ["fsync", "full_page_writes", "synchronous_commit"] {
        if setting(name) == Some("off") {
            let says = format!("{name} is off: what was acknowledged may be lost when the server's machine stops");
            return problem("settings", says, format!("set {name} = on (postgresql.conf, the role or the database)"));
        }
    }
    if setting("autovacuum") == Some("off") {
        let says = "autovacuum is off: tables that change all the time grow without end".to_owned();
        return problem("settings", says, "set autovacuum = on in postgresql.conf".to_owned());
    }
    let locks = setting("max_locks_per_transaction").and_then(|value| value.parse::<i64>().ok());
    if let Some((locks, wanted)) = locks.zip(contents.inspection.partitions).filter(|(locks, wanted)| locks < wanted) {
        let says = format!("max_locks_per_transaction is {locks}: statements over all partitions may run out of locks");
        let advice = format!(
            "set it to {wanted} or more in postgresql.conf, and start the server anew; or give the tables fewer partitions: \
             `ff-sql migrate --partitions 8`"
        );
        return warning("settings", says, advice);
    }
    fine("settings", "durable, with room for locks")
}

/// Whether every index of the schema is there and used.
fn indexes(contents: &Contents) -> Finding {
    let (missing, broken) = (&contents.inspection.missing_indexes, &contents.inspection.broken_indexes);
    if !broken.is_empty() {
        let says = format!("not used, because their making was interrupted: {}", broken.join(", "));
        return problem("indexes", says, "run `REINDEX INDEX CONCURRENTLY` on each".to_owned());
    }
    if !missing.is_empty() {
        let says = format!("missing: {}", missing.join(", "));
        let advice =
            "somebody dropped them: make them again as the files of `schema/` say, where `grep -r` finds the names";
        return problem("indexes", says, advice.to_owned());
    }
    fine("indexes", "all there")
}

/// Whether space is given back.
fn bloat(kind: Kind, contents: &Contents) -> Finding {
    if kind == Kind::Sqlite {
        let (pages, free) = contents.inspection.pages.unwrap_or((0, 0));
        if free > FREE && free > pages / 2 {
            let says = format!("{free} of the file's {pages} pages are free");
            let advice =
                "they are used again as the file fills; to give them back, run `VACUUM` while no program has it open";
            return warning("bloat", says, advice.to_owned());
        }
        return fine("bloat", format!("{free} of the file's {pages} pages are free"));
    }
    let is_bloated = |table: &&TableSize| table.dead > DEAD && table.dead > table.live;
    let bloated: Vec<&TableSize> = contents.inspection.tables.iter().filter(is_bloated).collect();
    if let Some(worst) = bloated.iter().max_by_key(|table| table.dead) {
        let says = format!(
            "{} more dead rows than others, the worst is {} ({} dead, {} alive, {})",
            if bloated.len() == 1 { "1 table has".to_owned() } else { format!("{} tables have", bloated.len()) },
            worst.name,
            worst.dead,
            worst.live,
            bytes(worst.bytes.max(0).unsigned_abs()),
        );
        let advice = "autovacuum does not keep up: look whether a long transaction keeps it from that (see vacuum), \
                      then run `VACUUM (ANALYZE)` and let autovacuum cost more";
        return warning("bloat", says, advice.to_owned());
    }
    let total: i64 = contents.inspection.tables.iter().map(|table| table.bytes).sum();
    fine("bloat", format!("no table has more dead rows than others; all take {}", bytes(total.max(0).unsigned_abs())))
}

/// Whether anything keeps the server from taking dead rows away.
fn vacuum(contents: &Contents) -> Finding {
    let age = contents.inspection.frozen_age.unwrap_or(0);
    if age > FROZEN {
        let says =
            format!("the oldest transaction id is {age} transactions old; the server stops at two thousand million");
        let advice = "run `VACUUM (FREEZE)` in this database, and look what kept autovacuum from it";
        return problem("vacuum", says, advice.to_owned());
    }
    let oldest = contents.inspection.oldest_transaction.unwrap_or_default();
    if oldest > LONG {
        let says =
            format!("a transaction has been under way for {}: no row that died since is taken away", span(oldest));
        let advice = "`SELECT pid, application_name, query FROM pg_stat_activity ORDER BY xact_start` names it; \
                      `SELECT pg_terminate_backend(pid)` ends it";
        return warning("vacuum", says, advice.to_owned());
    }
    fine("vacuum", "nothing keeps dead rows")
}

/// Whether SQLite's log begins anew now and then.
fn log(contents: &Contents) -> Finding {
    let length = contents.inspection.log_bytes.unwrap_or(0);
    if length > LOG {
        let says = format!("the log beside the file has {}", bytes(length));
        let advice = "a read that stays open keeps it from beginning anew: find the program that holds it \
                      (`fuser FILE`), and end it; the file beside the database shrinks when the last program closes it";
        return warning("log", says, advice.to_owned());
    }
    fine("log", format!("the log beside the file has {}", bytes(length)))
}

/// The oldest of a state over all lanes.
fn oldest(queues: &[QueueCount], state: ListedState) -> Option<&QueueCount> {
    queues.iter().filter(|queue| queue.state == state).min_by_key(|queue| queue.oldest_at_ms)
}

/// Whether a time is longer ago than a span.
fn is_past(at_ms: i64, now_ms: i64, span: Duration) -> bool {
    now_ms.saturating_sub(at_ms) > i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

/// Whether leases that ran out are taken back.
fn leases(contents: &Contents) -> Finding {
    match oldest(&contents.queues, ListedState::Active) {
        Some(queue) if is_past(queue.oldest_at_ms, contents.now_ms, LATE) => problem(
            "leases",
            format!("on lane {} a lease ran out {} ago and was not taken back", queue.lane, ago(queue.oldest_at_ms, contents.now_ms)),
            "no process runs the sweeps: `with_all_scanners` in one of them starts them; a `scanner_filter` may leave lanes out"
                .to_owned(),
        ),
        Some(_) => fine("leases", "none that is over"),
        None => fine("leases", "none"),
    }
}

/// Whether what is due becomes claimable.
fn sweeps(contents: &Contents) -> Finding {
    match oldest(&contents.queues, ListedState::Delayed) {
        Some(queue) if is_past(queue.oldest_at_ms, contents.now_ms, LATE) => problem(
            "sweeps",
            format!("on lane {} delayed work is overdue by {}", queue.lane, ago(queue.oldest_at_ms, contents.now_ms)),
            "no process promotes it, or it does not keep up: look at `ff_sweep_lag_seconds` and `ff_sweep_errors_total`; \
             start the sweeps by `with_all_scanners`"
                .to_owned(),
        ),
        _ => fine("sweeps", "nothing is overdue"),
    }
}

/// Whether anything is held back.
fn paused(contents: &Contents) -> Finding {
    let oldest = contents.pauses.iter().min_by_key(|pause| pause.since_ms);
    let Some(oldest) = oldest else { return fine("paused", "no lane and no flow is held back") };
    warning(
        "paused",
        pause::lines(&contents.pauses, contents.now_ms).join("; "),
        format!("when that is over: `ff-sql resume {}`", pause::flag(&oldest.target)),
    )
}

/// Whether work finds workers. What is paused is meant to find none.
fn waiting(contents: &Contents) -> Finding {
    let is_paused = |queue: &&QueueCount| {
        contents.pauses.iter().any(|pause| matches!(&pause.target, PauseTarget::Lane(lane) if *lane == queue.lane))
    };
    let queues: Vec<QueueCount> = contents.queues.iter().filter(|queue| !is_paused(queue)).cloned().collect();
    match oldest(&queues, ListedState::Waiting) {
        Some(queue) if is_past(queue.oldest_at_ms, contents.now_ms, WAITS) => warning(
            "waiting",
            format!(
                "on lane {} work waits since {} ago ({} {})",
                queue.lane,
                ago(queue.oldest_at_ms, contents.now_ms),
                queue.depth,
                if queue.depth == 1 { "waits" } else { "wait" }
            ),
            format!(
                "too few workers, or none with the capabilities: `ff-sql list --lane {} --state waiting --json` tells what is \
                 required",
                queue.lane
            ),
        ),
        _ => fine("waiting", "nothing waits for long"),
    }
}

/// Whether something ends its workers.
fn poison(contents: &Contents) -> Finding {
    let worst = contents.crashed.iter().max_by_key(|execution| execution.crashes);
    let Some(worst) = worst else { return fine("poison", "no execution ends its workers") };
    let mut lanes: BTreeMap<&str, u32> = BTreeMap::new();
    for ListedExecution { lane, .. } in &contents.crashed {
        *lanes.entry(lane.as_str()).or_default() += 1;
    }
    let lanes: Vec<_> = lanes.iter().map(|(lane, count)| format!("{lane}: {count}")).collect();
    warning(
        "poison",
        format!(
            "{} lost {MANY_CRASHES} workers or more ({}), the worst {} of them: {}",
            counted(contents.crashed.len() as u64, "execution"),
            lanes.join(", "),
            worst.crashes,
            worst.id
        ),
        format!(
            "look at it, `ff-sql show '{0}'`, and end it if its work cannot be done: `ff-sql cancel '{0}' --yes`",
            worst.id
        ),
    )
}

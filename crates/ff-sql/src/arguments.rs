//! What the command line takes.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::{Args, Parser, Subcommand, ValueEnum};
use ff_backend_sql::manage::{ExecutionFilter, ListedState, PauseTarget};
use ff_core::types::{FlowId, LaneId};

/// Looks after a database of ff-backend-sql: an SQLite file or a Postgres database
#[derive(Debug, Parser)]
#[command(name = "ff-sql", version, max_term_width = 100)]
pub(crate) struct Arguments {
    /// The name of an SQLite file, or the URL of a Postgres database
    #[arg(short, long, global = true, env = "FF_SQL_DATABASE", hide_env_values = true, value_name = "FILE|URL")]
    pub(crate) database: Option<String>,

    /// Print one JSON document
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// When to colour what is printed; `auto` asks the terminal, and `NO_COLOR`
    #[arg(long, global = true, default_value = "auto", value_name = "WHEN")]
    pub(crate) color: Color,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// How many executions there are in which state
    Status,
    /// What each lane has, and since when the oldest waits
    Lanes,
    /// Executions by lane, flow, state, age, capability and kind
    List {
        #[command(flatten)]
        filter: Filter,
        /// At most how many
        #[arg(long, default_value_t = 50)]
        limit: usize,
        /// Only what stands behind that execution
        #[arg(long, value_name = "ID")]
        after: Option<String>,
    },
    /// One execution: who has it, why it waits, how often it crashed
    Show {
        /// Its id, as `list` shows it
        id: String,
    },
    /// Run again what failed: it can be claimed at once, as it was when it was created
    Retry {
        #[command(flatten)]
        which: Which,
    },
    /// End executions that have not ended, whatever they do; their workers find their leases revoked
    Cancel {
        #[command(flatten)]
        which: Which,
        /// Why, as it is stored
        #[arg(long, default_value = "cancelled by ff-sql")]
        reason: String,
    },
    /// Forget executions that have ended, with all that belongs to them
    #[command(visible_alias = "discard")]
    Prune {
        #[command(flatten)]
        which: Which,
    },
    /// Hold a lane or a flow back: nobody claims its work until it is resumed; what runs goes on
    Pause {
        #[command(flatten)]
        held: Held,
        /// Why, as it is stored and shown
        #[arg(long, default_value = "paused by ff-sql")]
        reason: String,
    },
    /// Let a lane or a flow go on that was paused
    Resume {
        #[command(flatten)]
        held: Held,
    },
    /// Bring the schema up to date
    Migrate {
        /// Only say what is missing: the exit code is 1 when something is
        #[arg(long)]
        check: bool,
        /// Give every partitioned table of Postgres that many partitions, with all its rows: 1 to 256. Whoever comes for a
        /// table waits until it is moved
        #[arg(long, value_name = "N", conflicts_with = "check", value_parser = clap::value_parser!(u16).range(1..=256))]
        partitions: Option<u16>,
    },
    /// Look for what is wrong, and say what to do; the exit code is 1 when there is a problem
    Doctor,
}

/// Properties of executions.
#[derive(Debug, Args)]
pub(crate) struct Filter {
    /// Only those of that lane
    #[arg(long)]
    pub(crate) lane: Option<String>,
    /// Only the members of that flow
    #[arg(long, value_parser = flow)]
    pub(crate) flow: Option<FlowId>,
    /// Only those in that state; may be given several times
    #[arg(long)]
    pub(crate) state: Vec<ListedState>,
    /// Only those that ended, or were created if they have not ended, at least so long ago: `90s`, `15m`, `6h`, `7d`
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub(crate) older_than: Option<Duration>,
    /// Only those that require that capability
    #[arg(long)]
    pub(crate) capability: Option<String>,
    /// Only those of that kind
    #[arg(long)]
    pub(crate) kind: Option<String>,
}

/// Which executions a command is about.
#[derive(Debug, Args)]
pub(crate) struct Which {
    /// Those with these ids; without any, all that have the given properties
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    #[command(flatten)]
    pub(crate) filter: Filter,
    /// All there are, where no property is given
    #[arg(long)]
    pub(crate) all: bool,
    /// Do it without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Only say what it would be done to
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// What is held back.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Held {
    /// All of that lane
    #[arg(long)]
    lane: Option<String>,
    /// The members of that flow, on whatever lanes
    #[arg(long, value_parser = flow)]
    flow: Option<FlowId>,
}

impl Held {
    /// As the backend takes it.
    pub(crate) fn target(&self) -> Option<PauseTarget> {
        let lane = self.lane.as_ref().map(|lane| PauseTarget::Lane(LaneId::new(lane)));
        lane.or_else(|| self.flow.clone().map(PauseTarget::Flow))
    }
}

impl Filter {
    /// As the backend takes it.
    pub(crate) fn asked(&self) -> ExecutionFilter {
        ExecutionFilter {
            lane: self.lane.as_ref().map(LaneId::new),
            flow: self.flow.clone(),
            states: self.state.clone(),
            before_ms: self.older_than.map(|age| now_ms().saturating_sub(ms(age))),
            capability: self.capability.clone(),
            kind: self.kind.clone(),
        }
    }
}

/// The host's time in milliseconds.
pub(crate) fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, ms)
}

/// A span in milliseconds.
pub(crate) fn ms(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

fn flow(text: &str) -> Result<FlowId, String> {
    uuid::Uuid::parse_str(text).map(FlowId::from_uuid).map_err(|error| format!("the id of a flow is a UUID: {error}"))
}

fn age(text: &str) -> Result<Duration, String> {
    let way_out = || format!("`{text}` is no age; write a number and one of s, m, h, d, such as `90s` or `7d`");
    let (number, unit) = text.split_at_checked(text.len().saturating_sub(1)).ok_or_else(way_out)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        _ => return Err(way_out()),
    };
    let count: u64 = number.parse().map_err(|_| way_out())?;
    count.checked_mul(seconds).map(Duration::from_secs).ok_or_else(way_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_holds_together() {
        use clap::CommandFactory as _;
        Arguments::command().debug_assert();
    }

    #[test]
    fn an_age_has_a_number_and_a_unit() {
        for (text, seconds) in [("90s", 90), ("15m", 900), ("6h", 21_600), ("7d", 604_800), ("0s", 0)] {
            assert_eq!(age(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "7", "d", "-1d", "7w", "1.5h", "é", "99999999999999999999d", "9999999999999999999d"] {
            assert!(age(text).is_err_and(|says| says.contains("7d")), "{text}");
        }
    }
}

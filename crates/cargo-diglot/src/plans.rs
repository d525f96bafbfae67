//! `cargo diglot plans`: how each engine would run every statement, and which tables it reads from end to end.
//!
//! A plan says something about the schema alone when nothing else has a say: the tables are empty, so there are no
//! statistics; Postgres plans for any values (`force_generic_plan`) and takes a sequential scan only where no index
//! serves (`enable_seqscan = off`); costs are not shown. Such plans are the same on every machine, so a project
//! can keep them and see what a change of an index or of a statement does.

mod citus;
mod pg;
mod sqlite;

use std::fmt::Write as _;
use std::fs;
use std::io;

use diglot::dialect::Dialect;

use crate::cli::Plans;
use crate::failure::Failure;
use crate::host::{Host, Sorting};
use crate::{Outcome, check, report, runtime};

/// The file that keeps the plans.
const FILE: &str = "plans.txt";

/// The plan of one text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Plan {
    /// `noun.statement`, with the optional parts that are there.
    statement: String,
    dialect: Dialect,
    lines: Vec<String>,
}

pub(crate) fn run(arguments: &Plans) -> Result<Outcome, Failure> {
    let root = check::root(&arguments.project)?;
    if let Some(url) = &arguments.citus {
        return citus::run(&root, url, arguments.statement.as_deref());
    }
    let Some((inputs, compiled)) = check::without_answers(&root, "no plan was asked for")? else {
        return Ok(Outcome::Findings);
    };
    let texts: Vec<&diglot::EmittedText> = compiled
        .texts
        .iter()
        .filter(|text| arguments.statement.as_ref().is_none_or(|name| *name == text.name))
        .collect();
    if let (true, Some(name)) = (texts.is_empty(), &arguments.statement) {
        return Err(Failure::UnknownStatement { name: name.clone() });
    }
    let plans = runtime()?.block_on(async {
        let asked = async |host: &Host| {
            let (sqlite, pg) = tokio::join!(sqlite::ask(&inputs, &texts), pg::ask(&inputs, &texts, host));
            let mut plans = sqlite?;
            plans.extend(pg?);
            Ok(plans)
        };
        Host::during(&arguments.postgres, Sorting::Language, asked).await
    })?;
    let text = listing(&plans);
    let path = root.join(FILE);
    if arguments.save {
        fs::write(&path, &text).map_err(Failure::io(format!("write {}", path.display())))?;
        report::line(&format!("{} kept in {FILE}, {}", report::counted(plans.len(), "plan"), scans(&plans)));
        return Ok(Outcome::Clean);
    }
    if arguments.check {
        let kept = match fs::read_to_string(&path) {
            Ok(kept) => kept,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(source) => return Err(Failure::Io { what: format!("read {}", path.display()), source }),
        };
        let changed = difference(&kept, &text);
        report::is_over(report::out(&changed))?;
        report::line(&format!("{}, {}", report::counted(plans.len(), "plan"), scans(&plans)));
        if changed.is_empty() {
            return Ok(Outcome::Clean);
        }
        report::line(&format!("the plans are not those in {FILE}; `cargo diglot plans --save` keeps the new ones"));
        return Ok(Outcome::Findings);
    }
    report::is_over(report::out(&text))?;
    report::line(&format!("{}, {}", report::counted(plans.len(), "plan"), scans(&plans)));
    Ok(Outcome::Clean)
}

impl Plan {
    /// Whether a line of it reads a table from end to end without an index.
    fn is_scan(&self, line: &str) -> bool {
        let line = line.trim_start().trim_start_matches("->").trim_start();
        match self.dialect {
            Dialect::Sqlite => {
                let Some(rest) = line.strip_prefix("SCAN ") else { return false };
                let name = rest.split(' ').next().unwrap_or_default();
                !rest.contains(" USING ")
                    && !rest.contains(" VIRTUAL TABLE")
                    && rest != "CONSTANT ROW"
                    && !self.makes(name)
            }
            Dialect::Pg => line.contains("Seq Scan on "),
        }
    }

    /// Whether SQLite makes these rows itself: a CTE or a subquery has no index to miss.
    fn makes(&self, name: &str) -> bool {
        let made = |line: &String| {
            let mut words = line.split_whitespace();
            matches!(words.next(), Some("CO-ROUTINE" | "MATERIALIZE")) && words.next() == Some(name)
        };
        self.lines.iter().any(made)
    }
}

fn scans(plans: &[Plan]) -> String {
    let scanned = |dialect: Dialect| {
        let of = plans.iter().filter(|plan| plan.dialect == dialect);
        of.filter(|plan| plan.lines.iter().any(|line| plan.is_scan(line))).count()
    };
    let [sqlite, pg] = Dialect::ALL.map(scanned);
    format!("tables are read without an index by {sqlite} on SQLite and {pg} on Postgres")
}

/// All plans as text, statement by statement; a line that reads a whole table is marked.
fn listing(plans: &[Plan]) -> String {
    let mut sorted: Vec<&Plan> = plans.iter().collect();
    sorted.sort_by(|a, b| (&a.statement, a.dialect).cmp(&(&b.statement, b.dialect)));
    let mut text = String::new();
    let mut last = "";
    for plan in sorted {
        if plan.statement != last {
            let space = if last.is_empty() { "" } else { "\n" };
            // Writing to a text does not fail.
            writeln!(text, "{space}{}", plan.statement).ok();
            last = &plan.statement;
        }
        writeln!(text, "  {}", plan.dialect.title()).ok();
        for line in &plan.lines {
            let mark = if plan.is_scan(line) { "!" } else { " " };
            writeln!(text, "  {mark} {line}").ok();
        }
    }
    text
}

/// The statements whose text changed: their old lines with a minus, their new ones with a plus.
fn difference(old: &str, new: &str) -> String {
    let blocks = |text: &str| -> std::collections::BTreeMap<String, Vec<String>> {
        let of = |block: &str| {
            let mut lines = block.lines().map(str::to_owned);
            lines.next().map(|name| (name, lines.collect()))
        };
        text.split("\n\n").filter(|block| !block.trim().is_empty()).filter_map(of).collect()
    };
    let (old, new) = (blocks(old), blocks(new));
    let mut text = String::new();
    let names: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for name in names {
        let (before, after) = (old.get(name), new.get(name));
        if before == after {
            continue;
        }
        let lines = |lines: Option<&Vec<String>>| lines.cloned().unwrap_or_default();
        let (before, after) = (lines(before), lines(after));
        writeln!(text, "{name}").ok();
        for line in before.iter().filter(|line| !after.contains(line)) {
            writeln!(text, "- {line}").ok();
        }
        for line in after.iter().filter(|line| !before.contains(line)) {
            writeln!(text, "+ {line}").ok();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(statement: &str, dialect: Dialect, line: &str) -> Plan {
        Plan { statement: statement.into(), dialect, lines: vec![line.into()] }
    }

    #[test]
    fn a_table_that_is_read_from_end_to_end_is_marked() {
        let plans = [
            plan("job.job_read", Dialect::Pg, "->  Seq Scan on job"),
            plan("job.job_read", Dialect::Sqlite, "SEARCH job USING PRIMARY KEY (id=?)"),
            plan("job.job_all", Dialect::Sqlite, "SCAN job"),
            plan("job.job_all", Dialect::Pg, "Index Scan using job_pkey on job"),
        ];
        let expected = "job.job_all\n  SQLite\n  ! SCAN job\n  Postgres\n    Index Scan using job_pkey on job\n\n\
                        job.job_read\n  SQLite\n    SEARCH job USING PRIMARY KEY (id=?)\n  Postgres\n  ! ->  Seq Scan on job\n";
        assert_eq!(listing(&plans), expected);
        assert_eq!(scans(&plans), "tables are read without an index by 1 on SQLite and 1 on Postgres");
    }

    #[test]
    fn rows_that_the_engine_makes_itself_have_no_index_to_miss() {
        let lines = ["CO-ROUTINE picked", "  SCAN job", "SCAN picked", "SCAN CONSTANT ROW", "SCAN job USING INDEX i"];
        let plan = Plan { statement: "x".into(), dialect: Dialect::Sqlite, lines: lines.map(str::to_owned).to_vec() };
        let scans: Vec<&String> = plan.lines.iter().filter(|line| plan.is_scan(line)).collect();
        assert_eq!(scans, ["  SCAN job"]);
    }

    #[test]
    fn only_what_changed_is_told() {
        let old = "a\n  SQLite\n    SEARCH x\n\nb\n  SQLite\n    SEARCH y\n";
        let new = "a\n  SQLite\n    SEARCH x\n\nb\n  SQLite\n  ! SCAN y\n\nc\n  SQLite\n    SEARCH z\n";
        assert_eq!(difference(old, new), "b\n-     SEARCH y\n+   ! SCAN y\nc\n+   SQLite\n+     SEARCH z\n");
        assert_eq!(difference(old, old), "");
    }
}

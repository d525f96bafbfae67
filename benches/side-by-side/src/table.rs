//! The table that comes out: one row per kind of work, with the ratio and what was asked for.

use std::fmt;

/// One line.
#[derive(Debug, Clone)]
pub struct Row {
    /// What was done.
    pub name: String,
    /// The existing backend's figure, if it can do the work.
    pub theirs: Option<f64>,
    /// Ours.
    pub ours: f64,
    /// The floor's, where there is one.
    pub floor: Option<f64>,
    /// The lowest and the highest of our rounds, where there are several.
    pub spread: Option<(f64, f64)>,
    /// Unit of the figures.
    pub unit: &'static str,
    /// The figure that is judged: a ratio or a time.
    pub judged: f64,
    /// What it must be.
    pub goal: Goal,
}

/// What a row must reach.
#[derive(Debug, Clone, Copy)]
pub enum Goal {
    /// At least this.
    AtLeast(f64),
    /// Below this.
    Below(f64),
}

impl Goal {
    fn met(self, value: f64) -> bool {
        match self {
            Goal::AtLeast(limit) => value >= limit,
            Goal::Below(limit) => value < limit,
        }
    }
}

/// All rows.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Row>,
}

impl Table {
    /// Adds a row and says it on standard error, so that a long run is not silent.
    pub fn push(&mut self, row: Row) {
        eprintln!("{}", line(&row));
        self.rows.push(row);
    }
}

impl Table {
    /// The rows as JSON, a list of objects; a figure that is missing or infinite is null.
    pub fn json(&self) -> String {
        let figure = |value: Option<f64>| {
            value.filter(|value| value.is_finite()).map_or_else(|| "null".to_owned(), |value| value.to_string())
        };
        let rows: Vec<String> = self
            .rows
            .iter()
            .map(|row| {
                format!(
                    "  {{\"work\": {:?}, \"unit\": {:?}, \"existing\": {}, \"ours\": {}, \"lowest\": {}, \"highest\": {}, \
                     \"floor\": {}, \"judged\": {}, \"met\": {}}}",
                    row.name,
                    row.unit,
                    figure(row.theirs),
                    figure(Some(row.ours)),
                    figure(row.spread.map(|(lowest, _)| lowest)),
                    figure(row.spread.map(|(_, highest)| highest)),
                    figure(row.floor),
                    figure(Some(row.judged)),
                    row.goal.met(row.judged),
                )
            })
            .collect();
        format!("[\n{}\n]\n", rows.join(",\n"))
    }
}

fn number(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |v| if v < 100.0 { format!("{v:.2}") } else { format!("{v:.0}") })
}

fn line(row: &Row) -> String {
    let spread = row
        .spread
        .map_or_else(String::new, |(lowest, highest)| format!("{}..{}", number(Some(lowest)), number(Some(highest))));
    let goal = match row.goal {
        Goal::AtLeast(limit) => format!(">= {limit}"),
        Goal::Below(limit) => format!("< {limit}"),
    };
    format!(
        "| {:<52} | {:>9} | {:>9} | {:>15} | {:>9} | {:<7} | {:>8.2} | {:<8} | {} |",
        row.name,
        number(row.theirs),
        number(Some(row.ours)),
        spread,
        number(row.floor),
        row.unit,
        row.judged,
        goal,
        if row.goal.met(row.judged) { "yes" } else { "NO " },
    )
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| {:<52} | {:>9} | {:>9} | {:>15} | {:>9} | {:<7} | {:>8} | {:<8} | met |",
            "work", "existing", "ours", "from..to", "floor", "unit", "judged", "goal"
        )?;
        writeln!(
            f,
            "|{}|{}|{}|{}|{}|{}|{}|{}|-----|",
            "-".repeat(54),
            "-".repeat(11),
            "-".repeat(11),
            "-".repeat(17),
            "-".repeat(11),
            "-".repeat(9),
            "-".repeat(10),
            "-".repeat(10)
        )?;
        for row in &self.rows {
            writeln!(f, "{}", line(row))?;
        }
        Ok(())
    }
}

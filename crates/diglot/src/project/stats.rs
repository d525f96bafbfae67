//! How much was compared.

use serde::{Deserialize, Serialize};

/// Facts that the two pages of all pairs were compared by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// Pairs that were compared.
    pub pairs: usize,
    /// Facts on either page; one that both pages have counts once.
    pub facts: usize,
    /// Those that differ and are declared to.
    pub waived: usize,
    /// Those of them that no page declares: they are about a column that one schema alone has, or a document's spelling.
    pub implied: usize,
    /// Row locks of Postgres that SQLite's one writer holds anyway, as `[locks]` says.
    pub held_by_writer: usize,
}

impl Stats {
    /// How many of a hundred facts are declared to differ.
    pub fn waived_share(&self) -> f64 {
        if self.facts == 0 { 0.0 } else { 100.0 * self.waived as f64 / self.facts as f64 }
    }

    pub(crate) fn add(&mut self, other: Stats) {
        self.pairs += other.pairs;
        self.facts += other.facts;
        self.waived += other.waived;
        self.implied += other.implied;
        self.held_by_writer += other.held_by_writer;
    }
}

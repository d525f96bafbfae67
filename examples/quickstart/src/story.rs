//! Prints what happens, when, and who did it: coloured on a terminal, plain in a pipe.

use std::io::{IsTerminal, Write};
use std::time::Instant;

/// The clock and the pen.
pub(crate) struct Story {
    start: Instant,
    color: bool,
}

impl Story {
    /// Starts the clock.
    pub(crate) fn begin() -> Self {
        Self { start: Instant::now(), color: std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none() }
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn print(&self, line: &str) {
        // A reader that closed the pipe has seen enough.
        let _ = writeln!(std::io::stdout(), "{line}");
    }

    /// A heading.
    pub(crate) fn title(&self, text: &str) {
        self.print(&format!("\n{}", self.paint("1", text)));
    }

    /// One thing that `who` did.
    pub(crate) fn says(&self, who: &str, what: &str) {
        let time = format!("{:7.3} s", self.start.elapsed().as_secs_f64());
        let color = match who {
            "north" => "36",
            "south" => "35",
            "east" => "31",
            "tail" => "33",
            _ => "32",
        };
        self.print(&format!("  {}  {}  {what}", self.paint("2", &time), self.paint(color, &format!("{who:<6}"))));
    }

    /// A line of a table.
    pub(crate) fn row(&self, cells: &[&str], head: bool) {
        const WIDTHS: [usize; 6] = [18, 10, 8, 9, 7, 36];
        let line: Vec<String> = cells.iter().zip(WIDTHS).map(|(cell, width)| format!("{cell:<width$}")).collect();
        let line = line.join(" ");
        self.print(&format!("  {}", if head { self.paint("4", line.trim_end()) } else { line.trim_end().to_owned() }));
    }

    /// A closing remark.
    pub(crate) fn note(&self, text: &str) {
        self.print(&format!("\n{}", self.paint("2", text)));
    }
}

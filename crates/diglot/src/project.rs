//! A project as the compiler is handed it, and how much of it was compared.

mod stats;

use crate::config::{Config, Places, Transactions};
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::extract;
use crate::schema;
use crate::source::{FileId, Role, Sources};

pub use stats::Stats;

/// How much of a database is shown on which two pages differ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Detail {
    /// What the pages name, in a few lines.
    #[default]
    Short,
    /// All of it.
    Whole,
}

/// Everything that the compiler reads.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    /// Configuration.
    pub config: Config,
    /// All files: statement files and migrations of both dialects, told apart by path.
    pub sources: Sources,
    /// The file of `sources` that holds the baseline, if there is one.
    pub baseline: Option<FileId>,
    /// The text of `.sqlx/diglot.json`, if there is one.
    pub answers: Option<String>,
    /// The text of `.sqlx/evidence.json`, if there is one.
    pub evidence: Option<String>,
    /// The Rust that an earlier run generated, if there is some: stubs of broken statements take their shape
    /// from it.
    pub previous: Option<String>,
    /// Whether answers that are missing or out of date are findings. `prepare` turns it off while it asks.
    pub check_answers: bool,
    /// Whether the engines are about to be asked: what running decides is no finding yet.
    pub asking: bool,
    /// How much of a database is shown on which pages differ.
    pub detail: Detail,
    /// What the transactions of the Rust call that `[locks]` names, where it is a statement.
    pub transactions: Transactions,
    /// Files of Go and Rust outside of the places of SQL, of which texts name constants.
    pub named: Vec<String>,
    /// What was found while the files were read: text that is not UTF-8, a bad `diglot.toml`.
    pub findings: Vec<Diagnostic>,
    /// How many threads work on the statements; with none and with one it is the caller's alone. What comes out is the
    /// same.
    pub threads: usize,
}

impl Inputs {
    /// The statement files of a dialect with their stems, in the order of their names.
    pub fn statement_files(&self, dialect: Dialect) -> Vec<(FileId, &str)> {
        let mut files = self.files(&self.config.sql, dialect, Role::Statements);
        files.sort_by_key(|(_, stem)| *stem);
        files
    }

    /// The migrations of a dialect with their stems, in the order in which they run.
    pub fn migrations(&self, dialect: Dialect) -> Vec<(FileId, &str)> {
        let files = schema::in_order(self.files(&self.config.schema, dialect, Role::Schema));
        let is_code = |(id, _): &(FileId, &str)| extract::reads(&self.sources.file(*id).path);
        if files.iter().filter(|file| is_code(file)).count() < 2 {
            return files;
        }
        // Files of a program have no numbers: steps of SQL stay where they are, and the others stand behind them.
        let (code, mut steps): (Vec<_>, Vec<_>) = files.into_iter().partition(is_code);
        let texts = code.into_iter().map(|file| (file, self.sources.file(file.0).text.as_str())).collect();
        steps.extend(extract::in_order(texts));
        steps
    }

    fn files(&self, places: &Places, dialect: Dialect, role: Role) -> Vec<(FileId, &str)> {
        let files = self.sources.iter().filter(|(_, file)| file.role.is_none_or(|of| of == role));
        files.filter_map(|(id, file)| Some((id, places.stem(dialect, &file.path)?))).collect()
    }
}

//! The passes in order.

use crate::config::Config;
use crate::diagnostic::Diagnostic;
use crate::infer::Signature;
use crate::source::Sources;

/// Everything that the compiler reads.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    /// Configuration.
    pub config: Config,
    /// All files: statement files and migrations of both dialects, told apart by path.
    pub sources: Sources,
    /// The text of `.sqlx/diglot.json`, if there is one.
    pub answers: Option<String>,
}

/// What one run gives.
#[derive(Debug, Clone, Default)]
pub struct Compiled {
    /// The generated Rust, formatted. With errors: `compile_error!`s and typed stubs.
    pub rust: String,
    /// All findings, in order of file and place.
    pub diagnostics: Vec<Diagnostic>,
    /// Every generated function.
    pub signatures: Vec<Signature>,
    /// Every emitted SQL text.
    pub texts: Vec<EmittedText>,
}

/// One emitted SQL text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmittedText {
    /// The file's stem.
    pub noun: String,
    /// `noun_verb`.
    pub name: String,
    /// The page.
    pub dialect: crate::dialect::Dialect,
    /// The text as it goes to the driver.
    pub sql: String,
    /// How many SQL statements it holds.
    pub statements: usize,
}

/// Compiles a project.
pub fn compile(inputs: &Inputs) -> Compiled {
    let _ = inputs;
    Compiled::default()
}

//! The passes in order.

use crate::config::Config;
use crate::diagnostic::Diagnostic;
use crate::infer::Signature;
use crate::source::Sources;
use crate::types::{Base, Type};

/// Everything that the compiler reads.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    /// Configuration.
    pub config: Config,
    /// All files: statement files and migrations of both dialects, told apart by path.
    pub sources: Sources,
    /// The text of `.sqlx/diglot.json`, if there is one.
    pub answers: Option<String>,
    /// The Rust that an earlier run generated, if there is some: stubs of broken statements take their shape
    /// from it.
    pub previous: Option<String>,
    /// Whether answers that are missing or out of date are findings. `prepare` turns it off while it asks.
    pub check_answers: bool,
    /// What was found while the files were read: text that is not UTF-8, a bad `diglot.toml`.
    pub findings: Vec<Diagnostic>,
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
    /// Each of its SQL statements alone, without the leading comment, numbered as in the whole.
    pub parts: Vec<String>,
    /// Which of `parts` returns rows.
    pub result: Option<usize>,
    /// The parameters that it uses, in the order of their numbers.
    pub params: Vec<TextParam>,
    /// The columns of its result, as inference sees them on this page.
    pub columns: Vec<TextColumn>,
}

/// A parameter of an emitted text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextParam {
    /// Its name.
    pub name: String,
    /// Its type in the generated API.
    pub ty: Type,
}

/// A result column of an emitted text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextColumn {
    /// Its name.
    pub name: String,
    /// The type on this page, where known.
    pub base: Option<Base>,
    /// Whether it may be NULL on this page.
    pub nullable: bool,
    /// Declared by `-- column:`, so not for the engine to decide.
    pub declared: bool,
}

/// Compiles a project.
pub fn compile(inputs: &Inputs) -> Compiled {
    let _ = inputs;
    Compiled::default()
}

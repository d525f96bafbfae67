//! Why a command failed, and the way out.

use std::error::Error;
use std::fmt;

use ff_core::engine_error::EngineError;

/// What is told instead of an answer.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) says: String,
    pub(crate) help: Option<String>,
    /// Whether a pooler hands sessions on.
    pub(crate) is_shared: bool,
}

impl Failure {
    pub(crate) fn new(says: impl Into<String>) -> Self {
        Self { says: says.into(), help: None, is_shared: false }
    }

    pub(crate) fn with(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.says)
    }
}

/// An error with what is behind it, each thing once.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut says = error.to_string();
    let mut behind = error.source();
    while let Some(error) = behind {
        let text = error.to_string();
        if !says.contains(&text) {
            says = format!("{says}: {text}");
        }
        behind = error.source();
    }
    says
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self::new(chain(&error)).with("`ff-sql doctor` looks for what is wrong with the database")
    }
}

//! What an engine refuses becomes a finding at the statement, in the look of the compiler's own.

use diglot::EmittedText;
use diglot::diagnostic::Diagnostic;
use diglot::dialect::Dialect;
use diglot::rules;
use diglot::source::{FileId, Span};
use sqlx::postgres::PgDatabaseError;

use super::Project;
use crate::failure::Failure;

/// What an engine said against a text.
#[derive(Debug)]
pub(crate) struct Refusal {
    message: String,
    detail: Option<String>,
    hint: Option<String>,
    /// The byte of the text at which it points.
    at: Option<usize>,
}

impl Refusal {
    /// Takes an engine's words out of an error; an error that is not about the text is the tool's failure.
    pub(super) fn of(error: sqlx::Error, at: Option<usize>) -> Result<Self, Failure> {
        if let Some(database) = error.as_database_error() {
            let postgres = database.try_downcast_ref::<PgDatabaseError>();
            return Ok(Self {
                message: database.message().to_owned(),
                detail: postgres.and_then(PgDatabaseError::detail).map(str::to_owned),
                hint: postgres.and_then(PgDatabaseError::hint).map(str::to_owned),
                at,
            });
        }
        match error {
            error @ (sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::WorkerCrashed) => {
                Err(Failure::engine("talk to the engine")(error))
            }
            error => Ok(Self { message: error.to_string(), detail: None, hint: None, at }),
        }
    }

    /// The engine's words.
    pub(crate) fn into_message(self) -> String {
        self.message
    }

    /// The word that SQLite complains about; it gives no position.
    fn word(&self) -> Option<&str> {
        if let Some(rest) = self.message.strip_prefix("near \"") {
            return rest.split('"').next();
        }
        let (_, name) = self.message.split_once(": ")?;
        let name = name.rsplit('.').next()?;
        (!name.contains(char::is_whitespace)).then_some(name)
    }

    fn into_finding(self, dialect: Dialect, name: &str, what: &str, span: Span) -> Diagnostic {
        let title = dialect.title();
        let message = format!("{name}: {title} refuses the {what}: {}", self.message);
        let mut finding =
            Diagnostic::error(rules::ENGINE_REFUSES, message, span, format!("{title} says: {}", self.message));
        finding.notes.extend(self.detail);
        finding.help.extend(self.hint);
        finding
    }
}

impl Project<'_> {
    /// A statement that an engine refused.
    pub(super) fn refused(&self, text: &EmittedText, refusal: Refusal) -> Diagnostic {
        let sources = &self.inputs.sources;
        let of_word = |word: &str| {
            let is_word = |(_, span): &&(usize, Span)| sources.text(*span).eq_ignore_ascii_case(word);
            let mut found = text.places.iter().filter(is_word);
            found.next().filter(|_| found.next().is_none())
        };
        let place = match refusal.at {
            Some(at) => text.places.iter().take_while(|(start, _)| *start <= at).last(),
            None => refusal.word().and_then(of_word),
        };
        let finding = |span| refusal.into_finding(text.dialect, &text.name, "statement", span);
        match place {
            Some((_, span)) => finding(*span).context(text.place, ""),
            None => finding(text.place),
        }
    }

    /// A migration that an engine refused. What comes after it was not asked.
    pub(super) fn migration_refused(&self, dialect: Dialect, file: FileId, refusal: Refusal) -> Diagnostic {
        let source = self.inputs.sources.file(file);
        let start = refusal.at.unwrap_or(0).min(source.text.len());
        let rest = source.text.get(start..).unwrap_or_default();
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        refusal
            .into_finding(dialect, &source.path, "migration", Span::new(file, start..start + length.max(1)))
            .note("the statements were not asked, because the schema is incomplete")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(message: &str) -> Refusal {
        Refusal { message: message.into(), detail: None, hint: None, at: None }
    }

    #[test]
    fn the_word_that_sqlite_complains_about_is_known() {
        assert_eq!(refusal("no such column: core.lane").word(), Some("lane"));
        assert_eq!(refusal("near \"FRM\": syntax error").word(), Some("FRM"));
        assert_eq!(refusal("ON CONFLICT clause does not match any UNIQUE constraint").word(), None);
    }

    #[test]
    fn a_broken_connection_is_no_finding() {
        let error = sqlx::Error::Io(std::io::ErrorKind::ConnectionReset.into());
        assert!(Refusal::of(error, None).is_err());
    }
}

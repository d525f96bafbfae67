//! The setting that would make a difference vanish, told at the difference: found by comparing once more as if it stood in
//! `diglot.toml`.

use super::Compared;
use crate::config::FILE;
use crate::diagnostic::Diagnostic;

/// A line of the settings that says something of the whole project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Setting {
    /// `pg_timezone = "UTC"`
    Utc,
    /// `json_text = "parsed"`
    ParsedText,
}

impl Setting {
    fn help(self) -> String {
        match self {
            Self::Utc => {
                format!("or, if every session of Postgres is in UTC, say so in `{FILE}`: `pg_timezone = \"UTC\"`")
            }
            Self::ParsedText => {
                format!("or, if whoever gets this text parses it, say so in `{FILE}`: `json_text = \"parsed\"`")
            }
        }
    }
}

/// Adds the line to the findings of which nothing is left `with` it.
pub(super) fn name(compared: &mut Compared, with: &Compared, setting: Setting) {
    let touches = |finding: &Diagnostic, other: &Diagnostic| {
        let mut spans = finding.labels.iter().flat_map(|one| other.labels.iter().map(|two| (one.span, two.span)));
        spans.any(|(one, two)| one.contains(two) || two.contains(one))
    };
    for finding in &mut compared.found {
        let stays = with.found.iter().any(|other| other.rule == finding.rule && touches(finding, other));
        if !stays {
            finding.help.push(setting.help());
        }
    }
}

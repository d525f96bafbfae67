//! Settings that are one of a few words.

/// What becomes of a document that a statement gives as text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum JsonText {
    /// Its letters count.
    #[default]
    Exact,
    /// Whoever gets it parses it: how each engine spells it is no difference.
    Parsed,
}

/// What becomes of a pair that is only known to be the same because it was run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Unproved {
    /// It is the same.
    #[default]
    Allow,
    /// What its texts leave open stays a finding.
    Deny,
}

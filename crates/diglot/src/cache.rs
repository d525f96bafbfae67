//! What a run keeps for the next one: what statements without findings gave.
//!
//! A statement's outcome follows from its own text on both pages and from what all statements share: the schemas, the
//! settings and the baseline. While these are the same, only statements that changed are worked on. What has findings,
//! and what belongs to a declared transaction, is never kept.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::dialect::Dialect;
use crate::digest::digest;
use crate::emitted::EmittedText;
use crate::infer::Signature;
use crate::locks::Summary;
use crate::page::RawStatement;
use crate::project::{Inputs, Stats};
use crate::source::Sources;

/// What statements gave, by the digest of their own texts.
pub(crate) type Outcomes = BTreeMap<String, Outcome>;

/// What one statement gave.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(crate) signatures: Vec<Signature>,
    /// Without their places, which are those of another day.
    pub(crate) texts: Vec<EmittedText>,
    pub(crate) stats: Stats,
    /// What the Postgres page locks.
    pub(crate) locks: Vec<Summary>,
}

/// What an earlier run has kept.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Cache {
    /// The digest of everything that all statements share.
    shared: String,
    statements: Outcomes,
}

impl Cache {
    pub(crate) fn new(shared: String, statements: Outcomes) -> Self {
        Self { shared, statements }
    }

    /// The digests of the statements.
    #[cfg(test)]
    pub(crate) fn keys(&self) -> impl Iterator<Item = &String> {
        self.statements.keys()
    }

    /// What still holds with all that is shared now.
    pub(crate) fn beside(&self, shared: &str) -> Option<&Outcomes> {
        (self.shared == shared).then_some(&self.statements)
    }
}

/// The digest of all files but the statements' own, and of where these are.
pub(crate) fn shared(inputs: &Inputs) -> String {
    let pages: Vec<_> = Dialect::ALL.into_iter().flat_map(|dialect| inputs.statement_files(dialect)).collect();
    let others = inputs.sources.iter().filter(|(id, _)| pages.iter().all(|(page, _)| page != id));
    digest(one_text(others.flat_map(|(_, file)| [file.path.as_str(), file.text.as_str()])).as_bytes())
}

/// The digest of what a statement itself says on the pages that have it.
pub(crate) fn key<'a>(
    sources: &'a Sources,
    (noun, dialects): (&'a str, &[Dialect]),
    sides: impl Iterator<Item = (Dialect, &'a RawStatement)>,
) -> String {
    digest(wording(sources, (noun, dialects), sides).as_bytes())
}

/// All that a statement itself says on the pages that have it, wherever it stands.
pub(crate) fn wording<'a>(
    sources: &'a Sources,
    (noun, dialects): (&'a str, &[Dialect]),
    sides: impl Iterator<Item = (Dialect, &'a RawStatement)>,
) -> String {
    let mut texts = vec![noun];
    texts.extend(dialects.iter().map(|dialect| dialect.word()));
    for (dialect, raw) in sides {
        texts.extend(["page", dialect.word()]);
        texts.extend(raw.docs.iter().map(String::as_str));
        texts.push("annotations");
        texts.extend(raw.annotations.iter().map(|annotation| sources.text(annotation.span)));
        texts.extend(["text", sources.text(raw.span)]);
        texts.extend(raw.shared().into_iter().map(|shared| sources.text(shared)));
        texts.extend(raw.bound.iter().map(|bound| bound.argument.text.as_str()));
    }
    one_text(texts.into_iter())
}

/// Several texts as one: the length of each tells where it ends.
fn one_text<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let mut all = String::new();
    for text in texts {
        all.push_str(&format!("{} {text}\n", text.len()));
    }
    all
}

//! The baseline of a project as it stands.

use super::{Compiled, check};
use crate::baseline::{FILE, Key, can_keep, text};
use crate::project::Inputs;
use crate::source::SourceFile;

/// How often what a baseline keeps may bring up more: a statement whose facing one is missing is read once that is known.
const ROUNDS: usize = 8;

/// Everything of today that a baseline may keep.
#[derive(Debug, Clone, Default)]
pub struct BaselineDraft {
    /// The text of the file; none when there is nothing to keep.
    pub text: Option<String>,
    /// How the project stands with it: its findings are those that no baseline keeps.
    pub compiled: Compiled,
}

/// Makes the baseline with which a project has no finding that may be kept, and gives it to the inputs in the place of
/// the one that they have. What is kept brings up more now and then, which is kept as well.
pub fn draft_baseline(inputs: &mut Inputs) -> BaselineDraft {
    let file = inputs.sources.add(SourceFile::new(FILE, ""));
    inputs.baseline = Some(file);
    let mut keys: Vec<Key> = Vec::new();
    let mut compiled = check(inputs);
    for _ in 0..ROUNDS {
        let new = compiled.diagnostics.iter().zip(&compiled.keys).filter(|(finding, _)| can_keep(finding));
        let mut now: Vec<Key> = compiled.known_keys.iter().chain(new.map(|(_, key)| key)).cloned().collect();
        now.sort();
        if now == keys {
            break;
        }
        keys = now;
        inputs.sources.replace(file, SourceFile::new(FILE, text(keys.iter())));
        compiled = check(inputs);
    }
    BaselineDraft { text: (!keys.is_empty()).then(|| text(keys.iter())), compiled }
}

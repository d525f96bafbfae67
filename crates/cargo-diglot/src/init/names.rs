//! Which statements may face each other that the pages call differently: lines of `[names]` to look at.

use std::path::Path;

use super::beneath;
use crate::failure::Failure;

/// Writes the lines into settings that are new, and shows them where the settings were there before.
pub(super) fn propose(root: &Path, is_new: bool) -> Result<(), Failure> {
    // Settings that cannot be read are told by the next command.
    let Ok(inputs) = diglot::build::load(root) else { return Ok(()) };
    let proposals = diglot::propose_names(&inputs);
    let lines: Vec<String> = proposals.iter().map(|(sqlite, pg)| format!("\"{sqlite}\" = \"{pg}\"")).collect();
    beneath(
        (root, is_new),
        ("[names]", "How the pages name statements that may face each other: look at each."),
        &lines,
        [
            "how statements are named that may face each other is guessed below `[names]` in diglot.toml: look at each line",
            "some statements have other names on the other page; as far as the names show it:",
        ],
    )
}

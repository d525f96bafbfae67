//! How SQLite may hold the times of a project whose schemas do not say it: lines of `[storage]` to look at.

use std::path::Path;

use super::beneath;
use crate::failure::Failure;

/// Writes the lines into settings that are new, and shows them where the settings were there before.
pub(super) fn propose(root: &Path, is_new: bool) -> Result<(), Failure> {
    // Settings that cannot be read are told by the next command.
    let Ok(inputs) = diglot::build::load(root) else { return Ok(()) };
    let proposals = diglot::propose_storage(&inputs);
    let lines: Vec<String> = proposals.iter().map(|one| format!("\"{}\" = \"{}\"", one.column, one.word)).collect();
    beneath(
        (root, is_new),
        ("[storage]", "How SQLite holds times, as far as the project shows it: look at each."),
        &lines,
        [
            "how SQLite holds times is guessed below `[storage]` in diglot.toml: look at each line",
            "diglot.toml says of some times not how SQLite holds them; as far as the project shows it:",
        ],
    )
}

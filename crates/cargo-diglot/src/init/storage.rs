//! How SQLite may hold the times of a project whose schemas do not say it: lines of `[storage]` to look at.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use diglot::config::FILE as CONFIG;

use crate::failure::Failure;
use crate::report;

/// Writes the lines into settings that are new, and shows them where the settings were there before.
pub(super) fn propose(root: &Path, is_new: bool) -> Result<(), Failure> {
    // Settings that cannot be read are told by the next command.
    let Ok(inputs) = diglot::build::load(root) else { return Ok(()) };
    let proposals = diglot::propose_storage(&inputs);
    if proposals.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = proposals.iter().map(|one| format!("\"{}\" = \"{}\"", one.column, one.word)).collect();
    let has_table = fs::read_to_string(root.join(CONFIG)).is_ok_and(|text| text.contains("[storage]"));
    if is_new {
        let text = format!(
            "\n# How SQLite holds times, as far as the project shows it: look at each.\n[storage]\n{}\n",
            lines.join("\n")
        );
        let written = OpenOptions::new().append(true).open(root.join(CONFIG));
        written.and_then(|mut file| file.write_all(text.as_bytes())).map_err(Failure::io(format!("write {CONFIG}")))?;
        report::line("how SQLite holds times is guessed below `[storage]` in diglot.toml: look at each line");
        return Ok(());
    }
    report::line("diglot.toml says of some times not how SQLite holds them; as far as the project shows it:\n");
    report::line(&format!("{}{}\n", if has_table { "" } else { "[storage]\n" }, lines.join("\n")));
    Ok(())
}

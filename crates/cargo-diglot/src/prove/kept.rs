//! Cases that a project keeps: every `.toml` file in its folder `prove`.

use std::fs;
use std::io;
use std::path::Path;

use diglot_tools::prove::Case;

use crate::failure::Failure;

/// Where they are.
pub(super) const FOLDER: &str = "prove";

/// All kept cases with the names of their statements, in the order of the files.
pub(super) fn read(root: &Path) -> Result<Vec<(String, Case)>, Failure> {
    let folder = root.join(FOLDER);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(Failure::Io { what: format!("read {}", folder.display()), source }),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(Failure::io(format!("read {}", folder.display())))?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            paths.push(path);
        }
    }
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let shown = path.display().to_string();
        let text = fs::read_to_string(&path).map_err(Failure::io(format!("read {shown}")))?;
        let case =
            Case::from_toml(&text).map_err(|error| Failure::KeptCase { path: shown, message: error.to_string() })?;
        cases.push(case);
    }
    Ok(cases)
}

//! Where a folder keeps its SQL for either database: as the settings of sqlc say, or else as the names of its folders and
//! files tell.

mod names;
pub(crate) mod sqlc;

use std::path::Path;

use diglot::dialect::Both;

use crate::failure::Failure;

/// Folders in which nobody keeps SQL of his own.
const FOREIGN: [&str; 5] = ["node_modules", "target", "vendor", "testdata", "tests"];

/// Where the files of both dialects are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Places {
    /// What told them, as it is named to the user.
    pub(crate) told_by: String,
    /// Where the statements are.
    pub(crate) queries: Both<Vec<String>>,
    /// Where the schemas are.
    pub(crate) schema: Both<Vec<String>>,
}

impl Places {
    /// Whether statements stand in code of a program.
    pub(crate) fn are_code(&self) -> bool {
        self.queries.iter().flatten().any(|place| diglot::extract::reads(place))
    }

    /// A configuration with these places below what every new one says.
    pub(crate) fn config(&self, usual: &str) -> String {
        let written = |places: &[String]| match places {
            [one] => format!("\"{one}\""),
            several => {
                let line = several.iter().map(|one| format!("\"{one}\"")).collect::<Vec<_>>().join(", ");
                let list = several.iter().map(|one| format!("    \"{one}\",\n")).collect::<String>();
                if line.len() < WIDTH { format!("[{line}]") } else { format!("[\n{list}]") }
            }
        };
        let table = |name: &str, Both { sqlite, pg }: &Both<Vec<String>>| {
            format!("\n[{name}]\nsqlite = {}\npg = {}\n", written(sqlite), written(pg))
        };
        format!("{usual}{}{}", table("sql", &self.queries), table("schema", &self.schema))
    }
}

/// The longest list that stands in one line.
const WIDTH: usize = 100;

/// What a search for SQL of both databases came to.
#[derive(Debug)]
pub(crate) enum Search {
    /// Places of both.
    Found {
        /// Those that belong together.
        places: Places,
        /// Folders with SQL of both databases that has tables of the same names, so that it is another project.
        beside: Vec<String>,
    },
    /// Not enough of one of them.
    Nothing {
        /// Where it was looked, what was found there, and what is needed.
        why: String,
    },
}

/// Looks for SQL of both databases in a folder.
pub(crate) fn find(root: &Path) -> Result<Search, Failure> {
    let unclear = match sqlc::find(root)? {
        sqlc::Found::Places(places) => return Ok(Search::Found { places: *places, beside: Vec::new() }),
        sqlc::Found::Unclear { file, why } => Some(format!("{file}: {why}\n")),
        sqlc::Found::Nothing => None,
    };
    Ok(match names::find(root) {
        Search::Nothing { why } => Search::Nothing { why: unclear.unwrap_or_default() + &why },
        found => found,
    })
}

/// The places that names of folders and files tell, where they tell enough.
pub(crate) fn by_names(root: &Path) -> Option<Places> {
    match names::find(root) {
        Search::Found { places, .. } => Some(places),
        Search::Nothing { .. } => None,
    }
}

/// Whether what is below a folder of that name is looked at.
fn is_own(folder: &str) -> bool {
    !folder.starts_with('.') && !FOREIGN.contains(&folder)
}

/// The path of something in a folder; the folder is empty at the top.
fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

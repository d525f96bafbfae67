//! Which indexes the files of a schema make and leave.

use std::collections::BTreeSet;

use super::ledger::Step;

/// The names of the indexes that a database with all versions has.
#[derive(Debug)]
pub(crate) struct IndexNames(BTreeSet<&'static str>);

impl IndexNames {
    /// Reads them out of the files: those that are made and not dropped later. One whose name is put together as the file
    /// runs is not found.
    pub(super) fn of(steps: &[Step]) -> Self {
        let mut names = BTreeSet::new();
        for step in steps {
            let code = step.sql.lines().map(|line| line.split_once("--").map_or(line, |(code, _)| code));
            let words: Vec<&str> = code.flat_map(str::split_whitespace).collect();
            for (at, word) in words.iter().enumerate() {
                let before = |n: usize| at.checked_sub(n).and_then(|at| words.get(at)).copied();
                let skipped = ["CONCURRENTLY", "IF", "NOT", "EXISTS", "ONLY"];
                let name = words.iter().skip(at + 1).find(|word| !skipped.contains(word));
                let name = name.map(|name| name.trim_matches([';', '\'', '"']));
                let Some(name) = name.filter(|name| *word == "INDEX" && name.starts_with("ff_")) else { continue };
                match before(1) {
                    Some("DROP") => {
                        names.remove(name);
                    }
                    Some("CREATE" | "UNIQUE") => {
                        names.insert(name);
                    }
                    _ => {}
                }
            }
        }
        Self(names)
    }

    /// Those that are not among others.
    pub(crate) fn without(&self, found: &[String]) -> Vec<String> {
        let is_missing = |name: &&&str| !found.iter().any(|found| found == *name);
        self.0.iter().filter(is_missing).map(|name| (*name).to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dropped_later_is_not_missed() {
        let sql = "CREATE INDEX ff_a_idx\n ON a (b);\n-- CREATE INDEX ff_said_idx\nCREATE UNIQUE INDEX IF NOT EXISTS ff_b_idx ON a (c);";
        let first = Step { stem: "1001_first", sql };
        let second = Step {
            stem: "1002_second",
            sql: "DROP INDEX IF EXISTS ff_a_idx; CREATE INDEX CONCURRENTLY ff_c_idx ON a (d);",
        };
        assert_eq!(IndexNames::of(&[first]).without(&[]), ["ff_a_idx", "ff_b_idx"]);
        assert_eq!(IndexNames::of(&[first, second]).without(&["ff_b_idx".to_owned()]), ["ff_c_idx"]);
    }
}

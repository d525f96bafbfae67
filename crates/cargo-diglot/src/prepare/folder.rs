//! The folder `.sqlx`: what has to change there, and changing it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use diglot::evidence::{self, Evidence};

use crate::failure::Failure;
use crate::{Outcome, report};

/// How many files are named before the rest is only counted.
const NAMED: usize = 8;

/// The evidence of a run that has not come to its end. Builds do not read it, and answers that were recorded before do not
/// rest on it.
const UNFINISHED: &str = "evidence.unfinished.json";

/// What differs between the files on disk and the answers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Changes<'a> {
    folder: PathBuf,
    /// New and different files.
    write: Vec<(&'a str, &'a str)>,
    /// Answers to texts that are no more.
    remove: Vec<String>,
}

impl<'a> Changes<'a> {
    /// What has to change so that the folder holds these files and no other of ours.
    pub(super) fn between(folder: &Path, files: &'a BTreeMap<String, String>) -> Result<Self, Failure> {
        Self::among(folder, files, |_| true)
    }

    /// The same for the answers, whatever evidence is there.
    pub(super) fn of_answers(folder: &Path, files: &'a BTreeMap<String, String>) -> Result<Self, Failure> {
        Self::among(folder, files, |name| name != evidence::FILE)
    }

    /// The same for one file alone.
    pub(super) fn only(folder: &Path, name: &str, files: &'a BTreeMap<String, String>) -> Result<Self, Failure> {
        Self::among(folder, files, |other| other == name)
    }

    fn among(
        folder: &Path,
        files: &'a BTreeMap<String, String>,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Self, Failure> {
        let mut there = existing(folder).map_err(Failure::io(format!("read {}", folder.display())))?;
        there.retain(|name| is_wanted(name));
        let differs = |name: &str, text: &str| {
            !there.contains(&name.to_owned()) || fs::read(folder.join(name)).is_ok_and(|found| found != text.as_bytes())
        };
        let pairs = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).filter(|(name, _)| is_wanted(name));
        let write = pairs.filter(|(name, text)| differs(name, text)).collect();
        let is_known = |name: &String| name == evidence::FILE || is_ours(&folder.join(name));
        let is_gone = |name: &String| !files.contains_key(name) && is_known(name);
        let remove = there.into_iter().filter(is_gone).collect();
        Ok(Self { folder: folder.to_path_buf(), write, remove })
    }

    /// Says what would change; that is a finding.
    pub(super) fn complain(&self) -> Outcome {
        if self.write.is_empty() && self.remove.is_empty() {
            report::line("the recorded answers are up to date");
            return Outcome::Clean;
        }
        let stale = self.write.iter().map(|(name, _)| format!("  out of date or missing: {name}"));
        let orphans = self.remove.iter().map(|name| format!("  no longer asked: {name}"));
        let lines: Vec<String> = stale.chain(orphans).collect();
        report::line(&format!("the recorded answers in {} are out of date", self.folder.display()));
        for line in lines.iter().take(NAMED) {
            report::line(line);
        }
        if lines.len() > NAMED {
            report::line(&format!("  and {} more", lines.len() - NAMED));
        }
        report::line("run `cargo diglot prepare` and commit what it writes");
        Outcome::Findings
    }

    pub(super) fn write(&self) -> Result<Outcome, Failure> {
        fs::create_dir_all(&self.folder).map_err(Failure::io(format!("make {}", self.folder.display())))?;
        for (name, text) in &self.write {
            let path = self.folder.join(name);
            fs::write(&path, text).map_err(Failure::io(format!("write {}", path.display())))?;
        }
        for name in &self.remove {
            let path = self.folder.join(name);
            fs::remove_file(&path).map_err(Failure::io(format!("remove {}", path.display())))?;
        }
        let (written, removed) = (self.write.len(), self.remove.len());
        report::line(&match (written, removed) {
            (0, 0) => "the recorded answers were up to date".to_owned(),
            _ => {
                format!("{} written, {removed} removed in {}", report::counted(written, "file"), self.folder.display())
            }
        });
        Ok(Outcome::Clean)
    }
}

/// Keeps the evidence that there is so far, for the next run if this one is interrupted.
pub(crate) fn keep(folder: &Path, so_far: &Evidence) -> Result<(), Failure> {
    let path = folder.join(UNFINISHED);
    let write = fs::create_dir_all(folder).and_then(|()| fs::write(&path, so_far.to_text()));
    write.map_err(Failure::io(format!("write {}", path.display())))
}

/// The evidence of a run that was interrupted. A file that was cut off in the middle is none.
pub(super) fn kept(folder: &Path) -> Option<Evidence> {
    Evidence::parse(&fs::read_to_string(folder.join(UNFINISHED)).ok()?)
}

/// Removes that, once all of it is written where it belongs.
pub(super) fn forget(folder: &Path) {
    fs::remove_file(folder.join(UNFINISHED)).ok();
}

/// Whether a file holds the answer to a text of diglot's; sqlx keeps those of a crate's own queries in the same folder.
/// A file that is no JSON any more, such as one that a merge left its markers in, is known by its lines.
fn is_ours(path: &Path) -> bool {
    let Ok(text) = fs::read_to_string(path) else { return false };
    match serde_json::from_str::<serde_json::Value>(&text) {
        Ok(answer) => answer["query"].as_str().is_some_and(diglot::answers::is_emitted),
        Err(_) => text
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix("\"query\": \""))
            .any(diglot::answers::is_emitted),
    }
}

/// The answers in the folder; everything else there is left alone.
fn existing(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for entry in entries {
        if let Ok(name) = entry?.file_name().into_string() {
            let ours = [diglot::answers::INDEX_FILE, evidence::FILE].contains(&name.as_str())
                || (name.starts_with("query-") && name.ends_with(".json"));
            names.extend(ours.then_some(name));
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted() -> BTreeMap<String, String> {
        [("diglot.json", "index"), ("query-1.json", "one"), ("query-2.json", "two")]
            .map(|(name, text)| (name.to_owned(), text.to_owned()))
            .into()
    }

    #[test]
    fn a_second_run_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let files = wanted();
        let path = folder.path().join(".sqlx");
        assert_eq!(Changes::between(&path, &files).unwrap().complain(), Outcome::Findings);
        Changes::between(&path, &files).unwrap().write().unwrap();
        let again = Changes::between(&path, &files).unwrap();
        assert!(again.write.is_empty() && again.remove.is_empty());
        assert_eq!(again.complain(), Outcome::Clean);
    }

    #[test]
    fn an_interrupted_run_leaves_its_evidence_and_a_finished_one_none_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".sqlx");
        assert_eq!(kept(&path), None);
        let so_far = Evidence { version: evidence::VERSION, ..Evidence::default() };
        keep(&path, &so_far).unwrap();
        assert_eq!(kept(&path), Some(so_far.clone()));
        assert_eq!(existing(&path).unwrap(), Vec::<String>::new());
        let text = so_far.to_text();
        fs::write(path.join(UNFINISHED), &text[..text.len() / 2]).unwrap();
        assert_eq!(kept(&path), None);
        forget(&path);
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
    }

    #[test]
    fn answers_to_texts_that_are_no_more_go_and_foreign_files_stay() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("query-0.json"), r#"{"query": "/* job.job_old pg */ SELECT 1"}"#).unwrap();
        fs::write(folder.path().join("query-9.json"), r#"{"query": "/* mine */ SELECT 1"}"#).unwrap();
        let merged = "{\n<<<<<<< ours\n  \"query\": \"/* job.job_old pg */ SELECT 2\"\n=======\n";
        fs::write(folder.path().join("query-8.json"), merged).unwrap();
        fs::write(folder.path().join("query-7.json"), "{").unwrap();
        fs::write(folder.path().join("query-1.json"), "older").unwrap();
        fs::write(folder.path().join("README"), "mine").unwrap();
        let files = wanted();
        let changes = Changes::between(folder.path(), &files).unwrap();
        assert_eq!(changes.remove, ["query-0.json", "query-8.json"]);
        assert_eq!(changes.write.len(), 3);
        changes.write().unwrap();
        assert!(folder.path().join("query-9.json").exists() && folder.path().join("query-7.json").exists());
        assert!(folder.path().join("README").exists() && !folder.path().join("query-0.json").exists());
        assert_eq!(fs::read_to_string(folder.path().join("query-1.json")).unwrap(), "one");
    }
}

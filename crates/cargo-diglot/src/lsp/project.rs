//! One project: a folder with its pages, as the editor has them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use diglot::diagnostic::Diagnostic;
use diglot::source::FileId;
use diglot_tools::editor::{Desk, Lines, Place, Position};
use lsp_types::Url;

use super::convert::Places;
use super::documents::{Documents, relative};
use crate::check;

/// How deep a workspace is searched for projects.
const DEPTH: usize = 5;
/// Folders that hold no project of the workspace.
const PASSED_OVER: [&str; 2] = ["target", "node_modules"];

/// A project that somebody works on.
pub(super) struct Project {
    pub(super) root: PathBuf,
    pub(super) desk: Desk,
    /// Whether files may have changed since they were read.
    stale: bool,
    /// Whether findings are to be told anew.
    pub(super) due: bool,
    /// What the last check found.
    pub(super) findings: Vec<Diagnostic>,
    /// What the editor was told of each file.
    told: BTreeMap<Url, Vec<lsp_types::Diagnostic>>,
}

impl Project {
    pub(super) fn new(root: PathBuf) -> Self {
        let (desk, findings, told) = (Desk::default(), Vec::new(), BTreeMap::new());
        Self { root, desk, stale: true, due: true, findings, told }
    }

    /// Something changed, or may have.
    pub(super) fn changed(&mut self) {
        (self.stale, self.due) = (true, true);
    }

    /// Forgets what was understood, after something went wrong with it.
    pub(super) fn restart(&mut self) {
        self.desk = Desk::default();
        (self.stale, self.due) = (true, false);
    }

    /// Reads the files if they may have changed: those that are open as the editor has them, the others from the disk.
    pub(super) fn refresh(&mut self, documents: &Documents) -> Result<(), diglot::build::LoadError> {
        if self.stale {
            self.desk.put(diglot::build::load_over(&self.root, &documents.below(&self.root))?);
            self.stale = false;
        }
        Ok(())
    }

    /// Checks what changed; false when that was interrupted, and is to go on.
    pub(super) fn check(&mut self, goes_on: &(dyn Fn() -> bool + Sync)) -> bool {
        match self.desk.check(goes_on) {
            Some(compiled) => {
                self.findings = compiled.diagnostics;
                self.due = false;
                true
            }
            None => false,
        }
    }

    /// The file at a path.
    pub(super) fn file(&self, path: &Path) -> Option<FileId> {
        let relative = relative(&self.root, path)?;
        self.desk.inputs().sources.iter().find(|(_, file)| file.path == relative).map(|(id, _)| id)
    }

    /// A place in a file.
    pub(super) fn place(&self, path: &Path, position: lsp_types::Position) -> Option<Place> {
        let file = self.file(path)?;
        let lines = Lines::of(self.desk.inputs().sources.file(file).shown());
        let position = Position { line: position.line, character: position.character };
        Some(Place { file, offset: lines.offset(position) })
    }

    /// What files have other findings than the editor was told of, each with all of its findings.
    pub(super) fn news(&mut self, documents: &Documents) -> Vec<(Url, Vec<lsp_types::Diagnostic>)> {
        let places = Places::new(&self.root, &self.desk.inputs().sources, documents);
        let mut now = places.diagnostics(&self.findings);
        for url in self.told.keys() {
            now.entry(url.clone()).or_default();
        }
        let news = now.iter().filter(|(url, found)| match self.told.get(*url) {
            Some(told) => told != *found,
            None => !found.is_empty(),
        });
        let news = news.map(|(url, found)| (url.clone(), found.clone())).collect();
        now.retain(|_, found| !found.is_empty());
        self.told = now;
        news
    }

    /// Files of which the editor was told something.
    pub(super) fn told(&self) -> impl Iterator<Item = &Url> {
        self.told.keys()
    }
}

/// The folder of the project that a file belongs to.
pub(super) fn root_of(path: &Path) -> Option<PathBuf> {
    check::nearest(path.parent()?)
}

/// The projects of a folder: itself, and every folder below it with settings.
pub(super) fn projects_below(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    found.extend(check::is_project(folder).then(|| folder.to_path_buf()));
    search(folder, DEPTH, &mut found);
    found
}

fn search(folder: &Path, depth: usize, found: &mut BTreeSet<PathBuf>) {
    if folder.join(diglot::config::FILE).is_file() {
        found.insert(folder.to_path_buf());
    }
    // A folder that cannot be read has no project that could be.
    let Some(entries) = depth.checked_sub(1).and_then(|_| fs::read_dir(folder).ok()) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && !name.starts_with('.') && !PASSED_OVER.contains(&name.as_str()) {
            search(&entry.path(), depth - 1, found);
        }
    }
}

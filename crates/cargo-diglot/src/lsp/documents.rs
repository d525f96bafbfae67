//! The files that are open in the editor, as it has them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use diglot_tools::editor::{Lines, Position};
use lsp_types::{TextDocumentContentChangeEvent, Url};

/// A file that is open.
#[derive(Debug, Clone)]
pub(super) struct Document {
    /// Its address, in the editor's spelling.
    pub(super) url: Url,
    /// Which of its texts it is.
    pub(super) version: i32,
    /// Its text.
    pub(super) text: String,
}

impl Document {
    /// Takes changes in, one after the other.
    pub(super) fn change(&mut self, version: i32, changes: Vec<TextDocumentContentChangeEvent>) {
        self.version = version;
        for change in changes {
            let Some(range) = change.range else {
                self.text = change.text;
                continue;
            };
            let lines = Lines::of(&self.text);
            let at = |position: lsp_types::Position| {
                lines.offset(Position { line: position.line, character: position.character })
            };
            let (start, end) = (at(range.start), at(range.end));
            self.text.replace_range(start..end.max(start), &change.text);
        }
    }
}

/// All files that are open, by their paths.
#[derive(Debug, Default)]
pub(super) struct Documents(BTreeMap<PathBuf, Document>);

impl Documents {
    pub(super) fn open(&mut self, path: PathBuf, document: Document) {
        self.0.insert(path, document);
    }

    pub(super) fn close(&mut self, path: &Path) {
        self.0.remove(path);
    }

    pub(super) fn get(&self, path: &Path) -> Option<&Document> {
        self.0.get(path)
    }

    pub(super) fn get_mut(&mut self, path: &Path) -> Option<&mut Document> {
        self.0.get_mut(path)
    }

    /// The texts below a folder, by their paths from there with forward slashes.
    pub(super) fn below(&self, root: &Path) -> BTreeMap<String, String> {
        let own = self.0.iter().filter_map(|(path, document)| Some((relative(root, path)?, document.text.clone())));
        own.collect()
    }

    /// The address of a file, as the editor spells it if it is open there.
    pub(super) fn url(&self, path: &Path) -> Option<Url> {
        self.get(path).map(|document| document.url.clone()).or_else(|| Url::from_file_path(path).ok())
    }
}

/// A path below a folder, with forward slashes.
pub(super) fn relative(root: &Path, path: &Path) -> Option<String> {
    let parts = path.strip_prefix(root).ok()?.components();
    let parts: Vec<String> = parts.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(from: (u32, u32), to: (u32, u32), text: &str) -> TextDocumentContentChangeEvent {
        let at = |(line, character)| lsp_types::Position { line, character };
        let range = Some(lsp_types::Range { start: at(from), end: at(to) });
        TextDocumentContentChangeEvent { range, range_length: None, text: text.to_owned() }
    }

    #[test]
    fn changes_are_made_one_after_the_other_in_units_of_utf_16() {
        let url = Url::parse("file:///a.sql").unwrap();
        let mut document = Document { url, version: 1, text: "a😀b\nc".to_owned() };
        document.change(2, vec![change((0, 3), (0, 4), "d"), change((0, 4), (1, 0), "")]);
        assert_eq!((document.text.as_str(), document.version), ("a😀dc", 2));
        // Places that are not there are the nearest ones that are, and an end before its start is the start.
        document.change(3, vec![change((9, 9), (9, 9), "e"), change((0, 1), (0, 0), "x")]);
        assert_eq!(document.text, "ax😀dce");
        let whole = TextDocumentContentChangeEvent { range: None, range_length: None, text: "n".to_owned() };
        document.change(4, vec![whole]);
        assert_eq!(document.text, "n");
    }
}

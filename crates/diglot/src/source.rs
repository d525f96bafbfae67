//! Source files, byte spans, and the way from a byte offset to a line and a column.
//!
//! Everything that the compiler says about a file is said with a [`Span`]. Spans are byte ranges of
//! the text that the user wrote; nothing is ever rewritten before it is parsed, so no origin map is
//! needed.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Which file a span belongs to: an index into [`Sources`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileId(pub u32);

/// A byte range of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span of `range` in `file`.
    pub fn new(file: FileId, range: Range<usize>) -> Self {
        Self { file, start: range.start as u32, end: range.end as u32 }
    }

    /// The byte range.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Whether another span lies within it.
    pub fn contains(self, other: Span) -> bool {
        self.file == other.file && self.start <= other.start && other.end <= self.end
    }

    /// The smallest span that covers both; `self` when the files differ.
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// One input file: a path as the user knows it (relative to the root, forward slashes) and its text.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Path relative to the project root.
    pub path: String,
    /// The whole text as it is read: of a file of another language its SQL, in the same places.
    pub text: String,
    /// What it is read for; none: its folder says so.
    pub role: Option<Role>,
    /// The statements of a file of another language.
    pub embedded: Vec<Embedded>,
    written: Option<String>,
    /// Parts of what stands behind the end of the written text, and where they are written.
    origins: Vec<(Range<usize>, Range<usize>)>,
    line_starts: Vec<u32>,
}

/// What a file is read for that may give statements and a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Statements.
    Statements,
    /// Tables and what belongs to them.
    Schema,
}

/// A statement in the source of another language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Embedded {
    /// What its constant, its variable or its function is called.
    pub name: String,
    /// Where that name stands.
    pub place: Range<usize>,
    /// Where the statement stands.
    pub range: Range<usize>,
    /// The parts of it that are known at run time alone; with one it is not read.
    pub holes: Vec<Range<usize>>,
    /// Conditions of which only the running program knows what they say: where, its code, and what that is called; the rest
    /// is read.
    pub conditions: Vec<(Range<usize>, String, String)>,
    /// The whole text where it is not among what is read: that of a schema with such parts.
    pub unread: String,
}

impl SourceFile {
    /// Takes a file in.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let line_starts = line_starts(&text);
        Self {
            path: path.into(),
            text,
            role: None,
            embedded: Vec::new(),
            written: None,
            origins: Vec::new(),
            line_starts,
        }
    }

    /// A file of which `text` is read, with every byte in its place, and `written` is shown.
    pub fn extracted(
        path: impl Into<String>,
        text: impl Into<String>,
        written: impl Into<String>,
        embedded: Vec<Embedded>,
    ) -> Self {
        let written = written.into();
        let line_starts = line_starts(&written);
        Self { written: Some(written), embedded, line_starts, ..Self::new(path, text) }
    }

    /// The same for one role.
    #[must_use]
    pub fn with_role(self, role: Role) -> Self {
        Self { role: Some(role), ..self }
    }

    /// The same with texts behind its end that are put together from what is written elsewhere.
    pub(crate) fn with_origins(self, origins: Vec<(Range<usize>, Range<usize>)>) -> Self {
        Self { origins, ..self }
    }

    /// Where a range of what is read is written.
    pub fn place(&self, range: Range<usize>) -> Range<usize> {
        let end = self.shown().len();
        if range.end <= end || self.origins.is_empty() {
            return range;
        }
        let holding = |at: usize| {
            let before = self.origins.partition_point(|(part, _)| part.start <= at);
            self.origins.get(before.saturating_sub(1)).or(self.origins.first())
        };
        let Some((part, place)) = holding(range.start) else { return range };
        let is_alike = part.len() == place.len();
        let start = if is_alike { place.start + range.start.saturating_sub(part.start) } else { place.start };
        let start = start.min(place.end);
        let last = range.end.saturating_sub(1).max(range.start);
        let until = holding(last).map_or(place.end, |(part, place)| match part.len() == place.len() {
            true => (place.start + range.end.saturating_sub(part.start)).min(place.end),
            false => place.end,
        });
        // Parts that stand far from each other have no place in common.
        let is_near = start <= until && until - start <= 2 * range.len() + 80;
        start..if is_near { until } else { place.end.max(start) }
    }

    /// The file with another text, which differs in one place inside of a statement.
    pub(crate) fn changed(&self, text: &str) -> Self {
        // Where a blank is added before blanks, the change is as far in front as it can be.
        let alike = |(old, new): &(u8, u8)| old == new;
        let before = self.text.bytes().zip(text.bytes()).take_while(alike).count();
        let behind = self.text.bytes().rev().zip(text.bytes().rev()).take_while(alike).count();
        let same = before.min(self.text.len() - behind);
        let moved = |at: usize| (at + text.len()).saturating_sub(self.text.len());
        let start = |at: usize| if at <= same { at } else { moved(at) };
        let of = |own: &Embedded| Embedded {
            place: start(own.place.start)..start(own.place.end),
            range: start(own.range.start)..if own.range.end < same { own.range.end } else { moved(own.range.end) },
            ..own.clone()
        };
        let embedded = self.embedded.iter().map(of).collect();
        let written = self.written.is_some().then(|| text.to_owned());
        Self { role: self.role, embedded, written, ..Self::new(self.path.as_str(), text) }
    }

    /// The text as the user has it.
    pub fn shown(&self) -> &str {
        self.written.as_deref().unwrap_or(&self.text)
    }

    /// SQL as it has to be written at a place: with escapes inside of a literal that has them.
    pub fn escaped(&self, at: usize, sql: &str) -> String {
        let literal = self.embedded.iter().find(|literal| literal.range.contains(&at));
        let before = literal.and_then(|literal| self.shown().get(..literal.range.start)).unwrap_or_default();
        // A quote behind `r` or `#` opens a raw literal of Rust.
        match before.strip_suffix('"') {
            Some(before) if !before.ends_with(['r', '#']) => sql.replace('\\', "\\\\").replace('"', "\\\""),
            _ => sql.to_owned(),
        }
    }

    /// One-based line and one-based column (in characters) of a byte offset.
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let offset = self.place(offset..offset).start.min(self.text.len());
        let line = self.line_starts.partition_point(|start| *start as usize <= offset) - 1;
        let start = self.line_starts[line] as usize;
        let column = self.text.get(start..offset).map_or(offset - start, |s| s.chars().count());
        (line + 1, column + 1)
    }

    /// The byte offset of a one-based line and a one-based column in characters, clamped to the text.
    pub fn offset(&self, line: usize, column: usize) -> usize {
        let Some(start) = line.checked_sub(1).and_then(|l| self.line_starts.get(l)) else {
            return self.text.len();
        };
        let rest = &self.text[*start as usize..];
        rest.char_indices().nth(column.saturating_sub(1)).map_or(self.text.len(), |(i, _)| *start as usize + i)
    }
}

fn line_starts(text: &str) -> Vec<u32> {
    let behind = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1);
    std::iter::once(0).chain(behind).collect()
}

/// All input files of one run.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

impl Sources {
    /// Adds a file and says under which id.
    pub fn add(&mut self, file: SourceFile) -> FileId {
        self.files.push(file);
        FileId(self.files.len() as u32 - 1)
    }

    /// Puts another file in the place of one.
    pub fn replace(&mut self, id: FileId, file: SourceFile) {
        if let Some(old) = self.files.get_mut(id.0 as usize) {
            *old = file;
        }
    }

    /// Gives every file another path.
    pub fn rename(&mut self, path: impl Fn(&str) -> String) {
        self.files.iter_mut().for_each(|file| file.path = path(&file.path));
    }

    /// The file behind an id.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// The file behind an id, if there is one.
    pub fn get(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(id.0 as usize)
    }

    /// The text of a span.
    pub fn text(&self, span: Span) -> &str {
        self.file(span.file).text.get(span.range()).unwrap_or("")
    }

    /// All files with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(i, f)| (FileId(i as u32), f))
    }
}

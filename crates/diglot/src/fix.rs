//! Makes the changes that findings suggest and that need nobody's look.
//!
//! Such a change leaves the SQL alone: it touches comments, and one that would touch anything else is not made.

use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, Edit};
use crate::dialect::Dialect;
use crate::source::{FileId, Sources, Span};
use crate::split::lexer;

/// A file with its changes made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixed {
    /// The file.
    pub file: FileId,
    /// Its new text.
    pub text: String,
    /// How many findings this settles.
    pub count: usize,
}

/// The files that change when every safe suggestion is taken. A suggestion that meets an earlier one is left for the
/// next time.
pub fn fixed(sources: &Sources, diagnostics: &[Diagnostic]) -> Vec<Fixed> {
    let mut files: BTreeMap<FileId, Vec<&Edit>> = BTreeMap::new();
    for suggestion in diagnostics.iter().filter_map(|finding| finding.suggestions.iter().find(|one| one.safe)) {
        // A change of several files at once would have to be made whole.
        if let [edit] = suggestion.edits.as_slice() {
            files.entry(edit.span.file).or_default().push(edit);
        }
    }
    let files = files.into_iter().filter_map(|(file, mut edits)| {
        let old = sources.get(file)?.shown();
        edits.sort_by_key(|edit| edit.span);
        let edits: Vec<Edit> = edits.into_iter().map(|edit| written(sources, edit)).collect();
        let (text, count) = changed(old, &edits);
        (count > 0 && text != old).then_some(Fixed { file, text, count })
    });
    files.collect()
}

/// An edit as the language of its file has it.
pub fn written(sources: &Sources, edit: &Edit) -> Edit {
    let file = sources.get(edit.span.file);
    let text = file.map_or_else(|| edit.text.clone(), |file| file.escaped(edit.span.start as usize, &edit.text));
    Edit { text, ..edit.clone() }
}

/// What an edit replaces: with nothing in the place of all that a line says, the line and its end.
pub fn replaced(sources: &Sources, edit: &Edit) -> Span {
    match sources.get(edit.span.file).map(|file| file.shown()) {
        Some(old) if edit.text.is_empty() && old.get(edit.span.range()).is_some() => {
            let (start, end) = whole_line(old, edit.span.range());
            Span::new(edit.span.file, start..end)
        }
        _ => edit.span,
    }
}

/// The text with those edits made that change no more than comments.
fn changed(old: &str, edits: &[Edit]) -> (String, usize) {
    let mut text = String::with_capacity(old.len());
    let (mut at, mut count) = (0, 0);
    for edit in edits {
        let range = edit.span.range();
        let Some(replaced) = old.get(range.clone()).filter(|_| range.start >= at) else { continue };
        if !is_comment(old, replaced, range.start) || edit.text.contains(['\n', '\r']) {
            continue;
        }
        let (start, end) = if edit.text.is_empty() { whole_line(old, range) } else { (range.start, range.end) };
        text.push_str(&old[at..start.max(at)]);
        text.push_str(&edit.text);
        at = end;
        count += 1;
    }
    text.push_str(&old[at..]);
    (text, count)
}

/// Whether a piece of a text lies within one comment of one line, whatever dialect the text is in.
fn is_comment(old: &str, piece: &str, start: usize) -> bool {
    !piece.contains(['\n', '\r'])
        && Dialect::ALL.into_iter().all(|dialect| {
            let holds = |token: &lexer::Token| {
                token.kind == lexer::Kind::LineComment && token.start <= start && start + piece.len() <= token.end
            };
            lexer::tokens(old, dialect).iter().any(holds)
        })
}

/// The line with its end when the range is all that it says, else the range.
fn whole_line(old: &str, range: std::ops::Range<usize>) -> (usize, usize) {
    let start = old[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let end = old[range.end..].find('\n').map_or(old.len(), |at| range.end + at + 1);
    let blank = |text: &str| text.trim().is_empty();
    if blank(&old[start..range.start]) && blank(&old[range.end..end]) { (start, end) } else { (range.start, range.end) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceFile;

    fn run(text: &str, finding: impl Fn(Span) -> Diagnostic, pieces: &[&str]) -> Option<String> {
        let mut sources = Sources::default();
        let file = sources.add(SourceFile::new("a.sql", text));
        let at = |piece: &&str| {
            let start = text.find(*piece).unwrap();
            finding(Span::new(file, start..start + piece.len()))
        };
        let findings: Vec<Diagnostic> = pieces.iter().map(at).collect();
        fixed(&sources, &findings).pop().map(|fixed| fixed.text)
    }

    fn delete(span: Span) -> Diagnostic {
        Diagnostic::error(crate::rule::SYNTAX, "", span, "").fix("delete it", span, "")
    }

    #[test]
    fn a_line_that_is_deleted_goes_with_its_end() {
        assert_eq!(run("a\n  -- b\nc\n", delete, &["-- b"]).as_deref(), Some("a\nc\n"));
        assert_eq!(run("a\r\n-- b\r\nc", delete, &["-- b"]).as_deref(), Some("a\r\nc"));
        assert_eq!(run("a -- b\nc", delete, &["-- b"]).as_deref(), Some("a \nc"));
        assert_eq!(run("-- a\n-- b", delete, &["-- a", "-- b"]).as_deref(), Some(""));
    }

    #[test]
    fn nothing_but_a_comment_is_touched() {
        assert_eq!(run("SELECT 1 -- why", delete, &["SELECT"]), None);
        assert_eq!(run("SELECT '-- why'", delete, &["-- why"]), None);
        assert_eq!(run("SELECT $$\n-- why\n$$", delete, &["-- why"]), None);
        assert_eq!(run("-- why\nSELECT 1", delete, &["-- why\nSELECT"]), None);
        let write =
            |span| Diagnostic::error(crate::rule::SYNTAX, "", span, "").fix("write it", span, "x\nDROP TABLE y");
        assert_eq!(run("-- why", write, &["why"]), None);
    }

    #[test]
    fn what_somebody_has_to_choose_is_not_done() {
        let suggest = |span| Diagnostic::error(crate::rule::SYNTAX, "", span, "").suggest("delete it", span, "");
        assert_eq!(run("-- why\n", suggest, &["-- why"]), None);
    }

    #[test]
    fn a_change_inside_of_a_literal_has_its_escapes() {
        let go = "const a = \"-- why\\nSELECT 1\"\nconst b = `-- why\nSELECT 1`\n";
        let embedded = [(10, 26), (39, 53)].map(|(start, end)| crate::source::Embedded {
            name: "a".to_owned(),
            place: 6..7,
            range: start + 1..end,
            holes: Vec::new(),
            conditions: Vec::new(),
            unread: String::new(),
        });
        let mut sources = Sources::default();
        let file = sources.add(SourceFile::extracted("a.go", go, go, embedded.to_vec()));
        let text = |at: usize| {
            let edit = Edit { span: Span::new(file, at..at + 6), text: "-- \"b\\c\"".to_owned() };
            written(&sources, &edit).text
        };
        assert_eq!(text(11), "-- \\\"b\\\\c\\\"");
        assert_eq!(text(40), "-- \"b\\c\"");
    }

    #[test]
    fn changes_that_meet_are_made_one_at_a_time() {
        assert_eq!(run("-- a b\n-- c\n", delete, &["-- a b", "a b", "-- c"]).as_deref(), Some(""));
    }
}

//! The text of generated Rust, line by line.
//!
//! A project's API is tens of thousands of lines of a few shapes, so they are written as they are to stand, without
//! tokens or a syntax tree in between. What comes from files is a name, a literal or a line of documentation by
//! [`names`](super::names) and by [`Code::doc`] before it gets here.

use std::fmt::{self, Write as _};

use crate::names::doc_line;

/// The longest line, as far as literals allow.
const WIDTH: usize = 100;
const INDENT: usize = 4;

/// Rust at some depth of brackets.
pub(super) struct Code {
    text: String,
    depth: usize,
}

/// `line!(code, "fn {name}() {{")`: a line at the depth of the moment.
macro_rules! line {
    ($code:expr, $($text:tt)+) => { $code.line(format_args!($($text)+)) };
}
pub(super) use line;

impl Code {
    /// A file that begins so.
    pub(super) fn new(head: &str) -> Self {
        Self { text: head.to_owned(), depth: 0 }
    }

    /// The file.
    pub(super) fn finish(self) -> String {
        self.text
    }

    fn indent(&mut self) {
        self.text.extend(std::iter::repeat_n(' ', self.depth * INDENT));
    }

    pub(super) fn line(&mut self, line: fmt::Arguments<'_>) {
        self.indent();
        // Writing to a String cannot fail.
        let _ = self.text.write_fmt(line);
        self.text.push('\n');
    }

    /// A line that opens a bracket.
    pub(super) fn open(&mut self, line: fmt::Arguments<'_>) {
        self.line(line);
        self.depth += 1;
    }

    /// The line that closes it. A brace with nothing inside is closed where it was opened.
    pub(super) fn close(&mut self, line: &str) {
        self.depth = self.depth.saturating_sub(1);
        if line.starts_with('}') && self.text.ends_with("{\n") {
            self.text.pop();
            let _ = writeln!(self.text, "{line}");
        } else {
            line!(self, "{line}");
        }
    }

    /// What stands in a bracket that a list has opened.
    pub(super) fn inside(&mut self, write: impl FnOnce(&mut Self)) {
        self.depth += 1;
        write(self);
    }

    /// What goes on with the line above.
    pub(super) fn indented(&mut self, write: impl FnOnce(&mut Self)) {
        self.depth += 1;
        write(self);
        self.depth -= 1;
    }

    /// An empty line, except where something begins.
    pub(super) fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("{\n") && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// A line of documentation. It stays one line and no code block, whatever is in it.
    pub(super) fn doc(&mut self, text: &str) {
        let text = doc_line(text);
        if text.is_empty() { line!(self, "///") } else { line!(self, "/// {text}") }
    }

    /// Lines that are written already.
    pub(super) fn block(&mut self, text: &str) {
        for line in text.lines() {
            if line.is_empty() { self.text.push('\n') } else { line!(self, "{line}") }
        }
    }

    /// A list in one line or, where that is too long, each item in a line of its own.
    pub(super) fn list<S: AsRef<str>>(&mut self, open: &str, items: &[S], close: &str) {
        let length: usize = items.iter().map(|item| item.as_ref().len() + 2).sum();
        if self.depth * INDENT + open.len() + length + close.len() <= WIDTH + 2 || items.is_empty() {
            self.indent();
            self.text.push_str(open);
            for (at, item) in items.iter().enumerate() {
                self.text.push_str(if at == 0 { "" } else { ", " });
                self.text.push_str(item.as_ref());
            }
            self.text.push_str(close);
            self.text.push('\n');
        } else {
            self.lines(open, items, ",", close);
        }
    }

    /// A list with each item in a line of its own; `last` stands behind the last one.
    pub(super) fn lines<S: AsRef<str>>(&mut self, open: &str, items: &[S], last: &str, close: &str) {
        self.open(format_args!("{open}"));
        for (at, item) in items.iter().enumerate() {
            let end = if at + 1 < items.len() { "," } else { last };
            line!(self, "{}{end}", item.as_ref());
        }
        self.close(close);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_stays_one_line_of_documentation() {
        let mut code = Code::new("");
        for text in ["a\nfn evil() {}", "b\r\u{85}\tc", "", "```", "*/ /* // \"#"] {
            code.doc(text);
        }
        assert_eq!(code.finish(), "/// a fn evil() {}\n/// b   c\n///\n/// \\```\n/// */ /* // \"#\n");
    }

    #[test]
    fn a_list_that_is_too_long_has_a_line_for_each_item() {
        let mut code = Code::new("");
        code.open(format_args!("{{"));
        code.list("f(", &["a", "b"], ");");
        let long = "x".repeat(60);
        code.list("f(", &[long.as_str(), long.as_str()], ");");
        code.list::<&str>("f(", &[], ");");
        code.close("}");
        let lines = format!("        {long},\n");
        assert_eq!(code.finish(), format!("{{\n    f(a, b);\n    f(\n{lines}{lines}    );\n    f();\n}}\n"));
    }

    #[test]
    fn nothing_inside_needs_no_line_of_its_own() {
        let mut code = Code::new("");
        code.open(format_args!("trait Statements {{"));
        code.gap();
        code.close("}");
        code.gap();
        code.open(format_args!("impl Statements for () {{"));
        code.close("}");
        assert_eq!(code.finish(), "trait Statements {}\n\nimpl Statements for () {}\n");
    }
}

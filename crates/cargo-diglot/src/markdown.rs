//! Markdown as text for a terminal: wrapped, coloured, without its marks.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

const BOLD: &str = "\u{1b}[1m";
const CODE: &str = "\u{1b}[36m";
const PLAIN: &str = "\u{1b}[0m";
/// What stands before a block of code.
const INDENT: &str = "    ";

/// The text, no line wider than `width` unless one word is. Without colours, code in a line stands in quotation marks.
pub(crate) fn text(markdown: &str, width: usize, coloured: bool) -> String {
    let mut page = Page { width, coloured, ..Page::default() };
    Parser::new(markdown).for_each(|event| page.take(event));
    page.out.trim_end().to_owned() + "\n"
}

/// A word with its style, and the column that it takes.
struct Word {
    text: String,
    width: usize,
    /// Whether white space stands before it.
    apart: bool,
}

#[derive(Default)]
struct Page {
    width: usize,
    coloured: bool,
    out: String,
    words: Vec<Word>,
    /// Whether white space came since the last word.
    apart: bool,
    /// Whether words are those of a heading, or meant to stand out.
    bold: bool,
    /// Whether a block of code goes on.
    code: bool,
    /// The number of the next item of each list that is open; none in lists without numbers.
    lists: Vec<Option<u64>>,
    /// What stands before the first line of the next block: the mark of an item.
    mark: String,
}

impl Page {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(Tag::Heading { .. } | Tag::Strong | Tag::Emphasis) => self.bold = true,
            Event::End(TagEnd::Strong | TagEnd::Emphasis) => self.bold = false,
            Event::End(TagEnd::Heading(_)) => {
                self.block();
                self.bold = false;
            }
            Event::End(TagEnd::Paragraph) => self.block(),
            Event::Start(Tag::List(first)) => {
                self.wrap();
                self.lists.push(first);
            }
            Event::End(TagEnd::List(_)) => {
                self.lists.pop();
                self.gap();
            }
            Event::Start(Tag::Item) => self.mark = self.item(),
            Event::End(TagEnd::Item) => self.wrap(),
            Event::Start(Tag::CodeBlock(_)) => {
                self.wrap();
                self.code = true;
            }
            Event::End(TagEnd::CodeBlock) => {
                self.code = false;
                self.gap();
            }
            Event::Text(text) if self.code => self.lines(&text),
            Event::Text(text) => self.add(&text, if self.bold { BOLD } else { "" }),
            Event::Code(code) if self.coloured => self.add(&code, CODE),
            Event::Code(code) => self.add(&format!("‘{code}’"), ""),
            Event::SoftBreak | Event::HardBreak => self.apart = true,
            Event::Html(text) | Event::InlineHtml(text) => self.add(&text, ""),
            _ => {}
        }
    }

    /// The mark of the next item of the innermost list.
    fn item(&mut self) -> String {
        match self.lists.last_mut() {
            Some(Some(number)) => {
                *number += 1;
                format!("{}. ", *number - 1)
            }
            _ => "* ".to_owned(),
        }
    }

    /// Where blocks begin: below the text of the items that they are in.
    fn margin(&self) -> usize {
        self.lists.len() * 2
    }

    fn add(&mut self, text: &str, style: &str) {
        for piece in text.split_inclusive(char::is_whitespace) {
            let word = piece.trim_end();
            if !word.is_empty() {
                let width = console::measure_text_width(word);
                let is_styled = self.coloured && !style.is_empty();
                let text = if is_styled { format!("{style}{word}{PLAIN}") } else { word.to_owned() };
                self.words.push(Word { text, width, apart: self.apart });
                self.apart = false;
            }
            self.apart |= word.len() < piece.len();
        }
    }

    /// Ends a block, with an empty line behind it where no item goes on.
    fn block(&mut self) {
        self.wrap();
        if self.lists.is_empty() {
            self.gap();
        }
    }

    fn gap(&mut self) {
        if self.lists.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// Writes the words in lines.
    fn wrap(&mut self) {
        let words = std::mem::take(&mut self.words);
        self.apart = false;
        if words.is_empty() {
            return;
        }
        let mark = std::mem::take(&mut self.mark);
        let margin = self.margin();
        self.out.push_str(&" ".repeat(margin.saturating_sub(mark.len())));
        self.out.push_str(&mark);
        let start = margin.max(mark.len());
        let mut column = start;
        let mut words = words.into_iter().peekable();
        let mut is_first = true;
        while let Some(word) = words.next() {
            // What stands together stays together.
            let mut unit = vec![word];
            while let Some(next) = words.next_if(|next| !next.apart) {
                unit.push(next);
            }
            let width: usize = unit.iter().map(|word| word.width).sum();
            if !is_first && column + 1 + width > self.width {
                self.out.push_str(&format!("\n{}", " ".repeat(start)));
                column = start;
            } else if !is_first {
                self.out.push(' ');
                column += 1;
            }
            unit.iter().for_each(|word| self.out.push_str(&word.text));
            column += width;
            is_first = false;
        }
        self.out.push('\n');
    }

    /// Lines of code as they are.
    fn lines(&mut self, text: &str) {
        let margin = " ".repeat(self.margin());
        for line in text.lines() {
            let line = match (line.is_empty(), self.coloured) {
                (true, _) => String::new(),
                (false, true) => format!("{margin}{INDENT}{CODE}{line}{PLAIN}"),
                (false, false) => format!("{margin}{INDENT}{line}"),
            };
            self.out.push_str(&line);
            self.out.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# What it is\n\nSome *words* that are\n`a b`, longer.\n\n* one item that is too long for it\n\
                        * two\n\n```sql\nSELECT  1\n\n-- x\n```\n\nEnd.\n";

    #[test]
    fn marks_become_layout() {
        let expected = "What it is\n\nSome words that are ‘a\nb’, longer.\n\n* one item that is too\n  long for it\n* two\n\n    \
                        SELECT  1\n\n    -- x\n\nEnd.\n";
        assert_eq!(text(PAGE, 24, false), expected);
    }

    #[test]
    fn colours_take_no_room() {
        let coloured = text(PAGE, 24, true);
        assert!(coloured.contains("\u{1b}[1mWhat\u{1b}[0m") && coloured.contains("\u{1b}[36mSELECT  1\u{1b}[0m"));
        let bare = console::strip_ansi_codes(&coloured).into_owned();
        assert_eq!(bare, text(PAGE, 24, false).replace(['‘', '’'], "").replace("are a\nb, longer", "are a b,\nlonger"));
    }

    #[test]
    fn no_rule_keeps_a_mark_and_no_line_of_prose_is_too_wide() {
        for rule in diglot::rules::ALL.iter().chain(diglot::rules::EQUIVALENCES) {
            let page = text(rule.doc, 80, false);
            let prose = page.lines().filter(|line| !line.trim_start().starts_with("--") && !line.starts_with("    "));
            for line in prose {
                assert!(!line.starts_with('#') && !line.contains("```"), "{}: {line}", rule.name);
                let is_one_word = !line.trim().contains(' ');
                assert!(console::measure_text_width(line) <= 80 || is_one_word, "{}: {line}", rule.name);
            }
        }
    }
}

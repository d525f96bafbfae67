//! SQL in the source of another language, read in place.
//!
//! A literal of Go or Rust that holds a statement is one, under the name of the constant or the variable that it is given
//! to, or else of the function that it stands in. What is no SQL becomes blanks of the same length, so every place in
//! what is read is the same place in the file.

mod literal;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;

use literal::{Kind, Language, Token, tokens};

use crate::source::{Embedded, Role, SourceFile};

/// Whether a file, or the files of a pattern, are read so: their ending tells.
pub fn reads(path: &str) -> bool {
    Language::of(path).is_some()
}

/// A file as it is read for what it is to give: statements or a schema.
///
/// A file of SQL that gives both has its schema before its first header.
pub fn read(path: &str, text: &str, role: Role) -> SourceFile {
    match Language::of(path) {
        Some(language) => Reader::new(text, language).file(path, role),
        None => half(path, text, role),
    }
}

/// What of a file of SQL belongs to a role.
fn half(path: &str, text: &str, role: Role) -> SourceFile {
    let is_header = |line: &&str| {
        line.trim_start().strip_prefix("--").is_some_and(|rest| {
            rest.trim_start().strip_prefix("name").is_some_and(|rest| rest.trim_start().starts_with(':'))
        })
    };
    let first = text.split_inclusive('\n').take_while(|line| !is_header(line)).map(str::len).sum::<usize>();
    // Comments that touch the header are the statement's.
    let above =
        |at: usize| text[..at].trim_end_matches('\n').rsplit_once('\n').map_or(0, |(before, _)| before.len() + 1);
    let mut cut = first;
    while cut > 0 && text[above(cut)..cut].trim_start().starts_with("--") {
        cut = above(cut);
    }
    let blank = |text: &str| text.bytes().map(|b| if b == b'\n' { '\n' } else { ' ' }).collect::<String>();
    let (head, rest) = text.split_at(cut);
    let read = match role {
        Role::Statements => blank(head) + rest,
        Role::Schema => head.to_owned() + &blank(rest),
    };
    SourceFile::extracted(path, read, text, Vec::new()).with_role(role)
}

/// Literals that follow one another as one text.
struct Group {
    /// The places of what stands between the quotes.
    pieces: Vec<(Range<usize>, bool)>,
    /// Where the last quote is.
    end: usize,
    name: Option<(String, Range<usize>)>,
    /// Why the text is not whole.
    built: bool,
}

struct Reader<'t> {
    text: &'t str,
    language: Language,
    tokens: Vec<Token>,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str, language: Language) -> Self {
        Self { text, language, tokens: tokens(text, language) }
    }

    fn word(&self, at: usize) -> &'t str {
        self.tokens.get(at).map_or("", |token| &self.text[token.range.clone()])
    }

    fn file(&self, path: &str, role: Role) -> SourceFile {
        let mut read: Vec<u8> = self.text.bytes().map(|b| if b == b'\n' { b'\n' } else { b' ' }).collect();
        let (mut embedded, mut counts) = (Vec::new(), BTreeMap::new());
        for group in self.groups() {
            let sql = self.sql(&group);
            if kind(&sql) != Some(role) {
                continue;
            }
            let (name, place) =
                group.name.clone().unwrap_or_else(|| ("statement".to_owned(), group.pieces[0].0.clone()));
            let count: &mut usize = counts.entry(name.clone()).or_default();
            *count += 1;
            let name = if *count == 1 { name } else { format!("{name}_{count}") };
            read[place.clone()].copy_from_slice(&self.text.as_bytes()[place.clone()]);
            let start = group.pieces[0].0.start;
            if !group.built {
                let mut at = 0;
                for (piece, _) in &group.pieces {
                    read[piece.clone()].copy_from_slice(&sql.as_bytes()[at..at + piece.len()]);
                    at += piece.len();
                }
                // The mark that closes the literal ends the statement.
                if let (Role::Schema, Some(b'"' | b'`')) = (role, self.text.as_bytes().get(group.end)) {
                    read[group.end] = b';';
                }
            }
            embedded.push(Embedded { name, place, range: start..group.end, is_built: group.built });
        }
        if role == Role::Schema {
            // Names are no SQL.
            embedded.iter().for_each(|one| read[one.place.clone()].fill(b' '));
            embedded.retain(|one| one.is_built);
        }
        let read = String::from_utf8_lossy(&read).into_owned();
        SourceFile::extracted(path, read, self.text, embedded).with_role(role)
    }

    /// The text that the program has, with a blank for every byte that only the language needs.
    fn sql(&self, group: &Group) -> String {
        let pieces = group.pieces.iter().map(|(piece, is_raw)| {
            let text = &self.text[piece.clone()];
            if *is_raw { text.to_owned() } else { literal::unescaped(text) }
        });
        pieces.collect()
    }

    fn groups(&self) -> Vec<Group> {
        let mut groups = Vec::new();
        let mut function: Option<(String, Range<usize>)> = None;
        let mut at = 0;
        while at < self.tokens.len() {
            if self.tokens[at].kind == Kind::Word && self.language.functions() == self.word(at) {
                function = self.function(at + 1).or(function);
            }
            if self.tokens[at].kind != Kind::Text {
                at += 1;
                continue;
            }
            let first = at;
            let (mut pieces, mut built) = (Vec::new(), first > 0 && self.word(first - 1) == "+");
            let separator = if self.is_called(first, "concat") { "," } else { "+" };
            loop {
                let token = &self.tokens[at];
                pieces.push((token.inner.clone(), token.is_raw));
                if self.word(at + 1) != separator {
                    break;
                }
                match self.tokens.get(at + 2) {
                    Some(next) if next.kind == Kind::Text => at += 2,
                    _ => {
                        built |= separator == "+";
                        break;
                    }
                }
            }
            built |= ["format", "Sprintf", "format_args"].iter().any(|name| self.is_called(first, name))
                && pieces.iter().any(|(piece, _)| self.text[piece.clone()].contains(['{', '%']));
            let end = self.tokens[at].inner.end;
            let name = self.given_to(first).or_else(|| function.clone());
            groups.push(Group { pieces, end, name, built });
            at += 1;
        }
        groups
    }

    /// Whether a token is the first argument of this function or macro.
    fn is_called(&self, at: usize, name: &str) -> bool {
        let before = |back: usize| at.checked_sub(back).map_or("", |at| self.word(at));
        before(1) == "(" && (before(2) == name || before(2) == "!" && before(3) == name)
    }

    /// The name of the function whose keyword stands before this token.
    fn function(&self, at: usize) -> Option<(String, Range<usize>)> {
        let mut at = at;
        if self.word(at) == "(" {
            // What a method of Go belongs to.
            at += self.tokens[at..].iter().position(|token| &self.text[token.range.clone()] == ")")? + 1;
        }
        let token = self.tokens.get(at).filter(|token| token.kind == Kind::Word)?;
        Some((self.text[token.range.clone()].to_owned(), token.range.clone()))
    }

    /// The name of the constant, the variable or the field that a literal is given to.
    fn given_to(&self, literal: usize) -> Option<(String, Range<usize>)> {
        let mut at = literal.checked_sub(1)?;
        // `= concat!(` and `= (` lead to the literal too.
        while ["(", "!", "concat", "&"].contains(&self.word(at)) {
            at = at.checked_sub(1)?;
        }
        let named = |at: usize| Some((self.word(at).to_owned(), self.tokens[at].range.clone()));
        if self.word(at) == ":" {
            let key = at.checked_sub(1)?;
            return if self.tokens[key].kind == Kind::Word { named(key) } else { None };
        }
        if ![":=", "="].contains(&self.word(at)) {
            return None;
        }
        let mut name = None;
        while let Some(before) = at.checked_sub(1) {
            let word = self.word(before);
            let is_line = self.text[self.tokens[before].range.end..self.tokens[at].range.start].contains('\n');
            if is_line || [";", "{", "}", "(", ")", ","].contains(&word) || self.language.declares(word) {
                break;
            }
            if self.tokens[before].kind == Kind::Word && word != "mut" {
                name = Some(before);
            }
            at = before;
        }
        name.and_then(named)
    }
}

/// What a text gives, if it is SQL.
fn kind(text: &str) -> Option<Role> {
    let code = text.lines().map(|line| line.split("--").next().unwrap_or_default()).collect::<Vec<_>>().join(" ");
    let mut rest = code.trim_start();
    while let Some((_, behind)) = rest.strip_prefix("/*").and_then(|rest| rest.split_once("*/")) {
        rest = behind.trim_start();
    }
    let upper = rest.to_uppercase();
    let mut words = upper.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
    let (first, second) = (words.next()?, words.next().unwrap_or_default());
    let has = |word: &str| upper.split(|c: char| !c.is_alphanumeric()).any(|one| one == word);
    let is_statement = match first {
        "SELECT" => has("FROM") || upper.contains('('),
        "INSERT" => has("INTO") && (has("VALUES") || has("SELECT") || has("DEFAULT")),
        "REPLACE" => second == "INTO",
        "UPDATE" => has("SET") && upper.contains('='),
        "DELETE" => second == "FROM",
        "WITH" => has("AS") && upper.contains('('),
        "VALUES" => upper.contains('('),
        _ => false,
    };
    const OBJECTS: [&str; 15] = [
        "TABLE",
        "INDEX",
        "UNIQUE",
        "VIEW",
        "TYPE",
        "SEQUENCE",
        "FUNCTION",
        "TRIGGER",
        "EXTENSION",
        "OR",
        "TEMP",
        "VIRTUAL",
        "MATERIALIZED",
        "DOMAIN",
        "SCHEMA",
    ];
    let is_schema = ["CREATE", "ALTER", "DROP"].contains(&first) && OBJECTS.contains(&second);
    match (is_statement, is_schema) {
        (true, _) => Some(Role::Statements),
        (_, true) => Some(Role::Schema),
        _ => None,
    }
}

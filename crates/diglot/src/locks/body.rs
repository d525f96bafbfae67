//! The SQL in the body of a function.
//!
//! A body in PL/pgSQL is cut at its semicolons; the words that steer it are taken off, and what is left is read as a
//! statement. Every branch counts, and every loop once.

use crate::dialect::Dialect;
use crate::resolve;
use crate::schema::{Schema, Written};
use crate::source::{SourceFile, Sources};
use crate::split::lexer::{self, Kind, Token};
use crate::split::{self, Readers};
use crate::tree::Statement;

/// The statements of a function, and whether something in it could not be read.
pub(super) fn statements(schema: &Schema, function: &Written) -> (Vec<Statement>, bool) {
    let Some(body) = &function.body else { return (Vec::new(), true) };
    let mut variables = function.params.clone();
    let (texts, mut unread) = match function.language.as_str() {
        "sql" => (pieces(body).into_iter().map(|piece| words(body, &piece)).collect(), false),
        "plpgsql" => procedural(body, &mut variables),
        _ => return (Vec::new(), true),
    };
    let mut read = Vec::new();
    for text in texts {
        match understood(schema, &text, &variables) {
            Some(statement) => read.push(statement),
            None => unread = true,
        }
    }
    (read, unread)
}

/// A condition over the row of a trigger, as a statement that gives its value.
pub(super) fn condition(schema: &Schema, text: &str) -> Option<Statement> {
    let tokens = bare_tokens(text);
    let mut piece = vec!["SELECT".to_owned()];
    piece.extend(words(text, &tokens));
    understood(schema, &piece, &[])
}

fn bare_tokens(text: &str) -> Vec<Token> {
    let mut tokens = lexer::tokens(text, Dialect::Pg);
    tokens.retain(|token| !token.is_comment());
    tokens
}

/// The tokens between semicolons.
fn pieces(body: &str) -> Vec<Vec<Token>> {
    let tokens = bare_tokens(body);
    let pieces = tokens.split(|token| token.kind == Kind::Semicolon);
    pieces.filter(|piece| !piece.is_empty()).map(<[Token]>::to_vec).collect()
}

fn words(body: &str, piece: &[Token]) -> Vec<String> {
    piece.iter().map(|token| body.get(token.start..token.end).unwrap_or_default().to_owned()).collect()
}

/// The statements of a body in PL/pgSQL.
fn procedural(body: &str, variables: &mut Vec<String>) -> (Vec<Vec<String>>, bool) {
    let (mut found, mut unread, mut declares) = (Vec::new(), false, false);
    for piece in pieces(body) {
        let words = words(body, &piece);
        let mut rest = words.as_slice();
        while let [first, ..] = rest {
            let word = first.to_lowercase();
            if declares && word != "begin" {
                variables.push(word);
                break;
            }
            rest = match word.as_str() {
                "begin" | "else" | "loop" => {
                    declares = false;
                    &rest[1..]
                }
                "declare" => {
                    declares = true;
                    &rest[1..]
                }
                "if" | "elsif" | "elseif" | "while" => {
                    let end = position(rest, &["then", "loop"]);
                    found.push(select(&rest[1..end]));
                    rest.get(end + 1..).unwrap_or_default()
                }
                "case" | "when" | "exception" => rest.get(position(rest, &["then"]) + 1..).unwrap_or_default(),
                "for" => {
                    let (start, end) = (position(rest, &["in"]) + 1, position(rest, &["loop"]));
                    variables.extend(rest.get(1).map(|name| name.to_lowercase()));
                    let of = rest.get(start..end).unwrap_or_default();
                    let is_range = of.windows(2).any(|pair| pair[0] == "." && pair[1] == ".");
                    match of.first().map(|word| word.to_lowercase()).as_deref() {
                        Some("select" | "with") => found.push(of.to_vec()),
                        _ if is_range => {}
                        _ => unread = true,
                    }
                    rest.get(end + 1..).unwrap_or_default()
                }
                "foreach" => {
                    let (start, end) = (position(rest, &["array"]) + 1, position(rest, &["loop"]));
                    variables.extend(rest.get(1).map(|name| name.to_lowercase()));
                    found.push(select(rest.get(start..end).unwrap_or_default()));
                    rest.get(end + 1..).unwrap_or_default()
                }
                _ => {
                    match action(rest) {
                        Action::Text(text) => found.push(text),
                        Action::Nothing => {}
                        Action::Unknown => unread = true,
                    }
                    break;
                }
            };
        }
    }
    (found, unread)
}

enum Action {
    Text(Vec<String>),
    Nothing,
    Unknown,
}

/// What one statement of PL/pgSQL does to the database.
fn action(words: &[String]) -> Action {
    let word = |at: usize| words.get(at).map(|word| word.to_lowercase()).unwrap_or_default();
    match (word(0).as_str(), word(1).as_str()) {
        ("end" | "null" | "raise" | "exit" | "continue" | "get" | "assert" | "fetch" | "move" | "close", _) => {
            Action::Nothing
        }
        // A cursor is taken to be read to its end.
        ("open", _) => match words.get(position(words, &["for"]) + 1..) {
            Some(query @ [first, ..]) if ["select", "with"].contains(&first.to_lowercase().as_str()) => {
                Action::Text(query.to_vec())
            }
            _ => Action::Unknown,
        },
        ("return", "" | "null" | "new" | "old" | "true" | "false") if words.len() < 3 => Action::Nothing,
        ("return", "query") if word(2) != "execute" => Action::Text(words[2..].to_vec()),
        ("return", "query") => Action::Unknown,
        ("return", "next") => Action::Text(select(&words[2..])),
        ("return" | "perform", _) => Action::Text(select(&words[1..])),
        ("insert" | "update" | "delete" | "select" | "with", _) => Action::Text(without_into(words)),
        _ => match words.iter().position(|word| word == "=") {
            Some(at) => Action::Text(select(&words[at + 1..])),
            None => Action::Unknown,
        },
    }
}

fn position(words: &[String], wanted: &[&str]) -> usize {
    let mut depth = 0_usize;
    for (at, word) in words.iter().enumerate() {
        match word.as_str() {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ if depth == 0 && wanted.iter().any(|wanted| word.eq_ignore_ascii_case(wanted)) => return at,
            _ => {}
        }
    }
    words.len()
}

fn select(words: &[String]) -> Vec<String> {
    [&["SELECT".to_owned()], words].concat()
}

/// The words of a SELECT or of a write without `INTO variables`.
fn without_into(words: &[String]) -> Vec<String> {
    let is = |at: usize, word: &str| words.get(at).is_some_and(|found| found.eq_ignore_ascii_case(word));
    let into = (1..words.len()).find(|at| is(*at, "into") && !is(at - 1, "insert"));
    let Some(into) = into else { return words.to_vec() };
    let mut end = into + if is(into + 1, "strict") { 3 } else { 2 };
    while words.get(end).is_some_and(|word| word == "," || word == ".") {
        end += 2;
    }
    [&words[..into], words.get(end..).unwrap_or_default()].concat()
}

/// Reads a statement in which variables and the trigger's rows are parameters.
fn understood(schema: &Schema, words: &[String], variables: &[String]) -> Option<Statement> {
    let mut text = String::from("-- name: body_statement :exec\n");
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let lower = word.to_lowercase();
        let next = words.get(at + 1).map(String::as_str);
        let is_member = at > 0 && words[at - 1] == ".";
        if ["new", "old"].contains(&lower.as_str()) && !is_member {
            text.push_str(&format!(" :{lower}__"));
            if next == Some(".") {
                text.push_str(words.get(at + 2).map_or("", String::as_str));
                at += 2;
            }
        } else if variables.contains(&lower) && !is_member && next != Some("(") {
            text.push_str(&format!(" :arg__{lower}"));
            if next == Some(".") {
                at += 2;
            }
        } else {
            // Operators are cut into single characters; those that touch again mean the same.
            let joins = |word: &str| !word.starts_with(|c: char| c.is_alphanumeric() || "_'\"$(),".contains(c));
            if !(joins(word) && at > 0 && joins(&words[at - 1])) {
                text.push(' ');
            }
            text.push_str(word);
        }
        at += 1;
    }
    text.push_str(";\n");
    let mut sources = Sources::default();
    let file = sources.add(SourceFile::new("sql/pg/body.sql", text));
    let (page, _) = split::split(&sources, file, (Dialect::Pg, Readers::One), "body");
    let (statement, _) = resolve::resolve(&sources, schema, page.statements.first()?, Dialect::Pg);
    statement
}

//! CREATE VIRTUAL TABLE of SQLite: the columns that full-text and range indexes have.

use super::migration::Piece;
use super::read::Reader;
use super::{Column, Fill, Table};
use crate::source::Span;
use crate::split::lexer::{self, Kind, Token};
use crate::types::{Base, Type};

/// Modules that find texts: every argument without `=` is a column of texts.
const SEARCHING: [&str; 3] = ["fts3", "fts4", "fts5"];

/// The words of a statement that are no comments.
struct Words<'a> {
    sql: &'a str,
    tokens: Vec<Token>,
}

impl Words<'_> {
    fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &self.sql[token.start..token.end])
    }

    fn is(&self, at: usize, word: &str) -> bool {
        self.text(at).eq_ignore_ascii_case(word)
    }

    /// A name in lower case, without its quotes.
    fn name(&self, at: usize) -> String {
        self.text(at).trim_matches(['"', '`', '[', ']', '\'']).to_lowercase()
    }

    /// The places of the arguments between the brackets behind a place: the first and the last token of each.
    fn arguments(&self, open: usize) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let (mut depth, mut first) = (0_usize, open + 1);
        for at in open..self.tokens.len() {
            match self.text(at) {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 || (depth == 1 && self.is(at, ",")) {
                if first < at {
                    found.push((first, at - 1));
                }
                first = at + 1;
            }
            if depth == 0 {
                break;
            }
        }
        found
    }
}

impl Reader {
    pub(super) fn virtual_table(&mut self, piece: &Piece) {
        let sql = piece.sql();
        let tokens = lexer::tokens(sql, self.dialect).into_iter().filter(|token| !token.is_comment()).collect();
        let words = Words { sql, tokens };
        let place = |at: usize| {
            let token = words.tokens.get(at);
            let (start, end) = token.map_or((0, 0), |token| (token.start, token.end));
            let base = piece.span.start as usize;
            Span::new(piece.span.file, base + start..base + end)
        };
        let Some(using) = (0..words.tokens.len()).find(|at| words.is(*at, "using")).filter(|at| *at > 2) else {
            return;
        };
        let (name, module) = (words.name(using - 1), words.name(using + 1));
        if self.schema.tables.contains_key(&name) {
            return;
        }
        let mut table = Table::new(name, place(using - 1));
        table.searched = SEARCHING.contains(&module.as_str());
        let is_range = ["rtree", "rtree_i32"].contains(&module.as_str());
        if !table.searched && !is_range {
            let message = format!("the columns of a table of the module `{module}` are not known");
            let help = "declare what reads and writes it with `-- only: sqlite — REASON`";
            self.unreadable(&message, place(using + 1), "not known", help);
            return;
        }
        for (first, last) in words.arguments(using + 2) {
            let is_option = (first..=last).any(|at| words.is(at, "=")) || words.is(first, "tokenize");
            let auxiliary = words.is(first, "+");
            let at = if auxiliary { first + 1 } else { first };
            let base = match (is_range, table.columns.len()) {
                (false, _) => Base::Text,
                (true, _) if auxiliary => Base::Text,
                (true, 0) => Base::Int64,
                (true, _) if module == "rtree_i32" => Base::Int32,
                (true, _) => Base::Float64,
            };
            let is_name = words.tokens.get(at).is_some_and(|token| matches!(token.kind, Kind::Word | Kind::Quoted));
            if is_option || !is_name {
                continue;
            }
            table.columns.push(Column {
                name: words.name(at),
                ty: Type { base, nullable: true },
                has_default: false,
                declared: String::new(),
                fill: Fill::Nothing,
                collation: None,
                words: None,
                span: place(at),
            });
        }
        self.schema.tables.insert(table.name.clone(), table);
    }
}

#[cfg(test)]
mod tests {
    use crate::dialect::Dialect;
    use crate::source::{SourceFile, Sources};

    /// The columns of the tables that a migration makes, and what was found.
    fn read(text: &str) -> (Vec<String>, Vec<String>) {
        let mut sources = Sources::default();
        let file = sources.add(SourceFile::new("schema/sqlite/0001_init.sql", text));
        let (schema, found) = crate::schema::read(&sources, &[file], Dialect::Sqlite);
        let of = |table: &crate::schema::Table| {
            let columns = table.columns.iter().map(|column| format!("{} {}", column.name, column.ty));
            format!("{}: {}", table.name, columns.collect::<Vec<_>>().join(", "))
        };
        (schema.tables.values().map(of).collect(), found.iter().map(|finding| finding.message.clone()).collect())
    }

    #[test]
    fn what_is_searched_has_columns_of_texts() {
        let (tables, found) = read(
            "CREATE VIRTUAL TABLE recipe_text USING fts5(title, \"Body\", lang UNINDEXED, content='recipe', tokenize = 'porter ascii');\n\
             CREATE VIRTUAL TABLE IF NOT EXISTS main.old_text USING FTS4(note, tokenize=porter);\n\
             CREATE VIRTUAL TABLE area USING rtree(id, low, high, +label TEXT);",
        );
        assert_eq!(found, [""; 0]);
        let area = "area: id i64 null, low f64 null, high f64 null, label text null";
        let text = "recipe_text: title text null, body text null, lang text null";
        assert_eq!(tables, [area, "old_text: note text null", text]);
    }

    #[test]
    fn a_module_that_nobody_knows_is_named() {
        let (tables, found) = read("CREATE VIRTUAL TABLE near USING vectors(embedding float[3]);");
        assert_eq!(tables, [""; 0]);
        assert_eq!(found, ["0001_init (SQLite): the columns of a table of the module `vectors` are not known"]);
    }
}

//! What a statement calls its tables, also while it is half written.

use std::ops::Range;

use sqlparser::keywords::RESERVED_FOR_TABLE_ALIAS;

use diglot::schema::Schema;
use diglot::split::lexer::{Kind, Token};
use diglot::tree::{SourceKind, Statement};
use diglot::types::Type;

/// What stands behind a name.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Relation {
    /// A table or a view of the schema.
    Table(String),
    /// A CTE, a subquery, a function: its columns.
    Rows(Vec<(String, Option<Type>)>),
}

/// The names of a statement, each with what it is.
#[derive(Debug, Default)]
pub(super) struct Scope(pub(super) Vec<(String, Relation)>);

impl Scope {
    /// The names of a statement: by its tree, or by its words while it is not understood, and then by the CTEs that the
    /// facing page has.
    pub(super) fn of(
        tree: Option<&Statement>,
        facing: Option<&Statement>,
        schema: &Schema,
        (text, tokens): (&str, &[Token]),
    ) -> Self {
        let mut scope = Self::default();
        if let Some(tree) = tree.filter(|tree| !tree.parts.is_empty()) {
            tree.sources().iter().for_each(|source| scope.add_source(source));
            return scope;
        }
        scope.add_words(schema, text, tokens);
        let sources = facing.map(Statement::sources).unwrap_or_default();
        sources.iter().filter(|source| source.table().is_none()).for_each(|source| scope.add_source(source));
        scope
    }

    fn add_source(&mut self, source: &diglot::tree::Source) {
        let relation = match &source.kind {
            SourceKind::Table(name) => Relation::Table(name.clone()),
            _ => Relation::Rows(source.columns.clone()),
        };
        self.add(source.alias.clone(), relation);
    }

    fn add(&mut self, name: String, relation: Relation) {
        if !self.0.iter().any(|(known, of)| *known == name && *of == relation) {
            self.0.push((name, relation));
        }
    }

    /// The tables that the words name where a table may stand, with their aliases.
    fn add_words(&mut self, schema: &Schema, text: &str, tokens: &[Token]) {
        let code: Vec<Token> = tokens.iter().filter(|token| !token.is_comment()).copied().collect();
        for at in 0..code.len() {
            let name = name(text, code[at]);
            if !schema.tables.contains_key(&name) || !follows_table_word(text, &code, at) {
                continue;
            }
            let behind = match code.get(at + 1) {
                Some(next) if text[next.start..next.end].eq_ignore_ascii_case("as") => at + 2,
                _ => at + 1,
            };
            let alias = code.get(behind).filter(|next| is_alias(text, **next)).map(|next| self::name(text, *next));
            self.add(alias.unwrap_or_else(|| name.clone()), Relation::Table(name));
        }
    }

    /// What a name stands for.
    pub(super) fn get(&self, name: &str) -> Option<&Relation> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, relation)| relation)
    }
}

impl Relation {
    /// Its columns with their types.
    pub(super) fn columns(&self, schema: &Schema) -> Vec<(String, Option<Type>)> {
        match self {
            Self::Rows(columns) => columns.clone(),
            Self::Table(name) => schema.tables.get(name).map_or_else(Vec::new, |table| {
                table.columns.iter().map(|column| (column.name.clone(), Some(column.ty.clone()))).collect()
            }),
        }
    }
}

/// The name that a token is, as the schema has it.
pub(super) fn name(text: &str, token: Token) -> String {
    let word = &text[token.start..token.end];
    match token.kind {
        Kind::Quoted => word.trim_matches(['"', '`', '[', ']']).to_owned(),
        _ => word.to_lowercase(),
    }
}

/// Words behind which a table stands.
const TABLE_WORDS: [&str; 7] = ["from", "join", "into", "update", "using", "only", "table"];

/// Whether a table may stand at a token: behind such a word, or behind a comma in a list that began with one.
pub(super) fn follows_table_word(text: &str, code: &[Token], at: usize) -> bool {
    let word = |token: &Token| text[token.start..token.end].to_lowercase();
    let Some(before) = at.checked_sub(1).and_then(|before| code.get(before)).map(word) else { return false };
    if before == "," {
        let list = code[..at].iter().rev().map(word).find(|word| is_clause(word));
        return list.is_some_and(|clause| clause == "from");
    }
    TABLE_WORDS.contains(&before.as_str())
}

/// Words that begin a list, or end one.
fn is_clause(word: &str) -> bool {
    TABLE_WORDS.contains(&word)
        || ["select", "where", "set", "values", "on", "by", "having", "returning", "("].contains(&word)
}

fn is_alias(text: &str, token: Token) -> bool {
    let word = &text[token.start..token.end];
    let is_reserved =
        || RESERVED_FOR_TABLE_ALIAS.iter().any(|keyword| format!("{keyword:?}").eq_ignore_ascii_case(word));
    match token.kind {
        Kind::Quoted => true,
        Kind::Word => !word.starts_with(|c: char| c.is_ascii_digit()) && !is_reserved(),
        _ => false,
    }
}

/// The word that ends at the cursor or stands under it, as far as it is written.
pub(super) fn word_before(text: &str, offset: usize) -> Range<usize> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let before = &text[..offset];
    let start = before.char_indices().rev().take_while(|(_, c)| is_word(*c)).last().map_or(offset, |(at, _)| at);
    start..offset
}

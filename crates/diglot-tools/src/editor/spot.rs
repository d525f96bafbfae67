//! What stands at a place of a page.

use std::ops::Range;

use super::Place;
use super::scope::{Relation, Scope, follows_table_word, name};
use diglot::dialect::{Both, Dialect};
use diglot::facts;
use diglot::page::Page;
use diglot::pipeline::{Memory, Opened};
use diglot::project::Inputs;
use diglot::rule::Rule;
use diglot::rules;
use diglot::schema::Schema;
use diglot::source::{FileId, Span};
use diglot::split::{self, lexer};
use diglot::tree::{ExprKind, SourceKind, Statement};
use diglot::types::Type;

/// What stands at a place.
#[derive(Debug)]
pub(super) enum Thing {
    /// The header of a statement, or a word of it that has no meaning of its own.
    Statement,
    /// A parameter.
    Param(String),
    /// A table or a view.
    Table(String),
    /// A column of a table.
    Column { table: String, column: String },
    /// A column of a CTE, a subquery or a function, with its type in its own dialect.
    Computed { owner: String, column: String, ty: Option<Type> },
    /// A rule that an annotation names.
    Rule(&'static Rule),
}

/// A place of a page with what is known of its statement.
pub(super) struct Spot<'d> {
    pub(super) inputs: &'d Inputs,
    pub(super) schemas: &'d Both<Schema>,
    pub(super) pages: &'d [Page],
    pub(super) file: FileId,
    pub(super) dialect: Dialect,
    pub(super) offset: usize,
    pub(super) text: &'d str,
    /// The tokens of the statement, or of the whole file where no statement stands.
    pub(super) tokens: Vec<lexer::Token>,
    /// The statement, if it is one.
    pub(super) opened: Option<Opened>,
    pub(super) scope: Scope,
}

impl<'d> Spot<'d> {
    /// None in a file that is no page.
    pub(super) fn at(inputs: &'d Inputs, memory: &'d mut Memory, place: Place) -> Option<Self> {
        let file = place.file;
        let text = inputs.sources.get(file)?.text.as_str();
        let mut offset = place.offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let dialect = Dialect::ALL
            .into_iter()
            .find(|dialect| inputs.statement_files(*dialect).iter().any(|(page, _)| *page == file))?;
        let noun = memory.pages(inputs).iter().find(|page| page.file == file)?.noun.clone();
        let all = lexer::tokens(text, dialect);
        let blocks = split::blocks(text, dialect, &all);
        let block = blocks.iter().rfind(|(tokens, _)| all[tokens.start].start <= offset);
        let name = block.and_then(|(_, header)| {
            split::header(&text[all[*header].start..all[*header].end])?.split_whitespace().next().map(str::to_owned)
        });
        let opened = name.and_then(|name| memory.open(inputs, &noun, &name));
        let tokens = block.map_or_else(|| all.clone(), |(tokens, _)| all[tokens.clone()].to_vec());
        let (schemas, pages) = memory.read(inputs)?;
        let tree = |dialect: Dialect| opened.as_ref().and_then(|opened| opened.trees[dialect].as_ref());
        let scope = Scope::of(tree(dialect), tree(dialect.other()), &schemas[dialect], (text, &tokens));
        Some(Self { inputs, schemas, pages, file, dialect, offset, text, tokens, opened, scope })
    }

    pub(super) fn schema(&self) -> &'d Schema {
        &self.schemas[self.dialect]
    }

    /// The tree of this page; without parts when it is not understood.
    pub(super) fn tree(&self) -> Option<&Statement> {
        self.opened.as_ref().and_then(|opened| opened.trees[self.dialect].as_ref())
    }

    /// The tokens but the comments.
    pub(super) fn code(&self) -> Vec<lexer::Token> {
        self.tokens.iter().filter(|token| !token.is_comment()).copied().collect()
    }

    pub(super) fn word(&self, token: lexer::Token) -> &'d str {
        &self.text[token.start..token.end]
    }

    /// The token that the cursor is in, or that ends at it.
    pub(super) fn token(&self) -> Option<usize> {
        let holds = |token: &lexer::Token| token.start <= self.offset && self.offset < token.end;
        let ends = |token: &lexer::Token| token.end == self.offset && token.kind != lexer::Kind::Symbol;
        self.tokens.iter().position(holds).or_else(|| self.tokens.iter().position(ends))
    }

    /// The place of what is asked about.
    pub(super) fn span(&self) -> Span {
        let range: Range<usize> = match self.token().map(|at| self.tokens[at]) {
            Some(token) => token.start..token.end,
            None => self.offset..self.offset,
        };
        Span::new(self.file, range)
    }

    /// What stands there; none between statements.
    pub(super) fn thing(&self) -> Option<Thing> {
        self.opened.as_ref()?;
        let token = self.tokens[self.token()?];
        let thing = match token.kind {
            lexer::Kind::LineComment => self.in_comment(self.word(token)),
            lexer::Kind::BlockComment | lexer::Kind::Text => None,
            _ => self.param().or_else(|| self.in_code(token)),
        };
        Some(thing.unwrap_or(Thing::Statement))
    }

    fn param(&self) -> Option<Thing> {
        let at = Span::new(self.file, self.offset..self.offset);
        let used = self.tree()?.params.iter().find(|used| used.span.contains(at))?;
        Some(Thing::Param(used.name.clone()))
    }

    fn in_comment(&self, comment: &str) -> Option<Thing> {
        let body = comment.trim_start_matches('-').trim();
        for word in ["param:", "if:"] {
            if let Some(name) = body.strip_prefix(word).and_then(|rest| rest.split_whitespace().next()) {
                return Some(Thing::Param(name.to_owned()));
            }
        }
        let inside = |word: &str| body.strip_prefix(word)?.split(['.', '#', ')']).next();
        let fact = inside("diverges(")
            .and_then(|fact| facts::Kind::ALL.into_iter().find(|(_, word, ..)| *word == fact))
            .map(|(_, _, rule, _)| rule.name);
        inside("allow(").or(fact).and_then(rules::find).map(Thing::Rule)
    }

    fn in_code(&self, token: lexer::Token) -> Option<Thing> {
        if !matches!(token.kind, lexer::Kind::Word | lexer::Kind::Quoted) {
            return None;
        }
        let code = self.code();
        let at = code.iter().position(|other| other.start == token.start)?;
        let word = name(self.text, token);
        let is_dot = |at: usize| code.get(at).is_some_and(|token| self.word(*token) == ".");
        let owner = at.checked_sub(2).filter(|_| is_dot(at - 1)).map(|owner| name(self.text, code[owner]));
        if is_dot(at + 1) {
            return self.relation(&word);
        }
        if let Some(owner) = owner {
            return match self.scope.get(&owner) {
                Some(relation) => self.column(&owner, relation, &word),
                None => self.table(&word),
            };
        }
        if let Some(thing) = self.resolved(token, &word) {
            return Some(thing);
        }
        if follows_table_word(self.text, &code, at) || self.scope.get(&word).is_some() {
            return self.relation(&word);
        }
        self.scope.0.iter().find_map(|(owner, relation)| self.column(owner, relation, &word))
    }

    /// The column that the tree has at a token.
    fn resolved(&self, token: lexer::Token, word: &str) -> Option<Thing> {
        let tree = self.tree()?;
        let span = Span::new(self.file, token.start..token.end);
        let (source, ty) = tree.exprs().into_iter().find_map(|expr| match &expr.kind {
            ExprKind::Column { source, column } if expr.span.contains(span) && column == word => {
                Some((tree.source(*source)?, expr.ty.clone()))
            }
            _ => None,
        })?;
        Some(match &source.kind {
            SourceKind::Table(table) => Thing::Column { table: table.clone(), column: word.to_owned() },
            _ => Thing::Computed { owner: source.alias.clone(), column: word.to_owned(), ty },
        })
    }

    /// What a name of a table or of an alias stands for.
    fn relation(&self, word: &str) -> Option<Thing> {
        match self.scope.get(word) {
            Some(Relation::Table(table)) => self.table(table),
            Some(Relation::Rows(_)) => None,
            None => self.table(word),
        }
    }

    fn table(&self, word: &str) -> Option<Thing> {
        self.schema().tables.contains_key(word).then(|| Thing::Table(word.to_owned()))
    }

    fn column(&self, owner: &str, relation: &Relation, word: &str) -> Option<Thing> {
        let (column, ty) = relation.columns(self.schema()).into_iter().find(|(column, _)| column == word)?;
        Some(match relation {
            Relation::Table(table) => Thing::Column { table: table.clone(), column },
            Relation::Rows(_) => Thing::Computed { owner: owner.to_owned(), column, ty },
        })
    }
}

//! Second pass: parses a statement, resolves its names against the schema, types every node.
//!
//! `text` cuts a statement into tokens, `edit` makes the list readable for sqlparser, `parse` reads it;
//! `query`, `output`, `from`, `write`, `expr`, `predicate`, `cast` and `call` lower what was read to [`crate::tree`] and resolve and type it
//! on the way, with the help of `scope` (names), `types` and `functions` (types as data).
//!
//! Nothing here compares pages or infers the types of parameters.

mod behind;
mod call;
mod cast;
mod clauses;
mod edit;
mod expr;
mod from;
mod functions;
mod held;
mod numbered;
mod output;
mod parse;
mod predicate;
mod query;
mod rows;
mod scope;
mod table_functions;
mod text;
mod types;
mod unnamed;
mod write;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use sqlparser::ast::{self, SetExpr};

pub use self::functions::is_aggregate;
pub(crate) use self::functions::{is_aggregate_call, knows_function};
pub(crate) use self::scope::present_columns;
pub use held::written;
pub(crate) use numbered::facing_names;
pub(crate) use unnamed::name_columns;

use self::edit::Edited;
use self::scope::{Cte, Scope, known_as};
use self::text::Text;
use crate::diagnostic::{Diagnostic, Severity};
use crate::dialect::Dialect;
use crate::grammar::grammar;
use crate::page::{Annotation, AnnotationKind, RawPart, RawStatement, RowsTaken};
use crate::rule;
use crate::schema::Schema;
use crate::source::{Sources, Span};
use crate::tree::{Body, Expr, ExprKind, ParamUse, Part, Rewrite, Statement};
use crate::types::Type;

/// The longest statement that is read, in tokens.
const TOKENS: usize = 8_000;

/// Parses and resolves one statement.
///
/// `None` when it cannot be read at all; then there is at least one error. With errors about names the
/// statement is there, good for its signature, and not fit to be compared.
pub(crate) fn resolve(
    sources: &Sources,
    schema: &Schema,
    raw: &RawStatement,
    dialect: Dialect,
) -> (Option<Statement>, Vec<Diagnostic>) {
    resolve_with(sources, schema, raw, dialect, &BTreeMap::new())
}

/// The same, where some numbered parameters have their names already.
pub(crate) fn resolve_with(
    sources: &Sources,
    schema: &Schema,
    raw: &RawStatement,
    dialect: Dialect,
    given: &BTreeMap<String, String>,
) -> (Option<Statement>, Vec<Diagnostic>) {
    let mut names = BTreeMap::new();
    let mut lowered = lower(sources, schema, raw, dialect, &names);
    if lowered.params.iter().any(|param| param.name.starts_with('?')) {
        // The names of numbered parameters are known once the first reading has seen what each is compared with.
        names = inferred_names(&lowered.params, &lowered.hints);
        names.extend(given.iter().map(|(number, name)| (number.clone(), name.clone())));
        lowered = lower(sources, schema, raw, dialect, &names);
    }
    // An alias that stands in several clauses is lowered in each.
    let mut seen = BTreeSet::new();
    lowered.diagnostics.retain(|d| seen.insert((d.rule, d.labels.first().map(|label| label.span))));
    let unreadable = lowered.parts.is_empty()
        || lowered.diagnostics.iter().any(|d| [rule::SYNTAX.name, rule::UNSUPPORTED_STATEMENT.name].contains(&d.rule));
    let statement = (!unreadable).then(|| Statement {
        name: raw.name.clone(),
        dialect,
        cardinality: raw.cardinality,
        span: raw.span,
        result: result_part(raw, &lowered.parts),
        parts: lowered.parts,
        params: lowered.params,
        rewrites: lowered.rewrites,
    });
    debug_assert!(statement.is_some() || lowered.diagnostics.iter().any(|d| d.severity == Severity::Error));
    (statement, lowered.diagnostics)
}

/// What a driver needs to know of a statement that cannot be read: its parameters. `None` when not even its words are
/// told apart.
pub(crate) fn unread(sources: &Sources, raw: &RawStatement, dialect: Dialect) -> Option<Statement> {
    let (mut params, mut rewrites) = (Vec::new(), Vec::new());
    for part in &raw.parts {
        let tokens = text::of_part(grammar(dialect), sources, part, raw).ok()?;
        let edited = edit::edit(tokens, dialect);
        params.extend(edited.params);
        rewrites.extend(edited.rewrites);
    }
    let (name, cardinality, span) = (raw.name.clone(), raw.cardinality, raw.span);
    Some(Statement { name, dialect, cardinality, span, result: None, parts: Vec::new(), params, rewrites })
}

/// Lowers all SQL statements of a unit.
fn lower<'a>(
    sources: &'a Sources,
    schema: &'a Schema,
    raw: &'a RawStatement,
    dialect: Dialect,
    names: &'a BTreeMap<String, String>,
) -> Lower<'a> {
    let mut lower = Lower {
        sources,
        schema,
        dialect,
        name: &raw.name,
        names,
        declared: declared(raw),
        nullable: &raw.nullable,
        rows: raw.rows(),
        text: Text::new(raw.span, Vec::new()),
        edited: Edited::default(),
        scopes: Vec::new(),
        ctes: Vec::new(),
        windows: Vec::new(),
        recursion: None,
        next_source: 0,
        statement: 0,
        returned: Vec::new(),
        parts: Vec::new(),
        params: Vec::new(),
        rewrites: Vec::new(),
        hints: BTreeMap::new(),
        diagnostics: Vec::new(),
    };
    for (index, part) in raw.parts.iter().enumerate() {
        lower.statement = index;
        lower.sql(raw, part);
    }
    if raw.parts.is_empty() {
        let message = format!("`{}` has no SQL", raw.name);
        let finding = Diagnostic::error(rule::SYNTAX, message, raw.header_span, "nothing follows");
        lower.report(finding.help("write the statement below the header"));
    }
    for param in &mut lower.params {
        param.met = lower.hints.get(&param.name).cloned();
    }
    lower
}

fn declared(raw: &RawStatement) -> BTreeMap<String, Type> {
    let param = |annotation: &'_ Annotation| match &annotation.kind {
        AnnotationKind::Param { name, ty } => Some((name.clone(), ty.clone())),
        _ => None,
    };
    raw.annotations.iter().filter_map(param).collect()
}

/// The part whose rows are returned: the marked one, else the last, else the only one that gives any.
fn result_part(raw: &RawStatement, parts: &[Part]) -> Option<usize> {
    let own = |index: usize| parts.iter().rposition(|part| part.statement == index && part.name.is_none());
    if let Some(marked) = raw.parts.iter().position(|part| part.returns) {
        return own(marked);
    }
    let gives = |index: &usize| parts.get(*index).is_some_and(|part| !part.columns().is_empty());
    if let Some(last) = own(raw.parts.len().saturating_sub(1)).filter(gives) {
        return Some(last);
    }
    let mut giving = (0..raw.parts.len()).filter_map(own).filter(gives);
    giving.next().filter(|_| giving.next().is_none())
}

/// Names for `?1` and `$1`: what each is compared with, inserted into or assigned to; else `arg1`.
fn inferred_names(params: &[ParamUse], hints: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut taken: BTreeSet<String> = params.iter().map(|param| param.name.clone()).collect();
    let mut names = BTreeMap::new();
    for param in params.iter().filter(|param| param.name.starts_with('?')) {
        if names.contains_key(&param.name) {
            continue;
        }
        let number = param.name.trim_start_matches('?');
        let wanted = hints.get(&param.name).cloned().unwrap_or_else(|| format!("arg{number}"));
        let mut name = wanted.clone();
        let mut n = 2;
        while !taken.insert(name.clone()) {
            name = format!("{wanted}_{n}");
            n += 1;
        }
        names.insert(param.name.clone(), name);
    }
    names
}

/// The state of lowering one statement.
struct Lower<'a> {
    sources: &'a Sources,
    schema: &'a Schema,
    dialect: Dialect,
    /// The statement's name, for messages.
    name: &'a str,
    /// Names of numbered parameters.
    names: &'a BTreeMap<String, String>,
    /// Types declared by `-- param`.
    declared: BTreeMap<String, Type>,
    /// Parameters that the facing page declares nullable.
    nullable: &'a BTreeSet<String>,
    /// The list of rows that the statement takes.
    rows: Option<RowsTaken<'a>>,
    /// The SQL statement at work.
    text: Text,
    /// What was taken out of it.
    edited: Edited,
    /// Query levels, the innermost last.
    scopes: Vec<Scope>,
    /// CTEs in sight, the nearest last.
    ctes: Vec<Cte>,
    /// Named windows in sight.
    windows: Vec<(String, ast::WindowSpec)>,
    /// The recursive CTE whose query comes next: its name and its columns' names.
    recursion: Option<(String, Vec<String>)>,
    next_source: u32,
    /// The index of the SQL statement at work.
    statement: usize,
    /// What statements of the unit returned that are CTEs on the page.
    returned: Vec<Cte>,
    parts: Vec<Part>,
    params: Vec<ParamUse>,
    /// What the driver is to get in other words.
    rewrites: Vec<Rewrite>,
    /// What parameters are used for.
    hints: BTreeMap<String, String>,
    diagnostics: Vec<Diagnostic>,
}

impl Lower<'_> {
    /// Lowers one SQL statement of the unit.
    fn sql(&mut self, raw: &RawStatement, part: &RawPart) {
        let mut tokens = match text::of_part(grammar(self.dialect), self.sources, part, raw) {
            Ok(tokens) => tokens,
            Err(bad) => {
                self.syntax(&parse::Unreadable { message: bad.message, span: bad.span, ends: true });
                return;
            }
        };
        tokens.retain(|token| !raw.is_left_out(token.span));
        if let Some(token) = tokens.get(TOKENS) {
            let message = format!("it has more than {TOKENS} words");
            self.syntax(&parse::Unreadable { message, span: token.span, ends: false });
            return;
        }
        let behind = raw.behind.as_ref().filter(|behind| behind.statement == self.statement);
        match behind.map(|behind| behind::insert(&mut tokens, behind, grammar(self.dialect))) {
            Some(Ok(rewrites)) => self.rewrites.extend(rewrites),
            Some(Err(bad)) => {
                self.syntax(&parse::Unreadable { message: bad.message, span: bad.span, ends: true });
                return;
            }
            None => {}
        }
        self.edited = edit::edit(tokens, self.dialect);
        for param in &mut self.edited.params {
            param.nullable |= behind.is_some_and(|behind| behind.may_be_null(&param.name));
            if let Some(name) = self.names.get(&param.name) {
                param.number = Some(std::mem::replace(&mut param.name, name.clone()));
            }
        }
        self.params.extend(self.edited.params.iter().cloned());
        self.rewrites.append(&mut self.edited.rewrites);
        self.text = Text::new(part.span, std::mem::take(&mut self.edited.tokens));
        self.ctes.clone_from(&self.returned);
        let name = part.cte.as_ref().map(|cte| cte.name.clone());
        match parse::statement(&mut self.text, self.dialect) {
            Ok(statement) => self.top(&statement, name.clone()),
            Err(error) => self.unread(&error),
        }
        if let Some(name) = name {
            let own = self.parts.last().filter(|own| own.name.as_ref() == Some(&name));
            let (columns, complete) = (own.map_or_else(Vec::new, Part::columns), own.is_some());
            self.returned.push(Cte { name, columns, complete });
        }
    }

    /// A text that cannot be read: one that begins like no statement that is compared is no fault of its grammar.
    fn unread(&mut self, error: &parse::Unreadable) {
        const OTHERS: [&str; 9] =
            ["CHECKPOINT", "CLUSTER", "DISCARD", "DO", "LISTEN", "REFRESH", "REINDEX", "TABLE", "UNLISTEN"];
        match OTHERS.into_iter().find(|word| self.text.is_word(0, word)) {
            Some(word) => self.unsupported(word, self.text.bytes(0, 0)),
            None => self.syntax(error),
        }
    }

    fn top(&mut self, statement: &ast::Statement, name: Option<String>) {
        let body = match statement {
            ast::Statement::Query(query) => self.top_query(query),
            ast::Statement::Insert(insert) => self.top_insert(insert),
            ast::Statement::Update(update) => self.update(update).map(Body::Update),
            ast::Statement::Delete(delete) => self.delete(delete).map(Body::Delete),
            _ => {
                let first = self.text.bytes(0, 0);
                let word = self.sources.text(first).to_uppercase();
                self.unsupported(&word, first);
                None
            }
        };
        if let Some(body) = body {
            let span = self.text.span;
            self.part(name, None, false, body, span);
        }
    }

    fn top_query(&mut self, query: &ast::Query) -> Option<Body> {
        if let Some(with) = &query.with {
            for cte in &with.cte_tables {
                self.cte_part(cte, with.recursive);
            }
        }
        match query.body.as_ref() {
            SetExpr::Insert(ast::Statement::Insert(insert)) => self.top_insert(insert),
            SetExpr::Update(ast::Statement::Update(update)) => self.update(update).map(Body::Update),
            SetExpr::Delete(ast::Statement::Delete(delete)) => self.delete(delete).map(Body::Delete),
            _ => Some(Body::Query(self.query_body(query))),
        }
    }

    /// CTEs between `INSERT INTO t` and its SELECT are parts too.
    fn top_insert(&mut self, insert: &ast::Insert) -> Option<Body> {
        let mut insert = insert.clone();
        if let Some(with) = insert.source.as_mut().and_then(|source| source.with.take()) {
            for cte in &with.cte_tables {
                self.cte_part(cte, with.recursive);
            }
        }
        self.insert(&insert).map(Body::Insert)
    }

    fn cte_part(&mut self, cte: &ast::Cte, recursive: bool) {
        let name = known_as(&cte.alias.name);
        let open = self.text.tokens_in(cte.closing_paren_token.0.span).and_then(|(close, _)| self.text.partner(close));
        let materialized = open.and_then(|open| {
            let at = self.text.tokens.get(open)?.span;
            let found = self.edited.materialized.iter().find(|(bracket, _)| *bracket == at);
            found.map(|(_, materialized)| *materialized)
        });
        let close = self.place_of(cte.closing_paren_token.0.span);
        let span = self.place_of(cte.alias.name.span).to(close);
        let writes = matches!(cte.query.body.as_ref(), SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_));
        if !writes {
            let (name, query) = self.cte_query(cte, self.may_recurse(recursive));
            self.part(Some(name), materialized, recursive, Body::Query(query), span);
            return;
        }
        let body = self.top_query(&cte.query);
        let complete = body.is_some();
        if let Some(body) = body {
            self.part(Some(name.clone()), materialized, recursive, body, span);
        }
        let mut columns = self.parts.last().filter(|_| complete).map_or_else(Vec::new, Part::columns);
        columns.iter_mut().zip(self.alias_columns(&cte.alias)).for_each(|(column, name)| column.0 = name);
        self.ctes.push(Cte { name, columns, complete });
    }

    fn part(&mut self, name: Option<String>, materialized: Option<bool>, recursive: bool, body: Body, span: Span) {
        self.parts.push(Part { name, statement: self.statement, materialized, recursive, body, span });
    }

    fn place_of(&self, span: sqlparser::tokenizer::Span) -> Span {
        match self.text.tokens_in(span) {
            Some((first, last)) => self.text.bytes(first, last),
            None => self.text.span,
        }
    }

    /// Whether a word is a column of some level in sight.
    fn is_column(&self, ident: &ast::Ident) -> bool {
        let name = known_as(ident);
        let has = |scope: &Scope| scope.visible.iter().any(|v| v.columns.iter().any(|(column, _)| *column == name));
        self.scopes.iter().any(has)
    }

    fn is_nullable_param(&self, name: &str) -> bool {
        self.nullable.contains(name)
            || self.declared.get(name).is_some_and(|ty| ty.nullable)
            || self.params.iter().any(|param| param.name == name && param.nullable)
    }

    /// Notes what a parameter is used for.
    fn hint(&mut self, value: &Expr, name: &str) {
        match &value.kind {
            ExprKind::Param(param) => {
                self.hints.entry(param.clone()).or_insert_with(|| name.to_owned());
            }
            ExprKind::Cast { expr, .. } | ExprKind::Collate { expr, .. } => self.hint(expr, name),
            // What is chosen from is one of several values for the same place.
            ExprKind::Call { name: called, args, .. } if ["coalesce", "ifnull"].contains(&called.as_str()) => {
                args.iter().for_each(|arg| self.hint(arg, name));
            }
            ExprKind::Case { branches, otherwise, .. } => {
                let values = branches.iter().map(|(_, then)| then).chain(otherwise.as_deref());
                values.for_each(|value| self.hint(value, name));
            }
            _ => {}
        }
    }

    /// The same for two operands that are compared.
    fn hint_each_other(&mut self, left: &Expr, right: &Expr) {
        for (value, other) in [(left, right), (right, left)] {
            if let Some(column) = column_name(other) {
                let column = column.to_owned();
                self.hint(value, &column);
            }
        }
    }

    fn report(&mut self, finding: Diagnostic) {
        self.diagnostics.push(finding);
    }

    fn syntax(&mut self, error: &parse::Unreadable) {
        if let Some(span) = self.foreign_param() {
            let text = self.sources.text(span);
            let message = format!("`{}` cannot be read: `{text}` is SQLite's way to write a parameter", self.name);
            let finding = Diagnostic::error(rule::SYNTAX, message, span, "Postgres writes `$1`");
            self.report(finding.help("is this the text of the SQLite page? write that of Postgres"));
            return;
        }
        let message = format!("`{}` cannot be read: {}", self.name, error.message);
        let title = self.dialect.title();
        let help = format!(
            "if {title} itself accepts this text, write the clause in a plainer form: CAST instead of a rare \
             literal, a subquery instead of a rare join"
        );
        let label = if error.ends { "the text ends too early" } else { "not understood here" };
        self.report(Diagnostic::error(rule::SYNTAX, message, error.span, label).help(help));
    }

    /// The first parameter of a Postgres page that only SQLite reads: `?1`. A mark alone may be an operator.
    fn foreign_param(&self) -> Option<Span> {
        let is_numbered = |span: &Span| {
            let digits = self.sources.text(*span).strip_prefix('?');
            digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
        };
        let mut places = self.text.tokens.iter().map(|token| token.span).filter(|_| self.dialect == Dialect::Pg);
        places.find(is_numbered)
    }

    fn unsupported(&mut self, what: &str, span: Span) {
        let message = format!("`{}` uses {what}, which cannot be compared", self.name);
        let help = "write it as SELECT, INSERT, UPDATE or DELETE in their plain forms";
        self.report(Diagnostic::error(rule::UNSUPPORTED_STATEMENT, message, span, "not supported").help(help));
    }
}

/// The column behind an operand.
fn column_name(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Column { column, .. } => Some(column),
        ExprKind::Cast { expr, .. } | ExprKind::Collate { expr, .. } => column_name(expr),
        _ => None,
    }
}

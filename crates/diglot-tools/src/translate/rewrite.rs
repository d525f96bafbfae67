//! A text in which some expressions are written anew, each with the ones inside it.

use std::collections::BTreeMap;

use diglot::dialect::{Both, Dialect};
use diglot::infer::{self, PageOf};
use diglot::page::RawStatement;
use diglot::pipeline::ReadProject;
use diglot::project::Inputs;
use diglot::schema::Schema;
use diglot::source::Span;
use diglot::tree::{Assignment, Body, Conflict, ConflictAction, Expr, ExprKind, Rows, SourceKind, Statement};
use diglot::types::Base;

/// A piece of what takes an expression's place.
#[derive(Debug, Clone)]
pub(super) enum Piece<'t> {
    Text(String),
    /// Another expression, in brackets if it needs them beside an operator.
    Of(&'t Expr),
    /// A piece of the text, with what is written anew in it.
    Span(Span),
}

/// What takes an expression's place.
#[derive(Debug, Clone)]
pub(super) struct Written<'t> {
    pub(super) pieces: Vec<Piece<'t>>,
    /// Whether it needs brackets beside an operator that binds as tightly.
    pub(super) loose: bool,
}

impl<'t> Written<'t> {
    pub(super) fn new() -> Self {
        Self { pieces: Vec::new(), loose: false }
    }

    pub(super) fn text(mut self, text: impl Into<String>) -> Self {
        self.pieces.push(Piece::Text(text.into()));
        self
    }

    pub(super) fn of(mut self, expr: &'t Expr) -> Self {
        self.pieces.push(Piece::Of(expr));
        self
    }

    pub(super) fn span(mut self, span: Span) -> Self {
        self.pieces.push(Piece::Span(span));
        self
    }

    pub(super) fn then(mut self, other: Written<'t>) -> Self {
        self.pieces.extend(other.pieces);
        self
    }

    /// `name(arguments)`.
    pub(super) fn call(name: &str, args: &'t [Expr]) -> Self {
        let mut written = Self::new().text(format!("{name}("));
        for (at, arg) in args.iter().enumerate() {
            written = if at > 0 { written.text(", ") } else { written }.of(arg);
        }
        written.text(")")
    }

    pub(super) fn loose(mut self) -> Self {
        self.loose = true;
        self
    }
}

/// The SQL of the other page.
pub(super) struct Sql {
    pub(super) text: String,
    /// Declarations that the rewriting itself asks for.
    pub(super) declared: Vec<String>,
    /// What it cannot decide.
    pub(super) open: Vec<String>,
}

/// A statement with what is known about it.
pub(super) struct Rewriter<'t> {
    pub(super) inputs: &'t Inputs,
    pub(super) raw: &'t RawStatement,
    pub(super) tree: &'t Statement,
    pub(super) exprs: Vec<&'t Expr>,
    /// The schema of the page that is drafted.
    pub(super) facing: &'t Schema,
    /// Types of parameters, where the page tells them.
    pub(super) params: BTreeMap<String, Base>,
    written: Vec<(Span, Written<'t>)>,
    pub(super) declared: Vec<String>,
    pub(super) open: Vec<String>,
}

impl<'t> Rewriter<'t> {
    pub(super) fn new(
        inputs: &'t Inputs,
        project: &'t ReadProject<'_>,
        noun: &str,
        raw: &'t RawStatement,
        tree: &'t Statement,
    ) -> Self {
        let Both { sqlite, pg } = project.schemas();
        let (own, facing) = if tree.dialect == Dialect::Sqlite { (sqlite, pg) } else { (pg, sqlite) };
        let page = PageOf { raw, tree, schema: own };
        let shape = infer::shape(&inputs.config, noun, &page, (tree.dialect == Dialect::Sqlite).then_some(pg));
        let params = shape.into_iter().flat_map(|shape| shape.params).map(|param| (param.name, param.ty.base));
        Self {
            inputs,
            raw,
            tree,
            exprs: tree.exprs(),
            facing,
            params: params.collect(),
            written: Vec::new(),
            declared: Vec::new(),
            open: Vec::new(),
        }
    }

    /// The type of the column that an expression names, in the schema of the other page.
    pub(super) fn facing_type(&self, expr: &Expr) -> Option<&'t Base> {
        let ExprKind::Column { source, column } = &expr.kind else { return None };
        let SourceKind::Table(table) = &self.tree.source(*source)?.kind else { return None };
        Some(&self.facing.tables.get(table)?.column(column)?.ty.base)
    }

    /// The smallest expression around one.
    pub(super) fn parent(&self, expr: &Expr) -> Option<&'t Expr> {
        let around = self.exprs.iter().copied().filter(|other| {
            let (outer, inner) = (other.span, expr.span);
            outer.contains(inner) && (outer.end - outer.start) > (inner.end - inner.start)
        });
        around.min_by_key(|other| other.span.end - other.span.start)
    }

    /// Writes a place anew, unless that was done.
    pub(super) fn write(&mut self, span: Span, written: Written<'t>) {
        if !self.written.iter().any(|(known, _)| *known == span) {
            self.written.push((span, written));
        }
    }

    /// Writes a text behind a place.
    pub(super) fn insert(&mut self, at: u32, file: Span, text: impl Into<String>) {
        self.write(Span { start: at, end: at, ..file }, Written::new().text(text));
    }

    /// The values that are assigned or inserted, with their columns and the name of the table.
    pub(super) fn assigned(&self) -> Vec<(String, String, &'t Expr)> {
        let mut found = Vec::new();
        for part in &self.tree.parts {
            let table = part.target().map_or("", |target| match &target.kind {
                SourceKind::Table(name) => name.as_str(),
                _ => "",
            });
            let mut set = |assignments: &'t [Assignment]| {
                for assignment in assignments {
                    found.push((table.to_owned(), assignment.column.clone(), &assignment.value));
                }
            };
            match &part.body {
                Body::Update(update) => set(&update.set),
                Body::Insert(insert) => {
                    if let Some(Conflict { action: ConflictAction::Update { set: assignments, .. }, .. }) =
                        &insert.conflict
                    {
                        set(assignments);
                    }
                    let rows: Vec<Vec<&Expr>> = match &insert.rows.rows {
                        Rows::Values(rows, _) => rows.iter().map(|row| row.iter().collect()).collect(),
                        Rows::Select(select) => vec![select.columns.iter().map(|column| &column.expr).collect()],
                        _ => Vec::new(),
                    };
                    for row in rows {
                        for ((column, _), value) in insert.columns.iter().zip(row) {
                            found.push((table.to_owned(), column.clone(), value));
                        }
                    }
                }
                Body::Query(_) | Body::Delete(_) => {}
            }
        }
        found
    }

    /// The text of the statement with everything written anew.
    pub(super) fn finish(mut self) -> Sql {
        // Of two places that begin together the longer one comes first.
        self.written.sort_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)));
        let whole = self.raw.sql();
        let text = self.within(whole, None);
        let lines: Vec<&str> = text.trim().lines().map(str::trim_end).collect();
        // A clause that is gone may have had a line of its own.
        let kept = lines.iter().filter(|line| !line.is_empty()).copied().collect::<Vec<_>>();
        Sql { text: kept.join("\n"), declared: self.declared, open: self.open }
    }

    /// The text of a place; `itself` is the one that is being written and is not to be written again.
    fn within(&self, span: Span, itself: Option<usize>) -> String {
        let mut text = String::new();
        let mut at = span.start;
        for (index, (place, written)) in self.written.iter().enumerate() {
            let inside = place.file == span.file && place.start >= at && place.end <= span.end;
            if !inside || itself == Some(index) || itself.is_some() && *place == span {
                continue;
            }
            text.push_str(self.source(Span { start: at, end: place.start, ..span }));
            text.push_str(&self.rendered(index, *place, written));
            at = place.end;
        }
        text + self.source(Span { start: at, ..span })
    }

    fn source(&self, span: Span) -> &str {
        self.inputs.sources.text(span)
    }

    fn rendered(&self, index: usize, place: Span, written: &Written<'t>) -> String {
        let mut text = String::new();
        let alone = written.pieces.len() == 1;
        for piece in &written.pieces {
            match piece {
                Piece::Text(own) => text.push_str(own),
                Piece::Span(span) => text.push_str(&self.within(*span, Some(index))),
                Piece::Of(expr) => {
                    let inner = self.written.iter().position(|(span, _)| *span == expr.span && *span != place);
                    match inner {
                        Some(at) if self.written[at].1.loose && written.loose && !alone => {
                            text.push_str(&format!("({})", self.rendered(at, expr.span, &self.written[at].1)));
                        }
                        Some(at) => text.push_str(&self.rendered(at, expr.span, &self.written[at].1)),
                        None => text.push_str(&self.within(expr.span, Some(index))),
                    }
                }
            }
        }
        let had = is_bracketed(self.source(place)) && !is_bracketed(&text) && !is_call(&text);
        if had || written.loose && self.needs_brackets(place) { format!("({text})") } else { text }
    }

    /// Whether the expression around a place binds as tightly as the operators that are written there.
    fn needs_brackets(&self, place: Span) -> bool {
        let Some(expr) = self.exprs.iter().copied().find(|expr| expr.span == place) else { return false };
        if is_bracketed(self.source(place)) {
            return false;
        }
        self.parent(expr).is_some_and(|parent| match &parent.kind {
            ExprKind::Binary { op, .. } => {
                !matches!(op.as_str(), "=" | "<>" | "<" | "<=" | ">" | ">=" | "and" | "or") && !op.starts_with("is ")
            }
            ExprKind::Unary { op, .. } => op != "not",
            ExprKind::Cast { .. } => self.source(parent.span).contains("::"),
            ExprKind::Collate { .. } => true,
            _ => false,
        })
    }
}

/// Whether a text is one call, which needs no brackets anywhere.
fn is_call(text: &str) -> bool {
    let name = text.find('(').unwrap_or(0);
    name > 0 && text[..name].chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && is_bracketed(&text[name..])
}

/// Whether one pair of brackets is around a whole text.
fn is_bracketed(text: &str) -> bool {
    let mut depth = 0_i32;
    let mut quoted = false;
    for (at, c) in text.char_indices() {
        match c {
            '\'' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return text.starts_with('(') && at + 1 == text.len();
                }
            }
            _ if depth == 0 && at == 0 => return false,
            _ => {}
        }
    }
    false
}

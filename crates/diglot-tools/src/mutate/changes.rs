//! The changes that can be made to a statement, read off its tree.

use std::collections::{BTreeMap, BTreeSet};

use super::Mutation;
use diglot::normal::{drops_rows_without, gives_one};
use diglot::schema::Table;
use diglot::source::{Sources, Span};
use diglot::tree::{
    Assignment, Body, Conflict, ConflictAction, Expr, ExprKind, Join, JoinKind, OrderKey, OutputColumn, Part, Query,
    Rows, Source, SourceId, Statement,
};

/// Every change, each once, in the order of the text.
pub(super) fn of(
    (sources, tables): (&Sources, &BTreeMap<String, Table>),
    statement: &Statement,
    by_name: bool,
) -> Vec<Mutation> {
    let (unread, needed, all) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut changes = Changes { sources, statement, by_name, unread, needed, all };
    for part in &statement.parts {
        changes.needed(part);
        for expr in part.exprs() {
            if let ExprKind::Exists { query, .. } = &expr.kind {
                changes.unread(query);
            }
        }
        // How many rows are taken of one at the most is never seen.
        let of_one = part.queries().into_iter().filter(
            |query| matches!(&query.rows, Rows::Select(select) if gives_one(tables, select) && !takes_none(query)),
        );
        let limits = part.queries().into_iter().filter_map(|query| query.limit.as_ref());
        // A number below zero is no limit, whichever it is.
        let of_none = limits.filter(|limit| matches!(&limit.kind, ExprKind::Unary { op, .. } if op == "-"));
        changes.unread.extend(of_none.flat_map(Expr::exprs).map(|expr| expr.span));
        changes.unread.extend(of_one.filter_map(|query| query.limit.as_ref()).map(|limit| limit.span));
    }
    for part in &statement.parts {
        changes.part(part);
    }
    let mut all: Vec<Mutation> = changes.all.into_iter().collect();
    all.sort_by_key(|mutation| mutation.span);
    all
}

/// Whether LIMIT takes not even one row, as far as it is written.
fn takes_none(query: &Query) -> bool {
    !matches!(&query.limit, Some(Expr { kind: ExprKind::Number(number), .. }) if number != "0")
}

struct Changes<'a> {
    sources: &'a Sources,
    statement: &'a Statement,
    /// A function binds parameters by their names, which numbered ones have from the columns that they meet.
    by_name: bool,
    /// What an EXISTS selects, and the LIMIT of one row: nobody sees it.
    unread: BTreeSet<Span>,
    /// Sources without which a condition drops a row: whether their join is LEFT means nothing.
    needed: BTreeSet<SourceId>,
    all: BTreeSet<Mutation>,
}

impl Changes<'_> {
    fn unread(&mut self, query: &Query) {
        if let Rows::Select(select) = &query.rows {
            for column in &select.columns {
                self.unread.extend(column.expr.exprs().into_iter().map(|expr| expr.span));
            }
        }
    }

    fn needed(&mut self, part: &Part) {
        let mut all: Vec<(&[Source], Option<&Expr>)> = match &part.body {
            Body::Update(update) => vec![(&update.from, update.filter.as_ref())],
            Body::Delete(delete) => vec![(&delete.using, delete.filter.as_ref())],
            Body::Query(_) | Body::Insert(_) => Vec::new(),
        };
        all.extend(part.queries().into_iter().filter_map(|query| match &query.rows {
            Rows::Select(select) => Some((select.from.as_slice(), select.filter.as_ref())),
            _ => None,
        }));
        for (sources, filter) in all {
            let needed = sources.iter().filter(|source| drops_rows_without(source, filter));
            self.needed.extend(needed.map(|source| source.id));
        }
    }

    fn text(&self, span: Span) -> &str {
        self.sources.text(span)
    }

    fn push(&mut self, kind: &'static str, span: Span, replacement: impl Into<String>) {
        let replacement = replacement.into();
        if self.text(span) != replacement && span.start < span.end {
            self.all.insert(Mutation { kind, span, replacement });
        }
    }

    fn part(&mut self, part: &Part) {
        for expr in part.exprs() {
            if !self.unread.contains(&expr.span) {
                self.expr(expr);
            }
        }
        for source in part.sources() {
            self.source(source);
        }
        match &part.body {
            Body::Query(query) => self.query(query),
            Body::Insert(insert) => {
                self.query(&insert.rows);
                for (at, pair) in insert.columns.windows(2).enumerate() {
                    let [(first, here), (second, there)] = pair else { continue };
                    if self.takes_the_same(&insert.rows, at) {
                        continue;
                    }
                    let both = here.to(*there);
                    if self.text(*here).eq_ignore_ascii_case(first) && self.text(*there).eq_ignore_ascii_case(second) {
                        let between = Span { start: here.end, end: there.start, ..*here };
                        let swapped = format!("{second}{}{first}", self.text(between));
                        self.push("insert column", both, swapped);
                    }
                }
                if let Some(conflict) = &insert.conflict {
                    self.conflict(conflict);
                }
                self.columns(&insert.returning);
            }
            Body::Update(update) => {
                self.set(&update.set);
                self.filter(update.filter.as_ref());
                self.columns(&update.returning);
            }
            Body::Delete(delete) => {
                self.filter(delete.filter.as_ref());
                self.columns(&delete.returning);
            }
        }
    }

    /// Whether two neighbours of an insert may change places: they have one value, or numbered parameters whose names
    /// change places with them.
    fn takes_the_same(&self, rows: &Query, at: usize) -> bool {
        let same = |values: Vec<&Expr>| match values.get(at..at + 2) {
            Some([first, second]) => {
                self.text(first.span) == self.text(second.span) || (self.is_numbered(first) && self.is_numbered(second))
            }
            _ => false,
        };
        match &rows.rows {
            Rows::Select(select) => same(select.columns.iter().map(|column| &column.expr).collect()),
            Rows::Values(rows, _) => rows.iter().all(|row| same(row.iter().collect())),
            Rows::Set { .. } | Rows::Query(_) => false,
        }
    }

    /// Whether a value is a numbered parameter that is bound by its column's name and stands nowhere else.
    fn is_numbered(&self, value: &Expr) -> bool {
        let ExprKind::Param(name) = &value.kind else { return false };
        let uses = self.statement.params.iter().filter(|param| param.name == *name).count();
        self.by_name && uses == 1 && self.text(value.span).starts_with(['$', '?'])
    }

    fn query(&mut self, query: &Query) {
        self.order(&query.order);
        for (word, value) in [("limit", &query.limit), ("offset", &query.offset)] {
            if let Some(value) = value.as_ref().filter(|value| !self.unread.contains(&value.span))
                && let Some(span) = self.word_before(word, value.span)
            {
                self.push(word, span.to(value.span), "");
            }
        }
        for lock in &query.locks {
            self.push("lock", lock.span, "");
        }
        self.rows(&query.rows);
        for (_, cte) in &query.ctes {
            self.query(cte);
        }
    }

    fn rows(&mut self, rows: &Rows) {
        match rows {
            Rows::Select(select) => {
                self.filter(select.filter.as_ref());
                self.filter(select.having.as_ref());
                if !select.columns.iter().any(|column| self.unread.contains(&column.expr.span)) {
                    self.columns(&select.columns);
                }
                if let Some((_, span)) = &select.distinct {
                    self.push("distinct", *span, "");
                }
            }
            Rows::Set { op: "union", all, left, right, span } => {
                let between = self.text(*span).to_owned();
                let at = if *all { between.to_lowercase().find("union all") } else { None };
                if let Some(at) = at {
                    let start = span.start as usize + at;
                    self.push("set operation", Span::new(span.file, start..start + "union all".len()), "UNION");
                }
                self.rows(left);
                self.rows(right);
            }
            Rows::Set { left, right, .. } => {
                self.rows(left);
                self.rows(right);
            }
            Rows::Query(query) => self.query(query),
            Rows::Values(..) => {}
        }
    }

    fn source(&mut self, source: &Source) {
        if let Some(Join { kind, span, .. }) = source.join.as_ref().filter(|_| !self.needed.contains(&source.id)) {
            let text = self.text(*span).to_lowercase();
            let start = span.start as usize;
            match kind {
                JoinKind::Inner if text.starts_with("join") => {
                    self.push("join", Span::new(span.file, start..start + 4), "LEFT JOIN");
                }
                JoinKind::Left if text.starts_with("left join") => {
                    self.push("join", Span::new(span.file, start..start + 9), "JOIN");
                }
                _ => {}
            }
        }
        if let diglot::tree::SourceKind::Derived(query) = &source.kind {
            self.query(query);
        }
    }

    /// Each conjunct of a condition is dropped.
    fn filter(&mut self, filter: Option<&Expr>) {
        let Some(filter) = filter else { return };
        match &filter.kind {
            ExprKind::Binary { op, left, right } if op == "and" => {
                self.filter(Some(left));
                self.filter(Some(right));
            }
            ExprKind::Bool(true) => {}
            // What holds of every row is no condition.
            ExprKind::Number(text) if text != "0" => {}
            _ => self.push(super::CONJUNCT, filter.span, "TRUE"),
        }
    }

    fn set(&mut self, set: &[Assignment]) {
        for pair in set.windows(2) {
            let [first, second] = pair else { continue };
            if first.span.end <= second.span.start {
                let with_comma = Span { end: second.span.start, ..first.span };
                self.push("assignment", with_comma, "");
            }
        }
    }

    fn columns(&mut self, columns: &[OutputColumn]) {
        if let [.., before, last] = columns
            && before.span.end <= last.span.start
        {
            self.push("result column", Span { start: before.span.end, ..last.span }, "");
        }
    }

    fn order(&mut self, order: &[OrderKey]) {
        for key in order {
            let text = self.text(key.span);
            let flipped = if key.desc {
                let at = text.to_lowercase().find(" desc");
                at.map(|at| format!("{} ASC{}", &text[..at], &text[at + 5..]))
            } else if key.nulls_first.is_none() && !text.to_lowercase().ends_with(" asc") {
                Some(format!("{text} DESC"))
            } else {
                None
            };
            if let Some(flipped) = flipped {
                self.push("order", key.span, flipped);
            }
        }
        for pair in order.windows(2) {
            let [first, second] = pair else { continue };
            self.push("order", Span { end: second.span.start, ..first.span }, "");
        }
    }

    fn conflict(&mut self, conflict: &Conflict) {
        let text = self.text(conflict.span).to_owned();
        let start = conflict.span.start as usize;
        if let (Some(open), Some(close)) = (text.find('('), text.find(')'))
            && let Some(comma) = text[..close].rfind(',')
            && comma > open
            && conflict.target.as_ref().is_some_and(|keys| keys.len() > 1 && !keys.iter().any(|key| key.contains('(')))
        {
            self.push("conflict target", Span::new(conflict.span.file, start + comma..start + close), "");
        }
        if let ConflictAction::Update { set, filter, .. } = &conflict.action {
            self.set(set);
            self.filter(filter.as_ref());
        }
    }

    fn expr(&mut self, expr: &Expr) {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Number(text) if self.text(span) == text => {
                let other = text.parse::<i64>().ok().and_then(|number| number.checked_add(1));
                self.push("constant", span, other.map_or_else(|| format!("{text}1"), |number| number.to_string()));
            }
            ExprKind::Text(value) => {
                let text = self.text(span);
                if let Some(inner) = text.strip_suffix('\'').filter(|inner| inner.starts_with('\'')) {
                    let path = value.starts_with("$.") || value.starts_with('{');
                    let kind = if path { "json path" } else { "constant" };
                    self.push(kind, span, format!("{inner}x'"));
                }
            }
            ExprKind::Bool(value) if self.text(span).len() < 6 => {
                // A condition that is always true is written in several ways; its opposite is not.
                self.push("constant", span, if *value { "FALSE" } else { "TRUE" });
            }
            ExprKind::Param(name) => {
                let others = self.statement.params.iter().map(|param| param.name.as_str());
                let names: BTreeSet<&str> = others.collect();
                let next = names.iter().find(|other| **other > name.as_str()).or_else(|| names.iter().next());
                if let Some(next) = next.filter(|next| **next != name.as_str())
                    && self.text(span) == format!(":{name}")
                {
                    self.push("parameter", span, format!(":{next}"));
                }
            }
            ExprKind::Column { source, column } => self.column(*source, column, span),
            ExprKind::Binary { op, left, right } => self.operator(op, left, right),
            ExprKind::Is { expr: inner, negated, .. } => {
                let tail = Span { start: inner.span.end, ..span };
                self.negation("null test", tail, "is", *negated);
            }
            ExprKind::InList { expr: inner, negated, .. } | ExprKind::InQuery { expr: inner, negated, .. } => {
                let tail = Span { start: inner.span.end, ..span };
                let head = self.text(tail).trim_start();
                let start = tail.end as usize - head.len();
                let word = if *negated { "not in" } else { "in" };
                if head.len() >= word.len() && head[..word.len()].eq_ignore_ascii_case(word) {
                    let at = Span::new(span.file, start..start + word.len());
                    self.push("membership", at, if *negated { "IN" } else { "NOT IN" });
                }
            }
            ExprKind::Exists { negated, .. } => {
                let text = self.text(span);
                let word = if *negated { "not exists" } else { "exists" };
                if text.len() > word.len() && text[..word.len()].eq_ignore_ascii_case(word) {
                    let start = span.start as usize;
                    let at = Span::new(span.file, start..start + word.len());
                    self.push("existence", at, if *negated { "EXISTS" } else { "NOT EXISTS" });
                }
            }
            ExprKind::Call { name, args, star: false, .. } if args.len() == 1 => {
                let other = match name.as_str() {
                    "max" => "min",
                    "min" => "max",
                    "lower" => "upper",
                    _ => return,
                };
                let start = span.start as usize;
                if self.text(span).to_lowercase().starts_with(name.as_str()) {
                    self.push("function", Span::new(span.file, start..start + name.len()), other);
                }
            }
            _ => {}
        }
    }

    fn column(&mut self, source: diglot::tree::SourceId, column: &str, span: Span) {
        let Some(source) = self.statement.source(source) else { return };
        let at = source.columns.iter().position(|(name, _)| name == column);
        let Some(at) = at.filter(|_| source.columns.len() > 1) else { return };
        let Some((other, _)) = source.columns.get((at + 1) % source.columns.len()) else { return };
        let text = self.text(span);
        let (before, last) = match text.rfind('.') {
            Some(dot) => text.split_at(dot + 1),
            None => ("", text),
        };
        if last.eq_ignore_ascii_case(column) {
            let replacement = format!("{before}{other}");
            self.push("column", span, replacement);
        }
    }

    fn operator(&mut self, op: &str, left: &Expr, right: &Expr) {
        let other = match op {
            "=" => "<>",
            "<>" => "=",
            "<" => "<=",
            "<=" => "<",
            ">" => ">=",
            ">=" => ">",
            "+" => "-",
            "-" => "+",
            "*" => "+",
            "or" => "AND",
            _ => return,
        };
        if left.span.file != right.span.file || left.span.end >= right.span.start {
            return;
        }
        let between = Span { start: left.span.end, end: right.span.start, ..left.span };
        let text = self.text(between);
        let lower = text.to_lowercase();
        let written = if op == "<>" && lower.contains("!=") { "!=" } else { op };
        if let Some(at) = lower.find(written) {
            let start = between.start as usize + at;
            self.push("operator", Span::new(between.file, start..start + written.len()), other);
        }
    }

    /// `IS` and `IS NOT`.
    fn negation(&mut self, kind: &'static str, tail: Span, word: &str, negated: bool) {
        let text = self.text(tail);
        let lower = text.to_lowercase();
        let written = if negated { format!("{word} not") } else { word.to_owned() };
        if let Some(at) = lower.find(&written) {
            let start = tail.start as usize + at;
            let other = if negated { "IS" } else { "IS NOT" };
            self.push(kind, Span::new(tail.file, start..start + written.len()), other);
        }
    }

    /// The place of a word that stands right before a value.
    fn word_before(&self, word: &str, value: Span) -> Option<Span> {
        let text = &self.sources.file(value.file).text[..value.start as usize];
        let trimmed = text.trim_end();
        let start = trimmed.len().checked_sub(word.len())?;
        trimmed.get(start..)?.eq_ignore_ascii_case(word).then(|| Span::new(value.file, start..trimmed.len()))
    }
}

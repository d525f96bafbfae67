//! What a statement does with columns and parameters: what it holds against what, and against which literals.
//!
//! Values that meet have to come from one small pool, or no row would ever match and every statement would be
//! equal to every other. Nothing here decides what is true; a link that is missing or too much makes cases less
//! telling and never wrong.

mod looks;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use diglot::dialect::Dialect;
use diglot::infer::origin::{Deep, Sources, query_outputs};
use diglot::infer::walk;
use diglot::tree::{
    Assignment, Body, ConflictAction, Expr, ExprKind, Insert, Query, Rows, Source, SourceKind, Statement,
};
use diglot::types::Base;
use diglot::value::Value;

pub(super) use looks::{Looks, tells_time};

/// What values stand in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    /// A column of a table.
    Column(String, String),
    /// A parameter, or an element of a list parameter.
    Param(String),
    /// Something inside a JSON document; `*` steps into every element of an array.
    Json(Box<Key>, Vec<String>),
}

/// All that one page does.
#[derive(Debug, Default)]
pub(super) struct Uses {
    /// Values that are compared with or stored in one another.
    pub(super) links: Vec<(Key, Key)>,
    /// Literals that are compared with or stored in something.
    pub(super) literals: Vec<(Key, Value)>,
    /// What is asked for NULL.
    pub(super) nulls: BTreeSet<Key>,
    /// Places in JSON documents that are read or written.
    pub(super) paths: BTreeSet<Key>,
    /// Parameters of LIMIT and OFFSET.
    pub(super) bounds: BTreeSet<String>,
    /// What is matched by LIKE.
    pub(super) patterns: BTreeSet<Key>,
    /// How places are looked at; those that are not here are only carried.
    pub(super) looks: BTreeMap<Key, Looks>,
    /// Literals that stand in one comparison or computation with a place.
    pub(super) near: Vec<(Key, Value)>,
    /// Columns that are written, each with a parameter that is written there as it is.
    pub(super) stored: Vec<(Key, String)>,
    /// Documents of which each member is read, whatever its name.
    pub(super) named: BTreeSet<Key>,
    /// Documents that meet as a whole, or of which one is put onto the other.
    pub(super) beside: Vec<(Key, Key)>,
}

/// Reads a page. `lists` names the parameters that hold lists.
pub(super) fn uses(tree: &Statement, lists: &BTreeSet<String>) -> Uses {
    let fields = tree.sources().into_iter().find_map(|source| match &source.kind {
        SourceKind::Rows(name) => Some(name.clone()),
        _ => None,
    });
    let mut reader = Reader { tree, names: walk::sources(tree), lists, fields, uses: Uses::default() };
    for part in &tree.parts {
        match &part.body {
            Body::Query(query) => reader.bounds(query),
            Body::Insert(insert) => reader.insert(insert),
            Body::Update(update) => reader.assignments(&update.target, &update.set),
            Body::Delete(_) => {}
        }
    }
    tree.exprs().into_iter().for_each(|expr| reader.expr(expr));
    tree.sources().into_iter().for_each(|source| reader.each(source));
    reader.looks();
    reader.uses
}

/// A step to the names of members, or the numbers of items, instead of to one of them.
pub(super) const NAME: &str = "#";

/// How deep an expression is followed to what it holds.
const DEPTH: usize = 12;

struct Reader<'t> {
    tree: &'t Statement,
    names: Sources<'t>,
    lists: &'t BTreeSet<String>,
    /// The name of the rows that the statement takes.
    fields: Option<String>,
    uses: Uses,
}

impl<'t> Reader<'t> {
    fn insert(&mut self, insert: &'t Insert) {
        self.bounds(&insert.rows);
        let targets: Vec<Option<Key>> = insert.columns.iter().map(|(name, _)| column(&insert.target, name)).collect();
        self.rows(&insert.rows.rows, &targets);
        if let Some(conflict) = &insert.conflict
            && let ConflictAction::Update { set, .. } = &conflict.action
        {
            self.assignments(&insert.target, set);
        }
    }

    fn rows(&mut self, rows: &'t Rows, targets: &[Option<Key>]) {
        match rows {
            Rows::Select(select) => {
                for (target, output) in targets.iter().zip(&select.columns) {
                    self.store(target.as_ref(), &output.expr);
                }
            }
            Rows::Values(rows, _) => {
                for (target, value) in rows.iter().flat_map(|row| targets.iter().zip(row)) {
                    self.store(target.as_ref(), value);
                }
            }
            Rows::Set { left, right, .. } => {
                self.rows(left, targets);
                self.rows(right, targets);
            }
            Rows::Query(query) => self.rows(&query.rows, targets),
        }
    }

    /// A document of which Postgres reads one member after the other has members of any name. SQLite reads lists so, too.
    fn each(&mut self, source: &'t Source) {
        let SourceKind::Function { name, args } = &source.kind else { return };
        let name = name.strip_prefix("jsonb_").or_else(|| name.strip_prefix("json_"));
        let is_each = matches!(name, Some("each" | "each_text" | "object_keys")) && self.tree.dialect == Dialect::Pg;
        if let Some(document) = args.first().filter(|_| is_each).and_then(|document| self.key(document, DEPTH)) {
            self.uses.named.insert(document);
        }
    }

    fn bounds(&mut self, query: &'t Query) {
        for bound in [&query.limit, &query.offset].into_iter().flatten() {
            if let Some(Key::Param(name)) = self.key(bound, DEPTH) {
                self.uses.bounds.insert(name);
            }
        }
    }

    fn assignments(&mut self, target: &'t Source, set: &'t [Assignment]) {
        for assignment in set {
            self.store(column(target, &assignment.column).as_ref(), &assignment.value);
        }
    }

    fn store(&mut self, target: Option<&Key>, value: &'t Expr) {
        let Some(target) = target else { return };
        self.relate(target, value);
        as_they_are(value, &mut |name| self.uses.stored.push((target.clone(), name.to_owned())));
        // A document that is put together: each of its fields is a place of its own.
        for inner in value.exprs() {
            let ExprKind::Call { name, args, .. } = &inner.kind else { continue };
            if matches!(name.as_str(), "jsonb_build_object" | "json_build_object" | "json_object") {
                for field in args.chunks(2) {
                    if let [Expr { kind: ExprKind::Text(field), .. }, value] = field {
                        self.relate(&Key::Json(Box::new(target.clone()), vec![field.clone()]), value);
                    }
                }
            }
        }
    }

    /// Two expressions that meet.
    fn meet(&mut self, left: &'t Expr, right: &'t Expr) {
        if let (ExprKind::Tuple(lefts), ExprKind::Tuple(rights)) = (&left.kind, &right.kind) {
            lefts.iter().zip(rights).for_each(|(left, right)| self.meet(left, right));
            return;
        }
        self.laid(left, right);
        if let Some(key) = self.key(left, DEPTH) {
            self.relate(&key, right);
        } else if let Some(key) = self.key(right, DEPTH) {
            self.relate(&key, left);
        }
    }

    fn relate(&mut self, key: &Key, value: &'t Expr) {
        if matches!(key, Key::Json(_, path) if path.last().is_none_or(|step| step != NAME)) {
            self.uses.paths.insert(key.clone());
        }
        if let Some(literal) = self.literal(value) {
            self.uses.literals.push((key.clone(), literal));
        } else if let Some(other) = self.key(value, DEPTH) {
            self.uses.links.push((key.clone(), other));
        }
    }

    fn expr(&mut self, expr: &'t Expr) {
        match &expr.kind {
            ExprKind::Binary { op, left, right } => match op.as_str() {
                "="
                | "<>"
                | "<"
                | "<="
                | ">"
                | ">="
                | "is not distinct from"
                | "is distinct from"
                | "is"
                | "is not"
                | "&&" => self.meet(left, right),
                "@>" => self.contained(left, right),
                "<@" => self.contained(right, left),
                "?" | "?|" | "?&" => self.listed(left, right),
                "||" => self.laid(left, right),
                "-" | "#-" if left.ty.as_ref().is_some_and(|ty| ty.base == Base::Json) => self.member(left, right),
                "->" | "->>" | "#>" | "#>>" => {
                    let path = self.key(expr, DEPTH);
                    self.uses.paths.extend(path.filter(|key| matches!(key, Key::Json(..))));
                }
                _ => {}
            },
            ExprKind::Between { expr, low, high, .. } => {
                self.meet(expr, low);
                self.meet(expr, high);
            }
            ExprKind::InList { expr, list, .. } => list.iter().for_each(|item| self.meet(expr, item)),
            ExprKind::InQuery { expr, query, .. } => {
                if let Some(output) = query_outputs(&query.rows).first() {
                    self.meet(expr, &output.expr);
                }
                self.bounds(query);
            }
            ExprKind::Exists { query, .. } | ExprKind::Scalar(query) => self.bounds(query),
            ExprKind::Any { left, right, .. } => self.meet(left, right),
            ExprKind::Is { expr, what: "null", .. } => {
                let key = self.key(expr, DEPTH);
                self.uses.nulls.extend(key);
            }
            ExprKind::Like { expr, pattern, .. } => {
                let keys = [self.key(expr, DEPTH), self.key(pattern, DEPTH)];
                self.uses.patterns.extend(keys.iter().flatten().cloned());
                self.meet(expr, pattern);
                if let ([Some(key), _], Some(Value::Text(pattern))) = (keys, self.literal(pattern)) {
                    // What it is about as it is written, and with small letters for capitals.
                    let written = pattern.replace(['%', '_'], "");
                    let turned = written.chars().map(turned).collect();
                    self.uses.literals.extend([written, turned].map(|text| (key.clone(), Value::Text(text))));
                }
            }
            ExprKind::Case { operand: Some(operand), branches, .. } => {
                branches.iter().for_each(|(when, _)| self.meet(operand, when));
            }
            ExprKind::Call { name, args, .. } => self.call(name, args, expr),
            _ => {}
        }
    }

    /// A document and what is asked for in it: another one, or what a list has.
    fn contained(&mut self, whole: &'t Expr, part: &'t Expr) {
        let Some(document) = self.key(whole, DEPTH) else { return };
        let items = under(document, vec!["*".to_owned()]);
        match &part.bare().kind {
            ExprKind::Text(text) => {
                if let Ok(Json::Array(list)) = serde_json::from_str(text) {
                    self.uses.literals.extend(list.into_iter().filter_map(|item| Some((items.clone(), plain(item)?))));
                    self.uses.paths.insert(items);
                }
                self.meet(whole, part);
            }
            ExprKind::Call { name, args, .. } if matches!(name.as_str(), "jsonb_build_array" | "json_build_array") => {
                args.iter().for_each(|item| self.relate(&items, item));
            }
            ExprKind::Call { name, args, .. } if name == "to_jsonb" => {
                args.iter().for_each(|it| self.relate(&items, it))
            }
            _ => self.meet(whole, part),
        }
    }

    /// A list and what is looked for in it.
    fn listed(&mut self, list: &'t Expr, item: &'t Expr) {
        if let Some(list) = self.key(list, DEPTH) {
            self.relate(&under(list, vec!["*".to_owned()]), item);
        }
    }

    /// A document and what is taken out of it.
    fn member(&mut self, document: &'t Expr, path: &'t Expr) {
        if let (Some(document), Some(steps)) = (self.key(document, DEPTH), steps(path)) {
            self.uses.paths.insert(under(document, steps));
        }
    }

    /// What is put onto a document.
    fn laid(&mut self, under: &'t Expr, over: &'t Expr) {
        if let (Some(under), Some(over)) = (self.key(under, DEPTH), self.key(over, DEPTH)) {
            self.uses.beside.push((under, over));
        }
    }

    fn call(&mut self, name: &str, args: &'t [Expr], expr: &'t Expr) {
        match (name, args) {
            ("json_patch" | "jsonb_patch", [under, over]) => self.laid(under, over),
            ("json_extract" | "jsonb_extract_path" | "jsonb_extract_path_text" | "json_type", _) => {
                let path = self.key(expr, DEPTH);
                self.uses.paths.extend(path.filter(|key| matches!(key, Key::Json(..))));
            }
            ("json_remove" | "jsonb_remove", [document, paths @ ..]) => {
                paths.iter().for_each(|path| self.member(document, path));
            }
            ("json_set" | "json_insert" | "json_replace" | "jsonb_set", [document, places @ ..]) => {
                for place in places.chunks(2) {
                    let [path, value] = place else { continue };
                    if let (Some(document), Some(steps)) = (self.key(document, DEPTH), steps(path)) {
                        self.relate(&under(document, steps), value);
                    }
                }
            }
            ("coalesce" | "ifnull" | "nullif" | "max" | "min" | "greatest" | "least", [first, rest @ ..]) => {
                rest.iter().for_each(|other| self.meet(first, other));
            }
            _ => {}
        }
    }

    /// What an expression holds, if it holds it as it is or nearly so.
    fn key(&self, expr: &'t Expr, depth: usize) -> Option<Key> {
        let depth = depth.checked_sub(1)?;
        if let ExprKind::Column { source, column } = &expr.kind
            && let Some(Source { kind: SourceKind::Function { args, .. }, .. }) = self.tree.source(*source)
        {
            let mut list = self.key(args.first()?, depth)?;
            if let Some(steps) = args.get(1).and_then(steps) {
                list = under(list, steps);
            }
            return match &list {
                Key::Param(name) if self.lists.contains(name) => Some(list),
                // Its name is no place in the document.
                _ if column == "key" => Some(under(list, vec![NAME.into()])),
                _ => Some(under(list, vec!["*".into()])),
            };
        }
        let expr = match self.names.deep(expr) {
            Deep::Table(origin) => return Some(Key::Column(origin.table.to_owned(), origin.column.to_owned())),
            Deep::Expr(expr) => expr,
            Deep::Field(field) => return self.fields.as_ref().map(|rows| Key::Param(format!("{rows}.{field}"))),
            Deep::Unknown => return None,
        };
        match &expr.kind {
            ExprKind::Column { .. } if depth > 0 => None,
            ExprKind::Param(name) => Some(Key::Param(name.clone())),
            ExprKind::Cast { expr, .. } => self.key(expr, depth),
            ExprKind::Binary { op, left, right } => match op.as_str() {
                "->" | "->>" | "#>" | "#>>" => Some(under(self.key(left, depth)?, steps(right)?)),
                // What is put onto a document leaves it the same document.
                "||" => self.key(left, depth).filter(|key| !matches!(key, Key::Param(_))),
                "+" | "-" => self.key(left, depth).or_else(|| self.key(right, depth)),
                _ => None,
            },
            ExprKind::Call { name, args, .. } => match (name.as_str(), args.as_slice()) {
                ("json_extract" | "jsonb_extract_path" | "jsonb_extract_path_text" | "json_type", [document, path]) => {
                    Some(under(self.key(document, depth)?, steps(path)?))
                }
                (
                    "coalesce" | "ifnull" | "nullif" | "max" | "min" | "greatest" | "least" | "lower" | "upper"
                    | "json" | "unhex" | "trim" | "to_jsonb" | "json_quote" | "json_set" | "json_insert"
                    | "json_replace" | "json_remove" | "json_patch" | "jsonb_set",
                    [first, ..],
                ) => self.key(first, depth),
                _ => None,
            },
            ExprKind::Scalar(query) => self.key(&query_outputs(&query.rows).first()?.expr, depth),
            _ => None,
        }
    }

    fn literal(&self, expr: &Expr) -> Option<Value> {
        Some(match &expr.kind {
            ExprKind::Text(text) => Value::Text(text.clone()),
            ExprKind::Number(number) => match number.parse() {
                Ok(n) => Value::Int(n),
                Err(_) => Value::Real(number.parse().ok()?),
            },
            ExprKind::Bool(b) => Value::Bool(*b),
            ExprKind::Cast { expr, .. } => return self.literal(expr),
            ExprKind::Unary { op, expr } if op == "-" => match self.literal(expr)? {
                Value::Int(n) => Value::Int(n.checked_neg()?),
                Value::Real(r) => Value::Real(-r),
                _ => return None,
            },
            _ => return None,
        })
    }
}

/// The parameters that a value may be as they are: what is computed of one is another value.
fn as_they_are<'t>(value: &'t Expr, found: &mut dyn FnMut(&'t str)) {
    match &value.kind {
        ExprKind::Param(name) => found(name),
        ExprKind::Cast { expr, .. } => as_they_are(expr, found),
        ExprKind::Case { branches, otherwise, .. } => {
            branches.iter().map(|(_, then)| then).chain(otherwise.as_deref()).for_each(|it| as_they_are(it, found));
        }
        ExprKind::Call { name, args, .. } if matches!(name.as_str(), "coalesce" | "ifnull" | "nullif" | "iif") => {
            args.iter().for_each(|arg| as_they_are(arg, found));
        }
        _ => {}
    }
}

/// A value of a document that is no document itself.
fn plain(item: Json) -> Option<Value> {
    Some(match item {
        Json::String(text) => Value::Text(text),
        Json::Bool(truth) => Value::Bool(truth),
        Json::Number(number) => {
            number.as_i64().map_or_else(|| number.as_f64().map(Value::Real), |n| Some(Value::Int(n)))?
        }
        Json::Null | Json::Array(_) | Json::Object(_) => return None,
    })
}

/// A capital as a small letter, and the other way round.
fn turned(letter: char) -> char {
    if letter.is_ascii_uppercase() { letter.to_ascii_lowercase() } else { letter.to_ascii_uppercase() }
}

fn column(source: &Source, name: &str) -> Option<Key> {
    match &source.kind {
        SourceKind::Table(table) => Some(Key::Column(table.clone(), name.to_owned())),
        _ => None,
    }
}

/// A place below another one.
fn under(key: Key, mut steps: Vec<String>) -> Key {
    match key {
        Key::Json(document, mut path) => {
            path.append(&mut steps);
            Key::Json(document, path)
        }
        key if steps.is_empty() => key,
        key => Key::Json(Box::new(key), steps),
    }
}

/// The steps of a path that is a literal: `'$.a."b.c"'`, `'a'`, `'{a,b}'`.
pub(super) fn steps(path: &Expr) -> Option<Vec<String>> {
    let text = match &path.kind {
        ExprKind::Text(text) => text.as_str(),
        ExprKind::Cast { expr, .. } => return steps(expr),
        ExprKind::Array(items) => return items.iter().map(|item| steps(item)?.pop()).collect(),
        _ => return None,
    };
    if let Some(list) = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
        return Some(list.split(',').map(|step| step.trim_matches('"').to_owned()).collect());
    }
    let Some(mut rest) = text.strip_prefix('$') else { return Some(vec![text.to_owned()]) };
    let mut steps = Vec::new();
    while let Some(step) = rest.strip_prefix(['.', '[']) {
        if rest.starts_with('[') {
            // Whichever item it is.
            steps.push("*".to_owned());
            rest = step.split_once(']')?.1;
        } else if let Some(quoted) = step.strip_prefix('"') {
            let (name, after) = quoted.split_once('"')?;
            steps.push(name.to_owned());
            rest = after;
        } else {
            let end = step.find(['.', '[']).unwrap_or(step.len());
            steps.push(step[..end].to_owned());
            rest = &step[end..];
        }
    }
    Some(steps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use diglot::source::{FileId, Span};

    fn text(path: &str) -> Expr {
        Expr { kind: ExprKind::Text(path.into()), ty: None, span: Span::new(FileId(0), 0..0) }
    }

    #[test]
    fn a_path_is_read_in_every_spelling() {
        assert_eq!(steps(&text("$.a.b")), Some(vec!["a".into(), "b".into()]));
        assert_eq!(steps(&text("$.tags.\"x.y\"")), Some(vec!["tags".into(), "x.y".into()]));
        assert_eq!(steps(&text("a.b")), Some(vec!["a.b".into()]));
        assert_eq!(steps(&text("{a,b}")), Some(vec!["a".into(), "b".into()]));
        assert_eq!(steps(&text("$")), Some(vec![]));
        assert_eq!(steps(&text("$[0].a")), Some(vec!["*".into(), "a".into()]));
    }
}

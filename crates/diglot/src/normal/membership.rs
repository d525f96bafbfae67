//! Membership in a list, and rows of a query that there are.

use super::words::Form;
use super::{Function, Head, Names, Node, Op, asked_for_truth, json};
use std::collections::BTreeSet;

use crate::source::Span;
use crate::tree::{Expr, ExprKind, Query, Replacement};
use crate::types::Base;

impl Names<'_> {
    pub(super) fn in_list(&self, inner: &Expr, list: &[Expr], negated: bool, span: Span) -> Node {
        let value = self.expr(inner);
        if let [only] = list {
            let (value, only) = json::beside_text(value, self.expr(only));
            return Node::set(if negated { Op::Differs } else { Op::Equals }, vec![value, only], span);
        }
        let items = self.all(list);
        let value = if items.iter().all(json::is_word) { json::as_text(value) } else { value };
        one_of(value, items, negated, span)
    }

    pub(super) fn in_query(&self, inner: &Expr, query: &Query, negated: bool, span: Span) -> Node {
        let op = if negated { Op::NotIn } else { Op::In };
        let mut value = self.expr(inner);
        if let Some(list) = self.list_param(query, inner.base()).or_else(|| self.elements(query)) {
            let is_digits = |list: &Expr| self.pair.digits.iter().any(|name| list.is_param(name));
            if value.head == Form::LowerHex && query.each_of().is_some_and(is_digits) {
                value = value.kids.remove(0);
            }
            // A missing list has no elements on SQLite; on Postgres nothing is known of it.
            let op = if negated && self.may_miss(&list) { Op::NotInListIfAny } else { op };
            return Node::list(op, vec![value, list], span);
        }
        if let Some((key, rows)) = self.picked_row(inner, query) {
            return Node::list(op, vec![key, rows], span);
        }
        Node::list(op, vec![value, self.query(query)], span)
    }

    fn may_miss(&self, list: &Node) -> bool {
        let param = |node: &Node| matches!(&node.head, Head::Param(name) if self.pair.nullable.contains(name));
        param(list) || list.kids.iter().any(param)
    }

    /// `SELECT value FROM json_each(:list)`: the way to pass a list on SQLite to what holds values of a type.
    fn list_param(&self, query: &Query, of: Option<&Base>) -> Option<Node> {
        let (element, list) = query.element_of()?;
        // The only lists for what holds bytes are those of ids. In place of `sqlc.slice` stands what fits.
        let as_it_is = !matches!(of, Some(Base::Bytes | Base::Uuid)) || self.is_slice(query.span);
        let as_bytes = matches!(of, Some(Base::Bytes | Base::Uuid) | None);
        let fits = as_it_is && is_element(element) || as_bytes && bytes_of(element).is_some_and(is_element);
        fits.then(|| Node::list(Form::List, vec![with_empty(self.expr(list))], query.span))
    }

    /// `SELECT e FROM unnest(:list) AS e`, or of the elements of a document that is a parameter: the list on Postgres.
    fn elements(&self, query: &Query) -> Option<Node> {
        query.items_of().map(|list| Node::list(Form::List, vec![self.expr(list)], query.span))
    }

    /// Whether a place is that of a list in `sqlc.slice`.
    fn is_slice(&self, place: Span) -> bool {
        let mut lists = self.statement.rewrites.iter().filter(|it| matches!(it.by, Replacement::List { .. }));
        lists.any(|list| list.span.contains(place))
    }

    pub(super) fn any(&self, op: &str, left: &Expr, right: &Expr, all: bool, span: Span) -> Node {
        if let (ExprKind::Scalar(query), ("=", false) | ("<>", true)) = (&right.kind, (op, all)) {
            return self.in_query(left, query, all, span);
        }
        let (value, list) = (self.expr(left), self.expr(right));
        if list.head == Form::Array && ((op == "=") != all) && (op == "=" || op == "<>") {
            return one_of(value, list.kids, all, span);
        }
        match (op, all) {
            ("=", false) => {
                let list = Node::list(Form::List, vec![with_empty(list)], right.span);
                Node::list(Op::In, vec![value, list], span)
            }
            ("<>", true) if !self.may_miss(&list) => {
                Node::list(Op::NotIn, vec![value, Node::list(Form::List, vec![list], right.span)], span)
            }
            _ => Node::list(Head::Quantified { op: Op::from(op), all }, vec![value, list], span),
        }
    }
}

/// A list with another one in its place when it is missing, of which an empty one is written in two ways.
fn with_empty(mut list: Node) -> Node {
    if list.head == Function::Coalesce {
        for kid in &mut list.kids {
            let inner = kid.kids.first().filter(|_| matches!(kid.head, Head::Cast(_))).unwrap_or(&*kid);
            let is_array = inner.kids.is_empty() && inner.head == Form::Array;
            let is_empty = is_array || inner.head.text().is_some_and(|text| text == "[]" || text == "{}");
            if is_empty {
                *kid = Node::leaf(Form::NoElements, kid.span);
            }
        }
    }
    list
}

/// `value IN (items)` as a set, and as a comparison where there is one item; `value NOT IN (items)` as the conditions
/// that it stands for.
fn one_of(value: Node, mut items: Vec<Node>, negated: bool, span: Span) -> Node {
    let mut keys = BTreeSet::new();
    items.retain(|item| keys.insert(item.key()));
    if let [_] = items.as_slice() {
        items.push(value);
        return Node::set(if negated { Op::Differs } else { Op::Equals }, items, span);
    }
    if negated && value.is_small() {
        return none_of(&value, items, span);
    }
    let items = Node::set(Form::Items, items, span);
    Node::list(if negated { Op::NotIn } else { Op::In }, vec![value, items], span)
}

/// That a value is none of the items.
fn none_of(value: &Node, items: Vec<Node>, span: Span) -> Node {
    let differs = items.into_iter().map(|item| Node::set(Op::Differs, vec![value.clone(), item], span));
    Node::set(Op::And, differs.collect(), span)
}

/// The opposite of a membership in a list that is written out; none of any other.
pub(super) fn opposite(node: &Node) -> Option<Node> {
    match (&node.head, node.kids.as_slice()) {
        (Head::Op(Op::In), [value, items]) if items.head == Form::Items && value.is_small() => {
            Some(none_of(value, items.kids.clone(), node.span))
        }
        _ => None,
    }
}

/// Alternatives of which several compare the same column with a literal or a parameter: those are one membership.
pub(super) fn alternatives(kids: Vec<Node>, span: Span) -> Vec<Node> {
    let (mut rest, mut lists): (Vec<Node>, Vec<(Node, Vec<Node>)>) = (Vec::new(), Vec::new());
    for kid in kids {
        match compared(&kid) {
            Some((value, items)) => match lists.iter_mut().find(|(known, _)| known.key() == value.key()) {
                Some((_, known)) => known.extend(items),
                None => lists.push((value, items)),
            },
            None => rest.push(kid),
        }
    }
    for (value, items) in lists {
        rest.push(one_of(value, items, false, span));
    }
    rest
}

/// A column with what it is to be equal to: literals and parameters.
fn compared(node: &Node) -> Option<(Node, Vec<Node>)> {
    let constant = |node: &Node| node.head.is_literal() || matches!(node.head, Head::Param(_));
    let is_column = |node: &Node| node.head.column_name().is_some();
    match (&node.head, node.kids.as_slice()) {
        (Head::Op(Op::Equals), [left, right]) if is_column(left) && constant(right) => {
            Some((left.clone(), vec![right.clone()]))
        }
        (Head::Op(Op::Equals), [left, right]) if is_column(right) && constant(left) => {
            Some((right.clone(), vec![left.clone()]))
        }
        (Head::Op(Op::In), [value, items]) if items.head == Form::Items && is_column(value) => {
            Some((value.clone(), items.kids.clone()))
        }
        _ => None,
    }
}

/// Whether an expression is the element of a list, of whatever type. Its other columns say what an element is, not which
/// one.
fn is_element(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Column { column, .. } => column == "value",
        ExprKind::Cast { expr, .. } => is_element(expr),
        _ => false,
    }
}

/// The text whose digits a call makes bytes of, whether there are hyphens between them or not.
fn bytes_of(expr: &Expr) -> Option<&Expr> {
    match &expr.kind {
        ExprKind::Call { name, args, .. } if name == "unhex" => match args.as_slice() {
            [text, hyphen] if matches!(&hyphen.kind, ExprKind::Text(hyphen) if hyphen == "-") => Some(text),
            _ => None,
        },
        _ => None,
    }
}

/// A condition in the form of EXISTS, where it asks for rows of a query that neither groups nor cuts off.
pub(super) fn as_exists(condition: Node) -> Node {
    exists(&condition).unwrap_or(condition)
}

fn exists(condition: &Node) -> Option<Node> {
    let (Head::Op(Op::In), [value, select]) = (&condition.head, condition.kids.as_slice()) else { return None };
    let is_plain = |kid: &Node| matches!(kid.head, Head::Form(Form::Columns | Form::From | Form::Where));
    if select.head != Form::Select || !select.kids.iter().all(is_plain) {
        return None;
    }
    let part = |form: Form| select.kids.iter().find(|kid| kid.head == form);
    let columns = &part(Form::Columns)?.kids;
    let values = if value.head == Form::Row { value.kids.as_slice() } else { std::slice::from_ref(value) };
    let folds = |head: &Head| match head {
        Head::Call(function) | Head::CallOfRows(function) | Head::CallOfDistinct(function) => function.folds_rows(),
        head => *head == Form::JsonGroupArray,
    };
    if values.len() != columns.len() || columns.iter().any(|column| column.any_head(&folds)) {
        return None;
    }
    let mut conditions = match part(Form::Where).map(|node| node.kids.as_slice()) {
        Some([all]) if all.head == Op::And => all.kids.clone(),
        Some([one]) => vec![one.clone()],
        _ => Vec::new(),
    };
    for (value, column) in values.iter().zip(columns) {
        conditions.push(Node::set(Op::Equals, vec![value.clone(), column.clone()], column.span));
    }
    let mut conditions = asked_for_truth::all_asked_for_truth(conditions);
    let condition_node = match conditions.len() {
        1 => conditions.remove(0),
        _ => Node::set(Op::And, conditions, select.span),
    };
    let filter = Node::list(Form::Where, vec![condition_node], select.span);
    let rows = Node { kids: vec![part(Form::From)?.clone(), filter], ..select.clone() };
    Some(Node::list(Op::Exists, vec![rows], condition.span))
}

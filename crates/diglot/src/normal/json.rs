//! JSON in normal form: reading and writing members, building objects and arrays.
//!
//! Paths become lists of steps. Reading gives `json-text`, whose cast decides what it is; a value that is
//! wrapped to become JSON is the value.

use super::{Names, Node};
use crate::source::Span;
use crate::tree::{Expr, ExprKind};

/// `->`, `->>`, `#>>`, and `||` with an object.
pub(super) fn binary(names: &Names<'_>, op: &str, left: &Expr, right: &Expr, span: Span) -> Option<Node> {
    match op {
        "->" | "->>" | "#>" | "#>>" => {
            let steps = steps(right)?;
            Some(read(names, left, steps, op.ends_with(">>"), span))
        }
        "||" => {
            let built = peel(right);
            let ExprKind::Call { name, args, .. } = &built.kind else { return None };
            if name != "jsonb_build_object" && name != "json_build_object" {
                return None;
            }
            let mut members = Vec::new();
            for pair in args.chunks(2) {
                let [key, value] = pair else { return None };
                let ExprKind::Text(key) = &peel(key).kind else { return None };
                members.push(Node::list(format!("'{key}'"), vec![value_of(names, value)], value.span));
            }
            Some(set_members(names, left, members, span))
        }
        _ => None,
    }
}

/// JSON functions of both dialects.
pub(super) fn call(names: &Names<'_>, name: &str, args: &[Expr], span: Span) -> Option<Node> {
    match (name, args) {
        ("json_extract", [document, path]) => Some(read(names, document, steps(path)?, true, span)),
        ("json_set" | "jsonb_set", [document, rest @ ..]) if rest.len() >= 2 => {
            let mut members = Vec::new();
            for pair in rest.chunks(2) {
                let [path, value] = pair else { break };
                let steps = steps(path)?.join("'.'");
                members.push(Node::list(format!("'{steps}'"), vec![value_of(names, value)], value.span));
            }
            Some(set_members(names, document, members, span))
        }
        ("json", [value]) => Some(names.expr(value)),
        ("to_jsonb", [value]) => Some(names.expr(value)),
        ("json_object" | "jsonb_build_object", pairs) => {
            let mut members = Vec::new();
            for pair in pairs.chunks(2) {
                let [key, value] = pair else { return None };
                members.push(Node::list("member", vec![names.expr(key), value_of(names, value)], value.span));
            }
            Some(Node::set("json-object", members, span))
        }
        ("json_remove", [document, path]) => {
            let steps = steps(path)?.join("'.'");
            Some(Node::list(format!("json-remove '{steps}'"), vec![names.expr(document)], span))
        }
        _ => None,
    }
}

fn read(names: &Names<'_>, document: &Expr, mut steps: Vec<String>, text: bool, span: Span) -> Node {
    let mut inner = names.expr(document);
    if let Some(before) = inner.head.strip_prefix("json-value ") {
        steps.insert(0, before.trim_matches('\'').to_owned());
        inner = inner.kids.remove(0);
    }
    let head = if text { "json-text" } else { "json-value" };
    Node::list(format!("{head} '{}'", steps.join("'.'")), vec![inner], span)
}

fn set_members(names: &Names<'_>, document: &Expr, mut members: Vec<Node>, span: Span) -> Node {
    let mut inner = names.expr(document);
    if inner.head == "json-set" && !inner.kids.is_empty() {
        let rest = inner.kids.split_off(1);
        inner = inner.kids.remove(0);
        if let Some(written) = rest.into_iter().next() {
            members.extend(written.kids);
        }
    }
    Node::list("json-set", vec![inner, Node::set("members", members, span)], span)
}

fn value_of(names: &Names<'_>, value: &Expr) -> Node {
    names.expr(peel(value))
}

/// Looks through casts to JSON and to text, which wrap a value without changing it.
fn peel(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Cast { expr: inner, to, .. } if matches!(to.as_str(), "jsonb" | "json") => peel(inner),
        ExprKind::Call { name, args, .. } if matches!(name.as_str(), "to_jsonb" | "json") && args.len() == 1 => {
            peel(&args[0])
        }
        _ => expr,
    }
}

/// The steps of `'$.a."b.c"'`, `'{a,b}'`, `'a'`, `ARRAY['a','b']`.
fn steps(path: &Expr) -> Option<Vec<String>> {
    match &peel(path).kind {
        ExprKind::Text(text) => Some(match text.strip_prefix("$.") {
            Some(rest) => dotted(rest),
            None => match text.strip_prefix('{').and_then(|t| t.strip_suffix('}')) {
                Some(inner) => inner.split(',').map(|s| s.trim().trim_matches('"').to_owned()).collect(),
                None => vec![text.clone()],
            },
        }),
        ExprKind::Number(index) => Some(vec![index.clone()]),
        ExprKind::Array(items) => items
            .iter()
            .map(|item| match &item.kind {
                ExprKind::Text(text) => Some(text.clone()),
                _ => None,
            })
            .collect(),
        _ => None,
    }
}

fn dotted(path: &str) -> Vec<String> {
    let mut steps = vec![String::new()];
    let mut quoted = false;
    for c in path.chars() {
        match c {
            '"' => quoted = !quoted,
            '.' if !quoted => steps.push(String::new()),
            other => {
                if let Some(last) = steps.last_mut() {
                    last.push(other);
                }
            }
        }
    }
    steps
}

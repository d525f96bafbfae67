//! Questions about the type of a JSON value: `json_type` and `jsonb_typeof`.

use super::super::words::{Read, Target};
use super::super::{Form, Head, Names, Node, Op};
use crate::tree::Expr;

pub(super) fn step(_: &Names<'_>, _: &Expr, node: &Node) -> Option<Node> {
    asked_kind(node)
}

/// A comparison of a kind with the words for kinds as the question that it is.
pub(crate) fn asked_kind(node: &Node) -> Option<Node> {
    match (&node.head, node.kids.as_slice()) {
        // Whether there is a value at all is asked alike.
        (Head::Op(Op::IsNull | Op::IsNotNull), [kind]) => {
            let Head::Read(Read::TypeOf | Read::Value, path) = &kind.head else { return None };
            Some(Node { kids: vec![kind.with_head(Head::Read(Read::Type, path.clone()))], ..node.clone() })
        }
        (Head::Op(op @ (Op::Equals | Op::Differs)), [left, right]) => {
            let negated = *op == Op::Differs;
            asked(left, std::slice::from_ref(right), negated, node)
                .or_else(|| asked(right, std::slice::from_ref(left), negated, node))
        }
        (Head::Op(op @ (Op::In | Op::NotIn)), [kind, items]) if items.head == Form::Items => {
            asked(kind, &items.kids, *op == Op::NotIn, node)
        }
        _ => None,
    }
}

/// Whether a value has one of some types, by SQLite's words.
fn asked(kind: &Node, words: &[Node], negated: bool, whole: &Node) -> Option<Node> {
    let Head::Read(read, path) = &kind.head else { return None };
    let mut types: Vec<&'static str> = Vec::new();
    for word in words {
        types.extend(match read {
            Read::TypeOf => of_postgres(word.head.text()?)?,
            Read::Type => of_sqlite(word.head.text()?)?,
            Read::Value => {
                let literal = super::inside(word, Target::Json)?.head.text()?;
                of_sqlite(literal).filter(|_| ["true", "false", "null"].contains(&literal))?
            }
            Read::Length | Read::LengthOrZero | Read::Text | Read::Typed => return None,
        });
    }
    types.sort_unstable();
    types.dedup();
    Some(Node::list(Head::IsOfType { path: path.clone(), types, negated }, kind.kids.clone(), whole.span))
}

/// The types that Postgres has a word for, by SQLite's words.
fn of_postgres(word: &str) -> Option<&'static [&'static str]> {
    Some(match word {
        "number" => &["integer", "real"],
        "string" => &["text"],
        "boolean" => &["false", "true"],
        other => return of_sqlite(other).filter(|_| ["null", "object", "array"].contains(&other)),
    })
}

/// SQLite's word for a type.
fn of_sqlite(word: &str) -> Option<&'static [&'static str]> {
    const WORDS: [&str; 8] = ["array", "false", "integer", "null", "object", "real", "text", "true"];
    let at = WORDS.iter().position(|known| *known == word)?;
    WORDS.get(at..=at)
}

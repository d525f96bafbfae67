//! An id as a text with hyphens: cut and joined on SQLite, cast on Postgres.

use super::super::words::Target;
use super::super::{Form, Function, Head, Names, Node, Op};
use crate::dialect::Dialect;
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

/// Where each piece begins, and how long it is.
const PIECES: [(&str, &str); 5] = [("1", "8"), ("9", "4"), ("13", "4"), ("17", "4"), ("21", "12")];

pub(super) fn step(names: &Names<'_>, expr: &Expr, node: &Node) -> Option<Node> {
    if let (Head::Call(Function::Replace), [text, hyphen, nothing], Dialect::Pg) = (&node.head, node.kids.as_slice(), names.dialect()) {
        let ExprKind::Call { args, .. } = &expr.kind else { return None };
        let id = super::inside(text, Target::Text).filter(|_| hyphen.head.is_text("-") && nothing.head.is_text(""))?;
        let is_id = args.first().is_some_and(|text| text.bare().base() == Some(&Base::Uuid));
        return is_id.then(|| Node::list(Form::LowerHex, vec![id.clone()], node.span));
    }
    if node.head != Op::Join || names.dialect() != Dialect::Sqlite {
        return None;
    }
    let (at, id) = (0..node.kids.len()).find_map(|at| Some((at, spelled(&node.kids[at..])?)))?;
    let key = id.key();
    if !expr.exprs().into_iter().any(|inner| names.is_id(inner) && names.expr(inner).key() == key) {
        return None;
    }
    let mut kids = node.kids.clone();
    kids.splice(at..at + 9, [Node::list(Target::Text, vec![id.clone()], node.span)]);
    Some(if kids.len() == 1 { kids.remove(0) } else { Node { kids, ..node.clone() } })
}

/// The id that the first nine texts spell.
fn spelled(texts: &[Node]) -> Option<&Node> {
    let texts = texts.get(..9)?;
    let id = piece(&texts[0], PIECES[0])?;
    let key = id.key();
    let pieces = PIECES.iter().enumerate().all(|(at, place)| {
        piece(&texts[2 * at], *place).is_some_and(|other| other.key() == key)
            && (at == 0 || texts[2 * at - 1].head.is_text("-"))
    });
    pieces.then_some(id)
}

fn piece<'n>(text: &'n Node, (start, length): (&str, &str)) -> Option<&'n Node> {
    let (digits, place) = text.kids.split_first().filter(|_| text.head == Function::Substr)?;
    let to_the_end = length == "12" && place.len() == 1;
    let fits = place.first()?.head.is_number(start) && (to_the_end || place.get(1).is_some_and(|n| n.head.is_number(length)));
    fits.then(|| super::inside(digits, Form::LowerHex)).flatten()
}

//! JSON in normal form: reading and writing members, building objects and arrays.
//!
//! Paths become lists of steps. `->>` and `#>>` of Postgres give text, `json_extract` and `->>` of SQLite a value
//! in SQL's type: they are the same with a cast on SQLite, under IS NULL, and beside a text that no number and no
//! boolean is written as. Inside a document a text is bare and JSON is marked, however each dialect marks it.

use super::after::seen_at;
use super::head::{KEY, OR_ITSELF, OR_KEY, Path};
use super::words::{Read, Setting, Target};
use super::{Form, Head, Names, Node, Op, written_document};
use crate::dialect::Dialect;
use crate::source::Span;
use crate::tree::{Expr, ExprKind, OrderKey};
use crate::types::Base;

/// `->`, `->>`, `#>>`, `?`, and `||` with an object.
pub(super) fn binary(names: &Names<'_>, op: &str, left: &Expr, right: &Expr, span: Span) -> Option<Node> {
    match op {
        "->" | "#>" => Some(read(names, left, labels(names, right)?, Read::Value, span)),
        "->>" | "#>>" => Some(read(names, left, labels(names, right)?, text_of(names), span)),
        "?" => {
            let kind = read(names, left, steps(right)?, Read::Type, span);
            // A text has itself as a member there, and an array the texts in it.
            let is_object = kind.kids.first().is_some_and(|document| names.is_object(document));
            is_object.then(|| Node::list(Op::IsNotNull, vec![kind], span))
        }
        "-" => {
            let ExprKind::Text(key) = &right.kind else { return None };
            let document = names.expr(left);
            let is_document = left.base() == Some(&Base::Json) || document.head.is_document() || is_text(&document);
            Some(match is_document {
                true => remove(document, &[name(key)], span),
                false => Node::list(Op::from(op), vec![document, names.expr(right)], span),
            })
        }
        "#-" => {
            let document = names.expr(left);
            let path = placed(names, &document, Path(steps(right)?));
            Some(remove(document, &path.0, span))
        }
        "||" => {
            let ExprKind::Call { name, args, .. } = &right.kind else { return None };
            if name != "jsonb_build_object" && name != "json_build_object" {
                return None;
            }
            let members = pairs(args)?.map(|(key, value)| member(names, key, value_of(names, value))).collect();
            Some(set_members(names, left, members, span))
        }
        _ => None,
    }
}

/// A member that is set: by its name where that is written, else by the value that names it.
pub(super) fn member(names: &Names<'_>, key: &Expr, value: Node) -> Node {
    let span = value.span;
    match &key.bare().kind {
        ExprKind::Text(key) => Node::list(Head::member(Setting::Plain, Path::of(name(key))), vec![value], span),
        _ => Node::list(Form::KeyedMember, vec![names.expr(key), value], span),
    }
}

/// Arguments two by two. Whoever looks into them for nothing has them looked into once more, at each depth, so what
/// they must be is asked before.
fn pairs(args: &[Expr]) -> Option<impl Iterator<Item = (&Expr, &Expr)>> {
    args.len().is_multiple_of(2).then(|| args.chunks_exact(2).map(|pair| (&pair[0], &pair[1])))
}

/// JSON functions of both dialects.
pub(super) fn call(names: &Names<'_>, name: &str, args: &[Expr], order: &[OrderKey], span: Span) -> Option<Node> {
    match (name, args) {
        ("json_extract", [document, path]) => Some(read(names, document, steps(path)?, text_of(names), span)),
        ("jsonb_extract_path_text", [document, keys @ ..]) if !keys.is_empty() => {
            let name = |key: &Expr| match &key.bare().kind {
                // A number may be the place of an element.
                ExprKind::Text(name) if name.parse::<i64>().is_err() => Some(name.clone()),
                _ => None,
            };
            let steps = keys.iter().map(name).collect::<Option<Vec<String>>>()?;
            Some(read(names, document, steps, text_of(names), span))
        }
        ("json_set", [document, rest @ ..]) if rest.len() >= 2 => {
            let set: Vec<_> = pairs(rest)?.map(|(path, value)| Some((steps(path)?, value))).collect::<Option<_>>()?;
            let member = |(steps, value): (Vec<String>, &Expr)| {
                // Postgres does not make missing parents.
                let makes_parents = steps.len() > 1;
                let head = Head::Member { setting: Setting::Plain, makes_parents, path: Path(steps) };
                Node::list(head, vec![value_of(names, value)], value.span)
            };
            Some(set_members(names, document, set.into_iter().map(member).collect(), span))
        }
        ("jsonb_set", [document, path, value, flags @ ..]) => {
            let path = placed(names, &names.expr(document), Path(steps(path)?));
            let makes = flags.iter().all(|flag| matches!(flag.kind, ExprKind::Bool(true)));
            let strict = null_as_json(value).is_none() && !names.required(wrapped(value));
            let setting = match (makes, strict) {
                (true, false) => Setting::Plain,
                (true, true) => Setting::NullForNull,
                (false, _) => Setting::WhenThere,
            };
            let value = null_as_json(value).unwrap_or(value);
            let member = match &value.kind {
                ExprKind::Param(_) => json(names.expr(value)),
                _ => written_document::value(names, value).unwrap_or_else(|| value_of(names, value)),
            };
            let member = Node::list(Head::member(setting, path), vec![member], value.span);
            Some(set_members(names, document, vec![member], span))
        }
        ("json" | "to_jsonb", [value]) => Some(names.expr(value)),
        ("json_object" | "jsonb_build_object" | "json_build_object", args) => {
            let member = |(key, value): (&Expr, &Expr)| {
                Node::list(Form::Member, vec![names.expr(key), value_of(names, value)], value.span)
            };
            Some(Node::set(Form::JsonObject, pairs(args)?.map(member).collect(), span))
        }
        ("json_array" | "jsonb_build_array" | "json_build_array", values) => {
            let kids = values.iter().map(|value| value_of(names, value)).collect();
            Some(Node::list(Form::JsonArray, kids, span))
        }
        ("json_group_array", [value]) => Some(grouped(names, value, order, span)),
        ("coalesce", [rows, empty]) if matches!(&empty.bare().kind, ExprKind::Text(text) if text == "[]") => {
            // Of no rows Postgres makes NULL, SQLite an empty array.
            match &rows.kind {
                ExprKind::Call { name, args, order, filter: None, over: None, distinct: false, .. }
                    if name == "jsonb_agg" && args.len() == 1 =>
                {
                    Some(grouped(names, &args[0], names.order_of(name, args, order), span))
                }
                _ => None,
            }
        }
        ("json_remove", [document, paths @ ..]) if !paths.is_empty() => {
            let paths: Vec<_> = paths.iter().map(steps).collect::<Option<_>>()?;
            Some(paths.iter().fold(names.expr(document), |node, steps| remove(node, steps, span)))
        }
        ("json_type", [document, path]) => Some(read(names, document, steps(path)?, Read::Type, span)),
        ("json_type", [document]) => Some(read(names, document, Vec::new(), Read::Type, span)),
        ("jsonb_typeof", [document]) => Some(read(names, document, Vec::new(), Read::TypeOf, span)),
        ("json_array_length", [document, path]) => Some(length(names, document, steps(path)?, span)),
        ("json_array_length" | "jsonb_array_length", [document]) => Some(length(names, document, Vec::new(), span)),
        _ => None,
    }
}

/// How many elements there are: of what is known to be an array, or of whatever it is.
fn length(names: &Names<'_>, document: &Expr, steps: Vec<String>, span: Span) -> Node {
    let node = read(names, document, steps, Read::Length, span);
    match &node.head {
        Head::Read(_, path) if names.dialect() == Dialect::Sqlite && !names.is_array(&node.kids[0], path) => {
            node.with_head(Head::Read(Read::LengthOrZero, path.clone()))
        }
        _ => node,
    }
}

/// The values of a group as an array.
fn grouped(names: &Names<'_>, value: &Expr, order: &[OrderKey], span: Span) -> Node {
    let mut kids = vec![value_of(names, value)];
    if !order.is_empty() {
        kids.push(names.order(order, span));
    }
    Node::list(Form::JsonGroupArray, kids, span)
}

/// Casts of what was read. SQLite makes something of everything: 1 of true, 0 of `abc`, `1.5` of 1.50. So its cast is that
/// of Postgres where the member is known to be what the cast is for.
pub(super) fn cast(names: &Names<'_>, node: &Node, target: &Target, span: Span) -> Option<Node> {
    let of = |read: &Node| Some(Node::list(target.clone(), vec![read.clone()], span));
    if let (Head::Cast(from), [text], Dialect::Sqlite) = (&node.head, node.kids.as_slice(), names.dialect())
        && is_text(text)
    {
        return number(text, from, target, span);
    }
    if names.dialect() == Dialect::Sqlite
        && let Some(from) = names.spelled_number(node)
        && let Some(known) = number(&as_text(node.clone()), &from, target, span)
    {
        return Some(known);
    }
    match (&node.head, names.dialect()) {
        (Head::Read(Read::Text, _), _) if *target == Target::Text => Some(Node { span, ..node.clone() }),
        (Head::Read(Read::Text, _), Dialect::Pg) => of(node),
        (Head::Read(Read::Text | Read::Typed, path), Dialect::Sqlite) => {
            of(&node.with_head(Head::Read(Read::Typed, path.clone())))
        }
        _ => None,
    }
}

/// SQLite's cast of a number, by the text that Postgres reads of it. Of a whole number there is one text and one real; of
/// any other SQLite's cast cuts off the digits behind the point.
fn number(text: &Node, from: &Target, target: &Target, span: Span) -> Option<Node> {
    let of = |text: &Node| Node::list(target.clone(), vec![text.clone()], span);
    match (from, target) {
        (Target::Int, Target::Text) => Some(Node { span, ..text.clone() }),
        (Target::Int | Target::Real, Target::Real) | (Target::Int, Target::Int) => Some(of(text)),
        (Target::Real, Target::Int) => Some(of(&Node::list(Target::Numeric, vec![text.clone()], span))),
        _ => None,
    }
}

/// A text that was read, as what the project declares it to be.
pub(super) fn declared(text: Node, declared: &str) -> Node {
    let span = text.span;
    match Target::declared(declared) {
        Target::Text => text,
        target => Node::list(target, vec![text], span),
    }
}

/// Whether a node is the text of a member.
fn is_text(node: &Node) -> bool {
    matches!(node.head, Head::Read(Read::Text, _))
}

/// A value in SQL's type, cast to a text or as it is, where nothing but whether it is there or is a certain text counts.
pub(super) fn as_text(mut node: Node) -> Node {
    if node.head == Target::Text && matches!(read_inside(&node).head, Head::Read(Read::Typed, _)) {
        node = node.kids.remove(0);
    }
    if let Head::Read(read @ Read::Typed, _) = &mut node.head {
        *read = Read::Text;
    }
    node
}

/// What stands inside a cast to a text, or the node itself.
pub(super) fn read_inside(node: &Node) -> &Node {
    match node.kids.first() {
        Some(read) if node.head == Target::Text => read,
        _ => node,
    }
}

/// Two sides of a comparison, of which one may be a text that only a JSON string equals.
pub(super) fn beside_text(left: Node, right: Node) -> (Node, Node) {
    if is_word(&right) {
        (as_text(left), right)
    } else if is_word(&left) {
        (left, as_text(right))
    } else {
        (left, right)
    }
}

/// Whether a node is a text literal that is written like no number, no boolean, no array and no object.
pub(super) fn is_word(node: &Node) -> bool {
    let Some(text) = node.head.text() else { return false };
    text.parse::<f64>().is_err() && !["true", "false", "null"].contains(&text) && !text.starts_with(['[', '{'])
}

/// How the dialect reads a text.
fn text_of(names: &Names<'_>) -> Read {
    if names.statement.dialect == Dialect::Sqlite { Read::Typed } else { Read::Text }
}

fn read(names: &Names<'_>, document: &Expr, steps: Vec<String>, read: Read, span: Span) -> Node {
    let mut inner = names.expr(document);
    let mut path = Path(steps);
    if let Head::Read(Read::Value, before) = &inner.head {
        path = before.then(&path.0);
        inner = inner.kids.remove(0);
    }
    if let Some(step) = path.0.first() {
        inner = seen_at(inner, step);
    }
    let mut path = placed(names, &inner, path);
    if names.dialect() == Dialect::Pg {
        places_of_scalars(names, &inner, &mut path);
    }
    Node::list(Head::Read(read, path), vec![inner], span)
}

/// The first and the last place on Postgres, where there may be no array: a text, a number and a boolean have themselves
/// there. A member by its name comes after an object alone, so that the places before it are those of arrays in effect.
fn places_of_scalars(names: &Names<'_>, document: &Node, path: &mut Path) {
    for step in &mut path.0 {
        if let Some(place) = step.strip_suffix(OR_ITSELF) {
            *step = place.to_owned();
        }
    }
    for at in (0..path.0.len()).rev() {
        let above = Path(path.0[..at].to_vec());
        let is_known = names.is_array(document, &above) || (at == 0 && names.is_object(document));
        if is_known || !["0", "-1"].contains(&path.0[at].as_str()) {
            break;
        }
        path.0[at].push_str(OR_ITSELF);
    }
}

/// A path of Postgres whose digits are the places of elements where the member above is known to be an array.
fn placed(names: &Names<'_>, document: &Node, mut path: Path) -> Path {
    for at in 0..path.0.len() {
        if let Some(place) = path.0[at].strip_suffix(OR_KEY).map(str::to_owned)
            && names.is_array(document, &Path(path.0[..at].to_vec()))
        {
            path.0[at] = place;
        }
    }
    path
}

/// The member that `json_each(document, path)` takes apart.
pub(super) fn member_at(names: &Names<'_>, document: &Expr, path: &Expr) -> Option<Node> {
    let span = document.span.to(path.span);
    Some(read(names, document, steps(path)?, Read::Value, span))
}

fn remove(document: Node, steps: &[String], span: Span) -> Node {
    Node::list(Head::Removed(Path(steps.to_vec())), vec![document], span)
}

fn set_members(names: &Names<'_>, document: &Expr, mut members: Vec<Node>, span: Span) -> Node {
    let mut inner = names.expr(document);
    if inner.head == Form::JsonSet && !inner.kids.is_empty() {
        let rest = inner.kids.split_off(1);
        inner = inner.kids.remove(0);
        if let Some(written) = rest.into_iter().next() {
            members.extend(written.kids);
        }
    }
    Node::list(Form::JsonSet, vec![inner, Node::set(Form::Members, members, span)], span)
}

/// What stands as a value inside a document.
pub(super) fn value_of(names: &Names<'_>, value: &Expr) -> Node {
    if let ExprKind::Call { name, args, .. } = &value.kind
        && let ("to_jsonb", [inner]) = (name.as_str(), args.as_slice())
    {
        return value_of(names, inner);
    }
    if let Some(number) = number_as_text(names, value) {
        return value_of(names, number);
    }
    let node = names.expr(value);
    if let Some(known) = known_member(names, &node) {
        return known;
    }
    match (&value.kind, names.statement.dialect) {
        (ExprKind::Call { name, .. }, Dialect::Sqlite) if name == "json" => json(node),
        // The bare TRUE of SQLite is a number; Postgres's is JSON's.
        (ExprKind::Bool(value), Dialect::Pg) => {
            Node::leaf(Head::JsonWord(if *value { "true" } else { "false" }), node.span)
        }
        (ExprKind::Cast { to, .. }, Dialect::Pg) if to == "jsonb" || to == "json" => json(node),
        (_, Dialect::Pg) if value.ty.as_ref().is_some_and(|ty| ty.base == Base::Json) => json(node),
        (_, Dialect::Pg) if value.ty.as_ref().is_some_and(|ty| ty.base == Base::Bool) => {
            let then = |word: &str| Node::leaf(Head::Text(word.to_owned()), node.span);
            let branch = Node::list(Form::When, vec![node.clone(), then("true")], node.span);
            json(Node::list(Form::Case, vec![branch, then("false")], node.span))
        }
        _ => node,
    }
}

/// A member that goes from document to document as it is: where it is declared a text or a whole number, what SQLite reads
/// of it in SQL's type is that.
fn known_member(names: &Names<'_>, node: &Node) -> Option<Node> {
    let (Head::Read(Read::Value, path), [document]) = (&node.head, node.kids.as_slice()) else { return None };
    let word = names.json_type(document, &path.dotted()).filter(|word| ["text", "i64"].contains(word))?;
    Some(declared(node.with_head(Head::Read(Read::Text, path.clone())), word))
}

/// The integer whose text is read as JSON, as Postgres does without `to_jsonb`, which is not IMMUTABLE.
fn number_as_text<'e>(names: &Names<'_>, value: &'e Expr) -> Option<&'e Expr> {
    let cast_to = |expr: &'e Expr, targets: &[&str]| match &expr.kind {
        ExprKind::Cast { expr, to, .. } if targets.contains(&to.as_str()) => Some(&**expr),
        _ => None,
    };
    let number = cast_to(cast_to(value, &["jsonb", "json"])?, &["text"])?;
    let is_integer = matches!(number.ty.as_ref()?.base, Base::Int16 | Base::Int32 | Base::Int64);
    (is_integer && names.statement.dialect == Dialect::Pg).then_some(number)
}

/// A value that is JSON, unless its term makes JSON anyway.
pub(super) fn json(node: Node) -> Node {
    let span = node.span;
    let word = ["true", "false", "null"].into_iter().find(|word| node.head.is_text(word));
    match word {
        Some(word) => Node::leaf(Head::JsonWord(word), span),
        None if node.head.is_document() => node,
        None => Node::list(Form::Json, vec![node], span),
    }
}

/// `COALESCE(to_jsonb(v), 'null')` writes JSON null for NULL, as SQLite does.
fn null_as_json(value: &Expr) -> Option<&Expr> {
    match &value.kind {
        ExprKind::Call { name, args, .. } if name == "coalesce" => match args.as_slice() {
            [value, null] if matches!(&null.bare().kind, ExprKind::Text(text) if text == "null") => Some(value),
            _ => None,
        },
        _ => None,
    }
}

/// The value inside `to_jsonb` and casts.
fn wrapped(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Call { name, args, .. } if name == "to_jsonb" && args.len() == 1 => wrapped(&args[0]),
        ExprKind::Cast { expr, .. } => wrapped(expr),
        _ => expr,
    }
}

/// The steps of what stands behind an arrow: on Postgres a text with a `$` is a key like any other, and digits in a text
/// are one too, where older versions of SQLite see an index.
fn labels(names: &Names<'_>, path: &Expr) -> Option<Vec<String>> {
    match &path.bare().kind {
        ExprKind::Text(text) if names.statement.dialect == Dialect::Pg && text.starts_with('$') => {
            Some(vec![text.clone()])
        }
        ExprKind::Text(text)
            if names.statement.dialect == Dialect::Sqlite && text.bytes().all(|b| b.is_ascii_digit()) =>
        {
            Some(vec![format!("{text} or index")])
        }
        // Versions of SQLite before 3.46 take a label with a dot for a path.
        ExprKind::Text(text) if names.statement.dialect == Dialect::Sqlite && is_dotted(text) => {
            Some(vec![format!("{text} or path")])
        }
        // SQLite reads a label in brackets as a path, Postgres as a key like any other.
        ExprKind::Text(text) if text.len() > 2 && text.starts_with('[') && text.ends_with(']') => {
            match names.statement.dialect {
                Dialect::Sqlite => sqlite_steps(text),
                Dialect::Pg => Some(vec![format!("key {text}")]),
            }
        }
        _ => steps(path),
    }
}

fn is_dotted(label: &str) -> bool {
    label.contains('.') && !label.starts_with(['$', '['])
}

/// The steps of `'$.a."b.c"[0]'`, `'{a,b}'`, `'a'`, `ARRAY['a','b']`.
fn steps(path: &Expr) -> Option<Vec<String>> {
    match &path.bare().kind {
        ExprKind::Text(text) => match text.strip_prefix('$') {
            Some(rest) => sqlite_steps(rest),
            None => Some(match text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
                Some(inner) => inner.split(',').map(|step| place_or_name(step.trim().trim_matches('"'))).collect(),
                None => vec![name(text)],
            }),
        },
        ExprKind::Number(index) => Some(vec![index.clone()]),
        ExprKind::Unary { op, expr } if op == "-" => match &expr.kind {
            ExprKind::Number(index) => Some(vec![format!("-{index}")]),
            _ => None,
        },
        ExprKind::Array(items) => items
            .iter()
            .map(|item| match &item.bare().kind {
                ExprKind::Text(text) => Some(place_or_name(text)),
                _ => None,
            })
            .collect(),
        _ => None,
    }
}

/// A member by its name, which may be written like the place of an element.
fn name(step: &str) -> String {
    if step.parse::<i64>().is_ok() { format!("{KEY}{step}") } else { step.to_owned() }
}

/// A step of a path of Postgres: digits are the place of an element of an array, and the name of a member of an object.
fn place_or_name(step: &str) -> String {
    if step.parse::<i64>().is_ok() { format!("{step}{OR_KEY}") } else { step.to_owned() }
}

/// The steps behind the `$` of a path of SQLite; none for what Postgres has no step for.
fn sqlite_steps(path: &str) -> Option<Vec<String>> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        let (step, after) = if let Some(quoted) = rest.strip_prefix(".\"") {
            let (key, after) = quoted.split_once('"')?;
            (name(key), after)
        } else if let Some(key) = rest.strip_prefix('.') {
            let (key, after) = key.split_at(key.find(['.', '[']).unwrap_or(key.len()));
            (name(key), after)
        } else {
            let (index, after) = rest.strip_prefix('[')?.split_once(']')?;
            (index.trim_start_matches('#').to_owned(), after)
        };
        if step.is_empty() || step.contains('\\') {
            return None;
        }
        steps.push(step);
        rest = after;
    }
    Some(steps)
}

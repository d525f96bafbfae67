//! Conditions as far as it can be guessed what makes them hold.
//!
//! This is no interpreter of either dialect and judges nothing: it looks for rows that are worth asking the engines
//! about. What it takes wrong costs a telling row and never an answer.

use std::cmp::Ordering;

use serde_json::Value as Json;

use diglot::value::{Value, microseconds};

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Term {
    /// What stands in a slot.
    Slot(usize),
    /// A literal.
    Is(Value),
    /// An operator or a function over others.
    Of(String, Vec<Term>),
    /// What is not followed.
    Unknown,
}

impl Term {
    /// One operator over two terms.
    pub(super) fn of(op: &str, args: impl IntoIterator<Item = Term>) -> Self {
        Self::Of(op.to_owned(), args.into_iter().collect())
    }

    /// The slots that it reads.
    pub(super) fn slots(&self) -> Vec<usize> {
        match self {
            Self::Slot(slot) => vec![*slot],
            Self::Of(_, args) => args.iter().flat_map(Term::slots).collect(),
            Self::Is(_) | Self::Unknown => Vec::new(),
        }
    }

    /// What it comes to; none where that is not known.
    pub(super) fn value(&self, of: &dyn Fn(usize) -> Option<Value>) -> Option<Value> {
        let (op, args) = match self {
            Self::Slot(slot) => return of(*slot),
            Self::Is(value) => return Some(value.clone()),
            Self::Unknown => return None,
            Self::Of(op, args) => (op.as_str(), args.as_slice()),
        };
        match op {
            "and" | "or" => return connected(op == "and", args, of),
            "case" => return case(args, of),
            // A document that is put together of its members is one.
            "json valid" => return args.first()?.value(of).map_or(Some(Value::Bool(true)), |value| is_json(&value)),
            "coalesce" => return args.iter().map(|arg| arg.value(of)).find(|value| *value != Some(Value::Null))?,
            _ => {}
        }
        let values: Vec<Value> = args.iter().map(|arg| arg.value(of)).collect::<Option<_>>()?;
        called(op, &values)
    }

    /// Whether it holds; none where that is not known.
    pub(super) fn holds(&self, of: &dyn Fn(usize) -> Option<Value>) -> Option<bool> {
        self.value(of).map(|value| truth(&value) == Some(true))
    }
}

fn connected(all: bool, args: &[Term], of: &dyn Fn(usize) -> Option<Value>) -> Option<Value> {
    let truths: Vec<Option<Option<bool>>> = args.iter().map(|arg| arg.value(of).map(|value| truth(&value))).collect();
    if truths.contains(&Some(Some(!all))) {
        return Some(Value::Bool(!all));
    }
    if truths.contains(&None) {
        return None;
    }
    Some(if truths.contains(&Some(None)) { Value::Null } else { Value::Bool(all) })
}

/// WHEN, THEN, and ELSE at the end.
fn case(args: &[Term], of: &dyn Fn(usize) -> Option<Value>) -> Option<Value> {
    for branch in args.chunks(2) {
        match branch {
            [when, then] if when.holds(of)? => return then.value(of),
            [otherwise] => return otherwise.value(of),
            _ => {}
        }
    }
    Some(Value::Null)
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(truth) => Some(*truth),
        Value::Int(n) => Some(*n != 0),
        Value::Json(Json::Bool(truth)) => Some(*truth),
        Value::Text(text) => Some(text == "true"),
        _ => None,
    }
}

fn called(op: &str, values: &[Value]) -> Option<Value> {
    if let ("json type" | "json typeof", [value]) = (op, values) {
        return Some(kind(value, op == "json type").map_or(Value::Null, |kind| Value::Text(kind.to_owned())));
    }
    let is_null = |value: &Value| matches!(value, Value::Null | Value::Json(Json::Null));
    let nulls = values.iter().any(is_null);
    match (op, values) {
        ("is null", [value]) => return Some(Value::Bool(is_null(value))),
        ("is true", [value]) => return Some(Value::Bool(truth(value) == Some(true))),
        ("is false", [value]) => return Some(Value::Bool(truth(value) == Some(false))),
        ("is" | "is not distinct from", [a, b]) => {
            return if nulls { Some(Value::Bool(is_null(a) && is_null(b))) } else { compared("=", a, b) };
        }
        ("is not" | "is distinct from", [a, b]) => {
            return if nulls { Some(Value::Bool(is_null(a) != is_null(b))) } else { compared("<>", a, b) };
        }
        ("in", [value, list @ ..]) if !is_null(value) => {
            let found = list.iter().map(|item| compared("=", value, item)).collect::<Option<Vec<_>>>()?;
            return Some(Value::Bool(found.contains(&Value::Bool(true))));
        }
        _ if nulls => return Some(Value::Null),
        _ => {}
    }
    match (op, values) {
        ("not", [value]) => truth(value).map(|truth| Value::Bool(!truth)),
        ("=" | "<>" | "<" | "<=" | ">" | ">=", [a, b]) => compared(op, a, b),
        ("like" | "ilike", [text, pattern]) => {
            let (text, pattern) = (words(text)?.to_lowercase(), words(pattern)?.to_lowercase());
            Some(Value::Bool(matches(&pattern.chars().collect::<Vec<_>>(), &text.chars().collect::<Vec<_>>())))
        }
        ("+" | "-" | "*" | "/" | "%", [a, b]) => computed(op, a, b),
        ("-", [Value::Int(n)]) => n.checked_neg().map(Value::Int),
        ("lower", [value]) => Some(Value::Text(words(value)?.to_lowercase())),
        ("upper", [value]) => Some(Value::Text(words(value)?.to_uppercase())),
        ("length", [value]) => Some(Value::Int(i64::try_from(words(value)?.chars().count()).ok()?)),
        ("ltrim" | "rtrim" | "trim" | "btrim", [value, rest @ ..]) => trimmed(op, &words(value)?, rest),
        ("replace", [value, from, to]) => {
            let from = words(from).filter(|from| !from.is_empty())?;
            Some(Value::Text(words(value)?.replace(&from, &words(to)?)))
        }
        ("substr" | "substring", [value, Value::Int(from @ 1..), rest @ ..]) => {
            part(&words(value)?, *from, rest.first())
        }
        ("left", [value, count @ Value::Int(0..)]) => part(&words(value)?, 1, Some(count)),
        ("abs", [Value::Int(n)]) => n.checked_abs().map(Value::Int),
        ("||", [a, b]) => Some(Value::Text(words(a)? + &words(b)?)),
        ("nullif", [a, b]) => Some(if compared("=", a, b)? == Value::Bool(true) { Value::Null } else { a.clone() }),
        ("whole", [value]) => Some(Value::Int(number(value)?.trunc() as i64)),
        ("words", [value]) => Some(Value::Text(words(value)?)),
        _ => None,
    }
}

/// Whether a text is a document.
fn is_json(value: &Value) -> Option<Value> {
    match value {
        Value::Null => Some(Value::Null),
        Value::Text(text) => Some(Value::Bool(serde_json::from_str::<Json>(text).is_ok())),
        Value::Json(_) => Some(Value::Bool(true)),
        _ => None,
    }
}

/// The word for the kind of a member, of SQLite or of Postgres; none of one that is not there.
fn kind(value: &Value, is_sqlite: bool) -> Option<&'static str> {
    let Value::Json(json) = value else { return None };
    let (ours, theirs) = match json {
        Json::Null => ("null", "null"),
        Json::Bool(true) => ("true", "boolean"),
        Json::Bool(false) => ("false", "boolean"),
        Json::Number(number) if number.is_f64() => ("real", "number"),
        Json::Number(_) => ("integer", "number"),
        Json::String(_) => ("text", "string"),
        Json::Array(_) => ("array", "array"),
        Json::Object(_) => ("object", "object"),
    };
    Some(if is_sqlite { ours } else { theirs })
}

/// A text without the letters at its ends: spaces, or those that are named.
fn trimmed(op: &str, text: &str, letters: &[Value]) -> Option<Value> {
    let letters: Vec<char> = match letters {
        [] => vec![' '],
        [letters] => words(letters)?.chars().collect(),
        _ => return None,
    };
    let text = if op == "rtrim" { text } else { text.trim_start_matches(&letters[..]) };
    let text = if op == "ltrim" { text } else { text.trim_end_matches(&letters[..]) };
    Some(Value::Text(text.to_owned()))
}

/// So many letters of a text from one on, or all of them.
fn part(text: &str, from: i64, count: Option<&Value>) -> Option<Value> {
    let count = match count {
        Some(Value::Int(count)) => usize::try_from(*count).ok()?,
        Some(_) => return None,
        None => usize::MAX,
    };
    Some(Value::Text(text.chars().skip(usize::try_from(from - 1).ok()?).take(count).collect()))
}

fn computed(op: &str, a: &Value, b: &Value) -> Option<Value> {
    if let (Value::Int(a), Value::Int(b)) = (a, b) {
        return match op {
            "+" => a.checked_add(*b),
            "-" => a.checked_sub(*b),
            "*" => a.checked_mul(*b),
            "/" => a.checked_div(*b),
            _ => a.checked_rem(*b),
        }
        .map(Value::Int);
    }
    let (a, b) = (number(a)?, number(b)?);
    Some(Value::Real(match op {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" => a / b,
        _ => a % b,
    }))
}

fn compared(op: &str, a: &Value, b: &Value) -> Option<Value> {
    let order = order(a, b)?;
    Some(Value::Bool(match op {
        "=" => order.is_eq(),
        "<>" => order.is_ne(),
        "<" => order.is_lt(),
        "<=" => order.is_le(),
        ">" => order.is_gt(),
        _ => order.is_ge(),
    }))
}

fn order(a: &Value, b: &Value) -> Option<Ordering> {
    if let (Some(a), Some(b)) = (number(a), number(b)) {
        return a.partial_cmp(&b);
    }
    match (a, b) {
        (Value::Bytes(a), Value::Bytes(b)) => return Some(a.cmp(b)),
        (Value::Uuid(a), Value::Uuid(b)) => return Some(a.cmp(b)),
        _ => {}
    }
    let (a, b) = (words(a)?, words(b)?);
    match (microseconds(&a), microseconds(&b)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => Some(a.cmp(&b)),
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(n) => Some(*n as f64),
        Value::Real(r) => Some(*r),
        Value::Bool(truth) => Some(f64::from(u8::from(*truth))),
        Value::Json(Json::Number(n)) => n.as_f64(),
        Value::Json(Json::Bool(truth)) => Some(f64::from(u8::from(*truth))),
        _ => None,
    }
}

fn words(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) | Value::Other(text) | Value::Json(Json::String(text)) => Some(text.clone()),
        Value::Int(_) | Value::Bool(_) | Value::Uuid(_) | Value::Json(_) => Some(value.to_string()),
        _ => None,
    }
}

/// LIKE without escapes.
fn matches(pattern: &[char], text: &[char]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some(('%', rest)) => (0..=text.len()).any(|skip| matches(rest, &text[skip..])),
        Some(('_', rest)) => !text.is_empty() && matches(rest, &text[1..]),
        Some((letter, rest)) => text.first() == Some(letter) && matches(rest, &text[1..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_holds_as_far_as_its_slots_are_known() {
        let slot =
            |at: usize| [Some(Value::Int(3)), Some(Value::Null), Some(Value::Text("abc".into())), None][at].clone();
        let is = |value: Value| Term::Is(value);
        let holds = |term: Term| term.holds(&slot);
        assert_eq!(holds(Term::of("<=", [Term::Slot(0), is(Value::Int(3))])), Some(true));
        assert_eq!(holds(Term::of("=", [Term::Slot(1), is(Value::Int(3))])), Some(false));
        assert_eq!(holds(Term::of("is null", [Term::Slot(1)])), Some(true));
        assert_eq!(holds(Term::of("like", [Term::Slot(2), is(Value::Text("%B_".into()))])), Some(true));
        assert_eq!(holds(Term::of("=", [Term::Slot(3), is(Value::Int(3))])), None);
        let cut = Term::of("substr", [Term::Slot(2), is(Value::Int(2)), is(Value::Int(1))]);
        assert_eq!(holds(Term::of("=", [cut, is(Value::Text("b".into()))])), Some(true));
        let without = Term::of("replace", [Term::Slot(2), is(Value::Text("b".into())), is(Value::Text(String::new()))]);
        assert_eq!(holds(Term::of("=", [without, is(Value::Text("ac".into()))])), Some(true));
        let either = Term::of("or", [Term::of("=", [Term::Slot(3), is(Value::Int(3))]), is(Value::Bool(true))]);
        assert_eq!(holds(either), Some(true));
        let bare = Term::of("ltrim", [Term::Slot(2), is(Value::Text("ba".into()))]);
        assert_eq!(holds(Term::of("=", [bare, is(Value::Text("c".into()))])), Some(true));
        // What is put together of its members is a document, and so is a text of one.
        assert_eq!(holds(Term::of("json valid", [Term::Slot(3)])), Some(true));
        assert_eq!(holds(Term::of("json valid", [Term::Slot(2)])), Some(false));
        for (op, word) in [("json type", "integer"), ("json typeof", "number")] {
            let kind = Term::of(op, [is(Value::Json(serde_json::json!(4)))]);
            assert_eq!(holds(Term::of("=", [kind, is(Value::Text(word.into()))])), Some(true));
        }
        let sum = Term::of("+", [Term::Slot(0), is(Value::Int(2))]);
        assert_eq!(holds(Term::of(">", [sum, is(Value::Real(4.5))])), Some(true));
    }
}

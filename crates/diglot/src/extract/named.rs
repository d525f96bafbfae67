//! What the statements of a file are called.
//!
//! A constant, a variable outside of functions and a field have names that people chose for the statement. Inside of a
//! function its name counts; where it has several statements, what each of them does to which table comes behind it.

use std::collections::BTreeMap;
use std::ops::Range;

use super::code::Code;
use super::kind::deed;
use super::literal::Kind;
use super::package::target;
use super::statements::WHOLE;

/// Names that say nothing of what they are given.
const PLAIN: [&str; 16] = [
    "sql",
    "query",
    "q",
    "stmt",
    "text",
    "statement",
    "s",
    "name",
    "raw",
    "SQL",
    "QUERY",
    "Query",
    "Sql",
    "SQLQuery",
    "queryString",
    "qb",
];

/// What hands a text on to what it is given to, in a function.
const PASSING: [&str; 19] = [
    "concat",
    "concatcp",
    "format",
    "format_args",
    "formatcp",
    "Sprintf",
    "fmt",
    "String",
    "from",
    "QueryBuilder",
    "new",
    "sqlx",
    "str",
    "AssertSqlSafe",
    "Cow",
    "Lazy",
    "LazyLock",
    "Borrowed",
    "Box",
];

/// What a statement may be called.
#[derive(Debug, Clone, Default)]
pub(super) struct Called {
    /// What it is given to, where that is its own.
    pub(super) own: Option<(String, Range<usize>)>,
    /// The function that it stands in.
    pub(super) function: Option<usize>,
    /// The variable of that function.
    pub(super) variable: Option<(String, Range<usize>)>,
}

/// What the expression that begins at a token is given to.
pub(super) fn called(code: &Code<'_>, expression: usize) -> Called {
    let function = code.function_of(expression);
    let named = |at: usize| Some((code.word(at).to_owned(), code.tokens[at].range.clone()));
    let mut at = expression.wrapping_sub(1);
    // `= concat!(`, `= QueryBuilder::new(` and `= (` lead to the text too.
    while at < code.tokens.len() {
        let behind = code.word(at + 1);
        let is_path = code.is(at, Kind::Word)
            && ["(", "!", "::", ">", "."].contains(&behind)
            && (function.is_none() || behind == ">" || PASSING.contains(&code.word(at)));
        let is_sign = ["(", "!", "&", "::", "<", ">", ".", "|"].contains(&code.word(at));
        if !(is_sign || is_path) {
            break;
        }
        at = at.wrapping_sub(1);
    }
    let plain = Called { function, ..Called::default() };
    if at >= code.tokens.len() {
        return plain;
    }
    let key = at.checked_sub(1).filter(|key| code.word(at) == ":" && code.is(*key, Kind::Word));
    if let Some(key) = key.filter(|key| function.is_none() || !PLAIN.contains(&code.word(*key))) {
        return Called { own: named(key), ..plain };
    }
    if ![":=", "="].contains(&code.word(at)) {
        return plain;
    }
    let name = target(code, at).map(|(name, _)| name).and_then(named);
    match function {
        Some(_) => Called { variable: name, ..plain },
        None => Called { own: name, ..plain },
    }
}

/// The names of statements, each of which has its text, in their order.
pub(super) fn names(code: &Code<'_>, all: &[(&Called, &str, &str)]) -> Vec<(String, Option<Range<usize>>)> {
    let mut of_function: BTreeMap<usize, usize> = BTreeMap::new();
    for (called, ..) in all.iter().filter(|(called, _, behind)| called.own.is_none() && *behind != WHOLE) {
        called.function.into_iter().for_each(|function| *of_function.entry(function).or_default() += 1);
    }
    let first: Vec<(String, Option<Range<usize>>)> = all
        .iter()
        .map(|(called, sql, behind)| {
            let (name, place) = match (&called.own, called.function) {
                (Some((name, place)), _) => (name.clone(), Some(place.clone())),
                (None, Some(index)) => {
                    let function = &code.functions[index];
                    let whole = of_function.get(&index).is_none_or(|count| *count < 2);
                    let deed = deed(sql).filter(|_| !whole).map_or_else(String::new, |deed| format!("_{deed}"));
                    (format!("{}{deed}", function.name), Some(function.place.clone()))
                }
                (None, None) => ("statement".to_owned(), None),
            };
            // What the statement does may name the table already by which branches are told apart.
            let is_said = *behind != WHOLE && name.ends_with(behind);
            (if is_said { name } else { format!("{name}{behind}") }, place)
        })
        .collect();
    let mut names = first.clone();
    // Methods of one name belong to types, and statements that do the same are told apart by their variables.
    let again = |names: &[(String, Option<Range<usize>>)], at: usize| {
        names.iter().filter(|(name, _)| *name == names[at].0).count() > 1
    };
    for at in 0..all.len() {
        let Called { own: None, function: Some(function), .. } = all[at].0 else { continue };
        let of = &code.functions[*function];
        let other = (0..all.len()).any(|other| {
            first[other].0 == first[at].0 && all[other].0.function.is_some_and(|other| other != *function)
        });
        if let (true, Some(owner)) = (other, &of.owner) {
            names[at].0 = format!("{owner}_{}", first[at].0);
        }
    }
    let second = names.clone();
    for at in 0..all.len() {
        let variable = all[at].0.variable.as_ref().filter(|(name, _)| !PLAIN.contains(&name.as_str()));
        if let (true, Some((variable, _))) = (again(&second, at), variable) {
            names[at].0 = format!("{}_{variable}", second[at].0);
        }
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (name, _) in &mut names {
        let count = counts.entry(name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            *name = format!("{name}_{count}");
        }
    }
    names
}

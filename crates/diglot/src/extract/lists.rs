//! Texts that a function gathers in a list and joins: `where = append(where, "bay = $1")`, `strings.Join(where, " AND ")`.

use std::ops::Range;

use super::code::Code;
use super::expression::{Evaluator, Piece, Reference, is_too_deep};
use super::growth::{When, block, together};
use super::literal::{Kind, Language};
use super::marks;
use super::place;

/// One text of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) when: When,
    pub(super) pieces: Vec<Piece>,
    pub(super) references: Vec<Reference>,
}

/// What the name of a list stands behind that is joined and of which nobody knows the texts.
pub(super) const JOINED: &str = "strings.Join.";

/// A list as it is joined: what its function gathers, what a constant or all calls of the function say, or what a call
/// makes of each text of one; none where nobody can tell.
pub(super) fn joined(
    evaluator: &Evaluator<'_, '_>,
    list: &Range<usize>,
    separator: &str,
    depth: usize,
) -> Option<Piece> {
    if is_too_deep(depth) || list.is_empty() {
        return None;
    }
    let (code, package) = (evaluator.code(), evaluator.package);
    let place = code.written(list.clone()).1;
    let of = |items: Vec<Item>| Piece::List { items, separator: separator.to_owned(), place: place.clone() };
    let is_path = (list.start..list.end).all(|at| code.is(at, Kind::Word) || [".", "::"].contains(&code.word(at)));
    if is_path {
        let gathered = if list.len() == 1 { items(evaluator, list.start, depth) } else { None };
        let path: String = list.clone().map(|at| code.word(at)).collect();
        // What stands in another file is shown where it is named.
        let constant = || package.list(evaluator.file, list.start, &path, depth + 1).map(|items| of(items).at(&place));
        return gathered
            .map(of)
            .or_else(constant)
            .or_else(|| package.given_lists(evaluator.file, list.start, &path, (separator, depth + 1)));
    }
    if code.word(list.start) == "[" {
        return written(evaluator, list.start, depth).map(of);
    }
    let open = (list.start..list.end).find(|at| code.word(*at) == "(")?;
    let arguments = evaluator.arguments(open + 1, list.end);
    let (first, others) = arguments.split_first()?;
    if code.behind(open) != list.end {
        return None;
    }
    if code.word(list.start) == "append" && code.language == Language::Go {
        let more: Vec<Item> = others.iter().map(|one| item(evaluator, (When::Always, depth), one)).collect();
        return Some(each(joined(evaluator, first, separator, depth + 1)?, &|items| [items, more.clone()].concat()));
    }
    let [made] = others else { return None };
    let (name, text) = closure(evaluator, made, depth + 1)?;
    let filled = |item: Item| {
        let pieces = text.iter().flat_map(|piece| match piece {
            Piece::Hole { path, .. } if path == name => item.pieces.clone(),
            piece => vec![piece.clone()],
        });
        Item { pieces: pieces.collect(), ..item }
    };
    let list = joined(evaluator, first, separator, depth + 1)?;
    Some(each(list, &|items| items.into_iter().map(filled).collect()))
}

/// A list with other items, in each of its branches.
fn each(list: Piece, change: &dyn Fn(Vec<Item>) -> Vec<Item>) -> Piece {
    match list {
        Piece::List { items, separator, place } => Piece::List { items: change(items), separator, place },
        Piece::Choice { items, instead, place } => {
            let all = |item: Item| Item {
                pieces: item.pieces.into_iter().map(|piece| each(piece, change)).collect(),
                ..item
            };
            Piece::Choice { items: items.into_iter().map(all).collect(), instead, place }
        }
        piece => piece,
    }
}

/// What a function without a name makes of one text, `func(x string) string { return ":" + x }`: the name of that text, and
/// the pieces.
fn closure<'t>(evaluator: &Evaluator<'_, 't>, tokens: &Range<usize>, depth: usize) -> Option<(&'t str, Vec<Piece>)> {
    let code = evaluator.code();
    let open = (tokens.start..tokens.end).find(|at| code.word(*at) == "{")?;
    let is_one =
        code.word(tokens.start) == "func" && code.behind(open) == tokens.end && code.word(open + 1) == "return";
    let read = is_one.then(|| evaluator.argument(&(open + 2..tokens.end - 1), depth))?;
    Some((code.word(tokens.start + 2), read.pieces))
}

/// The pieces of a list of which every item is known and always there, with what stands between them.
pub(super) fn known(list: &Piece, between: &[Piece]) -> Option<Vec<Piece>> {
    let Piece::List { items, .. } = list else { return None };
    let is_known =
        |item: &Item| item.when == When::Always && item.pieces.iter().all(|piece| matches!(piece, Piece::Known { .. }));
    let all = || items.iter().map(|item| item.pieces.clone()).collect::<Vec<_>>().join(between);
    items.iter().all(is_known).then(all)
}

/// The constants that the texts of a list were taken from.
pub(super) fn references(list: &Piece) -> Vec<Reference> {
    match list {
        Piece::List { items, .. } | Piece::Choice { items, .. } => {
            let of =
                |item: &Item| [item.references.clone(), item.pieces.iter().flat_map(references).collect()].concat();
            items.iter().flat_map(of).collect()
        }
        Piece::Known { .. } | Piece::Hole { .. } => Vec::new(),
    }
}

/// What a variable of a function holds where it is joined; none where nobody can tell.
pub(super) fn items(evaluator: &Evaluator<'_, '_>, join: usize, depth: usize) -> Option<Vec<Item>> {
    if is_too_deep(depth) {
        return None;
    }
    let code = evaluator.code();
    let variable = code.word(join);
    let body = code.functions.get(code.function_of(join)?)?.body.clone();
    let (mut blocks, mut base, mut found): (Vec<When>, usize, Option<Vec<Item>>) = (Vec::new(), 0, None);
    for at in body.start + 1..join {
        match code.word(at) {
            "{" => blocks.push(block(code, at)),
            "}" => _ = blocks.pop(),
            "append" if code.word(at + 1) == "(" && code.word(at + 2) == variable => {
                let given = evaluator.arguments(at + 2, code.behind(at + 1));
                let when = within(&blocks, base);
                found.as_mut()?.extend(given.iter().skip(1).map(|one| item(evaluator, (when, depth), one)));
            }
            word if word == variable && code.is(at, Kind::Word) && code.before(at, 1) != "." => {
                let behind = if code.word(at + 1) == "[" { code.behind(at + 1) } else { at };
                if behind > at && code.word(behind) == "=" {
                    // `marks[i] = "?"`
                    let read = evaluator.expression(behind + 1, depth)?;
                    let when = within(&blocks, base);
                    found.as_mut()?.push(item(evaluator, (when, depth), &(behind + 1..read.end)));
                } else if code.word(at + 1) == "." && code.word(at + 2) == "push" {
                    let given = evaluator.arguments(at + 4, code.behind(at + 3));
                    let when = within(&blocks, base);
                    found.as_mut()?.extend(given.iter().map(|one| item(evaluator, (when, depth), one)));
                } else if let Some(value) = value(code, at).filter(|value| code.word(*value) != "append") {
                    base = blocks.len();
                    found = written(evaluator, value, depth);
                } else if code.before(at, 1) == "var" {
                    base = blocks.len();
                    found = Some(Vec::new());
                }
            }
            _ => {}
        }
    }
    found
}

/// When something is done inside of these blocks, of which those before `base` hold anyway.
fn within(blocks: &[When], base: usize) -> When {
    together(blocks.get(base.min(blocks.len())..).unwrap_or_default())
}

fn item(evaluator: &Evaluator<'_, '_>, (when, depth): (When, usize), tokens: &Range<usize>) -> Item {
    let read = evaluator.argument(tokens, depth);
    match when {
        When::Unclear if marks::repeated(&read.pieces).is_some() => {
            Item { when: When::Always, pieces: vec![marks::hole(&read.pieces)], references: Vec::new() }
        }
        when => Item { when, pieces: read.pieces, references: read.references },
    }
}

/// Where the value begins that a variable is given here, alone or as one of several.
fn value(code: &Code<'_>, at: usize) -> Option<usize> {
    let mut equals = at + 1;
    if code.language == Language::Rust {
        if !["let", "mut"].contains(&code.before(at, 1)) {
            return None;
        }
        // A type may stand between.
        equals = (at + 1..at + 16).find(|at| ["=", ";"].contains(&code.word(*at)))?;
    }
    while code.word(equals) == "," && code.is(equals + 1, Kind::Word) {
        equals += 2;
    }
    if ![":=", "="].contains(&code.word(equals)) {
        return None;
    }
    let mut place = 0;
    while at > 2 * place + 1 && code.before(at, 2 * place + 1) == "," && code.is(at - 2 * place - 2, Kind::Word) {
        place += 1;
    }
    let mut value = equals + 1;
    while place > 0 && value < code.tokens.len() {
        match code.word(value) {
            "," => {
                place -= 1;
                value += 1;
            }
            "(" | "[" | "{" => value = code.behind(value),
            _ => value += 1,
        }
    }
    Some(value)
}

/// A list that is written out.
pub(super) fn written(evaluator: &Evaluator<'_, '_>, value: usize, depth: usize) -> Option<Vec<Item>> {
    let code = evaluator.code();
    let value = if code.word(value) == "&" { value + 1 } else { value };
    let words: Vec<&str> = (value..value + 4).map(|at| code.word(at)).collect();
    let open = match words.as_slice() {
        ["[", "]", "string", "{"] => value + 3,
        ["[", ..] if code.language == Language::Rust => value,
        ["[", _, "]", "string"] if code.word(value + 4) == "{" => value + 4,
        ["vec", "!", "[", _] => value + 2,
        ["nil", ..] | ["make", "(", "[", "]"] | ["Vec", "::", "new" | "with_capacity", _] => return Some(Vec::new()),
        _ => return None,
    };
    let given = evaluator.arguments(open + 1, code.behind(open));
    Some(given.iter().map(|one| item(evaluator, (When::Always, depth), one)).collect())
}

/// Pieces with their lists and choices as they are with the items of which `taken` holds; none where a list has no item
/// then.
pub(super) fn expanded(pieces: &[Piece], taken: &dyn Fn(When) -> bool) -> Option<Vec<Piece>> {
    let mut all = Vec::new();
    for piece in pieces {
        let (items, separator, place) = match piece {
            Piece::List { items, separator, place } => (items, separator, place),
            Piece::Choice { instead: Some(hole), .. } if takes_value(&all) => {
                all.push((**hole).clone());
                continue;
            }
            Piece::Choice { items, .. } => {
                for item in items.iter().filter(|item| taken(item.when)) {
                    all.extend(expanded(&item.pieces, taken)?);
                }
                continue;
            }
            Piece::Known { .. } | Piece::Hole { .. } => {
                all.push(piece.clone());
                continue;
            }
        };
        let items: Vec<&Item> = items.iter().filter(|item| item.when == When::Unclear || taken(item.when)).collect();
        if items.is_empty() {
            return None;
        }
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                all.push(Piece::Known { text: separator.clone(), place: place.clone() });
            }
            match item.when {
                When::Unclear => {
                    let code = item.pieces.iter().map(Piece::code).collect::<Vec<_>>().join(" ");
                    all.push(Piece::Hole { path: String::new(), code, place: place.clone() });
                }
                _ => all.extend(expanded(&item.pieces, taken)?),
            }
        }
    }
    Some(all)
}

/// Whether what stands behind these pieces is one value.
fn takes_value(before: &[Piece]) -> bool {
    let text: String =
        before.iter().map(|piece| if piece.is_known() { piece.code_as_written() } else { "x" }).collect();
    place::takes_value(&text) || place::quote(&text).is_some()
}

/// Of how many branches one is taken, at the most.
pub(super) fn arms(pieces: &[Piece]) -> usize {
    let of = |items: &[Item]| {
        let own = items.iter().map(|item| if let When::Arm { of, .. } = item.when { of } else { 0 });
        own.chain(items.iter().map(|item| arms(&item.pieces))).max().unwrap_or_default()
    };
    let all = pieces.iter().map(|piece| match piece {
        Piece::Choice { items, .. } | Piece::List { items, .. } => of(items),
        Piece::Known { .. } | Piece::Hole { .. } => 0,
    });
    all.max().unwrap_or_default()
}

/// What tells the text of one of several branches from the others: a name that it has there, or its number.
pub(super) fn arm_name(pieces: &[Piece], arm: usize) -> String {
    let is_name = |text: &str| text.chars().all(|c| c.is_alphanumeric() || c == '_') && !text.is_empty();
    let chosen = pieces.iter().find_map(|piece| match piece {
        Piece::Choice { items, .. } if arms(std::slice::from_ref(piece)) > 0 => Some(items),
        _ => None,
    });
    let items = chosen.map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<String> = items.iter().map(|item| item.pieces.iter().map(Piece::code).collect()).collect();
    match texts.iter().all(|text| is_name(text)) && !texts.is_empty() {
        true => format!("_{}", texts[arm.min(texts.len() - 1)].to_lowercase()),
        false if arm == 0 => String::new(),
        false => format!("_case_{}", arm + 1),
    }
}

/// Pieces in which a list without any item is a part that only the running program knows.
pub(super) fn told(pieces: Vec<Piece>) -> Vec<Piece> {
    let tell = |piece: Piece| match piece {
        Piece::List { items, place, .. } if items.is_empty() => {
            Piece::Hole { path: "strings.Join".to_owned(), code: "a list".to_owned(), place }
        }
        piece => piece,
    };
    pieces.into_iter().map(tell).collect()
}

/// Whether some item of a list is there under a condition alone.
pub(super) fn is_open(pieces: &[Piece]) -> bool {
    pieces.iter().any(|piece| match piece {
        Piece::Choice { items, .. } | Piece::List { items, .. } => {
            items.iter().any(|item| matches!(item.when, When::If | When::Else) || is_open(&item.pieces))
        }
        Piece::Known { .. } | Piece::Hole { .. } => false,
    })
}

#[cfg(test)]
mod tests {
    use crate::extract::Built;
    use crate::extract::Packages;
    use crate::source::{Embedded, Role};

    fn statements(path: &str, text: &str, others: &[(&str, &str)]) -> Vec<String> {
        let file =
            Packages::new([(path, text)], others.iter().copied()).read(path, text, Role::Statements, &Built::default());
        let of = |one: &Embedded| {
            let is_built = if one.holes.is_empty() { "" } else { "built: " };
            format!("{}: {is_built}{}", one.name, &file.text[one.range.clone()])
        };
        file.embedded.iter().map(of).collect()
    }

    #[test]
    fn lists_of_constants_are_joined_wherever_they_stand() {
        let go = r#"package lite

import "shop.test/stock/words"

var own = []string{"id", "bay"}

func all() {
	query("SELECT " + strings.Join(own, ", ") + " FROM lot")
	query("SELECT " + strings.Join(words.Columns, ", ") + " FROM bay")
	query("SELECT " + strings.Join(append(own, "at"), ", ") + " FROM shelf")
	query("SELECT " + strings.Join(named(), ", ") + " FROM box")
}

func set(table string, columns []string) string {
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, strings.Join(columns, ", "),
		strings.Join(each(columns, func(x string) string { return ":" + x }), ", "))
}

var setLot = set("lot", own)
var setBay = set("bay", []string{"id", "name"})
"#;
        let words = ("words/words.go", "package words\n\nvar Columns = []string{\"id\", \"name\"}\n");
        let expected = [
            "all_select_lot: SELECT id, bay FROM lot",
            "all_select_bay: SELECT id, name FROM bay",
            "all_select_shelf: SELECT id, bay, at FROM shelf",
            "all_select_box: built: SELECT {strings.Join(named(), \", \")} FROM box",
            "set_insert_lot: INSERT INTO lot (id, bay) VALUES (:id, :bay)",
            "set_insert_bay: INSERT INTO bay (id, name) VALUES (:id, :name)",
        ];
        assert_eq!(statements("lite/lot.go", go, &[words]), expected);
        let rust = "const COLUMNS: &[&str] = &[\"id\", \"bay\"];\n\
                    fn all() { query(&format!(\"SELECT {} FROM lot\", COLUMNS.join(\", \"))); }";
        assert_eq!(statements("lot.rs", rust, &[]), ["all: SELECT id, bay FROM lot"]);
    }
}

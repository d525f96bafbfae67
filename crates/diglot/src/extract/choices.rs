//! Texts of which branches of a program give one: `if late { "DESC" } else { "ASC" }`, and the arms of a `match` of two.

use std::ops::Range;

use super::code::Code;
use super::expression::{Evaluator, Expression, Piece};
use super::growth::When;
use super::lists::Item;

/// How many branches are told apart.
pub(super) const MOST: usize = 8;

/// The tokens of what the branches give that begin at `if` or `match`, without those that give nothing; none where there
/// are too many, or where no branch is taken for what is left.
pub(super) fn branches(code: &Code<'_>, at: usize) -> Option<(Vec<Range<usize>>, usize)> {
    let (mut all, mut end) = (Vec::new(), at);
    if code.word(at) == "match" {
        let open = block(code, at + 1)?;
        end = code.behind(open);
        all = arms(code, open + 1..end - 1)?;
    } else {
        while code.word(end) == "if" {
            let open = block(code, end + 1)?;
            let behind = code.behind(open);
            all.push(value(code, open + 1..behind - 1));
            if code.word(behind) != "else" {
                return None;
            }
            end = behind + 1;
        }
        let open = end;
        end = code.behind(open);
        (code.word(open) == "{").then_some(())?;
        all.push(value(code, open + 1..end - 1));
    }
    all.retain(|branch| !leaves(code, branch));
    ((1..=MOST).contains(&all.len())).then_some((all, end))
}

/// Whether a branch leaves the function.
fn leaves(code: &Code<'_>, branch: &Range<usize>) -> bool {
    ["return", "panic", "unreachable", "todo", "unimplemented", "bail"].contains(&code.word(branch.start))
}

/// What the branches give; of tuples the element in a place.
pub(super) fn chosen(
    evaluator: &Evaluator<'_, '_>,
    at: usize,
    element: Option<usize>,
    depth: usize,
) -> Option<Expression> {
    let code = evaluator.code();
    let (branches, end) = branches(code, at)?;
    let of = branches.len();
    let mut items = Vec::new();
    for (index, branch) in branches.iter().enumerate() {
        let branch = match element {
            Some(element) => tuple(evaluator, branch, element)?,
            None => branch.clone(),
        };
        let read = evaluator.argument(&branch, depth + 1);
        if !read.pieces.iter().any(Piece::is_known) {
            return None;
        }
        items.push(Item { when: arm(index, of), pieces: read.pieces, references: read.references });
    }
    let references = items.iter().flat_map(|item| item.references.iter().copied()).collect();
    let place = code.written(at..end).1;
    Some(Expression {
        pieces: vec![Piece::Choice { items, instead: None, place }],
        end,
        references,
        is_composed: false,
    })
}

/// When one of some branches is taken.
pub(super) fn arm(at: usize, of: usize) -> When {
    match (of, at) {
        (1, _) => When::Always,
        (2, 0) => When::If,
        (2, _) => When::Else,
        (of, at) => When::Arm { at, of },
    }
}

/// The element of a tuple.
pub(super) fn tuple(evaluator: &Evaluator<'_, '_>, tokens: &Range<usize>, element: usize) -> Option<Range<usize>> {
    let code = evaluator.code();
    let is_tuple = code.word(tokens.start) == "(" && code.behind(tokens.start) == tokens.end;
    is_tuple.then(|| evaluator.arguments(tokens.start + 1, tokens.end).get(element).cloned())?
}

/// Where the block opens behind a condition; the brackets of a pattern are none.
fn block(code: &Code<'_>, from: usize) -> Option<usize> {
    let mut at = from;
    if code.word(at) == "let" {
        while at < code.tokens.len() && code.word(at) != "=" {
            at = code.over(at);
        }
    }
    while at < code.tokens.len() {
        match code.word(at) {
            "{" => return Some(at),
            ";" | "}" => return None,
            "(" | "[" => at = code.behind(at),
            _ => at += 1,
        }
    }
    None
}

/// What a block gives: what stands behind its last semicolon.
pub(super) fn value(code: &Code<'_>, block: Range<usize>) -> Range<usize> {
    let (mut start, mut at) = (block.start, block.start);
    while at < block.end {
        let is_end = code.word(at) == ";";
        at = code.over(at);
        if is_end {
            start = at;
        }
    }
    start..block.end
}

/// What the arms of a `match` give.
fn arms(code: &Code<'_>, body: Range<usize>) -> Option<Vec<Range<usize>>> {
    let (mut arms, mut at) = (Vec::new(), body.start);
    while at < body.end {
        while at < body.end && code.word(at) != "=>" {
            at = code.over(at);
        }
        let start = at + 1;
        if code.word(start) == "{" {
            let behind = code.behind(start);
            arms.push(value(code, start + 1..behind - 1));
            at = if code.word(behind) == "," { behind + 1 } else { behind };
            continue;
        }
        let mut end = start;
        while end < body.end && code.word(end) != "," {
            end = code.over(end);
        }
        arms.push(start..end);
        at = end + 1;
    }
    arms.iter().all(|arm| !arm.is_empty()).then_some(arms)
}

#[cfg(test)]
mod tests {
    use crate::extract::read;
    use crate::source::Role;

    fn statements(path: &str, text: &str) -> Vec<String> {
        let file = read(path, text, Role::Statements);
        let of = |one: &crate::source::Embedded| {
            let sql = file.text[one.range.clone()].split_whitespace().collect::<Vec<_>>().join(" ");
            let is_built = if one.holes.is_empty() { "" } else { "built: " };
            format!("{}: {is_built}{sql}", one.name)
        };
        file.embedded.iter().map(of).collect()
    }

    #[test]
    fn what_two_branches_give_makes_two_statements() {
        let rust = r#"
fn page(late: bool) {
    let (column, end) = if late { ("bay", " DESC") } else { ("id", "") };
    query(&format!("SELECT id FROM lot ORDER BY {column}{end}"));
}
fn state(kind: Kind) {
    let state = match kind { Kind::Open => { log(); "open" } Kind::Shut => "shut" };
    query(&format!("DELETE FROM lot WHERE state = '{state}'"));
}
"#;
        let expected = [
            "page: SELECT id FROM lot ORDER BY id",
            "page_whole: SELECT id FROM lot ORDER BY bay DESC",
            "state: DELETE FROM lot WHERE state = 'shut'",
            "state_whole: DELETE FROM lot WHERE state = 'open'",
        ];
        assert_eq!(statements("lot.rs", rust), expected);
    }

    #[test]
    fn each_of_three_branches_makes_a_statement() {
        let rust = r#"
fn page(n: u8) {
    let order = if n == 0 { "id" } else if n == 1 { "bay" } else { "at" };
    query(&format!("SELECT id FROM lot ORDER BY {order}"));
}
fn near(order: Order) {
    let (end, limit) = match order {
        Order::Old => (" ORDER BY at", ""), Order::New => (" ORDER BY at DESC", " LIMIT 9"), Order::Any => ("", ""),
        Order::Other => unreachable!("never asked for"),
    };
    query(&format!("SELECT bay FROM lot{end}{limit}"));
}
"#;
        let expected = [
            "page_select_lot_id: SELECT id FROM lot ORDER BY id",
            "page_select_lot_bay: SELECT id FROM lot ORDER BY bay",
            "page_select_lot_at: SELECT id FROM lot ORDER BY at",
            "near_select_lot: SELECT bay FROM lot ORDER BY at",
            "near_select_lot_case_2: SELECT bay FROM lot ORDER BY at DESC LIMIT 9",
            "near_select_lot_case_3: SELECT bay FROM lot",
        ];
        assert_eq!(statements("lot.rs", rust), expected);
    }

    #[test]
    fn what_all_calls_give_a_function_stands_in_its_texts() {
        let go = r#"package store

func clear(tx Tx, table string, id int) error {
	return tx.Run("DELETE FROM "+table+" WHERE id = $1", id)
}

func state(tx Tx, table, state string) { tx.Run(fmt.Sprintf("UPDATE %s SET at = 0 WHERE state = '%s'", table, state)) }

func all(tx Tx) {
	clear(tx, "lot", 1)
	clear(tx, bays, 2)
	clear(tx, "lot", 3)
	state(tx, "lot", "open")
}

const bays = "bay"

func open(tx Tx, table string) { tx.Run("DELETE FROM " + table) }

func any(tx Tx) { open(tx, named()) }
"#;
        let expected = [
            "clear_delete_lot: DELETE FROM lot WHERE id = $1",
            "clear_delete_bay: DELETE FROM bay WHERE id = $1",
            "state: UPDATE lot SET at = 0 WHERE state = :state",
            "open: built: DELETE FROM {table}",
        ];
        assert_eq!(statements("lot.go", go), expected);
    }

    #[test]
    fn a_variable_has_the_value_that_it_was_given_last() {
        let go = r#"package store

func page(late bool) {
	order := "ASC"
	if late {
		order = "DESC"
	}
	inner := "SELECT id FROM lot "
	if late {
		inner += "WHERE late "
	}
	query(inner2, "SELECT count(*) FROM (" + inner + ") AS rest")
	query("SELECT bay FROM lot ORDER BY bay " + order)
}
"#;
        let expected = [
            "page_select_: SELECT count(*) FROM (SELECT id FROM lot ) AS rest",
            "page_select__whole: SELECT count(*) FROM (SELECT id FROM lot WHERE late ) AS rest",
            "page_select_lot: SELECT bay FROM lot ORDER BY bay ASC",
            "page_select_lot_whole: SELECT bay FROM lot ORDER BY bay DESC",
        ];
        assert_eq!(statements("lot.go", go), expected);
    }

    #[test]
    fn a_name_hides_one_of_its_kind_from_there_on() {
        let rust = "fn page(end: End) { let sql = \"SELECT id FROM lot\";\n\
                    let sql = match end { End::First => format!(\"{sql} ORDER BY id\"), End::Last => format!(\"{sql} ORDER BY bay\"), \
                    End::None => format!(\"{sql} WHERE id > 1\") };\n query(&sql); }";
        let read = statements("lot.rs", rust);
        let texts: Vec<&str> = read.iter().filter_map(|one| Some(one.split_once(": ")?.1)).collect();
        let expected =
            ["SELECT id FROM lot ORDER BY id", "SELECT id FROM lot ORDER BY bay", "SELECT id FROM lot WHERE id > 1"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn what_a_function_gives_whatever_it_is_given_is_followed() {
        let rust = r#"
impl Page {
    fn relation(&self) -> &'static str {
        match self { Page::Newer { .. } => ">", Page::Older { .. } => "<=" }
    }
}
fn table() -> &'static str { "lot" }
fn near(page: Page) {
    query(&format!("SELECT id FROM {} WHERE at {} ? AND bay = ?", table(), page.relation()));
    query(&format!("DELETE FROM {} WHERE id = ?", other()));
}
"#;
        let expected = [
            "near_select_lot: SELECT id FROM lot WHERE at <= ? AND bay = ?",
            "near_select_lot_whole: SELECT id FROM lot WHERE at > ? AND bay = ?",
            "near_delete_other: built: DELETE FROM {other()} WHERE id = ?",
        ];
        assert_eq!(statements("lot.rs", rust), expected);
        let go = r#"package store

func mark(n int) string { return "?" }

func number(n int) string { return "$" + strconv.Itoa(n) }

func table(late bool) string {
	if late {
		return "late_lot"
	}
	return "lot"
}

func some(tx Tx, ids []int) {
	tx.Run("SELECT id FROM " + table(true) + " WHERE id = " + mark(1) + " AND bay = " + mark(2))
	tx.Run("SELECT bay FROM lot WHERE id = " + number(1) + " AND bay = " + number(2))
	clause, args := in(ids)
	tx.Run("DELETE FROM lot WHERE id IN " + clause, args)
}
"#;
        let expected = [
            "some_select_lot: SELECT id FROM lot WHERE id = ? AND bay = ?",
            "some_select_late_lot_whole: SELECT id FROM late_lot WHERE id = ? AND bay = ?",
            "some_select_lot_2: SELECT bay FROM lot WHERE id = $1 AND bay = $2",
            "some_delete_lot: DELETE FROM lot WHERE id IN (sqlc.slice('id'))",
        ];
        assert_eq!(statements("lot.go", go), expected);
    }

    #[test]
    fn the_schema_before_a_name_is_left_out() {
        let rust = r#"
fn some(schema: &str) {
    query(&format!("SELECT id FROM {schema}.lot WHERE bay = $1"));
    query(&format!("DELETE FROM \"{}\".lot", schema));
    query(&format!("SELECT {owner}.id FROM lot AS {owner}"));
}
"#;
        let expected = [
            "some_select_lot: SELECT id FROM lot WHERE bay = $1",
            "some_delete_lot: DELETE FROM lot",
            "some_select_lot_2: built: SELECT {owner}.id FROM lot AS {owner}",
        ];
        assert_eq!(statements("lot.rs", rust), expected);
    }

    #[test]
    fn a_place_tells_what_stands_there() {
        let rust = r#"
fn some(ids: &[i64], bay: &str, rows: usize) {
    query(&format!("SELECT id FROM lot WHERE id IN ({}) AND bay = '{bay}' AND at > {since}", ids.iter().join(",")));
    query(&format!("INSERT INTO lot (id, bay) VALUES ($1, $2){} ON CONFLICT DO NOTHING", more(rows)));
    query(&format!("UPDATE lot SET bay = $1 WHERE at > ${}", params.len() + 1));
    query(&format!("SELECT id FROM {lot} WHERE id = {id}"));
}
"#;
        let expected = [
            "some_select_lot: SELECT id FROM lot WHERE id IN (sqlc.slice('id')) AND bay = :bay AND at > :since",
            "some_insert_lot: INSERT INTO lot (id, bay) VALUES ($1, $2) ON CONFLICT DO NOTHING",
            "some_update_lot: UPDATE lot SET bay = $1 WHERE at > $2",
            "some_select_lot_2: built: SELECT id FROM {lot} WHERE id = :id",
        ];
        assert_eq!(statements("lot.rs", rust), expected);
    }
}

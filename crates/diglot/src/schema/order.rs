//! Which migrations there are, and in which order they run: sqlx, goose, dbmate, refinery and Flyway name theirs in
//! different ways, and some keep the way back in the same folder or in the same file.

use crate::source::FileId;

/// The files of a folder that lead up, in the order in which they run.
///
/// A version is a number, or numbers with dots or underscores between, at the front of the name; `V` or `U` may stand
/// before it. Versions run in the order of their numbers, then names without one, then Flyway's repeatable ones.
pub(crate) fn in_order(mut files: Vec<(FileId, &str)>) -> Vec<(FileId, &str)> {
    let stems: Vec<String> = files.iter().map(|(_, stem)| (*stem).to_owned()).collect();
    files.retain(|(_, stem)| !leads_down(stem, &stems));
    files.sort_by_cached_key(|(_, stem)| (rank(stem), version(stem), (*stem).to_owned()));
    files
}

/// Whether a migration is the way back: `NAME.down.sql`, or `U1__name.sql` beside `V1__other_name.sql`. A `U` without
/// a `V` is refinery's, where it only says that versions may have gaps.
fn leads_down(stem: &str, all: &[String]) -> bool {
    let undoes = |other: &String| other.starts_with('V') && version(other) == version(stem);
    stem.ends_with(".down") || is_versioned(stem, 'U') && all.iter().any(undoes)
}

/// `V1__name`: a letter, a version, two underscores.
fn is_versioned(stem: &str, letter: char) -> bool {
    stem.strip_prefix(letter).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()) && rest.contains("__"))
}

fn rank(stem: &str) -> u8 {
    match version(stem) {
        _ if stem.starts_with("R__") => 2,
        Some(_) => 0,
        None => 1,
    }
}

/// The numbers of a version, in order.
fn version(stem: &str) -> Option<Vec<u128>> {
    let lettered = is_versioned(stem, 'V') || is_versioned(stem, 'U');
    let rest = if lettered { &stem[1..] } else { stem };
    let end = if lettered { rest.find("__") } else { rest.find(|c: char| !c.is_ascii_digit() && c != '.') };
    let numbers = rest[..end.unwrap_or(rest.len())].split(['.', '_']).filter(|number| !number.is_empty());
    let version: Vec<u128> = numbers.map(|number| number.parse().ok()).collect::<Option<_>>()?;
    (!version.is_empty()).then_some(version)
}

/// The part of a migration that leads up: all of it, or what stands before goose's, sql-migrate's or dbmate's mark
/// of the way back.
pub fn up(text: &str) -> &str {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let mark = mark(line);
        let leads_down = |word: &str| {
            let rest = mark.strip_prefix(word);
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
        };
        if ["+goose down", "+migrate down", "migrate:down"].into_iter().any(leads_down) {
            return &text[..at];
        }
        at += line.len();
    }
    text
}

/// What a line says when it is a comment, in lower case.
fn mark(line: &str) -> String {
    line.trim().strip_prefix("--").map(|mark| mark.trim().to_ascii_lowercase()).unwrap_or_default()
}

/// Whether a migration asks for its statements to run one by one, outside of a transaction.
pub fn runs_one_by_one(text: &str) -> bool {
    let asks = |line: &str| {
        let mark = mark(line);
        ["diglot: no-transaction", "no-transaction", "+goose no transaction"].contains(&mark.as_str())
            || mark.starts_with("migrate:up") && mark.contains("transaction:false")
            || mark.starts_with("+migrate up") && mark.contains("notransaction")
    };
    up(text).lines().any(asks)
}

/// Whether the migrator that reads the mark sends a file as one message, which Postgres runs as one transaction: sqlx and
/// dbmate.
pub(crate) fn runs_as_one_message(text: &str) -> bool {
    up(text).lines().map(mark).any(|mark| mark == "no-transaction" || mark.starts_with("migrate:up"))
}

/// Whether a migration runs behind another one, or is that one: `1080` names `1080_claim_marks`.
pub(crate) fn is_from(stem: &str, name: &str) -> bool {
    let key = |stem: &str| (rank(stem), version(stem), stem.to_owned());
    // Flyway's numbers end with the name's beginning.
    let whole = if name.starts_with(['V', 'U']) { format!("{name}__") } else { name.to_owned() };
    let named = if name.contains("__") { name } else { whole.as_str() };
    stem.starts_with(name) || key(stem) >= key(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(stems: &[&str]) -> Vec<String> {
        let files = stems.iter().enumerate().map(|(at, stem)| (FileId(at as u32), *stem)).collect();
        in_order(files).into_iter().map(|(_, stem)| stem.to_owned()).collect()
    }

    #[test]
    fn versions_run_in_the_order_of_their_numbers() {
        assert_eq!(order(&["0002_b", "0001_a", "1001_c"]), ["0001_a", "0002_b", "1001_c"]);
        assert_eq!(order(&["10_b", "9_a", "20240101120000_c"]), ["9_a", "10_b", "20240101120000_c"]);
        assert_eq!(order(&["V10__b", "V2__a", "R__views", "V2.1__c"]), ["V2__a", "V2.1__c", "V10__b", "R__views"]);
        assert_eq!(order(&["V1_2__b", "V1_1__c", "V1__a"]), ["V1__a", "V1_1__c", "V1_2__b"]);
        assert_eq!(order(&["schema", "Values_b", "V_a"]), ["V_a", "Values_b", "schema"]);
    }

    #[test]
    fn a_step_is_behind_another_by_its_version() {
        assert!(is_from("1080_claim_marks", "1080") && is_from("1150_b", "1080_claim_marks"));
        assert!(!is_from("999_a", "1080") && !is_from("1080_a", "1080_b"));
        assert!(is_from("V10__b", "V9") && !is_from("V2__b", "V9__a"));
    }

    #[test]
    fn the_way_back_is_left_out() {
        assert_eq!(order(&["1_a.up", "1_a.down", "2_b.up", "2_b.down"]), ["1_a.up", "2_b.up"]);
        assert_eq!(order(&["V1__a", "U1__a", "V2__b"]), ["V1__a", "V2__b"]);
        assert_eq!(order(&["U3__c", "V1__a", "U2__b"]), ["V1__a", "U2__b", "U3__c"]);
    }

    #[test]
    fn a_file_is_read_up_to_the_mark_of_the_way_back() {
        for mark in ["-- +goose Down", "-- migrate:down", "--migrate:down transaction:false", "-- +migrate Down"] {
            let text = format!("-- up\nCREATE TABLE a (b int);\n{mark}\nDROP TABLE a;\n");
            assert_eq!(up(&text), "-- up\nCREATE TABLE a (b int);\n", "{mark}");
        }
        for text in ["CREATE TABLE a (b int);", "-- migrate:downwards is prose\nSELECT 1;"] {
            assert_eq!(up(text), text);
        }
    }

    #[test]
    fn tools_ask_in_their_own_words_for_statements_one_by_one() {
        for mark in [
            "-- diglot: no-transaction",
            "-- no-transaction",
            "-- +goose NO TRANSACTION",
            "-- migrate:up transaction:false",
            "-- +migrate Up notransaction",
        ] {
            assert!(runs_one_by_one(&format!("{mark}\nSELECT 1;\n")), "{mark}");
        }
        assert!(!runs_one_by_one("-- migrate:up\nSELECT 1;\n-- migrate:down transaction:false\n"));
    }
}

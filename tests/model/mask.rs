//! Makes the answers and rows of two backends comparable: ids that a backend makes become numbers, in the order
//! in which its answers first tell of them; ids that the test gives stay as they are.

use std::collections::HashMap;

/// What an id of ours begins with.
pub(crate) const OURS: &str = "00000000-0000-4000-8000-";

/// The ids that one backend made.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mask {
    told: HashMap<String, usize>,
    is_off: bool,
}

impl Mask {
    /// A mask that leaves answers as they are, for another to mask later.
    pub(crate) fn off() -> Self {
        Self { is_off: true, ..Self::default() }
    }

    /// An answer; from here on the ids in it are known.
    pub(crate) fn answer(&mut self, text: &str) -> String {
        if self.is_off {
            return text.to_owned();
        }
        replaced(&plain(text), |id| {
            let next = self.told.len();
            format!("#{}", self.told.entry(id).or_insert(next))
        })
    }

    /// A row, and whether every id in it is known. Those that no answer told are all alike: rows are compared in
    /// no particular order.
    pub(crate) fn row(&self, text: &str) -> (String, bool) {
        let mut are_all_known = true;
        let masked = replaced(&nameless(text), |id| {
            let known = self.told.get(&id);
            are_all_known &= known.is_some();
            known.map_or_else(|| "#".to_owned(), |known| format!("#{known}"))
        });
        (masked, are_all_known)
    }
}

/// Replaces every run of at least 32 hexadecimal digits that does not hold an id of ours.
fn replaced(text: &str, mut name: impl FnMut(String) -> String) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut run = String::new();
    for letter in text.chars().chain(['\n']) {
        if letter.is_ascii_hexdigit() || letter == '-' {
            run.push(letter);
            continue;
        }
        let digits: String = run.chars().filter(|letter| *letter != '-').collect();
        if digits.len() < 32 || digits.contains(&OURS.replace('-', "")) {
            masked.push_str(&run);
        } else {
            masked.push_str(&name(digits));
        }
        run.clear();
        masked.push(letter);
    }
    masked.truncate(masked.len() - 1);
    masked
}

/// Without what is meant to differ: the name of the database, the bytes of handles and of places in an outbox.
fn plain(text: &str) -> String {
    let text = without(text, "HandleOpaque([", "])");
    let text = without(&text, "StreamCursor(b\"", "\")");
    let text = text.replace("SQLite", "Database").replace("Postgres", "Database").replace("Sqlite", "Database");
    nameless(&text)
}

/// Keys of grants and leases begin with the database that made them.
fn nameless(text: &str) -> String {
    text.replace("sqlite:", "db:").replace("pg:", "db:")
}

fn without(text: &str, open: &str, close: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(open) {
        let start = at + open.len();
        kept.push_str(&rest[..start]);
        rest = rest[start..].find(close).map_or("", |end| &rest[start + end..]);
    }
    kept + rest
}

#[test]
fn made_ids_become_numbers_and_ours_stay() {
    let (first, second) = ("0b1c2d3e-0000-4000-9000-00000000abcd", "ffff2d3e-0000-4000-9000-00000000abcd");
    let ours = format!("{OURS}0000000000ab");
    let mut mask = Mask::default();
    assert_eq!(mask.answer(&format!("a {second} {first} {ours} {second}")), format!("a #0 #1 {ours} #0"));
    assert_eq!(mask.row(&first.replace('-', "")), ("#1".to_owned(), true));
    assert_eq!(mask.row(&"12".repeat(16)), ("#".to_owned(), false));
    let (handle, masked) =
        ("{ backend: Sqlite, opaque: HandleOpaque([1, 2]) }", "{ backend: Database, opaque: HandleOpaque([]) }");
    assert_eq!(mask.answer(handle), masked);
}

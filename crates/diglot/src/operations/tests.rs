//! What must hold of the table as a whole; what its rows say is held by running them (`tests/table.rs`).

use super::{Meaning, rows};
use crate::dialect::Dialect;
use crate::rules::find;

#[test]
fn every_guard_is_a_rule() {
    for row in rows() {
        let guard = row.means.guard();
        assert!(guard.is_none_or(|rule| find(rule).is_some()), "{}: {guard:?} is no rule", row.word);
    }
}

#[test]
fn no_row_is_behind_one_that_takes_the_same() {
    let all: Vec<_> = rows().collect();
    for (at, row) in all.iter().enumerate() {
        for dialect in Dialect::ALL.into_iter().filter(|dialect| row.is_on(*dialect)) {
            let covers = |before: &&&super::Row| {
                before.is_on(dialect)
                    && (before.form, before.word) == (row.form, row.word)
                    && before.takes.len() <= row.takes.len()
                    && before.takes.len() + before.more >= row.takes.len() + row.more
                    && (0..row.takes.len()).all(|place| {
                        let mut own = row.takes[place].bases(dialect);
                        own.all(|base| {
                            before.kinds_at(place).is_some_and(|kinds| kinds.has(dialect, &base) && !kinds.is_present())
                        })
                    })
            };
            let before = all[..at].iter().find(covers);
            assert!(before.is_none(), "{} {:?} of {dialect} is never asked: {before:?}", row.word, row.takes);
        }
    }
}

#[test]
fn words_are_in_small_letters() {
    let names = rows().filter(|row| row.form != super::Form::Collate).map(|row| row.word);
    names.for_each(|word| assert_eq!(word, word.to_lowercase()));
    assert!(rows().any(|row| row.means == Meaning::Count));
}

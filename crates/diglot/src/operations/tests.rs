//! What must hold of the table as a whole; what its rows say is held by running them (`tests/table.rs`).

use super::{Meaning, rows};
use crate::config::Config;
use crate::dialect::Dialect;
use crate::rules::find;
use crate::source::{SourceFile, Sources};
use crate::{Compiled, Inputs, compile};

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

fn compiled(sqlite: &str, pg: &str) -> Compiled {
    let mut sources = Sources::default();
    let table = "CREATE TABLE job (id BIGINT NOT NULL PRIMARY KEY, lane TEXT";
    sources.add(SourceFile::new("schema/sqlite/0001_all.sql", format!("{table} NOT NULL)")));
    sources.add(SourceFile::new("schema/pg/0001_all.sql", format!("{table} COLLATE \"C\" NOT NULL)")));
    for (folder, text) in [("sqlite", sqlite), ("pg", pg)] {
        sources.add(SourceFile::new(format!("sql/{folder}/job.sql"), format!("-- name: job_get :many\n{text};\n")));
    }
    compile(&Inputs { config: Config::default(), sources, ..Inputs::default() })
}

fn rules(sqlite: &str, pg: &str) -> Vec<&'static str> {
    compiled(sqlite, pg).diagnostics.into_iter().map(|found| found.rule).collect()
}

#[test]
fn the_same_unknown_word_on_both_pages_is_no_excuse() {
    for text in [
        "SELECT soundex(lane) AS word FROM job",
        "SELECT id FROM job WHERE lane COLLATE \"sv-x-icu\" = 'a'",
        "SELECT CAST(lane AS money) AS word FROM job",
        "SELECT id FROM job WHERE id IN (SELECT s.id FROM series_of(3) AS s)",
    ] {
        assert!(rules(text, text).contains(&"unknown-operation"), "{text}: {:?}", rules(text, text));
    }
    assert_eq!(rules("SELECT id FROM job WHERE lane = 'a'", "SELECT id FROM job WHERE lane = 'a'"), [""; 0]);
}

#[test]
fn what_is_unknown_is_told_with_what_is_near_and_how_to_answer_for_it() {
    let text = "SELECT lowr(lane) AS word FROM job";
    let found = compiled(text, text).diagnostics;
    let unknown = found.iter().find(|found| found.rule == "unknown-operation").expect("nothing is known of lowr");
    let helps = unknown.help.join("\n");
    assert!(unknown.message.contains("`lowr(text)`"), "{}", unknown.message);
    assert!(helps.contains("`lower`") && helps.contains("-- allow(unknown-operation): "), "{helps}");
}

#[test]
fn who_answers_for_an_unknown_word_has_it_counted() {
    let text = "-- allow(unknown-operation): both are built from one source\nSELECT soundex(lane) AS word FROM job";
    let allowed = compiled(text, text);
    assert!(!allowed.diagnostics.iter().any(|found| ["unknown-operation", "unused-allow"].contains(&found.rule)));
    assert_eq!(allowed.stats.waived, 2);
    let idle = "-- allow(unknown-operation): nothing to answer for\nSELECT lane FROM job";
    assert!(rules(idle, idle).contains(&"unused-allow"));
}

#[test]
fn one_name_with_two_meanings_is_two_words() {
    let text = "SELECT id FROM job WHERE lane < current_date";
    assert!(rules(text, text).contains(&"where-differs"), "{:?}", rules(text, text));
    let text = "SELECT length(id) AS size FROM job";
    assert!(rules(text, text).contains(&"columns-differ") || rules(text, text).contains(&"unknown-operation"));
}

#[test]
fn rows_that_are_written_out_are_compared() {
    assert!(rules("VALUES (1, 'a'), (2, 'b')", "VALUES (1, 'a'), (2, 'c')").contains(&"columns-differ"));
}

#[test]
fn a_time_in_text_is_nothing_to_calculate_with() {
    let found = |condition: &str| {
        let mut sources = Sources::default();
        let table =
            |ty: &str| format!("CREATE TABLE stay (id BIGINT NOT NULL PRIMARY KEY, a {ty} NOT NULL, b {ty} NOT NULL)");
        sources.add(SourceFile::new("schema/sqlite/0001_all.sql", table("TEXT")));
        sources.add(SourceFile::new("schema/pg/0001_all.sql", table("date")));
        for folder in ["sqlite", "pg"] {
            let text = format!("-- name: stay_long :many\nSELECT id FROM stay WHERE {condition} ORDER BY id;\n");
            sources.add(SourceFile::new(format!("sql/{folder}/stay.sql"), text));
        }
        let config = Config::parse("[storage]\n\"stay.*\" = \"date\"\n", "diglot.toml").expect("a configuration");
        let found = compile(&Inputs { config, sources, ..Inputs::default() }).diagnostics;
        found.into_iter().map(|finding| finding.rule).collect::<Vec<_>>()
    };
    for condition in ["b - a > 3", "a + 1 < b", "b - 1 > a"] {
        assert!(found(condition).contains(&"unknown-operation"), "{condition}: {:?}", found(condition));
    }
    assert_eq!(found("b > a"), [""; 0]);
}

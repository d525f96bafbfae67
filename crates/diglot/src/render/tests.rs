//! How findings look, and that no span brings a renderer down.

use super::*;
use crate::source::{FileId, Span};

fn pair() -> (Sources, Diagnostic) {
    let mut sources = Sources::default();
    let lite = "-- name: lease_get :opt\nSELECT epoch\n  FROM lease\n WHERE id = :id\n   AND über = 1;\n";
    let pg = "-- name: lease_get :opt\nSELECT epoch\n  FROM lease\n WHERE id = :id;\n";
    let lite = sources.add(SourceFile::new("sql/sqlite/lease.sql", lite));
    let pg = sources.add(SourceFile::new("sql/pg/lease.sql", pg));
    let span = |file: FileId, piece: &str| {
        let start = sources.file(file).text.find(piece).unwrap_or_default();
        Span::new(file, start..start + piece.len())
    };
    let finding = Diagnostic::error(
        "where-differs",
        "lease_get: WHERE has a condition on SQLite alone",
        span(lite, "über = 1"),
        "only here",
    )
    .and(span(pg, "id = :id"), "nothing like it here")
    .context(span(lite, "lease_get"), "this statement")
    .note("conditions are compared one by one")
    .help("add the condition to the Postgres page, or write `-- diverges(where): REASON`");
    (sources, finding)
}

#[test]
fn the_full_look_shows_both_pages() {
    let (sources, finding) = pair();
    assert_eq!(
        full(&sources, &finding, false),
        "\
error[where-differs]: lease_get: WHERE has a condition on SQLite alone
 --> sql/sqlite/lease.sql:5:8
  |
1 | -- name: lease_get :opt
  |          --------- this statement
...
5 |    AND über = 1;
  |        ^^^^^^^^ only here
  |
 ::: sql/pg/lease.sql:4:8
  |
4 |  WHERE id = :id;
  |        ^^^^^^^^ nothing like it here
  |
  = note: conditions are compared one by one
  = help: add the condition to the Postgres page, or write `-- diverges(where): REASON`"
    );
}

#[test]
fn colour_changes_nothing_but_the_colour() {
    let (sources, finding) = pair();
    let colored = full(&sources, &finding, true);
    assert!(colored.contains("\u{1b}["));
    let mut plain = String::new();
    let mut inside = false;
    for c in colored.chars() {
        match c {
            '\u{1b}' => inside = true,
            'm' if inside => inside = false,
            c if !inside => plain.push(c),
            _ => {}
        }
    }
    assert_eq!(plain, full(&sources, &finding, false));
}

#[test]
fn the_short_look_is_one_line_that_works_alone() {
    let (sources, finding) = pair();
    assert_eq!(
        short(&sources, &finding),
        "sql/sqlite/lease.sql:5:8: error[where-differs]: lease_get: WHERE has a condition on SQLite alone"
    );
    let nowhere = Diagnostic { labels: Vec::new(), ..finding };
    assert!(short(&sources, &nowhere).starts_with("error[where-differs]: "));
}

#[test]
fn json_has_every_part_on_one_line() {
    let (sources, finding) = pair();
    let expected = r#"{"rule":"where-differs","severity":"error","message":"lease_get: WHERE has a condition on SQLite alone","labels":[
{"file":"sql/sqlite/lease.sql","line":5,"column":8,"end_line":5,"end_column":16,"byte_start":73,"byte_end":82,"text":"only here","primary":true},
{"file":"sql/pg/lease.sql","line":4,"column":8,"end_line":4,"end_column":16,"byte_start":57,"byte_end":65,"text":"nothing like it here","primary":true},
{"file":"sql/sqlite/lease.sql","line":1,"column":10,"end_line":1,"end_column":19,"byte_start":9,"byte_end":18,"text":"this statement","primary":false}
],"notes":["conditions are compared one by one"],"help":["add the condition to the Postgres page, or write `-- diverges(where): REASON`"]}"#;
    assert_eq!(json(&sources, &finding), expected.replace('\n', ""));
}

#[test]
fn all_separates_full_findings_by_an_empty_line() {
    let (sources, finding) = pair();
    let two = [finding.clone(), finding.clone()];
    let one = full(&sources, &finding, false);
    assert_eq!(all(&sources, &two, Look::Plain), format!("{one}\n\n{one}\n"));
    assert_eq!(all(&sources, &two, Look::Short).lines().count(), 2);
    assert_eq!(all(&sources, &two, Look::Json).lines().count(), 2);
    assert_eq!(all(&sources, &[], Look::Plain), "");
}

#[test]
fn no_span_brings_a_renderer_down() {
    for text in ["", "\n", "é", "a\r\nb", "\u{feff}é\t\u{0}\n\n", "x\u{202e}y", "🦀\n🦀", "no newline"] {
        let mut sources = Sources::default();
        let file = sources.add(SourceFile::new("a.sql", text));
        for start in 0..12 {
            for end in [0, start, start + 1, start + 5, u32::MAX] {
                for id in [file, FileId(7)] {
                    let span = Span { file: id, start, end };
                    let finding = Diagnostic::error("some-rule", "a\nb", span, "c\nd").and(span, "").context(span, "é");
                    for look in [Look::Plain, Look::Color, Look::Short, Look::Json] {
                        assert!(all(&sources, std::slice::from_ref(&finding), look).contains("some-rule"));
                    }
                }
            }
        }
    }
}

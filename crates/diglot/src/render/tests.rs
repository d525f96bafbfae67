//! How findings look, and that no span brings a renderer down.

use super::*;
use crate::evidence::{Scope, Verdict, Witness};
use crate::project::Detail;
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
        crate::rule::WHERE_DIFFERS,
        "lease_get: WHERE has a condition on SQLite alone",
        span(lite, "über = 1"),
        "only here",
    )
    .and(span(pg, "id = :id"), "nothing like it here")
    .context(span(lite, "lease_get"), "this statement")
    .note("conditions are compared one by one")
    .help("add the condition to the Postgres page, or write `-- diverges(where): REASON`")
    .suggest("delete it", span(lite, "über = 1"), "");
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
],"notes":["conditions are compared one by one"],"help":["add the condition to the Postgres page, or write `-- diverges(where): REASON`"],"suggestions":[{"message":"delete it","safe":false,"edits":[
{"file":"sql/sqlite/lease.sql","byte_start":73,"byte_end":82,"replacement":""}]}]}"#;
    assert_eq!(json(&sources, &finding), expected.replace('\n', ""));
}

#[test]
fn a_workflow_command_is_one_line_whatever_the_words_are() {
    let (sources, mut finding) = pair();
    finding.message = "a\n::error::b 100%".to_owned();
    finding.help.clear();
    assert_eq!(
        github(&sources, &finding),
        "::error file=sql/sqlite/lease.sql,line=5,endLine=5,col=8,endColumn=16,title=where-differs::\
         a%0A::error::b 100%25%0Anote: conditions are compared one by one"
    );
    assert_eq!(all(&sources, &[finding.clone(), finding], Look::Github).lines().count(), 2);
}

#[test]
fn sarif_is_one_document_with_rules_places_and_changes() {
    let (sources, finding) = pair();
    let read = |findings: &[Diagnostic]| -> serde_json::Value {
        serde_json::from_str(&all(&sources, findings, Look::Sarif)).unwrap()
    };
    let document = read(&[finding.clone(), finding]);
    assert_eq!(document["version"], "2.1.0");
    let run = &document["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(rules.len(), 1);
    assert_eq!(rules[0]["id"], "where-differs");
    assert!(rules[0]["help"]["text"].as_str().unwrap().len() > 20);
    let result = &run["results"][1];
    assert_eq!((&result["ruleIndex"], &result["level"]), (&0.into(), &"error".into()));
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "sql/sqlite/lease.sql");
    assert_eq!(place["region"], serde_json::json!({ "startLine": 5, "startColumn": 8, "endLine": 5, "endColumn": 16 }));
    assert_eq!(result["relatedLocations"].as_array().unwrap().len(), 2);
    assert_eq!(result["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"]["text"], "");
    assert_eq!(read(&[])["runs"][0]["results"], serde_json::json!([]));
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
                    let finding =
                        Diagnostic::error(crate::rule::SYNTAX, "a\nb", span, "c\nd").and(span, "").context(span, "é");
                    let finding = finding.fix("f", span, "g");
                    for look in [Look::Plain, Look::Color, Look::Short, Look::Json, Look::Sarif, Look::Github] {
                        assert!(all(&sources, std::slice::from_ref(&finding), look).contains("syntax"));
                    }
                }
            }
        }
    }
}

/// What running has shown of three pairs: one that differs, one that is the same, one of which it says nothing.
fn verdicts() -> [Verdict; 3] {
    let row = [("id", "int:1"), ("epoch", "int:3")].map(|(name, word)| (name.to_owned(), word.to_owned())).into();
    let witness = Witness {
        what: "the rows differ".into(),
        rows: [("lease".to_owned(), vec![row])].into(),
        args: [("id".to_owned(), "int:1".to_owned())].into(),
        sqlite: vec!["epoch = 3".into()],
        pg: vec!["no row".into()],
        ..Witness::default()
    };
    let scope = Scope { databases: 1_374, rows: 3, values: 14, noticed: 9, changes: 9, ..Scope::default() };
    let scope = Scope { not_covered: vec!["the order of languages".into()], ..scope };
    [
        Verdict::Differs(Box::new(witness)),
        Verdict::Same(scope),
        Verdict::Unknown { reason: "no row can be made".into() },
    ]
}

fn told(look: Look, detail: Detail) -> String {
    let (sources, mut finding) = pair();
    let verdicts = verdicts();
    if let Verdict::Differs(witness) = &verdicts[0] {
        finding.notes = witness.notes(detail);
    }
    let place = finding.labels[2].span;
    let ran: Vec<Ran<'_>> = ["lease_get", "lease_list", "lease_end"]
        .into_iter()
        .zip(&verdicts)
        .map(|(name, verdict)| Ran { name, place, verdict })
        .collect();
    with_verdicts(&sources, &[finding], &ran, (look, detail))
}

#[test]
fn people_see_the_database_and_one_line_for_what_is_the_same_when_run() {
    insta::assert_snapshot!(told(Look::Plain, Detail::Short));
}

#[test]
fn who_asks_for_all_of_it_has_a_sentence_for_each_pair() {
    let told = told(Look::Plain, Detail::Whole);
    assert!(
        told.contains("note: lease_list: equal on all 1,374 databases") && told.contains("9 of 9 one-sided"),
        "{told}"
    );
    assert!(told.ends_with("Not covered: the order of languages.\n"), "{told}");
}

#[test]
fn machines_get_an_object_for_each_verdict() {
    insta::assert_snapshot!(told(Look::Json, Detail::Short));
}

#[test]
fn a_document_for_code_scanning_has_a_passed_check_for_what_is_the_same_when_run() {
    let document = told(Look::Sarif, Detail::Short);
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    insta::assert_snapshot!(serde_json::to_string_pretty(&document["runs"][0]["results"]).unwrap());
}

#[test]
fn an_annotation_shows_the_database_and_a_notice_what_is_the_same_when_run() {
    insta::assert_snapshot!(told(Look::Github, Detail::Short));
}

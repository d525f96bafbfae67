//! Splitting: what is read from a file.

use super::*;
use crate::render;
use crate::source::SourceFile;

/// The findings about a text, as a user reads them.
pub(super) fn said(dialect: Dialect, text: &str) -> String {
    let (sources, _, found) = page(dialect, text);
    render::all(&sources, &found, render::Look::Plain)
}

pub(super) fn page(dialect: Dialect, text: &str) -> (Sources, Page, Vec<Diagnostic>) {
    let mut sources = Sources::default();
    let file = sources.add(SourceFile::new("sql/lease.sql", text));
    let (page, found) = split(&sources, file, (dialect, Readers::One), "lease");
    (sources, page, found)
}

/// The page of a text without findings.
fn clean(dialect: Dialect, text: &str) -> (Sources, Page) {
    let (sources, page, found) = page(dialect, text);
    assert!(found.is_empty(), "{found:#?}");
    (sources, page)
}

fn parts(sources: &Sources, statement: &RawStatement) -> Vec<String> {
    statement.parts.iter().map(|part| sources.text(part.span).to_owned()).collect()
}

#[test]
fn a_statement_keeps_its_documentation_annotations_and_exact_text() {
    let text = "-- About this file.\n\n-- Reads a lease.\n--\n-- diverges(where.partition_key): SQLite has no partitions.\n--   Indented.\n\
                -- name: lease_get :opt\n-- param: x text null\n-- A remark.\n\nSELECT ';' -- inside; this\n  FROM lease ; -- allow(shard-key): a short trailing remark\n\n";
    for newline in ["\n", "\r\n"] {
        let (sources, page) = clean(Dialect::Pg, &text.replace('\n', newline));
        let [statement] = &page.statements[..] else { panic!("{page:#?}") };
        assert_eq!(statement.name, "lease_get");
        assert_eq!(statement.cardinality, Cardinality::Opt);
        assert_eq!(sources.text(statement.cardinality_span), ":opt");
        assert_eq!(sources.text(statement.name_span), "lease_get");
        assert_eq!(sources.text(statement.header_span), "-- name: lease_get :opt");
        assert_eq!(statement.docs, ["Reads a lease.", "", "  Indented."]);
        assert_eq!(parts(&sources, statement), [format!("SELECT ';' -- inside; this{newline}  FROM lease")]);
        assert!(sources.text(statement.span).starts_with("-- name") && sources.text(statement.span).ends_with("lease"));
        let spans: Vec<&str> = statement.annotations.iter().map(|a| sources.text(a.span)).collect();
        assert_eq!(
            spans,
            [
                "-- diverges(where.partition_key): SQLite has no partitions.",
                "-- param: x text null",
                "-- allow(shard-key): a short trailing remark"
            ]
        );
    }
}

#[test]
fn every_annotation_is_understood() {
    let (sources, page) = clean(
        Dialect::Sqlite,
        "-- name: lease_get :one\n-- diverges(lock): one writer at a time\n-- only: pg — three words here\n\
         -- column: a text[]\n-- param: b i64 null\n-- allow(unordered-one): by primary key alone\nSELECT 1",
    );
    let kinds: Vec<String> = page.statements[0].annotations.iter().map(|a| format!("{:?}", a.kind)).collect();
    let AnnotationKind::Diverges { fact_span, .. } = &page.statements[0].annotations[0].kind else {
        panic!("{kinds:?}")
    };
    assert_eq!(sources.text(*fact_span), "lock");
    assert!(kinds[0].contains("fact: \"lock\", item: None") && kinds[0].contains("reason: \"one writer at a time\""));
    assert_eq!(kinds[1], "Only { dialect: Pg, reason: \"three words here\" }");
    assert_eq!(kinds[2], "Column { name: \"a\", ty: Type { base: TextArray, nullable: false } }");
    assert_eq!(kinds[3], "Param { name: \"b\", ty: Type { base: Int64, nullable: true } }");
    assert_eq!(kinds[4], "Allow { rule: \"unordered-one\", reason: \"by primary key alone\" }");
}

#[test]
fn the_reason_of_only_may_follow_any_dash_or_a_colon() {
    for mark in ["—", "--", "-", ":", "–"] {
        let (_, page) =
            clean(Dialect::Pg, &format!("-- name: a_b :exec\n-- only: sqlite {mark} has no such thing\nSELECT 1;"));
        let AnnotationKind::Only { dialect, reason } = &page.statements[0].annotations[0].kind else { panic!() };
        assert_eq!((*dialect, reason.as_str()), (Dialect::Sqlite, "has no such thing"));
    }
}

#[test]
fn a_unit_is_split_at_its_semicolons_and_knows_which_part_returns() {
    let (sources, page) = clean(
        Dialect::Sqlite,
        "-- name: a_b :one\nUPDATE t SET a = 'x;y';\n-- returns\nSELECT 1;\n-- allow(some-rule): stands between two parts\nDELETE FROM t;;\n\
         -- name: c_d :exec\nDELETE FROM u",
    );
    assert_eq!(parts(&sources, &page.statements[0]), ["UPDATE t SET a = 'x;y'", "SELECT 1", "DELETE FROM t"]);
    let returns: Vec<bool> = page.statements[0].parts.iter().map(|part| part.returns).collect();
    assert_eq!(returns, [false, true, false]);
    assert_eq!(page.statements[0].annotations.len(), 1);
    assert_eq!(parts(&sources, &page.statements[1]), ["DELETE FROM u"]);
}

#[test]
fn a_byte_order_mark_is_not_sql() {
    let (sources, page) = clean(Dialect::Pg, "\u{feff}-- name: a_b :exec\nSELECT 1;");
    assert_eq!(parts(&sources, &page.statements[0]), ["SELECT 1"]);
}

#[test]
fn the_cardinalities_of_sqlc_are_read_as_rows() {
    for word in ["rows", "execrows", "execresult"] {
        let (_, page) = clean(Dialect::Pg, &format!("-- name: a_b :{word}\nDELETE FROM t"));
        assert_eq!(page.statements[0].cardinality, Cardinality::Rows);
    }
}

#[test]
fn prose_stays_prose() {
    for prose in [
        "Only the owner may renew; the rest wait.",
        "only rows of this worker: the others are skipped",
        "returns the row",
        "if the lease has run out, nothing happens",
        "end of the section",
        "note: this is slow",
        "same: as above",
        "name of the worker",
        "greatest(a, b): picks the later one",
        "column widths differ a little",
        "param is the time",
        "allow what the policy allows: nothing else",
        "SELECT 1; was here",
        "All: of them",
        "----",
        "end.",
        "ende: x",
        "",
    ] {
        let (_, page) =
            clean(Dialect::Pg, &format!("-- {prose}\n-- name: a_b :one\n-- {prose}\nSELECT 1;\n\n-- {prose}\n"));
        assert!(page.statements[0].annotations.is_empty(), "{prose}");
    }
}

#[test]
fn a_finding_does_not_bring_on_another() {
    let text = "-- name: lease_get\n-- only: postgres — has no such thing here\n-- param: id bigint\nSELECT 1;\n\n\
                -- name: Lease_Put :one\n-- diverges(lock) one writer at a time\nSELECT 'a;\n\n-- name: lease_get :many\nSELECT 2;\n\n\
                -- name: lease_end :exec\n\n-- name: lease_run\nDELETE FROM lease;\n";
    let (_, page, found) = page(Dialect::Pg, text);
    assert_eq!(found.len(), 9, "{found:#?}");
    let kept: Vec<_> = page.statements.iter().map(|s| (s.name.as_str(), s.cardinality, s.annotations.len())).collect();
    assert_eq!(kept, [("lease_get", Cardinality::Many, 2), ("lease_run", Cardinality::Exec, 0)]);
    assert_eq!(page.broken, ["lease_put", "lease_end"]);
}

#[test]
fn splitting_any_text_ends_without_a_panic_and_within_the_text() {
    let pieces = [
        "-- name: a_b :one",
        "--",
        "-- returns",
        "-- only:",
        "-- only: pg é",
        "-- diverges(",
        "-- diverges(é.ü): x",
        "-- param: é",
        "-- allow()",
        "'",
        "\"",
        "/*",
        "*/",
        "$$",
        ";",
        "SELECT é",
        "-- name:",
        "-- name: é :one",
        "-- only: —",
        "/* name: */",
        "-- column: a text null null",
        "-- end",
        "-- if:",
        "\r",
        "\u{feff}",
    ];
    let mut state = 7_u32;
    for _ in 0..3000 {
        let mut text = String::new();
        for _ in 0..8 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            text.push_str(pieces[(state >> 8) as usize % pieces.len()]);
            text.push_str([" ", "\n", "\n\n", "\r\n"][(state >> 28) as usize % 4]);
        }
        for dialect in Dialect::ALL {
            let (sources, page, found) = page(dialect, &text);
            let labels = found.iter().flat_map(|finding| finding.labels.iter().map(|label| label.span));
            let parts = page.statements.iter().flat_map(|s| s.parts.iter().map(|part| part.span));
            for span in labels.chain(parts) {
                assert!(sources.file(span.file).text.get(span.range()).is_some(), "{text:?} {span:?}");
            }
            render::all(&sources, &found, render::Look::Plain);
        }
    }
}

#[test]
fn a_quote_that_is_open_ends_with_its_literal() {
    let go = "const first = `SELECT 'a FROM lease`\nconst second = `SELECT 1 FROM lease`\n";
    let mut sources = Sources::default();
    let file = sources.add(crate::extract::read("store/lease.go", go, crate::source::Role::Statements));
    let (page, found) = split(&sources, file, (Dialect::Sqlite, Readers::One), "lease");
    let names: Vec<&str> = page.statements.iter().map(|statement| statement.name.as_str()).collect();
    assert_eq!(names, ["second"]);
    assert_eq!(found.iter().map(|finding| finding.rule).collect::<Vec<_>>(), ["unterminated"]);
}

//! What an editor is told, on small projects.

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::{CompletionKind, Desk, Place, RenameError, SymbolKind};
use diglot::diagnostic::Edit;
use diglot::evidence::{Evidence, Record, Scope, VERSION, Verdict, Witness};
use diglot::project::Inputs;
use diglot::source::{FileId, SourceFile, Span};

const SCHEMAS: [(&str, &str); 2] = [
    (
        "schema/sqlite/1.sql",
        "CREATE TABLE job (id BLOB PRIMARY KEY, lane TEXT NOT NULL, due_ms INTEGER NOT NULL, owner TEXT) STRICT;\n\
         CREATE TABLE lane (name TEXT PRIMARY KEY, paused INTEGER NOT NULL DEFAULT 0) STRICT;\n",
    ),
    (
        "schema/pg/1.sql",
        "CREATE TABLE job (id uuid PRIMARY KEY, lane text NOT NULL, due_ms bigint NOT NULL, owner text);\n\
         CREATE TABLE lane (name text PRIMARY KEY, paused boolean NOT NULL DEFAULT false);\n",
    ),
];

const TAKE: &str = "-- Gives a job to somebody.\n-- name: job_take :rows\n-- param: owner text\nUPDATE job SET owner = :owner\n \
                    WHERE id = :id AND due_ms < :now_ms;\n";
const DUE: &str = "-- name: job_due :many\nWITH next AS (\n  SELECT j.id, j.due_ms AS at_ms FROM job j WHERE j.lane = :lane\n)\n\
                   SELECT next.id, next.at_ms, lane.paused\n  FROM next JOIN lane ON lane.name = :lane\n ORDER BY next.at_ms, next.id;\n";

fn inputs(files: &[(&str, &str)]) -> Inputs {
    let mut inputs = Inputs { threads: 2, ..Inputs::default() };
    for (path, text) in SCHEMAS.iter().chain(files) {
        inputs.sources.add(SourceFile::new(*path, *text));
    }
    inputs
}

/// A project with both pages of `job`; the cursor is where `‸` stands on the Postgres page.
fn at(sqlite: &str, pg: &str) -> (Desk, Place) {
    let offset = pg.find('‸').unwrap();
    let desk = Desk::new(inputs(&[("sql/sqlite/job.sql", sqlite), ("sql/pg/job.sql", &pg.replace('‸', ""))]));
    (desk, Place { file: FileId(3), offset })
}

/// The cursor in front of a piece of the Postgres page, which is the same as the other.
fn on(page: &str, piece: &str) -> (Desk, Place) {
    let start = page.find(piece).unwrap();
    at(page, &format!("{}‸{}", &page[..start], &page[start..]))
}

fn text(desk: &Desk, span: Span) -> (String, String) {
    let sources = &desk.inputs().sources;
    (sources.file(span.file).path.clone(), sources.text(span).to_owned())
}

fn labels((mut desk, place): (Desk, Place)) -> Vec<String> {
    desk.completions(place).into_iter().map(|completion| completion.label).collect()
}

/// The files after some changes.
fn changed(desk: &Desk, edits: &[Edit]) -> Vec<String> {
    let mut edits = edits.to_vec();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span));
    let mut texts: Vec<String> = desk.inputs().sources.iter().map(|(_, file)| file.text.clone()).collect();
    for edit in edits {
        texts[edit.span.file.0 as usize].replace_range(edit.span.range(), &edit.text);
    }
    texts
}

#[test]
fn words_are_shown_with_what_they_are() {
    for (page, piece, expected) in [
        (TAKE, "job_take", "job_take(owner: text, id: uuid, now_ms: i64) :rows"),
        (TAKE, "job_take", "SQLite, `sql/sqlite/job.sql:2`"),
        (TAKE, "UPDATE", "Gives a job to somebody."),
        (TAKE, ":now_ms", ":now_ms i64"),
        (TAKE, "owner text", ":owner text"),
        (TAKE, "job SET", "| id | bytes, key | uuid, key |"),
        (TAKE, "due_ms <", "* Postgres: `i64`, declared `bigint`"),
        (DUE, "paused\n", "* SQLite: `i64`, declared `integer`"),
        (DUE, "at_ms,", "next.at_ms: i64"),
        (DUE, "j WHERE", "**job** (table)"),
        (DUE, "lane.paused", "**lane** (table)"),
    ] {
        let (mut desk, place) = on(page, piece);
        let hover = desk.hover(place).unwrap_or_else(|| panic!("{piece}"));
        assert!(hover.markdown.contains(expected), "{piece}: {}", hover.markdown);
    }
    let (mut desk, place) = at(TAKE, &format!("‸\n\n{TAKE}"));
    assert_eq!(desk.hover(place), None);
}

#[test]
fn rules_are_explained_where_they_are_named() {
    let page = TAKE.replace("-- param: owner text\n", "-- allow(stale-write): nobody else writes it\n");
    let (mut desk, place) = on(&page, "stale-write");
    assert!(desk.hover(place).unwrap().markdown.starts_with("**stale-write**: "));
    let page = TAKE.replace("-- param: owner text\n", "-- diverges(where.id): it is meant to be so\n");
    let (mut desk, place) = on(&page, "where.id");
    assert!(desk.hover(place).unwrap().markdown.starts_with("**where-differs**: "));
}

#[test]
fn names_lead_to_where_they_come_from() {
    for (page, piece, path, expected) in [
        (TAKE, "job_take", "sql/sqlite/job.sql", "job_take"),
        (TAKE, "job SET", "schema/pg/1.sql", "job"),
        (TAKE, ":owner", "sql/pg/job.sql", "-- param: owner text"),
        (TAKE, ":now_ms", "sql/pg/job.sql", ":now_ms"),
        (DUE, "at_ms,", "sql/pg/job.sql", "j.due_ms AS at_ms"),
        (DUE, "lane = :lane", "schema/pg/1.sql", "lane text NOT NULL"),
        (DUE, "paused\n", "schema/pg/1.sql", "paused boolean NOT NULL DEFAULT false"),
    ] {
        let (mut desk, place) = on(page, piece);
        let found = desk.definition(place).unwrap_or_else(|| panic!("{piece}"));
        let (file, said) = text(&desk, found);
        assert!(file == path && expected.starts_with(&said), "{piece}: {file} {said}");
    }
    let (mut desk, place) = on(TAKE, ":now_ms");
    let facing = desk.facing(place).unwrap();
    assert_eq!(text(&desk, facing), ("sql/sqlite/job.sql".to_owned(), "job_take".to_owned()));
}

#[test]
fn what_may_stand_somewhere_is_offered_also_while_the_page_is_broken() {
    let take = |from: &str, to: &str| at(TAKE, &TAKE.replacen(from, to, 1));
    assert_eq!(labels(take(":now_ms;", ":‸")), ["owner", "id", "now_ms"]);
    assert!(labels(take("due_ms <", "job.‸ <")).contains(&"due_ms".to_owned()));
    assert!(labels(take("AND due_ms", "AND d‸")).contains(&"due_ms".to_owned()));
    let tables = labels(take("UPDATE job", "UPDATE ‸"));
    assert!(tables.contains(&"job".to_owned()) && tables.contains(&"lane".to_owned()), "{tables:?}");
    assert!(!tables.contains(&"due_ms".to_owned()), "{tables:?}");
    // The columns of a CTE are known from the facing page.
    let broken = DUE.replacen("next.at_ms,", "next.‸,", 1).replacen("ORDER BY", "ORDER", 1);
    assert_eq!(labels(at(DUE, &broken)), ["id", "at_ms"]);
    let tables = labels(at(DUE, &DUE.replacen("FROM next", "FROM ‸", 1)));
    assert!(tables.contains(&"next".to_owned()) && tables.contains(&"lane".to_owned()), "{tables:?}");
    // Text and comments are nobody's business.
    assert!(labels(take(":now_ms;", "'a ‸'")).is_empty());
    assert!(labels(take(":now_ms;", "5 -- see job.‸ there\n;")).is_empty());
}

#[test]
fn annotations_are_completed_word_by_word() {
    let line = |line: &str| at(TAKE, &TAKE.replacen("-- param: owner text\n", &format!("{line}\n"), 1));
    assert!(labels(line("-- ‸")).contains(&"diverges".to_owned()));
    assert_eq!(labels(line("-- param: ‸")), ["owner", "id", "now_ms"]);
    assert!(labels(line("-- param: owner ‸")).contains(&"uuid".to_owned()));
    assert_eq!(labels(line("-- only: ‸")), ["sqlite", "pg"]);
    assert!(labels(line("-- allow(un‸")).contains(&"unlocked-claim".to_owned()));
    assert!(labels(line("-- diverges(‸")).contains(&"where".to_owned()));
    assert_eq!(labels(at(TAKE, &TAKE.replacen(":rows", "‸", 1))).len(), 6);
    assert_eq!(labels(at(&format!("{TAKE}\n{DUE}"), &format!("{TAKE}\n-- name: ‸"))), ["job_due"]);
    let (mut desk, place) = line("--‸");
    let word = desk.completions(place).into_iter().find(|completion| completion.label == "allow").unwrap();
    assert_eq!((word.text.as_str(), word.kind), (" allow(", CompletionKind::Word));
}

#[test]
fn a_parameter_is_renamed_on_both_pages_and_in_its_annotations() {
    let page = "-- name: job_find :many\n-- param: lane text\n-- diverges(params.lane): lane is meant to differ\n\
                SELECT id FROM job\n WHERE due_ms > 0\n-- if: lane\n   AND lane = :lane\n-- end\n ORDER BY id;\n";
    let (mut desk, place) = on(page, ":lane");
    let edits = desk.rename(place, "track").unwrap();
    let texts = changed(&desk, &edits);
    let expected = page
        .replace(":lane", ":track")
        .replace("param: lane", "param: track")
        .replace("if: lane", "if: track")
        .replace("params.lane", "params.track");
    assert_eq!((texts[2].as_str(), texts[3].as_str()), (expected.as_str(), expected.as_str()));
    assert_eq!(desk.references(place).len(), 8);
    let name = desk.renamed(place).unwrap();
    assert_eq!(text(&desk, name).1, "lane");
}

#[test]
fn a_name_that_cannot_be_is_refused() {
    let (mut desk, place) = on(TAKE, ":owner");
    assert_eq!(desk.rename(place, "id"), Err(RenameError::Taken("id".to_owned())));
    for name in ["Owner", "self", "own er", "", "1a"] {
        assert_eq!(desk.rename(place, name), Err(RenameError::BadName(name.to_owned())));
    }
    let (mut desk, place) = on(TAKE, "due_ms");
    assert_eq!(desk.rename(place, "x"), Err(RenameError::NoParameter));
    let numbered = "-- name: job_gone :exec\nDELETE FROM job WHERE id = $1;\n";
    let (mut desk, place) = at(&numbered.replace('$', "?"), &numbered.replace("$1", "‸$1"));
    assert_eq!(desk.rename(place, "x"), Err(RenameError::Unnamed("id".to_owned())));
}

#[test]
fn what_is_shared_is_known_and_not_renamed_for_one_statement_alone() {
    let page = "-- part: ripe\nWITH ripe AS (SELECT id FROM job WHERE due_ms < :now_ms);\n\n-- name: job_ripe :many\n-- use: ripe\n\
                SELECT id FROM ripe WHERE id <> :id ORDER BY id;\n";
    let (mut desk, place) = on(page, ":id");
    let found = desk.check(&|| true).unwrap().diagnostics;
    assert!(found.is_empty(), "{found:#?}");
    assert!(desk.hover(place).unwrap().markdown.contains(":id uuid"));
    assert_eq!(desk.rename(place, "this").unwrap().len(), 2);
    // Inside of the part no statement stands.
    let (mut desk, place) = on(page, ":now_ms");
    assert_eq!(desk.rename(place, "at_ms"), Err(RenameError::NoParameter));
    let used = page.replace("id <> :id", "id <> :id AND :now_ms > 0");
    let (mut desk, place) = on(&used, ":now_ms >");
    assert_eq!(desk.rename(place, "at_ms"), Err(RenameError::Shared("now_ms".to_owned())));
    let (desk, place) = at(page, &page.replace("use: ripe", "use: ‸"));
    assert_eq!(labels((desk, place)), ["ripe"]);
    let taking = page.replace("part: ripe", "part: ripe(:until)").replace(":now_ms", ":until");
    let (desk, place) =
        at(&taking.replace("use: ripe", "use: ripe(until = :now_ms)"), &taking.replace("use: ripe", "use: ripe(‸"));
    assert_eq!(labels((desk, place)), ["until"]);
}

#[test]
fn a_difference_can_be_declared_and_the_declaration_asks_for_its_reason() {
    let pg = TAKE.replace("due_ms <", "due_ms <=");
    let mut desk = Desk::new(inputs(&[("sql/sqlite/job.sql", TAKE), ("sql/pg/job.sql", &pg)]));
    let found = desk.check(&|| true).unwrap().diagnostics;
    assert_eq!(found.iter().map(|finding| finding.rule).collect::<Vec<_>>(), ["where-differs"]);
    let here = found[0].labels.iter().find(|label| label.span.file == FileId(3)).unwrap().span;
    let actions = desk.actions(&found, here);
    let declare = actions.iter().find(|action| action.title.contains("-- diverges(where.")).unwrap();
    assert!(!declare.safe);
    let texts = changed(&desk, &declare.edits);
    let mut desk = Desk::new(inputs(&[("sql/sqlite/job.sql", &texts[2]), ("sql/pg/job.sql", &texts[3])]));
    let found = desk.check(&|| true).unwrap().diagnostics;
    assert_eq!(found.iter().map(|finding| finding.rule).collect::<Vec<_>>(), ["missing-reason"], "{}", texts[3]);
    let reason = texts[3].replace("<why the pages may differ here>", "both are right on whole milliseconds");
    let mut desk = Desk::new(inputs(&[("sql/sqlite/job.sql", &texts[2]), ("sql/pg/job.sql", &reason)]));
    assert!(desk.check(&|| true).unwrap().diagnostics.is_empty(), "{reason}");
}

#[test]
fn what_is_not_needed_can_be_deleted_with_its_line() {
    let pg = TAKE.replace("-- param: owner text\n", "-- diverges(order): they are sorted by nobody\n");
    let mut desk = Desk::new(inputs(&[("sql/sqlite/job.sql", TAKE), ("sql/pg/job.sql", &pg)]));
    let found = desk.check(&|| true).unwrap().diagnostics;
    let action = desk.actions(&found, found[0].labels[0].span).into_iter().find(|action| action.safe).unwrap();
    assert_eq!(changed(&desk, &action.edits)[3], pg.replace("-- diverges(order): they are sorted by nobody\n", ""));
    assert!(desk.actions(&found, Span::new(FileId(3), pg.len()..pg.len())).is_empty());
}

#[test]
fn a_file_is_outlined() {
    let both = format!("{TAKE}\n{DUE}");
    let mut desk = Desk::new(inputs(&[("sql/sqlite/job.sql", &both), ("sql/pg/job.sql", &both)]));
    let names: Vec<String> = desk.symbols(FileId(3)).into_iter().map(|symbol| symbol.name + &symbol.detail).collect();
    assert_eq!(names, ["job_take:rows", "job_due:many"]);
    let tables = desk.symbols(FileId(1));
    assert_eq!((tables[0].name.as_str(), tables[0].kind, tables[0].children.len()), ("job", SymbolKind::Table, 4));
    assert_eq!(desk.statements_like("TAKE").len(), 2);
}

/// All that a run gives.
fn told(compiled: &diglot::Compiled) -> String {
    let diglot::Compiled { diagnostics, keys, known, left_out, signatures, texts, stats, statements, .. } = compiled;
    format!("{diagnostics:#?}{keys:#?}{known:#?}{left_out:?}{signatures:#?}{texts:#?}{stats:?}{statements:?}")
}

#[test]
fn a_check_that_was_interrupted_goes_on_where_it_was() {
    let pages: Vec<String> = (0..9).map(|at| TAKE.replace("job_take", &format!("job_take_{at}"))).collect();
    let page = pages.join("\n");
    let inputs = inputs(&[("sql/sqlite/job.sql", &page), ("sql/pg/job.sql", &page.replace("due_ms <", "due_ms <="))]);
    let mut desk = Desk::new(Inputs { threads: 1, ..inputs.clone() });
    let asked = AtomicUsize::new(0);
    assert!(desk.check(&|| asked.fetch_add(1, Ordering::Relaxed) < 4).is_none());
    let again = AtomicUsize::new(0);
    let compiled = desk.check(&|| again.fetch_add(1, Ordering::Relaxed) < 99).unwrap();
    assert_eq!(told(&compiled), told(&diglot::check(&inputs)));
}

const PIECES: [&str; 14] = [
    "\n",
    "-- ",
    "-- name: job_new :one\n",
    "'",
    "/*",
    ";",
    " AND lane = :lane",
    "é",
    "<",
    "-- diverges(where): nobody knows why\n",
    "-- transaction: take\n",
    "-- allow(unlocked-claim): it is meant\n",
    "SELECT 1",
    "-- only: pg — for one alone\n",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Whatever is typed, a check that knows the one before says what a check that knows nothing says, and no question
    /// about any place fails.
    #[test]
    fn what_is_kept_changes_nothing(
        edits in proptest::collection::vec((2..4_usize, 0..400_usize, 0..12_usize, 0..PIECES.len()), 1..8),
    ) {
        let both = format!("{TAKE}\n{DUE}\n{}", TAKE.replace("job_take", "job_grab"));
        let mut texts: Vec<String> = SCHEMAS.iter().map(|(_, text)| (*text).to_owned()).collect();
        texts.extend([both.clone(), both.replace("due_ms <", "due_ms <=")]);
        let mut desk = Desk::default();
        for (file, start, length, piece) in edits {
            let text = &mut texts[file];
            let floor = |at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap();
            let (start, end) = (floor(start), floor(start + length));
            text.replace_range(start..end.max(start), PIECES[piece]);
            let now = inputs(&[("sql/sqlite/job.sql", &texts[2]), ("sql/pg/job.sql", &texts[3])]);
            desk.put(now.clone());
            let kept = desk.check(&|| true).unwrap();
            prop_assert_eq!(told(&kept), told(&diglot::check(&now)));
            let place = Place { file: FileId(file as u32), offset: start + PIECES[piece].len() };
            desk.hover(place);
            desk.definition(place);
            desk.completions(place);
            desk.rename(place, "other").ok();
            desk.actions(&kept.diagnostics, Span::new(place.file, 0..texts[file].len()));
        }
    }
}

#[test]
fn a_statement_tells_what_running_it_has_shown() {
    let (mut desk, place) = on(TAKE, "job_take :rows");
    let compiled = desk.check(&|| true).unwrap();
    let row = [("due_ms", "int:1"), ("owner", "null")].map(|(name, word)| (name.to_owned(), word.to_owned())).into();
    let witness = Witness {
        what: "the rows of `job` afterwards differ".into(),
        rows: [("job".to_owned(), vec![row])].into(),
        sqlite: vec!["1 row".into()],
        pg: vec!["0 rows".into()],
        ..Witness::default()
    };
    let scope = Scope { databases: 12, rows: 2, values: 5, noticed: 7, changes: 8, ..Scope::default() };
    let verdicts =
        [Verdict::Differs(Box::new(witness)), Verdict::Same(scope), Verdict::Unknown { reason: "no row".into() }];
    let told = verdicts.map(|verdict| {
        let record = Record { basis: compiled.weighed[0].basis.clone(), verdict };
        let pairs = [("job_take".to_owned(), record)].into();
        let evidence = Evidence { version: VERSION, engines: String::new(), pairs, steps: Vec::new() };
        desk.put(Inputs { evidence: Some(evidence.to_text()), ..desk.inputs().clone() });
        desk.check(&|| true).unwrap();
        desk.hover(place).unwrap().markdown
    });
    insta::assert_snapshot!(told.join("\n---\n"));
}

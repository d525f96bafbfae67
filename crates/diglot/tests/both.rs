//! `-- both`: a text that stands on one page is read by both dialects, compared, checked and generated as if it stood on
//! each.

use diglot::config::Config;
use diglot::dialect::Dialect;
use diglot::source::{SourceFile, Sources};
use diglot::{Compiled, Inputs, compile};
use diglot_tools::editor::{Desk, Place};
use diglot_tools::mutate::{self, Against, Sample};
use diglot_tools::translate::translate;

const SQLITE: &str =
    "CREATE TABLE job (id INTEGER NOT NULL PRIMARY KEY, lane TEXT NOT NULL, n INTEGER NOT NULL, doc TEXT NOT NULL);";
const PG: &str =
    "CREATE TABLE job (id bigint NOT NULL PRIMARY KEY, lane text NOT NULL, n integer NOT NULL, doc jsonb NOT NULL);";

fn inputs(files: &[(&str, &str)]) -> Inputs {
    let mut sources = Sources::default();
    sources.add(SourceFile::new("schema/sqlite/0001_all.sql", SQLITE));
    sources.add(SourceFile::new("schema/pg/0001_all.sql", PG));
    for (path, text) in files {
        sources.add(SourceFile::new(format!("sql/{path}"), *text));
    }
    Inputs { config: Config::default(), sources, ..Inputs::default() }
}

fn compiled(files: &[(&str, &str)]) -> Compiled {
    compile(&inputs(files))
}

/// Rule, message and the line under the caret of every finding.
fn found(files: &[(&str, &str)]) -> Vec<String> {
    let inputs = inputs(files);
    let told = |finding: &diglot::diagnostic::Diagnostic| {
        let place = finding.labels.first().map(|label| label.span);
        let (path, at) = place.map_or(("", ""), |at| (&*inputs.sources.file(at.file).path, inputs.sources.text(at)));
        format!("{}: {} [{path}: {}]", finding.rule, finding.message, at.lines().next().unwrap_or_default())
    };
    compile(&inputs).diagnostics.iter().map(told).collect()
}

const LOCK: [&str; 2] = [
    "-- Keeps a job.\n-- name: job_keep :opt\nSELECT id FROM job WHERE id = :id;\n",
    "-- name: job_keep :opt\n-- diverges(lock): SQLite has one writer.\nSELECT id FROM job WHERE id = :id FOR UPDATE;\n",
];
const LIST: &str = "-- name: job_list :many\nSELECT id, lane, n FROM job WHERE n > :least ORDER BY id;\n";
const MOVE: &str = "-- name: job_move :rows\nUPDATE job SET lane = :lane WHERE id = :id;\n";

fn marked(statement: &str) -> String {
    format!("-- both\n{statement}")
}

#[test]
fn what_stands_once_gives_what_it_gives_when_it_stands_twice() {
    let twice = [LOCK[0], LIST, MOVE].join("\n");
    let facing = [LOCK[1], LIST, MOVE].join("\n");
    let expected = compiled(&[("sqlite/job.sql", &twice), ("pg/job.sql", &facing)]);
    assert!(expected.diagnostics.is_empty(), "{:?}", expected.diagnostics);
    let once = [LOCK[0].to_owned(), marked(LIST), marked(MOVE)].join("\n");
    let given = compiled(&[("sqlite/job.sql", &once), ("pg/job.sql", LOCK[1])]);
    assert!(given.diagnostics.is_empty(), "{:?}", given.diagnostics);
    assert_eq!(given.rust, expected.rust);
    assert_eq!(given.statements, (3, 0));
    assert_eq!(given.stats, expected.stats);
    // Either page may have it, and a mark may stand below the header.
    let below = LIST.replace(":many\n", ":many\n-- both\n");
    let sqlite = [LOCK[0], MOVE].join("\n");
    let pg = [below, LOCK[1].to_owned(), MOVE.to_owned()].join("\n");
    let given = compiled(&[("sqlite/job.sql", &sqlite), ("pg/job.sql", &pg)]);
    assert!(given.diagnostics.is_empty(), "{:?}", given.diagnostics);
    assert_eq!(given.statements, (3, 0));
}

#[test]
fn a_noun_that_is_the_same_for_both_has_one_page() {
    let all = compiled(&[("sqlite/job.sql", &marked(LIST)), ("sqlite/other.sql", LOCK[0]), ("pg/other.sql", LOCK[1])]);
    assert!(all.diagnostics.is_empty(), "{:?}", all.diagnostics);
    assert_eq!(all.texts.iter().filter(|text| text.name == "job_list").count(), 2);
}

#[test]
fn each_dialect_has_its_own_shared_parts_in_it() {
    let use_part = "-- name: job_end :opt\n-- both\n-- diverges(lock): SQLite has one writer.\n-- use: kept\n\
                    SELECT kept.n FROM kept;\n";
    let part = |lock: &str| format!("-- part: kept\nWITH kept AS (SELECT job.n FROM job WHERE job.id = :id{lock});\n");
    let sqlite = [part(""), use_part.to_owned()].join("\n");
    let given = compiled(&[("sqlite/job.sql", &sqlite), ("pg/job.sql", &part(" FOR UPDATE"))]);
    assert!(given.diagnostics.is_empty(), "{:?}", given.diagnostics);
    let locks = |dialect: Dialect| {
        given.texts.iter().filter(|text| text.dialect == dialect).all(|text| text.sql.contains("FOR UPDATE"))
    };
    assert_eq!((locks(Dialect::Sqlite), locks(Dialect::Pg)), (false, true));
}

#[test]
fn a_shared_part_may_stand_once_too() {
    let part = "-- part: kept\n-- both\nWITH kept AS (SELECT job.n FROM job WHERE job.id = :id);\n";
    let uses = "-- name: job_n :opt\n-- use: kept\nSELECT kept.n FROM kept";
    let (sqlite, pg) = (format!("{part}\n{uses};\n"), format!("{uses};\n"));
    assert_eq!(found(&[("sqlite/job.sql", &sqlite), ("pg/job.sql", &pg)]), Vec::<String>::new());
}

#[test]
fn what_stands_once_and_again_is_a_finding() {
    let found = found(&[("sqlite/job.sql", &marked(LIST)), ("pg/job.sql", LIST)]);
    let expected = "duplicate-name: job_list: it stands here for both pages, but the Postgres page has it too \
                    [sql/sqlite/job.sql: -- both]";
    assert_eq!(found, [expected]);
}

#[test]
fn what_one_engine_alone_takes_is_found_where_it_stands() {
    let only_sqlite = "-- both\n-- name: job_doc :many\nSELECT json_extract(doc, '$.a') AS a FROM job ORDER BY id;\n";
    let said = found(&[("sqlite/job.sql", only_sqlite), ("pg/other.sql", ""), ("sqlite/other.sql", "")]);
    assert!(said[0].starts_with("missing-function: job_doc: Postgres has no function `json_extract`"), "{said:?}");
    assert!(said.iter().all(|finding| finding.contains("[sql/sqlite/job.sql: json_extract")), "{said:?}");
    // A name in brackets is one word to SQLite; to Postgres a quote opens in it.
    let quoted = "-- both\n-- name: job_quoted :many\nSELECT id AS [it's] FROM job ORDER BY id;\n";
    let said = found(&[("sqlite/job.sql", quoted), ("sqlite/other.sql", ""), ("pg/other.sql", "")]);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].starts_with("unterminated: job_quoted"), "{said:?}");
}

#[test]
fn what_both_dialects_find_in_one_text_is_told_once() {
    let unknown = LIST.replace("lane, n", "lane, weight");
    let twice = found(&[("sqlite/job.sql", &unknown), ("pg/job.sql", &unknown)]);
    let once = found(&[("sqlite/job.sql", &marked(&unknown)), ("sqlite/other.sql", ""), ("pg/other.sql", "")]);
    assert_eq!((once.len(), &once), (1, &twice));
    let unordered = "-- both\n-- name: job_some :many\nSELECT id FROM job LIMIT 5;\n";
    let files = |page: &str| found(&[("sqlite/job.sql", page), ("sqlite/other.sql", ""), ("pg/other.sql", "")]);
    let said = files(unordered);
    assert_eq!(said.len(), 1, "{said:?}");
    let rule = said[0].split(':').next().unwrap_or_default();
    let allowed =
        unordered.replace("-- both\n", &format!("-- both\n-- allow({rule}): which jobs come does not matter\n"));
    assert_eq!(files(&allowed), Vec::<String>::new());
}

#[test]
fn a_change_of_one_reading_is_noticed_like_a_change_of_one_page() {
    let facing = [LOCK[1], LIST, MOVE].join("\n");
    let twice = inputs(&[("sqlite/job.sql", &[LOCK[0], LIST, MOVE].join("\n")), ("pg/job.sql", &facing)]);
    let once = [LOCK[0].to_owned(), marked(LIST), marked(MOVE)].join("\n");
    let once = inputs(&[("sqlite/job.sql", &once), ("pg/job.sql", LOCK[1])]);
    let [once, twice] = [once, twice].map(|inputs| mutate::run(&inputs, Sample::All, Against::Nothing));
    assert!(twice.made() > 20, "{twice:?}");
    assert_eq!(once.kinds, twice.kinds);
    // So is one of a file that both dialects read.
    let config = Config::parse("[sql]\nsqlite = \"sql/job.sql\"\npg = \"sql/*.sql\"\n", "diglot.toml").unwrap();
    let alike = [LIST, MOVE].join("\n");
    let whole = Inputs { config, ..inputs(&[("job.sql", &alike)]) };
    let pair = inputs(&[("sqlite/job.sql", &alike), ("pg/job.sql", &alike)]);
    let [whole, pair] = [whole, pair].map(|inputs| mutate::run(&inputs, Sample::All, Against::Nothing));
    assert!(pair.made() > 20, "{pair:?}");
    assert_eq!(whole.kinds, pair.kinds);
}

#[test]
fn an_editor_renames_it_once_and_keeps_what_it_knows_apart() {
    let page = [LOCK[0].to_owned(), marked(LIST)].join("\n");
    let inputs = inputs(&[("sqlite/job.sql", &page), ("pg/job.sql", LOCK[1])]);
    let files: Vec<_> = inputs.sources.iter().map(|(id, file)| (id, file.path.clone())).collect();
    let of = |path: &str| files.iter().find(|(_, known)| known == path).map(|(id, _)| *id).unwrap();
    let (sqlite, pg) = (of("sql/sqlite/job.sql"), of("sql/pg/job.sql"));
    let mut editor = Desk::new(inputs);
    let edits = editor.rename(Place { file: sqlite, offset: page.find(":least").unwrap() + 2 }, "most").unwrap();
    assert_eq!(edits.len(), 1, "{edits:?}");
    let names =
        |symbols: Vec<diglot_tools::editor::Symbol>| symbols.into_iter().map(|one| one.name).collect::<Vec<_>>();
    assert_eq!(names(editor.symbols(sqlite)), ["job_keep", "job_list"]);
    assert_eq!(names(editor.symbols(pg)), ["job_keep"]);
    assert_eq!(names(editor.statements_like("list")), ["job_list"]);
    // Beside it stands that there is nothing else to read.
    let at = |name: &str| Place { file: sqlite, offset: page.find(name).unwrap() };
    let hover = editor.hover(at("job_list")).unwrap().markdown;
    assert!(hover.contains("Both pages have it in these words."), "{hover}");
    let facing = [at("job_list"), at("job_keep")].map(|place| editor.facing(place).unwrap().file);
    assert_eq!(facing, [sqlite, pg]);
}

#[test]
fn a_shared_part_that_stands_for_both_and_again_is_a_finding() {
    let part = "-- part: kept\nWITH kept AS (SELECT job.n FROM job WHERE job.id = :id);\n";
    let used = "-- name: job_n :opt\n-- both\n-- use: kept\nSELECT kept.n FROM kept;\n";
    let sqlite = format!("{}\n{used}", part.replace("kept\nWITH", "kept\n-- both\nWITH"));
    let expected =
        "bad-prelude: two shared parts of the Postgres pages are named `kept` [sql/sqlite/job.sql: -- part: kept]";
    assert_eq!(found(&[("sqlite/job.sql", &sqlite), ("pg/job.sql", part)]), [expected]);
    // A quote that one dialect alone sees.
    let open = "-- part: kept\n-- both\nWITH kept AS (SELECT job.n AS [it's] FROM job WHERE job.id = :id);\n";
    let said = found(&[("sqlite/job.sql", &format!("{used}\n{open}")), ("pg/other.sql", ""), ("sqlite/other.sql", "")]);
    assert!(said.iter().any(|finding| finding.starts_with("unterminated: kept")), "{said:?}");
}

#[test]
fn a_draft_for_the_dialect_that_cannot_read_it_is_for_that_one_alone() {
    let quoted = "-- both\n-- name: job_lane :many\nSELECT lane AS [it's] FROM job ORDER BY id;\n";
    let all = inputs(&[("sqlite/job.sql", quoted), ("sqlite/lock.sql", LOCK[0]), ("pg/lock.sql", LOCK[1])]);
    let draft = translate(&all, "job_lane").unwrap().draft;
    assert_eq!(draft.path, "sql/pg/job.sql");
    assert!(draft.text.starts_with("-- name: job_lane :many\n") && !draft.text.contains("-- both"), "{}", draft.text);
    let whole = inputs(&[("sqlite/job.sql", &marked(LIST)), ("sqlite/lock.sql", LOCK[0]), ("pg/lock.sql", LOCK[1])]);
    let refused = translate(&whole, "job_list").unwrap_err().to_string();
    assert!(refused.contains("sql/sqlite/job.sql"), "{refused}");
}

#[test]
fn a_name_that_the_settings_give_is_the_name_of_both() {
    let config = Config::parse("[names]\njob_list = \"job_all\"\n", "diglot.toml").unwrap();
    let pg = format!("{}\n{}", LIST.replace("job_list", "job_all"), marked(MOVE));
    let files = [("sqlite/job.sql", LIST), ("pg/job.sql", pg.as_str())];
    let given = compile(&Inputs { config, ..inputs(&files) });
    assert!(given.diagnostics.is_empty(), "{:?}", given.diagnostics);
    assert_eq!(given.statements, (2, 0));
}

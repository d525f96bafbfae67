//! Words of columns: who lists them, where a text is held against them, and the enum that stands for them.

use diglot::config::Config;
use diglot::diagnostic::Diagnostic;
use diglot::source::{SourceFile, Sources};
use diglot::{Inputs, compile};

const SETTINGS: &str = "[words]
\"task.state\" = { enum = \"TaskState\", words = [\"open\", \"taken\", \"done\"] }
\"task.before\" = \"TaskState\"
\"task.note\" = { enum = \"Note\", words = [\"short\", \"long\"], other = true }
\"task.kind\" = { enum = \"crate::Kind\", words = [\"a\", \"b\"] }
";

const TABLE: &str = "CREATE TABLE task (id INTEGER NOT NULL PRIMARY KEY, state TEXT NOT NULL, before TEXT, note TEXT, kind TEXT NOT NULL);";

struct Project<'a> {
    settings: &'a str,
    schemas: [&'a str; 2],
    pages: [&'a str; 2],
}

impl Project<'_> {
    fn compiled(&self) -> diglot::Compiled {
        let mut sources = Sources::default();
        for (at, dialect) in ["sqlite", "pg"].into_iter().enumerate() {
            sources.add(SourceFile::new(format!("schema/{dialect}/0001_all.sql"), self.schemas[at]));
            sources.add(SourceFile::new(format!("sql/{dialect}/task.sql"), self.pages[at]));
        }
        let config = Config::parse(self.settings, "diglot.toml").expect("sound settings");
        compile(&Inputs { config, sources, ..Inputs::default() })
    }

    fn found(&self) -> Vec<Diagnostic> {
        self.compiled().diagnostics
    }
}

/// What is found when both pages have the same text.
fn alike(sql: &str) -> Vec<String> {
    let page = format!("-- name: task_do {sql}\n");
    let project = Project { settings: SETTINGS, schemas: [TABLE, TABLE], pages: [&page, &page] };
    project.found().into_iter().map(|finding| format!("{}: {}", finding.rule, finding.message)).collect()
}

#[test]
fn a_misspelt_word_is_found_wherever_it_meets_its_column_though_both_pages_have_it() {
    for sql in [
        ":many\nSELECT id FROM task WHERE state = 'opne' ORDER BY id",
        ":many\nSELECT id FROM task WHERE 'opne' <> state ORDER BY id",
        ":many\nSELECT id FROM task WHERE state IN ('open', 'opne') ORDER BY id",
        ":many\nSELECT id FROM task WHERE state IS DISTINCT FROM 'opne' ORDER BY id",
        ":many\nSELECT id FROM task WHERE (id, state) = (1, 'opne') ORDER BY id",
        ":many\nSELECT id FROM task WHERE CASE state WHEN 'opne' THEN id = 1 ELSE id = 2 END ORDER BY id",
        ":many\nSELECT id FROM task WHERE coalesce(before, 'none') = 'opne' ORDER BY id",
        ":many\nSELECT id FROM task WHERE CASE WHEN id = 1 THEN state ELSE before END = 'opne' ORDER BY id",
        ":many\nWITH known AS (SELECT id, state AS now FROM task) SELECT id FROM known WHERE now = 'opne' ORDER BY id",
        ":many\nSELECT id FROM (SELECT id, state AS now FROM task) AS known WHERE now = 'opne' ORDER BY id",
        ":many\nSELECT id FROM task WHERE (SELECT t.state FROM task AS t WHERE t.id = 1) = 'opne' ORDER BY id",
        ":exec\nUPDATE task SET state = 'opne' WHERE id = :id",
        ":exec\nUPDATE task SET state = CASE WHEN id > 2 THEN 'done' ELSE 'opne' END WHERE id = :id",
        ":exec\nUPDATE task SET before = coalesce(before, 'opne') WHERE id = :id",
        ":exec\nINSERT INTO task (id, state, kind) VALUES (:id, 'opne', 'a')",
        ":exec\nINSERT INTO task (id, state, kind) SELECT id + 1, 'opne', kind FROM task WHERE id = :id",
        ":exec\nINSERT INTO task (id, state, kind) VALUES (:id, 'open', 'a') ON CONFLICT (id) DO UPDATE SET state = 'opne'",
    ] {
        let found = alike(sql);
        assert!(
            found.iter().any(|told| told.starts_with("unknown-word: task_do: `opne` is not a word of `task.")),
            "{sql}\n{found:?}"
        );
    }
}

#[test]
fn words_and_texts_that_meet_no_column_pass() {
    for sql in [
        ":many\nSELECT id FROM task WHERE state IN ('open', 'done') AND kind = 'b' ORDER BY id",
        ":many\nSELECT id FROM task WHERE coalesce(before, '') = '' ORDER BY id",
        ":many\nSELECT id, CASE state WHEN 'done' THEN 'ended' ELSE 'runs' END AS told FROM task ORDER BY id",
        ":exec\nUPDATE task SET state = CASE WHEN kind = 'a' THEN 'done' ELSE state END WHERE id = :id",
    ] {
        assert_eq!(alike(sql), [""; 0], "{sql}");
    }
}

/// What the schemas say, with the words of the settings.
fn of_schemas(settings: &str, sqlite: &str, pg: &str) -> Vec<String> {
    let page = "-- name: task_list :many\nSELECT id FROM task ORDER BY id;\n";
    let project = Project { settings, schemas: [sqlite, pg], pages: [page, page] };
    project.found().into_iter().map(|finding| format!("{}: {}", finding.rule, finding.message)).collect()
}

const STATE: &str = "[words]\n\"task.state\" = [\"open\", \"done\"]\n";

#[test]
fn defaults_checks_and_predicates_are_held_against_the_words() {
    let table = |rest: &str| format!("CREATE TABLE task (id INTEGER NOT NULL PRIMARY KEY, state TEXT NOT NULL{rest});");
    for text in [
        table(" DEFAULT 'opne'"),
        table(", CHECK (id > 0 OR state <> 'opne')"),
        table(", CHECK (CASE WHEN state = 'opne' THEN id > 0 ELSE id > 1 END)"),
        table("") + "\nCREATE INDEX task_open ON task (id) WHERE state = 'opne';",
        table("") + "\nCREATE UNIQUE INDEX task_open ON task (state) WHERE id > 2 AND state IN ('opne', 'done');",
    ] {
        let found = of_schemas(STATE, &text, &text);
        let unknown = "unknown-word: schema: `opne` is not a word of `task.state`";
        assert_eq!(found, [unknown, unknown], "{text}");
    }
    let sound = table(" DEFAULT 'open', CHECK (state IN ('done', 'open'))")
        + "\nCREATE INDEX task_open ON task (id) WHERE state <> 'done';";
    assert_eq!(of_schemas(STATE, &sound, &sound), [""; 0]);
}

#[test]
fn the_lists_of_the_settings_of_a_check_and_of_an_enum_agree_or_are_facts_that_differ() {
    let sqlite = "CREATE TABLE task (id INTEGER NOT NULL PRIMARY KEY, state TEXT NOT NULL CHECK (state IN ('open', 'done', 'lost')));";
    let pg = "CREATE TYPE task_state AS ENUM ('open');\nCREATE TABLE task (id integer NOT NULL PRIMARY KEY, state task_state NOT NULL);";
    let found = of_schemas(STATE, sqlite, pg);
    let expected = [
        "schema-words-differ: schema: the CHECK of `task.state` has `lost` as well, other than `[words]`",
        "schema-words-differ: schema: the ENUM of `task.state` lacks `done`, other than `[words]`",
    ];
    assert!(expected.iter().all(|told| found.iter().any(|found| found == told)), "{found:?}");
    let declared = format!("-- diverges(words.task.state): words of older writers stay in the check\n{sqlite}");
    let found = of_schemas(STATE, &declared, &sqlite.replace("INTEGER", "integer").replace("TEXT", "text"));
    assert_eq!(found, [""; 0]);
    let same = sqlite.replace(", 'lost'", "");
    assert_eq!(of_schemas(STATE, &same, &pg.replace("'open'", "'done', 'open'")), [""; 0]);
}

#[test]
fn without_settings_the_words_are_those_of_the_type_or_of_the_check() {
    let sqlite = "CREATE TABLE task (id INTEGER NOT NULL PRIMARY KEY, state TEXT NOT NULL CHECK (state = 'open' OR state = 'done'));";
    let page = "-- name: task_list :many\nSELECT id FROM task WHERE state = 'opne' ORDER BY id;\n";
    for pg in [
        "CREATE TYPE task_state AS ENUM ('open', 'done');\nCREATE TABLE task (id integer NOT NULL PRIMARY KEY, state task_state NOT NULL);",
        "CREATE TABLE task (id integer NOT NULL PRIMARY KEY, state text NOT NULL CHECK (state = 'open' OR state = 'done'));",
    ] {
        let project = Project { settings: "", schemas: [sqlite, pg], pages: [page, page] };
        let unknown: Vec<_> = project.found().into_iter().filter(|finding| finding.rule == "unknown-word").collect();
        // Postgres itself refuses what its ENUM does not have.
        assert!(!unknown.is_empty(), "{pg}");
        assert!(
            unknown[0].help.iter().any(|help| help.starts_with("the words are: open, done; the list is ")),
            "{unknown:?}"
        );
    }
}

#[test]
fn a_misspelt_word_that_both_checks_refuse_is_found_all_the_same() {
    let schema =
        "CREATE TABLE task (id INTEGER NOT NULL PRIMARY KEY, state TEXT NOT NULL CHECK (state IN ('open', 'done')));";
    for text in [
        "UPDATE task SET state = 'doen' WHERE id = :id",
        "INSERT INTO task (id, state) VALUES (:id, 'doen')",
        "INSERT INTO task (id, state) VALUES (:id, 'open') ON CONFLICT (id) DO UPDATE SET state = 'doen'",
    ] {
        let page = format!("-- name: task_end :exec\n{text};\n");
        let project = Project { settings: "", schemas: [schema, schema], pages: [&page, &page] };
        let found: Vec<&str> = project.found().iter().map(|finding| finding.rule).collect();
        assert!(found.contains(&"unknown-word"), "{text}: {found:?}");
    }
}

#[test]
fn parameters_and_rows_are_of_the_declared_enum() {
    let page = "-- name: task_take :opt
-- param: note text null
UPDATE task SET before = state, state = :state, note = :note WHERE id = :id AND kind = :kind
RETURNING state, before, note, kind, coalesce(before, 'open') AS last, CASE WHEN id = 1 THEN 'done' ELSE state END AS shown, lower(state) AS folded;\n";
    let project = Project { settings: SETTINGS, schemas: [TABLE, TABLE], pages: [page, page] };
    let compiled = project.compiled();
    assert!(compiled.diagnostics.is_empty(), "{:?}", compiled.diagnostics);
    let signature = compiled.signatures.first().map(ToString::to_string).unwrap_or_default();
    assert_eq!(
        signature,
        "task_take(state: text [TaskState], note: text null [Note], id: i32, kind: text [crate::Kind]) :opt -> (state: text [TaskState], \
         before: text [TaskState], note: text null [Note], kind: text [crate::Kind], last: text [TaskState], \
         shown: text [TaskState], folded: text)"
    );
    insta::assert_snapshot!(compiled.rust.split("/// Conversions between what").next().unwrap_or_default().trim_end());
}

const LISTS: [&str; 2] = [
    "-- name: task_count :one\nSELECT count(*) AS n FROM task WHERE state IN (SELECT value FROM json_each(:states)) \
     AND kind IN (SELECT value FROM json_each(:kinds));\n",
    "-- name: task_count :one\nSELECT count(*) AS n FROM task WHERE state = ANY(:states) AND kind = ANY(:kinds);\n",
];

#[test]
fn a_list_of_words_is_a_list_of_their_enum() {
    let of = |generate: &str| {
        let settings = format!("{SETTINGS}{generate}");
        Project { settings: &settings, schemas: [TABLE, TABLE], pages: LISTS }.compiled()
    };
    let owned = of("");
    assert!(owned.diagnostics.is_empty(), "{:?}", owned.diagnostics);
    let signature = owned.signatures.first().map(ToString::to_string).unwrap_or_default();
    assert_eq!(signature, "task_count(states: text[] [TaskState], kinds: text[] [crate::Kind]) :one -> (n: i64)");
    for part in [
        "pub states: Vec<super::TaskState>",
        "pub kinds: Vec<crate::Kind>",
        "diglot_support::items::<String, String, _>(&params.kinds)",
        "diglot_support::texts(&diglot_support::words(&params.states))",
        "diglot_support::words(&params.states)",
    ] {
        assert!(owned.rust.contains(part), "{part} is missing in\n{}", owned.rust);
    }
    let borrowed = of("[generate]\nparams = \"borrowed\"\n").rust;
    assert!(borrowed.contains("pub states: &'p [super::TaskState]"), "{borrowed}");
    assert!(borrowed.contains("diglot_support::texts(&diglot_support::words(params.states))"), "{borrowed}");
}

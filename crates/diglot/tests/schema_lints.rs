//! Lints of the schemas: each fires, and is silenced by a declaration with a reason.

use diglot::config::Config;
use diglot::source::{SourceFile, Sources};
use diglot::{Inputs, compile};

/// The rules and items that a pair of schemas gets, with declarations beside it.
fn found(sqlite: &str, pg: &str, declared: &str, careful: bool) -> Vec<String> {
    found_by(Config { schema_lints: careful, ..Config::default() }, sqlite, pg, declared)
}

fn found_by(config: Config, sqlite: &str, pg: &str, declared: &str) -> Vec<String> {
    let mut sources = Sources::default();
    sources.add(SourceFile::new("schema/sqlite/0001_all.sql", sqlite));
    sources.add(SourceFile::new("schema/pg/0001_all.sql", pg));
    sources.add(SourceFile::new("schema/divergences.sql", declared));
    let findings = compile(&Inputs { config, sources, ..Inputs::default() }).diagnostics;
    findings
        .iter()
        .map(|finding| format!("{}{}", finding.rule, finding.message.rsplit(':').next().unwrap_or_default()))
        .collect()
}

const LOOSE: [&str; 2] = [
    "CREATE TABLE job (id BLOB PRIMARY KEY, lane TEXT NOT NULL UNIQUE, raw TEXT NOT NULL, flag INTEGER NOT NULL, n INTEGER NOT NULL);",
    "CREATE TABLE job (id uuid PRIMARY KEY, lane text NOT NULL UNIQUE, raw jsonb NOT NULL, flag boolean NOT NULL, n integer NOT NULL);",
];

const CAREFUL: [&str; 2] = [
    "CREATE TABLE job (id BLOB PRIMARY KEY CHECK (length(id) = 16), lane TEXT NOT NULL UNIQUE, raw TEXT NOT NULL CHECK (json_valid(raw)),
       flag INTEGER NOT NULL CHECK (flag IN (0, 1)), n INTEGER NOT NULL) STRICT;",
    "CREATE TABLE job (id uuid PRIMARY KEY, lane text COLLATE \"C\" NOT NULL UNIQUE, raw jsonb NOT NULL, flag boolean NOT NULL, n bigint NOT NULL);",
];

#[test]
fn a_loose_schema_is_told_where_it_is_loose_when_that_is_asked_for() {
    let told = found(LOOSE[0], LOOSE[1], "", true);
    for expected in [
        "not-strict job",
        "nullable-key job.id",
        "key-collation job.lane",
        "unchecked-json job.raw",
        "unchecked-flag job.flag",
        "unchecked-uuid job.id",
        "narrow-column job.n",
    ] {
        assert!(told.contains(&expected.to_owned()), "{expected} is not among {told:?}");
    }
    let unasked = found(LOOSE[0], LOOSE[1], "", false);
    assert!(!unasked.iter().any(|told| told.starts_with("not-strict") || told.starts_with("unchecked")), "{unasked:?}");
    assert_eq!(found(CAREFUL[0], CAREFUL[1], "", true), [""; 0]);
}

#[test]
fn where_a_program_binds_by_itself_ids_of_any_length_are_an_error_once_for_all_statements() {
    let of = |[sqlite, pg]: [&str; 2], declared: &str| {
        found_by(Config::parse("generate = false", "diglot.toml").expect("settings"), sqlite, pg, declared)
    };
    assert_eq!(of(LOOSE, ""), ["nullable-key job.id", "unchecked-uuid job.id", "narrow-column job.n"]);
    let bound = "-- allow(unchecked-uuid.job.id): the program binds 16 bytes\n";
    assert_eq!(of(LOOSE, bound), ["nullable-key job.id", "narrow-column job.n"]);
    assert_eq!(of(CAREFUL, ""), [""; 0]);
    let keys = |null: &str| {
        [
            format!(
                "CREATE TABLE seat (hall INTEGER{null}, mark TEXT{null}, taken BIGINT NOT NULL, PRIMARY KEY (hall, mark));"
            ),
            "CREATE TABLE seat (hall bigint, mark text, taken bigint NOT NULL, PRIMARY KEY (hall, mark));".to_owned(),
        ]
    };
    let of_keys = |[sqlite, pg]: [String; 2]| of([sqlite.as_str(), pg.as_str()], "");
    assert_eq!(of_keys(keys("")), ["nullable-key seat.hall, seat.mark"]);
    assert_eq!(of_keys(keys(" NOT NULL")), [""; 0]);
}

#[test]
fn every_narrow_column_has_its_line() {
    let columns: Vec<String> = (0..12).map(|at| format!("n{at} INTEGER NOT NULL")).collect();
    let schema = format!("CREATE TABLE wide (id BIGINT NOT NULL PRIMARY KEY, {});", columns.join(", "));
    let mut sources = Sources::default();
    sources.add(SourceFile::new("schema/sqlite/0001_all.sql", schema.as_str()));
    sources.add(SourceFile::new("schema/pg/0001_all.sql", schema.as_str()));
    let config = Config::parse("generate = false", "diglot.toml").expect("settings");
    let found = compile(&Inputs { config, sources, ..Inputs::default() }).diagnostics;
    let narrow: Vec<_> = found.iter().filter(|finding| finding.rule == "narrow-column").collect();
    assert_eq!(narrow.iter().map(|finding| finding.labels.len()).collect::<Vec<_>>(), [12]);
}

#[test]
fn a_name_that_sqlite_does_not_know_makes_a_column_of_numbers() {
    let of = |sqlite: &str, pg: &str| {
        let table = |column: &str, rest: &str| {
            format!("CREATE TABLE book (id BIGINT NOT NULL PRIMARY KEY, shelf {column}){rest};")
        };
        let told = found(&table(sqlite, ""), &table(pg, ""), "", false);
        told.iter().any(|told| told.starts_with("schema-type-differs"))
    };
    assert!(of("STRING NOT NULL", "text NOT NULL"));
    assert!(of("STRING(20)", "text"));
    assert!(!of("NVARCHAR NOT NULL", "text NOT NULL"));
    assert!(!of("CLOB", "text"));
}

#[test]
fn a_column_without_a_type_keeps_a_document_as_it_is_bound() {
    let of = |sqlite: &str, settings: &str| {
        let sqlite = format!("CREATE TABLE note (id BIGINT NOT NULL PRIMARY KEY, doc{sqlite});");
        let config = Config::parse(settings, "diglot.toml").expect("settings");
        found_by(config, &sqlite, "CREATE TABLE note (id bigint NOT NULL PRIMARY KEY, doc jsonb);", "")
    };
    assert_eq!(of("", "generate = false"), ["unchecked-json note.doc"]);
    assert_eq!(of(" TEXT", "generate = false"), [""; 0]);
}

#[test]
fn a_declaration_silences_a_lint_or_one_item_of_it() {
    let whole = found(LOOSE[0], LOOSE[1], "-- allow(not-strict): it is shared with an older program\n", true);
    assert!(!whole.iter().any(|told| told.starts_with("not-strict")), "{whole:?}");
    let item = found(LOOSE[0], LOOSE[1], "-- allow(unchecked-json.job.raw): the writer checks it\n", true);
    assert!(!item.iter().any(|told| told.starts_with("unchecked-json")), "{item:?}");
    let table = found(LOOSE[0], LOOSE[1], "-- allow(narrow-column.job): it never counts far\n", true);
    assert!(!table.iter().any(|told| told.starts_with("narrow-column")), "{table:?}");
    let needless = found(CAREFUL[0], CAREFUL[1], "-- allow(not-strict): it is shared with an older program\n", true);
    assert_eq!(needless.len(), 1, "{needless:?}");
    assert!(needless[0].starts_with("unused-allow"), "{needless:?}");
}

#[test]
fn a_migration_that_an_engine_refuses_is_found() {
    let table = "CREATE TABLE job (id INTEGER PRIMARY KEY, n INTEGER);";
    let refused = |sqlite: &str, pg: &str| {
        let told = found(&format!("{table}\n{sqlite}"), &format!("{table}\n{pg}"), "", false);
        told.iter().any(|told| told.starts_with("schema-refused"))
    };
    let both = "ALTER TABLE job ADD COLUMN a INTEGER, ADD COLUMN b INTEGER;";
    assert!(refused(both, both));
    let apart = "ALTER TABLE job ADD COLUMN a INTEGER;\nALTER TABLE job ADD COLUMN b INTEGER;";
    assert!(!refused(apart, both));
    assert!(refused("CREATE INDEX i ON job ((id + n));", "CREATE INDEX i ON job (id + n);"));
    assert!(!refused("CREATE INDEX i ON job ((id + n));", "CREATE INDEX i ON job ((id + n));"));
    let view = "CREATE OR REPLACE VIEW v AS SELECT id FROM job;";
    assert!(refused(view, view));
    let child = "CREATE TABLE child (job_n INTEGER REFERENCES job (n));";
    assert!(refused(child, child));
    let other_kind = "CREATE TABLE child (job_id TEXT REFERENCES job (id));";
    assert!(refused(other_kind, other_kind));
    let narrower = "CREATE TABLE child (job_id SMALLINT REFERENCES job (id));";
    assert!(!refused(narrower, narrower));
    let body = "CREATE TRIGGER g AFTER INSERT ON job BEGIN SELECT 1; END;";
    assert!(refused(body, body));
}

#[test]
fn a_trigger_on_its_own_table_is_found() {
    let table = "CREATE TABLE q (id INTEGER PRIMARY KEY, rev INTEGER);\nCREATE TABLE log (id INTEGER);\n";
    let with = |body: &str| {
        let trigger = format!("{table}CREATE TRIGGER g AFTER UPDATE ON q BEGIN {body}; END;");
        found(&trigger, table, "", false)
    };
    assert_eq!(with("UPDATE q SET rev = rev + 1 WHERE id = NEW.id"), ["trigger-writes-own-table q"]);
    assert_eq!(with("INSERT INTO log (id) VALUES (NEW.id)"), [""; 0]);
}

#[test]
fn a_column_that_rows_have_no_value_for_is_found() {
    let with = |column: &str| {
        let schema = format!("CREATE TABLE job (id INTEGER PRIMARY KEY);\nALTER TABLE job ADD COLUMN {column};");
        found(&schema, &schema, "", false)
    };
    assert_eq!(with("n INTEGER NOT NULL"), ["added-not-null job.n"]);
    assert_eq!(with("n INTEGER NOT NULL DEFAULT 0"), [""; 0]);
    assert_eq!(with("n INTEGER"), [""; 0]);
}

#[test]
fn a_key_that_sqlite_lets_be_null_is_no_difference_and_another_column_is() {
    let schemas = |column: &str| {
        let table = |null: &str| format!("CREATE TABLE job (id TEXT PRIMARY KEY, n INTEGER{null});");
        found(&table(""), &table(column), "", false)
    };
    assert_eq!(schemas(""), [""; 0]);
    assert_eq!(schemas(" NOT NULL"), ["schema-null-differs `job.n` may be NULL in one schema only"]);
}

#[test]
fn what_stands_in_double_quotes_and_is_no_column_is_a_text_of_sqlite() {
    let of = |sqlite: &str, pg: &str| {
        let table = |column: &str, raw: &str| format!("CREATE TABLE job (id BIGINT PRIMARY KEY, raw {raw}, {column});");
        found(&table(sqlite, "TEXT"), &table(pg, "jsonb"), "", false)
    };
    let computed = "GENERATED ALWAYS AS";
    let sqlite = format!("lane TEXT {computed} (json_extract(raw, \"$.Lane\"))");
    assert_eq!(of(&sqlite, &format!("lane text {computed} (raw ->> 'Lane') STORED")), [""; 0]);
    let told = ["schema-default-differs `job.lane` is computed in different ways"];
    assert_eq!(of(&sqlite, &format!("lane text {computed} (raw ->> 'lane') STORED")), told);
    assert_eq!(of("state TEXT DEFAULT \"Open\"", "state text DEFAULT 'Open'"), [""; 0]);
    let told = ["schema-default-differs `job.state` is filled in different ways when an INSERT leaves it out"];
    assert_eq!(of("state TEXT DEFAULT \"Open\"", "state text DEFAULT 'open'"), told);
}

#[test]
fn unique_columns_that_are_not_null_are_a_key() {
    let narrow = "CREATE TABLE berth (dock INTEGER NOT NULL, pier INTEGER NOT NULL, PRIMARY KEY (dock));";
    let of = |keys: &str| {
        let pg = format!("CREATE TABLE berth (dock bigint NOT NULL, pier bigint NOT NULL, {keys});");
        let told = found(narrow, &pg, "", false);
        told.iter().map(|told| told.split(' ').next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(of("PRIMARY KEY (dock)"), [""; 0]);
    assert_eq!(of("UNIQUE (dock)"), [""; 0]);
    assert_eq!(of("PRIMARY KEY (dock, pier)"), ["schema-key-differs"]);
    assert_eq!(of("PRIMARY KEY (dock), UNIQUE (pier)"), ["schema-unique-differs"]);
    // What the narrow key refuses, the wider one refuses nothing beyond.
    assert_eq!(of("PRIMARY KEY (dock, pier), UNIQUE (dock)"), [""; 0]);
    assert_eq!(of("PRIMARY KEY (dock), UNIQUE (pier, dock)"), [""; 0]);
    assert_eq!(of("PRIMARY KEY (pier), UNIQUE (dock)"), ["schema-key-differs"]);
}

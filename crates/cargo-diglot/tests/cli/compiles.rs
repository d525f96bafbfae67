//! Nothing that is clean may fail in rustc: statements with declared differences, declared types and answers of engines
//! of every kind of value become functions, and one crate compiles those that have no finding.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use diglot::answers::{self, Described, DescribedColumn};
use diglot::config::Config;
use diglot::diagnostic::{Diagnostic, Severity};
use diglot::dialect::Dialect;
use diglot::source::{SourceFile, Sources};
use diglot::types::Base;
use diglot::{Compiled, Inputs, check, compile};
use serde_json::{Value as Json, json};

use crate::cargo_build::{ONE_AT_A_TIME, cargo_in, workspace};
use crate::project::Project;

/// A kind of value: the name of its columns, their types on SQLite and on Postgres, how SQLite holds it where that is not
/// said by its type, and the plain type of Rust.
struct Kind {
    name: &'static str,
    sqlite: &'static str,
    pg: &'static str,
    storage: &'static str,
    rust: &'static str,
}

const fn kind(
    name: &'static str,
    sqlite: &'static str,
    pg: &'static str,
    storage: &'static str,
    rust: &'static str,
) -> Kind {
    Kind { name, sqlite, pg, storage, rust }
}

const KINDS: [Kind; 26] = [
    kind("flag", "INTEGER", "boolean", "", "bool"),
    kind("small", "INTEGER", "smallint", "", "i16"),
    kind("middle", "INTEGER", "integer", "", "i32"),
    kind("big", "INTEGER", "bigint", "", "i64"),
    kind("price", "TEXT", "numeric(12, 2)", "digits", "DECIMAL"),
    kind("ratio", "REAL", "double precision", "", "f64"),
    kind("rough", "REAL", "real", "", "f64"),
    kind("note", "TEXT", "text", "", "String"),
    kind("word", "TEXT", "text", "", ""),
    kind("raw", "BLOB", "bytea", "", "Vec<u8>"),
    kind("ident", "BLOB", "uuid", "", "uuid::Uuid"),
    kind("ident_text", "TEXT", "uuid", "hyphenated", "uuid::Uuid"),
    kind("doc", "TEXT", "jsonb", "", "serde_json::Value"),
    kind("seconds", "INTEGER", "timestamptz", "seconds", "TIMESTAMP"),
    kind("millis", "INTEGER", "timestamptz", "milliseconds", "TIMESTAMP"),
    kind("stamp", "TEXT", "timestamptz", "rfc3339", "TIMESTAMP"),
    kind("julian", "REAL", "timestamp", "julian", "DATETIME"),
    kind("local", "TEXT", "timestamp", "datetime", "DATETIME"),
    kind("day", "TEXT", "date", "date", "DATE"),
    kind("hour", "TEXT", "time", "time", "TIME"),
    kind("mood", "TEXT", "mood", "", ""),
    kind("texts", "TEXT", "text[]", "", "Vec<String>"),
    kind("numbers", "TEXT", "bigint[]", "", "Vec<i64>"),
    kind("narrow", "TEXT", "integer[]", "", "Vec<i64>"),
    kind("idents", "TEXT", "uuid[]", "", "Vec<uuid::Uuid>"),
    kind("span", "TEXT", "interval", "", ""),
];

/// The words of `-- param:` and `-- column:`.
const WORDS: [&str; 17] = [
    "bool",
    "i16",
    "i32",
    "i64",
    "numeric",
    "f64",
    "text",
    "bytes",
    "uuid",
    "json",
    "timestamp",
    "datetime",
    "date",
    "time",
    "text[]",
    "i64[]",
    "uuid[]",
];

/// One way to generate: the libraries of times and of decimals, and how values are handed over.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    libraries: [(&'static str, &'static str); 2],
    types: [(&'static str, &'static str); 5],
    settings: &'static str,
}

const WAYS: [Way; 2] = [
    Way {
        name: "owned",
        libraries: [("times", "chrono"), ("decimals", "rust_decimal")],
        types: [
            ("DECIMAL", "rust_decimal::Decimal"),
            ("TIMESTAMP", "chrono::DateTime<chrono::Utc>"),
            ("DATETIME", "chrono::NaiveDateTime"),
            ("DATE", "chrono::NaiveDate"),
            ("TIME", "chrono::NaiveTime"),
        ],
        settings: "either = true\n",
    },
    Way {
        name: "borrowed",
        libraries: [("times", "jiff"), ("decimals", "bigdecimal")],
        types: [
            ("DECIMAL", "bigdecimal::BigDecimal"),
            ("TIMESTAMP", "jiff::Timestamp"),
            ("DATETIME", "jiff::civil::DateTime"),
            ("DATE", "jiff::civil::Date"),
            ("TIME", "jiff::civil::Time"),
        ],
        settings: "queries = \"plain\"\nparams = \"borrowed\"\n",
    },
];

impl Way {
    /// The plain type of Rust; none for values that have no one type.
    fn plain(&self, kind: &Kind) -> Option<&'static str> {
        let of_library = self.types.iter().find(|(word, _)| *word == kind.rust).map(|(_, path)| *path);
        of_library.or((!kind.rust.is_empty()).then_some(kind.rust))
    }

    /// The settings. Columns of the table `owned` have Rust types of their own.
    fn settings(&self) -> String {
        let mut text = String::from("[storage]\n");
        for kind in KINDS.iter().filter(|kind| !kind.storage.is_empty()) {
            text += &format!("\"*.*{}\" = \"{}\"\n", kind.name, kind.storage);
        }
        text += "[words]\n\"*.word\" = { enum = \"Word\", words = [\"one\", \"two\"] }\n\"*.null_word\" = \"Word\"\n[types]\n";
        for (library, name) in self.libraries {
            text += &format!("{library} = \"{name}\"\n");
        }
        for kind in KINDS.iter().filter(|kind| !kind.pg.ends_with("[]")) {
            let Some(plain) = self.plain(kind) else { continue };
            for column in [kind.name.to_owned(), format!("null_{}", kind.name)] {
                text += &format!("\"owned.{column}\" = \"crate::Own<{plain}>\"\n");
            }
        }
        text + "[generate]\n" + self.settings
    }

    /// The project with these statements, each with the text of its page of SQLite and of Postgres.
    fn inputs(&self, tried: &Tried) -> Inputs {
        let mut sources = Sources::default();
        let config = Config::parse(&self.settings(), "diglot.toml").unwrap();
        let (mut schema, mut pages) = ([const { String::new() }; 2], [const { String::new() }; 2]);
        schema[1] += "CREATE TYPE mood AS ENUM ('glad', 'sad');\n";
        for table in ["thing", "owned"] {
            for (at, schema) in schema.iter_mut().enumerate() {
                let ty = |kind: &Kind| [kind.sqlite, kind.pg][at];
                let columns = KINDS.iter().map(|kind| format!(", {0} {1} NOT NULL, null_{0} {1}", kind.name, ty(kind)));
                let id = ["INTEGER", "bigint"][at];
                *schema +=
                    &format!("CREATE TABLE {table} (id {id} NOT NULL PRIMARY KEY{});\n", columns.collect::<String>());
            }
        }
        for of_both in tried.statements.values() {
            pages.iter_mut().zip(of_both).for_each(|(page, text)| *page += text);
        }
        for (at, dialect) in ["sqlite", "pg"].into_iter().enumerate() {
            sources.add(SourceFile::new(format!("schema/{dialect}/0001_all.sql"), schema[at].as_str()));
            sources.add(SourceFile::new(format!("sql/{dialect}/thing.sql"), pages[at].as_str()));
        }
        sources.add(SourceFile::new(
            "schema/divergences.sql",
            tried.schema.iter().map(String::as_str).collect::<String>(),
        ));
        Inputs { config, sources, threads: 2, ..Inputs::default() }
    }
}

/// What is tried: statements with the texts of both pages, and what is declared of the schemas.
struct Tried {
    statements: BTreeMap<String, [String; 2]>,
    schema: BTreeSet<String>,
}

/// A pair that gives `given`, declared to be of a type or not.
fn giving(name: &str, declared: &str, of_both: [&str; 2], from: &str) -> (String, [String; 2]) {
    let page = |given: &str| {
        format!("-- name: {name} :many\n{declared}SELECT {given} AS given FROM {from} ORDER BY {from}.id;\n\n")
    };
    (name.to_owned(), of_both.map(page))
}

/// What is tried: columns of any kind against each other, columns and values of no known type that are declared to be of
/// each, and parameters that are declared to be of each where they meet a column and where they are written.
fn statements() -> BTreeMap<String, [String; 2]> {
    let mut all = Vec::new();
    for (at, sqlite) in KINDS.iter().enumerate() {
        for (pg_at, pg) in KINDS.iter().enumerate() {
            let null = if (at + pg_at) % 3 == 1 { "null_" } else { "" };
            let of = |kind: &Kind| format!("thing.{null}{}", kind.name);
            all.push(giving(&format!("columns_{}_{}", sqlite.name, pg.name), "", [&of(sqlite), &of(pg)], "thing"));
        }
        for (word_at, word) in WORDS.iter().enumerate() {
            let suffix = format!("{}_{}", sqlite.name, word.replace("[]", "s"));
            let null = if (at + word_at) % 2 == 0 { " null" } else { "" };
            // Which of the tables has no part in whether NULL is declared.
            let tables = if (at + word_at / 2) % 2 == 0 { ["thing"] } else { ["owned"] };
            for table in tables {
                let column = format!("{table}.{}", sqlite.name);
                let declared = format!("-- column: given {word}{null}\n");
                all.push(giving(&format!("declared_{table}_{suffix}"), &declared, [&column, &column], table));
                let takes = format!("-- param: value {word}{null}\n");
                let name = format!("meets_{table}_{suffix}");
                let text = format!(
                    "-- name: {name} :many\n{takes}SELECT id FROM {table} WHERE {column} = :value ORDER BY id;\n\n"
                );
                all.push((name, [text.clone(), text]));
                let name = format!("writes_{table}_{suffix}");
                let text = format!(
                    "-- name: {name} :exec\n{takes}UPDATE {table} SET null_{} = :value WHERE id = 1;\n\n",
                    sqlite.name
                );
                all.push((name, [text.clone(), text]));
            }
            let declared = format!("-- column: given {word}{null}\n-- allow(unknown-operation): a function of ours\n");
            let pg = format!("its_{}(thing.id)", sqlite.name);
            let pages = ["json_extract(thing.doc, '$.given')", pg.as_str()];
            all.push(giving(&format!("answered_{suffix}"), &declared, pages, "thing"));
        }
        for table in ["thing", "owned"] {
            for null in ["", "null_"] {
                let column = format!("{null}{}", sqlite.name);
                let text = format!(
                    "-- name: plain_{table}_{column} :opt\nSELECT {column} FROM {table} WHERE id > :id\n\
                     -- if: value\n AND {column} = :value\n-- end\n ORDER BY id LIMIT 1;\n\n\
                     -- name: plain_{table}_{column}_put :exec\nUPDATE {table} SET {column} = :value WHERE id = :id;\n\n"
                );
                all.push((format!("plain_{table}_{column}"), [text.clone(), text]));
            }
        }
    }
    all.into_iter().collect()
}

/// The statement that a finding is about.
fn subject(finding: &Diagnostic) -> Option<&str> {
    finding.message.split_once(':').map(|(name, _)| name.strip_suffix("_put").unwrap_or(name))
}

/// The declaration that a finding offers.
fn declaration(finding: &Diagnostic) -> Option<String> {
    let line = finding.help.iter().find_map(|help| help.split_once("`-- diverges(")?.1.split_once("): "))?.0;
    Some(format!("-- diverges({line}): each database has its own here\n"))
}

fn errors(compiled: &Compiled) -> impl Iterator<Item = &Diagnostic> {
    compiled.diagnostics.iter().filter(|finding| finding.severity == Severity::Error)
}

/// Declares what is found as long as it can be declared, and drops every other statement with an error.
fn settle(way: &Way, tried: &mut Tried, answer: bool) {
    for round in 0..6 {
        let mut inputs = way.inputs(tried);
        if answer {
            inputs.answers = Some(answered(&inputs, &check(&inputs)));
            inputs.check_answers = true;
        }
        let found = check(&inputs);
        if !found.has_errors() {
            return;
        }
        let (mut seen, mut dropped) = (BTreeSet::new(), BTreeSet::new());
        for finding in errors(&found) {
            let name = subject(finding).unwrap_or_default().to_owned();
            match (declaration(finding).filter(|_| round < 4), tried.statements.get_mut(&name)) {
                (Some(line), None) if name == "schema" => _ = tried.schema.insert(line),
                (Some(line), Some([sqlite, _])) if seen.insert((name.clone(), line.clone())) => {
                    *sqlite = sqlite.replacen('\n', &format!("\n{line}"), 1);
                }
                (Some(_), Some(_)) => {}
                (None, Some(_)) => {
                    tried.statements.remove(&name);
                    dropped.insert(name);
                }
                (_, None) if dropped.contains(&name) => {}
                (_, None) => panic!("{}: {}", finding.rule, finding.message),
            }
        }
    }
    panic!("what is declared is found again and again");
}

/// What an engine says of a type, as the driver writes it.
fn type_info(base: &Base) -> Json {
    json!(match base {
        Base::Bool => "Bool",
        Base::Int16 => "Int2",
        Base::Int32 => "Int4",
        Base::Int64 => "Int8",
        Base::Numeric => "Numeric",
        Base::Float64 => "Float8",
        Base::Text | Base::Stored(_) => "Text",
        Base::Bytes => "Bytea",
        Base::Uuid => "Uuid",
        Base::Json => "Jsonb",
        Base::Timestamp => "Timestamptz",
        Base::DateTime => "Timestamp",
        Base::Date => "Date",
        Base::TimeOfDay => "Time",
        Base::Interval => "Interval",
        Base::TextArray => "TextArray",
        Base::Int64Array => "Int8Array",
        Base::UuidArray => "UuidArray",
        Base::Enum(words) => return json!({ "Custom": { "name": words.name, "kind": { "Enum": words.words } } }),
    })
}

/// What a column of a kind is on Postgres.
fn base_of(kind: &Kind) -> Json {
    json!(match kind.pg {
        "boolean" => "Bool",
        "smallint" => "Int2",
        "integer" => "Int4",
        "bigint" => "Int8",
        "double precision" => "Float8",
        "real" => "Float4",
        "text" => "Text",
        "bytea" => "Bytea",
        "uuid" => "Uuid",
        "jsonb" => "Jsonb",
        "timestamptz" => "Timestamptz",
        "timestamp" => "Timestamp",
        "date" => "Date",
        "time" => "Time",
        "interval" => "Interval",
        "text[]" => "TextArray",
        "bigint[]" => "Int8Array",
        "integer[]" => "Int4Array",
        "uuid[]" => "UuidArray",
        "mood" => return json!({ "Custom": { "name": "mood", "kind": { "Enum": ["glad", "sad"] } } }),
        _ => "Numeric",
    })
}

/// The answers of both engines, in which a function `its_KIND` gives a value of that kind.
fn answered(inputs: &Inputs, compiled: &Compiled) -> String {
    let records = compiled.texts.iter().map(|text| {
        let called = KINDS.iter().find(|kind| text.sql.contains(&format!("its_{}(", kind.name)));
        let column = |column: &diglot::TextColumn| DescribedColumn {
            name: column.name.clone(),
            type_info: match (&column.base, called) {
                (Some(base), _) => type_info(base),
                (None, Some(kind)) => base_of(kind),
                (None, None) => json!("Null"),
            },
            nullable: None,
        };
        let of_pg = text.dialect == Dialect::Pg;
        let params = of_pg.then(|| text.params.iter().map(|param| type_info(&param.ty.base)).collect());
        let described = Described { params, columns: text.columns.iter().map(column).collect(), rows: None };
        (answers::key(text), answers::record(text, &described))
    });
    answers::index(inputs, &records.collect())
}

/// What the columns of `owned` hold.
fn own() -> String {
    let plain: BTreeSet<&str> = WAYS.iter().flat_map(|way| KINDS.iter().filter_map(|kind| way.plain(kind))).collect();
    let of = |plain: &&str| {
        format!(
            "impl From<Own<{plain}>> for {plain} {{\n    fn from(own: Own<{plain}>) -> Self {{\n        own.0\n    }}\n}}\n\n"
        )
    };
    let head = "/// A value of the project's own.\n#[derive(Debug, Clone)]\npub struct Own<T>(pub T);\n\n\
                impl<T> From<T> for Own<T> {\n    fn from(plain: T) -> Self {\n        Self(plain)\n    }\n}\n\n";
    head.to_owned() + &plain.iter().map(of).collect::<String>()
}

/// The same for rusqlite and tokio-postgres.
fn of_pair() -> [Way; 2] {
    let [owned, borrowed] = WAYS;
    [
        Way { settings: "driver = \"rusqlite+tokio-postgres\"\neither = true\n", ..owned },
        Way {
            settings: "driver = \"rusqlite+tokio-postgres\"\nqueries = \"plain\"\nparams = \"borrowed\"\n",
            ..borrowed
        },
    ]
}

/// Compiles what these ways give, in a crate with the dependencies of an example and its lock file.
fn compiles(tried: &Tried, ways: &[Way], example: &str, features: &[&str]) {
    let project = Project::empty();
    let example = workspace().join("examples").join(example);
    let manifest = fs::read_to_string(example.join("Cargo.toml")).unwrap();
    let (before, behind) = manifest.split_once("[build-dependencies]").unwrap();
    let behind = behind.split_once("[lints.rust]").unwrap().1;
    let before = before.replace("[target.'cfg(any())'.dependencies]", "");
    project.write("Cargo.toml", format!("{before}[lints.rust]{behind}"));
    project.write("Cargo.lock", fs::read(example.join("Cargo.lock")).unwrap());
    let mut lib = own();
    for way in ways {
        let mut inputs = way.inputs(tried);
        inputs.answers = Some(answered(&inputs, &check(&inputs)));
        let compiled = compile(&inputs);
        assert_eq!(errors(&compiled).count(), 0, "{}: {:?}", way.name, errors(&compiled).next());
        project.write(&format!("src/{}.rs", way.name), &compiled.rust);
        lib += &format!("pub mod {};\n", way.name);
    }
    project.write("src/lib.rs", lib);
    let built = cargo_in(&project, &[&["check", "--lib"], features].concat(), &[]);
    assert_eq!(built.code, Some(0), "{}", built.seen());
    assert!(!built.stderr.contains("warning"), "{}", built.seen());
}

#[test]
fn what_is_clean_compiles() {
    let _alone = ONE_AT_A_TIME.lock();
    let mut tried = Tried { statements: statements(), schema: BTreeSet::new() };
    settle(&WAYS[0], &mut tried, false);
    settle(&WAYS[0], &mut tried, true);
    let features = ["--no-default-features", "--features", "chrono,rust_decimal,jiff,bigdecimal"];
    compiles(&tried, &WAYS, "bookings", &features);
    compiles(&tried, &of_pair(), "lending", &[]);
    // What cannot be clean: how SQLite holds a time of unknown origin nobody can say, no declared type is that of an ENUM, and
    // neither documents nor numbers of 4 bytes are compared.
    let kinds = || KINDS.iter().filter(|kind| kind.name != "span");
    let is_open = |family: &str, kind: &Kind| match (family, kind.name) {
        ("declared" | "meets" | "writes" | "answered", "mood") | ("meets" | "plain", "doc") | ("plain", "rough") => {
            true
        }
        (family, _) => family == "answered" && !kind.storage.is_empty(),
    };
    let is_tried = |family: &str, kind: &Kind| {
        let names = || tried.statements.keys().filter(|name| name.starts_with(family));
        names().any(|name| name.contains(&format!("_{}", kind.name)))
    };
    let families = ["columns", "declared", "meets", "writes", "answered", "plain"];
    let lacking = families.into_iter().flat_map(|family| kinds().map(move |kind| (family, kind.name, kind)));
    let lacking = lacking.filter(|(family, _, kind)| !is_open(family, kind) && !is_tried(family, kind));
    assert_eq!(lacking.map(|(family, name, _)| (family, name)).collect::<Vec<_>>(), []);
}

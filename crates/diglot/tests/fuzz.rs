//! Random and mutated projects: whatever stands in the files, the compiler ends without a panic, and what it generates
//! is Rust.
//!
//! A short run with a fixed seed belongs to every test. A long one, which says which input it was at when it dies:
//! `FUZZ_RUNS=1000000 FUZZ_SEED=7 FUZZ_LOG=/tmp/input cargo test --release -p diglot --test fuzz`, under `ulimit -v` for
//! a bound on the memory.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use diglot::config::Config;
use diglot::render::{Look, all};
use diglot::source::{SourceFile, Sources};
use diglot::{Inputs, compile};

/// How many inputs each target gets when nothing else is asked for.
const RUNS: u64 = 600;
const SEED: u64 = 20_240_117;

/// SplitMix64: the same numbers on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { (self.next() % end as u64) as usize }
    }

    fn one<'i, T>(&mut self, items: &'i [T]) -> &'i T {
        &items[self.below(items.len())]
    }
}

/// The files of a project: both migrations, both statement files, the configuration.
#[derive(Clone, Default)]
struct Files {
    texts: [String; 5],
}

const PATHS: [&str; 4] =
    ["schema/sqlite/0001_all.sql", "schema/pg/0001_all.sql", "sql/sqlite/case.sql", "sql/pg/case.sql"];

impl Files {
    fn run(&self) {
        let mut sources = Sources::default();
        for (path, text) in PATHS.into_iter().zip(&self.texts) {
            sources.add(SourceFile::new(path, text.as_str()));
        }
        let config = Config::parse(&self.texts[4], "diglot.toml").unwrap_or_default();
        let compiled = compile(&Inputs { config, sources: sources.clone(), ..Inputs::default() });
        for look in [Look::Plain, Look::Short, Look::Json] {
            all(&sources, &compiled.diagnostics, look);
        }
        let parsed = syn::parse_file(&compiled.rust);
        assert!(parsed.is_ok(), "what is generated is no Rust: {:?}", parsed.err());
        for text in &compiled.texts {
            let comment = format!("/* {}.{}{} {} */ ", text.noun, text.name, text.variant, text.dialect);
            let rest = text.sql.strip_prefix(&comment).expect("a text begins with its name");
            assert!(!comment[2..comment.len() - 3].contains("*/") && !rest.is_empty());
        }
    }

    fn shown(&self) -> String {
        let names = PATHS.into_iter().chain(["diglot.toml"]);
        names.zip(&self.texts).map(|(path, text)| format!("==== {path}\n{text}\n")).collect()
    }
}

/// The cases of the catalogue as projects, and some that use the language of the files.
fn corpus() -> Vec<Files> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut paths: Vec<_> =
        fs::read_dir(folder).expect("the cases are there").flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut corpus: Vec<Files> = paths
        .iter()
        .map(|path| {
            let case: toml::Table = fs::read_to_string(path).expect("a readable case").parse().expect("a case is TOML");
            let text = |key: &str| case.get(key).and_then(toml::Value::as_str).map(str::to_owned);
            let schema = text("sqlite_schema").unwrap_or_default();
            let page = |key: &str| {
                let steps = match case.get(key) {
                    Some(toml::Value::Array(steps)) => steps.clone(),
                    other => other.cloned().into_iter().collect(),
                };
                let sql = |step: &toml::Value| step.as_str().or_else(|| step.get("q")?.as_str()).map(str::to_owned);
                let named = steps.iter().filter_map(sql).enumerate();
                named.map(|(at, sql)| format!("-- name: case_{at} :many\n{sql};\n\n")).collect::<String>()
            };
            let pg_schema = text("pg_schema").unwrap_or_else(|| schema.clone());
            Files { texts: [schema, pg_schema, page("sqlite"), page("pg"), String::new()] }
        })
        .collect();
    let annotated = "-- What it is for.\n-- name: case_one :opt\n-- param: lane text null\n-- column: n i64\n\
        -- diverges(where.n#3f2a91): they are meant to differ here\n-- allow(text-order): the order does not matter\n\
        SELECT job.n FROM job WHERE job.lane = :lane\n-- if: state\n AND job.state = :state\n-- end\n ORDER BY job.lane LIMIT :most;\n\n\
        -- name: case_two :exec\n-- only: sqlite — it has no locks at all\nDELETE FROM job WHERE job.n = sqlc.arg(n);\n\
        INSERT INTO job (lane, n) VALUES (:lane, ?1) ON CONFLICT (lane) DO UPDATE SET n = excluded.n + 1 RETURNING n;\n";
    let schema = "CREATE TABLE job (id INTEGER PRIMARY KEY, lane TEXT NOT NULL UNIQUE, state TEXT, n INTEGER NOT NULL DEFAULT 0);\n\
        CREATE INDEX job_n ON job (n DESC) WHERE state <> 'done';\nCREATE VIEW v AS SELECT id, lane FROM job;\n\
        ALTER TABLE job ADD COLUMN at_ms BIGINT;\n-- diverges(type.job.n): it is wider there\n";
    let config = "shard_key = \"lane\"\nschema_lints = true\n[words]\n\"job.state\" = [\"ready\", \"done\"]\n[types]\n\"job.lane\" = \"crate::Lane\"\n";
    let language = [schema, schema, annotated, annotated, config].map(str::to_owned);
    corpus.extend(std::iter::repeat_n(Files { texts: language }, 40));
    corpus
}

/// Pieces of both dialects, of the language of the files, and of what breaks readers.
const WORDS: &[&str] = &[
    "SELECT",
    "FROM",
    "WHERE",
    "job",
    "case_0",
    "(",
    ")",
    "((((",
    "))))",
    ",",
    ";",
    "'",
    "''",
    "\"",
    "$$",
    "$a$",
    "E'\\",
    "--",
    "/*",
    "*/",
    "\n",
    "\r\n",
    "\r",
    "\0",
    "\u{feff}",
    "\u{2028}",
    "é",
    "🦀",
    "ß",
    "::",
    ":",
    ":p1",
    "?1",
    "$1",
    "@p",
    "?",
    "[",
    "]",
    "{",
    "}",
    "->",
    "->>",
    "#>>",
    "||",
    "@>",
    "<=",
    "!=",
    "==",
    "= ANY(",
    "IN (",
    "IN ()",
    "NOT",
    "NULL",
    "IS",
    "IS NOT DISTINCT FROM",
    "AND",
    "OR",
    "BETWEEN",
    "LIKE",
    "ESCAPE",
    "GLOB",
    "CASE WHEN",
    "THEN",
    "ELSE",
    "END",
    "CAST(",
    "AS INTEGER)",
    "x'0",
    "0x1F",
    "1e999",
    "9223372036854775808",
    "1_000",
    ".5",
    "WITH",
    "RECURSIVE",
    "AS (",
    "MATERIALIZED",
    "UNION ALL",
    "EXCEPT",
    "INTERSECT",
    "ORDER BY",
    "GROUP BY",
    "HAVING",
    "LIMIT",
    "OFFSET",
    "FOR UPDATE SKIP LOCKED",
    "LEFT JOIN",
    "LATERAL",
    "ON",
    "USING (",
    "VALUES (",
    "INSERT INTO",
    "OR REPLACE",
    "ON CONFLICT",
    "DO UPDATE SET",
    "DO NOTHING",
    "RETURNING",
    "UPDATE",
    "SET",
    "DELETE FROM",
    "DEFAULT",
    "CREATE TABLE",
    "CREATE TRIGGER g AFTER UPDATE ON",
    "BEGIN",
    "PRIMARY KEY",
    "REFERENCES",
    "CHECK (",
    "STRICT",
    "PARTITION BY HASH (",
    "ALTER TABLE",
    "ADD COLUMN",
    "DROP",
    "json_set(",
    "jsonb_build_object(",
    "count(*)",
    "row_number() OVER (",
    "-- name: case_0 :many\n",
    "-- name: ",
    "-- if: p1\n",
    "-- end\n",
    "-- param: p1 text[]\n",
    "-- diverges(where): it is meant to differ\n",
    "-- allow(",
    "-- only: pg — ",
    "-- returns\n",
    "sqlc.arg(",
    "sqlc.slice('",
    "-- column: ",
    "fn main() {}",
    "#\"",
    "r#type",
    "self",
    "*/ DROP TABLE job; /*",
];

fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn range(random: &mut Random, text: &str, most: usize) -> (usize, usize) {
    let start = boundary(text, random.below(text.len() + 1));
    let end = boundary(text, start + random.below(most.min(text.len() - start) + 1));
    (start, end.max(start))
}

/// The longest text that a mutation makes.
const LONGEST: usize = 20_000;

fn mutate(random: &mut Random, text: &mut String, other: &str) {
    let (start, end) = range(random, text, 60);
    match random.below(8) {
        0 => text.replace_range(start..end, ""),
        1 => {
            let piece = text[start..end].to_owned();
            text.insert_str(start, &piece);
        }
        2 => text.insert_str(start, &format!(" {} ", random.one(WORDS))),
        3 => text.replace_range(start..end, random.one::<&str>(WORDS)),
        4 => {
            let (from, to) = range(random, other, 200);
            text.insert_str(start, &other[from..to]);
        }
        5 => {
            let piece = format!("{} ", random.one(WORDS));
            let times = random.below(300);
            text.insert_str(start, &piece.repeat(times));
        }
        6 => {
            let letter = char::from_u32(random.next() as u32 % 0x11_0000).unwrap_or('\u{fffd}');
            text.insert(start, letter);
        }
        _ => {
            let piece = text[start..end].to_owned();
            let times = random.below(40);
            text.insert_str(end, &piece.repeat(times));
        }
    }
    text.truncate(boundary(text, LONGEST));
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Runs a target, and tells the input where it fails.
fn fuzz(target: u64, input: impl Fn(&mut Random, &[Files]) -> Files) {
    let corpus = corpus();
    let (runs, seed) = (setting("FUZZ_RUNS", RUNS), setting("FUZZ_SEED", SEED));
    let log = std::env::var("FUZZ_LOG").ok().map(|path| format!("{path}.{target}"));
    for run in 0..runs {
        let mut random = Random(seed ^ (target << 56) ^ run.wrapping_mul(0x2545_F491_4F6C_DD1D));
        let files = input(&mut random, &corpus);
        if let Some(log) = &log {
            fs::write(log, files.shown()).expect("the log can be written");
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| files.run()));
        assert!(outcome.is_ok(), "run {run} of seed {seed} panics on\n{}", files.shown());
    }
}

/// The reader of files: pieces of anything in any order.
#[test]
fn the_reader_takes_any_text() {
    fuzz(1, |random, _| {
        let mut files = Files::default();
        for text in &mut files.texts {
            for _ in 0..random.below(60) {
                text.push_str(random.one::<&str>(WORDS));
                if random.below(3) > 0 {
                    text.push(' ');
                }
            }
        }
        if random.below(2) == 0 {
            for text in &mut files.texts[2..4] {
                text.insert_str(0, "-- name: case_0 :many\n");
            }
        }
        files
    });
}

/// The front of the parser: one statement or one migration is changed.
#[test]
fn the_parser_takes_changed_statements() {
    fuzz(2, |random, corpus| {
        let mut files = random.one(corpus).clone();
        let other = random.one(corpus).clone();
        let at = random.below(files.texts.len());
        for _ in 0..=random.below(6) {
            let from = random.one(&other.texts).clone();
            mutate(random, &mut files.texts[at], &from);
        }
        files
    });
}

/// The comparison: both pages are changed a little, so that they still can be read.
#[test]
fn the_comparison_takes_changed_pairs() {
    fuzz(3, |random, corpus| {
        let mut files = random.one(corpus).clone();
        let other = random.one(corpus).clone();
        if random.below(4) == 0 {
            // Statements of one case over the schema of another.
            files.texts[2].clone_from(&other.texts[2]);
            files.texts[3].clone_from(&other.texts[3]);
        }
        for at in 2..4 {
            for _ in 0..random.below(3) {
                let from = random.one(&other.texts).clone();
                mutate(random, &mut files.texts[at], &from);
            }
        }
        files
    });
}

/// Trees are as deep as chains are long; no stack is.
#[test]
fn long_chains_and_deep_brackets_end() {
    let schema = "CREATE TABLE job (id BIGINT NOT NULL PRIMARY KEY, n BIGINT NOT NULL);";
    for piece in [" AND n = 1", " + 1", " || 'a'", " OR NOT n > 2", "::text", " -> 'a'"] {
        for times in [300, 3_000, 60_000] {
            let chain = piece.repeat(times);
            let migration =
                format!("CREATE TABLE job (id BIGINT NOT NULL PRIMARY KEY, n BIGINT NOT NULL CHECK (n = 1{chain}));");
            let page = format!("-- name: job_get :many\nSELECT id FROM job WHERE n = 1{chain};\n");
            let plain = Files { texts: [schema, schema, &page, &page, ""].map(str::to_owned) };
            plain.run();
            let checked = Files { texts: [&migration, &migration, "", "", ""].map(str::to_owned) };
            checked.run();
        }
    }
    for (open, close) in
        [("(", ")"), ("NOT (", ")"), ("CASE WHEN ", " THEN 1 END"), ("(SELECT ", ")"), ("- ", ""), ("NOT ", "")]
    {
        for times in [30, 3_000, 60_000] {
            let (open, close) = (open.repeat(times), close.repeat(times));
            let page = format!("-- name: job_get :many\nSELECT {open}1{close} AS x FROM job;\n");
            let migration =
                format!("CREATE TABLE job (id BIGINT NOT NULL PRIMARY KEY, n BIGINT CHECK ({open}1{close}));");
            Files { texts: [schema, schema, &page, &page, ""].map(str::to_owned) }.run();
            Files { texts: [&migration, &migration, "", "", ""].map(str::to_owned) }.run();
        }
    }
}

/// Nothing in a name, a comment or a setting becomes code.
#[test]
fn names_and_comments_stay_what_they_are() {
    let hostile = [
        "\"] fn evil() {} #[doc = \"",
        "*/ DROP TABLE job; /*",
        "\\",
        "\\\"",
        "r#\"##\"#",
        "{}{0}{{",
        "\u{2028}fn evil() {}",
        "\u{202e}\u{0}",
        "]]>",
        "'; DROP TABLE job; --",
        "#![allow(unused)]",
        "\rfn evil() {}",
        "compile_error!(\"x\")",
        "$crate",
        "/** evil",
        "//! evil",
        "%s%n",
    ];
    let schema = "CREATE TABLE job (id BIGINT NOT NULL PRIMARY KEY, lane TEXT NOT NULL);";
    let page = |comment: &str, name: &str, inside: &str| {
        format!("-- {comment}\n-- name: {name} :opt\nSELECT job.lane {inside} FROM job WHERE job.id = :id;\n")
    };
    let compiled = |page: &str, noun: &str| {
        let mut sources = Sources::default();
        for dialect in ["sqlite", "pg"] {
            sources.add(SourceFile::new(format!("schema/{dialect}/0001_all.sql"), schema));
            sources.add(SourceFile::new(format!("sql/{dialect}/{noun}.sql"), page));
        }
        compile(&Inputs { sources, ..Inputs::default() })
    };
    let plain = compiled(&page("Reads a lane.", "job_lane", ""), "job");
    assert!(plain.diagnostics.is_empty());
    let items = |rust: &str| {
        let mut file = syn::parse_file(rust).expect("what is generated is Rust");
        strip(&mut file.items);
        prettyplease::unparse(&file)
    };
    for text in hostile {
        let documented = compiled(&page(text, "job_lane", ""), "job");
        assert!(!documented.has_errors(), "{text:?}");
        assert!(
            items(&documented.rust) == items(&plain.rust),
            "the comment {text:?} becomes code:\n{}",
            documented.rust
        );
        let commented = compiled(&page("Reads a lane.", "job_lane", &format!("-- {text}\n")), "job");
        if !commented.has_errors() {
            assert_eq!(commented.texts[0].sql, plain.texts[0].sql, "the comment {text:?} becomes SQL");
        }
        // A name that is none is refused, and the error that shows it is one literal.
        for (name, noun) in [(text, "job"), ("job_lane", text)] {
            let refused = compiled(&page("Reads a lane.", name, ""), noun);
            let parsed = syn::parse_file(&refused.rust).expect("what is generated is Rust");
            let evil = |item: &syn::Item| matches!(item, syn::Item::Fn(function) if function.sig.ident == "evil");
            assert!(!parsed.items.iter().any(evil), "{name:?} {noun:?}:\n{}", refused.rust);
            assert!(refused.texts.iter().all(|text| !text.sql.contains("DROP TABLE")), "{name:?} {noun:?}");
        }
    }
}

/// Removes documentation at every depth.
fn strip(items: &mut [syn::Item]) {
    let plain = |attributes: &mut Vec<syn::Attribute>| attributes.retain(|attribute| !attribute.path().is_ident("doc"));
    for item in items {
        match item {
            syn::Item::Trait(of) => {
                plain(&mut of.attrs);
                for item in &mut of.items {
                    if let syn::TraitItem::Fn(function) = item {
                        plain(&mut function.attrs);
                    }
                }
            }
            syn::Item::Mod(of) => {
                plain(&mut of.attrs);
                if let Some((_, items)) = &mut of.content {
                    strip(items);
                }
            }
            syn::Item::Struct(of) => {
                plain(&mut of.attrs);
                of.fields.iter_mut().for_each(|field| plain(&mut field.attrs));
            }
            syn::Item::Fn(of) => plain(&mut of.attrs),
            syn::Item::Impl(of) => plain(&mut of.attrs),
            _ => {}
        }
    }
}

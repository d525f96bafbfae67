//! Random and mutated projects: whatever stands in the files, the compiler ends without a panic, and what it generates
//! is Rust.
//!
//! A short run with a fixed seed belongs to every test. A long one, over all three targets, which keeps the project it is
//! at for when it dies, and notes now and then how far it is:
//! `FUZZ=10000000 FUZZ_SEED=7 FUZZ_LOG=/tmp/input cargo test --release -p diglot --test fuzz`, under `ulimit -v` for a
//! bound on the memory.

#[path = "fuzz/hostile.rs"]
mod hostile;

use std::collections::HashSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use diglot::config::Config;
use diglot::render::{Look, all};
use diglot::source::{SourceFile, Sources};
use diglot::{Compiled, Inputs, compile};

/// How many inputs the three targets get when nothing else is asked for.
const RUNS: u64 = 2_000;
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

    /// Up to so many, mostly few.
    fn few(&mut self, most: usize) -> usize {
        let end = most >> self.below(6);
        self.below(end + 1)
    }

    fn one<'i, T>(&mut self, items: &'i [T]) -> &'i T {
        &items[self.below(items.len())]
    }
}

/// The files of a project: both migrations, both statement files, the configuration.
#[derive(Clone, Default)]
struct Files {
    texts: [String; 5],
    /// More pairs of statement files over the same schemas: they share what a project costs.
    more: Vec<[String; 2]>,
}

const PATHS: [&str; 4] =
    ["schema/sqlite/0001_all.sql", "schema/pg/0001_all.sql", "sql/sqlite/case.sql", "sql/pg/case.sql"];

impl Files {
    /// Compiles them, and looks at everything that comes out. Rust that other runs gave already is `seen`.
    fn run(&self, seen: &mut HashSet<u64>) -> Compiled {
        let sources = self.sources();
        let config = Config::parse(&self.texts[4], "diglot.toml").unwrap_or_default();
        let compiled = compile(&Inputs { config, sources: sources.clone(), ..Inputs::default() });
        for look in [Look::Short, Look::Json] {
            all(&sources, &compiled.diagnostics, look);
        }
        assert_rust(&compiled.rust, seen);
        for text in &compiled.texts {
            let comment = format!("/* {}.{}{} {} */ ", text.noun, text.name, text.variant, text.dialect);
            let rest = text.sql.strip_prefix(&comment).expect("a text begins with its name");
            assert!(!comment[2..comment.len() - 3].contains("*/") && !rest.is_empty());
        }
        compiled
    }

    fn sources(&self) -> Sources {
        let mut sources = Sources::default();
        for (path, text) in self.files().filter(|(path, _)| path.ends_with(".sql")) {
            sources.add(SourceFile::new(path, text));
        }
        sources
    }

    fn files(&self) -> impl Iterator<Item = (String, &str)> {
        let first = PATHS.into_iter().chain(["diglot.toml"]).map(str::to_owned).zip(self.texts.iter());
        let more = self.more.iter().enumerate().flat_map(|(at, pages)| {
            ["sqlite", "pg"].into_iter().map(move |dialect| format!("sql/{dialect}/case{at}.sql")).zip(pages)
        });
        first.chain(more).map(|(path, text)| (path, text.as_str()))
    }

    fn shown(&self) -> String {
        self.files().map(|(path, text)| format!("==== {path}\n{text}\n")).collect()
    }
}

/// Asserts that a generated file is Rust. Each function, struct and the like is parsed in what holds it, unless it was
/// before: most of a file is what others have too. What is not cut where an item ends is no Rust alone.
fn assert_rust(rust: &str, seen: &mut HashSet<u64>) {
    let parse = |text: &str| {
        let parsed = syn::parse_file(text);
        assert!(parsed.is_ok(), "what is generated is no Rust: {:?} in\n{text}", parsed.err());
    };
    // The message of a broken project is one line, and another one in each.
    let is_message = |line: &&str| line.trim_start().starts_with("compile_error!(");
    rust.lines().filter(is_message).for_each(parse);
    let rest: String = rust.split_inclusive('\n').filter(|line| !is_message(line)).collect();
    for outer in rest.split_inclusive("\n}\n") {
        let mut length = 0;
        let head = outer.split_inclusive('\n').find(|line| {
            length += line.len();
            line.ends_with("{\n") && !line.starts_with([' ', '/'])
        });
        let (head, body) = if head.is_some() { outer.split_at(length) } else { ("", outer) };
        let (body, close) = body.strip_suffix("}\n").map_or((body, ""), |body| (body, "}\n"));
        let mut start = 0;
        let mut end = 0;
        for line in body.split_inclusive('\n') {
            end += line.len();
            let outermost = line.strip_prefix("    ").filter(|rest| !rest.starts_with([' ', '/']));
            if end < body.len() && !outermost.is_some_and(|rest| rest.ends_with(";\n") || rest.ends_with("}\n")) {
                continue;
            }
            let item = &body[start..end];
            start = end;
            let mut hasher = DefaultHasher::new();
            (head, item).hash(&mut hasher);
            if seen.insert(hasher.finish()) {
                parse(&format!("{head}{item}{close}"));
            }
        }
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
            Files { texts: [schema, pg_schema, page("sqlite"), page("pg"), String::new()], more: Vec::new() }
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
    let config = "shard_key = \"lane\"\nschema_lints = true\n[migrations]\n[words]\n\"job.state\" = [\"ready\", \"done\"]\n[types]\n\"job.lane\" = \"crate::Lane\"\n";
    let language = [schema, schema, annotated, annotated, config].map(str::to_owned);
    corpus.extend(std::iter::repeat_n(Files { texts: language, more: Vec::new() }, 40));
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
        3 => {
            let word = *random.one::<&str>(WORDS);
            text.replace_range(start..end, word);
        }
        4 => {
            let (from, to) = range(random, other, 200);
            text.insert_str(start, &other[from..to]);
        }
        5 => {
            let piece = format!("{} ", random.one(WORDS));
            let times = random.few(300);
            text.insert_str(start, &piece.repeat(times));
        }
        6 => {
            let letter = char::from_u32(random.next() as u32 % 0x11_0000).unwrap_or('\u{fffd}');
            text.insert(start, letter);
        }
        _ => {
            let piece = text[start..end].to_owned();
            let times = random.few(40);
            text.insert_str(end, &piece.repeat(times));
        }
    }
    text.truncate(boundary(text, LONGEST));
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// How many items of generated files are remembered, so that a long run stays small.
const MOST_SEEN: usize = 1_000_000;

/// How many inputs make a project: what they share is done once.
const TOGETHER: u64 = 20;

/// How long a project may take in a long run, far above what any needs on a busy machine. The short run that belongs
/// to every test looks at no clock.
const LONGEST_RUN: Duration = Duration::from_secs(60);

/// After how many projects a long run says how far it is.
const NOTED: u64 = 1_000;

/// Runs a target, and tells the project where it fails. The first input of a project may change its schemas and its
/// settings too.
fn fuzz(target: u64, change: impl Fn(&mut Random, &mut Files, &Files, bool)) {
    let corpus = corpus();
    let (runs, seed) = (setting("FUZZ", RUNS).div_ceil(3 * TOGETHER), setting("FUZZ_SEED", SEED));
    let log = std::env::var("FUZZ_LOG").ok().map(|path| format!("{path}.{target}"));
    let mut seen = HashSet::new();
    let (start, mut longest) = (Instant::now(), Duration::ZERO);
    for run in 0..runs {
        if seen.len() > MOST_SEEN {
            seen.clear();
        }
        let mut random = Random(seed ^ (target << 56) ^ run.wrapping_mul(0x2545_F491_4F6C_DD1D));
        let base = random.one(&corpus);
        let mut files = base.clone();
        let other = random.one(&corpus);
        change(&mut random, &mut files, other, true);
        for input in 1..TOGETHER {
            let mut another = base.clone();
            let other = random.one(&corpus);
            change(&mut random, &mut another, other, false);
            let [_, _, sqlite, pg, _] = another.texts;
            files.more.push([sqlite, pg].map(|page| page.replace("case_", &format!("case{input}_"))));
        }
        if let Some(log) = &log {
            fs::write(log, files.shown()).expect("the log can be written");
        }
        let before = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| files.run(&mut seen)));
        assert!(outcome.is_ok(), "run {run} of seed {seed} panics on\n{}", files.shown());
        let took = before.elapsed();
        assert!(log.is_none() || took < LONGEST_RUN, "run {run} of seed {seed} takes {took:?} on\n{}", files.shown());
        longest = longest.max(took);
        if let Some(log) = log.as_ref().filter(|_| (run + 1) % NOTED == 0) {
            let (inputs, took) = ((run + 1) * TOGETHER, start.elapsed().as_secs());
            let line = format!("{inputs} inputs in {took} s, {longest:?} for the slowest {TOGETHER}\n");
            fs::write(format!("{log}.far"), line).expect("the log can be written");
        }
    }
}

/// The reader of files: pieces of anything in any order.
#[test]
fn the_reader_takes_any_text() {
    fuzz(1, |random, files, _, _| {
        for text in &mut files.texts {
            text.clear();
            for _ in 0..random.few(60) {
                let word = *random.one::<&str>(WORDS);
                text.push_str(word);
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
    });
}

/// The front of the parser: one statement or one migration is changed.
#[test]
fn the_parser_takes_changed_statements() {
    fuzz(2, |random, files, other, whole| {
        let at = if whole { random.below(files.texts.len()) } else { 2 + random.below(2) };
        for _ in 0..=random.below(6) {
            let from = random.one(&other.texts).clone();
            mutate(random, &mut files.texts[at], &from);
        }
    });
}

/// The comparison: both pages are changed a little, so that they still can be read.
#[test]
fn the_comparison_takes_changed_pairs() {
    fuzz(3, |random, files, other, _| {
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
    });
}

/// The text under the first finding of a rule.
fn place(files: &Files, compiled: &Compiled, rule: &str) -> (usize, String) {
    let finding = compiled.diagnostics.iter().find(|finding| finding.rule == rule);
    let finding = finding.unwrap_or_else(|| panic!("no {rule} for {}", &files.shown()[..400]));
    let span = finding.labels.iter().find(|label| label.primary).expect("a place").span;
    (span.start as usize, files.sources().text(span).to_owned())
}

/// Trees are as deep as chains are long; no stack is. What is too deep is told where it becomes so.
#[test]
fn long_chains_and_deep_brackets_are_told_at_their_place() {
    let schema = "CREATE TABLE job (id BIGINT NOT NULL PRIMARY KEY, n BIGINT NOT NULL);";
    let page = |sql: &str| {
        let page = format!("-- name: job_get :many\n{sql};\n");
        Files { texts: [schema, schema, &page, &page, ""].map(str::to_owned), more: Vec::new() }
    };
    let check = |condition: &str| {
        let migration =
            format!("CREATE TABLE job (id BIGINT NOT NULL PRIMARY KEY, n BIGINT NOT NULL CHECK ({condition}));");
        Files { texts: [&migration, &migration, "", "", ""].map(str::to_owned), more: Vec::new() }
    };
    let mut seen = HashSet::new();
    let mut told = |files: &Files, rule: &str, start: usize, times: usize| {
        let compiled = files.run(&mut seen);
        // A shorter one may be refused for what it says, never for how long it is.
        if times > 300 {
            let (at, text) = place(files, &compiled, rule);
            assert!(
                at > start && at < start + 60_000 && text.len() < 20,
                "{text:?} at {at}: {}",
                &files.shown()[..400]
            );
        }
    };
    let chained = [
        " AND n = 1",
        " + 1",
        " - 1",
        " - 'a'",
        " || 'a'",
        " || jsonb_build_object('a')",
        " OR NOT n > 2",
        "::text",
        " -> 'a'",
        " IS NULL",
        " COLLATE nocase",
    ];
    for piece in chained {
        for times in [300, 2_000] {
            let chain = piece.repeat(times);
            told(&page(&format!("SELECT id FROM job WHERE n = 1{chain}")), "syntax", 60, times);
            told(&check(&format!("n = 1{chain}")), "schema-unreadable", 60, times);
        }
    }
    for piece in [" UNION ALL SELECT id, n FROM job", " JOIN job AS b ON b.id = 1", " EXCEPT VALUES (1, 2)"] {
        for times in [60, 2_000] {
            told(&page(&format!("SELECT id, n FROM job{}", piece.repeat(times))), "syntax", 60, times);
        }
    }
    // What each of several values is compared with is itself such a comparison.
    for piece in [" BETWEEN 1 AND 2", " IN (1, 2, n)", " NOT IN (SELECT n FROM job)"] {
        for times in [100, 2_000] {
            told(&page(&format!("SELECT id FROM job WHERE n = 1{}", piece.repeat(times))), "syntax", 60, times);
        }
    }
    let nested = [
        ("(", ")"),
        ("NOT (", ")"),
        ("CASE WHEN ", " THEN 1 END"),
        ("CASE ", " WHEN 1 THEN 1 WHEN 2 THEN 2 END"),
        ("coalesce(", ", 1)"),
        ("1 + (", ") BETWEEN 1 AND 2"),
        ("(SELECT ", ")"),
        ("- ", ""),
        ("NOT ", ""),
        ("abs(", ")"),
        ("(1, ", ")"),
        ("CAST(", " AS text)"),
        ("EXISTS (SELECT ", ")"),
        ("1 IN (", ")"),
        ("to_jsonb(", ")"),
        ("json_object('a', ", ", 'b')"),
        ("json_set('{}', '$.a', ", ", n, 1)"),
        ("json_remove(", ", n)"),
        ("jsonb_set('{}', '{a}', ", ")"),
        ("lower(hex(", ")) IN (SELECT value FROM json_each(:list))"),
        ("json_patch('{}', json_object('a', ", ")) ->> 'a'"),
        ("(SELECT count(a) + sum(a) AS a FROM (SELECT ", " AS a) AS s)"),
    ];
    for (open, close) in nested {
        let most = 40 / open.matches('(').count().max(1);
        for times in [most.min(30), 2_000] {
            let (open, close) = (open.repeat(times), close.repeat(times));
            told(&page(&format!("SELECT {open}1{close} AS x FROM job")), "syntax", 30, times);
            told(&check(&format!("{open}1{close}")), "schema-unreadable", 60, times);
        }
    }
    // What one statement of a unit writes, the next ones read.
    let written = "UPDATE job SET doc = json_set(doc, '$.a', :value)";
    let read_twice =
        |at: usize| format!("a{at} AS (UPDATE job SET n = 1 FROM a{0} RETURNING a{0}.x + a{0}.x AS x)", at - 1);
    let ctes: Vec<String> = (1..60).map(read_twice).collect();
    let chain = format!("WITH a0 AS (UPDATE job SET n = 1 RETURNING n AS x), {} SELECT x FROM a59", ctes.join(", "));
    let schema = "CREATE TABLE job (id BIGINT NOT NULL PRIMARY KEY, n BIGINT NOT NULL, doc TEXT NOT NULL);";
    for sql in [[written; 60].join(";\n"), chain] {
        let page = format!("-- name: job_set :many\n{sql};\n");
        Files { texts: [schema, schema, &page, &page, ""].map(str::to_owned), more: Vec::new() }
            .run(&mut HashSet::new());
    }
    for times in [30, 2_000, 30_000] {
        let (open, close) = ("(".repeat(times), ")".repeat(times));
        told(&page(&format!("SELECT id FROM {open}job{close}")), "syntax", 30, times);
        told(&page(&format!("{open}SELECT id FROM job{close}")), "syntax", 20, times);
    }
}

//! The house rules that a machine can check, over the text of the repository.
//!
//! A rule is a pure function from a file's path and text to complaints; rules about several files take all
//! of them. Every rule has a test that plants a violation and sees it found.

#[path = "tidy/built.rs"]
mod built;
#[path = "tidy/documents.rs"]
mod documents;
#[path = "tidy/macros.rs"]
mod macros;
#[path = "tidy/rooms.rs"]
mod rooms;
#[path = "tidy/words.rs"]
mod words;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// No file is longer.
const MAX_LINES: usize = 600;

/// A file: its path from the root with forward slashes, and its text.
struct File {
    path: String,
    text: String,
}

/// One complaint: a line (0 for the file as a whole) and what is wrong there.
type Complaint = (usize, String);

/// A rule about single files.
struct Rule {
    name: &'static str,
    applies: fn(&str) -> bool,
    check: fn(&str, &Rust) -> Vec<Complaint>,
}

const RULES: &[Rule] = &[
    Rule { name: "sql-outside-sql", applies: in_src, check: sql_text },
    Rule {
        name: "raw-query-outside-db",
        applies: |path| in_src(path) && !path.starts_with("src/db/"),
        check: raw_queries,
    },
    Rule { name: "transaction-outside-tx", applies: |path| in_src(path) && !may_transact(path), check: transactions },
    Rule { name: "column-by-name", applies: |path| in_src(path) && !migrates(path), check: columns_by_name },
    Rule { name: "statement-macro", applies: |path| path.starts_with("src/engine/"), check: macros::found },
    Rule { name: "dialect-in-engine", applies: |path| path.starts_with("src/engine/"), check: dialect_decisions },
    Rule { name: "fallback-for-a-database-value", applies: reads_database, check: fallbacks },
    Rule { name: "missing-header", applies: is_source, check: header },
    Rule { name: "history-in-comment", applies: is_rust, check: history },
];

fn is_rust(path: &str) -> bool {
    path.ends_with(".rs")
}

fn in_src(path: &str) -> bool {
    is_rust(path) && path.starts_with("src/")
}

/// Files of the packages themselves, not of their tests.
fn is_source(path: &str) -> bool {
    is_rust(path) && (path.starts_with("src/") || (path.starts_with("crates/") && path.contains("/src/")))
}

/// The migrator runs the files of `schema/` and keeps the ledger.
fn migrates(path: &str) -> bool {
    path.starts_with("src/db/migrate")
}

fn may_transact(path: &str) -> bool {
    path == "src/db/tx.rs" || path.starts_with("src/db/tx/") || migrates(path)
}

/// Policies decide without a database.
fn reads_database(path: &str) -> bool {
    (path.starts_with("src/engine/") && !path.starts_with("src/engine/policy/")) || path.starts_with("src/db/")
}

/// Rust text taken apart: code with strings emptied and comments removed, line by line as it was.
struct Rust {
    code: String,
    strings: Vec<(usize, String)>,
    comments: Vec<(usize, String)>,
    first_line: String,
    lines: Vec<String>,
}

impl Rust {
    fn new(text: &str) -> Self {
        let mut rust = Self {
            code: String::new(),
            strings: Vec::new(),
            comments: Vec::new(),
            first_line: text.lines().next().unwrap_or_default().to_owned(),
            lines: text.lines().map(str::to_owned).collect(),
        };
        let mut rest = text;
        let mut line = 1;
        while let Some(next) = rest.chars().next() {
            let length = rust.take(rest, line).max(next.len_utf8());
            let taken = &rest[..length];
            line += taken.matches('\n').count();
            rest = &rest[length..];
        }
        rust
    }

    /// Takes one piece from the front and says how long it was.
    fn take(&mut self, rest: &str, line: usize) -> usize {
        if rest.starts_with("//") {
            let end = rest.find('\n').unwrap_or(rest.len());
            self.comments.push((line, rest[..end].to_owned()));
            return end;
        }
        if rest.starts_with("/*") {
            let end = rest.find("*/").map_or(rest.len(), |at| at + 2);
            self.comments.push((line, rest[..end].to_owned()));
            self.keep_lines(&rest[..end]);
            return end;
        }
        if let Some(hashes) = raw_string(rest) {
            let close = format!("\"{}", "#".repeat(hashes));
            let start = hashes + 2;
            let end = rest[start..].find(&close).map_or(rest.len(), |at| start + at);
            self.string(&rest[start..end], line);
            return (end + close.len()).min(rest.len());
        }
        if rest.starts_with('"') {
            let end = closing_quote(rest, '"');
            self.string(&rest[1..end], line);
            return (end + 1).min(rest.len());
        }
        if let Some(length) = char_literal(rest) {
            self.code.push_str("' '");
            return length;
        }
        // A whole word at once, so that the `r` of `for"` never opens a raw string.
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let length = word.max(rest.chars().next().map_or(0, char::len_utf8));
        self.code.push_str(&rest[..length]);
        length
    }

    fn string(&mut self, content: &str, line: usize) {
        self.strings.push((line, content.to_owned()));
        self.code.push('"');
        self.keep_lines(content);
        self.code.push('"');
    }

    fn keep_lines(&mut self, text: &str) {
        self.code.extend(text.chars().filter(|c| *c == '\n'));
    }

    /// Whether the end of a line belongs to a string.
    fn is_inside_string(&self, line: usize) -> bool {
        self.strings.iter().any(|(start, text)| (*start..start + text.matches('\n').count()).contains(&line))
    }

    /// Complaints about every line of code in which one of the words stands.
    fn lines_with(&self, words: &[&str], complaint: &str) -> Vec<Complaint> {
        let lines = self.code.lines().enumerate();
        let hit = |line: &str| words.iter().copied().find(|word| line.contains(*word));
        lines.filter_map(|(n, line)| hit(line).map(|word| (n + 1, format!("`{word}` {complaint}")))).collect()
    }
}

/// The number of hashes when a raw string (also a byte or C one) starts here.
fn raw_string(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix('r')?;
    let hashes = after.bytes().take_while(|byte| *byte == b'#').count();
    after[hashes..].starts_with('"').then_some(hashes)
}

fn closing_quote(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at,
            _ => {}
        }
    }
    rest.len()
}

/// The length of a character literal; a lifetime is none.
fn char_literal(rest: &str) -> Option<usize> {
    let mut chars = rest.char_indices();
    (chars.next()?.1 == '\'').then_some(())?;
    let second = chars.next()?.1;
    if second == '\\' {
        return Some((closing_quote(rest, '\'') + 1).min(rest.len()));
    }
    let (at, third) = chars.next()?;
    (third == '\'').then_some(at + 1)
}

fn sql_text(path: &str, rust: &Rust) -> Vec<Complaint> {
    let allowed: &[&str] = match path {
        _ if migrates(path) => return Vec::new(),
        _ if may_transact(path) => &["BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE"],
        "src/db/opening.rs" => &["PRAGMA"],
        _ => &[],
    };
    let sql = |text: &str| sql_keyword(text).filter(|word| !allowed.contains(word));
    let strings = rust.strings.iter();
    strings
        .filter_map(|(line, text)| sql(text).map(|word| (*line, format!("a string starts like SQL: {word}"))))
        .collect()
}

/// The SQL keyword that a text starts with, unless it reads like a sentence.
fn sql_keyword(text: &str) -> Option<&'static str> {
    const KEYWORDS: &[&str] = &[
        "SELECT",
        "INSERT",
        "UPDATE",
        "DELETE",
        "WITH",
        "BEGIN",
        "COMMIT",
        "ROLLBACK",
        "SAVEPOINT",
        "RELEASE",
        "PRAGMA",
        "CREATE",
        "ALTER",
        "DROP",
        "SET",
        "LISTEN",
        "NOTIFY",
        "UNLISTEN",
        "TRUNCATE",
        "VACUUM",
        "ATTACH",
        "EXPLAIN",
        "LOCK",
    ];
    const LOWER: &[(&str, &str)] =
        &[("select", " from "), ("insert", "into "), ("update", " set "), ("delete", "from "), ("pragma", " ")];
    let first = text.trim_start().split(|c: char| !c.is_ascii_alphabetic()).next()?;
    if let Some(keyword) = KEYWORDS.iter().find(|keyword| **keyword == first) {
        return Some(keyword);
    }
    let folded = text.to_ascii_lowercase();
    let (word, _) = LOWER.iter().find(|(word, next)| *word == first && folded.contains(next))?;
    KEYWORDS.iter().copied().find(|keyword| keyword.eq_ignore_ascii_case(word))
}

fn raw_queries(_: &str, rust: &Rust) -> Vec<Complaint> {
    let words = ["sqlx::query", "query_as(", "query_scalar(", "raw_sql(", "QueryBuilder", "sqlx::raw_sql"];
    rust.lines_with(&words, "goes around the generated statements")
}

fn transactions(_: &str, rust: &Rust) -> Vec<Complaint> {
    rust.lines_with(&[".begin()", ".begin_with(", ".commit()", ".rollback()"], "belongs in src/db/tx.rs")
}

fn columns_by_name(_: &str, rust: &Rust) -> Vec<Complaint> {
    let mut found = rust.lines_with(&[".try_get(", "sqlx::Row", "SqliteRow", "PgRow"], "reads a column by hand");
    for (n, line) in rust.code.lines().enumerate() {
        if line.contains("use sqlx::{") && line.contains("Row") {
            found.push((n + 1, "`Row` reads a column by hand".into()));
        }
    }
    found
}

fn dialect_decisions(_: &str, rust: &Rust) -> Vec<Complaint> {
    let mut found =
        rust.lines_with(&["TAG ==", "TAG !=", "match D::TAG", "Dialect::", "TypeId::"], "decides by dialect");
    let words = ["sqlite", "postgres", "pg"];
    let named = rust.strings.iter().filter(|(_, text)| words.contains(&text.to_ascii_lowercase().as_str()));
    found.extend(named.map(|(line, text)| (*line, format!("\"{text}\" names a dialect"))));
    found
}

fn fallbacks(_: &str, rust: &Rust) -> Vec<Complaint> {
    let excused = |line: usize| rust.lines.get(line - 1).is_some_and(|text| text.contains("// tidy: "));
    let mut found = rust.lines_with(&[".unwrap_or"], "hides a bad value; say why not after `// tidy: `");
    found.retain(|(line, _)| !excused(*line));
    found
}

fn header(_: &str, rust: &Rust) -> Vec<Complaint> {
    if rust.first_line.starts_with("//!") {
        Vec::new()
    } else {
        vec![(1, "the file starts without a `//!` header".into())]
    }
}

fn history(_: &str, rust: &Rust) -> Vec<Complaint> {
    let comments = rust.comments.iter();
    comments
        .flat_map(|(line, text)| {
            text.lines().enumerate().filter_map(move |(n, text)| Some((line + n, history_word(text)?)))
        })
        .map(|(line, word)| (line, format!("\"{word}\" is history or process; a comment says why")))
        .collect()
}

/// What a comment says about how the text came to be, and not about what it is.
fn history_word(text: &str) -> Option<String> {
    const WORDS: &[&str] = &[
        "TODO",
        "FIXME",
        "XXX",
        "HACK",
        "for now",
        "previously",
        "originally",
        "refactor",
        "code review",
        "backport",
        "in an earlier version",
        "used to be",
        "was changed",
        "chatgpt",
        "claude",
    ];
    const NUMBERED: &[&str] =
        &["wave ", "phase ", "stage ", "ticket ", "issue ", "pull request ", "PR ", "RFC-", "PR #", "#"];
    // What stands in backticks is quoted.
    let text: String = text.split('`').step_by(2).collect();
    let folded = text.to_lowercase();
    let plain = |word: &&str| {
        let shouted = word.chars().all(char::is_uppercase);
        if shouted { words(&text).any(|found| found == *word) } else { folded.contains(*word) }
    };
    if let Some(word) = WORDS.iter().copied().find(plain) {
        return Some(word.to_owned());
    }
    let numbered = |word: &&str| {
        let word = word.to_lowercase();
        folded.match_indices(&word).any(|(at, _)| {
            let before = folded[..at].chars().next_back();
            let after = folded[at + word.len()..].chars().next();
            before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '&')
                && after.is_some_and(|c| c.is_ascii_digit())
        })
    };
    NUMBERED.iter().copied().find(numbered).map(|word| format!("{word}<number>"))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
}

/// Text files of any kind: length, white space, history in SQL comments.
fn text_complaints(file: &File, rust: &Rust) -> Vec<(&'static str, Complaint)> {
    let mut found = Vec::new();
    let lines = file.text.lines().count();
    let in_string = |line: usize| is_rust(&file.path) && rust.is_inside_string(line);
    if is_rust(&file.path) && lines > MAX_LINES {
        found.push(("too-long", (0, format!("{lines} lines, {MAX_LINES} at most"))));
    }
    for (n, line) in file.text.lines().enumerate() {
        if line.ends_with([' ', '\t', '\r']) && !in_string(n + 1) {
            found.push(("trailing-white-space", (n + 1, "white space at the end of the line".into())));
        }
        let comment = line.split_once("--").filter(|_| file.path.ends_with(".sql"));
        if let Some(word) = comment.and_then(|(_, comment)| history_word(comment)) {
            found.push(("history-in-comment", (n + 1, format!("\"{word}\" is history or process"))));
        }
    }
    if !file.text.is_empty() && (!file.text.ends_with('\n') || file.text.ends_with("\n\n")) {
        found.push(("trailing-white-space", (lines, "the file ends with exactly one line break".into())));
    }
    found
}

/// Functions that both `src/db/sqlite.rs` and `src/db/pg.rs` define, other than as methods of a trait: what is
/// written once per dialect belongs elsewhere, written once.
fn twins(sqlite: &str, pg: &str) -> Vec<String> {
    let sqlite = own_functions(&Rust::new(sqlite).code);
    let both = own_functions(&Rust::new(pg).code).into_iter().filter(|name| sqlite.contains(name));
    both.filter(|name| !OWN.contains(&name.as_str())).collect()
}

/// What every store has for itself: a constructor, and the driver's own pool.
const OWN: &[&str] = &["new", "pool"];

/// The names of all functions outside `impl Trait for Type` blocks and test modules.
fn own_functions(code: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = code;
    while let Some(at) = rest.find(|c: char| c.is_alphabetic() || c == '_' || c == '#') {
        rest = &rest[at..];
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let head = &rest[..rest.find(['{', ';']).unwrap_or(rest.len())];
        match &rest[..word] {
            "impl" if head.contains(" for ") => rest = after_block(rest),
            "" if rest.starts_with("#[cfg(test)]") => rest = after_block(rest),
            "fn" => {
                let name = words_with_underscore(&rest[word..]).to_owned();
                rest = &rest[word..];
                names.extend((!name.is_empty()).then_some(name));
            }
            _ => rest = &rest[word.max(1)..],
        }
    }
    names
}

fn words_with_underscore(text: &str) -> &str {
    let text = text.trim_start();
    &text[..text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())]
}

/// What follows the block (or the semicolon) that comes next.
fn after_block(code: &str) -> &str {
    let mut depth = 0;
    for (at, c) in code.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return &code[at + 1..],
            '}' => depth -= 1,
            ';' if depth == 0 => return &code[at + 1..],
            _ => {}
        }
    }
    ""
}

fn files() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["src", "crates", "tests", "examples", "sql", "schema", "scripts"] {
        collect(root, &root.join(folder), &mut files);
    }
    files
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<File>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            // Planted mistakes of test cases live in `cases`, build output in `target`.
            if !["target", "cases", "snapshots"].contains(&name.as_str()) {
                collect(root, &path, files);
            }
        } else if [".rs", ".sql", ".toml", ".md"].iter().any(|end| name.ends_with(end)) {
            let relative = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{relative}: {error}"));
            files.push(File { path: relative, text });
        }
    }
}

fn complaints(file: &File) -> Vec<(&'static str, Complaint)> {
    let rust = Rust::new(&file.text);
    let mut found = text_complaints(file, &rust);
    for rule in RULES.iter().filter(|rule| (rule.applies)(&file.path)) {
        found.extend((rule.check)(&file.path, &rust).into_iter().map(|complaint| (rule.name, complaint)));
    }
    found
}

#[test]
fn the_repository_keeps_the_house_rules() {
    let files = files();
    let mut report = String::new();
    for file in &files {
        for (rule, (line, what)) in complaints(file) {
            writeln!(report, "{}:{line}: [{rule}] {what}", file.path).unwrap();
        }
    }
    let texts = |start: &str| -> String {
        files.iter().filter(|file| file.path.starts_with(start)).map(|file| file.text.as_str()).collect()
    };
    for name in twins(&texts("src/db/sqlite"), &texts("src/db/pg")) {
        writeln!(report, "src/db: [written-twice] `fn {name}` is written once per dialect").unwrap();
    }
    for complaint in [rooms::complaints(&files), words::complaints(&files), built::complaints(&files)].concat() {
        writeln!(report, "{complaint}").unwrap();
    }
    assert!(report.is_empty(), "\n{report}");
}

/// The names of the rules that complain about `text` at `path`.
#[track_caller]
fn rules_hit(path: &str, text: &str) -> Vec<&'static str> {
    let file = File { path: path.into(), text: format!("//! Header.\n{text}\n") };
    let mut names: Vec<_> = complaints(&file).into_iter().map(|(rule, _)| rule).collect();
    names.dedup();
    names
}

#[test]
fn sql_is_found_in_every_kind_of_string_but_not_in_prose() {
    for planted in [
        r#"const Q: &str = "SELECT 1";"#,
        "const Q: &str = r#\"\n   UPDATE t SET a = 1\"#;",
        r#"let q = "insert into t values (1)";"#,
        r#"let q = "\u{20}"; let r = "PRAGMA journal_mode";"#,
        r#"let c = '"'; let q = "ROLLBACK";"#,
    ] {
        assert_eq!(rules_hit("src/engine/lease.rs", planted), ["sql-outside-sql"], "{planted}");
    }
    for innocent in [
        "// SELECT 1 is what it sends.",
        r#"let m = "update failed";"#,
        r#"let m = "with care";"#,
        "fn f<'a>(x: &'a str) {}",
        r#"let m = "Selected rows";"#,
    ] {
        assert_eq!(rules_hit("src/engine/lease.rs", innocent), [""; 0], "{innocent}");
    }
    assert_eq!(rules_hit("src/db/tx.rs", r#"let b = "BEGIN IMMEDIATE";"#), [""; 0]);
    assert_eq!(rules_hit("src/db/tx.rs", r#"let b = "DELETE FROM t";"#), ["sql-outside-sql"]);
    assert_eq!(rules_hit("src/db/opening.rs", r#"let b = "PRAGMA foreign_keys = ON";"#), [""; 0]);
    assert_eq!(rules_hit("src/db/pg.rs", r#"let b = "PRAGMA foreign_keys = ON";"#), ["sql-outside-sql"]);
}

#[test]
fn a_query_beside_the_generated_statements_is_found() {
    assert_eq!(rules_hit("src/engine/lease.rs", "sqlx::query(text)"), ["raw-query-outside-db"]);
    assert_eq!(rules_hit("src/sweep/workers.rs", "use sqlx::raw_sql;\nraw_sql(text)"), ["raw-query-outside-db"]);
    assert_eq!(rules_hit("src/db/migrate.rs", "sqlx::query(text)"), [""; 0]);
}

#[test]
fn a_transaction_outside_its_door_is_found() {
    assert_eq!(rules_hit("src/engine/lease.rs", "let tx = pool.begin().await?;"), ["transaction-outside-tx"]);
    assert_eq!(rules_hit("src/db/pg.rs", "tx.rollback().await?;"), ["transaction-outside-tx"]);
    assert_eq!(rules_hit("src/db/tx.rs", "tx.commit().await?;"), [""; 0]);
}

#[test]
fn a_column_read_by_hand_is_found() {
    assert_eq!(rules_hit("src/engine/lease.rs", r#"row.try_get("epoch")?"#), ["column-by-name"]);
    assert_eq!(rules_hit("src/db/mod.rs", "use sqlx::{Connection, Row};"), ["column-by-name"]);
    assert_eq!(rules_hit("src/engine/lease.rs", r#"json.get("kind")"#), [""; 0]);
}

#[test]
fn a_decision_by_dialect_is_found_in_the_engine() {
    for planted in ["if D::TAG == Tag::Pg {}", "match x { Dialect::Pg => 1 }", r#"if name == "sqlite" {}"#] {
        assert_eq!(rules_hit("src/engine/lease.rs", planted), ["dialect-in-engine"], "{planted}");
    }
    assert_eq!(rules_hit("src/engine/lease.rs", "fn f<D: Dialect>(d: D) {}"), [""; 0]);
}

#[test]
fn a_fallback_needs_its_reason() {
    assert_eq!(rules_hit("src/engine/lease.rs", "let e = row.epoch.unwrap_or(0);"), ["fallback-for-a-database-value"]);
    assert_eq!(rules_hit("src/engine/lease.rs", "let e = x.unwrap_or(0); // tidy: a caller's option"), [""; 0]);
}

#[test]
fn headers_lengths_white_space_and_history_are_checked() {
    let file = |text: &str| complaints(&File { path: "src/x.rs".into(), text: text.into() });
    assert_eq!(file("fn f() {}\n")[0].0, "missing-header");
    assert_eq!(file(&format!("//! H.\n{}", "\n".repeat(MAX_LINES - 1) + "x\n"))[0].0, "too-long");
    assert_eq!(file("//! H. \n")[0].0, "trailing-white-space");
    assert_eq!(file("//! H.")[0].0, "trailing-white-space");
    assert!(file("//! H.\nconst S: &str = \"a \nb\";\n").is_empty());
    assert_eq!(file("//! H.\nconst S: &str = \"a\nb\"; \n")[0].0, "trailing-white-space");
    for planted in ["// TODO later", "/* fixed in\n wave 9 */", "// see #12", "// Good enough for now.", "// RFC-024"] {
        assert_eq!(rules_hit("src/x.rs", planted), ["history-in-comment"], "{planted}");
    }
    for innocent in ["// lifecycle_phase 1", "let s = \"TODO\";", "// RFC 3339 time stamps", "// a[#] and `#2`"] {
        assert_eq!(rules_hit("src/x.rs", innocent), [""; 0], "{innocent}");
    }
    let sql = File { path: "sql/pg/x.sql".into(), text: "SELECT 1; -- FIXME\n".into() };
    assert_eq!(complaints(&sql)[0].0, "history-in-comment");
}

#[test]
fn a_function_written_once_per_dialect_is_found() {
    let sqlite = "fn classify() {} impl Dialect for Sqlite { fn begin() { if x {} } } fn only_here() {}";
    let pg = "impl Dialect for Pg { fn begin() {} } #[cfg(test)] mod tests { fn only_here() {} } fn classify() {}";
    assert_eq!(twins(sqlite, pg), ["classify"]);
}

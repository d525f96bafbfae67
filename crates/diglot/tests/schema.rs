//! The JSON schema of `diglot.toml` and the code that reads the file take and refuse the same.

use std::fs;
use std::path::{Path, PathBuf};

use boon::{Compiler, SchemaIndex, Schemas};
use diglot::config::{Config, FILE, SCHEMA};
use serde_json::Value;

/// The schema, compiled.
struct Schema {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Schema {
    fn compiled() -> Self {
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.add_resource("file:///schema.json", serde_json::from_str(SCHEMA).unwrap()).unwrap();
        let index = compiler.compile("file:///schema.json", &mut schemas).unwrap();
        Self { schemas, index }
    }

    /// What the schema says against a text.
    fn fault(&self, text: &str) -> Option<String> {
        let value: Value = toml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        self.schemas.validate(&value, self.index).err().map(|error| error.to_string())
    }
}

/// The files below a folder whose names end so, without what is built.
fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !["target", "node_modules", ".git"].contains(&name.as_str()) {
            files(&path, ending, found);
        } else if name.ends_with(ending) {
            found.push(path);
        }
    }
}

fn found(ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), ending, &mut found);
    found
}

/// Tables of the files of other programs, which the book shows as well.
const OF_OTHERS: [&str; 5] = ["dependencies]", "[features]", "[language-server", "ff-backend-postgres =", "[package"];

/// What the book shows of `diglot.toml`, with the page of each.
fn shown() -> Vec<(PathBuf, String)> {
    let mut shown = Vec::new();
    for page in found(".md") {
        let text = fs::read_to_string(&page).unwrap();
        for rest in text.split("```toml\n").skip(1) {
            let block = rest.split_once("```").unwrap().0;
            if !OF_OTHERS.iter().any(|table| block.contains(table)) {
                shown.push((page.clone(), block.to_owned()));
            }
        }
    }
    shown
}

#[test]
fn every_file_and_all_that_the_book_shows_is_taken() {
    let schema = Schema::compiled();
    let kept = [found(FILE), found("check-only.toml")]
        .concat()
        .into_iter()
        .map(|path| (path.clone(), fs::read_to_string(path).unwrap()));
    let (kept, shown): (Vec<_>, _) = (kept.collect(), shown());
    assert!(kept.len() >= 20 && shown.len() >= 16, "{} files, {} blocks", kept.len(), shown.len());
    for (path, text) in kept.iter().chain(&shown) {
        let path = path.display().to_string();
        assert_eq!(schema.fault(text), None, "{path}\n{text}");
        Config::parse(text, &path).unwrap_or_else(|error| panic!("{error}\n{text}"));
    }
}

#[test]
fn every_way_to_write_a_value_is_taken() {
    let schema = Schema::compiled();
    for text in [
        "",
        "sql = \"db\"\n[schema]\nsqlite = [\"a\", \"b.sql\"]\npg = \"c\"",
        "generate = false",
        "[generate]\nqueries = \"plain\"\ntables = \"sea-query\"\nparams = \"borrowed\"",
        "[words]\n\"a.b\" = [\"x\"]\n\"a.c\" = { enum = \"C\", words = [\"x\"], other = true }\n\"a.d\" = \"C\"",
        "[assume]\nnumbers_fit = true\ntexts_have_no_nul = [\"a.b\"]\ntimes_between = [\"1970-01-01\", \"2100-01-01\"]",
        "[assume.times_between]\n\"a.b\" = [\"1970-01-01\", \"2100-01-01\"]",
        "[[declared]]\nsays = [\"allow(x)\"]\nreason = \"r\"\non = [\"a\"]",
        "[[declared]]\nsays = [\"allow(x)\"]\nreason = \"r\"\non = { a = \"1\", b = [\"1\", \"2\"] }",
        "[keys.k]\nstruct = \"crate::K\"\nfields = { a = \"t.a\", b = [\"t.b\", \"*.b\"] }",
        "[types]\ntimes = \"jiff\"\n\"a.b\" = \"crate::B\"\n[generate]\nqueries = \"plain\"",
        "[json]\n\"a.b.c\" = \"i64 or text always\"\n[storage]\n\"a.b\" = \"iso-ms\"",
        "pg_majors = [15]\nunproved = \"deny\"\njson_text = \"parsed\"\nsqlite_feature = \"s\"\nlocks = { order = [\"a\"] }",
        "[prove]\nranges = { \"a.b\" = [0, 1] }\nfields = { \"a.b.c\" = \"digits\" }\n[migrations]\n[built]\nlists = [\"f\"]",
        "shard_key = \"k\"\ndistributed = \"citus\"\nplacement = { a = \"reference\" }\ntransactions = { t = [\"a\"] }",
    ] {
        assert_eq!(schema.fault(text), None, "{text}");
        Config::parse(text, FILE).unwrap_or_else(|error| panic!("{error}\n{text}"));
    }
}

#[test]
fn what_the_code_refuses_is_refused() {
    let schema = Schema::compiled();
    for text in [
        "shema = \"x\"",
        "sql = 3",
        "[sql]\nsqlite = \"a\"",
        "[sql]\nsqlite = \"a\"\npg = \"b\"\nmysql = \"c\"",
        "lockstep = \"yes\"",
        "pg_majors = [9]",
        "pg_majors = []",
        "generate = \"no\"",
        "[generate]\nquery = \"plain\"",
        "[generate]\nqueries = \"quick\"",
        "[words]\n\"a.b\" = 3",
        "[words]\n\"a.b\" = { enum = \"B\", word = [\"x\"] }",
        "[types]\ntimes = \"sundial\"",
        "[json]\n\"a.b.c\" = \"json\"",
        "[storage]\n\"a.b\" = \"epoch\"",
        "[prove.fields]\n\"a.b.*\" = \"list\"",
        "[prove.ranges]\n\"a.b\" = [1]",
        "[prove]\nrange = {}",
        "[assume]\nnumbers_fits = true",
        "[assume]\nnumbers_fit = \"yes\"",
        "[assume]\ntimes_between = true",
        "[[declared]]\nsays = [\"allow(x)\"]\non = [\"a\"]",
        "[keys.k]\nfields = { a = \"t.a\", b = \"t.b\" }",
        "[built]\nlist = [\"f\"]",
        "[locks]\norders = []",
        "[migrations]\nrelease = \"1\"",
        "[prepare]\nsettings = {}",
        "distributed = \"sharding\"",
        "[placement]\na = \"everywhere\"",
        "[transactions]\nt = \"a\"",
    ] {
        assert!(schema.fault(text).is_some(), "the schema takes: {text}");
        assert!(Config::parse(text, FILE).is_err(), "the code takes: {text}");
    }
}

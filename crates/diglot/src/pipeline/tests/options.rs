//! The table `[generate]`: how the API looks.

use super::{pair, sound};
use crate::config::Config;

const PAGE: &str = "-- Changes a job.\n-- name: job_save :opt\n\
    UPDATE job SET note = :note, doc = :doc, payload = sqlc.narg(payload), lane = :lane, epoch = :epoch\n\
     WHERE id = :id RETURNING id, doc, note;\n\n\
    -- name: job_of :stream\nSELECT id FROM job WHERE id IN (sqlc.slice(ids));\n\n\
    -- name: job_drop :rows\nDELETE FROM job WHERE epoch < :epoch\n-- if: lane\n AND lane = :lane\n-- end\n;\n";

fn rust(options: &str) -> String {
    let mut inputs = pair(PAGE, PAGE);
    let text = format!("[types]\n\"*.lane\" = \"crate::Lane\"\n[generate]\n{options}");
    inputs.config = Config::parse(&text, "diglot.toml").unwrap();
    let rust = sound(&inputs).rust;
    syn::parse_file(&rust).unwrap();
    rust.split("/// Conversions between").next().unwrap().to_owned()
}

#[test]
fn plain_queries_decode_by_themselves() {
    insta::assert_snapshot!(rust(
        "queries = \"plain\"\nderive = [\"PartialEq\", \"Debug\"]\nvisibility = \"pub(crate)\"\n"
    ));
}

#[test]
fn parameters_may_be_borrowed_and_traits_be_one_per_noun() {
    insta::assert_snapshot!(rust("params = \"borrowed\"\ntraits = \"noun\"\nmodule = \"db::sql\"\n"));
}

#[test]
fn plain_queries_need_no_answers() {
    let mut inputs = pair(PAGE, PAGE);
    inputs.check_answers = true;
    inputs.config = Config::parse("[generate]\nqueries = \"plain\"\n", "diglot.toml").unwrap();
    sound(&inputs);
}

#[test]
fn stubs_have_the_options_too() {
    let options = "traits = \"noun\"\nmodule = \"db\"\nparams = \"borrowed\"\n";
    let previous = rust(options);
    let mut inputs = pair(&PAGE.replace("DELETE FROM job", "DELETE FRM job"), PAGE);
    inputs.config = Config::parse(&format!("[generate]\n{options}"), "diglot.toml").unwrap();
    inputs.previous = Some(previous);
    let rust = crate::pipeline::compile(&inputs).rust;
    syn::parse_file(&rust).unwrap();
    assert!(rust.contains("pub trait JobStatements") && rust.contains("fn job_drop<'a>("), "{rust}");
}

/// What is generated of tables, behind what all of them share.
fn tables(options: &str) -> String {
    let rust = rust(&format!("tables = \"sea-query\"\n{options}"));
    rust[rust.find("/// The table `").unwrap()..].to_owned()
}

#[test]
fn a_query_builder_gets_the_tables() {
    insta::assert_snapshot!(tables(""));
    // Rows are read without macros whatever the statements do, and what is seen of the API is seen of this.
    let seen = tables("queries = \"macros\"\nvisibility = \"pub(crate)\"\n");
    assert_eq!(seen.replace("pub(crate) ", "pub "), tables(""));
}

#[test]
fn a_page_is_not_named_like_a_module_that_is_there_anyway() {
    let found = |options: &str, stem: &str| {
        let mut inputs = pair("", "");
        for dialect in ["sqlite", "pg"] {
            let path = format!("sql/{dialect}/{stem}.sql");
            inputs.sources.add(crate::source::SourceFile::new(path, "-- name: job_all :many\nSELECT id FROM job;\n"));
        }
        inputs.config = Config::parse(&format!("[generate]\n{options}"), "diglot.toml").unwrap();
        let found = crate::pipeline::check(&inputs).diagnostics;
        found.iter().any(|finding| finding.rule == "bad-file-name")
    };
    assert!(found("tables = \"sea-query\"", "tables") && found("either = true", "either"));
    assert!(!found("", "tables") && !found("", "either"));
}

#[test]
fn a_conversion_before_a_newtype_says_what_it_gives() {
    let page = "-- name: job_part :one\nSELECT id, part, size FROM job WHERE part = :part;\n";
    let mut inputs = pair(page, page);
    let types = "\"job.part\" = \"crate::Part\"\n\"*.id\" = \"crate::JobId\"\n\"*.size\" = \"crate::Size\"\n";
    for options in ["queries = \"macros\"", "queries = \"plain\""] {
        inputs.config = Config::parse(&format!("[types]\n{types}[generate]\n{options}\n"), "diglot.toml").unwrap();
        let rust = sound(&inputs).rust;
        // SQLite has one whole number and gives ids as bytes; what Postgres gives is of the type already.
        for converted in ["newtype::<i16, _>(\"part\", ", "newtype::<uuid::Uuid, _>(\"id\", "] {
            assert_eq!(rust.matches(converted).count(), 1, "{rust}");
        }
        assert!(
            rust.contains("newtype::<i32, _>(\"size\", ") && rust.contains("i16::from(params.part.clone())"),
            "{rust}"
        );
    }
}

#[test]
fn a_list_holds_values_of_the_type_of_what_they_meet() {
    let page = |list: &str| {
        format!(
            "-- name: job_some :many\nSELECT epoch FROM job WHERE part {} AND id {} AND lane {} ORDER BY id;\n",
            list.replace("LIST", "parts"),
            list.replace("LIST", "ids").replace("value", "unhex(value, '-')").replace("smallint", "uuid"),
            list.replace("LIST", "lanes").replace("smallint", "text")
        )
    };
    let mut inputs = pair(&page("IN (SELECT value FROM json_each(:LIST))"), &page("= ANY(CAST(:LIST AS smallint[]))"));
    let types = "\"job.part\" = \"crate::Part\"\n\"*.id\" = \"crate::JobId\"\n\"*.lane\" = \"crate::Lane\"\n";
    for (options, is_owned) in [("queries = \"macros\"", true), ("queries = \"plain\"\nparams = \"borrowed\"", false)] {
        inputs.config = Config::parse(&format!("[types]\n{types}[generate]\n{options}\n"), "diglot.toml").unwrap();
        let rust = sound(&inputs).rust;
        syn::parse_file(&rust).unwrap();
        for (name, item, turned) in [
            ("parts", "crate::Part", "items::<i16, i64, _>"),
            ("ids", "crate::JobId", "items::<uuid::Uuid, uuid::Uuid, _>"),
            ("lanes", "crate::Lane", "items::<String, String, _>"),
        ] {
            let field =
                if is_owned { format!("pub {name}: Vec<{item}>,") } else { format!("pub {name}: &'p [{item}],") };
            assert!(rust.contains(&field), "{field}\n{rust}");
            assert_eq!(rust.matches(turned).count(), 2, "{turned}\n{rust}");
        }
    }
    // A line that says the type asks for the plain one.
    let declared = page("= ANY(CAST(:LIST AS smallint[]))").replace("-- name", "-- param: parts i64[]\n-- name");
    let mut inputs = pair(&page("IN (SELECT value FROM json_each(:LIST))"), &declared);
    inputs.config = Config::parse(&format!("[types]\n{types}"), "diglot.toml").unwrap();
    assert!(sound(&inputs).rust.contains("pub parts: Vec<i64>,"));
}

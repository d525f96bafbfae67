//! What a project declares once: `[[declared]]`, `json_text`, columns that one schema alone has, several facts in a line.

use diglot::config::Config;
use diglot::source::{SourceFile, Sources};
use diglot::{Compiled, Inputs, compile};

const SQLITE: &str = "CREATE TABLE job (id INTEGER NOT NULL PRIMARY KEY, lane TEXT NOT NULL, doc TEXT NOT NULL, n INTEGER NOT NULL) STRICT;
CREATE TABLE worker (name TEXT NOT NULL PRIMARY KEY, seen INTEGER NOT NULL) STRICT;";
const PG: &str = "CREATE TABLE job (id bigint NOT NULL PRIMARY KEY, lane text NOT NULL, doc jsonb NOT NULL, n bigint NOT NULL);
CREATE TABLE worker (part bigint NOT NULL, name text NOT NULL, seen bigint NOT NULL, PRIMARY KEY (part, name)) PARTITION BY HASH (part);
-- diverges(column.worker.part): Postgres spreads the workers over partitions.
-- diverges(key.worker): a key of a partitioned table holds the partition key.";

fn compiled(config: &str, sqlite: &str, pg: &str) -> Compiled {
    let mut sources = Sources::default();
    sources.add(SourceFile::new("diglot.toml", config));
    sources.add(SourceFile::new("schema/sqlite/0001_all.sql", SQLITE));
    sources.add(SourceFile::new("schema/pg/0001_all.sql", PG));
    sources.add(SourceFile::new("sql/sqlite/job.sql", sqlite));
    sources.add(SourceFile::new("sql/pg/job.sql", pg));
    let config = Config::parse(config, "diglot.toml").expect("a sound configuration");
    compile(&Inputs { config, sources, ..Inputs::default() })
}

fn found(config: &str, sqlite: &str, pg: &str) -> Vec<String> {
    let findings = compiled(config, sqlite, pg).diagnostics.into_iter();
    findings.map(|finding| format!("{}: {}", finding.rule, finding.message)).collect()
}

const COUNT: &str = "-- name: job_first :opt\nSELECT lane FROM job WHERE n > :n LIMIT 1;\n
-- name: job_next :opt\nSELECT lane FROM job WHERE n < :n LIMIT 1;\n";

#[test]
fn one_reason_holds_for_every_statement_that_it_names() {
    let config = "[[declared]]\nsays = [\"allow(unordered-limit)\"]\non = [\"job_*\"]\nreason = \"any job is as good as another\"\n";
    assert_eq!(found(config, COUNT, COUNT), [""; 0]);
    let rules: Vec<String> =
        found("", COUNT, COUNT).into_iter().filter(|it| it.starts_with("unordered-limit")).collect();
    assert_eq!(rules.len(), 2, "{rules:?}");
}

#[test]
fn a_difference_is_declared_once_with_its_seal() {
    let other = COUNT.replace("n > :n", "n >= :n").replace("n < :n", "n <= :n");
    let config = |on: &str, says: &str| {
        format!(
            "[[declared]]\nsays = [\"allow(unordered-limit)\", \"{says}\"]\non = [{on}]\nreason = \"any job is as good as another\"\n"
        )
    };
    assert_eq!(found(&config("\"job_first\", \"job_next\"", "diverges(where)"), COUNT, &other), [""; 0]);
    let asked = found(&config("\"job_first\", \"job_next\"", "diverges(where#)"), COUNT, COUNT);
    assert!(asked.contains(&"bad-config: `diverges(where#)` declares nothing".to_owned()), "{asked:?}");
}

#[test]
fn statements_whose_differences_have_other_seals_share_a_reason() {
    let other = COUNT.replace("n > :n", "n >= :n").replace("n < :n", "n <= :n");
    let config = |on: &str| {
        format!(
            "[[declared]]\nsays = [\"allow(unordered-limit)\", \"diverges(where.n)\"]\non = {on}\n\
             reason = \"any job is as good as another\"\n"
        )
    };
    // Each seal as `check` tells it for the statement.
    let seal = |name: &str| {
        let asked = COUNT
            .replace(&format!("-- name: {name}"), &format!("-- diverges(where.n#): any will do here\n-- name: {name}"));
        let told = compiled("", &asked, &other).diagnostics;
        let help = told.iter().filter(|finding| finding.message.starts_with(name)).flat_map(|finding| &finding.help);
        let seal = help.filter_map(|help| help.split_once("where.n#")).map(|(_, rest)| rest[..6].to_owned());
        seal.into_iter().next().expect("a seal is told")
    };
    let (first, next) = (seal("job_first"), seal("job_next"));
    assert_ne!(first, next);
    let sound = format!("{{ job_first = \"{first}\", job_next = [\"{next}\"] }}");
    assert_eq!(found(&config(&sound), COUNT, &other), [""; 0]);
    // The seal of one is not the other's, and another difference than the sealed one is told.
    let swapped = found(&config(&format!("{{ job_first = \"{next}\", job_next = \"{first}\" }}")), COUNT, &other);
    assert!(swapped.iter().any(|finding| finding.contains("job_first")), "{swapped:?}");
    let more = other.replace("n >= :n", "n >= :n + 1");
    assert!(found(&config(&sound), COUNT, &more).iter().any(|finding| finding.contains("job_first")));
    for wrong in ["{ job_first = [] }", "{ job_first = \"\" }", "{ job_first = [\"1a2b3c\", \"1a2b3c\"] }"] {
        let expected = "bad-config: `job_first` has other seals than `says` asks for".to_owned();
        assert!(found(&config(wrong), COUNT, &other).contains(&expected), "{wrong}");
    }
}

#[test]
fn what_is_not_needed_or_not_there_is_a_finding() {
    let config = "[[declared]]\nsays = [\"allow(unordered-limit)\", \"allow(like-case)\"]\non = [\"job_first\", \"job_next\", \"job_lost\"]\n\
                  reason = \"any job is as good as another\"\n";
    let all = found(config, COUNT, COUNT);
    for expected in [
        "unused-allow: job_first: `-- allow(like-case)` has nothing to allow",
        "unused-allow: job_next: `-- allow(like-case)` has nothing to allow",
        "bad-config: there is no statement `job_lost`",
    ] {
        assert!(all.contains(&expected.to_owned()), "{expected}\n{all:?}");
    }
    // Nothing is taken away from the file by those who mend it.
    let unused = compiled(config, COUNT, COUNT);
    for (finding, name) in
        unused.diagnostics.iter().filter(|finding| finding.rule == "unused-allow").zip(["job_first", "job_next"])
    {
        let place = "it is declared at diglot.toml:4: take it out of `says` there, if no statement needs it";
        assert_eq!(finding.help, [place.to_owned(), format!("or `{name}` out of `on`")]);
    }
    let edits = unused.diagnostics.iter().filter(|finding| finding.rule == "unused-allow");
    assert!(
        edits
            .flat_map(|finding| &finding.suggestions)
            .flat_map(|way| &way.edits)
            .all(|edit| edit.span.start == edit.span.end)
    );
}

const WORKER: &str = "-- name: worker_see :rows
UPDATE worker SET seen = :seen WHERE name = :name;

-- name: worker_add :exec
INSERT INTO worker (name, seen) VALUES (:name, :seen) ON CONFLICT (name) DO UPDATE SET seen = excluded.seen;
";

#[test]
fn a_column_that_one_schema_alone_has_needs_no_declaration_at_each_statement() {
    let pg = WORKER
        .replace("WHERE name", "WHERE part = :part AND name")
        .replace("(name, seen) VALUES (:name", "(part, name, seen) VALUES (:part, :name")
        .replace("CONFLICT (name)", "CONFLICT (part, name)");
    let whole = compiled("", WORKER, &pg);
    assert_eq!(whole.diagnostics, []);
    assert_eq!((whole.stats.implied, whole.stats.waived >= whole.stats.implied), (3, true));
    // A condition that says more than which partition it is about is a difference.
    let more = pg.replace("part = :part AND", "part > :part AND");
    assert_eq!(found("", WORKER, &more), ["where-differs: worker_see: the pages differ in which rows they take"]);
    let declared = WORKER
        .replace("-- name: worker_see", "-- diverges(where.part): Postgres spreads the workers\n-- name: worker_see");
    assert_eq!(
        found("", &declared, &pg),
        ["unused-divergence: worker_see: `-- diverges(where.part)` names no difference"]
    );
}

#[test]
fn the_spelling_of_a_document_that_is_parsed_is_no_difference() {
    let sqlite = "-- name: job_doc :opt\n-- column: doc text\nSELECT doc FROM job WHERE id = :id;\n";
    let pg = "-- name: job_doc :opt\nSELECT CAST(doc AS text) AS doc FROM job WHERE id = :id;\n";
    assert!(
        found("", sqlite, pg).iter().any(|found| found.starts_with("columns-differ")),
        "{:?}",
        found("", sqlite, pg)
    );
    let parsed = compiled("json_text = \"parsed\"\n", sqlite, pg);
    assert_eq!((parsed.diagnostics.len(), parsed.stats.implied), (0, 1));
    // Another document is another column.
    let other = pg.replace("CAST(doc AS text)", "CAST(doc -> 'a' AS text)");
    assert!(!found("json_text = \"parsed\"\n", sqlite, &other).is_empty());
    // And so is a member of it, which is read by its key on both pages.
    let read = sqlite.replace("SELECT doc", "SELECT CAST(json_extract(doc, '$.a') AS text) AS doc");
    let member = |key: &str| pg.replace("CAST(doc AS text)", &format!("doc ->> '{key}'"));
    let of_texts = "json_text = \"parsed\"\n[json]\n\"job.doc.*\" = \"text\"\n";
    assert_eq!(found(of_texts, &read, &member("a")), [""; 0]);
    assert!(!found(of_texts, &read, &member("b")).is_empty());
    assert!(!found(of_texts, &read, pg).is_empty());
}

#[test]
fn a_line_may_name_several_facts_and_several_types() {
    let sqlite = "-- name: job_find :many\n-- param: lane text null, least i64\n\
                  -- diverges(where.lane, where.n): the pages are to differ in both\n\
                  SELECT id FROM job WHERE lane = :lane AND n > :least;\n";
    let pg = sqlite
        .replace("-- diverges(where.lane, where.n): the pages are to differ in both\n", "")
        .replace("lane = :lane AND n > ", "lane <> :lane AND n < ");
    let whole = compiled("", sqlite, &pg);
    assert_eq!(whole.diagnostics, []);
    let params: Vec<String> =
        whole.signatures[0].params.iter().map(|param| format!("{} {}", param.name, param.ty)).collect();
    assert_eq!(params, ["lane text null", "least i64"]);
    let unused = sqlite.replace("where.n)", "limit)");
    assert!(
        found("", &unused, &pg)
            .contains(&"unused-divergence: job_find: `-- diverges(limit)` names no difference".to_owned())
    );
}

#[test]
fn a_column_under_two_names_is_told_in_statements_too() {
    let mut sources = Sources::default();
    let table =
        |own: &str, number: &str| format!("CREATE TABLE job (id {number} NOT NULL PRIMARY KEY, {own} text NOT NULL);");
    sources.add(SourceFile::new("schema/sqlite/0001_all.sql", table("lane", "INTEGER")));
    sources.add(SourceFile::new("schema/pg/0001_all.sql", table("track", "bigint")));
    let page = |own: &str| format!("-- name: job_drop :exec\nDELETE FROM job WHERE {own} = :own;\n");
    sources.add(SourceFile::new("sql/sqlite/job.sql", page("lane")));
    sources.add(SourceFile::new("sql/pg/job.sql", page("track")));
    let found = compile(&Inputs { sources, ..Inputs::default() }).diagnostics;
    let rules: Vec<&str> = found.iter().map(|finding| finding.rule).collect();
    assert!(rules.contains(&"where-differs") && rules.contains(&"schema-column-differs"), "{rules:?}");
}

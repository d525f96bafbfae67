//! The rules of shards against what a cluster was seen to do: for each statement of these pages its verdict stands in a
//! file, as `cargo diglot plans --citus` prints it, and the rules find something in all that is not one task.

use std::collections::{BTreeMap, BTreeSet};

use diglot::config::Config;
use diglot::source::{SourceFile, Sources};
use diglot::{Inputs, compile};

/// The rules that are about statements on shards.
const RULES: [&str; 10] = [
    "case-operand",
    "function-on-shards",
    "insert-by-way",
    "insert-in-with",
    "local-with-shards",
    "lock-on-shards",
    "moving-function",
    "shard-key",
    "shard-key-set",
    "shards-differ",
];

/// Pages with the schema that they are about, its settings, and what the cluster said of each.
struct Recording {
    schema: &'static str,
    settings: &'static str,
    pages: &'static str,
    verdicts: &'static str,
}

/// What this project's pages were when the rules began: those that the cluster refused or sent to several shards.
const ONCE: Recording = Recording {
    schema: include_str!("shards/once_schema.sql"),
    settings: include_str!("shards/once.toml"),
    pages: include_str!("shards/once_pages.sql"),
    verdicts: include_str!("shards/once_verdicts.txt"),
};

/// Cases that were written, and run on the cluster, before the compiler was asked.
const OWN: Recording = Recording {
    schema: include_str!("shards/own_schema.sql"),
    settings: include_str!("shards/own.toml"),
    pages: include_str!("shards/own_pages.sql"),
    verdicts: include_str!("shards/own_verdicts.txt"),
};

/// The findings of a project that has Postgres pages alone, each with the words of its message.
fn found(settings: &str, schema: &str, pages: &str) -> Vec<(&'static str, String)> {
    let mut sources = Sources::default();
    sources.add(SourceFile::new("schema/pg/0001_all.sql", schema));
    sources.add(SourceFile::new("sql/pg/case.sql", pages));
    let config = Config::parse(settings, "diglot.toml").expect("settings");
    let findings = compile(&Inputs { config, sources, ..Inputs::default() }).diagnostics;
    findings.into_iter().map(|finding| (finding.rule, finding.message)).collect()
}

impl Recording {
    /// The rules of shards that find something in each statement.
    fn found(&self) -> BTreeMap<String, BTreeSet<&'static str>> {
        let mut by_name: BTreeMap<String, BTreeSet<&'static str>> = BTreeMap::new();
        for (rule, message) in found(self.settings, self.schema, self.pages) {
            assert_ne!(rule, "syntax", "{message}");
            if RULES.contains(&rule)
                && let Some((name, _)) = message.split_once(':')
            {
                by_name.entry(name.to_owned()).or_default().insert(rule);
            }
        }
        by_name
    }

    /// The statements of the pages with what the cluster said.
    fn verdicts(&self) -> BTreeMap<&'static str, &'static str> {
        let verdict = |line: &'static str| {
            let (name, verdict) = line.split_once(": ").expect("a verdict");
            (name.rsplit('.').next().expect("a name"), verdict)
        };
        let verdicts: BTreeMap<_, _> = self.verdicts.lines().map(verdict).collect();
        let names = self.pages.lines().filter_map(|line| line.strip_prefix("-- name: ")?.split(' ').next());
        let without: Vec<&str> = names.filter(|name| !verdicts.contains_key(name)).collect();
        assert!(without.is_empty(), "without a verdict: {without:?}");
        verdicts
    }

    /// Statements that the cluster refuses or splits and no rule finds, and those of one task that a rule finds.
    fn wrong(&self) -> (Vec<&'static str>, Vec<String>) {
        let found = self.found();
        let (mut missed, mut strict) = (Vec::new(), Vec::new());
        for (name, verdict) in self.verdicts() {
            let rules = found.get(name);
            match (["local", "one task"].contains(&verdict), rules) {
                (false, None) => missed.push(name),
                (true, Some(rules)) => strict.push(format!("{name}: {rules:?}")),
                (true, None) | (false, Some(_)) => {}
            }
        }
        (missed, strict)
    }
}

#[test]
fn what_the_cluster_refused_or_split_of_these_pages_once_is_found() {
    let verdicts = ONCE.verdicts();
    let refused = verdicts.values().filter(|verdict| verdict.starts_with("refused")).count();
    assert_eq!((verdicts.len(), refused), (62, 16));
    assert_eq!(ONCE.wrong(), (vec![], vec![]));
}

#[test]
fn cases_of_our_own_are_judged_as_the_cluster_does() {
    assert_eq!(OWN.wrong(), (vec![], vec![]));
}

#[test]
fn each_rule_finds_a_case_of_its_own() {
    let all: BTreeSet<&str> = OWN.found().values().chain(ONCE.found().values()).flatten().copied().collect();
    assert_eq!(all, RULES.into());
}

#[test]
fn nothing_is_said_of_shards_where_no_engine_spreads_tables() {
    let settings = "shard_key = \"part\"";
    let told = found(settings, OWN.schema, OWN.pages);
    assert!(!told.iter().any(|(rule, _)| RULES.contains(rule)), "{told:?}");
}

#[test]
fn an_exception_with_a_reason_silences_one_rule() {
    let settings = "shard_key = \"part\"\ndistributed = \"citus\"\n";
    let page = |line: &str| {
        format!("-- name: job_counts :one\n-- only: pg — it is about shards\n{line}SELECT count(*) AS c FROM job;\n")
    };
    assert_eq!(found(settings, OWN.schema, &page("")).len(), 1);
    assert_eq!(found(settings, OWN.schema, &page("-- allow(shard-key): a report over all shards\n")), []);
}

#[test]
fn a_statement_that_is_not_run_on_shards_says_so_once() {
    let spread = "shard_key = \"part\"\ndistributed = \"citus\"\n";
    let page = |line: &str, read: &str| {
        format!("-- name: job_oldest :many\n-- only: pg — it is about shards\n{line}SELECT id FROM job {read};\n")
    };
    let rules = |settings: &str, line: &str, read: &str| {
        found(settings, OWN.schema, &page(line, read)).into_iter().map(|(rule, _)| rule).collect::<Vec<_>>()
    };
    let (everywhere, once) = ("ORDER BY id LIMIT 1 FOR UPDATE", "-- allow(shards): one server runs it\n");
    assert_eq!(rules(spread, "", everywhere), ["shard-key", "lock-on-shards"]);
    assert_eq!(rules(spread, once, everywhere), [""; 0]);
    assert_eq!(rules(spread, once, "WHERE part = :part"), ["unused-allow"]);
}

/// The findings about a schema: rule and items.
fn schema_findings(settings: &str, schema: &str) -> Vec<String> {
    let settings = format!("shard_key = \"part\"\ndistributed = \"citus\"\n{settings}");
    let told = found(&settings, schema, "");
    let items = |(rule, message): (&str, String)| format!("{rule}{}", message.rsplit(':').next().expect("the items"));
    told.into_iter().map(items).filter(|told| !told.starts_with("schema-table")).collect()
}

#[test]
fn a_schema_that_cannot_be_spread_is_refused() {
    // Each was refused by the cluster in these words, or parted from the tables of the same key.
    let job = "CREATE TABLE job (part smallint NOT NULL, id bigint NOT NULL, PRIMARY KEY (part, id));\n\
               CREATE TABLE step (part smallint NOT NULL, id bigint NOT NULL, PRIMARY KEY (part, id));\n";
    let of = |more: &str| schema_findings("[placement]\nlane = \"reference\"\n", &format!("{job}{more}"));
    assert_eq!(of(""), [""; 0]);
    assert_eq!(of("CREATE TABLE e (part smallint, id bigint PRIMARY KEY);"), ["key-without-shard e.id"]);
    assert_eq!(
        of("CREATE TABLE e (part smallint, id bigint, PRIMARY KEY (part, id), UNIQUE (id));"),
        ["key-without-shard e.id"]
    );
    assert_eq!(
        of("CREATE TABLE e (part smallint, id bigint); CREATE UNIQUE INDEX e_one ON e (id) WHERE id > 3;"),
        ["key-without-shard e.id"]
    );
    assert_eq!(of("CREATE TABLE e (part integer, id bigint, PRIMARY KEY (part, id));"), ["shard-key-type e.part"]);
    assert_eq!(
        of("CREATE TABLE e (part smallint, id bigint, FOREIGN KEY (part, id) REFERENCES job (part, id));"),
        [""; 0]
    );
    let lane = "CREATE TABLE lane (name text PRIMARY KEY);";
    let refers = "CREATE TABLE e (part smallint, lane text REFERENCES lane (name));";
    assert_eq!(of(&format!("{lane}{refers}")), [""; 0]);
    let to_local = refers.replace("REFERENCES lane", "REFERENCES setting");
    assert_eq!(
        of(&format!("CREATE TABLE setting (name text PRIMARY KEY);{to_local}")),
        ["reference-across-shards e.lane"]
    );
    let from_all =
        "CREATE TABLE lane (of_part smallint, id bigint, FOREIGN KEY (of_part, id) REFERENCES job (part, id));";
    assert_eq!(of(from_all), ["reference-across-shards lane.of_part.id"]);
    // A local table may refer to a shard: each of its rows asks there.
    assert_eq!(of(&from_all.replace("TABLE lane", "TABLE e")), [""; 0]);
    let trigger = "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;\n\
                   CREATE TRIGGER told AFTER INSERT ON job FOR EACH ROW EXECUTE FUNCTION f();";
    assert_eq!(of(trigger), ["trigger-on-shards job.told"]);
}

//! Both engines are asked about texts made by hand, so that what is tested is the asking alone.

use diglot::config::Config;
use diglot::diagnostic::Diagnostic;
use diglot::source::{FileId, SourceFile, Sources, Span};
use diglot::types::{Base, Type};
use diglot::{Compiled, EmittedText, Inputs, TextParam};

use super::*;
use crate::postgres::{Options, Server};

const SQLITE_SCHEMA: &str = "CREATE TABLE job (id INTEGER NOT NULL PRIMARY KEY, owner TEXT, due INTEGER NOT NULL);";
const PG_SCHEMA: &str = "-- diglot: no-transaction\nCREATE TABLE job (id bigint NOT NULL, owner text, due bigint NOT NULL, \
    PRIMARY KEY (id)) PARTITION BY HASH (id);\nDO $$ BEGIN\n  FOR n IN 0..current_setting('demo.parts')::int - 1 LOOP\n    \
    EXECUTE format('CREATE TABLE job_%s PARTITION OF job FOR VALUES WITH (MODULUS %s, REMAINDER %s)', n, \
    current_setting('demo.parts'), n);\n    COMMIT;\n  END LOOP;\nEND $$;\n";

fn text(dialect: Dialect, name: &str, sql: &str, params: &[(&str, Base)]) -> EmittedText {
    let parts: Vec<String> = diglot_migrate::statements(sql).into_iter().map(|part| sql[part].to_owned()).collect();
    let result = parts.iter().position(|part| part.contains("RETURNING") || part.starts_with("SELECT"));
    EmittedText {
        noun: "job".into(),
        variant: diglot::Variant::default(),
        name: name.into(),
        dialect,
        place: Span::new(FileId(0), 0..0),
        sql: format!("/* job.{name} {dialect} */ {sql}"),
        places: Vec::new(),
        parts,
        guarded: false,
        result,
        joined: None,
        params: params
            .iter()
            .map(|(name, base)| TextParam {
                name: (*name).into(),
                ty: Type::required(base.clone()),
                digits: false,
                stored: None,
                holds: diglot::Holds::Value,
            })
            .collect(),
        spare: 0,
        constant: false,
        columns: Vec::new(),
        steps: None,
    }
}

/// The statement files that belong to the texts: parameters have their names again. The texts learn their places.
fn inputs(texts: &mut [EmittedText], schemas: [&str; 2]) -> Inputs {
    let mut sources = Sources::default();
    sources.add(SourceFile::new("schema/sqlite/0001_job.sql", schemas[0]));
    sources.add(SourceFile::new("schema/pg/0001_job.sql", schemas[1]));
    for dialect in Dialect::ALL {
        let mut page = String::new();
        let file = FileId(2 + u32::from(dialect == Dialect::Pg));
        for text in texts.iter_mut().filter(|text| text.dialect == dialect) {
            let mut sql = text.parts.join(";\n");
            for (n, param) in text.params.iter().enumerate() {
                sql = sql.replace(&dialect.placeholder(n + 1), &format!(":{}", param.name));
            }
            page.push_str(&format!("-- About it.\n-- name: {}", text.name));
            text.place = Span::new(file, page.len() - text.name.len()..page.len());
            page.push_str(" :exec\n");
            let emitted = diglot_migrate::tokens(&text.sql).map(|token| token.start);
            let places = diglot_migrate::tokens(&sql)
                .map(|token| Span::new(file, page.len() + token.start..page.len() + token.end));
            text.places = emitted.zip(places).collect();
            page.push_str(&format!("{sql};\n\n"));
        }
        sources.add(SourceFile::new(format!("sql/{dialect}/job.sql"), page));
    }
    let mut config = Config::default();
    config.prepare.pg_settings.insert("demo.parts".into(), "2".into());
    Inputs { config, sources, ..Inputs::default() }
}

fn ask_all(mut texts: Vec<EmittedText>, schemas: [&str; 2]) -> (Inputs, Vec<Asked>) {
    let inputs = inputs(&mut texts, schemas);
    let mut compiled = Compiled::default();
    compiled.texts.extend(texts);
    let project =
        Project { inputs: &inputs, compiled: &compiled, known: BTreeMap::new(), progress: ProgressBar::hidden() };
    let asked = async |host: &Host| ask(&project, host).await;
    let asked =
        runtime().unwrap().block_on(Host::during(&crate::cli::Postgres::default(), Sorting::Server, asked)).unwrap();
    (inputs, asked)
}

fn at(inputs: &Inputs, finding: &Diagnostic) -> String {
    inputs.sources.text(finding.labels[0].span).to_owned()
}

fn both(name: &str, sqlite: &str, pg: &str, params: &[(&str, Base)]) -> [EmittedText; 2] {
    [text(Dialect::Sqlite, name, sqlite, params), text(Dialect::Pg, name, pg, params)]
}

#[test]
fn what_both_engines_accept_is_described() {
    let texts = [
        both(
            "job_read",
            "SELECT owner, due FROM job WHERE id = ?1",
            "SELECT owner, due FROM job WHERE id = $1",
            &[("id", Base::Int64)],
        ),
        both(
            "job_take",
            "DELETE FROM job WHERE due < ?2; UPDATE job SET owner = ?1 WHERE due = ?2 RETURNING id; DELETE FROM job",
            "WITH gone AS (DELETE FROM job WHERE due < $2) UPDATE job SET owner = $1 WHERE due = $2 RETURNING id",
            &[("owner", Base::Text), ("due", Base::Int64)],
        ),
        // Left to itself, Postgres would take the parameter for an integer.
        both(
            "job_shift",
            "UPDATE job SET due = due + (?1 + 1)",
            "UPDATE job SET due = due + ($1 + 1)",
            &[("by", Base::Int64)],
        ),
    ]
    .concat();
    let (_, asked) = ask_all(texts, [SQLITE_SCHEMA, PG_SCHEMA]);
    let [sqlite, pg] = asked.as_slice() else { panic!("two engines") };
    assert!(sqlite.findings.is_empty(), "{:?}", sqlite.findings);
    assert!(pg.findings.is_empty(), "{:?}", pg.findings);
    assert!(
        sqlite.engine.starts_with("SQLite 3.") && pg.engine.starts_with("Postgres "),
        "{} {}",
        sqlite.engine,
        pg.engine
    );

    let names = |asked: &Asked, at: usize| -> Vec<String> {
        asked.answers[at].1.columns.iter().map(|column| format!("{} {}", column.name, column.type_info)).collect()
    };
    assert_eq!(names(sqlite, 0), ["owner \"Text\"", "due \"Integer\""]);
    assert_eq!(names(sqlite, 1), ["id \"Integer\""]);
    assert_eq!(names(pg, 0), ["owner \"Text\"", "due \"Int8\""]);
    assert_eq!(pg.answers[0].1.columns[0].nullable, Some(true));
    assert_eq!(pg.answers[1].1.params, Some(vec!["Text".into(), "Int8".into()]));
    assert_eq!(pg.answers[2].1.params, Some(vec!["Int8".into()]));
    assert_eq!(sqlite.answers[2].1.params, None);
}

#[test]
fn what_an_engine_refuses_is_a_finding_at_the_word_it_refuses() {
    let texts = [
        both("job_typo", "SELECT ownr FROM job", "SELECT id, 'Ä', ownr FROM job", &[]),
        // Neither preparing nor describing shows that no unique index stands behind the target.
        both(
            "job_put",
            "INSERT INTO job (id, owner, due) VALUES (?1, 'me', 1) ON CONFLICT (owner) DO NOTHING",
            "INSERT INTO job (id, owner, due) VALUES ($1, 'me', 1) ON CONFLICT (owner) DO NOTHING",
            &[("id", Base::Int64)],
        ),
        both("job_fine", "SELECT id FROM job", "SELECT id FROM job", &[]),
    ]
    .concat();
    let (inputs, asked) = ask_all(texts, [SQLITE_SCHEMA, PG_SCHEMA]);
    for (asked, title) in asked.iter().zip(["SQLite", "Postgres"]) {
        let places: Vec<String> = asked.findings.iter().map(|finding| at(&inputs, finding)).collect();
        assert_eq!(places, ["ownr", "job_put"], "{title}");
        for (finding, name) in asked.findings.iter().zip(["job_typo", "job_put"]) {
            assert!(
                finding.message.starts_with(&format!("{name}: {title} refuses the statement: ")),
                "{}",
                finding.message
            );
        }
        assert_eq!(asked.answers.len(), 1, "{title}");
    }
}

#[test]
fn a_refused_migration_is_a_finding_in_its_file_and_ends_the_asking() {
    let pg = PG_SCHEMA.replace("owner text", "owner txet");
    let texts = both("job_fine", "SELECT id FROM job", "SELECT id FROM job", &[]);
    let (inputs, asked) = ask_all(texts.to_vec(), ["CREATE TABEL job (id INTEGER);", &pg]);
    assert_eq!(asked[1].findings.len(), 1);
    assert_eq!(at(&inputs, &asked[1].findings[0]), "txet");
    assert!(
        asked[0].findings[0].message.starts_with("schema/sqlite/0001_job.sql: SQLite refuses the migration: "),
        "{}",
        asked[0].findings[0].message
    );
    assert!(asked.iter().all(|asked| asked.answers.is_empty()));
}

#[test]
fn the_scratch_database_is_gone_afterwards() {
    let server = Server::start(Options::default()).unwrap();
    let left = runtime().unwrap().block_on(async {
        let scratch = pg::Scratch::create(server.url()).await.unwrap();
        scratch.drop().await.unwrap();
        let mut connection = <sqlx::PgConnection as sqlx::Connection>::connect(server.url()).await.unwrap();
        let left = "SELECT count(*) FROM pg_database WHERE datname LIKE 'diglot_scratch%'";
        sqlx::query_scalar::<_, i64>(left).fetch_one(&mut connection).await.unwrap()
    });
    assert_eq!(left, 0);
}

#[test]
fn an_unreachable_server_is_the_tools_failure() {
    let failure = runtime().unwrap().block_on(pg::Scratch::create("postgres://nobody@127.0.0.1:1/x")).err().unwrap();
    assert!(failure.to_string().starts_with("cannot connect to Postgres at 127.0.0.1:1"), "{failure}");
    let failure = runtime().unwrap().block_on(pg::Scratch::create("nonsense")).err().unwrap();
    assert!(failure.to_string().starts_with("the URL of the Postgres server is not one"), "{failure}");
}

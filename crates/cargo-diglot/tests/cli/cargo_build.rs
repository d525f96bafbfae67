//! A crate with diglot as its build dependency: drift fails its `cargo build` with the finding and with
//! nothing else, and the build is well again when the pages agree.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::SystemTime;

use crate::project::{Ended, Project, postgres};

const PG: &str = "sql/pg/job.sql";

/// The builds share their output.
pub(crate) static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Uses what is generated, so that a missing function or field would be an error of its own.
const LIB: &str = r#"
//! A crate that uses the generated API.

mod statements {
    include!(concat!(env!("OUT_DIR"), "/statements.rs"));
}

use statements::{Statements, job};

pub async fn due(statements: &mut impl Statements) -> Result<Vec<(i64, i64, bool)>, sqlx::Error> {
    let params = job::JobDueParams { lane: "a".to_owned(), now_ms: 1 };
    let rows: Vec<job::JobDueRow> = statements.job_due(&params).await?;
    Ok(rows.into_iter().map(|row| (row.due_ms, row.seen_ms, row.paused)).collect())
}

pub async fn take(statements: &mut impl Statements, id: uuid::Uuid) -> Result<u64, sqlx::Error> {
    let params = job::JobTakeParams { owner: "me".to_owned(), due_ms: 2, now_ms: 1, id };
    statements.job_take(&params).await
}

pub async fn owner(statements: &mut impl Statements, id: uuid::Uuid) -> Result<Option<Option<String>>, sqlx::Error> {
    let row = statements.job_owner(&job::JobOwnerParams { id }).await?;
    Ok(row.map(|row| row.owner))
}
"#;

/// The workspace's folder, whose lock file and target folder serve the crate as well.
pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A manifest that makes cargo use what the workspace compiled already: with other profiles or other features of the
/// driver, it would compile every dependency once more.
fn with_compiled_dependencies(manifest: &str) -> String {
    let ours = fs::read_to_string(workspace().join("Cargo.toml")).unwrap();
    let profiles = ours.find("[profile.").expect("the workspace has profiles");
    let driver = "features = [\"macros\", \"runtime-tokio\"";
    assert!(manifest.contains(driver), "{manifest}");
    let manifest = manifest.replace(driver, "features = [\"migrate\", \"macros\", \"runtime-tokio\"");
    format!("{manifest}\n{}", &ours[profiles..])
}

fn make_crate() -> Project {
    make_crate_of(Project::clean(), LIB)
}

/// A crate of a project, with this library.
fn make_crate_of(project: Project, lib: &str) -> Project {
    let crates = fs::canonicalize(workspace().join("crates")).unwrap();
    let (compiler, command_line) = (crates.join("diglot"), crates.join("cargo-diglot"));
    let manifest = format!(
        "[workspace]\n\n[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [features]\ndefault = [\"sqlite\", \"postgres\"]\nsqlite = [\"sqlx/sqlite\"]\n\
         postgres = [\"sqlx/postgres\", \"sqlx/tls-rustls\"]\n\n[dependencies]\nfutures-core = \"0.3\"\n\
         futures-util = {{ version = \"0.3\", default-features = false, features = [\"std\"] }}\nserde_json = \"1\"\n\
         sqlx = {{ version = \"0.9\", default-features = false, features = \
         [\"macros\", \"runtime-tokio\", \"json\", \"uuid\"] }}\ntokio = \"1\"\nuuid = \"1\"\n\
         cargo-diglot = {{ path = {command_line:?} }}\n\n\
         [build-dependencies]\ndiglot = {{ path = {compiler:?} }}\n"
    );
    project.write("Cargo.toml", with_compiled_dependencies(&manifest));
    project.write("build.rs", "fn main() {\n    diglot::build::run();\n}\n");
    project.write("src/lib.rs", lib);
    project.write("Cargo.lock", fs::read(workspace().join("Cargo.lock")).unwrap());
    project
}

/// The build output of the workspace. The crate resolves the same features, for which it depends on the
/// command line without using it, and has the same profiles, so that the dependencies are there already.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().to_path_buf()
}

/// Builds offline.
fn build(project: &Project) -> Ended {
    cargo(project, &["build"], &[])
}

fn cargo(project: &Project, arguments: &[&str], variables: &[(&str, &str)]) -> Ended {
    cargo_in(project, &[arguments, &["--offline"]].concat(), variables)
}

/// Runs cargo in a project's folder, with the build output of the workspace.
pub(crate) fn cargo_in(project: &Project, arguments: &[&str], variables: &[(&str, &str)]) -> Ended {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(arguments).arg("--color=never").current_dir(project.path("."));
    command.env("CARGO_TARGET_DIR", target());
    // Nobody is there; and nothing of the surrounding cargo's own settings is for this crate.
    command.env("DATABASE_URL", "postgres://nobody@nowhere/x");
    for (name, _) in env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_PKG_") || name == "CARGO_MANIFEST_DIR" || name == "RUSTFLAGS" {
            command.env_remove(name);
        }
    }
    command.envs(variables.iter().copied());
    Ended::of(command.stdin(Stdio::null()).output().unwrap())
}

/// Builds what `init` made, as it wrote it but for what lets its dependencies be used again.
pub(crate) fn build_new(project: &Project) -> Ended {
    let command_line = fs::canonicalize(workspace().join("crates/cargo-diglot")).unwrap();
    let manifest = project.read("Cargo.toml");
    let again = format!("[workspace]\n\n{manifest}\n[dependencies.cargo-diglot]\npath = {command_line:?}\n");
    project.write("Cargo.toml", with_compiled_dependencies(&again));
    project.write("Cargo.lock", fs::read(workspace().join("Cargo.lock")).unwrap());
    build(project)
}

/// When the API was written last.
fn generated() -> SystemTime {
    let builds = target().join("debug/build");
    let files = fs::read_dir(builds).unwrap().filter_map(|entry| {
        let path = entry.unwrap().path();
        let ours = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("demo-"));
        let file = path.join("out/statements.api.rs");
        (ours && file.exists()).then(|| file.metadata().unwrap().modified().unwrap())
    });
    files.max().expect("a build that went well left its generated file")
}

#[test]
fn drift_fails_a_build_with_the_finding_alone() {
    let _alone = ONE_AT_A_TIME.lock();
    let project = make_crate();
    let built = build(&project);
    assert_eq!(built.code, Some(0), "{}", built.seen());
    let written = generated();

    project.edit(PG, "job.due_ms < :now_ms", "job.due_ms <= :now_ms");
    let failed = build(&project);
    assert_eq!(failed.code, Some(101), "{}", failed.seen());
    for path in ["sql/sqlite/job.sql", PG] {
        assert!(failed.stderr.contains(path), "{}", failed.seen());
    }
    let errors = |ended: &Ended| -> Vec<String> {
        let lines = ended.stderr.lines().filter(|line| line.starts_with("error"));
        lines.map(str::to_owned).collect()
    };
    let found = errors(&failed);
    assert_eq!(found.len(), 2, "{}", failed.seen());
    assert!(found[0].starts_with("error: diglot: 1 finding"), "{found:?}");
    assert!(found[1].starts_with("error: could not compile `demo`"), "{found:?}");
    assert!(failed.stderr.contains("error[where-differs]: job_due: "), "{}", failed.seen());
    assert_eq!(generated(), written);

    project.edit(PG, "job.due_ms <= :now_ms", "job.due_ms < :now_ms");
    let again = build(&project);
    assert_eq!(again.code, Some(0), "{}", again.seen());
    assert_eq!(generated(), written);
}

#[test]
fn a_new_project_builds() {
    let _alone = ONE_AT_A_TIME.lock();
    let project = Project::empty();
    let made = project.run(&["init", "--postgres", postgres()]);
    assert_eq!(made.code, Some(0), "{}", made.seen());
    assert_eq!(project.check().stderr, "3 pairs, 0 findings\n");
    let built = build_new(&project);
    assert_eq!(built.code, Some(0), "{}", built.seen());
}

#[test]
fn a_broken_statement_brings_no_other_error_along() {
    let _alone = ONE_AT_A_TIME.lock();
    let project = make_crate();
    assert_eq!(build(&project).code, Some(0));
    let changes: [(&str, &str); 3] = [
        ("ORDER BY job.priority DESC", "ORDER job.priority DESC"),
        ("SELECT owner\n", "SELECT ownr\n"),
        ("-- name: job_take", "-- name: job_tkae"),
    ];
    for (from, to) in changes {
        project.edit(PG, from, to);
        let failed = build(&project);
        assert_eq!(failed.code, Some(101), "{to}: {}", failed.seen());
        let rustc = failed.stderr.lines().filter(|line| line.starts_with("error[E")).count();
        assert_eq!(rustc, 0, "{to}: {}", failed.seen());
        project.edit(PG, to, from);
    }
    assert_eq!(build(&project).code, Some(0));
}

/// Calls every function on both databases.
const MAIN: &str = r#"
use sqlx::Connection;

async fn exercise(db: &mut impl JobStatements) -> Result<(), sqlx::Error> {
    let id = uuid::Uuid::from_u128(7);
    let put = job::JobPutParams { id, lane: "a", key: "k", priority: 3, due_ms: 0, now_ms: 1 };
    assert_eq!(db.job_put(&put).await?, 1);
    assert_eq!(db.job_put(&put.clone()).await?, 0);
    assert_eq!(due(db).await?, [(0, 1, true)]);
    assert_eq!(owner(db, id).await?, Some(None));
    assert_eq!(take(db, id).await?, 1);
    assert_eq!(owner(db, id).await?, Some(Some("me".to_owned())));
    assert_eq!(owner(db, uuid::Uuid::nil()).await?, None);
    Ok(())
}

async fn run() -> Result<(), sqlx::Error> {
    let mut sqlite = sqlx::SqliteConnection::connect("sqlite::memory:").await?;
    sqlx::raw_sql(include_str!("../schema/sqlite/0001_job.sql")).execute(&mut sqlite).await?;
    sqlx::raw_sql("INSERT INTO lane VALUES ('a', 1)").execute(&mut sqlite).await?;
    exercise(&mut sqlite).await?;
    let url = std::env::var("DEMO_POSTGRES").expect("a server");
    let mut pg = sqlx::PgConnection::connect(&url).await?;
    sqlx::raw_sql("CREATE SCHEMA plain; SET search_path TO plain").execute(&mut pg).await?;
    sqlx::raw_sql(include_str!("../schema/pg/0001_job.sql")).execute(&mut pg).await?;
    sqlx::raw_sql("INSERT INTO lane VALUES ('a', true)").execute(&mut pg).await?;
    exercise(&mut pg).await
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(run()).unwrap();
}
"#;

#[test]
fn an_api_without_answers_of_borrowed_parameters_and_of_traits_by_noun_runs() {
    let _alone = ONE_AT_A_TIME.lock();
    let lib = LIB
        .replace("//! A crate that uses the generated API.", "")
        .replace("use statements::{Statements, job};", "use statements::sql::{JobStatements, job};")
        .replace("impl Statements", "impl JobStatements")
        .replace("pub async fn", "async fn")
        .replace("\"a\".to_owned()", "\"a\"")
        .replace("\"me\".to_owned()", "\"me\"");
    let project = make_crate_of(Project::unprepared(), "");
    project.write("src/main.rs", format!("{lib}{MAIN}"));
    let options = "queries = \"plain\"\nparams = \"borrowed\"\ntraits = \"noun\"\nderive = [\"PartialEq\"]\n\
                   visibility = \"pub(crate)\"\nmodule = \"sql\"\n";
    project.write("diglot.toml", format!("[generate]\n{options}"));
    let ran = cargo(&project, &["run"], &[("DEMO_POSTGRES", postgres())]);
    assert_eq!(ran.code, Some(0), "{}", ran.seen());
    assert!(!ran.stderr.contains("warning"), "{}", ran.seen());
    assert!(!project.path(".sqlx").exists());
}

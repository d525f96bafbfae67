//! `cargo diglot init`: a project that builds, or what a crate lacks to be one.
//!
//! No file that is there is changed: what a crate has to add to it is told instead. SQL that is there keeps its places: they
//! are taken from the settings of sqlc, or from the names of folders and files.

mod names;
mod origin;
mod storage;

use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Output};

use diglot::config;
use diglot::dialect::Dialect;
use diglot::types::Base;

use crate::cli::{Init, Prepare, Project};
use crate::failure::Failure;
use crate::layout::sqlc::{self, Found};
use crate::{Outcome, layout, prepare, report};

const MANIFEST: (&str, &str) = ("Cargo.toml", include_str!("../template/Cargo.toml.in"));
const BUILD: (&str, &str) = ("build.rs", include_str!("../template/build.rs.in"));
const CONFIG: (&str, &str) = (config::FILE, include_str!("../template/diglot.toml"));
/// Beside it, for editors: its first line names that file.
const SCHEMA: (&str, &str) = ("diglot.schema.json", config::SCHEMA);
/// The same where pages are compared and nothing is generated.
const CHECK_ONLY: &str = include_str!("../template/check-only.toml");
/// The same, and what `Cargo.toml` needs, in a crate that has other drivers than sqlx.
const OTHER_DRIVERS: [&str; 2] =
    [include_str!("../template/drivers-diglot.toml"), include_str!("../template/drivers.toml.in")];
const STATEMENTS: (&str, &str) = ("src/statements.rs", include_str!("../template/statements.rs.in"));

/// What a new crate has beside these.
const CRATE: [(&str, &str); 2] = [MANIFEST, (".gitignore", "/target\n")];

/// Where the module is, in a new crate whose SQL was there before.
const BARE: (&str, &str) =
    ("src/lib.rs", "//! Statements that SQLite and Postgres answer, through one API.\n\npub mod statements;\n");

/// The same in one that begins with the pages of [`PAGES`].
const JOT: (&str, &str) = ("src/lib.rs", include_str!("../template/lib.rs.in"));

/// One noun on both pages, for a project without SQL.
const PAGES: [(&str, &str); 4] = [
    ("schema/sqlite/0001_note.sql", include_str!("../template/schema-sqlite.sql")),
    ("schema/pg/0001_note.sql", include_str!("../template/schema-pg.sql")),
    ("sql/sqlite/note.sql", include_str!("../template/note-sqlite.sql")),
    ("sql/pg/note.sql", include_str!("../template/note-pg.sql")),
];

pub(crate) fn run(arguments: &Init) -> Result<Outcome, Failure> {
    let root = &arguments.folder;
    fs::create_dir_all(root).map_err(Failure::io(format!("make {}", root.display())))?;
    let has = |path: &str| root.join(path).exists();
    // That of a workspace alone is no crate.
    let is_crate = fs::read_to_string(root.join(MANIFEST.0)).is_ok_and(|manifest| manifest.contains("[package]"));
    let has_config = has(CONFIG.0);
    let mut found = if has_config { Found::Nothing } else { sqlc::find(root)? };
    // Other projects have folders of these names too; where a default looks there are those of both databases in them.
    let is_usual = |folder: &str| has(&format!("{folder}/sqlite")) && has(&format!("{folder}/pg"));
    let has_usual = is_usual("sql") || is_usual("schema") || has_config;
    if matches!(found, Found::Nothing) && !has_usual {
        found = layout::by_names(root).map_or(Found::Nothing, |places| Found::Places(Box::new(places)));
    }
    let has_pages = has_usual || !matches!(found, Found::Nothing);
    // A program that has its statements in its own code has its own functions for them.
    let keeps_functions = matches!(&found, Found::Places(places) if places.are_code());
    let check_only = has_pages && (!is_crate || keeps_functions) && !arguments.make_crate;
    let other_drivers = has_other_drivers(root);
    let usual = match (check_only, other_drivers) {
        (true, _) => CHECK_ONLY,
        (false, true) => OTHER_DRIVERS[0],
        (false, false) => CONFIG.1,
    };
    let usual = if has_pages { by_name(usual) } else { usual.to_owned() };
    let config = match &found {
        Found::Places(places) => places.config(&usual),
        Found::Nothing | Found::Unclear { .. } => usual,
    };
    let mut files = vec![(CONFIG.0, config.as_str())];
    if !has_config {
        files.push(SCHEMA);
    }
    if !check_only {
        files.extend([BUILD, STATEMENTS]);
    }
    if !is_crate && !check_only {
        files.extend(CRATE);
        files.push(if has_pages { BARE } else { JOT });
    }
    if !has_pages {
        files.extend(PAGES);
    }
    let name = crate_name(root);
    let mut kept = Vec::new();
    for (path, text) in files {
        let text = if path == MANIFEST.0 { manifest(root, &name) } else { text.to_owned() };
        if write_new(&root.join(path), &text).map_err(Failure::io(format!("write {path}")))? {
            report::line(&format!("wrote {path}"));
        } else {
            kept.push(path);
        }
    }
    if check_only && kept.is_empty() {
        let why = if is_crate { "statements stand in the program's own code" } else { "no Cargo.toml here" };
        report::line(&format!("{why}, so pages are compared and nothing is generated (`generate = false`)"));
        report::line("for Rust: `cargo diglot init --crate` in its place, after removing diglot.toml");
    }
    if !is_crate && !check_only {
        check_workspace(root);
    }
    if has_pages {
        storage::propose(root, !has_config)?;
        names::propose(root, !has_config)?;
    }
    let needed = || match other_drivers {
        true => filled(root, OTHER_DRIVERS[1]),
        false => manifest(root, &name)
            .split_once("[features]")
            .map_or_else(String::new, |(_, rest)| format!("[features]{rest}")),
    };
    advise((is_crate && !check_only).then(needed).as_deref(), &kept);
    match found {
        Found::Places(places) => {
            report::line(&format!("the places in diglot.toml are those of {}", places.told_by));
            report::line(
                "next: `cargo diglot check` tells what differs, and `cargo diglot baseline` keeps what may wait",
            );
            return Ok(Outcome::Clean);
        }
        Found::Unclear { file, why } => {
            report::line(&format!(
                "{file}: {why}; write `[sql]` and `[schema]` in diglot.toml, then `cargo diglot check`"
            ));
            return Ok(Outcome::Clean);
        }
        Found::Nothing => {}
    }
    if check_only {
        report::line("next: `cargo diglot check` tells what differs, and `cargo diglot baseline` keeps what may wait");
        return Ok(Outcome::Clean);
    }
    if has_pages || arguments.no_prepare {
        report::line("next: `cargo diglot prepare` asks both databases, then `cargo build`");
        return Ok(Outcome::Clean);
    }
    record(arguments)
}

/// Settings by which SQL in these places is compared and nothing is generated.
pub(crate) fn check_only(places: &layout::Places) -> String {
    places.config(&by_name(CHECK_ONLY))
}

/// Settings for pages that were there before, which need not have their statements in one order.
fn by_name(usual: &str) -> String {
    let (head, rest) = usual.split_once("\n\n").unwrap_or((usual, ""));
    let why = "# A statement and the one that faces it find each other by name, in whatever files they stand.";
    format!("{head}\n\n{why}\nlockstep = false\n\n{rest}")
}

/// Asks the engines about the first statements. A machine without Postgres is told what to do.
fn record(arguments: &Init) -> Result<Outcome, Failure> {
    let project = Project { root: Some(arguments.folder.clone()), package: None };
    match prepare::run(&Prepare { project, check: false, postgres: arguments.postgres.clone() }) {
        Err(failure @ Failure::Postgres(_)) => {
            report::line(&format!("{failure}\nthen `cargo diglot prepare`, before `cargo build`"));
            Ok(Outcome::Clean)
        }
        Ok(Outcome::Clean) => {
            report::line("next: `cargo build`, and `cargo diglot new note list` writes another pair");
            Ok(Outcome::Clean)
        }
        other => other,
    }
}

/// What has to be written into files that were there before.
fn advise(needed: Option<&str>, kept: &[&str]) {
    if let Some(needed) = needed {
        report::line("Cargo.toml stays as it is; it needs:");
        report::line(&format!("\n{needed}"));
        report::line("src/lib.rs or src/main.rs stays as it is; it needs `mod statements;`");
    }
    for path in kept {
        match *path {
            "build.rs" => report::line("build.rs stays as it is; its `main` needs `diglot::build::run();`"),
            path => report::line(&format!("{path} stays as it is")),
        }
    }
}

/// Whether a crate has rusqlite and tokio-postgres, and no sqlx.
fn has_other_drivers(root: &Path) -> bool {
    let text = fs::read_to_string(root.join(MANIFEST.0)).unwrap_or_default();
    let is_of = |line: &str, name: &str| {
        let rest = line.trim().trim_start_matches("[dependencies.").strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with([' ', '=', '.', ']']))
    };
    let has = |name: &str| text.lines().any(|line| is_of(line, name));
    has("rusqlite") && has("tokio-postgres") && !has("sqlx")
}

/// The Cargo.toml of a crate with the SQL that is there.
fn manifest(root: &Path, name: &str) -> String {
    filled(root, MANIFEST.1).replace("@name@", name)
}

/// What a Cargo.toml has, with the libraries of the types that the tables have.
fn filled(root: &Path, template: &str) -> String {
    let (mut libraries, mut features) = (String::new(), String::new());
    // Settings that cannot be read are told by the next command.
    if let Ok(inputs) = diglot::build::load(root) {
        let files: Vec<_> = inputs.migrations(Dialect::Pg).into_iter().map(|(id, _)| id).collect();
        let (schema, _) = diglot::schema::read(&inputs.sources, &files, Dialect::Pg);
        let has = |is: fn(&Base) -> bool| {
            schema.tables.values().flat_map(|table| &table.columns).any(|column| is(&column.ty.base))
        };
        let used = inputs.config.libraries();
        if has(Base::is_time) {
            libraries += &format!("{}\n", used.times.dependency());
        }
        if has(|base| *base == Base::Numeric) {
            libraries += &format!("{}\n", used.decimals.dependency());
            features = format!(", {:?}", used.decimals.feature());
        }
    }
    let text = template.replace("@diglot@", &origin::dependency(root));
    text.replace("@libraries@", &libraries).replace("@features@", &features)
}

/// Writes lines below a table into settings that are new, and says so with the first text; shows them with the second one
/// where the settings were there before.
fn beneath(
    (root, is_new): (&Path, bool),
    (table, why): (&str, &str),
    lines: &[String],
    [wrote, shown]: [&str; 2],
) -> Result<(), Failure> {
    if lines.is_empty() {
        return Ok(());
    }
    let lines = lines.join("\n");
    if is_new {
        let written = OpenOptions::new().append(true).open(root.join(CONFIG.0));
        let text = format!("\n# {why}\n{table}\n{lines}\n");
        written
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(Failure::io(format!("write {}", CONFIG.0)))?;
        report::line(wrote);
        return Ok(());
    }
    let has_table = fs::read_to_string(root.join(CONFIG.0)).is_ok_and(|text| text.contains(table));
    report::line(&format!("{shown}\n"));
    report::line(&format!("{}{lines}\n", if has_table { String::new() } else { format!("{table}\n") }));
    Ok(())
}

/// Writes a file unless there is one.
pub(crate) fn write_new(path: &Path, text: &str) -> io::Result<bool> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => file.write_all(text.as_bytes()).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Tells where Cargo would refuse the new crate: below a workspace that does not name it.
fn check_workspace(root: &Path) {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let asked = Command::new(cargo).args(["locate-project", "--workspace"]).current_dir(root).output();
    if let Ok(Output { stderr, status, .. }) = asked
        && !status.success()
    {
        report::line("Cargo does not build the new crate where it is yet:");
        report::line(String::from_utf8_lossy(&stderr).trim_end());
    }
}

/// The folder's name as the name of a crate.
fn crate_name(root: &Path) -> String {
    let folder = fs::canonicalize(root).ok().and_then(|root| Some(root.file_name()?.to_string_lossy().into_owned()));
    let letter = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c.to_ascii_lowercase() } else { '_' };
    let name: String = folder.unwrap_or_default().chars().map(letter).collect();
    let name = name.trim_matches(['-', '_']).to_owned();
    if name.starts_with(|c: char| c.is_ascii_lowercase()) { name } else { format!("notes{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_gives_a_name_that_a_crate_may_have() {
        let folder = tempfile::tempdir().unwrap();
        for (name, expected) in [("My Notes", "my_notes"), ("2024", "notes2024"), ("a-b", "a-b"), ("_", "notes")] {
            let root = folder.path().join(name);
            fs::create_dir(&root).unwrap();
            assert_eq!(crate_name(&root), expected);
        }
    }
}

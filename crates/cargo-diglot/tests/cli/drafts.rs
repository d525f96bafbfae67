//! A new project, a new pair, and the page that a statement lacks.

use crate::project::Project;

const SQLITE: &str = "sql/sqlite/job.sql";
const PG: &str = "sql/pg/job.sql";

#[test]
fn a_pair_is_added_to_both_pages_and_checks_clean() {
    let project = Project::clean();
    for (noun, verb) in [("job", "add"), ("job", "list"), ("lane", "update"), ("lane", "delete")] {
        let ended = project.run(&["new", noun, verb]);
        assert_eq!(ended.code, Some(0), "{}", ended.seen());
    }
    let prepared = project.prepare(&[]);
    assert_eq!(prepared.code, Some(0), "{}", prepared.seen());
    let ended = project.check();
    assert_eq!(ended.stderr, "8 pairs, 0 findings\n", "{}", ended.seen());
    assert!(project.read(PG).contains(";\n\n-- Adds a row to job.\n-- name: job_add :exec\n"), "{}", project.read(PG));
}

#[test]
fn a_pair_that_is_there_is_not_written_again() {
    let project = Project::clean();
    let before = project.read(PG);
    for arguments in [["new", "job", "due"], ["new", "../x", "due"], ["new", "ghost", "list"]] {
        let ended = project.run(&arguments);
        assert_eq!(ended.code, Some(1), "{}", ended.seen());
    }
    assert_eq!(project.read(PG), before);
    assert!(!project.path("sql/pg/ghost.sql").exists());
}

#[test]
fn a_page_that_is_lost_is_drafted_at_its_place() {
    let project = Project::clean();
    let (sqlite, pg) = (project.read(SQLITE), project.read(PG));
    let cut = |text: &str| -> String {
        let (start, end) = (text.find("-- Gives a job").unwrap(), text.find("-- Adds a job").unwrap());
        format!("{}{}", &text[..start], &text[end..])
    };
    for (path, text) in [(SQLITE, &sqlite), (PG, &pg)] {
        project.write(path, cut(text));
        let shown = project.run(&["translate", "job.job_take"]);
        assert_eq!(shown.code, Some(0), "{}", shown.seen());
        assert!(shown.stdout.starts_with("-- Gives a job to an owner, unless it has one.\n-- name: job_take :rows\n"));
        assert_eq!(project.read(path), cut(text), "it is only shown");
        let written = project.run(&["translate", "job_take", "--write"]);
        assert_eq!(written.code, Some(0), "{}", written.seen());
        assert_eq!(project.read(path), *text);
        assert_eq!(project.check().code, Some(0));
    }
}

#[test]
fn what_nobody_can_know_is_marked() {
    let project = Project::clean();
    let text = project.read(PG);
    let start = text.find("-- The owner of a job").unwrap();
    project.write(PG, &text[..start]);
    let ended = project.run(&["translate", "job_owner"]);
    // Which lock the statement needs on Postgres is for somebody to say.
    let open = "-- decide: unused-divergence: `-- diverges(lock)` names no difference\n";
    assert!(ended.stdout.contains(open) && ended.stderr.starts_with("1 thing to decide"), "{}", ended.seen());
    project.write(PG, text);
    let text = project.read(SQLITE);
    let start = text.find("-- The owner of a job").unwrap();
    project.write(SQLITE, &text[..start]);
    let ended = project.run(&["translate", "job_owner"]);
    assert!(ended.stdout.contains("-- diverges(lock): SQLite has one writer"), "{}", ended.seen());
    assert!(!ended.stdout.contains("FOR UPDATE"), "{}", ended.seen());
    let ended = project.run(&["translate", "job_ownr"]);
    assert!(ended.stderr.contains("did you mean `job_owner`?"), "{}", ended.seen());
}

#[test]
fn a_folder_with_a_project_in_it_keeps_every_file() {
    let project = Project::clean();
    let before = [project.read(SQLITE), project.read(PG)];
    project.write("Cargo.toml", "[package]\nname = \"jobs\"\n");
    project.write("build.rs", "fn main() {}\n");
    let ended = project.run(&["init"]);
    assert_eq!(ended.code, Some(0), "{}", ended.seen());
    assert_eq!([project.read(SQLITE), project.read(PG)], before);
    assert_eq!(project.read("build.rs"), "fn main() {}\n");
    assert!(!project.path("sql/pg/note.sql").exists());
    assert!(ended.stderr.contains("build.rs stays as it is; its `main` needs `diglot::build::run();`"));
}

//! Whatever stands in the files, the command line answers with a finding or with a reason, never with a panic.

use crate::project::{Ended, Project};

const SQLITE: &str = "sql/sqlite/job.sql";
const PG: &str = "sql/pg/job.sql";

#[track_caller]
fn findings(name: &str, project: &Project) -> Ended {
    let ended = project.check();
    assert_eq!(ended.code, Some(2), "{name}: {}", ended.seen());
    assert!(!ended.seen().contains("panicked"), "{name}: {}", ended.seen());
    insta::assert_snapshot!(name, ended.seen());
    ended
}

#[test]
fn sql_that_cannot_be_parsed() {
    let project = Project::clean();
    project.edit(PG, "ORDER BY job.priority DESC", "ORDER job.priority DESC");
    findings("unparsable", &project);
}

#[test]
fn a_column_that_no_table_has() {
    let project = Project::clean();
    project.edit(PG, "job.seen_ms, lane.paused", "job.sen_ms, lane.paused");
    findings("unknown_column", &project);
}

#[test]
fn a_page_without_its_facing_page() {
    let project = Project::clean();
    project.write("sql/pg/lane.sql", "-- All lanes.\n-- name: lane_all :many\nSELECT name FROM lane ORDER BY name;\n");
    findings("missing_page", &project);
}

#[test]
fn a_name_that_two_statements_have() {
    let project = Project::clean();
    for page in [SQLITE, PG] {
        project.edit(page, "name: job_put", "name: job_take");
    }
    findings("duplicate_name", &project);
}

#[test]
fn an_annotation_that_does_not_exist() {
    let project = Project::clean();
    project.edit(SQLITE, "-- diverges(lock)", "-- diverge(lock)");
    findings("unknown_annotation", &project);
}

#[test]
fn text_that_is_not_utf_8() {
    let project = Project::clean();
    let mut text = project.read(PG).into_bytes();
    let at = text.windows(5).position(|window| window == b"taken").unwrap();
    text[at] = 0xFF;
    project.write(PG, text);
    findings("not_utf_8", &project);
}

#[test]
fn a_parameter_whose_type_nothing_tells() {
    let project = Project::clean();
    for page in [SQLITE, PG] {
        project.edit(page, "SELECT owner\n", "SELECT owner, :note AS note\n");
    }
    findings("parameter_without_type", &project);
}

#[test]
fn a_configuration_that_is_not_toml() {
    let project = Project::clean();
    project.write("diglot.toml", "sql = [\n");
    let ended = project.check();
    assert!(matches!(ended.code, Some(1 | 2)), "{}", ended.seen());
    insta::assert_snapshot!("unreadable_configuration", ended.seen());
}

#[test]
fn a_configuration_with_an_unknown_key() {
    let project = Project::clean();
    project.write("diglot.toml", "sqll = \"sql\"\n");
    let ended = project.check();
    assert!(matches!(ended.code, Some(1 | 2)), "{}", ended.seen());
    insta::assert_snapshot!("unknown_key", ended.seen());
}

#[test]
fn an_empty_folder_is_no_project() {
    let folder = tempfile::tempdir().unwrap();
    let project = Project::unprepared();
    let ended = project.run(&["check", "--root", folder.path().to_str().unwrap()]);
    assert_eq!(ended.code, Some(1), "{}", ended.seen());
    assert!(ended.stderr.contains("holds no project: neither `diglot.toml` nor a folder `sql`"), "{}", ended.stderr);
}

#[test]
fn a_project_without_a_schema_has_findings() {
    let project = Project::clean();
    std::fs::remove_dir_all(project.path("schema")).unwrap();
    let ended = project.check();
    assert!(matches!(ended.code, Some(1 | 2)), "{}", ended.seen());
    assert!(!ended.seen().contains("panicked"), "{}", ended.seen());
}

#[test]
fn findings_have_a_short_form_and_a_form_for_machines() {
    let project = Project::clean();
    project.edit(PG, "job.due_ms < :now_ms", "job.due_ms <= :now_ms");
    let short = project.run(&["check", "--format", "short"]);
    assert_eq!(short.code, Some(2));
    let line = short.stdout.lines().next().unwrap();
    let mut parts = line.splitn(4, ':');
    assert!(parts.next().is_some_and(|path| path.ends_with("job.sql")), "{line}");
    assert!(parts.by_ref().take(2).all(|number| number.parse::<usize>().is_ok()), "{line}");
    assert!(parts.next().is_some_and(|rest| rest.starts_with(" error[")), "{line}");

    let json = project.run(&["check", "--format", "json"]);
    assert_eq!(json.code, Some(2));
    assert_eq!(json.stdout.lines().count(), short.stdout.lines().count());
    for line in json.stdout.lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(value.is_object(), "{line}");
    }
}

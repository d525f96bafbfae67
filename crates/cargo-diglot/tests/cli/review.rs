//! The review as a file and as a comment, of a whole project and of what changed.

use crate::project::{Project, git};

const PG: &str = "sql/pg/job.sql";

/// A project under version control.
fn committed() -> Project {
    let project = Project::unprepared();
    git(&project, &["init", "--quiet"]);
    git(&project, &["add", "."]);
    git(&project, &["commit", "--quiet", "--message", "first"]);
    project
}

#[test]
fn a_page_is_written_beside_other_output() {
    let project = Project::unprepared();
    let ended = project.run(&["review"]);
    assert_eq!(ended.code, Some(0), "{}", ended.seen());
    let page = project.read("target/diglot/review.html");
    assert!(page.contains("id=\"job.job_owner\"") && page.contains("diverges: lock"), "{page}");
    assert_eq!(ended.stdout, "");

    let ended = project.run(&["review", "--out", "deep/in/here.html"]);
    assert_eq!(ended.code, Some(0), "{}", ended.seen());
    assert_eq!(project.read("deep/in/here.html"), page);
}

#[test]
fn a_comment_goes_to_standard_output() {
    let project = Project::unprepared();
    let ended = project.run(&["review", "--format", "markdown"]);
    assert_eq!(ended.code, Some(0), "{}", ended.seen());
    assert!(ended.stdout.contains("<b>job_owner</b> — declared"), "{}", ended.seen());
    assert!(!project.path("target").exists());
}

#[test]
fn what_changed_since_a_revision_is_shown_and_the_repository_is_left_alone() {
    let project = committed();
    project.edit(PG, "job.due_ms < :now_ms", "job.due_ms <= :now_ms");
    let ended = project.run(&["review", "--since", "HEAD", "--format", "markdown"]);
    assert_eq!(ended.code, Some(0), "{}", ended.seen());
    for line in ["1 changed, 0 added, 0 removed", "-   AND job.due_ms < :now_ms", "+   AND job.due_ms <= :now_ms"] {
        assert!(ended.stdout.contains(line), "{line}: {}", ended.seen());
    }
    assert!(!ended.stdout.contains("job_owner"), "{}", ended.seen());
    git(&project, &["diff", "--cached", "--quiet"]);
    assert!(project.read(PG).contains("<= :now_ms"), "the file stays as it is");
}

#[test]
fn a_project_in_a_folder_of_a_repository_is_found_there() {
    let outer = committed();

    std::fs::create_dir(outer.path("inner")).unwrap();
    git(&outer, &["mv", "sql", "schema", "inner"]);
    git(&outer, &["commit", "--quiet", "--message", "moved"]);
    outer.edit("inner/sql/pg/job.sql", "LIMIT 10", "LIMIT 11");
    let ended = outer.run(&["review", "--root", "inner", "--since", "HEAD", "--format", "markdown"]);
    assert!(ended.stdout.contains("1 changed, 0 added, 0 removed, 0 judged anew, 3 unchanged"), "{}", ended.seen());
    let ended = outer.run(&["review", "--root", "inner", "--since", "HEAD~1", "--format", "markdown"]);
    assert!(ended.stdout.contains("0 changed, 4 added, 0 removed"), "{}", ended.seen());
}

#[test]
fn a_revision_that_does_not_exist_is_a_failure_with_its_name() {
    let project = committed();
    for revision in ["nonsense", "--output=x", "HEAD~5"] {
        let ended = project.run(&["review", &format!("--since={revision}")]);
        assert_eq!(ended.code, Some(1), "{}", ended.seen());
        assert!(ended.stderr.contains(&format!("`{revision}`")), "{}", ended.seen());
    }
    let ended = Project::unprepared().run(&["review", "--since", "HEAD"]);
    assert_eq!(ended.code, Some(1), "{}", ended.seen());
}

//! A project with drift begins today: what is known stays quiet, what is new fails, what is repaired must go.

use crate::project::Project;

const PG: &str = "sql/pg/job.sql";
const FILE: &str = "diglot.baseline";

#[test]
fn only_new_drift_fails() {
    let project = Project::unprepared();
    project.edit(PG, "job.due_ms < :now_ms", "job.due_ms <= :now_ms");
    assert_eq!(project.check().code, Some(2));

    let kept = project.run(&["baseline"]);
    let next = "next: `cargo diglot prepare` asks both engines about the statements";
    assert_eq!((kept.code, kept.stderr), (Some(0), format!("diglot.baseline: 1 finding kept\n{next}\n")));
    assert!(project.read(FILE).contains("\nwhere-differs job_due "), "{}", project.read(FILE));
    // Nobody has asked the engines yet; the drift itself is known.
    assert_eq!(project.prepare(&[]).code, Some(0));
    let check = project.check();
    assert_eq!(check.code, Some(0), "{check:?}");
    assert!(check.stderr.contains("0 findings, 1 known, see diglot.baseline"), "{check:?}");

    project.edit(PG, "SELECT owner\n", "SELECT lane AS owner\n");
    let check = project.run(&["check", "--format", "short"]);
    assert_eq!(check.code, Some(2), "{check:?}");
    assert!(check.stdout.contains("error[columns-differ]: job_owner"), "{check:?}");
    assert!(!check.stdout.contains("where-differs"), "{check:?}");
    project.edit(PG, "SELECT lane AS owner\n", "SELECT owner\n");

    project.edit(PG, "job.due_ms <= :now_ms", "job.due_ms < :now_ms");
    let check = project.run(&["check", "--format", "short"]);
    assert!(check.stdout.contains("diglot.baseline:3:1: error[unused-baseline]: job_due"), "{check:?}");
    let gone = project.run(&["baseline"]);
    assert_eq!((gone.code, gone.stderr.as_str()), (Some(0), "nothing to keep, so there is no diglot.baseline\n"));
    assert!(!project.path(FILE).exists());
}

#[test]
fn what_nothing_sound_could_be_generated_for_is_not_kept() {
    let project = Project::unprepared();
    project.edit(PG, "-- name: job_owner", "-- name: job_due");
    let kept = project.run(&["baseline"]);
    assert_eq!(kept.code, Some(2), "{kept:?}");
    assert!(kept.stdout.contains("error[duplicate-name]"), "{kept:?}");
    assert!(kept.stderr.ends_with("these cannot be kept: repair them first\n"), "{kept:?}");
}

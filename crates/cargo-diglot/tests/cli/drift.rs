//! Every kind of drift between two pages is found by `check`, and the same change on both pages is none.

use crate::project::Project;

const SQLITE: &str = "sql/sqlite/job.sql";
const PG: &str = "sql/pg/job.sql";

/// A change of a text that stands once on the Postgres page, and once on the SQLite page.
struct Change {
    name: &'static str,
    from: &'static str,
    to: &'static str,
}

const CHANGES: &[Change] = &[
    Change { name: "conjunct_deleted", from: "\n   AND owner IS NULL;", to: ";" },
    Change { name: "constant_changed", from: "job.state = 'waiting'", to: "job.state = 'taken'" },
    Change { name: "comparison_widened", from: "job.due_ms < :now_ms", to: "job.due_ms <= :now_ms" },
    Change { name: "column_dropped", from: "job.seen_ms, lane.paused", to: "lane.paused" },
    Change { name: "assignment_dropped", from: "       due_ms = :due_ms,\n", to: "" },
    Change { name: "columns_swapped", from: "job.due_ms, job.seen_ms", to: "job.seen_ms, job.due_ms" },
    Change {
        name: "parameters_swapped",
        from: "due_ms = :due_ms,\n       seen_ms = :now_ms",
        to: "due_ms = :now_ms,\n       seen_ms = :due_ms",
    },
    Change { name: "order_reversed", from: "job.priority DESC", to: "job.priority ASC" },
    Change { name: "limit_removed", from: "\n LIMIT 10;", to: ";" },
    Change { name: "join_made_left", from: "  JOIN lane", to: "  LEFT JOIN lane" },
    Change { name: "conflict_target_changed", from: "ON CONFLICT (lane, key)", to: "ON CONFLICT (id)" },
    Change { name: "statement_renamed", from: "name: job_take", to: "name: job_grab" },
];

#[test]
fn a_project_whose_pages_agree_is_clean() {
    let ended = Project::clean().check();
    assert_eq!(ended.code, Some(0), "{}", ended.seen());
    assert_eq!(ended.stdout, "");
    assert_eq!(ended.stderr, "4 pairs, 0 findings\n");
}

#[test]
fn a_change_on_one_page_is_found_and_both_pages_are_shown() {
    for change in CHANGES {
        for page in [SQLITE, PG] {
            let project = Project::clean();
            project.edit(page, change.from, change.to);
            let ended = project.check();
            let name = change.name;
            assert_eq!(ended.code, Some(2), "{name} in {page}: {}", ended.seen());
            for path in [SQLITE, PG] {
                assert!(ended.stdout.contains(path), "{name} in {page} does not show {path}: {}", ended.seen());
            }
            assert!(!ended.stdout.contains("panicked") && !ended.stderr.contains("panicked"), "{}", ended.seen());
            if page == PG {
                insta::assert_snapshot!(name, ended.seen());
            }
        }
    }
}

#[test]
fn a_deleted_statement_is_found_on_the_page_where_it_is_left() {
    let project = Project::clean();
    let text = project.read(PG);
    let start = text.find("-- Gives a job").unwrap();
    let end = text.find("-- Adds a job").unwrap();
    project.write(PG, format!("{}{}", &text[..start], &text[end..]));
    let ended = project.check();
    assert_eq!(ended.code, Some(2), "{}", ended.seen());
    insta::assert_snapshot!("statement_deleted", ended.seen());
}

#[test]
fn a_declaration_without_its_reason_is_a_finding() {
    let project = Project::clean();
    project.edit(
        SQLITE,
        "-- diverges(lock): SQLite has a single writer, so it needs no lock on the row.",
        "-- diverges(lock):",
    );
    let ended = project.check();
    assert_eq!(ended.code, Some(2), "{}", ended.seen());
    insta::assert_snapshot!("reason_removed", ended.seen());
}

#[test]
fn a_declaration_that_nothing_needs_is_a_finding() {
    let project = Project::clean();
    project.edit(PG, "\n   FOR UPDATE;", ";");
    let ended = project.check();
    assert_eq!(ended.code, Some(2), "{}", ended.seen());
    insta::assert_snapshot!("declaration_unused", ended.seen());
}

#[test]
fn the_same_change_on_both_pages_is_no_drift() {
    for change in CHANGES {
        let project = Project::clean();
        for page in [SQLITE, PG] {
            project.edit(page, change.from, change.to);
        }
        let prepared = project.prepare(&[]);
        assert_eq!(prepared.code, Some(0), "{}: {}", change.name, prepared.seen());
        let ended = project.check();
        assert_eq!(ended.code, Some(0), "{}: {}", change.name, ended.seen());
    }
}

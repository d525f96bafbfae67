//! What `cargo diglot plans --citus` tells of a cluster is what the compiler's tests of shards go by.
//!
//! Needs the URL of a coordinator in `DIGLOT_CITUS_URL`; without one it says so and looks at nothing.

use std::collections::BTreeSet;
use std::env;

use crate::project::Project;

/// A project of the pages of one dialect.
fn project(settings: &str, schema: &str, pages: &str) -> Project {
    let project = Project::empty();
    for (path, text) in [("diglot.toml", settings), ("schema/pg/0001_all.sql", schema), ("sql/pg/case.sql", pages)] {
        project.write(path, text);
    }
    // A folder for the pages of the other one, which has none of these.
    project.write("schema/sqlite/0001_all.sql", "");
    project.write("sql/sqlite/case.sql", "");
    project
}

/// The settings, the schema, the pages and the verdicts of a set that the compiler's tests keep.
macro_rules! kept {
    ($name:literal) => {
        [
            include_str!(concat!("../../../diglot/tests/shards/", $name, ".toml")),
            include_str!(concat!("../../../diglot/tests/shards/", $name, "_schema.sql")),
            include_str!(concat!("../../../diglot/tests/shards/", $name, "_pages.sql")),
            include_str!(concat!("../../../diglot/tests/shards/", $name, "_verdicts.txt")),
        ]
    };
}

#[test]
fn the_kept_verdicts_are_those_of_the_cluster() {
    let Ok(url) = env::var("DIGLOT_CITUS_URL") else {
        eprintln!("nothing was asked: DIGLOT_CITUS_URL names no coordinator of Citus");
        return;
    };
    for [settings, schema, pages, verdicts] in [kept!("own"), kept!("once")] {
        let ended = project(settings, schema, pages).run(&["plans", "--citus", &url]);
        assert_eq!(ended.code, Some(0), "{}", ended.seen());
        let (told, kept): (BTreeSet<&str>, BTreeSet<&str>) =
            (ended.stdout.lines().collect(), verdicts.lines().collect());
        let changed: Vec<&&str> = told.symmetric_difference(&kept).collect();
        assert!(changed.is_empty(), "{changed:#?}");
    }
}

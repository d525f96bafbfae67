//! A run that knows what an earlier one has kept gives what a run from the beginning gives.

use super::{CONFIG, inputs, rules};
use crate::cache::{Cache, shared};
use crate::config::Config;
use crate::pipeline::{compile, compile_again};
use crate::project::Inputs;
use crate::source::SourceFile;

const PAGE: &str = "-- Reads a lane.
-- name: job_lane :opt
SELECT job.lane FROM job WHERE job.id = :id;

-- Sets a note.
-- name: job_note :exec
-- param: note text null
UPDATE job SET note = :note WHERE job.id = :id
-- if: part
 AND job.part = :part
-- end
;

-- Lists lanes.
-- name: job_list :many
SELECT job.lane FROM job WHERE job.part = :part ORDER BY job.id;
";

fn project(sqlite: &str, pg: &str) -> Inputs {
    inputs(&[("sqlite/job", sqlite), ("pg/job", pg)])
}

/// A cache as the file holds it.
fn written(cache: &Cache) -> Cache {
    serde_json::from_str(&serde_json::to_string(cache).unwrap()).unwrap()
}

/// How many statements come from what was kept, of a run that must give what one from the beginning gives.
fn taken(inputs: &Inputs, earlier: &Cache) -> usize {
    let (again, after) = compile_again(inputs, &written(earlier));
    let fresh = compile(inputs);
    assert_eq!(again.rust, fresh.rust);
    assert_eq!(again.diagnostics, fresh.diagnostics);
    assert_eq!(again.keys, fresh.keys);
    assert_eq!(again.stats, fresh.stats);
    let (same, _) = compile_again(inputs, &written(&after));
    assert_eq!(same.rust, fresh.rust);
    assert_eq!(same.diagnostics, fresh.diagnostics);
    earlier.beside(&shared(inputs)).map_or(0, |known| after.keys().filter(|key| known.contains_key(*key)).count())
}

fn cache(inputs: &Inputs) -> Cache {
    compile_again(inputs, &Cache::default()).1
}

#[test]
fn only_what_changed_is_worked_on() {
    let before = cache(&project(PAGE, PAGE));
    assert_eq!(taken(&project(PAGE, PAGE), &before), 3);
    let moved = format!("-- A line more.\n\n{PAGE}");
    assert_eq!(taken(&project(&moved, PAGE), &before), 3);
    for (from, to) in [
        ("Reads a lane", "Reads the lane"),
        ("job_lane :opt", "job_lane :many"),
        ("job.lane FROM job WHERE job.id", "job.note FROM job WHERE job.id"),
        ("note text null", "note text"),
        ("AND job.part = :part", "AND job.part <> :part"),
        ("job_list :many\n", "job_list :many\n-- allow(unordered-list): it does not matter\n"),
        ("SELECT job.lane FROM job WHERE job.part", "SELECT job.lane FROM job -- why\nWHERE job.part"),
    ] {
        let changed = PAGE.replace(from, to);
        assert_ne!(changed, PAGE, "{from}");
        assert_eq!(taken(&project(&changed, &changed), &before), 2, "{from}");
    }
}

#[test]
fn what_has_findings_is_told_every_time() {
    let drifted = PAGE.replace("AND job.part = :part", "AND job.part <> :part");
    let project = project(PAGE, &drifted);
    let before = cache(&project);
    assert_eq!(taken(&project, &before), 2);
    assert!(rules(&compile_again(&project, &before).0).contains(&"where-differs"));
}

#[test]
fn nothing_is_taken_when_what_all_share_has_changed() {
    let before = cache(&project(PAGE, PAGE));
    let with = |path: &str, text: &str| {
        let mut inputs = project(PAGE, PAGE);
        inputs.sources.add(SourceFile::new(path, text));
        inputs
    };
    for inputs in [
        with("schema/sqlite/0002_more.sql", "CREATE TABLE other (n INTEGER NOT NULL);"),
        with("schema/divergences.sql", "-- nothing yet"),
        Inputs { config: Config::parse(CONFIG, "diglot.toml").unwrap(), ..with("diglot.toml", CONFIG) },
    ] {
        assert_eq!(taken(&inputs, &before), 0);
    }
}

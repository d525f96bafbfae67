//! What a baseline keeps, and what is generated in spite of it.

use super::{pair, rendered, rules};
use crate::baseline;
use crate::pipeline::{Compiled, Inputs, compile};
use crate::source::SourceFile;

const SQLITE: &str = "-- name: job_due :many\nSELECT id FROM job WHERE epoch < :now;\n\n\
                      -- name: job_lost :exec\nDELETE FROM job;\n\n\
                      -- name: job_odd :many\nSELECT id, note FROM job;\n\n\
                      -- name: job_bad :exec\nDELETE FRM job;\n";
const PG: &str = "-- name: job_due :many\nSELECT id FROM job WHERE epoch <= :now;\n\n\
                  -- name: job_odd :many\nSELECT id FROM job;\n\n\
                  -- name: job_bad :exec\nDELETE FROM job;\n";

fn with_baseline(sqlite: &str, pg: &str, text: &str) -> (Inputs, Compiled) {
    let mut inputs = pair(sqlite, pg);
    inputs.baseline = Some(inputs.sources.add(SourceFile::new(baseline::FILE, text)));
    let compiled = compile(&inputs);
    (inputs, compiled)
}

fn written(compiled: &Compiled) -> String {
    let findings = compiled.diagnostics.iter().zip(&compiled.subjects);
    baseline::text(findings.map(|(finding, subject)| (finding.rule, subject.as_str())))
}

#[test]
fn what_is_kept_fails_nothing_and_the_rest_is_generated() {
    let first = compile(&pair(SQLITE, PG));
    let text = written(&first);
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(
        lines,
        ["syntax job_bad", "where-differs job_due", "missing-statement job_lost", "columns-differ job_odd"]
    );
    let (inputs, kept) = with_baseline(SQLITE, PG, &text);
    assert!(kept.diagnostics.is_empty(), "{}", rendered(&inputs, &kept));
    assert_eq!(kept.known.len(), 4);
    assert_eq!(kept.left_out, ["job_bad", "job_odd"]);
    assert!(kept.rust.contains("fn job_due") && kept.rust.contains("pub mod sqlite_only"), "{}", kept.rust);
    assert!(!kept.rust.contains("job_odd") && !kept.rust.contains("compile_error"), "{}", kept.rust);
}

#[test]
fn new_drift_fails_and_what_is_repaired_must_leave_the_file() {
    let text = written(&compile(&pair(SQLITE, PG)));
    let pg = PG.replace("DELETE FROM job", "DELETE FROM job WHERE false").replace("<=", "<");
    let (inputs, compiled) = with_baseline(&SQLITE.replace("FRM", "FROM"), &pg, &text);
    assert_eq!(rules(&compiled), ["where-differs", "unused-baseline", "unused-baseline"]);
    insta::assert_snapshot!(rendered(&inputs, &compiled));
}

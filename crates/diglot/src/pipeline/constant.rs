//! Two statements that give the same rows at all times, by the rows that the engines gave.
//!
//! # Why
//!
//! A statement that reads no table, takes no parameter and asks neither the clock nor a locale has one answer. `cargo
//! diglot prepare` asks both engines for it and records up to a hundred rows; Postgres answers twice, under other time
//! zones and formats. Where the rows are the same in the same order, the pages mean the same, whatever their texts say.
//! Where they are not, the finding shows the first rows that differ.
//!
//! # The same
//!
//! ```text
//! sqlite: SELECT CAST(round((julianday('2024-03-01 12:34:56') - 2440587.5) * 86400.0) AS INTEGER) % 60 AS c
//! pg:     SELECT (extract(epoch FROM timestamptz '2024-03-01 12:34:56+00') - 1709296440)::bigint AS c
//! rows:   56
//! sqlite: WITH RECURSIVE g (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM g WHERE i < 9) SELECT sum(i) AS c FROM g
//! pg:     SELECT sum(i)::bigint AS c FROM generate_series(1, 9) AS i
//! rows:   45
//! ```
//!
//! # Not the same
//!
//! ```text
//! sqlite: SELECT 7 / 2 AS c FROM u
//! pg:     SELECT 3 AS c FROM u
//! rows:   3
//! sqlite: SELECT unixepoch('now') AS c
//! pg:     SELECT 1 AS c
//! rows:   1
//! sqlite: SELECT unixepoch('2024-03-01') + :more AS c
//! pg:     SELECT 1709251200 + CAST(:more AS bigint) AS c
//! rows:   1709251200
//! sqlite: SELECT count(*) AS c FROM (VALUES ('a')) AS v WHERE column1 < 'B'
//! pg:     SELECT 0::bigint AS c
//! rows:   0
//! ```

use super::Inputs;
use crate::answers::{self, Index};
use crate::compare::{Compared, Verdict};
use crate::diagnostic::Diagnostic;
use crate::dialect::Both;
use crate::emit;
use crate::infer::{PageOf, Signature};
use crate::rule;

/// Findings that no rows decide: about headers and declarations.
const OF_HEADERS: [&str; 3] =
    [rule::CARDINALITY_DIFFERS.name, rule::UNKNOWN_DIVERGENCE.name, rule::UNUSED_DIVERGENCE.name];

/// Takes out what recorded rows settle, and tells whether they settled something. What they do not settle says what
/// they are, or how to get them.
pub(super) fn settle(
    inputs: &Inputs,
    index: Option<&Index>,
    signature: Option<&Signature>,
    pages: Both<&PageOf<'_>>,
    compared: &mut Compared,
) -> bool {
    let is_decided = |finding: &Diagnostic| !OF_HEADERS.contains(&finding.rule);
    let (Some(signature), Some(first)) = (signature, compared.found.iter_mut().find(|finding| is_decided(finding)))
    else {
        return false;
    };
    if !pages.iter().all(|page| page.tree.is_constant()) {
        return false;
    }
    let Both { sqlite, pg } = pages.map(|page| {
        let text = emit::emit(&inputs.sources, signature, page);
        index.and_then(|index| answers::recorded(index, &text)).map(|record| record.rows.as_ref())
    });
    match (sqlite, pg) {
        (Some(Some(sqlite)), Some(Some(pg))) if sqlite == pg => {}
        (Some(Some(sqlite)), Some(Some(pg))) => {
            let at = (0..).find(|at| sqlite.get(*at) != pg.get(*at)).unwrap_or_default();
            let row = |rows: &[Vec<String>]| rows.get(at).map_or("no row".to_owned(), |row| row.join(", "));
            first.notes.push(format!("row {}: SQLite gave {}; Postgres gave {}", at + 1, row(sqlite), row(pg)));
            return false;
        }
        _ => return false,
    }
    compared.found.retain(|finding| !is_decided(finding));
    compared
        .rows
        .iter_mut()
        .filter(|row| row.verdict == Verdict::Differs)
        .for_each(|row| row.verdict = Verdict::ByRows);
    true
}

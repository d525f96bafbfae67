//! Two statements that give the same rows at all times, by the rows that the engines gave.

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

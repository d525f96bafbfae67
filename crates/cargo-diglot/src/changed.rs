//! Which page of a pair a pull request changed, so that a finding about both is marked where it was made.

use std::collections::BTreeMap;
use std::env;
use std::ops::RangeInclusive;
use std::path::Path;

use diglot::diagnostic::{Diagnostic, Label};
use diglot::source::Sources;

use crate::failure::Failure;
use crate::report;
use crate::revision::Git;

/// Names the branch that a pull request goes to, in GitHub's workflows.
const BASE_VARIABLE: &str = "GITHUB_BASE_REF";

/// The lines that changed, by their files below the project's folder.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Changes(BTreeMap<String, Vec<RangeInclusive<usize>>>);

/// What changed since a revision, or since the branch that the environment names; none when neither is named, or when
/// that branch is not there.
pub(crate) fn since(root: &Path, base: Option<&str>) -> Result<Option<Changes>, Failure> {
    let git = Git { root, index: None };
    let commit = match base {
        Some(base) => git.commit(base)?,
        None => {
            let Some(branch) = env::var(BASE_VARIABLE).ok().filter(|branch| !branch.is_empty()) else {
                return Ok(None);
            };
            let Ok(found) = git.commit(&format!("origin/{branch}")).or_else(|_| git.commit(&branch)) else {
                report::line(&format!(
                    "{BASE_VARIABLE} names `{branch}`, which was not fetched, so findings are marked on the first page; \
                     `fetch-depth: 0` of actions/checkout fetches it"
                ));
                return Ok(None);
            };
            found
        }
    };
    // What the base has changed since the branch began is no change of the branch.
    let fork = git.line(&["merge-base", &commit, "HEAD"]).unwrap_or(commit);
    Ok(Some(Changes::of(&String::from_utf8_lossy(
        &git.run(&[&DIFF[..], &[fork.as_str(), "--", "."][..]].concat(), b"")?,
    ))))
}

/// A diff that no setting of the repository or of its user changes.
const DIFF: [&str; 9] = [
    "-c",
    "core.quotePath=false",
    "diff",
    "--no-color",
    "--no-ext-diff",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--unified=0",
    "--relative",
];

/// The files under the paths that they have in their repository, by which GitHub knows them.
pub(crate) fn in_repository(root: &Path, sources: &Sources) -> Sources {
    let mut sources = sources.clone();
    let prefix = Git { root, index: None }.line(&["rev-parse", "--show-prefix"]).unwrap_or_default();
    if !prefix.is_empty() {
        sources.rename(|path| format!("{prefix}{path}"));
    }
    sources
}

impl Changes {
    /// Reads what `git diff --unified=0` says of the new files.
    fn of(diff: &str) -> Self {
        let mut changes = Self::default();
        let mut file = None;
        let mut lines = diff.lines();
        while let Some(line) = lines.next() {
            if let Some(path) = line.strip_prefix("+++ ") {
                file = path.strip_prefix("b/").map(|path| changes.0.entry(path.to_owned()).or_default());
            } else if let Some((old, new)) = line.strip_prefix("@@ -").and_then(hunk) {
                file.iter_mut().for_each(|file| file.push(lines_of(new)));
                // The lines themselves may look like anything.
                lines.by_ref().take(old.1 + new.1).for_each(|_| ());
            }
        }
        changes
    }

    /// Makes the place that changed the one at which a finding is told.
    pub(crate) fn mark(&self, sources: &Sources, finding: &mut Diagnostic) {
        let rank = |label: &Label| self.rank(sources, label);
        let Some(best) = finding.labels.iter().map(rank).max().filter(|best| *best > 0) else { return };
        // Of places that changed alike, one that the finding is about comes first.
        let at = |label: &Label| rank(label) == best;
        let main = finding.labels.iter().position(|label| label.primary && at(label));
        if let Some(main) = main.or_else(|| finding.labels.iter().position(at)) {
            let mut label = finding.labels.remove(main);
            label.primary = true;
            finding.labels.insert(0, label);
        }
    }

    /// 2: in lines that changed; 1: in a file that changed.
    fn rank(&self, sources: &Sources, label: &Label) -> u8 {
        let Some(file) = sources.get(label.span.file) else { return 0 };
        let Some(changed) = self.0.get(&file.path) else { return 0 };
        let ((first, _), (last, _)) =
            (file.line_column(label.span.start as usize), file.line_column(label.span.end as usize));
        let is_in = |lines: &RangeInclusive<usize>| *lines.start() <= last && first <= *lines.end();
        1 + u8::from(changed.iter().any(is_in))
    }
}

/// The first lines and the counts of `3,2 +4,5 @@`.
fn hunk(text: &str) -> Option<((usize, usize), (usize, usize))> {
    let (old, new) = text.split_once(" @@")?.0.split_once(" +")?;
    let side = |side: &str| {
        let (start, count) = side.split_once(',').unwrap_or((side, "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    };
    Some((side(old)?, side(new)?))
}

/// Those lines. Where lines went without others in their place, the lines around them.
fn lines_of((start, count): (usize, usize)) -> RangeInclusive<usize> {
    if count == 0 { start..=start + 1 } else { start..=start + count - 1 }
}

#[cfg(test)]
mod tests {
    use diglot::source::{FileId, SourceFile, Span};

    use super::*;

    const DIFF: &str = "diff --git a/sql/pg/a.sql b/sql/pg/a.sql\n--- a/sql/pg/a.sql\n+++ b/sql/pg/a.sql\n\
                        @@ -2 +2 @@ x\n-b\n+B\n@@ -5,2 +4,0 @@\n--- e\n-++ b/f\n\
                        diff --git a/gone.sql b/gone.sql\n--- a/gone.sql\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-x\n";

    #[test]
    fn lines_of_the_new_files_are_read() {
        let changes = Changes::of(DIFF);
        assert_eq!(changes.0, BTreeMap::from([("sql/pg/a.sql".to_owned(), vec![2..=2, 4..=5])]));
    }

    #[test]
    fn the_place_that_changed_comes_first_and_without_one_nothing_does() {
        let mut sources = Sources::default();
        for path in ["sql/sqlite/a.sql", "sql/pg/a.sql"] {
            sources.add(SourceFile::new(path, "a\nb\nc\n"));
        }
        let at = |file: u32, start: usize| Span::new(FileId(file), start..start + 1);
        let first = |finding: Diagnostic, diff: &str| {
            let mut finding = finding;
            Changes::of(diff).mark(&sources, &mut finding);
            (finding.labels[0].span, finding.labels[0].primary)
        };
        let both =
            || Diagnostic::error(diglot::rules::WHERE_DIFFERS, "", at(0, 0), "").and(at(1, 0), "").and(at(1, 2), "");
        assert_eq!(first(both(), DIFF), (at(1, 2), true));
        assert_eq!(first(both(), ""), (at(0, 0), true));
        let context = || Diagnostic::error(diglot::rules::MISSING_STATEMENT, "", at(0, 0), "").context(at(1, 4), "");
        assert_eq!(first(context(), DIFF), (at(1, 4), true));
    }
}

//! Whether a statement of Postgres may answer otherwise where text sorts otherwise.
//!
//! What is not known to be anything else is taken for text, so a statement is run in one order alone only where no
//! comparison, no key of an order and no function in it looks at letters.

use diglot::tree::{Expr, ExprKind, OrderKey, Statement};
use diglot::types::Base;

/// Functions that look at the order of their arguments, or at letters as the database's language has them.
const SORTING: [&str; 10] = [
    "min",
    "max",
    "greatest",
    "least",
    "lower",
    "upper",
    "initcap",
    "regexp_replace",
    "regexp_matches",
    "regexp_match",
];

/// Whether text is put into an order, or its letters are looked at.
pub(super) fn sorts_text(statement: &Statement) -> bool {
    let queries = statement.parts.iter().flat_map(|part| part.queries());
    queries.into_iter().any(|query| by_text(&query.order)) || statement.exprs().into_iter().any(is_sorting)
}

fn by_text(keys: &[OrderKey]) -> bool {
    keys.iter().any(|key| may_be_text(&key.expr))
}

fn is_sorting(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Binary { op, left, right } => {
            let is_sorting = matches!(op.as_str(), "<" | "<=" | ">" | ">=") || op.contains('~');
            is_sorting && may_be_text(left) && may_be_text(right)
        }
        ExprKind::Any { op, left, .. } => op != "=" && op != "<>" && may_be_text(left),
        ExprKind::Between { expr, .. } => may_be_text(expr),
        ExprKind::Like { op, .. } => *op != "like",
        ExprKind::Call { name, args, order, over, .. } => {
            SORTING.contains(&name.as_str()) && args.iter().any(may_be_text)
                || by_text(order)
                || over.as_ref().is_some_and(|window| by_text(&window.order))
        }
        ExprKind::Opaque(_) => true,
        _ => false,
    }
}

fn may_be_text(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Number(_) | ExprKind::Null | ExprKind::Bool(_) | ExprKind::Blob(_) => false,
        ExprKind::Collate { collation, .. } if collation.trim_matches('"') == "C" => false,
        ExprKind::Tuple(items) => items.iter().any(may_be_text),
        _ => matches!(expr.base(), None | Some(Base::Text | Base::Stored(_) | Base::TextArray)),
    }
}

#[cfg(test)]
mod tests {
    use crate::prove::{Prover, Relations};
    use diglot::source::{SourceFile, Sources};
    use diglot::{Inputs, compile};

    /// Whether a statement over a table with a number, a time and a name sorts text.
    fn sorts(sql: &str) -> bool {
        let mut sources = Sources::default();
        let sqlite = "CREATE TABLE job (id INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, due_ms INTEGER);\n";
        let pg = "CREATE TABLE job (id bigint NOT NULL PRIMARY KEY, name text NOT NULL, due_ms bigint);\n";
        let page = format!("-- Reads.\n-- name: job_list :many\n{sql};\n");
        for (path, text) in [
            ("schema/sqlite/0001_job.sql", sqlite),
            ("schema/pg/0001_job.sql", pg),
            ("sql/sqlite/job.sql", &page),
            ("sql/pg/job.sql", &page),
        ] {
            sources.add(SourceFile::new(path, text));
        }
        let inputs = Inputs { sources, ..Inputs::default() };
        let (compiled, relations) = (compile(&inputs), Relations::default());
        let subjects = Prover::new(&inputs, &compiled, &relations).subjects();
        assert_eq!(subjects.len(), 1, "{:?}", compiled.diagnostics);
        subjects[0].sorts_text
    }

    #[test]
    fn only_what_looks_at_letters_depends_on_how_they_sort() {
        for sql in [
            "SELECT id FROM job WHERE due_ms < :now_ms AND name = :name ORDER BY due_ms, id",
            "SELECT max(due_ms) AS most FROM job WHERE name <> 'a'",
            "UPDATE job SET name = 'b' WHERE id > :id",
        ] {
            assert!(!sorts(sql), "{sql}");
        }
        for sql in [
            "SELECT id FROM job ORDER BY name, id",
            "SELECT id FROM job WHERE name > :after ORDER BY id",
            "SELECT max(name) AS most FROM job",
            "SELECT id FROM job WHERE lower(name) = :name ORDER BY id",
            "SELECT id FROM job WHERE name BETWEEN :low AND :high ORDER BY id",
            "SELECT id, row_number() OVER (ORDER BY name) AS place FROM job ORDER BY id",
            "SELECT id FROM (SELECT id FROM job ORDER BY name LIMIT 1) AS first ORDER BY id",
        ] {
            assert!(sorts(sql), "{sql}");
        }
    }
}

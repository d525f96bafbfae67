//! What an answer may rest on that neither page says: the order in which rows were inserted, and the zone of a session.
//!
//! What is too much here costs a second run, and what is missing a difference that nobody sees.

use std::collections::BTreeSet;

use super::result;
use super::tables::Tables;
use super::uses::tells_time;
use diglot::dialect::Both;
use diglot::tree::{Body, Expr, ExprKind, Query, Rows, Source, Statement};
use diglot::types::Base;

/// Aggregates that have their rows in the order in which these come.
const IN_ORDER: [&str; 10] = [
    "group_concat",
    "string_agg",
    "array_agg",
    "json_group_array",
    "json_group_object",
    "json_agg",
    "jsonb_agg",
    "json_object_agg",
    "jsonb_object_agg",
    "xmlagg",
];

/// Functions that take a time apart, or print it.
const APART: [&str; 9] =
    ["date_trunc", "date_part", "extract", "to_char", "date", "age", "date_bin", "time", "timezone"];

/// Texts of the clock in the session's zone.
const LOCAL: [&str; 6] = ["current_date", "current_time", "localtime", "localtimestamp", "now", "current_timestamp"];

/// Whether the order in which rows lie may decide: which of them a limit cuts off or a window numbers first, and how a list of
/// them is put together.
pub(super) fn rests_on_order(statement: &Statement) -> bool {
    let cuts = |query: &Query| {
        let is_first_of = matches!(&query.rows, Rows::Select(select)
            if select.distinct.as_ref().is_some_and(|(on, _)| !on.is_empty()));
        query.limit.is_some() || query.offset.is_some() || is_first_of
    };
    let gathers = |expr: &Expr| match &expr.kind {
        ExprKind::Call { name, order, over, .. } => {
            over.is_some() || order.is_empty() && IN_ORDER.contains(&name.as_str())
        }
        _ => false,
    };
    let joins = |body: &Body| matches!(body, Body::Update(update) if !update.from.is_empty());
    statement.parts.iter().any(|part| joins(&part.body) || part.queries().into_iter().any(cuts))
        || statement.exprs().into_iter().any(gathers)
}

/// Whether a statement of Postgres may answer otherwise in a session of another zone.
pub(super) fn rests_on_zone(statement: &Statement) -> bool {
    let is_moment = |expr: &Expr| matches!(expr.base(), Some(Base::Timestamp));
    let is_local = |expr: &Expr| match expr.base() {
        Some(Base::DateTime | Base::Date | Base::TimeOfDay | Base::Text) => true,
        Some(Base::Stored(stored)) => stored.of.base().is_time(),
        _ => false,
    };
    let rests = |expr: &Expr| match &expr.kind {
        ExprKind::Cast { expr: inner, base, .. } => {
            let to = base.as_ref();
            let is_told = matches!(to, Some(Base::DateTime | Base::Date | Base::TimeOfDay | Base::Text));
            is_moment(inner) && is_told || to == Some(&Base::Timestamp) && !is_moment(inner) && is_local(inner)
        }
        ExprKind::Binary { op, left, right } if matches!(op.as_str(), "=" | "<>" | "<" | "<=" | ">" | ">=") => {
            [(left, right), (right, left)]
                .into_iter()
                .any(|(one, other)| is_moment(one) && matches!(other.base(), Some(Base::DateTime | Base::Date)))
        }
        // A name of a zone beside a time says which one is meant.
        ExprKind::Call { name, args, .. } => {
            APART.contains(&name.as_str()) && args.iter().any(is_moment) && !(name == "timezone" && args.len() > 1)
        }
        ExprKind::Opaque(text) => LOCAL.contains(&text.to_lowercase().as_str()),
        _ => false,
    };
    statement.exprs().into_iter().any(rests)
}

/// Whether a page reads the clock, or writes a table of which views or triggers may do so.
pub(super) fn reads_clock(trees: &Both<Statement>, tables: &Tables<'_>) -> bool {
    let behind = |name: &str| tables.behind(name).next().is_some();
    trees.iter().any(|tree| {
        tree.exprs().into_iter().any(tells_time) || tree.sources().into_iter().filter_map(Source::table).any(behind)
    })
}

/// The columns of a result that a page works out of the clock.
pub(super) fn clocked(tree: &Statement) -> BTreeSet<usize> {
    result::columns(tree, |expr| expr.exprs().into_iter().any(tells_time))
}

#[cfg(test)]
mod tests {
    use crate::prove::{Prover, Relations, Subject};
    use diglot::source::{SourceFile, Sources};
    use diglot::{Inputs, compile};

    /// A statement that both pages have alike, over a table with a time and a name.
    fn subject(sql: &str, settings: &str) -> Subject {
        subject_below("", sql, settings)
    }

    fn subject_below(annotations: &str, sql: &str, settings: &str) -> Subject {
        let mut sources = Sources::default();
        let sqlite = "CREATE TABLE job (id INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, due TEXT NOT NULL);\n";
        let pg = "CREATE TABLE job (id bigint NOT NULL PRIMARY KEY, name text NOT NULL, due timestamptz NOT NULL);\n";
        for (dialect, schema) in [("sqlite", sqlite), ("pg", pg)] {
            sources.add(SourceFile::new(format!("schema/{dialect}/1.sql"), schema));
            let page = format!("-- name: job_do :many\n{annotations}{sql};\n");
            sources.add(SourceFile::new(format!("sql/{dialect}/job.sql"), page));
        }
        let config = diglot::config::Config::parse(settings, "diglot.toml").expect("sound settings");
        let inputs = Inputs { config, sources, ..Inputs::default() };
        let compiled = compile(&Inputs { check_answers: false, ..inputs.clone() });
        Prover::new(&inputs, &compiled, &Relations::default()).subject("job_do").expect("a pair")
    }

    #[test]
    fn what_is_cut_off_or_listed_rests_on_the_order_of_rows() {
        for sql in [
            "SELECT name FROM job ORDER BY due LIMIT 1",
            "SELECT id FROM job WHERE id IN (SELECT id FROM job ORDER BY name LIMIT 2)",
            "SELECT id, row_number() OVER (ORDER BY name) AS n FROM job",
        ] {
            assert!(subject(sql, "").rests_on_order, "{sql}");
        }
        assert!(!subject("SELECT name FROM job ORDER BY due, id", "").rests_on_order);
        let allowed = "-- allow(limit-ties): any of them will do\n";
        assert!(!subject_below(allowed, "SELECT name FROM job ORDER BY due LIMIT 1", "").rests_on_order);
    }

    #[test]
    fn a_day_of_a_moment_rests_on_the_zone_unless_it_is_said() {
        for (sql, rests) in [
            ("SELECT id FROM job WHERE CAST(due AS date) = :day", true),
            ("SELECT id FROM job WHERE extract(hour FROM due) = 5", true),
            ("SELECT id FROM job WHERE extract(hour FROM due AT TIME ZONE 'UTC') = 5", false),
            ("SELECT id FROM job WHERE due < :now", false),
        ] {
            assert_eq!(subject(sql, "generate = false").rests_on_zone, rests, "{sql}");
            assert!(!subject(sql, "generate = false\npg_timezone = \"UTC\"").rests_on_zone, "{sql}");
        }
    }
}

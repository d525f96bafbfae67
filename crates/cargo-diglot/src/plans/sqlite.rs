//! SQLite's plans.

use diglot::dialect::Dialect;
use diglot::{EmittedText, Inputs};
use sqlx::AssertSqlSafe;

use super::Plan;
use crate::failure::Failure;
use crate::prepare::sqlite as prepare;

/// Asks for the plan of every text, in a database in memory.
pub(super) async fn ask(inputs: &Inputs, texts: &[&EmittedText]) -> Result<Vec<Plan>, Failure> {
    let mut connection = prepare::migrated(inputs).await?;
    let mut plans = Vec::new();
    for text in texts.iter().filter(|text| text.dialect == Dialect::Sqlite) {
        let statement = format!("{}.{}{}", text.noun, text.name, text.variant);
        let mut lines = Vec::new();
        for part in &text.parts {
            let explain = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {part}"));
            let steps: Vec<(i64, i64, i64, String)> = sqlx::query_as(explain)
                .fetch_all(&mut connection)
                .await
                .map_err(Failure::engine(format!("explain {statement} on SQLite")))?;
            lines.extend(indented(&steps));
        }
        plans.push(Plan { statement, dialect: Dialect::Sqlite, lines });
    }
    Ok(plans)
}

/// Each step below the one that it belongs to.
fn indented(steps: &[(i64, i64, i64, String)]) -> Vec<String> {
    let mut depths: std::collections::BTreeMap<i64, usize> = std::collections::BTreeMap::new();
    let line = |(id, parent, _, detail): &(i64, i64, i64, String)| {
        let depth = depths.get(parent).map_or(0, |depth| depth + 1);
        depths.insert(*id, depth);
        format!("{}{detail}", "  ".repeat(depth))
    };
    steps.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::indented;

    #[test]
    fn a_step_stands_below_its_parent() {
        let step = |id, parent, detail: &str| (id, parent, 0, detail.to_owned());
        let steps = [step(2, 0, "CO-ROUTINE a"), step(5, 2, "SCAN b"), step(9, 0, "SEARCH c")];
        assert_eq!(indented(&steps), ["CO-ROUTINE a", "  SCAN b", "SEARCH c"]);
    }
}

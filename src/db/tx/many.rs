//! What Postgres does for many at once though its page has no list for it.

use sqlx::PgConnection;

use crate::column::LaneName;
use crate::statements::execution::ExecutionPromoteDueParams;
use crate::statements::{Listed, Statement as _};

/// Whoever looks at a lane at the same moment needs one look.
impl Listed for ExecutionPromoteDueParams {
    type Group = LaneName;
    type Key = ();

    fn group(&self) -> Option<LaneName> {
        Some(self.lane_id.clone())
    }

    fn key(&self) -> Option<()> {
        None
    }

    async fn run_list<'a>(calls: &'a [&'a Self], on: &'a mut PgConnection) -> Result<Vec<u64>, sqlx::Error> {
        let Some(latest) = calls.iter().max_by_key(|call| call.now_ms) else { return Ok(Vec::new()) };
        let promoted = latest.run(on).await?;
        Ok(vec![promoted; calls.len()])
    }
}

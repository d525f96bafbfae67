//! What a program that looks after a database asks and does, beside what the engine's trait has.

use async_trait::async_trait;
use ff_core::engine_backend::EngineBackend;
use ff_core::engine_error::EngineError;
use ff_core::types::ExecutionId;

use super::Backend;
use crate::db::Dialect;
use crate::db::migrate::MigrationError;
use crate::engine::{manage, measure};
use crate::model::manage::{
    ExecutionFilter, Inspection, ListedPage, Pause, PauseTarget, QueueCount, SchemaState, StateCount,
};

/// Looking after a database: what there is in it, by any property, and how it is. Both backends do it; the command
/// line `ff-sql` is made of it.
#[async_trait]
pub trait Manage: EngineBackend {
    /// Which versions of the schema the database has. It may have none.
    ///
    /// # Errors
    /// As [`MigrationError`] says.
    async fn schema_state(&self) -> Result<SchemaState, MigrationError>;

    /// How many executions each lane has in each state. It reads all of them.
    ///
    /// # Errors
    /// Those of the database.
    async fn count_states(&self) -> Result<Vec<StateCount>, EngineError>;

    /// What the sweeps and the workers have before them on each lane, as `ff_queue_depth` tells it.
    ///
    /// # Errors
    /// Those of the database.
    async fn count_queues(&self) -> Result<Vec<QueueCount>, EngineError>;

    /// At most `limit` executions that pass a filter, in the order of their partitions and ids, strictly after one.
    ///
    /// # Errors
    /// `Validation(InvalidInput)` for a lane with U+0000; those of the database.
    async fn list_matching(
        &self,
        filter: &ExecutionFilter,
        after: Option<&ExecutionId>,
        limit: usize,
    ) -> Result<ListedPage, EngineError>;

    /// Forgets those of some executions that have ended, with all that belongs to them, and answers how many. What has not
    /// ended stays, and so does what somebody holds at this moment.
    ///
    /// # Errors
    /// `Validation(InvalidInput)` for an id that does not parse; those of the database.
    async fn discard(&self, executions: &[ExecutionId]) -> Result<u32, EngineError>;

    /// Holds a lane or a flow back until [`resume`](Self::resume): claims, also those that wait, and `claim_for_worker` find
    /// nothing of it, and `scan_eligible_executions` shows nothing of it. Executions may be created, delayed ones become due,
    /// leases are renewed and work is completed as ever, and what is claimed by its name is claimed: with a grant, or because
    /// its suspension is over. Answers whether it went on until now.
    ///
    /// # Errors
    /// `NotFound` for a lane that nothing was ever created on, and for a flow that there is not;
    /// `Validation(InvalidInput)` for a text with U+0000; those of the database.
    async fn pause(&self, target: &PauseTarget, reason: &str) -> Result<bool, EngineError>;

    /// Lets a lane or a flow go on, and calls claims that wait for its work. Answers whether it was held back.
    ///
    /// # Errors
    /// `Validation(InvalidInput)` for a lane with U+0000; those of the database.
    async fn resume(&self, target: &PauseTarget) -> Result<bool, EngineError>;

    /// All that is held back.
    ///
    /// # Errors
    /// Those of the database.
    async fn list_pauses(&self) -> Result<Vec<Pause>, EngineError>;

    /// What the database says of itself. It needs the schema.
    ///
    /// # Errors
    /// Those of the database.
    async fn inspect(&self) -> Result<Inspection, EngineError>;
}

#[async_trait]
impl<D: Dialect> Manage for Backend<D> {
    async fn schema_state(&self) -> Result<SchemaState, MigrationError> {
        self.db().schema_state().await
    }
    async fn count_states(&self) -> Result<Vec<StateCount>, EngineError> {
        manage::count(self.engine()).await
    }
    async fn count_queues(&self) -> Result<Vec<QueueCount>, EngineError> {
        measure::count(self.engine()).await
    }
    async fn list_matching(
        &self,
        filter: &ExecutionFilter,
        after: Option<&ExecutionId>,
        limit: usize,
    ) -> Result<ListedPage, EngineError> {
        manage::list(self.engine(), filter, after, limit).await
    }
    async fn discard(&self, executions: &[ExecutionId]) -> Result<u32, EngineError> {
        manage::discard(self.engine(), executions).await
    }
    async fn pause(&self, target: &PauseTarget, reason: &str) -> Result<bool, EngineError> {
        manage::pause(self.engine(), target, reason).await
    }
    async fn resume(&self, target: &PauseTarget) -> Result<bool, EngineError> {
        manage::resume(self.engine(), target).await
    }
    async fn list_pauses(&self) -> Result<Vec<Pause>, EngineError> {
        manage::list_pauses(self.engine()).await
    }
    async fn inspect(&self) -> Result<Inspection, EngineError> {
        self.db().inspect().await
    }
}

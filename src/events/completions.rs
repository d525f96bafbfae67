//! The stream of completions that the engine follows to start what waited for them.
//!
//! It begins with what commits next, tells outcomes in the words of the tables, and never an error. On a
//! break it catches up by itself.

use async_trait::async_trait;
use ff_core::backend::ScannerFilter;
use ff_core::completion_backend::{CompletionBackend, CompletionStream};
use ff_core::engine_error::EngineError;

use super::subscription;
use crate::backend::Backend;
use crate::db::Dialect;

#[async_trait]
impl<D: Dialect> CompletionBackend for Backend<D> {
    async fn subscribe_completions(&self) -> Result<CompletionStream, EngineError> {
        self.subscribe_completions_filtered(&ScannerFilter::NOOP).await
    }

    async fn subscribe_completions_filtered(&self, filter: &ScannerFilter) -> Result<CompletionStream, EngineError> {
        Ok(Box::pin(subscription::completions(self, filter).await?))
    }
}

//! Spans of what a worker does: they carry the execution and the attempt.

use std::fmt::Display;
use std::future::Future;

use ff_core::backend::Handle;
use tracing::{Instrument as _, Level, Span, debug_span, span_enabled};

use crate::db::Dialect;
use crate::model::handle;

/// Runs an operation on a handle in a span of its own. A handle that cannot be read is the operation's to refuse.
pub(super) async fn traced<D: Dialect, F: Future>(operation: &'static str, handle: &Handle, work: F) -> F::Output {
    let span = if span_enabled!(Level::DEBUG) {
        handle::decode(D::TAG, handle).map_or_else(
            |_| Span::none(),
            |held| span(operation, &held.payload.execution_id, held.payload.attempt_index.0),
        )
    } else {
        Span::none()
    };
    work.instrument(span).await
}

/// The same for an operation on an attempt that is named.
pub(super) async fn traced_as<F: Future>(
    operation: &'static str,
    execution: &impl Display,
    attempt: u32,
    work: F,
) -> F::Output {
    work.instrument(span(operation, execution, attempt)).await
}

fn span(operation: &'static str, execution: &impl Display, attempt: u32) -> Span {
    debug_span!("attempt", operation, %execution, attempt)
}

//! Which events a subscriber wants.
//!
//! An outbox row knows the namespace of its execution and the value of the tag `cairn.instance_id`. Any other
//! tag is looked up at the execution. What a row does not know matches nothing.

use ff_core::backend::ScannerFilter;
use ff_core::engine_error::EngineError;

use super::family::{Entry, Source};
use crate::db::Dialect;
use crate::model::document;
use crate::statements::execution;

/// Whether a subscriber with this filter wants an event.
///
/// # Errors
/// A tag could not be looked up.
pub(super) async fn wants<D: Dialect, E>(
    source: &Source<D>,
    filter: &ScannerFilter,
    entry: &Entry<E>,
) -> Result<bool, EngineError> {
    if let Some(namespace) = &filter.namespace
        && entry.namespace.as_deref() != Some(namespace.as_str())
    {
        return Ok(false);
    }
    match &filter.instance_tag {
        None => Ok(true),
        Some((key, value)) if key == document::INSTANCE_TAG => {
            Ok(entry.instance_tag.as_deref() == Some(value.as_str()))
        }
        Some((key, value)) => Ok(tag(source, entry, key).await?.as_deref() == Some(value.as_str())),
    }
}

async fn tag<D: Dialect, E>(source: &Source<D>, entry: &Entry<E>, key: &str) -> Result<Option<String>, EngineError> {
    let Some(of) = entry.execution else { return Ok(None) };
    let params = execution::ExecutionFieldsReadParams { execution: of };
    let row = source.db().read(params).await?;
    Ok(row.and_then(|row| document::tag_text(&row.raw_fields, key)))
}

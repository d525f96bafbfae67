//! Tags of executions and flows: words that callers attach, stored flat under keys that hold dots.

use ff_core::engine_backend::validate_tag_key;
use ff_core::engine_error::EngineError;
use ff_core::types::{ExecutionId, FlowId};

use crate::db::Dialect;
use crate::engine::Engine;
use crate::model::document;
use crate::model::id::{exec_key, reject_nul};
use crate::statements::{execution, tag};

/// Sets a tag of an execution.
///
/// Precondition: the execution exists. Effect: the tag has that value. Repeating it changes nothing.
pub(crate) async fn set_on_execution<D: Dialect>(
    engine: &Engine<D>,
    id: &ExecutionId,
    tag_key: &str,
    value: &str,
) -> Result<(), EngineError> {
    validate_tag_key(tag_key)?;
    reject_nul("tag value", value)?;
    let key = exec_key(id)?;
    let params =
        tag::TagExecutionSetParams { tag_key: tag_key.to_owned(), tag_value: value.to_owned(), execution: key };
    match engine.db().unit(params).await? {
        0 => Err(EngineError::NotFound { entity: "execution" }),
        _ => Ok(()),
    }
}

/// Reads a tag of an execution; `None` when the execution or the tag is not there.
pub(crate) async fn get_from_execution<D: Dialect>(
    engine: &Engine<D>,
    id: &ExecutionId,
    tag_key: &str,
) -> Result<Option<String>, EngineError> {
    validate_tag_key(tag_key)?;
    let key = exec_key(id)?;
    let params = execution::ExecutionFieldsReadParams { execution: key };
    let row = engine.db().read(params).await?;
    Ok(row.and_then(|row| document::tag_text(&row.raw_fields, tag_key)))
}

/// Sets a tag of a flow.
///
/// Precondition: the flow exists. Effect: the tag has that value. Repeating it changes nothing.
pub(crate) async fn set_on_flow<D: Dialect>(
    engine: &Engine<D>,
    id: &FlowId,
    tag_key: &str,
    value: &str,
) -> Result<(), EngineError> {
    validate_tag_key(tag_key)?;
    reject_nul("tag value", value)?;
    let params = tag::TagFlowSetParams {
        tag_key: tag_key.to_owned(),
        tag_value: value.to_owned(),
        partition_key: engine.flow_partition(id),
        flow_id: id.into(),
    };
    match engine.db().unit(params).await? {
        0 => Err(EngineError::NotFound { entity: "flow" }),
        _ => Ok(()),
    }
}

/// Reads a tag of a flow; `None` when the flow or the tag is not there.
pub(crate) async fn get_from_flow<D: Dialect>(
    engine: &Engine<D>,
    id: &FlowId,
    tag_key: &str,
) -> Result<Option<String>, EngineError> {
    validate_tag_key(tag_key)?;
    let params = tag::TagFlowReadParams { partition_key: engine.flow_partition(id), flow_id: id.into() };
    let row = engine.db().read(params).await?;
    Ok(row.and_then(|row| document::member_text(&row.raw_fields, tag_key)))
}

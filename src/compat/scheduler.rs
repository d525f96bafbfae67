//! Granting executions to workers, and whether a grant is one that this database gave.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use ff_core::contracts::{ClaimForWorkerArgs, ClaimForWorkerOutcome, ClaimGrant};
use ff_core::crypto::hmac::hmac_verify;
use ff_core::engine_error::EngineError;
use ff_core::types::{ExecutionId, LaneId, WorkerId, WorkerInstanceId};
use sqlx::PgPool;

use crate::backend::PostgresBackend;
use crate::engine::claim::give_back::unless_dropped;
use crate::engine::schedule;
use crate::model::id::exec_key;
use crate::statements::{secret, typed};

/// Grants executions to workers, as `claim_for_worker` of the trait.
#[derive(Debug)]
pub struct PostgresScheduler {
    pool: PgPool,
    backend: OnceLock<Arc<PostgresBackend>>,
}

impl PostgresScheduler {
    /// A scheduler on that pool, with the usual partition numbers.
    #[must_use]
    pub fn new(pool: PgPool) -> Self {
        Self { pool, backend: OnceLock::new() }
    }

    /// Grants the worker the best execution of the lane that it may run; none when there is none.
    ///
    /// # Errors
    /// As the method of the trait.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn claim_for_worker(
        &self,
        lane: &LaneId,
        worker_id: &WorkerId,
        worker_instance_id: &WorkerInstanceId,
        worker_capabilities: &BTreeSet<String>,
        grant_ttl_ms: u64,
    ) -> Result<Option<ClaimGrant>, EngineError> {
        let backend = match self.backend.get() {
            Some(backend) => backend,
            None => {
                let opened = super::over::over(&self.pool).await?;
                self.backend.get_or_init(|| opened)
            }
        };
        let (lane, worker_id, instance) = (lane.clone(), worker_id.clone(), worker_instance_id.clone());
        let args = ClaimForWorkerArgs::new(lane, worker_id, instance, worker_capabilities.clone(), grant_ttl_ms);
        let claiming =
            unless_dropped(backend.engine(), |on| async move { schedule::claim_for_worker(&on, &args).await });
        Ok(match claiming.await? {
            ClaimForWorkerOutcome::Granted(grant) => Some(grant),
            _ => None,
        })
    }
}

/// Why a grant cannot be trusted.
#[derive(Debug, thiserror::Error)]
pub enum GrantVerifyError {
    /// The key does not have the parts that a key has, or belongs to another execution.
    #[error("grant_key malformed")]
    Malformed,
    /// Its time is over.
    #[error("grant expired")]
    Expired,
    /// It is signed with a key that this database does not have.
    #[error("unknown kid")]
    UnknownKid,
    /// Nobody was granted the execution.
    #[error("unknown grant")]
    UnknownGrant,
    /// The signature is that of another grant.
    #[error("signature mismatch")]
    SignatureMismatch,
    /// The database did not answer.
    #[error("{0}")]
    Transport(Box<EngineError>),
}

/// Whether a grant to claim an execution is one that this database gave and that has not expired.
///
/// # Errors
/// What is wrong with it.
///
/// # Panics
/// Outside a tokio runtime.
pub async fn verify_grant(pool: &PgPool, grant: &ClaimGrant) -> Result<(), GrantVerifyError> {
    let key = GrantKey::parse(&grant.grant_key).ok_or(GrantVerifyError::Malformed)?;
    if key.execution_id != grant.execution_id {
        return Err(GrantVerifyError::Malformed);
    }
    let unanswered = |error| GrantVerifyError::Transport(Box::new(error));
    let backend = super::over::over(pool).await.map_err(unanswered)?;
    if key.expires_at_ms <= backend.engine().now_ms() {
        return Err(GrantVerifyError::Expired);
    }
    let rows = exec_key(&key.execution_id).map_err(|_| GrantVerifyError::Malformed)?;
    let params = secret::SecretReadParams { kid: key.kid.to_owned() };
    let signed_by = backend.db().read(params).await.map_err(unanswered)?;
    let signed_by = signed_by.ok_or(GrantVerifyError::UnknownKid)?;
    let params = typed::TypedGrantNewestParams { execution: rows };
    let granted = backend.db().read(params).await.map_err(unanswered)?;
    let granted = granted.ok_or(GrantVerifyError::UnknownGrant)?;
    let (worker_id, instance_id, expires_at_ms) = (granted.worker_id, granted.worker_instance_id, key.expires_at_ms);
    let message =
        format!("{{fp:{}}}|{}|{worker_id}|{instance_id}|{expires_at_ms}", rows.partition_key, rows.execution_id);
    hmac_verify(&signed_by.secret, key.kid, message.as_bytes(), key.signature)
        .map_err(|_| GrantVerifyError::SignatureMismatch)
}

/// A grant's key taken apart: `pg:<execution id>:<expiry>:<key id>:<digest>`.
struct GrantKey<'a> {
    execution_id: ExecutionId,
    expires_at_ms: i64,
    kid: &'a str,
    /// Key id and digest.
    signature: &'a str,
}

impl<'a> GrantKey<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (rest, _digest) = text.rsplit_once(':')?;
        let (rest, kid) = rest.rsplit_once(':')?;
        let signature = text.get(rest.len() + 1..)?;
        let (rest, expires_at_ms) = rest.rsplit_once(':')?;
        let (_prefix, execution_id) = rest.split_once(':')?;
        Some(Self {
            execution_id: ExecutionId::parse(execution_id).ok()?,
            expires_at_ms: expires_at_ms.parse().ok()?,
            kid,
            signature,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_taken_apart_from_its_end() {
        let id = "{fp:7}:00000000-0000-4000-8000-000000000001";
        let text = format!("pg:{id}:1700000000000:k1:00ff");
        let key = GrantKey::parse(&text).expect("a key");
        assert_eq!(key.execution_id.to_string(), id);
        assert_eq!((key.expires_at_ms, key.kid, key.signature), (1_700_000_000_000, "k1", "k1:00ff"));
        for malformed in ["", ":", "pg:x:1:k:00", &format!("pg:{id}:soon:k1:00ff"), &format!("{id}:1:k1:00ff")] {
            assert!(GrantKey::parse(malformed).is_none(), "{malformed}");
        }
    }
}

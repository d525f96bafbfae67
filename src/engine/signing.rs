//! What signs tokens: a secret, and the memory of the one that signed last.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ff_core::crypto::hmac::hmac_sign;
use ff_core::types::{ExecutionId, WaitpointId};

/// A secret and its key id. It has no debug form, so that no log shows it.
pub(crate) struct Secret {
    pub(crate) kid: String,
    pub(crate) bytes: Vec<u8>,
}

impl Secret {
    /// The token of a waitpoint.
    pub(crate) fn token(&self, execution_id: &ExecutionId, waitpoint_id: &WaitpointId) -> String {
        hmac_sign(&self.bytes, &self.kid, token_message(execution_id, waitpoint_id).as_bytes())
    }
}

/// What a waitpoint's token signs.
pub(crate) fn token_message(execution_id: &ExecutionId, waitpoint_id: &WaitpointId) -> String {
    format!("{execution_id}:{waitpoint_id}")
}

/// The secret that signed last in this process.
#[derive(Default)]
pub(crate) struct Signing {
    remembered: Mutex<Option<Arc<Secret>>>,
}

impl Signing {
    /// What is remembered, held while it is looked at.
    pub(crate) fn remembered(&self) -> MutexGuard<'_, Option<Arc<Secret>>> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner) // tidy: it holds a whole value or none
    }
}

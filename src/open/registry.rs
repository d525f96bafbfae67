//! The open databases of this process: one file, one backend.
//!
//! SQLite has one writer per file, so every handle on a file shares its connections, its wake-ups and
//! its sweeps. The registry does not keep a backend alive. Openings of one file wait for each other,
//! because two first ones at once would both set the schema up.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use super::path::Key;
use crate::backend::{Backend, WeakBackend};
use crate::db::Sqlite;

type Entry = Arc<tokio::sync::Mutex<Option<WeakBackend<Sqlite>>>>;

static OPEN: LazyLock<Mutex<HashMap<Key, Entry>>> = LazyLock::new(Mutex::default);

/// The backend that is open under a key, or the one that `open` makes.
pub(super) async fn shared<E, F>(key: Key, open: F) -> Result<Backend<Sqlite>, E>
where
    F: Future<Output = Result<Backend<Sqlite>, E>>,
{
    let entry = {
        let mut entries = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(entries.entry(key).or_default())
    };
    let mut slot = entry.lock().await;
    let backend = match slot.as_ref().and_then(WeakBackend::upgrade) {
        Some(backend) => backend,
        None => open.await?,
    };
    // Also of one that was open: it may be a new façade over an engine that was still at work, which the next gets as well.
    *slot = Some(backend.downgrade());
    Ok(backend)
}

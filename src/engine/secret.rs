//! The secrets that sign waitpoint tokens: installing the first, changing to the next, signing with one.
//!
//! One secret signs, every secret ever installed verifies. A secret never changes under its key id, so what a
//! process remembers of one stays true; whether it still signs is asked by the statement that stores a token. Whoever
//! changes which one signs takes turns with all others who do, also where there is no row yet that could be locked.

use std::sync::Arc;

use ff_core::contracts::{
    RotateWaitpointHmacSecretAllArgs, RotateWaitpointHmacSecretAllEntry, RotateWaitpointHmacSecretAllResult,
    RotateWaitpointHmacSecretOutcome, SeedOutcome, SeedWaitpointHmacSecretArgs,
};
use ff_core::engine_error::{ConflictKind, ContentionKind, EngineError};
use uuid::Uuid;

use crate::db::Dialect;
use crate::db::error::Abort;
use crate::engine::Engine;
use crate::engine::signing::Secret;
use crate::model::hex;
use crate::model::id::invalid_input;
use crate::model::limits;
use crate::statements::{Statements, secret};

/// The secret that this process signed with last, else the one that signs by the database. `None` when there
/// is none. Whoever uses it has the database check that it still signs, and [`renewed`] when it does not.
pub(crate) async fn signing<D: Dialect>(engine: &Engine<D>) -> Result<Option<Arc<Secret>>, EngineError> {
    let remembered = engine.signing().remembered().clone();
    match remembered {
        Some(secret) => Ok(Some(secret)),
        None => renewed(engine).await,
    }
}

/// The secret that signs by the database, remembered from here on.
pub(crate) async fn renewed<D: Dialect>(engine: &Engine<D>) -> Result<Option<Arc<Secret>>, EngineError> {
    let row = engine.db().read(secret::SecretActiveReadParams).await?;
    let secret = row.map(|row| Arc::new(Secret { kid: row.kid, bytes: row.secret }));
    engine.signing().remembered().clone_from(&secret);
    Ok(secret)
}

/// The name of the key that a database gets by itself.
const FIRST_KID: &str = "auto";

/// The key that signs now; a database that has none gets its first one, so that granting needs no operator.
pub(crate) async fn active_on<D: Dialect>(conn: &mut D::Connection, now_ms: i64) -> Result<(String, Vec<u8>), Abort> {
    if let Some(row) = conn.secret_active_read().await? {
        return Ok((row.kid, row.secret));
    }
    conn.secret_turn_take().await?;
    if let Some(row) = conn.secret_active_read().await? {
        return Ok((row.kid, row.secret));
    }
    let bytes = [Uuid::new_v4().into_bytes(), Uuid::new_v4().into_bytes()].concat();
    let first = Given { kid: FIRST_KID.to_owned(), bytes, now_ms };
    if !first.install::<D>(conn).await? {
        // It was installed once and signs no longer, which only somebody's own hand does.
        return Err(Abort::from(EngineError::Contention(ContentionKind::RetryExhausted)));
    }
    Ok((first.kid, first.bytes))
}

/// Installs the first secret.
///
/// Precondition: no other key signs. Effect: the key signs. Repeating it says whether the secret is the same,
/// and writes nothing.
pub(crate) async fn seed<D: Dialect>(
    engine: &Engine<D>,
    args: &SeedWaitpointHmacSecretArgs,
) -> Result<SeedOutcome, EngineError> {
    let given = Given::new(&args.kid, &args.secret_hex, engine.now_ms())?;
    transaction!(engine, "secret_seed", [given], |conn| { seed_on::<D>(conn, given).await })
}

async fn seed_on<D: Dialect>(conn: &mut D::Connection, given: &Given) -> Result<SeedOutcome, Abort> {
    let already = |same_secret| SeedOutcome::AlreadySeeded { kid: given.kid.clone(), same_secret };
    conn.secret_turn_take().await?;
    if let Some(same) = given.is_stored::<D>(conn).await? {
        return Ok(already(same));
    }
    if let Some(active) = conn.secret_active_read().await? {
        // Somebody else may have installed it since.
        if active.kid == given.kid {
            return Ok(already(active.secret == given.bytes));
        }
        let detail = format!(
            "seed_waitpoint_hmac_secret: a different kid {:?} is already active; use \
             rotate_waitpoint_hmac_secret_all to change kid",
            active.kid
        );
        return Err(Abort::from(invalid_input(detail)));
    }
    if given.install::<D>(conn).await? {
        return Ok(SeedOutcome::Seeded { kid: given.kid.clone() });
    }
    match given.is_stored::<D>(conn).await? {
        Some(same) => Ok(already(same)),
        None => Err(Abort::from(EngineError::Contention(ContentionKind::RetryExhausted))),
    }
}

/// Changes to another secret. Tokens of the ones before stay good: `grace_ms` has nowhere to be kept.
///
/// Precondition: none. Effect: the key signs, every other one only verifies. Repeating it with the same secret
/// writes nothing, also when another key signs by then.
pub(crate) async fn rotate<D: Dialect>(
    engine: &Engine<D>,
    args: &RotateWaitpointHmacSecretAllArgs,
) -> Result<RotateWaitpointHmacSecretAllResult, EngineError> {
    let given = Given::new(&args.new_kid, &args.new_secret_hex, engine.now_ms())?;
    let rotated = transaction!(engine, "secret_rotate", [given], |conn| { rotate_on::<D>(conn, given).await });
    Ok(RotateWaitpointHmacSecretAllResult::new(vec![RotateWaitpointHmacSecretAllEntry::new(0, rotated)]))
}

async fn rotate_on<D: Dialect>(
    conn: &mut D::Connection,
    given: &Given,
) -> Result<RotateWaitpointHmacSecretOutcome, Abort> {
    conn.secret_turn_take().await?;
    conn.secret_lock_all().await?;
    match given.is_stored::<D>(conn).await? {
        Some(true) => return Ok(RotateWaitpointHmacSecretOutcome::Noop { kid: given.kid.clone() }),
        Some(false) => return Err(Abort::from(given.conflict())),
        None => {}
    }
    let previous_kid = conn.secret_active_read().await?.map(|row| row.kid);
    // First of all, so that whoever installs the same key at the same time waits here and retires nothing.
    if !given.install::<D>(conn).await? {
        return match given.is_stored::<D>(conn).await? {
            Some(true) => Ok(RotateWaitpointHmacSecretOutcome::Noop { kid: given.kid.clone() }),
            _ => Err(Abort::from(given.conflict())),
        };
    }
    conn.secret_retire_others(&secret::SecretRetireOthersParams { kid: given.kid.clone() }).await?;
    Ok(RotateWaitpointHmacSecretOutcome::Rotated { previous_kid, new_kid: given.kid.clone(), gc_count: 0 })
}

/// A secret that a caller wants installed.
struct Given {
    kid: String,
    bytes: Vec<u8>,
    now_ms: i64,
}

impl Given {
    fn new(kid: &str, secret_hex: &str, now_ms: i64) -> Result<Self, EngineError> {
        if kid.is_empty() {
            return Err(invalid_input("kid must be non-empty"));
        }
        if kid.contains(':') {
            return Err(invalid_input("kid must not contain ':' (token wire shape is `<kid>:<hex>`)"));
        }
        limits::KID.check("kid", kid)?;
        if secret_hex.len() != 64 || !secret_hex.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(invalid_input("secret_hex must be 64 hex characters (256-bit secret)"));
        }
        let bytes = hex::decode(secret_hex).ok_or_else(|| invalid_input("secret_hex is not valid hex"))?;
        Ok(Self { kid: kid.to_owned(), bytes, now_ms })
    }

    /// Whether the key is installed, and if so, whether with this secret.
    async fn is_stored<D: Dialect>(&self, conn: &mut D::Connection) -> Result<Option<bool>, Abort> {
        let row = conn.secret_read(&secret::SecretReadParams { kid: self.kid.clone() }).await?;
        Ok(row.map(|row| row.secret == self.bytes))
    }

    /// Installs it unless the key is taken; says whether it did.
    async fn install<D: Dialect>(&self, conn: &mut D::Connection) -> Result<bool, Abort> {
        let params =
            secret::SecretInsertParams { kid: self.kid.clone(), secret: self.bytes.clone(), now_ms: self.now_ms };
        Ok(conn.secret_insert(&params).await? == 1)
    }

    fn conflict(&self) -> EngineError {
        let detail = format!("kid {} already installed with a different secret", self.kid);
        EngineError::Conflict(ConflictKind::RotationConflict(detail))
    }
}

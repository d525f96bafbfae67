//! What waits for whom on Postgres, and what is read without a lock.

pub(super) mod lock_order;
pub(crate) mod locked;
pub(super) mod stale_fence;
pub(super) mod torn_read;
pub(crate) mod transaction;
pub(super) mod unbounded_wait;
pub(super) mod unlocked_read;

lints! {
    absence_guard = ABSENCE_GUARD,
    checked_delta = CHECKED_DELTA,
    claim_waits = CLAIM_WAITS,
    counted_guard = COUNTED_GUARD,
    id_cursor = ID_CURSOR,
    limited_subquery = LIMITED_SUBQUERY,
    next_number = NEXT_NUMBER,
    stale_write = STALE_WRITE,
    unlocked_claim = UNLOCKED_CLAIM,
    unlocked_fence = UNLOCKED_FENCE,
    weak_lock = WEAK_LOCK,
}

-- Reads the secret that signs now: the active one that was installed last.
-- name: secret_active_read :opt
SELECT stored.kid, stored.secret FROM ff_waitpoint_hmac AS stored
 WHERE stored.active
 ORDER BY stored.rotated_at_ms DESC, stored.kid LIMIT 1;

-- Installs a first secret; does nothing when the key id is taken.
-- name: secret_insert :rows
-- both
INSERT INTO ff_waitpoint_hmac (kid, secret, rotated_at_ms, active)
VALUES (:kid, :secret, :now_ms, true)
    ON CONFLICT (kid) DO NOTHING;

-- Reads a secret by its key id, whether it signs or not.
-- name: secret_read :opt
-- both
SELECT stored.secret FROM ff_waitpoint_hmac AS stored WHERE stored.kid = :kid;

-- Keeps others from changing which secret signs until the transaction ends.
-- name: secret_lock_all :many
SELECT stored.kid FROM ff_waitpoint_hmac AS stored ORDER BY stored.kid;

-- Waits until nobody else changes which secret signs, and keeps them from it until the transaction ends, also while there
-- is no secret whose row could be locked.
-- name: secret_turn_take :one
-- column: is_taken bool
SELECT true AS is_taken;

-- Takes the right to sign from every secret but one; all of them go on verifying.
-- name: secret_retire_others :exec
-- both
UPDATE ff_waitpoint_hmac SET active = false WHERE active AND kid <> :kid;

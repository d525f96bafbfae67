-- Reads the secret that signs now: the active one that was installed last.
-- name: secret_active_read :opt
SELECT stored.kid, stored.secret
  FROM ff_waitpoint_hmac AS stored
 WHERE stored.active
 ORDER BY stored.rotated_at_ms DESC, stored.kid
 LIMIT 1;

-- Installs a first secret; does nothing when the key id is taken.
-- name: secret_insert :rows
INSERT INTO ff_waitpoint_hmac (kid, secret, rotated_at_ms, active)
VALUES (:kid, :secret, :now_ms, true)
    ON CONFLICT (kid) DO NOTHING;

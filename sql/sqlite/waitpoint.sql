-- Activates one more waitpoint of a suspension that was entered in this transaction.
-- name: waitpoint_activate :exec
-- both
-- param: required_signal_names text[], timeout_at_ms i64 null
INSERT INTO ff_waitpoint_pending
       (partition_key, waitpoint_id, execution_id, token_kid, token, created_at_ms, expires_at_ms, waitpoint_key, state,
        required_signal_names, activated_at_ms)
VALUES (:partition_key, :waitpoint_id, :execution_id, :token_kid, :token, :now_ms, :timeout_at_ms, :waitpoint_key,
        'active', :required_signal_names, :now_ms)
    ON CONFLICT (partition_key, waitpoint_id) DO UPDATE
   SET token_kid = excluded.token_kid, token = excluded.token, waitpoint_key = excluded.waitpoint_key,
       state = excluded.state, required_signal_names = excluded.required_signal_names,
       activated_at_ms = excluded.activated_at_ms;

-- Makes a waitpoint that no suspension waits for yet. No row: another secret signs now.
-- name: waitpoint_create :opt
-- param: required_signal_names text[]
INSERT INTO ff_waitpoint_pending
       (partition_key, waitpoint_id, execution_id, token_kid, token, created_at_ms, expires_at_ms, waitpoint_key, state,
        required_signal_names)
SELECT :partition_key, :waitpoint_id, :execution_id, :token_kid, :token, :now_ms, :expires_at_ms, :waitpoint_key,
       'pending', :required_signal_names
 WHERE :token_kid = (SELECT signing.kid FROM ff_waitpoint_hmac AS signing
                      WHERE signing.active
                      ORDER BY signing.rotated_at_ms DESC, signing.kid LIMIT 1)
RETURNING waitpoint_id;

-- Reads the key that a waitpoint was made with.
-- name: waitpoint_key_read :opt
-- both
SELECT waiting.waitpoint_key FROM ff_waitpoint_pending AS waiting
 WHERE waiting.partition_key = :partition_key AND waiting.waitpoint_id = :waitpoint_id;

-- Reads the token that a waitpoint was made with.
-- name: waitpoint_token_read :opt
-- both
SELECT waiting.token FROM ff_waitpoint_pending AS waiting
 WHERE waiting.partition_key = :partition_key AND waiting.waitpoint_id = :waitpoint_id;

-- Deletes every waitpoint of an execution.
-- name: waitpoint_delete_all :exec
-- both
DELETE FROM ff_waitpoint_pending WHERE partition_key = :partition_key AND execution_id = :execution_id;

-- Reads whose waitpoint it is, if its time has passed.
-- name: waitpoint_due_read :opt
-- both
SELECT waiting.execution_id FROM ff_waitpoint_pending AS waiting
 WHERE waiting.partition_key = :partition_key AND waiting.waitpoint_id = :waitpoint_id
   AND waiting.expires_at_ms < :now_ms;

-- Deletes a waitpoint whose time has passed.
-- name: waitpoint_delete_due :opt
-- both
DELETE FROM ff_waitpoint_pending
 WHERE partition_key = :partition_key AND waitpoint_id = :waitpoint_id AND expires_at_ms < :now_ms
RETURNING execution_id, waitpoint_key;

-- Lists the open waitpoints of an execution in the order of their ids, strictly after a cursor.
-- The plus keeps SQLite from walking all waitpoints to save a sort.
-- name: waitpoint_list :many
-- column: names_text text
-- param: after uuid null
SELECT waiting.waitpoint_id, waiting.waitpoint_key, waiting.state, waiting.required_signal_names AS names_text,
       waiting.created_at_ms, waiting.activated_at_ms, waiting.expires_at_ms, waiting.token
  FROM ff_waitpoint_pending AS waiting
 WHERE waiting.partition_key = :partition_key AND waiting.execution_id = :execution_id
   AND waiting.state IN ('pending', 'active') AND (:after IS NULL OR waiting.waitpoint_id > :after)
 ORDER BY + waiting.waitpoint_id LIMIT :page_size;

-- Lists the waitpoints whose time is over and whose executions pass a filter, oldest first, strictly after a cursor.
-- name: waitpoint_due_list :many
-- param: namespace text null, tag_key text null, tag_value text null
-- column: expires_at_ms i64
SELECT waiting.partition_key, waiting.waitpoint_id, waiting.expires_at_ms, core.raw_fields
  FROM ff_waitpoint_pending AS waiting
  JOIN ff_exec_core AS core ON core.partition_key = waiting.partition_key AND core.execution_id = waiting.execution_id
 WHERE waiting.expires_at_ms IS NOT NULL AND waiting.expires_at_ms < :now_ms
   AND (waiting.expires_at_ms, waiting.partition_key, waiting.waitpoint_id) > (:after_expires_at_ms,
                                                                               :after_partition_key, :after_waitpoint_id)
   AND (:namespace IS NULL
        OR json_type(core.raw_fields, '$.namespace') = 'text' AND core.raw_fields ->> 'namespace' = :namespace)
   AND (:tag_key IS NULL
        OR EXISTS (SELECT 1 FROM json_each(core.raw_fields, '$.tags') AS tag
                    WHERE tag.key = :tag_key AND tag.atom = :tag_value))
 ORDER BY waiting.expires_at_ms, waiting.partition_key, waiting.waitpoint_id LIMIT :page_size;

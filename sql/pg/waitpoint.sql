-- name: waitpoint_create :opt
INSERT INTO ff_waitpoint_pending
       (partition_key, waitpoint_id, execution_id, token_kid, token, created_at_ms, expires_at_ms, waitpoint_key, state,
        required_signal_names)
SELECT :partition_key, :waitpoint_id, :execution_id, :token_kid, :token, :now_ms, :expires_at_ms, :waitpoint_key,
       'pending', :required_signal_names
 WHERE :token_kid = (SELECT signing.kid FROM ff_waitpoint_hmac AS signing
                      WHERE signing.active
                      ORDER BY signing.rotated_at_ms DESC, signing.kid COLLATE "C" LIMIT 1)
RETURNING waitpoint_id;

-- Lists the open waitpoints of an execution in the order of their ids, strictly after a cursor.
-- name: waitpoint_list :many
SELECT waiting.waitpoint_id, waiting.waitpoint_key, waiting.state,
       CAST(to_json(waiting.required_signal_names) AS text) AS names_text, waiting.created_at_ms,
       waiting.activated_at_ms, waiting.expires_at_ms, waiting.token
  FROM ff_waitpoint_pending AS waiting
 WHERE waiting.partition_key = :partition_key AND waiting.execution_id = :execution_id
   AND waiting.state IN ('pending', 'active') AND (CAST(:after AS uuid) IS NULL OR waiting.waitpoint_id > :after)
 ORDER BY waiting.waitpoint_id LIMIT :page_size;

-- name: waitpoint_due_list :many
SELECT waiting.partition_key, waiting.waitpoint_id, waiting.expires_at_ms, core.raw_fields
  FROM ff_waitpoint_pending AS waiting
  JOIN ff_exec_core AS core ON core.partition_key = waiting.partition_key AND core.execution_id = waiting.execution_id
 WHERE waiting.expires_at_ms IS NOT NULL AND waiting.expires_at_ms < :now_ms
   AND (waiting.expires_at_ms, waiting.partition_key, waiting.waitpoint_id) > (:after_expires_at_ms,
                                                                               :after_partition_key, :after_waitpoint_id)
   AND (CAST(:namespace AS text) IS NULL
        OR jsonb_typeof(core.raw_fields -> 'namespace') = 'string' AND core.raw_fields ->> 'namespace' = :namespace)
   AND (CAST(:tag_key AS text) IS NULL OR core.raw_fields -> 'tags' ->> CAST(:tag_key AS text) = :tag_value)
 ORDER BY waiting.expires_at_ms, waiting.partition_key, waiting.waitpoint_id LIMIT :page_size;

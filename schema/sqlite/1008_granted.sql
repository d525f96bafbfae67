-- What is granted to a worker that has not claimed it yet, and until when by its
-- own document. A document that names no time counts as expired; whether a grant
-- is live, ff_claim_grant decides.

CREATE VIEW ff_granted AS
SELECT partition_key, execution_id,
       CAST(CASE WHEN json_type(raw_fields, '$.claim_grant.expires_at_ms') = 'integer'
                 THEN json_extract(raw_fields, '$.claim_grant.expires_at_ms')
                 ELSE 0
            END AS INTEGER) AS expires_at_ms
FROM ff_exec_core
WHERE lifecycle_phase IN ('submitted', 'runnable')
  AND eligibility_state = 'pending_claim';

CREATE INDEX ff_exec_core_granted_idx
    ON ff_exec_core (partition_key, execution_id)
    WHERE lifecycle_phase IN ('submitted', 'runnable')
      AND eligibility_state = 'pending_claim';

-- What one partition offers on a lane, best first. The claim's own index is in the
-- order of all partitions together; looking for one of them there would mean reading
-- what all of them offer.
CREATE INDEX ff_exec_core_offered_idx
    ON ff_exec_core (partition_key, lane_id, priority DESC, created_at_ms, execution_id)
    WHERE lifecycle_phase IN ('submitted', 'runnable')
      AND eligibility_state = 'eligible_now'
      AND ownership_state = 'unowned';

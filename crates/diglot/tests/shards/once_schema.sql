CREATE TABLE ff_attempt (
    partition_key smallint NOT NULL,
    execution_id uuid NOT NULL,
    attempt_index integer NOT NULL,
    worker_id text,
    worker_instance_id text,
    lease_epoch bigint DEFAULT 0 NOT NULL,
    lease_expires_at_ms bigint,
    started_at_ms bigint,
    terminal_at_ms bigint,
    outcome text,
    usage jsonb,
    policy jsonb,
    raw_fields jsonb DEFAULT '{}'::jsonb NOT NULL,
    PRIMARY KEY (partition_key, execution_id, attempt_index)
) PARTITION BY HASH (partition_key);

CREATE TABLE ff_budget_usage (
    partition_key smallint NOT NULL,
    budget_id text NOT NULL,
    dimensions_key text NOT NULL,
    current_value bigint DEFAULT 0 NOT NULL,
    last_reset_at_ms bigint,
    updated_at_ms bigint NOT NULL,
    PRIMARY KEY (partition_key, budget_id, dimensions_key)
) PARTITION BY HASH (partition_key);

CREATE TABLE ff_budget_usage_by_exec (
    partition_key smallint NOT NULL,
    budget_id text NOT NULL,
    execution_id uuid NOT NULL,
    dimensions_key text NOT NULL,
    delta_total bigint DEFAULT 0 NOT NULL,
    updated_at_ms bigint NOT NULL,
    PRIMARY KEY (partition_key, budget_id, execution_id, dimensions_key)
) PARTITION BY HASH (partition_key);

CREATE TABLE ff_cancel_backlog (
    partition_key smallint NOT NULL,
    flow_id uuid NOT NULL,
    requested_at_ms bigint NOT NULL,
    requester text DEFAULT ''::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    grace_until_ms bigint,
    cancellation_policy text NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    PRIMARY KEY (partition_key, flow_id)
) PARTITION BY HASH (partition_key);

CREATE TABLE ff_cancel_backlog_member (
    partition_key smallint NOT NULL,
    flow_id uuid NOT NULL,
    execution_id text NOT NULL,
    PRIMARY KEY (partition_key, flow_id, execution_id)
) PARTITION BY HASH (partition_key);

CREATE TABLE ff_claim_grant (
    partition_key smallint NOT NULL,
    grant_id bytea NOT NULL,
    execution_id uuid NOT NULL,
    kind text NOT NULL,
    worker_id text NOT NULL,
    worker_instance_id text NOT NULL,
    lane_id text,
    capability_hash text,
    worker_capabilities jsonb DEFAULT '[]'::jsonb NOT NULL,
    route_snapshot_json text,
    admission_summary text,
    grant_ttl_ms bigint NOT NULL,
    issued_at_ms bigint NOT NULL,
    expires_at_ms bigint NOT NULL,
    PRIMARY KEY (partition_key, grant_id)
) PARTITION BY HASH (partition_key);

CREATE TABLE ff_claimable (
    partition_key smallint NOT NULL,
    execution_id uuid NOT NULL,
    lane_id text NOT NULL COLLATE pg_catalog."C",
    priority integer NOT NULL,
    created_at_ms bigint NOT NULL,
    attempt_index integer NOT NULL,
    required_capabilities text[] NOT NULL,
    PRIMARY KEY (partition_key, execution_id)
);

CREATE TABLE ff_completion_event (
    partition_key smallint NOT NULL,
    event_id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    execution_id uuid NOT NULL,
    flow_id uuid,
    outcome text NOT NULL,
    namespace text,
    instance_tag text,
    occurred_at_ms bigint NOT NULL,
    committed_at_ms bigint DEFAULT ((EXTRACT(epoch FROM clock_timestamp()) * (1000)::numeric))::bigint NOT NULL,
    dispatched_at_ms bigint,
    PRIMARY KEY (partition_key, event_id)
) PARTITION BY HASH (partition_key);

CREATE TABLE ff_delayed (
    partition_key smallint NOT NULL,
    execution_id uuid NOT NULL,
    lane_id text NOT NULL COLLATE pg_catalog."C",
    due_at_ms bigint NOT NULL,
    PRIMARY KEY (partition_key, execution_id)
);

CREATE TABLE ff_exec_core (
    partition_key smallint NOT NULL,
    execution_id uuid NOT NULL,
    flow_id uuid,
    lane_id text NOT NULL,
    required_capabilities text[] DEFAULT '{}'::text[] NOT NULL,
    attempt_index integer DEFAULT 0 NOT NULL,
    lifecycle_phase text NOT NULL,
    ownership_state text NOT NULL,
    eligibility_state text NOT NULL,
    public_state text NOT NULL,
    attempt_state text NOT NULL,
    blocking_reason text,
    cancellation_reason text,
    cancelled_by text,
    priority integer DEFAULT 0 NOT NULL,
    created_at_ms bigint NOT NULL,
    terminal_at_ms bigint,
    deadline_at_ms bigint,
    payload bytea,
    result bytea,
    policy jsonb,
    raw_fields jsonb DEFAULT '{}'::jsonb NOT NULL,
    started_at_ms bigint,
    lease_reclaim_count integer DEFAULT 0 NOT NULL,
    PRIMARY KEY (partition_key, execution_id)
) PARTITION BY HASH (partition_key);

CREATE TABLE ff_flow_core (
    partition_key smallint NOT NULL,
    flow_id uuid NOT NULL,
    graph_revision bigint DEFAULT 0 NOT NULL,
    public_flow_state text NOT NULL,
    created_at_ms bigint NOT NULL,
    terminal_at_ms bigint,
    raw_fields jsonb DEFAULT '{}'::jsonb NOT NULL,
    PRIMARY KEY (partition_key, flow_id)
) PARTITION BY HASH (partition_key);

CREATE TABLE ff_flow_summary (
    partition_key smallint NOT NULL,
    flow_id uuid NOT NULL,
    total_members bigint DEFAULT 0 NOT NULL,
    sampled_members integer DEFAULT 0 NOT NULL,
    members_completed integer DEFAULT 0 NOT NULL,
    members_failed integer DEFAULT 0 NOT NULL,
    members_cancelled integer DEFAULT 0 NOT NULL,
    members_expired integer DEFAULT 0 NOT NULL,
    members_skipped integer DEFAULT 0 NOT NULL,
    members_active integer DEFAULT 0 NOT NULL,
    members_suspended integer DEFAULT 0 NOT NULL,
    members_waiting integer DEFAULT 0 NOT NULL,
    members_delayed integer DEFAULT 0 NOT NULL,
    members_rate_limited integer DEFAULT 0 NOT NULL,
    members_waiting_children integer DEFAULT 0 NOT NULL,
    public_flow_state text NOT NULL,
    last_summary_update_at bigint NOT NULL,
    PRIMARY KEY (partition_key, flow_id)
) PARTITION BY HASH (partition_key);

CREATE TABLE ff_granted (
    partition_key smallint NOT NULL,
    execution_id uuid NOT NULL,
    expires_at_ms bigint NOT NULL,
    PRIMARY KEY (partition_key, execution_id)
);

CREATE TABLE ff_idempotency_key (
    namespace text NOT NULL COLLATE pg_catalog."C",
    idempotency_key text NOT NULL COLLATE pg_catalog."C",
    partition_key smallint NOT NULL,
    execution_id uuid NOT NULL,
    created_at_ms bigint NOT NULL,
    PRIMARY KEY (namespace, idempotency_key)
);

CREATE TABLE ff_lane_registry (
    lane_id text NOT NULL,
    registered_at_ms bigint NOT NULL,
    registered_by text NOT NULL,
    PRIMARY KEY (lane_id)
);

CREATE TABLE ff_lease_event (
    event_id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    execution_id text NOT NULL,
    lease_id text,
    event_type text NOT NULL,
    occurred_at_ms bigint NOT NULL,
    partition_key integer NOT NULL,
    namespace text,
    instance_tag text,
    PRIMARY KEY (event_id)
);

CREATE TABLE ff_operator_event (
    event_id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    execution_id text NOT NULL,
    event_type text NOT NULL,
    details jsonb,
    occurred_at_ms bigint NOT NULL,
    partition_key integer NOT NULL,
    namespace text,
    instance_tag text,
    PRIMARY KEY (event_id)
);

CREATE TABLE ff_pending_cancel_groups (
    partition_key smallint NOT NULL,
    flow_id uuid NOT NULL,
    downstream_eid uuid NOT NULL,
    enqueued_at_ms bigint NOT NULL,
    PRIMARY KEY (partition_key, flow_id, downstream_eid)
) PARTITION BY HASH (partition_key);

CREATE TABLE ff_quota_admitted (
    partition_key smallint NOT NULL,
    quota_policy_id text NOT NULL,
    execution_id text NOT NULL,
    admitted_at_ms bigint NOT NULL,
    expires_at_ms bigint NOT NULL,
    PRIMARY KEY (partition_key, quota_policy_id, execution_id)
) PARTITION BY HASH (partition_key);

CREATE TABLE ff_quota_window (
    partition_key smallint NOT NULL,
    quota_policy_id text NOT NULL,
    dimension text DEFAULT ''::text NOT NULL,
    admitted_at_ms bigint NOT NULL,
    execution_id text NOT NULL,
    PRIMARY KEY (partition_key, quota_policy_id, dimension, admitted_at_ms, execution_id)
) PARTITION BY HASH (partition_key);

CREATE TABLE ff_signal_event (
    event_id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
    execution_id text NOT NULL,
    signal_id text NOT NULL,
    waitpoint_id text,
    source_identity text,
    delivered_at_ms bigint NOT NULL,
    partition_key integer NOT NULL,
    namespace text,
    instance_tag text,
    PRIMARY KEY (event_id)
);

CREATE TABLE ff_stream_counter (
    partition_key smallint NOT NULL,
    execution_id uuid NOT NULL,
    attempt_index integer NOT NULL,
    last_ms bigint NOT NULL,
    last_seq integer NOT NULL,
    frame_count bigint NOT NULL,
    PRIMARY KEY (partition_key, execution_id, attempt_index)
);

CREATE TABLE ff_stream_frame (
    partition_key smallint NOT NULL,
    execution_id uuid NOT NULL,
    attempt_index integer NOT NULL,
    ts_ms bigint NOT NULL,
    seq integer NOT NULL,
    fields jsonb NOT NULL,
    mode text NOT NULL,
    created_at_ms bigint NOT NULL,
    PRIMARY KEY (partition_key, execution_id, attempt_index, ts_ms, seq)
) PARTITION BY HASH (partition_key);

CREATE TABLE ff_suspend_dedup (
    partition_key smallint NOT NULL,
    idempotency_key text NOT NULL,
    outcome_json jsonb NOT NULL,
    created_at_ms bigint NOT NULL,
    PRIMARY KEY (partition_key, idempotency_key)
);

CREATE TABLE ff_suspension_current (
    partition_key smallint NOT NULL,
    execution_id uuid NOT NULL,
    suspension_id uuid NOT NULL,
    suspended_at_ms bigint NOT NULL,
    timeout_at_ms bigint,
    reason_code text,
    condition jsonb NOT NULL,
    satisfied_set jsonb DEFAULT '[]'::jsonb NOT NULL,
    member_map jsonb DEFAULT '{}'::jsonb NOT NULL,
    timeout_behavior text,
    PRIMARY KEY (partition_key, execution_id)
) PARTITION BY HASH (partition_key);

CREATE TABLE ff_waitpoint_hmac (
    kid text NOT NULL,
    secret bytea NOT NULL,
    rotated_at_ms bigint NOT NULL,
    active boolean DEFAULT true NOT NULL,
    PRIMARY KEY (kid)
);

CREATE TABLE ff_waitpoint_pending (
    partition_key smallint NOT NULL,
    waitpoint_id uuid NOT NULL,
    execution_id uuid NOT NULL,
    token_kid text NOT NULL,
    token text NOT NULL,
    created_at_ms bigint NOT NULL,
    expires_at_ms bigint,
    condition jsonb,
    waitpoint_key text DEFAULT ''::text NOT NULL,
    state text DEFAULT 'pending'::text NOT NULL,
    required_signal_names text[] DEFAULT '{}'::text[] NOT NULL,
    activated_at_ms bigint,
    PRIMARY KEY (partition_key, waitpoint_id)
) PARTITION BY HASH (partition_key);

CREATE TABLE ff_worker_registry (
    partition_key smallint NOT NULL,
    namespace text NOT NULL,
    worker_instance_id text NOT NULL,
    worker_id text NOT NULL,
    lanes text[] NOT NULL,
    capabilities_csv text NOT NULL,
    last_heartbeat_ms bigint NOT NULL,
    liveness_ttl_ms bigint NOT NULL,
    registered_at_ms bigint NOT NULL,
    PRIMARY KEY (partition_key, namespace, worker_instance_id)
) PARTITION BY HASH (partition_key);

CREATE TABLE ff_worker_registry_event (
    partition_key smallint NOT NULL,
    namespace text NOT NULL,
    worker_instance_id text NOT NULL,
    event_kind text NOT NULL,
    event_at_ms bigint NOT NULL,
    reason text,
    PRIMARY KEY (partition_key, namespace, worker_instance_id, event_at_ms, event_kind)
) PARTITION BY HASH (partition_key);

CREATE FUNCTION ff_take_claimable(partition smallint, execution uuid, attempt integer, place bigint, lane text, capabilities text[]) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    fits boolean;
BEGIN
    IF place <= 32 AND NOT pg_try_advisory_xact_lock(uuid_hash_extended(execution, 0)) THEN
        RETURN NULL;
    END IF;
    SELECT core.lifecycle_phase IN ('submitted', 'runnable')
           AND core.eligibility_state = 'eligible_now'
           AND core.ownership_state = 'unowned'
           AND core.attempt_index = attempt
           AND core.lane_id = lane
           AND core.required_capabilities <@ capabilities
      INTO fits
      FROM ff_exec_core AS core
     WHERE core.partition_key = partition
       AND core.execution_id = execution
       FOR UPDATE SKIP LOCKED;
    IF fits THEN
        RETURN true;
    END IF;
    IF fits IS NULL AND EXISTS (SELECT 1
                                  FROM ff_exec_core AS core
                                 WHERE core.partition_key = partition
                                   AND core.execution_id = execution)
    THEN
        RETURN NULL;
    END IF;
    DELETE FROM ff_claimable
     WHERE (partition_key, execution_id) IN (SELECT stale.partition_key, stale.execution_id
                                               FROM ff_claimable AS stale
                                              WHERE stale.partition_key = partition
                                                AND stale.execution_id = execution
                                                FOR UPDATE SKIP LOCKED);
    IF FOUND THEN
        INSERT INTO ff_claimable
               (partition_key, execution_id, lane_id, priority, created_at_ms, attempt_index, required_capabilities)
        SELECT core.partition_key, core.execution_id, core.lane_id, core.priority, core.created_at_ms,
               core.attempt_index, core.required_capabilities
          FROM ff_exec_core AS core
         WHERE core.partition_key = partition
           AND core.execution_id = execution
           AND core.lifecycle_phase IN ('submitted', 'runnable')
           AND core.eligibility_state = 'eligible_now'
           AND core.ownership_state = 'unowned'
            ON CONFLICT (partition_key, execution_id) DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION ff_take_delayed(partition smallint, execution uuid, now_ms bigint) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
DECLARE
    fits boolean;
BEGIN
    SELECT core.lifecycle_phase IN ('submitted', 'runnable')
           AND core.eligibility_state = 'not_eligible_until_time'
           AND coalesce(core.deadline_at_ms <= now_ms, false)
      INTO fits
      FROM ff_exec_core AS core
     WHERE core.partition_key = partition
       AND core.execution_id = execution
       FOR UPDATE SKIP LOCKED;
    IF fits THEN
        RETURN true;
    END IF;
    IF fits IS NULL AND EXISTS (SELECT 1
                                  FROM ff_exec_core AS core
                                 WHERE core.partition_key = partition
                                   AND core.execution_id = execution)
    THEN
        RETURN NULL;
    END IF;
    DELETE FROM ff_delayed
     WHERE (partition_key, execution_id) IN (SELECT stale.partition_key, stale.execution_id
                                               FROM ff_delayed AS stale
                                              WHERE stale.partition_key = partition
                                                AND stale.execution_id = execution
                                                FOR UPDATE SKIP LOCKED);
    IF FOUND THEN
        INSERT INTO ff_delayed (partition_key, execution_id, lane_id, due_at_ms)
        SELECT core.partition_key, core.execution_id, core.lane_id, core.deadline_at_ms
          FROM ff_exec_core AS core
         WHERE core.partition_key = partition
           AND core.execution_id = execution
           AND core.lifecycle_phase IN ('submitted', 'runnable')
           AND core.eligibility_state = 'not_eligible_until_time'
           AND core.deadline_at_ms IS NOT NULL
            ON CONFLICT (partition_key, execution_id) DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;

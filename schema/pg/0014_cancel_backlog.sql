-- Flows whose members are still to be cancelled.

CREATE TABLE IF NOT EXISTS ff_cancel_backlog (
    partition_key        smallint NOT NULL,
    flow_id              uuid     NOT NULL,
    requested_at_ms      bigint   NOT NULL,
    requester            text     NOT NULL DEFAULT '',
    reason               text     NOT NULL DEFAULT '',
    grace_until_ms       bigint,
    cancellation_policy  text     NOT NULL,
    status               text     NOT NULL DEFAULT 'pending',
    PRIMARY KEY (partition_key, flow_id)
) PARTITION BY HASH (partition_key);

CREATE INDEX IF NOT EXISTS ff_cancel_backlog_grace_idx
    ON ff_cancel_backlog (partition_key, grace_until_ms) WHERE grace_until_ms IS NOT NULL;

CREATE TABLE IF NOT EXISTS ff_cancel_backlog_member (
    partition_key  smallint NOT NULL,
    flow_id        uuid     NOT NULL,
    execution_id   text     NOT NULL,
    PRIMARY KEY (partition_key, flow_id, execution_id)
) PARTITION BY HASH (partition_key);

INSERT INTO ff_migration_annotation (version, name, applied_at_ms, backward_compatible)
VALUES (14, '0014_cancel_backlog', (extract(epoch FROM clock_timestamp()) * 1000)::bigint, true)
ON CONFLICT (version) DO NOTHING;

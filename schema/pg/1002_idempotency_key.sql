-- Which execution a caller's key created. A row counts for 24 hours after
-- created_at_ms; the sweeper removes it later.

CREATE TABLE IF NOT EXISTS ff_idempotency_key (
    namespace        text     COLLATE "C" NOT NULL,
    idempotency_key  text     COLLATE "C" NOT NULL,
    partition_key    smallint NOT NULL,
    execution_id     uuid     NOT NULL,
    created_at_ms    bigint   NOT NULL,
    PRIMARY KEY (namespace, idempotency_key)
);

CREATE INDEX IF NOT EXISTS ff_idempotency_key_created_idx
    ON ff_idempotency_key (created_at_ms);

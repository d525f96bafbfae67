-- Which execution a caller's key created. A row counts for 24 hours after
-- created_at_ms; the sweeper removes it later.

CREATE TABLE ff_idempotency_key (
    namespace        TEXT    NOT NULL,
    idempotency_key  TEXT    NOT NULL,
    partition_key    INTEGER NOT NULL,
    execution_id     BLOB    NOT NULL,
    created_at_ms    INTEGER NOT NULL,
    PRIMARY KEY (namespace, idempotency_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX ff_idempotency_key_created_idx
    ON ff_idempotency_key (created_at_ms);

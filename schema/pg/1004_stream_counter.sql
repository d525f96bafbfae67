-- The newest frame of a stream and how many frames it has, so that an append
-- counts nothing. A row may be absent or behind: frames written by another
-- backend do not touch it.

CREATE TABLE IF NOT EXISTS ff_stream_counter (
    partition_key  smallint NOT NULL,
    execution_id   uuid     NOT NULL,
    attempt_index  integer  NOT NULL,
    last_ms        bigint   NOT NULL,
    last_seq       integer  NOT NULL,
    frame_count    bigint   NOT NULL,
    PRIMARY KEY (partition_key, execution_id, attempt_index)
);

-- Every append updates a row and changes no key: room in the page keeps the new
-- version next to the old one, out of the index.
ALTER TABLE ff_stream_counter SET (
    fillfactor = 50,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_scale_factor = 0.05,
    autovacuum_vacuum_cost_delay = 0
);

-- The newest frame of a stream and how many frames it has, so that an append
-- counts nothing. A row may be absent or behind: frames written by another
-- backend do not touch it.

CREATE TABLE ff_stream_counter (
    partition_key  INTEGER NOT NULL,
    execution_id   BLOB    NOT NULL,
    attempt_index  INTEGER NOT NULL,
    last_ms        INTEGER NOT NULL,
    last_seq       INTEGER NOT NULL,
    frame_count    INTEGER NOT NULL,
    PRIMARY KEY (partition_key, execution_id, attempt_index)
) STRICT, WITHOUT ROWID;

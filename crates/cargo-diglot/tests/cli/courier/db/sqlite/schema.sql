CREATE TABLE task (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    queue         TEXT NOT NULL DEFAULT 'default',
    kind          TEXT NOT NULL,
    state         TEXT NOT NULL DEFAULT 'available'
                  CHECK (state IN ('available', 'running', 'retryable', 'completed', 'cancelled', 'discarded')),
    priority      INTEGER NOT NULL DEFAULT 1,
    attempt       INTEGER NOT NULL DEFAULT 0,
    max_attempts  INTEGER NOT NULL DEFAULT 20,
    args          TEXT NOT NULL,
    last_error    TEXT,
    unique_key    TEXT UNIQUE,
    worker_id     TEXT,
    created_ms    INTEGER NOT NULL,
    scheduled_ms  INTEGER NOT NULL,
    attempted_ms  INTEGER,
    finalized_ms  INTEGER
);

CREATE INDEX task_fetch ON task (queue, state, priority, scheduled_ms, id);

CREATE TABLE worker (
    id          TEXT NOT NULL PRIMARY KEY,
    queue       TEXT NOT NULL,
    slots       INTEGER NOT NULL,
    started_ms  INTEGER NOT NULL,
    seen_ms     INTEGER NOT NULL
);

CREATE TABLE queue (
    name       TEXT NOT NULL PRIMARY KEY,
    paused_ms  INTEGER,
    metadata   TEXT NOT NULL DEFAULT '{}'
);

CREATE TABLE schedule (
    name         TEXT NOT NULL PRIMARY KEY,
    kind         TEXT NOT NULL,
    every_ms     INTEGER NOT NULL,
    next_run_ms  INTEGER NOT NULL,
    enabled      INTEGER NOT NULL DEFAULT 1
);

CREATE TABLE leader (
    name        TEXT NOT NULL PRIMARY KEY,
    holder      TEXT NOT NULL,
    elected_ms  INTEGER NOT NULL,
    expires_ms  INTEGER NOT NULL
);

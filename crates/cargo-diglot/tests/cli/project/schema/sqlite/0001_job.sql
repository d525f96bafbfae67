CREATE TABLE lane (
    name    TEXT    NOT NULL PRIMARY KEY,
    paused  INTEGER NOT NULL
);

CREATE TABLE job (
    id        BLOB    NOT NULL PRIMARY KEY,
    lane      TEXT    NOT NULL,
    key       TEXT    NOT NULL,
    priority  INTEGER NOT NULL,
    state     TEXT    NOT NULL,
    owner     TEXT,
    due_ms    INTEGER NOT NULL,
    seen_ms   INTEGER NOT NULL,
    UNIQUE (lane, key)
);

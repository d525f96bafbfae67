CREATE TABLE note (
    id             BLOB    NOT NULL PRIMARY KEY,
    title          TEXT    NOT NULL,
    body           TEXT,
    pinned         INTEGER NOT NULL DEFAULT 0,
    created_at_ms  INTEGER NOT NULL
) STRICT;

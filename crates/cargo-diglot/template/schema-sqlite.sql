CREATE TABLE note (
    id      BLOB    NOT NULL PRIMARY KEY,
    kind    TEXT    NOT NULL,
    body    TEXT    NOT NULL,
    due_ms  INTEGER NOT NULL
) STRICT;

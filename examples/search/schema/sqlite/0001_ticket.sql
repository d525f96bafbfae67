CREATE TABLE ticket (
    id           BLOB NOT NULL PRIMARY KEY,
    number       INTEGER NOT NULL UNIQUE,
    title        TEXT NOT NULL,
    team         TEXT NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('new', 'open', 'waiting', 'solved')),
    priority     INTEGER NOT NULL,
    escalated    INTEGER NOT NULL CHECK (escalated IN (0, 1)),
    assignee     BLOB,
    opened_ms    INTEGER NOT NULL,
    due_ms       INTEGER,
    satisfaction REAL,
    doc          TEXT NOT NULL CHECK (json_valid(doc))
) STRICT;
CREATE INDEX ticket_opened ON ticket (opened_ms, id);

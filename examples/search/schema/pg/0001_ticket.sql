CREATE TABLE ticket (
    id           uuid NOT NULL PRIMARY KEY,
    number       bigint NOT NULL UNIQUE,
    title        text NOT NULL,
    team         text NOT NULL,
    state        text NOT NULL CHECK (state IN ('new', 'open', 'waiting', 'solved')),
    priority     smallint NOT NULL,
    escalated    boolean NOT NULL,
    assignee     uuid,
    opened_ms    bigint NOT NULL,
    due_ms       bigint,
    satisfaction double precision,
    doc          jsonb NOT NULL
);
CREATE INDEX ticket_opened ON ticket (opened_ms, id);

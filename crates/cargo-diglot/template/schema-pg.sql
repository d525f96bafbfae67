CREATE TABLE note (
    id      uuid   NOT NULL PRIMARY KEY,
    kind    text   NOT NULL,
    body    text   NOT NULL,
    due_ms  bigint NOT NULL
);

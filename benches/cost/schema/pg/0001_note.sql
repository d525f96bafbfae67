CREATE TABLE note (
    id             uuid    NOT NULL PRIMARY KEY,
    title          text    NOT NULL,
    body           text,
    pinned         boolean NOT NULL DEFAULT false,
    created_at_ms  bigint  NOT NULL
);

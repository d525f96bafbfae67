CREATE TABLE lane (
    name    text    NOT NULL PRIMARY KEY,
    paused  boolean NOT NULL
);

CREATE TABLE job (
    id        uuid    NOT NULL PRIMARY KEY,
    lane      text    NOT NULL,
    key       text    NOT NULL,
    priority  integer NOT NULL,
    state     text    NOT NULL,
    owner     text,
    due_ms    bigint  NOT NULL,
    seen_ms   bigint  NOT NULL,
    UNIQUE (lane, key)
);

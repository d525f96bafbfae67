CREATE TYPE item_state AS ENUM ('here', 'lent');

CREATE TABLE item (
    id       uuid             NOT NULL PRIMARY KEY,
    shelf    smallint         NOT NULL,
    number   bigint           NOT NULL,
    title    text             NOT NULL,
    kind     text             NOT NULL CHECK (kind IN ('book', 'record', 'tool')),
    state    item_state       NOT NULL DEFAULT 'here',
    price    numeric(10, 2)   NOT NULL,
    weight   double precision,
    heavy    boolean          NOT NULL DEFAULT false,
    tags     text[]           NOT NULL DEFAULT '{}',
    pages    integer[]        NOT NULL DEFAULT '{}',
    cover    bytea,
    doc      jsonb            NOT NULL,
    bought   date             NOT NULL,
    opens    time,
    seen_at  timestamptz      NOT NULL,
    UNIQUE (shelf, number)
);

CREATE TABLE loan (
    id       uuid    NOT NULL PRIMARY KEY,
    item_id  uuid    NOT NULL REFERENCES item (id),
    reader   text    NOT NULL,
    ended    boolean NOT NULL DEFAULT false
);

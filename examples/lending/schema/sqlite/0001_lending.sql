CREATE TABLE item (
    id       BLOB    NOT NULL PRIMARY KEY,
    shelf    INTEGER NOT NULL,
    number   INTEGER NOT NULL,
    title    TEXT    NOT NULL,
    kind     TEXT    NOT NULL CHECK (kind IN ('book', 'record', 'tool')),
    state    TEXT    NOT NULL DEFAULT 'here' CHECK (state IN ('here', 'lent')),
    price    TEXT    NOT NULL,
    weight   REAL,
    heavy    INTEGER NOT NULL DEFAULT 0 CHECK (heavy IN (0, 1)),
    tags     TEXT    NOT NULL DEFAULT '[]' CHECK (json_valid(tags)),
    pages    TEXT    NOT NULL DEFAULT '[]' CHECK (json_valid(pages)),
    cover    BLOB,
    doc      TEXT    NOT NULL CHECK (json_valid(doc)),
    bought   TEXT    NOT NULL,
    opens    TEXT,
    seen_at  INTEGER NOT NULL,
    UNIQUE (shelf, number)
) STRICT;

CREATE TABLE loan (
    id       BLOB    NOT NULL PRIMARY KEY,
    item_id  BLOB    NOT NULL REFERENCES item (id),
    reader   TEXT    NOT NULL,
    ended    INTEGER NOT NULL DEFAULT 0 CHECK (ended IN (0, 1))
) STRICT;

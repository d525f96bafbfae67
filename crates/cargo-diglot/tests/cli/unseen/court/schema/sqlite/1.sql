CREATE TABLE court (
    id     INTEGER NOT NULL PRIMARY KEY,
    name   TEXT NOT NULL,
    region TEXT
) STRICT;

CREATE TABLE judge (
    id         INTEGER NOT NULL PRIMARY KEY,
    court_id   INTEGER NOT NULL REFERENCES court (id),
    name       TEXT NOT NULL,
    chamber    TEXT,
    seniority  INTEGER NOT NULL CHECK (seniority BETWEEN 0 AND 60),
    retired_on TEXT CHECK (date(retired_on) IS retired_on AND retired_on BETWEEN '1950-01-01' AND '2099-12-31')
) STRICT;

CREATE TABLE docket (
    court_id INTEGER NOT NULL REFERENCES court (id),
    year     INTEGER NOT NULL CHECK (year BETWEEN 1950 AND 2099),
    last     INTEGER NOT NULL DEFAULT 0 CHECK (last BETWEEN 0 AND 1000000),
    PRIMARY KEY (court_id, year)
) STRICT;

CREATE TABLE matter (
    id         TEXT NOT NULL PRIMARY KEY CHECK (length(id) = 36),
    court_id   INTEGER NOT NULL REFERENCES court (id),
    year       INTEGER NOT NULL CHECK (year BETWEEN 1950 AND 2099),
    number     INTEGER NOT NULL CHECK (number BETWEEN 1 AND 1000001),
    reference  TEXT NOT NULL GENERATED ALWAYS AS (year || '/' || number) STORED,
    title      TEXT NOT NULL,
    kind       TEXT NOT NULL CHECK (kind IN ('civil', 'criminal', 'family')),
    filed_on   TEXT NOT NULL CHECK (date(filed_on) IS filed_on AND filed_on BETWEEN '1950-01-01' AND '2099-12-31'),
    closed_on  TEXT CHECK (date(closed_on) IS closed_on AND closed_on BETWEEN '1950-01-01' AND '2099-12-31'),
    deleted_at INTEGER CHECK (deleted_at >= 0 AND deleted_at < 4102444800000),
    doc        TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(doc) AND json_type(doc) = 'object'
               AND (json_type(doc, '$.lang') IS NULL OR json_type(doc, '$.lang') IN ('text', 'null'))
               AND (json_type(doc, '$.urgent') IS NULL OR json_type(doc, '$.urgent') IN ('true', 'false'))
               AND (json_type(doc, '$.value') IS NULL OR json_type(doc, '$.value') = 'integer'
                    AND json_extract(doc, '$.value') BETWEEN 0 AND 1000000000)),
    UNIQUE (court_id, year, number),
    CHECK (closed_on >= filed_on)
) STRICT;

CREATE TABLE hearing (
    id        INTEGER NOT NULL PRIMARY KEY,
    matter_id TEXT NOT NULL REFERENCES matter (id) ON DELETE CASCADE,
    judge_id  INTEGER REFERENCES judge (id) ON DELETE SET NULL,
    room      TEXT NOT NULL,
    starts_at INTEGER NOT NULL CHECK (starts_at >= 0 AND starts_at < 4102444800000),
    minutes   INTEGER NOT NULL CHECK (minutes BETWEEN 5 AND 600),
    state     TEXT NOT NULL CHECK (state IN ('planned', 'held', 'moved', 'cancelled')),
    moved_to  INTEGER REFERENCES hearing (id)
) STRICT;

CREATE UNIQUE INDEX hearing_slot ON hearing (room, starts_at) WHERE state = 'planned';

CREATE TABLE party (
    matter_id TEXT NOT NULL REFERENCES matter (id) ON DELETE CASCADE,
    name      TEXT NOT NULL,
    role      TEXT NOT NULL CHECK (role IN ('plaintiff', 'defendant', 'witness')),
    fee       TEXT NOT NULL DEFAULT '0.00' CHECK (length(fee) BETWEEN 4 AND 9),
    PRIMARY KEY (matter_id, name)
) STRICT;

CREATE TABLE notice (
    id          INTEGER NOT NULL PRIMARY KEY,
    recipient   TEXT NOT NULL,
    body        TEXT NOT NULL,
    state       TEXT NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'sending', 'sent', 'dead')),
    tries       INTEGER NOT NULL DEFAULT 0 CHECK (tries BETWEEN 0 AND 12),
    due_at      INTEGER NOT NULL CHECK (due_at >= 0 AND due_at < 4102444800000),
    lease_until INTEGER CHECK (lease_until >= 0 AND lease_until < 4102444800000),
    sent_at     INTEGER CHECK (sent_at >= 0 AND sent_at < 4102444800000)
) STRICT;

CREATE TABLE holiday (
    court_id INTEGER NOT NULL REFERENCES court (id) ON DELETE CASCADE,
    day      TEXT NOT NULL CHECK (date(day) IS day AND day BETWEEN '1950-01-01' AND '2199-12-31'),
    label    TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (court_id, day)
) STRICT;

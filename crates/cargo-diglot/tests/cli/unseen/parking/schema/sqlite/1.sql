CREATE TABLE zone (
    id         INTEGER NOT NULL PRIMARY KEY,
    code       TEXT NOT NULL UNIQUE,
    name       TEXT NOT NULL,
    district   TEXT,
    capacity   INTEGER NOT NULL CHECK (capacity BETWEEN 0 AND 500),
    rate_cents INTEGER NOT NULL CHECK (rate_cents BETWEEN 0 AND 2000),
    active     INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
    rules      TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(rules) AND json_type(rules) = 'object'
               AND (json_type(rules, '$.max_minutes') IS NULL OR json_type(rules, '$.max_minutes') = 'integer'
                    AND json_extract(rules, '$.max_minutes') BETWEEN 0 AND 10000)
               AND (json_type(rules, '$.resident') IS NULL OR json_type(rules, '$.resident') IN ('true', 'false'))
               AND (json_type(rules, '$.days') IS NULL OR json_type(rules, '$.days') = 'array'))
) STRICT;

CREATE TABLE permit (
    id         BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    zone_id    INTEGER NOT NULL REFERENCES zone (id) ON DELETE CASCADE,
    plate      TEXT NOT NULL,
    holder     TEXT,
    kind       TEXT NOT NULL CHECK (kind IN ('resident', 'business', 'guest')),
    starts_on  TEXT NOT NULL CHECK (date(starts_on) IS starts_on AND starts_on BETWEEN '2000-01-01' AND '2099-12-31'),
    ends_on    TEXT CHECK (date(ends_on) IS ends_on AND ends_on BETWEEN '2000-01-01' AND '2199-12-31'),
    revoked_at INTEGER CHECK (revoked_at >= 0 AND revoked_at < 4102444800),
    CHECK (ends_on >= starts_on)
) STRICT;

CREATE UNIQUE INDEX permit_current ON permit (zone_id, plate) WHERE revoked_at IS NULL;

CREATE TABLE session (
    id         INTEGER NOT NULL PRIMARY KEY CHECK (id BETWEEN 1 AND 1000000000),
    zone_id    INTEGER NOT NULL REFERENCES zone (id) ON DELETE CASCADE,
    plate      TEXT NOT NULL,
    started_at INTEGER NOT NULL CHECK (started_at >= 0 AND started_at < 4102444800),
    ended_at   INTEGER CHECK (ended_at >= 0 AND ended_at < 4102444800),
    paid_cents INTEGER CHECK (paid_cents BETWEEN 0 AND 100000),
    method     TEXT CHECK (method IN ('app', 'card', 'coin')),
    CHECK (ended_at >= started_at)
) STRICT;

CREATE TABLE officer (
    id      INTEGER NOT NULL PRIMARY KEY,
    badge   TEXT NOT NULL UNIQUE,
    name    TEXT NOT NULL,
    email   TEXT NOT NULL,
    zone_id INTEGER REFERENCES zone (id) ON DELETE SET NULL
) STRICT;

CREATE TABLE fine (
    id         INTEGER NOT NULL PRIMARY KEY,
    zone_id    INTEGER NOT NULL REFERENCES zone (id) ON DELETE CASCADE,
    officer_id INTEGER REFERENCES officer (id) ON DELETE SET NULL,
    plate      TEXT NOT NULL,
    cents      INTEGER NOT NULL CHECK (cents BETWEEN 0 AND 100000),
    issued_at  INTEGER NOT NULL CHECK (issued_at >= 0 AND issued_at < 4102444800),
    paid_at    INTEGER CHECK (paid_at >= 0 AND paid_at < 4102444800),
    note       TEXT
) STRICT;

CREATE TABLE tally (
    zone_id INTEGER NOT NULL REFERENCES zone (id) ON DELETE CASCADE,
    day     TEXT NOT NULL CHECK (date(day) IS day AND day BETWEEN '2000-01-01' AND '2099-12-31'),
    kind    TEXT NOT NULL CHECK (kind IN ('entry', 'exit')),
    n       INTEGER NOT NULL DEFAULT 0 CHECK (n BETWEEN 0 AND 1000000),
    PRIMARY KEY (zone_id, day, kind)
) STRICT;

CREATE TABLE meter (
    zone_id INTEGER NOT NULL REFERENCES zone (id) ON DELETE CASCADE,
    number  INTEGER NOT NULL CHECK (number BETWEEN 1 AND 1000),
    serial  TEXT NOT NULL CHECK (length(serial) BETWEEN 3 AND 10),
    battery INTEGER CHECK (battery BETWEEN 0 AND 100),
    broken  INTEGER NOT NULL DEFAULT 0 CHECK (broken IN (0, 1)),
    PRIMARY KEY (zone_id, number)
) STRICT;

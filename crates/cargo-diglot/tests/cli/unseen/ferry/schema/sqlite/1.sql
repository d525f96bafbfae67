CREATE TABLE ship (
    id       INTEGER NOT NULL PRIMARY KEY,
    name     TEXT NOT NULL,
    berth    TEXT,
    capacity INTEGER NOT NULL CHECK (capacity BETWEEN 1 AND 3000),
    built    INTEGER NOT NULL CHECK (built BETWEEN 1900 AND 2100),
    retired  INTEGER NOT NULL DEFAULT 0 CHECK (retired IN (0, 1)),
    spec     TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(spec) AND json_type(spec) = 'object'
             AND (json_type(spec, '$.deck') IS NULL OR json_type(spec, '$.deck') = 'integer'
                  AND json_extract(spec, '$.deck') BETWEEN 0 AND 20)
             AND (json_type(spec, '$.fuel') IS NULL OR json_type(spec, '$.fuel') IN ('text', 'null'))
             AND (json_type(spec, '$.flags') IS NULL OR json_type(spec, '$.flags') = 'array'))
) STRICT;

CREATE TABLE route (
    code      TEXT NOT NULL PRIMARY KEY,
    from_port TEXT NOT NULL,
    to_port   TEXT NOT NULL,
    minutes   INTEGER NOT NULL CHECK (minutes BETWEEN 1 AND 1000),
    CHECK (from_port <> to_port)
) STRICT;

CREATE TABLE sailing (
    id           INTEGER NOT NULL PRIMARY KEY,
    ship_id      INTEGER NOT NULL REFERENCES ship (id) ON DELETE CASCADE,
    route_code   TEXT NOT NULL REFERENCES route (code),
    leaves_at    INTEGER NOT NULL CHECK (leaves_at >= 0 AND leaves_at < 4102444800000),
    cancelled_at INTEGER CHECK (cancelled_at >= 0 AND cancelled_at < 4102444800000),
    sold         INTEGER NOT NULL DEFAULT 0 CHECK (sold BETWEEN 0 AND 3000)
) STRICT;

CREATE TABLE ticket (
    id         INTEGER NOT NULL PRIMARY KEY,
    sailing_id INTEGER NOT NULL REFERENCES sailing (id) ON DELETE CASCADE,
    klass      TEXT NOT NULL CHECK (klass IN ('foot', 'car', 'van')),
    email      TEXT NOT NULL,
    paid_cents INTEGER CHECK (paid_cents BETWEEN 0 AND 100000),
    refunded   INTEGER NOT NULL DEFAULT 0 CHECK (refunded IN (0, 1)),
    note       TEXT
) STRICT;

CREATE TABLE fare (
    route_code TEXT NOT NULL REFERENCES route (code) ON DELETE CASCADE,
    klass      TEXT NOT NULL CHECK (klass IN ('foot', 'car', 'van')),
    cents      INTEGER NOT NULL CHECK (cents BETWEEN 0 AND 100000),
    PRIMARY KEY (route_code, klass)
) STRICT;

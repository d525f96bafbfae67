CREATE TABLE telescope (
    id       INTEGER NOT NULL PRIMARY KEY,
    name     TEXT NOT NULL UNIQUE,
    site     TEXT NOT NULL,
    aperture REAL NOT NULL CHECK (aperture BETWEEN 0.1 AND 40.0),
    config   TEXT NOT NULL CHECK (json_valid(config) AND json_type(config) = 'object'
             AND (json_type(config, '$.gain') IS NULL OR json_type(config, '$.gain') = 'integer'
                  AND json_extract(config, '$.gain') BETWEEN 0 AND 1000)
             AND (json_type(config, '$.cooled') IS NULL OR json_type(config, '$.cooled') IN ('true', 'false'))
             AND (json_type(config, '$.tracking') IS NULL OR json_type(config, '$.tracking') IN ('text', 'null'))
             AND (json_type(config, '$.filters') IS NULL OR json_type(config, '$.filters') = 'array'))
) STRICT;

CREATE TABLE target (
    id        INTEGER NOT NULL PRIMARY KEY CHECK (id BETWEEN 1 AND 1000000000),
    parent_id INTEGER REFERENCES target (id),
    name      TEXT NOT NULL,
    catalog   TEXT,
    ra        REAL NOT NULL CHECK (ra BETWEEN 0.0 AND 360.0),
    dec       REAL NOT NULL CHECK (dec BETWEEN -90.0 AND 90.0),
    magnitude REAL CHECK (magnitude BETWEEN -30.0 AND 40.0),
    tags      TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(tags) AND json_type(tags) = 'array'),
    CHECK (parent_id < id)
) STRICT;

CREATE TABLE observer (
    id            INTEGER NOT NULL PRIMARY KEY,
    handle        TEXT NOT NULL UNIQUE,
    name          TEXT NOT NULL,
    institute     TEXT,
    quota_minutes INTEGER NOT NULL DEFAULT 60 CHECK (quota_minutes BETWEEN 0 AND 100000),
    joined_at     TEXT NOT NULL CHECK (strftime('%Y-%m-%dT%H:%M:%SZ', joined_at) IS joined_at
                  AND joined_at BETWEEN '2000-01-01T00:00:00Z' AND '2099-12-31T23:59:59Z')
) STRICT;

CREATE TABLE night (
    telescope_id INTEGER NOT NULL REFERENCES telescope (id) ON DELETE CASCADE,
    night_on     TEXT NOT NULL CHECK (date(night_on) IS night_on AND night_on BETWEEN '2000-01-01' AND '2099-12-31'),
    cloud        INTEGER CHECK (cloud BETWEEN 0 AND 100),
    seeing       REAL CHECK (seeing BETWEEN 0.0 AND 20.0),
    PRIMARY KEY (telescope_id, night_on)
) STRICT;

CREATE TABLE exposure (
    id           INTEGER NOT NULL PRIMARY KEY,
    telescope_id INTEGER NOT NULL REFERENCES telescope (id) ON DELETE CASCADE,
    target_id    INTEGER NOT NULL REFERENCES target (id),
    observer_id  INTEGER REFERENCES observer (id) ON DELETE SET NULL,
    taken_at     TEXT NOT NULL CHECK (strftime('%Y-%m-%dT%H:%M:%SZ', taken_at) IS taken_at
                 AND taken_at BETWEEN '2000-01-01T00:00:00Z' AND '2099-12-31T23:59:59Z'),
    seconds      INTEGER NOT NULL CHECK (seconds BETWEEN 1 AND 36000),
    filter       TEXT,
    quality      INTEGER CHECK (quality BETWEEN 0 AND 100),
    bytes        INTEGER NOT NULL CHECK (bytes BETWEEN 0 AND 1000000000000),
    rejected     INTEGER NOT NULL DEFAULT 0 CHECK (rejected IN (0, 1))
) STRICT;

CREATE TABLE request (
    id          INTEGER NOT NULL PRIMARY KEY,
    observer_id INTEGER NOT NULL REFERENCES observer (id) ON DELETE CASCADE,
    target_id   INTEGER NOT NULL REFERENCES target (id),
    priority    INTEGER NOT NULL DEFAULT 0 CHECK (priority BETWEEN 0 AND 9),
    state       TEXT NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'claimed', 'done', 'failed')),
    attempts    INTEGER NOT NULL DEFAULT 0 CHECK (attempts BETWEEN 0 AND 20),
    created_at  TEXT NOT NULL CHECK (strftime('%Y-%m-%dT%H:%M:%SZ', created_at) IS created_at
                AND created_at BETWEEN '2000-01-01T00:00:00Z' AND '2099-12-31T23:59:59Z'),
    claimed_at  TEXT CHECK (strftime('%Y-%m-%dT%H:%M:%SZ', claimed_at) IS claimed_at
                AND claimed_at BETWEEN '2000-01-01T00:00:00Z' AND '2099-12-31T23:59:59Z'),
    claimed_by  TEXT,
    not_before  TEXT CHECK (strftime('%Y-%m-%dT%H:%M:%SZ', not_before) IS not_before
                AND not_before BETWEEN '2000-01-01T00:00:00Z' AND '2099-12-31T23:59:59Z')
) STRICT;

CREATE TABLE show (
    id    INTEGER NOT NULL PRIMARY KEY,
    slug  TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    owner TEXT,
    lang  TEXT NOT NULL,
    meta  TEXT NOT NULL CHECK (json_valid(meta) AND json_type(meta) = 'object'
          AND (json_type(meta, '$.featured') IS NULL OR json_type(meta, '$.featured') IN ('true', 'false', 'null'))
          AND (json_type(meta, '$.langs') IS NULL OR json_type(meta, '$.langs') = 'array'))
) STRICT;

CREATE TABLE episode (
    id           INTEGER NOT NULL PRIMARY KEY,
    show_id      INTEGER NOT NULL REFERENCES show (id) ON DELETE CASCADE,
    season       INTEGER CHECK (season BETWEEN 1 AND 100),
    number       INTEGER NOT NULL CHECK (number BETWEEN 1 AND 10000),
    title        TEXT NOT NULL,
    seconds      INTEGER NOT NULL CHECK (seconds BETWEEN 1 AND 86400),
    published_at TEXT CHECK (datetime(published_at) IS published_at
                 AND published_at BETWEEN '2000-01-01 00:00:00' AND '2099-12-31 23:59:59'),
    UNIQUE (show_id, season, number)
) STRICT;

CREATE TABLE listener (
    id        INTEGER NOT NULL PRIMARY KEY,
    handle    TEXT NOT NULL UNIQUE,
    email     TEXT,
    plan      TEXT NOT NULL CHECK (plan IN ('free', 'plus', 'pro')),
    country   TEXT,
    joined_at TEXT NOT NULL CHECK (datetime(joined_at) IS joined_at
              AND joined_at BETWEEN '2000-01-01 00:00:00' AND '2099-12-31 23:59:59')
) STRICT;

CREATE TABLE subscription (
    listener_id INTEGER NOT NULL REFERENCES listener (id) ON DELETE CASCADE,
    show_id     INTEGER NOT NULL REFERENCES show (id) ON DELETE CASCADE,
    since_on    TEXT NOT NULL CHECK (date(since_on) IS since_on AND since_on BETWEEN '2000-01-01' AND '2099-12-31'),
    level       INTEGER NOT NULL CHECK (level BETWEEN 0 AND 10),
    muted       INTEGER NOT NULL CHECK (muted IN (0, 1)),
    PRIMARY KEY (listener_id, show_id)
) STRICT;

CREATE TABLE play (
    id          INTEGER NOT NULL PRIMARY KEY,
    episode_id  INTEGER NOT NULL REFERENCES episode (id) ON DELETE CASCADE,
    listener_id INTEGER,
    started_at  TEXT NOT NULL CHECK (datetime(started_at) IS started_at
                AND started_at BETWEEN '2000-01-01 00:00:00' AND '2099-12-31 23:59:59'),
    position    INTEGER NOT NULL CHECK (position BETWEEN 0 AND 86400),
    finished    INTEGER NOT NULL CHECK (finished IN (0, 1)),
    device      TEXT
) STRICT;

CREATE TABLE review (
    id          INTEGER NOT NULL PRIMARY KEY,
    show_id     INTEGER NOT NULL REFERENCES show (id),
    listener_id INTEGER NOT NULL,
    stars       INTEGER CHECK (stars BETWEEN 1 AND 5),
    body        TEXT,
    UNIQUE (show_id, listener_id)
) STRICT;

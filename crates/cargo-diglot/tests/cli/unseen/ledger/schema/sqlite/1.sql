CREATE TABLE holder (
    id       TEXT NOT NULL PRIMARY KEY CHECK (length(id) = 36),
    name     TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 80),
    nick     TEXT,
    kind     TEXT NOT NULL CHECK (kind IN ('person', 'firm', 'club')),
    since_at TEXT NOT NULL CHECK (datetime(since_at) IS since_at AND since_at BETWEEN '1970-01-01 00:00:00' AND '2099-12-31 23:59:59'),
    active   INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
    labels   TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(labels) AND json_type(labels) = 'array')
) STRICT;

CREATE TABLE account (
    id        TEXT NOT NULL PRIMARY KEY CHECK (length(id) = 36),
    holder_id TEXT NOT NULL REFERENCES holder (id) ON DELETE CASCADE,
    currency  TEXT NOT NULL DEFAULT 'EUR' CHECK (currency IN ('EUR', 'USD', 'JPY')),
    balance   INTEGER NOT NULL DEFAULT 0 CHECK (balance BETWEEN 0 AND 1000000000),
    opened_at TEXT NOT NULL CHECK (datetime(opened_at) IS opened_at AND opened_at BETWEEN '1970-01-01 00:00:00' AND '2099-12-31 23:59:59'),
    closed_at TEXT CHECK (datetime(closed_at) IS closed_at AND closed_at BETWEEN '1970-01-01 00:00:00' AND '2099-12-31 23:59:59')
) STRICT;

CREATE INDEX account_holder ON account (holder_id);

CREATE TABLE entry (
    id         INTEGER NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id) ON DELETE RESTRICT,
    kind       TEXT NOT NULL CHECK (kind IN ('in', 'out', 'fee')),
    amount     INTEGER NOT NULL CHECK (amount BETWEEN 1 AND 100000000),
    memo       TEXT,
    booked_at  TEXT NOT NULL CHECK (datetime(booked_at) IS booked_at AND booked_at BETWEEN '1970-01-01 00:00:00' AND '2099-12-31 23:59:59'),
    reverses   INTEGER UNIQUE REFERENCES entry (id) ON DELETE CASCADE
) STRICT;

CREATE TABLE rate (
    currency TEXT NOT NULL CHECK (currency IN ('EUR', 'USD', 'JPY')),
    day      TEXT NOT NULL CHECK (date(day) IS day AND day BETWEEN '1970-01-02' AND '2090-12-31'),
    micros   INTEGER NOT NULL CHECK (micros BETWEEN 1 AND 1000000000),
    PRIMARY KEY (currency, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE standing (
    id         INTEGER NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    every      TEXT NOT NULL CHECK (every IN ('day', 'week', 'month')),
    next_on    TEXT NOT NULL CHECK (date(next_on) IS next_on AND next_on BETWEEN '1970-01-01' AND '2090-12-31'),
    amount     INTEGER NOT NULL CHECK (amount BETWEEN 1 AND 1000000),
    paused     INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1)),
    failures   INTEGER NOT NULL DEFAULT 0 CHECK (failures BETWEEN 0 AND 100)
) STRICT;

CREATE TABLE audit (
    id      INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    what    TEXT NOT NULL,
    who     TEXT,
    made_at TEXT NOT NULL CHECK (datetime(made_at) IS made_at AND made_at BETWEEN '1970-01-01 00:00:00' AND '2099-12-31 23:59:59')
) STRICT;

CREATE TRIGGER account_closed AFTER UPDATE OF closed_at ON account WHEN NEW.closed_at IS NOT NULL AND OLD.closed_at IS NULL BEGIN
    UPDATE standing SET paused = 1 WHERE account_id = NEW.id;
END;

CREATE TABLE climber (
    id        INTEGER NOT NULL PRIMARY KEY,
    name      TEXT NOT NULL,
    email     TEXT CHECK (email LIKE '%_@_%'),
    born      TEXT NOT NULL CHECK (date(born) IS born AND born BETWEEN '1920-01-01' AND '2090-12-31'),
    joined_at TEXT NOT NULL DEFAULT (datetime('now')) CHECK (datetime(joined_at) IS joined_at AND joined_at BETWEEN '1970-01-01 00:00:00' AND '2099-12-31 23:59:59'),
    left_at   TEXT CHECK (datetime(left_at) IS left_at AND left_at BETWEEN '1970-01-01 00:00:00' AND '2099-12-31 23:59:59'),
    cents     INTEGER NOT NULL DEFAULT 0 CHECK (cents BETWEEN -100000 AND 100000),
    card      TEXT NOT NULL CHECK (json_valid(card) AND json_type(card) = 'object' AND json_type(card, '$.badges') IS 'array'
              AND (json_type(card, '$.level') IS NULL OR json_type(card, '$.level') IN ('integer', 'null')))
);

CREATE UNIQUE INDEX climber_email ON climber (email) WHERE left_at IS NULL;

CREATE TABLE route (
    id          INTEGER NOT NULL PRIMARY KEY,
    sector      TEXT NOT NULL CHECK (sector IN ('slab', 'roof', 'cave')),
    grade       INTEGER NOT NULL CHECK (grade BETWEEN 1 AND 12),
    color       TEXT NOT NULL DEFAULT 'grey',
    metres      REAL NOT NULL CHECK (metres BETWEEN 1 AND 50),
    setter_id   INTEGER REFERENCES climber (id) ON DELETE SET NULL,
    set_on      TEXT NOT NULL CHECK (date(set_on) IS set_on AND set_on BETWEEN '1970-01-01' AND '2099-12-31'),
    stripped_on TEXT CHECK (date(stripped_on) IS stripped_on AND stripped_on BETWEEN '1970-01-01' AND '2099-12-31'),
    label       TEXT GENERATED ALWAYS AS (sector || '-' || grade) VIRTUAL,
    CHECK (stripped_on IS NULL OR stripped_on >= set_on)
);

CREATE TABLE ascent (
    climber_id INTEGER NOT NULL REFERENCES climber (id) ON DELETE CASCADE,
    route_id   INTEGER NOT NULL REFERENCES route (id) ON DELETE CASCADE,
    tried_at   INTEGER NOT NULL CHECK (tried_at >= 0 AND tried_at < 4102444800000),
    style      TEXT NOT NULL CHECK (style IN ('flash', 'redpoint', 'toprope', 'fell')),
    falls      INTEGER NOT NULL DEFAULT 0 CHECK (falls BETWEEN 0 AND 100),
    stars      INTEGER CHECK (stars BETWEEN 1 AND 5),
    PRIMARY KEY (climber_id, route_id, tried_at)
);

CREATE TABLE course (
    id         INTEGER NOT NULL PRIMARY KEY,
    title      TEXT NOT NULL,
    begins_at  TEXT NOT NULL CHECK (datetime(begins_at) IS begins_at AND begins_at BETWEEN '1970-01-01 00:00:00' AND '2099-12-31 23:59:59'),
    ends_at    TEXT NOT NULL CHECK (datetime(ends_at) IS ends_at AND ends_at BETWEEN '1970-01-01 00:00:00' AND '2099-12-31 23:59:59'),
    seats      INTEGER NOT NULL CHECK (seats BETWEEN 1 AND 30),
    price      TEXT NOT NULL CHECK (price GLOB '[0-9]*.[0-9][0-9]'),
    teacher_id INTEGER REFERENCES climber (id) ON DELETE RESTRICT,
    CHECK (ends_at > begins_at)
);

CREATE TABLE booking (
    course_id  INTEGER NOT NULL REFERENCES course (id) ON DELETE CASCADE,
    climber_id INTEGER NOT NULL REFERENCES climber (id) ON DELETE CASCADE,
    state      TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'booked', 'done')),
    booked_at  TEXT NOT NULL CHECK (datetime(booked_at) IS booked_at AND booked_at BETWEEN '1970-01-01 00:00:00' AND '2099-12-31 23:59:59'),
    paid_cents INTEGER NOT NULL DEFAULT 0 CHECK (paid_cents BETWEEN 0 AND 100000),
    PRIMARY KEY (course_id, climber_id)
);

CREATE TABLE cancelled (
    climber_id INTEGER NOT NULL PRIMARY KEY,
    n          INTEGER NOT NULL DEFAULT 1
);

CREATE TRIGGER booking_cancelled AFTER DELETE ON booking WHEN OLD.state = 'booked' BEGIN
    INSERT INTO cancelled (climber_id) VALUES (OLD.climber_id) ON CONFLICT (climber_id) DO UPDATE SET n = n + 1;
END;

CREATE TABLE locker (
    number     INTEGER NOT NULL PRIMARY KEY CHECK (number BETWEEN 1 AND 500),
    climber_id INTEGER UNIQUE REFERENCES climber (id) ON DELETE SET NULL,
    paid_until TEXT CHECK (date(paid_until) IS paid_until AND paid_until BETWEEN '1970-01-01' AND '2099-12-31'),
    code       TEXT NOT NULL CHECK (length(code) BETWEEN 3 AND 8)
);

CREATE TABLE visit (
    id         INTEGER NOT NULL PRIMARY KEY,
    climber_id INTEGER NOT NULL REFERENCES climber (id) ON DELETE CASCADE,
    in_at      TEXT NOT NULL CHECK (datetime(in_at) IS in_at AND in_at BETWEEN '1970-01-01 00:00:00' AND '2099-12-31 23:59:59'),
    out_at     TEXT CHECK (datetime(out_at) IS out_at AND out_at BETWEEN '1970-01-01 00:00:00' AND '2099-12-31 23:59:59')
);

CREATE UNIQUE INDEX visit_open ON visit (climber_id) WHERE out_at IS NULL;

CREATE TABLE opening (
    weekday INTEGER NOT NULL PRIMARY KEY CHECK (weekday BETWEEN 0 AND 6),
    opens   TEXT NOT NULL CHECK (time(opens) IS opens),
    closes  TEXT NOT NULL CHECK (time(closes) IS closes),
    CHECK (closes > opens)
);

CREATE TABLE outbox (
    id           INTEGER NOT NULL PRIMARY KEY,
    kind         TEXT NOT NULL CHECK (kind IN ('bill', 'news', 'alarm')),
    state        TEXT NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'sending', 'sent', 'dead')),
    run_at       TEXT NOT NULL CHECK (datetime(run_at) IS run_at AND run_at BETWEEN '1970-01-01 00:00:00' AND '2099-12-31 23:59:59'),
    tries        INTEGER NOT NULL DEFAULT 0 CHECK (tries BETWEEN 0 AND 20),
    body         TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(body) AND json_type(body) = 'object')
);

CREATE TABLE room (
    id         INTEGER NOT NULL PRIMARY KEY,
    code       TEXT NOT NULL UNIQUE,
    floor      INTEGER NOT NULL CHECK (floor BETWEEN -2 AND 40),
    kind       TEXT NOT NULL CHECK (kind IN ('single', 'double', 'suite')),
    rate_cents INTEGER NOT NULL CHECK (rate_cents BETWEEN 0 AND 1000000),
    features   TEXT NOT NULL CHECK (json_valid(features) AND json_type(features) = 'array'),
    closed     INTEGER NOT NULL DEFAULT 0 CHECK (closed IN (0, 1))
) STRICT;

CREATE TABLE guest (
    id      INTEGER NOT NULL PRIMARY KEY,
    name    TEXT NOT NULL,
    email   TEXT,
    country TEXT,
    stays   INTEGER NOT NULL DEFAULT 0 CHECK (stays BETWEEN 0 AND 10000),
    prefs   TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(prefs) AND json_type(prefs) = 'object'
            AND (json_type(prefs, '$.smoker') IS NULL OR json_type(prefs, '$.smoker') IN ('true', 'false', 'null'))
            AND (json_type(prefs, '$.floor') IS NULL OR json_type(prefs, '$.floor') IN ('integer', 'null')))
) STRICT;

CREATE TABLE booking (
    id           INTEGER NOT NULL PRIMARY KEY,
    room_id      INTEGER NOT NULL REFERENCES room (id),
    guest_id     INTEGER NOT NULL REFERENCES guest (id),
    from_on      TEXT NOT NULL CHECK (date(from_on) IS from_on AND from_on BETWEEN '2000-01-01' AND '2099-12-31'),
    to_on        TEXT NOT NULL CHECK (date(to_on) IS to_on AND to_on BETWEEN '2000-01-01' AND '2099-12-31'),
    booked_at    INTEGER NOT NULL CHECK (booked_at >= 0 AND booked_at < 4102444800),
    cancelled_at INTEGER CHECK (cancelled_at >= 0 AND cancelled_at < 4102444800),
    adults       INTEGER NOT NULL CHECK (adults BETWEEN 1 AND 6),
    note         TEXT,
    CHECK (to_on > from_on)
) STRICT;

CREATE TABLE charge (
    id         INTEGER NOT NULL PRIMARY KEY,
    booking_id INTEGER NOT NULL REFERENCES booking (id) ON DELETE CASCADE,
    label      TEXT NOT NULL,
    cents      INTEGER NOT NULL CHECK (cents BETWEEN -1000000 AND 1000000),
    category   TEXT,
    made_at    INTEGER NOT NULL CHECK (made_at >= 0 AND made_at < 4102444800)
) STRICT;

CREATE TABLE cleaning (
    room_id INTEGER NOT NULL,
    day_on  TEXT NOT NULL CHECK (date(day_on) IS day_on AND day_on BETWEEN '2000-01-01' AND '2099-12-31'),
    done    INTEGER NOT NULL CHECK (done IN (0, 1)),
    staff   TEXT,
    PRIMARY KEY (room_id, day_on)
) STRICT;

CREATE TABLE review (
    booking_id INTEGER NOT NULL PRIMARY KEY REFERENCES booking (id) ON DELETE CASCADE,
    stars      INTEGER CHECK (stars BETWEEN 1 AND 5),
    body       TEXT
) STRICT;

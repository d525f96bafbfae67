CREATE TABLE room (
    code     TEXT NOT NULL PRIMARY KEY CHECK (length(code) BETWEEN 1 AND 6),
    wing     TEXT NOT NULL CHECK (wing IN ('north', 'south', 'cellar')),
    capacity INTEGER NOT NULL CHECK (capacity BETWEEN 0 AND 500),
    closed   INTEGER NOT NULL DEFAULT 0 CHECK (closed IN (0, 1)),
    humidity REAL CHECK (humidity BETWEEN 0 AND 100)
) STRICT;

CREATE TABLE piece (
    id          INTEGER NOT NULL PRIMARY KEY,
    inventory   TEXT NOT NULL UNIQUE CHECK (length(inventory) BETWEEN 1 AND 12),
    title       TEXT NOT NULL,
    room_code   TEXT REFERENCES room (code) ON UPDATE CASCADE ON DELETE SET NULL,
    part_of     INTEGER REFERENCES piece (id) ON DELETE CASCADE,
    state       TEXT NOT NULL DEFAULT 'shown' CHECK (state IN ('shown', 'stored', 'lent', 'repair')),
    worth       INTEGER CHECK (worth BETWEEN 0 AND 100000000),
    grams       INTEGER NOT NULL DEFAULT 0 CHECK (grams BETWEEN 0 AND 10000000),
    bought_on   TEXT CHECK (date(bought_on) IS bought_on AND bought_on BETWEEN '1800-01-01' AND '2090-12-31'),
    facts       TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(facts) AND json_type(facts) = 'object'
                AND (json_type(facts, '$.year') IS NULL OR json_type(facts, '$.year') IN ('integer', 'null'))
                AND (json_type(facts, '$.signed') IS NULL OR json_type(facts, '$.signed') IN ('true', 'false', 'null'))
                AND (json_type(facts, '$.maker') IS NULL OR json_type(facts, '$.maker') IN ('text', 'null'))),
    keywords    TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(keywords) AND json_type(keywords) = 'array'),
    revision    INTEGER NOT NULL DEFAULT 1 CHECK (revision BETWEEN 1 AND 1000000)
) STRICT;

CREATE TABLE loan (
    id          INTEGER NOT NULL PRIMARY KEY,
    piece_id    INTEGER NOT NULL REFERENCES piece (id) ON DELETE CASCADE,
    borrower    TEXT NOT NULL,
    sent_at     TEXT NOT NULL CHECK (strftime('%Y-%m-%dT%H:%M:%SZ', sent_at) IS sent_at AND sent_at BETWEEN '1970-01-01T00:00:00Z' AND '2099-12-31T23:59:59Z'),
    returned_at TEXT CHECK (strftime('%Y-%m-%dT%H:%M:%SZ', returned_at) IS returned_at AND returned_at BETWEEN '1970-01-01T00:00:00Z' AND '2099-12-31T23:59:59Z'),
    fee         INTEGER NOT NULL DEFAULT 0 CHECK (fee BETWEEN 0 AND 1000000),
    paid        INTEGER NOT NULL DEFAULT 0 CHECK (paid BETWEEN 0 AND 1000000),
    CHECK (returned_at IS NULL OR returned_at >= sent_at)
) STRICT;

CREATE UNIQUE INDEX loan_open ON loan (piece_id) WHERE returned_at IS NULL;

CREATE TABLE show (
    id        INTEGER NOT NULL PRIMARY KEY,
    title     TEXT NOT NULL,
    opens_on  TEXT NOT NULL CHECK (date(opens_on) IS opens_on AND opens_on BETWEEN '1970-01-01' AND '2090-12-31'),
    closes_on TEXT CHECK (date(closes_on) IS closes_on AND closes_on BETWEEN '1970-01-01' AND '2090-12-31'),
    price     INTEGER NOT NULL CHECK (price BETWEEN 0 AND 10000),
    curator   TEXT,
    CHECK (closes_on IS NULL OR closes_on >= opens_on)
) STRICT;

CREATE TABLE exhibit (
    show_id  INTEGER NOT NULL REFERENCES show (id) ON DELETE CASCADE,
    piece_id INTEGER NOT NULL REFERENCES piece (id) ON DELETE RESTRICT,
    place    INTEGER NOT NULL CHECK (place BETWEEN 1 AND 1000),
    note     TEXT,
    PRIMARY KEY (show_id, piece_id)
) STRICT;

CREATE TABLE visitor (
    id        INTEGER NOT NULL PRIMARY KEY,
    name      TEXT NOT NULL,
    email     TEXT CHECK (email LIKE '%_@_%'),
    born_on   TEXT CHECK (date(born_on) IS born_on AND born_on BETWEEN '1900-01-01' AND '2090-12-31'),
    member_no INTEGER UNIQUE CHECK (member_no BETWEEN 1 AND 1000000),
    points    INTEGER NOT NULL DEFAULT 0 CHECK (points BETWEEN -1000000 AND 1000000),
    banned    INTEGER NOT NULL DEFAULT 0 CHECK (banned IN (0, 1)),
    prefs     TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(prefs) AND json_type(prefs) = 'object'
              AND (json_type(prefs, '$.lang') IS NULL OR json_type(prefs, '$.lang') IN ('text', 'null'))),
    joined_at INTEGER NOT NULL CHECK (joined_at BETWEEN 0 AND 4102444799000 AND joined_at % 1000 = 0)
) STRICT;

CREATE TABLE ticket (
    id         INTEGER NOT NULL PRIMARY KEY,
    show_id    INTEGER NOT NULL REFERENCES show (id) ON DELETE CASCADE,
    visitor_id INTEGER REFERENCES visitor (id) ON DELETE SET NULL,
    kind       TEXT NOT NULL DEFAULT 'full' CHECK (kind IN ('full', 'child', 'group', 'free')),
    heads      INTEGER NOT NULL DEFAULT 1 CHECK (heads BETWEEN 1 AND 50),
    cents      INTEGER NOT NULL CHECK (cents BETWEEN 0 AND 500000),
    sold_at    INTEGER NOT NULL CHECK (sold_at BETWEEN 0 AND 4102444799000 AND sold_at % 1000 = 0),
    used_at    INTEGER CHECK (used_at BETWEEN 0 AND 4102444799000 AND used_at % 1000 = 0)
) STRICT;

CREATE TABLE takings (
    show_id INTEGER NOT NULL PRIMARY KEY REFERENCES show (id) ON DELETE CASCADE,
    cents   INTEGER NOT NULL DEFAULT 0,
    tickets INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TRIGGER ticket_sold AFTER INSERT ON ticket BEGIN
    INSERT INTO takings (show_id, cents, tickets) VALUES (NEW.show_id, NEW.cents, 1)
    ON CONFLICT (show_id) DO UPDATE SET cents = cents + excluded.cents, tickets = tickets + 1;
END;

CREATE TABLE repair (
    id        INTEGER NOT NULL PRIMARY KEY,
    piece_id  INTEGER NOT NULL REFERENCES piece (id) ON DELETE CASCADE,
    stage     TEXT NOT NULL DEFAULT 'queued' CHECK (stage IN ('queued', 'bench', 'done', 'given_up')),
    urgency   INTEGER NOT NULL DEFAULT 0 CHECK (urgency BETWEEN 0 AND 9),
    worker    TEXT,
    hours     REAL NOT NULL DEFAULT 0 CHECK (hours BETWEEN 0 AND 10000),
    queued_at INTEGER NOT NULL CHECK (queued_at BETWEEN 0 AND 4102444799000 AND queued_at % 1000 = 0)
) STRICT;

CREATE TABLE measure (
    room_code TEXT NOT NULL REFERENCES room (code) ON UPDATE CASCADE ON DELETE CASCADE,
    taken_at  INTEGER NOT NULL CHECK (taken_at BETWEEN 0 AND 4102444799000 AND taken_at % 1000 = 0),
    degrees   REAL NOT NULL CHECK (degrees BETWEEN -50 AND 80),
    ok        INTEGER CHECK (ok IN (0, 1)),
    PRIMARY KEY (room_code, taken_at)
) STRICT;

CREATE TABLE author (
    id      INTEGER NOT NULL PRIMARY KEY,
    name    TEXT NOT NULL,
    born    INTEGER CHECK (born BETWEEN 1000 AND 2100),
    country TEXT
) STRICT;

CREATE TABLE book (
    id        INTEGER NOT NULL PRIMARY KEY,
    author_id INTEGER REFERENCES author (id),
    title     TEXT NOT NULL,
    isbn      TEXT UNIQUE,
    pages     INTEGER NOT NULL CHECK (pages BETWEEN 1 AND 5000),
    year      INTEGER CHECK (year BETWEEN 1000 AND 2100),
    genre     TEXT NOT NULL CHECK (genre IN ('novel', 'essay', 'poetry')),
    tags      TEXT NOT NULL CHECK (json_valid(tags) AND json_type(tags) = 'array')
) STRICT;

CREATE TABLE copy (
    id          INTEGER NOT NULL PRIMARY KEY,
    book_id     INTEGER NOT NULL REFERENCES book (id) ON DELETE CASCADE,
    shelf       TEXT NOT NULL,
    lost        INTEGER NOT NULL CHECK (lost IN (0, 1)),
    price_cents INTEGER CHECK (price_cents BETWEEN 0 AND 100000),
    grade       INTEGER NOT NULL CHECK (grade BETWEEN 0 AND 5)
) STRICT;

CREATE TABLE member (
    id        BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    name      TEXT NOT NULL,
    email     TEXT NOT NULL UNIQUE,
    joined_on TEXT NOT NULL CHECK (date(joined_on) IS joined_on),
    active    INTEGER NOT NULL CHECK (active IN (0, 1)),
    settings  TEXT NOT NULL CHECK (json_valid(settings) AND json_type(settings) = 'object'
              AND (json_type(settings, '$.mail') IS NULL OR json_type(settings, '$.mail') IN ('true', 'false', 'null')))
) STRICT;

CREATE TABLE loan (
    id          INTEGER NOT NULL PRIMARY KEY,
    copy_id     INTEGER NOT NULL REFERENCES copy (id),
    member_id   BLOB NOT NULL REFERENCES member (id),
    taken_at    INTEGER NOT NULL CHECK (taken_at >= 0 AND taken_at < 4102444800),
    due_on      TEXT NOT NULL CHECK (date(due_on) IS due_on),
    returned_at INTEGER CHECK (returned_at >= 0 AND returned_at < 4102444800),
    renewals    INTEGER NOT NULL CHECK (renewals BETWEEN 0 AND 9)
) STRICT;

CREATE TABLE hold (
    book_id   INTEGER NOT NULL,
    member_id BLOB NOT NULL CHECK (length(member_id) = 16),
    pos       INTEGER NOT NULL CHECK (pos BETWEEN 0 AND 1000),
    placed_at INTEGER NOT NULL CHECK (placed_at >= 0 AND placed_at < 4102444800),
    PRIMARY KEY (book_id, member_id)
) STRICT;

CREATE TABLE fine (
    id        INTEGER NOT NULL PRIMARY KEY,
    loan_id   INTEGER REFERENCES loan (id) ON DELETE CASCADE,
    member_id BLOB NOT NULL CHECK (length(member_id) = 16),
    cents     INTEGER NOT NULL CHECK (cents BETWEEN -100000 AND 100000),
    paid      INTEGER NOT NULL CHECK (paid IN (0, 1)),
    note      TEXT
) STRICT;

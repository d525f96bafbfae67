CREATE TABLE tree (
    id         INTEGER NOT NULL PRIMARY KEY,
    row_no     INTEGER NOT NULL CHECK (row_no BETWEEN 1 AND 500),
    variety    TEXT NOT NULL CHECK (variety IN ('apple', 'pear', 'plum')),
    planted_on TEXT NOT NULL CHECK (date(planted_on) IS planted_on AND planted_on BETWEEN '1900-01-01' AND '2099-12-31'),
    felled_on  TEXT CHECK (date(felled_on) IS felled_on AND felled_on BETWEEN '1900-01-01' AND '2099-12-31'),
    height_cm  INTEGER CHECK (height_cm BETWEEN 0 AND 2000),
    graft_of   INTEGER REFERENCES tree (id) ON DELETE SET NULL,
    marks      TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(marks) AND json_type(marks) = 'object'
               AND (json_type(marks, '$.sick') IS NULL OR json_type(marks, '$.sick') IN ('true', 'false'))
               AND (json_type(marks, '$.grade') IS NULL OR json_type(marks, '$.grade') = 'integer'
                    AND json_extract(marks, '$.grade') BETWEEN 0 AND 10)
               AND (json_type(marks, '$.tags') IS NULL OR json_type(marks, '$.tags') = 'array')),
    CHECK (felled_on >= planted_on)
) STRICT;

CREATE TABLE picker (
    id         INTEGER NOT NULL PRIMARY KEY,
    name       TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 40),
    nick       TEXT,
    team       TEXT,
    wage_cents INTEGER NOT NULL CHECK (wage_cents BETWEEN 0 AND 10000)
) STRICT;

CREATE TABLE pick (
    id        INTEGER NOT NULL PRIMARY KEY,
    tree_id   INTEGER NOT NULL REFERENCES tree (id) ON DELETE CASCADE,
    picker_id INTEGER REFERENCES picker (id) ON DELETE SET NULL,
    picked_at INTEGER NOT NULL CHECK (picked_at >= 0 AND picked_at < 4102444800),
    grams     INTEGER NOT NULL CHECK (grams BETWEEN 1 AND 50000),
    spoilt    INTEGER CHECK (spoilt BETWEEN 0 AND 50000),
    CHECK (spoilt <= grams)
) STRICT;

CREATE TABLE crate (
    code      TEXT NOT NULL PRIMARY KEY CHECK (length(code) BETWEEN 4 AND 12),
    picker_id INTEGER REFERENCES picker (id) ON DELETE SET NULL,
    sealed    INTEGER NOT NULL DEFAULT 0 CHECK (sealed IN (0, 1))
) STRICT;

CREATE TABLE stock (
    variety TEXT NOT NULL CHECK (variety IN ('apple', 'pear', 'plum')),
    grade   INTEGER NOT NULL CHECK (grade BETWEEN 0 AND 10),
    n       INTEGER NOT NULL DEFAULT 0 CHECK (n BETWEEN 0 AND 1000000),
    PRIMARY KEY (variety, grade)
) STRICT;

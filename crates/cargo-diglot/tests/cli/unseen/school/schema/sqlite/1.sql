CREATE TABLE pupil (
    id      INTEGER NOT NULL PRIMARY KEY,
    name    TEXT NOT NULL,
    born_on TEXT NOT NULL CHECK (date(born_on) IS born_on AND born_on BETWEEN '1950-01-01' AND '2099-12-31'),
    house   TEXT,
    points  INTEGER NOT NULL DEFAULT 0 CHECK (points BETWEEN -1000 AND 1000),
    doc     TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(doc) AND json_type(doc) = 'object'
            AND (json_type(doc, '$.nickname') IS NULL OR json_type(doc, '$.nickname') IN ('text', 'null'))
            AND (json_type(doc, '$.vegetarian') IS NULL OR json_type(doc, '$.vegetarian') IN ('true', 'false', 'null'))
            AND (json_type(doc, '$.allergies') IS NULL OR json_type(doc, '$.allergies') = 'array'))
) STRICT;

CREATE TABLE course (
    id      INTEGER NOT NULL PRIMARY KEY,
    code    TEXT NOT NULL UNIQUE,
    title   TEXT NOT NULL,
    level   INTEGER NOT NULL CHECK (level BETWEEN 1 AND 6),
    seats   INTEGER NOT NULL CHECK (seats BETWEEN 1 AND 40),
    teacher TEXT,
    active  INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1))
) STRICT;

CREATE TABLE enrolment (
    pupil_id    INTEGER NOT NULL REFERENCES pupil (id) ON DELETE CASCADE,
    course_id   INTEGER NOT NULL REFERENCES course (id),
    enrolled_at INTEGER NOT NULL CHECK (enrolled_at >= 0 AND enrolled_at < 4102444800),
    left_on     TEXT CHECK (date(left_on) IS left_on AND left_on BETWEEN '1970-01-01' AND '2099-12-31'),
    PRIMARY KEY (pupil_id, course_id)
) STRICT;

CREATE TABLE mark (
    id        INTEGER NOT NULL PRIMARY KEY,
    pupil_id  INTEGER NOT NULL,
    course_id INTEGER NOT NULL,
    value     INTEGER CHECK (value BETWEEN 1 AND 6),
    weight    INTEGER NOT NULL DEFAULT 1 CHECK (weight BETWEEN 1 AND 4),
    given_on  TEXT NOT NULL CHECK (date(given_on) IS given_on AND given_on BETWEEN '1970-01-01' AND '2099-12-31'),
    FOREIGN KEY (pupil_id, course_id) REFERENCES enrolment (pupil_id, course_id) ON DELETE CASCADE
) STRICT;

CREATE TABLE absence (
    pupil_id INTEGER NOT NULL REFERENCES pupil (id) ON DELETE CASCADE,
    day      TEXT NOT NULL CHECK (date(day) IS day AND day BETWEEN '1970-01-01' AND '2099-12-31'),
    lessons  INTEGER NOT NULL CHECK (lessons BETWEEN 1 AND 8),
    excused  INTEGER NOT NULL DEFAULT 0 CHECK (excused IN (0, 1)),
    reason   TEXT,
    PRIMARY KEY (pupil_id, day)
) STRICT;

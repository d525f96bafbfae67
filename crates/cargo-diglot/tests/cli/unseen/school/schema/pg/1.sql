CREATE TABLE pupil (
    id      bigint NOT NULL PRIMARY KEY,
    name    text NOT NULL,
    born_on date NOT NULL CHECK (born_on BETWEEN '1950-01-01' AND '2099-12-31'),
    house   text,
    points  bigint NOT NULL DEFAULT 0 CHECK (points BETWEEN -1000 AND 1000),
    doc     jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(doc) = 'object'
            AND (NOT doc ? 'nickname' OR jsonb_typeof(doc -> 'nickname') IN ('string', 'null'))
            AND (NOT doc ? 'vegetarian' OR jsonb_typeof(doc -> 'vegetarian') IN ('boolean', 'null'))
            AND (NOT doc ? 'allergies' OR jsonb_typeof(doc -> 'allergies') = 'array'))
);

CREATE TABLE course (
    id      bigint NOT NULL PRIMARY KEY,
    code    text NOT NULL UNIQUE,
    title   text NOT NULL,
    level   bigint NOT NULL CHECK (level BETWEEN 1 AND 6),
    seats   bigint NOT NULL CHECK (seats BETWEEN 1 AND 40),
    teacher text,
    active  boolean NOT NULL DEFAULT true
);

CREATE TABLE enrolment (
    pupil_id    bigint NOT NULL REFERENCES pupil (id) ON DELETE CASCADE,
    course_id   bigint NOT NULL REFERENCES course (id),
    enrolled_at timestamptz NOT NULL CHECK (enrolled_at >= '1970-01-01 00:00:00+00' AND enrolled_at < '2100-01-01 00:00:00+00'),
    left_on     date CHECK (left_on BETWEEN '1970-01-01' AND '2099-12-31'),
    PRIMARY KEY (pupil_id, course_id)
);

CREATE TABLE mark (
    id        bigint NOT NULL PRIMARY KEY,
    pupil_id  bigint NOT NULL,
    course_id bigint NOT NULL,
    value     bigint CHECK (value BETWEEN 1 AND 6),
    weight    bigint NOT NULL DEFAULT 1 CHECK (weight BETWEEN 1 AND 4),
    given_on  date NOT NULL CHECK (given_on BETWEEN '1970-01-01' AND '2099-12-31'),
    FOREIGN KEY (pupil_id, course_id) REFERENCES enrolment (pupil_id, course_id) ON DELETE CASCADE
);

CREATE TABLE absence (
    pupil_id bigint NOT NULL REFERENCES pupil (id) ON DELETE CASCADE,
    day      date NOT NULL CHECK (day BETWEEN '1970-01-01' AND '2099-12-31'),
    lessons  bigint NOT NULL CHECK (lessons BETWEEN 1 AND 8),
    excused  boolean NOT NULL DEFAULT false,
    reason   text,
    PRIMARY KEY (pupil_id, day)
);

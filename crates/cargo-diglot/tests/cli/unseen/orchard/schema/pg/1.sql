CREATE TABLE tree (
    id         bigint NOT NULL PRIMARY KEY,
    row_no     bigint NOT NULL CHECK (row_no BETWEEN 1 AND 500),
    variety    text NOT NULL CHECK (variety IN ('apple', 'pear', 'plum')),
    planted_on date NOT NULL CHECK (planted_on BETWEEN '1900-01-01' AND '2099-12-31'),
    felled_on  date CHECK (felled_on BETWEEN '1900-01-01' AND '2099-12-31'),
    height_cm  bigint CHECK (height_cm BETWEEN 0 AND 2000),
    graft_of   bigint REFERENCES tree (id) ON DELETE SET NULL,
    marks      jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(marks) = 'object'
               AND (NOT marks ? 'sick' OR jsonb_typeof(marks -> 'sick') = 'boolean')
               AND (NOT marks ? 'grade' OR jsonb_typeof(marks -> 'grade') = 'number'
                    AND (marks ->> 'grade')::numeric BETWEEN 0 AND 10)
               AND (NOT marks ? 'tags' OR jsonb_typeof(marks -> 'tags') = 'array')),
    CHECK (felled_on >= planted_on)
);

CREATE TABLE picker (
    id         bigint NOT NULL PRIMARY KEY,
    name       text NOT NULL CHECK (length(name) BETWEEN 1 AND 40),
    nick       text,
    team       text,
    wage_cents bigint NOT NULL CHECK (wage_cents BETWEEN 0 AND 10000)
);

CREATE TABLE pick (
    id        bigint NOT NULL PRIMARY KEY,
    tree_id   bigint NOT NULL REFERENCES tree (id) ON DELETE CASCADE,
    picker_id bigint REFERENCES picker (id) ON DELETE SET NULL,
    picked_at timestamptz NOT NULL CHECK (picked_at >= '1970-01-01 00:00:00+00' AND picked_at < '2100-01-01 00:00:00+00'),
    grams     bigint NOT NULL CHECK (grams BETWEEN 1 AND 50000),
    spoilt    bigint CHECK (spoilt BETWEEN 0 AND 50000),
    CHECK (spoilt <= grams)
);

CREATE TABLE crate (
    code      text NOT NULL PRIMARY KEY CHECK (length(code) BETWEEN 4 AND 12),
    picker_id bigint REFERENCES picker (id) ON DELETE SET NULL,
    sealed    boolean NOT NULL DEFAULT false
);

CREATE TABLE stock (
    variety text NOT NULL CHECK (variety IN ('apple', 'pear', 'plum')),
    grade   bigint NOT NULL CHECK (grade BETWEEN 0 AND 10),
    n       bigint NOT NULL DEFAULT 0 CHECK (n BETWEEN 0 AND 1000000),
    PRIMARY KEY (variety, grade)
);

CREATE TABLE paper (
    id      INTEGER NOT NULL PRIMARY KEY,
    title   TEXT NOT NULL CHECK (title <> ''),
    town    TEXT,
    founded INTEGER NOT NULL CHECK (founded BETWEEN 1600 AND 2099),
    closed  INTEGER CHECK (closed BETWEEN 1600 AND 2099),
    meta    TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(meta) AND json_type(meta) = 'object'
            AND (json_type(meta, '$.language') IS NULL OR json_type(meta, '$.language') IN ('text', 'null'))
            AND (json_type(meta, '$.daily') IS NULL OR json_type(meta, '$.daily') IN ('true', 'false', 'null')))
) STRICT;

CREATE TABLE issue (
    paper_id  INTEGER NOT NULL REFERENCES paper (id) ON DELETE CASCADE,
    number    INTEGER NOT NULL CHECK (number BETWEEN 1 AND 99999),
    day       TEXT NOT NULL CHECK (date(day) IS day AND day BETWEEN '1700-01-01' AND '2099-12-31'),
    pages     INTEGER NOT NULL CHECK (pages BETWEEN 1 AND 200),
    pence     INTEGER CHECK (pence BETWEEN 0 AND 100000),
    withdrawn INTEGER NOT NULL DEFAULT 0 CHECK (withdrawn IN (0, 1)),
    sheets    INTEGER GENERATED ALWAYS AS ((pages + 3) / 4) STORED,
    PRIMARY KEY (paper_id, number)
) STRICT;

CREATE UNIQUE INDEX issue_of_day ON issue (paper_id, day) WHERE withdrawn = 0;

CREATE TABLE reporter (
    id       INTEGER NOT NULL PRIMARY KEY,
    name     TEXT NOT NULL,
    pen_name TEXT,
    boss_id  INTEGER REFERENCES reporter (id) ON DELETE SET NULL,
    hired_at INTEGER NOT NULL CHECK (hired_at >= 0 AND hired_at < 4102444800),
    left_at  INTEGER CHECK (left_at >= 0 AND left_at < 4102444800)
) STRICT;

CREATE TABLE article (
    id          INTEGER NOT NULL PRIMARY KEY,
    paper_id    INTEGER NOT NULL,
    number      INTEGER NOT NULL,
    page        INTEGER NOT NULL CHECK (page BETWEEN 1 AND 200),
    section     TEXT NOT NULL CHECK (section IN ('news', 'sport', 'culture', 'letters')),
    headline    TEXT NOT NULL,
    words       INTEGER NOT NULL CHECK (words BETWEEN 0 AND 100000),
    reporter_id INTEGER REFERENCES reporter (id) ON DELETE SET NULL,
    continues   INTEGER REFERENCES article (id) ON DELETE CASCADE,
    tags        TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(tags) AND json_type(tags) = 'array'),
    deleted_at  INTEGER CHECK (deleted_at >= 0 AND deleted_at < 4102444800),
    FOREIGN KEY (paper_id, number) REFERENCES issue (paper_id, number) ON DELETE CASCADE ON UPDATE CASCADE
) STRICT;

CREATE TABLE scan (
    id       INTEGER NOT NULL PRIMARY KEY,
    paper_id INTEGER NOT NULL,
    number   INTEGER NOT NULL,
    page     INTEGER NOT NULL CHECK (page BETWEEN 1 AND 200),
    state    TEXT NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'busy', 'done', 'failed')),
    priority INTEGER NOT NULL DEFAULT 0 CHECK (priority BETWEEN 0 AND 9),
    due_at   INTEGER NOT NULL CHECK (due_at >= 0 AND due_at < 4102444800),
    worker   TEXT,
    tries    INTEGER NOT NULL DEFAULT 0 CHECK (tries BETWEEN 0 AND 50),
    quality  REAL CHECK (quality BETWEEN 0 AND 1),
    UNIQUE (paper_id, number, page),
    FOREIGN KEY (paper_id, number) REFERENCES issue (paper_id, number) ON DELETE CASCADE ON UPDATE CASCADE
) STRICT;

CREATE TABLE reader (
    id      INTEGER NOT NULL PRIMARY KEY,
    name    TEXT NOT NULL,
    email   TEXT NOT NULL,
    gone    INTEGER NOT NULL DEFAULT 0 CHECK (gone IN (0, 1)),
    since   TEXT NOT NULL CHECK (date(since) IS since AND since BETWEEN '1970-01-01' AND '2090-12-31'),
    clipped INTEGER NOT NULL DEFAULT 0 CHECK (clipped BETWEEN -100000 AND 100000)
) STRICT;

CREATE UNIQUE INDEX reader_email ON reader (email) WHERE gone = 0;

CREATE TABLE clipping (
    reader_id  INTEGER NOT NULL REFERENCES reader (id) ON DELETE CASCADE,
    article_id INTEGER NOT NULL REFERENCES article (id) ON DELETE CASCADE,
    place      INTEGER NOT NULL CHECK (place BETWEEN 0 AND 1000),
    note       TEXT,
    saved_at   INTEGER NOT NULL CHECK (saved_at >= 0 AND saved_at < 4102444800),
    PRIMARY KEY (reader_id, article_id)
) STRICT;

CREATE TRIGGER clipping_counted AFTER INSERT ON clipping BEGIN
    UPDATE reader SET clipped = clipped + 1 WHERE id = NEW.reader_id;
END;

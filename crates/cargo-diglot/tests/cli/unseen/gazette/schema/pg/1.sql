CREATE TABLE paper (
    id      bigint NOT NULL PRIMARY KEY,
    title   text NOT NULL CHECK (title <> ''),
    town    text,
    founded integer NOT NULL CHECK (founded BETWEEN 1600 AND 2099),
    closed  integer CHECK (closed BETWEEN 1600 AND 2099),
    meta    jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(meta) = 'object'
            AND (NOT meta ? 'language' OR jsonb_typeof(meta -> 'language') IN ('string', 'null'))
            AND (NOT meta ? 'daily' OR jsonb_typeof(meta -> 'daily') IN ('boolean', 'null')))
);

CREATE TABLE issue (
    paper_id  bigint NOT NULL REFERENCES paper (id) ON DELETE CASCADE,
    number    integer NOT NULL CHECK (number BETWEEN 1 AND 99999),
    day       date NOT NULL CHECK (day BETWEEN '1700-01-01' AND '2099-12-31'),
    pages     integer NOT NULL CHECK (pages BETWEEN 1 AND 200),
    pence     integer CHECK (pence BETWEEN 0 AND 100000),
    withdrawn boolean NOT NULL DEFAULT false,
    sheets    integer GENERATED ALWAYS AS ((pages + 3) / 4) STORED,
    PRIMARY KEY (paper_id, number)
);

CREATE UNIQUE INDEX issue_of_day ON issue (paper_id, day) WHERE NOT withdrawn;

CREATE TABLE reporter (
    id       bigint NOT NULL PRIMARY KEY,
    name     text NOT NULL,
    pen_name text,
    boss_id  bigint REFERENCES reporter (id) ON DELETE SET NULL,
    hired_at timestamptz NOT NULL CHECK (hired_at >= '1970-01-01 00:00:00+00' AND hired_at < '2100-01-01 00:00:00+00'),
    left_at  timestamptz CHECK (left_at >= '1970-01-01 00:00:00+00' AND left_at < '2100-01-01 00:00:00+00')
);

CREATE TABLE article (
    id          bigint NOT NULL PRIMARY KEY,
    paper_id    bigint NOT NULL,
    number      integer NOT NULL,
    page        integer NOT NULL CHECK (page BETWEEN 1 AND 200),
    section     text NOT NULL CHECK (section IN ('news', 'sport', 'culture', 'letters')),
    headline    text NOT NULL,
    words       integer NOT NULL CHECK (words BETWEEN 0 AND 100000),
    reporter_id bigint REFERENCES reporter (id) ON DELETE SET NULL,
    continues   bigint REFERENCES article (id) ON DELETE CASCADE,
    tags        jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(tags) = 'array'),
    deleted_at  timestamptz CHECK (deleted_at >= '1970-01-01 00:00:00+00' AND deleted_at < '2100-01-01 00:00:00+00'),
    FOREIGN KEY (paper_id, number) REFERENCES issue (paper_id, number) ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE TABLE scan (
    id       bigint NOT NULL PRIMARY KEY,
    paper_id bigint NOT NULL,
    number   integer NOT NULL,
    page     integer NOT NULL CHECK (page BETWEEN 1 AND 200),
    state    text NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'busy', 'done', 'failed')),
    priority integer NOT NULL DEFAULT 0 CHECK (priority BETWEEN 0 AND 9),
    due_at   timestamptz NOT NULL CHECK (due_at >= '1970-01-01 00:00:00+00' AND due_at < '2100-01-01 00:00:00+00'),
    worker   text,
    tries    integer NOT NULL DEFAULT 0 CHECK (tries BETWEEN 0 AND 50),
    quality  double precision CHECK (quality BETWEEN 0 AND 1),
    UNIQUE (paper_id, number, page),
    FOREIGN KEY (paper_id, number) REFERENCES issue (paper_id, number) ON DELETE CASCADE ON UPDATE CASCADE
);

CREATE TABLE reader (
    id      bigint NOT NULL PRIMARY KEY,
    name    text NOT NULL,
    email   text NOT NULL,
    gone    boolean NOT NULL DEFAULT false,
    since   date NOT NULL CHECK (since BETWEEN '1970-01-01' AND '2090-12-31'),
    clipped integer NOT NULL DEFAULT 0 CHECK (clipped BETWEEN -100000 AND 100000)
);

CREATE UNIQUE INDEX reader_email ON reader (email) WHERE NOT gone;

CREATE TABLE clipping (
    reader_id  bigint NOT NULL REFERENCES reader (id) ON DELETE CASCADE,
    article_id bigint NOT NULL REFERENCES article (id) ON DELETE CASCADE,
    place      integer NOT NULL CHECK (place BETWEEN 0 AND 1000),
    note       text,
    saved_at   timestamptz NOT NULL CHECK (saved_at >= '1970-01-01 00:00:00+00' AND saved_at < '2100-01-01 00:00:00+00'),
    PRIMARY KEY (reader_id, article_id)
);

CREATE FUNCTION clipping_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE reader SET clipped = clipped + 1 WHERE id = NEW.reader_id;
    RETURN NULL;
END
$$;

CREATE TRIGGER clipping_counted AFTER INSERT ON clipping FOR EACH ROW EXECUTE FUNCTION clipping_counted();

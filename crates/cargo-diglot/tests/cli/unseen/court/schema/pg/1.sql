CREATE TABLE court (
    id     bigint NOT NULL PRIMARY KEY,
    name   text NOT NULL,
    region text
);

CREATE TABLE judge (
    id         bigint NOT NULL PRIMARY KEY,
    court_id   bigint NOT NULL REFERENCES court (id),
    name       text NOT NULL,
    chamber    text,
    seniority  bigint NOT NULL CHECK (seniority BETWEEN 0 AND 60),
    retired_on date CHECK (retired_on BETWEEN '1950-01-01' AND '2099-12-31')
);

CREATE TABLE docket (
    court_id bigint NOT NULL REFERENCES court (id),
    year     bigint NOT NULL CHECK (year BETWEEN 1950 AND 2099),
    last     bigint NOT NULL DEFAULT 0 CHECK (last BETWEEN 0 AND 1000000),
    PRIMARY KEY (court_id, year)
);

CREATE TABLE matter (
    id         uuid NOT NULL PRIMARY KEY,
    court_id   bigint NOT NULL REFERENCES court (id),
    year       bigint NOT NULL CHECK (year BETWEEN 1950 AND 2099),
    number     bigint NOT NULL CHECK (number BETWEEN 1 AND 1000001),
    reference  text NOT NULL GENERATED ALWAYS AS (year || '/' || number) STORED,
    title      text NOT NULL,
    kind       text NOT NULL CHECK (kind IN ('civil', 'criminal', 'family')),
    filed_on   date NOT NULL CHECK (filed_on BETWEEN '1950-01-01' AND '2099-12-31'),
    closed_on  date CHECK (closed_on BETWEEN '1950-01-01' AND '2099-12-31'),
    deleted_at timestamptz CHECK (deleted_at >= '1970-01-01 00:00:00+00' AND deleted_at < '2100-01-01 00:00:00+00'),
    doc        jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(doc) = 'object'
               AND (NOT doc ? 'lang' OR jsonb_typeof(doc -> 'lang') IN ('string', 'null'))
               AND (NOT doc ? 'urgent' OR jsonb_typeof(doc -> 'urgent') = 'boolean')
               AND (NOT doc ? 'value' OR jsonb_typeof(doc -> 'value') = 'number'
                    AND (doc ->> 'value')::numeric BETWEEN 0 AND 1000000000)),
    UNIQUE (court_id, year, number),
    CHECK (closed_on >= filed_on)
);

CREATE TABLE hearing (
    id        bigint NOT NULL PRIMARY KEY,
    matter_id uuid NOT NULL REFERENCES matter (id) ON DELETE CASCADE,
    judge_id  bigint REFERENCES judge (id) ON DELETE SET NULL,
    room      text NOT NULL,
    starts_at timestamptz NOT NULL CHECK (starts_at >= '1970-01-01 00:00:00+00' AND starts_at < '2100-01-01 00:00:00+00'),
    minutes   bigint NOT NULL CHECK (minutes BETWEEN 5 AND 600),
    state     text NOT NULL CHECK (state IN ('planned', 'held', 'moved', 'cancelled')),
    moved_to  bigint REFERENCES hearing (id)
);

CREATE UNIQUE INDEX hearing_slot ON hearing (room, starts_at) WHERE state = 'planned';

CREATE TABLE party (
    matter_id uuid NOT NULL REFERENCES matter (id) ON DELETE CASCADE,
    name      text NOT NULL,
    role      text NOT NULL CHECK (role IN ('plaintiff', 'defendant', 'witness')),
    fee       numeric(8, 2) NOT NULL DEFAULT 0.00,
    PRIMARY KEY (matter_id, name)
);

CREATE TABLE notice (
    id          bigint NOT NULL PRIMARY KEY,
    recipient   text NOT NULL,
    body        text NOT NULL,
    state       text NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'sending', 'sent', 'dead')),
    tries       bigint NOT NULL DEFAULT 0 CHECK (tries BETWEEN 0 AND 12),
    due_at      timestamptz NOT NULL CHECK (due_at >= '1970-01-01 00:00:00+00' AND due_at < '2100-01-01 00:00:00+00'),
    lease_until timestamptz CHECK (lease_until >= '1970-01-01 00:00:00+00' AND lease_until < '2100-01-01 00:00:00+00'),
    sent_at     timestamptz CHECK (sent_at >= '1970-01-01 00:00:00+00' AND sent_at < '2100-01-01 00:00:00+00')
);

CREATE TABLE holiday (
    court_id bigint NOT NULL REFERENCES court (id) ON DELETE CASCADE,
    day      date NOT NULL CHECK (day BETWEEN '1950-01-01' AND '2199-12-31'),
    label    text NOT NULL DEFAULT '',
    PRIMARY KEY (court_id, day)
);

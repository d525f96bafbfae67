CREATE TABLE author (
    id      bigint NOT NULL PRIMARY KEY,
    name    text NOT NULL,
    born    bigint CHECK (born BETWEEN 1000 AND 2100),
    country text
);

CREATE TABLE book (
    id        bigint NOT NULL PRIMARY KEY,
    author_id bigint REFERENCES author (id),
    title     text NOT NULL,
    isbn      text UNIQUE,
    pages     bigint NOT NULL CHECK (pages BETWEEN 1 AND 5000),
    year      bigint CHECK (year BETWEEN 1000 AND 2100),
    genre     text NOT NULL CHECK (genre IN ('novel', 'essay', 'poetry')),
    tags      jsonb NOT NULL CHECK (jsonb_typeof(tags) = 'array')
);

CREATE TABLE copy (
    id          bigint NOT NULL PRIMARY KEY,
    book_id     bigint NOT NULL REFERENCES book (id) ON DELETE CASCADE,
    shelf       text NOT NULL,
    lost        boolean NOT NULL,
    price_cents bigint CHECK (price_cents BETWEEN 0 AND 100000),
    grade       bigint NOT NULL CHECK (grade BETWEEN 0 AND 5)
);

CREATE TABLE member (
    id        uuid NOT NULL PRIMARY KEY,
    name      text NOT NULL,
    email     text NOT NULL UNIQUE,
    joined_on date NOT NULL,
    active    boolean NOT NULL,
    settings  jsonb NOT NULL CHECK (jsonb_typeof(settings) = 'object'
              AND (NOT settings ? 'mail' OR jsonb_typeof(settings -> 'mail') IN ('boolean', 'null')))
);

CREATE TABLE loan (
    id          bigint NOT NULL PRIMARY KEY,
    copy_id     bigint NOT NULL REFERENCES copy (id),
    member_id   uuid NOT NULL REFERENCES member (id),
    taken_at    timestamptz NOT NULL CHECK (taken_at >= '1970-01-01 00:00:00+00' AND taken_at < '2100-01-01 00:00:00+00'),
    due_on      date NOT NULL,
    returned_at timestamptz CHECK (returned_at >= '1970-01-01 00:00:00+00' AND returned_at < '2100-01-01 00:00:00+00'),
    renewals    bigint NOT NULL CHECK (renewals BETWEEN 0 AND 9)
);

CREATE TABLE hold (
    book_id   bigint NOT NULL,
    member_id uuid NOT NULL,
    pos       bigint NOT NULL CHECK (pos BETWEEN 0 AND 1000),
    placed_at timestamptz NOT NULL CHECK (placed_at >= '1970-01-01 00:00:00+00' AND placed_at < '2100-01-01 00:00:00+00'),
    PRIMARY KEY (book_id, member_id)
);

CREATE TABLE fine (
    id        bigint NOT NULL PRIMARY KEY,
    loan_id   bigint REFERENCES loan (id) ON DELETE CASCADE,
    member_id uuid NOT NULL,
    cents     bigint NOT NULL CHECK (cents BETWEEN -100000 AND 100000),
    paid      boolean NOT NULL,
    note      text
);

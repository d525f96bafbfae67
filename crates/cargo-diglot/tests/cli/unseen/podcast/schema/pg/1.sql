CREATE TABLE show (
    id    bigint NOT NULL PRIMARY KEY,
    slug  text NOT NULL UNIQUE,
    title text NOT NULL,
    owner text,
    lang  text NOT NULL,
    meta  jsonb NOT NULL CHECK (jsonb_typeof(meta) = 'object'
          AND (NOT meta ? 'featured' OR jsonb_typeof(meta -> 'featured') IN ('boolean', 'null'))
          AND (NOT meta ? 'langs' OR jsonb_typeof(meta -> 'langs') = 'array'))
);

CREATE TABLE episode (
    id           bigint NOT NULL PRIMARY KEY,
    show_id      bigint NOT NULL REFERENCES show (id) ON DELETE CASCADE,
    season       bigint CHECK (season BETWEEN 1 AND 100),
    number       bigint NOT NULL CHECK (number BETWEEN 1 AND 10000),
    title        text NOT NULL,
    seconds      bigint NOT NULL CHECK (seconds BETWEEN 1 AND 86400),
    published_at timestamptz CHECK (published_at BETWEEN '2000-01-01 00:00:00+00' AND '2099-12-31 23:59:59+00'),
    UNIQUE (show_id, season, number)
);

CREATE TABLE listener (
    id        bigint NOT NULL PRIMARY KEY,
    handle    text NOT NULL UNIQUE,
    email     text,
    plan      text NOT NULL CHECK (plan IN ('free', 'plus', 'pro')),
    country   text,
    joined_at timestamptz NOT NULL CHECK (joined_at BETWEEN '2000-01-01 00:00:00+00' AND '2099-12-31 23:59:59+00')
);

CREATE TABLE subscription (
    listener_id bigint NOT NULL REFERENCES listener (id) ON DELETE CASCADE,
    show_id     bigint NOT NULL REFERENCES show (id) ON DELETE CASCADE,
    since_on    date NOT NULL CHECK (since_on BETWEEN '2000-01-01' AND '2099-12-31'),
    level       bigint NOT NULL CHECK (level BETWEEN 0 AND 10),
    muted       boolean NOT NULL,
    PRIMARY KEY (listener_id, show_id)
);

CREATE TABLE play (
    id          bigint NOT NULL PRIMARY KEY,
    episode_id  bigint NOT NULL REFERENCES episode (id) ON DELETE CASCADE,
    listener_id bigint,
    started_at  timestamptz NOT NULL CHECK (started_at BETWEEN '2000-01-01 00:00:00+00' AND '2099-12-31 23:59:59+00'),
    position    bigint NOT NULL CHECK (position BETWEEN 0 AND 86400),
    finished    boolean NOT NULL,
    device      text
);

CREATE TABLE review (
    id          bigint NOT NULL PRIMARY KEY,
    show_id     bigint NOT NULL REFERENCES show (id),
    listener_id bigint NOT NULL,
    stars       bigint CHECK (stars BETWEEN 1 AND 5),
    body        text,
    UNIQUE (show_id, listener_id)
);

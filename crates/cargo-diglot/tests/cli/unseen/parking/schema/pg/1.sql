CREATE TABLE zone (
    id         bigint NOT NULL PRIMARY KEY,
    code       text NOT NULL UNIQUE,
    name       text NOT NULL,
    district   text,
    capacity   bigint NOT NULL CHECK (capacity BETWEEN 0 AND 500),
    rate_cents bigint NOT NULL CHECK (rate_cents BETWEEN 0 AND 2000),
    active     boolean NOT NULL DEFAULT true,
    rules      jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(rules) = 'object'
               AND (NOT rules ? 'max_minutes' OR jsonb_typeof(rules -> 'max_minutes') = 'number'
                    AND (rules ->> 'max_minutes')::numeric BETWEEN 0 AND 10000)
               AND (NOT rules ? 'resident' OR jsonb_typeof(rules -> 'resident') = 'boolean')
               AND (NOT rules ? 'days' OR jsonb_typeof(rules -> 'days') = 'array'))
);

CREATE TABLE permit (
    id         uuid NOT NULL PRIMARY KEY,
    zone_id    bigint NOT NULL REFERENCES zone (id) ON DELETE CASCADE,
    plate      text NOT NULL,
    holder     text,
    kind       text NOT NULL CHECK (kind IN ('resident', 'business', 'guest')),
    starts_on  date NOT NULL CHECK (starts_on BETWEEN '2000-01-01' AND '2099-12-31'),
    ends_on    date CHECK (ends_on BETWEEN '2000-01-01' AND '2199-12-31'),
    revoked_at timestamptz CHECK (revoked_at >= '1970-01-01 00:00:00+00' AND revoked_at < '2100-01-01 00:00:00+00'),
    CHECK (ends_on >= starts_on)
);

CREATE UNIQUE INDEX permit_current ON permit (zone_id, plate) WHERE revoked_at IS NULL;

CREATE TABLE session (
    id         bigint NOT NULL PRIMARY KEY CHECK (id BETWEEN 1 AND 1000000000),
    zone_id    bigint NOT NULL REFERENCES zone (id) ON DELETE CASCADE,
    plate      text NOT NULL,
    started_at timestamptz NOT NULL CHECK (started_at >= '1970-01-01 00:00:00+00' AND started_at < '2100-01-01 00:00:00+00'),
    ended_at   timestamptz CHECK (ended_at >= '1970-01-01 00:00:00+00' AND ended_at < '2100-01-01 00:00:00+00'),
    paid_cents bigint CHECK (paid_cents BETWEEN 0 AND 100000),
    method     text CHECK (method IN ('app', 'card', 'coin')),
    CHECK (ended_at >= started_at)
);

CREATE TABLE officer (
    id      bigint NOT NULL PRIMARY KEY,
    badge   text NOT NULL UNIQUE,
    name    text NOT NULL,
    email   text NOT NULL,
    zone_id bigint REFERENCES zone (id) ON DELETE SET NULL
);

CREATE TABLE fine (
    id         bigint NOT NULL PRIMARY KEY,
    zone_id    bigint NOT NULL REFERENCES zone (id) ON DELETE CASCADE,
    officer_id bigint REFERENCES officer (id) ON DELETE SET NULL,
    plate      text NOT NULL,
    cents      bigint NOT NULL CHECK (cents BETWEEN 0 AND 100000),
    issued_at  timestamptz NOT NULL CHECK (issued_at >= '1970-01-01 00:00:00+00' AND issued_at < '2100-01-01 00:00:00+00'),
    paid_at    timestamptz CHECK (paid_at >= '1970-01-01 00:00:00+00' AND paid_at < '2100-01-01 00:00:00+00'),
    note       text
);

CREATE TABLE tally (
    zone_id bigint NOT NULL REFERENCES zone (id) ON DELETE CASCADE,
    day     date NOT NULL CHECK (day BETWEEN '2000-01-01' AND '2099-12-31'),
    kind    text NOT NULL CHECK (kind IN ('entry', 'exit')),
    n       bigint NOT NULL DEFAULT 0 CHECK (n BETWEEN 0 AND 1000000),
    PRIMARY KEY (zone_id, day, kind)
);

CREATE TABLE meter (
    zone_id bigint NOT NULL REFERENCES zone (id) ON DELETE CASCADE,
    number  bigint NOT NULL CHECK (number BETWEEN 1 AND 1000),
    serial  text NOT NULL CHECK (length(serial) BETWEEN 3 AND 10),
    battery bigint CHECK (battery BETWEEN 0 AND 100),
    broken  boolean NOT NULL DEFAULT false,
    PRIMARY KEY (zone_id, number)
);

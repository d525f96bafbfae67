CREATE TABLE ship (
    id       bigint NOT NULL PRIMARY KEY,
    name     text NOT NULL,
    berth    text,
    capacity bigint NOT NULL CHECK (capacity BETWEEN 1 AND 3000),
    built    bigint NOT NULL CHECK (built BETWEEN 1900 AND 2100),
    retired  boolean NOT NULL DEFAULT false,
    spec     jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(spec) = 'object'
             AND (NOT spec ? 'deck' OR jsonb_typeof(spec -> 'deck') = 'number'
                  AND (spec ->> 'deck')::numeric BETWEEN 0 AND 20)
             AND (NOT spec ? 'fuel' OR jsonb_typeof(spec -> 'fuel') IN ('string', 'null'))
             AND (NOT spec ? 'flags' OR jsonb_typeof(spec -> 'flags') = 'array'))
);

CREATE TABLE route (
    code      text NOT NULL PRIMARY KEY,
    from_port text NOT NULL,
    to_port   text NOT NULL,
    minutes   bigint NOT NULL CHECK (minutes BETWEEN 1 AND 1000),
    CHECK (from_port <> to_port)
);

CREATE TABLE sailing (
    id           bigint NOT NULL PRIMARY KEY,
    ship_id      bigint NOT NULL REFERENCES ship (id) ON DELETE CASCADE,
    route_code   text NOT NULL REFERENCES route (code),
    leaves_at    timestamptz NOT NULL CHECK (leaves_at >= '1970-01-01 00:00:00+00' AND leaves_at < '2100-01-01 00:00:00+00'),
    cancelled_at timestamptz CHECK (cancelled_at >= '1970-01-01 00:00:00+00' AND cancelled_at < '2100-01-01 00:00:00+00'),
    sold         bigint NOT NULL DEFAULT 0 CHECK (sold BETWEEN 0 AND 3000)
);

CREATE TABLE ticket (
    id         bigint NOT NULL PRIMARY KEY,
    sailing_id bigint NOT NULL REFERENCES sailing (id) ON DELETE CASCADE,
    klass      text NOT NULL CHECK (klass IN ('foot', 'car', 'van')),
    email      text NOT NULL,
    paid_cents bigint CHECK (paid_cents BETWEEN 0 AND 100000),
    refunded   boolean NOT NULL DEFAULT false,
    note       text
);

CREATE TABLE fare (
    route_code text NOT NULL REFERENCES route (code) ON DELETE CASCADE,
    klass      text NOT NULL CHECK (klass IN ('foot', 'car', 'van')),
    cents      bigint NOT NULL CHECK (cents BETWEEN 0 AND 100000),
    PRIMARY KEY (route_code, klass)
);

CREATE TABLE room (
    id         bigint NOT NULL PRIMARY KEY,
    code       text NOT NULL UNIQUE,
    floor      bigint NOT NULL CHECK (floor BETWEEN -2 AND 40),
    kind       text NOT NULL CHECK (kind IN ('single', 'double', 'suite')),
    rate_cents bigint NOT NULL CHECK (rate_cents BETWEEN 0 AND 1000000),
    features   jsonb NOT NULL CHECK (jsonb_typeof(features) = 'array'),
    closed     boolean NOT NULL DEFAULT false
);

CREATE TABLE guest (
    id      bigint NOT NULL PRIMARY KEY,
    name    text NOT NULL,
    email   text,
    country text,
    stays   bigint NOT NULL DEFAULT 0 CHECK (stays BETWEEN 0 AND 10000),
    prefs   jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(prefs) = 'object'
            AND (NOT prefs ? 'smoker' OR jsonb_typeof(prefs -> 'smoker') IN ('boolean', 'null'))
            AND (NOT prefs ? 'floor' OR jsonb_typeof(prefs -> 'floor') = 'null'
                 OR jsonb_typeof(prefs -> 'floor') = 'number' AND prefs ->> 'floor' NOT LIKE '%.%'))
);

CREATE TABLE booking (
    id           bigint NOT NULL PRIMARY KEY,
    room_id      bigint NOT NULL REFERENCES room (id),
    guest_id     bigint NOT NULL REFERENCES guest (id),
    from_on      date NOT NULL CHECK (from_on BETWEEN '2000-01-01' AND '2099-12-31'),
    to_on        date NOT NULL CHECK (to_on BETWEEN '2000-01-01' AND '2099-12-31'),
    booked_at    timestamptz NOT NULL CHECK (booked_at >= '1970-01-01 00:00:00+00' AND booked_at < '2100-01-01 00:00:00+00'),
    cancelled_at timestamptz CHECK (cancelled_at >= '1970-01-01 00:00:00+00' AND cancelled_at < '2100-01-01 00:00:00+00'),
    adults       bigint NOT NULL CHECK (adults BETWEEN 1 AND 6),
    note         text,
    CHECK (to_on > from_on)
);

CREATE TABLE charge (
    id         bigint NOT NULL PRIMARY KEY,
    booking_id bigint NOT NULL REFERENCES booking (id) ON DELETE CASCADE,
    label      text NOT NULL,
    cents      bigint NOT NULL CHECK (cents BETWEEN -1000000 AND 1000000),
    category   text,
    made_at    timestamptz NOT NULL CHECK (made_at >= '1970-01-01 00:00:00+00' AND made_at < '2100-01-01 00:00:00+00')
);

CREATE TABLE cleaning (
    room_id bigint NOT NULL,
    day_on  date NOT NULL CHECK (day_on BETWEEN '2000-01-01' AND '2099-12-31'),
    done    boolean NOT NULL,
    staff   text,
    PRIMARY KEY (room_id, day_on)
);

CREATE TABLE review (
    booking_id bigint NOT NULL PRIMARY KEY REFERENCES booking (id) ON DELETE CASCADE,
    stars      bigint CHECK (stars BETWEEN 1 AND 5),
    body       text
);

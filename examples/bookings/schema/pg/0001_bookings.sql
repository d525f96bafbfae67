CREATE TYPE booking_state AS ENUM ('open', 'confirmed', 'cancelled');

CREATE TABLE room (
    id       uuid NOT NULL PRIMARY KEY,
    name     text NOT NULL,
    price    numeric(10, 2) NOT NULL,
    features text[] NOT NULL DEFAULT '{}',
    CHECK (length(name) > 0)
);

CREATE TABLE booking (
    id         uuid NOT NULL PRIMARY KEY,
    room_id    uuid NOT NULL REFERENCES room (id),
    state      booking_state NOT NULL DEFAULT 'open',
    starts_at  timestamptz NOT NULL,
    nights     smallint NOT NULL,
    first_day  date NOT NULL,
    arrives    time,
    paid       numeric(10, 2),
    rating     real CHECK (rating BETWEEN 0 AND 5),
    note       jsonb NOT NULL,
    made_at    timestamptz NOT NULL DEFAULT now(),
    changed_at timestamptz NOT NULL DEFAULT now()
);

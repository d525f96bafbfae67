CREATE TABLE room (
    id       TEXT NOT NULL PRIMARY KEY,
    name     TEXT NOT NULL,
    price    TEXT NOT NULL,
    features TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(features)),
    CHECK (length(name) > 0)
) STRICT;

CREATE TABLE booking (
    id         TEXT NOT NULL PRIMARY KEY,
    room_id    TEXT NOT NULL REFERENCES room (id),
    state      TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'confirmed', 'cancelled')),
    starts_at  INTEGER NOT NULL,
    nights     INTEGER NOT NULL,
    first_day  TEXT NOT NULL,
    arrives    TEXT,
    paid       TEXT,
    -- diverges(type.booking.rating): quarters of five stars are the same in 4 bytes and in 8.
    rating     REAL CHECK (rating BETWEEN 0 AND 5),
    note       TEXT NOT NULL CHECK (json_valid(note)),
    made_at    TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    changed_at INTEGER NOT NULL DEFAULT (unixepoch())
) STRICT;

CREATE TABLE parcel (
    id       INTEGER NOT NULL PRIMARY KEY,
    town     TEXT    NOT NULL,
    grams    INTEGER NOT NULL,
    sent_ms  INTEGER
) STRICT;

CREATE INDEX parcel_waiting ON parcel (town, grams, id);

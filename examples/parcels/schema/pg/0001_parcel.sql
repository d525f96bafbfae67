CREATE TABLE parcel (
    id       bigint  NOT NULL PRIMARY KEY,
    town     text    NOT NULL,
    grams    bigint  NOT NULL,
    sent_ms  bigint
);

CREATE INDEX parcel_waiting ON parcel (town, grams, id);

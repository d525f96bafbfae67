CREATE TABLE doctor (
    id        INTEGER NOT NULL PRIMARY KEY,
    name      TEXT NOT NULL,
    specialty TEXT NOT NULL CHECK (specialty IN ('general', 'heart', 'skin')),
    room      INTEGER CHECK (room BETWEEN 1 AND 99),
    active    INTEGER NOT NULL CHECK (active IN (0, 1))
) STRICT;

CREATE TABLE patient (
    id      BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    name    TEXT NOT NULL,
    born_on TEXT NOT NULL CHECK (date(born_on) IS born_on AND born_on BETWEEN '1900-01-01' AND '2099-12-31'),
    phone   TEXT UNIQUE,
    insurer TEXT,
    notes   TEXT NOT NULL CHECK (json_valid(notes) AND json_type(notes) = 'object'
            AND (json_type(notes, '$.blood') IS NULL OR json_type(notes, '$.blood') IN ('text', 'null'))
            AND (json_type(notes, '$.allergies') IS NULL OR json_type(notes, '$.allergies') = 'array'))
) STRICT;

CREATE TABLE visit (
    id         INTEGER NOT NULL PRIMARY KEY,
    doctor_id  INTEGER NOT NULL REFERENCES doctor (id),
    patient_id BLOB NOT NULL REFERENCES patient (id) ON DELETE CASCADE,
    starts_at  INTEGER NOT NULL CHECK (starts_at >= 0 AND starts_at < 4102444800000),
    ends_at    INTEGER CHECK (ends_at >= 0 AND ends_at < 4102444800000),
    state      TEXT NOT NULL CHECK (state IN ('booked', 'seen', 'missed')),
    fee_cents  INTEGER CHECK (fee_cents BETWEEN 0 AND 1000000)
) STRICT;

CREATE TABLE prescription (
    id       INTEGER NOT NULL PRIMARY KEY,
    visit_id INTEGER NOT NULL REFERENCES visit (id) ON DELETE CASCADE,
    drug     TEXT NOT NULL,
    dose     REAL NOT NULL CHECK (dose BETWEEN 0 AND 1000),
    days     INTEGER NOT NULL CHECK (days BETWEEN 1 AND 365),
    repeats  INTEGER NOT NULL CHECK (repeats BETWEEN 0 AND 12)
) STRICT;

CREATE TABLE reading (
    visit_id INTEGER NOT NULL REFERENCES visit (id) ON DELETE CASCADE,
    kind     TEXT NOT NULL,
    amount   REAL CHECK (amount BETWEEN -1000 AND 1000),
    PRIMARY KEY (visit_id, kind)
) STRICT;

CREATE TABLE waiting (
    patient_id BLOB NOT NULL CHECK (length(patient_id) = 16),
    doctor_id  INTEGER NOT NULL,
    since_on   TEXT NOT NULL CHECK (date(since_on) IS since_on AND since_on BETWEEN '1900-01-01' AND '2099-12-31'),
    urgency    INTEGER NOT NULL CHECK (urgency BETWEEN 0 AND 3),
    PRIMARY KEY (patient_id, doctor_id)
) STRICT;

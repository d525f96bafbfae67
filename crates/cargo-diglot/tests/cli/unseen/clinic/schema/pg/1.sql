CREATE TABLE doctor (
    id        bigint NOT NULL PRIMARY KEY,
    name      text NOT NULL,
    specialty text NOT NULL CHECK (specialty IN ('general', 'heart', 'skin')),
    room      bigint CHECK (room BETWEEN 1 AND 99),
    active    boolean NOT NULL
);

CREATE TABLE patient (
    id      uuid NOT NULL PRIMARY KEY,
    name    text NOT NULL,
    born_on date NOT NULL CHECK (born_on BETWEEN '1900-01-01' AND '2099-12-31'),
    phone   text UNIQUE,
    insurer text,
    notes   jsonb NOT NULL CHECK (jsonb_typeof(notes) = 'object'
            AND (NOT notes ? 'blood' OR jsonb_typeof(notes -> 'blood') IN ('string', 'null'))
            AND (NOT notes ? 'allergies' OR jsonb_typeof(notes -> 'allergies') = 'array'))
);

CREATE TABLE visit (
    id         bigint NOT NULL PRIMARY KEY,
    doctor_id  bigint NOT NULL REFERENCES doctor (id),
    patient_id uuid NOT NULL REFERENCES patient (id) ON DELETE CASCADE,
    starts_at  timestamptz NOT NULL CHECK (starts_at >= '1970-01-01 00:00:00+00' AND starts_at < '2100-01-01 00:00:00+00'),
    ends_at    timestamptz CHECK (ends_at >= '1970-01-01 00:00:00+00' AND ends_at < '2100-01-01 00:00:00+00'),
    state      text NOT NULL CHECK (state IN ('booked', 'seen', 'missed')),
    fee_cents  bigint CHECK (fee_cents BETWEEN 0 AND 1000000)
);

CREATE TABLE prescription (
    id       bigint NOT NULL PRIMARY KEY,
    visit_id bigint NOT NULL REFERENCES visit (id) ON DELETE CASCADE,
    drug     text NOT NULL,
    dose     double precision NOT NULL CHECK (dose BETWEEN 0 AND 1000),
    days     bigint NOT NULL CHECK (days BETWEEN 1 AND 365),
    repeats  bigint NOT NULL CHECK (repeats BETWEEN 0 AND 12)
);

CREATE TABLE reading (
    visit_id bigint NOT NULL REFERENCES visit (id) ON DELETE CASCADE,
    kind     text NOT NULL,
    amount   double precision CHECK (amount BETWEEN -1000 AND 1000),
    PRIMARY KEY (visit_id, kind)
);

CREATE TABLE waiting (
    patient_id uuid NOT NULL,
    doctor_id  bigint NOT NULL,
    since_on   date NOT NULL CHECK (since_on BETWEEN '1900-01-01' AND '2099-12-31'),
    urgency    bigint NOT NULL CHECK (urgency BETWEEN 0 AND 3),
    PRIMARY KEY (patient_id, doctor_id)
);

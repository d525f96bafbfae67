CREATE TABLE customer (id bigint NOT NULL PRIMARY KEY, name text NOT NULL, level bigint NOT NULL CHECK (level BETWEEN 0 AND 9), note text);
CREATE TABLE purchase (
    id bigint NOT NULL PRIMARY KEY, customer_id bigint NOT NULL REFERENCES customer (id) ON DELETE CASCADE,
    state text NOT NULL CHECK (state IN ('open', 'paid', 'sent')), cents bigint NOT NULL, due_ms bigint,
    doc jsonb NOT NULL DEFAULT '{}', twice bigint GENERATED ALWAYS AS (cents * 2) STORED
);
CREATE TABLE visit (customer_id bigint NOT NULL, day text NOT NULL, hits bigint NOT NULL, rate double precision NOT NULL, PRIMARY KEY (customer_id, day));

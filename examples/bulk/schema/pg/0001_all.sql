CREATE TABLE job (
    id uuid NOT NULL PRIMARY KEY, part smallint NOT NULL, lane text NOT NULL,
    active boolean NOT NULL, doc jsonb NOT NULL, note text, score double precision, payload bytea,
    size integer, epoch bigint NOT NULL);
CREATE TABLE hold (part smallint NOT NULL, word text NOT NULL, n bigint NOT NULL, PRIMARY KEY (part, word));

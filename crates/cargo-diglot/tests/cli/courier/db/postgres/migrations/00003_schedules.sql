-- +goose Up
CREATE TABLE schedule (
    name         text COLLATE "C" NOT NULL PRIMARY KEY,
    kind         text COLLATE "C" NOT NULL,
    every_ms     bigint NOT NULL,
    next_run_ms  bigint NOT NULL,
    enabled      boolean NOT NULL DEFAULT true
);

CREATE TABLE leader (
    name        text COLLATE "C" NOT NULL PRIMARY KEY,
    holder      text COLLATE "C" NOT NULL,
    elected_ms  bigint NOT NULL,
    expires_ms  bigint NOT NULL
);

-- +goose Down
DROP TABLE leader;
DROP TABLE schedule;

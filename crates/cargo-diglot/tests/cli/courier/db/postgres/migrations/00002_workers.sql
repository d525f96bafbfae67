-- +goose Up
CREATE TABLE worker (
    id          text COLLATE "C" NOT NULL PRIMARY KEY,
    queue       text COLLATE "C" NOT NULL,
    slots       integer NOT NULL,
    started_ms  bigint NOT NULL,
    seen_ms     bigint NOT NULL
);

CREATE TABLE queue (
    name       text COLLATE "C" NOT NULL PRIMARY KEY,
    paused_ms  bigint,
    metadata   jsonb NOT NULL DEFAULT '{}'
);

-- +goose Down
DROP TABLE queue;
DROP TABLE worker;

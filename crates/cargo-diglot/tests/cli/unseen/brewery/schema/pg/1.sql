CREATE TABLE recipe (
    id    bigint NOT NULL PRIMARY KEY,
    name  text NOT NULL UNIQUE,
    style text NOT NULL CHECK (style IN ('ale', 'lager', 'stout')),
    hops  jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(hops) = 'array')
);

CREATE TABLE tank (
    id         bigint NOT NULL PRIMARY KEY,
    code       text NOT NULL UNIQUE,
    litres     bigint NOT NULL CHECK (litres BETWEEN 100 AND 50000),
    cleaned_at timestamptz CHECK (cleaned_at >= '1970-01-01 00:00:00+00' AND cleaned_at < '2100-01-01 00:00:00+00')
);

CREATE TABLE batch (
    id        uuid NOT NULL PRIMARY KEY,
    recipe_id bigint NOT NULL REFERENCES recipe (id),
    tank_id   bigint REFERENCES tank (id) ON DELETE SET NULL,
    number    bigint NOT NULL CHECK (number BETWEEN 1 AND 1000000),
    brewed_on date NOT NULL CHECK (brewed_on BETWEEN '1970-01-01' AND '2099-12-31'),
    litres    bigint NOT NULL CHECK (litres BETWEEN 0 AND 50000),
    state     text NOT NULL CHECK (state IN ('fermenting', 'ripe', 'bottled', 'dumped')),
    doc       jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(doc) = 'object'
              AND (NOT doc ? 'abv' OR jsonb_typeof(doc -> 'abv') = 'number' AND (doc ->> 'abv')::numeric BETWEEN 0 AND 200)
              AND (NOT doc ? 'note' OR jsonb_typeof(doc -> 'note') = 'string')),
    UNIQUE (recipe_id, number)
);

CREATE TABLE reading (
    batch_id uuid NOT NULL REFERENCES batch (id) ON DELETE CASCADE,
    taken_at timestamptz NOT NULL CHECK (taken_at >= '1970-01-01 00:00:00+00' AND taken_at < '2100-01-01 00:00:00+00'),
    gravity  bigint NOT NULL CHECK (gravity BETWEEN 900 AND 1200),
    celsius  double precision CHECK (celsius BETWEEN -10.0 AND 120.0),
    PRIMARY KEY (batch_id, taken_at)
);

CREATE TABLE customer (
    id    bigint NOT NULL PRIMARY KEY,
    email text NOT NULL UNIQUE,
    name  text NOT NULL,
    city  text,
    credit_cents bigint NOT NULL DEFAULT 0 CHECK (credit_cents BETWEEN 0 AND 1000000)
);

CREATE TABLE purchase (
    id          bigint NOT NULL PRIMARY KEY,
    customer_id bigint NOT NULL REFERENCES customer (id) ON DELETE CASCADE,
    placed_at   timestamptz NOT NULL CHECK (placed_at >= '1970-01-01 00:00:00+00' AND placed_at < '2100-01-01 00:00:00+00'),
    shipped_at  timestamptz CHECK (shipped_at >= '1970-01-01 00:00:00+00' AND shipped_at < '2100-01-01 00:00:00+00'),
    state       text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'sent', 'void')),
    total_cents bigint NOT NULL DEFAULT 0 CHECK (total_cents BETWEEN 0 AND 100000000),
    CHECK (shipped_at >= placed_at)
);

CREATE TABLE line (
    purchase_id bigint NOT NULL REFERENCES purchase (id) ON DELETE CASCADE,
    position    bigint NOT NULL CHECK (position BETWEEN 1 AND 100),
    batch_id    uuid NOT NULL REFERENCES batch (id),
    bottles     bigint NOT NULL CHECK (bottles BETWEEN 1 AND 1000),
    cents       bigint NOT NULL CHECK (cents BETWEEN 0 AND 10000),
    PRIMARY KEY (purchase_id, position)
);

CREATE TABLE job (
    id        bigint NOT NULL PRIMARY KEY,
    payload   jsonb NOT NULL CHECK (jsonb_typeof(payload) = 'object'
              AND (NOT payload ? 'kind' OR jsonb_typeof(payload -> 'kind') IN ('string', 'null'))
              AND (NOT payload ? 'batch' OR jsonb_typeof(payload -> 'batch') = 'number')),
    state     text NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'busy', 'done', 'dead')),
    tries     bigint NOT NULL DEFAULT 0 CHECK (tries BETWEEN 0 AND 20),
    run_at    timestamptz NOT NULL CHECK (run_at >= '1970-01-01 00:00:00+00' AND run_at < '2100-01-01 00:00:00+00'),
    locked_by text
);

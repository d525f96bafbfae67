CREATE TABLE recipe (
    id    INTEGER NOT NULL PRIMARY KEY,
    name  TEXT NOT NULL UNIQUE,
    style TEXT NOT NULL CHECK (style IN ('ale', 'lager', 'stout')),
    hops  TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(hops) AND json_type(hops) = 'array')
) STRICT;

CREATE TABLE tank (
    id         INTEGER NOT NULL PRIMARY KEY,
    code       TEXT NOT NULL UNIQUE,
    litres     INTEGER NOT NULL CHECK (litres BETWEEN 100 AND 50000),
    cleaned_at INTEGER CHECK (cleaned_at >= 0 AND cleaned_at < 4102444800)
) STRICT;

CREATE TABLE batch (
    id        BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    recipe_id INTEGER NOT NULL REFERENCES recipe (id),
    tank_id   INTEGER REFERENCES tank (id) ON DELETE SET NULL,
    number    INTEGER NOT NULL CHECK (number BETWEEN 1 AND 1000000),
    brewed_on TEXT NOT NULL CHECK (date(brewed_on) IS brewed_on AND brewed_on BETWEEN '1970-01-01' AND '2099-12-31'),
    litres    INTEGER NOT NULL CHECK (litres BETWEEN 0 AND 50000),
    state     TEXT NOT NULL CHECK (state IN ('fermenting', 'ripe', 'bottled', 'dumped')),
    doc       TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(doc) AND json_type(doc) = 'object'
              AND (json_type(doc, '$.abv') IS NULL OR json_type(doc, '$.abv') = 'integer' AND json_extract(doc, '$.abv') BETWEEN 0 AND 200)
              AND (json_type(doc, '$.note') IS NULL OR json_type(doc, '$.note') = 'text')),
    UNIQUE (recipe_id, number)
) STRICT;

CREATE TABLE reading (
    batch_id BLOB NOT NULL REFERENCES batch (id) ON DELETE CASCADE,
    taken_at INTEGER NOT NULL CHECK (taken_at >= 0 AND taken_at < 4102444800),
    gravity  INTEGER NOT NULL CHECK (gravity BETWEEN 900 AND 1200),
    celsius  REAL CHECK (celsius BETWEEN -10.0 AND 120.0),
    PRIMARY KEY (batch_id, taken_at)
) STRICT;

CREATE TABLE customer (
    id    INTEGER NOT NULL PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    name  TEXT NOT NULL,
    city  TEXT,
    credit_cents INTEGER NOT NULL DEFAULT 0 CHECK (credit_cents BETWEEN 0 AND 1000000)
) STRICT;

CREATE TABLE purchase (
    id          INTEGER NOT NULL PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customer (id) ON DELETE CASCADE,
    placed_at   INTEGER NOT NULL CHECK (placed_at >= 0 AND placed_at < 4102444800),
    shipped_at  INTEGER CHECK (shipped_at >= 0 AND shipped_at < 4102444800),
    state       TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'sent', 'void')),
    total_cents INTEGER NOT NULL DEFAULT 0 CHECK (total_cents BETWEEN 0 AND 100000000),
    CHECK (shipped_at >= placed_at)
) STRICT;

CREATE TABLE line (
    purchase_id INTEGER NOT NULL REFERENCES purchase (id) ON DELETE CASCADE,
    position    INTEGER NOT NULL CHECK (position BETWEEN 1 AND 100),
    batch_id    BLOB NOT NULL REFERENCES batch (id),
    bottles     INTEGER NOT NULL CHECK (bottles BETWEEN 1 AND 1000),
    cents       INTEGER NOT NULL CHECK (cents BETWEEN 0 AND 10000),
    PRIMARY KEY (purchase_id, position)
) STRICT;

CREATE TABLE job (
    id        INTEGER NOT NULL PRIMARY KEY,
    payload   TEXT NOT NULL CHECK (json_valid(payload) AND json_type(payload) = 'object'
              AND (json_type(payload, '$.kind') IS NULL OR json_type(payload, '$.kind') IN ('text', 'null'))
              AND (json_type(payload, '$.batch') IS NULL OR json_type(payload, '$.batch') = 'integer')),
    state     TEXT NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'busy', 'done', 'dead')),
    tries     INTEGER NOT NULL DEFAULT 0 CHECK (tries BETWEEN 0 AND 20),
    run_at    INTEGER NOT NULL CHECK (run_at >= 0 AND run_at < 4102444800),
    locked_by TEXT
) STRICT;

CREATE TABLE supplier (
    id      bigint NOT NULL PRIMARY KEY,
    name    text NOT NULL UNIQUE,
    rating  double precision CHECK (rating BETWEEN 0 AND 5),
    country text
);

CREATE TABLE item (
    sku         text NOT NULL PRIMARY KEY,
    supplier_id bigint REFERENCES supplier (id) ON DELETE SET NULL,
    name        text NOT NULL,
    category    text,
    grams       bigint NOT NULL CHECK (grams BETWEEN 0 AND 100000),
    perishable  boolean NOT NULL,
    attrs       jsonb NOT NULL CHECK (jsonb_typeof(attrs) = 'object'
                AND (NOT attrs ? 'color' OR jsonb_typeof(attrs -> 'color') IN ('string', 'null'))
                AND (NOT attrs ? 'size' OR jsonb_typeof(attrs -> 'size') = 'null'
                     OR jsonb_typeof(attrs -> 'size') = 'number' AND attrs ->> 'size' ~ '^-?[0-9]{1,15}$'))
);

CREATE TABLE shelf (
    id       bigint NOT NULL PRIMARY KEY,
    zone     text NOT NULL,
    code     text NOT NULL,
    capacity bigint NOT NULL CHECK (capacity BETWEEN 0 AND 1000),
    cold     boolean NOT NULL,
    UNIQUE (zone, code)
);

CREATE TABLE lot (
    id          bigint NOT NULL PRIMARY KEY,
    sku         text NOT NULL REFERENCES item (sku),
    batch       text,
    qty         bigint NOT NULL CHECK (qty BETWEEN 0 AND 100000),
    cost_cents  bigint CHECK (cost_cents BETWEEN 0 AND 1000000),
    expires_on  date CHECK (expires_on BETWEEN '2000-01-01' AND '2099-12-31'),
    received_ms bigint NOT NULL CHECK (received_ms BETWEEN 0 AND 4102444800000)
);

CREATE TABLE placement (
    lot_id   bigint NOT NULL REFERENCES lot (id) ON DELETE CASCADE,
    shelf_id bigint NOT NULL REFERENCES shelf (id),
    qty      bigint NOT NULL CHECK (qty BETWEEN 0 AND 1000),
    PRIMARY KEY (lot_id, shelf_id)
);

CREATE TABLE tally (
    id         bigint NOT NULL PRIMARY KEY,
    lot_id     bigint NOT NULL REFERENCES lot (id) ON DELETE CASCADE,
    shelf_id   bigint NOT NULL,
    counted    bigint CHECK (counted BETWEEN 0 AND 1000),
    counted_ms bigint NOT NULL CHECK (counted_ms BETWEEN 0 AND 4102444800000),
    clerk      text
);

CREATE TABLE movement (
    id     bigint NOT NULL PRIMARY KEY,
    lot_id bigint NOT NULL,
    kind   text NOT NULL CHECK (kind IN ('in', 'out', 'adjust')),
    qty    bigint NOT NULL CHECK (qty BETWEEN -1000 AND 1000),
    at_ms  bigint NOT NULL CHECK (at_ms BETWEEN 0 AND 4102444800000),
    reason text
);

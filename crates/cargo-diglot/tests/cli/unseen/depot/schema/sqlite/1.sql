CREATE TABLE supplier (
    id      INTEGER NOT NULL PRIMARY KEY,
    name    TEXT NOT NULL UNIQUE,
    rating  REAL CHECK (rating BETWEEN 0 AND 5),
    country TEXT
) STRICT;

CREATE TABLE item (
    sku         TEXT NOT NULL PRIMARY KEY,
    supplier_id INTEGER REFERENCES supplier (id) ON DELETE SET NULL,
    name        TEXT NOT NULL,
    category    TEXT,
    grams       INTEGER NOT NULL CHECK (grams BETWEEN 0 AND 100000),
    perishable  INTEGER NOT NULL CHECK (perishable IN (0, 1)),
    attrs       TEXT NOT NULL CHECK (json_valid(attrs) AND json_type(attrs) = 'object'
                AND (json_type(attrs, '$.color') IS NULL OR json_type(attrs, '$.color') IN ('text', 'null'))
                AND (json_type(attrs, '$.size') IS NULL OR json_type(attrs, '$.size') IN ('integer', 'null')))
) STRICT;

CREATE TABLE shelf (
    id       INTEGER NOT NULL PRIMARY KEY,
    zone     TEXT NOT NULL,
    code     TEXT NOT NULL,
    capacity INTEGER NOT NULL CHECK (capacity BETWEEN 0 AND 1000),
    cold     INTEGER NOT NULL CHECK (cold IN (0, 1)),
    UNIQUE (zone, code)
) STRICT;

CREATE TABLE lot (
    id          INTEGER NOT NULL PRIMARY KEY,
    sku         TEXT NOT NULL REFERENCES item (sku),
    batch       TEXT,
    qty         INTEGER NOT NULL CHECK (qty BETWEEN 0 AND 100000),
    cost_cents  INTEGER CHECK (cost_cents BETWEEN 0 AND 1000000),
    expires_on  TEXT CHECK (date(expires_on) IS expires_on AND expires_on BETWEEN '2000-01-01' AND '2099-12-31'),
    received_ms INTEGER NOT NULL CHECK (received_ms BETWEEN 0 AND 4102444800000)
) STRICT;

CREATE TABLE placement (
    lot_id   INTEGER NOT NULL REFERENCES lot (id) ON DELETE CASCADE,
    shelf_id INTEGER NOT NULL REFERENCES shelf (id),
    qty      INTEGER NOT NULL CHECK (qty BETWEEN 0 AND 1000),
    PRIMARY KEY (lot_id, shelf_id)
) STRICT;

CREATE TABLE tally (
    id         INTEGER NOT NULL PRIMARY KEY,
    lot_id     INTEGER NOT NULL REFERENCES lot (id) ON DELETE CASCADE,
    shelf_id   INTEGER NOT NULL,
    counted    INTEGER CHECK (counted BETWEEN 0 AND 1000),
    counted_ms INTEGER NOT NULL CHECK (counted_ms BETWEEN 0 AND 4102444800000),
    clerk      TEXT
) STRICT;

CREATE TABLE movement (
    id     INTEGER NOT NULL PRIMARY KEY,
    lot_id INTEGER NOT NULL,
    kind   TEXT NOT NULL CHECK (kind IN ('in', 'out', 'adjust')),
    qty    INTEGER NOT NULL CHECK (qty BETWEEN -1000 AND 1000),
    at_ms  INTEGER NOT NULL CHECK (at_ms BETWEEN 0 AND 4102444800000),
    reason TEXT
) STRICT;

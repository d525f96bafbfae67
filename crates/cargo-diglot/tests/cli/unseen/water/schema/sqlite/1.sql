CREATE TABLE zone (
    id         INTEGER NOT NULL PRIMARY KEY,
    parent_id  INTEGER REFERENCES zone (id) ON DELETE CASCADE,
    name       TEXT NOT NULL UNIQUE,
    population INTEGER NOT NULL DEFAULT 0 CHECK (population BETWEEN 0 AND 1000000)
) STRICT;

CREATE TABLE meter (
    id           INTEGER NOT NULL PRIMARY KEY,
    serial       TEXT NOT NULL UNIQUE CHECK (length(serial) BETWEEN 1 AND 8),
    zone_id      INTEGER REFERENCES zone (id) ON DELETE SET NULL,
    kind         TEXT NOT NULL CHECK (kind IN ('house', 'farm', 'factory')),
    installed_on TEXT NOT NULL CHECK (date(installed_on) IS installed_on AND installed_on BETWEEN '1970-01-01' AND '2090-12-31'),
    removed_on   TEXT CHECK (date(removed_on) IS removed_on AND removed_on BETWEEN '1970-01-01' AND '2090-12-31'),
    spec         TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(spec) AND json_type(spec) = 'object'
                 AND (json_type(spec, '$.remote') IS NULL OR json_type(spec, '$.remote') IN ('true', 'false', 'null'))
                 AND (json_type(spec, '$.size') IS NULL OR json_type(spec, '$.size') IN ('integer', 'null')))
) STRICT;

CREATE TABLE reading (
    meter_id INTEGER NOT NULL REFERENCES meter (id) ON DELETE CASCADE,
    taken_at INTEGER NOT NULL CHECK (taken_at >= 0 AND taken_at < 4102444800),
    litres   INTEGER NOT NULL CHECK (litres BETWEEN 0 AND 1000000000),
    source   TEXT NOT NULL DEFAULT 'remote' CHECK (source IN ('remote', 'person', 'guess')),
    cubic    INTEGER GENERATED ALWAYS AS (litres / 1000) STORED,
    PRIMARY KEY (meter_id, taken_at)
) STRICT;

CREATE TABLE tariff (
    kind       TEXT NOT NULL CHECK (kind IN ('house', 'farm', 'factory')),
    starts_on  TEXT NOT NULL CHECK (date(starts_on) IS starts_on AND starts_on BETWEEN '1970-01-02' AND '2090-12-31'),
    cents      INTEGER NOT NULL CHECK (cents BETWEEN 0 AND 1000),
    base_cents INTEGER NOT NULL DEFAULT 0 CHECK (base_cents BETWEEN 0 AND 100000),
    PRIMARY KEY (kind, starts_on)
) STRICT;

CREATE TABLE account (
    id        INTEGER NOT NULL PRIMARY KEY,
    customer  TEXT NOT NULL,
    email     TEXT CHECK (email LIKE '%_@_%'),
    phone     TEXT,
    balance   INTEGER NOT NULL DEFAULT 0 CHECK (balance BETWEEN -1000000 AND 1000000),
    closed_at TEXT CHECK (strftime('%Y-%m-%dT%H:%M:%SZ', closed_at) IS closed_at AND closed_at BETWEEN '1970-01-01T00:00:00Z' AND '2099-12-31T23:59:59Z')
) STRICT;

CREATE TABLE supply (
    account_id INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    meter_id   INTEGER NOT NULL REFERENCES meter (id) ON DELETE CASCADE,
    begins_on  TEXT NOT NULL CHECK (date(begins_on) IS begins_on AND begins_on BETWEEN '1970-01-01' AND '2090-12-31'),
    ends_on    TEXT CHECK (date(ends_on) IS ends_on AND ends_on BETWEEN '1970-01-01' AND '2090-12-31'),
    PRIMARY KEY (account_id, meter_id, begins_on),
    CHECK (ends_on IS NULL OR ends_on >= begins_on)
) STRICT;

CREATE UNIQUE INDEX supply_open ON supply (meter_id) WHERE ends_on IS NULL;

CREATE TABLE bill (
    id         INTEGER NOT NULL PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    period     TEXT NOT NULL CHECK (date(period || '-01') IS period || '-01' AND period BETWEEN '1971-01' AND '2090-12'),
    cents      INTEGER NOT NULL DEFAULT 0 CHECK (cents BETWEEN -1000000000 AND 1000000000),
    state      TEXT NOT NULL DEFAULT 'draft' CHECK (state IN ('draft', 'sent', 'paid', 'void')),
    due_on     TEXT NOT NULL CHECK (date(due_on) IS due_on AND due_on BETWEEN '1970-01-01' AND '2090-12-31'),
    paid_at    TEXT CHECK (strftime('%Y-%m-%dT%H:%M:%SZ', paid_at) IS paid_at AND paid_at BETWEEN '1970-01-01T00:00:00Z' AND '2099-12-31T23:59:59Z')
) STRICT;

CREATE UNIQUE INDEX bill_of_period ON bill (account_id, period) WHERE state <> 'void';

CREATE TABLE bill_line (
    bill_id INTEGER NOT NULL REFERENCES bill (id) ON DELETE CASCADE,
    line    INTEGER NOT NULL CHECK (line BETWEEN 1 AND 100),
    what    TEXT NOT NULL,
    cents   INTEGER NOT NULL CHECK (cents BETWEEN 0 AND 1000000),
    PRIMARY KEY (bill_id, line)
) STRICT;

CREATE TRIGGER bill_line_added AFTER INSERT ON bill_line BEGIN
    UPDATE bill SET cents = cents + NEW.cents WHERE id = NEW.bill_id;
END;

CREATE TRIGGER bill_line_removed AFTER DELETE ON bill_line BEGIN
    UPDATE bill SET cents = cents - OLD.cents WHERE id = OLD.bill_id;
END;

CREATE TABLE alarm (
    id         INTEGER NOT NULL PRIMARY KEY,
    meter_id   INTEGER NOT NULL REFERENCES meter (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL CHECK (kind IN ('leak', 'frost', 'battery')),
    raised_at  TEXT NOT NULL CHECK (strftime('%Y-%m-%dT%H:%M:%SZ', raised_at) IS raised_at AND raised_at BETWEEN '1970-01-01T00:00:00Z' AND '2099-12-31T23:59:59Z'),
    cleared_at TEXT CHECK (strftime('%Y-%m-%dT%H:%M:%SZ', cleared_at) IS cleared_at AND cleared_at BETWEEN '1970-01-01T00:00:00Z' AND '2099-12-31T23:59:59Z'),
    data       TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(data) AND json_type(data) = 'object'
               AND (json_type(data, '$.level') IS NULL OR json_type(data, '$.level') IN ('integer', 'null')))
) STRICT;

CREATE TABLE job (
    id       INTEGER NOT NULL PRIMARY KEY,
    zone_id  INTEGER REFERENCES zone (id) ON DELETE SET NULL,
    crew     TEXT,
    state    TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'taken', 'done')),
    priority INTEGER NOT NULL DEFAULT 3 CHECK (priority BETWEEN 1 AND 5),
    due_on   TEXT NOT NULL CHECK (date(due_on) IS due_on AND due_on BETWEEN '1970-01-01' AND '2090-12-31'),
    log      TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(log) AND json_type(log) = 'array'),
    version  INTEGER NOT NULL DEFAULT 1 CHECK (version BETWEEN 1 AND 1000000)
) STRICT;

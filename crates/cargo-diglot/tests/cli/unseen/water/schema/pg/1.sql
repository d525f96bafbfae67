CREATE TABLE zone (
    id         bigint NOT NULL PRIMARY KEY,
    parent_id  bigint REFERENCES zone (id) ON DELETE CASCADE,
    name       text NOT NULL UNIQUE,
    population integer NOT NULL DEFAULT 0 CHECK (population BETWEEN 0 AND 1000000)
);

CREATE TABLE meter (
    id           bigint NOT NULL PRIMARY KEY,
    serial       text NOT NULL UNIQUE CHECK (length(serial) BETWEEN 1 AND 8),
    zone_id      bigint REFERENCES zone (id) ON DELETE SET NULL,
    kind         text NOT NULL CHECK (kind IN ('house', 'farm', 'factory')),
    installed_on date NOT NULL CHECK (installed_on BETWEEN '1970-01-01' AND '2090-12-31'),
    removed_on   date CHECK (removed_on BETWEEN '1970-01-01' AND '2090-12-31'),
    spec         jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(spec) = 'object'
                 AND (NOT spec ? 'remote' OR jsonb_typeof(spec -> 'remote') IN ('boolean', 'null'))
                 AND (NOT spec ? 'size' OR jsonb_typeof(spec -> 'size') IN ('number', 'null')))
);

CREATE TABLE reading (
    meter_id bigint NOT NULL REFERENCES meter (id) ON DELETE CASCADE,
    taken_at timestamptz NOT NULL CHECK (taken_at >= '1970-01-01 00:00:00+00' AND taken_at < '2100-01-01 00:00:00+00'),
    litres   bigint NOT NULL CHECK (litres BETWEEN 0 AND 1000000000),
    source   text NOT NULL DEFAULT 'remote' CHECK (source IN ('remote', 'person', 'guess')),
    cubic    bigint GENERATED ALWAYS AS (litres / 1000) STORED,
    PRIMARY KEY (meter_id, taken_at)
);

CREATE TABLE tariff (
    kind       text NOT NULL CHECK (kind IN ('house', 'farm', 'factory')),
    starts_on  date NOT NULL CHECK (starts_on BETWEEN '1970-01-02' AND '2090-12-31'),
    cents      integer NOT NULL CHECK (cents BETWEEN 0 AND 1000),
    base_cents integer NOT NULL DEFAULT 0 CHECK (base_cents BETWEEN 0 AND 100000),
    PRIMARY KEY (kind, starts_on)
);

CREATE TABLE account (
    id        bigint NOT NULL PRIMARY KEY,
    customer  text NOT NULL,
    email     text CHECK (email LIKE '%_@_%'),
    phone     text,
    balance   integer NOT NULL DEFAULT 0 CHECK (balance BETWEEN -1000000 AND 1000000),
    closed_at timestamptz CHECK (closed_at >= '1970-01-01 00:00:00+00' AND closed_at < '2100-01-01 00:00:00+00')
);

CREATE TABLE supply (
    account_id bigint NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    meter_id   bigint NOT NULL REFERENCES meter (id) ON DELETE CASCADE,
    begins_on  date NOT NULL CHECK (begins_on BETWEEN '1970-01-01' AND '2090-12-31'),
    ends_on    date CHECK (ends_on BETWEEN '1970-01-01' AND '2090-12-31'),
    PRIMARY KEY (account_id, meter_id, begins_on),
    CHECK (ends_on IS NULL OR ends_on >= begins_on)
);

CREATE UNIQUE INDEX supply_open ON supply (meter_id) WHERE ends_on IS NULL;

CREATE TABLE bill (
    id         bigint NOT NULL PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    period     text NOT NULL CHECK (period ~ '^(19|20)[0-9][0-9]-(0[1-9]|1[0-2])$' AND period BETWEEN '1971-01' AND '2090-12'),
    cents      integer NOT NULL DEFAULT 0 CHECK (cents BETWEEN -1000000000 AND 1000000000),
    state      text NOT NULL DEFAULT 'draft' CHECK (state IN ('draft', 'sent', 'paid', 'void')),
    due_on     date NOT NULL CHECK (due_on BETWEEN '1970-01-01' AND '2090-12-31'),
    paid_at    timestamptz CHECK (paid_at >= '1970-01-01 00:00:00+00' AND paid_at < '2100-01-01 00:00:00+00')
);

CREATE UNIQUE INDEX bill_of_period ON bill (account_id, period) WHERE state <> 'void';

CREATE TABLE bill_line (
    bill_id bigint NOT NULL REFERENCES bill (id) ON DELETE CASCADE,
    line    integer NOT NULL CHECK (line BETWEEN 1 AND 100),
    what    text NOT NULL,
    cents   integer NOT NULL CHECK (cents BETWEEN 0 AND 1000000),
    PRIMARY KEY (bill_id, line)
);

CREATE FUNCTION bill_line_summed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        UPDATE bill SET cents = cents + NEW.cents WHERE id = NEW.bill_id;
    ELSE
        UPDATE bill SET cents = cents - OLD.cents WHERE id = OLD.bill_id;
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER bill_line_summed AFTER INSERT OR DELETE ON bill_line FOR EACH ROW EXECUTE FUNCTION bill_line_summed();

CREATE TABLE alarm (
    id         bigint NOT NULL PRIMARY KEY,
    meter_id   bigint NOT NULL REFERENCES meter (id) ON DELETE CASCADE,
    kind       text NOT NULL CHECK (kind IN ('leak', 'frost', 'battery')),
    raised_at  timestamptz NOT NULL CHECK (raised_at >= '1970-01-01 00:00:00+00' AND raised_at < '2100-01-01 00:00:00+00'),
    cleared_at timestamptz CHECK (cleared_at >= '1970-01-01 00:00:00+00' AND cleared_at < '2100-01-01 00:00:00+00'),
    data       jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(data) = 'object'
               AND (NOT data ? 'level' OR jsonb_typeof(data -> 'level') IN ('number', 'null')))
);

CREATE TABLE job (
    id       bigint NOT NULL PRIMARY KEY,
    zone_id  bigint REFERENCES zone (id) ON DELETE SET NULL,
    crew     text,
    state    text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'taken', 'done')),
    priority integer NOT NULL DEFAULT 3 CHECK (priority BETWEEN 1 AND 5),
    due_on   date NOT NULL CHECK (due_on BETWEEN '1970-01-01' AND '2090-12-31'),
    log      jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(log) = 'array'),
    version  integer NOT NULL DEFAULT 1 CHECK (version BETWEEN 1 AND 1000000)
);

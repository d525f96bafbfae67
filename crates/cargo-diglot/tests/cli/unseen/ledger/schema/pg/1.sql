CREATE TYPE holder_kind AS ENUM ('person', 'firm', 'club');

CREATE TABLE holder (
    id       uuid NOT NULL PRIMARY KEY,
    name     text NOT NULL CHECK (length(name) BETWEEN 1 AND 80),
    nick     text,
    kind     holder_kind NOT NULL,
    since_at timestamptz NOT NULL CHECK (since_at >= '1970-01-01 00:00:00+00' AND since_at < '2100-01-01 00:00:00+00'),
    active   boolean NOT NULL DEFAULT true,
    labels   text[] NOT NULL DEFAULT '{}'
);

CREATE TABLE account (
    id        uuid NOT NULL PRIMARY KEY,
    holder_id uuid NOT NULL REFERENCES holder (id) ON DELETE CASCADE,
    currency  text NOT NULL DEFAULT 'EUR' CHECK (currency IN ('EUR', 'USD', 'JPY')),
    balance   bigint NOT NULL DEFAULT 0 CHECK (balance BETWEEN 0 AND 1000000000),
    opened_at timestamptz NOT NULL CHECK (opened_at >= '1970-01-01 00:00:00+00' AND opened_at < '2100-01-01 00:00:00+00'),
    closed_at timestamptz CHECK (closed_at >= '1970-01-01 00:00:00+00' AND closed_at < '2100-01-01 00:00:00+00')
);

CREATE INDEX account_holder ON account (holder_id);

CREATE TABLE entry (
    id         bigint NOT NULL PRIMARY KEY,
    account_id uuid NOT NULL REFERENCES account (id) ON DELETE RESTRICT,
    kind       text NOT NULL CHECK (kind IN ('in', 'out', 'fee')),
    amount     bigint NOT NULL CHECK (amount BETWEEN 1 AND 100000000),
    memo       text,
    booked_at  timestamptz NOT NULL CHECK (booked_at >= '1970-01-01 00:00:00+00' AND booked_at < '2100-01-01 00:00:00+00'),
    reverses   bigint UNIQUE REFERENCES entry (id) ON DELETE CASCADE
);

CREATE TABLE rate (
    currency text NOT NULL CHECK (currency IN ('EUR', 'USD', 'JPY')),
    day      date NOT NULL CHECK (day BETWEEN '1970-01-02' AND '2090-12-31'),
    micros   bigint NOT NULL CHECK (micros BETWEEN 1 AND 1000000000),
    PRIMARY KEY (currency, day)
);

CREATE TABLE standing (
    id         bigint NOT NULL PRIMARY KEY,
    account_id uuid NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    every      text NOT NULL CHECK (every IN ('day', 'week', 'month')),
    next_on    date NOT NULL CHECK (next_on BETWEEN '1970-01-01' AND '2090-12-31'),
    amount     integer NOT NULL CHECK (amount BETWEEN 1 AND 1000000),
    paused     boolean NOT NULL DEFAULT false,
    failures   integer NOT NULL DEFAULT 0 CHECK (failures BETWEEN 0 AND 100)
);

CREATE TABLE audit (
    id      bigint NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    what    text NOT NULL,
    who     text,
    made_at timestamptz NOT NULL CHECK (made_at >= '1970-01-01 00:00:00+00' AND made_at < '2100-01-01 00:00:00+00')
);

CREATE FUNCTION account_closed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE standing SET paused = true WHERE account_id = NEW.id;
    RETURN NULL;
END
$$;

CREATE TRIGGER account_closed AFTER UPDATE OF closed_at ON account FOR EACH ROW
  WHEN (NEW.closed_at IS NOT NULL AND OLD.closed_at IS NULL) EXECUTE FUNCTION account_closed();

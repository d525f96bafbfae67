CREATE TABLE room (
    code     text NOT NULL PRIMARY KEY CHECK (length(code) BETWEEN 1 AND 6),
    wing     text NOT NULL CHECK (wing IN ('north', 'south', 'cellar')),
    capacity integer NOT NULL CHECK (capacity BETWEEN 0 AND 500),
    closed   boolean NOT NULL DEFAULT false,
    humidity double precision CHECK (humidity BETWEEN 0 AND 100)
);

CREATE TABLE piece (
    id          bigint NOT NULL PRIMARY KEY,
    inventory   text NOT NULL UNIQUE CHECK (length(inventory) BETWEEN 1 AND 12),
    title       text NOT NULL,
    room_code   text REFERENCES room (code) ON UPDATE CASCADE ON DELETE SET NULL,
    part_of     bigint REFERENCES piece (id) ON DELETE CASCADE,
    state       text NOT NULL DEFAULT 'shown' CHECK (state IN ('shown', 'stored', 'lent', 'repair')),
    worth       bigint CHECK (worth BETWEEN 0 AND 100000000),
    grams       bigint NOT NULL DEFAULT 0 CHECK (grams BETWEEN 0 AND 10000000),
    bought_on   date CHECK (bought_on BETWEEN '1800-01-01' AND '2090-12-31'),
    facts       jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(facts) = 'object'
                AND (NOT facts ? 'year' OR jsonb_typeof(facts -> 'year') IN ('number', 'null'))
                AND (NOT facts ? 'signed' OR jsonb_typeof(facts -> 'signed') IN ('boolean', 'null'))
                AND (NOT facts ? 'maker' OR jsonb_typeof(facts -> 'maker') IN ('string', 'null'))),
    keywords    jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(keywords) = 'array'),
    revision    integer NOT NULL DEFAULT 1 CHECK (revision BETWEEN 1 AND 1000000)
);

CREATE TABLE loan (
    id          bigint NOT NULL PRIMARY KEY,
    piece_id    bigint NOT NULL REFERENCES piece (id) ON DELETE CASCADE,
    borrower    text NOT NULL,
    sent_at     timestamptz NOT NULL CHECK (sent_at >= '1970-01-01 00:00:00+00' AND sent_at < '2100-01-01 00:00:00+00'),
    returned_at timestamptz CHECK (returned_at >= '1970-01-01 00:00:00+00' AND returned_at < '2100-01-01 00:00:00+00'),
    fee         integer NOT NULL DEFAULT 0 CHECK (fee BETWEEN 0 AND 1000000),
    paid        integer NOT NULL DEFAULT 0 CHECK (paid BETWEEN 0 AND 1000000),
    CHECK (returned_at IS NULL OR returned_at >= sent_at)
);

CREATE UNIQUE INDEX loan_open ON loan (piece_id) WHERE returned_at IS NULL;

CREATE TABLE show (
    id        bigint NOT NULL PRIMARY KEY,
    title     text NOT NULL,
    opens_on  date NOT NULL CHECK (opens_on BETWEEN '1970-01-01' AND '2090-12-31'),
    closes_on date CHECK (closes_on BETWEEN '1970-01-01' AND '2090-12-31'),
    price     integer NOT NULL CHECK (price BETWEEN 0 AND 10000),
    curator   text,
    CHECK (closes_on IS NULL OR closes_on >= opens_on)
);

CREATE TABLE exhibit (
    show_id  bigint NOT NULL REFERENCES show (id) ON DELETE CASCADE,
    piece_id bigint NOT NULL REFERENCES piece (id) ON DELETE RESTRICT,
    place    integer NOT NULL CHECK (place BETWEEN 1 AND 1000),
    note     text,
    PRIMARY KEY (show_id, piece_id)
);

CREATE TABLE visitor (
    id        bigint NOT NULL PRIMARY KEY,
    name      text NOT NULL,
    email     text CHECK (email LIKE '%_@_%'),
    born_on   date CHECK (born_on BETWEEN '1900-01-01' AND '2090-12-31'),
    member_no integer UNIQUE CHECK (member_no BETWEEN 1 AND 1000000),
    points    integer NOT NULL DEFAULT 0 CHECK (points BETWEEN -1000000 AND 1000000),
    banned    boolean NOT NULL DEFAULT false,
    prefs     jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(prefs) = 'object'
              AND (NOT prefs ? 'lang' OR jsonb_typeof(prefs -> 'lang') IN ('string', 'null'))),
    joined_at timestamptz NOT NULL CHECK (joined_at >= '1970-01-01 00:00:00+00' AND joined_at < '2100-01-01 00:00:00+00')
);

CREATE TABLE ticket (
    id         bigint NOT NULL PRIMARY KEY,
    show_id    bigint NOT NULL REFERENCES show (id) ON DELETE CASCADE,
    visitor_id bigint REFERENCES visitor (id) ON DELETE SET NULL,
    kind       text NOT NULL DEFAULT 'full' CHECK (kind IN ('full', 'child', 'group', 'free')),
    heads      integer NOT NULL DEFAULT 1 CHECK (heads BETWEEN 1 AND 50),
    cents      integer NOT NULL CHECK (cents BETWEEN 0 AND 500000),
    sold_at    timestamptz NOT NULL CHECK (sold_at >= '1970-01-01 00:00:00+00' AND sold_at < '2100-01-01 00:00:00+00'),
    used_at    timestamptz CHECK (used_at >= '1970-01-01 00:00:00+00' AND used_at < '2100-01-01 00:00:00+00')
);

CREATE TABLE takings (
    show_id bigint NOT NULL PRIMARY KEY REFERENCES show (id) ON DELETE CASCADE,
    cents   bigint NOT NULL DEFAULT 0,
    tickets bigint NOT NULL DEFAULT 0
);

CREATE FUNCTION ticket_sold() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO takings AS t (show_id, cents, tickets) VALUES (NEW.show_id, NEW.cents, 1)
    ON CONFLICT (show_id) DO UPDATE SET cents = t.cents + EXCLUDED.cents, tickets = t.tickets + 1;
    RETURN NULL;
END
$$;

CREATE TRIGGER ticket_sold AFTER INSERT ON ticket FOR EACH ROW EXECUTE FUNCTION ticket_sold();

CREATE TABLE repair (
    id        bigint NOT NULL PRIMARY KEY,
    piece_id  bigint NOT NULL REFERENCES piece (id) ON DELETE CASCADE,
    stage     text NOT NULL DEFAULT 'queued' CHECK (stage IN ('queued', 'bench', 'done', 'given_up')),
    urgency   integer NOT NULL DEFAULT 0 CHECK (urgency BETWEEN 0 AND 9),
    worker    text,
    hours     double precision NOT NULL DEFAULT 0 CHECK (hours BETWEEN 0 AND 10000),
    queued_at timestamptz NOT NULL CHECK (queued_at >= '1970-01-01 00:00:00+00' AND queued_at < '2100-01-01 00:00:00+00')
);

CREATE TABLE measure (
    room_code text NOT NULL REFERENCES room (code) ON UPDATE CASCADE ON DELETE CASCADE,
    taken_at  timestamptz NOT NULL CHECK (taken_at >= '1970-01-01 00:00:00+00' AND taken_at < '2100-01-01 00:00:00+00'),
    degrees   double precision NOT NULL CHECK (degrees BETWEEN -50 AND 80),
    ok        boolean,
    PRIMARY KEY (room_code, taken_at)
);

CREATE TABLE climber (
    id        bigint NOT NULL PRIMARY KEY,
    name      text COLLATE "C" NOT NULL,
    email     text COLLATE "C" CHECK (email LIKE '%_@_%'),
    born      date NOT NULL CHECK (born BETWEEN '1920-01-01' AND '2090-12-31'),
    joined_at timestamptz NOT NULL DEFAULT now() CHECK (joined_at >= '1970-01-01 00:00:00+00' AND joined_at < '2100-01-01 00:00:00+00'),
    left_at   timestamptz CHECK (left_at >= '1970-01-01 00:00:00+00' AND left_at < '2100-01-01 00:00:00+00'),
    cents     integer NOT NULL DEFAULT 0 CHECK (cents BETWEEN -100000 AND 100000),
    card      jsonb NOT NULL CHECK (jsonb_typeof(card) = 'object' AND card ? 'badges' AND jsonb_typeof(card -> 'badges') = 'array'
              AND (NOT card ? 'level' OR jsonb_typeof(card -> 'level') IN ('number', 'null')))
);

CREATE UNIQUE INDEX climber_email ON climber (email) WHERE left_at IS NULL;

CREATE TABLE route (
    id          bigint NOT NULL PRIMARY KEY,
    sector      text COLLATE "C" NOT NULL CHECK (sector IN ('slab', 'roof', 'cave')),
    grade       integer NOT NULL CHECK (grade BETWEEN 1 AND 12),
    color       text COLLATE "C" NOT NULL DEFAULT 'grey',
    metres      double precision NOT NULL CHECK (metres BETWEEN 1 AND 50),
    setter_id   bigint REFERENCES climber (id) ON DELETE SET NULL,
    set_on      date NOT NULL CHECK (set_on BETWEEN '1970-01-01' AND '2099-12-31'),
    stripped_on date CHECK (stripped_on BETWEEN '1970-01-01' AND '2099-12-31'),
    label       text COLLATE "C" GENERATED ALWAYS AS (sector || '-' || grade::text) STORED,
    CHECK (stripped_on IS NULL OR stripped_on >= set_on)
);

CREATE TABLE ascent (
    climber_id bigint NOT NULL REFERENCES climber (id) ON DELETE CASCADE,
    route_id   bigint NOT NULL REFERENCES route (id) ON DELETE CASCADE,
    tried_at   timestamptz NOT NULL CHECK (tried_at >= '1970-01-01 00:00:00+00' AND tried_at < '2100-01-01 00:00:00+00'),
    style      text COLLATE "C" NOT NULL CHECK (style IN ('flash', 'redpoint', 'toprope', 'fell')),
    falls      integer NOT NULL DEFAULT 0 CHECK (falls BETWEEN 0 AND 100),
    stars      integer CHECK (stars BETWEEN 1 AND 5),
    PRIMARY KEY (climber_id, route_id, tried_at)
);

CREATE TABLE course (
    id         bigint NOT NULL PRIMARY KEY,
    title      text COLLATE "C" NOT NULL,
    begins_at  timestamptz NOT NULL CHECK (begins_at >= '1970-01-01 00:00:00+00' AND begins_at < '2100-01-01 00:00:00+00'),
    ends_at    timestamptz NOT NULL CHECK (ends_at >= '1970-01-01 00:00:00+00' AND ends_at < '2100-01-01 00:00:00+00'),
    seats      integer NOT NULL CHECK (seats BETWEEN 1 AND 30),
    price      numeric(6, 2) NOT NULL CHECK (price >= 0),
    teacher_id bigint REFERENCES climber (id) ON DELETE RESTRICT,
    CHECK (ends_at > begins_at)
);

CREATE TABLE booking (
    course_id  bigint NOT NULL REFERENCES course (id) ON DELETE CASCADE,
    climber_id bigint NOT NULL REFERENCES climber (id) ON DELETE CASCADE,
    state      text COLLATE "C" NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'booked', 'done')),
    booked_at  timestamptz NOT NULL CHECK (booked_at >= '1970-01-01 00:00:00+00' AND booked_at < '2100-01-01 00:00:00+00'),
    paid_cents integer NOT NULL DEFAULT 0 CHECK (paid_cents BETWEEN 0 AND 100000),
    PRIMARY KEY (course_id, climber_id)
);

CREATE TABLE cancelled (
    climber_id bigint NOT NULL PRIMARY KEY,
    n          integer NOT NULL DEFAULT 1
);

CREATE FUNCTION booking_cancelled() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO cancelled AS c (climber_id) VALUES (OLD.climber_id) ON CONFLICT (climber_id) DO UPDATE SET n = c.n + 1;
    RETURN NULL;
END
$$;

CREATE TRIGGER booking_cancelled AFTER DELETE ON booking FOR EACH ROW WHEN (OLD.state = 'booked') EXECUTE FUNCTION booking_cancelled();

CREATE TABLE locker (
    number     integer NOT NULL PRIMARY KEY CHECK (number BETWEEN 1 AND 500),
    climber_id bigint UNIQUE REFERENCES climber (id) ON DELETE SET NULL,
    paid_until date CHECK (paid_until BETWEEN '1970-01-01' AND '2099-12-31'),
    code       text COLLATE "C" NOT NULL CHECK (length(code) BETWEEN 3 AND 8)
);

CREATE TABLE visit (
    id         bigint NOT NULL PRIMARY KEY,
    climber_id bigint NOT NULL REFERENCES climber (id) ON DELETE CASCADE,
    in_at      timestamptz NOT NULL CHECK (in_at >= '1970-01-01 00:00:00+00' AND in_at < '2100-01-01 00:00:00+00'),
    out_at     timestamptz CHECK (out_at >= '1970-01-01 00:00:00+00' AND out_at < '2100-01-01 00:00:00+00')
);

CREATE UNIQUE INDEX visit_open ON visit (climber_id) WHERE out_at IS NULL;

CREATE TABLE opening (
    weekday integer NOT NULL PRIMARY KEY CHECK (weekday BETWEEN 0 AND 6),
    opens   time NOT NULL,
    closes  time NOT NULL,
    CHECK (closes > opens)
);

CREATE TABLE outbox (
    id           bigint NOT NULL PRIMARY KEY,
    kind         text COLLATE "C" NOT NULL CHECK (kind IN ('bill', 'news', 'alarm')),
    state        text COLLATE "C" NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'sending', 'sent', 'dead')),
    run_at       timestamptz NOT NULL CHECK (run_at >= '1970-01-01 00:00:00+00' AND run_at < '2100-01-01 00:00:00+00'),
    tries        integer NOT NULL DEFAULT 0 CHECK (tries BETWEEN 0 AND 20),
    body         jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(body) = 'object')
);

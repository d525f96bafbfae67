CREATE TABLE team (
    id   bigint NOT NULL PRIMARY KEY,
    name text NOT NULL UNIQUE,
    city text,
    seed bigint CHECK (seed BETWEEN 1 AND 64),
    meta jsonb NOT NULL CHECK (jsonb_typeof(meta) = 'object'
         AND (NOT meta ? 'founded' OR jsonb_typeof(meta -> 'founded') = 'null'
              OR jsonb_typeof(meta -> 'founded') = 'number' AND meta ->> 'founded' NOT LIKE '%.%')
         AND (NOT meta ? 'colors' OR jsonb_typeof(meta -> 'colors') = 'array'))
);

CREATE TABLE player (
    id      bigint NOT NULL PRIMARY KEY,
    team_id bigint REFERENCES team (id) ON DELETE SET NULL,
    name    text NOT NULL,
    number  bigint NOT NULL CHECK (number BETWEEN 1 AND 99),
    born_on date NOT NULL CHECK (born_on BETWEEN '1900-01-01' AND '2099-12-31'),
    captain boolean NOT NULL,
    UNIQUE (team_id, number)
);

CREATE TABLE fixture (
    id         bigint NOT NULL PRIMARY KEY,
    round      bigint NOT NULL CHECK (round BETWEEN 1 AND 20),
    home_id    bigint NOT NULL REFERENCES team (id) ON DELETE CASCADE,
    away_id    bigint NOT NULL REFERENCES team (id) ON DELETE CASCADE,
    kickoff_at timestamptz NOT NULL CHECK (kickoff_at BETWEEN '2000-01-01 00:00:00+00' AND '2099-12-31 23:59:59+00'),
    home_goals bigint CHECK (home_goals BETWEEN 0 AND 99),
    away_goals bigint CHECK (away_goals BETWEEN 0 AND 99),
    venue      text,
    CHECK (home_id <> away_id),
    CHECK ((home_goals IS NULL) = (away_goals IS NULL))
);

CREATE TABLE goal (
    id         bigint NOT NULL PRIMARY KEY,
    fixture_id bigint NOT NULL REFERENCES fixture (id) ON DELETE CASCADE,
    player_id  bigint REFERENCES player (id),
    minute     bigint NOT NULL CHECK (minute BETWEEN 1 AND 120),
    kind       text NOT NULL CHECK (kind IN ('open', 'penalty', 'own'))
);

CREATE TABLE card (
    fixture_id bigint NOT NULL,
    player_id  bigint NOT NULL,
    minute     bigint NOT NULL CHECK (minute BETWEEN 1 AND 120),
    color      text NOT NULL CHECK (color IN ('yellow', 'red')),
    PRIMARY KEY (fixture_id, player_id, minute)
);

CREATE TABLE standing (
    team_id bigint NOT NULL PRIMARY KEY REFERENCES team (id) ON DELETE CASCADE,
    played  bigint NOT NULL CHECK (played BETWEEN 0 AND 1000),
    points  bigint NOT NULL CHECK (points BETWEEN 0 AND 3000),
    balance bigint NOT NULL CHECK (balance BETWEEN -1000 AND 1000)
);

CREATE TABLE ticket (
    id          bigint NOT NULL PRIMARY KEY,
    fixture_id  bigint NOT NULL REFERENCES fixture (id),
    seat        text NOT NULL,
    price_cents bigint NOT NULL CHECK (price_cents BETWEEN 0 AND 100000),
    buyer       text,
    sold_at     timestamptz CHECK (sold_at BETWEEN '2000-01-01 00:00:00+00' AND '2099-12-31 23:59:59+00'),
    UNIQUE (fixture_id, seat)
);

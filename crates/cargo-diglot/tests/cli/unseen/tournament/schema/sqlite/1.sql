CREATE TABLE team (
    id   INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    city TEXT,
    seed INTEGER CHECK (seed BETWEEN 1 AND 64),
    meta TEXT NOT NULL CHECK (json_valid(meta) AND json_type(meta) = 'object'
         AND (json_type(meta, '$.founded') IS NULL OR json_type(meta, '$.founded') IN ('integer', 'null'))
         AND (json_type(meta, '$.colors') IS NULL OR json_type(meta, '$.colors') = 'array'))
) STRICT;

CREATE TABLE player (
    id      INTEGER NOT NULL PRIMARY KEY,
    team_id INTEGER REFERENCES team (id) ON DELETE SET NULL,
    name    TEXT NOT NULL,
    number  INTEGER NOT NULL CHECK (number BETWEEN 1 AND 99),
    born_on TEXT NOT NULL CHECK (date(born_on) IS born_on AND born_on BETWEEN '1900-01-01' AND '2099-12-31'),
    captain INTEGER NOT NULL CHECK (captain IN (0, 1)),
    UNIQUE (team_id, number)
) STRICT;

CREATE TABLE fixture (
    id         INTEGER NOT NULL PRIMARY KEY,
    round      INTEGER NOT NULL CHECK (round BETWEEN 1 AND 20),
    home_id    INTEGER NOT NULL REFERENCES team (id) ON DELETE CASCADE,
    away_id    INTEGER NOT NULL REFERENCES team (id) ON DELETE CASCADE,
    kickoff_at TEXT NOT NULL CHECK (datetime(kickoff_at) IS kickoff_at
               AND kickoff_at BETWEEN '2000-01-01 00:00:00' AND '2099-12-31 23:59:59'),
    home_goals INTEGER CHECK (home_goals BETWEEN 0 AND 99),
    away_goals INTEGER CHECK (away_goals BETWEEN 0 AND 99),
    venue      TEXT,
    CHECK (home_id <> away_id),
    CHECK ((home_goals IS NULL) = (away_goals IS NULL))
) STRICT;

CREATE TABLE goal (
    id         INTEGER NOT NULL PRIMARY KEY,
    fixture_id INTEGER NOT NULL REFERENCES fixture (id) ON DELETE CASCADE,
    player_id  INTEGER REFERENCES player (id),
    minute     INTEGER NOT NULL CHECK (minute BETWEEN 1 AND 120),
    kind       TEXT NOT NULL CHECK (kind IN ('open', 'penalty', 'own'))
) STRICT;

CREATE TABLE card (
    fixture_id INTEGER NOT NULL,
    player_id  INTEGER NOT NULL,
    minute     INTEGER NOT NULL CHECK (minute BETWEEN 1 AND 120),
    color      TEXT NOT NULL CHECK (color IN ('yellow', 'red')),
    PRIMARY KEY (fixture_id, player_id, minute)
) STRICT;

CREATE TABLE standing (
    team_id INTEGER NOT NULL PRIMARY KEY REFERENCES team (id) ON DELETE CASCADE,
    played  INTEGER NOT NULL CHECK (played BETWEEN 0 AND 1000),
    points  INTEGER NOT NULL CHECK (points BETWEEN 0 AND 3000),
    balance INTEGER NOT NULL CHECK (balance BETWEEN -1000 AND 1000)
) STRICT;

CREATE TABLE ticket (
    id          INTEGER NOT NULL PRIMARY KEY,
    fixture_id  INTEGER NOT NULL REFERENCES fixture (id),
    seat        TEXT NOT NULL,
    price_cents INTEGER NOT NULL CHECK (price_cents BETWEEN 0 AND 100000),
    buyer       TEXT,
    sold_at     TEXT CHECK (datetime(sold_at) IS sold_at AND sold_at BETWEEN '2000-01-01 00:00:00' AND '2099-12-31 23:59:59'),
    UNIQUE (fixture_id, seat)
) STRICT;

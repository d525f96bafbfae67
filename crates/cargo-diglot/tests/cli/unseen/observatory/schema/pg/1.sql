CREATE TABLE telescope (
    id       bigint NOT NULL PRIMARY KEY,
    name     text NOT NULL UNIQUE,
    site     text NOT NULL,
    aperture double precision NOT NULL CHECK (aperture BETWEEN 0.1 AND 40.0),
    config   jsonb NOT NULL CHECK (jsonb_typeof(config) = 'object'
             AND (NOT config ? 'gain' OR jsonb_typeof(config -> 'gain') = 'number'
                  AND (config ->> 'gain')::numeric BETWEEN 0 AND 1000)
             AND (NOT config ? 'cooled' OR jsonb_typeof(config -> 'cooled') = 'boolean')
             AND (NOT config ? 'tracking' OR jsonb_typeof(config -> 'tracking') IN ('string', 'null'))
             AND (NOT config ? 'filters' OR jsonb_typeof(config -> 'filters') = 'array'))
);

CREATE TABLE target (
    id        bigint NOT NULL PRIMARY KEY CHECK (id BETWEEN 1 AND 1000000000),
    parent_id bigint REFERENCES target (id),
    name      text NOT NULL,
    catalog   text,
    ra        double precision NOT NULL CHECK (ra BETWEEN 0.0 AND 360.0),
    dec       double precision NOT NULL CHECK (dec BETWEEN -90.0 AND 90.0),
    magnitude double precision CHECK (magnitude BETWEEN -30.0 AND 40.0),
    tags      jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(tags) = 'array'),
    CHECK (parent_id < id)
);

CREATE TABLE observer (
    id            bigint NOT NULL PRIMARY KEY,
    handle        text NOT NULL UNIQUE,
    name          text NOT NULL,
    institute     text,
    quota_minutes bigint NOT NULL DEFAULT 60 CHECK (quota_minutes BETWEEN 0 AND 100000),
    joined_at     timestamptz NOT NULL CHECK (joined_at BETWEEN '2000-01-01 00:00:00+00' AND '2099-12-31 23:59:59+00')
);

CREATE TABLE night (
    telescope_id bigint NOT NULL REFERENCES telescope (id) ON DELETE CASCADE,
    night_on     date NOT NULL CHECK (night_on BETWEEN '2000-01-01' AND '2099-12-31'),
    cloud        bigint CHECK (cloud BETWEEN 0 AND 100),
    seeing       double precision CHECK (seeing BETWEEN 0.0 AND 20.0),
    PRIMARY KEY (telescope_id, night_on)
);

CREATE TABLE exposure (
    id           bigint NOT NULL PRIMARY KEY,
    telescope_id bigint NOT NULL REFERENCES telescope (id) ON DELETE CASCADE,
    target_id    bigint NOT NULL REFERENCES target (id),
    observer_id  bigint REFERENCES observer (id) ON DELETE SET NULL,
    taken_at     timestamptz NOT NULL CHECK (taken_at BETWEEN '2000-01-01 00:00:00+00' AND '2099-12-31 23:59:59+00'),
    seconds      bigint NOT NULL CHECK (seconds BETWEEN 1 AND 36000),
    filter       text,
    quality      bigint CHECK (quality BETWEEN 0 AND 100),
    bytes        bigint NOT NULL CHECK (bytes BETWEEN 0 AND 1000000000000),
    rejected     boolean NOT NULL DEFAULT false
);

CREATE TABLE request (
    id          bigint NOT NULL PRIMARY KEY,
    observer_id bigint NOT NULL REFERENCES observer (id) ON DELETE CASCADE,
    target_id   bigint NOT NULL REFERENCES target (id),
    priority    bigint NOT NULL DEFAULT 0 CHECK (priority BETWEEN 0 AND 9),
    state       text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'claimed', 'done', 'failed')),
    attempts    bigint NOT NULL DEFAULT 0 CHECK (attempts BETWEEN 0 AND 20),
    created_at  timestamptz NOT NULL CHECK (created_at BETWEEN '2000-01-01 00:00:00+00' AND '2099-12-31 23:59:59+00'),
    claimed_at  timestamptz CHECK (claimed_at BETWEEN '2000-01-01 00:00:00+00' AND '2099-12-31 23:59:59+00'),
    claimed_by  text,
    not_before  timestamptz CHECK (not_before BETWEEN '2000-01-01 00:00:00+00' AND '2099-12-31 23:59:59+00')
);

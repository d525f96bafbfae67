CREATE TABLE member (
    id bigint NOT NULL PRIMARY KEY,
    handle text NOT NULL UNIQUE CHECK (length(handle) BETWEEN 1 AND 30),
    email text CHECK (email LIKE '%_@_%'),
    role text NOT NULL DEFAULT 'member' CHECK (role IN ('guest', 'member', 'mod', 'admin')),
    reputation integer NOT NULL DEFAULT 0 CHECK (reputation BETWEEN -100000 AND 1000000),
    settings jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(settings) = 'object'
        AND (NOT settings ? 'digest' OR jsonb_typeof(settings -> 'digest') IN ('boolean', 'null'))
        AND (NOT settings ? 'theme' OR jsonb_typeof(settings -> 'theme') IN ('string', 'null'))),
    joined_on date NOT NULL CHECK (joined_on BETWEEN '1990-01-01' AND '2090-12-31'),
    seen_at timestamptz CHECK (seen_at >= '1970-01-01 00:00:00+00' AND seen_at < '2100-01-01 00:00:00+00'),
    deleted boolean NOT NULL DEFAULT false
);

CREATE TABLE board (
    slug text NOT NULL PRIMARY KEY CHECK (length(slug) BETWEEN 1 AND 20),
    title text NOT NULL,
    parent_slug text REFERENCES board (slug) ON UPDATE CASCADE ON DELETE SET NULL,
    position integer CHECK (position BETWEEN 0 AND 1000),
    min_rep integer CHECK (min_rep BETWEEN -100000 AND 1000000),
    locked boolean NOT NULL DEFAULT false
);

CREATE TABLE topic (
    id bigint NOT NULL PRIMARY KEY,
    board_slug text NOT NULL REFERENCES board (slug) ON UPDATE CASCADE ON DELETE CASCADE,
    author_id bigint REFERENCES member (id) ON DELETE SET NULL,
    title text NOT NULL,
    tags jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(tags) = 'array'),
    pinned boolean NOT NULL DEFAULT false,
    views integer NOT NULL DEFAULT 0 CHECK (views BETWEEN 0 AND 10000000),
    replies integer NOT NULL DEFAULT 0 CHECK (replies BETWEEN 0 AND 100000),
    heat integer NOT NULL GENERATED ALWAYS AS (replies * 10 + views) STORED,
    state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'closed', 'hidden')),
    created_at timestamptz NOT NULL CHECK (created_at >= '1970-01-01 00:00:00+00' AND created_at < '2100-01-01 00:00:00+00'),
    bumped_at timestamptz NOT NULL CHECK (bumped_at >= '1970-01-01 00:00:00+00' AND bumped_at < '2100-01-01 00:00:00+00')
);

CREATE TABLE post (
    id bigint NOT NULL PRIMARY KEY,
    topic_id bigint NOT NULL REFERENCES topic (id) ON DELETE CASCADE,
    author_id bigint REFERENCES member (id) ON DELETE SET NULL,
    reply_to bigint REFERENCES post (id) ON DELETE SET NULL,
    body text NOT NULL,
    edits integer NOT NULL DEFAULT 0 CHECK (edits BETWEEN 0 AND 1000),
    score integer NOT NULL DEFAULT 0 CHECK (score BETWEEN -100000 AND 100000),
    created_at timestamptz NOT NULL CHECK (created_at >= '1970-01-01 00:00:00+00' AND created_at < '2100-01-01 00:00:00+00'),
    removed_at timestamptz CHECK (removed_at >= '1970-01-01 00:00:00+00' AND removed_at < '2100-01-01 00:00:00+00')
);

CREATE TABLE vote (
    post_id bigint NOT NULL REFERENCES post (id) ON DELETE CASCADE,
    member_id bigint NOT NULL REFERENCES member (id) ON DELETE CASCADE,
    value integer NOT NULL CHECK (value IN (-1, 1)),
    PRIMARY KEY (post_id, member_id)
);

CREATE FUNCTION vote_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE post SET score = score + NEW.value WHERE id = NEW.post_id;
    RETURN NULL;
END
$$;

CREATE TRIGGER vote_counted AFTER INSERT ON vote FOR EACH ROW EXECUTE FUNCTION vote_counted();

CREATE TABLE flag (
    id bigint NOT NULL PRIMARY KEY,
    post_id bigint NOT NULL REFERENCES post (id) ON DELETE CASCADE,
    member_id bigint NOT NULL REFERENCES member (id) ON DELETE CASCADE,
    reason text NOT NULL CHECK (reason IN ('spam', 'abuse', 'other')),
    note text,
    state text NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'upheld', 'rejected')),
    handled_by bigint REFERENCES member (id) ON DELETE SET NULL,
    raised_at timestamptz NOT NULL CHECK (raised_at >= '1970-01-01 00:00:00+00' AND raised_at < '2100-01-01 00:00:00+00'),
    handled_at timestamptz CHECK (handled_at >= '1970-01-01 00:00:00+00' AND handled_at < '2100-01-01 00:00:00+00')
);

CREATE UNIQUE INDEX flag_once ON flag (post_id, member_id) WHERE state = 'new';

CREATE TABLE ban (
    id bigint NOT NULL PRIMARY KEY,
    member_id bigint NOT NULL REFERENCES member (id) ON DELETE CASCADE,
    board_slug text REFERENCES board (slug) ON UPDATE CASCADE ON DELETE CASCADE,
    from_at timestamptz NOT NULL CHECK (from_at >= '1970-01-01 00:00:00+00' AND from_at < '2100-01-01 00:00:00+00'),
    until_at timestamptz CHECK (until_at >= '1970-01-01 00:00:00+00' AND until_at < '2100-01-01 00:00:00+00'),
    reason text,
    lifted boolean NOT NULL DEFAULT false,
    CHECK (until_at IS NULL OR until_at >= from_at)
);

CREATE TABLE chat (
    room text NOT NULL,
    seq bigint NOT NULL CHECK (seq BETWEEN 1 AND 1000000000),
    member_id bigint REFERENCES member (id) ON DELETE SET NULL,
    body text NOT NULL,
    sent_at timestamptz NOT NULL CHECK (sent_at >= '1970-01-01 00:00:00+00' AND sent_at < '2100-01-01 00:00:00+00'),
    PRIMARY KEY (room, seq)
);

CREATE TABLE chat_read (
    room text NOT NULL,
    member_id bigint NOT NULL REFERENCES member (id) ON DELETE CASCADE,
    seq bigint NOT NULL CHECK (seq BETWEEN 0 AND 1000000000),
    PRIMARY KEY (room, member_id)
);

CREATE TABLE outbox (
    id bigint NOT NULL PRIMARY KEY,
    event text NOT NULL,
    body jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(body) = 'object'
        AND (NOT body ? 'topic' OR jsonb_typeof(body -> 'topic') IN ('number', 'null'))),
    tries integer NOT NULL DEFAULT 0 CHECK (tries BETWEEN 0 AND 100),
    next_at timestamptz NOT NULL CHECK (next_at >= '1970-01-01 00:00:00+00' AND next_at < '2100-01-01 00:00:00+00'),
    done_at timestamptz CHECK (done_at >= '1970-01-01 00:00:00+00' AND done_at < '2100-01-01 00:00:00+00'),
    error text
);

CREATE TABLE badge (
    member_id bigint NOT NULL REFERENCES member (id) ON DELETE CASCADE,
    kind text NOT NULL CHECK (kind IN ('gold', 'silver', 'bronze')),
    level integer NOT NULL DEFAULT 1 CHECK (level BETWEEN 1 AND 100),
    PRIMARY KEY (member_id, kind)
);

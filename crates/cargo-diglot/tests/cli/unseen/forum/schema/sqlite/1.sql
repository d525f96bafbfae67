CREATE TABLE member (
    id INTEGER NOT NULL PRIMARY KEY,
    handle TEXT NOT NULL UNIQUE CHECK (length(handle) BETWEEN 1 AND 30),
    email TEXT CHECK (email LIKE '%_@_%'),
    role TEXT NOT NULL DEFAULT 'member' CHECK (role IN ('guest', 'member', 'mod', 'admin')),
    reputation INTEGER NOT NULL DEFAULT 0 CHECK (reputation BETWEEN -100000 AND 1000000),
    settings TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(settings) AND json_type(settings) = 'object'
        AND (json_type(settings, '$.digest') IS NULL OR json_type(settings, '$.digest') IN ('true', 'false', 'null'))
        AND (json_type(settings, '$.theme') IS NULL OR json_type(settings, '$.theme') IN ('text', 'null'))),
    joined_on TEXT NOT NULL CHECK (date(joined_on) IS joined_on AND joined_on BETWEEN '1990-01-01' AND '2090-12-31'),
    seen_at TEXT CHECK (datetime(seen_at) IS seen_at AND seen_at BETWEEN '1970-01-01 00:00:00' AND '2099-12-31 23:59:59'),
    deleted INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1))
) STRICT;

CREATE TABLE board (
    slug TEXT NOT NULL PRIMARY KEY CHECK (length(slug) BETWEEN 1 AND 20),
    title TEXT NOT NULL,
    parent_slug TEXT REFERENCES board (slug) ON UPDATE CASCADE ON DELETE SET NULL,
    position INTEGER CHECK (position BETWEEN 0 AND 1000),
    min_rep INTEGER CHECK (min_rep BETWEEN -100000 AND 1000000),
    locked INTEGER NOT NULL DEFAULT 0 CHECK (locked IN (0, 1))
) STRICT;

CREATE TABLE topic (
    id INTEGER NOT NULL PRIMARY KEY,
    board_slug TEXT NOT NULL REFERENCES board (slug) ON UPDATE CASCADE ON DELETE CASCADE,
    author_id INTEGER REFERENCES member (id) ON DELETE SET NULL,
    title TEXT NOT NULL,
    tags TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(tags) AND json_type(tags) = 'array'),
    pinned INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
    views INTEGER NOT NULL DEFAULT 0 CHECK (views BETWEEN 0 AND 10000000),
    replies INTEGER NOT NULL DEFAULT 0 CHECK (replies BETWEEN 0 AND 100000),
    heat INTEGER NOT NULL GENERATED ALWAYS AS (replies * 10 + views) STORED,
    state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'closed', 'hidden')),
    created_at TEXT NOT NULL CHECK (datetime(created_at) IS created_at AND created_at BETWEEN '1970-01-01 00:00:00' AND '2099-12-31 23:59:59'),
    bumped_at TEXT NOT NULL CHECK (datetime(bumped_at) IS bumped_at AND bumped_at BETWEEN '1970-01-01 00:00:00' AND '2099-12-31 23:59:59')
) STRICT;

CREATE TABLE post (
    id INTEGER NOT NULL PRIMARY KEY,
    topic_id INTEGER NOT NULL REFERENCES topic (id) ON DELETE CASCADE,
    author_id INTEGER REFERENCES member (id) ON DELETE SET NULL,
    reply_to INTEGER REFERENCES post (id) ON DELETE SET NULL,
    body TEXT NOT NULL,
    edits INTEGER NOT NULL DEFAULT 0 CHECK (edits BETWEEN 0 AND 1000),
    score INTEGER NOT NULL DEFAULT 0 CHECK (score BETWEEN -100000 AND 100000),
    created_at TEXT NOT NULL CHECK (datetime(created_at) IS created_at AND created_at BETWEEN '1970-01-01 00:00:00' AND '2099-12-31 23:59:59'),
    removed_at TEXT CHECK (datetime(removed_at) IS removed_at AND removed_at BETWEEN '1970-01-01 00:00:00' AND '2099-12-31 23:59:59')
) STRICT;

CREATE TABLE vote (
    post_id INTEGER NOT NULL REFERENCES post (id) ON DELETE CASCADE,
    member_id INTEGER NOT NULL REFERENCES member (id) ON DELETE CASCADE,
    value INTEGER NOT NULL CHECK (value IN (-1, 1)),
    PRIMARY KEY (post_id, member_id)
) STRICT;

CREATE TRIGGER vote_counted AFTER INSERT ON vote BEGIN
    UPDATE post SET score = score + NEW.value WHERE id = NEW.post_id;
END;

CREATE TABLE flag (
    id INTEGER NOT NULL PRIMARY KEY,
    post_id INTEGER NOT NULL REFERENCES post (id) ON DELETE CASCADE,
    member_id INTEGER NOT NULL REFERENCES member (id) ON DELETE CASCADE,
    reason TEXT NOT NULL CHECK (reason IN ('spam', 'abuse', 'other')),
    note TEXT,
    state TEXT NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'upheld', 'rejected')),
    handled_by INTEGER REFERENCES member (id) ON DELETE SET NULL,
    raised_at TEXT NOT NULL CHECK (datetime(raised_at) IS raised_at AND raised_at BETWEEN '1970-01-01 00:00:00' AND '2099-12-31 23:59:59'),
    handled_at TEXT CHECK (datetime(handled_at) IS handled_at AND handled_at BETWEEN '1970-01-01 00:00:00' AND '2099-12-31 23:59:59')
) STRICT;

CREATE UNIQUE INDEX flag_once ON flag (post_id, member_id) WHERE state = 'new';

CREATE TABLE ban (
    id INTEGER NOT NULL PRIMARY KEY,
    member_id INTEGER NOT NULL REFERENCES member (id) ON DELETE CASCADE,
    board_slug TEXT REFERENCES board (slug) ON UPDATE CASCADE ON DELETE CASCADE,
    from_at TEXT NOT NULL CHECK (datetime(from_at) IS from_at AND from_at BETWEEN '1970-01-01 00:00:00' AND '2099-12-31 23:59:59'),
    until_at TEXT CHECK (datetime(until_at) IS until_at AND until_at BETWEEN '1970-01-01 00:00:00' AND '2099-12-31 23:59:59'),
    reason TEXT,
    lifted INTEGER NOT NULL DEFAULT 0 CHECK (lifted IN (0, 1)),
    CHECK (until_at IS NULL OR until_at >= from_at)
) STRICT;

CREATE TABLE chat (
    room TEXT NOT NULL,
    seq INTEGER NOT NULL CHECK (seq BETWEEN 1 AND 1000000000),
    member_id INTEGER REFERENCES member (id) ON DELETE SET NULL,
    body TEXT NOT NULL,
    sent_at INTEGER NOT NULL CHECK (sent_at BETWEEN 0 AND 4102444799000 AND sent_at % 1000 = 0),
    PRIMARY KEY (room, seq)
) STRICT;

CREATE TABLE chat_read (
    room TEXT NOT NULL,
    member_id INTEGER NOT NULL REFERENCES member (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL CHECK (seq BETWEEN 0 AND 1000000000),
    PRIMARY KEY (room, member_id)
) STRICT;

CREATE TABLE outbox (
    id INTEGER NOT NULL PRIMARY KEY,
    event TEXT NOT NULL,
    body TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(body) AND json_type(body) = 'object'
        AND (json_type(body, '$.topic') IS NULL OR json_type(body, '$.topic') IN ('integer', 'null'))),
    tries INTEGER NOT NULL DEFAULT 0 CHECK (tries BETWEEN 0 AND 100),
    next_at INTEGER NOT NULL CHECK (next_at BETWEEN 0 AND 4102444799),
    done_at INTEGER CHECK (done_at BETWEEN 0 AND 4102444799),
    error TEXT
) STRICT;

CREATE TABLE badge (
    member_id INTEGER NOT NULL REFERENCES member (id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('gold', 'silver', 'bronze')),
    level INTEGER NOT NULL DEFAULT 1 CHECK (level BETWEEN 1 AND 100),
    PRIMARY KEY (member_id, kind)
) STRICT;

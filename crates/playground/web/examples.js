// What the page offers to begin with. `verdict` is what the engines say of it; the test holds the page to that.

const NOTE = {
  sqlite: `CREATE TABLE note (
    id      INTEGER NOT NULL PRIMARY KEY,
    kind    TEXT    NOT NULL,
    body    TEXT    NOT NULL,
    due_ms  INTEGER
) STRICT;
`,
  pg: `CREATE TABLE note (
    id      bigint NOT NULL PRIMARY KEY,
    kind    text   NOT NULL,
    body    text   NOT NULL,
    due_ms  bigint
);
`,
};

const PAYMENT = {
  sqlite: `CREATE TABLE payment (
    id     INTEGER NOT NULL PRIMARY KEY,
    payer  TEXT    NOT NULL,
    cents  INTEGER NOT NULL CHECK (cents BETWEEN 0 AND 1000000)
) STRICT;
`,
  pg: `CREATE TABLE payment (
    id     bigint NOT NULL PRIMARY KEY,
    payer  text   NOT NULL,
    cents  bigint NOT NULL CHECK (cents BETWEEN 0 AND 1000000)
);
`,
};

const COUNTER = {
  sqlite: `CREATE TABLE counter (
    name  TEXT    NOT NULL PRIMARY KEY,
    hits  INTEGER NOT NULL CHECK (hits BETWEEN 0 AND 1000000)
) STRICT;
`,
  pg: `CREATE TABLE counter (
    name  text   NOT NULL PRIMARY KEY,
    hits  bigint NOT NULL CHECK (hits BETWEEN 0 AND 1000000)
);
`,
};

const page = (schema, sqlite, pg) => ({
  sqlite: { schema: schema.sqlite, statements: sqlite },
  pg: { schema: schema.pg, statements: pg },
});

export const examples = [
  {
    title: "A bug was fixed on one page",
    verdict: "differs",
    project: page(
      NOTE,
      `-- What is due of these kinds, the oldest first.
-- name: note_due :many
SELECT id, body FROM note
 WHERE due_ms <= :now_ms AND kind IN (SELECT value FROM json_each(:kinds))
 ORDER BY due_ms, id;
`,
      `-- What is due of these kinds, the oldest first.
-- name: note_due :many
SELECT id, body FROM note
 WHERE due_ms < :now_ms AND kind = ANY(:kinds)
 ORDER BY due_ms, id;
`,
    ),
  },
  {
    title: "LIKE and the case of letters",
    verdict: "differs",
    project: page(
      NOTE,
      `-- name: note_like :many
SELECT id, body FROM note WHERE body LIKE :pattern ORDER BY id;
`,
      `-- name: note_like :many
SELECT id, body FROM note WHERE body LIKE :pattern ORDER BY id;
`,
    ),
  },
  {
    title: "Where NULL stands in an order",
    verdict: "differs",
    project: page(
      NOTE,
      `-- name: note_next :opt
SELECT id, body FROM note ORDER BY due_ms, id LIMIT 1;
`,
      `-- name: note_next :opt
SELECT id, body FROM note ORDER BY due_ms, id LIMIT 1;
`,
    ),
  },
  {
    title: "A cast rounds or cuts",
    verdict: "differs",
    project: page(
      PAYMENT,
      `-- name: payment_share :many
SELECT id, CAST(cents / 3.0 AS INTEGER) AS share FROM payment ORDER BY id;
`,
      `-- name: payment_share :many
SELECT id, CAST(cents / 3.0 AS bigint) AS share FROM payment ORDER BY id;
`,
    ),
  },
  {
    title: "An upsert that forgets what was there",
    verdict: "differs",
    project: page(
      COUNTER,
      `-- name: counter_hit :exec
INSERT INTO counter (name, hits) VALUES (:name, 1)
ON CONFLICT (name) DO UPDATE SET hits = counter.hits + 1;
`,
      `-- name: counter_hit :exec
INSERT INTO counter (name, hits) VALUES (:name, 1)
ON CONFLICT (name) DO UPDATE SET hits = excluded.hits;
`,
    ),
  },
  {
    title: "Spelled differently, and the same",
    verdict: "same by law",
    project: page(
      NOTE,
      `-- name: note_of_kinds :many
SELECT id, body FROM note
 WHERE kind IN (SELECT value FROM json_each(:kinds))
 ORDER BY id;
`,
      `-- name: note_of_kinds :many
SELECT id, body FROM note
 WHERE kind = ANY(:kinds)
 ORDER BY id;
`,
    ),
  },
  {
    title: "Built otherwise, and the same when run",
    verdict: "same when run",
    project: page(
      PAYMENT,
      `-- name: payment_first :many
SELECT payer, id FROM payment AS p
 WHERE NOT EXISTS (SELECT 1 FROM payment AS q WHERE q.payer = p.payer AND q.id < p.id)
 ORDER BY payer;
`,
      `-- name: payment_first :many
SELECT payer, min(id) AS id FROM payment GROUP BY payer ORDER BY payer;
`,
    ),
  },
];

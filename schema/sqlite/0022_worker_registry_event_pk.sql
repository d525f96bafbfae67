-- Two kinds of worker event may carry the same time stamp, so the kind joins the
-- key. A key can only change by making the table again.

CREATE TABLE ff_worker_registry_event_rekeyed (
    namespace           TEXT    NOT NULL,
    worker_instance_id  TEXT    NOT NULL,
    event_kind          TEXT    NOT NULL,
    event_at_ms         INTEGER NOT NULL,
    reason              TEXT,
    PRIMARY KEY (namespace, worker_instance_id, event_at_ms, event_kind)
);

INSERT INTO ff_worker_registry_event_rekeyed
    (namespace, worker_instance_id, event_kind, event_at_ms, reason)
SELECT namespace, worker_instance_id, event_kind, event_at_ms, reason
FROM ff_worker_registry_event;

DROP TABLE ff_worker_registry_event;

ALTER TABLE ff_worker_registry_event_rekeyed RENAME TO ff_worker_registry_event;

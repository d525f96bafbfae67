-- Lease events can be filtered by namespace and instance tag without reading the execution.

ALTER TABLE ff_lease_event ADD COLUMN IF NOT EXISTS namespace text;
ALTER TABLE ff_lease_event ADD COLUMN IF NOT EXISTS instance_tag text;

CREATE INDEX IF NOT EXISTS ff_lease_event_namespace_idx
    ON ff_lease_event (partition_key, namespace) WHERE namespace IS NOT NULL;
CREATE INDEX IF NOT EXISTS ff_lease_event_instance_tag_idx
    ON ff_lease_event (partition_key, instance_tag) WHERE instance_tag IS NOT NULL;

INSERT INTO ff_migration_annotation (version, name, applied_at_ms, backward_compatible)
VALUES (8, '0008_lease_event_instance_tag', (extract(epoch FROM clock_timestamp()) * 1000)::bigint, true)
ON CONFLICT (version) DO NOTHING;

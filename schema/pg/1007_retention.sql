-- So that the sweep finds what is old without reading what is not.

CREATE INDEX IF NOT EXISTS ff_suspend_dedup_created_idx
    ON ff_suspend_dedup (created_at_ms);

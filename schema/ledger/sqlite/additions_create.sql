CREATE TABLE IF NOT EXISTS ff_sql_migrations (
    version        INTEGER NOT NULL,
    name           TEXT    NOT NULL,
    applied_at_ms  INTEGER NOT NULL,
    PRIMARY KEY (version)
) STRICT

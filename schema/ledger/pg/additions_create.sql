CREATE TABLE IF NOT EXISTS ff_sql_migrations (
    version        bigint NOT NULL,
    name           text   NOT NULL,
    applied_at_ms  bigint NOT NULL,
    PRIMARY KEY (version)
)

INSERT INTO ff_sql_migrations (version, name, applied_at_ms)
VALUES ($1, $2, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)

INSERT INTO ff_sql_migrations (version, name, applied_at_ms)
VALUES (?1, ?2, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER))

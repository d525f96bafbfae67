SELECT version FROM ff_sql_migrations ORDER BY version

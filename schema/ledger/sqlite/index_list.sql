SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name

-- What a database whose tables are spread over several nodes answers otherwise: the distribution puts other functions in
-- the place of these.

-- Whether the tables are spread.
CREATE OR REPLACE FUNCTION ff_is_spread() RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT false $$;

-- The transactions under way that no lock of this node shows: those whose part on another node waits for its commit.
CREATE OR REPLACE FUNCTION ff_writers_elsewhere() RETURNS SETOF text
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT NULL::text WHERE false $$;

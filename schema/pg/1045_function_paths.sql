-- The functions look names up where the tables are, whatever the
-- session that writes has in its search_path: a table or an operator of the same
-- name elsewhere would otherwise take the place of ours, and a session without our
-- schema in its path could not write at all. Temporary tables come last.

DO $$
DECLARE
    home oid := (SELECT relnamespace FROM pg_class WHERE oid = 'ff_exec_core'::regclass);
    ours regprocedure;
BEGIN
    FOR ours IN
        SELECT p.oid
        FROM pg_proc AS p
        WHERE p.pronamespace = home
          AND (p.proname IN ('ff_granted_until', 'ff_take_claimable', 'ff_take_delayed')
               OR EXISTS (SELECT 1
                          FROM pg_trigger AS t
                          JOIN pg_class AS c ON c.oid = t.tgrelid
                          WHERE t.tgfoid = p.oid AND c.relnamespace = home))
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = pg_catalog, %s, pg_temp', ours, home::regnamespace);
    END LOOP;
END
$$;

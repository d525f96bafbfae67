-- A plan that is kept reads what it reads by an index.
--
-- A queue that has just run empty is short enough to be read whole, and whoever keeps that plan reads it whole as well when
-- the queue has grown: with all that was claimed from it since, as long as a transaction is open that could still see it.
DO $$
DECLARE
    home regnamespace := (SELECT relnamespace FROM pg_class WHERE oid = 'ff_exec_core'::regclass)::regnamespace;
    made regprocedure;
BEGIN
    FOR made IN SELECT p.oid
                  FROM pg_proc AS p
                 WHERE p.pronamespace = home
                   AND 'plan_cache_mode=force_generic_plan' = ANY (p.proconfig)
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET enable_seqscan = off', made);
        EXECUTE format('ALTER FUNCTION %s SET enable_bitmapscan = off', made);
    END LOOP;
END
$$;

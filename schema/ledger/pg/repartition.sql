-- Gives every partitioned table as many partitions as the setting ff_sql.partitions says. A table is moved in a
-- transaction of its own, which has it to itself.
DO $$
DECLARE
    home oid := (SELECT relnamespace FROM pg_class WHERE oid = 'ff_exec_core'::regclass);
    wanted integer := current_setting('ff_sql.partitions')::integer;
    held record;
    child record;
    is_spread boolean := false;
BEGIN
    IF to_regclass('pg_dist_partition') IS NOT NULL THEN
        EXECUTE 'SELECT EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = ''ff_exec_core''::regclass)'
           INTO is_spread;
    END IF;
    FOR held IN
        SELECT c.oid::regclass AS name, c.relname
          FROM pg_class AS c
          JOIN pg_inherits AS i ON i.inhparent = c.oid
         WHERE c.relnamespace = home AND c.relkind = 'p' AND c.relname LIKE 'ff\_%'
         GROUP BY c.oid, c.relname
        HAVING count(*) <> wanted
         ORDER BY c.relname
    LOOP
        IF is_spread THEN
            RAISE feature_not_supported USING MESSAGE = 'the tables are spread over nodes: a shard is what a partition was';
        END IF;
        EXECUTE format('LOCK TABLE %s', held.name);
        EXECUTE format('CREATE TEMPORARY TABLE ff_all ON COMMIT DROP AS SELECT * FROM %s', held.name);
        FOR child IN SELECT i.inhrelid::regclass AS name FROM pg_inherits AS i WHERE i.inhparent = held.name LOOP
            EXECUTE format('DROP TABLE %s', child.name);
        END LOOP;
        FOR number IN 0 .. wanted - 1 LOOP
            EXECUTE format('CREATE TABLE %I PARTITION OF %s FOR VALUES WITH (MODULUS %s, REMAINDER %s)',
                           held.relname || '_p' || number, held.name, wanted, number);
        END LOOP;
        -- The queues have their rows already.
        EXECUTE format('ALTER TABLE %s DISABLE TRIGGER USER', held.name);
        EXECUTE format('INSERT INTO %s OVERRIDING SYSTEM VALUE SELECT * FROM ff_all', held.name);
        EXECUTE format('ALTER TABLE %s ENABLE TRIGGER USER', held.name);
        COMMIT;
    END LOOP;
END
$$;

//! Reading migrations: what the tables look like afterwards, and the text of every finding.

use super::*;
use crate::diagnostic::Diagnostic;
use crate::engine::Stability;
use crate::source::{SourceFile, Sources};

fn read_all(dialect: Dialect, migrations: &[&str]) -> (Sources, Schema, Vec<Diagnostic>) {
    let mut sources = Sources::default();
    let files: Vec<_> = migrations
        .iter()
        .enumerate()
        .map(|(i, text)| sources.add(SourceFile::new(format!("schema/{dialect}/000{}_change.sql", i + 1), *text)))
        .collect();
    let (schema, found) = read(&sources, &files, dialect);
    (sources, schema, found)
}

/// The tables of migrations without findings, one line for each column and key.
fn shape(dialect: Dialect, migrations: &[&str]) -> String {
    let (_, schema, found) = read_all(dialect, migrations);
    assert!(found.is_empty(), "{found:#?}");
    describe(&schema)
}

fn describe(schema: &Schema) -> String {
    let mut lines = Vec::new();
    for table in schema.tables.values() {
        lines.push(format!("{} {}", if table.view { "view" } else { "table" }, table.name));
        for column in &table.columns {
            let default = if column.has_default { " default" } else { "" };
            lines.push(format!("  {} {}{default}", column.name, column.ty));
        }
        if !table.primary_key.is_empty() {
            lines.push(format!("  primary key {:?}", table.primary_key));
        }
        lines.extend(table.unique.iter().map(|unique| format!("  unique {unique:?}")));
        lines.extend(table.constraints.iter().map(|(name, columns)| format!("  constraint {name} {columns:?}")));
        if !table.partitioned_by.is_empty() {
            lines.push(format!("  partitioned by {:?}", table.partitioned_by));
        }
    }
    lines.join("\n")
}

#[test]
fn the_columns_of_postgres_have_their_width_and_their_defaults() {
    let shape = shape(
        Dialect::Pg,
        &["CREATE TABLE public.Lease (
             a smallint NOT NULL, b int, c bigserial, d boolean DEFAULT true, e double precision, f numeric(10, 2),
             g character varying(20) NOT NULL, h bytea, i uuid DEFAULT gen_random_uuid(), j jsonb, k text[], l bigint[],
             m timestamptz NOT NULL DEFAULT now(), n timestamp(3) with time zone, o bigint GENERATED ALWAYS AS IDENTITY,
             p int GENERATED ALWAYS AS (b + 1) STORED, q text DEFAULT NULL, r varchar(8)[], s real, t uuid[],
             PRIMARY KEY (a, g), UNIQUE (b), CONSTRAINT lease_i UNIQUE (i, a), CHECK (b > 0)
           ) PARTITION BY HASH (a);"],
    );
    assert_eq!(
        shape,
        r#"table lease
  a i16
  b i32 null
  c i64 default
  d bool null default
  e f64 null
  f numeric null
  g text
  h bytes null
  i uuid null default
  j json null
  k text[] null
  l i64[] null
  m timestamp default
  n timestamp null
  o i64 default
  p i32 null default
  q text null
  r text[] null
  s f64 null
  t uuid[] null
  primary key ["a", "g"]
  unique ["b"]
  unique ["i", "a"]
  constraint lease_b_key ["b"]
  constraint lease_i ["i", "a"]
  constraint lease_pkey ["a", "g"]
  partitioned by ["a"]"#
    );
}

#[test]
fn the_columns_of_sqlite_have_their_affinity_and_its_rules_for_keys() {
    let shape = shape(
        Dialect::Sqlite,
        &["CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT, t TEXT NOT NULL DEFAULT '', b BLOB, r REAL, o BOOLEAN NOT NULL, u TEXT UNIQUE, x);
           CREATE TABLE b (k TEXT PRIMARY KEY);
           CREATE TABLE c (k TEXT PRIMARY KEY, n INTEGER) STRICT, WITHOUT ROWID;
           CREATE TABLE d (k INTEGER PRIMARY KEY) WITHOUT ROWID;
           CREATE TABLE e (k TEXT, n INTEGER, PRIMARY KEY (k, n)) STRICT;
           CREATE TABLE f (k INTEGER, PRIMARY KEY (k));"],
    );
    assert_eq!(
        shape,
        r#"table a
  id i64 default
  t text default
  b bytes null
  r f64 null
  o bool
  u text null
  x bytes null
  primary key ["id"]
  unique ["u"]
table b
  k text null
  primary key ["k"]
table c
  k text
  n i64 null
  primary key ["k"]
table d
  k i64
  primary key ["k"]
table e
  k text
  n i64
  primary key ["k", "n"]
table f
  k i64 default
  primary key ["k"]"#
    );
}

#[test]
fn altering_a_table_changes_what_a_later_statement_sees() {
    let shape = shape(
        Dialect::Pg,
        &[
            "CREATE TABLE a (id bigint PRIMARY KEY, b text, c int NOT NULL, d text UNIQUE);
             CREATE UNIQUE INDEX a_b ON a (b);
             CREATE UNIQUE INDEX a_part ON a (c) WHERE b IS NOT NULL;
             CREATE UNIQUE INDEX a_lower ON a (lower(b));
             CREATE TABLE gone (x int);",
            "ALTER TABLE a ADD COLUMN IF NOT EXISTS b uuid, ADD COLUMN e boolean NOT NULL DEFAULT false, DROP COLUMN d;
             ALTER TABLE a RENAME COLUMN b TO bb;
             ALTER TABLE a ALTER COLUMN c DROP NOT NULL, ALTER COLUMN c TYPE bigint, ALTER COLUMN c SET DEFAULT 1;
             ALTER TABLE a ALTER COLUMN e DROP DEFAULT;
             ALTER TABLE a DROP CONSTRAINT a_pkey;
             ALTER TABLE ONLY a ADD CONSTRAINT a_key PRIMARY KEY (id, bb);
             ALTER TABLE a ADD CONSTRAINT a_bb UNIQUE USING INDEX a_b;
             ALTER TABLE a RENAME TO z;
             ALTER TABLE IF EXISTS nowhere ADD COLUMN x int;
             DROP TABLE IF EXISTS gone, nowhere;",
        ],
    );
    assert_eq!(
        shape,
        r#"table z
  id i64
  bb text
  c i64 null default
  e bool
  primary key ["id", "bb"]
  unique ["bb"]
  constraint a_bb ["bb"]
  constraint a_key ["id", "bb"]"#
    );
}

#[test]
fn a_dropped_key_is_a_key_no_more() {
    let shape = shape(
        Dialect::Pg,
        &[
            "CREATE TABLE a (b int, c int, CONSTRAINT a_c UNIQUE (c));
           CREATE UNIQUE INDEX a_b ON a (b);
           CREATE UNIQUE INDEX a_c2 ON a (c);
           DROP INDEX a_b;
           DROP INDEX a_c2;",
            "ALTER TABLE a DROP CONSTRAINT a_c;",
        ],
    );
    assert_eq!(shape, "table a\n  b i32 null\n  c i32 null");
}

#[test]
fn an_altered_function_keeps_its_body() {
    let (_, schema, _) = read_all(
        Dialect::Pg,
        &["CREATE FUNCTION f(a int) RETURNS int LANGUAGE sql STABLE AS 'SELECT 1';
           CREATE FUNCTION seen() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
           CREATE TABLE a (id int);
           CREATE TRIGGER t AFTER INSERT ON a FOR EACH ROW EXECUTE FUNCTION seen();
           ALTER FUNCTION f(int) SET plan_cache_mode = 'force_custom_plan';
           ALTER FUNCTION f(int) OWNER TO somebody;
           ALTER FUNCTION f IMMUTABLE;
           ALTER FUNCTION missing(int) STABLE;
           ALTER FUNCTION seen() RENAME TO noticed;
           ALTER TRIGGER t ON a RENAME TO u"],
    );
    let names: Vec<&str> = schema.functions.keys().map(String::as_str).collect();
    assert_eq!(names, ["f", "noticed"]);
    let function = &schema.functions["f"];
    assert_eq!((function.body.as_deref(), function.stability), (Some("SELECT 1"), Stability::Immutable));
    let triggers: Vec<(&str, &str)> = schema.triggers.iter().map(|t| (&*t.name, &*t.function)).collect();
    assert_eq!(triggers, [("u", "noticed")]);
}

#[test]
fn statements_that_shape_no_table_are_passed_over() {
    let pg = shape(
        Dialect::Pg,
        &[r#"
        CREATE EXTENSION IF NOT EXISTS pgcrypto;
        SET LOCAL lock_timeout = '2s';
        CREATE OR REPLACE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $body$
        BEGIN PERFORM 1; CREATE TABLE hidden (x int); RETURN NULL; END
        $body$;
        CREATE FUNCTION g() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT 1; SELECT CASE WHEN true THEN 2 END; END;
        CREATE OR REPLACE TRIGGER t AFTER INSERT ON a FOR EACH ROW EXECUTE FUNCTION f();
        CREATE CONSTRAINT TRIGGER u AFTER INSERT ON a FOR EACH ROW EXECUTE FUNCTION f();
        DO $$ BEGIN PERFORM f(); END $$;
        CREATE TABLE a (id int);
        ALTER TABLE a SET (fillfactor = 70);
        ALTER TABLE public.a ATTACH PARTITION b FOR VALUES WITH (MODULUS 2, REMAINDER 0);
        ALTER TABLE a OWNER TO somebody;
        ALTER TABLE a ENABLE TRIGGER ALL;
        ALTER SEQUENCE s RESTART;
        ALTER INDEX i RENAME TO j;
        COMMENT ON TABLE a IS 'x; y';
        GRANT SELECT ON a TO PUBLIC;
        INSERT INTO a VALUES (1) ON CONFLICT DO NOTHING;
        WITH x AS (SELECT 1) SELECT * FROM x;
        CREATE INDEX CONCURRENTLY i ON a USING gin (id);
        DROP FUNCTION f();
        ANALYZE a"#],
    );
    assert_eq!(pg, "table a\n  id i32 null");
    let sqlite = shape(
        Dialect::Sqlite,
        &["PRAGMA journal_mode = WAL;
           CREATE TABLE a (id INTEGER);
           CREATE TRIGGER IF NOT EXISTS t AFTER INSERT ON a BEGIN
             UPDATE a SET id = CASE WHEN id > 1 THEN 2 ELSE 3 END;
             INSERT INTO a VALUES (1);
           END;
           CREATE TEMP TRIGGER u AFTER DELETE ON a BEGIN SELECT 1; END;
           BEGIN; DELETE FROM a; COMMIT;
           CREATE TABLE b (id INTEGER);
           VACUUM;"],
    );
    assert_eq!(sqlite, "table a\n  id i64 null\ntable b\n  id i64 null");
}

#[test]
fn the_columns_of_a_view_are_typed_by_what_they_come_from() {
    let shape = shape(
        Dialect::Pg,
        &["CREATE TABLE a (id bigint NOT NULL, name text, at bigint);
           CREATE TABLE b (id bigint NOT NULL, flag boolean NOT NULL);
           CREATE VIEW v AS
             SELECT a.*, b.flag, a.id AS again, count(*) AS n, 'x' AS kind, CAST(upper(a.name) AS text) AS up, (a.id)::int AS narrow
               FROM a LEFT JOIN b ON b.id = a.id
              WHERE (a.at IS NOT NULL AND a.id > 3)
              GROUP BY 1;
           CREATE OR REPLACE VIEW w (one, two) AS SELECT s.id, flag FROM (SELECT * FROM b) AS s UNION ALL SELECT 1, true;
           CREATE TABLE copied AS SELECT id, name FROM v;
           CREATE VIEW x AS SELECT 1;
           DROP VIEW x;"],
    );
    assert_eq!(
        shape,
        "table a
  id i64
  name text null
  at i64 null
table b
  id i64
  flag bool
table copied
  id i64 null
  name text null
view v
  id i64
  name text null
  at i64
  flag bool null
  again i64
  n i64
  kind text
  up text null
  narrow i32
view w
  one i64
  two bool"
    );
}

#[test]
fn types_that_the_migrations_make_are_known() {
    let shape = shape(
        Dialect::Pg,
        &["CREATE TYPE state AS ENUM ('a', 'b'); CREATE DOMAIN millis AS bigint CHECK (VALUE > 0);
           CREATE TABLE a (s state NOT NULL, t public.millis);"],
    );
    assert_eq!(shape, "table a\n  s enum\n  t i64 null");
}

#[test]
fn a_partition_has_the_columns_of_its_parent() {
    let shape = shape(
        Dialect::Pg,
        &["CREATE TABLE a (k smallint NOT NULL, id uuid, PRIMARY KEY (k)) PARTITION BY HASH (k);
           CREATE TABLE a_0 PARTITION OF a FOR VALUES WITH (MODULUS 2, REMAINDER 0);"],
    );
    assert!(shape.contains("table a_0\n  k i16\n  id uuid null\n  primary key [\"k\"]"), "{shape}");
}

#[test]
fn a_table_that_is_built_anew_takes_the_place_of_the_old_one() {
    let shape = shape(
        Dialect::Sqlite,
        &[
            "CREATE TABLE a (id INTEGER, old TEXT);",
            "CREATE TABLE a_new (id INTEGER NOT NULL, [key] TEXT, \"Mixed\" TEXT, UNIQUE (key)) STRICT;
           INSERT INTO a_new SELECT id, old, NULL FROM a;
           DROP TABLE a;
           ALTER TABLE a_new RENAME TO a;
           CREATE UNIQUE INDEX a_mixed ON a (mixed);",
        ],
    );
    assert_eq!(
        shape,
        "table a\n  id i64\n  key text null\n  mixed text null\n  unique [\"key\"]\n  unique [\"mixed\"]"
    );
}

#[test]
fn a_place_in_a_migration_is_exact_behind_wide_characters() {
    let (sources, schema, _) =
        read_all(Dialect::Pg, &["-- é\r\nCREATE TABLE a ( -- ü\r\n  /* é */ id int, \"größe\" int\r\n);"]);
    let table = &schema.tables["a"];
    assert_eq!(sources.text(table.span), "a");
    let columns: Vec<&str> = table.columns.iter().map(|column| sources.text(column.span)).collect();
    assert_eq!(columns, ["id", "\"größe\""]);
}

#[test]
fn clauses_that_say_nothing_about_columns_are_read_over() {
    let sqlite = shape(
        Dialect::Sqlite,
        &["CREATE TABLE a (id INTEGER PRIMARY KEY ON CONFLICT REPLACE, b TEXT COLLATE NOCASE REFERENCES x (y) ON DELETE CASCADE,
             c INTEGER CHECK (c IN (0, 1)), d TEXT AS (b || 'x') STORED, CONSTRAINT k UNIQUE (b) ON CONFLICT IGNORE)"],
    );
    assert_eq!(
        sqlite,
        "table a\n  id i64 default\n  b text null\n  c i64 null\n  d text null default\n  primary key [\"id\"]\n  \
         unique [\"b\"]\n  constraint k [\"b\"]"
    );
    let pg = shape(
        Dialect::Pg,
        &["CREATE UNLOGGED TABLE a (
             id bigint GENERATED BY DEFAULT AS IDENTITY (START WITH 1 INCREMENT BY 2 CACHE 3), d text ARRAY[3], e varchar(3)[][]
           ) PARTITION BY RANGE (id) WITH (fillfactor = 70) TABLESPACE fast;
           CREATE UNIQUE INDEX CONCURRENTLY i ON ONLY a USING btree (id DESC NULLS LAST) INCLUDE (d);
           CREATE DOMAIN name AS text NOT NULL DEFAULT 'a';
           CREATE MATERIALIZED VIEW b WITH (fillfactor = 70) AS SELECT id FROM a WITH NO DATA;
           ALTER TABLE a ALTER COLUMN d SET STORAGE EXTERNAL;
           ALTER TABLE a ADD CONSTRAINT x CHECK (id > 3) NOT VALID, VALIDATE CONSTRAINT x;
           DROP INDEX CONCURRENTLY IF EXISTS nowhere;"],
    );
    assert_eq!(
        pg,
        "table a\n  id i64 default\n  d text[] null\n  e text[] null\n  unique [\"id\"]\n  partitioned by [\"id\"]\n\
         view b\n  id i64"
    );
}

#[test]
fn a_key_of_a_type_of_several_words_is_no_row_id() {
    let of = |text: &str| read_all(Dialect::Sqlite, &["CREATE TABLE t (a TEXT)", text]);
    let (_, schema, found) = of("CREATE TABLE u (id UNSIGNED INTEGER PRIMARY KEY)");
    assert!(found.is_empty(), "{found:?}");
    assert!(!schema.tables["u"].columns[0].has_default);
    let (_, schema, found) = of("ALTER TABLE t ADD COLUMN b UNSIGNED BIG INT NOT NULL DEFAULT 0");
    assert!(found.is_empty(), "{found:?}");
    assert_eq!(schema.tables["t"].columns[1].ty.base.word(), "i64");
}

#[test]
fn types_of_several_words_are_read_whole_in_both_dialects() {
    let of = |dialect, declared: &str| {
        let text = format!("CREATE TABLE t (id integer NOT NULL, a {declared} NOT NULL, b text)");
        let (_, schema, found) = read_all(dialect, &[&text]);
        let columns = &schema.tables["t"].columns;
        assert_eq!(columns.len(), 3, "{declared}: {found:?}");
        (columns[1].ty.base.word(), found.len())
    };
    for (declared, word) in [
        ("double precision", "f64"),
        ("timestamp with time zone", "timestamp"),
        ("timestamp (3) without time zone", "datetime"),
        ("time without time zone", "time"),
        ("time with time zone", "interval"),
        ("character varying(20)", "text"),
        ("character (5)", "text"),
        ("interval day to second", "interval"),
        ("integer GENERATED ALWAYS AS (id * 2) STORED", "i32"),
        ("character varying(20) GENERATED ALWAYS AS (lower(b)) STORED", "text"),
        ("double precision[]", "text"),
    ] {
        assert_eq!(of(Dialect::Pg, declared).0, word, "{declared}");
    }
    for (declared, word) in [
        ("DOUBLE PRECISION", "f64"),
        ("CHARACTER VARYING(20)", "text"),
        ("TIMESTAMP WITH TIME ZONE", "timestamp"),
        ("INTEGER GENERATED ALWAYS AS (id * 2) STORED", "i64"),
        ("TEXT GENERATED ALWAYS AS (lower(b)) VIRTUAL", "text"),
        ("TEXT AS (lower(b))", "text"),
        ("UNSIGNED BIG INT", "i64"),
        ("VARYING CHARACTER(20)", "text"),
        ("NATIVE /* as it is */ CHARACTER (70) COLLATE NOCASE", "text"),
        ("LONG BLOB", "bytes"),
        ("INT UNSIGNED CHECK (a > 0)", "i64"),
    ] {
        assert_eq!(of(Dialect::Sqlite, declared), (word, 0), "{declared}");
    }
    // Known to Postgres, and to nothing else here: a word about the column, none about the table.
    for declared in ["bit varying", "bit varying(8)", "bit(3)", "double precision[]", "boolean[]", "timestamptz[]"] {
        let text = format!("CREATE TABLE t (a {declared} NOT NULL)");
        let (_, _, found) = read_all(Dialect::Pg, &[&text]);
        let messages: Vec<&str> = found.iter().map(|finding| finding.message.as_str()).collect();
        let [message] = messages.as_slice() else { panic!("{declared}: {messages:?}") };
        assert!(message.contains("has no counterpart in a generated API"), "{declared}: {message}");
    }
}

fn compared(sqlite: &str, pg: &str) -> Vec<String> {
    let mut sources = Sources::default();
    let mut schema = |text: &str, dialect: Dialect| {
        let file = sources.add(SourceFile::new(format!("{dialect}.sql"), text));
        super::read(&sources, &[file], dialect).0
    };
    let (sqlite, pg) = (schema(sqlite, Dialect::Sqlite), schema(pg, Dialect::Pg));
    let both = crate::dialect::Both { sqlite, pg };
    let compared = compare::compare(&crate::config::Config::default(), &both, &[]);
    compared.found.into_iter().map(|finding| format!("{}: {}", finding.severity.word(), finding.message)).collect()
}

#[test]
fn a_check_of_the_length_faces_the_length_of_a_type() {
    let lite = |checks: &str| format!("CREATE TABLE lot (id integer NOT NULL PRIMARY KEY, bay text NOT NULL{checks});");
    let pg = "CREATE TABLE lot (id bigint NOT NULL PRIMARY KEY, bay varchar(20) NOT NULL);";
    let padded = pg.replace("varchar(20)", "char(20)");
    let when = "WHEN length(NEW.bay) > 20 BEGIN SELECT RAISE(ABORT, 'long'); END;";
    let triggers = ["INSERT", "UPDATE"].map(|event| format!("CREATE TRIGGER {event}_lot BEFORE {event} ON lot {when}"));
    assert_eq!(compared(&lite(" CHECK (length(bay) <= 20)"), pg), [""; 0]);
    assert_eq!(compared(&lite(", CHECK (20 >= length(bay) AND length(bay) > 0)"), pg).len(), 1);
    assert_eq!(compared(&(lite("") + &triggers.concat()), pg), [""; 0]);
    for (lite, pg) in
        [(lite(""), pg), (lite(" CHECK (length(bay) <= 21)"), pg), (lite(" CHECK (length(bay) <= 20)"), &padded)]
    {
        let found = compared(&lite, pg);
        assert!(found.iter().any(|found| found.contains("Postgres refuses or pads texts")), "{found:?}");
    }
}

#[test]
fn triggers_that_refuse_rows_are_checks_where_both_ways_of_writing_are_watched() {
    let table = "CREATE TABLE lot (id integer NOT NULL PRIMARY KEY, state text NOT NULL, n bigint NOT NULL);";
    let trigger = |name: &str, event: &str, body: &str| {
        format!("CREATE TRIGGER {name} BEFORE {event} ON lot FOR EACH ROW {body};")
    };
    let when = "WHEN NEW.state NOT IN ('open', 'shut') BEGIN SELECT RAISE(ABORT, 'state'); END";
    let case = "BEGIN SELECT CASE WHEN NEW.n < 0 OR NEW.n > 9 THEN RAISE(ABORT, 'n') END; END";
    let both = |body: &str, tag: &str| {
        trigger(&format!("{tag}_i"), "INSERT", body) + &trigger(&format!("{tag}_u"), "UPDATE OF n, state", body)
    };
    let pg = |checks: &str| {
        format!("CREATE TABLE lot (id bigint NOT NULL PRIMARY KEY, state text NOT NULL, n bigint NOT NULL{checks});")
    };
    let (states, range) = (", CHECK (state IN ('open', 'shut'))", ", CHECK (n >= 0 AND n <= 9)");
    assert_eq!(compared(&(table.to_owned() + &both(when, "a")), &pg(states)), [""; 0]);
    assert_eq!(compared(&(table.to_owned() + &both(case, "b")), &pg(range)), [""; 0]);
    assert_eq!(
        compared(&(table.to_owned() + &both(when, "a") + &both(case, "b")), &pg(&format!("{states}{range}"))),
        [""; 0]
    );
    let missing = |here: &str| format!("error: schema: `lot` has a check in the {here} schema only");
    // An UPDATE goes past this one.
    assert_eq!(compared(&(table.to_owned() + &trigger("a_i", "INSERT", when)), &pg(states)), [missing("Postgres")]);
    let other = pg(", CHECK (state IN ('open'))");
    assert_eq!(compared(&(table.to_owned() + &both(when, "a")), &other), [missing("SQLite"), missing("Postgres")]);
    let dropped = table.to_owned() + &both(when, "a") + "DROP TRIGGER IF EXISTS a_u;";
    assert_eq!(compared(&dropped, &pg(states)), [missing("Postgres")]);
    for body in [
        "WHEN NEW.n < OLD.n BEGIN SELECT RAISE(ABORT, 'n'); END",
        "WHEN NEW.n < (SELECT max(n) FROM lot) BEGIN SELECT RAISE(ABORT, 'n'); END",
        "WHEN NEW.n < 0 BEGIN SELECT RAISE(IGNORE); END",
        "WHEN NEW.n < 0 BEGIN UPDATE lot SET n = 0; SELECT RAISE(ABORT, 'n'); END",
    ] {
        assert_eq!(compared(&(table.to_owned() + &both(body, "a")), &pg("")), [""; 0], "{body}");
    }
}

#[test]
fn a_column_that_is_renamed_is_so_in_its_checks() {
    let sqlite = "CREATE TABLE lot (id integer NOT NULL PRIMARY KEY, kind text NOT NULL CHECK (kind IN ('a', 'b')));\n\
                  ALTER TABLE lot RENAME COLUMN kind TO sort;";
    let pg = |column: &str| {
        format!("CREATE TABLE lot (id bigint NOT NULL PRIMARY KEY, sort text NOT NULL CHECK ({column} IN ('a', 'b')));")
    };
    assert_eq!(compared(sqlite, &pg("sort")), [""; 0]);
    assert_eq!(compared(sqlite, &pg("sort || 'x'")).len(), 2);
}

#[test]
fn an_index_by_cases_is_the_same_in_either_form_and_a_plain_one_alone_is_a_warning() {
    let table = |id: &str| {
        let seal = if id == "bigint" { "bytea" } else { "VARBINARY(16)" };
        format!("CREATE TABLE lot (id {id} NOT NULL PRIMARY KEY, state text NOT NULL, seal {seal});")
    };
    let sqlite = table("integer") + "CREATE INDEX lot_s ON lot (CASE state WHEN 'open' THEN 1 ELSE 2 END);";
    let pg = table("bigint") + "CREATE INDEX lot_s ON lot ((CASE WHEN state = 'open' THEN 1 ELSE 2 END));";
    assert_eq!(compared(&sqlite, &pg), [""; 0]);
    let plain = table("bigint") + "CREATE INDEX lot_s ON lot (state);";
    assert_eq!(
        compared(&table("integer"), &plain),
        ["warning: schema: `lot` has an index in the Postgres schema only"]
    );
    let unique = table("bigint") + "CREATE UNIQUE INDEX lot_s ON lot (state) WHERE state = 'open';";
    assert_eq!(compared(&table("integer"), &unique), ["error: schema: `lot` has an index in the Postgres schema only"]);
}

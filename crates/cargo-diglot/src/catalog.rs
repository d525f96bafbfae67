//! `cargo diglot catalog`: what an engine says of its own words, as data that the compiler reads.
//!
//! The compiler types expressions of Postgres by the rules that Postgres follows, offline. The facts behind those
//! rules (which operators, functions and casts there are, and for which types) come from the engine's own catalogs,
//! never from a list by hand; so does which functions there are in the SQLite that comes with the driver.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use diglot::config::MAJORS;
use sqlx::postgres::PgConnection;
use sqlx::sqlite::SqliteConnection;
use sqlx::{Connection as _, Executor as _, Row as _};

use crate::cli::Catalog;
use crate::failure::Failure;
use crate::host::{Host, Sorting};
use crate::{Outcome, report, runtime};

/// The major that is written out; of others it is written what they say otherwise.
const OLDEST: u16 = MAJORS[0];

/// The sections of the file: a title, what its columns are, and the query that gives its lines. Functions that no
/// statement can call, because they take or give what only the server handles, are left out.
const SECTIONS: [(&str, &str, &str); 6] = [
    (
        "types",
        "name, category, whether it is preferred there, kind, type of an array's elements",
        "SELECT concat_ws(' ', t.typname, t.typcategory, CASE WHEN t.typispreferred THEN 'y' ELSE 'n' END, t.typtype, \
                CASE WHEN t.typcategory = 'A' THEN e.typname END) \
           FROM pg_type AS t LEFT JOIN pg_type AS e ON e.oid = t.typelem \
          WHERE t.typnamespace = 'pg_catalog'::regnamespace AND t.typtype IN ('b', 'p', 'r', 'm') \
            AND (t.typrelid = 0) ORDER BY t.typname COLLATE \"C\"",
    ),
    (
        "casts",
        "from, to, where it is made: i in any expression, a where a value is assigned, e where it is written",
        "SELECT concat_ws(' ', s.typname, t.typname, c.castcontext) \
           FROM pg_cast AS c JOIN pg_type AS s ON s.oid = c.castsource JOIN pg_type AS t ON t.oid = c.casttarget \
          WHERE c.oid < 16384 ORDER BY s.typname COLLATE \"C\", t.typname COLLATE \"C\"",
    ),
    (
        "operators",
        "name, left type, right type (- where there is none), type of the result",
        "SELECT concat_ws(' ', o.oprname, COALESCE(l.typname, '-'), COALESCE(r.typname, '-'), t.typname) \
           FROM pg_operator AS o LEFT JOIN pg_type AS l ON l.oid = o.oprleft LEFT JOIN pg_type AS r ON r.oid = o.oprright \
           JOIN pg_type AS t ON t.oid = o.oprresult \
          WHERE o.oprnamespace = 'pg_catalog'::regnamespace \
          ORDER BY o.oprname COLLATE \"C\", l.typname COLLATE \"C\", r.typname COLLATE \"C\"",
    ),
    (
        "functions",
        "name, kind (f function, a aggregate, w window), types of the arguments (- for none), how many have a default, \
         type of a variadic argument's elements (-), s for a set or o for one value, type of the result",
        "SELECT concat_ws(' ', p.proname, p.prokind, \
                COALESCE((SELECT string_agg(a.typname, ',' ORDER BY i.place) \
                            FROM unnest(p.proargtypes) WITH ORDINALITY AS i(id, place) JOIN pg_type AS a ON a.oid = i.id), '-'), \
                p.pronargdefaults, COALESCE(v.typname, '-'), CASE WHEN p.proretset THEN 's' ELSE 'o' END, t.typname) \
           FROM pg_proc AS p LEFT JOIN pg_type AS v ON v.oid = p.provariadic JOIN pg_type AS t ON t.oid = p.prorettype \
          WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind IN ('f', 'a', 'w') \
            AND t.typname NOT IN ('internal', 'cstring', 'trigger', 'event_trigger', 'language_handler', 'fdw_handler', \
                                  'index_am_handler', 'table_am_handler', 'tsm_handler') \
            AND NOT EXISTS (SELECT 1 FROM unnest(p.proargtypes) AS i(id) JOIN pg_type AS a ON a.oid = i.id \
                             WHERE a.typname IN ('internal', 'cstring')) \
          ORDER BY p.proname COLLATE \"C\", p.proargtypes::text COLLATE \"C\"",
    ),
    (
        "moving",
        "what is not IMMUTABLE: name, what it is (c cast from that type, f function, o operator, w how that type is written \
         as text and read), types it takes or the cast gives, how many have a default, type of a variadic argument's \
         elements (-), s STABLE or v VOLATILE",
        "SELECT concat_ws(' ', name, word, given, defaults, more, stability) FROM ( \
           SELECT p.proname AS name, 'f' AS word, \
                  COALESCE((SELECT string_agg(a.typname, ',' ORDER BY i.place) \
                              FROM unnest(p.proargtypes) WITH ORDINALITY AS i(id, place) JOIN pg_type AS a ON a.oid = i.id), '-') AS given, \
                  p.pronargdefaults AS defaults, COALESCE(v.typname, '-') AS more, p.provolatile AS stability \
             FROM pg_proc AS p LEFT JOIN pg_type AS v ON v.oid = p.provariadic JOIN pg_type AS t ON t.oid = p.prorettype \
            WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind IN ('f', 'a', 'w') AND p.provolatile <> 'i' \
              AND t.typname NOT IN ('internal', 'cstring', 'trigger', 'event_trigger', 'language_handler', 'fdw_handler', \
                                    'index_am_handler', 'table_am_handler', 'tsm_handler') \
              AND NOT EXISTS (SELECT 1 FROM unnest(p.proargtypes) AS i(id) JOIN pg_type AS a ON a.oid = i.id \
                               WHERE a.typname IN ('internal', 'cstring')) \
           UNION ALL \
           SELECT o.oprname, 'o', concat_ws(',', l.typname, r.typname), 0, '-', p.provolatile \
             FROM pg_operator AS o LEFT JOIN pg_type AS l ON l.oid = o.oprleft LEFT JOIN pg_type AS r ON r.oid = o.oprright \
             JOIN pg_proc AS p ON p.oid = o.oprcode \
            WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND p.provolatile <> 'i' \
           UNION ALL \
           SELECT s.typname, 'c', t.typname, 0, '-', p.provolatile \
             FROM pg_cast AS c JOIN pg_type AS s ON s.oid = c.castsource JOIN pg_type AS t ON t.oid = c.casttarget \
             JOIN pg_proc AS p ON p.oid = c.castfunc WHERE c.oid < 16384 AND p.provolatile <> 'i' \
           UNION ALL \
           SELECT t.typname, 'w', '-', 0, '-', greatest(i.provolatile, o.provolatile) \
             FROM pg_type AS t JOIN pg_proc AS i ON i.oid = t.typinput JOIN pg_proc AS o ON o.oid = t.typoutput \
            WHERE t.typnamespace = 'pg_catalog'::regnamespace AND t.typtype = 'b' AND t.typelem = 0 AND t.typrelid = 0 \
              AND (i.provolatile <> 'i' OR o.provolatile <> 'i')) AS found \
          ORDER BY word COLLATE \"C\", name COLLATE \"C\", given COLLATE \"C\"",
    ),
    (
        "keywords",
        "word, where it may name something: U anywhere, C not a function or type, T a function or type alone, R nothing",
        "SELECT concat_ws(' ', word, catcode) FROM pg_get_keywords() ORDER BY word COLLATE \"C\"",
    ),
];

pub(crate) fn run(arguments: &Catalog) -> Result<Outcome, Failure> {
    let (major, text) =
        runtime()?.block_on(Host::during(&arguments.postgres, Sorting::Server, async |host| read(host).await))?;
    let (version, functions) = runtime()?.block_on(read_sqlite())?;
    let sqlite = is_written(arguments, &format!("sqlite-{version}.txt"), &functions, &format!("SQLite {version}"))?;
    let text = if major == OLDEST { text } else { otherwise(arguments, major, &text)? };
    let pg = is_written(arguments, &format!("pg-{major}.txt"), &text, &format!("Postgres {major}"))?;
    Ok(if sqlite && pg { Outcome::Clean } else { Outcome::Findings })
}

/// What a later major says otherwise than the oldest: section by section the lines that it does not have, and those that
/// are new.
fn otherwise(arguments: &Catalog, major: u16, text: &str) -> Result<String, Failure> {
    let path = arguments.folder.join(format!("pg-{OLDEST}.txt"));
    let oldest =
        fs::read_to_string(&path).map_err(Failure::io(format!("read {}, which comes first", path.display())))?;
    let (known, said) = (sections(&oldest), sections(text));
    let mut all = format!(
        "-- What Postgres {major} says otherwise than Postgres {OLDEST}; `cargo diglot catalog` writes it.\n\
         -- - before what it does not have, + before what is new; the columns are those of pg-{OLDEST}.txt.\n"
    );
    for (title, ..) in SECTIONS {
        let [known, said] = [&known, &said].map(|text| text.get(title).cloned().unwrap_or_default());
        let less = known.difference(&said).map(|line| format!("- {line}\n"));
        let more = said.difference(&known).map(|line| format!("+ {line}\n"));
        let lines: String = less.chain(more).collect();
        if !lines.is_empty() {
            let _ = write!(all, "\n[{title}]\n{lines}");
        }
    }
    Ok(all)
}

/// The lines of each section of a catalog.
fn sections(text: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut sections: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut title = "";
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with("-- ")) {
        match line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(name) => title = name,
            None => drop(sections.entry(title).or_default().insert(line)),
        }
    }
    sections
}

/// Writes a file, or asks whether it is what the engine says.
fn is_written(arguments: &Catalog, name: &str, text: &str, engine: &str) -> Result<bool, Failure> {
    let path = arguments.folder.join(name);
    let known = fs::read_to_string(&path).ok();
    if known.as_deref() == Some(text) {
        report::line(&format!("{} holds what {engine} says", path.display()));
        return Ok(true);
    }
    if arguments.check {
        report::line(&format!("{} is not what {engine} says", path.display()));
        return Ok(false);
    }
    fs::write(&path, text).map_err(Failure::io(format!("write {}", path.display())))?;
    report::line(&format!("{} written", path.display()));
    Ok(true)
}

/// The version of the SQLite that comes with the driver, and its functions.
async fn read_sqlite() -> Result<(String, String), Failure> {
    let asked = Failure::engine("read SQLite's functions");
    let wanted = async {
        let mut connection = SqliteConnection::connect("sqlite::memory:").await?;
        let version: String = connection.fetch_one(sqlx::raw_sql("SELECT sqlite_version()")).await?.try_get(0)?;
        let mut text = format!("-- What SQLite {version} says of its own words; `cargo diglot catalog` writes it.\n");
        text.push_str(
            "\n[functions]\n-- name, kind (s for one value, a for an aggregate, w for a window), how many values: ",
        );
        text.push_str("-1 for any number, -3 and less for a least one\n");
        let query = "SELECT name || ' ' || type || ' ' || narg FROM pragma_function_list \
            WHERE builtin AND name <> '' AND instr(name, ' ') = 0 GROUP BY name, type, narg ORDER BY name, type, narg";
        for row in connection.fetch_all(sqlx::raw_sql(query)).await? {
            text.push_str(row.try_get(0)?);
            text.push('\n');
        }
        Ok::<_, sqlx::Error>((version, text))
    };
    wanted.await.map_err(asked)
}

/// The server's major version.
pub(crate) async fn major(connection: &mut PgConnection) -> Result<i32, sqlx::Error> {
    let version = "SELECT current_setting('server_version_num')::integer / 10000";
    connection.fetch_one(sqlx::raw_sql(version)).await?.try_get(0)
}

/// The server's major version and its catalogs.
async fn read(host: &Host) -> Result<(u16, String), Failure> {
    let asked = Failure::engine("read Postgres's catalogs");
    let wanted = async {
        let mut connection = host.scratch.connect().await.map_err(|_| sqlx::Error::WorkerCrashed)?;
        let major = u16::try_from(major(&mut connection).await?).unwrap_or_default();
        let mut text = format!("-- What Postgres {major} says of its own words; `cargo diglot catalog` writes it.\n");
        for (title, columns, query) in SECTIONS {
            let _ = write!(text, "\n[{title}]\n-- {columns}\n");
            for row in connection.fetch_all(sqlx::raw_sql(query)).await? {
                text.push_str(row.try_get(0)?);
                text.push('\n');
            }
        }
        Ok::<_, sqlx::Error>((major, text))
    };
    wanted.await.map_err(asked)
}

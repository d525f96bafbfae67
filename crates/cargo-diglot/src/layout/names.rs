//! Places that the names of folders and files tell: `db/sqlite`, `store/postgres/lots.go`, `schema_pg.sql`.
//!
//! The innermost folder whose name says one database decides, and without such a folder the name of the file. What is left
//! of the path without that word is the site: places of one site face each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use diglot::dialect::{Both, Dialect};
use diglot::extract;
use diglot::source::Role;

use super::{FOREIGN, Places, Search, is_own, joined};

/// How many folders deep files are looked for.
const DEPTH: usize = 16;
/// The longest file that is read.
const BYTES: u64 = 4 << 20;
/// How many places are named where something is missing.
const NAMED: usize = 4;
/// What the head of a file has that was written by a program, as the tools of Go have it.
const GENERATED: &str = "Code generated ";
/// How many bytes of a file are its head.
const HEAD: usize = 400;

/// A file whose path says its database.
struct File {
    path: String,
    dialect: Dialect,
    site: String,
    /// Whether a folder says it, and not the name of the file.
    by_folder: bool,
    text: String,
    roles: Vec<Role>,
}

/// What a dialect has in a site.
#[derive(Default)]
struct Part {
    queries: BTreeSet<String>,
    schema: BTreeSet<String>,
    /// How many files give statements.
    files: usize,
    /// The tables that its schema makes.
    tables: BTreeSet<String>,
}

/// Sites by what is left of their paths.
type Sites = BTreeMap<String, Both<Part>>;

/// Looks for SQL of both databases below a folder.
pub(super) fn find(root: &Path) -> Search {
    let mut looked = Looked::default();
    let mut files = Vec::new();
    walk(root, "", DEPTH, &mut looked, &mut files);
    take_in(root, &mut files);
    let sites = sites(files);
    choose(&sites).unwrap_or_else(|| Search::Nothing { why: looked.why(&sites) })
}

/// Adds the files of SQL that code of one database takes in, wherever they stand, unless they say themselves what they are.
fn take_in(root: &Path, files: &mut Vec<File>) {
    let known: BTreeSet<String> = files.iter().map(|file| file.path.clone()).collect();
    let mut taken: BTreeMap<String, Option<File>> = BTreeMap::new();
    for file in files.iter() {
        for path in extract::taken_in(&file.path, &file.text).into_iter().filter(|path| !known.contains(path)) {
            let Some(text) = read(&root.join(&path)) else { continue };
            let of_both =
                taken.get(&path).is_some_and(|one| one.as_ref().is_none_or(|one| one.dialect != file.dialect));
            let roles = extract::gives(&path, &text);
            let (dialect, site) = (file.dialect, file.site.clone());
            let one = File { path: path.clone(), dialect, site, by_folder: false, text, roles };
            taken.insert(path, Some(one).filter(|_| !of_both));
        }
    }
    files.extend(taken.into_values().flatten());
}

/// How many files were looked at, and how many of these say their database.
#[derive(Default)]
struct Looked {
    all: usize,
    named: usize,
}

/// Gathers the files below a folder that say their database and give something.
fn walk(root: &Path, folder: &str, depth: usize, looked: &mut Looked, files: &mut Vec<File>) {
    // A folder that cannot be read has nothing that could be.
    let Some(entries) = depth.checked_sub(1).and_then(|_| fs::read_dir(root.join(folder)).ok()) else { return };
    let mut names: Vec<(String, bool)> = entries
        .flatten()
        .filter_map(|entry| {
            // A link may lead round in a circle.
            let kind = entry.file_type().ok().filter(|kind| !kind.is_symlink())?;
            Some((entry.file_name().into_string().ok()?, kind.is_dir()))
        })
        .collect();
    names.sort();
    let mut here = Vec::new();
    for (name, is_folder) in names {
        let path = joined(folder, &name);
        if is_folder {
            if is_own(&name) {
                walk(root, &path, depth - 1, looked, files);
            }
        } else if is_read(&name) {
            looked.all += 1;
            let said = said(&path);
            looked.named += usize::from(said.is_some());
            here.extend(said.and_then(|(dialect, site, by_folder)| {
                let text = read(&root.join(&path))?;
                let roles = extract::gives(&path, &text);
                let mut file = File { path, dialect, site, by_folder, text, roles };
                if is_way_back(&file) {
                    file.roles.clear();
                }
                Some(file)
            }));
        }
    }
    settle(&mut here);
    files.append(&mut here);
}

/// Whether a file may hold SQL of the program: neither hidden, nor a test, nor a way back that the compiler passes over.
fn is_read(name: &str) -> bool {
    let is_sql = name.ends_with(".sql") && !name.ends_with(".down.sql");
    !name.starts_with('.') && (is_sql || extract::reads(name) && !name.ends_with("_test.go"))
}

fn read(path: &Path) -> Option<String> {
    fs::metadata(path).ok().filter(|data| data.len() <= BYTES)?;
    fs::read_to_string(path).ok()
}

/// The dialect that a name says, if it says one alone, and what is left of the name.
fn of_name(name: &str) -> Option<(Dialect, String)> {
    let lower = name.to_lowercase();
    let words = || lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let said: BTreeSet<Dialect> = words().filter_map(Dialect::of_word).collect();
    let rest: Vec<&str> = words().filter(|word| Dialect::of_word(word).is_none()).collect();
    (said.len() == 1).then_some(()).and(said.into_iter().next()).map(|dialect| (dialect, rest.join("-")))
}

/// The dialect that a path says, its site, and whether a folder says it.
fn said(path: &str) -> Option<(Dialect, String, bool)> {
    let mut parts: Vec<&str> = path.split('/').collect();
    let file = parts.pop()?;
    for at in (0..parts.len()).rev() {
        if let Some((dialect, rest)) = of_name(parts[at]) {
            let above = parts[..at].join("/");
            return Some((dialect, if rest.is_empty() { above } else { joined(&above, &rest) }, true));
        }
    }
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    of_name(stem).map(|(dialect, _)| (dialect, parts.join("/"), false))
}

/// Says of the files of SQL in a folder what its other files tell: among steps of a schema each one is a step, whatever it
/// does first; and what a program wrote from files of SQL says nothing new.
fn settle(files: &mut [File]) {
    let is_sql = |file: &File| file.path.ends_with(".sql");
    let is_headed: Vec<bool> = files.iter().map(|file| has_header(&file.text)).collect();
    let steps = files.iter().filter(|file| is_sql(file) && file.roles.contains(&Role::Schema)).count();
    let all = files.iter().filter(|file| is_sql(file) && !is_way_back(file)).count();
    let is_schema = steps > 0 && steps * 2 >= all;
    for (file, is_headed) in files.iter_mut().zip(is_headed) {
        let is_step = is_schema || is_numbered(&file.path) && steps > 0;
        if is_sql(file) && is_step && !is_headed && !is_way_back(file) {
            file.roles = vec![Role::Schema];
        }
        let head = file.text.get(..HEAD.min(file.text.len())).unwrap_or_default();
        if !is_sql(file) && head.contains(GENERATED) {
            file.roles.clear();
        }
    }
}

/// Whether a file leads a migration back that stands beside it in the same folder.
fn is_way_back(file: &File) -> bool {
    file.path == "down.sql" || file.path.ends_with("/down.sql")
}

/// Whether a file's name begins with a number, as steps do: `0001_lot.sql`, `V2__bay.sql`.
fn is_numbered(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_prefix(['V', 'U']).unwrap_or(name).starts_with(|c: char| c.is_ascii_digit())
}

/// Whether a comment gives a statement its name.
fn has_header(text: &str) -> bool {
    let comments = text.lines().map(str::trim_start).filter(|line| line.starts_with("--") || line.starts_with("/*"));
    comments.map(|line| line.trim_start_matches(['-', '/', '*', ' '])).any(|line| line.starts_with("name:"))
}

/// The places of each site.
fn sites(files: Vec<File>) -> Sites {
    let mut folders: BTreeMap<(String, String), Vec<File>> = BTreeMap::new();
    for file in files {
        let (folder, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        folders.entry((folder.to_owned(), ending.to_owned())).or_default().push(file);
    }
    let mut sites = Sites::new();
    for ((folder, ending), files) in folders {
        for role in [Role::Statements, Role::Schema] {
            let gives = |file: &&File| file.roles.contains(&role);
            let is_whole = files.iter().all(|file| file.by_folder && gives(&file));
            let of_code = ending != "sql" && files.iter().all(|file| file.by_folder && !file.roles.is_empty());
            for file in files.iter().filter(gives) {
                let part = &mut sites.entry(file.site.clone()).or_default()[file.dialect];
                let place = match (is_whole || of_code, ending.as_str()) {
                    (false, _) => file.path.clone(),
                    (true, "sql") => folder.clone(),
                    (true, ending) => format!("{folder}/*.{ending}"),
                };
                if role == Role::Schema {
                    part.schema.insert(place);
                    part.tables.extend(tables(&file.text));
                } else {
                    part.queries.insert(place);
                    part.files += 1;
                }
            }
        }
    }
    sites
}

/// The names behind CREATE TABLE.
fn tables(text: &str) -> BTreeSet<String> {
    let lower = text.to_lowercase();
    let behind = lower.split("create table").skip(1).map(|rest| {
        let rest = rest.trim_start();
        let name = rest.strip_prefix("if not exists").unwrap_or(rest).trim_start();
        name.split(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default().replace(['"', '`'], "")
    });
    behind.filter(|name| !name.is_empty()).collect()
}

/// How many folders two sites have in common.
fn common(one: &str, other: &str) -> usize {
    let parts = |site: &'_ str| site.split('/').map(str::to_owned).collect::<Vec<_>>();
    parts(one).iter().zip(parts(other)).filter(|(a, _)| !a.is_empty()).take_while(|(a, b)| *a == b).count()
}

/// Sites of statements with those of their schema.
struct Group<'s> {
    sites: Vec<(&'s str, &'s Both<Part>)>,
    files: usize,
}

/// The places that belong together: the sites of statements with the schemas that are nearest to each. Those whose tables
/// have the names of others are beside.
fn choose(sites: &Sites) -> Option<Search> {
    let has = |of: fn(&Part) -> &BTreeSet<String>| {
        let both = move |(_, site): &(&String, &Both<Part>)| site.iter().all(|part| !of(part).is_empty());
        sites.iter().filter(both).map(|(key, _)| key.as_str()).collect::<Vec<&str>>()
    };
    let (queries, schemas) = (has(|part| &part.queries), has(|part| &part.schema));
    if queries.is_empty() || schemas.is_empty() {
        let all: Vec<_> = sites.iter().map(|(key, site)| (key.as_str(), site)).collect();
        let places = places(&all);
        let is_there =
            [&places.queries, &places.schema].into_iter().flat_map(Both::iter).all(|place| !place.is_empty());
        return is_there.then_some(Search::Found { places, beside: Vec::new() });
    }
    let mut groups: BTreeMap<Vec<&str>, Vec<&str>> = BTreeMap::new();
    for site in queries {
        let nearest = schemas.iter().map(|schema| common(site, schema)).max().unwrap_or_default();
        let of_site = schemas.iter().filter(|schema| common(site, schema) == nearest).copied().collect();
        groups.entry(of_site).or_default().push(site);
    }
    let mut groups: Vec<Group<'_>> =
        groups.into_iter().map(|(schema, queries)| group(sites, &schema, &queries)).collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.files));
    let (mut taken, mut together, mut beside) = (BTreeSet::new(), Vec::new(), Vec::new());
    for group in groups {
        let tables: BTreeSet<&String> =
            group.sites.iter().flat_map(|(_, site)| site.iter().flat_map(|part| &part.tables)).collect();
        if taken.is_disjoint(&tables) {
            taken.extend(tables);
            together.extend(group.sites);
        } else {
            let gives = |(_, site): &&(&str, &Both<Part>)| site.iter().all(|part| part.files > 0);
            beside.extend(group.sites.iter().filter(gives).map(|(key, _)| (*key).to_owned()));
        }
    }
    Some(Search::Found { places: places(&together), beside })
}

fn group<'s>(sites: &'s Sites, schema: &[&str], queries: &[&str]) -> Group<'s> {
    let keys: BTreeSet<&str> = schema.iter().chain(queries).copied().collect();
    let own = sites.iter().filter(|(key, _)| keys.contains(key.as_str())).map(|(key, site)| (key.as_str(), site));
    let own: Vec<_> = own.collect();
    let files = own.iter().flat_map(|(_, site)| site.iter().map(|part| part.files)).sum();
    Group { sites: own, files }
}

fn places(sites: &[(&str, &Both<Part>)]) -> Places {
    let all = |of: fn(&Part) -> &BTreeSet<String>| {
        Both::of(|dialect| {
            let places: BTreeSet<&String> = sites.iter().flat_map(|(_, site)| of(&site[dialect])).collect();
            places.into_iter().cloned().collect()
        })
    };
    let told_by = "folders and files whose names say a database".to_owned();
    Places { told_by, queries: all(|part| &part.queries), schema: all(|part| &part.schema) }
}

impl Looked {
    /// Why there is no pair, and what one needs.
    fn why(&self, sites: &Sites) -> String {
        let all: Vec<_> = sites.iter().map(|(key, site)| (key.as_str(), site)).collect();
        let Places { queries, schema, .. } = places(&all);
        let listed = |places: &[String]| match places.len() {
            0 => "none".to_owned(),
            count if count > NAMED => format!("{} and {} more", places[..NAMED].join(", "), count - NAMED),
            _ => places.join(", "),
        };
        let mut why = format!(
            "no SQL for both databases was found\nlooked at: {} of SQL, Go and Rust, of which {} in folders or files \
             whose names say a database; not below folders that begin with a dot, nor below {}\n",
            crate::report::counted(self.all, "file"),
            self.named,
            FOREIGN.join(", "),
        );
        for dialect in Dialect::ALL {
            let (queries, schema) = (listed(&queries[dialect]), listed(&schema[dialect]));
            why.push_str(&format!("{}: statements: {queries}; schema: {schema}\n", dialect.title()));
        }
        let words = |dialect: Dialect| dialect.words().join(", ");
        why.push_str(&format!(
            "needed: statements and a schema (CREATE TABLE) of each database, in folders or files whose names have one of the \
             words {} for SQLite and {} for Postgres; or a sqlc.yaml with both engines\nwhere the names do not say it, \
             diglot.toml does: docs/adopting.md",
            words(Dialect::Sqlite),
            words(Dialect::Pg),
        ));
        why
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "CREATE TABLE lot (id BIGINT PRIMARY KEY);\n";
    const QUERY: &str = "-- name: lot_get :one\nSELECT id FROM lot WHERE id = $1;\n";

    fn found(files: &[(&str, &str)]) -> Search {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        find(root.path())
    }

    /// Queries of both, then schemas of both.
    fn lists(files: &[(&str, &str)]) -> [Vec<String>; 4] {
        match found(files) {
            Search::Found { places: Places { queries, schema, .. }, .. } => {
                [queries.sqlite, queries.pg, schema.sqlite, schema.pg]
            }
            Search::Nothing { why } => panic!("{why}"),
        }
    }

    fn one(places: [&str; 4]) -> [Vec<String>; 4] {
        places.map(|place| vec![place.to_owned()])
    }

    #[test]
    fn a_name_says_a_database_by_one_of_its_words_alone() {
        let said = |path| said(path).map(|(dialect, site, _)| (dialect, site));
        let site = |site: &str| site.to_owned();
        assert_eq!(said("db/sqlite3/lot.sql"), Some((Dialect::Sqlite, site("db"))));
        assert_eq!(said("crates/store-postgres/src/lib.rs"), Some((Dialect::Pg, site("crates/store"))));
        assert_eq!(said("db/schema_pg.sql"), Some((Dialect::Pg, site("db"))));
        assert_eq!(said("pg/lite/lot.sql"), Some((Dialect::Sqlite, site("pg"))));
        assert_eq!(said("sqlite-to-pg/lot.sql"), None);
        assert_eq!(said("elite/lot.sql"), None);
    }

    #[test]
    fn folders_of_statements_and_of_migrations_are_told_apart_by_what_is_in_them() {
        let files = [
            ("db/sqlite/queries/lot.sql", QUERY),
            ("db/postgres/queries/lot.sql", QUERY),
            ("db/sqlite/migrations/1_lot.sql", TABLE),
            ("db/sqlite/migrations/2_fill.sql", "UPDATE lot SET id = id + 1;\n"),
            ("db/sqlite/migrations/3_note.sql", "-- Nothing is done.\n"),
            ("db/postgres/migrations/1_lot.up.sql", TABLE),
            ("db/postgres/migrations/1_lot.down.sql", "DROP TABLE lot;\n"),
            ("vendor/sqlite/other.sql", TABLE),
        ];
        let expected = ["db/sqlite/queries", "db/postgres/queries", "db/sqlite/migrations", "db/postgres/migrations"];
        assert_eq!(lists(&files), one(expected));
    }

    #[test]
    fn one_file_for_each_database_is_a_place() {
        let files =
            [("schema_sqlite.sql", TABLE), ("schema_pg.sql", TABLE), ("lite/q.sql", QUERY), ("psql/q.sql", QUERY)];
        assert_eq!(lists(&files), one(["lite", "psql", "schema_sqlite.sql", "schema_pg.sql"]));
    }

    #[test]
    fn each_step_in_a_folder_of_its_own_leads_up() {
        let files = [
            ("sqlite/queries/get.sql", "SELECT id FROM lot WHERE id = ?"),
            ("pg/queries/get.sql", "SELECT id FROM lot WHERE id = $1"),
            ("sqlite/migrations/1_a/up.sql", TABLE),
            ("sqlite/migrations/1_a/down.sql", "DROP TABLE lot;\n"),
            ("pg/migrations/1_a/up.sql", TABLE),
        ];
        let expected = ["sqlite/queries", "pg/queries", "sqlite/migrations/1_a/up.sql", "pg/migrations/1_a"];
        assert_eq!(lists(&files), one(expected));
    }

    #[test]
    fn literals_of_programs_count_and_what_a_program_wrote_does_not() {
        let go = "package lot\n\nconst get = \"SELECT id FROM lot WHERE id = $1\"\nconst all = `CREATE TABLE lot (id INT)`\n";
        let written = format!("// Code generated by a tool. DO NOT EDIT.\n{go}");
        let files = [
            ("store/sqlite3/lot.go", go),
            ("store/sqlite3/lot_test.go", go),
            ("store/postgres/lot.go", go),
            ("store/postgres/lot.sql.go", &written),
        ];
        let places = ["store/sqlite3/*.go", "store/postgres/lot.go"];
        assert_eq!(lists(&files), one([places[0], places[1], places[0], places[1]]));
    }

    #[test]
    fn projects_beside_each_other_are_taken_together_unless_tables_have_the_same_names() {
        let schema = |name: &str| TABLE.replace("lot", name);
        let (bay, lot) = (schema("bay"), schema("lot"));
        let more = [("a/sqlite/more.sql", QUERY), ("a/pg/more.sql", QUERY)];
        let with = |other: &str| {
            let other = other.to_owned();
            let files = [
                ("a/sqlite/q.sql", QUERY),
                ("a/pg/q.sql", QUERY),
                ("a/migrations/sqlite/1.sql", lot.as_str()),
                ("a/migrations/pg/1.sql", lot.as_str()),
                ("b/sqlite/q.sql", QUERY),
                ("b/pg/q.sql", QUERY),
                ("b/migrations/sqlite/1.sql", other.as_str()),
                ("b/migrations/pg/1.sql", other.as_str()),
            ];
            match found(&[files.as_slice(), &more].concat()) {
                Search::Found { places, beside } => (places.queries.sqlite, beside),
                Search::Nothing { why } => panic!("{why}"),
            }
        };
        assert_eq!(with(&bay), (vec!["a/sqlite".to_owned(), "b/sqlite".to_owned()], Vec::new()));
        assert_eq!(with(&lot), (vec!["a/sqlite".to_owned()], vec!["b".to_owned()]));
    }

    #[test]
    fn where_one_database_is_missing_it_is_said_what_was_found() {
        let Search::Nothing { why } = found(&[("db/sqlite/q.sql", QUERY), ("notes.sql", TABLE)]) else {
            panic!("a pair without Postgres");
        };
        assert!(why.contains("looked at: 2 files of SQL, Go and Rust, of which 1 in folders"), "{why}");
        assert!(why.contains("SQLite: statements: db/sqlite; schema: none\n"), "{why}");
        assert!(why.contains("Postgres: statements: none; schema: none\n"), "{why}");
    }
}

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
    /// What its statements may name as tables.
    named: BTreeSet<String>,
}

/// Sites by what is left of their paths.
type Sites = BTreeMap<String, Both<Part>>;

/// Looks for SQL of both databases below a folder.
pub(super) fn find(root: &Path) -> Search {
    let mut looked = Looked::default();
    let mut files = Vec::new();
    walk(root, "", DEPTH, &mut looked, &mut files);
    files.sort_by(|one, other| home(&one.path).cmp(home(&other.path)));
    files.chunk_by_mut(|one, other| home(&one.path) == home(&other.path)).for_each(settle);
    leave_steps_out(&mut files);
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
            files.extend(said.and_then(|(dialect, site, by_folder)| {
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

/// The folder that a file belongs to, whatever release or step the folders below it are named for.
fn home(path: &str) -> &str {
    let mut folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    while let Some((above, _)) = folder.rsplit_once('/').filter(|(_, name)| is_number(name)) {
        folder = above;
    }
    folder
}

/// Passes over the steps that lead to a schema which stands as a whole above them: `schema.sql` beside `versions/0.2/`.
///
/// That it has the tables of theirs is told by one that a step makes, and does not only make anew.
fn leave_steps_out(files: &mut [File]) {
    let is_step = |file: &File, folder: &str| {
        let below = file.path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
        below.is_some_and(|below| {
            let is_numbered = below.rsplit('/').next().is_some_and(is_numbered) || below.split('/').any(is_number);
            below.contains('/') && is_numbered && below.ends_with(".sql")
        })
    };
    let gives_schema = |file: &&File| file.path.ends_with(".sql") && file.roles.contains(&Role::Schema);
    let mut left: BTreeSet<String> = BTreeSet::new();
    for whole in files.iter().filter(gives_schema).filter(|file| !is_numbered(&file.path)) {
        let Some((folder, _)) = whole.path.rsplit_once('/') else { continue };
        let (made, steps) = (
            tables(&whole.text),
            files.iter().filter(|file| file.dialect == whole.dialect && is_step(file, folder)).collect::<Vec<_>>(),
        );
        let makes = |step: &&&File| {
            let lower = step.text.to_lowercase();
            !lower.contains("rename to") && !lower.contains("drop table") && !made.is_disjoint(&tables(&step.text))
        };
        if steps.iter().any(|step| makes(&step)) {
            left.extend(steps.iter().map(|step| step.path.clone()));
        }
    }
    files.iter_mut().filter(|file| left.contains(&file.path)).for_each(|file| file.roles.clear());
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
        // What makes tables behind something else is a schema too.
        let makes = file.roles.is_empty() && !tables(&file.text).is_empty();
        let is_step = is_schema || makes || is_numbered(&file.path) && steps > 0;
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
    is_number(name.strip_prefix('U').unwrap_or(name))
}

/// Whether the name of a folder or file begins with a number: `0.2`, `v1.0`.
fn is_number(name: &str) -> bool {
    name.strip_prefix(['v', 'V']).unwrap_or(name).starts_with(|c: char| c.is_ascii_digit())
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
                    part.named.extend(named(&file.text));
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

/// What stands where statements name a table.
fn named(text: &str) -> BTreeSet<String> {
    let lower = text.to_lowercase();
    let words = || lower.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
    let pairs = words().zip(words().skip(1));
    pairs
        .filter(|(word, _)| ["from", "into", "update", "join"].contains(word))
        .map(|(_, name)| name.to_owned())
        .collect()
}

/// The schemas that a site of statements needs: those that are nearest, and others whose tables it names.
fn needed<'s>(sites: &Sites, site: &str, schemas: &[&'s str]) -> Vec<&'s str> {
    let tables = |schema: &str| sites[schema].iter().flat_map(|part| &part.tables).collect::<BTreeSet<_>>();
    let named: BTreeSet<&String> = sites[site].iter().flat_map(|part| &part.named).collect();
    let nearest = schemas.iter().map(|schema| common(site, schema)).max().unwrap_or_default();
    let (mut taken, mut others): (Vec<&str>, Vec<&str>) =
        schemas.iter().partition(|schema| common(site, schema) == nearest);
    let mut made: BTreeSet<&String> = taken.iter().flat_map(|schema| tables(schema)).collect();
    others.sort_by_key(|schema| std::cmp::Reverse(common(site, schema)));
    for other in others {
        let tables = tables(other);
        if tables.iter().any(|table| named.contains(table) && !made.contains(table)) {
            made.extend(tables);
            taken.push(other);
        }
    }
    taken.sort_unstable();
    taken
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
    // Statements that need one schema belong together.
    let mut groups: Vec<(BTreeSet<&str>, Vec<&str>)> = Vec::new();
    for site in queries {
        let (mut schema, mut queries) = (BTreeSet::from_iter(needed(sites, site, &schemas)), vec![site]);
        groups.retain_mut(|(other, of_other)| {
            let is_other = schema.is_disjoint(other);
            if !is_other {
                schema.append(other);
                queries.append(of_other);
            }
            is_other
        });
        groups.push((schema, queries));
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

fn group<'s>(sites: &'s Sites, schema: &BTreeSet<&str>, queries: &[&str]) -> Group<'s> {
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
mod tests;

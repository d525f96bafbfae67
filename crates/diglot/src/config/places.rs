//! Where the files of both dialects are: folders and files, one or several for each.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

use crate::dialect::Dialect;

/// Where the files of both dialects are: one folder that holds `sqlite/` and `pg/`, or folders and files for each.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(with = "super::schema::Or<String, Each>"))]
pub struct Places {
    shared: Option<String>,
    sqlite: Vec<String>,
    pg: Vec<String>,
}

/// A place for each dialect, as it is written.
#[derive(serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct Each {
    /// The folders and files of SQLite.
    sqlite: OneOrMany,
    /// The folders and files of Postgres.
    pg: OneOrMany,
}

/// A place, or a list of them.
#[derive(serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    fn into_list(self) -> Vec<String> {
        match self {
            Self::One(place) => vec![place],
            Self::Many(places) => places,
        }
    }
}

impl Places {
    /// The folders `sqlite` and `pg` in a folder.
    pub fn below(folder: &str) -> Self {
        let folder = folder.trim_end_matches('/');
        let of = |dialect: Dialect| vec![format!("{folder}/{dialect}")];
        Self { shared: Some(folder.to_owned()), sqlite: of(Dialect::Sqlite), pg: of(Dialect::Pg) }
    }

    /// Folders and files for each dialect.
    pub fn each(sqlite: Vec<String>, pg: Vec<String>) -> Self {
        let places = |paths: Vec<String>| paths.iter().map(|path| path.trim_end_matches('/').to_owned()).collect();
        Self { shared: None, sqlite: places(sqlite), pg: places(pg) }
    }

    /// The folders and files of a dialect, without slashes at their ends.
    pub fn of(&self, dialect: Dialect) -> &[String] {
        match dialect {
            Dialect::Sqlite => &self.sqlite,
            Dialect::Pg => &self.pg,
        }
    }

    /// The folder that holds both, if one does.
    pub fn shared(&self) -> Option<&str> {
        self.shared.as_deref()
    }

    /// The name of a dialect's file without its ending; none for a file that is somewhere else.
    pub fn stem<'p>(&self, dialect: Dialect, path: &'p str) -> Option<&'p str> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let (stem, ending) = name.rsplit_once('.')?;
        let is_here = |place: &String| path == place || Self::files(place) == (folder, ending);
        if self.of(dialect).iter().any(is_here) {
            // Files of code in several folders are called by their ways from where these part.
            return Some(self.way(dialect, path).unwrap_or(stem));
        }
        // Code in a folder below, or in a folder that is named without a pattern: it is called by its way there.
        let below = self.of(dialect).iter().filter_map(|place| {
            let (folder, known) = Self::files(place);
            let is_code = known == "sql" && ["go", "rs"].contains(&ending) || known == ending && Self::is_deep(place);
            path.strip_prefix(folder)?.strip_prefix('/').filter(|_| is_code)
        });
        let way = below.min_by_key(|way| way.len())?;
        let way = way.strip_suffix(ending)?.strip_suffix('.')?;
        Some(way.strip_suffix("/mod").unwrap_or(way))
    }

    /// The same for a file that both dialects read.
    pub fn common<'p>(&self, path: &'p str) -> Option<&'p str> {
        let stems = Dialect::ALL.map(|dialect| self.stem(dialect, path));
        stems[0].filter(|_| stems[1].is_some())
    }

    /// The way to a file of code that is named itself, from the folder that all such files of its dialect have in common.
    fn way<'p>(&self, dialect: Dialect, path: &'p str) -> Option<&'p str> {
        let is_code = |path: &&String| path.ends_with(".go") || path.ends_with(".rs");
        let files: Vec<&String> = self.of(dialect).iter().filter(is_code).collect();
        files.iter().find(|file| **file == path)?;
        let common = path.match_indices('/').map(|(at, _)| at + 1).rev();
        let common = common.chain([0]).find(|length| files.iter().all(|file| file.starts_with(&path[..*length])));
        path[common?..].rsplit_once('.').map(|(way, _)| way)
    }

    /// Whether the folders below count too, as in `storage/**/*.go`.
    pub fn is_deep(place: &str) -> bool {
        place.contains("/**/")
    }

    /// The folder of a place, and the ending of the files in it that count: `sql`, or what a pattern says, as in
    /// `storage/*.go`.
    pub fn files(place: &str) -> (&str, &str) {
        let (folder, ending) = place.rsplit_once("/*.").unwrap_or((place, "sql"));
        (folder.strip_suffix("/**").unwrap_or(folder), ending)
    }

    /// The file of a noun that is new: one that the dialect alone reads, where it has a place of its own.
    pub fn page(&self, dialect: Dialect, noun: &str) -> String {
        let (own, common): (Vec<&String>, Vec<&String>) =
            self.of(dialect).iter().partition(|place| !self.of(dialect.other()).contains(place));
        Self::new_file(if own.is_empty() { &common } else { &own }, noun)
    }

    /// The file of a noun that is new and the same for both; none where no place is for both.
    pub fn common_page(&self, noun: &str) -> Option<String> {
        let common: Vec<&String> = self.sqlite.iter().filter(|place| self.pg.contains(place)).collect();
        (!common.is_empty()).then(|| Self::new_file(&common, noun))
    }

    fn new_file(places: &[&String], noun: &str) -> String {
        let is_folder = |place: &&&String| !place.ends_with(".sql") && Self::files(place).1 == "sql";
        let folder = places.iter().find(is_folder).map(|place| Self::files(place).0);
        let file = || places.first().map(|place| (*place).clone());
        folder.map(|folder| format!("{folder}/{noun}.sql")).or_else(file).unwrap_or_default()
    }

    /// Why these places cannot be meant.
    pub(super) fn fault(&self, key: &str) -> Option<String> {
        let is_inside = |path: &str| {
            !path.is_empty()
                && !path.starts_with('/')
                && !path.contains('\\')
                && path.split('/').all(|part| part != "..")
        };
        let places = match &self.shared {
            Some(folder) => vec![folder.as_str()],
            None => self.sqlite.iter().chain(&self.pg).map(String::as_str).collect(),
        };
        if self.sqlite.is_empty() || self.pg.is_empty() {
            return Some(format!("`{key}` gives a dialect no place at all"));
        }
        if !places.into_iter().all(is_inside) {
            return Some(format!("`{key}` must be a folder inside the project, written with forward slashes"));
        }
        None
    }
}

impl<'de> Deserialize<'de> for Places {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PlacesVisitor)
    }
}

struct PlacesVisitor;

impl<'de> Visitor<'de> for PlacesVisitor {
    type Value = Places;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a folder, or `sqlite` and `pg` with folders and files each")
    }

    fn visit_str<E: Error>(self, folder: &str) -> Result<Places, E> {
        // A path that is no folder inside the project is a fault that the configuration reports.
        Ok(if folder.is_empty() {
            Places::each(vec![String::new()], vec![String::new()])
        } else {
            Places::below(folder)
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Places, A::Error> {
        let each = Each::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Places::each(each.sqlite.into_list(), each.pg.into_list()))
    }
}

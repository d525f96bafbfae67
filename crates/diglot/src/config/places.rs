//! Where the files of both dialects are.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

use crate::dialect::Dialect;

/// Where the files of both dialects are: one folder that holds `sqlite/` and `pg/`, or a folder or a file for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    shared: Option<String>,
    sqlite: String,
    pg: String,
}

/// A place for each dialect, as it is written.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Each {
    sqlite: String,
    pg: String,
}

impl Places {
    /// The folders `sqlite` and `pg` in a folder.
    pub fn below(folder: &str) -> Self {
        let folder = folder.trim_end_matches('/');
        let of = |dialect: Dialect| format!("{folder}/{dialect}");
        Self { shared: Some(folder.to_owned()), sqlite: of(Dialect::Sqlite), pg: of(Dialect::Pg) }
    }

    /// A folder or a file for each dialect.
    pub fn each(sqlite: &str, pg: &str) -> Self {
        let place = |path: &str| path.trim_end_matches('/').to_owned();
        Self { shared: None, sqlite: place(sqlite), pg: place(pg) }
    }

    /// The folder or the file of a dialect, without a slash at its end.
    pub fn of(&self, dialect: Dialect) -> &str {
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
        let (stem, place) = (path.strip_suffix(".sql")?, self.of(dialect));
        if path == place {
            return Some(stem.rsplit('/').next().unwrap_or(stem));
        }
        stem.strip_prefix(place)?.strip_prefix('/')
    }

    /// The file of a noun.
    pub(crate) fn page(&self, dialect: Dialect, noun: &str) -> String {
        let place = self.of(dialect);
        if place.ends_with(".sql") { place.to_owned() } else { format!("{place}/{noun}.sql") }
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
            None => vec![self.sqlite.as_str(), self.pg.as_str()],
        };
        if !places.into_iter().all(is_inside) {
            return Some(format!("`{key}` must be a folder inside the project, written with forward slashes"));
        }
        (self.sqlite == self.pg).then(|| format!("`{key}` gives both dialects the same place"))
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
        f.write_str("a folder, or `sqlite` and `pg` with a folder or a file each")
    }

    fn visit_str<E: Error>(self, folder: &str) -> Result<Places, E> {
        // A path that is no folder inside the project is a fault that the configuration reports.
        Ok(if folder.is_empty() { Places::each("", "") } else { Places::below(folder) })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Places, A::Error> {
        let each = Each::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Places::each(&each.sqlite, &each.pg))
    }
}

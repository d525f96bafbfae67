//! Which database a path means.
//!
//! A path is read as the driver and SQLite would read it: a file's name, `sqlite://` before one, or a `file:` URI of
//! SQLite's, each with percent signs and parameters. What comes out is one name for the file, and who the file is,
//! so that it has one backend in a process however it is spelled. [`Location::is`] then asks what SQLite opened.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use sqlx::sqlite::SqliteConnectOptions;

/// The name of the database in memory that all handles of a process share.
const SHARED_MEMORY: &str = ":memory:";

/// How many links may lead to a file.
const MOST_LINKS: usize = 40;

/// Who a database is, whatever it is called.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// A name for the driver.
    Memory(String),
    /// A device and a number there.
    #[cfg(unix)]
    File(u64, u64),
    /// A name that leads there without links.
    #[cfg(not(unix))]
    File(PathBuf),
}

/// A database that can be opened.
#[derive(Debug)]
pub(super) struct Location {
    /// How the driver opens it.
    pub(super) options: SqliteConnectOptions,
    pub(super) key: Key,
    /// The file, if this call made it.
    made: Option<PathBuf>,
}

impl Location {
    /// Reads a path, and makes the file if it is missing. Only its owner may read a new one, because it holds what
    /// signatures are made with; SQLite makes the files beside it with the same permissions.
    ///
    /// The error says what is wrong with the path and what to write instead; then nothing was made.
    pub(super) fn new(path: &str) -> Result<Self, String> {
        Self::read(path, None)
    }

    /// Reads a path whose file has to be there.
    pub(super) fn existing(path: &str) -> Result<Self, String> {
        Self::read(path, Some("there is no such file; name that of a database"))
    }

    /// Reads a path. Where `else_says` a missing file is not made, and that is the error.
    fn read(path: &str, else_says: Option<&str>) -> Result<Self, String> {
        // The driver judges its parameters, and takes the percent signs off the name.
        let options = SqliteConnectOptions::from_str(path).map_err(|error| error.to_string())?;
        let rest = path.trim_start_matches("sqlite://").trim_start_matches("sqlite:");
        let (name, query) = rest.split_once('?').unwrap_or((rest, ""));
        let says = |word: &str| query.split('&').any(|item| item == word);
        let file = match options.get_filename().to_str() {
            _ if name == SHARED_MEMORY => name.to_owned(),
            Some(file) => file_name(file)?,
            None => return Err("its name is not UTF-8; give it another one".to_owned()),
        };
        match file.as_str() {
            SHARED_MEMORY => Ok(Self::in_memory(options, file)),
            "" if says("mode=memory") => Ok(Self::in_memory(options, SHARED_MEMORY.to_owned())),
            "" => Err("it names no file; write the name of one, or `:memory:`".to_owned()),
            _ if says("mode=memory") => Ok(Self::in_memory(options, file)),
            _ if else_says.is_some() => Self::on_disk(options, &file, else_says),
            _ => match ["immutable=1", "immutable=true"].into_iter().find(|word| says(word)) {
                Some(word) => Err(format!("others may write to the database; leave `{word}` out")),
                None => {
                    let read_only = "unable to open database file: there is none, and `mode=ro` makes none";
                    Self::on_disk(options, &file, says("mode=ro").then_some(read_only))
                }
            },
        }
    }

    /// A database in memory. Without a shared cache each connection would have a database of its own, and SQLite
    /// shares only what a URI names.
    fn in_memory(options: SqliteConnectOptions, name: String) -> Self {
        let escaped = name.replace('%', "%25").replace('?', "%3f").replace('#', "%23").replace('/', "%2f");
        // SQLite takes that name for memory by itself; every other one has to be said to be.
        let options = options.filename(format!("file:{escaped}")).in_memory(name != SHARED_MEMORY);
        let options = options.shared_cache(true).create_if_missing(true);
        Self { options, key: Key::Memory(name), made: None }
    }

    fn on_disk(options: SqliteConnectOptions, file: &str, else_says: Option<&str>) -> Result<Self, String> {
        let wanted = followed(PathBuf::from(file)).map_err(|error| error.to_string())?;
        if let Some(says) = else_says.filter(|_| !wanted.exists()) {
            return Err(says.to_owned());
        }
        let is_new = else_says.is_none()
            && make(&wanted).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => "its folder does not exist; make that first".to_owned(),
                _ => format!("it cannot be made: {error}"),
            })?;
        let made = is_new.then(|| wanted.clone());
        let found = wanted.canonicalize().and_then(|path| Ok((identity(&path)?, path.metadata()?.is_file(), path)));
        match found {
            Ok((key, true, path)) => {
                // A shared cache would let readers meet the writer's locks, and this file's name is no URI.
                let options = options.filename(path).shared_cache(false).create_if_missing(false);
                Ok(Self { options, key, made })
            }
            Ok((_, false, _)) => Err("it is a folder or a device; name a file".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Whether it is in memory only.
    pub(super) fn is_in_memory(&self) -> bool {
        matches!(self.key, Key::Memory(_))
    }

    /// Whether the file that SQLite says it opened is this one; `None` is in memory.
    pub(super) fn is(&self, opened: Option<&Path>) -> bool {
        match opened {
            Some(path) => identity(path).is_ok_and(|key| key == self.key),
            None => self.is_in_memory(),
        }
    }

    /// Takes back what was made for a database that could not be opened.
    pub(super) fn forget(&self) {
        let Some(path) = &self.made else { return };
        for suffix in ["-wal", "-shm", "-journal", ""] {
            let mut name = path.clone().into_os_string();
            name.push(suffix);
            match std::fs::remove_file(&name) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    tracing::warn!(%error, ?name, "a file that was made in vain stays");
                }
                _ => {}
            }
        }
    }
}

/// The name of the file that SQLite opens: it reads `file:` URIs itself.
fn file_name(name: &str) -> Result<String, String> {
    let Some(uri) = name.strip_prefix("file:") else { return Ok(name.to_owned()) };
    let path = match uri.strip_prefix("//") {
        None => uri,
        Some(rest) => {
            let (host, _) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            if !["", "localhost"].contains(&host) {
                return Err(format!("`{host}` is the name of a host; write `file:` and the file's name"));
            }
            rest.strip_prefix(host).unwrap_or(rest)
        }
    };
    let path = path.split(['?', '#']).next().unwrap_or(path);
    unescaped(path).ok_or_else(|| "what stands after a percent sign is no character of a file's name".to_owned())
}

/// Replaces each percent sign and two digits by the byte that they mean; none where no name comes out.
fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = (*first == b'%').then(|| after.split_at_checked(2)).flatten();
        let escaped = escaped.filter(|(digits, _)| digits.iter().all(u8::is_ascii_hexdigit));
        rest = match escaped {
            Some((digits, behind)) => {
                let digits = std::str::from_utf8(digits).ok()?;
                bytes.push(u8::from_str_radix(digits, 16).ok().filter(|byte| *byte != 0)?);
                behind
            }
            None => {
                bytes.push(*first);
                after
            }
        };
    }
    String::from_utf8(bytes).ok()
}

/// Where links lead that end at a file which is not there yet. Others are left to the system.
fn followed(mut path: PathBuf) -> io::Result<PathBuf> {
    for _ in 0..MOST_LINKS {
        let is_link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
        if !is_link || path.exists() {
            return Ok(path);
        }
        let target = path.read_link()?;
        path = path.parent().map_or_else(|| target.clone(), |folder| folder.join(&target));
    }
    Err(io::Error::other("its links lead nowhere; name the file itself"))
}

/// Makes a file, if it is missing, and says whether it was.
fn make(path: &Path) -> io::Result<bool> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(true),
        Err(_) if path.exists() => Ok(false),
        Err(error) => Err(error),
    }
}

/// Who a file is. It is not opened: to close it would take SQLite's locks on it away.
#[cfg(unix)]
fn identity(path: &Path) -> io::Result<Key> {
    use std::os::unix::fs::MetadataExt as _;

    let found = path.metadata()?;
    Ok(Key::File(found.dev(), found.ino()))
}

/// Who a file is.
#[cfg(not(unix))]
fn identity(path: &Path) -> io::Result<Key> {
    Ok(Key::File(path.canonicalize()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_is_read_as_sqlite_reads_it() {
        let cases = [
            ("a.db", Some("a.db")),
            ("a%20b.db", Some("a%20b.db")),
            ("file:a.db", Some("a.db")),
            ("file:a%20b.db", Some("a b.db")),
            ("file:a%2.db", Some("a%2.db")),
            ("file:a%", Some("a%")),
            ("file:a%zz", Some("a%zz")),
            ("file:/tmp/a.db", Some("/tmp/a.db")),
            ("file:///tmp/a.db", Some("/tmp/a.db")),
            ("file://localhost/tmp/a.db", Some("/tmp/a.db")),
            ("file:a.db#end", Some("a.db")),
            ("file::memory:", Some(":memory:")),
            ("file:", Some("")),
            ("file://elsewhere/tmp/a.db", None),
            ("file://a.db", None),
            ("file:a%00b", None),
            ("file:a%ff", None),
        ];
        for (name, expected) in cases {
            assert_eq!(file_name(name).ok().as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn what_is_in_memory_has_one_key_for_each_name() -> Result<(), String> {
        let shared = Key::Memory(SHARED_MEMORY.to_owned());
        let named = Key::Memory("name".to_owned());
        let cases = [
            (":memory:", &shared),
            ("sqlite::memory:", &shared),
            ("sqlite://:memory:", &shared),
            ("file::memory:", &shared),
            ("file::memory:?cache=shared", &shared),
            ("file::memory:?cache=private", &shared),
            ("sqlite://?mode=memory", &shared),
            ("file:name?mode=memory", &named),
            ("file:name?mode=memory&cache=shared", &named),
            ("file:name?cache=private&mode=memory", &named),
            ("sqlite://name?mode=memory", &named),
            ("name?mode=memory", &named),
        ];
        for (path, key) in cases {
            assert_eq!(&Location::new(path)?.key, key, "{path}");
        }
        Ok(())
    }
}

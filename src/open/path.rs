//! Which database a path means.

use std::path::{Path, PathBuf};

/// A path taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Location {
    /// What the driver opens.
    pub(super) uri: String,
    /// Whether the database is in memory only.
    pub(super) in_memory: bool,
}

impl Location {
    /// Reads a path. `:memory:` alone becomes a database that the connections of this process share; every
    /// other path is taken as it is.
    pub(super) fn new(path: &str) -> Self {
        let uri = if path == ":memory:" { "file::memory:?cache=shared" } else { path };
        Self { uri: uri.to_owned(), in_memory: is_in_memory(uri) }
    }

    /// What is the same for every name of the database, as far as that can be known.
    ///
    /// A file that is not there yet is known by its folder, so that it keeps its key once it exists.
    pub(super) fn key(&self) -> PathBuf {
        if self.in_memory {
            return PathBuf::from(&self.uri);
        }
        let path = Path::new(&self.uri);
        path.canonicalize().ok().or_else(|| missing(path)).unwrap_or_else(|| path.to_owned())
    }
}

fn missing(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(folder.canonicalize().ok()?.join(path.file_name()?))
}

fn is_in_memory(path: &str) -> bool {
    if path.starts_with("file::memory:") {
        return true;
    }
    let Some((_, query)) = path.strip_prefix("file:").and_then(|rest| rest.split_once('?')) else { return false };
    let query = query.split_once('#').map_or(query, |(query, _)| query);
    query.split('&').any(|item| item == "mode=memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_in_memory_only_when_it_says_so_exactly() {
        let cases = [
            (":memory:", true),
            ("file::memory:", true),
            ("file::memory:?cache=shared", true),
            ("file:name?mode=memory", true),
            ("file:name?mode=memory&cache=shared", true),
            ("file:name?cache=shared&mode=memory#end", true),
            ("file:my_mode=memory_db.sqlite", false),
            ("file:foo?mode=memory_extra", false),
            ("file:foo#?mode=memory", true),
            ("file:foo?x#mode=memory", false),
            ("file:x?cache=shared", false),
            ("/tmp/x.db", false),
            ("memory", false),
            ("x?mode=memory", false),
        ];
        for (path, in_memory) in cases {
            assert_eq!(Location::new(path).in_memory, in_memory, "{path}");
        }
    }

    #[test]
    fn memory_alone_is_shared_in_the_process_and_everything_else_stays_as_it_is() {
        assert_eq!(Location::new(":memory:").uri, "file::memory:?cache=shared");
        assert_eq!(Location::new("file::memory:").uri, "file::memory:");
        assert_eq!(Location::new("./x.db").uri, "./x.db");
    }

    #[test]
    fn a_file_has_one_key_before_and_after_it_exists_and_under_every_name() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("a.db");
        let around = folder.path().join("..").join(folder.path().file_name().unwrap_or_default()).join("a.db");
        let key = |path: &Path| Location::new(&path.display().to_string()).key();
        let before = key(&file);
        assert_eq!(before, key(&around));
        std::fs::write(&file, b"")?;
        assert_eq!(before, key(&file));
        assert_eq!(before, key(&around));
        Ok(())
    }
}

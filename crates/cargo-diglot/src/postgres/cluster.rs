//! The files of a new cluster: `initdb` makes them once, and each server gets a copy.
//!
//! What is kept for later stands in a folder of the cache, one for each build of Postgres, and no server ever runs in it.
//! Where anything is wrong with it, a server gets files of its own; so whoever removes the folder breaks nothing.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use super::binaries::Binaries;
use super::owner::Owner;
use super::{StartError, brought, last_lines};

/// Where the kept ones are, below the folder of the cache.
const FOLDER: &str = "diglot/clusters";
/// What `initdb` makes of a cluster. Another list is another cluster.
const WORDS: [&str; 5] = ["--username=postgres", "--auth=password", "--encoding=UTF8", "--locale=C", "--no-sync"];
/// How old what another process makes has to be until nobody can still be at work on it.
const LEFT_BEHIND: Duration = Duration::from_secs(3600);

/// A new cluster in the folder `data` of a server's folder.
#[derive(Debug)]
pub(super) struct Cluster {
    /// Of the user `postgres`.
    pub(super) password: String,
    /// What it was copied from, if it was not made for this server alone.
    of: Option<PathBuf>,
    /// What is kept for the next server once it is written.
    _fresh: Option<Fresh>,
}

/// A cluster that was made just now, on its way to the disk: without that a power cut could leave half of it.
#[derive(Debug)]
struct Fresh {
    sync: Child,
    folder: tempfile::TempDir,
    place: PathBuf,
}

impl Cluster {
    /// Makes the files.
    ///
    /// # Errors
    /// When `initdb` fails.
    pub(super) fn make(binaries: &Binaries, owner: Owner, folder: &Path) -> Result<Self, StartError> {
        let place = brought::cache(FOLDER).and_then(|cache| place(&cache, binaries));
        let made = place.and_then(|place| Self::of_kept(binaries, owner, folder, &place).ok());
        made.map_or_else(|| Self::alone(binaries, owner, folder), Ok)
    }

    /// The same for this server alone, in place of a copy with which it does not start; nothing where it was none.
    ///
    /// # Errors
    /// As [`make`](Self::make).
    pub(super) fn again(&self, binaries: &Binaries, owner: Owner, folder: &Path) -> Option<Result<Self, StartError>> {
        fs::remove_dir_all(self.of.as_ref()?).ok();
        Some(Self::alone(binaries, owner, folder))
    }

    fn alone(binaries: &Binaries, owner: Owner, folder: &Path) -> Result<Self, StartError> {
        fs::remove_dir_all(folder.join("data")).ok();
        Ok(Self { password: initialize(binaries, owner, folder)?, of: None, _fresh: None })
    }

    /// Copies the cluster that is kept at a place; where there is none, it is made.
    fn of_kept(binaries: &Binaries, owner: Owner, folder: &Path, place: &Path) -> Result<Self, StartError> {
        let fresh = if place.is_dir() { None } else { Some(Fresh::make(binaries, owner, place)?) };
        let from = fresh.as_ref().map_or(place, |fresh| fresh.folder.path());
        let io = |source| StartError::Io { what: format!("copy {}", from.display()), source };
        let password = fs::read_to_string(from.join("password")).map_err(io)?;
        // As the owner, who alone may read it, and who is not led into folders of others.
        let mut copy = owner.command(Path::new("cp"), folder);
        let copied = run(copy.arg("-Rp").arg(from.join("data")).arg(folder.join("data")), "cp");
        copied.map(|()| Self { password, of: Some(place.to_owned()), _fresh: fresh })
    }
}

impl Fresh {
    fn make(binaries: &Binaries, owner: Owner, place: &Path) -> Result<Self, StartError> {
        let beside = place.parent().unwrap_or(place);
        let io = |source| StartError::Io { what: format!("make {}", place.display()), source };
        make_open(beside).map_err(io)?;
        clear(beside).map_err(io)?;
        let folder = owner.folder_in(beside, "new-")?;
        initialize(binaries, owner, folder.path())?;
        let mut sync = owner.command(&binaries.initdb(), folder.path());
        sync.arg("--sync-only").arg(folder.path().join("data"));
        let sync = sync.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map_err(io)?;
        Ok(Self { sync, folder, place: place.to_owned() })
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        // Of two that were made at once the first one stays.
        if self.sync.wait().is_ok_and(|status| status.success()) {
            fs::rename(self.folder.path(), &self.place).ok();
        }
    }
}

/// Where the cluster of this build is kept.
fn place(cache: &Path, binaries: &Binaries) -> Option<PathBuf> {
    let build = |program: &Path| -> io::Result<String> {
        let data = fs::metadata(program)?;
        Ok(format!("{} {} {:?}", program.display(), data.len(), data.modified()?))
    };
    let mut hasher = DefaultHasher::new();
    (build(&binaries.initdb()).ok()?, build(&binaries.postgres()).ok()?, WORDS).hash(&mut hasher);
    Some(cache.join(format!("{}-{:016x}", binaries.major(), hasher.finish())))
}

/// Makes a folder into which every user may look: that of the server has to get through.
fn make_open(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent() {
        make_open(parent)?;
    }
    match fs::create_dir(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => fs::set_permissions(folder, fs::Permissions::from_mode(0o755)),
    }
}

/// Removes clusters of other builds, and what was left behind half made.
fn clear(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let age = entry
            .metadata()
            .and_then(|data| data.modified())
            .ok()
            .and_then(|at| SystemTime::now().duration_since(at).ok());
        if age.is_some_and(|age| age > LEFT_BEHIND) {
            fs::remove_dir_all(entry.path()).ok();
        }
    }
    Ok(())
}

/// Runs `initdb`; gives the password that it was told, which a file beside the data has as well.
fn initialize(binaries: &Binaries, owner: Owner, folder: &Path) -> Result<String, StartError> {
    let password = uuid::Uuid::new_v4().simple().to_string();
    let file = folder.join("password");
    owner.write_file(&file, &password)?;
    let mut command = owner.command(&binaries.initdb(), folder);
    command.arg("--pgdata").arg(folder.join("data")).arg("--pwfile").arg(&file).args(WORDS);
    run(&mut command, "initdb").map(|()| password)
}

/// Runs a program to its end.
fn run(command: &mut Command, program: &'static str) -> Result<(), StartError> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|source| StartError::Io { what: format!("run {program}"), source })?;
    if output.status.success() {
        return Ok(());
    }
    let mut words = String::from_utf8_lossy(&output.stderr).into_owned();
    if words.trim().is_empty() {
        words = String::from_utf8_lossy(&output.stdout).into_owned();
    }
    Err(StartError::Program { program, status: output.status, output: last_lines(&words) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_made_once_and_a_copy_that_is_no_good_gives_way() {
        let (binaries, owner) = (Binaries::find().unwrap(), Owner::choose().unwrap());
        let [cache, first, second] = [(); 3].map(|()| owner.new_folder().unwrap());
        let place = place(&cache.path().join("kept/of/this"), &binaries).unwrap();
        let made = Cluster::of_kept(&binaries, owner, first.path(), &place).unwrap();
        let password = made.password.clone();
        assert!(made._fresh.is_some() && !place.exists());
        drop(made);
        assert!(place.is_dir());
        let copied = Cluster::of_kept(&binaries, owner, second.path(), &place).unwrap();
        assert!(copied._fresh.is_none() && second.path().join("data/PG_VERSION").is_file());
        assert_eq!(copied.password, password);
        let alone = copied.again(&binaries, owner, second.path()).unwrap().unwrap();
        assert!(!place.exists() && alone.password != password);
        assert!(alone.again(&binaries, owner, second.path()).is_none());
    }

    #[test]
    fn what_was_left_behind_goes_and_what_somebody_makes_stays() {
        let folder = tempfile::tempdir().unwrap();
        let [old, new] = ["old", "new"].map(|name| folder.path().join(name));
        fs::create_dir(&old).unwrap();
        fs::create_dir(&new).unwrap();
        fs::File::open(&old).unwrap().set_modified(SystemTime::now() - 2 * LEFT_BEHIND).unwrap();
        clear(folder.path()).unwrap();
        assert!(!old.exists() && new.exists());
    }
}

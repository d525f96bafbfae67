//! As whom the server runs: Postgres refuses to run as root, so root hands it to another user.

use std::env;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::StartError;

/// The longest path of a folder in which a Unix socket still fits, with room for its name.
const LONGEST_SOCKET_FOLDER: usize = 80;

/// The user of the server: this process's own, or another one when this process is root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner {
    other: Option<(u32, u32)>,
}

impl Owner {
    pub(super) fn choose() -> Result<Self, StartError> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Self { other: None });
        }
        ["postgres", "nobody"]
            .into_iter()
            .find_map(|name| Some((ask_id("-u", name)?, ask_id("-g", name)?)))
            .map(|ids| Self { other: Some(ids) })
            .ok_or(StartError::NoUser)
    }

    /// A new folder that only the owner may enter, in a place that the owner can reach.
    pub(super) fn new_folder(self) -> Result<tempfile::TempDir, StartError> {
        let io = |source| StartError::Io { what: "make a folder for the Postgres server".into(), source };
        let parent = [env::temp_dir(), PathBuf::from("/tmp"), PathBuf::from("/var/tmp")]
            .into_iter()
            .filter_map(|parent| fs::canonicalize(parent).ok())
            .find(|parent| parent.as_os_str().len() < LONGEST_SOCKET_FOLDER - 20 && self.can_reach(parent))
            .ok_or_else(|| io(io::Error::other("no folder for temporary files that the server's user can reach")))?;
        self.folder_in(&parent, "diglot-pg-")
    }

    /// The same in a place that was chosen.
    pub(super) fn folder_in(self, parent: &Path, prefix: &str) -> Result<tempfile::TempDir, StartError> {
        let io = |source| StartError::Io { what: "make a folder for the Postgres server".into(), source };
        let folder = tempfile::Builder::new().prefix(prefix).tempdir_in(parent).map_err(io)?;
        fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).map_err(io)?;
        self.hand_over(folder.path())?;
        Ok(folder)
    }

    pub(super) fn write_file(self, path: &Path, text: &str) -> Result<(), StartError> {
        fs::write(path, text)
            .and_then(|()| fs::set_permissions(path, Permissions::from_mode(0o600)))
            .map_err(|source| StartError::Io { what: format!("write {}", path.display()), source })?;
        self.hand_over(path)
    }

    /// A command that runs as the owner, outside the terminal's process group so that Ctrl-C reaches only
    /// those who clean up, and without the settings of another Postgres.
    pub(super) fn command(self, program: &Path, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(folder).env("HOME", folder).env("LC_ALL", "C").process_group(0);
        for (name, _) in env::vars_os() {
            if name.to_string_lossy().starts_with("PG") {
                command.env_remove(name);
            }
        }
        if let Some((user, group)) = self.other {
            command.uid(user).gid(group);
        }
        command
    }

    fn hand_over(self, path: &Path) -> Result<(), StartError> {
        let Some((user, group)) = self.other else { return Ok(()) };
        chown(path, Some(user), Some(group))
            .map_err(|source| StartError::Io { what: format!("hand {} to user {user}", path.display()), source })
    }

    /// Root's own folders are closed to others, so every folder on the way must let others through.
    fn can_reach(self, folder: &Path) -> bool {
        let Some((user, _)) = self.other else { return true };
        folder
            .ancestors()
            .all(|ancestor| fs::metadata(ancestor).is_ok_and(|data| data.mode() & 0o001 != 0 || data.uid() == user))
    }
}

fn ask_id(what: &str, name: &str) -> Option<u32> {
    let output = Command::new("id").args([what, name]).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let id = String::from_utf8(output.stdout).ok()?.trim().parse().ok()?;
    (output.status.success() && id != 0).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_folder_on_the_way_makes_a_place_unreachable_for_another_user() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("inner");
        fs::create_dir(&inner).unwrap();
        fs::set_permissions(root.path(), Permissions::from_mode(0o700)).unwrap();
        let stranger = Owner { other: Some((12_345, 12_345)) };
        assert!(!stranger.can_reach(&inner));
        assert!(Owner { other: None }.can_reach(&inner));
    }

    #[test]
    fn the_server_never_runs_as_root() {
        match Owner::choose() {
            Ok(owner) => assert_eq!(owner.other.is_none(), !rustix::process::geteuid().is_root()),
            Err(error) => assert!(matches!(error, StartError::NoUser), "{error}"),
        }
    }
}

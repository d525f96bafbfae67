//! What is tried: a folder, or a clone of a git repository that goes at the end.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::Failure;
use crate::report;

/// What is tried.
pub(super) enum Place {
    /// A folder, as the user wrote it.
    Folder(PathBuf),
    /// A clone.
    Clone {
        /// Removed with the value.
        folder: tempfile::TempDir,
        /// Where it came from, as the user wrote it.
        url: String,
    },
}

impl Place {
    /// The folder of that path, or a clone of the repository of that URL; a clone cannot be adopted.
    pub(super) fn of(written: &str, adopt: bool) -> Result<Self, Failure> {
        let folder = PathBuf::from(written);
        if folder.is_dir() {
            return Ok(Self::Folder(folder));
        }
        if !is_url(written) {
            let what = format!("{written} is neither a folder nor the URL of a git repository");
            return Err(Failure::NothingToTry { why: what });
        }
        let url = written.to_owned();
        if adopt {
            let why = format!("a clone goes at the end, so that it cannot be adopted; first: {}", cloning(&url));
            return Err(Failure::NothingToTry { why });
        }
        let folder = tempfile::tempdir().map_err(Failure::io("make a temporary folder"))?;
        clone(&url, folder.path())?;
        Ok(Self::Clone { folder, url })
    }

    /// The folder.
    pub(super) fn root(&self) -> &Path {
        match self {
            Self::Folder(folder) => folder,
            Self::Clone { folder, .. } => folder.path(),
        }
    }

    /// Whether it is there when the command has ended.
    pub(super) fn is_kept(&self) -> bool {
        matches!(self, Self::Folder(_))
    }

    /// The command that adopts it.
    pub(super) fn adopting(&self) -> String {
        match self {
            Self::Folder(folder) => format!("cargo diglot try {} --adopt", quoted(&folder.to_string_lossy())),
            Self::Clone { url, .. } => format!("{} && cargo diglot try {} --adopt", cloning(url), quoted(name(url))),
        }
    }
}

/// Whether it looks as git writes where a repository is: `https://host/path`, `user@host:path`.
fn is_url(written: &str) -> bool {
    let by_ssh = || written.split_once(':').is_some_and(|(host, _)| host.contains('@') && !host.contains('/'));
    !written.starts_with('-') && (written.contains("://") || by_ssh())
}

/// The folder into which git clones a repository.
fn name(url: &str) -> &str {
    let path = url.trim_end_matches('/');
    let last = path.rsplit(['/', ':']).next().unwrap_or(path);
    last.strip_suffix(".git").unwrap_or(last)
}

fn cloning(url: &str) -> String {
    format!("git clone {}", quoted(url))
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-:@+~".contains(c);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// Clones the newest state of a repository alone.
fn clone(url: &str, folder: &Path) -> Result<(), Failure> {
    let on_terminal = io::stderr().is_terminal();
    report::line(&format!("cloning {} into a temporary folder", name(url)));
    let mut command = Command::new("git");
    command.args(["clone", "--depth", "1", "--no-tags", if on_terminal { "--progress" } else { "--quiet" }, "--"]);
    // Files that are kept elsewhere hold no SQL.
    command.arg(url).arg(folder).env("GIT_LFS_SKIP_SMUDGE", "1").stdin(Stdio::null());
    // On a terminal git shows its progress, and why it fails.
    command.stderr(if on_terminal { Stdio::inherit() } else { Stdio::piped() });
    let what = "run the command `git`, which has to be installed";
    let output = command.output().map_err(Failure::io(what))?;
    if output.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    Err(Failure::Git { what: format!("git clone failed\n{}", words.trim()).trim_end().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_told_from_folders() {
        for url in ["https://host/a/b", "ssh://git@host/a", "git@host:a/b.git", "file:///srv/a"] {
            assert!(is_url(url), "{url}");
        }
        for folder in ["db", "../db", "/srv/db", "C:/db", "a:b", "--upload-pack=x://y"] {
            assert!(!is_url(folder), "{folder}");
        }
    }

    #[test]
    fn a_repository_is_cloned_into_a_folder_of_its_name() {
        for url in ["https://host/team/shop.git", "https://host/team/shop/", "git@host:shop.git"] {
            assert_eq!(name(url), "shop", "{url}");
        }
    }

    #[test]
    fn a_command_can_be_pasted() {
        assert_eq!(quoted("../shop"), "../shop");
        assert_eq!(quoted("my shop's"), r"'my shop'\''s'");
    }
}

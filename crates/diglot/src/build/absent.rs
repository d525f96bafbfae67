//! Files and folders that are not there yet: the build is to notice when they appear.
//!
//! A path that is not there makes cargo run the script every time, and with it compile the crate. A link to it does not:
//! cargo follows the links of a watched folder and passes over those that lead nowhere. The links are as old as can be,
//! because what is younger than a run counts as changed since.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};

/// The folder of links in `OUT_DIR`.
const FOLDER: &str = "statements.absent";

/// Links to these places of a project; gives the folder that cargo is to watch.
///
/// # Errors
/// When the system refuses to make a link.
pub(super) fn links<'p>(root: &Path, out: &Path, places: impl Iterator<Item = &'p str>) -> io::Result<PathBuf> {
    let folder = out.join(FOLDER);
    fs::create_dir_all(&folder)?;
    // The root itself may be a relative path, and a link leads on from where it is.
    let root = fs::canonicalize(root)?;
    for place in places {
        let link = folder.join(place.trim_end_matches('/').replace('/', "+"));
        let target = root.join(place);
        if fs::read_link(&link).is_ok_and(|known| known == target) {
            continue;
        }
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(target, &link)?;
        age(&link)?;
    }
    age(&folder)?;
    Ok(folder)
}

/// Makes a link or a folder look as if it was there from the beginning.
fn age(path: &Path) -> io::Result<()> {
    let start = Timespec { tv_sec: 1, tv_nsec: 0 };
    let times = Timestamps { last_access: start, last_modification: start };
    Ok(utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn what_appears_is_seen_through_a_link_that_is_old() {
        let (root, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let places = || ["diglot.toml", "db/sql/"].into_iter();
        let folder = links(root.path(), out.path(), places()).unwrap();
        let old = Duration::from_secs(1);
        for path in [folder.clone(), folder.join("diglot.toml"), folder.join("db+sql")] {
            assert_eq!(fs::symlink_metadata(path).unwrap().modified().unwrap(), UNIX_EPOCH + old);
        }
        assert!(fs::metadata(folder.join("diglot.toml")).is_err());
        fs::write(root.path().join("diglot.toml"), "").unwrap();
        fs::create_dir_all(root.path().join("db/sql/pg")).unwrap();
        assert!(fs::metadata(folder.join("diglot.toml")).unwrap().modified().unwrap() > UNIX_EPOCH + old);
        assert!(fs::metadata(folder.join("db+sql")).unwrap().is_dir());
        // A second run leaves the links as they are.
        assert_eq!(links(root.path(), out.path(), places()).unwrap(), folder);
        assert_eq!(fs::symlink_metadata(folder.join("db+sql")).unwrap().modified().unwrap(), UNIX_EPOCH + old);
    }
}

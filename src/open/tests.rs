//! What the names of a database mean: one backend per file, and nothing made in vain.

mod door;
mod log;
mod sweeps;

use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;

use crate::backend::SqliteBackend;
use crate::statements::worker;

type Answer<T> = Result<T, Box<dyn std::error::Error>>;

/// Whether two handles use the same connections.
fn same(one: &SqliteBackend, other: &SqliteBackend) -> bool {
    std::ptr::eq(one.db().store(), other.db().store())
}

/// Writes and reads, so that a connection without the tables is noticed.
async fn works(backend: &SqliteBackend) -> Answer<()> {
    let register = door::params("i");
    let list = worker::WorkerListParams { namespace: "n".into(), after: String::new(), page_size: 2 };
    let db = backend.db();
    db.unit(register).await?;
    let found = db.read(list).await?;
    assert_eq!(found.len(), 1);
    Ok(())
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// The file's name from the folder that the tests run in.
fn relative(path: &Path) -> Answer<String> {
    let depth = std::env::current_dir()?.components().count() - 1;
    Ok(format!("{}{}", "../".repeat(depth), text(path).trim_start_matches('/')))
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_has_one_backend_however_it_is_spelled() -> Answer<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().canonicalize()?.join("a b.db");
    let plain = text(&file);
    let escaped = plain.replace('b', "%62").replace(' ', "%20");
    let first = SqliteBackend::new(&plain).await?;
    let (link, hard, linked) = (folder.path().join("link"), folder.path().join("hard"), folder.path().join("linked"));
    std::os::unix::fs::symlink(&file, &link)?;
    std::fs::hard_link(&file, &hard)?;
    std::os::unix::fs::symlink(folder.path(), &linked)?;
    let spelled = [
        plain.clone(),
        relative(&file)?,
        format!("{}/./../{}/a b.db", text(folder.path()), folder.path().file_name().unwrap_or_default().display()),
        escaped.clone(),
        format!("sqlite:{plain}"),
        format!("sqlite://{plain}"),
        format!("sqlite://{escaped}"),
        format!("file:{plain}"),
        format!("file://{plain}"),
        format!("file://localhost{plain}"),
        format!("file:{escaped}"),
        format!("file:{}", escaped.replace('%', "%25")),
        format!("file:{}", relative(&file)?),
        format!("file:{plain}?cache=shared"),
        format!("{plain}?mode=rwc"),
        text(&link),
        text(&hard),
        text(&linked.join("a b.db")),
    ];
    for path in &spelled {
        let other = SqliteBackend::new(path).await.map_err(|error| format!("{path}: {error}"))?;
        assert!(same(&first, &other), "{path}");
    }
    works(&first).await?;
    // The same as the first to come.
    drop(first);
    for path in spelled {
        let first = SqliteBackend::new(&path).await.map_err(|error| format!("{path}: {error}"))?;
        works(&first).await.map_err(|error| format!("{path}: {error}"))?;
        assert!(same(&first, &*SqliteBackend::new(&plain).await?), "{path}");
    }
    Ok(())
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_to_a_file_that_is_not_there_yet_makes_that_file() -> Answer<()> {
    let folder = tempfile::tempdir()?;
    let (link, file) = (folder.path().join("link"), folder.path().join("a.db"));
    std::os::unix::fs::symlink("a.db", &link)?;
    let first = SqliteBackend::new(&text(&link)).await?;
    assert!(file.is_file());
    assert!(same(&first, &*SqliteBackend::new(&text(&file)).await?));
    Ok(())
}

#[tokio::test]
async fn a_file_that_was_made_by_a_uri_keeps_what_is_stored() -> Answer<()> {
    let folder = tempfile::tempdir()?;
    let uri = format!("file:{}", text(&folder.path().join("a.db")));
    for _ in 0..2 {
        works(&*SqliteBackend::new(&uri).await?).await?;
        assert!(folder.path().join("a.db").is_file());
    }
    Ok(())
}

#[tokio::test]
async fn a_database_in_memory_is_one_for_all_its_connections() -> Answer<()> {
    for path in [
        "file::memory:",
        "sqlite::memory:",
        "file:one_for_all?mode=memory&cache=private",
        "one?mode=memory",
        "file:%252f/a%253fb%2523%2525?mode=memory",
    ] {
        let backend = SqliteBackend::new(path).await.map_err(|error| format!("{path}: {error}"))?;
        works(&backend).await.map_err(|error| format!("{path}: {error}"))?;
        assert!(same(&backend, &*SqliteBackend::new(path).await?), "{path}");
    }
    let (first, second) = (SqliteBackend::new(":memory:").await?, SqliteBackend::new("file::memory:").await?);
    assert!(same(&first, &second));
    assert!(!same(&first, &*SqliteBackend::new("file:another?mode=memory").await?));
    Ok(())
}

/// What is in a folder, from name to length.
fn listing(folder: &TempDir) -> Answer<Vec<(String, u64)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder.path())? {
        let entry = entry?;
        found.push((text(&entry.path()), entry.metadata()?.len()));
    }
    found.sort();
    Ok(found)
}

#[tokio::test]
async fn what_is_refused_makes_nothing_and_says_the_way_out() -> Answer<()> {
    let folder = tempfile::tempdir()?;
    let here = text(folder.path());
    std::fs::write(
        folder.path().join("text"),
        "this is no database, but longer than the header of one is. ".repeat(9),
    )?;
    let before = listing(&folder)?;
    let refused = [
        (String::new(), "`:memory:`"),
        ("sqlite://".to_owned(), "`:memory:`"),
        ("file:".to_owned(), "`:memory:`"),
        (format!("file:{here}/a.db?mode=ro"), "`mode=ro` makes none"),
        (format!("{here}/a.db?immutable=1"), "leave `immutable=1` out"),
        (format!("{here}/a.db?mode=rx"), "mode"),
        (format!("{here}/a.db?speed=1"), "speed"),
        (format!("{here}/a.db?vfs=none_of_that_name"), "none_of_that_name"),
        (format!("{here}/a.db?vfs=memdb"), "memory"),
        (format!("{here}/a.db?mode=%6demory"), "memory"),
        (format!("file://elsewhere{here}/a.db"), "`elsewhere`"),
        (format!("file:{here}/a%2500.db"), "percent"),
        (format!("{here}/none/a.db"), "make that first"),
        (here.clone(), "name a file"),
        (format!("{here}/text"), "not a database"),
    ];
    for (path, way_out) in refused {
        let error = SqliteBackend::new(&path).await.err().ok_or_else(|| format!("{path} was opened"))?.to_string();
        assert!(error.contains(&path) && error.contains(way_out), "{path}: {error}");
        assert_eq!(listing(&folder)?, before, "{path}");
    }
    Ok(())
}

#[cfg(unix)]
#[tokio::test]
async fn new_files_are_their_owners_alone_and_others_stay_as_they_are() -> Answer<()> {
    use std::collections::BTreeMap;
    use std::os::unix::fs::PermissionsExt as _;
    use std::sync::Mutex;

    use crate::db::fault::Step;

    let modes = |folder: &Path| -> std::io::Result<BTreeMap<String, u32>> {
        let entries = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
        let mode = |entry: &std::fs::DirEntry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            Ok((name, entry.metadata()?.permissions().mode() & 0o777))
        };
        entries.iter().map(mode).collect()
    };
    for (wal, existing) in [(true, None), (false, None), (true, Some(0o640)), (false, Some(0o640))] {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("a.db");
        if let Some(mode) = existing {
            std::fs::write(&file, "")?;
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode))?;
        }
        let backend = SqliteBackend::new_with_tuning(&text(&file), 2, wal).await?;
        let seen = Arc::new(Mutex::new(BTreeMap::new()));
        let (place, kept) = (folder.path().to_owned(), Arc::clone(&seen));
        backend.fail_for_test(Box::new(move |step, _| {
            if step == Step::Commit
                && let (Ok(found), Ok(mut seen)) = (modes(&place), kept.lock())
            {
                seen.extend(found);
            }
            None
        }));
        works(&backend).await?;
        let names = if wal { vec!["a.db", "a.db-shm", "a.db-wal"] } else { vec!["a.db", "a.db-journal"] };
        let expected = names.into_iter().map(|name| (name.to_owned(), existing.unwrap_or(0o600))).collect();
        let seen = seen.lock().map_err(|_| "a lock")?.clone();
        assert_eq!(seen, expected, "wal: {wal}, existing: {existing:?}");
    }
    Ok(())
}

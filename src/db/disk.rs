//! Brings to the disk what is found in a database's files, before anything is answered from it.
//!
//! A process that dies leaves what it has written to the system, and the next one finds it, whether it is on the
//! disk or not. SQLite reads it back and would answer from it; a power failure could still take it away.
//!
//! * The pages of the log are written again and then synced. Where the disk failed before, the system shows what
//!   it could not write and takes a second sync for done, because it has forgotten that anything is left to write.
//! * The folder is synced: the log is found again by its name there, and a journal that was deleted is gone.
//! * The database file needs nothing. SQLite syncs it before it gives up the frames of a log or the journal from
//!   which its pages can be made again; and whoever opens and closes that file beside SQLite takes SQLite's locks
//!   on it away from the whole process.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// How much of a log is written again at a time.
const CHUNK: usize = 1 << 20;

/// The files of a database that is open.
#[derive(Debug, Clone)]
pub(super) struct Files {
    database: PathBuf,
    has_log: bool,
}

impl Files {
    /// The database file as SQLite calls it, and whether it has a write-ahead log.
    pub(super) fn new(database: PathBuf, has_log: bool) -> Self {
        Self { database, has_log }
    }

    /// The database file.
    pub(super) fn database(&self) -> &Path {
        &self.database
    }

    /// It has a write-ahead log.
    pub(super) fn has_log(&self) -> bool {
        self.has_log
    }

    /// How long the log is, where there is one.
    pub(super) fn log_bytes(&self) -> Option<u64> {
        self.has_log.then(|| std::fs::metadata(self.log()).map_or(0, |log| log.len()))
    }

    fn log(&self) -> OsString {
        let mut path = self.database.clone().into_os_string();
        path.push("-wal");
        path
    }

    /// Brings the log to the disk and answers it. Its bytes are written again only by who keeps others from writing
    /// to it meanwhile.
    pub(super) fn settle_log(&self, is_alone: bool) -> io::Result<File> {
        let mut log = OpenOptions::new().read(true).write(true).open(self.log())?;
        if is_alone {
            write_again(&mut log)?;
        }
        log.sync_all()?;
        self.settle_folder()?;
        Ok(log)
    }

    /// Brings to the disk which files there are.
    pub(super) fn settle_folder(&self) -> io::Result<()> {
        match self.database.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            Some(folder) => sync_folder(folder),
            None => sync_folder(Path::new(".")),
        }
    }
}

/// What a log begins with, and what stands before each of its pages (<https://sqlite.org/walformat.html>): the size of
/// a page at byte 8 of the first; the salts, which change when the log begins anew, at byte 16 and byte 8.
const LOG_HEADER: usize = 32;
const PAGE_HEADER: usize = 24;

/// Whether the log has a page of that number, counted from 1. Behind the pages of a log that has begun anew stand
/// those of the one before, with its salts.
///
/// SQLite itself tells the length to a statement only from 3.51 on: what asks for it there moves the pages at every
/// call in an older one, without a word.
pub(super) fn has_page(log: &File, number: u32) -> io::Result<bool> {
    let (mut header, mut page) = ([0; LOG_HEADER], [0; PAGE_HEADER]);
    if !read_whole(log, 0, &mut header)? {
        return Ok(false);
    }
    let page_size = header.get(8..).and_then(|rest| rest.first_chunk()).map_or(0, |size| u32::from_be_bytes(*size));
    let each = u64::from(page_size) + PAGE_HEADER as u64;
    let place = LOG_HEADER as u64 + u64::from(number.saturating_sub(1)) * each;
    Ok(read_whole(log, place, &mut page)? && page.get(8..16) == header.get(16..24))
}

/// Fills the bytes from a place of a file; false where the file ends before.
fn read_whole(mut file: &File, place: u64, bytes: &mut [u8]) -> io::Result<bool> {
    file.seek(SeekFrom::Start(place))?;
    match file.read_exact(bytes) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        ended => ended.map(|()| true),
    }
}

/// Writes a file's bytes where they are.
fn write_again(file: &mut File) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK];
    let mut place = 0;
    loop {
        let length = file.read(&mut chunk)?;
        let Some(bytes) = chunk.get(..length).filter(|bytes| !bytes.is_empty()) else { return Ok(()) };
        file.seek(SeekFrom::Start(place))?;
        file.write_all(bytes)?;
        place = file.stream_position()?;
    }
}

/// Makes names in a folder durable, where the system knows that of folders at all.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    match File::open(folder)?.sync_all() {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        ended => ended,
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn a_file_that_is_written_again_is_the_same() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("a.db-wal");
        for length in [0, 1, CHUNK, 2 * CHUNK + 7] {
            let bytes: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            std::fs::write(&path, &bytes)?;
            let files = Files::new(folder.path().join("a.db"), true);
            let log = files.settle_log(true)?;
            assert_eq!(std::fs::read(&path)?, bytes);
            assert!(!has_page(&log, 1)?, "{length} bytes are no log");
        }
        Ok(())
    }

    #[test]
    fn a_log_that_is_not_there_is_an_error() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let files = Files::new(folder.path().join("a.db"), false);
        files.settle_folder()?;
        assert!(files.settle_log(false).is_err());
        Ok(())
    }
}

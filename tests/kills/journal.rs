//! What a worker was told, line by line, in a file that nothing but the worker writes.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

/// A lease: execution, attempt and epoch. Of one execution, later leases are greater.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Lease {
    /// The execution's uuid in hex.
    pub(crate) execution: String,
    pub(crate) attempt: u32,
    pub(crate) epoch: u64,
}

/// When a line was written, by the machine's clock, which all processes share. The clocks of the workers are moved by the
/// driver, and a busy one moves later than the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Moment(SystemTime);

impl Moment {
    pub(crate) fn now() -> Self {
        Self(SystemTime::now())
    }
}

/// One line. All but `Ending` and `Seen` are answers that the backend gave.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Line {
    /// An execution was created.
    Created { execution: String },
    /// A lease was granted at `at_ms` at the latest; it lives until `until_ms` at least.
    Held { lease: Lease, at_ms: i64, until_ms: i64, written: Moment },
    /// It lives until then.
    Renewed { lease: Lease, until_ms: i64 },
    /// A frame was appended.
    Framed { lease: Lease, frame: String },
    /// The worker is about to give the lease up.
    Ending { lease: Lease, written: Moment },
    /// The execution was completed with that result, in hex.
    Completed { lease: Lease, result: String },
    /// The attempt failed and the execution runs again.
    Retried { lease: Lease },
    /// A subscription yielded a lease event.
    Seen { event_id: i64, event: String },
}

/// The worker's side.
pub(crate) struct Journal {
    file: Mutex<File>,
}

impl Journal {
    pub(crate) fn create(path: &Path) -> Self {
        let file = File::options().create_new(true).append(true).open(path).expect("a new journal");
        Self { file: Mutex::new(file) }
    }

    /// Writes a line. When this returns it outlives the process, and the machine.
    pub(crate) fn write(&self, line: &Line) {
        let mut text = serde_json::to_string(line).expect("a line is JSON");
        text.push('\n');
        let mut file = self.file.lock().expect("no writer panicked");
        file.write_all(text.as_bytes()).expect("the journal takes the line");
        file.sync_data().expect("the journal is synced");
    }
}

/// Reads all journals of a folder. The line that a process was writing when it died is left out.
pub(crate) fn read_all(folder: &Path) -> Vec<Line> {
    let files = fs::read_dir(folder).expect("the folder of the journals");
    let mut lines = Vec::new();
    for file in files {
        let text = fs::read_to_string(file.expect("a journal").path()).expect("a journal is text");
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        lines.extend(whole.lines().map(|line| serde_json::from_str::<Line>(line).expect("a whole line is JSON")));
    }
    lines
}

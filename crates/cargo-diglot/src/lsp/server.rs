//! The messages of the protocol, one after the other.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::{
    DidChangeTextDocumentParams, DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, DidSaveTextDocumentParams, InitializeParams, LogMessageParams, MessageType,
    PublishDiagnosticsParams, Url,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Cancelled;
use super::documents::{Document, Documents};
use super::project::{Project, projects_below, root_of};

mod answers;

/// How long nothing must have come in before findings are told: while somebody types, they wait for the next letter.
const QUIET: Duration = Duration::from_millis(30);
/// The protocol's code for a request that is in order and cannot be fulfilled.
const REQUEST_FAILED: i32 = -32803;

/// Files that a project is made of, which the editor is asked to watch.
const WATCHED: [&str; 4] = ["**/*.sql", "**/diglot.toml", "**/diglot.baseline", "**/.sqlx/diglot.json"];

/// A language server for one editor.
pub(super) struct Server {
    editor: Sender<Message>,
    inbox: Receiver<Message>,
    cancelled: Cancelled,
    documents: Documents,
    projects: BTreeMap<PathBuf, Project>,
    /// Whether the editor can be asked to watch files.
    watches: bool,
    shut_down: bool,
}

/// Why a request is not answered.
struct Refused {
    code: i32,
    message: String,
}

impl Refused {
    fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code: code as i32, message: message.into() }
    }
}

impl Server {
    pub(super) fn new(
        editor: Sender<Message>,
        inbox: Receiver<Message>,
        cancelled: Cancelled,
        params: &InitializeParams,
    ) -> Self {
        let watching = params.capabilities.workspace.as_ref().and_then(|own| own.did_change_watched_files.as_ref());
        let watches = watching.and_then(|watching| watching.dynamic_registration).unwrap_or(false);
        let (documents, projects) = (Documents::default(), BTreeMap::new());
        let mut server = Self { editor, inbox, cancelled, documents, projects, watches, shut_down: false };
        let folders = params.workspace_folders.iter().flatten().map(|folder| &folder.uri);
        #[expect(deprecated, reason = "editors that know no folders of a workspace name its root")]
        let root = params.root_uri.iter().filter(|_| params.workspace_folders.is_none());
        folders.chain(root).for_each(|url| server.add_folder(url));
        server
    }

    /// Works until the editor ends; false when it did not say so before.
    pub(super) fn run(mut self) -> bool {
        self.watch();
        loop {
            let is_due = self.projects.values().any(|project| project.due);
            let message = match is_due {
                true => self.inbox.recv_timeout(QUIET),
                false => self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match message {
                Ok(Message::Notification(note)) if note.method == "exit" => return self.shut_down,
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Timeout) => self.check_all(),
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Request(request) => {
                let id = request.id.clone();
                let answer = match self.is_cancelled(&id) {
                    true => Err(Refused::new(ErrorCode::RequestCanceled, "cancelled")),
                    false => self.guarded(|server| server.answer(request)).unwrap_or_else(|| {
                        Err(Refused::new(ErrorCode::InternalError, "diglot failed on this; its words are in the log"))
                    }),
                };
                let response = match answer {
                    Ok(value) => Response::new_ok(id, value),
                    Err(Refused { code, message }) => Response::new_err(id, code, message),
                };
                self.send(Message::Response(response));
            }
            Message::Notification(note) => {
                self.guarded(|server| server.note(note));
            }
            // The editor has done what it was asked to.
            Message::Response(_) => {}
        }
    }

    /// Does something that must not take the server down: whatever fails is logged, and read anew the next time.
    fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let done = catch_unwind(AssertUnwindSafe(|| work(self)));
        done.map_err(|_| {
            self.projects.values_mut().for_each(Project::restart);
            self.log("diglot failed on what is written; this is a mistake in diglot, please report it");
        })
        .ok()
    }

    fn is_cancelled(&self, id: &RequestId) -> bool {
        self.cancelled.lock().unwrap_or_else(PoisonError::into_inner).remove(id)
    }

    fn send(&self, message: Message) {
        // An editor that is gone is noticed where messages come in.
        self.editor.send(message).ok();
    }

    fn notify(&self, method: &str, params: impl Serialize) {
        self.send(Message::Notification(Notification::new(method.to_owned(), params)));
    }

    fn log(&self, message: &str) {
        let params = LogMessageParams { typ: MessageType::ERROR, message: message.to_owned() };
        self.notify("window/logMessage", params);
    }

    fn add_folder(&mut self, url: &Url) {
        let Ok(folder) = url.to_file_path() else { return };
        for root in projects_below(&folder) {
            self.projects.entry(root.clone()).or_insert_with(|| Project::new(root));
        }
    }

    fn remove_folder(&mut self, url: &Url) {
        let Ok(folder) = url.to_file_path() else { return };
        let (gone, rest) =
            std::mem::take(&mut self.projects).into_iter().partition(|(root, _)| root.starts_with(&folder));
        self.projects = rest;
        let gone: BTreeMap<PathBuf, Project> = gone;
        gone.values().flat_map(Project::told).for_each(|url| self.publish(url.clone(), Vec::new()));
    }

    /// The project of a file, read as it is now; a file outside of all projects has none.
    fn project(&mut self, path: &Path) -> Result<Option<(&mut Project, &Documents)>, Refused> {
        let Some(root) = root_of(path) else { return Ok(None) };
        let project = self.projects.entry(root.clone()).or_insert_with(|| Project::new(root));
        project
            .refresh(&self.documents)
            .map_err(|error| Refused { code: REQUEST_FAILED, message: error.to_string() })?;
        Ok(Some((project, &self.documents)))
    }

    /// A file is no longer what it was.
    fn changed(&mut self, path: &Path) {
        if let Some(root) = root_of(path) {
            self.projects.entry(root.clone()).or_insert_with(|| Project::new(root)).changed();
        }
    }

    /// Checks what is due, as long as nothing else comes in.
    fn check_all(&mut self) {
        let due = self.projects.values().filter(|project| project.due).map(|project| project.root.clone());
        for root in due.collect::<Vec<_>>() {
            if self.guarded(|server| server.check(&root)) == Some(false) {
                return;
            }
        }
        // Whoever cancels now cancels something that was answered.
        self.cancelled.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Whether it came to its end.
    fn check(&mut self, root: &Path) -> bool {
        let Self { projects, documents, inbox, .. } = self;
        let Some(project) = projects.get_mut(root) else { return true };
        if let Err(error) = project.refresh(documents) {
            project.due = false;
            self.log(&error.to_string());
            return true;
        }
        if !project.check(&|| inbox.is_empty()) {
            return false;
        }
        let news = project.news(documents);
        news.into_iter().for_each(|(url, found)| self.publish(url, found));
        true
    }

    fn publish(&self, uri: Url, diagnostics: Vec<lsp_types::Diagnostic>) {
        let version = uri.to_file_path().ok().and_then(|path| Some(self.documents.get(&path)?.version));
        self.notify("textDocument/publishDiagnostics", PublishDiagnosticsParams { uri, diagnostics, version });
    }

    /// Asks the editor to tell of files that change outside of it.
    fn watch(&self) {
        if self.watches {
            let watchers: Vec<Value> = WATCHED.iter().map(|glob| json!({ "globPattern": glob })).collect();
            let registration = json!({
                "id": "files",
                "method": "workspace/didChangeWatchedFiles",
                "registerOptions": { "watchers": watchers },
            });
            let params = json!({ "registrations": [registration] });
            let id = RequestId::from("watch".to_owned());
            self.send(Message::Request(Request::new(id, "client/registerCapability".to_owned(), params)));
        }
    }

    fn note(&mut self, note: Notification) {
        match note.method.as_str() {
            "textDocument/didOpen" => {
                let Ok(DidOpenTextDocumentParams { text_document: opened }) = read(note.params) else { return };
                let Ok(path) = opened.uri.to_file_path() else { return };
                let document = Document { url: opened.uri, version: opened.version, text: opened.text };
                self.documents.open(path.clone(), document);
                self.changed(&path);
            }
            "textDocument/didChange" => {
                let Ok(DidChangeTextDocumentParams { text_document, content_changes }) = read(note.params) else {
                    return;
                };
                let Ok(path) = text_document.uri.to_file_path() else { return };
                if let Some(document) = self.documents.get_mut(&path) {
                    document.change(text_document.version, content_changes);
                    self.changed(&path);
                }
            }
            "textDocument/didClose" => {
                let Ok(DidCloseTextDocumentParams { text_document }) = read(note.params) else { return };
                let Ok(path) = text_document.uri.to_file_path() else { return };
                self.documents.close(&path);
                self.changed(&path);
            }
            "textDocument/didSave" => {
                let Ok(DidSaveTextDocumentParams { text_document, .. }) = read(note.params) else { return };
                let Ok(path) = text_document.uri.to_file_path() else { return };
                self.changed(&path);
            }
            "workspace/didChangeWatchedFiles" => self.projects.values_mut().for_each(Project::changed),
            "workspace/didChangeWorkspaceFolders" => {
                let Ok(DidChangeWorkspaceFoldersParams { event }) = read(note.params) else { return };
                event.removed.iter().for_each(|folder| self.remove_folder(&folder.uri));
                event.added.iter().for_each(|folder| self.add_folder(&folder.uri));
            }
            // Others are of no concern here.
            _ => {}
        }
    }
}

/// What a message carries.
fn read<T: DeserializeOwned>(params: Value) -> Result<T, Refused> {
    serde_json::from_value(params).map_err(|error| Refused::new(ErrorCode::InvalidParams, error.to_string()))
}

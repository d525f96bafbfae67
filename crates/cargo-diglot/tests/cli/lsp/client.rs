//! An editor as far as its protocol goes.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// A server, and what its editor knows.
pub(crate) struct Client {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    root: PathBuf,
    texts: BTreeMap<String, (i32, String)>,
    told: BTreeMap<String, Vec<Value>>,
    last: i64,
}

impl Client {
    /// Starts the server that these tests are built with.
    pub(crate) fn start(root: &Path) -> Self {
        Self::start_program(Path::new(env!("CARGO_BIN_EXE_cargo-diglot")), root)
    }

    pub(crate) fn start_program(program: &Path, root: &Path) -> Self {
        let root = fs::canonicalize(root).unwrap();
        let mut child = Command::new(program)
            .args(["diglot", "lsp"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let to = child.stdin.take();
        let from = BufReader::new(child.stdout.take().unwrap());
        let (texts, told) = (BTreeMap::new(), BTreeMap::new());
        let mut client = Self { child, to, from, root, texts, told, last: 0 };
        let folder = json!({ "uri": client.url(""), "name": "project" });
        let watching = json!({ "didChangeWatchedFiles": { "dynamicRegistration": true } });
        let params = json!({
            "processId": null,
            "rootUri": client.url(""),
            "workspaceFolders": [folder],
            "capabilities": { "workspace": watching },
        });
        let answer = client.ask("initialize", params);
        assert_eq!(answer["serverInfo"]["name"], "diglot");
        client.tell("initialized", json!({}));
        client
    }

    pub(crate) fn url(&self, file: &str) -> String {
        let path = self.root.join(file);
        format!("file://{}", path.to_str().unwrap().trim_end_matches('/'))
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    fn send(&mut self, messages: &[Value]) {
        let mut bytes = Vec::new();
        for message in messages {
            let text = message.to_string();
            write!(bytes, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        }
        self.to.as_mut().unwrap().write_all(&bytes).unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).unwrap() > 0, "the server is gone");
            match line.trim().split_once(": ") {
                Some(("Content-Length", value)) => length = value.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut bytes = vec![0; length];
        self.from.read_exact(&mut bytes).unwrap();
        let message: Value = serde_json::from_slice(&bytes).unwrap();
        if message["method"] == "textDocument/publishDiagnostics" {
            let found = message["params"]["diagnostics"].as_array().unwrap().clone();
            self.told.insert(message["params"]["uri"].as_str().unwrap().to_owned(), found);
        }
        message
    }

    pub(crate) fn tell(&mut self, method: &str, params: Value) {
        self.send(&[json!({ "jsonrpc": "2.0", "method": method, "params": params })]);
    }

    fn answer(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let id = self.last;
        self.send(&[json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })]);
        loop {
            let message = self.receive();
            if message["id"] == id && message["method"].is_null() {
                return message;
            }
        }
    }

    /// The result of a request.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let answer = self.answer(method, params);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Why a request is refused.
    pub(crate) fn refused(&mut self, method: &str, params: Value) -> Value {
        let answer = self.answer(method, params);
        assert!(answer["error"].is_object(), "{method}: {answer}");
        answer["error"].clone()
    }

    /// Many requests, each cancelled behind all of them, in one write; all answers.
    pub(crate) fn ask_and_cancel(&mut self, method: &str, params: &Value, times: i64) -> Vec<Value> {
        let ids: Vec<i64> = (1..=times).map(|at| self.last + at).collect();
        self.last += times;
        let ask = |id: &i64| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let cancel = |id: &i64| json!({ "jsonrpc": "2.0", "method": "$/cancelRequest", "params": { "id": id } });
        self.send(&ids.iter().map(ask).chain(ids.iter().map(cancel)).collect::<Vec<_>>());
        let mut answers = Vec::new();
        while answers.len() < ids.len() {
            let message = self.receive();
            answers.extend(message["id"].as_i64().is_some_and(|id| ids.contains(&id)).then_some(message));
        }
        answers
    }

    fn at(&self, file: &str, offset: usize, more: Value) -> Value {
        let mut params = json!({ "textDocument": { "uri": self.url(file) }, "position": self.position(file, offset) });
        let more = more.as_object().unwrap().clone();
        params.as_object_mut().unwrap().extend(more);
        params
    }

    /// Asks at the start of a piece of a text.
    pub(crate) fn ask_at(&mut self, method: &str, file: &str, piece: &str, more: Value) -> Value {
        let params = self.at(file, self.find(file, piece), more);
        self.ask(method, params)
    }

    /// Asks behind a piece of a text.
    pub(crate) fn ask_after(&mut self, method: &str, file: &str, piece: &str, more: Value) -> Value {
        let params = self.at(file, self.find(file, piece) + piece.len(), more);
        self.ask(method, params)
    }

    pub(crate) fn ask_end(&mut self, method: &str, file: &str) -> Value {
        let params = self.at(file, self.text(file).len(), json!({}));
        self.ask(method, params)
    }

    pub(crate) fn refused_at(&mut self, method: &str, file: &str, piece: &str, more: Value) -> Value {
        let params = self.at(file, self.find(file, piece), more);
        self.refused(method, params)
    }

    pub(crate) fn actions(&mut self, file: &str, range: &Value, context: Value) -> Vec<Value> {
        let params = json!({ "textDocument": { "uri": self.url(file) }, "range": range, "context": context });
        self.ask("textDocument/codeAction", params).as_array().unwrap().clone()
    }

    pub(crate) fn text(&self, file: &str) -> &str {
        &self.texts[file].1
    }

    fn find(&self, file: &str, piece: &str) -> usize {
        self.text(file).find(piece).unwrap_or_else(|| panic!("`{piece}` in {file}"))
    }

    pub(crate) fn open(&mut self, file: &str) {
        let text = fs::read_to_string(self.root.join(file)).unwrap();
        let document = json!({ "uri": self.url(file), "languageId": "sql", "version": 1, "text": text });
        self.texts.insert(file.to_owned(), (1, text));
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    pub(crate) fn close(&mut self, file: &str) {
        self.texts.remove(file);
        self.tell("textDocument/didClose", json!({ "textDocument": { "uri": self.url(file) } }));
    }

    fn changed(&mut self, file: &str, change: Value) {
        let url = self.url(file);
        let (version, _) = self.texts.get_mut(file).unwrap();
        *version += 1;
        let document = json!({ "uri": url, "version": version });
        self.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [change] }));
    }

    /// Puts another text in the place of all.
    pub(crate) fn set(&mut self, file: &str, text: &str) {
        self.texts.get_mut(file).unwrap().1 = text.to_owned();
        self.changed(file, json!({ "text": text }));
    }

    /// Writes something in the place of a piece, as somebody who types.
    pub(crate) fn replace(&mut self, file: &str, piece: &str, by: &str) {
        let start = self.find(file, piece);
        let (from, to) = (self.position(file, start), self.position(file, start + piece.len()));
        self.texts.get_mut(file).unwrap().1.replace_range(start..start + piece.len(), by);
        self.changed(file, json!({ "range": { "start": from, "end": to }, "text": by }));
    }

    /// Makes the changes that an answer asks for, in files that are open.
    pub(crate) fn apply(&mut self, edit: &Value) {
        for (url, edits) in edit["changes"].as_object().unwrap() {
            let file = self.texts.keys().find(|file| self.url(file) == *url).unwrap().clone();
            let mut edits: Vec<(usize, usize, String)> = edits
                .as_array()
                .unwrap()
                .iter()
                .map(|edit| {
                    let at = |end: &str| self.offset(&file, &edit["range"][end]);
                    (at("start"), at("end"), edit["newText"].as_str().unwrap().to_owned())
                })
                .collect();
            edits.sort();
            let mut text = self.text(&file).to_owned();
            edits.iter().rev().for_each(|(start, end, by)| text.replace_range(*start..*end, by));
            self.set(&file, &text);
        }
    }

    /// What a file's findings are, once they are so.
    pub(crate) fn told_of(&mut self, file: &str, is_so: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let url = self.url(file);
        loop {
            match self.told.get(&url) {
                Some(found) if is_so(found) => return found.clone(),
                _ => drop(self.receive()),
            }
        }
    }

    /// The next findings that come, of whatever file.
    pub(crate) fn next_told(&mut self) {
        while self.receive()["method"] != "textDocument/publishDiagnostics" {}
    }

    fn position(&self, file: &str, offset: usize) -> Value {
        let before = &self.text(file)[..offset];
        let line = before.rsplit('\n').next().unwrap();
        json!({ "line": before.matches('\n').count(), "character": line.encode_utf16().count() })
    }

    fn offset(&self, file: &str, position: &Value) -> usize {
        let text = self.text(file);
        let (line, character) = (position["line"].as_u64().unwrap(), position["character"].as_u64().unwrap());
        let start: usize = text.split_inclusive('\n').take(line as usize).map(str::len).sum();
        let units = |at: usize| text[start..at].encode_utf16().count() as u64;
        (start..=text.len()).find(|at| text.is_char_boundary(*at) && units(*at) == character).unwrap()
    }

    pub(crate) fn text_at(&self, file: &str, range: &Value) -> &str {
        &self.text(file)[self.offset(file, &range["start"])..self.offset(file, &range["end"])]
    }

    /// Ends in order; the server's exit code.
    pub(crate) fn end(mut self) -> Option<i32> {
        self.ask("shutdown", Value::Null);
        self.tell("exit", Value::Null);
        self.child.wait().unwrap().code()
    }

    /// Closes the connection without a word.
    pub(crate) fn leave(mut self) -> Option<i32> {
        self.to = None;
        self.child.wait().unwrap().code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // One that ended has nothing to be killed.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

pub(crate) fn range(from: (u32, u32), to: (u32, u32)) -> Value {
    let at = |(line, character): (u32, u32)| json!({ "line": line, "character": character });
    json!({ "start": at(from), "end": at(to) })
}

//! A headless Chromium, driven over WebDriver: as much of the protocol as the tests need.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

/// A browser with one window and a profile of its own; both end with the value.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    profile: tempfile::TempDir,
}

impl Browser {
    pub(crate) fn start() -> Self {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver is installed");
        let lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines.map_while(Result::ok).find_map(|line| {
            let (_, rest) = line.split_once("started successfully on port ")?;
            rest.trim_end_matches('.').parse().ok()
        });
        let profile = tempfile::tempdir().unwrap();
        let mut browser =
            Self { driver, port: port.expect("the driver tells its port"), session: String::new(), profile };
        let arguments = [
            "--headless=new".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-background-networking".to_owned(),
            format!("--user-data-dir={}", browser.profile.path().display()),
        ];
        let capabilities = json!({ "capabilities": { "alwaysMatch": {
            "goog:chromeOptions": { "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        } } });
        let answer = browser.ask("POST", "", Some(&capabilities));
        browser.session = format!("/{}", answer["sessionId"].as_str().expect("a session"));
        browser
    }

    pub(crate) fn open(&self, url: &str) {
        self.ask("POST", "/url", Some(&json!({ "url": url })));
    }

    /// Runs a function's body in the page and gives what it returns.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.ask("POST", "/execute/sync", Some(&json!({ "script": script, "args": [] })))
    }

    /// Waits until an expression is true, for as long as the browser lets a script wait; `false` when it never is.
    pub(crate) fn holds(&self, expression: &str) -> bool {
        let script = format!(
            "const done = arguments[0]; let left = 1000;
             const look = () => {{ if ({expression}) done(true); else if (left-- > 0) setTimeout(look, 1); else done(false); }};
             look();"
        );
        self.ask("POST", "/execute/async", Some(&json!({ "script": script, "args": [] }))) == json!(true)
    }

    /// A key, wherever the focus is.
    pub(crate) fn press(&self, key: &str) {
        let actions = json!([{ "type": "keyDown", "value": key }, { "type": "keyUp", "value": key }]);
        let actions = json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": actions }] });
        self.ask("POST", "/actions", Some(&actions));
    }

    pub(crate) fn resize(&self, width: u32, height: u32) {
        self.ask("POST", "/window/rect", Some(&json!({ "width": width, "height": height })));
    }

    pub(crate) fn screenshot(&self, file: &Path) {
        let picture = self.ask("GET", "/screenshot", None);
        fs::write(file, decoded(picture.as_str().unwrap())).unwrap();
    }

    /// Errors and warnings that the page left in the console.
    pub(crate) fn complaints(&self) -> Vec<Value> {
        let log = self.ask("POST", "/se/log", Some(&json!({ "type": "browser" })));
        let lines = log.as_array().unwrap().iter();
        lines.filter(|line| line["level"] != "INFO" && line["level"] != "DEBUG").cloned().collect()
    }

    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let answer = self.send(method, path, body).unwrap_or_else(|error| panic!("{method} {path}: {error}"));
        assert!(answer["value"]["error"].is_null(), "{method} {path}: {}", answer["value"]);
        answer["value"].clone()
    }

    fn send(&self, method: &str, path: &str, body: Option<&Value>) -> io::Result<Value> {
        let body = body.map_or_else(String::new, Value::to_string);
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        let head = format!(
            "{method} /session{}{path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            self.session,
            self.port,
            body.len()
        );
        stream.write_all((head + &body).as_bytes())?;
        // The driver keeps the connection open, so the answer's own length says where it ends.
        let mut answer = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            answer.read_line(&mut line)?;
            match line.trim_end().to_ascii_lowercase().split_once(':') {
                Some(("content-length", value)) => length = value.trim().parse().unwrap_or(0),
                Some(_) => {}
                None if line.trim_end().is_empty() => break,
                None => {}
            }
        }
        let mut body = vec![0; length];
        answer.read_exact(&mut body)?;
        Ok(serde_json::from_slice(&body)?)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver ends the browser with the session; this may be on the way out of a failed test.
        if !self.session.is_empty() {
            self.send("DELETE", "", None).ok();
        }
        self.driver.kill().ok();
        self.driver.wait().ok();
    }
}

/// The bytes behind a text in base 64.
fn decoded(text: &str) -> Vec<u8> {
    let value = |letter: u8| match letter {
        b'A'..=b'Z' => Some(letter - b'A'),
        b'a'..=b'z' => Some(letter - b'a' + 26),
        b'0'..=b'9' => Some(letter - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let digits: Vec<u32> = text.bytes().filter_map(value).map(u32::from).collect();
    let mut bytes = Vec::new();
    for group in digits.chunks(4) {
        let bits = (0..4).fold(0, |bits, at| bits << 6 | group.get(at).copied().unwrap_or(0));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    bytes
}

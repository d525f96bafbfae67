//! `cargo diglot mcp`: an agent's session over pipes.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::project::{Project, postgres};

/// An agent as far as its protocol goes.
struct Agent<'p> {
    /// The server works in its folder.
    _project: &'p Project,
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    last: i64,
}

impl<'p> Agent<'p> {
    fn start(project: &'p Project) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_cargo-diglot"))
            .args(["diglot", "mcp", "--postgres", postgres()])
            .current_dir(project.path("."))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (to, from) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { _project: project, child, to, from, last: 0 }
    }

    fn send(&mut self, line: &str) {
        writeln!(self.to.as_mut().unwrap(), "{line}").unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// The whole answer to a request.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params });
        self.send(&request.to_string());
        let answer = self.receive();
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(self.last)), "{answer}");
        answer
    }

    /// What a tool says, and whether it failed.
    fn call(&mut self, tool: &str, arguments: Value) -> (String, bool) {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        (text.to_owned(), result["isError"].as_bool().unwrap())
    }

    fn end(mut self) {
        drop(self.to.take());
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn a_session_begins_with_what_both_sides_speak_and_ends_with_its_input() {
    let project = Project::unprepared();
    let mut agent = Agent::start(&project);
    let client = json!({ "name": "test", "version": "1" });
    for (asked, given) in [("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-06-18")] {
        let params = json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": client });
        let answer = agent.ask("initialize", params);
        assert_eq!(answer["result"]["protocolVersion"], given);
        assert_eq!(answer["result"]["serverInfo"]["name"], "diglot");
        assert!(answer["result"]["capabilities"]["tools"].is_object(), "{answer}");
    }
    agent.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
    assert_eq!(agent.ask("ping", json!({}))["result"], json!({}));
    let listed = agent.ask("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["check", "explain", "run_pair"]);
    assert!(tools.iter().all(|tool| tool["inputSchema"]["type"] == "object"), "{listed}");
    agent.end();
}

#[test]
fn what_makes_no_sense_is_refused_and_the_session_goes_on() {
    let project = Project::unprepared();
    let mut agent = Agent::start(&project);
    agent.send("{");
    assert_eq!(agent.receive()["error"]["code"], -32700);
    agent.send("[1]");
    assert_eq!(agent.receive()["error"]["code"], -32600);
    assert_eq!(agent.ask("resources/list", json!({}))["error"]["code"], -32601);
    for (tool, arguments) in [
        ("no-such-tool", json!({})),
        ("explain", json!({})),
        ("check", json!({ "folder": "x" })),
        ("run_pair", json!({})),
        ("run_pair", json!({ "sqlite": "SELECT 1" })),
        ("run_pair", json!({ "statement": "a", "sqlite": "SELECT 1", "postgres": "SELECT 1" })),
    ] {
        let answer = agent.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert_eq!(answer["error"]["code"], -32602, "{tool}: {answer}");
    }
    let (text, failed) = agent.call("explain", json!({ "rule": "where-difers" }));
    assert!(failed && text.contains("did you mean `where-differs`?"), "{text}");
    let (text, failed) = agent.call("check", json!({ "root": "/no/such/folder" }));
    assert!(failed && text.contains("holds no project"), "{text}");
    agent.end();
}

#[test]
fn a_project_is_checked_a_rule_explained_and_a_pair_of_it_is_run() {
    let project = Project::clean();
    let mut agent = Agent::start(&project);
    let (text, failed) = agent.call("check", json!({}));
    assert!(!failed && text.contains(" pairs, 0 findings"), "{text}");
    let (text, failed) = agent.call("run_pair", json!({ "statement": "job_due" }));
    assert!(!failed && text.starts_with("job_due: equal on "), "{text}");

    project.edit("sql/pg/job.sql", "LIMIT 10", "LIMIT 11");
    let (text, _) = agent.call("check", json!({ "full": true }));
    assert!(text.contains("error[limit-differs]: job_"), "{text}");
    let (text, failed) = agent.call("explain", json!({ "rule": "error[limit-differs]" }));
    assert!(!failed && text.starts_with("limit-differs: "), "{text}");
    let (text, failed) = agent.call("run_pair", json!({ "statement": "no_such" }));
    assert!(failed && text == "there is no pair `no_such`", "{text}");
    agent.end();
}

#[test]
fn two_texts_are_run_on_the_schema_of_the_project_and_on_one_that_is_given() {
    let project = Project::clean();
    let mut agent = Agent::start(&project);
    let texts = json!({
        "sqlite": "SELECT id FROM tea WHERE price <= :most ORDER BY id",
        "postgres": "SELECT id FROM tea WHERE price < :most ORDER BY id",
        "sqlite_schema": "CREATE TABLE tea (id INTEGER NOT NULL PRIMARY KEY, price INTEGER NOT NULL);",
        "postgres_schema": "CREATE TABLE tea (id BIGINT NOT NULL PRIMARY KEY, price BIGINT NOT NULL);",
    });
    let (text, failed) = agent.call("run_pair", texts.clone());
    assert!(!failed && text.starts_with("statement: the answers differ\n"), "{text}");
    for said in
        ["error[where-differs]", "note: tea holds", "with most = ", "SQLite gives id = ", "Postgres gives no row"]
    {
        assert!(text.contains(said), "{said}: {text}");
    }
    let mut same = texts.clone();
    same["postgres"] = json!("SELECT id FROM tea WHERE NOT price > :most ORDER BY id");
    let (text, failed) = agent.call("run_pair", same);
    assert!(!failed && text.contains(": equal on "), "{text}");
    let mut unread = texts;
    unread["postgres"] = json!("SELECT id FROM tea WHERE");
    let (text, failed) = agent.call("run_pair", unread);
    assert!(!failed && text.contains("not run") && text.contains("error[syntax]"), "{text}");

    let own = json!({ "sqlite": "SELECT count(*) AS n FROM job", "postgres": "SELECT count(*) AS n FROM job" });
    let (text, failed) = agent.call("run_pair", own);
    assert!(!failed && text.contains(": equal on "), "{text}");
    agent.end();
}

//! `cargo diglot mcp`: the compiler's questions for coding agents, by the Model Context Protocol on standard input and output.
//!
//! A message is one line of JSON-RPC. One is answered after the other, in the order in which they come; what a tool says is
//! text, as people read it on a terminal.

mod pair;
mod tools;

use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Value, json};

use crate::cli::Mcp;
use crate::failure::Failure;
use crate::{Outcome, report};

/// The versions of the protocol that are spoken, the newest first.
const VERSIONS: [&str; 3] = ["2025-06-18", "2025-03-26", "2024-11-05"];

/// What an agent is told of the tools as a whole.
const INSTRUCTIONS: &str = "diglot compares SQL that a program keeps twice, for SQLite and for Postgres. After a change of \
     SQL or of a schema, `check` tells what differs. `run_pair` runs both texts of a statement on small databases of both \
     engines and gives one on which they answer differently. `explain` tells what a rule means and what to write instead.";

/// Codes of JSON-RPC.
const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;
const INTERNAL_ERROR: i32 = -32603;

/// Why a request is not answered.
struct Refused {
    code: i32,
    message: String,
}

impl Refused {
    fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// Serves one agent until its messages end.
pub(crate) fn run(arguments: &Mcp) -> Result<Outcome, Failure> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line.map_err(Failure::io("read what the agent says"))?;
        let Some(answer) = answer(arguments, &line) else { continue };
        let written = writeln!(out, "{answer}").and_then(|()| out.flush()).map_err(Failure::io("answer the agent"));
        if report::is_over(written)? {
            break;
        }
    }
    Ok(Outcome::Clean)
}

/// The answer to a message; none to a notification and to an empty line.
fn answer(arguments: &Mcp, line: &str) -> Option<Value> {
    if line.trim().is_empty() {
        return None;
    }
    let message: Value = match serde_json::from_str(line) {
        Ok(message) => message,
        Err(error) => return Some(refused(&Value::Null, &Refused::new(PARSE_ERROR, error.to_string()))),
    };
    let Some(method) = message["method"].as_str() else {
        let is_answer = message.get("result").is_some() || message.get("error").is_some();
        let why = || Refused::new(INVALID_REQUEST, "a message has a method and is no list");
        return (!is_answer).then(|| refused(&message["id"], &why()));
    };
    let id = message.get("id")?;
    let done = catch_unwind(AssertUnwindSafe(|| request(arguments, method, &message["params"])));
    let failed =
        || Refused::new(INTERNAL_ERROR, "diglot failed on this; this is a mistake in diglot, please report it");
    Some(match done.unwrap_or_else(|_| Err(failed())) {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(why) => refused(id, &why),
    })
}

fn refused(id: &Value, Refused { code, message }: &Refused) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

fn request(arguments: &Mcp, method: &str, params: &Value) -> Result<Value, Refused> {
    match method {
        "initialize" => {
            let asked = params["protocolVersion"].as_str().unwrap_or_default();
            let version = VERSIONS.iter().find(|version| **version == asked).unwrap_or(&VERSIONS[0]);
            Ok(json!({
                "protocolVersion": version,
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "diglot", "version": env!("CARGO_PKG_VERSION") },
                "instructions": INSTRUCTIONS,
            }))
        }
        "ping" => Ok(json!({})),
        "tools/list" => Ok(json!({ "tools": tools::list() })),
        "tools/call" => {
            let name = params["name"].as_str().unwrap_or_default();
            let said = tools::call(arguments, name, params["arguments"].clone())?;
            let (text, is_error) = match said {
                Ok(text) => (text, false),
                Err(failure) => (failure.to_string(), true),
            };
            Ok(json!({ "content": [{ "type": "text", "text": text }], "isError": is_error }))
        }
        other => Err(Refused::new(METHOD_NOT_FOUND, format!("there is no method `{other}`"))),
    }
}

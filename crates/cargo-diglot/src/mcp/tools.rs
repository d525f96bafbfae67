//! The tools: what each takes, and what it says.

use std::path::PathBuf;

use diglot::render::{self, Look};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{INVALID_PARAMS, Refused, pair};
use crate::cli::{Mcp, Project};
use crate::failure::Failure;
use crate::{check, explain, overview, report};

/// What a tool says, or why it failed.
pub(super) type Said = Result<String, Failure>;

/// What `check` takes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Check {
    root: Option<PathBuf>,
    #[serde(default)]
    full: bool,
}

/// What `explain` takes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Explain {
    rule: String,
}

/// What `run_pair` takes: a statement of the project, or both texts.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pair {
    pub(super) root: Option<PathBuf>,
    pub(super) statement: Option<String>,
    pub(super) sqlite: Option<String>,
    pub(super) postgres: Option<String>,
    pub(super) sqlite_schema: Option<String>,
    pub(super) postgres_schema: Option<String>,
}

/// What an agent is told of each tool.
pub(super) fn list() -> Value {
    let text = |of: &str| json!({ "type": "string", "description": of });
    let root = text("The project's folder, which holds diglot.toml. Without it: that in which the server was started.");
    let tool = |name: &str, description: &str, required: &[&str], properties: Value| {
        let schema = json!({ "type": "object", "properties": properties, "required": required });
        let hints = json!({ "readOnlyHint": true, "openWorldHint": false });
        json!({ "name": name, "description": description, "inputSchema": schema, "annotations": hints })
    };
    let full =
        json!({ "type": "boolean", "description": "All findings, and not only those that fit on a few screens." });
    json!([
        tool(
            "check",
            "Compare the SQLite and the Postgres text of every statement of a project, and both schemas. Gives the findings \
             with their places on both sides and what to write. Needs no database.",
            &[],
            json!({ "root": root, "full": full }),
        ),
        tool(
            "explain",
            "What a rule finds, why that is a problem, and what to write instead.",
            &["rule"],
            json!({ "rule": text("The rule's name, which stands in brackets in a finding: where-differs.") }),
        ),
        tool(
            "run_pair",
            "Run the SQLite and the Postgres text of one statement on small databases of both engines. Gives the smallest \
             database and the arguments on which they answer differently, or says on how many they agree. Takes either the \
             name of a statement of the project, or both texts, which read the project's schemas or those that are given.",
            &[],
            json!({
                "root": root,
                "statement": text("The name of a statement of the project, as findings have it: note_due."),
                "sqlite": text("The text for SQLite, parameters as `:name` or `?1`."),
                "postgres": text("The text for Postgres, parameters as `:name` or `$1`."),
                "sqlite_schema": text("CREATE TABLE and what belongs to it, for SQLite, in the place of the project's schema."),
                "postgres_schema": text("The same for Postgres."),
            }),
        ),
    ])
}

/// Calls a tool.
pub(super) fn call(arguments: &Mcp, name: &str, given: Value) -> Result<Said, Refused> {
    match name {
        "check" => read(given).map(|given| check(arguments, given)),
        "explain" => read(given).map(|Explain { rule }| explain::markdown(&rule)),
        "run_pair" => {
            let given: Pair = read(given)?;
            let has_texts = given.sqlite.is_some() && given.postgres.is_some();
            let has_one = given.sqlite.is_some() || given.postgres.is_some();
            if given.statement.is_some() == has_one || has_one && !has_texts {
                let why = "`run_pair` takes the name of a `statement`, or both `sqlite` and `postgres`";
                return Err(Refused::new(INVALID_PARAMS, why));
            }
            if given.sqlite_schema.is_some() != given.postgres_schema.is_some() {
                let why = "a schema is needed for both, `sqlite_schema` and `postgres_schema`";
                return Err(Refused::new(INVALID_PARAMS, why));
            }
            Ok(pair::run(arguments, &given))
        }
        other => Err(Refused::new(INVALID_PARAMS, format!("there is no tool `{other}`"))),
    }
}

/// The arguments of a tool; none count as an empty object.
fn read<T: DeserializeOwned>(given: Value) -> Result<T, Refused> {
    let given = if given.is_null() { json!({}) } else { given };
    serde_json::from_value(given).map_err(|error| Refused::new(INVALID_PARAMS, error.to_string()))
}

/// The project's folder, as the tool or the server was told.
pub(super) fn root(arguments: &Mcp, root: Option<&PathBuf>) -> Result<PathBuf, Failure> {
    match root {
        Some(root) => check::root(&Project { root: Some(root.clone()), package: None }),
        None => check::root(&arguments.project),
    }
}

fn check(arguments: &Mcp, Check { root: given, full }: Check) -> Said {
    let root = root(arguments, given.as_ref())?;
    let inputs = diglot::build::load(&root)?;
    let compiled = diglot::check(&inputs);
    let findings = overview::by_subject(&compiled);
    let (shown, left) = if full { (findings, 0) } else { overview::for_people(&compiled, &inputs.sources, findings) };
    let mut text = overview::of(&compiled) + &render::all(&inputs.sources, &shown, Look::Plain);
    if left > 0 {
        text.push_str(&format!("{} more not shown: `full` shows all of them\n", report::counted(left, "finding")));
    }
    text.push_str(&report::summary(&compiled, &compiled.diagnostics));
    Ok(text)
}

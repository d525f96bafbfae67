//! The compiler in a browser.
//!
//! The page hands in its four texts. [`check`] says what the compiler finds, [`run`] runs the pairs on the SQLite and the
//! Postgres that the page brings, as `cargo diglot prepare` does, and says what is found then. Both answer in JSON.

#![forbid(unsafe_code)]

mod engines;
mod pg;
mod shown;
mod sqlite;

use std::collections::BTreeMap;

use diglot::dialect::Dialect;
use diglot::evidence::{Evidence, Record, VERSION, Verdict};
use diglot::source::SourceFile;
use diglot::{Compiled, Inputs};
use diglot_tools::mutate::Changer;
use diglot_tools::prove::Prover;
use diglot_tools::verdict::Trial;
use serde::Deserialize;
use wasm_bindgen::prelude::wasm_bindgen;

use engines::Both;

/// The texts of a page: its schema and its statements.
#[derive(Debug, Deserialize)]
struct Page {
    schema: String,
    statements: String,
}

/// What stands in the editors.
#[derive(Debug, Deserialize)]
struct Project {
    sqlite: Page,
    pg: Page,
    /// What a run showed before, as the file that `prepare` writes.
    evidence: Option<String>,
}

impl Project {
    fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    fn inputs(self) -> Inputs {
        let mut inputs = Inputs { evidence: self.evidence, ..Inputs::default() };
        for (dialect, page) in [(Dialect::Sqlite, self.sqlite), (Dialect::Pg, self.pg)] {
            let folder = dialect.word();
            inputs.sources.add(SourceFile::new(format!("schema/{folder}/0001_schema.sql"), page.schema));
            // A single statement that has no name is called as its file.
            inputs.sources.add(SourceFile::new(format!("sql/{folder}/statement.sql"), page.statements));
        }
        inputs
    }
}

/// What the compiler finds.
///
/// # Errors
/// When the text is no project.
#[wasm_bindgen]
pub fn check(project: &str) -> Result<String, String> {
    Ok(shown::json(&Project::parse(project)?.inputs()))
}

/// What it finds once the pairs have run on both engines, each on about so many databases. `today` counts days since 1970.
///
/// # Errors
/// When the text is no project, or an engine refuses its schema.
#[wasm_bindgen]
pub fn run(project: &str, budget: usize, today: u32) -> Result<String, String> {
    let mut inputs = Project::parse(project)?.inputs();
    inputs.asking = true;
    let compiled = diglot::check(&inputs);
    let evidence = gather(&inputs, &compiled, budget, today.into())?;
    inputs.asking = false;
    inputs.evidence = Some(evidence.to_text());
    Ok(shown::json(&inputs))
}

/// What running each pair shows.
fn gather(inputs: &Inputs, compiled: &Compiled, budget: usize, today: i64) -> Result<Evidence, String> {
    let mut engines = Both::open(inputs)?;
    let relations = engines.relations()?;
    let prover = Prover::new(inputs, compiled, &relations);
    let changer = Changer::new(inputs);
    let mut pairs = BTreeMap::new();
    for pair in &compiled.weighed {
        let verdict = match prover.subject(&pair.name) {
            Some(subject) => Trial {
                engines: &mut engines,
                subject: &subject,
                changer: &changer,
                signatures: &compiled.signatures,
                before: None,
                budget,
                today,
                first_look: None,
            }
            .verdict()?,
            None => Some(Verdict::Unknown { reason: "no text of it can be made for the engines".to_owned() }),
        };
        pairs.extend(verdict.map(|verdict| (pair.name.clone(), Record { basis: pair.basis.clone(), verdict })));
    }
    Ok(Evidence { version: VERSION, engines: engines.versions()?, pairs, steps: Vec::new() })
}

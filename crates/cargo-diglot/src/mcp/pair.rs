//! A pair as it is run for an agent: one of the project, or two texts that are in no file.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use diglot::config::{Config, Places};
use diglot::dialect::Dialect;
use diglot::evidence::Verdict;
use diglot::render::{self, Look};
use diglot::source::{Role, SourceFile, Sources};
use diglot::{Compiled, Inputs, Weighed};

use super::tools::{Pair, Said, root};
use crate::cli::Mcp;
use crate::failure::Failure;
use crate::host::Host;
use crate::prove::evidence::{Until, of_pairs};
use crate::prove::first_sorting;
use crate::runtime;

/// How long a pair is run: an agent waits.
const TIME: Duration = Duration::from_secs(40);
/// On about how many databases.
const DATABASES: usize = 1000;
/// The name of a statement that has none.
const NAMELESS: &str = "statement";

/// Runs a pair and says what comes of it: the findings about it, and the verdict.
pub(super) fn run(arguments: &Mcp, given: &Pair) -> Said {
    let mut inputs = inputs(arguments, given)?;
    (inputs.answers, inputs.evidence, inputs.check_answers) = (None, None, false);
    let asking = diglot::check(&Inputs { asking: true, ..inputs.clone() });
    let wanted = |pair: &&Weighed| given.statement.as_ref().is_none_or(|name| *name == pair.name);
    let pairs: Vec<Weighed> = asking.weighed.iter().filter(wanted).cloned().collect();
    let Some(pair) = pairs.first().cloned() else {
        let at_first = diglot::check(&inputs);
        return not_run(given, &inputs, &at_first);
    };
    let until = Until { end: Instant::now() + TIME, differences: 1, databases: DATABASES };
    let work = async |host: &Host| of_pairs(&inputs, &asking, (pairs.into(), Some(until)), host).await;
    let evidence = runtime()?.block_on(Host::during(&arguments.postgres, first_sorting(&inputs), work))?;
    let verdict = evidence.pairs.get(&pair.name).map(|record| record.verdict.clone());
    inputs.evidence = Some(evidence.to_text());
    let compiled = diglot::check(&inputs);
    let said = match verdict {
        Some(Verdict::Same(scope)) => format!("{}: {}", pair.name, scope.sentence()),
        Some(Verdict::Differs(witness)) if witness.edge => {
            format!("{}: the answers differ, on values that few programs write", pair.name)
        }
        Some(Verdict::Differs(_)) => format!("{}: the answers differ", pair.name),
        Some(Verdict::Unknown { reason }) => format!("{}: running says nothing: {reason}", pair.name),
        None => format!("{}: no difference was found within {} seconds", pair.name, TIME.as_secs()),
    };
    Ok(format!("{said}\n\n{}", findings(&inputs, &compiled, &pair.name)))
}

/// Why a pair is not run.
fn not_run(given: &Pair, inputs: &Inputs, compiled: &Compiled) -> Said {
    let name = given.statement.as_deref().unwrap_or(NAMELESS);
    let said = findings(inputs, compiled, name);
    if said.is_empty() && given.statement.is_some() {
        return Err(Failure::UnknownStatement { name: name.to_owned() });
    }
    Ok(format!("{name}: not run, since there are no two texts that can be run\n\n{said}"))
}

/// The findings about a statement, and those about what cannot be read at all.
fn findings(inputs: &Inputs, compiled: &Compiled, name: &str) -> String {
    let is_of = |message: &str| message.strip_prefix(name).is_some_and(|rest| rest.starts_with([':', ' ']));
    let is_cause = |rule: &str| ["syntax", "bad-config", "schema-unreadable"].contains(&rule);
    let own = compiled.diagnostics.iter().filter(|finding| is_of(&finding.message) || is_cause(finding.rule));
    render::all(&inputs.sources, &own.cloned().collect::<Vec<_>>(), Look::Plain)
}

/// The project, or both texts beside its schemas or beside schemas that are given.
fn inputs(arguments: &Mcp, given: &Pair) -> Result<Inputs, Failure> {
    let (Some(sqlite), Some(pg)) = (&given.sqlite, &given.postgres) else {
        return Ok(diglot::build::load(&root(arguments, given.root.as_ref())?)?);
    };
    let mut inputs = match (&given.sqlite_schema, &given.postgres_schema) {
        (Some(sqlite), Some(pg)) => {
            let schema = [(Dialect::Sqlite, sqlite), (Dialect::Pg, pg)];
            let mut sources = Sources::default();
            for (dialect, text) in schema {
                let path = format!("schema/{dialect}/schema.sql");
                sources.add(SourceFile::new(path, text.as_str()).with_role(Role::Schema));
            }
            Inputs { sources, ..Inputs::default() }
        }
        _ => diglot::build::load(&root(arguments, given.root.as_ref())?)?,
    };
    let own = std::mem::take(&mut inputs.config);
    let place = |dialect: Dialect| vec![format!("{NAMELESS}/{dialect}")];
    // What the project says of its statements names none of these.
    inputs.config = Config {
        sql: Places::each(place(Dialect::Sqlite), place(Dialect::Pg)),
        lockstep: false,
        names: BTreeMap::new(),
        declared: Vec::new(),
        transactions: BTreeMap::new(),
        locks: None,
        ..own
    };
    inputs.config.generate.enabled = false;
    (inputs.baseline, inputs.findings) = (None, Vec::new());
    for (dialect, text) in [(Dialect::Sqlite, sqlite), (Dialect::Pg, pg)] {
        let path = format!("{NAMELESS}/{dialect}/{NAMELESS}.sql");
        inputs.sources.add(SourceFile::new(path, text.as_str()).with_role(Role::Statements));
    }
    Ok(inputs)
}

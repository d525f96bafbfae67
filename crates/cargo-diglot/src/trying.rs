//! `cargo diglot try`: what differs in a folder that nobody has set up for it, within a minute.
//!
//! Nothing is written into the folder: its settings are made in memory, from where its SQL is. The pairs with findings are run
//! first, for as long as there is time, and the differences that matter most are told.

mod differences;
mod place;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use diglot::config::FILE as CONFIG;
use diglot::dialect::Dialect;
use diglot::evidence::{Evidence, Verdict};
use diglot::rules::{BUILT_TEXT, MISSING_STATEMENT, Rule};
use diglot::{Compiled, Inputs, Weighed};

use crate::cli::{Baseline, Format, Project, Try};
use crate::failure::Failure;
use crate::host::Host;
use crate::layout::{self, Search};
use crate::prove::evidence::{Until, of_pairs};
use crate::prove::first_sorting;
use crate::{Outcome, baseline, check, init, report, runtime};
use place::Place;

/// On about how many databases each pair is run: most differences show on the smallest.
const DATABASES: usize = 400;
/// How many places of a dialect are named.
const PLACES: usize = 3;
/// How many statements without a facing one are named.
const NAMED: usize = 6;

pub(crate) fn run(arguments: &Try) -> Result<Outcome, Failure> {
    let place = Place::of(&arguments.place, arguments.adopt)?;
    // Fetching somebody's repository takes as long as it takes.
    let end = Instant::now() + Duration::from_secs(arguments.seconds);
    let root = place.root();
    let settings = settings(root)?;
    if arguments.adopt {
        return adopt(root, settings.as_deref());
    }
    let inputs = load(root, settings.as_deref())?;
    tell_places(&inputs);
    let at_first = diglot::check(&inputs);
    if at_first.statements.0 == 0 && settings.is_none() && at_first.has_errors() {
        return check::found(&inputs, &at_first, &at_first.diagnostics, "nothing was run");
    }
    if at_first.statements.0 == 0 {
        return Err(Failure::NothingToTry { why: unpaired(&inputs, &at_first) });
    }
    let until = Until { end, differences: arguments.show, databases: DATABASES };
    let evidence = ran(arguments, &inputs, &at_first, until)?;
    let evidence_text = evidence.as_ref().map(Evidence::to_text);
    let compiled = match &evidence_text {
        Some(_) => diglot::check(&Inputs { evidence: evidence_text, ..inputs.clone() }),
        None => at_first,
    };
    let sources = if place.is_kept() { report::from_here(root, inputs).sources } else { inputs.sources };
    let shown = differences::most_important(&sources, &compiled, arguments.show);
    report::findings(&sources, &shown, Format::Full)?;
    report::line(&summary(&compiled, evidence.as_ref(), shown.len()));
    report::line(&format!("next: {}", place.adopting()));
    Ok(if compiled.has_errors() { Outcome::Findings } else { Outcome::Clean })
}

/// Settings for a folder that has none, from where its SQL is.
fn settings(root: &Path) -> Result<Option<String>, Failure> {
    if root.join(CONFIG).is_file() {
        return Ok(None);
    }
    match layout::find(root)? {
        Search::Found { places, beside } => {
            for other in beside {
                report::line(&format!(
                    "{other} has tables of the same names, so it is another project: try it by itself"
                ));
            }
            Ok(Some(init::check_only(&places)))
        }
        Search::Nothing { why } => Err(Failure::NothingToTry { why }),
    }
}

fn load(root: &Path, settings: Option<&str>) -> Result<Inputs, Failure> {
    let made = settings.map(|text| (CONFIG.to_owned(), text.to_owned()));
    let mut inputs = diglot::build::load_over(root, &BTreeMap::from_iter(made))?;
    (inputs.answers, inputs.evidence, inputs.check_answers) = (None, None, false);
    Ok(inputs)
}

/// Writes the settings that were made, and keeps today's findings.
fn adopt(root: &Path, settings: Option<&str>) -> Result<Outcome, Failure> {
    let file = root.join(CONFIG);
    if let Some(text) = settings
        && init::write_new(&file, text).map_err(Failure::io(format!("write {}", file.display())))?
    {
        report::line(&format!("wrote {CONFIG}"));
    }
    let kept = baseline::run(&Baseline { project: Project { root: Some(root.to_path_buf()), package: None } })?;
    report::line("next: commit what was written; from now on `cargo diglot check` fails on new differences alone");
    Ok(kept)
}

/// Says where statements and schemas are read.
fn tell_places(inputs: &Inputs) {
    for dialect in Dialect::ALL {
        let listed = |places: &[String]| match places.len() {
            count if count > PLACES => format!("{} and {} more", places[..PLACES].join(", "), count - PLACES),
            _ => places.join(", "),
        };
        let (queries, schema) = (inputs.config.sql.of(dialect), inputs.config.schema.of(dialect));
        report::line(&format!("{}: statements in {}; schema in {}", dialect.title(), listed(queries), listed(schema)));
    }
}

/// Why nothing is compared, although there is SQL of both.
fn unpaired(inputs: &Inputs, compiled: &Compiled) -> String {
    let of_rule = |rule: Rule| {
        let found = compiled.diagnostics.iter().filter(move |finding| finding.rule == rule.name);
        found.filter_map(|finding| {
            let file = inputs.sources.file(finding.labels.first()?.span.file);
            Some((finding.message.split(':').next()?, file.path.as_str()))
        })
    };
    let mut why = "no statement of one database faces one of the other\n".to_owned();
    for dialect in Dialect::ALL {
        let is_of = |(_, path): &(&str, &str)| inputs.config.sql.stem(dialect, path).is_some();
        let names: Vec<&str> = of_rule(MISSING_STATEMENT).filter(is_of).map(|(name, _)| name).collect();
        let named = match names.len() {
            0 => "none".to_owned(),
            count if count > NAMED => format!("{} and {} more", names[..NAMED].join(", "), count - NAMED),
            _ => names.join(", "),
        };
        let built = of_rule(BUILT_TEXT).filter(is_of).count();
        let built = if built == 0 { String::new() } else { format!("; {built} put together at run time") };
        why.push_str(&format!("{}: {named}{built}\n", dialect.title()));
    }
    why + "needed: the same name on both sides, of a header `-- name:`, a constant, a function or a file with one statement; \
           or lines in diglot.toml that say which face each other (`[names]`) or what texts are put together of (`[built]`)"
}

/// What running the pairs shows, those with findings first; nothing where that fails, as without a server or with a migration
/// that does not run, which is told.
fn ran(arguments: &Try, inputs: &Inputs, at_first: &Compiled, until: Until) -> Result<Option<Evidence>, Failure> {
    let mut open: Vec<Weighed> = at_first.weighed.clone();
    open.sort_by_cached_key(|pair| differences::urgency(at_first, pair));
    let asking = diglot::check(&Inputs { asking: true, ..inputs.clone() });
    let work = async |host: &Host| of_pairs(inputs, &asking, (open.into(), Some(until)), host).await;
    match runtime()?.block_on(Host::during(&arguments.postgres, first_sorting(inputs), work)) {
        Ok(evidence) => Ok(Some(evidence)),
        Err(failure @ Failure::Interrupted { .. }) => Err(failure),
        Err(failure) => {
            let why = match failure {
                Failure::Migration { path, message } => format!("{path} does not run: {message}"),
                failure => failure.to_string(),
            };
            report::line(&format!("{why}\nso no pair was run, and what differs is told by the texts alone"));
            Ok(None)
        }
    }
}

/// What was done and what was found, in a few lines.
fn summary(compiled: &Compiled, evidence: Option<&Evidence>, shown: usize) -> String {
    let (pairs, single) = compiled.statements;
    let mut lines = vec![format!("{} compared", report::counted(pairs, "pair"))];
    if single > 0 {
        lines[0].push_str(&format!(", {} for one database alone", report::counted(single, "statement")));
    }
    if let Some(evidence) = evidence {
        let count = |is: fn(&Verdict) -> bool| evidence.pairs.values().filter(|record| is(&record.verdict)).count();
        let same = count(|verdict| matches!(verdict, Verdict::Same(_)));
        let ordinary = count(|verdict| matches!(verdict, Verdict::Differs(witness) if !witness.edge));
        let edges = count(|verdict| matches!(verdict, Verdict::Differs(witness) if witness.edge));
        let ran = evidence.pairs.len();
        lines.push(format!(
            "{ran} of them run on small databases: {ordinary} differ, {edges} differ on extreme values alone, {same} show no \
             difference, {} cannot be told",
            ran - same - ordinary - edges
        ));
        let rest = || compiled.weighed.iter().filter(|pair| !evidence.pairs.contains_key(&pair.name));
        let late = rest().filter(|pair| !pair.by_law).count();
        match (rest().count(), late) {
            (0, _) => {}
            (rest, 0) => lines.push(format!("{rest} not run, since their texts mean the same")),
            (_, late) => lines.push(format!("{late} not run for want of time: `--seconds N` gives more")),
        }
    }
    let left = compiled.diagnostics.len().saturating_sub(shown);
    if left > 0 {
        let how = "once the folder is adopted, `cargo diglot check --full` shows all of them";
        lines.push(format!("{} more not shown: {how}", report::counted(left, "finding")));
    }
    lines.join("\n")
}

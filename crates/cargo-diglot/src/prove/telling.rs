//! Whether the databases of a pair are telling: each change of its own page of SQLite is run against the page itself.
//!
//! `DIGLOT_TELLING=folder` runs the changes of a project's pairs instead of those below, one of `DIGLOT_TELLING_ONE_OF`,
//! over `DIGLOT_TELLING_BUDGET` cases a pair. What no database tells is tried on random cases, too: what these tell is a miss.

use std::collections::BTreeMap;
use std::path::PathBuf;

use diglot::config::Config;
use diglot::dialect::Dialect;
use diglot::source::{SourceFile, Sources};
use diglot_tools::mutate::{Changer, Sample};
use diglot_tools::prove::{ATTEMPTS, Answer, Ran, Reach, Relations};

use super::*;

/// How many changes are missed: rows of one group that a wrong key would spread over two which only together are as many
/// as HAVING counts.
const MISSED: usize = 1;
/// How many random cases are tried where the databases tell nothing.
const RANDOM: u64 = 3_000;

/// What came of the changes of a project.
#[derive(Debug, Default)]
struct Told {
    by_kind: BTreeMap<&'static str, [usize; 3]>,
    /// Changes that random cases tell and the databases do not.
    missed: Vec<String>,
    /// Changes that nothing tells.
    silent: Vec<String>,
    pairs: usize,
    /// How many pairs have all databases of two rows.
    whole: usize,
    cases: usize,
}

/// A page that is run, and what it answered so far.
struct Page<'s> {
    subject: &'s Subject,
    cases: Vec<Case>,
    answers: Vec<Option<Answer>>,
}

impl Page<'_> {
    /// Its answer to a case; none to one whose rows SQLite refuses.
    fn answer(&mut self, sqlite: &mut sqlite::Sqlite, at: usize) -> Option<Answer> {
        while self.answers.len() <= at {
            let next = self.answers.len();
            let answer = answered(sqlite, self.subject, &mut self.cases[next]);
            self.answers.push(answer);
        }
        self.answers[at].clone()
    }
}

/// What came of a single case.
fn first(ran: Result<Vec<Ran>, Failure>) -> Ran {
    ran.expect("SQLite talks").into_iter().next().expect("one for the case")
}

/// The answer to a case without the rows that are refused.
fn answered(sqlite: &mut sqlite::Sqlite, subject: &Subject, case: &mut Case) -> Option<Answer> {
    for _ in 0..ATTEMPTS {
        match first(sqlite.run(subject, &[&*case])) {
            Ran::Answered(answer) => return Some(answer),
            Ran::Refused(rows) => {
                for (table, kept) in &mut case.rows {
                    let mut at = 0;
                    kept.retain(|_| {
                        at += 1;
                        !rows.contains(&(table.clone(), at - 1))
                    });
                }
            }
        }
    }
    None
}

/// The first case on which a changed text answers otherwise.
fn told(sqlite: &mut sqlite::Sqlite, page: &mut Page<'_>, changed: &Subject) -> Option<usize> {
    for at in 0..page.cases.len() {
        let Some(own) = page.answer(sqlite, at) else { continue };
        let case = page.cases[at].clone();
        let Ran::Answered(other) = first(sqlite.run(changed, &[&case])) else { continue };
        if page.subject.compare_all(&case, &own, &other).is_some() {
            return Some(at);
        }
    }
    None
}

/// The schema with one file of statements.
fn alone(inputs: &Inputs, stem: &str) -> Inputs {
    let mut sources = Sources::default();
    for (_, file) in inputs.sources.iter() {
        let is_statement = file.path.ends_with(".sql") && file.text.contains("-- name:");
        if !is_statement || file.path.rsplit('/').next() == Some(stem) {
            sources.add(file.clone());
        }
    }
    Inputs { sources, ..inputs.clone() }
}

fn run(inputs: &Inputs, budget: usize, sample: Sample) -> Told {
    let mut sqlite = sqlite::Sqlite::open(inputs).expect("SQLite takes the schema");
    let relations = Relations { sqlite: sqlite.relations().expect("it knows its schema"), ..Relations::default() };
    let mut stems: Vec<String> = Vec::new();
    for (_, file) in inputs.sources.iter().filter(|(_, file)| file.text.contains("-- name:")) {
        let stem = file.path.rsplit('/').next().unwrap_or_default().to_owned();
        if !stems.contains(&stem) {
            stems.push(stem);
        }
    }
    let mut told_of = Told::default();
    for stem in stems {
        let own = alone(inputs, &stem);
        let compiled = diglot::check(&Inputs { check_answers: false, ..own.clone() });
        let subjects = Prover::new(&own, &compiled, &relations).subjects();
        let changer = Changer::new(&own);
        for subject in &subjects {
            let databases = subject.databases(budget);
            told_of.pairs += 1;
            told_of.whole += usize::from(databases.scope().reach == Reach::Whole);
            told_of.cases += databases.len();
            let cases: Vec<Case> = databases.iter().collect();
            let turned = cases.iter().map(|case| subject.reversed(case)).collect();
            let mut page = Page { subject, answers: Vec::new(), cases };
            let mut turned = Page { subject, answers: Vec::new(), cases: turned };
            let random = (0..RANDOM).map(|number| subject.case(1, number, 5)).collect();
            let mut more = Page { subject, answers: Vec::new(), cases: random };
            let signature = compiled.signatures.iter().find(|it| it.name == subject.name);
            for mutation in changer.changes(&subject.name, Dialect::Sqlite, sample) {
                let Some(text) = signature.and_then(|it| changer.text(it, Dialect::Sqlite, &mutation)) else {
                    continue;
                };
                let is_taken = sqlite.takes(&text).is_ok();
                let mut same = subject.clone();
                let variant = same.variants[0].sqlite.variant.clone();
                same.variants[0].sqlite = diglot::EmittedText { variant, ..text };
                let entry = told_of.by_kind.entry(mutation.kind).or_default();
                let text = changer.original(&mutation);
                let shown = format!("{}: {} `{text}` -> `{}`", subject.name, mutation.kind, mutation.replacement);
                if !is_taken
                    || told(&mut sqlite, &mut page, &same).is_some()
                    || told(&mut sqlite, &mut turned, &same).is_some()
                {
                    entry[0] += 1;
                } else if let Some(at) = told(&mut sqlite, &mut more, &same) {
                    entry[1] += 1;
                    told_of.missed.push(format!("{shown}\n{}", more.cases[at].to_toml(&subject.name)));
                } else {
                    entry[2] += 1;
                    told_of.silent.push(shown);
                }
            }
        }
    }
    told_of
}

/// A small project whose statements hold what a page can tell apart.
fn small() -> Inputs {
    let mut sources = Sources::default();
    for (dialect, schema, statements) in [
        ("sqlite", include_str!("telling/schema.sqlite.sql"), include_str!("telling/statements.sqlite.sql")),
        ("pg", include_str!("telling/schema.pg.sql"), include_str!("telling/statements.pg.sql")),
    ] {
        sources.add(SourceFile::new(format!("schema/{dialect}/0001_all.sql"), schema));
        sources.add(SourceFile::new(format!("sql/{dialect}/shop.sql"), statements));
    }
    let config = Config::parse("", "diglot.toml").expect("a sound configuration");
    Inputs { config, sources, ..Inputs::default() }
}

#[test]
fn every_change_of_a_page_that_means_something_else_is_told() {
    let inputs = match std::env::var_os("DIGLOT_TELLING") {
        Some(folder) => diglot::build::load(&PathBuf::from(folder)).expect("readable files"),
        None => small(),
    };
    let number = |name: &str, otherwise: usize| match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is a number, not {text:?}")),
        Err(_) => otherwise,
    };
    let sample = Sample::OneOf(number("DIGLOT_TELLING_ONE_OF", 1) as u64);
    let told = run(&inputs, number("DIGLOT_TELLING_BUDGET", 3_000), sample);
    println!("{} pairs, {} of them whole, {} cases", told.pairs, told.whole, told.cases);
    for (kind, [told, missed, silent]) in &told.by_kind {
        println!("{kind:16} {told:>5} told {missed:>3} missed {silent:>3} silent");
    }
    told.silent.iter().for_each(|change| println!("SILENT {change}"));
    told.missed.iter().for_each(|change| println!("MISSED {change}"));
    assert!(told.missed.len() <= MISSED, "random cases tell what the databases do not");
}

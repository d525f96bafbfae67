//! `cargo diglot explain`: what a rule or an equivalence means.

use std::io;

use anstream::{AutoStream, ColorChoice};
use console::Term;
use diglot::rules::{self, Rule};

use crate::cli::{Explain, ExplainFormat};
use crate::failure::Failure;
use crate::{Outcome, report};

/// How much of a name may be wrong before it is no longer taken for another.
const SIMILAR: f64 = 0.6;

/// How wide text is where there is no terminal.
const WIDTH: usize = 80;
/// The widest that text is easy to read.
const WIDEST: usize = 100;

pub(crate) fn run(arguments: &Explain) -> Result<Outcome, Failure> {
    let text = match &arguments.rule {
        Some(name) => page(rule(name)?, arguments.format),
        None => format!("{}\n{}", list(rules::ALL), list(rules::EQUIVALENCES)),
    };
    report::is_over(report::out(&text))?;
    Ok(Outcome::Clean)
}

/// `cargo diglot rules`.
pub(crate) fn rules() -> Result<Outcome, Failure> {
    run(&Explain { rule: None, format: ExplainFormat::Text })
}

/// The same of one rule as Markdown.
pub(crate) fn markdown(name: &str) -> Result<String, Failure> {
    Ok(page(rule(name)?, ExplainFormat::Markdown))
}

fn rule(name: &str) -> Result<&'static Rule, Failure> {
    // A name may come straight from a finding: `error[order-differs]`.
    let bare = name.trim_start_matches("error").trim_start_matches("warning").trim_matches(['[', ']']);
    let found = rules::find(bare).or_else(|| rules::EQUIVALENCES.iter().find(|rule| rule.name == bare));
    found.ok_or_else(|| Failure::UnknownRule { name: bare.to_owned(), suggestion: most_like(bare, rules::ALL) })
}

fn page(rule: &Rule, format: ExplainFormat) -> String {
    let text = format!("{}: {}\n\n{}\n", rule.name, rule.summary, rule.doc.trim());
    if format == ExplainFormat::Markdown {
        return text;
    }
    let terminal = Term::stdout();
    let width = if terminal.is_term() { usize::from(terminal.size().1).min(WIDEST) } else { WIDTH };
    let coloured = AutoStream::choice(&io::stdout()) != ColorChoice::Never;
    crate::markdown::text(&text, width, coloured)
}

fn most_like(name: &str, rules: &[Rule]) -> Option<&'static str> {
    rules
        .iter()
        .map(|rule| (strsim::jaro_winkler(name, rule.name), rule.name))
        .filter(|(likeness, _)| *likeness > SIMILAR)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

fn list(rules: &[Rule]) -> String {
    let mut rules: Vec<&Rule> = rules.iter().collect();
    rules.sort_by_key(|rule| rule.name);
    let width = rules.iter().map(|rule| rule.name.len()).max().unwrap_or(0);
    rules.iter().map(|rule| format!("{:width$}  {}\n", rule.name, rule.summary)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &[Rule] = &[
        Rule { name: "order-differs", summary: "The pages sort differently.", doc: "" },
        Rule { name: "lock-differs", summary: "The pages lock differently.", doc: "" },
    ];

    #[test]
    fn a_slip_of_the_pen_leads_to_the_rule_that_was_meant() {
        assert_eq!(most_like("order-difers", RULES), Some("order-differs"));
        assert_eq!(most_like("zzz", RULES), None);
    }

    #[test]
    fn the_list_is_sorted_and_aligned() {
        let expected = "lock-differs   The pages lock differently.\norder-differs  The pages sort differently.\n";
        assert_eq!(list(RULES), expected);
    }

    #[test]
    fn every_rule_has_a_summary_and_a_text() {
        for rule in rules::ALL.iter().chain(rules::EQUIVALENCES) {
            assert!(!rule.summary.is_empty() && rule.doc.len() > rule.summary.len(), "{}", rule.name);
        }
    }
}

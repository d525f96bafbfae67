//! `cargo diglot explain`: what a rule or an equivalence means.

use std::io::Write;

use diglot::rules::{self, Rule};

use crate::Outcome;
use crate::cli::Explain;
use crate::failure::Failure;

/// How much of a name may be wrong before it is no longer taken for another.
const SIMILAR: f64 = 0.6;

pub(crate) fn run(arguments: &Explain) -> Result<Outcome, Failure> {
    let text = match &arguments.rule {
        Some(name) => page(name)?,
        None => format!("{}\n{}", list(rules::ALL), list(rules::EQUIVALENCES)),
    };
    anstream::stdout().write_all(text.as_bytes()).map_err(Failure::io("print"))?;
    Ok(Outcome::Clean)
}

/// `cargo diglot rules`.
pub(crate) fn rules() -> Result<Outcome, Failure> {
    run(&Explain { rule: None })
}

fn page(name: &str) -> Result<String, Failure> {
    // A name may come straight from a finding: `error[order-differs]`.
    let bare = name.trim_start_matches("error").trim_start_matches("warning").trim_matches(['[', ']']);
    match rules::find(bare).or_else(|| rules::EQUIVALENCES.iter().find(|rule| rule.name == bare)) {
        Some(rule) => Ok(format!("{}: {}\n\n{}\n", rule.name, rule.summary, rule.doc.trim())),
        None => Err(Failure::UnknownRule { name: bare.to_owned(), suggestion: most_like(bare, rules::ALL) }),
    }
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

//! `[[declared]]`: what a project declares once for several statements.

use std::collections::BTreeMap;

use crate::config::{self, FILE as CONFIG};
use crate::diagnostic::Diagnostic;
use crate::page::{Annotation, AnnotationKind, Page};
use crate::project::Inputs;
use crate::rule;
use crate::source::{FileId, Span};
use crate::split;

/// The rules about declarations that nothing needs.
pub(super) const NEEDLESS: [&str; 2] = [rule::UNUSED_DIVERGENCE.name, rule::UNUSED_ALLOW.name];

/// Gives the statements what `[[declared]]` says of them, as if it stood above each.
pub(crate) fn declare(inputs: &Inputs, pages: &mut [Page]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if inputs.config.declared.is_empty() {
        return found;
    }
    let Some((file, source)) = inputs.sources.iter().find(|(_, file)| file.path == CONFIG) else { return found };
    let mut places: BTreeMap<String, Vec<(usize, usize)>> = BTreeMap::new();
    for (page, of) in pages.iter().enumerate() {
        for (at, raw) in of.statements.iter().enumerate() {
            places.entry(raw.name.clone()).or_default().push((page, at));
        }
    }
    for declared in &inputs.config.declared {
        let place = source.text.find(&declared.reason).unwrap_or_default();
        let mut tell = |message: String, word: &str, label: &str, help: &str| {
            let quoted = source.text.find(&format!("\"{word}\"")).map(|at| at + 1);
            let at = quoted.or_else(|| source.text.find(&format!("{word} ="))).unwrap_or(place);
            let span = Span::new(file, at..at + word.len());
            found.push(Diagnostic::error(rule::BAD_CONFIG, message, span, label.to_owned()).help(help.to_owned()));
        };
        let mut kinds = Vec::new();
        for (at, says) in declared.says.iter().enumerate() {
            match split::annotation(&format!("-- {says}: {}", declared.reason)) {
                Some(kind @ (AnnotationKind::Allow { .. } | AnnotationKind::Diverges { .. })) if !is_open(&kind) => {
                    kinds.push(moved(kind, nowhere(file, place + at)));
                }
                _ => {
                    let help = "write `allow(RULE)` or `diverges(FACT)`, with the seal that `check` told if it has one";
                    tell(format!("`{says}` declares nothing"), says, "not understood", help);
                }
            }
        }
        for (pattern, seals) in declared.on.each() {
            let own = seals.map_or_else(|| Some(kinds.clone()), |seals| sealed(&kinds, seals));
            let Some(own) = own else {
                let help = "give it one seal for each `diverges` of `says`, in their order, and write none in `says`";
                tell(format!("`{pattern}` has other seals than `says` asks for"), pattern, "its seals", help);
                continue;
            };
            // A pattern without a star is a name, and most are.
            let named: Vec<_> = match places.get(pattern) {
                Some(named) => named.clone(),
                None => {
                    let meant = places.iter().filter(|(name, _)| config::matches(pattern, name));
                    meant.flat_map(|(_, named)| named).copied().collect()
                }
            };
            for (page, at) in &named {
                let raw = &mut pages[*page].statements[*at];
                let known: Vec<Span> = raw.annotations.iter().map(|annotation| annotation.span).collect();
                let new = own.iter().filter(|annotation| !known.contains(&annotation.span));
                raw.annotations.extend(new.cloned());
            }
            if named.is_empty() {
                let help = "write the name of a statement, with a star for any letters, or remove it";
                tell(format!("there is no statement `{pattern}`"), pattern, "not known", help);
            }
        }
    }
    found
}

/// Says of what is declared in the file of settings, and not needed, where it stands there.
pub(crate) fn placed(inputs: &Inputs, found: &mut [Diagnostic]) {
    let Some((file, source)) = inputs.sources.iter().find(|(_, file)| file.path == CONFIG) else { return };
    for finding in found.iter_mut().filter(|finding| NEEDLESS.contains(&finding.rule)) {
        let Some(at) = finding.labels.first().map(|label| label.span).filter(|span| span.file == file) else {
            continue;
        };
        let (line, _) = source.line_column(at.start as usize);
        let (statement, _) = finding.message.split_once(": ").unwrap_or_default();
        // The line that the help of a comment speaks of is none here, and what it offers to delete is empty.
        finding.suggestions.clear();
        finding.help.retain(|help| !help.contains("remove the "));
        finding
            .help
            .push(format!("it is declared at {CONFIG}:{line}: take it out of `says` there, if no statement needs it"));
        finding.help.push(format!("or `{statement}` out of `on`"));
    }
}

/// What is said, with a seal for each difference; none where the seals do not fit.
fn sealed(said: &[Annotation], seals: &[String]) -> Option<Vec<Annotation>> {
    let mut seals = seals.iter();
    let mut own = said.to_vec();
    for annotation in &mut own {
        if let AnnotationKind::Diverges { seal, .. } = &mut annotation.kind {
            let given = seals.next().filter(|given| seal.is_none() && !given.is_empty())?;
            *seal = Some(given.clone());
        }
    }
    seals.next().is_none().then_some(own)
}

/// Whether the declaration asks for its seal, which is told at a statement.
fn is_open(kind: &AnnotationKind) -> bool {
    matches!(kind, AnnotationKind::Diverges { seal: Some(seal), .. } if seal.is_empty())
}

/// A place between two letters: what is offered to be deleted there takes nothing away.
fn nowhere(file: FileId, at: usize) -> Span {
    Span::new(file, at..at)
}

fn moved(kind: AnnotationKind, span: Span) -> Annotation {
    let kind = match kind {
        AnnotationKind::Diverges { fact, item, seal, reason, .. } => {
            AnnotationKind::Diverges { fact, item, seal, fact_span: span, reason }
        }
        kind => kind,
    };
    Annotation { span, kind }
}

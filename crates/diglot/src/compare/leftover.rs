//! Declarations that no difference took: what was meant, or that they can go.

use super::Pair;
use super::declared::{About, Declared};
use super::report;
use crate::diagnostic::Diagnostic;
use crate::facts::Kind;
use crate::rule;

impl Pair<'_> {
    /// What a misspelt declaration means is told by the finding about that declaration.
    pub(super) fn slips(&mut self) {
        for declared in self.declared.iter_mut().filter(|declared| !declared.used) {
            let Some(told) = self.told.iter().find(|told| declared.means(told.kind, &told.named)) else { continue };
            let word = told.kind.word();
            let item = told.named.rsplit(' ').next().filter(|_| declared.item.is_some());
            declared.meant = Some(item.map_or_else(|| word.to_owned(), |item| format!("{word}.{item}")));
            self.told.retain(|told| !declared.means(told.kind, &told.named));
        }
    }

    pub(super) fn leftovers(&mut self) {
        // Where something differs, a declaration that names no difference may have been meant for it.
        let agree = self.found.is_empty();
        for declared in std::mem::take(&mut self.declared) {
            if declared.used {
                continue;
            }
            let finding = match &declared.meant {
                Some(meant) => self.misspelt(&declared, meant),
                None if declared.about == About::Unknown => self.no_fact(&declared),
                None if declared.seal.is_some() => self.strange_seal(&declared),
                None => self.idle(&declared, agree),
            };
            self.found.push(finding);
        }
    }

    fn misspelt(&self, declared: &Declared, meant: &str) -> Diagnostic {
        let (of, says) = match declared.about {
            About::Unknown => (rule::UNKNOWN_DIVERGENCE, format!("`{}` is no kind of fact", declared.fact)),
            _ => (rule::UNUSED_DIVERGENCE, format!("`-- diverges({})` names no difference", declared.written())),
        };
        let message = format!("{}: {says}", self.name());
        Diagnostic::error(of, message, declared.span, format!("did you mean `{meant}`?"))
            .help(format!("write `-- diverges({meant}): <why the pages may differ here>`"))
            .suggest(format!("write `{meant}`"), declared.span, meant.to_owned())
    }

    fn no_fact(&self, declared: &Declared) -> Diagnostic {
        let mut words: Vec<&str> = Kind::ALL.iter().map(|row| row.1).collect();
        words.extend(About::WORDS);
        let message = format!("{}: `{}` is no kind of fact", self.name(), declared.fact);
        Diagnostic::error(rule::UNKNOWN_DIVERGENCE, message, declared.span, "no such kind of fact")
            .help(report::meant(&declared.fact, &words))
    }

    fn strange_seal(&self, declared: &Declared) -> Diagnostic {
        let message = format!("{}: the seal of `-- diverges({})` is no difference's", self.name(), declared.fact);
        let label = "no such difference, or no longer this one";
        let finding = Diagnostic::error(rule::UNUSED_DIVERGENCE, message, declared.span, label)
            .help("if a difference is reported here and is meant, write the seal that its help gives")
            .help("otherwise remove the declaration");
        match self.seal_of(declared) {
            Some(seal) => {
                let text = format!("{}{seal}", self.sources.text(declared.span));
                finding.fix("write the seal", declared.span, text)
            }
            None => finding,
        }
    }

    fn idle(&self, declared: &Declared, agree: bool) -> Diagnostic {
        let message = format!("{}: `-- diverges({})` names no difference", self.name(), declared.written());
        let finding = Diagnostic::error(rule::UNUSED_DIVERGENCE, message, declared.span, "nothing differs there")
            .help("remove the declaration: the pages agree without it");
        if agree { finding.fix("delete the line", declared.line, "") } else { finding }
    }
}

//! The ways out of a finding, as changes of files.

use diglot::diagnostic::{Diagnostic, Edit};
use diglot::fix;
use diglot::page::{AnnotationKind, Page, RawStatement};
use diglot::rules;
use diglot::source::{Sources, Span};
use diglot::split;

/// A way out that an editor can take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// What it does, as an order.
    pub title: String,
    /// Which of the findings it settles.
    pub finding: usize,
    /// What changes. What an edit covers goes as it is.
    pub edits: Vec<Edit>,
    /// Whether it is right without anybody looking.
    pub safe: bool,
}

pub(super) fn actions(sources: &Sources, pages: &[Page], findings: &[Diagnostic], at: Span) -> Vec<Action> {
    let mut actions = Vec::new();
    for (index, finding) in findings.iter().enumerate() {
        let Some(here) = finding.labels.iter().map(|label| label.span).find(|span| touches(*span, at)) else {
            continue;
        };
        for suggestion in &finding.suggestions {
            let edit = |edit: &Edit| Edit { span: fix::replaced(sources, edit), ..fix::written(sources, edit) };
            let edits = suggestion.edits.iter().map(edit).collect();
            let (title, safe) = (suggestion.message.clone(), suggestion.safe);
            actions.push(Action { title, finding: index, edits, safe });
        }
        let Some(raw) = owner(pages, here) else { continue };
        let mut lines: Vec<String> = finding.help.iter().filter_map(|help| quoted(help)).collect();
        if rules::allowed().any(|rule| rule == finding.rule) {
            lines.push(format!("-- allow({}): {WHY}", finding.rule));
        }
        for line in lines {
            let edits = vec![below_header(sources, raw, &line)];
            actions.push(Action { title: format!("write `{line}`"), finding: index, edits, safe: false });
        }
    }
    actions
}

/// What stands in the place of a reason until somebody writes one.
const WHY: &str = "<why it does not apply here>";

/// Whether two places have a byte in common, or meet.
fn touches(a: Span, b: Span) -> bool {
    a.file == b.file && a.start <= b.end && b.start <= a.end
}

/// The statement that a place is in.
fn owner(pages: &[Page], at: Span) -> Option<&RawStatement> {
    let page = pages.iter().find(|page| page.file == at.file)?;
    let of = |raw: &&RawStatement| {
        raw.span.contains(at) || raw.annotations.iter().any(|annotation| annotation.span.contains(at))
    };
    page.statements.iter().find(of)
}

/// The annotation that a help says to write.
fn quoted(help: &str) -> Option<String> {
    let line = help.split('`').find(|piece| piece.starts_with("-- "))?;
    let is_line = matches!(
        split::annotation(line)?,
        AnnotationKind::Diverges { .. }
            | AnnotationKind::Allow { .. }
            | AnnotationKind::Only { .. }
            | AnnotationKind::Param { .. }
            | AnnotationKind::Column { .. }
    );
    // What goes on in another quotation is more than a line.
    (is_line && !help.contains(" … ")).then(|| line.to_owned())
}

/// The line below the header of a statement.
fn below_header(sources: &Sources, raw: &RawStatement, line: &str) -> Edit {
    let text = &sources.file(raw.header_span.file).text;
    let end = raw.header_span.end as usize;
    let ends = if text[end..].starts_with('\r') { "\r\n" } else { "\n" };
    Edit { span: Span::new(raw.header_span.file, end..end), text: format!("{ends}{line}") }
}

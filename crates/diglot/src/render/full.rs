//! The look of rustc: the message, both pages with carets, notes, the text to write.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use super::range;
use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::source::{FileId, Sources};

/// The look of rustc, both pages with carets; `color` adds ANSI colours.
pub fn full(sources: &Sources, diagnostic: &Diagnostic, color: bool) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut report =
        level.primary_title(diagnostic.message.as_str()).id(diagnostic.rule).elements(snippets(sources, diagnostic));
    report = report.elements(diagnostic.notes.iter().map(|note| Level::NOTE.message(note.as_str())));
    report = report.elements(diagnostic.help.iter().map(|help| Level::HELP.message(help.as_str())));
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    renderer.decor_style(DecorStyle::Ascii).render(&[report])
}

/// One snippet for each file, in the order in which the labels name them.
fn snippets<'a>(
    sources: &'a Sources,
    diagnostic: &'a Diagnostic,
) -> Vec<Snippet<'a, annotate_snippets::Annotation<'a>>> {
    let mut files: Vec<FileId> = Vec::new();
    for label in &diagnostic.labels {
        if !files.contains(&label.span.file) {
            files.push(label.span.file);
        }
    }
    let found = files.iter().filter_map(|id| sources.get(*id).map(|file| (*id, file)));
    found
        .map(|(id, file)| {
            let annotations = diagnostic.labels.iter().filter(|label| label.span.file == id).map(|label| {
                let text = (!label.text.is_empty()).then_some(label.text.as_str());
                kind(label).span(range(file, label.span)).label(text)
            });
            Snippet::source(file.shown()).path(file.path.as_str()).fold(true).annotations(annotations)
        })
        .collect()
}

fn kind(label: &Label) -> AnnotationKind {
    if label.primary { AnnotationKind::Primary } else { AnnotationKind::Context }
}

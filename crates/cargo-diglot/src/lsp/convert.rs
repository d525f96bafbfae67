//! From byte ranges of the compiler to what the protocol has.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use diglot::diagnostic::{Diagnostic, Edit, Label, Severity};
use diglot::source::{FileId, SourceFile, Sources, Span};
use diglot_tools::editor::{Action, Completion, CompletionKind, Lines, Symbol, SymbolKind};
use lsp_types::{
    CodeAction, CodeActionKind, CompletionItem, CompletionItemKind, CompletionTextEdit, DiagnosticRelatedInformation,
    DiagnosticSeverity, DocumentSymbol, Location, NumberOrString, Position, Range, TextEdit, Url, WorkspaceEdit,
};

use super::documents::Documents;

/// Where the files of a project are, and their lines.
pub(super) struct Places<'p> {
    sources: &'p Sources,
    files: BTreeMap<FileId, (Url, Lines<'p>)>,
}

impl<'p> Places<'p> {
    pub(super) fn new(root: &Path, sources: &'p Sources, documents: &Documents) -> Self {
        let place = |(id, file): (FileId, &'p SourceFile)| {
            let url = documents.url(&root.join(&file.path))?;
            Some((id, (url, Lines::of(file.shown()))))
        };
        Self { sources, files: sources.iter().filter_map(place).collect() }
    }

    pub(super) fn range(&self, span: Span) -> Range {
        let Some((_, lines)) = self.files.get(&span.file) else { return Range::default() };
        let at = |offset: usize| {
            let position = lines.position(offset);
            Position { line: position.line, character: position.character }
        };
        let place = self.sources.file(span.file).place(span.range());
        Range { start: at(place.start), end: at(place.end.max(place.start)) }
    }

    pub(super) fn location(&self, span: Span) -> Option<Location> {
        let (url, _) = self.files.get(&span.file)?;
        Some(Location { uri: url.clone(), range: self.range(span) })
    }

    /// Changes of files.
    pub(super) fn edits<'e>(&self, edits: impl IntoIterator<Item = &'e Edit>) -> WorkspaceEdit {
        let mut changes: HashMap<Url, Vec<TextEdit>> = HashMap::new();
        for edit in edits {
            if let Some(Location { uri, range }) = self.location(edit.span) {
                changes.entry(uri).or_default().push(TextEdit { range, new_text: edit.text.clone() });
            }
        }
        WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }
    }

    /// Findings by file. One about both pages stands in both, so that it is seen on whichever is open.
    pub(super) fn diagnostics(&self, findings: &[Diagnostic]) -> BTreeMap<Url, Vec<lsp_types::Diagnostic>> {
        let mut told: BTreeMap<Url, Vec<lsp_types::Diagnostic>> = BTreeMap::new();
        for finding in findings {
            for label in mains(finding) {
                if let Some((url, _)) = self.files.get(&label.span.file) {
                    told.entry(url.clone()).or_default().push(self.diagnostic(finding, label));
                }
            }
        }
        told
    }

    /// A finding as it is told at one of its places.
    pub(super) fn diagnostic(&self, finding: &Diagnostic, main: &Label) -> lsp_types::Diagnostic {
        let mut message = finding.message.clone();
        let label = Some(&main.text).filter(|text| !text.is_empty());
        label.iter().for_each(|text| message.push_str(&format!("\nhere: {text}")));
        for (word, lines) in [("note", &finding.notes), ("help", &finding.help)] {
            lines.iter().for_each(|line| message.push_str(&format!("\n{word}: {line}")));
        }
        let others = finding.labels.iter().filter(|label| !std::ptr::eq(*label, main));
        let others = others.filter_map(|label| {
            let message = if label.text.is_empty() { "see here".to_owned() } else { label.text.clone() };
            Some(DiagnosticRelatedInformation { location: self.location(label.span)?, message })
        });
        lsp_types::Diagnostic {
            range: self.range(main.span),
            severity: Some(match finding.severity {
                Severity::Error => DiagnosticSeverity::ERROR,
                Severity::Warning => DiagnosticSeverity::WARNING,
            }),
            code: Some(NumberOrString::String(finding.rule.to_owned())),
            source: Some("diglot".to_owned()),
            message,
            related_information: Some(others.collect()),
            ..lsp_types::Diagnostic::default()
        }
    }

    /// A way out, at the place where its finding is told in a file.
    pub(super) fn action(&self, action: &Action, findings: &[Diagnostic], file: FileId) -> Option<CodeAction> {
        let finding = findings.get(action.finding)?;
        let main = mains(finding).find(|label| label.span.file == file);
        Some(CodeAction {
            title: action.title.clone(),
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(main.map(|label| self.diagnostic(finding, label)).into_iter().collect()),
            edit: Some(self.edits(&action.edits)),
            is_preferred: Some(action.safe),
            ..CodeAction::default()
        })
    }

    pub(super) fn completion(&self, completion: Completion, file: FileId) -> CompletionItem {
        let range = self.range(Span::new(file, completion.replaces));
        CompletionItem {
            label: completion.label,
            kind: Some(match completion.kind {
                CompletionKind::Table => CompletionItemKind::STRUCT,
                CompletionKind::Column => CompletionItemKind::FIELD,
                CompletionKind::Param => CompletionItemKind::VARIABLE,
                CompletionKind::Word => CompletionItemKind::KEYWORD,
            }),
            detail: Some(completion.detail).filter(|detail| !detail.is_empty()),
            text_edit: Some(CompletionTextEdit::Edit(TextEdit { range, new_text: completion.text })),
            ..CompletionItem::default()
        }
    }

    #[expect(deprecated, reason = "the protocol's type has a field that nobody may set")]
    pub(super) fn symbol(&self, symbol: Symbol) -> DocumentSymbol {
        let children = symbol.children.into_iter().map(|child| self.symbol(child)).collect::<Vec<_>>();
        DocumentSymbol {
            name: symbol.name,
            detail: Some(symbol.detail).filter(|detail| !detail.is_empty()),
            kind: kind(symbol.kind),
            tags: None,
            deprecated: None,
            range: self.range(symbol.span.to(symbol.name_span)),
            selection_range: self.range(symbol.name_span),
            children: Some(children).filter(|children| !children.is_empty()),
        }
    }

    /// The name of a file, for what is told of it in words.
    pub(super) fn path(&self, file: FileId) -> Option<&str> {
        self.sources.get(file).map(|file| file.path.as_str())
    }
}

pub(super) fn kind(kind: SymbolKind) -> lsp_types::SymbolKind {
    match kind {
        SymbolKind::Statement => lsp_types::SymbolKind::FUNCTION,
        SymbolKind::Table => lsp_types::SymbolKind::STRUCT,
        SymbolKind::View => lsp_types::SymbolKind::INTERFACE,
        SymbolKind::Column => lsp_types::SymbolKind::FIELD,
    }
}

/// The places at which a finding is told: the first of its main ones in each file, or else its first one.
fn mains(finding: &Diagnostic) -> impl Iterator<Item = &Label> {
    let any = finding.labels.iter().any(|label| label.primary);
    let mut files = Vec::new();
    finding.labels.iter().filter(move |label| label.primary || !any).filter(move |label| {
        let is_first = !files.contains(&label.span.file);
        files.push(label.span.file);
        is_first
    })
}

//! What the editor asks, and the answers.

use std::path::PathBuf;

use diglot::diagnostic::Edit;
use diglot::source::{FileId, Span};
use diglot_tools::editor::Place;
use lsp_server::{ErrorCode, Request};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionParams, CompletionParams, DocumentSymbolParams, GotoDefinitionParams, Hover,
    HoverContents, HoverParams, MarkupContent, MarkupKind, Position, ReferenceParams, RenameParams, SymbolInformation,
    TextDocumentPositionParams, Url, WorkspaceSymbolParams,
};
use serde::Serialize;
use serde_json::Value;

use super::super::convert::{Places, kind};
use super::super::documents::Documents;
use super::super::offers::FIX_ALL;
use super::super::project::Project;
use super::{REQUEST_FAILED, Refused, Server, read};

impl Server {
    /// Answers a request.
    pub(super) fn answer(&mut self, request: Request) -> Result<Value, Refused> {
        let params = request.params;
        if self.shut_down {
            return Err(Refused::new(ErrorCode::InvalidRequest, "the server was shut down"));
        }
        match request.method.as_str() {
            "shutdown" => {
                self.shut_down = true;
                Ok(Value::Null)
            }
            "textDocument/hover" => {
                let params: HoverParams = read(params)?;
                self.at(params.text_document_position_params, hover)
            }
            "textDocument/definition" => {
                let params: GotoDefinitionParams = read(params)?;
                self.at(params.text_document_position_params, definition)
            }
            "textDocument/implementation" => {
                let params: GotoDefinitionParams = read(params)?;
                self.at(params.text_document_position_params, |on, place| {
                    let facing = on.project.desk.facing(place);
                    on.value(facing.and_then(|span| on.places().location(span)))
                })
            }
            "textDocument/references" => {
                let params: ReferenceParams = read(params)?;
                self.at(params.text_document_position, |on, place| {
                    let spans = on.project.desk.references(place);
                    let places = on.places();
                    on.value(spans.into_iter().filter_map(|span| places.location(span)).collect::<Vec<_>>())
                })
            }
            "textDocument/completion" => {
                let params: CompletionParams = read(params)?;
                self.at(params.text_document_position, |on, place| {
                    let found = on.project.desk.completions(place);
                    let places = on.places();
                    on.value(found.into_iter().map(|one| places.completion(one, place.file)).collect::<Vec<_>>())
                })
            }
            "textDocument/prepareRename" => self.at(read(params)?, |on, place| {
                let span = on.project.desk.renamed(place);
                on.value(span.map(|span| on.places().range(span)))
            }),
            "textDocument/rename" => {
                let RenameParams { text_document_position, new_name, .. } = read(params)?;
                self.at(text_document_position, move |on, place| {
                    let edits = on.project.desk.rename(place, &new_name);
                    let edits = edits.map_err(|why| Refused { code: REQUEST_FAILED, message: why.to_string() })?;
                    on.value(on.places().edits(&edits))
                })
            }
            "textDocument/codeAction" => self.actions(read(params)?),
            "textDocument/documentSymbol" => {
                let DocumentSymbolParams { text_document, .. } = read(params)?;
                self.in_file(&text_document.uri, |on, file| {
                    let symbols = on.project.desk.symbols(file);
                    let places = on.places();
                    on.value(symbols.into_iter().map(|symbol| places.symbol(symbol)).collect::<Vec<_>>())
                })
            }
            "workspace/symbol" => self.symbols(&read::<WorkspaceSymbolParams>(params)?.query),
            method => Err(Refused::new(ErrorCode::MethodNotFound, format!("there is no `{method}`"))),
        }
    }

    /// An answer about a file of a project; nothing is known of others.
    fn in_file(
        &mut self,
        url: &Url,
        answer: impl FnOnce(&mut On<'_>, FileId) -> Result<Value, Refused>,
    ) -> Result<Value, Refused> {
        let Ok(path) = url.to_file_path() else { return Ok(Value::Null) };
        let Some((project, documents)) = self.project(&path)? else { return Ok(Value::Null) };
        let Some(file) = project.file(&path) else { return Ok(Value::Null) };
        answer(&mut On { project, documents, path }, file)
    }

    /// An answer about a place.
    fn at(
        &mut self,
        at: TextDocumentPositionParams,
        answer: impl FnOnce(&mut On<'_>, Place) -> Result<Value, Refused>,
    ) -> Result<Value, Refused> {
        self.in_file(&at.text_document.uri, |on, _| match on.place(at.position) {
            Some(place) => answer(on, place),
            None => Ok(Value::Null),
        })
    }

    fn actions(&mut self, params: CodeActionParams) -> Result<Value, Refused> {
        let asks = |kind: &CodeActionKind| match &params.context.only {
            Some(only) => only.iter().any(|only| kind.as_str().starts_with(only.as_str())),
            None => *kind != FIX_ALL,
        };
        let (fixes, all) = (asks(&CodeActionKind::QUICKFIX), asks(&FIX_ALL));
        self.in_file(&params.text_document.uri, |on, file| {
            if on.project.due {
                // Findings have to be those of the text that is changed.
                on.project.check(&|| true);
            }
            let range = on.place(params.range.start).zip(on.place(params.range.end));
            let Some((start, end)) = range else { return Ok(Value::Null) };
            let at = Span::new(file, start.offset..end.offset);
            let Project { desk, findings, .. } = &mut *on.project;
            let actions = if fixes { desk.actions(findings, at) } else { Vec::new() };
            let places = on.places();
            let mut answer: Vec<CodeAction> =
                actions.iter().filter_map(|action| places.action(action, &on.project.findings, file)).collect();
            answer.extend(on.fix_all(&places, file).filter(|_| all));
            on.value(answer)
        })
    }

    /// Statements of all projects.
    #[expect(deprecated, reason = "the protocol's type has a field that nobody may set")]
    fn symbols(&mut self, letters: &str) -> Result<Value, Refused> {
        let mut found = Vec::new();
        let Self { projects, documents, .. } = self;
        for project in projects.values_mut() {
            if project.refresh(documents).is_err() {
                // Its findings tell why.
                continue;
            }
            let symbols = project.desk.statements_like(letters);
            let places = Places::new(&project.root, &project.desk.inputs().sources, documents);
            found.extend(symbols.into_iter().filter_map(|symbol| {
                Some(SymbolInformation {
                    location: places.location(symbol.name_span)?,
                    container_name: places.path(symbol.name_span.file).map(str::to_owned),
                    kind: kind(symbol.kind),
                    name: symbol.name,
                    tags: None,
                    deprecated: None,
                })
            }));
        }
        value(found)
    }
}

/// A file that somebody asks about, with its project.
struct On<'a> {
    project: &'a mut Project,
    documents: &'a Documents,
    path: PathBuf,
}

impl On<'_> {
    fn place(&self, position: Position) -> Option<Place> {
        self.project.place(&self.path, position)
    }

    fn places(&self) -> Places<'_> {
        Places::new(&self.project.root, &self.project.desk.inputs().sources, self.documents)
    }

    fn value(&self, answer: impl Serialize) -> Result<Value, Refused> {
        value(answer)
    }

    /// Every safe change of a file, as one.
    fn fix_all(&self, places: &Places<'_>, file: FileId) -> Option<CodeAction> {
        let sources = &self.project.desk.inputs().sources;
        let fixed = diglot::fix::fixed(sources, &self.project.findings).into_iter().find(|fixed| fixed.file == file)?;
        let whole = Edit { span: Span::new(file, 0..sources.file(file).text.len()), text: fixed.text };
        Some(CodeAction {
            title: "make every change that needs nobody's look".to_owned(),
            kind: Some(FIX_ALL),
            edit: Some(places.edits([&whole])),
            ..CodeAction::default()
        })
    }
}

fn value(answer: impl Serialize) -> Result<Value, Refused> {
    serde_json::to_value(answer).map_err(|error| Refused::new(ErrorCode::InternalError, error.to_string()))
}

fn hover(on: &mut On<'_>, place: Place) -> Result<Value, Refused> {
    let found = on.project.desk.hover(place);
    let places = on.places();
    on.value(found.map(|found| Hover {
        contents: HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: found.markdown }),
        range: Some(places.range(found.span)),
    }))
}

fn definition(on: &mut On<'_>, place: Place) -> Result<Value, Refused> {
    let found = on.project.desk.definition(place);
    let places = on.places();
    on.value(found.and_then(|span| places.location(span)))
}

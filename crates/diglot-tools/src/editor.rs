//! What an editor asks about a project while somebody writes: findings, and what stands at a place.
//!
//! Everything here is pure: whoever talks to the editor hands in the files as they are, saved or not, and gets places
//! as byte ranges. [`Lines`] turns them into lines and UTF-16 units, as editors count.

mod actions;
mod completion;
mod hover;
mod jump;
mod position;
mod rename;
mod scope;
mod spot;
mod symbols;

#[cfg(test)]
mod tests;

pub use actions::Action;
pub use completion::{Completion, CompletionKind};
pub use hover::Hover;
pub use position::{Lines, Position};
pub use rename::RenameError;
pub use symbols::{Symbol, SymbolKind};

use diglot::diagnostic::{Diagnostic, Edit};
use diglot::pipeline::{Compiled, Memory};
use diglot::project::Inputs;
use diglot::source::{FileId, Span};
use spot::Spot;

/// A place in a file where somebody asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: FileId,
    /// The byte in front of which the cursor stands.
    pub offset: usize,
}

/// A project that somebody works on. A check after a change works only on statements that changed.
///
/// ```
/// use diglot::Inputs;
/// use diglot::source::SourceFile;
/// use diglot_tools::editor::{Desk, Place};
///
/// let mut inputs = Inputs::default();
/// for (path, text) in [
///     ("schema/sqlite/1.sql", "CREATE TABLE job (id INTEGER PRIMARY KEY, lane TEXT NOT NULL) STRICT;"),
///     ("schema/pg/1.sql", "CREATE TABLE job (id bigint PRIMARY KEY, lane text NOT NULL);"),
///     ("sql/sqlite/job.sql", "-- name: job_lane :opt\nSELECT lane FROM job WHERE id = :id;"),
///     ("sql/pg/job.sql", "-- name: job_lane :opt\nSELECT lane FROM job WHERE id > :id;"),
/// ] {
///     inputs.sources.add(SourceFile::new(path, text));
/// }
/// let (pg, text) = inputs.sources.iter().map(|(id, file)| (id, file.text.clone())).last().unwrap();
/// let mut desk = Desk::new(inputs);
/// let compiled = desk.check(&|| true).unwrap();
/// assert_eq!(compiled.diagnostics[0].rule, "where-differs");
///
/// let column = Place { file: pg, offset: text.find("lane FROM").unwrap() };
/// assert!(desk.hover(column).unwrap().markdown.contains("job.lane"));
/// ```
#[derive(Debug, Default)]
pub struct Desk {
    inputs: Inputs,
    memory: Memory,
}

impl Desk {
    /// Takes a project.
    pub fn new(inputs: Inputs) -> Self {
        Self { inputs, memory: Memory::default() }
    }

    /// Takes the files as they are now.
    pub fn put(&mut self, inputs: Inputs) {
        self.inputs = inputs;
    }

    /// The files as they were handed in last.
    pub fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// What [`diglot::check`] finds. `goes_on` is asked before every statement; none when it said no, and then the next
    /// check goes on from there.
    pub fn check(&mut self, goes_on: &(dyn Fn() -> bool + Sync)) -> Option<Compiled> {
        self.memory.check(&self.inputs, goes_on)
    }

    /// What is known of that which stands at a place.
    pub fn hover(&mut self, place: Place) -> Option<Hover> {
        hover::hover(&self.spot(place)?)
    }

    /// Where that which stands at a place comes from: a table or a column in its migration, a parameter in its annotation,
    /// a statement on its facing page.
    pub fn definition(&mut self, place: Place) -> Option<Span> {
        jump::definition(&self.spot(place)?)
    }

    /// The statement that faces the one at a place, whatever stands there.
    pub fn facing(&mut self, place: Place) -> Option<Span> {
        jump::facing(&self.spot(place)?)
    }

    /// Every place on both pages that names the parameter at a place.
    pub fn references(&mut self, place: Place) -> Vec<Span> {
        self.spot(place).map(|spot| rename::places(&spot)).unwrap_or_default()
    }

    /// What may be written at a place, with what it takes the place of.
    pub fn completions(&mut self, place: Place) -> Vec<Completion> {
        self.spot(place).map(|spot| completion::completions(&spot)).unwrap_or_default()
    }

    /// The name at a place that can be changed.
    pub fn renamed(&mut self, place: Place) -> Option<Span> {
        rename::place(&self.spot(place)?)
    }

    /// The changes on both pages that give the parameter at a place another name.
    ///
    /// # Errors
    /// When there is no parameter, or when the name cannot be one of this statement.
    pub fn rename(&mut self, place: Place, name: &str) -> Result<Vec<Edit>, RenameError> {
        rename::rename(&self.spot(place).ok_or(RenameError::NoParameter)?, name)
    }

    /// The ways out of those findings that touch a place, each as a change of files.
    pub fn actions(&mut self, findings: &[Diagnostic], at: Span) -> Vec<Action> {
        let inputs = &self.inputs;
        actions::actions(&inputs.sources, self.memory.pages(inputs), findings, at)
    }

    /// The statements of a page, or the tables of a migration.
    pub fn symbols(&mut self, file: FileId) -> Vec<Symbol> {
        let inputs = &self.inputs;
        let Some((schemas, pages)) = self.memory.read(inputs) else { return Vec::new() };
        let mut symbols = symbols::statements(pages.iter().filter(|page| page.file == file));
        symbols.retain(|symbol| symbol.name_span.file == file);
        symbols.extend(symbols::tables(schemas, file));
        symbols
    }

    /// All statements whose name has those letters in it.
    pub fn statements_like(&mut self, letters: &str) -> Vec<Symbol> {
        let letters = letters.to_lowercase();
        let all = symbols::statements(self.memory.pages(&self.inputs).iter());
        all.into_iter().filter(|symbol| symbol.name.to_lowercase().contains(&letters)).collect()
    }

    fn spot(&mut self, place: Place) -> Option<Spot<'_>> {
        Spot::at(&self.inputs, &mut self.memory, place)
    }
}

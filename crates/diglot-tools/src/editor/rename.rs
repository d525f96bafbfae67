//! Another name for a parameter, on both pages.

use super::spot::{Spot, Thing};
use diglot::diagnostic::Edit;
use diglot::names::is_field_name;
use diglot::page::{AnnotationKind, Chooser, RawStatement};
use diglot::source::Span;
use diglot::tree::Statement;

/// Why a parameter cannot get a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenameError {
    /// There is none at that place.
    #[error("no parameter stands here; tables and columns are renamed by a migration")]
    NoParameter,
    /// It is written as a number, or has its name from a column.
    #[error("`{0}` has its name from what it is compared with: write `:{0}` on both pages first")]
    Unnamed(String),
    /// It stands in a shared part, which other statements have too.
    #[error("`{0}` stands in a shared part, so other statements have it too: write another name there by hand")]
    Shared(String),
    /// The new name cannot be the name of a field.
    #[error("`{0}` cannot name a parameter: it has to be a word in snake case that is free in Rust")]
    BadName(String),
    /// Another parameter of the statement has the name.
    #[error("the statement has another parameter `{0}`")]
    Taken(String),
}

/// The name at the place, if it can be changed.
pub(super) fn place(spot: &Spot<'_>) -> Option<Span> {
    let at = Span::new(spot.file, spot.offset..spot.offset);
    let Thing::Param(name) = spot.thing()? else { return None };
    let places = places(spot);
    let here = places.iter().find(|span| span.contains(at)).copied();
    // The cursor may stand on the colon in front of the name.
    here.or_else(|| {
        let used = spot.tree()?.params.iter().find(|used| used.name == name && used.span.contains(at))?;
        places.iter().find(|span| used.span.contains(**span)).copied()
    })
}

/// Every place on both pages that has the name of the parameter at a place.
pub(super) fn places(spot: &Spot<'_>) -> Vec<Span> {
    match spot.thing() {
        Some(Thing::Param(name)) => of(spot, &name).unwrap_or_default(),
        _ => Vec::new(),
    }
}

pub(super) fn rename(spot: &Spot<'_>, to: &str) -> Result<Vec<Edit>, RenameError> {
    let Some(Thing::Param(name)) = spot.thing() else { return Err(RenameError::NoParameter) };
    let is_plain = to.starts_with(|c: char| c.is_ascii_lowercase())
        && to.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if !is_plain || !is_field_name(to) {
        return Err(RenameError::BadName(to.to_owned()));
    }
    let trees = spot.opened.iter().flat_map(|opened| opened.trees.iter().flatten());
    if to != name && trees.flat_map(|tree| &tree.params).any(|used| used.name == to) {
        return Err(RenameError::Taken(to.to_owned()));
    }
    let places = of(spot, &name).ok_or_else(|| RenameError::Unnamed(name.clone()))?;
    let shared: Vec<Span> =
        spot.opened.iter().flat_map(|opened| opened.raws.iter().flatten()).flat_map(RawStatement::shared).collect();
    if places.iter().any(|place| shared.iter().any(|part| part.contains(*place))) {
        return Err(RenameError::Shared(name));
    }
    Ok(places.into_iter().map(|span| Edit { span, text: to.to_owned() }).collect())
}

/// None when a placeholder does not have the name in its text.
fn of(spot: &Spot<'_>, name: &str) -> Option<Vec<Span>> {
    let opened = spot.opened.as_ref()?;
    let mut places = Vec::new();
    for tree in opened.trees.iter().flatten() {
        places.extend(used(spot, tree, name)?);
    }
    for raw in opened.raws.iter().flatten() {
        places.extend(annotated(spot, raw, name));
    }
    places.sort();
    places.dedup();
    Some(places)
}

fn used(spot: &Spot<'_>, tree: &Statement, name: &str) -> Option<Vec<Span>> {
    let of = tree.params.iter().filter(|used| used.name == name);
    of.map(|used| word_in(spot.inputs.sources.text(used.span), name, used.span)).collect()
}

/// The last time that a piece of a text says a word.
fn word_in(text: &str, word: &str, span: Span) -> Option<Span> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let whole = |at: &usize| !text[..*at].ends_with(is_word) && !text[at + word.len()..].starts_with(is_word);
    let at = text.rmatch_indices(word).map(|(at, _)| at).find(whole)?;
    let start = span.start as usize + at;
    Some(Span::new(span.file, start..start + word.len()))
}

/// The lines that declare it, make a part depend on it, or say that the pages use it differently.
fn annotated(spot: &Spot<'_>, raw: &RawStatement, name: &str) -> Vec<Span> {
    let says = |kind: &AnnotationKind| match kind {
        AnnotationKind::Param { name: declared, .. } => declared == name,
        AnnotationKind::Diverges { fact, item, .. } => fact == "params" && item.as_deref() == Some(name),
        _ => false,
    };
    let lines = raw.annotations.iter().filter(|annotation| says(&annotation.kind)).map(|annotation| annotation.span);
    let marks = raw
        .optional
        .iter()
        .filter(|part| matches!(&part.chooser, Chooser::Parameter(param) if param == name))
        .map(|part| part.mark);
    lines.chain(marks).filter_map(|line| first_word_in(spot.inputs.sources.text(line), name, line)).collect()
}

/// The word behind the annotation's own word. A reason behind it may say the same word.
fn first_word_in(line: &str, word: &str, span: Span) -> Option<Span> {
    let behind = line.find([':', '('])? + 1;
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let whole = |at: &usize| !line[..*at].ends_with(is_word) && !line[at + word.len()..].starts_with(is_word);
    let at = line.match_indices(word).map(|(at, _)| at).find(|at| *at >= behind && whole(at))?;
    let start = span.start as usize + at;
    Some(Span::new(span.file, start..start + word.len()))
}

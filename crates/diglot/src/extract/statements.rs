//! The statements of a file, or its schema.

use std::collections::BTreeSet;
use std::ops::Range;

use super::code::Code;
use super::expression::{Evaluator, Piece, Reference};
use super::growth::{Addition, Growth, When};
use super::holes::{Built, Composed};
use super::kind::{begins, kind};
use super::lists::{self, JOINED};
use super::literal::Kind;
use super::marks;
use super::named::{Called, called, names};
use super::order::{self, Shaping};
use super::package::{GROWING, Package, target_of};
use crate::source::{Embedded, Role, SourceFile};

/// A text that a program has.
#[derive(Debug)]
struct Found {
    called: Called,
    /// What its name ends in, where one place of the program has several texts.
    behind: String,
    pieces: Vec<Piece>,
    references: Vec<Reference>,
    /// The token with which it begins, and the one behind it.
    tokens: Range<usize>,
}

/// What stands in the texts of a package: the references to constants, and the places of other folders that may have
/// what nothing here declares.
pub(super) fn followed(package: &Package<'_>) -> (BTreeSet<Reference>, BTreeSet<String>) {
    let (mut references, mut places) = (BTreeSet::new(), BTreeSet::new());
    for file in 0..package.own {
        for found in texts(package, file) {
            references.extend(found.references);
            let names = found.pieces.iter().filter_map(|piece| match piece {
                Piece::Hole { path, code, .. } => {
                    path.strip_prefix(JOINED).or_else(|| (!code.contains('(')).then_some(path.as_str()))
                }
                _ => None,
            });
            places.extend(names.flat_map(|name| package.places(file, name)));
        }
    }
    (references, places)
}

/// Reads a file of a package.
pub(super) fn file(
    (package, followed): (&Package<'_>, &BTreeSet<Reference>),
    (file, path): (usize, &str),
    role: Role,
    built: &Built,
) -> SourceFile {
    let code = &package.files[file];
    let found: Vec<(Found, Composed)> = texts(package, file)
        .into_iter()
        .filter(|found| !package.is_part(file, found.tokens.start, followed))
        .map(|found| {
            let composed = Composed::new(&found.pieces, built);
            (found, composed)
        })
        .filter(|(found, composed)| role_of(found, composed) == Some(role))
        .collect();
    let (found, is_moved) = match role {
        Role::Statements => (found, false),
        Role::Schema => in_order(code, without_removals(found)),
    };
    let parts: Vec<(&Called, &str, &str)> =
        found.iter().map(|(found, composed)| (&found.called, composed.text.as_str(), found.behind.as_str())).collect();
    let mut reader = Reading::new(code.text);
    for ((found, composed), (name, place)) in found.iter().zip(names(code, &parts)) {
        let place = place.unwrap_or_else(|| found.pieces.first().map_or(0..0, |piece| piece.place().clone()));
        match !is_moved && in_place(code, found, composed) {
            true => reader.keep(name, place, found, role),
            false => reader.append(name, &place, composed, role),
        }
    }
    reader.file(path, code.text, role)
}

/// A schema in the order in which the program runs it, and whether that is another one than that of the file.
fn in_order(code: &Code<'_>, found: Vec<(Found, Composed)>) -> (Vec<(Found, Composed)>, bool) {
    let texts: Vec<Shaping<'_>> = found
        .iter()
        .map(|(found, composed)| Shaping {
            at: found.tokens.start,
            function: found.called.function,
            constant: found.called.own.as_ref().map(|(name, _)| name.as_str()),
            sql: &composed.text,
        })
        .collect();
    let order = order::in_order(code, &texts);
    if order.iter().copied().eq(0..found.len()) {
        return (found, false);
    }
    let mut found: Vec<Option<(Found, Composed)>> = found.into_iter().map(Some).collect();
    (order.into_iter().filter_map(|at| found[at].take()).collect(), true)
}

/// A schema without what a function drops that makes nothing: a program may drop its tables, and has them all the same.
fn without_removals(found: Vec<(Found, Composed)>) -> Vec<(Found, Composed)> {
    let drops = |composed: &Composed| composed.text.trim_start().to_uppercase().starts_with("DROP TABLE");
    let makers: BTreeSet<usize> =
        found.iter().filter(|(_, composed)| !drops(composed)).filter_map(|(found, _)| found.called.function).collect();
    let stays = |(found, composed): &(Found, Composed)| {
        !drops(composed) || found.called.function.is_none_or(|function| makers.contains(&function))
    };
    found.into_iter().filter(stays).collect()
}

/// What a text is for. One that ends with a mark of a parameter goes on somewhere else.
fn role_of(found: &Found, composed: &Composed) -> Option<Role> {
    let is_torn = composed.text.trim_end().ends_with('$');
    match kind(&composed.text) {
        Some(role) if !is_torn => return Some(role),
        _ => {}
    }
    // What stands before it, or is missing in it, is known at run time alone.
    let known = found.pieces.iter().find_map(|piece| match piece {
        Piece::Known { text, .. } if !text.trim().is_empty() => Some(text.trim_start()),
        _ => None,
    })?;
    let first = known.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let is_sentence = first != first.to_uppercase() && first != first.to_lowercase();
    let begins = begins(known) || !is_sentence && kind(known).is_some();
    (!composed.holes.is_empty() && begins).then_some(if kind(known) == Some(Role::Schema) {
        Role::Schema
    } else {
        Role::Statements
    })
}

/// Whether the text is what stands in literals that follow each other, so that it can be read where it is.
fn in_place(code: &Code<'_>, found: &Found, composed: &Composed) -> bool {
    let is_blank = |c: Option<char>| c.is_none_or(char::is_whitespace);
    let mut before: Option<(&str, usize)> = None;
    let follows = found.pieces.iter().all(|piece| {
        let Piece::Known { text, place } = piece else { return false };
        let fits = text.len() == place.len()
            && before.is_none_or(|(known, end)| {
                let apart = is_blank(known.chars().last()) || is_blank(text.chars().next());
                place.start >= end && (apart || known.is_empty() || text.is_empty())
            });
        before = Some((text, place.end));
        fits
    });
    let is_here = found.pieces.iter().all(|piece| {
        let place = piece.place();
        code.tokens[found.tokens.clone()].iter().any(|token| token.kind == Kind::Text && token.inner == *place)
    });
    composed.holes.is_empty() && follows && is_here && found.behind.is_empty()
}

/// All texts of a file that may be SQL.
fn texts(package: &Package<'_>, file: usize) -> Vec<Found> {
    let code = &package.files[file];
    let evaluator = Evaluator::new(package, file);
    let (mut found, mut at) = (Vec::new(), 0);
    while at < code.tokens.len() {
        if let Some(one) = written(&evaluator, at) {
            at = one.tokens.end;
            found.extend(grown(package, file, one));
            continue;
        }
        if let Some(behind) = goes_on(&evaluator, at) {
            at = behind;
            continue;
        }
        let begins = match code.tokens[at].kind {
            Kind::Text => true,
            Kind::Word => ![".", "::"].contains(&code.before(at, 1)),
            Kind::Symbol => false,
        };
        let read = evaluator.expression(at, 0).filter(|read| {
            begins && (code.is(at, Kind::Text) || read.is_composed) && read.pieces.iter().any(Piece::is_known)
        });
        let Some(read) = read else {
            at += 1;
            continue;
        };
        let called = called(code, at);
        let next = read.end.max(at + 1);
        let one =
            Found { called, behind: String::new(), pieces: read.pieces, references: read.references, tokens: at..next };
        found.extend(grown(package, file, one));
        at = next;
    }
    found
}

/// The token behind an expression that gives a variable its own text with more behind it, which belongs to the text that
/// the variable has: `query = query + " LIMIT 1"`.
fn goes_on(evaluator: &Evaluator<'_, '_>, at: usize) -> Option<usize> {
    let code = evaluator.code();
    let own = target_of(code, at).filter(|_| code.before(at, 1) == "=").map(|name| code.word(name))?;
    let read =
        Evaluator { itself: Some(own), ..Evaluator::new(evaluator.package, evaluator.file) }.expression(at, 0)?;
    let is_own = matches!(read.pieces.first(), Some(Piece::Hole { code, .. }) if code == own);
    (is_own && read.pieces.len() > 1).then(|| read.end.max(at + 1))
}

/// A text that is begun by writing it into a variable: `write!(sql, "SELECT …")`, `fmt.Fprintf(&b, "SELECT …")`.
fn written(evaluator: &Evaluator<'_, '_>, at: usize) -> Option<Found> {
    let code = evaluator.code();
    let open = match code.word(at) {
        "write" | "writeln" if code.word(at + 1) == "!" => at + 2,
        "Fprintf" => at + 1,
        _ => return None,
    };
    let behind = code.behind(open);
    let arguments = evaluator.arguments(open + 1, behind);
    let [target, format, ..] = arguments.as_slice() else { return None };
    let variable = target.clone().rev().find(|at| code.is(*at, Kind::Word))?;
    let read = evaluator.format(format.start, behind);
    let is_first = |piece: &Piece| matches!(piece, Piece::Known { text, .. } if begins(text.trim_start()));
    let variable = (code.word(variable).to_owned(), code.tokens[variable].range.clone());
    let called = Called { own: None, function: code.function_of(at), variable: Some(variable) };
    read.pieces.first().is_some_and(is_first).then_some(Found {
        called,
        behind: String::new(),
        pieces: read.pieces,
        references: read.references,
        tokens: at..behind,
    })
}

/// A text with what its function adds to it: without what is added under conditions, and with all of it.
fn grown(package: &Package<'_>, file: usize, found: Found) -> Vec<Found> {
    let code = &package.files[file];
    let start = found.tokens.start;
    let grows =
        code.before(start, 1) == "(" && GROWING.contains(&code.before(start, 2)) && code.before(start, 3) == ".";
    let variable = match (&found.called.variable, grows) {
        (_, true) => Some(code.before(start, 4)),
        (Some((_, place)), false) => Some(&code.text[place.clone()]),
        _ => None,
    };
    let known = found.pieces.first().is_some_and(|piece| match piece {
        Piece::Known { text, .. } => begins(text.trim_start()) || kind(text).is_some(),
        Piece::Hole { .. } | Piece::List { .. } | Piece::Choice { .. } => true,
    });
    let additions = match variable.filter(|_| known) {
        Some(variable) => Growth { package, file, variable, depth: 0 }.additions(found.tokens.end),
        None => Vec::new(),
    };
    let additions = with_lists_of_marks(additions);
    let has_list = found.pieces.iter().any(|piece| matches!(piece, Piece::List { .. } | Piece::Choice { .. }));
    if additions.is_empty() && !has_list {
        return vec![found];
    }
    // A list of which nobody sees an item is known at run time alone.
    let found = Found { pieces: lists::told(found.pieces), ..found };
    let is_open = lists::is_open(&found.pieces)
        || additions.iter().any(|one| matches!(one.when, When::If | When::Else) || lists::is_open(&one.pieces));
    let taken = |arm: usize, without: When| {
        move |when: When| match when {
            When::Arm { at, of } => at == arm.min(of - 1),
            when => when != without,
        }
    };
    let pieces: Vec<Piece> = additions.iter().flat_map(|one| &one.pieces).chain(&found.pieces).cloned().collect();
    let arms = lists::arms(&pieces);
    let named = |arm: usize| if arms > 1 { lists::arm_name(&pieces, arm) } else { String::new() };
    let base = variant(&found, &additions, &taken(0, When::If));
    let mut all: Vec<Found> = base.map(|base| Found { behind: named(0), ..base }).into_iter().collect();
    if is_open {
        let whole = variant(&found, &additions, &taken(0, When::Else));
        // A list without an item makes no text: there is the whole one alone then.
        let behind = if all.is_empty() { "" } else { WHOLE };
        all.extend(whole.map(|whole| Found { behind: behind.to_owned(), ..whole }));
    }
    for arm in 1..arms {
        let other = variant(&found, &additions, &taken(arm, When::If));
        all.extend(other.map(|other| Found { behind: named(arm), ..other }));
    }
    // Branches may say the same, and where one value is all that a place takes, all of them do.
    let said = |found: &Found| found.pieces.iter().map(|piece| piece.code_as_written().to_owned()).collect::<Vec<_>>();
    let mut known: Vec<Vec<String>> = Vec::new();
    all.retain(|one| {
        let said = said(one);
        let is_new = one.behind == WHOLE || !known.contains(&said);
        known.push(said);
        is_new
    });
    if let ([only], true) = (all.as_mut_slice(), arms > 1) {
        only.behind.clear();
    }
    all
}

/// What the name of a text ends in with all that is added under conditions.
pub(super) const WHOLE: &str = "_whole";

/// A text with what is added to it, as far as `taken` holds.
fn variant(found: &Found, additions: &[Addition], taken: &dyn Fn(When) -> bool) -> Option<Found> {
    let mut pieces = lists::expanded(&found.pieces, taken)?;
    let mut references = found.references.clone();
    for Addition { when, pieces: added, references: followed } in additions {
        references.extend(followed.iter().copied());
        if *when == When::Unclear {
            let place = added.first().map_or(0..0, |piece| piece.place().clone());
            let code = added.iter().map(Piece::code).collect::<Vec<_>>().join(" ");
            pieces.push(Piece::Hole { path: String::new(), code, place });
        } else if taken(*when) {
            pieces.extend(lists::expanded(added, taken)?);
        }
    }
    let (called, tokens) = (found.called.clone(), found.tokens.clone());
    Some(Found { called, behind: String::new(), pieces, references, tokens })
}

/// Marks that a loop adds, with the commas between them, as the list that they are.
fn with_lists_of_marks(additions: Vec<Addition>) -> Vec<Addition> {
    let is_comma = |piece: &Piece| matches!(piece, Piece::Known { text, .. } if text.trim() == ",");
    let is_part = |one: &Addition| {
        one.when == When::Unclear && (marks::repeated(&one.pieces).is_some() || one.pieces.iter().all(is_comma))
    };
    let mut all: Vec<Addition> = Vec::new();
    for run in additions.chunk_by(|one, next| is_part(one) && is_part(next)) {
        let marked = run.iter().find(|one| is_part(one) && marks::repeated(&one.pieces).is_some());
        match marked {
            Some(one) => {
                let pieces = vec![marks::hole(&one.pieces)];
                all.push(Addition { when: When::Always, pieces, references: Vec::new() });
            }
            None => all.extend(run.iter().cloned()),
        }
    }
    all
}

/// A file as far as it is read.
struct Reading {
    bytes: Vec<u8>,
    /// What stands behind its end.
    tail: String,
    origins: Vec<(Range<usize>, Range<usize>)>,
    embedded: Vec<Embedded>,
    text: String,
}

impl Reading {
    fn new(text: &str) -> Self {
        let bytes: Vec<u8> = text.bytes().map(|b| if b == b'\n' { b'\n' } else { b' ' }).collect();
        Self { bytes, tail: String::new(), origins: Vec::new(), embedded: Vec::new(), text: text.to_owned() }
    }

    /// Keeps a text where it is written.
    fn keep(&mut self, name: String, place: Range<usize>, found: &Found, role: Role) {
        let source = self.text.as_bytes();
        self.bytes[place.clone()].copy_from_slice(&source[place.clone()]);
        for piece in &found.pieces {
            if let Piece::Known { text, place } = piece {
                self.bytes[place.clone()].copy_from_slice(text.as_bytes());
            }
        }
        let start = found.pieces.first().map_or(place.start, |piece| piece.place().start);
        let end = found.pieces.last().map_or(place.end, |piece| piece.place().end);
        // The mark that closes the literal ends the statement.
        if let (Role::Schema, Some(b'"' | b'`')) = (role, source.get(end)) {
            self.bytes[end] = b';';
        }
        let (holes, conditions, unread) = (Vec::new(), Vec::new(), String::new());
        self.embedded.push(Embedded { name, place, range: start..end, holes, conditions, unread });
    }

    /// Puts a text behind the end of the file.
    fn append(&mut self, name: String, place: &Range<usize>, composed: &Composed, role: Role) {
        self.tail.push('\n');
        let at = |tail: &String| self.text.len() + tail.len();
        let start = at(&self.tail);
        self.tail.push_str(&self.text[place.clone()]);
        let named = start..at(&self.tail);
        self.origins.push((named.clone(), place.clone()));
        self.tail.push('\n');
        let base = at(&self.tail);
        if composed.holes.is_empty() || role == Role::Statements {
            self.tail.push_str(&composed.text);
        }
        let moved = |range: &Range<usize>| base + range.start..base + range.end;
        let is_unread = role == Role::Schema && !composed.holes.is_empty();
        if is_unread {
            self.tail.push_str(&" ".repeat(composed.text.len()));
        }
        self.origins.extend(composed.origins.iter().map(|(range, place)| (moved(range), place.clone())));
        let range = base..base + composed.text.len();
        if role == Role::Schema {
            let blank = self.tail.len() - (at(&self.tail) - start);
            let name_end = blank + place.len();
            self.tail.replace_range(blank..name_end, &" ".repeat(place.len()));
            self.tail.push(';');
        }
        let holes = composed.holes.iter().map(moved).collect();
        let unread = if is_unread { composed.text.clone() } else { String::new() };
        let conditions =
            composed.unread.iter().map(|(range, code, path)| (moved(range), code.clone(), path.clone())).collect();
        self.embedded.push(Embedded { name, place: named, range, holes, conditions, unread });
    }

    fn file(mut self, path: &str, text: &str, role: Role) -> SourceFile {
        if role == Role::Schema {
            // Names are no SQL.
            let end = self.bytes.len();
            for one in self.embedded.iter().filter(|one| one.place.end <= end) {
                self.bytes[one.place.clone()].fill(b' ');
            }
            self.embedded.retain(|one| !one.holes.is_empty());
        }
        self.embedded.sort_by_key(|one| one.range.start);
        let mut read = String::from_utf8_lossy(&self.bytes).into_owned();
        read.push_str(&self.tail);
        SourceFile::extracted(path, read, text, self.embedded).with_origins(self.origins).with_role(role)
    }
}

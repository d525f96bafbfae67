//! What a function adds to a text that it has begun: `query += …`, `push_str`, a builder's `push` and `push_bind`.

use super::code::Code;
use super::expression::{Evaluator, Expression, Piece, Reference};
use super::holes::{BOUND, LIST};
use super::lists::Item;
use super::literal::{Kind, Language};
use super::package::{GROWING, Package};

/// When something is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    Always,
    /// Behind `if`.
    If,
    /// Behind `else`.
    Else,
    /// Where this one of several branches is taken.
    Arm {
        at: usize,
        of: usize,
    },
    /// As often as nobody knows.
    Unclear,
}

#[derive(Debug, Clone)]
pub(super) struct Addition {
    pub(super) when: When,
    pub(super) pieces: Vec<Piece>,
    pub(super) references: Vec<Reference>,
}

/// Follows a variable from the token behind its first value to the end of its function.
pub(super) struct Growth<'p, 't> {
    pub(super) package: &'p Package<'t>,
    pub(super) file: usize,
    pub(super) variable: &'t str,
    /// How many constants were followed to it.
    pub(super) depth: usize,
}

impl<'t> Growth<'_, 't> {
    fn code(&self) -> &Code<'t> {
        &self.package.files[self.file]
    }

    fn read(&self, at: usize) -> Option<Expression> {
        let itself = Some(self.variable);
        Evaluator { itself, ..Evaluator::new(self.package, self.file) }.expression(at, self.depth + 1)
    }

    /// What the variable holds at a token, where it is given a value behind its first one or added to; none where nobody
    /// can tell.
    pub(super) fn value(&self, first: Expression, at: usize) -> Option<Expression> {
        let code = self.code();
        let end = code.functions[code.function_of(at)?].body.end.min(at);
        let mut blocks: Vec<When> = Vec::new();
        let (mut here, mut whole) = (first.end, first);
        while here < end {
            match code.word(here) {
                "{" => blocks.push(block(code, here)),
                "}" => _ = blocks.pop(),
                word if word == self.variable && code.is(here, Kind::Word) && code.before(here, 1) != "." => {
                    let when = together(&blocks);
                    let (step, next) = match self.addition(here, &mut Vec::new()) {
                        Step::Adds(all, next) => (all, next),
                        Step::Begins(Some(read)) if read.end <= at => {
                            whole = given(whole, when, &read)?;
                            here = read.end;
                            continue;
                        }
                        Step::Begins(_) => return Some(whole),
                        Step::Reads => (Vec::new(), here + 1),
                    };
                    if next > end {
                        break;
                    }
                    for (pieces, references) in step {
                        whole.references.extend(&references);
                        match when {
                            When::Always => whole.pieces.extend(pieces),
                            When::If | When::Else => {
                                let place = pieces.first().map_or(0..0, |piece| piece.place().clone());
                                let items = vec![Item { when, pieces, references }];
                                whole.pieces.push(Piece::Choice { items, instead: None, place });
                            }
                            When::Arm { .. } | When::Unclear => return None,
                        }
                    }
                    here = next;
                    continue;
                }
                _ => {}
            }
            here += 1;
        }
        Some(whole)
    }

    pub(super) fn additions(&self, from: usize) -> Vec<Addition> {
        let code = self.code();
        let Some(function) = code.function_of(from.saturating_sub(1)) else { return Vec::new() };
        let end = code.functions[function].body.end;
        let mut blocks: Vec<When> = Vec::new();
        let mut additions = Vec::new();
        let mut aliases: Vec<&str> = Vec::new();
        let mut at = from;
        while at < end {
            match code.word(at) {
                "{" => blocks.push(block(code, at)),
                "}" if blocks.pop().is_none() && code.word(at + 1) == "else" => {
                    // The other branches of what the text was begun in.
                    at = self.behind_branches(at + 1);
                    continue;
                }
                word if (word == self.variable || aliases.contains(&word)) && code.before(at, 1) != "." => {
                    let when = together(&blocks);
                    match self.addition(at, &mut aliases) {
                        Step::Adds(read, next) => {
                            additions.extend(read.into_iter().map(|(pieces, references)| {
                                let is_bound = matches!(pieces.as_slice(), [Piece::Hole { path, .. }] if path == BOUND);
                                match when {
                                    When::Unclear if is_bound => self.list(pieces),
                                    _ => Addition { when, pieces, references },
                                }
                            }));
                            at = next;
                            continue;
                        }
                        Step::Begins(_) if blocks.is_empty() => break,
                        Step::Begins(_) | Step::Reads => {}
                    }
                }
                _ => {}
            }
            at += 1;
        }
        additions
    }

    /// Values that a loop binds.
    fn list(&self, pieces: Vec<Piece>) -> Addition {
        let pieces = pieces.into_iter().map(|piece| match piece {
            Piece::Hole { code, place, .. } => Piece::Hole { path: LIST.to_owned(), code, place },
            known => known,
        });
        Addition { when: When::Always, pieces: pieces.collect(), references: Vec::new() }
    }

    /// What a use of the variable does with it.
    fn addition(&self, at: usize, aliases: &mut Vec<&'t str>) -> Step {
        let code = self.code();
        let is_plus = code.word(at + 1) == "+" && code.word(at + 2) == "=";
        if is_plus {
            return self.read(at + 3).map_or(Step::Reads, |read| {
                let end = read.end;
                Step::Adds(vec![(read.pieces, read.references)], end)
            });
        }
        if code.word(at + 1) == "=" {
            let Some(read) = self.read(at + 2) else { return Step::Begins(None) };
            // `query = query + …` and `query = format!("{query} …")`.
            return match read.pieces.split_first() {
                Some((Piece::Hole { code, .. }, rest)) if code == self.variable && !rest.is_empty() => {
                    Step::Adds(vec![(rest.to_vec(), read.references)], read.end)
                }
                _ => Step::Begins(Some(read)),
            };
        }
        if code.word(at + 1) == "." && GROWING.contains(&code.word(at + 2)) {
            return self.calls(at, aliases);
        }
        let is_shared = code.before(at, 1) == "&" && code.language == Language::Go;
        let is_handed = code.before(at, 1) == "mut" && code.before(at, 2) == "&" || is_shared;
        let opens = if code.before(at, 1) == "mut" { at.saturating_sub(3) } else { at.saturating_sub(2) };
        let writes = |name: &str| ["write", "writeln", "Fprintf", "Fprint"].contains(&name);
        let called = if code.before(opens, 1) == "!" { code.before(opens, 2) } else { code.before(opens, 1) };
        if code.word(at + 1) == "," && (writes(called) || writes(code.before(at, 2)) || writes(code.before(at, 3))) {
            let call = (1..8).filter_map(|back| at.checked_sub(back)).find(|at| writes(code.word(*at)));
            let open = call.map(|call| if code.word(call + 1) == "!" { call + 2 } else { call + 1 });
            if let Some(open) = open {
                let behind = code.behind(open);
                let evaluator = Evaluator::new(self.package, self.file);
                let read = evaluator.format(at + 2, behind);
                return Step::Adds(vec![(read.pieces, read.references)], behind);
            }
        }
        if is_handed
            && code.before(opens + 1, 1) == "("
            && code.before(opens, 1) != "Scan"
            && code.is(opens.saturating_sub(1), Kind::Word)
        {
            // Somebody else may add to it.
            let (written, place) = code.written(opens.saturating_sub(1)..at + 2);
            let hole = Piece::Hole { path: String::new(), code: written.to_owned(), place };
            return Step::Adds(vec![(vec![hole], Vec::new())], at + 1);
        }
        Step::Reads
    }

    /// A chain of calls that add something.
    fn calls(&self, at: usize, aliases: &mut Vec<&'t str>) -> Step {
        let code = self.code();
        let (mut added, mut dot) = (Vec::new(), at + 1);
        while code.word(dot) == "." && code.word(dot + 2) == "(" {
            let (method, behind) = (code.word(dot + 1), code.behind(dot + 2));
            match method {
                "push_bind" => {
                    let (written, place) = code.written(dot + 3..behind.saturating_sub(1));
                    let hole = Piece::Hole { path: BOUND.to_owned(), code: written.to_owned(), place };
                    added.push((vec![hole], Vec::new()));
                }
                // What follows it is bound or pushed between separators.
                "separated" => aliases.extend(super::package::target_of(code, at).map(|name| code.word(name))),
                "push_unseparated" | "push" | "push_str" | "WriteString" => {
                    if let Some(read) = self.read(dot + 3) {
                        added.push((read.pieces, read.references));
                    }
                }
                name if GROWING.contains(&name) => {
                    let (written, place) = code.written(at..behind);
                    let hole = Piece::Hole { path: name.to_owned(), code: written.to_owned(), place };
                    added.push((vec![hole], Vec::new()));
                }
                _ => {}
            }
            dot = behind;
        }
        Step::Adds(added, dot)
    }

    /// The token behind all branches that begin with this `else`.
    fn behind_branches(&self, from: usize) -> usize {
        let code = self.code();
        let mut at = from;
        while code.word(at) == "else" {
            while at < code.tokens.len() && code.word(at) != "{" {
                at = if code.word(at) == "(" { code.behind(at) } else { at + 1 };
            }
            at = code.behind(at);
        }
        at
    }
}

enum Step {
    /// It is added to; the token behind.
    Adds(Vec<(Vec<Piece>, Vec<Reference>)>, usize),
    /// It is given another text, as far as that can be read.
    Begins(Option<Expression>),
    Reads,
}

/// What a variable holds that is given another text under a condition.
fn given(whole: Expression, when: When, read: &Expression) -> Option<Expression> {
    let other = match when {
        When::Always => return Some(Expression { end: whole.end, ..read.clone() }),
        When::If => When::Else,
        When::Else => When::If,
        When::Arm { .. } | When::Unclear => return None,
    };
    let place = read.pieces.first().map_or(0..0, |piece| piece.place().clone());
    let references = [whole.references.clone(), read.references.clone()].concat();
    let item = |when, one: &Expression| Item { when, pieces: one.pieces.clone(), references: one.references.clone() };
    let items = vec![item(when, read), item(other, &whole)];
    let pieces = vec![Piece::Choice { items, instead: None, place }];
    Some(Expression { pieces, references, ..whole })
}

/// When something is done inside of all of these blocks. Behind `else` inside of `if` it is in neither of two texts.
pub(super) fn together(blocks: &[When]) -> When {
    let has = |when: When| blocks.contains(&when);
    match (has(When::Unclear), has(When::If), has(When::Else)) {
        (true, ..) | (_, true, true) => When::Unclear,
        (_, true, _) => When::If,
        (_, _, true) => When::Else,
        _ => When::Always,
    }
}

/// What a block that opens here stands behind.
pub(super) fn block(code: &Code<'_>, open: usize) -> When {
    // A header of Go has semicolons of its own, and a line that is not finished goes on below.
    let is_start = |at: usize| {
        let before = code.before(at, 1);
        let ends = match code.language {
            Language::Rust => before == ";",
            Language::Go => {
                let is_line =
                    at > 0 && code.text[code.tokens[at - 1].range.end..code.tokens[at].range.start].contains('\n');
                is_line && !["&", "|", ",", "(", "+", "="].contains(&before)
            }
        };
        at == 0 || ends || ["{", "}"].contains(&before)
    };
    let first = (0..open).rev().find(|at| is_start(*at)).unwrap_or(open);
    let line: Vec<&str> = (first..open).map(|at| code.word(at)).collect();
    match line.as_slice() {
        ["else"] => When::Else,
        // What stands behind two conditions of which neither holds is the text without both.
        ["else", "if", ..] if code.word(code.behind(open)) != "else" && !is_behind_another(code, first) => When::Else,
        ["else", ..] => When::Unclear,
        line if line.iter().any(|word| ["for", "while", "loop", "match", "switch", "select"].contains(word)) => {
            When::Unclear
        }
        ["if", ..] => When::If,
        [] => When::Always,
        ["unsafe" | "{"] => When::Always,
        _ => When::Unclear,
    }
}

/// Whether an `else` follows a block that is itself behind `else`.
fn is_behind_another(code: &Code<'_>, at: usize) -> bool {
    let Some(close) = at.checked_sub(1).filter(|close| code.word(*close) == "}") else { return true };
    let open = (0..close).rev().find(|open| code.word(*open) == "{" && code.behind(*open) == at);
    let line = open.into_iter().flat_map(|open| (open.saturating_sub(24)..open).rev());
    line.map(|at| code.word(at)).take_while(|word| !["{", "}", ";"].contains(word)).any(|word| word == "else")
}

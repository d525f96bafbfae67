//! Which operator or function a text means: Postgres's rules of type resolution.
//!
//! What fits exactly is taken. Otherwise those that the values can become without a written cast are candidates, and
//! of these the ones with most exact fits stay, then those with the preferred type of a value's category; what is not
//! known yet takes the category that the candidates agree in, text first.

use std::borrow::Cow;

use super::{Catalog, Reach, Signature, Stability, UNKNOWN, Word};

/// Why a text means no operator or function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// None takes such values.
    NoSuch,
    /// Several do, and none of them better than the others.
    Ambiguous,
}

/// A candidate: its types, one for each value.
struct Candidate<'c> {
    takes: Cow<'c, [&'static str]>,
    gives: &'static str,
}

impl Catalog {
    pub(super) fn chosen(
        &self,
        signatures: &[Signature],
        values: &[&str],
        is_operator: bool,
    ) -> Result<&'static str, Refusal> {
        let all: Vec<Candidate<'_>> =
            signatures.iter().filter_map(|signature| takes(signature, values.len())).collect();
        // For an exact fit, what is not known beside an operator is as the other operand is.
        let alike: Vec<&str> = match values {
            [left, right] if is_operator && *left == UNKNOWN => vec![right, right],
            [left, right] if is_operator && *right == UNKNOWN => vec![left, left],
            _ => values.to_vec(),
        };
        if !alike.contains(&UNKNOWN)
            && let Some(exact) = all.iter().find(|candidate| candidate.takes == alike)
        {
            return Ok(exact.gives);
        }
        let mut left: Vec<Candidate<'_>> =
            all.into_iter().filter(|candidate| self.fits(&candidate.takes, values)).collect();
        keep_most(&mut left, |candidate| exact_fits(&candidate.takes, values));
        keep_most(&mut left, |candidate| {
            candidate
                .takes
                .iter()
                .zip(values)
                .filter(|(to, from)| to == from || self.is_preferred_for(to, from))
                .count()
        });
        match left.as_slice() {
            [] => return Err(Refusal::NoSuch),
            [one] => return Ok(one.gives),
            _ => {}
        }
        if !values.contains(&UNKNOWN) {
            // What fits a polymorphic type as well as another is taken by the other.
            return left.iter().find(|c| !c.takes.iter().any(|to| self.is_pseudo(to))).map_or(
                Err(Refusal::Ambiguous),
                |only| {
                    let plain = left.iter().filter(|c| !c.takes.iter().any(|to| self.is_pseudo(to))).count();
                    if plain == 1 { Ok(only.gives) } else { Err(Refusal::Ambiguous) }
                },
            );
        }
        self.by_category(left, values)
    }

    /// The least stable of the words of that name that take such values. One that takes them as they are decides alone.
    pub(super) fn moves(&self, word: Word, name: &str, values: &[&str]) -> Stability {
        let moving = self.of(name).moving.get(&(word, name)).map_or(&[][..], Vec::as_slice);
        let candidates = moving.iter().filter_map(|moving| Some((takes(&moving.signature, values.len())?, moving)));
        let candidates: Vec<_> = candidates.map(|(candidate, moving)| (candidate.takes, moving.stability)).collect();
        if let Some((_, exact)) = candidates.iter().find(|(takes, _)| takes.as_ref() == values) {
            return *exact;
        }
        let all = match word {
            Word::Function => self.of(name).functions.get(name),
            Word::Operator => self.of(name).operators.get(name),
            Word::Cast | Word::Writing => return Stability::Immutable,
        };
        let is_exact =
            |signature: &Signature| takes(signature, values.len()).is_some_and(|known| known.takes == values);
        if all.is_some_and(|all| all.iter().any(is_exact)) {
            return Stability::Immutable;
        }
        let fitting = candidates.iter().filter(|(takes, _)| self.fits(takes, values));
        fitting.map(|(_, stability)| *stability).max().unwrap_or(Stability::Immutable)
    }

    /// Decides by what is not known yet.
    fn by_category(&self, mut left: Vec<Candidate<'_>>, values: &[&str]) -> Result<&'static str, Refusal> {
        let known: Vec<&str> = values.iter().copied().filter(|value| *value != UNKNOWN).collect();
        let before: Vec<(Cow<'_, [&str]>, &'static str)> = left.iter().map(|c| (c.takes.clone(), c.gives)).collect();
        let mut is_decided = true;
        for at in (0..values.len()).filter(|at| values[*at] == UNKNOWN) {
            let categories: Vec<char> = left.iter().map(|candidate| self.category(candidate.takes[at])).collect();
            let wanted = match categories.as_slice() {
                list if list.contains(&'S') => 'S',
                [first, rest @ ..] if rest.iter().all(|category| category == first) => *first,
                _ => {
                    is_decided = false;
                    continue;
                }
            };
            left.retain(|candidate| self.category(candidate.takes[at]) == wanted);
            if left.iter().any(|candidate| self.is_preferred(candidate.takes[at])) {
                left.retain(|candidate| self.is_preferred(candidate.takes[at]));
            }
        }
        if let ([one], true) = (left.as_slice(), is_decided) {
            return Ok(one.gives);
        }
        // At last, what is not known is taken for the one type that is.
        let [first, rest @ ..] = known.as_slice() else { return Err(Refusal::Ambiguous) };
        if rest.iter().any(|other| other != first) {
            return Err(Refusal::Ambiguous);
        }
        let alike = vec![*first; values.len()];
        let mut fitting = before.iter().filter(|(takes, _)| self.fits(takes, &alike));
        match (fitting.next(), fitting.next()) {
            (Some((_, gives)), None) => Ok(gives),
            _ => Err(Refusal::Ambiguous),
        }
    }

    /// Whether values can become what a candidate takes without a written cast.
    fn fits(&self, takes: &[&str], values: &[&str]) -> bool {
        let each = takes.iter().zip(values).all(|(to, from)| match *to {
            "any" | "anyelement" | "anycompatible" => true,
            "anyarray" | "anycompatiblearray" => *from == UNKNOWN || self.element(from).is_some(),
            "anynonarray" | "anycompatiblenonarray" => self.element(from).is_none(),
            "anyenum" => self.category(from) == 'E' || *from == UNKNOWN,
            "anyrange" | "anymultirange" | "anycompatiblerange" | "anycompatiblemultirange" => {
                self.category(from) == 'R' || *from == UNKNOWN
            }
            to => self.casts(from, to, Reach::Anywhere),
        });
        each && self.agree(takes, values, "any") && self.agree(takes, values, "anycompatible")
    }

    /// Whether the values for polymorphic types of one family are of one type, or can be.
    fn agree(&self, takes: &[&str], values: &[&str], family: &str) -> bool {
        let compatible = family == "anycompatible";
        let mut elements = takes.iter().zip(values).filter_map(|(to, from)| {
            let is_compatible = to.starts_with("anycompatible");
            let of_family =
                if compatible { is_compatible } else { to.starts_with("any") && !is_compatible && *to != "any" };
            let is_array = to.ends_with("array") && !to.ends_with("nonarray");
            let element = if is_array { self.element(from)? } else { from };
            (of_family && element != UNKNOWN).then_some(element)
        });
        let Some(first) = elements.next() else { return true };
        elements.all(|other| other == first || compatible && self.category(other) == self.category(first))
    }

    fn category(&self, name: &str) -> char {
        self.of(name).types.get(name).map_or('U', |kind| kind.category)
    }

    fn is_pseudo(&self, name: &str) -> bool {
        self.of(name).types.get(name).is_some_and(|kind| kind.is_pseudo)
    }

    fn is_preferred(&self, name: &str) -> bool {
        self.of(name).types.get(name).is_some_and(|kind| kind.is_preferred)
    }

    /// Whether a type is the preferred one of a value's own category.
    fn is_preferred_for(&self, name: &str, value: &str) -> bool {
        value != UNKNOWN && self.is_preferred(name) && self.category(name) == self.category(value)
    }
}

/// What a signature takes for so many values, if it takes so many.
fn takes(signature: &Signature, values: usize) -> Option<Candidate<'_>> {
    let written = &signature.takes;
    let takes = match signature.variadic {
        Some(element) if values + 1 >= written.len() => {
            let mut takes = written[..written.len().saturating_sub(1)].to_vec();
            takes.resize(values.max(takes.len()), element);
            Cow::Owned(takes)
        }
        _ if values <= written.len() && values + signature.defaults >= written.len() => {
            Cow::Borrowed(&written[..values])
        }
        _ => return None,
    };
    (takes.len() == values).then_some(Candidate { takes, gives: signature.gives })
}

fn exact_fits(takes: &[&str], values: &[&str]) -> usize {
    takes.iter().zip(values).filter(|(to, from)| to == from && **from != UNKNOWN).count()
}

/// Keeps the candidates of which a count is the greatest.
fn keep_most<T>(candidates: &mut Vec<T>, count: impl Fn(&T) -> usize) {
    let most = candidates.iter().map(&count).max().unwrap_or_default();
    candidates.retain(|candidate| count(candidate) == most);
}
